// SPDX-License-Identifier: Apache-2.0
// Requests: what the host has to do when a stream has come to a point. A thread of this process, the proxy, does them,
// because a function that a driver calls may not wait: drivers serialise such calls over streams.
//
// A request lives until drop(). Those of one stream are done in the order in which they were queued; of different
// streams, as these come to them. A request that cannot be done fails its stream: what was queued behind it goes on,
// since no driver takes work back, but the stream's requests are not done any more, and every use of it is answered
// with the reason. So no stream waits for ever for somebody who is gone.
#ifndef SHMEMI_DEVICE_REQUEST_H
#define SHMEMI_DEVICE_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device.h"

enum shmemi_look {
    SHMEMI_LOOK_EARLY,   /* the stream has not come there yet: only whether it still makes sense */
    SHMEMI_LOOK_QUICK,   /* it has come: do it if it can be done now */
    SHMEMI_LOOK_CLOSELY, /* likewise, and see whether it can be done at all: every few milliseconds */
};

struct shmemi_request {
    /* By the proxy, again and again: 1 when it is over (also early), 0 when it is not, or negative errno with the text,
       which fails the stream. Never blocks, never queues. */
    int (*look)(struct shmemi_request *request, enum shmemi_look how);
    /* Once: it is over, or it never will be; frees it. Never blocks. */
    void (*drop)(struct shmemi_request *request, bool done);
    bool holds; /* what is queued behind waits until it is over */
    bool waits; /* somebody else ends it, and wakes who sleeps at shmemi_requests_watch()'s word */
};

/* Queues it: two calls of the driver for one that holds, else one. The stream's thread only. When it fails nothing is
   done, and the request stays the caller's; a stream that waits for it by then has failed. -ENOTSUP: the device's
   streams can neither write words nor wait for them. -EAGAIN: SHMEMI_REQUESTS_MOST are pending on the device. The
   stream's own error when it has failed. */
enum { SHMEMI_REQUESTS_MOST = 4096 };
int shmemi_request_queue(struct shmemi_stream *stream, struct shmemi_request *request);

/* 0, -ENOTSUP as above, or what else the driver says; makes what requests on that device need. */
int shmemi_requests_able(struct shmemi_stream *stream);

/* The word that changes when somebody may have ended a request that waits, and the count of sleepers that has him look;
   announced() is called when the proxy has counted itself. For one job at a time; NULL takes it back, and then the
   memory is not touched any more. */
void shmemi_requests_watch(_Atomic uint32_t *word, _Atomic uint32_t *sleepers, void (*announced)(void));

/* Fails all that are pending, with this error. */
void shmemi_requests_cancel(int rc, const char *text);

/* Looks at all of them closely, and whether drivers have lost some by an error, which fails their streams. How many are
   not over then; *near: 0 when nothing was done, and all streams with some wait for somebody else. */
size_t shmemi_requests_pending(size_t *near);

#endif
