// SPDX-License-Identifier: Apache-2.0
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "error.h"

int shmemi_thread_start(pthread_t *out, const char *what, size_t stack, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    pthread_attr_t small;
    sigfillset(&all); /* signals belong to the program's own threads */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, stack); /* the usual 8 MiB matter where address space is limited */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(out, &small, run, argument);
    if (rc == EINVAL)
        rc = pthread_create(out, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
    return rc ? shmemi_fail(-rc,
                            "%s cannot be started: %s (%s; see the limits of address space and of processes: ulimit "
                            "-v, ulimit -u)",
                            what, strerror(rc), shmemi_errno_name(rc))
              : 0;
}
