// SPDX-License-Identifier: Apache-2.0
#include "load.h"

#include <errno.h>
#include <pthread.h>

#include "../library.h"
#include "base/error.h"
#include "base/loader.h"
#include "base/settings.h"

struct shmemi_cuda_driver shmemi_cuda;

#define ROW(required, since, symbol, arguments) {#symbol, since, required, (void (**)(void)) & shmemi_cuda.symbol},
static const struct shmemi_library_call calls[] = {SHMEMI_CUDA_CALLS(ROW)};
enum { CALLS = sizeof calls / sizeof *calls };

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static int devices; /* 0: not open; under the mutex */

static int errno_of(cuda_result result)
{
    switch ((int)result) {
    case CUDA_OUT_OF_MEMORY:
        return -ENOMEM;
    case CUDA_STUB:
    case CUDA_NO_DEVICE:
    case CUDA_INVALID_DEVICE:
        return -ENODEV;
    case CUDA_UNAVAILABLE:
        return -EBUSY;
    case CUDA_NO_CONTEXT:
    case CUDA_BAD_HANDLE:
        return -EBADFD;
    case CUDA_NOT_PERMITTED:
        return -EACCES;
    case CUDA_ALREADY_MAPPED:
        return -EEXIST;
    case CUDA_PEER_UNSUPPORTED:
    case CUDA_NOT_SUPPORTED:
        return -ENOTSUP;
    default:
        return -EIO;
    }
}

static const char *hint(cuda_result result)
{
    switch ((int)result) {
    case CUDA_STUB:
        return "; this is the toolkit's stub, not a driver: take its folder out of LD_LIBRARY_PATH";
    case CUDA_UNAVAILABLE:
        return "; another process has the device for itself (compute mode exclusive): see nvidia-smi -q -d COMPUTE";
    case CUDA_OUT_OF_MEMORY:
        return "; the device's memory is taken: nvidia-smi shows by whom";
    case CUDA_ALREADY_MAPPED:
        return "; another library has that memory open in this process: let it close it first, or use it from there";
    default:
        return "";
    }
}

int shmemi_cuda_result(cuda_result result, const char *call)
{
    const char *name = NULL, *text = NULL;
    if (result == 0)
        return 0;
    shmemi_cuda.cuGetErrorName(result, &name);
    shmemi_cuda.cuGetErrorString(result, &text);
    return shmemi_fail(errno_of(result), "%s: the CUDA driver answers %d, %s (%s)%s", call, (int)result,
                       name ? name : "without a name", text ? text : "no text", hint(result));
}

int shmemi_cuda_has(const char *const *names)
{
    return shmemi_library_has("CUDA", calls, CALLS, names);
}

static int load(void)
{
    static const char *const none[] = {NULL};
    const char *own = shmemi_setting("SHMEM_CUDA_LIBRARY"), *name = NULL;
    const char *const names[] = {own ? own : "libcuda.so.1", NULL};
    void *library = shmemi_library_open(names, none, &name);
    if (!library)
        return shmemi_fail(-ENODEV, "no CUDA driver: %s cannot be opened%s", names[0],
                           shmemi_loader_works() ? "" : " (a statically linked program can open none)");
    return shmemi_library_fill(library, "CUDA", calls, CALLS);
}

static int start(void)
{
    int count = 0, rc = load();
    if (rc == 0)
        rc = SHMEMI_CUDA(cuInit, 0);
    if (rc == 0)
        rc = SHMEMI_CUDA(cuDeviceGetCount, &count);
    if (rc == 0 && count < 1)
        rc = shmemi_fail(-ENODEV, "the CUDA driver works, but shows no device (CUDA_VISIBLE_DEVICES may hide them)");
    if (rc == 0)
        devices = count < SHMEMI_CUDA_DEVICES ? count : SHMEMI_CUDA_DEVICES;
    return rc;
}

int shmemi_cuda_open(int *count)
{
    pthread_mutex_lock(&opening);
    int rc = devices ? 0 : start();
    if (count)
        *count = devices;
    pthread_mutex_unlock(&opening);
    return rc;
}
