// SPDX-License-Identifier: Apache-2.0
// The checks of collectives.
#include "coll_begin.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "await.h"
#include "device_heap.h"
#include "exchange.h"

enum { COMPARED = 65 /* unlike the numbers of other collectives */ };

/* What is published; fits a publication. */
struct shown {
    uint32_t operation;
    char fn[44];
    int64_t root, dst, sst;
    uint64_t bytes, dest; /* where dest is, as all PEs name it */
};
_Static_assert(sizeof(struct shown) <= SHMEMI_PUBLISH_BYTES, "one publication");

/* A symmetric address by its place in the heap or, beyond all of that, in a heap on devices or, from the middle of the
   numbers on, in the static data. */
#define ON_DEVICES ((uint64_t)1 << 62)
static uint64_t place_of(const void *address)
{
    const struct shmemi_job *job = shmemi_current;
    size_t in_heap = (uintptr_t)address - (uintptr_t)job->heap, on_device;
    if (!address || in_heap < job->heap_size)
        return address ? in_heap + 1 : 0;
    struct shmemi_device_heap *heap = shmemi_device_heap_holding(address, &on_device);
    if (heap)
        return ON_DEVICES | (uint64_t)heap->kind.which << 56 | on_device;
    return ((uintptr_t)address - (uintptr_t)job->parts->static_data) | (uint64_t)1 << 63;
}

static void describe(const struct shown *s, char *out, size_t size)
{
    if (s->operation != COMPARED) {
        snprintf(out, size, "makes another call");
        return;
    }
    int used = snprintf(out, size, "calls %s(%zu bytes", s->fn, (size_t)s->bytes);
    if (used > 0 && (size_t)used < size && (s->dst || s->sst))
        used += snprintf(out + used, size - (size_t)used, ", dst %lld, sst %lld", (long long)s->dst, (long long)s->sst);
    if (used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, ", root %lld, dest at %s %#llx)", (long long)s->root,
                 s->dest >> 63          ? "static"
                 : s->dest & ON_DEVICES ? "device heap"
                                        : "heap",
                 (unsigned long long)(s->dest & (s->dest & ON_DEVICES && !(s->dest >> 63) ? ((uint64_t)1 << 56) - 1
                                                                                          : ~((uint64_t)1 << 63))));
}

void shmemi_coll_compare(const char *fn, struct shmemi_group *g, const struct shmemi_call *call)
{
    struct shown mine = {.operation = COMPARED,
                         .root = call->root,
                         .dst = call->dst,
                         .sst = call->sst,
                         .bytes = call->bytes,
                         .dest = place_of(call->dest)};
    snprintf(mine.fn, sizeof mine.fn, "%s", fn);
    shmemi_require(fn, shmemi_group_exchange(g, &mine, sizeof mine));
    for (int i = 0; i < g->size; i++) {
        char own[160], others[160];
        struct shown theirs;
        memcpy(&theirs, shmemi_group_published(g, i), sizeof theirs);
        if (memcmp(&theirs, &mine, sizeof mine) == 0)
            continue;
        theirs.fn[sizeof theirs.fn - 1] = 0;
        describe(&mine, own, sizeof own);
        describe(&theirs, others, sizeof others);
        shmemi_die(fn, "PE %d %s, but PE %d %s: all PEs of a team must call alike", shmemi_current->me, own,
                   shmemi_group_pe(g, i), others);
    }
}

void shmemi_coll_overlap(const char *fn, const void *dest, size_t dest_bytes, const void *source, size_t source_bytes,
                         bool may_equal)
{
    shmemi_die(fn, "dest (%zu bytes at %p) and source (%zu bytes at %p) overlap%s", dest_bytes, dest, source_bytes,
               source, may_equal ? ": they must be apart or the same" : "");
}

void shmemi_coll_overflow(const char *fn, size_t count, size_t what)
{
    shmemi_die(fn, "%zu times %zu bytes are more than an address space", count, what);
}
