// SPDX-License-Identifier: Apache-2.0
// Barriers on streams have words of their own: one a PE, which counts the barriers that its streams have come to. So
// they are never mixed up with those that threads call at the same time.
#include "on_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "await.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "job/parts.h"
#include "order.h"
#include "wait.h"

/* --- the job ------------------------------------------------------------------------------------------------------ */

static void end_requests(void)
{
    shmemi_requests_cancel(-ECANCELED, "this PE has left the job");
    shmemi_requests_watch(NULL, NULL, NULL);
}

int shmemi_stream_join(void)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_job_parts *parts = job->parts;
    struct shmemi_slot *own;
    if (job->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    own = &job->slots[job->me];
    pthread_mutex_lock(&parts->lock);
    if (!parts->end_requests) {
        shmemi_requests_watch(&own->wake, &own->sleepers, shmemi_sleeper_announced);
        parts->end_requests = end_requests;
    }
    pthread_mutex_unlock(&parts->lock);
    return 0;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* Whether what this PE's streams wait for can still come, is a question to all PEs: each of them may have only such
   streams. Each says how often it has looked at its own since one of them went on. When all of them have said so, and
   after that each has looked once more from beginning to end, and nothing has gone on, then nothing will. */
struct vigil {
    uint64_t own;
    bool begun;
    uint64_t seen[]; /* by PE, when all had said so */
};

static uint32_t looks(uint64_t idle)
{
    return (uint32_t)idle;
}

static void tell(struct vigil *v, bool idle)
{
    v->own = idle ? v->own + 1 : ((v->own >> 32) + 1) << 32;
    v->begun = v->begun && idle;
    /* [stream-idle] sequentially consistent: after all that the look found, and did. */
    atomic_store_explicit(&shmemi_current->slots[shmemi_current->me].stream_idle, v->own, memory_order_seq_cst);
}

/* Of a PE that does nothing any more. That it came there is something that went on. */
#define IDLE_FOR_EVER UINT64_MAX

static uint64_t idle_of(int pe)
{
    if (shmemi_finishing(pe))
        return IDLE_FOR_EVER;
    return atomic_load_explicit(&shmemi_current->slots[pe].stream_idle, memory_order_seq_cst); /* [stream-idle] */
}

/* Whether a PE is in its last finalize, with nothing pending: its streams come to no barrier any more. */
static bool has_ended(int pe)
{
    return idle_of(pe) == IDLE_FOR_EVER;
}

/* Whether the PE has looked a whole time since `seen`; *same: and nothing went on, as far as that can be told yet. */
static bool has_looked(uint64_t idle, uint64_t seen, bool *same)
{
    enum { ONE_WHOLE = 2 }; /* the first look may have begun before */
    *same = looks(idle) && idle >> 32 == seen >> 32;
    return *same && (idle == IDLE_FOR_EVER || idle >= seen + ONE_WHOLE);
}

static bool is_hopeless(struct vigil *v)
{
    bool all = v->begun, same = true;
    for (int pe = 0; same && pe < shmemi_current->n; pe++) {
        uint64_t idle = idle_of(pe);
        if (!v->begun)
            v->seen[pe] = idle;
        all = has_looked(idle, v->seen[pe], &same) && all;
    }
    v->begun = same;
    return all && same;
}

static int drain(struct vigil *v)
{
    enum { LOOK_AGAIN = 500 /* us */ };
    size_t near;
    int rc = 0;
    while (shmemi_requests_pending(&near) && (rc = shmemi_interrupted()) == 0) {
        tell(v, near == 0);
        if (near == 0 && is_hopeless(v))
            shmemi_requests_cancel(-EDEADLK, "all PEs have called finalize, and nobody changes the word any more for "
                                             "which the stream waits");
        usleep(LOOK_AGAIN);
    }
    return rc;
}

static int await_pending(void)
{
    size_t near;
    if (!shmemi_current->parts->end_requests || !shmemi_requests_pending(&near))
        return 0;
    struct vigil *v = calloc(1, sizeof *v + (size_t)shmemi_current->n * sizeof v->seen[0]);
    int rc = v ? drain(v) : shmemi_fail(-ENOMEM, "no memory to wait for what is pending on streams");
    free(v);
    return rc;
}

int shmemi_streams_drain(void)
{
    int rc = await_pending();
    /* [stream-idle] told before anything else of finalize that waits for PEs: they may be in their drain(), waiting for
       this. */
    if (rc == 0)
        atomic_store_explicit(&shmemi_current->slots[shmemi_current->me].stream_idle, IDLE_FOR_EVER,
                              memory_order_seq_cst);
    return rc;
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

struct barrier {
    struct shmemi_request request;
    uint64_t round; /* of all that this PE has queued, from 1 */
    int next;       /* PEs before this one have come */
    bool arrived;
};

static uint64_t round_of(int pe)
{
    /* [stream-round] acquire pairs with the store in arrive(): what the PE's stream did before is done. */
    return atomic_load_explicit(&shmemi_current->slots[pe].stream_round, memory_order_acquire);
}

static uint64_t broken_of(int pe)
{
    return atomic_load_explicit(&shmemi_current->slots[pe].stream_broken, memory_order_acquire); /* likewise */
}

static void wake_all(void)
{
    for (int pe = 0; pe < shmemi_current->n; pe++)
        shmemi_stored(pe);
}

static void arrive(struct barrier *b)
{
    /* [stream-round] publishes what this PE has done; [user-sleep] sequentially consistent beside the look at sleepers.
     */
    atomic_store_explicit(&shmemi_current->slots[shmemi_current->me].stream_round, b->round, memory_order_seq_cst);
    b->arrived = true;
    wake_all();
}

static bool all_have_come(struct barrier *b)
{
    while (b->next < shmemi_current->n && round_of(b->next) >= b->round)
        b->next++;
    return b->next == shmemi_current->n;
}

/* Why the barrier cannot be any more, or 0. */
static int why_never(struct barrier *b)
{
    for (int pe = b->next; pe < shmemi_current->n; pe++) {
        uint64_t broken = broken_of(pe);
        bool left_out = pe != shmemi_current->me && has_ended(pe);
        if (round_of(pe) >= b->round)
            continue;
        if (broken && broken <= b->round)
            return shmemi_fail(-ECANCELED, "barrier on a stream: a stream of PE %d failed before it came there", pe);
        if (left_out)
            return shmemi_fail(-EDEADLK, "barrier on a stream: PE %d (pid %d) has called finalize and comes to none",
                               pe, (int)shmemi_current->slots[pe].member.pid);
    }
    return shmemi_check_peers(-1, true);
}

static int look_barrier(struct shmemi_request *request, enum shmemi_look how)
{
    struct barrier *b = (struct barrier *)request;
    int me = shmemi_current->me;
    if (how == SHMEMI_LOOK_EARLY)
        return 0;
    if (!b->arrived && broken_of(me))
        return shmemi_fail(-ECANCELED, "barrier on a stream: an earlier one failed");
    if (!b->arrived && round_of(me) + 1 < b->round) /* that one is on another stream, and comes first */
        return 0;
    if (!b->arrived)
        arrive(b);
    if (all_have_come(b))
        return 1;
    int rc = how == SHMEMI_LOOK_CLOSELY ? why_never(b) : 0;
    return rc < 0 && all_have_come(b) ? 1 : rc;
}

/* One that does not take place is the last: what the PEs count would not agree any more. */
static void drop_barrier(struct shmemi_request *request, bool done)
{
    struct barrier *b = (struct barrier *)request;
    struct shmemi_slot *own = &shmemi_current->slots[shmemi_current->me];
    uint64_t none = 0;
    if (!done) {
        atomic_compare_exchange_strong_explicit(&own->stream_broken, &none, b->arrived ? b->round + 1 : b->round,
                                                memory_order_seq_cst, memory_order_seq_cst); /* as arrive() */
        wake_all();
    }
    free(b);
}

/* Numbers it and queues it. What the driver was given half of has failed its stream, and so the barriers of all; else
   there was none. One thread of a PE at a time, as for all collectives. */
static int queue_barrier(struct shmemi_stream *stream, struct barrier *b)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    pthread_mutex_lock(&parts->lock);
    b->round = ++parts->stream_rounds;
    pthread_mutex_unlock(&parts->lock);
    int rc = shmemi_request_queue(stream, &b->request);
    if (rc == 0)
        return 0;
    if (shmemi_stream_check(stream) < 0) {
        drop_barrier(&b->request, false);
        return rc;
    }
    pthread_mutex_lock(&parts->lock);
    parts->stream_rounds--;
    pthread_mutex_unlock(&parts->lock);
    free(b);
    return rc;
}

int shmemi_barrier_on(struct shmemi_stream *stream)
{
    int rc = shmemi_stream_join();
    if (rc < 0 || (rc = shmemi_stream_check(stream)) < 0)
        return rc;
    if (broken_of(shmemi_current->me))
        return shmemi_fail(-EPIPE, "barriers on streams no longer work, because an earlier one failed");
    struct barrier *b = malloc(sizeof *b);
    if (!b)
        return shmemi_fail(-ENOMEM, "no memory for a barrier on a stream");
    *b = (struct barrier){
        .request = {.look = look_barrier, .drop = drop_barrier, .holds = true, .waits = true},
    };
    return queue_barrier(stream, b);
}

/* --- quiet -------------------------------------------------------------------------------------------------------- */

/* The stream has come here, and its requests before this one are over: that is all, but for what other threads did. */
static int look_quiet(struct shmemi_request *request, enum shmemi_look how)
{
    (void)request;
    if (how == SHMEMI_LOOK_EARLY)
        return 0;
    shmemi_quiet();
    return 1;
}

static void drop_quiet(struct shmemi_request *request, bool done)
{
    (void)done;
    free(request);
}

int shmemi_quiet_on(struct shmemi_stream *stream)
{
    struct shmemi_request *request = malloc(sizeof *request);
    int rc = request ? shmemi_stream_join() : shmemi_fail(-ENOMEM, "no memory for a request of a stream");
    if (rc == 0) {
        *request = (struct shmemi_request){.look = look_quiet, .drop = drop_quiet, .holds = true};
        rc = shmemi_request_queue(stream, request);
    }
    if (rc < 0)
        free(request);
    return rc;
}
