// SPDX-License-Identifier: Apache-2.0
// Condition variables, used with a mutex. Each waiter has a seat; a signal is a mark in the seat of the one that has
// waited longest, and stays there until that one has the mutex again: when it dies before, the mark moves on.
#ifndef SHMEMI_SYNC_CONDITION_H
#define SHMEMI_SYNC_CONDITION_H

#include "mutex.h"

/* MARK in it: its waiter was signalled. */
struct shmemi_waiter {
    _Atomic uint64_t who;
    _Atomic uint64_t number; /* their order */
};

/* In shared memory. */
struct shmemi_condition {
    _Atomic uint64_t numbers; /* so many have waited */
    char pad[SHMEMI_LINE - 8];
    struct shmemi_waiter waiters[];
};

struct shmemi_cond {
    const struct shmemi_site *site;
    struct shmemi_condition *condition;
    unsigned waiters;
};

/* 0: signalled, and the mutex is this thread's again; or for no reason. -ETIMEDOUT, -EINTR, -EOWNERDEAD (the mutex is
   taken, and its last holder died), -ENOENT (the condition variable was destroyed): likewise with the mutex.
   -ENOTRECOVERABLE: without. -EPERM, -EINVAL: nothing was done. */
int shmemi_condition_wait(const struct shmemi_cond *cond, const struct shmemi_site *mutex_site,
                          struct shmemi_mutex *mutex, int64_t deadline);
void shmemi_condition_signal(const struct shmemi_cond *cond);
void shmemi_condition_broadcast(const struct shmemi_cond *cond);
int shmemi_condition_retire(const struct shmemi_cond *cond);

#endif
