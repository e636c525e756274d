// SPDX-License-Identifier: Apache-2.0
// Names of buffers: a hash table with linear probing. Changes are made with the pool's lock held; a name becomes true,
// and ends, by one store to its state.
#include "pool_internal.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"

bool shmemi_names_used(const struct shmemi_pool *pool, uint64_t index)
{
    /* [name] acquire: pairs with the release in use_entry(). */
    return atomic_load_explicit(&pool->name_map[index / 64], memory_order_acquire) >> index % 64 & 1;
}

/* Takes memory for the entry and marks it as one. */
static int use_entry(struct shmemi_pool *pool, uint64_t index)
{
    if (shmemi_names_used(pool, index))
        return 0;
    int rc = shmemi_pool_reserve_control(pool, pool->at.names + index * sizeof(struct shmemi_pool_name),
                                         sizeof(struct shmemi_pool_name));
    if (rc == 0) /* [name] release: pairs with the acquire in shmemi_names_used() */
        atomic_fetch_or_explicit(&pool->name_map[index / 64], UINT64_C(1) << index % 64, memory_order_release);
    return rc;
}

static enum shmemi_name_state state_of(const struct shmemi_pool *pool, uint64_t index)
{
    if (!shmemi_names_used(pool, index))
        return SHMEMI_NAME_FREE;
    /* [name] acquire: pairs with the release in set_state(): the entry is whole. */
    uint32_t state = atomic_load_explicit(&pool->names[index].state, memory_order_acquire);
    return state <= SHMEMI_NAME_GONE ? (enum shmemi_name_state)state : SHMEMI_NAME_GONE;
}

static void set_state(struct shmemi_pool *pool, uint64_t index, enum shmemi_name_state state)
{
    /* [name] release: pairs with the acquire in state_of(). */
    atomic_store_explicit(&pool->names[index].state, state, memory_order_release);
}

static uint64_t hash(const char *name)
{
    uint64_t h = shmemi_hash_text(SHMEMI_HASH_BEGIN, name);
    return h ^ h >> 32;
}

static int check_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (length == 0)
        return shmemi_fail(-EINVAL, "a name of at least one byte is needed");
    if (length >= SHMEMI_POOL_NAME)
        return shmemi_fail(-ENAMETOOLONG, "the name '%.40s...' has %zu bytes; %d fit", name, length,
                           SHMEMI_POOL_NAME - 1);
    return 0;
}

/* Where the name is, or -ENOENT; *spot (may be NULL): where it could be put, or name_count. */
static int64_t look_up(const struct shmemi_pool *pool, const char *name, uint64_t *spot)
{
    uint64_t count = pool->at.name_count, at = hash(name) % count, free = count;
    for (uint64_t i = 0; i < count; i++, at = at + 1 < count ? at + 1 : 0) {
        enum shmemi_name_state state = state_of(pool, at);
        if ((state == SHMEMI_NAME_FREE || state == SHMEMI_NAME_GONE) && free == count)
            free = at;
        if (state == SHMEMI_NAME_FREE)
            break;
        if (state != SHMEMI_NAME_GONE && strncmp(pool->names[at].name, name, SHMEMI_POOL_NAME) == 0)
            return (int64_t)at;
    }
    if (spot)
        *spot = free;
    return -ENOENT;
}

static int copy_out(const struct shmemi_pool *pool, uint64_t index, struct shmemi_named *out)
{
    const struct shmemi_pool_name *entry = &pool->names[index];
    uint64_t size = shmemi_units_count(pool) * SHMEMI_UNIT;
    memcpy(out->name, entry->name, sizeof out->name);
    out->name[sizeof out->name - 1] = '\0';
    uint64_t offset = entry->offset, bytes = entry->bytes;
    uint32_t note = entry->note_bytes;
    if (offset > size || bytes > size - offset || note > SHMEMI_KEY_NOTE)
        return shmemi_fail(-EIO, "the pool is damaged: what it says of '%s' makes no sense", out->name);
    out->address = pool->payload + offset;
    out->bytes = bytes;
    out->note_bytes = note;
    memcpy(out->note, entry->note, note);
    return 0;
}

/* Its place may be another one than it was: those who stood in its way then may not be here. */
int shmemi_names_restore(struct shmemi_pool *pool, const struct shmemi_pool_name *name)
{
    uint64_t index;
    if (look_up(pool, name->name, &index) >= 0 || index == pool->at.name_count)
        return -EEXIST;
    int rc = use_entry(pool, index);
    if (rc < 0)
        return rc;
    memcpy(&pool->names[index], name, sizeof *name);
    set_state(pool, index, SHMEMI_NAME_LIVE);
    return 0;
}

/* With the lock: an entry that is being made, with all but its offset. */
static int begin(struct shmemi_pool *pool, const struct shmemi_naming *naming, uint64_t *index)
{
    int64_t there = look_up(pool, naming->name, index);
    if (there >= 0)
        return shmemi_fail(-EEXIST, "there is a buffer of the name '%s' already%s", naming->name,
                           state_of(pool, (uint64_t)there) == SHMEMI_NAME_MAKING ? ", which somebody is just making"
                                                                                 : "");
    if (*index == pool->at.name_count)
        return shmemi_fail(-ENOSPC, "the pool has its %llu names already", (unsigned long long)pool->at.name_count);
    int rc = use_entry(pool, *index);
    if (rc < 0)
        return rc;
    struct shmemi_pool_name *entry = &pool->names[*index];
    /* [naming] release: a sweeper that sees MAKING sees whose it is. */
    atomic_store_explicit(&pool->members[pool->me].naming, *index + 1, memory_order_release);
    set_state(pool, *index, SHMEMI_NAME_MAKING);
    memset(entry->name, 0, sizeof entry->name);
    memcpy(entry->name, naming->name, strlen(naming->name));
    entry->offset = UINT64_MAX;
    entry->bytes = naming->size;
    entry->note_bytes = (uint32_t)naming->note_bytes;
    if (naming->note_bytes)
        memcpy(entry->note, naming->note, naming->note_bytes);
    return 0;
}

/* The block of a name that is LIVE says so, too. Without a block it is no name. With the lock held. */
static int mark_block(struct shmemi_pool *pool, uint64_t index)
{
    struct shmemi_pool_block block;
    int rc = shmemi_pool_look(pool, pool->names[index].offset, &block);
    if (rc == 0)
        rc = shmemi_pool_raise_locked(pool, &block, SHMEMI_BLOCK_NAMED);
    if (rc < 0)
        set_state(pool, index, SHMEMI_NAME_GONE);
    return rc;
}

/* The name first: a block that says that it has one is kept, and a sweeper can still make it say so. */
static int end(struct shmemi_pool *pool, uint64_t index, bool live)
{
    int rc = 0;
    shmemi_central_take(pool);
    set_state(pool, index, live ? SHMEMI_NAME_LIVE : SHMEMI_NAME_GONE);
    if (live)
        rc = mark_block(pool, index);
    /* [naming] release: nothing of it is left to be done. */
    atomic_store_explicit(&pool->members[pool->me].naming, 0, memory_order_release);
    shmemi_central_give(pool);
    return rc;
}

static int prepare(struct shmemi_pool *pool, const struct shmemi_naming *naming)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = shmemi_pool_need_writable(pool)) < 0 || (rc = check_name(naming->name)) < 0)
        return rc;
    if (naming->note_bytes > SHMEMI_KEY_NOTE)
        return shmemi_fail(-E2BIG, "the note has %zu bytes; %d fit", naming->note_bytes, SHMEMI_KEY_NOTE);
    return 0;
}

static int begin_locked(struct shmemi_pool *pool, const struct shmemi_naming *naming, uint64_t *index)
{
    pthread_mutex_lock(&pool->naming);
    shmemi_central_take(pool);
    int rc = shmemi_members_any_dead(pool) ? shmemi_members_sweep(pool) : 0; /* one of them may hold the name */
    if (rc == 0)
        rc = begin(pool, naming, index);
    shmemi_central_give(pool);
    if (rc < 0)
        pthread_mutex_unlock(&pool->naming);
    return rc;
}

/* The block is given back when this process dies before the name is true. */
static int make_block(struct shmemi_pool *pool, const struct shmemi_naming *naming, uint64_t index, uint64_t *offset)
{
    size_t size = naming->size ? naming->size : 1, align = naming->align ? naming->align : SHMEMI_GRAIN;
    int rc = shmemi_pool_check_request(pool, size, align);
    if (rc == 0)
        rc = shmemi_pool_take(pool, size, align, SHMEMI_BLOCK_MAKING, offset);
    if (rc < 0)
        return rc;
    pool->names[index].offset = *offset;
    rc = naming->init ? naming->init(pool->payload + *offset, naming->context) : 0;
    if (rc < 0)
        shmemi_pool_free(pool, pool->payload + *offset);
    return rc;
}

int shmemi_pool_alloc_named(struct shmemi_pool *pool, const struct shmemi_naming *naming, void **out)
{
    uint64_t index = 0, offset = 0;
    int rc = prepare(pool, naming);
    if (rc < 0 || (rc = begin_locked(pool, naming, &index)) < 0)
        return rc;
    rc = make_block(pool, naming, index, &offset);
    int ended = end(pool, index, rc == 0);
    pthread_mutex_unlock(&pool->naming);
    if (rc == 0 && ended < 0)
        rc = shmemi_fail(ended,
                         "the new buffer of the name '%s' was freed meanwhile: somebody freed an address that "
                         "was not theirs any more",
                         naming->name);
    if (rc == 0)
        *out = pool->payload + offset;
    return rc;
}

int shmemi_pool_name_buffer(struct shmemi_pool *pool, const struct shmemi_naming *naming, void *buffer)
{
    uint64_t index = 0, offset = 0;
    struct shmemi_pool_block block;
    int rc = prepare(pool, naming);
    if (rc < 0 || (rc = shmemi_pool_offset(pool, buffer, &offset)) < 0)
        return rc;
    if (shmemi_pool_look(pool, offset, &block) < 0 || block.offset != offset || naming->size > block.bytes)
        return shmemi_fail(-EINVAL, "%p is not a buffer of this pool with %zu bytes", buffer, naming->size);
    if ((rc = begin_locked(pool, naming, &index)) < 0)
        return rc;
    pool->names[index].offset = offset;
    rc = end(pool, index, true);
    pthread_mutex_unlock(&pool->naming);
    return rc < 0 ? shmemi_fail(rc, "%p was freed meanwhile", buffer) : 0;
}

int shmemi_pool_find_name(struct shmemi_pool *pool, const char *name, struct shmemi_named *out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = check_name(name)) < 0)
        return rc;
    bool lock = pool->writable; /* a reader of a file writes nothing, not even locks */
    if (lock)
        shmemi_central_take(pool);
    int64_t index = look_up(pool, name, NULL);
    if (index >= 0 && state_of(pool, (uint64_t)index) == SHMEMI_NAME_LIVE)
        rc = copy_out(pool, (uint64_t)index, out);
    else
        rc = shmemi_fail(-ENOENT, "there is no buffer of the name '%s' in the pool%s%s", name, *pool->path ? " " : "",
                         pool->path);
    if (lock)
        shmemi_central_give(pool);
    return rc;
}

static bool has_note(const struct shmemi_pool_name *entry, const struct shmemi_naming *naming)
{
    return entry->note_bytes == naming->note_bytes && memcmp(entry->note, naming->note, naming->note_bytes) == 0;
}

void shmemi_names_visit(struct shmemi_pool *pool, const struct shmemi_naming *naming,
                        void (*call)(void *buffer, void *context), void *context)
{
    struct shmemi_pool_block block;
    shmemi_central_take(pool);
    int64_t index = look_up(pool, naming->name, NULL);
    if (index >= 0 && state_of(pool, (uint64_t)index) == SHMEMI_NAME_LIVE && has_note(&pool->names[index], naming)) {
        uint64_t offset = pool->names[index].offset;
        if (shmemi_pool_look(pool, offset, &block) == 0 && block.offset == offset && block.bytes >= naming->size)
            call(pool->payload + offset, context);
    }
    shmemi_central_give(pool);
}

int shmemi_pool_unname(struct shmemi_pool *pool, const char *name)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = shmemi_pool_need_writable(pool)) < 0 || (rc = check_name(name)) < 0)
        return rc;
    shmemi_central_take(pool);
    int64_t index = look_up(pool, name, NULL);
    bool live = index >= 0 && state_of(pool, (uint64_t)index) == SHMEMI_NAME_LIVE;
    if (live)
        set_state(pool, (uint64_t)index, SHMEMI_NAME_GONE);
    shmemi_central_give(pool);
    return live ? 0 : shmemi_fail(-ENOENT, "there is no buffer of the name '%s' in the pool", name);
}

int shmemi_pool_next_name(struct shmemi_pool *pool, uint64_t *cursor, struct shmemi_named *out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    bool lock = pool->writable; /* as in find_name() */
    if (lock)
        shmemi_central_take(pool);
    while (*cursor < pool->at.name_count && state_of(pool, *cursor) != SHMEMI_NAME_LIVE)
        ++*cursor;
    if (*cursor < pool->at.name_count)
        rc = copy_out(pool, (*cursor)++, out) < 0 ? -EIO : 1;
    if (lock)
        shmemi_central_give(pool);
    return rc;
}

void shmemi_names_drop(struct shmemi_pool *pool, uint64_t offset)
{
    for (uint64_t word = 0; word < pool->at.name_count / 64; word++) {
        uint64_t used = atomic_load_explicit(&pool->name_map[word], memory_order_relaxed); /* the lock orders it */
        for (; used; used &= used - 1) {
            uint64_t index = word * 64 + (uint64_t)__builtin_ctzl(used);
            if (state_of(pool, index) == SHMEMI_NAME_LIVE && pool->names[index].offset == offset)
                set_state(pool, index, SHMEMI_NAME_GONE);
        }
    }
}

void shmemi_names_sweep(struct shmemi_pool *pool, unsigned slot)
{
    struct shmemi_pool_member *member = &pool->members[slot];
    /* [naming] acquire: pairs with the release in begin(). */
    uint64_t naming = atomic_load_explicit(&member->naming, memory_order_acquire);
    if (naming && naming <= pool->at.name_count) {
        enum shmemi_name_state state = state_of(pool, naming - 1);
        if (state == SHMEMI_NAME_MAKING)
            set_state(pool, naming - 1, SHMEMI_NAME_GONE);
        else if (state == SHMEMI_NAME_LIVE)
            mark_block(pool, naming - 1);
    }
    atomic_store_explicit(&member->naming, 0, memory_order_relaxed); /* the lock orders it */
}
