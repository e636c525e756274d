// SPDX-License-Identifier: Apache-2.0
// The process's interrupt check.
#include "interrupt.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "error.h"

/* Like a signal handler it is the process's, not a job's: init waits too. */
static int (*_Atomic current)(void);

void shmemi_set_interrupt(int (*check)(void))
{
    /* [interrupt] release: what the check looks at is there; pairs with the acquire below. */
    atomic_store_explicit(&current, check, memory_order_release);
}

int shmemi_interrupted(void)
{
    int (*check)(void) = atomic_load_explicit(&current, memory_order_acquire); /* [interrupt] */
    return check && check() ? shmemi_fail(-EINTR, "interrupted") : 0;
}
