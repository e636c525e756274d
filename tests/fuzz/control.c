// SPDX-License-Identifier: Apache-2.0
// Fuzzing what another member of a pool can do to it: bytes of the control part are changed, and the pool is used. The
// lock and the alive words are left alone: a member that is said to live and to hold the lock is waited for.
#include <stdlib.h>

#include "patch.h"

static bool is_waited_for(const struct shmemi_pool *pool, uint64_t where, size_t length)
{
    if (where < pool->at.state + sizeof(struct shmemi_lock) && where + length > pool->at.state)
        return true;
    for (uint64_t at = where; at < where + length; at++)
        if (at >= pool->at.members && at < pool->at.units &&
            (at - pool->at.members) % sizeof(struct shmemi_pool_member) < sizeof(struct shmemi_member))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct shmemi_pool_config config = {.size = 256 << 10, .max_size = 512 << 10, .grow = true, .numa_node = -1};
    struct shmemi_pool *pool;
    struct shmemi_naming naming = {.name = "first", .size = 300, .note = "note", .note_bytes = 4};
    char key[SHMEMI_KEY_TEXT];
    void *p, *q, *large;
    if (shmemi_pool_create(&config, &pool) < 0)
        abort();
    if (shmemi_pool_alloc(pool, 100, 0, 0, &p) < 0 || shmemi_pool_alloc(pool, 50000, 0, 0, &large) < 0 ||
        shmemi_pool_alloc_named(pool, &naming, &q) < 0 ||
        shmemi_pool_export_range(pool, p, 100, &(struct shmemi_pool_export){.rights = SHMEMI_RIGHTS_ALL}, key) < 0)
        abort();
    uint64_t where;
    size_t length, used;
    const uint8_t *bytes;
    for (; (used = patch_next(data, size, &pool->at, &where, &bytes, &length)); data += used, size -= used)
        if (!is_waited_for(pool, where, length))
            memcpy(pool->control + where, bytes, length);
    use_pool(pool, true);
    shmemi_pool_free(pool, p);
    shmemi_pool_free(pool, large);
    shmemi_pool_free(pool, q);
    shmemi_pool_close(pool);
    return 0;
}
