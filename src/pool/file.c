// SPDX-License-Identifier: Apache-2.0
// Files: pools that persist. docs/formats/pool.md says what is where and what survives what.
//
// Locks of the open file description (they go with its last descriptor, however a process ends): byte 0, exclusive, by
// whoever opens or closes; byte 1, shared, by everybody who is attached for writing; byte 2, exclusive, by who flushes.
// Who gets byte 1 exclusively is alone, so the alive words of a file need not be believed after a crash of the machine.
#include "pool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"

enum { SLOT = 4096, LOCK_OPENING = 0, LOCK_ATTACHED = 1, LOCK_FLUSHING = 2 };

/* ---- locks of the description ---- */

static int lock_byte(int fd, int command, int type, int byte)
{
    struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    while (fcntl(fd, command, &lock) < 0) { /* whoever has it may be stopped for long */
        int rc = errno == EINTR ? shmemi_interrupted() : -errno;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The locks hang on an open file description of their own, which a forked child closes at once: else an idle child
   would hold them for its parent. */
int shmemi_file_open_locks(struct shmemi_pool *pool)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", pool->control_fd);
    if (pool->lock_fd < 0)
        pool->lock_fd = open(link, O_RDWR | O_CLOEXEC);
    return pool->lock_fd < 0 ? shmemi_fail_errno("opening '%s' once more, for its locks (is /proc there?)", pool->path)
                             : 0;
}

static int wait_lock(const struct shmemi_pool *pool, int type, int byte)
{
    int rc = lock_byte(pool->lock_fd, F_OFD_SETLKW, type, byte);
    return rc < 0 ? shmemi_fail(rc, "locking the file '%s': %s (%s)", pool->path, strerror(-rc), shmemi_errno_name(-rc))
                  : 0;
}

int shmemi_file_lock_flush(const struct shmemi_pool *pool, bool take)
{
    return wait_lock(pool, take ? F_WRLCK : F_UNLCK, LOCK_FLUSHING);
}

/* ---- header slots ---- */

int shmemi_file_read_slot(const struct shmemi_pool *pool, struct shmemi_pool_slot *out)
{
    struct shmemi_pool_slot slot[2];
    bool valid[2];
    int rc = 0;
    for (int i = 0; i < 2; i++) {
        ssize_t got = pread(pool->control_fd, &slot[i], sizeof slot[i], i * SLOT);
        if (got < 0)
            return shmemi_fail_errno("reading '%s'", pool->path);
        if (got < (ssize_t)sizeof slot[i])
            memset(&slot[i], 0, sizeof slot[i]);
        int checked = shmemi_pool_check_slot(&slot[i]);
        valid[i] = checked == 0;
        if (checked < 0 && (i == 0 || (rc == -EINVAL && checked != -EINVAL))) /* the text stays that of the last */
            rc = checked;
    }
    if (!valid[0] && !valid[1])
        return rc == -EINVAL ? shmemi_fail(rc, "'%s' is not a shmem file", pool->path)
                             : shmemi_fail_in(rc, "'%s' cannot be used", pool->path);
    *out = slot[!valid[0] || (valid[1] && slot[1].generation > slot[0].generation)];
    return 0;
}

int shmemi_file_write_slot(const struct shmemi_pool *pool, struct shmemi_pool_slot *slot)
{
    slot->generation++;
    shmemi_pool_seal_slot(slot);
    if (pwrite(pool->control_fd, slot, sizeof *slot, (off_t)(slot->generation % 2 * SLOT)) != (ssize_t)sizeof *slot ||
        fdatasync(pool->control_fd) < 0)
        return shmemi_fail_errno("writing the header of '%s'", pool->path);
    return 0;
}

/* ---- which file this is ---- */

static void boot_id(uint8_t out[16])
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC), half = 0;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    memset(out, 0, 16);
    for (ssize_t i = 0; i < got && half < 32; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, text[i]);
        if (digit && *digit) {
            out[half / 2] = (uint8_t)(out[half / 2] << 4 | (digit - digits));
            half++;
        }
    }
}

/* Whether the file is as long as its table says. */
static bool has_room(const struct shmemi_pool *pool, const struct stat *st)
{
    return shmemi_units_count(pool) <= ((uint64_t)st->st_size - pool->at.control_bytes) / SHMEMI_UNIT;
}

/* The same also after the file system was mounted anew, by another device number; where it says who it is. */
static uint64_t file_system(const struct shmemi_pool *pool, const struct stat *st)
{
    struct statfs fs;
    uint64_t id = 0;
    if (fstatfs(pool->control_fd, &fs) == 0)
        memcpy(&id, &fs.f_fsid, sizeof id);
    return id ? id : st->st_dev;
}

/* Whether what is mapped is what processes of this boot left in this very file, and not a copy or what a power loss
   left of it. */
static bool is_same(const struct shmemi_pool *pool, const struct stat *st)
{
    uint8_t boot[16];
    boot_id(boot);
    return memcmp(boot, pool->state->boot, sizeof boot) == 0 && pool->state->device == file_system(pool, st) &&
           pool->state->inode == st->st_ino && has_room(pool, st) && shmemi_units_valid(pool);
}

static void sign(struct shmemi_pool *pool, const struct stat *st)
{
    boot_id(pool->state->boot);
    pool->state->device = file_system(pool, st);
    pool->state->inode = st->st_ino;
}

/* ---- file systems ---- */

static int check_file_system(struct shmemi_pool *pool)
{
    static const struct {
        long magic;
        const char *name;
    } remote[] = {{NFS_SUPER_MAGIC, "NFS"},   {0xff534d42L, "SMB"},  {0xfe534d42L, "SMB"},    {V9FS_MAGIC, "9p"},
                  {FUSE_SUPER_MAGIC, "FUSE"}, {0x00c36400L, "Ceph"}, {AFS_SUPER_MAGIC, "AFS"}};
    struct statfs fs;
    if (fstatfs(pool->control_fd, &fs) < 0)
        return shmemi_fail_errno("asking for the file system of '%s'", pool->path);
    for (unsigned i = 0; i < sizeof remote / sizeof *remote; i++)
        if ((long)fs.f_type == remote[i].magic)
            return shmemi_fail(
                -EOPNOTSUPP,
                "'%s' is on %s, which neither shares mapped memory between its users nor reserves space for "
                "certain: use a local file system",
                pool->path, remote[i].name);
    pool->in_memory = fs.f_type == TMPFS_MAGIC;
    return 0;
}

/* Btrfs writes changed blocks elsewhere, for which nothing is reserved, unless the file is told not to. */
static int make_overwritable(const struct shmemi_pool *pool)
{
    struct statfs fs;
    int flags = 0;
    if (fstatfs(pool->control_fd, &fs) < 0 || fs.f_type != BTRFS_SUPER_MAGIC)
        return 0;
    if (ioctl(pool->control_fd, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_NOCOW_FL;
        if (ioctl(pool->control_fd, FS_IOC_SETFLAGS, &flags) == 0)
            return 0;
    }
    return shmemi_fail(-EOPNOTSUPP,
                       "'%s' is on Btrfs, which reserves space for the first write only, and refuses to make an "
                       "exception (chattr +C)",
                       pool->path);
}

/* ---- attaching ---- */

/* Only we are attached: nothing of members is true any more. */
static int reset_members(struct shmemi_pool *pool)
{
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++) { /* relaxed, all: we are alone */
        _Atomic uint32_t *alive = &pool->members[slot].base.alive;
        if (atomic_load_explicit(alive, memory_order_relaxed))
            atomic_store_explicit(alive, FUTEX_OWNER_DIED, memory_order_relaxed);
    }
    atomic_store_explicit(&pool->state->lock.word, 0, memory_order_relaxed);
    if (!pool->private_view && fallocate(pool->control_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                         (off_t)pool->at.keys, (off_t)(pool->at.name_map - pool->at.keys)) < 0)
        memset(pool->keys, 0, pool->at.name_map - pool->at.keys); /* keys lived with their processes */
    shmemi_units_recover(pool);
    return 0;
}

static int mend(struct shmemi_pool *pool, const struct shmemi_pool_slot *slot, const struct stat *st)
{
    if (is_same(pool, st))
        return reset_members(pool);
    if (slot->use == SHMEMI_POOL_DIRTY)
        shmemi_warn("pool", "'%s' was not closed: it is as its last flush left it", pool->path);
    int rc = shmemi_checkpoint_restore(pool, slot);
    return rc < 0 ? shmemi_fail_in(rc, "'%s' cannot be used", pool->path) : reset_members(pool);
}

/* A copy may have holes where the original had space that was reserved and not used. */
static int reserve_again(struct shmemi_pool *pool, uint64_t units)
{
    int rc = shmemi_pool_reserve_fixed(pool);
    if (rc == 0)
        rc = shmemi_pool_reserve(pool, 0, units);
    return rc < 0 ? shmemi_fail_in(rc, "'%s' cannot be opened for writing", pool->path) : 0;
}

/* With byte 0 held: the first one mends the file and marks it as in use. */
static int claim(struct shmemi_pool *pool)
{
    struct stat st;
    struct shmemi_pool_slot slot;
    int rc = shmemi_file_read_slot(pool, &slot);
    if (rc < 0)
        return rc;
    if (fstat(pool->control_fd, &st) < 0)
        return shmemi_fail_errno("examining '%s'", pool->path);
    if (lock_byte(pool->lock_fd, F_OFD_SETLK, F_WRLCK, LOCK_ATTACHED) == 0) {
        if ((!is_same(pool, &st) && (rc = reserve_again(pool, slot.units)) < 0) || (rc = mend(pool, &slot, &st)) < 0)
            return rc;
        sign(pool, &st);
        slot.use = SHMEMI_POOL_DIRTY;
        if ((rc = shmemi_file_write_slot(pool, &slot)) < 0)
            return rc;
    }
    return wait_lock(pool, F_RDLCK, LOCK_ATTACHED);
}

static int claim_and_join(struct shmemi_pool *pool)
{
    int rc = shmemi_file_open_locks(pool);
    if (rc < 0 || (rc = wait_lock(pool, F_WRLCK, LOCK_OPENING)) < 0)
        return rc;
    rc = claim(pool);
    if (rc == 0)
        rc = shmemi_members_join(pool);
    wait_lock(pool, F_UNLCK, LOCK_OPENING);
    return rc;
}

static int serve(struct shmemi_pool *pool)
{
    int rc = shmemi_pool_serve(pool);
    if (rc == -EADDRINUSE) /* somebody squats there: the file works, keys do not */
        shmemi_warn("pool", "'%s': no keys can be made: %s", pool->path, shmemi_last_error());
    return rc == -EADDRINUSE ? 0 : rc;
}

/* The share's number must differ between copies of a file. */
static void number_it(struct shmemi_pool *pool, const struct stat *st, uint64_t number)
{
    pool->number = (number ^ ((uint64_t)st->st_ino * 0x9e3779b97f4a7c15u)) + (uint64_t)st->st_dev * 0xd6e8feb86659fd93u;
}

int shmemi_file_attach_child(struct shmemi_pool *pool)
{
    int rc = shmemi_file_open_locks(pool);
    if (rc < 0 || (rc = wait_lock(pool, F_WRLCK, LOCK_OPENING)) < 0)
        return rc;
    rc = claim(pool);
    wait_lock(pool, F_UNLCK, LOCK_OPENING);
    return rc;
}

/* ---- making one ---- */

static int check_wishes(const struct shmemi_pool_config *config)
{
    if (config->type && strcmp(config->type, "host") != 0)
        return shmemi_fail(-ENOTSUP, "type is '%s': a file is of host memory", config->type);
    if (config->page_size != SHMEMI_PAGES_USUAL)
        return shmemi_fail(-ENOTSUP, "page_size: the pages of a file are those of its file system");
    if (config->numa_node >= 0)
        return shmemi_fail(-ENOTSUP, "numa_node: the kernel decides where it keeps a file's pages");
    if (config->cache && strcmp(config->cache, "write-back") != 0)
        return shmemi_fail(-ENOTSUP, "cache is '%s': a file's pages are cached write-back", config->cache);
    if (config->name && strlen(config->name) >= sizeof((struct shmemi_pool *)0)->name)
        return shmemi_fail(-EINVAL, "the name of a file's pool has %zu bytes; 255 fit", strlen(config->name));
    if (config->size == 0 || config->size > (size_t)1 << 46)
        return shmemi_fail(-EINVAL, "size is %zu bytes: it must be more than 0 (and at most 2^46)", config->size);
    if (config->max_size && (config->max_size < config->size || config->max_size > (size_t)1 << 46))
        return shmemi_fail(-EINVAL, "max_size is %zu and size %zu: it must be at least as large (and at most 2^46)",
                           config->max_size, config->size);
    return 0;
}

static int set_path(struct shmemi_pool *pool, const char *path)
{
    if (!path || !*path)
        return shmemi_fail(-EINVAL, "a path is needed");
    if (strlen(path) >= sizeof pool->path)
        return shmemi_fail(-ENAMETOOLONG, "the path has %zu bytes; %zu fit", strlen(path), sizeof pool->path - 1);
    snprintf(pool->path, sizeof pool->path, "%s", path);
    return 0;
}

static void directory_of(const struct shmemi_pool *pool, char *out, size_t room)
{
    const char *slash = strrchr(pool->path, '/');
    snprintf(out, room, "%.*s", slash ? (int)(slash - pool->path) + 1 : 1, slash ? pool->path : ".");
}

/* A file without a name in the directory of `path`, so that nobody sees it unfinished; or, where there is no such
   thing, with a name of its own in *temporary. */
static int open_unnamed(struct shmemi_pool *pool, char *temporary, size_t room)
{
    char directory[sizeof pool->path];
    directory_of(pool, directory, sizeof directory);
    *temporary = '\0';
    pool->control_fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (pool->control_fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        snprintf(temporary, room, "%.400s.%016llx.new", pool->path, (unsigned long long)shmemi_random());
        pool->control_fd = open(temporary, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    }
    pool->payload_fd = pool->control_fd;
    return pool->control_fd < 0 ? shmemi_fail_errno("making a file in '%s'", directory) : 0;
}

/* A name survives a power loss when its directory is on disk. */
static int name_to_disk(const struct shmemi_pool *pool)
{
    char directory[sizeof pool->path];
    directory_of(pool, directory, sizeof directory);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL)) /* EINVAL: a directory that is not on any disk */
        rc = shmemi_fail_errno("writing the directory '%s' to disk", directory);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int give_name(struct shmemi_pool *pool, const char *temporary)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", pool->control_fd);
    int rc = *temporary ? linkat(AT_FDCWD, temporary, AT_FDCWD, pool->path, 0)
                        : linkat(AT_FDCWD, link, AT_FDCWD, pool->path, AT_SYMLINK_FOLLOW);
    if (rc < 0 && errno == EEXIST)
        return shmemi_fail(-EEXIST, "'%s' is there already; a file is never overwritten", pool->path);
    return rc < 0 ? shmemi_fail_errno("giving the file its name '%s'", pool->path) : name_to_disk(pool);
}

static int fill(struct shmemi_pool *pool, const struct shmemi_pool_config *config)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = shmemi_round_up(config->size, page);
    size_t most = config->max_size ? config->max_size : size < (size_t)1 << 43 ? 8 * size : size;
    most = shmemi_round_up(most < (64u << 20) && !config->max_size ? 64u << 20 : most, page);
    pool->persistent = true;
    pool->grows = config->grow;
    snprintf(pool->name, sizeof pool->name, "%s", config->name ? config->name : "");
    shmemi_pool_lay_out(most / SHMEMI_UNIT, true, &pool->at);
    pool->payload_at = pool->at.control_bytes;
    int rc = shmemi_pool_map(pool, SHMEMI_READ_WRITE);
    /* The data first: it is what may not fit. */
    if (rc == 0)
        rc = shmemi_pool_reserve(pool, 0, size / SHMEMI_UNIT);
    if (rc == 0)
        rc = shmemi_pool_reserve_fixed(pool);
    if (rc == 0)
        shmemi_units_extend(pool, 0, size / SHMEMI_UNIT);
    return rc;
}

static int write_first_header(struct shmemi_pool *pool)
{
    struct shmemi_pool_slot slot;
    struct stat st;
    uint64_t number = shmemi_random();
    if (fstat(pool->control_fd, &st) < 0)
        return shmemi_fail_errno("examining '%s'", pool->path);
    number_it(pool, &st, number);
    shmemi_pool_fill_slot(pool, &slot);
    slot.number = number;
    slot.use = SHMEMI_POOL_DIRTY;
    sign(pool, &st);
    int rc = shmemi_file_write_slot(pool, &slot);
    return rc < 0 ? rc : shmemi_checkpoint_write(pool, SHMEMI_POOL_DIRTY);
}

static int build(struct shmemi_pool *pool, const struct shmemi_pool_config *config, char *temporary, size_t room)
{
    int rc = open_unnamed(pool, temporary, room);
    if (rc < 0 || (rc = check_file_system(pool)) < 0 || (rc = make_overwritable(pool)) < 0 ||
        (rc = fill(pool, config)) < 0)
        return rc;
    if ((rc = shmemi_file_open_locks(pool)) < 0 || (rc = wait_lock(pool, F_RDLCK, LOCK_ATTACHED)) < 0 ||
        (rc = shmemi_members_join(pool)) < 0 || (rc = write_first_header(pool)) < 0 || (rc = serve(pool)) < 0)
        return rc;
    if (config->lock && (rc = shmemi_hal_host.lock(pool->payload, shmemi_units_count(pool) * SHMEMI_UNIT)) < 0)
        return rc;
    pool->wish.lock = config->lock;
    return give_name(pool, temporary);
}

int shmemi_file_create(const char *path, const struct shmemi_pool_config *config, struct shmemi_pool **out)
{
    char temporary[512] = "";
    struct shmemi_pool *pool = shmemi_pool_new();
    if (!pool)
        return -ENOMEM;
    int rc = set_path(pool, path);
    if (rc == 0)
        rc = check_wishes(config);
    if (rc == 0 && access(path, F_OK) == 0)
        rc = shmemi_fail(-EEXIST, "it is there already; a file is never overwritten");
    if (rc == 0)
        rc = build(pool, config, temporary, sizeof temporary);
    if (*temporary)
        unlink(temporary);
    if (rc < 0) {
        shmemi_pool_delete(pool);
        return shmemi_fail_in(rc, "cannot make the file '%s'", path ? path : "(NULL)");
    }
    shmemi_pool_register(pool);
    *out = pool;
    return 0;
}

/* ---- opening one ---- */

static int read_header(struct shmemi_pool *pool, struct shmemi_pool_slot *slot)
{
    struct stat st;
    if (fstat(pool->control_fd, &st) < 0)
        return shmemi_fail_errno("examining '%s'", pool->path);
    int rc = S_ISREG(st.st_mode) ? shmemi_file_read_slot(pool, slot)
                                 : shmemi_fail(-EINVAL, "'%s' is not a regular file", pool->path);
    if (rc < 0)
        return rc;
    if (!(slot->flags & SHMEMI_POOL_PERSISTENT))
        return shmemi_fail(-EINVAL, "'%s' is not a shmem file but a copy of a pool in memory", pool->path);
    pool->persistent = true;
    shmemi_pool_lay_out(slot->max_units, true, &pool->at);
    pool->payload_at = pool->at.control_bytes;
    memcpy(pool->name, slot->name, sizeof pool->name);
    pool->name[sizeof pool->name - 1] = '\0';
    pool->grows = slot->flags & SHMEMI_POOL_GROWS;
    number_it(pool, &st, slot->number);
    uint64_t due = pool->at.control_bytes + slot->units * SHMEMI_UNIT;
    return st.st_size >= 0 && (uint64_t)st.st_size >= due
               ? 0
               : shmemi_fail(-EILSEQ, "'%s' was truncated: it has %lld bytes, and its header says %llu", pool->path,
                             (long long)st.st_size, (unsigned long long)due);
}

/* A view that nobody else sees is one of its only member, which needs no place and no lock of others. */
static void be_alone(struct shmemi_pool *pool)
{
    pool->me = SHMEMI_POOL_MEMBERS - 1;
    shmemi_members_set_holders(pool);
    atomic_store_explicit(&pool->state->lock.word, 0, memory_order_relaxed); /* private memory */
}

/* Copies the pages of the control part now, so that they do not follow what others change. */
static void take_copy(struct shmemi_pool *pool, uint64_t offset, uint64_t bytes)
{
    for (uint64_t at = offset; at < offset + bytes; at += 4096) /* relaxed: only the page matters */
        atomic_fetch_or_explicit((_Atomic uint8_t *)(void *)(pool->control + at), 0, memory_order_relaxed);
}

static int copy_control(struct shmemi_pool *pool)
{
    for (int i = 0; i < 100; i++) { /* others may be at work: until it makes sense as a whole */
        uint64_t units = shmemi_units_count(pool);
        take_copy(pool, 0, pool->at.units + units * sizeof(uint64_t));
        take_copy(pool, pool->at.returned, units * sizeof(uint32_t));
        take_copy(pool, pool->at.blocks, units * SHMEMI_UNIT_BLOCKS);
        take_copy(pool, pool->at.name_map, pool->at.name_count / 8);
        if (shmemi_units_valid(pool))
            return 0;
        shmemi_pool_unmap(pool);
        int rc = shmemi_pool_map(pool, SHMEMI_COPY_ON_WRITE);
        if (rc < 0)
            return rc;
    }
    return shmemi_fail(-EAGAIN, "'%s' changes too fast to be copied", pool->path);
}

static int open_private(struct shmemi_pool *pool, const struct shmemi_pool_slot *slot, bool cow)
{
    struct stat st;
    pool->private_view = true;
    int rc = shmemi_pool_map(pool, cow ? SHMEMI_COPY_ON_WRITE : SHMEMI_READ_ONLY);
    if (rc == 0 && fstat(pool->control_fd, &st) < 0)
        rc = shmemi_fail_errno("examining '%s'", pool->path);
    if (rc < 0)
        return rc;
    if (!is_same(pool, &st)) /* nobody is attached to it, and it may be torn */
        rc = mend(pool, slot, &st);
    else if (cow)
        rc = copy_control(pool);
    if (rc == 0 && cow)
        be_alone(pool);
    pool->writable = cow;
    return rc;
}

static int open_shared(struct shmemi_pool *pool)
{
    int rc = shmemi_pool_map(pool, SHMEMI_READ_WRITE);
    if (rc == 0)
        rc = claim_and_join(pool);
    return rc == 0 ? serve(pool) : rc;
}

static int open_as(struct shmemi_pool *pool, const char *mode)
{
    struct shmemi_pool_slot slot;
    bool rw = mode && strcmp(mode, "rw") == 0, r = mode && strcmp(mode, "r") == 0,
         cow = mode && strcmp(mode, "cow") == 0;
    if (!rw && !r && !cow)
        return shmemi_fail(-EINVAL, "mode is '%s': \"r\", \"rw\" or \"cow\" is needed", mode ? mode : "(NULL)");
    pool->control_fd = pool->payload_fd = open(pool->path, (rw ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (pool->control_fd < 0)
        return shmemi_fail_errno("opening '%s'", pool->path);
    int rc = read_header(pool, &slot);
    if (rc == 0)
        rc = check_file_system(pool);
    if (rc < 0)
        return rc;
    return rw ? open_shared(pool) : open_private(pool, &slot, cow);
}

int shmemi_file_open(const char *path, const char *mode, struct shmemi_pool **out)
{
    struct shmemi_pool *pool = shmemi_pool_new();
    if (!pool)
        return -ENOMEM;
    int rc = set_path(pool, path);
    if (rc == 0)
        rc = open_as(pool, mode);
    if (rc < 0) {
        shmemi_pool_delete(pool);
        return shmemi_fail_in(rc, "cannot open the file");
    }
    shmemi_pool_register(pool);
    *out = pool;
    return 0;
}

/* ---- looking at one ---- */

int shmemi_file_header(const char *path, struct shmemi_file_header *out)
{
    struct shmemi_pool_slot slot;
    struct shmemi_pool *pool = shmemi_pool_new();
    if (!pool)
        return -ENOMEM;
    int rc = set_path(pool, path);
    if (rc == 0 && (pool->control_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
        rc = shmemi_fail_errno("opening '%s'", path);
    if (rc == 0)
        rc = read_header(pool, &slot);
    if (rc == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_ATTACHED, .l_len = 1};
        bool asked = fcntl(pool->control_fd, F_OFD_GETLK, &lock) == 0;
        *out = (struct shmemi_file_header){.version = slot.version,
                                           .clean = slot.use == SHMEMI_POOL_CLEAN,
                                           .attached = asked && lock.l_type != F_UNLCK,
                                           .generation = slot.generation,
                                           .created = slot.created,
                                           .size = slot.units * SHMEMI_UNIT,
                                           .max_size = slot.max_units * SHMEMI_UNIT,
                                           .begin = slot.control_bytes};
        memcpy(out->name, pool->name, sizeof out->name);
    }
    shmemi_pool_delete(pool);
    return rc;
}

/* ---- closing ---- */

int shmemi_file_close(struct shmemi_pool *pool)
{
    if (pool->private_view)
        return 0;
    int rc = wait_lock(pool, F_WRLCK, LOCK_OPENING);
    if (rc < 0)
        return rc;
    /* Alone: then all is written, and the next one finds it in order. The place is left afterwards, in either case. */
    if (lock_byte(pool->lock_fd, F_OFD_SETLK, F_WRLCK, LOCK_ATTACHED) == 0)
        rc = shmemi_checkpoint_write(pool, SHMEMI_POOL_CLEAN);
    shmemi_service_leave_place(pool->place);
    pool->place = NULL;
    close(pool->lock_fd); /* and with it the locks */
    pool->lock_fd = -1;
    return rc;
}
