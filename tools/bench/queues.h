// SPDX-License-Identifier: Apache-2.0
// Many producers and a consumer of 64-bit items, as threads or processes: the same for every queue. A program of it
// defines how a queue is made, pushed to and popped from.
//
// fill: the producers, each on a core of its own where there are enough, push at the same time into a queue that has
// room for all, and nobody pops meanwhile: what a push costs when others push. stream: all at once, from the first push
// to the last item out.
#ifndef BENCH_QUEUES_H
#define BENCH_QUEUES_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pin.h"
#include "portable.h"

enum {
    QUEUE_CAPACITY = 1 << 16,
    QUEUE_POP_MOST = 1024,
    QUEUE_FILL = 1 << 13, /* items of a filling: they take less than a time slice */
    QUEUE_FILLS = 2000,   /* fillings, at most */
    QUEUE_GOOD = 200,     /* good ones that are enough */
    QUEUE_PRODUCERS_MOST = 16,
    QUEUE_PART = 16, /* items after which a producer looks whether time is over */
};

struct queue_ops {
    void (*push)(uint64_t item);                 /* waits for room */
    void (*flush)(void);                         /* may be NULL */
    size_t (*pop)(uint64_t *items, size_t most); /* may return 0 */
};

/* What the workers see of each other. */
struct queue_shared {
    int go, done; /* accessed with __atomic builtins */
    char pad[120];
    int stop;
    double began[QUEUE_PRODUCERS_MOST], ended[QUEUE_PRODUCERS_MOST], ran[QUEUE_PRODUCERS_MOST]; /* ran: on a core */
    int pushed[QUEUE_PRODUCERS_MOST];
};

struct queue_work {
    int me, producers;
    bool fill, processes;
    int count, rounds; /* items of a producer in each round */
    struct queue_shared *shared;
    const struct queue_ops *ops;
    void (*run)(struct queue_work *work);
};

/* Seconds after which a stream ends with what it has; 0: never. For queues whose pop() does not wait for items, since
   what comes then is not known. */
static double queue_limit;

static inline void *queue_memory(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED)
        exit(1);
    return at;
}

static inline void queue_wait(int *word, int value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
        sched_yield();
}

static inline double queue_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Inlined with the queue's own push, so that it is called as a program calls it. */
static inline __attribute__((always_inline)) void queue_push_all(struct queue_work *work, void (*push)(uint64_t),
                                                                 void (*flush)(void))
{
    struct queue_shared *shared = work->shared;
    if (work->fill)
        pin(work->me);
    for (int r = 0; r < work->rounds; r++) {
        if (work->fill) { /* at the same instant */
            __atomic_add_fetch(&shared->done, 1, __ATOMIC_ACQ_REL);
            while (__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE) <= r)
                sched_yield();
        } else {
            queue_wait(&shared->go, 1);
        }
        if (__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE))
            break;
        double ran = queue_cpu_seconds();
        shared->began[work->me] = seconds();
        int pushed = 0, part = queue_limit ? QUEUE_PART : work->count;
        while (pushed < work->count && !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
            for (int end = pushed + (part < work->count - pushed ? part : work->count - pushed); pushed < end; pushed++)
                push((uint64_t)work->me << 40 | (uint64_t)pushed);
        shared->pushed[work->me] = pushed; /* before "done" below */
        if (flush)
            flush();
        shared->ended[work->me] = seconds();
        shared->ran[work->me] = queue_cpu_seconds() - ran;
    }
    __atomic_add_fetch(&shared->done, 1, __ATOMIC_ACQ_REL);
}

static inline void *queue_thread(void *context)
{
    struct queue_work *work = context;
    work->run(work);
    return NULL;
}

static inline void queue_start(struct queue_work *works, pthread_t *threads, pid_t *pids)
{
    for (int p = 0; p < works->producers; p++) {
        works[p] = works[0];
        works[p].me = p;
        if (!works->processes) {
            if (pthread_create(&threads[p], NULL, queue_thread, &works[p]))
                exit(1);
        } else if ((pids[p] = fork()) == 0) {
            works->run(&works[p]);
            exit(0);
        }
    }
}

static inline void queue_join(const struct queue_work *works, const pthread_t *threads, const pid_t *pids)
{
    for (int p = 0; p < works->producers; p++) {
        int status = 0;
        if (!works->processes)
            pthread_join(threads[p], NULL);
        else if (waitpid(pids[p], &status, 0) < 0 || status)
            exit(1);
    }
}

/* Each producer's items come in order, and all of them. */
static inline void queue_check(const uint64_t *items, size_t count, uint64_t *next)
{
    for (size_t i = 0; i < count; i++)
        if ((items[i] & 0xffffffffffu) != next[items[i] >> 40]++) {
            fprintf(stderr, "an item is not in order\n");
            exit(1);
        }
}

static inline __attribute__((always_inline)) void queue_drain(size_t total, size_t (*pop)(uint64_t *, size_t))
{
    static uint64_t items[QUEUE_POP_MOST];
    uint64_t next[QUEUE_PRODUCERS_MOST] = {0};
    for (size_t got = 0; got < total;) {
        size_t count = pop(items, QUEUE_POP_MOST);
        queue_check(items, count, next);
        got += count;
        if (count == 0)
            sched_yield();
    }
}

/* Seconds an item in this filling. good: every producer had a core all the time, and at the same time. */
static inline double queue_filling(const struct queue_work *w, bool *good)
{
    const struct queue_shared *s = w->shared;
    double first = s->began[0], last = s->ended[0], latest = first, earliest = last;
    *good = true;
    for (int p = 0; p < w->producers; p++) {
        first = s->began[p] < first ? s->began[p] : first;
        latest = s->began[p] > latest ? s->began[p] : latest;
        last = s->ended[p] > last ? s->ended[p] : last;
        earliest = s->ended[p] < earliest ? s->ended[p] : earliest;
        *good = *good && s->ran[p] > 0.9 * (s->ended[p] - s->began[p]);
    }
    *good = *good && earliest - latest > 0.7 * (last - first);
    return (last - first) / ((double)w->count * w->producers);
}

/* The median of the good fillings: whatever else runs on the machine spoils the others. */
static inline __attribute__((always_inline)) double queue_fill(struct queue_work *w, size_t (*pop)(uint64_t *, size_t))
{
    static double values[QUEUE_FILLS];
    struct queue_shared *s = w->shared;
    int count = 0, r = 0;
    for (double until = seconds() + 4; r < w->rounds && count < QUEUE_GOOD && (count == 0 || seconds() < until); r++) {
        bool good;
        queue_wait(&s->done, w->producers * (r + 1));
        __atomic_store_n(&s->go, r + 1, __ATOMIC_RELEASE);
        queue_wait(&s->done, w->producers * (r + 2));
        double value = queue_filling(w, &good);
        if (good)
            values[count++] = value;
        queue_drain((size_t)w->count * (size_t)w->producers, pop);
    }
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&s->go, r + 1, __ATOMIC_RELEASE);
    if (count == 0) {
        fprintf(stderr, "the producers never ran side by side: the machine is too busy, or has one core\n");
        exit(1);
    }
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* All items that there are, once the time is over and everybody has stopped; else SIZE_MAX. */
static inline size_t queue_left_over(const struct queue_work *w, double since)
{
    size_t sum = 0;
    if (!queue_limit || seconds() - since < queue_limit)
        return SIZE_MAX;
    __atomic_store_n(&w->shared->stop, 1, __ATOMIC_RELEASE);
    if (__atomic_load_n(&w->shared->done, __ATOMIC_ACQUIRE) < w->producers)
        return SIZE_MAX;
    for (int p = 0; p < w->producers; p++)
        sum += (size_t)w->shared->pushed[p];
    return sum;
}

static inline __attribute__((always_inline)) double queue_stream(struct queue_work *w,
                                                                 size_t (*pop)(uint64_t *, size_t))
{
    static uint64_t items[QUEUE_POP_MOST];
    uint64_t next[QUEUE_PRODUCERS_MOST] = {0};
    size_t got = 0, total = (size_t)w->count * (size_t)w->producers;
    double t = seconds();
    __atomic_store_n(&w->shared->go, 1, __ATOMIC_RELEASE);
    while (got < total) {
        size_t count = pop(items, QUEUE_POP_MOST);
        queue_check(items, count, next);
        got += count;
        if (count == 0) {
            size_t all = queue_left_over(w, t);
            total = all < total ? all : total;
            sched_yield();
        }
    }
    return (seconds() - t) / (double)got;
}

/* arguments: fill|stream PRODUCERS threads|processes */
static inline __attribute__((always_inline)) int queue_bench(char **arguments, void (*run)(struct queue_work *),
                                                             size_t (*pop)(uint64_t *, size_t))
{
    struct queue_work works[QUEUE_PRODUCERS_MOST] = {0}, *w = works;
    pthread_t threads[QUEUE_PRODUCERS_MOST];
    pid_t pids[QUEUE_PRODUCERS_MOST];
    w->fill = !strcmp(arguments[0], "fill");
    w->producers = atoi(arguments[1]);
    w->processes = !strcmp(arguments[2], "processes");
    if (w->producers < 1 || w->producers > QUEUE_PRODUCERS_MOST)
        return 2;
    w->rounds = w->fill ? QUEUE_FILLS : 1;
    w->count = w->fill ? QUEUE_FILL / w->producers : times(2000000) / w->producers;
    w->run = run;
    w->shared = queue_memory(sizeof *w->shared);
    queue_start(works, threads, pids);
    double value = w->fill ? queue_fill(w, pop) : queue_stream(w, pop);
    queue_join(works, threads, pids);
    report("item", value);
    return 0;
}

#endif
