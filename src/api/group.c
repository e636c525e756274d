// SPDX-License-Identifier: Apache-2.0
// Process groups of the extension interface: arguments are checked, and passed on to src/group.
#include "shmemx.h"

#include <errno.h>

#include "base/compiler.h"
#include "group/group.h"
#include "named.h"

_Static_assert(SHMEMX_BYTES == (int)SHMEMI_PG_BYTES && SHMEMX_BFLOAT16 == (int)SHMEMI_TYPE_BFLOAT16,
               "one list of types");
_Static_assert(SHMEMX_XOR == (int)SHMEMI_REDUCE_XOR && SHMEMX_GROUP_MEAN == (int)SHMEMI_PG_MEAN,
               "one list of operations");

static struct shmemi_pg *inner(shmemx_group_t group)
{
    return (struct shmemi_pg *)(void *)group;
}

static struct shmemi_pg_elements elements(shmemx_group_of_t of)
{
    return (struct shmemi_pg_elements){of.count, of.type};
}

static int null(const char *what)
{
    return shmemi_fail(-EINVAL, "%s is NULL", what);
}

static int check(shmemx_group_t group, const char *what, const void *memory, size_t count)
{
    if (!group)
        return null("group");
    return memory || !count ? 0 : null(what);
}

static int check_root(shmemx_group_t group, int root)
{
    int ranks = shmemi_pg_ranks(inner(group));
    return root >= 0 && root < ranks ? 0
                                     : shmemi_fail(-EINVAL, "root is %d, but must be from 0 to %d", root, ranks - 1);
}

static int check_list(shmemx_group_t group, const char *what, const void *const *list, const size_t *counts,
                      size_t count)
{
    if (!list)
        return null(what);
    for (int rank = 0; rank < shmemi_pg_ranks(inner(group)); rank++)
        if (!list[rank] && (counts ? counts[rank] : count))
            return shmemi_fail(-EINVAL, "%s[%d] is NULL", what, rank);
    return 0;
}

int shmemx_group_create(int ranks, size_t staging, shmemx_group_t *out)
{
    struct shmemi_pg *g = NULL;
    int rc = out ? shmemi_pg_create(ranks, staging, &g) : null("out");
    if (rc == 0)
        *out = (shmemx_group_t)(void *)g;
    return NAMED(rc);
}

int shmemx_group_key(shmemx_group_t group, char key[SHMEMX_KEY_TEXT])
{
    int rc = check(group, "key", key, 1);
    return NAMED(rc < 0 ? rc : shmemi_pg_key(inner(group), key));
}

int shmemx_group_join(const char *key, int rank, int ranks, shmemx_group_t *out)
{
    struct shmemi_pg *g = NULL;
    int rc = key && out ? shmemi_pg_join(key, rank, ranks, &g) : null(key ? "out" : "key");
    if (rc == 0)
        *out = (shmemx_group_t)(void *)g;
    return NAMED(rc);
}

int shmemx_group_close(shmemx_group_t group)
{
    return NAMED(group ? shmemi_pg_close(inner(group)) : null("group"));
}

int shmemx_group_rank(shmemx_group_t group)
{
    return group ? shmemi_pg_rank(inner(group)) : NAMED(null("group"));
}

int shmemx_group_ranks(shmemx_group_t group)
{
    return group ? shmemi_pg_ranks(inner(group)) : NAMED(null("group"));
}

int shmemx_group_barrier(shmemx_group_t group, double seconds)
{
    return NAMED(group ? shmemi_pg_barrier(inner(group), seconds) : null("group"));
}

int shmemx_group_all_reduce(shmemx_group_t group, void *x, shmemx_group_of_t of, unsigned op, double seconds)
{
    int rc = check(group, "x", x, of.count);
    if (shmemi_likely(rc == 0))
        rc = shmemi_pg_all_reduce(inner(group), x, elements(of), op, seconds);
    return shmemi_likely(rc == 0) ? 0 : NAMED(rc);
}

int shmemx_group_reduce(shmemx_group_t group, void *x, shmemx_group_of_t of, unsigned op, int root, double seconds)
{
    int rc = check(group, "x", x, of.count);
    if (rc == 0)
        rc = check_root(group, root);
    return NAMED(rc < 0 ? rc : shmemi_pg_reduce(inner(group), x, elements(of), op, root, seconds));
}

int shmemx_group_reduce_scatter(shmemx_group_t group, void *out, const void *const ins[], shmemx_group_of_t of,
                                unsigned op, double seconds)
{
    int rc = check(group, "out", out, of.count);
    if (rc == 0)
        rc = check_list(group, "ins", ins, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_reduce_scatter(inner(group), out, ins, elements(of), op, seconds));
}

int shmemx_group_broadcast(shmemx_group_t group, void *x, shmemx_group_of_t of, int root, double seconds)
{
    int rc = check(group, "x", x, of.count);
    if (rc == 0)
        rc = check_root(group, root);
    return NAMED(rc < 0 ? rc : shmemi_pg_broadcast(inner(group), x, elements(of), root, seconds));
}

int shmemx_group_all_gather(shmemx_group_t group, void *const outs[], const void *in, shmemx_group_of_t of,
                            double seconds)
{
    int rc = check(group, "in", in, of.count);
    if (rc == 0)
        rc = check_list(group, "outs", (const void *const *)(void *)outs, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_all_gather(inner(group), outs, in, elements(of), seconds));
}

int shmemx_group_gather(shmemx_group_t group, void *const outs[], const void *in, shmemx_group_of_t of, int root,
                        double seconds)
{
    int rc = check(group, "in", in, of.count);
    if (rc == 0)
        rc = check_root(group, root);
    if (rc == 0 && root == shmemi_pg_rank(inner(group)))
        rc = check_list(group, "outs", (const void *const *)(void *)outs, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_gather(inner(group), outs, in, elements(of), root, seconds));
}

int shmemx_group_scatter(shmemx_group_t group, void *out, const void *const ins[], shmemx_group_of_t of, int root,
                         double seconds)
{
    int rc = check(group, "out", out, of.count);
    if (rc == 0)
        rc = check_root(group, root);
    if (rc == 0 && root == shmemi_pg_rank(inner(group)))
        rc = check_list(group, "ins", ins, NULL, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_scatter(inner(group), out, ins, elements(of), root, seconds));
}

int shmemx_group_all_to_all(shmemx_group_t group, void *const outs[], const size_t out_counts[],
                            const void *const ins[], const size_t in_counts[], unsigned type, double seconds)
{
    int rc = group && out_counts && in_counts ? 0 : null(!group ? "group" : out_counts ? "in_counts" : "out_counts");
    if (rc == 0)
        rc = check_list(group, "outs", (const void *const *)(void *)outs, out_counts, 0);
    if (rc == 0)
        rc = check_list(group, "ins", ins, in_counts, 0);
    return NAMED(rc < 0 ? rc : shmemi_pg_all_to_all(inner(group), outs, out_counts, ins, in_counts, type, seconds));
}

/* ---- messages ---- */

static struct shmemi_pg_request *inner_request(shmemx_group_request_t request)
{
    return (struct shmemi_pg_request *)(void *)request;
}

int shmemx_group_send(shmemx_group_t group, const void *x, shmemx_group_of_t of, int to, int tag, double seconds)
{
    int rc = check(group, "x", x, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_send(inner(group), x, elements(of), to, tag, seconds));
}

int shmemx_group_recv(shmemx_group_t group, void *x, shmemx_group_of_t of, int from, int tag, double seconds,
                      int *source)
{
    int rc = check(group, "x", x, of.count);
    return NAMED(rc < 0 ? rc : shmemi_pg_recv(inner(group), x, elements(of), from, tag, seconds, source));
}

int shmemx_group_send_begin(shmemx_group_t group, const void *x, shmemx_group_of_t of, int to, int tag, double seconds,
                            shmemx_group_request_t *out)
{
    struct shmemi_pg_request *made;
    int rc = out ? check(group, "x", x, of.count) : null("out");
    if (rc == 0 && (rc = shmemi_pg_post_send(inner(group), x, elements(of), to, tag, seconds, &made)) == 0)
        *out = (shmemx_group_request_t)(void *)made;
    return NAMED(rc);
}

int shmemx_group_recv_begin(shmemx_group_t group, void *x, shmemx_group_of_t of, int from, int tag, double seconds,
                            shmemx_group_request_t *out)
{
    struct shmemi_pg_request *made;
    int rc = out ? check(group, "x", x, of.count) : null("out");
    if (rc == 0 && (rc = shmemi_pg_post_recv(inner(group), x, elements(of), from, tag, seconds, &made)) == 0)
        *out = (shmemx_group_request_t)(void *)made;
    return NAMED(rc);
}

int shmemx_group_request_end(shmemx_group_request_t request, int block, int *source)
{
    int rc = request ? shmemi_pg_request_wait(inner_request(request), block != 0, source) : null("request");
    return rc == -EAGAIN ? rc : NAMED(rc);
}
