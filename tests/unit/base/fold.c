// SPDX-License-Identifier: Apache-2.0
// The arithmetic of reductions: every type and operation beside a naive one, and the half types bit by bit.
#include "unit.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#include "base/fold.h"

enum { SOURCES = 5 };

typedef float _Complex complexf;
typedef double _Complex complexd;

static _Alignas(64) unsigned char data[SOURCES][SHMEMI_FOLD_BYTES], out[SHMEMI_FOLD_BYTES + 64],
    expected[SHMEMI_FOLD_BYTES];

static const void *const *sources(void)
{
    static const void *list[SOURCES];
    for (int s = 0; s < SOURCES; s++)
        list[s] = data[s];
    return list;
}

/* Random bits, with the edges of the type strewn in. */
static void fill(size_t size, uint64_t seed)
{
    for (int s = 0; s < SOURCES; s++)
        for (size_t i = 0; i < SHMEMI_FOLD_BYTES; i++)
            data[s][i] = (unsigned char)(next_random(&seed) >> 32);
    for (int s = 0; s < SOURCES; s++)
        for (size_t i = 0; i + size <= SHMEMI_FOLD_BYTES; i += size * (size_t)(3 + s)) {
            memset(data[s] + i, i / size % 2 ? 0xff : 0, size);
            if (i / size % 5 == 0)
                data[s][i + size - 1] = i / size % 2 ? 0x7f : 0x80; /* the largest, the smallest of signed ones */
        }
}

static void fold_and_compare(enum shmemi_type type, enum shmemi_reduce_op op, size_t n)
{
    size_t bytes = n * shmemi_type_size(type);
    memset(out, 0xa5, sizeof out);
    shmemi_fold(type, op, out, sources(), SOURCES, n);
    if (memcmp(out, expected, bytes) != 0)
        fail_msg("type %d, operation %d, %zu elements: not what the naive loop says", (int)type, (int)op, n);
    for (size_t i = bytes; i < bytes + 64; i++)
        assert_int_equal(out[i], 0xa5);
    memcpy(out, data[2], bytes); /* the output may be one of the sources */
    const void *list[SOURCES];
    memcpy(list, sources(), sizeof list);
    list[2] = out;
    shmemi_fold(type, op, out, list, SOURCES, n);
    assert_memory_equal(out, expected, bytes);
}

/* The naive loop: element by element, in order of the sources. */
#define NAIVE(T, expression)                                                                                           \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        T a, b;                                                                                                        \
        memcpy(&a, data[0] + i * sizeof a, sizeof a);                                                                  \
        for (int s = 1; s < SOURCES; s++) {                                                                            \
            memcpy(&b, data[s] + i * sizeof b, sizeof b);                                                              \
            a = (T)(expression);                                                                                       \
        }                                                                                                              \
        memcpy(expected + i * sizeof a, &a, sizeof a);                                                                 \
    }

#define ONE(type, op, T, expression)                                                                                   \
    do {                                                                                                               \
        assert_true(shmemi_foldable(type, op));                                                                        \
        NAIVE(T, expression)                                                                                           \
        fold_and_compare(type, op, n);                                                                                 \
    } while (0)

/* W: unsigned and wide; the result is cut to T, as two's complement. */
#define INTEGER(NAME, T, W)                                                                                            \
    do {                                                                                                               \
        assert_int_equal(shmemi_type_size(NAME), sizeof(T));                                                           \
        fill(sizeof(T), 97 + (uint64_t)NAME);                                                                          \
        ONE(NAME, SHMEMI_REDUCE_SUM, T, (W)a + (W)b);                                                                  \
        ONE(NAME, SHMEMI_REDUCE_PROD, T, (W)a *(W)b);                                                                  \
        ONE(NAME, SHMEMI_REDUCE_MIN, T, a < b ? a : b);                                                                \
        ONE(NAME, SHMEMI_REDUCE_MAX, T, a > b ? a : b);                                                                \
        ONE(NAME, SHMEMI_REDUCE_AND, T, a &b);                                                                         \
        ONE(NAME, SHMEMI_REDUCE_OR, T, a | b);                                                                         \
        ONE(NAME, SHMEMI_REDUCE_XOR, T, a ^ b);                                                                        \
    } while (0)

static void integers(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 1024; n = n < 20 ? n + 1 : n * 4 - 3) {
        INTEGER(SHMEMI_TYPE_INT8, int8_t, uint64_t);
        INTEGER(SHMEMI_TYPE_INT16, int16_t, uint64_t);
        INTEGER(SHMEMI_TYPE_INT32, int32_t, uint64_t);
        INTEGER(SHMEMI_TYPE_INT64, int64_t, uint64_t);
        INTEGER(SHMEMI_TYPE_UINT8, uint8_t, uint64_t);
        INTEGER(SHMEMI_TYPE_UINT16, uint16_t, uint64_t);
        INTEGER(SHMEMI_TYPE_UINT32, uint32_t, uint64_t);
        INTEGER(SHMEMI_TYPE_UINT64, uint64_t, uint64_t);
    }
}

/* Ordinary numbers of many sizes. */
#define FLOATING(NAME, T)                                                                                              \
    do {                                                                                                               \
        assert_int_equal(shmemi_type_size(NAME), sizeof(T));                                                           \
        for (int s = 0; s < SOURCES; s++)                                                                              \
            for (size_t i = 0; i < SHMEMI_FOLD_BYTES / sizeof(T); i++) {                                               \
                T value = (T)ldexp((double)(int64_t)next_random(&seed), (int)(next_random(&seed) % 20) - 70);          \
                memcpy(data[s] + i * sizeof(T), &value, sizeof value);                                                 \
            }                                                                                                          \
        ONE_FLOATING(NAME, SHMEMI_REDUCE_SUM, T, a + b);                                                               \
        ONE_FLOATING(NAME, SHMEMI_REDUCE_PROD, T, a *b);                                                               \
        ONE_FLOATING(NAME, SHMEMI_REDUCE_MIN, T, a < b ? a : b);                                                       \
        ONE_FLOATING(NAME, SHMEMI_REDUCE_MAX, T, a > b ? a : b);                                                       \
        for (int op = SHMEMI_REDUCE_AND; op <= SHMEMI_REDUCE_XOR; op++)                                                \
            assert_false(shmemi_foldable(NAME, (enum shmemi_reduce_op)op));                                            \
    } while (0)

/* By value: a long double has bytes that mean nothing. */
#define ONE_FLOATING(type, op, T, expression)                                                                          \
    do {                                                                                                               \
        assert_true(shmemi_foldable(type, op));                                                                        \
        NAIVE(T, expression)                                                                                           \
        shmemi_fold(type, op, out, sources(), SOURCES, n);                                                             \
        for (size_t i = 0; i < n; i++) {                                                                               \
            T x, y;                                                                                                    \
            memcpy(&x, out + i * sizeof x, sizeof x);                                                                  \
            memcpy(&y, expected + i * sizeof y, sizeof y);                                                             \
            if (x != y)                                                                                                \
                fail_msg("type %d, operation %d, element %zu of %zu", (int)type, (int)op, i, n);                       \
        }                                                                                                              \
    } while (0)

static void floating(void **state)
{
    uint64_t seed = 2718;
    (void)state;
    for (size_t n = 1; n <= SHMEMI_FOLD_BYTES / 16; n = n < 9 ? n + 1 : n * 3 - 1) {
        FLOATING(SHMEMI_TYPE_FLOAT, float);
        FLOATING(SHMEMI_TYPE_DOUBLE, double);
        FLOATING(SHMEMI_TYPE_LONGDOUBLE, long double);
    }
}

static void complex_numbers(void **state)
{
    enum { n = 7 };
    (void)state;
    complexf f[SOURCES][n], f_sum[n], f_product[n];
    complexd d[SOURCES][n], d_sum[n], d_product[n];
    const void *f_list[SOURCES], *d_list[SOURCES];
    for (int s = 0; s < SOURCES; s++) {
        f_list[s] = f[s];
        d_list[s] = d[s];
        for (int i = 0; i < n; i++) {
            d[s][i] =
                (double)(s - i) +
                (double)(2 * s + i - 5) * (complexd)I; /* small whole numbers: exact whatever the order of the steps */
            f[s][i] = (complexf)d[s][i];
            d_sum[i] = s ? d_sum[i] + d[s][i] : d[s][i];
            double re = s ? creal(d_product[i]) : 1, im = s ? cimag(d_product[i]) : 0;
            d_product[i] =
                (re * creal(d[s][i]) - im * cimag(d[s][i])) + (re * cimag(d[s][i]) + im * creal(d[s][i])) * (complexd)I;
        }
    }
    assert_int_equal(shmemi_type_size(SHMEMI_TYPE_COMPLEXF), 8);
    assert_int_equal(shmemi_type_size(SHMEMI_TYPE_COMPLEXD), 16);
    complexd got[n];
    shmemi_fold(SHMEMI_TYPE_COMPLEXD, SHMEMI_REDUCE_SUM, got, d_list, SOURCES, n);
    for (int i = 0; i < n; i++)
        assert_true(got[i] == d_sum[i]);
    shmemi_fold(SHMEMI_TYPE_COMPLEXD, SHMEMI_REDUCE_PROD, got, d_list, SOURCES, n);
    for (int i = 0; i < n; i++)
        assert_true(got[i] == d_product[i]);
    shmemi_fold(SHMEMI_TYPE_COMPLEXF, SHMEMI_REDUCE_SUM, f_sum, f_list, SOURCES, n);
    shmemi_fold(SHMEMI_TYPE_COMPLEXF, SHMEMI_REDUCE_PROD, f_product, f_list, SOURCES, n);
    for (int i = 0; i < n; i++)
        assert_true((complexd)f_sum[i] == d_sum[i] && (complexd)f_product[i] == d_product[i]);
    for (int op = SHMEMI_REDUCE_MIN; op <= SHMEMI_REDUCE_XOR; op++) {
        assert_false(shmemi_foldable(SHMEMI_TYPE_COMPLEXF, (enum shmemi_reduce_op)op));
        assert_false(shmemi_foldable(SHMEMI_TYPE_COMPLEXD, (enum shmemi_reduce_op)op));
    }
}

/* Sums depend on the order of their steps, so this says that it is the order of the sources. */
static void in_order(void **state)
{
    float parts[4] = {1e8f, -1e8f, 1, 1e-3f}, sum;
    const void *forth[4] = {&parts[0], &parts[1], &parts[2], &parts[3]},
               *back[4] = {&parts[3], &parts[2], &parts[1], &parts[0]};
    (void)state;
    shmemi_fold(SHMEMI_TYPE_FLOAT, SHMEMI_REDUCE_SUM, &sum, forth, 4, 1);
    assert_true(sum == 1 + 1e-3f);
    shmemi_fold(SHMEMI_TYPE_FLOAT, SHMEMI_REDUCE_SUM, &sum, back, 4, 1);
    volatile float naive = 1e-3f;
    naive += 1;
    naive += -1e8f;
    naive += 1e8f;
    assert_true(sum == naive);
}

static void special_numbers(void **state)
{
    double result, one = 1, nan = NAN, inf = INFINITY;
    (void)state;
    shmemi_fold(SHMEMI_TYPE_DOUBLE, SHMEMI_REDUCE_SUM, &result, (const void *[]){&one, &nan}, 2, 1);
    assert_true(isnan(result));
    shmemi_fold(SHMEMI_TYPE_DOUBLE, SHMEMI_REDUCE_SUM, &result, (const void *[]){&one, &inf}, 2, 1);
    assert_true(isinf(result));
    shmemi_fold(SHMEMI_TYPE_DOUBLE, SHMEMI_REDUCE_MAX, &result, (const void *[]){&one, &inf}, 2, 1);
    assert_true(isinf(result));
    shmemi_fold(SHMEMI_TYPE_DOUBLE, SHMEMI_REDUCE_MIN, &result, (const void *[]){&one, &inf}, 2, 1);
    assert_true(result == 1);
    /* What is not a number stays, wherever it comes from. */
    for (int op = SHMEMI_REDUCE_MIN; op <= SHMEMI_REDUCE_MAX; op++)
        for (int at = 0; at < 3; at++) {
            double d[3] = {1, 2, 3}, d_out;
            float f[3] = {1, 2, 3}, f_out;
            long double ld[3] = {1, 2, 3}, ld_out;
            uint16_t h[3] = {0x3c00, 0x4000, 0x4200}, h_out, b[3] = {0x3f80, 0x4000, 0x4040}, b_out;
            d[at] = f[at] = NAN;
            ld[at] = NAN;
            h[at] = 0x7e00;
            b[at] = 0x7fc0;
            shmemi_fold(SHMEMI_TYPE_DOUBLE, (enum shmemi_reduce_op)op, &d_out, (const void *[]){d, d + 1, d + 2}, 3, 1);
            shmemi_fold(SHMEMI_TYPE_FLOAT, (enum shmemi_reduce_op)op, &f_out, (const void *[]){f, f + 1, f + 2}, 3, 1);
            shmemi_fold(SHMEMI_TYPE_LONGDOUBLE, (enum shmemi_reduce_op)op, &ld_out,
                        (const void *[]){ld, ld + 1, ld + 2}, 3, 1);
            shmemi_fold(SHMEMI_TYPE_FLOAT16, (enum shmemi_reduce_op)op, &h_out, (const void *[]){h, h + 1, h + 2}, 3,
                        1);
            shmemi_fold(SHMEMI_TYPE_BFLOAT16, (enum shmemi_reduce_op)op, &b_out, (const void *[]){b, b + 1, b + 2}, 3,
                        1);
            assert_true(isnan(d_out) && isnan(f_out) && isnan(ld_out));
            assert_true((h_out & 0x7fff) > 0x7c00 && (b_out & 0x7fff) > 0x7f80);
        }
}

/* --- halves ---------------------------------------------------------------------------------------------------------
 */

/* exponent bits and fraction bits of the two half types */
struct format {
    enum shmemi_type type;
    int exponent, fraction;
};
static const struct format half = {SHMEMI_TYPE_FLOAT16, 5, 10}, bfloat = {SHMEMI_TYPE_BFLOAT16, 8, 7};

static double value_of(struct format f, uint16_t bits)
{
    int bias = (1 << (f.exponent - 1)) - 1, exponent = bits >> f.fraction & ((1 << f.exponent) - 1);
    int fraction = bits & ((1 << f.fraction) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << f.exponent) - 1)
        return fraction ? NAN : sign * INFINITY;
    if (exponent)
        return sign * ldexp(fraction + (1 << f.fraction), exponent - bias - f.fraction);
    return sign * ldexp(fraction, 1 - bias - f.fraction);
}

/* The nearest number of the format, ties to even, by arithmetic on doubles. */
static double nearest(struct format f, double x)
{
    int bias = (1 << (f.exponent - 1)) - 1, exponent;
    if (isnan(x) || isinf(x) || x == 0)
        return x;
    frexp(x, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double unit = ldexp(1, exponent - f.fraction), rounded = nearbyint(x / unit) * unit;
    double largest = ldexp(2 - ldexp(1, -f.fraction), bias);
    return fabs(rounded) > largest ? copysign(INFINITY, x) : rounded;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

/* Every half by itself: folding one source changes nothing (a NaN stays one). */
static void each_half(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        struct format f = which ? bfloat : half;
        enum { PIECE = 2048 };
        for (uint32_t first = 0; first < 65536; first += PIECE) {
            uint16_t in[PIECE], result[PIECE];
            for (uint32_t i = 0; i < PIECE; i++)
                in[i] = (uint16_t)(first + i);
            shmemi_fold(f.type, SHMEMI_REDUCE_SUM, result, (const void *[]){in}, 1, PIECE);
            for (uint32_t i = 0; i < PIECE; i++)
                if (isnan(value_of(f, in[i])) ? !isnan(value_of(f, result[i])) : result[i] != in[i])
                    fail_msg("type %d: %#x became %#x", (int)f.type, in[i], result[i]);
        }
    }
}

/* Pairs of halves: the float result, rounded once. The exact sum and product of two halves fit in a double. */
static void pairs_of_halves(void **state)
{
    uint64_t seed = 1618;
    (void)state;
    for (int which = 0; which < 2; which++) {
        struct format f = which ? bfloat : half;
        for (int round = 0; round < 400; round++) {
            enum { PIECE = 500 };
            uint16_t a[PIECE], b[PIECE], result[PIECE];
            for (int i = 0; i < PIECE; i++) {
                uint64_t r = next_random(&seed);
                a[i] = (uint16_t)(r >> 40);
                /* Often of nearly the same exponent, so that sums have bits to round, and ties happen. */
                b[i] = r & 1 ? (uint16_t)(r >> 20) : (uint16_t)(a[i] ^ (r >> 8 & 0x0bff));
            }
            for (int op = SHMEMI_REDUCE_SUM; op <= SHMEMI_REDUCE_MAX; op++) {
                shmemi_fold(f.type, (enum shmemi_reduce_op)op, result, (const void *[]){a, b}, 2, PIECE);
                for (int i = 0; i < PIECE; i++) {
                    double x = value_of(f, a[i]), y = value_of(f, b[i]);
                    float exact = op == SHMEMI_REDUCE_SUM    ? (float)x + (float)y
                                  : op == SHMEMI_REDUCE_PROD ? (float)x * (float)y
                                  : op == SHMEMI_REDUCE_MIN  ? (float)(y < x || isnan(y) ? y : x)
                                                             : (float)(y > x || isnan(y) ? y : x);
                    double wanted = nearest(f, (double)exact), got = value_of(f, result[i]);
                    if (!same(wanted, got))
                        fail_msg("type %d, operation %d: %#x and %#x gave %#x (%g instead of %g)", (int)f.type, op,
                                 a[i], b[i], result[i], got, wanted);
                }
            }
        }
    }
}

static uint16_t sum_of(struct format f, const uint16_t *parts, int count)
{
    const void *list[8];
    uint16_t result = 0;
    for (int i = 0; i < count; i++)
        list[i] = &parts[i];
    shmemi_fold(f.type, SHMEMI_REDUCE_SUM, &result, list, count, 1);
    return result;
}

static void halves_at_the_edges(void **state)
{
    (void)state;
    /* 2048 + 1: a tie, to the even 2048; 2050 + 1: a tie, to the even 2052. */
    assert_int_equal(sum_of(half, (uint16_t[]){0x6800, 0x3c00}, 2), 0x6800);
    assert_int_equal(sum_of(half, (uint16_t[]){0x6801, 0x3c00}, 2), 0x6802);
    /* Rounded once, at the end: 2048 + 1 + 1 is 2050, while rounding each step would stay at 2048. */
    assert_int_equal(sum_of(half, (uint16_t[]){0x6800, 0x3c00, 0x3c00}, 3), 0x6801);
    /* 65504 + 15 stays the largest; + 16 is a tie that goes to infinity. */
    assert_int_equal(sum_of(half, (uint16_t[]){0x7bff, 0x4b80}, 2), 0x7bff);
    assert_int_equal(sum_of(half, (uint16_t[]){0x7bff, 0x4c00}, 2), 0x7c00);
    assert_int_equal(sum_of(half, (uint16_t[]){0xfbff, 0xcc00}, 2), 0xfc00);
    /* Over the largest and back. */
    assert_int_equal(sum_of(half, (uint16_t[]){0x7bff, 0x7bff, 0xfbff}, 3), 0x7bff);
    /* Subnormals: the smallest twice; the largest subnormal and the smallest make the smallest normal. */
    assert_int_equal(sum_of(half, (uint16_t[]){0x0001, 0x0001}, 2), 0x0002);
    assert_int_equal(sum_of(half, (uint16_t[]){0x03ff, 0x0001}, 2), 0x0400);
    assert_int_equal(sum_of(half, (uint16_t[]){0x8001, 0x0001}, 2), 0x0000);
    assert_int_equal(sum_of(half, (uint16_t[]){0x8000, 0x8000}, 2), 0x8000);
    /* Infinity minus infinity, and whatever meets no number. */
    assert_true(isnan(value_of(half, sum_of(half, (uint16_t[]){0x7c00, 0xfc00}, 2))));
    assert_true(isnan(value_of(half, sum_of(half, (uint16_t[]){0x7e01, 0x3c00}, 2))));
    /* The same for bfloat16: 256 + 1 is a tie; a NaN whose bits are all low stays a NaN; the largest twice. */
    assert_int_equal(sum_of(bfloat, (uint16_t[]){0x4380, 0x3f80}, 2), 0x4380);
    assert_int_equal(sum_of(bfloat, (uint16_t[]){0x4381, 0x3f80}, 2), 0x4382);
    assert_int_equal(sum_of(bfloat, (uint16_t[]){0x4380, 0x3f80, 0x3f80}, 3), 0x4381);
    assert_true(isnan(value_of(bfloat, sum_of(bfloat, (uint16_t[]){0x7f81}, 1))));
    assert_int_equal(sum_of(bfloat, (uint16_t[]){0x7f7f, 0x7f7f}, 2), 0x7f80);
    assert_int_equal(sum_of(bfloat, (uint16_t[]){0x0001, 0x0001}, 2), 0x0002);
}

static void no_such_type(void **state)
{
    (void)state;
    assert_int_equal(shmemi_type_size(SHMEMI_TYPES), 0);
    assert_int_equal(shmemi_type_size((enum shmemi_type) - 1), 0);
    assert_false(shmemi_foldable(SHMEMI_TYPES, SHMEMI_REDUCE_SUM));
    assert_false(shmemi_foldable(SHMEMI_TYPE_INT8, SHMEMI_REDUCE_OPS));
    assert_false(shmemi_foldable((enum shmemi_type) - 1, (enum shmemi_reduce_op) - 1));
}

/* ---- means ---- */

static void means_are_rounded_once(void **state)
{
    (void)state;
    float f[3] = {1, 2, 6}, average;
    const void *floats[] = {&f[0], &f[1], &f[2]};
    shmemi_fold_mean(SHMEMI_TYPE_FLOAT, &average, floats, 3, 1);
    assert_true(average == 3);
    double d[2] = {1, 4}, middle;
    const void *doubles[] = {&d[0], &d[1]};
    shmemi_fold_mean(SHMEMI_TYPE_DOUBLE, &middle, doubles, 2, 1);
    assert_true(middle == 2.5);
    /* 65504, the largest there is, twice: the sum does not fit, the mean does. */
    uint16_t h[2] = {0x7bff, 0x7bff}, got;
    const void *halves[] = {&h[0], &h[1]};
    shmemi_fold_mean(SHMEMI_TYPE_FLOAT16, &got, halves, 2, 1);
    assert_int_equal(got, 0x7bff);
    assert_true(shmemi_meanable(SHMEMI_TYPE_BFLOAT16) && !shmemi_meanable(SHMEMI_TYPE_INT32) &&
                !shmemi_meanable(SHMEMI_TYPE_COMPLEXF));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(means_are_rounded_once),
        clean_test(integers),
        clean_test(floating),
        clean_test(complex_numbers),
        clean_test(in_order),
        clean_test(special_numbers),
        clean_test(each_half),
        clean_test(pairs_of_halves),
        clean_test(halves_at_the_edges),
        clean_test(no_such_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
