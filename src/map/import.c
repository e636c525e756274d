// SPDX-License-Identifier: Apache-2.0
// Imports: from shares of this process's own, from what it holds already, or by asking.
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/copy.h"
#include "base/error.h"
#include "fork_order.h"
#include "import_table.h"
#include "service.h"
#include "share_ask.h"
#include "share_internal.h"
#include "share_keys.h"
#include "share_serve.h"

enum { NOT_HERE = 1 };

struct import {
    struct shmemi_import visible; /* first */
    struct shmemi_import_claims claims;
    void *direct; /* where atomics are done here; NULL: by message */
    /* Each a reference, or NULL: */
    struct shmemi_imported *segment;
    struct shmemi_known *known;
    struct shmemi_view *view;
    /* A mapping of its own, for copies. */
    void *own;
    size_t own_bytes;
    bool member; /* of the share: the table tells whether the key still holds */
};

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void settle_address(struct import *i, void *at)
{
    i->visible.address = i->visible.mode == SHMEMI_IMPORT_ATOMIC ? NULL : at;
    i->visible.bytes = i->visible.record.bytes;
    i->direct = i->visible.mode == SHMEMI_IMPORT_READ ? NULL : at;
}

/* --- copies ---------------------------------------------------------------------------------------------------------
 */

/* Private memory with the bytes as they are now, in place of the mapping of them. */
static int take_snapshot(struct import *i, enum shmemi_memory_kind kind)
{
    const struct shmemi_hal *hal = shmemi_hal(kind);
    size_t bytes = shmemi_round_up(i->visible.record.bytes, page_size());
    void *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED)
        return shmemi_fail_errno("%zu bytes of memory for a snapshot", bytes);
    int rc = hal->copy(own, SHMEMI_MEMORY_HOST, i->visible.address, kind, i->visible.record.bytes);
    hal->unmap(i->own, i->own_bytes);
    i->own = own; /* freed with the import */
    i->own_bytes = bytes;
    settle_address(i, own);
    return rc;
}

/* What mappings of this descriptor have to be multiples of. */
static size_t page_of(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == HUGETLBFS_MAGIC ? (size_t)fs.f_bsize : page_size();
}

/* A descriptor that came with a key. A file on disk cannot be sealed against shrinking; it is taken from processes of
   this user only, who could do worse. */
static int check_handle(const struct shmemi_hal *hal, int fd, uint64_t end, uint32_t uid)
{
    struct stat st;
    if (uid != (uint32_t)geteuid() || fcntl(fd, F_GET_SEALS) >= 0 || errno != EINVAL)
        return hal->check(fd, end);
    if (fstat(fd, &st) < 0)
        return shmemi_fail_errno("examining the file of a key");
    if (!S_ISREG(st.st_mode) || st.st_size < 0 || (uint64_t)st.st_size < end)
        return shmemi_fail(-EPROTO, "the file of the key has %lld bytes, and %llu are needed", (long long)st.st_size,
                           (unsigned long long)end);
    return 0;
}

/* The pages of the key alone, copied on write or, for a snapshot, to be copied at once by the next function. */
static int map_pages(struct import *i, const struct shmemi_share_segment *s)
{
    const struct shmemi_key_record *r = &i->visible.record;
    const struct shmemi_hal *hal = shmemi_hal(s->kind);
    bool snapshot = i->visible.mode == SHMEMI_IMPORT_SNAPSHOT;
    size_t page = page_of(s->fd);
    uint64_t begin = shmemi_round_down(r->offset, page), end = shmemi_round_up(r->offset + r->bytes, page);
    void *at = NULL;
    if (!hal)
        return shmemi_fail(-ENODEV, "the key is of a kind of memory that is not to be had here");
    int rc = check_handle(hal, s->fd, end, i->visible.key.uid);
    if (rc == 0)
        rc = hal->map(s->fd, begin, end - begin, snapshot ? SHMEMI_READ_ONLY : SHMEMI_COPY_ON_WRITE, NULL, &at);
    if (rc < 0)
        return rc;
    i->own = at;
    i->own_bytes = end - begin;
    settle_address(i, (char *)at + (r->offset - begin));
    return 0;
}

static int finish_copy(struct import *i, enum shmemi_memory_kind kind)
{
    return i->visible.mode == SHMEMI_IMPORT_SNAPSHOT ? take_snapshot(i, kind) : 0;
}

static int map_copy(struct import *i, const struct shmemi_share_segment *s)
{
    int rc = map_pages(i, s);
    return rc < 0 ? rc : finish_copy(i, s->kind);
}

/* --- from a share of this process's own ------------------------------------------------------------------------------
 */

static bool fits(const struct shmemi_share_segment *s, const struct shmemi_key_record *r)
{
    return r->offset >= s->window && r->offset - s->window <= s->window_bytes &&
           r->bytes <= s->window_bytes - (r->offset - s->window);
}

static bool is_read_only(int fd)
{
    return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

static int check_grant(struct import *i)
{
    const struct shmemi_key_record *r = &i->visible.record;
    if (r->flags & SHMEMI_KEY_POOL)
        return shmemi_fail(-EINVAL, "this key opens a whole pool, not a buffer: open the pool with it");
    int rc = shmemi_share_check_medium(r, false);
    if (rc < 0)
        return rc;
    i->visible.rights = shmemi_share_grant_self(r, i->visible.key.uid, &i->claims);
    return shmemi_share_check_mode(i->visible.mode, i->visible.rights, (uint32_t)geteuid());
}

/* The window of the segment, mapped once more: what the program itself has mapped is for writing too, and goes when its
   share is closed. Under the lock of imports. */
static int map_own(struct import *i, const struct shmemi_share_config *c, struct shmemi_imported *segment)
{
    const struct shmemi_key_record *r = &i->visible.record;
    enum shmemi_access access = i->visible.mode == SHMEMI_IMPORT_READ ? SHMEMI_READ_ONLY : SHMEMI_READ_WRITE;
    struct shmemi_share_segment s = {.fd = -1};
    int rc = shmemi_view_get(segment, NULL, -1, r, access, &i->view);
    if (rc == NOT_HERE && c->segment && c->segment(c->context, r->segment, &s) == 0 && fits(&s, r) &&
        !(access == SHMEMI_READ_WRITE && is_read_only(s.fd)))
        rc = shmemi_view_get(segment, &s, s.fd, r, access, &i->view);
    if (rc == 0)
        settle_address(i, i->view->at + (r->offset - i->view->window));
    return rc;
}

/* To read and write, a member has the memory where it has it anyway: its allocator knows that address. */
static bool use_mapped(struct import *i, const struct shmemi_share_config *c)
{
    const struct shmemi_key_record *r = &i->visible.record;
    void *at = NULL;
    if (i->visible.mode != SHMEMI_IMPORT_WRITE || !c->memory ||
        c->memory(c->context, r->segment, r->offset, r->bytes, &at) < 0)
        return false;
    settle_address(i, at);
    return true;
}

/* A copy needs the descriptor only until it is mapped: whoever closes it waits for the lock (shmemi_service_settle()).
 */
static int use_own(struct import *i, const struct shmemi_share *share)
{
    const struct shmemi_share_config *c = shmemi_share_config(share);
    const struct shmemi_key_record *r = &i->visible.record;
    bool copy = i->visible.mode == SHMEMI_IMPORT_COW || i->visible.mode == SHMEMI_IMPORT_SNAPSHOT;
    struct shmemi_share_segment s = {.fd = -1};
    int rc = NOT_HERE;
    if (use_mapped(i, c))
        return 0;
    shmemi_imports_lock();
    if (!copy) {
        i->segment =
            shmemi_imported_get(i->visible.key.share, i->visible.key.uid, r->segment, shmemi_share_serial(share));
        rc = i->segment ? map_own(i, c, i->segment) : shmemi_fail(-ENOMEM, "no memory for an import");
        if (rc == NOT_HERE) {
            shmemi_imported_put(i->segment);
            i->segment = NULL;
        }
    } else if (c->segment && c->segment(c->context, r->segment, &s) == 0)
        rc = map_pages(i, &s);
    shmemi_imports_unlock();
    return rc == 0 && copy ? finish_copy(i, s.kind) : rc;
}

static int open_own(struct import *i)
{
    struct shmemi_share *share = shmemi_share_hold(i->visible.key.share, i->visible.key.uid);
    if (!share)
        return NOT_HERE;
    i->member = true;
    int rc = shmemi_share_look_up(share, &i->visible.key, &i->visible.record);
    if (rc == 0 && shmemi_key_is_orphaned(&i->visible.record)) /* but a guest may have it */
        rc = NOT_HERE;
    else if (rc == 0 && (rc = check_grant(i)) == 0)
        rc = use_own(i, share);
    shmemi_share_let_go(share);
    return rc;
}

/* --- from what this process holds ------------------------------------------------------------------------------------
 */

/* Under the lock. Each reference that it takes is given back by close. */
static int attach(struct import *i, struct shmemi_imported *segment, const struct shmemi_share_segment *info, int fd)
{
    enum shmemi_import_mode mode = i->visible.mode;
    if (mode != SHMEMI_IMPORT_READ && mode != SHMEMI_IMPORT_WRITE) {
        struct shmemi_share_segment s = *info;
        s.fd = fd;
        return fd < 0 ? NOT_HERE : map_copy(i, &s);
    }
    int rc = shmemi_view_get(segment, info, fd, &i->visible.record,
                             mode == SHMEMI_IMPORT_READ ? SHMEMI_READ_ONLY : SHMEMI_READ_WRITE, &i->view);
    if (rc == 0)
        settle_address(i, i->view->at + (i->visible.record.offset - i->view->window));
    return rc;
}

/* A key that holds, with the rights for it; or NULL, and then others are asked. */
static struct shmemi_known *find_known(const struct import *i, struct shmemi_imported **segment)
{
    struct shmemi_known *k = shmemi_known_find(&i->visible.key, &i->claims);
    if (!k || k->revoked || shmemi_share_check_mode(i->visible.mode, k->rights, 0) < 0)
        return NULL;
    *segment = shmemi_imported_find(k->key.share, k->key.uid, k->record.segment, 0);
    if (!*segment || !((*segment)->guest || i->member)) /* nobody would have told of its end */
        return NULL;
    return k;
}

static int open_known(struct import *i)
{
    struct shmemi_imported *segment = NULL;
    if (i->visible.mode == SHMEMI_IMPORT_ATOMIC)
        return NOT_HERE;
    shmemi_imports_lock();
    struct shmemi_known *k = find_known(i, &segment);
    int rc = NOT_HERE;
    if (k) {
        bool enough = i->visible.mode != SHMEMI_IMPORT_WRITE || !segment->read_only;
        i->visible.record = k->record;
        i->visible.rights = k->rights;
        rc = attach(i, segment, &segment->info, enough && fits(&segment->info, &k->record) ? segment->info.fd : -1);
    }
    if (rc == 0 && i->visible.mode != SHMEMI_IMPORT_SNAPSHOT) {
        i->known = k;
        i->segment = segment;
        k->refs++;
        segment->refs++;
    }
    shmemi_imports_unlock();
    return rc;
}

/* --- by asking -------------------------------------------------------------------------------------------------------
 */

/* What a server says is believed as far as it can be. */
static int check_answer(const struct import *i, const struct shmemi_share_answer *a, int fd, unsigned nfds)
{
    const struct shmemi_key_record *r = &a->record;
    struct shmemi_share_segment s = {.fd = fd, .window = a->window, .window_bytes = a->window_bytes};
    bool mapped = i->visible.mode != SHMEMI_IMPORT_ATOMIC;
    uint64_t end;
    if (!shmemi_tokens_equal(r->token, i->visible.key.token) || !shmemi_key_record_is_sound(r) ||
        a->rights & ~(uint32_t)SHMEMI_RIGHTS_ALL || nfds != mapped)
        return shmemi_fail(-EPROTO, "the server of the key sent a record that makes no sense");
    int rc = shmemi_share_check_mode(i->visible.mode, a->rights, (uint32_t)geteuid());
    if (rc < 0 || !mapped)
        return rc;
    if (__builtin_add_overflow(a->window, a->window_bytes, &end) || end > INT64_MAX || a->window % page_size() ||
        !fits(&s, r))
        return shmemi_fail(-EPROTO, "the server of the key sent a segment that does not contain what the key names");
    const struct shmemi_hal *hal = a->kind < SHMEMI_MEMORY_KINDS ? shmemi_hal(a->kind) : NULL;
    return hal ? check_handle(hal, fd, end, i->visible.key.uid)
               : shmemi_fail(-ENODEV, "the key is of a kind of memory that is not to be had here");
}

/* Whether the descriptor is of the segment that this process knows by that number. The first one says which that is. */
static bool is_of(struct shmemi_imported *segment, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return true;
    if (!segment->device && !segment->inode) {
        segment->device = st.st_dev;
        segment->inode = st.st_ino;
    }
    return segment->device == st.st_dev && segment->inode == st.st_ino;
}

/* The share was ended and another made under its name, while this process has imports of the first: a mapping of its
   own, which is not served on. */
static int map_apart(struct import *i, const struct shmemi_share_segment *s)
{
    enum shmemi_access access = i->visible.mode == SHMEMI_IMPORT_WRITE ? SHMEMI_READ_WRITE : SHMEMI_READ_ONLY;
    if (i->visible.mode == SHMEMI_IMPORT_COW)
        return map_copy(i, s);
    void *at = NULL;
    int rc = shmemi_hal(s->kind)->map(s->fd, s->window, s->window_bytes, access, NULL, &at);
    if (rc < 0)
        return rc;
    i->own = at;
    i->own_bytes = s->window_bytes;
    settle_address(i, (char *)at + (i->visible.record.offset - s->window));
    return 0;
}

/* Under the lock. *kept: the descriptor is the table's now. */
static int install(struct import *i, const struct shmemi_share_answer *a, int fd, bool *kept)
{
    const struct shmemi_key *key = &i->visible.key;
    struct shmemi_share_segment info = {
        .fd = fd, .window = a->window, .window_bytes = a->window_bytes, .kind = a->kind, .own = a->own != 0};
    i->segment = shmemi_imported_get(key->share, key->uid, a->record.segment, 0);
    if (i->segment && !is_of(i->segment, fd)) {
        shmemi_imported_put(i->segment); /* not the last */
        i->segment = NULL;
        return map_apart(i, &info);
    }
    i->known = i->segment ? shmemi_known_get(key, &i->claims) : NULL;
    if (!i->known)
        return shmemi_fail(-ENOMEM, "no memory for an import");
    i->known->record = a->record;
    i->known->rights = a->rights;
    i->known->revoked = false;
    int rc = attach(i, i->segment, &info, fd);
    if (rc == 0)
        *kept = shmemi_imported_keep(i->segment, &info, is_read_only(fd));
    return rc;
}

static int use_descriptor(struct import *i, const struct shmemi_share_answer *a, int fd)
{
    bool kept = false, serve = false;
    struct shmemi_share_segment info = {.fd = fd, .kind = a->kind};
    int rc = 0;
    if (i->visible.mode == SHMEMI_IMPORT_SNAPSHOT) /* holds nothing afterwards */
        rc = map_copy(i, &info);
    else {
        shmemi_imports_lock();
        rc = install(i, a, fd, &kept);
        serve = rc == 0 && i->segment && i->segment->info.fd >= 0 && !i->segment->guest;
        shmemi_imports_unlock();
    }
    if (!kept)
        close(fd);
    if (serve)
        shmemi_guest_serve(i->visible.key.share, i->visible.key.uid, a->record.segment);
    return rc;
}

/* A guest will need the service thread: it starts while the server is waking up. */
static void start_service(void *held)
{
    if (!*(bool *)held)
        *(bool *)held = shmemi_service_hold() == 0; /* else serving says why */
}

static int take_answer(struct import *i, const struct shmemi_share_answer *a, int fds[2], unsigned nfds)
{
    int rc = check_answer(i, a, fds[0], nfds);
    if (rc < 0) {
        while (nfds)
            close(fds[--nfds]);
        return rc;
    }
    i->visible.record = a->record;
    i->visible.rights = a->rights;
    i->visible.bytes = a->record.bytes;
    return nfds ? use_descriptor(i, a, fds[0]) : 0;
}

static int open_asked(struct import *i)
{
    struct shmemi_share_request request = shmemi_share_request(SHMEMI_SHARE_IMPORT, &i->visible.key, &i->claims);
    struct shmemi_share_answer a;
    int fds[2];
    unsigned nfds = 0;
    request.mode = i->visible.mode;
    bool held = false;
    const struct shmemi_meanwhile start = {.call = start_service, .context = &held};
    bool serves = request.mode != SHMEMI_IMPORT_SNAPSHOT && request.mode != SHMEMI_IMPORT_ATOMIC;
    int rc = shmemi_fork_watch(NULL);
    if (rc == 0)
        rc = shmemi_share_ask(&request, true, serves ? &start : NULL, &a, fds, &nfds);
    if (rc == 0)
        rc = take_answer(i, &a, fds, nfds);
    if (held)
        shmemi_service_unhold();
    return rc;
}

/* --- open and close --------------------------------------------------------------------------------------------------
 */

int shmemi_import_open(const char *text, enum shmemi_import_mode mode, const struct shmemi_import_claims *claims,
                       struct shmemi_import **out)
{
    struct shmemi_key key;
    int rc = shmemi_key_parse(text, &key);
    if (rc < 0)
        return rc;
    struct import *i = malloc(sizeof *i); /* the record is filled by who knows it: no need to clear a kilobyte */
    if (!i)
        return shmemi_fail(-ENOMEM, "no memory for an import");
    i->visible.address = NULL;
    i->visible.bytes = 0;
    i->visible.rights = 0;
    i->visible.mode = mode;
    i->visible.key = key;
    i->claims = claims ? *claims : (struct shmemi_import_claims){0};
    i->direct = i->own = NULL;
    i->segment = NULL;
    i->known = NULL;
    i->view = NULL;
    i->member = false;
    rc = open_own(i);
    if (rc == NOT_HERE)
        rc = open_known(i);
    if (rc == NOT_HERE)
        rc = open_asked(i);
    if (rc < 0)
        shmemi_import_close(&i->visible);
    else
        *out = &i->visible;
    return rc;
}

void shmemi_import_close(struct shmemi_import *import)
{
    struct import *i = (struct import *)import;
    if (!i)
        return;
    if (i->own)
        munmap(i->own, i->own_bytes);
    if (i->segment) {
        shmemi_imports_lock();
        shmemi_view_put(i->segment, i->view);
        shmemi_known_put(i->known);
        bool end = shmemi_imported_put(i->segment);
        shmemi_imports_unlock();
        if (end)
            shmemi_guest_end_unused();
    }
    free(i);
}

/* --- atomics ---------------------------------------------------------------------------------------------------------
 */

static int ask_atomic(const struct import *i, enum shmemi_atomic op, unsigned width, uint64_t offset, uint64_t operand,
                      uint64_t compare, uint64_t *before)
{
    struct shmemi_share_request r = shmemi_share_request(SHMEMI_SHARE_ATOMIC, &i->visible.key, &i->claims);
    struct shmemi_share_answer a;
    int fds[2];
    unsigned nfds = 0;
    r.op = op;
    r.width = width;
    r.offset = offset;
    r.operand = operand;
    r.compare = compare;
    int rc = shmemi_share_ask(&r, false, NULL, &a, fds, &nfds);
    while (nfds)
        close(fds[--nfds]);
    if (rc == 0)
        *before = a.before;
    return rc;
}

/* A member that reads only has it mapped for writing all the same, by its share. The lock keeps that mapped: whoever
   frees it waits for the lock (shmemi_service_settle()). */
static int do_as_member(const struct import *i, enum shmemi_atomic op, unsigned width, uint64_t offset,
                        uint64_t operand, uint64_t compare, uint64_t *before)
{
    const struct shmemi_key_record *r = &i->visible.record;
    struct shmemi_share *share = shmemi_share_hold(i->visible.key.share, i->visible.key.uid);
    if (!share)
        return NOT_HERE;
    const struct shmemi_share_config *c = shmemi_share_config(share);
    void *at = NULL;
    int rc = NOT_HERE;
    shmemi_imports_lock();
    if (i->segment->serial == shmemi_share_serial(share) && c->memory &&
        c->memory(c->context, r->segment, r->offset + offset, width, &at) == 0) {
        *before = shmemi_share_do_atomic(at, op, width, operand, compare);
        rc = 0;
    }
    shmemi_imports_unlock();
    shmemi_share_let_go(share);
    return rc;
}

int shmemi_import_atomic(struct shmemi_import *import, enum shmemi_atomic op, unsigned width, uint64_t offset,
                         uint64_t operand, uint64_t compare, uint64_t *before)
{
    const struct import *i = (const struct import *)import;
    bool copy = import->mode == SHMEMI_IMPORT_COW || import->mode == SHMEMI_IMPORT_SNAPSHOT;
    uint64_t was = 0;
    int rc = shmemi_share_check_place(&import->record, width, offset);
    if (rc == 0 && !copy) /* with a copy of its own it may do what it likes */
        rc = shmemi_share_check_atomic(op, import->rights, (uint32_t)geteuid());
    if (rc < 0)
        return rc;
    if (i->direct)
        was = shmemi_share_do_atomic((char *)i->direct + offset, op, width, operand, compare);
    else {
        rc = i->segment && i->segment->serial ? do_as_member(i, op, width, offset, operand, compare, &was) : NOT_HERE;
        if (rc == NOT_HERE)
            rc = ask_atomic(i, op, width, offset, operand, compare, &was);
    }
    if (rc == 0 && before)
        *before = was;
    return rc;
}
