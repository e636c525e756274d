// SPDX-License-Identifier: Apache-2.0
// Two traps, set for the length of a fork.
//
// The system call. Handlers of pthread_atfork run outside the time in which fork holds the locks of malloc: a
// thread of the parent may change the heap before ours runs, and the child changes locks and lists before its
// own. The place to be is the system call in between. Linux can hand the system calls of a thread to the
// thread itself (syscall user dispatch, 5.11, x86-64): all are passed on as they are; around the one that
// makes the child we do our work.
//
// The page fault. Where the first trap is missing, the child touches memory that it has not got yet. SIGSEGV
// then has it made, and the instruction is tried again. The parent's other threads are not held back there.
//
// Code here runs in a child that lacks some memory, so it is bare.
#include "map/fork_trap.h"

#include <linux/sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* This thread is forking. Not reached through a function call or the heap, which may be missing. */
static _Thread_local struct shmemi_fork_trap *forking __attribute__((tls_model("initial-exec")));

/* The same for other threads, which may run into the handlers while they are set. The caller sees to it that
   there is one fork at a time. */
static struct shmemi_fork_trap *_Atomic anybody;

enum { RESTORER = 0x04000000, SIGNAL_SET = sizeof(uint64_t) };

static const uint64_t segv = UINT64_C(1) << (SIGSEGV - 1);
static const uint64_t sys = UINT64_C(1) << (SIGSYS - 1);

SHMEMI_BARE static bool in_the_child(const struct shmemi_fork_trap *trap)
{
    return shmemi_raw(SYS_getpid, 0, 0, 0, 0, 0, 0) != trap->parent;
}

SHMEMI_BARE static void complete_child(struct shmemi_fork_trap *trap)
{
    if (trap->child_done)
        return;
    trap->child_done = true;
    trap->in_child(trap);
}

SHMEMI_BARE static void set_action(int number, const struct shmemi_kernel_action *new, struct shmemi_kernel_action *old)
{
    shmemi_raw(SYS_rt_sigaction, (uintptr_t)number, (uintptr_t) new, (uintptr_t)old, SIGNAL_SET, 0, 0);
}

/* ---- the page fault ---- */

SHMEMI_BARE static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct shmemi_fork_trap *trap = forking;
    if (trap && !trap->child_done && in_the_child(trap)) {
        complete_child(trap);
        return; /* and try again */
    }
    if (!trap) /* a thread of the parent, where no memory is missing */
        trap = atomic_load_explicit(
            &anybody, memory_order_acquire);   /* [fork-trap] pairs with the release in shmemi_fork_trap_set() */
    set_action(number, &trap->old_segv, NULL); /* not ours: the same instruction meets the program's own action */
    if (info->si_code <= 0)                    /* sent by somebody: there is no such instruction */
        shmemi_raw(SYS_tkill, (uintptr_t)shmemi_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), (uintptr_t)number, 0, 0, 0, 0);
}

/* ---- the system call ---- */

#ifdef __x86_64__

enum { DISPATCH_SET = 59, DISPATCH_OFF = 0, DISPATCH_ON = 1, DISPATCHED = 2 };
enum selector { ALLOW = 0, BLOCK = 1 };

/* The way back from our handlers, which the kernel leaves to us on x86-64. The dispatch lets it through. */
void shmemi_fork_trap_return(void);
extern const char shmemi_fork_trap_return_end[];
__asm__(".text\n.balign 16\n"
        ".hidden shmemi_fork_trap_return\n.globl shmemi_fork_trap_return\n.type shmemi_fork_trap_return, "
        "@function\n"
        ".hidden shmemi_fork_trap_return_end\n.globl shmemi_fork_trap_return_end\n"
        "shmemi_fork_trap_return:\nmov $15, %eax\nsyscall\nnop\n"
        "shmemi_fork_trap_return_end:\n.size shmemi_fork_trap_return, .-shmemi_fork_trap_return\n");

struct call {
    long number;
    uintptr_t argument[6];
};

SHMEMI_BARE static long pass_on(const struct call *call)
{
    return shmemi_raw(call->number, call->argument[0], call->argument[1], call->argument[2], call->argument[3],
                      call->argument[4], call->argument[5]);
}

/* Makes a process with its own memory, on the caller's stack? */
SHMEMI_BARE static bool makes_child(const struct call *call)
{
    if (call->number == SYS_clone)
        return !(call->argument[0] & CLONE_VM) && call->argument[1] == 0;
    return call->number == SYS_fork;
}

/* Cannot be made from a signal handler: another stack, or a frame that only the caller has. */
SHMEMI_BARE static bool must_be_made_there(const struct call *call)
{
    return call->number == SYS_clone || call->number == SYS_clone3 || call->number == SYS_vfork ||
           call->number == SYS_rt_sigreturn;
}

/* The mask of the interrupted code is in its context. Our two signals stay open. */
SHMEMI_BARE static long change_mask(const struct call *call, ucontext_t *context)
{
    uint64_t *mask = (uint64_t *)(void *)&context->uc_sigmask, old = *mask;
    const uint64_t *set = (const uint64_t *)call->argument[1];
    if (set && call->argument[0] == SIG_BLOCK)
        *mask = old | *set;
    else if (set && call->argument[0] == SIG_UNBLOCK)
        *mask = old & ~*set;
    else if (set)
        *mask = *set;
    *mask &= ~(segv | sys);
    if (call->argument[2])
        *(uint64_t *)call->argument[2] = old;
    return 0;
}

SHMEMI_BARE static long make_child(struct shmemi_fork_trap *trap, const struct call *call)
{
    long child = pass_on(call);
    if (child == 0)
        complete_child(trap);
    else if (child > 0) {
        trap->in_parent(trap);
        trap->parent_done = true;
    }
    return child;
}

/* A signal that is not about our dispatch: the program's own action deals with it. */
SHMEMI_BARE static void not_ours(const struct shmemi_fork_trap *trap, int number, siginfo_t *info, ucontext_t *context)
{
    if (trap->old_sys.handler == (uintptr_t)SIG_IGN)
        return;
    if (trap->old_sys.handler != (uintptr_t)SIG_DFL) {
        ((void (*)(int, siginfo_t *, void *))trap->old_sys.handler)(number, info, context);
        return;
    }
    set_action(number, &trap->old_sys, NULL);
    shmemi_raw(SYS_tkill, (uintptr_t)shmemi_raw(SYS_gettid, 0, 0, 0, 0, 0, 0), (uintptr_t)number, 0, 0, 0, 0);
}

SHMEMI_BARE static void on_system_call(int number, siginfo_t *info, void *opaque)
{
    ucontext_t *context = opaque;
    greg_t *r = context->uc_mcontext.gregs;
    struct shmemi_fork_trap *trap = forking;
    if (!trap || info->si_code != DISPATCHED) {
        if (!trap)
            trap = atomic_load_explicit(
                &anybody, memory_order_acquire); /* [fork-trap] pairs with the release in shmemi_fork_trap_set() */
        not_ours(trap, number, info, context);
        return;
    }
    struct call call = {info->si_syscall,
                        {(uintptr_t)r[REG_RDI], (uintptr_t)r[REG_RSI], (uintptr_t)r[REG_RDX], (uintptr_t)r[REG_R10],
                         (uintptr_t)r[REG_R8], (uintptr_t)r[REG_R9]}};
    trap->selector = ALLOW;
    if (makes_child(&call)) {
        r[REG_RAX] = make_child(trap, &call);
        return; /* and let all through from here on */
    }
    if (must_be_made_there(&call)) {
        r[REG_RAX] = call.number;
        r[REG_RIP] -= 2; /* the length of `syscall` */
        return;
    }
    r[REG_RAX] = call.number == SYS_rt_sigprocmask ? change_mask(&call, context) : pass_on(&call);
    trap->selector = BLOCK;
}

static void give_restorer(struct shmemi_kernel_action *action)
{
    action->flags |= RESTORER;
    action->restorer = (uintptr_t)shmemi_fork_trap_return;
}

/* valgrind would pass the dispatch on to the kernel, and have its own system calls dispatched. */
static bool under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "/vgpreload_");
}

static void catch_system_calls(struct shmemi_fork_trap *trap)
{
    if (trap->without_dispatch || under_valgrind())
        return;
    trap->selector = BLOCK;
    shmemi_raw(SYS_prctl, DISPATCH_SET, DISPATCH_ON, (uintptr_t)shmemi_fork_trap_return,
               (uintptr_t)(shmemi_fork_trap_return_end - (const char *)(uintptr_t)shmemi_fork_trap_return),
               (uintptr_t)&trap->selector, 0);
}

static void release_system_calls(struct shmemi_fork_trap *trap)
{
    trap->selector = ALLOW;
    shmemi_raw(SYS_prctl, DISPATCH_SET, DISPATCH_OFF, 0, 0, 0, 0);
}

#else

SHMEMI_BARE static void on_system_call(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
}

static void give_restorer(struct shmemi_kernel_action *action)
{
    (void)action; /* the kernel has its own */
}

static void catch_system_calls(struct shmemi_fork_trap *trap)
{
    (void)trap;
}

static void release_system_calls(struct shmemi_fork_trap *trap)
{
    (void)trap;
}

#endif

/* ---- both ---- */

typedef void handler(int number, siginfo_t *info, void *context);

/* *old is what the action was a moment ago: the kernel begins to call `handle`, in any thread, before it says what was
   there, and that has to be known by then. */
static void take_action(int number, handler *handle, struct shmemi_kernel_action *old)
{
    struct shmemi_kernel_action action = {.handler = (uintptr_t)handle, .flags = SA_SIGINFO, .mask = ~UINT64_C(0)};
    struct shmemi_kernel_action before = *old;
    give_restorer(&action);
    set_action(number, &action, &before);
    if (before.handler != old->handler || before.flags != old->flags || before.mask != old->mask)
        *old = before; /* another thread has just changed it */
}

static void leave_action(int number, handler *handle, const struct shmemi_kernel_action *old)
{
    struct shmemi_kernel_action now = {0};
    set_action(number, NULL, &now);
    if (now.handler == (uintptr_t)handle)
        set_action(number, old, NULL);
}

void shmemi_fork_trap_set(struct shmemi_fork_trap *trap)
{
    const uint64_t closed = ~(segv | sys);
    trap->parent = (int32_t)shmemi_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
    trap->child_done = trap->parent_done = false;
    set_action(SIGSEGV, NULL, &trap->old_segv);
    set_action(SIGSYS, NULL, &trap->old_sys);
    forking = trap;
    atomic_store_explicit(&anybody, trap,
                          memory_order_release); /* [fork-trap] pairs with the acquire in the handlers */
    take_action(SIGSEGV, on_fault, &trap->old_segv);
    take_action(SIGSYS, on_system_call, &trap->old_sys);
    shmemi_raw(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&closed, (uintptr_t)&trap->old_mask, SIGNAL_SET, 0, 0);
    catch_system_calls(trap);
}

void shmemi_fork_trap_clear(struct shmemi_fork_trap *trap)
{
    release_system_calls(trap);
    if (in_the_child(trap))
        complete_child(trap);
    leave_action(SIGSEGV, on_fault, &trap->old_segv);
    leave_action(SIGSYS, on_system_call, &trap->old_sys);
    forking = NULL;
    shmemi_raw(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&trap->old_mask, 0, SIGNAL_SET, 0, 0);
}
