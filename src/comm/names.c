// SPDX-License-Identifier: Apache-2.0
// Numbers as words.
#include "names.h"

#include "shmemx.h"

const char *shmemi_type_name(unsigned type)
{
    static const char *const names[] = {
        [SHMEMX_INT8] = "int8",          [SHMEMX_INT16] = "int16",         [SHMEMX_INT32] = "int32",
        [SHMEMX_INT64] = "int64",        [SHMEMX_UINT8] = "uint8",         [SHMEMX_UINT16] = "uint16",
        [SHMEMX_UINT32] = "uint32",      [SHMEMX_UINT64] = "uint64",       [SHMEMX_FLOAT] = "float32",
        [SHMEMX_DOUBLE] = "float64",     [SHMEMX_LONGDOUBLE] = "long double", [SHMEMX_COMPLEXF] = "complex64",
        [SHMEMX_COMPLEXD] = "complex128", [SHMEMX_FLOAT16] = "float16",    [SHMEMX_BFLOAT16] = "bfloat16",
        [SHMEMX_BYTES] = "bytes",
    };
    return type < sizeof names / sizeof *names ? names[type] : "unknown";
}

const char *shmemi_op_name(unsigned op)
{
    static const char *const names[] = {
        [SHMEMX_SUM] = "sum", [SHMEMX_PROD] = "product", [SHMEMX_MIN] = "min", [SHMEMX_MAX] = "max",
        [SHMEMX_AND] = "and", [SHMEMX_OR] = "or",        [SHMEMX_XOR] = "xor",
    };
    return op < sizeof names / sizeof *names ? names[op] : "unknown";
}

const char *shmemi_access_name(unsigned access)
{
    static const char *const names[] = {
        "LOCAL_ONLY",
        "REMOTE_READ",
        "REMOTE_WRITE",
        "REMOTE_READ | REMOTE_WRITE",
        "REMOTE_ATOMIC",
        "REMOTE_READ | REMOTE_ATOMIC",
        "REMOTE_WRITE | REMOTE_ATOMIC",
        "REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC",
    };
    return names[access & SHMEMX_REMOTE_ALL];
}
