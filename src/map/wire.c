// SPDX-License-Identifier: Apache-2.0
// Sequenced-packet Unix sockets: names, credentials, descriptors.
#include "wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/settings.h"
#include "key.h"

enum { LOOK_EVERY = 100 }; /* ms: for the interrupt check */

struct address {
    struct sockaddr_un un;
    socklen_t length;
};

static int make_address(uint32_t uid, const char *name, int number, struct address *out)
{
    char text[64];
    snprintf(text, sizeof text, "shmem-%u-%016llx%016llx-%d", (unsigned)uid,
             (unsigned long long)shmemi_hash_text(SHMEMI_HASH_BEGIN, name),
             (unsigned long long)shmemi_hash_text(SHMEMI_HASH_BEGIN ^ 0x9e3779b97f4a7c15u, name), number);
    *out = (struct address){.un.sun_family = AF_UNIX};
    const char *directory = shmemi_setting("SHMEM_DIR");
    int length = directory ? snprintf(out->un.sun_path, sizeof out->un.sun_path, "%s/%s", directory, text)
                           : snprintf(out->un.sun_path + 1, sizeof out->un.sun_path - 1, "%s", text);
    if (length < 0 || (size_t)length >= sizeof out->un.sun_path - 1)
        return shmemi_fail(-ENAMETOOLONG,
                           "SHMEM_DIR is '%s', which is too long for a socket's name: use a shorter path", directory);
    out->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length + 1);
    return 0;
}

static int new_socket(int *out)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return shmemi_fail_errno("socket");
    *out = fd;
    return 0;
}

/* Whether a living process accepts connections at the address. Does not wait where its queue is full. */
static int answers(const struct address *address)
{
    int fd = -1;
    if (new_socket(&fd) < 0)
        return 1;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    int rc = connect(fd, (const struct sockaddr *)&address->un, address->length);
    int refused = rc < 0 && errno == ECONNREFUSED;
    close(fd);
    return !refused;
}

/* --- files in SHMEM_DIR ----------------------------------------------------------------------------------------------
 *
 * A socket that is bound and does not listen yet looks like one whose process is dead. So it is made under a temporary
 * name, the last one with ".XXXXXX" before it, and gets its own when it listens.
 */

enum { MARK = 7, OLD = 10 }; /* bytes of ".XXXXXX"; s until a temporary name is nobody's */

static int temporary(const struct address *address, struct address *out)
{
    const char *path = address->un.sun_path, *name = strrchr(path, '/') + 1;
    *out = (struct address){.un.sun_family = AF_UNIX, .length = address->length + MARK};
    int length = snprintf(out->un.sun_path, sizeof out->un.sun_path, "%.*s.%06x%s", (int)(name - path), path,
                          (unsigned)shmemi_random() & 0xffffff, name);
    if (length < 0 || (size_t)length >= sizeof out->un.sun_path)
        return shmemi_fail(-ENAMETOOLONG, "'%s' is too long for a socket's name: use a shorter path for SHMEM_DIR",
                           path);
    return 0;
}

/* The name that the socket has now, if it was bound to this one. */
static void final_name(struct address *address)
{
    char *name = strrchr(address->un.sun_path, '/');
    if (name && name[1] == '.' && strlen(name + 1) > MARK)
        memmove(name + 1, name + 1 + MARK, strlen(name + 1 + MARK) + 1);
}

/* Never replaces a file: -1 with EEXIST then. */
static int move_name(const char *from, const char *to)
{
    int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (rc == 0 || (errno != EINVAL && errno != ENOSYS))
        return rc;
    rc = link(from, to); /* a file system that cannot */
    return rc == 0 ? unlink(from) : rc;
}

/* Removes a file at which nobody answers. Another may be there by then that somebody made anew: that one is given back
   its name. */
static void remove_stale(const struct address *address)
{
    struct address aside;
    if (answers(address) || temporary(address, &aside) < 0 || rename(address->un.sun_path, aside.un.sun_path) < 0)
        return;
    if (!answers(&aside) || move_name(aside.un.sun_path, address->un.sun_path) < 0)
        unlink(aside.un.sun_path);
}

/* Begins with the mark and was not changed for a while: whoever made it would be through. */
static void remove_temporary(const struct address *address)
{
    struct stat st;
    if (stat(address->un.sun_path, &st) == 0 && st.st_mtime + OLD < time(NULL) && !answers(address))
        unlink(address->un.sun_path);
}

/* Files in SHMEM_DIR with this user's number that processes left when they were killed: nobody answers there any more.
   Those that another user made and that may not be removed stay. */
static void sweep(uint32_t uid)
{
    const char *directory = shmemi_setting("SHMEM_DIR");
    DIR *entries = directory ? opendir(directory) : NULL;
    if (!entries)
        return;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "shmem-%u-", (unsigned)uid);
    for (struct dirent *e; (e = readdir(entries));) {
        bool marked = e->d_name[0] == '.' && strlen(e->d_name) > MARK;
        struct address address = {.un.sun_family = AF_UNIX, .length = sizeof address.un};
        int length = snprintf(address.un.sun_path, sizeof address.un.sun_path, "%s/%s", directory, e->d_name);
        if (strncmp(e->d_name + (marked ? MARK : 0), prefix, strlen(prefix)) != 0 || length <= 0 ||
            (size_t)length >= sizeof address.un.sun_path)
            continue;
        if (marked)
            remove_temporary(&address);
        else
            remove_stale(&address);
    }
    closedir(entries);
}

void shmemi_wire_forget_file(const char *name, int number)
{
    struct address address;
    if (make_address(geteuid(), name, number, &address) == 0 && address.un.sun_path[0])
        unlink(address.un.sun_path);
}

/* Under a temporary name until it listens. everybody: see below. */
static int listen_in_directory(int fd, const struct address *address, bool everybody)
{
    struct address early;
    int rc = temporary(address, &early);
    while (rc == 0 && bind(fd, (const struct sockaddr *)&early.un, early.length) < 0)
        rc = errno == EADDRINUSE ? temporary(address, &early) : -errno;
    if (rc < 0)
        return rc;
    if ((everybody && chmod(early.un.sun_path, 0666) < 0) || listen(fd, SOMAXCONN) < 0)
        rc = -errno;
    else if (move_name(early.un.sun_path, address->un.sun_path) < 0) {
        remove_stale(address); /* left by a process that was killed: swept by the next comer */
        rc = move_name(early.un.sun_path, address->un.sun_path) < 0 ? -errno : 0;
    }
    if (rc < 0)
        unlink(early.un.sun_path);
    return rc == -EEXIST ? -EADDRINUSE : rc;
}

static int listen_abstract(int fd, const struct address *address)
{
    return bind(fd, (const struct sockaddr *)&address->un, address->length) < 0 || listen(fd, SOMAXCONN) < 0 ? -errno
                                                                                                             : 0;
}

/* everybody: processes of other users may connect to the file; in the abstract name space they always may. */
static int listen_at(uint32_t uid, const char *name, int number, bool everybody, int *out)
{
    struct address address;
    int fd = -1, rc = make_address(uid, name, number, &address);
    if (rc < 0 || (rc = new_socket(&fd)) < 0)
        return rc;
    bool file = address.un.sun_path[0];
    rc = file ? listen_in_directory(fd, &address, everybody) : listen_abstract(fd, &address);
    if (rc < 0) {
        close(fd);
        errno = -rc;
        return rc == -ENAMETOOLONG
                   ? rc
                   : shmemi_fail_errno("listening at the socket '%s%s'", file ? "" : "@", address.un.sun_path + !file);
    }
    *out = fd;
    return 0;
}

int shmemi_wire_listen(const char *name, int number, int *out)
{
    if (number == 0)
        sweep(geteuid());
    return listen_at(geteuid(), name, number, false, out);
}

int shmemi_wire_listen_any(uint32_t uid, const char *name, int number, int *out)
{
    int fd = -1, rc = listen_at(uid, name, number, true, &fd);
    if (rc < 0)
        return rc;
    if (number == 0)
        sweep(uid);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0) { /* who connected may be gone again when it is accepted */
        rc = shmemi_fail_errno("fcntl of a socket");
        shmemi_wire_close_listener(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

void shmemi_wire_close_listener(int listener)
{
    struct address address = {.length = sizeof address.un};
    if (getsockname(listener, (struct sockaddr *)&address.un, &address.length) == 0 && address.un.sun_path[0]) {
        final_name(&address);
        unlink(address.un.sun_path);
    }
    close(listener);
}

int shmemi_wire_peer(int fd, struct ucred *out)
{
    socklen_t length = sizeof *out;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, out, &length) < 0)
        return shmemi_fail_errno("asking who is at the other end of a socket");
    return 0;
}

static int same_user(int fd)
{
    struct ucred peer;
    int rc = shmemi_wire_peer(fd, &peer);
    if (rc < 0)
        return rc;
    if (peer.uid != geteuid())
        return shmemi_fail(-EPERM, "a process of user %u is at a socket of user %u: refused", (unsigned)peer.uid,
                           (unsigned)geteuid());
    return 0;
}

static int connect_to(uint32_t uid, const char *name, int number, int *out)
{
    struct address address;
    int fd = -1, rc = make_address(uid, name, number, &address);
    if (rc < 0 || (rc = new_socket(&fd)) < 0)
        return rc;
    /* A process that is stopped accepts nobody; its queue fills, and then the kernel would let us wait without end. */
    const struct timeval most = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (connect(fd, (struct sockaddr *)&address.un, address.length) < 0) {
        rc = errno == ECONNREFUSED || errno == ENOENT || errno == EAGAIN
                 ? -ECONNREFUSED
                 : shmemi_fail_errno("connecting to member %d", number);
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

int shmemi_wire_connect(const char *name, int number, int *out)
{
    int fd = -1, rc = connect_to(geteuid(), name, number, &fd);
    if (rc < 0)
        return rc;
    if ((rc = same_user(fd)) < 0) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

int shmemi_wire_connect_any(uint32_t uid, const char *name, int number, bool whoever, int *out)
{
    struct ucred server;
    int fd = -1, rc = connect_to(uid, name, number, &fd);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_wire_peer(fd, &server)) == 0 && !whoever && server.uid != uid && server.uid != geteuid() &&
        server.uid != 0)
        rc = shmemi_fail(-EPERM, "a process of user %u sits at a socket of user %u: not believed", (unsigned)server.uid,
                         (unsigned)uid);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

int shmemi_wire_holder(uint32_t uid, const char *name, int number, uint32_t *holder)
{
    struct address address;
    struct ucred server = {0};
    int fd = -1;
    if (make_address(uid, name, number, &address) < 0 || new_socket(&fd) < 0)
        return -ECONNREFUSED;
    fcntl(fd, F_SETFL, O_NONBLOCK); /* its queue may be full */
    bool known = connect(fd, (struct sockaddr *)&address.un, address.length) == 0 && shmemi_wire_peer(fd, &server) == 0;
    close(fd);
    *holder = server.uid;
    return known ? 0 : -ECONNREFUSED;
}

int shmemi_wire_accept_any(int listener, int *out)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED
                   ? -EAGAIN
                   : shmemi_fail_errno("accept (is the limit of open files, ulimit -n, too low?)");
    *out = fd;
    return 0;
}

int shmemi_wire_accept(int listener, int *out)
{
    int fd = -1, rc = shmemi_wire_accept_any(listener, &fd);
    if (rc < 0)
        return rc;
    if ((rc = same_user(fd)) < 0) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

static int wait_ready(int fd, short events, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline == SHMEMI_NO_DEADLINE ? LOOK_EVERY : (deadline - shmemi_now() + 999999) / 1000000;
        struct pollfd p = {.fd = fd, .events = events};
        int rc = poll(&p, 1, left > LOOK_EVERY ? LOOK_EVERY : left < 0 ? 0 : (int)left);
        if (rc > 0)
            return 0;
        if (rc < 0 && errno != EINTR)
            return shmemi_fail_errno("poll");
        if ((rc = shmemi_interrupted()) < 0)
            return rc;
        if (shmemi_now() >= deadline)
            return shmemi_fail(-ETIMEDOUT, "no answer in time");
    }
}

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(SHMEMI_WIRE_FDS * sizeof(int))];
};

int shmemi_wire_send(int socket, const void *data, size_t bytes, const int *fds, unsigned nfds, int64_t deadline)
{
    SHMEMI_ASSERT(nfds <= SHMEMI_WIRE_FDS);
    union control control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (nfds) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(nfds * sizeof(int));
        memcpy(CMSG_DATA(&control.header), fds, nfds * sizeof(int));
    }
    for (;;) {
        ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            return 0;
        if (errno == EPIPE || errno == ECONNRESET)
            return shmemi_fail(-EPIPE, "the process at the other end has gone");
        /* ETOOMANYREFS: the kernel bounds descriptors in flight; they get fewer as the others receive. */
        if (errno != EAGAIN && errno != EINTR && errno != ETOOMANYREFS)
            return shmemi_fail_errno("sendmsg with %u descriptors", nfds);
        bool crowded = errno == ETOOMANYREFS;
        int rc = errno == EINTR ? 0 : wait_ready(socket, POLLOUT, deadline);
        if (rc < 0)
            return rc;
        if (crowded) {
            usleep(1000);
            if (shmemi_now() >= deadline)
                return shmemi_fail(-ETIMEDOUT, "too many descriptors are on their way (ETOOMANYREFS)");
        }
    }
}

static unsigned take_descriptors(struct msghdr *message, int *fds, unsigned most)
{
    unsigned count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        unsigned here = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (unsigned i = 0; i < here; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
            if (count < most)
                fds[count++] = fd;
            else
                close(fd);
        }
    }
    return count;
}

int shmemi_wire_receive(int socket, void *data, size_t bytes, int *fds, unsigned most, unsigned *nfds, int64_t deadline)
{
    int rc = wait_ready(socket, POLLIN, deadline);
    if (rc < 0)
        return rc;
    union control control;
    struct iovec part = {.iov_base = data, .iov_len = bytes};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return shmemi_fail(-EPIPE, "the process at the other end has gone");
    if (got < 0)
        return shmemi_fail_errno("recvmsg");
    unsigned count = take_descriptors(&message, fds, most);
    if ((size_t)got == bytes && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        *nfds = count;
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        close(fds[i]);
        fds[i] = -1;
    }
    if (message.msg_flags & MSG_CTRUNC)
        return shmemi_fail(-EMFILE,
                           "no room for the descriptors that a peer sent: raise the limit of open files (ulimit -n)");
    return shmemi_fail(-EPROTO, "a message of %zd bytes came where one of %zu was due", got, bytes);
}
