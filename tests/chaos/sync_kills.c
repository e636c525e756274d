// SPDX-License-Identifier: Apache-2.0
// Eight processes at work on a counter under a mutex, two numbers under a lock for readers and writers, and semaphores,
// for five seconds, while one of them is killed every few milliseconds and another one takes its place.
#include "unit.h"

#include <shmemx.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PROCESSES = 8, UNITS = 3, BOUND = 10 /* s, that any wait may take */ };

static shmemx_pool_t pool;
static shmemx_mutex_t mutex;
static shmemx_rwlock_t rwlock;
static shmemx_semaphore_t owned, plain;

/* Guarded by the mutex: `count` is `steps` but while somebody changes them. The other pair by the lock. */
static struct page {
    long count, steps, left, right;
    _Atomic long told, repaired, turns, inside;
    _Atomic int stop, failed, line;
} * page;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "process %d: '%s' does not hold (%s)\n", (int)getpid(), #condition, shmemx_last_error());  \
            atomic_store(&page->failed, 1);                                                                            \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void count_up(void)
{
    int rc = shmemx_mutex_lock(mutex, BOUND);
    NEED(rc == 0 || rc == -EOWNERDEAD);
    if (rc == -EOWNERDEAD) {
        atomic_fetch_add(&page->told, 1);
        atomic_fetch_add(&page->repaired, page->count != page->steps);
        page->count = page->steps;
        NEED(shmemx_mutex_consistent(mutex) == 0);
    }
    NEED(page->count == page->steps);
    ((volatile struct page *)page)->steps++;
    ((volatile struct page *)page)->count++;
    NEED(shmemx_mutex_unlock(mutex) == 0);
}

static void write_both(void)
{
    int rc = shmemx_rwlock_wrlock(rwlock, BOUND);
    NEED(rc == 0 || rc == -EOWNERDEAD);
    if (rc == -EOWNERDEAD) {
        atomic_fetch_add(&page->told, 1);
        page->left = page->right;
        NEED(shmemx_rwlock_consistent(rwlock) == 0);
    }
    NEED(page->left == page->right);
    ((volatile struct page *)page)->left++;
    ((volatile struct page *)page)->right++;
    NEED(shmemx_rwlock_unlock(rwlock) == 0);
}

static void read_both(void)
{
    int rc = shmemx_rwlock_rdlock(rwlock, BOUND);
    if (rc == -EOWNERDEAD) {
        write_both();
        return;
    }
    NEED(rc == 0);
    NEED(page->left == page->right);
    NEED(shmemx_rwlock_unlock(rwlock) == 0);
}

static void take_unit(void)
{
    NEED(shmemx_semaphore_wait(owned, BOUND) == 0);
    NEED(shmemx_semaphore_post(owned, 1) == 0);
    NEED(shmemx_semaphore_post(plain, 1) == 0); /* each of these two is a whole: a death leaves one unit more at most */
    NEED(shmemx_semaphore_wait(plain, BOUND) == 0);
}

static void work(void)
{
    uint64_t random = (uint64_t)getpid() * 77 + 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!atomic_load(&page->stop)) {
        switch (next_random(&random) >> 33 & 3) {
        case 0:
            count_up();
            break;
        case 1:
            read_both();
            break;
        case 2:
            write_both();
            break;
        default:
            take_unit();
        }
        atomic_fetch_add(&page->turns, 1);
    }
    _exit(0);
}

static pid_t start(void)
{
    pid_t pid = fork();
    if (pid == 0)
        work();
    return pid;
}

static void sweep(void)
{
    void *buffer; /* naming something sweeps dead members */
    if (shmemx_pool_alloc_named(pool, "sweep", 1, 0, NULL, 0, NULL, NULL, &buffer) == 0)
        shmemx_pool_free(pool, buffer);
}

static void random_kills(void **state)
{
    pid_t pids[PROCESSES];
    uint64_t random = 99;
    unsigned value = 0;
    long kills = 0;
    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = start();
    double until = now() + (getenv("SHMEM_TEST_FULL") ? 60 : 5);
    while (now() < until && !atomic_load(&page->failed)) {
        usleep((useconds_t)(next_random(&random) >> 40) % 6000);
        int i = (int)(next_random(&random) >> 33) % PROCESSES;
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
        pids[i] = start();
        if (++kills % 32 == 0)
            sweep();
    }
    atomic_store(&page->stop, 1);
    for (int i = 0; i < PROCESSES; i++)
        child_succeeds(pids[i]);
    assert_int_equal(atomic_load(&page->failed), 0);
    print_message("# %ld kills, %ld turns; %ld times somebody was told, %ld repairs\n", kills,
                  atomic_load(&page->turns), atomic_load(&page->told), atomic_load(&page->repaired));
    for (int i = 0; i < UNITS; i++)
        ok(shmemx_semaphore_wait(owned, 1)); /* all are there */
    ok(shmemx_semaphore_value(owned, &value));
    assert_int_equal(value, 0);
    count_up();
    write_both();
}

static int begin(void **state)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    (void)state;
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    attr.size = attr.max_size = 4 << 20;
    ok(shmemx_pool_create(&attr, &pool));
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_rwlock_create(pool, NULL, 4, &rwlock)); /* fewer seats than processes */
    ok(shmemx_semaphore_create(pool, NULL, UNITS, 0, 1, &owned));
    ok(shmemx_semaphore_create(pool, NULL, PROCESSES, 0, 0, &plain));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_kills)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
