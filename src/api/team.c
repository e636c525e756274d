// SPDX-License-Identifier: Apache-2.0
// Teams. A handle is the team's number in a pointer's clothes.
#include "comm/team.h"

#include "check.h"
#include "publish.h"

int pshmem_team_my_pe(shmem_team_t team)
{
    shmemi_check_job("shmem_team_my_pe");
    return shmemi_team_my_pe((uintptr_t)team);
}
SHMEMI_PUBLISH(shmem_team_my_pe);

int pshmem_team_n_pes(shmem_team_t team)
{
    shmemi_check_job("shmem_team_n_pes");
    return shmemi_team_n_pes((uintptr_t)team);
}
SHMEMI_PUBLISH(shmem_team_n_pes);

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    shmemi_check_job("shmem_team_translate_pe");
    return shmemi_team_translate((uintptr_t)src_team, src_pe, (uintptr_t)dest_team);
}
SHMEMI_PUBLISH(shmem_team_translate_pe);

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    shmemi_check_job("shmem_team_get_config");
    if (shmemi_team_n_pes((uintptr_t)team) < 0 || (config_mask & ~SHMEM_TEAM_NUM_CONTEXTS) != 0)
        return -1;
    if (config_mask == 0)
        return 0;
    if (!config)
        return -1;
    config->num_contexts = shmemi_team_contexts_most((uintptr_t)team);
    return 0;
}
SHMEMI_PUBLISH(shmem_team_get_config);
