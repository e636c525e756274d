// SPDX-License-Identifier: Apache-2.0
// Cores available to this process: affinity, and the CPU quota of its cgroups.
#include "cpu.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Quota over period of one cgroup directory, or a huge number where there is no limit. */
static double quota_of(const char *directory, bool v2)
{
    char path[PATH_MAX + 32];
    double quota = -1, period = 0;
    snprintf(path, sizeof path, "%s/%s", directory, v2 ? "cpu.max" : "cpu.cfs_quota_us");
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%lf %lf", &quota, &period) < 1)
            quota = -1;
        fclose(file);
    }
    if (!v2 && quota > 0) {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
        file = fopen(path, "re");
        if (file) {
            if (fscanf(file, "%lf", &period) != 1)
                period = 0;
            fclose(file);
        }
    }
    return quota > 0 && period > 0 ? quota / period : 1e9;
}

/* The least quota from `mount` + `below` up to `mount`. */
static double least_quota(const char *mount, const char *below, bool v2)
{
    char path[PATH_MAX];
    double least = 1e9;
    int length = snprintf(path, sizeof path, "%s%s", mount, strcmp(below, "/") ? below : "");
    if (length < 0 || length >= (int)sizeof path)
        return least;
    for (size_t shortest = strlen(mount);;) {
        double here = quota_of(path, v2);
        least = here < least ? here : least;
        char *slash = strrchr(path, '/');
        if (!slash || (size_t)(slash - path) < shortest)
            return least;
        *slash = 0;
    }
}

static double cgroup_quota(void)
{
    double least = 1e9;
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MAX];
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        controllers++;
        double here = 1e9;
        if (!*controllers)
            here = least_quota("/sys/fs/cgroup", path, true);
        else if (!strcmp(controllers, "cpu") || !strncmp(controllers, "cpu,", 4))
            here = least_quota("/sys/fs/cgroup/cpu", path, false);
        least = here < least ? here : least;
    }
    if (file)
        fclose(file);
    return least;
}

void shmemi_cpu_mask(cpu_set_t *out)
{
    CPU_ZERO(out);
    if (sched_getaffinity(0, sizeof *out, out) == 0)
        return;
    for (size_t cpu = 0; cpu < (size_t)sysconf(_SC_NPROCESSORS_ONLN) && cpu < CPU_SETSIZE;
         cpu++) /* more than 1024 cores */
        CPU_SET(cpu, out);
}

int shmemi_cpu_cores(const cpu_set_t *mask)
{
    int cores = CPU_COUNT(mask);
    double quota = cgroup_quota();
    if (quota < cores)
        cores = (int)quota;
    return cores < 1 ? 1 : cores;
}
