// SPDX-License-Identifier: Apache-2.0
// PMIx, the protocol by which mpirun and others tell the processes that they start who they are. Its client library is
// opened when such a process starts a job; nothing else needs it.
#ifndef SHMEMI_JOB_PMIX_H
#define SHMEMI_JOB_PMIX_H

#include <stdbool.h>
#include <stdint.h>

struct shmemi_pmix_place {
    int rank, size, local; /* local: how many of the job's processes run on this host */
    char id[33];           /* random text that PE 0 chose and all have; "" where size is not local, or 1 */
};

/* Whether a PMIx server started this process. */
bool shmemi_pmix_present(void);

/* Asks the server. Waits for PE 0's text until the deadline. -ENOSYS: the client library cannot be opened, with what
   the loader said; -ETIMEDOUT; -EPROTO naming what PMIx refused. Once asked, the answer is kept: it stays the same. */
int shmemi_pmix_find(int64_t deadline, struct shmemi_pmix_place *out);

/* Tells the server that this process ends in order. Also done at exit; to be called where exit is not. */
void shmemi_pmix_end(void);

#endif
