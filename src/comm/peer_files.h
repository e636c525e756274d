// SPDX-License-Identifier: Apache-2.0
// Descriptors of peers' in-place memory: asked for once, kept while the job lasts.
#ifndef SHMEMI_COMM_PEER_FILES_H
#define SHMEMI_COMM_PEER_FILES_H

#include <stdint.h>

#include "job/answer.h"

struct shmemi_peer_files {
    int fd[SHMEMI_DESCRIPTORS]; /* -1: not asked for yet */
};

/* One for each of n PEs. */
int shmemi_peer_files_create(int n, struct shmemi_peer_files **out);
void shmemi_peer_files_close(struct shmemi_peer_files *files, int n);

/* The descriptor of that segment of PE pe. Call with the files_lock of struct shmemi_regions. */
int shmemi_peer_file(struct shmemi_peer_files *files, int pe, enum shmemi_descriptor which, int *out);

#endif
