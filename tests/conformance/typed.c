// SPDX-License-Identifier: Apache-2.0
// Every typed function of the standard, for every type, on any number of PEs (run with 1, 2, 3, 4 and 8).
//
// Each PE works on its right neighbour and is worked on by its left one. Values lie at the edges of their
// type and differ between PEs, so that a maximum is not a minimum, and signed is not unsigned. The first
// mistake is printed as a sentence and ends the job. Functions are named through macros because they differ
// in the type only; tests/compile/spec_table.py looks that none is left out.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include "types.h"

#include <string.h>

enum { ELEMENTS = 32, MANY = 203 };

static int left, right;
static char *heap;        /* symmetric, for the objects of one test at a time */
static uint64_t *signals; /* symmetric, two words, 0 between tests */
static size_t heap_bytes;

/* Ends one test and begins another: nobody is still at work on the objects, and they are zero. */
static void clear(void)
{
    shmem_barrier_all();
    memset(heap, 0, heap_bytes);
    signals[0] = signals[1] = 0;
    shmem_barrier_all();
}

/* The argument CTX of the test bodies, with its comma. */
#define NONE
#define DEFAULT SHMEM_CTX_DEFAULT,

/* ----------------------------------------------------------------------------------------------------- put
 * and get */

#define CHECK_ARRAY(fn, array, wanted)                                                                                 \
    for (int i = 0; i < ELEMENTS; i++)                                                                                 \
    expect((array)[i] == (wanted), fn, "wrong element", i)

#define RMA_BODY(F, CTX, T, MIN, MAX, VALUE)                                                                           \
    {                                                                                                                  \
        T *dest = (T *)(void *)heap, mine[ELEMENTS], back[ELEMENTS];                                                   \
        for (int i = 0; i < ELEMENTS; i++)                                                                             \
            mine[i] = VALUE(T, MIN, MAX, me, i);                                                                       \
                                                                                                                       \
        clear();                                                                                                       \
        F(put)(CTX dest, mine, ELEMENTS, right);                                                                       \
        shmem_barrier_all();                                                                                           \
        CHECK_ARRAY(NAME(F(put)), dest, VALUE(T, MIN, MAX, left, i));                                                  \
        clear();                                                                                                       \
        F(put_nbi)(CTX dest, mine, ELEMENTS, right);                                                                   \
        shmem_quiet();                                                                                                 \
        shmem_barrier_all();                                                                                           \
        CHECK_ARRAY(NAME(F(put_nbi)), dest, VALUE(T, MIN, MAX, left, i));                                              \
        clear();                                                                                                       \
        for (int i = 0; i < ELEMENTS; i++)                                                                             \
            F(p)(CTX & dest[i], mine[i], right);                                                                       \
        shmem_barrier_all();                                                                                           \
        CHECK_ARRAY(NAME(F(p)), dest, VALUE(T, MIN, MAX, left, i));                                                    \
                                                                                                                       \
        memset(back, 0, sizeof back);                                                                                  \
        F(get)(CTX back, dest, ELEMENTS, right);                                                                       \
        CHECK_ARRAY(NAME(F(get)), back, VALUE(T, MIN, MAX, me, i));                                                    \
        memset(back, 0, sizeof back);                                                                                  \
        F(get_nbi)(CTX back, dest, ELEMENTS, right);                                                                   \
        shmem_quiet();                                                                                                 \
        CHECK_ARRAY(NAME(F(get_nbi)), back, VALUE(T, MIN, MAX, me, i));                                                \
        for (int i = 0; i < ELEMENTS; i++)                                                                             \
            expect(F(g)(CTX & dest[i], right) == VALUE(T, MIN, MAX, me, i), NAME(F(g)), "wrong value", i);             \
        memset(back, 0, sizeof back);                                                                                  \
        F(iget)(CTX back, dest, 2, 3, 8, right);                                                                       \
        CHECK_ARRAY(NAME(F(iget)), back, i < 16 && i % 2 == 0 ? VALUE(T, MIN, MAX, me, i / 2 * 3) : (T)0);             \
        memset(back, 0, sizeof back);                                                                                  \
        F(ibget)(CTX back, dest, 5, 3, 2, 4, right);                                                                   \
        CHECK_ARRAY(NAME(F(ibget)), back, i < 20 && i % 5 < 2 ? VALUE(T, MIN, MAX, me, i / 5 * 3 + i % 5) : (T)0);     \
                                                                                                                       \
        clear();                                                                                                       \
        F(iput)(CTX dest, mine, 2, 3, 8, right);                                                                       \
        shmem_barrier_all();                                                                                           \
        CHECK_ARRAY(NAME(F(iput)), dest, i < 16 && i % 2 == 0 ? VALUE(T, MIN, MAX, left, i / 2 * 3) : (T)0);           \
        clear();                                                                                                       \
        F(ibput)(CTX dest, mine, 5, 3, 2, 4, right);                                                                   \
        shmem_barrier_all();                                                                                           \
        CHECK_ARRAY(NAME(F(ibput)), dest, i < 20 && i % 5 < 2 ? VALUE(T, MIN, MAX, left, i / 5 * 3 + i % 5) : (T)0);   \
                                                                                                                       \
        clear();                                                                                                       \
        F(put_signal)(CTX dest, mine, ELEMENTS, signals, 7, SHMEM_SIGNAL_SET, right);                                  \
        expect(shmem_signal_wait_until(signals, SHMEM_CMP_NE, 0) == 7, NAME(F(put_signal)), "wrong signal", 0);        \
        CHECK_ARRAY(NAME(F(put_signal)), dest, VALUE(T, MIN, MAX, left, i));                                           \
        clear();                                                                                                       \
        F(put_signal_nbi)(CTX dest, mine, ELEMENTS, signals, 7, SHMEM_SIGNAL_ADD, right);                              \
        shmem_quiet();                                                                                                 \
        expect(shmem_signal_wait_until(signals, SHMEM_CMP_NE, 0) == 7, NAME(F(put_signal_nbi)), "wrong signal", 0);    \
        CHECK_ARRAY(NAME(F(put_signal_nbi)), dest, VALUE(T, MIN, MAX, left, i));                                       \
    }

#define RMA_TEST(N, T, MIN, MAX, VALUE)                                                                                \
    static void rma_##N(void) RMA_BODY(PLAIN_##N, NONE, T, MIN, MAX, VALUE) static void rma_ctx_##N(void)              \
        RMA_BODY(CTX_##N, DEFAULT, T, MIN, MAX, VALUE)

/* CTX_float(put) is shmem_ctx_float_put. */
#define CTX_float(f) shmem_ctx_float_##f
#define CTX_double(f) shmem_ctx_double_##f
#define CTX_longdouble(f) shmem_ctx_longdouble_##f
#define CTX_char(f) shmem_ctx_char_##f
#define CTX_schar(f) shmem_ctx_schar_##f
#define CTX_short(f) shmem_ctx_short_##f
#define CTX_int(f) shmem_ctx_int_##f
#define CTX_long(f) shmem_ctx_long_##f
#define CTX_longlong(f) shmem_ctx_longlong_##f
#define CTX_uchar(f) shmem_ctx_uchar_##f
#define CTX_ushort(f) shmem_ctx_ushort_##f
#define CTX_uint(f) shmem_ctx_uint_##f
#define CTX_ulong(f) shmem_ctx_ulong_##f
#define CTX_ulonglong(f) shmem_ctx_ulonglong_##f
#define CTX_int8(f) shmem_ctx_int8_##f
#define CTX_int16(f) shmem_ctx_int16_##f
#define CTX_int32(f) shmem_ctx_int32_##f
#define CTX_int64(f) shmem_ctx_int64_##f
#define CTX_uint8(f) shmem_ctx_uint8_##f
#define CTX_uint16(f) shmem_ctx_uint16_##f
#define CTX_uint32(f) shmem_ctx_uint32_##f
#define CTX_uint64(f) shmem_ctx_uint64_##f
#define CTX_size(f) shmem_ctx_size_##f
#define CTX_ptrdiff(f) shmem_ctx_ptrdiff_##f

RMA(RMA_TEST)

/* The forms by size, and the mem forms, which have no strided ones: one table, one test. */
struct sized {
    int bits;
    void (*put)(void *, const void *, size_t, int);
    void (*get)(void *, const void *, size_t, int);
    void (*put_nbi)(void *, const void *, size_t, int);
    void (*get_nbi)(void *, const void *, size_t, int);
    void (*put_signal)(void *, const void *, size_t, uint64_t *, uint64_t, int, int);
    void (*put_signal_nbi)(void *, const void *, size_t, uint64_t *, uint64_t, int, int);
    void (*ctx_put)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*ctx_get)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*ctx_put_nbi)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*ctx_get_nbi)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*ctx_put_signal)(shmem_ctx_t, void *, const void *, size_t, uint64_t *, uint64_t, int, int);
    void (*ctx_put_signal_nbi)(shmem_ctx_t, void *, const void *, size_t, uint64_t *, uint64_t, int, int);
    void (*iput)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*iget)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*ibput)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
    void (*ibget)(void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
    void (*ctx_iput)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*ctx_iget)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*ctx_ibput)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
    void (*ctx_ibget)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
};

#define CONTIGUOUS(s)                                                                                                  \
    shmem_put##s, shmem_get##s, shmem_put##s##_nbi, shmem_get##s##_nbi, shmem_put##s##_signal,                         \
        shmem_put##s##_signal_nbi, shmem_ctx_put##s, shmem_ctx_get##s, shmem_ctx_put##s##_nbi, shmem_ctx_get##s##_nbi, \
        shmem_ctx_put##s##_signal, shmem_ctx_put##s##_signal_nbi
#define STRIDED(s)                                                                                                     \
    shmem_iput##s, shmem_iget##s, shmem_ibput##s, shmem_ibget##s, shmem_ctx_iput##s, shmem_ctx_iget##s,                \
        shmem_ctx_ibput##s, shmem_ctx_ibget##s

static const struct sized sizes[] = {
    {8, CONTIGUOUS(8), STRIDED(8)},       {16, CONTIGUOUS(16), STRIDED(16)},
    {32, CONTIGUOUS(32), STRIDED(32)},    {64, CONTIGUOUS(64), STRIDED(64)},
    {128, CONTIGUOUS(128), STRIDED(128)}, {0, CONTIGUOUS(mem), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};

static unsigned char byte_of(int pe, size_t i)
{
    return (unsigned char)((size_t)(pe + 1) * 37 + i * 11 + 1);
}

/* Whether element i of `size` bytes is element `wanted` of PE pe; wanted < 0: zero. */
static bool element_is(const char *array, int i, size_t size, int pe, int wanted)
{
    for (size_t b = 0; b < size; b++) {
        unsigned char byte = wanted < 0 ? 0 : byte_of(pe, (size_t)wanted * size + b);
        if ((unsigned char)array[(size_t)i * size + b] != byte)
            return false;
    }
    return true;
}

static void sized(const struct sized *s)
{
    const size_t size = s->bits ? (size_t)s->bits / 8 : 1;
    _Alignas(16) char mine[ELEMENTS * 16], back[ELEMENTS * 16];
    char *dest = heap, fn[64];
    snprintf(fn, sizeof fn, "a form for %d bits (0: mem)", s->bits);
    for (size_t i = 0; i < sizeof mine; i++)
        mine[i] = (char)byte_of(me, i);

    for (int way = 0; way < 6; way++) {
        clear();
        switch (way) {
        case 0:
            s->put(dest, mine, ELEMENTS, right);
            break;
        case 1:
            s->put_nbi(dest, mine, ELEMENTS, right);
            break;
        case 2:
            s->ctx_put(SHMEM_CTX_DEFAULT, dest, mine, ELEMENTS, right);
            break;
        case 3:
            s->ctx_put_nbi(SHMEM_CTX_DEFAULT, dest, mine, ELEMENTS, right);
            break;
        case 4:
            s->put_signal(dest, mine, ELEMENTS, signals, 1, SHMEM_SIGNAL_ADD, right);
            s->ctx_put_signal(SHMEM_CTX_DEFAULT, dest, mine, ELEMENTS, signals, 1, SHMEM_SIGNAL_ADD, right);
            break;
        default:
            s->put_signal_nbi(dest, mine, ELEMENTS, signals, 1, SHMEM_SIGNAL_ADD, right);
            s->ctx_put_signal_nbi(SHMEM_CTX_DEFAULT, dest, mine, ELEMENTS, signals, 1, SHMEM_SIGNAL_ADD, right);
        }
        if (way < 4)
            shmem_barrier_all();
        else
            expect(shmem_signal_wait_until(signals, SHMEM_CMP_EQ, 2) == 2, fn, "wrong signal", way);
        for (int i = 0; i < ELEMENTS; i++)
            expect(element_is(dest, i, size, left, i), fn, "put moved a wrong element", i);
    }
    for (int way = 0; way < 4; way++) {
        memset(back, 0, sizeof back);
        switch (way) {
        case 0:
            s->get(back, dest, ELEMENTS, right);
            break;
        case 1:
            s->get_nbi(back, dest, ELEMENTS, right);
            break;
        case 2:
            s->ctx_get(SHMEM_CTX_DEFAULT, back, dest, ELEMENTS, right);
            break;
        default:
            s->ctx_get_nbi(SHMEM_CTX_DEFAULT, back, dest, ELEMENTS, right);
        }
        shmem_quiet();
        for (int i = 0; i < ELEMENTS; i++)
            expect(element_is(back, i, size, me, i), fn, "get moved a wrong element", i);
    }
    for (int way = 0; way < 8 && s->iput; way++) {
        const bool get = way >= 4, blocks = way % 2;
        char *result = get ? back : dest;
        if (get) {
            shmem_barrier_all();
            memcpy(dest, mine, sizeof mine);
            memset(back, 0, sizeof back);
            shmem_barrier_all();
        } else {
            clear();
        }
        switch (way) {
        case 0:
            s->iput(dest, mine, 2, 3, 8, right);
            break;
        case 1:
            s->ibput(dest, mine, 5, 3, 2, 4, right);
            break;
        case 2:
            s->ctx_iput(SHMEM_CTX_DEFAULT, dest, mine, 2, 3, 8, right);
            break;
        case 3:
            s->ctx_ibput(SHMEM_CTX_DEFAULT, dest, mine, 5, 3, 2, 4, right);
            break;
        case 4:
            s->iget(back, dest, 2, 3, 8, right);
            break;
        case 5:
            s->ibget(back, dest, 5, 3, 2, 4, right);
            break;
        case 6:
            s->ctx_iget(SHMEM_CTX_DEFAULT, back, dest, 2, 3, 8, right);
            break;
        default:
            s->ctx_ibget(SHMEM_CTX_DEFAULT, back, dest, 5, 3, 2, 4, right);
        }
        shmem_barrier_all();
        for (int i = 0; i < ELEMENTS; i++) {
            int wanted =
                blocks ? (i < 20 && i % 5 < 2 ? i / 5 * 3 + i % 5 : -1) : (i < 16 && i % 2 == 0 ? i / 2 * 3 : -1);
            expect(element_is(result, i, size, get ? right : left, wanted), fn, "a strided form moved a wrong element",
                   i);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------
 * atomics */

/* fetch, set, swap, which the real types have too. */
#define AMO_EXTENDED_BODY(F, CTX, T, MIN, MAX, VALUE)                                                                  \
    {                                                                                                                  \
        T *dest = (T *)(void *)heap, old = 0;                                                                          \
        clear();                                                                                                       \
        F(atomic_set)(CTX dest, MAX, right);                                                                           \
        expect(F(atomic_fetch)(CTX dest, right) == MAX, NAME(F(atomic_fetch)), "wrong value", 0);                      \
        expect(F(atomic_swap)(CTX dest, MIN, right) == MAX, NAME(F(atomic_swap)), "wrong old value", 0);               \
        F(atomic_fetch_nbi)(CTX & old, dest, right);                                                                   \
        shmem_quiet();                                                                                                 \
        expect(old == MIN, NAME(F(atomic_fetch_nbi)), "wrong value", 0);                                               \
        F(atomic_swap_nbi)(CTX & old, dest, VALUE(T, MIN, MAX, me, 2), right);                                         \
        shmem_quiet();                                                                                                 \
        expect(old == MIN, NAME(F(atomic_swap_nbi)), "wrong old value", 0);                                            \
        shmem_barrier_all();                                                                                           \
        expect(*dest == VALUE(T, MIN, MAX, left, 2), NAME(F(atomic_swap_nbi)), "wrong new value", 0);                  \
    }

#define AMO_BODY(F, CTX, T, MIN, MAX)                                                                                  \
    {                                                                                                                  \
        T *dest = (T *)(void *)heap, *count = dest + 1, old = 0;                                                       \
        const T four = 4, mine = (T)(MAX - (T)me), his = (T)(MAX - (T)left);                                           \
        clear();                                                                                                       \
        F(atomic_set)(CTX dest, MAX, right);                                                                           \
        expect(F(atomic_fetch_inc)(CTX dest, right) == MAX, NAME(F(atomic_fetch_inc)), "wrong old value", 0);          \
        expect(F(atomic_fetch)(CTX dest, right) == MIN, NAME(F(atomic_fetch_inc)), "does not wrap around", 0);         \
        expect(F(atomic_fetch_add)(CTX dest, four, right) == MIN, NAME(F(atomic_fetch_add)), "wrong old value", 0);    \
        F(atomic_add)(CTX dest, four, right);                                                                          \
        F(atomic_inc)(CTX dest, right);                                                                                \
        expect(F(atomic_compare_swap)(CTX dest, MAX, 0, right) == (T)(MIN + 9), NAME(F(atomic_compare_swap)),          \
               "wrong old value", 0);                                                                                  \
        expect(F(atomic_compare_swap)(CTX dest, (T)(MIN + 9), mine, right) == (T)(MIN + 9),                            \
               NAME(F(atomic_compare_swap)), "changed although it differs", 0);                                        \
        shmem_barrier_all();                                                                                           \
        expect(*dest == his, NAME(F(atomic_compare_swap)), "wrong new value", 0);                                      \
        shmem_barrier_all();                                                                                           \
        F(atomic_compare_swap_nbi)(CTX & old, dest, mine, MAX, right);                                                 \
        shmem_quiet();                                                                                                 \
        expect(old == mine, NAME(F(atomic_compare_swap_nbi)), "wrong old value", 0);                                   \
        F(atomic_fetch_inc_nbi)(CTX & old, dest, right);                                                               \
        shmem_quiet();                                                                                                 \
        expect(old == MAX, NAME(F(atomic_fetch_inc_nbi)), "wrong old value", 0);                                       \
        F(atomic_fetch_add_nbi)(CTX & old, dest, four, right);                                                         \
        shmem_quiet();                                                                                                 \
        expect(old == MIN, NAME(F(atomic_fetch_add_nbi)), "wrong old value", 0);                                       \
        shmem_barrier_all();                                                                                           \
        expect(*dest == (T)(MIN + 4), NAME(F(atomic_fetch_add_nbi)), "wrong new value", 0);                            \
        /* Everybody at once, on PE 0. */                                                                              \
        for (int i = 0; i < 100; i++) {                                                                                \
            F(atomic_inc)(CTX count, 0);                                                                               \
            F(atomic_add)(CTX count, 2, 0);                                                                            \
            (void)F(atomic_fetch_inc)(CTX count, 0);                                                                   \
            (void)F(atomic_fetch_add)(CTX count, 2, 0);                                                                \
        }                                                                                                              \
        shmem_barrier_all();                                                                                           \
        expect(F(atomic_fetch)(CTX count, 0) == (T)(600 * n), NAME(F(atomic_add)), "additions are lost", 0);           \
    }

#define AMO_BITWISE_BODY(F, CTX, T, MIN, MAX)                                                                          \
    {                                                                                                                  \
        T *dest = (T *)(void *)heap, old = 0;                                                                          \
        const T all = (T)(MAX | MIN), low = 0x0f0f, some = 0x00ff;                                                     \
        clear();                                                                                                       \
        F(atomic_or)(CTX dest, all, right);                                                                            \
        expect(F(atomic_fetch_and)(CTX dest, low, right) == all, NAME(F(atomic_fetch_and)), "wrong old value", 0);     \
        expect(F(atomic_fetch_or)(CTX dest, some, right) == low, NAME(F(atomic_fetch_or)), "wrong old value", 0);      \
        expect(F(atomic_fetch_xor)(CTX dest, low, right) == (low | some), NAME(F(atomic_fetch_xor)),                   \
               "wrong old value", 0);                                                                                  \
        F(atomic_and)(CTX dest, (T)0xf0, right);                                                                       \
        F(atomic_xor)(CTX dest, all, right);                                                                           \
        F(atomic_fetch_and_nbi)(CTX & old, dest, low, right);                                                          \
        shmem_quiet();                                                                                                 \
        expect(old == (T)(all ^ 0xf0), NAME(F(atomic_fetch_and_nbi)), "wrong old value", 0);                           \
        F(atomic_fetch_or_nbi)(CTX & old, dest, some, right);                                                          \
        shmem_quiet();                                                                                                 \
        expect(old == 0x0f0f, NAME(F(atomic_fetch_or_nbi)), "wrong old value", 0);                                     \
        F(atomic_fetch_xor_nbi)(CTX & old, dest, all, right);                                                          \
        shmem_quiet();                                                                                                 \
        expect(old == (low | some), NAME(F(atomic_fetch_xor_nbi)), "wrong old value", 0);                              \
        shmem_barrier_all();                                                                                           \
        expect(*dest == (T)(all ^ (low | some)), NAME(F(atomic_fetch_xor_nbi)), "wrong new value", 0);                 \
    }

#define AMO_OLD_EXTENDED_BODY(F, T, MIN, MAX)                                                                          \
    {                                                                                                                  \
        T *dest = (T *)(void *)heap;                                                                                   \
        clear();                                                                                                       \
        F(set)(dest, MAX, right);                                                                                      \
        expect(F(fetch)(dest, right) == MAX, NAME(F(fetch)), "wrong value", 0);                                        \
        expect(F(swap)(dest, MIN, right) == MAX, NAME(F(swap)), "wrong old value", 0);                                 \
        shmem_barrier_all();                                                                                           \
        expect(*dest == MIN, NAME(F(swap)), "wrong new value", 0);                                                     \
    }

#define AMO_OLD_BODY(F, T, MIN, MAX)                                                                                   \
    {                                                                                                                  \
        T *dest = (T *)(void *)heap;                                                                                   \
        clear();                                                                                                       \
        expect(F(cswap)(dest, 0, MAX, right) == 0, NAME(F(cswap)), "wrong old value", 0);                              \
        expect(F(finc)(dest, right) == MAX, NAME(F(finc)), "wrong old value", 0);                                      \
        expect(F(fadd)(dest, 4, right) == MIN, NAME(F(fadd)), "wrong old value", 0);                                   \
        F(inc)(dest, right);                                                                                           \
        F(add)(dest, 4, right);                                                                                        \
        shmem_barrier_all();                                                                                           \
        expect(*dest == MIN + 9, NAME(F(add)), "wrong new value", 0);                                                  \
    }

#define AMO_EXTENDED_TEST(N, T, MIN, MAX, VALUE)                                                                       \
    static void amo_extended_##N(void)                                                                                 \
        AMO_EXTENDED_BODY(PLAIN_##N, NONE, T, MIN, MAX, VALUE) static void amo_extended_ctx_##N(void)                  \
            AMO_EXTENDED_BODY(CTX_##N, DEFAULT, T, MIN, MAX, VALUE)
#define AMO_TEST(N, T, MIN, MAX, VALUE)                                                                                \
    static void amo_##N(void) AMO_BODY(PLAIN_##N, NONE, T, MIN, MAX) static void amo_ctx_##N(void)                     \
        AMO_BODY(CTX_##N, DEFAULT, T, MIN, MAX)
#define AMO_BITWISE_TEST(N, T, MIN, MAX, VALUE)                                                                        \
    static void amo_bitwise_##N(void)                                                                                  \
        AMO_BITWISE_BODY(PLAIN_##N, NONE, T, MIN, MAX) static void amo_bitwise_ctx_##N(void)                           \
            AMO_BITWISE_BODY(CTX_##N, DEFAULT, T, MIN, MAX)
#define AMO_OLD_EXTENDED_TEST(N, T, MIN, MAX, VALUE)                                                                   \
    static void amo_old_extended_##N(void) AMO_OLD_EXTENDED_BODY(PLAIN_##N, T, MIN, MAX)
#define AMO_OLD_TEST(N, T, MIN, MAX, VALUE) static void amo_old_##N(void) AMO_OLD_BODY(PLAIN_##N, T, MIN, MAX)

FLOAT_DOUBLE(AMO_EXTENDED_TEST)
AMO(AMO_EXTENDED_TEST)
AMO(AMO_TEST)
AMO_BITWISE(AMO_BITWISE_TEST)
FLOAT_DOUBLE(AMO_OLD_EXTENDED_TEST)
AMO_OLD(AMO_OLD_EXTENDED_TEST)
AMO_OLD(AMO_OLD_TEST)

/* ---------------------------------------------------------------------------------------------------------
 * waiting */

/* All comparisons of values at the edges, and a wait for the neighbour. */
#define WAIT_BODY(F, T, MIN, MAX)                                                                                      \
    {                                                                                                                  \
        T *ivar = (T *)(void *)heap;                                                                                   \
        const T values[] = {MIN, (T)(MIN + 1), 0, 1, (T)(MAX - 1), MAX};                                               \
        clear();                                                                                                       \
        for (int i = 0; i < 36; i++) {                                                                                 \
            const T a = values[i / 6], b = values[i % 6];                                                              \
            F(p)(ivar, a, me);                                                                                         \
            shmem_quiet();                                                                                             \
            expect(F(test)(ivar, SHMEM_CMP_EQ, b) == (a == b), NAME(F(test)), "EQ is wrong", i);                       \
            expect(F(test)(ivar, SHMEM_CMP_NE, b) == (a != b), NAME(F(test)), "NE is wrong", i);                       \
            expect(F(test)(ivar, SHMEM_CMP_GT, b) == (a > b), NAME(F(test)), "GT is wrong", i);                        \
            expect(F(test)(ivar, SHMEM_CMP_GE, b) == (a >= b), NAME(F(test)), "GE is wrong", i);                       \
            expect(F(test)(ivar, SHMEM_CMP_LT, b) == (a < b), NAME(F(test)), "LT is wrong", i);                        \
            expect(F(test)(ivar, SHMEM_CMP_LE, b) == (a <= b), NAME(F(test)), "LE is wrong", i);                       \
        }                                                                                                              \
        clear();                                                                                                       \
        F(p)(ivar, MAX, right);                                                                                        \
        F(wait_until)(ivar, SHMEM_CMP_GT, (T)(MAX - 1));                                                               \
        expect(*ivar == MAX, NAME(F(wait_until)), "returned too early", 0);                                            \
    }

#define WAIT_OLD_BODY(F, T)                                                                                            \
    {                                                                                                                  \
        T *ivar = (T *)(void *)heap;                                                                                   \
        clear();                                                                                                       \
        F(p)(ivar, (T)-1, right);                                                                                      \
        F(wait)(ivar, 0);                                                                                              \
        expect(*ivar == (T)-1, NAME(F(wait)), "returned too early", 0);                                                \
    }

/* The neighbour changes elements 1 and 3 of 5; with status, 0 and 4 do not take part. */
#define WAIT_MANY_BODY(F, T, MIN, MAX)                                                                                 \
    {                                                                                                                  \
        T *ivars = (T *)(void *)heap;                                                                                  \
        const int status[5] = {1, 0, 1, 0, 1}, nobody[5] = {1, 1, 1, 1, 1};                                            \
        const T wanted[5] = {MAX, (T)(MAX - 1), MAX, (T)(MAX - 3), MAX};                                               \
        size_t indices[5], some, any;                                                                                  \
        clear();                                                                                                       \
        expect(F(test_any)(ivars, 5, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX, NAME(F(test_any)), "found one", 0);           \
        expect(F(test_some)(ivars, 5, indices, NULL, SHMEM_CMP_NE, 0) == 0, NAME(F(test_some)), "found one", 0);       \
        expect(!F(test_all)(ivars, 5, status, SHMEM_CMP_NE, 0), NAME(F(test_all)), "is true", 0);                      \
        expect(F(test_any_vector)(ivars, 5, NULL, SHMEM_CMP_EQ, wanted) == SIZE_MAX, NAME(F(test_any_vector)),         \
               "found one", 0);                                                                                        \
        expect(F(test_some_vector)(ivars, 5, indices, NULL, SHMEM_CMP_EQ, wanted) == 0, NAME(F(test_some_vector)),     \
               "found one", 0);                                                                                        \
        expect(!F(test_all_vector)(ivars, 5, status, SHMEM_CMP_EQ, wanted), NAME(F(test_all_vector)), "is true", 0);   \
        shmem_barrier_all();                                                                                           \
        F(atomic_set)(&ivars[1], wanted[1], right);                                                                    \
        F(atomic_set)(&ivars[3], wanted[3], right);                                                                    \
        any = F(wait_until_any)(ivars, 5, NULL, SHMEM_CMP_NE, 0);                                                      \
        expect(any == 1 || any == 3, NAME(F(wait_until_any)), "wrong index", (int)any);                                \
        any = F(wait_until_any_vector)(ivars, 5, status, SHMEM_CMP_EQ, wanted);                                        \
        expect(any == 1 || any == 3, NAME(F(wait_until_any_vector)), "wrong index", (int)any);                         \
        some = F(wait_until_some)(ivars, 5, indices, NULL, SHMEM_CMP_NE, 0);                                           \
        expect((some == 1 || some == 2) && indices[0] % 2 == 1, NAME(F(wait_until_some)), "wrong", (int)some);         \
        some = F(wait_until_some_vector)(ivars, 5, indices, NULL, SHMEM_CMP_EQ, wanted);                               \
        expect((some == 1 || some == 2) && indices[0] % 2 == 1, NAME(F(wait_until_some_vector)), "wrong", (int)some);  \
        F(wait_until_all)(ivars, 5, status, SHMEM_CMP_GE, (T)(MAX - 3));                                               \
        expect(ivars[1] == wanted[1] && ivars[3] == wanted[3], NAME(F(wait_until_all)), "too early", 0);               \
        F(wait_until_all_vector)(ivars, 5, status, SHMEM_CMP_EQ, wanted);                                              \
        expect(F(test_all)(ivars, 5, status, SHMEM_CMP_GT, (T)(MAX - 4)), NAME(F(test_all)), "is false", 0);           \
        expect(F(test_all_vector)(ivars, 5, status, SHMEM_CMP_EQ, wanted), NAME(F(test_all_vector)), "is false", 0);   \
        any = F(test_any)(ivars, 5, NULL, SHMEM_CMP_NE, 0);                                                            \
        expect(any == 1 || any == 3, NAME(F(test_any)), "wrong index", (int)any);                                      \
        any = F(test_any_vector)(ivars, 5, NULL, SHMEM_CMP_EQ, wanted);                                                \
        expect(any == 1 || any == 3, NAME(F(test_any_vector)), "wrong index", (int)any);                               \
        some = F(test_some)(ivars, 5, indices, NULL, SHMEM_CMP_NE, 0);                                                 \
        expect(some == 2 && indices[0] + indices[1] == 4, NAME(F(test_some)), "wrong", (int)some);                     \
        some = F(test_some_vector)(ivars, 5, indices, NULL, SHMEM_CMP_EQ, wanted);                                     \
        expect(some == 2 && indices[0] + indices[1] == 4, NAME(F(test_some_vector)), "wrong", (int)some);              \
        /* Nobody takes part. */                                                                                       \
        F(wait_until_all)(ivars, 5, nobody, SHMEM_CMP_EQ, MAX);                                                        \
        expect(F(wait_until_any)(ivars, 0, NULL, SHMEM_CMP_EQ, 0) == SIZE_MAX, NAME(F(wait_until_any)), "empty set",   \
               0);                                                                                                     \
        expect(F(wait_until_some)(ivars, 5, indices, nobody, SHMEM_CMP_EQ, 0) == 0, NAME(F(wait_until_some)),          \
               "empty set", 0);                                                                                        \
        expect(F(test_all)(ivars, 5, nobody, SHMEM_CMP_EQ, MAX) == 1, NAME(F(test_all)), "empty set", 0);              \
        expect(F(test_any)(ivars, 5, nobody, SHMEM_CMP_EQ, 0) == SIZE_MAX, NAME(F(test_any)), "empty set", 0);         \
    }

#define WAIT_TEST(N, T, MIN, MAX, VALUE) static void wait_##N(void) WAIT_BODY(PLAIN_##N, T, MIN, MAX)
#define WAIT_OLD_TEST(N, T, MIN, MAX, VALUE) static void wait_old_##N(void) WAIT_OLD_BODY(PLAIN_##N, T)
#define WAIT_MANY_TEST(N, T, MIN, MAX, VALUE) static void wait_many_##N(void) WAIT_MANY_BODY(PLAIN_##N, T, MIN, MAX)
#define WAIT_EXTRA(X)                                                                                                  \
    X(short, short, SHRT_MIN, SHRT_MAX, INTEGER)                                                                       \
    X(ushort, unsigned short, 0, USHRT_MAX, INTEGER)
#define WAIT_OLD(X) X(short, short, SHRT_MIN, SHRT_MAX, INTEGER) AMO_OLD(X)

AMO(WAIT_TEST)
WAIT_EXTRA(WAIT_TEST)
WAIT_OLD(WAIT_OLD_TEST)
AMO(WAIT_MANY_TEST)

/* -----------------------------------------------------------------------------------------------------
 * collectives */

#define COLLECT_BODY(F, T, MIN, MAX, VALUE)                                                                            \
    {                                                                                                                  \
        T *source = (T *)(void *)heap, *dest = source + MANY;                                                          \
        clear();                                                                                                       \
        for (int i = 0; i < MANY; i++)                                                                                 \
            source[i] = VALUE(T, MIN, MAX, me, i);                                                                     \
        for (int root = 0; root < n; root++) {                                                                         \
            memset(dest, 0, sizeof(T) * MANY);                                                                         \
            shmem_sync_all();                                                                                          \
            expect(F(broadcast)(SHMEM_TEAM_WORLD, dest, source, MANY, root) == 0, NAME(F(broadcast)), "failed", root); \
            for (int i = 0; i < MANY; i++)                                                                             \
                expect(dest[i] == VALUE(T, MIN, MAX, root, i), NAME(F(broadcast)), "wrong element", i);                \
            shmem_sync_all();                                                                                          \
        }                                                                                                              \
        memset(dest, 0, sizeof(T) * MANY * (size_t)n);                                                                 \
        shmem_sync_all();                                                                                              \
        expect(F(fcollect)(SHMEM_TEAM_WORLD, dest, source, MANY) == 0, NAME(F(fcollect)), "failed", 0);                \
        for (int i = 0; i < MANY * n; i++)                                                                             \
            expect(dest[i] == VALUE(T, MIN, MAX, i / MANY, i % MANY), NAME(F(fcollect)), "wrong element", i);          \
    }

/* Into another array, then in place. */
#define REDUCE(FN, T, MIN, MAX, ELEMENT, OP)                                                                           \
    for (int in_place = 0; in_place < 2; in_place++) {                                                                 \
        T *source = (T *)(void *)heap, *dest = in_place ? source : source + MANY;                                      \
        clear();                                                                                                       \
        for (int i = 0; i < MANY; i++)                                                                                 \
            source[i] = ELEMENT(T, MIN, MAX, me, i);                                                                   \
        shmem_sync_all();                                                                                              \
        expect(FN(SHMEM_TEAM_WORLD, dest, source, MANY) == 0, NAME(FN), "failed", in_place);                           \
        for (int i = 0; i < MANY; i++) {                                                                               \
            T wanted = ELEMENT(T, MIN, MAX, 0, i);                                                                     \
            for (int pe = 1; pe < n; pe++) {                                                                           \
                const T element = ELEMENT(T, MIN, MAX, pe, i);                                                         \
                wanted = OP(T, wanted, element);                                                                       \
            }                                                                                                          \
            expect(dest[i] == wanted, NAME(FN), in_place ? "wrong element, in place" : "wrong element", i);            \
        }                                                                                                              \
    }

#define COLLECT_TEST(N, T, MIN, MAX, VALUE) static void collect_##N(void) COLLECT_BODY(PLAIN_##N, T, MIN, MAX, VALUE)
#define REDUCE_ORDER_TEST(N, T, MIN, MAX, VALUE)                                                                       \
    static void reduce_order_##N(void)                                                                                 \
    {                                                                                                                  \
        REDUCE(shmem_##N##_max_reduce, T, MIN, MAX, ORDERED, MAXIMUM)                                                  \
        REDUCE(shmem_##N##_min_reduce, T, MIN, MAX, ORDERED, MINIMUM)                                                  \
    }
#define REDUCE_INTEGER_TEST(N, T, MIN, MAX, VALUE)                                                                     \
    static void reduce_sum_##N(void)                                                                                   \
    {                                                                                                                  \
        REDUCE(shmem_##N##_sum_reduce, T, MIN, MAX, SUMMAND, ADD_WRAP)                                                 \
        REDUCE(shmem_##N##_prod_reduce, T, MIN, MAX, FACTOR, MUL_WRAP)                                                 \
    }
#define REDUCE_REAL_TEST(N, T, MIN, MAX, VALUE)                                                                        \
    static void reduce_sum_##N(void)                                                                                   \
    {                                                                                                                  \
        REDUCE(shmem_##N##_sum_reduce, T, MIN, MAX, ROOTED, ADD)                                                       \
        REDUCE(shmem_##N##_prod_reduce, T, MIN, MAX, ROOTED, MUL)                                                      \
    }
#define REDUCE_BITWISE_TEST(N, T, MIN, MAX, VALUE)                                                                     \
    static void reduce_bitwise_##N(void)                                                                               \
    {                                                                                                                  \
        REDUCE(shmem_##N##_and_reduce, T, MIN, MAX, BITS, AND)                                                         \
        REDUCE(shmem_##N##_or_reduce, T, MIN, MAX, BITS, OR)                                                           \
        REDUCE(shmem_##N##_xor_reduce, T, MIN, MAX, BITS, XOR)                                                         \
    }

RMA(COLLECT_TEST)
RMA(REDUCE_ORDER_TEST)
REALS(REDUCE_REAL_TEST)
INTEGERS(REDUCE_INTEGER_TEST)
REDUCE_BITWISE(REDUCE_BITWISE_TEST)

static void reduce_complex(void)
{
    REDUCE(shmem_complexf_sum_reduce, float _Complex, 0, 0, COMPLEX, ADD)
    REDUCE(shmem_complexf_prod_reduce, float _Complex, 0, 0, UNIT, MUL)
    REDUCE(shmem_complexd_sum_reduce, double _Complex, 0, 0, COMPLEX, ADD)
    REDUCE(shmem_complexd_prod_reduce, double _Complex, 0, 0, UNIT, MUL)
}

static void collect_mem(void)
{
    char *source = heap, *dest = heap + MANY;
    clear();
    for (int i = 0; i < MANY; i++)
        source[i] = (char)byte_of(me, (size_t)i);
    shmem_sync_all();
    expect(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, MANY) == 0, "shmem_fcollectmem", "failed", 0);
    for (int i = 0; i < MANY * n; i++)
        expect(element_is(dest, i, 1, i / MANY, i % MANY), "shmem_fcollectmem", "wrong byte", i);
    shmem_sync_all();
    expect(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, MANY, n - 1) == 0, "shmem_broadcastmem", "failed", 0);
    for (int i = 0; i < MANY; i++)
        expect(element_is(dest, i, 1, n - 1, i), "shmem_broadcastmem", "wrong byte", i);
}

/* ----------------------------------------------------------------------------------------------------
 * without types */

static void signal_words(void)
{
    clear();
    shmem_signal_set(signals, 40, right);
    shmem_signal_add(signals, 1, right);
    shmem_signal_add(SHMEM_CTX_DEFAULT, signals, 1, right);
    expect(shmem_signal_wait_until(signals, SHMEM_CMP_GE, 42) == 42, "shmem_signal_add", "wrong sum", 0);
    shmem_barrier_all();
    shmem_signal_set(SHMEM_CTX_DEFAULT, signals, UINT64_MAX, right);
    shmem_barrier_all();
    expect(shmem_signal_fetch(signals) == UINT64_MAX, "shmem_signal_set", "wrong value", 0);
    clear();
    shmem_put64_signal(heap, heap, 0, signals, 5, SHMEM_SIGNAL_SET, right);
    expect(shmem_signal_wait_until(signals, SHMEM_CMP_EQ, 5) == 5, "shmem_put64_signal", "no signal without data", 0);
}

static void long_waits(void)
{
    long *ivar = (long *)(void *)heap;
    clear();
    shmem_long_p(ivar, -3, right);
    (shmem_wait_until)(ivar, SHMEM_CMP_LT, 0);
    expect(*ivar == -3, "shmem_wait_until", "returned too early", 0);
    clear();
    shmem_long_p(ivar, -3, right);
    shmem_wait(ivar, 0);
    expect(*ivar == -3, "shmem_wait", "returned too early", 0);
}

static void ordering(void)
{
    const int pes[2] = {left, right};
    long *word = (long *)(void *)heap;
    clear();
    shmem_long_p(word, 1, right);
    shmem_fence();
    shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_pe_quiet(pes, 2);
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, pes, 2);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_quiet();
    shmem_sync_all();
    expect(*word == 1, "shmem_quiet", "a put is missing", 0);
}

static void teams(void)
{
    shmem_team_config_t config = {-1};
    expect(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me, "shmem_team_my_pe", "wrong number", 0);
    expect(shmem_team_n_pes(SHMEM_TEAM_WORLD) == n, "shmem_team_n_pes", "wrong number", 0);
    expect(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1, "shmem_team_my_pe", "there is no such team", 0);
    expect(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1, "shmem_team_n_pes", "there is no such team", 0);
    const int in_shared = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    expect(in_shared >= 0 && in_shared < shmem_team_n_pes(SHMEM_TEAM_SHARED), "shmem_team_my_pe", "wrong number", 1);
    expect(shmem_team_translate_pe(SHMEM_TEAM_SHARED, in_shared, SHMEM_TEAM_WORLD) == me, "shmem_team_translate_pe",
           "wrong number", 0);
    expect(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n, SHMEM_TEAM_SHARED) == -1, "shmem_team_translate_pe",
           "no such PE", n);
    expect(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1, "shmem_team_translate_pe",
           "no such team", 0);
    expect(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts >= 0,
           "shmem_team_get_config", "failed", 0);
    expect(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL) == 0, "shmem_team_get_config", "failed", 1);
    config.num_contexts = -7;
    expect(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0 &&
               config.num_contexts == -7,
           "shmem_team_get_config", "there is no such team", 2);
    expect(shmem_team_sync(SHMEM_TEAM_WORLD) == 0, "shmem_team_sync", "failed", 0);
    expect(shmem_sync(SHMEM_TEAM_SHARED) == 0, "shmem_sync", "failed", 0);
}

static void addresses(void)
{
    long *word = (long *)(void *)heap;
    clear();
    expect(shmem_pe_accessible(right) && !shmem_pe_accessible(n) && !shmem_pe_accessible(-1), "shmem_pe_accessible",
           "wrong", 0);
    expect(shmem_addr_accessible(word, right) && !shmem_addr_accessible(&word, right) &&
               !shmem_addr_accessible(word, n),
           "shmem_addr_accessible", "wrong", 0);
    expect(shmem_ptr(&word, right) == NULL, "shmem_ptr", "a stack object is not symmetric", 0);
    long *his = shmem_ptr(word, right);
    if (his) {
        *his = me + 1;
        expect(shmem_long_g(word, right) == me + 1, "shmem_ptr", "leads elsewhere", 0);
        expect(shmem_team_ptr(SHMEM_TEAM_WORLD, word, right) == his, "shmem_team_ptr", "leads elsewhere", 0);
    }
    expect(shmem_team_ptr(SHMEM_TEAM_INVALID, word, 0) == NULL, "shmem_team_ptr", "there is no such team", 0);
}

static void memory(void)
{
    char *a = shmem_malloc(1000), *b = shmem_align(4096, 100), *c = shmem_calloc(10, 30);
    char *d = shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    expect(a && b && c && d, "shmem_malloc", "no memory", 0);
    expect((uintptr_t)b % 4096 == 0, "shmem_align", "is not aligned", 0);
    for (int i = 0; i < 300; i++)
        expect(c[i] == 0, "shmem_calloc", "is not zero", i);
    memset(a, 5, 1000);
    a = shmem_realloc(a, 5000);
    expect(a != NULL, "shmem_realloc", "no memory", 0);
    for (int i = 0; i < 1000; i++)
        expect(a[i] == 5, "shmem_realloc", "lost what was there", i);
    expect(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL, "shmem_malloc", "size 0", 0);
    shmem_free(NULL);
    shmem_free(d);
    shmem_free(c);
    shmem_free(b);
    expect(shmem_realloc(a, 0) == NULL, "shmem_realloc", "size 0", 0);
}

static void about(void)
{
    int major, minor, level, initialized;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_version(&major, &minor);
    expect(major == 1 && minor == 6, "shmem_info_get_version", "wrong version", minor);
    shmem_info_get_name(name);
    expect(strcmp(name, SHMEM_VENDOR_STRING) == 0, "shmem_info_get_name", "wrong name", 0);
    shmem_query_thread(&level);
    expect(level >= SHMEM_THREAD_SINGLE && level <= SHMEM_THREAD_MULTIPLE, "shmem_query_thread", "no level", level);
    shmem_query_initialized(&initialized);
    expect(initialized == 1, "shmem_query_initialized", "is false", 0);
    expect(shmem_my_pe() == me && shmem_n_pes() == n, "shmem_my_pe", "changed", 0);
    shmem_pcontrol(1, "nothing");
}

#define RUN_RMA(N, T, MIN, MAX, VALUE) rma_##N(), rma_ctx_##N();
#define RUN_AMO_EXTENDED(N, T, MIN, MAX, VALUE) amo_extended_##N(), amo_extended_ctx_##N();
#define RUN_AMO(N, T, MIN, MAX, VALUE) amo_##N(), amo_ctx_##N();
#define RUN_AMO_BITWISE(N, T, MIN, MAX, VALUE) amo_bitwise_##N(), amo_bitwise_ctx_##N();
#define RUN_AMO_OLD_EXTENDED(N, T, MIN, MAX, VALUE) amo_old_extended_##N();
#define RUN_AMO_OLD(N, T, MIN, MAX, VALUE) amo_old_##N();
#define RUN_WAIT(N, T, MIN, MAX, VALUE) wait_##N();
#define RUN_WAIT_OLD(N, T, MIN, MAX, VALUE) wait_old_##N();
#define RUN_WAIT_MANY(N, T, MIN, MAX, VALUE) wait_many_##N();
#define RUN_COLLECT(N, T, MIN, MAX, VALUE) collect_##N();
#define RUN_REDUCE_ORDER(N, T, MIN, MAX, VALUE) reduce_order_##N();
#define RUN_REDUCE_SUM(N, T, MIN, MAX, VALUE) reduce_sum_##N();
#define RUN_REDUCE_BITWISE(N, T, MIN, MAX, VALUE) reduce_bitwise_##N();

int main(void)
{
    int provided;
    shmem_init();
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0 || provided != SHMEM_THREAD_MULTIPLE)
        fail("shmem_init_thread", "a nested init failed", 0);
    shmem_finalize();

    me = shmem_my_pe();
    n = shmem_n_pes();
    left = (me + n - 1) % n;
    right = (me + 1) % n;
    heap_bytes = sizeof(long double) * MANY * (size_t)(n + 1);
    heap = shmem_align(64, heap_bytes);
    signals = shmem_calloc(2, sizeof *signals);
    if (!heap || !signals)
        fail("shmem_malloc", "no memory", 0);

    about();
    memory();
    addresses();
    teams();
    ordering();
    RMA(RUN_RMA)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sized(&sizes[i]);
    FLOAT_DOUBLE(RUN_AMO_EXTENDED)
    AMO(RUN_AMO_EXTENDED)
    AMO(RUN_AMO)
    AMO_BITWISE(RUN_AMO_BITWISE)
    FLOAT_DOUBLE(RUN_AMO_OLD_EXTENDED)
    AMO_OLD(RUN_AMO_OLD_EXTENDED)
    AMO_OLD(RUN_AMO_OLD)
    signal_words();
    AMO(RUN_WAIT)
    WAIT_EXTRA(RUN_WAIT)
    WAIT_OLD(RUN_WAIT_OLD)
    AMO(RUN_WAIT_MANY)
    long_waits();
    RMA(RUN_COLLECT)
    collect_mem();
    RMA(RUN_REDUCE_ORDER)
    REALS(RUN_REDUCE_SUM)
    INTEGERS(RUN_REDUCE_SUM)
    REDUCE_BITWISE(RUN_REDUCE_BITWISE)
    reduce_complex();

    shmem_barrier_all();
    shmem_free(signals);
    shmem_free(heap);
    if (me == 0)
        printf("all typed functions do what they should on %d PEs\n", n);
    shmem_finalize();
    return 0;
}
