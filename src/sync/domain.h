// SPDX-License-Identifier: Apache-2.0
// Who holds something: members of a pool or PEs of a job, and their threads, as one 64-bit word that says whether the
// holder is still there.
//
// holder word:  bits 63..32  generation of the slot: places are used again, generations are not
//               bit  31      WAITED: somebody sleeps on the lower half
//               bit  30      LOST: the thread ended without giving back what it held
//               bits 29..20  slot + 1
//               bits 19..0   thread, counted in its process from 1
//               0            nobody
// The lower half is a futex. What a word says was perhaps written by anybody: a slot that cannot be is a dead holder.
#ifndef SHMEMI_SYNC_DOMAIN_H
#define SHMEMI_SYNC_DOMAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The members: slot i's alive word (which the kernel marks at death) is at alive + i * stride, and the generation of
   whoever is in the slot SHMEMI_DOMAIN_GENERATION bytes behind it. */
struct shmemi_domain {
    const char *alive;
    size_t stride;
    unsigned count; /* at most 1022 */
    unsigned me;
    uint32_t generation; /* mine */
};

enum { SHMEMI_DOMAIN_GENERATION = 12, SHMEMI_DOMAIN_SLOTS_MOST = 1022 };

#define SHMEMI_HOLDER_WAITED (UINT64_C(1) << 31)
#define SHMEMI_HOLDER_LOST (UINT64_C(1) << 30)
#define SHMEMI_HOLDER_MARKS (SHMEMI_HOLDER_WAITED | SHMEMI_HOLDER_LOST)

/* This thread's number in its process; it is not used again while a million others are made. */
uint32_t shmemi_thread_number(void);

/* This thread as a holder. */
uint64_t shmemi_holder(const struct shmemi_domain *domain);

/* The slot that the word names, or -1 for one that cannot be. */
int shmemi_holder_slot(const struct shmemi_domain *domain, uint64_t word);

/* Whether the holder has died: its process, or the thread. Not for 0. */
bool shmemi_holder_dead(const struct shmemi_domain *domain, uint64_t word);

/* Sleeps on the lower half of a word while it is `seen`, and on its holder's life: until either changes, the deadline
   or 100 ms have passed. 0 (look again), -ETIMEDOUT, or -EINTR when the program wants out. */
int shmemi_holder_sleep(const struct shmemi_domain *domain, _Atomic uint64_t *word, uint64_t seen, int64_t deadline);

/* Wakes sleepers of the lower half. */
void shmemi_holder_wake(_Atomic uint64_t *word, int count);

/* The lower half of a word as a futex. */
static inline _Atomic uint32_t *shmemi_lower_half(_Atomic uint64_t *word)
{
    return (_Atomic uint32_t *)(void *)word; /* little endian */
}

/* What a thread holds, so that its end can be told. A thread that ends with an entry has `lose` called for it. Entries
   are found from the end: what is taken last is mostly given back first. */
typedef void (*shmemi_lose)(void *object);
int shmemi_held_add(void *object, shmemi_lose lose); /* -ENOMEM */
void shmemi_held_remove(void *object);
/* Calls the function for each of this thread's. */
void shmemi_held_each(void (*call)(void *object, void *context), void *context);

#endif
