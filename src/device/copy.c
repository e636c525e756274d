// SPDX-License-Identifier: Apache-2.0
// Copies between any two of host and device memory, and words that streams write and wait for.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "device.h"
#include "device_internal.h"

enum { STAGE = 4 << 20 }; /* bytes of host memory between two devices that cannot reach each other */

/* Both ends of a copy. */
struct ends {
    struct shmemi_device_span *to, *from; /* NULL: host memory */
};

static int check_end(const struct shmemi_device_span *span, const void *address, size_t bytes, const char *which)
{
    size_t left = span ? span->bytes - (size_t)((const char *)address - span->begin) : bytes;
    if (bytes > left)
        return shmemi_fail(-EINVAL, "%zu bytes at the %s %p go beyond its device memory, which ends after %zu", bytes,
                           which, address, left);
    return span && span->pool ? shmemi_device_pool_check(span->pool, address, bytes, which) : 0;
}

/* Under the table's lock. */
static int find_ends(void *to, const void *from, size_t bytes, struct ends *out)
{
    out->to = shmemi_device_table_at(to);
    out->from = shmemi_device_table_at(from);
    int rc = check_end(out->to, to, bytes, "target");
    if (rc == 0)
        rc = check_end(out->from, from, bytes, "source");
    if (rc == 0 && out->to && out->to->read_only)
        rc = shmemi_fail(-EACCES, "the device memory at %p was imported for reading only", to);
    return rc;
}

/* Memory of others may be freed at any time: the driver is asked before it is touched, since a copy to where there is
   none could end the process. */
static int check_adopted(const struct ends *e)
{
    int rc = e->to && e->to->adopted ? shmemi_device_check_adopted(e->to->adopted) : 0;
    return rc == 0 && e->from && e->from->adopted ? shmemi_device_check_adopted(e->from->adopted) : rc;
}

/* Lets the device of a stream touch a span that lies on another. */
static int admit(struct shmemi_device_span *span, int device)
{
    /* [admitted] relaxed, as below: several copies hold the lock together, and being let in twice does no harm. */
    if (!span || span->device == device || __atomic_load_n(&span->admitted, __ATOMIC_RELAXED) >> device & 1)
        return 0;
    int rc = span->memory ? span->hal->admit(span->memory, device) : span->hal->reach(device, span->device);
    if (rc == 0)
        __atomic_fetch_or(&span->admitted, (uint64_t)1 << device, __ATOMIC_RELAXED); /* [admitted] */
    return rc;
}

struct piece {
    void *to;
    const void *from;
    size_t bytes;
    enum shmemi_device_direction direction;
};

static int work_copy(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream, const void *what)
{
    const struct piece *c = what;
    return hal->copy(c->to, c->from, c->bytes, c->direction, stream);
}

static enum shmemi_device_direction direction_of(const struct ends *e)
{
    return !e->from ? SHMEMI_TO_DEVICE : e->to ? SHMEMI_DEVICE_TO_DEVICE : SHMEMI_FROM_DEVICE;
}

/* One copy that one device can make, and waits for it. */
static int copy_by(const struct shmemi_device_hal *hal, int device, const struct piece *c)
{
    struct shmemi_device_stream stream;
    int rc = shmemi_device_own_stream(hal, device, &stream);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_device_submit(hal, stream, work_copy, c)) == 0)
        rc = hal->finish(stream);
    shmemi_device_let_stream_go(hal, device);
    return rc;
}

/* By way of the host, piece by piece; where the ends overlap, in the order in which nothing is overwritten unread. */
static int copy_staged(const struct ends *e, char *to, const char *from, size_t bytes)
{
    char *stage = malloc(bytes < STAGE ? bytes : STAGE);
    bool backwards = (uintptr_t)to > (uintptr_t)from;
    int rc = stage ? 0 : shmemi_fail(-ENOMEM, "no host memory for a copy between two devices");
    for (size_t done = 0, n; rc == 0 && done < bytes; done += n) {
        n = bytes - done < STAGE ? bytes - done : STAGE;
        size_t at = backwards ? bytes - done - n : done;
        rc = copy_by(e->from->hal, e->from->device, &(struct piece){stage, from + at, n, SHMEMI_FROM_DEVICE});
        if (rc == 0)
            rc = copy_by(e->to->hal, e->to->device, &(struct piece){to + at, stage, n, SHMEMI_TO_DEVICE});
    }
    free(stage);
    return rc;
}

/* An address that is in no pool and no import: -EINVAL where a driver knows it as a device's, so that it is not touched
   as if it were the host's. */
static int check_host(const void *address)
{
    struct shmemi_device_pointer what;
    const struct shmemi_device_hal *hal;
    for (int i = 0; (hal = shmemi_device_hal(i)); i++)
        if (shmemi_device_is_open(hal) && hal->describe_pointer(address, &what) == 0 && what.device)
            return shmemi_fail(-EINVAL,
                               "%p is memory of %s device %d that this library does not know: adopt it "
                               "(shmemx_device_adopt), or copy to and from memory of a pool",
                               address, hal->maker, what.number);
    return 0;
}

static int copy_on_host(void *to, const void *from, size_t bytes)
{
    int rc = check_host(to);
    if (rc == 0 && (rc = check_host(from)) == 0)
        memmove(to, from, bytes);
    return rc;
}

/* Whether these are what the device asks for in copies between its memory and its memory; other copies take anything.
 */
static bool are_aligned(const struct ends *e, uintptr_t to, uintptr_t from)
{
    return !e->to || !e->from || ((to | from) & (e->to->hal->copy_align - 1)) == 0;
}

/* Bytes up to where both ends are aligned so; 0 also where they never are. */
static size_t head_of(const struct ends *e, uintptr_t to, uintptr_t from)
{
    size_t within = e->to && e->from ? e->to->hal->copy_align - 1 : 0;
    return (to ^ from) & within ? 0 : -to & within;
}

/* 1: one device can make the copy, of which one end at least is device memory; 0: it goes by way of the host; or
   negative errno. */
static int is_direct(const struct ends *e, uintptr_t to, uintptr_t from)
{
    if (!e->to || !e->from)
        return 1;
    if (e->to->hal != e->from->hal || !are_aligned(e, to, from))
        return 0;
    int rc = admit(e->from, e->to->device);
    return rc == 0 ? 1 : rc == -ENOTSUP ? 0 : rc; /* cannot reach it */
}

/* Within device memory no driver promises what becomes of that. */
static bool overlap(const struct ends *e, const char *to, const char *from, size_t bytes)
{
    uintptr_t t = (uintptr_t)to, f = (uintptr_t)from;
    return e->to && e->to == e->from && t - f + bytes - 1 < 2 * bytes - 1;
}

static int copy_between(const struct ends *e, char *to, const char *from, size_t bytes)
{
    const struct shmemi_device_span *main = e->to ? e->to : e->from;
    if (!main)
        return copy_on_host(to, from, bytes);
    if (overlap(e, to, from, bytes))
        return to == from ? 0 : copy_staged(e, to, from, bytes);
    size_t head = head_of(e, (uintptr_t)to, (uintptr_t)from);
    int rc = head < bytes ? is_direct(e, (uintptr_t)to + head, (uintptr_t)from + head) : 0;
    if (rc <= 0)
        return rc < 0 ? rc : copy_staged(e, to, from, bytes);
    if (head && (rc = copy_staged(e, to, from, head)) < 0)
        return rc;
    return copy_by(main->hal, main->device, &(struct piece){to + head, from + head, bytes - head, direction_of(e)});
}

static int copy(void *to, const void *from, size_t bytes, bool known)
{
    struct ends e;
    int rc = shmemi_device_check_process();
    if (rc < 0 || bytes == 0)
        return rc;
    shmemi_device_table_lock();
    if ((rc = find_ends(to, from, bytes, &e)) == 0 && known && !e.to && !e.from)
        rc = shmemi_fail(-ENOENT, "the device memory at %p or %p is no more", to, from);
    if (rc == 0 && (rc = check_adopted(&e)) == 0)
        rc = copy_between(&e, to, from, bytes);
    shmemi_device_table_unlock();
    return rc;
}

int shmemi_device_copy(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, false);
}

int shmemi_device_copy_known(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, true);
}

/* --- begun, and waited for later -----------------------------------------------------------------------------------
 */

static int begin_by(const struct shmemi_device_hal *hal, int device, const struct piece *c)
{
    struct shmemi_device_stream stream;
    int rc = shmemi_device_own_stream(hal, device, &stream);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_device_submit(hal, stream, work_copy, c)) == 0)
        shmemi_device_note_begun(hal, device);
    shmemi_device_let_stream_go(hal, device);
    return rc;
}

int shmemi_device_copy_begin(void *to, const void *from, size_t bytes)
{
    struct ends e;
    int rc = shmemi_device_check_process();
    if (rc < 0 || bytes == 0)
        return rc;
    shmemi_device_table_lock();
    rc = find_ends(to, from, bytes, &e);
    const struct shmemi_device_span *main = rc < 0 ? NULL : e.to ? e.to : e.from;
    int direct = main && !overlap(&e, to, from, bytes) ? is_direct(&e, (uintptr_t)to, (uintptr_t)from) : 0;
    if (rc == 0 && direct > 0)
        rc = begin_by(main->hal, main->device, &(struct piece){to, from, bytes, direction_of(&e)});
    else if (rc == 0)
        rc = direct < 0 ? direct : copy_between(&e, to, from, bytes);
    shmemi_device_table_unlock();
    return rc;
}

/* --- many at once ------------------------------------------------------------------------------------------------- */

struct blocks {
    char *to;
    const char *from;
    size_t to_step, from_step, bytes, count;
};

/* All that one device can make, and one wait. What was queued before a failure is waited for, too. */
static int blocks_by(const struct shmemi_device_hal *hal, int device, const struct blocks *b,
                     enum shmemi_device_direction direction)
{
    struct shmemi_device_stream stream;
    int rc = shmemi_device_own_stream(hal, device, &stream), queued = rc;
    if (rc < 0)
        return rc;
    for (size_t i = 0; queued == 0 && i < b->count; i++)
        queued = shmemi_device_submit(
            hal, stream, work_copy,
            &(struct piece){b->to + i * b->to_step, b->from + i * b->from_step, b->bytes, direction});
    rc = hal->finish(stream);
    shmemi_device_let_stream_go(hal, device);
    return queued < 0 ? queued : rc;
}

static int blocks_between(const struct ends *e, const struct blocks *b)
{
    const struct shmemi_device_span *main = e->to ? e->to : e->from;
    int rc = main ? is_direct(e, (uintptr_t)b->to | b->to_step, (uintptr_t)b->from | b->from_step) : 0;
    if (rc != 0)
        return rc < 0 ? rc : blocks_by(main->hal, main->device, b, direction_of(e));
    for (size_t i = 0; rc == 0 && i < b->count; i++)
        rc = copy_between(e, b->to + i * b->to_step, b->from + i * b->from_step, b->bytes);
    return rc;
}

int shmemi_device_copy_blocks(void *to, size_t to_step, const void *from, size_t from_step, size_t bytes, size_t count)
{
    const struct blocks b = {to, from, to_step, from_step, bytes, count};
    struct ends e;
    int rc = shmemi_device_check_process();
    if (rc < 0 || bytes == 0 || count == 0)
        return rc;
    size_t whole_to = (count - 1) * to_step + bytes, whole_from = (count - 1) * from_step + bytes;
    shmemi_device_table_lock();
    if ((rc = find_ends(to, from, bytes, &e)) == 0 && (rc = check_end(e.to, to, whole_to, "target")) == 0 &&
        (rc = check_end(e.from, from, whole_from, "source")) == 0 && (rc = check_adopted(&e)) == 0)
        rc = blocks_between(&e, &b);
    shmemi_device_table_unlock();
    return rc;
}

int shmemi_device_clear(void *at, size_t bytes)
{
    enum { ZEROS = 1 << 20 };
    size_t piece = bytes < ZEROS ? bytes : ZEROS, rest = piece ? bytes % piece : 0;
    char *zeros = calloc(1, piece ? piece : 1);
    if (!zeros)
        return shmemi_fail(-ENOMEM, "no host memory to clear a device's from");
    int rc = piece ? shmemi_device_copy_blocks(at, piece, zeros, 0, piece, bytes / piece) : 0;
    if (rc == 0 && rest)
        rc = shmemi_device_copy((char *)at + (bytes - rest), zeros, rest);
    free(zeros);
    return rc;
}

/* --- on a stream -------------------------------------------------------------------------------------------------- */

static int check_on(const struct shmemi_stream *stream, struct shmemi_device_span *span, const void *address)
{
    if (!span)
        return 0;
    if (span->hal != stream->hal)
        return shmemi_fail(-EINVAL, "%p is %s memory, and the stream is of a %s device", address, span->hal->maker,
                           stream->hal->maker);
    return admit(span, stream->stream.device);
}

static int check_aligned(const struct ends *e, const void *to, const void *from, size_t bytes)
{
    if (overlap(e, to, from, bytes))
        return shmemi_fail(-EINVAL, "the %zu bytes at %p and at %p overlap: copy without a stream", bytes, to, from);
    if (are_aligned(e, (uintptr_t)to, (uintptr_t)from))
        return 0;
    return shmemi_fail(
        -ENOTSUP,
        "%p and %p are not both at multiples of %zu bytes, which %s devices ask for in copies between their "
        "memory and their memory: copy without a stream, or from or to host memory",
        to, from, e->to->hal->copy_align, e->to->hal->maker);
}

int shmemi_device_copy_on(struct shmemi_stream *stream, void *to, const void *from, size_t bytes)
{
    struct ends e;
    int rc = shmemi_stream_check(stream);
    if (rc < 0 || bytes == 0)
        return rc < 0 ? rc : shmemi_device_check_process();
    shmemi_device_table_lock();
    if ((rc = find_ends(to, from, bytes, &e)) == 0 && !e.to && !e.from)
        rc = shmemi_fail(-EINVAL,
                         "neither %p nor %p is device memory that this library knows: a stream copies to or from a "
                         "device's memory",
                         to, from);
    if (rc == 0 && (rc = check_on(stream, e.to, to)) == 0 && (rc = check_on(stream, e.from, from)) == 0 &&
        (rc = check_aligned(&e, to, from, bytes)) == 0)
        rc = shmemi_device_submit(stream->hal, stream->stream, work_copy,
                                  &(struct piece){to, from, bytes, direction_of(&e)});
    shmemi_device_table_unlock();
    return rc;
}

struct word {
    void *at;
    uint64_t value;
    enum shmemi_device_compare compare;
};

static int work_write(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream, const void *what)
{
    const struct word *w = what;
    return hal->write_value(w->at, w->value, stream);
}

static int work_wait(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream, const void *what)
{
    const struct word *w = what;
    return hal->wait_value(w->at, w->value, w->compare, stream);
}

static int on_word(struct shmemi_stream *stream, const struct word *w, bool writes)
{
    shmemi_device_table_lock();
    struct shmemi_device_span *span = shmemi_device_table_at(w->at);
    int rc = shmemi_stream_check(stream);
    if (rc < 0)
        ;
    else if (!span)
        rc = shmemi_fail(-EINVAL, "the word at %p is in no device memory that this library knows", w->at);
    else if ((uintptr_t)w->at % 8)
        rc = shmemi_fail(-EINVAL, "the word at %p is not at a multiple of 8 bytes", w->at);
    else if (writes && span->read_only)
        rc = shmemi_fail(-EACCES, "the device memory at %p was imported for reading only", w->at);
    if (rc == 0 && (rc = check_end(span, w->at, 8, "word")) == 0 && (rc = check_on(stream, span, w->at)) == 0)
        rc = shmemi_device_submit(stream->hal, stream->stream, writes ? work_write : work_wait, w);
    shmemi_device_table_unlock();
    return rc;
}

int shmemi_device_write_on(struct shmemi_stream *stream, void *at, uint64_t value)
{
    return on_word(stream, &(struct word){at, value, SHMEMI_UNTIL_EQUAL}, true);
}

int shmemi_device_wait_on(struct shmemi_stream *stream, const void *at, uint64_t value,
                          enum shmemi_device_compare compare)
{
    return on_word(stream, &(struct word){(void *)(uintptr_t)at, value, compare}, false);
}
