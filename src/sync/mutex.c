// SPDX-License-Identifier: Apache-2.0
// The mutex. Its word moves 0 -> holder -> holder|WAITED -> 0, or from a dead holder to the next one; a holder that
// finds WAITED when it gives the word back wakes one sleeper, and a sleeper takes the word with WAITED set, for there
// may be more.
#include "mutex.h"

#include <errno.h>
#include <sched.h>

#include "base/cpu.h"
#include "base/error.h"

enum { SPINS = 60, YIELDS = 3 };

static void lose(void *object)
{
    struct shmemi_mutex *mutex = object;
    /* [mutex] release: what the thread did comes before whoever takes it from here. */
    atomic_fetch_or_explicit(&mutex->word, SHMEMI_HOLDER_LOST, memory_order_release);
    shmemi_holder_wake(&mutex->word, 1);
}

static bool change(struct shmemi_mutex *mutex, uint64_t seen, uint64_t to)
{
    /* [mutex] acquire: pairs with the release in give(), or with the death of the holder (shmemi_holder_dead()). */
    return atomic_compare_exchange_strong_explicit(&mutex->word, &seen, to, memory_order_acquire, memory_order_relaxed);
}

static void give(struct shmemi_mutex *mutex)
{
    /* [mutex] release: pairs with the acquire in change(). */
    if (atomic_exchange_explicit(&mutex->word, 0, memory_order_release) & SHMEMI_HOLDER_WAITED)
        shmemi_holder_wake(&mutex->word, 1);
}

static enum shmemi_mutex_state state_of(const struct shmemi_mutex *mutex)
{
    return (enum shmemi_mutex_state)atomic_load_explicit(&mutex->state, memory_order_relaxed); /* the word orders it */
}

static void set_state(struct shmemi_mutex *mutex, enum shmemi_mutex_state state)
{
    atomic_store_explicit(&mutex->state, state, memory_order_relaxed); /* the word orders it */
}

/* The word is ours: what the caller is told. */
static int taken(struct shmemi_mutex *mutex, bool from_dead)
{
    if (from_dead && state_of(mutex) == SHMEMI_MUTEX_SOUND)
        set_state(mutex, SHMEMI_MUTEX_INCONSISTENT);
    enum shmemi_mutex_state state = state_of(mutex);
    int rc = state == SHMEMI_MUTEX_POISONED ? -ENOTRECOVERABLE : shmemi_held_add(mutex, lose);
    if (rc < 0) {
        give(mutex);
        return rc == -ENOTRECOVERABLE
                   ? shmemi_fail(rc,
                                 "the mutex is poisoned: a holder died, and the next one gave it back without repair")
                   : rc;
    }
    return state == SHMEMI_MUTEX_INCONSISTENT
               ? shmemi_fail(-EOWNERDEAD,
                             "the mutex is taken, but its last holder died: what it guards may need repair")
               : 0;
}

/* One look: 1 taken, 2 taken from the dead, 0 look again after the sleep it may have had, or negative errno. */
static int look(const struct shmemi_domain *domain, struct shmemi_mutex *mutex, uint64_t mine, int64_t deadline)
{
    uint64_t seen = atomic_load_explicit(&mutex->word, memory_order_relaxed); /* the exchanges decide */
    if (seen == 0)
        return change(mutex, 0, mine | SHMEMI_HOLDER_WAITED);
    if ((seen & ~SHMEMI_HOLDER_MARKS) == mine && !(seen & SHMEMI_HOLDER_LOST))
        return shmemi_fail(-EDEADLK, "this thread has the mutex already");
    if (shmemi_holder_dead(domain, seen))
        return change(mutex, seen, mine | SHMEMI_HOLDER_WAITED) ? 2 : 0;
    if (!(seen & SHMEMI_HOLDER_WAITED)) {
        if (!change(mutex, seen, seen | SHMEMI_HOLDER_WAITED))
            return 0;
        seen |= SHMEMI_HOLDER_WAITED;
    }
    int rc = shmemi_holder_sleep(domain, &mutex->word, seen, deadline);
    return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: slot %d has the mutex", shmemi_holder_slot(domain, seen))
                            : rc;
}

static int lock_slowly(const struct shmemi_domain *domain, struct shmemi_mutex *mutex, uint64_t mine, int64_t deadline)
{
    for (int i = 0; i < SPINS + YIELDS; i++) {
        if (atomic_load_explicit(&mutex->word, memory_order_relaxed) == 0 && change(mutex, 0, mine))
            return taken(mutex, false); /* relaxed: a hint, the exchange decides */
        if (i < SPINS)
            shmemi_cpu_relax();
        else
            sched_yield();
    }
    for (;;) {
        int rc = look(domain, mutex, mine, deadline);
        if (rc != 0)
            return rc < 0 ? rc : taken(mutex, rc == 2);
    }
}

int shmemi_mutex_lock(const struct shmemi_domain *domain, struct shmemi_mutex *mutex, int64_t deadline)
{
    uint64_t mine = shmemi_holder(domain);
    if (change(mutex, 0, mine))
        return taken(mutex, false);
    return lock_slowly(domain, mutex, mine, deadline);
}

int shmemi_mutex_try(const struct shmemi_domain *domain, struct shmemi_mutex *mutex)
{
    uint64_t mine = shmemi_holder(domain);
    if (change(mutex, 0, mine))
        return taken(mutex, false);
    uint64_t seen = atomic_load_explicit(&mutex->word, memory_order_relaxed); /* the exchange decides */
    if (seen && shmemi_holder_dead(domain, seen) && change(mutex, seen, mine | SHMEMI_HOLDER_WAITED))
        return taken(mutex, true);
    return -EBUSY;
}

static int need_mine(const struct shmemi_domain *domain, const struct shmemi_mutex *mutex)
{
    uint64_t seen = atomic_load_explicit(&mutex->word, memory_order_relaxed); /* if it is ours, nobody changes that */
    if ((seen & ~SHMEMI_HOLDER_WAITED) == shmemi_holder(domain))
        return 0;
    return shmemi_fail(-EPERM,
                       seen ? "slot %d has the mutex, or another thread of this process" : "nobody has the mutex",
                       shmemi_holder_slot(domain, seen));
}

int shmemi_mutex_unlock(const struct shmemi_domain *domain, struct shmemi_mutex *mutex)
{
    int rc = need_mine(domain, mutex);
    if (rc < 0)
        return rc;
    if (__builtin_expect(state_of(mutex) == SHMEMI_MUTEX_INCONSISTENT, 0))
        set_state(mutex, SHMEMI_MUTEX_POISONED);
    shmemi_held_remove(mutex);
    give(mutex);
    return 0;
}

int shmemi_mutex_consistent(const struct shmemi_domain *domain, struct shmemi_mutex *mutex)
{
    int rc = need_mine(domain, mutex);
    if (rc == 0 && state_of(mutex) != SHMEMI_MUTEX_INCONSISTENT)
        rc = shmemi_fail(-EINVAL, "the mutex is not inconsistent: nothing is to be said about it");
    if (rc == 0)
        set_state(mutex, SHMEMI_MUTEX_SOUND);
    return rc;
}
