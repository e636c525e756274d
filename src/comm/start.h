// SPDX-License-Identifier: Apache-2.0
// The beginning of a job, with the heap where it is wanted.
#ifndef SHMEMI_COMM_START_H
#define SHMEMI_COMM_START_H

#include "job/lifecycle.h"

/* shmemi_init(), and the symmetric heap on a device if that is the job's usual kind of memory. A PE that cannot have it
   takes part in nothing: then init fails on all PEs, with the same reason. One thread at a time gets beyond this. */
int shmemi_start(const struct shmemi_job_request *request);

#endif
