// SPDX-License-Identifier: Apache-2.0
// Measures queues of 64-bit items: queue BATCH|plain|pipe fill|stream PRODUCERS threads|processes, and the time of one
// item through an idle queue: queue latency. plain is the usual scheme of two compare-and-swaps a push.
#include <errno.h>
#include <shmemx.h>

#include "queues.h"

static void need(long rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, shmemx_last_error());
    _exit(1);
}

/* --- ours ----------------------------------------------------------------------------------------------------------
 */

static shmemx_queue_t queue;

static void make_queue(unsigned batch)
{
    shmemx_pool_attr_t pool_attr = SHMEMX_POOL_ATTR;
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    shmemx_pool_t pool;
    pool_attr.size = (size_t)8 << 20;
    attr.capacity = QUEUE_CAPACITY;
    attr.batch = batch;
    attr.consumers = SHMEMX_QUEUE_ONE;
    need(shmemx_pool_create(&pool_attr, &pool), "creating a pool");
    need(shmemx_queue_create(pool, NULL, &attr, &queue), "creating a queue");
}

static void push(uint64_t item)
{
    if (__builtin_expect(shmemx_queue_push(queue, &item, sizeof item, SHMEMX_FOREVER) != 0, 0))
        need(-1, "pushing");
}

static void flush(void)
{
    need(shmemx_queue_flush(queue, SHMEMX_FOREVER), "flushing");
}

static size_t pop(uint64_t *items, size_t most)
{
    long got = shmemx_queue_pop_many(queue, items, most * sizeof *items, NULL, most, SHMEMX_FOREVER);
    need(got, "popping");
    return (size_t)got;
}

static void run(struct queue_work *work)
{
    queue_push_all(work, push, flush);
}

/* --- the plain scheme ----------------------------------------------------------------------------------------------
 */

/* A producer takes a position with one compare-and-swap of the tail and its slot with another. state: position when it
   is free, position + 1 when it is full. */
static struct {
    uint64_t tail;
    char pad0[120];
    uint64_t head;
    char pad1[120];
    struct {
        uint64_t state;
        uint64_t item;
    } slots[QUEUE_CAPACITY];
} * plain;

static void plain_make(void)
{
    plain = queue_memory(sizeof *plain);
    for (uint64_t i = 0; i < QUEUE_CAPACITY; i++)
        plain->slots[i].state = i;
}

static void plain_push(uint64_t item)
{
    for (;;) {
        uint64_t tail = __atomic_load_n(&plain->tail, __ATOMIC_RELAXED), free = tail;
        uint64_t at = tail % QUEUE_CAPACITY;
        if (__atomic_load_n(&plain->slots[at].state, __ATOMIC_ACQUIRE) != tail) {
            if (__atomic_load_n(&plain->tail, __ATOMIC_RELAXED) == tail)
                sched_yield(); /* full */
            continue;
        }
        if (!__atomic_compare_exchange_n(&plain->tail, &tail, tail + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        plain->slots[at].item = item;
        __atomic_compare_exchange_n(&plain->slots[at].state, &free, tail + 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
        return;
    }
}

static size_t plain_pop(uint64_t *items, size_t most)
{
    uint64_t head = __atomic_load_n(&plain->head, __ATOMIC_RELAXED);
    size_t count = 0;
    for (; count < most; count++, head++) {
        uint64_t at = head % QUEUE_CAPACITY;
        if (__atomic_load_n(&plain->slots[at].state, __ATOMIC_ACQUIRE) != head + 1)
            break;
        items[count] = plain->slots[at].item;
        __atomic_store_n(&plain->slots[at].state, head + QUEUE_CAPACITY, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&plain->head, head, __ATOMIC_RELEASE);
    return count;
}

static void plain_run(struct queue_work *work)
{
    queue_push_all(work, plain_push, NULL);
}

/* --- a pipe --------------------------------------------------------------------------------------------------------
 */

static int pipe_ends[2];

static void pipe_push(uint64_t item)
{
    if (write(pipe_ends[1], &item, sizeof item) != sizeof item)
        _exit(1);
}

static size_t pipe_pop(uint64_t *items, size_t most)
{
    ssize_t got = read(pipe_ends[0], items, most * sizeof *items);
    return got > 0 ? (size_t)got / sizeof *items : 0;
}

static void pipe_run(struct queue_work *work)
{
    queue_push_all(work, pipe_push, NULL);
}

/* --- one item through an idle queue ---------------------------------------------------------------------------------
 */

static double *latencies;

static void *take_times(void *context)
{
    int count = *(const int *)context;
    bool poll = *((const int *)context + 1);
    pin(1);
    for (int i = 0; i < count; i++) {
        double sent;
        int rc;
        do
            rc = shmemx_queue_pop(queue, &sent, sizeof sent, NULL, poll ? 0 : SHMEMX_FOREVER);
        while (rc == -EAGAIN);
        need(rc, "popping");
        latencies[i] = seconds() - sent;
    }
    return NULL;
}

static void measure_latency(const char *name, bool poll)
{
    int plan[2] = {times(20000), poll};
    static const double parts[] = {0.5, 0.99, 0.999};
    static const char *const names[] = {"50", "99", "99.9"};
    pthread_t consumer;
    char key[32];
    latencies = calloc((size_t)plan[0], sizeof *latencies);
    if (!latencies || pthread_create(&consumer, NULL, take_times, plan))
        exit(1);
    for (int i = 0; i < plan[0]; i++) {
        double until = seconds() + 100e-6, now;
        while ((now = seconds()) < until)
            continue;
        need(shmemx_queue_push(queue, &now, sizeof now, SHMEMX_FOREVER), "pushing");
    }
    pthread_join(consumer, NULL);
    qsort(latencies, (size_t)plan[0], sizeof *latencies, by_value);
    for (int i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "%s.%s", name, names[i]);
        report(key, latencies[(int)(parts[i] * (plan[0] - 1))]);
    }
    free(latencies);
}

static int latency(void)
{
    make_queue(1);
    pin(0);
    measure_latency("asleep", false);
    measure_latency("polling", true);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "latency") && argc == 2)
        return latency();
    if (argc != 5) {
        fprintf(stderr, "usage: bench-queue latency | BATCH|plain|pipe fill|stream PRODUCERS threads|processes\n");
        return 2;
    }
    if (!strcmp(what, "plain")) {
        plain_make();
        return queue_bench(argv + 2, plain_run, plain_pop);
    }
    if (!strcmp(what, "pipe")) {
        if (pipe(pipe_ends))
            return 1;
        return queue_bench(argv + 2, pipe_run, pipe_pop);
    }
    make_queue((unsigned)atoi(what));
    return queue_bench(argv + 2, run, pop);
}
