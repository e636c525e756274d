// SPDX-License-Identifier: Apache-2.0
// A pool's memory in this process: mapping it, taking pages for it, and letting others have it.
#include "pool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"

enum {
    KEYS_STEP = 64 << 10,
    ALIGN = 2 << 20, /* of the payload: what blocks may ask for, and one huge page */
};

static void set_parts(struct shmemi_pool *pool)
{
    char *c = pool->control;
    const struct shmemi_pool_layout *at = &pool->at;
    pool->state = (struct shmemi_pool_state *)(void *)(c + at->state);
    pool->members = (struct shmemi_pool_member *)(void *)(c + at->members);
    pool->units = (_Atomic uint64_t *)(void *)(c + at->units);
    pool->returned = (_Atomic uint32_t *)(void *)(c + at->returned);
    pool->blocks = (_Atomic uint8_t *)(void *)(c + at->blocks);
    pool->keys = (struct shmemi_key_record *)(void *)(c + at->keys);
    pool->name_map = (_Atomic uint64_t *)(void *)(c + at->name_map);
    pool->names = (struct shmemi_pool_name *)(void *)(c + at->names);
}

/* An address range for the payload that begins at a multiple of ALIGN. */
static int reserve_range(struct shmemi_pool *pool, size_t bytes, char **at)
{
    size_t align = pool->wish.page > ALIGN ? pool->wish.page : ALIGN;
    pool->reserved_bytes = bytes + align;
    pool->reserved = mmap(NULL, pool->reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->reserved == MAP_FAILED) {
        pool->reserved = NULL;
        return shmemi_fail_errno("reserving %zu bytes of address space (ulimit -v; or ask for a smaller max_size)",
                                 pool->reserved_bytes);
    }
    *at = (char *)shmemi_round_up((uintptr_t)pool->reserved, align);
    return 0;
}

/* The control part may have to be mapped otherwise than the payload: a reader's own copy is mended privately. */
int shmemi_pool_map(struct shmemi_pool *pool, enum shmemi_access access)
{
    size_t bytes = pool->at.max_units * SHMEMI_UNIT;
    char *at = NULL;
    void *mapped;
    int rc = shmemi_hal_host.map(pool->control_fd, 0, pool->at.control_bytes,
                                 access == SHMEMI_READ_ONLY ? SHMEMI_COPY_ON_WRITE : access, NULL, &mapped);
    if (rc < 0)
        return rc;
    pool->control = mapped;
    set_parts(pool);
    rc = reserve_range(pool, bytes, &at);
    if (rc == 0)
        rc = pool->hal->map(pool->payload_fd, pool->payload_at, bytes, access, at, &mapped);
    if (rc == 0)
        pool->payload = mapped;
    return rc;
}

void shmemi_pool_unmap(struct shmemi_pool *pool)
{
    if (pool->reserved) /* and the payload in it: at once, for another thread may map something into a hole */
        munmap(pool->reserved, pool->reserved_bytes);
    if (pool->control)
        shmemi_hal_host.unmap(pool->control, pool->at.control_bytes);
    pool->payload = pool->control = pool->reserved = NULL;
}

/* What is obviously too much is not tried: a file system may take all that is left before it finds that there is no
   more, and whoever writes meanwhile has a full disk. Behind the end of the file nothing is reserved yet. */
static int check_disk(const struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    struct stat st;
    struct statfs fs;
    if (fstat(pool->control_fd, &st) < 0 || fstatfs(pool->control_fd, &fs) < 0)
        return shmemi_fail_errno("examining '%s'", pool->path);
    uint64_t block = (uint64_t)fs.f_bsize, free = geteuid() == 0 ? fs.f_bfree : fs.f_bavail;
    if (offset < (uint64_t)st.st_size || fs.f_blocks == 0 || bytes / block <= free) /* 0: it does not say */
        return 0;
    return shmemi_fail(-ENOSPC, "'%s' needs %llu bytes more, and its file system has %llu free", pool->path,
                       (unsigned long long)bytes, (unsigned long long)(free * block));
}

static int reserve_on_disk(const struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    int rc = shmemi_host_check_file_limit(pool->path, offset + bytes);
    if (rc == 0 && pool->in_memory) /* tmpfs: what a full disk is elsewhere is a cgroup's limit here, and a kill */
        rc = shmemi_host_may_take(bytes, NULL);
    if (rc < 0)
        return rc;
    while (fallocate(pool->control_fd, 0, (off_t)offset, (off_t)bytes) < 0) {
        if (errno == EINTR)
            continue;
        if (errno == EOPNOTSUPP)
            return shmemi_fail(
                -EOPNOTSUPP,
                "the file system of '%s' cannot reserve space (fallocate): a full disk would kill whoever "
                "writes to the memory; use another file system",
                pool->path);
        return shmemi_fail_errno("reserving %llu bytes on disk for '%s'", (unsigned long long)bytes, pool->path);
    }
    return 0;
}

int shmemi_pool_reserve_control(struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = shmemi_round_up(offset + bytes, page);
    offset = shmemi_round_down(offset, page);
    if (pool->private_view)
        return 0;
    return *pool->path ? reserve_on_disk(pool, offset, end - offset)
                       : shmemi_hal_host.reserve(pool->control_fd, offset, end - offset);
}

/* A file system may keep what it found before it found no more. */
static int reserve_payload_on_disk(struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    struct stat st;
    if (fstat(pool->control_fd, &st) < 0)
        return shmemi_fail_errno("examining '%s'", pool->path);
    int rc = reserve_on_disk(pool, offset, bytes);
    if (rc < 0 && offset >= (uint64_t)st.st_size && ftruncate(pool->control_fd, st.st_size) < 0)
        shmemi_warn("pool", "'%s' stays larger than it need be: %s", pool->path, strerror(errno));
    return rc;
}

static int reserve_payload(struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    if (*pool->path)
        return reserve_payload_on_disk(pool, pool->payload_at + offset, bytes);
    char *at = pool->payload + offset;
    int rc = pool->hal->place ? pool->hal->place(at, bytes, &pool->wish) : 0;
    if (rc == 0)
        rc = pool->hal->reserve(pool->payload_fd, offset, bytes);
    if (rc == 0 && pool->wish.lock && (rc = pool->hal->lock(at, bytes)) < 0)
        pool->hal->release(pool->payload_fd, offset, bytes);
    return rc;
}

int shmemi_pool_reserve(struct shmemi_pool *pool, uint64_t old, uint64_t new)
{
    const struct shmemi_pool_layout *at = &pool->at;
    uint64_t more = new - old;
    int rc = *pool->path ? check_disk(pool, pool->payload_at + old * SHMEMI_UNIT, more * SHMEMI_UNIT) : 0;
    if (rc == 0)
        rc = shmemi_pool_reserve_control(pool, at->units + old * sizeof(uint64_t), more * sizeof(uint64_t));
    if (rc == 0)
        rc = shmemi_pool_reserve_control(pool, at->returned + old * sizeof(uint32_t), more * sizeof(uint32_t));
    if (rc == 0)
        rc = shmemi_pool_reserve_control(pool, at->blocks + old * SHMEMI_UNIT_BLOCKS, more * SHMEMI_UNIT_BLOCKS);
    for (int i = 0; rc == 0 && pool->persistent && i < 2; i++) /* so that a full disk does not stop a flush */
        rc =
            shmemi_pool_reserve_control(pool, at->checkpoint[i], shmemi_pool_checkpoint_bytes(new, at->name_count / 8));
    return rc < 0 ? rc : reserve_payload(pool, old * SHMEMI_UNIT, more * SHMEMI_UNIT);
}

/* ---- what the service thread asks ---- */

static bool take_key_memory(void *context, uint32_t index)
{
    struct shmemi_pool *pool = context;
    uint64_t end = (index + UINT64_C(1)) * sizeof(struct shmemi_key_record);
    if (end <= pool->key_mark)
        return true;
    uint64_t from = shmemi_round_down(index * sizeof(struct shmemi_key_record), KEYS_STEP);
    uint64_t to = shmemi_round_up(end, KEYS_STEP), most = pool->at.name_map - pool->at.keys;
    to = to < most ? to : most;
    if (shmemi_pool_reserve_control(pool, pool->at.keys + from, to - from) < 0)
        return false;
    if (from <= pool->key_mark && to > pool->key_mark) /* without a gap */
        pool->key_mark = to;
    return true;
}

/* The number is from a key's record: anybody may have written it. */
static struct shmemi_own *own_by_number(struct shmemi_pool *pool, uint64_t segment)
{
    struct shmemi_own *own = pool->owns;
    while (own && (own->segment != segment || own->inherited))
        own = own->next;
    return own;
}

static int tell_segment(void *context, uint64_t segment, struct shmemi_share_segment *out)
{
    struct shmemi_pool *pool = context;
    if (segment == SHMEMI_POOL_PAYLOAD) { /* a file ends where its units do */
        uint64_t units = *pool->path ? shmemi_units_count(pool) : pool->at.max_units;
        *out = (struct shmemi_share_segment){
            .fd = pool->payload_fd, .window = pool->payload_at, .window_bytes = units * SHMEMI_UNIT};
        return 0;
    }
    pthread_mutex_lock(&pool->owns_lock);
    const struct shmemi_own *own = own_by_number(pool, segment);
    if (own)
        *out = (struct shmemi_share_segment){.fd = own->fd, .window_bytes = own->mapped, .own = true};
    pthread_mutex_unlock(&pool->owns_lock);
    return own ? 0 : -ENOENT;
}

static int tell_memory(void *context, uint64_t segment, uint64_t offset, uint64_t bytes, void **out)
{
    struct shmemi_pool *pool = context;
    uint64_t size = pool->payload_at + shmemi_units_count(pool) * SHMEMI_UNIT;
    if (segment == SHMEMI_POOL_PAYLOAD) {
        if (offset < pool->payload_at || offset > size || bytes > size - offset)
            return -ENOENT;
        *out = pool->payload + (offset - pool->payload_at);
        return 0;
    }
    pthread_mutex_lock(&pool->owns_lock);
    const struct shmemi_own *own = own_by_number(pool, segment);
    bool found = own && offset <= own->mapped && bytes <= own->mapped - offset;
    if (found)
        *out = (char *)own->address + offset;
    pthread_mutex_unlock(&pool->owns_lock);
    return found ? 0 : -ENOENT;
}

static int let_join(void *context, int fds[2])
{
    const struct shmemi_pool *pool = context;
    if (*pool->path)
        return -ENOENT; /* who may open the file, opens it */
    fds[0] = pool->control_fd;
    fds[1] = pool->payload_fd;
    return 0;
}

int shmemi_pool_serve(struct shmemi_pool *pool)
{
    struct shmemi_share_config config = {.number = pool->number,
                                         .slot = pool->me,
                                         .keys = pool->keys,
                                         .count = (uint32_t)pool->at.key_count,
                                         .reserve = take_key_memory,
                                         .segment = tell_segment,
                                         .join = let_join,
                                         .memory = tell_memory,
                                         .context = pool};
    return shmemi_share_open(&config, &pool->share);
}
