// SPDX-License-Identifier: Apache-2.0
// Queues of the extension interface: arguments are checked, and passed on to src/queue; where they lie is src/pool's.
#include "shmemx.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/kept.h"
#include "objects.h"
#include "queue/queue.h"

struct shmemx_queue {
    struct shmemi_object *object; /* NULL: it was closed */
    struct shmemi_queue *queue;
    struct shmemi_kept_link kept; /* of those that were closed */
};

/* Puts the function's name before the text of a failure. Nothing to do now is no failure to explain. */
static long named(const char *fn, long rc)
{
    return rc < 0 && rc != -EAGAIN ? shmemi_fail_in((int)rc, "%s", fn) : rc;
}
#define NAMED(rc) named(__func__, (rc))
#define NAMED_INT(rc) ((int)named(__func__, (rc)))

static int null(const char *what)
{
    return shmemi_fail(-EINVAL, "%s is NULL", what);
}

static struct shmemi_kept closed_ones = SHMEMI_KEPT(struct shmemx_queue, 256);

static void put_away(struct shmemx_queue *handle)
{
    if (!handle)
        return;
    handle->object = NULL;
    handle->queue = NULL;
    shmemi_kept_put(&closed_ones, handle);
}

/* Before each operation. */
static inline int enter(shmemx_queue_t queue)
{
    if (shmemi_likely(queue && shmemi_object_ready(queue->object, SHMEMI_OBJECT_QUEUE)))
        return 0;
    if (!queue || !queue->object)
        return queue ? shmemi_fail(-EBADF, "the queue's handle was closed") : null("the queue");
    return shmemi_object_enter(queue->object, SHMEMI_OBJECT_QUEUE);
}

/* Before a call that may wait. */
static int enter_timed(shmemx_queue_t queue, double seconds)
{
    int rc = enter(queue);
    if (rc == 0 && seconds != seconds)
        rc = shmemi_fail(-EINVAL, "seconds is no number");
    return rc;
}

/* ---- making, finding, handing over ---- */

static int config_of(const shmemx_queue_attr_t *attr, struct shmemi_queue_config *out)
{
    if (attr->consumers != SHMEMX_QUEUE_ONE && attr->consumers != SHMEMX_QUEUE_MANY)
        return shmemi_fail(-EINVAL, "consumers is %u: SHMEMX_QUEUE_ONE or SHMEMX_QUEUE_MANY is needed",
                           attr->consumers);
    if (!(attr->flush_seconds >= 0 && attr->flush_seconds <= 1e9))
        return shmemi_fail(-EINVAL, "flush_seconds is %g: from 0 (not by time) to 1e9 are possible",
                           attr->flush_seconds);
    *out = (struct shmemi_queue_config){.item_bytes = attr->item_bytes,
                                        .capacity = attr->capacity,
                                        .max_message = attr->max_message,
                                        .flush_ns = (int64_t)(attr->flush_seconds * 1e9),
                                        .batch = attr->batch,
                                        .producers = attr->producers,
                                        .many = attr->consumers == SHMEMX_QUEUE_MANY};
    return 0;
}

static shmemx_queue_attr_t attr_of(const struct shmemi_queue_config *c)
{
    return (shmemx_queue_attr_t){.item_bytes = c->item_bytes,
                                 .capacity = c->capacity,
                                 .batch = c->batch,
                                 .flush_seconds = (double)c->flush_ns / 1e9,
                                 .consumers = c->many ? SHMEMX_QUEUE_MANY : SHMEMX_QUEUE_ONE,
                                 .max_message = c->max_message,
                                 .producers = c->producers};
}

enum { SAID = 320, SAID_NOTE = 48 };

/* What a queue is to be, in words. The note is text where Python made it. */
static void say(const shmemx_queue_attr_t *attr, char said[SAID])
{
    char note[SAID_NOTE + 1] = "";
    const char *from = attr->note;
    bool shows = from && attr->note_bytes;
    for (size_t i = 0; shows && i < attr->note_bytes && i < SAID_NOTE; i++)
        shows = (note[i] = from[i]) >= ' ' && from[i] < 127;
    char item[48] = "messages";
    if (attr->item_bytes)
        snprintf(item, sizeof item, "items of %zu bytes", attr->item_bytes);
    snprintf(said, SAID, "%s%s%s, capacity %zu, batch %u, %s consumer, %zu a message, %u producers, flush %g s", item,
             shows ? " " : "", shows ? note : "", attr->capacity, attr->batch,
             attr->consumers == SHMEMX_QUEUE_ONE ? "one" : "any", attr->max_message, attr->producers,
             attr->flush_seconds);
}

static void init(void *shared, void *context)
{
    shmemi_queue_init(shared, context);
}

/* The object goes, and with it what was gathered for it. */
static void drop_queue(void *owner)
{
    struct shmemx_queue *handle = owner;
    if (handle->queue)
        shmemi_queue_close(handle->queue, true);
    handle->queue = NULL;
}

/* The handle of an object; without success the object's is closed. */
static int make_handle(struct shmemi_object *object, shmemx_queue_t *out)
{
    struct shmemx_queue *handle = shmemi_kept_take(&closed_ones);
    struct shmemi_queue_place place = {.shared = object->shared, .bytes = object->bytes, .site = &object->site};
    int rc = handle ? shmemi_queue_open(&place, &handle->queue) : -ENOMEM;
    if (rc < 0) {
        put_away(handle);
        shmemi_object_close(object);
        return rc;
    }
    handle->object = object;
    object->owner = handle;
    object->ending = drop_queue;
    *out = handle;
    return 0;
}

int shmemx_queue_create(shmemx_pool_t pool, const char *name, const shmemx_queue_attr_t *attr, shmemx_queue_t *out)
{
    struct shmemi_queue_config config;
    struct shmemi_queue_shape shape;
    struct shmemi_object *object;
    char said[SAID];
    if (!attr || !out)
        return NAMED_INT(null(attr ? "out" : "attr"));
    say(attr, said);
    int rc = config_of(attr, &config);
    if (rc == 0)
        rc = shmemi_queue_lay_out(&config, &shape);
    struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_QUEUE,
                                      .name = name,
                                      .bytes = shape.bytes,
                                      .init = init,
                                      .context = &shape,
                                      .note = attr->note,
                                      .note_bytes = attr->note ? attr->note_bytes : 0,
                                      .said = said};
    if (rc == 0)
        rc = shmemi_make_object(pool, &spec, &object);
    return NAMED_INT(rc < 0 ? rc : make_handle(object, out));
}

int shmemx_queue_find(shmemx_pool_t pool, const char *name, shmemx_queue_t *out)
{
    struct shmemi_object *object;
    if (!name || !out)
        return NAMED_INT(null(name ? "out" : "name"));
    int rc = shmemi_find_object(pool, name, SHMEMI_OBJECT_QUEUE, &object);
    return NAMED_INT(rc < 0 ? rc : make_handle(object, out));
}

int shmemx_queue_export(shmemx_queue_t queue, char key[SHMEMX_KEY_TEXT])
{
    int rc = enter(queue);
    if (rc == 0)
        rc = key ? shmemi_object_export(queue->object, key) : null("key");
    return NAMED_INT(rc);
}

int shmemx_queue_import(const char *key, shmemx_queue_t *out)
{
    struct shmemi_object *object;
    if (!key || !out)
        return NAMED_INT(null(key ? "out" : "key"));
    int rc = shmemi_object_import(key, SHMEMI_OBJECT_QUEUE, &object);
    return NAMED_INT(rc < 0 ? rc : make_handle(object, out));
}

int shmemx_queue_on(shmemx_queue_t queue, int pe, shmemx_queue_t *out)
{
    struct shmemi_object *object;
    int rc = enter(queue);
    if (rc == 0)
        rc = out ? shmemi_symmetric_on(queue->object, pe, &object) : null("out");
    return NAMED_INT(rc < 0 ? rc : make_handle(object, out));
}

int shmemx_queue_close(shmemx_queue_t queue)
{
    int entered = enter(queue);
    if (entered < 0 && entered != -ENOENT)
        return NAMED_INT(entered);
    int rc = queue->queue ? shmemi_queue_close(queue->queue, entered < 0) : 0,
        closed = shmemi_object_close(queue->object);
    put_away(queue);
    return NAMED_INT(rc < 0 ? rc : closed);
}

int shmemx_queue_destroy(shmemx_queue_t queue)
{
    int rc = enter(queue);
    if (rc < 0)
        return NAMED_INT(rc);
    rc = shmemi_end_object(queue->object, shmemi_queue_retire(queue->queue), NULL);
    if (!queue->queue)
        put_away(queue);
    return NAMED_INT(rc);
}

/* ---- producers ---- */

int shmemx_queue_push(shmemx_queue_t queue, const void *item, size_t bytes, double seconds)
{
    if (shmemi_likely(queue && queue->queue && item && shmemi_queue_push_quickly(queue->queue, item, bytes)))
        return 0;
    int rc = enter_timed(queue, seconds);
    if (shmemi_likely(rc == 0))
        rc = shmemi_likely(item || !bytes) ? shmemi_queue_push(queue->queue, item, bytes, seconds) : null("item");
    return shmemi_likely(rc == 0) ? 0 : NAMED_INT(rc);
}

int shmemx_queue_try_push(shmemx_queue_t queue, const void *item, size_t bytes)
{
    return shmemx_queue_push(queue, item, bytes, 0);
}

long shmemx_queue_push_many(shmemx_queue_t queue, const void *items, const size_t *sizes, size_t count, double seconds)
{
    long rc = enter_timed(queue, seconds);
    if (rc == 0 && !items && count)
        rc = null("items");
    if (rc == 0 && count > LONG_MAX)
        rc = shmemi_fail(-EINVAL, "count is %zu: that many do not exist", count);
    return NAMED(rc < 0 ? rc : shmemi_queue_push_many(queue->queue, items, sizes, count, seconds));
}

int shmemx_queue_flush(shmemx_queue_t queue, double seconds)
{
    int rc = enter_timed(queue, seconds);
    return NAMED_INT(rc < 0 ? rc : shmemi_queue_flush(queue->queue, seconds));
}

int shmemx_queue_reserve(shmemx_queue_t queue, size_t bytes, void **slot, double seconds)
{
    int rc = enter_timed(queue, seconds);
    if (rc == 0)
        rc = slot ? shmemi_queue_reserve(queue->queue, bytes, slot, seconds) : null("slot");
    return NAMED_INT(rc);
}

int shmemx_queue_commit(shmemx_queue_t queue, size_t bytes)
{
    int rc = enter(queue);
    return NAMED_INT(rc < 0 ? rc : shmemi_queue_commit(queue->queue, bytes));
}

int shmemx_queue_abort(shmemx_queue_t queue)
{
    int rc = enter(queue);
    return NAMED_INT(rc < 0 ? rc : shmemi_queue_abort(queue->queue));
}

int shmemx_queue_end(shmemx_queue_t queue, double seconds)
{
    int rc = enter_timed(queue, seconds);
    return NAMED_INT(rc < 0 ? rc : shmemi_queue_end(queue->queue, seconds));
}

/* ---- consumers ---- */

int shmemx_queue_pop(shmemx_queue_t queue, void *item, size_t room, size_t *bytes, double seconds)
{
    long rc = enter_timed(queue, seconds);
    if (shmemi_likely(rc == 0))
        rc = shmemi_likely(item || !room) ? shmemi_queue_pop_many(queue->queue, item, room, bytes, 1, seconds)
                                          : null("item");
    return shmemi_likely(rc > 0) ? 0 : NAMED_INT(rc);
}

int shmemx_queue_try_pop(shmemx_queue_t queue, void *item, size_t room, size_t *bytes)
{
    return shmemx_queue_pop(queue, item, room, bytes, 0);
}

long shmemx_queue_pop_many(shmemx_queue_t queue, void *items, size_t room, size_t *sizes, size_t most, double seconds)
{
    long rc = enter_timed(queue, seconds);
    if (rc == 0 && !items && room)
        rc = null("items");
    return NAMED(rc < 0 ? rc : shmemi_queue_pop_many(queue->queue, items, room, sizes, most, seconds));
}

int shmemx_queue_peek(shmemx_queue_t queue, const void **item, size_t *bytes, double seconds)
{
    int rc = enter_timed(queue, seconds);
    if (rc == 0)
        rc = item ? shmemi_queue_peek(queue->queue, item, bytes, seconds) : null("item");
    return NAMED_INT(rc);
}

int shmemx_queue_release(shmemx_queue_t queue)
{
    int rc = enter(queue);
    return NAMED_INT(rc < 0 ? rc : shmemi_queue_unpeek(queue->queue, true));
}

int shmemx_queue_put_back(shmemx_queue_t queue)
{
    int rc = enter(queue);
    return NAMED_INT(rc < 0 ? rc : shmemi_queue_unpeek(queue->queue, false));
}

/* ---- looking ---- */

int shmemx_queue_stats(shmemx_queue_t queue, shmemx_queue_stats_t *out)
{
    struct shmemi_queue_stats s;
    int rc = enter(queue);
    if (rc == 0 && !out)
        rc = null("out");
    if (rc < 0)
        return NAMED_INT(rc);
    shmemi_queue_stats(queue->queue, &s);
    *out = (shmemx_queue_stats_t){.attr = attr_of(&s.config),
                                  .length = s.length,
                                  .pushed = s.pushed,
                                  .popped = s.popped,
                                  .skipped = s.skipped,
                                  .gathered = s.gathered,
                                  .producers = s.producers,
                                  .ended = s.ended,
                                  .bytes = s.bytes};
    out->attr.note = queue->object->note;
    out->attr.note_bytes = queue->object->note_bytes;
    return 0;
}

long shmemx_queue_length(shmemx_queue_t queue)
{
    struct shmemi_queue_stats s;
    int rc = enter(queue);
    if (rc < 0)
        return NAMED(rc);
    shmemi_queue_stats(queue->queue, &s);
    return s.length < LONG_MAX ? (long)s.length : LONG_MAX;
}
