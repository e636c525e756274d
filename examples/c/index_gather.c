// SPDX-License-Identifier: Apache-2.0
// Reads a table that is spread over all PEs at random places: entry i is word i / n of PE i % n. Two ways: one value
// after the other with shmem_g, and many at once with shmem_get_nbi. The figure is reads per second.
//   oshcc -O2 index_gather.c -o index_gather && oshrun -n 4 ./index_gather -t 1000000 -r 1000000
#include "program.h"

static long entries = 100000, reads = 1000000;
static long *table;

static uint64_t place(int pe, long i)
{
    return scramble((uint64_t)pe << 40 ^ (uint64_t)i) % (uint64_t)entries;
}

static long value_at(uint64_t entry)
{
    return (long)(scramble(~entry) >> 1);
}

static void one_by_one(long *values, int me, int n)
{
    for (long i = 0; i < reads; i++) {
        const uint64_t entry = place(me, i);
        values[i] = shmem_long_g(&table[entry / (uint64_t)n], (int)(entry % (uint64_t)n));
    }
}

static void many_at_once(long *values, int me, int n)
{
    for (long i = 0; i < reads; i++) {
        const uint64_t entry = place(me, i);
        shmem_long_get_nbi(&values[i], &table[entry / (uint64_t)n], 1, (int)(entry % (uint64_t)n));
    }
    shmem_quiet();
}

/* Runs one way on all PEs, says how fast it was, and returns how many values are wrong here. */
static long measure(const char *name, void (*way)(long *, int, int), long *values)
{
    const int me = shmem_my_pe(), n = shmem_n_pes();
    long wrong = 0;
    memset(values, 0xff, (size_t)reads * sizeof *values);
    shmem_barrier_all();
    const double start = seconds();
    way(values, me, n);
    shmem_barrier_all();
    const double time = seconds() - start;
    for (long i = 0; i < reads; i++)
        wrong += values[i] != value_at(place(me, i));
    if (me == 0)
        printf("index_gather: %.2f million reads/s with %s, %ld reads of %ld entries by %d PEs in %.3f s\n",
               (double)reads * n / time * 1e-6, name, reads * n, entries, n, time);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {'t', &entries, 1, 1L << 40, "entries of the table, on all PEs together"},
        {'r', &reads, 0, 1L << 32, "reads of each PE"},
    };
    shmem_init();
    read_settings(argc, argv, "Reads a table that is spread over all PEs at random places.", settings, 2);
    const int me = shmem_my_pe(), n = shmem_n_pes();
    const size_t here = (size_t)(entries / n + 1);
    long *values = private_array((size_t)reads, sizeof *values);
    table = symmetric(here, sizeof *table);
    for (size_t i = 0; i < here; i++)
        table[i] = value_at(i * (size_t)n + (size_t)me);

    long wrong = measure("shmem_g", one_by_one, values);
    wrong += measure("shmem_get_nbi", many_at_once, values);
    const int status = verdict(wrong);
    free(values);
    shmem_free(table);
    shmem_finalize();
    return status;
}
