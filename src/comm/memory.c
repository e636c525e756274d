// SPDX-License-Identifier: Apache-2.0
// Every allocation is one exchange: it tells whether all PEs asked for the same, whether all of them had room, and is
// the barrier that the standard wants.
#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "await.h"
#include "base/compiler.h"
#include "exchange.h"
#include "export.h"
#include "job/heap.h"
#include "job/parts.h"
#include "job/statics.h"
#include "order.h"

enum operation { ALLOCATE = 1, RESIZE, FREE };
static const char *const verbs[] = {"another collective", "an allocation", "a reallocation", "a free"};

/* What each PE publishes. */
struct request {
    uint32_t operation;
    int32_t rc; /* of the local part */
    uint64_t offset, size, align;
    char text[SHMEMI_PUBLISH_BYTES - 32];
};
_Static_assert(sizeof(struct request) == SHMEMI_PUBLISH_BYTES, "one publication");

static int differ(int pe, const struct request *theirs, const struct request *mine)
{
    const char *verb = theirs->operation <= FREE ? verbs[theirs->operation] : "something else";
    return shmemi_fail(-EINVAL,
                       "PE %d asks for %s of %zu bytes (alignment %zu, at offset %zu), but PE %d for %s of %zu bytes "
                       "(alignment %zu, at offset %zu): all PEs must make the same calls in the same order",
                       shmemi_current->me, verbs[mine->operation], (size_t)mine->size, (size_t)mine->align,
                       (size_t)mine->offset, pe, verb, (size_t)theirs->size, (size_t)theirs->align,
                       (size_t)theirs->offset);
}

/* Compares requests and results of all PEs; the first PE that failed speaks for all. */
static int agree(const struct request *mine)
{
    struct request theirs;
    int rc = shmemi_exchange(mine, sizeof *mine);
    for (int pe = 0; rc == 0 && pe < shmemi_current->n; pe++) {
        memcpy(&theirs, shmemi_published(pe), sizeof theirs);
        theirs.text[sizeof theirs.text - 1] = 0;
        if (theirs.operation != mine->operation || theirs.size != mine->size || theirs.align != mine->align ||
            (mine->operation != ALLOCATE && theirs.offset != mine->offset))
            return differ(pe, &theirs, mine);
        if (theirs.rc < 0 && mine->rc < 0)
            rc = mine->rc; /* its own text is whole */
        else if (theirs.rc < 0)
            rc = shmemi_fail(theirs.rc, "PE %d: %s%s", pe, theirs.text,
                             strlen(theirs.text) + 1 < sizeof theirs.text ? "" : " ...");
        else if (theirs.offset != mine->offset && mine->rc >= 0)
            return differ(pe, &theirs, mine);
    }
    return rc;
}

static void note_failure(struct request *r, int rc)
{
    r->rc = rc;
    if (rc < 0) {
        snprintf(r->text, sizeof r->text, "%.*s", (int)sizeof r->text - 1, shmemi_last_error());
    }
}

static int need_job(void)
{
    return shmemi_current->n ? 0 : shmemi_fail(-EPERM, "called %s", shmemi_no_job());
}

/* Whether the arguments make sense; the same on every PE, so nobody has to ask the others. */
static int check_align(size_t align)
{
    if (align & (align - 1))
        return shmemi_fail(-EINVAL, "alignment is %zu, which is no power of two", align);
    if (align > (2u << 20))
        return shmemi_fail(-ENOMEM, "alignment is %zu, but at most 2 MiB are possible", align);
    return 0;
}

int shmemi_allocate(size_t size, size_t align, long hints, void **out)
{
    (void)hints; /* placement hints: every block has cache lines of its own already */
    *out = NULL;
    int rc = need_job();
    if (rc < 0 || (rc = check_align(align)) < 0 || size == 0)
        return rc;
    size_t offset = 0;
    rc = shmemi_heap_find(size, align, &offset);
    struct request mine = {.operation = ALLOCATE, .size = size, .align = align, .offset = offset};
    note_failure(&mine, rc);
    if ((rc = agree(&mine)) < 0)
        return rc;
    shmemi_heap_take(size, align, offset);
    *out = shmemi_current->heap + offset;
    return 0;
}

int shmemi_release(void *block)
{
    const struct shmemi_job *job = shmemi_current;
    int rc = need_job();
    if (rc < 0 || !block)
        return rc;
    size_t size = shmemi_heap_block_size(block);
    if (!size)
        return shmemi_fail(
            -EINVAL, "%p is not the beginning of an allocated block of the symmetric heap (freed already, perhaps)",
            block);
    struct request mine = {.operation = FREE, .size = size, .offset = (uintptr_t)block - (uintptr_t)job->heap};
    shmemi_quiet();
    if ((rc = agree(&mine)) < 0)
        return rc;
    shmemi_job_forget_heap(mine.offset, size);
    shmemi_heap_give(mine.offset);
    return 0;
}

/* What the standard answers with NULL stays NULL; a mistake of the program ends the job. */
static void *or_null(const char *fn, int rc, void *block)
{
    if (rc < 0 && rc != -ENOMEM)
        shmemi_require(fn, rc);
    if (rc < 0)
        shmemi_fail_in(rc, "%s", fn);
    return rc < 0 ? NULL : block;
}

void *shmemi_heap_alloc(const char *fn, size_t size, size_t align, long hints)
{
    void *block = NULL;
    int rc = shmemi_allocate(size, align, hints, &block);
    return or_null(fn, rc, block);
}

void *shmemi_heap_calloc(const char *fn, size_t count, size_t size)
{
    size_t bytes;
    void *block = NULL;
    int rc = shmemi_mul_overflows(count, size, &bytes)
                 ? shmemi_fail(-ENOMEM, "count %zu times size %zu is more than an address space", count, size)
                 : shmemi_allocate(bytes, 0, 0, &block);
    if (rc < 0 || !block)
        return or_null(fn, rc, NULL);
    memset(block, 0, bytes);
    shmemi_require(fn, shmemi_exchange(NULL, 0)); /* nobody may put before everybody has cleared */
    return block;
}

void shmemi_heap_free(const char *fn, void *block)
{
    shmemi_require(fn, shmemi_release(block));
}

static int resize(void *block, size_t old, size_t size, void **out)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset = (uintptr_t)block - (uintptr_t)job->heap;
    struct request mine = {.operation = RESIZE, .size = size, .offset = offset};
    int rc = shmemi_heap_resize(offset, size);
    note_failure(&mine, rc);
    int agreed = agree(&mine);
    if (agreed < 0 && rc > 0)
        shmemi_heap_resize(offset, old);
    *out = block;
    if (agreed < 0 || rc > 0) /* whether it fits in place is the same on every PE */
        return agreed;
    if ((rc = shmemi_allocate(size, 0, 0, out)) < 0)
        return rc;
    memcpy(*out, block, old < size ? old : size);
    return shmemi_release(block);
}

void *shmemi_heap_realloc(const char *fn, void *block, size_t size)
{
    shmemi_require(fn, need_job());
    if (!block)
        return shmemi_heap_alloc(fn, size, 0, 0);
    if (!size) {
        shmemi_heap_free(fn, block);
        return NULL;
    }
    size_t old = shmemi_heap_block_size(block);
    if (!old)
        shmemi_die(fn, "%p is not the beginning of an allocated block of the symmetric heap (freed already, perhaps)",
                   block);
    void *moved = NULL;
    int rc = resize(block, old, size, &moved);
    return or_null(fn, rc, moved);
}

static bool in_range(const void *address, const void *base, size_t bytes)
{
    return (uintptr_t)address - (uintptr_t)base < bytes;
}

int shmemi_address_accessible(const void *address, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    return pe >= 0 && pe < job->n &&
           (in_range(address, job->heap, job->heap_used) ||
            in_range(address, job->parts->static_data, job->parts->static_bytes));
}

void *shmemi_address_ptr(const void *address, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (!shmemi_address_accessible(address, pe))
        return NULL;
    if (in_range(address, job->heap, job->heap_used))
        return job->window + (size_t)pe * job->stride + ((uintptr_t)address - (uintptr_t)job->heap);
    char *view;
    if (shmemi_statics_view(pe, &view) < 0)
        return NULL;
    return view + ((uintptr_t)address - (uintptr_t)job->parts->static_data);
}
