// SPDX-License-Identifier: Apache-2.0
// The rarer forms of remote memory access: strided, and with signals.
#include "rma.h"

#include "await.h"
#include "device/device.h"
#include "order.h"

/* The standard's values of sig_op, as shmem.h defines them; api/ checks that they agree. */
enum { SIGNAL_SET = 1, SIGNAL_ADD = 2 };

size_t shmemi_bytes_overflow(const char *fn, size_t nelems, size_t size)
{
    shmemi_die(fn, "nelems is %zu: that many elements of %zu bytes are more than an address space", nelems, size);
}

/* Where the peer's end is, and whether either end is memory of a device. */
static void *both_ends(const char *fn, const char *argument, const void *there, const void *here, size_t bytes, int pe,
                       bool *device)
{
    *device = false;
    if (!shmemi_near_devices())
        return shmemi_remote(fn, argument, there, bytes, pe);
    void *at = shmemi_reach(fn, argument, there, bytes, pe, device);
    *device |= shmemi_is_device(here);
    return at;
}

void shmemi_move_to_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe)
{
    bool device;
    void *to = both_ends(fn, "dest", dest, source, bytes, pe, &device);
    if (shmemi_unlikely(device))
        shmemi_require(fn, shmemi_device_copy(to, source, bytes));
    else
        shmemi_copy(to, source, bytes);
}

void shmemi_move_from_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe)
{
    bool device;
    const void *from = both_ends(fn, "source", source, dest, bytes, pe, &device);
    if (shmemi_unlikely(device))
        shmemi_require(fn, shmemi_device_copy(dest, from, bytes));
    else
        shmemi_copy(dest, from, bytes);
}

/* Into host memory it is done at once, because somebody may sleep until it is. */
void shmemi_begin_to_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe)
{
    bool device = false;
    void *to = !shmemi_near_devices() ? NULL : shmemi_reach(fn, "dest", dest, bytes, pe, &device);
    if (device)
        shmemi_require(fn, shmemi_device_copy_begin(to, source, bytes));
    else
        shmemi_move_to_slow(fn, dest, source, bytes, pe);
}

void shmemi_begin_from_slow(const char *fn, void *dest, const void *source, size_t bytes, int pe)
{
    bool device;
    const void *from = both_ends(fn, "source", source, dest, bytes, pe, &device);
    if (shmemi_unlikely(device))
        shmemi_require(fn, shmemi_device_copy_begin(dest, from, bytes));
    else
        shmemi_copy(dest, from, bytes);
}

void shmemi_quiet_devices(void)
{
    shmemi_require("shmem_quiet", shmemi_device_finish_begun());
}

/* The bytes from the first block's beginning to the last block's end; ends the job when the arguments make no sense. */
static size_t extent(const char *fn, const char *name, ptrdiff_t stride, size_t bsize, size_t nblocks, size_t size)
{
    size_t elements, bytes;
    if (stride < 1 || (size_t)stride < bsize)
        shmemi_die(fn, "%s is %td, but must be at least %zu", name, stride, bsize);
    if (shmemi_mul_overflows((size_t)stride, nblocks - 1, &elements) ||
        shmemi_add_overflows(elements, bsize, &elements) || shmemi_mul_overflows(elements, size, &bytes))
        shmemi_die(fn, "%zu blocks at distance %s = %td are more than an address space", nblocks, name, stride);
    return bytes;
}

static void copy_blocks(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride, size_t bsize,
                        size_t nblocks, size_t size)
{
    for (size_t i = 0; i < nblocks; i++)
        shmemi_copy(to + i * (size_t)to_stride * size, from + i * (size_t)from_stride * size, bsize * size);
}

/* Strided copies where either end may be memory of a device. */
struct strided {
    ptrdiff_t dst, sst;
    size_t bsize, nblocks, size;
};

static void SHMEMI_COLD copy_by_devices(const char *fn, char *to, const char *from, const struct strided *s)
{
    if (shmemi_is_device(to) || shmemi_is_device(from))
        shmemi_require(fn, shmemi_device_copy_blocks(to, (size_t)s->dst * s->size, from, (size_t)s->sst * s->size,
                                                     s->bsize * s->size, s->nblocks));
    else
        copy_blocks(to, s->dst, from, s->sst, s->bsize, s->nblocks, s->size);
}

void shmemi_iput(const char *fn, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,
                 size_t nblocks, size_t size, int pe)
{
    if (!nblocks || !bsize)
        return;
    size_t bytes = extent(fn, "dst", dst, bsize, nblocks, size);
    extent(fn, "sst", sst, bsize, nblocks, size);
    if (shmemi_near_devices()) {
        bool device;
        copy_by_devices(fn, shmemi_reach(fn, "dest", dest, bytes, pe, &device), source,
                        &(struct strided){dst, sst, bsize, nblocks, size});
    } else
        copy_blocks(shmemi_remote(fn, "dest", dest, bytes, pe), dst, source, sst, bsize, nblocks, size);
    shmemi_stored(pe);
}

void shmemi_iget(const char *fn, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,
                 size_t nblocks, size_t size, int pe)
{
    if (!nblocks || !bsize)
        return;
    size_t bytes = extent(fn, "sst", sst, bsize, nblocks, size);
    extent(fn, "dst", dst, bsize, nblocks, size);
    if (shmemi_near_devices()) {
        bool device;
        copy_by_devices(fn, dest, shmemi_reach(fn, "source", source, bytes, pe, &device),
                        &(struct strided){dst, sst, bsize, nblocks, size});
    } else
        copy_blocks(dest, dst, shmemi_remote(fn, "source", source, bytes, pe), sst, bsize, nblocks, size);
}

void shmemi_signal_update(const char *fn, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    uint64_t *word = shmemi_remote(fn, "sig_addr", sig_addr, sizeof *word, pe);
    if ((uintptr_t)word % sizeof *word)
        shmemi_die(fn, "sig_addr is %p, which is not aligned to 8 bytes", (void *)sig_addr);
    /* [put] release: whoever acquires this word (wait, test, signal_fetch) sees the data that was put before. */
    if (sig_op == SIGNAL_SET)
        __atomic_store_n(word, signal, __ATOMIC_RELEASE);
    else if (sig_op == SIGNAL_ADD)
        __atomic_fetch_add(word, signal, __ATOMIC_RELEASE);
    else
        shmemi_die(fn, "sig_op is %d, but must be SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD", sig_op);
    shmemi_stored(pe);
}

void shmemi_put_signal(const char *fn, void *dest, const void *source, size_t nelems, size_t size, uint64_t *sig_addr,
                       uint64_t signal, int sig_op, int pe)
{
    size_t bytes = shmemi_bytes(fn, nelems, size);
    if (bytes)
        shmemi_move_to(fn, dest, source, bytes, pe);
    shmemi_signal_update(fn, sig_addr, signal, sig_op, pe);
}

uint64_t shmemi_signal_fetch(const char *fn, const uint64_t *sig_addr)
{
    const uint64_t *word = shmemi_remote(fn, "sig_addr", sig_addr, sizeof *word, shmemi_current->me);
    return __atomic_load_n(word, __ATOMIC_ACQUIRE); /* [put] pairs with shmemi_signal_update() */
}

static bool compare(const volatile void *ivar, int cmp, const void *value)
{
    uint64_t left = __atomic_load_n((const volatile uint64_t *)ivar, __ATOMIC_ACQUIRE), right; /* [put] */
    memcpy(&right, value, sizeof right);
    return shmemi_compare_values(cmp, left, right);
}

uint64_t shmemi_signal_wait_until(const char *fn, uint64_t *sig_addr, int cmp, uint64_t value)
{
    /* The value returned has to be one that satisfied the condition: read it again until the one read does. */
    for (;;) {
        shmemi_wait_until(fn, sig_addr, cmp, &value, compare);
        uint64_t now = __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE); /* [put] */
        if (shmemi_compare_values(cmp, now, value))
            return now;
    }
}
