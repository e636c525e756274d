// SPDX-License-Identifier: Apache-2.0
// What other implementations of the standard were seen to do wrong, as programs meet it.
#include "random_ops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, TIMES = 200 };

static int me, n, right, left;
static uint64_t word, tickets[TIMES * 64]; /* static data: symmetric, also where the program lies at a random address */
static int seen[THREADS], flag, answer;
static long early;

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    printf("PE %d of %d: %s\n", me, n, what);
    fflush(stdout);
    shmem_global_exit(1);
}

/* A block of calloc is zero when calloc returns, everywhere: a put into a neighbour's right after it stays. */
static void calloc_then_put(void)
{
    for (int i = 0; i < TIMES; i++) {
        const size_t count = i % 2 ? 1 : 20000;
        long *block = shmem_calloc(count, sizeof *block);
        shmem_long_p(&block[count - 1], me + 1, right);
        shmem_barrier_all();
        expect(block[count - 1] == left + 1, "a put after calloc was lost");
        for (size_t k = 0; k + 1 < count; k++)
            expect(block[k] == 0, "calloc did not clear its block");
        memset(block, 0xff, count * sizeof *block); /* so that the next one has something to clear */
        shmem_free(block);
    }
}

static void nothing_is_fine(void)
{
    const struct shape none = {.block = 0, .blocks = 0, .remote_stride = 1, .local_stride = 1};
    expect(!shmem_malloc(0) && !shmem_calloc(0, 8) && !shmem_calloc(8, 0), "malloc of 0 bytes is not NULL");
    shmem_free(NULL);
    for (int type = 0; type < MOVERS; type++)
        for (enum move form = 0; form < MOVES; form++)
            if (form != P && form != G && form != PUT_SIGNAL && form != PUT_SIGNAL_NBI)
                for (int ctx = 0; ctx < 2; ctx++)
                    movers[type].move(form, ctx, NULL, NULL, none, (struct signal){0}, right);
    shmem_putmem(NULL, NULL, 0, right);
    shmem_getmem(NULL, NULL, 0, right);
    shmem_long_ibput(NULL, NULL, 1, 1, 0, 3, right); /* blocks of nothing */
    shmem_ibget128(NULL, NULL, 1, 1, 0, 3, right);
    word = 0;
    shmem_barrier_all();
    shmem_int_put_signal(NULL, NULL, 0, &word, 5, SHMEM_SIGNAL_SET, right);
    expect(shmem_signal_wait_until(&word, SHMEM_CMP_NE, 0) == 5, "an empty put brought no signal");
    shmem_barrier_all();
    expect(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0, "a reduction of nothing failed");
    expect(shmem_broadcastmem(SHMEM_TEAM_WORLD, NULL, NULL, 0, 0) == 0, "a broadcast of nothing failed");
    expect(shmem_fcollectmem(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0, "an fcollect of nothing failed");
}

/* All PEs at one word at once, with every atomic whose result does not depend on the order. */
static void crowd(int type, enum amo amo, bool ctx, bool nbi)
{
    const size_t size = atomics[type].size;
    const uint64_t mask = size == 8 ? UINT64_MAX : UINT32_MAX;
    word = amo == AND || amo == FETCH_AND ? mask : 0;
    shmem_barrier_all();
    const uint64_t bit = (uint64_t)1 << (me % 31), a = amo == AND || amo == FETCH_AND ? ~bit : bit;
    for (int i = 0; i < TIMES + 1; i++)
        (void)atomics[type].amo(amo, ctx, nbi, &word, a, 0, 0);
    shmem_barrier_all();
    uint64_t wanted = 0, sum = 0, differ = 0;
    for (int pe = 0; pe < n; pe++) { /* beyond 31 PEs bits meet */
        wanted |= (uint64_t)1 << pe % 31;
        sum += (uint64_t)1 << pe % 31;
        differ ^= (uint64_t)1 << pe % 31;
    }
    if (amo == AND || amo == FETCH_AND)
        wanted = mask & ~wanted;
    if (amo == INC || amo == FETCH_INC)
        wanted = (uint64_t)n * (TIMES + 1);
    if (amo == ADD || amo == FETCH_ADD)
        wanted = sum * (TIMES + 1);
    if (amo == XOR || amo == FETCH_XOR) /* an odd number of times */
        wanted = differ;
    if (me == 0 && word != (wanted & mask)) {
        printf("shmem_%s_atomic number %d: %#lx instead of %#lx\n", atomics[type].name, (int)amo, (unsigned long)word,
               (unsigned long)(wanted & mask));
        expect(false, "atomics of several PEs at one word got lost");
    }
    shmem_barrier_all();
}

static void crowds(void)
{
    for (int type = REALS; type < ATOMICS; type++)
        for (enum amo amo = INC; amo < atomics[type].end; amo++)
            for (int way = 0; way < 4; way++)
                if (way % 2 == 0 || amo_fetches(amo))
                    crowd(type, amo, way / 2, way % 2);
}

/* Every number is drawn once. */
static void all_tickets(void)
{
    word = 0;
    memset(tickets, 0, sizeof tickets);
    shmem_barrier_all();
    for (int i = 0; i < TIMES; i++)
        shmem_uint64_atomic_inc(&tickets[shmem_uint64_atomic_fetch_inc(&word, 0)], 0);
    shmem_barrier_all();
    for (int i = 0; i < TIMES * n && me == 0; i++)
        expect(tickets[i] == 1, "fetch_inc returned a number twice");
    shmem_barrier_all();
}

static void *wait_in_thread(void *argument)
{
    const int k = (int)(intptr_t)argument;
    for (int i = 1; i <= TIMES; i++) {
        shmem_int_wait_until(&seen[k], SHMEM_CMP_GE, i);
        shmem_int_atomic_inc(&answer, left);
    }
    return NULL;
}

/* Several threads wait for static data, each for its own, while others use the library; who updates is another PE, or
   with one PE another thread. */
static void waits_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        expect(pthread_create(&threads[k], NULL, wait_in_thread, (void *)(intptr_t)k) == 0, "no thread");
    for (int i = 1; i <= TIMES; i++) {
        for (int k = 0; k < THREADS; k++)
            shmem_int_p(&seen[k], i, right);
        shmem_quiet();
        shmem_int_wait_until(&answer, SHMEM_CMP_GE, i * THREADS);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    shmem_barrier_all();
}

static void *wait_for_flag(void *unused)
{
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 7);
    return unused;
}

/* Who waits was asleep for a while, and the update is this PE's own: by put to itself, and by an atomic. */
static void own_update_wakes(void)
{
    for (int way = 0; way < 2; way++) {
        pthread_t thread;
        shmem_int_atomic_set(&flag, 0, me);
        expect(pthread_create(&thread, NULL, wait_for_flag, NULL) == 0, "no thread");
        usleep(20000);
        if (way)
            shmem_int_atomic_set(&flag, 7, me);
        else
            shmem_int_p(&flag, 7, me);
        pthread_join(thread, NULL);
    }
    shmem_barrier_all();
}

int main(void)
{
    int provided;
    early = 3; /* stores before init belong to the symmetric data, too */
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    n = shmem_n_pes();
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    expect(provided == SHMEM_THREAD_MULTIPLE, "SHMEM_THREAD_MULTIPLE was not given");
    expect(shmem_long_g(&early, right) == 3, "a store before init was lost");
    calloc_then_put();
    nothing_is_fine();
    crowds();
    all_tickets();
    waits_in_threads();
    own_update_wakes();
    if (me == 0)
        printf("ok - none of the faults\n");
    shmem_finalize();
    return 0;
}
