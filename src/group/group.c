// SPDX-License-Identifier: Apache-2.0
// Making groups, joining and leaving them.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/futex.h"
#include "group_internal.h"

enum {
    SLOT_USUAL = 512 << 10,
    STAGING_USUAL_MOST = 64 << 20, /* of all ranks together, unless the caller wants more */
    SLOT_LEAST = 16 << 10,
    SPIN_NS = 20000,
};

static size_t shared_bytes(int ranks)
{
    return sizeof(struct shmemi_pg_shared) + (size_t)ranks * sizeof(struct shmemi_pg_row);
}

/* A slot holds a part for each rank, on lines of its own. */
static size_t slot_bytes_for(int ranks, size_t staging)
{
    size_t slot = staging / SHMEMI_PG_SLOTS;
    if (!staging) {
        slot = (size_t)STAGING_USUAL_MOST / SHMEMI_PG_SLOTS / (size_t)ranks;
        slot = slot < SLOT_USUAL ? slot : SLOT_USUAL;
    }
    size_t least = (size_t)ranks * SHMEMI_LINE;
    if (least < SLOT_LEAST)
        least = SLOT_LEAST;
    return shmemi_round_down(slot < least ? least + 4095 : slot, 4096);
}

struct shmemi_pg_places shmemi_pg_places(int ranks, size_t slot_bytes)
{
    struct shmemi_pg_places at = {.windows = SHMEMI_PG_SLOTS * slot_bytes};
    at.letters = at.windows + (size_t)SHMEMI_PG_WINDOWS * 2 * SHMEMI_PG_HALF;
    at.bytes = at.letters + (SHMEMI_PG_LETTERS + (size_t)ranks) * sizeof(struct shmemi_pg_letter);
    at.bytes = shmemi_round_up(at.bytes, 4096);
    return at;
}

/* ---- one process's part ---- */

static int turns_in(int64_t ns)
{
    enum { TURNS = 200 };
    int64_t begin = shmemi_now();
    for (int i = 0; i < TURNS; i++)
        shmemi_cpu_relax();
    int64_t took = shmemi_now() - begin;
    return took > 0 && took < 100000 ? (int)(ns * TURNS / took) : 2000;
}

/* With a core for each rank a wait spins about as long as it takes to wake a sleeper. With more ranks than cores who is
   waited for needs this core. */
static void choose_patience(struct shmemi_pg *g)
{
    cpu_set_t mask;
    shmemi_cpu_mask(&mask);
    bool crowded = g->ranks > shmemi_cpu_cores(&mask);
    g->spins = crowded ? 0 : turns_in(SPIN_NS);
    g->yields = crowded ? 20 : 50;
}

static void put_away(struct shmemi_pg *g, bool forked)
{
    shmemi_pg_mail_close(g, forked);
    if (g->object)
        shmemi_object_close(g->object); /* an imported one's pool goes with it */
    if (g->pool)
        shmemi_pool_close(g->pool);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->giving_up);
    free(g);
}

static struct shmemi_pg *new_group(int rank, int ranks)
{
    struct shmemi_pg *g = calloc(1, sizeof *g);
    if (!g) {
        shmemi_fail(-ENOMEM, "no memory for a group of %d ranks", ranks);
        return NULL;
    }
    g->rank = rank;
    g->ranks = ranks;
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->giving_up, NULL);
    choose_patience(g);
    return g;
}

static int check_rank(int rank, int ranks)
{
    if (ranks < 1 || ranks > SHMEMI_PG_RANKS_MOST)
        return shmemi_fail(-EINVAL, "ranks is %d, but must be from 1 to %d", ranks, SHMEMI_PG_RANKS_MOST);
    if (rank < 0 || rank >= ranks)
        return shmemi_fail(-EINVAL, "rank is %d, but must be from 0 to %d", rank, ranks - 1);
    return 0;
}

/* Takes the place of this rank. */
static int claim(struct shmemi_pg *g)
{
    struct shmemi_pg_row *row = &g->shared->rows[g->rank];
    uint64_t nobody = 0, mine = shmemi_holder_base(g->domain);
    /* [who] release: pairs with the acquire of who looks at the rank. */
    if (!atomic_compare_exchange_strong_explicit(&row->who, &nobody, mine, memory_order_acq_rel, memory_order_acquire))
        return shmemi_fail(-EEXIST, "another process (pid %d) is rank %d of the group",
                           (int)atomic_load_explicit(&row->pid, memory_order_relaxed), g->rank);
    atomic_store_explicit(&row->pid, (int32_t)getpid(), memory_order_relaxed); /* for messages */
    /* [state] release: pairs with the acquire in shmemi_pg_check_rank(). */
    atomic_store_explicit(&row->state, SHMEMI_PG_PRESENT, memory_order_release);
    return 0;
}

static int settle(struct shmemi_pg *g)
{
    g->at = shmemi_pg_places(g->ranks, g->slot_bytes);
    int rc = shmemi_pg_mail_open(g);
    return rc < 0 ? rc : claim(g);
}

/* ---- rank 0 ---- */

struct plan {
    uint32_t ranks;
    uint64_t slot_bytes, staging;
};

static void init_shared(void *memory, void *context)
{
    const struct plan *plan = context;
    struct shmemi_pg_shared *shared = memory;
    shared->version = SHMEMI_PG_VERSION;
    shared->ranks = plan->ranks;
    shared->slot_bytes = plan->slot_bytes;
    shared->staging = plan->staging;
}

static int make_pool(struct shmemi_pg *g, struct plan *plan)
{
    size_t staging = plan->ranks * shmemi_pg_places((int)plan->ranks, plan->slot_bytes).bytes,
           shared = shared_bytes((int)plan->ranks);
    size_t room = staging + shmemi_round_up(shared, 4096) + (256 << 10); /* for what the pool itself puts there */
    struct shmemi_pool_config config = {.size = room, .max_size = room, .type = "host", .numa_node = -1};
    void *memory;
    int rc = shmemi_pool_create(&config, &g->pool);
    if (rc == 0)
        rc = shmemi_pool_alloc(g->pool, staging, 4096, SHMEMI_ALLOC_KEEP, &memory);
    if (rc == 0)
        rc = shmemi_pool_offset(g->pool, memory, &plan->staging);
    if (rc < 0)
        return rc;
    g->staging = memory;
    struct shmemi_object_spec spec = {
        .type = SHMEMI_OBJECT_GROUP, .bytes = shared, .init = init_shared, .context = plan};
    return shmemi_object_create(g->pool, &spec, &g->object);
}

int shmemi_pg_create(int ranks, size_t staging, struct shmemi_pg **out)
{
    int rc = check_rank(0, ranks);
    if (rc == 0 && staging > SIZE_MAX / 2 / SHMEMI_PG_RANKS_MOST)
        rc = shmemi_fail(-EINVAL, "staging is %zu bytes for each rank: no machine has that much", staging);
    struct shmemi_pg *g = rc == 0 ? new_group(0, ranks) : NULL;
    if (!g)
        return rc < 0 ? rc : -ENOMEM;
    struct plan plan = {.ranks = (uint32_t)ranks, .slot_bytes = slot_bytes_for(ranks, staging)};
    rc = make_pool(g, &plan);
    if (rc == 0) {
        g->shared = g->object->shared;
        g->domain = g->object->domain;
        g->slot_bytes = plan.slot_bytes;
        rc = settle(g);
    }
    if (rc < 0) {
        put_away(g, false);
        return shmemi_fail_in(rc, "cannot make a group of %d ranks", ranks);
    }
    *out = g;
    return 0;
}

int shmemi_pg_key(struct shmemi_pg *g, char text[SHMEMI_KEY_TEXT])
{
    return shmemi_object_export(g->object, text);
}

/* ---- the others ---- */

/* What rank 0 wrote, read once and checked: it says where this process is going to write. */
static int adopt(struct shmemi_pg *g)
{
    g->shared = g->object->shared;
    g->domain = g->object->domain;
    volatile const struct shmemi_pg_shared *shared = g->shared;
    if (g->object->bytes < sizeof *shared)
        return shmemi_fail(-EPROTO, "the group is damaged");
    uint32_t version = shared->version, ranks = shared->ranks;
    uint64_t slot = shared->slot_bytes, staging = shared->staging;
    void *memory = NULL;
    if (version != SHMEMI_PG_VERSION)
        return shmemi_fail(-EPROTO, "the group is of version %u, and this library knows %u", version,
                           SHMEMI_PG_VERSION);
    if (ranks != (uint32_t)g->ranks)
        return shmemi_fail(-EINVAL, "ranks is %d here, but rank 0 made a group of %u", g->ranks, ranks);
    if (g->object->bytes < shared_bytes(g->ranks) || slot < (uint64_t)g->ranks * SHMEMI_LINE ||
        slot > SIZE_MAX / 2048 || slot % SHMEMI_LINE || staging % SHMEMI_LINE) /* atomics lie there */
        return shmemi_fail(-EPROTO, "the group is damaged");
    struct shmemi_pool *pool = shmemi_pool_of(g->object->head);
    int rc =
        pool ? shmemi_pool_address(pool, staging, (size_t)g->ranks * shmemi_pg_places(g->ranks, slot).bytes, &memory)
             : shmemi_fail(-EPROTO, "the group is in no pool");
    if (rc < 0)
        return rc;
    g->staging = memory;
    g->slot_bytes = slot;
    return 0;
}

int shmemi_pg_join(const char *key, int rank, int ranks, struct shmemi_pg **out)
{
    int rc = check_rank(rank, ranks);
    struct shmemi_pg *g = rc == 0 ? new_group(rank, ranks) : NULL;
    if (!g)
        return rc < 0 ? rc : -ENOMEM;
    rc = shmemi_object_import(key, SHMEMI_OBJECT_GROUP, &g->object);
    if (rc == 0)
        rc = adopt(g);
    if (rc == 0)
        rc = settle(g);
    if (rc < 0) {
        put_away(g, false);
        return shmemi_fail_in(rc, "cannot join the group as rank %d of %d", rank, ranks);
    }
    *out = g;
    return 0;
}

int shmemi_pg_rank(const struct shmemi_pg *g)
{
    return g->rank;
}

int shmemi_pg_ranks(const struct shmemi_pg *g)
{
    return g->ranks;
}

int shmemi_pg_close(struct shmemi_pg *g)
{
    bool forked = !shmemi_object_ready(g->object, SHMEMI_OBJECT_GROUP);
    if (!forked) {
        struct shmemi_pg_row *row = &g->shared->rows[g->rank];
        uint32_t present = SHMEMI_PG_PRESENT;
        /* [state] release: all that this rank did comes before; pairs with the acquire in shmemi_pg_check_rank(). Who
           gave up keeps saying why. */
        atomic_compare_exchange_strong_explicit(&row->state, &present, SHMEMI_PG_LEFT, memory_order_release,
                                                memory_order_relaxed);
        atomic_fetch_add_explicit(&g->shared->bell, 1, memory_order_seq_cst); /* [bell] see sleep_for() in steps.c */
        shmemi_futex_wake(&g->shared->bell, INT_MAX);
    }
    put_away(g, forked);
    return 0;
}
