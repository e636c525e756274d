// SPDX-License-Identifier: Apache-2.0
// A job of very many PEs on few cores: it starts, synchronises, broadcasts and reduces, and what the library keeps for
// it stays small. PE 0 prints what it took.
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 128, MOST_KIB = 512 };

/* A line of /proc/self/status, in KiB; 0 if it is not there. */
static long status(const char *name)
{
    char line[256];
    long value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* What this process has written, in KiB: its own pages, and its share of those that it has with others; the symmetric
   heaps are the program's. */
static long written(void)
{
    char line[512];
    long sum = 0, value;
    bool shared = false, heap = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *mode = strchr(line, ' ');
        if (mode && strchr(line, '-') && strchr(line, '-') < mode) { /* the first line of a mapping */
            shared = mode[4] == 's';
            heap = strstr(line, "shmem-heap") != NULL;
        } else if (sscanf(line, shared ? "Pss: %ld" : "Anonymous: %ld", &value) == 1 && !heap)
            sum += value;
    }
    if (file)
        fclose(file);
    return sum;
}

static long most(long *words, long value)
{
    words[0] = value;
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, words + 1, words, 1);
    return words[1];
}

int main(void)
{
    const long before = written();
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    long *words = shmem_malloc(2 * WORDS * sizeof *words), wrong = 0;
    for (long i = 0; i < WORDS; i++) {
        words[i] = me + i;
        words[WORDS + i] = -1;
    }
    shmem_barrier_all();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words + WORDS, words, WORDS, n - 1);
    for (long i = 0; i < WORDS; i++)
        wrong += words[WORDS + i] != n - 1 + i;
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words + WORDS, words, WORDS);
    for (long i = 0; i < WORDS; i++)
        wrong += words[WORDS + i] != (long)n * (n - 1) / 2 + n * i;
    const long control = most(words, written() - before), tables = most(words, status("VmPTE:")),
               sum = most(words, wrong);
    if (me == 0)
        printf("%d PEs: a PE's memory beside the program's: at most %ld KiB; page tables: at most %ld KiB\n", n,
               control, tables);
    fflush(stdout);
    shmem_finalize();
    return sum || control > MOST_KIB;
}
