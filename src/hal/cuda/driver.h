// SPDX-License-Identifier: Apache-2.0
// The calls of the CUDA driver that the back end uses, declared here since no header of the toolkit may be needed.
// tests/compile/cuda_abi.c compares all of it with the real cuda.h where there is one.
#ifndef SHMEMI_HAL_CUDA_DRIVER_H
#define SHMEMI_HAL_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct shmemi_cuda_location {
    int type, id;
};
struct shmemi_cuda_properties { /* CUmemAllocationProp */
    int type, handle_types;
    struct shmemi_cuda_location location;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
struct shmemi_cuda_access { /* CUmemAccessDesc */
    struct shmemi_cuda_location location;
    int flags;
};
struct shmemi_cuda_uuid {
    char bytes[16];
};
struct shmemi_cuda_ipc {
    char reserved[64];
};

/* In the comparison these are the real ones. */
#ifndef SHMEMI_CUDA_TYPES
typedef int cuda_result, cuda_device, cuda_attribute, cuda_pointer_attribute, cuda_handle_type, cuda_granularity;
typedef uint64_t cuda_address, cuda_memory, cuda_u64;
typedef void *cuda_context, *cuda_stream;
typedef struct shmemi_cuda_properties cuda_properties;
typedef struct shmemi_cuda_access cuda_access;
typedef struct shmemi_cuda_uuid cuda_uuid;
typedef struct shmemi_cuda_ipc cuda_ipc;
#endif

enum {
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_DEINITIALIZED = 4,
    CUDA_STUB = 34,
    CUDA_UNAVAILABLE = 46,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_DEVICE = 101,
    CUDA_NO_CONTEXT = 201,
    CUDA_ALREADY_MAPPED = 208,
    CUDA_PEER_UNSUPPORTED = 217,
    CUDA_BAD_HANDLE = 400,
    CUDA_NOT_READY = 600,
    CUDA_PEER_ALREADY = 704,
    CUDA_NOT_PERMITTED = 800,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_PINNED = 1,
    CUDA_DESCRIPTOR = 1,
    CUDA_ON_DEVICE = 1,
    CUDA_READ_WRITE = 3,
    CUDA_HAS_VMM = 102,
    CUDA_HAS_DESCRIPTORS = 103,
    CUDA_HAS_VALUES_64 = 122,
    CUDA_POINTER_TYPE = 2,
    CUDA_POINTER_BUFFER = 7,
    CUDA_POINTER_ORDINAL = 9,
    CUDA_POINTER_LEGACY = 10,
    CUDA_TYPE_DEVICE = 2,
    CUDA_IPC_LAZY_PEER = 1,
    CUDA_HOST_PORTABLE = 1,
    CUDA_HOST_MAPPED = 2,
};

/* X(required, since, symbol, arguments). The symbols are what dlsym wants: without _v2 some are an older interface. */
#define SHMEMI_CUDA_CALLS(X)                                                                                           \
    X(1, "CUDA 2.0", cuInit, (unsigned))                                                                               \
    X(1, "CUDA 6.0", cuGetErrorName, (cuda_result, const char **))                                                     \
    X(1, "CUDA 6.0", cuGetErrorString, (cuda_result, const char **))                                                   \
    X(1, "CUDA 2.2", cuDriverGetVersion, (int *))                                                                      \
    X(1, "CUDA 2.0", cuDeviceGetCount, (int *))                                                                        \
    X(1, "CUDA 2.0", cuDeviceGet, (cuda_device *, int))                                                                \
    X(1, "CUDA 2.0", cuDeviceGetName, (char *, int, cuda_device))                                                      \
    X(0, "CUDA 11.4", cuDeviceGetUuid_v2, (cuda_uuid *, cuda_device))                                                  \
    X(1, "CUDA 2.0", cuDeviceGetAttribute, (int *, cuda_attribute, cuda_device))                                       \
    X(1, "CUDA 7.0", cuDevicePrimaryCtxRetain, (cuda_context *, cuda_device))                                          \
    X(1, "CUDA 4.0", cuCtxPushCurrent_v2, (cuda_context))                                                              \
    X(1, "CUDA 4.0", cuCtxGetCurrent, (cuda_context *))                                                                \
    X(1, "CUDA 4.0", cuCtxPopCurrent_v2, (cuda_context *))                                                             \
    X(1, "CUDA 4.0", cuCtxEnablePeerAccess, (cuda_context, unsigned))                                                  \
    X(1, "CUDA 4.0", cuDeviceCanAccessPeer, (int *, cuda_device, cuda_device))                                         \
    X(1, "CUDA 2.0", cuStreamCreate, (cuda_stream *, unsigned))                                                        \
    X(1, "CUDA 4.0", cuStreamDestroy_v2, (cuda_stream))                                                                \
    X(1, "CUDA 2.0", cuStreamSynchronize, (cuda_stream))                                                               \
    X(1, "CUDA 2.0", cuStreamQuery, (cuda_stream))                                                                     \
    X(1, "CUDA 3.2", cuMemGetInfo_v2, (size_t *, size_t *))                                                            \
    X(1, "CUDA 3.2", cuMemGetAddressRange_v2, (cuda_address *, size_t *, cuda_address))                                \
    X(1, "CUDA 4.0", cuMemcpyAsync, (cuda_address, cuda_address, size_t, cuda_stream))                                 \
    X(1, "CUDA 4.0", cuPointerGetAttribute, (void *, cuda_pointer_attribute, cuda_address))                            \
    X(1, "CUDA 3.2", cuMemAlloc_v2, (cuda_address *, size_t))                                                          \
    X(1, "CUDA 3.2", cuMemFree_v2, (cuda_address))                                                                     \
    X(1, "CUDA 4.1", cuIpcGetMemHandle, (cuda_ipc *, cuda_address))                                                    \
    X(0, "CUDA 11.0", cuIpcOpenMemHandle_v2, (cuda_address *, cuda_ipc, unsigned))                                     \
    X(1, "CUDA 4.1", cuIpcCloseMemHandle, (cuda_address))                                                              \
    X(0, "CUDA 10.2", cuMemGetAllocationGranularity, (size_t *, const cuda_properties *, cuda_granularity))            \
    X(0, "CUDA 10.2", cuMemCreate, (cuda_memory *, size_t, const cuda_properties *, cuda_u64))                         \
    X(0, "CUDA 10.2", cuMemRelease, (cuda_memory))                                                                     \
    X(0, "CUDA 10.2", cuMemAddressReserve, (cuda_address *, size_t, size_t, cuda_address, cuda_u64))                   \
    X(0, "CUDA 10.2", cuMemAddressFree, (cuda_address, size_t))                                                        \
    X(0, "CUDA 10.2", cuMemMap, (cuda_address, size_t, size_t, cuda_memory, cuda_u64))                                 \
    X(0, "CUDA 10.2", cuMemUnmap, (cuda_address, size_t))                                                              \
    X(0, "CUDA 10.2", cuMemSetAccess, (cuda_address, size_t, const cuda_access *, size_t))                             \
    X(0, "CUDA 10.2", cuMemExportToShareableHandle, (void *, cuda_memory, cuda_handle_type, cuda_u64))                 \
    X(0, "CUDA 10.2", cuMemImportFromShareableHandle, (cuda_memory *, void *, cuda_handle_type))                       \
    X(0, "CUDA 11.7", cuStreamWriteValue64_v2, (cuda_stream, cuda_address, uint64_t, unsigned))                        \
    X(0, "CUDA 11.7", cuStreamWaitValue64_v2, (cuda_stream, cuda_address, uint64_t, unsigned))                         \
    X(0, "CUDA 2.2", cuMemHostAlloc, (void **, size_t, unsigned))                                                      \
    X(0, "CUDA 2.0", cuMemFreeHost, (void *))                                                                          \
    X(0, "CUDA 3.2", cuMemHostGetDevicePointer_v2, (cuda_address *, void *, unsigned))

struct shmemi_cuda_driver {
#define SHMEMI_CUDA_MEMBER(required, since, symbol, arguments) cuda_result(*symbol) arguments;
    SHMEMI_CUDA_CALLS(SHMEMI_CUDA_MEMBER)
#undef SHMEMI_CUDA_MEMBER
};

#endif
