// SPDX-License-Identifier: Apache-2.0
// Environment variables and the numbers in them.
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

const char *shmemi_setting(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static locale_t plain;

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod() with a point whatever the program's locale is. */
static double to_number(const char *text, char **end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

int shmemi_parse_size(const char *name, const char *text, size_t *out)
{
    char *end;
    bool number = isdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1]));
    double value = number && text[1] != 'x' && text[1] != 'X' ? to_number(text, &end) : NAN;
    if (!(value >= 0))
        return shmemi_fail(
            -EINVAL, "%s is '%s', which is no size: write a number and perhaps k, m, g or t, such as 512M", name, text);
    static const char suffixes[] = "kmgt";
    const char *at = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
    if (*end && !at)
        return shmemi_fail(-EINVAL, "%s is '%s': '%c' is none of the suffixes k, m, g and t", name, text, *end);
    if (at)
        value = ldexp(value, 10 * (int)(at - suffixes + 1));
    if (value >= 0x1p62)
        return shmemi_fail(-EINVAL, "%s is '%s', which is more than an address space", name, text);
    size_t whole = (size_t)value;
    *out = whole + (value > (double)whole);
    return 0;
}

int shmemi_parse_int(const char *name, const char *text, long low, long high, long *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return shmemi_fail(-EINVAL, "%s is '%s', but must be an integer from %ld to %ld", name, text, low, high);
    *out = value;
    return 0;
}

int shmemi_parse_seconds(const char *name, const char *text, double *out)
{
    char *end;
    double value = to_number(text, &end);
    if (end == text || *end || !(value >= 0))
        return shmemi_fail(-EINVAL, "%s is '%s', but must be a number of seconds, zero or more", name, text);
    *out = value;
    return 0;
}

int shmemi_setting_int(const char *name, long low, long high, long *out)
{
    const char *text = shmemi_setting(name);
    return text ? shmemi_parse_int(name, text, low, high, out) : 0;
}
