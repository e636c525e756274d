// SPDX-License-Identifier: Apache-2.0
// Keys: made, revoked, imported.
#include "ext.h"

#include <errno.h>
#include <string.h>
#include <structmember.h>

/* (key, mode) of imports that there are, with their number: a further one finds what it needs in this process, so it
   does not let go of the GIL. */
static PyObject *live;

struct import {
    PyObject_HEAD shmemx_import_t import;
    char *address; /* NULL for atomics only */
    size_t size;
    unsigned rights;
    int mode;
    PyObject *key, *token, *note;
    PyObject *owner; /* NULL, or what of this process holds the memory */
    PyObject *used;  /* the entry in `live` */
};

static struct import *import_from(const char *fn, PyObject *object)
{
    if (PyObject_TypeCheck(object, &ext_import_type))
        return (struct import *)object;
    ext_fail(fn, EXT_TYPE, "a %s is no import", Py_TYPE(object)->tp_name);
    return NULL;
}

static bool count_live(PyObject *used, long by)
{
    PyObject *number = PyDict_GetItemWithError(live, used);
    long count = (number ? PyLong_AsLong(number) : 0) + by;
    if (PyErr_Occurred())
        return false;
    if (count <= 0)
        return PyDict_DelItem(live, used) == 0;
    PyObject *next = PyLong_FromLong(count);
    bool done = next && PyDict_SetItem(live, used, next) == 0;
    Py_XDECREF(next);
    return done;
}

static void import_dealloc(PyObject *self)
{
    struct import *i = (struct import *)self;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (i->import)
        shmemx_import_close(i->import);
    if (i->used && !count_live(i->used, -1))
        PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_XDECREF(i->used);
    Py_XDECREF(i->key);
    Py_XDECREF(i->token);
    Py_XDECREF(i->note);
    ext_pool_count_users(i->owner, -1);
    Py_XDECREF(i->owner);
    PyObject_Free(self);
}

static bool read_only(const struct import *i)
{
    return i->mode == SHMEMX_IMPORT_READ;
}

static int import_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    const struct import *i = (const struct import *)self;
    if (!i->address) {
        buffer->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "it was imported for atomics only");
        return -1;
    }
    return PyBuffer_FillInfo(buffer, self, i->address, (Py_ssize_t)i->size, read_only(i), flags);
}

static PyBufferProcs import_buffer = {.bf_getbuffer = import_getbuffer};

static PyObject *import_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((const struct import *)self)->address);
}

static PyGetSetDef import_getset[] = {
    {"address", import_address, NULL, NULL, NULL},
    {0},
};

static PyMemberDef import_members[] = {
    {"size", T_ULONG, offsetof(struct import, size), READONLY, NULL},
    {"rights", T_UINT, offsetof(struct import, rights), READONLY, NULL},
    {"mode", T_INT, offsetof(struct import, mode), READONLY, NULL},
    {"key", T_OBJECT, offsetof(struct import, key), READONLY, NULL},
    {"token", T_OBJECT, offsetof(struct import, token), READONLY, NULL},
    {"note", T_OBJECT, offsetof(struct import, note), READONLY, NULL},
    {"owner", T_OBJECT, offsetof(struct import, owner), READONLY, NULL},
    {0},
};

PyTypeObject ext_import_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.ImportHandle",
    .tp_basicsize = sizeof(struct import),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Memory that a key opened.",
    .tp_dealloc = import_dealloc,
    .tp_as_buffer = &import_buffer,
    .tp_getset = import_getset,
    .tp_members = import_members,
};

/* NULL: no token. false with an exception. */
static bool token_from(const char *fn, PyObject *object, const char **out)
{
    *out = NULL;
    if (object == Py_None)
        return true;
    return (*out = ext_text(fn, "token", object)) != NULL;
}

static const char *key_from(const char *fn, PyObject *object)
{
    return ext_text(fn, "key", object);
}

static struct import *new_import(PyObject *key, PyObject *mode, PyObject *token)
{
    struct import *i = PyObject_New(struct import, &ext_import_type);
    if (!i)
        return NULL;
    memset((char *)i + offsetof(struct import, import), 0, sizeof *i - offsetof(struct import, import));
    i->key = Py_NewRef(key);
    i->token = Py_NewRef(token);
    i->used = PyTuple_Pack(2, key, mode);
    if (!i->used || !count_live(i->used, 1)) {
        Py_CLEAR(i->used);
        Py_DECREF(i);
        return NULL;
    }
    return i;
}

static bool fill_in(struct import *i)
{
    shmemx_import_info_t info;
    int rc = shmemx_import_info(i->import, &info);
    if (rc < 0)
        return false;
    i->address = info.address;
    i->size = info.bytes;
    i->rights = info.rights;
    i->mode = (int)info.mode;
    if (!(i->note = PyBytes_FromStringAndSize(info.note, (Py_ssize_t)info.note_bytes)))
        return false;
    if (i->address)
        i->owner = ext_pool_holder(i->address);
    else
        i->owner = ext_pool_holders();
    ext_pool_count_users(i->owner, 1);
    return !PyErr_Occurred();
}

/* (fn, key, number of the mode, token or None) */
static PyObject *key_import(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("key_import", 4);
    const char *key = key_from(fn, args[1]), *token;
    int mode, rc;
    if (!key || !ext_int(fn, "mode", args[2], &mode) || !token_from(fn, args[3], &token))
        return NULL;
    struct import *i = new_import(args[1], args[2], args[3]);
    if (!i)
        return NULL;
    PyObject *number = PyDict_GetItemWithError(live, i->used);
    if (number && PyLong_AsLong(number) > 1 && mode != SHMEMX_IMPORT_COW && mode != SHMEMX_IMPORT_SNAPSHOT)
        rc = shmemx_import(key, (shmemx_import_mode_t)mode, token, &i->import);
    else
        EXT_UNLOCKED(rc, shmemx_import(key, (shmemx_import_mode_t)mode, token, &i->import));
    if (rc < 0) {
        i->import = NULL;
        ext_fail_rc(fn, rc);
    } else if (fill_in(i))
        return (PyObject *)i;
    Py_DECREF(i);
    return NULL;
}

/* (fn, import, number of the operation, width, offset, operand, compare): what was there, without a sign */
static PyObject *key_atomic(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("key_atomic", 7);
    struct import *i = import_from(fn, args[1]);
    size_t offset;
    int op, width, rc;
    uint64_t before = 0;
    if (!i || !ext_int(fn, "op", args[2], &op) || !ext_int(fn, "width", args[3], &width) ||
        !ext_size(fn, "offset", args[4], &offset))
        return NULL;
    uint64_t operand = PyLong_AsUnsignedLongLongMask(args[5]), compare = PyLong_AsUnsignedLongLongMask(args[6]);
    if (PyErr_Occurred())
        return NULL;
    EXT_UNLOCKED(rc, shmemx_import_atomic(i->import, (shmemx_key_atomic_t)op, (unsigned)width, offset, operand, compare,
                                          &before));
    return rc < 0 ? ext_fail_rc(fn, rc) : PyLong_FromUnsignedLongLong(before);
}

/* --- making keys -------------------------------------------------------------------------------------- */

enum { ALLOWS = 16 };

/* A list of (kind, rights, id, token or None). */
static bool take_allow(PyObject *list, shmemx_allow_t *allow, size_t *count)
{
    *count = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list) && i < ALLOWS; i++) {
        shmemx_allow_t *a = &allow[i];
        int kind;
        unsigned long long id;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "iIKz", &kind, &a->rights, &id, &a->token))
            return false;
        a->kind = (shmemx_allow_kind_t)kind;
        a->id = id;
        ++*count;
    }
    return true;
}

static bool note_export(struct ext_pool_block *block, const char *address, PyObject *key)
{
    if (!block)
        return ext_pool_keep_at(address);
    block->kept = true;
    if (!block->own)
        return true;
    return (block->keys || (block->keys = PyList_New(0))) && PyList_Append(block->keys, key) == 0;
}

/* (fn, block or None, address, bytes, rights, a list for allow, frozen, note) */
static PyObject *key_export(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("key_export", 8);
    shmemx_allow_t allow[ALLOWS];
    shmemx_export_attr_t attr = SHMEMX_EXPORT_ATTR;
    struct ext_pool_block *block = NULL;
    char text[SHMEMX_KEY_TEXT], *note;
    size_t bytes;
    int rights, rc;
    Py_ssize_t note_bytes;
    if (args[1] != Py_None && !(block = ext_pool_block_from(fn, args[1])))
        return NULL;
    const void *address = PyLong_AsVoidPtr(args[2]);
    if ((!address && PyErr_Occurred()) || !ext_size(fn, "bytes", args[3], &bytes) ||
        !ext_int(fn, "rights", args[4], &rights) || !take_allow(args[5], allow, &attr.allowed) ||
        PyBytes_AsStringAndSize(args[7], &note, &note_bytes) < 0)
        return NULL;
    attr.rights = (unsigned)rights;
    attr.allow = allow;
    attr.frozen = args[6] == Py_True;
    attr.note = note;
    attr.note_bytes = (size_t)note_bytes;
    if ((rc = shmemx_export(address, bytes, &attr, text)) < 0)
        return ext_fail_rc(fn, rc);
    PyObject *key = PyUnicode_FromString(text);
    if (key && !note_export(block, address, key))
        Py_CLEAR(key);
    return key;
}

/* (fn, pool) */
static PyObject *key_of_pool(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("key_of_pool", 2);
    struct ext_pool *pool = ext_pool_from(fn, args[1]);
    char text[SHMEMX_KEY_TEXT];
    if (!pool)
        return NULL;
    int rc = shmemx_pool_export(pool->pool, text);
    return rc < 0 ? ext_fail_rc(fn, rc) : PyUnicode_FromString(text);
}

/* (fn, key, move) */
static PyObject *key_revoke(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("key_revoke", 3);
    const char *key = key_from(fn, args[1]);
    int rc, move = args[2] == Py_True;
    if (!key)
        return NULL;
    EXT_UNLOCKED(rc, shmemx_revoke(key, move));
    return ext_answer(fn, rc);
}

/* (fn, key): what it opens and the pool, or None when this process is not attached to that */
static PyObject *key_what(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("key_what", 2);
    const char *key = key_from(fn, args[1]);
    shmemx_pool_t handle;
    int rc;
    if (!key)
        return NULL;
    EXT_UNLOCKED(rc, shmemx_key_what(key, &handle));
    struct ext_pool *pool = handle ? ext_pool_of(handle) : NULL;
    if (rc < 0 && rc != -ENOKEY)
        return ext_fail_rc(fn, rc);
    return rc < 0 || !pool ? Py_NewRef(Py_None) : Py_BuildValue("(iO)", rc, (PyObject *)pool);
}

static PyObject *key_token(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    char text[33];
    int rc = shmemx_token(text);
    return rc < 0 ? ext_fail_rc("token", rc) : PyUnicode_FromString(text);
}

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_key_methods[] = {
    FAST("key_import", key_import),
    FAST("key_atomic", key_atomic),
    FAST("key_export", key_export),
    FAST("key_of_pool", key_of_pool),
    FAST("key_revoke", key_revoke),
    FAST("key_what", key_what),
    {"key_token", key_token, METH_NOARGS, NULL},
    {0},
};

int ext_key_init(void)
{
    return live || (live = PyDict_New()) ? 0 : -1;
}
