// SPDX-License-Identifier: Apache-2.0
// Where shmemrun puts PEs, on a machine that is made up: two sockets of two NUMA nodes of two cores of two threads.
// CPUs 0 to 7 are the first threads of all cores, and 8 to 15 the second ones.
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "launch.h"
#include "unit.h"

struct launch_options options;

void launch_usage_error(const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail_msg("%s", text);
    abort();
}

long launch_number(const char *option, const char *text, long low, long high)
{
    long value = strtol(text, NULL, 10);
    if (value < low || value > high)
        fail_msg("%s", option);
    return value;
}

static char sysfs[] = "/tmp/shmem-binding-XXXXXX";

static void write_file(int cpu, const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "mkdir -p %s/cpu%d/%s", sysfs, cpu, folder);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/cpu%d/%s/%s", sysfs, cpu, folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_machine(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(sysfs));
    for (int cpu = 0; cpu < 16; cpu++) {
        int core = cpu % 8, node = core / 2, socket = core / 4;
        char list[64], folder[16];
        snprintf(list, sizeof list, "%d,%d\n", core, core + 8);
        write_file(cpu, "topology", "thread_siblings_list", list);
        snprintf(list, sizeof list, "%d-%d,%d-%d\n", 4 * socket, 4 * socket + 3, 4 * socket + 8, 4 * socket + 11);
        write_file(cpu, "topology", "core_siblings_list", list);
        write_file(cpu, "cache/index3", "shared_cpu_list", list);
        snprintf(folder, sizeof folder, "node%d", node);
        write_file(cpu, folder, "x", "");
    }
    return 0;
}

static int remove_machine(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", sysfs);
    return system(command);
}

/* "0 8" and the like, of PE pe. */
static const char *of(int pe, const char *at, cpu_set_t allowed)
{
    static char text[200];
    cpu_set_t own;
    int used = 0;
    text[0] = 0;
    if (!launch_place(&options.binding, at, &allowed, pe, &own))
        return "none";
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &own))
            used += snprintf(text + used, sizeof text - (size_t)used, used ? " %zu" : "%zu", cpu);
    return text;
}

static cpu_set_t first(int count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t cpu = 0; cpu < (size_t)count; cpu++)
        CPU_SET(cpu, &set);
    return set;
}

static void places(void **state)
{
    static const struct {
        const char *bind, *map;
        const char *pes[6];
    } cases[] = {
        {"hwthread", NULL, {"0", "1", "2", "3", "4", "5"}},
        {"core", NULL, {"0 8", "1 9", "2 10", "3 11", "4 12", "5 13"}},
        {"core", "slot", {"0 8", "1 9", "2 10", "3 11", "4 12", "5 13"}},
        {"core:overload-allowed", "core", {"0 8", "1 9", "2 10", "3 11", "4 12", "5 13"}},
        {"numa", NULL, {"0 1 8 9", "2 3 10 11", "4 5 12 13", "6 7 14 15", "0 1 8 9", "2 3 10 11"}},
        {"socket", NULL, {"0 1 2 3 8 9 10 11", "4 5 6 7 12 13 14 15", "0 1 2 3 8 9 10 11"}},
        {"l3cache", NULL, {"0 1 2 3 8 9 10 11", "4 5 6 7 12 13 14 15", "0 1 2 3 8 9 10 11"}},
        {NULL, "socket", {"0 1 2 3 8 9 10 11", "4 5 6 7 12 13 14 15", "0 1 2 3 8 9 10 11"}},
        {"core", "socket", {"0 8", "4 12", "1 9", "5 13", "2 10", "6 14"}},
        {"core", "numa", {"0 8", "2 10", "4 12", "6 14", "1 9", "3 11"}},
        {"hwthread", "numa:oversubscribe", {"0", "2", "4", "6", "1", "3"}},
        {"socket", "numa", {"0 1 2 3 8 9 10 11", "0 1 2 3 8 9 10 11", "4 5 6 7 12 13 14 15", "4 5 6 7 12 13 14 15"}},
        {NULL, "slot:PE=2", {"0 1 8 9", "2 3 10 11", "4 5 12 13", "6 7 14 15", "0 1 8 9"}},
        {"hwthread", "core:PE=3", {"0 1 2", "3 4 5", "6 7 8", "9 10 11", "12 13 14", "0 1 15"}},
        {NULL, "socket:PE=2,oversubscribe", {"0 1 8 9", "4 5 12 13", "2 3 10 11", "6 7 14 15", "0 1 8 9"}},
        {"core", "ppr:2:socket", {"0 8", "1 9", "4 12", "5 13", "none", "none"}},
        {NULL, "ppr:1:numa", {"0 1 8 9", "2 3 10 11", "4 5 12 13", "6 7 14 15", "none"}},
        {NULL, "ppr:3:l3cache:PE=1", {"0 8", "1 9", "2 10", "4 12", "5 13", "6 14"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&options, 0, sizeof options);
        if (cases[i].bind)
            launch_bind_to(cases[i].bind);
        if (cases[i].map)
            launch_map_by(cases[i].map);
        launch_settle_binding(0);
        for (int pe = 0; pe < 6 && cases[i].pes[pe]; pe++)
            if (strcmp(of(pe, sysfs, first(16)), cases[i].pes[pe]))
                fail_msg("--bind-to %s --map-by %s: PE %d is on '%s' instead of '%s'", cases[i].bind, cases[i].map, pe,
                         of(pe, sysfs, first(16)), cases[i].pes[pe]);
    }
}

/* What is allowed may be a part of the machine, and the kernel may say nothing. */
static void parts_of_machines(void **state)
{
    cpu_set_t odd;
    (void)state;
    memset(&options, 0, sizeof options);
    launch_bind_to("core");
    launch_map_by("socket");
    launch_settle_binding(0);
    CPU_ZERO(&odd);
    CPU_SET(3, &odd);
    CPU_SET(12, &odd);
    CPU_SET(13, &odd);
    assert_string_equal(of(0, sysfs, odd), "3");
    assert_string_equal(of(1, sysfs, odd), "12");
    assert_string_equal(of(2, sysfs, odd), "3");
    assert_string_equal(of(3, sysfs, odd), "13");
    assert_string_equal(of(1, "/none", first(3)), "1");
    memset(&options, 0, sizeof options);
    launch_bind_to("numa");
    launch_settle_binding(0);
    assert_string_equal(of(1, "/none", first(3)), "0 1 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(parts_of_machines)};
    return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
