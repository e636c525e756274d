// SPDX-License-Identifier: Apache-2.0
// Waiting for items and for room. Whoever is about to sleep writes 1 to a word, looks once more, and sleeps on the
// word; who brings what is waited for sees the 1, writes 0 and wakes. Nobody sleeps longer than 100 ms at a time:
// should the one who was to wake, or was woken, have been killed.
#include "queue_internal.h"

#include "base/cpu.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/interrupt.h"

enum { SPINS = 100, NAP = 100000000, NAP_COMMIT_FIRST = 50000, NAP_COMMIT_MOST = 20000000 };

void shmemi_queue_wake(_Atomic uint32_t *word, int count)
{
    /* relaxed: the futex orders what matters; only one of those who saw it wakes */
    if (atomic_exchange_explicit(word, 0, memory_order_relaxed))
        shmemi_futex_wake(word, count);
}

/* 1: spun, look again; 0: go on to sleep. Nobody yields: on a machine with more to do than cores that gives away whole
   time slices to others, while who is woken soon runs. */
static int spin(struct shmemi_queue_wait *wait)
{
    if (wait->turns >= SPINS)
        return 0;
    wait->turns++;
    shmemi_cpu_relax();
    return 1;
}

static int begin(struct shmemi_queue_wait *wait, int64_t *now)
{
    int rc = shmemi_interrupted();
    if (rc < 0)
        return rc;
    *now = shmemi_now();
    if (!wait->deadline)
        wait->deadline = shmemi_deadline(wait->seconds);
    return *now >= wait->deadline ? -ETIMEDOUT : 0;
}

static int sleep_on(const struct shmemi_queue *q, _Atomic uint32_t *word, struct shmemi_queue_wait *wait, int64_t until)
{
    struct shmemi_futex futex = {.word = word, .value = 1};
    shmemi_futex_wait(&futex, 1, until < wait->deadline ? until : wait->deadline);
    return shmemi_queue_exists(q) ? 0 : shmemi_queue_destroyed();
}

/* ---- consumers ---- */

static int empty(const struct shmemi_queue_wait *wait, int rc)
{
    if (rc == -EINTR)
        return rc;
    return wait->seconds == 0 ? shmemi_fail(-EAGAIN, "the queue is empty")
                              : shmemi_fail(-ETIMEDOUT, "timed out: the queue is empty");
}

/* Whether something is reserved, or the queue has ended. */
static bool anything(struct shmemi_queue *q)
{
    /* [for_items] sequentially consistent: after the store of 1; pairs with the exchange of the tail in push.c. */
    uint64_t tail = atomic_load_explicit(&q->shared->tail, memory_order_seq_cst);
    /* relaxed: our own, or that of a consumer who will look too */
    uint64_t head = atomic_load_explicit(&q->shared->head, memory_order_relaxed);
    return tail != shmemi_queue_position(head);
}

int shmemi_queue_wait_items(struct shmemi_queue *q, struct shmemi_queue_wait *wait)
{
    int64_t now;
    if (wait->seconds == 0)
        return empty(wait, 0);
    if (spin(wait))
        return 0;
    int rc = begin(wait, &now);
    if (rc < 0)
        return empty(wait, rc);
    _Atomic uint32_t *word = &q->shared->for_items;
    /* [for_items] sequentially consistent: pairs with the load in push.c. */
    atomic_store_explicit(word, 1, memory_order_seq_cst);
    if (anything(q))
        return 0;
    if ((rc = sleep_on(q, word, wait, now + NAP)) < 0)
        return rc;
    wait->slept = true;
    /* Where many sleep one is woken: for the others the word says so again. Relaxed: should a push miss it, the one
       that sleeps looks by itself. */
    if (q->shape.config.many)
        atomic_store_explicit(word, 1, memory_order_relaxed);
    return 0;
}

/* A slot that was never written has the word 0, which is position 0 with no slots. */
static bool committed(const struct shmemi_queue *q, uint64_t position)
{
    uint64_t word = atomic_load_explicit(shmemi_queue_word_at(q, position), memory_order_relaxed); /* looked at again */
    return shmemi_queue_position(word) == position && shmemi_queue_slots(word);
}

int shmemi_queue_wait_commit(struct shmemi_queue *q, struct shmemi_queue_wait *wait, uint64_t position, uint64_t holder)
{
    int64_t now;
    if (spin(wait))
        return 0;
    if (wait->seconds == 0)
        return empty(wait, 0);
    int rc = begin(wait, &now);
    if (rc < 0)
        return empty(wait, rc);
    _Atomic uint32_t *word = &q->shared->for_items;
    /* [for_items] as above; but a commit comes after its producer's exchange and may miss it, so naps are short. */
    atomic_store_explicit(word, 1, memory_order_seq_cst);
    if (committed(q, position) || shmemi_holder_dead(q->site->domain, holder))
        return 0;
    wait->nap = !wait->nap ? NAP_COMMIT_FIRST : wait->nap < NAP_COMMIT_MOST / 2 ? 2 * wait->nap : NAP_COMMIT_MOST;
    return sleep_on(q, word, wait, now + wait->nap);
}

/* ---- producers ---- */

static int full(const struct shmemi_queue_wait *wait, int rc)
{
    if (rc == -EINTR)
        return rc;
    return wait->seconds == 0 ? shmemi_fail(-EAGAIN, "the queue is full")
                              : shmemi_fail(-ETIMEDOUT, "timed out: the queue is full");
}

static bool no_room(struct shmemi_queue *q, uint64_t slots)
{
    /* [for_room] sequentially consistent: after the store of 1; pairs with the store of the head in pop.c. */
    uint64_t head = shmemi_queue_position(atomic_load_explicit(&q->shared->head, memory_order_seq_cst));
    uint64_t tail = atomic_load_explicit(&q->shared->tail, memory_order_relaxed); /* looked at again */
    return !(tail & ~SHMEMI_QUEUE_POSITIONS) && shmemi_queue_distance(head, tail) + slots > q->shape.capacity &&
           shmemi_queue_distance(head, tail) <= q->shape.capacity;
}

int shmemi_queue_wait_room(struct shmemi_queue *q, struct shmemi_queue_wait *wait, uint64_t slots)
{
    int64_t now;
    if (wait->seconds == 0)
        return full(wait, 0);
    if (spin(wait))
        return 0;
    int rc = begin(wait, &now);
    if (rc < 0)
        return full(wait, rc);
    _Atomic uint32_t *word = &q->shared->for_room;
    /* [for_room] sequentially consistent: pairs with the load in pop.c. */
    atomic_store_explicit(word, 1, memory_order_seq_cst);
    return no_room(q, slots) ? sleep_on(q, word, wait, now + NAP) : 0;
}
