// SPDX-License-Identifier: Apache-2.0
// What a capsule of DLPack holds: declared here, since no header of it may be needed.
#ifndef SHMEM_PYTHON_DLPACK_H
#define SHMEM_PYTHON_DLPACK_H

#include <stdint.h>

struct dl_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
};
struct dl_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags; /* 1: read-only */
    struct dl_tensor tensor;
};
_Static_assert(sizeof(struct dl_tensor) == 48 && sizeof(struct dl_managed) == 64 && sizeof(struct dl_versioned) == 80,
               "as DLPack has them");

#endif
