// SPDX-License-Identifier: Apache-2.0
// Memory of handles. One that was closed stays readable for as long as the process lives, so that using it is an error
// and not a crash: it is used again, never freed, and not before many others were closed after it.
#ifndef SHMEMI_BASE_KEPT_H
#define SHMEMI_BASE_KEPT_H

#include <stddef.h>

struct shmemi_kept_link {
    struct shmemi_kept_link *next;
};

/* All handles of one type, which has a member `kept`. Static: = SHMEMI_KEPT(struct handle, 256). Any thread may call
   what follows; no other lock is taken. */
struct shmemi_kept {
    size_t bytes, align, link; /* where the link is; it is the list's while the handle is closed */
    unsigned least;            /* so many closed ones are kept before the oldest is used again */
    unsigned count, fork;
    struct shmemi_kept_link *first, *last;
};

#define SHMEMI_KEPT(type, at_least)                                                                                    \
    {                                                                                                                  \
        .bytes = sizeof(type), .align = _Alignof(type), .link = offsetof(type, kept), .least = at_least                \
    }

/* Memory for a handle: zeros, or what it was when it was put. NULL: there is none, and the error text says so. */
void *shmemi_kept_take(struct shmemi_kept *kept);

/* The handle was closed, and says so: what tells that is written before. NULL is nothing. */
void shmemi_kept_put(struct shmemi_kept *kept, void *handle);

#endif
