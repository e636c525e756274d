// SPDX-License-Identifier: Apache-2.0
// Litmus tests of hand-overs: one thread writes plain data and hands over, the other takes and has to see it, and hands
// back. The thread sanitizer tells when nothing orders the two, whatever the processor does; a processor that orders
// weakly shows it by the values, in many rounds.
#ifndef TESTS_LIB_LITMUS_H
#define TESTS_LIB_LITMUS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "unit.h"

/* The way from one thread to the other and back: give() makes what this thread wrote before visible to the take() of
   the same direction and round. Both answer 0, or what went wrong. */
struct litmus_way {
    const char *name;
    long (*give)(int direction, long round);
    long (*take)(int direction, long round);
};

enum { LITMUS_ROUNDS = LEAKS_SANITIZED ? 3000 : 30000, LITMUS_CELLS = 16 };

/* Plain memory, written by who has it. Cells on lines of their own, so that they can arrive in any order. */
static struct {
    struct {
        _Alignas(128) long value;
    } cells[LITMUS_CELLS];
    bool stop; /* is handed over, too */
} litmus_data;

/* What went wrong: 0, or a negative errno, or the number of a round in which old data were seen. */
static _Atomic long litmus_failed;

static inline double litmus_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void litmus_write(long value)
{
    for (int i = 0; i < LITMUS_CELLS; i++)
        litmus_data.cells[i].value = value;
}

static inline bool litmus_holds(long value)
{
    bool good = true;
    for (int i = LITMUS_CELLS - 1; i >= 0; i--) /* the last written first */
        good = good && litmus_data.cells[i].value == value;
    return good;
}

static inline bool litmus_step(const struct litmus_way *way, bool gives, int direction, long round)
{
    long rc = gives ? way->give(direction, round) : way->take(direction, round);
    if (rc != 0)
        atomic_store_explicit(&litmus_failed, rc, memory_order_relaxed);
    return rc == 0 && atomic_load_explicit(&litmus_failed, memory_order_relaxed) == 0;
}

static inline void *litmus_second(void *context)
{
    const struct litmus_way *way = context;
    for (long round = 1; litmus_step(way, false, 0, round); round++) {
        if (!litmus_holds(2 * round))
            atomic_store_explicit(&litmus_failed, round, memory_order_relaxed);
        bool stop = litmus_data.stop;
        litmus_write(2 * round + 1);
        if (!litmus_step(way, true, 1, round) || stop)
            break;
    }
    return NULL;
}

/* Runs it in two threads, this one among them, for so many rounds, or a sixth of a second. */
static inline void litmus(const struct litmus_way *way)
{
    pthread_t second;
    double end = litmus_now() + 1.0 / 6;
    bool stop = false;
    litmus_data.stop = false;
    atomic_store_explicit(&litmus_failed, 0, memory_order_relaxed);
    assert_int_equal(pthread_create(&second, NULL, litmus_second, (void *)(uintptr_t)way), 0);
    for (long round = 1; !stop; round++) {
        stop = round == LITMUS_ROUNDS || (round % 64 == 0 && litmus_now() > end);
        litmus_write(2 * round);
        litmus_data.stop = stop;
        if (!litmus_step(way, true, 0, round) || !litmus_step(way, false, 1, round))
            break;
        if (!litmus_holds(2 * round + 1))
            atomic_store_explicit(&litmus_failed, round, memory_order_relaxed);
    }
    pthread_join(second, NULL);
    long failed = atomic_load_explicit(&litmus_failed, memory_order_relaxed);
    if (failed)
        fail_msg("%s: %ld (positive: old data in this round) %s", way->name, failed, shmemi_last_error());
}

#endif
