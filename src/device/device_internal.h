// SPDX-License-Identifier: Apache-2.0
#ifndef SHMEMI_DEVICE_DEVICE_INTERNAL_H
#define SHMEMI_DEVICE_DEVICE_INTERNAL_H

#include <stdatomic.h>

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
/* -EINVAL: the bytes go beyond the buffer that begins at the address. With SHMEM_DEBUG addresses within buffers are
   looked up, too, and those in none refused. which: what the text calls the address. */
int shmemi_device_pool_check(struct shmemi_device_pool *pool, const void *address, size_t bytes, const char *which);

/* Adopted memory: as the functions of device.h that have these names without "adopted". */
int shmemi_adopted_export(const void *address, size_t bytes, struct shmemi_export *what, char text[SHMEMI_KEY_TEXT]);
int shmemi_adopted_pin(const void *address, size_t bytes);
void shmemi_adopted_unpin(const void *address);

/* This process's share of adopted memory if it has that number; else NULL. */
struct shmemi_share *shmemi_adopted_share(uint64_t number);

/* The piece that a key of that share names; it is not disowned until it is let go. -ESTALE: it was freed. */
int shmemi_adopted_hold(const struct shmemi_key_record *record, struct shmemi_device_adopted **out,
                        const struct shmemi_device_hal **hal, const struct shmemi_device_memory **memory);
void shmemi_adopted_let_go(struct shmemi_device_adopted *adopted);
/* A pool of which no more than that many bytes are given out, so that pools on several devices give alike. */
int shmemi_device_pool_create_exact(const char *type, int device, size_t bytes, struct shmemi_device_pool **out);
/* Its blocks, held until they are unlocked; and, while they are, whether a part of that range is pinned. */
struct shmemi_heap_blocks *shmemi_device_pool_lock_blocks(struct shmemi_device_pool *pool);
void shmemi_device_pool_unlock_blocks(struct shmemi_device_pool *pool);
bool shmemi_device_pool_pinned(const struct shmemi_device_pool *pool, size_t offset, size_t bytes);

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
/* While it is held: something was queued there that shmemi_device_finish_begun() has to wait for. */
void shmemi_device_note_begun(const struct shmemi_device_hal *hal, int device);

struct shmemi_stream {
    const struct shmemi_device_hal *hal;
    struct shmemi_device_stream stream;
    bool own;
    struct shmemi_stream *next, *previous; /* of all own ones */
    /* Of requests; written under their lock: */
    unsigned holders;         /* places of requests */
    bool ended;               /* the driver has nothing of it any more */
    bool forgotten;           /* by the program: freed with the last place */
    bool held;                /* it may wait for a word of its device's still; see shmemi_request_passed() */
    _Atomic uint32_t pending; /* places of requests; slept on */
    _Atomic int failed;       /* negative errno; 0: it has not. Written once, after: */
    char failure[480];
};

#endif
