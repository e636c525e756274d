// SPDX-License-Identifier: Apache-2.0
// Messages: what one process knows of those that are on their way.
#ifndef SHMEMI_GROUP_MESSAGE_H
#define SHMEMI_GROUP_MESSAGE_H

#include "group_internal.h"

enum shmemi_pg_request_state {
    SHMEMI_PG_WAITING, /* a send without a letter, a receive without a message */
    SHMEMI_PG_MOVING,
    SHMEMI_PG_OVER,
};

struct shmemi_pg_request {
    struct shmemi_pg *g;
    struct shmemi_pg_request *next;
    enum shmemi_pg_request_state state;
    bool is_send;
    bool left_alone; /* the group's thread drives it; otherwise only who waits for it */
    int peer;        /* -1: any sender */
    int tag;
    unsigned type;
    char *x;
    size_t bytes;
    struct shmemi_pg_letter *letter;
    uint32_t posted; /* of a send: the letter's word since then, unless it was taken */
    int source;      /* of a receive: the rank whose letter it is */
    uint32_t halves; /* so many were filled, or drained */
    int64_t deadline;
    double seconds;
    int rc;
    char text[SHMEMI_PG_REASON];
};

struct shmemi_pg_mail {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the thread */
    struct shmemi_pg_request *first, **last;
    uint64_t order;       /* letters that were posted */
    unsigned windows;     /* one bit each: taken */
    unsigned drivers;     /* threads in a wait */
    unsigned next_source; /* receives from anybody begin there */
    bool thread_runs, ending;
    pthread_t thread;
};

SHMEMI_INLINE struct shmemi_pg_letter *shmemi_pg_letters(const struct shmemi_pg *g, int rank)
{
    return (struct shmemi_pg_letter *)(void *)(g->staging + (size_t)rank * g->at.bytes + g->at.letters);
}

SHMEMI_INLINE char *shmemi_pg_half(const struct shmemi_pg *g, int rank, unsigned window, uint32_t number)
{
    return g->staging + (size_t)rank * g->at.bytes + g->at.windows + ((size_t)window * 2 + number % 2) * SHMEMI_PG_HALF;
}

SHMEMI_INLINE uint32_t shmemi_pg_halves(size_t bytes)
{
    return (uint32_t)((bytes + SHMEMI_PG_HALF - 1) / SHMEMI_PG_HALF);
}

/* The letter's word with another state. Only by the side whose turn it is. [letter] release: pairs with the acquires of
   the state. */
SHMEMI_INLINE void shmemi_pg_set_letter(struct shmemi_pg_letter *letter, enum shmemi_pg_letter_state state)
{
    uint32_t word = atomic_load_explicit(&letter->state, memory_order_relaxed); /* nobody else changes it now */
    atomic_store_explicit(&letter->state, (word & ~3u) | (uint32_t)state, memory_order_release);
}

SHMEMI_INLINE uint32_t shmemi_pg_letter_word(struct shmemi_pg_letter *letter)
{
    return atomic_load_explicit(&letter->state, memory_order_acquire); /* [letter] */
}

/* The peer has a reason to look at its messages. */
void shmemi_pg_notify(struct shmemi_pg *g, int rank);
/* A request is over. rc negative: with the text of the last error. */
void shmemi_pg_over(struct shmemi_pg_request *r, int rc);
/* "recv of 40 bytes from rank 3 with tag 7". Returns out. */
const char *shmemi_pg_request_text(const struct shmemi_pg_request *r, char out[SHMEMI_PG_CALL_TEXT]);

/* Goes on as far as that is possible now; whether it did. With the lock of the mail held. */
bool shmemi_pg_send_on(struct shmemi_pg_request *r);
bool shmemi_pg_receive_on(struct shmemi_pg_request *r);
/* Takes back what was not begun. False: the other side is at it. */
bool shmemi_pg_retract(struct shmemi_pg_request *r);

#endif
