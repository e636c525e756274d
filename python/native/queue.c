// SPDX-License-Identifier: Apache-2.0
// Queues. What can be done at once is done with the GIL; only waits let go of it.
#include "ext.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* What items are. */
enum kind {
    NUMBER, /* one of a type that C knows */
    ITEM,   /* item_bytes that the package makes of an item, and an item of */
    BYTES,  /* messages as they are */
    OBJECT, /* messages that the package makes of an object, and an object of */
};

struct queue {
    struct ext_sync sync;
    size_t item_bytes, most; /* of an item; of a message, at most */
    size_t capacity;         /* items that there can be at a time */
    enum kind kind;
    char code;  /* NUMBER: as in the module struct, native sizes */
    bool ended; /* by this object: others learn it when a batch is moved in */
    PyObject *encode, *decode;
    Py_buffer cell; /* NUMBER: of decode, an array of one item, in which C's number becomes NumPy's */
};

enum { STACK = 2048 };

static shmemx_queue_t handle_of(const char *fn, struct queue *q)
{
    return q->sync.handle && q->sync.pe < 0 ? q->sync.handle : ext_sync_handle(fn, (PyObject *)q);
}

/* --- arguments ---------------------------------------------------------------------------------------- */

/* (block, timeout), both perhaps missing, after `first` arguments of the call's own. */
static bool take_wait(const char *fn, PyObject *const *args, Py_ssize_t n, PyObject *names, Py_ssize_t first,
                      double *seconds)
{
    PyObject *given[2] = {NULL, NULL};
    static const char *const words[] = {"block", "timeout"};
    if (n > first + 2) {
        ext_fail(fn, EXT_TYPE, "%zd arguments, but it takes %zd and block and timeout", n, first);
        return false;
    }
    if (n < first) {
        ext_fail(fn, EXT_TYPE, "%zd arguments, but it needs %zd", n, first);
        return false;
    }
    for (Py_ssize_t i = first; i < n; i++)
        given[i - first] = args[i];
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int at = PyUnicode_CompareWithASCIIString(name, words[1]) == 0   ? 1
                 : PyUnicode_CompareWithASCIIString(name, words[0]) == 0 ? 0
                                                                         : -1;
        if (at < 0 || given[at]) {
            ext_fail(fn, EXT_TYPE, at < 0 ? "there is no argument '%s'" : "%s is given twice", PyUnicode_AsUTF8(name));
            return false;
        }
        given[at] = args[n + i];
    }
    if (!given[0] && !given[1]) {
        *seconds = SHMEMX_FOREVER;
        return true;
    }
    return ext_wait_seconds(fn, given[0], given[1], seconds);
}

/* --- numbers ------------------------------------------------------------------------------------------ */

union number {
    char bytes[8];
    union ext_value value;
};

static shmemx_type_t type_of(char code)
{
    switch (code) {
    case 'i':
        return SHMEMX_INT32;
    case 'I':
        return SHMEMX_UINT32;
    case 'q':
        return SHMEMX_INT64;
    case 'Q':
        return SHMEMX_UINT64;
    case 'f':
        return SHMEMX_FLOAT;
    default:
        return SHMEMX_DOUBLE;
    }
}

static bool number_from(const char *fn, char code, PyObject *item, union number *out)
{
    static const struct {
        char code;
        int low, high;
    } small[] = {{'b', INT8_MIN, INT8_MAX}, {'B', 0, UINT8_MAX}, {'h', INT16_MIN, INT16_MAX}, {'H', 0, UINT16_MAX}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        int value;
        if (small[i].code != code)
            continue;
        if (!ext_int(fn, "item", item, &value))
            return false;
        if (value < small[i].low || value > small[i].high) {
            ext_fail(fn, EXT_RANGE, "item is %d, but items are from %d to %d", value, small[i].low, small[i].high);
            return false;
        }
        memcpy(out->bytes, &value, sizeof value); /* little endian */
        return true;
    }
    return ext_value_from(fn, "item", item, type_of(code), &out->value);
}

/* Much faster than calling the scalar's type. Nobody else runs in between, for the GIL is held. */
static PyObject *number_to(const struct queue *q, const union number *number)
{
    memcpy(q->cell.buf, number->bytes, q->item_bytes);
    return PySequence_GetItem(q->decode, 0);
}

/* --- failures ----------------------------------------------------------------------------------------- */

static PyObject *fail(const char *fn, int rc, const char *kind)
{
    if (rc == -EPIPE && !PyErr_Occurred())
        return ext_fail(fn, EXT_CLOSED, "the queue was closed%s",
                        strcmp(kind, EXT_EMPTY) == 0 ? ", and is empty" : ": nothing can be put");
    if ((rc == -EAGAIN || rc == -ETIMEDOUT) && !PyErr_Occurred())
        return ext_fail(fn, kind, "the queue %s %s%s", rc == -EAGAIN ? "is" : "was", kind,
                        rc == -EAGAIN ? "" : " until the timeout");
    return ext_fail_rc(fn, rc);
}

static PyObject *put_answer(const char *fn, int rc)
{
    if (rc < 0)
        return fail(fn, rc, EXT_FULL);
    Py_RETURN_NONE;
}

/* --- putting ------------------------------------------------------------------------------------------ */

static int push(struct queue *q, shmemx_queue_t handle, const void *item, size_t bytes, double seconds)
{
    if (q->ended)
        return -EPIPE;
    q->sync.used = ext_state.forks;
    int rc = shmemx_queue_push(handle, item, bytes, 0);
    if (rc == -EAGAIN && seconds != 0)
        EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_push(handle, item, bytes, seconds));
    return rc;
}

static PyObject *put_buffer(const char *fn, struct queue *q, shmemx_queue_t handle, PyObject *object, double seconds)
{
    Py_buffer buffer;
    if (PyBytes_CheckExact(object))
        return put_answer(fn, push(q, handle, PyBytes_AS_STRING(object), (size_t)PyBytes_GET_SIZE(object), seconds));
    if (PyObject_GetBuffer(object, &buffer, PyBUF_CONTIG_RO) < 0) {
        PyErr_Clear();
        return ext_fail(fn, EXT_TYPE, "item is a %s, but must be bytes, or have a contiguous buffer",
                        Py_TYPE(object)->tp_name);
    }
    int rc = push(q, handle, buffer.buf, (size_t)buffer.len, seconds);
    PyObject *answer = put_answer(fn, rc);
    PyBuffer_Release(&buffer);
    return answer;
}

static PyObject *put_item(const char *fn, struct queue *q, PyObject *item, double seconds)
{
    shmemx_queue_t handle = handle_of(fn, q);
    union number number = {{0}};
    if (!handle)
        return NULL;
    switch (q->kind) {
    case NUMBER:
        if (!number_from(fn, q->code, item, &number))
            return NULL;
        return put_answer(fn, push(q, handle, &number, q->item_bytes, seconds));
    case BYTES:
        return put_buffer(fn, q, handle, item, seconds);
    default:
        break;
    }
    PyObject *made = PyObject_CallOneArg(q->encode, item);
    PyObject *answer = NULL;
    if (made && (handle = handle_of(fn, q))) /* which may run anybody's code */
        answer = put_buffer(fn, q, handle, made, seconds);
    Py_XDECREF(made);
    return answer;
}

static PyObject *queue_put(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    double seconds;
    if (!take_wait("Queue.put", args, n, names, 1, &seconds))
        return NULL;
    return put_item("Queue.put", (struct queue *)self, args[0], seconds);
}

static PyObject *queue_put_nowait(PyObject *self, PyObject *item)
{
    return put_item("Queue.put_nowait", (struct queue *)self, item, 0);
}

static long push_many(struct queue *q, shmemx_queue_t handle, const void *items, const size_t *sizes, size_t count,
                      double seconds)
{
    long rc;
    if (q->ended)
        return -EPIPE;
    q->sync.used = ext_state.forks;
    EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_push_many(handle, items, sizes, count, seconds));
    return rc;
}

static PyObject *answer_count(const char *fn, long rc)
{
    if (rc < 0 && rc != -EAGAIN && rc != -ETIMEDOUT)
        return fail(fn, (int)rc, EXT_FULL);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(rc < 0 ? 0 : rc);
}

static PyObject *put_messages(const char *fn, struct queue *q, shmemx_queue_t handle, PyObject *list, double seconds)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    size_t *sizes = PyMem_Malloc(((size_t)count + 1) * sizeof *sizes), total = 0;
    char *items = NULL, *at;
    for (Py_ssize_t i = 0; sizes && i < count; i++) {
        PyObject *one = PyList_GET_ITEM(list, i);
        if (!PyBytes_Check(one)) {
            PyMem_Free(sizes);
            return ext_fail(fn, EXT_TYPE, "item %zd is a %s, but must be bytes", i, Py_TYPE(one)->tp_name);
        }
        total += sizes[i] = (size_t)PyBytes_GET_SIZE(one);
    }
    if (!sizes || !(at = items = PyMem_Malloc(total + 1))) {
        PyMem_Free(sizes);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++, at += sizes[i - 1])
        memcpy(at, PyBytes_AS_STRING(PyList_GET_ITEM(list, i)), sizes[i]);
    PyObject *answer = answer_count(fn, push_many(q, handle, items, sizes, (size_t)count, seconds));
    PyMem_Free(items);
    PyMem_Free(sizes);
    return answer;
}

/* (what has item_bytes for each item in a contiguous buffer, or a list of bytes; block, timeout): how many */
static PyObject *queue_put_many(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Queue.put_many";
    struct queue *q = (struct queue *)self;
    shmemx_queue_t handle = handle_of(fn, q);
    double seconds;
    Py_buffer buffer;
    if (!handle || !take_wait(fn, args, n, NULL, 1, &seconds))
        return NULL;
    if (q->item_bytes == 0)
        return put_messages(fn, q, handle, args[0], seconds);
    if (PyObject_GetBuffer(args[0], &buffer, PyBUF_CONTIG_RO) < 0)
        return NULL;
    long rc = push_many(q, handle, buffer.buf, NULL, (size_t)buffer.len / q->item_bytes, seconds);
    PyObject *answer = answer_count(fn, rc);
    PyBuffer_Release(&buffer);
    return answer;
}

/* --- getting ------------------------------------------------------------------------------------------ */

static int pop(struct queue *q, shmemx_queue_t handle, void *item, size_t room, size_t *bytes, double seconds)
{
    int rc = shmemx_queue_pop(handle, item, room, bytes, 0);
    if (rc == -EAGAIN && seconds != 0)
        EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_pop(handle, item, room, bytes, seconds));
    return rc;
}

/* The handle's message as bytes. *rc says what went wrong, if NULL is returned without an exception. */
static PyObject *pop_message(struct queue *q, shmemx_queue_t handle, double seconds, int *rc)
{
    char stack[STACK];
    size_t bytes = 0;
    *rc = pop(q, handle, stack, sizeof stack, &bytes, seconds);
    if (*rc == 0)
        return PyBytes_FromStringAndSize(stack, (Py_ssize_t)bytes);
    while (*rc == -EMSGSIZE) { /* other consumers may take it, and the next one be longer */
        PyObject *message = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
        if (!message)
            return NULL;
        *rc = pop(q, handle, PyBytes_AS_STRING(message), bytes, &bytes, seconds);
        if (*rc == 0 && (Py_ssize_t)bytes != PyBytes_GET_SIZE(message))
            _PyBytes_Resize(&message, (Py_ssize_t)bytes);
        if (*rc == 0)
            return message;
        Py_DECREF(message);
    }
    return NULL;
}

/* NULL with an exception, or with *rc for what is none yet. */
static PyObject *get_item(const char *fn, struct queue *q, double seconds, int *rc)
{
    shmemx_queue_t handle = handle_of(fn, q);
    union number number = {{0}};
    PyObject *raw, *item;
    *rc = 0;
    if (!handle)
        return NULL;
    switch (q->kind) {
    case NUMBER:
        *rc = pop(q, handle, &number, sizeof number, NULL, seconds);
        return *rc < 0 ? NULL : number_to(q, &number);
    case BYTES:
        return pop_message(q, handle, seconds, rc);
    case OBJECT:
        raw = pop_message(q, handle, seconds, rc);
        break;
    default:
        raw = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)q->item_bytes);
        if (raw && (*rc = pop(q, handle, PyByteArray_AS_STRING(raw), q->item_bytes, NULL, seconds)) < 0)
            Py_CLEAR(raw);
    }
    if (!raw)
        return NULL;
    item = PyObject_CallOneArg(q->decode, raw);
    Py_DECREF(raw);
    return item;
}

static PyObject *got(const char *fn, PyObject *item, int rc)
{
    return item || rc == 0 ? item : fail(fn, rc, EXT_EMPTY);
}

static PyObject *queue_get(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    double seconds;
    int rc;
    if (!take_wait("Queue.get", args, n, names, 0, &seconds))
        return NULL;
    PyObject *item = get_item("Queue.get", (struct queue *)self, seconds, &rc);
    return got("Queue.get", item, rc);
}

static PyObject *queue_get_nowait(PyObject *self, PyObject *none)
{
    (void)none;
    int rc;
    PyObject *item = get_item("Queue.get_nowait", (struct queue *)self, 0, &rc);
    return got("Queue.get_nowait", item, rc);
}

/* Until the queue has ended. */
static PyObject *queue_next(PyObject *self)
{
    int rc;
    PyObject *item = get_item("Queue.get", (struct queue *)self, SHMEMX_FOREVER, &rc);
    return item || rc == 0 || (rc == -EPIPE && !PyErr_Occurred()) ? item : ext_fail_rc("Queue.get", rc);
}

static long pop_many(struct queue *q, shmemx_queue_t handle, void *items, size_t room, size_t *sizes, size_t most,
                     double seconds)
{
    long rc = shmemx_queue_pop_many(handle, items, room, sizes, most, 0);
    if (rc == -EAGAIN && seconds != 0)
        EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_pop_many(handle, items, room, sizes, most, seconds));
    return rc;
}

static PyObject *get_items(const char *fn, struct queue *q, shmemx_queue_t handle, size_t most, double seconds)
{
    if (most > q->capacity)
        most = q->capacity;
    PyObject *raw = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(most * q->item_bytes));
    if (!raw)
        return NULL;
    long rc = pop_many(q, handle, PyByteArray_AS_STRING(raw), most * q->item_bytes, NULL, most, seconds);
    if (rc > 0 && PyByteArray_Resize(raw, (Py_ssize_t)((size_t)rc * q->item_bytes)) == 0)
        return raw;
    Py_DECREF(raw);
    return rc < 0 ? fail(fn, (int)rc, EXT_EMPTY) : NULL;
}

enum { MESSAGES = 256 << 10 };

static PyObject *get_messages(const char *fn, struct queue *q, shmemx_queue_t handle, size_t most, double seconds)
{
    size_t room = q->most > MESSAGES ? q->most : MESSAGES;
    size_t count = most < 4096 ? most : 4096;
    size_t *sizes = PyMem_Malloc(count * sizeof *sizes);
    char *items = PyMem_Malloc(room), *at = items;
    PyObject *list = NULL;
    if (!sizes || !items) {
        PyErr_NoMemory();
    } else {
        long rc = pop_many(q, handle, items, room, sizes, count, seconds);
        if (rc < 0)
            fail(fn, (int)rc, EXT_EMPTY);
        else
            list = PyList_New(rc);
        for (long i = 0; list && i < rc; i++, at += sizes[i - 1]) {
            PyObject *one = PyBytes_FromStringAndSize(at, (Py_ssize_t)sizes[i]);
            if (one)
                PyList_SET_ITEM(list, i, one);
            else
                Py_CLEAR(list);
        }
    }
    PyMem_Free(items);
    PyMem_Free(sizes);
    return list;
}

/* (most, block, timeout): a bytearray, or a list of bytes */
static PyObject *queue_get_many(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Queue.get_many";
    struct queue *q = (struct queue *)self;
    shmemx_queue_t handle = handle_of(fn, q);
    double seconds;
    size_t most;
    if (!handle || !take_wait(fn, args, n, NULL, 1, &seconds) || !ext_count(fn, "n", args[0], &most))
        return NULL;
    return q->item_bytes ? get_items(fn, q, handle, most, seconds) : get_messages(fn, q, handle, most, seconds);
}

/* --- in place ----------------------------------------------------------------------------------------- */

/* A block over a slot. On the symmetric heap, whose memory then stays when the job ends, for whoever looks at it later.
 */
static PyObject *over_slot(const struct queue *q, void *slot, size_t bytes)
{
    if (q->sync.pe >= 0)
        shmemx_keep_heap();
    return ext_pool_block_over(q->sync.pool, slot, bytes);
}

/* (bytes, block, timeout): a block over the slot */
static PyObject *queue_reserve(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Queue.reserve";
    struct queue *q = (struct queue *)self;
    shmemx_queue_t handle = handle_of(fn, q);
    double seconds;
    size_t bytes;
    void *slot;
    int rc;
    if (!handle || !take_wait(fn, args, n, NULL, 1, &seconds) || !ext_size(fn, "size", args[0], &bytes))
        return NULL;
    q->sync.used = ext_state.forks;
    EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_reserve(handle, bytes, &slot, seconds));
    return rc < 0 ? fail(fn, rc, EXT_FULL) : over_slot(q, slot, bytes);
}

/* (bytes, or None to give it up) */
static PyObject *queue_commit(PyObject *self, PyObject *size)
{
    const char *fn = "Queue.commit";
    shmemx_queue_t handle = handle_of(fn, (struct queue *)self);
    size_t bytes;
    if (!handle || (size != Py_None && !ext_size(fn, "size", size, &bytes)))
        return NULL;
    return ext_answer(fn, size == Py_None ? shmemx_queue_abort(handle) : shmemx_queue_commit(handle, bytes));
}

/* (block, timeout): a block over the item */
static PyObject *queue_peek(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    const char *fn = "Queue.peek";
    struct queue *q = (struct queue *)self;
    shmemx_queue_t handle = handle_of(fn, q);
    const void *item;
    double seconds;
    size_t bytes;
    int rc;
    if (!handle || !take_wait(fn, args, n, NULL, 0, &seconds))
        return NULL;
    EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_peek(handle, &item, &bytes, seconds));
    return rc < 0 ? fail(fn, rc, EXT_EMPTY) : over_slot(q, (void *)(uintptr_t)item, bytes);
}

/* (whether it is taken) */
static PyObject *queue_unpeek(PyObject *self, PyObject *take)
{
    shmemx_queue_t handle = handle_of("Queue.peek", (struct queue *)self);
    if (!handle)
        return NULL;
    return ext_answer("Queue.peek", take == Py_True ? shmemx_queue_release(handle) : shmemx_queue_put_back(handle));
}

/* --- the queue ---------------------------------------------------------------------------------------- */

/* (timeout) */
static PyObject *queue_flush(PyObject *self, PyObject *timeout)
{
    struct queue *q = (struct queue *)self;
    shmemx_queue_t handle = handle_of("Queue.flush", q);
    double seconds;
    int rc;
    if (!handle || !ext_wait_seconds("Queue.flush", NULL, timeout, &seconds))
        return NULL;
    EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_flush(handle, seconds));
    return put_answer("Queue.flush", rc);
}

/* (timeout) */
static PyObject *queue_end(PyObject *self, PyObject *timeout)
{
    struct queue *q = (struct queue *)self;
    shmemx_queue_t handle = handle_of("Queue.close", q);
    double seconds;
    int rc;
    if (!handle || !ext_wait_seconds("Queue.close", NULL, timeout, &seconds))
        return NULL;
    EXT_SYNC_CALL(rc, &q->sync, shmemx_queue_end(handle, seconds));
    q->ended = q->ended || rc == 0;
    return put_answer("Queue.close", rc);
}

static PyObject *queue_qsize(PyObject *self, PyObject *none)
{
    (void)none;
    shmemx_queue_t handle = handle_of("Queue.qsize", (struct queue *)self);
    long length = handle ? shmemx_queue_length(handle) : 0;
    if (!handle)
        return NULL;
    return length < 0 ? ext_fail_rc("Queue.qsize", (int)length) : PyLong_FromLong(length);
}

/* The figures of shmemx_queue_stats_t: what it is, and what it has. */
static PyObject *queue_stats(PyObject *self, PyObject *none)
{
    (void)none;
    shmemx_queue_t handle = handle_of("Queue.stats", (struct queue *)self);
    shmemx_queue_stats_t s;
    int rc = handle ? shmemx_queue_stats(handle, &s) : 0;
    if (!handle || rc < 0)
        return handle ? ext_fail_rc("Queue.stats", rc) : NULL;
    return Py_BuildValue("((nnIdNnI)(KKKKKINn))", (Py_ssize_t)s.attr.item_bytes, (Py_ssize_t)s.attr.capacity,
                         s.attr.batch, s.attr.flush_seconds, PyBool_FromLong(s.attr.consumers == SHMEMX_QUEUE_MANY),
                         (Py_ssize_t)s.attr.max_message, s.attr.producers, (unsigned long long)s.length,
                         (unsigned long long)s.pushed, (unsigned long long)s.popped, (unsigned long long)s.skipped,
                         (unsigned long long)s.gathered, s.producers, PyBool_FromLong(s.ended), (Py_ssize_t)s.bytes);
}

/* The note that it was made with. */
static PyObject *queue_note(PyObject *self, PyObject *none)
{
    (void)none;
    shmemx_queue_t handle = handle_of("Queue", (struct queue *)self);
    shmemx_queue_stats_t s;
    int rc = handle ? shmemx_queue_stats(handle, &s) : 0;
    if (!handle || rc < 0)
        return handle ? ext_fail_rc("Queue", rc) : NULL;
    return PyBytes_FromStringAndSize(s.attr.note, (Py_ssize_t)s.attr.note_bytes);
}

/* (number of the kind, code, encode, decode): before it is used */
static PyObject *queue_set_items(PyObject *self, PyObject *args)
{
    struct queue *q = (struct queue *)self;
    int kind, code;
    PyObject *encode, *decode;
    shmemx_queue_stats_t s;
    shmemx_queue_t handle = handle_of("Queue", q);
    if (!handle || !PyArg_ParseTuple(args, "iCOO", &kind, &code, &encode, &decode))
        return NULL;
    int rc = shmemx_queue_stats(handle, &s);
    if (rc < 0)
        return ext_fail_rc("Queue", rc);
    q->item_bytes = s.attr.item_bytes;
    q->most = s.attr.max_message;
    q->capacity = s.attr.capacity;
    if ((q->item_bytes == 0) != (kind >= (int)BYTES) || (kind == (int)NUMBER && q->item_bytes > sizeof(union number)))
        return ext_fail("Queue", EXT_VALUE, "its note does not fit its items of %zu bytes", q->item_bytes);
    if (kind == (int)NUMBER && PyObject_GetBuffer(decode, &q->cell, PyBUF_CONTIG) < 0)
        return NULL;
    q->kind = (enum kind)kind;
    q->code = (char)code;
    Py_XSETREF(q->encode, Py_NewRef(encode));
    Py_XSETREF(q->decode, Py_NewRef(decode));
    Py_RETURN_NONE;
}

static void queue_dealloc(PyObject *self)
{
    struct queue *q = (struct queue *)self;
    Py_CLEAR(q->encode);
    if (q->cell.obj)
        PyBuffer_Release(&q->cell);
    Py_CLEAR(q->decode);
    ext_sync_type.tp_dealloc(self);
}

#define DOCUMENTED(name, function, flags, doc)                                                                         \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), flags, doc                                                      \
    }
#define CALL(name, function, flags) DOCUMENTED(name, function, flags, NULL)
static PyMethodDef queue_methods[] = {
    DOCUMENTED("put", queue_put, METH_FASTCALL | METH_KEYWORDS,
               "put(item, block=True, timeout=None)\n--\n\nPuts a copy of the item, and waits for room. Raises "
               "QueueFull, QueueClosed, WrongType, InvalidArgument."),
    DOCUMENTED("get", queue_get, METH_FASTCALL | METH_KEYWORDS,
               "get(block=True, timeout=None)\n--\n\nTakes the oldest item, and waits for one. Raises QueueEmpty, "
               "QueueClosed (and nothing is left)."),
    DOCUMENTED("put_nowait", queue_put_nowait, METH_O, "put_nowait(item, /)\n--\n\nAs put(), without waiting."),
    DOCUMENTED("get_nowait", queue_get_nowait, METH_NOARGS, "get_nowait()\n--\n\nAs get(), without waiting."),
    DOCUMENTED("qsize", queue_qsize, METH_NOARGS,
               "qsize()\n--\n\nHow many items are in it, about; those that are only gathered are not."),
    CALL("_put_many", queue_put_many, METH_FASTCALL),
    CALL("_get_many", queue_get_many, METH_FASTCALL),
    CALL("_reserve", queue_reserve, METH_FASTCALL),
    CALL("_commit", queue_commit, METH_O),
    CALL("_peek", queue_peek, METH_FASTCALL),
    CALL("_unpeek", queue_unpeek, METH_O),
    CALL("_flush", queue_flush, METH_O),
    CALL("_end", queue_end, METH_O),
    CALL("_stats", queue_stats, METH_NOARGS),
    CALL("_note", queue_note, METH_NOARGS),
    CALL("_set_items", queue_set_items, METH_VARARGS),
    {0},
};

PyTypeObject ext_queue_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.QueueBase",
    .tp_basicsize = sizeof(struct queue),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_base = &ext_sync_type,
    .tp_dealloc = queue_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = queue_next,
    .tp_methods = queue_methods,
};

/* (fn, class, pool, name or None, item_bytes, capacity, batch, flush_seconds, many, max_message, producers, note) */
static PyObject *queue_create(PyObject *module, PyObject *args)
{
    (void)module;
    const char *fn, *text = NULL;
    PyObject *cls, *holder, *name, *item_bytes, *capacity, *most;
    int batch, many, producers;
    Py_ssize_t note_bytes;
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    shmemx_queue_t handle;
    int rc;
    if (!PyArg_ParseTuple(args, "sOOOOOidpOiy#", &fn, &cls, &holder, &name, &item_bytes, &capacity, &batch,
                          &attr.flush_seconds, &many, &most, &producers, &attr.note, &note_bytes))
        return NULL;
    struct ext_pool *pool = ext_pool_from(fn, holder);
    if (!pool || !ext_size(fn, "item", item_bytes, &attr.item_bytes) ||
        !ext_size(fn, "capacity", capacity, &attr.capacity) || !ext_size(fn, "max_message", most, &attr.max_message) ||
        (name != Py_None && !(text = ext_text(fn, "name", name))))
        return NULL;
    attr.batch = (unsigned)batch;
    attr.producers = (unsigned)producers;
    attr.consumers = many ? SHMEMX_QUEUE_MANY : SHMEMX_QUEUE_ONE;
    attr.note_bytes = (size_t)note_bytes;
    if (!ext_home_begin(fn, pool))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_queue_create(pool->pool, text, &attr, &handle));
    ext_home_end(pool);
    return rc < 0 ? ext_fail_rc(fn, rc) : ext_sync_new(cls, pool, SHMEMX_IS_QUEUE, handle, name, !text);
}

PyMethodDef ext_queue_methods[] = {
    {"queue_create", queue_create, METH_VARARGS, NULL},
    {0},
};

int ext_queue_init(PyObject *module)
{
    return PyModule_AddType(module, &ext_queue_type);
}
