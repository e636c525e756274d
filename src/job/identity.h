// SPDX-License-Identifier: Apache-2.0
// Who this process is in which job: from the caller, shmemrun's variables, torchrun's variables, or alone.
#ifndef SHMEMI_JOB_IDENTITY_H
#define SHMEMI_JOB_IDENTITY_H

#include "lifecycle.h"

struct shmemi_identity {
    int me, n;
    char name[512];                        /* the same text in all processes of the job, and in no other job */
    const char *rank_source, *size_source; /* what said so: "SHMEM_RANK", "RANK", "rank=", for messages */
};

/* 0, or -EINVAL naming the variable or argument, what it holds, and what is missing. */
int shmemi_identity_find(const struct shmemi_job_request *request, struct shmemi_identity *out);

/* 128 random bits as 32 hexadecimal digits, and the closing zero byte. */
int shmemi_unique_id(char out[33]);

#endif
