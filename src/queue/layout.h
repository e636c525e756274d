// SPDX-License-Identifier: Apache-2.0
// What lies where in a queue. docs/formats/queue.md draws it.
//
// A ring of slots: an item takes one, a message as many as it needs. Positions count slots since the beginning, modulo
// 2^48; position p is slot p mod slots, which is a power of two. [head, tail) is taken. Each slot has a commit word;
// only that of the first slot of a run (what one atomic reserved) is written, so a run is in the queue entirely or not
// at all.
//
// Any member can write here, so nothing is followed unchecked: the sizes are checked and copied when a handle is made,
// positions are masked, lengths compared with what there is.
#ifndef SHMEMI_QUEUE_LAYOUT_H
#define SHMEMI_QUEUE_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "sync/mutex.h"

enum {
    SHMEMI_QUEUE_VERSION = 1,
    SHMEMI_QUEUE_RUN_MOST = 32767, /* slots reserved at once */
    SHMEMI_QUEUE_CELL = 64,        /* bytes of a slot for messages, at least */
    SHMEMI_QUEUE_HEADER = 8,       /* bytes before a message */
    SHMEMI_QUEUE_PRODUCERS = 256,  /* unless said otherwise */
    SHMEMI_QUEUE_SLOTS_LOG_MOST = 32,
};

/* How it is to be; and how it is, with everything filled in. */
struct shmemi_queue_config {
    uint64_t item_bytes; /* 0: messages */
    uint64_t capacity;   /* items; bytes for messages */
    uint64_t max_message;
    int64_t flush_ns;
    uint32_t batch, producers;
    uint32_t many; /* consumers */
    uint32_t reserved;
};

/* ---- words ---- */

#define SHMEMI_QUEUE_POSITIONS ((UINT64_C(1) << 48) - 1)
#define SHMEMI_QUEUE_ENDED (UINT64_C(1) << 63)    /* in the tail */
#define SHMEMI_QUEUE_NO_ITEMS (UINT64_C(1) << 15) /* in a commit word: the run was given up */

/* Position and slots in one word. Commit words: a run that begins there; 0 slots: none. Intents: what a producer has
   reserved or is about to. The head: how many more slots of the run there belong to it. */
static inline uint64_t shmemi_queue_word(uint64_t position, uint64_t slots)
{
    return position << 16 | slots;
}

static inline uint64_t shmemi_queue_position(uint64_t word)
{
    return word >> 16;
}

static inline uint64_t shmemi_queue_slots(uint64_t word)
{
    return word & SHMEMI_QUEUE_RUN_MOST;
}

/* How far `to` is behind `from`. */
static inline uint64_t shmemi_queue_distance(uint64_t from, uint64_t to)
{
    return (to - from) & SHMEMI_QUEUE_POSITIONS;
}

/* A thread that pushes. Written by it only, but for `holder`, which whoever comes next takes from the dead. */
struct shmemi_queue_record {
    _Atomic uint64_t holder; /* domain.h; 0: free */
    _Atomic uint64_t intent; /* 0: none */
    _Atomic uint64_t pushed; /* items moved in by whoever had the record */
    uint64_t reserved[5];
};
_Static_assert(sizeof(struct shmemi_queue_record) == 64, "the layout is fixed");

struct shmemi_queue_shared {
    /* Written once. */
    uint32_t version, fingerprint;
    struct shmemi_queue_config config;
    uint64_t bytes;
    char pad0[SHMEMI_LINE - 16 - sizeof(struct shmemi_queue_config)];
    /* Each on a line of its own: who writes one seldom needs another. */
    _Atomic uint64_t tail;
    char pad1[SHMEMI_LINE - 8];
    _Atomic uint64_t head; /* written by whoever has the consumer's place */
    _Atomic uint64_t popped, skipped;
    char pad2[SHMEMI_LINE - 24];
    struct shmemi_mutex consumer; /* the consumer's place */
    char pad3[SHMEMI_LINE - sizeof(struct shmemi_mutex)];
    _Atomic uint32_t for_items; /* 1: a consumer sleeps on this word */
    char pad4[SHMEMI_LINE - 4];
    _Atomic uint32_t for_room; /* 1: a producer sleeps on this word */
    char pad5[SHMEMI_LINE - 4];
    _Atomic uint32_t records; /* how many were ever used: a hint, checked */
    char pad6[SHMEMI_LINE - 4];
};
_Static_assert(sizeof(struct shmemi_queue_shared) == 7 * SHMEMI_LINE, "the layout is fixed");

/* The private copy of all sizes. */
struct shmemi_queue_shape {
    struct shmemi_queue_config config;
    uint64_t slots;    /* a power of two */
    uint64_t capacity; /* slots that may be taken at a time */
    uint64_t slot_bytes;
    uint64_t word_stride, item_stride;       /* from one commit word or slot to the next */
    uint64_t gather_bytes;                   /* private memory in which a producer gathers a batch */
    uint64_t records_at, words_at, items_at; /* from the beginning of the queue */
    uint64_t bytes;
};

/* Fills in defaults and sizes. -EINVAL says what cannot be. */
int shmemi_queue_lay_out(const struct shmemi_queue_config *config, struct shmemi_queue_shape *out);

/* How many slots a message takes. */
static inline uint64_t shmemi_queue_cells(const struct shmemi_queue_shape *shape, uint64_t bytes)
{
    return (bytes + SHMEMI_QUEUE_HEADER + shape->slot_bytes - 1) / shape->slot_bytes;
}

#endif
