// SPDX-License-Identifier: Apache-2.0
// Objects of synchronisation and queues in a pool or file: making, naming, finding, handing over by key. What they do
// is in src/sync and src/queue.
//
// A handle is private to a process; the object is one buffer of the pool that begins with a shmemi_object_head. Whoever
// uses one is a member of its pool, so importing an object's key attaches to the pool.
#ifndef SHMEMI_POOL_OBJECT_H
#define SHMEMI_POOL_OBJECT_H

#include "pool.h"
#include "sync/domain.h"

enum shmemi_object_type {
    SHMEMI_OBJECT_MUTEX = 1,
    SHMEMI_OBJECT_RWLOCK,
    SHMEMI_OBJECT_SEMAPHORE,
    SHMEMI_OBJECT_CONDITION,
    SHMEMI_OBJECT_BARRIER,
    SHMEMI_OBJECT_EVENT,
    SHMEMI_OBJECT_ATOMIC,
    SHMEMI_OBJECT_QUEUE,
    SHMEMI_OBJECT_TYPES,
};

/* First in every object. 128 bytes, so that what follows has a line of its own. */
struct shmemi_object_head {
    _Atomic uint32_t type; /* enum shmemi_object_type with SHMEMI_OBJECT_MARK; 0 once it is destroyed */
    uint32_t version;
    uint64_t bytes; /* of the whole object */
    char pad[112];
};
#define SHMEMI_OBJECT_MARK UINT32_C(0x53484d00)

struct shmemi_object {
    uint32_t mark; /* whether the handle is one */
    enum shmemi_object_type type;
    struct shmemi_pool *pool;
    const struct shmemi_domain *domain; /* who this process is; the pool's */
    void *shared;                       /* behind the head */
    struct shmemi_object_head *head;
    size_t bytes;  /* behind the head */
    bool attached; /* importing it attached to the pool: closing it detaches */
};

/* "mutex" ... */
const char *shmemi_object_word(enum shmemi_object_type type);

/* Makes an object with `bytes` behind the head, all zeros but for what init (may be NULL) does. name NULL: anonymous.
   -EEXIST, -ENOMEM as of pools. */
struct shmemi_object_spec {
    enum shmemi_object_type type;
    const char *name;
    size_t bytes;
    void (*init)(void *shared, void *context);
    void *context;
};
int shmemi_object_create(struct shmemi_pool *pool, const struct shmemi_object_spec *spec, struct shmemi_object **out);

/* By its name. -ENOENT; -EINVAL: it is another type of object, or no object. */
int shmemi_object_find(struct shmemi_pool *pool, const char *name, enum shmemi_object_type type,
                       struct shmemi_object **out);

/* A key for other processes of this user. */
int shmemi_object_export(struct shmemi_object *object, char text[SHMEMI_KEY_TEXT]);
int shmemi_object_import(const char *text, enum shmemi_object_type type, struct shmemi_object **out);

/* Before each operation on a handle of that type: -EBADF for none or a closed one, -ENOENT for an object that was
   destroyed; in a forked child this attaches to the pool. */
int shmemi_object_enter(struct shmemi_object *object, enum shmemi_object_type type);

/* The handle goes; the object stays. */
int shmemi_object_close(struct shmemi_object *object);

/* The object goes, and the handle. The caller has made sure that nobody has or awaits it. */
int shmemi_object_destroy(struct shmemi_object *object);

#endif
