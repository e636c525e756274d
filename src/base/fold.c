// SPDX-License-Identifier: Apache-2.0
// One loop for each type and operation, written by the macros below; nobody outside this file meets them.
#include "fold.h"

#include <complex.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "error.h"

typedef float _Complex complexf;
typedef double _Complex complexd;

/* acc[i] = acc[i] op from[i] */
typedef void (*fold_loop)(void *acc, const void *from, size_t n);

#define LOOP(name, T, expression)                                                                                      \
    static void name(void *acc, const void *from, size_t n)                                                            \
    {                                                                                                                  \
        T *restrict a = acc;                                                                                           \
        const T *restrict b = from;                                                                                    \
        for (size_t i = 0; i < n; i++)                                                                                 \
            a[i] = (T)(expression);                                                                                    \
    }

#define ARITHMETIC(N, T, U) /* sums and products of integers wrap: computed unsigned, as U */                          \
    LOOP(sum_##N, T, (U)a[i] + (U)b[i])                                                                                \
    LOOP(prod_##N, T, (U)a[i] * (U)b[i])

#define ORDERED(N, T)                                                                                                  \
    LOOP(min_##N, T, b[i] < a[i] ? b[i] : a[i])                                                                        \
    LOOP(max_##N, T, b[i] > a[i] ? b[i] : a[i])

/* What is not a number stays, whichever PE it comes from: a minimum or maximum without it would depend on the order. */
#define FLOATING_ORDERED(N, T)                                                                                         \
    LOOP(min_##N, T, (b[i] < a[i]) | (b[i] != b[i]) ? b[i] : a[i])                                                     \
    LOOP(max_##N, T, (b[i] > a[i]) | (b[i] != b[i]) ? b[i] : a[i])

#define BITWISE(N, T)                                                                                                  \
    LOOP(and_##N, T, a[i] & b[i])                                                                                      \
    LOOP(or_##N, T, a[i] | b[i])                                                                                       \
    LOOP(xor_##N, T, a[i] ^ b[i])

ARITHMETIC(u8, uint8_t, unsigned)
ARITHMETIC(u16, uint16_t, unsigned)
ARITHMETIC(u32, uint32_t, uint32_t)
ARITHMETIC(u64, uint64_t, uint64_t)
ARITHMETIC(f, float, float)
ARITHMETIC(d, double, double)
ARITHMETIC(ld, long double, long double)
ARITHMETIC(cf, complexf, complexf)
ARITHMETIC(cd, complexd, complexd)
ORDERED(i8, int8_t)
ORDERED(i16, int16_t)
ORDERED(i32, int32_t)
ORDERED(i64, int64_t)
ORDERED(u8, uint8_t)
ORDERED(u16, uint16_t)
ORDERED(u32, uint32_t)
ORDERED(u64, uint64_t)
FLOATING_ORDERED(f, float)
FLOATING_ORDERED(d, double)
FLOATING_ORDERED(ld, long double)
BITWISE(u8, uint8_t)
BITWISE(u16, uint16_t)
BITWISE(u32, uint32_t)
BITWISE(u64, uint64_t)

#undef LOOP
#undef ARITHMETIC
#undef ORDERED
#undef FLOATING_ORDERED
#undef BITWISE

#define INTEGER(signedness, bits)                                                                                      \
    {                                                                                                                  \
        sum_u##bits, prod_u##bits, min_##signedness##bits, max_##signedness##bits, and_u##bits, or_u##bits,            \
            xor_u##bits                                                                                                \
    }
#define FLOATING(N)                                                                                                    \
    {                                                                                                                  \
        sum_##N, prod_##N, min_##N, max_##N, NULL, NULL, NULL                                                          \
    }

/* By type, then by operation in the order of enum shmemi_reduce_op. The half types are folded as floats. */
static const fold_loop loops[SHMEMI_TYPES][SHMEMI_REDUCE_OPS] = {
    [SHMEMI_TYPE_INT8] = INTEGER(i, 8),
    [SHMEMI_TYPE_INT16] = INTEGER(i, 16),
    [SHMEMI_TYPE_INT32] = INTEGER(i, 32),
    [SHMEMI_TYPE_INT64] = INTEGER(i, 64),
    [SHMEMI_TYPE_UINT8] = INTEGER(u, 8),
    [SHMEMI_TYPE_UINT16] = INTEGER(u, 16),
    [SHMEMI_TYPE_UINT32] = INTEGER(u, 32),
    [SHMEMI_TYPE_UINT64] = INTEGER(u, 64),
    [SHMEMI_TYPE_FLOAT] = FLOATING(f),
    [SHMEMI_TYPE_DOUBLE] = FLOATING(d),
    [SHMEMI_TYPE_LONGDOUBLE] = FLOATING(ld),
    [SHMEMI_TYPE_COMPLEXF] = {sum_cf, prod_cf, NULL, NULL, NULL, NULL, NULL},
    [SHMEMI_TYPE_COMPLEXD] = {sum_cd, prod_cd, NULL, NULL, NULL, NULL, NULL},
    [SHMEMI_TYPE_FLOAT16] = FLOATING(f),
    [SHMEMI_TYPE_BFLOAT16] = FLOATING(f),
};

#undef INTEGER
#undef FLOATING

static const uint8_t sizes[SHMEMI_TYPES] = {
    [SHMEMI_TYPE_INT8] = 1,
    [SHMEMI_TYPE_INT16] = 2,
    [SHMEMI_TYPE_INT32] = 4,
    [SHMEMI_TYPE_INT64] = 8,
    [SHMEMI_TYPE_UINT8] = 1,
    [SHMEMI_TYPE_UINT16] = 2,
    [SHMEMI_TYPE_UINT32] = 4,
    [SHMEMI_TYPE_UINT64] = 8,
    [SHMEMI_TYPE_FLOAT] = sizeof(float),
    [SHMEMI_TYPE_DOUBLE] = sizeof(double),
    [SHMEMI_TYPE_LONGDOUBLE] = sizeof(long double),
    [SHMEMI_TYPE_COMPLEXF] = sizeof(complexf),
    [SHMEMI_TYPE_COMPLEXD] = sizeof(complexd),
    [SHMEMI_TYPE_FLOAT16] = 2,
    [SHMEMI_TYPE_BFLOAT16] = 2,
};

size_t shmemi_type_size(enum shmemi_type type)
{
    return (unsigned)type < SHMEMI_TYPES ? sizes[type] : 0;
}

bool shmemi_foldable(enum shmemi_type type, enum shmemi_reduce_op op)
{
    return (unsigned)type < SHMEMI_TYPES && (unsigned)op < SHMEMI_REDUCE_OPS && loops[type][op];
}

/* --- the half types --------------------------------------------------------------------------------------------- */

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023u;
    if (exponent == 31)
        return from_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent)
        return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24f; /* zero or subnormal */
    return sign ? -tiny : tiny;
}

/* Rounds to nearest, ties to even. */
static uint16_t half_of_float(float f)
{
    uint32_t bits = to_bits(f), magnitude = bits & 0x7fffffffu;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u); /* not a number */
    if (magnitude >= 0x477ff000u)
        return (uint16_t)(sign | 0x7c00u); /* rounds beyond the largest: infinite */
    if (magnitude < 0x38800000u) {         /* subnormal: adding 0.5 shifts the fraction into place, rounding it */
        float shifted = from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (to_bits(shifted) - to_bits(0.5f)));
    }
    uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (rounded - (112u << 23)) >> 13);
}

static uint16_t bfloat_of_float(float f)
{
    uint32_t bits = to_bits(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u); /* not a number stays one */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

static void widen(enum shmemi_type type, float *out, const uint16_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = type == SHMEMI_TYPE_FLOAT16 ? float_of_half(in[i]) : from_bits((uint32_t)in[i] << 16);
}

static void narrow(enum shmemi_type type, uint16_t *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = type == SHMEMI_TYPE_FLOAT16 ? half_of_float(in[i]) : bfloat_of_float(in[i]);
}

/* For means: what the accumulator is divided by before it is rounded; 1 leaves it alone. */
static void divide(enum shmemi_type type, void *acc, size_t n, int by)
{
    if (by == 1)
        return;
    for (size_t i = 0; type == SHMEMI_TYPE_FLOAT && i < n; i++)
        ((float *)acc)[i] /= (float)by;
    for (size_t i = 0; type == SHMEMI_TYPE_DOUBLE && i < n; i++)
        ((double *)acc)[i] /= by;
    for (size_t i = 0; type == SHMEMI_TYPE_LONGDOUBLE && i < n; i++)
        ((long double *)acc)[i] /= by;
}

static void fold_halves(enum shmemi_type type, fold_loop loop, uint16_t *out, const void *const *sources, int count,
                        size_t n, int by)
{
    float acc[SHMEMI_FOLD_BYTES / 2], next[SHMEMI_FOLD_BYTES / 2];
    widen(type, acc, sources[0], n);
    for (int s = 1; s < count; s++) {
        widen(type, next, sources[s], n);
        loop(acc, next, n);
    }
    divide(SHMEMI_TYPE_FLOAT, acc, n, by);
    narrow(type, out, acc, n);
}

static void fold(enum shmemi_type type, fold_loop loop, void *out, const void *const *sources, int count, size_t n,
                 int by)
{
    if (type == SHMEMI_TYPE_FLOAT16 || type == SHMEMI_TYPE_BFLOAT16) {
        fold_halves(type, loop, out, sources, count, n, by);
        return;
    }
    _Alignas(64) char acc[SHMEMI_FOLD_BYTES];
    size_t bytes = n * sizes[type];
    SHMEMI_ASSERT(bytes <= sizeof acc);
    memcpy(acc, sources[0], bytes);
    for (int s = 1; s < count; s++)
        loop(acc, sources[s], n);
    divide(type, acc, n, by);
    memcpy(out, acc, bytes);
}

void shmemi_fold(enum shmemi_type type, enum shmemi_reduce_op op, void *out, const void *const *sources, int count,
                 size_t n)
{
    fold(type, loops[type][op], out, sources, count, n, 1);
}

bool shmemi_meanable(enum shmemi_type type)
{
    return type == SHMEMI_TYPE_FLOAT || type == SHMEMI_TYPE_DOUBLE || type == SHMEMI_TYPE_LONGDOUBLE ||
           type == SHMEMI_TYPE_FLOAT16 || type == SHMEMI_TYPE_BFLOAT16;
}

void shmemi_fold_mean(enum shmemi_type type, void *out, const void *const *sources, int count, size_t n)
{
    fold(type, loops[type][SHMEMI_REDUCE_SUM], out, sources, count, n, count);
}
