// SPDX-License-Identifier: Apache-2.0
// Blocks in address order, free ones also in bins by size, allocated ones also in a hash table by offset.
#include "blocks.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/error.h"

enum { GRAIN = 64, BINS = 64 }; /* a block begins and ends at cache lines: no false sharing between blocks */

struct block {
    size_t offset, bytes;
    size_t asked;                  /* 0: free */
    struct block *before, *after;  /* neighbours in address order */
    struct block *previous, *next; /* in its bin (free), or `next` in its hash chain (allocated) */
};

struct shmemi_heap_blocks {
    struct block *first;
    struct block *bins[BINS]; /* bin b: free blocks of 2^b to 2^(b+1) - 1 bytes, latest first */
    struct block **table;     /* allocated blocks */
    size_t table_size;        /* a power of two */
    struct block *spare[2];   /* records for the next block taken, so that taking what was found cannot fail */
    struct shmemi_blocks_use use;
};

static unsigned bin_of(size_t bytes)
{
    return 63u - (unsigned)__builtin_clzl(bytes);
}

static void bin_insert(struct shmemi_heap_blocks *h, struct block *b)
{
    struct block **head = &h->bins[bin_of(b->bytes)];
    b->previous = NULL;
    b->next = *head;
    if (*head)
        (*head)->previous = b;
    *head = b;
}

static void bin_remove(struct shmemi_heap_blocks *h, struct block *b)
{
    if (b->previous)
        b->previous->next = b->next;
    else
        h->bins[bin_of(b->bytes)] = b->next;
    if (b->next)
        b->next->previous = b->previous;
}

static struct block **chain_of(const struct shmemi_heap_blocks *h, size_t offset)
{
    return &h->table[(offset / GRAIN * 0x9e3779b97f4a7c15u >> 20) & (h->table_size - 1)];
}

static struct block **find(const struct shmemi_heap_blocks *h, size_t offset)
{
    struct block **at = chain_of(h, offset);
    while (*at && (*at)->offset != offset)
        at = &(*at)->next;
    return at;
}

static int grow_table(struct shmemi_heap_blocks *h)
{
    size_t size = h->table_size ? h->table_size * 2 : 64;
    struct block **table = calloc(size, sizeof *table);
    if (!table)
        return shmemi_fail(-ENOMEM, "no private memory for the records of blocks");
    struct block **old = h->table;
    size_t old_size = h->table_size;
    h->table = table;
    h->table_size = size;
    for (size_t i = 0; i < old_size; i++) {
        for (struct block *b = old[i], *next; b; b = next) {
            next = b->next;
            struct block **chain = chain_of(h, b->offset);
            b->next = *chain;
            *chain = b;
        }
    }
    free(old);
    return 0;
}

int shmemi_blocks_create(size_t bytes, struct shmemi_heap_blocks **out)
{
    struct shmemi_heap_blocks *h = calloc(1, sizeof *h);
    struct block *all = calloc(1, sizeof *all);
    if (!h || !all || grow_table(h) < 0) {
        free(h);
        free(all);
        return shmemi_fail(-ENOMEM, "no private memory for the records of blocks");
    }
    all->bytes = shmemi_round_down(bytes, GRAIN);
    h->first = all;
    h->use.total = all->bytes;
    bin_insert(h, all);
    *out = h;
    return 0;
}

void shmemi_blocks_destroy(struct shmemi_heap_blocks *h)
{
    if (!h)
        return;
    for (struct block *b = h->first, *after; b; b = after) {
        after = b->after;
        free(b);
    }
    free(h->spare[0]);
    free(h->spare[1]);
    free(h->table);
    free(h);
}

/* Cuts b so that it keeps `bytes`; the rest becomes a free block after it. The caller made the new record. */
static void cut(struct shmemi_heap_blocks *h, struct block *b, size_t bytes, struct block *rest)
{
    *rest = (struct block){.offset = b->offset + bytes, .bytes = b->bytes - bytes, .before = b, .after = b->after};
    if (b->after)
        b->after->before = rest;
    b->after = rest;
    b->bytes = bytes;
    bin_insert(h, rest);
}

/* The free block b swallows its right neighbour, which is free and in no bin. */
static void swallow(struct block *b)
{
    struct block *right = b->after;
    b->bytes += right->bytes;
    b->after = right->after;
    if (b->after)
        b->after->before = b;
    free(right);
}

static size_t gap_before(const struct block *b, size_t align)
{
    return shmemi_round_up(b->offset, align) - b->offset;
}

/* Small bins are searched from the one that may fit; only that one can hold blocks that are too small. */
static struct block *fit(const struct shmemi_heap_blocks *h, size_t bytes, size_t align)
{
    for (unsigned bin = bin_of(bytes); bin < BINS; bin++)
        for (struct block *b = h->bins[bin]; b; b = b->next)
            if (b->bytes >= bytes && b->bytes - bytes >= gap_before(b, align))
                return b;
    return NULL;
}

static void count(struct shmemi_heap_blocks *h, size_t less, size_t more)
{
    h->use.in_use = h->use.in_use - less + more;
    if (h->use.in_use > h->use.high_water)
        h->use.high_water = h->use.in_use;
}

/* Makes sure that a block can be recorded. */
static int prepare(struct shmemi_heap_blocks *h)
{
    for (int i = 0; i < 2; i++)
        if (!h->spare[i] && !(h->spare[i] = malloc(sizeof **h->spare)))
            return shmemi_fail(-ENOMEM, "no private memory for the records of blocks");
    return h->use.blocks >= h->table_size ? grow_table(h) : 0;
}

static struct block *take_spare(struct shmemi_heap_blocks *h)
{
    struct block *b = h->spare[0] ? h->spare[0] : h->spare[1];
    h->spare[h->spare[0] ? 0 : 1] = NULL;
    return b;
}

static int find_free(struct shmemi_heap_blocks *h, size_t size, size_t *align, size_t *bytes, struct block **out)
{
    *align = *align < GRAIN ? GRAIN : *align;
    *bytes = size <= h->use.total ? shmemi_round_up(size, GRAIN) : SIZE_MAX;
    *out = *bytes <= h->use.total ? fit(h, *bytes, *align) : NULL;
    return *out ? prepare(h) : -ENOSPC;
}

int shmemi_blocks_find(struct shmemi_heap_blocks *h, size_t size, size_t align, size_t *offset)
{
    struct block *b;
    size_t bytes;
    int rc = find_free(h, size, &align, &bytes, &b);
    if (rc == 0)
        *offset = b->offset + gap_before(b, align);
    return rc;
}

int shmemi_blocks_take(struct shmemi_heap_blocks *h, size_t size, size_t align, size_t *offset)
{
    struct block *b;
    size_t bytes;
    int rc = find_free(h, size, &align, &bytes, &b);
    if (rc < 0)
        return rc;
    bin_remove(h, b);
    size_t gap = gap_before(b, align);
    if (gap) {
        struct block *after = take_spare(h);
        cut(h, b, gap, after);
        bin_insert(h, b);
        b = after;
        bin_remove(h, b);
    }
    if (b->bytes > bytes)
        cut(h, b, bytes, take_spare(h));
    b->asked = size;
    struct block **chain = chain_of(h, b->offset);
    b->next = *chain;
    *chain = b;
    h->use.blocks++;
    count(h, 0, b->bytes);
    *offset = b->offset;
    return 0;
}

size_t shmemi_blocks_size(const struct shmemi_heap_blocks *h, size_t offset)
{
    const struct block *b = *find(h, offset);
    return b ? b->asked : 0;
}

size_t shmemi_blocks_holding(const struct shmemi_heap_blocks *h, size_t offset, size_t *begin)
{
    const struct block *b = h->first;
    while (b && offset - b->offset >= b->bytes)
        b = b->after;
    if (b)
        *begin = b->offset;
    return b ? b->asked : 0;
}

bool shmemi_blocks_give(struct shmemi_heap_blocks *h, size_t offset, size_t *free_offset, size_t *free_bytes)
{
    struct block **at = find(h, offset), *b = *at;
    if (!b)
        return false;
    *at = b->next;
    h->use.blocks--;
    count(h, b->bytes, 0);
    b->asked = 0;
    if (b->after && !b->after->asked) {
        bin_remove(h, b->after);
        swallow(b);
    }
    if (b->before && !b->before->asked) {
        b = b->before;
        bin_remove(h, b);
        swallow(b);
    }
    bin_insert(h, b);
    *free_offset = b->offset;
    *free_bytes = b->bytes;
    return true;
}

bool shmemi_blocks_resize(struct shmemi_heap_blocks *h, size_t offset, size_t size)
{
    struct block *b = *find(h, offset);
    if (!b || size > h->use.total)
        return false;
    size_t bytes = shmemi_round_up(size, GRAIN);
    size_t room = b->bytes + (b->after && !b->after->asked ? b->after->bytes : 0);
    struct block *rest = bytes <= room ? malloc(sizeof *rest) : NULL;
    if (!rest)
        return false;
    size_t old = b->bytes;
    if (room > b->bytes) {
        bin_remove(h, b->after);
        swallow(b);
    }
    if (b->bytes > bytes)
        cut(h, b, bytes, rest);
    else
        free(rest);
    b->asked = size;
    count(h, old, b->bytes);
    return true;
}

void shmemi_blocks_use(const struct shmemi_heap_blocks *h, struct shmemi_blocks_use *out)
{
    *out = h->use;
    for (int bin = BINS - 1; bin >= 0 && !out->largest_free; bin--)
        for (const struct block *b = h->bins[bin]; b; b = b->next)
            if (b->bytes > out->largest_free)
                out->largest_free = b->bytes;
}
