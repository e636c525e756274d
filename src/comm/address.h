// SPDX-License-Identifier: Apache-2.0
// From a symmetric address to the peer's copy of it, as this process can reach it.
#ifndef SHMEMI_COMM_ADDRESS_H
#define SHMEMI_COMM_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "job/job.h"

/* The general case of shmemi_remote(): static data, the heap where SHMEM_DEBUG looks at its blocks, and every error
   (which ends the job, naming fn and argument). Memory of a device is one: no instruction of a CPU reaches it. */
void *shmemi_remote_slow(const char *fn, const char *argument, const void *address, size_t bytes, int pe) SHMEMI_COLD;

/* Where this process finds the object [address, address + bytes) of PE pe. fn is the public function's name and
   argument that of the address there, for the message that ends the job when pe or address is wrong or there is no job:
   before init and after finalize n is 0, so the first comparison covers that too. */
SHMEMI_INLINE void *shmemi_remote(const char *fn, const char *argument, const void *address, size_t bytes, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (shmemi_likely((unsigned)pe < (unsigned)job->n)) {
        size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
        size_t open = atomic_load_explicit(&job->heap_open, memory_order_relaxed); /* [used] */
        if (shmemi_likely(offset < open && bytes <= open - offset))
            return job->window + (size_t)pe * job->stride + offset;
    }
    return shmemi_remote_slow(fn, argument, address, bytes, pe);
}

/* The same for whoever copies only: it may be memory of a device (*device), and the address is the device's then. */
void *shmemi_reach(const char *fn, const char *argument, const void *address, size_t bytes, int pe,
                   bool *device) SHMEMI_COLD;

/* Ends the job unless the object is symmetric, of the host or of a device. */
void shmemi_check_symmetric_slow(const char *fn, const char *argument, const void *address, size_t bytes) SHMEMI_COLD;
SHMEMI_INLINE void shmemi_check_symmetric(const char *fn, const char *argument, const void *address, size_t bytes)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
    size_t open = atomic_load_explicit(&job->heap_open, memory_order_relaxed); /* [used] */
    if (shmemi_unlikely(offset >= open || bytes > open - offset))
        shmemi_check_symmetric_slow(fn, argument, address, bytes);
}

/* Ends the job if a local address is memory of a device, where a CPU has to load or store. argument: its name. */
void shmemi_refuse_device_slow(const char *fn, const char *argument, const volatile void *address) SHMEMI_COLD;
SHMEMI_INLINE void shmemi_refuse_device(const char *fn, const char *argument, const volatile void *address)
{
    if (shmemi_near_devices())
        shmemi_refuse_device_slow(fn, argument, address);
}

#endif
