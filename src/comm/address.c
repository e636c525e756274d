// SPDX-License-Identifier: Apache-2.0
// Addresses outside the heap: symmetric static data, and mistakes.
#include "address.h"

#include "await.h"
#include "device/device.h"
#include "device_heap.h"
#include "job/live.h"
#include "job/parts.h"
#include "job/statics.h"

/* Ends the job unless the range of a heap is in one allocated block. */
static void check_block(const char *fn, struct shmemi_live *live, char *heap, size_t offset, size_t bytes)
{
    size_t begins, size;
    if (shmemi_live_covers(live, offset, bytes, &begins, &size))
        return;
    void *address = heap + offset;
    if (!size)
        shmemi_die(fn, "the range of %zu bytes at %p is in no block of the symmetric heap: it was freed", bytes,
                   address);
    shmemi_die(
        fn,
        "the range of %zu bytes at %p is in no block of the symmetric heap: it was freed, or goes past the end of "
        "the block of %zu bytes at %p",
        bytes, address, size, (void *)(heap + begins));
}

static const char advice[] = "no instruction of a CPU reaches it: keep counters, signals and locks in host memory "
                             "(shmemx_malloc_kind(size, \"host\"), or a global variable)";

/* An address that is no symmetric one of the host, but may be of a device. */
static void refuse_device(const char *fn, const void *address)
{
    struct shmemi_device_span span;
    if (shmemi_device_table_find(address, &span))
        shmemi_die(fn, "%p is memory of %s device %d, and %s", address, span.hal->maker, span.device, advice);
}

void shmemi_refuse_device_slow(const char *fn, const char *argument, const volatile void *address)
{
    struct shmemi_device_span span;
    if (shmemi_device_table_find((const void *)address, &span))
        shmemi_die(fn, "%s is %p, memory of %s device %d, and %s", argument, (const void *)address, span.hal->maker,
                   span.device, advice);
}

void *shmemi_remote_slow(const char *fn, const void *address, size_t bytes, int pe)
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
        shmemi_require(fn, shmemi_statics_view(pe, &view));
        return view + offset;
    }
    size_t in_heap = (uintptr_t)address - (uintptr_t)job->heap;
    size_t used = shmemi_heap_used(job);
    if (parts->live && in_heap < used && bytes <= used - in_heap) {
        check_block(fn, parts->live, job->heap, in_heap, bytes);
        return job->window + (size_t)pe * job->stride + in_heap;
    }
    if (in_heap < job->heap_size)
        shmemi_die(
            fn,
            "the range of %zu bytes at %p goes past what has been allocated of the symmetric heap (%zu bytes from %p)",
            bytes, address, used, (void *)job->heap);
    if (!address)
        shmemi_die(fn, "the symmetric address is NULL");
    refuse_device(fn, address);
    shmemi_die(fn, "%p is no symmetric address: neither in the symmetric heap (%p to %p)%s", address, (void *)job->heap,
               (void *)(job->heap + job->heap_size),
               parts->static_bytes ? " nor in the program's static data"
                                   : "; a global variable is symmetric only in a program linked by oshcc");
}

/* Ends the job when the range is not in what is allocated. */
static void check_range(const char *fn, struct shmemi_device_heap *heap, size_t offset, size_t bytes)
{
    size_t used = atomic_load_explicit(&heap->used, memory_order_relaxed); /* [used] */
    if (offset >= used || bytes > used - offset)
        shmemi_die(fn,
                   "the range of %zu bytes at %p goes past what has been allocated of the symmetric heap on a device "
                   "(%zu bytes from %p)",
                   bytes, (void *)(heap->base + offset), used, (void *)heap->base);
    if (heap->live)
        check_block(fn, heap->live, heap->base, offset, bytes);
}

/* Device memory that is on no heap of the job. */
static _Noreturn void not_symmetric(const char *fn, const void *address)
{
    shmemi_die(fn,
               "%p is no symmetric address, but memory of a device that this PE alone has: symmetric is what "
               "shmemx_malloc_kind() gives",
               address);
}

void *shmemi_reach(const char *fn, const void *address, size_t bytes, int pe, bool *device)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
    size_t open = atomic_load_explicit(&job->heap_open, memory_order_relaxed); /* [used] */
    *device = false;
    if ((unsigned)pe >= (unsigned)job->n || (offset < open && bytes <= open - offset) || !shmemi_is_device(address))
        return shmemi_remote(fn, address, bytes, pe);
    struct shmemi_device_heap *heap = shmemi_device_heap_holding(address, &offset);
    if (!heap)
        not_symmetric(fn, address);
    check_range(fn, heap, offset, bytes);
    *device = true;
    return heap->views[pe] + offset;
}

void shmemi_check_symmetric_slow(const char *fn, const void *address, size_t bytes)
{
    bool device;
    shmemi_reach(fn, address, bytes, shmemi_current->me, &device);
}
