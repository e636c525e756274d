// SPDX-License-Identifier: Apache-2.0
// Flushing by time: a timer that the process's service thread listens to, running only while something is gathered. It
// looks twice within flush_seconds, and moves in what was there the last time.
#include "queue_internal.h"

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/service.h"

enum { PERIOD_LEAST = 500000 };

/* The process's. */
static struct {
    pthread_mutex_t lock; /* starting and ending; not taken by the service thread */
    struct shmemi_service *service;
    unsigned users;
    int fd;
    _Atomic bool running;   /* the timer is set, or its time has come just now */
    _Atomic int64_t period; /* the shortest that is needed */
} timer = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

struct tick {
    int64_t now;
    bool gathered;
};

static int look(struct shmemi_queue *q, struct shmemi_queue_producer *p, void *context)
{
    struct tick *tick = context;
    /* relaxed, both: looked at again with the bias */
    if (!q->shape.config.flush_ns || !shmemi_queue_exists(q) || !atomic_load_explicit(&p->count, memory_order_relaxed))
        return 0;
    uint32_t batch = atomic_load_explicit(&p->gathered, memory_order_relaxed);
    tick->gathered = true;
    if (batch != p->looked || !p->looked_at) {
        p->looked = batch;
        p->looked_at = tick->now;
    } else if (tick->now - p->looked_at >= q->shape.config.flush_ns / 2 - PERIOD_LEAST && shmemi_bias_try(&p->bias)) {
        shmemi_queue_move_in(q, p); /* what does not fit is tried again */
        shmemi_bias_give(&p->bias);
        p->looked_at = 0;
    }
    return 0;
}

static void set_timer(void)
{
    int64_t period = atomic_load_explicit(&timer.period, memory_order_relaxed); /* any that is or was */
    struct itimerspec once = {.it_value = shmemi_timespec(period)};
    timerfd_settime(timer.fd, 0, &once, NULL);
}

/* Called by the service thread when the time has come: as if somebody wanted to connect, but nobody does. */
static int on_time(int fd, int *none)
{
    uint64_t times;
    (void)none;
    if (read(fd, &times, sizeof times) != sizeof times)
        return -EAGAIN;
    struct tick tick = {.now = shmemi_now()};
    shmemi_queue_each(NULL, look, &tick);
    if (!tick.gathered) {
        /* [running] relaxed: the fence orders it before the loads of counts; pairs with shmemi_queue_clock_begin(). */
        atomic_store_explicit(&timer.running, false, memory_order_relaxed);
        shmemi_fence_heavy();
        shmemi_queue_each(NULL, look, &tick);
    }
    if (tick.gathered) {
        atomic_store_explicit(&timer.running, true, memory_order_relaxed); /* [running] setting it twice does no harm */
        set_timer();
    }
    return -EAGAIN;
}

static void no_answer(void *context, int socket)
{
    (void)context;
    (void)socket;
}

static void start(void)
{
    pthread_mutex_lock(&timer.lock);
    if (!timer.service) {
        timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        int rc = timer.fd < 0 ? shmemi_fail_errno("timerfd_create")
                              : shmemi_service_listen(timer.fd, on_time, no_answer, NULL, &timer.service);
        if (rc < 0) {
            shmemi_warn("queue", "no flushing by time: %s", shmemi_last_error());
            if (timer.fd >= 0)
                close(timer.fd);
            timer.fd = -1;
        }
    }
    if (timer.service)
        set_timer();
    pthread_mutex_unlock(&timer.lock);
}

void shmemi_queue_clock_begin(const struct shmemi_queue *q)
{
    shmemi_fence_light(); /* after the count, before `running`; pairs with the heavy one in on_time() */
    if (shmemi_likely(atomic_load_explicit(&timer.running, memory_order_relaxed))) /* the fence orders it */
        return;
    int64_t half = q->shape.config.flush_ns / 2, period = half > PERIOD_LEAST ? half : PERIOD_LEAST;
    int64_t before = atomic_load_explicit(&timer.period, memory_order_relaxed); /* any that is or was */
    if (before == 0 || before > period)
        atomic_store_explicit(&timer.period, period, memory_order_relaxed);
    if (!atomic_exchange_explicit(&timer.running, true, memory_order_relaxed)) /* one sets it */
        start();
}

void shmemi_queue_clock_forget(void)
{
    if (timer.service)
        shmemi_service_forget(timer.service); /* closes the descriptor */
    timer.service = NULL;
    timer.fd = -1;
    atomic_store_explicit(&timer.running, false, memory_order_relaxed); /* there is one thread */
    pthread_mutex_init(&timer.lock, NULL);
}

void shmemi_queue_clock_use(void)
{
    pthread_mutex_lock(&timer.lock);
    timer.users++;
    pthread_mutex_unlock(&timer.lock);
}

void shmemi_queue_clock_unuse(void)
{
    pthread_mutex_lock(&timer.lock);
    if (--timer.users == 0) {
        shmemi_service_stop(timer.service); /* closes the descriptor */
        timer.service = NULL;
        timer.fd = -1;
        atomic_store_explicit(&timer.running, false, memory_order_relaxed); /* no handle, nobody gathers */
        atomic_store_explicit(&timer.period, 0, memory_order_relaxed);
    }
    pthread_mutex_unlock(&timer.lock);
}
