// SPDX-License-Identifier: Apache-2.0
// Several threads of one process: exclusion, hand-over, fairness, timeouts, and threads that end with something held.
#include "sleepers.h"
#include "sync.h"

enum { THREADS = 4 };

static shmemx_pool_t pool;
static shmemx_mutex_t mutex;
static shmemx_rwlock_t rwlock;
static shmemx_semaphore_t semaphore;
static shmemx_cond_t cond;
static shmemx_barrier_t barrier;
static shmemx_event_t event;
static shmemx_word_t word;
static long counter, other; /* guarded by what is tested */
static _Atomic int step, inside;

static int begin(void **state)
{
    (void)state;
    pool = make_pool();
    counter = other = 0;
    atomic_store(&step, 0);
    atomic_store(&inside, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ok(shmemx_pool_close(pool));
    return 0;
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, begin, end)

static pthread_t start(void *(*function)(void *), intptr_t number)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, (void *)number), 0); /* NOLINT: a number */
    return thread;
}

static void in_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        threads[i] = start(function, i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    nothing_went_wrong();
}

/* --- mutexes ------------------------------------------------------------------------------------------------------ */

enum { TIMES = 3000 };

static void *count_up(void *number)
{
    for (int i = 0; i < TIMES; i++) {
        int rc = i % 3 ? shmemx_mutex_lock(mutex, (intptr_t)number % 2 ? -1 : 30) : shmemx_mutex_trylock(mutex);
        if (rc == -EBUSY)
            rc = shmemx_mutex_lock(mutex, -1);
        WANT(rc == 0);
        counter++;
        WANT(shmemx_mutex_unlock(mutex) == 0);
    }
    return NULL;
}

static void mutex_excludes(void **state)
{
    (void)state;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    in_threads(count_up);
    assert_int_equal(counter, TIMES * THREADS);
    ok(shmemx_mutex_destroy(mutex));
}

static void *end_with_it(void *unused)
{
    (void)unused;
    WANT(shmemx_mutex_lock(mutex, -1) == 0);
    counter = 1;
    return NULL;
}

static void *want_it(void *unused)
{
    (void)unused;
    double began = seconds();
    int rc = shmemx_mutex_lock(mutex, 20);
    WANT(rc == -EOWNERDEAD);
    WANT(counter == 1);
    WANT(seconds() - began < 10);
    WANT(shmemx_mutex_consistent(mutex) == 0);
    WANT(shmemx_mutex_unlock(mutex) == 0);
    return NULL;
}

static void *hold_a_while(void *unused)
{
    end_with_it(unused);
    atomic_store(&step, 1);
    WANT(wait_until(&step, 2));
    return NULL;
}

static void threads_end_with_mutexes(void **state)
{
    (void)state;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    pthread_join(start(end_with_it, 0), NULL);
    assert_int_equal(shmemx_mutex_locked(mutex), 0);
    refuses(EOWNERDEAD, "died", shmemx_mutex_trylock(mutex));
    ok(shmemx_mutex_consistent(mutex));
    ok(shmemx_mutex_unlock(mutex));
    ok(shmemx_mutex_lock(mutex, 0));
    ok(shmemx_mutex_unlock(mutex));
    pthread_t holder = start(hold_a_while, 0);
    assert_true(wait_until(&step, 1));
    refuses(EPERM, "this thread does not have it: slot", shmemx_mutex_unlock(mutex));
    refuses(EBUSY, "slot", shmemx_mutex_destroy(mutex));
    refuses(ETIMEDOUT, "slot", shmemx_mutex_lock(mutex, 0.001));
    pthread_t waiter = start(want_it, 0);
    await_sleepers(1);
    atomic_store(&step, 2);
    pthread_join(holder, NULL);
    pthread_join(waiter, NULL);
    /* given back without repair */
    pthread_join(start(end_with_it, 0), NULL);
    refuses(EOWNERDEAD, "died", shmemx_mutex_lock(mutex, -1));
    ok(shmemx_mutex_unlock(mutex));
    refuses(ENOTRECOVERABLE, "poisoned", shmemx_mutex_lock(mutex, -1));
    refuses(ENOTRECOVERABLE, "poisoned", shmemx_mutex_trylock(mutex));
    ok(shmemx_mutex_destroy(mutex));
    nothing_went_wrong();
}

/* --- readers and writers ------------------------------------------------------------------------------------------ */

static _Atomic int readers_most, readers_now;

static void *read_and_write(void *number)
{
    for (int i = 0; i < TIMES; i++) {
        if ((i + (intptr_t)number) % 4 == 0) {
            WANT(shmemx_rwlock_wrlock(rwlock, -1) == 0);
            WANT(atomic_load(&readers_now) == 0);
            counter++;
            other++;
        } else {
            int rc = i % 3 ? shmemx_rwlock_rdlock(rwlock, -1) : shmemx_rwlock_tryrdlock(rwlock);
            if (rc == -EBUSY)
                rc = shmemx_rwlock_rdlock(rwlock, 30);
            WANT(rc == 0);
            int now = atomic_fetch_add(&readers_now, 1) + 1;
            if (now > atomic_load(&readers_most))
                atomic_store(&readers_most, now);
            WANT(counter == other);
            atomic_fetch_sub(&readers_now, 1);
        }
        WANT(shmemx_rwlock_unlock(rwlock) == 0);
    }
    return NULL;
}

static void readers_and_writers(void **state)
{
    (void)state;
    for (unsigned seats = 1; seats <= 32; seats = seats == 1 ? 2 : seats * 16) { /* also fewer than threads */
        counter = other = 0;
        ok(shmemx_rwlock_create(pool, NULL, seats, &rwlock));
        in_threads(read_and_write);
        assert_int_equal(counter, THREADS * TIMES / 4);
        ok(shmemx_rwlock_destroy(rwlock));
    }
}

static _Atomic bool over;

/* As many readers as there are threads, without a gap between them. */
static void *read_always(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        WANT(shmemx_rwlock_rdlock(rwlock, -1) == 0);
        usleep(200);
        WANT(shmemx_rwlock_unlock(rwlock) == 0);
    }
    return NULL;
}

static void *write_always(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        WANT(shmemx_rwlock_wrlock(rwlock, -1) == 0);
        atomic_fetch_add(&step, 1); /* so many writers have had it */
        WANT(shmemx_rwlock_unlock(rwlock) == 0);
    }
    return NULL;
}

/* Readers that never leave the lock alone do not keep writers out. */
static void writers_do_not_starve(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    atomic_store(&over, false);
    ok(shmemx_rwlock_create(pool, NULL, 0, &rwlock));
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(read_always, 0);
    for (int i = 0; i < 20; i++) {
        ok(shmemx_rwlock_wrlock(rwlock, 20));
        ok(shmemx_rwlock_unlock(rwlock));
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(shmemx_rwlock_destroy(rwlock));
    nothing_went_wrong();
}

static void *read_in_turn(void *unused)
{
    (void)unused;
    atomic_store(&inside, 1);
    WANT(shmemx_rwlock_rdlock(rwlock, 20) == 0);
    atomic_store(&inside, 2);
    WANT(shmemx_rwlock_unlock(rwlock) == 0);
    return NULL;
}

static void *write_once(void *unused)
{
    (void)unused;
    WANT(shmemx_rwlock_wrlock(rwlock, 20) == 0);
    atomic_fetch_add(&step, 1);
    WANT(atomic_load(&inside) == 2); /* the reader has had its turn */
    WANT(shmemx_rwlock_unlock(rwlock) == 0);
    return NULL;
}

/* A reader that waits while one writes is let in before a writer that waited as long. */
static void readers_have_their_turn(void **state)
{
    shmemx_rwlock_t lock;
    unsigned readers = 0;
    (void)state;
    ok(shmemx_rwlock_create(pool, "turns", 0, &rwlock));
    ok(shmemx_rwlock_find(pool, "turns", &lock));
    for (int i = 0; i < 5; i++) {
        atomic_store(&step, 0);
        ok(shmemx_rwlock_wrlock(rwlock, -1));
        pthread_t writer = start(write_once, 0), reader = start(read_in_turn, 0);
        assert_true(wait_until(&inside, 1));
        await_sleepers(2);
        ok(shmemx_rwlock_unlock(rwlock));
        pthread_join(reader, NULL);
        pthread_join(writer, NULL);
        atomic_store(&inside, 0);
    }
    nothing_went_wrong();
    atomic_store(&over, false);
    pthread_t writers[2] = {start(write_always, 0), start(write_always, 0)};
    for (int i = 0; i < 50; i++) { /* writers that never leave it alone do not keep readers out */
        ok(shmemx_rwlock_rdlock(rwlock, 20));
        ok(shmemx_rwlock_unlock(rwlock));
    }
    atomic_store(&over, true);
    pthread_join(writers[0], NULL);
    pthread_join(writers[1], NULL);
    ok(shmemx_rwlock_locked(lock, &readers, NULL));
    assert_int_equal(readers, 0);
    ok(shmemx_rwlock_close(lock));
    ok(shmemx_rwlock_destroy(rwlock));
    nothing_went_wrong();
}

static void *end_reading(void *unused)
{
    (void)unused;
    WANT(shmemx_rwlock_rdlock(rwlock, -1) == 0);
    return NULL;
}

static void *end_writing(void *unused)
{
    (void)unused;
    WANT(shmemx_rwlock_wrlock(rwlock, -1) == 0);
    return NULL;
}

static void threads_end_with_rwlocks(void **state)
{
    (void)state;
    ok(shmemx_rwlock_create(pool, NULL, 0, &rwlock));
    pthread_join(start(end_reading, 0), NULL);
    ok(shmemx_rwlock_wrlock(rwlock, 5));
    ok(shmemx_rwlock_unlock(rwlock));
    pthread_join(start(end_writing, 0), NULL);
    refuses(EOWNERDEAD, "not taken", shmemx_rwlock_rdlock(rwlock, 5));
    refuses(EOWNERDEAD, "not taken", shmemx_rwlock_tryrdlock(rwlock));
    refuses(EPERM, "writes", shmemx_rwlock_unlock(rwlock));
    refuses(EOWNERDEAD, "repair", shmemx_rwlock_wrlock(rwlock, 5));
    ok(shmemx_rwlock_consistent(rwlock));
    ok(shmemx_rwlock_unlock(rwlock));
    ok(shmemx_rwlock_rdlock(rwlock, 5));
    ok(shmemx_rwlock_unlock(rwlock));
    pthread_join(start(end_writing, 0), NULL);
    refuses(EOWNERDEAD, "repair", shmemx_rwlock_trywrlock(rwlock));
    ok(shmemx_rwlock_unlock(rwlock));
    refuses(ENOTRECOVERABLE, "poisoned", shmemx_rwlock_rdlock(rwlock, 5));
    refuses(ENOTRECOVERABLE, "poisoned", shmemx_rwlock_wrlock(rwlock, 5));
    refuses(ENOTRECOVERABLE, "poisoned", shmemx_rwlock_trywrlock(rwlock));
    ok(shmemx_rwlock_destroy(rwlock));
    nothing_went_wrong();
}

/* --- semaphores --------------------------------------------------------------------------------------------------- */

static int limit;

static void *take_units(void *number)
{
    for (int i = 0; i < TIMES; i++) {
        WANT(shmemx_semaphore_wait(semaphore, (intptr_t)number % 2 ? -1 : 30) == 0);
        WANT(atomic_fetch_add(&inside, 1) < limit);
        atomic_fetch_sub(&inside, 1);
        WANT(shmemx_semaphore_post(semaphore, 1) == 0);
    }
    return NULL;
}

static void *end_with_units(void *unused)
{
    (void)unused;
    WANT(shmemx_semaphore_wait(semaphore, -1) == 0);
    WANT(shmemx_semaphore_wait(semaphore, -1) == 0);
    return NULL;
}

static void semaphores(void **state)
{
    unsigned value;
    (void)state;
    for (int owned = 0; owned < 2; owned++)
        for (limit = 1; limit <= 3; limit += 2) {
            ok(shmemx_semaphore_create(pool, NULL, (unsigned)limit, 0, owned, &semaphore));
            in_threads(take_units);
            ok(shmemx_semaphore_value(semaphore, &value));
            assert_int_equal(value, limit);
            ok(shmemx_semaphore_destroy(semaphore));
        }
    ok(shmemx_semaphore_create(pool, NULL, 2, 0, 1, &semaphore));
    pthread_join(start(end_with_units, 0), NULL);
    ok(shmemx_semaphore_value(semaphore, &value));
    assert_int_equal(value, 2);
    ok(shmemx_semaphore_wait(semaphore, 5));
    ok(shmemx_semaphore_post(semaphore, 1));
    ok(shmemx_semaphore_destroy(semaphore));
}

static void *post_some(void *number)
{
    for (int i = 0; i < TIMES; i++)
        WANT(shmemx_semaphore_post(semaphore, (unsigned)(intptr_t)number + 1) == 0);
    return NULL;
}

static void *take_some(void *unused)
{
    (void)unused;
    for (int i = 0; i < TIMES * 3 / 2; i++)
        WANT(shmemx_semaphore_wait(semaphore, 60) == 0);
    return NULL;
}

static void *produce_or_consume(void *number)
{
    return (intptr_t)number < 2 ? post_some(number) : take_some(number);
}

static void posts_by_others(void **state)
{
    (void)state;
    double began = seconds();
    ok(shmemx_semaphore_create(pool, NULL, 0, 0, 0, &semaphore));
    in_threads(produce_or_consume);
    assert_true(seconds() - began < 30); /* and not by naps of 100 ms */
    refuses(EAGAIN, "no unit", shmemx_semaphore_trywait(semaphore));
    ok(shmemx_semaphore_destroy(semaphore));
}

/* --- conditions --------------------------------------------------------------------------------------------------- */

static int queue[8], queued;

static void *pass_on(void *number)
{
    bool producer = (intptr_t)number < 2;
    for (int i = 0; i < TIMES / 3; i++) {
        WANT(shmemx_mutex_lock(mutex, -1) == 0);
        while (producer ? queued == 8 : queued == 0)
            WANT(shmemx_cond_wait(cond, mutex, 60) == 0);
        if (producer)
            queue[queued++] = i + 1;
        else
            counter += queue[--queued] > 0;
        WANT(shmemx_cond_broadcast(cond) == 0);
        WANT(shmemx_mutex_unlock(mutex) == 0);
    }
    return NULL;
}

static void conditions(void **state)
{
    (void)state;
    queued = 0;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_cond_create(pool, NULL, &cond));
    in_threads(pass_on);
    assert_int_equal(counter, 2 * (TIMES / 3));
    ok(shmemx_cond_destroy(cond));
    ok(shmemx_mutex_destroy(mutex));
}

static void *wait_for_signal(void *number)
{
    WANT(shmemx_mutex_lock(mutex, -1) == 0);
    atomic_fetch_add(&step, 1);
    WANT(shmemx_cond_wait(cond, mutex, 30) == 0);
    queue[queued++] = (int)(intptr_t)number;
    WANT(shmemx_mutex_unlock(mutex) == 0);
    return NULL;
}

/* Who waited longest is signalled first; a condition that is awaited is not destroyed. */
static void signals_in_order(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    queued = 0;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_cond_create(pool, NULL, &cond));
    for (intptr_t i = 0; i < THREADS; i++) {
        threads[i] = start(wait_for_signal, i);
        assert_true(wait_until(&step, (int)i + 1));
        ok(shmemx_mutex_lock(mutex, -1)); /* it has let go of it: it waits */
        ok(shmemx_mutex_unlock(mutex));
    }
    refuses(EBUSY, "waits", shmemx_cond_destroy(cond));
    for (int i = 0; i < THREADS; i++) {
        ok(shmemx_cond_signal(cond));
        pthread_join(threads[i], NULL);
        assert_int_equal(queued, i + 1);
        assert_int_equal(queue[i], i);
    }
    ok(shmemx_cond_destroy(cond));
    ok(shmemx_mutex_destroy(mutex));
    nothing_went_wrong();
}

/* --- barriers, events, words -------------------------------------------------------------------------------------- */

static _Atomic int last;

static void *meet(void *number)
{
    (void)number;
    for (int i = 1; i <= TIMES / 3; i++) {
        atomic_fetch_add(&inside, 1);
        int rc = shmemx_barrier_wait(barrier, 60);
        WANT(rc == 0 || rc == 1);
        atomic_fetch_add(&last, rc == 1);
        WANT(atomic_load(&inside) >= THREADS * i && atomic_load(&inside) < THREADS * (i + 1));
    }
    atomic_fetch_add(&step, 1);
    while (atomic_load(&step) < THREADS) /* a thread that ends is missing */
        usleep(1000);
    return NULL;
}

static void *meet_once(void *unused)
{
    (void)unused;
    WANT(shmemx_barrier_wait(barrier, 30) >= 0);
    WANT(wait_until(&step, 1)); /* lives until the other has been told */
    return NULL;
}

static void *one_too_many(void *unused)
{
    (void)unused;
    WANT(shmemx_barrier_wait(barrier, 30) == -EUSERS);
    return NULL;
}

static void barriers(void **state)
{
    unsigned n;
    (void)state;
    atomic_store(&last, 0);
    ok(shmemx_barrier_create(pool, NULL, THREADS, &barrier));
    in_threads(meet);
    assert_int_equal(atomic_load(&last), TIMES / 3);
    refuses(EOWNERDEAD, "all who took part", shmemx_barrier_wait(barrier, 30));
    ok(shmemx_barrier_destroy(barrier));
    /* One ends after the first round, and this thread goes on alone. */
    ok(shmemx_barrier_create(pool, NULL, 2, &barrier));
    atomic_store(&step, 0);
    pthread_t one = start(meet_once, 0);
    assert_true(shmemx_barrier_wait(barrier, 30) >= 0);
    pthread_join(start(one_too_many, 0), NULL);
    atomic_store(&step, 1);
    pthread_join(one, NULL);
    refuses(EOWNERDEAD, "1 are expected", shmemx_barrier_wait(barrier, 30));
    ok(shmemx_barrier_state(barrier, &n, NULL));
    assert_int_equal(n, 1);
    assert_int_equal(shmemx_barrier_wait(barrier, 30), 1);
    nothing_went_wrong();
    ok(shmemx_barrier_destroy(barrier));
}

static void *ping(void *number)
{
    shmemx_event_t *events = (shmemx_event_t *)number;
    for (int i = 0; i < TIMES; i++) {
        WANT(shmemx_event_wait(events[0], 60) == 0);
        WANT(shmemx_event_set(events[1]) == 0);
    }
    return NULL;
}

static void *pass_event(void *unused)
{
    (void)unused;
    WANT(shmemx_event_wait(event, 30) == 0);
    atomic_fetch_add(&inside, 1);
    return NULL;
}

static void events(void **state)
{
    shmemx_event_t two[2];
    pthread_t threads[THREADS];
    (void)state;
    ok(shmemx_event_create(pool, NULL, 1, 0, &two[0]));
    ok(shmemx_event_create(pool, NULL, 1, 0, &two[1]));
    pthread_t other_side = start(ping, (intptr_t)two);
    for (int i = 0; i < TIMES; i++) {
        ok(shmemx_event_set(two[0]));
        ok(shmemx_event_wait(two[1], 60));
    }
    pthread_join(other_side, NULL);
    ok(shmemx_event_destroy(two[0]));
    ok(shmemx_event_destroy(two[1]));
    for (int automatic = 0; automatic < 2; automatic++) {
        ok(shmemx_event_create(pool, NULL, automatic, 0, &event));
        atomic_store(&inside, 0);
        for (int i = 0; i < THREADS; i++)
            threads[i] = start(pass_event, 0);
        await_sleepers(THREADS);
        refuses(EBUSY, "waits", shmemx_event_destroy(event));
        for (int i = 1; i <= (automatic ? THREADS : 1); i++) {
            ok(shmemx_event_set(event));
            assert_true(wait_until(&inside, automatic ? i : THREADS));
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&inside), THREADS);
        assert_int_equal(shmemx_event_is_set(event), !automatic);
        ok(shmemx_event_destroy(event));
    }
    nothing_went_wrong();
}

static void *change_word(void *number)
{
    for (uint64_t i = 0; i < TIMES; i++) { /* each waits for its number, and makes it the next one's */
        uint64_t now = 0;
        while (shmemx_word_load(word, &now) == 0 && now % THREADS != (uint64_t)(intptr_t)number)
            WANT(shmemx_word_wait(word, now, 60) == 0);
        counter++;
        WANT(shmemx_word_add(word, 1, NULL) == 0);
        WANT(shmemx_word_wake(word, INT_MAX) >= 0);
    }
    return NULL;
}

static void words(void **state)
{
    (void)state;
    for (unsigned width = 4; width <= 8; width += 4) {
        counter = 0;
        ok(shmemx_word_create(pool, NULL, width, 0, &word));
        in_threads(change_word);
        assert_int_equal(counter, TIMES * THREADS);
        ok(shmemx_word_destroy(word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {pool_test(mutex_excludes),
                                       pool_test(threads_end_with_mutexes),
                                       pool_test(readers_and_writers),
                                       pool_test(writers_do_not_starve),
                                       pool_test(readers_have_their_turn),
                                       pool_test(threads_end_with_rwlocks),
                                       pool_test(semaphores),
                                       pool_test(posts_by_others),
                                       pool_test(conditions),
                                       pool_test(signals_in_order),
                                       pool_test(barriers),
                                       pool_test(events),
                                       pool_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
