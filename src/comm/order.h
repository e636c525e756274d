// SPDX-License-Identifier: Apache-2.0
// Ordering and completion of what this PE has issued.
#ifndef SHMEMI_COMM_ORDER_H
#define SHMEMI_COMM_ORDER_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "job/job.h"

/* Copies to, from and on devices that this process has begun are done. Ends the job when a device fails. */
void shmemi_quiet_devices(void) SHMEMI_COLD;

/* All puts and atomics so far are visible everywhere before anything that follows. A full fence: after put x; quiet;
   get y on one PE and put y; quiet; get x on another, not both may read the old value (tests/conformance/litmus.c). */
static inline void shmemi_quiet(void)
{
    if (shmemi_near_devices())
        shmemi_quiet_devices();
    atomic_thread_fence(memory_order_seq_cst);
}

/* Puts so far are seen by each PE before puts that follow. Release order suffices; copies that bypass the cache end
   with a store fence of their own. */
static inline void shmemi_fence(void)
{
    if (shmemi_near_devices())
        shmemi_quiet_devices(); /* what goes to the host next would overtake them */
    atomic_thread_fence(memory_order_release);
}

#endif
