// SPDX-License-Identifier: Apache-2.0
// Registering in place: regions in and out.
#include "map/inplace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "map/inplace_internal.h"
#include "map/raw.h"

/* An object that spans less keeps all its pages mixed: many small ones side by side then are one mapping.
   From this size on glibc's malloc maps a block of its own, and the three mappings of a moved one make a
   later mremap by realloc fail cleanly (it then copies). */
enum { SMALL = 128 << 10 };

struct range {
    uint64_t low, high;   /* addresses, whole pages */
    uint64_t first, last; /* the same as page numbers */
};

static int range_of(const struct shmemi_inplace *engine, uintptr_t address, size_t size, struct range *out)
{
    uintptr_t end;
    if (size == 0)
        return shmemi_fail(-EINVAL, "cannot register 0 bytes");
    if (__builtin_add_overflow(address, size, &end) || end > SHMEMI_EPOCH_STRIDE - engine->page)
        return shmemi_fail(-EINVAL, "%zu bytes from %#lx on end beyond the memory of a process", size,
                           (unsigned long)address);
    out->first = address / engine->page;
    out->last = (end + engine->page - 1) / engine->page;
    out->low = out->first * engine->page;
    out->high = out->last * engine->page;
    return 0;
}

/* A block that glibc's malloc has mapped by itself, of whatever size: it may grow by mremap, and its pages
   must not be one mapping of ours then. Before it stand the distance from the start of the mapping and the
   size, with bit 1 set. */
SHMEMI_NO_SANITIZER static bool is_mapped_block(const struct shmemi_inplace *engine, uintptr_t address)
{
    const size_t *block = (const size_t *)address; /* NOLINT: read only if its head is on the same page */
    if (address % sizeof(size_t) || address % engine->page < 2 * sizeof(size_t))
        return false;
    return block[-1] & 2 && (block[-2] + (block[-1] & ~(size_t)7)) % engine->page == 0;
}

/* Freed, this object's memory can come back as another object, also in a forked child, to whom it would then
   be shared with ours by accident. Not so if freeing unmaps it: then it is a mapped block, or begins a page,
   as what mmap returns does, outside the area that brk grows. */
static bool is_in_heap(const struct shmemi_inplace *engine, uintptr_t address)
{
    const uintptr_t far = (uintptr_t)1 << 40, end = (uintptr_t)sbrk(0);
    if (address < end && end - address < far)
        return true;
    return address % engine->page >= 2 * sizeof(size_t) && !is_mapped_block(engine, address);
}

static enum shmemi_page_kind wanted_kind(const struct range *range, bool small, uint64_t number)
{
    return small || number == range->first || number == range->last - 1 ? SHMEMI_PAGES_MIXED : SHMEMI_PAGES_WHOLE;
}

static bool is_moved(const struct shmemi_inplace *engine, uint64_t number)
{
    return shmemi_pages_at(&engine->pages, number)->flags & SHMEMI_PAGE_MOVED;
}

/* Brings in the pages of one mapping that are not moved yet, in runs of one kind. */
static int bring_in_span(struct shmemi_inplace *engine, const struct range *range, bool small,
                         const struct shmemi_span *span, enum shmemi_guard *guard)
{
    for (uint64_t number = span->first; number < span->last;) {
        if (is_moved(engine, number)) {
            number++;
            continue;
        }
        struct shmemi_run run = {.first = number,
                                 .kind = wanted_kind(range, small, number),
                                 .protection = span->protection,
                                 .anonymous = span->anonymous};
        while (number < span->last && !is_moved(engine, number) && wanted_kind(range, small, number) == run.kind)
            number++;
        run.last = number;
        int rc = shmemi_inplace_need_file(engine, run.kind);
        if (rc == 0)
            rc = shmemi_inplace_bring_in(engine, &run, guard);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int bring_in_all(struct shmemi_inplace *engine, const struct range *range, bool small, enum shmemi_guard *guard)
{
    int rc = 0;
    for (size_t i = 0; i < engine->spans.count && rc == 0; i++)
        rc = bring_in_span(engine, range, small, &engine->spans.list[i], guard);
    return rc;
}

static enum shmemi_page_kind kind_of_page(const struct shmemi_page *page)
{
    return page->flags & SHMEMI_PAGE_MIXED ? SHMEMI_PAGES_MIXED : SHMEMI_PAGES_WHOLE;
}

/* The range as pieces; with pieces NULL only their number. */
static size_t list_pieces(const struct shmemi_inplace *engine, const struct range *range, struct shmemi_piece *pieces)
{
    struct shmemi_piece piece = {0};
    size_t count = 0;
    for (uint64_t number = range->first; number < range->last; number++) {
        const struct shmemi_page *page = shmemi_pages_at(&engine->pages, number);
        uint64_t offset = shmemi_inplace_offset(engine, number, page);
        if (count == 0 || kind_of_page(page) != piece.kind || offset != piece.offset + piece.length) {
            piece =
                (struct shmemi_piece){.address = number * engine->page, .offset = offset, .kind = kind_of_page(page)};
            count++;
        }
        piece.length += engine->page;
        if (pieces)
            pieces[count - 1] = piece;
    }
    return count;
}

static int make_pieces(const struct shmemi_inplace *engine, const struct range *range, struct shmemi_piece **pieces_out,
                       size_t *count_out)
{
    size_t count = list_pieces(engine, range, NULL);
    struct shmemi_piece *pieces = malloc(count * sizeof *pieces);
    if (!pieces)
        return shmemi_fail(-ENOMEM, "no memory for the list of a region's pieces");
    list_pieces(engine, range, pieces);
    *pieces_out = pieces;
    *count_out = count;
    return 0;
}

static bool is_small(const struct shmemi_inplace *engine, const struct range *range, uintptr_t address)
{
    uint64_t pages = range->last - range->first;
    return pages < 3 || (pages * engine->page < SMALL && !is_mapped_block(engine, address));
}

static int register_range(struct shmemi_inplace *engine, const struct range *range, uintptr_t address,
                          struct shmemi_piece **pieces_out, size_t *count_out, enum shmemi_guard *guard)
{
    int rc = shmemi_pages_make(&engine->pages, range->first, range->last);
    if (rc == 0)
        rc = bring_in_all(engine, range, is_small(engine, range, address), guard);
    if (rc == 0)
        rc = make_pieces(engine, range, pieces_out, count_out);
    if (rc < 0)
        return rc;
    bool heap = is_in_heap(engine, address);
    for (uint64_t number = range->first; number < range->last; number++)
        shmemi_inplace_count_up(engine, shmemi_pages_at(&engine->pages, number), heap);
    return 0;
}

/* Gives back what a failed register has moved; the text that tells the cause stays. */
static void undo(struct shmemi_inplace *engine, const struct range *range)
{
    char cause[1024];
    snprintf(cause, sizeof cause, "%s", shmemi_last_error());
    shmemi_inplace_give_back(engine, range->first, range->last);
    shmemi_fail(0, "%s", cause);
}

int shmemi_inplace_register(struct shmemi_inplace *engine, void *address, size_t size, struct shmemi_piece **pieces_out,
                            size_t *count_out, enum shmemi_guard *guard_out)
{
    struct range range = {0};
    struct shmemi_turn turn;
    int rc = range_of(engine, (uintptr_t)address, size, &range);
    if (rc == 0)
        rc = shmemi_inplace_take_turn(engine, &turn);
    if (rc < 0)
        return rc;
    enum shmemi_guard guard = engine->guard.strength;
    rc = shmemi_inplace_survey(engine, range.low, range.high);
    if (rc == 0 && (rc = register_range(engine, &range, (uintptr_t)address, pieces_out, count_out, &guard)) < 0)
        undo(engine, &range);
    if (rc < 0)
        rc = shmemi_fail_in(rc, "cannot register %zu bytes at %p", size, address);
    shmemi_inplace_end_turn(engine, &turn);
    if (rc == 0)
        *guard_out = guard;
    return rc;
}

/* Counts one page of a region down: true if no region needs it any more. A page that was freed, and perhaps
   registered anew, since has another offset by now: not this region's any more. */
static bool release_page(struct shmemi_inplace *engine, const struct shmemi_piece *piece, uint64_t number,
                         bool peers_mapped)
{
    struct shmemi_page *page = shmemi_pages_at(&engine->pages, number);
    if (!page || !(page->flags & SHMEMI_PAGE_MOVED) || page->count == 0 || kind_of_page(page) != piece->kind ||
        shmemi_inplace_offset(engine, number, page) - piece->offset != number * engine->page - piece->address)
        return false;
    if (peers_mapped)
        page->flags |= SHMEMI_PAGE_EXPOSED;
    return --page->count == 0;
}

static int release_piece(struct shmemi_inplace *engine, const struct shmemi_piece *piece, bool peers_mapped)
{
    uint64_t first = piece->address / engine->page, last = (piece->address + piece->length) / engine->page;
    bool any = false;
    for (uint64_t number = first; number < last; number++)
        any |= release_page(engine, piece, number, peers_mapped);
    return any ? shmemi_inplace_give_back(engine, first, last) : 0;
}

int shmemi_inplace_deregister(struct shmemi_inplace *engine, const struct shmemi_piece *pieces, size_t count,
                              bool peers_mapped)
{
    struct shmemi_turn turn;
    int result = shmemi_inplace_take_turn(engine, &turn);
    if (result < 0)
        return result;
    for (size_t i = 0; i < count; i++) {
        int rc = release_piece(engine, &pieces[i], peers_mapped);
        if (rc < 0)
            result = shmemi_fail_in(rc, "memory at %#llx stays shared", (unsigned long long)pieces[i].address);
    }
    shmemi_inplace_end_turn(engine, &turn);
    return result;
}
