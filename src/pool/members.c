// SPDX-License-Identifier: Apache-2.0
// Members of a pool: joining, and giving back what one had that leaves or was killed. Giving back can itself be
// interrupted at any instant: it is done again from the start, and the place is free only when all is done.
#include "pool_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/share_keys.h"

static uint32_t alive_word(const struct shmemi_pool *pool, unsigned slot)
{
    /* [alive] acquire: pairs with the kernel's mark: what the dead member wrote came before. */
    return atomic_load_explicit(&pool->members[slot].base.alive, memory_order_acquire);
}

static bool is_dead(const struct shmemi_pool *pool, unsigned slot)
{
    return alive_word(pool, slot) & FUTEX_OWNER_DIED;
}

bool shmemi_members_any_dead(const struct shmemi_pool *pool)
{
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++)
        if (is_dead(pool, slot))
            return true;
    return false;
}

uint64_t shmemi_members_own_bytes(const struct shmemi_pool *pool)
{
    uint64_t bytes = 0;
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++) /* relaxed: figures */
        bytes += atomic_load_explicit(&pool->members[slot].own_bytes, memory_order_relaxed);
    return bytes;
}

unsigned shmemi_members_alive(const struct shmemi_pool *pool)
{
    unsigned alive = 0;
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++)
        alive += alive_word(pool, slot) != 0 && !is_dead(pool, slot);
    return alive;
}

/* Was the block at this payload offset on its way to the member's program? */
static bool was_intended(const struct shmemi_pool_member *member, uint64_t offset)
{
    for (int i = 0; i <= SHMEMI_POOL_LANES; i++)
        /* [intent] acquire: pairs with the releases where it is set. */
        if (atomic_load_explicit(&member->intent[i], memory_order_acquire) == offset + 1)
            return true;
    return false;
}

/* What becomes of a block of the slab of a member that is gone. */
static uint8_t block_after(const struct shmemi_pool *pool, const struct shmemi_pool_member *member, uint8_t byte,
                           uint64_t offset)
{
    switch (byte) {
    case SHMEMI_BLOCK_EXPORTED:
    case SHMEMI_BLOCK_NAMED:
    case SHMEMI_BLOCK_FREEING: /* somebody who lives is at it */
        return byte;
    case SHMEMI_BLOCK_USED:
        return pool->persistent && !was_intended(member, offset) ? SHMEMI_BLOCK_KEPT : SHMEMI_BLOCK_FREE;
    case SHMEMI_BLOCK_KEPT:
        return was_intended(member, offset) ? SHMEMI_BLOCK_FREE : SHMEMI_BLOCK_KEPT;
    default:
        return SHMEMI_BLOCK_FREE;
    }
}

static void return_slab(struct shmemi_pool *pool, const struct shmemi_pool_member *member, uint64_t unit,
                        uint64_t entry)
{
    size_t size = shmemi_class_size(shmemi_unit_class(entry));
    uint32_t blocks = shmemi_blocks_in(entry), left = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        _Atomic uint8_t *byte = &pool->blocks[unit * SHMEMI_UNIT_BLOCKS + i];
        uint8_t before = atomic_load_explicit(byte, memory_order_relaxed), after; /* the exchange decides */
        do
            after = block_after(pool, member, before, unit * SHMEMI_UNIT + i * size);
        /* [block] release: as in put_back(). Others may free the same block just now. */
        while (before != after && !atomic_compare_exchange_weak_explicit(byte, &before, after, memory_order_acq_rel,
                                                                         memory_order_relaxed));
        left += after != SHMEMI_BLOCK_FREE;
    }
    if (left == 0) {
        shmemi_units_give(pool, unit, entry);
        return;
    }
    /* [entry] release: as in units.c. */
    atomic_store_explicit(&pool->units[unit], entry & ~shmemi_unit(SHMEMI_UNIT_NONE, 0, 511, 0), memory_order_release);
    atomic_fetch_add_explicit(&pool->state->orphans, 1, memory_order_relaxed); /* the lock orders it */
}

static void return_run(struct shmemi_pool *pool, const struct shmemi_pool_member *member, uint64_t unit, uint64_t entry)
{
    bool kept = pool->persistent || entry & (SHMEMI_UNIT_KEPT | SHMEMI_UNIT_EXPORTED | SHMEMI_UNIT_NAMED);
    bool half = entry & SHMEMI_UNIT_MAKING || was_intended(member, unit * SHMEMI_UNIT);
    if (!(entry & SHMEMI_UNIT_FREEING) && (!kept || half)) { /* FREEING: somebody who lives is at it */
        shmemi_units_give(pool, unit, entry);
        return;
    }
    uint64_t nobodys = (entry & ~shmemi_unit(SHMEMI_UNIT_NONE, 0, 511, 0)) | SHMEMI_UNIT_KEPT;
    atomic_store_explicit(&pool->units[unit], nobodys, memory_order_release); /* [entry] as in units.c */
}

/* A head that was written, and not reached by the heads before it yet, when the member died: it never became one. */
static void drop_stillborn(struct shmemi_pool *pool, const struct shmemi_pool_member *member)
{
    uint64_t intent = atomic_load_explicit(&member->intent[SHMEMI_POOL_LANES], memory_order_acquire), entry;
    uint64_t first = (intent - 1) / SHMEMI_UNIT, unit = 0; /* [intent] pairs with the release where it is set */
    if (intent == 0 || first >= shmemi_units_count(pool))
        return;
    while (unit < first && shmemi_units_head(pool, unit, &entry))
        unit += shmemi_unit_length(entry);
    if (unit != first) /* [entry] release: as in units.c */
        atomic_store_explicit(&pool->units[first], shmemi_unit(SHMEMI_UNIT_INSIDE, 0, 0, 0), memory_order_release);
}

static int return_units(struct shmemi_pool *pool, unsigned slot)
{
    const struct shmemi_pool_member *member = &pool->members[slot];
    uint64_t entry, count = shmemi_units_count(pool);
    drop_stillborn(pool, member);
    for (uint64_t unit = 0; unit < count; unit += shmemi_unit_length(entry)) {
        if (!shmemi_units_head(pool, unit, &entry))
            return shmemi_units_damaged(pool, unit);
        if (shmemi_unit_owner(entry) != slot + 1)
            continue;
        if (shmemi_unit_kind(entry) == SHMEMI_UNIT_SLAB)
            return_slab(pool, member, unit, entry);
        else if (shmemi_unit_kind(entry) == SHMEMI_UNIT_RUN)
            return_run(pool, member, unit, entry);
        if (!shmemi_units_head(pool, unit, &entry)) /* it may be one with the free run behind it by now */
            return shmemi_units_damaged(pool, unit);
    }
    /* What was freed may have been merged into a run that the hint does not know. The lock orders it. */
    atomic_store_explicit(&pool->state->lowest, 0, memory_order_relaxed);
    return 0;
}

/* A key is made before its buffer says that it has one, and given out afterwards: without that nobody knows it. */
static void drop_unfinished_keys(struct shmemi_pool *pool, unsigned slot)
{
    for (uint32_t i = 0; i < pool->at.key_count; i++) {
        struct shmemi_key_record *r = &pool->keys[i];
        /* [state] acquire: pairs with the release in shmemi_keys_add(). 0: none was used from here on. */
        uint32_t state = atomic_load_explicit(&r->state, memory_order_acquire);
        if (state == 0)
            break;
        if (shmemi_key_kind(state) != SHMEMI_KEY_LIVE || shmemi_key_writer(state) != slot ||
            r->segment != SHMEMI_POOL_PAYLOAD || r->flags & SHMEMI_KEY_POOL)
            continue;
        struct shmemi_pool_block block;
        if (shmemi_pool_look(pool, r->offset - pool->payload_at, &block) < 0 ||
            (block.state != SHMEMI_BLOCK_EXPORTED && block.state != SHMEMI_BLOCK_NAMED)) /* [state] release: a sweep */
            atomic_compare_exchange_strong_explicit(&r->state, &state, (state & ~0xffu) | SHMEMI_KEY_REVOKED,
                                                    memory_order_release, memory_order_relaxed);
    }
}

void shmemi_members_settle(struct shmemi_pool *pool, unsigned slot)
{
    shmemi_names_sweep(pool, slot);
    shmemi_keys_sweep(pool->keys, (uint32_t)pool->at.key_count, slot, SHMEMI_POOL_PAYLOAD);
    drop_unfinished_keys(pool, slot);
    shmemi_pool_finish_free(pool, slot);
}

int shmemi_members_return(struct shmemi_pool *pool, unsigned slot)
{
    struct shmemi_pool_member *member = &pool->members[slot];
    int rc = return_units(pool, slot);
    if (rc < 0)
        return rc;
    for (int i = 0; i <= SHMEMI_POOL_LANES; i++) /* relaxed, all: the place is given up by a release below */
        atomic_store_explicit(&member->intent[i], 0, memory_order_relaxed);
    atomic_store_explicit(&member->own_bytes, 0, memory_order_relaxed);
    return 0;
}

/* Frees slabs that lost their owner and then their last block. */
static int free_empty_orphans(struct shmemi_pool *pool)
{
    uint64_t entry, count = shmemi_units_count(pool), orphans = 0;
    if (atomic_load_explicit(&pool->state->orphans, memory_order_relaxed) == 0) /* the lock orders it */
        return 0;
    for (uint64_t unit = 0; unit < count; unit += shmemi_unit_length(entry)) {
        if (!shmemi_units_head(pool, unit, &entry))
            return shmemi_units_damaged(pool, unit);
        if (shmemi_unit_kind(entry) != SHMEMI_UNIT_SLAB || shmemi_unit_owner(entry))
            continue;
        uint32_t blocks = shmemi_blocks_in(entry), left = 0;
        for (uint32_t i = 0; i < blocks && !left; i++) /* relaxed: nobody takes blocks of such a slab */
            left = atomic_load_explicit(&pool->blocks[unit * SHMEMI_UNIT_BLOCKS + i], memory_order_relaxed);
        if (left)
            orphans++;
        else
            shmemi_units_give(pool, unit, entry);
        if (!shmemi_units_head(pool, unit, &entry))
            return shmemi_units_damaged(pool, unit);
    }
    atomic_store_explicit(&pool->state->orphans, orphans, memory_order_relaxed); /* the lock orders it */
    return 0;
}

int shmemi_members_sweep(struct shmemi_pool *pool)
{
    bool dead[SHMEMI_POOL_MEMBERS]; /* who dies from here on is for the next sweep */
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++)
        if ((dead[slot] = is_dead(pool, slot)))
            shmemi_members_settle(pool, slot);
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++) {
        struct shmemi_pool_member *member = &pool->members[slot];
        if (!dead[slot])
            continue;
        int rc = shmemi_members_return(pool, slot);
        if (rc < 0)
            return rc;
        shmemi_info("pool", "a member (pid %d) died; what it had has been taken back", (int)member->base.pid);
        atomic_fetch_add_explicit(&pool->state->died, 1, memory_order_relaxed); /* a figure */
        /* [alive] release: pairs with whoever takes the place next: it is as new. Somebody may have come upon it. */
        uint32_t alive = alive_word(pool, slot);
        if (alive & FUTEX_OWNER_DIED)
            atomic_compare_exchange_strong_explicit(&member->base.alive, &alive, 0, memory_order_release,
                                                    memory_order_relaxed);
    }
    return free_empty_orphans(pool);
}

/* We came upon the place of a dead member: what is written there is its own, until this is done. */
static int sweep_after(struct shmemi_pool *pool)
{
    shmemi_central_take(pool); /* a lock that it died with is ours: lock.c takes that for the death that it is */
    shmemi_members_settle(pool, pool->me);
    int rc = shmemi_members_return(pool, pool->me);
    atomic_fetch_add_explicit(&pool->state->died, 1, memory_order_relaxed); /* a figure */
    if (rc == 0)
        rc = shmemi_members_sweep(pool);
    shmemi_central_give(pool);
    return rc;
}

/* The dead hold places, which may all be needed. */
static int sweep_if_any(struct shmemi_pool *pool)
{
    if (!shmemi_members_any_dead(pool))
        return 0;
    shmemi_central_take(pool);
    int rc = shmemi_members_sweep(pool);
    shmemi_central_give(pool);
    return rc;
}

void shmemi_members_set_holders(struct shmemi_pool *pool)
{
    pool->holders = (struct shmemi_lock_holders){.first = (const char *)&pool->members[0].base.alive,
                                                 .stride = sizeof pool->members[0],
                                                 .count = SHMEMI_POOL_MEMBERS};
}

int shmemi_members_join(struct shmemi_pool *pool)
{
    unsigned slot;
    bool after_dead = false;
    int rc = -EUSERS;
    for (int i = 0; i < 2 && rc == -EUSERS; i++) { /* only when none is free that of a dead one */
        after_dead = i > 0;
        rc = shmemi_service_take_place(&pool->members[0].base, sizeof pool->members[0], SHMEMI_POOL_MEMBERS, after_dead,
                                       &pool->place, &slot);
    }
    if (rc == -EUSERS)
        return shmemi_fail(rc, "the pool has its %d members already", SHMEMI_POOL_MEMBERS);
    if (rc < 0)
        return rc;
    pool->me = slot;
    shmemi_members_set_holders(pool);
    const struct shmemi_member *self = &pool->members[slot].base;
    pool->domain = (struct shmemi_domain){.alive = pool->holders.first,
                                          .stride = pool->holders.stride,
                                          .count = pool->holders.count,
                                          .me = slot,
                                          /* relaxed: only who has the place changes it */
                                          .generation = atomic_load_explicit(&self->generation, memory_order_relaxed)};
    pool->members[slot].base.pid = (int32_t)getpid();
    pool->members[slot].uid = geteuid();
    return after_dead ? sweep_after(pool) : sweep_if_any(pool);
}

_Static_assert(offsetof(struct shmemi_member, generation) ==
                   offsetof(struct shmemi_member, alive) + SHMEMI_DOMAIN_GENERATION,
               "where sync/domain.c looks for it");
