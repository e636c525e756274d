// SPDX-License-Identifier: Apache-2.0
// How fast copies are, beside the driver's own: lines "result DEVICE.PATH.WAY.BYTES SECONDS" for shmem-bench, with
// DEVICE.PATH.bandwidth in bytes a second; and the share that is reached, for the self-test.
#include "device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A copy of this library that is waited for; one of many of this library in a queue; one of the driver's own calls that
   is waited for. */
enum way { WAITED, QUEUED, DRIVER, WAYS };
static const char *const way_names[] = {"waited", "queued", "driver"};

/* What is copied, with the place's driver and stream. */
struct path {
    const char *name, *label;
    void *to, *from;
    enum direction direction;
};
enum { PATHS = 3 };

struct bench {
    struct place place; /* with a pool of its own */
    size_t most;
    void *near; /* host memory, `most` bytes */
    shmemx_stream_t stream;
    struct driver driver;
    struct path paths[PATHS];
};

static bool quick(void)
{
    return getenv("SHMEM_BENCH_QUICK") != NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- one figure --------------------------------------------------------------------------------------------------- */

static int copy_once(const struct bench *b, const struct path *path, size_t bytes, enum way way)
{
    if (way == WAITED)
        return shmemx_device_copy(path->to, path->from, bytes);
    if (way == QUEUED)
        return shmemx_copy_on_stream(path->to, path->from, bytes, b->stream);
    void *native = shmemx_stream_native(b->stream);
    int rc = driver_copy(&b->driver, path->to, path->from, bytes, path->direction, native);
    return rc < 0 ? rc : driver_wait(&b->driver, native);
}

/* Seconds a copy; negative: an error. */
static double time_copies(const struct bench *b, const struct path *path, size_t bytes, enum way way, int turns)
{
    double begin = now();
    for (int i = 0; i < turns; i++)
        if (copy_once(b, path, bytes, way) < 0)
            return -1;
    if (way == QUEUED && shmemx_stream_finish(b->stream) < 0)
        return -1;
    return (now() - begin) / turns;
}

/* Copies in a row: as many as take a few milliseconds, by one that nobody counts. */
static int turns_of(const struct bench *b, const struct path *path, size_t bytes)
{
    double once = time_copies(b, path, bytes, WAITED, 1), many = (quick() ? 1e-3 : 5e-3) / (once > 0 ? once : 1);
    return many < 4 ? 4 : many > 64 ? 64 : (int)many;
}

/* The best of several rounds, in which the ways take turns, so that whatever else runs on the machine is shared; the
   first round warms up, and counts for nothing. */
static int best_times(const struct bench *b, const struct path *path, size_t bytes, double best[WAYS])
{
    int turns = turns_of(b, path, bytes);
    for (int round = 0; round <= (quick() ? 3 : 7); round++)
        for (int way = 0; way < WAYS; way++) {
            double each = time_copies(b, path, bytes, (enum way)way, turns);
            if (each < 0)
                return -1;
            if (round <= 1 || each < best[way])
                best[way] = each;
        }
    return 0;
}

/* --- a device with memory to copy --------------------------------------------------------------------------------- */

static int take_memory(struct bench *b)
{
    void *x, *y;
    int rc = shmemx_device_alloc(b->place.pool, b->most, 0, &x);
    if (rc < 0 || (rc = shmemx_device_alloc(b->place.pool, b->most, 0, &y)) < 0)
        return rc;
    memset(b->near, 1, b->most);
    b->paths[0] = (struct path){"to_device", "host to device", x, b->near, TO_DEVICE};
    b->paths[1] = (struct path){"from_device", "device to host", b->near, x, FROM_DEVICE};
    b->paths[2] = (struct path){"within_device", "device to device", y, x, WITHIN_DEVICE};
    return shmemx_device_copy(y, b->near, b->most); /* nothing of it is touched for the first time later */
}

static int with_driver(struct bench *b, int (*measure)(const struct bench *b))
{
    int rc = driver_open(&b->driver, b->place.info.type, b->place.info.number);
    if (rc < 0)
        return rc;
    rc = measure(b);
    driver_close(&b->driver);
    return rc;
}

static int with_pool(struct bench *b, int (*measure)(const struct bench *b))
{
    int rc = take_memory(b);
    if (rc < 0 || (rc = shmemx_stream_create(b->place.info.type, b->place.info.number, &b->stream)) < 0)
        return rc;
    rc = with_driver(b, measure);
    shmemx_stream_destroy(b->stream);
    return rc;
}

/* Blocks of 64 MiB where there is room for them. */
static int with_bench(const struct place *p, int (*measure)(const struct bench *b))
{
    struct bench b = {.place = *p};
    b.most = quick() ? 1 << 20 : p->info.free_bytes > (size_t)1 << 30 ? 64 << 20 : 4 << 20;
    int end, rc = shmemx_device_pool_create(p->info.type, p->info.number, 2 * b.most + POOL, &b.place.pool);
    if (rc < 0)
        return rc;
    if (!(b.near = malloc(b.most)))
        rc = wrong("no memory for %zu bytes of the host", b.most);
    else
        rc = with_pool(&b, measure);
    free(b.near);
    end = shmemx_device_pool_close(b.place.pool);
    return rc < 0 ? rc : end;
}

/* --- figures for shmem-bench -------------------------------------------------------------------------------------- */

static int report_path(const struct bench *b, const struct path *path)
{
    const size_t sizes[] = {8, 64 << 10, 1 << 20, 16 << 20, b->most};
    double bandwidth = 0;
    for (int s = 0; s < 5; s++) {
        double best[WAYS];
        if (sizes[s] > b->most || (s == 4 && sizes[s] <= sizes[3] && sizes[s] == sizes[2]))
            continue;
        if (best_times(b, path, sizes[s], best) < 0)
            return -1;
        for (int way = 0; way < WAYS; way++) {
            double reached = (double)sizes[s] / best[way];
            bandwidth = reached > bandwidth ? reached : bandwidth;
            printf("result %s.%s.%s.%zu %g\n", b->place.name, path->name, way_names[way], sizes[s], best[way]);
        }
    }
    printf("result %s.%s.bandwidth %g\n", b->place.name, path->name, bandwidth);
    return 0;
}

static int report(const struct bench *b)
{
    int rc = 0;
    for (int i = 0; i < PATHS && rc == 0; i++)
        rc = report_path(b, &b->paths[i]);
    return rc;
}

void measure_place(struct place *p)
{
    step(p->name, "copies are measured", with_bench(p, report));
}

/* --- shares for a person ------------------------------------------------------------------------------------------ */

static int tell_path(const struct bench *b)
{
    for (int i = 0; i < PATHS; i++) {
        double best[WAYS], bytes = (double)b->most;
        if (best_times(b, &b->paths[i], b->most, best) < 0)
            return -1;
        printf("share  %-8s %s: %.0f %% of the copy bandwidth: %.2f GB/s, the driver's own copy %.2f GB/s (%zu MiB)\n",
               b->place.name, b->paths[i].label, 100 * best[DRIVER] / best[WAITED], 1e-9 * bytes / best[WAITED],
               1e-9 * bytes / best[DRIVER], b->most >> 20);
    }
    return 0;
}

void tell_shares(struct place *p)
{
    step(p->name, "copies beside the driver's own", with_bench(p, tell_path));
}
