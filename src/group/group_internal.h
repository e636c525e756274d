// SPDX-License-Identifier: Apache-2.0
// A group as one of its processes knows it.
#ifndef SHMEMI_GROUP_INTERNAL_H
#define SHMEMI_GROUP_INTERNAL_H

#include <pthread.h>

#include "group.h"
#include "layout.h"
#include "pool/object.h"

/* A wait does not go on yielding for longer than this. */
enum { SHMEMI_PG_YIELD_NS = 30000 };

enum shmemi_pg_kind {
    SHMEMI_PG_BARRIER,
    SHMEMI_PG_ALL_REDUCE,
    SHMEMI_PG_REDUCE,
    SHMEMI_PG_REDUCE_SCATTER,
    SHMEMI_PG_BROADCAST,
    SHMEMI_PG_ALL_GATHER,
    SHMEMI_PG_GATHER,
    SHMEMI_PG_SCATTER,
    SHMEMI_PG_ALL_TO_ALL,
    SHMEMI_PG_KINDS
};

struct shmemi_pg {
    struct shmemi_object *object;
    struct shmemi_pool *pool; /* rank 0's, which made it; NULL: the object's, by import */
    struct shmemi_pg_shared *shared;
    const struct shmemi_domain *domain;
    char *staging;
    size_t slot_bytes;
    struct shmemi_pg_places at;
    struct shmemi_pg_mail *mail;
    int rank, ranks;
    int spins, yields;
    pthread_mutex_t lock; /* one collective at a time */
    uint32_t entries;     /* how many collectives were entered */
    uint64_t round;       /* the next one; the counts are its lower half */
    pthread_mutex_t giving_up;
    _Atomic int broken; /* a negative errno: nothing works any more, for this reason */
    char reason[SHMEMI_PG_REASON];
    struct shmemi_pg_call call; /* the one in progress */
    int64_t deadline;
    double seconds;
};

/* ---- group.c ---- */

/* Where things are in a rank's part. */
struct shmemi_pg_places shmemi_pg_places(int ranks, size_t slot_bytes);

/* ---- message.c ---- */
int shmemi_pg_mail_open(struct shmemi_pg *g);
/* Ends its thread. forked: this is a child, which has none. */
void shmemi_pg_mail_close(struct shmemi_pg *g, bool forked);

/* ---- steps.c ---- */

/* -EPERM in a forked child. */
int shmemi_pg_check_process(const struct shmemi_pg *g);
/* Whether the rank can never do what `what` needs: -EOWNERDEAD and the like. */
int shmemi_pg_check_rank(const struct shmemi_pg *g, int rank, const char *what);
/* 0, or why this rank gave up. */
int shmemi_pg_check_broken(const struct shmemi_pg *g, const char *what);
/* Tells the others, with the text of the last error, that this rank does not go on. */
void shmemi_pg_give_up(struct shmemi_pg *g, int rc);

/* A collective begins: what is common to all. -EINVAL ... before anything happened; takes the lock otherwise. */
int shmemi_pg_begin(struct shmemi_pg *g, const struct shmemi_pg_call *call, double seconds);
/* It ends; a failure that leaves the ranks at odds is made known to them. Returns rc. */
int shmemi_pg_end(struct shmemi_pg *g, int rc);

/* Says what this rank calls. Whatever it has put into the first slot comes with it. */
void shmemi_pg_enter(struct shmemi_pg *g);
/* Waits until all have entered, and compares: -EINVAL naming two ranks, and then the group is as before the call. */
int shmemi_pg_meet(struct shmemi_pg *g);

/* Counts a step of a round as done. everybody: also who waits for this rank alone must be woken. */
void shmemi_pg_done(struct shmemi_pg *g, enum shmemi_pg_step step, uint64_t round, bool everybody);
/* Waits until rank (or all, for -1) has done that step of that round. */
int shmemi_pg_await(struct shmemi_pg *g, enum shmemi_pg_step step, uint64_t round, int rank);
/* Waits until this rank's slot of the round may be filled. */
int shmemi_pg_await_slot(struct shmemi_pg *g, uint64_t round);

SHMEMI_INLINE char *shmemi_pg_slot(const struct shmemi_pg *g, int rank, uint64_t round)
{
    return g->staging + (size_t)rank * g->at.bytes + round % SHMEMI_PG_SLOTS * g->slot_bytes;
}

/* "all_reduce of 10 float32 (sum)". Returns out. */
enum { SHMEMI_PG_CALL_TEXT = 96 };
const char *shmemi_pg_call_text(const struct shmemi_pg_call *call, char out[SHMEMI_PG_CALL_TEXT]);
const char *shmemi_pg_kind_name(unsigned kind);
const char *shmemi_pg_type_name(unsigned type);
size_t shmemi_pg_element_bytes(unsigned type);
/* "rank 3 (pid 77)". Returns out. */
enum { SHMEMI_PG_RANK_TEXT = 40 };
const char *shmemi_pg_rank_text(const struct shmemi_pg *g, int rank, char out[SHMEMI_PG_RANK_TEXT]);

#endif
