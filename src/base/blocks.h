// SPDX-License-Identifier: Apache-2.0
// Which parts of a range are allocated: an allocator of offsets that keeps its records in private memory. For the
// symmetric heap, and for memory of devices.
//
// For the heap: every PE runs the same operations in the same order, and what this does depends on nothing else, so all
// PEs get the same offsets without talking. Payload memory holds no records that a stray write could destroy.
#ifndef SHMEMI_BASE_BLOCKS_H
#define SHMEMI_BASE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

struct shmemi_heap_blocks;

/* An empty heap of `bytes`; -ENOMEM. */
int shmemi_blocks_create(size_t bytes, struct shmemi_heap_blocks **out);
void shmemi_blocks_destroy(struct shmemi_heap_blocks *blocks);

/* Where shmemi_blocks_take() would put a block; changes nothing, and that call succeeds if nothing changes in between.
 */
int shmemi_blocks_find(struct shmemi_heap_blocks *blocks, size_t size, size_t align, size_t *offset);

/* A block of at least size bytes (size > 0) at a multiple of align (a power of two). -ENOSPC when none is large enough.
 */
int shmemi_blocks_take(struct shmemi_heap_blocks *blocks, size_t size, size_t align, size_t *offset);

/* The size asked for of the block that begins at offset; 0 if none does. */
size_t shmemi_blocks_size(const struct shmemi_heap_blocks *blocks, size_t offset);

/* The same of the block that holds the offset, and where it begins; looks at all. */
size_t shmemi_blocks_holding(const struct shmemi_heap_blocks *blocks, size_t offset, size_t *begin);

/* Frees the block that begins at offset and tells which free range it has become part of. false if none begins there.
 */
bool shmemi_blocks_give(struct shmemi_heap_blocks *blocks, size_t offset, size_t *free_offset, size_t *free_bytes);

/* Whether the block can get this size where it is; if so it has. */
bool shmemi_blocks_resize(struct shmemi_heap_blocks *blocks, size_t offset, size_t size);

struct shmemi_blocks_use {
    size_t total, in_use, largest_free, high_water, blocks;
};
void shmemi_blocks_use(const struct shmemi_heap_blocks *blocks, struct shmemi_blocks_use *out);

#endif
