// SPDX-License-Identifier: Apache-2.0
// AscendCL, opened once, and what it answers, in words.
#ifndef SHMEMI_HAL_ASCEND_LOAD_H
#define SHMEMI_HAL_ASCEND_LOAD_H

#include "driver.h"

enum { SHMEMI_ASCEND_DEVICES = 64 };

extern struct shmemi_ascend_driver shmemi_ascend;

int shmemi_ascend_open(int *count);
int shmemi_ascend_has(const char *const *names);
int shmemi_ascend_result(int result, const char *call);
#define SHMEMI_ASCEND(call, ...) shmemi_ascend_result(shmemi_ascend.call(__VA_ARGS__), #call)

#endif
