// SPDX-License-Identifier: Apache-2.0
// Barriers that go on without those who die. Who takes part registers by arriving for the first time; a round is over
// when as many have arrived as are expected, or when all others are dead, and then it says so.
#ifndef SHMEMI_SYNC_BARRIER_H
#define SHMEMI_SYNC_BARRIER_H

#include "base/compiler.h"
#include "waiting.h"

enum { SHMEMI_BARRIER_MOST = 1022 };

/* In shared memory. The word:  bits 63..48  how many are expected
                                bits 47..32  goes up when somebody withdraws
                                bits 31..1   number of the round, slept on
                                bit  0       somebody died in the round before
   Seat i: at[i] is the number of the last round in which it arrived, + 1; who() has its holder. */
struct shmemi_barrier {
    _Atomic uint64_t word;
    char pad[SHMEMI_LINE - 8];
    _Atomic uint32_t at[]; /* one a seat, whole lines; then an _Atomic uint64_t a seat */
};

static inline size_t shmemi_barrier_at_bytes(unsigned seats)
{
    return shmemi_round_up(seats * sizeof(uint32_t), SHMEMI_LINE);
}

static inline size_t shmemi_barrier_bytes(unsigned seats)
{
    return sizeof(struct shmemi_barrier) + shmemi_barrier_at_bytes(seats) + seats * sizeof(uint64_t);
}

static inline uint64_t shmemi_barrier_begin(unsigned seats)
{
    return (uint64_t)seats << 48;
}

struct shmemi_bar {
    const struct shmemi_site *site;
    struct shmemi_barrier *barrier;
    unsigned seats;
};

/* 0; 1: and this thread is the one that ended the round; -EOWNERDEAD: somebody who took part died; -ETIMEDOUT, -EINTR:
   the arrival is taken back; -EUSERS: as many as are expected take part already. */
int shmemi_barrier_wait(const struct shmemi_bar *bar, int64_t deadline);

/* How many are expected; how many of them wait. */
unsigned shmemi_barrier_look(const struct shmemi_bar *bar, unsigned *waiting);
int shmemi_barrier_retire(const struct shmemi_bar *bar);

#endif
