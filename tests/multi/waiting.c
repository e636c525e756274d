// SPDX-License-Identifier: Apache-2.0
// Puts into whatever region the target waits in: order, room, deadlocks, timeouts; and the interrupt of waits.
#include "multi.h"

static int64_t memory[128];
static shmemx_region_t mine;

static int right(void)
{
    return (me + 1) % n;
}

/* All others put to PE 0 again and again; each put is received by one wait. */
static void many_to_one(void)
{
    enum { TIMES = 50 };
    if (me != 0) {
        for (int64_t i = 0; i < TIMES; i++) {
            int64_t message[2] = {me, i};
            GIVES(0, shmemx_put_to_waiting(0, 0, message, sizeof message, 20));
        }
        return;
    }
    int64_t next[64] = {0};
    for (int k = 0; k < TIMES * (n - 1); k++) {
        GIVES(0, shmemx_wait_event(mine, k % 3 ? SHMEMX_EVENT_WRITE : SHMEMX_EVENT_ANY, 20));
        CHECK(memory[0] > 0 && memory[0] < n);
        CHECK(memory[1] == next[memory[0]], "put %lld of PE %lld came where %lld was due", (long long)memory[1],
              (long long)memory[0], (long long)next[memory[0]]);
        next[memory[0]]++;
    }
}

/* Who came first is served first: they stand in line one after the other, then PE 0 waits. */
static void in_order(void)
{
    GIVES(0, shmemx_barrier());
    if (me != 0) {
        usleep((useconds_t)(n - me) * 40000); /* the last PE comes first */
        GIVES(0, shmemx_put_to_waiting(0, 8, &(int64_t){me}, 8, 20));
        return;
    }
    usleep((useconds_t)(n + 1) * 40000);
    for (int pe = n - 1; pe > 0; pe--) {
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(pe, memory[1]);
    }
}

/* Messages go round: everybody puts to the right and waits for the left one, taking turns. */
static void round_and_round(void)
{
    for (int64_t i = 0; i < 100; i++) {
        if (me == 0)
            GIVES(0, shmemx_put_to_waiting(right(), 16, &i, 8, 20));
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(i, memory[2]);
        if (me != 0)
            GIVES(0, shmemx_put_to_waiting(right(), 16, &i, 8, 20));
    }
}

/* Different regions in turn: the put lands where the target waits. */
static void where_it_waits(void)
{
    static int64_t other[4];
    shmemx_region_t second;
    GIVES(0, shmemx_register(other, sizeof other, NULL, &second));
    GIVES(0, shmemx_barrier());
    if (me == 1) {
        GIVES(0, shmemx_put_to_waiting(0, 0, &(int64_t){111}, 8, 20));
        GIVES(0, shmemx_put_to_waiting(0, 0, &(int64_t){222}, 8, 20));
    } else if (me == 0) {
        GIVES(0, shmemx_wait_event(second, SHMEMX_EVENT_WRITE, 20));
        GIVES(111, other[0]);
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(222, memory[0]);
        GIVES(111, other[0]);
    }
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(second));
}

/* Too large: both sides are told, nothing is written, and it goes on. */
static void too_large(void)
{
    static int64_t much[200];
    GIVES(0, shmemx_barrier());
    if (me == 1) {
        REFUSES(EMSGSIZE, "ends at byte 1600, but the region that PE 0 waits in has 1024",
                shmemx_put_to_waiting(0, 0, much, sizeof much, 20));
        REFUSES(EMSGSIZE, "", shmemx_put_to_waiting(0, 1020, much, 8, 20));
        REFUSES(EMSGSIZE, "", shmemx_put_to_waiting(0, SIZE_MAX, much, 8, 20)); /* the sum wraps */
        GIVES(0, shmemx_put_to_waiting(0, 1016, &(int64_t){88}, 8, 20));
    } else if (me == 0) {
        memory[0] = 55;
        REFUSES(EMSGSIZE, "a put ends at byte 1600 of the waiting region, but it has 1024",
                shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        REFUSES(EMSGSIZE, "a put ends at byte 1028", shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        REFUSES(EMSGSIZE, "", shmemx_wait_event(mine, SHMEMX_EVENT_ANY, 20));
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(88, memory[127]);
        GIVES(55, memory[0]);
    }
}

static void timeouts(void)
{
    double start = seconds_now();
    REFUSES(ETIMEDOUT, "waited in no region within 0.05 seconds", shmemx_put_to_waiting(right(), 0, "x", 1, 0.05));
    CHECK(seconds_now() - start >= 0.05 && seconds_now() - start < 5);
    GIVES(0, shmemx_barrier());
    REFUSES(ETIMEDOUT, "no put came", shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 0.02));
    GIVES(0, shmemx_barrier());
    /* An offer that was taken back is not put into. */
    if (me == 1)
        REFUSES(ETIMEDOUT, "PE 0 waited in no region", shmemx_put_to_waiting(0, 0, "x", 1, 0.05));
    REFUSES(EINVAL, "this PE itself", shmemx_put_to_waiting(me, 0, "x", 1, 1));
    REFUSES(EINVAL, "pe is -1", shmemx_put_to_waiting(-1, 0, "x", 1, 1));
    REFUSES(EINVAL, "source is NULL", shmemx_put_to_waiting(right(), 0, NULL, 1, 1));
}

/* Everybody puts to the right and nobody waits: all are told, soon. */
static void deadlock(void)
{
    GIVES(0, shmemx_barrier());
    double start = seconds_now();
    REFUSES(EDEADLK, "nobody waits for either", shmemx_put_to_waiting(right(), 0, "x", 1, 20));
    CHECK(seconds_now() - start < 5, "after %g s", seconds_now() - start);
    GIVES(0, shmemx_barrier());
    round_and_round(); /* and it goes on */
}

static int asked;

static int interrupt(void)
{
    return ++asked >= 3;
}

static void interrupted(void)
{
    GIVES(0, shmemx_set_interrupt(interrupt));
    double start = seconds_now();
    REFUSES(EINTR, "interrupted", shmemx_wait_event(mine, SHMEMX_EVENT_READ, 20));
    asked = 0;
    REFUSES(EINTR, "interrupted", shmemx_put_to_waiting(right(), 0, "x", 1, 20));
    asked = 0;
    REFUSES(EINTR, "interrupted", shmemx_wait_value(mine, 0, SHMEMX_INT64, SHMEM_CMP_EQ, &(int64_t){-5}, 20));
    CHECK(seconds_now() - start < 10);
    GIVES(0, shmemx_set_interrupt(NULL));
}

/* A get of what somebody holds while that one waits for the reader. */
static void waits_for_readers(void)
{
    GIVES(0, shmemx_barrier());
    if (me == 0) {
        for (int pe = 1; pe < n; pe++)
            GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_READ, 20));
        return;
    }
    shmemx_region_t theirs;
    int64_t copy[128];
    GIVES(0, shmemx_region_at(mine, 0, 20, &theirs));
    GIVES(0, shmemx_get(copy, theirs, 0, sizeof copy));
}

/* There is nobody to wait for, and each call says so or waits as long as it was told to. */
static void alone(void)
{
    REFUSES(EINVAL, "it cannot wait and put at the same time", shmemx_put_to_waiting(0, 0, "x", 1, 20));
    REFUSES(EINVAL, "the job has PEs 0 to 0", shmemx_put_to_waiting(1, 0, "x", 1, 20));
    REFUSES(ETIMEDOUT, "", shmemx_wait_event(mine, SHMEMX_EVENT_READ, 0.05));
    GIVES(0, shmemx_put(mine, 0, &(int64_t){7}, 8)); /* into its own region counts, too */
    GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
    GIVES(0, shmemx_wait_value(mine, 0, SHMEMX_INT64, SHMEM_CMP_EQ, &(int64_t){7}, 20));
    REFUSES(ETIMEDOUT, "", shmemx_wait_value(mine, 0, SHMEMX_INT64, SHMEM_CMP_EQ, &(int64_t){8}, 0.05));
}

static void with_others(void)
{
    CASE(many_to_one);
    CASE(in_order);
    CASE(round_and_round);
    CASE(where_it_waits);
    CASE(too_large);
    CASE(timeouts);
    CASE(deadlock);
    CASE(interrupted);
    CASE(waits_for_readers);
}

int main(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "16M", 1);
    multi_begin();
    GIVES(0, shmemx_register(memory, sizeof memory, NULL, &mine));
    if (n == 1)
        CASE(alone);
    else
        with_others();
    GIVES(0, shmemx_deregister(mine));
    return multi_end();
}
