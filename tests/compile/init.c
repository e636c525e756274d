// SPDX-License-Identifier: Apache-2.0
// A job that does nothing.
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
