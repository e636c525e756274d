// SPDX-License-Identifier: Apache-2.0
// The extension interface, where it only checks, holds handles and passes on. Its other functions are in the layers.
#include "shmemx.h"

#include <errno.h>
#include <string.h>

#include "base/interrupt.h"
#include "comm/device_data.h"
#include "comm/device_heap.h"
#include "base/fold.h"
#include "comm/coll.h"
#include "comm/exchange.h"
#include "comm/finalize.h"
#include "comm/memory.h"
#include "comm/on_stream.h"
#include "comm/order.h"
#include "comm/region.h"
#include "comm/staged.h"
#include "comm/start.h"
#include "comm/wait.h"
#include "base/blocks.h"
#include "job/lifecycle.h"
#include "named.h"
#include "opaque.h"

_Static_assert(SHMEMX_INT8 == (int)SHMEMI_TYPE_INT8 && SHMEMX_DOUBLE == (int)SHMEMI_TYPE_DOUBLE &&
                   SHMEMX_COMPLEXD == (int)SHMEMI_TYPE_COMPLEXD && SHMEMX_BFLOAT16 == (int)SHMEMI_TYPE_BFLOAT16 &&
                   SHMEMX_BYTES == (int)SHMEMI_TYPES,
               "one list of types");
_Static_assert(SHMEMX_SUM == (int)SHMEMI_REDUCE_SUM && SHMEMX_XOR == (int)SHMEMI_REDUCE_XOR, "one list of operations");
_Static_assert(SHMEM_SIGNAL_SET == 1 && SHMEM_SIGNAL_ADD == 2, "as comm/rma.c has them");
_Static_assert(SHMEM_CMP_EQ == SHMEMI_CMP_EQ && SHMEM_CMP_LE == SHMEMI_CMP_LE, "one list of comparisons");

static int need_job(void)
{
    return shmemi_current->n ? 0 : shmemi_fail(-EPERM, "called %s", shmemi_no_job());
}

const char *shmemx_last_error(void)
{
    return shmemi_last_error();
}

/* --- the job --------------------------------------------------------------------------------------------------------
 */

int shmemx_init(const shmemx_init_attr_t *attr)
{
    static const shmemx_init_attr_t normal = SHMEMX_INIT_ATTR;
    attr = attr ? attr : &normal;
    bool rank = attr->rank != -1, size = attr->n_pes != -1;
    if (rank != size)
        return NAMED(shmemi_fail(-EINVAL, "%s is given but %s is not: a job needs both", rank ? "rank" : "n_pes",
                                 rank ? "n_pes" : "rank"));
    if (!rank && attr->uid)
        return NAMED(shmemi_fail(-EINVAL, "uid is given but rank and n_pes are not: a job needs all three"));
    struct shmemi_job_request request = {.given = rank,
                                         .rank = attr->rank,
                                         .size = attr->n_pes,
                                         .uid = attr->uid,
                                         .heap_size = attr->heap_size,
                                         .heap_kind = attr->heap_kind};
    return NAMED(shmemi_start(&request));
}

int shmemx_finalize(void)
{
    return NAMED(shmemi_finalize());
}

int shmemx_leave(void)
{
    return NAMED(shmemi_leave());
}

int shmemx_get_unique_id(shmemx_unique_id_t *out)
{
    if (!out)
        return NAMED(shmemi_fail(-EINVAL, "out is NULL"));
    memset(out, 0, sizeof *out);
    return NAMED(shmemi_unique_id(out->text));
}

static int check_unique_id(const shmemx_unique_id_t *id)
{
    if (!id)
        return shmemi_fail(-EINVAL, "id is NULL");
    size_t length = strnlen(id->text, sizeof id->text);
    if (length != 32 || strspn(id->text, "0123456789abcdef") != length)
        return shmemi_fail(-EINVAL, "id is none that shmemx_get_unique_id() made: was it passed on whole, %zu bytes?",
                           sizeof *id);
    return 0;
}

int shmemx_init_attr(int requested, int *provided, int rank, int n_pes, const shmemx_unique_id_t *id)
{
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
        return NAMED(shmemi_fail(-EINVAL, "requested is %d, which is no thread level", requested));
    int rc = check_unique_id(id);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_job_request request = {.given = true, .rank = rank, .size = n_pes, .uid = id->text};
    rc = shmemi_start(&request);
    if (rc == 0 && provided)
        *provided = SHMEM_THREAD_MULTIPLE;
    return NAMED(rc);
}

int shmemx_initialized(void)
{
    return shmemi_initialized();
}

int shmemx_my_pe(void)
{
    return NAMED(need_job()) < 0 ? -EPERM : shmemi_current->me;
}

int shmemx_n_pes(void)
{
    return NAMED(need_job()) < 0 ? -EPERM : shmemi_current->n;
}

int shmemx_barrier(void)
{
    int rc = need_job();
    if (rc == 0) {
        shmemi_quiet();
        rc = shmemi_exchange(NULL, 0);
    }
    return NAMED(rc);
}

int shmemx_quiet(void)
{
    shmemi_quiet();
    return NAMED(need_job());
}

int shmemx_fence(void)
{
    shmemi_fence();
    return NAMED(need_job());
}

int shmemx_set_interrupt(int (*check)(void))
{
    shmemi_set_interrupt(check);
    return 0;
}

/* --- the symmetric heap ----------------------------------------------------------------------------------------------
 */

int shmemx_malloc(size_t size, size_t align, void **out)
{
    struct shmemi_kind kind;
    int rc = out ? shmemi_kind_of_name(NULL, &kind) : shmemi_fail(-EINVAL, "out is NULL");
    return NAMED(rc < 0 ? rc : shmemi_allocate_kind(__func__, kind, size, align, out));
}

/* The block, or NULL with errno. */
static void *made(int rc, void *block)
{
    errno = -rc;
    return rc < 0 ? NULL : block;
}

static int align_kind(const char *fn, size_t alignment, size_t size, const char *name, void **out)
{
    struct shmemi_kind kind;
    int rc = shmemi_kind_of_name(name, &kind);
    return rc < 0 ? rc : shmemi_allocate_kind(fn, kind, size, alignment, out);
}

void *shmemx_malloc_kind(size_t size, const char *kind)
{
    void *block = NULL;
    int rc = align_kind(__func__, 0, size, kind, &block);
    return made(NAMED(rc), block);
}

void *shmemx_align_kind(size_t alignment, size_t size, const char *kind)
{
    void *block = NULL;
    int rc = align_kind(__func__, alignment, size, kind, &block);
    return made(NAMED(rc), block);
}

void *shmemx_calloc_kind(size_t count, size_t size, const char *name)
{
    struct shmemi_kind kind;
    void *block = NULL;
    int rc = shmemi_kind_of_name(name, &kind);
    if (rc == 0)
        rc = shmemi_allocate_zeros(__func__, kind, count, size, &block);
    return made(NAMED(rc), block);
}

int shmemx_free(void *block)
{
    return NAMED(shmemi_release(__func__, block));
}

static void heap_use(uint32_t which, struct shmemi_blocks_use *out)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    struct shmemi_device_heap *heap = shmemi_device_heap(which);
    *out = (struct shmemi_blocks_use){0};
    if (heap)
        shmemi_device_heap_use(heap->pool, out);
    if (which != SHMEMI_KIND_HOST && !parts->stands_in[which])
        return;
    pthread_mutex_lock(&parts->lock);
    shmemi_blocks_use(parts->blocks, out);
    pthread_mutex_unlock(&parts->lock);
}

int shmemx_heap_info(shmemx_heap_info_t *out)
{
    return shmemx_heap_info_kind("host", out);
}

int shmemx_heap_info_kind(const char *name, shmemx_heap_info_t *out)
{
    struct shmemi_kind kind;
    int rc = shmemi_kind_of_name(name, &kind);
    if (rc == 0 && !out)
        rc = shmemi_fail(-EINVAL, "out is NULL");
    if (rc == 0) {
        struct shmemi_blocks_use use;
        heap_use(kind.which, &use);
        *out = (shmemx_heap_info_t){use.total, use.in_use, use.largest_free, use.high_water, use.blocks};
    }
    return NAMED(rc);
}

int shmemx_keep_heap(void)
{
    int rc = need_job();
    if (rc == 0)
        shmemi_current->parts->heap_kept = true;
    return NAMED(rc);
}

/* --- regions
 * ---------------------------------------------------------------------------------------------------------- */

/* Whether [data, data + size) can be an argument at all. */
static int check_data(const char *name, const void *data, size_t size)
{
    if (size && !data)
        return shmemi_fail(-EINVAL, "%s is NULL, but size is %zu", name, size);
    return 0;
}

static int check_timeout(double timeout)
{
    return timeout == timeout ? 0 : shmemi_fail(-EINVAL, "timeout is not a number");
}

static int check_out(const void *out)
{
    return out ? 0 : shmemi_fail(-EINVAL, "out is NULL");
}

int shmemx_register(void *address, size_t size, const shmemx_region_attr_t *attr, shmemx_region_t *out)
{
    int rc = check_out(out);
    return NAMED(rc < 0 ? rc : shmemi_region_register(address, size, attr, out));
}

int shmemx_deregister(shmemx_region_t region)
{
    return NAMED(shmemi_region_deregister(region));
}

int shmemx_region_find(int pe, const char *name, uint64_t number, double timeout, shmemx_region_t *out)
{
    int rc = check_out(out);
    if (rc == 0)
        rc = check_timeout(timeout);
    return NAMED(rc < 0 ? rc : shmemi_region_find(pe, name, number, timeout, out));
}

int shmemx_region_at(shmemx_region_t mine, int pe, double timeout, shmemx_region_t *out)
{
    struct shmemi_region *r;
    int rc = check_out(out);
    if (rc < 0 || (rc = check_timeout(timeout)) < 0 || (rc = shmemi_handle_hold(mine, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_region_at(r, pe, timeout, out);
    shmemi_handle_drop(mine);
    return NAMED(rc);
}

int shmemx_region_symmetric(void *address, size_t size, shmemx_region_t *out)
{
    int rc = check_out(out);
    return NAMED(rc < 0 ? rc : shmemi_region_symmetric(address, size, out));
}

int shmemx_region_close(shmemx_region_t region)
{
    return NAMED(shmemi_region_close(region));
}

int shmemx_region_info(shmemx_region_t region, shmemx_region_info_t *out)
{
    struct shmemi_region *r;
    int rc = check_out(out);
    if (rc < 0 || (rc = shmemi_handle_hold(region, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_region_check(r);
    if (rc == 0) {
        bool visible = r->owner == shmemi_current->me || r->access & SHMEMX_REMOTE_READ;
        *out = (shmemx_region_info_t){.number = r->number,
                                      .owner = r->owner,
                                      .address = visible ? r->memory.base : NULL,
                                      .size = r->size,
                                      .access = r->access,
                                      .kind = r->kind,
                                      .guard = r->guard,
                                      .type = r->type};
        memcpy(out->name, r->name, sizeof out->name);
    }
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_put(shmemx_region_t region, size_t offset, const void *source, size_t size)
{
    struct shmemi_region *r;
    int rc = check_data("source", source, size);
    if (rc < 0 || (rc = shmemi_handle_hold(region, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_region_put(r, offset, source, size);
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_get(void *dest, shmemx_region_t region, size_t offset, size_t size)
{
    struct shmemi_region *r;
    int rc = check_data("dest", dest, size);
    if (rc < 0 || (rc = shmemi_handle_hold(region, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_region_get(dest, r, offset, size);
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_put_signal(shmemx_region_t region, size_t offset, const void *source, size_t size, shmemx_region_t signal,
                      size_t sig_offset, uint64_t value, int sig_op)
{
    struct shmemi_region *r, *s;
    int rc = check_data("source", source, size);
    if (rc < 0 || (rc = shmemi_handle_hold(region, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_handle_hold(signal, &s);
    if (rc == 0) {
        rc = shmemi_region_put_signal(r, offset, source, size, s, sig_offset, value, sig_op);
        shmemi_handle_drop(signal);
    }
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_put_on_stream(shmemx_region_t region, size_t offset, const void *source, size_t size, shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    struct shmemi_region_use use = {.handle = region};
    int rc = check_data("source", source, size);
    if (rc < 0 || (rc = shmemi_enter_stream(stream, &on)) < 0 || (rc = shmemi_handle_hold(region, &use.region)) < 0)
        return NAMED(rc);
    rc = shmemi_region_put_on(use, offset, source, size, on);
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_get_on_stream(void *dest, shmemx_region_t region, size_t offset, size_t size, shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    struct shmemi_region_use use = {.handle = region};
    int rc = check_data("dest", dest, size);
    if (rc < 0 || (rc = shmemi_enter_stream(stream, &on)) < 0 || (rc = shmemi_handle_hold(region, &use.region)) < 0)
        return NAMED(rc);
    rc = shmemi_region_get_on(dest, use, offset, size, on);
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_signal_on_stream(shmemx_region_t region, size_t offset, uint64_t value, int sig_op, shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    struct shmemi_region_use use = {.handle = region};
    int rc = shmemi_enter_stream(stream, &on);
    if (rc < 0 || (rc = shmemi_handle_hold(region, &use.region)) < 0)
        return NAMED(rc);
    rc = shmemi_region_signal_on(use, offset, value, sig_op, on);
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_put_signal_on_stream(shmemx_region_t region, size_t offset, const void *source, size_t size,
                                shmemx_region_t signal, size_t sig_offset, uint64_t value, int sig_op,
                                shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    struct shmemi_region_use to = {.handle = region}, told = {.handle = signal};
    int rc = check_data("source", source, size);
    if (rc < 0 || (rc = shmemi_enter_stream(stream, &on)) < 0 || (rc = shmemi_handle_hold(region, &to.region)) < 0)
        return NAMED(rc);
    if ((rc = shmemi_handle_hold(signal, &told.region)) == 0) {
        rc = shmemi_region_put_signal_on(to, offset, source, size, told, sig_offset, value, sig_op, on);
        shmemi_handle_drop(signal);
    }
    shmemi_handle_drop(region);
    return NAMED(rc);
}

int shmemx_wait_on_stream(shmemx_region_t own, size_t offset, int cmp, uint64_t value, shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    struct shmemi_region_use use = {.handle = own};
    int rc = shmemi_enter_stream(stream, &on);
    if (rc < 0 || (rc = shmemi_handle_hold(own, &use.region)) < 0)
        return NAMED(rc);
    rc = shmemi_region_wait_on(use, offset, cmp, value, on);
    shmemi_handle_drop(own);
    return NAMED(rc);
}

int shmemx_barrier_on_stream(shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    int rc = shmemi_enter_stream(stream, &on);
    return NAMED(rc < 0 ? rc : shmemi_barrier_on(on));
}

int shmemx_quiet_on_stream(shmemx_stream_t stream)
{
    struct shmemi_stream *on;
    int rc = shmemi_enter_stream(stream, &on);
    return NAMED(rc < 0 ? rc : shmemi_quiet_on(on));
}

int shmemx_put_to_waiting(int pe, size_t offset, const void *source, size_t size, double timeout)
{
    int rc = check_data("source", source, size);
    if (rc == 0)
        rc = check_timeout(timeout);
    return NAMED(rc < 0 ? rc : shmemi_put_to_waiting(pe, offset, source, size, timeout));
}

int shmemx_wait_event(shmemx_region_t own, int which, double timeout)
{
    struct shmemi_region *r;
    int rc = check_timeout(timeout);
    if (rc < 0 || (rc = shmemi_handle_hold(own, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_region_wait_event(r, own, which, timeout);
    shmemi_handle_drop(own);
    return NAMED(rc);
}

int shmemx_wait_value(shmemx_region_t own, size_t offset, shmemx_type_t type, int cmp, const void *value,
                      double timeout)
{
    struct shmemi_region *r;
    int rc = check_timeout(timeout);
    if (rc < 0 || (rc = shmemi_handle_hold(own, &r)) < 0)
        return NAMED(rc);
    rc = shmemi_region_wait_value(r, own, offset, type, cmp, value, timeout);
    shmemi_handle_drop(own);
    return NAMED(rc);
}

int shmemx_atomic(shmemx_region_t region, size_t offset, shmemx_type_t type, shmemx_atomic_t operation,
                  const void *operand, const void *expected, void *old)
{
    struct shmemi_region *r;
    int rc = shmemi_handle_hold(region, &r);
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_region_atomic(r, offset, type, operation, operand, expected, old);
    shmemi_handle_drop(region);
    return NAMED(rc);
}

/* --- collectives
 * ------------------------------------------------------------------------------------------------------ */

int shmemx_all_reduce(void *data, size_t n, shmemx_type_t type, shmemx_op_t op)
{
    struct shmemi_device_data d;
    size_t one = (unsigned)type < SHMEMX_BYTES ? shmemi_type_size((enum shmemi_type)type) : 0, bytes;
    int rc = shmemi_device_data_begin(&d, data, __builtin_mul_overflow(n, one, &bytes) ? 0 : bytes, 1);
    rc = rc < 0 ? shmemi_take_no_part(rc) : rc;
    if (rc == 0)
        rc = shmemi_all_reduce(d.data, n, (enum shmemi_type)type, (enum shmemi_reduce_op)op);
    return NAMED(shmemi_device_data_end(&d, rc, 1));
}

int shmemx_broadcast(void *data, size_t bytes, int root)
{
    struct shmemi_device_data d;
    int rc = shmemi_device_data_begin(&d, data, bytes, 1);
    rc = rc < 0 ? shmemi_take_no_part(rc) : rc;
    if (rc == 0)
        rc = shmemi_broadcast(d.data, bytes, root);
    return NAMED(shmemi_device_data_end(&d, rc, 1));
}

int shmemx_all_gather(void *dest, const void *source, size_t bytes)
{
    struct shmemi_device_data to, from;
    size_t all;
    int n = shmemi_current->n, rc = shmemi_device_data_begin(&from, (void *)(uintptr_t)source, bytes, 1);
    if (rc < 0)
        return NAMED(shmemi_take_no_part(rc));
    rc = shmemi_device_data_begin(&to, dest, __builtin_mul_overflow(bytes, (size_t)n, &all) ? 0 : all, 0);
    rc = rc < 0 ? shmemi_take_no_part(rc) : rc;
    if (rc == 0)
        rc = shmemi_all_gather(to.data, from.data, bytes);
    return NAMED(shmemi_device_data_end(&from, shmemi_device_data_end(&to, rc, 1), 0));
}
