// SPDX-License-Identifier: Apache-2.0
// Collectives on symmetric memory: every PE reads the others' sources and writes the others' destinations in place.
#include "coll.h"

#include <errno.h>

#include "address.h"
#include "await.h"
#include "base/copy.h"
#include "exchange.h"
#include "fold.h"
#include "job/parts.h"
#include "order.h"
#include "team.h"

static bool usable(const char *fn, uintptr_t team)
{
    if (shmemi_current->n == 0)
        shmemi_die(fn, "called %s", shmemi_no_job());
    return shmemi_team_n_pes(team) > 0;
}

void shmemi_barrier_all(const char *fn)
{
    if (shmemi_current->n == 0)
        shmemi_die(fn, "called %s", shmemi_no_job());
    shmemi_quiet();
    shmemi_require(fn, shmemi_exchange(NULL, 0));
}

int shmemi_team_sync(const char *fn, uintptr_t team)
{
    if (!usable(fn, team))
        return -1;
    shmemi_require(fn, shmemi_exchange(NULL, 0));
    return 0;
}

/* Folds elements [first, end) of all PEs' sources and writes them to all PEs' destinations. */
static void fold_slice(char *const *dests, const char *const *sources, size_t first, size_t end, enum shmemi_type type,
                       enum shmemi_reduce_op op)
{
    int n = shmemi_current->n;
    size_t size = shmemi_type_size(type), step = SHMEMI_FOLD_BYTES / size;
    const void *pieces[SHMEMI_PES_MOST];
    _Alignas(64) char piece[SHMEMI_FOLD_BYTES];
    for (size_t at = first; at < end; at += step) {
        size_t count = end - at < step ? end - at : step;
        for (int pe = 0; pe < n; pe++)
            pieces[pe] = sources[pe] + at * size;
        shmemi_fold(type, op, piece, pieces, n, count);
        for (int pe = 0; pe < n; pe++)
            memcpy(dests[pe] + at * size, piece, count * size);
    }
}

/* Each PE folds one slice, whose borders are on cache lines. In place is safe: slice s is read and written by PE s
 * only. */
static void reduce_large(const char *fn, void *dest, const void *source, size_t nelems, enum shmemi_type type,
                         enum shmemi_reduce_op op)
{
    const struct shmemi_job *job = shmemi_current;
    size_t size = shmemi_type_size(type), n = (size_t)job->n;
    char *dests[SHMEMI_PES_MOST];
    const char *sources[SHMEMI_PES_MOST];
    for (int pe = 0; pe < job->n; pe++) {
        dests[pe] = shmemi_remote(fn, dest, nelems * size, pe);
        sources[pe] = shmemi_remote(fn, source, nelems * size, pe);
    }
    size_t slice = shmemi_round_up((nelems + n - 1) / n, SHMEMI_LINE);
    size_t first = slice * (size_t)job->me, end = first + slice;
    shmemi_require(fn, shmemi_exchange(NULL, 0)); /* all sources are ready */
    if (first < nelems)
        fold_slice(dests, sources, first, end < nelems ? end : nelems, type, op);
    shmemi_require(fn, shmemi_exchange(NULL, 0)); /* all slices are written */
}

int shmemi_team_reduce(const char *fn, uintptr_t team, void *dest, const void *source, size_t nelems,
                       enum shmemi_type type, enum shmemi_reduce_op op)
{
    if (!usable(fn, team))
        return -1;
    const struct shmemi_job *job = shmemi_current;
    size_t size = shmemi_type_size(type), bytes;
    if (shmemi_mul_overflows(nelems, size, &bytes))
        shmemi_die(fn, "nreduce is %zu: that many elements of %zu bytes are more than an address space", nelems, size);
    if (!bytes) {
        shmemi_require(fn, shmemi_exchange(NULL, 0));
        return 0;
    }
    shmemi_remote(fn, dest, bytes, job->me); /* checks the addresses also where nobody else uses them */
    shmemi_remote(fn, source, bytes, job->me);
    if (bytes > SHMEMI_PUBLISH_BYTES) {
        reduce_large(fn, dest, source, nelems, type, op);
        return 0;
    }
    const void *pieces[SHMEMI_PES_MOST];
    shmemi_require(fn, shmemi_exchange(source, bytes));
    for (int pe = 0; pe < job->n; pe++)
        pieces[pe] = shmemi_published(pe);
    shmemi_fold(type, op, dest, pieces, job->n, nelems);
    return 0;
}

int shmemi_team_broadcast(const char *fn, uintptr_t team, void *dest, const void *source, size_t nelems, size_t size,
                          int root)
{
    if (!usable(fn, team))
        return -1;
    const struct shmemi_job *job = shmemi_current;
    size_t bytes;
    if (root < 0 || root >= job->n)
        shmemi_die(fn, "PE_root is %d, but the team has PEs 0 to %d", root, job->n - 1);
    if (shmemi_mul_overflows(nelems, size, &bytes))
        shmemi_die(fn, "nelems is %zu: that many elements of %zu bytes are more than an address space", nelems, size);
    if (bytes && job->me == root)
        for (int pe = 0; pe < job->n; pe++) {
            void *to = shmemi_remote(fn, dest, bytes, pe);
            if (bytes <= SHMEMI_PUBLISH_BYTES || job->n == 2 || pe == root)
                memmove(to, source, bytes); /* root's source and dest may be the same object */
        }
    shmemi_require(fn, shmemi_exchange(NULL, 0));
    if (bytes <= SHMEMI_PUBLISH_BYTES || job->n <= 2)
        return 0;
    if (job->me != root) /* many PEs read at the same time from the root's own copy */
        shmemi_copy(dest, shmemi_remote(fn, dest, bytes, root), bytes);
    shmemi_require(fn, shmemi_exchange(NULL, 0));
    return 0;
}

int shmemi_team_fcollect(const char *fn, uintptr_t team, void *dest, const void *source, size_t nelems, size_t size)
{
    if (!usable(fn, team))
        return -1;
    const struct shmemi_job *job = shmemi_current;
    size_t bytes, all;
    if (shmemi_mul_overflows(nelems, size, &bytes) || shmemi_mul_overflows(bytes, (size_t)job->n, &all))
        shmemi_die(fn, "nelems is %zu: that many elements of %zu bytes from %d PEs are more than an address space",
                   nelems, size, job->n);
    for (int k = 0; bytes && k < job->n; k++) {
        int pe = (job->me + k) % job->n; /* everybody begins elsewhere */
        char *to = shmemi_remote(fn, dest, all, pe);
        shmemi_copy(to + (size_t)job->me * bytes, source, bytes);
    }
    shmemi_require(fn, shmemi_exchange(NULL, 0));
    return 0;
}
