// SPDX-License-Identifier: Apache-2.0
// The program's global variables, by address: from the table of symbols of its own file, which is read once, when it is
// first asked for. A file that was stripped, or is none that this knows, has none.
#ifndef SHMEMI_JOB_SYMBOLS_H
#define SHMEMI_JOB_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct shmemi_symbol {
    const char *name; /* stays */
    char *begin;
    size_t bytes;
};

/* The variable in which the range of bytes (at least one) begins or, if it begins in what only fills the space between
   variables, the one before that; true when the range goes past the variable's end. Nothing is claimed of what has no
   symbol. */
bool shmemi_symbol_passed(const void *address, size_t bytes, struct shmemi_symbol *out);

#endif
