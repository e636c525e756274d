// SPDX-License-Identifier: Apache-2.0
// Every PE copies a piece of its data to its stage, everybody waits for everybody, and everybody takes what it needs
// from all stages. The stage has two halves that take turns: a half is written again only after everybody has arrived
// once more, which nobody does before it has read.
#include "staged.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/copy.h"
#include "base/fold.h"
#include "exchange.h"
#include "job/parts.h"
#include "memory.h"
#include "names.h"

/* Half a stage: large enough that waiting is a small part, small enough that the stages of a few PEs stay in the cache.
 */
enum { HALF = 256 << 10 };

/* What PEs must agree in. */
struct call {
    uint32_t operation, type, op, root;
    uint64_t bytes;
};

enum { REDUCE = 1, BROADCAST, GATHER, NO_PART };

/* "all_reduce (sum) of 80 bytes of float32". A barrier publishes zeros. */
static void describe(const struct call *c, char *out, size_t size)
{
    if (c->operation == REDUCE)
        snprintf(out, size, "all_reduce (%s) of %zu bytes of %s", shmemi_op_name(c->op), (size_t)c->bytes,
                 shmemi_type_name(c->type));
    else if (c->operation == BROADCAST)
        snprintf(out, size, "broadcast of %zu bytes from PE %u", (size_t)c->bytes, c->root);
    else if (c->operation == GATHER)
        snprintf(out, size, "all_gather of %zu bytes each", (size_t)c->bytes);
    else
        snprintf(out, size, "%s",
                 c->operation == NO_PART ? "nothing, because it cannot take part"
                 : c->operation          ? "something else"
                                         : "a barrier");
}

static int compare_calls(const struct call *mine)
{
    const struct shmemi_job *job = shmemi_current;
    for (int pe = 0; pe < job->n; pe++) {
        char own[96], others[96];
        struct call theirs;
        memcpy(&theirs, shmemi_published(pe), sizeof theirs);
        if (memcmp(&theirs, mine, sizeof theirs) == 0)
            continue;
        describe(mine, own, sizeof own);
        describe(&theirs, others, sizeof others);
        return shmemi_fail(-EINVAL, "PE %d calls for %s, but PE %d for %s: all PEs must call alike", job->me, own, pe,
                           others);
    }
    return 0;
}

int shmemi_take_no_part(int rc)
{
    const struct call none = {.operation = NO_PART};
    int met = shmemi_current->n ? shmemi_exchange(&none, sizeof none) : 0;
    return met < 0 ? met : rc;
}

/* Compares the calls of all PEs, and makes the stage at the first use. */
static int begin(const struct call *mine)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    int rc = shmemi_exchange(mine, sizeof *mine);
    if (rc == 0)
        rc = compare_calls(mine);
    if (rc == 0 && mine->bytes && !parts->stage)
        rc = shmemi_allocate(2 * HALF, 0, (void **)&parts->stage);
    return rc;
}

/* PE pe's stage, the half of this turn. */
static char *half(int pe, size_t turn)
{
    const struct shmemi_job *job = shmemi_current;
    size_t offset = (size_t)(job->parts->stage - job->heap);
    return job->window + (size_t)pe * job->stride + offset + (turn & 1) * HALF;
}

/* Whether there can be so much memory at that address. */
static int check_memory(const char *name, const void *data, size_t bytes)
{
    if (bytes && !data)
        return shmemi_fail(-EINVAL, "%s is NULL, but there are %zu bytes", name, bytes);
    if ((uintptr_t)data + bytes < (uintptr_t)data || bytes > SIZE_MAX / 2)
        return shmemi_fail(-EINVAL, "%s: %zu bytes at %p go past the end of the address space", name, bytes, data);
    return 0;
}

static int need_job(void)
{
    return shmemi_current->n ? 0 : shmemi_fail(-EPERM, "called %s", shmemi_no_job());
}

/* --- all-reduce ----------------------------------------------------------------------------------------------------
 */

/* out[first .. end) = fold of the PEs' stages. */
static void fold_stages(char *out, size_t first, size_t end, size_t turn, enum shmemi_type type,
                        enum shmemi_reduce_op op)
{
    int n = shmemi_current->n;
    size_t size = shmemi_type_size(type), step = SHMEMI_FOLD_BYTES / size;
    const void *pieces[SHMEMI_PES_MOST];
    for (size_t at = first; at < end; at += step) {
        for (int pe = 0; pe < n; pe++)
            pieces[pe] = half(pe, turn) + at * size;
        shmemi_fold(type, op, out + at * size, pieces, n, end - at < step ? end - at : step);
    }
}

/* With few PEs each folds everything itself; with more, each folds a slice and takes the others' from them. */
enum { FEW = 4 };

static int reduce_piece(char *data, size_t n, size_t turn, enum shmemi_type type, enum shmemi_reduce_op op)
{
    const struct shmemi_job *job = shmemi_current;
    size_t size = shmemi_type_size(type), slice = shmemi_round_up((n + (size_t)job->n - 1) / (size_t)job->n, 64);
    char *own = half(job->me, turn);
    shmemi_copy(own, data, n * size);
    int rc = shmemi_exchange(NULL, 0);
    if (rc < 0)
        return rc;
    if (job->n <= FEW) {
        fold_stages(data, 0, n, turn, type, op);
        return 0;
    }
    size_t first = slice * (size_t)job->me, end = first + slice < n ? first + slice : n;
    if (first < end)
        fold_stages(own, first, end, turn, type, op);
    if ((rc = shmemi_exchange(NULL, 0)) < 0)
        return rc;
    for (int k = 0; k < job->n; k++) {
        int pe = (job->me + k) % job->n;
        size_t from = slice * (size_t)pe, to = from + slice < n ? from + slice : n;
        if (from < to)
            shmemi_copy(data + from * size, half(pe, turn) + from * size, (to - from) * size);
    }
    return 0;
}

int shmemi_all_reduce(void *data, size_t n, enum shmemi_type type, enum shmemi_reduce_op op)
{
    size_t size = shmemi_type_size(type), bytes;
    int rc = need_job();
    if (rc < 0)
        return rc;
    if (!shmemi_foldable(type, op))
        return shmemi_fail(-EINVAL, "op: %s does not exist for %s", shmemi_op_name((unsigned)op),
                           shmemi_type_name((unsigned)type));
    if (shmemi_mul_overflows(n, size, &bytes))
        return shmemi_fail(-EINVAL, "data: %zu elements at %p cannot be", n, data);
    if ((rc = check_memory("data", data, bytes)) < 0)
        return rc;
    struct call mine = {.operation = REDUCE, .type = (uint32_t)type, .op = (uint32_t)op, .bytes = bytes};
    struct {
        struct call call;
        char data[SHMEMI_PUBLISH_BYTES - sizeof(struct call)];
    } small = {.call = mine};
    if (bytes > sizeof small.data) {
        rc = begin(&mine);
        for (size_t at = 0, turn = 0; rc == 0 && at < n; at += HALF / size, turn++)
            rc = reduce_piece((char *)data + at * size, n - at < HALF / size ? n - at : HALF / size, turn, type, op);
        return rc;
    }
    if (bytes)
        memcpy(small.data, data, bytes);
    if ((rc = shmemi_exchange(&small, sizeof small)) < 0 || (rc = compare_calls(&mine)) < 0)
        return rc;
    const void *pieces[SHMEMI_PES_MOST];
    for (int pe = 0; pe < shmemi_current->n; pe++)
        pieces[pe] = (const char *)shmemi_published(pe) + sizeof mine;
    if (n)
        shmemi_fold(type, op, data, pieces, shmemi_current->n, n);
    return 0;
}

/* --- broadcast and gather --------------------------------------------------------------------------------------------
 */

int shmemi_broadcast(void *data, size_t bytes, int root)
{
    const struct shmemi_job *job = shmemi_current;
    int rc = need_job();
    if (rc < 0)
        return rc;
    if (root < 0 || root >= job->n)
        return shmemi_fail(-EINVAL, "root is %d, but the job has PEs 0 to %d", root, job->n - 1);
    if ((rc = check_memory("data", data, bytes)) < 0)
        return rc;
    struct call mine = {.operation = BROADCAST, .root = (uint32_t)root, .bytes = bytes};
    rc = begin(&mine);
    for (size_t at = 0, turn = 0; rc == 0 && at < bytes; at += HALF, turn++) {
        size_t piece = bytes - at < HALF ? bytes - at : HALF;
        if (job->me == root)
            shmemi_copy(half(root, turn), (char *)data + at, piece);
        rc = shmemi_exchange(NULL, 0);
        if (rc == 0 && job->me != root)
            shmemi_copy((char *)data + at, half(root, turn), piece);
    }
    return rc;
}

int shmemi_all_gather(void *dest, const void *source, size_t bytes)
{
    const struct shmemi_job *job = shmemi_current;
    int rc = need_job();
    if (rc < 0)
        return rc;
    size_t all;
    if (shmemi_mul_overflows(bytes, (size_t)job->n, &all))
        all = SIZE_MAX;
    if ((rc = check_memory("source", source, bytes)) < 0 || (rc = check_memory("dest", dest, all)) < 0)
        return rc;
    struct call mine = {.operation = GATHER, .bytes = bytes};
    rc = begin(&mine);
    for (size_t at = 0, turn = 0; rc == 0 && at < bytes; at += HALF, turn++) {
        size_t piece = bytes - at < HALF ? bytes - at : HALF;
        shmemi_copy(half(job->me, turn), (const char *)source + at, piece);
        rc = shmemi_exchange(NULL, 0);
        for (int pe = 0; rc == 0 && pe < job->n; pe++)
            shmemi_copy((char *)dest + (size_t)pe * bytes + at, half(pe, turn), piece);
    }
    return rc;
}
