// SPDX-License-Identifier: Apache-2.0
// Descriptors of peers' in-place memory.
#include "peer_files.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

int shmemi_peer_files_create(int n, struct shmemi_peer_files **out)
{
    struct shmemi_peer_files *files = calloc((size_t)n, sizeof *files);
    if (!files)
        return shmemi_fail(-ENOMEM, "no memory for regions");
    for (int pe = 0; pe < n; pe++)
        for (int k = 0; k < SHMEMI_DESCRIPTORS; k++)
            files[pe].fd[k] = -1;
    *out = files;
    return 0;
}

void shmemi_peer_files_close(struct shmemi_peer_files *files, int n)
{
    for (int pe = 0; pe < n; pe++)
        for (int k = 0; k < SHMEMI_DESCRIPTORS; k++)
            if (files[pe].fd[k] >= 0)
                close(files[pe].fd[k]);
    free(files);
}

int shmemi_peer_file(struct shmemi_peer_files *files, int pe, enum shmemi_descriptor which, int *out)
{
    int *fd = &files[pe].fd[which];
    if (*fd < 0) {
        struct shmemi_fd_answer answer;
        int rc = shmemi_ask_fd(pe, which, &answer);
        if (rc < 0)
            return rc;
        *fd = answer.fd;
    }
    *out = *fd;
    return 0;
}
