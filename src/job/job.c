// SPDX-License-Identifier: Apache-2.0
// The current job, and the three ways of having none.
#include "job.h"

#include <stdatomic.h>

#include "control.h"
#include "hal/hal.h"
#include "map/share.h"
#include "parts.h"

static struct shmemi_job before_init = {.me = -1}, after_finalize = {.me = -1}, in_forked_child = {.me = -1};

struct shmemi_job *shmemi_current = &before_init;

const char *shmemi_no_job(void)
{
    return shmemi_current == &in_forked_child  ? "in a forked child, where the parent's job cannot be used"
           : shmemi_current == &after_finalize ? "after shmem_finalize"
                                               : "before shmem_init";
}

/* [joined] for threads that ask while another one is in init or finalize, which make the job object and free it. */
static _Atomic uint32_t joined_as; /* PE + 1; 0: there is no job */
static _Atomic uint64_t joined_number;

void shmemi_job_begin(struct shmemi_job *job)
{
    shmemi_current = job;
    shmemi_hal_fallback_in_job(&job->control->told);
    /* [joined] release, both: pair with the acquires in shmemi_joined(). Who sees this number sees that the job before
       has ended, and who sees the PE sees the number and the job. */
    atomic_store_explicit(&joined_number, shmemi_share_number(job->parts->identity.name), memory_order_release);
    atomic_store_explicit(&joined_as, (uint32_t)job->me + 1, memory_order_release);
}

void shmemi_job_end(bool forked)
{
    if (forked)
        shmemi_hal_fallback_in_child();
    else
        shmemi_hal_fallback_in_job(NULL);
    /* [joined] relaxed: pairs with nothing; the next number releases it. */
    atomic_store_explicit(&joined_as, 0, memory_order_relaxed);
    shmemi_current = forked ? &in_forked_child : &after_finalize;
}

bool shmemi_joined(uint64_t *number, uint32_t *pe)
{
    uint32_t as, again = atomic_load_explicit(&joined_as, memory_order_acquire); /* [joined], all three */
    do {
        as = again;
        *number = atomic_load_explicit(&joined_number, memory_order_acquire);
        again = atomic_load_explicit(&joined_as, memory_order_acquire);
    } while (again != as); /* else they may be of two jobs, one after the other */
    *pe = as ? as - 1 : 0;
    if (!as)
        *number = 0;
    return as != 0;
}
