// SPDX-License-Identifier: Apache-2.0
// Waits until threads of a process sleep in a futex, instead of for a time in which they mostly do.
#ifndef TESTS_LIB_SLEEPERS_H
#define TESTS_LIB_SLEEPERS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* 1: the thread sleeps so; 0: it does not; -1: the system does not tell. */
static inline int sleeps(pid_t pid, const char *thread)
{
    char path[64], text[32];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/syscall", (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    int rc = fgets(text, sizeof text, file) ? 0 : -1;
    fclose(file);
    long call = rc == 0 && text[0] >= '0' && text[0] <= '9' ? strtol(text, NULL, 10) : -1; /* else "running" */
    return rc ? rc : call == SYS_futex || call == 449 /* futex_waitv */;
}

static inline int sleepers(void)
{
    int count = 0, untold = 0;
    DIR *directory = opendir("/proc/self/task");
    for (struct dirent *e; directory && (e = readdir(directory));) {
        int rc = *e->d_name == '.' ? 0 : sleeps(getpid(), e->d_name);
        count += rc > 0;
        untold += rc < 0;
    }
    if (directory)
        closedir(directory);
    return count ? count : untold ? -1 : 0;
}

/* Where the system does not tell (a kernel without that file): a time in which they mostly do. */
static inline bool slept(int found, int count)
{
    if (found >= count)
        return true;
    usleep(found < 0 ? 50000 : 1000);
    return found < 0;
}

/* Until so many threads of this process sleep in futexes, or ten seconds have passed. */
static inline void await_sleepers(int count)
{
    for (int i = 0; i < 10000 && !slept(sleepers(), count); i++)
        continue;
}

/* Until the first thread of another process does. */
static inline void await_sleeper(pid_t pid)
{
    char thread[16];
    snprintf(thread, sizeof thread, "%d", (int)pid);
    for (int i = 0; i < 10000 && !slept(sleeps(pid, thread), 1); i++)
        continue;
}

#endif
