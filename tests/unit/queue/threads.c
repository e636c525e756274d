// SPDX-License-Identifier: Apache-2.0
// Queues between threads of one process; also run with the thread sanitizer.
#include "queues.h"

#include <stdatomic.h>

enum { PRODUCERS = 4, CONSUMERS_MOST = 3, SCALE = LEAKS_SANITIZED ? 10 : 1 };

struct run {
    shmemx_queue_t queue;
    unsigned producers, consumers;
    uint64_t each;      /* items of a producer */
    unsigned in_place;  /* every so many-th is written in place; 0: none */
    unsigned many_most; /* items pushed at once; 0: one by one */
    struct account accounts[CONSUMERS_MOST];
    _Atomic unsigned next_producer, next_consumer;
    _Atomic uint64_t errors;
};

static void expect(struct run *run, long found, long wanted)
{
    if (found == wanted)
        return;
    run->errors++;
    print_message("# %ld instead of %ld: %s\n", found, wanted, found < 0 ? shmemx_last_error() : "");
}

static void push_one(struct run *run, uint64_t item, uint64_t number)
{
    void *slot;
    if (run->in_place && number % run->in_place == 0) {
        expect(run, shmemx_queue_reserve(run->queue, 8, &slot, -1), 0);
        memcpy(slot, &item, 8);
        expect(run, shmemx_queue_commit(run->queue, 8), 0);
        return;
    }
    expect(run, shmemx_queue_push(run->queue, &item, 8, -1), 0);
}

static void *produce(void *context)
{
    struct run *run = context;
    unsigned me = run->next_producer++;
    uint64_t items_[64], seed = me + 1;
    for (uint64_t i = 1; i <= run->each;) {
        if (!run->many_most) {
            push_one(run, item_of(me, i), i);
            i++;
            continue;
        }
        uint64_t count = 1 + next_random(&seed) % run->many_most;
        if (count > run->each - i + 1)
            count = run->each - i + 1;
        for (uint64_t k = 0; k < count; k++)
            items_[k] = item_of(me, i + k);
        expect(run, shmemx_queue_push_many(run->queue, items_, NULL, count, -1), (long)count);
        i += count;
    }
    return NULL; /* what is gathered is moved in now */
}

static void *consume(void *context)
{
    struct run *run = context;
    unsigned me = run->next_consumer++;
    uint64_t items_[50];
    const void *seen;
    for (unsigned turn = 0;; turn++) {
        long got;
        if (turn % 7 == 6) {
            got = shmemx_queue_peek(run->queue, &seen, NULL, -1);
            if (got == 0) {
                memcpy(items_, seen, 8);
                got = shmemx_queue_release(run->queue) == 0 ? 1 : -1;
            }
        } else {
            got = shmemx_queue_pop_many(run->queue, items_, 8 * (1 + turn % 50), NULL, 50, -1);
        }
        if (got <= 0) {
            expect(run, got, -EPIPE);
            return NULL;
        }
        for (long i = 0; i < got; i++)
            account_for(&run->accounts[me], items_[i]);
    }
}

static void run_all(struct run *run, shmemx_queue_attr_t attr)
{
    pthread_t producers[PRODUCERS], consumers[CONSUMERS_MOST];
    attr.consumers = run->consumers == 1 ? SHMEMX_QUEUE_ONE : SHMEMX_QUEUE_MANY;
    run->queue = make_queue(&attr);
    for (unsigned i = 0; i < run->consumers; i++)
        assert_int_equal(pthread_create(&consumers[i], NULL, consume, run), 0);
    for (unsigned i = 0; i < run->producers; i++)
        assert_int_equal(pthread_create(&producers[i], NULL, produce, run), 0);
    for (unsigned i = 0; i < run->producers; i++)
        pthread_join(producers[i], NULL);
    ok(shmemx_queue_end(run->queue, -1));
    for (unsigned i = 0; i < run->consumers; i++)
        pthread_join(consumers[i], NULL);
    assert_int_equal(run->errors, 0);
    for (unsigned p = 0; p < run->producers; p++) {
        uint64_t sum = 0;
        for (unsigned c = 0; c < run->consumers; c++)
            sum += run->accounts[c].count[p];
        assert_int_equal(sum, run->each);
    }
    for (unsigned c = 0; c < run->consumers; c++) {
        assert_int_equal(run->accounts[c].disorder, 0);
        assert_int_equal(run->accounts[c].foreign, 0);
    }
    end_queue(run->queue);
}

static void one_consumer(void **state)
{
    (void)state;
    static const unsigned batches[] = {1, 4, 16};
    static const size_t capacities[] = {16, 1000};
    for (unsigned b = 0; b < 3; b++)
        for (unsigned c = 0; c < 2; c++) {
            struct run run = {.producers = PRODUCERS, .consumers = 1, .each = 20000 / SCALE};
            run_all(&run, items(capacities[c], batches[b]));
        }
}

static void many_consumers(void **state)
{
    (void)state;
    static const unsigned batches[] = {1, 16};
    for (unsigned b = 0; b < 2; b++) {
        struct run run = {.producers = 3, .consumers = CONSUMERS_MOST, .each = 20000 / SCALE};
        run_all(&run, items(64, batches[b]));
    }
}

static void many_at_once(void **state)
{
    (void)state;
    struct run run = {.producers = 3, .consumers = 2, .each = 50000 / SCALE, .many_most = 60};
    run_all(&run, items(100, 8));
}

static void in_place(void **state)
{
    (void)state;
    struct run run = {.producers = 3, .consumers = 2, .each = 10000 / SCALE, .in_place = 3};
    run_all(&run, items(32, 4));
}

static void tiny(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 2; capacity++) {
        struct run run = {.producers = 2, .consumers = 2, .each = 1000 / SCALE, .in_place = 2};
        run_all(&run, items(capacity, 1));
    }
}

/* The clock's flushes meet pushes at every instant. */
static void by_time_and_by_hand(void **state)
{
    (void)state;
    struct run run = {.producers = 3, .consumers = 1, .each = 100000 / SCALE};
    shmemx_queue_attr_t attr = items(128, 100);
    attr.flush_seconds = 0.002;
    run_all(&run, attr);
}

static void *push_three(void *context)
{
    for (uint64_t i = 1; i <= 3; i++)
        if (shmemx_queue_try_push(context, &i, 8) != 0)
            return context;
    return NULL;
}

static void the_end_of_a_thread_moves_in(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(8, 8);
    shmemx_queue_t queue = make_queue(&attr);
    pthread_t thread;
    void *failed;
    uint64_t value;
    shmemx_queue_stats_t stats;
    assert_int_equal(pthread_create(&thread, NULL, push_three, queue), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    for (uint64_t i = 1; i <= 3; i++) {
        ok(shmemx_queue_try_pop(queue, &value, 8, NULL));
        assert_int_equal(value, i);
    }
    ok(shmemx_queue_stats(queue, &stats));
    assert_int_equal(stats.producers, 0);
    end_queue(queue);
}

static void *peek_and_end(void *context)
{
    const void *item;
    return shmemx_queue_peek(context, &item, NULL, 5) == 0 ? NULL : context;
}

static void *reserve_and_end(void *context)
{
    void *slot;
    return shmemx_queue_reserve(context, 8, &slot, 5) == 0 ? NULL : context;
}

static void a_thread_that_ends_holds_nothing(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(8, 1);
    shmemx_queue_t queue = make_queue(&attr);
    pthread_t thread;
    void *failed;
    uint64_t value = 5;
    ok(shmemx_queue_try_push(queue, &value, 8));
    assert_int_equal(pthread_create(&thread, NULL, peek_and_end, queue), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    value = 0;
    ok(shmemx_queue_pop(queue, &value, 8, NULL, 5));
    assert_int_equal(value, 5);
    assert_int_equal(pthread_create(&thread, NULL, reserve_and_end, queue), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    value = 6;
    ok(shmemx_queue_try_push(queue, &value, 8));
    ok(shmemx_queue_pop(queue, &value, 8, NULL, 5));
    assert_int_equal(value, 6);
    end_queue(queue);
}

static void *push_slowly(void *context)
{
    for (uint64_t i = 0; i < 100; i++) {
        usleep(500);
        if (shmemx_queue_try_push(context, &i, 8) < 0)
            return context;
    }
    return NULL;
}

static double cpu_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Each of those pushes wakes the consumer, who waits for the very first slot: it sleeps again, each time a little
   longer, but not without end (undefined behaviour, which a sanitizer finds). */
static void woken_in_vain(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(128, 1);
    shmemx_queue_t queue = make_queue(&attr);
    void *slot, *failed;
    uint64_t value;
    pthread_t thread;
    ok(shmemx_queue_reserve(queue, 8, &slot, 0));
    assert_int_equal(pthread_create(&thread, NULL, push_slowly, queue), 0);
    double before = cpu_seconds();
    refuses(ETIMEDOUT, "empty", shmemx_queue_pop(queue, &value, 8, NULL, 0.2));
    assert_true(cpu_seconds() - before < 0.1);
    pthread_join(thread, &failed);
    assert_null(failed);
    *(uint64_t *)slot = 1000;
    ok(shmemx_queue_commit(queue, 8));
    ok(shmemx_queue_pop(queue, &value, 8, NULL, 0));
    assert_int_equal(value, 1000);
    end_queue(queue);
}

static void *pop_until_the_end(void *context)
{
    uint64_t value;
    return (void *)(intptr_t)shmemx_queue_pop(context, &value, 8, NULL, -1);
}

static void *push_until_the_end(void *context)
{
    int rc;
    for (uint64_t i = 0; (rc = shmemx_queue_push(context, &i, 8, -1)) == 0; i++)
        continue;
    return (void *)(intptr_t)rc;
}

static void the_end_wakes_everybody(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        shmemx_queue_attr_t attr = items(8, 1);
        shmemx_queue_t queue = make_queue(&attr);
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, full ? push_until_the_end : pop_until_the_end, queue),
                             0);
        usleep(30000);
        double began = seconds_now();
        ok(shmemx_queue_end(queue, -1));
        for (int i = 0; i < 3; i++) {
            void *rc;
            pthread_join(threads[i], &rc);
            assert_int_equal((intptr_t)rc, -EPIPE);
        }
        assert_true(seconds_now() - began < 5);
        end_queue(queue);
    }
}

static int wants_out(void)
{
    return 1;
}

static void a_wait_can_be_interrupted(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(1, 1);
    shmemx_queue_t queue = make_queue(&attr);
    uint64_t value = 0;
    ok(shmemx_set_interrupt(wants_out));
    refuses(EINTR, "interrupted", shmemx_queue_pop(queue, &value, 8, NULL, -1));
    ok(shmemx_queue_push(queue, &value, 8, -1));
    refuses(EINTR, "interrupted", shmemx_queue_push(queue, &value, 8, -1));
    ok(shmemx_set_interrupt(NULL));
    end_queue(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(one_consumer),
        clean_test(many_consumers),
        clean_test(many_at_once),
        clean_test(in_place),
        clean_test(tiny),
        clean_test(by_time_and_by_hand),
        clean_test(the_end_of_a_thread_moves_in),
        clean_test(a_thread_that_ends_holds_nothing),
        clean_test(woken_in_vain),
        clean_test(the_end_wakes_everybody),
        clean_test(a_wait_can_be_interrupted),
    };
    return cmocka_run_group_tests_name("queue/threads", tests, NULL, NULL);
}
