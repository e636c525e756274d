// SPDX-License-Identifier: Apache-2.0
// The life of the engine of registering in place, its files, and its lock.
#include "map/inplace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/apart.h"
#include "map/raw.h"

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

int shmemi_inplace_take_turn(struct shmemi_inplace *engine, struct shmemi_turn *turn)
{
    if (engine->owner != getpid())
        return shmemi_fail(-ECHILD, "job operations are not available after fork");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &turn->cancel);
    pthread_mutex_lock(&engine->lock);
    const uint64_t all = ~UINT64_C(0);
    shmemi_raw(SYS_rt_sigprocmask, SIG_BLOCK, (uintptr_t)&all, (uintptr_t)&turn->signals, sizeof all, 0, 0);
    return 0;
}

void shmemi_inplace_end_turn(struct shmemi_inplace *engine, const struct shmemi_turn *turn)
{
    int unused;
    shmemi_raw(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&turn->signals, 0, sizeof turn->signals, 0, 0);
    pthread_mutex_unlock(&engine->lock);
    pthread_setcancelstate(turn->cancel, &unused);
}

int shmemi_inplace_fd(struct shmemi_inplace *engine, enum shmemi_page_kind kind)
{
    struct shmemi_turn turn;
    int rc = shmemi_inplace_take_turn(engine, &turn);
    if (rc < 0)
        return rc;
    rc = shmemi_inplace_need_file(engine, kind);
    shmemi_inplace_end_turn(engine, &turn);
    return rc < 0 ? rc : engine->files[kind]; /* set once, under the lock */
}

/* ---- its end ---- */

void shmemi_inplace_destroy(struct shmemi_inplace *engine)
{
    struct shmemi_turn turn;
    if (!engine)
        return;
    if (shmemi_inplace_take_turn(engine, &turn) == 0) {
        uint64_t number = 0;
        while ((number = shmemi_pages_next(&engine->pages, number)) != UINT64_MAX) {
            uint64_t last = number + SHMEMI_PAGES_FAN;
            for (uint64_t each = number; each < last; each++)
                shmemi_pages_at(&engine->pages, each)->count = 0;
            if (shmemi_inplace_give_back(engine, number, last) < 0)
                shmemi_warn("map", "%s", shmemi_last_error());
            number = last;
        }
        shmemi_inplace_end_turn(engine, &turn);
    }
    shmemi_inplace_fork_leave(engine);
    free_engine(engine);
}
