// SPDX-License-Identifier: Apache-2.0
// The types of the standard for the conformance programs, with values at the edges of each, and what they check with.
#ifndef TESTS_CONFORMANCE_TYPES_H
#define TESTS_CONFORMANCE_TYPES_H

#include <float.h>
#include <limits.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int me, n;

static void fail(const char *fn, const char *what, int i)
{
    printf("PE %d of %d: %s: %s, at %d\n", me, n, fn, what, i);
    fflush(stdout);
    exit(1);
}

static void expect(bool condition, const char *fn, const char *what, int i)
{
    if (!condition)
        fail(fn, what, i);
}

/* ----------------------------------------------------------------------------------------------------------
 * values */

/* Value i of PE pe. */
#define INTEGER(T, MIN, MAX, pe, i) ((T)((i) % 2 ? MIN + (T)(((pe)*7 + (i)) % 100) : MAX - (T)(((pe)*7 + (i)) % 100)))
#define REAL(T, MIN, MAX, pe, i) ((i) == 0 ? MAX : (i) == 1 ? MIN : (T)((pe)*100 + (i)) + (T)0.25)

#define INTEGERS(X)                                                                                                    \
    X(char, char, CHAR_MIN, CHAR_MAX, INTEGER)                                                                         \
    X(schar, signed char, SCHAR_MIN, SCHAR_MAX, INTEGER)                                                               \
    X(short, short, SHRT_MIN, SHRT_MAX, INTEGER)                                                                       \
    X(uchar, unsigned char, 0, UCHAR_MAX, INTEGER)                                                                     \
    X(ushort, unsigned short, 0, USHRT_MAX, INTEGER)                                                                   \
    X(int8, int8_t, INT8_MIN, INT8_MAX, INTEGER)                                                                       \
    X(int16, int16_t, INT16_MIN, INT16_MAX, INTEGER)                                                                   \
    X(uint8, uint8_t, 0, UINT8_MAX, INTEGER)                                                                           \
    X(uint16, uint16_t, 0, UINT16_MAX, INTEGER)                                                                        \
    AMO(X)

#define AMO(X)                                                                                                         \
    X(int, int, INT_MIN, INT_MAX, INTEGER)                                                                             \
    X(long, long, LONG_MIN, LONG_MAX, INTEGER)                                                                         \
    X(longlong, long long, LLONG_MIN, LLONG_MAX, INTEGER)                                                              \
    X(size, size_t, 0, SIZE_MAX, INTEGER)                                                                              \
    X(ptrdiff, ptrdiff_t, PTRDIFF_MIN, PTRDIFF_MAX, INTEGER)                                                           \
    AMO_BITWISE(X)

#define AMO_BITWISE(X)                                                                                                 \
    X(uint, unsigned int, 0, UINT_MAX, INTEGER)                                                                        \
    X(ulong, unsigned long, 0, ULONG_MAX, INTEGER)                                                                     \
    X(ulonglong, unsigned long long, 0, ULLONG_MAX, INTEGER)                                                           \
    X(int32, int32_t, INT32_MIN, INT32_MAX, INTEGER)                                                                   \
    X(int64, int64_t, INT64_MIN, INT64_MAX, INTEGER)                                                                   \
    X(uint32, uint32_t, 0, UINT32_MAX, INTEGER)                                                                        \
    X(uint64, uint64_t, 0, UINT64_MAX, INTEGER)

#define AMO_OLD(X)                                                                                                     \
    X(int, int, INT_MIN, INT_MAX, INTEGER)                                                                             \
    X(long, long, LONG_MIN, LONG_MAX, INTEGER)                                                                         \
    X(longlong, long long, LLONG_MIN, LLONG_MAX, INTEGER)

#define FLOAT_DOUBLE(X)                                                                                                \
    X(float, float, -FLT_MAX, FLT_MAX, REAL)                                                                           \
    X(double, double, -DBL_MAX, DBL_MAX, REAL)

#define REALS(X) FLOAT_DOUBLE(X) X(longdouble, long double, -LDBL_MAX, LDBL_MAX, REAL)

#define RMA(X) REALS(X) INTEGERS(X)

/* Those that have and, or, xor reductions. */
#define REDUCE_BITWISE(X)                                                                                              \
    X(uchar, unsigned char, 0, UCHAR_MAX, INTEGER)                                                                     \
    X(ushort, unsigned short, 0, USHRT_MAX, INTEGER)                                                                   \
    X(int8, int8_t, INT8_MIN, INT8_MAX, INTEGER)                                                                       \
    X(int16, int16_t, INT16_MIN, INT16_MAX, INTEGER)                                                                   \
    X(uint8, uint8_t, 0, UINT8_MAX, INTEGER)                                                                           \
    X(uint16, uint16_t, 0, UINT16_MAX, INTEGER)                                                                        \
    X(size, size_t, 0, SIZE_MAX, INTEGER)                                                                              \
    AMO_BITWISE(X)

#define QUOTE(x) #x
#define NAME(x) QUOTE(x)

/* PLAIN_float(put) is shmem_float_put. */
#define PLAIN_float(f) shmem_float_##f
#define PLAIN_double(f) shmem_double_##f
#define PLAIN_longdouble(f) shmem_longdouble_##f
#define PLAIN_char(f) shmem_char_##f
#define PLAIN_schar(f) shmem_schar_##f
#define PLAIN_short(f) shmem_short_##f
#define PLAIN_int(f) shmem_int_##f
#define PLAIN_long(f) shmem_long_##f
#define PLAIN_longlong(f) shmem_longlong_##f
#define PLAIN_uchar(f) shmem_uchar_##f
#define PLAIN_ushort(f) shmem_ushort_##f
#define PLAIN_uint(f) shmem_uint_##f
#define PLAIN_ulong(f) shmem_ulong_##f
#define PLAIN_ulonglong(f) shmem_ulonglong_##f
#define PLAIN_int8(f) shmem_int8_##f
#define PLAIN_int16(f) shmem_int16_##f
#define PLAIN_int32(f) shmem_int32_##f
#define PLAIN_int64(f) shmem_int64_##f
#define PLAIN_uint8(f) shmem_uint8_##f
#define PLAIN_uint16(f) shmem_uint16_##f
#define PLAIN_uint32(f) shmem_uint32_##f
#define PLAIN_uint64(f) shmem_uint64_##f
#define PLAIN_size(f) shmem_size_##f
#define PLAIN_ptrdiff(f) shmem_ptrdiff_##f
/* Element i of PE pe. (T)(pe - 1) is -1 on PE 0, which is the largest number of an unsigned type. */
#define ORDERED(T, MIN, MAX, pe, i)                                                                                    \
    ((T)((i) % 5 == 0   ? ((pe) % 2 ? (T)(MIN) : (T)(MAX))                                                             \
         : (i) % 5 == 1 ? (T)((pe)-1)                                                                                  \
         : (i) % 5 == 2 ? (T)((T)(MAX / 2) + (T)(pe))                                                                  \
         : (i) % 5 == 3 ? (T)((T)(MIN / 2) - (T)(pe))                                                                  \
                        : (T)(((pe) + (i)) % 100)))
#define SUMMAND(T, MIN, MAX, pe, i)                                                                                    \
    ((T)((i) % 3 == 0 ? (T)((pe) == n - 1 ? MAX : 0) : (i) % 3 == 1 ? (T)((pe) - (i)) : (T)((pe)*10 + 1)))
#define FACTOR(T, MIN, MAX, pe, i) ((T)((i) % 2 ? (pe)-2 : (pe) + 1))
#define BITS(T, MIN, MAX, pe, i) ((T)((unsigned long long)MAX ^ (1ull << (((pe) + (i)) % (int)(8 * sizeof(T))))))
#define ROOTED(T, MIN, MAX, pe, i) (((T)(pe) + (T)0.5) * (T)((i) + 1))
/* Small enough for products over many PEs, which are exact. */
#define UNIT(T, MIN, MAX, pe, i) ((T)(((pe) + (i)) % 2 ? 1 : -1) + (T)((i) % 2) * (T)(__extension__ 1.0i))
#define COMPLEX(T, MIN, MAX, pe, i) ((T)((pe) + 1) + (T)((i) % 7) * (T)(__extension__ 1.0i))

/* Larger numbers than T has wrap around. */
#define ADD(T, a, b) ((T)(a + b))
#define ADD_WRAP(T, a, b) ((T)((unsigned long long)a + (unsigned long long)b))
#define MUL(T, a, b) ((T)(a * b))
#define MUL_WRAP(T, a, b) ((T)((unsigned long long)a * (unsigned long long)b))
#define MAXIMUM(T, a, b) (a > b ? a : b)
#define MINIMUM(T, a, b) (a < b ? a : b)
#define AND(T, a, b) ((T)(a & b))
#define OR(T, a, b) ((T)(a | b))
#define XOR(T, a, b) ((T)(a ^ b))

#endif
