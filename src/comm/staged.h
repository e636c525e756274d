// SPDX-License-Identifier: Apache-2.0
// Collectives on memory that peers cannot reach: through pieces of the symmetric heap that stay in the cache.
#ifndef SHMEMI_COMM_STAGED_H
#define SHMEMI_COMM_STAGED_H

#include <stddef.h>

#include "coll.h"

/* In place: data becomes the fold of all PEs' data, in PE order. -EINVAL names the PE whose arguments differ. */
int shmemi_all_reduce(void *data, size_t n, enum shmemi_type type, enum shmemi_reduce_op op);
/* Everybody's data becomes the root's. */
int shmemi_broadcast(void *data, size_t bytes, int root);
/* dest gets every PE's source, in PE order. */
int shmemi_all_gather(void *dest, const void *source, size_t bytes);

/* In place of one of these, by a PE that has failed before it: the others get -EINVAL, and do not wait for it. Gives
   rc, with its text. */
int shmemi_take_no_part(int rc);

#endif
