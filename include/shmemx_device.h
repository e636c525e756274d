/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices (GPUs, NPUs): pools of it, keys by which other processes use it, streams, and copies between any
   two of host and device memory. Needs no job. Part of <shmemx.h>.

   Drivers are opened at run time, by the first call that needs one: a program runs without them. Addresses of device
   memory are the device's own; the CPU cannot touch them. What is device memory is known by its address: that of pools
   and imports is, and what was adopted; all else is taken for host memory.

   Errors, beside those that a function names: -EINVAL an argument; -EBADF a pool, import or stream that was closed, or
   a handle of another type (one that was closed is known until many others were closed after it, and may then be the
   handle of a new one; using it never reads memory that was freed); -ENODEV no driver, no device, or no device of that
   number; -ENOTSUP the driver is too old (the text tells which call is missing, and what brings it) or the device
   cannot; -ENOMEM; -EBUSY another process has the device for itself; -ESTALE who owned the memory is gone, or what was
   adopted was freed; -EIO what else the driver says; -EPERM in a forked child of a process that used devices, which
   drivers do not survive. Any thread may call any of these, one at a time for one stream.

   With SHMEM_DEVICE_FALLBACK=host, where there is no driver or device of a type (-ENODEV, -ENOTSUP), host memory stands
   in for one device, number 0, and a warning says so once. All of this works on it, and what a device cannot do is
   refused. */
#ifndef SHMEMX_DEVICE_H
#define SHMEMX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <shmemx_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SHMEMX_API
#define SHMEMX_API __attribute__((visibility("default")))
#endif

/* --- devices ------------------------------------------------------------------------------------------------------ */

/* How many devices of a type ("npu", "cuda") this process may use: 1 or more. -ENODEV says what is missing. May take
   seconds the first time. Asking warns of nothing. */
SHMEMX_API int shmemx_device_count(const char *type);

/* 1: there is no driver or no device of a type, and host memory stands in for it, which SHMEM_DEVICE_FALLBACK=host asks
   for; shmemx_last_error() says what is missing. 0: there are devices. Else as shmemx_device_count(). */
SHMEMX_API int shmemx_device_stands_in(const char *type);

typedef struct {
    char type[16];
    int number;
    char name[64];
    char driver[64]; /* its version: "CUDA 13.0" */
    char id[33];     /* names the device in all processes of this machine, whatever numbers they see; hexadecimal */
    size_t free_bytes, total_bytes;
    int can_share;  /* memory of pools can be exported */
    int can_signal; /* streams can write and wait for words */
    char way[64];   /* how memory is shared: "file descriptors" */
} shmemx_device_info_t;
SHMEMX_API int shmemx_device_info(const char *type, int number, shmemx_device_info_t *out);

/* 1 when a device can reach the memory of the other without the host, else 0. */
SHMEMX_API int shmemx_device_can_reach(const char *type, int number, int peer);

/* Runs every path of the library against the driver, in this process, with device `number`; compares each byte, and
   frees everything. 0, or the first failure, whose text names the step. steps (may be NULL): how many were done. */
SHMEMX_API int shmemx_device_self_test(const char *type, int number, int *steps);

/* --- pools -------------------------------------------------------------------------------------------------------- */

typedef struct shmemx_device_pool *shmemx_device_pool_t;

/* Takes `size` bytes of a device's memory, rounded up to what the device maps (2 MiB, usually). One process allocates
   from a pool; others use its buffers by keys. */
SHMEMX_API int shmemx_device_pool_create(const char *type, int number, size_t size, shmemx_device_pool_t *out);

/* Waits for this library's streams, ends the pool's keys, and frees its memory. Other processes give their imports back
   before: what becomes of them is the driver's to say (on CUDA the memory stays until they have). -EBUSY: this process
   itself has imports of the pool's keys. */
SHMEMX_API int shmemx_device_pool_close(shmemx_device_pool_t pool);

/* A buffer of `size` bytes (0 counts as 1), with what was there before. align: a power of two up to 2 MiB; 0: 512.
   -ENOMEM tells how much is free. */
SHMEMX_API int shmemx_device_alloc(shmemx_device_pool_t pool, size_t size, size_t align, void **out);

/* Frees it; its keys are revoked. What is queued on it has to be finished. -EINVAL: no buffer of the pool begins there.
   -EBUSY, here and when the pool is closed: it is registered as a region. */
SHMEMX_API int shmemx_device_free(shmemx_device_pool_t pool, void *buffer);

typedef struct {
    char type[16];
    int number; /* the device */
    size_t size, in_use, buffers, largest_free, high_water;
} shmemx_device_pool_stats_t;
SHMEMX_API int shmemx_device_pool_stats(shmemx_device_pool_t pool, shmemx_device_pool_stats_t *out);

/* Device memory that others allocated (a tensor's, say), and keep until shmemx_device_disown(): copies take it from
   then on, shmemx_export() makes keys of any part of it, and shmemx_register() regions, where the driver can share it.
   On CUDA that is memory of cudaMalloc and cuMemAlloc, of which importers map the whole allocation; on Ascend memory of
   aclrtMalloc with drivers that have keys, of which they map whole pages. -ENOTSUP of those two says what cannot be
   shared, and what to do.

   The driver is asked what the memory is, where it can tell: -EINVAL it is no device's or another device's. It is asked
   again when the memory is copied with waiting, exported, registered, and imported: -ESTALE, it was freed meanwhile. On
   a stream it is not asked. -EEXIST: some of it is known already. */
SHMEMX_API int shmemx_device_adopt(const char *type, int number, void *address, size_t size);

/* Before it is freed. Revokes its keys; other processes give their imports back before. What is queued on it has to be
   finished. -EBUSY: it is registered as a region, or this process has imports of its keys. */
SHMEMX_API int shmemx_device_disown(void *address);

typedef struct {
    int number;   /* the device that it lies on */
    void *base;   /* of the allocation that holds it; NULL: the driver does not tell */
    size_t bytes; /* of that allocation; 0: the driver does not tell */
} shmemx_device_pointer_info_t;

/* What the driver of a type says of an address: 1, it is memory of a device, and *out says of which; 0, it is none, or
   was freed. -ENOTSUP: the driver cannot tell. */
SHMEMX_API int shmemx_device_pointer_info(const char *type, const void *address, shmemx_device_pointer_info_t *out);

/* 1 when the address is device memory that this library knows, and then *type ("npu", "cuda") and *number say of which;
   else 0. */
SHMEMX_API int shmemx_device_where(const void *address, const char **type, int *number);

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* shmemx_export() makes keys of buffers of a device pool and of what was adopted, too, and shmemx_revoke() ends them.
   They work while the process lives that made them, for processes of this user on this machine; rights for other users
   or groups, and frozen, are refused, since a mapping opens the whole pool (or allocation). */

typedef struct shmemx_device_import *shmemx_device_import_t;

/* Maps what a key of device memory opens. mode: SHMEMX_IMPORT_READ or SHMEMX_IMPORT_WRITE; drivers map for both, so
   that reading only is what this library's copies keep to, as long as nobody in this process imports the pool for
   writing. number: the device of this process that is to use it; -1: the one that it lies on, whatever number that has
   here. A pool (or what was adopted) is mapped once, however many keys of it are imported; the owner's driver is told
   which process to let in. -EMEDIUMTYPE: the key is of host memory (shmemx_import(), which answers the same for keys of
   devices). -ENODEV: this process does not see the device. -ENOTSUP: the device `number` cannot reach it. Others as of
   shmemx_import(). */
SHMEMX_API int shmemx_device_import(const char *key, shmemx_import_mode_t mode, const char *token, int number,
                                    shmemx_device_import_t *out);

typedef struct {
    void *address; /* of the device */
    size_t bytes;
    unsigned rights;
    int read_only;
    char type[16];
    int number;       /* of the device that uses it */
    const void *note; /* as exported; valid as long as the import */
    size_t note_bytes;
} shmemx_device_import_info_t;
SHMEMX_API int shmemx_device_import_info(shmemx_device_import_t import, shmemx_device_import_info_t *out);

/* Waits for this library's streams; the mapping goes with the pool's last import. */
SHMEMX_API int shmemx_device_import_close(shmemx_device_import_t import);

/* --- copies ------------------------------------------------------------------------------------------------------- */

/* Copies between any two of host and device memory; done when it returns. Between devices that cannot reach each other,
   and between an NPU and a GPU, it goes by way of host memory. -EINVAL: beyond the memory, or beyond the buffer of this
   process's own pool that begins at an address (with SHMEM_DEBUG=1 also: beyond the one that holds it, or in none);
   -EACCES: imported for reading. */
SHMEMX_API int shmemx_device_copy(void *dest, const void *source, size_t bytes);

/* Copies `count` blocks of `bytes` each, from one to the next of which it is dest_step and source_step bytes (0: the
   same block again); between dest and source nothing overlaps. As many copies of the driver, but the device is waited
   for once. Each end lies, as a whole, in one buffer or import, or in host memory. */
SHMEMX_API int shmemx_device_copy_blocks(void *dest, size_t dest_step, const void *source, size_t source_step,
                                         size_t bytes, size_t count);

/* --- streams ------------------------------------------------------------------------------------------------------ */

typedef struct shmemx_stream *shmemx_stream_t;

SHMEMX_API int shmemx_stream_create(const char *type, int number, shmemx_stream_t *out);
/* For a stream that the program has already: a cudaStream_t or CUstream, or an aclrtStream. It stays the program's.
   -EBADFD: host memory stands in, whose streams are this library's; NULL is the default one. */
SHMEMX_API int shmemx_stream_wrap(const char *type, int number, void *native, shmemx_stream_t *out);
/* Waits for what is queued on one that was created (-EINTR: the program's interrupt check gave up what waits for
   others; the stream is gone all the same); forgets one that was wrapped, of which finish tells before whether all was
   well. */
SHMEMX_API int shmemx_stream_destroy(shmemx_stream_t stream);
/* The driver's own handle, for launching kernels. */
SHMEMX_API void *shmemx_stream_native(shmemx_stream_t stream);
/* Returns when all that was queued is done, by the device and by this process for it. A stream that has failed (see
   shmemx_put_on_stream and what follows it) answers with the reason, here and below, again and again. -EINTR: the
   program's interrupt check ended the wait for others; all is still queued. */
SHMEMX_API int shmemx_stream_finish(shmemx_stream_t stream);
/* 1: all is done; 0: not yet. */
SHMEMX_API int shmemx_stream_query(shmemx_stream_t stream);

/* Queues a copy, of which one end at least is memory of a device of the stream's type. When the thread has used the
   device before this is one call of the driver. Both ends stay untouched until the stream has done it. Blocks only
   while the driver's queue is full, or for host memory that the driver has not pinned. */
SHMEMX_API int shmemx_copy_on_stream(void *dest, const void *source, size_t bytes, shmemx_stream_t stream);

/* Queues the writing of a 64-bit word (aligned) of device memory, which is seen after all that was queued before. */
SHMEMX_API int shmemx_write_value_on_stream(void *word, uint64_t value, shmemx_stream_t stream);

typedef enum { SHMEMX_UNTIL_AT_LEAST, SHMEMX_UNTIL_EQUAL } shmemx_until_t;

/* Lets what is queued later wait until the word compares so. The one who writes it must not be queued behind it, and
   must not need the same device in another process: such waits are for the host. */
SHMEMX_API int shmemx_wait_value_on_stream(const void *word, shmemx_until_t until, uint64_t value,
                                           shmemx_stream_t stream);

#ifdef __cplusplus
}
#endif

#endif
