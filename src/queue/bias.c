// SPDX-License-Identifier: Apache-2.0
// The dear side of biased locks.
#include "bias.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/cpu.h"

enum { LOOKS = 100, YIELDS = 3 };

_Atomic int shmemi_light_fences;

void shmemi_fences_begin(void)
{
#ifndef SHMEMI_TSAN /* which knows nothing of this system call */
    int light = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    atomic_store_explicit(&shmemi_light_fences, light, memory_order_relaxed); /* [fences] owners are made later */
#endif
}

void shmemi_fence_heavy(void)
{
    atomic_thread_fence(memory_order_seq_cst);                            /* [fences] pairs with shmemi_fence_light() */
    if (atomic_load_explicit(&shmemi_light_fences, memory_order_relaxed)) /* set before */
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

bool shmemi_bias_try(struct shmemi_bias *bias)
{
    /* [taken] relaxed: the fence orders it before the loads of `busy`; pairs with shmemi_bias_enter(). */
    atomic_store_explicit(&bias->taken, 1, memory_order_relaxed);
    shmemi_fence_heavy();
    for (int i = 0; i < LOOKS + YIELDS; i++) {
        /* [busy] acquire: pairs with the release in shmemi_bias_leave(). */
        if (!atomic_load_explicit(&bias->busy, memory_order_acquire))
            return true;
        if (i < LOOKS)
            shmemi_cpu_relax();
        else
            sched_yield();
    }
    shmemi_bias_give(bias);
    return false;
}

void shmemi_bias_give(struct shmemi_bias *bias)
{
    /* [taken] release: pairs with the acquire in shmemi_bias_enter(): what was done is seen. */
    atomic_store_explicit(&bias->taken, 0, memory_order_release);
}
