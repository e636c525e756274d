// SPDX-License-Identifier: Apache-2.0
// Objects in pools and on the symmetric heap, as one: which of the two is told by the pool's handle, or the object's.
#ifndef SHMEMI_API_OBJECTS_H
#define SHMEMI_API_OBJECTS_H

#include "shmemx.h"
#include "comm/objects.h"

int shmemi_make_object(shmemx_pool_t pool, const struct shmemi_object_spec *spec, struct shmemi_object **out);
int shmemi_find_object(shmemx_pool_t pool, const char *name, enum shmemi_object_type type, struct shmemi_object **out);

/* What has this name: the type of an object, or 0 for a buffer. */
int shmemi_what_object(shmemx_pool_t pool, const char *name);

/* rc: whether it can be ended now. undo (may be NULL): takes that back, where another PE's instance cannot. Returns 0
   when it is gone, and the handle. */
int shmemi_end_object(struct shmemi_object *object, int rc, void (*undo)(struct shmemi_object *object));

#endif
