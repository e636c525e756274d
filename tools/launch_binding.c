// SPDX-License-Identifier: Apache-2.0
// Which CPUs a PE is bound to. What belongs together (threads of a core, cores of a socket) is read from the kernel's
// sysfs; where that says nothing, a CPU is a core of its own, and all of them are one of everything larger.
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

/* The number that all CPUs of one such part have in common, and no others; -1: it is not said. */
static int first_number_in(const char *path)
{
    int number = -1;
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%d", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

static int node_of(const char *folder)
{
    int number = -1;
    DIR *directory = opendir(folder);
    for (struct dirent *e; directory && number < 0 && (e = readdir(directory));)
        if (sscanf(e->d_name, "node%d", &number) != 1)
            number = -1;
    if (directory)
        closedir(directory);
    return number;
}

static int part_of(const char *sysfs, int cpu, enum launch_unit unit)
{
    /* Lists of the CPUs that belong together, of which the first stands for all. */
    static const char *const lists[] = {[UNIT_CORE] = "topology/thread_siblings_list",
                                        [UNIT_CACHE] = "cache/index3/shared_cpu_list",
                                        [UNIT_SOCKET] = "topology/core_siblings_list"};
    char path[512];
    int part;
    snprintf(path, sizeof path, "%s/cpu%d", sysfs, cpu);
    if (unit == UNIT_NUMA)
        return node_of(path);
    if (unit == UNIT_THREAD)
        return cpu;
    snprintf(path, sizeof path, "%s/cpu%d/%s", sysfs, cpu, lists[unit]);
    part = first_number_in(path);
    return part < 0 && unit == UNIT_CORE ? cpu : part;
}

/* The parts of such a kind in a set of CPUs, in the order of their first CPUs. */
struct parts {
    int count;
    cpu_set_t sets[CPU_SETSIZE];
};

static void divide(const char *sysfs, const cpu_set_t *cpus, enum launch_unit unit, struct parts *out)
{
    int keys[CPU_SETSIZE];
    out->count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        int key = part_of(sysfs, cpu, unit), i = 0;
        while (i < out->count && keys[i] != key)
            i++;
        if (i == out->count) {
            keys[out->count++] = key;
            CPU_ZERO(&out->sets[i]);
        }
        CPU_SET((size_t)cpu, &out->sets[i]);
    }
}

/* Whether PEs are placed in parts of the host, and not merely in turn. */
static bool in_parts(const struct launch_binding *how)
{
    return how->map > UNIT_CORE || how->per_part;
}

bool launch_place(const struct launch_binding *how, const char *sysfs, const cpu_set_t *allowed, int pe, cpu_set_t *out)
{
    static struct parts parts; /* too large for a stack */
    cpu_set_t within = *allowed;
    int turn = pe;
    if (in_parts(how)) {
        divide(sysfs, allowed, how->map, &parts);
        int place = how->per_part ? pe / how->per_part : pe % parts.count;
        if (place >= parts.count)
            return false;
        turn = how->per_part ? pe % how->per_part : pe / parts.count;
        within = parts.sets[place];
    }
    CPU_ZERO(out);
    divide(sysfs, how->bind > how->map ? allowed : &within, how->bind, &parts);
    if (how->bind > how->map && in_parts(how)) { /* the larger one around it */
        int i = 0;
        cpu_set_t both;
        do
            CPU_AND(&both, &parts.sets[i], &within);
        while (CPU_COUNT(&both) == 0 && ++i < parts.count);
        *out = parts.sets[i];
        return true;
    }
    for (int i = 0; i < how->width; i++)
        CPU_OR(out, out, &parts.sets[(turn * how->width + i) % parts.count]);
    return true;
}

/* --- the words of the command line -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum launch_unit unit;
} units[] = {{"none", UNIT_NONE},      {"hwthread", UNIT_THREAD}, {"core", UNIT_CORE},
             {"l3cache", UNIT_CACHE},  {"numa", UNIT_NUMA},       {"socket", UNIT_SOCKET},
             {"package", UNIT_SOCKET}, {"slot", UNIT_NONE},       {"node", UNIT_NONE}};

static bool unit_named(const char *word, enum launch_unit *out)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(word, units[i].word)) {
            *out = units[i].unit;
            return true;
        }
    return false;
}

/* ":overload-allowed" and the like are always so here. */
void launch_bind_to(const char *text)
{
    size_t length = strcspn(text, ":");
    char *word = strndup(text, length);
    static const char *const always[] = {"", ":overload-allowed", ":if-supported"};
    size_t more = 0;
    while (more < sizeof always / sizeof *always && strcmp(text + length, always[more]))
        more++;
    if (!word || more == sizeof always / sizeof *always || !strcmp(word, "slot") || !strcmp(word, "node") ||
        !unit_named(word, &options.binding.bind))
        launch_usage_error("--bind-to is '%s', but must be 'core', 'hwthread', 'l3cache', 'numa', 'socket' or 'none'",
                           text);
    options.binding.bound = true;
    free(word);
}

static void modify(const char *option, const char *text, const char *word)
{
    if (!strcasecmp(word, "oversubscribe") || !strcasecmp(word, "nooversubscribe")) {
        options.crowd = !strcasecmp(word, "oversubscribe");
        options.no_crowd = !options.crowd;
    } else if (!strncasecmp(word, "pe=", 3))
        options.binding.width = (int)launch_number("PE of --map-by", word + 3, 1, CPU_SETSIZE);
    else
        launch_usage_error("%s is '%s', but behind the colon only PE=N, oversubscribe and nooversubscribe are possible",
                           option, text);
}

static enum launch_unit map_unit(const char *option, const char *text, const char *word)
{
    enum launch_unit unit = UNIT_NONE;
    if (*word && (!strcmp(word, "none") || !unit_named(word, &unit)))
        launch_usage_error("%s is '%s', but must be 'slot', 'core', 'hwthread', 'l3cache', 'numa', 'socket' or 'node'",
                           option, text);
    return unit;
}

/* ppr:N:UNIT */
static bool per_part(const char *option, const char *text, char *words)
{
    char *number = strtok_r(words, ":", &words), *unit = NULL;
    if (!number || strcmp(number, "ppr"))
        return false;
    number = strtok_r(NULL, ":", &words);
    unit = strtok_r(NULL, ":", &words);
    if (!number || !unit)
        launch_usage_error("%s is '%s', but must be such as ppr:2:socket", option, text);
    int n = (int)launch_number(option, number, 1, PES_MOST);
    options.binding.map = map_unit(option, text, unit);
    if (!strcmp(unit, "node"))
        options.per_host = n;
    else if (options.binding.map != UNIT_NONE)
        options.binding.per_part = n;
    else
        launch_usage_error(
            "%s is '%s', but of this kind only node, socket, numa, l3cache, core and hwthread are possible", option,
            text);
    for (char *word; (word = strtok_r(NULL, ":,", &words));)
        modify(option, text, word);
    return true;
}

void launch_map_by(const char *text)
{
    const char *option = "--map-by";
    char *copy = strdup(text), *words = copy, *colon = strchr(text, ':');
    if (!copy || per_part(option, text, words)) {
        free(copy);
        return;
    }
    strcpy(copy, text); /* strtok_r() has cut it */
    words = copy + (colon ? colon - text : (ptrdiff_t)strlen(text));
    if (colon)
        *words++ = 0;
    options.binding.map = map_unit(option, text, copy);
    for (char *word, *rest = words; (word = strtok_r(NULL, ",:", &rest));)
        modify(option, text, word);
    free(copy);
}

void launch_rank_by(const char *text)
{
    enum launch_unit unit = map_unit("--rank-by", text, text);
    if (unit > UNIT_CORE && unit != options.binding.map)
        launch_usage_error("--rank-by is '%s', but PEs are numbered in the order in which --map-by places them: say "
                           "--map-by %s",
                           text, text);
}

int launch_places(void)
{
    static struct parts parts; /* too large for a stack */
    cpu_set_t allowed;
    if (!options.binding.per_part || sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return 0;
    divide("/sys/devices/system/cpu", &allowed, options.binding.map, &parts);
    return options.binding.per_part * parts.count;
}

/* true also where nothing is known. */
static bool place_here(int pe, cpu_set_t *out)
{
    cpu_set_t allowed;
    CPU_ZERO(out);
    return options.binding.bind == UNIT_NONE || sched_getaffinity(0, sizeof allowed, &allowed) < 0 ||
           launch_place(&options.binding, "/sys/devices/system/cpu", &allowed, pe, out);
}

/* What --map-by alone binds to: the part that it names; with PE=N so many cores. */
void launch_settle_binding(int pes)
{
    struct launch_binding *b = &options.binding;
    if (b->width && !b->bound)
        b->bind = UNIT_CORE;
    else if (in_parts(b) && !b->bound)
        b->bind = b->map;
    if (b->width > 1 && b->bind > UNIT_CORE)
        launch_usage_error("--map-by ...:PE=%d asks for CPUs of its own for each PE: bind to cores or hwthreads",
                           b->width);
    b->width += b->width == 0;
    cpu_set_t own;
    if (pes && !place_here(pes - 1, &own))
        launch_usage_error("%d PEs are asked for, but --map-by ppr:%d:... has places for fewer: this host has too few "
                           "of these",
                           pes, b->per_part);
}

void launch_bind(int pe)
{
    cpu_set_t own;
    if (options.binding.bind != UNIT_NONE && place_here(pe, &own) && CPU_COUNT(&own))
        sched_setaffinity(0, sizeof own, &own);
}
