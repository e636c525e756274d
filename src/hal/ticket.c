// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "device.h"

static uint64_t pid_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void shmemi_device_begin_ticket(struct shmemi_device_ticket *out, enum shmemi_device_way way, size_t bytes,
                                int32_t owner)
{
    memset(out, 0, sizeof *out); /* no padding of ours goes to others */
    out->magic = SHMEMI_TICKET_MAGIC;
    out->way = way;
    out->bytes = bytes;
    out->owner = owner;
    out->pid = (int32_t)getpid();
    out->pid_namespace = pid_namespace();
}

int shmemi_device_check_ticket(const struct shmemi_device_ticket *ticket, int32_t self)
{
    if (ticket->magic != SHMEMI_TICKET_MAGIC || ticket->way < SHMEMI_WAY_DESCRIPTOR ||
        ticket->way > SHMEMI_WAY_STAND_IN_CUDA)
        return shmemi_fail(-EINVAL, "this is no ticket for a device's memory");
    if (ticket->bytes == 0 || ticket->bytes > SIZE_MAX / 2 || ticket->owner <= 0 ||
        (ticket->way == SHMEMI_WAY_KEY && !memchr(ticket->key, 0, sizeof ticket->key)))
        return shmemi_fail(-EINVAL, "a ticket for a device's memory is damaged");
    if (ticket->owner == self)
        return shmemi_fail(-EINVAL, "this process owns that device memory already: it is used as it is, not imported");
    return 0;
}

/* Ended, whether or not its parent has taken note. */
static bool has_ended(int32_t pid)
{
    char path[32], text[512];
    if (kill(pid, 0) < 0)
        return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[bytes > 0 ? bytes : 0] = 0;
    const char *after = strrchr(text, ')'); /* the name before it may hold anything */
    return after && after[1] == ' ' && (after[2] == 'Z' || after[2] == 'X');
}

bool shmemi_device_owner_is_near(const struct shmemi_device_ticket *ticket)
{
    return ticket->pid > 0 && ticket->pid_namespace && ticket->pid_namespace == pid_namespace();
}

bool shmemi_device_owner_is_gone(const struct shmemi_device_ticket *ticket)
{
    return shmemi_device_owner_is_near(ticket) && has_ended(ticket->pid);
}

const char *shmemi_device_way_name(enum shmemi_device_way way)
{
    switch (way) {
    case SHMEMI_WAY_NONE:
        break;
    case SHMEMI_WAY_DESCRIPTOR:
    case SHMEMI_WAY_STAND_IN_NPU:
    case SHMEMI_WAY_STAND_IN_CUDA:
        return "file descriptors";
    case SHMEMI_WAY_HANDLE_V2:
        return "shareable handles (second interface)";
    case SHMEMI_WAY_HANDLE_V1:
        return "shareable handles (first interface)";
    case SHMEMI_WAY_KEY:
        return "keys";
    case SHMEMI_WAY_LEGACY:
        return "older handles";
    }
    return "not at all";
}
