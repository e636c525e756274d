// SPDX-License-Identifier: Apache-2.0
// Which back ends this build has.
#include "hal.h"

const struct shmemi_hal *shmemi_hal(enum shmemi_memory_kind kind)
{
    static const struct shmemi_hal *const kinds[SHMEMI_MEMORY_KINDS] = {[SHMEMI_MEMORY_HOST] = &shmemi_hal_host};
    return (unsigned)kind < SHMEMI_MEMORY_KINDS ? kinds[kind] : NULL;
}
