// SPDX-License-Identifier: Apache-2.0
// What the standard's collectives begin with: checks of their arguments, here and against the other PEs.
#ifndef SHMEMI_COMM_COLL_BEGIN_H
#define SHMEMI_COMM_COLL_BEGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "address.h"
#include "group.h"

/* What PEs have to agree in, besides the function. */
struct shmemi_call {
    size_t bytes;        /* of one PE's data; 0 where they may differ */
    long root, dst, sst; /* arguments of some; else 0 */
    const void *dest;    /* symmetric; NULL: there is none */
};

/* Compares the call with those of the other members, if the job is checked: one that differs ends the job, with both
   PEs named. */
void shmemi_coll_compare(const char *fn, struct shmemi_group *g, const struct shmemi_call *call) SHMEMI_COLD;

SHMEMI_INLINE void shmemi_coll_begin(const char *fn, struct shmemi_group *g, const struct shmemi_call *call)
{
    if (shmemi_unlikely(shmemi_current->parts->checked))
        shmemi_coll_compare(fn, g, call);
}

_Noreturn void shmemi_coll_overlap(const char *fn, const void *dest, size_t dest_bytes, const void *source,
                                   size_t source_bytes, bool may_equal) SHMEMI_COLD;

/* Both ranges are symmetric here, and do not overlap; with may_equal they may be the same. Empty ranges are fine. */
SHMEMI_INLINE void shmemi_coll_check_ranges(const char *fn, const void *dest, size_t dest_bytes, const void *source,
                                            size_t source_bytes, bool may_equal)
{
    if (dest_bytes)
        shmemi_check_symmetric(fn, "dest", dest, dest_bytes);
    if (source_bytes)
        shmemi_check_symmetric(fn, "source", source, source_bytes);
    /* The one that begins first ends before the other begins. None wraps around, or is empty and does not matter. */
    uintptr_t d = (uintptr_t)dest, s = (uintptr_t)source;
    bool apart = d < s ? dest_bytes <= s - d : source_bytes <= d - s;
    if (shmemi_unlikely(!apart) && dest_bytes && source_bytes && !(may_equal && d == s))
        shmemi_coll_overlap(fn, dest, dest_bytes, source, source_bytes, may_equal);
}

/* count times what; more than an address space ends the job. */
_Noreturn void shmemi_coll_overflow(const char *fn, size_t count, size_t what) SHMEMI_COLD;
SHMEMI_INLINE size_t shmemi_coll_times(const char *fn, size_t count, size_t what)
{
    size_t product;
    if (shmemi_unlikely(shmemi_mul_overflows(count, what, &product)))
        shmemi_coll_overflow(fn, count, what);
    return product;
}

#endif
