// SPDX-License-Identifier: Apache-2.0
// What the ranks of a group share. One object of a pool of its own holds the head and a row for each rank; behind it,
// in another buffer, lies the staging memory: SHMEMI_PG_SLOTS slots for each rank.
//
// A collective is an entry (every rank says what it calls, and compares) and a number of rounds. Round r of all since
// the group was made uses slot r % SHMEMI_PG_SLOTS of each rank. In a round a rank fills its slot, perhaps folds its
// part of all slots, and drains what it needs out of the others'. Each rank counts these steps in its own row, and
// waits for the counts of others: before it fills slot r again, all have drained round r - SHMEMI_PG_SLOTS. Every rank
// counts every round, also where it has nothing to do in it, so the counts of all agree between collectives.
#ifndef SHMEMI_GROUP_LAYOUT_H
#define SHMEMI_GROUP_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"

enum {
    SHMEMI_PG_VERSION = 1,
    SHMEMI_PG_RANKS_MOST = 256, /* members of a pool */
    SHMEMI_PG_SLOTS = 3,
    SHMEMI_PG_REASON = 192,
    SHMEMI_PG_LETTERS = 64, /* of a rank, for all others; besides one for each of them */
    SHMEMI_PG_EAGER = 1920, /* bytes that a letter itself holds */
    SHMEMI_PG_WINDOWS = 2,  /* of a rank: through them larger messages go, each with two halves */
    SHMEMI_PG_HALF = 128 << 10,
};

/* The steps that are counted. They wrap around. */
enum shmemi_pg_step { SHMEMI_PG_ENTERED, SHMEMI_PG_FILLED, SHMEMI_PG_FOLDED, SHMEMI_PG_DRAINED, SHMEMI_PG_STEPS };

enum shmemi_pg_state { SHMEMI_PG_ABSENT, SHMEMI_PG_PRESENT, SHMEMI_PG_LEFT, SHMEMI_PG_GAVE_UP };

/* What a rank calls. */
struct shmemi_pg_call {
    uint32_t kind; /* enum shmemi_pg_kind */
    uint32_t type; /* enum shmemi_type, or SHMEMI_PG_BYTES */
    uint32_t op;   /* enum shmemi_reduce_op, SHMEMI_PG_MEAN; 0 where there is none */
    uint32_t root;
    uint64_t count; /* of elements, which a rank gives; 0 for all_to_all */
};

/* A rank's row. Written by that rank only, except `who`, which is claimed, and read with suspicion. */
struct shmemi_pg_row {
    _Atomic uint64_t who;   /* its process as a holder of the pool's; 0: nobody has come */
    _Atomic uint32_t state; /* enum shmemi_pg_state */
    _Atomic int32_t pid;    /* for messages to people */
    int32_t code;           /* GAVE_UP: a negative errno, and why */
    char reason[SHMEMI_PG_REASON];
    _Alignas(SHMEMI_LINE) _Atomic uint32_t steps[SHMEMI_PG_STEPS];
    struct shmemi_pg_call calls[2]; /* of the last two entries */
    /* Changes when somebody has done something about a message to or from this rank; who sleeps on it. */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t mail;
    _Atomic uint32_t mail_sleepers;
};

/* A message on its way. The sender makes it POSTED and FREE, the receiver TAKEN or REFUSED (and FREE, of a message that
   the letter holds). The word of the state counts how often the letter was posted, so that one that was taken back and
   posted anew is not taken for the same. */
enum shmemi_pg_letter_state { SHMEMI_PG_FREE, SHMEMI_PG_POSTED, SHMEMI_PG_TAKEN, SHMEMI_PG_REFUSED };
#define SHMEMI_PG_LETTER_STATE(word) ((word)&3u)

struct shmemi_pg_letter {
    _Atomic uint32_t state; /* enum shmemi_pg_letter_state, and 4 for each time that it was posted */
    _Atomic uint32_t to;    /* these two, and order, are read by all: until the state is changed from what it was */
    _Atomic int32_t tag;    /* before, they mean nothing */
    uint32_t type;
    uint64_t bytes;
    _Atomic uint64_t order;           /* counts the letters of the sender */
    _Atomic uint32_t window;          /* 1 + which, once the sender has one for it */
    _Atomic uint32_t filled, drained; /* halves */
    char pad[SHMEMI_LINE - 44 - 4];
    char data[SHMEMI_PG_EAGER];
};
_Static_assert(sizeof(struct shmemi_pg_letter) == 2048, "letters have lines of their own");

/* Where things are in a rank's part of the staging memory: slots, windows, letters. */
struct shmemi_pg_places {
    size_t windows, letters, bytes; /* the last: of all of it */
};

struct shmemi_pg_shared {
    uint32_t version, ranks;
    uint64_t slot_bytes, staging; /* the offset of the staging memory in the pool */
    /* Changes when somebody may have reason to go on; and how many sleep on it. */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t bell;
    _Atomic uint32_t sleepers;
    _Alignas(SHMEMI_LINE) struct shmemi_pg_row rows[];
};

#endif
