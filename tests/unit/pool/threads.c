// SPDX-License-Identifier: Apache-2.0
// Threads that use one pool at once, also while it grows and while others free what they allocated.
#include "unit.h"

#include <pthread.h>

#include "pool_look.h"

enum { THREADS = 6, ROUNDS = 3000, SHARED = 64 };
static struct shmemi_pool *pool;
static _Atomic(uint64_t *) shared[SHARED]; /* buffers that change hands */
static _Atomic unsigned done;

static void fill(uint64_t *p, size_t words, uint64_t pattern)
{
    p[0] = words;
    for (size_t i = 1; i < words; i++)
        p[i] = pattern + i;
}

static void check_and_free(uint64_t *p)
{
    for (size_t i = 2; i < p[0]; i++)
        assert_true(p[i] == p[1] + i - 1);
    ok(shmemi_pool_free(pool, p));
}

static void *work(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    char name[16];
    snprintf(name, sizeof name, "%u", (unsigned)seed);
    for (int i = 0; i < ROUNDS; i++) {
        size_t words = 2 + next_random(&seed) % (next_random(&seed) % 50 ? 100 : 20000);
        void *p;
        ok(shmemi_pool_alloc(pool, words * 8, 0, i % 7 ? 0 : SHMEMI_ALLOC_KEEP, &p));
        fill(p, words, next_random(&seed));
        /* [shared] acq_rel: the buffer's words go along with it. */
        p = atomic_exchange_explicit(&shared[next_random(&seed) % SHARED], p, memory_order_acq_rel);
        if (p)
            check_and_free(p);
        if (i % 100 == 0) {
            struct shmemi_naming naming = {.name = name, .size = 64};
            struct shmemi_named n;
            ok(shmemi_pool_alloc_named(pool, &naming, &p));
            ok(shmemi_pool_find_name(pool, name, &n));
            assert_ptr_equal(n.address, p);
            ok(shmemi_pool_free(pool, p));
        }
    }
    atomic_fetch_add(&done, 1);
    return NULL;
}

static void *grow(void *argument)
{
    (void)argument;
    for (size_t size = 48u << 20; atomic_load(&done) < THREADS; size += size < 120u << 20 ? 64 << 10 : 0) {
        struct shmemi_pool_stats s;
        ok(shmemi_pool_grow(pool, size));
        ok(shmemi_pool_stats(pool, &s));
        assert_true(s.in_use <= s.size);
    }
    return NULL;
}

static void all_at_once(void **state)
{
    struct shmemi_pool_config config = {.size = 48 << 20, .max_size = 128 << 20, .grow = true, .numa_node = -1};
    pthread_t threads[THREADS + 1];
    (void)state;
    ok(shmemi_pool_create(&config, &pool));
    atomic_store(&done, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    assert_int_equal(pthread_create(&threads[THREADS], NULL, grow, NULL), 0);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SHARED; i++)
        if (shared[i])
            check_and_free(atomic_exchange(&shared[i], NULL));
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    assert_int_equal(s.in_use, 0);
    static struct look l;
    look_all(pool, &l);
    if (*l.wrong)
        fail_msg("%s", l.wrong);
    ok(shmemi_pool_close(pool));
}

/* Forks while other threads allocate: the child can go on. */
static void forks_meanwhile(void **state)
{
    struct shmemi_pool_config config = {.size = 64 << 20, .max_size = 64 << 20, .numa_node = -1};
    pthread_t threads[2];
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip_because("the thread sanitizer lets no forked child start threads");
#endif
    ok(shmemi_pool_create(&config, &pool));
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < (LEAKS_SANITIZED ? 3 : 20); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            void *p;
            alarm(30);
            for (int k = 0; k < 50; k++) {
                child_check(shmemi_pool_alloc(pool, k % 10 ? 100 : 50000, 0, 0, &p) == 0);
                if (k % 2)
                    child_check(shmemi_pool_free(pool, p) == 0);
            }
            _exit(0);
        }
        child_succeeds(pid);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SHARED; i++)
        if (shared[i])
            check_and_free(atomic_exchange(&shared[i], NULL));
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    assert_int_equal(s.in_use, 0);
    ok(shmemi_pool_close(pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(all_at_once),
        clean_test(forks_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
