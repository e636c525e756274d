// SPDX-License-Identifier: Apache-2.0
// The internal lock. Its word moves 0 -> holder -> holder|WAITED -> 0, or from a dead holder to the next one.
#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/futex.h"

enum { SPINS = 100, YIELDS = 4, LOOK_EVERY = 100000000 /* ns: should the kernel lack futex_waitv */ };

static const uint32_t waited = UINT32_C(1) << 31;

static _Atomic uint32_t *alive_word(const struct shmemi_lock_holders *holders, unsigned slot)
{
    return (_Atomic uint32_t *)(uintptr_t)(holders->first + slot * holders->stride);
}

/* The kernel marks the word of a dead member; one that left, or never was, holds no lock either. */
static bool is_dead(uint32_t alive)
{
    return alive == 0 || alive & FUTEX_OWNER_DIED;
}

/* From `seen` to `mine`. */
static bool change(struct shmemi_lock *lock, uint32_t seen, uint32_t mine)
{
    /* [lock] acquire: pairs with the release in shmemi_lock_give(), or with the death of the holder, whose stores the
       kernel's own write to its alive word follows. */
    return atomic_compare_exchange_strong_explicit(&lock->word, &seen, mine, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void sleep_on(struct shmemi_lock *lock, uint32_t seen, _Atomic uint32_t *alive, uint32_t life)
{
    const struct shmemi_futex words[] = {{.word = &lock->word, .value = seen}, {.word = alive, .value = life}};
    shmemi_futex_wait(words, 2, shmemi_now() + LOOK_EVERY);
}

/* One look at a lock that somebody holds: whether it was taken from the dead, or after a sleep. */
static int try_waiting(struct shmemi_lock *lock, const struct shmemi_lock_holders *holders, unsigned me, uint32_t seen)
{
    uint32_t holder = (seen & ~waited) - 1;
    if (holder >= holders->count || holder == me) /* nobody: whoever wrote that is not to be waited for */
        return change(lock, seen, (me + 1) | waited) ? -EOWNERDEAD : 1;
    _Atomic uint32_t *alive = alive_word(holders, holder);
    /* [alive] acquire: pairs with the store of the kernel, or of the leaving member. */
    uint32_t life = atomic_load_explicit(alive, memory_order_acquire);
    if (is_dead(life))
        return change(lock, seen, (me + 1) | waited) ? -EOWNERDEAD : 1;
    if (seen & waited)
        sleep_on(lock, seen, alive, life);
    else if (change(lock, seen, seen | waited))
        sleep_on(lock, seen | waited, alive, life);
    return 1;
}

int shmemi_lock_take(struct shmemi_lock *lock, const struct shmemi_lock_holders *holders, unsigned me)
{
    for (int i = 0; i < SPINS + YIELDS; i++) {
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 && change(lock, 0, me + 1))
            return 0; /* relaxed: only a hint, the exchange decides */
        if (i < SPINS)
            shmemi_cpu_relax();
        else
            sched_yield();
    }
    for (;;) {
        uint32_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed); /* the exchanges decide */
        if (seen == 0) {
            if (change(lock, 0, (me + 1) | waited)) /* there may be other sleepers */
                return 0;
            continue;
        }
        int rc = try_waiting(lock, holders, me, seen);
        if (rc <= 0)
            return rc;
    }
}

void shmemi_lock_give(struct shmemi_lock *lock)
{
    /* [lock] release: pairs with the acquire in change(). */
    uint32_t seen = atomic_exchange_explicit(&lock->word, 0, memory_order_release);
    if (seen & waited)
        shmemi_futex_wake(&lock->word, 1);
}
