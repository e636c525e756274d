// SPDX-License-Identifier: Apache-2.0
// Breadth-first search on a graph whose degrees follow a power law, as those of networks of people do. Vertex v is
// number v / n of PE v % n. A PE that reaches a vertex claims it at its owner by compare-and-swap of its parent, and
// the one who won adds it to the owner's next frontier. The depths are compared with those of a search by one PE alone.
// The figure is edges per second.
//   oshcc -O2 bfs.c -o bfs && oshrun -n 4 ./bfs -s 16 -e 8
#include "program.h"

static long scale = 14, degree = 8, root_edge = 0;
static long vertices, edges; /* of the whole graph */
static size_t here;          /* vertices of a PE, at most */

/* Symmetric, by the number of the vertex on its PE. */
static long *begin;      /* here + 1: where a vertex's neighbours begin in `neighbours` */
static long *neighbours; /* of all vertices of this PE */
static long *parent;     /* -1: not reached */
static long *frontier[2];
static long frontier_length[2];

static int owner(long v)
{
    return (int)(v % shmem_n_pes());
}

static long number(long v)
{
    return v / shmem_n_pes();
}

struct edge {
    long a, b;
};

/* One to one on the vertices: so that the vertices of high degree do not have the low numbers. */
static long shuffle(uint64_t v)
{
    const uint64_t mask = (uint64_t)vertices - 1;
    const int half = (int)(scale + 1) / 2;
    v = (v * 0x9e3779b97f4a7c15u) & mask;
    v ^= v >> half;
    v = (v * 0xbf58476d1ce4e5b9u) & mask;
    return (long)(v ^ v >> half);
}

/* Edge number e. In the matrix of all edges, each step chooses one quarter of what is left, with the probabilities
   0.57, 0.19, 0.19 and 0.05. */
static struct edge edge_at(long e)
{
    uint64_t a = 0, b = 0, random = (uint64_t)e;
    for (long bit = 0; bit < scale; bit++) {
        random = scramble(random);
        const uint64_t percent = (random >> 32) * 100 >> 32;
        a = a << 1 | (percent >= 76);
        b = b << 1 | ((percent >= 57 && percent < 76) || percent >= 95);
    }
    return (struct edge){shuffle(a), shuffle(b)};
}

/* --- the graph, spread over the PEs ---- */

/* Each PE makes its share of the edges, twice: to count neighbours, and to put them where their owner has made room. */
static void for_my_edges(void (*use)(long from, long to))
{
    const long me = shmem_my_pe(), n = shmem_n_pes();
    for (long e = edges * me / n; e < edges * (me + 1) / n; e++) {
        const struct edge edge = edge_at(e);
        use(edge.a, edge.b);
        use(edge.b, edge.a);
    }
    shmem_barrier_all();
}

static void count_neighbour(long from, long to)
{
    (void)to;
    shmem_atomic_inc(&begin[number(from)], owner(from));
}

/* Room is taken from the end of a vertex's neighbours, so that `begin` is the beginning at last. */
static void put_neighbour(long from, long to)
{
    const long at = shmem_atomic_fetch_add(&begin[number(from)], -1L, owner(from)) - 1;
    shmem_long_p(&neighbours[at], to, owner(from));
}

static void build(void)
{
    begin = symmetric(here + 1, sizeof *begin);
    for_my_edges(count_neighbour);
    for (size_t v = 0; v < here; v++)
        begin[v + 1] += begin[v]; /* for now: the end of v's neighbours */
    neighbours = symmetric((size_t)largest_of_all(begin[here]), sizeof *neighbours);
    for_my_edges(put_neighbour);
}

/* --- the search ---- */

static void reach(long v, long from, int next)
{
    if (shmem_atomic_compare_swap(&parent[number(v)], -1L, from, owner(v)) != -1)
        return;
    const long at = shmem_atomic_fetch_add(&frontier_length[next], 1L, owner(v));
    shmem_long_p(&frontier[next][at], v, owner(v));
}

/* Writes the depths of this PE's vertices and returns how many edges were followed here. */
static long search(long root, long *depth)
{
    long followed = 0, level = 0;
    if (owner(root) == shmem_my_pe())
        reach(root, root, 0);
    shmem_barrier_all();
    for (int now = 0; sum_of_all(frontier_length[now]) > 0; now = !now, level++) {
        for (long i = 0; i < frontier_length[now]; i++) {
            const long v = frontier[now][i];
            depth[number(v)] = level;
            for (long k = begin[number(v)]; k < begin[number(v) + 1]; k++, followed++)
                reach(neighbours[k], v, !now);
        }
        shmem_barrier_all();
        frontier_length[now] = 0; /* it is the next but one; nobody adds to it before the sum above */
    }
    return followed;
}

/* --- the check ---- */

/* By one PE alone, from the edges themselves. Returns the depths of all vertices, to be freed. */
static long *search_alone(long root)
{
    long *first = private_array((size_t)vertices + 1, sizeof(long)),
         *to = private_array(2 * (size_t)edges, sizeof(long)), *depth = private_array((size_t)vertices, sizeof(long)),
         *queue = private_array((size_t)vertices, sizeof(long));
    for (long e = 0; e < edges; e++) {
        const struct edge edge = edge_at(e);
        first[edge.a]++;
        first[edge.b]++;
    }
    for (long v = 0; v < vertices; v++)
        first[v + 1] += first[v];
    for (long e = 0; e < edges; e++) {
        const struct edge edge = edge_at(e);
        to[--first[edge.a]] = edge.b;
        to[--first[edge.b]] = edge.a;
    }
    memset(depth, 0xff, (size_t)vertices * sizeof *depth);
    long length = 0;
    depth[root] = 0;
    queue[length++] = root;
    for (long i = 0; i < length; i++)
        for (long k = first[queue[i]]; k < first[queue[i] + 1]; k++)
            if (depth[to[k]] < 0) {
                depth[to[k]] = depth[queue[i]] + 1;
                queue[length++] = to[k];
            }
    free(queue);
    free(to);
    free(first);
    return depth;
}

static bool has_neighbour(long v, long wanted)
{
    for (long k = begin[number(v)]; k < begin[number(v) + 1]; k++)
        if (neighbours[k] == wanted)
            return true;
    return false;
}

/* Everybody checks its own vertices: the depth, and that the parent is a neighbour that is one less deep. */
static long count_wrong(long root, const long *depth)
{
    long wrong = 0, *expected = search_alone(root);
    for (long v = shmem_my_pe(); v < vertices; v += shmem_n_pes()) {
        const long p = parent[number(v)];
        wrong += depth[number(v)] != expected[v];
        if (v == root)
            wrong += p != root;
        else if (p != -1)
            wrong += p < 0 || p >= vertices || expected[p] != expected[v] - 1 || !has_neighbour(v, p);
        else
            wrong += expected[v] != -1;
    }
    free(expected);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {'s', &scale, 1, 40, "the graph has 2^N vertices"},
        {'e', &degree, 1, 1000, "edges for each vertex"},
        {'r', &root_edge, 0, INT32_MAX, "the search begins where this edge begins"},
    };
    shmem_init();
    read_settings(argc, argv, "Breadth-first search on a generated graph whose degrees follow a power law.", settings,
                  3);
    const int n = shmem_n_pes();
    vertices = 1L << scale;
    edges = vertices * degree;
    here = (size_t)(vertices / n + 1);
    build();
    parent = symmetric(here, sizeof *parent);
    frontier[0] = symmetric(here, sizeof **frontier);
    frontier[1] = symmetric(here, sizeof **frontier);
    long *depth = private_array(here, sizeof *depth);
    memset(parent, 0xff, here * sizeof *parent);
    memset(depth, 0xff, here * sizeof *depth);
    const long root = edge_at(root_edge % edges).a;

    shmem_barrier_all();
    const double start = seconds();
    const long followed = search(root, depth);
    shmem_barrier_all();
    const double time = seconds() - start;

    long deepest = -1, reached = 0;
    for (size_t v = 0; v < here; v++) {
        reached += depth[v] >= 0;
        deepest = depth[v] > deepest ? depth[v] : deepest;
    }
    const long all_followed = sum_of_all(followed), all_reached = sum_of_all(reached);
    deepest = largest_of_all(deepest);
    if (shmem_my_pe() == 0)
        printf(
            "bfs: %.2f million edges/s, %ld of %ld vertices reached in %ld levels over %ld edges on %d PEs in %.3f s\n",
            (double)all_followed / 2 / time * 1e-6, all_reached, vertices, deepest + 1, all_followed / 2, n, time);
    const int status = verdict(count_wrong(root, depth));
    free(depth);
    shmem_finalize();
    return status;
}
