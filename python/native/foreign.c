// SPDX-License-Identifier: Apache-2.0
// Memory of devices that other libraries allocated: held while it is used, and capsules of DLPack that tell of it.
#include "dlpack.h"
#include "ext.h"

#include <errno.h>
#include <string.h>
#include <structmember.h>

/* --- what was adopted --------------------------------------------------------------------------------- */

/* A piece of memory that the library knows for as long as somebody holds a part of it: the storage of tensors, or the
   whole allocation where the driver tells it, so that those which overlap are no trouble. Guarded by the GIL, as all
   here. */
struct piece {
    struct piece *next;
    char *begin;
    size_t bytes;
    int number;
    size_t holds;
    PyObject *kept; /* what has to live until it is disowned, which could not be done at once; or NULL */
};

static struct piece *pieces;

struct hold {
    PyObject_HEAD struct piece *piece; /* NULL: it is of a pool or an import, which keeps it itself */
    unsigned long address;
    size_t size;
    int number;
    unsigned long forks;
    PyObject *type, *extra; /* extra: for the Python side: what it is the memory of */
};

static struct piece *find_piece(const char *address, size_t size)
{
    struct piece *p = pieces;
    while (p && (address < p->begin || (size_t)(address - p->begin) > p->bytes ||
                 size > p->bytes - (size_t)(address - p->begin)))
        p = p->next;
    return p;
}

/* Nobody holds it: false while the library has use for it still. */
static bool disown(struct piece *gone)
{
    if (shmemx_device_disown(gone->begin) == -EBUSY)
        return false;
    struct piece **at = &pieces;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    Py_XDECREF(gone->kept);
    PyMem_Free(gone);
    return true;
}

/* Other code may run when one goes, so the list is not gone through any further then. */
static bool retry_one(void)
{
    for (struct piece *p = pieces; p; p = p->next)
        if (p->holds == 0 && disown(p))
            return true;
    return false;
}

void ext_foreign_retry(void)
{
    while (retry_one())
        ;
}

static void hold_dealloc(PyObject *self)
{
    struct hold *h = (struct hold *)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    /* In a forked child it is the parent's. */
    if (h->piece && h->forks == ext_state.forks && --h->piece->holds == 0 && !disown(h->piece)) {
        Py_XSETREF(h->piece->kept, h->extra); /* until ext_foreign_retry() */
        h->extra = NULL;
    }
    PyErr_Restore(type, value, trace);
    Py_XDECREF(h->type);
    Py_XDECREF(h->extra);
    PyObject_Free(self);
}

static PyMemberDef hold_members[] = {
    {"address", T_ULONG, offsetof(struct hold, address), READONLY, NULL},
    {"size", T_ULONG, offsetof(struct hold, size), READONLY, NULL},
    {"number", T_INT, offsetof(struct hold, number), READONLY, NULL},
    {"type", T_OBJECT, offsetof(struct hold, type), READONLY, NULL},
    {"extra", T_OBJECT, offsetof(struct hold, extra), 0, NULL},
    {0},
};

static PyTypeObject hold_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.DeviceHold",
    .tp_basicsize = sizeof(struct hold),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Memory of a device that another library allocated, known to this one meanwhile.",
    .tp_dealloc = hold_dealloc,
    .tp_members = hold_members,
};

bool ext_foreign_memory(PyObject *object, struct ext_memory *out)
{
    if (!PyObject_TypeCheck(object, &hold_type))
        return false;
    const struct hold *h = (const struct hold *)object;
    out->address = (char *)h->address; // NOLINT(performance-no-int-to-ptr)
    out->size = h->size;
    out->held = Py_NewRef(object);
    return true;
}

/* Where it is said to be: a range, the device (-1: whichever the driver says), and the piece around it that overlaps no
   other such piece; around_size is 0 where that is not known. */
struct place {
    const char *type;
    int number;
    char *address, *around;
    size_t size, around_size;
};

static bool other_device(const char *fn, const struct place *p, int number)
{
    ext_fail(fn, EXT_VALUE, "the memory at %p is said to be of %s device %d, but is of device %d", (void *)p->address,
             p->type, p->number, number);
    return false;
}

/* The piece to adopt. */
static bool choose(const char *fn, struct place *p, char **begin, size_t *bytes)
{
    shmemx_device_pointer_info_t info = {.number = p->number < 0 ? 0 : p->number};
    int rc;
    EXT_UNLOCKED(rc, shmemx_device_pointer_info(p->type, p->address, &info));
    if (rc < 0 && rc != -ENOTSUP) {
        ext_fail_rc(fn, rc);
        return false;
    }
    if (rc == 0) {
        ext_fail(
            fn, EXT_VALUE,
            "the memory at %p is not memory of a device, as far as the driver for '%s' knows: it is the host's, or it "
            "was freed",
            (void *)p->address, p->type);
        return false;
    }
    if (rc == -ENOTSUP)
        info = (shmemx_device_pointer_info_t){.number = p->number < 0 ? 0 : p->number};
    if (p->number >= 0 && info.number != p->number)
        return other_device(fn, p, info.number);
    p->number = info.number;
    size_t before = info.base ? (size_t)(p->address - (char *)info.base) : 0;
    bool whole = info.base && before <= info.bytes && p->size <= info.bytes - before;
    *begin = p->around_size ? p->around : whole ? (char *)info.base : p->address;
    *bytes = p->around_size ? p->around_size : whole ? info.bytes : p->size;
    return true;
}

/* Adopts, if need be; *out NULL: it is known otherwise. */
static bool get_piece(const char *fn, struct place *p, struct piece **out)
{
    char *begin = NULL;
    size_t bytes = 0;
    int number, rc;
    const char *type;
    if ((*out = find_piece(p->address, p->size)))
        return p->number < 0 || (*out)->number == p->number || other_device(fn, p, (*out)->number);
    if (shmemx_device_where(p->address, &type, &number) == 1) {
        if (p->number >= 0 && p->number != number)
            return other_device(fn, p, number);
        p->number = number;
        return true;
    }
    if (!choose(fn, p, &begin, &bytes))
        return false;
    EXT_UNLOCKED(rc, shmemx_device_adopt(p->type, p->number, begin, bytes));
    if (rc == -EEXIST && (*out = find_piece(p->address, p->size))) /* another thread was faster */
        return true;
    if (rc == -EEXIST &&
        (begin != p->address || bytes != p->size)) { /* the program adopted another part of it itself */
        begin = p->address;
        bytes = p->size;
        EXT_UNLOCKED(rc, shmemx_device_adopt(p->type, p->number, begin, bytes));
    }
    if (rc < 0) {
        ext_fail_rc(fn, rc);
        return false;
    }
    struct piece *made = PyMem_Calloc(1, sizeof *made);
    if (!made) {
        shmemx_device_disown(begin);
        PyErr_NoMemory();
        return false;
    }
    *made = (struct piece){.next = pieces, .begin = begin, .bytes = bytes, .number = p->number};
    *out = pieces = made;
    return true;
}

/* (fn, type, number or -1, address, size, address and size around it) */
static PyObject *device_hold(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_hold", 7);
    struct place p = {.type = PyUnicode_AsUTF8(args[1])};
    size_t address, around;
    if (!p.type || !ext_int(fn, "device", args[2], &p.number) || !ext_size(fn, "address", args[3], &address) ||
        !ext_size(fn, "size", args[4], &p.size) || !ext_size(fn, "address", args[5], &around) ||
        !ext_size(fn, "size", args[6], &p.around_size))
        return NULL;
    p.address = (char *)address; // NOLINT(performance-no-int-to-ptr)
    p.around = (char *)around;   // NOLINT(performance-no-int-to-ptr)
    struct piece *piece = NULL;
    if (!get_piece(fn, &p, &piece))
        return NULL;
    struct hold *h = PyObject_New(struct hold, &hold_type);
    if (!h) {
        if (piece && piece->holds == 0)
            disown(piece);
        return NULL;
    }
    h->piece = piece;
    if (piece)
        piece->holds++;
    h->address = address;
    h->size = p.size;
    h->number = piece ? piece->number : p.number;
    h->forks = ext_state.forks;
    h->type = Py_NewRef(args[1]);
    h->extra = NULL;
    return (PyObject *)h;
}

/* --- capsules of DLPack ------------------------------------------------------------------------------- */

/* What a capsule held: given back when this goes. */
struct taken {
    PyObject_HEAD void *managed;
    bool versioned;
    unsigned long forks;
};

static void taken_dealloc(PyObject *self)
{
    const struct taken *t = (const struct taken *)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    struct dl_managed *m = t->managed;
    struct dl_versioned *v = t->managed;
    if (t->forks == ext_state.forks) { /* in a child it would be freed by a driver that is dead */
        if (t->versioned && v->deleter)
            v->deleter(v);
        else if (!t->versioned && m->deleter)
            m->deleter(m);
    }
    PyErr_Restore(type, value, trace);
    PyObject_Free(self);
}

static PyTypeObject taken_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.DLPackMemory",
    .tp_basicsize = sizeof(struct taken),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "What a capsule of DLPack held.",
    .tp_dealloc = taken_dealloc,
};

/* Consumes a capsule, or NULL with an exception. */
static struct taken *take(const char *fn, PyObject *capsule)
{
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    if (!versioned && !PyCapsule_IsValid(capsule, "dltensor")) {
        const char *name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : NULL;
        PyErr_Clear();
        ext_fail(fn, EXT_BUFFER, "__dlpack__() gave %s%.40s, where a fresh capsule named 'dltensor' was due",
                 PyCapsule_CheckExact(capsule) ? "a capsule named " : "a ",
                 PyCapsule_CheckExact(capsule) ? (name ? name : "nothing") : Py_TYPE(capsule)->tp_name);
        return NULL;
    }
    struct taken *t = PyObject_New(struct taken, &taken_type);
    if (!t)
        return NULL;
    t->managed = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
    t->versioned = versioned;
    t->forks = ext_state.forks;
    PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
    return t;
}

enum { SIDES_MOST = 64 };

/* Nothing of it is believed before it was looked at; whether the address is the device's the driver says later. */
static const char *find_fault(const struct dl_tensor *t, size_t *bytes)
{
    size_t size = ((size_t)t->dtype.bits * t->dtype.lanes + 7) / 8;
    if (t->ndim < 0 || t->ndim > SIDES_MOST)
        return "its number of sides is none";
    if (t->ndim > 0 && !t->shape)
        return "it has sides but no shape";
    if (t->dtype.bits == 0 || t->dtype.bits % 8 || t->dtype.lanes != 1)
        return "its elements are not whole bytes, or are several in one";
    for (int32_t i = 0; i < t->ndim; i++)
        if (t->shape[i] < 0 || __builtin_mul_overflow(size, (size_t)t->shape[i], &size))
            return "its shape is none, or larger than an address space";
    uintptr_t end;
    if (__builtin_add_overflow((uintptr_t)t->data, t->byte_offset, &end) || __builtin_add_overflow(end, size, &end))
        return "it ends past the address space";
    if (size && !t->data)
        return "it has no address";
    if (t->device_id < 0)
        return "its device has a negative number";
    *bytes = size;
    return NULL;
}

static PyObject *sides(const int64_t *values, int32_t ndim)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int32_t i = 0; tuple && i < ndim; i++) {
        PyObject *side = PyLong_FromLongLong(values[i]);
        if (!side) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, side);
    }
    return tuple;
}

/* (fn, capsule): (kind of device, its number, address, bytes, code, bits, shape, strides in elements or None, whether
   it is read-only, what keeps it) */
static PyObject *dlpack_take(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("dlpack_take", 2);
    struct taken *taken = take(fn, args[1]);
    if (!taken)
        return NULL;
    const struct dl_versioned *v = taken->managed;
    const struct dl_managed *m = taken->managed;
    const char *fault = NULL;
    size_t bytes = 0;
    if (taken->versioned && v->version.major != 1)
        fault = "its version is not 1";
    const struct dl_tensor *t = taken->versioned ? &v->tensor : &m->tensor;
    if (!fault)
        fault = find_fault(t, &bytes);
    if (fault) {
        ext_fail(fn, EXT_BUFFER, "the capsule that __dlpack__() gave makes no sense: %s", fault);
        Py_DECREF(taken);
        return NULL;
    }
    PyObject *shape = sides(t->shape, t->ndim);
    PyObject *strides = t->strides ? sides(t->strides, t->ndim) : Py_NewRef(Py_None);
    PyObject *answer = shape && strides
                           ? Py_BuildValue("(iiKniiOOOO)", (int)t->device_type, (int)t->device_id,
                                           (unsigned long long)((uintptr_t)t->data + t->byte_offset), (Py_ssize_t)bytes,
                                           (int)t->dtype.code, (int)t->dtype.bits, shape, strides,
                                           taken->versioned && v->flags & 1 ? Py_True : Py_False, (PyObject *)taken)
                           : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_DECREF(taken);
    return answer;
}

/* When the interpreter ends, before the pools. Regions are gone by then, or stay to the end of the process. */
void ext_foreign_close(void)
{
    for (struct piece *p = pieces; p; p = p->next)
        shmemx_device_disown(p->begin);
}

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_foreign_methods[] = {
    FAST("device_hold", device_hold),
    FAST("dlpack_take", dlpack_take),
    {0},
};

int ext_foreign_init(PyObject *module)
{
    return PyModule_AddType(module, &hold_type) < 0 || PyModule_AddType(module, &taken_type) < 0 ? -1 : 0;
}
