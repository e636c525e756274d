// SPDX-License-Identifier: Apache-2.0
// Addresses outside the heap: symmetric static data, and mistakes.
#include "address.h"

#include "await.h"
#include "device/device.h"
#include "device_heap.h"
#include "job/live.h"
#include "job/parts.h"
#include "job/statics.h"
#include "job/symbols.h"

/* Ends the job unless the range of a heap is in one allocated block. */
static void check_block(const char *fn, const char *argument, struct shmemi_live *live, char *heap, size_t offset,
                        size_t bytes)
{
    size_t begins, size;
    if (shmemi_live_covers(live, offset, bytes, &begins, &size))
        return;
    void *address = heap + offset;
    if (!size)
        shmemi_die(fn, "%s: the range of %zu bytes at %p is in no block of the symmetric heap: it was freed", argument,
                   bytes, address);
    shmemi_die(fn,
               "%s: the range of %zu bytes at %p is in no block of the symmetric heap: it was freed, or goes past the "
               "end of the block of %zu bytes at %p",
               argument, bytes, address, size, (void *)(heap + begins));
}

/* The same of a global variable, whose size its symbol tells. */
static void check_variable(const char *fn, const char *argument, const void *address, size_t bytes)
{
    struct shmemi_symbol v;
    if (bytes && shmemi_symbol_passed(address, bytes, &v))
        shmemi_die(fn,
                   "%s: the range of %zu bytes at %p goes past the end of the variable '%s', which has %zu bytes: it "
                   "begins at offset %zu from there",
                   argument, bytes, address, v.name, v.bytes, (size_t)((const char *)address - v.begin));
}

static const char advice[] = "no instruction of a CPU reaches it: keep counters, signals and locks in host memory "
                             "(shmemx_malloc_kind(size, \"host\"), or a global variable)";

void shmemi_refuse_device_slow(const char *fn, const char *argument, const volatile void *address)
{
    struct shmemi_device_span span;
    if (shmemi_device_table_find((const void *)address, &span))
        shmemi_die(fn, "%s is %p, memory of %s device %d, and %s", argument, (const void *)address, span.hal->maker,
                   span.device, advice);
}

/* Where an address that is no symmetric one seems to point. */
static _Noreturn void bad_address(const char *fn, const char *argument, const void *address)
{
    const struct shmemi_job *job = shmemi_current;
    if (!address)
        shmemi_die(fn, "%s is NULL, but must be a symmetric address", argument);
    shmemi_refuse_device_slow(fn, argument, address);
    shmemi_die(fn, "%s is %p, no symmetric address: neither in the symmetric heap (%p to %p)%s", argument, address,
               (void *)job->heap, (void *)(job->heap + job->heap_size),
               job->parts->static_bytes ? " nor in the program's static data"
                                        : "; a global variable is symmetric only in a program linked by oshcc");
}

void *shmemi_remote_slow(const char *fn, const char *argument, const void *address, size_t bytes, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (job->n == 0)
        shmemi_die(fn, "called %s", shmemi_no_job());
    if (pe < 0 || pe >= job->n)
        shmemi_die(fn, "pe is %d, but the job has PEs 0 to %d", pe, job->n - 1);
    const struct shmemi_job_parts *parts = job->parts;
    size_t offset = (uintptr_t)address - (uintptr_t)parts->static_data;
    if (offset < parts->static_bytes && bytes <= parts->static_bytes - offset) {
        char *view = NULL;
        if (parts->checked)
            check_variable(fn, argument, address, bytes);
        shmemi_require(fn, shmemi_statics_view(pe, &view));
        return view + offset;
    }
    size_t in_heap = (uintptr_t)address - (uintptr_t)job->heap;
    size_t used = shmemi_heap_used(job);
    if (parts->live && in_heap < used && bytes <= used - in_heap) {
        check_block(fn, argument, parts->live, job->heap, in_heap, bytes);
        return job->window + (size_t)pe * job->stride + in_heap;
    }
    if (in_heap < job->heap_size)
        shmemi_die(
            fn,
            "%s: the range of %zu bytes at %p goes past what has been allocated of the symmetric heap (%zu bytes "
            "from %p)",
            argument, bytes, address, used, (void *)job->heap);
    if (offset < parts->static_bytes)
        shmemi_die(fn,
                   "%s: the range of %zu bytes at %p begins in the program's static data and goes past its end (%p)",
                   argument, bytes, address, (void *)(parts->static_data + parts->static_bytes));
    bad_address(fn, argument, address);
}

/* Ends the job when the range is not in what is allocated. */
static void check_range(const char *fn, const char *argument, struct shmemi_device_heap *heap, size_t offset,
                        size_t bytes)
{
    size_t used = atomic_load_explicit(&heap->used, memory_order_relaxed); /* [used] */
    if (offset >= used || bytes > used - offset)
        shmemi_die(fn,
                   "%s: the range of %zu bytes at %p goes past what has been allocated of the symmetric heap on a "
                   "device (%zu bytes from %p)",
                   argument, bytes, (void *)(heap->base + offset), used, (void *)heap->base);
    if (heap->live)
        check_block(fn, argument, heap->live, heap->base, offset, bytes);
}

/* Device memory that is on no heap of the job. */
static _Noreturn void not_symmetric(const char *fn, const char *argument, const void *address)
{
    shmemi_die(fn,
               "%s is %p, no symmetric address, but memory of a device that this PE alone has: symmetric is what "
               "shmemx_malloc_kind() gives",
               argument, address);
}

void *shmemi_reach(const char *fn, const char *argument, const void *address, size_t bytes, int pe, bool *device)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
    size_t open = atomic_load_explicit(&job->heap_open, memory_order_relaxed); /* [used] */
    *device = false;
    if ((unsigned)pe >= (unsigned)job->n || (offset < open && bytes <= open - offset) || !shmemi_is_device(address))
        return shmemi_remote(fn, argument, address, bytes, pe);
    struct shmemi_device_heap *heap = shmemi_device_heap_holding(address, &offset);
    if (!heap)
        not_symmetric(fn, argument, address);
    check_range(fn, argument, heap, offset, bytes);
    *device = true;
    return heap->views[pe] + offset;
}

void shmemi_check_symmetric_slow(const char *fn, const char *argument, const void *address, size_t bytes)
{
    bool device;
    shmemi_reach(fn, argument, address, bytes, shmemi_current->me, &device);
}
