// SPDX-License-Identifier: Apache-2.0
// A group: the PEs of one collective, in order. A team is a group that lasts; the active set of an old call is one for
// the time of the call.
#ifndef SHMEMI_COMM_GROUP_H
#define SHMEMI_COMM_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "job/parts.h"

/* How the members wait for each other. */
enum shmemi_arrival {
    SHMEMI_ARRIVE_FLAT,       /* everybody looks at everybody */
    SHMEMI_ARRIVE_TREE,       /* in log2(members) steps, one peer a step */
    SHMEMI_ARRIVE_CENTRAL,    /* one counter; the last one lets all go on */
    SHMEMI_ARRIVE_ACTIVE_SET, /* as TREE, on the pSync arrays of the program */
};

/* A member as this PE meets it. */
struct shmemi_peer {
    struct shmemi_channel *channel;
    uint64_t base; /* rounds of that channel before this team */
};

struct shmemi_group {
    int size, me;      /* members, and which of them is this PE */
    int start, stride; /* member i is PE start + i * stride of the job */
    enum shmemi_arrival arrival;
    uint64_t round;     /* exchanges so far; the same on all members */
    const char *broken; /* why its collectives no longer work (one was interrupted); NULL: they do */
    struct shmemi_peer *peers;
    /* A team: */
    _Atomic uintptr_t handle; /* 0: destroyed; [team] */
    int contexts;             /* that a PE may have on it */
    /* An active set: */
    const char *fn;
    long *psync;
    long base; /* what its words hold while nobody uses them */
    bool published; /* something has been written into pSync besides arrivals */
};

/* The PE of the job that is member i. */
SHMEMI_INLINE int shmemi_group_pe(const struct shmemi_group *g, int i)
{
    return g->start + i * g->stride;
}

/* Which member PE pe of the job is; -1: none. */
static inline int shmemi_group_index(const struct shmemi_group *g, int pe)
{
    int distance = pe - g->start;
    if (g->stride == 0)
        return distance == 0 ? 0 : -1;
    int i = distance / g->stride;
    return distance % g->stride == 0 && i >= 0 && i < g->size ? i : -1;
}

/* Makes the table of teams, which has the world team in it. -ENOMEM. */
int shmemi_make_world(struct shmemi_group **out);

/* All PEs of the job. */
SHMEMI_INLINE int shmemi_world(struct shmemi_group **out)
{
    /* [world] acquire pairs with the release in shmemi_make_world(). */
    *out = atomic_load_explicit(&shmemi_current->parts->world, memory_order_acquire);
    return shmemi_likely(*out != NULL) ? 0 : shmemi_make_world(out);
}

#endif
