// SPDX-License-Identifier: Apache-2.0
// Measures synchronisation beside what the C library has for processes: sync mutex | contended | rwlock | semaphore |
// event | barrier. Everything lies in shared memory; processes are forked and bound to cores in turn. Whatever is
// compared is measured in turn, and ratios are medians of those of the turns.
#include <shmemx.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pin.h"
#include "portable.h"

enum { WORKERS_MOST = 8, TURNS = 9 };

/* What all processes see. */
static struct shared {
    _Alignas(128) pthread_mutex_t plain;
    _Alignas(128) pthread_mutex_t robust;
    _Alignas(128) pthread_rwlock_t rwlock;
    _Alignas(128) pthread_barrier_t barrier;
    _Alignas(128) sem_t semaphore[2];
    _Alignas(128) volatile long counter;
    _Alignas(128) _Atomic int ready;
    _Alignas(128) _Atomic int go;
    _Alignas(128) _Atomic int over;
    double elapsed[WORKERS_MOST];
    long turns[WORKERS_MOST];
} * shared;

static shmemx_mutex_t mutex;
static shmemx_rwlock_t rwlock;
static shmemx_semaphore_t semaphore, owned;
static shmemx_event_t event[2];
static shmemx_barrier_t barrier[2];

static void need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, shmemx_last_error());
    _exit(1);
}

static void prepare(void)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t pool;
    pthread_mutexattr_t m;
    pthread_rwlockattr_t r;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        _exit(1);
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->plain, &m);
    pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->robust, &m);
    pthread_rwlockattr_init(&r);
    pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&shared->rwlock, &r);
    sem_init(&shared->semaphore[0], 1, 0);
    sem_init(&shared->semaphore[1], 1, 0);
    attr.size = attr.max_size = 4 << 20;
    need(shmemx_pool_create(&attr, &pool), "creating a pool");
    need(shmemx_mutex_create(pool, NULL, &mutex), "creating a mutex");
    need(shmemx_rwlock_create(pool, NULL, 0, &rwlock), "creating a lock");
    need(shmemx_semaphore_create(pool, NULL, 1, 0, 0, &semaphore), "creating a semaphore");
    need(shmemx_semaphore_create(pool, NULL, 4, 0, 1, &owned), "creating an owned semaphore");
    for (int i = 0; i < 2; i++) {
        need(shmemx_event_create(pool, NULL, 1, 0, &event[i]), "creating an event");
        need(shmemx_barrier_create(pool, NULL, i ? 8 : 4, &barrier[i]), "creating a barrier");
    }
}

/* Runs the work in so many processes at once, which begin together. */
static void in_processes(int count, void (*work)(int worker, long argument), long argument)
{
    pid_t pids[WORKERS_MOST];
    int status, bad = 0;
    atomic_store(&shared->ready, 0);
    atomic_store(&shared->go, 0);
    atomic_store(&shared->over, 0);
    for (int i = 0; i < count; i++)
        if ((pids[i] = fork()) == 0) {
            pin(i);
            work(i, -1); /* attaches, and warms up */
            atomic_fetch_add(&shared->ready, 1);
            while (!atomic_load(&shared->go))
                sched_yield();
            work(i, argument);
            _exit(0);
        }
    while (atomic_load(&shared->ready) < count)
        usleep(100);
    atomic_store(&shared->go, 1);
    for (int i = 0; i < count; i++)
        bad |= waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    if (bad)
        _exit(1);
}

#pragma GCC diagnostic ignored "-Wpedantic" /* a statement that is an expression */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-statement-expression"
#endif
/* A loop of `count` turns of a pair of calls; returns the time of one. */
#define TIMED(count, ...)                                                                                              \
    ({                                                                                                                 \
        double timed_begin = seconds();                                                                                \
        for (long timed_i = 0; timed_i < (count); timed_i++) {                                                         \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
        (seconds() - timed_begin) / (double)(count);                                                                   \
    })

/* The medians of several measurements that were made in turn, and of their ratios to the first. */
static void measure(int kinds, const char *const names[], double (*one)(int kind))
{
    double values[8][TURNS], ratios[8][TURNS];
    char name[64];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int k = 0; k < kinds; k++)
            values[k][turn] = one(k);
        for (int k = 1; k < kinds; k++)
            ratios[k][turn] = values[k][turn] / values[0][turn];
    }
    for (int k = 0; k < kinds; k++) {
        report(names[k], median(values[k]));
        snprintf(name, sizeof name, "%s.ratio", names[k]);
        if (k > 0)
            report(name, median(ratios[k]));
    }
}

/* --- one thread -------------------------------------------------------------------------------------------------- */

static double one_mutex(int kind)
{
    long count = times(2000000);
    if (kind == 0)
        return TIMED(count, shmemx_mutex_lock(mutex, -1); shmemx_mutex_unlock(mutex));
    pthread_mutex_t *other = kind == 1 ? &shared->plain : &shared->robust;
    return TIMED(count, pthread_mutex_lock(other); pthread_mutex_unlock(other));
}

static double one_semaphore(int kind)
{
    long count = times(1000000);
    if (kind == 0)
        return TIMED(count, shmemx_semaphore_wait(semaphore, -1); shmemx_semaphore_post(semaphore, 1));
    if (kind == 1)
        return TIMED(count, sem_post(&shared->semaphore[0]); sem_wait(&shared->semaphore[0]));
    return TIMED(count, shmemx_semaphore_wait(owned, -1); shmemx_semaphore_post(owned, 1));
}

/* --- contended mutexes ------------------------------------------------------------------------------------------- */

static void contend(int kind, int worker, long count)
{
    double begin = seconds();
    long turns = 0;
    for (long i = 0; count < 0 ? i < 100 : !atomic_load_explicit(&shared->over, memory_order_relaxed); i++, turns++) {
        if (kind == 0)
            shmemx_mutex_lock(mutex, -1);
        else
            pthread_mutex_lock(kind == 1 ? &shared->robust : &shared->plain);
        shared->counter++;
        if (kind == 0)
            shmemx_mutex_unlock(mutex);
        else
            pthread_mutex_unlock(kind == 1 ? &shared->robust : &shared->plain);
        if (worker == 0 && turns % 64 == 0 && seconds() - begin > (times(1000) < 1000 ? 0.02 : 0.3))
            atomic_store(&shared->over, 1);
    }
    shared->elapsed[worker] = seconds() - begin;
    shared->turns[worker] = turns;
}

#define CONTEND(kind)                                                                                                  \
    static void contend_##kind(int worker, long count)                                                                 \
    {                                                                                                                  \
        contend(kind, worker, count);                                                                                  \
    }
CONTEND(0)
CONTEND(1)
CONTEND(2)

/* Time that one turn of anybody takes. */
static double one_contended(int kind)
{
    static void (*const work[])(int, long) = {contend_0, contend_1, contend_2};
    double elapsed = 0, turns = 0;
    in_processes(8, work[kind], 1);
    for (int i = 0; i < 8; i++) {
        elapsed = shared->elapsed[i] > elapsed ? shared->elapsed[i] : elapsed;
        turns += (double)shared->turns[i];
    }
    return elapsed / turns;
}

/* --- readers ----------------------------------------------------------------------------------------------------- */

static void read_0(int worker, long count)
{
    shared->elapsed[worker] =
        TIMED(count < 0 ? 100 : count, shmemx_rwlock_rdlock(rwlock, -1); shmemx_rwlock_unlock(rwlock));
}

static void read_1(int worker, long count)
{
    shared->elapsed[worker] =
        TIMED(count < 0 ? 100 : count, pthread_rwlock_rdlock(&shared->rwlock); pthread_rwlock_unlock(&shared->rwlock));
}

static double one_rwlock(int kind)
{
    in_processes(2, kind ? read_1 : read_0, times(1000000));
    return (shared->elapsed[0] + shared->elapsed[1]) / 2;
}

static double one_writer(int kind)
{
    if (kind == 0)
        return TIMED(times(300000), shmemx_rwlock_wrlock(rwlock, -1); shmemx_rwlock_unlock(rwlock));
    return TIMED(times(300000), pthread_rwlock_wrlock(&shared->rwlock); pthread_rwlock_unlock(&shared->rwlock));
}

/* --- handing over ------------------------------------------------------------------------------------------------ */

static void hand_0(int worker, long count)
{
    if (count < 0) {
        shmemx_event_is_set(event[0]);
        return;
    }
    shared->elapsed[worker] = TIMED(count, if (worker) shmemx_event_wait(event[0], -1);
                                    shmemx_event_set(event[!!worker]); if (!worker) shmemx_event_wait(event[1], -1));
}

static void hand_1(int worker, long count)
{
    if (count < 0)
        return;
    shared->elapsed[worker] =
        TIMED(count, if (worker) sem_wait(&shared->semaphore[0]); sem_post(&shared->semaphore[!!worker]);
              if (!worker) sem_wait(&shared->semaphore[1]));
}

static double one_hand(int kind)
{
    in_processes(2, kind ? hand_1 : hand_0, times(100000));
    return shared->elapsed[0] / 2;
}

/* --- barriers ---------------------------------------------------------------------------------------------------- */

static int members;

static void meet_0(int worker, long count)
{
    shmemx_barrier_t b = barrier[members == 8];
    if (count < 0)
        shmemx_barrier_state(b, NULL, NULL);
    else
        shared->elapsed[worker] = TIMED(count, shmemx_barrier_wait(b, -1));
}

static void meet_1(int worker, long count)
{
    if (count >= 0)
        shared->elapsed[worker] = TIMED(count, pthread_barrier_wait(&shared->barrier));
}

static double one_barrier(int kind)
{
    pthread_barrierattr_t attr;
    shmemx_pool_t pool;
    shmemx_pool_attr_t wish = SHMEMX_POOL_ATTR;
    wish.size = wish.max_size = 1 << 20;
    need(shmemx_pool_create(&wish, &pool), "creating a pool"); /* members of the turn before are dead */
    need(shmemx_barrier_create(pool, NULL, (unsigned)members, &barrier[members == 8]), "creating a barrier");
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attr, (unsigned)members);
    in_processes(members, kind ? meet_1 : meet_0, times(10000));
    pthread_barrier_destroy(&shared->barrier);
    need(shmemx_barrier_destroy(barrier[members == 8]), "destroying a barrier");
    need(shmemx_pool_close(pool), "closing a pool");
    return shared->elapsed[0];
}

int main(int argc, char **argv)
{
    static const char *const mutexes[] = {"mutex", "mutex_plain", "mutex_robust"};
    static const char *const contended[] = {"contended", "contended_robust", "contended_plain"};
    static const char *const readers[] = {"readers", "readers_pthread"}, *const writers[] = {"writer",
                                                                                             "writer_pthread"};
    static const char *const semaphores[] = {"semaphore", "semaphore_posix", "semaphore_owned"};
    static const char *const hands[] = {"hand", "hand_posix"};
    static const char *const four[] = {"barrier_4", "barrier_4_pthread"}, *const eight[] = {"barrier_8",
                                                                                            "barrier_8_pthread"};
    const char *what = argc > 1 ? argv[1] : "all";
    bool all = !strcmp(what, "all");
    prepare();
    if (all || !strcmp(what, "mutex"))
        measure(3, mutexes, one_mutex);
    if (all || !strcmp(what, "contended"))
        measure(3, contended, one_contended);
    if (all || !strcmp(what, "rwlock")) {
        measure(2, readers, one_rwlock);
        measure(2, writers, one_writer);
    }
    if (all || !strcmp(what, "semaphore"))
        measure(3, semaphores, one_semaphore);
    if (all || !strcmp(what, "event"))
        measure(2, hands, one_hand);
    if (all || !strcmp(what, "barrier")) {
        members = 4;
        measure(2, four, one_barrier);
        members = 8;
        measure(2, eight, one_barrier);
    }
    return 0;
}
