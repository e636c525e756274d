// SPDX-License-Identifier: Apache-2.0
// What the measuring programs share: a clock, repetition, and the form of a result.
#ifndef BENCH_PORTABLE_H
#define BENCH_PORTABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROUNDS = 9
}; /* each figure is the median of so many rounds; what is compared is measured in turn, round by round */

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

/* How often to repeat: so often, or a hundredth for a quick look whether everything works (SHMEM_BENCH_QUICK). */
static inline int times(int full)
{
    int count = getenv("SHMEM_BENCH_QUICK") ? full / 100 : full;
    return count < 1 ? 1 : count;
}

/* Whether to measure a size at all: a quick look leaves out what is over 1 MiB. */
static inline int measured(size_t bytes)
{
    return bytes <= (1 << 20) || !getenv("SHMEM_BENCH_QUICK");
}

/* Bytes of the largest buffer that is measured. */
static inline size_t largest(void)
{
    return measured((size_t)256 << 20) ? (size_t)256 << 20 : (size_t)1 << 20;
}

/* One line that the script reads. */
static inline void report(const char *key, double value)
{
    printf("result %s %.9g\n", key, value);
    fflush(stdout);
}

#endif
