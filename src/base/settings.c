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

static const struct shmemi_setting_entry entries[] = {
    {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", "size: a number with k, m, g or t",
     "ceiling of the symmetric heap of each PE. Pages are taken when blocks are allocated, not before. More than the "
     "machine or its memory cgroup has is an error at init",
     "this PE's share of all memory"},
    {"SHMEM_SYMMETRIC_HEAP_SIZE", NULL, "as SHMEM_SYMMETRIC_SIZE",
     "the name of SHMEM_SYMMETRIC_SIZE in some other implementations, read where that is unset", "unset"},
    {"SHMEM_TIMEOUT", NULL, "seconds", "how long init waits for the other PEs", "60"},
    {"SHMEM_LOG", NULL, "error, warn, info, debug or trace, and perhaps areas: debug:map,job",
     "how much is said on the standard error", "warn"},
    {"SHMEM_DEBUG", "SMA_DEBUG", "anything, even nothing",
     "as SHMEM_LOG=debug; and mistakes are told that cost time to find: PEs that differ in what collective they call, "
     "with both named; the use of a block of the symmetric heap that was freed, or beyond its end, and of a global "
     "variable "
     "beyond its end, where the program has symbols; that the symmetric heap has no room, each time and not only once; "
     "cycles of waits for locks",
     "unset"},
    {"SHMEM_VERSION", "SMA_VERSION", "anything, even nothing", "PE 0 prints the version at start", "unset"},
    {"SHMEM_INFO", "SMA_INFO", "anything, even nothing", "PE 0 prints this list at start", "unset"},
    {"SHMEM_DIR", NULL, "folder",
     "where the sockets lie by which processes find each other, for processes that do not share a network namespace "
     "(containers)",
     "sockets without a name in any file system"},
    {"SHMEM_CORES", NULL, "number", "how many cores the job may use; decides whether waits spin",
     "those of all PEs' affinity masks together, cut by the CPU quota"},
    {"SHMEM_DEVICE_FALLBACK", NULL, "host",
     "where memory or a stream of a device (npu, cuda) is asked for that is not to be had, host memory stands in for "
     "it, "
     "and one warning of the job says so",
     "an error that says what is missing"},
    {"SHMEM_HEAP_KIND", NULL, "host, npu or cuda, perhaps with a device's number: npu:1",
     "what memory shmem_malloc and its brothers allocate; without a number each PE takes the device of its own number, "
     "modulo those that it sees. The same type on all PEs",
     "host"},
    {"SHMEM_DEVICE_HEAP_SIZE", NULL, "size: a number with k, m, g or t",
     "size of each PE's symmetric heap on a device, which is taken at once, in units of 2 MiB. The same on all PEs",
     "the least of the PEs' shares in a quarter of what is free on their devices, at most 1g"},
    {"SHMEM_ASCEND_LIBRARY", NULL, "file", "what is opened as the Ascend runtime", "libacl_rt.so, else libascendcl.so"},
    {"SHMEM_CUDA_LIBRARY", NULL, "file", "what is opened as the CUDA driver", "libcuda.so.1"},
    {"SHMEM_GUARD", NULL, "user or none", "register memory as if the kernel offered less protection (for tests)",
     "what the kernel offers"},
    {"SHMEM_JOB", NULL, "text", "set by shmemrun: the name of the job, which no other job has", "no job of shmemrun"},
    {"SHMEM_RANK", NULL, "number", "set by shmemrun: this PE, from 0", "needed with SHMEM_JOB"},
    {"SHMEM_SIZE", NULL, "number", "set by shmemrun: PEs in the job", "needed with SHMEM_JOB"},
    {"SHMEM_LAUNCHER", NULL, "shmemrun", "set by shmemrun: who tells people about PEs that died", "a PE tells"},
};

const struct shmemi_setting_entry *shmemi_setting_entry(size_t index)
{
    return index < sizeof entries / sizeof *entries ? &entries[index] : NULL;
}

static const struct shmemi_setting_entry *entry(const char *name)
{
    const struct shmemi_setting_entry *e;
    for (size_t i = 0; (e = shmemi_setting_entry(i)) && strcmp(e->name, name); i++)
        ;
    SHMEMI_ASSERT(e);
    return e;
}

bool shmemi_setting_is_set(const char *entry_name)
{
    const struct shmemi_setting_entry *e = entry(entry_name);
    return getenv(e->name) || (e->old_name && getenv(e->old_name));
}

const char *shmemi_setting_of(const char *entry_name, const char **name)
{
    const struct shmemi_setting_entry *e = entry(entry_name);
    const char *text = shmemi_setting(e->name), *used = e->name;
    if (!text && e->old_name)
        text = shmemi_setting(used = e->old_name);
    if (name)
        *name = text ? used : e->name;
    return text;
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
