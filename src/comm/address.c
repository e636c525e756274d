// SPDX-License-Identifier: Apache-2.0
// Addresses outside the heap: symmetric static data, and mistakes.
#include "address.h"

#include "await.h"
#include "job/live.h"
#include "job/parts.h"
#include "job/statics.h"

/* Ends the job unless the range of the heap is in one allocated block. */
static void check_block(const char *fn, const struct shmemi_job *job, size_t offset, size_t bytes)
{
    size_t begins, size;
    if (shmemi_live_covers(job->parts->live, offset, bytes, &begins, &size))
        return;
    void *address = job->heap + offset;
    if (!size)
        shmemi_die(fn, "the range of %zu bytes at %p is in no block of the symmetric heap: it was freed", bytes,
                   address);
    shmemi_die(
        fn,
        "the range of %zu bytes at %p is in no block of the symmetric heap: it was freed, or goes past the end of "
        "the block of %zu bytes at %p",
        bytes, address, size, (void *)(job->heap + begins));
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
    if (parts->live && in_heap < job->heap_used && bytes <= job->heap_used - in_heap) {
        check_block(fn, job, in_heap, bytes);
        return job->window + (size_t)pe * job->stride + in_heap;
    }
    if (in_heap < job->heap_size)
        shmemi_die(
            fn,
            "the range of %zu bytes at %p goes past what has been allocated of the symmetric heap (%zu bytes from %p)",
            bytes, address, job->heap_used, (void *)job->heap);
    if (!address)
        shmemi_die(fn, "the symmetric address is NULL");
    shmemi_die(fn, "%p is no symmetric address: neither in the symmetric heap (%p to %p)%s", address, (void *)job->heap,
               (void *)(job->heap + job->heap_size),
               parts->static_bytes ? " nor in the program's static data"
                                   : "; a global variable is symmetric only in a program linked by oshcc");
}
