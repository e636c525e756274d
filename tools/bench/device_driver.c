// SPDX-License-Identifier: Apache-2.0
// The driver itself, as other libraries of a process use it: memory of its plain call, and its own copies. Declared
// here, since no header of a toolkit may be needed.
#include "device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ACL_HUGE_FIRST = 0 };

/* All calls are integers of the driver, 0 for success. */
static union {
    struct {
        int (*retain)(void **, int), (*push)(void *), (*pop)(void **), (*allocate)(uint64_t *, size_t),
            (*release)(uint64_t), (*copy)(uint64_t, uint64_t, size_t, void *), (*wait)(void *);
    } cuda;
    struct {
        int (*set_device)(int32_t), (*allocate)(void **, size_t, int), (*release)(void *),
            (*copy)(void *, size_t, const void *, size_t, int, void *), (*wait)(void *);
    } ascend;
    void *found[7];
} calls;

static const char *const cuda_names[] = {"cuDevicePrimaryCtxRetain",
                                         "cuCtxPushCurrent_v2",
                                         "cuCtxPopCurrent_v2",
                                         "cuMemAlloc_v2",
                                         "cuMemFree_v2",
                                         "cuMemcpyAsync",
                                         "cuStreamSynchronize"};
static const char *const ascend_names[] = {"aclrtSetDevice", "aclrtMalloc", "aclrtFree", "aclrtMemcpyAsync",
                                           "aclrtSynchronizeStream"};

/* What the library has opened already, by any of the names that it looks for. */
static void *opened(bool cuda)
{
    static const char *const usual[2][2] = {{"libacl_rt.so", "libascendcl.so"}, {"libcuda.so.1", NULL}};
    const char *own = getenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY");
    if (own && *own)
        return dlopen(own, RTLD_NOW | RTLD_NOLOAD);
    void *library = dlopen(usual[cuda][0], RTLD_NOW | RTLD_NOLOAD);
    return library || !usual[cuda][1] ? library : dlopen(usual[cuda][1], RTLD_NOW | RTLD_NOLOAD);
}

static int answer(int code, const char *call)
{
    return code == 0 ? 0 : wrong("%s: the driver answers %d", call, code);
}

static int make_current(int number)
{
    void *context;
    int code = calls.cuda.retain(&context, number); /* the device of that number: cuDeviceGet() gives the same */
    return answer(code ? code : calls.cuda.push(context), "making the device's context current");
}

int driver_open(struct driver *d, const char *type, int number)
{
    d->cuda = !strcmp(type, "cuda");
    if (!(d->library = opened(d->cuda)))
        return wrong("the driver that this library has opened is not found: %s", dlerror());
    const char *const *names = d->cuda ? cuda_names : ascend_names;
    for (int i = 0; i < (d->cuda ? 7 : 5); i++)
        if (!(calls.found[i] = dlsym(d->library, names[i]))) {
            dlclose(d->library);
            return wrong("the driver has no %s", names[i]);
        }
    d->entered = number >= 0;
    int rc = !d->entered ? 0
             : d->cuda   ? make_current(number)
                         : answer(calls.ascend.set_device(number), "aclrtSetDevice");
    if (rc < 0)
        dlclose(d->library);
    return rc;
}

void driver_close(struct driver *d)
{
    void *context;
    if (d->cuda && d->entered)
        calls.cuda.pop(&context);
    dlclose(d->library);
}

int driver_allocate(const struct driver *d, size_t bytes, void **out)
{
    uint64_t at = 0;
    if (!d->cuda)
        return answer(calls.ascend.allocate(out, bytes, ACL_HUGE_FIRST), "aclrtMalloc");
    int rc = answer(calls.cuda.allocate(&at, bytes), "cuMemAlloc_v2");
    *out = (void *)(uintptr_t)at;
    return rc;
}

int driver_free(const struct driver *d, void *at)
{
    return d->cuda ? answer(calls.cuda.release((uintptr_t)at), "cuMemFree_v2")
                   : answer(calls.ascend.release(at), "aclrtFree");
}

int driver_copy(const struct driver *d, void *to, const void *from, size_t bytes, enum direction way, void *stream)
{
    return d->cuda ? answer(calls.cuda.copy((uintptr_t)to, (uintptr_t)from, bytes, stream), "cuMemcpyAsync")
                   : answer(calls.ascend.copy(to, bytes, from, bytes, (int)way + 1, stream), "aclrtMemcpyAsync");
}

int driver_wait(const struct driver *d, void *stream)
{
    return d->cuda ? answer(calls.cuda.wait(stream), "cuStreamSynchronize")
                   : answer(calls.ascend.wait(stream), "aclrtSynchronizeStream");
}

const unsigned long *driver_calls(const struct driver *d)
{
    return dlsym(d->library, "double_calls");
}

void driver_hold(const struct driver *d, int on)
{
    void (*hold)(int) = NULL;
    void *found = dlsym(d->library, "double_hold");
    memcpy(&hold, &found, sizeof hold);
    if (hold)
        hold(on);
}
