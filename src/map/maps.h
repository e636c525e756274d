// SPDX-License-Identifier: Apache-2.0
// What this process has mapped where, from /proc/self/maps: by asking for one address where the kernel can
// (6.11), else by reading the text. Allocates nothing.
#ifndef SHMEMI_MAP_MAPS_H
#define SHMEMI_MAP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shmemi_map {
    uint64_t start, end; /* [start, end) */
    uint64_t offset;     /* in the file */
    uint64_t inode;      /* 0: no file */
    uint32_t major, minor;
    int protection; /* PROT_ */
    bool shared;
    char name[160]; /* path or "[heap]"; cut if longer */
};

/* A reader. Its place in the text is its own: one reader, one thread at a time. */
struct shmemi_maps {
    int fd;
    bool query;           /* PROCMAP_QUERY works */
    uint64_t reached;     /* text: nothing below this address is still to come */
    uint64_t text_offset; /* text: where in the file the next read begins */
    size_t used, filled;
    char text[4 * 4096 + 512]; /* the longest line: a path of 4096 bytes, each escaped */
};

/* text_only: do not ask for single addresses. */
int shmemi_maps_open(struct shmemi_maps *maps, bool text_only);
void shmemi_maps_close(struct shmemi_maps *maps);

/* Forget what was read: the next find sees the present state. */
void shmemi_maps_rewind(struct shmemi_maps *maps);

/* The first mapping that ends above the address: 1 and *out, 0 if there is none, or a negative errno with its
   text. Ascending addresses after one rewind read the text once. */
int shmemi_maps_find(struct shmemi_maps *maps, uint64_t address, struct shmemi_map *out);

/* The next mapping in the text, for walks over all of them; returns as find does. Rewind first. */
int shmemi_maps_next(struct shmemi_maps *maps, struct shmemi_map *out);

#endif
