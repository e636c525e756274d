// SPDX-License-Identifier: Apache-2.0
// Large copies.
#include "copy.h"

void shmemi_copy_large(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
