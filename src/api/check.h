// SPDX-License-Identifier: Apache-2.0
// Checks of arguments, one line each in the public functions. What fails ends the job with a message that
// names the function, the argument and what was found. PEs and symmetric addresses are checked by
// shmemi_remote().
#ifndef SHMEMI_API_CHECK_H
#define SHMEMI_API_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "shmem.h"
#include "comm/address.h"
#include "comm/context.h"
#include "comm/rma.h"

_Noreturn void shmemi_bad_job(const char *fn) SHMEMI_COLD;
_Noreturn void shmemi_bad_ctx(const char *fn) SHMEMI_COLD;
_Noreturn void shmemi_bad_pe(const char *fn, const char *argument, int pe) SHMEMI_COLD;
_Noreturn void shmemi_bad_pointer(const char *fn, const char *argument) SHMEMI_COLD;
_Noreturn void shmemi_bad_alignment(const char *fn, const char *argument, const volatile void *pointer,
                                    size_t size) SHMEMI_COLD;
_Noreturn void shmemi_bad_cmp(const char *fn, int cmp) SHMEMI_COLD;
_Noreturn void shmemi_bad_sig_op(const char *fn, int sig_op) SHMEMI_COLD;

/* Between init and finalize. */
static inline void shmemi_check_job(const char *fn)
{
    if (shmemi_unlikely(shmemi_current->n == 0))
        shmemi_bad_job(fn);
}

static inline void shmemi_check_ctx(const char *fn, shmem_ctx_t ctx)
{
    uintptr_t team;
    if (shmemi_unlikely(ctx != SHMEM_CTX_DEFAULT) && shmemi_context_team((uintptr_t)ctx, &team) < 0)
        shmemi_bad_ctx(fn);
}

/* The PE of the job that a context means by pe. The default context numbers as the job does, and pe is checked by
   whoever uses it. */
static inline int shmemi_ctx_pe(const char *fn, shmem_ctx_t ctx, int pe)
{
    return shmemi_likely(ctx == SHMEM_CTX_DEFAULT) ? pe : shmemi_context_pe(fn, (uintptr_t)ctx, "pe", pe);
}

static inline void shmemi_check_pe(const char *fn, const char *argument, int pe)
{
    shmemi_check_job(fn);
    if (shmemi_unlikely((unsigned)pe >= (unsigned)shmemi_current->n))
        shmemi_bad_pe(fn, argument, pe);
}

/* A plain address may be NULL only when there is nothing to read or write. */
static inline void shmemi_check_pointer(const char *fn, const char *argument, const void *pointer, size_t count)
{
    if (shmemi_unlikely(!pointer && count > 0))
        shmemi_bad_pointer(fn, argument);
}

static inline void shmemi_check_aligned(const char *fn, const char *argument, const volatile void *pointer, size_t size)
{
    if (shmemi_unlikely((uintptr_t)pointer % size != 0))
        shmemi_bad_alignment(fn, argument, pointer, size);
}

static inline void shmemi_check_sig_op(const char *fn, int sig_op)
{
    if (shmemi_unlikely(sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD))
        shmemi_bad_sig_op(fn, sig_op);
}

/* What every wait and test needs: a comparison that exists, and objects here that others can change. */
static inline void shmemi_check_wait(const char *fn, const char *argument, const volatile void *ivars, size_t nelems,
                                     size_t size, int cmp)
{
    if (shmemi_unlikely(cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_LE))
        shmemi_bad_cmp(fn, cmp);
    shmemi_check_aligned(fn, argument, ivars, size);
    if (shmemi_likely(nelems > 0))
        (void)shmemi_remote(fn, argument, (const void *)ivars, shmemi_bytes(fn, nelems, size), shmemi_current->me);
    else
        shmemi_check_job(fn);
}

#endif
