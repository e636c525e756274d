// SPDX-License-Identifier: Apache-2.0
// The share of a PE: its heap is one segment, and each region's whole pages are another. The table of keys is private
// to the process, made when the first key is.
#include "export.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "job/heap.h"
#include "job/parts.h"
#include "job/statics.h"
#include "map/inplace.h"
#include "region.h"

enum { KEYS = 4096, HEAP = 1 };

static const uint64_t first_region = UINT64_C(1) << 32; /* a region's segment is this and its number */

/* The share of this process's job; made and ended under the lock. */
static struct {
    pthread_mutex_t lock;
    struct shmemi_share *share;
    struct shmemi_key_record *keys;
    uint64_t number;
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The piece of a live region that is whole pages, and not somebody else's too. */
static bool whole_piece(uint64_t number, struct shmemi_piece *out)
{
    struct shmemi_regions *all = NULL;
    if (shmemi_regions_get(&all) < 0)
        return false;
    bool found = false;
    pthread_mutex_lock(&all->lock);
    const struct shmemi_region *r = all->own;
    while (r && r->number != number)
        r = r->next;
    for (size_t i = 0; r && !found && i < r->piece_count; i++)
        if (r->pieces[i].kind == SHMEMI_PAGES_WHOLE) {
            *out = r->pieces[i];
            found = true;
        }
    pthread_mutex_unlock(&all->lock);
    return found;
}

static int tell_segment(void *context, uint64_t segment, struct shmemi_share_segment *out)
{
    const struct shmemi_job *job = context;
    struct shmemi_inplace *engine = NULL;
    struct shmemi_piece piece;
    if (segment == HEAP) {
        *out = (struct shmemi_share_segment){.fd = job->parts->heap_fd, .window_bytes = job->heap_size};
        return 0;
    }
    if (segment < first_region || !whole_piece(segment - first_region, &piece) || shmemi_inplace_engine(&engine) < 0)
        return -ENOENT;
    *out = (struct shmemi_share_segment){
        .fd = shmemi_inplace_fd(engine, SHMEMI_PAGES_WHOLE), .window = piece.offset, .window_bytes = piece.length};
    return out->fd >= 0 ? 0 : -ENOENT;
}

static int tell_memory(void *context, uint64_t segment, uint64_t offset, uint64_t bytes, void **out)
{
    const struct shmemi_job *job = context;
    struct shmemi_piece piece = {.address = (uintptr_t)job->heap, .length = shmemi_heap_used(job)};
    if (segment != HEAP && (segment < first_region || !whole_piece(segment - first_region, &piece)))
        return -ENOENT;
    if (offset < piece.offset || offset - piece.offset > piece.length || bytes > piece.length - (offset - piece.offset))
        return -ENOENT;
    *out = (void *)(uintptr_t)(piece.address + (offset - piece.offset));
    return 0;
}

static void drop_keys(void)
{
    if (own.keys)
        munmap(own.keys, KEYS * sizeof *own.keys);
    own.keys = NULL;
    own.share = NULL;
}

/* Not with the lock held, for answers that are just being given may ask for it. */
static void end_exports(void)
{
    pthread_mutex_lock(&own.lock);
    struct shmemi_share *share = own.share;
    own.share = NULL;
    pthread_mutex_unlock(&own.lock);
    shmemi_share_close(share);
    pthread_mutex_lock(&own.lock);
    if (!own.share)
        drop_keys();
    pthread_mutex_unlock(&own.lock);
}

/* A thread of the parent may have had the lock. The share is dead here, and says so (map/fork_order.h). */
static void in_child(void)
{
    pthread_mutex_init(&own.lock, NULL);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

/* With the lock held. */
static int get_share(void)
{
    struct shmemi_job *job = shmemi_current;
    if (job->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    if (own.share)
        return 0;
    own.keys = mmap(NULL, KEYS * sizeof *own.keys, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own.keys == MAP_FAILED) {
        own.keys = NULL;
        return shmemi_fail_errno("no memory for a table of keys");
    }
    own.number = shmemi_random();
    struct shmemi_share_config config = {.number = own.number,
                                         .keys = own.keys,
                                         .count = KEYS,
                                         .segment = tell_segment,
                                         .memory = tell_memory,
                                         .context = job};
    int rc = shmemi_share_open(&config, &own.share);
    if (rc < 0)
        drop_keys();
    else
        job->parts->end_exports = end_exports;
    return rc;
}

static int in_heap(const void *address, size_t bytes, struct shmemi_export *what)
{
    const struct shmemi_job *job = shmemi_current;
    uint64_t offset = (uint64_t)((const char *)address - job->heap);
    size_t used = shmemi_heap_used(job);
    if ((const char *)address < job->heap || offset >= used)
        return -ENOENT;
    if (bytes > used - offset)
        return shmemi_fail(-EINVAL, "%zu bytes from %p on end beyond the blocks of the symmetric heap", bytes, address);
    what->segment = HEAP;
    what->offset = offset;
    return 0;
}

/* A piece that is whole pages and holds it all. */
static bool piece_holds(const struct shmemi_region *r, uintptr_t address, size_t bytes, struct shmemi_export *what)
{
    const struct shmemi_piece *piece = r->pieces;
    for (size_t i = 0; i < r->piece_count && piece->kind != SHMEMI_PAGES_WHOLE; i++)
        piece++;
    if (piece == r->pieces + r->piece_count || address < piece->address || address - piece->address > piece->length ||
        bytes > piece->length - (address - piece->address))
        return false;
    what->segment = first_region + r->number;
    what->offset = piece->offset + (address - piece->address);
    return true;
}

static int in_region(const void *address, size_t bytes, struct shmemi_export *what)
{
    struct shmemi_regions *all = NULL;
    int rc = shmemi_regions_get(&all);
    bool found = false, touched = false;
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&all->lock);
    for (const struct shmemi_region *r = all->own; r && !found; r = r->next) {
        found = r->piece_count && piece_holds(r, (uintptr_t)address, bytes, what);
        for (size_t i = 0; i < r->piece_count; i++)
            touched |= (uintptr_t)address >= r->pieces[i].address &&
                       (uintptr_t)address - r->pieces[i].address < r->pieces[i].length;
    }
    pthread_mutex_unlock(&all->lock);
    if (found)
        return 0;
    if (touched)
        return shmemi_fail(-EINVAL,
                           "%p shares its first or last page with memory that is not registered, which a key must "
                           "not open: allocate it with shmem.empty, from a pool, or aligned to whole pages",
                           address);
    return shmemi_fail(
        -EINVAL, "%p is in no pool, no block of the symmetric heap and no registered region of this process", address);
}

int shmemi_job_export(const void *address, size_t bytes, struct shmemi_export *what, char text[SHMEMI_KEY_TEXT])
{
    if (shmemi_current->n == 0)
        return shmemi_fail(-EINVAL, "%p is in no buffer of an open pool (and this process is in no job)", address);
    if (what->flags & SHMEMI_KEY_FROZEN)
        return shmemi_fail(-EACCES, "only a buffer of a pool with a segment of its own can be frozen");
    for (uint32_t i = 0; i < what->allowed; i++)
        if (what->allow[i].kind != SHMEMI_ALLOW_PE)
            return shmemi_fail(-EACCES,
                               "rights for others than this user's processes need a buffer of a pool with a segment "
                               "of its own");
    int rc = in_heap(address, bytes, what);
    if (rc == -ENOENT)
        rc = in_region(address, bytes, what);
    if (rc < 0)
        return rc;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    what->bytes = bytes;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&own.lock);
    rc = get_share();
    if (rc == 0)
        rc = shmemi_share_export(own.share, what, text);
    pthread_mutex_unlock(&own.lock);
    return rc;
}

int shmemi_job_revoke(const struct shmemi_key *key)
{
    pthread_mutex_lock(&own.lock);
    bool ours = own.share && own.number == key->share;
    int rc = ours ? shmemi_share_revoke(own.share, key) : -ENOENT;
    pthread_mutex_unlock(&own.lock);
    return rc;
}

void shmemi_job_forget_heap(size_t offset, size_t bytes)
{
    pthread_mutex_lock(&own.lock);
    if (own.share)
        shmemi_share_revoke_range(own.share, HEAP, offset, bytes);
    pthread_mutex_unlock(&own.lock);
}

bool shmemi_job_forget_region(uint64_t number)
{
    pthread_mutex_lock(&own.lock);
    bool any = own.share && shmemi_share_revoke_range(own.share, first_region + number, 0, UINT64_MAX) > 0;
    pthread_mutex_unlock(&own.lock);
    return any;
}

void shmemi_job_claims(uint64_t *job, uint32_t *pe)
{
    (void)shmemi_joined(job, pe);
}
