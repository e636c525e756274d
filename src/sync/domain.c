// SPDX-License-Identifier: Apache-2.0
// Holders: naming them, and noticing their end.
#include "domain.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/interrupt.h"

enum { THREADS = (1 << 19) - 1, NAP = 100000000 /* ns: should a wake get lost with whoever was woken */ };

/* ---- names ---- */

_Thread_local uint32_t shmemi_thread __attribute__((tls_model("initial-exec")));

uint32_t shmemi_thread_count(void)
{
    static _Atomic uint32_t threads;
    if (shmemi_thread == 0) /* relaxed: only different numbers are needed */
        shmemi_thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % THREADS + 1;
    return shmemi_thread;
}

int shmemi_holder_slot(const struct shmemi_domain *domain, uint64_t word)
{
    unsigned slot = (unsigned)(word >> 20 & 1023);
    return slot >= 1 && slot <= domain->count ? (int)slot - 1 : -1;
}

static _Atomic uint32_t *alive_word(const struct shmemi_domain *domain, int slot)
{
    return (_Atomic uint32_t *)(uintptr_t)(domain->alive + (size_t)slot * domain->stride);
}

static uint32_t generation(const struct shmemi_domain *domain, int slot)
{
    _Atomic uint32_t *alive = alive_word(domain, slot);
    /* relaxed: one that is read too early looks alive until the next look */
    return atomic_load_explicit((_Atomic uint32_t *)(void *)((char *)alive + SHMEMI_DOMAIN_GENERATION),
                                memory_order_relaxed);
}

/* The kernel marks the word of a dead member; one that left holds nothing either. */
static bool is_life(uint32_t alive)
{
    return alive != 0 && !(alive & FUTEX_OWNER_DIED);
}

bool shmemi_holder_dead(const struct shmemi_domain *domain, uint64_t word)
{
    int slot = shmemi_holder_slot(domain, word);
    if (slot < 0 || word & SHMEMI_HOLDER_LOST)
        return true;
    /* [alive] acquire: pairs with the kernel's mark, or the release of the leaving member: what it did came before. */
    uint32_t alive = atomic_load_explicit(alive_word(domain, slot), memory_order_acquire);
    return !is_life(alive) || generation(domain, slot) != (uint32_t)(word >> 32);
}

const char *shmemi_holder_text(const struct shmemi_domain *domain, uint64_t word, char out[SHMEMI_HOLDER_TEXT])
{
    int slot = shmemi_holder_slot(domain, word);
    if (slot < 0) {
        snprintf(out, SHMEMI_HOLDER_TEXT, "nobody that can be (%#llx)", (unsigned long long)word);
        return out;
    }
    const char *alive = (const char *)alive_word(domain, slot);
    int32_t pid;
    memcpy(&pid, alive + SHMEMI_DOMAIN_PID, sizeof pid);
    snprintf(out, SHMEMI_HOLDER_TEXT, "slot %d (pid %d), thread %u", slot, (int)pid, (unsigned)(word & THREADS));
    return out;
}

/* ---- sleeping ---- */

static _Thread_local bool deaf __attribute__((tls_model("initial-exec")));

void shmemi_sleep_deaf(bool on)
{
    deaf = on;
}

int shmemi_domain_sleep(const struct shmemi_domain *domain, _Atomic uint32_t *word, uint32_t seen, uint64_t holder,
                        int64_t deadline)
{
    struct shmemi_futex words[2] = {{.word = word, .value = seen}};
    unsigned count = 1;
    int slot = holder ? shmemi_holder_slot(domain, holder) : -1, rc = deaf ? 0 : shmemi_interrupted();
    if (rc < 0)
        return rc;
    if (slot >= 0) {
        _Atomic uint32_t *alive = alive_word(domain, slot);
        uint32_t life = atomic_load_explicit(alive, memory_order_relaxed); /* the kernel compares again */
        if (!is_life(life))
            return 0;
        words[count++] = (struct shmemi_futex){.word = alive, .value = life};
    }
    int64_t now = shmemi_now(), nap = now + NAP;
    if (now >= deadline)
        return -ETIMEDOUT;
    shmemi_futex_wait(words, count, deadline < nap ? deadline : nap);
    return 0;
}

void shmemi_holder_wake(_Atomic uint64_t *word, int count)
{
    shmemi_futex_wake(shmemi_lower_half(word), count);
}

/* ---- what a thread holds ---- */

_Thread_local struct shmemi_held_list shmemi_held __attribute__((tls_model("initial-exec")));

/* A key of the process, because the C library tells the end of a thread that way. */
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_rc;
static _Atomic(const struct shmemi_held_guard *) guards[SHMEMI_HELD_GUARDS_MOST];
static _Atomic unsigned guard_count;

void shmemi_held_add_guard(const struct shmemi_held_guard *guard)
{
    unsigned at = atomic_fetch_add_explicit(&guard_count, 1, memory_order_relaxed); /* the store below orders it */
    if (at < SHMEMI_HELD_GUARDS_MOST)
        atomic_store_explicit(&guards[at], guard, memory_order_release); /* pairs with the acquire in lose_one() */
}

static void lose_one(const struct shmemi_held *held)
{
    bool guarded = false, lost = false;
    for (int i = 0; i < SHMEMI_HELD_GUARDS_MOST && !lost; i++) {
        const struct shmemi_held_guard *guard = atomic_load_explicit(&guards[i], memory_order_acquire);
        if (!guard)
            continue;
        guarded = true;
        lost = guard->begin(held->object);
        if (lost)
            held->lose(held->object, held->holder);
        guard->end();
    }
    if (!guarded)
        held->lose(held->object, held->holder);
}

static void lose_all(void *unused)
{
    (void)unused;
    while (shmemi_held.count)
        lose_one(&shmemi_held.entries[--shmemi_held.count]);
    free(shmemi_held.entries);
    shmemi_held = (struct shmemi_held_list){0};
}

/* In a child of fork, what the parent's thread holds is the parent's. */
static void forget(void)
{
    shmemi_held.count = 0;
}

static void make_key(void)
{
    key_rc = pthread_key_create(&at_end, lose_all);
    pthread_atfork(NULL, NULL, forget);
}

int shmemi_held_grow(void)
{
    unsigned room = shmemi_held.room ? 2 * shmemi_held.room : 16;
    pthread_once(&once, make_key);
    if (key_rc || pthread_setspecific(at_end, &shmemi_held))
        return shmemi_fail(-ENOMEM, "no key of thread-local data is left");
    struct shmemi_held *entries = realloc(shmemi_held.entries, room * sizeof *entries);
    if (!entries)
        return shmemi_fail(-ENOMEM, "no memory to note what a thread holds");
    shmemi_held.entries = entries;
    shmemi_held.room = room;
    return 0;
}

static void drop(unsigned i)
{
    for (shmemi_held.count--; i < shmemi_held.count; i++)
        shmemi_held.entries[i] = shmemi_held.entries[i + 1];
}

void shmemi_held_remove_slowly(void *object)
{
    for (unsigned i = shmemi_held.count; i > 0; i--)
        if (shmemi_held.entries[i - 1].object == object) {
            drop(i - 1);
            return;
        }
}

static bool within(const void *object, const void *from, const void *to)
{
    return (uintptr_t)object >= (uintptr_t)from && (uintptr_t)object < (uintptr_t)to;
}

/* Only the word itself says whether it is held: the object may have gone with its pool, by another thread or by the end
   of a mapping, and another one lie at its address. */
static bool is_true(const struct shmemi_held *held)
{
    const _Atomic uint64_t *word = held->object;
    return shmemi_holder_is(atomic_load_explicit(word, memory_order_relaxed),
                            held->holder); /* ours: nobody changes it */
}

static void drop_untrue(const void *from, const void *to)
{
    for (unsigned i = shmemi_held.count; i > 0; i--)
        if (within(shmemi_held.entries[i - 1].object, from, to) && !is_true(&shmemi_held.entries[i - 1]))
            drop(i - 1);
}

void *shmemi_held_find(const void *from, const void *to)
{
    drop_untrue(from, to);
    for (unsigned i = shmemi_held.count; i > 0; i--)
        if (within(shmemi_held.entries[i - 1].object, from, to))
            return shmemi_held.entries[i - 1].object;
    return NULL;
}

unsigned shmemi_held_count(const void *from, const void *to)
{
    unsigned count = 0;
    drop_untrue(from, to);
    for (unsigned i = 0; i < shmemi_held.count; i++)
        count += within(shmemi_held.entries[i].object, from, to);
    return count;
}

void shmemi_held_forget(const void *from, const void *to)
{
    for (unsigned i = shmemi_held.count; i > 0; i--)
        if (within(shmemi_held.entries[i - 1].object, from, to))
            drop(i - 1);
}

void shmemi_holder_lose(void *object, uint64_t holder)
{
    _Atomic uint64_t *word = object;
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed); /* the exchange decides */
    /* [lost] release: pairs with the acquire of whoever takes the word from here: what the thread did comes before. */
    while (shmemi_holder_is(seen, holder) &&
           !atomic_compare_exchange_weak_explicit(word, &seen, seen | SHMEMI_HOLDER_LOST, memory_order_release,
                                                  memory_order_relaxed))
        continue;
    shmemi_holder_wake(word, INT_MAX);
}
