// SPDX-License-Identifier: Apache-2.0
// What a PE's service thread answers to other PEs, and how to ask.
#ifndef SHMEMI_JOB_ANSWER_H
#define SHMEMI_JOB_ANSWER_H

#include <stdint.h>

/* The descriptors that a PE gives to others on request. */
enum shmemi_descriptor { SHMEMI_DESCRIPTOR_WHOLE, SHMEMI_DESCRIPTOR_MIXED, SHMEMI_DESCRIPTORS };

/* The service's answer function; context is the job. */
void shmemi_answer(void *context, int socket);

/* Asks PE pe for one of its descriptors; also tells where its static data lies: 0 and 0 if it has none. */
struct shmemi_fd_answer {
    int fd;
    uint64_t static_offset, static_bytes; /* in the MIXED segment */
};
int shmemi_ask_fd(int pe, enum shmemi_descriptor which, struct shmemi_fd_answer *out);

/* Asks for `count` pieces of PE pe's region, from the first-th on. -ENOENT when there is no such region any more. */
struct shmemi_piece;
int shmemi_ask_pieces(int pe, uint64_t number, uint32_t first, uint32_t count, struct shmemi_piece *out);

/* The process id of PE pe in this process's PID namespace (0 if it cannot be seen from here). */
int shmemi_ask_pid(int pe, int *out);

#endif
