// SPDX-License-Identifier: Apache-2.0
// The step that every collective is made of: publish a few bytes, wait until everybody has, read everybody's.
#ifndef SHMEMI_COMM_EXCHANGE_H
#define SHMEMI_COMM_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "group.h"

/* Publishes `bytes` (at most SHMEMI_PUBLISH_BYTES; 0 makes it a barrier) and returns when every member has done the
   same in this round. Orders everything before it, on every member, before everything after it. 0 or the errors of
   shmemi_await(), after which collectives of this group no longer work. One thread of a group at a time. */
int shmemi_group_exchange(struct shmemi_group *g, const void *data, size_t bytes);

/* After it: what member i published in that round; valid until this PE begins its next exchange in the group. */
const void *shmemi_group_published(const struct shmemi_group *g, int i);

/* The way that suits a group of so many in this job. */
enum shmemi_arrival shmemi_choose_arrival(int size);

/* Wakes the threads of a PE that sleep for arrivals, after a sequentially consistent store that they may wait for. */
void shmemi_wake_arrival(int pe);

/* Waits for such a store: done() is asked as by shmemi_await(). pe: who has to make it, and may have left when it has;
   -1: all PEs have to. */
int shmemi_await_arrival(bool (*done)(void *), void *argument, int pe);

/* The same for all PEs of the job. */
int shmemi_exchange(const void *data, size_t bytes);
const void *shmemi_published(int pe);

#endif
