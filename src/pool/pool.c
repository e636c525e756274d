// SPDX-License-Identifier: Apache-2.0
// Pools as a whole: made, opened, grown, closed; handles and forks.
#include "pool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/fork_order.h"

enum { OPEN = 0x4c4f4f50, CLOSED = 0x444e4544, CLOSED_LEAST = 64, PLACES_TRIED = 8 };

static struct shmemi_kept closed = SHMEMI_KEPT(struct shmemi_pool, CLOSED_LEAST);

/* All pools that this process is attached to. Of the process, because fork and addresses are. */
static struct {
    pthread_mutex_t lock;
    struct shmemi_pool *open;
    pthread_once_t once;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* ---- handles ---- */

static void init_locks(struct shmemi_pool *pool)
{
    for (int i = 0; i < SHMEMI_POOL_LANES; i++)
        pthread_mutex_init(&pool->lanes[i].lock, NULL);
    pthread_mutex_init(&pool->slabs_lock, NULL);
    pthread_mutex_init(&pool->central, NULL);
    pthread_mutex_init(&pool->naming, NULL);
    pthread_mutex_init(&pool->freeing, NULL);
    pthread_mutex_init(&pool->owns_lock, NULL);
    pthread_mutex_init(&pool->failure_lock, NULL);
    pthread_mutex_init(&pool->flushing, NULL);
}

/* A program without a job wants its log lines, too. */
static void configure_log(void)
{
    if (shmemi_log_configure() < 0)
        shmemi_warn("pool", "%s", shmemi_last_error());
}

struct shmemi_pool *shmemi_pool_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_log);
    struct shmemi_pool *pool = shmemi_kept_take(&closed);
    if (!pool)
        return NULL;
    memset(pool, 0, sizeof *pool);
    init_locks(pool);
    pool->hal = &shmemi_hal_host;
    pool->wish = SHMEMI_NO_WISH;
    pool->control_fd = pool->payload_fd = pool->lock_fd = -1;
    pool->writable = true;
    shmemi_object_settle(pool);
    return pool;
}

void shmemi_pool_delete(struct shmemi_pool *pool)
{
    shmemi_share_close(pool->share);
    shmemi_service_leave_place(pool->place);
    shmemi_pool_unmap(pool);
    if (pool->lock_fd >= 0)
        close(pool->lock_fd);
    if (pool->payload_fd >= 0 && pool->payload_fd != pool->control_fd)
        close(pool->payload_fd);
    if (pool->control_fd >= 0)
        close(pool->control_fd);
    shmemi_blocks_reset(pool);
    pool->share = NULL;
    pool->place = NULL;
    pool->handle = CLOSED;
    shmemi_kept_put(&closed, pool);
}

static void install(void);

/* Forks are watched before the lock is first held, also in a process that has no pool and only asks for one: a child
   would find it locked for ever. */
static void lock_all(void)
{
    pthread_once(&all.once, install);
    pthread_mutex_lock(&all.lock);
}

bool shmemi_pool_is_open(const struct shmemi_pool *pool)
{
    lock_all();
    const struct shmemi_pool *at = all.open;
    while (at && at != pool)
        at = at->next_open;
    pthread_mutex_unlock(&all.lock);
    return at != NULL;
}

struct shmemi_pool *shmemi_pool_of(const void *address)
{
    lock_all();
    struct shmemi_pool *at = all.open;
    for (; at; at = at->next_open) {
        uint64_t offset = (uint64_t)((const char *)address - at->payload);
        if ((const char *)address >= at->payload && offset < shmemi_units_count(at) * SHMEMI_UNIT)
            break;
        pthread_mutex_lock(&at->owns_lock);
        bool own = shmemi_own_find(at, address) != NULL;
        pthread_mutex_unlock(&at->owns_lock);
        if (own)
            break;
    }
    pthread_mutex_unlock(&all.lock);
    return at;
}

struct shmemi_pool *shmemi_pool_of_share(uint64_t number)
{
    lock_all();
    struct shmemi_pool *at = all.open;
    while (at && (at->number != number || !at->share)) /* a reader of the same file has none */
        at = at->next_open;
    pthread_mutex_unlock(&all.lock);
    return at;
}

void shmemi_pool_lock_all(void)
{
    lock_all();
}

void shmemi_pool_unlock_all(void)
{
    pthread_mutex_unlock(&all.lock);
}

bool shmemi_pool_any_maps(const void *address)
{
    const struct shmemi_pool *at = all.open;
    while (at && !((const char *)address >= at->payload &&
                   (uint64_t)((const char *)address - at->payload) < shmemi_units_count(at) * SHMEMI_UNIT))
        at = at->next_open;
    return at != NULL;
}

int shmemi_pool_need_writable(const struct shmemi_pool *pool)
{
    return shmemi_likely(pool->writable)
               ? 0
               : shmemi_fail(-EROFS, "the file '%s' was opened for reading: open it with mode \"rw\"", pool->path);
}

/* ---- fork ---- */

static void seize(struct shmemi_pool *pool)
{
    for (int i = 0; i < SHMEMI_POOL_LANES; i++)
        pthread_mutex_lock(&pool->lanes[i].lock);
    pthread_mutex_lock(&pool->slabs_lock);
    pthread_mutex_lock(&pool->central);
    pthread_mutex_lock(&pool->owns_lock);
}

static void unseize(struct shmemi_pool *pool)
{
    pthread_mutex_unlock(&pool->owns_lock);
    pthread_mutex_unlock(&pool->central);
    pthread_mutex_unlock(&pool->slabs_lock);
    for (int i = SHMEMI_POOL_LANES; i > 0; i--)
        pthread_mutex_unlock(&pool->lanes[i - 1].lock);
}

/* Nothing private is half changed when the child gets its copy. */
static void before_fork(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct shmemi_pool *pool = all.open; pool; pool = pool->next_open)
        seize(pool);
}

static void after_fork(void)
{
    for (struct shmemi_pool *pool = all.open; pool; pool = pool->next_open)
        unseize(pool);
    pthread_mutex_unlock(&all.lock);
}

/* The parent's place, slabs and segments are the parent's. */
static void in_child(void)
{
    for (struct shmemi_pool *pool = all.open; pool; pool = pool->next_open) {
        init_locks(pool);
        pool->forked = !pool->private_view;
        shmemi_object_forked(pool);
        shmemi_service_forget_place(pool->place);
        shmemi_share_forget(pool->share);
        pool->place = NULL;
        pool->share = NULL;
        if (pool->lock_fd >= 0)
            close(pool->lock_fd);
        pool->lock_fd = -1;
        shmemi_own_inherit(pool);
    }
    pthread_mutex_init(&all.lock, NULL);
}

static void install(void)
{
    static const struct shmemi_fork_client pools = {
        .before = before_fork, .in_parent = after_fork, .in_child = in_child};
    if (shmemi_fork_watch(&pools) < 0)
        shmemi_warn("pool", "a forked child could find a pool half changed: %s", shmemi_last_error());
}

void shmemi_pool_register(struct shmemi_pool *pool)
{
    lock_all();
    pool->handle = OPEN;
    pool->next_open = all.open;
    all.open = pool;
    pthread_mutex_unlock(&all.lock);
}

static void unregister(struct shmemi_pool *pool)
{
    pthread_mutex_lock(&all.lock);
    struct shmemi_pool **at = &all.open;
    while (*at && *at != pool)
        at = &(*at)->next_open;
    if (*at)
        *at = pool->next_open;
    pthread_mutex_unlock(&all.lock);
}

/* The child attaches as a member of its own. */
static int attach_child(struct shmemi_pool *pool)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* threads of a young child */
    pthread_mutex_lock(&one_at_a_time);
    int rc = 0;
    if (pool->forked) {
        shmemi_blocks_reset(pool);
        rc = *pool->path ? shmemi_file_attach_child(pool) : 0;
        if (rc == 0)
            rc = shmemi_members_join(pool);
        if (rc == 0 && (rc = shmemi_pool_serve(pool)) < 0) {
            shmemi_service_leave_place(pool->place);
            pool->place = NULL;
        }
        if (rc == 0)
            atomic_store_explicit(&pool->forked, false, memory_order_release); /* pairs with the acquire in enter() */
    }
    pthread_mutex_unlock(&one_at_a_time);
    return rc < 0 ? shmemi_fail_in(rc, "attaching a forked child to the pool") : 0;
}

int shmemi_pool_enter(struct shmemi_pool *pool)
{
    if (shmemi_unlikely(!pool || pool->handle != OPEN))
        return shmemi_fail(-EBADF, pool ? "the pool was closed" : "the pool is NULL");
    /* acquire: pairs with the release in attach_child() */
    if (shmemi_unlikely(atomic_load_explicit(&pool->forked, memory_order_acquire)))
        return attach_child(pool);
    return 0;
}

/* ---- making one ---- */

static int check_config(const struct shmemi_pool_config *config, struct shmemi_wish *wish)
{
    if (config->size == 0 || config->size > (size_t)1 << 47)
        return shmemi_fail(-EINVAL, "size is %zu bytes: it must be more than 0 (and at most 2^47)", config->size);
    if (config->max_size && (config->max_size < config->size || config->max_size > (size_t)1 << 47))
        return shmemi_fail(-EINVAL, "max_size is %zu and size %zu: it must be at least as large (and at most 2^47)",
                           config->max_size, config->size);
    if (config->name && (strlen(config->name) == 0 || strlen(config->name) >= sizeof((struct shmemi_pool *)0)->name))
        return shmemi_fail(-EINVAL, "the name of a pool has 1 to 255 bytes");
    if (config->name && strncmp(config->name, "shm1-", 5) == 0)
        return shmemi_fail(-EINVAL, "the name '%s' begins like a key (shm1-): choose another", config->name);
    static const char *const caches[] = {"", "write-back", "write-combining", "uncached"};
    unsigned cache = 0;
    while (config->cache && cache < 4 && strcmp(config->cache, caches[cache]) != 0)
        cache++;
    if (cache == 4)
        return shmemi_fail(-EINVAL, "cache is '%s': \"write-back\", \"write-combining\" or \"uncached\" is needed",
                           config->cache);
    *wish = (struct shmemi_wish){
        .page = config->page_size, .node = config->numa_node, .lock = config->lock, .cache = (enum shmemi_cache)cache};
    return 0;
}

size_t shmemi_pool_page(const struct shmemi_pool *pool)
{
    return pool->wish.page > SHMEMI_PAGES_TRANSPARENT ? pool->wish.page : (size_t)sysconf(_SC_PAGESIZE);
}

/* What a pool may grow to where nobody says. */
static size_t usual_most(size_t size)
{
    size_t most = size < (size_t)1 << 44 ? 8 * size : size;
    return most < (size_t)1 << 30 ? (size_t)1 << 30 : most;
}

void shmemi_pool_fill_slot(struct shmemi_pool *pool, struct shmemi_pool_slot *slot)
{
    *slot = (struct shmemi_pool_slot){.flags = (pool->persistent ? SHMEMI_POOL_PERSISTENT : 0u) |
                                               (pool->grows ? SHMEMI_POOL_GROWS : 0u) |
                                               (pool->wish.lock ? SHMEMI_POOL_LOCKED : 0u),
                                      .page = pool->wish.page,
                                      .node = pool->wish.node,
                                      .number = pool->number,
                                      .max_units = pool->at.max_units,
                                      .units = pool->state ? shmemi_units_count(pool) : 0,
                                      .control_bytes = pool->at.control_bytes,
                                      .created = (uint64_t)time(NULL)};
    memcpy(slot->name, pool->name, sizeof slot->name);
}

/* The parts of the control part that do not depend on the size. */
int shmemi_pool_reserve_fixed(struct shmemi_pool *pool)
{
    int rc = shmemi_pool_reserve_control(pool, 0, pool->at.members + SHMEMI_POOL_MEMBERS * sizeof *pool->members);
    return rc < 0 ? rc : shmemi_pool_reserve_control(pool, pool->at.name_map, pool->at.name_count / 8);
}

static int make_memory(struct shmemi_pool *pool, size_t size, size_t most)
{
    shmemi_pool_lay_out(most / SHMEMI_UNIT, false, &pool->at);
    int rc = shmemi_hal_host.create("shmem-pool-control", pool->at.control_bytes, NULL, &pool->control_fd);
    if (rc == 0)
        rc = pool->hal->create("shmem-pool", most, &pool->wish, &pool->payload_fd);
    if (rc == 0)
        rc = shmemi_pool_map(pool, SHMEMI_READ_WRITE);
    if (rc == 0)
        rc = shmemi_pool_reserve_fixed(pool);
    if (rc == 0)
        rc = shmemi_pool_reserve(pool, 0, size / SHMEMI_UNIT);
    if (rc == 0)
        shmemi_units_extend(pool, 0, size / SHMEMI_UNIT);
    return rc;
}

/* The limit of file sizes may allow the size that is needed, and not what it could grow to. */
static int make_memory_within_limits(struct shmemi_pool *pool, const struct shmemi_pool_config *config)
{
    size_t page = shmemi_pool_page(pool), size = shmemi_round_up(config->size, page);
    size_t most = shmemi_round_up(config->max_size ? config->max_size : usual_most(config->size), page);
    int rc = make_memory(pool, size, most);
    if ((rc != -EFBIG && rc != -ENOMEM) || config->max_size || most == size)
        return rc;
    shmemi_pool_unmap(pool);
    snprintf(pool->fallback, sizeof pool->fallback, "it cannot grow: %.100s", shmemi_last_error());
    for (int *fd = &pool->control_fd;; fd = &pool->payload_fd) {
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        if (fd == &pool->payload_fd)
            break;
    }
    return make_memory(pool, size, size);
}

static int name_is_free(const char *name)
{
    int fds[2];
    unsigned count = 0;
    int rc = shmemi_share_join(shmemi_share_number(name), NULL, fds, &count);
    for (unsigned i = 0; i < count; i++)
        close(fds[i]);
    if (rc == 0)
        return shmemi_fail(-EEXIST, "a living process has a pool of this name already: open it, or choose another");
    return rc == -ENOENT ? 0 : rc;
}

static int make(struct shmemi_pool *pool, const struct shmemi_pool_config *config)
{
    int rc = shmemi_hal_find(config->type ? config->type : "host", &pool->hal);
    if (rc < 0 || (rc = check_config(config, &pool->wish)) < 0 ||
        (config->name && (rc = name_is_free(config->name)) < 0))
        return rc;
    if (config->type && strcmp(config->type, "host") != 0 && strcmp(config->type, "auto") != 0)
        snprintf(pool->fallback, sizeof pool->fallback, "type '%s' is replaced by host memory (SHMEM_DEVICE_FALLBACK)",
                 config->type);
    pool->grows = config->grow;
    pool->number = config->name ? shmemi_share_number(config->name) : shmemi_random();
    snprintf(pool->name, sizeof pool->name, "%s", config->name ? config->name : "");
    if ((rc = make_memory_within_limits(pool, config)) < 0)
        return rc;
    struct shmemi_pool_slot slot;
    shmemi_pool_fill_slot(pool, &slot);
    shmemi_pool_seal_slot(&slot);
    memcpy(pool->control, &slot, sizeof slot);
    if ((rc = shmemi_members_join(pool)) < 0)
        return rc;
    rc = shmemi_pool_serve(pool);
    return rc == -EADDRINUSE ? shmemi_fail(-EEXIST, "a living process has a pool of this name already") : rc;
}

int shmemi_pool_create(const struct shmemi_pool_config *config, struct shmemi_pool **out)
{
    struct shmemi_pool *pool = shmemi_pool_new();
    if (!pool)
        return -ENOMEM;
    int rc = make(pool, config);
    if (rc < 0) {
        shmemi_pool_delete(pool);
        return shmemi_fail_in(rc, "cannot make a pool of %zu bytes%s%s", config->size, config->name ? " named " : "",
                              config->name ? config->name : "");
    }
    shmemi_pool_register(pool);
    *out = pool;
    return 0;
}

/* ---- opening one that there is ---- */

static int ask_members(struct shmemi_pool *pool, const char *text)
{
    struct shmemi_key key;
    bool by_key = strncmp(text, "shm1-", 5) == 0;
    int fds[2] = {-1, -1}, rc = by_key ? shmemi_key_parse(text, &key) : 0;
    unsigned count = 0;
    if (rc < 0)
        return rc;
    pool->number = by_key ? key.share : shmemi_share_number(text);
    rc = shmemi_share_join(pool->number, by_key ? &key : NULL, fds, &count);
    pool->control_fd = count > 0 ? fds[0] : -1;
    pool->payload_fd = count > 1 ? fds[1] : -1;
    if (rc == -ENOENT && by_key)
        return shmemi_fail(-EKEYEXPIRED,
                           "nobody living has the pool of this key: those who had it have ended (containers: do "
                           "they share SHMEM_DIR?)");
    if (rc == -ENOENT)
        return shmemi_fail(rc, "no living process of this user has a pool '%s' (containers: do they share SHMEM_DIR?)",
                           text);
    if (rc == 0 && count != 2)
        return shmemi_fail(-EPROTO, "the pool was answered for with %u descriptors instead of 2", count);
    return rc;
}

/* Somebody else may sit at the sockets of the first free places, by accident or on purpose. */
static int join_and_serve(struct shmemi_pool *pool)
{
    struct shmemi_place *useless[PLACES_TRIED];
    unsigned count = 0;
    int rc;
    while ((rc = shmemi_members_join(pool)) == 0 && (rc = shmemi_pool_serve(pool)) == -EADDRINUSE &&
           count < PLACES_TRIED) {
        useless[count++] = pool->place;
        pool->place = NULL;
    }
    while (count)
        shmemi_service_leave_place(useless[--count]);
    return rc;
}

/* The one who made it had its wishes honoured; in this process they are as far as they can be. */
static void follow_wishes(struct shmemi_pool *pool, const struct shmemi_pool_slot *slot)
{
    pool->grows = slot->flags & SHMEMI_POOL_GROWS;
    pool->wish.node = (int)slot->node;
    pool->wish.lock = slot->flags & SHMEMI_POOL_LOCKED;
    if (pool->wish.lock && pool->hal->lock(pool->payload, shmemi_units_count(pool) * SHMEMI_UNIT) < 0) {
        pool->wish.lock = false;
        snprintf(pool->fallback, sizeof pool->fallback, "locked in memory by other members only: %.80s",
                 shmemi_last_error());
    }
}

static int attach(struct shmemi_pool *pool)
{
    struct shmemi_pool_slot slot;
    int rc = shmemi_hal_host.check(pool->control_fd, sizeof slot);
    if (rc < 0)
        return rc;
    if (pread(pool->control_fd, &slot, sizeof slot, 0) != (ssize_t)sizeof slot)
        return shmemi_fail_errno("reading the header of the pool");
    if ((rc = shmemi_pool_check_slot(&slot)) < 0)
        return rc;
    if (slot.flags & SHMEMI_POOL_PERSISTENT)
        return shmemi_fail(-EPROTO, "it is a file");
    shmemi_pool_lay_out(slot.max_units, false, &pool->at);
    pool->wish.page = slot.page;
    memcpy(pool->name, slot.name, sizeof pool->name);
    pool->name[sizeof pool->name - 1] = '\0';
    if ((rc = shmemi_hal_host.check(pool->control_fd, pool->at.control_bytes)) < 0 ||
        (rc = pool->hal->check(pool->payload_fd, pool->at.max_units * SHMEMI_UNIT)) < 0 ||
        (rc = shmemi_pool_map(pool, SHMEMI_READ_WRITE)) < 0 || (rc = join_and_serve(pool)) < 0)
        return rc;
    follow_wishes(pool, &slot);
    return 0;
}

int shmemi_pool_open(const char *name_or_key, struct shmemi_pool **out)
{
    if (!name_or_key || !*name_or_key)
        return shmemi_fail(-EINVAL, "the name or key of a pool is needed");
    struct shmemi_pool *pool = shmemi_pool_new();
    if (!pool)
        return -ENOMEM;
    int rc = ask_members(pool, name_or_key);
    if (rc == 0)
        rc = attach(pool);
    if (rc < 0) {
        shmemi_pool_delete(pool);
        return shmemi_fail_in(rc, "cannot open the pool");
    }
    shmemi_pool_register(pool);
    *out = pool;
    return 0;
}

/* ---- closing ---- */

static void give_all_back(struct shmemi_pool *pool)
{
    shmemi_blocks_trim(pool);
    shmemi_central_take(pool);
    shmemi_members_settle(pool, pool->me);
    shmemi_members_return(pool, pool->me);
    shmemi_central_give(pool);
}

int shmemi_pool_close(struct shmemi_pool *pool)
{
    if (!pool || pool->handle != OPEN)
        return shmemi_fail(-EBADF, pool ? "the pool was closed already" : "the pool is NULL");
    unsigned objects = atomic_load_explicit(&pool->objects.open, memory_order_relaxed); /* a count of this process */
    if (objects)
        return shmemi_fail(-EBUSY, "%u handles of objects in the pool are open: close them first", objects);
    pool->handle = CLOSED;
    unregister(pool);
    shmemi_share_close(pool->share);
    pool->share = NULL;
    shmemi_own_close_all(pool); /* counted in our place, so before that is given back */
    if (!pool->forked && pool->writable)
        give_all_back(pool);
    int rc = *pool->path && !pool->forked ? shmemi_file_close(pool) : 0;
    shmemi_pool_delete(pool);
    return rc;
}

/* ---- growing ---- */

static int grow_locked(struct shmemi_pool *pool, uint64_t units)
{
    uint64_t now = shmemi_units_count(pool);
    if (units <= now)
        return 0;
    int rc = shmemi_pool_reserve(pool, now, units);
    if (rc == 0)
        shmemi_units_extend(pool, now, units);
    return rc;
}

int shmemi_pool_grow(struct shmemi_pool *pool, size_t size)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = shmemi_pool_need_writable(pool)) < 0)
        return rc;
    size_t most = pool->at.max_units * SHMEMI_UNIT;
    if (size > most)
        return shmemi_fail(-EFBIG, "%zu bytes are more than the pool's max_size, %zu, which is fixed when it is made",
                           size, most);
    shmemi_central_take(pool);
    rc = grow_locked(pool, shmemi_round_up(size, shmemi_pool_page(pool)) / SHMEMI_UNIT);
    shmemi_central_give(pool);
    return rc < 0 ? shmemi_fail_in(rc, "cannot make the pool larger, to %zu bytes", size) : 0;
}

int shmemi_pool_flush(struct shmemi_pool *pool)
{
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = shmemi_pool_need_writable(pool)) < 0)
        return rc;
    if (!*pool->path)
        return shmemi_fail(-EINVAL, "the pool is not a file: there is nothing to write to");
    return shmemi_checkpoint_write(pool, SHMEMI_POOL_DIRTY);
}

/* What a program that ends without closing its files wrote is on disk all the same. */
__attribute__((destructor)) static void flush_at_exit(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct shmemi_pool *pool = all.open; pool; pool = pool->next_open)
        if (*pool->path && pool->writable && !pool->private_view && !pool->forked)
            shmemi_checkpoint_write(pool, SHMEMI_POOL_DIRTY);
    pthread_mutex_unlock(&all.lock);
}
