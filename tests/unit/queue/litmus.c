// SPDX-License-Identifier: Apache-2.0
// What queues order: who takes an item sees what was written before it was put, in batches or not; who gets a slot sees
// what its last reader did before; who learns of the end sees what came before the end.
#include "queues.h"

#include "litmus.h"

#define PATIENCE 20.0

static shmemx_queue_t ways[2]; /* from the first thread to the second, and back */
static unsigned batch;

static void make_ways(const shmemx_queue_attr_t *attr)
{
    make_pool((size_t)8 << 20);
    for (int i = 0; i < 2; i++)
        ok(shmemx_queue_create(pool, NULL, attr, &ways[i]));
}

static void end_ways(void)
{
    for (int i = 0; i < 2; i++)
        ok(shmemx_queue_destroy(ways[i]));
    ok(shmemx_pool_close(pool));
}

/* --- push to pop -------------------------------------------------------------------------------------------------- */

/* A batch is moved in when it is full: the last of it is handed over by that, and seen with all that came before. */
static long push_batch(int direction, long round)
{
    for (unsigned i = 0; i < batch; i++) {
        uint64_t item = (uint64_t)round * batch + i;
        int rc = i % 2 ? shmemx_queue_push(ways[direction], &item, 8, PATIENCE)
                       : shmemx_queue_try_push(ways[direction], &item, 8);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static long pop_batch(int direction, long round)
{
    for (unsigned i = 0; i < batch; i++) {
        uint64_t item = 0;
        int rc = shmemx_queue_pop(ways[direction], &item, 8, NULL, PATIENCE);
        if (rc < 0 || item != (uint64_t)round * batch + i)
            return rc < 0 ? rc : -EBADMSG;
    }
    return 0;
}

static void batches(void **state)
{
    (void)state;
    for (batch = 1; batch <= 16; batch *= 4)
        for (unsigned consumers = SHMEMX_QUEUE_ONE; consumers <= SHMEMX_QUEUE_MANY; consumers++) {
            shmemx_queue_attr_t attr = items(64, batch);
            attr.consumers = consumers;
            make_ways(&attr);
            litmus(&(struct litmus_way){"push to pop", push_batch, pop_batch});
            end_ways();
        }
}

/* One item, moved in by hand. */
static long push_and_flush(int direction, long round)
{
    uint64_t item = (uint64_t)round;
    int rc = shmemx_queue_push(ways[direction], &item, 8, PATIENCE);
    return rc < 0 ? rc : shmemx_queue_flush(ways[direction], PATIENCE);
}

static long pop_one(int direction, long round)
{
    uint64_t item = 0;
    int rc = shmemx_queue_pop(ways[direction], &item, 8, NULL, PATIENCE);
    return rc < 0 ? rc : item == (uint64_t)round ? 0 : -EBADMSG;
}

static void flushes(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(64, 16);
    make_ways(&attr);
    litmus(&(struct litmus_way){"flush to pop", push_and_flush, pop_one});
    end_ways();
}

static long push_many(int direction, long round)
{
    uint64_t run[5];
    for (uint64_t i = 0; i < 5; i++)
        run[i] = (uint64_t)round * 5 + i;
    long rc = shmemx_queue_push_many(ways[direction], run, NULL, 5, PATIENCE);
    return rc < 0 ? rc : rc == 5 ? 0 : -EBADMSG;
}

static long pop_many(int direction, long round)
{
    uint64_t run[5];
    for (uint64_t done = 0; done < 5;) {
        long rc = shmemx_queue_pop_many(ways[direction], run, sizeof run, NULL, 5 - done, PATIENCE);
        for (long i = 0; i < rc; i++)
            if (run[i] != (uint64_t)round * 5 + done++)
                return -EBADMSG;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void runs(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(64, 1);
    make_ways(&attr);
    litmus(&(struct litmus_way){"many", push_many, pop_many});
    end_ways();
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

static long push_messages(int direction, long round)
{
    char text[200];
    for (unsigned i = 0; i < batch; i++) {
        size_t bytes = (size_t)(round * 7 + i) % sizeof text;
        memset(text, (int)(round + i) & 127, bytes);
        int rc = shmemx_queue_push(ways[direction], text, bytes, PATIENCE);
        if (rc < 0)
            return rc;
    }
    return shmemx_queue_flush(ways[direction], PATIENCE);
}

static long pop_messages(int direction, long round)
{
    char text[200];
    size_t bytes = 0;
    for (unsigned i = 0; i < batch; i++) {
        int rc = shmemx_queue_pop(ways[direction], text, sizeof text, &bytes, PATIENCE);
        if (rc < 0)
            return rc;
        if (bytes != (size_t)(round * 7 + i) % sizeof text)
            return -EBADMSG;
        for (size_t k = 0; k < bytes; k++)
            if (text[k] != ((round + i) & 127))
                return -EBADMSG;
    }
    return 0;
}

static void message_batches(void **state)
{
    (void)state;
    for (batch = 1; batch <= 16; batch *= 4) {
        shmemx_queue_attr_t attr = messages(8192, batch, 256);
        make_ways(&attr);
        litmus(&(struct litmus_way){"messages", push_messages, pop_messages});
        end_ways();
    }
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

/* Written and read in place: each slot again and again, by one and then by the other. */
static long write_slot(int direction, long round)
{
    long *slot = NULL;
    int rc = shmemx_queue_reserve(ways[direction], 64, (void **)(void *)&slot, PATIENCE);
    for (int i = 0; i < 8 && rc == 0; i++)
        slot[i] = round + i;
    return rc < 0 ? rc : shmemx_queue_commit(ways[direction], 64);
}

static long read_slot(int direction, long round)
{
    const long *slot = NULL;
    size_t bytes = 0;
    int rc = shmemx_queue_peek(ways[direction], (const void **)(const void *)&slot, &bytes, PATIENCE);
    for (int i = 0; i < 8 && rc == 0; i++)
        if (slot[i] != round + i)
            return -EBADMSG;
    return rc < 0 ? rc : shmemx_queue_release(ways[direction]);
}

static void in_place(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(2, 1);
    attr.item_bytes = 64;
    make_ways(&attr);
    litmus(&(struct litmus_way){"in place", write_slot, read_slot});
    end_ways();
}

/* A full queue hands back: the slot that is free again is given by its reader. Nothing else orders the two. */
static struct {
    _Alignas(128) long read; /* plain: by the consumer, before it lets a slot go */
} acknowledged[4];
static _Atomic long wrong_slots;

static void *consume_slots(void *last)
{
    for (long i = 0; i <= (long)(intptr_t)last; i++) {
        const long *slot = NULL;
        size_t bytes = 0;
        long rc = shmemx_queue_peek(ways[0], (const void **)(const void *)&slot, &bytes, PATIENCE);
        wrong_slots += rc != 0 || slot[0] != i || slot[7] != i;
        acknowledged[i % 4].read = i;
        wrong_slots += shmemx_queue_release(ways[0]) != 0;
    }
    return NULL;
}

static void slots_again(void **state)
{
    (void)state;
    const long last = LITMUS_ROUNDS;
    shmemx_queue_attr_t attr = items(4, 1);
    pthread_t consumer;
    attr.item_bytes = 64;
    make_ways(&attr);
    wrong_slots = 0;
    assert_int_equal(pthread_create(&consumer, NULL, consume_slots, (void *)(intptr_t)last), 0); /* NOLINT: a number */
    for (long i = 0; i <= last; i++) {
        long *slot = NULL;
        ok(shmemx_queue_reserve(ways[0], 64, (void **)(void *)&slot, PATIENCE));
        if (i >= 4)
            assert_int_equal(acknowledged[i % 4].read, i - 4); /* who had this slot before */
        for (int k = 0; k < 8; k++)
            slot[k] = i;
        ok(shmemx_queue_commit(ways[0], 64));
    }
    pthread_join(consumer, NULL);
    assert_int_equal(wrong_slots, 0);
    end_ways();
}

/* Consumers in turn: what one did before it took an item is seen by the one that takes the next. */
static long taken; /* plain: by whoever has the consumer's place */

static void *take_turns(void *unused)
{
    const void *item;
    size_t bytes;
    while (shmemx_queue_peek(ways[0], &item, &bytes, PATIENCE) == 0) {
        taken++;
        wrong_slots += *(const long *)item != taken;
        wrong_slots += shmemx_queue_release(ways[0]) != 0;
    }
    return unused;
}

static void consumers_in_turn(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(16, 4);
    pthread_t consumers[2];
    make_ways(&attr);
    taken = 0;
    wrong_slots = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&consumers[i], NULL, take_turns, NULL), 0);
    for (long i = 1; i <= LITMUS_ROUNDS / 2; i++)
        ok(shmemx_queue_push(ways[0], &i, 8, PATIENCE));
    ok(shmemx_queue_end(ways[0], PATIENCE));
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    assert_int_equal(wrong_slots, 0);
    assert_int_equal(taken, LITMUS_ROUNDS / 2);
    end_ways();
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void *learns_of_the_end(void *unused)
{
    uint64_t item;
    int rc = shmemx_queue_pop(ways[0], &item, 8, NULL, PATIENCE);
    wrong_slots += rc != -EPIPE || !litmus_holds(77);
    return unused;
}

static void end_to_pop(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        shmemx_queue_attr_t attr = items(8, 1);
        pthread_t consumer;
        make_ways(&attr);
        wrong_slots = 0;
        litmus_write(0);
        assert_int_equal(pthread_create(&consumer, NULL, learns_of_the_end, NULL), 0);
        if (i % 2)
            usleep(100);
        litmus_write(77);
        ok(shmemx_queue_end(ways[0], PATIENCE));
        pthread_join(consumer, NULL);
        assert_int_equal(wrong_slots, 0);
        end_ways();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(batches),           clean_test(flushes),    clean_test(runs),
        clean_test(message_batches),   clean_test(in_place),   clean_test(slots_again),
        clean_test(consumers_in_turn), clean_test(end_to_pop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
