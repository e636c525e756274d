// SPDX-License-Identifier: Apache-2.0
// Keys of buffers.
#include "pool_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static int share_of(struct shmemi_pool *pool, struct shmemi_share **out)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    if (!pool->share)
        return shmemi_fail(-EROFS, "nothing can be exported from a file that is not open for writing by all ('%s')",
                           pool->path);
    *out = pool->share;
    return 0;
}

/* Other users, groups and holders of tokens get a segment whole, so it must hold nothing else. */
static int needs_own(const struct shmemi_pool_export *what)
{
    if (what->frozen)
        return shmemi_fail(-EACCES, "only a buffer with a segment of its own can be frozen: allocate it with own");
    for (uint32_t i = 0; i < what->allowed; i++)
        if (what->allow[i].kind != SHMEMI_ALLOW_PE)
            return shmemi_fail(-EACCES,
                               "rights for others than this user's processes need a buffer with a segment of its "
                               "own, because a mapping opens a whole segment: allocate it with own");
    return 0;
}

/* Where the bytes are, and that they are all in one buffer. */
static int locate_own(struct shmemi_pool *pool, const void *address, size_t bytes, struct shmemi_export *to)
{
    pthread_mutex_lock(&pool->owns_lock);
    const struct shmemi_own *own = shmemi_own_find(pool, address);
    int rc = -ENOENT;
    if (own && own->inherited)
        rc = shmemi_fail(-EACCES, "the buffer's segment belongs to the process that forked this one");
    else if (own) {
        to->segment = own->segment;
        to->offset = (uint64_t)((const char *)address - (const char *)own->address);
        rc = bytes <= own->bytes - (to->offset < own->bytes ? to->offset : own->bytes)
                 ? 0
                 : shmemi_fail(-EINVAL, "%zu bytes from %p on end beyond the buffer, which has %zu at %p", bytes,
                               address, own->bytes, own->address);
    }
    pthread_mutex_unlock(&pool->owns_lock);
    return rc;
}

static int locate(struct shmemi_pool *pool, const void *address, size_t bytes, const struct shmemi_pool_export *what,
                  struct shmemi_export *to)
{
    uint64_t offset = (uint64_t)((const char *)address - pool->payload);
    struct shmemi_pool_block block;
    int rc = locate_own(pool, address, bytes, to);
    if (rc != -ENOENT)
        return rc;
    if ((const char *)address < pool->payload || shmemi_pool_look(pool, offset, &block) < 0)
        return shmemi_fail(-EINVAL, "%p is in no buffer of the pool", address);
    if (bytes > block.offset + block.bytes - offset)
        return shmemi_fail(-EINVAL, "%zu bytes from %p on end beyond the buffer, which has %zu", bytes, address,
                           (size_t)block.bytes);
    if ((rc = needs_own(what)) < 0)
        return rc;
    to->segment = SHMEMI_POOL_PAYLOAD;
    to->offset = pool->payload_at + offset;
    return 0;
}

/* The key first: a block that says that it has one is kept, and a sweeper takes a key back whose block does not. */
static int mark_block(struct shmemi_pool *pool, const void *address, const char *text)
{
    struct shmemi_key key;
    struct shmemi_pool_block block;
    uint64_t offset = (uint64_t)((const char *)address - pool->payload);
    int rc = shmemi_pool_look(pool, offset, &block);
    if (rc == 0)
        rc = shmemi_pool_raise(pool, block.offset, SHMEMI_BLOCK_EXPORTED);
    if (rc == 0)
        return 0;
    if (shmemi_key_parse(text, &key) == 0)
        shmemi_share_revoke(pool->share, &key);
    return shmemi_fail(rc, "%p was freed meanwhile", address);
}

/* A key that must not be used after all; the text of the failure stays. */
static void take_back(struct shmemi_share *share, const char *text)
{
    struct shmemi_key key;
    char cause[512];
    snprintf(cause, sizeof cause, "%s", shmemi_last_error());
    if (shmemi_key_parse(text, &key) == 0)
        shmemi_share_revoke(share, &key);
    shmemi_fail(0, "%s", cause);
}

int shmemi_pool_export_range(struct shmemi_pool *pool, const void *address, size_t bytes,
                             const struct shmemi_pool_export *what, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_share *share = NULL;
    struct shmemi_export to = {.bytes = bytes,
                               .rights = what->rights,
                               .flags = what->frozen ? SHMEMI_KEY_FROZEN : 0,
                               .allow = what->allow,
                               .allowed = what->allowed,
                               .note = what->note,
                               .note_bytes = what->note_bytes};
    int rc = share_of(pool, &share);
    if (rc == 0)
        rc = locate(pool, address, bytes, what, &to);
    if (rc == 0)
        rc = shmemi_share_export(share, &to, text);
    if (rc == 0 && what->frozen && (rc = shmemi_own_freeze(pool, address)) < 0)
        take_back(share, text);
    return rc == 0 && to.segment == SHMEMI_POOL_PAYLOAD ? mark_block(pool, address, text) : rc;
}

int shmemi_pool_export_all(struct shmemi_pool *pool, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_share *share = NULL;
    int rc = share_of(pool, &share);
    if (rc < 0)
        return rc;
    if (*pool->path)
        return shmemi_fail(-EINVAL, "a file is shared by its path: open_file('%s')", pool->path);
    struct shmemi_export to = {.segment = SHMEMI_POOL_PAYLOAD,
                               .bytes = shmemi_units_count(pool) * SHMEMI_UNIT,
                               .rights = SHMEMI_RIGHTS_ALL,
                               .flags = SHMEMI_KEY_POOL};
    return shmemi_share_export(share, &to, text);
}

int shmemi_pool_revoke(struct shmemi_pool *pool, const struct shmemi_key *key, bool move)
{
    struct shmemi_share *share = NULL;
    struct shmemi_key_record record;
    int rc = share_of(pool, &share);
    if (rc == 0)
        rc = shmemi_share_look_up(share, key, &record);
    if (rc < 0)
        return rc;
    if (move && record.segment == SHMEMI_POOL_PAYLOAD)
        return shmemi_fail(-EINVAL,
                           "only a buffer with a segment of its own can move to new memory: allocate it with own");
    rc = shmemi_share_revoke(share, key);
    if (rc == 0 && move) {
        shmemi_share_revoke_range(share, record.segment, 0, UINT64_MAX / 2);
        rc = shmemi_own_move(pool, record.segment);
        if (rc == -ENOENT)
            rc = shmemi_fail(rc, "the key is revoked, but only the process that owns the buffer can move it");
    }
    return rc;
}
