// SPDX-License-Identifier: Apache-2.0
// Environment variables: read, checked, and refused with the reason.
#ifndef SHMEMI_BASE_SETTINGS_H
#define SHMEMI_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The variable's text, or NULL if it is unset or empty. */
const char *shmemi_setting(const char *name);

/* The one list of this library's variables: who prints or documents them reads it. */
struct shmemi_setting_entry {
    const char *name, *old_name; /* old_name: read where name is unset; NULL: none */
    const char *form;            /* what may be in it */
    const char *meaning;
    const char *normal; /* what holds while it is unset */
};
/* The index-th, or NULL past the last. */
const struct shmemi_setting_entry *shmemi_setting_entry(size_t index);

/* The text of an entry's variable, by either name; NULL if both are unset or empty. name (may be NULL): by which. */
const char *shmemi_setting_of(const char *entry_name, const char **name);

/* Whether an entry's variable is set by either name, even to nothing: the standard's switches are on by being set. */
bool shmemi_setting_is_set(const char *entry_name);

/* A size such as "512", "3.1M", ".5g" (k, m, g, t in either case are powers of 1024; what follows the suffix is
   ignored, as the standard says). Returns 0, or -EINVAL naming `name` and what it holds. */
int shmemi_parse_size(const char *name, const char *text, size_t *out);

/* An integer in [low, high]. Returns 0, or -EINVAL naming `name`, what it holds and the range. */
int shmemi_parse_int(const char *name, const char *text, long low, long high, long *out);

/* A time in seconds, zero or more. Returns 0, or -EINVAL. */
int shmemi_parse_seconds(const char *name, const char *text, double *out);

/* As shmemi_parse_int on the variable; leaves *out alone when it is unset. */
int shmemi_setting_int(const char *name, long low, long high, long *out);

#endif
