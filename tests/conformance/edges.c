// SPDX-License-Identifier: Apache-2.0
// Values at the edges of each type, bit by bit: the smallest and largest, the sign bit, not-a-number with its payload,
// minus zero, subnormal numbers. They pass through every form of put, get and atomic, to the right neighbour and to
// oneself, and what lies beside them is not touched.
#include "random_ops.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VALUES = 12, GUARD = 0xa5, ROOM = 64 };

static int me, n, right, left;
static unsigned char *there,
    *expected; /* symmetric: an array with a guard before and behind; and what it should hold */

static void fail(const char *type, const char *what, int i)
{
    printf("PE %d of %d: %s, %s: wrong at value %d\n", me, n, type, what, i);
    fflush(stdout);
    shmem_global_exit(1);
}

/* Bits that are edges of integers and of reals of each size. */
static uint64_t edge(size_t size, int i)
{
    static const uint64_t bits8[VALUES] = {0, 1, 0x7f, 0x80, 0x81, 0xff, 0xfe, 0x55, 0xaa, 2, 0x40, 0xc0};
    static const uint64_t bits16[VALUES] = {0,      1,      0x7fff, 0x8000, 0x8001, 0xffff,
                                            0xfffe, 0x00ff, 0x0080, 0xff00, 0x5555, 0x0100};
    static const uint64_t bits32[VALUES] = {
        0,          0x80000000 /* -0 */, 1 /* subnormal */,    0x807fffff, 0x00800000, 0x7f7fffff,
        0x7f800000, 0xff800000,          0x7fc12345 /* NaN */, 0x7fffffff, 0xffffffff, 0x0000ffff};
    static const uint64_t bits64[VALUES] = {0,
                                            0x8000000000000000,
                                            1,
                                            0x800fffffffffffff,
                                            0x0010000000000000,
                                            0x7fefffffffffffff,
                                            0x7ff0000000000000,
                                            0xfff0000000000000,
                                            0x7ff8123456789abc,
                                            0x7fffffffffffffff,
                                            0xffffffffffffffff,
                                            0x00000000ffffffff};
    return size == 1 ? bits8[i] : size == 2 ? bits16[i] : size == 4 ? bits32[i] : bits64[i];
}

static long double long_edge(int i)
{
    const long double values[VALUES] = {0.0L,       -0.0L,        LDBL_TRUE_MIN,       -LDBL_TRUE_MIN,
                                        LDBL_MIN,   LDBL_MAX,     -LDBL_MAX,           HUGE_VALL,
                                        -HUGE_VALL, LDBL_EPSILON, __builtin_nanl("7"), 1.0L / 3};
    return values[i];
}

/* How many bytes of the type are its value. */
static size_t value_bytes(size_t size)
{
    return size == 16 && LDBL_MANT_DIG == 64 ? 10 : size;
}

/* Values differ between PEs by where they begin. */
static void fill(unsigned char *array, size_t size, int pe)
{
    for (int i = 0; i < VALUES; i++) {
        const int k = (i + pe) % VALUES;
        if (size == 16) {
            const long double value = long_edge(k);
            memcpy(array + 16 * i, &value, sizeof value);
        } else {
            const uint64_t bits = edge(size, k);
            memcpy(array + size * (size_t)i, &bits, size);
        }
    }
}

static void clear(void)
{
    shmem_barrier_all();
    memset(there, GUARD, 2 * ROOM + VALUES * 16);
    shmem_barrier_all();
}

static void check(const char *type, const char *what, const unsigned char *array, size_t size, int pe)
{
    fill(expected, size, pe);
    for (size_t i = 0; i < VALUES; i++)
        if (memcmp(array + i * size, expected + i * size, value_bytes(size)) != 0)
            fail(type, what, (int)i);
}

static void check_guards(const char *type, const char *what, size_t size)
{
    for (size_t i = 0; i < ROOM; i++)
        if (there[i] != GUARD || there[ROOM + VALUES * size + i] != GUARD)
            fail(type, what, -1);
}

/* One type, one form: all values to a PE and, where the form is a get, back. */
static void move(int type, enum move form, bool ctx, int pe, int from)
{
    const size_t size = movers[type].size;
    const bool single = form == P || form == G, strided = form == IPUT || form == IGET;
    const struct shape shape = {single || strided                ? 1
                                : form == IBPUT || form == IBGET ? 3
                                                                 : VALUES,
                                strided                          ? VALUES
                                : form == IBPUT || form == IBGET ? VALUES / 3
                                                                 : 1,
                                form == IBPUT || form == IBGET ? 3 : 1, form == IBPUT || form == IBGET ? 3 : 1};
    const struct signal signal = {(uint64_t *)(void *)(there + 2 * ROOM + VALUES * 16), 1, SHMEM_SIGNAL_SET};
    _Alignas(16) unsigned char here[VALUES * 16];
    clear();
    if (form < GET) {
        fill(here, size, me);
    } else {
        fill(there + ROOM, size, me);
        memset(here, 0, sizeof here);
        shmem_barrier_all();
    }
    for (size_t i = 0; i < (single ? VALUES : 1); i++)
        movers[type].move(form, ctx, there + ROOM + i * size, here + i * size, shape, signal, pe);
    shmem_barrier_all();
    check(movers[type].name, form < GET ? "put" : "get", form < GET ? there + ROOM : here, size,
          form < GET ? from : pe);
    check_guards(movers[type].name, "a neighbour of the array", size);
}

static void moves(void)
{
    for (int type = 0; type < MOVERS; type++)
        for (enum move form = 0; form < MOVES; form++) {
            move(type, form, false, right, left);
            move(type, form, true, me, me);
        }
}

static const unsigned char blank[24] = {[0] = GUARD, [7] = GUARD, [16] = GUARD, [23] = GUARD};

/* One atomic with one pair of values, in one half of a word of 64 bits or in all of it. */
static void one_amo(int type, enum amo amo, bool ctx, bool nbi, int i, int k, int pe)
{
    const size_t size = atomics[type].size;
    for (size_t half = 0; half < 8 / size; half++) {
        unsigned char *base = there + (pe == me ? 0 : 24), *word = base + 8 + half * 4; /* nobody else's */
        const uint64_t first = edge(size, i), a = edge(size, k), compare = k % 2 ? first : a;
        const uint64_t wanted = amo_result(amo, size, first, a, compare);
        uint64_t found = 0;
        unsigned char around[24];
        shmem_putmem(base, blank, sizeof blank, pe);
        shmem_quiet();
        shmem_putmem(word, &first, size, pe);
        shmem_quiet();
        const uint64_t old = atomics[type].amo(amo, ctx, nbi, word, a, compare, pe);
        if (amo_fetches(amo) && old != first)
            fail(atomics[type].name, "an atomic's old value", (int)amo);
        shmem_quiet();
        shmem_getmem(&found, word, size, pe);
        if (memcmp(&found, &wanted, size) != 0)
            fail(atomics[type].name, "an atomic's new value", (int)amo);
        shmem_putmem(word, &(uint64_t){0}, size, pe);
        shmem_quiet();
        shmem_getmem(around, base, sizeof around, pe);
        if (memcmp(around, blank, sizeof around) != 0)
            fail(atomics[type].name, "an atomic changed what lies beside its word", (int)amo);
    }
}

static void amos(void)
{
    clear();
    for (int type = 0; type < ATOMICS; type++)
        for (enum amo amo = 0; amo < atomics[type].end; amo++)
            for (int i = 0; i < VALUES; i++)
                for (int k = 0; k < VALUES; k++)
                    one_amo(type, amo, i % 2, (i + k) % 3 == 0, i, k, (i + k) % 2 ? me : right);
    shmem_barrier_all();
}

/* Complex numbers move by the functions of their size. */
static void complex_numbers(void)
{
    const double complex mine[2] = {__builtin_complex(-0.0, (double)me),
                                    __builtin_complex(__builtin_nan("5"), HUGE_VAL)};
    const float complex small[2] = {__builtin_complex(-0.0F, (float)me),
                                    __builtin_complex(__builtin_nanf("5"), FLT_TRUE_MIN)};
    clear();
    shmem_put128(there + ROOM, mine, 2, right);
    shmem_put64(there + ROOM + sizeof mine, small, 2, right);
    shmem_barrier_all();
    const double complex his[2] = {__builtin_complex(-0.0, (double)left), mine[1]};
    const float complex his_small[2] = {__builtin_complex(-0.0F, (float)left), small[1]};
    if (memcmp(there + ROOM, his, sizeof his) != 0 ||
        memcmp(there + ROOM + sizeof his, his_small, sizeof his_small) != 0)
        fail("complex", "put128 or put64", 0);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    there = shmem_malloc(2 * ROOM + VALUES * 16 + 8);
    expected = malloc(VALUES * 16);
    moves();
    amos();
    complex_numbers();
    if (me == 0)
        printf("ok - %d types of put and get, %d types of atomics\n", MOVERS, ATOMICS);
    free(expected);
    shmem_finalize();
    return 0;
}
