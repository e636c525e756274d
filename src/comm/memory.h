// SPDX-License-Identifier: Apache-2.0
// Collective allocation on the symmetric heap.
#ifndef SHMEMI_COMM_MEMORY_H
#define SHMEMI_COMM_MEMORY_H

#include <stddef.h>

#include "job/kind.h"

/* All PEs call with the same arguments; a PE that differs ends the job with both named. Blocks are of the job's usual
   kind of memory, or of the host's where hints say that they are for atomics or signals. NULL for size 0 (without
   waiting for anybody) and when some PE has no room: shmemi_last_error() then tells which PE, why, and what to do. fn
   is the public function's name. align: a power of two, at most 2 MiB, or 0. hints: SHMEM_MALLOC_ bits. */
void *shmemi_heap_alloc(const char *fn, size_t size, size_t align, long hints);
void *shmemi_heap_calloc(const char *fn, size_t count, size_t size);
void *shmemi_heap_realloc(const char *fn, void *block, size_t size);
void shmemi_heap_free(const char *fn, void *block);

/* As shmemi_heap_alloc, but in host memory, whatever the usual kind is, and a failure of any kind is a negative errno
   with the text, for interfaces that do not end the job. */
int shmemi_allocate(size_t size, size_t align, void **out);
int shmemi_release(const char *fn, void *block);

/* The same of a kind, whose heap is made at its first use. fn: the public function, or NULL; other PEs are told. */
int shmemi_allocate_kind(const char *fn, struct shmemi_kind kind, size_t size, size_t align, void **out);
int shmemi_allocate_zeros(const char *fn, struct shmemi_kind kind, size_t count, size_t size, void **out);
/* 'host', 'npu', 'cuda:1'; NULL and 'default' for the job's usual kind. -EINVAL: none. */
int shmemi_kind_of_name(const char *name, struct shmemi_kind *out);

/* Whether the object at address can be reached at PE pe: symmetric heap or symmetric static data. */
int shmemi_address_accessible(const void *address, int pe);
/* A local pointer to pe's copy of the symmetric address, or NULL. */
void *shmemi_address_ptr(const void *address, int pe);

#endif
