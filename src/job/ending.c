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
    FLUSH_MOST = 300000,     /* us */
    TOLD_WITHIN = 1000000,   /* us */
    STEP = 1000,             /* us */
    SEND_WITHIN = 50000000,  /* ns */
    HEAR_WITHIN = 500000000, /* ns, of all together: longer than flushing takes */
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

static _Atomic unsigned flushed; /* how often */

/* What the program prints to comes first: some other stream may block all that are behind it. */
static void *flush(void *ends)
{
    if (ftrylockfile(stdout) == 0) {
        fflush(stdout);
        funlockfile(stdout);
    }
    fflush(NULL);
    if (ends)
        shmemi_pmix_end();
    /* [flushed] release pairs with the acquire in flush_within(): after it this thread touches no stream. */
    atomic_fetch_add_explicit(&flushed, 1, memory_order_release);
    return NULL;
}

/* Another thread may hold a stream's lock for ever, by reading from it: so not this thread flushes. */
static void flush_within(int most, void *ends)
{
    pthread_t helper;
    unsigned before = atomic_load_explicit(&flushed, memory_order_relaxed); /* [flushed] */
    if (pthread_create(&helper, NULL, flush, ends) != 0)
        return;
    pthread_detach(helper);
    for (int waited = 0; waited < most && atomic_load_explicit(&flushed, memory_order_acquire) == before;
         waited += STEP) /* [flushed] */
        usleep(STEP);
}

void shmemi_flush(void)
{
    flush_within(FLUSH_MOST, NULL);
}

void shmemi_quit(int status)
{
    flush_within(FLUSH_MOST, &flushed);
    _exit(status);
}

/* Who was told, and will say when its streams are flushed. Of the one thread that ends the job. */
static struct {
    int count, sockets[SHMEMI_PES_MOST];
} told;

static void hang_up(void)
{
    while (told.count)
        close(told.sockets[--told.count]);
}

static void tell(int pe, int status)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_END);
    int socket, rc = shmemi_wire_connect(job->parts->identity.name, pe, &socket);
    if (rc < 0 && rc != -ECONNREFUSED && told.count) { /* as when there are no more descriptors */
        hang_up();
        rc = shmemi_wire_connect(job->parts->identity.name, pe, &socket);
    }
    if (rc < 0)
        return;
    m.rank = status;
    if (shmemi_wire_send(socket, &m, sizeof m, NULL, 0, shmemi_now() + SEND_WITHIN) == 0)
        told.sockets[told.count++] = socket;
    else
        close(socket);
}

/* The launcher ends the others when this process has ended, so first they save what they have printed. They stay until
   the sockets close, that is when this process ends: it is to be met first. */
static void tell_all(int status)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_message m;
    unsigned ignored;
    for (int pe = 0; pe < job->n; pe++)
        if (pe != job->me && !shmemi_member_died(&job->slots[pe].member) && !shmemi_member_left(&job->slots[pe].member))
            tell(pe, status);
    int64_t deadline = shmemi_now() + HEAR_WITHIN;
    for (int i = 0; i < told.count; i++)
        shmemi_wire_receive(told.sockets[i], &m, sizeof m, NULL, 0, &ignored, deadline);
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
