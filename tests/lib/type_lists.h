// SPDX-License-Identifier: Apache-2.0
// The standard's types, as X(NAME, TYPE): those of put and get, and those of the three groups of atomics.
#ifndef TESTS_LIB_TYPE_LISTS_H
#define TESTS_LIB_TYPE_LISTS_H

#include <stddef.h>
#include <stdint.h>

#define TYPES_BITWISE(X)                                                                                               \
    X(uint, unsigned int)                                                                                              \
    X(ulong, unsigned long)                                                                                            \
    X(ulonglong, unsigned long long)                                                                                   \
    X(int32, int32_t)                                                                                                  \
    X(int64, int64_t)                                                                                                  \
    X(uint32, uint32_t)                                                                                                \
    X(uint64, uint64_t)

/* Atomics other than the bitwise ones. */
#define TYPES_ARITHMETIC(X)                                                                                            \
    X(int, int)                                                                                                        \
    X(long, long)                                                                                                      \
    X(longlong, long long)                                                                                             \
    X(size, size_t)                                                                                                    \
    X(ptrdiff, ptrdiff_t)

/* Only fetch, set and swap. */
#define TYPES_REAL(X)                                                                                                  \
    X(float, float)                                                                                                    \
    X(double, double)

#define TYPES_SMALL(X)                                                                                                 \
    X(char, char)                                                                                                      \
    X(schar, signed char)                                                                                              \
    X(short, short)                                                                                                    \
    X(uchar, unsigned char)                                                                                            \
    X(ushort, unsigned short)                                                                                          \
    X(int8, int8_t)                                                                                                    \
    X(int16, int16_t)                                                                                                  \
    X(uint8, uint8_t)                                                                                                  \
    X(uint16, uint16_t)

#define TYPES_INTEGER(X) TYPES_SMALL(X) TYPES_ARITHMETIC(X) TYPES_BITWISE(X)
#define TYPES_RMA(X) TYPES_REAL(X) X(longdouble, long double) TYPES_INTEGER(X)

#endif
