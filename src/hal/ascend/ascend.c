// SPDX-License-Identifier: Apache-2.0
// Devices, contexts, streams and what is queued on them.
#include "ascend.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/settings.h"

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static void *contexts[SHMEMI_ASCEND_DEVICES]; /* the default ones; under the mutex */

static int check_device(int device)
{
    int count = 0, rc = shmemi_ascend_open(&count);
    if (rc == 0 && (device < 0 || device >= count))
        rc = shmemi_fail(-ENODEV, "there is no Ascend device %d: this process sees %d, counted from 0", device, count);
    return rc;
}

/* The first call makes the device's default context; later ones only make it current. */
static int make_current(int device, struct shmemi_device_current *before)
{
    int rc = 0;
    pthread_mutex_lock(&making);
    void *context = contexts[device];
    if (!context && (rc = SHMEMI_ASCEND(aclrtSetDevice, device)) == 0)
        rc = SHMEMI_ASCEND(aclrtGetCurrentContext, &contexts[device]);
    pthread_mutex_unlock(&making);
    before->same = context && before->context == context;
    return context && !before->same ? SHMEMI_ASCEND(aclrtSetCurrentContext, context) : rc;
}

int shmemi_ascend_enter(int device, struct shmemi_device_current *before)
{
    *before = (struct shmemi_device_current){.device = device};
    int rc = check_device(device);
    if (rc < 0)
        return rc;
    if (shmemi_ascend.aclrtGetCurrentContext(&before->context) != 0)
        before->context = NULL;
    return make_current(device, before);
}

int shmemi_ascend_enter_any(struct shmemi_device_current *before)
{
    int device = 0, rc = shmemi_ascend_open(NULL);
    *before = (struct shmemi_device_current){.same = true};
    if (rc < 0 || (shmemi_ascend.aclrtGetCurrentContext(&before->context) == 0 && before->context))
        return rc;
    pthread_mutex_lock(&making);
    while (device < SHMEMI_ASCEND_DEVICES && !contexts[device])
        device++;
    pthread_mutex_unlock(&making);
    return shmemi_ascend_enter(device < SHMEMI_ASCEND_DEVICES ? device : 0, before);
}

void shmemi_ascend_leave(const struct shmemi_device_current *before)
{
    if (before->context && !before->same) /* a thread that had none cannot be given none */
        shmemi_ascend.aclrtSetCurrentContext(before->context);
}

/* Of the versions of CANN some tell it in one step, some in two. */
static int physical_number(int device, int32_t *physical)
{
    static const char *const needed[] = {"aclrtGetPhyDevIdByUserDevId", NULL};
    int32_t logic = device;
    *physical = device;
    if (shmemi_ascend.aclrtGetPhyDevIdByUserDevId)
        return SHMEMI_ASCEND(aclrtGetPhyDevIdByUserDevId, device, physical);
    if (shmemi_ascend.aclrtGetLogicDevIdByUserDevId && shmemi_ascend.aclrtGetPhyDevIdByLogicDevId) {
        int rc = SHMEMI_ASCEND(aclrtGetLogicDevIdByUserDevId, device, &logic);
        return rc < 0 ? rc : SHMEMI_ASCEND(aclrtGetPhyDevIdByLogicDevId, logic, physical);
    }
    /* With this, numbers are this process's own. */
    return shmemi_setting("ASCEND_RT_VISIBLE_DEVICES") ? shmemi_ascend_has(needed) : 0;
}

int shmemi_ascend_id(int device, uint8_t id[16])
{
    int32_t physical = device;
    int rc = check_device(device);
    if (rc == 0)
        rc = physical_number(device, &physical);
    memset(id, 0, 16);
    snprintf((char *)id, 16, "npu%d", physical);
    return rc;
}

int shmemi_ascend_find(const uint8_t id[16], int *device)
{
    uint8_t other[16];
    int count, rc = shmemi_ascend_open(&count);
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = shmemi_ascend_id(i, other);
        if (rc == 0 && !memcmp(id, other, 16)) {
            *device = i;
            return 0;
        }
    }
    return rc < 0 ? rc
                  : shmemi_fail(-ENODEV,
                                "the Ascend device that the memory lies on is not among the %d that this "
                                "process sees (ASCEND_RT_VISIBLE_DEVICES)",
                                count);
}

int shmemi_ascend_identify(int device, int32_t *process)
{
    struct shmemi_device_current before;
    int rc = shmemi_ascend_enter(device, &before);
    if (rc < 0)
        return rc;
    *process = (int32_t)getpid();
    if (shmemi_ascend.aclrtDeviceGetBareTgid)
        rc = SHMEMI_ASCEND(aclrtDeviceGetBareTgid, process);
    shmemi_ascend_leave(&before);
    return rc;
}

static int describe(int device, struct shmemi_device_info *out)
{
    struct shmemi_device_current before;
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "Ascend %d", device);
    int rc = shmemi_ascend_id(device, out->id);
    if (rc < 0 || (rc = shmemi_ascend_enter(device, &before)) < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtGetMemInfo, ACL_HBM, &out->free_bytes, &out->total_bytes);
    shmemi_ascend_leave(&before);
    if (rc < 0)
        return rc;
    if (shmemi_ascend_way(&out->way) < 0) {
        out->way = SHMEMI_WAY_NONE;
        snprintf(out->alone, sizeof out->alone, "%s", shmemi_last_error());
    }
    out->can_signal = shmemi_ascend.aclrtValueWrite && shmemi_ascend.aclrtValueWait;
    return rc;
}

static int version(char text[64])
{
    int32_t major = 0, minor = 0, patch = 0;
    int rc = shmemi_ascend_open(NULL);
    if (rc == 0 && shmemi_ascend.aclrtGetVersion)
        rc = SHMEMI_ASCEND(aclrtGetVersion, &major, &minor, &patch);
    const char *chip = rc == 0 && shmemi_ascend.chip ? shmemi_ascend.chip() : NULL;
    snprintf(text, 64, "ACL %d.%d.%d%s%.40s", major, minor, patch, chip ? ", " : "", chip ? chip : "");
    return rc;
}

static int can_reach(int device, int peer, bool *can)
{
    int32_t value = 1;
    int rc = check_device(device);
    if (rc == 0)
        rc = check_device(peer);
    if (rc == 0 && device != peer)
        rc = SHMEMI_ASCEND(aclrtDeviceCanAccessPeer, &value, device, peer);
    *can = value != 0;
    return rc;
}

int shmemi_ascend_reach(int device, int peer)
{
    static bool reached[SHMEMI_ASCEND_DEVICES][SHMEMI_ASCEND_DEVICES]; /* under the mutex */
    struct shmemi_device_current before;
    bool can;
    int rc = can_reach(device, peer, &can);
    if (rc < 0 || device == peer)
        return rc;
    if (!can)
        return shmemi_fail(-ENOTSUP, "Ascend device %d cannot reach the memory of device %d (npu-smi info -t topo)",
                           device, peer);
    if ((rc = shmemi_ascend_enter(device, &before)) < 0)
        return rc;
    pthread_mutex_lock(&making);
    if (!reached[device][peer] && (rc = SHMEMI_ASCEND(aclrtDeviceEnablePeerAccess, peer, 0)) == 0)
        reached[device][peer] = true;
    pthread_mutex_unlock(&making);
    shmemi_ascend_leave(&before);
    return rc;
}

static int admit(const struct shmemi_device_memory *memory, int device)
{
    struct shmemi_ascend_access access = {.flags = ACL_READ_WRITE, .location = {(uint32_t)device, ACL_ON_DEVICE}};
    struct shmemi_device_current before;
    int rc = shmemi_ascend_reach(device, memory->device);
    bool mapped = memory->way == SHMEMI_WAY_HANDLE_V2 || memory->way == SHMEMI_WAY_HANDLE_V1;
    if (rc < 0 || device == memory->device || !mapped || !shmemi_ascend.aclrtMemSetAccess ||
        (rc = shmemi_ascend_enter(device, &before)) < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtMemSetAccess, memory->address, memory->bytes, &access, 1);
    shmemi_ascend_leave(&before);
    return rc;
}

static int create_stream(int device, struct shmemi_device_stream *out)
{
    struct shmemi_device_current before;
    *out = (struct shmemi_device_stream){.device = device};
    int rc = shmemi_ascend_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtCreateStream, &out->driver);
    shmemi_ascend_leave(&before);
    return rc;
}

static int finish(struct shmemi_device_stream stream)
{
    struct shmemi_device_current before;
    int rc = shmemi_ascend_enter(stream.device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtSynchronizeStream, stream.driver);
    shmemi_ascend_leave(&before);
    return rc;
}

static void destroy_stream(struct shmemi_device_stream *stream)
{
    struct shmemi_device_current before;
    if (shmemi_ascend_enter(stream->device, &before) < 0)
        return;
    shmemi_ascend.aclrtSynchronizeStream(stream->driver);
    shmemi_ascend.aclrtDestroyStream(stream->driver);
    shmemi_ascend_leave(&before);
    stream->driver = NULL;
}

static int query(struct shmemi_device_stream stream, bool *done)
{
    static const char *const needed[] = {"aclrtStreamQuery", NULL};
    struct shmemi_device_current before;
    int state = 1, rc = shmemi_ascend_enter(stream.device, &before);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_ascend_has(needed)) == 0)
        rc = SHMEMI_ASCEND(aclrtStreamQuery, stream.driver, &state);
    shmemi_ascend_leave(&before);
    *done = state == 0;
    return rc;
}

static int copy(void *to, const void *from, size_t bytes, enum shmemi_device_direction direction,
                struct shmemi_device_stream stream)
{
    return SHMEMI_ASCEND(aclrtMemcpyAsync, to, bytes, from, bytes, (int)direction + 1, stream.driver);
}
_Static_assert(SHMEMI_TO_DEVICE == 0 && SHMEMI_FROM_DEVICE == 1 && SHMEMI_DEVICE_TO_DEVICE == 2, "ACL counts from 1");

static int write_value(void *at, uint64_t value, struct shmemi_device_stream stream)
{
    static const char *const needed[] = {"aclrtValueWrite", NULL};
    int rc = shmemi_ascend.aclrtValueWrite ? 0 : shmemi_ascend_has(needed);
    return rc < 0 ? rc : SHMEMI_ASCEND(aclrtValueWrite, at, value, 0, stream.driver);
}

static int wait_value(const void *at, uint64_t value, enum shmemi_device_compare compare,
                      struct shmemi_device_stream stream)
{
    static const char *const needed[] = {"aclrtValueWait", NULL};
    int rc = shmemi_ascend.aclrtValueWait ? 0 : shmemi_ascend_has(needed);
    return rc < 0 ? rc
                  : SHMEMI_ASCEND(aclrtValueWait, (void *)(uintptr_t)at, value, compare == SHMEMI_UNTIL_EQUAL ? 1 : 0,
                                  stream.driver);
}

int shmemi_ascend_pointer(const void *address, struct shmemi_device_pointer *out, size_t *page)
{
    static const char *const needed[] = {"aclrtPointerGetAttributes", NULL};
    struct shmemi_ascend_pointer what = {.reserved = {0}};
    struct shmemi_device_current before;
    memset(out, 0, sizeof *out);
    int rc = shmemi_ascend_enter_any(&before);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_ascend_has(needed)) == 0)
        rc = SHMEMI_ASCEND(aclrtPointerGetAttributes, address, &what);
    out->device = rc == 0 && what.location.type == ACL_ON_DEVICE;
    out->number = out->device ? (int)what.location.id : 0;
    if (page)
        *page = what.page_size;
    if (out->device && shmemi_ascend.aclrtMemGetAddressRange &&
        shmemi_ascend.aclrtMemGetAddressRange((void *)(uintptr_t)address, &out->base, &out->bytes) != 0) {
        out->base = NULL;
        out->bytes = 0;
    }
    shmemi_ascend_leave(&before);
    return rc;
}

static int describe_pointer(const void *address, struct shmemi_device_pointer *out)
{
    return shmemi_ascend_pointer(address, out, NULL);
}

const struct shmemi_device_hal shmemi_device_ascend = {
    .type = "npu",
    .maker = "Ascend",
    .ways = 1u << SHMEMI_WAY_HANDLE_V2 | 1u << SHMEMI_WAY_HANDLE_V1 | 1u << SHMEMI_WAY_KEY,
    .copy_align = 64,
    .open = shmemi_ascend_open,
    .version = version,
    .describe = describe,
    .find = shmemi_ascend_find,
    .identify = shmemi_ascend_identify,
    .allocate = shmemi_ascend_allocate,
    .release = shmemi_ascend_release,
    .export_memory = shmemi_ascend_export_memory,
    .import_memory = shmemi_ascend_import_memory,
    .can_reach = can_reach,
    .reach = shmemi_ascend_reach,
    .admit = admit,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .finish = finish,
    .query = query,
    .enter = shmemi_ascend_enter,
    .leave = shmemi_ascend_leave,
    .copy = copy,
    .write_value = write_value,
    .wait_value = wait_value,
    .describe_pointer = describe_pointer,
    .adopt = shmemi_ascend_adopt,
    .allocate_plain = shmemi_ascend_allocate_plain,
    .free_plain = shmemi_ascend_free_plain,
    .make_words = shmemi_ascend_make_words,
    .free_words = shmemi_ascend_free_words,
    .tell = shmemi_ascend_tell,
    .hold = shmemi_ascend_hold,
    .let_go = shmemi_ascend_let_go,
};
