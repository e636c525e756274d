// SPDX-License-Identifier: Apache-2.0
// Members: who takes part in something shared, and who of them is alive. A PE is one kind of member.
//
// A member's alive word is on the robust list of its service thread, with a node in private memory: the kernel marks
// the word when that thread ends for whatever reason, kill -9 included, and wakes one sleeper. Process ids are never
// looked up, because they mean nothing in another PID namespace and are used again.
//
// states of `alive`:  0                      not joined yet, or left in an orderly way (see `state`)
//                     tid | FUTEX_WAITERS    alive; WAITERS is always set, so that death always wakes
//                     FUTEX_OWNER_DIED | ... dead
#ifndef SHMEMI_MAP_MEMBER_H
#define SHMEMI_MAP_MEMBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum shmemi_member_state { SHMEMI_MEMBER_ABSENT, SHMEMI_MEMBER_PRESENT, SHMEMI_MEMBER_LEFT };

/* In shared memory. Written by the member's own process, except `alive`, which the kernel marks at death. Any member
   can write here, so readers treat both words as hints about liveness and never as an index or address. */
struct shmemi_member {
    _Atomic uint32_t alive;
    _Atomic uint32_t state; /* enum shmemi_member_state */
    int32_t pid;            /* for messages to people only */
    _Atomic uint32_t
        generation; /* goes up whenever somebody takes the place, so that a lock word can tell them apart */
};

/* Whether its process died without leaving. */
bool shmemi_member_died(const struct shmemi_member *member);

/* Whether it left in an orderly way. */
bool shmemi_member_left(const struct shmemi_member *member);

#endif
