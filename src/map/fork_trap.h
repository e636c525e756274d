// SPDX-License-Identifier: Apache-2.0
// Being there when a child is born: before the C library does anything in it, and before it does more in the
// parent.
#ifndef SHMEMI_MAP_FORK_TRAP_H
#define SHMEMI_MAP_FORK_TRAP_H

#include <stdbool.h>
#include <stdint.h>

#include "map/raw.h"

/* The kernel's struct sigaction. */
struct shmemi_kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

/* In memory that every child has. */
struct shmemi_fork_trap {
    /* Runs in the child, once, before its first access to missing memory or at shmemi_fork_trap_clear();
       bare. */
    void (*in_child)(struct shmemi_fork_trap *trap);
    /* Runs in the parent behind the system call, while the C library still holds its locks, if this kernel
       lets us; bare. Else `parent_done` stays false. */
    void (*in_parent)(struct shmemi_fork_trap *trap);
    bool without_dispatch; /* do not try the second one */
    int32_t parent;        /* process id */
    bool child_done, parent_done;
    volatile char selector; /* the kernel reads it at each system call of the forking thread */
    struct shmemi_kernel_action old_segv, old_sys;
    uint64_t old_mask;
};

/* Last thing before fork, by the forking thread, which gets no signals until the other call. */
void shmemi_fork_trap_set(struct shmemi_fork_trap *trap);

/* First thing after it, in parent and child. */
void shmemi_fork_trap_clear(struct shmemi_fork_trap *trap);

#endif
