// SPDX-License-Identifier: Apache-2.0
// Memory of devices: pools, buffers, imports, streams, copies, and capsules of DLPack.
#include "dlpack.h"
#include "ext.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

enum what { POOL, BLOCK, IMPORT, STREAM };

/* One of these. All are listed, so that nothing is left when the interpreter ends. Guarded by the GIL. */
struct thing {
    PyObject_HEAD enum what what;
    void *handle; /* NULL: freed or closed; of a block: its address */
    struct thing *next, *previous;
    struct thing *pool; /* of a block: it holds its pool */
    unsigned long address;
    size_t size;
    int number, read_only, kept;
    bool waits; /* a stream: for a word of its device, perhaps still */
    PyObject *type, *note, *key, *token;
    PyObject *extra; /* for the Python side */
};

static struct thing *things;
static shmemx_device_pool_t busy[64]; /* pools whose own keys are imported here: closed after the imports */
static size_t busy_count;

static PyTypeObject pool_type, block_type, import_type, stream_type;

static void close_busy(void)
{
    for (size_t i = busy_count; i-- > 0;)
        if (shmemx_device_pool_close(busy[i]) != -EBUSY)
            busy[i] = busy[--busy_count];
}

/* Ends what it stands for. Failures are of a driver that is gone, or in a forked child. */
static void end(struct thing *t)
{
    void *handle = t->handle;
    int rc = 0;
    t->handle = NULL;
    if (!handle)
        return;
    if (t->what == BLOCK && !t->kept && t->pool->handle)
        shmemx_device_free((shmemx_device_pool_t)t->pool->handle, handle);
    if (t->what == IMPORT) {
        shmemx_device_import_close((shmemx_device_import_t)handle);
        close_busy();
        ext_foreign_retry();
    }
    if (t->what == STREAM) /* may wait for what another thread does */
        EXT_UNLOCKED(rc, shmemx_stream_destroy((shmemx_stream_t)handle));
    (void)rc;
    if (t->what == POOL && shmemx_device_pool_close((shmemx_device_pool_t)handle) == -EBUSY &&
        busy_count < sizeof busy / sizeof *busy)
        busy[busy_count++] = (shmemx_device_pool_t)handle;
}

static void thing_dealloc(PyObject *self)
{
    struct thing *t = (struct thing *)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    end(t);
    if (PyErr_Occurred()) /* of a signal handler */
        PyErr_WriteUnraisable(NULL);
    *(t->previous ? &t->previous->next : &things) = t->next;
    if (t->next)
        t->next->previous = t->previous;
    PyErr_Restore(type, value, trace);
    Py_XDECREF((PyObject *)t->pool);
    Py_XDECREF(t->type);
    Py_XDECREF(t->note);
    Py_XDECREF(t->key);
    Py_XDECREF(t->token);
    Py_XDECREF(t->extra);
    PyObject_Free(self);
}

static struct thing *new_thing(PyTypeObject *type, enum what what)
{
    struct thing *t = PyObject_New(struct thing, type);
    if (!t)
        return NULL;
    memset((char *)t + offsetof(struct thing, what), 0, sizeof *t - offsetof(struct thing, what));
    t->what = what;
    if ((t->next = things))
        things->previous = t;
    things = t;
    return t;
}

static PyObject *thing_is_open(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((const struct thing *)self)->handle != NULL);
}

static PyGetSetDef getset[] = {{"is_open", thing_is_open, NULL, NULL, NULL}, {0}};
static PyMemberDef members[] = {
    {"address", T_ULONG, offsetof(struct thing, address), READONLY, NULL},
    {"size", T_ULONG, offsetof(struct thing, size), READONLY, NULL},
    {"number", T_INT, offsetof(struct thing, number), READONLY, NULL},
    {"read_only", T_INT, offsetof(struct thing, read_only), READONLY, NULL},
    {"kept", T_INT, offsetof(struct thing, kept), 0, NULL},
    {"type", T_OBJECT, offsetof(struct thing, type), READONLY, NULL},
    {"note", T_OBJECT, offsetof(struct thing, note), READONLY, NULL},
    {"key", T_OBJECT, offsetof(struct thing, key), READONLY, NULL},
    {"token", T_OBJECT, offsetof(struct thing, token), READONLY, NULL},
    {"pool", T_OBJECT, offsetof(struct thing, pool), READONLY, NULL},
    {"extra", T_OBJECT, offsetof(struct thing, extra), 0, NULL},
    {0},
};

#define TYPE(variable, name, doc)                                                                                      \
    static PyTypeObject variable = {                                                                                   \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext." name,                                                   \
        .tp_basicsize = sizeof(struct thing),                                                                          \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,                                            \
        .tp_doc = doc,                                                                                                 \
        .tp_dealloc = thing_dealloc,                                                                                   \
        .tp_getset = getset,                                                                                           \
        .tp_members = members,                                                                                         \
    }
TYPE(pool_type, "DevicePoolHandle", "A pool of device memory.");
TYPE(block_type, "DeviceBlock", "A buffer of a device pool.");
TYPE(import_type, "DeviceImport", "Device memory that a key opened.");
TYPE(stream_type, "StreamHandle", "A stream of a device.");

/* The object as one of these that is open, or NULL with an exception. */
static struct thing *thing_from(const char *fn, PyObject *object, PyTypeObject *type, const char *what)
{
    if (object == Py_None || (PyObject_TypeCheck(object, type) && !((struct thing *)object)->handle)) {
        ext_fail(fn, EXT_STALE, "the %s was closed or freed", what);
        return NULL;
    }
    if (PyObject_TypeCheck(object, type))
        return (struct thing *)object;
    ext_fail(fn, EXT_TYPE, "a %s is no %s", Py_TYPE(object)->tp_name, what);
    return NULL;
}

static bool type_and_number(const char *fn, PyObject *const *args, const char **type, int *number)
{
    return (*type = ext_text(fn, "type", args[0])) && ext_int(fn, "device", args[1], number);
}

/* --- devices ------------------------------------------------------------------------------------------ */

/* (fn, type) */
static PyObject *device_count(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_count", 2);
    const char *type = ext_text(fn, "type", args[1]);
    int rc;
    if (!type)
        return NULL;
    EXT_UNLOCKED(rc, shmemx_device_stands_in(type));
    if (rc > 0) /* arrays stand in for device buffers here (_stand_in.py), so there is none; the text says why */
        return ext_fail_rc(fn, -ENODEV);
    if (rc == 0)
        EXT_UNLOCKED(rc, shmemx_device_count(type));
    return rc < 0 ? ext_fail_rc(fn, rc) : PyLong_FromLong(rc);
}

/* (fn, type, number): (name, driver, id, free, total, can_share, can_signal, way) */
static PyObject *device_info(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_info", 3);
    shmemx_device_info_t i;
    const char *type;
    int number, rc;
    if (!type_and_number(fn, args + 1, &type, &number))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_device_info(type, number, &i));
    return rc < 0 ? ext_fail_rc(fn, rc)
                  : Py_BuildValue("(sssnnNNs)", i.name, i.driver, i.id, (Py_ssize_t)i.free_bytes,
                                  (Py_ssize_t)i.total_bytes, PyBool_FromLong(i.can_share),
                                  PyBool_FromLong(i.can_signal), i.way);
}

/* --- pools -------------------------------------------------------------------------------------------- */

/* (fn, type, number, size) */
static PyObject *device_pool_create(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_pool_create", 4);
    shmemx_device_pool_t pool;
    const char *type;
    int number, rc;
    size_t size;
    if (!type_and_number(fn, args + 1, &type, &number) || !ext_size(fn, "size", args[3], &size))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_device_pool_create(type, number, size, &pool));
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    struct thing *t = new_thing(&pool_type, POOL);
    if (!t) {
        shmemx_device_pool_close(pool);
        return NULL;
    }
    t->handle = pool;
    t->number = number;
    t->size = size;
    t->type = Py_NewRef(args[1]);
    return (PyObject *)t;
}

/* (fn, pool): (size, in_use, buffers, largest_free, high_water) */
static PyObject *device_pool_stats(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_pool_stats", 2);
    shmemx_device_pool_stats_t s;
    struct thing *pool = thing_from(fn, args[1], &pool_type, "pool");
    if (!pool)
        return NULL;
    int rc = shmemx_device_pool_stats((shmemx_device_pool_t)pool->handle, &s);
    return rc < 0 ? ext_fail_rc(fn, rc)
                  : Py_BuildValue("(nnnnn)", (Py_ssize_t)s.size, (Py_ssize_t)s.in_use, (Py_ssize_t)s.buffers,
                                  (Py_ssize_t)s.largest_free, (Py_ssize_t)s.high_water);
}

/* (fn, pool, size, align) */
static PyObject *device_alloc(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_alloc", 4);
    struct thing *pool = thing_from(fn, args[1], &pool_type, "pool");
    size_t size, align;
    void *address;
    if (!pool || !ext_size(fn, "size", args[2], &size) || !ext_size(fn, "align", args[3], &align))
        return NULL;
    int rc = shmemx_device_alloc((shmemx_device_pool_t)pool->handle, size, align, &address);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    struct thing *t = new_thing(&block_type, BLOCK);
    if (!t) {
        shmemx_device_free((shmemx_device_pool_t)pool->handle, address);
        return NULL;
    }
    t->pool = (struct thing *)Py_NewRef((PyObject *)pool);
    t->handle = address;
    t->address = (unsigned long)(uintptr_t)address;
    t->size = size;
    t->number = pool->number;
    t->type = Py_NewRef(pool->type);
    return (PyObject *)t;
}

/* (fn, block) */
static PyObject *device_free(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_free", 2);
    struct thing *block = thing_from(fn, args[1], &block_type, "buffer");
    if (!block)
        return NULL;
    int rc = shmemx_device_free((shmemx_device_pool_t)block->pool->handle, block->handle);
    if (rc == 0)
        block->handle = NULL;
    return ext_answer(fn, rc);
}

/* --- keys --------------------------------------------------------------------------------------------- */

static struct thing *new_import(shmemx_device_import_t import, PyObject *key, PyObject *token)
{
    shmemx_device_import_info_t info;
    struct thing *t = new_thing(&import_type, IMPORT);
    if (!t || shmemx_device_import_info(import, &info) < 0) {
        shmemx_device_import_close(import);
        Py_XDECREF((PyObject *)t);
        return NULL;
    }
    t->handle = import;
    t->address = (unsigned long)(uintptr_t)info.address;
    t->size = info.bytes;
    t->number = info.number;
    t->read_only = info.read_only;
    t->key = Py_NewRef(key);
    t->token = Py_NewRef(token);
    t->type = PyUnicode_FromString(info.type);
    t->note = PyBytes_FromStringAndSize(info.note, (Py_ssize_t)info.note_bytes);
    if (t->type && t->note)
        return t;
    Py_DECREF((PyObject *)t);
    return NULL;
}

/* (fn, key, number of the mode, token or None, number of the device) */
static PyObject *device_import(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_import", 5);
    shmemx_device_import_t import;
    const char *key = ext_text(fn, "key", args[1]);
    const char *token = !key || args[3] == Py_None ? NULL : ext_text(fn, "token", args[3]);
    int mode, number, rc;
    if (!key || (!token && args[3] != Py_None) || !ext_int(fn, "mode", args[2], &mode) ||
        !ext_int(fn, "device", args[4], &number))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_device_import(key, (shmemx_import_mode_t)mode, token, number, &import));
    return rc < 0 ? ext_fail_rc(fn, rc) : (PyObject *)new_import(import, args[1], args[3]);
}

/* --- copies and streams ------------------------------------------------------------------------------- */

/* What shmemx_device_copy_blocks() takes; the caller keeps both ends alive. */
struct blocks {
    void *to, *from;
    size_t to_step, from_step, bytes, count;
};

static bool blocks_from(const char *fn, PyObject *const *args, struct blocks *b)
{
    b->to = PyLong_AsVoidPtr(args[0]);
    b->from = PyErr_Occurred() ? NULL : PyLong_AsVoidPtr(args[2]);
    return !PyErr_Occurred() && ext_size(fn, "step", args[1], &b->to_step) &&
           ext_size(fn, "step", args[3], &b->from_step) && ext_size(fn, "size", args[4], &b->bytes) &&
           ext_size(fn, "count", args[5], &b->count);
}

/* (fn, to, step, from, step, size of a block, count) */
static PyObject *device_copy_blocks(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_copy_blocks", 7);
    struct blocks b;
    int rc;
    if (!blocks_from(fn, args + 1, &b))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_device_copy_blocks(b.to, b.to_step, b.from, b.from_step, b.bytes, b.count));
    return ext_answer(fn, rc);
}

/* Addresses of a copy; the caller keeps both ends alive. */
static bool two_ends(const char *fn, PyObject *const *args, void **to, void **from, size_t *bytes)
{
    *to = PyLong_AsVoidPtr(args[0]);
    *from = PyErr_Occurred() ? NULL : PyLong_AsVoidPtr(args[1]);
    return !PyErr_Occurred() && ext_size(fn, "size", args[2], bytes);
}

/* (fn, to, from, size) */
static PyObject *device_copy(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_copy", 4);
    void *to, *from;
    size_t bytes;
    int rc;
    if (!two_ends(fn, args + 1, &to, &from, &bytes))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_device_copy(to, from, bytes));
    return ext_answer(fn, rc);
}

/* (fn, type, number, native stream or None) */
static PyObject *stream_create(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("stream_create", 4);
    shmemx_stream_t stream;
    const char *type;
    int number, rc;
    if (!type_and_number(fn, args + 1, &type, &number))
        return NULL;
    size_t native = 0;
    if (args[3] != Py_None && !ext_size(fn, "native", args[3], &native))
        return NULL;
    if (args[3] == Py_None)
        EXT_UNLOCKED(rc, shmemx_stream_create(type, number, &stream));
    else
        EXT_UNLOCKED(rc, shmemx_stream_wrap(type, number, (void *)native, &stream));
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    struct thing *t = new_thing(&stream_type, STREAM);
    if (!t) {
        shmemx_stream_destroy(stream);
        return NULL;
    }
    t->handle = stream;
    t->number = number;
    t->type = Py_NewRef(args[1]);
    t->address = (unsigned long)(uintptr_t)shmemx_stream_native(stream);
    return (PyObject *)t;
}

shmemx_stream_t ext_stream_from(const char *fn, PyObject *object)
{
    struct thing *t = thing_from(fn, object, &stream_type, "stream");
    return t ? (shmemx_stream_t)t->handle : NULL;
}

void ext_stream_waits(PyObject *stream)
{
    ((struct thing *)stream)->waits = true;
}

/* (fn, stream) */
static PyObject *stream_finish(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("stream_finish", 2);
    struct thing *t = thing_from(fn, args[1], &stream_type, "stream");
    int rc;
    if (!t)
        return NULL;
    EXT_UNLOCKED(rc, shmemx_stream_finish((shmemx_stream_t)t->handle));
    t->waits &= rc != 0;
    return ext_answer(fn, rc);
}

/* (fn, stream) */
static PyObject *stream_query(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("stream_query", 2);
    struct thing *t = thing_from(fn, args[1], &stream_type, "stream");
    int rc = t ? shmemx_stream_query((shmemx_stream_t)t->handle) : 0;
    return !t ? NULL : rc < 0 ? ext_fail_rc(fn, rc) : PyBool_FromLong(rc);
}

/* (fn, stream) */
static PyObject *stream_close(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("stream_close", 2);
    struct thing *t = thing_from(fn, args[1], &stream_type, "stream");
    if (!t)
        return NULL;
    end(t);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static int queue_blocks(const struct blocks *b, shmemx_stream_t stream)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < b->count; i++)
        rc = shmemx_copy_on_stream((char *)b->to + i * b->to_step, (const char *)b->from + i * b->from_step, b->bytes,
                                   stream);
    return rc;
}

/* (fn, stream, to, step, from, step, size of a block, count) */
static PyObject *stream_copy_blocks(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("stream_copy_blocks", 8);
    struct thing *t = thing_from(fn, args[1], &stream_type, "stream");
    struct blocks b;
    int rc;
    if (!t || !blocks_from(fn, args + 2, &b))
        return NULL;
    EXT_UNLOCKED(rc, queue_blocks(&b, (shmemx_stream_t)t->handle));
    return ext_answer(fn, rc);
}

/* (fn, stream, address, value, comparison or -1: write) */
static PyObject *stream_value(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("stream_value", 5);
    struct thing *t = thing_from(fn, args[1], &stream_type, "stream");
    int until, rc;
    if (!t || !ext_int(fn, "until", args[4], &until))
        return NULL;
    void *at = PyLong_AsVoidPtr(args[2]);
    uint64_t value = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(args[3]);
    if (PyErr_Occurred())
        return NULL;
    if (until < 0)
        EXT_UNLOCKED(rc, shmemx_write_value_on_stream(at, value, (shmemx_stream_t)t->handle));
    else
        EXT_UNLOCKED(rc, shmemx_wait_value_on_stream(at, (shmemx_until_t)until, value, (shmemx_stream_t)t->handle));
    t->waits |= until >= 0 && rc == 0;
    return ext_answer(fn, rc);
}

/* --- DLPack ------------------------------------------------------------------------------------------- */

/* Maybe on a thread without the GIL, maybe when the interpreter has ended. */
static void let_go(PyObject *owner, int64_t *sides, void *managed)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(owner);
        PyGILState_Release(state);
    }
    PyMem_RawFree(sides);
    PyMem_RawFree(managed);
}

static void delete_managed(struct dl_managed *m)
{
    let_go(m->context, m->tensor.shape, m);
}

static void delete_versioned(struct dl_versioned *m)
{
    let_go(m->context, m->tensor.shape, m);
}

/* A capsule that nobody took. */
static void drop_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor"))
        delete_managed(PyCapsule_GetPointer(capsule, "dltensor"));
    else if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

/* (fn, owner, address, kind of device, number, code, bits, shape, strides in elements, versioned, read-only) */
static PyObject *dlpack(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("dlpack", 11);
    int kind, number, code, bits;
    void *address = PyLong_AsVoidPtr(args[2]);
    if (PyErr_Occurred() || !ext_int(fn, "kind", args[3], &kind) || !ext_int(fn, "number", args[4], &number) ||
        !ext_int(fn, "code", args[5], &code) || !ext_int(fn, "bits", args[6], &bits))
        return NULL;
    Py_ssize_t ndim = PyTuple_Size(args[7]);
    int64_t *sides = ndim < 0 || PyTuple_Size(args[8]) != ndim ? NULL : PyMem_RawCalloc((size_t)ndim * 2 + 1, 8);
    for (Py_ssize_t i = 0; sides && i < ndim && !PyErr_Occurred(); i++) {
        sides[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(args[7], i));
        sides[ndim + i] = PyLong_AsLongLong(PyTuple_GET_ITEM(args[8], i));
    }
    bool versioned = args[9] == Py_True;
    void *managed = PyMem_RawCalloc(1, sizeof(struct dl_versioned));
    if (!sides || !managed || PyErr_Occurred()) {
        PyMem_RawFree(sides);
        PyMem_RawFree(managed);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    struct dl_versioned *v = managed;
    struct dl_managed *m = managed;
    struct dl_tensor *tensor = versioned ? &v->tensor : &m->tensor;
    *tensor = (struct dl_tensor){.data = address,
                                 .device_type = kind,
                                 .device_id = number,
                                 .ndim = (int32_t)ndim,
                                 .dtype = {(uint8_t)code, (uint8_t)bits, 1},
                                 .shape = sides,
                                 .strides = sides + ndim};
    if (versioned) {
        v->version.major = 1;
        v->context = Py_NewRef(args[1]);
        v->deleter = delete_versioned;
        v->flags = args[10] == Py_True;
    } else {
        m->context = Py_NewRef(args[1]);
        m->deleter = delete_managed;
    }
    PyObject *capsule = PyCapsule_New(managed, versioned ? "dltensor_versioned" : "dltensor", drop_capsule);
    if (!capsule)
        let_go(args[1], sides, managed);
    return capsule;
}

/* --- the end ------------------------------------------------------------------------------------------ */

/* Whether a stream waits for a word that nobody has written, nor writes within a second. */
static bool waits_in_vain(const struct thing *t)
{
    enum { PATIENCE = 1000 }; /* ms */
    if (t->what != STREAM || !t->handle || !t->waits)
        return false;
    int rc = 0, ignored;
    for (int i = 0; i < PATIENCE && (rc = shmemx_stream_query((shmemx_stream_t)t->handle)) == 0; i++)
        EXT_UNLOCKED(ignored, usleep(1000)); /* another thread may write it */
    (void)ignored;
    return rc == 0;
}

/* A driver that waits for such a stream does so for ever: everything is left to the end of the process. */
static bool left_to_the_driver(void)
{
    struct thing *waits = things;
    while (waits && !waits_in_vain(waits))
        waits = waits->next;
    if (!waits)
        return false;
    PySys_FormatStderr("shmem: at the end of the program a stream on %U:%d waits for a word that nobody has written "
                       "(wait_value): memory and streams of devices are left to the driver\n",
                       waits->type, waits->number);
    for (struct thing *t = things; t; t = t->next)
        t->handle = NULL;
    return true;
}

/* When the interpreter ends: imports and streams, then what they may have been of. */
static PyObject *close_devices(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    if (left_to_the_driver())
        Py_RETURN_NONE;
    for (enum what what = STREAM;; what--) {
        for (struct thing *t = things; t; t = t->next)
            if (t->what == what && what != BLOCK) {
                end(t);
                if (PyErr_Occurred())
                    PyErr_WriteUnraisable(NULL);
            }
        if (what == IMPORT)
            ext_foreign_close();
        if (what == POOL)
            break;
    }
    close_busy();
    for (struct thing *t = things; t; t = t->next)
        t->handle = NULL; /* buffers went with their pools */
    return Py_NewRef(Py_None);
}

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_device_methods[] = {
    FAST("device_count", device_count),
    FAST("device_info", device_info),
    FAST("device_pool_create", device_pool_create),
    FAST("device_pool_stats", device_pool_stats),
    FAST("device_alloc", device_alloc),
    FAST("device_free", device_free),
    FAST("device_import", device_import),
    FAST("device_copy", device_copy),
    FAST("device_copy_blocks", device_copy_blocks),
    FAST("stream_create", stream_create),
    FAST("stream_finish", stream_finish),
    FAST("stream_query", stream_query),
    FAST("stream_close", stream_close),
    FAST("stream_copy_blocks", stream_copy_blocks),
    FAST("stream_value", stream_value),
    FAST("dlpack", dlpack),
    {"close_devices", close_devices, METH_NOARGS, NULL},
    {0},
};

int ext_device_init(PyObject *module)
{
    static const struct {
        const char *name;
        PyTypeObject *type;
    } types[] = {{"DevicePoolHandle", &pool_type},
                 {"DeviceBlock", &block_type},
                 {"DeviceImport", &import_type},
                 {"StreamHandle", &stream_type}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (PyType_Ready(types[i].type) < 0 ||
            PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type) < 0)
            return -1;
    return 0;
}
