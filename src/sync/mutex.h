// SPDX-License-Identifier: Apache-2.0
// A mutex that survives its holder: one 64-bit word, taken and given back with one atomic each.
//
// Not first come, first served: who is running when it becomes free gets it, and a woken sleeper competes. A sleeper
// looks again at least every 100 ms, so it is delayed, not starved, while the holder does not hold it all the time.
#ifndef SHMEMI_SYNC_MUTEX_H
#define SHMEMI_SYNC_MUTEX_H

#include "domain.h"

enum shmemi_mutex_state { SHMEMI_MUTEX_SOUND, SHMEMI_MUTEX_INCONSISTENT, SHMEMI_MUTEX_POISONED };

/* In shared memory; all zeros is a free one. */
struct shmemi_mutex {
    _Atomic uint64_t word;  /* its holder (domain.h) */
    _Atomic uint32_t state; /* enum shmemi_mutex_state; changed by the holder only */
    uint32_t reserved;
};

/* 0; -EOWNERDEAD: taken, and its last holder died: what it guards may need repair, then say so with consistent();
   -ENOTRECOVERABLE: a holder gave it back without saying so; -EDEADLK: this thread has it; -ETIMEDOUT; -EINTR. */
int shmemi_mutex_lock(const struct shmemi_domain *domain, struct shmemi_mutex *mutex, int64_t deadline);

/* -EBUSY: somebody else has it. */
int shmemi_mutex_try(const struct shmemi_domain *domain, struct shmemi_mutex *mutex);

/* -EPERM: this thread does not have it. */
int shmemi_mutex_unlock(const struct shmemi_domain *domain, struct shmemi_mutex *mutex);

/* By its holder, after -EOWNERDEAD and the repair. -EPERM, -EINVAL: nothing is inconsistent. */
int shmemi_mutex_consistent(const struct shmemi_domain *domain, struct shmemi_mutex *mutex);

#endif
