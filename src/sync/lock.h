// SPDX-License-Identifier: Apache-2.0
// A lock for the library's own use between processes: one word, and a holder that may die.
//
// It is taken for members: the word names the holder's slot, and the holder's alive word (which the kernel marks at its
// death) tells whether to go on waiting. Threads of one process need a lock of their own before this one. What the word
// says is not trusted: a holder that cannot be counts as dead.
#ifndef SHMEMI_SYNC_LOCK_H
#define SHMEMI_SYNC_LOCK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct shmemi_lock {
    _Atomic uint32_t word; /* 0: free; else holder + 1, and WAITED in the top bit */
};

/* The alive words of those who may hold it: slot i's is at first + i * stride. */
struct shmemi_lock_holders {
    const char *first;
    size_t stride;
    unsigned count;
};

/* Takes it for slot `me`. 0, or -EOWNERDEAD: taken, but its last holder died, and what it guards may need repair. */
int shmemi_lock_take(struct shmemi_lock *lock, const struct shmemi_lock_holders *holders, unsigned me);

/* Gives it back. */
void shmemi_lock_give(struct shmemi_lock *lock);

#endif
