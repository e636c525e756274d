// SPDX-License-Identifier: Apache-2.0
// A back end for device memory that has no driver behind it: what the layers above it do, seen call by call. Its memory
// cannot be touched by the CPU, its streams do as little as they may until somebody waits for them, and any call can be
// made to fail. A test that is linked with it has this one type of device, "fake", with two devices.
#ifndef TESTS_LIB_FAKE_DEVICE_H
#define TESTS_LIB_FAKE_DEVICE_H

#include <stdbool.h>

#include "hal/device.h"

/* The n-th call from now on (1: the next) of those that can fail, fails with this code. 0: none does. */
void fake_fail(unsigned long nth, int code);
/* Whether it did. */
bool fake_failed(void);
/* How many calls there were. */
unsigned long fake_calls(void);
/* Pieces of memory, streams and sets of words that have not been given back. */
unsigned fake_live(void);

#endif
