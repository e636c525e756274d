/* SPDX-License-Identifier: Apache-2.0 */
/* The extension interface: what the OpenSHMEM standard lacks. Regions of memory that a program already has, one-sided
   access to them, events, collectives on any memory, and errors that come back instead of ending the job.

   Every function that returns int returns 0 (or a positive answer where it says so) or a negative errno; the sentence
   for a person is then in shmemx_last_error(). Every function may be called from any thread, unless it says collective:
   those are called by all PEs in the same order, by one thread at a time. Without a job functions return -EPERM.
   Errors that any call can give: -EPERM (no job, or in a forked child), -EINVAL (an argument, which the text names),
   -EOWNERDEAD (a PE that is needed died or left), -EINTR (the interrupt check wanted out). */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <stddef.h>
#include <stdint.h>

#include <shmem.h>
#include <shmemx_device.h>
#include <shmemx_group.h>
#include <shmemx_pool.h>
#include <shmemx_queue.h>
#include <shmemx_sync.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEMX_API __attribute__((visibility("default")))

/* A timeout in seconds that never ends. */
#define SHMEMX_FOREVER (-1.0)

/* --- errors and the job ----------------------------------------------------------------------------------------- */

/* What went wrong in this thread's last call that failed: a sentence that names the argument, what was found and what
   to do. Valid until the thread's next failure. Never NULL. */
SHMEMX_API const char *shmemx_last_error(void);

/* How to join a job, where the environment (shmemrun, torchrun, or nothing: a job of one) does not say it or the caller
   knows better. Begin with SHMEMX_INIT_ATTR. */
typedef struct {
    int rank;  /* this PE, from 0; -1: see the environment */
    int n_pes; /* PEs in the job; -1 likewise */
    const char
        *uid; /* text that all PEs of the job have in common and no others, such as shmemx_get_unique_id()'s text */
    size_t heap_size; /* most bytes of the symmetric heap; 0: SHMEM_SYMMETRIC_SIZE, or this PE's share of the memory */
    const char
        *heap_kind; /* where shmem_malloc and shmemx_malloc allocate: "host", "npu", "cuda:1"; NULL: SHMEM_HEAP_KIND */
} shmemx_init_attr_t;
#define SHMEMX_INIT_ATTR                                                                                               \
    {                                                                                                                  \
        -1, -1, NULL, 0, NULL                                                                                          \
    }

/* Joins the job and waits for all its PEs (SHMEM_TIMEOUT seconds, 60 by default: -ETIMEDOUT names who did not come).
   May be called again; only as many shmemx_finalize() end it. attr NULL: SHMEMX_INIT_ATTR. */
SHMEMX_API int shmemx_init(const shmemx_init_attr_t *attr);

/* Collective. Waits for all PEs like a barrier; the call that matches the first init leaves the job. No other thread of
   this process may be in a call of this library then, here as in shmemx_leave() and the standard's finalize. */
SHMEMX_API int shmemx_finalize(void);

/* Leaves the job at once, whoever is still in it: they see that this PE has left when they need it. 0 also without one.
 */
SHMEMX_API int shmemx_leave(void);

/* Names one job: 128 random bits as 32 hexadecimal digits and a zero byte in `text`. May be sent as bytes. */
typedef struct {
    char text[40];
} shmemx_unique_id_t;

/* Makes an id that nobody else has. Needs no job. One process calls it and gives the id to the others of the job, by
   any means: a file, a socket, MPI. Processes of other users cannot join even if they know it. */
SHMEMX_API int shmemx_get_unique_id(shmemx_unique_id_t *out);

/* Joins the job of this id as PE `rank` of n_pes, whoever started the processes; else as shmemx_init. requested: the
   thread level that is needed; *provided (unless provided is NULL): the level there is, SHMEM_THREAD_MULTIPLE. -EEXIST:
   another process has this rank. -EINVAL: an argument, an id that shmemx_get_unique_id() did not make, or processes
   that were told different sizes. -ETIMEDOUT: names the ranks that did not come. -EALREADY: this process is in another
   job. */
SHMEMX_API int shmemx_init_attr(int requested, int *provided, int rank, int n_pes, const shmemx_unique_id_t *id);

/* 1 in a job, else 0. */
SHMEMX_API int shmemx_initialized(void);
/* This PE's number, the number of PEs; -EPERM without a job. */
SHMEMX_API int shmemx_my_pe(void);
SHMEMX_API int shmemx_n_pes(void);

/* Collective. All memory operations so far are complete everywhere, and everybody is here. */
SHMEMX_API int shmemx_barrier(void);
/* As shmem_quiet and shmem_fence. */
SHMEMX_API int shmemx_quiet(void);
SHMEMX_API int shmemx_fence(void);

/* Asked again and again in waits that last (about every 100 ms, and after signals): nonzero ends the wait with -EINTR.
   Collectives do not work any more after one was interrupted. NULL: no check. For the whole process; needs no job. */
SHMEMX_API int shmemx_set_interrupt(int (*check)(void));

/* --- what this library is, and what it finds here ---------------------------------------------------------------
   None of these needs a job. */

/* "shmem 0.1.0, OpenSHMEM 1.6", and how it was built: compiler, architecture, kind of build. */
SHMEMX_API const char *shmemx_version(void);
SHMEMX_API const char *shmemx_build(void);

/* Seconds since some moment in the past, by the monotonic clock: for differences. The name is that of other
   implementations, whose programs ask for HAVE_SHMEMX_WTIME. */
#define HAVE_SHMEMX_WTIME 1
SHMEMX_API double shmemx_wtime(void);

/* A variable of the environment that this library reads. value: what it holds now, by either name; NULL: unset. */
typedef struct {
    const char *name, *old_name, *form, *meaning, *normal, *value;
} shmemx_setting_t;
/* The index-th of them; -ENOENT past the last. */
SHMEMX_API int shmemx_setting(int index, shmemx_setting_t *out);

/* A kind of memory that a pool can be made of. usable: whether it can here; text: if not, what is missing. */
typedef struct {
    const char *type;
    int usable;
    char text[512];
} shmemx_backend_t;
/* The index-th of them; -ENOENT past the last. */
SHMEMX_API int shmemx_backend(int index, shmemx_backend_t *out);

/* Bytes. */
typedef struct {
    size_t memory;          /* that the machine, or the memory cgroup of this process, has */
    size_t memory_left;     /* that may be taken now */
    char memory_limit[256]; /* what limits it: the machine, or which cgroup */
    size_t heap;            /* ceiling of each symmetric heap of a job of n PEs, where nothing sets it */
    int pes_most;           /* in one job */
} shmemx_limits_t;
/* -EINVAL: n_pes is below 1 or above pes_most. */
SHMEMX_API int shmemx_limits(int n_pes, shmemx_limits_t *out);

/* --- the symmetric heap ----------------------------------------------------------------------------------------- */

/* Collective. `size` bytes at the same offset of every PE's heap, not cleared. align: a power of two to 2 MiB, or 0
   (64). size 0: NULL. -ENOMEM tells which PE had no room, how much is in use, and what to set. The memory is of the
   kind that SHMEM_HEAP_KIND says. */
SHMEMX_API int shmemx_malloc(size_t size, size_t align, void **out);
/* Collective. NULL is allowed. -EBUSY: it is memory of a device, and a part of it is registered as a region. */
SHMEMX_API int shmemx_free(void *block);

/* Collective. Symmetric memory of a kind, beside the default heap: "host"; "npu" or "cuda", each PE on the device whose
   number is its own, modulo those that it sees; "npu:1" and the like, which may differ between PEs in the number; NULL
   or "default": what SHMEM_HEAP_KIND says. A PE has one heap of a type, of SHMEM_DEVICE_HEAP_SIZE bytes, on one device;
   it is made by the first call that needs it. The addresses are the device's: the CPU cannot touch them
   (shmemx_device_copy, put and get do), shmem_ptr gives NULL for them, and atomics, waits, locks and signal words on
   them end the job. Alignment of device memory is 512 at least. shmem_free, shmem_realloc (within the kind) and
   shmemx_free take what these give.

   NULL: size 0, with errno 0; else a failure, whose errno is errno and whose text names the PE: ENODEV no driver or
   device; ENOTSUP the driver or device cannot share memory; ENOMEM; EINVAL an argument, or PEs that ask for different
   things. With SHMEM_DEVICE_FALLBACK=host it is host memory where ENODEV or ENOTSUP would be the answer. */
SHMEMX_API void *shmemx_malloc_kind(size_t size, const char *kind);
/* alignment: a power of two to 2 MiB, or 0. */
SHMEMX_API void *shmemx_align_kind(size_t alignment, size_t size, const char *kind);
/* Filled with zeros on every PE when it returns. */
SHMEMX_API void *shmemx_calloc_kind(size_t count, size_t size, const char *kind);

typedef struct {
    size_t total, in_use, largest_free, high_water, blocks; /* bytes, and the number of blocks */
} shmemx_heap_info_t;
/* Of the heap in host memory. */
SHMEMX_API int shmemx_heap_info(shmemx_heap_info_t *out);
/* Of the heap of a kind; zeros: none has been made. */
SHMEMX_API int shmemx_heap_info_kind(const char *kind, shmemx_heap_info_t *out);

/* This PE's heap stays mapped after finalize, because arrays in it may live on. */
SHMEMX_API int shmemx_keep_heap(void);

/* --- types ------------------------------------------------------------------------------------------------------ */

/* What elements are. Atomics work on the 32- and 64-bit ones. SHMEMX_BYTES stands for anything else. */
typedef enum {
    SHMEMX_INT8,
    SHMEMX_INT16,
    SHMEMX_INT32,
    SHMEMX_INT64,
    SHMEMX_UINT8,
    SHMEMX_UINT16,
    SHMEMX_UINT32,
    SHMEMX_UINT64,
    SHMEMX_FLOAT,
    SHMEMX_DOUBLE,
    SHMEMX_LONGDOUBLE,
    SHMEMX_COMPLEXF,
    SHMEMX_COMPLEXD,
    SHMEMX_FLOAT16,  /* IEEE half */
    SHMEMX_BFLOAT16, /* upper half of a float */
    SHMEMX_BYTES
} shmemx_type_t;

typedef enum { SHMEMX_SUM, SHMEMX_PROD, SHMEMX_MIN, SHMEMX_MAX, SHMEMX_AND, SHMEMX_OR, SHMEMX_XOR } shmemx_op_t;

/* --- regions ---------------------------------------------------------------------------------------------------- */

/* A region is a range of memory that other PEs can reach. A handle is this PE's hold on a region, its own or a peer's.
   One that was closed, or whose region was deregistered, gives -EINVAL, for ever. */
typedef struct shmemx_region *shmemx_region_t;

/* What peers may do; the owner may do everything. The kernel enforces read-only between processes of different users;
   between PEs of one user this library does, and a read-only zero-copy view faults when written. */
#define SHMEMX_LOCAL_ONLY 0u
#define SHMEMX_REMOTE_READ 1u
#define SHMEMX_REMOTE_WRITE 2u
#define SHMEMX_REMOTE_ATOMIC 4u
#define SHMEMX_REMOTE_ALL 7u

/* How peers reach the region, in shmemx_region_info_t.kind. */
typedef enum {
    SHMEMX_KIND_MOVED,     /* its pages were moved into shared memory at the same address: loads, stores, atomics */
    SHMEMX_KIND_SYMMETRIC, /* it lies in the symmetric heap: likewise */
    SHMEMX_KIND_COPIED, /* it stayed where it was: peers copy with process_vm_readv and writev; no atomics, no view */
    SHMEMX_KIND_DEVICE  /* memory of a device: the device's driver copies; no atomics, no waiting for values, no view */
} shmemx_kind_t;

/* What registering promised about writes of other threads while pages moved. */
typedef enum {
    SHMEMX_GUARD_NONE, /* no userfaultfd (as under Docker's default profile): the caller saw to it that nobody wrote */
    SHMEMX_GUARD_USER, /* a system call of another thread that wrote into the range could fail with EFAULT */
    SHMEMX_GUARD_FULL  /* nothing could be lost */
} shmemx_guard_t;

typedef struct {
    unsigned access;    /* SHMEMX_REMOTE_ bits */
    const char *name;   /* at most 63 bytes, unique among this PE's regions; NULL: none */
    int move;           /* 0: do not move the pages (they are pinned): SHMEMX_KIND_COPIED */
    shmemx_type_t type; /* what regions that correspond must agree in, besides the size */
} shmemx_region_attr_t;
#define SHMEMX_REGION_ATTR                                                                                             \
    {                                                                                                                  \
        SHMEMX_REMOTE_ALL, NULL, 1, SHMEMX_BYTES                                                                       \
    }

/* Makes [address, address + size) reachable for peers. Whole pages of the object, and the neighbours on its first and
   last page, move into shared memory and stay at their addresses; writes of other threads are not lost (see guard).
   The memory must be deregistered before it is freed. Regions are numbered in the order in which a PE registers them,
   from 0; numbers are not used again. attr NULL: SHMEMX_REGION_ATTR. Not possible, with the reason and remedy in the
   text: size 0, stacks, memory that is shared already (except the symmetric heap), device memory that lies in no pool
   of shmemx_device_pool_create(), read-only memory
   (-EINVAL, -EACCES, -EEXIST, -EFAULT, -EBUSY); -EEXIST also for a name in use; -ENOMEM; -ENOSPC. */
SHMEMX_API int shmemx_register(void *address, size_t size, const shmemx_region_attr_t *attr, shmemx_region_t *out);

/* Ends the region and the handle; the memory is private again when its last region ends. Peers' further use raises
   -ENOENT there. Their views see memory that is nobody's any more. */
SHMEMX_API int shmemx_deregister(shmemx_region_t region);

/* A handle on a region of PE pe: by name if that is not NULL, else by number. Waits up to timeout seconds until it is
   registered: -ETIMEDOUT names it. -ENOENT: it was deregistered. */
SHMEMX_API int shmemx_region_find(int pe, const char *name, uint64_t number, double timeout, shmemx_region_t *out);

/* The region of PE pe that corresponds to this PE's region: of the same name, or the same number if it has none. Must
   agree in bytes and type: -EINVAL names both PEs. The handle belongs to `mine` and ends with it: it is not closed. */
SHMEMX_API int shmemx_region_at(shmemx_region_t mine, int pe, double timeout, shmemx_region_t *out);

/* A handle on [address, address + size) of a symmetric heap of this PE, in host or device memory, not numbered and
   without events: it corresponds to the same offset of every PE. To be closed. */
SHMEMX_API int shmemx_region_symmetric(void *address, size_t size, shmemx_region_t *out);

/* Gives up a handle from find or symmetric; views through it must not be used any more. */
SHMEMX_API int shmemx_region_close(shmemx_region_t region);

typedef struct {
    uint64_t number;
    int owner;     /* PE */
    void *address; /* in this process; NULL for a peer's SHMEMX_KIND_COPIED, and without SHMEMX_REMOTE_READ */
    size_t size;
    unsigned access;
    shmemx_kind_t kind;
    shmemx_guard_t guard;
    shmemx_type_t type;
    char name[64];
} shmemx_region_info_t;
/* -ENOENT when it was deregistered or its owner has gone. */
SHMEMX_API int shmemx_region_info(shmemx_region_t region, shmemx_region_info_t *out);

/* --- one-sided access ------------------------------------------------------------------------------------------- */

/* Copies size bytes from source to offset of the region, which may be any PE's. Here and in the next two either end may
   be memory of a device (a region in a device pool; shmemx_device.h for this PE's side), and the copy is done when they
   return; then counts a write event there. -EINVAL: past the end. -EACCES: the owner allows no writing. -ENOENT:
   deregistered, or the owner has gone. */
SHMEMX_API int shmemx_put(shmemx_region_t region, size_t offset, const void *source, size_t size);
/* Copies size bytes from offset of the region to dest; then counts a read event there. */
SHMEMX_API int shmemx_get(void *dest, shmemx_region_t region, size_t offset, size_t size);
/* shmemx_put, and then an update of the 64-bit signal word at sig_offset of the region `signal` (of the same owner);
   sig_op SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. Who sees the signal sees the data. -EINVAL also: the elements of
   `signal` are neither 64-bit integers nor bytes. */
SHMEMX_API int shmemx_put_signal(shmemx_region_t region, size_t offset, const void *source, size_t size,
                                 shmemx_region_t signal, size_t sig_offset, uint64_t value, int sig_op);

/* --- in the order of a stream -------------------------------------------------------------------------------------

   What a stream (shmemx_device.h) of a device is to do for this PE and others, after all that was queued on it before.
   The calls return at once; one thread of a stream at a time. What the device cannot do itself is done by a thread of
   this process, which begins with the first such call, when the stream has come there: words in host memory, events,
   barriers. Streams of devices that can neither write words nor wait for them (shmemx_device_info_t.can_signal) copy
   only: -ENOTSUP else, with what is missing. -EAGAIN: 4096 of these are pending on the device. -EPERM: no job.

   Until shmemx_stream_finish(), or a query that says 1, both ends of copies stay untouched, and handles and regions
   open: a region that is deregistered, or a handle that is closed, fails what is pending on it. Finish returns when
   words and events have been changed, too; what the driver's own call to wait for a stream tells is that they soon will
   be.

   A stream *fails* when something of this cannot be done: a PE has died, a region is gone, this PE has left the job.
   Then nothing of it waits any more: copies and kernels that were queued behind go on, with what there is, because no
   driver takes them back; but no signal is sent, no event counted and no barrier come to. shmemx_stream_finish(),
   query, and all that would queue something on it answer with the reason, until it is destroyed.

   shmemx_finalize() first returns from all that is pending here, on all streams; what waits for a word fails (-EDEADLK)
   when all other PEs have called finalize as well. shmemx_leave() fails what is pending (-ECANCELED). None of this
   works in a forked child. */

/* Queue the copy: the region, or this PE's end, or both, are memory of such a device. When it is done, a write event is
   counted at the region (shmemx_put_on_stream), or a read event (get, of a peer's region): a second call of the driver.
   Regions without events (shmemx_region_symmetric), and streams that cannot tell (-ENOTSUP above), just copy. */
SHMEMX_API int shmemx_put_on_stream(shmemx_region_t region, size_t offset, const void *source, size_t size,
                                    shmemx_stream_t stream);
SHMEMX_API int shmemx_get_on_stream(void *dest, shmemx_region_t region, size_t offset, size_t size,
                                    shmemx_stream_t stream);

/* Queues an update of the aligned 64-bit word at offset of the region: sig_op SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. Who
   sees it sees all that the stream did before. In host memory it wakes who waits there, threads (shmemx_wait_value) and
   streams; the stream itself does not wait for it. Such signals of one stream come in their order. In memory of a
   device the device writes it, SHMEM_SIGNAL_SET only (-ENOTSUP), and it may be seen before a signal in host memory that
   was queued earlier; its owner waits with shmemx_wait_value_on_stream(), on another device, or looks by copying. */
SHMEMX_API int shmemx_signal_on_stream(shmemx_region_t region, size_t offset, uint64_t value, int sig_op,
                                       shmemx_stream_t stream);

/* shmemx_put_on_stream(), and then shmemx_signal_on_stream() with the word at sig_offset of the region `signal`, of the
   same owner. */
SHMEMX_API int shmemx_put_signal_on_stream(shmemx_region_t region, size_t offset, const void *source, size_t size,
                                           shmemx_region_t signal, size_t sig_offset, uint64_t value, int sig_op,
                                           shmemx_stream_t stream);

/* Lets what is queued later wait until the unsigned 64-bit word at offset of this PE's own region satisfies
   `word cmp value` (SHMEM_CMP_...), and then see what was put before the word was changed. The word lies in host
   memory: threads, signals and atomics of any PE may change it, also of one on the same device. In memory of a device
   it is the device that waits: SHMEM_CMP_GE and SHMEM_CMP_EQ only, and as of shmemx_wait_value_on_stream(). */
SHMEMX_API int shmemx_wait_on_stream(shmemx_region_t own, size_t offset, int cmp, uint64_t value,
                                     shmemx_stream_t stream);

/* Collective: every PE queues it, on any one of its streams, all in the same order. What is queued later waits until a
   stream of every PE has come here; it finds done what those streams did before: copies have arrived, signals have been
   sent. Other streams, and threads, are not held; shmemx_barrier() and the like are something else and may be called
   meanwhile. When one fails no PE's barriers on streams work any more (-EPIPE). */
SHMEMX_API int shmemx_barrier_on_stream(shmemx_stream_t stream);

/* Lets what is queued later wait until all that was queued before *on this stream* is done and visible to every PE:
   copies, and the signals and events that this process sends for it; likewise what threads of this PE did before the
   stream came here (as shmem_quiet). It says nothing of other streams. */
SHMEMX_API int shmemx_quiet_on_stream(shmemx_stream_t stream);

/* --- waiting, atomics -------------------------------------------------------------------------------------------- */

/* Puts into the region that PE pe is waiting on (shmemx_wait_event for writes, or for any), at its beginning plus
   offset. Blocks until pe waits; of several puts the one that came first is served first. -ETIMEDOUT. -EMSGSIZE, on
   both sides: it does not fit. -EDEADLK: pe stands in line itself, for this PE or for somebody who does. */
SHMEMX_API int shmemx_put_to_waiting(int pe, size_t offset, const void *source, size_t size, double timeout);

/* Waits for and consumes one event of this PE's own region: a put that arrived, or a get by a peer that finished.
   Events are counted, so one that came before is not lost. */
#define SHMEMX_EVENT_WRITE 1
#define SHMEMX_EVENT_READ 2
#define SHMEMX_EVENT_ANY 3
SHMEMX_API int shmemx_wait_event(shmemx_region_t own, int which, double timeout);

/* Waits until the element at offset of this PE's own region satisfies `element cmp *value` (SHMEM_CMP_...). type is a
   32- or 64-bit type, as of shmemx_atomic(); value points to one such. */
SHMEMX_API int shmemx_wait_value(shmemx_region_t own, size_t offset, shmemx_type_t type, int cmp, const void *value,
                                 double timeout);

typedef enum {
    SHMEMX_ATOMIC_FETCH,
    SHMEMX_ATOMIC_SET,
    SHMEMX_ATOMIC_SWAP,
    SHMEMX_ATOMIC_CAS,
    SHMEMX_ATOMIC_ADD, /* integers, float and double */
    SHMEMX_ATOMIC_AND, /* integers, here and below */
    SHMEMX_ATOMIC_OR,
    SHMEMX_ATOMIC_XOR
} shmemx_atomic_t;

/* One atomic operation on the aligned 32- or 64-bit element at offset. type: of the region's elements, or one alike in
   size and in being an integer; with a region of bytes any. operand: the value (not for FETCH); expected:
   for CAS; old: where the value before goes, or NULL. Counts no event. */
SHMEMX_API int shmemx_atomic(shmemx_region_t region, size_t offset, shmemx_type_t type, shmemx_atomic_t operation,
                             const void *operand, const void *expected, void *old);

/* --- collectives on any memory ---------------------------------------------------------------------------------- */

/* Of a device, too: then by way of a copy in host memory, -ENOMEM where there is none. */

/* Collective. In place: data[i] becomes the fold of all PEs' data[i] in PE order, the same bits everywhere. n elements.
   MIN and MAX of floating-point numbers give NaN where any PE has one.
   All PEs give the same n, type and operation: -EINVAL names the one that differs. */
SHMEMX_API int shmemx_all_reduce(void *data, size_t n, shmemx_type_t type, shmemx_op_t op);
/* Collective. Everybody's data becomes the root's. */
SHMEMX_API int shmemx_broadcast(void *data, size_t bytes, int root);
/* Collective. dest gets every PE's `bytes` from source, in PE order: n_pes * bytes in all. */
SHMEMX_API int shmemx_all_gather(void *dest, const void *source, size_t bytes);

/* For the object that oshcc links into executables, which calls it before main: the program's static data, begin to
   end, becomes symmetric. Programs do not call it. */
SHMEMX_API void shmemx_static_data(char *begin, char *end);

#ifdef __cplusplus
}
#endif

#endif
