// SPDX-License-Identifier: Apache-2.0
// The symmetric heaps of a job on devices, one for each type of device that is used: every PE has one on a device of
// its own choice, of the same size, and has all others' mapped. The offsets of blocks are the same everywhere.
#ifndef SHMEMI_COMM_DEVICE_HEAP_H
#define SHMEMI_COMM_DEVICE_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "job/live.h"
#include "job/parts.h"

struct shmemi_device_heap {
    struct shmemi_kind kind; /* with the number of this PE's device */
    struct shmemi_device_pool *pool;
    char *base;               /* this PE's */
    size_t size;              /* of each */
    _Atomic size_t used;      /* no block has gone beyond this */
    struct shmemi_live *live; /* with SHMEM_DEBUG; else NULL */
    char **views;             /* by PE: where its heap is, in this process */
    struct shmemi_device_import **imports;
};

/* The job's heap in memory of that kind; NULL: there is none yet. */
static inline struct shmemi_device_heap *shmemi_device_heap(uint32_t which)
{
    /* [device-heap] acquire pairs with the release in shmemi_device_heap_make(). */
    return atomic_load_explicit(&shmemi_current->parts->device_heaps[which], memory_order_acquire);
}

/* Collective. Makes one. number: of this PE's device; -1: its own number, modulo the devices that it sees. A PE that
   cannot is named in everybody's answer, and nobody has one then; -ENODEV and -ENOTSUP are answered by host memory in
   its place where SHMEM_DEVICE_FALLBACK says so on all PEs: parts->stands_in then, and 0. */
int shmemi_device_heap_make(struct shmemi_kind kind);

/* Which heap of this PE's the address is in, and where; NULL: in none. */
struct shmemi_device_heap *shmemi_device_heap_holding(const void *address, size_t *offset);

/* Before the last finalize: when it returns no PE has another's heap mapped. */
int shmemi_device_heaps_unmap(void);

/* Blocks of one PE: find, take and give as of job/heap.h. */
int shmemi_device_block_find(struct shmemi_device_heap *heap, size_t size, size_t align, size_t *offset);
void shmemi_device_block_take(struct shmemi_device_heap *heap, size_t size, size_t align, size_t offset);
int shmemi_device_block_resize(struct shmemi_device_heap *heap, size_t offset, size_t size);
void shmemi_device_block_give(struct shmemi_device_heap *heap, size_t offset);

#endif
