// SPDX-License-Identifier: Apache-2.0
// The service thread of a member: it holds the alive word and answers requests of other members.
#ifndef SHMEMI_MAP_SERVICE_H
#define SHMEMI_MAP_SERVICE_H

#include "member.h"

struct shmemi_service;

/* Answers one request: reads from the connected socket (its peer's user is checked already) and writes the reply. Must
   end soon whatever the other side does. The socket is closed afterwards. */
typedef void (*shmemi_service_answer)(void *context, int socket);

/* Starts the thread, which takes over `listener`, takes the alive word, and then lets this call return. */
int shmemi_service_start(struct shmemi_member *member, int listener, shmemi_service_answer answer, void *context,
                         struct shmemi_service **out);

/* Leaves in an orderly way: state LEFT, alive word cleared, thread ended, listener closed. NULL is allowed. */
void shmemi_service_stop(struct shmemi_service *service);

/* In a forked child, where there is no such thread: gives back what the handle holds, touching nothing shared. */
void shmemi_service_forget(struct shmemi_service *service);

#endif
