// SPDX-License-Identifier: Apache-2.0
// Pools of device memory: one piece of it, from which one process allocates, and which others import by keys.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blocks.h"
#include "base/error.h"
#include "base/settings.h"
#include "device.h"
#include "device_internal.h"

enum { KEYS = 4096, SEGMENT = 1, USUAL_ALIGN = 512, MOST_ALIGN = 2 << 20 };

struct pin {
    struct pin *next;
    size_t offset, bytes;
};

struct shmemi_device_pool {
    struct shmemi_device_pool *next;
    const struct shmemi_device_hal *hal;
    struct shmemi_device_memory memory;
    pthread_mutex_t exporting; /* of `memory` while tickets are made, on the service thread */
    pthread_mutex_t lock;      /* of the blocks */
    struct shmemi_heap_blocks *blocks;
    struct shmemi_share *share;
    struct shmemi_key_record *keys;
    uint64_t number;
    struct pin *pins; /* under the lock, which is taken after the list's */
    unsigned holds;   /* under the list's lock, as the next */
    bool retired;     /* it ends with its last hold */
    bool exported;    /* some key was made; under the lock */
    bool strict;      /* SHMEM_DEBUG */
};

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static struct shmemi_device_pool *pools;

/* --- tickets ------------------------------------------------------------------------------------------------------ */

static int ticket(void *context, uint64_t segment, int32_t process, struct shmemi_device_ticket *out, int *fd)
{
    struct shmemi_device_pool *pool = context;
    if (segment != SEGMENT)
        return -ENOENT;
    pthread_mutex_lock(&pool->exporting);
    int rc = pool->hal->export_memory(&pool->memory, &process, process ? 1 : 0, out, fd);
    pthread_mutex_unlock(&pool->exporting);
    if (rc == 0 && !process && *fd >= 0) { /* it only asks which device it is */
        close(*fd);
        *fd = -1;
    }
    return rc;
}

/* --- making and ending -------------------------------------------------------------------------------------------- */

static int serve(struct shmemi_device_pool *pool)
{
    struct shmemi_share_config config = {.keys = pool->keys, .count = KEYS, .ticket = ticket, .context = pool};
    config.number = pool->number = shmemi_random();
    return shmemi_share_open(&config, &pool->share);
}

static int know(struct shmemi_device_pool *pool)
{
    struct shmemi_device_span span = {.hal = pool->hal,
                                      .device = pool->memory.device,
                                      .begin = pool->memory.address,
                                      .bytes = pool->memory.bytes,
                                      .memory = &pool->memory,
                                      .pool = pool};
    return shmemi_device_table_add(&span);
}

/* Undoes what make() did. */
static void unmake(struct shmemi_device_pool *pool)
{
    shmemi_share_close(pool->share);
    shmemi_blocks_destroy(pool->blocks);
    if (pool->memory.address)
        pool->hal->release(&pool->memory);
    free(pool->keys);
    pthread_mutex_destroy(&pool->exporting);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* exact: no more than what was asked for is given out, whatever the device maps. */
static int make(struct shmemi_device_pool *pool, const char *type, int device, size_t bytes, bool exact)
{
    int rc = shmemi_device_open(type, &pool->hal, NULL);
    if (rc == 0)
        rc = pool->hal->allocate(device, bytes, &pool->memory);
    if (rc == 0)
        rc = shmemi_blocks_create(exact ? bytes : pool->memory.bytes, &pool->blocks);
    if (rc == 0 && !(pool->keys = calloc(KEYS, sizeof *pool->keys)))
        rc = shmemi_fail(-ENOMEM, "no memory for a table of keys");
    if (rc == 0)
        rc = serve(pool);
    return rc < 0 ? rc : know(pool);
}

static int create(const char *type, int device, size_t bytes, bool exact, struct shmemi_device_pool **out)
{
    struct shmemi_device_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return shmemi_fail(-ENOMEM, "no memory for a pool");
    pthread_mutex_init(&pool->exporting, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pool->strict = shmemi_setting_is_set("SHMEM_DEBUG");
    int rc = make(pool, type, device, bytes, exact);
    if (rc < 0) {
        unmake(pool);
        return shmemi_fail_in(rc, "cannot make a pool of %zu bytes on %s device %d", bytes, type, device);
    }
    pthread_mutex_lock(&listing);
    pool->next = pools;
    pools = pool;
    pthread_mutex_unlock(&listing);
    *out = pool;
    return 0;
}

int shmemi_device_pool_create(const char *type, int device, size_t bytes, struct shmemi_device_pool **out)
{
    return create(type, device, bytes, false, out);
}

int shmemi_device_pool_create_exact(const char *type, int device, size_t bytes, struct shmemi_device_pool **out)
{
    return create(type, device, bytes, true, out);
}

static bool has_pins(struct shmemi_device_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool any = pool->pins != NULL;
    pthread_mutex_unlock(&pool->lock);
    return any;
}

/* 1: it is retired, and ends later. */
static int unlist(struct shmemi_device_pool *pool, bool may_retire)
{
    int rc = 0;
    pthread_mutex_lock(&listing);
    struct shmemi_device_pool **at = &pools;
    while (*at && *at != pool)
        at = &(*at)->next;
    if (!*at)
        rc = shmemi_fail(-EINVAL, "the pool is none of this process's, or was closed");
    else if (has_pins(pool))
        rc = shmemi_fail(-EBUSY, "memory of the pool is registered as a region: deregister it first");
    else if (pool->holds && !may_retire)
        rc = shmemi_fail(-EBUSY, "%u imports of the pool's own keys are open in this process: close them first",
                         pool->holds);
    else {
        *at = pool->next;
        rc = pool->retired = pool->holds > 0;
    }
    pthread_mutex_unlock(&listing);
    return rc;
}

/* When nobody finds it any more, or has it. */
static void end(struct shmemi_device_pool *pool)
{
    shmemi_device_table_remove(pool->memory.address);
    shmemi_streams_finish(pool->hal);
    unmake(pool);
}

int shmemi_device_pool_close(struct shmemi_device_pool *pool)
{
    int rc = shmemi_device_check_process();
    if (rc < 0 || (rc = unlist(pool, false)) < 0)
        return rc;
    end(pool);
    return 0;
}

int shmemi_device_pool_retire(struct shmemi_device_pool *pool)
{
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    shmemi_share_revoke_range(pool->share, SEGMENT, 0, pool->memory.bytes);
    if ((rc = unlist(pool, true)) == 0)
        end(pool);
    return rc < 0 ? rc : 0;
}

void shmemi_device_pools_in_child(void)
{
    pthread_mutex_init(&listing, NULL);
}

struct shmemi_device_pool *shmemi_device_pool_hold(uint64_t number)
{
    if (!shmemi_device_any()) /* asked for every key: of processes without devices no lock is taken, nor left to a child
                               */
        return NULL;
    pthread_mutex_lock(&listing);
    struct shmemi_device_pool *pool = pools;
    while (pool && pool->number != number)
        pool = pool->next;
    if (pool)
        pool->holds++;
    pthread_mutex_unlock(&listing);
    return pool;
}

void shmemi_device_pool_let_go(struct shmemi_device_pool *pool)
{
    pthread_mutex_lock(&listing);
    bool last = --pool->holds == 0 && pool->retired;
    pthread_mutex_unlock(&listing);
    if (last)
        end(pool);
}

const struct shmemi_device_memory *shmemi_device_pool_memory(const struct shmemi_device_pool *pool)
{
    return &pool->memory;
}

const struct shmemi_device_hal *shmemi_device_pool_hal(const struct shmemi_device_pool *pool)
{
    return pool->hal;
}

struct shmemi_share *shmemi_device_pool_share(const struct shmemi_device_pool *pool)
{
    return pool->share;
}

/* --- buffers ------------------------------------------------------------------------------------------------------ */

static int no_room(struct shmemi_device_pool *pool, size_t bytes)
{
    struct shmemi_blocks_use use;
    shmemi_blocks_use(pool->blocks, &use);
    return shmemi_fail(-ENOMEM,
                       "no room for %zu bytes in the pool of %zu on %s device %d: %zu are in use, and the largest free "
                       "block has %zu",
                       bytes, use.total, pool->hal->maker, pool->memory.device, use.in_use, use.largest_free);
}

int shmemi_device_alloc(struct shmemi_device_pool *pool, size_t bytes, size_t align, void **out)
{
    size_t offset = 0;
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    align = align ? align : USUAL_ALIGN;
    if (align & (align - 1) || align > MOST_ALIGN)
        return shmemi_fail(-EINVAL, "align is %zu, but must be a power of two up to %d", align, MOST_ALIGN);
    pthread_mutex_lock(&pool->lock);
    rc = shmemi_blocks_take(pool->blocks, bytes ? bytes : 1, align, &offset);
    if (rc == -ENOSPC)
        rc = no_room(pool, bytes);
    pthread_mutex_unlock(&pool->lock);
    if (rc == 0)
        *out = (char *)pool->memory.address + offset;
    return rc;
}

/* Under the lock. */
static bool is_pinned(const struct shmemi_device_pool *pool, size_t offset, size_t bytes)
{
    const struct pin *p = pool->pins;
    while (p && (p->offset >= offset + bytes || offset >= p->offset + p->bytes))
        p = p->next;
    return p != NULL;
}

struct shmemi_heap_blocks *shmemi_device_pool_lock_blocks(struct shmemi_device_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    return pool->blocks;
}

void shmemi_device_pool_unlock_blocks(struct shmemi_device_pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
}

bool shmemi_device_pool_pinned(const struct shmemi_device_pool *pool, size_t offset, size_t bytes)
{
    return is_pinned(pool, offset, bytes);
}

int shmemi_device_free(struct shmemi_device_pool *pool, void *address)
{
    size_t offset = (size_t)((char *)address - (char *)pool->memory.address), begin, left;
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&pool->lock);
    size_t bytes = offset < pool->memory.bytes ? shmemi_blocks_size(pool->blocks, offset) : 0;
    if (!bytes)
        rc = shmemi_fail(-EINVAL, "no buffer of the pool begins at %p: it was freed, or is of another pool", address);
    else if (is_pinned(pool, offset, bytes))
        rc = shmemi_fail(-EBUSY, "the buffer at %p is registered as a region: deregister it first", address);
    else if (pool->exported) /* before somebody else gets the block */
        shmemi_share_revoke_range(pool->share, SEGMENT, offset, bytes);
    if (rc == 0)
        shmemi_blocks_give(pool->blocks, offset, &begin, &left);
    pthread_mutex_unlock(&pool->lock);
    return rc;
}

int shmemi_device_pool_check(struct shmemi_device_pool *pool, const void *address, size_t bytes, const char *which)
{
    size_t offset = (size_t)((const char *)address - (const char *)pool->memory.address), begin = offset;
    pthread_mutex_lock(&pool->lock);
    size_t size = shmemi_blocks_size(pool->blocks, offset);
    if (!size && pool->strict)
        size = shmemi_blocks_holding(pool->blocks, offset, &begin);
    bool known = size || pool->strict;
    pthread_mutex_unlock(&pool->lock);
    if (!known || (offset - begin <= size && bytes <= size - (offset - begin)))
        return 0;
    return size ? shmemi_fail(-EINVAL, "%zu bytes at the %s %p go beyond its buffer, of which %zu bytes begin there",
                              bytes, which, address, size > offset - begin ? size - (offset - begin) : 0)
                : shmemi_fail(-EINVAL, "the %s %p is in no buffer of its pool: it was freed, or is no address of one",
                              which, address);
}

int shmemi_device_pool_stats(struct shmemi_device_pool *pool, struct shmemi_device_pool_stats *out)
{
    struct shmemi_blocks_use use;
    pthread_mutex_lock(&pool->lock);
    shmemi_blocks_use(pool->blocks, &use);
    pthread_mutex_unlock(&pool->lock);
    *out = (struct shmemi_device_pool_stats){.type = pool->hal->type,
                                             .device = pool->memory.device,
                                             .size = use.total,
                                             .in_use = use.in_use,
                                             .buffers = use.blocks,
                                             .largest_free = use.largest_free,
                                             .high_water = use.high_water,
                                             .way = pool->memory.way};
    return 0;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* A mapping opens the whole pool, so there are no rights for others than this user's processes. */
static int check_rights(const struct shmemi_export *what)
{
    if (what->flags & SHMEMI_KEY_FROZEN)
        return shmemi_fail(-ENOTSUP, "memory of a device cannot be frozen: drivers map it for reading and writing");
    for (uint32_t i = 0; i < what->allowed; i++)
        if (what->allow[i].kind == SHMEMI_ALLOW_USER || what->allow[i].kind == SHMEMI_ALLOW_GROUP)
            return shmemi_fail(-EACCES, "memory of a device can be shared with processes of this user only, because a "
                                        "mapping opens the whole pool");
    return 0;
}

static int not_in_a_pool(const void *address)
{
    return shmemi_fail(
        -EINVAL,
        "%p is in no pool of device memory and was not adopted; of what was imported only its owner makes "
        "keys and regions",
        address);
}

/* Under the pool's lock. */
static int locate(struct shmemi_device_pool *pool, const void *address, struct shmemi_export *what)
{
    size_t offset = (size_t)((const char *)address - (const char *)pool->memory.address), begin = 0;
    size_t bytes = shmemi_blocks_holding(pool->blocks, offset, &begin);
    if (!bytes)
        return shmemi_fail(-EINVAL, "%p is in no buffer of the pool", address);
    if (offset - begin > bytes || what->bytes > bytes - (offset - begin))
        return shmemi_fail(-EINVAL, "%zu bytes from %p on end beyond the buffer, which has %zu", (size_t)what->bytes,
                           address, bytes);
    what->segment = SEGMENT;
    what->offset = offset;
    what->flags |= SHMEMI_KEY_DEVICE;
    return 0;
}

int shmemi_device_pin(const void *address, size_t bytes)
{
    struct shmemi_device_span span;
    struct shmemi_export where = {.bytes = bytes};
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    if (shmemi_device_table_find(address, &span) && span.adopted)
        return shmemi_adopted_pin(address, bytes);
    struct pin *pin = malloc(sizeof *pin);
    rc = pin ? 0 : shmemi_fail(-ENOMEM, "no memory for a region");
    if (rc == 0 && (!shmemi_device_table_find(address, &span) || !span.pool))
        rc = not_in_a_pool(address);
    if (rc == 0) {
        pthread_mutex_lock(&span.pool->lock);
        if ((rc = locate(span.pool, address, &where)) == 0) {
            *pin = (struct pin){span.pool->pins, where.offset, bytes};
            span.pool->pins = pin;
        }
        pthread_mutex_unlock(&span.pool->lock);
    }
    if (rc < 0)
        free(pin);
    return rc;
}

void shmemi_device_unpin(const void *address)
{
    struct shmemi_device_span span;
    if (shmemi_device_table_find(address, &span) && span.adopted)
        shmemi_adopted_unpin(address);
    if (!shmemi_device_table_find(address, &span) || !span.pool)
        return;
    pthread_mutex_lock(&span.pool->lock);
    struct pin **at = &span.pool->pins;
    while (*at && (*at)->offset != (size_t)((const char *)address - span.begin))
        at = &(*at)->next;
    struct pin *gone = *at;
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&span.pool->lock);
    free(gone);
}

static int cannot_share(const struct shmemi_device_hal *hal, int device)
{
    struct shmemi_device_info info;
    int rc = hal->describe(device, &info);
    return rc < 0 ? rc : shmemi_device_alone(hal, device, &info);
}

int shmemi_device_alone(const struct shmemi_device_hal *hal, int device, const struct shmemi_device_info *info)
{
    return shmemi_fail(-ENOTSUP, "memory of %s device %d cannot be shared with other processes: %s", hal->maker, device,
                       *info->alone ? info->alone : "it refuses the driver's calls for that");
}

int shmemi_device_export(const void *address, size_t bytes, struct shmemi_export *what, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_device_span span;
    int rc = shmemi_device_check_process();
    if (rc == 0 && (!shmemi_device_table_find(address, &span) || (!span.pool && !span.adopted)))
        rc = not_in_a_pool(address);
    if (rc < 0 || (rc = check_rights(what)) < 0)
        return rc;
    if (span.adopted)
        return shmemi_adopted_export(address, bytes, what, text);
    if (span.memory->way == SHMEMI_WAY_NONE)
        return cannot_share(span.hal, span.device);
    what->bytes = bytes;
    pthread_mutex_lock(&span.pool->lock);
    if ((rc = locate(span.pool, address, what)) == 0 && (rc = shmemi_share_export(span.pool->share, what, text)) == 0)
        span.pool->exported = true;
    pthread_mutex_unlock(&span.pool->lock);
    return rc;
}

int shmemi_device_revoke(const struct shmemi_key *key)
{
    struct shmemi_share *adopted = shmemi_adopted_share(key->share);
    if (adopted)
        return shmemi_share_revoke(adopted, key);
    struct shmemi_device_pool *pool = shmemi_device_pool_hold(key->share);
    if (!pool)
        return -ENOENT;
    int rc = shmemi_share_revoke(pool->share, key);
    shmemi_device_pool_let_go(pool);
    return rc;
}
