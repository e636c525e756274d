// SPDX-License-Identifier: Apache-2.0
// Registering in place: pages of memory that the caller already has move into memfds of this process and stay
// mapped where they were, so that peers can map them too. Nothing that any thread writes meanwhile is lost.
//
// Two sparse memfds, "whole" and "mixed"; in both, file offset = address + epoch * SHMEMI_EPOCH_STRIDE.
// Neighbours of one kind therefore merge into one mapping, and a peer needs two descriptors for everything.
//
//     object           |....===========================....|
//     pages        [ mixed ][ whole ][ whole ][ whole ][ mixed ]
//
// *whole*: pages strictly inside an object. They stay shared with a forked child; but if the object lies in a
//          heap, where memory is used again after free(), the child gets a copy-on-write view of them.
// *mixed*: the first and the last page that an object touches, and all pages of one that spans less than
//          128 KiB. Other data live there too (a neighbour's, malloc's own): shared inside a job only, and a
//          forked child gets private copies.
//
// A page is counted, and moved only by its first region: moving what is already shared would lose writes. So
// a region is a list of pieces. The last deregister turns pages back into private memory.
#ifndef SHMEMI_MAP_INPLACE_H
#define SHMEMI_MAP_INPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far writes of other threads were safe while pages moved (register) and will be when they move back. */
enum shmemi_guard {
    SHMEMI_GUARD_NONE, /* nobody may write during the call: no userfaultfd, or a private mapping of a file */
    SHMEMI_GUARD_USER, /* threads wait; but a system call that touches the pages can fail with EFAULT */
    SHMEMI_GUARD_FULL, /* writers wait, whoever they are */
};

enum shmemi_page_kind {
    SHMEMI_PAGES_WHOLE,
    SHMEMI_PAGES_MIXED,
    SHMEMI_PAGE_KINDS,
};

/* Whole pages, in one file one after the other. Goes to peers as it is. */
struct shmemi_piece {
    uint64_t address; /* in the owner */
    uint64_t length;
    uint64_t offset; /* in the file of that kind */
    uint32_t kind;   /* enum shmemi_page_kind */
    uint32_t pad;    /* 0 */
};

struct shmemi_inplace; /* one per process at a time */

/* What shmemi_inplace_move_static() did, for the engine that is made later. All 0: nothing. */
struct shmemi_inplace_static {
    uintptr_t low, high; /* whole pages */
    int file;            /* the mixed memfd */
    bool moved;
};

/* All 0 is the normal configuration. */
struct shmemi_inplace_config {
    /* May `bytes` more be taken from the machine? 0, or a negative errno with its text. Called in small
       steps, also while pages move back. NULL: yes. */
    int (*reserve)(void *context, size_t bytes);
    void *context;
    const struct shmemi_inplace_static *statics; /* or NULL; the engine takes their file over */
    /* for tests */
    bool without_userfaultfd;
    bool user_mode_only;
    bool without_dispatch;  /* fork as where there is no syscall user dispatch */
    bool without_map_query; /* read /proc/self/maps as text, as before Linux 6.11 */
};

/* One at a time in a process: -EBUSY if there is one. Registers the fork handlers. */
int shmemi_inplace_create(const struct shmemi_inplace_config *config, struct shmemi_inplace **out);

/* Gives every page back and ends the engine; in a forked child leaves all memory as it is. NULL is fine. */
void shmemi_inplace_destroy(struct shmemi_inplace *engine);

/* The memfd of that kind, made if need be; stays the engine's. Negative errno on failure. */
int shmemi_inplace_fd(struct shmemi_inplace *engine, enum shmemi_page_kind kind);

/* Makes the pages of [address, address + size) shared, all of them or none. *pieces_out is the caller's to
   free(); it covers whole pages, lowest address first. Any thread may call it; it blocks while pages are
   copied. Errors, with their text:
   - EINVAL: size 0, a range that wraps, a stack, a thread's control block, device or huge-page memory
   - EFAULT: part of it is not mapped
   - EACCES: part of it is not writable
   - EEXIST: it is shared by another mapping already (a memfd, /dev/shm, a file)
   - EBUSY: it is under another userfaultfd
   - ENOMEM: no memory for a second copy of a few MiB, or no mapping left
   - ENOSPC: peers kept too many earlier registrations of it
   - ECHILD: after fork

   What cannot be noticed: pinned pages (io_uring, RDMA, cudaHostRegister) must not be registered. A lock on
   the pages (mlock), their NUMA policy and advice are lost. */
int shmemi_inplace_register(struct shmemi_inplace *engine, void *address, size_t size, struct shmemi_piece **pieces_out,
                            size_t *count_out, enum shmemi_guard *guard_out);

/* Counts the pages of a region down, and gives back those that no region needs any more, with the guard that
   register told. peers_mapped: some peer may hold a mapping of it, so these file offsets are not used again.
   Memory that was freed or replaced meanwhile is left alone. -ENOMEM: some pages could not become private
   again and stay shared; the region is gone all the same. -ECHILD after fork, where nothing changes. */
int shmemi_inplace_deregister(struct shmemi_inplace *engine, const struct shmemi_piece *pieces, size_t count,
                              bool peers_mapped);

/* Moves the whole pages around [low, high) of a program's static data, all as mixed. For use before main,
   while there is one thread: calls nothing outside this library between copying and mapping, for the range
   may hold libc's own data. Read-only parts inside the range (RELRO) are left out. Returns 0 or a negative
   errno with its text. */
int shmemi_inplace_move_static(uintptr_t low, uintptr_t high, struct shmemi_inplace_static *out);

#endif
