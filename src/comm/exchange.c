// SPDX-License-Identifier: Apache-2.0
// Three ways to wait for everybody. With a core for each PE and few of them, everybody reads everybody's own line: one
// line transfer. With a core for each and many, in steps, each telling one member and waiting for another at twice the
// distance of the step before. With more PEs than cores, one counter tells the last one to arrive, who opens the next
// epoch: every PE has to run once, and does nothing else.
#include "exchange.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "active_set.h"
#include "await.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"

enum { FLAT_MOST = 16 }; /* beyond, reading one line a PE costs more than the steps */
enum { STEPS_MOST = 16 };
_Static_assert(SHMEMI_PES_MOST <= 1 << STEPS_MOST, "steps enough");

enum shmemi_arrival shmemi_choose_arrival(int size)
{
    const struct shmemi_job *job = shmemi_current;
    if (job->n > (int)job->control->cores)
        return SHMEMI_ARRIVE_CENTRAL;
    return size <= FLAT_MOST ? SHMEMI_ARRIVE_FLAT : SHMEMI_ARRIVE_TREE;
}

SHMEMI_INLINE struct shmemi_publish *turn_of(const struct shmemi_peer *peer, uint64_t round)
{
    return &peer->channel->publish[(peer->base + round) & 1];
}

/* Whether a count has come to `wanted`. It may be ahead: whoever is late in leaving finds the next round, or the next
   team's. */
SHMEMI_INLINE bool reached(uint64_t count, uint64_t wanted)
{
    return (int64_t)(count - wanted) >= 0;
}

static void SHMEMI_COLD wake(struct shmemi_slot *slot)
{
    /* [wake] before the system call: who is about to sleep on the old number does not. Pairs with the load before the
       sleep. */
    atomic_fetch_add_explicit(&slot->arrival_wake, 1, memory_order_seq_cst);
    shmemi_futex_wake(&slot->arrival_wake, INT_MAX);
}

/* [sleep] the store of whoever calls was sequentially consistent, so either this sees the sleeper or the sleeper sees
   the store. */
SHMEMI_INLINE void wake_if_asleep(const struct shmemi_job *job, int pe)
{
    struct shmemi_slot *slot = &job->slots[pe];
    if (shmemi_unlikely(atomic_load_explicit(&slot->arrival_sleepers, memory_order_seq_cst)) && pe != job->me)
        wake(slot);
}

void shmemi_wake_arrival(int pe)
{
    wake_if_asleep(shmemi_current, pe);
}

int shmemi_await_arrival(bool (*done)(void *), void *argument, int pe)
{
    struct shmemi_slot *me = &shmemi_current->slots[shmemi_current->me];
    struct shmemi_await wait = {.done = done,
                                .argument = argument,
                                .word = &me->arrival_wake,
                                .sleepers = &me->arrival_sleepers,
                                .pe = -1,
                                .all_needed = pe < 0,
                                .needed = pe + 1,
                                .deadline = SHMEMI_NO_DEADLINE};
    return shmemi_await(&wait);
}

/* --- flat ------------------------------------------------------------------------------------------------------- */

struct flat {
    const struct shmemi_group *g;
    uint64_t round;
    int next; /* members before this one have arrived */
};

static bool everybody_published(void *argument)
{
    struct flat *a = argument;
    const struct shmemi_peer *peers = a->g->peers;
    for (; a->next < a->g->size; a->next++)
        /* [round] acquire pairs with the sequentially consistent exchange in arrive_flat(). */
        if (!reached(atomic_load_explicit(&turn_of(&peers[a->next], a->round)->round, memory_order_acquire),
                     peers[a->next].base + a->round))
            return false;
    return true;
}

static int arrive_flat(struct shmemi_group *g, struct shmemi_publish *own)
{
    /* [round] publishes the data and everything before; [sleep] sequentially consistent, so that either this PE sees
       a sleeper or the sleeper sees the round. */
    atomic_exchange_explicit(&own->round, g->peers[g->me].base + g->round, memory_order_seq_cst);
    const struct shmemi_job *job = shmemi_current;
    for (int i = 0, pe = g->start; i < g->size; i++, pe += g->stride)
        wake_if_asleep(job, pe);
    struct flat a = {.g = g, .round = g->round};
    return shmemi_await_arrival(everybody_published, &a, -1);
}

/* --- tree ------------------------------------------------------------------------------------------------------- */

struct step {
    _Atomic uint64_t *progress;
    uint64_t wanted;
};

static bool has_come(void *argument)
{
    const struct step *s = argument;
    /* [progress] acquire pairs with the sequentially consistent exchange in arrive_tree(). */
    return reached(atomic_load_explicit(s->progress, memory_order_acquire), s->wanted);
}

/* In step k a member knows of the 2^k before it, tells so, and waits for the one 2^k before it to know of as many. */
static int arrive_tree(struct shmemi_group *g, struct shmemi_publish *own)
{
    const struct shmemi_peer *self = &g->peers[g->me];
    int rc = 0;
    (void)own; /* its data is published by the first step */
    for (int step = 0, distance = 1; rc == 0 && distance < g->size; step++, distance *= 2) {
        /* [progress] publishes all that this PE knows of; [sleep]. */
        atomic_exchange_explicit(&self->channel->progress, (self->base + g->round) * STEPS_MOST + (uint64_t)step,
                                 memory_order_seq_cst);
        wake_if_asleep(shmemi_current, shmemi_group_pe(g, (g->me + distance) % g->size));
        int before = (g->me - distance + g->size) % g->size;
        const struct shmemi_peer *from = &g->peers[before];
        struct step s = {&from->channel->progress, (from->base + g->round) * STEPS_MOST + (uint64_t)step};
        rc = shmemi_await_arrival(has_come, &s, shmemi_group_pe(g, before));
    }
    return rc;
}

/* --- central ---------------------------------------------------------------------------------------------------- */

struct central {
    struct shmemi_channel *channel; /* the first member's */
    uint32_t epoch;
};

static bool epoch_opened(void *argument)
{
    const struct central *a = argument;
    /* [epoch] acquire pairs with the exchange by the last one to arrive, or with the store in claim() (team.c). */
    return (int32_t)(atomic_load_explicit(&a->channel->epoch, memory_order_acquire) - a->epoch) >= 0;
}

static int arrive_central(struct shmemi_group *g, struct shmemi_publish *own)
{
    struct shmemi_channel *channel = g->peers[0].channel;
    struct central a = {channel, (uint32_t)(g->peers[0].base + g->round)};
    (void)own; /* its data is published by the counter */
    /* [arrived] acquire and release: the last one has seen what all others did before. */
    if (atomic_fetch_add_explicit(&channel->arrived, 1, memory_order_acq_rel) + 1 == (uint32_t)g->size) {
        atomic_store_explicit(&channel->arrived, 0, memory_order_relaxed); /* nobody arrives again before the epoch */
        /* [epoch] and [sleep]: opens the epoch, then looks for sleepers; sequentially consistent for the latter. */
        atomic_exchange_explicit(&channel->epoch, a.epoch, memory_order_seq_cst);
        if (atomic_load_explicit(&channel->epoch_sleepers, memory_order_seq_cst))
            shmemi_futex_wake(&channel->epoch, INT_MAX);
        return 0;
    }
    struct shmemi_await wait = {.done = epoch_opened,
                                .argument = &a,
                                .word = &channel->epoch,
                                .sleepers = &channel->epoch_sleepers,
                                .pe = -1,
                                .all_needed = true,
                                .deadline = SHMEMI_NO_DEADLINE};
    return shmemi_await(&wait);
}

/* --- all of them ------------------------------------------------------------------------------------------------ */

static int arrive(struct shmemi_group *g, struct shmemi_publish *own)
{
    if (shmemi_likely(g->arrival == SHMEMI_ARRIVE_FLAT))
        return arrive_flat(g, own);
    return g->arrival == SHMEMI_ARRIVE_TREE ? arrive_tree(g, own) : arrive_central(g, own);
}

int shmemi_group_exchange(struct shmemi_group *g, const void *data, size_t bytes)
{
    if (shmemi_unlikely(g->broken))
        return shmemi_fail(-EPIPE, "collectives no longer work, because an earlier one %s", g->broken);
    if (shmemi_unlikely(g->arrival == SHMEMI_ARRIVE_ACTIVE_SET))
        return shmemi_active_set_exchange(g, data, bytes);
    struct shmemi_publish *own = turn_of(&g->peers[g->me], ++g->round);
    SHMEMI_ASSERT(bytes <= sizeof own->data);
    if (bytes)
        memcpy(own->data, data, bytes);
    else
        memset(own->data, 0, 8); /* a barrier is told from a call that publishes what it is */
    if (g->size == 1) {
        atomic_thread_fence(memory_order_seq_cst); /* the order that callers rely on, also between threads */
        return 0;
    }
    int rc = arrive(g, own);
    if (rc == -EINTR)
        g->broken = "was interrupted";
    else if (rc < 0)
        g->broken = "failed";
    return rc;
}

const void *shmemi_group_published(const struct shmemi_group *g, int i)
{
    return g->arrival == SHMEMI_ARRIVE_ACTIVE_SET ? shmemi_active_set_published(g, i)
                                                  : turn_of(&g->peers[i], g->round)->data;
}

int shmemi_exchange(const void *data, size_t bytes)
{
    struct shmemi_group *world;
    int rc = shmemi_world(&world);
    return rc < 0 ? rc : shmemi_group_exchange(world, data, bytes);
}

const void *shmemi_published(int pe)
{
    struct shmemi_group *world =
        atomic_load_explicit(&shmemi_current->parts->world, memory_order_relaxed); /* [world] */
    return turn_of(&world->peers[pe], world->round)->data;
}
