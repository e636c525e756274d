// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: a few bytes are published and folded by everybody; of more, each PE folds one slice for all.
// What lies in memory of a device is folded in copies on the host.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "await.h"
#include "base/fold.h"
#include "coll.h"
#include "coll_begin.h"
#include "device/device.h"
#include "exchange.h"
#include "rma.h"

size_t shmemi_coll_count(const char *fn, int nreduce)
{
    if (nreduce < 0)
        shmemi_die(fn, "nreduce is %d, but must be 0 or more", nreduce);
    return (size_t)nreduce;
}

/* One PE's slice of the work: elements [first, end) of everybody's arrays. */
struct slice {
    char *dests[SHMEMI_PES_MOST];
    const char *sources[SHMEMI_PES_MOST];
    size_t first, end;
    enum shmemi_type type;
    enum shmemi_reduce_op op;
    bool inclusive;
    bool device; /* some lie in memory of a device */
};

static void reduce_slice(const struct slice *s, int members)
{
    size_t size = shmemi_type_size(s->type), step = SHMEMI_FOLD_BYTES / size;
    const void *pieces[SHMEMI_PES_MOST];
    _Alignas(64) char piece[SHMEMI_FOLD_BYTES];
    for (size_t at = s->first; at < s->end; at += step) {
        size_t count = s->end - at < step ? s->end - at : step;
        for (int i = 0; i < members; i++)
            pieces[i] = s->sources[i] + at * size;
        shmemi_fold(s->type, s->op, piece, pieces, members, count);
        for (int i = 0; i < members; i++)
            memcpy(s->dests[i] + at * size, piece, count * size);
    }
}

/* Goes through the members in their order and gives each the sum so far. A source is read before the dest of the same
   member is written, which may be the same. */
static void scan_slice(const struct slice *s, int members)
{
    size_t size = shmemi_type_size(s->type), step = SHMEMI_FOLD_BYTES / size;
    _Alignas(64) char sum[SHMEMI_FOLD_BYTES], next[SHMEMI_FOLD_BYTES];
    for (size_t at = s->first; at < s->end; at += step) {
        size_t count = s->end - at < step ? s->end - at : step, bytes = count * size;
        memset(sum, 0, bytes); /* zero of every type */
        for (int i = 0; i < members; i++) {
            const void *two[] = {sum, s->sources[i] + at * size};
            shmemi_fold(s->type, SHMEMI_REDUCE_SUM, next, two + (i == 0), i == 0 ? 1 : 2, count);
            memcpy(s->dests[i] + at * size, s->inclusive ? next : sum, bytes);
            memcpy(sum, next, bytes);
        }
    }
}

/* The same with copies of the slice in host memory, a part at a time. */
static int stage_slice(const struct slice *s, int members, void (*work)(const struct slice *, int))
{
    enum { PART = 64 << 10 };
    size_t size = shmemi_type_size(s->type), step = PART / size;
    char *stage = malloc(2 * (size_t)members * PART);
    struct slice part = {.type = s->type, .op = s->op, .inclusive = s->inclusive};
    int rc = stage ? 0 : shmemi_fail(-ENOMEM, "no host memory for a collective on memory of devices");
    for (size_t at = s->first; rc == 0 && at < s->end; at += step) {
        part.end = s->end - at < step ? s->end - at : step;
        for (int i = 0; rc == 0 && i < members; i++) {
            char *copy = stage + 2 * (size_t)i * PART;
            part.sources[i] = copy;
            part.dests[i] = copy + PART;
            rc = shmemi_device_copy(copy, s->sources[i] + at * size, part.end * size);
        }
        if (rc == 0)
            work(&part, members);
        for (int i = 0; rc == 0 && i < members; i++)
            rc = shmemi_device_copy(s->dests[i] + at * size, part.dests[i], part.end * size);
    }
    free(stage);
    return rc;
}

static void find_arrays(const char *fn, const struct shmemi_group *g, void *dest, const void *source, size_t bytes,
                        struct slice *s)
{
    s->device = false;
    for (int i = 0; i < g->size; i++) {
        bool device[2] = {false, false};
        int pe = shmemi_group_pe(g, i);
        if (!shmemi_near_devices()) {
            s->dests[i] = shmemi_remote(fn, "dest", dest, bytes, pe);
            s->sources[i] = shmemi_remote(fn, "source", source, bytes, pe);
            continue;
        }
        s->dests[i] = shmemi_reach(fn, "dest", dest, bytes, pe, &device[0]);
        s->sources[i] = shmemi_reach(fn, "source", source, bytes, pe, &device[1]);
        s->device |= device[0] | device[1];
    }
}

/* The borders of slices are on cache lines. In place is safe: a slice is read and written by one PE only. */
static void in_slices(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                      struct slice *s, void (*work)(const struct slice *, int))
{
    size_t bytes = nelems * shmemi_type_size(s->type), members = (size_t)g->size;
    find_arrays(fn, g, dest, source, bytes, s);
    size_t slice = shmemi_round_up(nelems / members + (nelems % members != 0), SHMEMI_LINE);
    bool mine = !shmemi_mul_overflows(slice, (size_t)g->me, &s->first) && s->first < nelems;
    s->end = mine && nelems - s->first > slice ? s->first + slice : nelems;
    shmemi_require(fn, shmemi_group_exchange(g, NULL, 0)); /* all sources are ready */
    if (mine && shmemi_unlikely(s->device))
        shmemi_require(fn, stage_slice(s, g->size, work));
    else if (mine)
        work(s, g->size);
    shmemi_require(fn, shmemi_group_exchange(g, NULL, 0)); /* all slices are written */
}

/* Whether everybody folds everything itself. What an active set publishes is aligned as a long, not for every type. */
static bool is_small(const struct shmemi_group *g, size_t bytes, enum shmemi_type type)
{
    return bytes <= SHMEMI_PUBLISH_BYTES && (shmemi_likely(g->arrival != SHMEMI_ARRIVE_ACTIVE_SET) ||
                                             shmemi_type_size(type) <= sizeof(long) || bytes == 0);
}

/* The checks. Bytes of one array. */
static size_t begin(const char *fn, struct shmemi_group *g, const void *dest, const void *source, size_t nelems,
                    enum shmemi_type type)
{
    size_t bytes = shmemi_coll_times(fn, nelems, shmemi_type_size(type));
    shmemi_coll_check_ranges(fn, dest, bytes, source, bytes, true);
    shmemi_coll_begin(fn, g, &(struct shmemi_call){.bytes = bytes, .dest = dest});
    return bytes;
}

/* A few bytes, folded by everybody: those of the first `members`, of which there may be none. */
SHMEMI_INLINE void fold_few(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                            size_t bytes, int members, enum shmemi_type type, enum shmemi_reduce_op op)
{
    const void *pieces[SHMEMI_PES_MOST];
    shmemi_require(fn, shmemi_group_exchange(g, source, bytes));
    for (int i = 0; bytes && i < members; i++)
        pieces[i] = shmemi_group_published(g, i);
    if (bytes && members)
        shmemi_fold(type, op, dest, pieces, members, nelems);
    else if (bytes)
        memset(dest, 0, bytes);
}

/* The same where either may lie in memory of a device. */
SHMEMI_INLINE void fold_few_copied(const char *fn, struct shmemi_group *g, void *dest, const void *source,
                                   size_t nelems, size_t bytes, int members, enum shmemi_type type,
                                   enum shmemi_reduce_op op)
{
    _Alignas(64) char from[SHMEMI_PUBLISH_BYTES], to[SHMEMI_PUBLISH_BYTES];
    if (bytes)
        shmemi_move_from(fn, from, source, bytes, shmemi_current->me);
    fold_few(fn, g, to, from, nelems, bytes, members, type, op);
    if (bytes)
        shmemi_move_to(fn, dest, to, bytes, shmemi_current->me);
}

/* near: whether there are devices. Known where it is compiled, so that nobody else has their stack to set up. */
SHMEMI_INLINE int reduce(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                         enum shmemi_type type, enum shmemi_reduce_op op, bool near)
{
    size_t bytes = begin(fn, g, dest, source, nelems, type);
    if (!is_small(g, bytes, type)) {
        struct slice s; /* its arrays are large, and are filled in as far as they are used */
        s.type = type;
        s.op = op;
        s.inclusive = true;
        in_slices(fn, g, dest, source, nelems, &s, reduce_slice);
    } else if (near)
        fold_few_copied(fn, g, dest, source, nelems, bytes, g->size, type, op);
    else
        fold_few(fn, g, dest, source, nelems, bytes, g->size, type, op);
    return 0;
}

static int SHMEMI_COLD reduce_near_devices(const char *fn, struct shmemi_group *g, void *dest, const void *source,
                                           size_t nelems, enum shmemi_type type, enum shmemi_reduce_op op)
{
    return reduce(fn, g, dest, source, nelems, type, op, true);
}

int shmemi_coll_reduce(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                       enum shmemi_type type, enum shmemi_reduce_op op)
{
    if (!g)
        return -1;
    if (shmemi_near_devices())
        return reduce_near_devices(fn, g, dest, source, nelems, type, op);
    return reduce(fn, g, dest, source, nelems, type, op, false);
}

SHMEMI_INLINE int scan(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                       enum shmemi_type type, bool inclusive, bool near)
{
    size_t bytes = begin(fn, g, dest, source, nelems, type);
    if (!is_small(g, bytes, type)) {
        struct slice s;
        s.type = type;
        s.op = SHMEMI_REDUCE_SUM;
        s.inclusive = inclusive;
        in_slices(fn, g, dest, source, nelems, &s, scan_slice);
    } else if (near)
        fold_few_copied(fn, g, dest, source, nelems, bytes, g->me + inclusive, type, SHMEMI_REDUCE_SUM);
    else
        fold_few(fn, g, dest, source, nelems, bytes, g->me + inclusive, type, SHMEMI_REDUCE_SUM);
    return 0;
}

static int SHMEMI_COLD scan_near_devices(const char *fn, struct shmemi_group *g, void *dest, const void *source,
                                         size_t nelems, enum shmemi_type type, bool inclusive)
{
    return scan(fn, g, dest, source, nelems, type, inclusive, true);
}

int shmemi_coll_scan(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                     enum shmemi_type type, bool inclusive)
{
    if (!g)
        return -1;
    if (shmemi_near_devices())
        return scan_near_devices(fn, g, dest, source, nelems, type, inclusive);
    return scan(fn, g, dest, source, nelems, type, inclusive, false);
}
