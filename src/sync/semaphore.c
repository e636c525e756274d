// SPDX-License-Identifier: Apache-2.0
// Semaphores. Posting takes WAITED down and wakes as many sleepers as there are new units; whoever slept and got a unit
// sets it again, for there may be more sleepers, and passes the wake on when there are more units: a second post may
// have found WAITED down.
#include "semaphore.h"

#include <errno.h>

#include "base/error.h"
#include "base/futex.h"

static const uint32_t waited = SHMEMI_SEMAPHORE_WAITED;

static uint32_t word_of(const struct shmemi_sem *sem)
{
    return atomic_load_explicit(&sem->semaphore->word, memory_order_relaxed); /* a look: the exchanges decide */
}

/* ---- plain ---- */

static bool change(const struct shmemi_sem *sem, uint32_t seen, uint32_t to)
{
    /* [semaphore] acquire and release: taking a unit pairs with the post that made it. */
    return atomic_compare_exchange_strong_explicit(&sem->semaphore->word, &seen, to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* Takes a unit, if there is one, leaving WAITED as it is. */
static bool take_unit(const struct shmemi_sem *sem)
{
    uint32_t seen = word_of(sem);
    while ((seen & ~waited) != 0) {
        if (change(sem, seen, seen - 1))
            return true;
        seen = word_of(sem);
    }
    return false;
}

/* After a sleep: others may sleep too. True: a unit is ours. */
static bool take_after_sleep(const struct shmemi_sem *sem)
{
    uint32_t seen = word_of(sem), left;
    while ((left = seen & ~waited) != 0) {
        bool more = left > 1;
        if (change(sem, seen, more ? left - 1 : waited)) {
            if (more)
                shmemi_futex_wake(&sem->semaphore->word, 1);
            return true;
        }
        seen = word_of(sem);
    }
    return false;
}

static int wait_plain(struct shmemi_waiting *w, const struct shmemi_sem *sem, int64_t deadline)
{
    do
        if (take_unit(sem))
            return 0;
    while (shmemi_waiting_spin(w));
    for (;;) {
        int rc = shmemi_waiting_check(w);
        if (rc < 0)
            return rc;
        if (take_after_sleep(sem))
            return 0;
        if (word_of(sem) != waited && !change(sem, 0, waited))
            continue;
        rc = shmemi_waiting_sleep(w, &sem->semaphore->word, waited, 0, NULL, deadline);
        if (rc < 0)
            return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: no unit became free") : rc;
    }
}

static int post_plain(const struct shmemi_sem *sem, unsigned count)
{
    for (;;) {
        uint32_t seen = word_of(sem), left = seen & ~waited, most = sem->semaphore->most;
        if (most > SHMEMI_SEMAPHORE_MOST)
            most = SHMEMI_SEMAPHORE_MOST;
        if (left > most || count > most - left)
            return shmemi_fail(-EOVERFLOW, "posting %u would make %llu units, and the most is %u", count,
                               (unsigned long long)left + count, most);
        if (!change(sem, seen, left + count))
            continue;
        if (seen & waited)
            shmemi_futex_wake(&sem->semaphore->word, (int)count);
        return 0;
    }
}

/* ---- owned ---- */

static unsigned first_unit(const struct shmemi_sem *sem, uint64_t mine)
{
    uint64_t slot = mine >> 20, thread = mine & (SHMEMI_HOLDER_MARK - 1);
    return (unsigned)(((slot + 31 * thread) * 8) % sem->units); /* others begin on other lines */
}

/* [units] sequentially consistent: who gives a unit back does that and then looks for WAITED; who is about to sleep
   sets WAITED and then looks at all units. One sees the other. Acquire and release are part of it. */
static bool take_owned(const struct shmemi_sem *sem, uint64_t mine, uint64_t *holder)
{
    unsigned first = first_unit(sem, mine);
    for (unsigned i = 0; i < sem->units; i++) {
        unsigned at = first + i < sem->units ? first + i : first + i - sem->units;
        _Atomic uint64_t *unit = &sem->semaphore->units[at];
        uint64_t who = atomic_load_explicit(unit, memory_order_seq_cst);
        if (who && !shmemi_holder_dead(sem->site->domain, who)) {
            *holder = who;
            continue;
        }
        if (!atomic_compare_exchange_strong_explicit(unit, &who, mine, memory_order_seq_cst, memory_order_relaxed))
            continue;
        shmemi_held_note((void *)(uintptr_t)unit, mine, shmemi_holder_lose);
        return true;
    }
    return false;
}

static void wake_owned(const struct shmemi_sem *sem, int count)
{
    if (atomic_load_explicit(&sem->semaphore->word, memory_order_seq_cst) && /* [units] */
        atomic_exchange_explicit(&sem->semaphore->word, 0, memory_order_seq_cst))
        shmemi_futex_wake(&sem->semaphore->word, count);
}

static unsigned free_units(const struct shmemi_sem *sem)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sem->units; i++) {
        uint64_t who = atomic_load_explicit(&sem->semaphore->units[i], memory_order_seq_cst); /* [units] */
        count += who == 0 || shmemi_holder_dead(sem->site->domain, who);
    }
    return count;
}

static int wait_owned(struct shmemi_waiting *w, const struct shmemi_sem *sem, int64_t deadline)
{
    uint64_t holder = 0;
    do
        if (take_owned(sem, w->mine, &holder))
            return 0;
    while (shmemi_waiting_spin(w));
    for (;;) {
        int rc = shmemi_waiting_check(w);
        if (rc < 0)
            return rc;
        atomic_store_explicit(&sem->semaphore->word, waited, memory_order_seq_cst); /* [units] */
        if (take_owned(sem, w->mine, &holder)) {
            if (free_units(sem))
                wake_owned(sem, 1);
            return 0;
        }
        rc = shmemi_waiting_sleep(w, &sem->semaphore->word, waited, holder, NULL, deadline);
        if (rc < 0)
            return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: all %u units are taken", sem->units) : rc;
    }
}

static int post_owned(const struct shmemi_sem *sem, unsigned count)
{
    uint64_t mine = shmemi_site_holder(sem->site);
    const void *from = sem->semaphore->units, *to = sem->semaphore->units + sem->units;
    unsigned held = shmemi_held_count(from, to);
    if (count > held)
        return shmemi_fail(-EPERM, "this thread has %u units, and cannot give back %u", held, count);
    for (unsigned i = 0; i < count; i++) {
        _Atomic uint64_t *unit = shmemi_held_find(from, to);
        uint64_t who = mine;
        if (!unit) /* a word was noted twice, once as that of an object that lay here before */
            break;
        /* [units]; it fails for a word that somebody scribbled on */
        atomic_compare_exchange_strong_explicit(unit, &who, 0, memory_order_seq_cst, memory_order_relaxed);
        shmemi_held_remove((void *)(uintptr_t)unit);
    }
    wake_owned(sem, (int)count);
    return 0;
}

/* ---- both ---- */

int shmemi_semaphore_wait(const struct shmemi_sem *sem, int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(sem->site, &sem->semaphore->sleepers);
    int rc = shmemi_held_reserve();
    if (rc < 0)
        return rc;
    return shmemi_waiting_end(&w, sem->units ? wait_owned(&w, sem, deadline) : wait_plain(&w, sem, deadline));
}

int shmemi_semaphore_try(const struct shmemi_sem *sem)
{
    uint64_t holder;
    int rc = shmemi_held_reserve();
    if (rc < 0)
        return rc;
    bool took = sem->units ? take_owned(sem, shmemi_site_holder(sem->site), &holder) : take_unit(sem);
    return took ? 0 : shmemi_fail(-EAGAIN, "no unit is free");
}

int shmemi_semaphore_post(const struct shmemi_sem *sem, unsigned count)
{
    return sem->units ? post_owned(sem, count) : post_plain(sem, count);
}

unsigned shmemi_semaphore_value(const struct shmemi_sem *sem)
{
    return sem->units ? free_units(sem) : word_of(sem) & ~waited;
}

int shmemi_semaphore_retire(const struct shmemi_sem *sem)
{
    if (shmemi_sleepers_any(sem->site->domain, &sem->semaphore->sleepers))
        return shmemi_fail(-EBUSY, "somebody waits for it");
    unsigned taken = sem->units ? sem->units - free_units(sem) : 0;
    return taken ? shmemi_fail(-EBUSY, "%u of its units are taken", taken) : 0;
}
