// SPDX-License-Identifier: Apache-2.0
// Reductions. Small ones: everybody folds all contributions in the order of ranks. Larger ones: everybody folds its
// slice of each chunk, and then takes the other slices from those who folded them; one chunk is staged while the one
// before it is folded and the one before that is collected. Either way all ranks get the same bits.
#include <errno.h>
#include <string.h>

#include "base/copy.h"
#include "base/error.h"
#include "group_internal.h"

enum { SMALL = 16 << 10 }; /* bytes: below it a second round of waits costs more than folding everything n times */

struct reduction {
    struct shmemi_pg *g;
    struct shmemi_pg_elements of;
    unsigned op;
    size_t size;   /* bytes of an element */
    uint64_t base; /* the round of the first chunk */
    size_t chunk;  /* elements of a chunk, but for the last one */
    uint64_t rounds;
    char *x;    /* all_reduce, reduce: what is folded */
    bool to_me; /* whether this rank gets the result */
};

/* From `first` on of one chunk, in elements. */
struct part {
    size_t first, count;
};

static int check(const char *fn, struct shmemi_pg_elements of, unsigned op)
{
    (void)fn;
    enum shmemi_type type = (enum shmemi_type)of.type;
    if (of.type >= SHMEMI_TYPES)
        return shmemi_fail(-EINVAL, "elements of type number %u cannot be reduced", of.type);
    if (op == SHMEMI_PG_MEAN ? !shmemi_meanable(type) : !shmemi_foldable(type, (enum shmemi_reduce_op)op)) {
        struct shmemi_pg_call call = {.kind = SHMEMI_PG_ALL_REDUCE, .type = of.type, .op = op, .count = of.count};
        char text[SHMEMI_PG_CALL_TEXT];
        return shmemi_fail(-EINVAL, "there is no %s", shmemi_pg_call_text(&call, text));
    }
    size_t bytes;
    return shmemi_mul_overflows(of.count, shmemi_type_size(type), &bytes)
               ? shmemi_fail(-EINVAL, "%zu elements are more than there is memory for", of.count)
               : 0;
}

static void fold_piece(const struct reduction *r, void *out, const void *const *sources, size_t count)
{
    if (r->op == SHMEMI_PG_MEAN)
        shmemi_fold_mean((enum shmemi_type)r->of.type, out, sources, r->g->ranks, count);
    else
        shmemi_fold((enum shmemi_type)r->of.type, (enum shmemi_reduce_op)r->op, out, sources, r->g->ranks, count);
}

/* Folds count elements of all sources to `out` and, unless it is NULL, to `also`. */
static void fold_all(const struct reduction *r, char *out, char *also, const char *const *sources, size_t count)
{
    size_t step = SHMEMI_FOLD_BYTES / r->size;
    const void *pieces[SHMEMI_PG_RANKS_MOST];
    for (size_t at = 0; at < count; at += step) {
        size_t n = count - at < step ? count - at : step;
        for (int rank = 0; rank < r->g->ranks; rank++)
            pieces[rank] = sources[rank] + at * r->size;
        fold_piece(r, out + at * r->size, pieces, n);
        if (also)
            memcpy(also + at * r->size, out + at * r->size, n * r->size);
    }
}

/* ---- in one round ---- */

static int reduce_small(struct reduction *r)
{
    struct shmemi_pg *g = r->g;
    const char *sources[SHMEMI_PG_RANKS_MOST];
    size_t bytes = r->of.count * r->size;
    int rc = shmemi_pg_await_slot(g, g->round);
    if (rc < 0)
        return rc;
    if (bytes)
        memcpy(shmemi_pg_slot(g, g->rank, g->round), r->x, bytes);
    shmemi_pg_done(g, SHMEMI_PG_FILLED, g->round, false);
    shmemi_pg_done(g, SHMEMI_PG_FOLDED, g->round, false);
    shmemi_pg_enter(g);
    rc = shmemi_pg_meet(g);
    if (rc < 0)
        return rc;
    for (int rank = 0; rank < g->ranks; rank++)
        sources[rank] = shmemi_pg_slot(g, rank, g->round);
    if (r->to_me && bytes)
        fold_all(r, r->x, NULL, sources, r->of.count);
    shmemi_pg_done(g, SHMEMI_PG_DRAINED, g->round, false);
    g->round++;
    return 0;
}

/* ---- in slices ---- */

static struct part chunk_of(const struct reduction *r, uint64_t number)
{
    size_t first = (size_t)number * r->chunk, left = r->of.count - first;
    return (struct part){first, left < r->chunk ? left : r->chunk};
}

/* Rank's slice of a chunk; borders are on cache lines of the slots. */
static struct part slice_of(const struct reduction *r, struct part chunk, int rank)
{
    size_t ranks = (size_t)r->g->ranks;
    size_t each = shmemi_round_up(chunk.count / ranks + (chunk.count % ranks != 0), SHMEMI_LINE);
    size_t first = each * (size_t)rank;
    if (first >= chunk.count)
        return (struct part){chunk.count, 0};
    return (struct part){first, chunk.count - first < each ? chunk.count - first : each};
}

/* What the others fold goes into the slot; this rank's own slice is read where it lies. */
static void stage(const struct reduction *r, uint64_t number)
{
    struct part chunk = chunk_of(r, number);
    struct part mine = slice_of(r, chunk, r->g->rank);
    const char *from = r->x + chunk.first * r->size;
    char *slot = shmemi_pg_slot(r->g, r->g->rank, r->base + number);
    size_t behind = mine.first + mine.count;
    memcpy(slot, from, mine.first * r->size);
    memcpy(slot + behind * r->size, from + behind * r->size, (chunk.count - behind) * r->size);
}

static void fold_slice(const struct reduction *r, uint64_t number)
{
    struct shmemi_pg *g = r->g;
    const char *sources[SHMEMI_PG_RANKS_MOST];
    struct part chunk = chunk_of(r, number);
    struct part mine = slice_of(r, chunk, g->rank);
    char *here = r->x + (chunk.first + mine.first) * r->size;
    char *slot = shmemi_pg_slot(g, g->rank, r->base + number) + mine.first * r->size;
    for (int rank = 0; rank < g->ranks; rank++)
        sources[rank] = rank == g->rank ? here : shmemi_pg_slot(g, rank, r->base + number) + mine.first * r->size;
    fold_all(r, slot, r->to_me ? here : NULL, sources, mine.count);
}

static void collect(const struct reduction *r, uint64_t number)
{
    struct shmemi_pg *g = r->g;
    struct part chunk = chunk_of(r, number);
    for (int i = 1; i < g->ranks && r->to_me; i++) { /* each begins with another one */
        int rank = (g->rank + i) % g->ranks;
        struct part slice = slice_of(r, chunk, rank);
        memcpy(r->x + (chunk.first + slice.first) * r->size,
               shmemi_pg_slot(g, rank, r->base + number) + slice.first * r->size, slice.count * r->size);
    }
}

static int stage_step(struct reduction *r, uint64_t number)
{
    int rc = shmemi_pg_await_slot(r->g, r->base + number);
    if (rc < 0)
        return rc;
    stage(r, number);
    shmemi_pg_done(r->g, SHMEMI_PG_FILLED, r->base + number, false);
    if (number == 0)
        shmemi_pg_enter(r->g);
    return 0;
}

static int fold_step(struct reduction *r, uint64_t number)
{
    int rc = number == 0 ? shmemi_pg_meet(r->g) : shmemi_pg_await(r->g, SHMEMI_PG_FILLED, r->base + number, -1);
    if (rc < 0)
        return rc;
    fold_slice(r, number);
    shmemi_pg_done(r->g, SHMEMI_PG_FOLDED, r->base + number, false);
    return 0;
}

static int collect_step(struct reduction *r, uint64_t number)
{
    int rc = shmemi_pg_await(r->g, SHMEMI_PG_FOLDED, r->base + number, -1);
    if (rc < 0)
        return rc;
    collect(r, number);
    shmemi_pg_done(r->g, SHMEMI_PG_DRAINED, r->base + number, false);
    return 0;
}

static int reduce_large(struct reduction *r)
{
    int rc = 0;
    r->base = r->g->round;
    r->chunk = shmemi_round_down(r->g->slot_bytes / r->size, SHMEMI_LINE);
    r->rounds = r->of.count / r->chunk + (r->of.count % r->chunk != 0);
    for (uint64_t i = 0; i < r->rounds + 2 && rc == 0; i++) {
        if (i < r->rounds)
            rc = stage_step(r, i);
        if (rc == 0 && i >= 1 && i - 1 < r->rounds)
            rc = fold_step(r, i - 1);
        if (rc == 0 && i >= 2)
            rc = collect_step(r, i - 2);
    }
    if (rc == 0)
        r->g->round += r->rounds;
    return rc;
}

static int reduce(struct reduction *r, enum shmemi_pg_kind kind, int root, double seconds)
{
    struct shmemi_pg_call call = {
        .kind = kind, .type = r->of.type, .op = r->op, .root = (uint32_t)root, .count = r->of.count};
    int rc = check(shmemi_pg_kind_name(kind), r->of, r->op);
    if (rc < 0 || (rc = shmemi_pg_begin(r->g, &call, seconds)) < 0)
        return rc;
    r->size = shmemi_type_size((enum shmemi_type)r->of.type);
    return shmemi_pg_end(r->g, r->of.count * r->size <= SMALL ? reduce_small(r) : reduce_large(r));
}

int shmemi_pg_all_reduce(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, unsigned op, double seconds)
{
    struct reduction r = {.g = g, .of = of, .op = op, .x = x, .to_me = true};
    return reduce(&r, SHMEMI_PG_ALL_REDUCE, 0, seconds);
}

int shmemi_pg_reduce(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, unsigned op, int root, double seconds)
{
    struct reduction r = {.g = g, .of = of, .op = op, .x = x, .to_me = root == g->rank};
    return reduce(&r, SHMEMI_PG_REDUCE, root, seconds);
}

/* ---- reduce_scatter: every rank has a block for each ---- */

struct scatter {
    struct reduction r;
    const void *const *ins;
    char *out;
};

/* The part of a slot that is meant for a rank. */
static size_t part_at(const struct reduction *r, int rank)
{
    return (size_t)rank * r->chunk * r->size;
}

static void stage_blocks(const struct scatter *s, uint64_t number)
{
    const struct reduction *r = &s->r;
    struct part chunk = chunk_of(r, number);
    char *slot = shmemi_pg_slot(r->g, r->g->rank, r->base + number);
    for (int rank = 0; rank < r->g->ranks; rank++)
        if (rank != r->g->rank && chunk.count)
            memcpy(slot + part_at(r, rank), (const char *)s->ins[rank] + chunk.first * r->size, chunk.count * r->size);
}

static void fold_block(const struct scatter *s, uint64_t number)
{
    const struct reduction *r = &s->r;
    const char *sources[SHMEMI_PG_RANKS_MOST];
    struct part chunk = chunk_of(r, number);
    int me = r->g->rank;
    for (int rank = 0; rank < r->g->ranks; rank++)
        sources[rank] = rank == me ? (const char *)s->ins[me] + chunk.first * r->size
                                   : shmemi_pg_slot(r->g, rank, r->base + number) + part_at(r, me);
    fold_all(r, s->out + chunk.first * r->size, NULL, sources, chunk.count);
}

static int scatter_rounds(struct scatter *s)
{
    struct reduction *r = &s->r;
    struct shmemi_pg *g = r->g;
    int rc = 0;
    r->base = g->round;
    r->chunk = shmemi_round_down(g->slot_bytes / (size_t)g->ranks, SHMEMI_LINE) / r->size;
    r->rounds = r->of.count ? (r->of.count - 1) / r->chunk + 1 : 1;
    for (uint64_t i = 0; i <= r->rounds && rc == 0; i++) {
        if (i < r->rounds && (rc = shmemi_pg_await_slot(g, r->base + i)) == 0) {
            stage_blocks(s, i);
            shmemi_pg_done(g, SHMEMI_PG_FILLED, r->base + i, false);
            shmemi_pg_done(g, SHMEMI_PG_FOLDED, r->base + i, false);
            if (i == 0)
                shmemi_pg_enter(g);
        }
        if (rc < 0 || i < 1)
            continue;
        rc = i == 1 ? shmemi_pg_meet(g) : shmemi_pg_await(g, SHMEMI_PG_FILLED, r->base + i - 1, -1);
        if (rc == 0) {
            fold_block(s, i - 1);
            shmemi_pg_done(g, SHMEMI_PG_DRAINED, r->base + i - 1, false);
        }
    }
    if (rc == 0)
        g->round += r->rounds;
    return rc;
}

int shmemi_pg_reduce_scatter(struct shmemi_pg *g, void *out, const void *const *ins, struct shmemi_pg_elements of,
                             unsigned op, double seconds)
{
    struct scatter s = {.r = {.g = g, .of = of, .op = op}, .ins = ins, .out = out};
    struct shmemi_pg_call call = {.kind = SHMEMI_PG_REDUCE_SCATTER, .type = of.type, .op = op, .count = of.count};
    int rc = check("reduce_scatter", of, op);
    if (rc < 0 || (rc = shmemi_pg_begin(g, &call, seconds)) < 0)
        return rc;
    s.r.size = shmemi_type_size((enum shmemi_type)of.type);
    return shmemi_pg_end(g, scatter_rounds(&s));
}
