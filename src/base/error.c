// SPDX-License-Identifier: Apache-2.0
// The error text of each thread.
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 1024 };

static _Thread_local char text[TEXT_SIZE];

int shmemi_fail(int rc, const char *format, ...)
{
    int saved = errno;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    errno = saved;
    return rc;
}

int shmemi_fail_errno(const char *format, ...)
{
    int number = errno;
    va_list args;
    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (used >= 0 && used < TEXT_SIZE)
        snprintf(text + used, sizeof text - (size_t)used, ": %s (%s)", strerror(number), shmemi_errno_name(number));
    errno = number;
    return number ? -number : -EIO;
}

int shmemi_fail_in(int rc, const char *format, ...)
{
    char inner[TEXT_SIZE];
    memcpy(inner, text, sizeof inner);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (used >= 0 && used < TEXT_SIZE)
        snprintf(text + used, sizeof text - (size_t)used, ": %.*s", TEXT_SIZE - used > 3 ? TEXT_SIZE - used - 3 : 0,
                 inner);
    return rc;
}

const char *shmemi_last_error(void)
{
    return text;
}

const char *shmemi_errno_name(int number)
{
    static _Thread_local char unnamed[16];
    const char *name = strerrorname_np(number);
    if (name)
        return name;
    snprintf(unnamed, sizeof unnamed, "E%d", number);
    return unnamed;
}

void shmemi_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "shmem: internal error at %s:%d: '%s' does not hold; please report this\n", file, line, condition);
    abort();
}
