// SPDX-License-Identifier: Apache-2.0
// Inputs as patches of a pool's control part: a part, an offset in it, a length, and the bytes.
#ifndef TESTS_FUZZ_PATCH_H
#define TESTS_FUZZ_PATCH_H

#include <string.h>

#include "pool/pool_internal.h"

/* The next patch. Returns how many bytes of the input it took; 0: there is none. */
static inline size_t patch_next(const uint8_t *data, size_t size, const struct shmemi_pool_layout *at, uint64_t *where,
                                const uint8_t **bytes, size_t *length)
{
    const uint64_t parts[] = {0,        at->state,    at->members, at->units,         at->returned,     at->blocks,
                              at->keys, at->name_map, at->names,   at->checkpoint[0], at->checkpoint[1]};
    if (size < 4)
        return 0;
    *where = parts[data[0] % 11] + data[1] + (uint64_t)(data[2] & 63) * 256;
    *length = 1 + (data[2] >> 6 & 3) * 4;
    *length = *length < size - 3 ? *length : size - 3;
    *bytes = data + 3;
    if (*where + *length > at->control_bytes)
        *length = 0;
    return 3 + *length + (*length == 0);
}

/* What a program does with a pool, whatever is in it. */
static inline void use_pool(struct shmemi_pool *pool, bool write)
{
    struct shmemi_pool_stats s;
    struct shmemi_named n;
    uint64_t cursor = 0;
    void *p[6] = {0};
    shmemi_pool_stats(pool, &s);
    for (int i = 0; i < 300 && shmemi_pool_next_name(pool, &cursor, &n) == 1; i++)
        continue;
    shmemi_pool_find_name(pool, "first", &n);
    if (!write)
        return;
    static const size_t sizes[] = {1, 100, 5000, 40000, 64, 100000};
    for (int i = 0; i < 6; i++)
        if (shmemi_pool_alloc(pool, sizes[i], i == 3 ? 16384 : 0, i == 2 ? SHMEMI_ALLOC_KEEP : 0, &p[i]) < 0)
            p[i] = NULL;
    struct shmemi_naming naming = {.name = "second", .size = 50, .note = "n", .note_bytes = 1};
    shmemi_pool_alloc_named(pool, &naming, &p[5]);
    if (p[0])
        shmemi_pool_keep(pool, p[0]);
    for (uint64_t offset = 0; offset < 32 * 4096; offset += 4096)
        shmemi_pool_free(pool, pool->payload + offset);
    for (int i = 0; i < 6; i++)
        if (p[i])
            shmemi_pool_free(pool, p[i]);
    shmemi_pool_unname(pool, "first");
    shmemi_pool_stats(pool, &s);
}

#endif
