// SPDX-License-Identifier: Apache-2.0
// cmocka with everything that it needs, tests that look for what they left behind, and texts of errors.
#ifndef TESTS_LIB_UNIT_H
#define TESTS_LIB_UNIT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

#include "base/error.h"
#include "leaks.h"

static inline int leaks_setup(void **state)
{
    (void)state;
    leaks_begin();
    return 0;
}

static inline int leaks_teardown(void **state)
{
    static char text[4096];
    (void)state;
    if (leaks_none(text, sizeof text))
        return 0;
    fprintf(stderr, "%s\n", text);
    return -1;
}

/* A test after which descriptors, shared memory and children are as they were. */
#define clean_test(f) cmocka_unit_test_setup_teardown(f, leaks_setup, leaks_teardown)

/* A call that has to succeed. */
#define ok(call)                                                                                                       \
    do {                                                                                                               \
        int ok_rc = (call);                                                                                            \
        if (ok_rc < 0)                                                                                                 \
            fail_msg("%s: %d (%s)", #call, ok_rc, shmemi_last_error());                                                \
    } while (0)

/* A call that has to fail with this code and a text with these words. */
#define refuses(code, words, call)                                                                                     \
    do {                                                                                                               \
        int refused_rc = (call);                                                                                       \
        if (refused_rc != -(code))                                                                                     \
            fail_msg("%s: %d instead of %d (%s)", #call, refused_rc, -(code), shmemi_last_error());                    \
        if (!strstr(shmemi_last_error(), words))                                                                       \
            fail_msg("%s: the text '%s' does not say '%s'", #call, shmemi_last_error(), words);                        \
    } while (0)

/* In a forked child, where cmocka cannot fail: ends it with the line as exit status and the reason on standard error.
 */
#define child_check(condition)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: in a child: '%s' does not hold (%s)\n", __FILE__, __LINE__, #condition,            \
                    shmemi_last_error());                                                                              \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* The child's end; fails unless it is exit status 0. */
static inline void child_succeeds(pid_t pid)
{
    int status = -1;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("the child ended with status %#x", (unsigned)status);
}

/* Under the thread sanitizer a child of a process with threads cannot start any. */
#if defined(__SANITIZE_THREAD__)
#define CHILDREN_START_THREADS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILDREN_START_THREADS 0
#endif
#endif
#ifndef CHILDREN_START_THREADS
#define CHILDREN_START_THREADS 1
#endif

/* A stream of random numbers that is the same for the same seed: xorshift64*. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

#endif
