// SPDX-License-Identifier: Apache-2.0
// The mutex. Its word moves 0 -> holder -> holder|WAITED -> 0, or from a dead holder to the next one; a holder that
// finds WAITED when it gives the word back wakes one sleeper, and a sleeper takes the word with WAITED set, for there
// may be more.
#include "mutex.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"

enum { LINGER = 50000 /* ns */, LINGERS = 4 };

static bool change(struct shmemi_mutex *mutex, uint64_t seen, uint64_t to)
{
    /* [mutex] acquire: pairs with the release in give(), or with the death of the holder (shmemi_holder_dead()). */
    return atomic_compare_exchange_strong_explicit(&mutex->word, &seen, to, memory_order_acquire, memory_order_relaxed);
}

static uint64_t word_of(const struct shmemi_mutex *mutex)
{
    return atomic_load_explicit(&mutex->word, memory_order_relaxed); /* a look: the exchanges decide and order */
}

static enum shmemi_mutex_state state_of(const struct shmemi_mutex *mutex)
{
    return (enum shmemi_mutex_state)atomic_load_explicit(&mutex->state, memory_order_relaxed); /* the word orders it */
}

static void set_state(struct shmemi_mutex *mutex, enum shmemi_mutex_state state)
{
    atomic_store_explicit(&mutex->state, state, memory_order_relaxed); /* the word orders it */
}

/* Poisoned, all sleepers are told; otherwise one gets it. */
static void give(struct shmemi_mutex *mutex, bool poisoned)
{
    uint64_t to = poisoned ? SHMEMI_MUTEX_POISONED : 0;
    /* [mutex] release: pairs with the acquire in change() and shmemi_mutex_take_free(). */
    if (atomic_exchange_explicit(&mutex->word, to, memory_order_release) & SHMEMI_HOLDER_WAITED)
        shmemi_holder_wake(&mutex->word, poisoned ? INT_MAX : 1);
}

static int tell_poisoned(void)
{
    return shmemi_fail(-ENOTRECOVERABLE, "it is poisoned: a holder died, and the next one gave it back without repair");
}

/* The word is ours. */
static int taken(struct shmemi_mutex *mutex, uint64_t mine, bool from_dead)
{
    shmemi_held_note(mutex, mine, shmemi_holder_lose);
    if (from_dead)
        set_state(mutex, SHMEMI_MUTEX_INCONSISTENT);
    if (shmemi_likely(state_of(mutex) == SHMEMI_MUTEX_SOUND))
        return 0;
    return shmemi_fail(-EOWNERDEAD, "taken, but the last holder died: what it guards may need repair");
}

static int tell_mine(void)
{
    return shmemi_fail(-EDEADLK, "this thread has it already");
}

static int tell_time(const struct shmemi_site *site, uint64_t seen)
{
    char who[SHMEMI_HOLDER_TEXT];
    return shmemi_fail(-ETIMEDOUT, "timed out: %s has it", shmemi_holder_text(site->domain, seen, who));
}

/* One look: 1 taken, 2 taken from the dead, 0 look again after the sleep it may have had, or negative errno. */
static int look(struct shmemi_waiting *w, struct shmemi_mutex *mutex, int64_t deadline)
{
    int rc = shmemi_waiting_check(w);
    if (rc < 0)
        return rc;
    uint64_t seen = word_of(mutex);
    if (seen == 0)
        return change(mutex, 0, w->mine | SHMEMI_HOLDER_WAITED);
    if (seen == SHMEMI_MUTEX_POISONED)
        return tell_poisoned();
    if (shmemi_holder_is(seen, w->mine))
        return tell_mine();
    if (shmemi_holder_dead(w->site->domain, seen))
        return change(mutex, seen, w->mine | SHMEMI_HOLDER_WAITED) ? 2 : 0;
    if (!(seen & SHMEMI_HOLDER_WAITED)) {
        if (!change(mutex, seen, seen | SHMEMI_HOLDER_WAITED))
            return 0;
        seen |= SHMEMI_HOLDER_WAITED;
    }
    rc = shmemi_waiting_sleep_for(w, &mutex->word, seen, deadline);
    return rc == -ETIMEDOUT ? tell_time(w->site, seen) : rc;
}

/* Woken, but somebody else was faster. Before this thread asks to be woken again, it looks a few times by itself:
   meanwhile whoever takes turns with the mutex need not wake anybody each time, which would cost most of the time there
   is. True: the mutex is ours. */
static bool linger(struct shmemi_waiting *w, struct shmemi_mutex *mutex, int64_t deadline)
{
    const struct timespec a_little = {.tv_nsec = LINGER};
    for (int i = 0; i < LINGERS && shmemi_now() + LINGER < deadline; i++) {
        uint64_t seen = word_of(mutex);
        if (seen == 0 && change(mutex, 0, w->mine | SHMEMI_HOLDER_WAITED))
            return true;
        if (seen & SHMEMI_HOLDER_WAITED) /* others are waiting to be woken too: no harm in one more */
            return false;
        nanosleep(&a_little, NULL);
    }
    return false;
}

static int lock_slowly(struct shmemi_waiting *w, struct shmemi_mutex *mutex, int64_t deadline)
{
    int rc;
    do
        if (word_of(mutex) == 0 && change(mutex, 0, w->mine))
            return taken(mutex, w->mine, false);
    while (w->turns < SHMEMI_SPINS && shmemi_waiting_spin(w)); /* no yields: meanwhile the holder takes more turns */
    while ((rc = look(w, mutex, deadline)) == 0)
        if (linger(w, mutex, deadline))
            return taken(mutex, w->mine, false);
    return rc < 0 ? rc : taken(mutex, w->mine, rc == 2);
}

int shmemi_mutex_lock(const struct shmemi_site *site, struct shmemi_mutex *mutex, int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(site, NULL);
    int rc = shmemi_held_reserve();
    if (rc < 0)
        return rc;
    if (shmemi_holder_is(word_of(mutex), w.mine))
        return tell_mine(); /* at once: no time is lost with spinning */
    return shmemi_waiting_end(&w, lock_slowly(&w, mutex, deadline));
}

int shmemi_mutex_try(const struct shmemi_site *site, struct shmemi_mutex *mutex)
{
    uint64_t mine = shmemi_site_holder(site);
    char who[SHMEMI_HOLDER_TEXT];
    int rc = shmemi_held_reserve();
    if (rc < 0)
        return rc;
    if (change(mutex, 0, mine))
        return taken(mutex, mine, false);
    uint64_t seen = word_of(mutex);
    if (seen == SHMEMI_MUTEX_POISONED)
        return tell_poisoned();
    if (shmemi_holder_is(seen, mine))
        return tell_mine();
    if (seen && shmemi_holder_dead(site->domain, seen) && change(mutex, seen, mine | SHMEMI_HOLDER_WAITED))
        return taken(mutex, mine, true);
    return shmemi_fail(-EBUSY, "%s has it", shmemi_holder_text(site->domain, seen, who));
}

bool shmemi_mutex_mine(const struct shmemi_site *site, const struct shmemi_mutex *mutex)
{
    return shmemi_holder_is(word_of(mutex), shmemi_site_holder(site)); /* if it is ours, nobody changes that */
}

bool shmemi_mutex_held(const struct shmemi_site *site, const struct shmemi_mutex *mutex)
{
    uint64_t seen = word_of(mutex);
    return seen && seen != SHMEMI_MUTEX_POISONED && !shmemi_holder_dead(site->domain, seen);
}

static int need_mine(const struct shmemi_site *site, const struct shmemi_mutex *mutex)
{
    char who[SHMEMI_HOLDER_TEXT];
    if (shmemi_mutex_mine(site, mutex))
        return 0;
    uint64_t seen = word_of(mutex);
    if (seen == 0 || seen == SHMEMI_MUTEX_POISONED)
        return shmemi_fail(-EPERM, "this thread does not have it: nobody does");
    return shmemi_fail(-EPERM, "this thread does not have it: %s does", shmemi_holder_text(site->domain, seen, who));
}

int shmemi_mutex_unlock(const struct shmemi_site *site, struct shmemi_mutex *mutex)
{
    int rc = need_mine(site, mutex);
    if (rc < 0)
        return rc;
    shmemi_held_remove(mutex);
    give(mutex, state_of(mutex) != SHMEMI_MUTEX_SOUND);
    return 0;
}

int shmemi_mutex_consistent(const struct shmemi_site *site, struct shmemi_mutex *mutex)
{
    int rc = need_mine(site, mutex);
    if (rc == 0 && state_of(mutex) == SHMEMI_MUTEX_SOUND)
        rc = shmemi_fail(-EINVAL, "it is not inconsistent: nothing is to be said about it");
    if (rc == 0)
        set_state(mutex, SHMEMI_MUTEX_SOUND);
    return rc;
}

int shmemi_mutex_retire(const struct shmemi_site *site, struct shmemi_mutex *mutex)
{
    if (word_of(mutex) == SHMEMI_MUTEX_POISONED)
        return 0;
    int rc = shmemi_mutex_try(site, mutex);
    if (rc == -EDEADLK)
        return shmemi_fail(-EBUSY, "this thread has it: unlock it first");
    return rc == -EOWNERDEAD ? 0 : rc;
}
