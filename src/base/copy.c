// SPDX-License-Identifier: Apache-2.0
// Large copies. Three ways, by size:
//   below SHORT          the C library's memcpy
//   in the cache's reach `rep movsb` where the processor moves whole lines with it (ERMS): it need not read what it
//                        overwrites
//   beyond               loads and stores that bypass the cache, which would be flushed to no use
#include "copy.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { SHORT = 64 << 10, LINE = 64, STEP = 2 * LINE, BYPASS_LEAST = 4 << 20, BYPASS_MOST = 8 << 20 };

struct processor {
    bool erms, avx2;
    size_t bypass_from; /* bytes from which copies bypass the cache */
};

static struct processor ask(void)
{
    unsigned a, b, c, d;
    struct processor p = {.avx2 = __builtin_cpu_supports("avx2")};
    p.erms = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 9);
    /* A guest is told of caches that it has only a part of, so the answer counts within bounds. */
    long quarter = sysconf(_SC_LEVEL3_CACHE_SIZE) / 4;
    p.bypass_from = quarter < BYPASS_LEAST ? BYPASS_LEAST : quarter > BYPASS_MOST ? BYPASS_MOST : (size_t)quarter;
    return p;
}

static const struct processor *processor(void)
{
    static struct processor known;
    static _Atomic int state; /* 0 unknown, 1 being asked, 2 known */
    /* [known] acquire pairs with the release below. */
    if (atomic_load_explicit(&state, memory_order_acquire) == 2)
        return &known;
    int unknown = 0;
    if (atomic_compare_exchange_strong_explicit(&state, &unknown, 1, memory_order_relaxed, memory_order_relaxed)) {
        known = ask();
        atomic_store_explicit(&state, 2, memory_order_release); /* [known] pairs with the acquire above */
        return &known;
    }
    static const struct processor plain = {.bypass_from = SIZE_MAX};
    return &plain; /* another thread is asking: this one copy goes the plain way */
}

static void copy_repeated(void *to, const void *from, size_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}

/* bytes is a multiple of STEP, `to` at a line. The fence makes these stores as ordered as all others. */
__attribute__((target("avx2"))) static void copy_bypassing(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += STEP) {
        _mm_prefetch(from + i + 8 * STEP, _MM_HINT_NTA);
        _mm_prefetch(from + i + 8 * STEP + LINE, _MM_HINT_NTA);
        __m256i a = _mm256_loadu_si256((const void *)(from + i)), b = _mm256_loadu_si256((const void *)(from + i + 32));
        __m256i c = _mm256_loadu_si256((const void *)(from + i + 64)),
                d = _mm256_loadu_si256((const void *)(from + i + 96));
        _mm256_stream_si256((void *)(to + i), a);
        _mm256_stream_si256((void *)(to + i + 32), b);
        _mm256_stream_si256((void *)(to + i + 64), c);
        _mm256_stream_si256((void *)(to + i + 96), d);
    }
    _mm_sfence();
}

void shmemi_copy_large(void *to, const void *from, size_t bytes)
{
    if (bytes < SHORT) {
        memcpy(to, from, bytes);
        return;
    }
    const struct processor *p = processor();
    if (p->avx2 && bytes >= p->bypass_from) {
        size_t head = -(uintptr_t)to & (LINE - 1);
        memcpy(to, from, head);
        size_t body = (bytes - head) & ~(size_t)(STEP - 1);
        copy_bypassing((char *)to + head, (const char *)from + head, body);
        memcpy((char *)to + head + body, (const char *)from + head + body, bytes - head - body);
    } else if (p->erms)
        copy_repeated(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#else

void shmemi_copy_large(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif
