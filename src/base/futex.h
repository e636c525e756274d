// SPDX-License-Identifier: Apache-2.0
// Sleeping on 32-bit words in shared memory.
#ifndef SHMEMI_BASE_FUTEX_H
#define SHMEMI_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* One word to sleep on, and the value at which to sleep. */
struct shmemi_futex {
    _Atomic uint32_t *word;
    uint32_t value;
};

enum { SHMEMI_FUTEX_MOST = 8 };

/* Sleeps while every one of count (1 to SHMEMI_FUTEX_MOST) words holds its value, until woken or the deadline
   (shmemi_now() time). Returns 0 when woken or when a word differed (look again), -ETIMEDOUT, or -EINTR after a
   signal. Spurious returns happen. Where futex_waitv is missing (before Linux 5.16) it sleeps on the first word only,
   at most 20 ms at a time. */
int shmemi_futex_wait(const struct shmemi_futex *words, unsigned count, int64_t deadline);

/* Wakes up to count sleepers of the word; returns how many. */
int shmemi_futex_wake(_Atomic uint32_t *word, int count);

#endif
