// SPDX-License-Identifier: Apache-2.0
// Regions: memory of one PE that others reach. This PE's own, and its holds on those of peers.
#ifndef SHMEMI_COMM_REGION_H
#define SHMEMI_COMM_REGION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"
#include "job/parts.h"
#include "path.h"
#include "shmemx.h"

/* What a handle stands for. Made complete before anybody can find it; afterwards only the atomics and what says so
   change. */
struct shmemi_region {
    int owner;
    uint64_t number;
    struct shmemi_region_entry *entry;  /* in the owner's directory; NULL for SHMEMX_KIND_SYMMETRIC without number */
    const struct shmemi_path *path;     /* how it is reached from here, */
    struct shmemi_remote_memory memory; /* and where: base is its first byte here, or NULL */
    size_t size, offset;                /* offset: of a symmetric region in the heap */
    struct shmemi_device_heap *heap;    /* that this is, if it is on a device; else NULL */
    unsigned access;
    shmemx_kind_t kind;
    shmemx_guard_t guard;
    shmemx_type_t type;
    char name[SHMEMI_NAME_BYTES];
    char key[SHMEMI_KEY_TEXT];           /* of memory of a device: by which peers map it */
    struct shmemi_device_import *import; /* of a peer's such memory; NULL: none */
    void *mapping;                       /* a peer's memory that was mapped for this handle; NULL: none */
    size_t mapping_bytes;
    /* This PE's own: */
    struct shmemi_piece *pieces;
    size_t piece_count;
    _Atomic uint64_t writes_taken, reads_taken; /* events consumed */
    _Atomic(shmemx_region_t) *at;               /* by PE: the corresponding region, once it was asked for */
    shmemx_region_t self;
    struct shmemi_region *next, *previous; /* this PE's own that are live; under the lock */
};

struct shmemi_handles;
struct shmemi_peer_files;

/* All regions of this process in its job. */
struct shmemi_regions {
    pthread_mutex_t lock;       /* the list of own regions, numbering; taken by the service thread too */
    pthread_mutex_t files_lock; /* the peers' files; held while a peer is asked, so the service thread never takes it */
    struct shmemi_handles *handles;
    struct shmemi_region *own;       /* live ones */
    uint64_t taken;                  /* directory entries with pages */
    struct shmemi_peer_files *files; /* by PE: descriptors of its in-place memory */
    _Atomic bool offering;           /* a thread offers a region, */
    _Atomic bool standing;           /* a thread stands in line: comm/rendezvous.c */
};

/* This process's regions, made on first use. */
int shmemi_regions_get(struct shmemi_regions **out);

/* A PE's directory entry for a region number. */
struct shmemi_region_entry *shmemi_region_entry(int pe, uint64_t number);

/* --- handles (handles.c) ----------------------------------------------------------------------------------------- */

/* The process's table of handles, made at the first use. */
int shmemi_handles_get(struct shmemi_handles **out);
/* At the end of a job: all handles that are left mean nothing from now on; forget() is called for the region of each.
 */
void shmemi_handles_end(struct shmemi_handles *handles, void (*forget)(struct shmemi_region *region));
/* Makes a handle that stands for the region. */
int shmemi_handle_new(struct shmemi_region *region, shmemx_region_t *out);
/* The region, held until shmemi_handle_drop(); -EINVAL "... is no region handle (or it was closed)", -EPERM without
 * job. */
int shmemi_handle_hold(shmemx_region_t handle, struct shmemi_region **out);
void shmemi_handle_drop(shmemx_region_t handle);
/* Makes the handle invalid, waits until nobody holds the region, and returns it: for one caller only; NULL for others.
 */
struct shmemi_region *shmemi_handle_take(shmemx_region_t handle);
/* The same, but NULL when somebody holds it for another second. */
struct shmemi_region *shmemi_handle_take_soon(shmemx_region_t handle);
/* Whether the handle was taken while the caller holds the region: long waits end then. */
bool shmemi_handle_closing(shmemx_region_t handle);

/* --- own (region_own.c), peers' (region_peer.c) ------------------------------------------------------------------ */

int shmemi_region_register(void *address, size_t size, const shmemx_region_attr_t *attr, shmemx_region_t *out);
int shmemi_region_deregister(shmemx_region_t handle);
int shmemi_region_find(int pe, const char *name, uint64_t number, double timeout, shmemx_region_t *out);
int shmemi_region_at(struct shmemi_region *mine, int pe, double timeout, shmemx_region_t *out);
int shmemi_region_symmetric(void *address, size_t size, shmemx_region_t *out);
int shmemi_region_close(shmemx_region_t handle);
/* Gives up a peer's region: unmaps it. */
void shmemi_region_let_go(struct shmemi_region *region);

/* 0 while the region is registered and its owner there; -ENOENT with the text otherwise. */
int shmemi_region_check(const struct shmemi_region *region);

/* The same, and whether `size` bytes at offset are in it, and its owner allows what is needed (SHMEMX_REMOTE_ bits;
   `what` says it in words). */
int shmemi_region_check_access(const struct shmemi_region *region, size_t offset, size_t size, unsigned needed,
                               const char *what);
/* Whether an operation on elements of this type may work on the region's. */
int shmemi_region_check_type(const struct shmemi_region *region, shmemx_type_t type);
/* Where the element at offset is; one that atomics cannot work on is refused, and one of another type. */
int shmemi_region_element(const struct shmemi_region *region, size_t offset, shmemx_type_t type, char **out);

/* --- access (region_access.c, rendezvous.c) ---------------------------------------------------------------------- */

int shmemi_region_put(struct shmemi_region *region, size_t offset, const void *source, size_t size);
int shmemi_region_get(void *dest, struct shmemi_region *region, size_t offset, size_t size);
int shmemi_region_put_signal(struct shmemi_region *region, size_t offset, const void *source, size_t size,
                             struct shmemi_region *signal, size_t sig_offset, uint64_t value, int sig_op);
int shmemi_region_atomic(struct shmemi_region *region, size_t offset, shmemx_type_t type, shmemx_atomic_t operation,
                         const void *operand, const void *expected, void *old);
int shmemi_region_wait_value(struct shmemi_region *own, shmemx_region_t handle, size_t offset, shmemx_type_t type,
                             int cmp, const void *value, double timeout);
int shmemi_region_wait_event(struct shmemi_region *own, shmemx_region_t handle, int which, double timeout);
int shmemi_put_to_waiting(int pe, size_t offset, const void *source, size_t size, double timeout);

/* Counts a write or read event at the owner and wakes it. */
void shmemi_region_event(struct shmemi_region *region, int which);

/* --- on a stream (region_stream.c) -------------------------------------------------------------------------------- */

/* A region and the handle through which the caller holds it. */
struct shmemi_region_use {
    shmemx_region_t handle;
    struct shmemi_region *region;
};

int shmemi_region_put_on(struct shmemi_region_use to, size_t offset, const void *source, size_t size,
                         struct shmemi_stream *stream);
int shmemi_region_get_on(void *dest, struct shmemi_region_use from, size_t offset, size_t size,
                         struct shmemi_stream *stream);
int shmemi_region_signal_on(struct shmemi_region_use to, size_t offset, uint64_t value, int sig_op,
                            struct shmemi_stream *stream);
int shmemi_region_put_signal_on(struct shmemi_region_use to, size_t offset, const void *source, size_t size,
                                struct shmemi_region_use signal, size_t sig_offset, uint64_t value, int sig_op,
                                struct shmemi_stream *stream);
int shmemi_region_wait_on(struct shmemi_region_use own, size_t offset, int cmp, uint64_t value,
                          struct shmemi_stream *stream);

#endif
