// SPDX-License-Identifier: Apache-2.0
// Counting steps, waiting for those of others, and saying why a wait cannot end.
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/futex.h"
#include "group_internal.h"

/* Whether a count has come to `target`; counts wrap around. */
static bool reached(uint32_t count, uint32_t target)
{
    return (int32_t)(count - target) >= 0;
}

static uint32_t step_of(const struct shmemi_pg *g, int rank, unsigned step)
{
    /* [step] seq_cst: an acquire that pairs with the store in count(): what the rank did before it is visible. Also
       ordered with the counts of sleepers and of other ranks: of those who count last, one sees that all have. */
    return atomic_load_explicit(&g->shared->rows[rank].steps[step], memory_order_seq_cst);
}

static bool all_reached(const struct shmemi_pg *g, unsigned step, uint32_t target)
{
    for (int rank = 0; rank < g->ranks; rank++)
        if (!reached(step_of(g, rank, step), target))
            return false;
    return true;
}

static void ring(struct shmemi_pg_shared *shared)
{
    atomic_fetch_add_explicit(&shared->bell, 1, memory_order_seq_cst); /* [bell] see sleep_for() */
    shmemi_futex_wake(&shared->bell, INT_MAX);
}

/* Who waits for all ranks is woken by the last of them; who waits for one, by that one. */
static void count(struct shmemi_pg *g, unsigned step, uint32_t value, bool everybody)
{
    struct shmemi_pg_shared *shared = g->shared;
    atomic_store_explicit(&shared->rows[g->rank].steps[step], value, memory_order_seq_cst); /* [step] */
    if (shmemi_unlikely(atomic_load_explicit(&shared->sleepers, memory_order_seq_cst)) &&   /* [bell] */
        (everybody || all_reached(g, step, value)))
        ring(shared);
}

/* ---- waiting ---- */

struct wait {
    unsigned step;
    uint32_t target;
    int rank; /* -1: all */
};

static bool is_over(const struct shmemi_pg *g, const struct wait *w)
{
    return w->rank < 0 ? all_reached(g, w->step, w->target) : reached(step_of(g, w->rank, w->step), w->target);
}

const char *shmemi_pg_rank_text(const struct shmemi_pg *g, int rank, char out[SHMEMI_PG_RANK_TEXT])
{
    snprintf(out, SHMEMI_PG_RANK_TEXT, "rank %d (pid %d)", rank,
             (int)atomic_load_explicit(&g->shared->rows[rank].pid, memory_order_relaxed)); /* for people */
    return out;
}

int shmemi_pg_check_rank(const struct shmemi_pg *g, int rank, const char *what)
{
    char who[SHMEMI_PG_RANK_TEXT];
    const struct shmemi_pg_row *row = &g->shared->rows[rank];
    /* [who] acquire: pairs with the release in claim(). */
    uint64_t holder = atomic_load_explicit(&row->who, memory_order_acquire);
    /* [state] acquire: pairs with the releases in claim(), shmemi_pg_close() and shmemi_pg_give_up(). */
    uint32_t state = atomic_load_explicit(&row->state, memory_order_acquire);
    shmemi_pg_rank_text(g, rank, who);
    if (state == SHMEMI_PG_GAVE_UP) {
        char reason[SHMEMI_PG_REASON];
        memcpy(reason, row->reason, sizeof reason);
        reason[sizeof reason - 1] = 0;
        int code = *(volatile const int32_t *)&row->code; /* read once: it is not trusted */
        return shmemi_fail(code < 0 && code > -4096 ? code : -ECANCELED, "%s gave up, and %s cannot end: %s", who, what,
                           reason);
    }
    if (state == SHMEMI_PG_LEFT)
        return shmemi_fail(-EOWNERDEAD, "%s has left the group, and %s needs it", who, what);
    if (holder && shmemi_holder_dead(g->domain, holder))
        return shmemi_fail(-EOWNERDEAD, "%s died, and %s needs it", who, what);
    return 0;
}

/* The first rank that is waited for, or -1. */
static int missing(const struct shmemi_pg *g, const struct wait *w)
{
    for (int rank = w->rank < 0 ? 0 : w->rank; rank < g->ranks; rank++) {
        if (!reached(step_of(g, rank, w->step), w->target))
            return rank;
        if (w->rank >= 0)
            break;
    }
    return -1;
}

static int timed_out(const struct shmemi_pg *g, const struct wait *w)
{
    char call[SHMEMI_PG_CALL_TEXT], list[96] = "";
    int missed = 0;
    size_t at = 0;
    for (int rank = 0; rank < g->ranks; rank++) {
        if ((w->rank >= 0 && rank != w->rank) || reached(step_of(g, rank, w->step), w->target))
            continue;
        if (at < sizeof list - 16)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%d", missed ? ", " : "", rank);
        else if (at < sizeof list - 4)
            at += (size_t)snprintf(list + at, sizeof list - at, "...");
        missed++;
    }
    return shmemi_fail(-ETIMEDOUT, "timed out after %g s in %s: rank%s %s %s", g->seconds,
                       shmemi_pg_call_text(&g->call, call), missed == 1 ? "" : "s", list,
                       w->step == SHMEMI_PG_ENTERED ? "did not come" : "did not go on");
}

static int look_at_ranks(const struct shmemi_pg *g, const struct wait *w)
{
    char call[SHMEMI_PG_CALL_TEXT];
    int rc = 0;
    shmemi_pg_call_text(&g->call, call);
    for (int rank = 0; rank < g->ranks && rc == 0; rank++)
        if ((w->rank < 0 || rank == w->rank) && !reached(step_of(g, rank, w->step), w->target))
            rc = shmemi_pg_check_rank(g, rank, call);
    return rc;
}

static int sleep_for(const struct shmemi_pg *g, const struct wait *w)
{
    struct shmemi_pg_shared *shared = g->shared;
    int rc = 0;
    /* [bell] seq_cst: either the rank that counts sees the sleeper, or the sleeper sees the count. */
    atomic_fetch_add_explicit(&shared->sleepers, 1, memory_order_seq_cst);
    for (;;) {
        uint32_t seen = atomic_load_explicit(&shared->bell, memory_order_seq_cst); /* before the counts are read */
        int rank = missing(g, w);
        if (rank < 0)
            break;
        rc = look_at_ranks(g, w);
        if (rc < 0)
            break;
        /* [who] relaxed: whose life is slept on; looked at again after the sleep */
        rc = shmemi_domain_sleep(g->domain, &shared->bell, seen,
                                 atomic_load_explicit(&shared->rows[rank].who, memory_order_relaxed), g->deadline);
        if (rc == -ETIMEDOUT)
            rc = timed_out(g, w);
        if (rc < 0)
            break;
    }
    atomic_fetch_sub_explicit(&shared->sleepers, 1, memory_order_relaxed); /* a wake too many does no harm */
    return rc < 0 && is_over(g, w) ? 0 : rc; /* what was waited for came before the death */
}

static int wait_for(const struct shmemi_pg *g, const struct wait *w)
{
    for (int i = 0; i < g->spins; i++) {
        if (is_over(g, w))
            return 0;
        shmemi_cpu_relax();
    }
    int64_t end = shmemi_now() + SHMEMI_PG_YIELD_NS;
    for (int i = 0; i < g->yields; i++) {
        if (is_over(g, w))
            return 0;
        sched_yield();
        if (shmemi_now() > end) /* others want this core: who sleeps gets it back sooner than who yields */
            break;
    }
    return is_over(g, w) ? 0 : sleep_for(g, w);
}

int shmemi_pg_await(struct shmemi_pg *g, enum shmemi_pg_step step, uint64_t round, int rank)
{
    struct wait w = {.step = step, .target = (uint32_t)round + 1, .rank = rank};
    return shmemi_likely(is_over(g, &w)) ? 0 : wait_for(g, &w);
}

int shmemi_pg_await_slot(struct shmemi_pg *g, uint64_t round)
{
    return shmemi_pg_await(g, SHMEMI_PG_DRAINED, round - SHMEMI_PG_SLOTS, -1);
}

void shmemi_pg_done(struct shmemi_pg *g, enum shmemi_pg_step step, uint64_t round, bool everybody)
{
    count(g, step, (uint32_t)round + 1, everybody);
}

/* ---- entries ---- */

int shmemi_pg_check_process(const struct shmemi_pg *g)
{
    return shmemi_likely(shmemi_object_ready(g->object, SHMEMI_OBJECT_GROUP))
               ? 0
               : shmemi_fail(
                     -EPERM,
                     "the group belongs to the process that this one was forked from: make one in this process");
}

int shmemi_pg_check_broken(const struct shmemi_pg *g, const char *what)
{
    int broken = atomic_load_explicit(&g->broken, memory_order_acquire); /* [broken] pairs with the release below */
    return shmemi_likely(broken == 0)
               ? 0
               : shmemi_fail(broken, "%s: the group cannot be used any more: %s", what, g->reason);
}

int shmemi_pg_begin(struct shmemi_pg *g, const struct shmemi_pg_call *call, double seconds)
{
    char text[SHMEMI_PG_CALL_TEXT];
    int forked = shmemi_pg_check_process(g);
    if (shmemi_unlikely(forked < 0))
        return forked;
    pthread_mutex_lock(&g->lock);
    int rc = shmemi_pg_check_broken(g, shmemi_pg_call_text(call, text));
    if (shmemi_unlikely(rc < 0)) {
        pthread_mutex_unlock(&g->lock);
        return rc;
    }
    g->call = *call;
    g->seconds = seconds;
    g->deadline = shmemi_deadline(seconds);
    return 0;
}

/* The others are told at once, instead of waiting for what does not come. */
void shmemi_pg_give_up(struct shmemi_pg *g, int rc)
{
    struct shmemi_pg_row *row = &g->shared->rows[g->rank];
    pthread_mutex_lock(&g->giving_up);
    if (atomic_load_explicit(&g->broken, memory_order_relaxed) == 0) { /* the lock orders it */
        snprintf(g->reason, sizeof g->reason, "%s", shmemi_last_error());
        memcpy(row->reason, g->reason, sizeof row->reason);
        row->code = rc == -EINTR ? -ECANCELED : rc;
        atomic_store_explicit(&row->state, SHMEMI_PG_GAVE_UP, memory_order_release);             /* [state] */
        atomic_store_explicit(&g->broken, rc == -EINTR ? -ECANCELED : rc, memory_order_release); /* [broken] */
    }
    pthread_mutex_unlock(&g->giving_up);
    ring(g->shared);
    for (int rank = 0; rank < g->ranks; rank++) { /* [mail] as in notify() */
        atomic_fetch_add_explicit(&g->shared->rows[rank].mail, 1, memory_order_seq_cst);
        shmemi_futex_wake(&g->shared->rows[rank].mail, INT_MAX);
    }
}

int shmemi_pg_end(struct shmemi_pg *g, int rc)
{
    if (shmemi_unlikely(rc < 0 && rc != -EINVAL))
        shmemi_pg_give_up(g, rc);
    pthread_mutex_unlock(&g->lock);
    return rc;
}

void shmemi_pg_enter(struct shmemi_pg *g)
{
    g->shared->rows[g->rank].calls[g->entries % 2] = g->call;
    count(g, SHMEMI_PG_ENTERED, ++g->entries, false);
}

static bool equal(const struct shmemi_pg_call *a, const struct shmemi_pg_call *b)
{
    return a->kind == b->kind && a->type == b->type && a->op == b->op && a->root == b->root && a->count == b->count;
}

/* All ranks find the same two that differ, and are at the same round afterwards, whatever they had begun to fill. */
static int differ(struct shmemi_pg *g, int rank, const struct shmemi_pg_call *first, const struct shmemi_pg_call *other)
{
    char a[SHMEMI_PG_CALL_TEXT], b[SHMEMI_PG_CALL_TEXT];
    g->round += 2;
    for (unsigned step = SHMEMI_PG_FILLED; step < SHMEMI_PG_STEPS; step++)
        count(g, step, (uint32_t)g->round, true);
    return shmemi_fail(-EINVAL, "rank 0 called %s, but rank %d called %s: all ranks have to call the same",
                       shmemi_pg_call_text(first, a), rank, shmemi_pg_call_text(other, b));
}

int shmemi_pg_meet(struct shmemi_pg *g)
{
    struct wait w = {.step = SHMEMI_PG_ENTERED, .target = g->entries, .rank = -1};
    int rc = is_over(g, &w) ? 0 : wait_for(g, &w);
    if (rc < 0)
        return rc;
    struct shmemi_pg_call first = g->shared->rows[0].calls[(g->entries - 1) % 2];
    for (int rank = 1; rank < g->ranks; rank++) {
        struct shmemi_pg_call other = g->shared->rows[rank].calls[(g->entries - 1) % 2];
        if (shmemi_unlikely(!equal(&first, &other)))
            return differ(g, rank, &first, &other);
    }
    if (shmemi_unlikely(!equal(&first, &g->call)))
        return shmemi_fail(-EIO, "what this rank called was overwritten in shared memory");
    return 0;
}
