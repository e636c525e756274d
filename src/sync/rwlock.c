// SPDX-License-Identifier: Apache-2.0
// The lock for readers and writers.
//
// A seat moves   0 -> reader -> 0                         while no writer is there
//                0 -> reader -> reader|MARK -> reader -> 0  the reader waits, and is let in by a writer that leaves, or
//                                                         by itself when it finds no writer
// and from a dead reader to 0 by whoever comes by. The writer's word moves as a mutex's does. WAITED in either says
// that somebody sleeps on it.
#include "rwlock.h"

#include <errno.h>
#include <limits.h>

#include "base/error.h"

/* ---- words ---- */

/* [dekker], [writer]: see shmemi_rwlock_read_free(). */
static uint64_t writer_of(const struct shmemi_rwlock *lock)
{
    return atomic_load_explicit(&lock->writer, memory_order_seq_cst);
}

/* [dekker], [seat]: acquire is part of it, which pairs with the releases of readers, and of writers that let one in. */
static uint64_t sitting(const struct shmemi_seat *seat)
{
    return atomic_load_explicit(&seat->who, memory_order_seq_cst);
}

static bool change(_Atomic uint64_t *word, uint64_t seen, uint64_t to)
{
    /* [dekker], and release and acquire of the word */
    return atomic_compare_exchange_strong_explicit(word, &seen, to, memory_order_seq_cst, memory_order_relaxed);
}

static enum shmemi_rwlock_state state_of(const struct shmemi_rwlock *lock)
{
    /* [state] acquire: pairs with the release in set_state() */
    return (enum shmemi_rwlock_state)atomic_load_explicit(&lock->state, memory_order_acquire);
}

/* [state] release: what was written before WRITING ends came before. */
static void set_state(struct shmemi_rwlock *lock, enum shmemi_rwlock_state state)
{
    atomic_store_explicit(&lock->state, state, memory_order_release);
}

/* Whose the seat is, whatever it waits for. */
static uint64_t owner(uint64_t who)
{
    return who & ~SHMEMI_HOLDER_WAITED & ~SHMEMI_HOLDER_MARK;
}

static void empty(struct shmemi_seat *seat)
{
    /* [seat] release: pairs with sitting(). */
    if (atomic_exchange_explicit(&seat->who, 0, memory_order_seq_cst) & SHMEMI_HOLDER_WAITED)
        shmemi_holder_wake(&seat->who, INT_MAX); /* a writer, and readers without a seat */
}

static int tell_poisoned(void)
{
    return shmemi_fail(-ENOTRECOVERABLE, "it is poisoned: a writer died, and the next one gave it back without repair");
}

static int tell_time(const struct shmemi_rw *rw, const char *what, uint64_t seen)
{
    char who[SHMEMI_HOLDER_TEXT];
    return shmemi_fail(-ETIMEDOUT, "timed out: %s %s it", shmemi_holder_text(rw->site->domain, seen, who), what);
}

/* -EDEADLK when this thread has it in any way. */
static int need_none(const struct shmemi_rw *rw)
{
    const void *held = shmemi_held_find(rw->lock, &rw->lock->seats[rw->seats]);
    if (!held)
        return 0;
    return shmemi_fail(-EDEADLK, "this thread has it already, for %s", held == rw->lock ? "writing" : "reading");
}

/* ---- the end of a writer ---- */

/* Lets all readers in that wait in their seats. */
static void let_in(const struct shmemi_rw *rw)
{
    for (unsigned i = 0; i < rw->seats; i++) {
        struct shmemi_seat *seat = &rw->lock->seats[i];
        uint64_t who = sitting(seat);
        while (who & SHMEMI_HOLDER_MARK && !change(&seat->who, who, who & ~SHMEMI_HOLDER_MARK))
            who = sitting(seat); /* WAITED came or went */
        if (who & SHMEMI_HOLDER_MARK)
            shmemi_holder_wake(&seat->who, INT_MAX); /* [seat]: what the writer wrote comes before */
    }
}

/* Makes readers that wait in their seats look again. They sleep on a word without WAITED, and only they take it down,
   so one that is just about to sleep does not miss this, however many writers come and go. */
static void stir(const struct shmemi_rw *rw)
{
    for (unsigned i = 0; i < rw->seats; i++) {
        struct shmemi_seat *seat = &rw->lock->seats[i];
        uint64_t who = sitting(seat);
        if (who & SHMEMI_HOLDER_MARK &&
            (who & SHMEMI_HOLDER_WAITED || change(&seat->who, who, who | SHMEMI_HOLDER_WAITED)))
            shmemi_holder_wake(&seat->who, INT_MAX);
    }
}

/* [queued] sequentially consistent: a reader marks its seat, sets this, and then looks at the writer's word; who frees
   that word looks at this afterwards. Either the reader sees the word free, or it is stirred. Only a writer that is
   about to let all in takes it down: so a reader that has set it is let in by the next writer that leaves. */
static bool is_queued(struct shmemi_rwlock *lock)
{
    return atomic_load_explicit(&lock->queued, memory_order_seq_cst);
}

/* [writer] release: pairs with writer_of() and change(). Sequentially consistent because of [queued]. */
static void free_word(const struct shmemi_rw *rw, uint64_t to)
{
    bool poisoned = to == SHMEMI_RWLOCK_POISONED;
    if (atomic_exchange_explicit(&rw->lock->writer, to, memory_order_seq_cst) & SHMEMI_HOLDER_WAITED)
        shmemi_holder_wake(&rw->lock->writer, poisoned ? INT_MAX : 1);
    if (is_queued(rw->lock))
        stir(rw);
}

/* Leaves, having written or not. */
static void leave_writing(const struct shmemi_rw *rw)
{
    set_state(rw->lock, SHMEMI_RWLOCK_SOUND);
    if (is_queued(rw->lock) && atomic_exchange_explicit(&rw->lock->queued, 0, memory_order_seq_cst)) /* [queued] */
        let_in(rw);
    free_word(rw, 0);
}

/* Gives up, not having written. What a dead writer left stays as it was: the next one finds a dead holder again. */
static void give_up(const struct shmemi_rw *rw, uint64_t mine)
{
    if (state_of(rw->lock) == SHMEMI_RWLOCK_SOUND)
        leave_writing(rw);
    else
        shmemi_holder_lose(&rw->lock->writer, mine);
}

/* ---- writing ---- */

/* Waits for the reader in a seat. try: -EBUSY instead. */
static int drain_seat(struct shmemi_waiting *w, const struct shmemi_rw *rw, struct shmemi_seat *seat, int64_t deadline,
                      bool try)
{
    for (;;) {
        uint64_t who = sitting(seat); /* [dekker] after the writer's word was taken */
        if (who == 0)
            return 0;
        if (shmemi_holder_dead(rw->site->domain, who)) {
            if (change(&seat->who, who, 0) && who & SHMEMI_HOLDER_WAITED)
                shmemi_holder_wake(&seat->who, INT_MAX);
            continue;
        }
        if (who & SHMEMI_HOLDER_MARK)
            return 0; /* it waits for us */
        if (try)
            return shmemi_fail(-EBUSY, "somebody reads");
        if (shmemi_waiting_spin(w))
            continue;
        if (!(who & SHMEMI_HOLDER_WAITED) && !change(&seat->who, who, who | SHMEMI_HOLDER_WAITED))
            continue;
        int rc = shmemi_waiting_sleep_for(w, &seat->who, who | SHMEMI_HOLDER_WAITED, deadline);
        if (rc < 0)
            return rc == -ETIMEDOUT ? tell_time(rw, "reads", who) : rc;
    }
}

/* The word is ours: when all readers have left, so is the lock. */
static int drain(struct shmemi_waiting *w, const struct shmemi_rw *rw, int64_t deadline, bool try)
{
    int rc = 0;
    for (unsigned i = 0; i < rw->seats && rc == 0; i++)
        if (shmemi_unlikely(sitting(&rw->lock->seats[i]) != 0))
            rc = drain_seat(w, rw, &rw->lock->seats[i], deadline, try);
    if (rc < 0) {
        give_up(rw, w->mine);
        return rc;
    }
    shmemi_held_note(rw->lock, w->mine, shmemi_holder_lose);
    /* Only we change the state now. */
    if (shmemi_likely(state_of(rw->lock) == SHMEMI_RWLOCK_SOUND)) {
        set_state(rw->lock, SHMEMI_RWLOCK_WRITING);
        return 0;
    }
    set_state(rw->lock, SHMEMI_RWLOCK_INCONSISTENT);
    return shmemi_fail(-EOWNERDEAD, "taken for writing, but a writer died: what it guards may need repair");
}

/* One look at the writer's word: 1 it is ours; 0 look again; or negative errno. */
static int look_for_word(struct shmemi_waiting *w, const struct shmemi_rw *rw, int64_t deadline)
{
    struct shmemi_rwlock *lock = rw->lock;
    uint64_t seen = writer_of(lock);
    int rc = shmemi_waiting_check(w);
    if (rc < 0)
        return rc;
    if (seen == 0)
        return change(&lock->writer, 0, w->mine | SHMEMI_HOLDER_WAITED);
    if (seen == SHMEMI_RWLOCK_POISONED)
        return tell_poisoned();
    if (shmemi_holder_dead(rw->site->domain, seen))
        return change(&lock->writer, seen, w->mine | SHMEMI_HOLDER_WAITED);
    if (!(seen & SHMEMI_HOLDER_WAITED)) {
        if (!change(&lock->writer, seen, seen | SHMEMI_HOLDER_WAITED))
            return 0;
        seen |= SHMEMI_HOLDER_WAITED;
    }
    rc = shmemi_waiting_sleep_for(w, &lock->writer, seen, deadline);
    return rc == -ETIMEDOUT ? tell_time(rw, "writes, or is about to,", seen) : rc;
}

static int take_word(struct shmemi_waiting *w, const struct shmemi_rw *rw, int64_t deadline)
{
    int rc;
    do
        if (writer_of(rw->lock) == 0 && change(&rw->lock->writer, 0, w->mine))
            return 1;
    while (shmemi_waiting_spin(w));
    do
        rc = look_for_word(w, rw, deadline);
    while (rc == 0);
    w->turns = 0;
    return rc;
}

int shmemi_rwlock_write(const struct shmemi_rw *rw, int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(rw->site, NULL);
    int rc = shmemi_held_reserve();
    if (rc < 0 || (shmemi_held.count && (rc = need_none(rw)) < 0))
        return rc;
    if (shmemi_unlikely(!change(&rw->lock->writer, 0, w.mine)))
        rc = take_word(&w, rw, deadline);
    return shmemi_waiting_end(&w, rc < 0 ? rc : drain(&w, rw, deadline, false));
}

int shmemi_rwlock_try_write(const struct shmemi_rw *rw)
{
    struct shmemi_waiting w = SHMEMI_WAITING(rw->site, NULL);
    char who[SHMEMI_HOLDER_TEXT];
    int rc = shmemi_held_reserve();
    if (rc < 0 || (rc = need_none(rw)) < 0)
        return rc;
    uint64_t seen = writer_of(rw->lock);
    if (seen == SHMEMI_RWLOCK_POISONED)
        return tell_poisoned();
    bool dead = seen && shmemi_holder_dead(rw->site->domain, seen);
    if ((seen && !dead) || !change(&rw->lock->writer, seen, dead ? w.mine | SHMEMI_HOLDER_WAITED : w.mine))
        return shmemi_fail(-EBUSY, "%s writes, or is about to",
                           shmemi_holder_text(rw->site->domain, writer_of(rw->lock), who));
    return drain(&w, rw, 0, true);
}

/* ---- reading ---- */

/* A seat for this thread: its own, or another. NULL: none is free. */
static struct shmemi_seat *take_seat(const struct shmemi_rw *rw, uint64_t mine)
{
    struct shmemi_seat *home = shmemi_rwlock_home(rw->lock, rw->seats, mine);
    unsigned first = (unsigned)(home - rw->lock->seats);
    for (unsigned i = 0; i < rw->seats; i++) {
        struct shmemi_seat *seat = &rw->lock->seats[(first + i) & (rw->seats - 1)];
        uint64_t who = sitting(seat);
        if (owner(who) == mine) /* left by shmemi_rwlock_read_free() */
            return seat;
        if (who && !shmemi_holder_dead(rw->site->domain, who))
            continue;
        if (change(&seat->who, who, mine | (who & SHMEMI_HOLDER_WAITED)))
            return seat;
    }
    return NULL;
}

/* All seats are taken: sleeps until the reader leaves whose seat it would like to have. */
static int wait_for_seat(struct shmemi_waiting *w, const struct shmemi_rw *rw, int64_t deadline)
{
    struct shmemi_seat *home = shmemi_rwlock_home(rw->lock, rw->seats, w->mine);
    uint64_t who = sitting(home);
    if (who == 0 || shmemi_holder_dead(rw->site->domain, who))
        return 0;
    if (!(who & SHMEMI_HOLDER_WAITED) && !change(&home->who, who, who | SHMEMI_HOLDER_WAITED))
        return 0;
    int rc = shmemi_waiting_sleep_for(w, &home->who, who | SHMEMI_HOLDER_WAITED, deadline);
    return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: all %u seats of readers are taken", rw->seats) : rc;
}

/* The writer is dead. It wrote: somebody has to repair that. Otherwise its word is made free. */
static int dead_writer(const struct shmemi_rw *rw, uint64_t seen)
{
    struct shmemi_rwlock *lock = rw->lock;
    if (state_of(lock) != SHMEMI_RWLOCK_SOUND)
        return writer_of(lock) != seen
                   ? 0
                   : shmemi_fail(-EOWNERDEAD, "not taken: a writer died, and what it guards may need repair: take the "
                                              "lock for writing, repair it, and say consistent");
    if (change(&lock->writer, seen, 0)) {
        if (seen & SHMEMI_HOLDER_WAITED)
            shmemi_holder_wake(&lock->writer, 1);
        if (is_queued(lock))
            stir(rw);
    }
    return 0;
}

/* Says in the seat that its reader waits, so that writers need not wait for it. False: the seat was just changed. */
static bool queue(const struct shmemi_rw *rw, struct shmemi_seat *seat, uint64_t who)
{
    if (!change(&seat->who, who, owner(who) | SHMEMI_HOLDER_MARK))
        return false;
    if (who & SHMEMI_HOLDER_WAITED)
        shmemi_holder_wake(&seat->who, INT_MAX);
    atomic_store_explicit(&rw->lock->queued, 1, memory_order_seq_cst); /* [queued] before the next look at the writer */
    return true;
}

/* One look from a seat: 1 the lock is ours, 0 look again, or negative errno. *queued: whether the seat was marked by
   us, so that a seat without the mark was let in. */
static int look_for_turn(struct shmemi_waiting *w, const struct shmemi_rw *rw, struct shmemi_seat *seat, bool *queued,
                         int64_t deadline, bool try)
{
    int rc = shmemi_waiting_check(w);
    if (rc < 0)
        return rc;
    uint64_t who = sitting(seat);
    if (owner(who) != w->mine)
        return shmemi_fail(-EIO, "it is damaged: a reader's seat was taken by %#llx", (unsigned long long)who);
    if (*queued && !(who & SHMEMI_HOLDER_MARK))
        return 1;
    if (*queued && who & SHMEMI_HOLDER_WAITED) { /* stirred; or somebody waits for the seat, and will do so again */
        if (change(&seat->who, who, who & ~SHMEMI_HOLDER_WAITED))
            shmemi_holder_wake(&seat->who, INT_MAX);
        return 0;
    }
    /* [queued] before the look at the writer: who takes it down from here on comes by this seat. */
    if (*queued && !atomic_load_explicit(&rw->lock->queued, memory_order_seq_cst))
        atomic_store_explicit(&rw->lock->queued, 1, memory_order_seq_cst);
    uint64_t writer = writer_of(rw->lock); /* [dekker] after the seat was taken */
    if (writer == 0) {
        if (!(who & SHMEMI_HOLDER_MARK))
            return 1;
        if (change(&seat->who, who, who & ~SHMEMI_HOLDER_MARK))
            *queued = false; /* sat down again: look at the writer once more */
        return 0;
    }
    if (writer == SHMEMI_RWLOCK_POISONED)
        return tell_poisoned();
    if (shmemi_holder_dead(rw->site->domain, writer))
        return dead_writer(rw, writer);
    if (try)
        return shmemi_fail(-EBUSY, "somebody writes, or is about to");
    if (!*queued) {
        *queued = queue(rw, seat, who);
        return 0;
    }
    if (shmemi_waiting_spin(w))
        return 0;
    rc = shmemi_waiting_sleep(w, shmemi_lower_half(&seat->who), (uint32_t)who, writer, &rw->lock->writer, deadline);
    return rc == -ETIMEDOUT ? tell_time(rw, "writes, or is about to,", writer) : rc;
}

/* Gives up. 1: it was let in just before. */
static int stand_up(struct shmemi_seat *seat, uint64_t mine, bool queued, int rc)
{
    for (;;) {
        uint64_t who = sitting(seat);
        if (owner(who) != mine)
            return rc;
        if (queued && !(who & SHMEMI_HOLDER_MARK) && rc == -ETIMEDOUT)
            return 1;
        if (change(&seat->who, who, 0)) {
            if (who & SHMEMI_HOLDER_WAITED)
                shmemi_holder_wake(&seat->who, INT_MAX);
            return rc;
        }
    }
}

static int read_slowly(struct shmemi_waiting *w, const struct shmemi_rw *rw, int64_t deadline, bool try)
{
    struct shmemi_seat *seat;
    bool queued = false;
    int rc = 0;
    while (!(seat = take_seat(rw, w->mine))) {
        rc = try                                  ? shmemi_fail(-EBUSY, "all %u seats of readers are taken", rw->seats)
             : (rc = shmemi_waiting_check(w)) < 0 ? rc
             : shmemi_waiting_spin(w)             ? 0
                                                  : wait_for_seat(w, rw, deadline);
        if (rc < 0)
            return rc;
    }
    while ((rc = look_for_turn(w, rw, seat, &queued, deadline, try)) == 0)
        continue;
    if (rc < 0)
        rc = stand_up(seat, w->mine, queued, rc);
    if (rc < 0)
        return rc;
    shmemi_held_note(seat, w->mine, shmemi_holder_lose);
    return 0;
}

static int read_lock(const struct shmemi_rw *rw, int64_t deadline, bool try)
{
    struct shmemi_waiting w = SHMEMI_WAITING(rw->site, NULL);
    int rc = shmemi_held_reserve();
    if (rc < 0 || (rc = need_none(rw)) < 0)
        return rc;
    return shmemi_waiting_end(&w, read_slowly(&w, rw, deadline, try));
}

int shmemi_rwlock_read(const struct shmemi_rw *rw, int64_t deadline)
{
    return read_lock(rw, deadline, false);
}

int shmemi_rwlock_try_read(const struct shmemi_rw *rw)
{
    return read_lock(rw, 0, true);
}

/* ---- giving back ---- */

static bool is_mine(const struct shmemi_rw *rw)
{
    return shmemi_holder_is(writer_of(rw->lock), shmemi_site_holder(rw->site));
}

static void end_writing(const struct shmemi_rw *rw)
{
    if (state_of(rw->lock) == SHMEMI_RWLOCK_INCONSISTENT) {
        free_word(rw, SHMEMI_RWLOCK_POISONED);
        stir(rw);
    } else {
        leave_writing(rw);
    }
}

int shmemi_rwlock_unlock(const struct shmemi_rw *rw)
{
    char who[SHMEMI_HOLDER_TEXT];
    uint64_t writer = writer_of(rw->lock);
    void *held = shmemi_held_find(rw->lock, &rw->lock->seats[rw->seats]);
    if (!held && (writer == 0 || writer == SHMEMI_RWLOCK_POISONED))
        return shmemi_fail(-EPERM, "this thread has it neither for reading nor for writing, and nobody writes");
    if (!held)
        return shmemi_fail(-EPERM, "this thread does not have it: %s writes, or is about to",
                           shmemi_holder_text(rw->site->domain, writer, who));
    shmemi_held_remove(held);
    if (held == rw->lock)
        end_writing(rw);
    else
        empty(held);
    return 0;
}

int shmemi_rwlock_consistent(const struct shmemi_rw *rw)
{
    if (!is_mine(rw))
        return shmemi_fail(-EPERM, "this thread does not have it for writing");
    if (state_of(rw->lock) != SHMEMI_RWLOCK_INCONSISTENT)
        return shmemi_fail(-EINVAL, "it is not inconsistent: nothing is to be said about it");
    set_state(rw->lock, SHMEMI_RWLOCK_WRITING);
    return 0;
}

unsigned shmemi_rwlock_look(const struct shmemi_rw *rw, bool *writer)
{
    unsigned readers = 0;
    uint64_t seen = writer_of(rw->lock);
    for (unsigned i = 0; i < rw->seats; i++) {
        uint64_t who = sitting(&rw->lock->seats[i]);
        readers += who && !(who & SHMEMI_HOLDER_MARK) && !shmemi_holder_dead(rw->site->domain, who);
    }
    *writer = seen && seen != SHMEMI_RWLOCK_POISONED && !shmemi_holder_dead(rw->site->domain, seen);
    return readers;
}

/* Whether a living reader waits in a seat. */
static bool any_queued(const struct shmemi_rw *rw)
{
    for (unsigned i = 0; i < rw->seats; i++) {
        uint64_t who = sitting(&rw->lock->seats[i]);
        if (who & SHMEMI_HOLDER_MARK && !shmemi_holder_dead(rw->site->domain, who))
            return true;
    }
    return false;
}

int shmemi_rwlock_retire(const struct shmemi_rw *rw)
{
    if (writer_of(rw->lock) == SHMEMI_RWLOCK_POISONED)
        return 0;
    int rc = shmemi_rwlock_try_write(rw);
    if (rc == -EDEADLK)
        return shmemi_fail(-EBUSY, "this thread has it: unlock it first");
    if (rc == -EOWNERDEAD || (rc == 0 && !any_queued(rw)))
        return 0;
    if (rc < 0)
        return rc;
    shmemi_rwlock_unlock(rw);
    return shmemi_fail(-EBUSY, "somebody waits for it");
}
