// SPDX-License-Identifier: Apache-2.0
// The extension module shmem._ext: Python objects in, calls of <shmemx.h> out. What arguments mean, and all
// that NumPy and torch are asked, is decided in the package's Python files.
#ifndef SHMEM_PYTHON_EXT_H
#define SHMEM_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shmemx.h"

/* --- state.c: the job as this process knows it -------------------------------------------------------- */

/* All of it is guarded by the GIL, except that a forked child resets it before it runs. */
struct ext_state {
    unsigned long epoch; /* counts jobs: what was made in another one is stale */
    unsigned long forks; /* how many forks this process is away from the first: what a parent made is not freed here */
    unsigned long children; /* how many this process has forked */
    int me, n;              /* while in a job */
    double patience;        /* seconds to look for a peer's region where the caller gave no timeout */
    size_t in_flight;       /* calls that have let go of the GIL */
    bool ending;            /* finalize is in progress */
};
extern struct ext_state ext_state;

/* The two ways to fail, both return NULL with an exception set. `fn` is the Python function's name.
   ext_fail_rc is for a negative errno from the library, whose text it takes; the exception of an interrupting
   signal handler wins. */
PyObject *ext_fail_rc(const char *fn, int rc);
PyObject *ext_fail(const char *fn, const char *kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Kinds that ext_fail knows; the package maps them, and errno, to classes. */
#define EXT_TYPE "type"
#define EXT_VALUE "value"
#define EXT_RANGE "range"
#define EXT_STALE "stale"
#define EXT_ACCESS "access"
#define EXT_BUSY "busy"
#define EXT_BUFFER "buffer"
#define EXT_FULL "full"
#define EXT_EMPTY "empty"
#define EXT_CLOSED "closed"

/* NULL for a negative rc (with the exception set), else None. */
PyObject *ext_answer(const char *fn, int rc);

/* false, with an exception set, when calls must not begin now. */
bool ext_may_call(const char *fn);

/* Runs a call of the library without the GIL. Use ext_may_call() before. */
#define EXT_CALL(rc, call)                                                                                             \
    do {                                                                                                               \
        ext_state.in_flight++;                                                                                         \
        PyThreadState *ext_saved_ = PyEval_SaveThread();                                                               \
        rc = (call);                                                                                                   \
        PyEval_RestoreThread(ext_saved_);                                                                              \
        ext_state.in_flight--;                                                                                         \
    } while (0)

/* The same for calls that need no job, and which finalize does not wait for. */
#define EXT_UNLOCKED(rc, call)                                                                                         \
    do {                                                                                                               \
        PyThreadState *ext_saved_ = PyEval_SaveThread();                                                               \
        rc = (call);                                                                                                   \
        PyEval_RestoreThread(ext_saved_);                                                                              \
    } while (0)

/* Copies below this many bytes take less time than letting go of the GIL and getting it back. */
enum { EXT_SMALL = 16384 };

extern PyMethodDef ext_state_methods[];
int ext_state_init(PyObject *module);

/* --- argument.c: numbers and memory ------------------------------------------------------------------- */

/* For the private functions, which the package calls with a fixed number of arguments. Evaluates to the
   first, the name of the function that the user called. */
#define EXT_ARGUMENTS(name, expected)                                                                                  \
    (void)module;                                                                                                      \
    if (n != (expected))                                                                                               \
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, not %zd", name, (int)(expected), n);              \
    const char *fn = PyUnicode_AsUTF8(args[0]);                                                                        \
    if (!fn)                                                                                                           \
    return NULL

/* Text without zero characters, as UTF-8; NULL with an exception. */
const char *ext_text(const char *fn, const char *argument, PyObject *object);
bool ext_size(const char *fn, const char *argument, PyObject *object, size_t *out);
bool ext_count(const char *fn, const char *argument, PyObject *object, size_t *out); /* 1 or more of whatever */
bool ext_int(const char *fn, const char *argument, PyObject *object, int *out);
bool ext_pe(const char *fn, const char *argument, PyObject *object, int *out);
/* None: `otherwise`. */
bool ext_timeout(const char *fn, PyObject *object, double otherwise, double *out);

struct ext_region;

/* Bytes of this process for the time of a call: from a region of its own, a hold on memory of a device, a (address,
   size) pair whose owner the caller keeps alive, or anything with a contiguous buffer. */
struct ext_memory {
    char *address;
    size_t size;
    struct ext_region *region; /* or NULL */
    PyObject *held;            /* or NULL: a hold on memory of a device */
    Py_buffer buffer;          /* of a buffer; obj is NULL otherwise */
};
bool ext_memory_get(const char *fn, const char *argument, PyObject *object, bool writable, struct ext_memory *out);
void ext_memory_release(struct ext_memory *memory);

/* Is offset + size inside `have` bytes? `what` names whose. */
bool ext_inside(const char *fn, const char *prefix, size_t offset, size_t size, size_t have, const char *what);

/* One element, for atomics and wait_until. */
union ext_value {
    int32_t i32;
    int64_t i64;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
};
extern const char *const ext_type_names[];
size_t ext_type_size(shmemx_type_t type); /* 4 or 8; 0 for what atomics do not take */
bool ext_value_from(const char *fn, const char *argument, PyObject *object, shmemx_type_t type, union ext_value *out);
PyObject *ext_value_to(shmemx_type_t type, const union ext_value *value);

/* --- region.c ----------------------------------------------------------------------------------------- */

enum ext_source {
    EXT_OWN,       /* registered by this process */
    EXT_FOUND,     /* of a peer, or of this PE, found by name or number */
    EXT_SYMMETRIC, /* a part of the symmetric heap */
};

struct ext_region {
    PyObject_HEAD shmemx_region_t handle;
    shmemx_region_t *at; /* by PE, what corresponds to it there; filled when first needed */
    shmemx_region_info_t info;
    PyObject *kept;  /* what the memory belongs to */
    PyObject *extra; /* for the Python side: a dict of attributes */
    unsigned long epoch;
    pid_t pid;
    enum ext_source source;
    bool open;
    Py_ssize_t views;
};

extern PyTypeObject ext_region_type, ext_view_type, ext_block_type;
extern PyMethodDef ext_region_methods[];
extern const char *const ext_source_names[];

/* The object as a region that can be used now, or NULL with an exception. */
struct ext_region *ext_region_from(const char *fn, const char *argument, PyObject *object);

/* The handle on what `region` means on PE pe (-1: the owner's own), which may ask the peer. NULL with an
 * exception. */
shmemx_region_t ext_reach(const char *fn, struct ext_region *region, int pe, double timeout);

/* "region 3" or "region 'weights'", for texts. */
const char *ext_region_label(const struct ext_region *region, char *buffer, size_t size);

int ext_region_init(PyObject *module);

/* --- pool.c, key.c ------------------------------------------------------------------------------------ */

/* An open pool, held by the package's Pool, by every block and by imports of its own memory; it is closed when the last
   of them goes, or when the interpreter ends. Guarded by the GIL, as are the next. */
struct ext_pool {
    PyObject_HEAD shmemx_pool_t pool; /* NULL: closed at the end of the interpreter */
    char *base;                       /* the main segment, and how far it can grow */
    size_t span;
    struct ext_pool *next, *previous; /* of all */
    struct ext_pool_block *owns;      /* blocks with segments of their own */
    struct ext_rest *rests;           /* such segments that were exported and have no block any more */
    PyObject *kept;  /* NULL, or a set of addresses of blocks that are not to be freed with their block */
    size_t users;    /* blocks and imports that hold it */
    PyObject *path;  /* of a file, or None */
    PyObject *extra; /* for the Python side */
    size_t calls;    /* of other threads, without the GIL */
    bool heap;       /* no pool, but the symmetric heap of the job as a home of objects: there is one such */
    bool grows, writable, read_only; /* a file opened copy-on-write is neither */
};

/* A buffer of a pool, and what arrays on it hold. */
struct ext_pool_block {
    PyObject_HEAD struct ext_pool *pool;
    char *address;
    size_t size;
    unsigned long forks;
    struct ext_pool_block *next, *previous; /* with own */
    PyObject *weak;
    PyObject *keys;  /* with own: NULL, or a list of the keys that were made of it */
    PyObject *cache; /* for the Python side */
    bool own, open;
    bool kept; /* exported, named or meant to stay: not freed with this object */
};

extern PyTypeObject ext_pool_type, ext_pool_block_type, ext_import_type;
extern PyMethodDef ext_pool_methods[], ext_key_methods[];

struct ext_pool *ext_pool_from(const char *fn, PyObject *object);
struct ext_pool_block *ext_pool_block_from(const char *fn, PyObject *object);

/* What holds this memory, which a pool of this process may have: a new reference to the block that has a segment of its
   own, or to the pool. NULL without an exception: none of them. */
PyObject *ext_pool_holder(const char *address);

/* A list of all that could hold memory of this process. */
PyObject *ext_pool_holders(void);

/* An import begins (1) or ends (-1) to hold what one of the two above returned. */
void ext_pool_count_users(PyObject *holders, int by);

/* From now on the buffer at this address stays when its block goes. */
bool ext_pool_keep_at(const char *address);

int ext_pool_init(PyObject *module);
int ext_key_init(void);

/* The open pool of this handle, or NULL: a borrowed reference. */
struct ext_pool *ext_pool_of(shmemx_pool_t handle);

/* A block over memory of the pool that is not freed with it. */
PyObject *ext_pool_block_over(struct ext_pool *pool, void *address, size_t size);

/* --- sync.c, queue.c: objects in pools and on the symmetric heap -------------------------------------- */

/* Objects are made and found there, where nothing speaks against it: the symmetric heap has to stay meanwhile. Between
   the two, calls may let go of the GIL. */
bool ext_home_begin(const char *fn, struct ext_pool *home);
void ext_home_end(struct ext_pool *home);

/* A handle of one of them. Guarded by the GIL. */
struct ext_sync {
    PyObject_HEAD void *handle; /* NULL: it was destroyed */
    struct ext_pool *pool;
    PyObject *name, *key; /* None: none, as far as is known here */
    PyObject *extra;      /* for the Python side */
    PyObject *weak;
    size_t calls; /* of other threads, without the GIL */
    unsigned long forks, children;
    unsigned long used; /* queues: forks when this process last put something into it */
    bool mine;          /* made here, and nobody else knows it: it is destroyed with this object */
    shmemx_is_t is;
    shmemx_type_t type; /* words */
    int pe;             /* whose instance it is; -1: it is in a pool */
};

/* As EXT_UNLOCKED; the object is not destroyed meanwhile, and its job does not end. */
#define EXT_SYNC_CALL(rc, sync, call)                                                                                  \
    do {                                                                                                               \
        (sync)->calls++;                                                                                               \
        ext_state.in_flight += (sync)->pe >= 0;                                                                        \
        EXT_UNLOCKED(rc, call);                                                                                        \
        ext_state.in_flight -= (sync)->pe >= 0;                                                                        \
        (sync)->calls--;                                                                                               \
    } while (0)

extern PyMethodDef ext_sync_methods[], ext_queue_methods[];
extern PyTypeObject ext_sync_type, ext_queue_type;

/* Its handle, or NULL with an exception. */
void *ext_sync_handle(const char *fn, PyObject *self);

/* A new object of this class, a subclass of one of the types, for a handle that it takes over; of this PE's own
   instance, where it is on the symmetric heap. */
PyObject *ext_sync_new(PyObject *cls, struct ext_pool *pool, shmemx_is_t is, void *handle, PyObject *name, bool mine);

/* Seconds to wait: 0 when not blocking. `timeout` may be NULL, None, or -1 for ever. */
bool ext_wait_seconds(const char *fn, PyObject *blocking, PyObject *timeout, double *out);

/* The arguments of a wait: (timeout, blocking), or as the standard library has them, (blocking, timeout). */
bool ext_wait_arguments(const char *fn, PyObject *const *args, Py_ssize_t n, PyObject *names, double *out);

int ext_sync_init(PyObject *module);
int ext_queue_init(PyObject *module);

/* --- access.c, collective.c --------------------------------------------------------------------------- */

extern PyMethodDef ext_access_methods[], ext_collective_methods[];

/* --- group.c ------------------------------------------------------------------------------------------ */

extern PyMethodDef ext_group_methods[];
int ext_group_init(PyObject *module);

/* --- device.c ----------------------------------------------------------------------------------------- */

extern PyMethodDef ext_device_methods[];
int ext_device_init(PyObject *module);

/* The stream, or NULL with an exception. */
shmemx_stream_t ext_stream_from(const char *fn, PyObject *object);
/* It may wait for a word of its device from now on, perhaps for ever. */
void ext_stream_waits(PyObject *stream);

/* --- foreign.c: memory of devices that other libraries allocated --------------------------------------- */

extern PyMethodDef ext_foreign_methods[];
int ext_foreign_init(PyObject *module);

/* Whether it is a hold, and then its memory, with a reference to it. */
bool ext_foreign_memory(PyObject *object, struct ext_memory *out);

/* Something ended that may have kept such memory from being disowned. */
void ext_foreign_retry(void);
void ext_foreign_close(void);

#endif
