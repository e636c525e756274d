// SPDX-License-Identifier: Apache-2.0
// Blocks of this PE's symmetric heap and the pages under them.
#include "heap.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/blocks.h"
#include "hal/hal.h"
#include "live.h"
#include "parts.h"

/* Pages are taken by the granule. A free range this large gives its granules back to the system. */
enum { GRANULE = 64 << 10, RETURN_FROM = 4 << 20 };

int shmemi_heap_create(struct shmemi_job *job)
{
    struct shmemi_job_parts *parts = job->parts;
    parts->heap_pages = calloc(job->heap_size / GRANULE / 8 + 1, 1);
    if (parts->checked)
        parts->live = shmemi_live_create();
    if (!parts->heap_pages || (parts->checked && !parts->live))
        return shmemi_fail(-ENOMEM, "no private memory for the records of the symmetric heap");
    return shmemi_blocks_create(job->heap_size, &parts->blocks);
}

static bool has(const struct shmemi_job_parts *p, size_t granule)
{
    return p->heap_pages[granule / 8] >> granule % 8 & 1;
}

static void mark(struct shmemi_job_parts *p, size_t granule, bool taken)
{
    uint8_t bit = (uint8_t)(1u << granule % 8);
    p->heap_pages[granule / 8] =
        (uint8_t)(taken ? p->heap_pages[granule / 8] | bit : p->heap_pages[granule / 8] & ~bit);
}

static void release(struct shmemi_job_parts *p, size_t first, size_t end)
{
    for (size_t g = first; g < end; g++)
        mark(p, g, false);
    if (end > first)
        shmemi_hal_host.release(p->heap_fd, first * GRANULE, (end - first) * GRANULE);
}

/* Takes the pages under [offset, offset + bytes) that are not taken yet. What was taken before a failure stays taken
   and marked: the next block there needs it less. */
static int back(struct shmemi_job_parts *p, size_t offset, size_t bytes)
{
    size_t end = (offset + bytes + GRANULE - 1) / GRANULE;
    for (size_t g = offset / GRANULE; g < end;) {
        size_t run = g;
        while (run < end && !has(p, run))
            run++;
        if (run > g) {
            int rc = shmemi_hal_host.reserve(p->heap_fd, g * GRANULE, (run - g) * GRANULE);
            if (rc < 0)
                return rc;
        }
        for (; g < run; g++)
            mark(p, g, true);
        g += run < end && has(p, run);
    }
    return 0;
}

/* What has been allocated at some time can be addressed. Written under the lock; a racing reader of the old value would
   have used a block before its allocation returned. */
static void note_use(size_t end)
{
    struct shmemi_job *job = shmemi_current;
    if (end > job->heap_used)
        job->heap_used = end;
    if (!job->parts->live)
        job->heap_open = job->heap_used;
}

static int no_room(size_t size)
{
    const struct shmemi_job_parts *p = shmemi_current->parts;
    struct shmemi_blocks_use use;
    shmemi_blocks_use(p->blocks, &use);
    return shmemi_fail(-ENOMEM,
                       "the symmetric heap has no room for %zu bytes: of %zu bytes %zu are in use (at most %zu so far) "
                       "and the largest free block has %zu; set SHMEM_SYMMETRIC_SIZE (or heap_size) higher",
                       size, use.total, use.in_use, use.high_water, use.largest_free);
}

int shmemi_heap_find(size_t size, size_t align, size_t *offset)
{
    struct shmemi_job_parts *p = shmemi_current->parts;
    pthread_mutex_lock(&p->lock);
    int rc = shmemi_blocks_find(p->blocks, size, align, offset);
    if (rc == -ENOSPC)
        rc = no_room(size);
    else if (rc == 0 && (rc = back(p, *offset, size)) == 0 && p->live)
        rc = shmemi_live_reserve(p->live);
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void shmemi_heap_take(size_t size, size_t align, size_t offset)
{
    struct shmemi_job_parts *p = shmemi_current->parts;
    size_t at = SIZE_MAX;
    pthread_mutex_lock(&p->lock);
    int rc = shmemi_blocks_take(p->blocks, size, align, &at);
    SHMEMI_ASSERT(rc == 0 && at == offset);
    if (p->live)
        shmemi_live_note(p->live, at, size);
    note_use(at + size);
    pthread_mutex_unlock(&p->lock);
}

bool shmemi_heap_give(size_t offset)
{
    struct shmemi_job_parts *p = shmemi_current->parts;
    pthread_mutex_lock(&p->lock);
    size_t from, bytes;
    bool given = shmemi_blocks_give(p->blocks, offset, &from, &bytes);
    if (given && p->live)
        shmemi_live_note(p->live, offset, 0);
    if (given && bytes >= RETURN_FROM)
        release(p, (from + GRANULE - 1) / GRANULE, (from + bytes) / GRANULE);
    pthread_mutex_unlock(&p->lock);
    return given;
}

int shmemi_heap_resize(size_t offset, size_t size)
{
    struct shmemi_job_parts *p = shmemi_current->parts;
    pthread_mutex_lock(&p->lock);
    size_t before = shmemi_blocks_size(p->blocks, offset);
    int rc = shmemi_blocks_resize(p->blocks, offset, size);
    if (rc) {
        int backed = back(p, offset, size);
        if (backed < 0) {
            shmemi_blocks_resize(p->blocks, offset, before);
            rc = backed;
        } else {
            note_use(offset + size);
            if (p->live)
                shmemi_live_note(p->live, offset, size);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

size_t shmemi_heap_block_size(const void *address)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
    if (offset >= job->heap_size)
        return 0;
    pthread_mutex_lock(&job->parts->lock);
    size_t size = shmemi_blocks_size(job->parts->blocks, offset);
    pthread_mutex_unlock(&job->parts->lock);
    return size;
}
