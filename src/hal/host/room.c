// SPDX-License-Identifier: Apache-2.0
// How much memory may still be taken: MemAvailable, and the limits of this process's cgroups up to the root.
//
// Going past a cgroup's limit is answered by the kernel with SIGKILL and not with an error, so the answer has to be
// known before. The figures are those of an instant; callers take memory in steps and ask before each.
#include "hal/hal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first number after `key` at the start of a line of the file; false if there is none ("max" is none). */
static bool read_number(const char *path, const char *key, size_t *out)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char line[256];
    size_t length = strlen(key);
    bool found = false;
    while (!found && fgets(line, sizeof line, file))
        found = !strncmp(line, key, length) && sscanf(line + length, " %zu", out) == 1;
    fclose(file);
    return found;
}

/* Takes the limit of one cgroup directory into account. */
static void consider(const char *directory, bool v2, struct shmemi_host_room *room)
{
    char path[PATH_MAX + 64];
    size_t limit, used, cache = 0;
    snprintf(path, sizeof path, "%s/%s", directory, v2 ? "memory.max" : "memory.limit_in_bytes");
    if (!read_number(path, "", &limit) || limit > SIZE_MAX / 4) /* v1 writes "no limit" as a number near 2^63 */
        return;
    snprintf(path, sizeof path, "%s/%s", directory, v2 ? "memory.current" : "memory.usage_in_bytes");
    if (!read_number(path, "", &used))
        return;
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    read_number(path, v2 ? "inactive_file" : "total_inactive_file", &cache); /* the kernel can drop this by itself */
    used = used > cache ? used - cache : 0;
    size_t left = limit > used ? limit - used : 0;
    if (limit < room->total)
        room->total = limit;
    if (left >= room->bytes)
        return;
    room->bytes = left;
    snprintf(room->limit, sizeof room->limit, "%s of the memory cgroup %.200s", v2 ? "memory.max" : "the limit",
             directory);
    if (snprintf(room->cgroup, sizeof room->cgroup, "%s", directory) >= (int)sizeof room->cgroup)
        *room->cgroup = 0;
}

static void consider_ancestors(const char *mount, const char *below, bool v2, struct shmemi_host_room *room)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s", mount, strcmp(below, "/") ? below : "");
    if (length < 0 || length >= (int)sizeof path)
        return;
    size_t shortest = strlen(mount);
    for (;;) {
        consider(path, v2, room);
        char *slash = strrchr(path, '/');
        if (!slash || (size_t)(slash - path) < shortest)
            return;
        *slash = 0;
    }
}

/* This process's path in the memory hierarchy, from /proc/self/cgroup: "4:memory:/a/b" (v1) or "0::/a/b" (v2). */
static bool own_cgroup(bool v2, char *out, size_t size)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return false;
    char line[PATH_MAX + 64];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        controllers++;
        found = v2 ? !*controllers : strstr(controllers, "memory") != NULL;
        if (found)
            snprintf(out, size, "%s", path);
    }
    fclose(file);
    return found;
}

/* Walks the mounted cgroup hierarchies in /proc/self/mountinfo. Its fields: id parent dev root mount options ... - type
   source super-options. `root` is the part of the hierarchy that the mount shows (not "/" in a container). */
static void consider_cgroups(struct shmemi_host_room *room)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return;
    char line[2 * PATH_MAX], root[PATH_MAX], mount[PATH_MAX], own[PATH_MAX];
    while (fgets(line, sizeof line, file)) {
        char *type = strstr(line, " - ");
        if (!type || sscanf(line, "%*d %*d %*s %4095s %4095s", root, mount) != 2)
            continue;
        type += 3;
        bool v2 = !strncmp(type, "cgroup2 ", 8);
        if (!v2 && (strncmp(type, "cgroup ", 7) || !strstr(type, "memory")))
            continue;
        if (!own_cgroup(v2, own, sizeof own))
            continue;
        size_t skip = strcmp(root, "/") ? strlen(root) : 0;
        consider_ancestors(mount, strncmp(own, root, skip) ? "/" : own + skip, v2, room);
    }
    fclose(file);
}

void shmemi_host_room(struct shmemi_host_room *out)
{
    size_t kib;
    *out = (struct shmemi_host_room){.bytes = SIZE_MAX, .total = SIZE_MAX, .limit = "nothing known"};
    if (read_number("/proc/meminfo", "MemAvailable:", &kib)) {
        out->bytes = kib * 1024;
        snprintf(out->limit, sizeof out->limit, "the machine's available memory");
    }
    if (read_number("/proc/meminfo", "MemTotal:", &kib))
        out->total = kib * 1024;
    consider_cgroups(out);
}
