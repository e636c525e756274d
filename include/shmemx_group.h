// SPDX-License-Identifier: Apache-2.0
// Process groups: collectives between any processes of one host and one user, which need be no PEs of a job and need
// not call shmem_init. Python's torch.distributed back end is built on them.
//
// Rank 0 makes a group and gives its key to the others, by any means; each joins under its number. All memory is
// ordinary memory of the callers. Collectives are called by all ranks in the same order. Every rank says what it calls
// and compares: where two differ (kind, type, count, operation, root), all ranks get -EINVAL with a text that names two
// ranks and what each called, nothing was moved, and the group goes on. A rank that dies or leaves while it is needed
// gives -EOWNERDEAD on all others within 2 seconds; a time that runs out gives -ETIMEDOUT, with those who did not
// come. After these two, and after -EINTR, the group is of no use any more: the others are told at once, and further
// calls fail with the same reason.
//
// Conventions are those of shmemx.h, which includes this header. Timeouts are seconds; negative waits for ever. One
// collective of a group runs at a time: threads that call at once take turns, in no order. In a forked child the
// parent's groups give -EPERM.
#ifndef SHMEMX_GROUP_H
#define SHMEMX_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include <shmemx_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmemx_group *shmemx_group_t;

#define SHMEMX_GROUP_MOST 256 /* ranks */

/* The mean, as an operation besides shmemx_op_t; for floats. */
#define SHMEMX_GROUP_MEAN 7

/* Elements of a call: how many, of which shmemx_type_t. What is only moved may be SHMEMX_BYTES. */
typedef struct {
    size_t count;
    unsigned type;
} shmemx_group_of_t;

/* Makes a group, and is its rank 0. staging: bytes of shared memory for each rank, through which data go; 0: what is
   usual (1.5 MiB, less with many ranks). -ENOMEM. */
SHMEMX_API int shmemx_group_create(int ranks, size_t staging, shmemx_group_t *out);

/* The key by which others of this user join. */
SHMEMX_API int shmemx_group_key(shmemx_group_t group, char key[SHMEMX_KEY_TEXT]);

/* Joins as this rank, of as many ranks as rank 0 said. Does not wait for others. -EEXIST: the rank is taken; -EINVAL.
 */
SHMEMX_API int shmemx_group_join(const char *key, int rank, int ranks, shmemx_group_t *out);

/* Leaves, and the handle is gone. Others that still need this rank get -EOWNERDEAD. No other thread may be in a call.
 */
SHMEMX_API int shmemx_group_close(shmemx_group_t group);

SHMEMX_API int shmemx_group_rank(shmemx_group_t group);
SHMEMX_API int shmemx_group_ranks(shmemx_group_t group);

/* Everybody waits for everybody. */
SHMEMX_API int shmemx_group_barrier(shmemx_group_t group, double seconds);

/* x becomes, element by element, the fold of all ranks' x in the order of ranks: the same bits everywhere. op:
   shmemx_op_t, SHMEMX_GROUP_MEAN. Half types are folded in float and rounded once. */
SHMEMX_API int shmemx_group_all_reduce(shmemx_group_t group, void *x, shmemx_group_of_t of, unsigned op,
                                       double seconds);

/* The same at the root only; the others' x stays. */
SHMEMX_API int shmemx_group_reduce(shmemx_group_t group, void *x, shmemx_group_of_t of, unsigned op, int root,
                                   double seconds);

/* out becomes the fold of all ranks' ins[this rank]. of: of one block. out may be one of ins. */
SHMEMX_API int shmemx_group_reduce_scatter(shmemx_group_t group, void *out, const void *const ins[],
                                           shmemx_group_of_t of, unsigned op, double seconds);

/* x of the root to all. */
SHMEMX_API int shmemx_group_broadcast(shmemx_group_t group, void *x, shmemx_group_of_t of, int root, double seconds);

/* outs[r] becomes rank r's in, on all ranks; in may be the own one of outs. */
SHMEMX_API int shmemx_group_all_gather(shmemx_group_t group, void *const outs[], const void *in, shmemx_group_of_t of,
                                       double seconds);
/* The same at the root; outs may be NULL elsewhere. */
SHMEMX_API int shmemx_group_gather(shmemx_group_t group, void *const outs[], const void *in, shmemx_group_of_t of,
                                   int root, double seconds);
/* out becomes the root's ins[this rank]; ins may be NULL elsewhere. */
SHMEMX_API int shmemx_group_scatter(shmemx_group_t group, void *out, const void *const ins[], shmemx_group_of_t of,
                                    int root, double seconds);

/* outs[r] becomes rank r's ins[this rank]. Counts are of elements, by rank; what one sends the other has to expect. In
   and out do not overlap. */
SHMEMX_API int shmemx_group_all_to_all(shmemx_group_t group, void *const outs[], const size_t out_counts[],
                                       const void *const ins[], const size_t in_counts[], unsigned type,
                                       double seconds);

#ifdef __cplusplus
}
#endif

#endif
