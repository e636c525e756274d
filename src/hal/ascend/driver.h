// SPDX-License-Identifier: Apache-2.0
// The calls of AscendCL that the back end uses, declared here since no header of CANN may be needed. Only those of the
// first interface (1.1.0) are required; which way memory is shared is chosen by the calls that are there.
#ifndef SHMEMI_HAL_ASCEND_DRIVER_H
#define SHMEMI_HAL_ASCEND_DRIVER_H

#include <stddef.h>
#include <stdint.h>

struct shmemi_ascend_location {
    uint32_t id;
    int type;
};
struct shmemi_ascend_properties { /* aclrtPhysicalMemProp, 32 bytes */
    int handle_type, allocation_type, attribute;
    struct shmemi_ascend_location location;
    uint64_t reserved;
};
struct shmemi_ascend_access { /* aclrtMemAccessDesc, 24 bytes */
    int flags;
    struct shmemi_ascend_location location;
    uint8_t reserved[12];
};
struct shmemi_ascend_pointer { /* aclrtPtrAttributes, 28 bytes */
    struct shmemi_ascend_location location;
    uint32_t page_size, reserved[4];
};
_Static_assert(sizeof(struct shmemi_ascend_properties) == 32, "aclrtPhysicalMemProp");
_Static_assert(offsetof(struct shmemi_ascend_properties, reserved) == 24, "aclrtPhysicalMemProp.reserve");
_Static_assert(sizeof(struct shmemi_ascend_access) == 24, "aclrtMemAccessDesc");
_Static_assert(sizeof(struct shmemi_ascend_pointer) == 28, "aclrtPtrAttributes");

enum {
    ACL_REPEATED = 100002,
    ACL_BAD_DEVICE = 107001,
    ACL_NO_CONTEXT = 107002,
    ACL_OTHER_CONTEXT = 107003,
    ACL_UNSUPPORTED = 200001,
    ACL_UNSUPPORTED_RT = 207000,
    ACL_NO_ROOM = 200000,
    ACL_NO_ROOM_RT = 207001,
    ACL_NO_DEVICE = 207004,
    ACL_NO_PERMISSION = 207006,
    ACL_OUT_OF_MEMORY = 207018,
    ACL_HBM = 1,
    ACL_HBM_HUGE = 4,
    ACL_ON_DEVICE = 1,
    ACL_READ_WRITE = 3,
    ACL_HUGE_FIRST = 0,
    ACL_HUGE_ONLY = 1,
    ACL_SHARED_DEFAULT = 1,
    ACL_KEY_BYTES = 65,
};

/* X(required, since, symbol, arguments) */
#define SHMEMI_ASCEND_CALLS(X)                                                                                         \
    X(1, "ACL 1.1.0", aclInit, (const char *))                                                                         \
    X(1, "ACL 1.1.0", aclrtGetDeviceCount, (uint32_t *))                                                               \
    X(1, "ACL 1.1.0", aclrtSetDevice, (int32_t))                                                                       \
    X(1, "ACL 1.1.0", aclrtGetCurrentContext, (void **))                                                               \
    X(1, "ACL 1.1.0", aclrtSetCurrentContext, (void *))                                                                \
    X(1, "ACL 1.1.0", aclrtGetMemInfo, (int, size_t *, size_t *))                                                      \
    X(1, "ACL 1.1.0", aclrtMalloc, (void **, size_t, int))                                                             \
    X(1, "ACL 1.1.0", aclrtFree, (void *))                                                                             \
    X(0, "ACL 1.1.0", aclrtMallocHost, (void **, size_t))                                                              \
    X(0, "ACL 1.1.0", aclrtFreeHost, (void *))                                                                         \
    X(1, "ACL 1.1.0", aclrtMemcpyAsync, (void *, size_t, const void *, size_t, int, void *))                           \
    X(1, "ACL 1.1.0", aclrtCreateStream, (void **))                                                                    \
    X(1, "ACL 1.1.0", aclrtDestroyStream, (void *))                                                                    \
    X(1, "ACL 1.1.0", aclrtSynchronizeStream, (void *))                                                                \
    X(1, "ACL 1.1.0", aclrtDeviceCanAccessPeer, (int32_t *, int32_t, int32_t))                                         \
    X(1, "ACL 1.1.0", aclrtDeviceEnablePeerAccess, (int32_t, uint32_t))                                                \
    X(0, "CANN 7.0", aclrtStreamQuery, (void *, int *))                                                                \
    X(0, "CANN 7.0", aclrtReserveMemAddress, (void **, size_t, size_t, void *, uint64_t))                              \
    X(0, "CANN 7.0", aclrtReleaseMemAddress, (void *))                                                                 \
    X(0, "CANN 7.0", aclrtMallocPhysical, (void **, size_t, const struct shmemi_ascend_properties *, uint64_t))        \
    X(0, "CANN 7.0", aclrtFreePhysical, (void *))                                                                      \
    X(0, "CANN 7.0", aclrtMapMem, (void *, size_t, size_t, void *, uint64_t))                                          \
    X(0, "CANN 7.0", aclrtUnmapMem, (void *))                                                                          \
    X(0, "CANN 8.0.RC2", aclrtMemGetAllocationGranularity, (struct shmemi_ascend_properties *, int, size_t *))         \
    X(0, "CANN 8.0.RC2", aclrtMemExportToShareableHandle, (void *, int, uint64_t, uint64_t *))                         \
    X(0, "CANN 8.0.RC2", aclrtMemSetPidToShareableHandle, (uint64_t, int32_t *, size_t))                               \
    X(0, "CANN 8.0.RC2", aclrtMemImportFromShareableHandle, (uint64_t, int32_t, void **))                              \
    X(0, "CANN 8.0.RC2", aclrtDeviceGetBareTgid, (int32_t *))                                                          \
    X(0, "CANN 8.2.RC1", aclrtIpcMemGetExportKey, (void *, size_t, char *, size_t, uint64_t))                          \
    X(0, "CANN 8.2.RC1", aclrtIpcMemSetImportPid, (const char *, int32_t *, size_t))                                   \
    X(0, "CANN 8.2.RC1", aclrtIpcMemImportByKey, (void **, const char *, uint64_t))                                    \
    X(0, "CANN 8.2.RC1", aclrtIpcMemClose, (const char *))                                                             \
    X(0, "CANN 8.3.RC1", aclrtValueWrite, (void *, uint64_t, uint32_t, void *))                                        \
    X(0, "CANN 8.3.RC1", aclrtValueWait, (void *, uint64_t, uint32_t, void *))                                         \
    X(0, "CANN 8.5.0", aclrtMemSetAccess, (void *, size_t, struct shmemi_ascend_access *, size_t))                     \
    X(0, "CANN 8.5.0", aclrtMemExportToShareableHandleV2, (void *, uint64_t, int, void *))                             \
    X(0, "CANN 8.5.0", aclrtMemSetPidToShareableHandleV2, (void *, int, int32_t *, size_t))                            \
    X(0, "CANN 8.5.0", aclrtMemImportFromShareableHandleV2, (void *, int, uint64_t, void **))                          \
    X(0, "a later CANN", aclrtGetVersion, (int32_t *, int32_t *, int32_t *))                                           \
    X(0, "a later CANN", aclrtGetPhyDevIdByUserDevId, (int32_t, int32_t *))                                            \
    X(0, "a later CANN", aclrtGetLogicDevIdByUserDevId, (int32_t, int32_t *))                                          \
    X(0, "a later CANN", aclrtGetPhyDevIdByLogicDevId, (int32_t, int32_t *))                                           \
    X(0, "a later CANN", aclrtPointerGetAttributes, (const void *, struct shmemi_ascend_pointer *))                    \
    X(0, "CANN 9.0", aclrtMemGetAddressRange, (void *, void **, size_t *))

struct shmemi_ascend_driver {
#define SHMEMI_ASCEND_MEMBER(required, since, symbol, arguments) int(*symbol) arguments;
    SHMEMI_ASCEND_CALLS(SHMEMI_ASCEND_MEMBER)
#undef SHMEMI_ASCEND_MEMBER
    const char *(*message)(void); /* aclGetRecentErrMsg */
    const char *(*chip)(void);    /* aclrtGetSocName */
};

#endif
