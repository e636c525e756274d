// SPDX-License-Identifier: Apache-2.0
// The thread that goes on with streams that had to wait. For words that anybody may write, which wakes nobody, it
// looks, yields, and then sleeps longer and longer; a kick ends its sleep.
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/thread.h"
#include "stand_in.h"

enum { YIELDS = 50, NAP_FIRST = 20000 /* ns */, NAP_MOST = 500000, STACK = 256 << 10 };

static struct {
    pthread_mutex_t starting;
    pthread_t thread;
    bool runs, ended; /* under the mutex; ended: there will be none any more */
    atomic_bool ending, naps;
    _Atomic uint32_t kick; /* +1 a kick */
    pid_t process;         /* that it was started in; 0: none */
} worker = {.starting = PTHREAD_MUTEX_INITIALIZER};

atomic_size_t shmemi_stand_in_waiting;

static void wake(void)
{
    /* [kick] sequentially consistent on both sides: either this sees the nap, or the worker the kick. */
    atomic_fetch_add_explicit(&worker.kick, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&worker.naps, memory_order_seq_cst))
        shmemi_futex_wake(&worker.kick, INT_MAX);
}

void shmemi_stand_in_kick(void)
{
    /* [waiting] the fence pairs with the one in run(): either this sees that a stream waits, or the worker, which is
       woken after the stream was counted, sees the word that was written before this. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&shmemi_stand_in_waiting, memory_order_relaxed))
        wake();
}

static void nap(uint32_t kick, int64_t deadline)
{
    atomic_store_explicit(&worker.naps, true, memory_order_seq_cst); /* [kick] */
    shmemi_futex_wait(&(struct shmemi_futex){&worker.kick, kick}, 1, deadline);
    atomic_store_explicit(&worker.naps, false, memory_order_relaxed);
}

static void *run(void *unused)
{
    int64_t length = NAP_FIRST;
    uint32_t kicked = 0;
    int turns = 0;
    /* [ending] acquire: pairs with end(). */
    while (!atomic_load_explicit(&worker.ending, memory_order_acquire)) {
        bool look;
        uint32_t kick = atomic_load_explicit(&worker.kick, memory_order_seq_cst); /* [kick] before the look */
        atomic_thread_fence(memory_order_seq_cst);                                /* [waiting] */
        if (shmemi_stand_in_advance(&look) || kick != kicked) {
            turns = 0;
            length = NAP_FIRST;
            kicked = kick;
        } else if (!look) {
            nap(kick, SHMEMI_NO_DEADLINE);
        } else if (turns++ < YIELDS) {
            sched_yield();
        } else {
            nap(kick, shmemi_now() + length);
            length = length * 3 / 2 < NAP_MOST ? length * 3 / 2 : NAP_MOST;
        }
    }
    return unused;
}

/* --- its life ----------------------------------------------------------------------------------------------------- */

static void end(void)
{
    if (worker.process && worker.process != getpid()) /* a forked child has no worker */
        return;
    pthread_mutex_lock(&worker.starting);
    bool runs = worker.runs;
    worker.runs = false;
    worker.ended = true;
    pthread_mutex_unlock(&worker.starting);
    if (runs) {
        atomic_store_explicit(&worker.ending, true, memory_order_release); /* [ending] */
        wake();
        pthread_join(worker.thread, NULL);
    }
    shmemi_stand_in_abandon();
}

static void begin(void)
{
    atexit(end);
}

void shmemi_stand_in_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}

int shmemi_stand_in_work(void)
{
    int rc = 0;
    pthread_mutex_lock(&worker.starting);
    if (worker.ended)
        rc = shmemi_fail(-EIO, "the process ends: streams wait for nothing any more");
    else if (!worker.runs && (rc = shmemi_thread_start(&worker.thread, "the thread for streams on host memory", STACK,
                                                       run, NULL)) == 0) {
        worker.runs = true;
        worker.process = getpid();
    }
    pthread_mutex_unlock(&worker.starting);
    return rc;
}
