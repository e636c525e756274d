// SPDX-License-Identifier: Apache-2.0
// What the generated files include: a public function is its checks and one call into the layer below.
#ifndef SHMEMI_API_TYPED_H
#define SHMEMI_API_TYPED_H

#include "comm/active_set.h"
#include "comm/amo.h"
#include "comm/coll.h"
#include "comm/rma.h"
#include "comm/team.h"
#include "comm/wait.h"
#include "check.h"
#include "compare.h"
#include "publish.h"

/* The types of the standard are taken for those of LP64 Linux: the codes of reductions and the C11 macros
 * rely on it. */
_Static_assert(sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long) == 8 && sizeof(long long) == 8, "not LP64");
_Static_assert(_Generic((int64_t)0, long : 1) && _Generic((size_t)0, unsigned long : 1) &&
                   _Generic((ptrdiff_t)0, long : 1),
               "not LP64 Linux");

#endif
