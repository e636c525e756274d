// SPDX-License-Identifier: Apache-2.0
#ifndef SHMEMI_DEVICE_REQUEST_INTERNAL_H
#define SHMEMI_DEVICE_REQUEST_INTERNAL_H

#include <pthread.h>

#include "device_internal.h"
#include "request.h"

struct shmemi_request_ring;

/* A request's place: a pair of words of its device, in use from queuing until the stream has come to the end of it. */
struct shmemi_request_place {
    struct shmemi_request_ring *ring;
    struct shmemi_request *request; /* NULL: over, or free */
    struct shmemi_stream *stream;
    struct shmemi_request_place *next; /* behind it on the stream, or the next free one */
    uint64_t number;                   /* of its uses */
    bool holds, waits;                 /* as of the request, which may be gone */
    bool queuing;                      /* its thread is still at it */
    bool come;                         /* the stream has come there */
    bool lost;                         /* it never will: the driver has dropped what was queued */
};

/* What is pending on one stream of a driver, in order. */
struct shmemi_request_line {
    const struct shmemi_device_hal *hal;
    struct shmemi_device_stream stream;
    struct shmemi_request_place *first, *last;
    struct shmemi_request_line *next;
};

/* Everything here is under this lock, but for what says so. It is not held while anything blocks. */
extern pthread_mutex_t shmemi_requests_lock;
extern struct shmemi_request_line *shmemi_request_lines;

/* Under the lock: looks at the requests of every stream, and does what can be done; true when something was. closely:
   as of SHMEMI_LOOK_CLOSELY, and for requests that no stream has come to. */
bool shmemi_requests_serve(bool closely);

/* Under the lock: whether all streams have come to a request that waits for somebody else: nothing is near then. */
bool shmemi_requests_all_wait(void);

/* Fails the stream with this thread's error text, and drops its requests. */
void shmemi_requests_give_up(struct shmemi_stream *stream, int rc);

/* All that was queued on the stream is done, so it waits for no word any more. */
void shmemi_request_passed(struct shmemi_stream *stream);

/* At the end of the process. Under the lock: lets go whatever stream waits, or will wait, for the host. And with no
   proxy any more: gives the words back; those at which a stream may still be are left to the driver. */
void shmemi_requests_let_all_go(void);
void shmemi_request_rings_free(void);

/* Starts the proxy if it does not run, or wakes it. */
int shmemi_proxy_start(void);
void shmemi_proxy_kick(void);
/* Under the lock: whether the process ends, so that nothing is done any more. */
bool shmemi_proxy_ends(void);

#endif
