// SPDX-License-Identifier: Apache-2.0
// The thread that does requests. While some are pending it looks at memory that devices write, which wakes nobody, so
// it looks, yields, and then sleeps longer and longer; a kick, or a change of the word that is watched, ends its sleep.
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/thread.h"
#include "request_internal.h"

enum {
    YIELDS = 50,
    NAP_FIRST = 20000,     /* ns */
    NAP_MOST = 500000,     /* while streams are on their way to a request: nobody wakes the proxy when they come */
    NAP_WAITING = 5000000, /* while all wait for somebody who does */
    CLOSELY = 5000000,     /* from one close look to the next */
    STACK = 256 << 10,
    LAST = 1000000000, /* at the end of the process, for streams to run out */
};

static struct {
    pthread_mutex_t starting;
    pthread_t thread;
    bool runs;
    bool ending;           /* under the lock of the requests */
    _Atomic uint32_t kick; /* +1 a kick */
    _Atomic bool naps;
    /* What is watched, under that lock: */
    _Atomic uint32_t *word, *sleepers;
    void (*announced)(void);
    bool counted;               /* among the sleepers */
    _Atomic bool naps_watching; /* a nap on the word goes on, or may begin */
} proxy = {.starting = PTHREAD_MUTEX_INITIALIZER};

void shmemi_proxy_kick(void)
{
    /* [kick] sequentially consistent on both sides: either this sees the nap, or the proxy the kick. */
    atomic_fetch_add_explicit(&proxy.kick, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&proxy.naps, memory_order_seq_cst))
        shmemi_futex_wake(&proxy.kick, INT_MAX);
}

/* Under the lock. A sleeper too many does no harm. */
static void count_out(void)
{
    if (proxy.counted)
        atomic_fetch_sub_explicit(proxy.sleepers, 1, memory_order_relaxed);
    proxy.counted = false;
}

/* Under the lock. [user-sleep] as comm/await.c has it: whoever stores looks at this count. */
static void count_in(void)
{
    atomic_fetch_add_explicit(proxy.sleepers, 1, memory_order_seq_cst);
    proxy.announced();
    proxy.counted = true;
}

void shmemi_requests_watch(_Atomic uint32_t *word, _Atomic uint32_t *sleepers, void (*announced)(void))
{
    pthread_mutex_lock(&shmemi_requests_lock);
    count_out();
    proxy.word = word;
    proxy.sleepers = sleepers;
    proxy.announced = announced;
    pthread_mutex_unlock(&shmemi_requests_lock);
    /* [watch] acquire: the proxy does not touch what was watched any more. */
    while (atomic_load_explicit(&proxy.naps_watching, memory_order_acquire)) {
        shmemi_proxy_kick();
        sched_yield();
    }
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

/* One look at everything, and how the thread may sleep after it. */
struct round {
    bool idle;    /* nothing is pending */
    bool moved;   /* something was done */
    bool waiting; /* nothing is near */
    bool ended;
    uint32_t kick;
    unsigned count; /* of words to sleep on */
    struct shmemi_futex words[2];
};

static void look(struct round *r, bool closely)
{
    r->kick = atomic_load_explicit(&proxy.kick, memory_order_seq_cst); /* [kick] before the look */
    r->words[0] = (struct shmemi_futex){&proxy.kick, r->kick};
    r->count = 1;
    pthread_mutex_lock(&shmemi_requests_lock);
    if (proxy.counted) /* [user-sleep] read before the look: a change after this ends the sleep at once */
        r->words[r->count++] =
            (struct shmemi_futex){proxy.word, atomic_load_explicit(proxy.word, memory_order_seq_cst)};
    r->moved = shmemi_requests_serve(closely);
    r->idle = !shmemi_request_lines;
    r->ended = proxy.ending;
    r->waiting = proxy.counted && shmemi_requests_all_wait();
    if (r->moved || r->idle) {
        count_out();
        r->count = 1;
    }
    /* [watch] set under the lock, so that who takes the word away sees it. */
    atomic_store_explicit(&proxy.naps_watching, r->count > 1, memory_order_relaxed);
    pthread_mutex_unlock(&shmemi_requests_lock);
}

static void nap(const struct round *r, int64_t deadline)
{
    atomic_store_explicit(&proxy.naps, true, memory_order_seq_cst); /* [kick] */
    shmemi_futex_wait(r->words, r->count, deadline);
    atomic_store_explicit(&proxy.naps, false, memory_order_relaxed);
    atomic_store_explicit(&proxy.naps_watching, false, memory_order_release); /* [watch] */
}

/* Before the first nap that is long: whoever changes the word then wakes. True: look once more. */
static bool announce(void)
{
    pthread_mutex_lock(&shmemi_requests_lock);
    bool can = proxy.word && !proxy.counted;
    if (can)
        count_in();
    pthread_mutex_unlock(&shmemi_requests_lock);
    return can;
}

static void *run(void *unused)
{
    int64_t next_close = 0, length = NAP_FIRST, deadline = INT64_MAX;
    uint32_t kicked = 0;
    int turns = 0;
    for (;;) {
        struct round r;
        int64_t now = shmemi_now();
        bool closely = now >= next_close;
        look(&r, closely);
        if (closely)
            next_close = now + CLOSELY;
        if (r.ended && deadline == INT64_MAX)
            deadline = now + LAST;
        if (r.ended && (r.idle || now >= deadline))
            break;
        if (r.moved || r.kick != kicked) {
            turns = 0;
            length = NAP_FIRST;
            kicked = r.kick;
        } else if (r.idle) {
            nap(&r, SHMEMI_NO_DEADLINE);
        } else if (turns++ < YIELDS) {
            sched_yield();
        } else if (length < NAP_MOST || !announce()) {
            int64_t most = r.waiting ? NAP_WAITING : NAP_MOST;
            length = length * 3 / 2 < most ? length * 3 / 2 : most;
            nap(&r, now + length);
        }
        /* A look without a nap must not keep who takes the word away. */
        atomic_store_explicit(&proxy.naps_watching, false, memory_order_release); /* [watch] */
    }
    return unused;
}

/* --- its life ----------------------------------------------------------------------------------------------------- */

/* In an orderly end of the process: streams are let go, so that the driver's own end does not wait for them. */
static void end(void)
{
    if (shmemi_device_check_process() < 0)
        return;
    shmemi_requests_cancel(-ECANCELED, "the process ends");
    pthread_mutex_lock(&shmemi_requests_lock);
    proxy.ending = true;
    shmemi_requests_let_all_go();
    pthread_mutex_unlock(&shmemi_requests_lock);
    shmemi_proxy_kick();
    pthread_join(proxy.thread, NULL);
    shmemi_request_rings_free();
}

bool shmemi_proxy_ends(void)
{
    return proxy.ending;
}

int shmemi_proxy_start(void)
{
    int rc = 0;
    pthread_mutex_lock(&proxy.starting);
    if (!proxy.runs &&
        (rc = shmemi_thread_start(&proxy.thread, "the thread for requests of streams", STACK, run, NULL)) == 0) {
        proxy.runs = true;
        atexit(end);
    }
    pthread_mutex_unlock(&proxy.starting);
    return rc;
}
