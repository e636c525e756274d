// SPDX-License-Identifier: Apache-2.0
// Handles that programs get for what the layers below made: streams, device pools, imports, groups and their requests.
// Each knows its type, and one that was closed says so (-EBADF). Closing what another thread uses is a mistake, which
// is told on a best effort.
#ifndef SHMEMI_API_OPAQUE_H
#define SHMEMI_API_OPAQUE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/kept.h"

enum shmemi_opaque_type {
    SHMEMI_OPAQUE_STREAM = 1,
    SHMEMI_OPAQUE_DEVICE_POOL,
    SHMEMI_OPAQUE_DEVICE_IMPORT,
    SHMEMI_OPAQUE_IMPORT,
    SHMEMI_OPAQUE_GROUP,
    SHMEMI_OPAQUE_REQUEST,
    SHMEMI_OPAQUE_TYPES,
};

struct shmemi_opaque {
    _Atomic uint32_t type; /* 0: it was closed */
    _Atomic(void *) inner; /* what the layer below made */
    _Atomic uint64_t life; /* tells one use of this memory from the next */
    struct shmemi_kept_link kept;
    /* Of a request: what it is of no use without, in that life. */
    struct shmemi_opaque *of;
    uint64_t of_life;
};

/* A handle for what is going to be made; -ENOMEM. */
int shmemi_opaque_new(struct shmemi_opaque **out);
/* With the rc of making it: the handle is of what was made, or (rc negative) is put away. Returns rc. */
int shmemi_opaque_settle(struct shmemi_opaque *handle, int rc, enum shmemi_opaque_type type, void *inner);

/* Why a handle cannot be used: -EINVAL it is NULL, -EBADF it was closed, or is of another type. argument: its name. */
int shmemi_opaque_refuse(const void *handle, enum shmemi_opaque_type type, const char *argument) SHMEMI_COLD;

/* Before each operation: *inner is what the handle is of. */
SHMEMI_INLINE int shmemi_opaque_enter(void *handle, enum shmemi_opaque_type type, const char *argument, void **inner)
{
    struct shmemi_opaque *h = handle;
    /* [opaque] acquire pairs with the release in shmemi_opaque_settle(): what it is of is there. */
    if (shmemi_unlikely(!h || atomic_load_explicit(&h->type, memory_order_acquire) != (uint32_t)type))
        return shmemi_opaque_refuse(handle, type, argument);
    *inner = atomic_load_explicit(&h->inner, memory_order_relaxed); /* [opaque] */
    return 0;
}

/* The same before it is closed: one thread alone gets it. Then it is gone, or back as it was. */
int shmemi_opaque_take(void *handle, enum shmemi_opaque_type type, const char *argument, void **inner);
void shmemi_opaque_end(void *handle, enum shmemi_opaque_type type, bool gone);

struct shmemi_stream;
SHMEMI_INLINE int shmemi_enter_stream(void *handle, struct shmemi_stream **out)
{
    void *inner = NULL;
    int rc = shmemi_opaque_enter(handle, SHMEMI_OPAQUE_STREAM, "stream", &inner);
    *out = inner;
    return rc;
}

#endif
