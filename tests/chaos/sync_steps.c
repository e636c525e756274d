// SPDX-License-Identifier: Apache-2.0
// Every operation on every object of synchronisation, by a child that runs one instruction after the other and is
// killed after some of them, spread over the operation (SHMEM_TEST_FULL=1: after each, up to 2000). Two other
// processes then finish their work with the object within a bound.
#include "unit.h"

#include <shmemx.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <time.h>

#include "pool/pool_internal.h"

#if defined(__x86_64__) && !LEAKS_SANITIZED

enum { HELPERS = 2, KILLS = 32 /* an operation */, KILLS_FULL = 2000, BOUND = 5 /* seconds */ };

static shmemx_pool_t pool;

/* The objects; those of them that a case needs anew are made before each kill. */
static shmemx_mutex_t mutex, spare;
static shmemx_rwlock_t rwlock;
static shmemx_semaphore_t plain, owned;
static shmemx_cond_t cond;
static shmemx_event_t event;
static shmemx_word_t word;
static shmemx_barrier_t barrier;

static struct page {
    volatile int done; /* the operation is over */
    _Atomic int turn, over[HELPERS], rc[HELPERS], line[HELPERS], flag, guarded;
    _Atomic int arrived;
} * page;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In a helper: what has to work. */
#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "helper: '%s' does not hold (%s)\n", #condition, shmemx_last_error());                     \
            return -__LINE__;                                                                                          \
        }                                                                                                              \
    } while (0)

static int take_mutex(shmemx_mutex_t m)
{
    int rc = shmemx_mutex_lock(m, BOUND);
    return rc == -EOWNERDEAD ? shmemx_mutex_consistent(m) : rc;
}

static int with_mutex(int helper)
{
    (void)helper;
    for (int i = 0; i < 2; i++) {
        NEED(take_mutex(mutex) == 0);
        NEED(atomic_exchange(&page->guarded, 1) == 0);
        atomic_store(&page->guarded, 0);
        NEED(shmemx_mutex_unlock(mutex) == 0);
    }
    return 0;
}

static int take_writer(void)
{
    int rc = shmemx_rwlock_wrlock(rwlock, BOUND);
    return rc == -EOWNERDEAD ? shmemx_rwlock_consistent(rwlock) : rc;
}

static int with_rwlock(int helper)
{
    (void)helper;
    NEED(take_writer() == 0);
    NEED(atomic_exchange(&page->guarded, 1) == 0);
    atomic_store(&page->guarded, 0);
    NEED(shmemx_rwlock_unlock(rwlock) == 0);
    NEED(shmemx_rwlock_rdlock(rwlock, BOUND) == 0);
    NEED(atomic_load(&page->guarded) == 0);
    NEED(shmemx_rwlock_unlock(rwlock) == 0);
    return 0;
}

static int with_plain(int helper)
{
    (void)helper;
    NEED(shmemx_semaphore_post(plain, 1) == 0);
    NEED(shmemx_semaphore_wait(plain, BOUND) == 0);
    return 0;
}

/* All three units are there: two of them can be had at once, whatever the other helper does. */
static int with_owned(int helper)
{
    NEED(shmemx_semaphore_wait(owned, BOUND) == 0);
    if (helper == 0) {
        NEED(shmemx_semaphore_wait(owned, BOUND) == 0);
        NEED(shmemx_semaphore_post(owned, 2) == 0);
    } else {
        NEED(shmemx_semaphore_post(owned, 1) == 0);
    }
    return 0;
}

/* One waits until the other says so. */
static int with_cond(int helper)
{
    int rc = 0;
    NEED(take_mutex(mutex) == 0);
    if (helper == 0) {
        while (rc == 0 && !atomic_load(&page->flag))
            if ((rc = shmemx_cond_wait(cond, mutex, BOUND)) == -EOWNERDEAD)
                rc = shmemx_mutex_consistent(mutex);
        NEED(rc == 0);
    } else {
        atomic_store(&page->flag, 1);
        NEED(shmemx_cond_signal(cond) == 0);
    }
    NEED(shmemx_mutex_unlock(mutex) == 0);
    return 0;
}

static int with_event(int helper)
{
    if (helper == 0)
        NEED(shmemx_event_wait(event, BOUND) == 0);
    else
        NEED(shmemx_event_set(event) == 0);
    return 0;
}

static int with_word(int helper)
{
    uint64_t value = 0;
    if (helper == 0) {
        while (shmemx_word_load(word, &value) == 0 && value < 100)
            NEED(shmemx_word_wait(word, value, BOUND) == 0);
    } else {
        NEED(shmemx_word_store(word, 100) == 0);
        NEED(shmemx_word_wake(word, 2) >= 0);
    }
    return 0;
}

/* The child took part in the round before: in this one it is missing, and in the next one it is not. */
static int with_barrier(int helper)
{
    shmemx_barrier_t b;
    (void)helper;
    NEED(shmemx_barrier_find(pool, "barrier", &b) == 0);
    int rc = shmemx_barrier_wait(b, BOUND); /* with the child */
    NEED(rc >= 0);
    while (!atomic_load(&page->arrived)) /* until the child is dead */
        usleep(200);
    rc = shmemx_barrier_wait(b, BOUND);
    NEED(rc == -EOWNERDEAD);
    rc = shmemx_barrier_wait(b, BOUND);
    NEED(rc >= 0);
    NEED(shmemx_barrier_close(b) == 0);
    return 0;
}

/* One makes it if need be; both use it. */
static int with_name(int helper)
{
    shmemx_mutex_t m;
    double until = now() + BOUND;
    int rc = helper == 0 ? shmemx_mutex_create(pool, "named", &m) : shmemx_mutex_find(pool, "named", &m);
    while (rc == -ENOENT || rc == -EEXIST) {
        NEED(now() < until);
        rc = shmemx_mutex_find(pool, "named", &m);
        if (rc == -ENOENT && helper == 0)
            rc = shmemx_mutex_create(pool, "named", &m);
    }
    NEED(rc == 0);
    rc = take_mutex(m);
    NEED(rc == 0);
    NEED(shmemx_mutex_unlock(m) == 0);
    NEED(shmemx_mutex_close(m) == 0);
    return 0;
}

/* --- what the child does ------------------------------------------------------------------------------------------ */

static shmemx_mutex_t named;

static void nothing(void)
{
}

static void attach_child(void) /* so that none of that is stepped through */
{
    shmemx_mutex_locked(mutex);
    shmemx_event_is_set(event);
    shmemx_rwlock_locked(rwlock, NULL, NULL);
    unsigned value;
    shmemx_semaphore_value(plain, &value);
    shmemx_semaphore_value(owned, &value);
    shmemx_cond_signal(cond);
    uint64_t now_is;
    shmemx_word_load(word, &now_is);
    shmemx_mutex_lock(spare, -1); /* and each library call resolved, each list made */
    shmemx_mutex_unlock(spare);
    shmemx_last_error();
}

static void mutex_lock(void)
{
    shmemx_mutex_lock(mutex, -1);
}

static void mutex_unlock(void)
{
    shmemx_mutex_unlock(mutex);
}

static void mutex_timed(void)
{
    shmemx_mutex_lock(mutex, 0.0003);
}

static void lock_in_parent(void)
{
    shmemx_mutex_lock(mutex, -1);
}

static void unlock_in_parent(void)
{
    shmemx_mutex_unlock(mutex);
}

static void rw_read(void)
{
    shmemx_rwlock_rdlock(rwlock, -1);
}

static void rw_write(void)
{
    shmemx_rwlock_wrlock(rwlock, -1);
}

static void rw_unlock(void)
{
    shmemx_rwlock_unlock(rwlock);
}

static void rw_read_timed(void)
{
    shmemx_rwlock_rdlock(rwlock, 0.0003);
}

static void rw_write_timed(void)
{
    shmemx_rwlock_wrlock(rwlock, 0.0003);
}

static void plain_wait(void)
{
    shmemx_semaphore_wait(plain, -1);
}

static void plain_timed(void)
{
    shmemx_semaphore_wait(plain, 0.0003);
}

static void plain_post(void)
{
    shmemx_semaphore_post(plain, 1);
}

static void plain_refill(void)
{
    unsigned value = 0;
    shmemx_semaphore_value(plain, &value);
    for (; value > 1; value--)
        shmemx_semaphore_trywait(plain);
    for (; value < 1; value++)
        shmemx_semaphore_post(plain, 1);
}

static void plain_drain(void)
{
    while (shmemx_semaphore_trywait(plain) == 0)
        continue;
}

static void owned_wait(void)
{
    shmemx_semaphore_wait(owned, -1);
}

static void owned_post(void)
{
    shmemx_semaphore_post(owned, 1);
}

static void cond_wait(void)
{
    shmemx_cond_wait(cond, mutex, 0.0003);
}

static void cond_signal(void)
{
    shmemx_cond_signal(cond);
}

static void cond_broadcast(void)
{
    shmemx_cond_broadcast(cond);
}

static void event_set(void)
{
    shmemx_event_set(event);
}

static void event_clear(void)
{
    shmemx_event_clear(event);
}

static void event_wait(void)
{
    shmemx_event_wait(event, 0.0003);
}

static void word_add(void)
{
    shmemx_word_add(word, 1, NULL);
    shmemx_word_wake(word, 1);
}

static void word_wait(void)
{
    shmemx_word_wait(word, 0, 0.0003);
}

static void word_load(void)
{
    uint64_t value;
    shmemx_word_load(word, &value);
}

static void word_store(void)
{
    shmemx_word_store(word, 1);
}

static void word_and(void)
{
    uint64_t value;
    shmemx_word_and(word, 1, &value);
}

static void word_or(void)
{
    uint64_t value;
    shmemx_word_or(word, 1, &value);
}

static void word_xor(void)
{
    uint64_t value;
    shmemx_word_xor(word, 1, &value);
}

static void word_swap(void)
{
    uint64_t value;
    shmemx_word_swap(word, 1, &value);
}

static void word_cas(void)
{
    uint64_t value;
    shmemx_word_cas(word, 0, 1, &value);
}

static void word_wake(void)
{
    shmemx_word_wake(word, 1);
}

static void word_zero(void)
{
    shmemx_word_store(word, 0);
}

static void barrier_make(void)
{
    shmemx_barrier_t old;
    if (shmemx_barrier_find(pool, "barrier", &old) == 0)
        shmemx_barrier_destroy(old);
    ok(shmemx_barrier_create(pool, "barrier", 3, &barrier));
}

static void barrier_join(void)
{
    shmemx_barrier_t b;
    if (shmemx_barrier_find(pool, "barrier", &b) == 0 && shmemx_barrier_wait(b, BOUND) >= 0)
        barrier = b;
}

static void barrier_wait(void)
{
    shmemx_barrier_wait(barrier, 0.0003);
}

static void name_remove(void)
{
    if (shmemx_mutex_find(pool, "named", &named) == 0)
        shmemx_mutex_destroy(named);
}

static void name_make(void)
{
    name_remove();
    ok(shmemx_mutex_create(pool, "named", &named));
    ok(shmemx_mutex_close(named));
}

static void name_create(void)
{
    shmemx_mutex_create(pool, "named", &named);
}

static void name_find(void)
{
    shmemx_mutex_find(pool, "named", &named);
}

static void name_destroy(void)
{
    shmemx_mutex_destroy(named);
}

static const struct operation {
    const char *name;
    void (*before)(void);  /* in the test, before each kill */
    void (*prepare)(void); /* in the child, not stepped */
    void (*operate)(void); /* the operation */
    void (*after)(void);   /* in the test, when the child is dead */
    int (*work)(int helper);
    bool helpers_first; /* they begin before the child */
} operations[] = {
    {"mutex lock", nothing, nothing, mutex_lock, nothing, with_mutex, false},
    {"mutex unlock", nothing, mutex_lock, mutex_unlock, nothing, with_mutex, false},
    {"mutex timed lock", lock_in_parent, nothing, mutex_timed, unlock_in_parent, with_mutex, false},
    {"mutex unlock, awaited", nothing, mutex_lock, mutex_unlock, nothing, with_mutex, true},
    {"read lock", nothing, nothing, rw_read, nothing, with_rwlock, false},
    {"read unlock", nothing, rw_read, rw_unlock, nothing, with_rwlock, false},
    {"read unlock, awaited", nothing, rw_read, rw_unlock, nothing, with_rwlock, true},
    {"write lock", nothing, nothing, rw_write, nothing, with_rwlock, false},
    {"write unlock", nothing, rw_write, rw_unlock, nothing, with_rwlock, false},
    {"write unlock, awaited", nothing, rw_write, rw_unlock, nothing, with_rwlock, true},
    {"read lock, waiting", rw_write, nothing, rw_read_timed, rw_unlock, with_rwlock, false},
    {"write lock, waiting", rw_read, nothing, rw_write_timed, rw_unlock, with_rwlock, false},
    {"semaphore wait", plain_refill, nothing, plain_wait, nothing, with_plain, false},
    {"semaphore wait, timed", plain_drain, nothing, plain_timed, nothing, with_plain, false},
    {"semaphore post", plain_drain, nothing, plain_post, nothing, with_plain, false},
    {"owned wait", nothing, nothing, owned_wait, nothing, with_owned, false},
    {"owned post", nothing, owned_wait, owned_post, nothing, with_owned, false},
    {"cond wait", nothing, mutex_lock, cond_wait, nothing, with_cond, false},
    {"cond signal", nothing, nothing, cond_signal, nothing, with_cond, true},
    {"cond broadcast", nothing, nothing, cond_broadcast, nothing, with_cond, true},
    {"event set", event_clear, nothing, event_set, nothing, with_event, false},
    {"event wait", event_clear, nothing, event_wait, nothing, with_event, false},
    {"word add and wake", word_zero, nothing, word_add, nothing, with_word, false},
    {"word load", word_zero, nothing, word_load, nothing, with_word, false},
    {"word store", word_zero, nothing, word_store, nothing, with_word, false},
    {"word and", word_zero, nothing, word_and, nothing, with_word, false},
    {"word or", word_zero, nothing, word_or, nothing, with_word, false},
    {"word xor", word_zero, nothing, word_xor, nothing, with_word, false},
    {"word swap", word_zero, nothing, word_swap, nothing, with_word, false},
    {"word cas", word_zero, nothing, word_cas, nothing, with_word, false},
    {"word wake", word_zero, nothing, word_wake, nothing, with_word, false},
    {"word wait", word_zero, nothing, word_wait, nothing, with_word, false},
    {"barrier arrive", barrier_make, barrier_join, barrier_wait, nothing, with_barrier, true},
    {"create", name_remove, nothing, name_create, nothing, with_name, false},
    {"destroy", name_make, name_find, name_destroy, nothing, with_name, false},
};

/* --- helpers -------------------------------------------------------------------------------------------------------
 */

static pid_t helpers[HELPERS];

static void help(int helper)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int turn = 1;; turn++) {
        int given;
        while ((given = atomic_load(&page->turn)) / 64 < turn)
            usleep(100);
        int rc = operations[given % 64].work(helper);
        atomic_store(&page->rc[helper], rc);
        atomic_store(&page->over[helper], turn);
    }
}

static int turns;

static void helpers_begin(size_t which)
{
    turns++;
    atomic_store(&page->flag, 0);
    atomic_store(&page->arrived, 0);
    atomic_store(&page->guarded, 0);
    atomic_store(&page->turn, turns * 64 + (int)which);
}

static bool helpers_end(void)
{
    double until = now() + 4 * BOUND;
    for (int i = 0; i < HELPERS; i++) {
        while (atomic_load(&page->over[i]) < turns && now() < until)
            usleep(50);
        if (atomic_load(&page->over[i]) < turns || atomic_load(&page->rc[i]) != 0)
            return false;
    }
    return true;
}

/* The one killed before may have had a lock that the helpers were already done with: it is repaired here, so that
   nobody below meets that death but those who are to meet this one. */
static void repair(void)
{
    if (take_mutex(mutex) < 0 || shmemx_mutex_unlock(mutex) < 0 || take_writer() < 0 ||
        shmemx_rwlock_unlock(rwlock) < 0)
        fail_msg("what the last one left cannot be repaired: %s", shmemx_last_error());
}

static void sweep(void)
{
    struct shmemi_pool *inside = (struct shmemi_pool *)(void *)pool;
    shmemi_central_take(inside);
    shmemi_members_sweep(inside);
    shmemi_central_give(inside);
}

/* In the child: from here on each instruction is a step. */
static void steps_begin(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(77);
    raise(SIGSTOP);
}

static bool stopped(pid_t pid, int signal, int *odd)
{
    int status = 0;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        continue;
    if (WIFSTOPPED(status) && WSTOPSIG(status) == signal)
        return true;
    *odd = status;
    return false;
}

/* Runs the child for so many instructions (0: until the operation is done), and kills it. Returns how many it ran. */
static unsigned long run_steps(pid_t pid, unsigned long most, int *odd)
{
    unsigned long count = 0;
    bool there = stopped(pid, SIGSTOP, odd);
    while (there && !page->done && (!most || count < most) && ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0) {
        there = stopped(pid, SIGTRAP, odd);
        count++;
    }
    if (!there && !WIFSTOPPED(*odd))
        return count;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        continue;
    return count;
}

/* Kills the child after that many steps (0: when it is done). Returns how many there were. */
static unsigned long kill_one(size_t which, unsigned long step)
{
    const struct operation *o = &operations[which];
    int odd = 0;
    page->done = 0;
    sweep();
    repair();
    o->before();
    if (o->helpers_first)
        helpers_begin(which);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        attach_child();
        o->prepare();
        if (o->helpers_first && o->work != with_barrier)
            usleep(3000); /* they wait by now, mostly */
        steps_begin();
        o->operate();
        page->done = 1;
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    unsigned long count = run_steps(pid, step, &odd);
    if (odd)
        fail_msg("%s: the child ended by itself, with status %#x, after %lu steps", o->name, (unsigned)odd, count);
    atomic_store(&page->arrived, 1);
    o->after();
    if (!o->helpers_first)
        helpers_begin(which);
    if (!helpers_end())
        fail_msg("%s, killed after %lu instructions: the others did not finish (%d and %d)", o->name, count,
                 atomic_load(&page->rc[0]), atomic_load(&page->rc[1]));
    return count;
}

/* A long operation costs its length with each kill. */
static unsigned long kills_wanted(unsigned long steps, bool full)
{
    if (full)
        return steps < KILLS_FULL ? steps : KILLS_FULL;
    return steps < 1000 ? KILLS : steps < 20000 ? KILLS / 4 : KILLS / 8;
}

static void step_through(void **state)
{
    unsigned long total = 0;
    (void)state;
    const char *only = getenv("SHMEM_TEST_ONLY");
    bool full = getenv("SHMEM_TEST_FULL") != NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (only && strcmp(only, operations[i].name) != 0)
            continue;
        double began = now();
        unsigned long steps = kill_one(i, 0), kills = 1;
        unsigned long stride = steps / kills_wanted(steps, full) + 1; /* other instants in each run */
        for (unsigned long k = 1 + (unsigned long)getpid() % stride; k < steps; k += stride, kills++)
            kill_one(i, k);
        total += kills;
        print_message("# %-22s %6lu instructions, %5lu kills, %.2f s\n", operations[i].name, steps, kills,
                      now() - began);
    }
    print_message("# %lu kills\n", total);
}

static int begin(void **state)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    (void)state;
    leaks_begin();
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    attr.size = attr.max_size = 4 << 20;
    ok(shmemx_pool_create(&attr, &pool));
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_mutex_create(pool, NULL, &spare));
    ok(shmemx_rwlock_create(pool, NULL, 8, &rwlock));
    ok(shmemx_semaphore_create(pool, NULL, 1, 0, 0, &plain));
    ok(shmemx_semaphore_create(pool, NULL, 3, 0, 1, &owned));
    ok(shmemx_cond_create(pool, NULL, &cond));
    ok(shmemx_event_create(pool, NULL, 1, 0, &event));
    ok(shmemx_word_create(pool, NULL, 8, 0, &word));
    for (int i = 0; i < HELPERS; i++)
        if ((helpers[i] = fork()) == 0)
            help(i);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < HELPERS; i++) {
        kill(helpers[i], SIGKILL);
        waitpid(helpers[i], NULL, 0);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(step_through)};
    return cmocka_run_group_tests(tests, begin, end);
}

#else

static void step_through(void **state)
{
    (void)state;
    skip_because("single steps need x86-64, and no sanitizer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(step_through)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
