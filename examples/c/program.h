// SPDX-License-Identifier: Apache-2.0
// What the larger examples share: options, the clock, totals over all PEs, a hash, and the end with a verdict.
// Standard OpenSHMEM only.
#ifndef EXAMPLES_PROGRAM_H
#define EXAMPLES_PROGRAM_H

#include <getopt.h>
#include <inttypes.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM_UNUSED __attribute__((unused))

/* An option with a number: "-b 20" sets *value, which holds the default before. */
struct setting {
    char letter;
    long *value, least, most;
    const char *meaning;
};

PROGRAM_UNUSED static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Ends all PEs in an orderly way. All of them come here: they have the same arguments. */
__attribute__((noreturn)) PROGRAM_UNUSED static void leave(int status)
{
    fflush(stdout);
    shmem_finalize();
    exit(status);
}

/* Ends the job at once, when one PE alone cannot go on. */
__attribute__((noreturn)) PROGRAM_UNUSED static void give_up(const char *why)
{
    fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), why);
    shmem_global_exit(1);
    abort();
}

PROGRAM_UNUSED static void usage(FILE *to, const char *name, const char *summary, const struct setting *settings,
                                 int count)
{
    if (shmem_my_pe() != 0)
        return;
    fprintf(to, "usage: oshrun -n PES %s [options]\n%s\n\n", name, summary);
    for (int i = 0; i < count; i++)
        fprintf(to, "  -%c N   %s (%ld to %ld; %ld)\n", settings[i].letter, settings[i].meaning, settings[i].least,
                settings[i].most, *settings[i].value);
    fprintf(to, "  -h, --help\n");
}

PROGRAM_UNUSED static void set_from_text(const struct setting *setting, const char *text)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < setting->least || value > setting->most) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "-%c is '%s'; it is a number from %ld to %ld\n", setting->letter, text, setting->least,
                    setting->most);
        leave(2);
    }
    *setting->value = value;
}

/* Reads the options after shmem_init. Help ends the program with 0, a wrong option with 2. */
PROGRAM_UNUSED static void read_settings(int argc, char **argv, const char *summary, const struct setting *settings,
                                         int count)
{
    static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    char letters[64] = "h";
    for (int i = 0; i < count; i++)
        snprintf(letters + 1 + 2 * i, 3, "%c:", settings[i].letter);
    opterr = shmem_my_pe() == 0;
    int letter;
    while ((letter = getopt_long(argc, argv, letters, help, NULL)) != -1) {
        int i = 0;
        while (i < count && settings[i].letter != letter)
            i++;
        if (i == count) {
            usage(letter == 'h' ? stdout : stderr, argv[0], summary, settings, count);
            leave(letter == 'h' ? 0 : 2);
        }
        set_from_text(&settings[i], optarg);
    }
    if (optind < argc) {
        usage(stderr, argv[0], summary, settings, count);
        leave(2);
    }
}

/* A collective allocation that every PE needs. */
PROGRAM_UNUSED static void *symmetric(size_t count, size_t size)
{
    void *block = shmem_calloc(count ? count : 1, size);
    if (!block)
        give_up("the symmetric heap is too small for this size: set SHMEM_SYMMETRIC_SIZE, or choose a smaller one");
    return block;
}

/* Private memory, or the end. */
PROGRAM_UNUSED static void *private_array(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block)
        give_up("out of memory");
    return block;
}

/* The sum, or the largest, of the PEs' values. Every PE calls it and gets the same. */
PROGRAM_UNUSED static long sum_of_all(long value)
{
    static long mine, all;
    shmem_barrier_all(); /* nobody still reads the last result's source */
    mine = value;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    return all;
}

PROGRAM_UNUSED static long largest_of_all(long value)
{
    static long mine, all;
    shmem_barrier_all();
    mine = value;
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    return all;
}

/* A hash of 64 bits, one to one, whose values look random: multiplications by odd numbers and shifted exclusive ors. */
PROGRAM_UNUSED static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The last line, and the exit status: everybody brings how much is wrong at it. */
PROGRAM_UNUSED static int verdict(long wrong)
{
    wrong = sum_of_all(wrong);
    if (shmem_my_pe() == 0) {
        if (wrong)
            printf("WRONG: %ld mistakes\n", wrong);
        else
            printf("verified\n");
    }
    fflush(stdout);
    return wrong ? 1 : 0;
}

#endif
