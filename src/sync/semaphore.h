// SPDX-License-Identifier: Apache-2.0
// Semaphores. A plain one is a number: anybody may post, and the units of whoever dies are gone. An owned one has a
// word for each unit, which names the thread that has it: a dead thread's units are free.
#ifndef SHMEMI_SYNC_SEMAPHORE_H
#define SHMEMI_SYNC_SEMAPHORE_H

#include "base/compiler.h"
#include "waiting.h"

#define SHMEMI_SEMAPHORE_WAITED (UINT32_C(1) << 31)
enum { SHMEMI_SEMAPHORE_MOST = INT32_MAX, SHMEMI_SEMAPHORE_OWNED_MOST = 65536 };

/* In shared memory. */
struct shmemi_semaphore {
    _Atomic uint32_t word; /* plain: units that are free; WAITED: somebody sleeps on it. Owned: WAITED only */
    uint32_t most;         /* plain: what posting may not exceed */
    char pad[SHMEMI_LINE - 8 - sizeof(struct shmemi_sleepers)];
    struct shmemi_sleepers sleepers;
    _Atomic uint64_t units[]; /* owned: who has it */
};

/* One as its user knows it. units: 0 for a plain one. */
struct shmemi_sem {
    const struct shmemi_site *site;
    struct shmemi_semaphore *semaphore;
    unsigned units;
};

/* What needs neither waiting nor words, of a plain one. */
SHMEMI_INLINE bool shmemi_semaphore_take_free(struct shmemi_semaphore *semaphore)
{
    uint32_t seen = atomic_load_explicit(&semaphore->word, memory_order_relaxed); /* the exchange decides */
    /* [semaphore] acquire: pairs with the release in post(): what came before the post. */
    return shmemi_likely(seen > 0 && seen < SHMEMI_SEMAPHORE_WAITED) &&
           atomic_compare_exchange_strong_explicit(&semaphore->word, &seen, seen - 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* 0; -ETIMEDOUT; -EINTR; -ENOENT. */
int shmemi_semaphore_wait(const struct shmemi_sem *sem, int64_t deadline);
/* -EAGAIN: no unit is free. */
int shmemi_semaphore_try(const struct shmemi_sem *sem);
/* -EOVERFLOW; owned: -EPERM, this thread has fewer units. All or nothing. */
int shmemi_semaphore_post(const struct shmemi_sem *sem, unsigned count);
/* Units that are free. */
unsigned shmemi_semaphore_value(const struct shmemi_sem *sem);

/* -EBUSY: somebody waits, or has units. */
int shmemi_semaphore_retire(const struct shmemi_sem *sem);

#endif
