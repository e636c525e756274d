// SPDX-License-Identifier: Apache-2.0
// Active sets: the PEs of the standard's old collectives, named by a triplet in each call. They have agreed on nothing
// before, so they meet in the pSync array of the program, which is symmetric and holds SHMEM_SYNC_VALUE before and
// after.
#ifndef SHMEMI_COMM_ACTIVE_SET_H
#define SHMEMI_COMM_ACTIVE_SET_H

#include <stddef.h>

#include "group.h"

/* What shmem.h says of pSync; api/ checks that they agree. */
/* Each word holds SHMEMI_SYNC_VALUE between calls; or 0 each, as in a static array that the program has not initialised:
   other implementations do not look, or use 0, so that there are such programs. */
enum { SHMEMI_SYNC_VALUE = -1, SHMEMI_SYNC_LONGS = 48 };

/* Begins a call on PE_start + i * 2^logPE_stride, i below PE_size. PEs that do not exist, a set that this PE is not in,
   and a pSync that is not symmetric or not as it has to be end the job. */
void shmemi_active_set_begin(const char *fn, struct shmemi_group *g, int pe_start, int log_pe_stride, int pe_size,
                             long *psync);

/* Ends it: pSync is as it was before. */
void shmemi_active_set_end(struct shmemi_group *g);

/* As shmemi_group_exchange() and shmemi_group_published(), which call these. */
int shmemi_active_set_exchange(struct shmemi_group *g, const void *data, size_t bytes);
const void *shmemi_active_set_published(const struct shmemi_group *g, int i);

#endif
