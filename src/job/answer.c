// SPDX-License-Identifier: Apache-2.0
// Requests between PEs, answered by the service thread.
#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "ending.h"
#include "map/inplace.h"
#include "map/wire.h"
#include "message.h"
#include "parts.h"
#include "statics.h"

enum { ANSWER_WITHIN = 1000000000, ASK_WITHIN = 5, CAUSE_FIRST = 50000 }; /* ns; s; us */

/* The descriptor (the engine's own, or negative errno), and the rest of the answer in *m. */
static int own_descriptor(uint64_t which, struct shmemi_message *m)
{
    struct shmemi_inplace *engine;
    int fd = which < SHMEMI_DESCRIPTORS ? shmemi_inplace_engine(&engine) : -ENOENT;
    if (fd == 0)
        fd = shmemi_inplace_fd(engine, which == SHMEMI_DESCRIPTOR_WHOLE ? SHMEMI_PAGES_WHOLE : SHMEMI_PAGES_MIXED);
    char *begin;
    size_t bytes;
    shmemi_statics_range(&begin, &bytes);
    m->value = (uintptr_t)begin;
    m->heap_size = bytes;
    return fd;
}

/* [more] relaxed: pairs with the store in make_regions(); what the function looks at it acquires itself. */
static void more_pieces(struct shmemi_job *job, uint64_t number, uint32_t first, struct shmemi_message *reply)
{
    bool (*more)(struct shmemi_job *, uint64_t, uint32_t, struct shmemi_message *) =
        __atomic_load_n(&job->parts->more_pieces, __ATOMIC_RELAXED);
    if (more)
        more(job, number, first, reply);
}

static void give_descriptor(int socket, uint64_t which)
{
    struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_FD);
    int fd = own_descriptor(which, &m);
    shmemi_wire_send(socket, &m, sizeof m, &fd, fd >= 0, shmemi_now() + ANSWER_WITHIN);
}

/* Says when what was printed is safe, and waits for the sender's end, so that the launcher meets that one first. */
static _Noreturn void end(const struct shmemi_job *job, int socket, int status)
{
    struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_END);
    unsigned ignored;
    shmemi_wire_forget_file(job->parts->identity.name, job->me);
    shmemi_flush();
    if (shmemi_wire_send(socket, &m, sizeof m, NULL, 0, shmemi_now() + ANSWER_WITHIN) == 0)
        shmemi_wire_receive(socket, &m, sizeof m, NULL, 0, &ignored, shmemi_now() + ANSWER_WITHIN);
    if (job->parts->launched)
        usleep(CAUSE_FIRST); /* it takes a while to end */
    shmemi_quit(status);
}

void shmemi_answer(void *context, int socket)
{
    struct shmemi_job *job = context;
    struct shmemi_message m;
    unsigned ignored;
    if (shmemi_wire_receive(socket, &m, sizeof m, NULL, 0, &ignored, shmemi_now() + ANSWER_WITHIN) < 0)
        return;
    if (m.magic != SHMEMI_MESSAGE_MAGIC || m.fingerprint != shmemi_fingerprint())
        return;
    if (m.type == SHMEMI_MESSAGE_END)
        end(job, socket, m.rank & 0xff);
    if (m.type == SHMEMI_MESSAGE_FD)
        give_descriptor(socket, m.value);
    if (m.type == SHMEMI_MESSAGE_PIECES) {
        struct shmemi_message reply = shmemi_message(SHMEMI_MESSAGE_PIECES);
        more_pieces(job, m.value, (uint32_t)m.rank, &reply);
        shmemi_wire_send(socket, &reply, sizeof reply, NULL, 0, shmemi_now() + ANSWER_WITHIN);
    }
    if (m.type == SHMEMI_MESSAGE_WHO)
        shmemi_wire_send(socket, &m, sizeof m, NULL, 0, shmemi_now() + ANSWER_WITHIN);
    if (m.type ==
        SHMEMI_MESSAGE_HELLO) { /* after the job has started: somebody who is here for the next, or a mistake */
        struct shmemi_message no = shmemi_message(SHMEMI_MESSAGE_REFUSED);
        const struct shmemi_member *place = m.rank >= 0 && m.rank < job->n ? &job->slots[m.rank].member : NULL;
        no.rank = -EEXIST;
        snprintf(no.text, sizeof no.text, "the job has started already, with another process (pid %d) as PE %d",
                 place ? (int)place->pid : 0, m.rank);
        if (place && (shmemi_member_left(place) || shmemi_member_died(place))) {
            no.rank = -EAGAIN;
            snprintf(no.text, sizeof no.text,
                     "an earlier job of the same name has not ended: PE 0 (pid %d) is still in it", (int)getpid());
        }
        shmemi_wire_send(socket, &no, sizeof no, NULL, 0, shmemi_now() + ANSWER_WITHIN);
    }
}

/* A PE need not ask itself through a socket; in a job of one there is none. */
static int answer_self(struct shmemi_message *m, int *fd, unsigned *fds, struct ucred *who)
{
    struct shmemi_job *job = shmemi_current;
    if (m->type == SHMEMI_MESSAGE_FD) {
        int own = own_descriptor(m->value, m);
        *fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0) : own;
        if (own >= 0 && *fd < 0)
            return shmemi_fail_errno("copying a descriptor");
        *fds = *fd >= 0;
    } else if (m->type == SHMEMI_MESSAGE_PIECES) {
        uint32_t first = (uint32_t)m->rank;
        m->count = 0;
        more_pieces(job, m->value, first, m);
    } else if (who)
        who->pid = getpid();
    return 0;
}

/* Sends the question to PE pe and receives the answer into *m. */
static int ask(int pe, struct shmemi_message *m, int *fd, unsigned *fds, struct ucred *who)
{
    const struct shmemi_job *job = shmemi_current;
    if (pe == job->me)
        return answer_self(m, fd, fds, who);
    int socket = -1;
    socklen_t length = sizeof *who;
    uint32_t type = m->type;
    int rc = shmemi_wire_connect(job->parts->identity.name, pe, &socket);
    if (rc == -ECONNREFUSED)
        return shmemi_fail(-EOWNERDEAD, "PE %d (pid %d) has left the job or died", pe, (int)job->slots[pe].member.pid);
    if (rc < 0)
        return rc;
    int64_t deadline = shmemi_deadline(ASK_WITHIN);
    rc = shmemi_wire_send(socket, m, sizeof *m, NULL, 0, deadline);
    if (rc == 0)
        rc = shmemi_wire_receive(socket, m, sizeof *m, fd, fd ? 1 : 0, fds, deadline);
    if (rc == 0 && who && getsockopt(socket, SOL_SOCKET, SO_PEERCRED, who, &length) < 0)
        rc = shmemi_fail_errno("asking who PE %d is", pe);
    close(socket);
    if (rc == -EPIPE)
        return shmemi_fail(-EOWNERDEAD, "PE %d (pid %d) left the job or died when it was asked about its memory", pe,
                           (int)job->slots[pe].member.pid);
    if (rc == 0 && (m->magic != SHMEMI_MESSAGE_MAGIC || m->type != type))
        rc = shmemi_fail(-EPROTO, "an answer that this build does not understand");
    return rc < 0 ? shmemi_fail_in(rc, "asking PE %d about its memory", pe) : 0;
}

int shmemi_ask_fd(int pe, enum shmemi_descriptor which, struct shmemi_fd_answer *out)
{
    struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_FD);
    int fd = -1;
    unsigned got = 0;
    m.value = which;
    int rc = ask(pe, &m, &fd, &got, NULL);
    if (rc == 0 && got == 1) {
        *out = (struct shmemi_fd_answer){.fd = fd, .static_offset = m.value, .static_bytes = m.heap_size};
        return 0;
    }
    if (got)
        close(fd);
    return rc < 0 ? rc : shmemi_fail(-ENOENT, "PE %d has no such memory to share", pe);
}

int shmemi_ask_pieces(int pe, uint64_t number, uint32_t first, uint32_t count, struct shmemi_piece *out)
{
    for (uint32_t have = 0; have < count;) {
        struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_PIECES);
        unsigned none = 0;
        m.value = number;
        m.rank = (int32_t)(first + have);
        int rc = ask(pe, &m, NULL, &none, NULL);
        if (rc < 0)
            return rc;
        if (m.count < 1 || (uint32_t)m.count > count - have || (size_t)m.count * sizeof *out > sizeof m.text)
            return shmemi_fail(-ENOENT, "region %llu of PE %d was deregistered", (unsigned long long)number, pe);
        memcpy(out + have, m.text, (size_t)m.count * sizeof *out);
        have += (uint32_t)m.count;
    }
    return 0;
}

int shmemi_ask_pid(int pe, int *out)
{
    struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_WHO);
    struct ucred who = {0};
    unsigned none = 0;
    int rc = ask(pe, &m, NULL, &none, &who);
    *out = who.pid;
    return rc;
}
