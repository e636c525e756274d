// SPDX-License-Identifier: Apache-2.0
// The engine of registering in place: its life, and regions in and out.
#include "map/inplace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/apart.h"
#include "map/inplace_internal.h"
#include "map/raw.h"

/* An object that spans less keeps all its pages mixed: many small ones side by side then are one mapping.
   From this size on glibc's malloc maps a block of its own, and the three mappings of a moved one make a
   later mremap by realloc fail cleanly (it then copies). */
enum { SMALL = 128 << 10 };

/* ---- files ---- */

int shmemi_inplace_make_file(enum shmemi_page_kind kind)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return shmemi_fail(-EFBIG, "the file size limit of this process (ulimit -f, RLIMIT_FSIZE) forbids "
                                   "registering memory; remove it");
    const unsigned no_exec = 8; /* MFD_NOEXEC_SEAL, Linux 6.3: spares a line in the kernel's log */
    const char *name = kind == SHMEMI_PAGES_WHOLE ? "shmem-whole" : "shmem-mixed";
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | no_exec);
    if (file < 0 && errno == EINVAL)
        file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return shmemi_fail_errno("memfd_create");
    if (ftruncate(file, (off_t)SHMEMI_FILE_SIZE) < 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int rc = shmemi_fail_errno("sizing and sealing a memfd");
        close(file);
        return rc;
    }
    return file;
}

static int adopt_file(struct shmemi_inplace *engine, enum shmemi_page_kind kind, int file)
{
    struct stat facts;
    if (fstat(file, &facts) < 0)
        return shmemi_fail_errno("fstat of a memfd");
    engine->files[kind] = file;
    engine->device = facts.st_dev;
    engine->inodes[kind] = facts.st_ino;
    return 0;
}

int shmemi_inplace_need_file(struct shmemi_inplace *engine, enum shmemi_page_kind kind)
{
    if (engine->files[kind] >= 0)
        return 0;
    int file = shmemi_inplace_make_file(kind);
    if (file < 0)
        return file;
    int rc = adopt_file(engine, kind, file);
    if (rc < 0)
        close(file);
    return rc;
}

/* ---- life ---- */

static void fill_in(struct shmemi_inplace *engine, const struct shmemi_inplace_config *config)
{
    uint64_t stack = (uintptr_t)__builtin_frame_address(0);
    engine->config = *config;
    engine->owner = getpid();
    engine->page = (size_t)sysconf(_SC_PAGESIZE);
    engine->flip = UINT64_C(1) << (63 - __builtin_clzll(stack));
    engine->main_thread = shmemi_inplace_control_block(engine->owner);
    for (int kind = 0; kind < SHMEMI_PAGE_KINDS; kind++)
        engine->files[kind] = -1;
    engine->plan.done[0] = engine->plan.done[1] = -1;
    pthread_mutex_init(&engine->lock, NULL);
    shmemi_guard_open(&engine->guard, config->without_userfaultfd ? SHMEMI_GUARD_NONE
                                      : config->user_mode_only    ? SHMEMI_GUARD_USER
                                                                  : SHMEMI_GUARD_FULL);
}

/* Static data are a region from before the engine: counted once, for ever. */
static int adopt_statics(struct shmemi_inplace *engine, const struct shmemi_inplace_static *statics)
{
    uint64_t first = statics->low / engine->page, last = statics->high / engine->page;
    int rc = shmemi_pages_make(&engine->pages, first, last);
    if (rc == 0)
        rc = adopt_file(engine, SHMEMI_PAGES_MIXED, statics->file);
    if (rc < 0)
        return rc;
    for (uint64_t number = first; number < last; number++) {
        struct shmemi_page *page = shmemi_pages_at(&engine->pages, number);
        *page = (struct shmemi_page){.count = 1, .flags = SHMEMI_PAGE_MOVED | SHMEMI_PAGE_MIXED};
    }
    engine->mixed += last - first;
    return 0;
}

static void free_engine(struct shmemi_inplace *engine)
{
    for (int kind = 0; kind < SHMEMI_PAGE_KINDS; kind++)
        if (engine->files[kind] >= 0)
            close(engine->files[kind]);
    shmemi_guard_close(&engine->guard);
    shmemi_maps_close(&engine->maps);
    shmemi_pages_fini(&engine->pages);
    shmemi_apart_put(engine->plan.runs, engine->plan.capacity * sizeof *engine->plan.runs);
    shmemi_apart_put(engine->spans.list, engine->spans.capacity * sizeof *engine->spans.list);
    shmemi_apart_put(engine, sizeof *engine);
}

int shmemi_inplace_create(const struct shmemi_inplace_config *config, struct shmemi_inplace **out)
{
    struct shmemi_inplace *engine = shmemi_apart_get(sizeof *engine);
    if (!engine)
        return shmemi_fail(-ENOMEM, "no memory for registering in place");
    fill_in(engine, config);
    int rc = shmemi_maps_open(&engine->maps, config->without_map_query);
    if (rc == 0 && config->statics && config->statics->moved)
        rc = adopt_statics(engine, config->statics);
    if (rc == 0)
        rc = shmemi_inplace_fork_serve(engine);
    if (rc < 0) {
        if (config->statics && config->statics->moved)
            engine->files[SHMEMI_PAGES_MIXED] = -1; /* stays the caller's */
        free_engine(engine);
        return rc;
    }
    *out = engine;
    return 0;
}

/* ---- one call at a time ---- */

struct turn {
    uint64_t signals; /* the kernel's mask */
    int cancel;
};

/* While pages are away this thread must not run into them: no signal handler may run, not even libc's own,
   and no cancellation may end it half way. -ECHILD in a forked child. */
static int take_turn(struct shmemi_inplace *engine, struct turn *turn)
{
    if (engine->owner != getpid())
        return shmemi_fail(-ECHILD, "job operations are not available after fork");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &turn->cancel);
    pthread_mutex_lock(&engine->lock);
    const uint64_t all = ~UINT64_C(0);
    shmemi_raw(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)&all, (uintptr_t)&turn->signals, sizeof all, 0, 0);
    return 0;
}

static void end_turn(struct shmemi_inplace *engine, const struct turn *turn)
{
    int unused;
    shmemi_raw(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&turn->signals, 0, sizeof turn->signals, 0, 0);
    pthread_mutex_unlock(&engine->lock);
    pthread_setcancelstate(turn->cancel, &unused);
}

void shmemi_inplace_destroy(struct shmemi_inplace *engine)
{
    struct turn turn;
    if (!engine)
        return;
    if (take_turn(engine, &turn) == 0) {
        uint64_t number = 0;
        while ((number = shmemi_pages_next(&engine->pages, number)) != UINT64_MAX) {
            uint64_t last = number + SHMEMI_PAGES_FAN;
            for (uint64_t each = number; each < last; each++)
                shmemi_pages_at(&engine->pages, each)->count = 0;
            if (shmemi_inplace_give_back(engine, number, last) < 0)
                shmemi_warn("map", "%s", shmemi_last_error());
            number = last;
        }
        end_turn(engine, &turn);
    }
    shmemi_inplace_fork_leave(engine);
    free_engine(engine);
}

int shmemi_inplace_fd(struct shmemi_inplace *engine, enum shmemi_page_kind kind)
{
    struct turn turn;
    int rc = take_turn(engine, &turn);
    if (rc < 0)
        return rc;
    rc = shmemi_inplace_need_file(engine, kind);
    end_turn(engine, &turn);
    return rc < 0 ? rc : engine->files[kind]; /* set once, under the lock */
}

/* ---- regions ---- */

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
   must not be one mapping of ours then. Such a block starts 16 bytes into a page, behind its size with bit 1
   set. */
SHMEMI_NO_SANITIZER static bool may_be_remapped(const struct shmemi_inplace *engine, uintptr_t address)
{
    if (address % engine->page != 2 * sizeof(size_t))
        return false;
    size_t word = ((const size_t *)address)[-1];
    return word & 2 && (word & ~(size_t)7) % engine->page == 0;
}

static enum shmemi_page_kind wanted_kind(const struct range *range, bool small, uint64_t number)
{
    return small || number == range->first || number == range->last - 1 ? SHMEMI_PAGES_MIXED
                                                                        : SHMEMI_PAGES_WHOLE;
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
        while (number < span->last && !is_moved(engine, number) &&
               wanted_kind(range, small, number) == run.kind)
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

static int bring_in_all(struct shmemi_inplace *engine, const struct range *range, bool small,
                        enum shmemi_guard *guard)
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
static size_t list_pieces(const struct shmemi_inplace *engine, const struct range *range,
                          struct shmemi_piece *pieces)
{
    struct shmemi_piece piece = {0};
    size_t count = 0;
    for (uint64_t number = range->first; number < range->last; number++) {
        const struct shmemi_page *page = shmemi_pages_at(&engine->pages, number);
        uint64_t offset = shmemi_inplace_offset(engine, number, page);
        if (count == 0 || kind_of_page(page) != piece.kind || offset != piece.offset + piece.length) {
            piece = (struct shmemi_piece){
                .address = number * engine->page, .offset = offset, .kind = kind_of_page(page)};
            count++;
        }
        piece.length += engine->page;
        if (pieces)
            pieces[count - 1] = piece;
    }
    return count;
}

static int make_pieces(const struct shmemi_inplace *engine, const struct range *range,
                       struct shmemi_piece **pieces_out, size_t *count_out)
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
    return pages < 3 || (pages * engine->page < SMALL && !may_be_remapped(engine, address));
}

static int register_range(struct shmemi_inplace *engine, const struct range *range, uintptr_t address,
                          struct shmemi_piece **pieces_out, size_t *count_out, enum shmemi_guard *guard)
{
    int rc = shmemi_inplace_survey(engine, range->low, range->high);
    if (rc == 0)
        rc = shmemi_pages_make(&engine->pages, range->first, range->last);
    if (rc == 0)
        rc = bring_in_all(engine, range, is_small(engine, range, address), guard);
    if (rc == 0)
        rc = make_pieces(engine, range, pieces_out, count_out);
    if (rc < 0)
        return rc;
    for (uint64_t number = range->first; number < range->last; number++)
        shmemi_pages_at(&engine->pages, number)->count++;
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

int shmemi_inplace_register(struct shmemi_inplace *engine, void *address, size_t size,
                            struct shmemi_piece **pieces_out, size_t *count_out, enum shmemi_guard *guard_out)
{
    struct range range = {0};
    struct turn turn;
    int rc = take_turn(engine, &turn);
    if (rc < 0)
        return rc;
    rc = range_of(engine, (uintptr_t)address, size, &range);
    if (rc < 0) {
        end_turn(engine, &turn);
        return rc;
    }
    enum shmemi_guard guard = engine->guard.strength;
    rc = register_range(engine, &range, (uintptr_t)address, pieces_out, count_out, &guard);
    if (rc < 0) {
        undo(engine, &range);
        rc = shmemi_fail_in(rc, "cannot register %zu bytes at %p", size, address);
    }
    end_turn(engine, &turn);
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
    if (!page || !(page->flags & SHMEMI_PAGE_MOVED) || page->count == 0 ||
        kind_of_page(page) != piece->kind ||
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
    struct turn turn;
    int result = take_turn(engine, &turn);
    if (result < 0)
        return result;
    for (size_t i = 0; i < count; i++) {
        int rc = release_piece(engine, &pieces[i], peers_mapped);
        if (rc < 0)
            result =
                shmemi_fail_in(rc, "memory at %#llx stays shared", (unsigned long long)pieces[i].address);
    }
    end_turn(engine, &turn);
    return result;
}
