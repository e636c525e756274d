// SPDX-License-Identifier: Apache-2.0
// Collectives without types: barrier, broadcast, reductions.
#ifndef SHMEMI_COMM_COLL_H
#define SHMEMI_COMM_COLL_H

#include <stddef.h>
#include <stdint.h>

enum shmemi_reduce_op {
    SHMEMI_REDUCE_SUM,
    SHMEMI_REDUCE_PROD,
    SHMEMI_REDUCE_MIN,
    SHMEMI_REDUCE_MAX,
    SHMEMI_REDUCE_AND,
    SHMEMI_REDUCE_OR,
    SHMEMI_REDUCE_XOR,
    SHMEMI_REDUCE_OPS
};

enum shmemi_type {
    SHMEMI_TYPE_INT8,
    SHMEMI_TYPE_INT16,
    SHMEMI_TYPE_INT32,
    SHMEMI_TYPE_INT64,
    SHMEMI_TYPE_UINT8,
    SHMEMI_TYPE_UINT16,
    SHMEMI_TYPE_UINT32,
    SHMEMI_TYPE_UINT64,
    SHMEMI_TYPE_FLOAT,
    SHMEMI_TYPE_DOUBLE,
    SHMEMI_TYPE_LONGDOUBLE,
    SHMEMI_TYPE_COMPLEXF,
    SHMEMI_TYPE_COMPLEXD,
    SHMEMI_TYPE_FLOAT16,  /* IEEE half: summed in float, rounded once */
    SHMEMI_TYPE_BFLOAT16, /* upper half of a float: likewise */
    SHMEMI_TYPES
};

/* quiet, then everybody waits for everybody. */
void shmemi_barrier_all(const char *fn);
/* Everybody in the team waits for everybody; 0, or nonzero for a team that does not exist. */
int shmemi_team_sync(const char *fn, uintptr_t team);

/* Element-wise over all PEs of the team, in PE order (so the result is the same bits everywhere); dest may equal
   source. Symmetric addresses. 0, or nonzero for a team that does not exist. */
int shmemi_team_reduce(const char *fn, uintptr_t team, void *dest, const void *source, size_t nelems,
                       enum shmemi_type type, enum shmemi_reduce_op op);

/* bytes from the root's source to everybody's dest, the root's included. */
int shmemi_team_broadcast(const char *fn, uintptr_t team, void *dest, const void *source, size_t nelems, size_t size,
                          int root);

/* nelems elements of every PE, in PE order, to everybody's dest. */
int shmemi_team_fcollect(const char *fn, uintptr_t team, void *dest, const void *source, size_t nelems, size_t size);

#endif
