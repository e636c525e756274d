// SPDX-License-Identifier: Apache-2.0
// Registering in place while other threads write: nothing they write may be lost.
#include "inplace_help.h"

#include <pthread.h>
#include <sys/wait.h>

enum { PAGE = 4096, WORDS = 64 };

/* A thread that owns some words and checks that each write of its own stays. */
struct writer {
    pthread_t thread;
    _Atomic bool stop;
    _Atomic long lost, writes;
    volatile long *words[WORDS];
    size_t count;
};

static void *write_and_check(void *argument)
{
    struct writer *writer = argument;
    long k = 0, last[WORDS] = {0};
    while (!atomic_load_explicit(&writer->stop, memory_order_relaxed)) { /* joined afterwards */
        for (size_t i = 0; i < writer->count; i++) {
            if (*writer->words[i] != last[i])
                atomic_fetch_add_explicit(&writer->lost, 1, memory_order_relaxed); /* read after the join */
            *writer->words[i] = last[i] = ++k;
        }
    }
    atomic_store_explicit(&writer->writes, k, memory_order_relaxed); /* read after the join */
    return NULL;
}

static void start(struct writer *writer, char *memory, size_t stride, size_t count)
{
    memset(writer, 0, sizeof *writer);
    writer->count = count;
    for (size_t i = 0; i < count; i++) {
        writer->words[i] = (volatile long *)(void *)(memory + i * stride);
        *writer->words[i] = 0;
    }
    pthread_create(&writer->thread, NULL, write_and_check, writer);
}

static void stop(struct writer *writer)
{
    atomic_store_explicit(&writer->stop, true, memory_order_relaxed); /* the join orders the rest */
    pthread_join(writer->thread, NULL);
    if (writer->lost)
        fail_msg("%ld of %ld writes were lost", (long)writer->lost, (long)writer->writes);
    assert_true(writer->writes > 0);
}

static int cycles = SANITIZED ? 1000 : 5000; /* fewer by SHMEM_TEST_CYCLES */

static void register_keeps_every_write_of_a_running_thread(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    char *memory = pages(200 * PAGE, 0);
    struct writer writer;
    start(&writer, memory + 8, 3 * PAGE, WORDS);
    for (int i = 0; i < cycles / 10; i++) {
        struct region region = put_in(engine, memory, 200 * PAGE);
        take_out(engine, region, i % 2);
    }
    stop(&writer);
    munmap(memory, 200 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void neighbours_on_mixed_pages_lose_nothing(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    char *memory = pages(4 * PAGE, 0);
    struct writer writer;
    start(&writer, memory + 8, 256, WORDS);
    for (int i = 0; i < cycles; i++) {
        struct region one = put_in(engine, memory + PAGE + 16, 100);
        struct region two = put_in(engine, memory + 400, 2 * PAGE);
        take_out(engine, one, false);
        take_out(engine, two, i % 3 == 0);
    }
    stop(&writer);
    munmap(memory, 4 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void user_mode_guard_keeps_the_writes_of_threads(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = engine_with((struct shmemi_inplace_config){.user_mode_only = true});
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    char *memory = pages(40 * PAGE, 0);
    struct writer writer;
    start(&writer, memory + 8, PAGE / 2, WORDS);
    for (int i = 0; i < cycles / 5; i++)
        take_out(engine, put_in(engine, memory, 40 * PAGE), false);
    stop(&writer);
    munmap(memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

/* System calls of other threads that write into the range. */
struct filler {
    int pipe[2];
    char *memory;
    size_t bytes;
    _Atomic bool stop;
    _Atomic long failures;
};

static void *read_into(void *argument)
{
    struct filler *filler = argument;
    long rounds = 0;
    while (!atomic_load_explicit(&filler->stop, memory_order_relaxed)) { /* joined afterwards */
        char out = (char)++rounds, *in = filler->memory + (size_t)rounds * 97 % filler->bytes;
        if (write(filler->pipe[1], &out, 1) != 1 || read(filler->pipe[0], in, 1) != 1 || *in != out)
            atomic_fetch_add_explicit(&filler->failures, 1, memory_order_relaxed); /* read after the join */
    }
    return NULL;
}

static void full_guard_lets_system_calls_wait_too(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    struct filler filler = {.memory = pages(40 * PAGE, 0), .bytes = 40 * PAGE};
    struct region region = put_in(engine, filler.memory, 10);
    take_out(engine, region, false);
    if (region.guard != SHMEMI_GUARD_FULL)
        skip_because("userfaultfd is not to be had here");
    pthread_t thread;
    assert_int_equal(pipe(filler.pipe), 0);
    pthread_create(&thread, NULL, read_into, &filler);
    for (int i = 0; i < cycles / 2; i++)
        take_out(engine, put_in(engine, filler.memory, 40 * PAGE), false);
    atomic_store_explicit(&filler.stop, true, memory_order_relaxed); /* the join orders the rest */
    pthread_join(thread, NULL);
    assert_int_equal(filler.failures, 0);
    close(filler.pipe[0]);
    close(filler.pipe[1]);
    munmap(filler.memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

/* A peer adds to a counter while the owner adds too and other regions of the page come and go. */
struct adder {
    _Atomic long *counter;
    long times;
};

static void *add(void *argument)
{
    struct adder *adder = argument;
    for (long i = 0; i < adder->times; i++)
        atomic_fetch_add_explicit(adder->counter, 1, memory_order_relaxed); /* only the sum counts */
    return NULL;
}

static void atomics_of_a_peer_and_the_owner_add_up(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    enum { TIMES = 200000 };
    char *page = pages(PAGE, 0);
    struct region kept = put_in(engine, page + 64, 8);
    struct view view = look_at(engine, kept);
    struct adder owner = {(_Atomic long *)(void *)(page + 64), TIMES}, peer = {through(view, page + 64), TIMES};
    pthread_t one, two;
    pthread_create(&one, NULL, add, &owner);
    pthread_create(&two, NULL, add, &peer);
    for (int i = 0; i < 500; i++)
        take_out(engine, put_in(engine, page + 128, 100), false);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert_int_equal(*owner.counter, 2 * TIMES);
    look_away(view);
    take_out(engine, kept, true);
    assert_int_equal(*owner.counter, 2 * TIMES);
    munmap(page, PAGE);
    shmemi_inplace_destroy(engine);
}

struct worker {
    struct shmemi_inplace *engine;
    char *shared;
    unsigned seed;
    _Atomic bool *stop;
};

/* Failures are counted, not raised: cmocka cannot be left from another thread. */
static _Atomic long wrong;

static void check(bool right)
{
    if (!right)
        atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed); /* read after the join */
}

static void *come_and_go(void *argument)
{
    struct worker *worker = argument;
    for (int i = 0; i < cycles / 5; i++) {
        size_t size = (size_t)(rand_r(&worker->seed) % 60000 + 1), offset = (size_t)(rand_r(&worker->seed) % 100000);
        char *own = malloc(size);
        memset(own, i, size);
        struct region region = {0}, other = {0};
        check(shmemi_inplace_register(worker->engine, own, size, &region.pieces, &region.count, &region.guard) == 0);
        check(shmemi_inplace_register(worker->engine, worker->shared + offset, size, &other.pieces, &other.count,
                                      &other.guard) == 0);
        check(own[0] == (char)i && own[size / 2] == (char)i && own[size - 1] == (char)i);
        memset(own, i + 1, size);
        check(shmemi_inplace_deregister(worker->engine, other.pieces, other.count, i % 2) == 0);
        check(shmemi_inplace_deregister(worker->engine, region.pieces, region.count, i % 3 == 0) == 0);
        check(own[0] == (char)(i + 1) && own[size / 2] == (char)(i + 1) && own[size - 1] == (char)(i + 1));
        free(region.pieces);
        free(other.pieces);
        free(own);
    }
    return NULL;
}

static void several_threads_register_at_once(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    char *shared = pages(50 * PAGE, 1);
    pthread_t thread[4];
    struct worker worker[4];
    wrong = 0;
    for (unsigned i = 0; i < 4; i++) {
        worker[i] = (struct worker){.engine = engine, .shared = shared, .seed = i};
        pthread_create(&thread[i], NULL, come_and_go, &worker[i]);
    }
    for (unsigned i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
    all_bytes(shared, 50 * PAGE, 1);
    munmap(shared, 50 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void *use_the_heap(void *argument)
{
    struct worker *worker = argument;
    char *held[100] = {0};
    size_t sizes[100] = {0};
    while (!atomic_load_explicit(worker->stop, memory_order_relaxed)) { /* joined afterwards */
        int slot = rand_r(&worker->seed) % 100;
        for (size_t i = 0; i < sizes[slot]; i += 64)
            check(held[slot][i] == (char)slot);
        free(held[slot]);
        sizes[slot] = (size_t)(rand_r(&worker->seed) % 3000 + 1);
        held[slot] = malloc(sizes[slot]);
        memset(held[slot], slot, sizes[slot]);
    }
    for (int slot = 0; slot < 100; slot++)
        free(held[slot]);
    return NULL;
}

static void the_heap_works_while_its_pages_move(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    _Atomic bool end = false;
    pthread_t thread[2];
    struct worker worker[2];
    wrong = 0;
    for (unsigned i = 0; i < 2; i++) {
        worker[i] = (struct worker){.engine = engine, .seed = i, .stop = &end};
        pthread_create(&thread[i], NULL, use_the_heap, &worker[i]);
    }
    for (int i = 0; i < cycles / 2; i++) {
        char *block = malloc(1000);
        memset(block, 1, 1000);
        struct region region = put_in(engine, block, 1000);
        all_bytes(block, 1000, 1);
        take_out(engine, region, false);
        all_bytes(block, 1000, 1);
        free(block);
    }
    atomic_store_explicit(&end, true, memory_order_relaxed); /* the join orders the rest */
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    assert_int_equal(wrong, 0);
    shmemi_inplace_destroy(engine);
}

/* Every step of a move may be the one that finds no mapping left. */
static void at_the_limit_of_mappings_register_fails_and_nothing_is_lost(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("sanitizers map much themselves");
    enum { MOST = 70000, PAGES = 400 };
    struct shmemi_inplace *engine = plain_engine();
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    char *memory = pages(PAGES * PAGE, 1);
    char *filling = mmap(NULL, (size_t)MOST * 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t filled = 0;
    while (filled < MOST && mprotect(filling + filled * 2 * PAGE, PAGE, PROT_NONE) == 0)
        filled++;
    struct writer writer;
    start(&writer, memory + 8, 6 * PAGE, WORDS);
    int refusals = 0;
    for (int round = 0; filled < MOST && round < 600; round++) {
        struct region region = {0};
        size_t size = round % 4 ? 100 : 90 * PAGE, first = (size_t)round * 7 % 300;
        if (shmemi_inplace_register(engine, memory + first * PAGE, size, &region.pieces, &region.count, &region.guard) <
            0)
            refusals++;
        else
            take_out(engine, region, round % 2);
        if (round % 20 == 19) /* a little more room */
            mprotect(filling + --filled * 2 * PAGE, PAGE, PROT_READ);
    }
    stop(&writer);
    munmap(filling, (size_t)MOST * 2 * PAGE);
    if (filled < MOST)
        assert_in_range(refusals, 1, 599);
    for (size_t i = 0; i < PAGES; i++)
        all_bytes(memory + i * PAGE + 100, PAGE - 100, 1);
    munmap(memory, PAGES * PAGE);
    shmemi_inplace_destroy(engine);
}

static void huge_pages_of_the_kernels_own_accord_move_too(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    if (!guarded(engine))
        skip_because("userfaultfd is not to be had here");
    const size_t huge = 2 << 20;
    char *memory = mmap(NULL, 5 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *aligned = (char *)(((uintptr_t)memory + huge - 1) & ~(huge - 1));
    madvise(memory, 5 * huge, MADV_HUGEPAGE);
    memset(memory, 1, 5 * huge);
    struct writer writer;
    start(&writer, aligned, 3 * huge / WORDS / 8 * 8, WORDS);
    for (int i = 0; i < cycles / 100; i++) {
        struct region whole = put_in(engine, aligned, 3 * huge), part = put_in(engine, aligned + 5000, 100);
        take_out(engine, whole, false);
        take_out(engine, part, true);
        madvise(memory, 5 * huge, MADV_HUGEPAGE);
    }
    stop(&writer);
    munmap(memory, 5 * huge);
    shmemi_inplace_destroy(engine);
}

static void locked_memory_moves_too(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(100 * PAGE, 1);
    bool all = mlockall(MCL_FUTURE) == 0;
    if (mlock(memory, 100 * PAGE) < 0)
        skip_because("memory cannot be locked here");
    for (int i = 0; i < 10; i++) {
        struct region region = put_in(engine, memory + 10, 90 * PAGE);
        take_out(engine, region, false);
        all_bytes(memory, 100 * PAGE, 1);
    }
    if (all)
        munlockall();
    munmap(memory, 100 * PAGE);
    shmemi_inplace_destroy(engine);
}

static _Atomic long signals;
static char *volatile seen_by_handler;

static void on_signal(int number)
{
    (void)number;
    if (seen_by_handler)
        seen_by_handler[100]++;
    atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed); /* a count */
}

/* A handler that runs on the registering thread and touches what is on the move would wait for itself. */
static void signals_wait_while_memory_moves(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(600 * PAGE, 0);
    seen_by_handler = memory;
    signal(SIGALRM, on_signal);
    ualarm(200, 200);
    long i;
    for (i = 0; i < 300; i++)
        take_out(engine, put_in(engine, memory, 600 * PAGE), false);
    ualarm(0, 0);
    signal(SIGALRM, SIG_DFL);
    seen_by_handler = NULL;
    assert_true(signals > 0);
    munmap(memory, 600 * PAGE);
    shmemi_inplace_destroy(engine);
}

int main(void)
{
    if (getenv("SHMEM_TEST_CYCLES"))
        cycles = atoi(getenv("SHMEM_TEST_CYCLES"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(register_keeps_every_write_of_a_running_thread),
        cmocka_unit_test(neighbours_on_mixed_pages_lose_nothing),
        cmocka_unit_test(user_mode_guard_keeps_the_writes_of_threads),
        cmocka_unit_test(full_guard_lets_system_calls_wait_too),
        cmocka_unit_test(atomics_of_a_peer_and_the_owner_add_up),
        cmocka_unit_test(several_threads_register_at_once),
        cmocka_unit_test(the_heap_works_while_its_pages_move),
        cmocka_unit_test(at_the_limit_of_mappings_register_fails_and_nothing_is_lost),
        cmocka_unit_test(huge_pages_of_the_kernels_own_accord_move_too),
        cmocka_unit_test(locked_memory_moves_too),
        cmocka_unit_test(signals_wait_while_memory_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
