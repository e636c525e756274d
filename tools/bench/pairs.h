// SPDX-License-Identifier: Apache-2.0
// Pairs of alloc and free of random sizes, in one process or in several at once: the same for every allocator, in C and
// in C++. A program of it defines how a worker attaches, takes, gives and leaves.
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pin.h"
#include "portable.h"

enum {
    PAIRS_LIVE = 64,   /* blocks that a process has at any time */
    PAIRS_PLAN = 4096, /* sizes and places are drawn beforehand, so that drawing them is not measured */
    PAIRS_LEAST = 64,  /* bytes */
    PAIRS_MOST = 4096,
    PAIRS_WORKERS = 8,
    PAIRS_BYTES = 16 << 20 /* a pool of so many bytes fits into the smallest usual /dev/shm, of 64 MB */
};

/* What the workers see of each other. */
struct pairs_shared {
    int ready, attached, warm, done, failed; /* accessed with __atomic builtins */
    double elapsed[PAIRS_WORKERS];
    char name[64];
};

struct pairs_plan {
    uint16_t size[PAIRS_PLAN];
    uint8_t place[PAIRS_PLAN];
};

static inline void pairs_draw(struct pairs_plan *plan, uint64_t seed)
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    for (int i = 0; i < PAIRS_PLAN; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        plan->size[i] = (uint16_t)(PAIRS_LEAST + (state >> 20) % (PAIRS_MOST - PAIRS_LEAST + 1));
        plan->place[i] = (uint8_t)((state >> 50) % PAIRS_LIVE);
    }
}

/* Waits until *word is `value`; ends the process when another worker has failed. */
static inline void pairs_wait(struct pairs_shared *shared, int *word, int value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) {
        if (__atomic_load_n(&shared->failed, __ATOMIC_ACQUIRE))
            _exit(1);
        sched_yield();
    }
}

static inline void pairs_meet(struct pairs_shared *shared, int *word, int workers)
{
    __atomic_add_fetch(word, 1, __ATOMIC_ACQ_REL);
    pairs_wait(shared, word, workers);
}

/* Worker 0 has made what the others open. */
static inline void pairs_made(struct pairs_shared *shared)
{
    __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
}

/* Inlined with the allocator's own functions, so that they are called as a program calls them. Writes into each block,
   as whoever allocates one does. */
static inline __attribute__((always_inline)) void pairs_turn(const struct pairs_plan *plan, void **live, int count,
                                                             void *(*take)(size_t), void (*give)(void *))
{
    for (int i = 0; i < count; i++) {
        int at = i % PAIRS_PLAN, place = plan->place[at];
        if (live[place])
            give(live[place]);
        live[place] = take(plan->size[at]);
        if (!live[place])
            _exit(1);
        *(volatile long *)live[place] = i;
    }
}

struct pairs_allocator {
    void (*attach)(int worker, struct pairs_shared *shared);   /* ends the process with a reason if it cannot */
    void (*attached)(int worker, struct pairs_shared *shared); /* after all have; may be NULL */
    void (*leave)(void);                                       /* may be NULL */
};

static inline __attribute__((always_inline)) void pairs_work(int worker, int workers, struct pairs_shared *shared,
                                                             const struct pairs_allocator *allocator,
                                                             void *(*take)(size_t), void (*give)(void *))
{
    static struct pairs_plan plan;
    void *live[PAIRS_LIVE] = {0};
    int count = times(300000);
    pin(worker);
    pairs_draw(&plan, (uint64_t)worker + 1);
    allocator->attach(worker, shared);
    pairs_meet(shared, &shared->attached, workers);
    if (allocator->attached)
        allocator->attached(worker, shared);
    pairs_turn(&plan, live, times(20000), take, give);
    pairs_meet(shared, &shared->warm, workers);
    double t = seconds();
    pairs_turn(&plan, live, count, take, give);
    shared->elapsed[worker] = (seconds() - t) / count;
    pairs_meet(shared, &shared->done, workers);
    for (int i = 0; i < PAIRS_LIVE; i++)
        if (live[i])
            give(live[i]);
    if (allocator->leave)
        allocator->leave();
    _exit(0);
}

/* Waits for the workers and reports the time of a pair, as the slowest of them saw it. */
static inline int pairs_end(struct pairs_shared *shared, int workers)
{
    int failed = 0, status;
    double slowest = 0;
    for (int i = 0; i < workers; i++)
        if (wait(&status) > 0 && status != 0) {
            failed = 1;
            __atomic_store_n(&shared->failed, 1, __ATOMIC_RELEASE);
        }
    for (int i = 0; i < workers; i++)
        slowest = shared->elapsed[i] > slowest ? shared->elapsed[i] : slowest;
    if (!failed)
        report("pair", slowest);
    return failed;
}

/* The measurement: `workers` processes at once. Returns 0, or 1 after a worker has said why it failed. */
static inline __attribute__((always_inline)) int pairs(int workers, const struct pairs_allocator *allocator,
                                                       void *(*take)(size_t), void (*give)(void *))
{
    void *at = mmap(NULL, sizeof(struct pairs_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct pairs_shared *shared = (struct pairs_shared *)at;
    if (at == MAP_FAILED || workers < 1 || workers > PAIRS_WORKERS)
        return 1;
    snprintf(shared->name, sizeof shared->name, "shmem-bench-%d", (int)getpid());
    for (int i = 0; i < workers; i++) {
        pid_t pid = fork();
        if (pid == 0)
            pairs_work(i, workers, shared, allocator, take, give);
        if (pid < 0)
            __atomic_store_n(&shared->failed, 1, __ATOMIC_RELEASE);
    }
    return pairs_end(shared, workers);
}

#endif
