// SPDX-License-Identifier: Apache-2.0
// Which back ends this build has.
#include <string.h>

#include "device.h"
#include "hal.h"

const struct shmemi_hal *shmemi_hal(enum shmemi_memory_kind kind)
{
    static const struct shmemi_hal *const kinds[SHMEMI_MEMORY_KINDS] = {[SHMEMI_MEMORY_HOST] = &shmemi_hal_host};
    return (unsigned)kind < SHMEMI_MEMORY_KINDS ? kinds[kind] : NULL;
}

static const struct shmemi_device_hal *find(const char *type, bool stands_in)
{
    const struct shmemi_device_hal *hal;
    for (int i = 0; (hal = shmemi_device_hal(i)) && (hal->stands_in != stands_in || strcmp(hal->type, type)); i++)
        continue;
    return hal;
}

const struct shmemi_device_hal *shmemi_device_of(const char *type)
{
    return find(type, false);
}

const struct shmemi_device_hal *shmemi_device_stand_in_of(const char *type)
{
    return find(type, true);
}

int shmemi_device_index(const struct shmemi_device_hal *hal)
{
    int i = 0;
    while (shmemi_device_hal(i) != hal)
        i++;
    return i;
}
