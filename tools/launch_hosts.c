// SPDX-License-Identifier: Apache-2.0
// Hosts on shmemrun's command line. A job runs on one host, so they can only be names of this one; what counts of them
// is how many PEs they allow.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"

static bool is_this_host(const char *name)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    size_t first = strcspn(own, ".");
    return !strcmp(name, "localhost") || !strcmp(name, "127.0.0.1") || !strcmp(name, "::1") || !strcmp(name, own) ||
           (strlen(name) == first && !strncmp(name, own, first)) ||
           (!strncmp(name, own, strlen(own)) && name[strlen(own)] == '.');
}

static void add_host(const char *option, const char *name, const char *slots)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    if (!is_this_host(name))
        launch_usage_error("%s names '%s', which is not this host ('%s'): this build starts jobs on one host", option,
                           name, own);
    options.slots_said |= slots != NULL;
    options.slots += slots ? (int)launch_number(option, slots, 1, PES_MOST) : 1;
    if (options.slots > PES_MOST)
        options.slots = PES_MOST;
}

void launch_read_hosts(const char *option, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    for (char *one; copy && (one = strsep(&rest, ","));) {
        char *colon = !strncmp(one, "::1", 3) ? strchr(one + 3, ':') : strchr(one, ':');
        if (colon)
            *colon++ = 0;
        if (!*one)
            launch_usage_error("%s is '%s', but must be names of hosts, such as localhost:4", option, list);
        add_host(option, one, colon);
    }
    free(copy);
}

/* "name", "name slots=4", "name:4", "# remark" */
static void read_line(const char *option, char *line)
{
    char *slots = NULL;
    line[strcspn(line, "#\r\n")] = 0;
    char *name = strtok(line, " \t");
    if (!name)
        return;
    char *colon = strchr(name, ':');
    if (colon && strcmp(name, "::1")) {
        *colon = 0;
        slots = colon + 1;
    }
    for (char *word; (word = strtok(NULL, " \t"));) {
        if (!strncmp(word, "slots=", 6))
            slots = word + 6;
        else if (strncmp(word, "max_slots=", 10) && strncmp(word, "max-slots=", 10))
            launch_usage_error("%s: '%s' after host '%s' is not understood: slots=N is", option, word, name);
    }
    add_host(option, name, slots);
}

void launch_read_hostfile(const char *option, const char *path)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    if (!file)
        launch_usage_error("%s '%s': %s", option, path, strerror(errno));
    while (fgets(line, sizeof line, file))
        read_line(option, line);
    fclose(file);
    if (options.slots == 0)
        launch_usage_error("%s '%s' names no host", option, path);
}
