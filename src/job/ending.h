// SPDX-License-Identifier: Apache-2.0
// Ways in which a job ends before its time: an error, a death, global_exit.
#ifndef SHMEMI_JOB_ENDING_H
#define SHMEMI_JOB_ENDING_H

#include "base/error.h"

/* Ends this process because another PE died: one PE of the job says so (or the launcher does), the rest are silent. */
_Noreturn void shmemi_die_of_peer(const char *fn, const char *text);

/* Tells all other PEs to end with this status, then ends this process with it. */
_Noreturn void shmemi_end_all(int status);

#endif
