// SPDX-License-Identifier: Apache-2.0
// Objects of synchronisation and queues in a pool, a file or another home: making, naming, finding, handing over by
// key. What they do is in src/sync and src/queue.
//
// A handle is private to a process; the object is one buffer of its home that begins with a shmemi_object_head. Whoever
// uses one is a member of its home, so importing an object's key attaches to the pool.
#ifndef SHMEMI_POOL_OBJECT_H
#define SHMEMI_POOL_OBJECT_H

#include "base/compiler.h"
#include "base/kept.h"
#include "pool.h"
#include "sync/waiting.h"

enum shmemi_object_type {
    SHMEMI_OBJECT_MUTEX = 1,
    SHMEMI_OBJECT_RWLOCK,
    SHMEMI_OBJECT_SEMAPHORE,
    SHMEMI_OBJECT_CONDITION,
    SHMEMI_OBJECT_BARRIER,
    SHMEMI_OBJECT_EVENT,
    SHMEMI_OBJECT_ATOMIC,
    SHMEMI_OBJECT_QUEUE,
    SHMEMI_OBJECT_GROUP,
    SHMEMI_OBJECT_TYPES,
};

/* First in every object. 128 bytes, so that what follows has a line of its own. */
struct shmemi_object_head {
    /* A number of its own in the upper half, SHMEMI_OBJECT_MARK and enum shmemi_object_type in the lower; or who
       destroyed it, or is about to, as a holder (whose bits 31 and 30 are 0, unlike the mark's); or anything, once the
       memory is used for something else. */
    _Atomic uint64_t life;
    uint64_t bytes;      /* of the object, this and the type's own */
    uint64_t note_bytes; /* of the note, which lies behind those */
    char pad[104];
};
#define SHMEMI_OBJECT_MARK UINT32_C(0x53484d00)

enum {
    SHMEMI_OBJECT_OPEN = 0x4a424f00, /* + type: a handle that can be used at once */
    SHMEMI_OBJECT_FORKED = 1,        /* one that a child of fork has from its parent */
    SHMEMI_OBJECT_CLOSED = 2,
    SHMEMI_OBJECT_ENDED = 3, /* one whose home is gone, and cannot be touched */
};

struct shmemi_object_home;

/* What a home does for its objects. */
struct shmemi_object_home_calls {
    int (*enter)(struct shmemi_object_home *home); /* before the first use in a forked child */
    int (*give)(struct shmemi_object_home *home, void *buffer);
    int (*last_closed)(struct shmemi_object_home *home); /* no handle is left */
    /* Makes home->waits: a table that all members share. May fail: then nobody looks for cycles. */
    void (*make_waits)(struct shmemi_object_home *home);
};

/* Where objects lie, as this process knows it: a pool, or (src/comm/objects.c) the symmetric heap. */
struct shmemi_object_home {
    const struct shmemi_object_home_calls *calls;
    const struct shmemi_domain *domain; /* who the members are, and this process is */
    struct shmemi_object *handles;      /* under the lock of all pools */
    _Atomic unsigned open;              /* how many handles */
    struct shmemi_waits waits;          /* rows NULL: not made */
};

/* A handle. What each operation needs first. */
struct shmemi_object {
    _Atomic uint32_t mark; /* SHMEMI_OBJECT_ */
    uint32_t count;        /* of seats, units ...; 0 where the type has none */
    void *shared;          /* behind the head */
    struct shmemi_site site;
    enum shmemi_object_type type;
    size_t bytes; /* behind the head */
    const void *note;
    size_t note_bytes;
    struct shmemi_object_head *head;
    struct shmemi_object_home *home;
    const struct shmemi_domain *domain; /* who this process is; the home's */
    struct shmemi_object *next;         /* of the home's */
    struct shmemi_kept_link kept;       /* of those that were closed */
    /* Before the object goes, or its home, where the handle has an owner that touches it by itself. */
    void (*ending)(void *owner);
    void *owner;
};

/* "mutex" ... */
const char *shmemi_object_word(enum shmemi_object_type type);
const char *shmemi_object_a(enum shmemi_object_type type); /* "a mutex" ... */

/* Makes an object with `bytes` behind the head, all zeros but for what init (may be NULL) does. name NULL: anonymous.
   -EEXIST, -ENOMEM as of pools. */
struct shmemi_object_spec {
    enum shmemi_object_type type;
    const char *name;
    size_t bytes;
    void (*init)(void *shared, void *context);
    void *context;
    const void *note; /* stays with the object, for those who find it: at most SHMEMI_OBJECT_NOTE bytes */
    size_t note_bytes;
    const char *said; /* what else was asked for, in words, or NULL: where several make it together, they compare it */
};
enum { SHMEMI_OBJECT_NOTE = 544 };
int shmemi_object_create(struct shmemi_pool *pool, const struct shmemi_object_spec *spec, struct shmemi_object **out);

/* For other homes: what spec says, in fresh memory of shmemi_object_bytes() bytes at a multiple of SHMEMI_LINE. */
size_t shmemi_object_bytes(const struct shmemi_object_spec *spec);
/* Returns what tells it from all others, for shmemi_object_open(). */
uint64_t shmemi_object_init(void *buffer, const struct shmemi_object_spec *spec);

/* What lies where. bytes, note_bytes: of the object with its head, and of its note; checked, or known here. */
struct shmemi_object_place {
    void *buffer;
    uint64_t bytes, note_bytes;
    uint64_t life; /* of one that was just made, which others may have destroyed already; 0: of any that is there */
};

/* A handle of the object of that type there. -ENOENT: there is none (any more). */
int shmemi_object_open(struct shmemi_object_home *home, enum shmemi_object_type type,
                       const struct shmemi_object_place *place, struct shmemi_object **out);

/* All handles of a home that goes: their owners are told, and then they can be closed, and nothing else. forked: this
   is the child, where the owners' threads are not. */
void shmemi_object_end_all(struct shmemi_object_home *home, bool forked);

/* By its name. -ENOENT; -EINVAL: it is another type of object, or no object. */
int shmemi_object_find(struct shmemi_pool *pool, const char *name, enum shmemi_object_type type,
                       struct shmemi_object **out);

/* A key for other processes of this user. */
int shmemi_object_export(struct shmemi_object *object, char text[SHMEMI_KEY_TEXT]);
int shmemi_object_import(const char *text, enum shmemi_object_type type, struct shmemi_object **out);

/* What has this name: the type of an object, or 0 for a buffer. -ENOENT. */
int shmemi_object_what(struct shmemi_pool *pool, const char *name);

/* What this key opens: the type of an object, or 0 for a buffer or a pool; of a pool that this process is attached to,
   which *out is. -ENOKEY: it is not. */
int shmemi_object_what_key(const char *text, struct shmemi_pool **out);

/* Whether a handle can be used at once: it is open and of that type, and its object is there. */
SHMEMI_INLINE bool shmemi_object_ready(const struct shmemi_object *object, enum shmemi_object_type type)
{
    /* relaxed: closing a handle that others use is a mistake, and told on a best effort */
    return shmemi_likely(object && atomic_load_explicit(&object->mark, memory_order_relaxed) ==
                                       SHMEMI_OBJECT_OPEN + (uint32_t)type) &&
           /* [object] acquire: pairs with the release in init_head(). */
           shmemi_likely(atomic_load_explicit(object->site.alive, memory_order_acquire) == object->site.life);
}

/* Before each operation on a handle of that type: -EBADF for none or a closed one, -ENOENT for an object that was
   destroyed; in a forked child this attaches to the pool. */
int shmemi_object_enter(struct shmemi_object *object, enum shmemi_object_type type);

enum { SHMEMI_OBJECT_WAIT_ROWS = 1024 };

/* The wait table of the object's home, which is made when it is first asked for. NULL: there is none, and no room. */
const struct shmemi_waits *shmemi_object_waits(struct shmemi_object *object);

/* The handle goes; the object stays. */
int shmemi_object_close(struct shmemi_object *object);

/* The object goes, and the handle. The caller has made sure that nobody has or awaits it. */
int shmemi_object_destroy(struct shmemi_object *object);

#endif
