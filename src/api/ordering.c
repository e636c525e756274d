// SPDX-License-Identifier: Apache-2.0
// Order and completion, with and without a context. SHMEM_CTX_INVALID is allowed here, and means that nothing
// is done.
#include "comm/order.h"

#include "check.h"
#include "publish.h"

static void quiet_pes(const char *fn, shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    shmemi_check_job(fn);
    shmemi_check_pointer(fn, "target_pes", target_pes, npes);
    for (size_t i = 0; i < npes; i++)
        if (ctx == SHMEM_CTX_DEFAULT)
            shmemi_check_pe(fn, "target_pes", target_pes[i]);
        else
            (void)shmemi_context_pe(fn, (uintptr_t)ctx, "target_pes", target_pes[i]);
    if (npes > 0)
        shmemi_quiet();
}

void pshmem_fence(void)
{
    shmemi_check_job("shmem_fence");
    shmemi_fence();
}
SHMEMI_PUBLISH(shmem_fence);

void pshmem_ctx_fence(shmem_ctx_t ctx)
{
    shmemi_check_job("shmem_ctx_fence");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    shmemi_check_ctx("shmem_ctx_fence", ctx);
    shmemi_fence();
}
SHMEMI_PUBLISH(shmem_ctx_fence);

void pshmem_quiet(void)
{
    shmemi_check_job("shmem_quiet");
    shmemi_quiet();
}
SHMEMI_PUBLISH(shmem_quiet);

void pshmem_ctx_quiet(shmem_ctx_t ctx)
{
    shmemi_check_job("shmem_ctx_quiet");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    shmemi_check_ctx("shmem_ctx_quiet", ctx);
    shmemi_quiet();
}
SHMEMI_PUBLISH(shmem_ctx_quiet);

void pshmem_pe_quiet(const int *target_pes, size_t npes)
{
    quiet_pes("shmem_pe_quiet", SHMEM_CTX_DEFAULT, target_pes, npes);
}
SHMEMI_PUBLISH(shmem_pe_quiet);

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    shmemi_check_job("shmem_ctx_pe_quiet");
    if (ctx == SHMEM_CTX_INVALID)
        return;
    shmemi_check_ctx("shmem_ctx_pe_quiet", ctx);
    quiet_pes("shmem_ctx_pe_quiet", ctx, target_pes, npes);
}
SHMEMI_PUBLISH(shmem_ctx_pe_quiet);
