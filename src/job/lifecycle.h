// SPDX-License-Identifier: Apache-2.0
// The life of a job: init, leaving, and the standard's way to end early.
#ifndef SHMEMI_JOB_LIFECYCLE_H
#define SHMEMI_JOB_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>

/* What the caller of init knows better than the environment; zeros and NULLs mean "see the environment". */
struct shmemi_job_request {
    bool given; /* rank, size and uid below are set */
    int rank, size;
    const char *uid;       /* what the processes of this job, and no others, have in common */
    size_t heap_size;      /* ceiling of the symmetric heap, bytes */
    const char *heap_kind; /* where shmem_malloc() allocates */
};

/* Joins (or makes) the job. May be nested: only the first call does work. 0 or negative errno with the reason. */
int shmemi_init(const struct shmemi_job_request *request);

/* Takes this process out of its job, whatever the others do: no waiting. Finalize (comm/finalize.h) is the collective
   form. Without a job it does nothing. */
int shmemi_leave(void);

/* The same while the process exits, of which other threads may still use the job until it is gone: all memory stays. */
void shmemi_leave_at_exit(void);

/* Takes one init back; whether it was the first one, so that the process has to leave. */
bool shmemi_uninit(void);

/* Any thread, at any time. */
bool shmemi_initialized(void);

/* "shmem 0.1.0, OpenSHMEM 1.6" */
extern const char shmemi_version[];

/* The ceiling of each heap of a job of n PEs for which nobody gives one: bytes. */
size_t shmemi_normal_heap_size(int n);

/* Ends every PE with this exit status; flushes C streams. */
_Noreturn void shmemi_global_exit(int status);

#endif
