// SPDX-License-Identifier: Apache-2.0
// Threads of this library's own.
#ifndef SHMEMI_BASE_THREAD_H
#define SHMEMI_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Starts one that takes no signals, with a stack of that many bytes, or of the usual size where thread-local variables
   of the program alone are larger. Negative errno, with a text that begins with what it is. */
int shmemi_thread_start(pthread_t *out, const char *what, size_t stack, void *(*run)(void *), void *argument);

#endif
