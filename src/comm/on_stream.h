// SPDX-License-Identifier: Apache-2.0
// The job's part in requests on streams: barriers and quiets on them, and what becomes of them at its end.
#ifndef SHMEMI_COMM_ON_STREAM_H
#define SHMEMI_COMM_ON_STREAM_H

#include "device/request.h"

/* Before a request of the job is queued: sees to it that the proxy is woken by whoever writes into this PE's memory,
   and that no request outlives the job. -EPERM without a job. */
int shmemi_stream_join(void);

int shmemi_barrier_on(struct shmemi_stream *stream);
int shmemi_quiet_on(struct shmemi_stream *stream);

/* In the last finalize: returns when all requests are over. Those that wait for a word, when all other PEs are in their
   last finalize and no stream of this one goes on, fail. -EINTR. */
int shmemi_streams_drain(void);

#endif
