// SPDX-License-Identifier: Apache-2.0
// Queues between processes: handing over, ends of processes, deaths, and strangers who write where they should not.
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "queues.h"

static void *shared_page(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static pid_t child(void (*run)(void *context), void *context)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(context);
        exit(0); /* an ordinary end: what is gathered is moved in */
    }
    return pid;
}

static shmemx_queue_t queue;

static void pop_all(uint64_t count)
{
    uint64_t value;
    for (uint64_t i = 1; i <= count; i++) {
        ok(shmemx_queue_pop(queue, &value, 8, NULL, 20));
        assert_int_equal(value, i);
    }
    refuses(EAGAIN, "empty", shmemx_queue_try_pop(queue, &value, 8, NULL));
}

/* ---- ends ---- */

static void push_three(void *context)
{
    (void)context;
    for (uint64_t i = 1; i <= 3; i++)
        child_check(shmemx_queue_push(queue, &i, 8, 5) == 0);
}

static void push_three_and_leave_without_ado(void *context)
{
    push_three(context);
    _exit(0);
}

static void the_end_of_a_process_moves_in(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(8, 8);
    queue = make_queue(&attr);
    uint64_t value = 9;
    ok(shmemx_queue_push(queue, &value, 8, 0)); /* gathered here; the child leaves it alone */
    child_succeeds(child(push_three, NULL));
    pop_all(3);
    child_succeeds(child(push_three_and_leave_without_ado, NULL)); /* lost with _exit(), as is said */
    pop_all(0);
    ok(shmemx_queue_flush(queue, 0));
    ok(shmemx_queue_pop(queue, &value, 8, NULL, 0));
    assert_int_equal(value, 9);
    end_queue(queue);
}

static void use_name_and_key(void *context)
{
    shmemx_queue_t found, imported;
    uint64_t value = 0;
    child_check(shmemx_queue_find(pool, "q", &found) == 0);
    child_check(shmemx_queue_import(context, &imported) == 0);
    child_check(shmemx_queue_pop(found, &value, 8, NULL, 5) == 0 && value == 1);
    child_check(shmemx_queue_pop(imported, &value, 8, NULL, 5) == 0 && value == 2);
    child_check(shmemx_queue_close(found) == 0 && shmemx_queue_close(imported) == 0);
}

static void import_alone(void *context)
{
    shmemx_queue_t imported;
    uint64_t value = 0;
    char key[SHMEMX_KEY_TEXT];
    child_check(read(*(int *)context, key, sizeof key) == sizeof key);
    child_check(shmemx_queue_import(key, &imported) == 0);
    child_check(shmemx_queue_pop(imported, &value, 8, NULL, 5) == 0 && value == 3);
    value = 4;
    child_check(shmemx_queue_push(imported, &value, 8, 5) == 0);
    child_check(shmemx_queue_close(imported) == 0);
}

static void handed_over(void **state)
{
    (void)state;
    int ends[2];
    char key[SHMEMX_KEY_TEXT] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t stranger = child(import_alone, &ends[0]); /* of a pool that is made after it */
    shmemx_queue_attr_t attr = items(8, 1);
    make_pool(1 << 20);
    ok(shmemx_queue_create(pool, "q", &attr, &queue));
    ok(shmemx_queue_export(queue, key));
    for (uint64_t i = 1; i <= 3; i++)
        ok(shmemx_queue_push(queue, &i, 8, 0));
    child_succeeds(child(use_name_and_key, key));
    assert_int_equal(write(ends[1], key, sizeof key), sizeof key);
    child_succeeds(stranger);
    uint64_t value;
    ok(shmemx_queue_pop(queue, &value, 8, NULL, 0));
    assert_int_equal(value, 4);
    close(ends[0]);
    close(ends[1]);
    end_queue(queue);
}

/* ---- large buffers travel by offset ---- */

enum { BUFFER = 16 << 20, BUFFERS = 4 };

static void send_buffers(void *context)
{
    (void)context;
    for (int i = 0; i < BUFFERS; i++) {
        void *buffer;
        uint64_t offset;
        child_check(shmemx_pool_alloc(pool, BUFFER, 0, 0, &buffer) == 0);
        memset(buffer, i + 1, BUFFER);
        child_check(shmemx_pool_offset(pool, buffer, &offset) == 0);
        child_check(shmemx_pool_keep(pool, buffer) == 0); /* it outlives this process */
        child_check(shmemx_queue_push(queue, &offset, sizeof offset, 10) == 0);
    }
    raise(SIGKILL);
}

static void buffers_travel_by_offset(void **state)
{
    (void)state;
    make_pool((size_t)(BUFFERS + 1) * BUFFER);
    shmemx_queue_attr_t attr = items(BUFFERS, 1);
    ok(shmemx_queue_create(pool, NULL, &attr, &queue));
    pid_t pid = child(send_buffers, NULL);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (int i = 0; i < BUFFERS; i++) {
        uint64_t offset;
        void *buffer;
        ok(shmemx_queue_pop(queue, &offset, sizeof offset, NULL, 10));
        ok(shmemx_pool_address(pool, offset, BUFFER, &buffer));
        for (size_t k = 0; k < BUFFER; k += 4096)
            assert_int_equal(((const char *)buffer)[k], i + 1);
        ok(shmemx_pool_free(pool, buffer));
    }
    end_queue(queue);
}

/* ---- deaths at chosen places ---- */

static void reserve_and_die(void *context)
{
    void *slot;
    (void)context;
    child_check(shmemx_queue_reserve(queue, 8, &slot, 5) == 0);
    *(uint64_t *)slot = 99;
    raise(SIGKILL);
}

static void peek_and_die(void *context)
{
    const void *item;
    (void)context;
    child_check(shmemx_queue_peek(queue, &item, NULL, 5) == 0);
    raise(SIGKILL);
}

static void sleep_for_items(void *context)
{
    uint64_t value;
    (void)context;
    shmemx_queue_pop(queue, &value, 8, NULL, -1);
}

static void killed(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void the_dead_hold_up_nobody(void **state)
{
    (void)state;
    for (unsigned consumers = SHMEMX_QUEUE_ONE; consumers <= SHMEMX_QUEUE_MANY; consumers++) {
        shmemx_queue_attr_t attr = items(8, 1);
        attr.consumers = consumers;
        queue = make_queue(&attr);
        uint64_t value = 1;
        shmemx_queue_stats_t stats;
        ok(shmemx_queue_push(queue, &value, 8, 0));
        killed(child(reserve_and_die, NULL));
        value = 2;
        ok(shmemx_queue_push(queue, &value, 8, 0));
        killed(child(peek_and_die, NULL));
        pop_all(2);
        ok(shmemx_queue_stats(queue, &stats));
        assert_int_equal(stats.skipped, 1);
        pid_t sleeper = child(sleep_for_items, NULL);
        usleep(20000);
        kill(sleeper, SIGKILL);
        killed(sleeper);
        value = 1;
        ok(shmemx_queue_push(queue, &value, 8, 0));
        pop_all(1);
        end_queue(queue);
    }
}

/* ---- a full queue of slots that nobody will commit ---- */

static void room_comes_back_from_the_dead(void **state)
{
    (void)state;
    shmemx_queue_attr_t attr = items(4, 1);
    queue = make_queue(&attr);
    for (int lap = 0; lap < 3; lap++) {
        for (int i = 0; i < 4; i++)
            killed(child(reserve_and_die, NULL));
        uint64_t value = 5;
        refuses(EAGAIN, "full", shmemx_queue_try_push(queue, &value, 8));
        refuses(EAGAIN, "empty", shmemx_queue_try_pop(queue, &value, 8, NULL)); /* passes over them */
        value = 1;
        ok(shmemx_queue_try_push(queue, &value, 8));
        pop_all(1);
    }
    end_queue(queue);
}

/* ---- stray writes ---- */

struct scribble {
    _Atomic int stop;
    char *at;
    size_t bytes;
    unsigned seed;
};

static void produce_what_goes(void *context)
{
    struct scribble *s = context;
    for (uint64_t i = 0; !s->stop; i++)
        if (shmemx_queue_push(queue, &i, 8, 0.001) != 0)
            usleep(100);
}

static void consume_what_comes(void *context)
{
    struct scribble *s = context;
    uint64_t values[32];
    const void *item;
    for (unsigned i = 0; !s->stop; i++) {
        long rc = i % 2 ? shmemx_queue_pop_many(queue, values, sizeof values, NULL, 32, 0.001)
                        : shmemx_queue_peek(queue, &item, NULL, 0.001);
        if (rc == 0)
            shmemx_queue_release(queue);
    }
}

static void scribble(struct scribble *s, uint64_t *seed)
{
    uint64_t r = next_random(seed);
    size_t at = (r >> 8) % (s->bytes / 8) * 8;
    static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 15, 0x8000800080008000};
    uint64_t value = r & 1 ? values[(r >> 1) % 6] : next_random(seed);
    __atomic_store_n((uint64_t *)(void *)(s->at + at), value, __ATOMIC_RELAXED);
}

/* Nothing but codes comes of it: no fault, and nobody waits beyond its time. */
static void stray_writes(void **state)
{
    (void)state;
    struct scribble *s = shared_page(sizeof *s);
    for (unsigned round = 0; round < 8; round++) {
        shmemx_queue_attr_t attr = round % 2 ? items(64, 1 + round) : messages(4096, 1 + round, 100);
        attr.consumers = round % 4 < 2 ? SHMEMX_QUEUE_ONE : SHMEMX_QUEUE_MANY;
        attr.producers = 4;
        make_pool(1 << 20);
        ok(shmemx_queue_create(pool, "q", &attr, &queue));
        shmemx_named_t named;
        shmemx_queue_stats_t stats;
        ok(shmemx_pool_find(pool, "q", &named));
        ok(shmemx_queue_stats(queue, &stats));
        s->at = (char *)named.address + 128; /* behind the head that all objects have */
        s->bytes = stats.bytes;
        s->stop = 0;
        pid_t pids[4];
        for (int i = 0; i < 4; i++)
            pids[i] = child(i < 2 ? produce_what_goes : consume_what_comes, s);
        uint64_t seed = round + 1;
        double until = seconds_now() + 0.15;
        while (seconds_now() < until) {
            scribble(s, &seed);
            usleep(50);
        }
        s->stop = 1;
        for (int i = 0; i < 4; i++)
            child_succeeds(pids[i]);
        shmemx_queue_destroy(queue);
        shmemx_pool_close(pool);
    }
    munmap(s, sizeof *s);
}

/* ---- random kills ---- */

enum { WORKERS = 8, PRODUCERS = 5 };

struct worker {
    _Atomic uint64_t begun;  /* number of the last item whose push began */
    _Atomic uint64_t pushed; /* number of the last item whose push ended */
    uint64_t first;          /* of this life */
};

struct chaos {
    _Atomic int stop;
    struct worker workers[WORKERS];
    /* What the consumers got: written before the next pop. */
    _Atomic uint64_t got[PRODUCERS], last[PRODUCERS], disorder, twice, foreign;
    _Atomic uint64_t lost_most; /* items that killed consumers had in hand */
};

static struct chaos *chaos;
static unsigned chaos_batch;

static void chaos_produce(unsigned me)
{
    struct worker *w = &chaos->workers[me];
    uint64_t items_[16], number = w->first;
    while (!chaos->stop) {
        uint64_t count = number % 3 ? 1 : 1 + number % 16;
        for (uint64_t k = 0; k < count; k++)
            items_[k] = item_of(me, number + k);
        w->begun = number + count - 1;
        long rc = count == 1 ? shmemx_queue_push(queue, items_, 8, 0.01)
                             : shmemx_queue_push_many(queue, items_, NULL, count, 0.01);
        if (rc == 0 && count == 1)
            rc = 1;
        child_check(rc > 0 || rc == -ETIMEDOUT);
        number += rc > 0 ? (uint64_t)rc : 0;
        w->pushed = number - 1;
    }
}

static void chaos_consume(void)
{
    uint64_t items_[32];
    const void *seen;
    for (unsigned turn = 0; !chaos->stop; turn++) {
        long got;
        if (turn % 5 == 4) {
            got = shmemx_queue_peek(queue, &seen, NULL, 0.01);
            if (got == 0) {
                memcpy(items_, seen, 8);
                child_check(shmemx_queue_release(queue) == 0);
                got = 1;
            }
        } else {
            got = shmemx_queue_pop_many(queue, items_, sizeof items_, NULL, 32, 0.01);
        }
        child_check(got > 0 || got == -ETIMEDOUT || got == -EPIPE);
        for (long i = 0; i < got; i++) {
            uint64_t producer = items_[i] >> 40;
            if (producer >= PRODUCERS)
                chaos->foreign++;
            else
                chaos->got[producer]++;
        }
    }
}

static pid_t start_worker(unsigned me)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (me < PRODUCERS)
            chaos_produce(me);
        else
            chaos_consume();
        exit(0);
    }
    return pid;
}

/* Items arrive at most once; what was not killed is there; and whoever lives gets on. */
static void kills_at_random(void **state)
{
    (void)state;
    double seconds = LEAKS_SANITIZED ? 2 : 4;
    unsigned kills = 0;
    uint64_t seed = (uint64_t)getpid();
    chaos = shared_page(sizeof *chaos);
    for (unsigned round = 0; round < 2; round++) {
        memset(chaos, 0, sizeof *chaos);
        chaos_batch = round ? 8 : 1;
        shmemx_queue_attr_t attr = items(64, chaos_batch);
        queue = make_queue(&attr);
        pid_t pids[WORKERS];
        unsigned consumer_kills = 0, producer_kills = 0;
        for (unsigned i = 0; i < WORKERS; i++) {
            chaos->workers[i].first = 1;
            pids[i] = start_worker(i);
        }
        double until = seconds_now() + seconds / 2;
        uint64_t skipped_numbers[PRODUCERS] = {0}, last_total = 0;
        unsigned stuck = 0;
        while (seconds_now() < until) {
            usleep((useconds_t)(next_random(&seed) % 8000));
            unsigned victim = (unsigned)(next_random(&seed) % WORKERS);
            kill(pids[victim], SIGKILL);
            killed(pids[victim]);
            shmemx_pool_stats_t ignored;
            if (++kills % 64 == 0)
                ok(shmemx_pool_stats(pool, &ignored)); /* what the dead had goes back, and their places */
            struct worker *w = &chaos->workers[victim];
            if (victim < PRODUCERS) { /* those not known to be in may be in or not */
                producer_kills++;
                skipped_numbers[victim] += w->begun - w->pushed + chaos_batch - 1 + 16;
                w->first = w->begun + 1;
                w->pushed = w->begun;
            } else {
                consumer_kills++;
            }
            pids[victim] = start_worker(victim);
            uint64_t total = 0;
            for (unsigned p = 0; p < PRODUCERS; p++)
                total += chaos->got[p];
            stuck = total == last_total ? stuck + 1 : 0;
            last_total = total;
            assert_true(stuck < 500);
        }
        chaos->stop = 1;
        for (unsigned i = 0; i < WORKERS; i++)
            child_succeeds(pids[i]);
        uint64_t value, lost = 0, sum = 0;
        while (shmemx_queue_pop(queue, &value, 8, NULL, 0) == 0)
            chaos->got[value >> 40]++;
        for (unsigned p = 0; p < PRODUCERS; p++) {
            uint64_t pushed = chaos->workers[p].pushed;
            assert_true(chaos->got[p] <= pushed); /* none twice, as far as numbers tell */
            lost += pushed - chaos->got[p];
            sum += chaos->got[p];
            lost = lost > skipped_numbers[p] ? lost - skipped_numbers[p] : 0;
        }
        assert_int_equal(chaos->foreign, 0);
        assert_true(lost <= 32 * consumer_kills);
        shmemx_queue_stats_t stats;
        ok(shmemx_queue_stats(queue, &stats));
        print_message("# batch %u: %u producers and %u consumers were killed, %llu items arrived, %llu slots were "
                      "passed over\n",
                      chaos_batch, producer_kills, consumer_kills, (unsigned long long)sum,
                      (unsigned long long)stats.skipped);
        end_queue(queue);
    }
    munmap(chaos, sizeof *chaos);
    assert_true(kills > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(the_end_of_a_process_moves_in),
        clean_test(handed_over),
        clean_test(buffers_travel_by_offset),
        clean_test(the_dead_hold_up_nobody),
        clean_test(room_comes_back_from_the_dead),
        clean_test(stray_writes),
        clean_test(kills_at_random),
    };
    return cmocka_run_group_tests_name("queue/processes", tests, NULL, NULL);
}
