// SPDX-License-Identifier: Apache-2.0
// Memory of devices that other libraries allocated: held while it is used, and capsules of DLPack that tell of it.
#include "dlpack.h"
#include "ext.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <structmember.h>

/* --- what was adopted --------------------------------------------------------------------------------- */

/* A piece of memory that the library knows for as long as somebody holds a part of it: the storage of tensors, or the
   whole allocation where the driver tells it, so that those which overlap are no trouble. */
struct piece {
    struct piece *next;
    char *begin;
    size_t bytes;
    int number;
    size_t holds;
    PyObject *kept; /* what has to live until it is disowned, which could not be done at once; or NULL */
};

/* Not guarded by the GIL, which is let go while drivers are asked: nothing of Python happens under the lock. A forked
   child begins anew. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *pieces;
static unsigned long pieces_of; /* ext_state.forks of the process that they are of */

static void notice_fork(void)
{
    if (pieces_of == ext_state.forks)
        return;
    pieces_of = ext_state.forks;
    pieces = NULL;
    pthread_mutex_init(&lock, NULL);
}

struct hold {
    PyObject_HEAD struct piece *piece; /* NULL: it is of a pool or an import, which keeps it itself */
    unsigned long address;
    size_t size;
    int number;
    unsigned long forks;
    PyObject *type, *extra; /* extra: for the Python side: what it is the memory of */
};

static struct piece *piece_at(const char *address, size_t size)
{
    struct piece *p = pieces;
    while (p && (address < p->begin || (size_t)(address - p->begin) >= p->bytes ||
                 size > p->bytes - (size_t)(address - p->begin)))
        p = p->next;
    return p;
}

/* Under the lock, when nobody holds it: false while the library has use for it still. */
static bool disown(struct piece *gone)
{
    if (shmemx_device_disown(gone->begin) == -EBUSY)
        return false;
    struct piece **at = &pieces;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    return true;
}

static void free_piece(struct piece *p)
{
    PyObject *kept = p->kept;
    PyMem_RawFree(p);
    Py_XDECREF(kept);
}

void ext_foreign_retry(void)
{
    struct piece *gone;
    notice_fork();
    do {
        pthread_mutex_lock(&lock);
        for (gone = pieces; gone; gone = gone->next)
            if (gone->holds == 0 && disown(gone))
                break;
        pthread_mutex_unlock(&lock);
        if (gone)
            free_piece(gone);
    } while (gone);
}

/* Gives a hold back; what could not be disowned keeps what it is of. */
static void let_go(struct hold *h)
{
    struct piece *p = h->piece;
    pthread_mutex_lock(&lock);
    bool last = --p->holds == 0, gone = last && disown(p);
    PyObject *before = NULL;
    if (last && !gone) {
        before = p->kept;
        p->kept = h->extra; /* until ext_foreign_retry() */
        h->extra = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (gone)
        free_piece(p);
    Py_XDECREF(before);
}

/* Before its owner goes, which is why both go together. */
static int hold_clear(PyObject *self)
{
    struct hold *h = (struct hold *)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (h->piece && h->forks == ext_state.forks) /* in a forked child it is the parent's */
        let_go(h);
    h->piece = NULL;
    PyErr_Restore(type, value, trace);
    Py_CLEAR(h->extra);
    return 0;
}

static int hold_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((const struct hold *)self)->extra);
    return 0;
}

static void hold_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    hold_clear(self);
    Py_XDECREF(((struct hold *)self)->type);
    PyObject_GC_Del(self);
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
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = hold_traverse,
    .tp_clear = hold_clear,
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

enum { NO_MEMORY_OF_A_DEVICE = 1, ANOTHER_DEVICE }; /* beside 0 and negative errnos */

static int check_number(struct place *p, int number)
{
    bool right = p->number < 0 || p->number == number;
    p->number = right ? number : p->number;
    return right ? 0 : ANOTHER_DEVICE;
}

/* The piece to adopt. */
static int choose(struct place *p, char **begin, size_t *bytes)
{
    shmemx_device_pointer_info_t info = {.number = p->number < 0 ? 0 : p->number};
    int rc = shmemx_device_pointer_info(p->type, p->address, &info);
    if (rc == 0)
        return NO_MEMORY_OF_A_DEVICE;
    if (rc < 0 && rc != -ENOTSUP)
        return rc;
    if (rc == -ENOTSUP) /* it cannot tell */
        info = (shmemx_device_pointer_info_t){.number = p->number < 0 ? 0 : p->number};
    if ((rc = check_number(p, info.number)) != 0)
        return rc;
    size_t before = info.base ? (size_t)(p->address - (char *)info.base) : 0;
    bool whole = info.base && before <= info.bytes && p->size <= info.bytes - before;
    *begin = p->around_size ? p->around : whole ? (char *)info.base : p->address;
    *bytes = p->around_size ? p->around_size : whole ? info.bytes : p->size;
    return 0;
}

static int adopt(struct place *p, struct piece **out)
{
    char *begin = NULL;
    size_t bytes = 0;
    int rc = choose(p, &begin, &bytes);
    if (rc != 0)
        return rc;
    rc = shmemx_device_adopt(p->type, p->number, begin, bytes);
    if (rc ==
        -EEXIST) { /* another part of it is known: the program's own doing, or a piece whose bounds were not known */
        begin = p->address;
        bytes = p->size;
        rc = shmemx_device_adopt(p->type, p->number, begin, bytes);
    }
    if (rc < 0)
        return rc;
    if (!(*out = PyMem_RawCalloc(1, sizeof **out))) {
        shmemx_device_disown(begin);
        return -ENOMEM;
    }
    **out = (struct piece){.next = pieces, .begin = begin, .bytes = bytes, .number = p->number};
    pieces = *out;
    return 0;
}

/* Without the GIL. *out NULL: it is known otherwise, and kept by those who made it known. */
static int get_piece(struct place *p, struct piece **out)
{
    int number, rc;
    const char *type;
    pthread_mutex_lock(&lock);
    if ((*out = piece_at(p->address, p->size)))
        rc = check_number(p, (*out)->number);
    else if (!piece_at(p->address, 1) && shmemx_device_where(p->address, &type, &number) == 1)
        rc = check_number(p, number);
    else
        rc = adopt(p, out);
    if (rc == 0 && *out)
        (*out)->holds++;
    pthread_mutex_unlock(&lock);
    return rc;
}

static PyObject *refuse(const char *fn, const struct place *p, int rc)
{
    if (rc == NO_MEMORY_OF_A_DEVICE)
        return ext_fail(fn, EXT_VALUE,
                        "the memory at %p is not memory of a device, as far as the driver for '%s' knows: it is the "
                        "host's, or it was freed",
                        (void *)p->address, p->type);
    if (rc == ANOTHER_DEVICE)
        return ext_fail(fn, EXT_VALUE, "the memory at %p is said to be of %s device %d, but is of another one",
                        (void *)p->address, p->type, p->number);
    return ext_fail_rc(fn, rc);
}

/* (fn, type, number or -1, address, size, address and size around it) */
static PyObject *device_hold(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("device_hold", 7);
    struct place p = {.type = ext_text(fn, "type", args[1])};
    struct piece *piece = NULL;
    size_t address, around;
    int rc;
    if (!p.type || !ext_int(fn, "device", args[2], &p.number) || !ext_size(fn, "address", args[3], &address) ||
        !ext_size(fn, "size", args[4], &p.size) || !ext_size(fn, "address", args[5], &around) ||
        !ext_size(fn, "size", args[6], &p.around_size))
        return NULL;
    p.address = (char *)address; // NOLINT(performance-no-int-to-ptr)
    p.around = (char *)around;   // NOLINT(performance-no-int-to-ptr)
    struct hold *h = PyObject_GC_New(struct hold, &hold_type);
    if (!h)
        return NULL;
    notice_fork();
    EXT_UNLOCKED(rc, get_piece(&p, &piece));
    h->piece = rc == 0 ? piece : NULL;
    h->address = address;
    h->size = p.size;
    h->number = p.number;
    h->forks = ext_state.forks;
    h->type = Py_NewRef(args[1]);
    h->extra = NULL;
    PyObject_GC_Track(h);
    if (rc == 0)
        return (PyObject *)h;
    refuse(fn, &p, rc);
    Py_DECREF(h);
    return NULL;
}

/* --- capsules of DLPack ------------------------------------------------------------------------------- */

/* From then on nothing is given back: who would take it may be gone, and it goes with the process. */
static bool ended;

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
    if (t->forks == ext_state.forks && !ended) { /* in a child it would be freed by a driver that is dead */
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
    ended = true;
    notice_fork();
    pthread_mutex_lock(&lock);
    for (struct piece *p = pieces; p; p = p->next)
        shmemx_device_disown(p->begin);
    pthread_mutex_unlock(&lock);
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
