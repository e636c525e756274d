// SPDX-License-Identifier: Apache-2.0
// The job: the one object that holds all mutable state of a process that is a PE.
#ifndef SHMEMI_JOB_JOB_H
#define SHMEMI_JOB_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "control.h"

struct shmemi_job {
    /* Read by every put, get and atomic: together, first. */
    int n;        /* number of PEs; 0 while there is no job, so that one comparison checks both */
    int me;       /* this PE */
    char *window; /* PE p's heap is at window + p * stride */
    size_t stride;
    char *heap;                /* this PE's own: window + me * stride */
    _Atomic size_t heap_open;  /* heap_used, or 0 where SHMEM_DEBUG has every address looked up; [used] */
    struct shmemi_slot *slots; /* one a PE, in the control segment */
    /* The rest is read rarely. */
    struct shmemi_control *control;
    struct shmemi_job_parts *parts;
    _Atomic size_t heap_used; /* no block has gone beyond this: what a symmetric address is checked against; [used] */
    size_t heap_size;         /* the ceiling */
};

/* The job that this process is in; never NULL (an empty job with n == 0 stands for none). */
extern struct shmemi_job *shmemi_current;

/* How far the heap has been allocated. [used] relaxed, as is the load of heap_open: other threads use their blocks
   while one allocates, and whoever has an address got it after it was counted in shmemi_heap_take(). Where the name
   stands alone, on paths that are walked rarely, the access is sequentially consistent, which does as well. */
static inline size_t shmemi_heap_used(const struct shmemi_job *job)
{
    return atomic_load_explicit(&job->heap_used, memory_order_relaxed);
}

/* Where this process stands when there is no job: "before shmem_init", "after shmem_finalize", "in a forked child ...".
 */
const char *shmemi_no_job(void);

/* From here on this process is in that job. */
void shmemi_job_begin(struct shmemi_job *job);

/* From here on this process has no job: finalize was called, or it is a forked child. */
void shmemi_job_end(bool forked);

/* Whether this process is in a job; if so a number that stands for the job's name, and the PE; else zeros. Any thread,
   at any time: unlike shmemi_current, which is for whoever knows that there is a job and that nobody ends it. */
bool shmemi_joined(uint64_t *number, uint32_t *pe);

/* Prints "shmem: PE 2 (pid 71): <fn>: <text>" and ends this process and thereby the job. */
_Noreturn void shmemi_die(const char *fn, const char *format, ...) SHMEMI_PRINTF(2, 3);

#endif
