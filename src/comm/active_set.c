// SPDX-License-Identifier: Apache-2.0
// A member tells others of its arrival by adding 1 to a word of their pSync, one word a step, and takes what it was
// told away again. So a peer that is a call ahead is counted, not lost, and in the end all words are as they were.
#include "active_set.h"

#include <errno.h>
#include <string.h>

#include "address.h"
#include "await.h"
#include "base/error.h"
#include "exchange.h"

/* pSync: a word for each step, then what this PE publishes in even and in odd rounds. */
enum { STEPS = 16, TURN_LONGS = SHMEMI_PUBLISH_BYTES / sizeof(long), BYTES = SHMEMI_SYNC_LONGS * sizeof(long) };
_Static_assert(STEPS + 2 * TURN_LONGS <= SHMEMI_SYNC_LONGS && SHMEMI_PES_MOST <= 1 << STEPS, "it fits");

static void check_set(const char *fn, int pe_start, int log_pe_stride, int pe_size)
{
    int n = shmemi_current->n;
    if (pe_start < 0 || pe_start >= n)
        shmemi_die(fn, "PE_start is %d, but the job has PEs 0 to %d", pe_start, n - 1);
    if (log_pe_stride < 0)
        shmemi_die(fn, "logPE_stride is %d, but must be 0 or more", log_pe_stride);
    if (pe_size < 1)
        shmemi_die(fn, "PE_size is %d, but an active set has one PE at least", pe_size);
    if (pe_size > 1 && (log_pe_stride > 30 || ((int64_t)pe_size - 1) << log_pe_stride >= n - pe_start))
        shmemi_die(fn, "PE_start %d, logPE_stride %d and PE_size %d reach beyond the last PE, which is %d", pe_start,
                   log_pe_stride, pe_size, n - 1);
}

void shmemi_active_set_begin(const char *fn, struct shmemi_group *g, int pe_start, int log_pe_stride, int pe_size,
                             long *psync)
{
    const struct shmemi_job *job = shmemi_current;
    if (job->n == 0)
        shmemi_die(fn, "called %s", shmemi_no_job());
    check_set(fn, pe_start, log_pe_stride, pe_size);
    *g = (struct shmemi_group){.size = pe_size,
                               .start = pe_start,
                               .stride = pe_size > 1 ? 1 << log_pe_stride : 0,
                               .arrival = SHMEMI_ARRIVE_ACTIVE_SET,
                               .fn = fn,
                               .psync = psync};
    g->me = shmemi_group_index(g, job->me);
    if (g->me < 0)
        shmemi_die(fn, "PE_start %d, logPE_stride %d and PE_size %d: this PE is not in that active set", pe_start,
                   log_pe_stride, pe_size);
    if ((uintptr_t)psync % sizeof *psync)
        shmemi_die(fn, "pSync is %p, which is not aligned to the %zu bytes of its type", (void *)psync, sizeof *psync);
    shmemi_remote(fn, "pSync", psync, BYTES, job->me);
    /* What others publish is in their own arrays: what stands here now is what the program put there. */
    g->base = psync[STEPS] == 0 ? 0 : SHMEMI_SYNC_VALUE;
    for (int i = STEPS; i < SHMEMI_SYNC_LONGS; i++)
        if (psync[i] != g->base)
            shmemi_die(fn, "pSync[%d] is %ld: every element must be SHMEM_SYNC_VALUE before the call", i, psync[i]);
}

void shmemi_active_set_end(struct shmemi_group *g)
{
    if (!g->published)
        return;
    shmemi_require(g->fn, shmemi_active_set_exchange(g, NULL, 0)); /* everybody has read */
    for (int i = STEPS; i < SHMEMI_SYNC_LONGS; i++)
        g->psync[i] = g->base;
}

static long *turn_of(long *psync, uint64_t round)
{
    return psync + STEPS + (round & 1) * TURN_LONGS;
}

static long *psync_of(const struct shmemi_group *g, int i)
{
    return shmemi_remote(g->fn, "pSync", g->psync, BYTES, shmemi_group_pe(g, i));
}

struct told {
    long *word, base;
};

static bool was_told(void *argument)
{
    const struct told *told = argument;
    /* [told] acquire pairs with the addition in shmemi_active_set_exchange(). */
    return __atomic_load_n(told->word, __ATOMIC_ACQUIRE) != told->base;
}

int shmemi_active_set_exchange(struct shmemi_group *g, const void *data, size_t bytes)
{
    long *own = psync_of(g, g->me);
    int rc = 0;
    SHMEMI_ASSERT(bytes <= TURN_LONGS * sizeof(long));
    g->round++;
    if (bytes) {
        memcpy(turn_of(own, g->round), data, bytes);
        g->published = true;
    }
    for (int step = 0, distance = 1; rc == 0 && distance < g->size; step++, distance *= 2) {
        int to = (g->me + distance) % g->size;
        /* [told] publishes all that this PE knows of; [sleep] sequentially consistent: see shmemi_wake_arrival(). */
        __atomic_fetch_add(psync_of(g, to) + step, 1, __ATOMIC_SEQ_CST);
        shmemi_wake_arrival(shmemi_group_pe(g, to));
        struct told told = {own + step, g->base};
        rc = shmemi_await_arrival(was_told, &told, shmemi_group_pe(g, (g->me - distance + g->size) % g->size));
        if (rc == 0)
            __atomic_fetch_sub(own + step, 1, __ATOMIC_ACQUIRE); /* [told] */
    }
    atomic_thread_fence(memory_order_seq_cst); /* as every exchange, also with one member */
    return rc;
}

const void *shmemi_active_set_published(const struct shmemi_group *g, int i)
{
    return turn_of(psync_of(g, i), g->round);
}
