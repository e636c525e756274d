// SPDX-License-Identifier: Apache-2.0
// The standard's distributed locks: first come, first served, in one symmetric long that begins as 0 on every PE.
#ifndef SHMEMI_COMM_LOCK_H
#define SHMEMI_COMM_LOCK_H

#include <stdbool.h>

/* All end the job, naming fn, when lock is no aligned symmetric long or holds what no lock holds. A PE's threads take
   turns in no promised order. */

/* Waits for the lock; ends the job when this thread has it, or when a PE dies meanwhile. */
void shmemi_lock_set(const char *fn, long *lock);
/* Takes the lock if nobody has it; whether it did. Does not wait. */
bool shmemi_lock_test(const char *fn, long *lock);
/* Completes what was issued and passes the lock on; ends the job when this PE does not have it. */
void shmemi_lock_clear(const char *fn, long *lock);

#endif
