// SPDX-License-Identifier: Apache-2.0
// What the processor and this process's share of it are like.
#ifndef SHMEMI_BASE_CPU_H
#define SHMEMI_BASE_CPU_H

/* How many cores this process may use at once: its affinity mask, cut by the CPU quota of its cgroups (v1 and v2).
   At least 1. */
int shmemi_cpu_cores(void);

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
