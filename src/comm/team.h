// SPDX-License-Identifier: Apache-2.0
// Teams: an ordered set of PEs. The world team is number 1, the team of PEs that share memory is number 2.
#ifndef SHMEMI_COMM_TEAM_H
#define SHMEMI_COMM_TEAM_H

#include <stdint.h>

/* The public shmem_team_t is this number in a pointer's clothes: handles are constants and can be checked. */
enum { SHMEMI_TEAM_INVALID = 0, SHMEMI_TEAM_WORLD = 1, SHMEMI_TEAM_SHARED = 2 };

/* The number of this PE in the team, the size of the team; -1 if there is no such team. */
int shmemi_team_my_pe(uintptr_t team);
int shmemi_team_n_pes(uintptr_t team);

/* PE `pe` of team `from` as numbered in team `to`; -1 if it is in neither. */
int shmemi_team_translate(uintptr_t from, int pe, uintptr_t to);

/* The PE of the job that the team numbers pe; -1 if the team has no such PE, or there is no such team. */
int shmemi_team_world_pe(uintptr_t team, int pe);

/* Contexts that a PE may have on the team at once: for those that always exist as many as there can be. */
int shmemi_team_contexts_most(uintptr_t team);

#endif
