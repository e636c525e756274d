// SPDX-License-Identifier: Apache-2.0
// What all objects' waits have in common: where the object is, who sleeps for it, and cycles of waits.
#ifndef SHMEMI_SYNC_WAITING_H
#define SHMEMI_SYNC_WAITING_H

#include "base/cpu.h"
#include "domain.h"

/* One sleeper that is waiting for a holder, in memory that all members share. Written by the sleeper; read by whoever
   looks for cycles, who checks all of it. */
struct shmemi_wait_row {
    _Atomic uint64_t who;     /* 0: nobody */
    _Atomic uint64_t awaited; /* the holder; 0: just changing */
    _Atomic uint64_t word;    /* offset of the word that names the holder */
    _Atomic uint64_t object;  /* offset */
    _Atomic uint64_t futex;   /* offset of the word that it sleeps on, */
    _Atomic uint64_t seen;    /* while it is that: otherwise it is about to wake up, and waits for nobody */
    char pad[16];
};

/* Only where SHMEM_DEBUG is set. Offsets are from base, and less than bytes. */
struct shmemi_waits {
    struct shmemi_wait_row *rows;
    unsigned count;
    const char *base;
    uint64_t bytes;
    /* Whether the object that lies there has a name; it is written to out. NULL: none has. */
    bool (*name)(const struct shmemi_waits *waits, uint64_t offset, char *out, size_t size);
};

/* An object, as its user knows it. */
struct shmemi_site {
    const struct shmemi_domain *domain;
    uint64_t base;                 /* shmemi_holder_base() */
    const _Atomic uint64_t *alive; /* the object is there while this is `life`; NULL: always */
    uint64_t life;
    const struct shmemi_waits *waits; /* NULL: cycles are not looked for */
};

static inline uint64_t shmemi_site_holder(const struct shmemi_site *site)
{
    return site->base | shmemi_thread_number();
}

/* In an object: some of those who sleep for it, so that it is not destroyed under them. */
struct shmemi_sleepers {
    _Atomic uint64_t who[8];
};

/* Whether a living thread is among them. */
bool shmemi_sleepers_any(const struct shmemi_domain *domain, struct shmemi_sleepers *sleepers);

/* One wait, from its beginning to its end. */
struct shmemi_waiting {
    const struct shmemi_site *site;
    uint64_t mine;
    struct shmemi_sleepers *sleepers; /* NULL: the object knows in another way */
    _Atomic uint64_t *place;          /* among them */
    struct shmemi_wait_row *row;
    int turns; /* of shmemi_waiting_spin() */
};

#define SHMEMI_WAITING(of_site, of_sleepers)                                                                           \
    {                                                                                                                  \
        .site = (of_site), .mine = shmemi_site_holder(of_site), .sleepers = (of_sleepers)                              \
    }

/* A short wait, each twice as long as the last: every look at a word takes its line from whoever is about to change it.
   False when there were enough of them: time to sleep. */
enum { SHMEMI_SPINS = 7, SHMEMI_YIELDS = 3 };
bool shmemi_waiting_spin(struct shmemi_waiting *waiting);

/* 0, or -ENOENT: the object was destroyed. Asked before its words are changed again. */
int shmemi_waiting_check(const struct shmemi_waiting *waiting);

/* Sleeps while the word is `seen`; as shmemi_domain_sleep(). held (may be NULL): the word that names the holder.
   -EDEADLK: with SHMEM_DEBUG, the holder waits for this thread. -ETIMEDOUT without a text. */
int shmemi_waiting_sleep(struct shmemi_waiting *waiting, _Atomic uint32_t *word, uint32_t seen, uint64_t holder,
                         const _Atomic uint64_t *held, int64_t deadline);

/* Sleeps on a word that names its holder. */
static inline int shmemi_waiting_sleep_for(struct shmemi_waiting *waiting, _Atomic uint64_t *word, uint64_t seen,
                                           int64_t deadline)
{
    return shmemi_waiting_sleep(waiting, shmemi_lower_half(word), (uint32_t)seen, seen, word, deadline);
}

/* The wait is over: takes this thread off the lists. Returns rc. */
int shmemi_waiting_end(struct shmemi_waiting *waiting, int rc);

#endif
