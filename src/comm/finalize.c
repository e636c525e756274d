// SPDX-License-Identifier: Apache-2.0
// The collective end of a job.
#include "finalize.h"

#include <errno.h>

#include "await.h"
#include "exchange.h"
#include "job/lifecycle.h"
#include "job/parts.h"
#include "order.h"

/* [finishing] release: whoever sees it sees all that this PE has done; pairs with the acquire in await.c. */
static int arrive(void)
{
    struct shmemi_job *job = shmemi_current;
    shmemi_quiet();
    if (job->parts->inits == 1)
        atomic_store_explicit(&job->slots[job->me].finishing, 1, memory_order_release);
    return shmemi_exchange(NULL, 0);
}

int shmemi_finalize(void)
{
    if (shmemi_current->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    int rc = arrive();
    if (shmemi_uninit() || rc < 0)
        shmemi_leave();
    return rc;
}

void shmemi_finalize_or_end(const char *fn)
{
    if (shmemi_current->n == 0)
        shmemi_die(fn, "called %s", shmemi_no_job());
    shmemi_require(fn, arrive());
    if (shmemi_uninit())
        shmemi_leave();
}
