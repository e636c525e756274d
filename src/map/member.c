// SPDX-License-Identifier: Apache-2.0
// Reading a member's alive word.
#include "member.h"

#include <linux/futex.h>

bool shmemi_member_died(const struct shmemi_member *member)
{
    /* [alive] acquire pairs with the kernel's marking: what the dead member wrote before is visible after this. */
    return atomic_load_explicit(&member->alive, memory_order_acquire) & FUTEX_OWNER_DIED;
}

bool shmemi_member_left(const struct shmemi_member *member)
{
    /* [left] acquire pairs with the release in shmemi_place_release(). */
    return atomic_load_explicit(&member->state, memory_order_acquire) == SHMEMI_MEMBER_LEFT;
}
