// SPDX-License-Identifier: Apache-2.0
// What a forked child gets: whole pages stay shared with it, mixed pages become private copies.
//
// The child must not write into mixed pages before it has its copies, for they are the parent's memory, in
// use. Yet the C library's fork writes there before any handler runs in the child (it resets locks of malloc
// and of open files, which may lie there). So the child gets no mapping of them at all (MADV_DONTFORK), and
// whoever touches them first in the child makes the copies: a handler of SIGSEGV, set for the length of the
// fork, or at last the handler of pthread_atfork.
//
//   before: lock, list the mixed mappings, MADV_DONTFORK, set the handler
//   child:  copy everything from the file to private pages, tell the parent
//   parent: wait until the child told, or is dead; undo
//
// The forking thread goes on only after the copy. Other threads of the parent do not wait: what they write to
// mixed pages while the child copies, the child may see. vfork and posix_spawn share memory and run no
// handlers.
#include "map/inplace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "map/raw.h"

/* Held across create's and destroy's last step and across fork, outside the engine's lock; protects `served`.
 */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static struct shmemi_inplace *_Atomic served;

/* This thread is forking, by this plan. Not reached through a function call or the heap, which may be
 * missing. */
static _Thread_local struct shmemi_fork_plan *forking __attribute__((tls_model("initial-exec")));

/* ---- what may run in the child before its memory is complete ---- */

SHMEMI_BARE static void give_up(void)
{
    static const char text[] =
        "shmem: a forked child cannot copy the memory that it shares with its parent\n";
    shmemi_raw(SYS_write, 2, (uintptr_t)text, sizeof text - 1, 0, 0, 0);
    shmemi_raw(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

SHMEMI_BARE static bool copy_run(const struct shmemi_fork_run *run, int file)
{
    const int writable = PROT_READ | PROT_WRITE;
    long rc = shmemi_raw(SYS_mmap, run->address, run->length, (uintptr_t)writable,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uintptr_t)-1, 0);
    if (rc < 0 && rc > -4096)
        return false;
    for (uint64_t done = 0; done < run->length;) {
        rc = shmemi_raw(SYS_pread64, (uintptr_t)file, run->address + done, run->length - done,
                        run->offset + done, 0, 0);
        if (rc == -EINTR)
            continue;
        if (rc <= 0)
            return false;
        done += (uint64_t)rc;
    }
    return run->protection == writable ||
           shmemi_raw(SYS_mprotect, run->address, run->length, (uintptr_t)run->protection, 0, 0, 0) == 0;
}

SHMEMI_BARE static void complete_child(struct shmemi_fork_plan *plan)
{
    if (plan->completed)
        return;
    plan->completed = true;
    for (size_t i = 0; i < plan->count; i++)
        if (!copy_run(&plan->runs[i], plan->file))
            give_up();
    shmemi_raw(SYS_write, (uintptr_t)plan->done[1], (uintptr_t) "", 1, 0, 0, 0);
}

SHMEMI_BARE static long set_fault_action(const struct shmemi_kernel_action *new,
                                         struct shmemi_kernel_action *old)
{
    return shmemi_raw(SYS_rt_sigaction, SIGSEGV, (uintptr_t) new, (uintptr_t)old, sizeof(uint64_t), 0, 0);
}

SHMEMI_BARE static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct shmemi_fork_plan *plan = forking;
    if (plan && !plan->completed && shmemi_raw(SYS_getpid, 0, 0, 0, 0, 0, 0) != plan->parent) {
        complete_child(plan);
        return; /* and try again */
    }
    if (!plan) /* another thread of the parent, where all memory is there. Relaxed: it was set before the
                  handler was. */
        plan = &atomic_load_explicit(&served, memory_order_relaxed)->plan;
    set_fault_action(&plan->old_action,
                     NULL); /* not ours: the same instruction meets the program's own action */
    if (info->si_code <= 0) /* sent by somebody: there is no such instruction */
        shmemi_raw(SYS_tkill, (uintptr_t)shmemi_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), (uintptr_t)number, 0, 0, 0,
                   0);
}

/* ---- before ---- */

static bool more_runs(struct shmemi_fork_plan *plan)
{
    size_t capacity = plan->capacity ? plan->capacity * 2 : 1024;
    struct shmemi_fork_run *runs =
        mmap(NULL, capacity * sizeof *runs, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (runs == MAP_FAILED)
        return false;
    if (plan->capacity) {
        memcpy(runs, plan->runs, plan->count * sizeof *runs);
        munmap(plan->runs, plan->capacity * sizeof *runs);
    }
    plan->runs = runs;
    plan->capacity = capacity;
    return true;
}

/* Lists every mapping of the mixed file, wherever it is. */
static bool list_runs(struct shmemi_inplace *engine)
{
    struct shmemi_fork_plan *plan = &engine->plan;
    struct shmemi_map map;
    int rc;
    plan->count = 0;
    shmemi_maps_rewind(&engine->maps);
    while ((rc = shmemi_maps_next(&engine->maps, &map)) > 0) {
        if (shmemi_inplace_kind_of(engine, &map) != SHMEMI_PAGES_MIXED)
            continue;
        if (plan->count == plan->capacity && !more_runs(plan))
            return false;
        plan->runs[plan->count++] = (struct shmemi_fork_run){.address = map.start,
                                                             .length = map.end - map.start,
                                                             .offset = map.offset,
                                                             .protection = map.protection};
    }
    return rc == 0;
}

static void set_inherit(const struct shmemi_fork_plan *plan, int advice)
{
    for (size_t i = 0; i < plan->count; i++)
        madvise((void *)(uintptr_t)plan->runs[i].address, (size_t)plan->runs[i].length, advice);
}

#ifdef __x86_64__
/* The kernel leaves the way back from a handler to us there. */
void shmemi_fork_return_from_fault(void);
__asm__(".text\n.hidden shmemi_fork_return_from_fault\n.globl shmemi_fork_return_from_fault\n"
        ".type shmemi_fork_return_from_fault, @function\n"
        "shmemi_fork_return_from_fault: mov $15, %eax\nsyscall\n"
        ".size shmemi_fork_return_from_fault, .-shmemi_fork_return_from_fault\n");
#endif

static void catch_faults(struct shmemi_fork_plan *plan)
{
    const uint64_t fault = UINT64_C(1) << (SIGSEGV - 1);
    struct shmemi_kernel_action action = {.handler = (uintptr_t)on_fault, .flags = SA_SIGINFO};
#ifdef __x86_64__
    action.flags |= 0x04000000; /* SA_RESTORER */
    action.restorer = (uintptr_t)shmemi_fork_return_from_fault;
#endif
    set_fault_action(&action, &plan->old_action);
    shmemi_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (uintptr_t)&fault, (uintptr_t)&plan->old_mask, sizeof fault,
               0, 0);
}

static void make_plan(struct shmemi_inplace *engine)
{
    struct shmemi_fork_plan *plan = &engine->plan;
    plan->count = 0;
    plan->parent = engine->owner;
    plan->completed = false;
    plan->active = false;
    plan->file = engine->files[SHMEMI_PAGES_MIXED];
    if (engine->mixed == 0)
        return;
    if (!list_runs(engine) || pipe2(plan->done, O_CLOEXEC) < 0) {
        shmemi_warn("map", "no memory or descriptors to give a forked child its own copies: it shares "
                           "registered memory and what lies beside it");
        plan->count = 0;
        return;
    }
    plan->active = true;
    set_inherit(plan, MADV_DONTFORK);
    forking = plan;
    catch_faults(plan);
}

static void before(void)
{
    pthread_mutex_lock(&gate);
    struct shmemi_inplace *engine =
        atomic_load_explicit(&served, memory_order_relaxed); /* ordered by the gate */
    if (!engine)
        return;
    pthread_mutex_lock(&engine->lock);
    make_plan(engine);
}

/* ---- after ---- */

static void stop_catching(struct shmemi_fork_plan *plan)
{
    struct shmemi_kernel_action now;
    set_fault_action(NULL, &now);
    if (now.handler == (uintptr_t)on_fault)
        set_fault_action(&plan->old_action, NULL);
    shmemi_raw(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&plan->old_mask, 0, sizeof plan->old_mask, 0, 0);
    forking = NULL;
}

static void wait_for_child(struct shmemi_fork_plan *plan)
{
    char byte;
    close(plan->done[1]);
    while (read(plan->done[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(plan->done[0]);
}

static void in_parent(void)
{
    struct shmemi_inplace *engine =
        atomic_load_explicit(&served, memory_order_relaxed); /* ordered by the gate */
    if (engine) {
        struct shmemi_fork_plan *plan = &engine->plan;
        if (plan->active) {
            stop_catching(plan);
            wait_for_child(plan);
            set_inherit(plan, MADV_DOFORK);
        }
        pthread_mutex_unlock(&engine->lock);
    }
    pthread_mutex_unlock(&gate);
}

static void in_child(void)
{
    if (forking)
        complete_child(forking);
    struct shmemi_inplace *engine = atomic_load_explicit(&served, memory_order_relaxed); /* the only thread */
    if (engine) {
        if (engine->plan.active) {
            stop_catching(&engine->plan);
            close(engine->plan.done[0]);
            close(engine->plan.done[1]);
        }
        engine->owner = -1;
        shmemi_guard_close(&engine->guard);
        shmemi_maps_close(&engine->maps);
        for (int kind = 0; kind < SHMEMI_PAGE_KINDS; kind++) {
            if (engine->files[kind] >= 0)
                close(engine->files[kind]);
            engine->files[kind] = -1;
        }
        atomic_store_explicit(&served, NULL, memory_order_relaxed); /* the only thread */
        pthread_mutex_init(&engine->lock, NULL);
    }
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
    bool free = !atomic_load_explicit(&served, memory_order_relaxed); /* ordered by the gate */
    if (free)
        atomic_store_explicit(&served, engine, memory_order_relaxed);
    pthread_mutex_unlock(&gate);
    return free ? 0 : shmemi_fail(-EBUSY, "this process registers memory in place for another job already");
}

void shmemi_inplace_fork_leave(struct shmemi_inplace *engine)
{
    pthread_mutex_lock(&gate);
    if (atomic_load_explicit(&served, memory_order_relaxed) == engine) /* ordered by the gate */
        atomic_store_explicit(&served, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&gate);
}
