// SPDX-License-Identifier: Apache-2.0
// Holders: naming them, and noticing their end.
#include "domain.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/interrupt.h"

enum { THREADS = (1 << 20) - 1, NAP = 100000000 /* ns: should a wake get lost with whoever was woken */ };

/* ---- names ---- */

uint32_t shmemi_thread_number(void)
{
    static _Atomic uint32_t threads;
    static _Thread_local uint32_t number __attribute__((tls_model("initial-exec")));
    if (__builtin_expect(number == 0, 0)) /* relaxed: only different numbers are needed */
        number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % THREADS + 1;
    return number;
}

uint64_t shmemi_holder(const struct shmemi_domain *domain)
{
    return (uint64_t)domain->generation << 32 | (uint64_t)(domain->me + 1) << 20 | shmemi_thread_number();
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

/* ---- sleeping ---- */

int shmemi_holder_sleep(const struct shmemi_domain *domain, _Atomic uint64_t *word, uint64_t seen, int64_t deadline)
{
    struct shmemi_futex words[2] = {{.word = shmemi_lower_half(word), .value = (uint32_t)seen}};
    unsigned count = 1;
    int slot = seen ? shmemi_holder_slot(domain, seen) : -1, rc = shmemi_interrupted();
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

struct held {
    void *object;
    shmemi_lose lose;
};

struct list {
    struct held *entries;
    unsigned count, room;
};

static _Thread_local struct list mine __attribute__((tls_model("initial-exec")));

/* A key of the process, because the C library tells the end of a thread that way. */
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_rc;

static void lose_all(void *unused)
{
    (void)unused;
    while (mine.count) {
        struct held last = mine.entries[--mine.count];
        last.lose(last.object);
    }
    free(mine.entries);
    mine = (struct list){0};
}

/* In a child of fork, what the parent's thread holds is the parent's. */
static void forget(void)
{
    mine.count = 0;
}

static void make_key(void)
{
    key_rc = pthread_key_create(&at_end, lose_all);
    pthread_atfork(NULL, NULL, forget);
}

static int make_room(void)
{
    unsigned room = mine.room ? 2 * mine.room : 16;
    pthread_once(&once, make_key);
    if (key_rc || pthread_setspecific(at_end, &mine))
        return shmemi_fail(-ENOMEM, "no key of thread-local data is left");
    struct held *entries = realloc(mine.entries, room * sizeof *entries);
    if (!entries)
        return shmemi_fail(-ENOMEM, "no memory to note what a thread holds");
    mine.entries = entries;
    mine.room = room;
    return 0;
}

int shmemi_held_add(void *object, shmemi_lose lose)
{
    if (__builtin_expect(mine.count == mine.room, 0)) {
        int rc = make_room();
        if (rc < 0)
            return rc;
    }
    mine.entries[mine.count++] = (struct held){.object = object, .lose = lose};
    return 0;
}

void shmemi_held_remove(void *object)
{
    for (unsigned i = mine.count; i > 0; i--)
        if (mine.entries[i - 1].object == object) {
            for (; i < mine.count; i++)
                mine.entries[i - 1] = mine.entries[i];
            mine.count--;
            return;
        }
}

void shmemi_held_each(void (*call)(void *object, void *context), void *context)
{
    for (unsigned i = 0; i < mine.count; i++)
        call(mine.entries[i].object, context);
}
