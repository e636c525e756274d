// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: a few bytes are published and folded by everybody; of more, each PE folds one slice for all.
#include <string.h>

#include "address.h"
#include "await.h"
#include "base/fold.h"
#include "coll.h"
#include "coll_begin.h"
#include "exchange.h"

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

/* The borders of slices are on cache lines. In place is safe: a slice is read and written by one PE only. */
static void in_slices(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                      struct slice *s, void (*work)(const struct slice *, int))
{
    size_t bytes = nelems * shmemi_type_size(s->type), members = (size_t)g->size;
    for (int i = 0; i < g->size; i++) {
        s->dests[i] = shmemi_remote(fn, dest, bytes, shmemi_group_pe(g, i));
        s->sources[i] = shmemi_remote(fn, source, bytes, shmemi_group_pe(g, i));
    }
    size_t slice = shmemi_round_up(nelems / members + (nelems % members != 0), SHMEMI_LINE);
    bool mine = !shmemi_mul_overflows(slice, (size_t)g->me, &s->first) && s->first < nelems;
    s->end = mine && nelems - s->first > slice ? s->first + slice : nelems;
    shmemi_require(fn, shmemi_group_exchange(g, NULL, 0)); /* all sources are ready */
    if (mine)
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

int shmemi_coll_reduce(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                       enum shmemi_type type, enum shmemi_reduce_op op)
{
    if (!g)
        return -1;
    size_t bytes = begin(fn, g, dest, source, nelems, type);
    if (!is_small(g, bytes, type)) {
        struct slice s; /* its arrays are large, and are filled in as far as they are used */
        s.type = type;
        s.op = op;
        in_slices(fn, g, dest, source, nelems, &s, reduce_slice);
        return 0;
    }
    const void *pieces[SHMEMI_PES_MOST];
    shmemi_require(fn, shmemi_group_exchange(g, source, bytes));
    for (int i = 0; bytes && i < g->size; i++)
        pieces[i] = shmemi_group_published(g, i);
    if (bytes)
        shmemi_fold(type, op, dest, pieces, g->size, nelems);
    return 0;
}

int shmemi_coll_scan(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                     enum shmemi_type type, bool inclusive)
{
    if (!g)
        return -1;
    size_t bytes = begin(fn, g, dest, source, nelems, type);
    if (!is_small(g, bytes, type)) {
        struct slice s;
        s.type = type;
        s.inclusive = inclusive;
        in_slices(fn, g, dest, source, nelems, &s, scan_slice);
        return 0;
    }
    const void *pieces[SHMEMI_PES_MOST];
    int members = g->me + inclusive;
    shmemi_require(fn, shmemi_group_exchange(g, source, bytes));
    for (int i = 0; bytes && i < members; i++)
        pieces[i] = shmemi_group_published(g, i);
    if (bytes && members)
        shmemi_fold(type, SHMEMI_REDUCE_SUM, dest, pieces, members, nelems);
    else if (bytes)
        memset(dest, 0, bytes);
    return 0;
}
