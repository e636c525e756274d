// SPDX-License-Identifier: Apache-2.0
// Queues, as one thread sees them.
#include "queues.h"

#include <math.h>

#include "queue/layout.h"

static void push(shmemx_queue_t queue, uint64_t value)
{
    ok(shmemx_queue_push(queue, &value, sizeof value, 0));
}

static uint64_t pop(shmemx_queue_t queue)
{
    uint64_t value = UINT64_MAX;
    ok(shmemx_queue_pop(queue, &value, sizeof value, NULL, 0));
    return value;
}

static void items_come_out_in_order(void **state)
{
    (void)state;
    for (unsigned batch = 1; batch <= 8; batch++) {
        shmemx_queue_attr_t attr = items(8, batch);
        shmemx_queue_t queue = make_queue(&attr);
        for (uint64_t lap = 0, in = 0, out = 0; lap < 50; lap++) {
            for (int i = 0; i < 5; i++)
                push(queue, ++in);
            ok(shmemx_queue_flush(queue, 0));
            for (int i = 0; i < 5; i++)
                assert_int_equal(pop(queue), ++out);
            refuses(EAGAIN, "empty", shmemx_queue_try_pop(queue, &in, 8, NULL));
        }
        end_queue(queue);
    }
}

static void full_is_exact(void **state)
{
    (void)state;
    uint64_t value = 1;
    for (size_t capacity = 1; capacity <= 9; capacity++) {
        shmemx_queue_attr_t attr = items(capacity, 1);
        shmemx_queue_t queue = make_queue(&attr);
        for (int lap = 0; lap < 5; lap++) {
            for (size_t i = 0; i < capacity; i++)
                push(queue, i);
            assert_int_equal(shmemx_queue_length(queue), capacity);
            refuses(EAGAIN, "full", shmemx_queue_try_push(queue, &value, 8));
            refuses(ETIMEDOUT, "full", shmemx_queue_push(queue, &value, 8, 0.01));
            for (size_t i = 0; i < capacity; i++)
                assert_int_equal(pop(queue), i);
        }
        end_queue(queue);
    }
}

static void batches_are_seen_when_they_are_full(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(64, 4);
    shmemx_queue_t queue = make_queue(&attr);
    shmemx_queue_stats_t stats;
    for (uint64_t i = 1; i <= 3; i++)
        push(queue, i);
    assert_int_equal(shmemx_queue_length(queue), 0);
    ok(shmemx_queue_stats(queue, &stats));
    assert_int_equal(stats.gathered, 3);
    assert_int_equal(stats.attr.batch, 4);
    push(queue, 4);
    assert_int_equal(shmemx_queue_length(queue), 4);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(pop(queue), i);
    ok(shmemx_queue_stats(queue, &stats));
    assert_int_equal(stats.pushed, 4);
    assert_int_equal(stats.popped, 4);
    assert_int_equal(stats.producers, 1);
    end_queue(queue);
}

/* A full queue keeps what was gathered, and takes no more than a batch of it. */
static void a_batch_waits_for_room(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(4, 4);
    shmemx_queue_t queue = make_queue(&attr);
    uint64_t value = 9;
    for (uint64_t i = 1; i <= 8; i++)
        push(queue, i);
    refuses(EAGAIN, "full", shmemx_queue_try_push(queue, &value, 8));
    refuses(EAGAIN, "full", shmemx_queue_flush(queue, 0));
    assert_int_equal(pop(queue), 1);
    push(queue, 9); /* the oldest gathered item goes in */
    for (uint64_t i = 2; i <= 5; i++)
        assert_int_equal(pop(queue), i);
    ok(shmemx_queue_flush(queue, 0));
    for (uint64_t i = 6; i <= 9; i++)
        assert_int_equal(pop(queue), i);
    end_queue(queue);
}

static void many_at_once(void **state)
{
    (void)state;
    static const unsigned batches[] = {1, 3, 16, 64};
    uint64_t in[100], out[200];
    for (size_t b = 0; b < 4; b++) {
        shmemx_queue_attr_t attr = items(70, batches[b]);
        shmemx_queue_t queue = make_queue(&attr);
        uint64_t first = 1, next = 1, seed = 7;
        for (int lap = 0; lap < 300; lap++) {
            size_t count = next_random(&seed) % 60;
            for (size_t i = 0; i < count; i++)
                in[i] = first + i;
            assert_int_equal(shmemx_queue_push_many(queue, in, NULL, count, 0), count);
            first += count;
            ok(shmemx_queue_flush(queue, 0));
            while (next < first) {
                long got = shmemx_queue_pop_many(queue, out, sizeof out, NULL, 1 + next_random(&seed) % 50, 0);
                assert_true(got > 0);
                for (long i = 0; i < got; i++)
                    assert_int_equal(out[i], next++);
            }
        }
        for (size_t i = 0; i < 100; i++)
            in[i] = i;
        long got = shmemx_queue_push_many(queue, in, NULL, 100, 0.01);
        assert_int_equal(got, 70); /* what there was room for */
        end_queue(queue);
    }
}

static void items_of_many_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 9, 12, 16, 24, 40, 56, 57, 64, 100, 1000, 4096};
    static char in[4096], out[5 * 4096];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned batch = 1; batch <= 8; batch += 7) {
            shmemx_queue_attr_t attr = items(10, batch);
            attr.item_bytes = sizes[s];
            shmemx_queue_t queue = make_queue(&attr);
            for (int lap = 0; lap < 30; lap++) {
                for (int i = 0; i < 5; i++) {
                    memset(in, lap * 5 + i, sizes[s]);
                    ok(shmemx_queue_try_push(queue, in, sizes[s]));
                }
                ok(shmemx_queue_flush(queue, 0));
                assert_int_equal(shmemx_queue_pop_many(queue, out, 5 * sizes[s], NULL, 9, 0), 5);
                for (size_t i = 0; i < 5 * sizes[s]; i++)
                    assert_int_equal((unsigned char)out[i], (unsigned char)(lap * 5 + (int)(i / sizes[s])));
            }
            refuses(EINVAL, "bytes", shmemx_queue_try_push(queue, in, sizes[s] + 1));
            end_queue(queue);
        }
}

static void messages_of_any_length(void **state)
{
    (void)state;
    static char in[3000], out[3000];
    for (unsigned batch = 1; batch <= 16; batch += 5) {
        shmemx_queue_attr_t attr = messages(16384, batch, 3000);
        shmemx_queue_t queue = make_queue(&attr);
        size_t lengths[64], length;
        uint64_t in_seed = 3, sum = 0;
        for (int lap = 0; lap < 500; lap++) {
            size_t count = 1 + next_random(&in_seed) % 5;
            for (size_t i = 0; i < count; i++) {
                lengths[i] = lap % 3 ? next_random(&in_seed) % 100 : next_random(&in_seed) % 3001;
                memset(in, (int)(sum + i) & 255, lengths[i]);
                ok(shmemx_queue_try_push(queue, in, lengths[i]));
            }
            ok(shmemx_queue_flush(queue, 0));
            for (size_t i = 0; i < count; i++) {
                ok(shmemx_queue_try_pop(queue, out, sizeof out, &length));
                assert_int_equal(length, lengths[i]);
                for (size_t k = 0; k < length; k++)
                    assert_int_equal((unsigned char)out[k], (unsigned char)(sum + i));
            }
            sum += count;
        }
        refuses(EAGAIN, "empty", shmemx_queue_try_pop(queue, out, sizeof out, NULL));
        refuses(EMSGSIZE, "3000", shmemx_queue_try_push(queue, in, 3001));
        end_queue(queue);
    }
}

static void messages_one_after_the_other(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = messages(4096, 4, 0);
    shmemx_queue_t queue = make_queue(&attr);
    static const char text[] = "onetwothreefour";
    size_t sizes[] = {3, 3, 5, 4}, lengths[4];
    char out[16] = "", small[4];
    assert_int_equal(shmemx_queue_push_many(queue, text, sizes, 4, 0), 4);
    assert_int_equal(shmemx_queue_length(queue), 4);
    assert_int_equal(shmemx_queue_pop_many(queue, out, sizeof out, lengths, 3, 0), 3);
    assert_memory_equal(out, "onetwothree", 11);
    assert_int_equal(lengths[2], 5);
    refuses(EMSGSIZE, "fit", shmemx_queue_pop(queue, small, 3, lengths, 0));
    assert_int_equal(lengths[0], 4);
    ok(shmemx_queue_pop(queue, small, 4, lengths, 0));
    assert_memory_equal(small, "four", 4);
    assert_int_equal(shmemx_queue_length(queue), 0);
    end_queue(queue);
}

static void a_full_queue_of_messages(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = messages(1024, 1, 200);
    shmemx_queue_t queue = make_queue(&attr);
    static char message[200], out[200];
    for (int lap = 0; lap < 20; lap++) {
        int count = 0;
        while (shmemx_queue_try_push(queue, message, 200) == 0)
            count++;
        assert_int_equal(count, 4); /* 4 slots of 64 each */
        for (; count > 0; count--)
            ok(shmemx_queue_try_pop(queue, out, 200, NULL));
        ok(shmemx_queue_try_push(queue, message, 50)); /* so that the end of the ring falls elsewhere */
        ok(shmemx_queue_try_pop(queue, out, 200, NULL));
    }
    end_queue(queue);
}

static void slots_written_in_place(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(4, 2);
    shmemx_queue_t queue = make_queue(&attr);
    void *slot;
    push(queue, 1); /* gathered */
    ok(shmemx_queue_reserve(queue, 8, &slot, 0));
    *(uint64_t *)slot = 2;
    refuses(EBUSY, "reserved", shmemx_queue_reserve(queue, 8, &slot, 0));
    refuses(EBUSY, "reserved", shmemx_queue_try_push(queue, slot, 8));
    assert_int_equal(pop(queue), 1);
    uint64_t none;
    refuses(EAGAIN, "empty", shmemx_queue_try_pop(queue, &none, 8, NULL));
    ok(shmemx_queue_commit(queue, 8));
    ok(shmemx_queue_reserve(queue, 8, &slot, 0));
    ok(shmemx_queue_abort(queue));
    refuses(EINVAL, "nothing", shmemx_queue_abort(queue));
    refuses(EINVAL, "nothing", shmemx_queue_commit(queue, 8));
    push(queue, 3);
    ok(shmemx_queue_flush(queue, 0));
    assert_int_equal(pop(queue), 2);
    assert_int_equal(pop(queue), 3);
    end_queue(queue);
    attr = messages(1024, 1, 200);
    queue = make_queue(&attr);
    const void *seen;
    size_t length;
    ok(shmemx_queue_reserve(queue, 200, &slot, 0));
    memcpy(slot, "hello", 5);
    ok(shmemx_queue_commit(queue, 5));
    ok(shmemx_queue_try_push(queue, "you", 3));
    ok(shmemx_queue_peek(queue, &seen, &length, 0));
    assert_int_equal(length, 5);
    assert_memory_equal(seen, "hello", 5);
    ok(shmemx_queue_release(queue));
    ok(shmemx_queue_peek(queue, &seen, &length, 0));
    assert_int_equal(length, 3);
    ok(shmemx_queue_release(queue));
    end_queue(queue);
}

static void peeking(void **state)
{
    (void)state;
    for (unsigned consumers = SHMEMX_QUEUE_ONE; consumers <= SHMEMX_QUEUE_MANY; consumers++) {
        shmemx_queue_attr_t attr = items(8, 1);
        attr.consumers = consumers;
        shmemx_queue_t queue = make_queue(&attr);
        const void *item;
        uint64_t value;
        size_t bytes;
        refuses(EAGAIN, "empty", shmemx_queue_peek(queue, &item, &bytes, 0));
        refuses(EINVAL, "not peeking", shmemx_queue_release(queue));
        push(queue, 1);
        push(queue, 2);
        ok(shmemx_queue_peek(queue, &item, &bytes, 0));
        assert_int_equal(bytes, 8);
        assert_int_equal(*(const uint64_t *)item, 1);
        refuses(EBUSY, "peeking", shmemx_queue_pop(queue, &value, 8, NULL, -1));
        ok(shmemx_queue_put_back(queue));
        ok(shmemx_queue_peek(queue, &item, NULL, 0));
        assert_int_equal(*(const uint64_t *)item, 1);
        ok(shmemx_queue_release(queue));
        assert_int_equal(pop(queue), 2);
        end_queue(queue);
    }
}

static void ended(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(8, 4);
    shmemx_queue_t queue = make_queue(&attr);
    uint64_t value = 3;
    shmemx_queue_stats_t stats;
    push(queue, 1);
    ok(shmemx_queue_end(queue, 0)); /* moves in what is gathered */
    ok(shmemx_queue_end(queue, 0));
    for (int i = 0; i < 3; i++) /* gathered, and then told */
        ok(shmemx_queue_try_push(queue, &value, 8));
    refuses(EPIPE, "4 items", shmemx_queue_try_push(queue, &value, 8));
    assert_int_equal(pop(queue), 1);
    refuses(EPIPE, "ended", shmemx_queue_pop(queue, &value, 8, NULL, -1));
    refuses(EPIPE, "ended", (int)shmemx_queue_push_many(queue, (uint64_t[8]){0}, NULL, 8, 0));
    ok(shmemx_queue_stats(queue, &stats));
    assert_int_equal(stats.ended, 1);
    end_queue(queue);
}

static void names_and_keys(void **state)
{
    (void)state;
    make_pool(1 << 20);
    shmemx_queue_attr_t attr = items(8, 1);
    shmemx_queue_t made, found, imported;
    char key[SHMEMX_KEY_TEXT];
    uint64_t value = 7;
    ok(shmemx_queue_create(pool, "work", &attr, &made));
    refuses(EEXIST, "work", shmemx_queue_create(pool, "work", &attr, &found));
    refuses(ENOENT, "other", shmemx_queue_find(pool, "other", &found));
    ok(shmemx_queue_find(pool, "work", &found));
    ok(shmemx_queue_export(made, key));
    ok(shmemx_queue_import(key, &imported));
    ok(shmemx_queue_try_push(made, &value, 8));
    value = 8;
    ok(shmemx_queue_try_push(found, &value, 8));
    assert_int_equal(pop(imported), 7);
    assert_int_equal(pop(made), 8);
    refuses(EBUSY, "handles", shmemx_pool_close(pool));
    ok(shmemx_queue_close(found));
    ok(shmemx_queue_destroy(made));
    refuses(ENOENT, "destroyed", shmemx_queue_try_push(imported, &value, 8));
    ok(shmemx_queue_close(imported));
    ok(shmemx_pool_close(pool));
}

/* In other threads, which use handles of their own. */
struct sleeper {
    pthread_t thread;
    shmemx_queue_t queue;
    bool pushes;
    int rc;
};

static void *sleeps(void *context)
{
    struct sleeper *s = context;
    uint64_t item = 1;
    s->rc = s->pushes ? shmemx_queue_push(s->queue, &item, 8, 20) : shmemx_queue_pop(s->queue, &item, 8, NULL, 20);
    return NULL;
}

static void destroyed_while_others_wait(void **state)
{
    (void)state;
    make_pool(1 << 20);
    shmemx_queue_attr_t attr = items(2, 1);
    for (int pushes = 0; pushes < 2; pushes++) {
        struct sleeper sleepers[2];
        shmemx_queue_t queue;
        ok(shmemx_queue_create(pool, "q", &attr, &queue));
        for (int i = 0; i < 2 && pushes; i++)
            push(queue, 1); /* it is full */
        for (int i = 0; i < 2; i++) {
            sleepers[i].pushes = pushes;
            ok(shmemx_queue_find(pool, "q", &sleepers[i].queue));
            assert_int_equal(pthread_create(&sleepers[i].thread, NULL, sleeps, &sleepers[i]), 0);
        }
        usleep(20000);
        int rc;
        while ((rc = shmemx_queue_destroy(queue)) == -EBUSY) /* they are just looking */
            usleep(1000);
        ok(rc);
        for (int i = 0; i < 2; i++) {
            pthread_join(sleepers[i].thread, NULL);
            assert_int_equal(sleepers[i].rc, -ENOENT);
            ok(shmemx_queue_close(sleepers[i].queue));
        }
    }
    ok(shmemx_pool_close(pool));
}

static void destroyed_while_in_use(void **state)
{
    (void)state;
    make_pool(1 << 20);
    shmemx_queue_attr_t attr = items(8, 1);
    shmemx_queue_t queue, other;
    const void *item;
    void *slot;
    ok(shmemx_queue_create(pool, "q", &attr, &queue));
    ok(shmemx_queue_find(pool, "q", &other));
    push(queue, 1);
    ok(shmemx_queue_peek(queue, &item, NULL, 0));
    refuses(EBUSY, "peeking", shmemx_queue_destroy(queue));
    refuses(EBUSY, "peeking", shmemx_queue_destroy(other));
    ok(shmemx_queue_put_back(queue));
    ok(shmemx_queue_reserve(queue, 8, &slot, 0));
    refuses(EBUSY, "reserved", shmemx_queue_destroy(other));
    ok(shmemx_queue_commit(queue, 8));
    assert_int_equal(pop(queue), 1); /* nothing has changed */
    ok(shmemx_queue_destroy(other));
    refuses(ENOENT, "destroyed", shmemx_queue_try_push(queue, &(uint64_t){1}, 8));
    ok(shmemx_queue_close(queue));
    ok(shmemx_pool_close(pool));
}

static void odd_timeouts(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(2, 1);
    shmemx_queue_t queue = make_queue(&attr);
    uint64_t value = 1;
    const void *item;
    void *slot;
    refuses(EINVAL, "seconds", shmemx_queue_pop(queue, &value, 8, NULL, NAN));
    refuses(EINVAL, "seconds", (int)shmemx_queue_pop_many(queue, &value, 8, NULL, 1, NAN));
    refuses(EINVAL, "seconds", shmemx_queue_peek(queue, &item, NULL, NAN));
    refuses(EINVAL, "seconds", shmemx_queue_flush(queue, NAN));
    refuses(EINVAL, "seconds", shmemx_queue_end(queue, NAN));
    refuses(EINVAL, "seconds", shmemx_queue_reserve(queue, 8, &slot, NAN));
    ok(shmemx_queue_push(queue, &value, 8, INFINITY));
    ok(shmemx_queue_push(queue, &value, 8, -INFINITY));
    refuses(EINVAL, "seconds", shmemx_queue_push(queue, &value, 8, NAN)); /* it is full */
    refuses(ETIMEDOUT, "full", shmemx_queue_push(queue, &value, 8, 1e-320));
    ok(shmemx_queue_pop(queue, &value, 8, NULL, 1e300));
    end_queue(queue);
}

static void messages_without_their_sizes(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = messages(4096, 1, 64);
    shmemx_queue_t queue = make_queue(&attr);
    char text[128];
    ok(shmemx_queue_try_push(queue, "a", 1));
    refuses(EINVAL, "sizes is NULL", (int)shmemx_queue_pop_many(queue, text, sizeof text, NULL, 2, 0));
    assert_int_equal(shmemx_queue_pop_many(queue, text, sizeof text, NULL, 1, 0), 1);
    end_queue(queue);
}

/* Another handle finds what the first one gathered when it is closed. */
static void closing_moves_in(void **state)
{
    (void)state;
    make_pool(1 << 20);
    shmemx_queue_attr_t attr = items(8, 8);
    shmemx_queue_t first, second;
    ok(shmemx_queue_create(pool, "q", &attr, &first));
    ok(shmemx_queue_find(pool, "q", &second));
    push(first, 1);
    push(first, 2);
    void *slot;
    ok(shmemx_queue_flush(first, 0));
    push(first, 3);
    ok(shmemx_queue_close(first));
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(pop(second), i);
    ok(shmemx_queue_find(pool, "q", &first));
    ok(shmemx_queue_reserve(first, 8, &slot, 0));
    ok(shmemx_queue_close(first)); /* given up */
    push(second, 4);
    ok(shmemx_queue_flush(second, 0));
    assert_int_equal(pop(second), 4);
    ok(shmemx_queue_destroy(second));
    ok(shmemx_pool_close(pool));
}

static void flushed_by_time(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(8, 8);
    attr.flush_seconds = 0.02;
    shmemx_queue_t queue = make_queue(&attr);
    uint64_t value;
    for (uint64_t i = 1; i <= 5; i++) {
        push(queue, i);
        ok(shmemx_queue_pop(queue, &value, 8, NULL, 10));
        assert_int_equal(value, i);
        if (i == 3)
            usleep(100000); /* the clock stands still meanwhile */
    }
    end_queue(queue);
}

static void wrong_wishes(void **state)
{
    (void)state;
    make_pool(1 << 20);
    shmemx_queue_t queue;
    shmemx_queue_attr_t attr = items(0, 1);
    refuses(EINVAL, "capacity", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = items(4, 5);
    refuses(EINVAL, "batch", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = items(4, 0);
    refuses(EINVAL, "batch", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = items(4, 1);
    attr.consumers = 3;
    refuses(EINVAL, "consumers", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = items(4, 1);
    attr.flush_seconds = -1;
    refuses(EINVAL, "flush_seconds", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = items(4, 1);
    attr.max_message = 10;
    refuses(EINVAL, "max_message", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = messages(100, 1, 100);
    refuses(EINVAL, "max_message", shmemx_queue_create(pool, NULL, &attr, &queue));
    attr = items((size_t)1 << 31, 1);
    refuses(ENOMEM, "queue", shmemx_queue_create(pool, NULL, &attr, &queue));
    refuses(EINVAL, "attr", shmemx_queue_create(pool, NULL, NULL, &queue));
    refuses(EINVAL, "NULL", shmemx_queue_push(NULL, "", 1, 0));
    ok(shmemx_pool_close(pool));
}

/* None of it is made: it would take a machine of its own. */
static void sizes_beyond_32_bits(void **state)
{
    struct shmemi_queue_shape shape;
    (void)state;
    struct shmemi_queue_config config = {.item_bytes = 1 << 20, .capacity = 8192, .batch = 4096, .many = 1};
    ok(shmemi_queue_lay_out(&config, &shape));
    assert_int_equal(shape.gather_bytes, UINT64_C(1) << 32);
    config = (struct shmemi_queue_config){.item_bytes = UINT64_C(6) << 30, .capacity = 3, .batch = 1};
    ok(shmemi_queue_lay_out(&config, &shape));
    assert_true(shape.bytes > UINT64_C(24) << 30 && shape.bytes < UINT64_C(25) << 30); /* a power of two of slots */
    assert_int_equal(shape.gather_bytes, 0);
    config.item_bytes = UINT64_C(1) << 40;
    ok(shmemi_queue_lay_out(&config, &shape));
    config.item_bytes++;
    refuses(EINVAL, "item_bytes", shmemi_queue_lay_out(&config, &shape));
    config = (struct shmemi_queue_config){.item_bytes = UINT64_C(1) << 40, .capacity = UINT64_C(1) << 31, .batch = 1};
    refuses(EINVAL, "2^46", shmemi_queue_lay_out(&config, &shape));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(items_come_out_in_order),
        clean_test(full_is_exact),
        clean_test(batches_are_seen_when_they_are_full),
        clean_test(a_batch_waits_for_room),
        clean_test(many_at_once),
        clean_test(items_of_many_sizes),
        clean_test(messages_of_any_length),
        clean_test(messages_one_after_the_other),
        clean_test(a_full_queue_of_messages),
        clean_test(slots_written_in_place),
        clean_test(peeking),
        clean_test(ended),
        clean_test(names_and_keys),
        clean_test(destroyed_while_others_wait),
        clean_test(destroyed_while_in_use),
        clean_test(odd_timeouts),
        clean_test(messages_without_their_sizes),
        clean_test(closing_moves_in),
        clean_test(flushed_by_time),
        clean_test(sizes_beyond_32_bits),
        clean_test(wrong_wishes),
    };
    return cmocka_run_group_tests_name("queue/basic", tests, NULL, NULL);
}
