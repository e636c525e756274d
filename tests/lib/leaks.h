// SPDX-License-Identifier: Apache-2.0
// Whether a process is as it was before: descriptors, mappings of shared memory, large reservations of addresses,
// children.
#ifndef TESTS_LIB_LEAKS_H
#define TESTS_LIB_LEAKS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether a sanitizer is in this program, whose own mappings come and go. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LEAKS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LEAKS_SANITIZED 1
#endif
#endif
#ifndef LEAKS_SANITIZED
#define LEAKS_SANITIZED 0
#endif

enum { LEAKS_TEXT = 65536 };
static char leaks_before[LEAKS_TEXT];

static inline void leaks_add(char *out, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, LEAKS_TEXT - used, "%s", text);
}

static inline int leaks_by_number(const struct dirent **a, const struct dirent **b)
{
    return atoi((*a)->d_name) - atoi((*b)->d_name);
}

static inline void leaks_descriptors(char *out)
{
    struct dirent **entries;
    /* A process that has registered memory keeps one of each. */
    const char *kept[] = {"/memfd:shmem-whole", "/memfd:shmem-mixed", "anon_inode:[userfaultfd]"};
    int count = scandir("/proc/self/fd", &entries, NULL, leaks_by_number);
    for (int i = 0; i < count; i++) {
        char link[300], target[300], line[700];
        snprintf(link, sizeof link, "/proc/self/fd/%.250s", entries[i]->d_name);
        ssize_t length = readlink(link, target, sizeof target - 1);
        bool left_out = false;
        for (int k = 0; length > 0 && k < 3; k++)
            if (kept[k] && !strncmp(target, kept[k], strlen(kept[k]))) {
                left_out = true;
                kept[k] = NULL;
            }
        if (length > 0 && !left_out &&
            strncmp(target, "/proc/", 6) != 0) { /* the folder that is being read, and the like */
            target[length] = 0;
            snprintf(line, sizeof line, "descriptor %s: %s\n", entries[i]->d_name, target);
            leaks_add(out, line);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

/* Shared memory that is mapped, and reserved addresses: private memory comes and goes with malloc. */
static inline void leaks_mappings(char *out)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[4400], shown[300];
    int large = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3)
            continue;
        large += !LEAKS_SANITIZED && mode[0] == '-' && to - from >= 1ul << 30;
        if (strstr(line, "/memfd:") || strstr(line, "/dev/shm/")) {
            snprintf(shown, sizeof shown, "mapping %.250s\n", strchr(line, ' '));
            leaks_add(out, shown);
        }
    }
    if (file)
        fclose(file);
    snprintf(shown, sizeof shown, "large reservations: %d\n", large);
    leaks_add(out, shown);
}

static inline void leaks_children(char *out)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file) && *text) {
        leaks_add(out, "children: ");
        leaks_add(out, text);
        leaks_add(out, "\n");
    }
    if (file)
        fclose(file);
}

static inline void leaks_look(char *out)
{
    *out = 0;
    leaks_descriptors(out);
    leaks_mappings(out);
    leaks_children(out);
}

static inline void leaks_begin(void)
{
    leaks_look(leaks_before);
}

/* true when all is as at leaks_begin(); else the text tells both states. */
static inline bool leaks_none(char *text, size_t size)
{
    static char now[LEAKS_TEXT];
    leaks_look(now);
    if (!strcmp(now, leaks_before))
        return true;
    size_t same = 0; /* from the first line that differs */
    for (size_t i = 0; now[i] && now[i] == leaks_before[i]; i++)
        same = now[i] == '\n' ? i + 1 : same;
    snprintf(text, size, "something was left behind; before:\n[...]\n%.1800s\nnow:\n[...]\n%.1800s",
             leaks_before + same, now + same);
    return false;
}

#endif
