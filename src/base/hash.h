// SPDX-License-Identifier: Apache-2.0
// FNV-1a: spreads names and notices mistakes; nothing secret hangs on it.
#ifndef SHMEMI_BASE_HASH_H
#define SHMEMI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHMEMI_HASH_BEGIN UINT64_C(14695981039346656037)

/* Goes on from `hash`, which is SHMEMI_HASH_BEGIN (or that, salted) at first. */
static inline uint64_t shmemi_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

static inline uint64_t shmemi_hash_text(uint64_t hash, const char *text)
{
    return shmemi_hash(hash, text, strlen(text));
}

#endif
