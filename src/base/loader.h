// SPDX-License-Identifier: Apache-2.0
// Opening a shared library at run time, where that is possible.
#ifndef SHMEMI_BASE_LOADER_H
#define SHMEMI_BASE_LOADER_H

#include <stdbool.h>

/* Whether this process can open libraries at all: a program that is linked statically cannot. */
bool shmemi_loader_works(void);

/* dlopen(name, flags). NULL: why not is in *why (unless that is NULL), valid until the thread's next call. */
void *shmemi_loader_open(const char *name, int flags, const char **why);

#endif
