// SPDX-License-Identifier: Apache-2.0
// Devices, contexts, streams and what is queued on them.
#include "cuda.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static pthread_mutex_t retaining = PTHREAD_MUTEX_INITIALIZER;
static cuda_context contexts[SHMEMI_CUDA_DEVICES]; /* under the mutex */

/* The driver's name of a device; -ENODEV for a number that it does not have. */
static int driver_device(int device, cuda_device *out)
{
    int count = 0, rc = shmemi_cuda_open(&count);
    if (rc < 0)
        return rc;
    if (device < 0 || device >= count)
        return shmemi_fail(-ENODEV, "there is no CUDA device %d: this process sees %d, counted from 0", device, count);
    return SHMEMI_CUDA(cuDeviceGet, out, device);
}

int shmemi_cuda_context(int device, cuda_context *out)
{
    cuda_device number;
    int rc = 0;
    pthread_mutex_lock(&retaining);
    *out = device >= 0 && device < SHMEMI_CUDA_DEVICES ? contexts[device] : NULL;
    if (!*out && (rc = driver_device(device, &number)) == 0 &&
        (rc = SHMEMI_CUDA(cuDevicePrimaryCtxRetain, out, number)) == 0)
        contexts[device] = *out;
    pthread_mutex_unlock(&retaining);
    return rc;
}

int shmemi_cuda_enter(int device, struct shmemi_device_current *before)
{
    cuda_context context;
    *before = (struct shmemi_device_current){.device = device};
    int rc = shmemi_cuda_context(device, &context);
    if (rc < 0)
        return rc;
    if (shmemi_cuda.cuCtxGetCurrent(&before->context) != 0)
        before->context = NULL;
    before->same = before->context == context;
    return before->same ? 0 : SHMEMI_CUDA(cuCtxPushCurrent_v2, context);
}

int shmemi_cuda_enter_any(struct shmemi_device_current *before)
{
    int device = 0, rc = shmemi_cuda_open(NULL);
    *before = (struct shmemi_device_current){.same = true};
    if (rc < 0 || (shmemi_cuda.cuCtxGetCurrent(&before->context) == 0 && before->context))
        return rc;
    pthread_mutex_lock(&retaining);
    while (device < SHMEMI_CUDA_DEVICES && !contexts[device])
        device++;
    pthread_mutex_unlock(&retaining);
    return shmemi_cuda_enter(device < SHMEMI_CUDA_DEVICES ? device : 0, before);
}

void shmemi_cuda_leave(const struct shmemi_device_current *before)
{
    cuda_context popped;
    if (!before->same)
        shmemi_cuda.cuCtxPopCurrent_v2(&popped); /* the driver keeps a stack */
}

int shmemi_cuda_id(int device, uint8_t id[16])
{
    static const char *const needed[] = {"cuDeviceGetUuid_v2", NULL};
    cuda_device number;
    cuda_uuid uuid;
    int rc = driver_device(device, &number);
    if (rc == 0)
        rc = shmemi_cuda_has(needed);
    if (rc == 0)
        rc = SHMEMI_CUDA(cuDeviceGetUuid_v2, &uuid, number);
    if (rc == 0)
        memcpy(id, &uuid, 16);
    return rc;
}

int shmemi_cuda_find(const uint8_t id[16], int *device)
{
    uint8_t other[16];
    int count, rc = shmemi_cuda_open(&count);
    for (int i = 0; rc == 0 && i < count; i++) {
        rc = shmemi_cuda_id(i, other);
        if (rc == 0 && !memcmp(id, other, 16)) {
            *device = i;
            return 0;
        }
    }
    return rc < 0 ? rc
                  : shmemi_fail(-ENODEV,
                                "the CUDA device that the memory lies on is not among the %d that this process "
                                "sees (CUDA_VISIBLE_DEVICES)",
                                count);
}

static int attribute(int device, int which, bool *yes)
{
    cuda_device number;
    int value = 0, rc = driver_device(device, &number);
    if (rc == 0)
        rc = SHMEMI_CUDA(cuDeviceGetAttribute, &value, which, number);
    *yes = value != 0;
    return rc;
}

/* As allocate() needs it. */
static void tell_way(bool vmm, bool descriptors, int device, struct shmemi_device_info *out)
{
    static const char *const needed[] = {"cuMemCreate", NULL};
    out->way = SHMEMI_WAY_NONE;
    if (shmemi_cuda_has(needed) < 0)
        snprintf(out->alone, sizeof out->alone, "%s", shmemi_last_error());
    else if (!vmm || !descriptors)
        snprintf(out->alone, sizeof out->alone, "the CUDA device %d has no %s", device,
                 vmm ? "memory that file descriptors share" : "virtual memory management");
    else
        out->way = SHMEMI_WAY_DESCRIPTOR;
}

static int describe(int device, struct shmemi_device_info *out)
{
    struct shmemi_device_current before;
    cuda_device number;
    bool vmm, descriptors, values;
    memset(out, 0, sizeof *out);
    int rc = driver_device(device, &number);
    if (rc == 0)
        rc = SHMEMI_CUDA(cuDeviceGetName, out->name, (int)sizeof out->name, number);
    if (rc == 0)
        rc = shmemi_cuda_id(device, out->id);
    if (rc < 0 || (rc = attribute(device, CUDA_HAS_VMM, &vmm)) < 0 ||
        (rc = attribute(device, CUDA_HAS_DESCRIPTORS, &descriptors)) < 0 ||
        (rc = attribute(device, CUDA_HAS_VALUES_64, &values)) < 0 || (rc = shmemi_cuda_enter(device, &before)) < 0)
        return rc;
    rc = SHMEMI_CUDA(cuMemGetInfo_v2, &out->free_bytes, &out->total_bytes);
    shmemi_cuda_leave(&before);
    tell_way(vmm, descriptors, device, out);
    out->can_signal = values && shmemi_cuda.cuStreamWriteValue64_v2 && shmemi_cuda.cuStreamWaitValue64_v2;
    return rc;
}

static int version(char text[64])
{
    int number = 0, rc = shmemi_cuda_open(NULL);
    if (rc == 0)
        rc = SHMEMI_CUDA(cuDriverGetVersion, &number);
    snprintf(text, 64, "CUDA %d.%d", number / 1000, number % 1000 / 10);
    return rc;
}

static int identify(int device, int32_t *process)
{
    (void)device;
    *process = (int32_t)getpid();
    return 0;
}

static int can_reach(int device, int peer, bool *can)
{
    cuda_device from, to;
    int value = 1, rc = driver_device(device, &from);
    if (rc == 0)
        rc = driver_device(peer, &to);
    if (rc == 0 && device != peer)
        rc = SHMEMI_CUDA(cuDeviceCanAccessPeer, &value, from, to);
    *can = value != 0;
    return rc;
}

int shmemi_cuda_reach(int device, int peer)
{
    struct shmemi_device_current before;
    cuda_context other;
    bool can;
    int rc = can_reach(device, peer, &can);
    if (rc < 0 || device == peer)
        return rc;
    if (!can)
        return shmemi_fail(-ENOTSUP,
                           "CUDA device %d cannot reach the memory of device %d (nvidia-smi topo -p2p r "
                           "shows which can)",
                           device, peer);
    if ((rc = shmemi_cuda_context(peer, &other)) < 0 || (rc = shmemi_cuda_enter(device, &before)) < 0)
        return rc;
    cuda_result result = shmemi_cuda.cuCtxEnablePeerAccess(other, 0);
    shmemi_cuda_leave(&before);
    return (int)result == CUDA_PEER_ALREADY ? 0 : shmemi_cuda_result(result, "cuCtxEnablePeerAccess");
}

static int admit(const struct shmemi_device_memory *memory, int device)
{
    const cuda_access access = {.location = {CUDA_ON_DEVICE, device}, .flags = CUDA_READ_WRITE};
    int rc = shmemi_cuda_reach(device, memory->device);
    return rc < 0 || memory->way != SHMEMI_WAY_DESCRIPTOR
               ? rc
               : SHMEMI_CUDA(cuMemSetAccess, (uintptr_t)memory->address, memory->bytes, &access, 1);
}

static int create_stream(int device, struct shmemi_device_stream *out)
{
    struct shmemi_device_current before;
    cuda_stream stream = NULL;
    int rc = shmemi_cuda_enter(device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_CUDA(cuStreamCreate, &stream, 1); /* does not wait for the default stream */
    shmemi_cuda_leave(&before);
    *out = (struct shmemi_device_stream){device, stream};
    return rc;
}

static int finish(struct shmemi_device_stream stream)
{
    struct shmemi_device_current before;
    int rc = shmemi_cuda_enter(stream.device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_CUDA(cuStreamSynchronize, stream.driver);
    shmemi_cuda_leave(&before);
    return rc;
}

static void destroy_stream(struct shmemi_device_stream *stream)
{
    struct shmemi_device_current before;
    if (shmemi_cuda_enter(stream->device, &before) < 0)
        return;
    shmemi_cuda.cuStreamSynchronize(stream->driver);
    shmemi_cuda.cuStreamDestroy_v2(stream->driver);
    shmemi_cuda_leave(&before);
    stream->driver = NULL;
}

static int query(struct shmemi_device_stream stream, bool *done)
{
    struct shmemi_device_current before;
    int rc = shmemi_cuda_enter(stream.device, &before);
    if (rc < 0)
        return rc;
    cuda_result result = shmemi_cuda.cuStreamQuery(stream.driver);
    shmemi_cuda_leave(&before);
    *done = result == 0;
    return (int)result == CUDA_NOT_READY ? 0 : shmemi_cuda_result(result, "cuStreamQuery");
}

static int copy(void *to, const void *from, size_t bytes, enum shmemi_device_direction direction,
                struct shmemi_device_stream stream)
{
    (void)direction; /* the driver knows by the addresses */
    return SHMEMI_CUDA(cuMemcpyAsync, (uintptr_t)to, (uintptr_t)from, bytes, stream.driver);
}

static int write_value(void *at, uint64_t value, struct shmemi_device_stream stream)
{
    static const char *const needed[] = {"cuStreamWriteValue64_v2", NULL};
    int rc = shmemi_cuda.cuStreamWriteValue64_v2 ? 0 : shmemi_cuda_has(needed);
    return rc < 0 ? rc : SHMEMI_CUDA(cuStreamWriteValue64_v2, stream.driver, (uintptr_t)at, value, 0);
}

static int wait_value(const void *at, uint64_t value, enum shmemi_device_compare compare,
                      struct shmemi_device_stream stream)
{
    static const char *const needed[] = {"cuStreamWaitValue64_v2", NULL};
    unsigned how = compare == SHMEMI_UNTIL_EQUAL ? 1 : 0;
    int rc = shmemi_cuda.cuStreamWaitValue64_v2 ? 0 : shmemi_cuda_has(needed);
    return rc < 0 ? rc : SHMEMI_CUDA(cuStreamWaitValue64_v2, stream.driver, (uintptr_t)at, value, how);
}

const struct shmemi_device_hal shmemi_device_cuda = {
    .type = "cuda",
    .maker = "CUDA",
    .ways = 1u << SHMEMI_WAY_DESCRIPTOR | 1u << SHMEMI_WAY_LEGACY,
    .copy_align = 1,
    .open = shmemi_cuda_open,
    .version = version,
    .describe = describe,
    .find = shmemi_cuda_find,
    .identify = identify,
    .allocate = shmemi_cuda_allocate,
    .release = shmemi_cuda_release,
    .export_memory = shmemi_cuda_export_memory,
    .import_memory = shmemi_cuda_import_memory,
    .can_reach = can_reach,
    .reach = shmemi_cuda_reach,
    .admit = admit,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .finish = finish,
    .query = query,
    .enter = shmemi_cuda_enter,
    .leave = shmemi_cuda_leave,
    .copy = copy,
    .write_value = write_value,
    .wait_value = wait_value,
    .describe_pointer = shmemi_cuda_describe_pointer,
    .adopt = shmemi_cuda_adopt,
    .allocate_plain = shmemi_cuda_allocate_plain,
    .free_plain = shmemi_cuda_free_plain,
    .make_words = shmemi_cuda_make_words,
    .free_words = shmemi_cuda_free_words,
    .tell = shmemi_cuda_tell,
    .hold = shmemi_cuda_hold,
    .let_go = shmemi_cuda_let_go,
};
