// SPDX-License-Identifier: Apache-2.0
// Memory apart from the heap: straight from the kernel, so it is never on a page that somebody registers.
// What is needed while other memory is on the move, or missing in a forked child, lies here.
#ifndef SHMEMI_MAP_APART_H
#define SHMEMI_MAP_APART_H

#include <stddef.h>

/* Zeroed whole pages, or NULL. */
void *shmemi_apart_get(size_t bytes);
void shmemi_apart_put(void *memory, size_t bytes);

/* A longer array in place of `array` (NULL at first); *capacity is updated. NULL if there is no memory: the
   old one stays. */
void *shmemi_apart_grow(void *array, size_t *capacity, size_t element);

#endif
