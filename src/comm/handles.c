// SPDX-License-Identifier: Apache-2.0
// Handles: numbers that can be checked, where a pointer could not. A handle holds the index of its place and the
// place's generation, so one that was closed never means another region.
//
//   63                       24 23            0
//   |      generation          | index + 1    |
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "region.h"

enum { INDEX_BITS = 24, CHUNK = 4096, CHUNKS = (1 << INDEX_BITS) / CHUNK, TAKE_SOON = 1000000000 /* ns */ };

/* `state`: generation << 32 | closing << 31 | holders. Changed by compare-and-swap or addition only. */
#define CLOSING ((uint64_t)1 << 31)
#define HOLDERS (CLOSING - 1)

struct place {
    _Atomic uint64_t state;
    struct shmemi_region *region; /* NULL: free; written while nobody can hold */
    uint32_t next_free;
};

struct shmemi_handles {
    pthread_mutex_t lock; /* making and freeing places */
    _Atomic(struct place *)
        chunks[CHUNKS];    /* never freed while the process lives, so that stale handles can be looked up */
    uint32_t places, free; /* free: index + 1 of the first */
    uint32_t first_generation;
};

int shmemi_handles_get(struct shmemi_handles **out)
{
    /* One table for all jobs of the process, one after the other: generations go on, so handles of an earlier job mean
       nothing in a later one, and a thread that still looks one up finds the table. */
    static struct shmemi_handles *table;
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&making);
    if (!table && (table = calloc(1, sizeof *table))) {
        pthread_mutex_init(&table->lock, NULL);
        table->first_generation = (uint32_t)(shmemi_now() >> 10); /* numbers that no mistake hits by chance */
    }
    *out = table;
    pthread_mutex_unlock(&making);
    return *out ? 0 : shmemi_fail(-ENOMEM, "no memory for region handles");
}

static struct place *place_at(const struct shmemi_handles *h, uint32_t index)
{
    /* [chunk] acquire pairs with the release in add_chunk(). */
    struct place *chunk = atomic_load_explicit(&h->chunks[index / CHUNK], memory_order_acquire);
    return chunk ? chunk + index % CHUNK : NULL;
}

static int add_chunk(struct shmemi_handles *h)
{
    if (h->places == 1u << INDEX_BITS)
        return shmemi_fail(-ENOSPC, "%u regions are in use, which is as many as a process can have", h->places);
    struct place *chunk = calloc(CHUNK, sizeof *chunk);
    if (!chunk)
        return shmemi_fail(-ENOMEM, "no memory for region handles");
    for (uint32_t i = 0; i < CHUNK; i++) {
        /* published by [chunk] */
        atomic_init(&chunk[i].state, (uint64_t)h->first_generation << 32 | CLOSING);
        chunk[i].next_free = i + 1 < CHUNK ? h->places + i + 2 : 0;
    }
    /* [chunk] release pairs with the acquire in place_at(). */
    atomic_store_explicit(&h->chunks[h->places / CHUNK], chunk, memory_order_release);
    h->free = h->places + 1;
    h->places += CHUNK;
    return 0;
}

int shmemi_handle_new(struct shmemi_region *region, shmemx_region_t *out)
{
    struct shmemi_handles *h = shmemi_current->parts->regions->handles;
    pthread_mutex_lock(&h->lock);
    int rc = h->free ? 0 : add_chunk(h);
    if (rc == 0) {
        uint32_t index = h->free - 1;
        struct place *p = place_at(h, index);
        h->free = p->next_free;
        p->region = region;
        uint64_t generation =
            (uint32_t)(atomic_load_explicit(&p->state, memory_order_relaxed) >> 32) + 1u; /* ours alone */
        *out = (shmemx_region_t)(uintptr_t)(generation << INDEX_BITS | (index + 1u));
        region->self = *out;
        /* [handle] release: whoever holds sees the region complete; pairs with the exchange in shmemi_handle_hold(). */
        atomic_store_explicit(&p->state, generation << 32, memory_order_release);
    }
    pthread_mutex_unlock(&h->lock);
    return rc;
}

/* The place that the handle names, if there is one; and the generation that the handle expects there. */
static struct place *find(shmemx_region_t handle, uint64_t *generation)
{
    const struct shmemi_job *job = shmemi_current;
    uint64_t value = (uintptr_t)handle;
    uint32_t index = (uint32_t)(value & ((1u << INDEX_BITS) - 1));
    *generation = value >> INDEX_BITS;
    /* [regions] acquire pairs with the release in make_regions(): what is no handle is looked up at any time. */
    const struct shmemi_regions *all = job->n ? __atomic_load_n(&job->parts->regions, __ATOMIC_ACQUIRE) : NULL;
    return all && index ? place_at(all->handles, index - 1) : NULL;
}

int shmemi_handle_hold(shmemx_region_t handle, struct shmemi_region **out)
{
    uint64_t generation;
    struct place *p = find(handle, &generation);
    if (shmemi_current->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    uint64_t state = p ? atomic_load_explicit(&p->state, memory_order_relaxed) : CLOSING; /* checked by the exchange */
    while (p && state >> 32 == generation && !(state & CLOSING))
        /* [handle] acquire pairs with the release in shmemi_handle_new(). */
        if (atomic_compare_exchange_weak_explicit(&p->state, &state, state + 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            *out = p->region;
            return 0;
        }
    return shmemi_fail(-EINVAL, "region: %p is no region handle, or it was deregistered or closed", (void *)handle);
}

void shmemi_handle_drop(shmemx_region_t handle)
{
    uint64_t generation;
    /* [held] release: what was done with the region is over; pairs with the acquire in shmemi_handle_take(). */
    atomic_fetch_sub_explicit(&find(handle, &generation)->state, 1, memory_order_release);
}

/* With the place marked as closing: waits until nobody holds it, then frees it. NULL when somebody still does at the
   deadline: the place is then lost. */
static struct shmemi_region *empty(struct shmemi_handles *h, struct place *p, uint32_t index, int64_t deadline)
{
    /* [held] acquire pairs with the release in shmemi_handle_drop(). */
    while (atomic_load_explicit(&p->state, memory_order_acquire) & HOLDERS) {
        if (shmemi_now() >= deadline)
            return NULL;
        sched_yield();
    }
    struct shmemi_region *region = p->region;
    pthread_mutex_lock(&h->lock);
    p->region = NULL;
    p->next_free = h->free;
    h->free = index + 1;
    pthread_mutex_unlock(&h->lock);
    return region;
}

static struct shmemi_region *take(shmemx_region_t handle, int64_t deadline)
{
    uint64_t generation;
    struct place *p = find(handle, &generation);
    if (!p)
        return NULL;
    uint64_t state = atomic_load_explicit(&p->state, memory_order_relaxed); /* checked by the exchange */
    do
        if (state >> 32 != generation || state & CLOSING)
            return NULL;
    /* [handle] acquire pairs with the release in shmemi_handle_new(); one thread alone gets it. */
    while (!atomic_compare_exchange_weak_explicit(&p->state, &state, state | CLOSING, memory_order_acq_rel,
                                                  memory_order_relaxed));
    return empty(shmemi_current->parts->regions->handles, p,
                 (uint32_t)((uintptr_t)handle & ((1u << INDEX_BITS) - 1)) - 1, deadline);
}

struct shmemi_region *shmemi_handle_take(shmemx_region_t handle)
{
    return take(handle, SHMEMI_NO_DEADLINE);
}

struct shmemi_region *shmemi_handle_take_soon(shmemx_region_t handle)
{
    return take(handle, shmemi_now() + TAKE_SOON);
}

void shmemi_handles_end(struct shmemi_handles *h, void (*forget)(struct shmemi_region *region))
{
    for (uint32_t index = 0; index < h->places; index++) {
        struct place *p = place_at(h, index);
        uint64_t state = atomic_load_explicit(&p->state, memory_order_relaxed); /* checked by the exchange */
        while (!(state & CLOSING) && !atomic_compare_exchange_weak_explicit(&p->state, &state, state | CLOSING,
                                                                            memory_order_acq_rel, memory_order_relaxed))
            ;
        struct shmemi_region *region = state & CLOSING ? NULL : empty(h, p, index, shmemi_now() + TAKE_SOON);
        if (region)
            forget(region);
    }
}

bool shmemi_handle_closing(shmemx_region_t handle)
{
    uint64_t generation;
    /* relaxed: only ends a wait, nothing is read because of it */
    return atomic_load_explicit(&find(handle, &generation)->state, memory_order_relaxed) & CLOSING;
}
