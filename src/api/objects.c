// SPDX-License-Identifier: Apache-2.0
// The symmetric heap where functions take a pool.
#include "objects.h"

#include <errno.h>

#include "named.h"

shmemx_pool_t shmemx_symmetric(void)
{
    /* To functions of pools it is a pool that was closed. */
    static _Alignas(64) char place[64];
    return (shmemx_pool_t)(void *)place;
}

int shmemi_make_object(shmemx_pool_t pool, const struct shmemi_object_spec *spec, struct shmemi_object **out)
{
    return pool == shmemx_symmetric() ? shmemi_symmetric_create(spec, out)
                                      : shmemi_object_create((struct shmemi_pool *)(void *)pool, spec, out);
}

int shmemi_find_object(shmemx_pool_t pool, const char *name, enum shmemi_object_type type, struct shmemi_object **out)
{
    return pool == shmemx_symmetric() ? shmemi_symmetric_find(name, type, out)
                                      : shmemi_object_find((struct shmemi_pool *)(void *)pool, name, type, out);
}

int shmemi_what_object(shmemx_pool_t pool, const char *name)
{
    return pool == shmemx_symmetric() ? shmemi_symmetric_what(name)
                                      : shmemi_object_what((struct shmemi_pool *)(void *)pool, name);
}

int shmemi_end_object(struct shmemi_object *object, int rc, void (*undo)(struct shmemi_object *object))
{
    bool there = rc != -EBADF && rc != -ENOENT; /* the handle is one, and the object exists */
    if (there && shmemi_symmetric_pe(object) >= 0)
        return shmemi_symmetric_destroy(object, rc, undo);
    return rc < 0 ? rc : shmemi_object_destroy(object);
}
