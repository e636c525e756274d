// SPDX-License-Identifier: Apache-2.0
// Events of regions, and puts into whatever region the target waits in.
//
// A PE that waits for a write offers its region: `offer` in its slot becomes the region's number + 1. PEs that want to
// put there stand in line: `putting_to` says for whom, `stamp` (from the target's counter) when they came. The first in
// line among the living claims the offer by writing its own number into the upper bits, copies, counts the event, and
// clears the offer. The dead need no removal: they are skipped when looking who is first, and a claim of a dead PE is
// withdrawn by the waiting one.
//
//   offer   63          48 47                     0
//           |  PE + 1     |   region number + 1    |      0: nothing offered; upper part 0: not claimed
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"
#include "base/futex.h"
#include "region.h"
#include "wait.h"

#define NUMBER_MASK (((uint64_t)1 << 48) - 1)
#define STAMP_PENDING UINT64_MAX /* in line, its place not known yet */

static void ring(struct shmemi_slot *slot)
{
    /* [line] those in line announce themselves before they look at the offer: both sides sequentially consistent. */
    atomic_fetch_add_explicit(&slot->line_word, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&slot->line_sleepers, memory_order_seq_cst))
        shmemi_futex_wake(&slot->line_word, INT_MAX);
}

/* --- the waiting side ----------------------------------------------------------------------------------------------
 */

struct event_wait {
    struct shmemi_region *region;
    shmemx_region_t handle;
    int which;
    bool offers;           /* may offer its region to puts without a target, */
    bool offering;         /* and does; one thread of a process at a time */
    bool closing, refused; /* refused: only what is offered can be */
};

/* Takes one event if there is one that nobody took. */
static bool take(const _Atomic uint64_t *happened, _Atomic uint64_t *taken)
{
    uint64_t seen = atomic_load_explicit(taken, memory_order_relaxed); /* checked by the exchange */
    /* [event] acquire pairs with the counting of the event: the data is there. */
    while (seen != atomic_load_explicit(happened, memory_order_acquire))
        if (atomic_compare_exchange_weak_explicit(taken, &seen, seen + 1, memory_order_acq_rel, memory_order_relaxed))
            return true;
    return false;
}

/* Offers the region, unless another thread of this process offers one just now. */
static void try_to_offer(struct event_wait *w)
{
    struct shmemi_slot *own = &shmemi_current->slots[w->region->owner];
    bool nobody = false;
    /* [offering] acquire pairs with the release in finish(): the words of the slot are this thread's. */
    w->offering = atomic_compare_exchange_strong_explicit(&shmemi_current->parts->regions->offering, &nobody, true,
                                                          memory_order_acquire, memory_order_relaxed);
    if (!w->offering)
        return;
    atomic_store_explicit(&own->refused, 0, memory_order_relaxed); /* nothing is offered yet */
    /* [offer] release: what this PE wrote before, and `refused`; pairs with the look and the claim in claimed(). */
    atomic_store_explicit(&own->offer, w->region->number + 1, memory_order_seq_cst);
    ring(own);
}

static bool event_done(void *argument)
{
    struct event_wait *w = argument;
    struct shmemi_region *r = w->region;
    if (w->which & SHMEMX_EVENT_WRITE && take(&r->entry->writes, &r->writes_taken))
        return true;
    if (w->which & SHMEMX_EVENT_READ && take(&r->entry->reads, &r->reads_taken))
        return true;
    w->closing = shmemi_handle_closing(w->handle);
    if (w->offers && !w->offering)
        try_to_offer(w);
    /* [refused] acquire pairs with the release in refuse(). */
    w->refused =
        w->offering && atomic_load_explicit(&shmemi_current->slots[r->owner].refused, memory_order_acquire) != 0;
    return w->closing || w->refused;
}

/* Whether PE `claimer` - 1 is putting here now. It says so before it claims, and until it has cleared the claim; so a
   claim of one that does not, because it died, left, or never made it, counts for nothing. */
static bool is_putting(uint64_t claimer)
{
    const struct shmemi_job *job = shmemi_current;
    if (!claimer || claimer > (uint64_t)job->n)
        return false;
    const struct shmemi_slot *slot = &job->slots[claimer - 1];
    /* [place] acquire pairs with the store in try_to_stand(). */
    return atomic_load_explicit(&slot->putting_to, memory_order_acquire) == (uint32_t)job->me + 1 &&
           !shmemi_member_died(&slot->member) && !shmemi_member_left(&slot->member);
}

/* Takes the offer back. A claimed one is left to the claimer while that is putting; true when the offer is gone. */
static bool withdrawn(struct shmemi_slot *own)
{
    /* [offer] acquire: pairs with the claim, and with its end in shmemi_put_to_waiting(): what was put is there. */
    uint64_t offer = atomic_load_explicit(&own->offer, memory_order_acquire);
    if (!offer)
        return true;
    if (is_putting(offer >> 48))
        return false;
    return atomic_compare_exchange_strong_explicit(&own->offer, &offer, 0, memory_order_acq_rel, memory_order_acquire);
}

/* Ends the offer. A put that is being made ends by itself, or with its PE's death: this waits for nothing else, and
   nothing else ends it, because the caller's memory is being written. */
static int finish(struct event_wait *w, int rc)
{
    struct shmemi_slot *own = &shmemi_current->slots[w->region->owner];
    while (!withdrawn(own))
        usleep(20);
    uint64_t bytes = atomic_exchange_explicit(&own->refused, 0, memory_order_acq_rel);             /* [refused] */
    atomic_store_explicit(&shmemi_current->parts->regions->offering, false, memory_order_release); /* [offering] */
    ring(own);
    if (rc == 0 && w->refused)
        return shmemi_fail(-EMSGSIZE, "a put ends at byte %llu of the waiting region, but it has %zu bytes",
                           (unsigned long long)bytes, w->region->size);
    return rc;
}

int shmemi_region_wait_event(struct shmemi_region *own, shmemx_region_t handle, int which, double timeout)
{
    struct event_wait w = {.region = own, .handle = handle, .which = which};
    if (own->owner != shmemi_current->me)
        return shmemi_fail(-EINVAL, "region: it is one of PE %d, but only an own region can be waited on", own->owner);
    if (!own->entry)
        return shmemi_fail(-EINVAL, "region: a symmetric object has no events; register it, or wait for a value");
    if (which < SHMEMX_EVENT_WRITE || which > SHMEMX_EVENT_ANY)
        return shmemi_fail(-EINVAL, "which is %d, but must be SHMEMX_EVENT_WRITE, _READ or _ANY", which);
    if (event_done(&w) && !w.closing)
        return 0;
    w.offers = which & SHMEMX_EVENT_WRITE && shmemi_current->n > 1;
    struct shmemi_await wait = {.done = event_done, .argument = &w, .pe = -1, .deadline = shmemi_deadline(timeout)};
    int rc = shmemi_await(&wait);
    if (w.offering)
        rc = finish(&w, rc);
    if (rc == 0 && w.closing)
        return shmemi_fail(-ENOENT, "region: it was deregistered during the wait");
    if (rc == -ETIMEDOUT)
        return shmemi_fail(rc, "no %s came within %g seconds",
                           which == SHMEMX_EVENT_WRITE  ? "put"
                           : which == SHMEMX_EVENT_READ ? "get"
                                                        : "put or get",
                           timeout);
    return rc;
}

/* --- the putting side ----------------------------------------------------------------------------------------------
 */

struct line {
    struct shmemi_slot *target;
    bool standing; /* one thread of a process at a time */
    int pe;
    uint64_t stamp;
    uint64_t claimed; /* the offer, once it is ours */
    int64_t look_for_ring;
    bool deadlock;
};

static bool first_in_line(const struct line *l)
{
    const struct shmemi_job *job = shmemi_current;
    for (int p = 0; p < job->n; p++) {
        const struct shmemi_slot *slot = &job->slots[p];
        /* [place] acquire pairs with the stores in try_to_stand(): `putting_to` first, then the stamp. */
        if (p == job->me || atomic_load_explicit(&slot->putting_to, memory_order_acquire) != (uint32_t)l->pe + 1 ||
            shmemi_member_died(&slot->member))
            continue;
        uint64_t stamp = atomic_load_explicit(&slot->stamp, memory_order_seq_cst);
        if (stamp < l->stamp || stamp == STAMP_PENDING)
            return false;
    }
    return true;
}

/* Whether the target stands in line for this PE, itself or through others who do. */
static bool goes_round(const struct line *l)
{
    const struct shmemi_job *job = shmemi_current;
    int at = l->pe;
    for (int steps = 0; steps < job->n; steps++) {
        uint32_t next = atomic_load_explicit(&job->slots[at].putting_to, memory_order_acquire); /* [place] */
        if (!next || next > (uint32_t)job->n)
            return false;
        at = (int)next - 1;
        if (at == job->me)
            return true;
    }
    return false;
}

/* Tells everybody else in the ring, because this PE is about to leave it. */
static void tell_ring(const struct line *l)
{
    const struct shmemi_job *job = shmemi_current;
    int at = l->pe;
    for (int steps = 0; at != job->me && steps < job->n; steps++) {
        struct shmemi_slot *slot = &job->slots[at];
        atomic_store_explicit(&slot->told, 1, memory_order_seq_cst);                   /* [told] */
        uint32_t next = atomic_load_explicit(&slot->putting_to, memory_order_acquire); /* [place] */
        if (!next || next > (uint32_t)job->n)
            return;
        ring(&job->slots[next - 1]); /* it sleeps at its target's line */
        at = (int)next - 1;
    }
}

/* A ring of puts that stands for a while is no passing state. */
static bool deadlocked(struct line *l)
{
    struct shmemi_slot *own = &shmemi_current->slots[shmemi_current->me];
    if (atomic_load_explicit(&own->told, memory_order_seq_cst)) /* [told] */
        return true;
    if (!goes_round(l)) {
        l->look_for_ring = 0;
        return false;
    }
    int64_t now = shmemi_now();
    if (!l->look_for_ring)
        l->look_for_ring = now;
    if (now - l->look_for_ring < 300000000)
        return false;
    tell_ring(l);
    return true;
}

/* Takes a place in line, unless another thread of this process stands in one just now. */
static void try_to_stand(struct line *l)
{
    struct shmemi_slot *own = &shmemi_current->slots[shmemi_current->me];
    bool nobody = false;
    /* [standing] acquire pairs with the release in leave_line(): the words of the slot are this thread's. */
    l->standing = atomic_compare_exchange_strong_explicit(&shmemi_current->parts->regions->standing, &nobody, true,
                                                          memory_order_acquire, memory_order_relaxed);
    if (!l->standing)
        return;
    atomic_store_explicit(&own->told, 0, memory_order_relaxed);              /* ordered by the next but one, */
    atomic_store_explicit(&own->stamp, STAMP_PENDING, memory_order_relaxed); /* and so is this */
    atomic_store_explicit(&own->putting_to, (uint32_t)l->pe + 1, memory_order_seq_cst); /* [place] */
    l->stamp = atomic_fetch_add_explicit(&l->target->stamps, 1, memory_order_seq_cst);
    /* [place] sequentially consistent, as are the looks at offer and stamp of others: one that came before, found an
       offer and met STAMP_PENDING, may sleep by now. */
    atomic_store_explicit(&own->stamp, l->stamp, memory_order_seq_cst);
    uint64_t offer = atomic_load_explicit(&l->target->offer, memory_order_seq_cst);
    if (offer && !(offer >> 48))
        ring(l->target);
}

static void leave_line(const struct line *l)
{
    if (!l->standing)
        return;
    atomic_store_explicit(&shmemi_current->slots[shmemi_current->me].putting_to, 0, memory_order_seq_cst); /* [place] */
    atomic_store_explicit(&shmemi_current->parts->regions->standing, false, memory_order_release); /* [standing] */
    ring(l->target);
}

static bool claimed(void *argument)
{
    struct line *l = argument;
    if (!l->standing)
        try_to_stand(l);
    if (!l->standing)
        return false;
    uint64_t offer = atomic_load_explicit(&l->target->offer, memory_order_seq_cst); /* [offer] */
    if (!offer || offer >> 48) {
        l->deadlock = deadlocked(l);
        return l->deadlock;
    }
    if (!first_in_line(l))
        return false;
    uint64_t mine = offer | (uint64_t)(shmemi_current->me + 1) << 48;
    /* [offer] acquire: what the waiting PE wrote before it made the offer; release: one that looks at the claim finds
       our place in the line left. */
    if (!atomic_compare_exchange_strong_explicit(&l->target->offer, &offer, mine, memory_order_acq_rel,
                                                 memory_order_acquire))
        return false;
    l->claimed = mine;
    return true;
}

static int refuse(struct line *l, size_t end, size_t room)
{
    /* [refused] release: pairs with the acquire in event_done(). */
    atomic_store_explicit(&l->target->refused, end ? end : 1, memory_order_release);
    return shmemi_fail(-EMSGSIZE, "the put ends at byte %zu, but the region that PE %d waits in has %zu bytes", end,
                       l->pe, room);
}

static int put_claimed(struct line *l, size_t offset, const void *source, size_t size)
{
    shmemx_region_t handle;
    struct shmemi_region *r;
    size_t end;
    int rc = shmemi_region_find(l->pe, NULL, (l->claimed & NUMBER_MASK) - 1, 1.0, &handle);
    if (rc < 0 || (rc = shmemi_handle_hold(handle, &r)) < 0)
        return rc;
    if (shmemi_add_overflows(offset, size, &end))
        end = SIZE_MAX;
    if (end > r->size)
        rc = refuse(l, end, r->size);
    else
        rc = shmemi_region_put(r, offset, source, size);
    shmemi_handle_drop(handle);
    shmemi_region_close(handle);
    return rc;
}

static int stand(struct line *l, double timeout)
{
    struct shmemi_await wait = {.done = claimed,
                                .argument = l,
                                .word = &l->target->line_word,
                                .sleepers = &l->target->line_sleepers,
                                .pe = l->pe,
                                .deadline = shmemi_deadline(timeout)};
    int rc = shmemi_await(&wait);
    if (rc == 0 && l->deadlock)
        rc = shmemi_fail(-EDEADLK,
                         "PE %d stands in line with a put of its own that only PE %d (or who waits for it) could "
                         "receive: nobody waits for either",
                         l->pe, shmemi_current->me);
    if (rc == -ETIMEDOUT)
        shmemi_fail(rc, "PE %d waited in no region within %g seconds", l->pe, timeout);
    return rc;
}

int shmemi_put_to_waiting(int pe, size_t offset, const void *source, size_t size, double timeout)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_regions *all = NULL;
    int rc = shmemi_regions_get(&all);
    if (rc < 0)
        return rc;
    if (pe < 0 || pe >= job->n)
        return shmemi_fail(-EINVAL, "pe is %d, but the job has PEs 0 to %d", pe, job->n - 1);
    if (pe == job->me)
        return shmemi_fail(-EINVAL, "pe is %d, this PE itself: it cannot wait and put at the same time", pe);
    struct line l = {.target = &job->slots[pe], .pe = pe};
    rc = stand(&l, timeout);
    if (rc == 0) {
        rc = put_claimed(&l, offset, source, size);
        /* [offer] release: the event, or the refusal, is there before the offer goes. */
        uint64_t mine = l.claimed;
        uint64_t left =
            rc < 0 && rc != -EMSGSIZE ? mine & NUMBER_MASK : 0; /* a put that failed here leaves it to the next */
        atomic_compare_exchange_strong_explicit(&l.target->offer, &mine, left, memory_order_acq_rel,
                                                memory_order_relaxed);
        shmemi_wake(pe);
    }
    leave_line(&l);
    return rc;
}
