// SPDX-License-Identifier: Apache-2.0
// init and finalize.
#include "lifecycle.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "answer.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/blocks.h"
#include "ending.h"
#include "hal/hal.h"
#include "map/wire.h"
#include "heap.h"
#include "live.h"
#include "message.h"
#include "parts.h"
#include "statics.h"
#include "wireup.h"

enum { HEAP_ALIGN = 2 << 20, TIMEOUT_DEFAULT = 60, SPIN_NS = 50000 };

const char shmemi_version[] = "shmem " SHMEMI_VERSION ", OpenSHMEM 1.6";

/* One init or finalize at a time; the job object itself is reached through shmemi_current without a lock. */
static pthread_mutex_t lifecycle = PTHREAD_MUTEX_INITIALIZER;

/* --- how large the heap is -------------------------------------------------------------------------------------- */

/* Bytes of address space that a process may have, and that this one has left. */
static void address_space(size_t *most, size_t *left)
{
    struct rlimit limit;
    size_t used = 0;
    *most = *left = (size_t)1 << 46;
    if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%zu", &used) != 1)
            used = 0;
        fclose(file);
    }
    used *= (size_t)sysconf(_SC_PAGESIZE);
    *most = limit.rlim_cur;
    *left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

static size_t stride_of(size_t heap_size)
{
    return shmemi_round_up(heap_size + 65536, HEAP_ALIGN); /* a gap that nobody can touch follows each heap */
}

size_t shmemi_normal_heap_size(int n)
{
    struct shmemi_host_room room;
    size_t most, space;
    shmemi_host_room(&room);
    address_space(&most, &space);
    return shmemi_round_up((room.total < most / 4 ? room.total : most / 4) / (size_t)n, 65536);
}

/* The heap is a ceiling: pages are taken when blocks are. By default it is this PE's share of all the memory there is,
   or of a quarter of the address space where that is limited: figures that are the same for all PEs. */
static int choose_heap_size(const struct shmemi_job_request *request, const struct shmemi_identity *id, size_t *out)
{
    struct shmemi_host_room room;
    shmemi_host_room(&room);
    size_t n = (size_t)id->n, size = 0, most, space;
    address_space(&most, &space);
    size_t control = shmemi_control_bytes(id->n);
    space = space > control ? (space - control) / n : 0;
    const char *name, *text = shmemi_setting_of("SHMEM_SYMMETRIC_SIZE", &name);
    if (!text)
        text = shmemi_setting_of("SHMEM_SYMMETRIC_HEAP_SIZE", &name);
    bool asked = true;
    if (request && request->heap_size) {
        size = request->heap_size;
        name = "heap_size";
    } else if (text) {
        int rc = shmemi_parse_size(name, text, &size);
        if (rc < 0)
            return rc;
    } else {
        asked = false;
        size = shmemi_normal_heap_size(id->n);
    }
    if (asked && size > room.total)
        return shmemi_fail(-ENOMEM, "%s asks for %zu bytes, but the machine (or its memory cgroup) has only %zu", name,
                           size, room.total);
    size = shmemi_round_up(size ? size : 1, 65536);
    if (stride_of(size) > space)
        return shmemi_fail(-ENOMEM,
                           "the symmetric heaps of %d PEs need %zu bytes of address space, but only %zu are left "
                           "(RLIMIT_AS, ulimit -v): raise it or set SHMEM_SYMMETRIC_SIZE lower",
                           id->n, n * stride_of(size), n * space);
    *out = size;
    return 0;
}

/* --- putting the pieces in place -------------------------------------------------------------------------------- */

/* Reserves the addresses of all heaps, aligned so that equal offsets are equally aligned on every PE. */
static int reserve_window(struct shmemi_job *job)
{
    size_t bytes = (size_t)job->n * job->stride;
    char *at = mmap(NULL, bytes + HEAP_ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return shmemi_fail_errno("reserving %zu bytes of addresses for %d symmetric heaps (set SHMEM_SYMMETRIC_SIZE "
                                 "lower, or raise ulimit -v)",
                                 bytes, job->n);
    char *aligned = (char *)shmemi_round_up((uintptr_t)at, HEAP_ALIGN);
    if (aligned > at)
        munmap(at, (size_t)(aligned - at));
    munmap(aligned + bytes, (size_t)(at + HEAP_ALIGN - aligned));
    job->window = aligned;
    job->parts->window_bytes = bytes;
    return 0;
}

static int map_everything(struct shmemi_job *job, const struct shmemi_wireup *wired)
{
    void *at = NULL;
    int rc = shmemi_hal_host.map(wired->control, 0, wired->control_bytes, SHMEMI_READ_WRITE, NULL, &at);
    if (rc < 0)
        return shmemi_fail_in(rc, "control segment");
    job->control = at;
    job->slots = job->control->slots;
    job->parts->control_bytes = wired->control_bytes;
    const struct shmemi_control *c = job->control;
    if (c->magic != SHMEMI_CONTROL_MAGIC || c->fingerprint != shmemi_fingerprint() || c->n != (uint32_t)job->n ||
        c->heap_size != job->heap_size || c->stride != job->stride)
        return shmemi_fail(-EPROTO, "the control segment of PE 0 does not fit this job");
    for (int pe = 0; pe < job->n; pe++) {
        rc = shmemi_hal_host.map(wired->heaps[pe], 0, job->heap_size, SHMEMI_READ_WRITE,
                                 job->window + (size_t)pe * job->stride, &at);
        if (rc < 0)
            return shmemi_fail_in(rc, "symmetric heap of PE %d", pe);
        if (pe == job->me)
            job->parts->heap_fd = wired->heaps[pe];
        else
            close(wired->heaps[pe]); /* the mapping holds it */
        wired->heaps[pe] = -1;
    }
    job->heap = job->window + (size_t)job->me * job->stride;
    return 0;
}

/* A PE that has not taken its alive word yet can only be missed by its socket, which it has had since before the
 * wire-up. */
static bool gone_before_alive(const struct shmemi_job *job, int pe)
{
    int socket, rc = shmemi_wire_connect(job->parts->identity.name, pe, &socket);
    if (rc == 0)
        close(socket);
    return rc == -ECONNREFUSED;
}

static int wait_for_one(const struct shmemi_job *job, int pe, int64_t deadline)
{
    const struct shmemi_member *m = &job->slots[pe].member;
    int rc = 0;
    /* [present] acquire pairs with the release in begin(). */
    for (int i = 1; rc == 0 && atomic_load_explicit(&m->state, memory_order_acquire) == SHMEMI_MEMBER_ABSENT; i++) {
        if (shmemi_now() >= deadline)
            return shmemi_fail(-ETIMEDOUT, "PE %d did not finish starting in time", pe);
        if (shmemi_member_died(m) || (i % 256 == 0 && pe != job->me && gone_before_alive(job, pe) &&
                                      atomic_load_explicit(&m->state, memory_order_acquire) == SHMEMI_MEMBER_ABSENT))
            return shmemi_fail(-EOWNERDEAD, "PE %d ended while the job was starting", pe);
        rc = shmemi_interrupted();
        usleep(200);
    }
    return rc;
}

static int wait_for_all(const struct shmemi_job *job, int64_t deadline)
{
    int rc = 0;
    for (int pe = 0; rc == 0 && pe < job->n; pe++)
        rc = wait_for_one(job, pe, deadline);
    return rc;
}

/* Whether all PEs have their heap in the same kind of memory. */
static int compare_kinds(const struct shmemi_job *job)
{
    uint32_t mine = job->parts->kind.which;
    for (int pe = 0; pe < job->n; pe++)
        if (job->slots[pe].heap_kind != mine)
            return shmemi_fail(
                -EINVAL,
                "PE %d wants its symmetric heap in memory of kind '%s', but PE %d in '%s': SHMEM_HEAP_KIND "
                "(or heap_kind) must be of one type on all PEs",
                job->me, shmemi_kind_name(mine), pe, shmemi_kind_name(job->slots[pe].heap_kind));
    return 0;
}

/* Takes part: the service thread, the alive word, and then the word that says so. */
static int begin(struct shmemi_job *job, int listener, int64_t deadline)
{
    struct shmemi_member *own = &job->slots[job->me].member;
    own->pid = (int32_t)getpid();
    job->slots[job->me].heap_kind = job->parts->kind.which;
    if (job->n > 1) {
        int rc = shmemi_service_start(own, listener, shmemi_answer, job, &job->parts->service);
        if (rc < 0)
            return rc;
    }
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0); /* see await.c: a sleeper's first step */
    /* [present] pairs with the acquire in wait_for_all(). */
    atomic_store_explicit(&own->state, SHMEMI_MEMBER_PRESENT, memory_order_release);
    int rc = wait_for_all(job, deadline);
    return rc < 0 ? rc : compare_kinds(job);
}

/* How many turns of a spin loop take that many nanoseconds here: a pause takes 5 or 50 of them, depending on the
 * processor. */
static int turns_in(int64_t ns)
{
    enum { TURNS = 200 };
    int64_t begin = shmemi_now();
    for (int i = 0; i < TURNS; i++)
        shmemi_cpu_relax();
    int64_t took = shmemi_now() - begin;
    return took > 0 && took < 100000 ? (int)(ns * TURNS / took) : 2000;
}

/* With a core for each PE a wait spins about as long as it takes to wake a sleeper; then it yields a while. With more
   PEs than cores, who is waited for needs this core: no spinning at all. */
static void choose_patience(const struct shmemi_job *job)
{
    bool crowded = job->n > (int)job->control->cores;
    job->parts->spins = job->n == 1 || crowded ? 0 : turns_in(SPIN_NS);
    job->parts->yields = job->n == 1 ? 0 : crowded ? 1000 : 200;
}

static void free_job(struct shmemi_job *job)
{
    struct shmemi_job_parts *parts = job->parts;
    if (parts) {
        if (parts->control_fd >= 0)
            close(parts->control_fd);
        shmemi_blocks_destroy(parts->blocks);
        shmemi_live_destroy(parts->live);
        free(parts->heap_pages);
        free(parts->contexts);
        if (parts->end_teams)
            parts->end_teams(parts->teams);
        for (int pe = 0; parts->static_views && pe < job->n; pe++)
            if (pe != job->me && parts->static_views[pe])
                munmap(parts->static_views[pe], parts->static_bytes);
        free(parts->static_views);
        if (parts->heap_fd >= 0)
            close(parts->heap_fd);
        pthread_mutex_destroy(&parts->lock);
    }
    if (job->control)
        munmap(job->control, parts->control_bytes);
    if (job->window && !parts->heap_kept) /* else arrays live on, in this PE's heap and as views of the others' */
        munmap(job->window, parts->window_bytes);
    free(parts);
    free(job);
}

static struct shmemi_job *new_job(void)
{
    struct shmemi_job *job = calloc(1, sizeof *job);
    struct shmemi_job_parts *parts = calloc(1, sizeof *parts);
    if (!job || !parts) {
        free(job);
        free(parts);
        return NULL;
    }
    job->parts = parts;
    parts->heap_fd = -1;
    parts->control_fd = -1;
    pthread_mutex_init(&parts->lock, NULL);
    return job;
}

static int read_kind(const struct shmemi_job_request *request, struct shmemi_kind *out)
{
    bool asked = request && request->heap_kind;
    const char *text = asked ? request->heap_kind : shmemi_setting("SHMEM_HEAP_KIND");
    return text ? shmemi_kind_parse(asked ? "heap_kind" : "SHMEM_HEAP_KIND", text, out) : 0;
}

static int read_settings(struct shmemi_job *job, const struct shmemi_job_request *request)
{
    struct shmemi_job_parts *parts = job->parts;
    int rc = read_kind(request, &parts->kind);
    if (rc < 0)
        return rc;
    parts->timeout = TIMEOUT_DEFAULT;
    parts->launched = shmemi_setting("SHMEM_LAUNCHER") != NULL;
    parts->checked = shmemi_setting_is_set("SHMEM_DEBUG");
    const char *timeout = shmemi_setting("SHMEM_TIMEOUT");
    return timeout ? shmemi_parse_seconds("SHMEM_TIMEOUT", timeout, &parts->timeout) : 0;
}

/* Static data that was made symmetric before main: where it is here; peers' on first use. */
static int take_statics(struct shmemi_job *job)
{
    struct shmemi_job_parts *parts = job->parts;
    shmemi_statics_range(&parts->static_data, &parts->static_bytes);
    parts->static_views = calloc((size_t)job->n, sizeof *parts->static_views);
    if (!parts->static_views)
        return shmemi_fail(-ENOMEM, "no memory for the job");
    parts->static_views[job->me] = parts->static_data;
    return 0;
}

static int join(struct shmemi_job *job, const struct shmemi_job_request *request)
{
    struct shmemi_job_parts *parts = job->parts;
    struct shmemi_wireup wired;
    int heap = -1, rc = shmemi_log_configure();
    if (rc < 0 || (rc = read_settings(job, request)) < 0)
        return rc;
    int64_t deadline = shmemi_deadline(parts->timeout);
    if ((rc = shmemi_identity_find(request, deadline, &parts->identity)) < 0 ||
        (rc = choose_heap_size(request, &parts->identity, &job->heap_size)) < 0)
        return rc;
    job->n = parts->identity.n;
    job->me = parts->identity.me;
    job->stride = stride_of(job->heap_size);
    if ((rc = reserve_window(job)) < 0 || (rc = shmemi_hal_host.create("shmem-heap", job->heap_size, NULL, &heap)) < 0)
        return rc;
    rc = shmemi_wireup(&parts->identity, heap, job->heap_size, job->stride, deadline, &wired);
    if (rc < 0) {
        close(heap);
        return rc;
    }
    rc = map_everything(job, &wired);
    for (int pe = 0; pe < job->n; pe++)
        if (wired.heaps[pe] >= 0)
            close(wired.heaps[pe]);
    free(wired.heaps);
    parts->control_fd = wired.control;
    if (rc == 0)
        rc = shmemi_heap_create(job);
    if (rc == 0)
        rc = take_statics(job);
    if (rc == 0)
        rc = begin(job, wired.listener, deadline);
    if (rc < 0 && wired.listener >= 0 && !parts->service) /* the service closes it otherwise */
        shmemi_wire_close_listener(wired.listener);
    if (rc == 0)
        choose_patience(job);
    return rc;
}

static void print_settings(void)
{
    const struct shmemi_setting_entry *e;
    fputs("shmem reads these variables (shmem-info tells more):\n", stderr);
    for (size_t i = 0; (e = shmemi_setting_entry(i)); i++) {
        const char *value = shmemi_setting_of(e->name, NULL);
        fprintf(stderr, "  %s: %s (%s)\n      %s%s; unless set: %s\n", e->name, e->meaning, e->form,
                value ? "now: " : "not set", value ? value : "", e->normal);
    }
}

static void announce(const struct shmemi_job *job)
{
    shmemi_log_set_pe(job->me);
    if (job->me == 0 && shmemi_setting_is_set("SHMEM_INFO"))
        print_settings();
    if (job->me == 0 && shmemi_setting_is_set("SHMEM_VERSION"))
        fprintf(stderr, "%s\n", shmemi_version);
    shmemi_debug("job", "PE %d of %d, %u cores, heap of up to %zu bytes", job->me, job->n, job->control->cores,
                 job->heap_size);
}

/* A forked child is no PE: its copy of the job is put away, and every call says so. */
static void forget_in_child(void)
{
    struct shmemi_job *job = shmemi_current;
    pthread_mutex_init(&lifecycle, NULL); /* another thread may have been in init or finalize */
    shmemi_heap_forget_devices();
    if (job->n == 0)
        return;
    shmemi_service_forget(job->parts->service);
    shmemi_job_end(true);
}

/* A further init joins nothing, so it must not ask for another place. */
static int check_nested(const struct shmemi_job_request *request, const struct shmemi_job *job)
{
    if (!request || !request->given || (request->rank == job->me && request->size == job->n))
        return 0;
    return shmemi_fail(
        -EALREADY,
        "rank %d of %d is asked for, but this process is in a job already, as PE %d of %d: finalize it first",
        request->rank, request->size, job->me, job->n);
}

int shmemi_init(const struct shmemi_job_request *request)
{
    static bool fork_handled;
    pthread_mutex_lock(&lifecycle);
    if (shmemi_current->n) {
        int nested = check_nested(request, shmemi_current);
        /* [inits] relaxed, all: under the lock, but for the look in comm/finalize.c, which only tells the last one. */
        atomic_fetch_add_explicit(&shmemi_current->parts->inits, nested == 0, memory_order_relaxed);
        pthread_mutex_unlock(&lifecycle);
        return nested;
    }
    if (!fork_handled)
        fork_handled = pthread_atfork(NULL, NULL, forget_in_child) == 0;
    struct shmemi_job *job = new_job();
    int rc = job ? join(job, request) : shmemi_fail(-ENOMEM, "no memory for the job");
    if (rc == 0) {
        atomic_store_explicit(&job->parts->inits, 1, memory_order_relaxed); /* [inits] */
        announce(job);
        shmemi_job_begin(job);
        shmemi_heap_watch_devices(job);
    } else if (job) {
        shmemi_service_stop(job->parts->service);
        free_job(job);
    }
    pthread_mutex_unlock(&lifecycle);
    return rc;
}

/* What others know of this process is taken back, and it counts as one that has left. */
static void end_parts(struct shmemi_job *job)
{
    struct shmemi_job_parts *parts = job->parts;
    shmemi_service_stop(parts->service); /* first, because it answers questions about regions */
    if (parts->end_requests)             /* these hold regions */
        parts->end_requests();
    if (parts->end_exports)
        parts->end_exports();
    if (parts->end_objects)
        parts->end_objects();
    if (parts->end_regions)
        parts->end_regions(job);
    if (parts->end_device_heaps)
        parts->end_device_heaps(job);
    shmemi_heap_watch_devices(NULL);
}

int shmemi_leave(void)
{
    pthread_mutex_lock(&lifecycle);
    struct shmemi_job *job = shmemi_current;
    if (job->n) {
        end_parts(job);
        shmemi_job_end(false);
        shmemi_log_set_pe(-1);
        free_job(job);
    }
    pthread_mutex_unlock(&lifecycle);
    return 0;
}

void shmemi_leave_at_exit(void)
{
    pthread_mutex_lock(&lifecycle);
    if (shmemi_current->n)
        end_parts(shmemi_current);
    pthread_mutex_unlock(&lifecycle);
}

bool shmemi_uninit(void)
{
    pthread_mutex_lock(&lifecycle);
    bool last = shmemi_current->n &&
                atomic_fetch_sub_explicit(&shmemi_current->parts->inits, 1, memory_order_relaxed) == 1; /* [inits] */
    pthread_mutex_unlock(&lifecycle);
    return last;
}

bool shmemi_initialized(void)
{
    uint64_t number;
    uint32_t pe;
    return shmemi_joined(&number, &pe);
}

void shmemi_global_exit(int status)
{
    if (shmemi_current->n == 0)
        shmemi_die("shmem_global_exit", "called %s", shmemi_no_job());
    shmemi_end_all(status);
}
