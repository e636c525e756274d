// SPDX-License-Identifier: Apache-2.0
// Runs of units. The table says at each head what begins there and how long it is; the heads together cover the
// payload, and what stands between them means nothing but INSIDE entries of runs and slabs.
//
// Each change becomes true by one store to one head, after everything that will then be seen was written: a member
// killed anywhere leaves a table that is whole. Splitting writes the later heads first, inside what is still one free
// run.
#include "pool_internal.h"

#include <errno.h>

#include "base/error.h"

uint64_t shmemi_units_count(const struct shmemi_pool *pool)
{
    /* [units] acquire: pairs with the release in shmemi_units_extend(): the entries are there. */
    uint64_t count = atomic_load_explicit(&pool->state->units, memory_order_acquire);
    return count < pool->at.max_units ? count : pool->at.max_units;
}

/* [entry] pairs with the release in store(). */
static uint64_t load(const struct shmemi_pool *pool, uint64_t unit)
{
    return atomic_load_explicit(&pool->units[unit], memory_order_acquire);
}

/* [entry] release: what the entry announces was written before. */
static void store(struct shmemi_pool *pool, uint64_t unit, uint64_t entry)
{
    atomic_store_explicit(&pool->units[unit], entry, memory_order_release);
}

static bool is_head(uint64_t entry, uint64_t unit, uint64_t count)
{
    enum shmemi_unit_kind kind = shmemi_unit_kind(entry);
    uint64_t length = shmemi_unit_length(entry);
    return kind >= SHMEMI_UNIT_FREE && kind <= SHMEMI_UNIT_SLAB && unit < count && length > 0 &&
           length <= count - unit && (kind != SHMEMI_UNIT_SLAB || shmemi_unit_class(entry) < SHMEMI_CLASSES);
}

bool shmemi_units_head(const struct shmemi_pool *pool, uint64_t unit, uint64_t *entry)
{
    uint64_t count = shmemi_units_count(pool);
    if (unit >= count)
        return false;
    *entry = load(pool, unit);
    return is_head(*entry, unit, count);
}

bool shmemi_units_find(const struct shmemi_pool *pool, uint64_t unit, uint64_t *head, uint64_t *entry)
{
    if (unit >= shmemi_units_count(pool))
        return false;
    *head = unit;
    *entry = load(pool, unit);
    if (shmemi_unit_kind(*entry) == SHMEMI_UNIT_INSIDE) {
        uint64_t before = shmemi_unit_length(*entry);
        if (before > unit || !shmemi_units_head(pool, unit - before, entry) || shmemi_unit_length(*entry) <= before)
            return false;
        *head = unit - before;
    }
    return is_head(*entry, *head, shmemi_units_count(pool)) && shmemi_unit_kind(*entry) != SHMEMI_UNIT_FREE;
}

int shmemi_units_damaged(const struct shmemi_pool *pool, uint64_t unit)
{
    return shmemi_fail(-EIO, "the pool%s%s is damaged: its table makes no sense at unit %llu of %llu",
                       *pool->path ? " " : "", pool->path, (unsigned long long)unit,
                       (unsigned long long)shmemi_units_count(pool));
}

bool shmemi_units_valid(const struct shmemi_pool *pool)
{
    uint64_t unit = 0, entry;
    while (shmemi_units_head(pool, unit, &entry))
        unit += shmemi_unit_length(entry);
    return unit == shmemi_units_count(pool) && unit > 0;
}

/* The free run at `unit` takes in those that follow. */
static uint64_t merge(struct shmemi_pool *pool, uint64_t unit, uint64_t entry)
{
    uint64_t length = shmemi_unit_length(entry), next;
    while (shmemi_units_head(pool, unit + length, &next) && shmemi_unit_kind(next) == SHMEMI_UNIT_FREE)
        length += shmemi_unit_length(next);
    if (length != shmemi_unit_length(entry))
        store(pool, unit, shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, length));
    return length;
}

struct fit {
    uint64_t free, length; /* the free run */
    uint64_t first;        /* in it */
};

/* First fit. The members' hint is where to begin; it stays at or below the first free run. */
static int find_fit(struct shmemi_pool *pool, uint64_t length, uint64_t align, struct fit *out)
{
    struct shmemi_pool_state *state = pool->state;
    uint64_t count = shmemi_units_count(pool), entry, lowest = UINT64_MAX;
    uint64_t unit = atomic_load_explicit(&state->lowest, memory_order_relaxed); /* the lock orders it */
    if (!shmemi_units_head(pool, unit, &entry))
        unit = 0;
    for (; unit < count; unit += shmemi_unit_length(entry)) {
        if (!shmemi_units_head(pool, unit, &entry))
            return shmemi_units_damaged(pool, unit);
        if (shmemi_unit_kind(entry) != SHMEMI_UNIT_FREE)
            continue;
        uint64_t here = merge(pool, unit, entry), first = (unit + align - 1) & ~(align - 1);
        entry = shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, here);
        if (lowest == UINT64_MAX)
            atomic_store_explicit(&state->lowest, lowest = unit, memory_order_relaxed); /* the lock orders it */
        if (first - unit < here && here - (first - unit) >= length) {
            *out = (struct fit){.free = unit, .length = here, .first = first};
            return 0;
        }
    }
    return -ENOMEM;
}

static void count_taken(struct shmemi_pool *pool, uint64_t taken)
{
    struct shmemi_pool_state *state = pool->state; /* relaxed: written under the lock, read as figures */
    atomic_store_explicit(&state->taken, taken, memory_order_relaxed);
    if (taken > atomic_load_explicit(&state->high_water, memory_order_relaxed))
        atomic_store_explicit(&state->high_water, taken, memory_order_relaxed);
}

static uint64_t taken_now(const struct shmemi_pool *pool)
{
    return atomic_load_explicit(&pool->state->taken, memory_order_relaxed); /* the lock orders it */
}

int shmemi_units_take(struct shmemi_pool *pool, uint64_t length, uint64_t align, uint64_t as,
                      void (*prepare)(struct shmemi_pool *pool, uint64_t first, void *context), void *context,
                      uint64_t *first)
{
    struct fit fit = {0};
    int rc = find_fit(pool, length, align, &fit);
    if (rc < 0)
        return rc;
    uint64_t end = fit.first + length, free_end = fit.free + fit.length;
    if (end < free_end)
        store(pool, end, shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, free_end - end));
    for (uint64_t i = 1; i < length; i++) /* relaxed: the head's release follows */
        atomic_store_explicit(&pool->units[fit.first + i], shmemi_unit(SHMEMI_UNIT_INSIDE, 0, 0, i),
                              memory_order_relaxed);
    if (prepare)
        prepare(pool, fit.first, context);
    store(pool, fit.first, as | length << SHMEMI_UNIT_LENGTH);
    if (fit.first > fit.free) /* only now is the new head one */
        store(pool, fit.free, shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, fit.first - fit.free));
    count_taken(pool, taken_now(pool) + length);
    *first = fit.first;
    return 0;
}

void shmemi_units_give(struct shmemi_pool *pool, uint64_t first, uint64_t entry)
{
    uint64_t length = shmemi_unit_length(entry), taken = taken_now(pool);
    uint64_t free = shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, length);
    store(pool, first, free);
    merge(pool, first, free);
    count_taken(pool, taken >= length ? taken - length : 0);
    if (first < atomic_load_explicit(&pool->state->lowest, memory_order_relaxed)) /* the lock orders it */
        atomic_store_explicit(&pool->state->lowest, first, memory_order_relaxed);
}

void shmemi_units_extend(struct shmemi_pool *pool, uint64_t old, uint64_t new)
{
    store(pool, old, shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, new - old));
    /* [units] release: pairs with the acquire in shmemi_units_count(). */
    atomic_store_explicit(&pool->state->units, new, memory_order_release);
    if (old < atomic_load_explicit(&pool->state->lowest, memory_order_relaxed)) /* the lock orders it */
        atomic_store_explicit(&pool->state->lowest, old, memory_order_relaxed);
}

void shmemi_units_recover(struct shmemi_pool *pool)
{
    uint64_t taken = 0, entry, orphans = 0;
    for (uint64_t unit = 0; shmemi_units_head(pool, unit, &entry); unit += shmemi_unit_length(entry)) {
        if (shmemi_unit_kind(entry) != SHMEMI_UNIT_FREE)
            taken += shmemi_unit_length(entry);
        orphans += shmemi_unit_kind(entry) == SHMEMI_UNIT_SLAB && shmemi_unit_owner(entry) == 0;
    }
    count_taken(pool, taken);
    atomic_store_explicit(&pool->state->orphans, orphans, memory_order_relaxed); /* the lock orders both */
    atomic_store_explicit(&pool->state->lowest, 0, memory_order_relaxed);
}
