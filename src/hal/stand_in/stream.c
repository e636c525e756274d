// SPDX-License-Identifier: Apache-2.0
// Streams: what is given to one is done at once, by the thread that gives it, unless something before it waits; then it
// is queued, and the worker goes on with it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stand_in.h"

typedef struct shmemi_stand_in_operation operation;

struct stream {
    struct stream *next;
    int visits; /* of the worker, which holds no lock meanwhile; under the list's lock, as is `next` */
    /* The rest under its own lock, which is not held while something is done: */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    operation *first, *last;
    bool busy;  /* somebody is doing the first, or what need not be queued */
    int failed; /* with the first thing that could not be done when its time had come; 0: it has not */
    char failure[256];
};

/* The default one, which is always there; then the others. */
static struct stream usual = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER; /* taken before a stream's own */
static pthread_cond_t visited = PTHREAD_COND_INITIALIZER;
static atomic_bool abandoned;

/* Handles come from programs (shmemx_stream_wrap). */
static int find(struct shmemi_device_stream stream, struct stream **out)
{
    pthread_mutex_lock(&listing);
    struct stream *s = &usual;
    while (s && stream.driver && s != stream.driver)
        s = s->next;
    pthread_mutex_unlock(&listing);
    *out = s;
    return s ? 0
             : shmemi_fail(-EBADFD,
                           "%p is no stream: host memory stands in for the device, and has only the streams that "
                           "this library made",
                           stream.driver);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* 1: done; 0: not yet; or why not. */
static int attempt(const operation *o)
{
    uint64_t now = 0;
    int rc = o->what == SHMEMI_STAND_IN_COPY    ? shmemi_stand_in_copy(o->to, o->from, o->bytes)
             : o->what == SHMEMI_STAND_IN_WRITE ? shmemi_stand_in_store(o->to, o->value)
                                                : shmemi_stand_in_load(o->from, &now);
    if (rc == 0 && o->what == SHMEMI_STAND_IN_WAIT)
        return o->compare == SHMEMI_UNTIL_EQUAL ? now == o->value : now >= o->value;
    if (rc == 0)
        shmemi_stand_in_kick(); /* somebody may wait for what was written */
    return rc < 0 ? rc : 1;
}

/* Under the lock, of which nobody else does anything then. */
static int attempt_unlocked(struct stream *s, const operation *o)
{
    s->busy = true;
    pthread_mutex_unlock(&s->lock);
    int rc = attempt(o);
    pthread_mutex_lock(&s->lock);
    s->busy = false;
    pthread_cond_broadcast(&s->moved);
    return rc;
}

static int append(struct stream *s, const operation *what)
{
    int rc = shmemi_stand_in_work();
    operation *o = rc == 0 ? malloc(sizeof *o) : NULL;
    if (!o)
        return rc < 0 ? rc : shmemi_fail(-ENOMEM, "no memory to queue anything on a stream");
    *o = *what;
    o->next = NULL;
    if (!s->first)
        atomic_fetch_add_explicit(&shmemi_stand_in_waiting, 1, memory_order_relaxed); /* [waiting] before the kick */
    *(s->first ? &s->last->next : &s->first) = o;
    s->last = o;
    return 0;
}

int shmemi_stand_in_submit(struct shmemi_device_stream stream, const operation *what)
{
    struct stream *s;
    int done = 0, rc = find(stream, &s);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&s->lock);
    if (!s->first && !s->busy)
        done = attempt_unlocked(s, what);
    rc = done < 0 ? done : done ? 0 : append(s, what);
    pthread_mutex_unlock(&s->lock);
    if (!done && rc == 0)
        shmemi_stand_in_kick();
    return rc;
}

/* Under the lock: takes the first out. */
static void pop(struct stream *s)
{
    operation *gone = s->first;
    if (!(s->first = gone->next))
        atomic_fetch_sub_explicit(&shmemi_stand_in_waiting, 1, memory_order_relaxed); /* [waiting] */
    free(gone);
}

/* Under the lock. What fails ends nothing behind it, and is told whenever the stream is asked from then on. */
static bool step(struct stream *s)
{
    int rc = attempt_unlocked(s, s->first);
    if (rc < 0 && !s->failed) {
        s->failed = rc;
        snprintf(s->failure, sizeof s->failure, "%s", shmemi_last_error());
    }
    if (rc)
        pop(s);
    return rc != 0;
}

/* --- for the worker ----------------------------------------------------------------------------------------------- */

/* As far as it goes. */
static bool advance(struct stream *s, bool *look)
{
    bool moved = false;
    pthread_mutex_lock(&s->lock);
    while (s->first && !s->busy && step(s))
        moved = true;
    *look |= s->first && (s->busy || !s->first->kicked);
    if (moved)
        pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    return moved;
}

bool shmemi_stand_in_advance(bool *look)
{
    bool moved = false;
    *look = false;
    pthread_mutex_lock(&listing);
    for (struct stream *s = &usual; s; s = s->next) {
        s->visits++;
        pthread_mutex_unlock(&listing);
        moved |= advance(s, look);
        pthread_mutex_lock(&listing);
        s->visits--;
        pthread_cond_broadcast(&visited);
    }
    pthread_mutex_unlock(&listing);
    return moved;
}

void shmemi_stand_in_abandon(void)
{
    pthread_mutex_lock(&listing);
    atomic_store_explicit(&abandoned, true, memory_order_relaxed); /* [abandoned] read under the lock of a stream */
    for (struct stream *s = &usual; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        pthread_cond_broadcast(&s->moved);
        pthread_mutex_unlock(&s->lock);
    }
    pthread_mutex_unlock(&listing);
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

int shmemi_stand_in_create_stream(int device, struct shmemi_device_stream *out)
{
    int rc = shmemi_stand_in_check(device);
    struct stream *s = rc == 0 ? calloc(1, sizeof *s) : NULL;
    *out = (struct shmemi_device_stream){device, s};
    if (!s)
        return rc < 0 ? rc : shmemi_fail(-ENOMEM, "no memory for a stream");
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->moved, NULL);
    pthread_mutex_lock(&listing);
    s->next = usual.next;
    usual.next = s;
    pthread_mutex_unlock(&listing);
    return 0;
}

/* Under the lock. At the end of the process nobody goes on with it. */
static int drain(struct stream *s)
{
    while (s->first || s->busy) {
        if (atomic_load_explicit(&abandoned, memory_order_relaxed)) /* [abandoned] */
            return shmemi_fail(-EIO, "the process ends, and the stream still waits");
        pthread_cond_wait(&s->moved, &s->lock);
    }
    return 0;
}

int shmemi_stand_in_finish(struct shmemi_device_stream stream)
{
    struct stream *s;
    int rc = find(stream, &s);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&s->lock);
    if ((rc = drain(s)) == 0 && s->failed)
        rc = shmemi_fail(s->failed, "%s", s->failure);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int shmemi_stand_in_query(struct shmemi_device_stream stream, bool *done)
{
    struct stream *s;
    int rc = find(stream, &s);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&s->lock);
    *done = !s->first && !s->busy;
    if (*done && s->failed)
        rc = shmemi_fail(s->failed, "%s", s->failure);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static void unlist(struct stream *s)
{
    pthread_mutex_lock(&listing);
    while (s->visits)
        pthread_cond_wait(&visited, &listing);
    struct stream *before = &usual;
    while (before->next != s)
        before = before->next;
    before->next = s->next;
    pthread_mutex_unlock(&listing);
}

void shmemi_stand_in_destroy_stream(struct shmemi_device_stream *stream)
{
    struct stream *s;
    if (find(*stream, &s) < 0 || s == &usual)
        return;
    pthread_mutex_lock(&s->lock);
    drain(s);
    pthread_mutex_unlock(&s->lock);
    unlist(s);
    while (s->first)
        pop(s);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->moved);
    free(s);
    stream->driver = NULL;
}
