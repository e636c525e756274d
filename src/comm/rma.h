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

/* Where a copy finds a symmetric object of PE pe, if it is in the heap in host memory and there is no other memory that
   the other end might be; else NULL. */
SHMEMI_INLINE char *shmemi_plain(const void *address, size_t bytes, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (shmemi_likely((unsigned)pe < (unsigned)job->n)) {
        size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
        size_t open = atomic_load_explicit(&job->copy_open, memory_order_relaxed); /* [devices] */
        if (shmemi_likely(offset < open && bytes <= open - offset))
            return job->window + (size_t)pe * job->stride + offset;
    }
    return NULL;
}

/* The general case of what follows: static data, memory of devices at either end, and every error. */
void shmemi_move_to_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe) SHMEMI_COLD;
void shmemi_move_from_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe) SHMEMI_COLD;
void shmemi_begin_to_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe) SHMEMI_COLD;
void shmemi_begin_from_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe) SHMEMI_COLD;

/* Copies `bytes` (not 0) from source to the symmetric dest on pe; done when it returns. Wakes nobody. */
SHMEMI_INLINE void shmemi_move_to(const char *fn, void *dest, const void *source, size_t bytes, int pe)
{
    char *to = shmemi_plain(dest, bytes, pe);
    if (shmemi_likely(to != NULL))
        shmemi_copy(to, source, bytes);
    else
        shmemi_move_to_slow(fn, dest, source, bytes, pe);
}

/* The same from the symmetric source on pe to dest. */
SHMEMI_INLINE void shmemi_move_from(const char *fn, void *dest, const void *source, size_t bytes, int pe)
{
    const char *from = shmemi_plain(source, bytes, pe);
    if (shmemi_likely(from != NULL))
        shmemi_copy(dest, from, bytes);
    else
        shmemi_move_from_slow(fn, dest, source, bytes, pe);
}

/* Copies nelems elements of `size` bytes from source (any local address) to the symmetric dest on pe. */
SHMEMI_INLINE void shmemi_put(const char *fn, void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (shmemi_unlikely(bytes == 0))
        return;
    shmemi_move_to(fn, dest, source, bytes, pe);
    shmemi_stored(pe);
}

/* Copies nelems elements of `size` bytes from the symmetric source on pe to dest (any local address). */
SHMEMI_INLINE void shmemi_get(const char *fn, void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (shmemi_unlikely(bytes == 0))
        return;
    shmemi_move_from(fn, dest, source, bytes, pe);
}

/* The same, but where memory of devices is concerned the copy is only begun: a quiet waits for it. */
SHMEMI_INLINE void shmemi_put_nbi(const char *fn, void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (shmemi_unlikely(bytes == 0))
        return;
    char *to = shmemi_plain(dest, bytes, pe);
    if (shmemi_likely(to != NULL))
        shmemi_copy(to, source, bytes);
    else
        shmemi_begin_to_slow(fn, dest, source, bytes, pe);
    shmemi_stored(pe);
}

SHMEMI_INLINE void shmemi_get_nbi(const char *fn, void *dest, const void *source, size_t nelems, size_t size, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (shmemi_unlikely(bytes == 0))
        return;
    const char *from = shmemi_plain(source, bytes, pe);
    if (shmemi_likely(from != NULL))
        shmemi_copy(dest, from, bytes);
    else
        shmemi_begin_from_slow(fn, dest, source, bytes, pe);
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
