// SPDX-License-Identifier: Apache-2.0
// The comparisons that waits and tests make, one for each basic type; each is a shmemi_compare.
#ifndef SHMEMI_API_COMPARE_H
#define SHMEMI_API_COMPARE_H

#include <stdbool.h>

bool shmemi_compare_short(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_int(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_long(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_longlong(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_ushort(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_uint(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_ulong(const volatile void *ivar, int cmp, const void *value);
bool shmemi_compare_ulonglong(const volatile void *ivar, int cmp, const void *value);

#endif
