// SPDX-License-Identifier: Apache-2.0
// What a forked child gets: whole pages stay shared with it, mixed pages become private copies. Whole pages
// that its malloc could use for something else, once it freed the object, become copy-on-write views: the
// child sees the parent's bytes until it writes its own, and the parent never sees the child's.
//
// The child must not write into mixed pages before it has its copies, for they are the parent's memory, in
// use. Yet the C library's fork writes there before any handler runs in the child: it resets locks and lists
// of malloc and of open files. So the child gets no mapping of them at all (MADV_DONTFORK), and its copies
// are the first thing that it makes (fork_trap.h).
//
//   before: lock, list the mixed mappings, MADV_DONTFORK, set the trap
//   child:  copy the mixed ones from the file to private pages, map the views, tell the parent
//   parent: wait until the child told, or is dead; undo
//
// The parent waits while fork still holds the locks of malloc, so the heap that the child gets is one of one
// moment. Where the trap cannot do that (other than x86-64, before Linux 5.11) it waits later, and other
// threads of the parent that use malloc meanwhile can spoil the child's heap. Anything else that other
// threads of the parent write to mixed pages while the child copies, the child may see or not. vfork and
// posix_spawn share memory and run no handlers.
#include "map/inplace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/apart.h"
#include "map/raw.h"

/* Held across fork, and where an engine comes or goes; taken before the engine's lock. Protects the next
   two. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static struct shmemi_inplace *served;  /* NULL: none */
static struct shmemi_inplace *forking; /* the one that is locked for a fork */

/* ---- what may run in the child before its memory is complete ---- */

SHMEMI_BARE static void give_up(void)
{
    static const char text[] = "shmem: a forked child cannot copy the memory that it shares with its parent\n";
    shmemi_raw(SYS_write, 2, (uintptr_t)text, sizeof text - 1, 0, 0, 0);
    shmemi_raw(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

SHMEMI_BARE static bool map_run(const struct shmemi_fork_run *run, int protection, int flags, int file)
{
    long rc = shmemi_raw(SYS_mmap, run->address, run->length, (uintptr_t)protection,
                         (uintptr_t)(MAP_PRIVATE | MAP_FIXED | flags), (uintptr_t)file, run->offset);
    return rc >= 0 || rc <= -4096;
}

SHMEMI_BARE static bool copy_run(const struct shmemi_fork_run *run, int file)
{
    const int writable = PROT_READ | PROT_WRITE;
    if (!map_run(run, writable, MAP_ANONYMOUS, -1))
        return false;
    for (uint64_t done = 0; done < run->length;) {
        long rc =
            shmemi_raw(SYS_pread64, (uintptr_t)file, run->address + done, run->length - done, run->offset + done, 0, 0);
        if (rc == -EINTR)
            continue;
        if (rc <= 0)
            return false;
        done += (uint64_t)rc;
    }
    return run->protection == writable ||
           shmemi_raw(SYS_mprotect, run->address, run->length, (uintptr_t)run->protection, 0, 0, 0) == 0;
}

SHMEMI_BARE static void complete_child(struct shmemi_fork_trap *trap)
{
    const struct shmemi_fork_plan *plan = (const struct shmemi_fork_plan *)(void *)trap;
    for (size_t i = 0; i < plan->count; i++) {
        const struct shmemi_fork_run *run = &plan->runs[i];
        bool done = run->kind == SHMEMI_PAGES_MIXED ? copy_run(run, plan->files[run->kind])
                                                    : map_run(run, run->protection, 0, plan->files[run->kind]);
        if (!done)
            give_up();
    }
    shmemi_raw(SYS_write, (uintptr_t)plan->done[1], (uintptr_t) "", 1, 0, 0, 0);
}

/* ---- what may run in the parent while fork holds its locks ---- */

SHMEMI_BARE static void wait_for_child(struct shmemi_fork_trap *trap)
{
    const struct shmemi_fork_plan *plan = (const struct shmemi_fork_plan *)(void *)trap;
    char byte;
    shmemi_raw(SYS_close, (uintptr_t)plan->done[1], 0, 0, 0, 0, 0); /* or its death would not be seen */
    while (shmemi_raw(SYS_read, (uintptr_t)plan->done[0], (uintptr_t)&byte, 1, 0, 0, 0) == -EINTR)
        ;
}

/* ---- before ---- */

static bool add_run(struct shmemi_fork_plan *plan, struct shmemi_fork_run run)
{
    if (plan->count == plan->capacity) {
        struct shmemi_fork_run *runs = shmemi_apart_grow(plan->runs, &plan->capacity, sizeof *runs);
        if (!runs)
            return false;
        plan->runs = runs;
    }
    plan->runs[plan->count++] = run;
    return true;
}

static bool is_heap(const struct shmemi_inplace *engine, uint64_t address)
{
    const struct shmemi_page *page = shmemi_pages_at(&engine->pages, address / engine->page);
    return page && page->flags & SHMEMI_PAGE_HEAP;
}

/* The parts of a mapping of whole pages that the child must not share. */
static bool add_heap_runs(struct shmemi_inplace *engine, const struct shmemi_map *map)
{
    for (uint64_t at = map->start, end; at < map->end; at = end) {
        bool heap = is_heap(engine, at);
        for (end = at + engine->page; end < map->end && is_heap(engine, end) == heap;)
            end += engine->page;
        struct shmemi_fork_run run = {at, end - at, map->offset + (at - map->start), SHMEMI_PAGES_WHOLE,
                                      map->protection};
        if (heap && !add_run(&engine->plan, run))
            return false;
    }
    return true;
}

/* Lists every mapping of the mixed file, wherever it is, and what lies in a heap of the whole one. */
static bool list_runs(struct shmemi_inplace *engine)
{
    struct shmemi_map map;
    int rc;
    bool added = true;
    engine->plan.count = 0;
    shmemi_maps_rewind(&engine->maps);
    while (added && (rc = shmemi_maps_next(&engine->maps, &map)) > 0) {
        enum shmemi_page_kind kind = shmemi_inplace_kind_of(engine, &map);
        struct shmemi_fork_run run = {map.start, map.end - map.start, map.offset, kind, map.protection};
        if (kind == SHMEMI_PAGES_MIXED)
            added = add_run(&engine->plan, run);
        else if (kind == SHMEMI_PAGES_WHOLE && engine->heap)
            added = add_heap_runs(engine, &map);
    }
    return added && rc == 0;
}

static void set_inherit(const struct shmemi_fork_plan *plan, int advice)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->runs[i].kind == SHMEMI_PAGES_MIXED) /* which fork itself may touch in the child */
            madvise((void *)(uintptr_t)plan->runs[i].address, (size_t)plan->runs[i].length, advice);
}

static void make_plan(struct shmemi_inplace *engine)
{
    struct shmemi_fork_plan *plan = &engine->plan;
    plan->active = false;
    if (engine->mixed == 0 && engine->heap == 0)
        return;
    memcpy(plan->files, engine->files, sizeof plan->files);
    if (!list_runs(engine) || pipe2(plan->done, O_CLOEXEC) < 0) {
        shmemi_warn("map", "no memory or descriptors to give a forked child its own copies: "
                           "it shares registered memory and what lies beside it");
        return;
    }
    plan->active = true;
    plan->trap.in_child = complete_child;
    plan->trap.in_parent = wait_for_child;
    plan->trap.without_dispatch = engine->config.without_dispatch;
    set_inherit(plan, MADV_DONTFORK);
    shmemi_fork_trap_set(&plan->trap);
}

static void before(void)
{
    pthread_mutex_lock(&gate);
    forking = served && served->owner == getpid() ? served : NULL; /* a child may have been made without us */
    if (!forking)
        return;
    pthread_mutex_lock(&forking->lock);
    make_plan(forking);
}

/* ---- after ---- */

static void in_parent(void)
{
    if (forking) {
        struct shmemi_fork_plan *plan = &forking->plan;
        if (plan->active) {
            shmemi_fork_trap_clear(&plan->trap);
            if (!plan->trap.parent_done)
                wait_for_child(&plan->trap);
            close(plan->done[0]);
            set_inherit(plan, MADV_DOFORK);
        }
        pthread_mutex_unlock(&forking->lock);
    }
    pthread_mutex_unlock(&gate);
}

/* Whatever the child does with it, the engine is not its own: it stays as it is, and nothing works. */
static void leave_engine(struct shmemi_inplace *engine)
{
    engine->owner = -1;
    shmemi_guard_close(&engine->guard);
    shmemi_maps_close(&engine->maps);
    for (int kind = 0; kind < SHMEMI_PAGE_KINDS; kind++) {
        if (engine->files[kind] >= 0)
            close(engine->files[kind]);
        engine->files[kind] = -1;
    }
    pthread_mutex_init(&engine->lock, NULL);
}

static void in_child(void)
{
    if (forking) {
        struct shmemi_fork_plan *plan = &forking->plan;
        if (plan->active) {
            shmemi_fork_trap_clear(&plan->trap);
            close(plan->done[0]);
            close(plan->done[1]);
        }
        leave_engine(forking);
    }
    served = NULL;
    pthread_mutex_init(&gate, NULL);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int handlers_rc;

static void install(void)
{
    handlers_rc = pthread_atfork(before, in_parent, in_child);
}

int shmemi_inplace_fork_serve(struct shmemi_inplace *engine)
{
    pthread_once(&once, install);
    if (handlers_rc != 0)
        return shmemi_fail(-handlers_rc, "pthread_atfork");
    pthread_mutex_lock(&gate);
    bool free = !served || served->owner != getpid();
    if (free)
        served = engine;
    pthread_mutex_unlock(&gate);
    return free ? 0 : shmemi_fail(-EBUSY, "this process registers memory in place for another job already");
}

void shmemi_inplace_fork_leave(struct shmemi_inplace *engine)
{
    pthread_mutex_lock(&gate);
    if (served == engine)
        served = NULL;
    pthread_mutex_unlock(&gate);
}
