// SPDX-License-Identifier: Apache-2.0
// Copy kernels, chosen by size.
#ifndef SHMEMI_BASE_COPY_H
#define SHMEMI_BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"

/* Out of line: copies of any size; stores that bypass the cache have reached memory order before it returns. */
void shmemi_copy_large(void *to, const void *from, size_t bytes);

/* Copies between ranges that do not overlap. The sizes of single elements are moved without a call. */
SHMEMI_INLINE void shmemi_copy(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1:
        memcpy(to, from, 1);
        return;
    case 2:
        memcpy(to, from, 2);
        return;
    case 4:
        memcpy(to, from, 4);
        return;
    case 8:
        memcpy(to, from, 8);
        return;
    case 16:
        memcpy(to, from, 16);
        return;
    default:
        shmemi_copy_large(to, from, bytes);
    }
}

#endif
