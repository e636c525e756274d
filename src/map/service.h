// SPDX-License-Identifier: Apache-2.0
// The service thread of a process: it holds the alive words of all its memberships and answers requests of other
// processes. It is started when the first is needed and ends with the last.
#ifndef SHMEMI_MAP_SERVICE_H
#define SHMEMI_MAP_SERVICE_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "member.h"

struct shmemi_place;   /* one alive word */
struct shmemi_service; /* one listener, and maybe a place */

/* Answers one request: reads from the connected socket, which has something to read, and writes the reply. Must end
   soon whatever the other side does. The socket is closed afterwards. */
typedef void (*shmemi_service_answer)(void *context, int socket);

/* Takes the first free place among `count` members that lie `stride` bytes apart: one whose alive word is 0. From then
   on the kernel marks the word when this process dies, at whatever instant. state becomes PRESENT. -EUSERS: none is
   free (dead members must be swept first). */
int shmemi_service_take_place(struct shmemi_member *first, size_t stride, unsigned count, struct shmemi_place **out,
                              unsigned *number);

/* Leaves in an orderly way: state LEFT, alive word 0. NULL is allowed. */
void shmemi_service_leave_place(struct shmemi_place *place);

/* Serves a listening socket, which it takes over. accept: shmemi_wire_accept() or shmemi_wire_accept_any(). */
int shmemi_service_listen(int listener, int (*accept)(int listener, int *out), shmemi_service_answer answer,
                          void *context, struct shmemi_service **out);

/* Both at once, for a member that has its place: the job's PEs. State is left to the caller. */
int shmemi_service_start(struct shmemi_member *member, int listener, shmemi_service_answer answer, void *context,
                         struct shmemi_service **out);

/* Ends serving (and leaves the place, where start took one): when it returns, no answer is running. Not to be called
   from an answer. NULL is allowed. */
void shmemi_service_stop(struct shmemi_service *service);

/* In a forked child, where there is no such thread: give back what the handles hold, touching nothing shared. */
void shmemi_service_forget(struct shmemi_service *service);
void shmemi_service_forget_place(struct shmemi_place *place);

#endif
