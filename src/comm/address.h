// SPDX-License-Identifier: Apache-2.0
// From a symmetric address to the peer's copy of it, as this process can reach it.
#ifndef SHMEMI_COMM_ADDRESS_H
#define SHMEMI_COMM_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "job/job.h"

/* The general case of shmemi_remote(): static data, the heap where SHMEM_DEBUG looks at its blocks, and every error
   (which ends the job, naming fn and argument). */
void *shmemi_remote_slow(const char *fn, const void *address, size_t bytes, int pe) SHMEMI_COLD;

/* Where this process finds the object [address, address + bytes) of PE pe. fn is the public function's name, for the
   message that ends the job when pe or address is wrong or there is no job: before init and after finalize n is 0, so
   the first comparison covers that too. */
SHMEMI_INLINE void *shmemi_remote(const char *fn, const void *address, size_t bytes, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (shmemi_likely((unsigned)pe < (unsigned)job->n)) {
        size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
        size_t open = atomic_load_explicit(&job->heap_open, memory_order_relaxed); /* [used] */
        if (shmemi_likely(offset < open && bytes <= open - offset))
            return job->window + (size_t)pe * job->stride + offset;
    }
    return shmemi_remote_slow(fn, address, bytes, pe);
}

#endif
