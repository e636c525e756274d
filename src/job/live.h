// SPDX-License-Identifier: Apache-2.0
// Which block of the symmetric heap an address lies in: kept only where SHMEM_DEBUG has every address looked up.
#ifndef SHMEMI_JOB_LIVE_H
#define SHMEMI_JOB_LIVE_H

#include <stdbool.h>
#include <stddef.h>

struct shmemi_live;

/* No blocks yet; NULL without memory. */
struct shmemi_live *shmemi_live_create(void);
void shmemi_live_destroy(struct shmemi_live *live);

/* Room for the record of one more block; -ENOMEM. */
int shmemi_live_reserve(struct shmemi_live *live);

/* The block at offset has this size from now on; 0: it is free. For a new one there is a record: see above. */
void shmemi_live_note(struct shmemi_live *live, size_t offset, size_t size);

/* Whether [offset, offset + bytes) lies in one block. Else the last block that begins at or before offset is told, or
   a size of 0. Any thread. */
bool shmemi_live_covers(struct shmemi_live *live, size_t offset, size_t bytes, size_t *begins, size_t *size);

#endif
