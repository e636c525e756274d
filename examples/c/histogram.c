// SPDX-License-Identifier: Apache-2.0
// A histogram that is spread over all PEs: bin i is word i / n of PE i % n. Every PE draws numbers and counts each
// where its bin is. At the end each PE draws everybody's numbers again and counts its own bins. The figure is counts
// per second.
//   oshcc -O2 histogram.c -o histogram && oshrun -n 4 ./histogram -b 1000000 -d 1000000
#include "program.h"

static long bins = 100000, draws = 1000000;
static long *counts;

static uint64_t draw(int pe, long i)
{
    return scramble((uint64_t)pe << 40 ^ (uint64_t)i) % (uint64_t)bins;
}

static void count_all(int me, int n)
{
    for (long i = 0; i < draws; i++) {
        const uint64_t bin = draw(me, i);
        shmem_atomic_inc(&counts[bin / (uint64_t)n], (int)(bin % (uint64_t)n));
    }
    shmem_quiet();
}

static long count_wrong(int me, int n, size_t here)
{
    long *expected = private_array(here, sizeof *expected), wrong = 0;
    for (int pe = 0; pe < n; pe++)
        for (long i = 0; i < draws; i++) {
            const uint64_t bin = draw(pe, i);
            if (bin % (uint64_t)n == (uint64_t)me)
                expected[bin / (uint64_t)n]++;
        }
    for (size_t i = 0; i < here; i++)
        wrong += counts[i] != expected[i];
    free(expected);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {'b', &bins, 1, 1L << 40, "bins, on all PEs together"},
        {'d', &draws, 0, 1L << 40, "numbers that each PE draws"},
    };
    shmem_init();
    read_settings(argc, argv, "Counts random numbers in a histogram that is spread over all PEs.", settings, 2);
    const int me = shmem_my_pe(), n = shmem_n_pes();
    const size_t here = (size_t)(bins / n + 1);
    counts = symmetric(here, sizeof *counts);

    shmem_barrier_all();
    const double start = seconds();
    count_all(me, n);
    shmem_barrier_all();
    const double time = seconds() - start;

    if (me == 0)
        printf("histogram: %.2f million counts/s, %ld numbers into %ld bins by %d PEs in %.3f s\n",
               (double)draws * n / time * 1e-6, draws * n, bins, n, time);
    const int status = verdict(count_wrong(me, n, here));
    shmem_free(counts);
    shmem_finalize();
    return status;
}
