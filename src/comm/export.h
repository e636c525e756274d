// SPDX-License-Identifier: Apache-2.0
// Keys of a PE's own memory: its symmetric heap and its registered regions, for processes outside the job.
#ifndef SHMEMI_COMM_EXPORT_H
#define SHMEMI_COMM_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map/share.h"

/* Makes a key of [address, address + bytes), which lies in one block of this PE's heap or in whole pages of a region
   that it registered. -EINVAL: neither; -EACCES: rights that only a segment of its own could keep. */
int shmemi_job_export(const void *address, size_t bytes, struct shmemi_export *what, char text[SHMEMI_KEY_TEXT]);

/* -ENOENT: this PE made no such key. */
int shmemi_job_revoke(const struct shmemi_key *key);

/* The heap block at this offset is being freed; the region is being deregistered (true: processes may have mapped it).
 */
void shmemi_job_forget_heap(size_t offset, size_t bytes);
bool shmemi_job_forget_region(uint64_t number);

/* What this process says of itself when it imports: its job and PE, or nothing. Any thread, at any time. */
void shmemi_job_claims(uint64_t *job, uint32_t *pe);

#endif
