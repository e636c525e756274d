// SPDX-License-Identifier: Apache-2.0
// What each object of synchronisation orders: who gets something from it sees what its giver wrote before.
#include "sync.h"

#include "litmus.h"

#define PATIENCE 20.0

static shmemx_pool_t pool;
static shmemx_mutex_t mutex;
static shmemx_rwlock_t rwlock;
static shmemx_semaphore_t semaphore[2];
static shmemx_cond_t cond;
static shmemx_barrier_t barrier;
static shmemx_event_t event[2];
static shmemx_word_t word[2];
static long turn[2]; /* under what is tested */

static int begin(void **state)
{
    (void)state;
    pool = make_pool();
    turn[0] = turn[1] = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    ok(shmemx_pool_close(pool));
    return 0;
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, begin, end)

/* --- mutexes ------------------------------------------------------------------------------------------------------ */

static long mutex_give(int direction, long round)
{
    int rc = shmemx_mutex_lock(mutex, PATIENCE);
    if (rc == 0)
        turn[direction] = round;
    return rc < 0 ? rc : shmemx_mutex_unlock(mutex);
}

/* Looks at the turn in one of three ways of taking the mutex. */
static long mutex_take(int direction, long round)
{
    for (long seen = 0, tries = 0; seen != round; tries++) {
        int rc = tries % 3 == 0 ? shmemx_mutex_trylock(mutex) : shmemx_mutex_lock(mutex, tries % 3 == 1 ? -1 : 20);
        if (rc == -EBUSY)
            continue;
        if (rc < 0)
            return rc;
        seen = turn[direction];
        if ((rc = shmemx_mutex_unlock(mutex)) < 0)
            return rc;
        sched_yield();
    }
    return 0;
}

static void mutexes(void **state)
{
    (void)state;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    litmus(&(struct litmus_way){"mutex", mutex_give, mutex_take});
    ok(shmemx_mutex_destroy(mutex));
}

/* A thread that ends with it has written, too. */
static void *dies_with_mutex(void *value)
{
    WANT(shmemx_mutex_lock(mutex, PATIENCE) == 0);
    litmus_write((long)(intptr_t)value);
    return NULL;
}

static void owner_died(void **state)
{
    (void)state;
    for (long i = 1; i <= 20; i++) {
        pthread_t thread;
        int rc;
        ok(shmemx_mutex_create(pool, NULL, &mutex));
        litmus_write(0);
        assert_int_equal(pthread_create(&thread, NULL, dies_with_mutex, (void *)(intptr_t)i), 0); /* NOLINT: a number */
        while ((rc = shmemx_mutex_lock(mutex, PATIENCE)) == 0) {                                  /* it comes later */
            ok(shmemx_mutex_unlock(mutex));
            sched_yield();
        }
        assert_int_equal(rc, -EOWNERDEAD);
        assert_true(litmus_holds(i));
        ok(shmemx_mutex_consistent(mutex));
        ok(shmemx_mutex_unlock(mutex));
        pthread_join(thread, NULL);
        ok(shmemx_mutex_destroy(mutex));
    }
    nothing_went_wrong();
}

/* --- locks for readers and writers -------------------------------------------------------------------------------- */

static long rwlock_give(int direction, long round)
{
    int rc = shmemx_rwlock_wrlock(rwlock, PATIENCE);
    if (rc == 0)
        turn[direction] = round;
    return rc < 0 ? rc : shmemx_rwlock_unlock(rwlock);
}

static long rwlock_take(int direction, long round)
{
    for (long seen = 0, tries = 0; seen != round; tries++) {
        int rc = tries % 2 ? shmemx_rwlock_rdlock(rwlock, PATIENCE) : shmemx_rwlock_tryrdlock(rwlock);
        if (rc == -EBUSY)
            continue;
        if (rc < 0)
            return rc;
        seen = turn[direction];
        if ((rc = shmemx_rwlock_unlock(rwlock)) < 0)
            return rc;
        sched_yield();
    }
    return 0;
}

static void write_to_read(void **state)
{
    (void)state;
    for (unsigned seats = 1; seats <= 8; seats *= 8) { /* one that both want, and one for each */
        turn[0] = turn[1] = 0;
        ok(shmemx_rwlock_create(pool, NULL, seats, &rwlock));
        litmus(&(struct litmus_way){"write to read", rwlock_give, rwlock_take});
        ok(shmemx_rwlock_destroy(rwlock));
    }
}

static _Atomic int readers_done;

static void *reads(void *unused)
{
    long before = 0;
    for (int i = 0; i < 2000; i++) {
        int rc = i % 3 ? shmemx_rwlock_rdlock(rwlock, PATIENCE) : shmemx_rwlock_tryrdlock(rwlock);
        if (rc == -EBUSY)
            continue;
        WANT(rc == 0);
        long found = litmus_data.cells[0].value;
        WANT(litmus_holds(found)); /* no writer has changed some of it */
        WANT(found >= before);
        before = found;
        WANT(shmemx_rwlock_unlock(rwlock) == 0);
    }
    atomic_fetch_add(&readers_done, 1);
    return unused;
}

/* A writer overwrites what readers have read: after they have. */
static void read_to_write(void **state)
{
    (void)state;
    for (unsigned seats = 1; seats <= 8; seats *= 8) {
        pthread_t threads[2];
        ok(shmemx_rwlock_create(pool, NULL, seats, &rwlock));
        atomic_store(&readers_done, 0);
        litmus_write(0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, reads, NULL), 0);
        for (long i = 1; atomic_load(&readers_done) < 2; i++) {
            int rc = i % 3 ? shmemx_rwlock_wrlock(rwlock, PATIENCE) : shmemx_rwlock_trywrlock(rwlock);
            if (rc == -EBUSY)
                continue;
            assert_int_equal(rc, 0);
            litmus_write(i);
            ok(shmemx_rwlock_unlock(rwlock));
            if (i % 8 == 0)
                sched_yield();
        }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        ok(shmemx_rwlock_destroy(rwlock));
    }
    nothing_went_wrong();
}

/* --- semaphores --------------------------------------------------------------------------------------------------- */

static long semaphore_give(int direction, long round)
{
    (void)round;
    return shmemx_semaphore_post(semaphore[direction], 1);
}

static long semaphore_take(int direction, long round)
{
    int rc = round % 2 ? shmemx_semaphore_trywait(semaphore[direction]) : -EAGAIN;
    return rc == -EAGAIN ? shmemx_semaphore_wait(semaphore[direction], PATIENCE) : rc;
}

static void post_to_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        ok(shmemx_semaphore_create(pool, NULL, 0, 1, 0, &semaphore[i]));
    litmus(&(struct litmus_way){"semaphore", semaphore_give, semaphore_take});
    for (int i = 0; i < 2; i++)
        ok(shmemx_semaphore_destroy(semaphore[i]));
}

/* An owned unit is a mutex. */
static long owned_give(int direction, long round)
{
    int rc = shmemx_semaphore_wait(semaphore[0], PATIENCE);
    if (rc == 0)
        turn[direction] = round;
    return rc < 0 ? rc : shmemx_semaphore_post(semaphore[0], 1);
}

static long owned_take(int direction, long round)
{
    for (long seen = 0; seen != round; sched_yield()) {
        int rc = shmemx_semaphore_wait(semaphore[0], PATIENCE);
        if (rc < 0)
            return rc;
        seen = turn[direction];
        if ((rc = shmemx_semaphore_post(semaphore[0], 1)) < 0)
            return rc;
    }
    return 0;
}

static void owned_unit(void **state)
{
    (void)state;
    ok(shmemx_semaphore_create(pool, NULL, 1, 0, 1, &semaphore[0]));
    litmus(&(struct litmus_way){"owned semaphore", owned_give, owned_take});
    ok(shmemx_semaphore_destroy(semaphore[0]));
}

/* --- conditions --------------------------------------------------------------------------------------------------- */

static long cond_give(int direction, long round)
{
    int rc = shmemx_mutex_lock(mutex, PATIENCE);
    if (rc < 0)
        return rc;
    turn[direction] = round;
    rc = round % 2 ? shmemx_cond_signal(cond) : shmemx_cond_broadcast(cond);
    int unlocked = shmemx_mutex_unlock(mutex);
    return rc < 0 ? rc : unlocked;
}

static long cond_take(int direction, long round)
{
    int rc = shmemx_mutex_lock(mutex, PATIENCE);
    while (rc == 0 && turn[direction] != round)
        rc = shmemx_cond_wait(cond, mutex, PATIENCE);
    return rc < 0 ? rc : shmemx_mutex_unlock(mutex);
}

static void signal_to_wait(void **state)
{
    (void)state;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_cond_create(pool, NULL, &cond));
    litmus(&(struct litmus_way){"condition", cond_give, cond_take});
    ok(shmemx_cond_destroy(cond));
    ok(shmemx_mutex_destroy(mutex));
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

static long barrier_meet(int direction, long round)
{
    (void)direction, (void)round;
    int rc = shmemx_barrier_wait(barrier, PATIENCE);
    return rc == 1 ? 0 : rc;
}

static void barriers(void **state)
{
    (void)state;
    ok(shmemx_barrier_create(pool, NULL, 2, &barrier));
    litmus(&(struct litmus_way){"barrier", barrier_meet, barrier_meet});
    ok(shmemx_barrier_destroy(barrier));
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static long event_give(int direction, long round)
{
    (void)round;
    return shmemx_event_set(event[direction]);
}

static long event_take(int direction, long round)
{
    int rc = shmemx_event_wait(event[direction], round % 3 ? PATIENCE : 0);
    return rc == -ETIMEDOUT ? shmemx_event_wait(event[direction], PATIENCE) : rc;
}

/* Not reset by itself: by who has been let pass, before it hands back. */
static long event_take_and_clear(int direction, long round)
{
    long rc = 0;
    if (round % 2)
        while ((rc = shmemx_event_is_set(event[direction])) == 0)
            sched_yield();
    rc = rc < 0 ? rc : shmemx_event_wait(event[direction], PATIENCE);
    return rc < 0 ? rc : shmemx_event_clear(event[direction]);
}

static void set_to_wait(void **state)
{
    (void)state;
    for (int automatic = 0; automatic < 2; automatic++) {
        for (int i = 0; i < 2; i++)
            ok(shmemx_event_create(pool, NULL, automatic, 0, &event[i]));
        litmus(&(struct litmus_way){"event", event_give, automatic ? event_take : event_take_and_clear});
        for (int i = 0; i < 2; i++)
            ok(shmemx_event_destroy(event[i]));
    }
}

/* --- atomic words ------------------------------------------------------------------------------------------------- */

/* Each operation hands over. */
static long word_give(int direction, long round)
{
    shmemx_word_t w = word[direction];
    uint64_t to = (uint64_t)round, before = to - 1;
    int rc = round % 4 == 0   ? shmemx_word_store(w, to)
             : round % 4 == 1 ? shmemx_word_add(w, 1, NULL)
             : round % 4 == 2 ? shmemx_word_xor(w, before ^ to, NULL)
                              : shmemx_word_cas(w, before, to, NULL);
    if (rc < 0)
        return rc;
    rc = shmemx_word_wake(w, 1);
    return rc < 0 ? rc : 0;
}

static long word_take(int direction, long round)
{
    shmemx_word_t w = word[direction];
    uint64_t seen = 0;
    int rc = 0;
    while (rc == 0 && seen != (uint64_t)round) {
        if (round % 3 == 0)
            rc = shmemx_word_wait(w, (uint64_t)round - 1, PATIENCE);
        if (rc == 0)
            rc = round % 2 ? shmemx_word_load(w, &seen) : shmemx_word_or(w, 0, &seen);
        sched_yield();
    }
    return rc;
}

static void word_hand_over(void **state)
{
    (void)state;
    for (unsigned width = 4; width <= 8; width += 4) {
        for (int i = 0; i < 2; i++)
            ok(shmemx_word_create(pool, NULL, width, 0, &word[i]));
        litmus(&(struct litmus_way){"word", word_give, word_take});
        for (int i = 0; i < 2; i++)
            ok(shmemx_word_destroy(word[i]));
    }
}

/* Sequentially consistent: of two threads that write one word each and then read the other's, one sees the other. */
static shmemx_word_t go;
static uint64_t read_by[2];

static void buffer_store(int who, uint64_t round)
{
    WANT(shmemx_word_store(word[who], round) == 0);
    WANT(shmemx_word_load(word[1 - who], &read_by[who]) == 0);
}

static void *buffers(void *unused)
{
    uint64_t rounds = LITMUS_ROUNDS, seen;
    for (uint64_t i = 1; i <= rounds; i++) {
        do
            WANT(shmemx_word_load(go, &seen) == 0);
        while (seen < 2 * i);
        buffer_store(1, i);
        WANT(shmemx_barrier_wait(barrier, PATIENCE) >= 0);
    }
    return unused;
}

static void store_buffering(void **state)
{
    (void)state;
    pthread_t thread;
    long both = 0, rounds = LITMUS_ROUNDS;
    for (int i = 0; i < 2; i++)
        ok(shmemx_word_create(pool, NULL, 8, 0, &word[i]));
    ok(shmemx_word_create(pool, NULL, 8, 0, &go));
    ok(shmemx_barrier_create(pool, NULL, 2, &barrier));
    assert_int_equal(pthread_create(&thread, NULL, buffers, NULL), 0);
    for (long i = 1; i <= rounds; i++) {
        ok(shmemx_word_store(go, 2 * (uint64_t)i));
        buffer_store(0, (uint64_t)i);
        ok(shmemx_barrier_wait(barrier, PATIENCE));
        both += read_by[0] != (uint64_t)i && read_by[1] != (uint64_t)i;
    }
    pthread_join(thread, NULL);
    assert_int_equal(both, 0);
    nothing_went_wrong();
    for (int i = 0; i < 2; i++)
        ok(shmemx_word_destroy(word[i]));
    ok(shmemx_word_destroy(go));
    ok(shmemx_barrier_destroy(barrier));
}

/* --- the objects themselves --------------------------------------------------------------------------------------- */

/* Who finds an object by its name finds it whole. */
static long object_give(int direction, long round)
{
    char name[32];
    shmemx_word_t made;
    snprintf(name, sizeof name, "%d %ld", direction, round);
    int rc = shmemx_word_create(pool, name, 8, (uint64_t)round, &made);
    return rc < 0 ? rc : shmemx_word_close(made);
}

static shmemx_word_t before[2]; /* of the last round: its maker is done with it */

static long object_take(int direction, long round)
{
    char name[32];
    shmemx_word_t found;
    uint64_t value = 0;
    int rc = round > 1 ? shmemx_word_destroy(before[direction]) : 0;
    if (rc < 0)
        return rc;
    snprintf(name, sizeof name, "%d %ld", direction, round);
    while ((rc = shmemx_word_find(pool, name, &found)) == -ENOENT)
        sched_yield();
    if (rc < 0 || (rc = shmemx_word_load(found, &value)) < 0)
        return rc;
    before[direction] = found;
    return value == (uint64_t)round ? 0 : -EIO;
}

static void create_to_find(void **state)
{
    (void)state;
    litmus(&(struct litmus_way){"name", object_give, object_take});
    for (int i = 0; i < 2; i++)
        ok(shmemx_word_destroy(before[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        pool_test(mutexes),      pool_test(owner_died),     pool_test(write_to_read),   pool_test(read_to_write),
        pool_test(post_to_wait), pool_test(owned_unit),     pool_test(signal_to_wait),  pool_test(barriers),
        pool_test(set_to_wait),  pool_test(word_hand_over), pool_test(store_buffering), pool_test(create_to_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
