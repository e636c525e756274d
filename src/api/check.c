// SPDX-License-Identifier: Apache-2.0
// The messages of the checks.
#include "check.h"

void shmemi_bad_job(const char *fn)
{
    shmemi_die(fn, "called %s", shmemi_no_job());
}

/* Whoever looked the context up has written why it is none. */
void shmemi_bad_ctx(const char *fn)
{
    shmemi_die(fn, "%s", shmemi_last_error());
}

void shmemi_bad_pe(const char *fn, const char *argument, int pe)
{
    shmemi_die(fn, "%s is %d, but the job has PEs 0 to %d", argument, pe, shmemi_current->n - 1);
}

void shmemi_bad_pointer(const char *fn, const char *argument)
{
    shmemi_die(fn, "%s is NULL", argument);
}

void shmemi_bad_alignment(const char *fn, const char *argument, const volatile void *pointer, size_t size)
{
    shmemi_die(fn, "%s is %p, which is not aligned to the %zu bytes of its type", argument, (const void *)pointer,
               size);
}

void shmemi_bad_cmp(const char *fn, int cmp)
{
    shmemi_die(fn, "cmp is %d, which is none of SHMEM_CMP_EQ, NE, GT, GE, LT, LE", cmp);
}

void shmemi_bad_sig_op(const char *fn, int sig_op)
{
    shmemi_die(fn, "sig_op is %d, which is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op);
}
