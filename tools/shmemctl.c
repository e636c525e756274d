// SPDX-License-Identifier: Apache-2.0
// shmemctl: shows what is in files and pools.
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <shmemx.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

static const char usage[] =
    "usage: shmemctl file PATH...        a shared file: its header, how full it is, the objects in it by name\n"
    "       shmemctl pool NAME|KEY...    a pool that living processes have: the same, and how many are attached\n"
    "\n"
    "Shows what is in shared files and pools.\n"
    "\n"
    "  -h, --help     this text\n"
    "  -V, --version  the version\n"
    "\n"
    "A file is only read, whatever state it is in; what is wrong with one that cannot be used is said, and the exit\n"
    "status is 1. A pool is attached to while it is looked at.\n";

static int failed(void)
{
    fprintf(stderr, "shmemctl: %s\n", shmemx_last_error());
    return STATUS_FAILED;
}

static void print_bytes(const char *what, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double scaled = (double)bytes;
    unsigned unit = 0;
    for (; scaled >= 1024 && unit < 4; unit++)
        scaled /= 1024;
    if (unit)
        printf("  %-16s %llu bytes (%.1f %s)\n", what, (unsigned long long)bytes, scaled, units[unit]);
    else
        printf("  %-16s %llu bytes\n", what, (unsigned long long)bytes);
}

/* Notes are text or bytes, as their makers like. */
static void print_note(const unsigned char *note, size_t bytes)
{
    enum { SHOWN = 80 };
    bool text = true;
    for (size_t i = 0; i < bytes && i < SHOWN; i++)
        text &= note[i] >= ' ' && note[i] < 127;
    if (bytes == 0)
        return;
    if (text)
        printf("  %.*s%s", (int)(bytes < SHOWN ? bytes : SHOWN), (const char *)note, bytes > SHOWN ? "..." : "");
    else
        printf("  (a note of %zu bytes)", bytes);
}

/* Nothing that a terminal would act on. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

static int print_names(shmemx_pool_t pool)
{
    shmemx_named_t named;
    uint64_t cursor = 0;
    int rc;
    bool any = false;
    while ((rc = shmemx_pool_next_name(pool, &cursor, &named)) > 0) {
        if (!any)
            printf("  names\n");
        any = true;
        make_printable(named.name);
        printf("    %-24s %12zu bytes", named.name, named.bytes);
        print_note(named.note, named.note_bytes);
        putchar('\n');
    }
    return rc < 0 ? failed() : 0;
}

static int print_use(shmemx_pool_t pool)
{
    shmemx_pool_stats_t s;
    if (shmemx_pool_stats(pool, &s) < 0)
        return failed();
    printf("  %-16s %zu, %zu bytes\n", "buffers", s.buffers, s.in_use);
    print_bytes("free", s.free);
    print_bytes("largest free", s.largest_free);
    print_bytes("high water", s.high_water);
    return 0;
}

static int show_file(const char *path)
{
    shmemx_file_header_t h;
    shmemx_pool_t pool;
    if (shmemx_file_header(path, &h) < 0)
        return failed();
    char made[64] = "";
    time_t created = (time_t)h.created;
    struct tm parts;
    if (localtime_r(&created, &parts))
        strftime(made, sizeof made, "%Y-%m-%d %H:%M:%S", &parts);
    make_printable(h.name);
    printf("%s: a shmem file of format %u%s%s\n", path, h.version, *h.name ? ", " : "", h.name);
    printf("  %-16s %s\n", "state",
           h.attached ? "open for writing"
           : h.clean  ? "closed in an orderly way"
                      : "not closed: whoever opens it next for writing mends it");
    printf("  %-16s %s\n", "made", made);
    printf("  %-16s %llu\n", "flushes", (unsigned long long)h.generation);
    print_bytes("size", h.size);
    print_bytes("can grow to", h.max_size);
    if (shmemx_file_open(path, "r", &pool) < 0)
        return failed();
    int status = print_use(pool);
    if (status == 0)
        status = print_names(pool);
    shmemx_pool_close(pool);
    return status;
}

static int show_pool(const char *name_or_key)
{
    shmemx_pool_t pool;
    shmemx_pool_info_t info;
    shmemx_pool_stats_t s;
    if (shmemx_pool_open(name_or_key, &pool) < 0)
        return failed();
    int status = shmemx_pool_info(pool, &info) < 0 || shmemx_pool_stats(pool, &s) < 0 ? failed() : 0;
    if (status == 0) {
        make_printable(info.name);
        printf("%s: a pool in %s memory\n", *info.name ? info.name : "(no name)", info.type);
        printf("  %-16s %u besides shmemctl; %u died in it\n", "attached", s.members - 1, s.died);
        print_bytes("size", s.size);
        print_bytes("can grow to", s.max_size);
        printf("  %-16s %zu bytes%s\n", "pages", info.page_size, info.locked ? ", locked in memory" : "");
        status = print_use(pool);
    }
    if (status == 0)
        status = print_names(pool);
    shmemx_pool_close(pool);
    return status;
}

static int wrong_usage(void)
{
    fputs(usage, stderr);
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "+hV", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (option != 'V')
            return wrong_usage();
        puts("shmemctl (shmem 0.1.0)");
        return 0;
    }
    int (*show)(const char *) = NULL;
    if (optind < argc && strcmp(argv[optind], "file") == 0)
        show = show_file;
    if (optind < argc && strcmp(argv[optind], "pool") == 0)
        show = show_pool;
    if (!show || optind + 1 == argc)
        return wrong_usage();
    int status = 0;
    for (int i = optind + 1; i < argc; i++) {
        int one = show(argv[i]);
        status = one ? one : status;
    }
    return status;
}
