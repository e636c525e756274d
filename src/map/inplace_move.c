// SPDX-License-Identifier: Apache-2.0
// Runs of pages into the files and back, a few MiB at a time: writers wait for one step only, and the memory
// needed besides is that of one step.
//
// Where a page was private, a mapping has its history: adjacent mappings merge only if they share it. So the
// emptied private mapping is not thrown away but waits at the *parking place* (its address with the top bit
// of user addresses flipped), and comes back when the page does. Otherwise each page that was ever given back
// would stay a mapping of its own, and a long-lived process would run into vm.max_map_count.
#include "map/inplace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/raw.h"
#include "map/window.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

enum { STEP = 8 << 20, SMALL_STEP = 64 << 10 };

uint64_t shmemi_inplace_offset(const struct shmemi_inplace *engine, uint64_t number, const struct shmemi_page *page)
{
    return number * engine->page + page->epoch * SHMEMI_EPOCH_STRIDE;
}

static int allocate(int file, uint64_t offset, size_t bytes)
{
    while (fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) < 0)
        if (errno != EINTR)
            return shmemi_fail(-ENOMEM, "no memory for %zu bytes of registered memory: %s", bytes, strerror(errno));
    return 0;
}

static void drop(int file, uint64_t offset, size_t bytes)
{
    if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) < 0)
        shmemi_warn("map", "%zu bytes of given-back memory stay in use: %s", bytes, strerror(errno));
}

static int ask(const struct shmemi_inplace *engine, size_t bytes)
{
    return engine->config.reserve ? engine->config.reserve(engine->config.context, bytes) : 0;
}

int shmemi_inplace_take_room(struct shmemi_inplace *engine, int file, uint64_t offset, size_t bytes)
{
    int rc = ask(engine, bytes);
    return rc < 0 ? rc : allocate(file, offset, bytes);
}

/* ---- in ---- */

/* Mappings at parking places are made and ended by bare calls: no tool that checks the program (a sanitizer)
   need know of them, and one of them takes the address as an error. */
static bool park_call(long number, uintptr_t park, size_t length, uintptr_t argument)
{
    return shmemi_raw(number, park, length, argument, 0, 0, 0) == 0;
}

/* Keeps the parking place of this range free for it: its address, or 0 if something is there. */
static uintptr_t reserve_park(const struct shmemi_inplace *engine, uintptr_t address, size_t length)
{
    uintptr_t wish = address ^ engine->flip;
    long got = shmemi_raw(SYS_mmap, wish, length, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, (uintptr_t)-1, 0);
    if ((uintptr_t)got == wish)
        return wish;
    if (got > 0) /* a kernel that does not know the flag */
        park_call(SYS_munmap, (uintptr_t)got, length, 0);
    return 0;
}

/* Frees the memory of a parked mapping. It was born under userfaultfd, so it merges with its neighbours only
   when the protection changes, which also keeps everybody out. */
static void park_emptied(uintptr_t park, size_t length)
{
    if (!park_call(SYS_madvise, park, length, MADV_DONTNEED)) {
        park_call(SYS_munlock, park, length, 0); /* it was locked in memory */
        park_call(SYS_madvise, park, length, MADV_DONTNEED);
    }
    park_call(SYS_mprotect, park, length, PROT_NONE);
}

static int window_failed(const struct shmemi_window *w, int rc)
{
    if (rc == -EBUSY)
        return shmemi_fail(rc, "%#lx-%#lx is under another userfaultfd of this process", (unsigned long)w->address,
                           (unsigned long)(w->address + w->length));
    return shmemi_fail(rc, "cannot move %#lx-%#lx: %s: %s (%s)%s", (unsigned long)w->address,
                       (unsigned long)(w->address + w->length), w->step, strerror(-rc), shmemi_errno_name(-rc),
                       rc == -ENOMEM ? "; the number of mappings may be at vm.max_map_count" : "");
}

static void note_moved(struct shmemi_inplace *engine, const struct shmemi_run *run, unsigned epoch, bool parked)
{
    uint8_t flags = SHMEMI_PAGE_MOVED;
    if (run->kind == SHMEMI_PAGES_MIXED)
        flags |= SHMEMI_PAGE_MIXED;
    if (parked)
        flags |= SHMEMI_PAGE_PARKED;
    for (uint64_t number = run->first; number < run->last; number++) {
        struct shmemi_page *page = shmemi_pages_at(&engine->pages, number);
        *page = (struct shmemi_page){.epoch = (uint16_t)epoch, .flags = flags};
    }
    if (run->kind == SHMEMI_PAGES_MIXED)
        engine->mixed += run->last - run->first;
}

/* One step of a run. */
static int bring_step(struct shmemi_inplace *engine, const struct shmemi_run *run, unsigned epoch)
{
    size_t length = (size_t)(run->last - run->first) * engine->page;
    struct shmemi_window w = {
        .address = (uintptr_t)(run->first * engine->page),
        .length = length,
        .protection = run->protection,
        .file = engine->files[run->kind],
        .offset = run->first * engine->page + epoch * SHMEMI_EPOCH_STRIDE,
        .guard = run->anonymous ? engine->guard.fd : -1,
    };
    int rc = shmemi_inplace_take_room(engine, w.file, w.offset, length);
    if (rc < 0)
        return rc;
    uintptr_t park = w.guard >= 0 ? reserve_park(engine, w.address, length) : 0;
    w.park = park;
    rc = shmemi_window_in(&w);
    if (rc < 0) {
        if (park)
            park_call(SYS_munmap, park, length, 0);
        drop(w.file, w.offset, length);
        return window_failed(&w, rc);
    }
    if (w.park && w.park == park)
        park_emptied(park, length);
    else if (w.park)
        park_call(SYS_munmap, w.park, length, 0);
    madvise((void *)w.address, length, MADV_POPULATE_READ); /* or each page would fault at its first use */
    note_moved(engine, run, epoch, park != 0);
    return 0;
}

static unsigned highest_epoch(const struct shmemi_inplace *engine, const struct shmemi_run *run)
{
    unsigned epoch = 0;
    for (uint64_t number = run->first; number < run->last; number++) {
        const struct shmemi_page *page = shmemi_pages_at(&engine->pages, number);
        if (page->epoch > epoch)
            epoch = page->epoch;
    }
    return epoch;
}

int shmemi_inplace_bring_in(struct shmemi_inplace *engine, const struct shmemi_run *run, enum shmemi_guard *guard_out)
{
    unsigned epoch = highest_epoch(engine, run); /* one for all, so that the run is one piece */
    if (epoch >= SHMEMI_EPOCHS)
        return shmemi_fail(-ENOSPC,
                           "the memory at %#llx was registered and given back %u times while peers kept "
                           "their mappings of it; register it once and keep it",
                           (unsigned long long)(run->first * engine->page), SHMEMI_EPOCHS);
    enum shmemi_guard guard = run->anonymous ? engine->guard.strength : SHMEMI_GUARD_NONE;
    if (guard < *guard_out)
        *guard_out = guard;
    struct shmemi_run step = *run;
    for (; step.first < run->last; step.first = step.last) {
        uint64_t most = step.first + STEP / engine->page;
        step.last = most < run->last ? most : run->last;
        int rc = bring_step(engine, &step, epoch);
        if (rc < 0)
            return rc;
    }
    return 0;
}

void shmemi_inplace_count_up(struct shmemi_inplace *engine, struct shmemi_page *page, bool heap)
{
    page->count++;
    if (!heap || page->flags & (SHMEMI_PAGE_MIXED | SHMEMI_PAGE_HEAP))
        return; /* mixed pages are no child's anyhow */
    page->flags |= SHMEMI_PAGE_HEAP;
    engine->heap++;
}

/* ---- back ---- */

static void note_private(struct shmemi_inplace *engine, struct shmemi_page *page, bool new_offset)
{
    if (page->flags & SHMEMI_PAGE_MIXED)
        engine->mixed--;
    if (page->flags & SHMEMI_PAGE_HEAP)
        engine->heap--;
    unsigned epoch = page->epoch + (new_offset || page->flags & SHMEMI_PAGE_EXPOSED ? 1u : 0u);
    *page = (struct shmemi_page){.epoch = (uint16_t)epoch};
}

static int file_of(const struct shmemi_inplace *engine, const struct shmemi_page *page)
{
    return engine->files[page->flags & SHMEMI_PAGE_MIXED ? SHMEMI_PAGES_MIXED : SHMEMI_PAGES_WHOLE];
}

static bool is_moved(const struct shmemi_page *page)
{
    return page && page->flags & SHMEMI_PAGE_MOVED;
}

/* Two moved pages of one kind and epoch, parked both or none: those between them too, they are one run. */
static bool alike(const struct shmemi_inplace *engine, uint64_t first, uint64_t number)
{
    const unsigned flags = SHMEMI_PAGE_MOVED | SHMEMI_PAGE_MIXED | SHMEMI_PAGE_PARKED;
    const struct shmemi_page *one = shmemi_pages_at(&engine->pages, first);
    const struct shmemi_page *other = shmemi_pages_at(&engine->pages, number);
    return other && other->epoch == one->epoch && (other->flags & flags) == (one->flags & flags);
}

static bool to_return(const struct shmemi_page *page)
{
    return is_moved(page) && page->count == 0;
}

/* Is any of these bytes of the file mapped somewhere? */
static bool mapped_anywhere(struct shmemi_inplace *engine, enum shmemi_page_kind kind, uint64_t offset, uint64_t bytes)
{
    struct shmemi_map map;
    bool found = false;
    shmemi_maps_rewind(&engine->maps);
    while (!found && shmemi_maps_next(&engine->maps, &map) > 0)
        found = shmemi_inplace_kind_of(engine, &map) == kind && map.offset < offset + bytes &&
                offset < map.offset + (map.end - map.start);
    shmemi_maps_rewind(&engine->maps);
    return found;
}

/* The pages [first, last) are alike. */
static void forget_run(struct shmemi_inplace *engine, uint64_t first, uint64_t last)
{
    const struct shmemi_page *page = shmemi_pages_at(&engine->pages, first);
    uint64_t offset = shmemi_inplace_offset(engine, first, page);
    size_t bytes = (size_t)(last - first) * engine->page;
    enum shmemi_page_kind kind = page->flags & SHMEMI_PAGE_MIXED ? SHMEMI_PAGES_MIXED : SHMEMI_PAGES_WHOLE;
    if (page->flags & SHMEMI_PAGE_PARKED)
        park_call(SYS_munmap, (uintptr_t)(first * engine->page ^ engine->flip), bytes, 0);
    if (!mapped_anywhere(engine, kind, offset, bytes))
        drop(engine->files[kind], offset, bytes);
    for (uint64_t number = first; number < last; number++)
        note_private(engine, shmemi_pages_at(&engine->pages, number), true);
}

void shmemi_inplace_forget(struct shmemi_inplace *engine, uint64_t first, uint64_t last)
{
    while (first < last) {
        uint64_t stop = first + 1;
        if (is_moved(shmemi_pages_at(&engine->pages, first))) {
            while (stop < last && alike(engine, first, stop))
                stop++;
            forget_run(engine, first, stop);
        }
        first = stop;
    }
}

/* A private, writable mapping to copy to: the parked one, else a new one. If there is none 0, with the
   text. */
static uintptr_t take_park(const struct shmemi_inplace *engine, const struct shmemi_window *w, bool parked)
{
    uintptr_t park = w->address ^ engine->flip;
    uintptr_t writable = (uintptr_t)(w->protection | PROT_WRITE);
    if (parked && park_call(SYS_mprotect, park, w->length, writable))
        return park;
    long fresh = shmemi_raw(SYS_mmap, 0, w->length, writable, MAP_PRIVATE | MAP_ANONYMOUS, (uintptr_t)-1, 0);
    if (fresh > 0)
        return (uintptr_t)fresh;
    shmemi_fail((int)fresh, "no mapping of %zu bytes to give memory back in: %s", w->length, strerror((int)-fresh));
    return 0;
}

/* Pages [first, last) of one file, one mapping, parked all or none, become private. */
static int return_step(struct shmemi_inplace *engine, uint64_t first, uint64_t last, int protection)
{
    const struct shmemi_page *page = shmemi_pages_at(&engine->pages, first);
    struct shmemi_window w = {
        .address = (uintptr_t)(first * engine->page),
        .length = (size_t)(last - first) * engine->page,
        .protection = protection,
        .file = file_of(engine, page),
        .offset = shmemi_inplace_offset(engine, first, page),
        .guard = engine->guard.fd,
    };
    bool parked = page->flags & SHMEMI_PAGE_PARKED;
    w.park = take_park(engine, &w, parked);
    if (!w.park)
        return -ENOMEM;
    int rc = shmemi_window_out(&w);
    if (rc < 0) {
        if (w.park == (w.address ^ engine->flip))
            park_emptied(w.park, w.length);
        else
            park_call(SYS_munmap, w.park, w.length, 0);
        return window_failed(&w, rc);
    }
    if (parked && w.park != (w.address ^ engine->flip))
        park_call(SYS_munmap, w.address ^ engine->flip, w.length, 0); /* the parked one could not be used */
    if (!(protection & PROT_WRITE))
        mprotect((void *)w.address, w.length, protection);
    drop(w.file, w.offset, w.length);
    for (uint64_t number = first; number < last; number++)
        note_private(engine, shmemi_pages_at(&engine->pages, number), false);
    return 0;
}

/* Where memory is short, in steps so small that each hardly takes more than it gives back. */
static int return_pages(struct shmemi_inplace *engine, uint64_t first, uint64_t last, int protection)
{
    uint64_t most = last - first, few = (SMALL_STEP + engine->page - 1) / engine->page;
    if (most > few && ask(engine, (size_t)most * engine->page) < 0)
        most = few;
    int result = 0;
    for (uint64_t stop; first < last; first = stop) {
        stop = last - first > most ? first + most : last;
        int rc = return_step(engine, first, stop, protection);
        if (rc < 0)
            result = rc;
    }
    return result;
}

/* How far from page `first` one parked mapping reaches: the place of several cannot be taken in one step. */
static uint64_t parked_until(struct shmemi_inplace *engine, uint64_t first, uint64_t last)
{
    const struct shmemi_page *page = shmemi_pages_at(&engine->pages, first);
    struct shmemi_map map;
    if (!(page->flags & SHMEMI_PAGE_PARKED) || last == first + 1)
        return last;
    uint64_t park = first * engine->page ^ engine->flip;
    if (shmemi_maps_find(&engine->maps, park, &map) != 1 || map.start > park)
        return first + 1;
    uint64_t end = first + (map.end - park) / engine->page;
    return end < last ? end : last;
}

/* The pages [first, last) are alike. Those that are still mapped from our file go back, and the others are
   forgotten. */
static int return_run(struct shmemi_inplace *engine, uint64_t first, uint64_t last)
{
    int result = 0;
    while (first < last) {
        struct shmemi_map map;
        int rc = shmemi_maps_find(&engine->maps, first * engine->page, &map);
        if (rc < 0)
            return rc;
        uint64_t start = rc ? map.start / engine->page : last, end = rc ? map.end / engine->page : last;
        const struct shmemi_page *page = shmemi_pages_at(&engine->pages, first);
        bool mapped = rc && start <= first && shmemi_inplace_is_ours(engine, &map) &&
                      map.offset + (first - start) * engine->page == shmemi_inplace_offset(engine, first, page);
        uint64_t stop = mapped || start <= first ? end : start;
        if (stop > last)
            stop = last;
        if (!mapped)
            shmemi_inplace_forget(engine, first, stop);
        else if ((rc = return_pages(engine, first, stop, map.protection)) < 0)
            result = rc;
        first = stop;
    }
    return result;
}

int shmemi_inplace_give_back(struct shmemi_inplace *engine, uint64_t first, uint64_t last)
{
    int result = 0;
    shmemi_maps_rewind(&engine->maps);
    while (first < last) {
        if (!to_return(shmemi_pages_at(&engine->pages, first))) {
            first++;
            continue;
        }
        uint64_t stop = first + 1, most = first + STEP / engine->page;
        while (stop < last && stop < most && to_return(shmemi_pages_at(&engine->pages, stop)) &&
               alike(engine, first, stop))
            stop++;
        stop = parked_until(engine, first, stop);
        int rc = return_run(engine, first, stop);
        if (rc < 0)
            result = rc;
        first = stop;
    }
    return result;
}
