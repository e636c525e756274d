// SPDX-License-Identifier: Apache-2.0
// Log lines: which are wanted, and how they look.
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace"};
enum { LEVELS = sizeof level_names / sizeof level_names[0] };

/* What the process as a whole wants to see. Changed while it has one thread only; but the first init and the first pool
   set it in whatever threads they are made, to the same values. */
static _Atomic int wanted_level = SHMEMI_LOG_WARN;
static _Atomic int own_pe = -1;
static char wanted_areas[128];

static void want(int level, const char *areas)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    /* [busy] acquire pairs with the release below. Whoever is at it writes the same. */
    if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        return;
    if (strncmp(wanted_areas, areas, sizeof wanted_areas - 1) != 0)
        snprintf(wanted_areas, sizeof wanted_areas, "%s", areas);
    /* [wanted] release: pairs with the acquire in shmemi_log_enabled(): the areas are there. */
    atomic_store_explicit(&wanted_level, level, memory_order_release);
    atomic_flag_clear_explicit(&busy, memory_order_release); /* [busy] */
}

int shmemi_log_configure(void)
{
    const char *setting = shmemi_setting("SHMEM_LOG");
    if (!setting) {
        want(shmemi_setting_is_set("SHMEM_DEBUG") ? SHMEMI_LOG_DEBUG : SHMEMI_LOG_WARN, "");
        return 0;
    }
    size_t length = strcspn(setting, ":");
    for (int level = 0; level < LEVELS; level++) {
        if (strlen(level_names[level]) == length && !strncmp(setting, level_names[level], length)) {
            want(level, setting[length] ? setting + length + 1 : "");
            return 0;
        }
    }
    return shmemi_fail(
        -EINVAL,
        "SHMEM_LOG is '%s', but must begin with error, warn, info, debug or trace, and may go on with ':' and areas",
        setting);
}

void shmemi_log_set_pe(int pe)
{
    atomic_store_explicit(&own_pe, pe, memory_order_relaxed); /* only decorates lines: nothing is ordered by it */
}

static bool area_wanted(const char *area)
{
    if (!*wanted_areas)
        return true;
    size_t length = strlen(area);
    for (const char *at = wanted_areas; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && !strncmp(at, area, length))
            return true;
    return false;
}

bool shmemi_log_enabled(enum shmemi_log_level level, const char *area)
{
    /* [wanted] acquire pairs with the release in want(). */
    if ((int)level > atomic_load_explicit(&wanted_level, memory_order_acquire))
        return false;
    return level <= SHMEMI_LOG_WARN || area_wanted(area);
}

void shmemi_log(enum shmemi_log_level level, const char *area, const char *format, ...)
{
    if (!shmemi_log_enabled(level, area))
        return;
    int saved = errno;
    char line[1280], who[32] = "";
    int pe = atomic_load_explicit(&own_pe, memory_order_relaxed); /* decoration, see shmemi_log_set_pe() */
    if (pe >= 0)
        snprintf(who, sizeof who, "PE %d ", pe);
    int used = snprintf(line, sizeof line, "shmem: %s(pid %d) %s %s: ", who, (int)getpid(), level_names[level], area);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    va_end(args);
    size_t length = (size_t)used + (more > 0 ? (size_t)more : 0);
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    line[length] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, length + 1);
    (void)ignored;
    errno = saved;
}
