// SPDX-License-Identifier: Apache-2.0
// The table of keys: claiming, filling and reading records in memory that other processes write to as well.
//
// A record's state is, in its bits,  0-7 enum shmemi_key_state | 8-15 the writer's slot | 16-31 how often it was used.
// 0 is a record that was never used: they are used in order, so the first such ends the part in use.
#ifndef SHMEMI_MAP_SHARE_KEYS_H
#define SHMEMI_MAP_SHARE_KEYS_H

#include <stdbool.h>

#include "share.h"

static inline uint32_t shmemi_key_kind(uint32_t state)
{
    return state & 0xff;
}

static inline unsigned shmemi_key_writer(uint32_t state)
{
    return state >> 8 & 0xff;
}

/* A copy of a record. */
static inline bool shmemi_key_is_orphaned(const struct shmemi_key_record *copy)
{
    /* [state] relaxed: nobody else knows the copy. */
    return shmemi_key_kind(atomic_load_explicit(&copy->state, memory_order_relaxed)) == SHMEMI_KEY_ORPHANED;
}

/* How this process looks at a table. */
struct shmemi_keys {
    struct shmemi_key_record *records;
    uint32_t count;
    unsigned slot;
    bool (*reserve)(void *context, uint32_t index);
    void *context;
    _Atomic uint32_t used; /* so many were used at least: a hint that only grows */
    /* Under the share's lock: */
    uint32_t cursor;               /* where to look for a record to be used again */
    uint32_t revoked, revoked_now; /* or orphaned; in the last round of the cursor, and so far in this */
};

/* Under the share's lock. Claims a record and fills it; *index tells which. */
int shmemi_keys_add(struct shmemi_keys *keys, const struct shmemi_export *what, const uint64_t token[2],
                    uint32_t *index);

/* Whether a LIVE key says the same already: of the whole pool, for nobody in particular. Its size does not matter, for
   the pool may have grown. Then *index, the token and the slot of its writer are set. */
bool shmemi_keys_find_equal(struct shmemi_keys *keys, const struct shmemi_export *what, uint64_t token[2],
                            uint32_t *index, uint16_t *slot);

/* A sound copy of the record of that key: 0 (LIVE or ORPHANED), -ENOKEY, -EKEYREVOKED. */
int shmemi_keys_find(struct shmemi_keys *keys, uint32_t index, const uint64_t token[2], struct shmemi_key_record *out);

/* Under the share's lock: LIVE or ORPHANED becomes REVOKED: 0, -ENOKEY, -EKEYREVOKED. *taken: whether a process that is
   no member may have it. */
int shmemi_keys_revoke(struct shmemi_keys *keys, uint32_t index, const uint64_t token[2], bool *taken);

/* Under the share's lock. Steps through the LIVE keys of memory that overlaps the range and makes them REVOKED. *index
   is 0 at first. Whether there was another one: its index is *index - 1. *taken as above: guests are the caller's to
   tell (shmemi_share_revoke_range() does). Whoever finishes what a dead member was freeing does not, for that holds a
   lock that guests may be waiting for: as long as a member lives it is asked first, and refuses; a guest goes on with
   what it holds. */
bool shmemi_keys_revoke_next(struct shmemi_keys *keys, uint64_t segment, uint64_t offset, uint64_t bytes,
                             uint32_t *index, uint64_t token[2], bool *taken);

#endif
