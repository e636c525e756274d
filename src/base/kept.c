// SPDX-License-Identifier: Apache-2.0
// Closed handles, oldest first.
#include "kept.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* One lock for all lists. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned forks; /* in which a thread of the parent was at a list, that the child then has not */

/* Nobody waits for a lock before a fork, since that would be one more order of locks to keep: a child whose parent had
   a list half changed leaves what was in there. */
static void in_child(void)
{
    if (pthread_mutex_trylock(&lock) == 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    pthread_mutex_init(&lock, NULL);
    forks++;
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static void begin(struct shmemi_kept *kept)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
    pthread_mutex_lock(&lock);
    if (kept->fork != forks) {
        kept->first = kept->last = NULL;
        kept->count = 0;
        kept->fork = forks;
    }
}

static void *new_one(const struct shmemi_kept *kept)
{
    size_t align = kept->align < sizeof(void *) ? sizeof(void *) : kept->align;
    void *handle = aligned_alloc(align, (kept->bytes + align - 1) / align * align);
    if (handle)
        memset(handle, 0, kept->bytes);
    else
        shmemi_fail(-ENOMEM, "no private memory for a handle");
    return handle;
}

void *shmemi_kept_take(struct shmemi_kept *kept)
{
    struct shmemi_kept_link *link = NULL;
    begin(kept);
    if (kept->count > kept->least) {
        link = kept->first;
        kept->first = link->next;
        kept->count--;
    }
    pthread_mutex_unlock(&lock);
    return link ? (char *)link - kept->link : new_one(kept);
}

void shmemi_kept_put(struct shmemi_kept *kept, void *handle)
{
    if (!handle)
        return;
    struct shmemi_kept_link *link = (void *)((char *)handle + kept->link);
    begin(kept);
    link->next = NULL;
    if (kept->count++)
        kept->last->next = link;
    else
        kept->first = link;
    kept->last = link;
    pthread_mutex_unlock(&lock);
}
