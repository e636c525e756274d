// SPDX-License-Identifier: Apache-2.0
// A queue of PEs. Every PE's copy of the long says where that PE stands; the copy on the lock's home also names the
// last in line. Who wants the lock becomes the last and tells the one before, who passes the lock on directly: each
// waiter looks at its own copy only, and only one is woken.
#include "lock.h"

#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include "address.h"
#include "await.h"
#include "base/clock.h"
#include "base/futex.h"
#include "job/parts.h"
#include "order.h"

/* The parts of a copy. PEs are stored as PE + 1. The thread is the one of this PE that waits or holds. */
#define NEXT_MASK 0xffffull /* who comes after this PE */
#define TAIL_SHIFT 16       /* on the home: the last in line; 0: the lock is free */
#define TAIL_MASK (0xffffull << TAIL_SHIFT)
#define WAITING (1ull << 32)
#define HOLDING (1ull << 33)
#define THREAD_SHIFT 40
#define OWN (NEXT_MASK | WAITING | HOLDING | ~0ull << THREAD_SHIFT) /* all that is about this PE */
#define UNUSED (~(OWN | TAIL_MASK))
_Static_assert(SHMEMI_PES_MOST < 0xffff, "a PE fits its field");

struct lock {
    const char *fn;
    long *address;
    uint64_t *own, *home;
    uint64_t mine; /* this PE + 1 */
};

/* Every atomic below is sequentially consistent. [lock]: passing on pairs with seeing HOLDING, giving the tail back
   with taking it, so the next holder sees what the last one did. [sleep]: a change comes before the look at sleepers
   in wake(), and the sleeper's announcement before its look at the word. */
static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Replaces the bits of mask; returns the whole old word. */
static uint64_t change(uint64_t *word, uint64_t mask, uint64_t bits)
{
    uint64_t old = load(word);
    while (!__atomic_compare_exchange_n(word, &old, (old & ~mask) | bits, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return old;
}

/* The same, if they are `expected` now. */
static bool change_if(uint64_t *word, uint64_t mask, uint64_t expected, uint64_t bits)
{
    uint64_t old = load(word);
    do
        if ((old & mask) != expected)
            return false;
    while (!__atomic_compare_exchange_n(word, &old, (old & ~mask) | bits, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return true;
}

static _Noreturn void no_lock(const struct lock *l, uint64_t word)
{
    shmemi_die(
        l->fn,
        "lock is %p, which holds %#llx and is no lock: it must be 0 on all PEs before its first use, and changed "
        "by nothing else",
        (void *)l->address, (unsigned long long)word);
}

/* The home follows from the place in the symmetric memory, which is the same on every PE. */
static int home_of(const long *address)
{
    const struct shmemi_job *job = shmemi_current;
    size_t in_heap = (uintptr_t)address - (uintptr_t)job->heap;
    size_t offset = in_heap < job->heap_size ? in_heap : (uintptr_t)address - (uintptr_t)job->parts->static_data;
    return (int)(offset / sizeof(long) % (size_t)job->n);
}

static uint64_t *copy_at(const struct lock *l, int pe)
{
    return shmemi_remote(l->fn, "lock", l->address, sizeof(long), pe);
}

static struct lock open_lock(const char *fn, long *address)
{
    struct lock l = {.fn = fn, .address = address, .mine = (uint64_t)shmemi_current->me + 1};
    l.own = copy_at(&l, shmemi_current->me);
    if ((uintptr_t)address % sizeof(long))
        shmemi_die(fn, "lock is %p, which is not aligned to the 8 bytes of a long", (void *)address);
    l.home = copy_at(&l, home_of(address));
    uint64_t word = load(l.own), next = word & NEXT_MASK, tail = (word & TAIL_MASK) >> TAIL_SHIFT;
    uint64_t most = (uint64_t)shmemi_current->n;
    if ((word & UNUSED) || next > most || tail > most || (tail && l.home != l.own) ||
        (!(word & (WAITING | HOLDING)) && (word & OWN)))
        no_lock(&l, word);
    return l;
}

static void wake(int pe)
{
    struct shmemi_slot *slot = &shmemi_current->slots[pe];
    if (atomic_load_explicit(&slot->arrival_sleepers, memory_order_seq_cst)) { /* [sleep] */
        atomic_fetch_add_explicit(&slot->arrival_wake, 1, memory_order_seq_cst);
        shmemi_futex_wake(&slot->arrival_wake, INT_MAX);
    }
}

/* Waits for this PE's own copy, for as long as a PE may change it (releaser: 1 + that PE, or 0). */
static void wait_for(const struct lock *l, bool (*done)(void *), int releaser)
{
    struct shmemi_slot *slot = &shmemi_current->slots[shmemi_current->me];
    struct shmemi_await wait = {.done = done,
                                .argument = l->own,
                                .word = &slot->arrival_wake,
                                .sleepers = &slot->arrival_sleepers,
                                .pe = -1,
                                .releaser = releaser,
                                .deadline = SHMEMI_NO_DEADLINE};
    if (!done(l->own))
        shmemi_require(l->fn, shmemi_await(&wait));
}

static bool holding(void *own)
{
    return load(own) & HOLDING;
}

static bool unused_here(void *own)
{
    return !(load(own) & (WAITING | HOLDING));
}

static bool has_next(void *own)
{
    return load(own) & NEXT_MASK;
}

static uint64_t this_thread(void)
{
    static _Thread_local uint64_t thread;
    static _Thread_local int process; /* a forked child's thread is another one */
    int now = (int)getpid();
    if (process != now) {
        process = now;
        thread = (uint64_t)gettid() << THREAD_SHIFT;
    }
    return thread;
}

/* Makes this thread the one of its PE that waits; false if another one waits or holds. */
static bool enter(const struct lock *l)
{
    return change_if(l->own, OWN, 0, WAITING | this_thread());
}

static void leave(const struct lock *l)
{
    change(l->own, OWN, 0);
    wake(shmemi_current->me); /* other threads of this PE */
}

static void enter_in_turn(const struct lock *l)
{
    while (!enter(l)) {
        uint64_t word = load(l->own);
        if ((word & HOLDING) && (word & ~0ull << THREAD_SHIFT) == this_thread())
            shmemi_die(l->fn, "lock is %p, which this PE and thread has set already: locks do not nest",
                       (void *)l->address);
        wait_for(l, unused_here, 0);
    }
}

/* A PE that stands in another's copy, checked before it is followed. */
static int checked(const struct lock *l, uint64_t stored, uint64_t word)
{
    if (!stored || stored > (uint64_t)shmemi_current->n || stored == l->mine)
        no_lock(l, word);
    return (int)stored - 1;
}

void shmemi_lock_set(const char *fn, long *lock)
{
    struct lock l = open_lock(fn, lock);
    enter_in_turn(&l);
    uint64_t old = change(l.home, TAIL_MASK, l.mine << TAIL_SHIFT), tail = (old & TAIL_MASK) >> TAIL_SHIFT;
    if (!tail) {
        change(l.own, WAITING | HOLDING, HOLDING);
        return;
    }
    int before = checked(&l, tail, old);
    uint64_t theirs = change(copy_at(&l, before), NEXT_MASK, l.mine);
    if ((theirs & NEXT_MASK) || !(theirs & (WAITING | HOLDING)))
        no_lock(&l, theirs);
    wake(before);                      /* it may wait in clear for who comes next */
    wait_for(&l, holding, before + 1); /* it holds the lock, or waits for it */
}

bool shmemi_lock_test(const char *fn, long *lock)
{
    struct lock l = open_lock(fn, lock);
    if (!enter(&l))
        return false;
    if (change_if(l.home, TAIL_MASK, 0, l.mine << TAIL_SHIFT)) {
        change(l.own, WAITING | HOLDING, HOLDING);
        return true;
    }
    leave(&l);
    return false;
}

void shmemi_lock_clear(const char *fn, long *lock)
{
    struct lock l = open_lock(fn, lock);
    if (!(load(l.own) & HOLDING))
        shmemi_die(fn, "lock is %p, which this PE has not set", (void *)lock);
    shmemi_quiet();
    if (!(load(l.own) & NEXT_MASK) && change_if(l.home, TAIL_MASK, l.mine << TAIL_SHIFT, 0)) {
        leave(&l);
        return;
    }
    wait_for(&l, has_next, 0); /* somebody is the last, and about to tell this PE */
    uint64_t word = load(l.own);
    int next = checked(&l, word & NEXT_MASK, word);
    leave(&l);
    uint64_t theirs = change(copy_at(&l, next), WAITING | HOLDING, HOLDING);
    if (!(theirs & WAITING))
        no_lock(&l, theirs);
    wake(next);
}
