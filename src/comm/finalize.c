// SPDX-License-Identifier: Apache-2.0
// The collective end of a job.
#include "finalize.h"

#include <errno.h>

#include "await.h"
#include "exchange.h"
#include "job/lifecycle.h"
#include "job/parts.h"
#include "order.h"

int shmemi_finalize(void)
{
    if (shmemi_current->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    shmemi_quiet();
    int rc = shmemi_exchange(NULL, 0);
    if (shmemi_uninit() || rc < 0)
        shmemi_leave();
    return rc;
}

void shmemi_finalize_or_end(const char *fn)
{
    shmemi_quiet();
    shmemi_require(fn, shmemi_exchange(NULL, 0));
    if (shmemi_uninit())
        shmemi_leave();
}
