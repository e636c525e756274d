// SPDX-License-Identifier: Apache-2.0
// A word of 32 or 64 bits with atomics, on which threads can sleep while it has a value. Only who says wake wakes.
#ifndef SHMEMI_SYNC_WORD_H
#define SHMEMI_SYNC_WORD_H

#include "base/compiler.h"
#include "waiting.h"

#define SHMEMI_WORD_WAITED UINT32_C(1)

/* In shared memory. A 32-bit one uses the lower half. */
struct shmemi_word {
    _Atomic uint64_t value;
    _Atomic uint32_t turn; /* goes up with each wake; WAITED: somebody sleeps on it */
    uint32_t width;
    char pad[SHMEMI_LINE - 16 - sizeof(struct shmemi_sleepers)];
    struct shmemi_sleepers sleepers;
};

/* width: 4 or 8. */
uint64_t shmemi_word_load(const struct shmemi_word *word, unsigned width);
int shmemi_word_wait(const struct shmemi_site *site, struct shmemi_word *word, unsigned width, uint64_t value,
                     int64_t deadline);
/* How many it woke. */
int shmemi_word_wake(struct shmemi_word *word, int count);
int shmemi_word_retire(const struct shmemi_site *site, struct shmemi_word *word);

#endif
