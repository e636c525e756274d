// SPDX-License-Identifier: Apache-2.0
// The driver, opened once, and what it answers, in words.
#ifndef SHMEMI_HAL_CUDA_LOAD_H
#define SHMEMI_HAL_CUDA_LOAD_H

#include "driver.h"

enum { SHMEMI_CUDA_DEVICES = 64 };

/* Empty until shmemi_cuda_open() was successful. */
extern struct shmemi_cuda_driver shmemi_cuda;

/* Opens and initialises it; *count (may be NULL): devices, at least one. */
int shmemi_cuda_open(int *count);

/* 0 when the driver has all of these calls (NULL-terminated); else -ENOTSUP. */
int shmemi_cuda_has(const char *const *names);

/* 0 for success; else the errno that fits, with the call and the driver's words. */
int shmemi_cuda_result(cuda_result result, const char *call);
#define SHMEMI_CUDA(call, ...) shmemi_cuda_result(shmemi_cuda.call(__VA_ARGS__), #call)

#endif
