// SPDX-License-Identifier: Apache-2.0
// Places: alive words that the kernel marks when the thread that holds them ends. For service.c.
//
// The kernel walks one list of nodes a thread and finds each word at the same distance from its node. Words lie in
// memory of others, nodes must not, for whoever could write to them could hide a death. So each place maps the page of
// its word once more, and has its node in a private page right behind:
//
//   | page of the word, shared | page of the node, private |
//                 ^ word                    ^ node = word + page size
#ifndef SHMEMI_MAP_PLACE_H
#define SHMEMI_MAP_PLACE_H

#include <linux/futex.h>

#include "member.h"

enum { SHMEMI_PLACES_MOST = 1024 }; /* a thread; the kernel looks at the first 2048 nodes only */

/* The list of one thread. */
struct shmemi_places {
    struct robust_list_head head;
    unsigned count;
};

struct shmemi_place {
    struct shmemi_member *member; /* as the caller has it mapped */
    char *pages;                  /* the two */
    struct robust_list *node;
    _Atomic uint32_t *alive; /* the word, in the first page */
    bool after_dead;         /* the word may be that of a dead member */
    uint32_t generation;     /* service.c: of the process that took it; others after a fork */
};

/* Makes `list` the calling thread's. */
int shmemi_places_begin(struct shmemi_places *list);

/* Prepares to hold that member's word; touches nothing shared. */
int shmemi_place_make(struct shmemi_member *member, struct shmemi_place **out);

/* Gives back what make took. NULL is allowed. */
void shmemi_place_free(struct shmemi_place *place);

/* By the list's thread: takes the word if it is 0, or, with after_dead, marked by the kernel. Killed at any instruction
   of it, the thread has either not taken the word or the kernel marks it. */
bool shmemi_place_claim(struct shmemi_places *list, struct shmemi_place *place);

/* By the list's thread: state becomes LEFT, the word 0, and all who sleep on it wake. */
void shmemi_place_release(struct shmemi_places *list, struct shmemi_place *place);

#endif
