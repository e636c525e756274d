// SPDX-License-Identifier: Apache-2.0
// Memory of devices, of the extension interface: arguments are checked, and passed on to src/device.
#include "device/device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "claims.h"
#include "named.h"
#include "opaque.h"
#include "shmemx.h"

_Static_assert(SHMEMX_UNTIL_AT_LEAST == (int)SHMEMI_UNTIL_AT_LEAST && SHMEMX_UNTIL_EQUAL == (int)SHMEMI_UNTIL_EQUAL,
               "one list of comparisons");

static int null(const char *what)
{
    return shmemi_fail(-EINVAL, "%s is NULL", what);
}

static int enter_pool(shmemx_device_pool_t pool, struct shmemi_device_pool **out)
{
    void *inner = NULL;
    int rc = shmemi_opaque_enter(pool, SHMEMI_OPAQUE_DEVICE_POOL, "pool", &inner);
    *out = inner;
    return rc;
}

/* ---- devices ---- */

int shmemx_device_count(const char *type)
{
    const struct shmemi_device_hal *hal;
    int count = 0, rc = type ? shmemi_device_look_up(type, &hal, &count) : null("type");
    return rc < 0 ? NAMED(rc) : count;
}

int shmemx_device_stands_in(const char *type)
{
    const struct shmemi_device_hal *hal;
    int rc = type ? shmemi_device_look_up(type, &hal, NULL) : null("type");
    return rc < 0 || !hal->stands_in ? NAMED(rc) : shmemi_fail(1, "%s", shmemi_device_why_not(hal));
}

int shmemx_device_info(const char *type, int number, shmemx_device_info_t *out)
{
    const struct shmemi_device_hal *hal;
    struct shmemi_device_info info;
    int rc = type && out ? shmemi_device_look_up(type, &hal, NULL) : null(type ? "out" : "type");
    if (rc < 0 || (rc = hal->describe(number, &info)) < 0)
        return NAMED(rc);
    *out = (shmemx_device_info_t){.number = number,
                                  .free_bytes = info.free_bytes,
                                  .total_bytes = info.total_bytes,
                                  .can_share = info.way != SHMEMI_WAY_NONE,
                                  .can_signal = info.can_signal};
    snprintf(out->type, sizeof out->type, "%s", type);
    memcpy(out->name, info.name, sizeof out->name);
    out->name[sizeof out->name - 1] = 0;
    snprintf(out->way, sizeof out->way, "%s", shmemi_device_way_name(info.way));
    for (int i = 0; i < 16; i++)
        snprintf(out->id + 2 * i, 3, "%02x", info.id[i]);
    return NAMED(hal->version(out->driver));
}

int shmemx_device_can_reach(const char *type, int number, int peer)
{
    const struct shmemi_device_hal *hal;
    bool can = false;
    int rc = type ? shmemi_device_look_up(type, &hal, NULL) : null("type");
    if (rc == 0)
        rc = hal->can_reach(number, peer, &can);
    return rc < 0 ? NAMED(rc) : can;
}

int shmemx_device_self_test(const char *type, int number, int *steps)
{
    const struct shmemi_device_hal *hal;
    int rc = type ? shmemi_device_look_up(type, &hal, NULL) : null("type");
    return NAMED(rc < 0 ? rc : shmemi_device_self_test(hal, number, steps));
}

/* ---- pools ---- */

int shmemx_device_pool_create(const char *type, int number, size_t size, shmemx_device_pool_t *out)
{
    struct shmemi_device_pool *pool = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = type && out ? 0 : null(type ? "out" : "type");
    if (rc == 0 && size == 0)
        rc = shmemi_fail(-EINVAL, "size is 0: a pool has at least one byte");
    if (rc < 0 || (rc = shmemi_opaque_new(&handle)) < 0)
        return NAMED(rc);
    rc = shmemi_device_pool_create(type, number, size, &pool);
    if ((rc = shmemi_opaque_settle(handle, rc, SHMEMI_OPAQUE_DEVICE_POOL, pool)) == 0)
        *out = (shmemx_device_pool_t)(void *)handle;
    return NAMED(rc);
}

int shmemx_device_pool_close(shmemx_device_pool_t pool)
{
    void *inner = NULL;
    int rc = shmemi_opaque_take(pool, SHMEMI_OPAQUE_DEVICE_POOL, "pool", &inner);
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_device_pool_close(inner);
    shmemi_opaque_end(pool, SHMEMI_OPAQUE_DEVICE_POOL, rc == 0);
    return NAMED(rc);
}

int shmemx_device_alloc(shmemx_device_pool_t pool, size_t size, size_t align, void **out)
{
    struct shmemi_device_pool *inner;
    int rc = enter_pool(pool, &inner);
    if (rc == 0)
        rc = out ? shmemi_device_alloc(inner, size, align, out) : null("out");
    return NAMED(rc);
}

int shmemx_device_free(shmemx_device_pool_t pool, void *buffer)
{
    struct shmemi_device_pool *inner;
    int rc = enter_pool(pool, &inner);
    return NAMED(rc < 0 ? rc : shmemi_device_free(inner, buffer));
}

int shmemx_device_pool_stats(shmemx_device_pool_t pool, shmemx_device_pool_stats_t *out)
{
    struct shmemi_device_pool_stats s;
    struct shmemi_device_pool *inner;
    int rc = enter_pool(pool, &inner);
    if (rc == 0)
        rc = out ? shmemi_device_pool_stats(inner, &s) : null("out");
    if (rc < 0)
        return NAMED(rc);
    *out = (shmemx_device_pool_stats_t){.number = s.device,
                                        .size = s.size,
                                        .in_use = s.in_use,
                                        .buffers = s.buffers,
                                        .largest_free = s.largest_free,
                                        .high_water = s.high_water};
    snprintf(out->type, sizeof out->type, "%s", s.type);
    return 0;
}

int shmemx_device_adopt(const char *type, int number, void *address, size_t size)
{
    return NAMED(type ? shmemi_device_adopt(type, number, address, size) : null("type"));
}

int shmemx_device_disown(void *address)
{
    return NAMED(shmemi_device_disown(address));
}

int shmemx_device_pointer_info(const char *type, const void *address, shmemx_device_pointer_info_t *out)
{
    const struct shmemi_device_hal *hal;
    struct shmemi_device_pointer what;
    int rc = type && out ? shmemi_device_look_up(type, &hal, NULL) : null(type ? "out" : "type");
    if (rc < 0 || (rc = hal->describe_pointer(address, &what)) < 0)
        return NAMED(rc);
    *out = (shmemx_device_pointer_info_t){.number = what.number, .base = what.base, .bytes = what.bytes};
    return what.device;
}

int shmemx_device_where(const void *address, const char **type, int *number)
{
    struct shmemi_device_span span;
    if (!type || !number)
        return NAMED(null(type ? "number" : "type"));
    if (!shmemi_device_table_find(address, &span))
        return 0;
    *type = span.hal->type;
    *number = span.device;
    return 1;
}

/* ---- keys ---- */

int shmemx_device_import(const char *key, shmemx_import_mode_t mode, const char *token, int number,
                         shmemx_device_import_t *out)
{
    struct shmemi_import_claims claims;
    struct shmemi_device_import *import = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = key && out ? shmemi_make_claims(token, &claims) : null(key ? "out" : "key");
    if (rc == 0 && number < -1)
        rc = shmemi_fail(
            -EINVAL, "number is %d, but must be that of a device, or -1 for the one that the memory lies on", number);
    if (rc < 0 || (rc = shmemi_opaque_new(&handle)) < 0)
        return NAMED(rc);
    rc = shmemi_device_import(key, (enum shmemi_import_mode)mode, &claims, number, &import);
    if ((rc = shmemi_opaque_settle(handle, rc, SHMEMI_OPAQUE_DEVICE_IMPORT, import)) == 0)
        *out = (shmemx_device_import_t)(void *)handle;
    return NAMED(rc);
}

int shmemx_device_import_info(shmemx_device_import_t import, shmemx_device_import_info_t *out)
{
    void *inner = NULL;
    int rc = shmemi_opaque_enter(import, SHMEMI_OPAQUE_DEVICE_IMPORT, "import", &inner);
    const struct shmemi_device_import *i = inner;
    if (rc < 0 || !out)
        return NAMED(rc < 0 ? rc : null("out"));
    *out = (shmemx_device_import_info_t){.address = i->address,
                                         .bytes = i->bytes,
                                         .rights = i->rights,
                                         .read_only = i->read_only,
                                         .number = i->device,
                                         .note = i->record.note,
                                         .note_bytes = i->record.note_bytes};
    snprintf(out->type, sizeof out->type, "%s", i->hal->type);
    return 0;
}

int shmemx_device_import_close(shmemx_device_import_t import)
{
    void *inner = NULL;
    int rc = shmemi_opaque_take(import, SHMEMI_OPAQUE_DEVICE_IMPORT, "import", &inner);
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_device_import_close(inner);
    shmemi_opaque_end(import, SHMEMI_OPAQUE_DEVICE_IMPORT, rc == 0);
    return NAMED(rc);
}

/* ---- copies and streams ---- */

int shmemx_device_copy(void *dest, const void *source, size_t bytes)
{
    if ((!dest || !source) && bytes)
        return NAMED(null(dest ? "source" : "dest"));
    return NAMED(shmemi_device_copy(dest, source, bytes));
}

/* Whether the last byte of the last block still has an address behind the first one's. */
static bool has_end(const void *first, size_t step, size_t bytes, size_t count)
{
    size_t last, end;
    return !__builtin_mul_overflow(step, count - 1, &last) && !__builtin_add_overflow(last, bytes, &end) &&
           !__builtin_add_overflow(end, (size_t)(uintptr_t)first, &end);
}

int shmemx_device_copy_blocks(void *dest, size_t dest_step, const void *source, size_t source_step, size_t bytes,
                              size_t count)
{
    if (bytes && count && (!dest || !source))
        return NAMED(null(dest ? "source" : "dest"));
    if (bytes && count && !(has_end(dest, dest_step, bytes, count) && has_end(source, source_step, bytes, count)))
        return NAMED(shmemi_fail(-EINVAL,
                                 "%zu blocks of %zu bytes, %zu and %zu bytes apart, go beyond the address space", count,
                                 bytes, dest_step, source_step));
    return NAMED(shmemi_device_copy_blocks(dest, dest_step, source, source_step, bytes, count));
}

static int new_stream(const char *type, const shmemx_stream_t *out, struct shmemi_opaque **handle)
{
    return type && out ? shmemi_opaque_new(handle) : null(type ? "out" : "type");
}

static int hand_out(struct shmemi_opaque *handle, int rc, struct shmemi_stream *stream, shmemx_stream_t *out)
{
    if ((rc = shmemi_opaque_settle(handle, rc, SHMEMI_OPAQUE_STREAM, stream)) == 0)
        *out = (shmemx_stream_t)(void *)handle;
    return rc;
}

int shmemx_stream_create(const char *type, int number, shmemx_stream_t *out)
{
    struct shmemi_stream *stream = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = new_stream(type, out, &handle);
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_stream_create(type, number, &stream);
    return NAMED(hand_out(handle, rc, stream, out));
}

int shmemx_stream_wrap(const char *type, int number, void *native, shmemx_stream_t *out)
{
    struct shmemi_stream *stream = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = new_stream(type, out, &handle);
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_stream_wrap(type, number, native, &stream);
    return NAMED(hand_out(handle, rc, stream, out));
}

int shmemx_stream_destroy(shmemx_stream_t stream)
{
    void *inner = NULL;
    int rc = shmemi_opaque_take(stream, SHMEMI_OPAQUE_STREAM, "stream", &inner);
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_stream_destroy(inner);
    shmemi_opaque_end(stream, SHMEMI_OPAQUE_STREAM, rc == 0 || rc == -EINTR);
    return NAMED(rc);
}

void *shmemx_stream_native(shmemx_stream_t stream)
{
    struct shmemi_stream *inner;
    return NAMED(shmemi_enter_stream(stream, &inner)) < 0 ? NULL : shmemi_stream_native(inner);
}

int shmemx_stream_finish(shmemx_stream_t stream)
{
    struct shmemi_stream *inner;
    int rc = shmemi_enter_stream(stream, &inner);
    return NAMED(rc < 0 ? rc : shmemi_stream_finish(inner));
}

int shmemx_stream_query(shmemx_stream_t stream)
{
    struct shmemi_stream *inner;
    int rc = shmemi_enter_stream(stream, &inner);
    return NAMED(rc < 0 ? rc : shmemi_stream_query(inner));
}

int shmemx_copy_on_stream(void *dest, const void *source, size_t bytes, shmemx_stream_t stream)
{
    struct shmemi_stream *inner;
    int rc = shmemi_enter_stream(stream, &inner);
    if (rc == 0 && (!dest || !source) && bytes)
        rc = null(dest ? "source" : "dest");
    return NAMED(rc < 0 ? rc : shmemi_device_copy_on(inner, dest, source, bytes));
}

int shmemx_write_value_on_stream(void *word, uint64_t value, shmemx_stream_t stream)
{
    struct shmemi_stream *inner;
    int rc = shmemi_enter_stream(stream, &inner);
    return NAMED(rc < 0 ? rc : shmemi_device_write_on(inner, word, value));
}

int shmemx_wait_value_on_stream(const void *word, shmemx_until_t until, uint64_t value, shmemx_stream_t stream)
{
    struct shmemi_stream *inner;
    int rc = shmemi_enter_stream(stream, &inner);
    if (rc == 0 && until != SHMEMX_UNTIL_AT_LEAST && until != SHMEMX_UNTIL_EQUAL)
        rc = shmemi_fail(-EINVAL, "until is %d, which is no shmemx_until_t", (int)until);
    return NAMED(rc < 0 ? rc : shmemi_device_wait_on(inner, word, value, (enum shmemi_device_compare)until));
}
