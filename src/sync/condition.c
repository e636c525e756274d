// SPDX-License-Identifier: Apache-2.0
// Condition variables. A seat moves 0 -> waiter -> waiter|MARK -> 0.
#include "condition.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"

static uint64_t sitting(const struct shmemi_waiter *seat)
{
    return atomic_load_explicit(&seat->who, memory_order_acquire); /* [waiter] pairs with change() */
}

static bool change(struct shmemi_waiter *seat, uint64_t seen, uint64_t to)
{
    /* [waiter] release: what the signaller did comes before the waiter sees the mark; acquire: pairs with that. */
    return atomic_compare_exchange_strong_explicit(&seat->who, &seen, to, memory_order_acq_rel, memory_order_acquire);
}

/* ---- signals ---- */

/* The living waiter without a mark that has waited longest, and what its seat says; or NULL. */
static struct shmemi_waiter *longest(const struct shmemi_cond *cond, uint64_t *who)
{
    struct shmemi_waiter *found = NULL;
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < cond->waiters; i++) {
        struct shmemi_waiter *seat = &cond->condition->waiters[i];
        uint64_t seen = sitting(seat);
        if (seen == 0 || seen & SHMEMI_HOLDER_MARK || shmemi_holder_dead(cond->site->domain, seen))
            continue;
        uint64_t number = atomic_load_explicit(&seat->number, memory_order_relaxed); /* see take_seat() */
        if (!found || number < first) {
            found = seat;
            first = number;
            *who = seen;
        }
    }
    return found;
}

void shmemi_condition_signal(const struct shmemi_cond *cond)
{
    struct shmemi_waiter *seat;
    uint64_t who;
    while ((seat = longest(cond, &who)))
        if (change(seat, who, who | SHMEMI_HOLDER_MARK)) {
            shmemi_holder_wake(&seat->who, 1);
            return;
        }
}

void shmemi_condition_broadcast(const struct shmemi_cond *cond)
{
    for (unsigned i = 0; i < cond->waiters; i++) {
        struct shmemi_waiter *seat = &cond->condition->waiters[i];
        uint64_t seen = sitting(seat);
        if (seen && !(seen & SHMEMI_HOLDER_MARK) && !shmemi_holder_dead(cond->site->domain, seen) &&
            change(seat, seen, seen | SHMEMI_HOLDER_MARK))
            shmemi_holder_wake(&seat->who, 1);
    }
}

/* Passes on the signals that dead waiters had. First to the next, then away: who is killed in between leaves one signal
   too many, which is allowed. */
static void inherit(const struct shmemi_cond *cond)
{
    for (unsigned i = 0; i < cond->waiters; i++) {
        struct shmemi_waiter *seat = &cond->condition->waiters[i];
        uint64_t seen = sitting(seat);
        if (seen == 0 || !shmemi_holder_dead(cond->site->domain, seen))
            continue;
        if (seen & SHMEMI_HOLDER_MARK)
            shmemi_condition_signal(cond);
        change(seat, seen, 0);
    }
}

/* ---- waiting ---- */

/* NULL: all are taken. A dead waiter's signal is passed on before its seat is used again. */
static struct shmemi_waiter *take_seat(const struct shmemi_cond *cond, uint64_t mine)
{
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < cond->waiters; i++) {
            struct shmemi_waiter *seat = &cond->condition->waiters[i];
            if (sitting(seat) != 0)
                continue;
            if (!change(seat, 0, mine))
                continue;
            /* relaxed, both: the mutex, which this thread has, orders them for those who signal with it. Who signals
               without may find an older number, and take waiters for other than the oldest: no promise is broken. */
            uint64_t number = atomic_fetch_add_explicit(&cond->condition->numbers, 1, memory_order_relaxed);
            atomic_store_explicit(&seat->number, number, memory_order_relaxed);
            return seat;
        }
        inherit(cond);
    }
    return NULL;
}

/* 1: signalled; or negative errno. */
static int sleep_in(struct shmemi_waiting *w, const struct shmemi_cond *cond, struct shmemi_waiter *seat,
                    int64_t deadline)
{
    for (;;) {
        uint64_t who = sitting(seat);
        int rc = shmemi_waiting_check(w);
        if (rc < 0)
            return rc;
        if (who & SHMEMI_HOLDER_MARK || !shmemi_holder_is(who, w->mine)) /* or damaged: a wake for no reason */
            return 1;
        if (shmemi_waiting_spin(w))
            continue;
        rc = shmemi_waiting_sleep(w, shmemi_lower_half(&seat->who), (uint32_t)who, 0, NULL, deadline);
        if (rc < 0)
            return rc;
        inherit(cond);
    }
}

/* Without a seat: a little later the waiter is woken for no reason, and looks at what it waits for. */
static int doze(int64_t deadline)
{
    const struct timespec a_little = {.tv_nsec = 1000000};
    nanosleep(&a_little, NULL);
    return shmemi_now() < deadline ? 1 : -ETIMEDOUT;
}

/* Leaves the seat; true: it had been signalled. */
static bool stand_up(struct shmemi_waiter *seat, uint64_t mine)
{
    for (;;) {
        uint64_t who = sitting(seat);
        if (!shmemi_holder_is(who, mine))
            return true;
        if (change(seat, who, 0))
            return who & SHMEMI_HOLDER_MARK;
    }
}

int shmemi_condition_wait(const struct shmemi_cond *cond, const struct shmemi_site *mutex_site,
                          struct shmemi_mutex *mutex, int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(cond->site, NULL);
    if (!shmemi_mutex_mine(mutex_site, mutex))
        return shmemi_fail(-EPERM, "this thread does not have the mutex");
    if (atomic_load_explicit(&mutex->state, memory_order_relaxed) != SHMEMI_MUTEX_SOUND) /* we have it */
        return shmemi_fail(-EINVAL, "the mutex is inconsistent: say consistent before waiting with it");
    struct shmemi_waiter *seat = take_seat(cond, w.mine);
    int rc = shmemi_mutex_unlock(mutex_site, mutex);
    if (rc == 0)
        rc = seat ? sleep_in(&w, cond, seat, deadline) : doze(deadline);
    shmemi_waiting_end(&w, 0);
    shmemi_sleep_deaf(true); /* whoever leaves a wait has the mutex, also when the program wants out */
    int locked = shmemi_mutex_lock(mutex_site, mutex, SHMEMI_NO_DEADLINE);
    shmemi_sleep_deaf(false);
    if (seat && stand_up(seat, w.mine) && rc == -ETIMEDOUT)
        rc = 1;
    if (locked < 0)
        return shmemi_fail_in(locked, "the mutex of a condition variable");
    return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: it was not signalled") : rc < 0 ? rc : 0;
}

int shmemi_condition_retire(const struct shmemi_cond *cond)
{
    for (unsigned i = 0; i < cond->waiters; i++) {
        uint64_t seen = sitting(&cond->condition->waiters[i]);
        if (seen && !shmemi_holder_dead(cond->site->domain, seen))
            return shmemi_fail(-EBUSY, "somebody waits for it");
    }
    return 0;
}
