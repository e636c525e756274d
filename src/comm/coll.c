// SPDX-License-Identifier: Apache-2.0
// Collectives that move data, on symmetric memory: every PE writes the others' destinations in place, or reads their
// sources.
#include "coll.h"

#include <string.h>

#include "address.h"
#include "await.h"
#include "base/copy.h"
#include "coll_begin.h"
#include "exchange.h"
#include "order.h"
#include "rma.h"
#include "team.h"

SHMEMI_INLINE void all_arrive(const char *fn, struct shmemi_group *g)
{
    shmemi_require(fn, shmemi_group_exchange(g, NULL, 0));
}

int shmemi_coll_sync(const char *fn, struct shmemi_group *g)
{
    if (!g)
        return -1;
    shmemi_coll_begin(fn, g, &(struct shmemi_call){0});
    all_arrive(fn, g);
    return 0;
}

int shmemi_coll_barrier(const char *fn, struct shmemi_group *g)
{
    shmemi_quiet();
    return shmemi_coll_sync(fn, g);
}

void shmemi_barrier_all(const char *fn)
{
    struct shmemi_group *world = shmemi_team_group(fn, SHMEMI_TEAM_WORLD);
    shmemi_quiet();
    shmemi_coll_begin(fn, world, &(struct shmemi_call){0});
    all_arrive(fn, world);
}

/* To dest of member i, from `at` on. */
static void give(const char *fn, const struct shmemi_group *g, void *dest, size_t at, const void *source, size_t bytes,
                 int i)
{
    shmemi_move_to(fn, (char *)dest + at, source, bytes, shmemi_group_pe(g, i));
}

int shmemi_coll_broadcast(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                          size_t size, int root, bool at_root)
{
    if (!g)
        return -1;
    if (root < 0 || root >= g->size)
        shmemi_die(fn, "PE_root is %d, but the team has PEs 0 to %d", root, g->size - 1);
    size_t bytes = shmemi_coll_times(fn, nelems, size);
    bool is_root = g->me == root, small = bytes <= SHMEMI_PUBLISH_BYTES || g->size <= 2;
    shmemi_coll_check_ranges(fn, dest, is_root && !at_root ? 0 : bytes, source, is_root ? bytes : 0, true);
    shmemi_coll_begin(fn, g, &(struct shmemi_call){.bytes = bytes, .root = root, .dest = dest});
    if (bytes && is_root)
        for (int i = 0; i < g->size; i++)
            if (i == root ? at_root && dest != source : small)
                give(fn, g, dest, 0, source, bytes, i);
    all_arrive(fn, g);
    if (small)
        return 0;
    if (!is_root) /* many PEs read at the same time from the root's own copy */
        shmemi_move_from(fn, dest, at_root ? dest : source, bytes, shmemi_group_pe(g, root));
    all_arrive(fn, g);
    return 0;
}

int shmemi_coll_fcollect(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                         size_t size)
{
    if (!g)
        return -1;
    size_t bytes = shmemi_coll_times(fn, nelems, size), all = shmemi_coll_times(fn, (size_t)g->size, bytes);
    shmemi_coll_check_ranges(fn, dest, all, source, bytes, false);
    shmemi_coll_begin(fn, g, &(struct shmemi_call){.bytes = bytes, .dest = dest});
    for (int k = 0; bytes && k < g->size; k++) {
        int i = (g->me + k) % g->size; /* everybody begins elsewhere */
        give(fn, g, dest, (size_t)g->me * bytes, source, bytes, i);
    }
    all_arrive(fn, g);
    return 0;
}

/* What the members before this one have, and all together; every member adds the same up. */
static size_t add_up(const char *fn, const struct shmemi_group *g, size_t *all)
{
    size_t before = 0, sum = 0;
    for (int i = 0; i < g->size; i++) {
        size_t theirs;
        memcpy(&theirs, shmemi_group_published(g, i), sizeof theirs);
        if (i == g->me)
            before = sum;
        if (shmemi_add_overflows(sum, theirs, &sum))
            shmemi_die(fn, "the elements of all PEs are more bytes than an address space");
    }
    *all = sum;
    return before;
}

int shmemi_coll_collect(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                        size_t size)
{
    if (!g)
        return -1;
    size_t bytes = shmemi_coll_times(fn, nelems, size), all;
    shmemi_coll_begin(fn, g, &(struct shmemi_call){.dest = dest});
    shmemi_require(fn, shmemi_group_exchange(g, &bytes, sizeof bytes));
    size_t before = add_up(fn, g, &all);
    shmemi_coll_check_ranges(fn, dest, all, source, bytes, false);
    for (int k = 0; bytes && k < g->size; k++) {
        int i = (g->me + k) % g->size;
        give(fn, g, dest, before, source, bytes, i);
    }
    all_arrive(fn, g);
    return 0;
}

int shmemi_coll_alltoall(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                         size_t size)
{
    if (!g)
        return -1;
    size_t bytes = shmemi_coll_times(fn, nelems, size), all = shmemi_coll_times(fn, (size_t)g->size, bytes);
    shmemi_coll_check_ranges(fn, dest, all, source, all, false);
    shmemi_coll_begin(fn, g, &(struct shmemi_call){.bytes = bytes, .dest = dest});
    for (int k = 0; bytes && k < g->size; k++) {
        int i = (g->me + k) % g->size;
        give(fn, g, dest, (size_t)g->me * bytes, (const char *)source + (size_t)i * bytes, bytes, i);
    }
    all_arrive(fn, g);
    return 0;
}

/* Bytes from the first to the end of the last of `count` elements that lie `stride` apart. */
static size_t extent(const char *fn, const char *name, ptrdiff_t stride, size_t count, size_t size)
{
    if (stride < 1)
        shmemi_die(fn, "%s is %td, but must be 1 at least", name, stride);
    return count ? shmemi_coll_times(fn, shmemi_coll_times(fn, count - 1, (size_t)stride) + 1, size) : 0;
}

int shmemi_coll_alltoalls(const char *fn, struct shmemi_group *g, void *dest, const void *source, ptrdiff_t dst,
                          ptrdiff_t sst, size_t nelems, size_t size)
{
    if (!g)
        return -1;
    size_t count = shmemi_coll_times(fn, (size_t)g->size, nelems);
    size_t to = extent(fn, "dst", dst, count, size), from = extent(fn, "sst", sst, count, size);
    shmemi_coll_check_ranges(fn, dest, to, source, from, false);
    shmemi_coll_begin(fn, g, &(struct shmemi_call){.bytes = nelems * size, .dst = dst, .sst = sst, .dest = dest});
    for (int k = 0; nelems && k < g->size; k++) {
        int i = (g->me + k) % g->size;
        char *block = (char *)dest + (size_t)g->me * nelems * (size_t)dst * size;
        const char *mine = (const char *)source + (size_t)i * nelems * (size_t)sst * size;
        shmemi_iput(fn, block, mine, dst, sst, 1, nelems, size, shmemi_group_pe(g, i));
    }
    all_arrive(fn, g);
    return 0;
}
