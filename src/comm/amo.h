// SPDX-License-Identifier: Apache-2.0
// Atomic operations on a peer's memory: CPU atomics on the mapped word, sequentially consistent as C11 defaults are.
// Macros, because the types differ: T is the C type, the rest are C expressions. Each yields the old value where it
// fetches. On one host every PE reaches the word by the same CPU instructions, which makes one atomic domain.
#ifndef SHMEMI_COMM_AMO_H
#define SHMEMI_COMM_AMO_H

#include "address.h"
#include "wait.h"

/* dest: the argument, by its name in the standard: a message shows it. */
#define SHMEMI_AMO_TARGET(T, fn, dest, pe) ((T *)shmemi_remote(fn, #dest, dest, sizeof(T), pe))

#define SHMEMI_AMO_FETCH(T, fn, source, pe)                                                                            \
    __extension__({                                                                                                    \
        T shmemi_old;                                                                                                  \
        __atomic_load(SHMEMI_AMO_TARGET(T, fn, source, pe), &shmemi_old, __ATOMIC_SEQ_CST);                            \
        shmemi_old;                                                                                                    \
    })

#define SHMEMI_AMO_SET(T, fn, dest, value, pe)                                                                         \
    do {                                                                                                               \
        T shmemi_new = (value);                                                                                        \
        __atomic_store(SHMEMI_AMO_TARGET(T, fn, dest, pe), &shmemi_new, __ATOMIC_SEQ_CST);                             \
        shmemi_stored(pe);                                                                                             \
    } while (0)

#define SHMEMI_AMO_SWAP(T, fn, dest, value, pe)                                                                        \
    __extension__({                                                                                                    \
        T shmemi_new = (value), shmemi_old;                                                                            \
        __atomic_exchange(SHMEMI_AMO_TARGET(T, fn, dest, pe), &shmemi_new, &shmemi_old, __ATOMIC_SEQ_CST);             \
        shmemi_stored(pe);                                                                                             \
        shmemi_old;                                                                                                    \
    })

#define SHMEMI_AMO_COMPARE_SWAP(T, fn, dest, cond, value, pe)                                                          \
    __extension__({                                                                                                    \
        T shmemi_old = (cond), shmemi_new = (value);                                                                   \
        __atomic_compare_exchange(SHMEMI_AMO_TARGET(T, fn, dest, pe), &shmemi_old, &shmemi_new, 0, __ATOMIC_SEQ_CST,   \
                                  __ATOMIC_SEQ_CST);                                                                   \
        shmemi_stored(pe);                                                                                             \
        shmemi_old;                                                                                                    \
    })

/* op is add, and, or, xor; integers only. */
#define SHMEMI_AMO_FETCH_OP(T, fn, op, dest, value, pe)                                                                \
    __extension__({                                                                                                    \
        T shmemi_old = __atomic_fetch_##op(SHMEMI_AMO_TARGET(T, fn, dest, pe), (value), __ATOMIC_SEQ_CST);             \
        shmemi_stored(pe);                                                                                             \
        shmemi_old;                                                                                                    \
    })

#endif
