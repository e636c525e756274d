// SPDX-License-Identifier: Apache-2.0
// The one waiting loop: spin, yield, sleep; ended by the condition, a deadline, a death, a signal.
#ifndef SHMEMI_COMM_AWAIT_H
#define SHMEMI_COMM_AWAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct shmemi_await {
    bool (*done)(void *argument); /* cheap; called often */
    void *argument;
    /* Where to sleep: a word that whoever makes `done` true changes, and a count of sleepers that it looks at (may be
       NULL if it always wakes). Both NULL: the wait is for memory that anybody may change by a plain store, the word is
       this PE's own, and sleeps are short. */
    _Atomic uint32_t *word, *sleepers;
    /* The PE that has to act, or -1: any or all of them. */
    int pe;
    /* Whether a PE that has left (and not only one that has died) ends the wait, because it would have to act. */
    bool all_needed;
    int needed;       /* with pe -1: 1 + the one PE whose leaving ends the wait; 0: there is none */
    int releaser;     /* 1 + the PE that has to act before its last finalize; 0: there is none */
    int64_t deadline; /* shmemi_now() time; SHMEMI_NO_DEADLINE */
};

/* 0 when done() said true; -ETIMEDOUT; -EINTR when the program's interrupt check wants out; -EOWNERDEAD when a PE that
   is needed has died or left, -EDEADLK when the releaser has called finalize, with the text naming it. */
int shmemi_await(const struct shmemi_await *wait);

/* 0, or -EOWNERDEAD with the text when PE pe (or any, for -1) has died (or left, with all_needed). */
int shmemi_check_peers(int pe, bool all_needed);

/* Whether PE pe is in its last finalize, or beyond: what it did before that is seen by who asks again after this. */
bool shmemi_finishing(int pe);

/* After a sleeper has counted itself in its PE's `sleepers`: makes that visible to every PE's plain code, so that those
   need no fence. */
void shmemi_sleeper_announced(void);

/* For the interfaces that end the job on failure: does nothing for 0. */
void shmemi_require(const char *fn, int rc);

#endif
