// SPDX-License-Identifier: Apache-2.0
// Two names for every public function.
#ifndef SHMEMI_API_PUBLISH_H
#define SHMEMI_API_PUBLISH_H

#include "pshmem.h"

/* The function is defined as pshmem_x; this gives it the name shmem_x, which a profiler may define in its
   place. Both are visible because the headers say so. Our own code calls neither, so a profiler sees the
   user's calls only. */
#define SHMEMI_PUBLISH(name) extern __typeof__(p##name) name __attribute__((weak, alias("p" #name)))

#endif
