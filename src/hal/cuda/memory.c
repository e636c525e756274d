// SPDX-License-Identifier: Apache-2.0
// Memory: by the driver's virtual memory calls, shared as descriptors; and what others allocated, by the older handles.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cuda.h"

static const char *const vmm[] = {"cuMemGetAllocationGranularity",
                                  "cuMemCreate",
                                  "cuMemRelease",
                                  "cuMemAddressReserve",
                                  "cuMemAddressFree",
                                  "cuMemMap",
                                  "cuMemUnmap",
                                  "cuMemSetAccess",
                                  "cuMemExportToShareableHandle",
                                  "cuMemImportFromShareableHandle",
                                  NULL};

/* Maps memory->handle (memory->bytes long) and lets memory->device touch it. Undoes what it did when it fails. */
static int map(struct shmemi_device_memory *memory)
{
    const cuda_access access = {.location = {CUDA_ON_DEVICE, memory->device}, .flags = CUDA_READ_WRITE};
    cuda_address at = 0;
    int rc = SHMEMI_CUDA(cuMemAddressReserve, &at, memory->bytes, 0, 0, 0);
    if (rc < 0)
        return rc;
    if ((rc = SHMEMI_CUDA(cuMemMap, at, memory->bytes, 0, memory->handle, 0)) == 0 &&
        (rc = SHMEMI_CUDA(cuMemSetAccess, at, memory->bytes, &access, 1)) < 0)
        shmemi_cuda.cuMemUnmap(at, memory->bytes);
    if (rc < 0)
        shmemi_cuda.cuMemAddressFree(at, memory->bytes);
    memory->address = (void *)(uintptr_t)at;
    return rc;
}

static int create(size_t bytes, struct shmemi_device_memory *out)
{
    const cuda_properties wanted = {
        .type = CUDA_PINNED, .handle_types = CUDA_DESCRIPTOR, .location = {CUDA_ON_DEVICE, out->device}};
    cuda_memory handle = 0;
    size_t unit = 0;
    int rc = SHMEMI_CUDA(cuMemGetAllocationGranularity, &unit, &wanted, 0);
    if (rc < 0)
        return rc;
    if (bytes > SIZE_MAX - unit)
        return shmemi_fail(-ENOMEM, "%zu bytes of CUDA memory are more than there can be", bytes);
    out->bytes = (bytes + unit - 1) / unit * unit;
    if ((rc = SHMEMI_CUDA(cuMemCreate, &handle, out->bytes, &wanted, 0)) < 0)
        return shmemi_fail_in(rc, "%zu bytes on CUDA device %d", out->bytes, out->device);
    out->handle = handle;
    if ((rc = map(out)) < 0)
        shmemi_cuda.cuMemRelease(handle);
    return rc;
}

int shmemi_cuda_allocate(int device, size_t bytes, struct shmemi_device_memory *out)
{
    struct shmemi_device_current before;
    *out = (struct shmemi_device_memory){.device = device, .way = SHMEMI_WAY_DESCRIPTOR};
    if (bytes == 0)
        return shmemi_fail(-EINVAL, "0 bytes of CUDA memory cannot be allocated");
    int rc = shmemi_cuda_enter(device, &before);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_cuda_has(vmm)) == 0)
        rc = create(bytes, out);
    shmemi_cuda_leave(&before);
    return rc;
}

void shmemi_cuda_release(struct shmemi_device_memory *memory)
{
    struct shmemi_device_current before;
    cuda_address at = (uintptr_t)memory->address;
    if (!memory->address || memory->adopted || shmemi_cuda_enter(memory->device, &before) < 0)
        return;
    if (memory->way == SHMEMI_WAY_LEGACY) {
        shmemi_cuda.cuIpcCloseMemHandle(at);
    } else {
        shmemi_cuda.cuMemUnmap(at, memory->bytes);
        shmemi_cuda.cuMemAddressFree(at, memory->bytes);
        shmemi_cuda.cuMemRelease(memory->handle);
    }
    shmemi_cuda_leave(&before);
    memory->address = NULL;
}

static int fill_ticket(int device, enum shmemi_device_way way, size_t bytes, struct shmemi_device_ticket *ticket)
{
    shmemi_device_begin_ticket(ticket, way, bytes, (int32_t)getpid());
    return shmemi_cuda_id(device, ticket->id);
}

int shmemi_cuda_export_memory(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,
                              struct shmemi_device_ticket *ticket, int *descriptor)
{
    (void)processes; /* who has the descriptor may import: it is given to those alone */
    (void)count;
    *descriptor = -1;
    if (memory->imported)
        return shmemi_fail(-EINVAL, "memory that was imported is exported by its owner only");
    int rc = fill_ticket(memory->device, memory->way, memory->bytes, ticket);
    if (memory->way == SHMEMI_WAY_LEGACY) {
        memcpy(ticket->key, memory->key, sizeof ticket->key);
        return rc;
    }
    return rc < 0 ? rc : SHMEMI_CUDA(cuMemExportToShareableHandle, descriptor, memory->handle, CUDA_DESCRIPTOR, 0);
}

int shmemi_cuda_describe_pointer(const void *address, struct shmemi_device_pointer *out)
{
    struct shmemi_device_current before;
    unsigned type = 0;
    int ordinal = 0;
    unsigned long long id = 0;
    cuda_address base = 0, at = (uintptr_t)address;
    memset(out, 0, sizeof *out);
    int rc = shmemi_cuda_enter_any(&before);
    if (rc < 0)
        return rc;
    /* An address that the driver does not know is an error to it. */
    if (shmemi_cuda.cuPointerGetAttribute(&type, CUDA_POINTER_TYPE, at) == 0 && type == CUDA_TYPE_DEVICE &&
        (rc = SHMEMI_CUDA(cuPointerGetAttribute, &ordinal, CUDA_POINTER_ORDINAL, at)) == 0) {
        out->device = true;
        out->number = ordinal;
        if (shmemi_cuda.cuMemGetAddressRange_v2(&base, &out->bytes, at) == 0)
            out->base = (void *)(uintptr_t)base;
        if (shmemi_cuda.cuPointerGetAttribute(&id, CUDA_POINTER_BUFFER, at) == 0)
            out->id = id;
    }
    shmemi_cuda_leave(&before);
    return rc;
}

/* --- what others allocated ---------------------------------------------------------------------------------------- */

static int legacy_handle(struct shmemi_device_memory *memory, const void *address)
{
    struct shmemi_device_current before;
    cuda_address base = (uintptr_t)memory->address;
    cuda_ipc handle;
    int capable = 0, rc = shmemi_cuda_enter(memory->device, &before);
    if (rc < 0)
        return rc;
    /* Drivers that do not know the question have no other memory. */
    if (shmemi_cuda.cuPointerGetAttribute(&capable, CUDA_POINTER_LEGACY, base) == 0 && !capable)
        rc = shmemi_fail(-ENOTSUP,
                         "the CUDA memory at %p was allocated in a way that other processes cannot import: by virtual "
                         "memory calls (PyTorch's expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF), from a memory "
                         "pool (cudaMallocAsync), as managed memory, or by another process. Turn that off, or copy it "
                         "into memory of a pool of this library",
                         address);
    else
        rc = SHMEMI_CUDA(cuIpcGetMemHandle, &handle, base);
    if (rc == 0)
        memcpy(memory->key, &handle, sizeof handle);
    shmemi_cuda_leave(&before);
    return rc;
}

int shmemi_cuda_adopt(const void *address, size_t bytes, struct shmemi_device_memory *out)
{
    struct shmemi_device_pointer what;
    *out = (struct shmemi_device_memory){.adopted = true, .way = SHMEMI_WAY_LEGACY};
    int rc = shmemi_cuda_describe_pointer(address, &what);
    if (rc < 0)
        return rc;
    if (!what.device || !what.base)
        return shmemi_fail(-EINVAL, "%p is not memory of a CUDA device, or it was freed", address);
    size_t offset = (size_t)((uintptr_t)address - (uintptr_t)what.base);
    out->device = what.number;
    out->bytes = what.bytes;
    out->address = what.base;
    /* How it was allocated comes first: that of virtual memory calls may go over several pieces. */
    if ((rc = legacy_handle(out, address)) == 0 && (bytes == 0 || bytes > what.bytes - offset))
        rc = shmemi_fail(-EINVAL, "the allocation of CUDA memory at %p has %zu bytes from there on, not %zu", address,
                         what.bytes - offset, bytes);
    if (rc < 0)
        out->address = NULL;
    return rc;
}

int shmemi_cuda_allocate_plain(int device, size_t bytes, void **out)
{
    struct shmemi_device_current before;
    cuda_address at = 0;
    int rc = shmemi_cuda_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_CUDA(cuMemAlloc_v2, &at, bytes);
    shmemi_cuda_leave(&before);
    *out = (void *)(uintptr_t)at;
    return rc;
}

int shmemi_cuda_free_plain(int device, void *address)
{
    struct shmemi_device_current before;
    int rc = shmemi_cuda_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_CUDA(cuMemFree_v2, (uintptr_t)address);
    shmemi_cuda_leave(&before);
    return rc;
}

/* --- import ------------------------------------------------------------------------------------------------------- */

/* A descriptor keeps the memory alive, whatever becomes of its owner. */
static int import_descriptor(const struct shmemi_device_ticket *ticket, int descriptor,
                             struct shmemi_device_memory *out)
{
    cuda_memory handle = 0;
    int rc = shmemi_cuda_has(vmm);
    if (rc == 0 && descriptor < 0)
        rc = shmemi_fail(-EINVAL, "CUDA memory was imported without the descriptor that belongs to it");
    if (rc == 0)
        rc = SHMEMI_CUDA(cuMemImportFromShareableHandle, &handle, (void *)(uintptr_t)descriptor, CUDA_DESCRIPTOR);
    if (rc < 0)
        return rc;
    out->handle = handle;
    out->bytes = ticket->bytes;
    if ((rc = map(out)) < 0)
        shmemi_cuda.cuMemRelease(handle);
    return rc;
}

static int import_legacy(const struct shmemi_device_ticket *ticket, struct shmemi_device_memory *out)
{
    static const char *const needed[] = {"cuIpcOpenMemHandle_v2", NULL};
    cuda_address at = 0, base = 0;
    size_t whole = 0;
    cuda_ipc handle;
    memcpy(&handle, ticket->key, sizeof handle);
    int rc = shmemi_cuda_has(needed);
    if (rc == 0)
        rc = SHMEMI_CUDA(cuIpcOpenMemHandle_v2, &at, handle, CUDA_IPC_LAZY_PEER);
    if (rc < 0)
        return shmemi_device_owner_is_gone(ticket)
                   ? shmemi_fail_in(-ESTALE, "the process %d that owns this CUDA memory is gone", ticket->pid)
                   : rc;
    if ((rc = SHMEMI_CUDA(cuMemGetAddressRange_v2, &base, &whole, at)) == 0 && ticket->bytes > whole - (at - base))
        rc = shmemi_fail(-EINVAL, "a ticket for CUDA memory says %llu bytes, and what it opens has %zu",
                         (unsigned long long)ticket->bytes, whole - (size_t)(at - base));
    if (rc < 0)
        shmemi_cuda.cuIpcCloseMemHandle(at);
    out->bytes = ticket->bytes;
    out->address = (void *)(uintptr_t)at;
    return rc;
}

int shmemi_cuda_import_memory(const struct shmemi_device_ticket *ticket, int descriptor, int device,
                              struct shmemi_device_memory *out)
{
    struct shmemi_device_current before;
    int home, rc = shmemi_device_check_ticket(ticket, (int32_t)getpid());
    *out = (struct shmemi_device_memory){.device = device, .imported = true};
    if (rc < 0)
        return rc;
    if (ticket->way != SHMEMI_WAY_DESCRIPTOR && ticket->way != SHMEMI_WAY_LEGACY)
        return shmemi_fail(-EINVAL, "a ticket of way %u is not for CUDA memory", ticket->way);
    out->way = ticket->way;
    if ((rc = shmemi_cuda_find(ticket->id, &home)) < 0 || (rc = shmemi_cuda_reach(device, home)) < 0 ||
        (rc = shmemi_cuda_enter(device, &before)) < 0)
        return rc;
    rc = ticket->way == SHMEMI_WAY_LEGACY ? import_legacy(ticket, out) : import_descriptor(ticket, descriptor, out);
    shmemi_cuda_leave(&before);
    if (rc < 0)
        out->address = NULL;
    return rc;
}
