// SPDX-License-Identifier: Apache-2.0
// Streams, and threads that use them.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/interrupt.h"
#include "device.h"
#include "device_internal.h"
#include "request_internal.h"

enum { DEVICES_MOST = 64, KINDS = SHMEMI_DEVICE_HALS };

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* The device that this thread was left with, by its last use. Others may have changed that since, which the driver then
   says: so it is tried first, and what is usual costs no further call. */
static _Thread_local struct {
    const struct shmemi_device_hal *hal;
    int device;
} bound;

int shmemi_device_submit(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream,
                         shmemi_device_work *work, const void *what)
{
    struct shmemi_device_current before;
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    if (bound.hal == hal && bound.device == stream.device && (rc = work(hal, stream, what)) != -EBADFD)
        return rc;
    bound.hal = NULL;
    if ((rc = hal->enter(stream.device, &before)) < 0)
        return rc;
    rc = work(hal, stream, what);
    if (!before.context || before.same) { /* nobody misses what was before */
        bound.hal = hal;
        bound.device = stream.device;
    }
    if (before.context)
        hal->leave(&before);
    return rc;
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static struct shmemi_stream *streams; /* own ones; under the mutex */
static unsigned ending;               /* taken out, and not yet done; under the mutex */
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static int check_device(const struct shmemi_device_hal *hal, int device, int count)
{
    return device >= 0 && device < count
               ? 0
               : shmemi_fail(-ENODEV, "there is no %s device %d: this process sees %d, counted from 0", hal->maker,
                             device, count);
}

static int new_stream(const char *type, int device, struct shmemi_stream **out)
{
    const struct shmemi_device_hal *hal = NULL;
    int count, rc = shmemi_device_open(type, &hal, &count);
    if (rc < 0 || (rc = check_device(hal, device, count)) < 0)
        return rc;
    if (!(*out = calloc(1, sizeof **out)))
        return shmemi_fail(-ENOMEM, "no memory for a stream");
    (*out)->hal = hal;
    (*out)->stream.device = device;
    return 0;
}

int shmemi_stream_create(const char *type, int device, struct shmemi_stream **out)
{
    struct shmemi_stream *s = NULL;
    int rc = new_stream(type, device, &s);
    if (rc < 0)
        return rc;
    if ((rc = s->hal->create_stream(device, &s->stream)) < 0) {
        free(s);
        return rc;
    }
    s->own = true;
    pthread_mutex_lock(&listing);
    if ((s->next = streams))
        streams->previous = s;
    streams = s;
    pthread_mutex_unlock(&listing);
    *out = s;
    return 0;
}

int shmemi_stream_wrap(const char *type, int device, void *native, struct shmemi_stream **out)
{
    bool done;
    int rc = new_stream(type, device, out);
    if (rc < 0)
        return rc;
    (*out)->stream.driver = native;
    if ((*out)->hal->stands_in) { /* there are none but its own */
        rc = (*out)->hal->query((*out)->stream, &done);
        if (rc == -EBADFD)
            free(*out);
    }
    return rc == -EBADFD ? rc : 0;
}

/* Waits a while for the host to have done its part of what was queued; false when that is so. */
static bool requests_pend(struct shmemi_stream *s)
{
    enum { LOOK_AGAIN = 100000000 /* ns */ };
    size_t near;
    /* [pending] acquire pairs with the release in retire(). */
    uint32_t left = atomic_load_explicit(&s->pending, memory_order_acquire);
    if (!left)
        return false;
    shmemi_proxy_kick();
    if (shmemi_futex_wait(&(struct shmemi_futex){&s->pending, left}, 1, shmemi_now() + LOOK_AGAIN) == -ETIMEDOUT)
        shmemi_requests_pending(&near); /* the driver may have lost some */
    return true;
}

/* Its last wait may need another stream, which somebody makes meanwhile: so it is not under the lock. */
static void take_out(struct shmemi_stream *s)
{
    pthread_mutex_lock(&listing);
    *(s->previous ? &s->previous->next : &streams) = s->next;
    if (s->next)
        s->next->previous = s->previous;
    ending++;
    pthread_mutex_unlock(&listing);
    s->hal->destroy_stream(&s->stream);
    pthread_mutex_lock(&listing);
    ending--;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&listing);
}

/* Waits for requests, as long as the program wants to; then what is left is given up. -EINTR. */
static int await_or_give_up(struct shmemi_stream *s)
{
    int rc = 0;
    while (rc == 0 && shmemi_stream_check(s) == 0 && requests_pend(s))
        rc = shmemi_interrupted();
    if (rc < 0)
        shmemi_requests_give_up(s, rc);
    return rc;
}

int shmemi_stream_destroy(struct shmemi_stream *s)
{
    int interrupted = 0, rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    struct shmemi_device_stream driver = s->stream;
    if (s->own) {
        interrupted = await_or_give_up(s);
        take_out(s);
    }
    s->stream = driver; /* its requests are found by it */
    pthread_mutex_lock(&shmemi_requests_lock);
    s->ended = s->own;
    pthread_mutex_unlock(&shmemi_requests_lock);
    while (s->own && requests_pend(s))
        ;
    if (s->own)
        shmemi_request_passed(s);
    pthread_mutex_lock(&shmemi_requests_lock);
    s->forgotten = true;
    bool unused = s->holders == 0;
    pthread_mutex_unlock(&shmemi_requests_lock);
    if (unused)
        free(s);
    return interrupted;
}

void *shmemi_stream_native(const struct shmemi_stream *s)
{
    return s->stream.driver;
}

/* A stream that waits for somebody is waited for here, where the program can end that, and not in the driver. */
int shmemi_stream_finish(struct shmemi_stream *s)
{
    int rc = shmemi_device_check_process();
    while (rc == 0 && shmemi_stream_check(s) == 0 && requests_pend(s))
        rc = shmemi_interrupted();
    if (rc < 0 || (rc = s->hal->finish(s->stream)) < 0)
        return rc;
    while (requests_pend(s))
        ;
    shmemi_request_passed(s);
    return shmemi_stream_check(s);
}

int shmemi_stream_query(struct shmemi_stream *s)
{
    bool done = false;
    int rc = shmemi_device_check_process();
    if (rc < 0 || (rc = shmemi_stream_check(s)) < 0 || (rc = s->hal->query(s->stream, &done)) < 0 || !done)
        return rc;
    if (!atomic_load_explicit(&s->pending, memory_order_acquire)) { /* [pending] */
        shmemi_request_passed(s);
        return (rc = shmemi_stream_check(s)) < 0 ? rc : 1;
    }
    shmemi_proxy_kick();
    return 0;
}

/* --- streams of this library's own -------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock; /* held from own_stream() to let_stream_go() */
    bool made;
    bool begun; /* something is queued that nobody has waited for yet */
    struct shmemi_device_stream stream;
} owns[KINDS][DEVICES_MOST];
static _Atomic unsigned begun; /* how many of them */

static pthread_once_t owns_once = PTHREAD_ONCE_INIT;

/* In an orderly end of the process; a driver that is gone by then has taken them along. */
static void end_owns(void)
{
    for (int kind = 0; kind < KINDS && shmemi_device_check_process() == 0; kind++)
        for (int i = 0; i < DEVICES_MOST; i++)
            if (owns[kind][i].made)
                shmemi_device_hal(kind)->destroy_stream(&owns[kind][i].stream);
}

static void begin_owns(void)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < DEVICES_MOST; i++)
            pthread_mutex_init(&owns[kind][i].lock, NULL);
    atexit(end_owns);
}

int shmemi_device_own_stream(const struct shmemi_device_hal *hal, int device, struct shmemi_device_stream *out)
{
    int kind = shmemi_device_index(hal), rc = 0;
    SHMEMI_ASSERT(device >= 0 && device < DEVICES_MOST);
    pthread_once(&owns_once, begin_owns);
    pthread_mutex_lock(&owns[kind][device].lock);
    if (!owns[kind][device].made) {
        rc = hal->create_stream(device, &owns[kind][device].stream);
        owns[kind][device].made = rc == 0;
    }
    *out = owns[kind][device].stream;
    if (rc < 0)
        pthread_mutex_unlock(&owns[kind][device].lock);
    return rc;
}

void shmemi_device_let_stream_go(const struct shmemi_device_hal *hal, int device)
{
    pthread_mutex_unlock(&owns[shmemi_device_index(hal)][device].lock);
}

void shmemi_device_note_begun(const struct shmemi_device_hal *hal, int device)
{
    int kind = shmemi_device_index(hal);
    if (!owns[kind][device].begun)
        atomic_fetch_add_explicit(&begun, 1,
                                  memory_order_relaxed); /* [begun] read by this thread, or who is told by it */
    owns[kind][device].begun = true;
}

static int finish_begun(int kind, int device)
{
    int rc = 0;
    pthread_mutex_lock(&owns[kind][device].lock);
    if (owns[kind][device].begun) {
        rc = shmemi_device_hal(kind)->finish(owns[kind][device].stream);
        owns[kind][device].begun = false; /* after a failure, too: what was queued is not done any more */
        atomic_fetch_sub_explicit(&begun, 1, memory_order_release); /* [begun] whoever sees it sees what was copied */
    }
    pthread_mutex_unlock(&owns[kind][device].lock);
    return rc;
}

int shmemi_device_finish_begun(void)
{
    int rc = 0;
    if (!atomic_load_explicit(&begun, memory_order_acquire)) /* [begun] */
        return 0;
    for (int kind = 0; kind < KINDS && shmemi_device_hal(kind); kind++)
        for (int i = 0; shmemi_device_is_open(shmemi_device_hal(kind)) && i < DEVICES_MOST; i++) {
            int one = finish_begun(kind, i);
            rc = rc < 0 ? rc : one;
        }
    return rc;
}

/* --- before memory is taken away ---------------------------------------------------------------------------------- */

/* Also this library's own: a copy whose end was not seen, because the driver failed then, may be in there. */
void shmemi_streams_finish(const struct shmemi_device_hal *hal)
{
    int kind = shmemi_device_index(hal);
    pthread_mutex_lock(&listing);
    for (struct shmemi_stream *s = streams; s; s = s->next)
        if (s->hal == hal)
            hal->finish(s->stream); /* what it was doing fails by itself */
    while (ending)
        pthread_cond_wait(&ended, &listing);
    pthread_mutex_unlock(&listing);
    pthread_once(&owns_once, begin_owns);
    for (int i = 0; i < DEVICES_MOST; i++) {
        pthread_mutex_lock(&owns[kind][i].lock);
        if (owns[kind][i].made)
            hal->finish(owns[kind][i].stream);
        pthread_mutex_unlock(&owns[kind][i].lock);
    }
}
