// SPDX-License-Identifier: Apache-2.0
// The symmetric heap: the same offsets on every PE, pages reserved when allocated.
#ifndef SHMEMI_JOB_HEAP_H
#define SHMEMI_JOB_HEAP_H

#include <stddef.h>

/* Collective: all PEs call with the same arguments (which is checked). Returns NULL for size 0 and when there is no
   room on some PE; shmemi_last_error() then tells which, and what to do. hints are the standard's SHMEM_MALLOC_ bits. */
void *shmemi_heap_alloc(const char *fn, size_t size, size_t align, long hints);
void *shmemi_heap_calloc(const char *fn, size_t count, size_t size);
void *shmemi_heap_realloc(const char *fn, void *block, size_t size);
void shmemi_heap_free(const char *fn, void *block);

/* Whether [address, address + 1) of PE pe can be reached: heap or symmetric static data. */
int shmemi_address_accessible(const void *address, int pe);
/* A local pointer to pe's copy of the symmetric address, or NULL. */
void *shmemi_address_ptr(const void *address, int pe);

#endif
