// SPDX-License-Identifier: Apache-2.0
// The standard's point-to-point waits and tests, over one element or many.
#include "wait.h"

#include <errno.h>

#include "await.h"
#include "base/clock.h"
#include "job/ending.h"
#include "job/parts.h"

void shmemi_require(const char *fn, int rc)
{
    if (shmemi_likely(rc >= 0))
        return;
    if (rc == -EOWNERDEAD)
        shmemi_die_of_peer(fn, shmemi_last_error());
    shmemi_die(fn, "%s", shmemi_last_error());
}

static void check_call(const char *fn, int cmp)
{
    if (shmemi_unlikely(shmemi_current->n == 0))
        shmemi_die(fn, "called %s", shmemi_no_job());
    if (shmemi_unlikely(cmp < SHMEMI_CMP_EQ || cmp > SHMEMI_CMP_LE))
        shmemi_die(fn, "cmp is %d, which is none of the SHMEM_CMP_ operators", cmp);
}

void shmemi_wait(const char *fn, bool (*done)(void *), void *argument)
{
    struct shmemi_await wait = {.done = done, .argument = argument, .pe = -1, .deadline = SHMEMI_NO_DEADLINE};
    shmemi_require(fn, shmemi_await(&wait));
}

struct one {
    const volatile void *ivar;
    int cmp;
    const void *value;
    shmemi_compare compare;
};

/* What the waiter reads next must not be older than the word it waited for. */
static bool seen(bool satisfied)
{
    if (satisfied)
        atomic_thread_fence(memory_order_acquire); /* [put] pairs with the order of puts and atomics at the writer */
    return satisfied;
}

static bool one_done(void *argument)
{
    struct one *o = argument;
    return seen(o->compare(o->ivar, o->cmp, o->value));
}

void shmemi_wait_until(const char *fn, const volatile void *ivar, int cmp, const void *value, shmemi_compare compare)
{
    check_call(fn, cmp);
    if (!ivar)
        shmemi_die(fn, "ivar is NULL");
    struct one o = {ivar, cmp, value, compare};
    if (!one_done(&o))
        shmemi_wait(fn, one_done, &o);
}

bool shmemi_test(const char *fn, const volatile void *ivar, int cmp, const void *value, shmemi_compare compare)
{
    check_call(fn, cmp);
    if (!ivar)
        shmemi_die(fn, "ivar is NULL");
    return seen(compare(ivar, cmp, value));
}

static void check_set(const char *fn, const struct shmemi_wait_set *set)
{
    check_call(fn, set->cmp);
    if (set->nelems && !set->ivars)
        shmemi_die(fn, "ivars is NULL, but nelems is %zu", set->nelems);
    if (set->nelems && !set->values)
        shmemi_die(fn, "cmp_values is NULL, but nelems is %zu", set->nelems);
}

static bool taken(const struct shmemi_wait_set *set, size_t i)
{
    return !set->status || !set->status[i];
}

static bool satisfied(const struct shmemi_wait_set *set, size_t i)
{
    return set->compare((const volatile char *)set->ivars + i * set->elem, set->cmp,
                        (const char *)set->values + i * set->value_stride);
}

static bool empty(const struct shmemi_wait_set *set)
{
    for (size_t i = 0; i < set->nelems; i++)
        if (taken(set, i))
            return false;
    return true;
}

/* A search over a set: where the last one ended, so that repeated calls get round to every element. */
struct search {
    const struct shmemi_wait_set *set;
    size_t next;     /* all: the first element not known to be satisfied */
    size_t found;    /* any */
    size_t *indices; /* some */
    size_t count;
};

static bool all_done(void *argument)
{
    struct search *s = argument;
    while (s->next < s->set->nelems && (!taken(s->set, s->next) || satisfied(s->set, s->next)))
        s->next++;
    return seen(s->next == s->set->nelems);
}

/* Where the next search of this thread in that set begins. Sets that share a place get round more slowly, but they do.
   Not many, and short: what threads have of a library that is loaded late comes out of less than 2 KiB for all such. */
static uint32_t *turn_of(const volatile void *ivars)
{
    static _Thread_local uint32_t turns[16];
    return &turns[((uintptr_t)ivars * 0x9e3779b97f4a7c15u) >> 60];
}

static bool any_done(void *argument)
{
    struct search *s = argument;
    size_t n = s->set->nelems;
    uint32_t *turn = turn_of(s->set->ivars);
    for (size_t k = 0; k < n; k++) {
        size_t i = (*turn + k) % n;
        if (taken(s->set, i) && satisfied(s->set, i)) {
            s->found = i;
            *turn = (uint32_t)(i + 1);
            return seen(true);
        }
    }
    return false;
}

static bool some_done(void *argument)
{
    struct search *s = argument;
    s->count = 0;
    for (size_t i = 0; i < s->set->nelems; i++)
        if (taken(s->set, i) && satisfied(s->set, i))
            s->indices[s->count++] = i;
    return seen(s->count > 0);
}

void shmemi_wait_until_all(const char *fn, const struct shmemi_wait_set *set)
{
    check_set(fn, set);
    struct search s = {.set = set};
    if (!all_done(&s))
        shmemi_wait(fn, all_done, &s);
}

size_t shmemi_wait_until_any(const char *fn, const struct shmemi_wait_set *set)
{
    check_set(fn, set);
    struct search s = {.set = set};
    if (empty(set))
        return SIZE_MAX;
    if (!any_done(&s))
        shmemi_wait(fn, any_done, &s);
    return s.found;
}

size_t shmemi_wait_until_some(const char *fn, const struct shmemi_wait_set *set, size_t *indices)
{
    check_set(fn, set);
    struct search s = {.set = set, .indices = indices};
    if (empty(set))
        return 0;
    if (!indices)
        shmemi_die(fn, "indices is NULL, but nelems is %zu", set->nelems);
    if (!some_done(&s))
        shmemi_wait(fn, some_done, &s);
    return s.count;
}

int shmemi_test_all(const char *fn, const struct shmemi_wait_set *set)
{
    check_set(fn, set);
    struct search s = {.set = set};
    return all_done(&s);
}

size_t shmemi_test_any(const char *fn, const struct shmemi_wait_set *set)
{
    check_set(fn, set);
    struct search s = {.set = set};
    return set->nelems && any_done(&s) ? s.found : SIZE_MAX;
}

size_t shmemi_test_some(const char *fn, const struct shmemi_wait_set *set, size_t *indices)
{
    check_set(fn, set);
    struct search s = {.set = set, .indices = indices};
    if (set->nelems && !indices)
        shmemi_die(fn, "indices is NULL, but nelems is %zu", set->nelems);
    some_done(&s);
    return s.count;
}
