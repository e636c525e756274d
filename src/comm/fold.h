// SPDX-License-Identifier: Apache-2.0
// The arithmetic of reductions: element-wise over several sources, in the order given.
#ifndef SHMEMI_COMM_FOLD_H
#define SHMEMI_COMM_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "coll.h"

size_t shmemi_type_size(enum shmemi_type type);

/* Whether the operation exists for the type (no min of a complex number, no xor of a float). */
bool shmemi_foldable(enum shmemi_type type, enum shmemi_reduce_op op);

/* Bytes that are folded at a time: out of every source a piece that stays in the first-level cache. */
enum { SHMEMI_FOLD_BYTES = 8192 };

/* out[i] = sources[0][i] op sources[1][i] op ... for n elements, n * size at most SHMEMI_FOLD_BYTES. out is written
   once, at the end, and may equal a source. Half types are folded in float and rounded once. */
void shmemi_fold(enum shmemi_type type, enum shmemi_reduce_op op, void *out, const void *const *sources, int count,
                 size_t n);

#endif
