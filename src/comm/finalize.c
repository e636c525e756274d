// SPDX-License-Identifier: Apache-2.0
// The collective end of a job.
#include "finalize.h"

#include <errno.h>

#include "await.h"
#include "device_heap.h"
#include "exchange.h"
#include "job/lifecycle.h"
#include "job/parts.h"
#include "on_stream.h"
#include "order.h"

/* [finishing] release: whoever sees it sees all that this PE has done; pairs with the acquire in await.c. */
static int arrive(void)
{
    struct shmemi_job *job = shmemi_current;
    shmemi_quiet();
    bool last = atomic_load_explicit(&job->parts->inits, memory_order_relaxed) == 1; /* [inits] */
    int rc = last ? shmemi_streams_drain() : 0;
    if (rc == 0 && last) /* no stream works on a peer's heap any more */
        rc = shmemi_device_heaps_unmap();
    if (rc < 0)
        return rc;
    if (last)
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

void shmemi_finalize_at_exit(void)
{
    do
        shmemi_require("exit", arrive());
    while (!shmemi_uninit());
    shmemi_leave_at_exit();
}
