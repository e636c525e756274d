// SPDX-License-Identifier: Apache-2.0
// The rarely read part of the job object.
#ifndef SHMEMI_JOB_PARTS_H
#define SHMEMI_JOB_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "identity.h"
#include "job.h"
#include "kind.h"
#include "map/service.h"

struct shmemi_heap_blocks;
struct shmemi_live;
struct shmemi_message;
struct shmemi_regions;
struct shmemi_contexts;
struct shmemi_device_heap;
struct shmemi_group;
struct shmemi_teams;

struct shmemi_job_parts {
    struct shmemi_identity identity;
    _Atomic int inits;              /* calls of init without their finalize; changed under the lock of lifecycle.c */
    bool launched;                  /* shmemrun watches, and tells people about deaths itself */
    double timeout;                 /* seconds that waits for other PEs to do their part may take */
    int spins, yields;              /* how long a wait spins and yields before it sleeps */
    struct shmemi_service *service; /* NULL in a job of one */
    size_t control_bytes, window_bytes;
    int heap_fd, control_fd;
    bool heap_kept; /* somebody's arrays lie in the heap: it stays mapped after finalize */
    struct shmemi_heap_blocks *blocks;
    struct shmemi_live *live;       /* its blocks by address, with SHMEM_DEBUG; else NULL */
    uint8_t *heap_pages;            /* a bit for each granule of the heap: whether its pages are taken */
    struct shmemi_regions *regions; /* NULL until a region is made or looked for; and what comm/ does for it: */
    void (*end_regions)(struct shmemi_job *job);
    void (*end_exports)(void);  /* likewise, once a key of the job's memory was made */
    void (*end_objects)(void);  /* likewise, once an object was made on the heap */
    void (*end_requests)(void); /* likewise, once a request was queued on a stream: */
    uint64_t stream_rounds;     /* barriers that were; under the lock */
    struct shmemi_kind kind;   /* where shmem_malloc() allocates; the same type on all PEs */
    _Atomic(struct shmemi_device_heap *)
        device_heaps[SHMEMI_KINDS];                   /* by kind; NULL until one is made; [device-heap] */
    bool stands_in[SHMEMI_KINDS];                     /* the host's memory stands in for that kind */
    void (*end_device_heaps)(struct shmemi_job *job); /* likewise, once one was made */
    bool (*more_pieces)(struct shmemi_job *job, uint64_t number, uint32_t first, struct shmemi_message *reply);
    /* Symmetric static data: this PE's range, and where each peer's is mapped here (NULL: not yet). */
    char *static_data;
    size_t static_bytes;
    char **static_views;
    _Atomic(struct shmemi_contexts *) contexts; /* NULL until a context is made; freed with the job */
    pthread_mutex_t lock;                       /* protects the lazily made members above */
    char *stage; /* scratch for collectives on memory that peers cannot reach; NULL: not yet */
    /* The world team, for every collective; NULL until the first. And the table that it is in. */
    _Atomic(struct shmemi_group *) world;
    struct shmemi_teams *teams;
    void (*end_teams)(struct shmemi_teams *teams);
    bool checked; /* collectives compare what the PEs call */
};

#endif
