// SPDX-License-Identifier: Apache-2.0
// Contexts, sessions and locks as programs use them.
#include "multi.h"
#include "sleepers.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200 };

static long *words;

static void a_context_of_each_kind(void)
{
    static const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE,
                                   SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
    const int next = (me + 1) % n, before = (me + n - 1) % n;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        shmem_team_t team = SHMEM_TEAM_INVALID;
        GIVES(0, shmem_ctx_create(options[i], &ctx));
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
        GIVES(0, shmem_ctx_get_team(ctx, &team));
        CHECK(team == SHMEM_TEAM_WORLD);
        long value = 100 * (long)i + me, got = -1;
        shmem_ctx_long_put(ctx, words, &value, 1, next);
        shmem_ctx_fence(ctx);
        shmem_ctx_long_atomic_add(ctx, words + 1, me + 1, next);
        shmem_ctx_pe_quiet(ctx, &next, 1);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        CHECK(words[0] == 100 * (long)i + before && words[1] == (long)(i + 1) * (before + 1));
        shmem_ctx_long_get_nbi(ctx, &got, words, 1, next);
        shmem_ctx_destroy(ctx); /* completes the get */
        CHECK(got == 100 * (long)i + me);
        shmem_barrier_all();
    }
    words[1] = 0;
}

static void on_teams(void)
{
    shmem_ctx_t ctx;
    shmem_team_t team;
    GIVES(0, shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx));
    GIVES(0, shmem_ctx_get_team(ctx, &team));
    CHECK(team == SHMEM_TEAM_SHARED);
    shmem_ctx_long_p(ctx, words + 2, 7, me);
    CHECK(words[2] == 7);
    shmem_ctx_destroy(ctx);
    GIVES(0, shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team));
    CHECK(team == SHMEM_TEAM_WORLD);
}

static void what_is_refused(void)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_ctx_create(64, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    CHECK(strstr(shmemx_last_error(), "options is 0x40"));
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    CHECK(shmem_team_create_ctx((shmem_team_t)99, 0, &ctx) != 0); /* NOLINT: a number that is no team */
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 99, NULL, 99);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
}

static void as_many_as_there_are(void)
{
    static shmem_ctx_t all[5000];
    shmem_team_config_t config = {0};
    int count = 0;
    GIVES(0, shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config));
    while (count < 5000 && shmem_ctx_create(0, &all[count]) == 0)
        count++;
    CHECK(count == config.num_contexts, "%d of %d", count, config.num_contexts);
    CHECK(all[count] == SHMEM_CTX_INVALID && strstr(shmemx_last_error(), "as many as there can be"));
    for (int i = 0; i < count; i++) {
        shmem_ctx_long_p(all[i], words + 3, i, me);
        shmem_ctx_destroy(all[i]);
    }
    GIVES(0, shmem_ctx_create(0, &all[0])); /* left for finalize */
}

static void a_hundred_thousand_times(void)
{
    shmem_ctx_t ctx, last = SHMEM_CTX_INVALID;
    for (int i = 0; i < 100000 / n; i++) {
        GIVES(0, shmem_ctx_create(0, &ctx));
        CHECK(ctx != last);
        last = ctx;
        shmem_ctx_destroy(ctx);
    }
}

static void sessions(void)
{
    shmem_ctx_t ctx;
    shmem_ctx_session_config_t config = {.total_ops = 1000};
    GIVES(0, shmem_ctx_create(0, &ctx));
    for (int twice = 0; twice < 2; twice++, ctx = SHMEM_CTX_DEFAULT) {
        shmem_ctx_session_stop(ctx); /* without one */
        shmem_ctx_session_start(ctx, 0, NULL, 0);
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        for (long i = 0; i < 100; i++)
            shmem_ctx_long_atomic_inc(ctx, words + 4, 0);
        shmem_ctx_session_stop(ctx);
        shmem_ctx_session_stop(ctx);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(words + 4, 0) == 200L * n);
}

static void *with_a_context_of_its_own(void *argument)
{
    const long thread = *(const long *)argument;
    shmem_ctx_t ctx;
    for (int i = 0; i < ROUNDS; i++) {
        GIVES(0, shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx));
        shmem_ctx_long_p(ctx, words + 8 + thread, i, (me + 1) % n);
        shmem_ctx_long_atomic_inc(ctx, words + 5, (me + 1) % n);
        shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx);
    }
    return NULL;
}

static void in_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    long numbers[THREADS];
    for (long i = 0; i < THREADS; i++) {
        numbers[i] = i;
        GIVES(0, pthread_create(&threads[i], NULL, function, &numbers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void many_threads_on_many_contexts(void)
{
    in_threads(with_a_context_of_its_own);
    shmem_barrier_all();
    CHECK(words[5] == THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        CHECK(words[8 + i] == ROUNDS - 1);
}

/* --- locks -------------------------------------------------------------------------------------------------------- */

static long *locks; /* two, with different homes */

/* Plain reads and writes of PE 0's memory, by one PE at a time. */
static void add_one_under(long *lock, long *sum)
{
    shmem_set_lock(lock);
    long value = shmem_long_g(sum, 0);
    shmem_long_p(sum, value + 1, 0);
    shmem_clear_lock(lock);
}

static void one_at_a_time(void)
{
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < ROUNDS; i++)
            add_one_under(locks + which, words + 20 + which);
        shmem_barrier_all();
        CHECK(shmem_long_g(words + 20 + which, 0) == (long)ROUNDS * n);
        CHECK(locks[which] == 0, "left at %#lx", locks[which]);
    }
}

static void tested(void)
{
    if (me == 0) {
        GIVES(0, shmem_test_lock(locks));
        GIVES(1, shmem_test_lock(locks));
    }
    shmem_barrier_all();
    if (me != 0)
        GIVES(1, shmem_test_lock(locks));
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(locks);
    shmem_barrier_all();
    for (int i = 0; i < 20; i++) {
        while (shmem_test_lock(locks + 1) != 0)
            usleep(10);
        shmem_long_p(words + 22, shmem_long_g(words + 22, 0) + 1, 0);
        shmem_clear_lock(locks + 1);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(words + 22, 0) == 20L * n);
}

/* They come one after the other while PE 0 holds it, and get it in that order. */
static void first_come_first_served(void)
{
    words[24] = words[27] = 0;
    shmem_barrier_all();
    if (me == 0)
        shmem_set_lock(locks);
    shmem_barrier_all();
    if (me != 0) {
        shmem_long_wait_until(words + 25, SHMEM_CMP_EQ, 1);
        shmem_long_atomic_set(words + 27, getpid(), 0);
        shmem_set_lock(locks);
        CHECK(shmem_long_atomic_fetch_inc(words + 24, 0) == me - 1);
        shmem_clear_lock(locks);
    } else {
        for (int pe = 1; pe < n; pe++) {
            shmem_long_atomic_set(words + 25, 1, pe);
            shmem_long_wait_until(words + 27, SHMEM_CMP_NE, 0); /* it sleeps next when it waits for the lock */
            await_sleeper((pid_t)words[27]);
            words[27] = 0;
        }
        shmem_clear_lock(locks);
    }
    shmem_barrier_all();
    words[25] = 0;
}

static void *add_in_a_thread(void *argument)
{
    (void)argument;
    for (int i = 0; i < 50; i++)
        add_one_under(locks, words + 26);
    return NULL;
}

static void threads_take_turns(void)
{
    in_threads(add_in_a_thread);
    shmem_barrier_all();
    CHECK(shmem_long_g(words + 26, 0) == 50L * THREADS * n);
}

static void nested_init(void)
{
    int yes = 0, level = -1;
    shmem_init();
    GIVES(0, shmem_init_thread(SHMEM_THREAD_FUNNELED, &level));
    CHECK(level >= SHMEM_THREAD_FUNNELED && level <= SHMEM_THREAD_MULTIPLE);
    words[30] = 0;
    shmem_barrier_all();
    shmem_long_p(words + 30, me, (me + 1) % n);
    shmem_finalize(); /* as a barrier */
    CHECK(words[30] == (me + n - 1) % n);
    shmem_finalize();
    shmem_query_initialized(&yes);
    CHECK(yes == 1);
}

int main(void)
{
    multi_begin();
    words = shmem_calloc(64, sizeof *words);
    locks = shmem_calloc(2, sizeof *locks);
    CHECK(words && locks);
    CASE(a_context_of_each_kind);
    CASE(on_teams);
    CASE(what_is_refused);
    CASE(as_many_as_there_are);
    CASE(a_hundred_thousand_times);
    CASE(sessions);
    CASE(many_threads_on_many_contexts);
    CASE(one_at_a_time);
    CASE(tested);
    CASE(first_come_first_served);
    CASE(threads_take_turns);
    CASE(nested_init);
    return multi_end();
}
