// SPDX-License-Identifier: Apache-2.0
// Contexts: which team a PE number in a call belongs to, and the hints of sessions.
//
// On one host a put or an atomic is done, or ordered by the processor, when it returns, so a context has no queue of
// its own: a fence or quiet on one orders and completes what the calling thread has issued on any of them.
#ifndef SHMEMI_COMM_CONTEXT_H
#define SHMEMI_COMM_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* The public shmem_ctx_t is this number in a pointer's clothes: handles are constants and can be checked. A number is
   used once in the life of a process, so a destroyed context is told from a new one. */
enum { SHMEMI_CTX_INVALID = 0, SHMEMI_CTX_DEFAULT = 1 };

/* Contexts that a PE may have at once, besides the default one. */
enum { SHMEMI_CONTEXTS_MOST = 4094 };

/* The options of contexts and of sessions, as shmem.h numbers them; api/ checks that they agree. */
enum { SHMEMI_CTX_PRIVATE = 2, SHMEMI_CTX_OPTIONS = 7 };

/* Makes a context on a team. -EINVAL: no such team or option; -ENOSPC: as many as there may be; -ENOMEM. *out is
   SHMEMI_CTX_INVALID then. Any thread. */
int shmemi_context_create(uintptr_t team, long options, uintptr_t *out);

/* Ends one. -EINVAL: it is none, or the default one; -EPERM: it is private to another thread. */
int shmemi_context_destroy(uintptr_t ctx);

/* Ends all contexts of a team that is being destroyed. */
void shmemi_contexts_end_team(uintptr_t team);

/* The team of a context; -EINVAL "ctx is ..., which is no context". */
int shmemi_context_team(uintptr_t ctx, uintptr_t *team);

/* The PE of the job that the context's team numbers pe; ends the job when either is wrong. argument: pe's name. */
int shmemi_context_pe(const char *fn, uintptr_t ctx, const char *argument, int pe);

#endif
