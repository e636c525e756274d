// SPDX-License-Identifier: Apache-2.0
// Process groups: addresses and counts in, calls of <shmemx_group.h> out. The package keeps the memory alive.
#include "ext.h"

#include <errno.h>
#include <string.h>

struct group {
    PyObject_HEAD shmemx_group_t group; /* NULL: closed */
    size_t calls;                       /* of other threads, without the GIL */
    int rank, ranks;
    unsigned long forks;
};

#define GROUP_CALL(rc, g, call)                                                                                        \
    do {                                                                                                               \
        (g)->calls++;                                                                                                  \
        EXT_UNLOCKED(rc, call);                                                                                        \
        (g)->calls--;                                                                                                  \
    } while (0)

/* ---- arguments: every method has the name of what the user called first ---- */

struct arguments {
    const char *fn;
    struct group *g;
    PyObject *const *list;
};

static bool begin(PyObject *self, PyObject *const *args, Py_ssize_t n, Py_ssize_t expected, struct arguments *out)
{
    out->g = (struct group *)self;
    out->list = args;
    if (n != expected) {
        PyErr_Format(PyExc_TypeError, "takes %zd arguments, not %zd", expected, n);
        return false;
    }
    out->fn = PyUnicode_AsUTF8(args[0]);
    if (!out->fn)
        return false;
    if (!out->g->group)
        ext_fail(out->fn, EXT_STALE, "the process group was destroyed");
    return out->g->group != NULL;
}

static bool address(const struct arguments *a, PyObject *object, void **out)
{
    size_t value;
    if (object == Py_None) {
        *out = NULL;
        return true;
    }
    if (!ext_size(a->fn, "address", object, &value))
        return false;
    *out = (void *)value; // NOLINT(performance-no-int-to-ptr)
    return true;
}

static bool elements(const struct arguments *a, int at, shmemx_group_of_t *out)
{
    int type;
    if (!ext_size(a->fn, "count", a->list[at], &out->count) || !ext_int(a->fn, "type", a->list[at + 1], &type))
        return false;
    out->type = (unsigned)type;
    return true;
}

static bool seconds(const struct arguments *a, int at, double *out)
{
    *out = PyFloat_AsDouble(a->list[at]);
    return !(*out == -1.0 && PyErr_Occurred());
}

/* A list with one number for each rank, or None. */
static bool numbers(const struct arguments *a, int at, size_t *out, bool *given)
{
    PyObject *list = a->list[at];
    *given = list != Py_None;
    if (!*given)
        return true;
    if (!PyList_Check(list) || PyList_GET_SIZE(list) != a->g->ranks) {
        ext_fail(a->fn, EXT_TYPE, "a list of %d is needed, one for each rank", a->g->ranks);
        return false;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (!ext_size(a->fn, "list", PyList_GET_ITEM(list, i), &out[i]))
            return false;
    return true;
}

struct addresses {
    void *list[SHMEMX_GROUP_MOST];
    bool given;
};

static bool addresses(const struct arguments *a, int at, struct addresses *out)
{
    _Static_assert(sizeof(size_t) == sizeof(void *), "an address is a size");
    return numbers(a, at, (size_t *)(void *)out->list, &out->given);
}

static void *const *outs_of(const struct addresses *a)
{
    return a->given ? (void *const *)a->list : NULL;
}

static const void *const *ins_of(const struct addresses *a)
{
    return a->given ? (const void *const *)(void *const)a->list : NULL;
}

/* ---- calls ---- */

/* (fn, seconds) */
static PyObject *group_barrier(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    double limit;
    int rc;
    if (!begin(self, args, n, 2, &a) || !seconds(&a, 1, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_barrier(a.g->group, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, address, count, type, op, seconds) */
static PyObject *group_all_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    void *x;
    double limit;
    int op, rc;
    if (!begin(self, args, n, 6, &a) || !address(&a, args[1], &x) || !elements(&a, 2, &of) ||
        !ext_int(a.fn, "op", args[4], &op) || !seconds(&a, 5, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_all_reduce(a.g->group, x, of, (unsigned)op, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, address, count, type, op, root, seconds) */
static PyObject *group_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    void *x;
    double limit;
    int op, root, rc;
    if (!begin(self, args, n, 7, &a) || !address(&a, args[1], &x) || !elements(&a, 2, &of) ||
        !ext_int(a.fn, "op", args[4], &op) || !ext_int(a.fn, "root", args[5], &root) || !seconds(&a, 6, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_reduce(a.g->group, x, of, (unsigned)op, root, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, out, ins, count, type, op, seconds) */
static PyObject *group_reduce_scatter(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    struct addresses ins;
    void *out;
    double limit;
    int op, rc;
    if (!begin(self, args, n, 7, &a) || !address(&a, args[1], &out) || !addresses(&a, 2, &ins) ||
        !elements(&a, 3, &of) || !ext_int(a.fn, "op", args[5], &op) || !seconds(&a, 6, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_reduce_scatter(a.g->group, out, ins_of(&ins), of, (unsigned)op, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, address, count, type, root, seconds) */
static PyObject *group_broadcast(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    void *x;
    double limit;
    int root, rc;
    if (!begin(self, args, n, 6, &a) || !address(&a, args[1], &x) || !elements(&a, 2, &of) ||
        !ext_int(a.fn, "root", args[4], &root) || !seconds(&a, 5, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_broadcast(a.g->group, x, of, root, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, outs, in, count, type, seconds) */
static PyObject *group_all_gather(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    struct addresses outs;
    void *in;
    double limit;
    int rc;
    if (!begin(self, args, n, 6, &a) || !addresses(&a, 1, &outs) || !address(&a, args[2], &in) ||
        !elements(&a, 3, &of) || !seconds(&a, 5, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_all_gather(a.g->group, outs_of(&outs), in, of, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, outs or None, in, count, type, root, seconds) */
static PyObject *group_gather(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    struct addresses outs;
    void *in;
    double limit;
    int root, rc;
    if (!begin(self, args, n, 7, &a) || !addresses(&a, 1, &outs) || !address(&a, args[2], &in) ||
        !elements(&a, 3, &of) || !ext_int(a.fn, "root", args[5], &root) || !seconds(&a, 6, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_gather(a.g->group, outs_of(&outs), in, of, root, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, out, ins or None, count, type, root, seconds) */
static PyObject *group_scatter(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    shmemx_group_of_t of;
    struct addresses ins;
    void *out;
    double limit;
    int root, rc;
    if (!begin(self, args, n, 7, &a) || !address(&a, args[1], &out) || !addresses(&a, 2, &ins) ||
        !elements(&a, 3, &of) || !ext_int(a.fn, "root", args[5], &root) || !seconds(&a, 6, &limit))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_scatter(a.g->group, out, ins_of(&ins), of, root, limit));
    return ext_answer(a.fn, rc);
}

/* (fn, outs, out counts, ins, in counts, type, seconds) */
static PyObject *group_all_to_all(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    struct addresses outs, ins;
    size_t out_counts[SHMEMX_GROUP_MOST], in_counts[SHMEMX_GROUP_MOST];
    bool given;
    double limit;
    int type, rc;
    if (!begin(self, args, n, 7, &a) || !addresses(&a, 1, &outs) || !numbers(&a, 2, out_counts, &given) ||
        !addresses(&a, 3, &ins) || !numbers(&a, 4, in_counts, &given) || !ext_int(a.fn, "type", args[5], &type) ||
        !seconds(&a, 6, &limit))
        return NULL;
    GROUP_CALL(rc, a.g,
               shmemx_group_all_to_all(a.g->group, outs_of(&outs), out_counts, ins_of(&ins), in_counts, (unsigned)type,
                                       limit));
    return ext_answer(a.fn, rc);
}

/* ---- messages ---- */

struct message {
    void *x;
    shmemx_group_of_t of;
    int peer, tag;
    double limit;
};

/* (fn, address, count, type, peer, tag, seconds) */
static bool message(const struct arguments *a, struct message *out)
{
    return address(a, a->list[1], &out->x) && elements(a, 2, &out->of) &&
           ext_int(a->fn, "rank", a->list[4], &out->peer) && ext_int(a->fn, "tag", a->list[5], &out->tag) &&
           seconds(a, 6, &out->limit);
}

static PyObject *group_send(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    struct message m;
    int rc;
    if (!begin(self, args, n, 7, &a) || !message(&a, &m))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_send(a.g->group, m.x, m.of, m.peer, m.tag, m.limit));
    return ext_answer(a.fn, rc);
}

/* Returns the rank whose message it was. */
static PyObject *group_recv(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    struct message m;
    int rc, source = -1;
    if (!begin(self, args, n, 7, &a) || !message(&a, &m))
        return NULL;
    GROUP_CALL(rc, a.g, shmemx_group_recv(a.g->group, m.x, m.of, m.peer, m.tag, m.limit, &source));
    return rc < 0 ? ext_fail_rc(a.fn, rc) : PyLong_FromLong(source);
}

/* One that was begun. The package keeps its memory, and this, until it is over. */
struct request {
    PyObject_HEAD struct group *g;
    shmemx_group_request_t request; /* NULL: it is over */
};

static PyTypeObject request_type;

static PyObject *wrap_request(struct group *g, shmemx_group_request_t made)
{
    struct request *r = (struct request *)request_type.tp_alloc(&request_type, 0);
    if (r) {
        r->g = (struct group *)Py_NewRef((PyObject *)g);
        r->request = made;
    }
    return (PyObject *)r;
}

static PyObject *group_send_begin(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    struct message m;
    shmemx_group_request_t made;
    if (!begin(self, args, n, 7, &a) || !message(&a, &m))
        return NULL;
    int rc;
    GROUP_CALL(rc, a.g, shmemx_group_send_begin(a.g->group, m.x, m.of, m.peer, m.tag, m.limit, &made));
    return rc < 0 ? ext_fail_rc(a.fn, rc) : wrap_request(a.g, made);
}

static PyObject *group_recv_begin(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct arguments a;
    struct message m;
    shmemx_group_request_t made;
    if (!begin(self, args, n, 7, &a) || !message(&a, &m))
        return NULL;
    int rc;
    GROUP_CALL(rc, a.g, shmemx_group_recv_begin(a.g->group, m.x, m.of, m.peer, m.tag, m.limit, &made));
    return rc < 0 ? ext_fail_rc(a.fn, rc) : wrap_request(a.g, made);
}

/* (fn, block): the rank whose message it was (or -1), or None: it is not over yet. */
static PyObject *request_end(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    struct request *r = (struct request *)self;
    struct arguments a;
    int rc, source = -1;
    if (!begin((PyObject *)r->g, args, n, 2, &a))
        return NULL;
    shmemx_group_request_t request = r->request;
    int block = PyObject_IsTrue(args[1]);
    if (block < 0)
        return NULL;
    if (!request)
        return ext_fail(a.fn, EXT_STALE, "the request is over, or another thread waits for it");
    r->request = NULL;
    GROUP_CALL(rc, a.g, shmemx_group_request_end(request, block, &source));
    if (rc == -EAGAIN) {
        r->request = request;
        Py_RETURN_NONE;
    }
    return rc < 0 ? ext_fail_rc(a.fn, rc) : PyLong_FromLong(source);
}

static void request_dealloc(PyObject *self)
{
    struct request *r = (struct request *)self;
    if (r->request && r->g->group && r->g->forks == ext_state.forks)
        shmemx_group_request_end(r->request, 0, NULL); /* one that is not over goes with the group */
    Py_DECREF((PyObject *)r->g);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef request_methods[] = {
    {"end", (PyCFunction)(void (*)(void))request_end, METH_FASTCALL, NULL},
    {0},
};

static PyTypeObject request_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.GroupRequest",
    .tp_basicsize = sizeof(struct request),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = request_dealloc,
    .tp_methods = request_methods,
};

/* ---- the object ---- */

static PyObject *group_key(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct group *g = (struct group *)self;
    char key[SHMEMX_KEY_TEXT];
    if (!g->group)
        return ext_fail("torch.ProcessGroup", EXT_STALE, "the process group was destroyed");
    int rc = shmemx_group_key(g->group, key);
    return rc < 0 ? ext_fail_rc("torch.ProcessGroup", rc) : PyUnicode_FromString(key);
}

/* In a forked child it is the parent's, and stays. */
static PyObject *group_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct group *g = (struct group *)self;
    shmemx_group_t group = g->group;
    int rc = 0;
    if (group && g->calls)
        return ext_fail("torch.ProcessGroup", EXT_BUSY, "another thread is in a collective of the process group");
    g->group = NULL;
    if (group && g->forks == ext_state.forks)
        EXT_UNLOCKED(rc, shmemx_group_close(group));
    return ext_answer("torch.ProcessGroup", rc);
}

static void group_dealloc(PyObject *self)
{
    struct group *g = (struct group *)self;
    if (g->group && g->forks == ext_state.forks)
        shmemx_group_close(g->group);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
}

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
static PyMethodDef methods[] = {
    FAST("barrier", group_barrier),
    FAST("all_reduce", group_all_reduce),
    FAST("reduce", group_reduce),
    FAST("reduce_scatter", group_reduce_scatter),
    FAST("broadcast", group_broadcast),
    FAST("all_gather", group_all_gather),
    FAST("gather", group_gather),
    FAST("scatter", group_scatter),
    FAST("all_to_all", group_all_to_all),
    FAST("send", group_send),
    FAST("recv", group_recv),
    FAST("send_begin", group_send_begin),
    FAST("recv_begin", group_recv_begin),
    {"key", group_key, METH_NOARGS, NULL},
    {"close", group_close, METH_NOARGS, NULL},
    {0},
};

static PyTypeObject group_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "shmem._ext.Group",
    .tp_basicsize = sizeof(struct group),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = group_dealloc,
    .tp_methods = methods,
};

static PyObject *wrap(shmemx_group_t group)
{
    struct group *g = (struct group *)group_type.tp_alloc(&group_type, 0);
    if (!g) {
        shmemx_group_close(group);
        return NULL;
    }
    g->group = group;
    g->rank = shmemx_group_rank(group);
    g->ranks = shmemx_group_ranks(group);
    g->forks = ext_state.forks;
    return (PyObject *)g;
}

/* (fn, ranks, staging) */
static PyObject *group_create(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("group_create", 3);
    int ranks, rc;
    size_t staging;
    shmemx_group_t group = NULL;
    if (!ext_int(fn, "ranks", args[1], &ranks) || !ext_size(fn, "staging", args[2], &staging))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_group_create(ranks, staging, &group));
    return rc < 0 ? ext_fail_rc(fn, rc) : wrap(group);
}

/* (fn, key, rank, ranks) */
static PyObject *group_join(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("group_join", 4);
    int rank, ranks, rc;
    shmemx_group_t group = NULL;
    const char *key = ext_text(fn, "key", args[1]);
    if (!key || !ext_int(fn, "rank", args[2], &rank) || !ext_int(fn, "ranks", args[3], &ranks))
        return NULL;
    EXT_UNLOCKED(rc, shmemx_group_join(key, rank, ranks, &group));
    return rc < 0 ? ext_fail_rc(fn, rc) : wrap(group);
}

PyMethodDef ext_group_methods[] = {
    FAST("group_create", group_create),
    FAST("group_join", group_join),
    {0},
};

int ext_group_init(PyObject *module)
{
    return PyModule_AddType(module, &group_type) < 0 ? -1 : PyModule_AddType(module, &request_type);
}
