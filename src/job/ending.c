// SPDX-License-Identifier: Apache-2.0
// Ending early, with one message.
#include "ending.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "map/wire.h"
#include "message.h"
#include "parts.h"

enum { STATUS_ERROR = 1, LAUNCHER_FIRST = 300000 };

/* Whether this process is the first of the job that has something to say. */
static bool claim(int status)
{
    const struct shmemi_job *job = shmemi_current;
    if (job->n < 2)
        return true;
    uint32_t none = 0;
    /* [ending] one PE alone wins; nothing else hangs on the order. */
    if (!atomic_compare_exchange_strong_explicit(&job->control->ending, &none, (uint32_t)job->me + 1, memory_order_acq_rel,
                                                 memory_order_acquire))
        return false;
    atomic_store_explicit(&job->control->exit_status, (uint32_t)status, memory_order_relaxed);
    return true;
}

static void say(const char *fn, const char *text)
{
    const struct shmemi_job *job = shmemi_current;
    char line[1400], who[32] = "";
    if (job->n > 0)
        snprintf(who, sizeof who, "PE %d ", job->me);
    int length = snprintf(line, sizeof line, "shmem: %s(pid %d): %s: %s\n", who, (int)getpid(), fn, text);
    fflush(stdout);
    ssize_t ignored = write(STDERR_FILENO, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
    (void)ignored;
}

void shmemi_end_all(int status)
{
    const struct shmemi_job *job = shmemi_current;
    fflush(NULL);
    for (int pe = 0; pe < job->n; pe++) {
        int socket;
        if (pe == job->me || shmemi_member_died(&job->slots[pe].member) || shmemi_member_left(&job->slots[pe].member) ||
            shmemi_wire_connect(job->parts->identity.name, pe, &socket) < 0)
            continue;
        struct shmemi_message m = {.magic = SHMEMI_MESSAGE_MAGIC,
                                   .type = SHMEMI_MESSAGE_END,
                                   .fingerprint = shmemi_fingerprint(),
                                   .rank = status,
                                   .pid = (int32_t)getpid()};
        shmemi_wire_send(socket, &m, sizeof m, NULL, 0, shmemi_now() + 50000000);
        close(socket);
    }
    _exit(status);
}

void shmemi_die(const char *fn, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (claim(STATUS_ERROR))
        say(fn, text);
    shmemi_end_all(STATUS_ERROR);
}

void shmemi_die_of_peer(const char *fn, const char *text)
{
    if (shmemi_current->parts->launched)
        usleep(LAUNCHER_FIRST); /* it saw how that process ended, says so, and ends this one; or all looked well to it */
    if (claim(STATUS_ERROR))
        say(fn, text);
    shmemi_end_all(STATUS_ERROR);
}
