// SPDX-License-Identifier: Apache-2.0
// For tests of devices: each case in a process of its own, since a driver is opened once, does not survive fork, and
// looks for leaks when the process ends; and what a double of a driver offers them beside the driver's calls.
#ifndef TESTS_LIB_DOUBLES_H
#define TESTS_LIB_DOUBLES_H

#include <dlfcn.h>

#include "unit.h"

static const char *library; /* the double; from the command line */

static inline void alone(void (*run)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run();
        exit(0);
    }
    child_succeeds(pid);
}

/* In such a process: a call that has to succeed; one that has to fail with this code and a text with these words. */
#define good(call) child_check((call) == 0)
#define bad(code, words, call) child_check((call) == -(code) && strstr(shmemi_last_error(), words))

static inline void *in_double(const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *found = handle ? dlsym(handle, name) : NULL;
    child_check(found != NULL);
    return found;
}

/* Calls of the driver so far, and those that failed because they were told to. */
static inline unsigned long calls(void)
{
    return *(unsigned long *)in_double("double_calls");
}

static inline unsigned long failures(void)
{
    return *(unsigned long *)in_double("double_failures");
}

/* The nth call of that name from now on ("*": of any) answers with this code. */
static inline void fail_call(const char *call, int nth, int code)
{
    void (*function)(const char *, int, int) = NULL;
    void *found = in_double("double_fail");
    memcpy(&function, &found, sizeof function);
    function(call, nth, code);
}

/* Streams do nothing meanwhile. */
static inline void hold_streams(int on)
{
    void (*function)(int) = NULL;
    void *found = in_double("double_hold");
    memcpy(&function, &found, sizeof function);
    function(on);
}

#endif
