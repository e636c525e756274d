// SPDX-License-Identifier: Apache-2.0
// Messages with descriptors between processes: sockets that are named by a user, a group (a job, a share) and a number
// in it.
//
// The sockets are in the abstract name space, so nothing remains in a file system; SHMEM_DIR names a directory for them
// instead, for processes that do not share a network namespace (containers). Within a job both ends check that the
// other belongs to the same user. The functions with "any" are for keys, which open memory to other users too: the
// server takes whoever comes and looks who it is; the client believes only those who cannot be impostors.
#ifndef SHMEMI_MAP_WIRE_H
#define SHMEMI_MAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

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

/* A listening socket that everybody may connect to, named by user `uid` (who need not be this process's own). Does not
   block in accept. */
int shmemi_wire_listen_any(uint32_t uid, const char *name, int number, int *out);

/* Who listens at that one: 0 and the user, or -ECONNREFUSED when it is not to be found out. Does not wait. */
int shmemi_wire_holder(uint32_t uid, const char *name, int number, uint32_t *holder);

/* Connects to that one. -ECONNREFUSED while nobody listens there (the error text is left alone then). Unless `whoever`
   is good enough, -EPERM when the one who does is neither of user `uid`, nor of this process's, nor root. */
int shmemi_wire_connect_any(uint32_t uid, const char *name, int number, bool whoever, int *out);

/* Accepts one connection, of whatever user, if one is waiting, else -EAGAIN. */
int shmemi_wire_accept_any(int listener, int *out);

/* Who is at the other end, as the kernel recorded it when the connection was made. */
struct ucred;
int shmemi_wire_peer(int socket, struct ucred *out);

/* Sends one message; waits at most until the deadline for room. */
int shmemi_wire_send(int socket, const void *data, size_t bytes, const int *fds, unsigned nfds, int64_t deadline);

/* Receives one message of exactly `bytes` with at most `most` descriptors; *nfds tells how many came. -ETIMEDOUT,
   -EPIPE when the other end is gone, -EPROTO for anything else than such a message. Descriptors are close-on-exec. */
int shmemi_wire_receive(int socket, void *data, size_t bytes, int *fds, unsigned most, unsigned *nfds,
                        int64_t deadline);

#endif
