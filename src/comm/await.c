// SPDX-License-Identifier: Apache-2.0
// Waiting: never burns a core that somebody needs, and never outlives who it waits for.
#include "await.h"

#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "job/parts.h"
#include "wait.h"

enum {
    NAP_LIBRARY = 100000000, /* ns: the library's own writers wake; this only bounds how late a death is seen */
    NAP_USER_FIRST = 1000000,
    NAP_USER_LAST = 10000000, /* ns: a plain store wakes nobody, so sleeps on a user's word are short */
    SPIN_MOST = 200000,       /* ns */
    YIELD_MOST = 5000000,     /* ns: with many PEs a core each has to have its turn within this */
};

#define TELL_AFTER INT64_C(5000000000) /* ns that a wait lasts before anything is said of it */

/* --- deaths ----------------------------------------------------------------------------------------------------- */

static int check_peer(int pe, bool left_counts)
{
    const struct shmemi_member *member = &shmemi_current->slots[pe].member;
    if (shmemi_member_died(member)) {
        uint32_t none = 0;
        /* [first-dead] relaxed: only chooses whom a message names. */
        atomic_compare_exchange_strong_explicit(&shmemi_current->control->first_dead, &none, (uint32_t)pe + 1,
                                                memory_order_relaxed, memory_order_relaxed);
        return shmemi_fail(-EOWNERDEAD, "PE %d (pid %d) died, or ended without finalize", pe, (int)member->pid);
    }
    if (left_counts && shmemi_member_left(member))
        return shmemi_fail(-EOWNERDEAD, "PE %d (pid %d) has left the job", pe, (int)member->pid);
    return 0;
}

/* Whether the PE is in its last finalize, or beyond. */
static bool finishing(int pe)
{
    /* [finishing] acquire pairs with comm/finalize.c: what it did before is seen when done() is asked once more. */
    return atomic_load_explicit(&shmemi_current->slots[pe].finishing, memory_order_acquire);
}

static int check_releaser(int pe)
{
    return finishing(pe) ? shmemi_fail(-EDEADLK, "PE %d (pid %d) has called finalize and releases nothing any more", pe,
                                       (int)shmemi_current->slots[pe].member.pid)
                         : 0;
}

/* A wait for memory that every other PE can no longer change may still be ended by a thread of this PE, so it is only
   told of. */
static void tell_if_alone(void)
{
    const struct shmemi_job *job = shmemi_current;
    for (int pe = 0; pe < job->n; pe++)
        if (pe != job->me && !finishing(pe))
            return;
    if (job->n > 1)
        shmemi_warn("job", "PE %d waits for its memory to change, but all other PEs have called finalize", job->me);
}

int shmemi_check_peers(int pe, bool all_needed)
{
    const struct shmemi_job *job = shmemi_current;
    if (pe >= 0)
        return check_peer(pe, true);
    int here = 0, rc;
    uint32_t first = atomic_load_explicit(&job->control->first_dead, memory_order_relaxed); /* [first-dead] */
    if (first && first <= (uint32_t)job->n && (rc = check_peer((int)first - 1, false)) < 0)
        return rc;
    for (int p = 0; p < job->n; p++) {
        if ((rc = check_peer(p, all_needed)) < 0)
            return rc;
        here += p != job->me && !shmemi_member_left(&job->slots[p].member);
    }
    if (job->n > 1 && !here)
        return shmemi_fail(-EOWNERDEAD, "all other PEs have left the job");
    return 0;
}

/* --- sleeping --------------------------------------------------------------------------------------------------- */

/* The words to sleep on: the wait's own, and the alive words of as many PEs as fit; the rest is looked at after each
   nap. */
static unsigned gather(const struct shmemi_await *wait, _Atomic uint32_t *word, uint32_t value,
                       struct shmemi_futex *out)
{
    const struct shmemi_job *job = shmemi_current;
    unsigned count = 0;
    out[count++] = (struct shmemi_futex){.word = word, .value = value};
    for (int pe = wait->pe < 0 ? 0 : wait->pe; pe < job->n && count < SHMEMI_FUTEX_MOST; pe++) {
        struct shmemi_member *member = &job->slots[pe].member;
        uint32_t alive = atomic_load_explicit(&member->alive, memory_order_relaxed); /* the kernel compares again */
        if (pe != job->me && alive && !shmemi_member_died(member))
            out[count++] = (struct shmemi_futex){.word = &member->alive, .value = alive};
        if (wait->pe >= 0)
            break;
    }
    return count;
}

/* Makes the announcement of a sleeper visible to every PE's plain code, so that those need no fence. */
static void barrier_on_all_cores(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    atomic_thread_fence(
        memory_order_seq_cst); /* where membarrier is missing, the short nap covers what this does not */
}

static int sleep_until_done(const struct shmemi_await *wait)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_slot *own = &job->slots[job->me];
    bool user = !wait->word;
    _Atomic uint32_t *word = user ? &own->wake : wait->word;
    _Atomic uint32_t *sleepers = user ? &own->sleepers : wait->sleepers;
    int64_t nap = user ? NAP_USER_FIRST : NAP_LIBRARY, tell = shmemi_now() + TELL_AFTER;
    int rc = 0;
    if (sleepers)
        /* [user-sleep] and [sleep]: pairs with the look at this count after each store; sequentially consistent, so
           that either the writer sees the sleeper or the sleeper sees the store. */
        atomic_fetch_add_explicit(sleepers, 1, memory_order_seq_cst);
    /* [sleep] done() may look with less than that order: what it reads is what was stored before this, or later. */
    atomic_thread_fence(memory_order_seq_cst);
    if (user)
        barrier_on_all_cores();
    for (;;) {
        /* [sleep] read before done() is asked: a change after this makes the futex return at once. */
        uint32_t value = atomic_load_explicit(word, memory_order_seq_cst);
        if (wait->done(wait->argument))
            break;
        if ((rc = shmemi_check_peers(wait->pe, wait->all_needed)) < 0 ||
            (wait->needed && (rc = check_peer(wait->needed - 1, true)) < 0) ||
            (wait->releaser && (rc = check_releaser(wait->releaser - 1)) < 0))
            break;
        if ((rc = shmemi_interrupted()) < 0)
            break;
        int64_t now = shmemi_now();
        if (now >= wait->deadline) {
            rc = shmemi_fail(-ETIMEDOUT, "timed out");
            break;
        }
        if (user && now >= tell) {
            tell = INT64_MAX;
            tell_if_alone();
        }
        struct shmemi_futex words[SHMEMI_FUTEX_MOST];
        unsigned count = gather(wait, word, value, words);
        shmemi_futex_wait(words, count, now + nap < wait->deadline ? now + nap : wait->deadline);
        if (user && nap < NAP_USER_LAST)
            nap += nap / 2;
    }
    if (sleepers)
        atomic_fetch_sub_explicit(sleepers, 1, memory_order_relaxed); /* a wake too many does no harm */
    if ((rc == -EOWNERDEAD || rc == -EDEADLK) && wait->done(wait->argument))
        return 0; /* what was waited for came before the death, or the finalize */
    return rc;
}

/* Asks again and again, with pause() in between, for as long as `turns` of it or `ns` may take, whichever is less:
   other processes may run during a yield, and a question may be slow. */
static bool ask_often(const struct shmemi_await *wait, int turns, int64_t ns, void (*pause)(void))
{
    enum { LOOK_AT_CLOCK = 16 };
    int64_t end = 0;
    for (int i = 1; i <= turns; i++) {
        if (wait->done(wait->argument))
            return true;
        pause();
        if (i % LOOK_AT_CLOCK)
            continue;
        int64_t now = shmemi_now();
        if (!end)
            end = now + ns < wait->deadline ? now + ns : wait->deadline;
        else if (now >= end)
            return false;
    }
    return false;
}

static void relax(void)
{
    shmemi_cpu_relax();
}

static void yield(void)
{
    sched_yield();
}

int shmemi_await(const struct shmemi_await *wait)
{
    const struct shmemi_job_parts *parts = shmemi_current->parts;
    if (ask_often(wait, parts->spins, SPIN_MOST, relax) || ask_often(wait, parts->yields, YIELD_MOST, yield))
        return 0;
    return sleep_until_done(wait);
}

void shmemi_wake(int pe)
{
    struct shmemi_slot *slot = &shmemi_current->slots[pe];
    /* [user-sleep] the sleeper reads this word before it looks at its condition. */
    atomic_fetch_add_explicit(&slot->wake, 1, memory_order_seq_cst);
    shmemi_futex_wake(&slot->wake, INT_MAX);
}
