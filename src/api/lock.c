// SPDX-License-Identifier: Apache-2.0
// Distributed locks under their public names.
#include "comm/lock.h"

#include "check.h"
#include "publish.h"

void pshmem_set_lock(long *lock)
{
    shmemi_check_job("shmem_set_lock");
    shmemi_lock_set("shmem_set_lock", lock);
}
SHMEMI_PUBLISH(shmem_set_lock);

void pshmem_clear_lock(long *lock)
{
    shmemi_check_job("shmem_clear_lock");
    shmemi_lock_clear("shmem_clear_lock", lock);
}
SHMEMI_PUBLISH(shmem_clear_lock);

int pshmem_test_lock(long *lock)
{
    shmemi_check_job("shmem_test_lock");
    return shmemi_lock_test("shmem_test_lock", lock) ? 0 : 1;
}
SHMEMI_PUBLISH(shmem_test_lock);
