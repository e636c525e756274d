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

static inline int sleepers(pid_t pid)
{
    char path[32];
    int count = 0, untold = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *e; directory && (e = readdir(directory));) {
        int rc = *e->d_name == '.' ? 0 : sleeps(pid, e->d_name);
        count += rc > 0;
        untold += rc < 0;
    }
    if (directory)
        closedir(directory);
    return count ? count : untold ? -1 : 0;
}

/* Until so many threads of the process sleep in futexes, or ten seconds have passed. Where the system does not tell
   (another user's process, a kernel without that file) a time in which they mostly do. */
static inline void await_sleepers(pid_t pid, int count)
{
    for (int i = 0; i < 10000; i++) {
        int found = sleepers(pid);
        if (found < 0)
            break;
        if (found >= count)
            return;
        usleep(1000);
    }
    usleep(50000);
}

#endif
