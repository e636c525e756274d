// SPDX-License-Identifier: Apache-2.0
// The standard's collectives, without types.
#ifndef SHMEMI_COMM_COLL_H
#define SHMEMI_COMM_COLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fold.h"

struct shmemi_group;

/* Below, g is the team or active set; NULL stands for SHMEM_TEAM_INVALID, for which they do nothing and return -1. What
   else is wrong ends the job, with fn in the message: addresses that are not symmetric, ranges that overlap and may
   not, a count that overflows. With SHMEM_DEBUG also calls that differ between PEs. All return 0 when this PE is done;
   its arrays may be used again. nelems elements of `size` bytes; dest may be NULL if there are none. */

/* quiet, then everybody waits for everybody. */
void shmemi_barrier_all(const char *fn);
int shmemi_coll_barrier(const char *fn, struct shmemi_group *g);
/* Everybody waits for everybody. */
int shmemi_coll_sync(const char *fn, struct shmemi_group *g);

/* Element-wise over all members, in their order (so the result is the same bits everywhere); dest may equal source. */
int shmemi_coll_reduce(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                       enum shmemi_type type, enum shmemi_reduce_op op);

/* The same with a count that was an int: negative ends the job. */
size_t shmemi_coll_count(const char *fn, int nreduce);

/* Element-wise sums over the members before this one, and with `inclusive` this one too; dest may equal source. */
int shmemi_coll_scan(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                     enum shmemi_type type, bool inclusive);

/* The root's source to everybody's dest; to the root's own only with at_root, and dest may equal source then. */
int shmemi_coll_broadcast(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                          size_t size, int root, bool at_root);

/* The elements of all members, in their order, to everybody's dest. collect: nelems may differ. */
int shmemi_coll_fcollect(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                         size_t size);
int shmemi_coll_collect(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                        size_t size);

/* Block i of the source to member i, as the block of its dest that has this member's number. alltoalls: the elements
   lie dst apart in dest and sst in source. */
int shmemi_coll_alltoall(const char *fn, struct shmemi_group *g, void *dest, const void *source, size_t nelems,
                         size_t size);
int shmemi_coll_alltoalls(const char *fn, struct shmemi_group *g, void *dest, const void *source, ptrdiff_t dst,
                          ptrdiff_t sst, size_t nelems, size_t size);

#endif
