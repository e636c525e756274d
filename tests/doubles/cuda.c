// SPDX-License-Identifier: Apache-2.0
// A double of the CUDA driver: its names and signatures over host memory, strict about the order and the arguments of
// calls. AGE: 90 (nothing that came after CUDA 9) or 130 (everything).
#include "double.h"
#include "hal/cuda/driver.h"

enum { INVALID = 1, MEMORY = 2, UNINITIALIZED = 3, NO_CONTEXT = 201, BAD_HANDLE = 400, DEVICES_MOST = 4, DEPTH = 8 };

static bool initialised;
static char contexts[DEVICES_MOST];
static A_THREADS int stack[DEPTH], depth;
static unsigned peers[DEVICES_MOST];

#define ENTER(name)                                                                                                    \
    ALONE;                                                                                                             \
    do {                                                                                                               \
        int code = entered(#name);                                                                                     \
        if (code || !initialised)                                                                                      \
            return code ? code : UNINITIALIZED;                                                                        \
    } while (0)
#define ENTER_WITH_CONTEXT(name)                                                                                       \
    ENTER(name);                                                                                                       \
    if (depth == 0)                                                                                                    \
    return NO_CONTEXT
#define REQUIRE(condition, code)                                                                                       \
    if (!(condition))                                                                                                  \
    return complain(#condition, code)

static int complain(const char *what, int code)
{
    if (getenv("DOUBLE_VERBOSE"))
        fprintf(stderr, "double: cuda: %s does not hold\n", what);
    return code;
}

static int devices(void)
{
    return setting("DOUBLE_DEVICES", 2);
}

static int current(void)
{
    return stack[depth - 1];
}

EXPORTED int cuInit(unsigned flags)
{
    int code = entered("cuInit");
    if (code)
        return code;
    REQUIRE(flags == 0, INVALID);
    initialised = true;
    return setting("DOUBLE_INIT", 0);
}

EXPORTED int cuGetErrorName(int error, const char **out)
{
    *out = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_DOUBLE";
    return 0;
}

EXPORTED int cuGetErrorString(int error, const char **out)
{
    *out = error == 2 ? "out of memory" : "as the double says";
    return 0;
}

EXPORTED int cuDriverGetVersion(int *out)
{
    *out = AGE * 100;
    return 0;
}

EXPORTED int cuDeviceGetCount(int *out)
{
    ENTER(cuDeviceGetCount);
    *out = devices();
    return 0;
}

EXPORTED int cuDeviceGet(int *out, int ordinal)
{
    ENTER(cuDeviceGet);
    REQUIRE(ordinal >= 0 && ordinal < devices(), CUDA_INVALID_DEVICE);
    *out = ordinal;
    return 0;
}

EXPORTED int cuDeviceGetName(char *out, int length, int device)
{
    ENTER(cuDeviceGetName);
    snprintf(out, (size_t)length, "Double %d", device);
    return 0;
}

/* DOUBLE_FIRST: the processes see the devices from this one on. */
EXPORTED int cuDeviceGetUuid_v2(struct shmemi_cuda_uuid *out, int device)
{
    ENTER(cuDeviceGetUuid_v2);
    memset(out, 0x5a, sizeof *out);
    out->bytes[0] = (char)(device + setting("DOUBLE_FIRST", 0));
    return 0;
}

EXPORTED int cuDeviceGetAttribute(int *out, int attribute, int device)
{
    ENTER(cuDeviceGetAttribute);
    REQUIRE(device < devices(), CUDA_INVALID_DEVICE);
    *out = AGE >= 117 &&
           (attribute == CUDA_HAS_VMM || attribute == CUDA_HAS_DESCRIPTORS || attribute == CUDA_HAS_VALUES_64);
    return 0;
}

EXPORTED int cuDevicePrimaryCtxRetain(void **out, int device)
{
    ENTER(cuDevicePrimaryCtxRetain);
    *out = &contexts[device];
    return 0;
}

EXPORTED int cuCtxPushCurrent_v2(void *context)
{
    ENTER(cuCtxPushCurrent_v2);
    REQUIRE(depth < DEPTH && (char *)context >= contexts && (char *)context < contexts + DEVICES_MOST, INVALID);
    stack[depth++] = (int)((char *)context - contexts);
    return 0;
}

EXPORTED int cuCtxGetCurrent(void **context)
{
    ENTER(cuCtxGetCurrent);
    *context = depth ? &contexts[current()] : NULL;
    return 0;
}

EXPORTED int cuCtxPopCurrent_v2(void **context)
{
    ENTER_WITH_CONTEXT(cuCtxPopCurrent_v2);
    *context = &contexts[stack[--depth]];
    return 0;
}

EXPORTED int cuDeviceCanAccessPeer(int *can, int from, int to)
{
    ENTER(cuDeviceCanAccessPeer);
    REQUIRE(from != to, CUDA_INVALID_DEVICE);
    *can = setting("DOUBLE_PEERS", 1);
    return 0;
}

EXPORTED int cuCtxEnablePeerAccess(void *peer, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuCtxEnablePeerAccess);
    int other = (int)((char *)peer - contexts);
    REQUIRE(flags == 0 && other != current(), INVALID);
    REQUIRE(setting("DOUBLE_PEERS", 1), CUDA_PEER_UNSUPPORTED);
    REQUIRE(!(peers[current()] >> other & 1), CUDA_PEER_ALREADY);
    peers[current()] |= 1u << other;
    return 0;
}

EXPORTED int cuStreamCreate(void **out, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuStreamCreate);
    REQUIRE(flags <= 1, INVALID);
    *out = create_stream_on(current());
    return *out ? 0 : MEMORY;
}

EXPORTED int cuStreamSynchronize(void *handle)
{
    ENTER_WITH_CONTEXT(cuStreamSynchronize);
    struct stream *s = stream_of(handle);
    if ((uintptr_t)handle <= 2) /* a default stream: nothing is ever queued there */
        return 0;
    REQUIRE(s, BAD_HANDLE);
    drain(s);
    return 0;
}

EXPORTED int cuStreamQuery(void *handle)
{
    ENTER_WITH_CONTEXT(cuStreamQuery);
    struct stream *s = stream_of(handle);
    REQUIRE(s, BAD_HANDLE);
    return s->count ? CUDA_NOT_READY : 0;
}

EXPORTED int cuStreamDestroy_v2(void *handle)
{
    ENTER_WITH_CONTEXT(cuStreamDestroy_v2);
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->count == 0, BAD_HANDLE);
    s->used = false;
    return 0;
}

EXPORTED int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    ENTER_WITH_CONTEXT(cuMemGetInfo_v2);
    *total = room();
    *available = room() - taken(current());
    return 0;
}

/* Memory of plain calls is reached by whoever was let to its device; the other kind needs cuMemSetAccess. */
static bool reachable(const void *address, size_t bytes, int device)
{
    struct range *r = range_of(address);
    return touchable(address, bytes, device) || (r && r->plain && peers[device] >> r->mapped->device & 1 &&
                                                 bytes <= r->bytes - (size_t)((const char *)address - r->at));
}

EXPORTED int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *handle)
{
    ENTER_WITH_CONTEXT(cuMemcpyAsync);
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), BAD_HANDLE);
    REQUIRE(reachable((void *)to, bytes, s->device) && reachable((void *)from, bytes, s->device), INVALID);
    enqueue(s, (struct operation){.what = COPY, .to = (char *)to, .from = (char *)from, .bytes = bytes});
    return 0;
}

EXPORTED int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t at)
{
    ENTER_WITH_CONTEXT(cuMemGetAddressRange_v2);
    struct range *r = range_of((void *)at);
    REQUIRE(r && r->mapped, INVALID);
    *base = (uintptr_t)r->at;
    *bytes = r->bytes;
    return 0;
}

EXPORTED int cuPointerGetAttribute(void *out, int attribute, uint64_t at)
{
    ENTER_WITH_CONTEXT(cuPointerGetAttribute);
    struct range *r = range_of((void *)at);
    REQUIRE(r && r->mapped && r->mapped->device != ON_HOST, INVALID);
    REQUIRE(attribute != CUDA_POINTER_LEGACY || AGE >= 110, INVALID);
    int value = attribute == CUDA_POINTER_TYPE      ? CUDA_TYPE_DEVICE
                : attribute == CUDA_POINTER_ORDINAL ? r->mapped->device
                                                    : r->plain && !r->mapped->imported;
    if (attribute == CUDA_POINTER_BUFFER)
        memcpy(out, &r->mapped->id, sizeof r->mapped->id);
    else
        memcpy(out, &value, sizeof value);
    return 0;
}

/* --- host memory of the driver's ---------------------------------------------------------------------------------- */

EXPORTED int cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuMemHostAlloc);
    REQUIRE(bytes && flags <= 7, INVALID);
    struct host *h = create_host(bytes, flags & CUDA_HOST_MAPPED);
    REQUIRE(h, MEMORY);
    *out = h->at;
    return 0;
}

EXPORTED int cuMemFreeHost(void *at)
{
    ENTER_WITH_CONTEXT(cuMemFreeHost);
    REQUIRE(host_of(at), INVALID);
    free_host(host_of(at));
    return 0;
}

EXPORTED int cuMemHostGetDevicePointer_v2(uint64_t *out, void *at, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuMemHostGetDevicePointer_v2);
    struct host *h = host_of(at);
    REQUIRE(h && h->seen && flags == 0, INVALID);
    *out = (uintptr_t)h->seen->at;
    return 0;
}

/* --- memory in one call, and the older way to share it ----------------------------------------------------------- */

static struct range *map_plain(struct physical *p)
{
    struct range *r = reserve(p->bytes);
    if (!r)
        return NULL;
    r->mapped = p;
    r->plain = true;
    r->access = 1u << current();
    p->handle = false;
    return r;
}

EXPORTED int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    ENTER_WITH_CONTEXT(cuMemAlloc_v2);
    REQUIRE(bytes && bytes <= room() - taken(current()), MEMORY);
    struct physical *p = create_physical(current(), bytes);
    struct range *r = p ? map_plain(p) : NULL;
    REQUIRE(r, MEMORY);
    *out = (uintptr_t)r->at;
    return 0;
}

/* What was opened is closed in the context that it was opened in. */
static int free_plain(uint64_t at, bool imported)
{
    struct range *r = range_of((void *)at);
    REQUIRE(r && r->plain && r->at == (char *)at && r->mapped->imported == imported, INVALID);
    REQUIRE(!imported || r->access >> current() & 1, NO_CONTEXT);
    drop(r->mapped);
    unreserve(r);
    return 0;
}

EXPORTED int cuMemFree_v2(uint64_t at)
{
    ENTER_WITH_CONTEXT(cuMemFree_v2);
    return free_plain(at, false);
}

/* "process file inode device"; the device as the driver counts all of them. Strict: of the whole allocation only. */
EXPORTED int cuIpcGetMemHandle(struct shmemi_cuda_ipc *out, uint64_t at)
{
    ENTER_WITH_CONTEXT(cuIpcGetMemHandle);
    struct range *r = range_of((void *)at);
    REQUIRE(r && r->plain && r->at == (char *)at, INVALID);
    REQUIRE(!r->mapped->imported && r->mapped->device == current(), INVALID);
    struct stat st;
    REQUIRE(fstat(r->mapped->fd, &st) == 0, INVALID);
    memset(out, 0, sizeof *out);
    snprintf(out->reserved, sizeof out->reserved, "%d %d %lu %d", getpid(), r->mapped->fd, (unsigned long)st.st_ino,
             r->mapped->device + setting("DOUBLE_FIRST", 0));
    return 0;
}

EXPORTED int cuIpcCloseMemHandle(uint64_t at)
{
    ENTER_WITH_CONTEXT(cuIpcCloseMemHandle);
    return free_plain(at, true);
}

#if AGE >= 110
static bool is_open_here(const char *handle)
{
    for (int i = 0; i < RANGES; i++)
        if (ranges[i].at && ranges[i].mapped && ranges[i].access >> current() & 1 &&
            !strcmp(ranges[i].mapped->key, handle))
            return true;
    return false;
}

/* Newer drivers give the same address once more; this one refuses what is open in the context. */
EXPORTED int cuIpcOpenMemHandle_v2(uint64_t *out, struct shmemi_cuda_ipc handle, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuIpcOpenMemHandle_v2);
    char path[64] = "";
    int owner = 0, file = 0, device = 0;
    unsigned long inode = 0;
    struct stat st;
    REQUIRE(flags == CUDA_IPC_LAZY_PEER && handle.reserved[63] == 0, INVALID);
    REQUIRE(sscanf(handle.reserved, "%d %d %lu %d", &owner, &file, &inode, &device) == 4, INVALID);
    REQUIRE(owner != getpid(), NO_CONTEXT);
    device -= setting("DOUBLE_FIRST", 0);
    REQUIRE(device >= 0 && device < devices(), CUDA_INVALID_DEVICE);
    REQUIRE(device == current() || setting("DOUBLE_PEERS", 1), CUDA_PEER_UNSUPPORTED);
    REQUIRE(!is_open_here(handle.reserved), CUDA_ALREADY_MAPPED);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", owner, file);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_ino != inode)) { /* freed, and the file's number is used again */
        close(fd);
        fd = -1;
    }
    REQUIRE(fd >= 0, INVALID);
    struct physical *p = new_physical(fd, device, (size_t)st.st_size, true);
    struct range *r = p ? map_plain(p) : NULL;
    REQUIRE(r, MEMORY);
    snprintf(p->key, sizeof p->key, "%s", handle.reserved);
    *out = (uintptr_t)r->at;
    return 0;
}
#endif

/* --- memory, addresses and mappings apart ------------------------------------------------------------------------ */

#if AGE >= 117
static bool good_properties(const struct shmemi_cuda_properties *p)
{
    return p->type == CUDA_PINNED && p->location.type == CUDA_ON_DEVICE && p->location.id >= 0 &&
           p->location.id < devices() && p->handle_types == CUDA_DESCRIPTOR && !p->win32;
}

EXPORTED int cuMemGetAllocationGranularity(size_t *out, const struct shmemi_cuda_properties *p, int option)
{
    ENTER(cuMemGetAllocationGranularity);
    REQUIRE(good_properties(p) && (option == 0 || option == 1), INVALID);
    *out = UNIT;
    return 0;
}

EXPORTED int cuMemCreate(uint64_t *out, size_t bytes, const struct shmemi_cuda_properties *p, unsigned long long flags)
{
    ENTER(cuMemCreate);
    REQUIRE(good_properties(p) && flags == 0 && bytes && bytes % UNIT == 0, INVALID);
    REQUIRE(bytes <= room() - taken(p->location.id), MEMORY);
    struct physical *made = create_physical(p->location.id, bytes);
    REQUIRE(made, MEMORY);
    *out = handle_of(made);
    return 0;
}

EXPORTED int cuMemRelease(uint64_t handle)
{
    ENTER(cuMemRelease);
    struct physical *p = physical_of(handle);
    REQUIRE(p, BAD_HANDLE);
    p->handle = false;
    drop(p);
    return 0;
}

EXPORTED int cuMemAddressReserve(uint64_t *out, size_t bytes, size_t alignment, uint64_t hint, unsigned long long flags)
{
    ENTER(cuMemAddressReserve);
    REQUIRE(bytes && bytes % UNIT == 0 && alignment == 0 && hint == 0 && flags == 0, INVALID);
    struct range *r = reserve(bytes);
    REQUIRE(r, MEMORY);
    *out = (uintptr_t)r->at;
    return 0;
}

EXPORTED int cuMemAddressFree(uint64_t at, size_t bytes)
{
    ENTER(cuMemAddressFree);
    struct range *r = range_of((void *)at);
    REQUIRE(r && !r->mapped && r->at == (char *)at && r->bytes == bytes, INVALID);
    unreserve(r);
    return 0;
}

EXPORTED int cuMemMap(uint64_t at, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags)
{
    ENTER(cuMemMap);
    struct range *r = range_of((void *)at);
    struct physical *p = physical_of(handle);
    REQUIRE(r && p && !r->mapped && r->bytes == bytes && offset == 0 && flags == 0 && bytes == p->bytes, INVALID);
    r->mapped = p;
    p->references++;
    return 0;
}

EXPORTED int cuMemUnmap(uint64_t at, size_t bytes)
{
    ENTER(cuMemUnmap);
    struct range *r = range_of((void *)at);
    REQUIRE(r && r->mapped && !r->plain && r->at == (char *)at && r->bytes == bytes, INVALID);
    drop(r->mapped);
    r->mapped = NULL;
    r->access = 0;
    return 0;
}

EXPORTED int cuMemSetAccess(uint64_t at, size_t bytes, const struct shmemi_cuda_access *access, size_t count)
{
    ENTER(cuMemSetAccess);
    struct range *r = range_of((void *)at);
    REQUIRE(r && r->mapped && r->at == (char *)at && r->bytes == bytes && count == 1, INVALID);
    REQUIRE(access->location.type == CUDA_ON_DEVICE && access->flags == CUDA_READ_WRITE, INVALID);
    REQUIRE(access->location.id == r->mapped->device || setting("DOUBLE_PEERS", 1), CUDA_PEER_UNSUPPORTED);
    r->access |= 1u << access->location.id;
    return 0;
}

/* What is sent is a file of its own open description, as a driver's is; the device goes along as its seek position. */
EXPORTED int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, unsigned long long flags)
{
    ENTER(cuMemExportToShareableHandle);
    struct physical *p = physical_of(handle);
    char path[64];
    REQUIRE(p && !p->imported && type == CUDA_DESCRIPTOR && flags == 0, INVALID);
    snprintf(path, sizeof path, "/proc/self/fd/%d", p->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0 && lseek(fd, p->device, SEEK_SET) == p->device, 304);
    memcpy(out, &fd, sizeof fd);
    return 0;
}

EXPORTED int cuMemImportFromShareableHandle(uint64_t *out, void *os, int type)
{
    ENTER(cuMemImportFromShareableHandle);
    struct stat st;
    int given = (int)(uintptr_t)os, fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
    off_t device = lseek(given, 0, SEEK_CUR);
    if (fd >= 0 &&
        (type != CUDA_DESCRIPTOR || fstat(fd, &st) != 0 || st.st_size == 0 || st.st_size % UNIT || device < 0)) {
        close(fd);
        fd = -1;
    }
    REQUIRE(fd >= 0, INVALID);
    struct physical *p = new_physical(fd, (int)device - setting("DOUBLE_FIRST", 0), (size_t)st.st_size, true);
    REQUIRE(p, MEMORY);
    *out = handle_of(p);
    return 0;
}

static int queue_value(void *handle, uint64_t at, struct operation o)
{
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), BAD_HANDLE);
    REQUIRE(at % 8 == 0 && range_of((void *)at) && reachable((void *)at, 8, s->device), INVALID);
    enqueue(s, o);
    return 0;
}

EXPORTED int cuStreamWriteValue64_v2(void *handle, uint64_t at, uint64_t value, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuStreamWriteValue64_v2);
    REQUIRE(flags == 0, INVALID);
    return queue_value(handle, at, (struct operation){.what = WRITE, .to = (char *)at, .value = value});
}

EXPORTED int cuStreamWaitValue64_v2(void *handle, uint64_t at, uint64_t value, unsigned flags)
{
    ENTER_WITH_CONTEXT(cuStreamWaitValue64_v2);
    REQUIRE(flags <= 1, INVALID);
    return queue_value(handle, at, (struct operation){.what = WAIT, .to = (char *)at, .value = value, .how = flags});
}
#endif
