// SPDX-License-Identifier: Apache-2.0
// Waits: sleepers, and cycles of them.
#include "waiting.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"

/* ---- who sleeps for an object ---- */

bool shmemi_sleepers_any(const struct shmemi_domain *domain, struct shmemi_sleepers *sleepers)
{
    for (unsigned i = 0; i < sizeof sleepers->who / sizeof *sleepers->who; i++) {
        /* relaxed: destroying what somebody is just about to await is a mistake that cannot always be told */
        uint64_t who = atomic_load_explicit(&sleepers->who[i], memory_order_relaxed);
        if (who && !shmemi_holder_dead(domain, who))
            return true;
    }
    return false;
}

/* Takes a place for this thread: an empty one, or a dead thread's. None may be left: then others stand for it. */
static void enter(struct shmemi_waiting *w)
{
    for (unsigned i = 0; i < sizeof w->sleepers->who / sizeof *w->sleepers->who; i++) {
        uint64_t who = atomic_load_explicit(&w->sleepers->who[i], memory_order_relaxed); /* the exchange decides */
        if (who && !shmemi_holder_dead(w->site->domain, who))
            continue;
        if (atomic_compare_exchange_strong_explicit(&w->sleepers->who[i], &who, w->mine, memory_order_relaxed,
                                                    memory_order_relaxed)) { /* relaxed: see shmemi_sleepers_any() */
            w->place = &w->sleepers->who[i];
            return;
        }
    }
}

/* Gives a word back that names this thread; anything else there is left alone. */
static void leave(_Atomic uint64_t *word, uint64_t mine)
{
    /* relaxed: only this thread and scribblers change it */
    atomic_compare_exchange_strong_explicit(word, &mine, 0, memory_order_relaxed, memory_order_relaxed);
}

/* ---- cycles ---- */

static void take_row(struct shmemi_waiting *w)
{
    const struct shmemi_waits *waits = w->site->waits;
    for (unsigned i = 0; i < waits->count; i++) {
        uint64_t who = atomic_load_explicit(&waits->rows[i].who, memory_order_relaxed); /* the exchange decides */
        if (who && !shmemi_holder_dead(w->site->domain, who))
            continue;
        /* [row] acquire: pairs with the release in shmemi_waiting_end(). */
        if (atomic_compare_exchange_strong_explicit(&waits->rows[i].who, &who, w->mine, memory_order_acquire,
                                                    memory_order_relaxed)) {
            w->row = &waits->rows[i];
            return;
        }
    }
}

/* What a thread is about to sleep for. */
struct reason {
    const _Atomic uint32_t *futex; /* it sleeps while this is `seen` */
    uint32_t seen;
    uint64_t holder; /* who is named in `held` */
    const _Atomic uint64_t *held;
};

static uint64_t offset_in(const struct shmemi_waits *waits, const void *address)
{
    return (uint64_t)((uintptr_t)address - (uintptr_t)waits->base);
}

/* [row] sequentially consistent, as are the loads in follow(): of several that close a cycle together, the last one
   sees the rows of all. */
static void publish(struct shmemi_waiting *w, const struct reason *why)
{
    const struct shmemi_waits *waits = w->site->waits;
    const uint64_t holder = why->holder & ~SHMEMI_HOLDER_MARKS;
    atomic_store_explicit(&w->row->awaited, 0, memory_order_seq_cst);
    atomic_store_explicit(&w->row->word, offset_in(waits, why->held), memory_order_seq_cst);
    atomic_store_explicit(&w->row->object, offset_in(waits, w->site->alive), memory_order_seq_cst);
    atomic_store_explicit(&w->row->futex, offset_in(waits, why->futex), memory_order_seq_cst);
    atomic_store_explicit(&w->row->seen, why->seen, memory_order_seq_cst);
    atomic_store_explicit(&w->row->awaited, holder, memory_order_seq_cst);
}

static struct shmemi_wait_row *row_of(const struct shmemi_waits *waits, uint64_t who)
{
    for (unsigned i = 0; i < waits->count; i++)
        if (atomic_load_explicit(&waits->rows[i].who, memory_order_seq_cst) == who) /* [row] */
            return &waits->rows[i];
    return NULL;
}

/* A word of so many bytes at an offset that anybody may have written; NULL where there can be none. */
static const void *word_at(const struct shmemi_waits *waits, uint64_t offset, size_t bytes)
{
    bool sound = offset % bytes == 0 && offset < waits->bytes && waits->bytes - offset >= bytes;
    return sound ? waits->base + offset : NULL;
}

/* Whom a sleeper awaits; 0: nobody, or the row is out of date, because one of the words says otherwise by now. */
static uint64_t awaited_by(const struct shmemi_waits *waits, const struct shmemi_wait_row *row)
{
    uint64_t awaited = atomic_load_explicit(&row->awaited, memory_order_seq_cst); /* [row], all of these */
    uint64_t seen = atomic_load_explicit(&row->seen, memory_order_seq_cst);
    const _Atomic uint64_t *held = word_at(waits, atomic_load_explicit(&row->word, memory_order_seq_cst), 8);
    const _Atomic uint32_t *futex = word_at(waits, atomic_load_explicit(&row->futex, memory_order_seq_cst), 4);
    if (awaited == 0 || !held || !futex || atomic_load_explicit(futex, memory_order_seq_cst) != seen)
        return 0;
    return (atomic_load_explicit(held, memory_order_seq_cst) & ~SHMEMI_HOLDER_MARKS) == awaited ? awaited : 0;
}

enum { CYCLE_MOST = 32 };

/* Follows the waits from this thread's on. Returns how many make a cycle that ends here, 0 for none. */
static unsigned follow(const struct shmemi_waiting *w, struct shmemi_wait_row *out[CYCLE_MOST])
{
    unsigned length = 0;
    for (struct shmemi_wait_row *row = w->row; row && length < CYCLE_MOST;) {
        uint64_t next = awaited_by(w->site->waits, row);
        out[length++] = row;
        if (next == w->mine)
            return length;
        row = next ? row_of(w->site->waits, next) : NULL;
    }
    return 0;
}

/* "'lock', which" or "the object at offset 77, which". */
static void name_object(const struct shmemi_waits *waits, uint64_t offset, char *out, size_t size)
{
    char name[128];
    if (waits->name && waits->name(waits, offset, name, sizeof name))
        snprintf(out, size, "'%s', which", name);
    else
        snprintf(out, size, "the object at offset %llu, which", (unsigned long long)offset);
}

static int tell_cycle(const struct shmemi_waiting *w, struct shmemi_wait_row *rows[CYCLE_MOST], unsigned length)
{
    char who[SHMEMI_HOLDER_TEXT], holder[SHMEMI_HOLDER_TEXT], object[160], text[900];
    size_t used = 0;
    for (unsigned i = 0; i < length && used < sizeof text - 1; i++) {
        uint64_t waiter = atomic_load_explicit(&rows[i]->who, memory_order_relaxed); /* for people */
        uint64_t awaited = atomic_load_explicit(&rows[i]->awaited, memory_order_relaxed);
        name_object(w->site->waits, atomic_load_explicit(&rows[i]->object, memory_order_relaxed), object,
                    sizeof object);
        int more = snprintf(text + used, sizeof text - used, "%s%s waits for %s %s has", i ? "; " : "",
                            shmemi_holder_text(w->site->domain, waiter, who), object,
                            shmemi_holder_text(w->site->domain, awaited, holder));
        used += more > 0 ? (size_t)more : 0;
    }
    shmemi_warn("sync", "a cycle of %u waits: %s", length, text);
    return shmemi_fail(-EDEADLK, "waiting would close a cycle of %u waits: %s", length, text);
}

/* A cycle is one when it is still there a little later: what is about to end is none. */
static int look_for_cycle(struct shmemi_waiting *w, const struct reason *why)
{
    struct shmemi_wait_row *first[CYCLE_MOST], *second[CYCLE_MOST];
    const struct timespec a_little = {.tv_nsec = 2000000};
    if (!w->row)
        take_row(w);
    if (!w->row)
        return 0;
    publish(w, why);
    unsigned length = follow(w, first);
    if (length == 0)
        return 0;
    nanosleep(&a_little, NULL);
    if (follow(w, second) != length)
        return 0;
    for (unsigned i = 0; i < length; i++)
        if (first[i] != second[i])
            return 0;
    return tell_cycle(w, first, length);
}

/* ---- waiting ---- */

bool shmemi_waiting_spin(struct shmemi_waiting *w)
{
    if (w->turns >= SHMEMI_SPINS + SHMEMI_YIELDS)
        return false;
    if (w->turns < SHMEMI_SPINS)
        for (int i = 0; i < 1 << w->turns; i++)
            shmemi_cpu_relax();
    else
        sched_yield();
    w->turns++;
    return true;
}

int shmemi_waiting_check(const struct shmemi_waiting *w)
{
    /* [object] acquire: pairs with whoever ends the object. */
    if (!w->site->alive || atomic_load_explicit(w->site->alive, memory_order_acquire) == w->site->life)
        return 0;
    return shmemi_fail(-ENOENT, "it was destroyed meanwhile");
}

int shmemi_waiting_sleep(struct shmemi_waiting *w, _Atomic uint32_t *word, uint32_t seen, uint64_t holder,
                         const _Atomic uint64_t *held, int64_t deadline)
{
    int rc = shmemi_waiting_check(w);
    if (rc < 0)
        return rc;
    if (w->sleepers && !w->place)
        enter(w);
    const struct reason why = {.futex = word, .seen = seen, .holder = holder, .held = held};
    if (__builtin_expect(w->site->waits && held, 0) && (rc = look_for_cycle(w, &why)) < 0)
        return rc;
    return shmemi_domain_sleep(w->site->domain, word, seen, holder, deadline);
}

int shmemi_waiting_end(struct shmemi_waiting *w, int rc)
{
    if (w->place)
        leave(w->place, w->mine);
    if (w->row) {
        atomic_store_explicit(&w->row->awaited, 0, memory_order_relaxed); /* the release below orders it */
        /* [row] release: pairs with the acquire in take_row(). */
        atomic_store_explicit(&w->row->who, 0, memory_order_release);
    }
    w->place = NULL;
    w->row = NULL;
    return rc;
}
