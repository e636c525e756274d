// SPDX-License-Identifier: Apache-2.0
// Looking at a pool from inside: which blocks are allocated, and whether everything in it fits together.
#ifndef TESTS_LIB_POOL_LOOK_H
#define TESTS_LIB_POOL_LOOK_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pool/pool_internal.h"

struct look_block {
    uint64_t offset, bytes;
    enum shmemi_block state;
    bool claimed; /* for the test: somebody knows why it is there */
};

enum { LOOK_MOST = 8192 };
struct look {
    struct look_block blocks[LOOK_MOST];
    unsigned count;
    uint64_t used, taken, cached;
    char wrong[512]; /* the first thing that does not fit; empty: none */
};

__attribute__((format(printf, 2, 3))) static inline void look_wrong(struct look *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*l->wrong)
        vsnprintf(l->wrong, sizeof l->wrong, format, args);
    va_end(args);
}

static inline void look_add(struct look *l, uint64_t offset, uint64_t bytes, enum shmemi_block state)
{
    if (l->count == LOOK_MOST) {
        look_wrong(l, "too many blocks for the test");
        return;
    }
    l->blocks[l->count++] = (struct look_block){.offset = offset, .bytes = bytes, .state = state};
    l->used += bytes;
}

static inline void look_slab(const struct shmemi_pool *pool, uint64_t unit, uint64_t entry, struct look *l)
{
    uint64_t size = shmemi_class_size(shmemi_unit_class(entry));
    for (uint32_t i = 0; i < shmemi_blocks_in(entry); i++) {
        enum shmemi_block state = pool->blocks[unit * SHMEMI_UNIT_BLOCKS + i];
        if (state >= SHMEMI_BLOCK_USED)
            look_add(l, unit * SHMEMI_UNIT + i * size, size, state);
        l->cached += state == SHMEMI_BLOCK_CACHED;
        if (state == SHMEMI_BLOCK_CACHED && shmemi_unit_owner(entry) == 0)
            look_wrong(l, "a block at %llu is cached by nobody", (unsigned long long)(unit * SHMEMI_UNIT + i * size));
    }
}

static inline enum shmemi_block look_run_state(uint64_t entry)
{
    return entry & SHMEMI_UNIT_NAMED      ? SHMEMI_BLOCK_NAMED
           : entry & SHMEMI_UNIT_EXPORTED ? SHMEMI_BLOCK_EXPORTED
           : entry & SHMEMI_UNIT_MAKING   ? SHMEMI_BLOCK_MAKING
           : entry & SHMEMI_UNIT_KEPT     ? SHMEMI_BLOCK_KEPT
                                          : SHMEMI_BLOCK_USED;
}

/* What lies in a free run is found by nobody. */
static inline void look_free(const struct shmemi_pool *pool, uint64_t unit, uint64_t length, struct look *l)
{
    uint64_t head, entry;
    for (uint64_t i = 0; i < length; i++)
        if (shmemi_units_find(pool, unit + i, &head, &entry))
            look_wrong(l, "in the free run at %llu something is found at %llu", (unsigned long long)unit,
                       (unsigned long long)(unit + i));
}

/* All blocks, and that the table of units is whole. Nobody else may be at work. */
static inline void look_units(const struct shmemi_pool *pool, struct look *l)
{
    uint64_t count = shmemi_units_count(pool), entry;
    l->count = 0;
    l->used = l->taken = l->cached = 0;
    for (uint64_t unit = 0; unit < count; unit += shmemi_unit_length(entry)) {
        if (!shmemi_units_head(pool, unit, &entry)) {
            look_wrong(l, "no head at unit %llu of %llu", (unsigned long long)unit, (unsigned long long)count);
            return;
        }
        uint64_t length = shmemi_unit_length(entry);
        if (shmemi_unit_kind(entry) == SHMEMI_UNIT_FREE) {
            look_free(pool, unit, length, l);
            continue;
        }
        l->taken += length;
        for (uint64_t i = 1; i < length; i++)
            if (pool->units[unit + i] != shmemi_unit(SHMEMI_UNIT_INSIDE, 0, 0, i))
                look_wrong(l, "unit %llu of %llu from %llu on does not say so", (unsigned long long)i,
                           (unsigned long long)length, (unsigned long long)unit);
        if (shmemi_unit_kind(entry) == SHMEMI_UNIT_SLAB)
            look_slab(pool, unit, entry, l);
        else
            look_add(l, unit * SHMEMI_UNIT, length * SHMEMI_UNIT, look_run_state(entry));
    }
}

static inline void look_members(const struct shmemi_pool *pool, struct look *l)
{
    for (unsigned i = 0; i < SHMEMI_POOL_MEMBERS; i++) {
        const struct shmemi_pool_member *m = &pool->members[i];
        if (i == pool->me)
            continue;
        if (m->base.alive)
            look_wrong(l, "place %u is still taken (%#x)", i, m->base.alive);
        for (int k = 0; k <= SHMEMI_POOL_LANES; k++)
            if (m->intent[k])
                look_wrong(l, "place %u still intends %llu", i, (unsigned long long)m->intent[k]);
        if (m->naming || m->own_bytes)
            look_wrong(l, "place %u has something left", i);
    }
}

static inline void look_tables(const struct shmemi_pool *pool, struct look *l)
{
    for (uint64_t i = 0; i < pool->at.key_count && pool->keys[i].state; i++)
        if ((pool->keys[i].state & 0xff) == SHMEMI_KEY_WRITING)
            look_wrong(l, "key %llu is being written", (unsigned long long)i);
    for (uint64_t i = 0; i < pool->at.name_count; i++)
        if (shmemi_names_used(pool, i) && pool->names[i].state == SHMEMI_NAME_MAKING)
            look_wrong(l, "name %llu is being made", (unsigned long long)i);
}

/* Everything, when this process is the only member and the dead were swept. */
static inline void look_all(const struct shmemi_pool *pool, struct look *l)
{
    *l->wrong = '\0';
    look_units(pool, l);
    look_members(pool, l);
    look_tables(pool, l);
    if (pool->state->taken != l->taken)
        look_wrong(l, "%llu units are counted as taken instead of %llu", (unsigned long long)pool->state->taken,
                   (unsigned long long)l->taken);
    if (pool->state->lock.word)
        look_wrong(l, "the lock is held (%#x)", pool->state->lock.word);
}

/* The block at this offset, marked as known; NULL: none. */
static inline struct look_block *look_claim(struct look *l, uint64_t offset)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->blocks[i].offset == offset && !l->blocks[i].claimed) {
            l->blocks[i].claimed = true;
            return &l->blocks[i];
        }
    return NULL;
}

static inline struct look_block *look_unclaimed(struct look *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if (!l->blocks[i].claimed)
            return &l->blocks[i];
    return NULL;
}

/* How many keys of [offset, offset + bytes) of the main segment are LIVE. */
static inline unsigned look_keys(const struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    unsigned live = 0;
    for (uint64_t i = 0; i < pool->at.key_count && pool->keys[i].state; i++) {
        const struct shmemi_key_record *r = &pool->keys[i];
        live += (r->state & 0xff) == SHMEMI_KEY_LIVE && !(r->flags & SHMEMI_KEY_POOL) &&
                r->segment == SHMEMI_POOL_PAYLOAD && r->offset < pool->payload_at + offset + bytes &&
                r->offset + r->bytes > pool->payload_at + offset;
    }
    return live;
}

/* How many names point there. */
static inline unsigned look_names(const struct shmemi_pool *pool, uint64_t offset)
{
    unsigned live = 0;
    for (uint64_t i = 0; i < pool->at.name_count; i++)
        live +=
            shmemi_names_used(pool, i) && pool->names[i].state == SHMEMI_NAME_LIVE && pool->names[i].offset == offset;
    return live;
}

#endif
