// SPDX-License-Identifier: Apache-2.0
// Objects of synchronisation: their handles, and what is done with them often enough that Python's own calls would
// show. What needs no waiting is done without letting go of the GIL.
#include "ext.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* --- all types ---------------------------------------------------------------------------------------- */

/* The functions of each type, for a handle without a type. */
struct operations {
    const char *word;
    int (*find)(shmemx_pool_t pool, const char *name, void **out);
    int (*export)(void *handle, char *key);
    int (*import)(const char *key, void **out);
    int (*on)(void *handle, int pe, void **out);
    int (*close)(void *handle);
    int (*destroy)(void *handle);
};
#define OPERATIONS(name)                                                                                               \
    static int name##_find(shmemx_pool_t pool, const char *text, void **out)                                           \
    {                                                                                                                  \
        shmemx_##name##_t made;                                                                                        \
        int rc = shmemx_##name##_find(pool, text, &made);                                                              \
        *out = rc < 0 ? NULL : made;                                                                                   \
        return rc;                                                                                                     \
    }                                                                                                                  \
    static int name##_export(void *handle, char *key)                                                                  \
    {                                                                                                                  \
        return shmemx_##name##_export(handle, key);                                                                    \
    }                                                                                                                  \
    static int name##_import(const char *key, void **out)                                                              \
    {                                                                                                                  \
        shmemx_##name##_t made;                                                                                        \
        int rc = shmemx_##name##_import(key, &made);                                                                   \
        *out = rc < 0 ? NULL : made;                                                                                   \
        return rc;                                                                                                     \
    }                                                                                                                  \
    static int name##_on(void *handle, int pe, void **out)                                                             \
    {                                                                                                                  \
        shmemx_##name##_t made;                                                                                        \
        int rc = shmemx_##name##_on(handle, pe, &made);                                                                \
        *out = rc < 0 ? NULL : made;                                                                                   \
        return rc;                                                                                                     \
    }                                                                                                                  \
    static int name##_close(void *handle)                                                                              \
    {                                                                                                                  \
        return shmemx_##name##_close(handle);                                                                          \
    }                                                                                                                  \
    static int name##_destroy(void *handle)                                                                            \
    {                                                                                                                  \
        return shmemx_##name##_destroy(handle);                                                                        \
    }
OPERATIONS(mutex)
OPERATIONS(rwlock)
OPERATIONS(semaphore)
OPERATIONS(cond)
OPERATIONS(barrier)
OPERATIONS(event)
OPERATIONS(word)
OPERATIONS(queue)
#define ENTRY(word, name)                                                                                              \
    {                                                                                                                  \
        word, name##_find, name##_export, name##_import, name##_on, name##_close, name##_destroy                       \
    }
static const struct operations operations[] = {
    [SHMEMX_IS_MUTEX] = ENTRY("mutex", mutex),
    [SHMEMX_IS_RWLOCK] = ENTRY("reader-writer lock", rwlock),
    [SHMEMX_IS_SEMAPHORE] = ENTRY("semaphore", semaphore),
    [SHMEMX_IS_COND] = ENTRY("condition", cond),
    [SHMEMX_IS_BARRIER] = ENTRY("barrier", barrier),
    [SHMEMX_IS_EVENT] = ENTRY("event", event),
    [SHMEMX_IS_WORD] = ENTRY("atomic word", word),
    [SHMEMX_IS_QUEUE] = ENTRY("queue", queue),
};

void *ext_sync_handle(const char *fn, PyObject *self)
{
    const struct ext_sync *sync = (const struct ext_sync *)self;
    if (!sync->handle)
        ext_fail(fn, EXT_STALE, "the %s was destroyed", operations[sync->is].word);
    return sync->pe < 0 || ext_may_call(fn) ? sync->handle : NULL;
}

bool ext_home_begin(const char *fn, struct ext_pool *home)
{
    if (home->heap && !ext_may_call(fn))
        return false;
    home->calls++;
    ext_state.in_flight += home->heap;
    return true;
}

void ext_home_end(struct ext_pool *home)
{
    ext_state.in_flight -= home->heap;
    home->calls--;
}

PyObject *ext_sync_new(PyObject *cls, struct ext_pool *pool, shmemx_is_t is, void *handle, PyObject *name, bool mine)
{
    PyTypeObject *type = (PyTypeObject *)cls;
    struct ext_sync *sync = (struct ext_sync *)type->tp_alloc(type, 0);
    if (!sync) {
        operations[is].close(handle);
        return NULL;
    }
    sync->handle = handle;
    sync->pool = (struct ext_pool *)Py_NewRef((PyObject *)pool);
    pool->users++;
    sync->name = Py_NewRef(name);
    sync->key = Py_NewRef(Py_None);
    sync->forks = ext_state.forks;
    sync->children = ext_state.children;
    sync->used = (unsigned long)-1;
    sync->mine = mine && !pool->heap; /* there, destroying is collective */
    sync->is = is;
    sync->pe = pool->heap ? shmemx_my_pe() : -1;
    return (PyObject *)sync;
}

/* What nobody else can know is destroyed; a child of fork may know it. In such a child the parent's handles stay, but
   for a queue into which the child has put something; and so do those on a heap that is just going. */
static void let_go(struct ext_sync *sync)
{
    bool here = sync->forks == ext_state.forks;
    int rc = -EBUSY;
    if ((!here && sync->used != ext_state.forks) || (sync->pe >= 0 && ext_state.ending))
        return;
    if (here && sync->mine && sync->children == ext_state.children)
        rc = operations[sync->is].destroy(sync->handle);
    if (rc < 0 && sync->is == SHMEMX_IS_QUEUE)
        EXT_UNLOCKED(rc, shmemx_queue_close(sync->handle)); /* which may wait for room */
    else if (rc < 0)
        rc = operations[sync->is].close(sync->handle);
    if (rc == -ETIMEDOUT) { /* items were lost */
        ext_fail_rc("Queue.flush", rc);
        PyErr_WriteUnraisable(NULL);
    }
}

static void sync_dealloc(PyObject *self)
{
    struct ext_sync *sync = (struct ext_sync *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (sync->weak)
        PyObject_ClearWeakRefs(self);
    if (sync->handle && sync->pool->pool) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        let_go(sync);
        PyErr_Restore(kind, value, trace);
    }
    Py_XDECREF(sync->name);
    Py_XDECREF(sync->key);
    Py_XDECREF(sync->extra);
    if (sync->pool) {
        sync->pool->users--;
        Py_DECREF(sync->pool);
    }
    type->tp_free(self); /* who has a class in Python counts that down itself */
}

/* Whether nobody has revoked it. */
static bool still_works(PyObject *key)
{
    const char *text = PyUnicode_AsUTF8(key);
    shmemx_pool_t pool;
    PyErr_Clear();
    return text && shmemx_key_what(text, &pool) >= 0;
}

static PyObject *sync_export(PyObject *self, PyObject *none)
{
    (void)none;
    struct ext_sync *sync = (struct ext_sync *)self;
    char text[SHMEMX_KEY_TEXT];
    if (!ext_sync_handle("export", self))
        return NULL;
    if (sync->key == Py_None || !still_works(sync->key)) {
        int rc = operations[sync->is].export(sync->handle, text);
        if (rc < 0)
            return ext_fail_rc("export", rc);
        PyObject *key = PyUnicode_FromString(text);
        if (!key)
            return NULL;
        Py_SETREF(sync->key, key);
        sync->mine = false;
    }
    return Py_NewRef(sync->key);
}

static PyObject *sync_destroy(PyObject *self, PyObject *none)
{
    (void)none;
    struct ext_sync *sync = (struct ext_sync *)self;
    void *handle = ext_sync_handle("destroy", self);
    if (!handle)
        return NULL;
    if (sync->calls)
        return ext_fail("destroy", EXT_BUSY, "another thread of this process is waiting for the %s",
                        operations[sync->is].word);
    int rc;
    sync->handle = NULL;
    if (sync->pe < 0)
        rc = operations[sync->is].destroy(handle);
    else /* collective */
        EXT_SYNC_CALL(rc, sync, operations[sync->is].destroy(handle));
    if (rc < 0) {
        sync->handle = handle;
        return ext_fail_rc("destroy", rc);
    }
    Py_RETURN_NONE;
}

static PyMethodDef sync_base_methods[] = {
    {"_export", sync_export, METH_NOARGS, NULL},
    {"_destroy", sync_destroy, METH_NOARGS, NULL},
    {0},
};

static PyObject *sync_gone(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((const struct ext_sync *)self)->handle);
}

static PyGetSetDef sync_getset[] = {{"_gone", sync_gone, NULL, NULL, NULL}, {0}};

static PyMemberDef sync_members[] = {
    {"name", T_OBJECT, offsetof(struct ext_sync, name), READONLY,
     "Its name, where it was made or found by one; or None."},
    {"_pool", T_OBJECT, offsetof(struct ext_sync, pool), READONLY, NULL},
    {"_extra", T_OBJECT, offsetof(struct ext_sync, extra), 0, NULL},
    {"_pe", T_INT, offsetof(struct ext_sync, pe), READONLY, NULL},
    {0},
};

PyTypeObject ext_sync_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.SyncBase",
    .tp_basicsize = sizeof(struct ext_sync),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "An object in a pool, or on the symmetric heap.",
    .tp_dealloc = sync_dealloc,
    .tp_weaklistoffset = offsetof(struct ext_sync, weak),
    .tp_methods = sync_base_methods,
    .tp_members = sync_members,
    .tp_getset = sync_getset,
};

/* --- waiting ------------------------------------------------------------------------------------------ */

static bool is_minus_one(PyObject *object)
{
    int overflow;
    return PyLong_CheckExact(object) && PyLong_AsLongAndOverflow(object, &overflow) == -1 && !overflow;
}

bool ext_wait_seconds(const char *fn, PyObject *blocking, PyObject *timeout, double *out)
{
    int blocks = blocking ? PyObject_IsTrue(blocking) : 1;
    if (blocks < 0)
        return false;
    if (!timeout || timeout == Py_None)
        *out = SHMEMX_FOREVER;
    else if (is_minus_one(timeout))
        *out = SHMEMX_FOREVER; /* as the standard library's locks have it */
    else if (!ext_timeout(fn, timeout, SHMEMX_FOREVER, out))
        return false;
    if (!blocks)
        *out = 0;
    return true;
}

static bool name_is(PyObject *name, const char *text)
{
    return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

bool ext_wait_arguments(const char *fn, PyObject *const *args, Py_ssize_t n, PyObject *names, double *out)
{
    PyObject *timeout = NULL, *blocking = NULL;
    if (n == 0 && !names) {
        *out = SHMEMX_FOREVER;
        return true;
    }
    bool other_order = n > 0 && PyBool_Check(args[0]);
    if (n > 2) {
        ext_fail(fn, EXT_TYPE, "%zd arguments, but it takes timeout and blocking", n);
        return false;
    }
    if (n > 0)
        *(other_order ? &blocking : &timeout) = args[0];
    if (n > 1)
        *(other_order ? &timeout : &blocking) = args[1];
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject **at = name_is(name, "timeout") ? &timeout : name_is(name, "blocking") ? &blocking : NULL;
        if (!at || *at) {
            ext_fail(fn, EXT_TYPE, at ? "%s is given twice" : "there is no argument '%s'", PyUnicode_AsUTF8(name));
            return false;
        }
        *at = args[n + i];
    }
    return ext_wait_seconds(fn, blocking, timeout, out);
}

/* The end of a wait that says with its answer whether it got what it wanted. */
static PyObject *got(const char *fn, int rc)
{
    if (rc == 0)
        Py_RETURN_TRUE;
    if ((rc == -ETIMEDOUT || rc == -EBUSY || rc == -EAGAIN) && !PyErr_Occurred())
        Py_RETURN_FALSE;
    return ext_fail_rc(fn, rc);
}

/* Tries with the GIL, then waits without. `busy`: what trying says when it would have to wait. */
#define TAKE(fn, sync, rc, seconds, try_, busy, wait)                                                                  \
    do {                                                                                                               \
        rc = (try_);                                                                                                   \
        if (rc == (busy) && (seconds) != 0)                                                                            \
            EXT_SYNC_CALL(rc, sync, wait);                                                                             \
    } while (0)

#define SELF struct ext_sync *sync = (struct ext_sync *)self
#define WAIT_METHOD(function, fn, try_, busy, wait)                                                                    \
    static PyObject *function(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)                    \
    {                                                                                                                  \
        SELF;                                                                                                          \
        void *handle = ext_sync_handle(fn, self);                                                                      \
        double seconds;                                                                                                \
        int rc;                                                                                                        \
        if (!handle || !ext_wait_arguments(fn, args, n, names, &seconds))                                              \
            return NULL;                                                                                               \
        TAKE(fn, sync, rc, seconds, try_, busy, wait);                                                                 \
        return got(fn, rc);                                                                                            \
    }
#define ENTER_METHOD(function, fn, try_, busy, wait)                                                                   \
    static PyObject *function(PyObject *self, PyObject *none)                                                          \
    {                                                                                                                  \
        (void)none;                                                                                                    \
        SELF;                                                                                                          \
        void *handle = ext_sync_handle(fn, self);                                                                      \
        int rc;                                                                                                        \
        if (!handle)                                                                                                   \
            return NULL;                                                                                               \
        TAKE(fn, sync, rc, SHMEMX_FOREVER, try_, busy, wait);                                                          \
        return rc < 0 ? ext_fail_rc(fn, rc) : Py_NewRef(self);                                                         \
    }
#define PLAIN_METHOD(function, fn, call)                                                                               \
    static PyObject *function(PyObject *self, PyObject *none)                                                          \
    {                                                                                                                  \
        (void)none;                                                                                                    \
        void *handle = ext_sync_handle(fn, self);                                                                      \
        int rc = handle ? (call) : 0;                                                                                  \
        if (!handle || rc < 0)                                                                                         \
            return handle ? ext_fail_rc(fn, rc) : NULL;                                                                \
        Py_RETURN_NONE;                                                                                                \
    }
#define EXIT_METHOD(function, of)                                                                                      \
    static PyObject *function(PyObject *self, PyObject *const *args, Py_ssize_t n)                                     \
    {                                                                                                                  \
        (void)args, (void)n;                                                                                           \
        return of(self, NULL);                                                                                         \
    }
#define BOOL_METHOD(function, fn, call)                                                                                \
    static PyObject *function(PyObject *self, PyObject *none)                                                          \
    {                                                                                                                  \
        (void)none;                                                                                                    \
        void *handle = ext_sync_handle(fn, self);                                                                      \
        int rc = handle ? (call) : 0;                                                                                  \
        if (!handle || rc < 0)                                                                                         \
            return handle ? ext_fail_rc(fn, rc) : NULL;                                                                \
        return PyBool_FromLong(rc);                                                                                    \
    }

#define DOCUMENTED(name, function, flags, doc)                                                                         \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), flags, doc                                                      \
    }
#define CALL(name, function, flags) DOCUMENTED(name, function, flags, NULL)
#define WAITS(name, function, doc) DOCUMENTED(name, function, METH_FASTCALL | METH_KEYWORDS, doc)
#define TYPE(type, text, methods_)                                                                                     \
    static PyTypeObject type = {                                                                                       \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext." text,                                                   \
        .tp_basicsize = sizeof(struct ext_sync),                                                                       \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,                      \
        .tp_base = &ext_sync_type,                                                                                     \
        .tp_methods = methods_,                                                                                        \
    }

/* --- mutexes ------------------------------------------------------------------------------------------ */

WAIT_METHOD(mutex_acquire, "Mutex.acquire", shmemx_mutex_trylock(handle), -EBUSY, shmemx_mutex_lock(handle, seconds))
ENTER_METHOD(mutex_enter, "Mutex.acquire", shmemx_mutex_trylock(handle), -EBUSY,
             shmemx_mutex_lock(handle, SHMEMX_FOREVER))
PLAIN_METHOD(mutex_release, "Mutex.release", shmemx_mutex_unlock(handle))
EXIT_METHOD(mutex_exit, mutex_release)
PLAIN_METHOD(mutex_consistent, "Mutex.consistent", shmemx_mutex_consistent(handle))
BOOL_METHOD(mutex_locked, "Mutex.locked", shmemx_mutex_locked(handle))

static PyMethodDef mutex_methods[] = {
    WAITS("acquire", mutex_acquire,
          "acquire(timeout=None, blocking=True)\n--\n\nTakes it: True; False when time is up. OwnerDied: it was taken, "
          "and its last holder died."),
    DOCUMENTED("release", mutex_release, METH_NOARGS,
               "release()\n--\n\nGives it back. Raises NotOwner when this thread does not have it."),
    DOCUMENTED("consistent", mutex_consistent, METH_NOARGS,
               "consistent()\n--\n\nAfter OwnerDied and the repair: what it guards is as it should be."),
    DOCUMENTED("locked", mutex_locked, METH_NOARGS, "locked()\n--\n\nWhether a living thread has it."),
    CALL("__enter__", mutex_enter, METH_NOARGS),
    CALL("__exit__", mutex_exit, METH_FASTCALL),
    {0},
};
TYPE(mutex_type, "MutexBase", mutex_methods);

/* --- locks for readers and writers -------------------------------------------------------------------- */

WAIT_METHOD(rwlock_acquire_read, "RWLock.acquire_read", shmemx_rwlock_tryrdlock(handle), -EBUSY,
            shmemx_rwlock_rdlock(handle, seconds))
WAIT_METHOD(rwlock_acquire_write, "RWLock.acquire_write", shmemx_rwlock_trywrlock(handle), -EBUSY,
            shmemx_rwlock_wrlock(handle, seconds))
PLAIN_METHOD(rwlock_release, "RWLock.release", shmemx_rwlock_unlock(handle))
PLAIN_METHOD(rwlock_consistent, "RWLock.consistent", shmemx_rwlock_consistent(handle))

static PyObject *rwlock_look(PyObject *self, PyObject *none)
{
    (void)none;
    void *handle = ext_sync_handle("RWLock.locked", self);
    unsigned readers;
    int writer, rc;
    if (!handle)
        return NULL;
    rc = shmemx_rwlock_locked(handle, &readers, &writer);
    return rc < 0 ? ext_fail_rc("RWLock.locked", rc) : Py_BuildValue("(IN)", readers, PyBool_FromLong(writer));
}

static PyMethodDef rwlock_methods[] = {
    WAITS("acquire_read", rwlock_acquire_read,
          "acquire_read(timeout=None, blocking=True)\n--\n\nThis thread reads: True; False when time is up. OwnerDied: "
          "a writer died, and it was not taken."),
    WAITS("acquire_write", rwlock_acquire_write,
          "acquire_write(timeout=None, blocking=True)\n--\n\nThis thread writes: True; False when time is up. "
          "OwnerDied: it was taken, and a writer died."),
    DOCUMENTED("release", rwlock_release, METH_NOARGS,
               "release()\n--\n\nGives back what this thread has, for reading or writing. Raises NotOwner."),
    DOCUMENTED("consistent", rwlock_consistent, METH_NOARGS,
               "consistent()\n--\n\nAfter OwnerDied and the repair, by the writer."),
    CALL("_look", rwlock_look, METH_NOARGS),
    {0},
};
TYPE(rwlock_type, "RWLockBase", rwlock_methods);

/* --- semaphores --------------------------------------------------------------------------------------- */

WAIT_METHOD(semaphore_acquire, "Semaphore.acquire", shmemx_semaphore_trywait(handle), -EAGAIN,
            shmemx_semaphore_wait(handle, seconds))
ENTER_METHOD(semaphore_enter, "Semaphore.acquire", shmemx_semaphore_trywait(handle), -EAGAIN,
             shmemx_semaphore_wait(handle, SHMEMX_FOREVER))
PLAIN_METHOD(semaphore_leave, "Semaphore.release", shmemx_semaphore_post(handle, 1))
EXIT_METHOD(semaphore_exit, semaphore_leave)

static PyObject *semaphore_release(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    const char *fn = "Semaphore.release";
    void *handle = ext_sync_handle(fn, self);
    int count = 1;
    if (!handle)
        return NULL;
    if (names && PyTuple_GET_SIZE(names) &&
        (n || PyTuple_GET_SIZE(names) > 1 || !name_is(PyTuple_GET_ITEM(names, 0), "n")))
        return ext_fail(fn, EXT_TYPE, "it takes one argument, n");
    if (n > 1)
        return ext_fail(fn, EXT_TYPE, "%zd arguments, but it takes one, n", n);
    if ((n || names) && !ext_int(fn, "n", args[0], &count))
        return NULL;
    if (count < 1)
        return ext_fail(fn, EXT_VALUE, "n is %d, but must be 1 or more", count);
    return ext_answer(fn, shmemx_semaphore_post(handle, (unsigned)count));
}

static PyObject *semaphore_value(PyObject *self, PyObject *none)
{
    (void)none;
    void *handle = ext_sync_handle("Semaphore.value", self);
    unsigned value;
    int rc;
    if (!handle)
        return NULL;
    rc = shmemx_semaphore_value(handle, &value);
    return rc < 0 ? ext_fail_rc("Semaphore.value", rc) : PyLong_FromUnsignedLong(value);
}

static PyMethodDef semaphore_methods[] = {
    WAITS("acquire", semaphore_acquire,
          "acquire(timeout=None, blocking=True)\n--\n\nTakes a unit: True; False when time is up."),
    WAITS("release", semaphore_release,
          "release(n=1)\n--\n\nGives n units, all or none. Raises OutOfRange (more than max), NotOwner."),
    DOCUMENTED("value", semaphore_value, METH_NOARGS, "value()\n--\n\nHow many units are free."),
    CALL("__enter__", semaphore_enter, METH_NOARGS),
    CALL("__exit__", semaphore_exit, METH_FASTCALL),
    {0},
};
TYPE(semaphore_type, "SemaphoreBase", semaphore_methods);

/* --- conditions --------------------------------------------------------------------------------------- */

/* (mutex, timeout) */
static PyObject *condition_wait(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Condition.wait";
    SELF;
    void *handle = ext_sync_handle(fn, self), *mutex;
    double seconds;
    int rc;
    if (!handle || n != 2 || !(mutex = ext_sync_handle(fn, args[0])) || !ext_wait_seconds(fn, NULL, args[1], &seconds))
        return NULL;
    EXT_SYNC_CALL(rc, sync, shmemx_cond_wait(handle, mutex, seconds));
    return got(fn, rc);
}

PLAIN_METHOD(condition_signal, "Condition.notify", shmemx_cond_signal(handle))
PLAIN_METHOD(condition_broadcast, "Condition.notify_all", shmemx_cond_broadcast(handle))

static PyMethodDef condition_methods[] = {
    CALL("_wait", condition_wait, METH_FASTCALL),
    CALL("_signal", condition_signal, METH_NOARGS),
    DOCUMENTED("notify_all", condition_broadcast, METH_NOARGS, "notify_all()\n--\n\nWakes all waiters."),
    {0},
};
TYPE(condition_type, "ConditionBase", condition_methods);

/* --- barriers ----------------------------------------------------------------------------------------- */

/* (timeout): 0 in one of the threads, 1 in the others */
static PyObject *barrier_wait(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Barrier.wait";
    SELF;
    void *handle = ext_sync_handle(fn, self);
    double seconds;
    int rc;
    if (!handle || n != 1 || !ext_wait_seconds(fn, NULL, args[0], &seconds))
        return NULL;
    EXT_SYNC_CALL(rc, sync, shmemx_barrier_wait(handle, seconds));
    return rc < 0 ? ext_fail_rc(fn, rc) : PyLong_FromLong(!rc);
}

static PyObject *barrier_state(PyObject *self, PyObject *none)
{
    (void)none;
    void *handle = ext_sync_handle("Barrier", self);
    unsigned parties, waiting;
    int rc;
    if (!handle)
        return NULL;
    rc = shmemx_barrier_state(handle, &parties, &waiting);
    return rc < 0 ? ext_fail_rc("Barrier", rc) : Py_BuildValue("(II)", parties, waiting);
}

static PyMethodDef barrier_methods[] = {
    CALL("_wait", barrier_wait, METH_FASTCALL),
    CALL("_state", barrier_state, METH_NOARGS),
    {0},
};
TYPE(barrier_type, "BarrierBase", barrier_methods);

/* --- events ------------------------------------------------------------------------------------------- */

WAIT_METHOD(event_wait, "Event.wait", shmemx_event_wait(handle, 0), -ETIMEDOUT, shmemx_event_wait(handle, seconds))
PLAIN_METHOD(event_set, "Event.set", shmemx_event_set(handle))
PLAIN_METHOD(event_clear, "Event.clear", shmemx_event_clear(handle))
BOOL_METHOD(event_is_set, "Event.is_set", shmemx_event_is_set(handle))

static PyMethodDef event_methods[] = {
    WAITS("wait", event_wait, "wait(timeout=None)\n--\n\nWaits until it is set: True; False when time is up."),
    DOCUMENTED("set", event_set, METH_NOARGS, "set()\n--\n\nIt has happened: waiters go on."),
    DOCUMENTED("clear", event_clear, METH_NOARGS, "clear()\n--\n\nIt has not happened yet."),
    DOCUMENTED("is_set", event_is_set, METH_NOARGS, "is_set()\n--\n\nWhether it is set."),
    {0},
};
TYPE(event_type, "EventBase", event_methods);

/* --- atomic words ------------------------------------------------------------------------------------- */

static bool word_from(const char *fn, const char *argument, PyObject *object, shmemx_type_t type, uint64_t *out)
{
    union ext_value value = {0};
    if (!ext_value_from(fn, argument, object, type, &value))
        return false;
    *out = type == SHMEMX_INT32 ? (uint64_t)(int64_t)value.i32 : type == SHMEMX_UINT32 ? value.u32 : value.u64;
    return true;
}

static PyObject *word_to(shmemx_type_t type, uint64_t bits)
{
    union ext_value value = {.u64 = bits}; /* little endian */
    return ext_value_to(type, &value);
}

static PyObject *word_load(PyObject *self, PyObject *none)
{
    (void)none;
    SELF;
    void *handle = ext_sync_handle("Atomic.load", self);
    uint64_t value;
    int rc;
    if (!handle)
        return NULL;
    rc = shmemx_word_load(handle, &value);
    return rc < 0 ? ext_fail_rc("Atomic.load", rc) : word_to(sync->type, value);
}

static PyObject *word_change(const char *fn, PyObject *self, PyObject *object, bool negate, bool tells,
                             int (*call)(shmemx_word_t, uint64_t, uint64_t *))
{
    SELF;
    void *handle = ext_sync_handle(fn, self);
    uint64_t value, before;
    if (!handle || !word_from(fn, "value", object, sync->type, &value))
        return NULL;
    if (negate && (sync->type == SHMEMX_INT32 || sync->type == SHMEMX_UINT32))
        value = (uint32_t)(0 - value);
    else if (negate)
        value = 0 - value;
    int rc = call(handle, value, &before);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    return tells ? word_to(sync->type, before) : Py_NewRef(Py_None);
}
#define WORD_METHOD(function, fn, call, negate, tells)                                                                 \
    static PyObject *function(PyObject *self, PyObject *object)                                                        \
    {                                                                                                                  \
        return word_change(fn, self, object, negate, tells, call);                                                     \
    }
WORD_METHOD(word_store, "Atomic.store", shmemx_word_swap, false, false)
WORD_METHOD(word_add, "Atomic.add", shmemx_word_add, false, false)
WORD_METHOD(word_sub, "Atomic.sub", shmemx_word_add, true, false)
WORD_METHOD(word_fetch_add, "Atomic.fetch_add", shmemx_word_add, false, true)
WORD_METHOD(word_fetch_sub, "Atomic.fetch_sub", shmemx_word_add, true, true)
WORD_METHOD(word_and, "Atomic.and_", shmemx_word_and, false, true)
WORD_METHOD(word_or, "Atomic.or_", shmemx_word_or, false, true)
WORD_METHOD(word_xor, "Atomic.xor", shmemx_word_xor, false, true)
WORD_METHOD(word_swap, "Atomic.swap", shmemx_word_swap, false, true)

/* (expected, desired, whether to return what was there) */
static PyObject *word_cas(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    SELF;
    const char *fn = n == 3 && args[2] == Py_True ? "Atomic.cas" : "Atomic.compare_exchange";
    void *handle = ext_sync_handle(fn, self);
    uint64_t expected, desired, before;
    if (!handle || n != 3 || !word_from(fn, "expected", args[0], sync->type, &expected) ||
        !word_from(fn, "desired", args[1], sync->type, &desired))
        return NULL;
    int rc = shmemx_word_cas(handle, expected, desired, &before);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    return args[2] == Py_True ? word_to(sync->type, before) : PyBool_FromLong(rc);
}

/* (value, timeout) */
static PyObject *word_wait(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Atomic.wait";
    SELF;
    void *handle = ext_sync_handle(fn, self);
    uint64_t value;
    double seconds;
    int rc;
    if (!handle || n != 2 || !word_from(fn, "value", args[0], sync->type, &value) ||
        !ext_wait_seconds(fn, NULL, args[1], &seconds))
        return NULL;
    EXT_SYNC_CALL(rc, sync, shmemx_word_wait(handle, value, seconds));
    return got(fn, rc);
}

/* (count) */
static PyObject *word_wake(PyObject *self, PyObject *object)
{
    const char *fn = "Atomic.wake";
    void *handle = ext_sync_handle(fn, self);
    int count;
    if (!handle || !ext_int(fn, "n", object, &count))
        return NULL;
    if (count < 1)
        return ext_fail(fn, EXT_VALUE, "n is %d, but must be 1 or more", count);
    int rc = shmemx_word_wake(handle, (unsigned)count);
    return rc < 0 ? ext_fail_rc(fn, rc) : PyLong_FromLong(rc);
}

static PyObject *word_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(ext_type_names[((struct ext_sync *)self)->type]);
}

static PyGetSetDef word_getset[] = {{"_dtype", word_dtype, NULL, NULL, NULL}, {0}};

static PyMethodDef word_methods[] = {
    DOCUMENTED("load", word_load, METH_NOARGS, "load()\n--\n\nIts value."),
    DOCUMENTED("store", word_store, METH_O, "store(value, /)\n--\n\nReplaces it."),
    DOCUMENTED("add", word_add, METH_O, "add(value, /)\n--\n\nAdds to it; wraps around."),
    DOCUMENTED("sub", word_sub, METH_O, "sub(value, /)\n--\n\nSubtracts from it; wraps around."),
    DOCUMENTED("fetch_add", word_fetch_add, METH_O, "fetch_add(value, /)\n--\n\nAdds to it; returns what was there."),
    DOCUMENTED("fetch_sub", word_fetch_sub, METH_O,
               "fetch_sub(value, /)\n--\n\nSubtracts from it; returns what was there."),
    DOCUMENTED("and_", word_and, METH_O, "and_(value, /)\n--\n\nBitwise and; returns what was there."),
    DOCUMENTED("or_", word_or, METH_O, "or_(value, /)\n--\n\nBitwise or; returns what was there."),
    DOCUMENTED("xor", word_xor, METH_O, "xor(value, /)\n--\n\nBitwise exclusive or; returns what was there."),
    DOCUMENTED("swap", word_swap, METH_O, "swap(value, /)\n--\n\nReplaces it; returns what was there."),
    CALL("_cas", word_cas, METH_FASTCALL),
    CALL("_wait", word_wait, METH_FASTCALL),
    CALL("_wake", word_wake, METH_O),
    {0},
};
static PyTypeObject word_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.AtomicBase",
    .tp_basicsize = sizeof(struct ext_sync),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_base = &ext_sync_type,
    .tp_methods = word_methods,
    .tp_getset = word_getset,
};

/* --- making, finding, importing ----------------------------------------------------------------------- */

static PyTypeObject *const types[] = {
    [SHMEMX_IS_MUTEX] = &mutex_type,    [SHMEMX_IS_RWLOCK] = &rwlock_type,   [SHMEMX_IS_SEMAPHORE] = &semaphore_type,
    [SHMEMX_IS_COND] = &condition_type, [SHMEMX_IS_BARRIER] = &barrier_type, [SHMEMX_IS_EVENT] = &event_type,
    [SHMEMX_IS_WORD] = &word_type,      [SHMEMX_IS_QUEUE] = &ext_queue_type,
};

static bool number_from(const char *fn, const char *argument, PyObject *object, unsigned *out)
{
    int value;
    if (!ext_int(fn, argument, object, &value))
        return false;
    if (value < 0) {
        ext_fail(fn, EXT_RANGE, "%s is %d, but must not be negative", argument, value);
        return false;
    }
    *out = (unsigned)value;
    return true;
}

static PyObject *made(const char *fn, PyObject *cls, struct ext_pool *pool, shmemx_is_t is, void *handle, int rc,
                      PyObject *name, bool mine)
{
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    int width = is == SHMEMX_IS_WORD ? shmemx_word_width(handle) : 0;
    int positive = width ? shmemx_word_unsigned(handle) : 0;
    struct ext_sync *sync = (struct ext_sync *)ext_sync_new(cls, pool, is, handle, name, mine);
    if (sync && width)
        sync->type = width == 8 ? (positive ? SHMEMX_UINT64 : SHMEMX_INT64) : (positive ? SHMEMX_UINT32 : SHMEMX_INT32);
    return (PyObject *)sync;
}

static bool take_class(PyObject *cls, int is)
{
    return is > 0 && is <= (int)SHMEMX_IS_QUEUE && PyType_Check(cls) &&
           PyType_IsSubtype((PyTypeObject *)cls, types[is]);
}

/* A word's value is told with its width, and with its type once that is known. */
static bool take_word(const char *fn, PyObject *dtype, PyObject *object, unsigned *width, uint64_t *value)
{
    int type;
    if (!ext_int(fn, "dtype", dtype, &type) || !word_from(fn, "value", object, (shmemx_type_t)type, value))
        return false;
    *width = type == SHMEMX_INT32 || type == SHMEMX_UINT32 ? 4 : 8;
    if (type == SHMEMX_UINT32 || type == SHMEMX_UINT64)
        *width |= SHMEMX_WORD_UNSIGNED;
    return true;
}

/* (fn, class, pool, SHMEMX_IS_, name or None, and up to three arguments) */
static PyObject *sync_create(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("sync_create", 8);
    struct ext_pool *pool = ext_pool_from(fn, args[2]);
    const char *name = NULL;
    union {
        void *any;
        shmemx_mutex_t mutex;
        shmemx_rwlock_t rwlock;
        shmemx_semaphore_t semaphore;
        shmemx_cond_t cond;
        shmemx_barrier_t barrier;
        shmemx_event_t event;
        shmemx_word_t word;
    } out = {NULL};
    unsigned a = 0, b = 0;
    uint64_t value;
    int is, rc = -EINVAL;
    if (!pool || !ext_int(fn, "type", args[3], &is) || !take_class(args[1], is) ||
        (args[4] != Py_None && !(name = ext_text(fn, "name", args[4]))))
        return NULL;
    if (!ext_home_begin(fn, pool)) /* creating takes the pool's lock for a moment, and may make the pool grow */
        return NULL;
    switch (is) {
    case SHMEMX_IS_MUTEX:
        EXT_UNLOCKED(rc, shmemx_mutex_create(pool->pool, name, &out.mutex));
        break;
    case SHMEMX_IS_RWLOCK:
        if (number_from(fn, "seats", args[5], &a))
            EXT_UNLOCKED(rc, shmemx_rwlock_create(pool->pool, name, a, &out.rwlock));
        break;
    case SHMEMX_IS_SEMAPHORE:
        if (number_from(fn, "n", args[5], &a) && number_from(fn, "max", args[6], &b))
            EXT_UNLOCKED(rc, shmemx_semaphore_create(pool->pool, name, a, b, args[7] == Py_True, &out.semaphore));
        break;
    case SHMEMX_IS_COND:
        EXT_UNLOCKED(rc, shmemx_cond_create(pool->pool, name, &out.cond));
        break;
    case SHMEMX_IS_BARRIER:
        if (number_from(fn, "n", args[5], &a))
            EXT_UNLOCKED(rc, shmemx_barrier_create(pool->pool, name, a, &out.barrier));
        break;
    case SHMEMX_IS_EVENT:
        EXT_UNLOCKED(rc, shmemx_event_create(pool->pool, name, args[5] == Py_True, args[6] == Py_True, &out.event));
        break;
    default:
        if (take_word(fn, args[5], args[6], &a, &value))
            EXT_UNLOCKED(rc, shmemx_word_create(pool->pool, name, a, value, &out.word));
    }
    ext_home_end(pool);
    return PyErr_Occurred() ? NULL : made(fn, args[1], pool, (shmemx_is_t)is, out.any, rc, args[4], !name);
}

/* (fn, class, pool, SHMEMX_IS_, name) */
static PyObject *sync_find(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("sync_find", 5);
    struct ext_pool *pool = ext_pool_from(fn, args[2]);
    const char *name = pool ? ext_text(fn, "name", args[4]) : NULL;
    void *handle = NULL;
    int is, rc;
    if (!name || !ext_int(fn, "type", args[3], &is) || !take_class(args[1], is))
        return NULL;
    if (!ext_home_begin(fn, pool))
        return NULL;
    EXT_UNLOCKED(rc, operations[is].find(pool->pool, name, &handle));
    ext_home_end(pool);
    return made(fn, args[1], pool, (shmemx_is_t)is, handle, rc, args[4], false);
}

/* (fn, class, pool, SHMEMX_IS_, key) */
static PyObject *sync_import(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("sync_import", 5);
    struct ext_pool *pool = ext_pool_from(fn, args[2]);
    const char *key = pool ? ext_text(fn, "key", args[4]) : NULL;
    void *handle = NULL;
    int is, rc;
    if (!key || !ext_int(fn, "type", args[3], &is) || !take_class(args[1], is))
        return NULL;
    pool->calls++;
    EXT_UNLOCKED(rc, operations[is].import(key, &handle));
    pool->calls--;
    PyObject *self = made(fn, args[1], pool, (shmemx_is_t)is, handle, rc, Py_None, false);
    if (self)
        Py_SETREF(((struct ext_sync *)self)->key, Py_NewRef(args[4]));
    return self;
}

/* (fn, object, pe): PE pe's instance */
static PyObject *sync_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("sync_on", 3);
    struct ext_sync *own = (struct ext_sync *)args[1];
    void *handle = ext_sync_handle(fn, args[1]), *there;
    int pe = 0; /* in a pool there are no instances, whatever it is */
    if (!handle || (own->pe >= 0 && !ext_pe(fn, "pe", args[2], &pe)))
        return NULL;
    int rc = operations[own->is].on(handle, pe, &there);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    struct ext_sync *made =
        (struct ext_sync *)ext_sync_new((PyObject *)Py_TYPE(own), own->pool, own->is, there, own->name, false);
    if (made) {
        made->type = own->type;
        made->pe = pe;
    }
    return (PyObject *)made;
}

PyMethodDef ext_sync_methods[] = {
    CALL("sync_create", sync_create, METH_FASTCALL),
    CALL("sync_find", sync_find, METH_FASTCALL),
    CALL("sync_import", sync_import, METH_FASTCALL),
    CALL("sync_on", sync_on, METH_FASTCALL),
    {0},
};

int ext_sync_init(PyObject *module)
{
    if (PyModule_AddType(module, &ext_sync_type) < 0)
        return -1;
    for (int is = SHMEMX_IS_MUTEX; is < (int)SHMEMX_IS_QUEUE; is++)
        if (PyModule_AddType(module, types[is]) < 0)
            return -1;
    return 0;
}
