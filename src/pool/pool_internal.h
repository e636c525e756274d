// SPDX-License-Identifier: Apache-2.0
// What one process knows of a pool that it is attached to.
//
// Locks of this process, in the order in which they are taken: a lane's, slabs_lock, central (and then the shared lock
// of the pool), owns_lock.
#ifndef SHMEMI_POOL_POOL_INTERNAL_H
#define SHMEMI_POOL_POOL_INTERNAL_H

#include <pthread.h>

#include "hal/hal.h"
#include "layout.h"
#include "map/service.h"
#include "map/share.h"
#include "object.h"
#include "pool.h"
#include "sync/waiting.h"

enum { SHMEMI_MAGAZINE = 64, SHMEMI_POOL_PAYLOAD = 1 /* the number of the main segment in keys */ };

/* A free block in this process's hands (CACHED): where it is in the payload, and which of blocks[] is its byte. */
struct shmemi_cached {
    uint64_t offset, block;
};

struct shmemi_magazine {
    uint32_t count, most;
    struct shmemi_cached items[SHMEMI_MAGAZINE];
};

/* Threads are spread over the lanes, so that they seldom meet. */
struct shmemi_lane {
    pthread_mutex_t lock;
    struct shmemi_magazine *magazines[SHMEMI_CLASSES];
    char pad[SHMEMI_LINE];
};

/* A slab that this member owns. */
struct shmemi_slab {
    uint64_t first;
    uint32_t length, blocks;
    uint32_t taken;    /* blocks that were not free when we got it, and those that we took since */
    uint32_t returned; /* pool->returned[first] when we got it: what it counts since then is free again */
};

struct shmemi_slabs {
    struct shmemi_slab *list;
    uint32_t count, capacity, next;
    uint32_t put_back; /* blocks put back since the list was last trimmed */
    bool dirty;        /* blocks were put back since the list was last seen to be empty */
    uint32_t returns;  /* the member's count of returns by others at that time */
};

/* A buffer with a segment of its own. */
struct shmemi_own {
    struct shmemi_own *next;
    uint64_t segment; /* its number in the share */
    void *address;
    size_t bytes, mapped; /* asked for; in whole pages */
    int fd;
    bool inherited; /* from the parent by fork: only the mapping is ours */
};

struct shmemi_pool {
    uint32_t handle;     /* whether it is open; see pool.c */
    _Atomic bool forked; /* inherited by fork, and not attached yet */

    /* Where things are, here. */
    char *control, *payload;
    struct shmemi_pool_layout at;
    struct shmemi_pool_state *state;
    struct shmemi_pool_member *members;
    _Atomic uint64_t *units;
    _Atomic uint32_t *returned; /* by the first unit of a slab: blocks freed by others than its owner's caches */
    _Atomic uint8_t *blocks;    /* SHMEMI_UNIT_BLOCKS a unit; a slab uses them from its first unit's on, one a block */
    struct shmemi_key_record *keys;
    _Atomic uint64_t *name_map;
    struct shmemi_pool_name *names;
    unsigned me; /* our slot */
    bool persistent;

    /* The allocator's private part. */
    struct shmemi_lane lanes[SHMEMI_POOL_LANES];
    pthread_mutex_t slabs_lock;
    struct shmemi_slabs slabs[SHMEMI_CLASSES];
    _Atomic uint32_t pressure; /* state->pressure, as far as it was followed */
    pthread_mutex_t central;
    pthread_mutex_t naming;  /* one name of this process is made at a time; taken before central */
    pthread_mutex_t freeing; /* one block that has keys or names is freed at a time; likewise */
    struct shmemi_lock_holders holders;
    struct shmemi_domain domain;       /* the same, for objects */
    struct shmemi_object_home objects; /* whose home it is */
    bool imported;                     /* the import of an object attached to it: closing the last one detaches */

    /* Segments of their own. */
    pthread_mutex_t owns_lock;
    struct shmemi_own *owns;
    unsigned own_count;

    /* What it is made of. */
    const struct shmemi_hal *hal;
    struct shmemi_wish wish;
    bool grows, writable, private_view; /* private_view: nothing reaches the others (a file opened "cow" or "r") */
    int lock_fd;                        /* of a file: bears the locks, in this process only */
    int control_fd, payload_fd;         /* of a file: the same */
    uint64_t payload_at;                /* where the payload begins in its descriptor */
    void *reserved;                     /* the address range that holds the payload's mapping */
    size_t reserved_bytes;
    struct shmemi_place *place;
    struct shmemi_share *share;
    uint64_t number;
    uint64_t key_mark; /* so many bytes of keys have memory; under the share's lock */
    char name[256], path[512], fallback[128];
    bool in_memory; /* a file on a tmpfs */
    pthread_mutex_t flushing;
    struct shmemi_pool *next_open;
    struct shmemi_kept_link kept; /* of those that were closed */
    pthread_mutex_t failure_lock;
    char failure[256];
};

/* ---- central.c: the lock ---- */
void shmemi_central_take(struct shmemi_pool *pool);
void shmemi_central_give(struct shmemi_pool *pool);

/* ---- units.c: runs of units. All but find: with the lock held ---- */

/* How many units there are now; never more than fit. */
uint64_t shmemi_units_count(const struct shmemi_pool *pool);

/* The entry of a head, and false if there is none that makes sense at `unit`. */
bool shmemi_units_head(const struct shmemi_pool *pool, uint64_t unit, uint64_t *entry);

/* The head of the run or slab that `unit` belongs to. False: none, it is free or out of range. Needs no lock. */
bool shmemi_units_find(const struct shmemi_pool *pool, uint64_t unit, uint64_t *head, uint64_t *entry);

/* Takes `length` units that begin at a multiple of `align` (a power of two) and become the entry `as` with that length.
   prepare (may be NULL) is called with the first unit just before they are taken. -ENOMEM without a text when there is
   no such run. */
int shmemi_units_take(struct shmemi_pool *pool, uint64_t length, uint64_t align, uint64_t as,
                      void (*prepare)(struct shmemi_pool *pool, uint64_t first, void *context), void *context,
                      uint64_t *first);

/* Frees the run or slab that begins there. */
void shmemi_units_give(struct shmemi_pool *pool, uint64_t first, uint64_t entry);

/* Adds units [old, new) at the end. */
void shmemi_units_extend(struct shmemi_pool *pool, uint64_t old, uint64_t new);

/* Counts anew after a death in the middle. */
void shmemi_units_recover(struct shmemi_pool *pool);

/* -EIO: the control part makes no sense at that unit. */
int shmemi_units_damaged(const struct shmemi_pool *pool, uint64_t unit);

/* ---- blocks.c: small blocks ---- */
int shmemi_blocks_alloc(struct shmemi_pool *pool, unsigned class, enum shmemi_block as, uint64_t *offset);
/* A block in a state of `least` to `most`. */
int shmemi_blocks_free(struct shmemi_pool *pool, uint64_t head, uint64_t entry, uint64_t offset,
                       enum shmemi_block least, enum shmemi_block most);
/* Makes a block FREE that is FREEING; takes no lock of this process. */
void shmemi_blocks_finish_free(struct shmemi_pool *pool, uint64_t head, uint64_t entry, uint64_t offset);
/* The byte of the block at this offset of a slab; NULL if none begins there. */
_Atomic uint8_t *shmemi_blocks_at(const struct shmemi_pool *pool, uint64_t head, uint64_t entry, uint64_t offset);
uint32_t shmemi_blocks_in(uint64_t entry);
/* Puts all cached blocks back, and the empty slabs of this member too. */
void shmemi_blocks_trim(struct shmemi_pool *pool);
/* Does so if somebody found no room since it was last done. No lock is held. */
void shmemi_blocks_follow_pressure(struct shmemi_pool *pool);
void shmemi_blocks_reset(struct shmemi_pool *pool); /* forgets everything, touching nothing shared */

/* ---- alloc.c ---- */
struct shmemi_pool_block {
    uint64_t offset, bytes, head, entry;
    enum shmemi_block state;
};
/* Whether a buffer of that kind is to be had at all. */
int shmemi_pool_check_request(const struct shmemi_pool *pool, size_t size, size_t align);
/* As shmemi_pool_alloc, of the main segment: the block's state when it is handed out, and its offset. */
int shmemi_pool_take(struct shmemi_pool *pool, size_t size, size_t align, enum shmemi_block as, uint64_t *offset);
/* Moves a block up to at least this state (KEPT, EXPORTED, NAMED). -EINVAL: no block is allocated at this offset. */
int shmemi_pool_raise(struct shmemi_pool *pool, uint64_t offset, enum shmemi_block to);
/* The same with the lock held. */
int shmemi_pool_raise_locked(struct shmemi_pool *pool, const struct shmemi_pool_block *block, enum shmemi_block to);
/* The allocated block that holds the offset: where it begins, its size and state. -EINVAL: none. */
int shmemi_pool_look(const struct shmemi_pool *pool, uint64_t offset, struct shmemi_pool_block *out);
/* Ends what a member began that died while it freed a block with keys or names. With the lock held. */
void shmemi_pool_finish_free(struct shmemi_pool *pool, unsigned slot);

/* ---- pool.c ---- */
/* Before each operation: -EBADF for a handle that is closed; after a fork the child attaches here. */
int shmemi_pool_enter(struct shmemi_pool *pool);
/* The lock of all pools of this process, which fork holds too; and whether one of them is mapped there. */
void shmemi_pool_lock_all(void);
void shmemi_pool_unlock_all(void);
bool shmemi_pool_any_maps(const void *address);
/* object.c: a new pool becomes a home; and in a forked child, whose handles have to attach first. */
void shmemi_object_settle(struct shmemi_pool *pool);
void shmemi_object_forked(struct shmemi_pool *pool);
struct shmemi_pool *shmemi_pool_new(void);
void shmemi_pool_delete(struct shmemi_pool *pool);
void shmemi_pool_register(struct shmemi_pool *pool);
int shmemi_pool_need_writable(const struct shmemi_pool *pool);
void shmemi_pool_fill_slot(struct shmemi_pool *pool, struct shmemi_pool_slot *slot);
int shmemi_pool_reserve_fixed(struct shmemi_pool *pool);

/* Bytes of a page of the pool's memory. */
size_t shmemi_pool_page(const struct shmemi_pool *pool);

/* ---- members.c ---- */
/* The places are known to the lock from here on. */
void shmemi_members_set_holders(struct shmemi_pool *pool);
/* Takes a place, and takes back what dead members had. */
int shmemi_members_join(struct shmemi_pool *pool);
/* What the member in that slot had goes back: it is dead, or we are it and leave. What several of them were at together
   is settled before: shmemi_members_settle() of all. With the lock held. */
void shmemi_members_settle(struct shmemi_pool *pool, unsigned slot);
int shmemi_members_return(struct shmemi_pool *pool, unsigned slot);
/* Does that for all dead ones, and frees slabs without an owner that are empty. With the lock held. */
int shmemi_members_sweep(struct shmemi_pool *pool);
unsigned shmemi_members_alive(const struct shmemi_pool *pool);
bool shmemi_members_any_dead(const struct shmemi_pool *pool);
uint64_t shmemi_members_own_bytes(const struct shmemi_pool *pool); /* in segments of their own, of all */

/* ---- own.c ---- */
int shmemi_own_alloc(struct shmemi_pool *pool, size_t bytes, size_t align, void **out);
void shmemi_own_inherit(struct shmemi_pool *pool); /* in a forked child: they are the parent's */
int shmemi_own_freeze(struct shmemi_pool *pool, const void *address);
struct shmemi_own *shmemi_own_find(struct shmemi_pool *pool, const void *address); /* with owns_lock held */
int shmemi_own_free(struct shmemi_pool *pool, const void *address);                /* -ENOENT: not one of them */
int shmemi_own_move(struct shmemi_pool *pool, uint64_t segment);
void shmemi_own_close_all(struct shmemi_pool *pool);

/* ---- attach.c: mappings ---- */
int shmemi_pool_map(struct shmemi_pool *pool, enum shmemi_access access);
void shmemi_pool_unmap(struct shmemi_pool *pool);
int shmemi_pool_serve(struct shmemi_pool *pool);
/* Takes pages for units [old, new), and what goes with them in the control part. */
int shmemi_pool_reserve(struct shmemi_pool *pool, uint64_t old, uint64_t new);
int shmemi_pool_reserve_control(struct shmemi_pool *pool, uint64_t offset, uint64_t bytes);

/* ---- names.c ---- */
/* The name that a member was making when it died or left. With the lock held, and before its blocks go. */
void shmemi_names_sweep(struct shmemi_pool *pool, unsigned slot);
void shmemi_names_drop(struct shmemi_pool *pool, uint64_t offset); /* the buffer at this offset is being freed */
/* Into an empty table, or one that has others only: a name that was in another one. Nobody else is attached. */
int shmemi_names_restore(struct shmemi_pool *pool, const struct shmemi_pool_name *name);
/* Calls the function, with the lock held, with the buffer of that name, if there is one of at least that size and with
   the same note. */
void shmemi_names_visit(struct shmemi_pool *pool, const struct shmemi_naming *naming,
                        void (*call)(void *buffer, void *context), void *context);
bool shmemi_names_used(const struct shmemi_pool *pool, uint64_t index);

/* ---- file.c, checkpoint.c ---- */
int shmemi_file_close(struct shmemi_pool *pool);
int shmemi_file_open_locks(struct shmemi_pool *pool);
int shmemi_file_lock_flush(const struct shmemi_pool *pool, bool take);
int shmemi_file_attach_child(struct shmemi_pool *pool);
/* The valid header slot with the higher generation. 0, or what is wrong with the file. */
int shmemi_file_read_slot(const struct shmemi_pool *pool, struct shmemi_pool_slot *out);
/* The next generation, to disk. */
int shmemi_file_write_slot(const struct shmemi_pool *pool, struct shmemi_pool_slot *slot);
/* Data and metadata to disk. */
int shmemi_checkpoint_write(struct shmemi_pool *pool, enum shmemi_pool_use use);
/* Makes the control part what it was at that checkpoint. */
int shmemi_checkpoint_restore(struct shmemi_pool *pool, const struct shmemi_pool_slot *slot);
/* Whether the heads cover all units. */
bool shmemi_units_valid(const struct shmemi_pool *pool);

#endif
