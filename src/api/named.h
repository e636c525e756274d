// SPDX-License-Identifier: Apache-2.0
// How functions of the extension interface answer: with their own name before the text of a failure.
#ifndef SHMEMI_API_NAMED_H
#define SHMEMI_API_NAMED_H

#include "base/error.h"

static inline int shmemi_named(const char *fn, int rc)
{
    return rc < 0 ? shmemi_fail_in(rc, "%s", fn) : rc;
}

#define NAMED(rc) shmemi_named(__func__, rc)

#endif
