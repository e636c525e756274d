// SPDX-License-Identifier: Apache-2.0
// Every allocation is one exchange: it tells whether all PEs asked for the same, whether all of them had room, and is
// the barrier that the standard wants.
#include "memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "await.h"
#include "base/compiler.h"
#include "base/log.h"
#include "device_heap.h"
#include "exchange.h"
#include "export.h"
#include "job/heap.h"
#include "job/parts.h"
#include "job/statics.h"
#include "order.h"

enum operation { ALLOCATE = 1, ALLOCATE_ZEROS, RESIZE, FREE, CLEAR, MOVE };
static const char *const verbs[] = {"", "allocates", "allocates zeros", "reallocates", "frees", "clears", "moves"};

/* Who asks; told to the others by its place here. */
static const char *const calls[] = {"",
                                    "shmem_malloc",
                                    "shmem_malloc_with_hints",
                                    "shmem_align",
                                    "shmem_calloc",
                                    "shmem_realloc",
                                    "shmem_free",
                                    "shmalloc",
                                    "shmemalign",
                                    "shrealloc",
                                    "shfree",
                                    "shmemx_malloc",
                                    "shmemx_malloc_kind",
                                    "shmemx_align_kind",
                                    "shmemx_calloc_kind",
                                    "shmemx_free"};
enum { CALLS = sizeof calls / sizeof *calls };

/* What each PE publishes. */
struct request {
    uint8_t operation, call; /* enum operation, and of calls[] */
    uint16_t kind;           /* of memory */
    int32_t rc;              /* of the local part */
    uint64_t offset, size, align;
    char text[SHMEMI_PUBLISH_BYTES - 32];
};
_Static_assert(sizeof(struct request) == SHMEMI_PUBLISH_BYTES, "one publication");

static uint8_t number_of(const char *call)
{
    for (unsigned i = 1; call && i < CALLS; i++)
        if (!strcmp(call, calls[i]))
            return (uint8_t)i;
    return 0;
}

/* "calls shmem_calloc(64 bytes, alignment 0, at offset 128)". What is no such request says nothing but that. */
static void describe(const struct request *r, bool with_kind, char *out, size_t size)
{
    const char *call = r->call < CALLS ? calls[r->call] : "";
    if (!r->operation || r->operation > MOVE) {
        snprintf(out, size, "makes another call (a barrier, another collective, or the end)");
        return;
    }
    snprintf(out, size, "%s%s(%zu bytes%s%s, alignment %zu, at offset %zu)", *call ? "calls " : verbs[r->operation],
             call, (size_t)r->size, with_kind ? " of kind " : "", with_kind ? shmemi_kind_name(r->kind) : "",
             (size_t)r->align, (size_t)r->offset);
}

static int differ(int pe, const struct request *theirs, const struct request *mine)
{
    char own[200], others[200];
    bool kinds = theirs->kind != mine->kind;
    describe(mine, kinds, own, sizeof own);
    describe(theirs, kinds, others, sizeof others);
    return shmemi_fail(-EINVAL, "PE %d %s, but PE %d %s: all PEs must make the same calls in the same order",
                       shmemi_current->me, own, pe, others);
}

/* Who says aloud that the last allocation failed: PE 0 where all PEs fail alike, else those that do. */
static _Thread_local bool speaks;

static void choose_speaker(const struct request *mine)
{
    struct request theirs;
    bool all = true;
    for (int pe = 0; all && pe < shmemi_current->n; pe++) {
        memcpy(&theirs, shmemi_published(pe), sizeof theirs);
        all = theirs.rc < 0;
    }
    speaks = all ? shmemi_current->me == 0 : mine->rc < 0;
}

/* Compares requests and results of all PEs; the first PE that failed speaks for all. */
static int agree(const struct request *mine)
{
    struct request theirs;
    int rc = shmemi_exchange(mine, sizeof *mine);
    for (int pe = 0; rc == 0 && pe < shmemi_current->n; pe++) {
        memcpy(&theirs, shmemi_published(pe), sizeof theirs);
        theirs.text[sizeof theirs.text - 1] = 0;
        if (theirs.operation != mine->operation || theirs.kind != mine->kind || theirs.size != mine->size ||
            theirs.align != mine->align || (mine->operation > ALLOCATE_ZEROS && theirs.offset != mine->offset))
            return differ(pe, &theirs, mine);
        if (theirs.rc < 0 && mine->rc < 0)
            rc = mine->rc; /* its own text is whole */
        else if (theirs.rc < 0)
            rc = shmemi_fail(theirs.rc, "PE %d: %s%s", pe, theirs.text,
                             strlen(theirs.text) + 1 < sizeof theirs.text ? "" : " ...");
        else if (theirs.offset != mine->offset && mine->rc >= 0)
            return differ(pe, &theirs, mine);
    }
    if (rc < 0)
        choose_speaker(mine);
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

/* --- a heap, of whichever memory ---------------------------------------------------------------------------------- */

/* heap NULL: the one in host memory. */

static int find_block(struct shmemi_device_heap *heap, size_t size, size_t align, size_t *offset)
{
    return heap ? shmemi_device_block_find(heap, size, align, offset) : shmemi_heap_find(size, align, offset);
}

static void take_block(struct shmemi_device_heap *heap, size_t size, size_t align, size_t offset)
{
    if (heap)
        shmemi_device_block_take(heap, size, align, offset);
    else
        shmemi_heap_take(size, align, offset);
}

static int resize_block(struct shmemi_device_heap *heap, size_t offset, size_t size)
{
    return heap ? shmemi_device_block_resize(heap, offset, size) : shmemi_heap_resize(offset, size);
}

static void give_block(struct shmemi_device_heap *heap, size_t offset, size_t size)
{
    if (heap) {
        shmemi_device_block_give(heap, offset);
        return;
    }
    shmemi_job_forget_heap(offset, size);
    shmemi_heap_give(offset);
}

/* A block by its address: which heap it is in. Its size, or 0: no block begins there. */
static size_t look_up(const void *block, struct shmemi_device_heap **heap, size_t *offset)
{
    *heap = shmemi_device_heap_holding(block, offset);
    if (*heap)
        return shmemi_device_heap_block_size((*heap)->pool, *offset);
    *offset = (uintptr_t)block - (uintptr_t)shmemi_current->heap;
    return shmemi_heap_block_size(block);
}

static uint16_t kind_of(const struct shmemi_device_heap *heap)
{
    return heap ? (uint16_t)heap->kind.which : SHMEMI_KIND_HOST;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

/* mine: operation, call, size and align. rc: negative when this PE cannot, which the others hear. */
static int allocate(struct shmemi_device_heap *heap, int rc, struct request mine, void **out)
{
    size_t offset = 0;
    if (rc == 0)
        rc = find_block(heap, mine.size, mine.align, &offset);
    mine.kind = kind_of(heap);
    mine.offset = offset;
    note_failure(&mine, rc);
    shmemi_quiet(); /* as every barrier of the standard's */
    if ((rc = agree(&mine)) < 0)
        return rc;
    take_block(heap, mine.size, mine.align, offset);
    *out = (heap ? heap->base : shmemi_current->heap) + offset;
    return 0;
}

static struct request request(enum operation operation, const char *fn, size_t size, size_t align)
{
    return (struct request){.operation = (uint8_t)operation, .call = number_of(fn), .size = size, .align = align};
}

int shmemi_allocate(size_t size, size_t align, void **out)
{
    *out = NULL;
    int rc = need_job();
    return rc < 0 || (rc = check_align(align)) < 0 || size == 0
               ? rc
               : allocate(NULL, 0, request(ALLOCATE, NULL, size, align), out);
}

/* The heap of a kind, made at its first use; *heap NULL: in host memory. */
static int heap_of(struct shmemi_kind kind, struct shmemi_device_heap **heap)
{
    const struct shmemi_job_parts *parts = shmemi_current->parts;
    *heap = NULL;
    if (kind.which == SHMEMI_KIND_HOST || parts->stands_in[kind.which])
        return 0;
    int rc = shmemi_device_heap(kind.which) ? 0 : shmemi_device_heap_make(kind);
    if (rc == 0)
        *heap = shmemi_device_heap(kind.which);
    return rc;
}

/* A PE has one heap of a type. */
static int check_number(const struct shmemi_device_heap *heap, int number)
{
    return !heap || number < 0 || number == heap->kind.number
               ? 0
               : shmemi_fail(
                     -EINVAL,
                     "kind is '%s:%d', but this PE's heap of that type is on device %d, and it has one of a type",
                     shmemi_kind_name(heap->kind.which), number, heap->kind.number);
}

static int allocate_kind(struct shmemi_kind kind, struct request wish, void **out)
{
    struct shmemi_device_heap *heap;
    *out = NULL;
    int rc = need_job();
    if (rc < 0 || (rc = check_align(wish.align)) < 0 || wish.size == 0 || (rc = heap_of(kind, &heap)) < 0)
        return rc;
    return allocate(heap, check_number(heap, kind.number), wish, out);
}

int shmemi_allocate_kind(const char *fn, struct shmemi_kind kind, size_t size, size_t align, void **out)
{
    return allocate_kind(kind, request(ALLOCATE, fn, size, align), out);
}

int shmemi_kind_of_name(const char *name, struct shmemi_kind *out)
{
    int rc = need_job();
    if (rc == 0 && (!name || !strcmp(name, "default")))
        *out = shmemi_current->parts->kind;
    else if (rc == 0)
        rc = shmemi_kind_parse("kind", name, out);
    return rc;
}

static int no_block(const void *block)
{
    return shmemi_fail(
        -EINVAL, "%p is not the beginning of an allocated block of the symmetric heap (freed already, perhaps)", block);
}

int shmemi_release(const char *fn, void *block)
{
    struct shmemi_device_heap *heap;
    size_t offset;
    int rc = need_job();
    if (rc < 0 || !block)
        return rc;
    size_t size = look_up(block, &heap, &offset);
    if (!size)
        return no_block(block);
    struct request mine = request(FREE, fn, size, 0);
    mine.kind = kind_of(heap);
    mine.offset = offset;
    note_failure(&mine, heap ? shmemi_device_heap_may_free(heap->pool, offset) : 0);
    shmemi_quiet();
    if ((rc = agree(&mine)) < 0)
        return rc;
    give_block(heap, offset, size);
    return 0;
}

/* A program that looks at NULL alone cannot say why, so this does: once, or each time with SHMEM_DEBUG. */
static void say_why(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    bool checked = shmemi_current->parts->checked;
    if (speaks && (!atomic_flag_test_and_set(&said) || checked)) /* pairs with nothing: only one finds it unset */
        shmemi_warn("heap", "%s; NULL is returned%s", shmemi_last_error(),
                    checked ? "" : " (said once; with SHMEM_DEBUG=1 each time)");
}

/* What the standard answers with NULL stays NULL; a mistake of the program ends the job. */
static void *or_null(const char *fn, int rc, void *block)
{
    if (rc >= 0)
        return block;
    if (rc != -ENOMEM)
        shmemi_require(fn, rc);
    shmemi_fail_in(rc, "%s", fn);
    say_why();
    return NULL;
}

/* Where a block goes for which nothing is said but hints: what is to be changed atomically or waited for has to be in
   host memory. */
static struct shmemi_kind usual_kind(long hints)
{
    static const struct shmemi_kind host = {SHMEMI_KIND_HOST, -1};
    return hints || shmemi_current->n == 0 ? host : shmemi_current->parts->kind;
}

void *shmemi_heap_alloc(const char *fn, size_t size, size_t align, long hints)
{
    void *block = NULL;
    speaks = shmemi_current->me == 0;
    int rc = shmemi_allocate_kind(fn, usual_kind(hints), size, align, &block);
    return or_null(fn, rc, block);
}

int shmemi_allocate_zeros(const char *fn, struct shmemi_kind kind, size_t count, size_t size, void **out)
{
    size_t bytes, offset;
    *out = NULL;
    if (shmemi_mul_overflows(count, size, &bytes))
        return shmemi_fail(-ENOMEM, "count %zu times size %zu is more than an address space", count, size);
    int rc = allocate_kind(kind, request(ALLOCATE_ZEROS, fn, bytes, 0), out);
    if (rc < 0 || !*out)
        return rc;
    struct shmemi_device_heap *heap = shmemi_device_heap_holding(*out, &offset);
    struct request mine = request(CLEAR, fn, bytes, 0);
    mine.kind = kind_of(heap);
    if (heap)
        note_failure(&mine, shmemi_device_clear(*out, bytes));
    else
        memset(*out, 0, bytes);
    if ((rc = agree(&mine)) == 0) /* nobody may put before everybody has cleared */
        return 0;
    give_block(heap, heap ? offset : (size_t)((char *)*out - shmemi_current->heap), bytes);
    *out = NULL;
    return rc;
}

void *shmemi_heap_calloc(const char *fn, size_t count, size_t size)
{
    void *block = NULL;
    speaks = shmemi_current->me == 0;
    int rc = shmemi_allocate_zeros(fn, usual_kind(0), count, size, &block);
    return or_null(fn, rc, block);
}

void shmemi_heap_free(const char *fn, void *block)
{
    shmemi_require(fn, shmemi_release(fn, block));
}

/* A block elsewhere, with the contents. When this PE cannot copy them, all keep the old one. */
static int move_block(const char *fn, struct shmemi_device_heap *heap, void *block, size_t old, size_t size, void **out)
{
    void *moved;
    int rc = allocate(heap, 0, request(ALLOCATE, fn, size, 0), &moved);
    if (rc < 0)
        return rc;
    struct request mine = request(MOVE, fn, size, 0);
    mine.kind = kind_of(heap);
    if (heap)
        note_failure(&mine, shmemi_device_copy(moved, block, old < size ? old : size));
    else
        memcpy(moved, block, old < size ? old : size);
    if (heap && (rc = agree(&mine)) < 0) {
        give_block(heap, (size_t)((char *)moved - heap->base), size);
        return rc;
    }
    *out = moved;
    return shmemi_release(fn, block);
}

static int resize(const char *fn, void *block, size_t size, void **out)
{
    struct shmemi_device_heap *heap;
    size_t offset, old = look_up(block, &heap, &offset);
    if (!old)
        return no_block(block);
    struct request mine = request(RESIZE, fn, size, 0);
    mine.kind = kind_of(heap);
    mine.offset = offset;
    shmemi_quiet();
    int rc = heap ? shmemi_device_heap_may_free(heap->pool, offset) : 0;
    if (rc == 0)
        rc = resize_block(heap, offset, size);
    note_failure(&mine, rc);
    int agreed = agree(&mine);
    if (agreed < 0 && rc > 0)
        resize_block(heap, offset, old);
    *out = block;
    if (agreed < 0 || rc > 0) /* whether it fits in place is the same on every PE */
        return agreed;
    return move_block(fn, heap, block, old, size, out);
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
    void *moved = NULL;
    speaks = shmemi_current->me == 0;
    int rc = resize(fn, block, size, &moved);
    return or_null(fn, rc, moved);
}

static bool in_range(const void *address, const void *base, size_t bytes)
{
    return (uintptr_t)address - (uintptr_t)base < bytes;
}

int shmemi_address_accessible(const void *address, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset;
    if (pe < 0 || pe >= job->n)
        return false;
    if (in_range(address, job->heap, shmemi_heap_used(job)) ||
        in_range(address, job->parts->static_data, job->parts->static_bytes))
        return true;
    struct shmemi_device_heap *heap = shmemi_device_heap_holding(address, &offset);
    return heap && offset < atomic_load_explicit(&heap->used, memory_order_relaxed); /* [used] */
}

void *shmemi_address_ptr(const void *address, int pe)
{
    const struct shmemi_job *job = shmemi_current;
    if (!shmemi_address_accessible(address, pe))
        return NULL;
    if (in_range(address, job->heap, shmemi_heap_used(job)))
        return job->window + (size_t)pe * job->stride + ((uintptr_t)address - (uintptr_t)job->heap);
    char *view;
    if (!in_range(address, job->parts->static_data, job->parts->static_bytes) || shmemi_statics_view(pe, &view) < 0)
        return NULL; /* memory of a device: no pointer of a CPU leads there */
    return view + ((uintptr_t)address - (uintptr_t)job->parts->static_data);
}
