// SPDX-License-Identifier: Apache-2.0
// This PE's own regions: registering, the directory that peers read, and the end of all regions with the job.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/log.h"
#include "device/device.h"
#include "export.h"
#include "hal/hal.h"
#include "job/heap.h"
#include "job/message.h"
#include "job/statics.h"
#include "job/wireup.h"
#include "peer_files.h"
#include "region.h"

_Static_assert(sizeof((struct shmemi_region_entry){0}.key) >= SHMEMI_KEY_TEXT, "a key fits");

enum { ENTRIES_A_STEP = 256 }; /* directory entries whose pages are taken at a time: 64 KiB */

struct shmemi_region_entry *shmemi_region_entry(int pe, uint64_t number)
{
    const struct shmemi_job *job = shmemi_current;
    char *directory = (char *)job->control + shmemi_directory_offset(job->n, pe);
    return (struct shmemi_region_entry *)(void *)directory + number % SHMEMI_REGIONS_LIVE;
}

/* --- the process's regions as a whole ---------------------------------------------------------------------------- */

static void unlink_own(struct shmemi_regions *all, struct shmemi_region *r)
{
    if (r->previous)
        r->previous->next = r->next;
    else
        all->own = r->next;
    if (r->next)
        r->next->previous = r->previous;
}

static void end_one(struct shmemi_region *r);

/* At the end of the job. Memory that was moved becomes private again; views of peers' memory stay as they are, because
   arrays may still lie in them. */
static void forget(struct shmemi_region *r)
{
    if (r->import)
        shmemi_device_import_close(r->import);
    free(r->at);
    free(r);
}

static void end_regions(struct shmemi_job *job)
{
    struct shmemi_regions *all = job->parts->regions;
    while (all->own) {
        struct shmemi_region *r = all->own;
        unlink_own(all, r);
        if (shmemi_handle_take_soon(r->self)) /* else a thread hangs in a call with it, and it stays as it is */
            end_one(r);
    }
    shmemi_handles_end(all->handles, forget);
    shmemi_peer_files_close(all->files, job->n);
    job->parts->regions = NULL;
    free(all);
}

/* Pieces of an own region beyond those in its entry, for a peer that asks the service thread. */
static bool more_pieces(struct shmemi_job *job, uint64_t number, uint32_t first, struct shmemi_message *reply)
{
    struct shmemi_regions *all = __atomic_load_n(&job->parts->regions, __ATOMIC_ACQUIRE); /* [regions] */
    const size_t most = sizeof reply->text / sizeof(struct shmemi_piece);
    if (!all)
        return false;
    pthread_mutex_lock(&all->lock);
    struct shmemi_region *r = all->own;
    while (r && r->number != number)
        r = r->next;
    if (r && first < r->piece_count) {
        size_t count = r->piece_count - first < most ? r->piece_count - first : most;
        memcpy(reply->text, r->pieces + first, count * sizeof *r->pieces);
        reply->count = (int32_t)count;
    }
    pthread_mutex_unlock(&all->lock);
    return r != NULL;
}

static int make_regions(struct shmemi_job_parts *parts)
{
    struct shmemi_regions *all = calloc(1, sizeof *all);
    if (!all)
        return shmemi_fail(-ENOMEM, "no memory for regions");
    int rc = shmemi_handles_get(&all->handles);
    if (rc == 0)
        rc = shmemi_peer_files_create(shmemi_current->n, &all->files);
    if (rc < 0) {
        free(all);
        return rc;
    }
    pthread_mutex_init(&all->lock, NULL);
    pthread_mutex_init(&all->files_lock, NULL);
    __atomic_store_n(&parts->more_pieces, more_pieces, __ATOMIC_RELAXED); /* [more] asked for by the service thread */
    parts->end_regions = end_regions;
    /* [regions] release: complete before it can be found; pairs with the acquires below, in more_pieces() and in
       handles.c. */
    __atomic_store_n(&parts->regions, all, __ATOMIC_RELEASE);
    return 0;
}

int shmemi_regions_get(struct shmemi_regions **out)
{
    const struct shmemi_job *job = shmemi_current;
    if (job->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    int rc = 0;
    if (!__atomic_load_n(&job->parts->regions, __ATOMIC_ACQUIRE)) { /* [regions] */
        pthread_mutex_lock(&job->parts->lock);
        if (!job->parts->regions)
            rc = make_regions(job->parts);
        pthread_mutex_unlock(&job->parts->lock);
    }
    *out = job->parts->regions;
    return rc;
}

/* --- registering -------------------------------------------------------------------------------------------------- */

static int check_attr(const void *address, size_t size, const shmemx_region_attr_t *attr)
{
    if (!address)
        return shmemi_fail(-EINVAL, "address is NULL");
    if (!size)
        return shmemi_fail(-EINVAL, "size is 0: a region has at least one byte");
    if ((uintptr_t)address + size < (uintptr_t)address)
        return shmemi_fail(-EINVAL, "size is %zu, which goes past the end of the address space from %p", size, address);
    if (attr->access & ~SHMEMX_REMOTE_ALL)
        return shmemi_fail(-EINVAL, "access is 0x%x, but only the bits of SHMEMX_REMOTE_ALL (0x%x) have a meaning",
                           attr->access, SHMEMX_REMOTE_ALL);
    if ((unsigned)attr->type > SHMEMX_BYTES)
        return shmemi_fail(-EINVAL, "type is %d, which is no shmemx_type_t", (int)attr->type);
    if (attr->name && (!*attr->name || strlen(attr->name) >= SHMEMI_NAME_BYTES))
        return shmemi_fail(-EINVAL, "name is '%.80s', but must have 1 to %d bytes", attr->name, SHMEMI_NAME_BYTES - 1);
    return 0;
}

/* In the symmetric heap there is nothing to move. Returns whether the range lies in it, or negative errno when it does
   so in part. */
static int in_heap(const void *address, size_t size, size_t *offset)
{
    const struct shmemi_job *job = shmemi_current;
    *offset = (uintptr_t)address - (uintptr_t)job->heap;
    if (*offset >= job->heap_size)
        return 0;
    size_t used = shmemi_heap_used(job);
    return *offset < used && size <= used - *offset
               ? 1
               : shmemi_fail(-EINVAL, "%zu bytes from %p go past what is allocated of the symmetric heap", size,
                             address);
}

/* Whether memory of that size at that address may be read by this process at all. */
static int probe(const void *address, size_t size)
{
    char byte;
    const char *ends[2] = {address, (const char *)address + size - 1};
    for (int i = 0; i < 2; i++) {
        int fds[2];
        if (pipe2(fds, O_CLOEXEC) < 0)
            return shmemi_fail_errno("pipe");
        ssize_t got = write(fds[1], ends[i], 1);
        if (got == 1 && read(fds[0], &byte, 1) != 1)
            got = -1;
        close(fds[0]);
        close(fds[1]);
        if (got != 1)
            return shmemi_fail(-EFAULT, "no memory is mapped at %p", (const void *)ends[i]);
    }
    return 0;
}

/* Memory of a device: peers map it by a key of its pool, which they find in the directory. */
static int expose_device(struct shmemi_region *r)
{
    struct shmemi_export what = {.rights = r->access & SHMEMX_REMOTE_WRITE ? SHMEMI_RIGHT_READ | SHMEMI_RIGHT_WRITE
                                                                           : SHMEMI_RIGHT_READ};
    r->kind = SHMEMX_KIND_DEVICE;
    r->guard = SHMEMX_GUARD_FULL;
    r->path = &shmemi_path_device;
    int rc = shmemi_device_pin(r->memory.base, r->size);
    if (rc == 0 && r->access && (rc = shmemi_device_export(r->memory.base, r->size, &what, r->key)) < 0)
        shmemi_device_unpin(r->memory.base);
    return rc;
}

static void unexpose_device(struct shmemi_region *r)
{
    struct shmemi_key key;
    if (*r->key && shmemi_key_parse(r->key, &key) == 0)
        shmemi_device_revoke(&key);
    shmemi_device_unpin(r->memory.base);
}

/* Makes the memory reachable and fills in how. */
static int expose(struct shmemi_region *r, bool move)
{
    size_t offset;
    if (shmemi_is_device(r->memory.base))
        return expose_device(r);
    int rc = in_heap(r->memory.base, r->size, &offset);
    if (rc < 0)
        return rc;
    r->guard = SHMEMX_GUARD_FULL; /* where nothing moves, nothing can be lost */
    if (rc == 1) {
        r->kind = SHMEMX_KIND_SYMMETRIC;
        r->offset = offset;
        return 0;
    }
    if (!move) {
        r->kind = SHMEMX_KIND_COPIED;
        return probe(r->memory.base, r->size);
    }
    struct shmemi_inplace *engine;
    enum shmemi_guard guard;
    r->kind = SHMEMX_KIND_MOVED;
    if ((rc = shmemi_inplace_engine(&engine)) < 0 ||
        (rc = shmemi_inplace_register(engine, r->memory.base, r->size, &r->pieces, &r->piece_count, &guard)) < 0)
        return rc;
    r->guard = (shmemx_guard_t)guard;
    return 0;
}

static void unexpose(struct shmemi_region *r, bool peers_mapped)
{
    struct shmemi_inplace *engine;
    if (r->kind == SHMEMX_KIND_DEVICE)
        unexpose_device(r);
    if (r->kind == SHMEMX_KIND_MOVED && shmemi_inplace_engine(&engine) == 0 &&
        shmemi_inplace_deregister(engine, r->pieces, r->piece_count, peers_mapped) < 0)
        shmemi_warn("comm", "region %llu: %s", (unsigned long long)r->number, shmemi_last_error());
    free(r->pieces);
    r->pieces = NULL;
}

/* Pages for the directory entry of the next number. */
static int take_entry(struct shmemi_regions *all, uint64_t number)
{
    const struct shmemi_job *job = shmemi_current;
    if (number < all->taken || all->taken == SHMEMI_REGIONS_LIVE)
        return 0;
    size_t bytes = ENTRIES_A_STEP * sizeof(struct shmemi_region_entry);
    size_t offset = shmemi_directory_offset(job->n, job->me) + all->taken * sizeof(struct shmemi_region_entry);
    int rc = shmemi_hal_host.reserve(job->parts->control_fd, offset, bytes);
    if (rc == 0)
        all->taken += ENTRIES_A_STEP;
    return rc;
}

static int check_place(const struct shmemi_regions *all, const struct shmemi_region *r)
{
    const struct shmemi_region_entry *e = shmemi_region_entry(r->owner, r->number);
    if (atomic_load_explicit(&e->state, memory_order_relaxed) == SHMEMI_REGION_LIVE) /* only this PE writes it */
        return shmemi_fail(-ENOSPC,
                           "region %llu of this PE is still registered, and a PE can have %d at once: deregister some",
                           (unsigned long long)(r->number - SHMEMI_REGIONS_LIVE), SHMEMI_REGIONS_LIVE);
    for (const struct shmemi_region *o = all->own; *r->name && o; o = o->next)
        if (!strcmp(o->name, r->name))
            return shmemi_fail(-EEXIST, "name is '%s', but region %llu of this PE has that name already", r->name,
                               (unsigned long long)o->number);
    return 0;
}

/* Writes the entry and then lets peers find it. */
static void publish(const struct shmemi_region *r)
{
    struct shmemi_slot *slot = &shmemi_current->slots[r->owner];
    struct shmemi_region_entry *e = r->entry;
    atomic_store_explicit(&e->number, 0, memory_order_relaxed); /* nobody may take the fields for the region before */
    atomic_thread_fence(memory_order_release);                  /* [region] pairs with the fence in open_found() */
    e->access = r->access;
    e->kind = (uint32_t)r->kind;
    e->guard = (uint32_t)r->guard;
    e->type = (uint32_t)r->type;
    e->pieces = (uint32_t)r->piece_count;
    e->address = r->kind == SHMEMX_KIND_SYMMETRIC ? r->offset : (uintptr_t)r->memory.base;
    e->size = r->size;
    memcpy(e->name, r->name, sizeof e->name);
    for (size_t i = 0; i < r->piece_count && i < SHMEMI_ENTRY_PIECES; i++)
        e->inline_pieces[i] = r->pieces[i];
    if (r->kind == SHMEMX_KIND_DEVICE)
        memcpy(e->key, r->key, sizeof r->key);
    atomic_store_explicit(&e->writes, 0, memory_order_relaxed); /* all ordered by `number` below */
    atomic_store_explicit(&e->reads, 0, memory_order_relaxed);
    atomic_store_explicit(&e->mapped, 0, memory_order_relaxed);
    atomic_store_explicit(&e->state, SHMEMI_REGION_LIVE, memory_order_relaxed);
    atomic_store_explicit(&e->number, r->number + 1,
                          memory_order_release); /* [region] pairs with the acquire in look() */
    atomic_store_explicit(&slot->regions, r->number + 1, memory_order_release); /* [region] likewise */
    /* [sleep] those who wait for a region look at the count after they have announced themselves. */
    atomic_fetch_add_explicit(&slot->regions_word, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&slot->regions_sleepers, memory_order_seq_cst))
        shmemi_futex_wake(&slot->regions_word, INT_MAX);
}

static int enter(struct shmemi_regions *all, struct shmemi_region *r, shmemx_region_t *out)
{
    r->number =
        atomic_load_explicit(&shmemi_current->slots[r->owner].regions, memory_order_relaxed); /* only this PE writes */
    int rc = take_entry(all, r->number);
    if (rc < 0 || (rc = check_place(all, r)) < 0 || (rc = shmemi_handle_new(r, out)) < 0)
        return rc;
    r->entry = shmemi_region_entry(r->owner, r->number);
    r->next = all->own;
    if (all->own)
        all->own->previous = r;
    all->own = r;
    publish(r);
    return 0;
}

int shmemi_region_register(void *address, size_t size, const shmemx_region_attr_t *attr, shmemx_region_t *out)
{
    static const shmemx_region_attr_t normal = SHMEMX_REGION_ATTR;
    attr = attr ? attr : &normal;
    struct shmemi_regions *all = NULL;
    int rc = shmemi_regions_get(&all);
    if (rc < 0 || (rc = check_attr(address, size, attr)) < 0)
        return rc;
    struct shmemi_region *r = calloc(1, sizeof *r);
    _Atomic(shmemx_region_t) *at = calloc((size_t)shmemi_current->n, sizeof *at);
    if (!r || !at) {
        free(r);
        free(at);
        return shmemi_fail(-ENOMEM, "no memory for a region");
    }
    *r = (struct shmemi_region){.owner = shmemi_current->me,
                                .path = &shmemi_path_direct,
                                .memory = {.base = address, .owner = shmemi_current->me},
                                .size = size,
                                .access = attr->access,
                                .type = attr->type,
                                .at = at};
    snprintf(r->name, sizeof r->name, "%s", attr->name ? attr->name : "");
    rc = expose(r, attr->move != 0);
    if (rc == 0) {
        pthread_mutex_lock(&all->lock);
        rc = enter(all, r, out);
        pthread_mutex_unlock(&all->lock);
        if (rc < 0)
            unexpose(r, false);
    }
    if (rc < 0) {
        free(r->at);
        free(r);
    }
    return rc;
}

/* The region is gone for peers, its memory private again. It is in no list any more. */
static void end_one(struct shmemi_region *r)
{
    struct shmemi_slot *slot = &shmemi_current->slots[r->owner];
    /* [gone] sequentially consistent beside `mapped`: a peer counts itself and then looks at the state, so either it
       sees the end or it is counted. */
    atomic_store_explicit(&r->entry->state, SHMEMI_REGION_GONE, memory_order_seq_cst);
    bool mapped = atomic_load_explicit(&r->entry->mapped, memory_order_seq_cst) != 0;
    /* [sleep] as in publish() */
    atomic_fetch_add_explicit(&slot->regions_word, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&slot->regions_sleepers, memory_order_seq_cst))
        shmemi_futex_wake(&slot->regions_word, INT_MAX);
    mapped |= shmemi_job_forget_region(r->number);
    unexpose(r, mapped);
    for (int pe = 0; pe < shmemi_current->n; pe++) {
        shmemx_region_t at = atomic_load_explicit(&r->at[pe], memory_order_acquire); /* [at] see shmemi_region_at() */
        if (at)
            shmemi_region_close(at);
    }
    free(r->at);
    free(r);
}

int shmemi_region_deregister(shmemx_region_t handle)
{
    struct shmemi_regions *all = NULL;
    struct shmemi_region *r;
    int rc = shmemi_regions_get(&all);
    if (rc < 0 || (rc = shmemi_handle_hold(handle, &r)) < 0)
        return rc;
    if (r->owner != shmemi_current->me || !r->at || !r->entry)
        rc = shmemi_fail(-EINVAL,
                         "region: it is one of PE %d or was not registered; its handle is closed, not deregistered",
                         r->owner);
    shmemi_handle_drop(handle);
    if (rc < 0)
        return rc;
    r = shmemi_handle_take(handle);
    if (!r)
        return shmemi_fail(-EINVAL, "region: another thread is deregistering it already");
    pthread_mutex_lock(&all->lock);
    unlink_own(all, r);
    pthread_mutex_unlock(&all->lock);
    end_one(r);
    return 0;
}
