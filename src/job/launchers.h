// SPDX-License-Identifier: Apache-2.0
// Who this process is according to whoever started it: shmemrun, torchrun, a PMIx server (mpirun), Slurm.
#ifndef SHMEMI_JOB_LAUNCHERS_H
#define SHMEMI_JOB_LAUNCHERS_H

#include "identity.h"

/* Fills in *out; leaves it alone when nobody says anything. 0, or negative errno with what is wrong and what to do. */
int shmemi_launchers_ask(int64_t deadline, struct shmemi_identity *out);

#endif
