// SPDX-License-Identifier: Apache-2.0
// Barriers. Everybody who is in a round can end it, by one exchange of the barrier's word, so nobody's death in the
// middle of that matters. A seat's holder moves 0 -> holder -> COUNTED (dead, in the round whose number stands in its
// upper half) and is as good as 0 in later rounds.
#include "barrier.h"

#include <errno.h>
#include <limits.h>

#include "base/error.h"
#include "base/futex.h"

enum { DIED = 1, ROUND = 2 };

static uint32_t round_of(uint64_t word)
{
    return (uint32_t)word & ~(uint32_t)DIED;
}

static unsigned expected(uint64_t word)
{
    return (unsigned)(word >> 48);
}

static uint64_t counted(uint32_t round)
{
    return (uint64_t)round << 32 | SHMEMI_HOLDER_NOBODY;
}

static bool is_counted(uint64_t who)
{
    return (uint32_t)who == (uint32_t)SHMEMI_HOLDER_NOBODY;
}

/* [round] sequentially consistent, as are arrivals: each arrives and then looks whether all have; the last in the one
   order of all arrivals sees all of them. Acquire and release are part of it: what was done before arriving is seen
   after the round. */
static uint64_t word_of(const struct shmemi_bar *bar)
{
    return atomic_load_explicit(&bar->barrier->word, memory_order_seq_cst);
}

static bool change_word(const struct shmemi_bar *bar, uint64_t seen, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(&bar->barrier->word, &seen, to, memory_order_seq_cst,
                                                   memory_order_relaxed);
}

static _Atomic uint64_t *who_at(const struct shmemi_bar *bar, unsigned seat)
{
    char *first = (char *)bar->barrier->at + shmemi_barrier_at_bytes(bar->seats);
    return (_Atomic uint64_t *)(void *)first + seat;
}

static uint64_t who_of(const struct shmemi_bar *bar, unsigned seat)
{
    return atomic_load_explicit(who_at(bar, seat), memory_order_seq_cst); /* [round] */
}

static uint32_t at_of(const struct shmemi_bar *bar, unsigned seat)
{
    return atomic_load_explicit(&bar->barrier->at[seat], memory_order_seq_cst); /* [round] */
}

static void set_at(const struct shmemi_bar *bar, unsigned seat, uint32_t at)
{
    atomic_store_explicit(&bar->barrier->at[seat], at, memory_order_seq_cst); /* [round] */
}

/* ---- the state of a round ---- */

struct count {
    unsigned arrived, alive, dead; /* arrived and alive */
    uint64_t missing;              /* one who has not arrived; 0: nobody that is known */
};

static struct count count(const struct shmemi_bar *bar, uint32_t round)
{
    struct count c = {0};
    for (unsigned i = 0; i < bar->seats; i++) {
        uint64_t who = who_of(bar, i);
        if (who == 0 || (is_counted(who) && who != counted(round)))
            continue;
        if (who == counted(round)) {
            c.dead++;
        } else if (shmemi_holder_dead(bar->site->domain, who)) {
            /* Marked before it is counted, so that all count the same. */
            if (atomic_compare_exchange_strong_explicit(who_at(bar, i), &who, counted(round), memory_order_seq_cst,
                                                        memory_order_relaxed))
                c.dead++;
            else
                i--; /* somebody else marked it: look again */
        } else {
            bool here = at_of(bar, i) == round + 1;
            c.alive++;
            c.arrived += here;
            c.missing = here ? c.missing : who;
        }
    }
    return c;
}

/* Ends the round if it is over. True: we did. */
static bool try_end(const struct shmemi_bar *bar, uint64_t word, struct count *c)
{
    uint32_t round = round_of(word);
    *c = count(bar, round);
    if (c->arrived < c->alive || c->arrived + c->dead < expected(word))
        return false;
    unsigned left = expected(word) > c->dead ? expected(word) - c->dead : 1;
    uint64_t next =
        (uint64_t)left << 48 | (word & UINT64_C(0xffff00000000)) | (uint32_t)(round + ROUND) | (c->dead ? DIED : 0);
    if (!change_word(bar, word, next))
        return false;
    shmemi_futex_wake(shmemi_lower_half(&bar->barrier->word), INT_MAX);
    return true;
}

/* Without looking at lives: whether enough have arrived. */
static bool enough(const struct shmemi_bar *bar, uint64_t word)
{
    unsigned arrived = 0;
    for (unsigned i = 0; i < bar->seats; i++)
        arrived += at_of(bar, i) == round_of(word) + 1;
    return arrived >= expected(word);
}

/* ---- arriving ---- */

static int find_seat(const struct shmemi_bar *bar, uint64_t mine)
{
    for (unsigned i = 0; i < bar->seats; i++)
        if (shmemi_holder_is(who_of(bar, i), mine))
            return (int)i;
    return -1;
}

/* The first time. A seat that is COUNTED in this round stays so until it is over. */
static int take_seat(const struct shmemi_bar *bar, uint64_t mine)
{
    int rc = shmemi_held_reserve();
    uint64_t word = word_of(bar);
    struct count c = count(bar, round_of(word));
    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < bar->seats && c.alive < expected(word); i++) {
        uint64_t who = who_of(bar, i);
        if ((who == 0 || (is_counted(who) && who != counted(round_of(word)))) &&
            atomic_compare_exchange_strong_explicit(who_at(bar, i), &who, mine, memory_order_seq_cst,
                                                    memory_order_relaxed)) { /* [round] */
            shmemi_held_note((void *)(uintptr_t)who_at(bar, i), mine, shmemi_holder_lose);
            return (int)i;
        }
    }
    if (c.alive == 0 && c.dead)
        return shmemi_fail(-EOWNERDEAD, "all who took part died: nobody is left for this barrier");
    return shmemi_fail(-EUSERS, "%u threads are expected, and as many others take part already", expected(word));
}

/* The outcome of the round that `word` was in; the word says it until this thread arrives again. */
static int outcome(uint64_t now, bool ended)
{
    if (!(now & DIED))
        return ended;
    return shmemi_fail(-EOWNERDEAD, "somebody who took part died; %u are expected from now on", expected(now));
}

/* Takes the arrival back; but the round may just have ended with it. */
static int withdraw(const struct shmemi_bar *bar, unsigned seat, uint32_t round, int rc)
{
    set_at(bar, seat, 0);
    for (;;) {
        uint64_t now = word_of(bar);
        if (round_of(now) != round)
            return outcome(now, false);
        /* The word changes: who has counted us, and is about to end the round, counts again. */
        uint64_t next = (now & ~UINT64_C(0xffff00000000)) | ((now + (UINT64_C(1) << 32)) & UINT64_C(0xffff00000000));
        if (change_word(bar, now, next))
            return rc;
    }
}

static int wait_in(struct shmemi_waiting *w, const struct shmemi_bar *bar, uint32_t round, int64_t deadline)
{
    struct count c = {0};
    for (;;) {
        uint64_t word = word_of(bar);
        if (round_of(word) != round)
            return outcome(word, false);
        if (enough(bar, word) && try_end(bar, word, &c))
            return outcome(word_of(bar), true);
        if (shmemi_waiting_spin(w))
            continue;
        int rc = shmemi_waiting_check(w);
        if (rc < 0)
            return rc;
        if (try_end(bar, word, &c))
            return outcome(word_of(bar), true);
        if (word_of(bar) != word)
            continue;
        rc = shmemi_waiting_sleep(w, shmemi_lower_half(&bar->barrier->word), (uint32_t)word, c.missing, NULL, deadline);
        if (rc < 0)
            return rc == -ETIMEDOUT
                       ? shmemi_fail(rc, "timed out: %u of %u have arrived", c.arrived, expected(word_of(bar)))
                       : rc;
    }
}

int shmemi_barrier_wait(const struct shmemi_bar *bar, int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(bar->site, NULL);
    int seat = find_seat(bar, w.mine);
    if (seat < 0 && (seat = take_seat(bar, w.mine)) < 0)
        return seat;
    uint32_t round = round_of(word_of(bar));
    set_at(bar, (unsigned)seat, round + 1);
    int rc = wait_in(&w, bar, round, deadline);
    if (rc == -ETIMEDOUT || rc == -EINTR)
        rc = withdraw(bar, (unsigned)seat, round, rc);
    return shmemi_waiting_end(&w, rc);
}

unsigned shmemi_barrier_look(const struct shmemi_bar *bar, unsigned *waiting)
{
    uint64_t word = word_of(bar);
    *waiting = 0;
    for (unsigned i = 0; i < bar->seats; i++) {
        uint64_t who = who_of(bar, i);
        *waiting += who && at_of(bar, i) == round_of(word) + 1 && !shmemi_holder_dead(bar->site->domain, who);
    }
    return expected(word);
}

int shmemi_barrier_retire(const struct shmemi_bar *bar)
{
    unsigned waiting;
    shmemi_barrier_look(bar, &waiting);
    return waiting ? shmemi_fail(-EBUSY, "%u threads wait in it", waiting) : 0;
}
