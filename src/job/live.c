// SPDX-License-Identifier: Apache-2.0
// A sorted array: blocks are looked up at every access, and come and go rarely.
#include "live.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct extent {
    size_t offset, size;
};

struct shmemi_live {
    pthread_rwlock_t lock;
    struct extent *extents;
    size_t count, room;
};

struct shmemi_live *shmemi_live_create(void)
{
    struct shmemi_live *live = calloc(1, sizeof *live);
    if (live)
        pthread_rwlock_init(&live->lock, NULL);
    return live;
}

void shmemi_live_destroy(struct shmemi_live *live)
{
    if (!live)
        return;
    pthread_rwlock_destroy(&live->lock);
    free(live->extents);
    free(live);
}

/* How many begin at or before offset. */
static size_t until(const struct shmemi_live *live, size_t offset)
{
    size_t low = 0, high = live->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live->extents[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int shmemi_live_reserve(struct shmemi_live *live)
{
    int rc = 0;
    pthread_rwlock_wrlock(&live->lock);
    if (live->count == live->room) {
        size_t room = live->room ? 2 * live->room : 64;
        struct extent *more = realloc(live->extents, room * sizeof *more);
        if (more) {
            live->extents = more;
            live->room = room;
        } else
            rc = shmemi_fail(-ENOMEM, "no private memory for the records that SHMEM_DEBUG keeps");
    }
    pthread_rwlock_unlock(&live->lock);
    return rc;
}

static void insert(struct shmemi_live *live, size_t at, struct extent extent)
{
    memmove(live->extents + at + 1, live->extents + at, (live->count - at) * sizeof extent);
    live->extents[at] = extent;
    live->count++;
}

static void drop(struct shmemi_live *live, size_t at)
{
    live->count--;
    memmove(live->extents + at, live->extents + at + 1, (live->count - at) * sizeof *live->extents);
}

void shmemi_live_note(struct shmemi_live *live, size_t offset, size_t size)
{
    pthread_rwlock_wrlock(&live->lock);
    size_t at = until(live, offset);
    bool known = at && live->extents[at - 1].offset == offset;
    if (known && size)
        live->extents[at - 1].size = size;
    else if (known)
        drop(live, at - 1);
    else if (size)
        insert(live, at, (struct extent){offset, size});
    pthread_rwlock_unlock(&live->lock);
}

bool shmemi_live_covers(struct shmemi_live *live, size_t offset, size_t bytes, size_t *begins, size_t *size)
{
    pthread_rwlock_rdlock(&live->lock);
    size_t at = until(live, offset);
    struct extent before = at ? live->extents[at - 1] : (struct extent){0, 0};
    pthread_rwlock_unlock(&live->lock);
    *begins = before.offset;
    *size = before.size;
    return offset - before.offset < before.size && bytes <= before.size - (offset - before.offset);
}
