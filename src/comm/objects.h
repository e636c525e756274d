// SPDX-License-Identifier: Apache-2.0
// Objects of synchronisation and queues on the symmetric heap: the job as their home, with PEs as members. Every PE has
// one instance of each, at the same offset; src/pool/object.h has what they have in common with objects in pools.
#ifndef SHMEMI_COMM_OBJECTS_H
#define SHMEMI_COMM_OBJECTS_H

#include <stdbool.h>

#include "pool/object.h"

/* Collective: one instance on every PE, and a handle of this PE's own. All PEs ask for the same: type, size, name, what
   is said, note. -EINVAL: they do not; -EEXIST: the name stands for another; -ENOMEM as of allocations; -EPERM: no job.
 */
int shmemi_symmetric_create(const struct shmemi_object_spec *spec, struct shmemi_object **out);

/* This PE's own instance of the object of that name. -ENOENT, -EINVAL (another type). */
int shmemi_symmetric_find(const char *name, enum shmemi_object_type type, struct shmemi_object **out);

/* The type of the object of that name. -ENOENT; -EPERM: no job. */
int shmemi_symmetric_what(const char *name);

/* A handle of PE pe's instance of the object that `object` is an instance of; it was entered before. -EINVAL: it is no
   object on the symmetric heap, or there is no such PE. */
int shmemi_symmetric_on(const struct shmemi_object *object, int pe, struct shmemi_object **out);

/* The PE whose instance it is; -1: it is not on the symmetric heap. */
int shmemi_symmetric_pe(const struct shmemi_object *object);

/* Collective: the end of all instances, or of none. rc: whether this PE's own can be ended now, negative with the text
   when not. What was done so that it can is undone with undo() (may be NULL) when another PE's cannot. Each PE gives
   the handle of its own instance, which goes. */
int shmemi_symmetric_destroy(struct shmemi_object *object, int rc, void (*undo)(struct shmemi_object *object));

#endif
