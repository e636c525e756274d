// SPDX-License-Identifier: Apache-2.0
// Monotonic time in nanoseconds, and deadlines.
#ifndef SHMEMI_BASE_CLOCK_H
#define SHMEMI_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SHMEMI_NO_DEADLINE INT64_MAX

static inline int64_t shmemi_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The instant that many seconds from now; a negative or enormous number of seconds means never. */
static inline int64_t shmemi_deadline(double seconds)
{
    if (!(seconds >= 0) || seconds > 1e9)
        return SHMEMI_NO_DEADLINE;
    return shmemi_now() + (int64_t)(seconds * 1e9);
}

static inline struct timespec shmemi_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

#endif
