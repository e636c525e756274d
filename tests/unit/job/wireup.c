// SPDX-License-Identifier: Apache-2.0
// What comes over the sockets of a job: hellos that do not fit, and any bytes at all, at the start and later.
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "hal/hal.h"
#include "job/answer.h"
#include "job/lifecycle.h"
#include "job/message.h"
#include "job/parts.h"
#include "job/wireup.h"
#include "map/wire.h"

static char uid[64];

static struct shmemi_job_request request(int rank, int size)
{
    return (struct shmemi_job_request){.given = true, .rank = rank, .size = size, .uid = uid, .heap_size = 1 << 20};
}

/* As identity.c names a job by uid. */
static const char *name(void)
{
    static char text[80];
    snprintf(text, sizeof text, "uid %s", uid);
    return text;
}

static void another_job(void)
{
    static int count;
    snprintf(uid, sizeof uid, "wireup test %d.%d", (int)getpid(), count++);
}

static int connect_to(int pe)
{
    int socket = -1, rc = -ECONNREFUSED;
    for (int i = 0; i < 5000 && rc == -ECONNREFUSED; i++, usleep(1000))
        rc = shmemi_wire_connect(name(), pe, &socket);
    if (rc < 0)
        fail_msg("connecting to PE %d: %d (%s)", pe, rc, shmemi_last_error());
    return socket;
}

static struct shmemi_message hello(int rank, int size)
{
    return (struct shmemi_message){.magic = SHMEMI_MESSAGE_MAGIC,
                                   .type = SHMEMI_MESSAGE_HELLO,
                                   .fingerprint = shmemi_fingerprint(),
                                   .rank = rank,
                                   .size = size,
                                   .heap_size = 1 << 20,
                                   .pid = 4242};
}

static int64_t soon(void)
{
    return shmemi_now() + 5000000000;
}

/* --- at the start ---------------------------------------------------------------------------------------------------
 */

/* A PE 0 of two in a child, whose init has to fail with these words. */
static pid_t hub(const char *words)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct shmemi_job_request r = request(0, 2);
        setenv("SHMEM_TIMEOUT", "20", 1);
        int rc = shmemi_init(&r);
        child_check(rc < 0);
        if (!strstr(shmemi_last_error(), words)) {
            fprintf(stderr, "init: '%s' does not say '%s'\n", shmemi_last_error(), words);
            _exit(1);
        }
        _exit(0);
    }
    return pid;
}

enum with { NO_HEAP, GOOD_HEAP, SHORT_HEAP, UNSEALED_HEAP };

static void refused_hello(struct shmemi_message m, enum with with, const char *words)
{
    int heap = -1;
    another_job();
    pid_t pid = hub(words);
    int socket = connect_to(0);
    if (with == UNSEALED_HEAP) {
        heap = memfd_create("shmem-test", MFD_CLOEXEC);
        assert_int_equal(ftruncate(heap, 1 << 20), 0);
    } else if (with != NO_HEAP)
        ok(shmemi_hal_host.create("shmem-test", with == SHORT_HEAP ? 4096 : 1 << 20, NULL, &heap));
    ok(shmemi_wire_send(socket, &m, sizeof m, &heap, with != NO_HEAP, soon()));
    struct shmemi_message answer;
    unsigned none;
    int fds[4];
    ok(shmemi_wire_receive(socket, &answer, sizeof answer, fds, 4, &none, soon()));
    assert_int_equal(answer.type, SHMEMI_MESSAGE_REFUSED);
    assert_int_equal(none, 0);
    assert_true(answer.rank < 0);
    if (!strstr(answer.text, words))
        fail_msg("the answer '%s' does not say '%s'", answer.text, words);
    close(socket);
    if (heap >= 0)
        close(heap);
    child_succeeds(pid);
}

static void hellos_that_do_not_fit(void **state)
{
    struct shmemi_message m;
    (void)state;
    m = hello(1, 3);
    refused_hello(m, GOOD_HEAP, "was told that the job has 3 PEs");
    m = hello(2, 2);
    refused_hello(m, GOOD_HEAP, "says it is PE 2 of 2");
    m = hello(-1, 2);
    refused_hello(m, GOOD_HEAP, "says it is PE -1 of 2");
    m = hello(0, 2);
    refused_hello(m, GOOD_HEAP, "both say that they are PE 0");
    m = hello(1, 2);
    m.fingerprint ^= 1;
    refused_hello(m, GOOD_HEAP, "runs another build of shmem");
    m = hello(1, 2);
    m.heap_size = 2 << 20;
    refused_hello(m, GOOD_HEAP, "has a symmetric heap of 2097152 bytes, but PE 0 one of 1048576");
    m = hello(1, 2);
    m.magic = 0;
    refused_hello(m, GOOD_HEAP, "no PE of this library");
    m = hello(1, 2);
    m.type = SHMEMI_MESSAGE_WELCOME;
    refused_hello(m, GOOD_HEAP, "no PE of this library");
    refused_hello(hello(1, 2), NO_HEAP, "sent no heap");
    refused_hello(hello(1, 2), SHORT_HEAP, "a segment of 4096 bytes instead of 1048576");
    refused_hello(hello(1, 2), UNSEALED_HEAP, "not sealed against shrinking");
}

/* Who only looks in does no harm; who says hello and goes again ends the start. */
static void hellos_of_the_dead(void **state)
{
    int heap = -1;
    (void)state;
    another_job();
    pid_t pid = fork();
    if (pid == 0) {
        struct shmemi_job_request r = request(0, 3);
        setenv("SHMEM_TIMEOUT", "20", 1);
        child_check(shmemi_init(&r) < 0);
        child_check(strstr(shmemi_last_error(), "PE 1 (pid 4242) ended while the job was starting"));
        _exit(0);
    }
    for (int i = 0; i < 3; i++)
        close(connect_to(0));
    int socket = connect_to(0);
    struct shmemi_message m = hello(1, 3);
    unsigned none;
    ok(shmemi_hal_host.create("shmem-test", 1 << 20, NULL, &heap));
    ok(shmemi_wire_send(socket, &m, sizeof m, &heap, 1, soon()));
    ok(shmemi_wire_receive(socket, &m, sizeof m, NULL, 0, &none, soon()));
    assert_int_equal(m.type, SHMEMI_MESSAGE_HEARD);
    close(socket);
    close(heap);
    child_succeeds(pid);
}

/* --- in a running job -----------------------------------------------------------------------------------------------
 */

/* A job of two, PE 1 in a child that stays until its standard word changes. */
static pid_t job_of_two(volatile int **end)
{
    another_job();
    *end = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct shmemi_job_request r = request(1, 2);
        child_check(shmemi_init(&r) == 0);
        while (!**end)
            usleep(1000);
        shmemi_leave();
        _exit(0);
    }
    struct shmemi_job_request r = request(0, 2);
    ok(shmemi_init(&r));
    return pid;
}

static void end_job(pid_t pid, volatile int *end)
{
    *end = 1;
    child_succeeds(pid);
    munmap((void *)(uintptr_t)end, 4096);
    ok(shmemi_leave());
}

/* Anything that is no END: with and without the right magic and fingerprint, of every length, with descriptors. */
static void any_bytes(void **state)
{
    volatile int *end;
    pid_t pid = job_of_two(&end);
    uint64_t seed = 8128;
    (void)state;
    for (int round = 0; round < 1500; round++) {
        struct shmemi_message m;
        unsigned char bytes[700];
        int socket = connect_to(1), fds[3] = {socket, 0, 1};
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)next_random(&seed);
        memcpy(&m, bytes, sizeof m);
        if (round % 2) {
            m.magic = SHMEMI_MESSAGE_MAGIC;
            m.fingerprint = shmemi_fingerprint();
            m.type = (uint32_t)(next_random(&seed) % 14);
            if (round % 4 == 1)
                m.value = next_random(&seed) % 4;
            if (round % 8 == 1)
                m.rank = (int)(next_random(&seed) % 5) - 1;
        }
        if (m.type == SHMEMI_MESSAGE_END) /* is obeyed: the sender is of the same user */
            m.type = SHMEMI_MESSAGE_WHO;
        memcpy(bytes, &m, sizeof m);
        size_t length = round % 3 ? sizeof m : 1 + next_random(&seed) % (sizeof bytes - 1);
        if (round % 10 == 0)
            length = 0;
        if (length)
            shmemi_wire_send(socket, bytes, length, fds, (unsigned)(next_random(&seed) % 4), soon());
        close(socket);
    }
    int who = 0;
    ok(shmemi_ask_pid(1, &who)); /* it still answers, after everything before */
    assert_int_equal(who, pid);
    assert_false(shmemi_member_died(&shmemi_current->slots[1].member));
    end_job(pid, end);
}

static void questions(void **state)
{
    volatile int *end;
    pid_t pid = job_of_two(&end);
    struct shmemi_fd_answer answer;
    int who = 0;
    (void)state;
    ok(shmemi_ask_fd(1, SHMEMI_DESCRIPTOR_WHOLE, &answer));
    assert_int_equal(fcntl(answer.fd, F_GETFD), FD_CLOEXEC);
    close(answer.fd);
    ok(shmemi_ask_fd(0, SHMEMI_DESCRIPTOR_MIXED, &answer)); /* itself */
    close(answer.fd);
    refuses(ENOENT, "no such memory", shmemi_ask_fd(1, (enum shmemi_descriptor)7, &answer));
    ok(shmemi_ask_pid(1, &who));
    assert_int_equal(who, pid);
    ok(shmemi_ask_pid(0, &who));
    assert_int_equal(who, getpid());
    *end = 1;
    child_succeeds(pid);
    refuses(EOWNERDEAD, "PE 1 (pid ", shmemi_ask_pid(1, &who));
    munmap((void *)(uintptr_t)end, 4096);
    ok(shmemi_leave());
}

/* A control segment or heap from PE 0 that is not what it should be. */
static void a_false_pe_0(void **state)
{
    static const struct {
        size_t control, told;
        const char *says;
    } wrong[] = {
        {4096, 4096, "sent a control segment of 4096 bytes instead of"},
        {4096, 0, "sent a control segment of"}, /* tells the right size, sends a short one */
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int listener = -1, socket = -1, control = -1, got[2];
        unsigned count;
        another_job();
        ok(shmemi_wire_listen(name(), 0, &listener));
        pid_t pid = fork();
        if (pid == 0) {
            struct shmemi_job_request r = request(1, 2);
            child_check(shmemi_init(&r) < 0);
            if (!strstr(shmemi_last_error(), wrong[i].says)) {
                fprintf(stderr, "'%s' does not say '%s'\n", shmemi_last_error(), wrong[i].says);
                _exit(1);
            }
            _exit(0);
        }
        struct shmemi_message m;
        ok(shmemi_wire_accept(listener, &socket));
        ok(shmemi_wire_receive(socket, &m, sizeof m, got, 2, &count, soon()));
        assert_int_equal(m.type, SHMEMI_MESSAGE_HELLO);
        assert_int_equal(count, 1);
        m.type = SHMEMI_MESSAGE_HEARD;
        ok(shmemi_wire_send(socket, &m, sizeof m, NULL, 0, soon()));
        ok(shmemi_hal_host.create("shmem-test", wrong[i].control, NULL, &control));
        m.type = SHMEMI_MESSAGE_WELCOME;
        m.value = wrong[i].told ? wrong[i].told : shmemi_control_bytes(2);
        ok(shmemi_wire_send(socket, &m, sizeof m, &control, 1, soon()));
        child_succeeds(pid);
        close(got[0]);
        close(control);
        close(socket);
        shmemi_wire_close_listener(listener);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(hellos_that_do_not_fit),
        clean_test(hellos_of_the_dead),
        clean_test(any_bytes),
        clean_test(questions),
        clean_test(a_false_pe_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
