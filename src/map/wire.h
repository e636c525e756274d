// SPDX-License-Identifier: Apache-2.0
// Messages with descriptors between processes of one user: sockets that are named by job and PE.
//
// The sockets are in the abstract name space, so nothing remains in a file system; SHMEM_DIR names a directory for them
// instead, for processes that do not share a network namespace (containers). Both ends check that the other belongs to
// the same user.
#ifndef SHMEMI_MAP_WIRE_H
#define SHMEMI_MAP_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* As many descriptors as go with one message (the kernel's own limit is 253). */
enum { SHMEMI_WIRE_FDS = 128 };

/* A listening socket for the member `number` of the group `name` (any text; it is hashed). -EADDRINUSE if a living
   process has it. */
int shmemi_wire_listen(const char *name, int number, int *out);

/* Closes a listening socket and removes its file, if it has one. */
void shmemi_wire_close_listener(int listener);

/* Before a process ends without closing its listener: removes the file that SHMEM_DIR gave it, if any. */
void shmemi_wire_forget_file(const char *name, int number);

/* Connects to that member. -ECONNREFUSED while nobody listens there (the error text is left alone then). */
int shmemi_wire_connect(const char *name, int number, int *out);

/* Accepts one connection if one is waiting, else -EAGAIN. */
int shmemi_wire_accept(int listener, int *out);

/* Sends one message; waits at most until the deadline for room. */
int shmemi_wire_send(int socket, const void *data, size_t bytes, const int *fds, unsigned nfds, int64_t deadline);

/* Receives one message of exactly `bytes` with at most `most` descriptors; *nfds tells how many came. -ETIMEDOUT,
   -EPIPE when the other end is gone, -EPROTO for anything else than such a message. Descriptors are close-on-exec. */
int shmemi_wire_receive(int socket, void *data, size_t bytes, int *fds, unsigned most, unsigned *nfds,
                        int64_t deadline);

#endif
