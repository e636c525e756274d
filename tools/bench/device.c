// SPDX-License-Identifier: Apache-2.0
// Runs every path of device memory against the drivers that are there, counts their calls, and measures copies:
// device self-test [TYPE], device counts [TYPE], device measure [TYPE]. What is done between two processes runs in
// another one of this program (importer KEY SEED, victim KEY, player | counted | heap ID TYPE:NUMBER).
#include "device.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned char *host;
static int failed;
static int passed;

/* --- saying ------------------------------------------------------------------------------------------------------- */

/* The text of a step that fails without the library. */
static char own_text[400];

int wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(own_text, sizeof own_text, format, arguments);
    va_end(arguments);
    return -1;
}

const char *why(void)
{
    return *own_text ? own_text : shmemx_last_error();
}

void step(const char *device, const char *what, int rc)
{
    bool good = rc >= 0;
    passed += good;
    failed += !good;
    printf("%s %-8s %s%s%s\n", good ? "ok    " : "FAILED", device, what, good ? "" : ": ", good ? "" : why());
    fflush(stdout);
    *own_text = 0;
}

void skip(const char *device, const char *what, const char *reason)
{
    printf("skip   %-8s %s: %s\n", device, what, reason);
    *own_text = 0;
}

int complain(const char *what)
{
    fprintf(stderr, "the other process: %s: %s\n", what, why());
    return 1;
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

unsigned char pattern(size_t i, int seed)
{
    return (unsigned char)(i * 131 + (i >> 8) * 7 + (unsigned)seed * 29 + 1);
}

void fill(size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        host[i] = pattern(i, seed);
}

int compare(size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (host[i] != pattern(i, seed))
            return wrong("byte %zu is %d instead of %d", i, host[i], pattern(i, seed));
    return 0;
}

int put(void *to, int seed)
{
    fill(BYTES, seed);
    return shmemx_device_copy(to, host, BYTES);
}

int check(const void *from, int seed)
{
    memset(host, 0, BYTES);
    int rc = shmemx_device_copy(host, from, BYTES);
    return rc < 0 ? rc : compare(BYTES, seed);
}

/* --- places ------------------------------------------------------------------------------------------------------- */

static int open_place(const char *type, int number, struct place *p)
{
    int rc = shmemx_device_info(type, number, &p->info);
    snprintf(p->name, sizeof p->name, "%s:%d", type, number);
    if (rc < 0 || (rc = shmemx_device_pool_create(type, number, POOL, &p->pool)) < 0)
        return rc;
    rc = shmemx_device_alloc(p->pool, BYTES, 0, &p->a);
    return rc < 0 ? rc : shmemx_device_alloc(p->pool, BYTES, 0, &p->b);
}

static void say_place(const struct place *p)
{
    printf("device %-8s %s, %s; %zu of %zu MiB free; shares by: %s\n", p->name, p->info.name, p->info.driver,
           p->info.free_bytes >> 20, p->info.total_bytes >> 20, p->info.way);
}

int find_places(const char *wanted, struct place places[PLACES], int *seen)
{
    static const char *const types[] = {"npu", "cuda"};
    int count = 0;
    *seen = 0;
    for (int t = 0; t < 2; t++) {
        if (wanted && strcmp(wanted, types[t]))
            continue;
        int n = shmemx_device_count(types[t]);
        if (n < 0)
            printf("none   %-8s %s\n", types[t], shmemx_last_error());
        for (int i = 0; i < n && count < PLACES; i++) {
            int rc = open_place(types[t], i, &places[count]);
            ++*seen;
            if (rc < 0)
                step(places[count].name, "a pool of 16 MiB", rc);
            else
                say_place(&places[count++]);
        }
    }
    return count;
}

void close_places(struct place *places, int count)
{
    for (int i = 0; i < count; i++)
        step(places[i].name, "the pool is closed", shmemx_device_pool_close(places[i].pool));
}

int start(const char *what, const char *key, const char *more)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "bench-device", what, key, more, (char *)NULL);
        _exit(126);
    }
    return pid < 0 ? -1 : pid;
}

int read_place(const char *place, char type[16], int *number)
{
    const char *colon = strchr(place, ':');
    if (!colon || colon - place >= 16)
        return -EINVAL;
    snprintf(type, 16, "%.*s", (int)(colon - place), place);
    *number = atoi(colon + 1);
    return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static int finish_self_test(int count, int seen)
{
    printf("%d passed, %d failed", passed, failed);
    if (count == 0 && seen > 0)
        printf("; of the %d device%s that the driver shows none could be tested, for the reasons above", seen,
               seen == 1 ? "" : "s");
    else if (count == 0)
        printf("; there is no device");
    putchar('\n');
    return failed ? 1 : count ? 0 : 77;
}

static int self_test(const char *type)
{
    static struct place places[PLACES];
    int seen, count = find_places(type, places, &seen);
    for (int i = 0; i < count; i++)
        test_place(&places[i]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                test_pair(&places[i], &places[j]);
    close_places(places, count);
    return finish_self_test(count, seen);
}

static int measure(const char *type)
{
    static struct place places[PLACES];
    int seen, count = find_places(type, places, &seen);
    for (int i = 0; i < count; i++)
        measure_place(&places[i]);
    close_places(places, count);
    return failed ? 1 : count ? 0 : 77;
}

/* The first device of each type: the others' calls are the same. */
static int counts(const char *type)
{
    static struct place places[PLACES];
    int seen, count = find_places(type, places, &seen);
    for (int i = 0; i < count; i++)
        if (places[i].info.number == 0)
            count_place(&places[i]);
    close_places(places, count);
    return failed ? 1 : count ? 0 : 77;
}

static int usage(void)
{
    fputs("usage: bench-device self-test|counts|measure [npu|cuda]\n", stderr);
    return 2;
}

/* What a step of this program starts. */
static int be_other(const char *what, const char *key, const char *more)
{
    if (!strcmp(what, "importer"))
        return run_importer(key, atoi(more));
    if (!strcmp(what, "victim"))
        return run_victim(key);
    if (!strcmp(what, "player"))
        return run_other_player(key, more);
    if (!strcmp(what, "counted"))
        return run_other_counted(key, more);
    return strcmp(what, "heap") ? usage() : run_other_heap(key, more);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!(host = malloc(BYTES)))
        return 1;
    if (argc == 4)
        return be_other(what, argv[2], argv[3]);
    if (argc <= 3 && !strcmp(what, "self-test"))
        return self_test(argv[2]);
    if (argc <= 3 && !strcmp(what, "measure"))
        return measure(argv[2]);
    if (argc <= 3 && !strcmp(what, "counts"))
        return counts(argv[2]);
    return usage();
}
