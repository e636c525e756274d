// SPDX-License-Identifier: Apache-2.0
// How many calls of the driver each operation makes, warm: lines "count DEVICE CALLS OPERATION", for shmem-bench, where
// CALLS is "-" with a driver that does not count (only doubles do), and "none" where the device cannot do it.
#include "device.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct place *place;
static struct driver driver;
static const unsigned long *calls; /* NULL: this driver does not count */
static bool warm;                  /* before, all is done once and nothing said */

static void say(const char *operation, unsigned long count)
{
    if (!warm)
        return;
    printf("count %s ", place->name);
    calls ? printf("%lu", count) : printf("-");
    printf(" %s\n", operation);
}

static const char *const of_regions[] = {
    "put, region without events",
    "put, region with events",
    "get, region without events",
    "get, region with events",
    "signal to a word of the host",
    "signal to a word of the device",
    "put with signal, without events",
    "put with signal, with events",
    "wait for a word of the host",
    "barrier on a stream",
    "quiet on a stream",
};
enum { OF_REGIONS = sizeof of_regions / sizeof *of_regions };

/* Evaluates the call once, warm, and says what it took. */
#define COUNT(operation, call)                                                                                         \
    do {                                                                                                               \
        unsigned long before = calls ? *calls : 0;                                                                     \
        int result = (call);                                                                                           \
        if (result < 0)                                                                                                \
            return result;                                                                                             \
        say(operation, (calls ? *calls : 0) - before);                                                                 \
    } while (0)

/* --- copies ------------------------------------------------------------------------------------------------------- */

static int count_queued(const struct place *p, shmemx_stream_t stream)
{
    COUNT("copy on a stream, host to device", shmemx_copy_on_stream(p->a, host, PART, stream));
    COUNT("copy on a stream, device to host", shmemx_copy_on_stream(host, p->a, PART, stream));
    COUNT("copy on a stream, device to device", shmemx_copy_on_stream(p->b, p->a, PART, stream));
    return 0;
}

static int count_waited(const struct place *p)
{
    COUNT("copy that is waited for, host to device", shmemx_device_copy(p->a, host, PART));
    COUNT("copy that is waited for, device to host", shmemx_device_copy(host, p->a, PART));
    COUNT("copy that is waited for, device to device", shmemx_device_copy(p->b, p->a, PART));
    return 0;
}

/* Streams are held, so that nothing else calls the driver meanwhile. */
static int count_on(const struct place *p, shmemx_stream_t stream)
{
    int end, rc;
    if (warm)
        driver_hold(&driver, 1);
    rc = count_queued(p, stream);
    driver_hold(&driver, 0);
    end = shmemx_stream_finish(stream);
    rc = rc < 0 ? rc : end;
    return rc < 0 ? rc : count_waited(p);
}

static int count_copies(const struct place *p)
{
    shmemx_stream_t stream;
    int end, rc = shmemx_stream_create(p->info.type, p->info.number, &stream);
    if (rc < 0)
        return rc;
    memset(host, 1, PART);
    warm = false;
    rc = count_on(p, stream);
    warm = true;
    if (rc >= 0)
        rc = count_on(p, stream);
    end = shmemx_stream_destroy(stream);
    return rc < 0 ? rc : end;
}

/* --- regions of another PE ---------------------------------------------------------------------------------------- */

/* Regions of the heap, as of the words, have no events. What is waited for is signalled before. */
static int count_them(const struct player *p)
{
    const char *const *name = of_regions;
    COUNT(*name++, shmemx_put_on_stream(p->their_word, 32, p->x, 8, p->stream));
    COUNT(*name++, shmemx_put_on_stream(p->their_x, 0, p->x, PART, p->stream));
    COUNT(*name++, shmemx_get_on_stream(p->x, p->their_word, 32, 8, p->stream));
    COUNT(*name++, shmemx_get_on_stream(p->x, p->their_x, 0, PART, p->stream));
    COUNT(*name++, shmemx_signal_on_stream(p->own_word, 0, 1, SHMEM_SIGNAL_SET, p->stream));
    COUNT(*name++, shmemx_signal_on_stream(p->their_x, 0, 1, SHMEM_SIGNAL_SET, p->stream));
    COUNT(*name++,
          shmemx_put_signal_on_stream(p->their_word, 32, p->x, 8, p->their_word, 0, 1, SHMEM_SIGNAL_SET, p->stream));
    COUNT(*name++,
          shmemx_put_signal_on_stream(p->their_x, 0, p->x, PART, p->their_word, 0, 1, SHMEM_SIGNAL_SET, p->stream));
    COUNT(*name++, shmemx_wait_on_stream(p->own_word, 0, SHMEM_CMP_GE, 1, p->stream));
    COUNT(*name++, shmemx_barrier_on_stream(p->stream));
    COUNT(*name++, shmemx_quiet_on_stream(p->stream));
    return 0;
}

static int finish(const struct player *p, int rc)
{
    int end = shmemx_stream_finish(p->stream);
    return rc < 0 ? rc : end;
}

int count_operations(const struct player *p)
{
    warm = false;
    int rc = finish(p, count_them(p));
    if (rc < 0)
        return rc;
    warm = true;
    driver_hold(&driver, 1);
    rc = count_them(p);
    driver_hold(&driver, 0);
    return finish(p, rc);
}

/* The other PE comes to both barriers. */
int be_counted(const struct player *p)
{
    int rc = shmemx_barrier_on_stream(p->stream);
    if (rc >= 0)
        rc = shmemx_barrier_on_stream(p->stream);
    return finish(p, rc);
}

/* --- a device ----------------------------------------------------------------------------------------------------- */

static int count_all(const struct place *p)
{
    int rc = count_copies(p);
    if (rc < 0)
        return rc;
    if (p->info.can_share && p->info.can_signal)
        return counted(p);
    for (int i = 0; i < OF_REGIONS; i++)
        printf("count %s none %s\n", p->name, of_regions[i]);
    return 0;
}

void count_place(struct place *p)
{
    int rc = driver_open(&driver, p->info.type, -1);
    place = p;
    if (rc >= 0) {
        calls = driver_calls(&driver);
        rc = count_all(p);
        driver_close(&driver);
    }
    step(p->name, "calls of the driver are counted", rc);
}
