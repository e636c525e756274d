// SPDX-License-Identifier: Apache-2.0
// Memory: memfds, mapped where a device's memory would be. What was adopted stays where it is.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "hal/hal.h"
#include "stand_in.h"

enum { UNIT = 2 << 20 }; /* as devices map memory */

/* What was allocated or imported: for those who ask what an address is. */
struct block {
    struct block *next;
    char *begin;
    size_t bytes;
    uint64_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static uint64_t ids;

static int note(const struct shmemi_device_memory *memory)
{
    struct block *b = malloc(sizeof *b);
    if (!b)
        return shmemi_fail(-ENOMEM, "no memory to keep account of what stands in for a device's");
    pthread_mutex_lock(&lock);
    *b = (struct block){.next = blocks, .begin = memory->address, .bytes = memory->bytes, .id = ++ids};
    blocks = b;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void forget(const void *begin)
{
    pthread_mutex_lock(&lock);
    struct block **at = &blocks;
    while (*at && (*at)->begin != begin)
        at = &(*at)->next;
    struct block *gone = *at;
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
}

/* At a multiple of 2 MiB, so that all alignments that a pool gives are true of addresses, too. */
static int map(struct shmemi_device_memory *memory)
{
    char *room = mmap(NULL, memory->bytes + UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return shmemi_fail_errno("%zu bytes of address space", memory->bytes + UNIT);
    char *at = room + (-(uintptr_t)room & (UNIT - 1));
    int rc = shmemi_hal_host.map((int)memory->handle, 0, memory->bytes, SHMEMI_READ_WRITE, at, &memory->address);
    if (rc < 0) {
        munmap(room, memory->bytes + UNIT);
        return rc;
    }
    if (at > room)
        munmap(room, (size_t)(at - room));
    munmap(at + memory->bytes, (size_t)(room + UNIT - at));
    if ((rc = note(memory)) < 0)
        munmap(memory->address, memory->bytes);
    return rc;
}

int shmemi_stand_in_allocate(const struct shmemi_stand_in *type, int device, size_t bytes,
                             struct shmemi_device_memory *out)
{
    int fd = -1, rc = shmemi_stand_in_check(device);
    *out = (struct shmemi_device_memory){.device = device, .way = type->way};
    if (rc == 0 && bytes == 0)
        rc = shmemi_fail(-EINVAL, "0 bytes of memory cannot be allocated");
    if (rc == 0 && bytes > SIZE_MAX / 4)
        rc = shmemi_fail(-ENOMEM, "%zu bytes of memory are more than there can be", bytes);
    if (rc < 0)
        return rc;
    out->bytes = (bytes + UNIT - 1) / UNIT * UNIT;
    if ((rc = shmemi_hal_host.create("shmem stand-in", out->bytes, NULL, &fd)) < 0)
        return rc;
    out->handle = (uint64_t)fd;
    if ((rc = shmemi_hal_host.reserve(fd, 0, out->bytes)) < 0 || (rc = map(out)) < 0) {
        close(fd);
        out->address = NULL;
    }
    return rc;
}

void shmemi_stand_in_release(struct shmemi_device_memory *memory)
{
    if (!memory->address || memory->adopted)
        return;
    forget(memory->address);
    if (memory->imported && (int)memory->handle < 0) {
        shmemi_stand_in_let_go(memory->address);
    } else {
        munmap(memory->address, memory->bytes);
        close((int)memory->handle);
    }
    memory->address = NULL;
}

/* --- sharing ------------------------------------------------------------------------------------------------------ */

int shmemi_stand_in_export(const struct shmemi_stand_in *type, const struct shmemi_device_memory *memory,
                           struct shmemi_device_ticket *ticket, int *descriptor)
{
    *descriptor = -1;
    if (memory->imported)
        return shmemi_fail(-EINVAL, "memory that was imported is exported by its owner only");
    shmemi_device_begin_ticket(ticket, type->way, memory->bytes, (int32_t)getpid());
    memcpy(ticket->id, type->id, sizeof ticket->id);
    ticket->handle = memory->adopted ? (uintptr_t)memory->address : 0;
    if (memory->adopted)
        return 0;
    *descriptor = fcntl((int)memory->handle, F_DUPFD_CLOEXEC, 0);
    return *descriptor < 0 ? shmemi_fail_errno("a descriptor for who imports memory") : 0;
}

static int import_descriptor(const struct shmemi_device_ticket *ticket, int descriptor,
                             struct shmemi_device_memory *out)
{
    if (descriptor < 0)
        return shmemi_fail(-EINVAL, "memory was imported without the descriptor that belongs to it");
    int rc = shmemi_hal_host.check(descriptor, ticket->bytes);
    if (rc < 0)
        return shmemi_fail(-EINVAL, "the descriptor that came with a ticket is not of %llu bytes of shared memory",
                           (unsigned long long)ticket->bytes);
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return shmemi_fail_errno("a descriptor of imported memory");
    out->handle = (uint64_t)own;
    if ((rc = map(out)) < 0)
        close(own);
    return rc;
}

static int import_distant(const struct shmemi_device_ticket *ticket, struct shmemi_device_memory *out)
{
    int rc = shmemi_stand_in_reach_out(ticket, &out->address);
    out->handle = (uint64_t)-1;
    if (rc == 0 && (rc = note(out)) < 0)
        shmemi_stand_in_let_go(out->address);
    return rc;
}

int shmemi_stand_in_import(const struct shmemi_stand_in *type, const struct shmemi_device_ticket *ticket,
                           int descriptor, int device, struct shmemi_device_memory *out)
{
    int rc = shmemi_device_check_ticket(ticket, (int32_t)getpid());
    *out = (struct shmemi_device_memory){.device = device, .imported = true, .way = type->way};
    if (rc == 0 && ticket->way != (uint32_t)type->way)
        rc = shmemi_fail(-EINVAL, "a ticket of way %u is not for memory that stands in for a device's", ticket->way);
    if (rc == 0 && memcmp(ticket->id, type->id, sizeof type->id))
        rc = shmemi_fail(-ENODEV, "the memory is not among what stands in for devices of type '%s'", type->type);
    if (rc < 0 || (rc = shmemi_stand_in_check(device)) < 0)
        return rc;
    out->bytes = ticket->bytes;
    rc = ticket->handle ? import_distant(ticket, out) : import_descriptor(ticket, descriptor, out);
    if (rc < 0)
        out->address = NULL;
    return rc;
}

/* --- what others allocated ---------------------------------------------------------------------------------------- */

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of whole pages. The call has no other effect on this memory. */
static bool is_mapped(const char *begin, size_t bytes)
{
    return msync((void *)(uintptr_t)begin, bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

int shmemi_stand_in_describe_pointer(const void *address, struct shmemi_device_pointer *out)
{
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&lock);
    const struct block *b = blocks;
    while (b && (uintptr_t)address - (uintptr_t)b->begin >= b->bytes)
        b = b->next;
    if (b)
        *out = (struct shmemi_device_pointer){.device = true, .base = b->begin, .bytes = b->bytes, .id = b->id};
    pthread_mutex_unlock(&lock);
    const char *whole = (const char *)address - (uintptr_t)address % page();
    return out->device || !is_mapped(whole, page())
               ? 0
               : shmemi_fail(-ENOTSUP,
                             "%p is host memory, any of which may stand in for a device's: nothing tells whether it "
                             "does",
                             address);
}

int shmemi_stand_in_adopt(const struct shmemi_stand_in *type, const void *address, size_t bytes,
                          struct shmemi_device_memory *out)
{
    const char *begin = (const char *)address - (uintptr_t)address % page();
    size_t whole = (bytes + (uintptr_t)address % page() + page() - 1) / page() * page();
    *out = (struct shmemi_device_memory){
        .address = (void *)(uintptr_t)begin, .bytes = whole, .adopted = true, .way = type->way};
    return bytes && bytes < SIZE_MAX / 4 && is_mapped(begin, whole)
               ? 0
               : shmemi_fail(-EINVAL, "%zu bytes at %p are no memory, or not all of it", bytes, address);
}
