// SPDX-License-Identifier: Apache-2.0
// Killing a child at a chosen instant of an operation. x86-64 only: see STEPS_POSSIBLE.
//
// STORE: after its n-th store to memory that it shares with others. That memory is write-protected in the child; each
// store is let through by a handler and followed by a single step. CALL: after its n-th system call, as the parent sees
// it with ptrace. Either can be followed by so many more instructions.
#ifndef TESTS_CHAOS_STEPS_H
#define TESTS_CHAOS_STEPS_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "leaks.h"

#if defined(__x86_64__) && !LEAKS_SANITIZED
#define STEPS_POSSIBLE 1
#else
#define STEPS_POSSIBLE 0
#endif

struct steps_when {
    enum { STEPS_STORE, STEPS_CALL } kind;
    unsigned long index; /* 0: at the beginning; ULONG_MAX: not before the end */
    unsigned long more;  /* instructions */
};

enum { STEPS_GAPS = 20000 };

/* Shared by parent and child. */
struct steps {
    struct steps_when when;
    volatile unsigned long stores, calls;
    volatile int done; /* the operation has returned */
    bool measure;      /* count the instructions between stores */
    unsigned gaps;
    unsigned gap[STEPS_GAPS];
};

#if STEPS_POSSIBLE

/* ---- in the child ---- */

static struct {
    struct steps *steps;
    char *at, *copy;
    size_t bytes, most;
    bool in_store, stepping;
    unsigned long left;
} steps_child;

static inline void steps_die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static inline void steps_set_trap(void *context, bool on)
{
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    *flags = on ? *flags | 0x100 : *flags & ~0x100;
}

static inline void steps_on_fault(int signal, siginfo_t *info, void *context)
{
    const char *address = info->si_addr;
    if (address < steps_child.at || address >= steps_child.at + steps_child.bytes || steps_child.in_store) {
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(signal, &usual, NULL);
        return;
    }
    mprotect(steps_child.at, steps_child.bytes, PROT_READ | PROT_WRITE);
    steps_child.in_store = true;
    steps_set_trap(context, true);
}

/* The instructions since the last store, if this was one. */
static inline void steps_measure(struct steps *s)
{
    if (s->gaps < STEPS_GAPS)
        s->gap[s->gaps]++;
    if (memcmp(steps_child.copy, steps_child.at, steps_child.most) != 0) {
        memcpy(steps_child.copy, steps_child.at, steps_child.most);
        s->gaps += s->gaps < STEPS_GAPS;
    }
}

static inline void steps_on_trap(int signal, siginfo_t *info, void *context)
{
    struct steps *s = steps_child.steps;
    (void)signal;
    (void)info;
    if (s->measure) {
        steps_measure(s);
        steps_set_trap(context, true);
        return;
    }
    if (steps_child.stepping) {
        if (--steps_child.left == 0)
            steps_die();
        return;
    }
    steps_child.in_store = false;
    if (++s->stores == s->when.index) {
        if (s->when.more == 0)
            steps_die();
        steps_child.stepping = true;
        steps_child.left = s->when.more;
        return;
    }
    mprotect(steps_child.at, steps_child.bytes, PROT_READ);
    steps_set_trap(context, false);
}

static inline void steps_protect(char *at, size_t bytes)
{
    steps_child.at = at;
    steps_child.bytes = bytes;
    if (!steps_child.stepping && !steps_child.steps->measure)
        mprotect(at, bytes, PROT_READ);
}

static inline void steps_unprotect(void)
{
    if (steps_child.at)
        mprotect(steps_child.at, steps_child.bytes, PROT_READ | PROT_WRITE);
    steps_child.at = NULL;
}

/* From here on it counts. at: what is shared; NULL: it is not mapped yet (steps_protect()). */
static inline void steps_begin(struct steps *s, char *at, size_t bytes, size_t most)
{
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    if (s->when.kind == STEPS_CALL) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(77);
        raise(SIGSTOP);
        return;
    }
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    struct sigaction fault = {.sa_sigaction = steps_on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK},
                     trap = {.sa_sigaction = steps_on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGTRAP, &trap, NULL);
    steps_child.steps = s;
    steps_child.most = most;
    steps_child.stepping = s->when.index == 0;
    steps_child.left = s->when.more + 1;
    if (s->measure) {
        steps_child.copy = malloc(most);
        memcpy(steps_child.copy, at, most);
    }
    if (at)
        steps_protect(at, bytes);
    if (s->measure || steps_child.stepping)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static inline void steps_end(struct steps *s)
{
    s->done = 1;
    steps_die();
}

/* ---- in the parent ---- */

static inline int steps_status(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        continue;
    return status;
}

/* To the n-th return of a system call, and so many instructions more. */
static inline int steps_trace(pid_t pid, struct steps *s)
{
    int status = steps_status(pid);
    unsigned long more = s->when.more;
    bool inside = false;
    if (!WIFSTOPPED(status))
        return status;
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD);
    while (!s->done && s->calls < s->when.index) {
        ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
        if (!WIFSTOPPED(status = steps_status(pid)))
            return status;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80))
            break;
        s->calls += inside;
        inside = !inside;
    }
    while (!s->done && more-- && WIFSTOPPED(status)) {
        ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
        if (WIFSTOPPED(status = steps_status(pid)) && (WSTOPSIG(status) & 0x7f) != SIGTRAP)
            break;
    }
    if (WIFSTOPPED(status)) {
        bool expected = (WSTOPSIG(status) & 0x7f) == SIGTRAP || WSTOPSIG(status) == SIGSTOP;
        kill(pid, SIGKILL);
        int last = steps_status(pid);
        return expected ? last : status;
    }
    return status;
}

/* Waits for the child to be killed as s->when says, or at the end. false: it ended otherwise; see *status. */
static inline bool steps_run(pid_t pid, struct steps *s, int *status)
{
    *status = s->when.kind == STEPS_CALL ? steps_trace(pid, s) : steps_status(pid);
    /* A step where signals are blocked is a kill, too: with another number. */
    return WIFSIGNALED(*status) && (WTERMSIG(*status) == SIGKILL || WTERMSIG(*status) == SIGTRAP);
}

#endif

/* Child and parent take turns: on one core that is faster. */
static inline void steps_one_core(void)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) < 0)
        return;
    unsigned cores[CPU_SETSIZE], count = 0;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all))
            cores[count++] = cpu;
    CPU_SET(cores[(unsigned)getpid() % count], &one);
    sched_setaffinity(0, sizeof one, &one);
}

#endif
