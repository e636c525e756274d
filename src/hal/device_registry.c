// SPDX-License-Identifier: Apache-2.0
// Which back ends for memory of devices this build has. Alone in its file: a test is linked with another list.
#include <stddef.h>

#include "device.h"

const struct shmemi_device_hal *shmemi_device_hal(int index)
{
    static const struct shmemi_device_hal *const all[] = {&shmemi_device_ascend, &shmemi_device_cuda,
                                                          &shmemi_device_stand_in_npu, &shmemi_device_stand_in_cuda};
    _Static_assert(sizeof all / sizeof *all <= SHMEMI_DEVICE_HALS, "tables have a place for each");
    return index >= 0 && (size_t)index < sizeof all / sizeof *all ? all[index] : NULL;
}
