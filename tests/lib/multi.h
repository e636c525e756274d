// SPDX-License-Identifier: Apache-2.0
// For programs of several PEs, started through tests/lib/harness.py and shmemrun: checks that name the PE, cases that
// everybody enters and leaves together, and a look for descriptors and mappings that a job left in its process.
#ifndef TESTS_LIB_MULTI_H
#define TESTS_LIB_MULTI_H

#include <errno.h>
#include <fcntl.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leaks.h"

#define MULTI_UNUSED __attribute__((unused))

MULTI_UNUSED static int me = -1, n = 0;

MULTI_UNUSED static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5), noreturn)) MULTI_UNUSED static void
multi_fail(const char *file, int line, const char *what, const char *format, ...)
{
    char text[2048];
    int used = snprintf(text, sizeof text, "PE %d: %s:%d: %s", me, file, line, what);
    va_list args;
    va_start(args, format);
    used += vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    va_end(args);
    fprintf(stderr, "%.1900s\n    last error: %s\n", text, shmemx_last_error());
    _exit(1);
}

#define FAIL(...) multi_fail(__FILE__, __LINE__, "", __VA_ARGS__)

/* CHECK(condition) or CHECK(condition, "format", ...) */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            multi_fail(__FILE__, __LINE__, "'" #condition "' does not hold", " " __VA_ARGS__);                         \
    } while (0)

/* A call that has to return this. */
#define GIVES(expected, call)                                                                                          \
    do {                                                                                                               \
        long long gives_found = (long long)(call), gives_wanted = (long long)(expected);                               \
        if (gives_found != gives_wanted)                                                                               \
            multi_fail(__FILE__, __LINE__, #call, " gave %lld instead of %lld", gives_found, gives_wanted);            \
    } while (0)

/* A call that has to fail with this code and a text with these words. */
#define REFUSES(code, words, call)                                                                                     \
    do {                                                                                                               \
        GIVES(-(code), call);                                                                                          \
        if (!strstr(shmemx_last_error(), words))                                                                       \
            multi_fail(__FILE__, __LINE__, #call, " does not say '%s'", words);                                        \
    } while (0)

/* --- cases -------------------------------------------------------------------------------------------------------- */

/* Every PE runs the case; a line of results for all of them together. */
#define CASE(function)                                                                                                 \
    do {                                                                                                               \
        GIVES(0, shmemx_barrier());                                                                                    \
        function();                                                                                                    \
        GIVES(0, shmemx_barrier());                                                                                    \
        if (me == 0)                                                                                                   \
            printf("ok - %s\n", #function);                                                                            \
    } while (0)

/* Leaves a case out, with the reason; the same on every PE. */
#define SKIP_CASE(name, ...)                                                                                           \
    do {                                                                                                               \
        if (me == 0) {                                                                                                 \
            printf("# skip: " __VA_ARGS__);                                                                            \
            printf("\nok - %s # SKIP\n", name);                                                                        \
        }                                                                                                              \
    } while (0)

MULTI_UNUSED static void multi_begin(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    leaks_begin();
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
}

/* Ends the job, and looks whether the process is as it was before. */
MULTI_UNUSED static int multi_end(void)
{
    char text[4096];
    GIVES(0, shmemx_finalize());
    CHECK(leaks_none(text, sizeof text), "%s", text);
    return 0;
}

/* --- random numbers ------------------------------------------------------------------------------------------------
 */

/* A stream that is the same for the same seed: xorshift64*. */
MULTI_UNUSED static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

#endif
