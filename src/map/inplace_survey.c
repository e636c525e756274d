// SPDX-License-Identifier: Apache-2.0
// What the memory is that somebody wants to register, and whether it may be moved.
#include "map/inplace_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "map/apart.h"

#define REMEDY "allocate it with shmem.empty (Python) or shmemx_malloc (C)"

static bool is_file(const struct shmemi_inplace *engine, const struct shmemi_map *map, ino_t inode)
{
    return map->shared && map->inode == inode && map->major == major(engine->device) &&
           map->minor == minor(engine->device);
}

enum shmemi_page_kind shmemi_inplace_kind_of(const struct shmemi_inplace *engine, const struct shmemi_map *map)
{
    enum shmemi_page_kind kind = SHMEMI_PAGES_WHOLE;
    while (kind < SHMEMI_PAGE_KINDS && !(engine->files[kind] >= 0 && is_file(engine, map, engine->inodes[kind])))
        kind++;
    return kind;
}

bool shmemi_inplace_is_ours(const struct shmemi_inplace *engine, const struct shmemi_map *map)
{
    return shmemi_inplace_kind_of(engine, map) < SHMEMI_PAGE_KINDS && map->offset % SHMEMI_EPOCH_STRIDE == map->start;
}

/* Names the mapping, what it is, and the remedy. */
static int refuse(int rc, const struct shmemi_map *map, const char *why)
{
    return shmemi_fail(rc, "%#llx-%#llx%s%s %s; " REMEDY, (unsigned long long)map->start, (unsigned long long)map->end,
                       *map->name ? " " : "", map->name, why);
}

/* ---- stacks ---- */

static bool overlap(uint64_t low, uint64_t high, uint64_t from, uint64_t to)
{
    return low < to && from < high;
}

static bool holds(const struct shmemi_map *map, uint64_t address)
{
    return map->start <= address && address < map->end;
}

/* Where the C library says this thread's stack is, its control block included. */
static bool own_stack(uint64_t *base, uint64_t *end)
{
    pthread_attr_t attributes;
    void *address;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    bool known = pthread_attr_getstack(&attributes, &address, &size) == 0;
    pthread_attr_destroy(&attributes);
    *base = (uintptr_t)address;
    *end = *base + size;
    return known;
}

/* This thread's stack: from the frame we are in down a little, and as far as the C library knows, or up a little
   on a stack that it does not know. Asked only when the mapping holds both the stack and the object, for it
   reads and allocates: what lies in another mapping right above a stack is none. */
static bool in_own_stack(const struct shmemi_map *map, uint64_t low, uint64_t high)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);
    const uint64_t near = 16384; /* for this library's own calls, whatever stack this is (a coroutine's) */
    const uint64_t callers = 1024;
    if (overlap(low, high, here - near, here + callers))
        return true;
    if (!holds(map, here))
        return false;
    uint64_t base, end;
    if (own_stack(&base, &end) && base <= here && here < end)
        return overlap(low, high, base, end);
    return overlap(low, high, here, here + near);
}

uintptr_t shmemi_inplace_control_block(pid_t thread)
{
    void *head;
    size_t size;
    return syscall(SYS_get_robust_list, thread, &head, &size) == 0 ? (uintptr_t)head : 0;
}

/* Another thread's stack, as well as one can tell: its mapping begins where the stack does (a guard page
   comes before) and holds the control block. A stack of unusual size above other memory may be missed, or
   memory next to one refused. */
static bool in_other_stack(const struct shmemi_inplace *engine, const struct shmemi_map *map, uint64_t low,
                           uint64_t high)
{
    static const uint64_t usual = UINT64_C(8) << 20;
    DIR *threads = opendir("/proc/self/task");
    if (!threads)
        return false;
    bool inside = false;
    struct dirent *entry;
    while (!inside && (entry = readdir(threads))) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        uint64_t block = thread > 0 && thread != getpid() ? shmemi_inplace_control_block(thread) : 0;
        if (!holds(map, block))
            continue;
        uint64_t bottom = block - map->start > usual ? block - usual : map->start;
        inside = overlap(low, high, bottom, (block / engine->page + 1) * engine->page); /* a stack ends with it */
    }
    closedir(threads);
    return inside;
}

/* Control blocks of this thread and of the main one, which has no stack mapping to be found by. The kernel
   itself writes there whenever it has run something else (restartable sequences), also for the thread that is
   to bring the page back. The block ends where its mapping or its stack does: what follows is free. */
static bool holds_control_block(const struct shmemi_inplace *engine, const struct shmemi_map *map, uint64_t low,
                                uint64_t high)
{
    const uint64_t below = 1024, above = 2560; /* glibc's struct pthread, from its start or its robust list */
    const uint64_t main_thread = engine->main_thread, own = (uintptr_t)pthread_self();
    if (main_thread && holds(map, main_thread) && overlap(low, high, main_thread - below, main_thread + above))
        return true;
    if (!holds(map, own) || !overlap(low, high, own - below, own + above))
        return false;
    uint64_t base, end;
    return !own_stack(&base, &end) || own < base || own >= end || low < end;
}

static int check_stacks(const struct shmemi_inplace *engine, const struct shmemi_map *map, uint64_t low, uint64_t high)
{
    if (!strncmp(map->name, "[stack", 6) || in_own_stack(map, low, high))
        return refuse(-EINVAL, map, "is this thread's stack");
    if (holds_control_block(engine, map, low, high))
        return refuse(-EINVAL, map, "holds a thread's control block on the same page");
    if (strcmp(map->name, "[heap]") != 0 && in_other_stack(engine, map, low, high))
        return refuse(-EINVAL, map, "is another thread's stack");
    return 0;
}

/* ---- files ---- */

/* The line "VmFlags: rd wr mr ..." of the mapping that starts there; empty if it is not to be had. */
static void read_flags(uint64_t start, char *line, int size)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    bool inside = false, found = false;
    while (smaps && !found && fgets(line, size, smaps)) {
        unsigned long long from;
        char dash;
        if (sscanf(line, "%llx%c", &from, &dash) == 2 && dash == '-')
            inside = from == start;
        found = inside && !strncmp(line, "VmFlags:", 8);
    }
    if (!found)
        line[0] = '\0';
    if (smaps)
        fclose(smaps);
}

static int check_private_file(const struct shmemi_map *map)
{
    char flags[512];
    read_flags(map->start, flags, sizeof flags);
    if (strstr(flags, " ht"))
        return refuse(-EINVAL, map, "is made of huge pages (hugetlbfs), which cannot be moved");
    if (strstr(flags, " io") || strstr(flags, " pf"))
        return refuse(-EINVAL, map, "is device memory");
    return 0;
}

static int check_shared(const struct shmemi_map *map)
{
    if (!strncmp(map->name, "/dev/", 5) && strncmp(map->name, "/dev/shm/", 9) != 0 &&
        strncmp(map->name, "/dev/zero", 9) != 0)
        return refuse(-EINVAL, map, "is device memory");
    return refuse(-EEXIST, map, "is shared by another mapping already, and shared memory is never moved");
}

/* ---- all of it ---- */

static int check_foreign(const struct shmemi_inplace *engine, const struct shmemi_map *map, uint64_t low, uint64_t high)
{
    if (!(map->protection & PROT_WRITE) || !(map->protection & PROT_READ))
        return refuse(-EACCES, map, "is not writable");
    if (map->shared)
        return check_shared(map);
    if (map->inode != 0) {
        int rc = check_private_file(map);
        if (rc < 0)
            return rc;
    }
    return check_stacks(engine, map, low, high);
}

/* Our own file: every page must be known at just that offset. */
static int check_own(struct shmemi_inplace *engine, enum shmemi_page_kind kind, const struct shmemi_map *map,
                     uint64_t low, uint64_t high)
{
    if (!(map->protection & PROT_WRITE) || !(map->protection & PROT_READ))
        return refuse(-EACCES, map, "is not writable");
    for (uint64_t at = low; at < high; at += engine->page) {
        const struct shmemi_page *page = shmemi_pages_at(&engine->pages, at / engine->page);
        bool known = page && page->flags & SHMEMI_PAGE_MOVED &&
                     (page->flags & SHMEMI_PAGE_MIXED ? SHMEMI_PAGES_MIXED : SHMEMI_PAGES_WHOLE) == kind &&
                     shmemi_inplace_offset(engine, at / engine->page, page) == map->offset + (at - map->start);
        if (!known)
            return refuse(-EINVAL, map, "was moved or resized (mremap) while it was registered");
    }
    return 0;
}

static int note_span(struct shmemi_inplace *engine, const struct shmemi_map *map, uint64_t low, uint64_t high)
{
    struct shmemi_spans *spans = &engine->spans;
    if (spans->count == spans->capacity) {
        struct shmemi_span *list = shmemi_apart_grow(spans->list, &spans->capacity, sizeof *list);
        if (!list)
            return shmemi_fail(-ENOMEM, "no memory for the list of mappings");
        spans->list = list;
    }
    spans->list[spans->count++] = (struct shmemi_span){.first = low / engine->page,
                                                       .last = high / engine->page,
                                                       .protection = map->protection,
                                                       .anonymous = map->inode == 0};
    return 0;
}

int shmemi_inplace_survey(struct shmemi_inplace *engine, uint64_t low, uint64_t high)
{
    engine->spans.count = 0;
    shmemi_maps_rewind(&engine->maps);
    for (uint64_t at = low; at < high;) {
        struct shmemi_map map;
        int rc = shmemi_maps_find(&engine->maps, at, &map);
        if (rc < 0)
            return rc;
        if (rc == 0 || map.start > at)
            return shmemi_fail(-EFAULT, "nothing is mapped at %#llx", (unsigned long long)at);
        uint64_t end = map.end < high ? map.end : high;
        enum shmemi_page_kind kind = shmemi_inplace_kind_of(engine, &map);
        rc = kind < SHMEMI_PAGE_KINDS ? check_own(engine, kind, &map, at, end) : check_foreign(engine, &map, at, end);
        if (rc < 0)
            return rc;
        if (kind == SHMEMI_PAGE_KINDS) {
            rc = note_span(engine, &map, at, end);
            if (rc < 0)
                return rc;
        }
        at = end;
    }
    for (size_t i = 0; i < engine->spans.count; i++) /* pages that were freed while registered */
        shmemi_inplace_forget(engine, engine->spans.list[i].first, engine->spans.list[i].last);
    return 0;
}
