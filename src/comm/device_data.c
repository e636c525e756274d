// SPDX-License-Identifier: Apache-2.0
#include "device_data.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "device/device.h"

int shmemi_device_data_begin(struct shmemi_device_data *d, void *data, size_t bytes, int fill)
{
    *d = (struct shmemi_device_data){.data = data, .bytes = bytes};
    if (!bytes || !shmemi_is_device(data))
        return 0;
    if (!(d->data = malloc(bytes)))
        return shmemi_fail(-ENOMEM, "no host memory for %zu bytes of a device that take part in a collective", bytes);
    d->device = data;
    int rc = fill ? shmemi_device_copy(d->data, data, bytes) : 0;
    if (rc < 0) {
        free(d->data);
        d->device = NULL;
    }
    return rc;
}

int shmemi_device_data_end(struct shmemi_device_data *d, int rc, int store)
{
    if (!d->device)
        return rc;
    if (rc >= 0 && store) {
        int copied = shmemi_device_copy(d->device, d->data, d->bytes);
        rc = copied < 0 ? copied : rc;
    }
    free(d->data);
    return rc;
}
