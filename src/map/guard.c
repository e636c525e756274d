// SPDX-License-Identifier: Apache-2.0
// Getting a userfaultfd: three doors, each closed on some machines.
#include "map/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

static int by_device(void)
{
    int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC); /* Linux 6.1; who may open it may have a full one */
    if (device < 0)
        return -1;
    int fd = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
    close(device);
    return fd;
}

/* Missing private pages are trapped in any version. Shared ones that are in the file but not mapped need the
   feature "minor". */
static bool agree(int fd)
{
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MINOR_SHMEM};
    return ioctl(fd, UFFDIO_API, &api) == 0;
}

/* The other half of the way in: Linux 5.7; valgrind has userfaultfd and not this. */
static bool can_leave_empty(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *from = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED)
        return false;
    void *to = mremap(from, page, page, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL); /* the fifth argument is read */
    if (to != MAP_FAILED)
        munmap(to, page);
    munmap(from, page);
    return to != MAP_FAILED;
}

static bool take(struct shmemi_guard_file *guard, int fd, enum shmemi_guard strength)
{
    if (fd < 0)
        return false;
    if (!agree(fd)) {
        close(fd);
        return false;
    }
    *guard = (struct shmemi_guard_file){.fd = fd, .strength = strength};
    return true;
}

void shmemi_guard_open(struct shmemi_guard_file *guard, enum shmemi_guard strongest)
{
    int saved = errno;
    *guard = (struct shmemi_guard_file){.fd = -1, .strength = SHMEMI_GUARD_NONE};
    bool done = strongest == SHMEMI_GUARD_NONE || !can_leave_empty();
    if (!done && strongest == SHMEMI_GUARD_FULL)
        done = take(guard, (int)syscall(SYS_userfaultfd, O_CLOEXEC), SHMEMI_GUARD_FULL) ||
               take(guard, by_device(), SHMEMI_GUARD_FULL);
    if (!done)
        take(guard, (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY), SHMEMI_GUARD_USER);
    shmemi_debug("map", "guard for moving pages: %s",
                 guard->strength == SHMEMI_GUARD_FULL   ? "full"
                 : guard->strength == SHMEMI_GUARD_USER ? "user mode only"
                                                        : "none, no userfaultfd");
    errno = saved;
}

void shmemi_guard_close(struct shmemi_guard_file *guard)
{
    if (guard->fd >= 0)
        close(guard->fd);
    guard->fd = -1;
}
