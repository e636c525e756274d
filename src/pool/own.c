// SPDX-License-Identifier: Apache-2.0
// Buffers with segments of their own: they can be given to others without the rest of the pool, be frozen, and be taken
// away. Each costs a descriptor while its owner has it, so their number is bounded.
#include "pool_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

enum { MOST = 64 };

/* Of this process, in all pools. */
static _Atomic unsigned all_owns;

/* Descriptors are the program's: we take a quarter of them at most. */
static unsigned most_owns(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / 4 > MOST)
        return MOST;
    return (unsigned)(limit.rlim_cur / 4);
}

/* An address range at a multiple of `align`, to be mapped over; NULL where any will do or there is none. */
static void *find_place(size_t mapped, size_t align)
{
    if (align <= (size_t)sysconf(_SC_PAGESIZE))
        return NULL;
    char *range = mmap(NULL, mapped + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return NULL;
    char *at = (char *)shmemi_round_up((uintptr_t)range, align), *end = range + mapped + align;
    if (at > range)
        munmap(range, (size_t)(at - range));
    if (end > at + mapped)
        munmap(at + mapped, (size_t)(end - (at + mapped)));
    return at;
}

/* Fresh memory: at `at`, which is replaced, or anywhere. */
static int make_segment(struct shmemi_pool *pool, size_t mapped, void *at, int *fd, void **address)
{
    struct shmemi_wish wish = pool->wish;
    wish.sealable = true;
    int rc = pool->hal->create("shmem-buffer", mapped, &wish, fd);
    if (rc < 0)
        return rc;
    *address = NULL;
    rc = pool->hal->map(*fd, 0, mapped, SHMEMI_READ_WRITE, at, address);
    if (rc == 0 && pool->hal->place)
        rc = pool->hal->place(*address, mapped, &wish);
    if (rc == 0)
        rc = pool->hal->reserve(*fd, 0, mapped);
    if (rc == 0 && wish.lock)
        rc = pool->hal->lock(*address, mapped);
    if (rc < 0) {
        if (*address)
            pool->hal->unmap(*address, mapped);
        close(*fd);
    }
    return rc;
}

/* relaxed, all: figures */
static void note_high_water(struct shmemi_pool *pool)
{
    struct shmemi_pool_state *state = pool->state;
    uint64_t now =
        atomic_load_explicit(&state->taken, memory_order_relaxed) + shmemi_members_own_bytes(pool) / SHMEMI_UNIT;
    uint64_t high = atomic_load_explicit(&state->high_water, memory_order_relaxed);
    while (now > high && !atomic_compare_exchange_weak_explicit(&state->high_water, &high, now, memory_order_relaxed,
                                                                memory_order_relaxed))
        ;
}

static void count_bytes(struct shmemi_pool *pool, uint64_t bytes, bool more)
{
    _Atomic uint64_t *own = &pool->members[pool->me].own_bytes;
    if (more) /* relaxed, both: figures */
        atomic_fetch_add_explicit(own, bytes, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(own, bytes, memory_order_relaxed);
}

static int check_room(struct shmemi_pool *pool, size_t mapped)
{
    if (*pool->path)
        return shmemi_fail(-ENOTSUP, "a buffer with a segment of its own cannot be in a file: allocate it without own, "
                                     "or from a pool in memory");
    uint64_t used = shmemi_members_own_bytes(pool) + shmemi_units_count(pool) * SHMEMI_UNIT;
    uint64_t most = pool->at.max_units * SHMEMI_UNIT;
    if (used > most || mapped > most - used)
        return shmemi_fail(-ENOMEM,
                           "a segment of %zu bytes: the pool and the segments of its buffers have %llu of %llu "
                           "bytes (its max_size)",
                           mapped, (unsigned long long)used, (unsigned long long)most);
    unsigned owns = atomic_load_explicit(&all_owns, memory_order_relaxed); /* a bound, as below */
    if (owns >= most_owns())
        return shmemi_fail(
            -EMFILE,
            "this process has %u buffers with segments of their own already, and each takes a "
            "descriptor: free some, raise the limit of open files (ulimit -n, up to %d such buffers), or "
            "allocate it without own",
            owns, MOST);
    return 0;
}

static int make_aligned(struct shmemi_pool *pool, struct shmemi_own *own, size_t mapped, size_t align)
{
    void *at = find_place(mapped, align);
    int rc = make_segment(pool, mapped, at, &own->fd, &own->address);
    if (rc < 0 && at)
        munmap(at, mapped);
    if (rc == 0 && (uintptr_t)own->address % align) {
        pool->hal->unmap(own->address, mapped);
        close(own->fd);
        rc = shmemi_fail(-ENOMEM, "no address range at a multiple of %zu is left", align);
    }
    return rc;
}

int shmemi_own_alloc(struct shmemi_pool *pool, size_t bytes, size_t align, void **out)
{
    size_t mapped = shmemi_round_up(bytes, shmemi_pool_page(pool));
    struct shmemi_own *own = calloc(1, sizeof *own);
    if (!own)
        return shmemi_fail(-ENOMEM, "no private memory for a buffer");
    pthread_mutex_lock(&pool->owns_lock);
    int rc = check_room(pool, mapped);
    if (rc == 0)
        rc = make_aligned(pool, own, mapped, align);
    if (rc == 0) {
        own->segment = shmemi_random() | UINT64_C(1) << 63; /* never the payload's; not used again when slots are */
        own->bytes = bytes;
        own->mapped = mapped;
        own->next = pool->owns;
        pool->owns = own;
        pool->own_count++;
        /* relaxed, here and below: a bound, which two threads may pass by one */
        atomic_fetch_add_explicit(&all_owns, 1, memory_order_relaxed);
        count_bytes(pool, mapped, true);
        note_high_water(pool);
        *out = own->address;
    }
    pthread_mutex_unlock(&pool->owns_lock);
    if (rc < 0)
        free(own);
    return rc;
}

struct shmemi_own *shmemi_own_find(struct shmemi_pool *pool, const void *address)
{
    for (struct shmemi_own *own = pool->owns; own; own = own->next)
        if ((const char *)address >= (char *)own->address && (const char *)address < (char *)own->address + own->mapped)
            return own;
    return NULL;
}

static void let_go(struct shmemi_pool *pool, struct shmemi_own *own)
{
    pool->hal->unmap(own->address, own->mapped);
    if (!own->inherited) {
        close(own->fd);
        atomic_fetch_sub_explicit(&all_owns, 1, memory_order_relaxed); /* as above */
        pool->own_count--;
        count_bytes(pool, own->mapped, false);
    }
    free(own);
}

static struct shmemi_own *take_out(struct shmemi_pool *pool, const void *address)
{
    struct shmemi_own **at = &pool->owns;
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    struct shmemi_own *own = *at;
    if (own)
        *at = own->next;
    return own;
}

int shmemi_own_free(struct shmemi_pool *pool, const void *address)
{
    pthread_mutex_lock(&pool->owns_lock);
    struct shmemi_own *own = take_out(pool, address);
    pthread_mutex_unlock(&pool->owns_lock);
    if (!own)
        return -ENOENT;
    if (!own->inherited && pool->share)
        shmemi_share_revoke_range(pool->share, own->segment, 0, own->mapped);
    shmemi_service_settle(); /* an answer that is just being given may have its descriptor */
    pthread_mutex_lock(&pool->owns_lock);
    let_go(pool, own);
    pthread_mutex_unlock(&pool->owns_lock);
    return 0;
}

/* The same contents in fresh memory at the same address; *old is the descriptor of what was there. */
static int move_locked(struct shmemi_pool *pool, struct shmemi_own *own, int *old)
{
    int fd, rc;
    void *fresh;
    if ((rc = make_segment(pool, own->mapped, NULL, &fd, &fresh)) < 0)
        return rc;
    memcpy(fresh, own->address, own->mapped);
    /* In one step, so that who reads there meanwhile never finds nothing; locks and placement come along. */
    if (mremap(fresh, own->mapped, own->mapped, MREMAP_MAYMOVE | MREMAP_FIXED, own->address) == MAP_FAILED) {
        rc = shmemi_fail_errno("moving a buffer to new memory");
        pool->hal->unmap(fresh, own->mapped);
        close(fd);
        return rc;
    }
    *old = own->fd;
    own->fd = fd;
    own->segment = shmemi_random() | UINT64_C(1) << 63;
    return 0;
}

int shmemi_own_move(struct shmemi_pool *pool, uint64_t segment)
{
    int old = -1;
    pthread_mutex_lock(&pool->owns_lock);
    struct shmemi_own *own = pool->owns;
    while (own && (own->segment != segment || own->inherited))
        own = own->next;
    int rc = own ? move_locked(pool, own, &old) : -ENOENT;
    pthread_mutex_unlock(&pool->owns_lock);
    if (old >= 0) {
        shmemi_service_settle(); /* as in shmemi_own_free() */
        close(old);
    }
    return rc;
}

void shmemi_own_inherit(struct shmemi_pool *pool)
{
    for (struct shmemi_own *own = pool->owns; own; own = own->next) {
        if (!own->inherited) {
            close(own->fd);
            atomic_fetch_sub_explicit(&all_owns, 1, memory_order_relaxed); /* as above */
        }
        own->inherited = true;
    }
    pool->own_count = 0;
}

int shmemi_own_freeze(struct shmemi_pool *pool, const void *address)
{
    pthread_mutex_lock(&pool->owns_lock);
    const struct shmemi_own *own = shmemi_own_find(pool, address);
    int rc = !own                ? shmemi_fail(-ENOENT, "the buffer is gone")
             : pool->hal->freeze ? pool->hal->freeze(own->fd)
                                 : shmemi_fail(-ENOTSUP, "%s memory cannot be frozen", pool->hal->name);
    pthread_mutex_unlock(&pool->owns_lock);
    return rc < 0 ? shmemi_fail_in(rc, "cannot freeze the buffer") : 0;
}

void shmemi_own_close_all(struct shmemi_pool *pool)
{
    while (pool->owns) {
        struct shmemi_own *own = pool->owns;
        pool->owns = own->next;
        let_go(pool, own);
    }
}
