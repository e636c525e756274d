// SPDX-License-Identifier: Apache-2.0
// Collectives on any memory.
#include "ext.h"

/* (fn, memory, number of elements, type, operation) */
static PyObject *collective_all_reduce(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("all_reduce", 5);
    struct ext_memory memory;
    size_t count;
    int type, operation, rc;
    if (!ext_may_call(fn) || !ext_size(fn, "n", args[2], &count) || !ext_int(fn, "type", args[3], &type) ||
        !ext_int(fn, "op", args[4], &operation) || !ext_memory_get(fn, "x", args[1], true, &memory))
        return NULL;
    EXT_CALL(rc, shmemx_all_reduce(memory.address, count, (shmemx_type_t)type, (shmemx_op_t)operation));
    PyObject *answer = ext_answer(fn, rc);
    ext_memory_release(&memory);
    return answer;
}

/* (fn, memory, root) */
static PyObject *collective_broadcast(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("broadcast", 3);
    struct ext_memory memory;
    int root, rc;
    if (!ext_may_call(fn) || !ext_pe(fn, "root", args[2], &root) || !ext_memory_get(fn, "x", args[1], true, &memory))
        return NULL;
    EXT_CALL(rc, shmemx_broadcast(memory.address, memory.size, root));
    PyObject *answer = ext_answer(fn, rc);
    ext_memory_release(&memory);
    return answer;
}

/* (fn, destination, source) */
static PyObject *collective_all_gather(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("all_gather", 3);
    struct ext_memory dest, source;
    int rc = 0;
    if (!ext_may_call(fn))
        return NULL;
    if (ext_state.n == 0)
        return ext_fail_rc(fn, shmemx_my_pe());
    if (!ext_memory_get(fn, "out", args[1], true, &dest))
        return NULL;
    if (!ext_memory_get(fn, "x", args[2], false, &source)) {
        ext_memory_release(&dest);
        return NULL;
    }
    bool fits = source.size <= SIZE_MAX / (size_t)ext_state.n && dest.size == source.size * (size_t)ext_state.n;
    if (fits)
        EXT_CALL(rc, shmemx_all_gather(dest.address, source.address, source.size));
    else
        ext_fail(fn, EXT_VALUE, "out has %zu bytes, but must have the %zu of x for each of the %d PEs", dest.size,
                 source.size, ext_state.n);
    PyObject *answer = fits ? ext_answer(fn, rc) : NULL;
    ext_memory_release(&source);
    ext_memory_release(&dest);
    return answer;
}

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_collective_methods[] = {
    FAST("all_reduce", collective_all_reduce),
    FAST("broadcast", collective_broadcast),
    FAST("all_gather", collective_all_gather),
    {0},
};
