// SPDX-License-Identifier: Apache-2.0
// A double of AscendCL: its names and signatures over host memory, strict about the order and the arguments of calls.
// AGE: 91 (everything), 85 (does not tell an allocation's range), 80 (shareable handles of the first kind; neither keys
// nor words that are written and waited for), 82 (keys only: nothing of virtual memory, as on devices that cannot do
// it), 70 (nothing that shares).
#include <unistd.h>

#include "double.h"
#include "hal/ascend/driver.h"

enum { INVALID = 107000, UNINITIALIZED = 100001, NO_CONTEXT = 107002, OTHER_CONTEXT = 107003, BAD_HANDLE = 107017 };
enum { DEVICES_MOST = 4, LISTED = 64, SHIFT = 1000000, KEY_LENGTH = 65 };
#define HAS_VMM (AGE != 82)
#define HAS_HANDLES (AGE == 80 || AGE >= 85)
#define HAS_KEYS (AGE == 82 || AGE >= 85)

static bool initialised;
static char contexts[DEVICES_MOST];
static A_THREADS void *current_context;
static unsigned peers[DEVICES_MOST];
static char message[160];

#define ENTER(name)                                                                                                    \
    ALONE;                                                                                                             \
    do {                                                                                                               \
        int code = entered(#name);                                                                                     \
        if (code || !initialised)                                                                                      \
            return complain(#name, code ? code : UNINITIALIZED);                                                       \
    } while (0)
#define ENTER_WITH_CONTEXT(name)                                                                                       \
    ENTER(name);                                                                                                       \
    if (!current_context)                                                                                              \
    return complain("a current context", NO_CONTEXT)
#define REQUIRE(condition, code)                                                                                       \
    if (!(condition))                                                                                                  \
    return complain(#condition, code)

static int complain(const char *what, int code)
{
    snprintf(message, sizeof message, "the double wants: %s", what);
    if (getenv("DOUBLE_VERBOSE"))
        fprintf(stderr, "double: ascend: %s does not hold\n", what);
    return code;
}

static int devices(void)
{
    return setting("DOUBLE_DEVICES", 2);
}

static int current(void)
{
    return (int)((char *)current_context - contexts);
}

/* Another name than getpid() gives, as in a container. */
static int32_t bare_tgid(void)
{
    return (int32_t)getpid() + SHIFT;
}

EXPORTED int aclInit(const char *path)
{
    int code = entered("aclInit");
    if (code)
        return code;
    REQUIRE(!path, INVALID);
    REQUIRE(!initialised, ACL_REPEATED);
    initialised = true;
    return setting("DOUBLE_INIT", 0);
}

EXPORTED const char *aclGetRecentErrMsg(void)
{
    static char given[sizeof message];
    memcpy(given, message, sizeof given);
    *message = 0;
    return *given ? given : NULL;
}

EXPORTED int aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    ENTER(aclrtGetVersion);
    *major = 1;
    *minor = AGE - 69;
    *patch = 0;
    return 0;
}

EXPORTED const char *aclrtGetSocName(void)
{
    return "Ascend910B-double";
}

EXPORTED int aclrtGetDeviceCount(uint32_t *out)
{
    ENTER(aclrtGetDeviceCount);
    *out = (uint32_t)devices();
    return 0;
}

EXPORTED int aclrtSetDevice(int32_t device)
{
    ENTER(aclrtSetDevice);
    REQUIRE(device >= 0 && device < devices(), ACL_BAD_DEVICE);
    current_context = &contexts[device];
    return 0;
}

EXPORTED int aclrtGetCurrentContext(void **out)
{
    ENTER_WITH_CONTEXT(aclrtGetCurrentContext);
    *out = current_context;
    return 0;
}

EXPORTED int aclrtSetCurrentContext(void *context)
{
    ENTER(aclrtSetCurrentContext);
    REQUIRE((char *)context >= contexts && (char *)context < contexts + DEVICES_MOST, INVALID);
    current_context = context;
    return 0;
}

EXPORTED int aclrtGetMemInfo(int attribute, size_t *available, size_t *total)
{
    ENTER_WITH_CONTEXT(aclrtGetMemInfo);
    REQUIRE(attribute == ACL_HBM, INVALID);
    *total = room();
    *available = room() - taken(current());
    return 0;
}

/* DOUBLE_FIRST: the processes see the devices from this one on. */
#if AGE < 91
EXPORTED int aclrtGetPhyDevIdByUserDevId(int32_t user, int32_t *physical)
{
    ENTER(aclrtGetPhyDevIdByUserDevId);
    REQUIRE(user >= 0 && user < devices(), ACL_BAD_DEVICE);
    *physical = user + setting("DOUBLE_FIRST", 0);
    return 0;
}
#else /* two steps instead */
EXPORTED int aclrtGetLogicDevIdByUserDevId(int32_t user, int32_t *logic)
{
    ENTER(aclrtGetLogicDevIdByUserDevId);
    REQUIRE(user >= 0 && user < devices(), ACL_BAD_DEVICE);
    *logic = user + 100;
    return 0;
}

EXPORTED int aclrtGetPhyDevIdByLogicDevId(int32_t logic, int32_t *physical)
{
    ENTER(aclrtGetPhyDevIdByLogicDevId);
    REQUIRE(logic >= 100 && logic < 100 + devices(), ACL_BAD_DEVICE);
    *physical = logic - 100 + setting("DOUBLE_FIRST", 0);
    return 0;
}
#endif

EXPORTED int aclrtDeviceCanAccessPeer(int32_t *can, int32_t from, int32_t to)
{
    ENTER(aclrtDeviceCanAccessPeer);
    REQUIRE(from != to && from < devices() && to < devices(), ACL_BAD_DEVICE);
    *can = setting("DOUBLE_PEERS", 1);
    return 0;
}

EXPORTED int aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags)
{
    ENTER_WITH_CONTEXT(aclrtDeviceEnablePeerAccess);
    REQUIRE(flags == 0 && peer != current() && peer >= 0 && peer < devices(), INVALID);
    REQUIRE(setting("DOUBLE_PEERS", 1), ACL_UNSUPPORTED_RT);
    peers[current()] |= 1u << peer;
    return 0;
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

EXPORTED int aclrtCreateStream(void **out)
{
    ENTER_WITH_CONTEXT(aclrtCreateStream);
    *out = create_stream_on(current());
    return *out ? 0 : ACL_NO_ROOM_RT;
}

EXPORTED int aclrtDestroyStream(void *handle)
{
    ENTER_WITH_CONTEXT(aclrtDestroyStream);
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), OTHER_CONTEXT);
    drain(s);
    s->used = false;
    return 0;
}

EXPORTED int aclrtSynchronizeStream(void *handle)
{
    ENTER_WITH_CONTEXT(aclrtSynchronizeStream);
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), OTHER_CONTEXT);
    drain(s);
    return 0;
}

EXPORTED int aclrtStreamQuery(void *handle, int *state)
{
    ENTER_WITH_CONTEXT(aclrtStreamQuery);
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), OTHER_CONTEXT);
    *state = s->count ? 1 : 0;
    return 0;
}

/* The kind has to be what the addresses are. */
static bool right_kind(const void *to, const void *from, int kind)
{
    bool to_device = range_of(to) != NULL, from_device = range_of(from) != NULL;
    return kind == (from_device ? (to_device ? 3 : 2) : (to_device ? 1 : -1));
}

static bool reachable(const void *address, size_t bytes, int device)
{
    struct range *r = range_of(address);
    return !r || (r->mapped && bytes <= r->bytes - (size_t)((const char *)address - r->at) &&
                  (r->access >> device & 1 || peers[device] >> r->mapped->device & 1));
}

EXPORTED int aclrtMemcpyAsync(void *to, size_t most, const void *from, size_t bytes, int kind, void *handle)
{
    ENTER_WITH_CONTEXT(aclrtMemcpyAsync);
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), OTHER_CONTEXT);
    REQUIRE(most >= bytes && bytes && right_kind(to, from, kind), INVALID);
    REQUIRE(kind != 3 || ((uintptr_t)to | (uintptr_t)from) % 64 == 0, 107008);
    REQUIRE(reachable(to, bytes, s->device) && reachable(from, bytes, s->device), INVALID);
    enqueue(s, (struct operation){.what = COPY, .to = to, .from = from, .bytes = bytes});
    return 0;
}

#if AGE >= 85
static int queue_value(void *handle, void *at, struct operation o)
{
    struct stream *s = stream_of(handle);
    REQUIRE(s && s->device == current(), OTHER_CONTEXT);
    REQUIRE((uintptr_t)at % 8 == 0, 107008);
    REQUIRE(range_of(at) && reachable(at, 8, s->device), INVALID);
    enqueue(s, o);
    return 0;
}

EXPORTED int aclrtValueWrite(void *at, uint64_t value, uint32_t flag, void *handle)
{
    ENTER_WITH_CONTEXT(aclrtValueWrite);
    REQUIRE(flag == 0, INVALID);
    return queue_value(handle, at, (struct operation){.what = WRITE, .to = at, .value = value});
}

EXPORTED int aclrtValueWait(void *at, uint64_t value, uint32_t flag, void *handle)
{
    ENTER_WITH_CONTEXT(aclrtValueWait);
    REQUIRE(flag <= 1, INVALID);
    return queue_value(handle, at, (struct operation){.what = WAIT, .to = at, .value = value, .how = flag});
}
#endif

#if AGE >= 80
EXPORTED int aclrtPointerGetAttributes(const void *at, struct shmemi_ascend_pointer *out)
{
    ENTER_WITH_CONTEXT(aclrtPointerGetAttributes);
    struct range *r = range_of(at);
    *out = (struct shmemi_ascend_pointer){.location = {0, 2}};
    if (r && r->mapped)
        *out =
            (struct shmemi_ascend_pointer){.location = {(uint32_t)r->mapped->device, ACL_ON_DEVICE}, .page_size = UNIT};
    return 0;
}

EXPORTED int aclrtDeviceGetBareTgid(int32_t *out)
{
    ENTER_WITH_CONTEXT(aclrtDeviceGetBareTgid);
    *out = bare_tgid();
    return 0;
}
#endif

/* Pinned, and for copies only: nothing maps it for devices. */
EXPORTED int aclrtMallocHost(void **out, size_t bytes)
{
    ENTER_WITH_CONTEXT(aclrtMallocHost);
    REQUIRE(bytes, INVALID);
    struct host *h = create_host(bytes, false);
    REQUIRE(h, ACL_NO_ROOM_RT);
    *out = h->at;
    return 0;
}

EXPORTED int aclrtFreeHost(void *at)
{
    ENTER_WITH_CONTEXT(aclrtFreeHost);
    REQUIRE(host_of(at), INVALID);
    free_host(host_of(at));
    return 0;
}

/* --- memory in one call ------------------------------------------------------------------------------------------- */

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

/* Small pieces of memory come from one page, until it is full. */
static struct {
    struct physical *page; /* NULL: none */
    char *at;
    size_t used;
    int pieces;
} shared_page;

static struct range *new_piece(size_t bytes)
{
    size_t taken_up = (bytes + 511) / 512 * 512;
    if (!shared_page.page || shared_page.page->device != current() || shared_page.used + taken_up > UNIT) {
        if (shared_page.page)
            return NULL; /* one such page is enough for tests */
        shared_page.at = take_addresses(UNIT);
        shared_page.page = shared_page.at ? create_physical(current(), UNIT) : NULL;
        if (!shared_page.page)
            return NULL;
        shared_page.page->handle = false;
        shared_page.page->references = 0;
        shared_page.used = 0;
    }
    struct range *r = new_range(shared_page.at + shared_page.used, bytes);
    if (!r)
        return NULL;
    r->mapped = shared_page.page;
    r->mapped->references++;
    r->into = shared_page.used;
    r->plain = r->part = true;
    r->access = 1u << current();
    shared_page.used += taken_up;
    shared_page.pieces++;
    return r;
}

static void drop_piece(struct range *r)
{
    if (--shared_page.pieces == 0) {
        give_addresses(shared_page.at, UNIT);
        shared_page.page = NULL;
    }
    drop(r->mapped);
    unreserve(r);
}

EXPORTED int aclrtMalloc(void **out, size_t bytes, int policy)
{
    ENTER_WITH_CONTEXT(aclrtMalloc);
    REQUIRE(bytes && policy >= 0 && policy <= 7, INVALID);
    REQUIRE(policy != ACL_HUGE_ONLY || bytes % UNIT == 0, INVALID);
    REQUIRE(bytes <= room() - taken(current()), ACL_NO_ROOM_RT);
    struct range *r = bytes < UNIT ? new_piece(bytes) : NULL;
    if (!r) {
        struct physical *p = create_physical(current(), whole_pages(bytes));
        r = p ? map_plain(p) : NULL;
    }
    REQUIRE(r, ACL_NO_ROOM_RT);
    *out = r->at;
    return 0;
}

static void drop_plain(struct range *r)
{
    drop(r->mapped);
    unreserve(r);
}

EXPORTED int aclrtFree(void *at)
{
    ENTER_WITH_CONTEXT(aclrtFree);
    struct range *r = range_of(at);
    REQUIRE(r && r->plain && r->at == (char *)at && !r->mapped->imported, INVALID);
    REQUIRE(r->mapped->references > 1 || !*r->mapped->key, INVALID); /* its key is open */
    if (r->part)
        drop_piece(r);
    else
        drop_plain(r);
    return 0;
}

#if AGE >= 91
EXPORTED int aclrtMemGetAddressRange(void *at, void **base, size_t *bytes)
{
    ENTER_WITH_CONTEXT(aclrtMemGetAddressRange);
    struct range *r = range_of(at);
    REQUIRE(r && r->mapped, INVALID);
    *base = r->at;
    *bytes = r->bytes;
    return 0;
}
#endif

/* --- who may import: a list in a file of its own, which the number or key names too --------------------------------
 */

#if HAS_HANDLES || HAS_KEYS
static int new_list(void)
{
    return memfd_create("double list", MFD_CLOEXEC);
}

static int allow(int list, const int32_t *processes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lseek(list, 0, SEEK_END) < 0 || write(list, &processes[i], sizeof *processes) != sizeof *processes)
            return -1;
    return 0;
}

static bool is_listed(const char *path)
{
    int32_t list[LISTED];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd >= 0 ? pread(fd, list, sizeof list, 0) : 0;
    bool found = false;
    for (ssize_t i = 0; i < bytes / (ssize_t)sizeof *list; i++)
        found = found || list[i] == bare_tgid();
    if (fd >= 0)
        close(fd);
    return found;
}

/* What the owner has, if it lives and its list has this process. */
static int import_physical(int owner, int memory, int list, int device, struct physical **out)
{
    char path[64];
    struct stat st;
    REQUIRE(owner > 0 && owner != getpid(), INVALID);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", owner, list);
    REQUIRE(access(path, F_OK) == 0, BAD_HANDLE);
    REQUIRE(is_listed(path), ACL_NO_PERMISSION);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", owner, memory);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    REQUIRE(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size % UNIT == 0, BAD_HANDLE);
    *out = new_physical(fd, device - setting("DOUBLE_FIRST", 0), (size_t)st.st_size, true);
    REQUIRE(*out, ACL_NO_ROOM_RT);
    return 0;
}
#endif

/* --- memory, addresses and mappings apart ------------------------------------------------------------------------- */

#if HAS_VMM
static bool good_properties(const struct shmemi_ascend_properties *p)
{
    return p->handle_type == 0 && p->allocation_type == 0 && p->attribute == ACL_HBM_HUGE &&
           p->location.type == ACL_ON_DEVICE && (int)p->location.id < devices() && p->reserved == 0;
}

EXPORTED int aclrtReserveMemAddress(void **out, size_t bytes, size_t alignment, void *expected, uint64_t flags)
{
    ENTER_WITH_CONTEXT(aclrtReserveMemAddress);
    REQUIRE(bytes && bytes % UNIT == 0 && alignment == 0 && !expected && flags <= 1, INVALID);
    struct range *r = reserve(bytes);
    REQUIRE(r, ACL_NO_ROOM_RT);
    *out = r->at;
    return 0;
}

EXPORTED int aclrtReleaseMemAddress(void *at)
{
    ENTER_WITH_CONTEXT(aclrtReleaseMemAddress);
    struct range *r = range_of(at);
    REQUIRE(r && !r->mapped && !r->plain && r->at == (char *)at, INVALID);
    unreserve(r);
    return 0;
}

EXPORTED int aclrtMallocPhysical(void **out, size_t bytes, const struct shmemi_ascend_properties *p, uint64_t flags)
{
    ENTER_WITH_CONTEXT(aclrtMallocPhysical);
    REQUIRE(!setting("DOUBLE_VIRTUAL", 0), ACL_UNSUPPORTED_RT);
    REQUIRE(good_properties(p) && flags == 0 && bytes && bytes % UNIT == 0, INVALID);
    REQUIRE(bytes <= room() - taken((int)p->location.id), ACL_OUT_OF_MEMORY);
    struct physical *made = create_physical((int)p->location.id, bytes);
    REQUIRE(made, ACL_NO_ROOM_RT);
    *out = (void *)(uintptr_t)handle_of(made);
    return 0;
}

EXPORTED int aclrtFreePhysical(void *handle)
{
    ENTER_WITH_CONTEXT(aclrtFreePhysical);
    struct physical *p = physical_of((uintptr_t)handle);
    REQUIRE(p && p->references == 1, BAD_HANDLE); /* it is unmapped first */
    p->handle = false;
    drop(p);
    return 0;
}

EXPORTED int aclrtMapMem(void *at, size_t bytes, size_t offset, void *handle, uint64_t flags)
{
    ENTER_WITH_CONTEXT(aclrtMapMem);
    struct range *r = range_of(at);
    struct physical *p = physical_of((uintptr_t)handle);
    REQUIRE(r && p && !r->mapped && !r->plain && r->bytes == bytes && offset == 0 && flags == 0 && bytes == p->bytes,
            INVALID);
    r->mapped = p;
    p->references++;
    if (AGE < 85)
        r->access = 1u << current();
    return 0;
}

EXPORTED int aclrtUnmapMem(void *at)
{
    ENTER_WITH_CONTEXT(aclrtUnmapMem);
    struct range *r = range_of(at);
    REQUIRE(r && r->mapped && !r->plain && r->at == (char *)at, INVALID);
    drop(r->mapped);
    r->mapped = NULL;
    r->access = 0;
    return 0;
}
#endif

#if HAS_HANDLES
EXPORTED int aclrtMemGetAllocationGranularity(struct shmemi_ascend_properties *p, int option, size_t *out)
{
    ENTER_WITH_CONTEXT(aclrtMemGetAllocationGranularity);
    REQUIRE(good_properties(p) && (option == 0 || option == 1), INVALID);
    *out = UNIT;
    return 0;
}

/* owner | file of the memory | file of the list | device; the device as the owner's driver counts all of them */
static uint64_t pack(const struct physical *p)
{
    return (uint64_t)getpid() << 40 | (uint64_t)p->fd << 24 | (uint64_t)p->list << 8 |
           (uint64_t)(p->device + setting("DOUBLE_FIRST", 0));
}

static int share(void *handle, uint64_t flags, uint64_t *out)
{
    struct physical *p = physical_of((uintptr_t)handle);
    REQUIRE(p && !p->imported && flags == 0, BAD_HANDLE);
    if (!p->shared) {
        p->list = new_list();
        p->shared = pack(p);
    }
    *out = p->shared;
    return 0;
}

static int let_in(uint64_t number, const int32_t *processes, size_t count)
{
    REQUIRE(number && processes && count, INVALID);
    for (int i = 0; i < PHYSICALS; i++)
        if (physicals[i].used && physicals[i].shared == number)
            return allow(physicals[i].list, processes, count) == 0 ? 0 : ACL_NO_ROOM_RT;
    return complain("a handle that was exported here", BAD_HANDLE);
}

static int import(uint64_t number, void **out)
{
    struct physical *p = NULL;
    int rc = import_physical((int)(number >> 40), (int)(number >> 24 & 0xffff), (int)(number >> 8 & 0xffff),
                             (int)(number & 0xff), &p);
    if (rc == 0)
        *out = (void *)(uintptr_t)handle_of(p);
    return rc;
}

EXPORTED int aclrtMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *out)
{
    ENTER_WITH_CONTEXT(aclrtMemExportToShareableHandle);
    REQUIRE(type == 0, INVALID);
    return share(handle, flags, out);
}

EXPORTED int aclrtMemSetPidToShareableHandle(uint64_t number, int32_t *processes, size_t count)
{
    ENTER_WITH_CONTEXT(aclrtMemSetPidToShareableHandle);
    return let_in(number, processes, count);
}

EXPORTED int aclrtMemImportFromShareableHandle(uint64_t number, int32_t device, void **out)
{
    ENTER_WITH_CONTEXT(aclrtMemImportFromShareableHandle);
    REQUIRE(device == current(), INVALID);
    return import(number, out);
}
#endif

#if AGE >= 85
EXPORTED int aclrtMemSetAccess(void *at, size_t bytes, struct shmemi_ascend_access *access, size_t count)
{
    ENTER_WITH_CONTEXT(aclrtMemSetAccess);
    struct range *r = range_of(at);
    REQUIRE(r && r->mapped && r->at == (char *)at && r->bytes == bytes && count == 1, INVALID);
    REQUIRE(access->location.type == ACL_ON_DEVICE && access->flags == ACL_READ_WRITE, INVALID);
    REQUIRE((int)access->location.id == r->mapped->device || setting("DOUBLE_PEERS", 1), ACL_UNSUPPORTED_RT);
    r->access |= 1u << access->location.id;
    return 0;
}

EXPORTED int aclrtMemExportToShareableHandleV2(void *handle, uint64_t flags, int type, void *out)
{
    ENTER_WITH_CONTEXT(aclrtMemExportToShareableHandleV2);
    REQUIRE(type == ACL_SHARED_DEFAULT, INVALID);
    return share(handle, flags, out);
}

EXPORTED int aclrtMemSetPidToShareableHandleV2(void *number, int type, int32_t *processes, size_t count)
{
    ENTER_WITH_CONTEXT(aclrtMemSetPidToShareableHandleV2);
    REQUIRE(type == ACL_SHARED_DEFAULT, INVALID);
    return let_in(*(uint64_t *)number, processes, count);
}

EXPORTED int aclrtMemImportFromShareableHandleV2(void *number, int type, uint64_t flags, void **out)
{
    ENTER_WITH_CONTEXT(aclrtMemImportFromShareableHandleV2);
    REQUIRE(type == ACL_SHARED_DEFAULT && flags == 0, INVALID);
    return import(*(uint64_t *)number, out);
}
#endif

/* --- keys --------------------------------------------------------------------------------------------------------- */

#if HAS_KEYS
/* "ipc owner file list device inode begin bytes" */
static void name_key(const struct physical *p, size_t into, size_t bytes, char *key)
{
    struct stat st = {0};
    fstat(p->list, &st);
    snprintf(key, KEY_LENGTH, "ipc %d %d %d %d %lx %zx %zx", getpid(), p->fd, p->list,
             p->device + setting("DOUBLE_FIRST", 0), (unsigned long)st.st_ino, into, bytes);
}

/* Of whole pages, which were allocated in one call, or hold what was. */
EXPORTED int aclrtIpcMemGetExportKey(void *at, size_t bytes, char *key, size_t length, uint64_t flags)
{
    ENTER_WITH_CONTEXT(aclrtIpcMemGetExportKey);
    struct range *r = range_of(at);
    REQUIRE(r && r->plain && !r->mapped->imported && (uintptr_t)at % UNIT == 0 && bytes && bytes % UNIT == 0, INVALID);
    size_t into = r->into + (size_t)((char *)at - r->at);
    REQUIRE(bytes <= r->mapped->bytes - into && r->mapped->device == current(), INVALID);
    REQUIRE(length >= KEY_LENGTH && flags == 0 && !*r->mapped->key, INVALID);
    r->mapped->list = new_list();
    name_key(r->mapped, into, bytes, r->mapped->key);
    memcpy(key, r->mapped->key, KEY_LENGTH);
    return 0;
}

static struct range *range_of_key(const char *key)
{
    for (int i = 0; i < RANGES; i++)
        if (ranges[i].at && ranges[i].mapped && *ranges[i].mapped->key && !strcmp(ranges[i].mapped->key, key))
            return &ranges[i];
    return NULL;
}

EXPORTED int aclrtIpcMemSetImportPid(const char *key, int32_t *processes, size_t count)
{
    ENTER_WITH_CONTEXT(aclrtIpcMemSetImportPid);
    struct range *r = range_of_key(key);
    REQUIRE(r && !r->mapped->imported && processes && count, BAD_HANDLE);
    return allow(r->mapped->list, processes, count) == 0 ? 0 : ACL_NO_ROOM_RT;
}

/* The owner has closed the key when its list is not that file any more. */
static bool is_list(int owner, int list, unsigned long inode)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", owner, list);
    return stat(path, &st) == 0 && st.st_ino == inode;
}

EXPORTED int aclrtIpcMemImportByKey(void **out, const char *key, uint64_t flags)
{
    ENTER_WITH_CONTEXT(aclrtIpcMemImportByKey);
    int owner, memory, list, device;
    unsigned long inode;
    size_t into, bytes;
    struct physical *p = NULL;
    REQUIRE(flags <= 1 &&
                sscanf(key, "ipc %d %d %d %d %lx %zx %zx", &owner, &memory, &list, &device, &inode, &into, &bytes) == 7,
            INVALID);
    REQUIRE(!range_of_key(key), INVALID);
    device -= setting("DOUBLE_FIRST", 0);
    REQUIRE(device >= 0 && device < devices(), ACL_BAD_DEVICE);
    REQUIRE(is_list(owner, list, inode), BAD_HANDLE);
    int rc = import_physical(owner, memory, list, device + setting("DOUBLE_FIRST", 0), &p);
    if (rc)
        return rc;
    if (into > p->bytes || bytes == 0 || bytes > p->bytes - into) {
        drop(p);
        return complain("pages of that memory", INVALID);
    }
    p->bytes = bytes;
    struct range *r = map_plain(p);
    REQUIRE(r, ACL_NO_ROOM_RT);
    r->into = into;
    snprintf(p->key, sizeof p->key, "%s", key);
    *out = r->at;
    return 0;
}

/* By every importer, and by the exporter. */
EXPORTED int aclrtIpcMemClose(const char *key)
{
    ENTER_WITH_CONTEXT(aclrtIpcMemClose);
    struct range *r = range_of_key(key);
    /* An importer where it was mapped, the owner where it lies. */
    REQUIRE(r && (r->mapped->imported ? r->access >> current() & 1 : r->mapped->device == current()), BAD_HANDLE);
    *r->mapped->key = 0;
    if (r->mapped->imported) {
        drop_plain(r);
    } else {
        close(r->mapped->list);
        r->mapped->list = 0;
    }
    return 0;
}
#endif
