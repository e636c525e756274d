// SPDX-License-Identifier: Apache-2.0
#include "start.h"

#include <pthread.h>

#include "device_heap.h"

/* After the first init of a job only. */
static int make_usual_heap(void)
{
    const struct shmemi_job_parts *parts = shmemi_current->parts;
    if (parts->kind.which == SHMEMI_KIND_HOST ||
        atomic_load_explicit(&parts->inits, memory_order_relaxed) > 1) /* [inits] */
        return 0;
    return shmemi_device_heap_make(parts->kind);
}

int shmemi_start(const struct shmemi_job_request *request)
{
    static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&starting);
    int rc = shmemi_init(request);
    if (rc == 0 && (rc = make_usual_heap()) < 0)
        shmemi_leave();
    pthread_mutex_unlock(&starting);
    return rc;
}
