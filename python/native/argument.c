// SPDX-License-Identifier: Apache-2.0
// Arguments: numbers, memory, elements.
#include "ext.h"

#include <math.h>
#include <string.h>

/* A Python int, or NULL: whatever has __index__ will do, so numpy.int64 too. */
static PyObject *integer(const char *fn, const char *argument, PyObject *object)
{
    if (!PyIndex_Check(object)) {
        ext_fail(fn, EXT_TYPE, "%s is a %s, but must be an integer", argument, Py_TYPE(object)->tp_name);
        return NULL;
    }
    PyObject *number = PyNumber_Index(object);
    if (!number && PyErr_ExceptionMatches(PyExc_TypeError)) { /* of an array of several elements */
        PyErr_Clear();
        ext_fail(fn, EXT_TYPE, "%s is a %s, but must be an integer", argument, Py_TYPE(object)->tp_name);
    }
    return number;
}

const char *ext_text(const char *fn, const char *argument, PyObject *object)
{
    Py_ssize_t bytes;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &bytes) : NULL;
    if (text && strlen(text) == (size_t)bytes)
        return text;
    PyErr_Clear();
    if (!PyUnicode_Check(object))
        ext_fail(fn, EXT_TYPE, "%s is a %s, but must be text", argument, Py_TYPE(object)->tp_name);
    else
        ext_fail(fn, EXT_VALUE, "%s has %s in it", argument,
                 text ? "a zero character" : "half a character (a surrogate), which UTF-8 has not,");
    return NULL;
}

static bool out_of_range(const char *fn, const char *argument, PyObject *number, const char *must)
{
    PyObject *text = PyObject_Str(number); /* fails for numbers of thousands of digits */
    PyErr_Clear();
    ext_fail(fn, EXT_RANGE, "%s is %s, but must be %s", argument, text ? PyUnicode_AsUTF8(text) : "a huge number",
             must);
    Py_XDECREF(text);
    Py_DECREF(number);
    return false;
}

bool ext_size(const char *fn, const char *argument, PyObject *object, size_t *out)
{
    PyObject *number = integer(fn, argument, object);
    if (!number)
        return false;
    *out = PyLong_AsSize_t(number);
    if (*out == (size_t)-1 && PyErr_Occurred())
        return out_of_range(fn, argument, number, "a number of bytes from 0 to 2**64 - 1");
    Py_DECREF(number);
    return true;
}

bool ext_count(const char *fn, const char *argument, PyObject *object, size_t *out)
{
    PyObject *number = integer(fn, argument, object);
    if (!number)
        return false;
    *out = PyLong_AsSize_t(number);
    if (*out == 0 || (*out == (size_t)-1 && PyErr_Occurred()))
        return out_of_range(fn, argument, number, "from 1 to 2**64 - 1");
    Py_DECREF(number);
    return true;
}

bool ext_int(const char *fn, const char *argument, PyObject *object, int *out)
{
    PyObject *number = integer(fn, argument, object);
    if (!number)
        return false;
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    if (overflow || value < INT32_MIN || value > INT32_MAX)
        return out_of_range(fn, argument, number, "a 32-bit integer");
    *out = (int)value;
    Py_DECREF(number);
    return true;
}

bool ext_pe(const char *fn, const char *argument, PyObject *object, int *out)
{
    PyObject *number = integer(fn, argument, object);
    if (!number)
        return false;
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    if (ext_state.n == 0) {
        Py_DECREF(number);
        ext_fail_rc(fn, shmemx_my_pe());
        return false;
    }
    if (overflow || value < 0 || value >= ext_state.n) {
        char must[64];
        snprintf(must, sizeof must, "from 0 to %d: the job has %d PE%s", ext_state.n - 1, ext_state.n,
                 ext_state.n == 1 ? "" : "s");
        return out_of_range(fn, argument, number, must);
    }
    *out = (int)value;
    Py_DECREF(number);
    return true;
}

bool ext_timeout(const char *fn, PyObject *object, double otherwise, double *out)
{
    *out = otherwise;
    if (object == Py_None)
        return true;
    double seconds = PyFloat_AsDouble(object);
    if (seconds == -1.0 && PyErr_Occurred()) {
        bool huge = PyErr_ExceptionMatches(PyExc_OverflowError);
        if (!huge && !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            return false;
        PyErr_Clear();
        if (huge)
            ext_fail(fn, EXT_RANGE, "timeout is a huge number: for ever is None");
        else
            ext_fail(fn, EXT_TYPE, "timeout is a %s, but must be a number of seconds or None",
                     Py_TYPE(object)->tp_name);
        return false;
    }
    if (isnan(seconds) || seconds < 0) {
        char text[32];
        snprintf(text, sizeof text, "%g", seconds);
        ext_fail(fn, EXT_VALUE, "timeout is %s, but must be 0 or more seconds, or None", text);
        return false;
    }
    *out = seconds > 1e9 ? SHMEMX_FOREVER : seconds;
    return true;
}

/* --- memory ------------------------------------------------------------------------------------------- */

static bool from_pair(const char *fn, const char *argument, PyObject *pair, struct ext_memory *out)
{
    size_t address;
    if (!ext_size(fn, argument, PyTuple_GET_ITEM(pair, 0), &address) ||
        !ext_size(fn, argument, PyTuple_GET_ITEM(pair, 1), &out->size))
        return false;
    out->address = (char *)address; // NOLINT(performance-no-int-to-ptr)
    return true;
}

static bool from_region(const char *fn, const char *argument, PyObject *object, struct ext_memory *out)
{
    struct ext_region *region = ext_region_from(fn, argument, object);
    if (!region)
        return false;
    if (region->source == EXT_FOUND && region->info.owner != ext_state.me) {
        char label[96];
        ext_fail(fn, EXT_VALUE, "%s is %s of PE %d, but must be memory of this PE", argument,
                 ext_region_label(region, label, sizeof label), region->info.owner);
        return false;
    }
    out->address = region->info.address;
    out->size = region->info.size;
    out->region = (struct ext_region *)Py_NewRef(object);
    return true;
}

bool ext_memory_get(const char *fn, const char *argument, PyObject *object, bool writable, struct ext_memory *out)
{
    *out = (struct ext_memory){0};
    if (PyObject_TypeCheck(object, &ext_region_type))
        return from_region(fn, argument, object, out);
    if (ext_foreign_memory(object, out))
        return true;
    if (PyTuple_Check(object) && PyTuple_GET_SIZE(object) == 2)
        return from_pair(fn, argument, object, out);
    if (PyObject_GetBuffer(object, &out->buffer, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) < 0) {
        PyErr_Clear();
        out->buffer.obj = NULL;
        ext_fail(fn, EXT_BUFFER, "%s is a %s without a contiguous%s buffer", argument, Py_TYPE(object)->tp_name,
                 writable ? ", writable" : "");
        return false;
    }
    out->address = out->buffer.buf;
    out->size = (size_t)out->buffer.len;
    return true;
}

void ext_memory_release(struct ext_memory *memory)
{
    Py_CLEAR(memory->region);
    Py_CLEAR(memory->held);
    if (memory->buffer.obj)
        PyBuffer_Release(&memory->buffer);
}

bool ext_inside(const char *fn, const char *prefix, size_t offset, size_t size, size_t have, const char *what)
{
    if (size == 0) {
        ext_fail(fn, EXT_VALUE, "size is 0, but at least one byte must move");
        return false;
    }
    if (offset <= have && size <= have - offset)
        return true;
    ext_fail(fn, EXT_RANGE, "%soffset %zu + size %zu goes past the end of %s, which has %zu bytes", prefix, offset,
             size, what, have);
    return false;
}

/* --- elements ----------------------------------------------------------------------------------------- */

const char *const ext_type_names[] = {
    [SHMEMX_INT8] = "int8",
    [SHMEMX_INT16] = "int16",
    [SHMEMX_INT32] = "int32",
    [SHMEMX_INT64] = "int64",
    [SHMEMX_UINT8] = "uint8",
    [SHMEMX_UINT16] = "uint16",
    [SHMEMX_UINT32] = "uint32",
    [SHMEMX_UINT64] = "uint64",
    [SHMEMX_FLOAT] = "float32",
    [SHMEMX_DOUBLE] = "float64",
    [SHMEMX_LONGDOUBLE] = "longdouble",
    [SHMEMX_COMPLEXF] = "complex64",
    [SHMEMX_COMPLEXD] = "complex128",
    [SHMEMX_FLOAT16] = "float16",
    [SHMEMX_BFLOAT16] = "bfloat16",
    [SHMEMX_BYTES] = "bytes",
    NULL,
};

size_t ext_type_size(shmemx_type_t type)
{
    switch (type) {
    case SHMEMX_INT32:
    case SHMEMX_UINT32:
    case SHMEMX_FLOAT:
        return 4;
    case SHMEMX_INT64:
    case SHMEMX_UINT64:
    case SHMEMX_DOUBLE:
        return 8;
    default:
        return 0;
    }
}

static bool float_from(const char *fn, const char *argument, PyObject *object, shmemx_type_t type, union ext_value *out)
{
    double value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        ext_fail(fn, EXT_TYPE, "%s is a %s, but the elements are %s", argument, Py_TYPE(object)->tp_name,
                 ext_type_names[type]);
        return false;
    }
    if (type == SHMEMX_DOUBLE) {
        out->f64 = value;
        return true;
    }
    out->f32 = (float)value;
    if (isinf(out->f32) && !isinf(value)) {
        ext_fail(fn, EXT_RANGE, "%s is %g, which does not fit into float32", argument, value);
        return false;
    }
    return true;
}

bool ext_value_from(const char *fn, const char *argument, PyObject *object, shmemx_type_t type, union ext_value *out)
{
    static const struct {
        long long low;
        unsigned long long high;
        const char *must;
    } ranges[] = {
        [SHMEMX_INT32] = {INT32_MIN, INT32_MAX, "an int32"},
        [SHMEMX_INT64] = {INT64_MIN, INT64_MAX, "an int64"},
        [SHMEMX_UINT32] = {0, UINT32_MAX, "a uint32 (0 to 2**32 - 1)"},
        [SHMEMX_UINT64] = {0, UINT64_MAX, "a uint64 (0 to 2**64 - 1)"},
    };
    if (type == SHMEMX_FLOAT || type == SHMEMX_DOUBLE)
        return float_from(fn, argument, object, type, out);
    if (ext_type_size(type) == 0) {
        ext_fail(fn, EXT_TYPE,
                 "the elements are %s, but must be 32 or 64 bits wide: int32, int64, uint32, uint64, float32 "
                 "or float64",
                 ext_type_names[type]);
        return false;
    }
    PyObject *number = PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
    if (!number && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        ext_fail(fn, EXT_TYPE, "%s is a %s, but the elements are %s", argument, Py_TYPE(object)->tp_name,
                 ext_type_names[type]);
    }
    if (!number)
        return false;
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    unsigned long long bits = (unsigned long long)value;
    bool fits = overflow == 0 && value >= ranges[type].low && (value < 0 || bits <= ranges[type].high);
    if (overflow > 0 && type == SHMEMX_UINT64) {
        bits = PyLong_AsUnsignedLongLong(number);
        fits = !PyErr_Occurred();
    }
    if (!fits) {
        PyErr_Clear();
        return out_of_range(fn, argument, number, ranges[type].must);
    }
    Py_DECREF(number);
    if (ext_type_size(type) == 8)
        out->u64 = bits;
    else
        out->u32 = (uint32_t)bits;
    return true;
}

PyObject *ext_value_to(shmemx_type_t type, const union ext_value *value)
{
    switch (type) {
    case SHMEMX_INT32:
        return PyLong_FromLong(value->i32);
    case SHMEMX_INT64:
        return PyLong_FromLongLong(value->i64);
    case SHMEMX_UINT32:
        return PyLong_FromUnsignedLong(value->u32);
    case SHMEMX_UINT64:
        return PyLong_FromUnsignedLongLong(value->u64);
    case SHMEMX_FLOAT:
        return PyFloat_FromDouble((double)value->f32);
    case SHMEMX_DOUBLE:
        return PyFloat_FromDouble(value->f64);
    default:
        Py_RETURN_NONE;
    }
}
