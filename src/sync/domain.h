// SPDX-License-Identifier: Apache-2.0
// Who holds something: members of a pool or PEs of a job, and their threads, as one 64-bit word that says whether the
// holder is still there.
//
// holder word:  bits 63..32  generation of the slot: places are used again, generations are not
//               bit  31      WAITED: somebody sleeps on the lower half
//               bit  30      LOST: the thread ended without giving back what it held
//               bits 29..20  slot + 1
//               bit  19      MARK: what the object makes of it
//               bits 18..0   thread, counted in its process from 1
//               0            nobody
// The lower half is a futex. What a word says was perhaps written by anybody: a slot that cannot be is a dead holder.
#ifndef SHMEMI_SYNC_DOMAIN_H
#define SHMEMI_SYNC_DOMAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members: slot i's alive word (which the kernel marks at death) is at alive + i * stride, and the pid and the
   generation of whoever is in the slot SHMEMI_DOMAIN_PID and _GENERATION bytes behind it. */
struct shmemi_domain {
    const char *alive;
    size_t stride;
    unsigned count; /* at most 1022 */
    unsigned me;
    uint32_t generation; /* mine */
};

enum { SHMEMI_DOMAIN_PID = 8, SHMEMI_DOMAIN_GENERATION = 12, SHMEMI_DOMAIN_SLOTS_MOST = 1022 };

#define SHMEMI_HOLDER_WAITED (UINT64_C(1) << 31)
#define SHMEMI_HOLDER_LOST (UINT64_C(1) << 30)
#define SHMEMI_HOLDER_MARK (UINT64_C(1) << 19)
#define SHMEMI_HOLDER_MARKS (SHMEMI_HOLDER_WAITED | SHMEMI_HOLDER_LOST | SHMEMI_HOLDER_MARK)
/* Words that name a slot that nobody has, with meanings of their own in the other bits. */
#define SHMEMI_HOLDER_NOBODY (UINT64_C(1023) << 20)

/* This thread's number in its process; it is not used again while half a million others are made. 0: not counted yet.
 */
extern _Thread_local uint32_t shmemi_thread __attribute__((tls_model("initial-exec")));
uint32_t shmemi_thread_count(void);

static inline uint32_t shmemi_thread_number(void)
{
    return __builtin_expect(shmemi_thread != 0, 1) ? shmemi_thread : shmemi_thread_count();
}

/* This process as a holder, without the thread. */
static inline uint64_t shmemi_holder_base(const struct shmemi_domain *domain)
{
    return (uint64_t)domain->generation << 32 | (uint64_t)(domain->me + 1) << 20;
}

/* This thread as a holder. */
static inline uint64_t shmemi_holder(const struct shmemi_domain *domain)
{
    return shmemi_holder_base(domain) | shmemi_thread_number();
}

/* Whether the word names this holder, not LOST. */
static inline bool shmemi_holder_is(uint64_t word, uint64_t mine)
{
    return (word & ~(SHMEMI_HOLDER_WAITED | SHMEMI_HOLDER_MARK)) == mine;
}

/* The slot that the word names, or -1 for one that cannot be. */
int shmemi_holder_slot(const struct shmemi_domain *domain, uint64_t word);

/* Whether the holder has died: its process, or the thread. Not for 0. */
bool shmemi_holder_dead(const struct shmemi_domain *domain, uint64_t word);

/* "slot 3 (pid 77), thread 1", for people. Returns out. */
enum { SHMEMI_HOLDER_TEXT = 64 };
const char *shmemi_holder_text(const struct shmemi_domain *domain, uint64_t word, char out[SHMEMI_HOLDER_TEXT]);

/* Sleeps on a word while it is `seen`, and on the life of `holder` (0: nobody's): until either changes, the deadline or
   100 ms have passed. 0 (look again), -ETIMEDOUT, or -EINTR when the program wants out. */
int shmemi_domain_sleep(const struct shmemi_domain *domain, _Atomic uint32_t *word, uint32_t seen, uint64_t holder,
                        int64_t deadline);

/* While this is so, this thread's sleeps do not ask whether the program wants out. */
void shmemi_sleep_deaf(bool deaf);

/* Wakes sleepers of the lower half. */
void shmemi_holder_wake(_Atomic uint64_t *word, int count);

/* The lower half of a word as a futex. */
static inline _Atomic uint32_t *shmemi_lower_half(_Atomic uint64_t *word)
{
    return (_Atomic uint32_t *)(void *)word; /* little endian */
}

/* ---- what a thread holds ---- */

/* So that its end can be told: a thread that ends with an entry has `lose` called for it. Entries are found from the
   end: what is taken last is mostly given back first. */
typedef void (*shmemi_lose)(void *object, uint64_t holder);
struct shmemi_held {
    void *object;
    uint64_t holder;
    shmemi_lose lose;
};
struct shmemi_held_list {
    struct shmemi_held *entries;
    unsigned count, room;
};
extern _Thread_local struct shmemi_held_list shmemi_held __attribute__((tls_model("initial-exec")));

int shmemi_held_grow(void);
void shmemi_held_remove_slowly(void *object);

/* Before something is taken: room to note it. -ENOMEM. */
static inline int shmemi_held_reserve(void)
{
    return __builtin_expect(shmemi_held.count < shmemi_held.room, 1) ? 0 : shmemi_held_grow();
}

/* After shmemi_held_reserve(). */
static inline void shmemi_held_note(void *object, uint64_t holder, shmemi_lose lose)
{
    shmemi_held.entries[shmemi_held.count++] = (struct shmemi_held){.object = object, .holder = holder, .lose = lose};
}

static inline void shmemi_held_remove(void *object)
{
    if (__builtin_expect(shmemi_held.count && shmemi_held.entries[shmemi_held.count - 1].object == object, 1))
        shmemi_held.count--;
    else
        shmemi_held_remove_slowly(object);
}

/* The last that lies within [from, to), which is mapped, or NULL. Words there that do not name their holder are no
   longer held, and forgotten. */
void *shmemi_held_find(const void *from, const void *to);
unsigned shmemi_held_count(const void *from, const void *to);

/* What lies within [from, to) is gone: it is nobody's any more. Of this thread's. */
void shmemi_held_forget(const void *from, const void *to);

/* Whether an object is still mapped when its holder ends: asked before `lose`, with `end` called after it. Added once
   by each who maps objects; without any, all are taken to be mapped. */
struct shmemi_held_guard {
    bool (*begin)(const void *object);
    void (*end)(void);
};
enum { SHMEMI_HELD_GUARDS_MOST = 2 };
void shmemi_held_add_guard(const struct shmemi_held_guard *guard);

/* Marks the word of a holder whose thread ends, and wakes who waits for it: what most lose functions do. */
void shmemi_holder_lose(void *word, uint64_t holder);

#endif
