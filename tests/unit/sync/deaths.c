// SPDX-License-Identifier: Apache-2.0
// Processes that are killed while they have something or wait for it, one case after the other; cycles of waits; memory
// that somebody scribbles on; and processes with equal numbers in different PID namespaces.
#include "sleepers.h"
#include "sync.h"

#include <sched.h>
#include <sys/prctl.h>

static shmemx_pool_t pool;
static shmemx_mutex_t mutex, second, attached;
static shmemx_rwlock_t rwlock;
static shmemx_semaphore_t semaphore;
static shmemx_cond_t cond;
static shmemx_barrier_t barrier;
static shmemx_event_t event;
static shmemx_word_t word;

/* What children and the test see of each other. */
static struct page {
    _Atomic int step, done, ready[8], rc[8];
} * page;

static int begin(void **state)
{
    leaks_setup(state);
    page = shared_page();
    pool = make_pool();
    ok(shmemx_mutex_create(pool, "mutex", &mutex));
    ok(shmemx_mutex_create(pool, "second", &second));
    ok(shmemx_mutex_create(pool, "attached", &attached));
    ok(shmemx_rwlock_create(pool, "rwlock", 0, &rwlock));
    ok(shmemx_semaphore_create(pool, "semaphore", 2, 0, 1, &semaphore));
    ok(shmemx_cond_create(pool, "cond", &cond));
    ok(shmemx_barrier_create(pool, "barrier", 3, &barrier));
    ok(shmemx_event_create(pool, "event", 1, 0, &event));
    ok(shmemx_word_create(pool, "word", 8, 0, &word));
    return 0;
}

static int end(void **state)
{
    ok(shmemx_mutex_close(mutex));
    ok(shmemx_mutex_close(second));
    ok(shmemx_mutex_close(attached));
    ok(shmemx_rwlock_close(rwlock));
    ok(shmemx_semaphore_close(semaphore));
    ok(shmemx_cond_close(cond));
    ok(shmemx_barrier_close(barrier));
    ok(shmemx_event_close(event));
    ok(shmemx_word_close(word));
    ok(shmemx_pool_close(pool));
    munmap(page, 4096);
    return leaks_teardown(state);
}
#define death_test(f) cmocka_unit_test_setup_teardown(f, begin, end)

/* A child that calls the function, says how it went, and stays until it is killed. */
static pid_t child(int number, int (*function)(int number))
{
    atomic_store(&page->ready[number], 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        child_check(shmemx_mutex_lock(attached, 20) == 0 &&
                    shmemx_mutex_unlock(attached) == 0); /* so it is from here on */
        atomic_store(&page->ready[number], 1);
        int rc = function(number);
        atomic_store(&page->rc[number], rc);
        atomic_fetch_add(&page->done, 1);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

/* Until the child sleeps in its function. */
static void asleep(int number, pid_t pid)
{
    if (!wait_until(&page->ready[number], 1))
        fail_msg("child %d did not begin", number);
    await_sleeper(pid);
}

static void step_to(int value)
{
    if (!wait_until(&page->step, value))
        fail_msg("a child did not come to step %d", value);
}

static void done_to(int value)
{
    if (!wait_until(&page->done, value))
        fail_msg("only %d of %d waits have ended", atomic_load(&page->done), value);
}

/* --- one after the other ------------------------------------------------------------------------------------------ */

static int lock_it(int number)
{
    (void)number;
    int rc = shmemx_mutex_lock(mutex, 20);
    atomic_fetch_add(&page->step, 1);
    return rc;
}

static void mutex_holder(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        atomic_store(&page->step, 0);
        pid_t pid = child(0, lock_it);
        step_to(1);
        refuses(ETIMEDOUT, "(pid ", shmemx_mutex_lock(mutex, 0.01));
        refuses(EBUSY, "(pid ", shmemx_mutex_trylock(mutex));
        refuses(EPERM, "(pid ", shmemx_mutex_unlock(mutex));
        pid_t waiter = child(1, lock_it);
        asleep(1, waiter);
        kill_child(pid);
        step_to(2); /* the waiter has it now */
        assert_int_equal(atomic_load(&page->rc[1]), -EOWNERDEAD);
        kill_child(waiter);
        refuses(EOWNERDEAD, "died", shmemx_mutex_lock(mutex, 10));
        ok(shmemx_mutex_consistent(mutex));
        ok(shmemx_mutex_unlock(mutex));
    }
}

/* A waiter that is killed, having been woken or not, takes nothing along. */
static void mutex_waiter(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        atomic_store(&page->step, 0);
        ok(shmemx_mutex_lock(mutex, 0));
        pid_t first = child(0, lock_it), other = child(1, lock_it);
        asleep(0, first);
        asleep(1, other);
        kill(first, SIGSTOP);
        ok(shmemx_mutex_unlock(mutex));
        kill_child(first);
        step_to(1);
        kill_child(other);
        int rc = shmemx_mutex_lock(mutex, 10);
        assert_int_equal(rc, -EOWNERDEAD);
        ok(shmemx_mutex_consistent(mutex));
        ok(shmemx_mutex_unlock(mutex));
    }
}

static int read_it(int number)
{
    (void)number;
    int rc = shmemx_rwlock_rdlock(rwlock, 20);
    atomic_fetch_add(&page->step, 1);
    return rc;
}

static int write_it(int number)
{
    (void)number;
    int rc = shmemx_rwlock_wrlock(rwlock, 20);
    atomic_fetch_add(&page->step, 1);
    return rc;
}

static void readers_and_writers(void **state)
{
    (void)state;
    pid_t reader = child(0, read_it);
    step_to(1);
    refuses(ETIMEDOUT, "reads", shmemx_rwlock_wrlock(rwlock, 0.01));
    pid_t writer = child(1, write_it); /* waits for the reader */
    asleep(1, writer);
    refuses(ETIMEDOUT, "writes", shmemx_rwlock_rdlock(rwlock, 0.01));
    refuses(EBUSY, "writes", shmemx_rwlock_tryrdlock(rwlock));
    kill_child(writer); /* it had not written yet: nobody is told */
    ok(shmemx_rwlock_rdlock(rwlock, 10));
    ok(shmemx_rwlock_unlock(rwlock));
    writer = child(1, write_it);
    asleep(1, writer);
    kill_child(reader);
    step_to(2); /* the writer is in: the dead reader was counted out */
    pid_t queued = child(2, read_it);
    asleep(2, queued);
    kill_child(queued);
    kill_child(writer);
    refuses(EOWNERDEAD, "not taken", shmemx_rwlock_rdlock(rwlock, 10));
    refuses(EOWNERDEAD, "repair", shmemx_rwlock_wrlock(rwlock, 10));
    ok(shmemx_rwlock_consistent(rwlock));
    ok(shmemx_rwlock_unlock(rwlock));
    ok(shmemx_rwlock_wrlock(rwlock, 10));
    pid_t waiting[2] = {child(3, read_it), child(4, write_it)};
    asleep(3, waiting[0]);
    asleep(4, waiting[1]);
    kill(waiting[0], SIGSTOP); /* let in, and dead before it knows */
    ok(shmemx_rwlock_unlock(rwlock));
    kill_child(waiting[0]);
    step_to(3);
    kill_child(waiting[1]);
    refuses(EOWNERDEAD, "repair", shmemx_rwlock_wrlock(rwlock, 10));
    ok(shmemx_rwlock_consistent(rwlock));
    ok(shmemx_rwlock_unlock(rwlock));
}

static int take_both(int number)
{
    int rc = shmemx_semaphore_wait(semaphore, 20);
    rc = rc ? rc : shmemx_semaphore_wait(semaphore, 20);
    atomic_fetch_add(&page->step, 1);
    return number ? rc : 0;
}

static void owned_units(void **state)
{
    unsigned value;
    (void)state;
    pid_t pid = child(0, take_both);
    step_to(1);
    refuses(ETIMEDOUT, "taken", shmemx_semaphore_wait(semaphore, 0.01));
    refuses(EBUSY, "2 of its units", shmemx_semaphore_destroy(semaphore));
    pid_t other = child(1, take_both);
    asleep(1, other);
    kill_child(pid);
    step_to(2);
    assert_int_equal(atomic_load(&page->rc[1]), 0);
    kill_child(other);
    ok(shmemx_semaphore_value(semaphore, &value));
    assert_int_equal(value, 2);
    ok(shmemx_semaphore_wait(semaphore, 0));
    ok(shmemx_semaphore_post(semaphore, 1));
}

static int wait_for_it(int number)
{
    int rc = shmemx_mutex_lock(mutex, 20);
    atomic_fetch_add(&page->step, 1);
    rc = rc ? rc : shmemx_cond_wait(cond, mutex, 20);
    if (number < 4) /* else it keeps the mutex */
        shmemx_mutex_unlock(mutex);
    return rc;
}

static void wait_begun(int count)
{
    step_to(count);
    ok(shmemx_mutex_lock(mutex, 10)); /* it has let go of it */
    ok(shmemx_mutex_unlock(mutex));
}

/* The one who was signalled dies before it knows: the other one is. */
static void signals(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        atomic_store(&page->step, 0);
        atomic_store(&page->done, 0);
        pid_t first = child(0, wait_for_it);
        wait_begun(1);
        pid_t other = child(1, wait_for_it);
        wait_begun(2);
        refuses(EBUSY, "waits", shmemx_cond_destroy(cond));
        kill(first, SIGSTOP);
        ok(shmemx_cond_signal(cond));
        kill_child(first);
        done_to(1);
        assert_int_equal(atomic_load(&page->rc[1]), 0);
        kill_child(other);
    }
    /* Of three one is dead already: two signals are for the two others. */
    atomic_store(&page->step, 0);
    atomic_store(&page->done, 0);
    pid_t pids[3];
    for (int i = 0; i < 3; i++) {
        pids[i] = child(i, wait_for_it);
        wait_begun(i + 1);
    }
    kill_child(pids[0]);
    ok(shmemx_cond_signal(cond));
    ok(shmemx_cond_signal(cond));
    done_to(2);
    kill_child(pids[1]);
    kill_child(pids[2]);
    /* The mutex's holder dies while somebody comes back from a wait. */
    atomic_store(&page->step, 0);
    atomic_store(&page->done, 0);
    pid_t waiter = child(0, wait_for_it);
    wait_begun(1);
    pid_t holder = child(1, lock_it);
    step_to(2);
    ok(shmemx_cond_broadcast(cond));
    asleep(0, waiter);
    kill_child(holder);
    done_to(2);
    assert_int_equal(atomic_load(&page->rc[0]), -EOWNERDEAD);
    kill_child(waiter);
}

static int meet_twice(int number)
{
    int rc = shmemx_barrier_wait(barrier, 20);
    atomic_fetch_add(&page->step, 1);
    if (rc < 0)
        return rc;
    if (number == 0)
        return 0; /* and does not come to the second round */
    rc = shmemx_barrier_wait(barrier, 20);
    int then = shmemx_barrier_wait(barrier, 20);
    return then < 0 ? then : rc;
}

static void barrier_members(void **state)
{
    unsigned n, waiting;
    (void)state;
    pid_t pids[3];
    for (int i = 0; i < 3; i++)
        pids[i] = child(i, meet_twice);
    step_to(3);
    for (int i = 0; i < 2000 && shmemx_barrier_state(barrier, &n, &waiting) == 0 && waiting < 2; i++)
        usleep(1000);
    assert_int_equal(n, 3);
    assert_int_equal(waiting, 2);
    refuses(EBUSY, "wait in it", shmemx_barrier_destroy(barrier));
    refuses(EUSERS, "3 threads", shmemx_barrier_wait(barrier, 1));
    kill_child(pids[0]);
    done_to(3);
    assert_int_equal(atomic_load(&page->rc[1]), -EOWNERDEAD);
    assert_int_equal(atomic_load(&page->rc[2]), -EOWNERDEAD);
    ok(shmemx_barrier_state(barrier, &n, NULL));
    assert_int_equal(n, 2);
    kill_child(pids[1]);
    kill_child(pids[2]);
}

static int await_event(int number)
{
    (void)number;
    return shmemx_event_wait(event, 20);
}

static int await_word(int number)
{
    (void)number;
    return shmemx_word_wait(word, 0, 20);
}

static void waiters(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        atomic_store(&page->done, 0);
        pid_t first = child(0, kind ? await_word : await_event);
        asleep(0, first);
        pid_t other = child(1, kind ? await_word : await_event);
        asleep(1, other);
        refuses(EBUSY, "waits", kind ? shmemx_word_destroy(word) : shmemx_event_destroy(event));
        kill(first, SIGSTOP);
        if (kind) {
            ok(shmemx_word_store(word, 1));
            assert_true(shmemx_word_wake(word, 1) <= 1);
        } else {
            ok(shmemx_event_set(event));
        }
        kill_child(first);
        done_to(1);
        assert_int_equal(atomic_load(&page->rc[1]), 0);
        kill_child(other);
    }
}

/* --- cycles of waits ---------------------------------------------------------------------------------------------- */

static int cross(int number)
{
    shmemx_mutex_t own, wanted;
    shmemx_rwlock_t lock;
    setenv("SHMEM_DEBUG", "1", 1);
    child_check(shmemx_mutex_find(pool, number == 0 ? "mutex" : "second", &own) == 0);
    child_check(shmemx_mutex_find(pool, number == 0 ? "second" : "mutex", &wanted) == 0);
    child_check(shmemx_rwlock_find(pool, "rwlock", &lock) == 0);
    child_check((number == 2 ? shmemx_rwlock_wrlock(lock, 5) : shmemx_mutex_lock(own, 5)) == 0);
    atomic_fetch_add(&page->step, 1);
    child_check(wait_until(&page->step, 10));
    /* 0 has mutex and wants second; 1 has second and wants mutex (or the lock); 2 has the lock and wants mutex */
    int rc =
        number == 1 && atomic_load(&page->step) > 10 ? shmemx_rwlock_rdlock(lock, 20) : shmemx_mutex_lock(wanted, 20);
    if (rc == -EDEADLK && (!strstr(shmemx_last_error(), "cycle") || !strstr(shmemx_last_error(), "pid") ||
                           !strstr(shmemx_last_error(), "waits for 'mutex', which ")))
        rc = -EINVAL;
    if (rc == 0)
        shmemx_mutex_unlock(wanted);
    if (rc == -EDEADLK) { /* so that the others can go on */
        if (number == 2)
            shmemx_rwlock_unlock(lock);
        else
            shmemx_mutex_unlock(own);
    }
    return rc;
}

static void cycles(void **state)
{
    (void)state;
    for (int count = 2; count <= 3; count++) {
        pid_t pids[3];
        int cycles = 0;
        atomic_store(&page->step, 0);
        atomic_store(&page->done, 0);
        for (int i = 0; i < count; i++)
            pids[i] = child(i, cross);
        step_to(count);
        atomic_store(&page->step, 8 + count);
        done_to(1);
        for (int i = 0; i < 300 && cycles == 0; i++, usleep(10000)) {
            cycles = 0;
            for (int k = 0; k < count; k++)
                cycles += atomic_load(&page->rc[k]) == -EDEADLK;
        }
        assert_true(cycles >= 1);
        for (int i = 0; i < count; i++)
            kill_child(pids[i]);
        for (int i = 0; i < 2; i++) {
            shmemx_mutex_t m = i ? second : mutex;
            if (shmemx_mutex_lock(m, 10) == -EOWNERDEAD)
                ok(shmemx_mutex_consistent(m));
            ok(shmemx_mutex_unlock(m));
        }
        if (shmemx_rwlock_wrlock(rwlock, 10) == -EOWNERDEAD)
            ok(shmemx_rwlock_consistent(rwlock));
        ok(shmemx_rwlock_unlock(rwlock));
    }
}

/* --- scribbles ---------------------------------------------------------------------------------------------------- */

/* Everything with everything, with short timeouts; what it returns does not matter. */
static void use_all(uint64_t *random)
{
    const double t = 0.002;
    uint64_t before;
    unsigned value;
    switch (next_random(random) % 8) {
    case 0:
        if (shmemx_mutex_lock(mutex, t) == -EOWNERDEAD)
            shmemx_mutex_consistent(mutex);
        shmemx_mutex_unlock(mutex);
        break;
    case 1:
        shmemx_rwlock_rdlock(rwlock, t);
        shmemx_rwlock_unlock(rwlock);
        break;
    case 2:
        if (shmemx_rwlock_wrlock(rwlock, t) == -EOWNERDEAD)
            shmemx_rwlock_consistent(rwlock);
        shmemx_rwlock_unlock(rwlock);
        break;
    case 3:
        shmemx_semaphore_wait(semaphore, t);
        shmemx_semaphore_value(semaphore, &value);
        shmemx_semaphore_post(semaphore, 1);
        break;
    case 4:
        if (shmemx_mutex_lock(second, t) == 0) {
            shmemx_cond_wait(cond, second, t);
            shmemx_mutex_unlock(second);
        }
        shmemx_cond_signal(cond);
        shmemx_cond_broadcast(cond);
        break;
    case 5:
        shmemx_barrier_wait(barrier, t);
        break;
    case 6:
        shmemx_event_set(event);
        shmemx_event_wait(event, t);
        break;
    default:
        shmemx_word_add(word, 1, &before);
        shmemx_word_wait(word, before + 1, t);
        shmemx_word_wake(word, 1);
    }
}

static int use_always(int number)
{
    uint64_t random = (uint64_t)number * 77 + 1;
    while (!atomic_load(&page->step)) {
        use_all(&random);
        atomic_fetch_add(&page->rc[4 + number], 1);
    }
    return 0;
}

/* "second" is left alone: whoever waits with it must get it back. */
static void scribble(uint64_t *random)
{
    static const char *const names[] = {"mutex", "rwlock", "semaphore", "cond", "barrier", "event", "word"};
    shmemx_named_t named;
    ok(shmemx_pool_find(pool, names[next_random(random) % 7], &named));
    size_t at = 128 + next_random(random) % (named.bytes - 128), bytes = 1 + next_random(random) % 16;
    for (size_t i = 0; i < bytes && at + i < named.bytes; i++)
        ((volatile unsigned char *)named.address)[at + i] = (unsigned char)next_random(random);
}

static void scribbles(void **state)
{
    uint64_t random = 4711;
    pid_t pids[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        pids[i] = child(i, use_always);
    double until = seconds() + 2;
    unsigned long count = 0;
    for (; seconds() < until; count++) {
        scribble(&random);
        if (count % 64 == 0)
            usleep(100);
    }
    atomic_store(&page->step, 1);
    done_to(3);
    print_message("# %lu scribbles, %d operations\n", count,
                  atomic_load(&page->rc[4]) + atomic_load(&page->rc[5]) + atomic_load(&page->rc[6]));
    for (int i = 0; i < 3; i++)
        kill_child(pids[i]);
}

/* --- PID namespaces ----------------------------------------------------------------------------------------------- */

static int contend(int number)
{
    for (int i = 0; i < 300; i++) {
        int rc = shmemx_mutex_lock(mutex, 20);
        if (rc == -EOWNERDEAD)
            rc = shmemx_mutex_consistent(mutex);
        if (rc < 0)
            return rc;
        if (atomic_fetch_add(&page->step, 1) != 0)
            return -EIO; /* two at once */
        if (i % 10 == 0)
            usleep(100);
        atomic_store(&page->step, 0);
        shmemx_mutex_unlock(mutex);
    }
    if (number != 0)
        return 0;
    wait_until(&page->done, 1);
    return shmemx_mutex_lock(mutex, 20); /* and keeps it */
}

/* The first process of a PID namespace of its own: all of them have the same number there. */
static pid_t apart(int number)
{
    pid_t between = fork();
    if (between == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWPID) != 0)
            _exit(77);
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            atomic_store(&page->rc[4 + number], (int)getpid());
            int rc = contend(number);
            atomic_store(&page->rc[number], rc);
            atomic_fetch_add(&page->done, 1);
            for (;;)
                pause();
        }
        atomic_store(&page->rc[6 + number], (int)pid);
        int status;
        waitpid(pid, &status, 0);
        _exit(0);
    }
    return between;
}

static void pid_namespaces(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("PID namespaces need root");
    pid_t probe = fork();
    if (probe == 0)
        _exit(unshare(CLONE_NEWPID) != 0);
    int status = 0;
    assert_int_equal(waitpid(probe, &status, 0), probe);
    if (status)
        skip_because("PID namespaces cannot be made here");
    pid_t pids[2] = {apart(0), apart(1)};
    done_to(2);
    assert_int_equal(atomic_load(&page->rc[4]), 1);
    assert_int_equal(atomic_load(&page->rc[5]), 1);
    assert_int_equal(atomic_load(&page->rc[0]), 0);
    assert_int_equal(atomic_load(&page->rc[1]), 0);
    /* 0 ended with the mutex. The death of 1, which has the same number, changes nothing; its own does. */
    refuses(ETIMEDOUT, "slot", shmemx_mutex_lock(mutex, 0.2));
    kill(atomic_load(&page->rc[7]), SIGKILL);
    assert_int_equal(waitpid(pids[1], &status, 0), pids[1]);
    refuses(ETIMEDOUT, "slot", shmemx_mutex_lock(mutex, 0.2));
    kill(atomic_load(&page->rc[6]), SIGKILL);
    assert_int_equal(waitpid(pids[0], &status, 0), pids[0]);
    refuses(EOWNERDEAD, "died", shmemx_mutex_lock(mutex, 10));
    ok(shmemx_mutex_consistent(mutex));
    ok(shmemx_mutex_unlock(mutex));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        death_test(mutex_holder),  death_test(mutex_waiter), death_test(readers_and_writers),
        death_test(owned_units),   death_test(signals),      death_test(barrier_members),
        death_test(waiters),       death_test(cycles),       death_test(scribbles),
        death_test(pid_namespaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
