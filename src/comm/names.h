// SPDX-License-Identifier: Apache-2.0
// Numbers as words, for messages to people.
#ifndef SHMEMI_COMM_NAMES_H
#define SHMEMI_COMM_NAMES_H

/* "float32" for SHMEMX_FLOAT and so on; "bytes"; "unknown" for a number that is none. */
const char *shmemi_type_name(unsigned type);

/* "sum" and so on. */
const char *shmemi_op_name(unsigned op);

/* "REMOTE_READ | REMOTE_WRITE", "LOCAL_ONLY". */
const char *shmemi_access_name(unsigned access);

#endif
