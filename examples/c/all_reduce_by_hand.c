// SPDX-License-Identifier: Apache-2.0
// Every rank sums all ranks' arrays by reading them where they are, without a copy; the result is compared with
// shmemx_all_reduce.   oshcc all_reduce_by_hand.c -o all_reduce_by_hand && shmemrun -n 4 ./all_reduce_by_hand
#include "common.h"

#include <string.h>

enum { N = 1024 * 1024 };

/* sum[i] = the sum over all ranks of their data[i], in rank order. */
static void sum_by_hand(shmemx_region_t data, float *sum)
{
    memset(sum, 0, N * sizeof *sum);
    for (int rank = 0; rank < shmemx_n_pes(); rank++) {
        shmemx_region_t theirs;
        shmemx_region_info_t info;
        CHECK(shmemx_region_at(data, rank, 10, &theirs));
        CHECK(shmemx_region_info(theirs, &info));
        const float *in_place = info.address;
        for (int i = 0; i < N; i++)
            sum[i] += in_place[i];
    }
}

int main(void)
{
    CHECK(shmemx_init(NULL));
    int me = shmemx_my_pe();
    float *data = malloc(N * sizeof *data), *sum = malloc(N * sizeof *sum);
    shmemx_region_t region;
    for (int i = 0; i < N; i++)
        data[i] = (float)(i % 1000 * (me + 1));
    CHECK(shmemx_register(data, N * sizeof *data, NULL, &region));
    CHECK(shmemx_barrier()); /* everybody's data is complete */
    sum_by_hand(region, sum);
    CHECK(shmemx_barrier()); /* everybody has read */
    CHECK(shmemx_all_reduce(data, N, SHMEMX_FLOAT, SHMEMX_SUM));
    EXPECT(memcmp(data, sum, N * sizeof *data) == 0);
    if (me == 0)
        printf("%d ranks: the sum by hand and shmemx_all_reduce agree in all %d numbers\n", shmemx_n_pes(), N);
    CHECK(shmemx_deregister(region));
    CHECK(shmemx_finalize());
    free(data);
    free(sum);
    return 0;
}
