// SPDX-License-Identifier: Apache-2.0
// Process groups of the extension interface: arguments are checked, and passed on to src/group.
#include "shmemx.h"

#include <errno.h>

#include "base/compiler.h"
#include "group/group.h"
#include "named.h"
#include "opaque.h"

_Static_assert(SHMEMX_BYTES == (int)SHMEMI_PG_BYTES && SHMEMX_BFLOAT16 == (int)SHMEMI_TYPE_BFLOAT16,
               "one list of types");
_Static_assert(SHMEMX_XOR == (int)SHMEMI_REDUCE_XOR && SHMEMX_GROUP_MEAN == (int)SHMEMI_PG_MEAN,
               "one list of operations");

static int enter(shmemx_group_t group, struct shmemi_pg **out)
{
    void *inner = NULL;
    int rc = shmemi_opaque_enter(group, SHMEMI_OPAQUE_GROUP, "group", &inner);
    *out = inner;
    return rc;
}

static struct shmemi_pg_elements elements(shmemx_group_of_t of)
{
    return (struct shmemi_pg_elements){of.count, of.type};
}

static int null(const char *what)
{
    return shmemi_fail(-EINVAL, "%s is NULL", what);
}

static int check(shmemx_group_t group, const char *what, const void *memory, size_t count, struct shmemi_pg **out)
{
    int rc = enter(group, out);
    return rc < 0 || memory || !count ? rc : null(what);
}

static int check_root(const struct shmemi_pg *g, int root)
{
    int ranks = shmemi_pg_ranks(g);
    return root >= 0 && root < ranks ? 0
                                     : shmemi_fail(-EINVAL, "root is %d, but must be from 0 to %d", root, ranks - 1);
}

static int check_list(const struct shmemi_pg *g, const char *what, const void *const *list, const size_t *counts,
                      size_t count)
{
    if (!list)
        return null(what);
    for (int rank = 0; rank < shmemi_pg_ranks(g); rank++)
        if (!list[rank] && (counts ? counts[rank] : count))
            return shmemi_fail(-EINVAL, "%s[%d] is NULL", what, rank);
    return 0;
}

static int hand_out(struct shmemi_opaque *handle, int rc, struct shmemi_pg *g, shmemx_group_t *out)
{
    if ((rc = shmemi_opaque_settle(handle, rc, SHMEMI_OPAQUE_GROUP, g)) == 0)
        *out = (shmemx_group_t)(void *)handle;
    return rc;
}

int shmemx_group_create(int ranks, size_t staging, shmemx_group_t *out)
{
    struct shmemi_pg *g = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = out ? shmemi_opaque_new(&handle) : null("out");
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_pg_create(ranks, staging, &g);
    return NAMED(hand_out(handle, rc, g, out));
}

int shmemx_group_key(shmemx_group_t group, char key[SHMEMX_KEY_TEXT])
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "key", key, 1, &g);
    return NAMED(rc < 0 ? rc : shmemi_pg_key(g, key));
}

int shmemx_group_join(const char *key, int rank, int ranks, shmemx_group_t *out)
{
    struct shmemi_pg *g = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = key && out ? shmemi_opaque_new(&handle) : null(key ? "out" : "key");
    if (rc < 0)
        return NAMED(rc);
    rc = shmemi_pg_join(key, rank, ranks, &g);
    return NAMED(hand_out(handle, rc, g, out));
}

int shmemx_group_close(shmemx_group_t group)
{
    void *inner = NULL;
    int rc = shmemi_opaque_take(group, SHMEMI_OPAQUE_GROUP, "group", &inner);
    if (rc < 0)
        return NAMED(rc);
    shmemi_opaque_end(group, SHMEMI_OPAQUE_GROUP, true); /* its requests know by that */
    return NAMED(shmemi_pg_close(inner));
}

int shmemx_group_rank(shmemx_group_t group)
{
    struct shmemi_pg *g;
    int rc = enter(group, &g);
    return rc < 0 ? NAMED(rc) : shmemi_pg_rank(g);
}

int shmemx_group_ranks(shmemx_group_t group)
{
    struct shmemi_pg *g;
    int rc = enter(group, &g);
    return rc < 0 ? NAMED(rc) : shmemi_pg_ranks(g);
}

int shmemx_group_barrier(shmemx_group_t group, double seconds)
{
    struct shmemi_pg *g;
    int rc = enter(group, &g);
    return NAMED(rc < 0 ? rc : shmemi_pg_barrier(g, seconds));
}

int shmemx_group_all_reduce(shmemx_group_t group, void *x, shmemx_group_of_t of, unsigned op, double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "x", x, of.count, &g);
    if (shmemi_likely(rc == 0))
        rc = shmemi_pg_all_reduce(g, x, elements(of), op, seconds);
    return shmemi_likely(rc == 0) ? 0 : NAMED(rc);
}

int shmemx_group_reduce(shmemx_group_t group, void *x, shmemx_group_of_t of, unsigned op, int root, double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "x", x, of.count, &g);
    if (rc == 0)
        rc = check_root(g, root);
    return NAMED(rc < 0 ? rc : shmemi_pg_reduce(g, x, elements(of), op, root, seconds));
}

int shmemx_group_reduce_scatter(shmemx_group_t group, void *out, const void *const ins[], shmemx_group_of_t of,
                                unsigned op, double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "out", out, of.count, &g);
    if (rc == 0)
        rc = check_list(g, "ins", ins, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_reduce_scatter(g, out, ins, elements(of), op, seconds));
}

int shmemx_group_broadcast(shmemx_group_t group, void *x, shmemx_group_of_t of, int root, double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "x", x, of.count, &g);
    if (rc == 0)
        rc = check_root(g, root);
    return NAMED(rc < 0 ? rc : shmemi_pg_broadcast(g, x, elements(of), root, seconds));
}

int shmemx_group_all_gather(shmemx_group_t group, void *const outs[], const void *in, shmemx_group_of_t of,
                            double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "in", in, of.count, &g);
    if (rc == 0)
        rc = check_list(g, "outs", (const void *const *)(void *)outs, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_all_gather(g, outs, in, elements(of), seconds));
}

int shmemx_group_gather(shmemx_group_t group, void *const outs[], const void *in, shmemx_group_of_t of, int root,
                        double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "in", in, of.count, &g);
    if (rc == 0)
        rc = check_root(g, root);
    if (rc == 0 && root == shmemi_pg_rank(g))
        rc = check_list(g, "outs", (const void *const *)(void *)outs, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_gather(g, outs, in, elements(of), root, seconds));
}

int shmemx_group_scatter(shmemx_group_t group, void *out, const void *const ins[], shmemx_group_of_t of, int root,
                         double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "out", out, of.count, &g);
    if (rc == 0)
        rc = check_root(g, root);
    if (rc == 0 && root == shmemi_pg_rank(g))
        rc = check_list(g, "ins", ins, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_scatter(g, out, ins, elements(of), root, seconds));
}

int shmemx_group_all_to_all(shmemx_group_t group, void *const outs[], const size_t out_counts[],
                            const void *const ins[], const size_t in_counts[], unsigned type, double seconds)
{
    struct shmemi_pg *g;
    int rc = enter(group, &g);
    if (rc == 0 && !(out_counts && in_counts))
        rc = null(out_counts ? "in_counts" : "out_counts");
    if (rc == 0)
        rc = check_list(g, "outs", (const void *const *)(void *)outs, out_counts, 0);
    if (rc == 0)
        rc = check_list(g, "ins", ins, in_counts, 0);
    return NAMED(rc < 0 ? rc : shmemi_pg_all_to_all(g, outs, out_counts, ins, in_counts, type, seconds));
}

/* ---- messages ---- */

/* The handle of a request, which is of no use without its group. */
static int hand_out_request(struct shmemi_opaque *handle, int rc, struct shmemi_pg_request *made, shmemx_group_t group,
                            shmemx_group_request_t *out)
{
    struct shmemi_opaque *of = (struct shmemi_opaque *)(void *)group;
    if ((rc = shmemi_opaque_settle(handle, rc, SHMEMI_OPAQUE_REQUEST, made)) < 0)
        return rc;
    handle->of = of;
    handle->of_life = atomic_load_explicit(&of->life, memory_order_relaxed); /* [opaque] */
    *out = (shmemx_group_request_t)(void *)handle;
    return 0;
}

static int check_group_of(const struct shmemi_opaque *request)
{
    const struct shmemi_opaque *of = request->of;
    return atomic_load_explicit(&of->life, memory_order_relaxed) == request->of_life && /* [opaque] */
                   atomic_load_explicit(&of->type, memory_order_relaxed) == SHMEMI_OPAQUE_GROUP
               ? 0
               : shmemi_fail(-EBADF, "the group of the request was closed");
}

int shmemx_group_send(shmemx_group_t group, const void *x, shmemx_group_of_t of, int to, int tag, double seconds)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "x", x, of.count, &g);
    return NAMED(rc < 0 ? rc : shmemi_pg_send(g, x, elements(of), to, tag, seconds));
}

int shmemx_group_recv(shmemx_group_t group, void *x, shmemx_group_of_t of, int from, int tag, double seconds,
                      int *source)
{
    struct shmemi_pg *g = NULL;
    int rc = check(group, "x", x, of.count, &g);
    return NAMED(rc < 0 ? rc : shmemi_pg_recv(g, x, elements(of), from, tag, seconds, source));
}

int shmemx_group_send_begin(shmemx_group_t group, const void *x, shmemx_group_of_t of, int to, int tag, double seconds,
                            shmemx_group_request_t *out)
{
    struct shmemi_pg_request *made = NULL;
    struct shmemi_opaque *handle = NULL;
    struct shmemi_pg *g = NULL;
    int rc = out ? check(group, "x", x, of.count, &g) : null("out");
    if (rc < 0 || (rc = shmemi_opaque_new(&handle)) < 0)
        return NAMED(rc);
    rc = shmemi_pg_post_send(g, x, elements(of), to, tag, seconds, &made);
    return NAMED(hand_out_request(handle, rc, made, group, out));
}

int shmemx_group_recv_begin(shmemx_group_t group, void *x, shmemx_group_of_t of, int from, int tag, double seconds,
                            shmemx_group_request_t *out)
{
    struct shmemi_pg_request *made = NULL;
    struct shmemi_opaque *handle = NULL;
    struct shmemi_pg *g = NULL;
    int rc = out ? check(group, "x", x, of.count, &g) : null("out");
    if (rc < 0 || (rc = shmemi_opaque_new(&handle)) < 0)
        return NAMED(rc);
    rc = shmemi_pg_post_recv(g, x, elements(of), from, tag, seconds, &made);
    return NAMED(hand_out_request(handle, rc, made, group, out));
}

int shmemx_group_request_end(shmemx_group_request_t request, int block, int *source)
{
    void *inner = NULL;
    int rc = shmemi_opaque_take(request, SHMEMI_OPAQUE_REQUEST, "request", &inner);
    if (rc < 0)
        return NAMED(rc);
    rc = check_group_of((struct shmemi_opaque *)(void *)request);
    if (rc == 0)
        rc = shmemi_pg_request_wait(inner, block != 0, source);
    shmemi_opaque_end(request, SHMEMI_OPAQUE_REQUEST, rc != -EAGAIN);
    return rc == -EAGAIN ? rc : NAMED(rc);
}
