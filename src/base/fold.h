// SPDX-License-Identifier: Apache-2.0
// The arithmetic of reductions: element-wise over several sources, in the order given.
#ifndef SHMEMI_BASE_FOLD_H
#define SHMEMI_BASE_FOLD_H

#include <stdbool.h>
#include <stddef.h>

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

size_t shmemi_type_size(enum shmemi_type type);

/* Whether the operation exists for the type (no min of a complex number, no xor of a float). */
bool shmemi_foldable(enum shmemi_type type, enum shmemi_reduce_op op);

/* Bytes that are folded at a time: out of every source a piece that stays in the first-level cache. */
enum { SHMEMI_FOLD_BYTES = 8192 };

/* out[i] = sources[0][i] op sources[1][i] op ... for n elements, n * size at most SHMEMI_FOLD_BYTES. out is written
   once, at the end, and may equal a source. Half types are folded in float and rounded once. */
void shmemi_fold(enum shmemi_type type, enum shmemi_reduce_op op, void *out, const void *const *sources, int count,
                 size_t n);

/* The sum divided by the number of sources; half types are divided before they are rounded. Only for floats. */
bool shmemi_meanable(enum shmemi_type type);
void shmemi_fold_mean(enum shmemi_type type, void *out, const void *const *sources, int count, size_t n);

#endif
