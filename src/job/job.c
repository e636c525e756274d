// SPDX-License-Identifier: Apache-2.0
// The current job, and the three ways of having none.
#include "job.h"

#include "parts.h"

static struct shmemi_job before_init = {.me = -1}, after_finalize = {.me = -1}, in_forked_child = {.me = -1};

struct shmemi_job *shmemi_current = &before_init;

const char *shmemi_no_job(void)
{
    return shmemi_current == &in_forked_child  ? "in a forked child, where the parent's job cannot be used"
           : shmemi_current == &after_finalize ? "after shmem_finalize"
                                               : "before shmem_init";
}

void shmemi_job_end(bool forked)
{
    shmemi_current = forked ? &in_forked_child : &after_finalize;
}
