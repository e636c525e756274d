// SPDX-License-Identifier: Apache-2.0
// A lock between one thread that takes it all the time and others of the process that seldom do. The owner pays two
// plain stores; whoever else wants it pays a system call (membarrier) that orders memory for both.
#ifndef SHMEMI_QUEUE_BIAS_H
#define SHMEMI_QUEUE_BIAS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct shmemi_bias {
    _Atomic uint32_t busy;  /* the owner has it, or is trying */
    _Atomic uint32_t taken; /* another thread has it, or is trying */
};

/* 1: other threads make up for the order that this one does not keep. Set once, before any owner is made. */
extern _Atomic int shmemi_light_fences;

/* At the process's first use, and in a forked child. */
void shmemi_fences_begin(void);

/* Between a store and a load of the same thread: the load is not done before the store, as seen by a thread that has
   the heavy one between its own store and load. */
static inline void shmemi_fence_light(void)
{
    /* [fences] relaxed: set before; pairs with shmemi_fence_heavy(). */
    if (shmemi_likely(atomic_load_explicit(&shmemi_light_fences, memory_order_relaxed)))
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

void shmemi_fence_heavy(void);

static inline void shmemi_bias_leave(struct shmemi_bias *bias)
{
    /* [busy] release: pairs with the acquire in shmemi_bias_try(): what the owner did is seen. */
    atomic_store_explicit(&bias->busy, 0, memory_order_release);
}

/* By the owner. */
static inline void shmemi_bias_enter(struct shmemi_bias *bias)
{
    for (;;) {
        /* [busy] relaxed: the fence orders it before the load of `taken`; pairs with shmemi_bias_try(). */
        atomic_store_explicit(&bias->busy, 1, memory_order_relaxed);
        shmemi_fence_light();
        /* [taken] acquire: pairs with the release in shmemi_bias_give(). */
        if (shmemi_likely(!atomic_load_explicit(&bias->taken, memory_order_acquire)))
            return;
        shmemi_bias_leave(bias);
        sched_yield();
    }
}

/* By another thread; one of them at a time. False: the owner has it just now. */
bool shmemi_bias_try(struct shmemi_bias *bias);
void shmemi_bias_give(struct shmemi_bias *bias);

#endif
