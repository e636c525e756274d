// SPDX-License-Identifier: Apache-2.0
// The userfaultfd that holds back writers while pages move.
#ifndef SHMEMI_MAP_GUARD_H
#define SHMEMI_MAP_GUARD_H

#include <stdbool.h>

#include "map/inplace.h"

struct shmemi_guard_file {
    int fd; /* -1 with SHMEMI_GUARD_NONE */
    enum shmemi_guard strength;
};

/* Opens the strongest that this process may have, no stronger than asked for. One that can hold writers back
   in one direction only (kernels before 5.14) counts as none. Never fails. */
void shmemi_guard_open(struct shmemi_guard_file *guard, enum shmemi_guard strongest);
void shmemi_guard_close(struct shmemi_guard_file *guard);

#endif
