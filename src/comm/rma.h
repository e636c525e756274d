// SPDX-License-Identifier: Apache-2.0
// Remote memory access without types: put, get and their strided forms. The typed functions above call these.
#ifndef SHMEMI_COMM_RMA_H
#define SHMEMI_COMM_RMA_H

#include "base/copy.h"
#include "address.h"
#include "wait.h"

/* nelems * size bytes; overflow ends the job, naming fn. */
size_t shmemi_bytes_overflow(const char *fn, size_t nelems, size_t size) SHMEMI_COLD;
SHMEMI_INLINE size_t shmemi_bytes(const char *fn, size_t nelems, size_t size)
{
    size_t bytes;
    return shmemi_unlikely(shmemi_mul_overflows(nelems, size, &bytes)) ? shmemi_bytes_overflow(fn, nelems, size)
                                                                       : bytes;
}

/* Copies nelems elements of `size` bytes from source (any local address) to the symmetric dest on pe. */
SHMEMI_INLINE void shmemi_put(const char *fn, void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (shmemi_unlikely(bytes == 0))
        return;
    shmemi_copy(shmemi_remote(fn, dest, bytes, pe), source, bytes);
    shmemi_stored(pe);
}

/* Copies nelems elements of `size` bytes from the symmetric source on pe to dest (any local address). */
SHMEMI_INLINE void shmemi_get(const char *fn, void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (shmemi_unlikely(bytes == 0))
        return;
    shmemi_copy(dest, shmemi_remote(fn, source, bytes, pe), bytes);
}

/* Blocks of bsize elements; dst and sst are the distances between block starts in dest and source, in elements.
   iput and iget are the case bsize == 1. */
void shmemi_iput(const char *fn, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,
                 size_t nblocks, size_t size, int pe);
void shmemi_iget(const char *fn, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,
                 size_t nblocks, size_t size, int pe);

/* A put of data and then an update of the signal word at the same PE, seen in that order. sig_op is
   SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. */
void shmemi_put_signal(const char *fn, void *dest, const void *source, size_t nelems, size_t size, uint64_t *sig_addr,
                       uint64_t signal, int sig_op, int pe);
void shmemi_signal_update(const char *fn, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
uint64_t shmemi_signal_fetch(const char *fn, const uint64_t *sig_addr);
uint64_t shmemi_signal_wait_until(const char *fn, uint64_t *sig_addr, int cmp, uint64_t value);

#endif
