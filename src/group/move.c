// SPDX-License-Identifier: Apache-2.0
// Collectives that only move: in each round ranks fill their slots, and take what they need out of others'.
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "group_internal.h"

struct move {
    struct shmemi_pg *g;
    enum shmemi_pg_kind kind;
    int root;     /* -1: none */
    size_t bytes; /* of one block */
    size_t chunk; /* bytes of a block that go through a slot in a round */
    uint64_t base, rounds;
    void *const *outs;
    const void *const *ins;
    const size_t *out_bytes, *in_bytes; /* all_to_all: by rank */
};

struct part {
    size_t first, bytes;
};

static struct part part_of(const struct move *m, size_t bytes, uint64_t number)
{
    size_t first = (size_t)number * m->chunk;
    if (first >= bytes)
        return (struct part){bytes, 0};
    return (struct part){first, bytes - first < m->chunk ? bytes - first : m->chunk};
}

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from)
        memmove(to, from, bytes); /* in and out may be one tensor */
}

/* ---- what each kind puts into this rank's slot, and takes out ---- */

static void fill_one(const struct move *m, char *slot, uint64_t number) /* broadcast's root, gathers */
{
    struct part p = part_of(m, m->bytes, number);
    copy(slot, (const char *)m->ins[0] + p.first, p.bytes);
}

static void fill_each(const struct move *m, char *slot, uint64_t number) /* scatter's root, all_to_all */
{
    for (int rank = 0; rank < m->g->ranks; rank++) {
        struct part p = part_of(m, m->in_bytes ? m->in_bytes[rank] : m->bytes, number);
        if (rank != m->g->rank)
            copy(slot + (size_t)rank * m->chunk, (const char *)m->ins[rank] + p.first, p.bytes);
    }
}

static void fill(const struct move *m, uint64_t number)
{
    char *slot = shmemi_pg_slot(m->g, m->g->rank, m->base + number);
    bool is_root = m->root < 0 || m->root == m->g->rank;
    switch (m->kind) {
    case SHMEMI_PG_BROADCAST:
        if (is_root)
            fill_one(m, slot, number);
        break;
    case SHMEMI_PG_ALL_GATHER:
        fill_one(m, slot, number);
        break;
    case SHMEMI_PG_GATHER:
        if (!is_root)
            fill_one(m, slot, number);
        break;
    case SHMEMI_PG_SCATTER:
        if (is_root)
            fill_each(m, slot, number);
        break;
    default:
        fill_each(m, slot, number);
    }
}

/* From rank's slot, where its part begins at `at`. */
static void take(const struct move *m, uint64_t number, int rank, size_t at, void *out, size_t bytes)
{
    struct part p = part_of(m, bytes, number);
    copy((char *)out + p.first, shmemi_pg_slot(m->g, rank, m->base + number) + at, p.bytes);
}

static void take_from_all(const struct move *m, uint64_t number, bool each)
{
    int me = m->g->rank, ranks = m->g->ranks;
    for (int i = 1; i < ranks; i++) { /* each begins with another one */
        int rank = (me + i) % ranks;
        take(m, number, rank, each ? (size_t)me * m->chunk : 0, m->outs[rank],
             m->out_bytes ? m->out_bytes[rank] : m->bytes);
    }
}

static void drain(const struct move *m, uint64_t number)
{
    bool is_root = m->root < 0 || m->root == m->g->rank;
    switch (m->kind) {
    case SHMEMI_PG_BROADCAST:
        if (!is_root)
            take(m, number, m->root, 0, m->outs[0], m->bytes);
        break;
    case SHMEMI_PG_SCATTER:
        if (!is_root)
            take(m, number, m->root, (size_t)m->g->rank * m->chunk, m->outs[0], m->bytes);
        break;
    case SHMEMI_PG_ALL_GATHER:
        take_from_all(m, number, false);
        break;
    case SHMEMI_PG_GATHER:
        if (is_root)
            take_from_all(m, number, false);
        break;
    default:
        take_from_all(m, number, true);
    }
}

/* ---- rounds ---- */

/* Whose filled slot this rank waits for: a rank, -1 for all, -2 for nobody's. */
static int needed(const struct move *m)
{
    bool from_root = m->kind == SHMEMI_PG_BROADCAST || m->kind == SHMEMI_PG_SCATTER;
    if (m->root < 0)
        return -1;
    if (from_root)
        return m->g->rank == m->root ? -2 : m->root;
    return m->g->rank == m->root ? -1 : -2;
}

static int drain_round(struct move *m, uint64_t number, bool met)
{
    struct shmemi_pg *g = m->g;
    int from = needed(m), rc = 0;
    if (!met)
        rc = shmemi_pg_meet(g);
    else if (from >= -1)
        rc = shmemi_pg_await(g, SHMEMI_PG_FILLED, m->base + number, from);
    if (rc < 0)
        return rc;
    drain(m, number);
    shmemi_pg_done(g, SHMEMI_PG_DRAINED, m->base + number, false);
    return 0;
}

/* met: an earlier round of this call has compared what is called. */
static int run(struct move *m, bool met)
{
    struct shmemi_pg *g = m->g;
    int rc = 0;
    m->base = g->round;
    for (uint64_t i = 0; i <= m->rounds && rc == 0; i++) {
        if (i < m->rounds) {
            rc = shmemi_pg_await_slot(g, m->base + i);
            if (rc < 0)
                break;
            fill(m, i);
            shmemi_pg_done(g, SHMEMI_PG_FOLDED, m->base + i, false);
            shmemi_pg_done(g, SHMEMI_PG_FILLED, m->base + i, m->root >= 0);
        }
        if (i == 0 && !met)
            shmemi_pg_enter(g);
        if (i >= 1)
            rc = drain_round(m, i - 1, met || i > 1);
    }
    if (rc == 0 && m->rounds == 0 && !met)
        rc = shmemi_pg_meet(g);
    if (rc == 0)
        g->round += m->rounds;
    return rc;
}

static int sizes(struct move *m, struct shmemi_pg_elements of, size_t parts)
{
    size_t size = shmemi_pg_element_bytes(of.type);
    if (!size || shmemi_mul_overflows(of.count, size, &m->bytes))
        return shmemi_fail(-EINVAL,
                           size ? "%zu elements are more than there is memory for" : "there is no such type: %zu",
                           size ? of.count : (size_t)of.type);
    m->chunk = shmemi_round_down(m->g->slot_bytes / parts, SHMEMI_LINE);
    m->rounds = m->bytes / m->chunk + (m->bytes % m->chunk != 0);
    return 0;
}

static int move(struct move *m, struct shmemi_pg_elements of, size_t parts, double seconds)
{
    struct shmemi_pg_call call = {
        .kind = (uint32_t)m->kind, .type = of.type, .root = m->root < 0 ? 0 : (uint32_t)m->root, .count = of.count};
    int rc = sizes(m, of, parts);
    if (rc < 0 || (rc = shmemi_pg_begin(m->g, &call, seconds)) < 0)
        return rc;
    return shmemi_pg_end(m->g, run(m, false));
}

int shmemi_pg_barrier(struct shmemi_pg *g, double seconds)
{
    struct move m = {.g = g, .kind = SHMEMI_PG_BARRIER, .root = -1};
    return move(&m, (struct shmemi_pg_elements){0, SHMEMI_PG_BYTES}, 1, seconds);
}

int shmemi_pg_broadcast(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, int root, double seconds)
{
    struct move m = {
        .g = g, .kind = SHMEMI_PG_BROADCAST, .root = root, .outs = &x, .ins = (const void *const *)(void *)&x};
    return move(&m, of, 1, seconds);
}

/* A rank's own block does not go through a slot. */
static void own_block(const struct move *m, const void *from, void *to, int rc)
{
    if (rc == 0)
        copy(to, from, m->bytes);
}

int shmemi_pg_all_gather(struct shmemi_pg *g, void *const *outs, const void *in, struct shmemi_pg_elements of,
                         double seconds)
{
    struct move m = {.g = g, .kind = SHMEMI_PG_ALL_GATHER, .root = -1, .outs = outs, .ins = &in};
    int rc = move(&m, of, 1, seconds);
    own_block(&m, in, outs[g->rank], rc);
    return rc;
}

int shmemi_pg_gather(struct shmemi_pg *g, void *const *outs, const void *in, struct shmemi_pg_elements of, int root,
                     double seconds)
{
    struct move m = {.g = g, .kind = SHMEMI_PG_GATHER, .root = root, .outs = outs, .ins = &in};
    int rc = move(&m, of, 1, seconds);
    if (root == g->rank)
        own_block(&m, in, outs[root], rc);
    return rc;
}

int shmemi_pg_scatter(struct shmemi_pg *g, void *out, const void *const *ins, struct shmemi_pg_elements of, int root,
                      double seconds)
{
    struct move m = {.g = g, .kind = SHMEMI_PG_SCATTER, .root = root, .outs = &out, .ins = ins};
    int rc = move(&m, of, (size_t)g->ranks, seconds);
    if (root == g->rank)
        own_block(&m, ins[root], out, rc);
    return rc;
}

/* ---- all_to_all: its first round carries how much everybody sends and expects ---- */

/* In a slot: what the rank sends to each, and then what it expects from each, in elements. */
static void write_counts(const struct move *m, const size_t *out_counts, const size_t *in_counts)
{
    uint64_t *row = (uint64_t *)(void *)shmemi_pg_slot(m->g, m->g->rank, m->g->round);
    for (int rank = 0; rank < m->g->ranks; rank++) {
        row[rank] = in_counts[rank];
        row[m->g->ranks + rank] = out_counts[rank];
    }
}

/* Every rank looks at every pair, so all of them find the same mistake. Notes the largest count. */
static int compare_counts(const struct shmemi_pg *g, uint64_t round, uint64_t *most)
{
    *most = 0;
    for (int from = 0; from < g->ranks; from++) {
        const uint64_t *sends = (const uint64_t *)(const void *)shmemi_pg_slot(g, from, round);
        for (int to = 0; to < g->ranks; to++) {
            const uint64_t *expects = (const uint64_t *)(const void *)shmemi_pg_slot(g, to, round) + g->ranks;
            uint64_t sent = sends[to], expected = expects[from];
            if (sent != expected)
                return shmemi_fail(-EINVAL, "all_to_all: rank %d sends %llu elements to rank %d, but that expects %llu",
                                   from, (unsigned long long)sent, to, (unsigned long long)expected);
            *most = sent > *most ? sent : *most;
        }
    }
    return 0;
}

static int exchange_counts(struct move *m, const size_t *out_counts, const size_t *in_counts, uint64_t *most)
{
    struct shmemi_pg *g = m->g;
    int rc = shmemi_pg_await_slot(g, g->round);
    if (rc < 0)
        return rc;
    write_counts(m, out_counts, in_counts);
    shmemi_pg_done(g, SHMEMI_PG_FILLED, g->round, false);
    shmemi_pg_done(g, SHMEMI_PG_FOLDED, g->round, false);
    shmemi_pg_enter(g);
    rc = shmemi_pg_meet(g);
    if (rc < 0)
        return rc;
    rc = compare_counts(g, g->round, most);
    shmemi_pg_done(g, SHMEMI_PG_DRAINED, g->round, false);
    g->round++;
    return rc;
}

static int check_counts(const struct shmemi_pg *g, const size_t *counts, const char *what, size_t size, size_t *bytes)
{
    for (int rank = 0; rank < g->ranks; rank++)
        if (shmemi_mul_overflows(counts[rank], size, &bytes[rank]))
            return shmemi_fail(-EINVAL, "%s[%d] is %zu elements: more than there is memory for", what, rank,
                               counts[rank]);
    return 0;
}

int shmemi_pg_all_to_all(struct shmemi_pg *g, void *const *outs, const size_t *out_counts, const void *const *ins,
                         const size_t *in_counts, unsigned type, double seconds)
{
    size_t out_bytes[SHMEMI_PG_RANKS_MOST], in_bytes[SHMEMI_PG_RANKS_MOST], size = shmemi_pg_element_bytes(type);
    struct move m = {.g = g,
                     .kind = SHMEMI_PG_ALL_TO_ALL,
                     .root = -1,
                     .outs = outs,
                     .ins = ins,
                     .out_bytes = out_bytes,
                     .in_bytes = in_bytes};
    struct shmemi_pg_call call = {.kind = SHMEMI_PG_ALL_TO_ALL, .type = type};
    uint64_t most;
    int rc = size ? check_counts(g, out_counts, "out_counts", size, out_bytes)
                  : shmemi_fail(-EINVAL, "there is no type number %u", type);
    if (rc == 0)
        rc = check_counts(g, in_counts, "in_counts", size, in_bytes);
    if (rc < 0 || (rc = shmemi_pg_begin(g, &call, seconds)) < 0)
        return rc;
    rc = exchange_counts(&m, out_counts, in_counts, &most);
    if (rc == 0) {
        m.chunk = shmemi_round_down(g->slot_bytes / (size_t)g->ranks, SHMEMI_LINE);
        m.rounds = (most * size + m.chunk - 1) / m.chunk; /* equal everywhere */
        rc = run(&m, true);
        if (rc == 0)
            copy(outs[g->rank], ins[g->rank], out_bytes[g->rank]);
    }
    return shmemi_pg_end(g, rc);
}
