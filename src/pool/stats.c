// SPDX-License-Identifier: Apache-2.0
// What a pool says of itself.
#include "pool_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void add_slab(const struct shmemi_pool *pool, uint64_t unit, uint64_t entry, struct shmemi_pool_stats *s)
{
    size_t size = shmemi_class_size(shmemi_unit_class(entry));
    uint32_t blocks = shmemi_blocks_in(entry), used = 0;
    for (uint32_t i = 0; i < blocks; i++) /* relaxed: figures of a moving picture */
        used += atomic_load_explicit(&pool->blocks[unit * SHMEMI_UNIT_BLOCKS + i], memory_order_relaxed) >=
                SHMEMI_BLOCK_USED;
    s->buffers += used;
    s->in_use += used * size;
    s->free += (blocks - used) * size;
    if (used < blocks && size > s->largest_free)
        s->largest_free = size;
}

static int add_up(const struct shmemi_pool *pool, struct shmemi_pool_stats *s)
{
    uint64_t entry, count = shmemi_units_count(pool), run = 0;
    for (uint64_t unit = 0; unit < count; unit += shmemi_unit_length(entry)) {
        if (!shmemi_units_head(pool, unit, &entry))
            return shmemi_units_damaged(pool, unit);
        enum shmemi_unit_kind kind = shmemi_unit_kind(entry);
        size_t bytes = shmemi_unit_length(entry) * SHMEMI_UNIT;
        run = kind == SHMEMI_UNIT_FREE ? run + bytes : 0; /* neighbours become one when they are needed */
        if (run > s->largest_free)
            s->largest_free = run;
        if (kind == SHMEMI_UNIT_FREE)
            s->free += bytes;
        else if (kind == SHMEMI_UNIT_SLAB)
            add_slab(pool, unit, entry, s);
        else {
            s->in_use += bytes;
            s->buffers++;
        }
    }
    return 0;
}

int shmemi_pool_stats(struct shmemi_pool *pool, struct shmemi_pool_stats *out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    struct shmemi_pool_stats s = {0};
    if (pool->writable) {
        shmemi_central_take(pool);
        rc = shmemi_members_sweep(pool);
    }
    if (rc == 0)
        rc = add_up(pool, &s);
    if (pool->writable)
        shmemi_central_give(pool);
    if (rc < 0)
        return rc;
    s.size = shmemi_units_count(pool) * SHMEMI_UNIT;
    s.max_size = pool->at.max_units * SHMEMI_UNIT;
    s.own_bytes = shmemi_members_own_bytes(pool);
    s.high_water = atomic_load_explicit(&pool->state->high_water, memory_order_relaxed) * SHMEMI_UNIT; /* figures */
    s.died = (unsigned)atomic_load_explicit(&pool->state->died, memory_order_relaxed);
    s.members = shmemi_members_alive(pool);
    s.in_use += s.own_bytes;
    pthread_mutex_lock(&pool->owns_lock);
    s.owned = pool->own_count;
    s.buffers += s.owned;
    pthread_mutex_unlock(&pool->owns_lock);
    pthread_mutex_lock(&pool->failure_lock);
    memcpy(s.failure, pool->failure, sizeof s.failure);
    pthread_mutex_unlock(&pool->failure_lock);
    *out = s;
    return 0;
}

int shmemi_pool_about(struct shmemi_pool *pool, struct shmemi_pool_about *out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    struct shmemi_obtained got = {.page = 4096, .node = -1};
    if (pool->hal->report)
        pool->hal->report(pool->payload, shmemi_units_count(pool) * SHMEMI_UNIT, &got);
    *out = (struct shmemi_pool_about){.type = pool->hal->name,
                                      .name = pool->name,
                                      .path = pool->path,
                                      .fallback = pool->fallback,
                                      .page_size = got.page,
                                      .huge_bytes = got.huge_bytes,
                                      .numa_node = got.node,
                                      .locked = got.locked,
                                      .writable = pool->writable && !pool->private_view,
                                      .base = pool->payload};
    return 0;
}
