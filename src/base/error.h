// SPDX-License-Identifier: Apache-2.0
// One error text per thread: written by the function that first knows the cause, lengthened by its callers.
#ifndef SHMEMI_BASE_ERROR_H
#define SHMEMI_BASE_ERROR_H

#define SHMEMI_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))

/* Replaces this thread's error text and returns rc (a negative errno), so that `return shmemi_fail(...)` reads well. */
int shmemi_fail(int rc, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* As shmemi_fail, and adds ": <text of errno> (<name of errno>)" for the system call that has just failed. Returns
 * -errno. */
int shmemi_fail_errno(const char *format, ...) SHMEMI_PRINTF(1, 2);

/* Puts "<formatted>: " before the text that is there; returns rc unchanged. */
int shmemi_fail_in(int rc, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* The text of the last failure of this thread; empty if there was none. Valid until the thread's next failure. */
const char *shmemi_last_error(void);

/* "ENOMEM" for ENOMEM; "E<number>" for one without a name here. */
const char *shmemi_errno_name(int number);

/* A broken promise of our own code: prints what and where, then aborts. On in every build. */
#define SHMEMI_ASSERT(condition)                                                                                       \
    do {                                                                                                               \
        if (__builtin_expect(!(condition), 0))                                                                         \
            shmemi_assert_failed(#condition, __FILE__, __LINE__);                                                      \
    } while (0)
_Noreturn void shmemi_assert_failed(const char *condition, const char *file, int line);

#endif
