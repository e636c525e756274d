// SPDX-License-Identifier: Apache-2.0
// Ordering between two PEs, by small programs that go wrong when a fence is too weak:
//
//   store buffering    PE 0: put x; quiet; get y     PE 1: put y; quiet; get x     not both read the old value
//   fence              PE 0: put data; fence; put flag      PE 1: sees the flag, then the data
//   put with signal    PE 0: put_signal(data, flag)         PE 1: sees the flag, then the data
//   barrier            both: put; barrier; look at one's own memory
//
// A processor reorders rarely, so each runs many times, for a bounded time.
#include "multi.h"

#include <sched.h>

#define LINE _Alignas(128)

/* Symmetric: PE 0 holds x, PE 1 holds y, both on lines of their own; `go` and `done` are plain flags of the test. */
struct board {
    LINE long x;
    LINE long y;
    LINE long go;
    LINE long done;
    LINE long seen;
    LINE long flag;
    LINE uint64_t signal;
    LINE long data[64];
};
static struct board *board;
static bool crowded; /* fewer cores than PEs: waits must let the other one run */

static void until(const long *word, long value)
{
    for (unsigned spins = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) < value; spins++)
        if (crowded || spins > 100000)
            sched_yield();
}

/* PE 0 writes x where PE 1 is, and PE 1 writes y where PE 0 is, so that each of put and get crosses. */
static void store_buffering(void)
{
    long both = 0, rounds = crowded ? 20000 : 2000000;
    double end = seconds_now() + 4;
    struct board *own = shmem_ptr(board, me), *other = shmem_ptr(board, 1 - me);
    CHECK(own && other);
    for (long i = 1; i <= rounds; i++) {
        long got;
        if (me == 0) {
            if (i % 1024 == 0 && seconds_now() > end)
                rounds = i; /* told to the other below */
            own->x = own->y = 0;
            other->x = other->y = 0;
            shmem_quiet();
            shmem_long_p(&board->flag, rounds, 1);
            __atomic_store_n(&other->go, i, __ATOMIC_RELEASE);
            for (volatile int k = 0; k < (int)(i & 31); k++)
                ;
            shmem_long_p(&board->x, 1, 1);
            shmem_quiet();
            got = shmem_long_g(&board->y, 0);
            until(&own->done, i);
            both += !got && !own->seen;
        } else {
            until(&own->go, i);
            rounds = own->flag;
            shmem_long_p(&board->y, 1, 0);
            shmem_quiet();
            got = shmem_long_g(&board->x, 1);
            other->seen = got;
            __atomic_store_n(&other->done, i, __ATOMIC_RELEASE);
        }
    }
    CHECK(both == 0, "both read the old value %ld times in %ld", both, rounds);
}

static void reset(void)
{
    shmem_barrier_all();
    memset(board, 0, sizeof *board);
    shmem_barrier_all();
}

/* The flag tells the number of the round; the data of that round or a later one must be there. */
static void fence_orders_puts(void)
{
    enum { ROUNDS = 200000 };
    long part[8];
    reset();
    if (me == 0) {
        for (long i = 1; i <= ROUNDS; i++) {
            for (int k = 0; k < 8; k++)
                part[k] = i;
            shmem_long_put(board->data + 8 * (i % 8), part, 8, 1);
            shmem_fence();
            shmem_long_p(&board->flag, i, 1);
            until(&board->done, i - 3); /* so that no part is written again while it is read */
        }
        return;
    }
    for (long last = 0; last < ROUNDS;) {
        until(&board->flag, last + 1);
        last = __atomic_load_n(&board->flag, __ATOMIC_ACQUIRE);
        for (int k = 7; k >= 0; k--) {
            long found = __atomic_load_n(&board->data[8 * (last % 8) + k], __ATOMIC_RELAXED);
            CHECK(found == last, "flag %ld came before its data (%ld at %d)", last, found, k);
        }
        shmem_long_p(&board->done, last, 0);
    }
}

static void signal_follows_data(void)
{
    enum { ROUNDS = 100000 };
    long part[64];
    reset();
    for (long i = 1; i <= ROUNDS; i++) {
        if (me == 0) {
            for (int k = 0; k < 64; k++)
                part[k] = i;
            shmem_long_put_signal(board->data, part, 64, &board->signal, (uint64_t)i, SHMEM_SIGNAL_SET, 1);
            until(&board->done, i);
        } else {
            CHECK(shmem_signal_wait_until(&board->signal, SHMEM_CMP_GE, (uint64_t)i) == (uint64_t)i);
            for (int k = 63; k >= 0; k -= 9)
                CHECK(board->data[k] == i, "signal %ld came before its data (%ld at %d)", i, board->data[k], k);
            shmem_long_p(&board->done, i, 0);
        }
    }
}

static void barrier_makes_visible(void)
{
    enum { ROUNDS = 20000 };
    long part[64];
    reset();
    for (long i = 1; i <= ROUNDS; i++) {
        for (int k = 0; k < 64; k++)
            part[k] = i * 2 + me;
        shmem_long_put(board->data, part, 64, 1 - me);
        shmem_barrier_all();
        for (int k = 63; k >= 0; k -= 7)
            CHECK(board->data[k] == i * 2 + 1 - me, "round %ld: %ld at %d", i, board->data[k], k);
        shmem_barrier_all();
    }
}

int main(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "16M", 1);
    multi_begin();
    CHECK(n == 2);
    cpu_set_t cores, one;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    crowded = CPU_COUNT(&cores) < 2;
    size_t cpu = 0;
    for (int skip = me; !crowded && (!CPU_ISSET(cpu, &cores) || skip-- > 0); cpu++)
        ;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (!crowded) /* reordering is seen only between two cores */
        sched_setaffinity(0, sizeof one, &one);
    board = shmem_align(4096, sizeof *board);
    memset(board, 0, sizeof *board);
    CASE(store_buffering);
    CASE(fence_orders_puts);
    CASE(signal_follows_data);
    CASE(barrier_makes_visible);
    shmem_free(board);
    return multi_end();
}
