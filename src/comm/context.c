// SPDX-License-Identifier: Apache-2.0
// The table of contexts: looked up without a lock, changed under the job's.
#include "context.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "job/parts.h"
#include "team.h"

/* A handle is the number of contexts so far, shifted, and a place in the table. Places 0 and 1 make no handles: those
   numbers are SHMEMI_CTX_INVALID and SHMEMI_CTX_DEFAULT. */
enum { PLACE_BITS = 12, PLACES = 1 << PLACE_BITS, FIRST_PLACE = 2 };
_Static_assert(PLACES - FIRST_PLACE == SHMEMI_CONTEXTS_MOST, "all places are used");

struct context {
    _Atomic uintptr_t handle; /* 0: free. Written last: [context] */
    _Atomic uintptr_t team;
    long options;
    pid_t maker; /* the thread */
};

struct shmemi_contexts {
    uint32_t live, next; /* where to look for a free place first */
    struct context at[PLACES];
};

/* Never begins again, whatever jobs there are: a handle of an earlier job is told too. */
static _Atomic uintptr_t made;

static struct shmemi_contexts *table_of(const struct shmemi_job *job)
{
    /* [contexts] acquire pairs with the release in need_table(). */
    return job->n ? atomic_load_explicit(&job->parts->contexts, memory_order_acquire) : NULL;
}

/* Under the lock. */
static struct shmemi_contexts *need_table(void)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    struct shmemi_contexts *table = table_of(shmemi_current);
    if (table)
        return table;
    table = calloc(1, sizeof *table);
    if (!table) {
        shmemi_fail(-ENOMEM, "no memory for the table of contexts");
        return NULL;
    }
    table->next = FIRST_PLACE;
    struct context *first = &table->at[SHMEMI_CTX_DEFAULT];
    atomic_store_explicit(&first->team, SHMEMI_TEAM_WORLD, memory_order_relaxed); /* published by [contexts] */
    atomic_store_explicit(&first->handle, SHMEMI_CTX_DEFAULT, memory_order_relaxed);
    atomic_store_explicit(&parts->contexts, table, memory_order_release); /* [contexts] pairs with table_of() */
    return table;
}

static struct context *find(uintptr_t ctx)
{
    struct shmemi_contexts *table = table_of(shmemi_current);
    if (!table || ctx == SHMEMI_CTX_INVALID)
        return NULL;
    struct context *c = &table->at[ctx & (PLACES - 1)];
    /* [context] acquire pairs with the release in take_place(). */
    return atomic_load_explicit(&c->handle, memory_order_acquire) == ctx ? c : NULL;
}

static int no_context(uintptr_t ctx)
{
    if (shmemi_current->n == 0)
        return shmemi_fail(-EPERM, "called %s", shmemi_no_job());
    if (ctx == SHMEMI_CTX_INVALID)
        return shmemi_fail(-EINVAL, "ctx is SHMEM_CTX_INVALID, which is no context");
    uintptr_t number = ctx >> PLACE_BITS;
    bool was = number >= 1 && number <= atomic_load_explicit(&made, memory_order_relaxed); /* only words a message */
    return shmemi_fail(-EINVAL, "ctx is %#zx, which is no context%s", (size_t)ctx, was ? " (it was destroyed)" : "");
}

static int count_of(const struct shmemi_contexts *table, uintptr_t team)
{
    int count = 0;
    for (int i = FIRST_PLACE; i < PLACES; i++)
        count += atomic_load_explicit(&table->at[i].handle, memory_order_relaxed) && /* under the lock */
                 atomic_load_explicit(&table->at[i].team, memory_order_relaxed) == team;
    return count;
}

static int refuse_if_full(const struct shmemi_contexts *table, uintptr_t team)
{
    int most = shmemi_team_contexts_most(team);
    if (table->live == SHMEMI_CONTEXTS_MOST)
        return shmemi_fail(-ENOSPC, "this PE has %d contexts, as many as there can be: destroy some",
                           SHMEMI_CONTEXTS_MOST);
    if (most < SHMEMI_CONTEXTS_MOST && count_of(table, team) >= most)
        return shmemi_fail(-ENOSPC,
                           "the team has %d contexts on this PE, as many as the num_contexts of its config: destroy "
                           "some, or create the team with more",
                           most);
    return 0;
}

static uintptr_t take_place(struct shmemi_contexts *table, uintptr_t team, long options)
{
    uint32_t place = table->next;
    while (atomic_load_explicit(&table->at[place].handle, memory_order_relaxed)) /* under the lock */
        place = place + 1 < PLACES ? place + 1 : FIRST_PLACE;
    struct context *c = &table->at[place];
    uintptr_t number = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1; /* needs to be unique only */
    uintptr_t handle = number << PLACE_BITS | place;
    atomic_store_explicit(&c->team, team, memory_order_relaxed); /* published by [context] */
    c->options = options;
    c->maker = gettid();
    atomic_store_explicit(&c->handle, handle, memory_order_release); /* [context] pairs with find() */
    table->live++;
    table->next = place + 1 < PLACES ? place + 1 : FIRST_PLACE;
    return handle;
}

static void give_place(struct shmemi_contexts *table, struct context *c)
{
    /* Whoever still uses the handle makes a mistake, and is told so from now on or not; nothing hangs on it. */
    atomic_store_explicit(&c->handle, 0, memory_order_relaxed);
    table->live--;
}

int shmemi_context_create(uintptr_t team, long options, uintptr_t *out)
{
    *out = SHMEMI_CTX_INVALID;
    if (shmemi_current->n == 0)
        return no_context(0);
    if (shmemi_team_n_pes(team) < 0)
        return shmemi_fail(-EINVAL,
                           team == SHMEMI_TEAM_INVALID ? "team is SHMEM_TEAM_INVALID, which is no team"
                                                       : "team is %#zx, which is no team",
                           (size_t)team);
    if (options & ~(long)SHMEMI_CTX_OPTIONS)
        return shmemi_fail(-EINVAL, "options is %#lx, which has bits that are no SHMEM_CTX_ option",
                           (unsigned long)options);
    pthread_mutex_t *lock = &shmemi_current->parts->lock;
    pthread_mutex_lock(lock);
    struct shmemi_contexts *table = need_table();
    int rc = table ? refuse_if_full(table, team) : -ENOMEM;
    if (rc == 0)
        *out = take_place(table, team, options);
    pthread_mutex_unlock(lock);
    return rc;
}

int shmemi_context_destroy(uintptr_t ctx)
{
    if (shmemi_current->n == 0)
        return no_context(ctx);
    if (ctx == SHMEMI_CTX_DEFAULT)
        return shmemi_fail(-EINVAL, "ctx is SHMEM_CTX_DEFAULT, which cannot be destroyed");
    pthread_mutex_t *lock = &shmemi_current->parts->lock;
    pthread_mutex_lock(lock);
    struct context *c = find(ctx);
    int rc = c ? 0 : no_context(ctx);
    if (c && (c->options & SHMEMI_CTX_PRIVATE) && c->maker != gettid())
        rc = shmemi_fail(-EPERM, "ctx is private to the thread that made it (%d), and only that one may destroy it",
                         (int)c->maker);
    if (rc == 0)
        give_place(table_of(shmemi_current), c);
    pthread_mutex_unlock(lock);
    return rc;
}

void shmemi_contexts_end_team(uintptr_t team)
{
    pthread_mutex_t *lock = &shmemi_current->parts->lock;
    pthread_mutex_lock(lock);
    struct shmemi_contexts *table = table_of(shmemi_current);
    for (int i = FIRST_PLACE; table && i < PLACES; i++) {
        struct context *c = &table->at[i];
        if (atomic_load_explicit(&c->handle, memory_order_relaxed) && /* under the lock */
            atomic_load_explicit(&c->team, memory_order_relaxed) == team)
            give_place(table, c);
    }
    pthread_mutex_unlock(lock);
}

int shmemi_context_team(uintptr_t ctx, uintptr_t *team)
{
    if (ctx == SHMEMI_CTX_DEFAULT && shmemi_current->n) {
        *team = SHMEMI_TEAM_WORLD;
        return 0;
    }
    struct context *c = find(ctx);
    if (!c)
        return no_context(ctx);
    *team = atomic_load_explicit(&c->team, memory_order_relaxed); /* published by [context] */
    return 0;
}

int shmemi_context_pe(const char *fn, uintptr_t ctx, const char *argument, int pe)
{
    uintptr_t team = SHMEMI_TEAM_INVALID;
    if (shmemi_context_team(ctx, &team) < 0)
        shmemi_die(fn, "%s", shmemi_last_error());
    int world = shmemi_team_world_pe(team, pe);
    if (world < 0)
        shmemi_die(fn, "%s is %d, but the team of ctx has PEs 0 to %d", argument, pe, shmemi_team_n_pes(team) - 1);
    return world;
}
