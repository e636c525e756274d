// SPDX-License-Identifier: Apache-2.0
// Random access: every PE changes words of a table that lies spread over all PEs, at places that a stream of random
// numbers names. The figure is updates per second, in thousand millions: GUPS.
//   oshcc -O2 gups.c -o gups && oshrun -n 4 ./gups -b 20 -k 0
//
// The stream is that of the HPC Challenge: powers of x in the polynomials over two elements, modulo
// x^64 + x^2 + x + 1. Each PE has its own stretch of it. At the end each PE replays the whole stream and keeps what
// falls on its words: with atomics all words have to be right; with get and put, which lose an update when two PEs
// meet at a word, all but one in a hundred, and one for each PE,
// which may be stopped between the two.
#include "program.h"

enum kind { XOR, ADD, GET_PUT };

static long bits = 18, kind = XOR, per_word = 4;
static uint64_t *table; /* 2^bits words on each PE */

/* Multiplied by x. */
static uint64_t next(uint64_t a)
{
    return a << 1 ^ (a >> 63 ? 7 : 0);
}

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (; b; b >>= 1, a = next(a))
        sum ^= b & 1 ? a : 0;
    return sum;
}

/* The stream's number at a position: x to that power. */
static uint64_t stream_at(uint64_t position)
{
    uint64_t power = 1, square = 2;
    for (; position; position >>= 1, square = product(square, square))
        power = position & 1 ? product(power, square) : power;
    return power;
}

static int owner(uint64_t random)
{
    return (int)((random >> bits) % (uint64_t)shmem_n_pes());
}

static size_t place(uint64_t random)
{
    return random & (((uint64_t)1 << bits) - 1);
}

/* Each kind has its loop, so that the loop is nothing but the update. */
static void update(uint64_t random, uint64_t updates)
{
    if (kind == XOR)
        for (; updates; updates--, random = next(random))
            shmem_uint64_atomic_xor(&table[place(random)], random, owner(random));
    else if (kind == ADD)
        for (; updates; updates--, random = next(random))
            shmem_uint64_atomic_add(&table[place(random)], random, owner(random));
    else
        for (; updates; updates--, random = next(random)) {
            uint64_t *word = &table[place(random)];
            shmem_uint64_p(word, shmem_uint64_g(word, owner(random)) ^ random, owner(random));
        }
    shmem_quiet();
}

/* What this PE's words should be. */
static void replay(uint64_t *words, uint64_t updates)
{
    uint64_t random = 1;
    for (uint64_t i = 0; i < updates; i++, random = next(random))
        if (owner(random) == shmem_my_pe())
            words[place(random)] = kind == ADD ? words[place(random)] + random : words[place(random)] ^ random;
}

static long count_wrong(size_t words, uint64_t updates)
{
    uint64_t *expected = private_array(words, sizeof *expected);
    long wrong = 0;
    replay(expected, updates);
    for (size_t i = 0; i < words; i++)
        wrong += table[i] != expected[i];
    free(expected);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {'b', &bits, 1, 40, "the table has 2^N words on each PE"},
        {'u', &per_word, 1, 1000, "updates for each word"},
        {'k', &kind, XOR, GET_PUT, "0: atomic exclusive or, 1: atomic add, 2: get and put"},
    };
    shmem_init();
    read_settings(argc, argv, "Random updates of a table that is spread over all PEs.", settings, 3);
    const size_t words = (size_t)1 << bits, updates = words * (size_t)per_word;
    const int n = shmem_n_pes();
    table = symmetric(words, sizeof *table);

    shmem_barrier_all();
    const double start = seconds();
    update(stream_at((uint64_t)shmem_my_pe() * updates), updates);
    shmem_barrier_all();
    const double time = seconds() - start;

    long wrong = count_wrong(words, updates * (uint64_t)n);
    const long all_wrong = sum_of_all(wrong);
    if (shmem_my_pe() == 0) {
        printf("gups: %.6f GUPS, %zu updates of %zu words by %d PEs in %.3f s\n",
               (double)(updates * (size_t)n) / time * 1e-9, updates * (size_t)n, words * (size_t)n, n, time);
        if (kind == GET_PUT)
            printf("get and put lost updates of %ld words\n", all_wrong);
    }
    if (kind == GET_PUT && (n > 1 && all_wrong <= (long)(words * (size_t)n / 100 + (size_t)n)))
        wrong = 0;
    const int status = verdict(wrong);
    shmem_free(table);
    shmem_finalize();
    return status;
}
