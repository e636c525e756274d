// SPDX-License-Identifier: Apache-2.0
// The symmetric heap under its public names, the old ones included.
#include "comm/memory.h"

#include "check.h"
#include "publish.h"

/* One that is possible but larger than the heap can give is no mistake: the answer is NULL then. */
static void *allocate_aligned(const char *fn, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        shmemi_die(fn, "alignment is %zu, not a power of two of %zu or more", alignment, sizeof(void *));
    return shmemi_heap_alloc(fn, size, alignment, 0);
}

void *pshmem_malloc(size_t size)
{
    return shmemi_heap_alloc("shmem_malloc", size, 0, 0);
}
SHMEMI_PUBLISH(shmem_malloc);

void *pshmem_malloc_with_hints(size_t size, long hints)
{
    const long known = SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE;
    if ((hints & ~known) != 0)
        shmemi_die("shmem_malloc_with_hints", "hints is %#lx, which has bits that are no SHMEM_MALLOC_ hint",
                   (unsigned long)hints);
    return shmemi_heap_alloc("shmem_malloc_with_hints", size, 0, hints);
}
SHMEMI_PUBLISH(shmem_malloc_with_hints);

void *pshmem_align(size_t alignment, size_t size)
{
    return allocate_aligned("shmem_align", alignment, size);
}
SHMEMI_PUBLISH(shmem_align);

void *pshmem_calloc(size_t count, size_t size)
{
    return shmemi_heap_calloc("shmem_calloc", count, size);
}
SHMEMI_PUBLISH(shmem_calloc);

void *pshmem_realloc(void *ptr, size_t size)
{
    return shmemi_heap_realloc("shmem_realloc", ptr, size);
}
SHMEMI_PUBLISH(shmem_realloc);

void pshmem_free(void *ptr)
{
    shmemi_heap_free("shmem_free", ptr);
}
SHMEMI_PUBLISH(shmem_free);

/* The old interface. */

void *pshmalloc(size_t size)
{
    return shmemi_heap_alloc("shmalloc", size, 0, 0);
}
SHMEMI_PUBLISH(shmalloc);

void *pshmemalign(size_t alignment, size_t size)
{
    return allocate_aligned("shmemalign", alignment, size);
}
SHMEMI_PUBLISH(shmemalign);

void *pshrealloc(void *ptr, size_t size)
{
    return shmemi_heap_realloc("shrealloc", ptr, size);
}
SHMEMI_PUBLISH(shrealloc);

void pshfree(void *ptr)
{
    shmemi_heap_free("shfree", ptr);
}
SHMEMI_PUBLISH(shfree);
