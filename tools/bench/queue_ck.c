// SPDX-License-Identifier: Apache-2.0
// Measures Concurrency Kit's ring of many producers and one consumer: queue_ck fill|stream PRODUCERS threads|processes
#include <ck_ring.h>

#include "queues.h"

static struct {
    ck_ring_t ring;
    ck_ring_buffer_t buffer[QUEUE_CAPACITY * 2]; /* one of its slots stays empty, and its size is a power of two */
} * shared;

static void push(uint64_t item)
{
    while (!ck_ring_enqueue_mpsc(&shared->ring, shared->buffer, (void *)(uintptr_t)(item + 1)))
        sched_yield();
}

static size_t pop(uint64_t *items, size_t most)
{
    size_t count = 0;
    void *item;
    while (count < most && ck_ring_dequeue_mpsc(&shared->ring, shared->buffer, &item))
        items[count++] = (uint64_t)(uintptr_t)item - 1;
    return count;
}

static void run(struct queue_work *work)
{
    queue_push_all(work, push, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    /* A producer that loses its core between taking a position and publishing it keeps all others spinning for as many
       time slices as there are others, and with more producers than cores that happens all the time: a fixed number of
       items can take minutes. */
    queue_limit = 2;
    shared = queue_memory(sizeof *shared);
    ck_ring_init(&shared->ring, QUEUE_CAPACITY * 2);
    return queue_bench(argv + 1, run, pop);
}
