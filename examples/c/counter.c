// SPDX-License-Identifier: Apache-2.0
// A counter on rank 0 that every rank adds to, and a word that exactly one rank wins by compare-and-swap. Both are
// global variables, which oshcc makes symmetric.   oshcc counter.c -o counter && shmemrun -n 4 ./counter
#include "common.h"

static int counter, winner, wins;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < 1000; i++)
        shmem_atomic_add(&counter, 1, 0);
    if (shmem_atomic_compare_swap(&winner, 0, me + 1, 0) == 0)
        shmem_atomic_inc(&wins, 0);
    shmem_barrier_all();
    if (me == 0) {
        printf("the counter is %d, rank %d won\n", counter, winner - 1);
        EXPECT(counter == 1000 * n);
        EXPECT(wins == 1 && winner >= 1 && winner <= n);
    }
    shmem_finalize();
    return 0;
}
