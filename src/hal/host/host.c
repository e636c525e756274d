// SPDX-License-Identifier: Apache-2.0
// Host memory: sealed memfds, which have no name and no limit but the machine's and the cgroup's.
#include "hal/hal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/copy.h"
#include "base/error.h"

enum { STEP_MOST = 16 << 20, STEP_LEAST = 256 << 10, KEPT_MOST = 64 << 20, KEPT_LEAST = 2 << 20 };

/* The limit of file sizes holds for memfds too, and the kernel's answer to breaking it is a signal. */
static int check_file_limit(const char *label, size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes)
        return 0;
    return shmemi_fail(-EFBIG, "'%s' needs %zu bytes, but the limit of file sizes is %zu (ulimit -f; it holds for shared memory): raise it",
                       label, bytes, (size_t)limit.rlim_cur);
}

static int host_create(const char *label, size_t bytes, const struct shmemi_wish *wish, int *handle)
{
    (void)wish;
    int limited = check_file_limit(label, bytes);
    if (limited < 0)
        return limited;
    int fd = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return shmemi_fail_errno("memfd_create for '%s'", label);
    if (ftruncate(fd, (off_t)bytes) < 0) {
        int rc = shmemi_fail_errno("ftruncate of '%s' to %zu bytes", label, bytes);
        close(fd);
        return rc;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int rc = shmemi_fail_errno("sealing of '%s'", label);
        close(fd);
        return rc;
    }
    *handle = fd;
    return 0;
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
                       "%zu bytes of memory are needed, but %s leaves %zu free (of %zu; %zu are kept in reserve)", bytes,
                       room.limit, free, room.total, kept);
}

/* Memory is taken in steps of at most an eighth of what is left, and a reserve stays: several processes that take
   memory under one limit at the same time then stop before it, instead of being killed at it. */
static int host_reserve(int handle, size_t offset, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t left;
        int rc = shmemi_host_may_take(bytes - done, &left);
        size_t step = clamp(left / 8, STEP_LEAST, STEP_MOST);
        if (step > bytes - done)
            step = bytes - done;
        if (rc == 0 && fallocate(handle, 0, (off_t)(offset + done), (off_t)step) < 0)
            rc = shmemi_fail_errno("fallocate of %zu bytes", step);
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

/* Mapped without access first and unlocked: in a program that locks all memory to come (mlockall), a mapping that can be
   touched takes all its pages at once, and a heap is a ceiling and not a need. */
static int host_map(int handle, size_t offset, size_t bytes, enum shmemi_access access, void *at, void **out)
{
    int protection = access == SHMEMI_READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = (access == SHMEMI_COPY_ON_WRITE ? MAP_PRIVATE : MAP_SHARED) | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    void *mapped = mmap(at, bytes, PROT_NONE, flags, handle, (off_t)offset);
    if (mapped == MAP_FAILED)
        return shmemi_fail_errno("mapping %zu bytes of shared memory", bytes);
    munlock(mapped, bytes);
    if (mprotect(mapped, bytes, protection) < 0) {
        int rc = shmemi_fail_errno("mapping %zu bytes of shared memory", bytes);
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
    .check = host_check,
    .reserve = host_reserve,
    .release = host_release,
    .map = host_map,
    .unmap = host_unmap,
    .copy = host_copy,
};
