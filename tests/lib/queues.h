// SPDX-License-Identifier: Apache-2.0
// Queues for tests: a pool with one, and items that say who made them and in what order.
#ifndef TESTS_LIB_QUEUES_H
#define TESTS_LIB_QUEUES_H

#include <pthread.h>
#include <shmemx.h>
#include <time.h>

#include "unit.h"

static shmemx_pool_t pool;

static inline void make_pool(size_t bytes)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    attr.size = bytes;
    ok(shmemx_pool_create(&attr, &pool));
}

static inline shmemx_queue_t make_queue(const shmemx_queue_attr_t *attr)
{
    shmemx_queue_t queue = NULL;
    make_pool((size_t)8 << 20);
    ok(shmemx_queue_create(pool, NULL, attr, &queue));
    return queue;
}

static inline void end_queue(shmemx_queue_t queue)
{
    ok(shmemx_queue_destroy(queue));
    ok(shmemx_pool_close(pool));
}

static inline shmemx_queue_attr_t items(size_t capacity, unsigned batch)
{
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    attr.capacity = capacity;
    attr.batch = batch;
    return attr;
}

static inline shmemx_queue_attr_t messages(size_t capacity, unsigned batch, size_t most)
{
    shmemx_queue_attr_t attr = items(capacity, batch);
    attr.item_bytes = 0;
    attr.max_message = most;
    return attr;
}

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Item `number` (from 1) of a producer. */
static inline uint64_t item_of(unsigned producer, uint64_t number)
{
    return (uint64_t)producer << 40 | number;
}

/* What arrived of each producer. */
struct account {
    uint64_t last[64], count[64];
    uint64_t disorder, foreign;
};

static inline void account_for(struct account *a, uint64_t item)
{
    uint64_t producer = item >> 40, number = item & ((UINT64_C(1) << 40) - 1);
    if (producer >= 64) {
        a->foreign++;
        return;
    }
    a->disorder += number <= a->last[producer];
    a->last[producer] = number;
    a->count[producer]++;
}

#endif
