// SPDX-License-Identifier: Apache-2.0
// Teams: an ordered set of PEs. The world team is number 1, the team of PEs that share memory is number 2.
#ifndef SHMEMI_COMM_TEAM_H
#define SHMEMI_COMM_TEAM_H

#include <stdint.h>

#include "group.h"

/* The public shmem_team_t is this number in a pointer's clothes: handles are constants and can be checked. A number is
   used once in the life of a process, so a destroyed team is told from a new one. */
enum { SHMEMI_TEAM_INVALID = 0, SHMEMI_TEAM_WORLD = 1, SHMEMI_TEAM_SHARED = 2 };

/* Teams that a PE may be in at once, besides those two. */
enum { SHMEMI_TEAMS_MOST = SHMEMI_CHANNELS };

/* The number of this PE in the team, the size of the team; -1 if there is no such team. */
int shmemi_team_my_pe(uintptr_t team);
int shmemi_team_n_pes(uintptr_t team);

/* PE `pe` of team `from` as numbered in team `to`; -1 if it is not in both. */
int shmemi_team_translate(uintptr_t from, int pe, uintptr_t to);

/* The PE of the job that the team numbers pe; -1 if the team has no such PE, or there is no such team. */
int shmemi_team_world_pe(uintptr_t team, int pe);

/* Contexts that a PE may have on the team at once: for those that always exist as many as there can be. */
int shmemi_team_contexts_most(uintptr_t team);

/* Ends the job unless the team exists or is SHMEMI_TEAM_INVALID. */
void shmemi_team_check(const char *fn, const char *argument, uintptr_t team);

/* The members of a team, for a collective; NULL for SHMEMI_TEAM_INVALID. Anything else that is no team ends the job. */
struct shmemi_group *shmemi_team_group_slow(const char *fn, uintptr_t team);
SHMEMI_INLINE struct shmemi_group *shmemi_team_group(const char *fn, uintptr_t team)
{
    const struct shmemi_job *job = shmemi_current;
    if (shmemi_likely(job->n && team == SHMEMI_TEAM_WORLD)) {
        /* [world] acquire pairs with the release in shmemi_make_world(). */
        struct shmemi_group *g = atomic_load_explicit(&job->parts->world, memory_order_acquire);
        if (shmemi_likely(g != NULL))
            return g;
    }
    return shmemi_team_group_slow(fn, team);
}

/* Makes a team of the members start, start + stride, ... of the parent: a collective of the parent. 0, or negative with
   the reason, the same on all its PEs: -EINVAL for members that are not in the parent or arguments that differ between
   PEs; -ENOSPC when a PE is in too many teams; -ENOMEM. *out: SHMEMI_TEAM_INVALID then, and on PEs that are not in the
   new team. contexts: as the team's config has it; negative (with the text in shmemi_last_error()): the caller found
   the config wrong, and all PEs shall fail. */
int shmemi_team_split_strided(const char *fn, uintptr_t parent, int start, int stride, int size, int contexts,
                              uintptr_t *out);

/* Likewise two teams: PE p of the parent is at (p % xrange, p / xrange); out[0] has those with the same second
   coordinate, out[1] those with the same first. */
int shmemi_team_split_2d(const char *fn, uintptr_t parent, int xrange, const int contexts[2], uintptr_t out[2]);

/* Ends a team and the contexts on it: a collective of the team. The two that always exist end the job. */
void shmemi_team_destroy(const char *fn, uintptr_t team);

#endif
