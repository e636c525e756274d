// SPDX-License-Identifier: Apache-2.0
// What one process knows of a queue.
#ifndef SHMEMI_QUEUE_QUEUE_INTERNAL_H
#define SHMEMI_QUEUE_QUEUE_INTERNAL_H

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "bias.h"
#include "queue.h"

/* A thread that pushes with a handle. Its own, but for what others do under the bias. */
struct shmemi_queue_producer {
    struct shmemi_bias bias;
    struct shmemi_queue_record *record;
    _Atomic uint32_t count;    /* items gathered; others look without the bias */
    _Atomic uint32_t gathered; /* batches begun: tells one from the next */
    uint32_t bytes;            /* messages: of `items` in use */
    bool reserved;             /* [reserved_at, + reserved_slots) is to be committed */
    uint64_t head;             /* as last seen */
    uint64_t reserved_at, reserved_slots;
    uint64_t lost;                          /* gathered items that nobody will get: told at the next call */
    char *items;                            /* batch of them; messages as they lie in slots */
    struct shmemi_queue *_Atomic queue;     /* NULL: the handle was closed */
    struct shmemi_queue_producer *next;     /* of the handle's; under the lock of handle.c */
    struct shmemi_queue_producer *next_own; /* of the thread's */
    uint32_t looked;                        /* by the clock: `gathered` at that time */
    int64_t looked_at;
};

struct shmemi_queue {
    struct shmemi_queue_shape shape;
    struct shmemi_queue_shared *shared;
    struct shmemi_queue_record *records;
    char *words, *items;
    uint64_t mask;
    const struct shmemi_site *site;
    struct shmemi_queue_producer *producers; /* under the lock of handle.c */
    struct shmemi_queue *next;               /* of the process's; likewise */
    /* The consumer's, who has its place: what it peeked at. */
    bool peeked;
    uint64_t peeked_at, peeked_left, peeked_slots;
};

static inline _Atomic uint64_t *shmemi_queue_word_at(const struct shmemi_queue *q, uint64_t position)
{
    return (_Atomic uint64_t *)(void *)(q->words + (position & q->mask) * q->shape.word_stride);
}

static inline char *shmemi_queue_item_at(const struct shmemi_queue *q, uint64_t position)
{
    return q->items + (position & q->mask) * q->shape.item_stride;
}

static inline uint64_t shmemi_queue_tail_of(uint64_t word)
{
    return word & SHMEMI_QUEUE_POSITIONS;
}

/* Whether nobody has destroyed it: then its memory is somebody else's. */
static inline bool shmemi_queue_exists(const struct shmemi_queue *q)
{
    /* relaxed: whoever destroys it has made sure that nobody is in a call */
    return atomic_load_explicit(q->site->alive, memory_order_relaxed) == q->site->life;
}

/* ---- handle.c ---- */

/* This thread's producers, the one used last in front. */
extern _Thread_local struct shmemi_queue_producer *shmemi_queue_own __attribute__((tls_model("initial-exec")));

/* This thread's producer of the handle, when it is the one used last. */
static inline struct shmemi_queue_producer *shmemi_queue_last_used(const struct shmemi_queue *q)
{
    struct shmemi_queue_producer *p = shmemi_queue_own;
    /* relaxed: another handle's, and NULL, are told apart from this one's all the same */
    return shmemi_likely(p && atomic_load_explicit(&p->queue, memory_order_relaxed) == q) ? p : NULL;
}

/* This thread's producer of the handle, made where need be. NULL: see the text and *rc. */
struct shmemi_queue_producer *shmemi_queue_producer_of(struct shmemi_queue *q, int *rc);

/* Calls the function for all producers of this process whose handle this is (NULL: all handles), until it returns
   negative. Under the lock. */
int shmemi_queue_each(struct shmemi_queue *only,
                      int (*call)(struct shmemi_queue *q, struct shmemi_queue_producer *p, void *context),
                      void *context);

/* ---- push.c ---- */

/* Moves in what there is room for. 0: all; -EAGAIN without a text; or what is wrong. With the bias, or the owner's. */
int shmemi_queue_move_in(struct shmemi_queue *q, struct shmemi_queue_producer *p);
/* By its owner: waits for room too. */
int shmemi_queue_move_in_all(struct shmemi_queue *q, struct shmemi_queue_producer *p, int64_t deadline);
/* The same for the producer of any thread of this process: waits as long as somebody pops, or until the deadline. */
int shmemi_queue_move_in_others(struct shmemi_queue *q, struct shmemi_queue_producer *p, int64_t deadline);
/* Gives up what was reserved and not committed. */
void shmemi_queue_give_up(struct shmemi_queue *q, struct shmemi_queue_producer *p);
int shmemi_queue_gone(void);      /* -EPIPE */
int shmemi_queue_damaged(void);   /* -EIO */
int shmemi_queue_destroyed(void); /* -ENOENT */

/* ---- wait.c ---- */

/* 0: look again. -EAGAIN (seconds 0), -ETIMEDOUT, -EINTR; -ENOENT: its memory is not to be touched again. */
struct shmemi_queue_wait {
    double seconds;
    int64_t deadline; /* 0: not known yet */
    unsigned turns;
    int64_t nap;
    bool slept;
};
int shmemi_queue_wait_items(struct shmemi_queue *q, struct shmemi_queue_wait *wait);
/* For a slot that somebody who lives has reserved. */
int shmemi_queue_wait_commit(struct shmemi_queue *q, struct shmemi_queue_wait *wait, uint64_t position,
                             uint64_t holder);
int shmemi_queue_wait_room(struct shmemi_queue *q, struct shmemi_queue_wait *wait, uint64_t slots);
void shmemi_queue_wake(_Atomic uint32_t *word, int count);

/* ---- clock.c: flushing by time ---- */

/* A batch was begun. */
void shmemi_queue_clock_begin(const struct shmemi_queue *q);
/* Handles of queues with flush_seconds: the clock is put away with the last. Not under the lock of handle.c. */
void shmemi_queue_clock_use(void);
void shmemi_queue_clock_unuse(void);
/* In a forked child. */
void shmemi_queue_clock_forget(void);

#endif
