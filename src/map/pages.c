// SPDX-License-Identifier: Apache-2.0
// The page table: three levels, made as needed.
#include "map/pages.h"

#include <errno.h>

#include "base/error.h"
#include "map/apart.h"

_Static_assert(sizeof(struct shmemi_page) == 8, "a leaf is 32 KiB");

static size_t top_of(uint64_t number)
{
    return (size_t)(number >> 2 * SHMEMI_PAGES_FAN_BITS);
}

static size_t middle_of(uint64_t number)
{
    return (size_t)(number >> SHMEMI_PAGES_FAN_BITS) % SHMEMI_PAGES_FAN;
}

static int make_leaf(struct shmemi_pages *table, uint64_t number)
{
    struct shmemi_pages_branch **branch = &table->branches[top_of(number)];
    if (!*branch && !(*branch = shmemi_apart_get(sizeof **branch)))
        return shmemi_fail(-ENOMEM, "no memory for the page table of registered memory");
    struct shmemi_page **leaf = &(*branch)->leaves[middle_of(number)];
    if (!*leaf && !(*leaf = shmemi_apart_get(SHMEMI_PAGES_FAN * sizeof **leaf)))
        return shmemi_fail(-ENOMEM, "no memory for the page table of registered memory");
    return 0;
}

int shmemi_pages_make(struct shmemi_pages *table, uint64_t first, uint64_t last)
{
    SHMEMI_ASSERT(last > first && top_of(last - 1) < SHMEMI_PAGES_FAN);
    for (uint64_t number = first - first % SHMEMI_PAGES_FAN; number < last; number += SHMEMI_PAGES_FAN) {
        int rc = make_leaf(table, number);
        if (rc < 0)
            return rc;
    }
    return 0;
}

struct shmemi_page *shmemi_pages_at(const struct shmemi_pages *table, uint64_t number)
{
    if (top_of(number) >= SHMEMI_PAGES_FAN)
        return NULL;
    const struct shmemi_pages_branch *branch = table->branches[top_of(number)];
    struct shmemi_page *leaf = branch ? branch->leaves[middle_of(number)] : NULL;
    return leaf ? &leaf[number % SHMEMI_PAGES_FAN] : NULL;
}

uint64_t shmemi_pages_next(const struct shmemi_pages *table, uint64_t number)
{
    const uint64_t branch_pages = (uint64_t)SHMEMI_PAGES_FAN * SHMEMI_PAGES_FAN;
    while (top_of(number) < SHMEMI_PAGES_FAN) {
        if (!table->branches[top_of(number)])
            number = (number / branch_pages + 1) * branch_pages;
        else if (!table->branches[top_of(number)]->leaves[middle_of(number)])
            number = (number / SHMEMI_PAGES_FAN + 1) * SHMEMI_PAGES_FAN;
        else
            return number;
    }
    return UINT64_MAX;
}

void shmemi_pages_fini(struct shmemi_pages *table)
{
    for (size_t top = 0; top < SHMEMI_PAGES_FAN; top++) {
        struct shmemi_pages_branch *branch = table->branches[top];
        if (!branch)
            continue;
        for (size_t middle = 0; middle < SHMEMI_PAGES_FAN; middle++)
            if (branch->leaves[middle])
                shmemi_apart_put(branch->leaves[middle], SHMEMI_PAGES_FAN * sizeof(struct shmemi_page));
        shmemi_apart_put(branch, sizeof *branch);
        table->branches[top] = NULL;
    }
}
