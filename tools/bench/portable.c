// SPDX-License-Identifier: Apache-2.0
// Measures an OpenSHMEM implementation through the standard's functions only, so that the same source is compiled with
// this library and with others: portable MEASUREMENT. PE 0 prints.
#include <shmem.h>

#include <stdint.h>
#include <string.h>

#include "portable.h"

static int me, n;

static double time_put_quiet(long *word, int count)
{
    double t = seconds();
    for (int i = 0; i < count; i++) {
        shmem_long_p(word, i, n - 1);
        shmem_quiet();
    }
    return (seconds() - t) / count;
}

static double time_get(long *word, int count)
{
    double t = seconds();
    __attribute__((unused)) volatile long sum = 0;
    for (int i = 0; i < count; i++)
        sum += shmem_long_g(word, n - 1);
    return (seconds() - t) / count;
}

static double time_fetch_add(long *word, int count)
{
    double t = seconds();
    __attribute__((unused)) volatile long sum = 0;
    for (int i = 0; i < count; i++)
        sum += shmem_long_atomic_fetch_add(word, 1, n - 1);
    return (seconds() - t) / count;
}

/* The other PE waits in a barrier and does not touch the word. */
static void small(void)
{
    long *word = shmem_malloc(sizeof *word);
    double put[ROUNDS], get[ROUNDS], add[ROUNDS];
    *word = 0;
    shmem_barrier_all();
    if (me == 0) {
        for (int r = 0; r < ROUNDS; r++) {
            put[r] = time_put_quiet(word, times(200000));
            get[r] = time_get(word, times(200000));
            add[r] = time_fetch_add(word, times(200000));
        }
        report("put_quiet", median(put));
        report("get", median(get));
        report("fetch_add", median(add));
    }
    shmem_barrier_all();
}

/* One way: half of a round trip of a word between PE 0 and PE 1. */
static void oneway(void)
{
    long *word = shmem_malloc(sizeof *word), count = times(n > 2 ? 2000 : 20000), turn = 0;
    double way[ROUNDS];
    *word = 0;
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS && me < 2; r++) {
        double t = seconds();
        for (long i = 0; i < count; i++) {
            turn++;
            if (me == 0)
                shmem_long_p(word, turn, 1);
            shmem_long_wait_until(word, SHMEM_CMP_GE, turn);
            if (me == 1)
                shmem_long_p(word, turn, 0);
        }
        way[r] = (seconds() - t) / (double)count / 2;
    }
    if (me == 0)
        report("oneway", median(way));
    shmem_barrier_all();
}

static void barrier(void)
{
    double time[ROUNDS];
    int count = times(n > 2 ? 1000 : 20000);
    for (int r = 0; r < ROUNDS; r++) {
        shmem_barrier_all();
        double t = seconds();
        for (int i = 0; i < count; i++)
            shmem_barrier_all();
        time[r] = (seconds() - t) / count;
    }
    if (me == 0)
        report("barrier", median(time));
}

static void sum(float *dest, float *source, size_t count)
{
#if SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5
    shmem_float_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count);
#else
    static long sync[SHMEM_REDUCE_SYNC_SIZE];
    static float *work;
    if (!work) {
        work = shmem_malloc((((size_t)64 << 20) / 8 + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof *work * 2);
        for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
            sync[i] = SHMEM_SYNC_VALUE;
        shmem_barrier_all();
    }
    shmem_float_sum_to_all(dest, source, (int)count, 0, 0, n, work, sync);
    shmem_barrier_all();
#endif
}

static void reduce(void)
{
    static const struct {
        const char *key;
        size_t bytes;
        int count;
    } sizes[] = {{"reduce_4", 4, 2000}, {"reduce_1M", 1 << 20, 20}, {"reduce_64M", 64 << 20, 1}};
    float *source = shmem_malloc(64 << 20), *dest = shmem_malloc(64 << 20);
    double time[ROUNDS];
    memset(source, 0, 64 << 20);
    memset(dest, 0, 64 << 20);
    for (int s = 0; s < 3 && measured(sizes[s].bytes); s++) {
        sum(dest, source, sizes[s].bytes / sizeof(float));
        for (int r = 0; r < ROUNDS; r++) {
            shmem_barrier_all();
            double t = seconds();
            for (int i = 0; i < times(sizes[s].count); i++)
                sum(dest, source, sizes[s].bytes / sizeof(float));
            time[r] = (seconds() - t) / times(sizes[s].count);
        }
        if (me == 0)
            report(sizes[s].key, median(time));
    }
    shmem_barrier_all();
}

/* Time of one put and one get of a size. */
static void bulk(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } sizes[] = {{"64K", 64 << 10}, {"1M", 1 << 20}, {"16M", 16 << 20}, {"256M", 256 << 20}};
    char *remote = shmem_malloc(largest()), *local = malloc(largest()), key[32];
    double put[ROUNDS], get[ROUNDS];
    if (!remote || !local)
        exit(3);
    memset(local, 1, largest());
    memset(remote, 1, largest());
    shmem_barrier_all();
    for (int s = 0; s < 4 && me == 0 && measured(sizes[s].bytes); s++) {
        int count = times((int)(((size_t)256 << 20) / sizes[s].bytes / 4) + 1);
        for (int r = -1; r < ROUNDS; r++) {
            double t = seconds();
            for (int i = 0; i < count; i++)
                shmem_putmem(remote, local, sizes[s].bytes, n - 1);
            shmem_quiet();
            if (r >= 0)
                put[r] = (seconds() - t) / count;
            t = seconds();
            for (int i = 0; i < count; i++)
                shmem_getmem(local, remote, sizes[s].bytes, n - 1);
            if (r >= 0)
                get[r] = (seconds() - t) / count;
        }
        snprintf(key, sizeof key, "put_%s", sizes[s].name);
        report(key, median(put));
        snprintf(key, sizeof key, "get_%s", sizes[s].name);
        report(key, median(get));
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"small", small}, {"oneway", oneway}, {"barrier", barrier}, {"reduce", reduce}, {"bulk", bulk}};
    setenv("SHMEM_HEAP_KIND", "host", 1); /* what is measured here touches its memory itself */
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    for (int a = 1; a < argc; a++)
        for (int i = 0; i < 5; i++)
            if (!strcmp(argv[a], all[i].name))
                all[i].run();
    shmem_finalize();
    return 0;
}
