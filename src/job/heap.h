// SPDX-License-Identifier: Apache-2.0
// The local side of the symmetric heap: which offsets are taken, and their pages. comm/memory.h makes it collective.
#ifndef SHMEMI_JOB_HEAP_H
#define SHMEMI_JOB_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct shmemi_job;

/* From now on copies of this job look for memory of devices while this process has some. NULL: the job is about to end. */
void shmemi_heap_watch_devices(struct shmemi_job *job);
/* In a forked child, which has no job. */
void shmemi_heap_forget_devices(void);

/* Makes the records of an empty heap. */
int shmemi_heap_create(struct shmemi_job *job);

/* Finds room for a block, at the same offset as every other PE that does the same, and takes pages of this PE's own for
   it. Which blocks there are does not change, so that a PE that asked for something else is as before. -ENOMEM tells
   sizes, limit and remedy. */
int shmemi_heap_find(size_t size, size_t align, size_t *offset);

/* Takes the block that was found: when all PEs have found theirs. Cannot fail. */
void shmemi_heap_take(size_t size, size_t align, size_t offset);

/* Gives it back. false if no block begins at that offset. */
bool shmemi_heap_give(size_t offset);

/* Changes a block's size in place, pages included. 1 done, 0 impossible here, or negative errno. */
int shmemi_heap_resize(size_t offset, size_t size);

/* The size asked for of the block that begins at address; 0 if none does. */
size_t shmemi_heap_block_size(const void *address);

#endif
