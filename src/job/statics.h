// SPDX-License-Identifier: Apache-2.0
// Static data of a program as symmetric memory: in programs that oshcc linked, .data and .bss are moved into shared
// memory before main. Also the owner of the process's in-place engine, which takes that memory over.
#ifndef SHMEMI_JOB_STATICS_H
#define SHMEMI_JOB_STATICS_H

#include <stddef.h>

struct shmemi_inplace;

/* The range moved: NULL and 0 if there is none. */
void shmemi_statics_range(char **begin, size_t *bytes);

/* Where PE pe's static data is mapped here: this PE's own in place, another's on first use. */
int shmemi_statics_view(int pe, char **out);

/* The engine that registers memory in place; made on first use, lives as long as the process. */
int shmemi_inplace_engine(struct shmemi_inplace **out);

#endif
