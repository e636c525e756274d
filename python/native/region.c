// SPDX-License-Identifier: Apache-2.0
// Regions, zero-copy views of them, and blocks of the symmetric heap.
//
// A region holds what its memory belongs to until its pages are private again. In a forked child nothing is
// ever given back: the parent still uses those pages, and freeing memory writes into it.
#include "ext.h"

#include <errno.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>

const char *const ext_source_names[] = {"own", "found", "symmetric", NULL};

const char *ext_region_label(const struct ext_region *region, char *buffer, size_t size)
{
    if (region->source == EXT_SYMMETRIC)
        snprintf(buffer, size, "the symmetric array");
    else if (region->info.name[0])
        snprintf(buffer, size, "region '%s'", region->info.name);
    else
        snprintf(buffer, size, "region %llu", (unsigned long long)region->info.number);
    return buffer;
}

/* --- use ---------------------------------------------------------------------------------------------- */

static bool stale(const char *fn, const char *argument, const struct ext_region *region)
{
    char label[96];
    ext_region_label(region, label, sizeof label);
    if (region->epoch == ext_state.epoch) /* closed */
        ext_fail(fn, EXT_STALE, "%s is %s, which was %s", argument, label,
                 region->source == EXT_OWN         ? "deregistered"
                 : region->source == EXT_SYMMETRIC ? "freed"
                                                   : "closed");
    else if (shmemx_my_pe() < 0)
        ext_fail_rc(fn, -EPERM);
    else
        ext_fail(fn, EXT_STALE, "%s is %s of a job that is over", argument, label);
    return false;
}

static bool usable(const char *fn, const char *argument, const struct ext_region *region)
{
    if (region->open && region->epoch == ext_state.epoch)
        return ext_may_call(fn);
    return stale(fn, argument, region);
}

struct ext_region *ext_region_from(const char *fn, const char *argument, PyObject *object)
{
    if (!PyObject_TypeCheck(object, &ext_region_type)) {
        ext_fail(fn, EXT_TYPE, "%s is a %s, but must be a Region", argument, Py_TYPE(object)->tp_name);
        return NULL;
    }
    struct ext_region *region = (struct ext_region *)object;
    return usable(fn, argument, region) ? region : NULL;
}

static shmemx_region_t ask_for_peers(const char *fn, struct ext_region *region, int pe, double timeout)
{
    shmemx_region_t there = NULL;
    int rc;
    EXT_CALL(rc, shmemx_region_at(region->handle, pe, timeout, &there));
    if (rc < 0) {
        ext_fail_rc(fn, rc);
        return NULL;
    }
    if (!region->at && !(region->at = PyMem_Calloc((size_t)ext_state.n, sizeof(shmemx_region_t)))) {
        PyErr_NoMemory();
        return NULL;
    }
    return region->at[pe] = there;
}

shmemx_region_t ext_reach(const char *fn, struct ext_region *region, int pe, double timeout)
{
    if (region->source == EXT_FOUND) {
        if (pe >= 0 && pe != region->info.owner) {
            char label[96];
            ext_fail(fn, EXT_VALUE, "%s belongs to PE %d, but the call names PE %d",
                     ext_region_label(region, label, sizeof label), region->info.owner, pe);
            return NULL;
        }
        return region->handle;
    }
    if (pe < 0 || pe == ext_state.me)
        return region->handle;
    if (region->at && region->at[pe])
        return region->at[pe];
    return ask_for_peers(fn, region, pe, timeout);
}

/* --- making ------------------------------------------------------------------------------------------- */

static struct ext_region *new_region(PyObject *cls, enum ext_source source, PyObject *kept)
{
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, &ext_region_type)) {
        PyErr_SetString(PyExc_TypeError, "the first argument must be a subclass of RegionBase");
        return NULL;
    }
    PyTypeObject *type = (PyTypeObject *)cls;
    struct ext_region *region = (struct ext_region *)type->tp_alloc(type, 0);
    if (!region)
        return NULL;
    region->epoch = ext_state.epoch;
    region->pid = getpid();
    region->source = source;
    region->kept = Py_NewRef(kept);
    region->extra = Py_NewRef(Py_None);
    return region;
}

/* Fills in what is known of a region whose handle has just been made. */
static PyObject *opened(const char *fn, struct ext_region *region)
{
    region->open = true;
    int rc = shmemx_region_info(region->handle, &region->info);
    if (rc == 0)
        return (PyObject *)region;
    ext_fail_rc(fn, rc);
    Py_DECREF(region);
    return NULL;
}

static PyObject *dropped(const char *fn, struct ext_region *region, int rc)
{
    ext_fail_rc(fn, rc);
    Py_DECREF(region);
    return NULL;
}

/* (fn, cls, memory, kept, access, name or None, move, type) */
static PyObject *region_register(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("register", 8);
    struct ext_memory memory;
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    int access, type;
    if (!ext_may_call(fn) || !ext_int(fn, "access", args[4], &access) || !ext_int(fn, "type", args[7], &type))
        return NULL;
    attr.access = (unsigned)access;
    attr.type = (shmemx_type_t)type;
    attr.move = PyObject_IsTrue(args[6]);
    if (args[5] != Py_None && !(attr.name = ext_text(fn, "name", args[5])))
        return NULL;
    if (!ext_memory_get(fn, "the memory", args[2], true, &memory))
        return NULL;
    struct ext_region *region = new_region(args[1], EXT_OWN, args[3]);
    int rc = -ENOMEM;
    if (region)
        EXT_CALL(rc, shmemx_register(memory.address, memory.size, &attr, &region->handle));
    PyObject *made = !region ? NULL : rc < 0 ? dropped(fn, region, rc) : opened(fn, region);
    ext_memory_release(&memory);
    return made;
}

/* (fn, cls, pe, name or None, number, timeout) */
static PyObject *region_find(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("find", 6);
    int pe, rc;
    size_t number = 0;
    double timeout;
    const char *name = NULL;
    if (!ext_may_call(fn) || !ext_pe(fn, "pe", args[2], &pe) || !ext_timeout(fn, args[5], ext_state.patience, &timeout))
        return NULL;
    if (args[3] != Py_None ? !(name = ext_text(fn, "name", args[3])) : !ext_size(fn, "index", args[4], &number))
        return NULL;
    struct ext_region *region = new_region(args[1], EXT_FOUND, Py_None);
    if (!region)
        return NULL;
    EXT_CALL(rc, shmemx_region_find(pe, name, number, timeout, &region->handle));
    return rc < 0 ? dropped(fn, region, rc) : opened(fn, region);
}

/* (fn, cls, address, size, kept, type) */
static PyObject *region_symmetric(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("symmetric", 6);
    size_t address, size;
    int type;
    if (!ext_may_call(fn) || !ext_size(fn, "address", args[2], &address) || !ext_size(fn, "size", args[3], &size) ||
        !ext_int(fn, "type", args[5], &type))
        return NULL;
    struct ext_region *region = new_region(args[1], EXT_SYMMETRIC, args[4]);
    if (!region)
        return NULL;
    int rc = shmemx_region_symmetric((void *)address, size, &region->handle); // NOLINT(performance-no-int-to-ptr)
    if (rc < 0)
        return dropped(fn, region, rc);
    PyObject *made = opened(fn, region);
    if (made)
        region->info.type = (shmemx_type_t)type; /* the heap knows bytes only */
    return made;
}

/* --- ending ------------------------------------------------------------------------------------------- */

static int end_handle(struct ext_region *region)
{
    shmemx_region_t handle = region->handle;
    int rc;
    region->handle = NULL;
    if (region->source == EXT_OWN)
        EXT_CALL(rc, shmemx_deregister(handle));
    else
        EXT_CALL(rc, shmemx_region_close(handle));
    return rc;
}

/* (fn, region): deregisters or closes. Views keep what they look at until the last of them has gone. */
static PyObject *region_close(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("close", 2);
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    if (!region)
        return NULL;
    region->open = false; /* calls of other threads that are under way end: copies when done, waits with an error */
    if (region->views && region->source != EXT_OWN)
        Py_RETURN_NONE;
    int rc = end_handle(region);
    /* What the memory belongs to stays attached: users may still ask for region.array. */
    return ext_answer(fn, rc);
}

static void region_finalize(PyObject *self)
{
    struct ext_region *region = (struct ext_region *)self;
    if (!region->handle || region->epoch != ext_state.epoch)
        return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    region->open = false;
    int rc = end_handle(region);
    if (rc < 0 && rc != -ENOENT && rc != -EPERM && rc != -EOWNERDEAD) {
        ext_fail_rc("deregister", rc);
        PyErr_WriteUnraisable(self);
    }
    PyErr_Restore(type, value, trace);
}

static int region_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct ext_region *region = (struct ext_region *)self;
    Py_VISIT(region->kept);
    Py_VISIT(region->extra);
    return 0;
}

/* Called after region_finalize(). In a forked child memory that was registered must never be freed. */
static int region_clear(PyObject *self)
{
    struct ext_region *region = (struct ext_region *)self;
    if (region->handle && region->pid != getpid() && region->source == EXT_OWN) {
        Py_XINCREF(region->kept);
        Py_XINCREF(region->extra);
    }
    region->handle = NULL;
    Py_CLEAR(region->kept);
    Py_CLEAR(region->extra);
    return 0;
}

static void region_dealloc(PyObject *self)
{
    if (PyObject_CallFinalizerFromDealloc(self) < 0)
        return;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    region_clear(self);
    PyMem_Free(((struct ext_region *)self)->at);
    type->tp_free(self);
}

/* --- what it says of itself --------------------------------------------------------------------------- */

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    const struct ext_region *region = (const struct ext_region *)self;
    if (!region->info.name[0])
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(region->info.name, (Py_ssize_t)strlen(region->info.name), "replace");
}

static PyObject *get_addr(PyObject *self, void *unused)
{
    (void)unused;
    const struct ext_region *region = (const struct ext_region *)self;
    return PyLong_FromVoidPtr(region->info.address); /* 0: reached by copying only */
}

static PyObject *get_open(PyObject *self, void *unused)
{
    (void)unused;
    const struct ext_region *region = (const struct ext_region *)self;
    return PyBool_FromLong(region->open && region->epoch == ext_state.epoch);
}

static PyGetSetDef region_getset[] = {
    {"name", get_name, NULL, "The name that it was registered with, or None.", NULL},
    {"addr", get_addr, NULL, "Where it begins in this process; 0 for a peer's that is reached by copying only.", NULL},
    {"is_open", get_open, NULL, "False once it was deregistered, closed, or its job is over.", NULL},
    {0},
};

_Static_assert(sizeof(shmemx_kind_t) == sizeof(int) && sizeof(shmemx_type_t) == sizeof(int), "members below");

static PyMemberDef region_members[] = {
    {"id", T_ULONGLONG, offsetof(struct ext_region, info.number), READONLY,
     "Its number: the n-th that its owner registered, from 0."},
    {"size", T_ULONG, offsetof(struct ext_region, info.size), READONLY, "Bytes."},
    {"owner", T_INT, offsetof(struct ext_region, info.owner), READONLY, "The PE whose memory it is."},
    {"_access", T_UINT, offsetof(struct ext_region, info.access), READONLY, NULL},
    {"_kind", T_INT, offsetof(struct ext_region, info.kind), READONLY, NULL},
    {"_guard", T_INT, offsetof(struct ext_region, info.guard), READONLY, NULL},
    {"_type", T_INT, offsetof(struct ext_region, info.type), READONLY, NULL},
    {"_source", T_INT, offsetof(struct ext_region, source), READONLY, NULL},
    {"_kept", T_OBJECT, offsetof(struct ext_region, kept), READONLY, NULL},
    {"_extra", T_OBJECT, offsetof(struct ext_region, extra), 0, NULL},
    {0},
};

PyTypeObject ext_region_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.RegionBase",
    .tp_basicsize = sizeof(struct ext_region),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = region_traverse,
    .tp_clear = region_clear,
    .tp_finalize = region_finalize,
    .tp_dealloc = region_dealloc,
    .tp_getset = region_getset,
    .tp_members = region_members,
};

/* --- views -------------------------------------------------------------------------------------------- */

struct view {
    PyObject_HEAD struct ext_region *region; /* whose mapping it holds */
    char *address;
    size_t size;
    int read_only;
};

static int view_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    const struct view *view = (const struct view *)self;
    return PyBuffer_FillInfo(buffer, self, view->address, (Py_ssize_t)view->size, view->read_only, flags);
}

static void view_dealloc(PyObject *self)
{
    struct view *view = (struct view *)self;
    if (view->region)
        view->region->views--;
    Py_XDECREF(view->region);
    Py_TYPE(self)->tp_free(self);
}

static PyBufferProcs view_buffer = {.bf_getbuffer = view_getbuffer};

PyTypeObject ext_view_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.View",
    .tp_basicsize = sizeof(struct view),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "The bytes of a peer's region, as a buffer.",
    .tp_dealloc = view_dealloc,
    .tp_as_buffer = &view_buffer,
};

/* (fn, region, pe, timeout): finds what corresponds there, and checks that it agrees. */
static PyObject *region_reach(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("reach", 4);
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    int pe;
    double timeout;
    if (!region || !ext_pe(fn, "pe", args[2], &pe) || !ext_timeout(fn, args[3], ext_state.patience, &timeout) ||
        !ext_reach(fn, region, pe, timeout))
        return NULL;
    Py_RETURN_NONE;
}

/* (fn, region, pe, timeout): the bytes there, read-only where the owner wants that. */
static PyObject *region_view(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("view", 4);
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    int pe;
    double timeout;
    shmemx_region_t there;
    shmemx_region_info_t info;
    char label[96];
    if (!region || !ext_pe(fn, "pe", args[2], &pe) || !ext_timeout(fn, args[3], ext_state.patience, &timeout) ||
        !(there = ext_reach(fn, region, pe, timeout)))
        return NULL;
    int rc = shmemx_region_info(there, &info);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    ext_region_label(region, label, sizeof label);
    if (!(info.access & SHMEMX_REMOTE_READ) && pe != ext_state.me)
        return ext_fail(fn, EXT_ACCESS, "%s of PE %d does not allow REMOTE_READ", label, pe);
    if (info.kind == SHMEMX_KIND_DEVICE)
        return ext_fail(fn, EXT_VALUE,
                        "%s of PE %d lies in memory of a device (kind 'device'), which the CPU cannot touch: use get",
                        label, pe);
    if (!info.address)
        return ext_fail(fn, EXT_VALUE,
                        "%s of PE %d is reached by copying only (kind 'copied'), so there is no view of it: "
                        "use get, or shmem.empty",
                        label, pe);
    struct view *view = PyObject_New(struct view, &ext_view_type);
    if (!view)
        return NULL;
    view->region = (struct ext_region *)Py_NewRef((PyObject *)region);
    region->views++;
    view->address = info.address;
    view->size = info.size;
    view->read_only = pe != ext_state.me && !(info.access & SHMEMX_REMOTE_WRITE);
    return (PyObject *)view;
}

/* --- the symmetric heap ------------------------------------------------------------------------------- */

struct block {
    PyObject_HEAD void *address;
    size_t size;
    unsigned long epoch;
    bool open;
    const char *type; /* of the device; NULL: memory of the host */
    int number, kept;
};

static int block_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    const struct block *block = (const struct block *)self;
    if (block->type) {
        PyErr_SetString(PyExc_BufferError, "the block lies in memory of a device, which the CPU cannot touch");
        return -1;
    }
    return PyBuffer_FillInfo(buffer, self, block->address, (Py_ssize_t)block->size, 0, flags);
}

static PyObject *block_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((const struct block *)self)->address);
}

static PyObject *block_open(PyObject *self, void *unused)
{
    (void)unused;
    const struct block *block = (const struct block *)self;
    return PyBool_FromLong(block->open && block->epoch == ext_state.epoch);
}

static PyObject *block_type(PyObject *self, void *unused)
{
    (void)unused;
    const char *type = ((const struct block *)self)->type;
    return type ? PyUnicode_FromString(type) : Py_NewRef(Py_None);
}

static void block_dealloc(PyObject *self)
{
    Py_TYPE(self)->tp_free(self); /* freeing is collective: the block stays until free or finalize */
}

static PyBufferProcs block_buffer = {.bf_getbuffer = block_getbuffer};

static PyGetSetDef block_getset[] = {
    {"address", block_address, NULL, NULL, NULL},
    {"is_open", block_open, NULL, NULL, NULL},
    {"type", block_type, NULL, NULL, NULL},
    {0},
};

static PyMemberDef block_members[] = {
    {"size", T_ULONG, offsetof(struct block, size), READONLY, NULL},
    {"number", T_INT, offsetof(struct block, number), READONLY, NULL},
    {"kept", T_INT, offsetof(struct block, kept), 0, NULL},
    {0},
};

PyTypeObject ext_block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.Block",
    .tp_basicsize = sizeof(struct block),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Bytes of the symmetric heap, as a buffer.",
    .tp_dealloc = block_dealloc,
    .tp_as_buffer = &block_buffer,
    .tp_getset = block_getset,
    .tp_members = block_members,
};

/* 0, or the failure of a call that answers with a block. */
static int rc_of(const void *block)
{
    return block ? 0 : errno ? -errno : -EINVAL;
}

/* (fn, size, align, kind of memory or None, whether it is to hold zeros: of a device only) */
static PyObject *heap_malloc(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("malloc", 5);
    size_t size, align;
    void *at = NULL;
    const char *kind = args[3] == Py_None ? NULL : ext_text(fn, "device", args[3]);
    if (!ext_may_call(fn) || !ext_size(fn, "size", args[1], &size) || !ext_size(fn, "align", args[2], &align) ||
        (!kind && args[3] != Py_None))
        return NULL;
    struct block *block = PyObject_New(struct block, &ext_block_type);
    if (!block)
        return NULL;
    memset((char *)block + offsetof(struct block, address), 0, sizeof *block - offsetof(struct block, address));
    block->size = size;
    block->epoch = ext_state.epoch;
    int rc = shmemx_keep_heap(); /* arrays live as long as somebody holds them */
    if (rc == 0)
        EXT_CALL(rc, rc_of(at = args[4] == Py_True ? shmemx_calloc_kind(size, 1, kind)
                                                   : shmemx_align_kind(align, size, kind)));
    block->address = at;
    block->open = rc == 0;
    if (rc == 0)
        shmemx_device_where(at, &block->type, &block->number);
    if (rc == 0 && !PyErr_Occurred())
        return (PyObject *)block;
    Py_DECREF(block);
    return ext_fail_rc(fn, rc);
}

/* (fn, block) */
static PyObject *heap_free(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("free", 2);
    if (!ext_may_call(fn))
        return NULL;
    if (!PyObject_TypeCheck(args[1], &ext_block_type))
        return ext_fail(fn, EXT_TYPE, "a %s is no block of the symmetric heap", Py_TYPE(args[1])->tp_name);
    struct block *block = (struct block *)args[1];
    if (!block->open || block->epoch != ext_state.epoch)
        return ext_fail(fn, EXT_STALE, "the array was freed already, or its job is over");
    int rc;
    block->open = false;
    EXT_CALL(rc, shmemx_free(block->address));
    block->open = rc == -EBUSY;
    return ext_answer(fn, rc);
}

/* (fn, kind of memory or None) */
static PyObject *heap_info(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("heap_info", 2);
    shmemx_heap_info_t info;
    const char *kind = args[1] == Py_None ? NULL : ext_text(fn, "device", args[1]);
    if (!ext_may_call(fn) || (!kind && args[1] != Py_None))
        return NULL;
    int rc = shmemx_heap_info_kind(kind, &info);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    return Py_BuildValue("(nnnnn)", (Py_ssize_t)info.total, (Py_ssize_t)info.in_use, (Py_ssize_t)info.largest_free,
                         (Py_ssize_t)info.high_water, (Py_ssize_t)info.blocks);
}

/* --- together ----------------------------------------------------------------------------------------- */

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_region_methods[] = {
    FAST("register", region_register),   FAST("find", region_find),
    FAST("symmetric", region_symmetric), FAST("close", region_close),
    FAST("reach", region_reach),         FAST("view", region_view),
    FAST("malloc", heap_malloc),         FAST("free", heap_free),
    FAST("heap_info", heap_info),        {0},
};

int ext_region_init(PyObject *module)
{
    PyTypeObject *types[] = {&ext_region_type, &ext_view_type, &ext_block_type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (PyModule_AddType(module, types[i]) < 0)
            return -1;
    return 0;
}
