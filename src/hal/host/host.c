// SPDX-License-Identifier: Apache-2.0
// Host memory: sealed memfds, which have no name and no limit but the machine's and the cgroup's.
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/copy.h"
#include "base/error.h"

enum { TURN_NAP = 1000 /* us */, TURN_NAPS = 100, NEAR = 8 };
enum { STEP_MOST = 16 << 20, STEP_LEAST = 256 << 10, KEPT_MOST = 64 << 20, KEPT_LEAST = 2 << 20 };

/* The limit of file sizes holds for memfds too, and the kernel's answer to breaking it is a signal. */
int shmemi_host_check_file_limit(const char *label, size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes)
        return 0;
    return shmemi_fail(-EFBIG,
                       "'%s' needs %zu bytes, but the limit of file sizes is %zu (ulimit -f; it holds for shared "
                       "memory, too): raise it",
                       label, bytes, (size_t)limit.rlim_cur);
}

/* Whether what is wished for can be had here. *huge: the size of hugetlb pages, or 0. */
static int check_wish(const char *label, size_t bytes, const struct shmemi_wish *wish, size_t *huge)
{
    *huge = 0;
    if (wish->cache != SHMEMI_CACHE_USUAL && wish->cache != SHMEMI_CACHE_WRITE_BACK)
        return shmemi_fail(-ENOTSUP,
                           "'%s' is to be %s, but host memory is cached write-back: the processor and the kernel "
                           "decide this, and not the program",
                           label, wish->cache == SHMEMI_CACHE_UNCACHED ? "uncached" : "write-combining");
    if (wish->page == SHMEMI_PAGES_TRANSPARENT)
        return shmemi_host_transparent_wish(label);
    if (wish->page == SHMEMI_PAGES_USUAL || wish->page == (size_t)sysconf(_SC_PAGESIZE))
        return 0;
    *huge = wish->page;
    return shmemi_host_huge_wish(label, bytes, wish->page);
}

/* The memfd itself. A mode of 0400 keeps other users, who are given a descriptor for reading, from opening it again for
   writing; descriptors that there are keep what they allow. The sticky bit, which means nothing on a file, tells
   host_reserve() in whatever process that transparent huge pages are wished for. */
static int make_file(const char *label, size_t bytes, const struct shmemi_wish *wish, size_t huge, int *out)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    if (huge)
        flags |= MFD_HUGETLB | (unsigned)__builtin_ctzl(huge) << MAP_HUGE_SHIFT;
    int fd = *out = memfd_create(label, flags);
    if (fd < 0)
        return shmemi_fail_errno("memfd_create for '%s'", label);
    if (ftruncate(fd, (off_t)bytes) < 0)
        return shmemi_fail_errno("ftruncate of '%s' to %zu bytes", label, bytes);
    if (fchmod(fd, S_IRUSR | (wish->page == SHMEMI_PAGES_TRANSPARENT ? S_ISVTX : 0)) < 0)
        return shmemi_fail_errno("fchmod of '%s'", label);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | (wish->sealable ? 0 : F_SEAL_SEAL);
    if (fcntl(fd, F_ADD_SEALS, seals) < 0)
        return shmemi_fail_errno("sealing of '%s'", label);
    return 0;
}

static int host_create(const char *label, size_t bytes, const struct shmemi_wish *wish, int *handle)
{
    struct shmemi_wish none = SHMEMI_NO_WISH;
    size_t huge;
    int fd = -1, rc = shmemi_host_check_file_limit(label, bytes);
    wish = wish ? wish : &none;
    if (rc < 0 || (rc = check_wish(label, bytes, wish, &huge)) < 0)
        return rc;
    rc = make_file(label, bytes, wish, huge, &fd);
    if (rc < 0 && fd >= 0)
        close(fd);
    if (rc == 0)
        *handle = fd;
    return rc;
}

static int host_narrow(int handle, int *out)
{
    char path[64];
    int flags = fcntl(handle, F_GETFL);
    if (flags < 0)
        return shmemi_fail_errno("making a descriptor for reading");
    snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
    int fd = (flags & O_ACCMODE) == O_RDONLY ? fcntl(handle, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && access("/proc/self/fd", F_OK) < 0)
        return shmemi_fail(
            -ENOENT, "a descriptor for reading is made through /proc/self/fd, and there is no /proc here: mount it");
    if (fd < 0)
        return shmemi_fail_errno("making a descriptor for reading");
    *out = fd;
    return 0;
}

/* Afterwards pages cannot be given back either: for the kernel that is writing too. */
static int host_freeze(int handle)
{
    int seals = fcntl(handle, F_GET_SEALS);
    if (seals < 0)
        return shmemi_fail_errno("freezing memory");
    if (seals & (F_SEAL_FUTURE_WRITE | F_SEAL_WRITE))
        return 0;
    if (seals & F_SEAL_SEAL)
        return shmemi_fail(-EPERM, "this memory cannot be frozen: it was not made for it (sealable)");
    if ((fcntl(handle, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return shmemi_fail(-EPERM,
                           "memory can be frozen only by whoever may write it, and this descriptor is for reading");
    if (fcntl(handle, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0)
        return 0;
    if (errno == EINVAL)
        return shmemi_fail(-ENOTSUP, "this kernel cannot freeze memory (F_SEAL_FUTURE_WRITE), which takes Linux 5.1");
    return shmemi_fail_errno("freezing memory");
}

static int host_check(int handle, size_t bytes)
{
    struct stat st;
    int seals = fcntl(handle, F_GET_SEALS);
    if (seals < 0 || fstat(handle, &st) < 0)
        return shmemi_fail_errno("examining a segment that a peer sent");
    if (!(seals & F_SEAL_SHRINK))
        return shmemi_fail(-EPROTO, "a peer sent a segment that is not sealed against shrinking");
    if (st.st_size < 0 || (size_t)st.st_size < bytes)
        return shmemi_fail(-EPROTO, "a peer sent a segment of %lld bytes instead of %zu", (long long)st.st_size, bytes);
    return 0;
}

static void host_release(int handle, size_t offset, size_t bytes)
{
    fallocate(handle, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
}

static size_t clamp(size_t n, size_t low, size_t high)
{
    return n < low ? low : n > high ? high : n;
}

int shmemi_host_may_take(size_t bytes, size_t *left)
{
    struct shmemi_host_room room;
    shmemi_host_room(&room);
    size_t kept = clamp(room.total / 32, KEPT_LEAST, KEPT_MOST);
    size_t free = room.bytes > kept ? room.bytes - kept : 0;
    if (left)
        *left = free;
    if (bytes <= free)
        return 0;
    return shmemi_fail(-ENOMEM,
                       "%zu bytes of memory are needed, but %s leaves %zu free (of %zu; %zu are kept in reserve)",
                       bytes, room.limit, free, room.total, kept);
}

/* How much of [from, from + bytes) to take next; *rc: why not. huge: the size of its hugetlb pages; transparent: of the
   transparent ones that are wished for, at whose bounds steps end. Each 0: none. */
static size_t next_step(size_t from, size_t bytes, size_t huge, size_t transparent, bool *near, int *rc)
{
    size_t left, step = huge;
    *near = false;
    if (huge) {
        *rc = shmemi_host_huge_may_take("shared memory", bytes, huge);
        return step < bytes ? step : bytes;
    }
    *rc = shmemi_host_may_take(bytes, &left);
    *near = *rc == 0 && bytes > left / NEAR;
    step = clamp(left / 8, STEP_LEAST, STEP_MOST);
    if (transparent) {
        step = step > transparent ? step : transparent;
        step -= (from + step) % transparent;
    }
    return step < bytes ? step : bytes;
}

/* fallocate of a step failed. Huge pages that are free and still not given are withheld by a cgroup. */
static int refuse_step(size_t step, size_t huge)
{
    if (huge && (errno == ENOSPC || errno == ENOMEM))
        return shmemi_fail(-ENOMEM,
                           "the kernel gives this process no huge page of %zu bytes more, though some are free: the "
                           "limit of its hugetlb cgroup, or of its NUMA nodes, is reached",
                           huge);
    return shmemi_fail_errno("fallocate of %zu bytes", step);
}

/* Near a cgroup's limit, who looks at what is left and then takes some has the turn, so that nobody takes it in
 *between; turn: -1 where there is none. Nobody is waited for long, because who has it may be stopped; false then. */
static bool take_turn(int *turn)
{
    struct shmemi_host_room room;
    shmemi_host_room(&room);
    *turn = *room.cgroup ? open(room.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (int i = 0; *turn >= 0 && i < TURN_NAPS; i++) {
        if (flock(*turn, LOCK_EX | LOCK_NB) == 0)
            return true;
        usleep(TURN_NAP);
    }
    return *turn < 0;
}

static void give_turn(int turn)
{
    if (turn < 0)
        return;
    flock(turn, LOCK_UN); /* a child that was forked meanwhile may have it open */
    close(turn);
}

/* Memory is taken in steps of at most an eighth of what is left, and a reserve stays: several processes that take
   memory under one limit at the same time then stop before it, instead of being killed at it. */
static int host_reserve(int handle, size_t offset, size_t bytes)
{
    struct stat st;
    size_t huge = shmemi_host_huge_page_of(handle);
    size_t transparent = fstat(handle, &st) == 0 && (st.st_mode & S_ISVTX) ? shmemi_host_transparent_page() : 0;
    bool in_turn = true;
    for (size_t done = 0; done < bytes;) {
        int rc, turn = -1;
        bool near;
        size_t step = next_step(offset + done, bytes - done, huge, transparent, &near, &rc);
        if (near && in_turn) {
            in_turn = take_turn(&turn);
            step = next_step(offset + done, bytes - done, huge, transparent, &near, &rc);
        }
        if (rc == 0 && transparent)
            shmemi_host_take_huge(handle, offset + done, step, transparent);
        if (rc == 0 && fallocate(handle, 0, (off_t)(offset + done), (off_t)step) < 0)
            rc = refuse_step(step, huge);
        give_turn(turn);
        if (rc == -EINTR)
            continue;
        if (rc < 0) {
            if (done)
                host_release(handle, offset, done);
            return rc;
        }
        done += step;
    }
    return 0;
}

static int refuse_mapping(int handle, size_t bytes, size_t huge)
{
    int failed = errno;
    bool for_reading = (fcntl(handle, F_GETFL) & O_ACCMODE) == O_RDONLY;
    errno = failed;
    if (failed == EACCES || failed == EPERM)
        return shmemi_fail(-EACCES, "mapping %zu bytes of shared memory for writing is refused: %s", bytes,
                           for_reading ? "this process has it for reading only" : "it is frozen");
    if (failed == ENOMEM && huge)
        return shmemi_fail(-ENOMEM, "mapping %zu bytes of shared memory: too few huge pages of %zu bytes are free",
                           bytes, huge);
    return shmemi_fail_errno("mapping %zu bytes of shared memory", bytes);
}

/* Mapped without access first and unlocked: in a program that locks all memory to come (mlockall), a mapping that can
   be touched takes all its pages at once, and a heap is a ceiling and not a need. Private copies of huge pages are
   promised by the kernel here, since one that is missing later would be a SIGBUS. */
static int host_map(int handle, size_t offset, size_t bytes, enum shmemi_access access, void *at, void **out)
{
    size_t huge = shmemi_host_huge_page_of(handle);
    int protection = access == SHMEMI_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = (access == SHMEMI_COPY_ON_WRITE ? MAP_PRIVATE : MAP_SHARED) | (at ? MAP_FIXED : 0);
    if (!huge || access != SHMEMI_COPY_ON_WRITE)
        flags |= MAP_NORESERVE;
    void *mapped = mmap(at, bytes, PROT_NONE, flags, handle, (off_t)offset);
    if (mapped == MAP_FAILED)
        return refuse_mapping(handle, bytes, huge);
    munlock(mapped, bytes);
    if (mprotect(mapped, bytes, protection) < 0) {
        int rc = refuse_mapping(handle, bytes, huge);
        munmap(mapped, bytes);
        return rc;
    }
    *out = mapped;
    return 0;
}

static void host_unmap(void *at, size_t bytes)
{
    munmap(at, bytes);
}

static int host_copy(void *to, enum shmemi_memory_kind to_kind, const void *from, enum shmemi_memory_kind from_kind,
                     size_t bytes)
{
    SHMEMI_ASSERT(to_kind == SHMEMI_MEMORY_HOST && from_kind == SHMEMI_MEMORY_HOST);
    shmemi_copy(to, from, bytes);
    return 0;
}

const struct shmemi_hal shmemi_hal_host = {
    .name = "host",
    .capabilities = SHMEMI_CAN_LOAD_STORE | SHMEMI_CAN_ATOMIC | SHMEMI_CAN_WAIT,
    .create = host_create,
    .place = shmemi_host_place,
    .lock = shmemi_host_lock,
    .report = shmemi_host_report,
    .narrow = host_narrow,
    .freeze = host_freeze,
    .check = host_check,
    .reserve = host_reserve,
    .release = host_release,
    .map = host_map,
    .unmap = host_unmap,
    .copy = host_copy,
};
