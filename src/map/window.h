// SPDX-License-Identifier: Apache-2.0
// The moment in which pages change places: other threads that touch them wait, and so would this one.
#ifndef SHMEMI_MAP_WINDOW_H
#define SHMEMI_MAP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run of pages with one protection, going into the file or out of it. */
struct shmemi_window {
    uintptr_t address;
    size_t length;
    int protection; /* PROT_ of the mapping at the address */
    int file;
    uint64_t offset;
    int guard;        /* a userfaultfd, or -1: nobody else writes */
    uintptr_t park;   /* see the two functions */
    const char *step; /* on failure: what did not work */
};

/* Private pages into the file, where room for them was allocated. They end up at `park` (a mapping of that
   length, which is replaced), or where the kernel likes if that is 0, and w->park tells; without a guard they
   are simply replaced. On failure (negative errno) all is as before. Call with signals blocked. */
int shmemi_window_in(struct shmemi_window *w);

/* Pages of the file back to private memory: they are copied to `park`, a private writable mapping of that
   length, which then takes the place. On failure (negative errno) the shared pages are where they were. */
int shmemi_window_out(struct shmemi_window *w);

#endif
