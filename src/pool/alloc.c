// SPDX-License-Identifier: Apache-2.0
// Allocating and freeing: which of the two allocators serves a size, and what is tried before an allocation fails.
#include "pool_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "map/share_keys.h"

enum { ALIGN_MOST = 2 << 20 };

/* ---- what there is at an offset ---- */

static enum shmemi_block run_state(uint64_t entry)
{
    return entry & SHMEMI_UNIT_FREEING    ? SHMEMI_BLOCK_FREEING
           : entry & SHMEMI_UNIT_NAMED    ? SHMEMI_BLOCK_NAMED
           : entry & SHMEMI_UNIT_EXPORTED ? SHMEMI_BLOCK_EXPORTED
           : entry & SHMEMI_UNIT_MAKING   ? SHMEMI_BLOCK_MAKING
           : entry & SHMEMI_UNIT_KEPT     ? SHMEMI_BLOCK_KEPT
                                          : SHMEMI_BLOCK_USED;
}

static uint64_t run_flags(enum shmemi_block state)
{
    switch (state) {
    case SHMEMI_BLOCK_NAMED:
        return SHMEMI_UNIT_NAMED | SHMEMI_UNIT_KEPT;
    case SHMEMI_BLOCK_EXPORTED:
        return SHMEMI_UNIT_EXPORTED | SHMEMI_UNIT_KEPT;
    case SHMEMI_BLOCK_MAKING:
        return SHMEMI_UNIT_MAKING;
    case SHMEMI_BLOCK_KEPT:
        return SHMEMI_UNIT_KEPT;
    default:
        return 0;
    }
}

int shmemi_pool_look(const struct shmemi_pool *pool, uint64_t offset, struct shmemi_pool_block *out)
{
    uint64_t head, entry;
    *out = (struct shmemi_pool_block){.state = SHMEMI_BLOCK_FREE};
    if (!shmemi_units_find(pool, offset / SHMEMI_UNIT, &head, &entry))
        return -EINVAL;
    *out = (struct shmemi_pool_block){.offset = head * SHMEMI_UNIT, .head = head, .entry = entry};
    if (shmemi_unit_kind(entry) == SHMEMI_UNIT_RUN) {
        out->bytes = shmemi_unit_length(entry) * SHMEMI_UNIT;
        out->state = run_state(entry);
        return out->state == SHMEMI_BLOCK_FREEING ? -EINVAL : 0;
    }
    out->bytes = shmemi_class_size(shmemi_unit_class(entry));
    out->offset += (offset - out->offset) / out->bytes * out->bytes;
    const _Atomic uint8_t *byte = shmemi_blocks_at(pool, head, entry, out->offset);
    if (!byte)
        return -EINVAL;
    /* relaxed: the caller got the address from whoever allocated it, and that ordered it */
    out->state = (enum shmemi_block)atomic_load_explicit(byte, memory_order_relaxed);
    return out->state >= SHMEMI_BLOCK_USED && out->state <= SHMEMI_BLOCK_MAKING ? 0 : -EINVAL;
}

static int raise_run(struct shmemi_pool *pool, uint64_t head, enum shmemi_block to)
{
    uint64_t entry;
    if (!shmemi_units_head(pool, head, &entry) || shmemi_unit_kind(entry) != SHMEMI_UNIT_RUN ||
        entry & SHMEMI_UNIT_FREEING)
        return -EINVAL;
    /* [entry] release: as in units.c */
    atomic_store_explicit(&pool->units[head], (entry & ~SHMEMI_UNIT_MAKING) | run_flags(to), memory_order_release);
    return 0;
}

static int raise_small(struct shmemi_pool *pool, const struct shmemi_pool_block *block, enum shmemi_block to)
{
    _Atomic uint8_t *byte = shmemi_blocks_at(pool, block->head, block->entry, block->offset);
    uint8_t before = atomic_load_explicit(byte, memory_order_relaxed); /* the exchange decides */
    do {
        if (before < SHMEMI_BLOCK_USED || before > SHMEMI_BLOCK_MAKING)
            return -EINVAL;
        if (before >= to && before != SHMEMI_BLOCK_MAKING)
            return 0;
        /* [block] release: a sweeper that finds it so finds what it is for. */
    } while (
        !atomic_compare_exchange_weak_explicit(byte, &before, (uint8_t)to, memory_order_acq_rel, memory_order_relaxed));
    return 0;
}

int shmemi_pool_raise_locked(struct shmemi_pool *pool, const struct shmemi_pool_block *block, enum shmemi_block to)
{
    return shmemi_unit_kind(block->entry) == SHMEMI_UNIT_RUN ? raise_run(pool, block->head, to)
                                                             : raise_small(pool, block, to);
}

int shmemi_pool_raise(struct shmemi_pool *pool, uint64_t offset, enum shmemi_block to)
{
    struct shmemi_pool_block block;
    int rc = shmemi_pool_look(pool, offset, &block);
    if (rc < 0)
        return rc;
    if (shmemi_unit_kind(block.entry) != SHMEMI_UNIT_RUN)
        return raise_small(pool, &block, to);
    shmemi_central_take(pool);
    rc = raise_run(pool, block.head, to);
    shmemi_central_give(pool);
    return rc;
}

/* ---- taking ---- */

/* The class whose blocks hold `size` bytes and are all aligned so; SHMEMI_CLASSES if there is none. */
static unsigned class_for(size_t size, size_t align)
{
    if (size > SHMEMI_CLASS_MOST || align > SHMEMI_UNIT)
        return SHMEMI_CLASSES;
    unsigned class = shmemi_class_of(size);
    while (align > SHMEMI_GRAIN && class < SHMEMI_CLASSES && shmemi_class_size(class) % align)
        class ++;
    return class;
}

static void intend(struct shmemi_pool *pool, uint64_t first, void *context)
{
    (void)context;
    /* [intent] release: pairs with the acquire in members.c, also below. */
    atomic_store_explicit(&pool->members[pool->me].intent[SHMEMI_POOL_LANES], first * SHMEMI_UNIT + 1,
                          memory_order_release);
}

static int take_run(struct shmemi_pool *pool, size_t size, size_t align, enum shmemi_block as, uint64_t *offset)
{
    uint64_t units = (size - 1) / SHMEMI_UNIT + 1, first = 0;
    uint64_t entry = shmemi_unit(SHMEMI_UNIT_RUN, 0, pool->me + 1, 0) | run_flags(as);
    shmemi_central_take(pool);
    int rc = shmemi_units_take(pool, units, align > SHMEMI_UNIT ? align / SHMEMI_UNIT : 1, entry, intend, NULL, &first);
    if (rc == 0) /* [intent] after the head, which is the run's from here on */
        atomic_store_explicit(&pool->members[pool->me].intent[SHMEMI_POOL_LANES], 0, memory_order_release);
    shmemi_central_give(pool);
    *offset = first * SHMEMI_UNIT;
    return rc;
}

static int take_once(struct shmemi_pool *pool, size_t size, size_t align, enum shmemi_block as, uint64_t *offset)
{
    unsigned class = class_for(size, align);
    if (class < SHMEMI_CLASSES)
        return shmemi_blocks_alloc(pool, class, as, offset);
    return take_run(pool, size, align, as, offset);
}

/* Collects what is free but not to be had: in the caches of this process, of the dead, in empty slabs. */
static int make_room(struct shmemi_pool *pool)
{
    shmemi_blocks_trim(pool);
    shmemi_central_take(pool);
    int rc = shmemi_members_sweep(pool);
    shmemi_central_give(pool);
    return rc;
}

static int grow_for(struct shmemi_pool *pool, size_t size, size_t align)
{
    size_t now = shmemi_units_count(pool) * SHMEMI_UNIT, most = pool->at.max_units * SHMEMI_UNIT;
    size_t more = size + align + SHMEMI_UNIT > now / 4 ? size + align + SHMEMI_UNIT : now / 4;
    if (!pool->grows || now == most)
        return -ENOMEM;
    return shmemi_pool_grow(pool, most - now > more ? now + more : most);
}

static int say_full(struct shmemi_pool *pool, size_t size, size_t align)
{
    char cause[192] = "";
    if (pool->grows && *shmemi_last_error())
        snprintf(cause, sizeof cause, " (it could not grow: %.140s)", shmemi_last_error());
    struct shmemi_pool_stats s;
    int rc = shmemi_pool_stats(pool, &s);
    if (rc < 0)
        return rc;
    return shmemi_fail(
        -ENOMEM,
        "no room in the pool for %zu bytes aligned to %zu: %zu of %zu bytes are in use, the largest free "
        "block has %zu; free buffers, or make the pool larger (grow, up to %zu)%s",
        size, align, s.in_use, s.size, s.largest_free, s.max_size, cause);
}

static int take_hard(struct shmemi_pool *pool, size_t size, size_t align, enum shmemi_block as, uint64_t *offset)
{
    int rc = make_room(pool);
    if (rc == 0)
        rc = take_once(pool, size, align, as, offset);
    if (rc == -ENOMEM)
        shmemi_fail(0, "%s", ""); /* whatever was said so far is not why the pool cannot grow */
    while (rc == -ENOMEM && grow_for(pool, size, align) == 0) /* another may be faster */
        rc = take_once(pool, size, align, as, offset);
    if (rc != -ENOMEM)
        return rc;
    atomic_fetch_add_explicit(&pool->state->pressure, 1, memory_order_relaxed); /* a hint */
    shmemi_blocks_follow_pressure(pool);
    return say_full(pool, size, align);
}

static void note_failure(struct shmemi_pool *pool)
{
    pthread_mutex_lock(&pool->failure_lock);
    snprintf(pool->failure, sizeof pool->failure, "%s", shmemi_last_error());
    pthread_mutex_unlock(&pool->failure_lock);
}

int shmemi_pool_take(struct shmemi_pool *pool, size_t size, size_t align, enum shmemi_block as, uint64_t *offset)
{
    int rc = take_once(pool, size, align, as, offset);
    if (shmemi_likely(rc == 0))
        return 0;
    if (rc == -ENOMEM)
        rc = take_hard(pool, size, align, as, offset);
    if (rc < 0)
        note_failure(pool);
    return rc;
}

int shmemi_pool_check_request(const struct shmemi_pool *pool, size_t size, size_t align)
{
    if (align & (align - 1) || align > ALIGN_MOST)
        return shmemi_fail(-EINVAL, "align is %zu: a power of two up to %d is needed", align, ALIGN_MOST);
    if (size > pool->at.max_units * SHMEMI_UNIT)
        return shmemi_fail(-ENOMEM, "%zu bytes are more than the pool can ever have (%zu)", size,
                           (size_t)pool->at.max_units * SHMEMI_UNIT);
    return 0;
}

int shmemi_pool_alloc(struct shmemi_pool *pool, size_t size, size_t align, unsigned flags, void **out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    size = size ? size : 1;
    align = align ? align : SHMEMI_GRAIN;
    if ((rc = shmemi_pool_need_writable(pool)) < 0)
        return rc;
    if (shmemi_unlikely(align & (align - 1) || align > SHMEMI_GRAIN || size > SHMEMI_CLASS_MOST) &&
        (rc = shmemi_pool_check_request(pool, size, align)) < 0) {
        note_failure(pool);
        return rc;
    }
    if (shmemi_unlikely(flags & SHMEMI_ALLOC_OWN)) {
        if ((rc = shmemi_own_alloc(pool, size, align, out)) < 0)
            note_failure(pool);
        return rc;
    }
    uint64_t offset;
    rc =
        shmemi_pool_take(pool, size, align, flags & SHMEMI_ALLOC_KEEP ? SHMEMI_BLOCK_KEPT : SHMEMI_BLOCK_USED, &offset);
    if (shmemi_unlikely(rc < 0))
        return rc;
    *out = pool->payload + offset;
    if (flags & SHMEMI_ALLOC_ZERO)
        memset(*out, 0, size);
    return 0;
}

/* ---- freeing ---- */

static int free_run(struct shmemi_pool *pool, uint64_t head, bool freeing)
{
    uint64_t entry;
    shmemi_central_take(pool);
    bool right = shmemi_units_head(pool, head, &entry) && shmemi_unit_kind(entry) == SHMEMI_UNIT_RUN &&
                 !(entry & SHMEMI_UNIT_FREEING) == !freeing;
    bool shared = right && !freeing && entry & (SHMEMI_UNIT_EXPORTED | SHMEMI_UNIT_NAMED);
    if (right && !shared)
        shmemi_units_give(pool, head, entry);
    shmemi_central_give(pool);
    return shared ? -EAGAIN : right ? 0 : -EALREADY;
}

/* From here on the block is nobody's, and what is left to do is done, if need be by whoever sweeps this member. */
static int begin_free(struct shmemi_pool *pool, const struct shmemi_pool_block *block)
{
    if (shmemi_unit_kind(block->entry) == SHMEMI_UNIT_SLAB) {
        _Atomic uint8_t *byte = shmemi_blocks_at(pool, block->head, block->entry, block->offset);
        uint8_t before = atomic_load_explicit(byte, memory_order_relaxed); /* the exchange decides */
        do
            if (before < SHMEMI_BLOCK_USED || before > SHMEMI_BLOCK_MAKING)
                return -EALREADY;
        /* [block] release: a sweeper that finds it so finds the member's word */
        while (!atomic_compare_exchange_weak_explicit(byte, &before, SHMEMI_BLOCK_FREEING, memory_order_acq_rel,
                                                      memory_order_relaxed));
        return 0;
    }
    uint64_t entry;
    shmemi_central_take(pool);
    bool right = shmemi_units_head(pool, block->head, &entry) && shmemi_unit_kind(entry) == SHMEMI_UNIT_RUN &&
                 !(entry & SHMEMI_UNIT_FREEING);
    if (right) /* [entry] release: as in units.c */
        atomic_store_explicit(&pool->units[block->head], entry | SHMEMI_UNIT_FREEING, memory_order_release);
    shmemi_central_give(pool);
    return right ? 0 : -EALREADY;
}

/* A block that others may find: before it can be anybody else's, nobody finds it any more. */
static int free_shared(struct shmemi_pool *pool, const struct shmemi_pool_block *block)
{
    _Atomic uint64_t *freeing = &pool->members[pool->me].freeing;
    pthread_mutex_lock(&pool->freeing);
    /* [freeing] release, twice: pairs with the acquire in shmemi_pool_finish_free(). */
    atomic_store_explicit(freeing, block->offset + 1, memory_order_release);
    int rc = begin_free(pool, block);
    if (rc == 0) {
        if (pool->share)
            shmemi_share_revoke_range(pool->share, SHMEMI_POOL_PAYLOAD, pool->payload_at + block->offset, block->bytes);
        shmemi_central_take(pool);
        shmemi_names_drop(pool, block->offset);
        shmemi_central_give(pool);
        rc = shmemi_unit_kind(block->entry) == SHMEMI_UNIT_RUN
                 ? free_run(pool, block->head, true)
                 : shmemi_blocks_free(pool, block->head, block->entry, block->offset, SHMEMI_BLOCK_FREEING,
                                      SHMEMI_BLOCK_FREEING);
    }
    atomic_store_explicit(freeing, 0, memory_order_release); /* [freeing] */
    pthread_mutex_unlock(&pool->freeing);
    return rc;
}

static void revoke_keys(struct shmemi_pool *pool, const struct shmemi_pool_block *block)
{
    struct shmemi_keys keys = {.records = pool->keys, .count = (uint32_t)pool->at.key_count, .slot = pool->me};
    uint64_t token[2];
    uint32_t index = 0;
    bool ignored;
    while (shmemi_keys_revoke_next(&keys, SHMEMI_POOL_PAYLOAD, pool->payload_at + block->offset, block->bytes, &index,
                                   token, &ignored))
        continue;
}

void shmemi_pool_finish_free(struct shmemi_pool *pool, unsigned slot)
{
    /* [freeing] acquire: pairs with the release in free_shared(). */
    uint64_t freeing = atomic_load_explicit(&pool->members[slot].freeing, memory_order_acquire);
    struct shmemi_pool_block block;
    if (freeing && shmemi_pool_look(pool, freeing - 1, &block) == -EINVAL && block.state == SHMEMI_BLOCK_FREEING &&
        block.offset == freeing - 1) {
        revoke_keys(pool, &block);
        shmemi_names_drop(pool, block.offset);
        if (shmemi_unit_kind(block.entry) == SHMEMI_UNIT_RUN)
            shmemi_units_give(pool, block.head, block.entry);
        else
            shmemi_blocks_finish_free(pool, block.head, block.entry, block.offset);
    }
    atomic_store_explicit(&pool->members[slot].freeing, 0, memory_order_relaxed); /* the lock orders it */
}

static int free_offset(struct shmemi_pool *pool, uint64_t offset)
{
    uint64_t head, entry;
    if (!shmemi_units_find(pool, offset / SHMEMI_UNIT, &head, &entry))
        return -EINVAL;
    bool run = shmemi_unit_kind(entry) == SHMEMI_UNIT_RUN;
    const _Atomic uint8_t *byte = run ? NULL : shmemi_blocks_at(pool, head, entry, offset);
    if (run ? offset != head * SHMEMI_UNIT : !byte)
        return -EINVAL;
    struct shmemi_pool_block block;
    int rc = run ? free_run(pool, head, false)
                 : shmemi_blocks_free(pool, head, entry, offset, SHMEMI_BLOCK_USED, SHMEMI_BLOCK_KEPT);
    if (shmemi_likely(rc != -EAGAIN)) /* others may find it, or could until just now */
        return rc;
    return shmemi_pool_look(pool, offset, &block) == 0 ? free_shared(pool, &block) : -EALREADY;
}

int shmemi_pool_free(struct shmemi_pool *pool, void *buffer)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = shmemi_pool_need_writable(pool)) < 0)
        return rc;
    uint64_t offset = (uint64_t)((const char *)buffer - pool->payload);
    if (shmemi_likely((const char *)buffer >= pool->payload && offset < pool->at.max_units * SHMEMI_UNIT))
        rc = free_offset(pool, offset);
    else
        rc = shmemi_own_free(pool, buffer);
    if (shmemi_unlikely(rc == -EINVAL || rc == -EALREADY || rc == -ENOENT))
        return shmemi_fail(-EINVAL, "%p %s", buffer,
                           rc == -EALREADY ? "was freed already" : "is not the beginning of a buffer of this pool");
    return rc;
}

/* ---- asking ---- */

static bool in_payload(const struct shmemi_pool *pool, const void *address)
{
    return (const char *)address >= pool->payload &&
           (uint64_t)((const char *)address - pool->payload) < pool->at.max_units * SHMEMI_UNIT;
}

int shmemi_pool_keep(struct shmemi_pool *pool, void *buffer)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = shmemi_pool_need_writable(pool)) < 0)
        return rc;
    if (!in_payload(pool, buffer))
        return shmemi_fail(-EINVAL, "%p is no buffer in the pool's main segment: only those can outlive their process",
                           buffer);
    rc = shmemi_pool_raise(pool, (uint64_t)((char *)buffer - pool->payload), SHMEMI_BLOCK_KEPT);
    return rc < 0 ? shmemi_fail(rc, "%p is no buffer of this pool", buffer) : 0;
}

int shmemi_pool_buffer(struct shmemi_pool *pool, const void *address, void **begin, size_t *bytes)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    struct shmemi_pool_block block;
    if (in_payload(pool, address) &&
        shmemi_pool_look(pool, (uint64_t)((const char *)address - pool->payload), &block) == 0) {
        *begin = pool->payload + block.offset;
        *bytes = block.bytes;
        return 0;
    }
    pthread_mutex_lock(&pool->owns_lock);
    const struct shmemi_own *own = shmemi_own_find(pool, address);
    if (own) {
        *begin = own->address;
        *bytes = own->bytes;
    }
    pthread_mutex_unlock(&pool->owns_lock);
    return own ? 0 : shmemi_fail(-EINVAL, "%p is in no buffer of this pool", address);
}

int shmemi_pool_offset(struct shmemi_pool *pool, const void *address, uint64_t *offset)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    if (!in_payload(pool, address))
        return shmemi_fail(-EINVAL, "%p is not in the pool's main segment", address);
    *offset = (uint64_t)((const char *)address - pool->payload);
    return 0;
}

int shmemi_pool_address(struct shmemi_pool *pool, uint64_t offset, size_t bytes, void **out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    uint64_t size = shmemi_units_count(pool) * SHMEMI_UNIT;
    if (offset > size || bytes > size - offset)
        return shmemi_fail(-EINVAL, "%zu bytes at offset %llu end beyond the pool's %llu", bytes,
                           (unsigned long long)offset, (unsigned long long)size);
    *out = pool->payload + offset;
    return 0;
}
