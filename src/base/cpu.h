// SPDX-License-Identifier: Apache-2.0
// What the processor and this process's share of it are like.
#ifndef SHMEMI_BASE_CPU_H
#define SHMEMI_BASE_CPU_H

#include <sched.h>

/* The cores that this process may run on. */
void shmemi_cpu_mask(cpu_set_t *out);

/* How many cores processes may use at once that together may run on `mask`: cut by the CPU quota of this process's
   cgroups (v1 and v2). At least 1. */
int shmemi_cpu_cores(const cpu_set_t *mask);

/* Tells the core that this is a spin loop. */
static inline void shmemi_cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

#endif
