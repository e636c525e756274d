// SPDX-License-Identifier: Apache-2.0
// Branch hints, sizes of cache lines, and arithmetic that notices overflow.
#ifndef SHMEMI_BASE_COMPILER_H
#define SHMEMI_BASE_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define shmemi_likely(x) __builtin_expect(!!(x), 1)
#define shmemi_unlikely(x) __builtin_expect(!!(x), 0)

/* Two 64-byte lines: neighbouring lines are fetched in pairs on x86-64, and some aarch64 lines are 128 bytes. */
#define SHMEMI_LINE 128

/* For what stands between a typed function and one store: measured, a call in between costs as much as the rest. */
#define SHMEMI_INLINE static inline __attribute__((always_inline))

#define SHMEMI_COLD __attribute__((cold, noinline))

/* Defined where ThreadSanitizer watches: gcc and clang say so in two ways. */
#if defined(__SANITIZE_THREAD__)
#define SHMEMI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHMEMI_TSAN 1
#endif
#endif

static inline bool shmemi_add_overflows(size_t a, size_t b, size_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}

static inline bool shmemi_mul_overflows(size_t a, size_t b, size_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

static inline size_t shmemi_round_down(size_t n, size_t power_of_two)
{
    return n & ~(power_of_two - 1);
}

/* The caller knows that n is at least power_of_two away from SIZE_MAX. */
static inline size_t shmemi_round_up(size_t n, size_t power_of_two)
{
    return (n + power_of_two - 1) & ~(power_of_two - 1);
}

#endif
