// SPDX-License-Identifier: Apache-2.0
// Static data of a program as symmetric memory: in programs that oshcc linked, .data and .bss are moved into shared
// memory before main.
#ifndef SHMEMI_JOB_STATICS_H
#define SHMEMI_JOB_STATICS_H

#include <stddef.h>

/* Called by the object that oshcc links in, before main, with the program's range of static data. Exported for that
   object alone. */
__attribute__((visibility("default"))) void shmemi_static_data(char *begin, char *end);

/* The range moved: NULL and 0 if there is none. */
void shmemi_statics_range(char **begin, size_t *bytes);

/* Where PE pe's static data is mapped here: this PE's own in place, another's on first use. */
int shmemi_statics_view(int pe, char **out);

#endif
