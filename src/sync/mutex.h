// SPDX-License-Identifier: Apache-2.0
// A mutex that survives its holder: one 64-bit word, taken and given back with one atomic each.
//
// Not first come, first served: who is running when it becomes free gets it, and a woken sleeper competes. A sleeper
// looks again at least every 100 ms, so it is delayed, not starved, while the holder does not hold it all the time.
#ifndef SHMEMI_SYNC_MUTEX_H
#define SHMEMI_SYNC_MUTEX_H

#include "base/compiler.h"
#include "waiting.h"

enum shmemi_mutex_state { SHMEMI_MUTEX_SOUND, SHMEMI_MUTEX_INCONSISTENT };

/* The word of one that a holder gave back without repair: never free again. */
#define SHMEMI_MUTEX_POISONED SHMEMI_HOLDER_NOBODY

/* In shared memory; all zeros is a free one. */
struct shmemi_mutex {
    _Atomic uint64_t word;  /* its holder (domain.h) */
    _Atomic uint32_t state; /* enum shmemi_mutex_state; changed by the holder only */
    uint32_t reserved;
};

/* What needs neither waiting nor words: false says that nothing was done. Inlined, for a call costs as much. */
SHMEMI_INLINE bool shmemi_mutex_take_free(struct shmemi_mutex *mutex, uint64_t mine)
{
    uint64_t none = 0;
    if (shmemi_unlikely(shmemi_held.count >= shmemi_held.room))
        return false;
    /* [mutex] acquire: pairs with the releases in shmemi_mutex_give_sound() and give(). */
    if (!atomic_compare_exchange_strong_explicit(&mutex->word, &none, mine, memory_order_acquire, memory_order_relaxed))
        return false;
    shmemi_held_note(mutex, mine, shmemi_holder_lose);
    return true;
}

SHMEMI_INLINE bool shmemi_mutex_give_sound(struct shmemi_mutex *mutex, uint64_t mine)
{
    /* relaxed: whoever has the mutex knows its state, and nobody else gets past the exchange */
    if (shmemi_unlikely(atomic_load_explicit(&mutex->state, memory_order_relaxed) != SHMEMI_MUTEX_SOUND))
        return false;
    /* [mutex] release: pairs with the acquires in shmemi_mutex_take_free() and change(). */
    if (shmemi_unlikely(!atomic_compare_exchange_strong_explicit(&mutex->word, &mine, 0, memory_order_release,
                                                                 memory_order_relaxed)))
        return false;
    shmemi_held_remove(mutex);
    return true;
}

/* 0; -EOWNERDEAD: taken, and its last holder died: what it guards may need repair, then say so with consistent();
   -ENOTRECOVERABLE: a holder gave it back without saying so; -EDEADLK: this thread has it; -ETIMEDOUT; -EINTR. */
int shmemi_mutex_lock(const struct shmemi_site *site, struct shmemi_mutex *mutex, int64_t deadline);

/* -EBUSY: somebody has it. */
int shmemi_mutex_try(const struct shmemi_site *site, struct shmemi_mutex *mutex);

/* -EPERM: this thread does not have it. */
int shmemi_mutex_unlock(const struct shmemi_site *site, struct shmemi_mutex *mutex);

/* By its holder, after -EOWNERDEAD and the repair. -EPERM, -EINVAL: nothing is inconsistent. */
int shmemi_mutex_consistent(const struct shmemi_site *site, struct shmemi_mutex *mutex);

/* Whether a living thread has it; whether this one does. */
bool shmemi_mutex_held(const struct shmemi_site *site, const struct shmemi_mutex *mutex);
bool shmemi_mutex_mine(const struct shmemi_site *site, const struct shmemi_mutex *mutex);

/* Before it is destroyed: nobody gets it from here on. -EBUSY: somebody has it. Undone by unlock(). */
int shmemi_mutex_retire(const struct shmemi_site *site, struct shmemi_mutex *mutex);

#endif
