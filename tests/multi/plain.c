// SPDX-License-Identifier: Apache-2.0
// A program that was not linked by oshcc: a global is no symmetric address, and the message says why.
#include <shmem.h>

static long global;

int main(void)
{
    shmem_init();
    shmem_long_p(&global, 1, 0);
    shmem_finalize();
    return 0;
}
