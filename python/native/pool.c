// SPDX-License-Identifier: Apache-2.0
// Pools, files, their blocks and names.
#include "ext.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>

static struct ext_pool *pools; /* all that are open, the youngest first */

/* A segment of its own that was exported: it stays, and a later import of it needs a block again. */
struct ext_rest {
    struct ext_rest *next;
    char *address;
    size_t size;
    PyObject *keys;
};

struct ext_pool *ext_pool_from(const char *fn, PyObject *object)
{
    if (!PyObject_TypeCheck(object, &ext_pool_type)) {
        ext_fail(fn, object == Py_None ? EXT_STALE : EXT_TYPE,
                 object == Py_None ? "the pool was closed" : "a %s is no pool", Py_TYPE(object)->tp_name);
        return NULL;
    }
    struct ext_pool *pool = (struct ext_pool *)object;
    if (!pool->pool) {
        ext_fail(fn, EXT_STALE, "the pool was closed, because the interpreter ends");
        return NULL;
    }
    return pool;
}

struct ext_pool_block *ext_pool_block_from(const char *fn, PyObject *object)
{
    if (!PyObject_TypeCheck(object, &ext_pool_block_type)) {
        ext_fail(fn, EXT_TYPE, "a %s is no buffer of a pool", Py_TYPE(object)->tp_name);
        return NULL;
    }
    struct ext_pool_block *block = (struct ext_pool_block *)object;
    if (!block->open) {
        ext_fail(fn, EXT_STALE, "the buffer was freed already");
        return NULL;
    }
    return ext_pool_from(fn, (PyObject *)block->pool) ? block : NULL;
}

/* As EXT_UNLOCKED; the pool is not closed meanwhile. */
#define POOL_CALL(rc, pool_, call)                                                                                     \
    do {                                                                                                               \
        (pool_)->calls++;                                                                                              \
        EXT_UNLOCKED(rc, call);                                                                                        \
        (pool_)->calls--;                                                                                              \
    } while (0)

/* --- pools -------------------------------------------------------------------------------------------- */

static PyObject *make_pool(const char *fn, shmemx_pool_t opened, bool grows, bool read_only)
{
    shmemx_pool_info_t info;
    shmemx_pool_stats_t stats;
    struct ext_pool *pool = PyObject_New(struct ext_pool, &ext_pool_type);
    int rc = shmemx_pool_info(opened, &info);
    if (rc == 0)
        rc = shmemx_pool_stats(opened, &stats);
    if (!pool || rc < 0) {
        if (rc < 0)
            ext_fail_rc(fn, rc);
        if (pool)
            PyObject_Free(pool);
        shmemx_pool_close(opened);
        return NULL;
    }
    memset((char *)pool + offsetof(struct ext_pool, pool), 0, sizeof *pool - offsetof(struct ext_pool, pool));
    pool->pool = opened;
    pool->base = info.base;
    pool->span = stats.max_size;
    pool->path = *info.path ? PyUnicode_DecodeFSDefault(info.path) : Py_NewRef(Py_None);
    pool->grows = grows;
    pool->writable = info.writable;
    pool->read_only = read_only;
    pool->next = pools;
    if (pools)
        pools->previous = pool;
    pools = pool;
    return (PyObject *)pool;
}

/* The symmetric heap where objects are made and found. It is in no list, and is never closed. */
static PyObject *make_heap(void)
{
    struct ext_pool *heap = PyObject_New(struct ext_pool, &ext_pool_type);
    if (!heap)
        return NULL;
    memset((char *)heap + offsetof(struct ext_pool, pool), 0, sizeof *heap - offsetof(struct ext_pool, pool));
    heap->pool = shmemx_symmetric();
    heap->heap = true;
    heap->path = Py_NewRef(Py_None);
    return (PyObject *)heap;
}

static void take_out(struct ext_pool *pool)
{
    if (pool->previous)
        pool->previous->next = pool->next;
    else
        pools = pool->next;
    if (pool->next)
        pool->next->previous = pool->previous;
    pool->next = pool->previous = NULL;
}

static void forget_rests(struct ext_pool *pool)
{
    while (pool->rests) {
        struct ext_rest *rest = pool->rests;
        pool->rests = rest->next;
        Py_XDECREF(rest->keys);
        PyMem_Free(rest);
    }
}

static void pool_dealloc(PyObject *self)
{
    struct ext_pool *pool = (struct ext_pool *)self;
    if (pool->pool && !pool->heap) {
        PyObject *type, *value, *trace;
        int rc;
        take_out(pool);
        PyErr_Fetch(&type, &value, &trace);
        EXT_UNLOCKED(rc, shmemx_pool_close(pool->pool));
        if (rc < 0) { /* such as a disk that fails: nobody waits for an answer */
            ext_fail_rc("Pool.close", rc);
            PyErr_WriteUnraisable(NULL);
        }
        PyErr_Restore(type, value, trace);
    }
    forget_rests(pool);
    Py_XDECREF(pool->kept);
    Py_XDECREF(pool->path);
    Py_XDECREF(pool->extra);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef pool_members[] = {
    {"extra", T_OBJECT, offsetof(struct ext_pool, extra), 0, NULL},
    {"path", T_OBJECT, offsetof(struct ext_pool, path), READONLY, NULL},
    {"writable", T_BOOL, offsetof(struct ext_pool, writable), READONLY, NULL},
    {"read_only", T_BOOL, offsetof(struct ext_pool, read_only), READONLY, NULL},
    {0},
};

PyTypeObject ext_pool_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.PoolHandle",
    .tp_basicsize = sizeof(struct ext_pool),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "An open pool.",
    .tp_dealloc = pool_dealloc,
    .tp_members = pool_members,
};

/* At the end of the interpreter: closes pools of which there are no arrays. Others are closed with their last array, or
   by the end of the process: a thread without the GIL may be at work on one. Files are written in either case. */
static PyObject *pool_close_all(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    struct ext_pool *pool = pools;
    while (pool) {
        Py_INCREF(pool);
        bool idle = pool->users == 0 && pool->calls == 0 && Py_REFCNT(pool) == 2;
        shmemx_pool_t opened = pool->pool;
        int rc = 0;
        if (idle) {
            pool->pool = NULL;
            EXT_UNLOCKED(rc, shmemx_pool_close(opened));
        } else if (pool->path != Py_None && pool->writable)
            POOL_CALL(rc, pool, shmemx_pool_flush(opened));
        if (rc < 0) {
            ext_fail_rc("Pool.close", rc);
            PyErr_WriteUnraisable(NULL);
        }
        struct ext_pool *next = pool->next; /* others may have gone meanwhile, but not this one */
        if (idle)
            take_out(pool);
        Py_DECREF(pool);
        pool = next;
    }
    Py_RETURN_NONE;
}

/* (fn, path as bytes or None, size, max_size, grow, type, name, page_size, numa_node, lock, cache) */
static PyObject *pool_create(PyObject *module, PyObject *args)
{
    (void)module;
    const char *fn, *path = NULL;
    PyObject *where, *size, *most, *page;
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t pool;
    int rc;
    if (!PyArg_ParseTuple(args, "sOOOpzzOipz", &fn, &where, &size, &most, &attr.grow, &attr.type, &attr.name, &page,
                          &attr.numa_node, &attr.lock, &attr.cache) ||
        (where != Py_None && !(path = PyBytes_AsString(where))) || !ext_size(fn, "size", size, &attr.size) ||
        !ext_size(fn, "max_size", most, &attr.max_size) || !ext_size(fn, "pages", page, &attr.page_size))
        return NULL;
    EXT_UNLOCKED(rc, path ? shmemx_file_create(path, &attr, &pool) : shmemx_pool_create(&attr, &pool));
    return rc < 0 ? ext_fail_rc(fn, rc) : make_pool(fn, pool, attr.grow, false);
}

/* (fn, name or key) */
static PyObject *pool_open(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_open", 2);
    const char *name = ext_text(fn, "name_or_key", args[1]);
    shmemx_pool_t pool;
    int rc;
    if (!name)
        return NULL;
    EXT_UNLOCKED(rc, shmemx_pool_open(name, &pool));
    return rc < 0 ? ext_fail_rc(fn, rc) : make_pool(fn, pool, true, false);
}

/* (fn, path as bytes, mode) */
static PyObject *file_open(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("file_open", 3);
    const char *path = PyBytes_AsString(args[1]), *mode = path ? ext_text(fn, "mode", args[2]) : NULL;
    shmemx_pool_t pool;
    int rc;
    if (!mode)
        return NULL;
    EXT_UNLOCKED(rc, shmemx_file_open(path, mode, &pool));
    return rc < 0 ? ext_fail_rc(fn, rc) : make_pool(fn, pool, true, strcmp(mode, "r") == 0);
}

/* (fn, pool, size) */
static PyObject *pool_grow(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_grow", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    size_t size;
    int rc;
    if (!pool || !ext_size(fn, "size", args[2], &size))
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_grow(pool->pool, size));
    return ext_answer(fn, rc);
}

/* (fn, pool) */
static PyObject *pool_flush(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_flush", 2);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    int rc;
    if (!pool)
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_flush(pool->pool));
    return ext_answer(fn, rc);
}

static PyObject *text_or_bytes(const char *text)
{
    return PyUnicode_DecodeFSDefault(text);
}

/* (fn, pool): the figures in the order of shmemx_pool_stats_t */
static PyObject *pool_stats(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_stats", 2);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    shmemx_pool_stats_t s;
    int rc;
    if (!pool)
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_stats(pool->pool, &s));
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    return Py_BuildValue("(nnnnnnnIIIN)", (Py_ssize_t)s.size, (Py_ssize_t)s.max_size, (Py_ssize_t)s.in_use,
                         (Py_ssize_t)s.buffers, (Py_ssize_t)s.free, (Py_ssize_t)s.largest_free,
                         (Py_ssize_t)s.high_water, s.members, s.died, s.owned, text_or_bytes(s.failure));
}

/* (fn, pool): what shmemx_pool_info_t says, without the address */
static PyObject *pool_info(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_info", 2);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    shmemx_pool_info_t i;
    int rc;
    if (!pool)
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_info(pool->pool, &i));
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    return Py_BuildValue("(NNNnniNNNN)", text_or_bytes(i.type), text_or_bytes(i.name), text_or_bytes(i.path),
                         (Py_ssize_t)i.page_size, (Py_ssize_t)i.huge_bytes, i.numa_node, PyBool_FromLong(i.locked),
                         text_or_bytes(i.cache), text_or_bytes(i.fallback), PyBool_FromLong(i.writable));
}

/* --- blocks ------------------------------------------------------------------------------------------- */

static struct ext_pool_block *new_block(struct ext_pool *pool)
{
    struct ext_pool_block *block = PyObject_New(struct ext_pool_block, &ext_pool_block_type);
    if (!block)
        return NULL;
    block->pool = (struct ext_pool *)Py_NewRef((PyObject *)pool);
    pool->users++;
    block->address = NULL;
    block->size = 0;
    block->forks = ext_state.forks;
    block->next = block->previous = NULL;
    block->weak = block->keys = block->cache = NULL;
    block->own = block->open = block->kept = false;
    return block;
}

static void add_own(struct ext_pool *pool, struct ext_pool_block *block)
{
    block->own = true;
    block->next = pool->owns;
    if (pool->owns)
        pool->owns->previous = block;
    pool->owns = block;
}

static void take_out_own(struct ext_pool *pool, struct ext_pool_block *block)
{
    if (block->previous)
        block->previous->next = block->next;
    else
        pool->owns = block->next;
    if (block->next)
        block->next->previous = block->previous;
}

static bool is_kept_at(const struct ext_pool *pool, const char *address)
{
    PyObject *number = PyLong_FromVoidPtr((void *)address);
    bool kept = !number || PySet_Contains(pool->kept, number) != 0;
    Py_XDECREF(number);
    return kept;
}

/* The block goes, and its segment stays. */
static void leave_rest(struct ext_pool *pool, struct ext_pool_block *block)
{
    struct ext_rest *rest = PyMem_Malloc(sizeof *rest);
    if (!rest)
        return;
    *rest = (struct ext_rest){pool->rests, block->address, block->size, block->keys};
    block->keys = NULL;
    pool->rests = rest;
}

/* A buffer with a segment of its own that was freed stays mapped for as long as arrays look at it. */
static void give_back(struct ext_pool *pool, struct ext_pool_block *block)
{
    bool frees = block->open ? !block->kept && block->forks == ext_state.forks &&
                                   !(pool->kept && is_kept_at(pool, block->address))
                             : block->own;
    if (frees && block->own) {
        int rc; /* unmapping much memory takes time */
        POOL_CALL(rc, pool, shmemx_pool_free(pool->pool, block->address));
        (void)rc;
    } else if (frees)
        shmemx_pool_free(pool->pool, block->address);
    else if (block->own)
        leave_rest(pool, block);
}

static void pool_block_dealloc(PyObject *self)
{
    struct ext_pool_block *block = (struct ext_pool_block *)self;
    struct ext_pool *pool = block->pool;
    if (block->weak)
        PyObject_ClearWeakRefs(self);
    if (block->own)
        take_out_own(pool, block);
    if (block->address && pool->pool) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        give_back(pool, block);
        PyErr_Restore(type, value, trace);
    }
    Py_XDECREF(block->keys);
    Py_XDECREF(block->cache);
    pool->users--;
    Py_DECREF(pool);
    PyObject_Free(self);
}

static int pool_block_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    const struct ext_pool_block *block = (const struct ext_pool_block *)self;
    if (!block->open) {
        buffer->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the buffer was freed");
        return -1;
    }
    return PyBuffer_FillInfo(buffer, self, block->address, (Py_ssize_t)block->size, block->pool->read_only, flags);
}

static PyBufferProcs pool_block_buffer = {.bf_getbuffer = pool_block_getbuffer};

static PyObject *pool_block_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((const struct ext_pool_block *)self)->address);
}

static PyGetSetDef pool_block_getset[] = {
    {"address", pool_block_address, NULL, NULL, NULL},
    {0},
};

static PyMemberDef pool_block_members[] = {
    {"pool", T_OBJECT, offsetof(struct ext_pool_block, pool), READONLY, NULL},
    {"size", T_ULONG, offsetof(struct ext_pool_block, size), READONLY, NULL},
    {"own", T_BOOL, offsetof(struct ext_pool_block, own), READONLY, NULL},
    {"kept", T_BOOL, offsetof(struct ext_pool_block, kept), READONLY, NULL},
    {"is_open", T_BOOL, offsetof(struct ext_pool_block, open), READONLY, NULL},
    {"cache", T_OBJECT, offsetof(struct ext_pool_block, cache), 0, NULL},
    {0},
};

PyTypeObject ext_pool_block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.PoolBlock",
    .tp_basicsize = sizeof(struct ext_pool_block),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A buffer of a pool.",
    .tp_dealloc = pool_block_dealloc,
    .tp_weaklistoffset = offsetof(struct ext_pool_block, weak),
    .tp_as_buffer = &pool_block_buffer,
    .tp_getset = pool_block_getset,
    .tp_members = pool_block_members,
};

enum { SHORT = 64 << 10 }; /* bytes that are allocated, and cleared, without letting go of the GIL */

/* (fn, pool, size, align, SHMEMX_ flags) */
static PyObject *pool_alloc(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_alloc", 5);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    size_t size, align;
    int flags, rc;
    if (!pool || !ext_size(fn, "size", args[2], &size) || !ext_size(fn, "align", args[3], &align) ||
        !ext_int(fn, "flags", args[4], &flags))
        return NULL;
    struct ext_pool_block *block = new_block(pool);
    if (!block)
        return NULL;
    void *at = NULL;
    if (size <= SHORT && !pool->grows && !((unsigned)flags & SHMEMX_OWN))
        rc = shmemx_pool_alloc(pool->pool, size, align, (unsigned)flags, &at);
    else
        POOL_CALL(rc, pool, shmemx_pool_alloc(pool->pool, size, align, (unsigned)flags, &at));
    if (rc < 0) {
        ext_fail_rc(fn, rc);
        Py_DECREF(block);
        return NULL;
    }
    block->address = at;
    block->size = size;
    block->open = true;
    block->kept = (unsigned)flags & SHMEMX_KEEP;
    if ((unsigned)flags & SHMEMX_OWN)
        add_own(pool, block);
    else if (pool->kept) { /* another buffer that was once here */
        PyObject *number = PyLong_FromVoidPtr(at);
        if (number)
            PySet_Discard(pool->kept, number);
        Py_XDECREF(number);
    }
    return (PyObject *)block;
}

/* What a new named buffer is filled with: a pattern, again and again. */
struct filling {
    size_t size;
    const char *pattern;
    size_t period;
};

static int fill(void *buffer, void *context)
{
    const struct filling *f = context;
    size_t done = f->period < f->size ? f->period : f->size;
    if (f->period == 0) {
        memset(buffer, 0, f->size);
        return 0;
    }
    memcpy(buffer, f->pattern, done);
    while (done < f->size) {
        size_t more = done < f->size - done ? done : f->size - done;
        memcpy((char *)buffer + done, buffer, more);
        done += more;
    }
    return 0;
}

/* (fn, pool, name, size, align, note, pattern: bytes, b'' for zeros, or None) */
static PyObject *pool_alloc_named(PyObject *module, PyObject *args)
{
    (void)module;
    const char *fn, *name, *note, *pattern;
    PyObject *object, *size, *align;
    Py_ssize_t note_bytes, period;
    struct filling f;
    size_t alignment;
    int rc;
    if (!PyArg_ParseTuple(args, "sOsOOy#z#", &fn, &object, &name, &size, &align, &note, &note_bytes, &pattern, &period))
        return NULL;
    struct ext_pool *pool = ext_pool_from(fn, object);
    if (!pool || !ext_size(fn, "size", size, &f.size) || !ext_size(fn, "align", align, &alignment))
        return NULL;
    f.pattern = pattern;
    f.period = pattern ? (size_t)period : 0;
    struct ext_pool_block *block = new_block(pool);
    if (!block)
        return NULL;
    void *at = NULL;
    POOL_CALL(rc, pool,
              shmemx_pool_alloc_named(pool->pool, name, f.size, alignment, note, (size_t)note_bytes,
                                      pattern ? fill : NULL, &f, &at));
    if (rc < 0) {
        ext_fail_rc(fn, rc);
        Py_DECREF(block);
        return NULL;
    }
    block->address = at;
    block->size = f.size;
    block->open = block->kept = true;
    return (PyObject *)block;
}

/* Keys of a segment that stays mapped for a while longer. What fails was revoked before. */
static void revoke_keys(PyObject *keys)
{
    for (Py_ssize_t i = 0; keys && i < PyList_GET_SIZE(keys); i++) {
        const char *key = PyUnicode_AsUTF8(PyList_GET_ITEM(keys, i));
        if (key)
            shmemx_revoke(key, 0);
    }
    PyErr_Clear();
}

/* (fn, pool, block) */
static PyObject *pool_free(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_free", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    struct ext_pool_block *block = pool ? ext_pool_block_from(fn, args[2]) : NULL;
    if (!block)
        return NULL;
    if (block->pool != pool)
        return ext_fail(fn, EXT_VALUE, "the buffer is of another pool");
    if (block->own) {
        if (block->forks == ext_state.forks)
            revoke_keys(block->keys);
    } else {
        int rc = shmemx_pool_free(pool->pool, block->address);
        if (rc < 0)
            return ext_fail_rc(fn, rc);
    }
    block->open = false;
    Py_RETURN_NONE;
}

/* (fn, pool, address): of a buffer without a block in this process */
static PyObject *pool_free_at(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_free_at", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    if (!pool)
        return NULL;
    void *at = PyLong_AsVoidPtr(args[2]);
    if (!at && PyErr_Occurred())
        return NULL;
    return ext_answer(fn, shmemx_pool_free(pool->pool, at));
}

/* (fn, block) */
static PyObject *pool_keep(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_keep", 2);
    struct ext_pool_block *block = ext_pool_block_from(fn, args[1]);
    if (!block)
        return NULL;
    int rc = shmemx_pool_keep(block->pool->pool, block->address);
    if (rc == 0)
        block->kept = true;
    return ext_answer(fn, rc);
}

/* --- places that do not depend on where the pool is mapped ---------------------------------------------- */

/* (fn, pool, address) */
static PyObject *pool_offset(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_offset", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    uint64_t offset;
    if (!pool)
        return NULL;
    void *at = PyLong_AsVoidPtr(args[2]);
    if (!at && PyErr_Occurred())
        return NULL;
    int rc = shmemx_pool_offset(pool->pool, at, &offset);
    return rc < 0 ? ext_fail_rc(fn, rc) : PyLong_FromUnsignedLongLong(offset);
}

/* (fn, pool, offset, size): a block over it, which is not freed when it goes */
static PyObject *pool_block(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_block", 4);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    size_t offset, size;
    void *at;
    if (!pool || !ext_size(fn, "offset", args[2], &offset) || !ext_size(fn, "size", args[3], &size))
        return NULL;
    int rc = shmemx_pool_address(pool->pool, offset, size, &at);
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    return ext_pool_block_over(pool, at, size);
}

/* --- names -------------------------------------------------------------------------------------------- */

/* (fn, block, name, note) */
static PyObject *pool_name(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_name", 4);
    struct ext_pool_block *block = ext_pool_block_from(fn, args[1]);
    const char *name = block ? ext_text(fn, "name", args[2]) : NULL;
    char *note;
    Py_ssize_t note_bytes;
    int rc;
    if (!name || PyBytes_AsStringAndSize(args[3], &note, &note_bytes) < 0)
        return NULL;
    POOL_CALL(rc, block->pool,
              shmemx_pool_name(block->pool->pool, name, block->address, block->size ? block->size : 1, note,
                               (size_t)note_bytes));
    if (rc == 0)
        block->kept = true;
    return ext_answer(fn, rc);
}

/* (fn, pool, name): (block, note) */
static PyObject *pool_find(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_find", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    const char *name = pool ? ext_text(fn, "name", args[2]) : NULL;
    shmemx_named_t found;
    int rc;
    if (!name)
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_find(pool->pool, name, &found));
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    struct ext_pool_block *block = new_block(pool);
    if (!block)
        return NULL;
    block->address = found.address;
    block->size = found.bytes;
    block->open = block->kept = true;
    return Py_BuildValue("(Ny#)", block, (char *)found.note, (Py_ssize_t)found.note_bytes);
}

/* (fn, pool, name) */
static PyObject *pool_unname(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_unname", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    const char *name = pool ? ext_text(fn, "name", args[2]) : NULL;
    int rc;
    if (!name)
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_unname(pool->pool, name));
    return ext_answer(fn, rc);
}

/* (fn, pool): a list of names */
static PyObject *pool_names(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_names", 2);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    PyObject *list = pool ? PyList_New(0) : NULL;
    uint64_t cursor = 0;
    shmemx_named_t found;
    int rc = 0;
    while (list && (rc = shmemx_pool_next_name(pool->pool, &cursor, &found)) == 1) {
        PyObject *name = PyUnicode_DecodeUTF8(found.name, (Py_ssize_t)strlen(found.name), "replace");
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    if (!list || rc == 0)
        return list;
    Py_DECREF(list);
    return ext_fail_rc(fn, rc);
}

/* (fn, pool, name): what it stands for */
static PyObject *pool_what(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("pool_what", 3);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    const char *name = pool ? ext_text(fn, "name", args[2]) : NULL;
    int rc;
    if (!name)
        return NULL;
    POOL_CALL(rc, pool, shmemx_pool_what(pool->pool, name));
    return rc < 0 ? ext_fail_rc(fn, rc) : PyLong_FromLong(rc);
}

struct ext_pool *ext_pool_of(shmemx_pool_t handle)
{
    struct ext_pool *pool = pools;
    while (pool && (!pool->pool || pool->pool != handle))
        pool = pool->next;
    return pool;
}

PyObject *ext_pool_block_over(struct ext_pool *pool, void *address, size_t size)
{
    struct ext_pool_block *block = new_block(pool);
    if (block) {
        block->address = address;
        block->size = size;
        block->open = block->kept = true;
    }
    return (PyObject *)block;
}

/* --- for keys ----------------------------------------------------------------------------------------- */

static bool holds(const char *begin, size_t size, const char *address)
{
    return address >= begin && (size_t)(address - begin) < (size ? size : 1);
}

/* The rest becomes a block again. */
static PyObject *revive(struct ext_pool *pool, struct ext_rest **at)
{
    struct ext_rest *rest = *at;
    struct ext_pool_block *block = new_block(pool);
    if (!block)
        return NULL;
    *at = rest->next;
    block->address = rest->address;
    block->size = rest->size;
    block->keys = rest->keys;
    block->open = block->kept = true;
    add_own(pool, block);
    PyMem_Free(rest);
    return (PyObject *)block;
}

PyObject *ext_pool_holder(const char *address)
{
    for (struct ext_pool *pool = pools; pool; pool = pool->next) {
        if (!pool->pool)
            continue;
        if (holds(pool->base, pool->span, address))
            return Py_NewRef((PyObject *)pool);
        for (struct ext_pool_block *own = pool->owns; own; own = own->next)
            if (holds(own->address, own->size, address))
                return Py_NewRef((PyObject *)own);
        for (struct ext_rest **rest = &pool->rests; *rest; rest = &(*rest)->next)
            if (holds((*rest)->address, (*rest)->size, address))
                return revive(pool, rest);
    }
    return NULL;
}

PyObject *ext_pool_holders(void)
{
    PyObject *list = PyList_New(0);
    for (struct ext_pool *pool = pools; list && pool; pool = pool->next) {
        int rc = PyList_Append(list, (PyObject *)pool);
        while (rc == 0 && pool->rests) {
            PyObject *block = revive(pool, &pool->rests);
            rc = block ? PyList_Append(list, block) : -1;
            Py_XDECREF(block);
        }
        for (struct ext_pool_block *own = pool->owns; rc == 0 && own; own = own->next)
            rc = PyList_Append(list, (PyObject *)own);
        if (rc < 0)
            Py_CLEAR(list);
    }
    return list;
}

void ext_pool_count_users(PyObject *holders, int by)
{
    if (!holders)
        return;
    if (PyObject_TypeCheck(holders, &ext_pool_type))
        ((struct ext_pool *)holders)->users += (size_t)by;
    for (Py_ssize_t i = 0; PyList_Check(holders) && i < PyList_GET_SIZE(holders); i++)
        ext_pool_count_users(PyList_GET_ITEM(holders, i), by);
}

bool ext_pool_keep_at(const char *address)
{
    for (struct ext_pool *pool = pools; pool; pool = pool->next) {
        void *begin;
        size_t bytes;
        for (struct ext_pool_block *own = pool->owns; own; own = own->next)
            if (holds(own->address, own->size, address))
                own->kept = true;
        if (!holds(pool->base, pool->span, address) || shmemx_pool_buffer(pool->pool, address, &begin, &bytes) < 0)
            continue;
        PyObject *number = PyLong_FromVoidPtr(begin);
        bool added = number && (pool->kept || (pool->kept = PySet_New(NULL))) && PySet_Add(pool->kept, number) == 0;
        Py_XDECREF(number);
        return added;
    }
    return true;
}

/* --- together ----------------------------------------------------------------------------------------- */

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_pool_methods[] = {
    {"pool_create", pool_create, METH_VARARGS, NULL},
    FAST("pool_open", pool_open),
    FAST("file_open", file_open),
    FAST("pool_grow", pool_grow),
    FAST("pool_flush", pool_flush),
    FAST("pool_stats", pool_stats),
    FAST("pool_info", pool_info),
    FAST("pool_alloc", pool_alloc),
    {"pool_alloc_named", pool_alloc_named, METH_VARARGS, NULL},
    FAST("pool_free", pool_free),
    FAST("pool_free_at", pool_free_at),
    FAST("pool_keep", pool_keep),
    FAST("pool_offset", pool_offset),
    FAST("pool_block", pool_block),
    FAST("pool_name", pool_name),
    FAST("pool_find", pool_find),
    FAST("pool_unname", pool_unname),
    FAST("pool_names", pool_names),
    FAST("pool_what", pool_what),
    {"close_pools", pool_close_all, METH_NOARGS, NULL},
    {0},
};

int ext_pool_init(PyObject *module)
{
    PyTypeObject *types[] = {&ext_pool_type, &ext_pool_block_type, &ext_import_type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (PyModule_AddType(module, types[i]) < 0)
            return -1;
    PyObject *heap = make_heap();
    int rc = heap ? PyModule_AddObjectRef(module, "HEAP", heap) : -1;
    Py_XDECREF(heap);
    return rc;
}
