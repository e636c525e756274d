// SPDX-License-Identifier: Apache-2.0
// Why no write is lost.
//
// In: the range is registered with userfaultfd ("missing"), then mremap(DONTUNMAP) takes its pages away in
// one step, under the lock that every page fault needs. From then on whoever touches the range finds no page
// and waits. The pages are copied into the file, the file is mapped over the range, and the waiters are
// woken: they fault again and find the shared pages.
//
// Out: the shared range is registered ("minor": in the file, but not mapped), and MADV_DONTNEED drops its
// page table entries, which leaves the data in the file. From then on whoever touches it waits. The data are
// copied to private pages, and mremap puts those over the range in one step. (Taking shared pages away as on
// the way in would not do: a fault would find them in the file. Write-protecting them would do as well, but
// needs newer kernels, on aarch64 much newer.)
//
// Everything here runs while some memory of this process is away, so it touches its arguments and its stack
// only.
#include "map/window.h"

#include <errno.h>
#include <linux/mman.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "map/raw.h"

enum { PATIENCE = 1000 };

SHMEMI_BARE static long guard_on(const struct shmemi_window *w, uint64_t mode)
{
    struct uffdio_register range;
    range.range.start = w->address;
    range.range.len = w->length;
    range.mode = mode;
    range.ioctls = 0;
    return shmemi_raw(SYS_ioctl, (uintptr_t)w->guard, UFFDIO_REGISTER, (uintptr_t)&range, 0, 0, 0);
}

SHMEMI_BARE static void guard_call(const struct shmemi_window *w, unsigned long what)
{
    struct uffdio_range range;
    range.start = w->address;
    range.len = w->length;
    shmemi_raw(SYS_ioctl, (uintptr_t)w->guard, what, (uintptr_t)&range, 0, 0, 0);
}

/* The whole length between memory and file. The kernel moves less than it is asked to only when it has a
   reason. */
SHMEMI_BARE static long transfer(const struct shmemi_window *w, long number, uintptr_t memory)
{
    for (size_t done = 0; done < w->length;) {
        long rc = shmemi_raw(number, (uintptr_t)w->file, memory + done, w->length - done, w->offset + done, 0, 0);
        if (rc == -EINTR)
            continue;
        if (rc <= 0)
            return rc < 0 ? rc : -EIO;
        done += (size_t)rc;
    }
    return 0;
}

SHMEMI_BARE static long map_shared(const struct shmemi_window *w)
{
    long rc = shmemi_raw(SYS_mmap, w->address, w->length, (uintptr_t)w->protection, MAP_SHARED | MAP_FIXED,
                         (uintptr_t)w->file, w->offset);
    return rc < 0 && rc > -4096 ? rc : 0;
}

SHMEMI_BARE static long put_over(const struct shmemi_window *w, uintptr_t from)
{
    long rc = shmemi_raw(SYS_mremap, from, w->length, w->length, MREMAP_MAYMOVE | MREMAP_FIXED, w->address, 0);
    return rc < 0 && rc > -4096 ? rc : 0;
}

/* The range is empty and its pages are at `from`. The kernel checks its limits before it takes anything
   apart, so this fails only as long as others use up the last of something. */
SHMEMI_BARE static void put_back(const struct shmemi_window *w, uintptr_t from)
{
    for (int tries = 0; put_over(w, from) < 0; tries++) {
        if (tries == PATIENCE)
            __builtin_trap(); /* memory of the program is out of its reach for good */
        shmemi_raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
}

SHMEMI_BARE static int in_guarded(struct shmemi_window *w)
{
    long rc = guard_on(w, UFFDIO_REGISTER_MODE_MISSING);
    w->step = "userfaultfd does not take it";
    if (rc < 0)
        return (int)rc;
    long old = shmemi_raw(SYS_mremap, w->address, w->length, w->length,
                          MREMAP_MAYMOVE | MREMAP_DONTUNMAP | (w->park ? MREMAP_FIXED : 0), w->park, 0);
    if (old < 0 && old > -4096) {
        guard_call(w, UFFDIO_UNREGISTER);
        w->step = "mremap refused";
        return (int)old;
    }
    w->step = "copying failed";
    rc = transfer(w, SYS_pwrite64, (uintptr_t)old);
    if (rc == 0) {
        w->step = "mmap refused";
        rc = map_shared(w);
    }
    if (rc < 0)
        put_back(w, (uintptr_t)old);
    guard_call(w, UFFDIO_WAKE);
    w->park = rc < 0 ? 0 : (uintptr_t)old;
    return (int)rc;
}

SHMEMI_BARE int shmemi_window_in(struct shmemi_window *w)
{
    if (w->guard >= 0)
        return in_guarded(w);
    w->park = 0;
    w->step = "copying failed";
    long rc = transfer(w, SYS_pwrite64, w->address);
    if (rc == 0) {
        w->step = "mmap refused";
        rc = map_shared(w);
    }
    return (int)rc;
}

/* Drops the page table entries of the range, also of locked memory. */
SHMEMI_BARE static long unmap_entries(const struct shmemi_window *w)
{
    long rc = shmemi_raw(SYS_madvise, w->address, w->length, MADV_DONTNEED, 0, 0, 0);
    if (rc == -EINVAL) {
        shmemi_raw(SYS_munlock, w->address, w->length, 0, 0, 0, 0);
        rc = shmemi_raw(SYS_madvise, w->address, w->length, MADV_DONTNEED, 0, 0, 0);
    }
    return rc;
}

SHMEMI_BARE static long out_copied(struct shmemi_window *w)
{
    w->step = "copying failed";
    long rc = transfer(w, SYS_pread64, w->park);
    if (rc < 0)
        return rc;
    w->step = "mremap refused";
    rc = put_over(w, w->park);
    if (rc < 0)
        map_shared(w); /* where it still is, but for the kernel's worst day */
    return rc;
}

SHMEMI_BARE int shmemi_window_out(struct shmemi_window *w)
{
    if (w->guard < 0)
        return (int)out_copied(w);
    w->step = "userfaultfd does not take it";
    long rc = guard_on(w, UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR);
    if (rc < 0)
        return (int)rc;
    w->step = "madvise refused";
    rc = unmap_entries(w);
    if (rc == 0)
        rc = out_copied(w);
    if (rc < 0)
        guard_call(w, UFFDIO_UNREGISTER);
    guard_call(w, UFFDIO_WAKE);
    return (int)rc;
}
