// SPDX-License-Identifier: Apache-2.0
// Rank 0 holds an array and waits until somebody has read it; rank 1 reads it. Rank 0's processor does nothing for
// that. oshcc get_from_waiting.c -o get_from_waiting && shmemrun -n 2 ./get_from_waiting
#include "common.h"

enum { N = 1024 * 1024, BYTES = N * (int)sizeof(float) };

static void hold(void)
{
    float *data = malloc(BYTES);
    shmemx_region_t region;
    for (int i = 0; i < N; i++)
        data[i] = (float)(3 * i);
    CHECK(shmemx_register(data, BYTES, NULL, &region));
    CHECK(shmemx_wait_event(region, SHMEMX_EVENT_READ, 10));
    puts("rank 0: somebody has read my array");
    CHECK(shmemx_deregister(region));
    free(data);
}

static void read_it(void)
{
    float *copy = malloc(BYTES);
    shmemx_region_t theirs;
    CHECK(shmemx_region_find(0, NULL, 0, 10, &theirs)); /* the first region that rank 0 registers */
    CHECK(shmemx_get(copy, theirs, 0, BYTES));
    for (int i = 0; i < N; i++)
        EXPECT(copy[i] == (float)(3 * i));
    printf("rank 1: read %d numbers\n", N);
    CHECK(shmemx_region_close(theirs));
    free(copy);
}

int main(void)
{
    CHECK(shmemx_init(NULL));
    if (shmemx_n_pes() < 2)
        puts("run this with at least two PEs: shmemrun -n 2 ./get_from_waiting");
    else if (shmemx_my_pe() == 0)
        hold();
    else if (shmemx_my_pe() == 1)
        read_it();
    CHECK(shmemx_finalize());
    return 0;
}
