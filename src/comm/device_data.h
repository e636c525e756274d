// SPDX-License-Identifier: Apache-2.0
// Data of collectives that may lie in memory of a device: then a copy in host memory takes part for it.
#ifndef SHMEMI_COMM_DEVICE_DATA_H
#define SHMEMI_COMM_DEVICE_DATA_H

#include <stddef.h>

struct shmemi_device_data {
    void *data; /* what takes part */
    void *device;
    size_t bytes;
};

/* fill: with what is there. Host memory takes part itself. */
int shmemi_device_data_begin(struct shmemi_device_data *d, void *data, size_t bytes, int fill);

/* Copies the result back if the collective succeeded and `store` says so. The collective's rc, or the copy's. */
int shmemi_device_data_end(struct shmemi_device_data *d, int rc, int store);

#endif
