// SPDX-License-Identifier: Apache-2.0
// The page table of registered memory: what is known of each page of this process that was ever moved.
//
//   page number (36 bits)  ->  12 bits: branch  ->  12 bits: leaf  ->  12 bits: struct shmemi_page
//
// Leaves come from the kernel directly, never from malloc, whose pages may be on the move.
#ifndef SHMEMI_MAP_PAGES_H
#define SHMEMI_MAP_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum shmemi_page_flag {
    SHMEMI_PAGE_MOVED = 1u << 0,   /* mapped from one of our files; else the page is private and only `epoch` counts */
    SHMEMI_PAGE_MIXED = 1u << 1,   /* ... from the mixed one */
    SHMEMI_PAGE_EXPOSED = 1u << 2, /* a peer may hold it under the present epoch */
    SHMEMI_PAGE_PARKED = 1u << 3,  /* its private mapping waits at the parking place */
    SHMEMI_PAGE_HEAP = 1u << 4,    /* an allocator can use it for something else once the object is freed */
};

struct shmemi_page {
    uint32_t count; /* regions that need it; may be 0 while moved, if it could not be given back */
    uint16_t epoch; /* of the present file offset, or of the next one */
    uint8_t flags;  /* enum shmemi_page_flag */
    uint8_t unused;
};

enum { SHMEMI_PAGES_FAN_BITS = 12, SHMEMI_PAGES_FAN = 1 << SHMEMI_PAGES_FAN_BITS };

struct shmemi_pages_branch {
    struct shmemi_page *leaves[SHMEMI_PAGES_FAN];
};

/* All 0 is the empty table; 32 KiB, so it does not belong on a stack. */
struct shmemi_pages {
    struct shmemi_pages_branch *branches[SHMEMI_PAGES_FAN];
};

/* Makes entries for the pages [first, last): 0 or -ENOMEM with its text. */
int shmemi_pages_make(struct shmemi_pages *table, uint64_t first, uint64_t last);

/* The entry of a page, or NULL if none was ever made near it. */
struct shmemi_page *shmemi_pages_at(const struct shmemi_pages *table, uint64_t number);

/* The first page at or after `number` that has an entry; UINT64_MAX if there is none. For walks: every entry
   of that leaf exists, so go on page by page to the next multiple of SHMEMI_PAGES_FAN. */
uint64_t shmemi_pages_next(const struct shmemi_pages *table, uint64_t number);

/* Frees all entries. */
void shmemi_pages_fini(struct shmemi_pages *table);

#endif
