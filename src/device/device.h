// SPDX-License-Identifier: Apache-2.0
// Memory of devices as programs use it: pools, keys, streams, and copies between any two places.
//
// What is device memory is known by its address: pools and imports of this process are, and what was adopted. All else
// is taken for host memory. Nothing here works in a forked child, since drivers do not survive fork: -EPERM there.
// Errors are those of hal/device.h and map/import.h. Any thread may call anything here; one at a time for one stream.
#ifndef SHMEMI_DEVICE_DEVICE_H
#define SHMEMI_DEVICE_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hal/device.h"
#include "map/import.h"
#include "map/share.h"

/* --- devices ------------------------------------------------------------------------------------------------------ */

/* The back end of a type, opened. *count (may be NULL): its devices. -EINVAL: no such type; -ENODEV and -ENOTSUP with
   what is missing, unless SHMEM_DEVICE_FALLBACK=host: then host memory stands in for the rest of this process's life,
   and a warning says so, once. */
int shmemi_device_open(const char *type, const struct shmemi_device_hal **out, int *count);
/* The same, without a warning: for those who only ask. */
int shmemi_device_look_up(const char *type, const struct shmemi_device_hal **out, int *count);
/* The same, with the driver or not at all. */
int shmemi_device_open_driver(const char *type, const struct shmemi_device_hal **out, int *count);
/* Why one that was opened stands in: what the driver said. */
const char *shmemi_device_why_not(const struct shmemi_device_hal *stand_in);

/* 0, or -EPERM in a forked child of a process that used devices. */
int shmemi_device_check_process(void);

/* --- what lies where (table.c) ------------------------------------------------------------------------------------ */

/* A range of device memory of this process. */
struct shmemi_device_span {
    const struct shmemi_device_hal *hal;
    int device; /* that it lies on, or is used from: copies go over its streams */
    char *begin;
    size_t bytes;
    bool read_only;
    const struct shmemi_device_memory *memory; /* NULL: adopted */
    struct shmemi_device_pool *pool;           /* or NULL */
    uint64_t admitted;                     /* a bit a device of this process that was let in; [admitted]; 0 in copies */
    struct shmemi_device_adopted *adopted; /* or NULL */
};

/* The span that holds the address: true, and a copy of it. */
bool shmemi_device_table_find(const void *address, struct shmemi_device_span *out);

/* Whether there are any at all: cheap, for paths that are usually of host memory only. */
extern _Atomic size_t shmemi_device_spans;
static inline bool shmemi_device_any(void)
{
    /* [spans] relaxed: pairs with the stores in table.c; whoever got an address got it after it was counted. */
    return atomic_load_explicit(&shmemi_device_spans, memory_order_relaxed) != 0;
}

/* From the first to the last byte of all of it: what lies outside is none, which is most of what is asked about. */
extern _Atomic uintptr_t shmemi_device_low, shmemi_device_extent;

/* Whether the address is device memory. */
static inline bool shmemi_is_device(const void *address)
{
    struct shmemi_device_span span;
    /* [spans]; while it changes, the two may be of different times, which matters only to addresses of memory that
       comes or goes just then. */
    uintptr_t low = atomic_load_explicit(&shmemi_device_low, memory_order_relaxed);
    return (uintptr_t)address - low < atomic_load_explicit(&shmemi_device_extent, memory_order_relaxed) &&
           shmemi_device_table_find(address, &span);
}

/* Called when the first of it has come and when the last has gone, by whoever made it so, without locks of this layer.
 */
void shmemi_device_watch(void (*changed)(void));

int shmemi_device_table_add(const struct shmemi_device_span *span);
/* No copy of this library's is going on in it when this returns. -ENOENT: there is no such. */
int shmemi_device_table_remove(const char *begin);

/* --- what others allocated (adopt.c) ------------------------------------------------------------------------------ */

/* Device memory that others allocated and that others free; shmemi_device_disown() before that. The driver is asked
   whether it is what it is said to be: -EINVAL. A driver that cannot tell is no error. -EEXIST: it overlaps what is
   known already. */
int shmemi_device_adopt(const char *type, int device, void *address, size_t bytes);

/* Its keys are revoked. -EBUSY: it is pinned, or this process has imports of its keys. */
int shmemi_device_disown(void *address);

/* Asks the driver whether what was adopted is still that memory: -ESTALE, it was freed. Where it cannot tell: 0. */
int shmemi_device_check_adopted(const struct shmemi_device_adopted *adopted);

/* --- pools (pool.c) ----------------------------------------------------------------------------------------------- */

struct shmemi_device_pool;

/* Takes `bytes` of a device's memory at once; this process allocates from it. */
int shmemi_device_pool_create(const char *type, int device, size_t bytes, struct shmemi_device_pool **out);

/* Waits for the streams of the device that this library made, ends all keys, and frees all. Importers' mappings stay as
   far as the driver lets them. -EBUSY: imports of its own keys are open here. */
int shmemi_device_pool_close(struct shmemi_device_pool *pool);

/* The same, but what imports of its own keys this process has stays until the last of them is closed. */
int shmemi_device_pool_retire(struct shmemi_device_pool *pool);

/* align: a power of two up to 2 MiB, 0: 512. The content is undefined. -ENOMEM tells how much is free. */
int shmemi_device_alloc(struct shmemi_device_pool *pool, size_t bytes, size_t align, void **out);

/* Its keys are revoked. Work that is queued on it has to be finished. -EINVAL: no buffer of the pool begins there;
   -EBUSY: a part of it is pinned. */
int shmemi_device_free(struct shmemi_device_pool *pool, void *address);

/* While a part of a buffer is pinned, the buffer is not freed and the pool not closed, and what was adopted is not
   disowned: -EBUSY. -EINVAL: not in one buffer of a pool, nor in one adopted piece. */
int shmemi_device_pin(const void *address, size_t bytes);
void shmemi_device_unpin(const void *address);

struct shmemi_device_pool_stats {
    const char *type;
    int device;
    size_t size, in_use, buffers, largest_free, high_water;
    enum shmemi_device_way way;
};
int shmemi_device_pool_stats(struct shmemi_device_pool *pool, struct shmemi_device_pool_stats *out);

/* --- pools that are heaps of a job (heap.c) ----------------------------------------------------------------------- */

/* A pool that gives the same offsets as every other of that size, if the same is asked of it; its first bytes are an
   anchor, of which the key opens the whole (NULL: there is no key). bytes: a multiple of the 2 MiB that devices map. */
int shmemi_device_heap_create(const char *type, int device, size_t bytes, struct shmemi_device_pool **out,
                              char key[SHMEMI_KEY_TEXT]);
/* Where it is, on the device. */
char *shmemi_device_heap_base(const struct shmemi_device_pool *heap);
/* Finds room, and then takes what was found: as job/heap.h has it. -ENOMEM tells sizes, limit and remedy. align 0: 512.
 */
int shmemi_device_heap_find(struct shmemi_device_pool *heap, size_t size, size_t align, size_t *offset);
void shmemi_device_heap_take(struct shmemi_device_pool *heap, size_t size, size_t align, size_t offset);
/* In place: 1 done, 0 impossible here. */
int shmemi_device_heap_resize(struct shmemi_device_pool *heap, size_t offset, size_t size);
/* The size asked for of the block that begins there; 0: none does. */
size_t shmemi_device_heap_block_size(struct shmemi_device_pool *heap, size_t offset);
/* -EBUSY when the block cannot be freed, because a part of it is registered as a region. */
int shmemi_device_heap_may_free(struct shmemi_device_pool *heap, size_t offset);
struct shmemi_blocks_use;
void shmemi_device_heap_use(struct shmemi_device_pool *heap, struct shmemi_blocks_use *out);

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* A key of a part of one buffer, or of one adopted piece, for processes of this user on this machine. -EACCES for
   rights of others, -EINVAL for what is not in one buffer or piece; -ENOTSUP: it was allocated in a way that cannot be
   shared. what: segment, offset and bytes are filled in. */
int shmemi_device_export(const void *address, size_t bytes, struct shmemi_export *what, char text[SHMEMI_KEY_TEXT]);
/* -ENOTSUP, with the text why memory of that device cannot be shared, by what describe() says of it. */
int shmemi_device_alone(const struct shmemi_device_hal *hal, int device, const struct shmemi_device_info *info);
/* -ENOENT: no pool of this process made it. */
int shmemi_device_revoke(const struct shmemi_key *key);

/* --- imports (import.c) ------------------------------------------------------------------------------------------- */

struct shmemi_device_import {
    void *address; /* in this process, on the device */
    size_t bytes;
    uint32_t rights;
    bool read_only;
    const struct shmemi_device_hal *hal;
    int device;   /* it is used from */
    bool foreign; /* of another process */
    struct shmemi_key_record record;
};

/* Maps what a key opens. mode: READ or WRITE (device memory is mapped for both; READ is kept by this library). device:
   the one of this process that is to use it; -1: the one that it lies on. A pool is mapped once, however many keys of
   it are imported. Of this process's own keys: the memory itself. */
int shmemi_device_import(const char *text, enum shmemi_import_mode mode, const struct shmemi_import_claims *claims,
                         int device, struct shmemi_device_import **out);
int shmemi_device_import_close(struct shmemi_device_import *import);

/* --- streams and copies (stream.c, copy.c) ------------------------------------------------------------------------ */

struct shmemi_stream;

int shmemi_stream_create(const char *type, int device, struct shmemi_stream **out);
/* One that the program has: a cudaStream_t, CUstream or aclrtStream. destroy() leaves it alone. */
int shmemi_stream_wrap(const char *type, int device, void *native, struct shmemi_stream **out);
/* Waits for what is queued. -EINTR: the program did not want to wait any more; what waited for others was given up. */
int shmemi_stream_destroy(struct shmemi_stream *stream);
void *shmemi_stream_native(const struct shmemi_stream *stream);
/* 0, or the error with which the stream failed, because a request (request.h) could not be done. */
int shmemi_stream_check(const struct shmemi_stream *stream);
int shmemi_stream_finish(struct shmemi_stream *stream);
/* 1: all is done; 0: not yet. */
int shmemi_stream_query(struct shmemi_stream *stream);

/* Waits for the streams that this library made on devices of a kind; for whoever is about to take memory away. */
void shmemi_streams_finish(const struct shmemi_device_hal *hal);

/* The same as the next, but -ENOENT when neither end is device memory any more. */
int shmemi_device_copy_known(void *to, const void *from, size_t bytes);

/* Copies; done when it returns. Between devices that cannot reach each other, and between kinds of devices, by way of
   host memory. -EACCES: the target was imported for reading. */
int shmemi_device_copy(void *to, const void *from, size_t bytes);

/* Begins a copy, which is done after shmemi_device_finish_begun() or anything else that waits for its device; both ends
   stay untouched until then. One that has to go by way of the host is done at once. */
int shmemi_device_copy_begin(void *to, const void *from, size_t bytes);
/* Returns when all that any thread had begun is done. The first failure of a driver. Cheap when nothing is. */
int shmemi_device_finish_begun(void);

/* `count` blocks of `bytes` each; from one to the next it is to_step and from_step bytes. Of each end all of it lies in
   one span, or in host memory. The device is waited for once. */
int shmemi_device_copy_blocks(void *to, size_t to_step, const void *from, size_t from_step, size_t bytes, size_t count);

/* Fills it with zeros. */
int shmemi_device_clear(void *at, size_t bytes);

/* Queues the copy: one call of the driver, once the thread has used the device. One end at least is device memory. */
int shmemi_device_copy_on(struct shmemi_stream *stream, void *to, const void *from, size_t bytes);

/* Queues the writing of, and the waiting for, an aligned 64-bit word of device memory. -ENOTSUP where the driver or
   device cannot. */
int shmemi_device_write_on(struct shmemi_stream *stream, void *at, uint64_t value);
int shmemi_device_wait_on(struct shmemi_stream *stream, const void *at, uint64_t value,
                          enum shmemi_device_compare compare);

#endif
