// SPDX-License-Identifier: Apache-2.0
// Each worker of a measurement on a core of its own, where there are enough.
#ifndef TOOLS_BENCH_PIN_H
#define TOOLS_BENCH_PIN_H

#include <sched.h>
#include <stddef.h>

static cpu_set_t pin_cores; /* as the program began: threads and children take over what their maker was bound to */

static inline __attribute__((constructor)) void pin_begin(void)
{
    if (sched_getaffinity(0, sizeof pin_cores, &pin_cores) != 0)
        CPU_ZERO(&pin_cores);
}

/* Binds the calling thread to the worker's core. */
static inline void pin(int worker)
{
    int count = CPU_COUNT(&pin_cores), left = count ? worker % count : 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &pin_cores) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

#endif
