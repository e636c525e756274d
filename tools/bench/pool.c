// SPDX-License-Identifier: Apache-2.0
// Measures pools, and malloc beside them: pool pairs shmem|malloc PROCESSES, pool import, pool open, pool overhead.
// What one process measures of another runs in a fresh one of this program (importer KEY, opener NAME).
#include <shmemx.h>

#include <dirent.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "pairs.h"

#define LARGE_BYTES ((size_t)1 << 30)

static void need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, shmemx_last_error());
    _exit(1);
}

static shmemx_pool_t make_pool(size_t bytes, const char *name)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t made = NULL;
    attr.size = attr.max_size = bytes;
    attr.name = name;
    need(shmemx_pool_create(&attr, &made), "creating a pool");
    return made;
}

/* --- pairs ------------------------------------------------------------------------------------------------------- */

static shmemx_pool_t pool;

static void attach(int worker, struct pairs_shared *shared)
{
    if (worker == 0) {
        pool = make_pool(PAIRS_BYTES, shared->name);
        pairs_made(shared);
        return;
    }
    pairs_wait(shared, &shared->ready, 1);
    need(shmemx_pool_open(shared->name, &pool), "opening the pool");
}

static void leave(void)
{
    need(shmemx_pool_close(pool), "closing the pool");
}

static void *take(size_t size)
{
    void *block = NULL;
    need(shmemx_pool_alloc(pool, size, 0, 0, &block), "allocating");
    return block;
}

static void give(void *block)
{
    need(shmemx_pool_free(pool, block), "freeing");
}

static void nothing_to_attach(int worker, struct pairs_shared *shared)
{
    (void)worker;
    (void)shared;
}

static int measure_pairs(const char *what, int processes)
{
    static const struct pairs_allocator ours = {attach, NULL, leave}, none = {nothing_to_attach, NULL, NULL};
    return !strcmp(what, "malloc") ? pairs(processes, &none, malloc, free) : pairs(processes, &ours, take, give);
}

/* --- a fresh process of this program ----------------------------------------------------------------------------- */

enum { FRESH_MOST = 3 }; /* figures that such a process prints on one line */

/* Runs it ROUNDS times, and reports the median of each figure by these names. */
static void measure_fresh(const char *role, const char *argument, const char *const names[FRESH_MOST])
{
    double values[FRESH_MOST][ROUNDS];
    char command[512];
    snprintf(command, sizeof command, "/proc/%d/exe %s '%s'", (int)getpid(), role, argument);
    for (int r = 0; r < ROUNDS; r++) {
        FILE *other = popen(command, "re");
        for (int i = 0; other && i < FRESH_MOST && names[i]; i++)
            if (fscanf(other, "%lf", &values[i][r]) != 1)
                exit(1);
        if (!other || pclose(other) != 0)
            exit(1);
    }
    for (int i = 0; i < FRESH_MOST && names[i]; i++)
        report(names[i], median(values[i]));
}

/* --- importing --------------------------------------------------------------------------------------------------- */

static double time_import(const char *key, shmemx_import_t *import)
{
    double t = seconds();
    need(shmemx_import(key, SHMEMX_IMPORT_READ, NULL, import), "importing");
    return seconds() - t;
}

/* The median of imports that are closed each time. */
static double time_imports(const char *key)
{
    double values[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        shmemx_import_t import;
        values[r] = time_import(key, &import);
        need(shmemx_import_close(import), "closing an import");
    }
    return median(values);
}

/* The first import of a process; one afterwards; one while the same memory is imported already. */
static int importer(const char *key)
{
    shmemx_import_t import;
    double cold = time_import(key, &import);
    need(shmemx_import_close(import), "closing an import");
    double warm = time_imports(key);
    time_import(key, &import);
    printf("%.9g %.9g %.9g\n", cold, warm, time_imports(key));
    return 0;
}

static int measure_import(void)
{
    static const char *const names[FRESH_MOST] = {"import_cold", "import_warm", "import_held"};
    char key[SHMEMX_KEY_TEXT];
    void *buffer;
    pool = make_pool(PAIRS_BYTES, NULL);
    need(shmemx_pool_alloc(pool, 65536, 0, SHMEMX_ZERO, &buffer), "allocating");
    need(shmemx_export(buffer, 65536, NULL, key), "exporting");
    measure_fresh("importer", key, names);
    return 0;
}

/* --- opening a large pool ---------------------------------------------------------------------------------------- */

static double faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_minflt + usage.ru_majflt);
}

static int opener(const char *name)
{
    seconds(); /* so that neither of these is used for the first time */
    double before = faults(), t = seconds();
    need(shmemx_pool_open(name, &pool), "opening the pool");
    t = seconds() - t;
    printf("%.9g %.9g\n", t, faults() - before);
    return 0;
}

static int measure_open(void)
{
    static const char *const names[FRESH_MOST] = {"open", "open_faults"};
    char name[64];
    snprintf(name, sizeof name, "shmem-bench-%d", (int)getpid());
    pool = make_pool(measured(LARGE_BYTES) ? LARGE_BYTES : LARGE_BYTES / 16, name);
    measure_fresh("opener", name, names);
    return 0;
}

/* --- how much memory a pool takes -------------------------------------------------------------------------------- */

/* The pages behind all memfds of this process, each counted once. */
static double memfd_bytes(void)
{
    struct stat st;
    ino_t seen[256];
    int count = 0;
    double bytes = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < 256;) {
        char path[300], target[300];
        snprintf(path, sizeof path, "/proc/self/fd/%.250s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof target);
        if (length < 7 || strncmp(target, "/memfd:", 7) || stat(path, &st) != 0)
            continue;
        bool known = false;
        for (int i = 0; i < count; i++)
            known |= seen[i] == st.st_ino;
        seen[count++] = st.st_ino;
        bytes += known ? 0 : (double)st.st_blocks * 512;
    }
    if (folder)
        closedir(folder);
    return bytes;
}

/* Fills a pool with objects of 1 KiB: all that the kernel gave for it, control part included, beside what was asked. */
static int measure_overhead(void)
{
    enum { OBJECT = 1024 };
    double before = memfd_bytes(), objects = 0;
    void *block;
    pool = make_pool(2 * PAIRS_BYTES, NULL);
    while (shmemx_pool_alloc(pool, OBJECT, 0, 0, &block) == 0) {
        memset(block, 1, OBJECT);
        objects++;
    }
    report("overhead", (memfd_bytes() - before) / (objects * OBJECT) - 1);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "pairs") && argc == 4)
        return measure_pairs(argv[2], atoi(argv[3]));
    if (!strcmp(what, "importer") && argc == 3)
        return importer(argv[2]);
    if (!strcmp(what, "opener") && argc == 3)
        return opener(argv[2]);
    if (!strcmp(what, "import"))
        return measure_import();
    if (!strcmp(what, "open"))
        return measure_open();
    if (!strcmp(what, "overhead"))
        return measure_overhead();
    fprintf(stderr, "usage: bench-pool pairs shmem|malloc PROCESSES | import | open | overhead\n");
    return 2;
}
