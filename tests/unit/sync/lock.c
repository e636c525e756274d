// SPDX-License-Identifier: Apache-2.0
// The internal lock: who waits when its holder dies, and words that make no sense.
#include "sleepers.h"
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "map/service.h"
#include "sync/lock.h"

enum { MEMBERS = 16 };
static struct shared {
    struct shmemi_member members[MEMBERS];
    struct shmemi_lock lock;
    _Atomic unsigned inside, broken, taken, deaths_seen, waiting;
} * shared;
static struct shmemi_lock_holders holders;

static int make_shared(void **state)
{
    leaks_setup(state);
    shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    holders = (struct shmemi_lock_holders){
        .first = (char *)&shared->members[0].alive, .stride = sizeof shared->members[0], .count = MEMBERS};
    return shared == MAP_FAILED ? -1 : 0;
}

static int drop_shared(void **state)
{
    munmap(shared, 8192);
    return leaks_teardown(state);
}
#define lock_test(f) cmocka_unit_test_setup_teardown(f, make_shared, drop_shared)

static struct shmemi_place *join(unsigned *me)
{
    struct shmemi_place *place = NULL;
    if (shmemi_service_take_place(&shared->members[0], sizeof shared->members[0], MEMBERS, false, &place, me) < 0)
        return NULL;
    return place;
}

/* Takes and gives for ever, and looks whether it is alone. */
static pid_t worker(uint64_t seed)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    unsigned me;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    child_check(join(&me) != NULL);
    for (;;) {
        atomic_fetch_add(&shared->waiting, 1);
        int rc = shmemi_lock_take(&shared->lock, &holders, me);
        atomic_fetch_sub(&shared->waiting, 1);
        if (rc == -EOWNERDEAD) {
            atomic_store(&shared->inside, 0); /* the dead one was inside */
            atomic_fetch_add(&shared->deaths_seen, 1);
        }
        if (atomic_fetch_add(&shared->inside, 1) != 0)
            atomic_fetch_add(&shared->broken, 1);
        for (uint64_t i = next_random(&seed) % 200; i; i--)
            atomic_load(&shared->inside);
        atomic_fetch_add(&shared->taken, 1);
        atomic_fetch_sub(&shared->inside, 1);
        shmemi_lock_give(&shared->lock);
    }
}

static void sweep(void)
{
    for (int i = 0; i < MEMBERS; i++)
        if (shmemi_member_died(&shared->members[i]))
            atomic_store(&shared->members[i].alive, 0);
}

/* Killed wherever they are: the others go on at once. */
static void workers_are_killed(void **state)
{
    enum { WORKERS = 5 };
    pid_t pids[WORKERS];
    uint64_t seed = (uint64_t)getpid() | 1;
    (void)state;
    for (int i = 0; i < WORKERS; i++)
        pids[i] = worker(seed + (unsigned)i);
    int64_t end = shmemi_now() + 2000000000, longest = 0;
    unsigned kills = 0;
    while (shmemi_now() < end) {
        usleep((useconds_t)(next_random(&seed) % 4000));
        unsigned k = (unsigned)(next_random(&seed) % WORKERS);
        kill(pids[k], SIGKILL);
        waitpid(pids[k], NULL, 0);
        kills++;
        unsigned before = atomic_load(&shared->taken);
        int64_t begin = shmemi_now(), limit = begin + 10000000000;
        while (atomic_load(&shared->taken) - before < 20 && shmemi_now() < limit)
            sched_yield();
        int64_t took = shmemi_now() - begin;
        longest = took > longest ? took : longest;
        assert_true(shmemi_now() < limit);
        sweep(); /* nobody sleeps on the word of the dead one any more: the lock went on */
        pids[k] = worker(next_random(&seed) | 1);
    }
    for (int i = 0; i < WORKERS; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    assert_int_equal(shared->broken, 0);
    print_message("# %u kills, %u of them while holding it; taken %u times; the longest pause was %.1f ms\n", kills,
                  shared->deaths_seen, shared->taken, (double)longest / 1e6);
}

/* The holder is killed while several sleep: one is told, and all get it. */
static void all_sleepers_go_on(void **state)
{
    enum { SLEEPERS = 4 };
    (void)state;
    for (int round = 0; round < 10; round++) {
        int gate[2];
        char byte;
        memset(shared, 0, sizeof *shared);
        assert_int_equal(pipe(gate), 0);
        pid_t holder = fork(), pids[SLEEPERS];
        if (holder == 0) {
            unsigned me;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            child_check(join(&me) != NULL && shmemi_lock_take(&shared->lock, &holders, me) == 0);
            child_check(write(gate[1], "x", 1) == 1);
            for (;;)
                pause();
        }
        assert_int_equal(read(gate[0], &byte, 1), 1);
        for (int i = 0; i < SLEEPERS; i++)
            if ((pids[i] = fork()) == 0) {
                unsigned me;
                alarm(20);
                child_check(join(&me) != NULL);
                atomic_fetch_add(&shared->waiting, 1);
                int rc = shmemi_lock_take(&shared->lock, &holders, me);
                child_check(rc == 0 || rc == -EOWNERDEAD);
                atomic_fetch_add(&shared->deaths_seen, rc != 0);
                shmemi_lock_give(&shared->lock);
                _exit(0);
            }
        while (atomic_load(&shared->waiting) < SLEEPERS)
            usleep(1000);
        for (int i = 0; i < SLEEPERS; i++)
            await_sleeper(pids[i]);
        kill(holder, SIGKILL);
        waitpid(holder, NULL, 0);
        int64_t begin = shmemi_now();
        for (int i = 0; i < SLEEPERS; i++)
            child_succeeds(pids[i]);
        assert_true(shmemi_now() - begin < 5000000000);
        assert_int_equal(shared->deaths_seen, 1);
        assert_int_equal(shared->lock.word, 0);
        close(gate[0]), close(gate[1]);
    }
}

/* Whatever stands in the word: whoever comes gets the lock, and learns that something was wrong. */
static void words_that_make_no_sense(void **state)
{
    const uint32_t words[] = {MEMBERS + 1, 0x7fffffff, 0x80000000, 0xffffffff, 3, 0x80000003, 1, 0x80000001};
    struct shmemi_place *place;
    unsigned me;
    (void)state;
    assert_non_null(place = join(&me));
    assert_int_equal(me, 0);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        atomic_store(&shared->lock.word, words[i]);
        assert_int_equal(shmemi_lock_take(&shared->lock, &holders, me), -EOWNERDEAD);
        shmemi_lock_give(&shared->lock);
        assert_int_equal(shared->lock.word, 0);
        assert_int_equal(shmemi_lock_take(&shared->lock, &holders, me), 0);
        shmemi_lock_give(&shared->lock);
    }
    shmemi_service_leave_place(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        lock_test(workers_are_killed),
        lock_test(all_sleepers_go_on),
        lock_test(words_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
