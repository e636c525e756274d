// SPDX-License-Identifier: Apache-2.0
// Sockets between members: names, users, descriptors, messages that are not what they should be, files of the dead.
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "map/wire.h"

static const char *group(void)
{
    static char name[64];
    snprintf(name, sizeof name, "wire test %d", (int)getpid());
    return name;
}

/* A listener, and a connection through it. */
struct link {
    int listener, near, far;
};

static struct link connected(void)
{
    struct link l;
    ok(shmemi_wire_listen(group(), 3, &l.listener));
    ok(shmemi_wire_connect(group(), 3, &l.near));
    ok(shmemi_wire_accept(l.listener, &l.far));
    return l;
}

static void end(struct link l)
{
    close(l.near);
    close(l.far);
    shmemi_wire_close_listener(l.listener);
}

static int64_t in_ms(int ms)
{
    return shmemi_now() + (int64_t)ms * 1000000;
}

static void names(void **state)
{
    int listener = -1, second = -1, other = -1, socket = -1;
    (void)state;
    assert_int_equal(shmemi_wire_connect(group(), 3, &socket), -ECONNREFUSED);
    ok(shmemi_wire_listen(group(), 3, &listener));
    refuses(EADDRINUSE, "listening at the socket '@shmem-", shmemi_wire_listen(group(), 3, &second));
    ok(shmemi_wire_listen(group(), 4, &other)); /* another member of the group */
    assert_int_equal(fcntl(listener, F_GETFD), FD_CLOEXEC);
    assert_int_equal(shmemi_wire_connect("wire test of others", 3, &socket), -ECONNREFUSED);
    shmemi_wire_close_listener(other);
    shmemi_wire_close_listener(listener);
    ok(shmemi_wire_listen(group(), 3, &listener)); /* the name is free again */
    shmemi_wire_close_listener(listener);
}

static void messages(void **state)
{
    struct link l = connected();
    char text[6] = "";
    unsigned count = 9;
    (void)state;
    ok(shmemi_wire_send(l.near, "hello", 6, NULL, 0, in_ms(1000)));
    ok(shmemi_wire_send(l.near, "world", 6, NULL, 0, in_ms(1000)));
    ok(shmemi_wire_receive(l.far, text, 6, NULL, 0, &count, in_ms(1000)));
    assert_string_equal(text, "hello");
    assert_int_equal(count, 0);
    ok(shmemi_wire_receive(l.far, text, 6, NULL, 0, &count, in_ms(1000)));
    assert_string_equal(text, "world");
    int64_t start = shmemi_now();
    refuses(ETIMEDOUT, "no answer in time", shmemi_wire_receive(l.far, text, 6, NULL, 0, &count, in_ms(30)));
    assert_true(shmemi_now() - start >= 30000000);
    close(l.near);
    refuses(EPIPE, "has gone", shmemi_wire_receive(l.far, text, 6, NULL, 0, &count, in_ms(1000)));
    refuses(EPIPE, "has gone", shmemi_wire_send(l.far, "hello", 6, NULL, 0, in_ms(1000)));
    l.near = dup(l.far);
    end(l);
}

static void full(void **state)
{
    struct link l = connected();
    static char much[4096];
    int rc = 0;
    (void)state;
    for (int i = 0; i < 100000 && rc == 0; i++)
        rc = shmemi_wire_send(l.near, much, sizeof much, NULL, 0, in_ms(20));
    assert_int_equal(rc, -ETIMEDOUT);
    end(l);
}

static void descriptors(void **state)
{
    struct link l = connected();
    int sent[SHMEMI_WIRE_FDS], got[SHMEMI_WIRE_FDS];
    unsigned count = 0;
    char byte;
    (void)state;
    for (int i = 0; i < SHMEMI_WIRE_FDS; i++)
        sent[i] = l.listener;
    ok(shmemi_wire_send(l.near, "x", 1, sent, SHMEMI_WIRE_FDS, in_ms(1000)));
    ok(shmemi_wire_receive(l.far, &byte, 1, got, SHMEMI_WIRE_FDS, &count, in_ms(1000)));
    assert_int_equal(count, SHMEMI_WIRE_FDS);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
        close(got[i]);
    }
    /* More than there is room for: the rest is closed, which the look for leaks sees. */
    ok(shmemi_wire_send(l.near, "x", 1, sent, 5, in_ms(1000)));
    ok(shmemi_wire_receive(l.far, &byte, 1, got, 2, &count, in_ms(1000)));
    assert_int_equal(count, 2);
    close(got[0]);
    close(got[1]);
    ok(shmemi_wire_send(l.near, "x", 1, sent, 3, in_ms(1000)));
    ok(shmemi_wire_receive(l.far, &byte, 1, NULL, 0, &count, in_ms(1000)));
    assert_int_equal(count, 0);
    end(l);
}

/* Messages of every length but the right one, with and without descriptors: refused, nothing kept. */
static void lengths(void **state)
{
    struct link l = connected();
    enum { DUE = 64 };
    char bytes[3 * DUE], got[DUE + 16];
    unsigned count = 0;
    uint64_t seed = 4711;
    int fds[4];
    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t length = 1 + next_random(&seed) % (sizeof bytes - 1);
        unsigned descriptors_sent = (unsigned)(next_random(&seed) % 4);
        int send[3] = {l.listener, l.listener, l.near};
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)next_random(&seed);
        memset(got + DUE, 0x5a, 16);
        ok(shmemi_wire_send(l.near, bytes, length, send, descriptors_sent, in_ms(1000)));
        int rc = shmemi_wire_receive(l.far, got, DUE, fds, 4, &count, in_ms(1000));
        if (length != DUE) {
            assert_int_equal(rc, -EPROTO);
            assert_non_null(strstr(shmemi_last_error(), "where one of 64 was due"));
        } else {
            assert_int_equal(rc, 0);
            assert_int_equal(count, descriptors_sent);
            while (count)
                close(fds[--count]);
        }
        for (int i = 0; i < 16; i++)
            assert_int_equal(got[DUE + i], 0x5a);
    }
    end(l);
}

/* --- users ----------------------------------------------------------------------------------------------------------
 */

static struct sockaddr_un address_of(int listener, socklen_t *length)
{
    struct sockaddr_un address;
    *length = sizeof address;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, length), 0);
    return address;
}

static void another_user_connects(void **state)
{
    int listener = -1, socket_ = -1;
    socklen_t length;
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become another user");
    ok(shmemi_wire_listen(group(), 5, &listener));
    struct sockaddr_un address = address_of(listener, &length);
    pid_t pid = fork();
    if (pid == 0) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        child_check(setresuid(65534, 65534, 65534) == 0);
        child_check(connect(s, (struct sockaddr *)&address, length) == 0);
        char byte;
        child_check(read(s, &byte, 1) <= 0); /* thrown out */
        _exit(0);
    }
    refuses(EPERM, "a process of user 65534", shmemi_wire_accept(listener, &socket_));
    child_succeeds(pid);
    shmemi_wire_close_listener(listener);
}

static void another_user_sits_there(void **state)
{
    int listener = -1, socket_ = -1, ready[2], go[2];
    socklen_t length;
    char byte;
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become another user");
    ok(shmemi_wire_listen(group(), 6, &listener));
    struct sockaddr_un address = address_of(listener, &length);
    shmemi_wire_close_listener(listener);
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        child_check(setresuid(65534, 65534, 65534) == 0);
        child_check(bind(s, (struct sockaddr *)&address, length) == 0 && listen(s, 5) == 0);
        child_check(write(ready[1], "x", 1) == 1);
        _exit(read(go[0], &byte, 1) != 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    refuses(EPERM, "a process of user 65534", shmemi_wire_connect(group(), 6, &socket_));
    close(go[1]);
    child_succeeds(pid);
    close(go[0]);
    close(ready[0]);
    close(ready[1]);
}

/* --- SHMEM_DIR ------------------------------------------------------------------------------------------------------
 */

static char directory[64];

static int make_directory(void **state)
{
    snprintf(directory, sizeof directory, "/tmp/shmem-test-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    setenv("SHMEM_DIR", directory, 1);
    return leaks_setup(state);
}

static int remove_directory(void **state)
{
    unsetenv("SHMEM_DIR");
    return rmdir(directory) | leaks_teardown(state); /* which works only if nothing was left in it */
}

static void files(void **state)
{
    int listener = -1, second = -1, near = -1, far = -1;
    char byte;
    unsigned count;
    (void)state;
    ok(shmemi_wire_listen(group(), 1, &listener));
    refuses(EADDRINUSE, directory, shmemi_wire_listen(group(), 1, &second));
    ok(shmemi_wire_connect(group(), 1, &near));
    ok(shmemi_wire_accept(listener, &far));
    /* The attempts to listen twice looked whether anybody answers: those connections are over. */
    while (shmemi_wire_receive(far, &byte, 1, NULL, 0, &count, in_ms(0)) == -EPIPE) {
        close(far);
        ok(shmemi_wire_accept(listener, &far));
    }
    ok(shmemi_wire_send(near, "x", 1, NULL, 0, in_ms(1000)));
    ok(shmemi_wire_receive(far, &byte, 1, NULL, 0, &count, in_ms(1000)));
    close(near);
    close(far);
    shmemi_wire_close_listener(listener);
}

static void stale_file_is_swept(void **state)
{
    int listener = -1, near = -1;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        int mine;
        child_check(shmemi_wire_listen("swept", 1, &mine) == 0);
        raise(SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(rmdir(directory), -1); /* it did leave its file */
    assert_int_equal(shmemi_wire_connect("swept", 1, &near), -ECONNREFUSED);
    ok(shmemi_wire_listen("swept", 1, &listener));
    ok(shmemi_wire_connect("swept", 1, &near));
    close(near);
    shmemi_wire_close_listener(listener);
}

/* A socket that is bound and does not listen yet is nobody's: not by its own name. One that was left long ago goes. */
static void temporary_names(void **state)
{
    char young[100], old[100];
    int listener = -1, fds[2];
    (void)state;
    snprintf(young, sizeof young, "%s/.abcdefshmem-%u-0-1", directory, (unsigned)geteuid());
    snprintf(old, sizeof old, "%s/.012345shmem-%u-0-2", directory, (unsigned)geteuid());
    const char *paths[2] = {young, old};
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        memcpy(at.sun_path, paths[i], strlen(paths[i]) + 1);
        fds[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(fds[i], (struct sockaddr *)&at, sizeof at), 0);
    }
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    ok(shmemi_wire_listen(group(), 0, &listener)); /* sweeps */
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(unlink(young), 0);
    shmemi_wire_close_listener(listener);
    close(fds[0]);
    close(fds[1]);
}

static void *sweeps(void *argument)
{
    const _Atomic bool *stop = argument;
    while (!atomic_load(stop)) {
        int listener = -1;
        if (shmemi_wire_listen("sweeper", 0, &listener) < 0)
            return "a sweeper could not listen";
        shmemi_wire_close_listener(listener);
    }
    return NULL;
}

/* Sockets that come to be while others sweep. */
static void comes_while_others_sweep(void **state)
{
    static _Atomic bool stop;
    pthread_t thread;
    void *failed;
    (void)state;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, sweeps, &stop), 0);
    for (int i = 1; i < 3000; i++) {
        int listener = -1, near = -1;
        ok(shmemi_wire_listen("comes", i, &listener));
        ok(shmemi_wire_connect("comes", i, &near)); /* its file is there */
        close(near);
        shmemi_wire_close_listener(listener);
    }
    atomic_store(&stop, true);
    pthread_join(thread, &failed);
    assert_null(failed);
}

static void bad_directories(void **state)
{
    int listener = -1;
    char longest[200];
    (void)state;
    memset(longest, 'd', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    setenv("SHMEM_DIR", longest, 1);
    refuses(ENAMETOOLONG, "too long for a socket's name", shmemi_wire_listen(group(), 1, &listener));
    refuses(ENAMETOOLONG, "use a shorter path", shmemi_wire_connect(group(), 1, &listener));
    setenv("SHMEM_DIR", "/nowhere/at/all", 1);
    refuses(ENOENT, "/nowhere/at/all/shmem-", shmemi_wire_listen(group(), 1, &listener));
    unsetenv("SHMEM_DIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(names),
        clean_test(messages),
        clean_test(full),
        clean_test(descriptors),
        clean_test(lengths),
        clean_test(another_user_connects),
        clean_test(another_user_sits_there),
        cmocka_unit_test_setup_teardown(files, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(stale_file_is_swept, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(temporary_names, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(comes_while_others_sweep, make_directory, remove_directory),
        clean_test(bad_directories),
    };
    unsetenv("SHMEM_DIR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
