// SPDX-License-Identifier: Apache-2.0
// The exchange at the start of a job.
#include "wireup.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/settings.h"
#include "hal/hal.h"
#include "map/wire.h"
#include "message.h"

uint64_t shmemi_fingerprint(void)
{
    return (uint64_t)SHMEMI_CONTROL_VERSION << 48 ^ (uint64_t)sizeof(struct shmemi_control) << 32 ^
           (uint64_t)sizeof(struct shmemi_slot) << 16 ^ (uint64_t)SHMEMI_CHANNELS_BYTES << 24 ^ sizeof(struct shmemi_region_entry) << 4 ^
           sizeof(struct shmemi_message) ^ (uint64_t)SHMEMI_LINE << 40;
}

size_t shmemi_control_head(int n)
{
    return shmemi_round_up(sizeof(struct shmemi_control) + (size_t)n * sizeof(struct shmemi_slot), 65536);
}

size_t shmemi_channels_offset(int n, int pe)
{
    return shmemi_control_head(n) + (size_t)pe * SHMEMI_CHANNELS_BYTES;
}

size_t shmemi_directory_offset(int n, int pe)
{
    return shmemi_channels_offset(n, n) + (size_t)pe * SHMEMI_DIRECTORY_BYTES;
}

size_t shmemi_control_bytes(int n)
{
    return shmemi_directory_offset(n, n);
}

static void close_all(int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* --- PE 0 ------------------------------------------------------------------------------------------------------- */

enum { SILENT_MOST = 64 };

struct hub {
    const struct shmemi_identity *identity;
    int *heaps, *sockets, *pids; /* by PE; -1 while it has not come */
    int come;
    int silent[SILENT_MOST]; /* connections that have said nothing yet */
    unsigned silents;
    cpu_set_t cores; /* that any of the PEs may run on */
    size_t heap_size, stride;
    int64_t deadline;
};

/* "PE 3" or "PEs 1, 3 and 7 more". */
static void name_missing(const struct hub *hub, char *out, size_t size)
{
    int missing = hub->identity->n - hub->come, named = 0;
    size_t used = (size_t)snprintf(out, size, missing == 1 ? "PE" : "PEs");
    for (int pe = 0; pe < hub->identity->n && named < 8 && used < size; pe++)
        if (hub->heaps[pe] < 0)
            used += (size_t)snprintf(out + used, size - used, "%s %d", named++ ? "," : "", pe);
    if (missing > named && used < size)
        snprintf(out + used, size - used, " and %d more", missing - named);
}

/* Passes this thread's error text on, and keeps it: that of a failing send is not what anybody needs. */
static void refuse(int socket, int rc)
{
    struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_REFUSED);
    char why[1024];
    snprintf(why, sizeof why, "%s", shmemi_last_error());
    m.rank = rc;
    snprintf(m.text, sizeof m.text, "%.*s", (int)sizeof m.text - 1, why);
    shmemi_wire_send(socket, &m, sizeof m, NULL, 0, shmemi_now() + 200000000);
    shmemi_fail(rc, "%s", why);
}

/* Whether what a process says of itself fits this job; its mistake ends the job, since the job cannot be what was
 * meant. */
static int check_hello(const struct hub *hub, const struct shmemi_message *m)
{
    const struct shmemi_identity *id = hub->identity;
    if (m->magic != SHMEMI_MESSAGE_MAGIC || m->type != SHMEMI_MESSAGE_HELLO)
        return shmemi_fail(-EPROTO, "a process spoke that is no PE of this library");
    if (m->fingerprint != shmemi_fingerprint())
        return shmemi_fail(-EPROTO, "PE %d (pid %d) runs another build of shmem: all PEs of a job need the same one",
                           m->rank, m->pid);
    if (m->size != id->n)
        return shmemi_fail(
            -EINVAL, "PE %d (pid %d) was told that the job has %d PEs, but PE 0 (pid %d) that it has %d: check %s",
            m->rank, m->pid, m->size, (int)getpid(), id->n, id->size_source);
    if (m->rank < 0 || m->rank >= id->n)
        return shmemi_fail(-EINVAL, "a process (pid %d) says it is PE %d of %d", m->pid, m->rank, id->n);
    if (m->rank == 0 || hub->heaps[m->rank] >= 0)
        return shmemi_fail(-EEXIST, "two processes (pid %d and pid %d) both say that they are PE %d: check %s",
                           m->rank ? hub->pids[m->rank] : (int)getpid(), m->pid, m->rank, id->rank_source);
    if (m->heap_size != hub->heap_size)
        return shmemi_fail(
            -EINVAL,
            "PE %d has a symmetric heap of %zu bytes, but PE 0 one of %zu: set SHMEM_SYMMETRIC_SIZE (heap_size=) alike",
            m->rank, (size_t)m->heap_size, hub->heap_size);
    return 0;
}

static int welcome_one(struct hub *hub, int socket)
{
    struct shmemi_message m;
    int fd = -1, rc;
    unsigned got = 0;
    int64_t soon = shmemi_now() + 2000000000;
    rc = shmemi_wire_receive(socket, &m, sizeof m, &fd, 1, &got, soon < hub->deadline ? soon : hub->deadline);
    if (rc == -EPIPE) {
        close(socket); /* whoever only looked whether somebody listens here */
        return 0;
    }
    if (rc == 0)
        rc = check_hello(hub, &m);
    if (rc == 0 && got != 1)
        rc = shmemi_fail(-EPROTO, "PE %d sent no heap", m.rank);
    if (rc == 0)
        rc = shmemi_hal_host.check(fd, hub->heap_size);
    if (rc < 0) {
        refuse(socket, rc);
        close(socket);
        if (got)
            close(fd);
        return rc;
    }
    struct shmemi_message heard = shmemi_message(SHMEMI_MESSAGE_HEARD);
    shmemi_wire_send(socket, &heard, sizeof heard, NULL, 0,
                     soon); /* one that has gone already is noticed in collect() */
    hub->heaps[m.rank] = fd;
    hub->sockets[m.rank] = socket;
    hub->pids[m.rank] = m.pid;
    hub->come++;
    cpu_set_t cores;
    memcpy(&cores, m.text, sizeof cores);
    CPU_OR(&hub->cores, &hub->cores, &cores);
    return 0;
}

/* One of those who came has gone again: its socket is readable (nobody speaks twice) and at its end. */
static int find_gone(const struct hub *hub, const struct pollfd *on)
{
    for (int pe = 1; pe < hub->identity->n; pe++)
        if (on[pe].fd >= 0 && on[pe].revents)
            return shmemi_fail(-EPIPE, "PE %d (pid %d) ended while the job was starting", pe, hub->pids[pe]);
    return 0;
}

/* A connection that has not spoken yet must not keep the others waiting. Of too many the first is given up. */
static void keep_silent(struct hub *hub, int socket)
{
    if (hub->silents == SILENT_MOST) {
        close(hub->silent[0]);
        memmove(hub->silent, hub->silent + 1, --hub->silents * sizeof *hub->silent);
    }
    hub->silent[hub->silents++] = socket;
}

/* Hears those of the silent ones that have spoken now. */
static int hear(struct hub *hub, const struct pollfd *on)
{
    int rc = 0;
    unsigned kept = 0;
    for (unsigned i = 0; i < hub->silents; i++)
        if (rc == 0 && on[i].revents)
            rc = welcome_one(hub, hub->silent[i]);
        else
            hub->silent[kept++] = hub->silent[i];
    hub->silents = kept;
    return rc;
}

/* Waits until something happens; on: the listener, the PEs that have come, the silent ones. */
static int wait_for_news(const struct hub *hub, int listener, struct pollfd *on)
{
    int n = hub->identity->n;
    on[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (int pe = 1; pe < n; pe++)
        on[pe] = (struct pollfd){.fd = hub->sockets[pe], .events = POLLIN};
    for (unsigned i = 0; i < hub->silents; i++)
        on[n + (int)i] = (struct pollfd){.fd = hub->silent[i], .events = POLLIN};
    int64_t left = (hub->deadline - shmemi_now()) / 1000000;
    if (left > 0)
        return poll(on, (nfds_t)n + hub->silents, left > 100 ? 100 : (int)left) > 0 ? 1 : shmemi_interrupted();
    char missing[128];
    name_missing(hub, missing, sizeof missing);
    return shmemi_fail(-ETIMEDOUT, "%s of %d did not come in time (SHMEM_TIMEOUT sets how many seconds to wait)", missing,
                       n);
}

static int collect(struct hub *hub, int listener)
{
    int n = hub->identity->n, rc = 0, socket;
    struct pollfd *on = calloc((size_t)n + SILENT_MOST, sizeof *on);
    if (!on)
        return shmemi_fail(-ENOMEM, "no memory to start the job");
    while (rc == 0 && hub->come < n) {
        int news = wait_for_news(hub, listener, on);
        if (news <= 0) {
            rc = news;
            continue;
        }
        rc = hear(hub, on + n);
        int accepted = rc == 0 && on[0].revents ? shmemi_wire_accept(listener, &socket) : -EAGAIN;
        if (accepted == 0)
            keep_silent(hub, socket);
        else if (accepted != -EAGAIN && accepted != -EPERM)
            rc = accepted;
        if (rc == 0 && !on[0].revents)
            rc = find_gone(hub, on);
    }
    for (unsigned i = 0; i < hub->silents; i++)
        close(hub->silent[i]);
    hub->silents = 0;
    free(on);
    return rc;
}

/* Makes the control segment, its pages taken. */
static int make_control(const struct hub *hub, size_t bytes, int *out)
{
    int fd = -1, rc = shmemi_hal_host.create("shmem-control", bytes, NULL, &fd);
    if (rc < 0)
        return rc;
    void *at = NULL;
    if ((rc = shmemi_hal_host.reserve(fd, 0, shmemi_control_head(hub->identity->n))) < 0 ||
        (rc = shmemi_hal_host.map(fd, 0, bytes, SHMEMI_READ_WRITE, NULL, &at)) < 0) {
        close(fd);
        return shmemi_fail_in(rc, "making the job's control segment");
    }
    struct shmemi_control *control = at;
    long cores = shmemi_cpu_cores(&hub->cores);
    rc = shmemi_setting_int("SHMEM_CORES", 1, 1 << 20, &cores);
    control->magic = SHMEMI_CONTROL_MAGIC;
    control->version = SHMEMI_CONTROL_VERSION;
    control->n = (uint32_t)hub->identity->n;
    control->fingerprint = shmemi_fingerprint();
    control->bytes = bytes;
    control->heap_size = hub->heap_size;
    control->stride = hub->stride;
    control->cores = (uint32_t)cores;
    shmemi_hal_host.unmap(at, bytes);
    if (rc < 0)
        close(fd);
    else
        *out = fd;
    return rc;
}

static int hand_out(const struct hub *hub, int control, size_t control_bytes)
{
    for (int pe = 1; pe < hub->identity->n; pe++) {
        struct shmemi_message m = shmemi_message(SHMEMI_MESSAGE_WELCOME);
        m.value = control_bytes;
        int rc = shmemi_wire_send(hub->sockets[pe], &m, sizeof m, &control, 1, hub->deadline);
        for (int first = 0; rc == 0 && first < hub->identity->n; first += SHMEMI_WIRE_FDS) {
            int count = hub->identity->n - first < SHMEMI_WIRE_FDS ? hub->identity->n - first : SHMEMI_WIRE_FDS;
            m = shmemi_message(SHMEMI_MESSAGE_HEAPS);
            m.rank = first;
            m.count = count;
            rc = shmemi_wire_send(hub->sockets[pe], &m, sizeof m, hub->heaps + first, (unsigned)count, hub->deadline);
        }
        if (rc < 0)
            return shmemi_fail_in(rc, "PE %d (pid %d)", pe, hub->pids[pe]);
    }
    return 0;
}

/* After a mistake that ends the job: processes that are just coming are told too, instead of waiting for a PE 0 that
   has gone. */
static void refuse_the_rest(const struct hub *hub, int listener, int rc)
{
    int64_t until = shmemi_now() + 500000000, left;
    char why[1024];
    snprintf(why, sizeof why, "%s", shmemi_last_error());
    int told = hub->come + (rc != -EPIPE); /* the one whose hello was wrong has been told already */
    while (told < hub->identity->n && (left = until - shmemi_now()) > 0) {
        struct pollfd on = {.fd = listener, .events = POLLIN};
        struct shmemi_message m;
        unsigned none;
        int socket;
        if (poll(&on, 1, (int)(left / 1000000) + 1) <= 0 || shmemi_wire_accept(listener, &socket) < 0)
            continue;
        /* An answer before the question would be lost when the socket is closed. */
        int heard = shmemi_wire_receive(socket, &m, sizeof m, NULL, 0, &none, shmemi_now() + 100000000);
        shmemi_fail(rc, "%s", why);
        if (heard == 0)
            refuse(socket, rc);
        close(socket);
        told += heard == 0;
    }
    shmemi_fail(rc, "%s", why);
}

static int lead(struct hub *hub, struct shmemi_wireup *out)
{
    int rc = hub->identity->n > 1 ? collect(hub, out->listener) : 0;
    if (rc < 0 && rc != -ETIMEDOUT)
        refuse_the_rest(hub, out->listener, rc);
    if (rc == 0)
        rc = make_control(hub, out->control_bytes, &out->control);
    if (rc == 0)
        rc = hand_out(hub, out->control, out->control_bytes);
    for (int pe = 1; pe < hub->identity->n; pe++) {
        if (hub->sockets[pe] < 0)
            continue;
        if (rc < 0)
            refuse(hub->sockets[pe], rc);
        close(hub->sockets[pe]);
    }
    return rc;
}

/* --- the others ------------------------------------------------------------------------------------------------- */

static int expect(int socket, enum shmemi_message_type type, struct shmemi_message *m, int *fds, unsigned most,
                  int64_t deadline)
{
    unsigned got = 0;
    int rc = shmemi_wire_receive(socket, m, sizeof *m, fds, most, &got, deadline);
    if (rc == 0 && m->magic == SHMEMI_MESSAGE_MAGIC && m->type == SHMEMI_MESSAGE_REFUSED) {
        m->text[sizeof m->text - 1] = 0;
        rc = shmemi_fail(m->rank < 0 ? m->rank : -EPROTO, "%s", m->text);
    } else if (rc == 0 && (m->magic != SHMEMI_MESSAGE_MAGIC || m->type != (uint32_t)type || got != most))
        rc = shmemi_fail(-EPROTO, "PE 0 sent something that this build does not understand");
    if (rc < 0)
        for (unsigned i = 0; i < got; i++) {
            close(fds[i]);
            fds[i] = -1;
        }
    return rc == -EPIPE ? shmemi_fail(-EPIPE, "PE 0 ended while the job was starting") : rc;
}

static int reach_hub(const struct shmemi_identity *identity, int64_t deadline, int *out)
{
    for (useconds_t nap = 500;; nap = nap < 10000 ? nap * 2 : nap) {
        int rc = shmemi_wire_connect(identity->name, 0, out);
        if (rc != -ECONNREFUSED)
            return rc;
        if (shmemi_now() >= deadline)
            return shmemi_fail(-ETIMEDOUT,
                               "PE 0 of %d did not come in time (SHMEM_TIMEOUT sets how many seconds to wait)",
                               identity->n);
        if ((rc = shmemi_interrupted()) < 0)
            return rc;
        usleep(nap);
    }
}

static int receive_heaps(int socket, const struct shmemi_identity *identity, size_t heap_size, int64_t deadline,
                         int *heaps)
{
    for (int first = 0; first < identity->n; first += SHMEMI_WIRE_FDS) {
        struct shmemi_message m;
        int count = identity->n - first < SHMEMI_WIRE_FDS ? identity->n - first : SHMEMI_WIRE_FDS;
        int rc = expect(socket, SHMEMI_MESSAGE_HEAPS, &m, heaps + first, (unsigned)count, deadline);
        if (rc < 0)
            return rc;
        for (int i = first; i < first + count; i++)
            if ((rc = shmemi_hal_host.check(heaps[i], heap_size)) < 0)
                return shmemi_fail_in(rc, "the heap of PE %d", i);
    }
    return 0;
}

/* Says hello until the PE 0 of this job has heard it. Whoever closes the connection before, or asks for patience, is
   the PE 0 of an earlier job of this name, which is still leaving that. */
static int greet_hub(const struct shmemi_identity *identity, int heap, size_t heap_size, int64_t deadline, int *out)
{
    struct shmemi_message hello = shmemi_message(SHMEMI_MESSAGE_HELLO);
    hello.rank = identity->me;
    hello.size = identity->n;
    hello.heap_size = heap_size;
    cpu_set_t cores;
    shmemi_cpu_mask(&cores);
    memcpy(hello.text, &cores, sizeof cores);
    for (;;) {
        struct shmemi_message m;
        int rc = reach_hub(identity, deadline, out);
        if (rc < 0)
            return rc;
        rc = shmemi_wire_send(*out, &hello, sizeof hello, &heap, 1, deadline);
        if (rc == 0)
            rc = expect(*out, SHMEMI_MESSAGE_HEARD, &m, NULL, 0, deadline);
        if (rc == 0)
            return 0;
        close(*out);
        if ((rc != -EPIPE && rc != -EAGAIN) || shmemi_now() >= deadline)
            return rc;
        usleep(1000);
    }
}

static int follow(const struct shmemi_identity *identity, int heap, size_t heap_size, int64_t deadline,
                  struct shmemi_wireup *out)
{
    struct shmemi_message m;
    int socket, rc = greet_hub(identity, heap, heap_size, deadline, &socket);
    if (rc < 0)
        return rc;
    /* PE 0 names who is missing, so it gets a little longer than everybody else. */
    int64_t patience = deadline == SHMEMI_NO_DEADLINE ? deadline : deadline + 3000000000;
    rc = expect(socket, SHMEMI_MESSAGE_WELCOME, &m, &out->control, 1, patience);
    if (rc == 0 &&
        (m.value != out->control_bytes || (rc = shmemi_hal_host.check(out->control, out->control_bytes)) < 0))
        rc = shmemi_fail(-EPROTO, "PE 0 sent a control segment of %llu bytes instead of %zu",
                         (unsigned long long)m.value, out->control_bytes);
    if (rc == 0)
        rc = receive_heaps(socket, identity, heap_size, patience, out->heaps);
    close(socket);
    return rc;
}

/* Another process has this PE's place. PE 0 is told, which then ends the job with both named, instead of waiting in
   vain for the PE that one of the two should have been. */
static int second_of_its_number(const struct shmemi_identity *identity, int heap, size_t heap_size)
{
    int heaps[SHMEMI_PES_MOST];
    memset(heaps, 0xff, sizeof heaps); /* -1 everywhere */
    struct shmemi_wireup ignored = {.control = -1, .heaps = heaps, .control_bytes = shmemi_control_bytes(identity->n)};
    int rc = follow(identity, heap, heap_size, shmemi_now() + 500000000, &ignored);
    close_all(heaps, identity->n);
    if (ignored.control >= 0)
        close(ignored.control);
    if (rc == -EEXIST)
        return rc;
    return shmemi_fail(-EEXIST, "another process already is PE %d of this job: check %s", identity->me,
                       identity->rank_source);
}

/* PE 0 holds two descriptors a PE for a moment, the others one: more than the usual soft limit allows in a large job.
   Returns the limit before, to be set again. */
static struct rlimit allow_descriptors(int n)
{
    struct rlimit before = {0, 0}, more;
    if (getrlimit(RLIMIT_NOFILE, &before) < 0 || before.rlim_cur >= 3 * (rlim_t)n + 64)
        return before;
    more = before;
    more.rlim_cur = more.rlim_max;
    setrlimit(RLIMIT_NOFILE, &more);
    return before;
}

int shmemi_wireup(const struct shmemi_identity *identity, int heap, size_t heap_size, size_t stride, int64_t deadline,
                  struct shmemi_wireup *out)
{
    int n = identity->n;
    struct rlimit before = allow_descriptors(n);
    int *lists = malloc(3 * (size_t)n * sizeof *lists);
    *out = (struct shmemi_wireup){.listener = -1, .control = -1, .control_bytes = shmemi_control_bytes(n)};
    if (!lists)
        return shmemi_fail(-ENOMEM, "no memory to start the job");
    memset(lists, 0xff, 3 * (size_t)n * sizeof *lists); /* -1 everywhere */
    struct hub hub = {.identity = identity,
                      .heaps = lists,
                      .sockets = lists + n,
                      .pids = lists + 2 * n,
                      .come = 1,
                      .heap_size = heap_size,
                      .stride = stride,
                      .deadline = deadline};
    out->heaps = lists;
    shmemi_cpu_mask(&hub.cores);
    int rc = n > 1 ? shmemi_wire_listen(identity->name, identity->me, &out->listener) : 0;
    if (rc == -EADDRINUSE)
        rc = second_of_its_number(identity, heap, heap_size);
    else if (rc == 0 && identity->me == 0) {
        lists[0] = heap;
        rc = lead(&hub, out);
        if (rc < 0)
            lists[0] = -1; /* stays the caller's */
    } else if (rc == 0) {
        rc = follow(identity, heap, heap_size, deadline, out);
        if (rc == 0)
            close(heap); /* it came back among the others */
    }
    if (rc < 0) {
        close_all(lists, n);
        if (out->control >= 0)
            close(out->control);
        if (out->listener >= 0)
            shmemi_wire_close_listener(out->listener);
        free(lists);
    }
    if (before.rlim_max)
        setrlimit(RLIMIT_NOFILE, &before);
    return rc;
}
