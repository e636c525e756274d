// SPDX-License-Identifier: Apache-2.0
// The two teams that always exist. On one host both hold every PE.
#include "team.h"

#include "context.h"
#include "job/job.h"

static int exists(uintptr_t team)
{
    return team == SHMEMI_TEAM_WORLD || team == SHMEMI_TEAM_SHARED;
}

int shmemi_team_my_pe(uintptr_t team)
{
    return exists(team) && shmemi_current->n ? shmemi_current->me : -1;
}

int shmemi_team_n_pes(uintptr_t team)
{
    return exists(team) && shmemi_current->n ? shmemi_current->n : -1;
}

int shmemi_team_translate(uintptr_t from, int pe, uintptr_t to)
{
    return exists(from) && exists(to) && pe >= 0 && pe < shmemi_current->n ? pe : -1;
}

int shmemi_team_world_pe(uintptr_t team, int pe)
{
    return shmemi_team_translate(team, pe, SHMEMI_TEAM_WORLD);
}

int shmemi_team_contexts_most(uintptr_t team)
{
    return exists(team) ? SHMEMI_CONTEXTS_MOST : 0;
}
