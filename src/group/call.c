// SPDX-License-Identifier: Apache-2.0
// Calls in words.
#include <stdio.h>

#include "group_internal.h"

static const char *const kinds[SHMEMI_PG_KINDS] = {
    [SHMEMI_PG_BARRIER] = "barrier",      [SHMEMI_PG_ALL_REDUCE] = "all_reduce",
    [SHMEMI_PG_REDUCE] = "reduce",        [SHMEMI_PG_REDUCE_SCATTER] = "reduce_scatter",
    [SHMEMI_PG_BROADCAST] = "broadcast",  [SHMEMI_PG_ALL_GATHER] = "all_gather",
    [SHMEMI_PG_GATHER] = "gather",        [SHMEMI_PG_SCATTER] = "scatter",
    [SHMEMI_PG_ALL_TO_ALL] = "all_to_all"};

static const char *const ops[] = {"sum", "product", "min", "max", "and", "or", "xor", "mean"};

static const char *const types[] = {
    [SHMEMI_TYPE_INT8] = "int8",
    [SHMEMI_TYPE_INT16] = "int16",
    [SHMEMI_TYPE_INT32] = "int32",
    [SHMEMI_TYPE_INT64] = "int64",
    [SHMEMI_TYPE_UINT8] = "uint8",
    [SHMEMI_TYPE_UINT16] = "uint16",
    [SHMEMI_TYPE_UINT32] = "uint32",
    [SHMEMI_TYPE_UINT64] = "uint64",
    [SHMEMI_TYPE_FLOAT] = "float32",
    [SHMEMI_TYPE_DOUBLE] = "float64",
    [SHMEMI_TYPE_LONGDOUBLE] = "longdouble",
    [SHMEMI_TYPE_COMPLEXF] = "complex64",
    [SHMEMI_TYPE_COMPLEXD] = "complex128",
    [SHMEMI_TYPE_FLOAT16] = "float16",
    [SHMEMI_TYPE_BFLOAT16] = "bfloat16",
    [SHMEMI_PG_BYTES] = "bytes",
};

const char *shmemi_pg_kind_name(unsigned kind)
{
    return kind < SHMEMI_PG_KINDS ? kinds[kind] : "an unknown operation";
}

size_t shmemi_pg_element_bytes(unsigned type)
{
    return type == SHMEMI_PG_BYTES ? 1 : shmemi_type_size((enum shmemi_type)type);
}

const char *shmemi_pg_type_name(unsigned type)
{
    return type < sizeof types / sizeof *types ? types[type] : "elements of an unknown type";
}

const char *shmemi_pg_call_text(const struct shmemi_pg_call *call, char out[SHMEMI_PG_CALL_TEXT])
{
    const char *kind = shmemi_pg_kind_name(call->kind);
    unsigned long long count = call->count;
    switch (call->kind) {
    case SHMEMI_PG_ALL_REDUCE:
    case SHMEMI_PG_REDUCE_SCATTER:
    case SHMEMI_PG_REDUCE: {
        const char *op = call->op < sizeof ops / sizeof *ops ? ops[call->op] : "an unknown operation";
        int at =
            snprintf(out, SHMEMI_PG_CALL_TEXT, "%s of %llu %s (%s)", kind, count, shmemi_pg_type_name(call->type), op);
        if (call->kind == SHMEMI_PG_REDUCE && at < SHMEMI_PG_CALL_TEXT)
            snprintf(out + at, SHMEMI_PG_CALL_TEXT - (size_t)at, " to rank %u", call->root);
        break;
    }
    case SHMEMI_PG_BROADCAST:
    case SHMEMI_PG_GATHER:
    case SHMEMI_PG_SCATTER:
        snprintf(out, SHMEMI_PG_CALL_TEXT, "%s of %llu %s %s rank %u", kind, count, shmemi_pg_type_name(call->type),
                 call->kind == SHMEMI_PG_GATHER ? "to" : "from", call->root);
        break;
    case SHMEMI_PG_ALL_GATHER:
        snprintf(out, SHMEMI_PG_CALL_TEXT, "%s of %llu %s", kind, count, shmemi_pg_type_name(call->type));
        break;
    case SHMEMI_PG_ALL_TO_ALL:
        snprintf(out, SHMEMI_PG_CALL_TEXT, "%s of %s", kind, shmemi_pg_type_name(call->type));
        break;
    default:
        snprintf(out, SHMEMI_PG_CALL_TEXT, "%s", kind);
    }
    return out;
}
