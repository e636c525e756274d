// SPDX-License-Identifier: Apache-2.0
// older_devices: memory of a device that is older than the job, put into static data before anything is allocated.
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

static long here[100];

int main(void)
{
    shmemx_device_pool_t pool;
    void *buffer;
    long values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i + 7;
    if (shmemx_device_pool_create("cuda", 0, 1 << 20, &pool) < 0 ||
        shmemx_device_alloc(pool, sizeof values, 0, &buffer) < 0 ||
        shmemx_device_copy(buffer, values, sizeof values) < 0) {
        fprintf(stderr, "%s\n", shmemx_last_error());
        return 1;
    }
    shmem_init();
    shmem_putmem(here, buffer, sizeof values, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    int bad = memcmp(here, values, sizeof values) != 0;
    shmem_finalize();
    return shmemx_device_pool_close(pool) < 0 ? 2 : bad;
}
