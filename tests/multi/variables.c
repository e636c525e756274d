// SPDX-License-Identifier: Apache-2.0
// variables HOW: reaches for global variables and beyond; oshcc.py knows what has to come of it.
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static int few[10];
long more[8];
static struct {
    char first[3];
    long second;
} both[2];

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long values[64] = {1, 2, 3};
    shmem_init();
    int to = shmem_n_pes() - 1;
    shmem_int_put(few, (const int *)values, 10, to); /* these are fine */
    shmem_int_p(few + 9, 1, to);
    shmem_long_put(more + 3, values, 5, to);
    shmem_putmem(both, values, sizeof both, to);
    shmem_char_p(&both[1].first[2], 1, to);
    shmem_barrier_all();
    if (!strcmp(how, "beside"))
        shmem_int_p(few + 11, 1, to);
    if (!strcmp(how, "across"))
        shmem_long_put(more + 6, values, 3, to);
    if (!strcmp(how, "far"))
        shmem_long_get(values, more, 9999999, to);
    if (!strcmp(how, "signal"))
        shmem_long_put_signal(more, values, 1, (uint64_t *)values, 1, SHMEM_SIGNAL_SET, to);
    if (!strcmp(how, "both"))
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, more, values, 1);
    shmem_barrier_all();
    printf("%d\n", few[9]);
    shmem_finalize();
}
