// SPDX-License-Identifier: Apache-2.0
// The step that every collective is made of: publish a few bytes, wait until everybody has, read everybody's.
#ifndef SHMEMI_COMM_EXCHANGE_H
#define SHMEMI_COMM_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* Publishes `bytes` (at most SHMEMI_PUBLISH_BYTES; 0 makes it a barrier) and returns when every PE has done the same in
   this round. Orders everything before it, on every PE, before everything after it. 0 or the errors of
   shmemi_await(), after which collectives of this process no longer work. */
int shmemi_exchange(const void *data, size_t bytes);

/* After shmemi_exchange(): what PE pe published in that round; valid until this PE begins its next exchange. */
const void *shmemi_published(int pe);

#endif
