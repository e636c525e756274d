// SPDX-License-Identifier: Apache-2.0
// Memory: physical memory mapped at reserved addresses, shared as numbers with a list of processes that may import it;
// or, where the driver cannot do that, memory in one piece that is shared by a key.
#include <errno.h>
#include <string.h>

#include "ascend.h"
#include "base/error.h"

enum { HUGE_PAGE = 2 << 20 };

#define VMM                                                                                                            \
    "aclrtReserveMemAddress", "aclrtReleaseMemAddress", "aclrtMallocPhysical", "aclrtFreePhysical", "aclrtMapMem",     \
        "aclrtUnmapMem", "aclrtMemGetAllocationGranularity"
static const char *const calls_v2[] = {VMM, "aclrtMemExportToShareableHandleV2", "aclrtMemSetPidToShareableHandleV2",
                                       "aclrtMemImportFromShareableHandleV2", NULL};
static const char *const calls_v1[] = {VMM, "aclrtMemExportToShareableHandle", "aclrtMemSetPidToShareableHandle",
                                       "aclrtMemImportFromShareableHandle", NULL};
static const char *const calls_key[] = {"aclrtIpcMemGetExportKey", "aclrtIpcMemSetImportPid", "aclrtIpcMemImportByKey",
                                        "aclrtIpcMemClose", NULL};

static int has_way(enum shmemi_device_way way)
{
    return shmemi_ascend_has(way == SHMEMI_WAY_HANDLE_V2   ? calls_v2
                             : way == SHMEMI_WAY_HANDLE_V1 ? calls_v1
                                                           : calls_key);
}

int shmemi_ascend_way(enum shmemi_device_way *out)
{
    *out = SHMEMI_WAY_HANDLE_V2;
    if (has_way(*out) == 0)
        return 0;
    *out = SHMEMI_WAY_KEY;
    int key = has_way(*out);
    *out = SHMEMI_WAY_HANDLE_V1;
    int rc = has_way(*out);
    if (rc < 0 && key == 0) {
        *out = SHMEMI_WAY_KEY;
        return 0;
    }
    return rc;
}

/* Maps memory->handle. Undoes what it did when it fails. */
static int map(struct shmemi_device_memory *memory)
{
    struct shmemi_ascend_access access = {.flags = ACL_READ_WRITE,
                                          .location = {(uint32_t)memory->device, ACL_ON_DEVICE}};
    void *handle = (void *)(uintptr_t)memory->handle;
    int rc = SHMEMI_ASCEND(aclrtReserveMemAddress, &memory->address, memory->bytes, 0, NULL, 0);
    if (rc < 0)
        return rc;
    if ((rc = SHMEMI_ASCEND(aclrtMapMem, memory->address, memory->bytes, 0, handle, 0)) == 0 &&
        shmemi_ascend.aclrtMemSetAccess &&
        (rc = SHMEMI_ASCEND(aclrtMemSetAccess, memory->address, memory->bytes, &access, 1)) < 0)
        shmemi_ascend.aclrtUnmapMem(memory->address);
    if (rc < 0)
        shmemi_ascend.aclrtReleaseMemAddress(memory->address);
    return rc;
}

static int create(size_t bytes, struct shmemi_device_memory *out)
{
    struct shmemi_ascend_properties wanted = {.attribute = ACL_HBM_HUGE,
                                              .location = {(uint32_t)out->device, ACL_ON_DEVICE}};
    void *handle = NULL;
    size_t unit = 0;
    int rc = SHMEMI_ASCEND(aclrtMemGetAllocationGranularity, &wanted, 0, &unit);
    if (rc < 0)
        return rc;
    out->bytes = (bytes + unit - 1) / unit * unit;
    if ((rc = SHMEMI_ASCEND(aclrtMallocPhysical, &handle, out->bytes, &wanted, 0)) < 0)
        return rc;
    out->handle = (uintptr_t)handle;
    if ((rc = map(out)) < 0)
        shmemi_ascend.aclrtFreePhysical(handle);
    return rc;
}

/* Shared by a key, or not at all. Whole huge pages, so that nothing else lies in what is shared. */
static int create_plain(size_t bytes, struct shmemi_device_memory *out)
{
    out->way = has_way(SHMEMI_WAY_KEY) == 0 ? SHMEMI_WAY_KEY : SHMEMI_WAY_NONE;
    out->bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    return SHMEMI_ASCEND(aclrtMalloc, &out->address, out->bytes, ACL_HUGE_ONLY);
}

int shmemi_ascend_allocate(int device, size_t bytes, struct shmemi_device_memory *out)
{
    struct shmemi_device_current before;
    *out = (struct shmemi_device_memory){.device = device};
    if (bytes == 0)
        return shmemi_fail(-EINVAL, "0 bytes of Ascend memory cannot be allocated");
    if (bytes > SIZE_MAX / 2)
        return shmemi_fail(-ENOMEM, "%zu bytes of Ascend memory are more than there can be", bytes);
    int rc = shmemi_ascend_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = shmemi_ascend_way(&out->way) < 0 || out->way == SHMEMI_WAY_KEY ? create_plain(bytes, out) : create(bytes, out);
    /* Virtual devices have the calls and refuse them. */
    if (rc == -ENOTSUP && out->way != SHMEMI_WAY_KEY && out->way != SHMEMI_WAY_NONE)
        rc = create_plain(bytes, out);
    if (rc < 0) {
        out->address = NULL;
        shmemi_fail_in(rc, "%zu bytes on Ascend device %d", bytes, device);
    }
    shmemi_ascend_leave(&before);
    return rc;
}

void shmemi_ascend_release(struct shmemi_device_memory *memory)
{
    struct shmemi_device_current before;
    if (!memory->address || shmemi_ascend_enter(memory->device, &before) < 0)
        return;
    if (memory->way == SHMEMI_WAY_KEY || memory->way == SHMEMI_WAY_NONE) {
        if (*memory->key)
            shmemi_ascend.aclrtIpcMemClose(memory->key);
        if (!memory->imported && !memory->adopted)
            shmemi_ascend.aclrtFree(memory->address);
    } else {
        shmemi_ascend.aclrtUnmapMem(memory->address);
        shmemi_ascend.aclrtFreePhysical((void *)(uintptr_t)memory->handle);
        shmemi_ascend.aclrtReleaseMemAddress(memory->address);
    }
    shmemi_ascend_leave(&before);
    memory->address = NULL;
}

/* The list of processes stays on: a driver that cannot take it is an error, not a reason to let everybody in. */
static int share(struct shmemi_device_memory *memory, int32_t *list, size_t count, struct shmemi_device_ticket *ticket)
{
    void *handle = (void *)(uintptr_t)memory->handle;
    int rc;
    if (memory->way == SHMEMI_WAY_KEY) {
        rc = *memory->key ? 0
                          : SHMEMI_ASCEND(aclrtIpcMemGetExportKey, memory->address, memory->bytes, memory->key,
                                          ACL_KEY_BYTES, 0);
        memcpy(ticket->key, memory->key, sizeof ticket->key);
        return rc < 0 || !count ? rc : SHMEMI_ASCEND(aclrtIpcMemSetImportPid, memory->key, list, count);
    }
    if (memory->way == SHMEMI_WAY_HANDLE_V2) {
        rc = SHMEMI_ASCEND(aclrtMemExportToShareableHandleV2, handle, 0, ACL_SHARED_DEFAULT, &ticket->handle);
        return rc < 0 || !count
                   ? rc
                   : SHMEMI_ASCEND(aclrtMemSetPidToShareableHandleV2, &ticket->handle, ACL_SHARED_DEFAULT, list, count);
    }
    rc = SHMEMI_ASCEND(aclrtMemExportToShareableHandle, handle, 0, 0, &ticket->handle);
    return rc < 0 || !count ? rc : SHMEMI_ASCEND(aclrtMemSetPidToShareableHandle, ticket->handle, list, count);
}

int shmemi_ascend_export_memory(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,
                                struct shmemi_device_ticket *ticket, int *descriptor)
{
    struct shmemi_device_current before;
    *descriptor = -1;
    memset(ticket, 0, sizeof *ticket);
    if (memory->imported)
        return shmemi_fail(-EINVAL, "memory that was imported is exported by its owner only");
    int32_t self;
    enum shmemi_device_way missing;
    int rc = shmemi_ascend_identify(memory->device, &self);
    if (rc == 0 && memory->way == SHMEMI_WAY_NONE && (rc = shmemi_ascend_way(&missing)) == 0)
        rc = shmemi_fail(-ENOTSUP, "this Ascend device cannot share its memory with other processes");
    if (rc < 0)
        return rc;
    shmemi_device_begin_ticket(ticket, memory->way, memory->bytes, self);
    if ((rc = shmemi_ascend_id(memory->device, ticket->id)) < 0 ||
        (rc = shmemi_ascend_enter(memory->device, &before)) < 0)
        return rc;
    rc = share(memory, (int32_t *)(uintptr_t)processes, count, ticket);
    shmemi_ascend_leave(&before);
    return rc;
}

/* --- what others allocated ---------------------------------------------------------------------------------------- */

/* Keys are of whole pages, in which other memory of this process may lie: those around the allocation; or around the
   range, where the driver does not tell the allocation. */
static int pages_of(const void *address, size_t bytes, const struct shmemi_device_pointer *what, size_t page,
                    struct shmemi_device_memory *out)
{
    uintptr_t begin = (uintptr_t)(what->base ? what->base : address);
    size_t whole = what->base ? what->bytes : bytes, before = what->base ? (uintptr_t)address - begin : 0;
    if (bytes == 0 || bytes > SIZE_MAX / 2 || bytes > whole - before)
        return shmemi_fail(-EINVAL, "the allocation of Ascend memory at %p has %zu bytes from there on, not %zu",
                           address, whole - before, bytes);
    page = page ? page : HUGE_PAGE;
    out->address = (void *)(begin / page * page);
    out->bytes = (begin % page + whole + page - 1) / page * page;
    return 0;
}

static int make_key(struct shmemi_device_memory *memory, const void *address)
{
    struct shmemi_device_current before;
    int rc = shmemi_ascend_enter(memory->device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtIpcMemGetExportKey, memory->address, memory->bytes, memory->key, ACL_KEY_BYTES, 0);
    shmemi_ascend_leave(&before);
    return rc < 0
               ? shmemi_fail_in(rc,
                                "the pages of the Ascend memory at %p cannot be shared; copy it into memory of a pool "
                                "of this library",
                                address)
               : 0;
}

int shmemi_ascend_adopt(const void *address, size_t bytes, struct shmemi_device_memory *out)
{
    struct shmemi_device_pointer what;
    size_t page = 0;
    *out = (struct shmemi_device_memory){.adopted = true, .way = SHMEMI_WAY_KEY};
    int rc = shmemi_ascend_pointer(address, &what, &page);
    if (rc == 0 && !what.device)
        return shmemi_fail(-EINVAL, "%p is not memory of an Ascend device, or it was freed", address);
    if (rc == 0)
        rc = has_way(SHMEMI_WAY_KEY);
    if (rc == -ENOTSUP)
        return shmemi_fail_in(
            rc, "Ascend memory that others allocated is shared by keys, and this driver has none: copy it "
                "into memory of a pool of this library");
    out->device = what.number;
    if (rc == 0 && (rc = pages_of(address, bytes, &what, page, out)) == 0)
        rc = make_key(out, address);
    if (rc < 0)
        out->address = NULL;
    return rc;
}

int shmemi_ascend_allocate_plain(int device, size_t bytes, void **out)
{
    struct shmemi_device_current before;
    int rc = shmemi_ascend_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtMalloc, out, bytes, ACL_HUGE_FIRST);
    shmemi_ascend_leave(&before);
    return rc;
}

int shmemi_ascend_free_plain(int device, void *address)
{
    struct shmemi_device_current before;
    int rc = shmemi_ascend_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtFree, address);
    shmemi_ascend_leave(&before);
    return rc;
}

/* --- import ------------------------------------------------------------------------------------------------------- */

static int import_handle(const struct shmemi_device_ticket *ticket, struct shmemi_device_memory *out)
{
    uint64_t number = ticket->handle;
    void *handle = NULL;
    int rc = ticket->way == SHMEMI_WAY_HANDLE_V2
                 ? SHMEMI_ASCEND(aclrtMemImportFromShareableHandleV2, &number, ACL_SHARED_DEFAULT, 0, &handle)
                 : SHMEMI_ASCEND(aclrtMemImportFromShareableHandle, number, out->device, &handle);
    if (rc < 0)
        return rc;
    out->handle = (uintptr_t)handle;
    out->bytes = ticket->bytes;
    if ((rc = map(out)) < 0)
        shmemi_ascend.aclrtFreePhysical(handle);
    return rc;
}

static int import_key(const struct shmemi_device_ticket *ticket, struct shmemi_device_memory *out)
{
    void *base = NULL;
    size_t whole = 0;
    memcpy(out->key, ticket->key, sizeof out->key);
    out->bytes = ticket->bytes;
    int rc = SHMEMI_ASCEND(aclrtIpcMemImportByKey, &out->address, out->key, 1);
    if (rc < 0 || !shmemi_ascend.aclrtMemGetAddressRange ||
        shmemi_ascend.aclrtMemGetAddressRange(out->address, &base, &whole) != 0)
        return rc;
    size_t left = whole - (size_t)((char *)out->address - (char *)base);
    if (left >= out->bytes)
        return 0;
    shmemi_ascend.aclrtIpcMemClose(out->key);
    return shmemi_fail(-EINVAL, "a ticket for Ascend memory says %zu bytes, and what it opens has %zu", out->bytes,
                       left);
}

static int import_on(const struct shmemi_device_ticket *ticket, struct shmemi_device_memory *out)
{
    int rc = has_way(out->way);
    if (rc == 0)
        rc = out->way == SHMEMI_WAY_KEY ? import_key(ticket, out) : import_handle(ticket, out);
    if (rc < 0 && shmemi_device_owner_is_gone(ticket))
        rc = shmemi_fail_in(-ESTALE, "the process %d that owns this Ascend memory is gone", ticket->pid);
    if (rc < 0)
        out->address = NULL;
    return rc;
}

int shmemi_ascend_import_memory(const struct shmemi_device_ticket *ticket, int descriptor, int device,
                                struct shmemi_device_memory *out)
{
    struct shmemi_device_current before;
    int32_t self;
    int home, rc = shmemi_ascend_identify(device, &self);
    (void)descriptor;
    *out = (struct shmemi_device_memory){.device = device, .imported = true};
    if (rc < 0 || (rc = shmemi_device_check_ticket(ticket, self)) < 0)
        return rc;
    if (ticket->way != SHMEMI_WAY_HANDLE_V2 && ticket->way != SHMEMI_WAY_HANDLE_V1 && ticket->way != SHMEMI_WAY_KEY)
        return shmemi_fail(-EINVAL, "a ticket of way %u is not for Ascend memory", ticket->way);
    out->way = ticket->way;
    if ((rc = shmemi_ascend_find(ticket->id, &home)) == 0 && out->way == SHMEMI_WAY_KEY && home != device)
        rc =
            shmemi_fail(-ENOTSUP,
                        "this Ascend driver shares memory by keys only, and such memory of device %d can not be copied "
                        "between host and device %d: import it for device %d",
                        home, device, home);
    if (rc < 0 || (rc = shmemi_ascend_reach(device, home)) < 0 || (rc = shmemi_ascend_enter(device, &before)) < 0)
        return rc;
    rc = import_on(ticket, out);
    shmemi_ascend_leave(&before);
    return rc;
}
