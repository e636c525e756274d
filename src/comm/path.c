// SPDX-License-Identifier: Apache-2.0
// The two paths on one host.
#include "path.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/error.h"
#include "device/device.h"
#include "hal/hal.h"

static int copy(void *to, const void *from, size_t bytes, bool overlap)
{
    if (!bytes)
        return 0; /* the pointers may be NULL then */
    if (!overlap)
        return shmemi_hal_host.copy(to, SHMEMI_MEMORY_HOST, from, SHMEMI_MEMORY_HOST, bytes);
    memmove(to, from, bytes);
    return 0;
}

static int direct_put(const struct shmemi_remote_memory *to, size_t offset, const void *from, size_t bytes,
                      bool overlap)
{
    return copy(to->base + offset, from, bytes, overlap);
}

static int direct_get(void *to, const struct shmemi_remote_memory *from, size_t offset, size_t bytes, bool overlap)
{
    return copy(to, from->base + offset, bytes, overlap);
}

const struct shmemi_path shmemi_path_direct = {
    .name = "direct",
    .capabilities = SHMEMI_PATH_LOAD_STORE | SHMEMI_PATH_ATOMIC | SHMEMI_PATH_WAIT,
    .put = direct_put,
    .get = direct_get,
};

typedef ssize_t (*kernel_copy)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                               unsigned long);

static int through_kernel(kernel_copy move, const struct shmemi_remote_memory *there, size_t offset, void *here,
                          size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        struct iovec local = {(char *)here + done, bytes - done};
        struct iovec remote = {(void *)(uintptr_t)(there->address + offset + done), bytes - done};
        ssize_t moved = move(there->pid, &local, 1, &remote, 1, 0);
        if (moved <= 0)
            return shmemi_fail_errno("copying %zu bytes from or to the memory of PE %d through the kernel",
                                     bytes - done, there->owner);
        done += (size_t)moved;
    }
    return 0;
}

static int kernel_put(const struct shmemi_remote_memory *to, size_t offset, const void *from, size_t bytes,
                      bool overlap)
{
    (void)overlap; /* two processes' own memories cannot */
    return through_kernel(process_vm_writev, to, offset, (void *)(uintptr_t)from, bytes);
}

static int kernel_get(void *to, const struct shmemi_remote_memory *from, size_t offset, size_t bytes, bool overlap)
{
    (void)overlap;
    return through_kernel(process_vm_readv, from, offset, to, bytes);
}

const struct shmemi_path shmemi_path_kernel = {.name = "kernel", .put = kernel_put, .get = kernel_get};

static int device_put(const struct shmemi_remote_memory *to, size_t offset, const void *from, size_t bytes,
                      bool overlap)
{
    (void)overlap; /* as the device has it */
    return shmemi_device_copy_known(to->base + offset, from, bytes);
}

static int device_get(void *to, const struct shmemi_remote_memory *from, size_t offset, size_t bytes, bool overlap)
{
    (void)overlap;
    return shmemi_device_copy_known(to, from->base + offset, bytes);
}

const struct shmemi_path shmemi_path_device = {.name = "device", .put = device_put, .get = device_get};

int shmemi_path_probe_kernel(const struct shmemi_remote_memory *memory)
{
    char byte;
    return memory->pid > 0
               ? kernel_get(&byte, memory, 0, 1, false)
               : shmemi_fail(-EPERM, "PE %d is in a PID namespace that cannot be seen from here", memory->owner);
}
