// SPDX-License-Identifier: Apache-2.0
// A memory cgroup of this test's own, below the one that it is in: cgroup v1 or v2, where the test may make one.
#ifndef TESTS_LIB_CGROUP_H
#define TESTS_LIB_CGROUP_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cgroup {
    char path[1200];
    const char *why_not;
};

static inline bool cgroup_write(const char *directory, const char *file, const char *text)
{
    char path[1400];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *f = fopen(path, "we");
    if (!f)
        return false;
    bool written = fputs(text, f) >= 0;
    return fclose(f) == 0 && written;
}

/* Whether a list in a file of a directory, such as cgroup.controllers, has a word. */
static inline bool cgroup_has(const char *directory, const char *file, const char *word)
{
    char path[1400], line[512] = "";
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *f = fopen(path, "re");
    bool found = f && fgets(line, sizeof line, f) && strstr(line, word);
    if (f)
        fclose(f);
    return found;
}

/* This process's directory in the hierarchy, or an empty text. */
static inline void cgroup_own(bool v2, char *out, size_t size)
{
    char line[1024], mount[512] = "", root[512] = "", own[512] = "";
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        line[strcspn(line, "\n")] = 0;
        if (path && (v2 ? controllers + 1 == path : !strncmp(controllers + 1, "memory", 6)))
            snprintf(own, sizeof own, "%.500s", path + 1);
    }
    if (file)
        fclose(file);
    file = fopen("/proc/self/mountinfo", "re");
    while (file && !*mount && fgets(line, sizeof line, file)) {
        const char *type = strstr(line, " - ");
        if (type &&
            (v2 ? !strncmp(type, " - cgroup2 ", 11) : !strncmp(type, " - cgroup ", 10) && strstr(type, "memory")))
            sscanf(line, "%*d %*d %*s %511s %511s", root, mount);
    }
    if (file)
        fclose(file);
    size_t skip = strcmp(root, "/") ? strlen(root) : 0;
    snprintf(out, size, "%s%s", mount, strcmp(own, "/") && strlen(own) >= skip ? own + skip : "");
    if (!*mount || !*own)
        *out = 0;
}

/* Makes one with this limit. NULL in why_not when it worked. */
static inline void cgroup_make(struct cgroup *group, size_t limit)
{
    char own[1024], text[32];
    snprintf(text, sizeof text, "%zu", limit);
    group->why_not = "no memory cgroup can be made here (it takes root and a writable cgroup file system)";
    for (int v2 = 0; v2 < 2; v2++) {
        cgroup_own(v2, own, sizeof own);
        snprintf(group->path, sizeof group->path, "%s/shmem-test-%d", own, (int)getpid());
        if (!*own)
            continue;
        if (v2)
            cgroup_write(own, "cgroup.subtree_control", "+memory");
        if (mkdir(group->path, 0755) != 0)
            continue;
        if (cgroup_write(group->path, v2 ? "memory.max" : "memory.limit_in_bytes", text)) {
            group->why_not = NULL;
            return;
        }
        rmdir(group->path);
    }
}

/* Puts the calling process into it. */
static inline bool cgroup_enter(const struct cgroup *group)
{
    char text[32];
    snprintf(text, sizeof text, "%d", (int)getpid());
    return cgroup_write(group->path, "cgroup.procs", text);
}

/* When everybody who was in it has ended. */
static inline void cgroup_remove(const struct cgroup *group)
{
    for (int i = 0; i < 200 && rmdir(group->path) != 0 && errno == EBUSY; i++)
        usleep(10000);
}

#endif
