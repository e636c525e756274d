// SPDX-License-Identifier: Apache-2.0
// The service thread of a process: it holds the alive words of all its memberships and answers requests of other
// processes. It is started when the first is needed and ends with the last.
//
// None of these functions may be called from an answer. After fork the child has no such thread, and starts one of its
// own when it needs it; handles of the parent's are put away with the forget functions (stop and leave_place notice,
// and do that).
#ifndef SHMEMI_MAP_SERVICE_H
#define SHMEMI_MAP_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "member.h"

struct shmemi_place;   /* one alive word */
struct shmemi_service; /* one listener, and maybe a place */

/* Answers one request: reads from the connected socket, which has something to read (or was closed at the other end),
   and writes the reply. Must end soon whatever the other side does. The socket is closed afterwards. */
typedef void (*shmemi_service_answer)(void *context, int socket);

/* Takes the first free place among `count` members that lie `stride` bytes apart, in a shared mapping: one whose alive
   word is 0. From then on the kernel marks the word when this process dies, at whatever instant. pid is set, and then
   state becomes PRESENT. after_dead: the place of a dead member will do, and what that one had is the caller's to
   sweep. -EUSERS: none is free, or this process has SHMEMI_PLACES_MOST already. */
int shmemi_service_take_place(struct shmemi_member *first, size_t stride, unsigned count, bool after_dead,
                              struct shmemi_place **out, unsigned *number);

/* Leaves in an orderly way: state LEFT, alive word 0. NULL is allowed. */
void shmemi_service_leave_place(struct shmemi_place *place);

/* Serves a listening socket, which it takes over if it succeeds. accept: shmemi_wire_accept() or
   shmemi_wire_accept_any(). A connection is answered when it has something to read; who is silent for a second is
   dropped, and keeps nobody waiting. */
int shmemi_service_listen(int listener, int (*accept)(int listener, int *out), shmemi_service_answer answer,
                          void *context, struct shmemi_service **out);

/* Both at once, for a member that has its place: the job's PEs. State is left to the caller. -EEXIST: another process
   holds the alive word. */
int shmemi_service_start(struct shmemi_member *member, int listener, shmemi_service_answer answer, void *context,
                         struct shmemi_service **out);

/* Ends serving (and leaves the place, where start took one) and closes the listener: when it returns, no answer is
   running. NULL is allowed. */
void shmemi_service_stop(struct shmemi_service *service);

/* Has the thread started, by whoever will probably need it soon and has to wait for something else anyway; and takes
   that back. Each hold() that gave 0 needs one unhold(). */
int shmemi_service_hold(void);
void shmemi_service_unhold(void);

/* Returns when every answer that was running, and every import of this process that was, has ended: for who took
   something away from answers and is about to close or free it. */
void shmemi_service_settle(void);

/* In a forked child, where there is no such thread: give back what the handles hold, touching nothing shared. NULL is
   allowed. */
void shmemi_service_forget(struct shmemi_service *service);
void shmemi_service_forget_place(struct shmemi_place *place);

/* Around fork, for fork_order.c: no command is being given meanwhile. after_fork_in_child is in place of after_fork:
   there is no thread any more. */
void shmemi_service_before_fork(void);
void shmemi_service_after_fork(void);
void shmemi_service_after_fork_in_child(void);

#endif
