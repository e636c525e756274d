// SPDX-License-Identifier: Apache-2.0
// The module: its functions, types and constants.
#include "ext.h"

/* Puts (names[i], i) into a dict constant of the module. */
static int add_table(PyObject *module, const char *name, const char *const *names)
{
    PyObject *table = PyDict_New();
    for (long i = 0; table && names[i]; i++) {
        PyObject *number = PyLong_FromLong(i);
        if (!number || PyDict_SetItemString(table, names[i], number) < 0)
            Py_CLEAR(table);
        Py_XDECREF(number);
    }
    int rc = table ? PyModule_AddObjectRef(module, name, table) : -1;
    Py_XDECREF(table);
    return rc;
}

static int add_constants(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } constants[] = {
        {"LOCAL_ONLY", SHMEMX_LOCAL_ONLY},
        {"REMOTE_READ", SHMEMX_REMOTE_READ},
        {"REMOTE_WRITE", SHMEMX_REMOTE_WRITE},
        {"REMOTE_ATOMIC", SHMEMX_REMOTE_ATOMIC},
        {"EVENT_WRITE", SHMEMX_EVENT_WRITE},
        {"EVENT_READ", SHMEMX_EVENT_READ},
        {"EVENT_ANY", SHMEMX_EVENT_ANY},
        {"CMP_EQ", SHMEM_CMP_EQ},
        {"CMP_NE", SHMEM_CMP_NE},
        {"CMP_LT", SHMEM_CMP_LT},
        {"CMP_LE", SHMEM_CMP_LE},
        {"CMP_GT", SHMEM_CMP_GT},
        {"CMP_GE", SHMEM_CMP_GE},
        {"OWN", SHMEMX_OWN},
        {"KEEP", SHMEMX_KEEP},
        {"ZERO", SHMEMX_ZERO},
        {"RIGHTS_ALL", SHMEMX_RIGHTS_ALL},
    };
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0)
            return -1;
    static const char *const kinds[] = {[SHMEMX_KIND_MOVED] = "moved",
                                        [SHMEMX_KIND_SYMMETRIC] = "symmetric",
                                        [SHMEMX_KIND_COPIED] = "copied",
                                        [SHMEMX_KIND_DEVICE] = "device",
                                        [4] = NULL};
    static const char *const guards[] = {
        [SHMEMX_GUARD_NONE] = "none", [SHMEMX_GUARD_USER] = "user", [SHMEMX_GUARD_FULL] = "full", [3] = NULL};
    static const char *const operations[] = {
        [SHMEMX_SUM] = "sum", [SHMEMX_PROD] = "prod", [SHMEMX_MIN] = "min", [SHMEMX_MAX] = "max",
        [SHMEMX_AND] = "and", [SHMEMX_OR] = "or",     [SHMEMX_XOR] = "xor", [7] = NULL};
    static const char *const atomics[] = {
        [SHMEMX_ATOMIC_FETCH] = "fetch", [SHMEMX_ATOMIC_SET] = "set", [SHMEMX_ATOMIC_SWAP] = "swap",
        [SHMEMX_ATOMIC_CAS] = "cas",     [SHMEMX_ATOMIC_ADD] = "add", [SHMEMX_ATOMIC_AND] = "and",
        [SHMEMX_ATOMIC_OR] = "or",       [SHMEMX_ATOMIC_XOR] = "xor", [8] = NULL};
    static const char *const modes[] = {[SHMEMX_IMPORT_READ] = "r",        [SHMEMX_IMPORT_WRITE] = "rw",
                                        [SHMEMX_IMPORT_COW] = "cow",       [SHMEMX_IMPORT_SNAPSHOT] = "snapshot",
                                        [SHMEMX_IMPORT_ATOMIC] = "atomic", [5] = NULL};
    static const char *const key_atomics[] = {
        [SHMEMX_KEY_FETCH] = "fetch", [SHMEMX_KEY_SET] = "set", [SHMEMX_KEY_ADD] = "add",
        [SHMEMX_KEY_AND] = "and",     [SHMEMX_KEY_OR] = "or",   [SHMEMX_KEY_XOR] = "xor",
        [SHMEMX_KEY_SWAP] = "swap",   [SHMEMX_KEY_CAS] = "cas", [8] = NULL};
    if (add_table(module, "TYPES", ext_type_names) < 0 || add_table(module, "KINDS", kinds) < 0 ||
        add_table(module, "GUARDS", guards) < 0 || add_table(module, "OPERATIONS", operations) < 0 ||
        add_table(module, "IMPORT_MODES", modes) < 0 || add_table(module, "KEY_ATOMICS", key_atomics) < 0 ||
        add_table(module, "ATOMICS", atomics) < 0 || add_table(module, "SOURCES", ext_source_names) < 0)
        return -1;
    return 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "shmem._ext",
    .m_doc = "What the package shmem calls of the C library. Private.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__ext(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    PyMethodDef *tables[] = {ext_state_methods, ext_region_methods, ext_access_methods, ext_collective_methods,
                             ext_pool_methods,  ext_key_methods,    ext_sync_methods,   ext_queue_methods,
                             ext_group_methods, ext_device_methods, ext_foreign_methods};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (PyModule_AddFunctions(module, tables[i]) < 0)
            goto failed;
    if (ext_state_init(module) < 0 || ext_region_init(module) < 0 || ext_pool_init(module) < 0 || ext_key_init() < 0 ||
        ext_sync_init(module) < 0 || ext_queue_init(module) < 0 || ext_group_init(module) < 0 ||
        ext_device_init(module) < 0 || ext_foreign_init(module) < 0 || add_constants(module) < 0)
        goto failed;
    return module;
failed:
    Py_DECREF(module);
    return NULL;
}
