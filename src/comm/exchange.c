// SPDX-License-Identifier: Apache-2.0
// Two ways to wait for everybody. With a core for each PE, everybody reads everybody's own line: one line transfer.
// With more PEs than cores, one counter tells the last one to arrive, who opens the next epoch: every PE has to run
// once, and does nothing else.
#include "exchange.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "await.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "job/parts.h"

enum { FLAT_MOST = 16 }; /* beyond, reading one line a PE costs more than the counter */

static struct shmemi_publish *turn_of(int pe, uint64_t round)
{
    return &shmemi_current->slots[pe].publish[round & 1];
}

const void *shmemi_published(int pe)
{
    return turn_of(pe, shmemi_current->parts->round)->data;
}

struct arrival {
    uint64_t round;
    int next; /* PEs before this one have arrived */
    uint32_t epoch;
};

/* Rounds are compared for equality or one ahead: a peer can be at most one round ahead. */
static bool everybody_published(void *argument)
{
    struct arrival *a = argument;
    for (; a->next < shmemi_current->n; a->next++)
        /* [round] acquire pairs with the sequentially consistent exchange in arrive_flat(). */
        if (atomic_load_explicit(&turn_of(a->next, a->round)->round, memory_order_acquire) != a->round)
            return false;
    return true;
}

static int arrive_flat(struct shmemi_publish *own, uint64_t round)
{
    const struct shmemi_job *job = shmemi_current;
    /* [round] publishes the data and everything before; [sleep] sequentially consistent, so that either this PE sees
       the sleeper below or the sleeper sees the round. */
    atomic_exchange_explicit(&own->round, round, memory_order_seq_cst);
    for (int pe = 0; pe < job->n; pe++) {
        struct shmemi_slot *slot = &job->slots[pe];
        if (shmemi_unlikely(atomic_load_explicit(&slot->arrival_sleepers, memory_order_seq_cst)) && pe != job->me) {
            atomic_fetch_add_explicit(&slot->arrival_wake, 1, memory_order_seq_cst);
            shmemi_futex_wake(&slot->arrival_wake, INT_MAX);
        }
    }
    struct arrival a = {.round = round};
    struct shmemi_slot *me = &job->slots[job->me];
    struct shmemi_await wait = {.done = everybody_published,
                                .argument = &a,
                                .word = &me->arrival_wake,
                                .sleepers = &me->arrival_sleepers,
                                .pe = -1,
                                .all_needed = true,
                                .deadline = SHMEMI_NO_DEADLINE};
    return shmemi_await(&wait);
}

static bool epoch_opened(void *argument)
{
    const struct arrival *a = argument;
    /* [epoch] acquire pairs with the store by the last one to arrive. */
    return atomic_load_explicit(&shmemi_current->control->epoch, memory_order_acquire) != a->epoch;
}

static int arrive_central(struct shmemi_publish *own, uint64_t round)
{
    struct shmemi_control *control = shmemi_current->control;
    struct arrival a = {.epoch = (uint32_t)round - 1};
    /* Ordered by the counter below. */
    atomic_store_explicit(&own->round, round, memory_order_relaxed);
    /* [arrived] acquire and release: the last one has seen what all others did before. */
    if (atomic_fetch_add_explicit(&control->arrived, 1, memory_order_acq_rel) + 1 == (uint32_t)shmemi_current->n) {
        atomic_store_explicit(&control->arrived, 0, memory_order_relaxed); /* nobody arrives again before the epoch */
        /* [epoch] and [sleep]: opens the epoch, then looks for sleepers; sequentially consistent for the latter. */
        atomic_exchange_explicit(&control->epoch, (uint32_t)round, memory_order_seq_cst);
        if (atomic_load_explicit(&control->epoch_sleepers, memory_order_seq_cst))
            shmemi_futex_wake(&control->epoch, INT_MAX);
        return 0;
    }
    struct shmemi_await wait = {.done = epoch_opened,
                                .argument = &a,
                                .word = &control->epoch,
                                .sleepers = &control->epoch_sleepers,
                                .pe = -1,
                                .all_needed = true,
                                .deadline = SHMEMI_NO_DEADLINE};
    return shmemi_await(&wait);
}

int shmemi_exchange(const void *data, size_t bytes)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_job_parts *parts = job->parts;
    if (shmemi_unlikely(parts->broken))
        return shmemi_fail(-EPIPE, "collectives no longer work, because an earlier one %s", parts->broken);
    uint64_t round = ++parts->round;
    struct shmemi_publish *own = turn_of(job->me, round);
    SHMEMI_ASSERT(bytes <= sizeof own->data);
    if (bytes)
        memcpy(own->data, data, bytes);
    else
        memset(own->data, 0, 8); /* a barrier is told from a call that publishes what it is */
    if (job->n == 1) {
        atomic_thread_fence(memory_order_seq_cst); /* the order that callers rely on, also between threads */
        return 0;
    }
    bool flat = job->n <= FLAT_MOST && job->n <= (int)job->control->cores;
    int rc = flat ? arrive_flat(own, round) : arrive_central(own, round);
    if (rc == -EINTR)
        parts->broken = "was interrupted";
    else if (rc < 0)
        parts->broken = "failed";
    return rc;
}
