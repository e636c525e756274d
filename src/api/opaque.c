// SPDX-License-Identifier: Apache-2.0
// Handles that were closed are kept, and say so.
#include "opaque.h"

#include <errno.h>

#include "base/error.h"

static struct shmemi_kept closed = SHMEMI_KEPT(struct shmemi_opaque, 256);

static const char *word(enum shmemi_opaque_type type)
{
    static const char *const words[SHMEMI_OPAQUE_TYPES] = {[SHMEMI_OPAQUE_STREAM] = "a stream",
                                                           [SHMEMI_OPAQUE_DEVICE_POOL] = "a device pool",
                                                           [SHMEMI_OPAQUE_DEVICE_IMPORT] = "an import of device memory",
                                                           [SHMEMI_OPAQUE_IMPORT] = "an import",
                                                           [SHMEMI_OPAQUE_GROUP] = "a process group",
                                                           [SHMEMI_OPAQUE_REQUEST] = "a request"};
    return words[type];
}

int shmemi_opaque_new(struct shmemi_opaque **out)
{
    *out = shmemi_kept_take(&closed);
    return *out ? 0 : -ENOMEM;
}

int shmemi_opaque_settle(struct shmemi_opaque *handle, int rc, enum shmemi_opaque_type type, void *inner)
{
    if (rc < 0) {
        shmemi_kept_put(&closed, handle);
        return rc;
    }
    handle->of = NULL;
    atomic_fetch_add_explicit(&handle->life, 1, memory_order_relaxed); /* [opaque] */
    atomic_store_explicit(&handle->inner, inner, memory_order_relaxed);
    /* [opaque] release pairs with the acquire in shmemi_opaque_enter() */
    atomic_store_explicit(&handle->type, (uint32_t)type, memory_order_release);
    return 0;
}

int shmemi_opaque_refuse(const void *handle, enum shmemi_opaque_type type, const char *argument)
{
    const struct shmemi_opaque *h = handle;
    if (!h)
        return shmemi_fail(-EINVAL, "%s is NULL", argument);
    uint32_t is = atomic_load_explicit(&h->type, memory_order_relaxed); /* only words a message */
    if (!is || is >= SHMEMI_OPAQUE_TYPES)
        return shmemi_fail(-EBADF, "%s is %p, a handle that was closed", argument, handle);
    return shmemi_fail(-EBADF, "%s is %p, which is no handle of %s (any more): it is one of %s now", argument, handle,
                       word(type), word(is));
}

int shmemi_opaque_take(void *handle, enum shmemi_opaque_type type, const char *argument, void **inner)
{
    struct shmemi_opaque *h = handle;
    uint32_t is = (uint32_t)type;
    /* [opaque] acquire pairs with the release in shmemi_opaque_settle(), and in shmemi_opaque_end() */
    if (!h || !atomic_compare_exchange_strong_explicit(&h->type, &is, 0, memory_order_acquire, memory_order_relaxed))
        return shmemi_opaque_refuse(handle, type, argument);
    *inner = atomic_load_explicit(&h->inner, memory_order_relaxed); /* [opaque] */
    return 0;
}

void shmemi_opaque_end(void *handle, enum shmemi_opaque_type type, bool gone)
{
    struct shmemi_opaque *h = handle;
    if (gone)
        shmemi_kept_put(&closed, h);
    else
        atomic_store_explicit(&h->type, (uint32_t)type, memory_order_release); /* [opaque] */
}
