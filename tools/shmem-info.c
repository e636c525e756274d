// SPDX-License-Identifier: Apache-2.0
// shmem-info: version, build, limits of this host, and the environment variables with what they hold.
#include <dlfcn.h>
#include <getopt.h>
#include <sched.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool json;
static int depth, count[8]; /* of JSON objects and lists that are open, and of what is in each */

/* --- writing: one description, two forms ------------------------------------------------------------------------ */

static void quote(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < ' ')
            printf("\\u%04x", *c);
        else
            putchar(*c);
    putchar('"');
}

static void begin_member(const char *key)
{
    if (!json)
        return;
    printf("%s\n%*s", count[depth]++ ? "," : "", 2 * depth, "");
    if (key) {
        quote(key);
        fputs(": ", stdout);
    }
}

static void open_group(const char *key, const char *title, char bracket)
{
    begin_member(key);
    if (json)
        putchar(bracket);
    else if (title)
        printf("%s%s\n", count[0]++ ? "\n" : "", title);
    count[++depth] = 0;
}

static void close_group(char bracket)
{
    depth--;
    if (json)
        printf("\n%*s%c", 2 * depth, "", bracket);
}

static void text(const char *key, const char *label, const char *value)
{
    begin_member(key);
    if (json && value)
        quote(value);
    else if (json)
        fputs("null", stdout);
    else
        printf("  %-24s %s\n", label ? label : key, value ? value : "not set");
}

static void size(const char *key, const char *label, unsigned long long bytes, bool unlimited)
{
    char shown[64];
    if (json) {
        begin_member(key);
        if (unlimited)
            fputs("null", stdout);
        else
            printf("%llu", bytes);
        return;
    }
    int unit = 0;
    double value = (double)bytes;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    snprintf(shown, sizeof shown, "%.*f %s", unit ? 1 : 0, value, units[unit]);
    text(key, label, unlimited ? "unlimited" : shown);
}

static void number(const char *key, const char *label, unsigned long long value, bool unlimited)
{
    char shown[32];
    snprintf(shown, sizeof shown, "%llu", value);
    if (json) {
        begin_member(key);
        fputs(unlimited ? "null" : shown, stdout);
    } else
        text(key, label, unlimited ? "unlimited" : shown);
}

/* --- what there is to say --------------------------------------------------------------------------------------- */

static void about(void)
{
    int major, minor;
    char standard[32];
    shmem_info_get_version(&major, &minor);
    snprintf(standard, sizeof standard, "%d.%d", major, minor);
    text("version", "version", shmemx_version());
    text("openshmem", "OpenSHMEM", standard);
    text("build", "built by", shmemx_build());
    text("thread_level", "thread level", "SHMEM_THREAD_MULTIPLE");
}

/* What the environment says of a variable that this library reads. */
static const char *value_of(const char *name, const char *unset)
{
    shmemx_setting_t s;
    for (int i = 0; shmemx_setting(i, &s) == 0; i++)
        if (!strcmp(s.name, name) && s.value && *s.value)
            return s.value;
    return unset;
}

static void memory(int n_pes)
{
    shmemx_limits_t limits;
    if (shmemx_limits(n_pes, &limits) < 0) {
        fprintf(stderr, "shmem-info: %s\n", shmemx_last_error());
        exit(2);
    }
    size("memory", "memory", limits.memory, false);
    size("memory_left", "may be taken now", limits.memory_left, false);
    text("memory_limited_by", "limited by", limits.memory_limit);
    number("n_pes", "PEs that are asked about", (unsigned)n_pes, false);
    size("heap", "heap of each, normally", limits.heap, false);
    text("heap_kind", "kind of its memory", value_of("SHMEM_HEAP_KIND", "host"));
    number("pes_most", "PEs in a job, at most", (unsigned)limits.pes_most, false);
}

static void limit(const char *key, const char *label, rlim_t value, bool bytes)
{
    (bytes ? size : number)(key, label, value, value == RLIM_INFINITY);
}

static unsigned long long read_number(const char *path)
{
    unsigned long long value = 0;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

static void host(void)
{
    struct rlimit now = {0, 0};
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    number("cpus", "CPUs online", (unsigned long long)sysconf(_SC_NPROCESSORS_ONLN), false);
    number("cpus_allowed", "CPUs allowed here", (unsigned long long)CPU_COUNT(&allowed), false);
    getrlimit(RLIMIT_NOFILE, &now);
    limit("open_files", "open files", now.rlim_cur, false);
    getrlimit(RLIMIT_MEMLOCK, &now);
    limit("locked_memory", "locked memory", now.rlim_cur, true);
    getrlimit(RLIMIT_AS, &now);
    limit("address_space", "address space", now.rlim_cur, true);
    getrlimit(RLIMIT_FSIZE, &now);
    limit("file_size", "size of a file", now.rlim_cur, true);
    number("mappings", "mappings of a process", read_number("/proc/sys/vm/max_map_count"), false);
    number("huge_pages", "huge pages reserved", read_number("/proc/sys/vm/nr_hugepages"), false);
    struct statvfs shm;
    if (statvfs("/dev/shm", &shm) == 0)
        size("dev_shm", "/dev/shm (not used)", (unsigned long long)shm.f_blocks * shm.f_frsize, false);
    else
        text("dev_shm", "/dev/shm (not used)", NULL);
}

static void backends(void)
{
    shmemx_backend_t one;
    for (int i = 0; shmemx_backend(i, &one) == 0; i++)
        text(one.type, one.type, one.usable ? "usable" : one.text);
    void *pmix = dlopen("libpmix.so.2", RTLD_LAZY);
    const char *why = pmix ? NULL : dlerror();
    text("pmix", "PMIx client", pmix ? "libpmix.so.2 found" : why);
    if (pmix)
        dlclose(pmix);
}

static void settings(void)
{
    shmemx_setting_t one;
    for (int i = 0; shmemx_setting(i, &one) == 0; i++) {
        if (json) {
            open_group(one.name, NULL, '{');
            text("old_name", NULL, one.old_name);
            text("form", NULL, one.form);
            text("meaning", NULL, one.meaning);
            text("unless_set", NULL, one.normal);
            text("value", NULL, one.value);
            close_group('}');
        } else
            printf("  %s%s%s = %s\n      %s (%s); unless set: %s\n", one.name, one.old_name ? ", " : "",
                   one.old_name ? one.old_name : "", one.value ? one.value : "(not set)", one.meaning, one.form,
                   one.normal);
    }
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

/* Which others a device reaches without the host: "1 2", or "none". */
static void reached(const char *type, int there, int from, char *out, size_t room)
{
    size_t used = 0;
    *out = 0;
    for (int to = 0; to < there && used + 12 < room; to++)
        if (to != from && shmemx_device_can_reach(type, from, to) == 1)
            used += (size_t)snprintf(out + used, room - used, "%s%d", used ? " " : "", to);
    if (!used)
        snprintf(out, room, "none");
}

static void one_device(const char *type, int there, int index)
{
    shmemx_device_info_t d;
    char name[40], peers[400];
    snprintf(name, sizeof name, "%s:%d", type, index);
    if (shmemx_device_info(type, index, &d) < 0) {
        text(name, NULL, shmemx_last_error());
        return;
    }
    reached(type, there, index, peers, sizeof peers);
    open_group(name, name, '{');
    text("name", "name", d.name);
    if (shmemx_device_stands_in(type) == 1)
        text("stands_in", "stands in, since", shmemx_last_error());
    text("driver", "driver", d.driver);
    text("id", "id", d.id);
    size("total", "memory", d.total_bytes, false);
    size("free", "free now", d.free_bytes, false);
    text("shares_by", "shares memory by", d.way);
    text("signals", "words on streams", d.can_signal ? "yes" : "no: the driver or the device cannot");
    text("reaches", "reaches devices", peers);
    close_group('}');
}

/* Whether there is one. */
static bool devices(void)
{
    static const char *const types[] = {"npu", "cuda"};
    bool found = false;
    if (json) {
        putchar('{');
        depth = 1;
    }
    for (int t = 0; t < 2; t++) {
        int there = shmemx_device_count(types[t]);
        if (there < 0)
            text(types[t], NULL, shmemx_last_error());
        for (int i = 0; i < there; i++)
            one_device(types[t], there, i);
        found |= there > 0 && shmemx_device_stands_in(types[t]) == 0;
    }
    if (json)
        puts("\n}");
    return found;
}

/* The table in docs/settings.md. */
static void markdown(void)
{
    shmemx_setting_t one;
    puts("| variable | what may be in it | meaning | unless set |\n|---|---|---|---|");
    for (int i = 0; shmemx_setting(i, &one) == 0; i++)
        printf("| `%s`%s%s%s | %s | %s | %s |\n", one.name, one.old_name ? " (`" : "", one.old_name ? one.old_name : "",
               one.old_name ? "`)" : "", one.form, one.meaning, one.normal);
}

static void everything(int n_pes)
{
    if (json) {
        putchar('{');
        depth = 1;
    }
    open_group("library", "Library", '{');
    about();
    close_group('}');
    open_group("memory", "Memory", '{');
    memory(n_pes);
    close_group('}');
    open_group("host", "This host and this shell's limits", '{');
    host();
    close_group('}');
    open_group("backends", "Kinds of memory, and launchers", '{');
    backends();
    close_group('}');
    open_group("settings", "Environment variables", '{');
    settings();
    close_group('}');
    if (json)
        puts("\n}");
}

static void help(void)
{
    puts("usage: shmem-info [--json] [-n PES] | --devices [--json]\n"
         "Says what this library is, what limits it on this host, and which environment variables it reads.\n"
         "\n"
         "  --json       for programs; sizes in bytes, null for what is unlimited or not set\n"
         "  -n PES       how large the heaps of a job of so many PEs are, where nothing sets it (default 1)\n"
         "  --devices    only the NPUs and GPUs: driver, memory, how it is shared, which reach each other; exit status "
         "1\n"
         "               when there is none, with what is missing, also where host memory stands in for it\n"
         "  --markdown   only the table of variables\n"
         "  --help, --version");
}

static int number_of_pes(const char *argument)
{
    char *end;
    long n = strtol(argument, &end, 10);
    if (end == argument || *end || n < 1 || n > 1 << 20) {
        fprintf(stderr, "shmem-info: -n is '%s', but must be a number of PEs\n", argument);
        exit(2);
    }
    return (int)n;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"json", no_argument, NULL, 'j'},     {"devices", no_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},     {"version", no_argument, NULL, 'v'},
                                          {"markdown", no_argument, NULL, 'm'}, {0}};
    int n_pes = 1;
    bool only_devices = false;
    for (int option; (option = getopt_long(argc, argv, "n:h", longs, NULL)) != -1;)
        switch (option) {
        case 'j':
            json = true;
            break;
        case 'n':
            n_pes = number_of_pes(optarg);
            break;
        case 'd':
            only_devices = true;
            break;
        case 'm':
            markdown();
            return 0;
        case 'v':
            puts(shmemx_version());
            return 0;
        case 'h':
            help();
            return 0;
        default:
            fputs("shmem-info: try 'shmem-info --help'\n", stderr);
            return 2;
        }
    if (optind < argc) {
        fprintf(stderr, "shmem-info: '%s' is not understood; try 'shmem-info --help'\n", argv[optind]);
        return 2;
    }
    if (only_devices)
        return devices() ? 0 : 1;
    everything(n_pes);
    return 0;
}
