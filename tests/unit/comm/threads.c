// SPDX-License-Identifier: Apache-2.0
// Several threads of one PE: handles that are used while they end, registering, waiting and waking, puts and atomics.
#include "unit.h"

#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdatomic.h>

enum { THREADS = 4 };

/* Runs the function in THREADS threads, with their numbers. */
static void in_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, function, (void *)i), 0); /* NOLINT: a number */
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* cmocka's checks belong to the main thread: others count what went wrong. */
static _Atomic int wrong;
static _Atomic uint64_t told; /* the line of one of them */
#define WANT(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            atomic_fetch_add(&wrong, 1);                                                                               \
            atomic_store(&told, __LINE__);                                                                             \
        }                                                                                                              \
    } while (0)

static void nothing_went_wrong(void)
{
    if (atomic_load(&wrong))
        fail_msg("%d checks in threads failed, one in line %d", atomic_load(&wrong), (int)atomic_load(&told));
}

/* --- handles --------------------------------------------------------------------------------------------------------
 */

static _Atomic(shmemx_region_t) common;
static _Atomic bool over;

/* Uses whatever region there is; it may end at any time. */
static void *use(void *number)
{
    char work[64];
    while (!atomic_load(&over)) {
        shmemx_region_t region = atomic_load(&common);
        shmemx_region_info_t info;
        int rc = (intptr_t)number % 2 ? shmemx_get(work, region, 0, sizeof work) : shmemx_region_info(region, &info);
        WANT(rc == 0 || rc == -EINVAL || rc == -ENOENT);
    }
    return NULL;
}

static void *end_and_begin(void *unused)
{
    static char memory[100][64];
    (void)unused;
    for (int i = 0; i < 300; i++) {
        shmemx_region_t next, last;
        WANT(shmemx_register(memory[i % 100], 64, NULL, &next) == 0);
        last = atomic_exchange(&common, next);
        if (last)
            WANT(shmemx_deregister(last) == 0);
    }
    WANT(shmemx_deregister(atomic_load(&common)) == 0);
    atomic_store(&over, true);
    return NULL;
}

static void *either(void *number)
{
    return (intptr_t)number == 0 ? end_and_begin(NULL) : use(number);
}

static void handles_that_end(void **state)
{
    (void)state;
    atomic_store(&common, NULL);
    atomic_store(&over, false);
    in_threads(either);
    nothing_went_wrong();
}

/* Only one of several that deregister the same region does it. */
static _Atomic int done;

static void *deregister_it(void *unused)
{
    (void)unused;
    int rc = shmemx_deregister(atomic_load(&common));
    WANT(rc == 0 || rc == -EINVAL);
    if (rc == 0)
        atomic_fetch_add(&done, 1);
    return NULL;
}

static void deregistered_once(void **state)
{
    static char memory[64];
    (void)state;
    for (int i = 0; i < 50; i++) {
        shmemx_region_t region;
        ok(shmemx_register(memory, sizeof memory, NULL, &region));
        atomic_store(&common, region);
        atomic_store(&done, 0);
        in_threads(deregister_it);
        assert_int_equal(atomic_load(&done), 1);
    }
    nothing_went_wrong();
}

/* --- registering ----------------------------------------------------------------------------------------------------
 */

/* Objects of all threads lie on the same pages, and are written while others are registered. */
static char beside[THREADS][1000];

static void *register_own(void *number)
{
    char *own = beside[(intptr_t)number], name[32], work[1000];
    for (int i = 0; i < 60; i++) {
        shmemx_region_t region, found;
        shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
        snprintf(name, sizeof name, "thread %d", (int)(intptr_t)number);
        attr.name = name;
        memset(own, i, sizeof beside[0]);
        WANT(shmemx_register(own, sizeof beside[0], &attr, &region) == 0);
        WANT(shmemx_region_find(0, name, 0, 1, &found) == 0);
        WANT(shmemx_get(work, found, 0, sizeof work) == 0);
        for (size_t k = 0; k < sizeof work; k++)
            WANT(work[k] == (char)i);
        WANT(shmemx_put(region, 500, "new", 3) == 0);
        WANT(memcmp(own + 500, "new", 3) == 0);
        WANT(shmemx_region_close(found) == 0);
        WANT(shmemx_deregister(region) == 0);
        WANT(memcmp(own + 500, "new", 3) == 0 && own[499] == (char)i);
    }
    return NULL;
}

static void registering(void **state)
{
    (void)state;
    in_threads(register_own);
    nothing_went_wrong();
}

/* --- waiting --------------------------------------------------------------------------------------------------------
 */

static int64_t turn[16]; /* registered; turn[0] counts */
static shmemx_region_t turns;

/* Each thread waits for its number, and passes on. */
static void *take_turns(void *number)
{
    for (int64_t round = 0; round < 200; round++) {
        int64_t mine = round * THREADS + (intptr_t)number;
        WANT(shmemx_wait_value(turns, 0, SHMEMX_INT64, SHMEM_CMP_EQ, &mine, 20) == 0);
        WANT(shmemx_atomic(turns, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &(int64_t){1}, NULL, NULL) == 0);
    }
    return NULL;
}

static void waiting(void **state)
{
    (void)state;
    turn[0] = 0;
    ok(shmemx_register(turn, sizeof turn, NULL, &turns));
    in_threads(take_turns);
    nothing_went_wrong();
    assert_int_equal(turn[0], 200 * THREADS);
    ok(shmemx_deregister(turns));
}

/* Two threads wait for events, two make them: every event is taken by one. */
static _Atomic int taken;

static void *events_of_both_kinds(void *number)
{
    for (int i = 0; i < 300; i++) {
        if ((intptr_t)number % 2 == 0)
            WANT(shmemx_put(turns, 8 + 8 * (size_t)(intptr_t)number, &(int64_t){i}, 8) == 0);
        else {
            WANT(shmemx_wait_event(turns, SHMEMX_EVENT_WRITE, 20) == 0);
            atomic_fetch_add(&taken, 1);
        }
    }
    return NULL;
}

static void events(void **state)
{
    (void)state;
    ok(shmemx_register(turn, sizeof turn, NULL, &turns));
    in_threads(events_of_both_kinds);
    nothing_went_wrong();
    assert_int_equal(atomic_load(&taken), 600);
    refuses(ETIMEDOUT, "no put came", shmemx_wait_event(turns, SHMEMX_EVENT_WRITE, 0));
    ok(shmemx_deregister(turns));
}

/* A wait ends when another thread deregisters the region. */
static void *wait_long(void *unused)
{
    (void)unused;
    int rc = shmemx_wait_event(turns, SHMEMX_EVENT_READ, 20);
    WANT(rc == -ENOENT || rc == -EINVAL); /* in it, or just before */
    WANT(strstr(shmemx_last_error(), "deregistered"));
    return NULL;
}

static void a_wait_that_ends(void **state)
{
    pthread_t threads[2];
    (void)state;
    ok(shmemx_register(turn, sizeof turn, NULL, &turns));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_long, NULL), 0);
    usleep(50000);
    ok(shmemx_deregister(turns));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    nothing_went_wrong();
}

/* --- the symmetric heap ---------------------------------------------------------------------------------------------
 */

static long *block;
enum { TIMES = 3000, PART = 64 };

static void *puts_and_atomics(void *number)
{
    size_t mine = 8 + (size_t)(intptr_t)number * PART;
    long work[PART];
    for (long i = 1; i <= TIMES; i++) {
        shmem_long_atomic_inc(&block[0], 0);
        shmem_long_atomic_add(&block[1], 2, 0);
        (void)shmem_int64_atomic_fetch_xor((int64_t *)&block[2], (int64_t)1 << (intptr_t)number, 0);
        for (int k = 0; k < PART; k++)
            work[k] = i;
        shmem_long_put(&block[mine], work, PART, 0);
        shmem_quiet();
        shmem_long_get(work, &block[mine], PART, 0);
        WANT(work[0] == i && work[PART - 1] == i);
        shmem_fence();
    }
    return NULL;
}

static void puts_in_a_job_of_one(void **state)
{
    (void)state;
    block = shmem_calloc(8 + THREADS * PART, sizeof *block);
    in_threads(puts_and_atomics);
    nothing_went_wrong();
    assert_int_equal(block[0], THREADS * TIMES);
    assert_int_equal(block[1], 2 * THREADS * TIMES);
    assert_int_equal(block[2], 0);
    shmem_free(block);
}

/* A lock made of an atomic: who holds it changes plain memory. */
static void *under_a_lock(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        while (shmem_long_atomic_compare_swap(&block[0], 0, 1, 0) != 0)
            ;
        block[1]++;
        shmem_long_atomic_set(&block[0], 0, 0);
    }
    return NULL;
}

static void a_lock_of_an_atomic(void **state)
{
    (void)state;
    block = shmem_calloc(2, sizeof *block);
    in_threads(under_a_lock);
    assert_int_equal(block[1], 500 * THREADS);
    shmem_free(block);
}

/* What others have is used while this thread allocates. */
static void *put_meanwhile(void *number)
{
    while (!atomic_load(&over))
        shmem_long_p(&block[(intptr_t)number], 1, 0);
    return NULL;
}

static void puts_while_the_heap_grows(void **state)
{
    enum { BLOCKS = 100 };
    pthread_t threads[2];
    void *blocks[BLOCKS];
    (void)state;
    block = shmem_calloc(2, sizeof *block);
    atomic_store(&over, false);
    for (intptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_meanwhile, (void *)i), 0); /* NOLINT: a number */
    for (int i = 0; i < BLOCKS; i++)
        assert_non_null(blocks[i] = shmem_malloc(20000));
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        shmem_free(blocks[i]);
    shmem_free(block);
}

/* Signals from thread to thread. */
static void *pass_signals(void *number)
{
    uint64_t *signals = (uint64_t *)block, own = (uint64_t)(intptr_t)number, next = (own + 1) % THREADS;
    for (uint64_t i = 1; i <= 200; i++) {
        if (own != 0)
            WANT(shmem_signal_wait_until(&signals[own], SHMEM_CMP_GE, i) >= i);
        shmem_uint64_atomic_set(&signals[next], i, 0);
        if (own == 0)
            WANT(shmem_signal_wait_until(&signals[0], SHMEM_CMP_GE, i) >= i);
    }
    return NULL;
}

static void signals_between_threads(void **state)
{
    (void)state;
    block = shmem_calloc(THREADS, sizeof *block);
    in_threads(pass_signals);
    nothing_went_wrong();
    shmem_free(block);
}

/* --- keys -----------------------------------------------------------------------------------------------------------
 */

static void *make_and_revoke_keys(void *unused)
{
    char key[SHMEMX_KEY_TEXT];
    while (!atomic_load(&over)) {
        WANT(shmemx_export(block, sizeof *block, NULL, key) == 0);
        WANT(shmemx_revoke(key, 0) == 0);
    }
    return unused;
}

/* A child is not kept waiting for a lock that a thread of its parent had. */
static void forked_while_keys_are_made(void **state)
{
    char key[SHMEMX_KEY_TEXT];
    pthread_t thread;
    (void)state;
    block = shmem_calloc(1, sizeof *block);
    ok(shmemx_export(block, sizeof *block, NULL, key));
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, make_and_revoke_keys, NULL), 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            child_check(shmemx_revoke(key, 0) < 0); /* it is the parent's */
            _exit(0);
        }
        child_succeeds(child);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    nothing_went_wrong();
    ok(shmemx_revoke(key, 0));
    shmem_free(block);
}

/* --- beginning and end ----------------------------------------------------------------------------------------------
 */

/* Whether there is a job may be asked at any time; and keys need none, though they may name PEs of one. */
static void *ask_at_any_time(void *unused)
{
    while (!atomic_load(&over)) {
        shmemx_import_t import;
        int initialized = -1;
        shmem_query_initialized(&initialized);
        WANT(initialized == 0 || initialized == 1);
        WANT(shmemx_import("no key", SHMEMX_IMPORT_READ, NULL, &import) == -EINVAL);
    }
    return unused;
}

static void asked_during_init_and_finalize(void **state)
{
    pthread_t thread;
    (void)state;
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, ask_at_any_time, NULL), 0);
    for (int i = 0; i < 20; i++) {
        ok(shmemx_finalize());
        assert_int_equal(shmemx_initialized(), 0);
        ok(shmemx_init(NULL));
        assert_int_equal(shmemx_initialized(), 1);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    nothing_went_wrong();
}

static void *look_up_what_is_none(void *unused)
{
    while (!atomic_load(&over)) {
        shmemx_region_info_t info;
        WANT(shmemx_region_info((shmemx_region_t)(uintptr_t)1, &info) == -EINVAL);
    }
    return unused;
}

/* The first region of a job, while other threads ask for what is none. */
static void the_first_region(void **state)
{
    pthread_t thread;
    (void)state;
    for (int i = 0; i < 5; i++) {
        ok(shmemx_finalize());
        ok(shmemx_init(NULL));
        atomic_store(&over, false);
        assert_int_equal(pthread_create(&thread, NULL, look_up_what_is_none, NULL), 0);
        ok(shmemx_register(turn, sizeof turn, NULL, &turns));
        atomic_store(&over, true);
        pthread_join(thread, NULL);
        ok(shmemx_deregister(turns));
    }
    nothing_went_wrong();
}

static int join(void **state)
{
    (void)state;
    setenv("SHMEM_SYMMETRIC_SIZE", "16M", 1);
    return shmemx_init(NULL);
}

static int leave(void **state)
{
    (void)state;
    return shmemx_finalize();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_that_end),
        cmocka_unit_test(deregistered_once),
        cmocka_unit_test(registering),
        cmocka_unit_test(waiting),
        cmocka_unit_test(events),
        cmocka_unit_test(a_wait_that_ends),
        cmocka_unit_test(puts_in_a_job_of_one),
        cmocka_unit_test(a_lock_of_an_atomic),
        cmocka_unit_test(puts_while_the_heap_grows),
        cmocka_unit_test(signals_between_threads),
        cmocka_unit_test(forked_while_keys_are_made),
        cmocka_unit_test(asked_during_init_and_finalize),
        cmocka_unit_test(the_first_region),
    };
    return cmocka_run_group_tests(tests, join, leave);
}
