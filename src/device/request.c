// SPDX-License-Identifier: Apache-2.0
// Requests on their way: queuing, doing, failing.
#include "request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/futex.h"
#include "request_internal.h"

enum { DEVICES_MOST = 64, KINDS = SHMEMI_DEVICE_HALS };

/* The places of one device. */
struct shmemi_request_ring {
    const struct shmemi_device_hal *hal;
    struct shmemi_device_words words;
    struct shmemi_request_place *free;
    size_t in_use;
    size_t held; /* streams that may wait for a word of it still */
    struct shmemi_request_place places[SHMEMI_REQUESTS_MOST];
};

pthread_mutex_t shmemi_requests_lock = PTHREAD_MUTEX_INITIALIZER;
struct shmemi_request_line *shmemi_request_lines;

/* --- places ------------------------------------------------------------------------------------------------------- */

/* Held while a ring is made, which takes the driver's time; never together with the lock of the requests. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct shmemi_request_ring *) rings[KINDS][DEVICES_MOST];

/* Why a device can have none, which does not change: puts ask each time. Written once, before `known`. */
static struct unable {
    atomic_bool known;
    char text[400];
} unables[KINDS][DEVICES_MOST];

static int new_ring(const struct shmemi_device_hal *hal, int device, struct shmemi_request_ring **out)
{
    struct shmemi_request_ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return shmemi_fail(-ENOMEM, "no memory for requests of streams");
    ring->hal = hal;
    for (size_t i = SHMEMI_REQUESTS_MOST; i-- > 0;) {
        ring->places[i].ring = ring;
        ring->places[i].next = ring->free;
        ring->free = &ring->places[i];
    }
    int rc = hal->make_words(device, SHMEMI_REQUESTS_MOST, &ring->words);
    if (rc < 0)
        free(ring);
    else
        *out = ring;
    return rc;
}

void shmemi_request_rings_free(void)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < DEVICES_MOST; i++) {
            struct shmemi_request_ring *ring = atomic_load_explicit(&rings[kind][i], memory_order_acquire); /* [ring] */
            if (!ring || ring->in_use || ring->held)
                continue;
            ring->hal->free_words(&ring->words);
            free(ring);
            atomic_store_explicit(&rings[kind][i], NULL, memory_order_relaxed);
        }
}

static int kind_of(const struct shmemi_stream *stream)
{
    SHMEMI_ASSERT(stream->stream.device >= 0 && stream->stream.device < DEVICES_MOST);
    return shmemi_device_index(stream->hal);
}

static _Atomic(struct shmemi_request_ring *) *place_of_ring(const struct shmemi_stream *stream)
{
    return &rings[kind_of(stream)][stream->stream.device];
}

/* Under `making`. */
static int make_ring(const struct shmemi_stream *stream, struct shmemi_request_ring **out)
{
    struct unable *unable = &unables[kind_of(stream)][stream->stream.device];
    int rc = shmemi_proxy_start();
    if (rc < 0 || (rc = new_ring(stream->hal, stream->stream.device, out)) != -ENOTSUP)
        return rc;
    if (!atomic_load_explicit(&unable->known, memory_order_relaxed)) {
        snprintf(unable->text, sizeof unable->text, "%s", shmemi_last_error());
        atomic_store_explicit(&unable->known, true, memory_order_release); /* [unable] */
    }
    return rc;
}

static int ring_of(const struct shmemi_stream *stream, struct shmemi_request_ring **out)
{
    _Atomic(struct shmemi_request_ring *) *at = place_of_ring(stream);
    const struct unable *unable = &unables[kind_of(stream)][stream->stream.device];
    int rc = 0;
    /* [ring] acquire pairs with the release below: it is complete. */
    if ((*out = atomic_load_explicit(at, memory_order_acquire)))
        return 0;
    if (atomic_load_explicit(&unable->known, memory_order_acquire)) /* [unable] pairs with make_ring(): the text */
        return shmemi_fail(-ENOTSUP, "%s", unable->text);
    pthread_mutex_lock(&making);
    if (!(*out = atomic_load_explicit(at, memory_order_relaxed)) && (rc = make_ring(stream, out)) == 0)
        atomic_store_explicit(at, *out, memory_order_release); /* [ring] */
    pthread_mutex_unlock(&making);
    return rc;
}

int shmemi_requests_able(struct shmemi_stream *stream)
{
    struct shmemi_request_ring *ring;
    int rc = shmemi_device_check_process();
    return rc < 0 ? rc : ring_of(stream, &ring);
}

static size_t index_of(const struct shmemi_request_place *place)
{
    return (size_t)(place - place->ring->places);
}

static uint64_t *told(const struct shmemi_request_place *place)
{
    return shmemi_words_told(&place->ring->words, index_of(place));
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static struct shmemi_request_line *line_of(const struct shmemi_stream *stream)
{
    for (struct shmemi_request_line *line = shmemi_request_lines; line; line = line->next)
        if (line->hal == stream->hal && line->stream.device == stream->stream.device &&
            line->stream.driver == stream->stream.driver)
            return line;
    struct shmemi_request_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    *line = (struct shmemi_request_line){.hal = stream->hal, .stream = stream->stream, .next = shmemi_request_lines};
    return shmemi_request_lines = line;
}

static int append(struct shmemi_request_ring *ring, struct shmemi_stream *stream, struct shmemi_request *request,
                  struct shmemi_request_place **out)
{
    struct shmemi_request_place *place = ring->free;
    if (shmemi_proxy_ends())
        return shmemi_fail(-ECANCELED, "the process ends");
    if (!place)
        return shmemi_fail(
            -EAGAIN, "%d requests are pending on the streams of %s device %d, as many as there can be: finish one",
            SHMEMI_REQUESTS_MOST, ring->hal->maker, stream->stream.device);
    struct shmemi_request_line *line = line_of(stream);
    if (!line)
        return shmemi_fail(-ENOMEM, "no memory for a request of a stream");
    ring->free = place->next;
    ring->in_use++;
    *place = (struct shmemi_request_place){.ring = ring,
                                           .request = request,
                                           .stream = stream,
                                           .number = place->number + 1,
                                           .holds = request->holds,
                                           .waits = request->waits,
                                           .queuing = true};
    *(line->first ? &line->last->next : &line->first) = place;
    line->last = place;
    ring->held += request->holds && !stream->held;
    stream->held = stream->held || request->holds;
    stream->holders++;
    atomic_fetch_add_explicit(&stream->pending, 1, memory_order_relaxed); /* read by this thread, and under the lock */
    *out = place;
    return 0;
}

/* Takes the place out of its line, for others to use. */
static void retire(struct shmemi_request_line *line, struct shmemi_request_place *place)
{
    struct shmemi_request_place **at = &line->first, *before = NULL;
    struct shmemi_request_ring *ring = place->ring;
    struct shmemi_stream *stream = place->stream;
    for (; *at != place; at = &before->next)
        before = *at;
    *at = place->next;
    if (line->last == place)
        line->last = before;
    __atomic_store_n(told(place), 0, __ATOMIC_RELAXED); /* the next that tells is queued under the lock */
    place->next = ring->free;
    ring->free = place;
    ring->in_use--;
    /* [pending] release: whoever waits for it sees what was done. */
    bool last = atomic_fetch_sub_explicit(&stream->pending, 1, memory_order_release) == 1;
    if (--stream->holders == 0 && stream->forgotten)
        free(stream);
    else if (last)
        shmemi_futex_wake(&stream->pending, INT_MAX);
}

void shmemi_request_passed(struct shmemi_stream *stream)
{
    if (!stream->held) /* only its own thread changes this */
        return;
    pthread_mutex_lock(&shmemi_requests_lock);
    atomic_load_explicit(place_of_ring(stream), memory_order_relaxed)->held--; /* made before, by this thread */
    stream->held = false;
    pthread_mutex_unlock(&shmemi_requests_lock);
}

/* --- failing ------------------------------------------------------------------------------------------------------ */

/* With this thread's error text. */
static void fail_stream(struct shmemi_stream *stream, int rc)
{
    if (atomic_load_explicit(&stream->failed, memory_order_relaxed)) /* under the lock */
        return;
    snprintf(stream->failure, sizeof stream->failure, "%s", shmemi_last_error());
    atomic_store_explicit(&stream->failed, rc, memory_order_release); /* [failed] */
}

int shmemi_stream_check(const struct shmemi_stream *stream)
{
    /* [failed] acquire pairs with the release in fail_stream(): the text is there. */
    int rc = atomic_load_explicit(&stream->failed, memory_order_acquire);
    return rc < 0 ? shmemi_fail(rc, "the stream failed: %s", stream->failure) : 0;
}

static void over(struct shmemi_request_place *place, bool done)
{
    struct shmemi_request *request = place->request;
    place->request = NULL;
    request->drop(request, done);
}

/* --- queuing ------------------------------------------------------------------------------------------------------ */

struct queued {
    const struct shmemi_request_place *place;
    uint64_t number;
    bool holds, *told;
};

static int work_request(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream, const void *what)
{
    const struct queued *q = what;
    const struct shmemi_device_words *words = &q->place->ring->words;
    int rc = *q->told ? 0 : hal->tell(words, index_of(q->place), stream);
    *q->told = rc == 0;
    return rc == 0 && q->holds ? hal->hold(words, index_of(q->place), q->number, stream) : rc;
}

/* The driver has been given it, or not, or only half of it. */
static void settle(struct shmemi_request_place *place, int rc, bool was_told)
{
    place->queuing = false;
    if (rc == 0)
        return;
    place->request = NULL; /* the caller's again */
    if (was_told)
        fail_stream(place->stream, rc); /* the place is free once the stream has come there */
    else
        retire(line_of(place->stream), place);
}

int shmemi_request_queue(struct shmemi_stream *stream, struct shmemi_request *request)
{
    struct shmemi_request_ring *ring;
    struct shmemi_request_place *place = NULL;
    int rc = shmemi_device_check_process();
    if (rc < 0 || (rc = shmemi_stream_check(stream)) < 0 || (rc = ring_of(stream, &ring)) < 0)
        return rc;
    pthread_mutex_lock(&shmemi_requests_lock);
    rc = append(ring, stream, request, &place);
    pthread_mutex_unlock(&shmemi_requests_lock);
    if (rc < 0)
        return rc;
    bool was_told = false;
    struct queued q = {place, place->number, request->holds, &was_told};
    rc = shmemi_device_submit(stream->hal, stream->stream, work_request, &q);
    pthread_mutex_lock(&shmemi_requests_lock);
    settle(place, rc, was_told);
    pthread_mutex_unlock(&shmemi_requests_lock);
    shmemi_proxy_kick();
    return rc;
}

/* --- doing -------------------------------------------------------------------------------------------------------- */

/* Looks at one that is not over; first: nothing of its stream is before it. */
static void look_at(struct shmemi_request_place *place, bool first, bool closely)
{
    bool come = first && place->come;
    if (!place->request || (!come && !closely))
        return;
    if (atomic_load_explicit(&place->stream->failed, memory_order_relaxed)) { /* under the lock */
        over(place, false);
        return;
    }
    int rc = place->request->look(place->request, !come     ? SHMEMI_LOOK_EARLY
                                                  : closely ? SHMEMI_LOOK_CLOSELY
                                                            : SHMEMI_LOOK_QUICK);
    if (rc < 0)
        fail_stream(place->stream, rc);
    if (rc != 0)
        over(place, rc > 0);
}

/* What is over, and past which the stream is, or will go now. */
static bool is_past(struct shmemi_request_place *place)
{
    bool gone = place->lost || place->stream->ended; /* nobody waits there, nor ever will */
    if (place->request || !(place->come || gone))
        return false;
    /* A driver that refuses is asked again; one that goes on refusing ends the stream by itself. */
    return !place->holds || gone || place->ring->hal->let_go(&place->ring->words, index_of(place), place->number) == 0;
}

static bool serve(struct shmemi_request_line *line, bool closely)
{
    bool moved = false;
    struct shmemi_request_place *place;
    while ((place = line->first) && !place->queuing) {
        /* Acquire: as of shmemi_words_told(). */
        place->come = place->come || __atomic_load_n(told(place), __ATOMIC_ACQUIRE) == 1;
        if (place->request && !place->come && (place->lost || place->stream->ended))
            over(place, false); /* the driver has lost it */
        look_at(place, true, closely);
        if (!is_past(place))
            break;
        retire(line, place);
        moved = true;
    }
    for (place = place ? place->next : NULL; closely && place; place = place->next)
        if (!place->queuing)
            look_at(place, false, true);
    return moved;
}

bool shmemi_requests_serve(bool closely)
{
    bool moved = false;
    for (struct shmemi_request_line **at = &shmemi_request_lines; *at;) {
        struct shmemi_request_line *line = *at;
        moved |= serve(line, closely);
        if (line->first) {
            at = &line->next;
        } else {
            *at = line->next;
            free(line);
        }
    }
    return moved;
}

/* The stream waits there for somebody else. */
static bool is_held(const struct shmemi_request_place *place)
{
    return place->request && place->come && place->waits;
}

bool shmemi_requests_all_wait(void)
{
    for (const struct shmemi_request_line *line = shmemi_request_lines; line; line = line->next)
        if (!line->first || !is_held(line->first))
            return false;
    return true;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* Of one stream, or of all. Under the lock. */
static void drop_all(const struct shmemi_stream *stream, int rc)
{
    for (const struct shmemi_request_line *line = shmemi_request_lines; line; line = line->next)
        for (struct shmemi_request_place *place = line->first; place; place = place->next)
            if (place->request && !place->queuing && (!stream || place->stream == stream)) {
                fail_stream(place->stream, rc);
                over(place, false);
            }
}

void shmemi_requests_give_up(struct shmemi_stream *stream, int rc)
{
    pthread_mutex_lock(&shmemi_requests_lock);
    fail_stream(stream, rc);
    drop_all(stream, rc);
    pthread_mutex_unlock(&shmemi_requests_lock);
    shmemi_proxy_kick();
}

void shmemi_requests_cancel(int rc, const char *text)
{
    pthread_mutex_lock(&shmemi_requests_lock);
    shmemi_fail(rc, "%s", text);
    drop_all(NULL, rc);
    pthread_mutex_unlock(&shmemi_requests_lock);
    shmemi_proxy_kick();
}

void shmemi_requests_let_all_go(void)
{
    for (const struct shmemi_request_line *line = shmemi_request_lines; line; line = line->next)
        for (struct shmemi_request_place *place = line->first; place; place = place->next)
            if (place->holds && !place->queuing)
                place->ring->hal->let_go(&place->ring->words, index_of(place), place->number);
}

/* 0, or what the driver says. A stream that the program has forgotten may be no more, and must not be named: then it
   is the device that is asked after. */
static int ask_after(const struct shmemi_request_line *line, bool *done)
{
    struct shmemi_device_info info;
    *done = false;
    return line->first->stream->forgotten ? line->hal->describe(line->stream.device, &info)
                                          : line->hal->query(line->stream, done);
}

/* A driver that is in error drops what is queued: then nobody ever comes to what is first. */
static void look_for_lost(struct shmemi_request_line *line)
{
    struct shmemi_request_place *place = line->first;
    bool done;
    if (!place || place->queuing || place->stream->ended || __atomic_load_n(told(place), __ATOMIC_ACQUIRE) == 1)
        return;
    int rc = ask_after(line, &done);
    if (rc == 0 && done && __atomic_load_n(told(place), __ATOMIC_ACQUIRE) != 1) {
        rc = shmemi_fail(-EIO, "the %s driver has dropped what was queued", line->hal->maker);
        for (struct shmemi_request_place *each = place; each; each = each->next)
            each->lost = !each->queuing;
    }
    if (rc < 0) {
        fail_stream(place->stream, rc);
        if (place->request)
            over(place, false);
    }
}

size_t shmemi_requests_pending(size_t *near)
{
    size_t count = 0;
    pthread_mutex_lock(&shmemi_requests_lock);
    *near = shmemi_requests_serve(true);
    for (struct shmemi_request_line *line = shmemi_request_lines; line; line = line->next) {
        look_for_lost(line);
        for (const struct shmemi_request_place *place = line->first; place; place = place->next)
            count += place->request != NULL;
        *near += line->first && !is_held(line->first);
    }
    pthread_mutex_unlock(&shmemi_requests_lock);
    return count;
}
