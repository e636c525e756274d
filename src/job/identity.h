// SPDX-License-Identifier: Apache-2.0
// Who this process is in which job: from the caller, from whoever started it (launchers.h), or alone.
#ifndef SHMEMI_JOB_IDENTITY_H
#define SHMEMI_JOB_IDENTITY_H

#include <stdint.h>

#include "lifecycle.h"

struct shmemi_identity {
    int me, n;
    char name[512];                        /* the same text in all processes of the job, and in no other job */
    const char *rank_source, *size_source; /* what said so: "SHMEM_RANK", "RANK", "rank=", for messages */
};

/* 0, or -EINVAL naming the variable or argument, what it holds, and what is missing; -ENOTSUP: the job spans hosts;
   -ETIMEDOUT and -EPROTO from a PMIx server, which is waited for until the deadline. */
int shmemi_identity_find(const struct shmemi_job_request *request, int64_t deadline, struct shmemi_identity *out);

/* Whether me and n are possible; -EINVAL names the source that is wrong. */
int shmemi_identity_check(const struct shmemi_identity *id);

/* Sets the name: texts that differ give names that differ, so -EINVAL when it is too long. source: where the text is
   from, for the message. */
int shmemi_identity_name(struct shmemi_identity *id, const char *kind, const char *source, const char *text);

/* 128 random bits as 32 hexadecimal digits, and the closing zero byte. */
int shmemi_unique_id(char out[33]);

#endif
