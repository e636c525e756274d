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

/* A peer's thread may be waiting on the element that is written, or write the one that is read, so each goes over in one
 * piece. An atomic access would promise that only of aligned addresses, which to test for costs a branch on the
 * shortest path; a volatile one of a type without alignment is one instruction here with every compiler, whole where
 * the address is aligned. ThreadSanitizer takes that for a plain access, so it gets the atomic one. Pairs with the
 * loads of wait and test (comm/await.h), which order what comes after. */
#ifndef SHMEMI_TSAN
#define SHMEMI_COPY_WHOLE(bits)                                                                                        \
    typedef uint##bits##_t __attribute__((aligned(1), may_alias)) shmemi_loose##bits;                                  \
    SHMEMI_INLINE void shmemi_copy##bits(void *to, const void *from)                                                   \
    {                                                                                                                  \
        *(volatile shmemi_loose##bits *)to = *(const volatile shmemi_loose##bits *)from;                               \
    }
#else
#define SHMEMI_COPY_WHOLE(bits)                                                                                        \
    typedef uint##bits##_t __attribute__((may_alias)) shmemi_word##bits;                                               \
    SHMEMI_INLINE void shmemi_copy##bits(void *to, const void *from)                                                   \
    {                                                                                                                  \
        uint##bits##_t value;                                                                                          \
        const uintptr_t below = bits / 8 - 1;                                                                          \
        if ((uintptr_t)from & below)                                                                                   \
            memcpy(&value, from, sizeof value);                                                                        \
        else                                                                                                           \
            value = __atomic_load_n((const shmemi_word##bits *)from, __ATOMIC_RELAXED);                                \
        if ((uintptr_t)to & below)                                                                                     \
            memcpy(to, &value, sizeof value);                                                                          \
        else                                                                                                           \
            __atomic_store_n((shmemi_word##bits *)to, value, __ATOMIC_RELAXED);                                        \
    }
#endif

SHMEMI_COPY_WHOLE(8)
SHMEMI_COPY_WHOLE(16)
SHMEMI_COPY_WHOLE(32)
SHMEMI_COPY_WHOLE(64)

/* Copies between ranges that do not overlap. The sizes of single elements are moved without a call. */
SHMEMI_INLINE void shmemi_copy(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1:
        shmemi_copy8(to, from);
        return;
    case 2:
        shmemi_copy16(to, from);
        return;
    case 4:
        shmemi_copy32(to, from);
        return;
    case 8:
        shmemi_copy64(to, from);
        return;
    case 16:
        memcpy(to, from, 16);
        return;
    default:
        shmemi_copy_large(to, from, bytes);
    }
}

#endif
