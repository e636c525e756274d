// SPDX-License-Identifier: Apache-2.0
// Ways in which a job ends before its time: an error, a death, global_exit. One PE wins: it speaks, tells the others,
// and its status counts. The others say nothing and end with that status.
#ifndef SHMEMI_JOB_ENDING_H
#define SHMEMI_JOB_ENDING_H

#include "base/error.h"

/* Ends the job because a PE died: one PE says so, or the launcher does. */
_Noreturn void shmemi_die_of_peer(const char *fn, const char *text);

/* Ends the job with this status and without a word. */
_Noreturn void shmemi_end_all(int status);

/* Flushes C streams, as far as that is possible in 0.3 s: a thread that is blocked in one of them may prevent it. */
void shmemi_flush(void);

/* Ends this process: C streams are flushed, unless a thread that is blocked in one of them prevents it. */
_Noreturn void shmemi_quit(int status);

#endif
