// SPDX-License-Identifier: Apache-2.0
// Environment variables and the numbers in them.
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

const char *shmemi_setting(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* A number without sign or exponent, with a point whatever the locale says; *end is where it ends, text itself if there is
   none. */
static double plain_number(const char *text, const char **end)
{
    double value = 0, place = 1;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++)
        value = value * 10 + (*at - '0');
    if (*at == '.' && (at > text || isdigit((unsigned char)at[1])))
        for (at++; isdigit((unsigned char)*at); at++)
            value += (*at - '0') * (place /= 10);
    *end = at;
    return value;
}

int shmemi_parse_size(const char *name, const char *text, size_t *out)
{
    const char *end;
    double value = plain_number(text, &end);
    if (end == text)
        return shmemi_fail(-EINVAL, "%s is '%s', which is no size: write a number and perhaps k, m, g or t, such as 512M",
                           name, text);
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
    const char *end;
    double value = plain_number(text, &end);
    if (end == text || *end)
        return shmemi_fail(-EINVAL, "%s is '%s', but must be a number of seconds, zero or more", name, text);
    *out = value;
    return 0;
}

int shmemi_setting_int(const char *name, long low, long high, long *out)
{
    const char *text = shmemi_setting(name);
    return text ? shmemi_parse_int(name, text, low, high, out) : 0;
}
