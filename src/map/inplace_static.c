// SPDX-License-Identifier: Apache-2.0
// Static data of a program into the mixed file, before main.
//
// There is one thread, so nobody has to be held back; but the data may be libc's own (a static link), a
// sanitizer's, or this library's. What is written to them between copying and mapping would be lost, so that
// part is bare.
#include "map/inplace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "map/window.h"

/* Moves the writable mappings among [low, high). */
static int move_mappings(struct shmemi_maps *maps, uint64_t low, uint64_t high, int file)
{
    for (uint64_t at = low; at < high;) {
        struct shmemi_map map;
        int rc = shmemi_maps_find(maps, at, &map);
        if (rc < 0)
            return rc;
        if (rc == 0 || map.start >= high)
            return 0;
        uint64_t from = map.start > at ? map.start : at, to = map.end < high ? map.end : high;
        at = to;
        if (map.shared || !(map.protection & PROT_WRITE))
            continue;
        struct shmemi_window w = {.address = from,
                                  .length = (size_t)(to - from),
                                  .protection = map.protection,
                                  .file = file,
                                  .offset = from,
                                  .guard = -1};
        if (fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)w.length) < 0)
            return shmemi_fail_errno("no memory for %zu bytes of static data", w.length);
        rc = shmemi_window_in(&w);
        if (rc < 0)
            return shmemi_fail(rc, "cannot move static data: %s: %s", w.step, strerror(-rc));
    }
    return 0;
}

int shmemi_inplace_move_static(uintptr_t low, uintptr_t high, struct shmemi_inplace_static *out)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (low >= high || high > SHMEMI_EPOCH_STRIDE - page)
        return shmemi_fail(-EINVAL, "static data from %#lx to %#lx", (unsigned long)low, (unsigned long)high);
    low -= low % page;
    high = (high + page - 1) / page * page;
    int file = shmemi_inplace_make_file(SHMEMI_PAGES_MIXED);
    if (file < 0)
        return file;
    struct shmemi_maps maps;
    int rc = shmemi_maps_open(&maps, false);
    if (rc == 0) {
        rc = move_mappings(&maps, low, high, file);
        shmemi_maps_close(&maps);
    }
    if (rc < 0) {
        close(file); /* what was moved stays mapped, and works as private memory would but for fork */
        return rc;
    }
    *out = (struct shmemi_inplace_static){.low = low, .high = high, .file = file, .moved = true};
    return 0;
}
