// SPDX-License-Identifier: Apache-2.0
// Teams. A handle is the team's number in a pointer's clothes.
#include "comm/team.h"

#include <errno.h>

#include "check.h"
#include "comm/active_set.h"
#include "publish.h"

static void check(const char *fn, const char *argument, shmem_team_t team)
{
    shmemi_check_job(fn);
    shmemi_team_check(fn, argument, (uintptr_t)team);
}

int pshmem_team_my_pe(shmem_team_t team)
{
    check("shmem_team_my_pe", "team", team);
    return shmemi_team_my_pe((uintptr_t)team);
}
SHMEMI_PUBLISH(shmem_team_my_pe);

int pshmem_team_n_pes(shmem_team_t team)
{
    check("shmem_team_n_pes", "team", team);
    return shmemi_team_n_pes((uintptr_t)team);
}
SHMEMI_PUBLISH(shmem_team_n_pes);

int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
{
    check("shmem_team_translate_pe", "src_team", src_team);
    check("shmem_team_translate_pe", "dest_team", dest_team);
    return shmemi_team_translate((uintptr_t)src_team, src_pe, (uintptr_t)dest_team);
}
SHMEMI_PUBLISH(shmem_team_translate_pe);

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)
{
    check("shmem_team_get_config", "team", team);
    if (team == SHMEM_TEAM_INVALID || (config_mask & ~SHMEM_TEAM_NUM_CONTEXTS) != 0)
        return -1;
    if (config_mask == 0)
        return 0;
    if (!config)
        return -1;
    config->num_contexts = shmemi_team_contexts_most((uintptr_t)team);
    return 0;
}
SHMEMI_PUBLISH(shmem_team_get_config);

/* The number of contexts that a config asks for; negative, with the reason, when it is wrong. */
static int contexts_of(const shmem_team_config_t *config, long mask)
{
    if (mask & ~SHMEM_TEAM_NUM_CONTEXTS)
        return shmemi_fail(-EINVAL, "config_mask is %#lx, which has bits that mean nothing", (unsigned long)mask);
    if (!mask)
        return 0;
    if (!config)
        return shmemi_fail(-EINVAL, "config is NULL, but config_mask %#lx", (unsigned long)mask);
    if (config->num_contexts < 0)
        return shmemi_fail(-EINVAL, "num_contexts is %d", config->num_contexts);
    return config->num_contexts;
}

static shmem_team_t handle(uintptr_t team)
{
    return (shmem_team_t)team; /* NOLINT: a number */
}

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
{
    uintptr_t made;
    shmemi_check_job("shmem_team_split_strided");
    shmemi_check_pointer("shmem_team_split_strided", "new_team", new_team, 1);
    int rc = shmemi_team_split_strided("shmem_team_split_strided", (uintptr_t)parent_team, start, stride, size,
                                       contexts_of(config, config_mask), &made);
    *new_team = handle(made);
    return rc;
}
SHMEMI_PUBLISH(shmem_team_split_strided);

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                         shmem_team_t *yaxis_team)
{
    uintptr_t made[2];
    shmemi_check_job("shmem_team_split_2d");
    shmemi_check_pointer("shmem_team_split_2d", "xaxis_team", xaxis_team, 1);
    shmemi_check_pointer("shmem_team_split_2d", "yaxis_team", yaxis_team, 1);
    int contexts[2] = {contexts_of(xaxis_config, xaxis_mask), -1};
    if (contexts[0] >= 0) /* the first mistake is the one that is told */
        contexts[1] = contexts_of(yaxis_config, yaxis_mask);
    int rc = shmemi_team_split_2d("shmem_team_split_2d", (uintptr_t)parent_team, xrange, contexts, made);
    *xaxis_team = handle(made[0]);
    *yaxis_team = handle(made[1]);
    return rc;
}
SHMEMI_PUBLISH(shmem_team_split_2d);

void pshmem_team_destroy(shmem_team_t team)
{
    shmemi_check_job("shmem_team_destroy");
    shmemi_team_destroy("shmem_team_destroy", (uintptr_t)team);
}
SHMEMI_PUBLISH(shmem_team_destroy);

_Static_assert(SHMEMI_SYNC_VALUE == SHMEM_SYNC_VALUE && SHMEMI_SYNC_LONGS == SHMEM_SYNC_SIZE, "as shmem.h says");
