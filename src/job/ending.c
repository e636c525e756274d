// SPDX-License-Identifier: Apache-2.0
// Ending early, with one message and one status.
#include "ending.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "map/wire.h"
#include "message.h"
#include "parts.h"
#include "pmix.h"

enum {
    STATUS_ERROR = 1,
    LAUNCHER_FIRST = 300000, /* us: so long it may take to see how a process ended, to say so, and to end this one */
    FLUSH_MOST = 100000,     /* us */
    TOLD_WITHIN = 1000000,   /* us */
    STEP = 1000              /* us */
};

/* Whether this process is the first of the job to end it. */
static bool claim(int status)
{
    const struct shmemi_job *job = shmemi_current;
    if (job->n < 2)
        return true;
    uint32_t none = 0, mine = ((uint32_t)status & 0xff) << 16 | ((uint32_t)job->me + 1);
    /* [ending] relaxed: one PE alone wins; the word says all, so nothing hangs on the order. */
    return atomic_compare_exchange_strong_explicit(&job->control->ending, &none, mine, memory_order_relaxed,
                                                   memory_order_relaxed);
}

static void say(const char *fn, const char *text)
{
    const struct shmemi_job *job = shmemi_current;
    char line[1400], who[32] = "";
    if (job->n > 0)
        snprintf(who, sizeof who, "PE %d ", job->me);
    int length = snprintf(line, sizeof line, "shmem: %s(pid %d): %s: %s\n", who, (int)getpid(), fn, text);
    ssize_t ignored = write(STDERR_FILENO, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
    (void)ignored;
}

static void *flush(void *flushed)
{
    shmemi_pmix_end();
    fflush(NULL);
    /* [flushed] release pairs with the acquire in shmemi_quit(): after it nobody touches the streams. */
    atomic_store_explicit((_Atomic int *)flushed, 1, memory_order_release);
    return NULL;
}

void shmemi_quit(int status)
{
    /* Another thread may hold a stream's lock for ever, by reading from it: so not this thread flushes. */
    static _Atomic int flushed;
    pthread_t helper;
    if (pthread_create(&helper, NULL, flush, &flushed) == 0)
        for (int waited = 0; waited < FLUSH_MOST && !atomic_load_explicit(&flushed, memory_order_acquire);
             waited += STEP) /* [flushed] */
            usleep(STEP);
    _exit(status);
}

static void tell_all(int status)
{
    const struct shmemi_job *job = shmemi_current;
    for (int pe = 0; pe < job->n; pe++) {
        int socket;
        if (pe == job->me || shmemi_member_died(&job->slots[pe].member) || shmemi_member_left(&job->slots[pe].member) ||
            shmemi_wire_connect(job->parts->identity.name, pe, &socket) < 0)
            continue;
        struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_END);
        m.rank = status;
        shmemi_wire_send(socket, &m, sizeof m, NULL, 0, shmemi_now() + 50000000);
        close(socket);
    }
}

/* Somebody else ends the job: the service thread is told, and ends this process; or else this thread does. */
static _Noreturn void end_as_told(void)
{
    usleep(TOLD_WITHIN);
    shmemi_quit((int)(atomic_load_explicit(&shmemi_current->control->ending, memory_order_relaxed) >> 16 &
                      0xff)); /* [ending] */
}

static _Noreturn void end(int status, const char *fn, const char *text)
{
    if (!claim(status))
        end_as_told();
    if (text)
        say(fn, text);
    if (shmemi_current->parts)
        shmemi_wire_forget_file(shmemi_current->parts->identity.name, shmemi_current->me);
    tell_all(status);
    shmemi_quit(status);
}

void shmemi_end_all(int status)
{
    end(status, NULL, NULL);
}

void shmemi_die(const char *fn, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    end(STATUS_ERROR, fn, text);
}

void shmemi_die_of_peer(const char *fn, const char *text)
{
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", text);
    if (shmemi_current->parts->launched)
        usleep(LAUNCHER_FIRST);
    end(STATUS_ERROR, fn, kept);
}
