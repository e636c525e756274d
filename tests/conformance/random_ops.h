// SPDX-License-Identifier: Apache-2.0
// Every typed put, get and atomic behind three functions, so that a program can choose one by number.
#ifndef TESTS_RANDOM_OPS_H
#define TESTS_RANDOM_OPS_H

#include <shmem.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "type_lists.h"

/* --- put and get -------------------------------------------------------------------------------------------------- */

enum move { PUT, PUT_NBI, IPUT, IBPUT, P, PUT_SIGNAL, PUT_SIGNAL_NBI, GET, GET_NBI, IGET, IBGET, G, MOVES };

/* `blocks` blocks of `block` elements; the beginnings of blocks are remote_stride and local_stride elements apart. */
struct shape {
    size_t block, blocks;
    ptrdiff_t remote_stride, local_stride;
};

struct signal {
    uint64_t *word, value;
    int how;
};

/* The first argument, with or without a context before it. */
#define PLAIN(...) __VA_ARGS__
#define IN_CONTEXT(...) SHMEM_CTX_DEFAULT, __VA_ARGS__

#define MOVE_CASES(F, C, T)                                                                                            \
    switch (move) {                                                                                                    \
    case PUT:                                                                                                          \
        F##put(C(remote), local, s.block, pe);                                                                         \
        break;                                                                                                         \
    case PUT_NBI:                                                                                                      \
        F##put_nbi(C(remote), local, s.block, pe);                                                                     \
        break;                                                                                                         \
    case IPUT:                                                                                                         \
        F##iput(C(remote), local, s.remote_stride, s.local_stride, s.blocks, pe);                                      \
        break;                                                                                                         \
    case IBPUT:                                                                                                        \
        F##ibput(C(remote), local, s.remote_stride, s.local_stride, s.block, s.blocks, pe);                            \
        break;                                                                                                         \
    case P:                                                                                                            \
        F##p(C(remote), *(const T *)local, pe);                                                                        \
        break;                                                                                                         \
    case PUT_SIGNAL:                                                                                                   \
        F##put_signal(C(remote), local, s.block, sig.word, sig.value, sig.how, pe);                                    \
        break;                                                                                                         \
    case PUT_SIGNAL_NBI:                                                                                               \
        F##put_signal_nbi(C(remote), local, s.block, sig.word, sig.value, sig.how, pe);                                \
        break;                                                                                                         \
    case GET:                                                                                                          \
        F##get(C(local), remote, s.block, pe);                                                                         \
        break;                                                                                                         \
    case GET_NBI:                                                                                                      \
        F##get_nbi(C(local), remote, s.block, pe);                                                                     \
        break;                                                                                                         \
    case IGET:                                                                                                         \
        F##iget(C(local), remote, s.local_stride, s.remote_stride, s.blocks, pe);                                      \
        break;                                                                                                         \
    case IBGET:                                                                                                        \
        F##ibget(C(local), remote, s.local_stride, s.remote_stride, s.block, s.blocks, pe);                            \
        break;                                                                                                         \
    default:                                                                                                           \
        *(T *)local = F##g(C(remote), pe);                                                                             \
    }

#define MOVE_FUNCTION(N, T)                                                                                            \
    static void move_##N(enum move move, bool ctx, void *remote, void *local, struct shape s, struct signal sig,       \
                         int pe)                                                                                       \
    {                                                                                                                  \
        if (ctx)                                                                                                       \
            MOVE_CASES(shmem_ctx_##N##_, IN_CONTEXT, T)                                                                \
        else                                                                                                           \
            MOVE_CASES(shmem_##N##_, PLAIN, T)                                                                         \
    }

TYPES_RMA(MOVE_FUNCTION)

#define MOVE_ROW(N, T) {#N, sizeof(T), move_##N},
static const struct {
    const char *name;
    size_t size;
    void (*move)(enum move, bool, void *, void *, struct shape, struct signal, int);
} movers[] = {TYPES_RMA(MOVE_ROW)};

enum { MOVERS = sizeof movers / sizeof *movers };

/* --- atomics ------------------------------------------------------------------------------------------------------ */

/* The first three are there for all types, those before AND for all integers of the groups. */
enum amo { SET, FETCH, SWAP, CAS, INC, FETCH_INC, ADD, FETCH_ADD, AND, FETCH_AND, OR, FETCH_OR, XOR, FETCH_XOR, AMOS };

#define FETCHING(with_nbi, plain)                                                                                      \
    if (nbi) {                                                                                                         \
        with_nbi;                                                                                                      \
        shmem_quiet();                                                                                                 \
    } else {                                                                                                           \
        old = plain;                                                                                                   \
    }                                                                                                                  \
    break

#define AMO_EXTENDED(F, C)                                                                                             \
    case SET:                                                                                                          \
        F##set(C(word), a, pe);                                                                                        \
        break;                                                                                                         \
    case FETCH:                                                                                                        \
        FETCHING(F##fetch_nbi(C(&old, word), pe), F##fetch(C(word), pe));                                              \
    case SWAP:                                                                                                         \
        FETCHING(F##swap_nbi(C(&old, word), a, pe), F##swap(C(word), a, pe));

#define AMO_ARITHMETIC(F, C)                                                                                           \
    AMO_EXTENDED(F, C)                                                                                                 \
    case CAS:                                                                                                          \
        FETCHING(F##compare_swap_nbi(C(&old, word), b, a, pe), F##compare_swap(C(word), b, a, pe));                    \
    case INC:                                                                                                          \
        F##inc(C(word), pe);                                                                                           \
        break;                                                                                                         \
    case FETCH_INC:                                                                                                    \
        FETCHING(F##fetch_inc_nbi(C(&old, word), pe), F##fetch_inc(C(word), pe));                                      \
    case ADD:                                                                                                          \
        F##add(C(word), a, pe);                                                                                        \
        break;                                                                                                         \
    case FETCH_ADD:                                                                                                    \
        FETCHING(F##fetch_add_nbi(C(&old, word), a, pe), F##fetch_add(C(word), a, pe));

#define AMO_BITWISE(F, C)                                                                                              \
    AMO_ARITHMETIC(F, C)                                                                                               \
    case AND:                                                                                                          \
        F## and (C(word), a, pe);                                                                                      \
        break;                                                                                                         \
    case FETCH_AND:                                                                                                    \
        FETCHING(F##fetch_and_nbi(C(&old, word), a, pe), F##fetch_and(C(word), a, pe));                                \
    case OR:                                                                                                           \
        F## or (C(word), a, pe);                                                                                       \
        break;                                                                                                         \
    case FETCH_OR:                                                                                                     \
        FETCHING(F##fetch_or_nbi(C(&old, word), a, pe), F##fetch_or(C(word), a, pe));                                  \
    case XOR:                                                                                                          \
        F## xor (C(word), a, pe);                                                                                      \
        break;                                                                                                         \
    case FETCH_XOR:                                                                                                    \
        FETCHING(F##fetch_xor_nbi(C(&old, word), a, pe), F##fetch_xor(C(word), a, pe));

/* Takes and returns values as the bits that they have in memory. */
#define AMO_FUNCTION(N, T, CASES)                                                                                      \
    static uint64_t amo_##N(enum amo amo, bool ctx, bool nbi, void *word, uint64_t a_bits, uint64_t b_bits, int pe)    \
    {                                                                                                                  \
        T a, b, old = 0;                                                                                               \
        uint64_t old_bits = 0;                                                                                         \
        memcpy(&a, &a_bits, sizeof a);                                                                                 \
        memcpy(&b, &b_bits, sizeof b);                                                                                 \
        (void)b;                                                                                                       \
        if (ctx)                                                                                                       \
            switch (amo) {                                                                                             \
                CASES(shmem_ctx_##N##_atomic_, IN_CONTEXT)                                                             \
            default:                                                                                                   \
                abort();                                                                                               \
            }                                                                                                          \
        else                                                                                                           \
            switch (amo) {                                                                                             \
                CASES(shmem_##N##_atomic_, PLAIN)                                                                      \
            default:                                                                                                   \
                abort();                                                                                               \
            }                                                                                                          \
        memcpy(&old_bits, &old, sizeof old);                                                                           \
        return old_bits;                                                                                               \
    }

#define AMO_FUNCTION_REAL(N, T) AMO_FUNCTION(N, T, AMO_EXTENDED)
#define AMO_FUNCTION_ARITHMETIC(N, T) AMO_FUNCTION(N, T, AMO_ARITHMETIC)
#define AMO_FUNCTION_BITWISE(N, T) AMO_FUNCTION(N, T, AMO_BITWISE)
TYPES_REAL(AMO_FUNCTION_REAL)
TYPES_ARITHMETIC(AMO_FUNCTION_ARITHMETIC)
TYPES_BITWISE(AMO_FUNCTION_BITWISE)

#define AMO_ROW_REAL(N, T) {#N, sizeof(T), CAS, amo_##N},
#define AMO_ROW_ARITHMETIC(N, T) {#N, sizeof(T), AND, amo_##N},
#define AMO_ROW_BITWISE(N, T) {#N, sizeof(T), AMOS, amo_##N},
static const struct {
    const char *name;
    size_t size;
    enum amo end; /* it has the atomics before this one */
    uint64_t (*amo)(enum amo, bool, bool, void *, uint64_t, uint64_t, int);
} atomics[] = {TYPES_REAL(AMO_ROW_REAL) TYPES_ARITHMETIC(AMO_ROW_ARITHMETIC) TYPES_BITWISE(AMO_ROW_BITWISE)};

enum { ATOMICS = sizeof atomics / sizeof *atomics, REALS = 2, FIRST_BITWISE = 7 };

/* What the word holds after the atomic. Values of 4 bytes are the low half; the rest is to be ignored. */
static inline uint64_t amo_result(enum amo amo, size_t size, uint64_t old, uint64_t a, uint64_t b)
{
    const uint64_t mask = size == 8 ? UINT64_MAX : UINT32_MAX;
    switch (amo) {
    case SET:
    case SWAP:
        return a;
    case FETCH:
        return old;
    case CAS:
        return ((old ^ b) & mask) == 0 ? a : old;
    case INC:
    case FETCH_INC:
        return old + 1;
    case ADD:
    case FETCH_ADD:
        return old + a;
    case AND:
    case FETCH_AND:
        return old & a;
    case OR:
    case FETCH_OR:
        return old | a;
    default:
        return old ^ a;
    }
}

static inline bool amo_fetches(enum amo amo)
{
    return amo == FETCH || amo == SWAP || amo == CAS || amo == FETCH_INC || amo == FETCH_ADD || amo == FETCH_AND ||
           amo == FETCH_OR || amo == FETCH_XOR;
}

#endif
