// SPDX-License-Identifier: Apache-2.0
// Heat in a plate: each point becomes the mean of its four neighbours, again and again. The plate is cut into blocks,
// one for each PE; before each step a PE puts the edges of its block to its neighbours, and each put brings a signal.
// The result is compared bit by bit with that of one PE alone. The figure is points per second.
//   oshcc -O2 stencil.c -o stencil && oshrun -n 4 ./stencil -x 1024 -y 1024 -s 100
#include "program.h"

enum side { UP, DOWN, LEFT, RIGHT, SIDES };

static long width = 512, height = 512, steps = 50;

/* Points [x, x + w) by [y, y + h) of the plate. A field of w by h points has a border of one point around it. */
struct block {
    long x, y, w, h;
};

/* What neighbours put here. Two of each: a neighbour is at most one step ahead, as it needs the edges of the step that
   this PE is in, so what it puts for the next step does not meet what this PE still reads. */
static double *halo[2][SIDES];
static uint64_t arrived[2][SIDES]; /* the step, from 1, whose edge has come */

static int columns, rows; /* PEs across and down */

static void choose_grid(int n)
{
    for (rows = 1, columns = n; rows * rows <= n; rows++)
        if (n % rows == 0)
            columns = n / rows;
    rows = n / columns;
}

static struct block block_of(int pe)
{
    const long c = pe % columns, r = pe / columns;
    struct block b = {.x = width * c / columns, .y = height * r / rows};
    b.w = width * (c + 1) / columns - b.x;
    b.h = height * (r + 1) / rows - b.y;
    return b;
}

/* The PE on that side, or -1. */
static int neighbour(enum side side)
{
    const int c = shmem_my_pe() % columns, r = shmem_my_pe() / columns;
    switch (side) {
    case UP:
        return r > 0 ? shmem_my_pe() - columns : -1;
    case DOWN:
        return r < rows - 1 ? shmem_my_pe() + columns : -1;
    case LEFT:
        return c > 0 ? shmem_my_pe() - 1 : -1;
    default:
        return c < columns - 1 ? shmem_my_pe() + 1 : -1;
    }
}

/* At the beginning: numbers without a pattern, inside and on the border of the plate. */
static double first_value(long x, long y)
{
    return (double)(scramble((uint64_t)((y + 1) * (width + 2) + x + 1)) >> 11) * 0x1p-53;
}

static double *new_field(struct block b)
{
    double *field = private_array((size_t)((b.w + 2) * (b.h + 2)), sizeof *field);
    for (long y = -1; y <= b.h; y++)
        for (long x = -1; x <= b.w; x++)
            field[(y + 1) * (b.w + 2) + x + 1] = first_value(b.x + x, b.y + y);
    return field;
}

static void relax(const double *from, double *to, long w, long h)
{
    const long line = w + 2;
    for (long y = 1; y <= h; y++)
        for (long x = 1; x <= w; x++) {
            const double *p = &from[y * line + x];
            to[y * line + x] = 0.25 * ((p[-line] + p[line]) + (p[-1] + p[1]));
        }
}

/* Where side's edge (or, one further out, its border) begins in the field, and how far its points are apart. */
static size_t edge_begin(struct block b, enum side side, bool border)
{
    const long line = b.w + 2, out = border ? 0 : 1;
    switch (side) {
    case UP:
        return (size_t)(out * line + 1);
    case DOWN:
        return (size_t)((b.h + 1 - out) * line + 1);
    case LEFT:
        return (size_t)(line + out);
    default:
        return (size_t)(line + b.w + 1 - out);
    }
}

static void send_edges(const double *field, struct block b, long step, double *packed)
{
    for (enum side side = 0; side < SIDES; side++) {
        const int pe = neighbour(side);
        if (pe < 0)
            continue;
        const long length = side < LEFT ? b.w : b.h, apart = side < LEFT ? 1 : b.w + 2;
        const enum side theirs = side ^ 1; /* what is up for this PE is down for that one */
        for (long i = 0; i < length; i++)
            packed[i] = field[edge_begin(b, side, false) + (size_t)(i * apart)];
        shmem_double_put_signal(halo[step % 2][theirs], packed, (size_t)length, &arrived[step % 2][theirs],
                                (uint64_t)step + 1, SHMEM_SIGNAL_SET, pe);
    }
}

static void receive_edges(double *field, struct block b, long step)
{
    for (enum side side = 0; side < SIDES; side++) {
        if (neighbour(side) < 0)
            continue;
        const long length = side < LEFT ? b.w : b.h, apart = side < LEFT ? 1 : b.w + 2;
        shmem_signal_wait_until(&arrived[step % 2][side], SHMEM_CMP_EQ, (uint64_t)step + 1);
        for (long i = 0; i < length; i++)
            field[edge_begin(b, side, true) + (size_t)(i * apart)] = halo[step % 2][side][i];
    }
}

/* All steps, on this PE's block or, without neighbours, on the whole plate. Returns the field, to be freed. */
static double *run(struct block b, bool alone)
{
    double *from = new_field(b), *to = new_field(b);
    double *packed = private_array((size_t)(b.w > b.h ? b.w : b.h), sizeof *packed);
    for (long step = 0; step < steps; step++) {
        if (!alone) {
            send_edges(from, b, step, packed);
            receive_edges(from, b, step);
        }
        relax(from, to, b.w, b.h);
        double *swap = from;
        from = to;
        to = swap;
    }
    free(to);
    free(packed);
    return from;
}

/* Every PE puts its block, line by line, into the plate of PE 0, which compares. */
static long compare(const double *field, struct block b)
{
    double *whole = symmetric((size_t)(width * height), sizeof *whole);
    long wrong = 0;
    if (b.w > 0 && b.h > 0)
        shmem_double_ibput(&whole[b.y * width + b.x], &field[b.w + 3], width, b.w + 2, (size_t)b.w, (size_t)b.h, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        double *expected = run((struct block){0, 0, width, height}, true);
        for (long y = 0; y < height; y++)
            for (long x = 0; x < width; x++)
                wrong += memcmp(&whole[y * width + x], &expected[(y + 1) * (width + 2) + x + 1], sizeof *whole) != 0;
        free(expected);
    }
    shmem_free(whole);
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {'x', &width, 1, 1 << 20, "points across"},
        {'y', &height, 1, 1 << 20, "points down"},
        {'s', &steps, 0, 1 << 30, "steps"},
    };
    shmem_init();
    read_settings(argc, argv, "A five-point stencil on a plate that is cut into a block for each PE.", settings, 3);
    choose_grid(shmem_n_pes());
    if (width < columns || height < rows) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "%ld by %ld points are too few for %d by %d PEs\n", width, height, columns, rows);
        leave(2);
    }
    for (int i = 0; i < 2; i++)
        for (enum side side = 0; side < SIDES; side++)
            halo[i][side] = symmetric((size_t)(side < LEFT ? width : height), sizeof(double));
    const struct block mine = block_of(shmem_my_pe());

    shmem_barrier_all();
    const double start = seconds();
    double *field = run(mine, false);
    shmem_barrier_all();
    const double time = seconds() - start;

    if (shmem_my_pe() == 0)
        printf("stencil: %.2f million points/s, %ld by %ld points on %d by %d PEs, %ld steps in %.3f s\n",
               (double)(width * height) * (double)steps / time * 1e-6, width, height, columns, rows, steps, time);
    const int status = verdict(compare(field, mine));
    free(field);
    shmem_finalize();
    return status;
}
