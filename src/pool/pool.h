// SPDX-License-Identifier: Apache-2.0
// Pools: memory with an allocator inside, which many processes use at once. src/api hands the public functions on to
// these; what they do, return and promise is said in shmemx_pool.h.
#ifndef SHMEMI_POOL_POOL_H
#define SHMEMI_POOL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map/key.h"

struct shmemi_pool;

struct shmemi_pool_config {
    size_t size, max_size;
    bool grow, lock;
    const char *type, *name, *cache;
    size_t page_size;
    int numa_node;
};

enum { SHMEMI_ALLOC_OWN = 1, SHMEMI_ALLOC_KEEP = 2, SHMEMI_ALLOC_ZERO = 4 };

int shmemi_pool_create(const struct shmemi_pool_config *config, struct shmemi_pool **out);
int shmemi_pool_open(const char *name_or_key, struct shmemi_pool **out);
int shmemi_file_create(const char *path, const struct shmemi_pool_config *config, struct shmemi_pool **out);
int shmemi_file_open(const char *path, const char *mode, struct shmemi_pool **out);

struct shmemi_file_header {
    unsigned version;
    bool clean, attached;
    uint64_t generation, created, size, max_size, begin;
    char name[256];
};
int shmemi_file_header(const char *path, struct shmemi_file_header *out);

int shmemi_pool_close(struct shmemi_pool *pool);
int shmemi_pool_grow(struct shmemi_pool *pool, size_t size);
int shmemi_pool_flush(struct shmemi_pool *pool);

/* Whether this is a handle of an open pool of this process. */
bool shmemi_pool_is_open(const struct shmemi_pool *pool);

int shmemi_pool_alloc(struct shmemi_pool *pool, size_t size, size_t align, unsigned flags, void **out);
int shmemi_pool_free(struct shmemi_pool *pool, void *buffer);
int shmemi_pool_keep(struct shmemi_pool *pool, void *buffer);
int shmemi_pool_buffer(struct shmemi_pool *pool, const void *address, void **begin, size_t *bytes);
int shmemi_pool_offset(struct shmemi_pool *pool, const void *address, uint64_t *offset);
int shmemi_pool_address(struct shmemi_pool *pool, uint64_t offset, size_t bytes, void **out);

struct shmemi_pool_stats {
    size_t size, max_size, in_use, buffers, free, largest_free, high_water, own_bytes;
    unsigned members, died, owned;
    char failure[256];
};
int shmemi_pool_stats(struct shmemi_pool *pool, struct shmemi_pool_stats *out);

struct shmemi_pool_about {
    const char *type, *name, *path, *fallback;
    size_t page_size, huge_bytes;
    int numa_node;
    bool locked, writable;
    void *base;
};
int shmemi_pool_about(struct shmemi_pool *pool, struct shmemi_pool_about *out);

struct shmemi_named {
    char name[96];
    void *address;
    size_t bytes;
    uint8_t note[SHMEMI_KEY_NOTE];
    size_t note_bytes;
};
struct shmemi_naming {
    const char *name;
    size_t size, align;
    const void *note;
    size_t note_bytes;
    int (*init)(void *buffer, void *context);
    void *context;
};
int shmemi_pool_alloc_named(struct shmemi_pool *pool, const struct shmemi_naming *naming, void **out);
int shmemi_pool_name_buffer(struct shmemi_pool *pool, const struct shmemi_naming *naming, void *buffer);
int shmemi_pool_find_name(struct shmemi_pool *pool, const char *name, struct shmemi_named *out);
int shmemi_pool_unname(struct shmemi_pool *pool, const char *name);
int shmemi_pool_next_name(struct shmemi_pool *pool, uint64_t *cursor, struct shmemi_named *out);

/* The open pool that has this memory in one of its buffers, or NULL. */
struct shmemi_pool *shmemi_pool_of(const void *address);

struct shmemi_pool_export {
    uint32_t rights;
    const struct shmemi_allow *allow;
    uint32_t allowed;
    bool frozen;
    const void *note;
    uint32_t note_bytes;
};
int shmemi_pool_export_range(struct shmemi_pool *pool, const void *address, size_t bytes,
                             const struct shmemi_pool_export *what, char text[SHMEMI_KEY_TEXT]);
int shmemi_pool_export_all(struct shmemi_pool *pool, char text[SHMEMI_KEY_TEXT]);
int shmemi_pool_revoke(struct shmemi_pool *pool, const struct shmemi_key *key, bool move);

/* The open pool whose share has this number, or NULL. */
struct shmemi_pool *shmemi_pool_of_share(uint64_t number);

#endif
