// SPDX-License-Identifier: Apache-2.0
// Pools that are the symmetric heap of a job on a device: every PE has one, and asks the same of it as all others, so
// that blocks have the same offsets everywhere.
#include <errno.h>

#include "base/blocks.h"
#include "base/error.h"
#include "device.h"
#include "device_internal.h"

enum { ANCHOR = 512, ALIGN = 512, UNIT = 2 << 20 };

/* The first block, which stays; a mapping of it is one of the whole pool. key NULL: nobody is to map it. */
static int make_anchor(struct shmemi_device_pool *heap, char key[SHMEMI_KEY_TEXT])
{
    struct shmemi_export what = {.rights = SHMEMI_RIGHT_READ | SHMEMI_RIGHT_WRITE};
    void *anchor = NULL;
    int rc = shmemi_device_alloc(heap, ANCHOR, 0, &anchor);
    if (rc == 0 && (char *)anchor != shmemi_device_heap_base(heap))
        rc = shmemi_fail(-EIO, "the first block of a device's heap is not at its beginning");
    return rc < 0 || !key ? rc : shmemi_device_export(anchor, ANCHOR, &what, key);
}

int shmemi_device_heap_create(const char *type, int device, size_t bytes, struct shmemi_device_pool **out,
                              char key[SHMEMI_KEY_TEXT])
{
    struct shmemi_device_pool *heap = NULL;
    SHMEMI_ASSERT(bytes && bytes % UNIT == 0);
    int rc = shmemi_device_pool_create_exact(type, device, bytes, &heap);
    if (rc == 0 && (rc = make_anchor(heap, key)) < 0)
        shmemi_device_pool_close(heap);
    if (rc == 0)
        *out = heap;
    return rc;
}

char *shmemi_device_heap_base(const struct shmemi_device_pool *heap)
{
    return shmemi_device_pool_memory(heap)->address;
}

static int no_room(struct shmemi_device_pool *heap, const struct shmemi_heap_blocks *blocks, size_t size)
{
    struct shmemi_blocks_use use;
    const struct shmemi_device_memory *memory = shmemi_device_pool_memory(heap);
    shmemi_blocks_use(blocks, &use);
    return shmemi_fail(-ENOMEM,
                       "the symmetric heap on %s device %d has no room for %zu bytes: of %zu bytes %zu are in use (at "
                       "most %zu so far) and the largest free block has %zu; set SHMEM_DEVICE_HEAP_SIZE higher",
                       shmemi_device_pool_hal(heap)->maker, memory->device, size, use.total, use.in_use, use.high_water,
                       use.largest_free);
}

int shmemi_device_heap_find(struct shmemi_device_pool *heap, size_t size, size_t align, size_t *offset)
{
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    struct shmemi_heap_blocks *blocks = shmemi_device_pool_lock_blocks(heap);
    rc = shmemi_blocks_find(blocks, size, align < ALIGN ? ALIGN : align, offset);
    if (rc == -ENOSPC)
        rc = no_room(heap, blocks, size);
    shmemi_device_pool_unlock_blocks(heap);
    return rc;
}

void shmemi_device_heap_take(struct shmemi_device_pool *heap, size_t size, size_t align, size_t offset)
{
    size_t at = SIZE_MAX;
    struct shmemi_heap_blocks *blocks = shmemi_device_pool_lock_blocks(heap);
    int rc = shmemi_blocks_take(blocks, size, align < ALIGN ? ALIGN : align, &at);
    shmemi_device_pool_unlock_blocks(heap);
    SHMEMI_ASSERT(rc == 0 && at == offset);
}

int shmemi_device_heap_resize(struct shmemi_device_pool *heap, size_t offset, size_t size)
{
    int done = shmemi_blocks_resize(shmemi_device_pool_lock_blocks(heap), offset, size);
    shmemi_device_pool_unlock_blocks(heap);
    return done;
}

size_t shmemi_device_heap_block_size(struct shmemi_device_pool *heap, size_t offset)
{
    size_t size = offset ? shmemi_blocks_size(shmemi_device_pool_lock_blocks(heap), offset) : 0; /* at 0: the anchor */
    if (offset)
        shmemi_device_pool_unlock_blocks(heap);
    return size;
}

int shmemi_device_heap_may_free(struct shmemi_device_pool *heap, size_t offset)
{
    struct shmemi_heap_blocks *blocks = shmemi_device_pool_lock_blocks(heap);
    bool pinned = shmemi_device_pool_pinned(heap, offset, shmemi_blocks_size(blocks, offset));
    shmemi_device_pool_unlock_blocks(heap);
    return pinned ? shmemi_fail(-EBUSY, "the block at %p is registered as a region: deregister it first",
                                (void *)(shmemi_device_heap_base(heap) + offset))
                  : 0;
}

void shmemi_device_heap_use(struct shmemi_device_pool *heap, struct shmemi_blocks_use *out)
{
    shmemi_blocks_use(shmemi_device_pool_lock_blocks(heap), out);
    shmemi_device_pool_unlock_blocks(heap);
}
