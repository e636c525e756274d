// SPDX-License-Identifier: Apache-2.0
// A heap is made in three steps, and after each everybody hears of everybody: devices and sizes; a pool and its key;
// everybody's pool mapped here. So either all PEs have it or none does, and each can say which PE could not.
#include "device_heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/blocks.h"
#include "base/log.h"
#include "base/settings.h"
#include "exchange.h"
#include "hal/hal.h"
#include "order.h"

enum { UNIT = 2 << 20, NORMAL_MOST = 1 << 30, NORMAL_SHARE = 4 /* of what is free */ };

/* --- everybody hears of everybody --------------------------------------------------------------------------------- */

/* What a PE publishes in a step; the operations are none of another collective. */
enum { SURVEY = 81, POOL, MAP, WORDS };
enum { TEXT = SHMEMI_PUBLISH_BYTES - 16, PIECES = 6 /* of a message */ };
struct step {
    uint32_t operation, which;
    int32_t rc;
    uint32_t fallback; /* SURVEY: whether host memory may stand in */
    union {
        struct {
            uint8_t id[16];              /* of the device */
            uint64_t free_bytes, wanted; /* wanted: by the environment; 0: nothing is said */
        } survey;
        char text[TEXT]; /* POOL: the key; WORDS: a piece of a message */
    };
};
_Static_assert(sizeof(struct step) == SHMEMI_PUBLISH_BYTES && (int)SHMEMI_KEY_TEXT <= (int)TEXT, "one publication");

/* What PEs said in a step. */
struct meeting {
    int first;                      /* the first PE that failed; -1: none */
    int32_t codes[SHMEMI_PES_MOST]; /* 0, or why not */
    char own[TEXT * PIECES];        /* this PE's own text */
};

static struct step published(int pe)
{
    struct step s;
    memcpy(&s, shmemi_published(pe), sizeof s);
    return s;
}

static int other_call(int pe, const struct step *mine)
{
    return shmemi_fail(-EINVAL,
                       "PE %d makes a symmetric heap in memory of kind '%s', but PE %d makes another call, or one of "
                       "another kind: all PEs must make the same calls in the same order",
                       shmemi_current->me, shmemi_kind_name(mine->which), pe);
}

/* Publishes a step with its rc, whose text is this thread's last, and hears of the others. */
static int meet(struct step *mine, int rc, struct meeting *out)
{
    snprintf(out->own, sizeof out->own, "%s", rc < 0 ? shmemi_last_error() : "");
    out->first = -1;
    mine->rc = rc;
    rc = shmemi_exchange(mine, sizeof *mine);
    for (int pe = 0; rc == 0 && pe < shmemi_current->n; pe++) {
        const struct step theirs = published(pe);
        if (theirs.operation != mine->operation || theirs.which != mine->which)
            return other_call(pe, mine);
        out->codes[pe] = theirs.rc < 0 ? theirs.rc : 0;
        if (out->codes[pe] < 0 && out->first < 0)
            out->first = pe;
    }
    return rc;
}

/* The message of one PE, whole, on all. */
static int tell_all(int teller, char message[TEXT * PIECES])
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < PIECES; i++) {
        struct step s = {.operation = WORDS};
        memcpy(s.text, message + i * TEXT, TEXT);
        if ((rc = shmemi_exchange(&s, sizeof s)) == 0 && (s = published(teller)).operation == WORDS)
            memcpy(message + i * TEXT, s.text, TEXT);
    }
    message[TEXT * PIECES - 1] = 0;
    return rc;
}

/* Who failed beside the first. */
static void name_others(const struct meeting *m, char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (int pe = m->first + 1; pe < shmemi_current->n && used + 32 < size; pe++)
        if (m->codes[pe] < 0)
            used += (size_t)snprintf(out + used, size - used, used ? ", PE %d" : "; nor can PE %d", pe);
}

/* After a step that somebody failed in: the first speaks for all. */
static int speak_for_all(struct meeting *m)
{
    char others[256];
    name_others(m, others, sizeof others);
    int rc = tell_all(m->first, m->own);
    return rc < 0 ? rc : shmemi_fail(m->codes[m->first], "PE %d: %s%s", m->first, m->own, others);
}

/* --- devices and sizes -------------------------------------------------------------------------------------------- */

/* Which device this PE uses, and what it has. */
static int look(struct shmemi_kind *kind, struct step *out)
{
    const struct shmemi_device_hal *hal = NULL;
    struct shmemi_device_info info;
    int count = 0, rc = shmemi_device_open_driver(shmemi_kind_name(kind->which), &hal, &count);
    if (rc < 0)
        return rc;
    if (kind->number < 0)
        kind->number = shmemi_current->me % count;
    if (kind->number >= count)
        return shmemi_fail(-ENODEV, "there is no %s device %d: this process sees %d, counted from 0", hal->maker,
                           kind->number, count);
    if ((rc = hal->describe(kind->number, &info)) < 0)
        return rc;
    if (info.way == SHMEMI_WAY_NONE && shmemi_current->n > 1)
        return shmemi_device_alone(hal, kind->number, &info);
    memcpy(out->survey.id, info.id, sizeof info.id);
    out->survey.free_bytes = info.free_bytes;
    return 0;
}

static int survey(struct shmemi_kind *kind, struct step *out)
{
    const char *text = shmemi_setting("SHMEM_DEVICE_HEAP_SIZE");
    size_t wanted = 0;
    int rc = text ? shmemi_parse_size("SHMEM_DEVICE_HEAP_SIZE", text, &wanted) : 0;
    if (rc < 0)
        return rc;
    if (text && !wanted)
        return shmemi_fail(-EINVAL, "SHMEM_DEVICE_HEAP_SIZE is '%s', but a heap has at least one byte", text);
    out->survey.wanted = wanted;
    return look(kind, out);
}

/* This PE's share of a quarter of what is free on its device, which others may share. */
static size_t share_of(int pe)
{
    const struct step s = published(pe);
    size_t users = 0;
    for (int i = 0; i < shmemi_current->n; i++)
        users += !memcmp(published(i).survey.id, s.survey.id, sizeof s.survey.id);
    return s.survey.free_bytes / NORMAL_SHARE / users;
}

/* The same on all PEs: what the environment says, or the least of their shares. */
static int choose_size(size_t *out)
{
    size_t least = NORMAL_MOST;
    const struct step first = published(0);
    for (int pe = 0; pe < shmemi_current->n; pe++) {
        uint64_t wanted = published(pe).survey.wanted;
        if (wanted != first.survey.wanted)
            return shmemi_fail(
                -EINVAL,
                "SHMEM_DEVICE_HEAP_SIZE is %zu bytes on PE 0, but %zu on PE %d: it must be the same on all "
                "PEs (0 stands for unset)",
                (size_t)first.survey.wanted, (size_t)wanted, pe);
        size_t share = share_of(pe);
        least = share < least ? share : least;
    }
    *out = first.survey.wanted ? shmemi_round_up(first.survey.wanted, UNIT) : least / UNIT * UNIT;
    return *out ? 0
                : shmemi_fail(-ENOMEM, "a quarter of what is free on the devices is not enough for a heap of 2 MiB for "
                                       "each PE: set SHMEM_DEVICE_HEAP_SIZE");
}

/* Whether host memory takes the place: all PEs say so, and what failed is that there is no such memory. */
static bool may_stand_in(const struct meeting *m)
{
    for (int pe = 0; pe < shmemi_current->n; pe++)
        if (!published(pe).fallback || (m->codes[pe] < 0 && m->codes[pe] != -ENODEV && m->codes[pe] != -ENOTSUP))
            return false;
    return true;
}

/* 0, or 1 when host memory stands in. */
static int agree_on_size(struct shmemi_kind *kind, size_t *size)
{
    struct meeting m;
    struct step mine = {.operation = SURVEY, .which = kind->which};
    bool fallback = false;
    int rc = shmemi_hal_fallback(&fallback);
    if (rc == 0)
        rc = survey(kind, &mine);
    mine.fallback = fallback;
    if ((rc = meet(&mine, rc, &m)) < 0)
        return rc;
    if (m.first < 0)
        return choose_size(size);
    bool stand_in = may_stand_in(&m);
    rc = speak_for_all(&m);
    if (!stand_in || rc != m.codes[m.first])
        return rc;
    if (shmemi_current->me == 0 && shmemi_hal_fallback_untold(shmemi_kind_name(kind->which)))
        shmemi_warn("heap", "SHMEM_DEVICE_FALLBACK=host: host memory in place of kind '%s': %s",
                    shmemi_kind_name(kind->which), shmemi_last_error());
    return 1;
}

/* --- a pool, and everybody's mapped ------------------------------------------------------------------------------- */

static int import_one(struct shmemi_device_heap *heap, int pe, const char *key)
{
    struct shmemi_device_import **import = &heap->imports[pe];
    int rc = shmemi_device_import(key, SHMEMI_IMPORT_WRITE, NULL, heap->kind.number, import);
    if (rc == -ENOTSUP) /* this PE's device cannot reach it: copies go by way of the host */
        rc = shmemi_device_import(key, SHMEMI_IMPORT_WRITE, NULL, -1, import);
    if (rc < 0)
        return shmemi_fail_in(rc, "the heap of PE %d", pe);
    heap->views[pe] = (*import)->address; /* of the anchor, which is at the beginning */
    return 0;
}

static int import_all(struct shmemi_device_heap *heap, const char (*keys)[SHMEMI_KEY_TEXT])
{
    const struct shmemi_job *job = shmemi_current;
    int rc = 0;
    for (int k = 1; rc == 0 && k < job->n; k++) { /* everybody begins elsewhere */
        int pe = (job->me + k) % job->n;
        rc = import_one(heap, pe, keys[pe]);
    }
    return rc;
}

static void unmap(struct shmemi_device_heap *heap, int n)
{
    for (int pe = 0; heap->imports && pe < n; pe++)
        if (heap->imports[pe] && shmemi_device_import_close(heap->imports[pe]) == 0)
            heap->imports[pe] = NULL;
}

static void destroy(struct shmemi_device_heap *heap, int n)
{
    unmap(heap, n);
    if (heap->pool && shmemi_device_pool_retire(heap->pool) < 0)
        shmemi_warn("heap", "the symmetric heap on a device stays: %s", shmemi_last_error());
    shmemi_live_destroy(heap->live);
    free(heap->views);
    free(heap->imports);
    free(heap);
}

static int make_pool(struct shmemi_device_heap *heap, char key[SHMEMI_KEY_TEXT])
{
    const struct shmemi_job *job = shmemi_current;
    heap->views = calloc((size_t)job->n, sizeof *heap->views);
    heap->imports = calloc((size_t)job->n, sizeof *heap->imports);
    if (job->parts->checked)
        heap->live = shmemi_live_create();
    if (!heap->views || !heap->imports || (job->parts->checked && !heap->live))
        return shmemi_fail(-ENOMEM, "no private memory for the records of a symmetric heap");
    int rc = shmemi_device_heap_create(shmemi_kind_name(heap->kind.which), heap->kind.number, heap->size, &heap->pool,
                                       job->n > 1 ? key : NULL);
    if (rc == 0)
        heap->views[job->me] = heap->base = shmemi_device_heap_base(heap->pool);
    return rc == -ENOMEM ? shmemi_fail_in(rc, "set SHMEM_DEVICE_HEAP_SIZE lower") : rc;
}

static int agree_on_pools(struct shmemi_device_heap *heap, char (*keys)[SHMEMI_KEY_TEXT])
{
    struct meeting m;
    struct step mine = {.operation = POOL, .which = heap->kind.which};
    int rc = make_pool(heap, mine.text);
    if ((rc = meet(&mine, rc, &m)) < 0)
        return rc;
    if (m.first >= 0)
        return speak_for_all(&m);
    for (int pe = 0; pe < shmemi_current->n; pe++) {
        const struct step theirs = published(pe);
        memcpy(keys[pe], theirs.text, SHMEMI_KEY_TEXT);
        keys[pe][SHMEMI_KEY_TEXT - 1] = 0;
    }
    return 0;
}

/* When somebody could not, all have unmapped what they had before anybody frees its own. */
static int agree_on_maps(struct shmemi_device_heap *heap, const char (*keys)[SHMEMI_KEY_TEXT])
{
    struct meeting m;
    struct step mine = {.operation = MAP, .which = heap->kind.which};
    int rc = import_all(heap, keys);
    if ((rc = meet(&mine, rc, &m)) < 0 || m.first < 0)
        return rc;
    unmap(heap, shmemi_current->n);
    return speak_for_all(&m);
}

static int fill(struct shmemi_device_heap *heap)
{
    char(*keys)[SHMEMI_KEY_TEXT] = malloc((size_t)shmemi_current->n * sizeof *keys);
    int rc = keys ? agree_on_pools(heap, keys) : shmemi_fail(-ENOMEM, "no private memory for a symmetric heap");
    if (rc == 0)
        rc = agree_on_maps(heap, (const char(*)[SHMEMI_KEY_TEXT])keys);
    free(keys);
    return rc;
}

static void end_heaps(struct shmemi_job *job)
{
    for (uint32_t which = 0; which < SHMEMI_KINDS; which++) {
        struct shmemi_device_heap *heap = atomic_load_explicit(&job->parts->device_heaps[which], memory_order_acquire);
        atomic_store_explicit(&job->parts->device_heaps[which], NULL, memory_order_relaxed); /* nobody looks any more */
        if (heap)
            destroy(heap, job->n);
    }
}

int shmemi_device_heap_make(struct shmemi_kind kind)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    struct shmemi_device_heap *heap = calloc(1, sizeof *heap);
    size_t size = 0;
    if (!heap)
        return shmemi_fail(-ENOMEM, "no private memory for a symmetric heap");
    int rc = agree_on_size(&kind, &size);
    if (rc == 0) {
        heap->kind = kind;
        heap->size = size;
        rc = fill(heap);
    }
    if (rc) {
        parts->stands_in[kind.which] = rc > 0;
        destroy(heap, shmemi_current->n);
        return rc < 0 ? shmemi_fail_in(rc, "no symmetric heap in memory of kind '%s'", shmemi_kind_name(kind.which))
                      : 0;
    }
    parts->end_device_heaps = end_heaps;
    /* [device-heap] release pairs with the acquire of whoever finds it: all of it is written. */
    atomic_store_explicit(&parts->device_heaps[kind.which], heap, memory_order_release);
    shmemi_debug("heap", "a symmetric heap of %zu bytes on %s device %d", size, shmemi_kind_name(kind.which),
                 kind.number);
    return 0;
}

int shmemi_device_heaps_unmap(void)
{
    bool any = false;
    for (uint32_t which = 0; which < SHMEMI_KINDS; which++) {
        struct shmemi_device_heap *heap = shmemi_device_heap(which);
        int rc = heap && !any ? shmemi_exchange(NULL, 0) : 0; /* nobody copies any more */
        if (rc < 0)
            return rc;
        any |= heap != NULL;
        if (heap)
            unmap(heap, shmemi_current->n);
    }
    return 0;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

struct shmemi_device_heap *shmemi_device_heap_holding(const void *address, size_t *offset)
{
    for (uint32_t which = 1; which < SHMEMI_KINDS; which++) {
        struct shmemi_device_heap *heap = shmemi_device_heap(which);
        if (!heap)
            continue;
        *offset = (uintptr_t)address - (uintptr_t)heap->base;
        if (*offset < heap->size)
            return heap;
    }
    return NULL;
}

/* [used] relaxed: whoever uses a block got it after it was allocated, and that after this. */
static void note_use(struct shmemi_device_heap *heap, size_t offset, size_t size)
{
    if (offset + size > atomic_load_explicit(&heap->used, memory_order_relaxed))
        atomic_store_explicit(&heap->used, offset + size, memory_order_relaxed);
    if (heap->live)
        shmemi_live_note(heap->live, offset, size);
}

int shmemi_device_block_find(struct shmemi_device_heap *heap, size_t size, size_t align, size_t *offset)
{
    int rc = shmemi_device_heap_find(heap->pool, size, align, offset);
    return rc == 0 && heap->live ? shmemi_live_reserve(heap->live) : rc;
}

void shmemi_device_block_take(struct shmemi_device_heap *heap, size_t size, size_t align, size_t offset)
{
    shmemi_device_heap_take(heap->pool, size, align, offset);
    note_use(heap, offset, size);
}

int shmemi_device_block_resize(struct shmemi_device_heap *heap, size_t offset, size_t size)
{
    int done = shmemi_device_heap_resize(heap->pool, offset, size);
    if (done)
        note_use(heap, offset, size);
    return done;
}

void shmemi_device_block_give(struct shmemi_device_heap *heap, size_t offset)
{
    if (heap->live)
        shmemi_live_note(heap->live, offset, 0);
    if (shmemi_device_free(heap->pool, heap->base + offset) < 0)
        shmemi_warn("heap", "%s", shmemi_last_error());
}
