/* SPDX-License-Identifier: Apache-2.0 */
/* Process groups: collectives between any processes of one host and one user, which need be no PEs of a job and need
   not call shmem_init. Python's torch.distributed back end is built on them.

   Rank 0 makes a group and gives its key to the others, by any means; each joins under its number. All memory is
   ordinary memory of the callers. Collectives are called by all ranks in the same order. Every rank says what it calls
   and compares: where two differ (kind, type, count, operation, root), all ranks get -EINVAL with a text that names two
   ranks and what each called, nothing was moved, and the group goes on. A rank that dies or leaves while it is needed
   gives -EOWNERDEAD on all others within 2 seconds; a time that runs out gives -ETIMEDOUT, with those who did not
   come. After these two, and after -EINTR, the group is of no use any more: the others are told at once, and further
   calls fail with the same reason.

   Conventions are those of shmemx.h, which includes this header. Timeouts are seconds; negative waits for ever. One
   collective of a group runs at a time: threads that call at once take turns, in no order. In a forked child the
   parent's groups give -EPERM. */
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

/* Leaves, and the handle is gone: it gives -EBADF, and so do its requests. Others that still need this rank get
   -EOWNERDEAD. No other thread may be in a call. */
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

/* --- messages ------------------------------------------------------------------------------------------------------
   Between two ranks (also from a rank to itself), matched by tag; those with one tag keep their order. Up to 1920 bytes
   a send is over at once; a longer one when it was received. A rank can have 65 sends to one rank that were not
   received yet; more wait for their turn. Where sizes or types differ, the receiver gets -EINVAL, which names both, and
   so does the sender of more than 1920 bytes. They may run beside collectives. */

SHMEMX_API int shmemx_group_send(shmemx_group_t group, const void *x, shmemx_group_of_t of, int to, int tag,
                                 double seconds);
/* from: a rank, or -1 for any. source (may be NULL): whose message it was. */
SHMEMX_API int shmemx_group_recv(shmemx_group_t group, void *x, shmemx_group_of_t of, int from, int tag, double seconds,
                                 int *source);

typedef struct shmemx_group_request *shmemx_group_request_t;

/* The same, begun: a thread of the library goes on with it. The memory is in use until the request is over. All
   requests are over, and waited for, before the group is closed. */
SHMEMX_API int shmemx_group_send_begin(shmemx_group_t group, const void *x, shmemx_group_of_t of, int to, int tag,
                                       double seconds, shmemx_group_request_t *out);
SHMEMX_API int shmemx_group_recv_begin(shmemx_group_t group, void *x, shmemx_group_of_t of, int from, int tag,
                                       double seconds, shmemx_group_request_t *out);
/* Whether it was done, or why it failed; block not 0: waits for that. The request is gone, unless this gives -EAGAIN:
   it is not over yet. -EBADF: it was gone already, or its group was closed. */
SHMEMX_API int shmemx_group_request_end(shmemx_group_request_t request, int block, int *source);

#ifdef __cplusplus
}
#endif

#endif
