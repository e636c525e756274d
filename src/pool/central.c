// SPDX-License-Identifier: Apache-2.0
// The pool's one lock: for whole slabs, large blocks, names and places. Small blocks do without it.
#include "pool_internal.h"

#include <errno.h>

#include "base/error.h"

void shmemi_central_take(struct shmemi_pool *pool)
{
    pthread_mutex_lock(&pool->central);
    int rc = shmemi_lock_take(&pool->state->lock, &pool->holders, pool->me);
    if (rc == -EOWNERDEAD) { /* every change is one store, so there are only sums and hints to mend */
        shmemi_units_recover(pool);
        shmemi_members_sweep(pool);
    }
}

void shmemi_central_give(struct shmemi_pool *pool)
{
    shmemi_lock_give(&pool->state->lock);
    pthread_mutex_unlock(&pool->central);
}
