// SPDX-License-Identifier: Apache-2.0
#ifndef SHMEMI_DEVICE_DEVICE_INTERNAL_H
#define SHMEMI_DEVICE_DEVICE_INTERNAL_H

#include "device.h"

/* In a forked child: a thread of the parent may have had their locks. Drivers do not survive, but the child still asks
   whether keys and addresses are of devices. */
void shmemi_device_table_in_child(void);
void shmemi_device_pools_in_child(void);

/* The table, held so that nothing is taken away; what is found is valid as long. */
void shmemi_device_table_lock(void);
void shmemi_device_table_unlock(void);
struct shmemi_device_span *shmemi_device_table_at(const void *address);

/* Of a pool of this process. One import more of its own memory, or one less: a pool with imports is not closed. */
struct shmemi_device_pool *shmemi_device_pool_hold(uint64_t number);
void shmemi_device_pool_let_go(struct shmemi_device_pool *pool);
const struct shmemi_device_memory *shmemi_device_pool_memory(const struct shmemi_device_pool *pool);
const struct shmemi_device_hal *shmemi_device_pool_hal(const struct shmemi_device_pool *pool);
struct shmemi_share *shmemi_device_pool_share(const struct shmemi_device_pool *pool);

/* Whether anything of that kind has been used. */
bool shmemi_device_is_open(const struct shmemi_device_hal *hal);

/* Whether a span that begins there may be written to from now on. */
void shmemi_device_table_allow(const char *begin, bool writable);

/* Something that is queued on a stream: one call of the driver, in a thread whose device is the stream's. */
typedef int shmemi_device_work(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream,
                               const void *what);
int shmemi_device_submit(const struct shmemi_device_hal *hal, struct shmemi_device_stream stream,
                         shmemi_device_work *work, const void *what);

/* A stream of this library's own for copies that are waited for, kept by this thread until it is let go. */
int shmemi_device_own_stream(const struct shmemi_device_hal *hal, int device, struct shmemi_device_stream *out);
void shmemi_device_let_stream_go(const struct shmemi_device_hal *hal, int device);

struct shmemi_stream {
    const struct shmemi_device_hal *hal;
    struct shmemi_device_stream stream;
    bool own;
    struct shmemi_stream *next, *previous; /* of all own ones */
};

#endif
