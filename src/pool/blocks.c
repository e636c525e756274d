// SPDX-License-Identifier: Apache-2.0
// Small blocks. A slab is a run of units cut into blocks of one class, and belongs to one member, who alone allocates
// from it; anybody frees. Each block has a byte that says what it is, and that byte is the only truth: allocating and
// freeing change it once, so that a member killed anywhere loses nothing. The lists of free blocks that make it fast
// are private to each process and vanish with it.
//
// byte: FREE -> CACHED (the owner, slabs_lock) -> USED, KEPT or MAKING (the owner, alloc)
//       USED -> KEPT -> EXPORTED -> NAMED (anybody, by exchange)
//       any of these, EXPORTED and above by way of FREEING -> CACHED (freed by the owner's process) or FREE (by
//       another) CACHED -> FREE (put back)
#include "pool_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

enum { SLAB_LEAST = 16 << 10, SLAB_MOST = 256 << 10, SLAB_BLOCKS = 64, CACHE_BYTES = 128 << 10, CACHE_LEAST = 4 };

/* ---- what stands where ---- */

uint32_t shmemi_blocks_in(uint64_t entry)
{
    uint64_t bytes = shmemi_unit_length(entry) * SHMEMI_UNIT;
    uint64_t most = SLAB_MOST / SHMEMI_GRAIN; /* no slab is larger, whatever the entry says */
    uint64_t blocks = bytes / shmemi_class_size(shmemi_unit_class(entry));
    return (uint32_t)(blocks < most ? blocks : most);
}

_Atomic uint8_t *shmemi_blocks_at(const struct shmemi_pool *pool, uint64_t head, uint64_t entry, uint64_t offset)
{
    uint64_t size = shmemi_class_size(shmemi_unit_class(entry)), within = offset - head * SHMEMI_UNIT;
    uint64_t number = within / size;
    if (number * size != within || number >= shmemi_blocks_in(entry))
        return NULL;
    return &pool->blocks[head * SHMEMI_UNIT_BLOCKS + number];
}

static unsigned own_lane(void)
{
    static _Atomic unsigned threads; /* of this process; only spreads them */
    static _Thread_local unsigned lane __attribute__((tls_model("initial-exec")));
    if (shmemi_unlikely(lane == 0)) /* relaxed: any number will do */
        lane = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % SHMEMI_POOL_LANES + 1;
    return lane - 1;
}

/* ---- slabs of this member ---- */

static uint64_t slab_units(const struct shmemi_pool *pool, size_t size)
{
    size_t bytes = size * SLAB_BLOCKS;
    bytes = bytes < SLAB_LEAST ? SLAB_LEAST : bytes > SLAB_MOST ? SLAB_MOST : bytes;
    uint64_t units = bytes / SHMEMI_UNIT, most = shmemi_units_count(pool) / 32;
    uint64_t least = (size + SHMEMI_UNIT - 1) / SHMEMI_UNIT;
    units = units < most ? units : most;
    return units > least ? units : least;
}

static uint32_t free_in(const struct shmemi_pool *pool, const struct shmemi_slab *slab)
{
    /* [returned] acquire: pairs with the release in give_free(): the bytes say FREE. */
    uint32_t returned = atomic_load_explicit(&pool->returned[slab->first], memory_order_acquire) - slab->returned;
    uint32_t taken = slab->taken > returned ? slab->taken - returned : 0;
    return slab->blocks > taken ? slab->blocks - taken : 0;
}

static struct shmemi_slab *add_slab(struct shmemi_slabs *slabs)
{
    if (slabs->count == slabs->capacity) {
        uint32_t capacity = slabs->capacity ? 2 * slabs->capacity : 8;
        struct shmemi_slab *list = realloc(slabs->list, capacity * sizeof *list);
        if (!list)
            return NULL;
        slabs->list = list;
        slabs->capacity = capacity;
    }
    return &slabs->list[slabs->count++];
}

static _Atomic uint64_t *run_intent(struct shmemi_pool *pool)
{
    return &pool->members[pool->me].intent[SHMEMI_POOL_LANES];
}

/* A new slab is all FREE before it is anybody's; its bytes may hold what an earlier one left. */
static void clear_slab(struct shmemi_pool *pool, uint64_t first, void *context)
{
    uint32_t blocks = *(uint32_t *)context;
    /* [intent] release, also below: a sweeper that sees the head sees the intent. */
    atomic_store_explicit(run_intent(pool), first * SHMEMI_UNIT + 1, memory_order_release);
    for (uint32_t i = 0; i < blocks; i++) /* relaxed: the head's release follows */
        atomic_store_explicit(&pool->blocks[first * SHMEMI_UNIT_BLOCKS + i], SHMEMI_BLOCK_FREE, memory_order_relaxed);
}

/* What the counts say may be less than there is: who freed a block may have been killed before it counted that. */
static void recount(const struct shmemi_pool *pool, struct shmemi_slab *slab)
{
    /* [returned] acquire: what is freed from here on is counted; what was before, the bytes tell. */
    slab->returned = atomic_load_explicit(&pool->returned[slab->first], memory_order_acquire);
    slab->taken = 0;
    for (uint32_t i = 0; i < slab->blocks; i++) /* relaxed: a count; the exchange in take_from() decides */
        slab->taken += atomic_load_explicit(&pool->blocks[slab->first * SHMEMI_UNIT_BLOCKS + i],
                                            memory_order_relaxed) != SHMEMI_BLOCK_FREE;
}

/* Takes over a slab of this class that lost its owner. With the lock held. */
static bool adopt_slab(struct shmemi_pool *pool, unsigned class, struct shmemi_slab *slab)
{
    uint64_t entry;
    if (atomic_load_explicit(&pool->state->orphans, memory_order_relaxed) == 0) /* the lock orders it */
        return false;
    for (uint64_t unit = 0; shmemi_units_head(pool, unit, &entry); unit += shmemi_unit_length(entry)) {
        if (shmemi_unit_kind(entry) != SHMEMI_UNIT_SLAB || shmemi_unit_owner(entry) ||
            shmemi_unit_class(entry) != class)
            continue;
        *slab = (struct shmemi_slab){
            .first = unit, .length = (uint32_t)shmemi_unit_length(entry), .blocks = shmemi_blocks_in(entry)};
        recount(pool, slab);
        if (slab->taken == slab->blocks)
            continue;
        /* [entry] release: as in units.c. */
        atomic_store_explicit(&pool->units[unit], entry | shmemi_unit(SHMEMI_UNIT_NONE, 0, pool->me + 1, 0),
                              memory_order_release);
        atomic_fetch_sub_explicit(&pool->state->orphans, 1, memory_order_relaxed);
        return true;
    }
    return false;
}

static bool new_slab(struct shmemi_pool *pool, unsigned class, struct shmemi_slab *slab)
{
    size_t size = shmemi_class_size(class);
    uint64_t units = slab_units(pool, size), least = (size + SHMEMI_UNIT - 1) / SHMEMI_UNIT, first;
    for (;; units = units / 2 > least ? units / 2 : least) {
        uint64_t as = shmemi_unit(SHMEMI_UNIT_SLAB, class, pool->me + 1, 0);
        uint32_t blocks = shmemi_blocks_in(as | units << SHMEMI_UNIT_LENGTH);
        int rc = shmemi_units_take(pool, units, 1, as, clear_slab, &blocks, &first);
        if (rc == 0) {
            *slab = (struct shmemi_slab){.first = first, .length = (uint32_t)units, .blocks = blocks};
            slab->returned = atomic_load_explicit(&pool->returned[first], memory_order_relaxed); /* nobody's so far */
            atomic_store_explicit(run_intent(pool), 0, memory_order_release);                    /* [intent] */
            return true;
        }
        if (units == least)
            return false;
    }
}

/* With slabs_lock held. NULL: no room. */
static struct shmemi_slab *get_slab(struct shmemi_pool *pool, unsigned class)
{
    struct shmemi_slab got, *slab = add_slab(&pool->slabs[class]);
    if (!slab)
        return NULL;
    shmemi_central_take(pool);
    bool done = adopt_slab(pool, class, &got) || new_slab(pool, class, &got);
    shmemi_central_give(pool);
    if (!done) {
        pool->slabs[class].count--;
        return NULL;
    }
    *slab = got;
    return slab;
}

/* ---- filling a cache ---- */

static void take_from(struct shmemi_pool *pool, unsigned class, struct shmemi_slab *slab,
                      struct shmemi_magazine *magazine, uint32_t want)
{
    size_t size = shmemi_class_size(class);
    uint64_t base = slab->first * SHMEMI_UNIT_BLOCKS;
    for (uint32_t i = slab->blocks; i > 0 && magazine->count < want; i--) { /* downwards: handed out upwards */
        _Atomic uint8_t *byte = &pool->blocks[base + i - 1];
        uint8_t free = SHMEMI_BLOCK_FREE;
        /* [block] acquire: pairs with the release of whoever freed it: its last writes come before ours. */
        if (atomic_load_explicit(byte, memory_order_relaxed) != free ||
            !atomic_compare_exchange_strong_explicit(byte, &free, SHMEMI_BLOCK_CACHED, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        slab->taken++;
        magazine->items[magazine->count++] =
            (struct shmemi_cached){.offset = slab->first * SHMEMI_UNIT + (i - 1) * size, .block = base + i - 1};
    }
}

static uint32_t returns_by_others(const struct shmemi_pool *pool)
{
    /* [returns] acquire: pairs with the release in give_free(). */
    return atomic_load_explicit(&pool->members[pool->me].returns, memory_order_acquire);
}

/* Fills the magazine from slabs that have free blocks, or from a new one. */
static void refill(struct shmemi_pool *pool, unsigned class, struct shmemi_magazine *magazine)
{
    struct shmemi_slabs *slabs = &pool->slabs[class];
    uint32_t want = magazine->most / 2;
    pthread_mutex_lock(&pool->slabs_lock);
    uint32_t returns = returns_by_others(pool);
    if (slabs->dirty || returns != slabs->returns) {
        slabs->dirty = false;
        slabs->returns = returns;
        for (uint32_t i = 0; i < slabs->count && magazine->count < want; i++) {
            slabs->next = slabs->next + 1 < slabs->count ? slabs->next + 1 : 0;
            struct shmemi_slab *slab = &slabs->list[slabs->next];
            if (free_in(pool, slab))
                take_from(pool, class, slab, magazine, want);
        }
        slabs->dirty = magazine->count == want; /* there may be more */
    }
    if (magazine->count == 0) {
        struct shmemi_slab *slab = get_slab(pool, class);
        if (slab) {
            take_from(pool, class, slab, magazine, want);
            slabs->dirty = true;
        }
    }
    pthread_mutex_unlock(&pool->slabs_lock);
}

static struct shmemi_magazine *make_magazine(struct shmemi_lane *lane, unsigned class)
{
    struct shmemi_magazine *magazine = malloc(sizeof *magazine);
    if (magazine) {
        size_t most = CACHE_BYTES / shmemi_class_size(class);
        magazine->count = 0;
        magazine->most = (uint32_t)(most < CACHE_LEAST ? CACHE_LEAST : most > SHMEMI_MAGAZINE ? SHMEMI_MAGAZINE : most);
    }
    return lane->magazines[class] = magazine;
}

int shmemi_blocks_alloc(struct shmemi_pool *pool, unsigned class, enum shmemi_block as, uint64_t *offset)
{
    unsigned number = own_lane();
    struct shmemi_lane *lane = &pool->lanes[number];
    pthread_mutex_lock(&lane->lock);
    struct shmemi_magazine *magazine = lane->magazines[class];
    if (shmemi_unlikely(!magazine) && !(magazine = make_magazine(lane, class))) {
        pthread_mutex_unlock(&lane->lock);
        return shmemi_fail(-ENOMEM, "no private memory for a pool's cache");
    }
    bool slow = magazine->count == 0;
    if (shmemi_unlikely(slow))
        refill(pool, class, magazine);
    if (shmemi_unlikely(magazine->count == 0)) {
        pthread_mutex_unlock(&lane->lock);
        return -ENOMEM;
    }
    struct shmemi_cached got = magazine->items[--magazine->count];
    if (as != SHMEMI_BLOCK_USED || pool->persistent) {
        /* [intent] release, twice: a sweeper sees that the block was on its way until it is handed out. */
        _Atomic uint64_t *intent = &pool->members[pool->me].intent[number];
        atomic_store_explicit(intent, got.offset + 1, memory_order_release);
        atomic_store_explicit(&pool->blocks[got.block], (uint8_t)as, memory_order_release);
        atomic_store_explicit(intent, 0, memory_order_release);
    } else /* relaxed: nobody else is concerned with a block of ours that was free */
        atomic_store_explicit(&pool->blocks[got.block], SHMEMI_BLOCK_USED, memory_order_relaxed);
    pthread_mutex_unlock(&lane->lock);
    *offset = got.offset;
    if (shmemi_unlikely(slow))
        shmemi_blocks_follow_pressure(pool);
    return 0;
}

/* ---- giving back ---- */

/* Makes a block anybody's: it was ours or, freed by us, somebody else's. */
static void give_free(struct shmemi_pool *pool, uint64_t head)
{
    uint64_t entry;
    /* [returned] release: the block's byte says FREE. */
    atomic_fetch_add_explicit(&pool->returned[head], 1, memory_order_release);
    if (shmemi_units_head(pool, head, &entry)) {
        unsigned owner = shmemi_unit_owner(entry);
        if (owner && owner <= SHMEMI_POOL_MEMBERS && owner - 1 != pool->me) /* [returns] release: likewise */
            atomic_fetch_add_explicit(&pool->members[owner - 1].returns, 1, memory_order_release);
    }
}

static void put_back(struct shmemi_pool *pool, const struct shmemi_cached *cached)
{
    uint64_t head, entry;
    /* [block] release: pairs with the acquire in take_from(). */
    atomic_store_explicit(&pool->blocks[cached->block], SHMEMI_BLOCK_FREE, memory_order_release);
    if (shmemi_units_find(pool, cached->offset / SHMEMI_UNIT, &head, &entry))
        give_free(pool, head);
}

static bool is_empty(const struct shmemi_pool *pool, const struct shmemi_slab *slab)
{
    if (free_in(pool, slab) != slab->blocks)
        return false;
    for (uint32_t i = 0; i < slab->blocks; i++) /* relaxed: only we make FREE ones anything else, under slabs_lock */
        if (atomic_load_explicit(&pool->blocks[slab->first * SHMEMI_UNIT_BLOCKS + i], memory_order_relaxed) !=
            SHMEMI_BLOCK_FREE)
            return false;
    return true;
}

/* Gives empty slabs back, but for `keep` of them. With slabs_lock held. */
static void drop_empty(struct shmemi_pool *pool, struct shmemi_slabs *slabs, unsigned keep)
{
    slabs->put_back = 0;
    for (uint32_t i = 0; i < slabs->count;) {
        struct shmemi_slab *slab = &slabs->list[i];
        uint64_t entry;
        if (!is_empty(pool, slab) || (keep && keep--)) {
            i++;
            continue;
        }
        shmemi_central_take(pool);
        if (shmemi_units_head(pool, slab->first, &entry) && shmemi_unit_owner(entry) == pool->me + 1)
            shmemi_units_give(pool, slab->first, entry);
        shmemi_central_give(pool);
        *slab = slabs->list[--slabs->count];
    }
}

/* The older half of a full magazine. With its lane's lock held. */
static void overflow(struct shmemi_pool *pool, unsigned class, struct shmemi_magazine *magazine)
{
    struct shmemi_slabs *slabs = &pool->slabs[class];
    uint32_t half = magazine->most / 2;
    pthread_mutex_lock(&pool->slabs_lock);
    for (uint32_t i = 0; i < half; i++)
        put_back(pool, &magazine->items[i]);
    slabs->dirty = true;
    slabs->put_back += half;
    if (slabs->put_back > 2 * SLAB_BLOCKS && slabs->put_back > 4 * slabs->count)
        drop_empty(pool, slabs, 1);
    pthread_mutex_unlock(&pool->slabs_lock);
    magazine->count -= half;
    for (uint32_t i = 0; i < magazine->count; i++)
        magazine->items[i] = magazine->items[i + half];
}

static void keep_cached(struct shmemi_pool *pool, unsigned class, struct shmemi_cached block)
{
    struct shmemi_lane *lane = &pool->lanes[own_lane()];
    bool slow = false;
    pthread_mutex_lock(&lane->lock);
    struct shmemi_magazine *magazine = lane->magazines[class];
    if (!magazine)
        magazine = make_magazine(lane, class);
    if (!magazine)
        put_back(pool, &block);
    else {
        slow = magazine->count == magazine->most;
        if (shmemi_unlikely(slow))
            overflow(pool, class, magazine);
        magazine->items[magazine->count++] = block;
    }
    pthread_mutex_unlock(&lane->lock);
    if (shmemi_unlikely(slow))
        shmemi_blocks_follow_pressure(pool);
}

int shmemi_blocks_free(struct shmemi_pool *pool, uint64_t head, uint64_t entry, uint64_t offset,
                       enum shmemi_block least, enum shmemi_block most)
{
    _Atomic uint8_t *byte = shmemi_blocks_at(pool, head, entry, offset);
    if (!byte)
        return -EINVAL;
    bool ours = shmemi_unit_owner(entry) == pool->me + 1;
    uint8_t after = ours ? SHMEMI_BLOCK_CACHED : SHMEMI_BLOCK_FREE;
    uint8_t before = atomic_load_explicit(byte, memory_order_relaxed); /* the exchange decides */
    do {
        if (before < least || before > most)
            return before > most && before <= SHMEMI_BLOCK_MAKING ? -EAGAIN : -EALREADY;
        /* [block] release: pairs with the acquire in take_from(), for who gets it next. */
    } while (!atomic_compare_exchange_weak_explicit(byte, &before, after, memory_order_acq_rel, memory_order_relaxed));
    if (ours)
        keep_cached(pool, shmemi_unit_class(entry),
                    (struct shmemi_cached){.offset = offset, .block = (uint64_t)(byte - pool->blocks)});
    else
        give_free(pool, head);
    return 0;
}

void shmemi_blocks_finish_free(struct shmemi_pool *pool, uint64_t head, uint64_t entry, uint64_t offset)
{
    _Atomic uint8_t *byte = shmemi_blocks_at(pool, head, entry, offset);
    uint8_t freeing = SHMEMI_BLOCK_FREEING;
    /* [block] release: as in shmemi_blocks_free(). */
    if (byte && atomic_compare_exchange_strong_explicit(byte, &freeing, SHMEMI_BLOCK_FREE, memory_order_acq_rel,
                                                        memory_order_relaxed))
        give_free(pool, head);
}

/* ---- all of it ---- */

void shmemi_blocks_trim(struct shmemi_pool *pool)
{
    for (unsigned i = 0; i < SHMEMI_POOL_LANES; i++) {
        struct shmemi_lane *lane = &pool->lanes[i];
        pthread_mutex_lock(&lane->lock);
        for (unsigned class = 0; class < SHMEMI_CLASSES; class ++) {
            struct shmemi_magazine *magazine = lane->magazines[class];
            while (magazine && magazine->count)
                put_back(pool, &magazine->items[--magazine->count]);
        }
        pthread_mutex_unlock(&lane->lock);
    }
    pthread_mutex_lock(&pool->slabs_lock);
    for (unsigned class = 0; class < SHMEMI_CLASSES; class ++) {
        pool->slabs[class].dirty = true;
        for (uint32_t i = 0; i < pool->slabs[class].count; i++)
            recount(pool, &pool->slabs[class].list[i]);
        drop_empty(pool, &pool->slabs[class], 0);
    }
    pthread_mutex_unlock(&pool->slabs_lock);
}

/* Members that go beyond their caches look whether others found no room. */
void shmemi_blocks_follow_pressure(struct shmemi_pool *pool)
{
    uint32_t now = atomic_load_explicit(&pool->state->pressure, memory_order_relaxed); /* a hint, both */
    if (atomic_load_explicit(&pool->pressure, memory_order_relaxed) == now ||
        atomic_exchange_explicit(&pool->pressure, now, memory_order_relaxed) == now)
        return;
    shmemi_blocks_trim(pool);
}

void shmemi_blocks_reset(struct shmemi_pool *pool)
{
    for (unsigned i = 0; i < SHMEMI_POOL_LANES; i++)
        for (unsigned class = 0; class < SHMEMI_CLASSES; class ++) {
            free(pool->lanes[i].magazines[class]);
            pool->lanes[i].magazines[class] = NULL;
        }
    for (unsigned class = 0; class < SHMEMI_CLASSES; class ++) {
        free(pool->slabs[class].list);
        pool->slabs[class] = (struct shmemi_slabs){0};
    }
}
