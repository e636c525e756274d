// SPDX-License-Identifier: Apache-2.0
// A PE is killed while it has something on the symmetric heap: the others learn it where they wait for it, and go on.
// Without the launcher, which would end them: this program starts itself three times for each case.
#include <signal.h>

#include "multi.h"

enum { PES = 3, VICTIM = 0 };
#define PATIENCE 20.0

/* How many survivors were told, and are done, on PE 1. */
static shmemx_word_t told, done;

static void prepare(void)
{
    shmemx_word_t own;
    GIVES(0, shmemx_word_create(shmemx_symmetric(), NULL, 8, 0, &own));
    GIVES(0, shmemx_word_on(own, 1, &told));
    GIVES(0, shmemx_word_create(shmemx_symmetric(), NULL, 8, 0, &own));
    GIVES(0, shmemx_word_on(own, 1, &done));
}

/* Behind the last thing that all do together. */
static void die(void)
{
    usleep(30000); /* so that the others mostly sleep by then; they may come later, too */
    raise(SIGKILL);
}

static uint64_t value_of(shmemx_word_t word)
{
    uint64_t value = 0;
    GIVES(0, shmemx_word_load(word, &value));
    return value;
}

/* So many of the survivors were told. */
static void survive(uint64_t expected, bool was_told)
{
    if (was_told)
        GIVES(0, shmemx_word_add(told, 1, NULL));
    GIVES(0, shmemx_word_add(done, 1, NULL));
    shmemx_word_wake(done, PES);
    for (uint64_t seen; (seen = value_of(done)) < PES - 1;)
        GIVES(0, shmemx_word_wait(done, seen, PATIENCE));
    GIVES(expected, value_of(told));
}

static void mutex(void)
{
    shmemx_mutex_t own, there;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), "m", &own));
    GIVES(0, shmemx_mutex_on(own, 1, &there));
    if (me == VICTIM)
        GIVES(0, shmemx_mutex_lock(there, 0));
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    int rc = shmemx_mutex_lock(there, PATIENCE);
    if (rc == -EOWNERDEAD)
        GIVES(0, shmemx_mutex_consistent(there));
    else
        GIVES(0, rc);
    GIVES(0, shmemx_mutex_unlock(there));
    survive(1, rc == -EOWNERDEAD);
}

static void mutex_not_repaired(void)
{
    shmemx_mutex_t own, there;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &own));
    GIVES(0, shmemx_mutex_on(own, 2, &there));
    if (me == VICTIM)
        GIVES(0, shmemx_mutex_lock(there, 0));
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    int rc = shmemx_mutex_lock(there, PATIENCE);
    if (rc == -EOWNERDEAD)
        GIVES(0, shmemx_mutex_unlock(there)); /* poisons it */
    else
        GIVES(-ENOTRECOVERABLE, rc);
    GIVES(-ENOTRECOVERABLE, shmemx_mutex_lock(there, 0));
    survive(1, rc == -EOWNERDEAD);
}

/* The instance lies in the heap of the PE that dies, which the others have mapped. */
static void mutex_of_the_dead(void)
{
    shmemx_mutex_t own, there;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &own));
    GIVES(0, shmemx_mutex_on(own, VICTIM, &there));
    if (me == VICTIM)
        GIVES(0, shmemx_mutex_lock(own, 0));
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    int rc = shmemx_mutex_lock(there, PATIENCE);
    if (rc == -EOWNERDEAD)
        GIVES(0, shmemx_mutex_consistent(there));
    else
        GIVES(0, rc);
    GIVES(0, shmemx_mutex_unlock(there));
    survive(1, rc == -EOWNERDEAD);
}

static void writer(void)
{
    shmemx_rwlock_t own, there;
    GIVES(0, shmemx_rwlock_create(shmemx_symmetric(), NULL, 2, &own));
    GIVES(0, shmemx_rwlock_on(own, 2, &there));
    if (me == VICTIM)
        GIVES(0, shmemx_rwlock_wrlock(there, 0));
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    GIVES(-EOWNERDEAD, shmemx_rwlock_rdlock(there, PATIENCE)); /* not taken, again and again */
    GIVES(-EOWNERDEAD, shmemx_rwlock_tryrdlock(there));
    GIVES(0, shmemx_word_add(told, 1, NULL));
    while (value_of(told) < PES - 1) /* the other one reads before it is repaired, too */
        usleep(1000);
    int rc = shmemx_rwlock_wrlock(there, PATIENCE);
    if (rc == -EOWNERDEAD)
        GIVES(0, shmemx_rwlock_consistent(there));
    else
        GIVES(0, rc);
    GIVES(0, shmemx_rwlock_unlock(there));
    GIVES(0, shmemx_rwlock_rdlock(there, PATIENCE));
    GIVES(0, shmemx_rwlock_unlock(there));
    survive(3, rc == -EOWNERDEAD);
}

static void reader(void)
{
    shmemx_rwlock_t own, there;
    unsigned readers = 9;
    GIVES(0, shmemx_rwlock_create(shmemx_symmetric(), NULL, 2, &own));
    GIVES(0, shmemx_rwlock_on(own, 1, &there));
    if (me == VICTIM)
        GIVES(0, shmemx_rwlock_rdlock(there, 0));
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    GIVES(0, shmemx_rwlock_wrlock(there, PATIENCE)); /* who died is not missed */
    GIVES(0, shmemx_rwlock_unlock(there));
    survive(0, false);
    GIVES(0, shmemx_rwlock_locked(there, &readers, NULL));
    GIVES(0, readers);
}

static void owned_semaphore(void)
{
    shmemx_semaphore_t own, there;
    unsigned value = 9;
    GIVES(0, shmemx_semaphore_create(shmemx_symmetric(), NULL, 2, 0, 1, &own));
    GIVES(0, shmemx_semaphore_on(own, 1, &there));
    if (me == VICTIM) {
        GIVES(0, shmemx_semaphore_wait(there, 0));
        GIVES(0, shmemx_semaphore_wait(there, 0));
    }
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    GIVES(0, shmemx_semaphore_wait(there, PATIENCE)); /* each one of the two that it had */
    survive(0, false);
    GIVES(0, shmemx_semaphore_post(there, 1));
    while (value != 2) /* the other one's, too */
        GIVES(0, shmemx_semaphore_value(there, &value));
}

/* It dies with the mutex that the waiters it has woken want back. */
static void condition(void)
{
    shmemx_mutex_t mutex, lock;
    shmemx_cond_t own, cond;
    long *waiting = shmem_calloc(1, sizeof *waiting);
    volatile long *count = shmem_ptr(waiting, 1);
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &mutex));
    GIVES(0, shmemx_cond_create(shmemx_symmetric(), NULL, &own));
    GIVES(0, shmemx_mutex_on(mutex, 1, &lock));
    GIVES(0, shmemx_cond_on(own, 1, &cond));
    shmem_barrier_all();
    if (me == VICTIM) {
        for (bool all = false; !all;) {
            GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
            all = *count == PES - 1;
            if (!all)
                GIVES(0, shmemx_mutex_unlock(lock));
        }
        GIVES(0, shmemx_cond_broadcast(cond));
        die();
    }
    GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
    *count += 1;
    int rc = shmemx_cond_wait(cond, lock, PATIENCE);
    if (rc == -EOWNERDEAD)
        GIVES(0, shmemx_mutex_consistent(lock));
    else
        GIVES(0, rc);
    GIVES(0, shmemx_mutex_unlock(lock));
    survive(1, rc == -EOWNERDEAD);
}

/* A signal that was given to one that dies goes to the next. */
static void signalled_waiter(void)
{
    shmemx_mutex_t mutex, lock;
    shmemx_cond_t own, cond;
    long *waiting = shmem_calloc(1, sizeof *waiting);
    volatile long *count = shmem_ptr(waiting, 2);
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &mutex));
    GIVES(0, shmemx_cond_create(shmemx_symmetric(), NULL, &own));
    GIVES(0, shmemx_mutex_on(mutex, 2, &lock));
    GIVES(0, shmemx_cond_on(own, 2, &cond));
    shmem_barrier_all();
    if (me == VICTIM) { /* waits first, and is killed there */
        GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
        *count = 1;
        alarm(1); /* which ends it: no signal comes before */
        signal(SIGALRM, SIG_DFL);
        shmemx_cond_wait(cond, lock, PATIENCE);
        FAIL("it was woken");
    }
    if (me == 1) { /* waits second */
        GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
        while (*count != 1) {
            GIVES(0, shmemx_mutex_unlock(lock));
            usleep(1000);
            GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
        }
        *count = 2;
        GIVES(0, shmemx_cond_wait(cond, lock, PATIENCE));
        GIVES(3, *count);
        GIVES(0, shmemx_mutex_unlock(lock));
    } else { /* one signal, once the first has gone */
        GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
        while (*count != 2) {
            GIVES(0, shmemx_mutex_unlock(lock));
            usleep(1000);
            GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
        }
        GIVES(0, shmemx_mutex_unlock(lock));
        usleep(1100000);
        GIVES(0, shmemx_mutex_lock(lock, PATIENCE));
        *count = 3;
        GIVES(0, shmemx_cond_signal(cond));
        GIVES(0, shmemx_mutex_unlock(lock));
    }
    survive(0, false);
}

static void barrier(void)
{
    shmemx_barrier_t own, there;
    unsigned parties = 0;
    GIVES(0, shmemx_barrier_create(shmemx_symmetric(), NULL, PES, &own));
    GIVES(0, shmemx_barrier_on(own, 2, &there));
    int rc = shmemx_barrier_wait(there, PATIENCE);
    CHECK(rc == 0 || rc == 1);
    if (me == VICTIM)
        die();
    GIVES(-EOWNERDEAD, shmemx_barrier_wait(there, PATIENCE));
    rc = shmemx_barrier_wait(there, PATIENCE);
    CHECK(rc == 0 || rc == 1, "it gave %d", rc);
    GIVES(0, shmemx_barrier_state(there, &parties, NULL));
    GIVES(PES - 1, parties);
    survive(2, true);
}

/* A producer dies with a slot that it has reserved: the consumer passes over it. */
static void queue(void)
{
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    shmemx_queue_t own, there;
    uint64_t item = 41;
    void *slot;
    GIVES(0, shmemx_queue_create(shmemx_symmetric(), NULL, &attr, &own));
    GIVES(0, shmemx_queue_on(own, 1, &there));
    if (me == VICTIM) {
        GIVES(0, shmemx_queue_push(there, &item, 8, PATIENCE));
        GIVES(0, shmemx_queue_reserve(there, 8, &slot, PATIENCE));
    }
    shmem_barrier_all();
    if (me == VICTIM)
        die();
    if (me == 2) {
        item = 42;
        GIVES(0, shmemx_queue_push(there, &item, 8, PATIENCE));
    } else {
        GIVES(0, shmemx_queue_pop(own, &item, 8, NULL, PATIENCE));
        GIVES(41, item);
        GIVES(0, shmemx_queue_pop(own, &item, 8, NULL, PATIENCE));
        GIVES(42, item);
    }
    survive(0, false);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"mutex", mutex},
             {"mutex, not repaired", mutex_not_repaired},
             {"mutex of the dead", mutex_of_the_dead},
             {"writer", writer},
             {"reader", reader},
             {"owned semaphore", owned_semaphore},
             {"condition", condition},
             {"signalled waiter", signalled_waiter},
             {"barrier", barrier},
             {"queue", queue}};
enum { CASES = sizeof cases / sizeof *cases };

static int be_a_pe(size_t which)
{
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
    prepare();
    cases[which].run();
    _exit(0); /* there is no end of the job together */
}

static pid_t start(const char *program, size_t which, int pe)
{
    char text[16], job[64];
    pid_t pid = fork();
    if (pid)
        return pid;
    snprintf(job, sizeof job, "object-deaths %d %zu", (int)getppid(), which);
    setenv("SHMEM_JOB", job, 1);
    snprintf(text, sizeof text, "%d", pe);
    setenv("SHMEM_RANK", text, 1);
    snprintf(text, sizeof text, "%d", PES);
    setenv("SHMEM_SIZE", text, 1);
    snprintf(text, sizeof text, "%zu", which);
    execl(program, program, text, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc > 1)
        return be_a_pe((size_t)atoi(argv[1]));
    printf("1..%d\n", CASES);
    for (size_t which = 0; which < CASES; which++) {
        pid_t pids[PES];
        bool good = true;
        fflush(stdout);
        for (int pe = 0; pe < PES; pe++)
            pids[pe] = start("/proc/self/exe", which, pe);
        for (int pe = 0; pe < PES; pe++) {
            int status = -1;
            waitpid(pids[pe], &status, 0);
            bool died = WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM);
            if (pe == VICTIM ? !died : status != 0)
                fprintf(stderr, "PE %d ended with %#x\n", pe, status);
            good = good && (pe == VICTIM ? died : status == 0);
        }
        printf("%sok %zu - %s\n", good ? "" : "not ", which + 1, cases[which].name);
        failed += !good;
    }
    return failed != 0;
}
