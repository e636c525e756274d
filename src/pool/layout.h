// SPDX-License-Identifier: Apache-2.0
// What lies where in a pool. docs/formats/pool.md draws it.
//
// A pool is a control part (this header's structures) and a payload, which holds buffers and nothing else. In memory
// they are two memfds; in a file the payload follows the control part. Everything that depends on the size is laid out
// for the largest size that the pool can grow to; pages are taken for the present size only.
//
// Any member can write to the control part, so nothing read from it is followed unchecked: the layout is computed from
// max_units once at attach, and offsets and lengths are compared with it at each use.
#ifndef SHMEMI_POOL_LAYOUT_H
#define SHMEMI_POOL_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "classes.h"
#include "map/key.h"
#include "map/member.h"
#include "sync/lock.h"

enum {
    SHMEMI_POOL_VERSION = 1,
    SHMEMI_POOL_MEMBERS = 256,
    SHMEMI_POOL_LANES = 4,
    SHMEMI_POOL_NAME = 96,
};

/* No machine that we know has larger pages; addresses are rounded by them. */
#define SHMEMI_POOL_PAGE_MOST (UINT64_C(16) << 30)

#define SHMEMI_POOL_MAGIC "SHMEMPL"

enum { SHMEMI_POOL_PERSISTENT = 1u << 0, SHMEMI_POOL_GROWS = 1u << 1, SHMEMI_POOL_LOCKED = 1u << 2 };

enum shmemi_pool_use { SHMEMI_POOL_CLEAN = 1, SHMEMI_POOL_DIRTY };

/* One of the two header slots, which are written in turn: the valid one with the higher generation counts. A pool in
   memory has the first one only, written once. Little endian; the reserved rest of its 4096 bytes is zero. */
struct shmemi_pool_slot {
    char magic[8];
    uint32_t version, flags;
    uint64_t fingerprint; /* sizes of the structures */
    uint64_t generation;
    uint64_t number;              /* of its share */
    uint64_t max_units, units;    /* units: when the slot was written */
    uint64_t control_bytes;       /* where a file's payload begins */
    uint64_t checkpoint_bytes;    /* in area generation % 2; 0: none */
    uint32_t checkpoint_crc, use; /* use: enum shmemi_pool_use */
    uint64_t checkpoint_area;     /* 0 or 1 */
    uint64_t created;             /* seconds since 1970 */
    uint64_t page;                /* of a pool in memory: as wished for, and so the next */
    int64_t node;
    char name[256];         /* of a pool in memory; what made the file otherwise */
    uint32_t reserved, crc; /* crc: CRC-32C of all before it */
};

/* What changes while the pool is in use. Each group on lines of its own. */
struct shmemi_pool_state {
    struct shmemi_lock lock; /* guards units[] (writing), names[], the places of members */
    char pad0[SHMEMI_LINE - sizeof(struct shmemi_lock)];
    _Atomic uint64_t units;      /* how many there are now; grows only */
    _Atomic uint64_t lowest;     /* a head at or below the lowest free run: a hint, checked */
    _Atomic uint64_t taken;      /* units in runs and slabs */
    _Atomic uint64_t high_water; /* the most of that */
    _Atomic uint64_t orphans;    /* slabs without an owner, about */
    _Atomic uint64_t died;       /* members that were swept */
    char pad1[SHMEMI_LINE - 6 * sizeof(uint64_t)];
    _Atomic uint32_t pressure; /* goes up when an allocation failed: members then give back what they only cache */
    char pad2[SHMEMI_LINE - sizeof(uint32_t)];
    /* Of a file: which boot and which inode the state in use belongs to. Anything else is a copy, or comes after a
     * power loss. */
    uint8_t boot[16];
    uint64_t device, inode;
};

/* A process that is attached. */
struct shmemi_pool_member {
    struct shmemi_member base;
    uint32_t uid;
    _Atomic uint32_t returns;   /* goes up when somebody else frees a block of a slab of this member */
    _Atomic uint64_t own_bytes; /* in segments of its own */
    /* Payload offset + 1 of a block that is being allocated: not handed out yet, so it goes back if this member dies
       now. One a lane, and one for large blocks. */
    _Atomic uint64_t intent[SHMEMI_POOL_LANES + 1];
    _Atomic uint64_t naming;  /* index + 1 of the name that is being made */
    _Atomic uint64_t freeing; /* payload offset + 1 of a block that has keys or names, and is being freed */
    char pad[256 - sizeof(struct shmemi_member) - 8 - 8 * (SHMEMI_POOL_LANES + 4)];
};
_Static_assert(sizeof(struct shmemi_pool_member) == 256, "the layout is fixed");

/* A named object. `state` is released after the rest was written. An entry is used only when its bit in name_map is
   set, so that the memory of others need not be taken. */
enum shmemi_name_state { SHMEMI_NAME_FREE, SHMEMI_NAME_MAKING, SHMEMI_NAME_LIVE, SHMEMI_NAME_GONE };
struct shmemi_pool_name {
    _Atomic uint32_t state; /* enum shmemi_name_state */
    uint32_t note_bytes;
    uint64_t offset, bytes;
    char name[SHMEMI_POOL_NAME];
    uint8_t note[SHMEMI_KEY_NOTE];
    uint64_t reserved;
};
_Static_assert(sizeof(struct shmemi_pool_name) == 672, "the layout is fixed");

/* Offsets in the control part, from its beginning. */
struct shmemi_pool_layout {
    uint64_t max_units, key_count, name_count;
    uint64_t state, members, units, returned, blocks, keys, name_map, names, checkpoint[2];
    uint64_t checkpoint_most; /* bytes of one area */
    uint64_t control_bytes;
};

/* max_units: 1 to 2^36. */
void shmemi_pool_lay_out(uint64_t max_units, bool persistent, struct shmemi_pool_layout *out);

/* What the list of so many units and names takes at most. */
uint64_t shmemi_pool_checkpoint_bytes(uint64_t units, uint64_t names);

uint64_t shmemi_pool_fingerprint(void);

/* Fills in magic, version, fingerprint and check sum; and checks them: 0, -EINVAL (not a pool), -EPROTO (another
   version), -EILSEQ (damaged). */
void shmemi_pool_seal_slot(struct shmemi_pool_slot *slot);
int shmemi_pool_check_slot(const struct shmemi_pool_slot *slot);

/* ---- the entry of a unit: what begins there ---- */

enum shmemi_unit_kind {
    SHMEMI_UNIT_NONE,
    SHMEMI_UNIT_FREE,   /* `length` free units */
    SHMEMI_UNIT_RUN,    /* a large block */
    SHMEMI_UNIT_SLAB,   /* blocks of one class */
    SHMEMI_UNIT_INSIDE, /* not a head: `length` units after it. Means nothing inside a free run */
};

enum { SHMEMI_UNIT_LENGTH = 24 };
#define SHMEMI_UNIT_KEPT (UINT64_C(1) << 18)     /* a run that outlives its owner */
#define SHMEMI_UNIT_EXPORTED (UINT64_C(1) << 19) /* a run that may have keys */
#define SHMEMI_UNIT_NAMED (UINT64_C(1) << 20)    /* a run that may have names and keys */
#define SHMEMI_UNIT_MAKING (UINT64_C(1) << 21)   /* a run whose name is being made */
#define SHMEMI_UNIT_FREEING (UINT64_C(1) << 22)  /* a run that is being freed: its keys and names go first */

static inline uint64_t shmemi_unit(enum shmemi_unit_kind kind, unsigned class, unsigned owner, uint64_t length)
{
    return (uint64_t)kind | (uint64_t) class << 3 | (uint64_t)owner << 9 | length << SHMEMI_UNIT_LENGTH;
}

static inline enum shmemi_unit_kind shmemi_unit_kind(uint64_t entry)
{
    return (enum shmemi_unit_kind)(entry & 7);
}

static inline unsigned shmemi_unit_class(uint64_t entry)
{
    return (unsigned)(entry >> 3) & 63;
}

/* The member's slot + 1; 0: nobody's. */
static inline unsigned shmemi_unit_owner(uint64_t entry)
{
    return (unsigned)(entry >> 9) & 511;
}

static inline uint64_t shmemi_unit_length(uint64_t entry)
{
    return entry >> SHMEMI_UNIT_LENGTH;
}

/* ---- the byte of a block in a slab ---- */

enum shmemi_block {
    SHMEMI_BLOCK_FREE,     /* anybody's: the slab's owner may take it */
    SHMEMI_BLOCK_CACHED,   /* free, and in a cache of the slab's owner */
    SHMEMI_BLOCK_USED,     /* allocated: goes back when its owner dies, unless the pool persists */
    SHMEMI_BLOCK_KEPT,     /* allocated until somebody frees it */
    SHMEMI_BLOCK_EXPORTED, /* the same, and there may be keys of it */
    SHMEMI_BLOCK_NAMED,    /* the same, and there may be names of it */
    SHMEMI_BLOCK_MAKING,   /* its name is being made: goes back when its owner dies */
    SHMEMI_BLOCK_FREEING,  /* it is being freed: its keys and names go first, then the block */
};

#endif
