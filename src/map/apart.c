// SPDX-License-Identifier: Apache-2.0
// Memory apart from the heap.
#include "map/apart.h"

#include <string.h>
#include <sys/mman.h>

void *shmemi_apart_get(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void shmemi_apart_put(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

void *shmemi_apart_grow(void *array, size_t *capacity, size_t element)
{
    size_t longer = *capacity ? *capacity * 2 : 256;
    void *grown = shmemi_apart_get(longer * element);
    if (!grown)
        return NULL;
    if (array)
        memcpy(grown, array, *capacity * element);
    shmemi_apart_put(array, *capacity * element);
    *capacity = longer;
    return grown;
}
