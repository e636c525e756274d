// SPDX-License-Identifier: Apache-2.0
// Eight processes at work on a counter under a mutex, two numbers under a lock for readers and writers, semaphores,
// tickets that a condition variable tells of, and an event, for four seconds, while one of them is killed every few
// milliseconds and another one takes its place. Then eight in a barrier, until two are left, again and again for one.
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
static shmemx_cond_t cond;
static shmemx_event_t event;
static shmemx_barrier_t barrier;

/* Guarded by the mutex: `count` is `steps` but while somebody changes them. The other pair by the lock. */
static struct page {
    long count, steps, left, right, tickets; /* tickets: guarded by the mutex, too */
    _Atomic long told, repaired, turns, inside, taken, set, passed, rounds;
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

/* After a call that gives the mutex. */
static void have_mutex(int rc)
{
    NEED(rc == 0 || rc == -EOWNERDEAD);
    if (rc == -EOWNERDEAD) {
        atomic_fetch_add(&page->told, 1);
        atomic_fetch_add(&page->repaired, page->count != page->steps);
        page->count = page->steps;
        NEED(shmemx_mutex_consistent(mutex) == 0);
    }
    NEED(page->count == page->steps);
}

static void count_up(void)
{
    have_mutex(shmemx_mutex_lock(mutex, BOUND));
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

/* Puts a ticket there, and says so. */
static void give_ticket(void)
{
    have_mutex(shmemx_mutex_lock(mutex, BOUND));
    ((volatile struct page *)page)->tickets++;
    NEED(shmemx_cond_signal(cond) == 0);
    NEED(shmemx_mutex_unlock(mutex) == 0);
}

/* Waits for one: the test itself, which nobody kills, gives one every few milliseconds. */
static void take_ticket(void)
{
    have_mutex(shmemx_mutex_lock(mutex, BOUND));
    while (page->tickets == 0 && !atomic_load(&page->stop))
        have_mutex(shmemx_cond_wait(cond, mutex, BOUND));
    NEED(page->tickets >= 0);
    if (page->tickets > 0) {
        ((volatile struct page *)page)->tickets--;
        atomic_fetch_add(&page->taken, 1);
    }
    NEED(shmemx_mutex_unlock(mutex) == 0);
}

static void set_event(void)
{
    atomic_fetch_add(&page->set, 1); /* before: one that is killed in between has perhaps not set it */
    NEED(shmemx_event_set(event) == 0);
}

/* Each set lets one pass at most. */
static void pass_event(void)
{
    int rc = shmemx_event_wait(event, 0.005);
    NEED(rc == 0 || rc == -ETIMEDOUT);
    if (rc == 0)
        NEED(atomic_fetch_add(&page->passed, 1) < atomic_load(&page->set));
}

/* Half of them wait for each other most of the time; they leave the processors to those that hardly ever do. */
static void work(bool waits)
{
    static void (*const locks[4])(void) = {count_up, read_both, write_both, take_unit};
    static void (*const others[4])(void) = {give_ticket, take_ticket, set_event, pass_event};
    uint64_t random = (uint64_t)getpid() * 77 + 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!atomic_load(&page->stop)) {
        (waits ? others : locks)[next_random(&random) >> 33 & 3]();
        atomic_fetch_add(&page->turns, 1);
    }
    _exit(0);
}

static pid_t start(int i)
{
    pid_t pid = fork();
    if (pid == 0)
        work(i % 2);
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
        pids[i] = start(i);
    double until = now() + (getenv("SHMEM_TEST_FULL") ? 60 : 4);
    while (now() < until && !atomic_load(&page->failed)) {
        usleep((useconds_t)(next_random(&random) >> 40) % 6000);
        int i = (int)(next_random(&random) >> 33) % PROCESSES;
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
        pids[i] = start(i);
        give_ticket();
        if (++kills % 32 == 0)
            sweep();
    }
    atomic_store(&page->stop, 1);
    have_mutex(shmemx_mutex_lock(mutex, BOUND));
    ok(shmemx_cond_broadcast(cond));
    ok(shmemx_mutex_unlock(mutex));
    for (int i = 0; i < PROCESSES; i++)
        child_succeeds(pids[i]);
    assert_int_equal(atomic_load(&page->failed), 0);
    print_message("# %ld tickets taken, %ld of %ld sets of the event let somebody pass\n", atomic_load(&page->taken),
                  atomic_load(&page->passed), atomic_load(&page->set));
    print_message("# %ld kills, %ld turns; %ld times somebody was told, %ld repairs\n", kills,
                  atomic_load(&page->turns), atomic_load(&page->told), atomic_load(&page->repaired));
    for (int i = 0; i < UNITS; i++)
        ok(shmemx_semaphore_wait(owned, 1)); /* all are there */
    ok(shmemx_semaphore_value(owned, &value));
    assert_int_equal(value, 0);
    count_up();
    write_both();
}

/* --- a barrier ---------------------------------------------------------------------------------------------------- */

static void meet(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!atomic_load(&page->stop)) {
        int rc = shmemx_barrier_wait(barrier, BOUND);
        NEED(rc >= 0 || rc == -EOWNERDEAD);
        atomic_fetch_add(&page->told, rc == -EOWNERDEAD);
        atomic_fetch_add(&page->rounds, 1);
    }
    _exit(0); /* as a death, for those who are still in a round */
}

/* Each of so many comes through twice at least, whoever else comes through oftener: nobody is a round ahead. */
static void all_go_on(int living)
{
    long enough = atomic_load(&page->rounds) + 4 * living;
    double until = now() + 2 * BOUND;
    while (atomic_load(&page->rounds) < enough && !atomic_load(&page->failed) && now() < until)
        usleep(50);
    assert_int_equal(atomic_load(&page->failed), 0);
    assert_true(atomic_load(&page->rounds) >= enough);
}

/* Until two are left: each death is told, and the others go on without. */
static long empty_barrier(uint64_t *random)
{
    pid_t pids[PROCESSES];
    int living = PROCESSES;
    atomic_store(&page->stop, 0);
    ok(shmemx_barrier_create(pool, NULL, PROCESSES, &barrier));
    for (int i = 0; i < PROCESSES; i++)
        if ((pids[i] = fork()) == 0)
            meet();
    all_go_on(living);
    for (; living > 2; living--) {
        usleep((useconds_t)(next_random(random) >> 40) % 1000);
        int i = (int)(next_random(random) >> 33) % living;
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
        pids[i] = pids[living - 1];
        all_go_on(living - 1);
    }
    atomic_store(&page->stop, 1);
    child_succeeds(pids[0]);
    child_succeeds(pids[1]);
    sweep();
    ok(shmemx_barrier_destroy(barrier));
    return PROCESSES - 2;
}

static void barrier_kills(void **state)
{
    uint64_t random = (uint64_t)getpid();
    long kills = 0;
    (void)state;
    atomic_store(&page->told, 0);
    double until = now() + (getenv("SHMEM_TEST_FULL") ? 12 : 1);
    do
        kills += empty_barrier(&random);
    while (now() < until);
    assert_true(atomic_load(&page->told) > 0);
    print_message("# barrier: %ld kills, %ld arrivals, %ld times somebody was told\n", kills,
                  atomic_load(&page->rounds), atomic_load(&page->told));
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
    ok(shmemx_cond_create(pool, NULL, &cond));
    ok(shmemx_event_create(pool, NULL, 1, 0, &event));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_kills), cmocka_unit_test(barrier_kills)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
