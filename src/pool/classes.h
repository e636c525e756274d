// SPDX-License-Identifier: Apache-2.0
// Sizes of small blocks: multiples of 64 up to 512, then eight steps to each doubling, up to 32 KiB.
#ifndef SHMEMI_POOL_CLASSES_H
#define SHMEMI_POOL_CLASSES_H

#include <stddef.h>
#include <stdint.h>

enum {
    SHMEMI_GRAIN = 64, /* bytes: the smallest block, and what all sizes are multiples of */
    SHMEMI_CLASSES = 56,
    SHMEMI_CLASS_MOST = 32 << 10,                    /* bytes of the largest */
    SHMEMI_UNIT = 4096,                              /* bytes: what slabs and large blocks are made of */
    SHMEMI_UNIT_BLOCKS = SHMEMI_UNIT / SHMEMI_GRAIN, /* blocks that can begin in a unit, at most */
};

/* The smallest class that holds `size` bytes, 1 to SHMEMI_CLASS_MOST. */
static inline unsigned shmemi_class_of(size_t size)
{
    size_t grains = (size - 1) / SHMEMI_GRAIN; /* one less than needed */
    if (grains < 16)
        return (unsigned)grains;
    unsigned shift = 63u - (unsigned)__builtin_clzl(grains) - 3; /* four leading bits choose the step */
    return (unsigned)((grains >> shift) + shift * 8);
}

static inline size_t shmemi_class_size(unsigned class)
{
    if (class < 16)
        return (size_t)(class + 1) * SHMEMI_GRAIN;
    unsigned shift = class / 8 - 1;
    return ((size_t)(class % 8) + 9) * SHMEMI_GRAIN << shift;
}

#endif
