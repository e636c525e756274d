// SPDX-License-Identifier: Apache-2.0
// One-sided access, atomics and waiting.
#include "ext.h"

#include <errno.h>
#include <string.h>

/* What a transfer needs to know of the other side. */
struct there {
    struct ext_region *region;
    shmemx_region_t handle;
    int pe;
};

/* A number was not used again, but a name may have been: ask anew next time. */
static void forget_stale(const struct there *there, int rc)
{
    if (rc == -ENOENT && there->region->at && there->pe >= 0)
        there->region->at[there->pe] = NULL;
}

static bool find_there(const char *fn, const char *argument, PyObject *region, PyObject *pe, PyObject *timeout,
                       struct there *out)
{
    double seconds;
    *out = (struct there){.pe = -1};
    return (out->region = ext_region_from(fn, argument, region)) && (pe == Py_None || ext_pe(fn, "pe", pe, &out->pe)) &&
           ext_timeout(fn, timeout, ext_state.patience, &seconds) &&
           (out->handle = ext_reach(fn, out->region, out->pe, seconds));
}

static bool check_there(const char *fn, const struct there *there, size_t offset, size_t size)
{
    char label[96];
    return ext_inside(fn, "", offset, size, there->region->info.size,
                      ext_region_label(there->region, label, sizeof label));
}

static bool check_here(const char *fn, const struct ext_memory *here, size_t offset, size_t size)
{
    char label[96];
    return ext_inside(fn, "src_", offset, size, here->size,
                      here->region ? ext_region_label(here->region, label, sizeof label) : "the local memory");
}

/* size None: as much as the local memory has from its offset on. */
static bool take_size(const char *fn, PyObject *size, const struct ext_memory *here, size_t here_offset, size_t *out)
{
    if (size != Py_None)
        return ext_size(fn, "size", size, out);
    *out = here_offset < here->size ? here->size - here_offset : 0;
    return here_offset < here->size || check_here(fn, here, here_offset, 1);
}

/* (fn, region, offset, size or None): the size in bytes, checked */
static PyObject *access_inside(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("inside", 4);
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    size_t offset, size;
    char label[96];
    if (!region || !ext_size(fn, "offset", args[2], &offset))
        return NULL;
    size = offset < region->info.size ? region->info.size - offset : 1;
    if (args[3] != Py_None && !ext_size(fn, "size", args[3], &size))
        return NULL;
    if (!ext_inside(fn, "", offset, size, region->info.size, ext_region_label(region, label, sizeof label)))
        return NULL;
    return PyLong_FromSize_t(size);
}

struct transfer {
    struct there there;
    struct ext_memory here;
    size_t there_offset, here_offset, size;
};

/* args: region, pe, offset, local memory, its offset, size, timeout */
static bool take_transfer(const char *fn, PyObject *const *args, bool into_here, struct transfer *t)
{
    if (!ext_size(fn, "offset", args[2], &t->there_offset) || !ext_size(fn, "src_offset", args[4], &t->here_offset) ||
        !ext_memory_get(fn, into_here ? "the destination" : "the source", args[3], into_here, &t->here))
        return false;
    if (take_size(fn, args[5], &t->here, t->here_offset, &t->size) &&
        find_there(fn, "region", args[0], args[1], args[6], &t->there) &&
        check_there(fn, &t->there, t->there_offset, t->size) && check_here(fn, &t->here, t->here_offset, t->size))
        return true;
    ext_memory_release(&t->here);
    return false;
}

static bool is_short(const struct transfer *t)
{
    return t->size < EXT_SMALL && t->there.region->info.kind < SHMEMX_KIND_COPIED;
}

/* Runs `call` with the GIL when that is the shorter way. */
#define TRANSFER(rc, t, call)                                                                                          \
    do {                                                                                                               \
        if (is_short(t)) {                                                                                             \
            rc = (call);                                                                                               \
        } else {                                                                                                       \
            EXT_CALL(rc, call);                                                                                        \
        }                                                                                                              \
    } while (0)

static PyObject *transferred(const char *fn, struct transfer *t, int rc)
{
    if (rc < 0)
        forget_stale(&t->there, rc);
    PyObject *answer = ext_answer(fn, rc);
    ext_memory_release(&t->here); /* may run code that calls, so the text was taken first */
    return answer;
}

/* (fn, region, pe or None, offset, source, source's offset, size or None, timeout) */
static PyObject *access_put(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("put", 8);
    struct transfer t;
    int rc;
    if (!take_transfer(fn, args + 1, false, &t))
        return NULL;
    TRANSFER(rc, &t, shmemx_put(t.there.handle, t.there_offset, t.here.address + t.here_offset, t.size));
    return transferred(fn, &t, rc);
}

/* (fn, region, pe or None, offset, destination, its offset, size or None, timeout) */
static PyObject *access_get(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("get", 8);
    struct transfer t;
    int rc;
    if (!take_transfer(fn, args + 1, true, &t))
        return NULL;
    TRANSFER(rc, &t, shmemx_get(t.here.address + t.here_offset, t.there.handle, t.there_offset, t.size));
    return transferred(fn, &t, rc);
}

struct signal {
    struct there there;
    size_t offset;
    union ext_value value;
    int op;
};

/* args: offset, value, 1 to add or 0 to set */
static bool take_signal(const char *fn, PyObject *const *args, struct signal *s)
{
    int add;
    if (!ext_size(fn, "sig_offset", args[0], &s->offset) ||
        !ext_value_from(fn, "value", args[1], SHMEMX_UINT64, &s->value) || !ext_int(fn, "op", args[2], &add))
        return false;
    s->op = add ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET;
    return true;
}

/* A word that streams and puts signal, and wait for: 64 bits, in a region whose elements are that, or bytes. */
static bool has_words(const char *fn, const struct ext_region *region)
{
    char label[96];
    switch (region->info.type) {
    case SHMEMX_INT64:
    case SHMEMX_UINT64:
    case SHMEMX_INT8:
    case SHMEMX_UINT8:
    case SHMEMX_BYTES:
        return true;
    default:
        ext_fail(fn, EXT_TYPE,
                 "%s has elements of type %s, but signals are words of uint64 or int64, or lie among bytes",
                 ext_region_label(region, label, sizeof label), ext_type_names[region->info.type]);
        return false;
    }
}

/* args: of put_signal */
static bool find_signal(const char *fn, PyObject *const *args, struct signal *s)
{
    return find_there(fn, "signal", args[8], args[2], args[7], &s->there) && has_words(fn, s->there.region) &&
           ext_inside(fn, "sig_", s->offset, sizeof s->value, s->there.region->info.size, "the signal's region");
}

/* As put, and then (signal, signal's offset, value, 1 to add or 0 to set) */
static PyObject *access_put_signal(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("put_signal", 12);
    struct transfer t;
    struct signal s;
    int rc;
    if (!take_signal(fn, args + 9, &s) || !take_transfer(fn, args + 1, false, &t))
        return NULL;
    if (!find_signal(fn, args, &s)) {
        ext_memory_release(&t.here);
        return NULL;
    }
    TRANSFER(rc, &t,
             shmemx_put_signal(t.there.handle, t.there_offset, t.here.address + t.here_offset, t.size, s.there.handle,
                               s.offset, s.value.u64, s.op));
    forget_stale(&s.there, rc);
    return transferred(fn, &t, rc);
}

/* --- on a stream: the caller keeps both ends until it is done ------------------------------------------- */

/* As put, and then the stream */
static PyObject *access_put_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("put_on", 9);
    struct transfer t;
    int rc;
    shmemx_stream_t stream = ext_stream_from(fn, args[8]);
    if (!stream || !take_transfer(fn, args + 1, false, &t))
        return NULL;
    EXT_CALL(rc, shmemx_put_on_stream(t.there.handle, t.there_offset, t.here.address + t.here_offset, t.size, stream));
    return transferred(fn, &t, rc);
}

/* As get, and then the stream */
static PyObject *access_get_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("get_on", 9);
    struct transfer t;
    int rc;
    shmemx_stream_t stream = ext_stream_from(fn, args[8]);
    if (!stream || !take_transfer(fn, args + 1, true, &t))
        return NULL;
    EXT_CALL(rc, shmemx_get_on_stream(t.here.address + t.here_offset, t.there.handle, t.there_offset, t.size, stream));
    return transferred(fn, &t, rc);
}

/* As put_signal, and then the stream */
static PyObject *access_put_signal_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("put_signal_on", 13);
    struct transfer t;
    struct signal s;
    int rc;
    shmemx_stream_t stream = ext_stream_from(fn, args[12]);
    if (!stream || !take_signal(fn, args + 9, &s) || !take_transfer(fn, args + 1, false, &t))
        return NULL;
    if (!find_signal(fn, args, &s)) {
        ext_memory_release(&t.here);
        return NULL;
    }
    EXT_CALL(rc, shmemx_put_signal_on_stream(t.there.handle, t.there_offset, t.here.address + t.here_offset, t.size,
                                             s.there.handle, s.offset, s.value.u64, s.op, stream));
    forget_stale(&s.there, rc);
    return transferred(fn, &t, rc);
}

static int signal_now(const struct signal *s)
{
    return shmemx_atomic(s->there.handle, s->offset, SHMEMX_UINT64,
                         s->op == SHMEM_SIGNAL_ADD ? SHMEMX_ATOMIC_ADD : SHMEMX_ATOMIC_SET, &s->value, NULL, NULL);
}

/* (fn, signal, pe or None, offset, value, 1 to add or 0 to set, timeout, stream or None: now) */
static PyObject *access_signal_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("signal_on", 8);
    struct signal s;
    int rc;
    shmemx_stream_t stream = args[7] == Py_None ? NULL : ext_stream_from(fn, args[7]);
    if ((!stream && args[7] != Py_None) || !take_signal(fn, args + 3, &s) ||
        !find_there(fn, "region", args[1], args[2], args[6], &s.there) || !has_words(fn, s.there.region) ||
        !check_there(fn, &s.there, s.offset, sizeof s.value))
        return NULL;
    EXT_CALL(rc,
             stream ? shmemx_signal_on_stream(s.there.handle, s.offset, s.value.u64, s.op, stream) : signal_now(&s));
    forget_stale(&s.there, rc);
    return ext_answer(fn, rc);
}

/* (fn, region, offset, SHMEM_CMP_, value, stream or None: now) */
static PyObject *access_wait_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("wait_on", 6);
    union ext_value value;
    size_t offset;
    int cmp, rc;
    char label[96];
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    shmemx_stream_t stream = region && args[5] != Py_None ? ext_stream_from(fn, args[5]) : NULL;
    if (!region || (!stream && args[5] != Py_None) || !has_words(fn, region) ||
        !ext_size(fn, "offset", args[2], &offset) || !ext_int(fn, "cmp", args[3], &cmp) ||
        !ext_value_from(fn, "value", args[4], SHMEMX_UINT64, &value) ||
        !ext_inside(fn, "", offset, sizeof value, region->info.size, ext_region_label(region, label, sizeof label)))
        return NULL;
    EXT_CALL(rc, stream ? shmemx_wait_on_stream(region->handle, offset, cmp, value.u64, stream)
                        : shmemx_wait_value(region->handle, offset, SHMEMX_UINT64, cmp, &value, SHMEMX_FOREVER));
    if (stream && rc == 0 && region->info.kind == SHMEMX_KIND_DEVICE)
        ext_stream_waits(args[5]);
    return ext_answer(fn, rc);
}

/* (fn, stream) */
static PyObject *on_stream(const char *fn, PyObject *object, int (*call)(shmemx_stream_t))
{
    int rc;
    shmemx_stream_t stream = ext_may_call(fn) ? ext_stream_from(fn, object) : NULL;
    if (!stream)
        return NULL;
    EXT_CALL(rc, call(stream));
    return ext_answer(fn, rc);
}

static PyObject *access_barrier_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("barrier_on", 2);
    return on_stream(fn, args[1], shmemx_barrier_on_stream);
}

static PyObject *access_quiet_on(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("quiet_on", 2);
    return on_stream(fn, args[1], shmemx_quiet_on_stream);
}

/* (fn, pe, offset, source, source's offset, size or None, timeout) */
static PyObject *access_put_to_waiting(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("put_to_waiting", 7);
    struct ext_memory here;
    size_t offset, here_offset, size;
    double timeout;
    int pe, rc = 0;
    if (!ext_may_call(fn) || !ext_pe(fn, "pe", args[1], &pe) || !ext_size(fn, "dst_offset", args[2], &offset) ||
        !ext_size(fn, "src_offset", args[4], &here_offset) || !ext_timeout(fn, args[6], SHMEMX_FOREVER, &timeout) ||
        !ext_memory_get(fn, "the source", args[3], false, &here))
        return NULL;
    bool right = take_size(fn, args[5], &here, here_offset, &size) && check_here(fn, &here, here_offset, size);
    if (right)
        EXT_CALL(rc, shmemx_put_to_waiting(pe, offset, here.address + here_offset, size, timeout));
    PyObject *answer = right ? ext_answer(fn, rc) : NULL;
    ext_memory_release(&here);
    return answer;
}

/* --- waiting ------------------------------------------------------------------------------------------ */

/* (fn, region, SHMEMX_EVENT_ bits, timeout) */
static PyObject *access_wait_event(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("wait", 4);
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    double timeout;
    int which, rc;
    if (!region || !ext_int(fn, "for_", args[2], &which) || !ext_timeout(fn, args[3], SHMEMX_FOREVER, &timeout))
        return NULL;
    EXT_CALL(rc, shmemx_wait_event(region->handle, which, timeout));
    return ext_answer(fn, rc);
}

/* (fn, region, offset, SHMEM_CMP_, value, timeout) */
static PyObject *access_wait_value(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("wait_until", 6);
    struct ext_region *region = ext_region_from(fn, "region", args[1]);
    union ext_value value;
    size_t offset;
    double timeout;
    int cmp, rc;
    char label[96];
    if (!region || !ext_size(fn, "offset", args[2], &offset) || !ext_int(fn, "cmp", args[3], &cmp) ||
        !ext_value_from(fn, "value", args[4], region->info.type, &value) ||
        !ext_timeout(fn, args[5], SHMEMX_FOREVER, &timeout) ||
        !ext_inside(fn, "", offset, ext_type_size(region->info.type), region->info.size,
                    ext_region_label(region, label, sizeof label)))
        return NULL;
    EXT_CALL(rc, shmemx_wait_value(region->handle, offset, region->info.type, cmp, &value, timeout));
    return ext_answer(fn, rc);
}

/* --- atomics ------------------------------------------------------------------------------------------ */

/* (fn, region, pe or None, operation, offset, value, expected, whether to return the old one, timeout) */
static PyObject *access_atomic(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    EXT_ARGUMENTS("atomic", 9);
    struct there there;
    union ext_value value = {0}, expected = {0}, old = {0};
    size_t offset;
    int operation, rc;
    char label[96];
    if (!ext_int(fn, "operation", args[3], &operation) || !ext_size(fn, "offset", args[4], &offset) ||
        !find_there(fn, "region", args[1], args[2], args[8], &there))
        return NULL;
    shmemx_type_t type = there.region->info.type;
    size_t size = ext_type_size(type);
    if (size == 0)
        return ext_fail(fn, EXT_TYPE,
                        "%s has elements of type %s, but atomics work on int32, int64, uint32, uint64, "
                        "float32 and float64",
                        ext_region_label(there.region, label, sizeof label), ext_type_names[type]);
    if (offset % size)
        return ext_fail(fn, EXT_VALUE, "offset is %zu bytes, which is no multiple of the %zu bytes of a %s", offset,
                        size, ext_type_names[type]);
    if (!check_there(fn, &there, offset, size) ||
        (args[5] != Py_None &&
         !ext_value_from(fn, operation == SHMEMX_ATOMIC_CAS ? "desired" : "value", args[5], type, &value)) ||
        (args[6] != Py_None && !ext_value_from(fn, "expected", args[6], type, &expected)))
        return NULL;
    rc = shmemx_atomic(there.handle, offset, type, (shmemx_atomic_t)operation, &value, &expected, &old);
    if (rc < 0) {
        forget_stale(&there, rc);
        return ext_fail_rc(fn, rc);
    }
    return args[7] == Py_True ? ext_value_to(type, &old) : Py_NewRef(Py_None);
}

/* --- ordering ----------------------------------------------------------------------------------------- */

static PyObject *plain_call(const char *fn, int (*call)(void))
{
    int rc;
    if (!ext_may_call(fn))
        return NULL;
    EXT_CALL(rc, call());
    return ext_answer(fn, rc);
}

static PyObject *access_barrier(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return plain_call("barrier", shmemx_barrier);
}

static PyObject *access_quiet(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return ext_may_call("quiet") ? ext_answer("quiet", shmemx_quiet()) : NULL;
}

static PyObject *access_fence(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return ext_may_call("fence") ? ext_answer("fence", shmemx_fence()) : NULL;
}

#define FAST(name, function)                                                                                           \
    {                                                                                                                  \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL                                             \
    }
PyMethodDef ext_access_methods[] = {
    FAST("inside", access_inside),
    FAST("put", access_put),
    FAST("get", access_get),
    FAST("put_signal", access_put_signal),
    FAST("put_on", access_put_on),
    FAST("get_on", access_get_on),
    FAST("put_signal_on", access_put_signal_on),
    FAST("signal_on", access_signal_on),
    FAST("wait_on", access_wait_on),
    FAST("barrier_on", access_barrier_on),
    FAST("quiet_on", access_quiet_on),
    FAST("put_to_waiting", access_put_to_waiting),
    FAST("wait_event", access_wait_event),
    FAST("wait_value", access_wait_value),
    FAST("atomic", access_atomic),
    {"barrier", access_barrier, METH_NOARGS,
     PyDoc_STR("barrier()\n--\n\n"
               "Waits until every PE is here. All transfers that any PE began before are then complete "
               "everywhere.\n\n"
               "Collective: every PE calls it, by one thread at a time.\n\n"
               "Raises: OwnerDied (a PE died or left), NotInitialized; whatever a signal handler raises, such as\n"
               "KeyboardInterrupt, after which collectives do not work any more.")},
    {"quiet", access_quiet, METH_NOARGS,
     PyDoc_STR("quiet()\n--\n\n"
               "Completes all transfers that this PE began: their effect is visible to every PE. Any thread "
               "may call it.")},
    {"fence", access_fence, METH_NOARGS,
     PyDoc_STR("fence()\n--\n\n"
               "Orders transfers: to each PE, those before it arrive before those after it. Any thread may "
               "call it.")},
    {0},
};
