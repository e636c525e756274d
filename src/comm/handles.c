// SPDX-License-Identifier: Apache-2.0
// Handles: numbers that can be checked, where a pointer could not. A handle holds the index of its place and the place's
// generation, so one that was closed never means another region.
//
//   63                       24 23            0
//   |      generation          | index + 1    |
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "region.h"

enum { INDEX_BITS = 24, CHUNK = 4096, CHUNKS = (1 << INDEX_BITS) / CHUNK };

/* `state`: generation << 32 | closing << 31 | holders. Changed by compare-and-swap or addition only. */
#define CLOSING ((uint64_t)1 << 31)
#define HOLDERS (CLOSING - 1)

struct place {
    _Atomic uint64_t state;
    struct shmemi_region *region; /* NULL: free; written while nobody can hold */
    uint32_t next_free;
};

struct shmemi_handles {
    pthread_mutex_t lock;          /* making and freeing places */
    _Atomic(struct place *) chunks[CHUNKS]; /* never freed while the process lives, so that stale handles can be looked up */
    uint32_t places, free;         /* free: index + 1 of the first */
    uint32_t first_generation;
};

int shmemi_handles_create(struct shmemi_handles **out)
{
    struct shmemi_handles *h = calloc(1, sizeof *h);
    if (!h)
        return shmemi_fail(-ENOMEM, "no memory for region handles");
    pthread_mutex_init(&h->lock, NULL);
    h->first_generation = (uint32_t)(shmemi_now() >> 10); /* handles of an earlier job of this process mean nothing here */
    *out = h;
    return 0;
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
        atomic_init(&chunk[i].state, (uint64_t)h->first_generation << 32 | CLOSING);
        chunk[i].next_free = i + 1 < CHUNK ? h->places + i + 2 : 0;
    }
    atomic_store_explicit(&h->chunks[h->places / CHUNK], chunk, memory_order_release); /* [chunk] */
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
        uint64_t generation = (uint32_t)(atomic_load_explicit(&p->state, memory_order_relaxed) >> 32) + 1u; /* ours alone */
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
    return job->n && job->parts->regions && index ? place_at(job->parts->regions->handles, index - 1) : NULL;
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
        if (atomic_compare_exchange_weak_explicit(&p->state, &state, state + 1, memory_order_acquire, memory_order_relaxed)) {
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

struct shmemi_region *shmemi_handle_take(shmemx_region_t handle)
{
    uint64_t generation;
    struct place *p = find(handle, &generation);
    if (!p)
        return NULL;
    uint64_t state = atomic_load_explicit(&p->state, memory_order_relaxed); /* checked by the exchange */
    do
        if (state >> 32 != generation || state & CLOSING)
            return NULL;
    while (!atomic_compare_exchange_weak_explicit(&p->state, &state, state | CLOSING, memory_order_acq_rel, memory_order_relaxed));
    /* [held] acquire pairs with the release in shmemi_handle_drop(). */
    while (atomic_load_explicit(&p->state, memory_order_acquire) & HOLDERS)
        sched_yield();
    struct shmemi_handles *h = shmemi_current->parts->regions->handles;
    struct shmemi_region *region = p->region;
    pthread_mutex_lock(&h->lock);
    p->region = NULL;
    p->next_free = h->free;
    h->free = (uint32_t)((uintptr_t)handle & ((1u << INDEX_BITS) - 1));
    pthread_mutex_unlock(&h->lock);
    return region;
}

bool shmemi_handle_closing(shmemx_region_t handle)
{
    uint64_t generation;
    /* relaxed: only ends a wait, nothing is read because of it */
    return atomic_load_explicit(&find(handle, &generation)->state, memory_order_relaxed) & CLOSING;
}
