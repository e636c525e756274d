// SPDX-License-Identifier: Apache-2.0
// The collective end of a job.
#ifndef SHMEMI_COMM_FINALIZE_H
#define SHMEMI_COMM_FINALIZE_H

/* Every call waits for all PEs like a barrier; the one that matches the first init also ends this process's part in the
   job. 0, or negative errno with the text (a PE died, say): the process has left the job then too. */
int shmemi_finalize(void);

/* The same for the interface that ends the job on failure: as one PE of it, so that one message is printed. */
void shmemi_finalize_or_end(const char *fn);

/* The same, of all inits, while the process exits. */
void shmemi_finalize_at_exit(void);

#endif
