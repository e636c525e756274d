// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix whose rows are spread over all PEs in blocks. Two ways: each row becomes part of a column by a
// strided put (iput), and each block is turned over here and put line by line by one block-strided put (ibput). The
// figure is bytes of the matrix per second.
//   oshcc -O2 transpose.c -o transpose && oshrun -n 4 ./transpose -m 2048
#include "program.h"

static long order = 1024;
static double *from, *to; /* the rows of this PE, of the matrix and of its transpose */

/* The first row of a PE; that of the PE after it is where its rows end. */
static long first_row(int pe)
{
    return order * pe / shmem_n_pes();
}

static double element(long row, long column)
{
    return (double)(row * order + column) + 0.5;
}

/* Row by row: what lies side by side here lies in a column there. */
static void by_iput(int pe)
{
    const long mine = first_row(shmem_my_pe()), end = first_row(shmem_my_pe() + 1), theirs = first_row(pe);
    const size_t count = (size_t)(first_row(pe + 1) - theirs);
    for (long row = mine; row < end; row++)
        shmem_double_iput(&to[row], &from[(row - mine) * order + theirs], order, 1, count, pe);
}

/* The block is turned over in private memory; each of its lines is then a piece of a line there. */
static void by_ibput(int pe)
{
    const long mine = first_row(shmem_my_pe()), h = first_row(shmem_my_pe() + 1) - mine, theirs = first_row(pe),
               w = first_row(pe + 1) - theirs;
    double *turned = private_array((size_t)(w * h), sizeof *turned);
    for (long x = 0; x < w; x++)
        for (long y = 0; y < h; y++)
            turned[x * h + y] = from[y * order + theirs + x];
    if (w && h)
        shmem_double_ibput(&to[mine], turned, order, h, (size_t)h, (size_t)w, pe);
    free(turned);
}

/* Runs one way on all PEs, says how fast it was, and returns how many elements are wrong here. */
static long measure(const char *name, void (*way)(int))
{
    const int me = shmem_my_pe(), n = shmem_n_pes();
    const long mine = first_row(me), rows = first_row(me + 1) - mine;
    long wrong = 0;
    memset(to, 0, (size_t)(rows * order) * sizeof *to);
    shmem_barrier_all();
    const double start = seconds();
    for (int k = 1; k <= n; k++) /* everybody begins with its right neighbour */
        way((me + k) % n);
    shmem_barrier_all();
    const double time = seconds() - start;
    for (long y = 0; y < rows; y++)
        for (long x = 0; x < order; x++)
            wrong += to[y * order + x] != element(x, mine + y);
    if (me == 0)
        printf("transpose: %.2f GB/s with %s, %ld by %ld on %d PEs in %.4f s\n",
               (double)(order * order) * sizeof *to / time * 1e-9, name, order, order, n, time);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {{'m', &order, 1, 1 << 20, "rows and columns of the matrix"}};
    shmem_init();
    read_settings(argc, argv, "Transposes a matrix whose rows are spread over all PEs.", settings, 1);
    const int me = shmem_my_pe(), n = shmem_n_pes();
    const size_t most = (size_t)((order / n + 1) * order);
    from = symmetric(most, sizeof *from);
    to = symmetric(most, sizeof *to);
    for (long y = first_row(me); y < first_row(me + 1); y++)
        for (long x = 0; x < order; x++)
            from[(y - first_row(me)) * order + x] = element(y, x);

    long wrong = measure("iput", by_iput);
    wrong += measure("ibput", by_ibput);
    const int status = verdict(wrong);
    shmem_free(to);
    shmem_free(from);
    shmem_finalize();
    return status;
}
