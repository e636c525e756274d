// SPDX-License-Identifier: Apache-2.0
// Contexts and sessions. A handle is the context's number in a pointer's clothes.
#include "comm/context.h"

#include "base/error.h"
#include "comm/order.h"
#include "comm/team.h"
#include "check.h"
#include "publish.h"

_Static_assert(SHMEM_CTX_PRIVATE == SHMEMI_CTX_PRIVATE, "the layers agree");
_Static_assert((SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE) == SHMEMI_CTX_OPTIONS,
               "the layers agree");

static void require(const char *fn, int rc)
{
    if (shmemi_unlikely(rc < 0))
        shmemi_die(fn, "%s", shmemi_last_error());
}

static int create(const char *fn, shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    shmemi_check_job(fn);
    shmemi_check_pointer(fn, "ctx", ctx, 1);
    uintptr_t made;
    int rc = shmemi_context_create((uintptr_t)team, options, &made);
    *ctx = (shmem_ctx_t)made; /* NOLINT: a number */
    return rc < 0 ? shmemi_fail_in(rc, "%s", fn) : 0;
}

int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    return create("shmem_ctx_create", SHMEM_TEAM_WORLD, options, ctx);
}
SHMEMI_PUBLISH(shmem_ctx_create);

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    return create("shmem_team_create_ctx", team, options, ctx);
}
SHMEMI_PUBLISH(shmem_team_create_ctx);

void pshmem_ctx_destroy(shmem_ctx_t ctx)
{
    shmemi_check_job("shmem_ctx_destroy");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    shmemi_quiet();
    require("shmem_ctx_destroy", shmemi_context_destroy((uintptr_t)ctx));
}
SHMEMI_PUBLISH(shmem_ctx_destroy);

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    shmemi_check_job("shmem_ctx_get_team");
    shmemi_check_pointer("shmem_ctx_get_team", "team", team, 1);
    uintptr_t found = SHMEMI_TEAM_INVALID;
    int rc = ctx == SHMEM_CTX_INVALID ? -1 : shmemi_context_team((uintptr_t)ctx, &found);
    if (ctx != SHMEM_CTX_INVALID)
        require("shmem_ctx_get_team", rc);
    *team = (shmem_team_t)found; /* NOLINT: a number */
    return rc;
}
SHMEMI_PUBLISH(shmem_ctx_get_team);

/* Sessions are hints at what is coming. Transfers here are done when they are called, so that nothing could be gathered
   or prepared: a session changes nothing, and nothing is kept of it. */
static void check_session(const char *fn, shmem_ctx_t ctx)
{
    uintptr_t team;
    require(fn, shmemi_context_team((uintptr_t)ctx, &team));
}

void pshmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask)
{
    const char *fn = "shmem_ctx_session_start";
    shmemi_check_job(fn);
    if (ctx == SHMEM_CTX_INVALID)
        return;
    if (options & ~SHMEM_CTX_SESSION_BATCH)
        shmemi_die(fn, "options is %#lx, which has bits that are no SHMEM_CTX_SESSION_ option", (unsigned long)options);
    if (config_mask & ~SHMEM_CTX_SESSION_TOTAL_OPS)
        shmemi_die(fn, "config_mask is %#lx, which has bits that name no member of the config",
                   (unsigned long)config_mask);
    shmemi_check_pointer(fn, "config", config, (size_t)config_mask);
    check_session(fn, ctx);
}
SHMEMI_PUBLISH(shmem_ctx_session_start);

void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
    shmemi_check_job("shmem_ctx_session_stop");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    check_session("shmem_ctx_session_stop", ctx);
}
SHMEMI_PUBLISH(shmem_ctx_session_stop);
