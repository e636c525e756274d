// SPDX-License-Identifier: Apache-2.0
// Regions of peers: finding them in the owner's directory and mapping them. What the directory says is checked before
// it is used.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "await.h"
#include "base/clock.h"
#include "hal/hal.h"
#include "names.h"
#include "peer_files.h"
#include "region.h"

/* A copy of an entry, so that what is checked is what is used. */
struct look {
    uint64_t number;
    uint32_t access, kind, guard, type, pieces;
    uint64_t address, size;
    char name[SHMEMI_NAME_BYTES];
    union {
        struct shmemi_piece inline_pieces[SHMEMI_ENTRY_PIECES];
        char key[sizeof(struct shmemi_piece) * SHMEMI_ENTRY_PIECES];
    };
};

/* Copies the entry if it is live and has that number. */
static bool look(const struct shmemi_region_entry *e, uint64_t number, struct look *out)
{
    /* [region] acquire pairs with the release in publish(): the rest of the entry is there. */
    if (atomic_load_explicit(&e->number, memory_order_acquire) != number + 1 ||
        atomic_load_explicit(&e->state, memory_order_acquire) != SHMEMI_REGION_LIVE)
        return false;
    *out = (struct look){.number = number,
                         .access = e->access,
                         .kind = e->kind,
                         .guard = e->guard,
                         .type = e->type,
                         .pieces = e->pieces,
                         .address = e->address,
                         .size = e->size};
    memcpy(out->name, e->name, sizeof out->name);
    out->name[sizeof out->name - 1] = 0;
    memcpy(out->inline_pieces, e->inline_pieces, sizeof out->inline_pieces);
    return true;
}

/* --- waiting until it is there ------------------------------------------------------------------------------------ */

struct search {
    int pe;
    const char *name; /* or by number: */
    uint64_t number;
    struct look found;
    bool gone; /* it will never be there */
    shmemx_region_t
        on_behalf; /* an own region that asks for the one that corresponds: ends the search when it ends; NULL */
    bool closing;
};

static bool by_name(struct search *s, uint64_t count)
{
    uint64_t first = count > SHMEMI_REGIONS_LIVE ? count - SHMEMI_REGIONS_LIVE : 0;
    for (uint64_t k = count; k-- > first;)
        if (look(shmemi_region_entry(s->pe, k), k, &s->found) && !strcmp(s->found.name, s->name))
            return true;
    return false;
}

static bool search_done(void *argument)
{
    struct search *s = argument;
    s->closing = s->on_behalf && shmemi_handle_closing(s->on_behalf);
    if (s->closing)
        return true;
    /* [region] acquire pairs with the release in publish(). */
    uint64_t count = atomic_load_explicit(&shmemi_current->slots[s->pe].regions, memory_order_acquire);
    if (s->name)
        return by_name(s, count);
    if (s->number >= count)
        return false;
    s->gone = !look(shmemi_region_entry(s->pe, s->number), s->number, &s->found);
    return true;
}

static int search(struct search *s, double timeout)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_slot *slot = &job->slots[s->pe];
    struct shmemi_await wait = {.done = search_done,
                                .argument = s,
                                .word = &slot->regions_word,
                                .sleepers = &slot->regions_sleepers,
                                .pe = s->pe,
                                .deadline = shmemi_deadline(timeout)};
    int rc = shmemi_await(&wait);
    if (rc == 0 && s->closing)
        return shmemi_fail(-ENOENT, "region: it was deregistered during the call");
    if (rc == 0 && s->gone)
        return shmemi_fail(-ENOENT, "region %llu of PE %d was deregistered", (unsigned long long)s->number, s->pe);
    if (rc == -ETIMEDOUT && s->name)
        return shmemi_fail(rc, "PE %d registered no region named '%s' within %g seconds", s->pe, s->name, timeout);
    if (rc == -ETIMEDOUT)
        return shmemi_fail(
            rc, "PE %d did not register its region %llu within %g seconds (it has registered %llu)", s->pe,
            (unsigned long long)s->number, timeout,
            (unsigned long long)atomic_load_explicit(&slot->regions, memory_order_relaxed)); /* for people */
    if (rc == -EOWNERDEAD)
        return shmemi_fail_in(rc, s->name ? "waiting for region '%s'" : "waiting for a region%s",
                              s->name ? s->name : "");
    return rc;
}

/* --- mapping -------------------------------------------------------------------------------------------------------
 */

static int impossible(int pe, const char *what)
{
    return shmemi_fail(-EPROTO, "the region directory of PE %d says something impossible (%s): it was overwritten", pe,
                       what);
}

/* The pieces are whole pages, follow one another, and hold the region. */
static int check_pieces(int pe, const struct look *l, const struct shmemi_piece *pieces)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t at = pieces[0].address, end;
    for (uint32_t i = 0; i < l->pieces; i++) {
        const struct shmemi_piece *p = &pieces[i];
        if (p->address != at || (p->address | p->length | p->offset) & (page - 1) || !p->length ||
            p->kind >= SHMEMI_PAGE_KINDS || p->offset > INT64_MAX - p->length ||
            __builtin_add_overflow(at, p->length, &at))
            return impossible(pe, "pieces");
    }
    if (__builtin_add_overflow(l->address, l->size, &end) || l->address < pieces[0].address || end > at)
        return impossible(pe, "range");
    return 0;
}

static int map_pieces(struct shmemi_regions *all, struct shmemi_region *r, const struct look *l,
                      const struct shmemi_piece *pieces)
{
    const struct shmemi_piece *last = &pieces[l->pieces - 1];
    size_t total = last->address + last->length - pieces[0].address;
    char *at = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return shmemi_fail_errno("mapping %zu bytes of PE %d", total, r->owner);
    enum shmemi_access access =
        r->owner == shmemi_current->me || l->access & (SHMEMX_REMOTE_WRITE | SHMEMX_REMOTE_ATOMIC) ? SHMEMI_READ_WRITE
                                                                                                   : SHMEMI_READ_ONLY;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < l->pieces; i++) {
        int fd = -1;
        void *mapped;
        pthread_mutex_lock(&all->files_lock);
        rc = shmemi_peer_file(all->files, r->owner,
                              pieces[i].kind == SHMEMI_PAGES_WHOLE ? SHMEMI_DESCRIPTOR_WHOLE : SHMEMI_DESCRIPTOR_MIXED,
                              &fd);
        pthread_mutex_unlock(&all->files_lock);
        if (rc == 0)
            rc = shmemi_hal_host.check(fd, pieces[i].offset + pieces[i].length);
        if (rc == 0)
            rc = shmemi_hal_host.map(fd, pieces[i].offset, pieces[i].length, access,
                                     at + (pieces[i].address - pieces[0].address), &mapped);
    }
    if (rc < 0) {
        munmap(at, total);
        return rc;
    }
    r->mapping = at;
    r->mapping_bytes = total;
    r->memory.base = at + (l->address - pieces[0].address);
    return 0;
}

static int map_moved(struct shmemi_regions *all, struct shmemi_region *r, const struct look *l)
{
    if (l->pieces < 1 || l->pieces > 1u << 20)
        return impossible(r->owner, "number of pieces");
    struct shmemi_piece *pieces = calloc(l->pieces, sizeof *pieces);
    if (!pieces)
        return shmemi_fail(-ENOMEM, "no memory to map a region");
    uint32_t here = l->pieces < SHMEMI_ENTRY_PIECES ? l->pieces : SHMEMI_ENTRY_PIECES;
    memcpy(pieces, l->inline_pieces, here * sizeof *pieces);
    int rc = here < l->pieces ? shmemi_ask_pieces(r->owner, l->number, here, l->pieces - here, pieces + here) : 0;
    if (rc == 0)
        rc = check_pieces(r->owner, l, pieces);
    if (rc == 0)
        rc = map_pieces(all, r, l, pieces);
    free(pieces);
    return rc;
}

/* Memory that could not move: copies through the kernel, if the kernel lets these two processes. */
static int reach_copied(struct shmemi_region *r, const struct look *l)
{
    int pid, rc = shmemi_ask_pid(r->owner, &pid);
    if (rc < 0)
        return rc;
    r->path = &shmemi_path_kernel;
    r->memory.pid = pid;
    r->memory.address = l->address;
    if ((rc = shmemi_path_probe_kernel(&r->memory)) < 0)
        return shmemi_fail_in(rc,
                              "region %llu of PE %d was registered without moving, and the kernel does not let this "
                              "process reach it (ptrace_scope, seccomp or another PID namespace; shmem.empty or "
                              "shmemx_malloc gives memory that all reach)",
                              (unsigned long long)l->number, r->owner);
    return 0;
}

/* Memory of a device. The key is checked by who opens it. */
static int reach_device(struct shmemi_region *r, const struct look *l)
{
    char key[SHMEMI_KEY_TEXT];
    memcpy(key, l->key, sizeof key);
    key[sizeof key - 1] = 0;
    enum shmemi_import_mode mode = l->access & SHMEMX_REMOTE_WRITE ? SHMEMI_IMPORT_WRITE : SHMEMI_IMPORT_READ;
    r->path = &shmemi_path_device;
    int rc = shmemi_device_import(key, mode, NULL, -1, &r->import);
    if (rc < 0)
        return shmemi_fail_in(rc, "region %llu of PE %d, which lies in memory of a device",
                              (unsigned long long)l->number, r->owner);
    if (r->import->bytes < l->size)
        return impossible(r->owner, "range");
    r->memory.base = r->import->address;
    return 0;
}

static int reach(struct shmemi_regions *all, struct shmemi_region *r, const struct look *l)
{
    const struct shmemi_job *job = shmemi_current;
    if (!r->access && r->owner != job->me)
        return 0; /* nobody else may touch it: a handle without memory, every use of which is refused */
    switch ((shmemx_kind_t)l->kind) {
    case SHMEMX_KIND_SYMMETRIC:
        if (l->address >= job->heap_size || l->size > job->heap_size - l->address)
            return impossible(r->owner, "range");
        r->offset = l->address;
        r->memory.base = job->window + (size_t)r->owner * job->stride + l->address;
        return 0;
    case SHMEMX_KIND_MOVED:
        return map_moved(all, r, l);
    case SHMEMX_KIND_COPIED:
        return reach_copied(r, l);
    case SHMEMX_KIND_DEVICE:
        return reach_device(r, l);
    }
    return impossible(r->owner, "kind");
}

static int open_found(struct shmemi_regions *all, int pe, const struct look *l, shmemx_region_t *out)
{
    struct shmemi_region *r = calloc(1, sizeof *r);
    if (!r)
        return shmemi_fail(-ENOMEM, "no memory for a region");
    *r = (struct shmemi_region){.owner = pe,
                                .path = &shmemi_path_direct,
                                .memory = {.owner = pe},
                                .number = l->number,
                                .entry = shmemi_region_entry(pe, l->number),
                                .size = l->size,
                                .access = l->access & SHMEMX_REMOTE_ALL,
                                .kind = (shmemx_kind_t)l->kind,
                                .guard = (shmemx_guard_t)l->guard,
                                .type = (shmemx_type_t)l->type};
    memcpy(r->name, l->name, sizeof r->name);
    /* [gone] counts itself before it looks at the state once more: see end_one(). [region] and what look() copied was
       of this region, if the number is still its own: pairs with the fence in publish(). */
    atomic_fetch_add_explicit(&r->entry->mapped, 1, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    int rc = shmemi_region_check(r);
    if (rc == 0)
        rc = reach(all, r, l);
    if (rc == 0)
        rc = shmemi_handle_new(r, out);
    if (rc < 0)
        shmemi_region_let_go(r);
    return rc;
}

static int check_pe(int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (pe >= 0 && pe < job->n)
        return 0;
    return shmemi_fail(-EINVAL, "pe is %d, but the job has PEs 0 to %d", pe, job->n - 1);
}

static int find(int pe, const char *name, uint64_t number, shmemx_region_t on_behalf, double timeout,
                shmemx_region_t *out)
{
    struct shmemi_regions *all = NULL;
    int rc = shmemi_regions_get(&all);
    if (rc < 0 || (rc = check_pe(pe)) < 0)
        return rc;
    struct search s = {.pe = pe, .name = name, .number = number, .on_behalf = on_behalf};
    if ((rc = search(&s, timeout)) < 0)
        return rc;
    return open_found(all, pe, &s.found, out);
}

int shmemi_region_find(int pe, const char *name, uint64_t number, double timeout, shmemx_region_t *out)
{
    return find(pe, name, number, NULL, timeout, out);
}

void shmemi_region_let_go(struct shmemi_region *r)
{
    if (r->mapping)
        munmap(r->mapping, r->mapping_bytes);
    if (r->import)
        shmemi_device_import_close(r->import);
    if (r->entry &&
        atomic_load_explicit(&r->entry->number, memory_order_relaxed) == r->number + 1) /* its own count still */
        /* [gone] release: what was done with the mapping is over; pairs with the look in end_one(). */
        atomic_fetch_sub_explicit(&r->entry->mapped, 1, memory_order_release);
    free(r);
}

/* --- corresponding regions ---------------------------------------------------------------------------------------- */

static int agree(const struct shmemi_region *mine, const struct shmemi_region *theirs)
{
    if (mine->size == theirs->size && mine->type == theirs->type)
        return 0;
    if (mine->size != theirs->size)
        return shmemi_fail(
            -EINVAL, "region %llu%s%s has %zu bytes on PE %d but %zu on PE %d: regions that correspond must agree",
            (unsigned long long)mine->number, *mine->name ? " named " : "", mine->name, mine->size, mine->owner,
            theirs->size, theirs->owner);
    return shmemi_fail(
        -EINVAL, "region %llu%s%s has elements of type %s on PE %d but %s on PE %d: regions that correspond must agree",
        (unsigned long long)mine->number, *mine->name ? " named " : "", mine->name,
        shmemi_type_name((unsigned)mine->type), mine->owner, shmemi_type_name((unsigned)theirs->type), theirs->owner);
}

static int symmetric_at(const struct shmemi_region *mine, int pe, shmemx_region_t *out)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_region *r = calloc(1, sizeof *r);
    if (!r)
        return shmemi_fail(-ENOMEM, "no memory for a region");
    *r = *mine;
    r->at = NULL;
    r->owner = r->memory.owner = pe;
    r->memory.base = job->window + (size_t)pe * job->stride + mine->offset;
    int rc = shmemi_handle_new(r, out);
    if (rc < 0)
        free(r);
    return rc;
}

static int find_at(struct shmemi_region *mine, int pe, double timeout, shmemx_region_t *out)
{
    if (!mine->entry)
        return symmetric_at(mine, pe, out);
    struct shmemi_region *theirs;
    int rc = find(pe, *mine->name ? mine->name : NULL, mine->number, mine->self, timeout, out);
    if (rc < 0 || (rc = shmemi_handle_hold(*out, &theirs)) < 0)
        return rc;
    rc = agree(mine, theirs);
    shmemi_handle_drop(*out);
    if (rc < 0)
        shmemi_region_close(*out);
    return rc;
}

/* A name can be registered again when its region has ended: then what is kept here is not asked any more. */
static void forget_ended(struct shmemi_region *mine, int pe)
{
    struct shmemi_region *theirs;
    shmemx_region_t found = atomic_load_explicit(&mine->at[pe], memory_order_acquire); /* [at] */
    if (!found || !*mine->name || shmemi_handle_hold(found, &theirs) < 0)
        return;
    bool ended = shmemi_region_check(theirs) == -ENOENT;
    shmemi_handle_drop(found);
    if (ended && atomic_compare_exchange_strong_explicit(&mine->at[pe], &found, NULL, memory_order_acq_rel,
                                                         memory_order_relaxed))
        shmemi_region_close(found);
}

int shmemi_region_at(struct shmemi_region *mine, int pe, double timeout, shmemx_region_t *out)
{
    int rc = check_pe(pe);
    if (rc < 0)
        return rc;
    if (!mine->at)
        return shmemi_fail(-EINVAL, "region: it is one of PE %d, but only an own region has others that correspond",
                           mine->owner);
    if (pe == mine->owner) {
        *out = mine->self;
        return 0;
    }
    forget_ended(mine, pe);
    /* [at] acquire pairs with the exchange below: the handle is complete. */
    shmemx_region_t found = atomic_load_explicit(&mine->at[pe], memory_order_acquire), none = NULL;
    if (!found) {
        if ((rc = find_at(mine, pe, timeout, &found)) < 0)
            return rc;
        if (!atomic_compare_exchange_strong_explicit(&mine->at[pe], &none, found, memory_order_acq_rel,
                                                     memory_order_acquire)) {
            shmemi_region_close(found); /* another thread was faster */
            found = none;
        }
    }
    *out = found;
    return 0;
}

int shmemi_region_symmetric(void *address, size_t size, shmemx_region_t *out)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_regions *all = NULL;
    int rc = shmemi_regions_get(&all);
    if (rc < 0)
        return rc;
    size_t offset = (uintptr_t)address - (uintptr_t)job->heap;
    if (!size || offset >= job->heap_used || size > job->heap_used - offset)
        return shmemi_fail(-EINVAL, "the %zu bytes at %p are not in what is allocated of this PE's symmetric heap",
                           size, address);
    struct shmemi_region *r = calloc(1, sizeof *r);
    _Atomic(shmemx_region_t) *at = calloc((size_t)job->n, sizeof *at);
    if (!r || !at) {
        free(r);
        free(at);
        return shmemi_fail(-ENOMEM, "no memory for a region");
    }
    *r = (struct shmemi_region){.owner = job->me,
                                .path = &shmemi_path_direct,
                                .memory = {.base = address, .owner = job->me},
                                .size = size,
                                .offset = offset,
                                .access = SHMEMX_REMOTE_ALL,
                                .kind = SHMEMX_KIND_SYMMETRIC,
                                .guard = SHMEMX_GUARD_FULL,
                                .type = SHMEMX_BYTES,
                                .at = at};
    if ((rc = shmemi_handle_new(r, out)) < 0) {
        free(at);
        free(r);
    }
    return rc;
}

int shmemi_region_close(shmemx_region_t handle)
{
    struct shmemi_region *r;
    int rc = shmemi_handle_hold(handle, &r);
    if (rc < 0)
        return rc;
    if (r->at && r->entry)
        rc = shmemi_fail(-EINVAL, "region: it is this PE's own; it is deregistered, not closed");
    shmemi_handle_drop(handle);
    if (rc < 0)
        return rc;
    r = shmemi_handle_take(handle);
    if (!r)
        return shmemi_fail(-EINVAL, "region: another thread is closing it already");
    for (int pe = 0; r->at && pe < shmemi_current->n; pe++) {
        shmemx_region_t at = atomic_load_explicit(&r->at[pe], memory_order_acquire); /* [at] */
        if (at)
            shmemi_region_close(at);
    }
    free(r->at);
    shmemi_region_let_go(r);
    return 0;
}
