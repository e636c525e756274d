// SPDX-License-Identifier: Apache-2.0
// Registering in place and fork: what the child gets, and that the parent's memory is safe from it.
#include "inplace_help.h"

#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { PAGE = 4096, BAD = 1 };

/* Most tests run twice: with the trap around the system call, and with the page fault alone. */
static bool without_dispatch;

static struct shmemi_inplace *forking_engine(void)
{
    return engine_with((struct shmemi_inplace_config){.without_dispatch = without_dispatch});
}

/* In a child: leaves with a line that says what is wrong. */
static void in_child(bool right, const char *what)
{
    if (!right) {
        fprintf(stderr, "child: %s\n", what);
        _exit(BAD);
    }
}

static void ends_well(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool filled(const void *memory, size_t bytes, int value)
{
    const unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (unsigned char)value)
            return false;
    return true;
}

static char *volatile used;

/* So that no compiler takes it for superfluous. */
static void use(char *memory, size_t bytes)
{
    used = memory;
    memset(used, 5, bytes);
}

static void a_child_has_private_copies_of_mixed_pages(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(40 * PAGE, 1);
    struct region region = put_in(engine, memory + 10, 100);
    struct region big = put_in(engine, memory + 4 * PAGE, 34 * PAGE);
    struct view view = look_at(engine, region);
    pid_t child = fork();
    if (child == 0) {
        in_child(filled(memory, 40 * PAGE, 1), "the copy differs");
        memset(memory, 2, 5 * PAGE);
        memset(memory + 37 * PAGE, 2, PAGE);
        in_child(filled(view.base, PAGE, 1), "the copy is not private");
        memory[10 * PAGE] = 3; /* whole: shared */
        _exit(0);
    }
    ends_well(child);
    all_bytes(memory, 10 * PAGE, 1);
    assert_int_equal(memory[10 * PAGE], 3);
    memory[10 * PAGE] = 1;
    all_bytes(memory, 40 * PAGE, 1);
    take_out(engine, region, true);
    take_out(engine, big, true);
    all_bytes(memory, 40 * PAGE, 1);
    look_away(view);
    munmap(memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void the_parent_writes_only_after_the_copy(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(2000 * PAGE, 1);
    struct region region[100];
    for (int i = 0; i < 100; i++)
        region[i] = put_in(engine, memory + (size_t)i * 20 * PAGE, 19 * PAGE);
    for (int round = 1; round < 20; round++) {
        memset(memory, round, 2000 * PAGE);
        pid_t child = fork();
        memory[1999 * PAGE - 1]++; /* in both, as the last thing copied */
        if (child == 0) {
            memory[1999 * PAGE - 1]--;
            in_child(filled(memory, 2000 * PAGE, round), "saw a later write");
            _exit(0);
        }
        memset(memory, 100, 2000 * PAGE);
        ends_well(child);
    }
    for (int i = 0; i < 100; i++)
        take_out(engine, region[i], false);
    munmap(memory, 2000 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void a_child_may_free_and_scribble_on_its_heap(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    enum { BLOCKS = 500 };
    static char *block[BLOCKS];
    static struct region region[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        block[i] = malloc(100 + i * 7);
        memset(block[i], (int)i, 100 + i * 7);
    }
    char *mapped = malloc(1 << 20);
    memset(mapped, 9, 1 << 20);
    for (int i = 0; i < BLOCKS; i += 2)
        region[i] = put_in(engine, block[i], 100 + (size_t)i * 7);
    struct region big = put_in(engine, mapped, 1 << 20);
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < BLOCKS; i++) {
            in_child(filled(block[i], 100 + i * 7, (int)i), "a block differs");
            memset(block[i], 0, 100 + i * 7);
            free(block[i]);
        }
        in_child(filled(mapped, 1 << 20, 9), "the large block differs");
        free(mapped);
        for (int i = 0; i < 2000; i++) {
            size_t size = (size_t)(i % 900 + 1);
            use(malloc(size), size);
        }
        malloc_trim(0);
        _exit(0);
    }
    ends_well(child);
    all_bytes(mapped, 1 << 20, 9);
    take_out(engine, big, false);
    for (size_t i = 0; i < BLOCKS; i++) {
        all_bytes(block[i], 100 + i * 7, (int)i);
        if (i % 2 == 0)
            take_out(engine, region[i], false);
        free(block[i]);
    }
    free(mapped);
    shmemi_inplace_destroy(engine);
}

/* Memory that is used again after free(): the child does so, and the parent must not see it. */
static void a_child_may_free_a_large_block_of_the_heap(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("this malloc is not the C library's");
    struct shmemi_inplace *engine = forking_engine();
    enum { SIZE = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    char *large = malloc(SIZE), *behind = malloc(100); /* not at the top, which free() would give to the system */
    memset(large, 9, SIZE);
    struct region region = put_in(engine, large, SIZE);
    pid_t child = fork();
    if (child == 0) {
        in_child(filled(large, SIZE, 9), "the block differs");
        free(large);
        for (int i = 0; i < 3000; i++)
            use(malloc(2000), 2000);
        _exit(0);
    }
    ends_well(child);
    all_bytes(large, SIZE, 9);
    memset(large, 8, SIZE);
    struct view view = look_at(engine, region);
    all_bytes(through(view, large), SIZE, 8);
    look_away(view);
    take_out(engine, region, true);
    all_bytes(large, SIZE, 8);
    free(large);
    free(behind);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    shmemi_inplace_destroy(engine);
}

static void a_mapped_block_of_malloc_stays_shared_with_a_child(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("this malloc is not the C library's");
    struct shmemi_inplace *engine = forking_engine();
    enum { SIZE = 40 << 20 }; /* malloc maps it in any case */
    char *block = malloc(SIZE), *aligned = aligned_alloc(64, SIZE);
    memset(block, 1, SIZE);
    memset(aligned, 1, SIZE);
    struct region one = put_in(engine, block, SIZE), other = put_in(engine, aligned, SIZE);
    pid_t child = fork();
    if (child == 0) {
        *(volatile char *)&block[SIZE / 2] = 2; /* or the compiler sees that it is freed */
        *(volatile char *)&aligned[SIZE / 2] = 3;
        free(block);
        free(aligned);
        _exit(0);
    }
    ends_well(child);
    assert_int_equal(block[SIZE / 2], 2);
    assert_int_equal(aligned[SIZE / 2], 3);
    take_out(engine, one, false);
    take_out(engine, other, false);
    free(block);
    free(aligned);
    shmemi_inplace_destroy(engine);
}

static void job_operations_fail_in_a_child_and_change_nothing(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(40 * PAGE, 1);
    struct region region = put_in(engine, memory, 40 * PAGE);
    size_t descriptors = count_descriptors();
    pid_t child = fork();
    if (child == 0) {
        struct region other;
        in_child(shmemi_inplace_register(engine, memory, 10, &other.pieces, &other.count, &other.guard) == -ECHILD,
                 "register");
        in_child(strstr(shmemi_last_error(), "after fork") != NULL, "text");
        in_child(shmemi_inplace_deregister(engine, region.pieces, region.count, false) == -ECHILD, "deregister");
        in_child(shmemi_inplace_fd(engine, SHMEMI_PAGES_WHOLE) == -ECHILD, "fd");
        in_child(filled(memory, 40 * PAGE, 1), "bytes");
        in_child(count_descriptors() < descriptors, "descriptors");
        shmemi_inplace_destroy(engine);
        in_child(filled(memory, 40 * PAGE, 1), "bytes after destroy");
        struct shmemi_inplace *own = NULL; /* a child may start again by itself */
        in_child(shmemi_inplace_create(&(struct shmemi_inplace_config){0}, &own) == 0, "create");
        in_child(shmemi_inplace_register(own, memory, 10, &other.pieces, &other.count, &other.guard) == 0,
                 "register anew");
        in_child(shmemi_inplace_register(own, memory + 10 * PAGE, 10, &other.pieces, &other.count, &other.guard) ==
                     -EEXIST,
                 "whole pages are the parent's");
        memory[0] = 5;
        shmemi_inplace_destroy(own);
        in_child(memory[0] == 5, "bytes of its own");
        _exit(0);
    }
    ends_well(child);
    all_bytes(memory, 40 * PAGE, 1);
    struct view view = look_at(engine, region);
    memory[5] = 7;
    assert_int_equal(*(char *)through(view, memory + 5), 7);
    look_away(view);
    take_out(engine, region, false);
    munmap(memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void a_child_of_a_child_works(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(40 * PAGE, 1);
    struct region region = put_in(engine, memory, 40 * PAGE);
    pid_t child = fork();
    if (child == 0) {
        memset(memory, 2, PAGE);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            in_child(filled(memory, PAGE, 2), "not its parent's copy");
            memset(memory, 3, PAGE);
            _exit(0);
        }
        int status = -1;
        waitpid(grandchild, &status, 0);
        in_child(status == 0, "grandchild");
        in_child(filled(memory, PAGE, 2), "not private");
        _exit(0);
    }
    ends_well(child);
    all_bytes(memory, 40 * PAGE, 1);
    take_out(engine, region, false);
    munmap(memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void fork_leaves_the_segv_action_and_descriptors_alone(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(PAGE, 1);
    struct region region = put_in(engine, memory, 10);
    struct sigaction before, after;
    sigset_t blocked, mask;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGSEGV);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    sigaction(SIGSEGV, NULL, &before);
    size_t descriptors = count_descriptors();
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            pthread_sigmask(SIG_BLOCK, NULL, &mask);
            in_child(sigismember(&mask, SIGSEGV) && sigismember(&mask, SIGUSR1), "mask");
            sigaction(SIGSEGV, NULL, &after);
            in_child(after.sa_handler == before.sa_handler, "action");
            _exit(0);
        }
        ends_well(child);
    }
    sigaction(SIGSEGV, NULL, &after);
    assert_true(after.sa_handler == before.sa_handler);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    assert_true(sigismember(&mask, SIGSEGV) && sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2));
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    assert_int_equal(count_descriptors(), descriptors);
    take_out(engine, region, false);
    munmap(memory, PAGE);
    shmemi_inplace_destroy(engine);
}

static void system_and_posix_spawn_work(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = malloc(1000);
    memset(memory, 1, 1000);
    struct region region = put_in(engine, memory, 1000);
    assert_int_equal(system("true"), 0);
    char *const arguments[] = {"true", NULL}, *const environment[] = {NULL};
    pid_t child;
    assert_int_equal(posix_spawnp(&child, "true", NULL, NULL, arguments, environment), 0);
    ends_well(child);
    FILE *echo = popen("echo well", "re");
    char line[16] = "";
    assert_non_null(fgets(line, sizeof line, echo));
    assert_string_equal(line, "well\n");
    assert_int_equal(pclose(echo), 0);
    all_bytes(memory, 1000, 1);
    take_out(engine, region, false);
    free(memory);
    shmemi_inplace_destroy(engine);
}

static bool other_handler_on;
static long other_handler_right;

static void *do_nothing(void *argument)
{
    return argument;
}

/* Runs between our handler and the birth of the child, where system calls take a way of their own. */
static void other_handler(void)
{
    if (!other_handler_on)
        return;
    int ends[2];
    char letter = 0;
    sigset_t set, old;
    pthread_t thread;
    long right = getpid() == getppid() ? 0 : 1;
    right += pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &letter, 1) == 1 && letter == 'x';
    right += close(ends[0]) == 0 && close(ends[1]) == 0 && close(ends[1]) == -1 && errno == EBADF;
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    sigaddset(&set, SIGSEGV);
    right += sigprocmask(SIG_BLOCK, &set, &old) == 0 && sigprocmask(SIG_SETMASK, &old, NULL) == 0;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    right += page != MAP_FAILED && munmap(page, PAGE) == 0;
    if (other_handler_right % 2)
        right += pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
    else
        right += 1;
    other_handler_right += right == 6;
}

static void other_fork_handlers_may_do_what_they_like(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(PAGE, 1);
    struct region region = put_in(engine, memory, 100);
    other_handler_on = true;
    other_handler_right = 0;
    for (int i = 0; i < 6; i++) {
        pid_t child = fork();
        if (child == 0) {
            in_child(filled(memory, PAGE, 1), "bytes");
            memset(memory, 2, PAGE);
            _exit(0);
        }
        ends_well(child);
        all_bytes(memory, PAGE, 1);
    }
    other_handler_on = false;
    assert_int_equal(other_handler_right, 6);
    take_out(engine, region, false);
    munmap(memory, PAGE);
    shmemi_inplace_destroy(engine);
}

/* In a program of its own: see a_fork_that_fails_changes_nothing. */
static void fork_beyond_the_limit(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    char *memory = pages(PAGE, 1);
    struct region region = put_in(engine, memory, 100);
    struct rlimit old, none = {0, 0};
    getrlimit(RLIMIT_NPROC, &old);
    none.rlim_max = old.rlim_max;
    size_t descriptors = count_descriptors();
    if (geteuid() == 0)
        assert_int_equal(setuid(65534), 0); /* the limit is not for root */
    assert_int_equal(setrlimit(RLIMIT_NPROC, &none), 0);
    assert_int_equal(fork(), -1);
    assert_int_equal(errno, EAGAIN);
    setrlimit(RLIMIT_NPROC, &old);
    assert_int_equal(count_descriptors(), descriptors);
    pid_t child = fork();
    if (child == 0) {
        in_child(filled(memory, PAGE, 1), "bytes");
        _exit(0);
    }
    ends_well(child);
    take_out(engine, region, false);
    munmap(memory, PAGE);
    shmemi_inplace_destroy(engine);
}

/* Runs one test in a program of its own. */
static void run_alone(const char *test, const char *setting)
{
    char program[4096] = "", *name = strdup(test), *variable = strdup(setting);
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    char *const arguments[] = {program, name, without_dispatch ? program : NULL, NULL}, *const environment[] = {
                                                                                            variable, NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, program, NULL, NULL, arguments, environment), 0);
    ends_well(child);
    free(name);
    free(variable);
}

static void a_fork_that_fails_changes_nothing(void **state)
{
    (void)state;
    run_alone("limit", "");
}

/* A second arena, whose head is written by the C library's fork in the child before any handler runs. */
static void *block_beside_arena_head(void *slot)
{
    *(char **)slot = malloc(40);
    return NULL;
}

static void locks_of_the_heap_on_mixed_pages_stay_the_parents(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("this malloc is not the C library's");
    char *block = NULL;
    pthread_t thread;
    pthread_create(&thread, NULL, block_beside_arena_head, &block);
    pthread_join(thread, NULL);
    char *head = (char *)((uintptr_t)block & ~(uintptr_t)(PAGE - 1));
    struct shmemi_inplace *engine = forking_engine();
    struct region region = put_in(engine, block, 40);
    struct view view = look_at(engine, region);
    static char seen[PAGE];
    for (int i = 0; i < 20; i++) {
        memcpy(seen, view.base, PAGE);
        pid_t child = fork();
        if (child == 0) {
            in_child(malloc(10) != NULL, "malloc");
            memset(head + 2000, 0, 100);
            _exit(0);
        }
        ends_well(child);
        assert_memory_equal(view.base, seen, PAGE);
    }
    look_away(view);
    take_out(engine, region, true);
    shmemi_inplace_destroy(engine);
}

static _Atomic bool end;
static _Atomic long wrong;

static void check(bool right, const char *what, size_t size)
{
    if (right)
        return;
    if (atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed) == 0) /* read after the join */
        fprintf(stderr, "%s, %zu bytes: %s\n", what, size, shmemi_last_error());
}

static void *register_all_the_time(void *engine)
{
    for (int i = 0; !atomic_load_explicit(&end, memory_order_relaxed); i++) { /* joined afterwards */
        size_t size = (size_t)i * 37 % 9000 + 1;
        char *block = malloc(size);
        memset(block, i, size);
        struct region region = {0};
        check(shmemi_inplace_register(engine, block, size, &region.pieces, &region.count, &region.guard) == 0,
              "register", size);
        check(filled(block, size, i), "the registered bytes differ", size);
        check(shmemi_inplace_deregister(engine, region.pieces, region.count, i % 2) == 0, "deregister", size);
        check(filled(block, size, i), "the bytes differ afterwards", size);
        free(region.pieces);
        free(block);
    }
    return NULL;
}

static void *use_the_heap(void *unused)
{
    char *held[50] = {0};
    for (int i = 0; !atomic_load_explicit(&end, memory_order_relaxed); i++) { /* joined afterwards */
        free(held[i % 50]);
        held[i % 50] = malloc((size_t)i * 31 % 2000 + 1);
        held[i % 50][0] = 1;
    }
    for (int i = 0; i < 50; i++)
        free(held[i]);
    return unused;
}

static void fork_in_a_loop_while_threads_register_and_allocate(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    enum { KEPT = 100, FORKS = SANITIZED ? 30 : 300 };
    char *kept[KEPT];
    struct region region[KEPT];
    for (int i = 0; i < KEPT; i++) {
        kept[i] = malloc(300);
        memset(kept[i], i, 300);
        region[i] = put_in(engine, kept[i], 300);
    }
    pthread_t thread[2];
    end = false;
    wrong = 0;
    pthread_create(&thread[0], NULL, register_all_the_time, engine);
    pthread_create(&thread[1], NULL, use_the_heap, NULL);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            for (int k = 0; k < KEPT; k++)
                in_child(filled(kept[k], 300, k), "a kept block differs");
            memset(kept[i % KEPT], 0, 300);
            if (!SANITIZED) { /* whose malloc does not look after children of threads */
                free(kept[i % KEPT]);
                use(malloc(5000), 5000);
                free(used);
            }
            _exit(0);
        }
        ends_well(child);
    }
    atomic_store_explicit(&end, true, memory_order_relaxed); /* the join orders the rest */
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    assert_int_equal(wrong, 0);
    for (int i = 0; i < KEPT; i++) {
        all_bytes(kept[i], 300, i);
        take_out(engine, region[i], false);
        free(kept[i]);
    }
    shmemi_inplace_destroy(engine);
}

static void allocate_in_threads_and_children(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = forking_engine();
    enum { KEPT = 400, FORKS = 300 };
    char *kept[KEPT];
    struct region region[KEPT];
    for (size_t i = 0; i < KEPT; i++)
        kept[i] = malloc(300 + i);
    for (int i = 0; i < KEPT; i += 2) {
        region[i] = put_in(engine, kept[i], 300);
        free(kept[i + 1]);
    }
    pthread_t thread[2];
    end = false;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, use_the_heap, NULL);
    for (unsigned i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            char *held[100] = {0};
            alarm(20);
            for (int k = 0; k < 3000; k++) {
                int slot = rand_r(&i) % 100;
                free(held[slot]);
                held[slot] = malloc((size_t)(rand_r(&i) % 2000 + 1));
                held[slot][0] = 1;
            }
            _exit(0);
        }
        ends_well(child);
    }
    atomic_store_explicit(&end, true, memory_order_relaxed); /* the join orders the rest */
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < KEPT; i += 2) {
        take_out(engine, region[i], false);
        free(kept[i]);
    }
    shmemi_inplace_destroy(engine);
}

/* All threads on one arena, so that others used the child's heap when it was born. That is a matter of the
 * environment. */
static void a_child_has_a_sound_heap_although_threads_allocate(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip_because("this kernel cannot hand system calls to the thread");
#endif
    if (SANITIZED)
        skip_because("this malloc is not the C library's");
    run_alone("heap", "MALLOC_ARENA_MAX=1");
}

static int alone(const char *name)
{
    const struct CMUnitTest heap[] = {cmocka_unit_test(allocate_in_threads_and_children)};
    const struct CMUnitTest limit[] = {cmocka_unit_test(fork_beyond_the_limit)};
    dup2(2, 1); /* what the others print is no test of its own */
    return strcmp(name, "heap") ? cmocka_run_group_tests(limit, NULL, NULL) : cmocka_run_group_tests(heap, NULL, NULL);
}

static int use_page_fault(void **state)
{
    (void)state;
    without_dispatch = true;
    return 0;
}

#define BY_PAGE_FAULT(test) cmocka_unit_test_setup(test, use_page_fault)

int main(int argc, char **argv)
{
    without_dispatch = argc > 2;
    if (argc > 1)
        return alone(argv[1]);
    pthread_atfork(other_handler, NULL, NULL); /* before the engine's, so that it runs after it */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_private_copies_of_mixed_pages),
        cmocka_unit_test(the_parent_writes_only_after_the_copy),
        cmocka_unit_test(a_child_may_free_and_scribble_on_its_heap),
        cmocka_unit_test(a_child_may_free_a_large_block_of_the_heap),
        cmocka_unit_test(a_mapped_block_of_malloc_stays_shared_with_a_child),
        cmocka_unit_test(job_operations_fail_in_a_child_and_change_nothing),
        cmocka_unit_test(a_child_of_a_child_works),
        cmocka_unit_test(fork_leaves_the_segv_action_and_descriptors_alone),
        cmocka_unit_test(system_and_posix_spawn_work),
        cmocka_unit_test(other_fork_handlers_may_do_what_they_like),
        cmocka_unit_test(a_fork_that_fails_changes_nothing),
        cmocka_unit_test(locks_of_the_heap_on_mixed_pages_stay_the_parents),
        cmocka_unit_test(fork_in_a_loop_while_threads_register_and_allocate),
        cmocka_unit_test(a_child_has_a_sound_heap_although_threads_allocate),
        BY_PAGE_FAULT(a_child_has_private_copies_of_mixed_pages),
        BY_PAGE_FAULT(the_parent_writes_only_after_the_copy),
        BY_PAGE_FAULT(a_child_may_free_and_scribble_on_its_heap),
        BY_PAGE_FAULT(a_child_may_free_a_large_block_of_the_heap),
        BY_PAGE_FAULT(fork_leaves_the_segv_action_and_descriptors_alone),
        BY_PAGE_FAULT(other_fork_handlers_may_do_what_they_like),
        BY_PAGE_FAULT(a_fork_that_fails_changes_nothing),
        BY_PAGE_FAULT(locks_of_the_heap_on_mixed_pages_stay_the_parents),
        BY_PAGE_FAULT(fork_in_a_loop_while_threads_register_and_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
