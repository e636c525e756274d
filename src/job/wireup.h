// SPDX-License-Identifier: Apache-2.0
// Finding together: PE 0 collects the heaps' descriptors and gives everybody all of them and the control segment.
#ifndef SHMEMI_JOB_WIREUP_H
#define SHMEMI_JOB_WIREUP_H

#include <stdint.h>

#include "control.h"
#include "identity.h"

struct shmemi_wireup {
    int listener; /* this PE's own; goes on as the service's */
    int control;  /* descriptor of the control segment */
    int *heaps;   /* descriptors of all heaps, by PE; this PE's own included; malloc'ed */
    size_t control_bytes;
};

/* Bytes of the control segment; of its beginning, whose pages are taken at once; and where PE pe's channels and its directory
   begin. */
size_t shmemi_control_bytes(int n);
size_t shmemi_control_head(int n);
size_t shmemi_channels_offset(int n, int pe);
size_t shmemi_directory_offset(int n, int pe);

/* heap: this PE's own heap descriptor, which `out` takes over on success. Returns when everybody has been heard of, or
   with an error at the deadline, naming who has not come. On failure everything is closed. */
int shmemi_wireup(const struct shmemi_identity *identity, int heap, size_t heap_size, size_t stride, int64_t deadline,
                  struct shmemi_wireup *out);

#endif
