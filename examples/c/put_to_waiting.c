// SPDX-License-Identifier: Apache-2.0
// Rank 0 puts an array to rank 1, which waits for it: once into whatever region rank 1 waits in, once into a region
// that it finds by name.   oshcc put_to_waiting.c -o put_to_waiting && shmemrun -n 2 ./put_to_waiting
#include "common.h"

enum { N = 1024 * 1024, BYTES = N * (int)sizeof(float) };

/* A second put into the same memory waits until the first was looked at: that is what the barrier is for. */
static void send_twice(void)
{
    float *data = malloc(BYTES);
    shmemx_region_t theirs;
    for (int i = 0; i < N; i++)
        data[i] = (float)i;
    CHECK(shmemx_put_to_waiting(1, 0, data, BYTES, 10));
    puts("rank 0: sent to whatever rank 1 waits in");
    CHECK(shmemx_barrier());
    for (int i = 0; i < N; i++)
        data[i] = (float)-i;
    CHECK(shmemx_region_find(1, "inbox", 0, 10, &theirs));
    CHECK(shmemx_put(theirs, 0, data, BYTES));
    puts("rank 0: sent to 'inbox'");
    CHECK(shmemx_region_close(theirs));
    free(data);
}

static void receive(shmemx_region_t region, const float *inbox, float sign)
{
    CHECK(shmemx_wait_event(region, SHMEMX_EVENT_WRITE, 10));
    for (int i = 0; i < N; i++)
        EXPECT(inbox[i] == sign * (float)i);
    printf("rank 1: received %d numbers\n", N);
}

static void receive_twice(void)
{
    float *inbox = calloc(N, sizeof *inbox);
    shmemx_region_attr_t named = SHMEMX_REGION_ATTR;
    shmemx_region_t region;
    named.name = "inbox";
    CHECK(shmemx_register(inbox, BYTES, &named, &region));
    receive(region, inbox, 1);
    CHECK(shmemx_barrier());
    receive(region, inbox, -1);
    CHECK(shmemx_deregister(region));
    free(inbox);
}

int main(void)
{
    CHECK(shmemx_init(NULL));
    if (shmemx_n_pes() < 2)
        puts("run this with at least two PEs: shmemrun -n 2 ./put_to_waiting");
    else if (shmemx_my_pe() == 0)
        send_twice();
    else if (shmemx_my_pe() == 1)
        receive_twice();
    else
        CHECK(shmemx_barrier()); /* the others only take part in that */
    CHECK(shmemx_finalize());
    return 0;
}
