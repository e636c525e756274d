// SPDX-License-Identifier: Apache-2.0
// Process groups: collectives and messages between any processes of one host, which need be no PEs of a job. What the
// functions do and return is said in shmemx_group.h.
#ifndef SHMEMI_GROUP_GROUP_H
#define SHMEMI_GROUP_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fold.h"
#include "map/key.h"

struct shmemi_pg;

/* Elements of a call that are only moved: bytes of no known type. */
enum { SHMEMI_PG_BYTES = SHMEMI_TYPES };
/* The mean, besides enum shmemi_reduce_op. */
enum { SHMEMI_PG_MEAN = SHMEMI_REDUCE_OPS };

int shmemi_pg_create(int ranks, size_t staging, struct shmemi_pg **out);
int shmemi_pg_key(struct shmemi_pg *g, char text[SHMEMI_KEY_TEXT]);
int shmemi_pg_join(const char *key, int rank, int ranks, struct shmemi_pg **out);
int shmemi_pg_close(struct shmemi_pg *g);
int shmemi_pg_rank(const struct shmemi_pg *g);
int shmemi_pg_ranks(const struct shmemi_pg *g);

/* What a rank calls; equal on all ranks but for what all_to_all says of its splits. */
struct shmemi_pg_elements {
    size_t count;
    unsigned type; /* enum shmemi_type, or SHMEMI_PG_BYTES */
};

int shmemi_pg_barrier(struct shmemi_pg *g, double seconds);
int shmemi_pg_all_reduce(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, unsigned op, double seconds);
int shmemi_pg_reduce(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, unsigned op, int root, double seconds);
int shmemi_pg_reduce_scatter(struct shmemi_pg *g, void *out, const void *const *ins, struct shmemi_pg_elements of,
                             unsigned op, double seconds);
int shmemi_pg_broadcast(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, int root, double seconds);
int shmemi_pg_all_gather(struct shmemi_pg *g, void *const *outs, const void *in, struct shmemi_pg_elements of,
                         double seconds);
int shmemi_pg_gather(struct shmemi_pg *g, void *const *outs, const void *in, struct shmemi_pg_elements of, int root,
                     double seconds);
int shmemi_pg_scatter(struct shmemi_pg *g, void *out, const void *const *ins, struct shmemi_pg_elements of, int root,
                      double seconds);
int shmemi_pg_all_to_all(struct shmemi_pg *g, void *const *outs, const size_t *out_counts, const void *const *ins,
                         const size_t *in_counts, unsigned type, double seconds);

/* ---- messages ---- */

struct shmemi_pg_request;

/* Begins to send or receive; a thread goes on with it. The memory stays as it is until the request is over. */
int shmemi_pg_post_send(struct shmemi_pg *g, const void *x, struct shmemi_pg_elements of, int to, int tag,
                        double seconds, struct shmemi_pg_request **out);
int shmemi_pg_post_recv(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, int from, int tag, double seconds,
                        struct shmemi_pg_request **out);
/* Waits until it is over: 0 or why it failed; *from (may be NULL): who sent it. The request is gone, unless this gives
   -EAGAIN: not `block`, and it is not over yet. */
int shmemi_pg_request_wait(struct shmemi_pg_request *request, bool block, int *from);
/* Both at once, without the thread. */
int shmemi_pg_send(struct shmemi_pg *g, const void *x, struct shmemi_pg_elements of, int to, int tag, double seconds);
int shmemi_pg_recv(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, int from, int tag, double seconds,
                   int *source);

#endif
