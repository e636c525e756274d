// SPDX-License-Identifier: Apache-2.0
// Libraries of drivers, opened at run time.
#ifndef SHMEMI_HAL_LIBRARY_H
#define SHMEMI_HAL_LIBRARY_H

#include <stdbool.h>

/* Opens the first of the names (NULL-terminated) that is to be had, by itself or in one of the folders
   (NULL-terminated; "$NAME/..." takes an environment variable). NULL when none is. *name: which it was. */
void *shmemi_library_open(const char *const *names, const char *const *folders, const char **name);

/* A function of an opened library. */
struct shmemi_library_call {
    const char *name, *since; /* since: the version of the driver's package that brought it */
    bool required;
    void (**at)(void); /* where it goes; NULL when the library has none */
};

/* Fills all. -ENOTSUP with the name and the version when a required one is missing. */
int shmemi_library_fill(void *library, const char *maker, const struct shmemi_library_call *calls, int count);

/* -ENOTSUP with the text for the first of the names (NULL-terminated) that is missing; 0 when all are there. */
int shmemi_library_has(const char *maker, const struct shmemi_library_call *calls, int count, const char *const *names);

#endif
