// SPDX-License-Identifier: Apache-2.0
// The job: joining, leaving, errors, and the check that lets Ctrl-C into a wait.
#include "ext.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ext_state ext_state;

static PyObject *make_error; /* (function's name, errno or kind, text) -> exception */

/* --- errors ------------------------------------------------------------------------------------------- */

static PyObject *raise(const char *fn, PyObject *code, const char *text)
{
    if (!code)
        return NULL;
    if (!make_error) {
        Py_DECREF(code);
        PyErr_Format(PyExc_RuntimeError, "shmem.%s: %s", fn, text);
        return NULL;
    }
    /* The text may quote bytes from anywhere. */
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *error = words ? PyObject_CallFunction(make_error, "sOO", fn, code, words) : NULL;
    Py_XDECREF(words);
    Py_DECREF(code);
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

PyObject *ext_fail(const char *fn, const char *kind, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return raise(fn, PyUnicode_FromString(kind), text);
}

/* The library names its own function first; here the caller's is named. */
static const char *without_function(const char *text)
{
    static const char ours[] = "shmemx_";
    const char *colon = strncmp(text, ours, sizeof ours - 1) ? NULL : strstr(text, ": ");
    const char *space = colon ? strchr(text, ' ') : NULL;
    return colon && space > colon ? colon + 2 : text;
}

PyObject *ext_fail_rc(const char *fn, int rc)
{
    if (PyErr_Occurred())
        return NULL;
    const char *text = without_function(shmemx_last_error());
    return raise(fn, PyLong_FromLong(-rc), *text ? text : strerror(-rc));
}

PyObject *ext_answer(const char *fn, int rc)
{
    if (rc < 0)
        return ext_fail_rc(fn, rc);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

bool ext_may_call(const char *fn)
{
    if (!ext_state.ending)
        return true;
    ext_fail(fn, EXT_BUSY, "another thread is in shmem.finalize");
    return false;
}

/* --- signals ------------------------------------------------------------------------------------------ */

static bool interpreter_ends(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

/* Called by waits, without the GIL. Signal handlers run in the main thread only; elsewhere this says no. */
static int interrupted(void)
{
    if (!Py_IsInitialized() || interpreter_ends())
        return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    int raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return raised;
}

/* --- the job ------------------------------------------------------------------------------------------ */

/* In a forked child nothing of the job is left, and the threads that were in calls are not there. */
static void in_child(void)
{
    ext_state.epoch++;
    ext_state.forks++;
    ext_state.in_flight = 0;
    ext_state.ending = false;
    ext_state.n = 0;
}

static void in_parent(void)
{
    ext_state.children++;
}

static PyObject *job_init(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rank, *n_pes, *uid, *heap_size, *kind;
    double patience;
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR;
    if (!PyArg_ParseTuple(args, "OOOOOd", &rank, &n_pes, &uid, &heap_size, &kind, &patience) || !ext_may_call("init"))
        return NULL;
    if ((rank != Py_None && !ext_int("init", "rank", rank, &attr.rank)) ||
        (n_pes != Py_None && !ext_int("init", "world_size", n_pes, &attr.n_pes)) ||
        (heap_size != Py_None && !ext_size("init", "heap_size", heap_size, &attr.heap_size)) ||
        (uid != Py_None && !(attr.uid = ext_text("init", "unique_id", uid))) ||
        (kind != Py_None && !(attr.heap_kind = ext_text("init", "device", kind))))
        return NULL;
    if (rank != Py_None && attr.rank < 0)
        return ext_fail("init", EXT_RANGE, "rank is %d, but PEs are numbered from 0", attr.rank);
    if (n_pes != Py_None && attr.n_pes < 1)
        return ext_fail("init", EXT_RANGE, "world_size is %d, but a job has at least one PE", attr.n_pes);
    bool first = !shmemx_initialized();
    int rc;
    EXT_CALL(rc, shmemx_init(&attr));
    if (rc < 0)
        return ext_fail_rc("init", rc);
    if (first && shmemx_initialized()) {
        ext_state.epoch++;
        ext_state.me = shmemx_my_pe();
        ext_state.n = shmemx_n_pes();
        ext_state.patience = patience;
    }
    return ext_answer("init", rc);
}

/* What belongs to the job that is over does not work any more. */
static void job_over(void)
{
    if (shmemx_initialized())
        return;
    ext_state.epoch++;
    ext_state.n = 0;
}

static PyObject *job_end(const char *fn, int (*end)(void))
{
    if (!ext_may_call(fn))
        return NULL;
    if (ext_state.in_flight)
        return ext_fail(fn, EXT_BUSY, "%zu other thread%s of this process %s still inside calls of shmem",
                        ext_state.in_flight, ext_state.in_flight == 1 ? "" : "s",
                        ext_state.in_flight == 1 ? "is" : "are");
    int rc;
    ext_state.ending = true;
    EXT_CALL(rc, end());
    ext_state.ending = false;
    job_over();
    return ext_answer(fn, rc);
}

static PyObject *job_finalize(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return job_end("finalize", shmemx_finalize);
}

static PyObject *job_leave(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return job_end("leave", shmemx_leave);
}

static PyObject *job_initialized(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyBool_FromLong(shmemx_initialized());
}

static PyObject *job_my_pe(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    int rc = shmemx_my_pe();
    return rc < 0 ? ext_fail_rc("my_pe", rc) : PyLong_FromLong(rc);
}

static PyObject *job_n_pes(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    int rc = shmemx_n_pes();
    return rc < 0 ? ext_fail_rc("n_pes", rc) : PyLong_FromLong(rc);
}

static PyObject *job_unique_id(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    shmemx_unique_id_t id;
    int rc = shmemx_get_unique_id(&id);
    return rc < 0 ? ext_fail_rc("get_unique_id", rc) : PyUnicode_FromString(id.text);
}

static PyObject *job_epoch(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyLong_FromUnsignedLong(ext_state.epoch);
}

static PyObject *set_make_error(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(make_error, Py_NewRef(function));
    Py_RETURN_NONE;
}

PyMethodDef ext_state_methods[] = {
    {"init", job_init, METH_VARARGS, NULL},
    {"finalize", job_finalize, METH_NOARGS, NULL},
    {"leave", job_leave, METH_NOARGS, NULL},
    {"is_initialized", job_initialized, METH_NOARGS, "True in a job, else False."},
    {"my_pe", job_my_pe, METH_NOARGS, NULL},
    {"n_pes", job_n_pes, METH_NOARGS, NULL},
    {"unique_id", job_unique_id, METH_NOARGS, NULL},
    {"epoch", job_epoch, METH_NOARGS, "A number that changes when a job begins or ends, and in a forked child."},
    {"set_make_error", set_make_error, METH_O, NULL},
    {0},
};

int ext_state_init(PyObject *module)
{
    (void)module;
    static bool done;
    if (!done && pthread_atfork(NULL, in_parent, in_child) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    done = true;
    shmemx_set_interrupt(interrupted); /* objects in pools are waited for without a job */
    return 0;
}
