// SPDX-License-Identifier: Apache-2.0
// The service thread and the alive word: leaving, dying, and how a sleeper hears of it.
#include "unit.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/futex.h"
#include "map/service.h"
#include "map/wire.h"

static struct shmemi_member *members; /* shared with children */

static int make_members(void **state)
{
    leaks_setup(state);
    members = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return members == MAP_FAILED ? -1 : 0;
}

static int drop_members(void **state)
{
    munmap(members, 4096);
    return leaks_teardown(state);
}

static void answer(void *context, int socket)
{
    char byte;
    unsigned count;
    ++*(int *)context;
    if (shmemi_wire_receive(socket, &byte, 1, NULL, 0, &count, shmemi_now() + 1000000000) == 0)
        shmemi_wire_send(socket, &byte, 1, NULL, 0, shmemi_now() + 1000000000);
}

static const char *name_of(int number)
{
    static char text[64];
    snprintf(text, sizeof text, "service test %d.%d", (int)getpid(), number);
    return text;
}

static int requests;

static struct shmemi_service *start(int number)
{
    struct shmemi_service *service = NULL;
    int listener = -1;
    requests = 0;
    ok(shmemi_wire_listen(name_of(number), number, &listener));
    ok(shmemi_service_start(&members[number], listener, answer, &requests, &service));
    /* As who starts one does: present once the alive word is held. */
    atomic_store(&members[number].state, SHMEMI_MEMBER_PRESENT);
    return service;
}

static void leaves_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        atomic_store(&members[0].state, SHMEMI_MEMBER_ABSENT);
        struct shmemi_service *service = start(0);
        assert_true(atomic_load(&members[0].alive) & FUTEX_WAITERS);
        assert_true(atomic_load(&members[0].alive) & FUTEX_TID_MASK);
        assert_false(shmemi_member_died(&members[0]));
        assert_false(shmemi_member_left(&members[0]));
        shmemi_service_stop(service);
        assert_int_equal(atomic_load(&members[0].alive), 0);
        assert_false(shmemi_member_died(&members[0]));
        assert_true(shmemi_member_left(&members[0]));
    }
    shmemi_service_stop(NULL);
    shmemi_service_forget(NULL);
}

static void answers(void **state)
{
    struct shmemi_service *service = start(1);
    (void)state;
    for (int i = 0; i < 50; i++) {
        int socket = -1;
        unsigned count;
        char sent = (char)i, got = 0;
        ok(shmemi_wire_connect(name_of(1), 1, &socket));
        if (i % 5) { /* every fifth only looks in */
            ok(shmemi_wire_send(socket, &sent, 1, NULL, 0, shmemi_now() + 5000000000));
            ok(shmemi_wire_receive(socket, &got, 1, NULL, 0, &count, shmemi_now() + 5000000000));
            assert_int_equal(got, sent);
        }
        close(socket);
    }
    shmemi_service_stop(service);
    assert_in_range(requests, 40, 50);
}

/* A child that is member `number`, and ends in the given way after a byte from the parent. */
enum way { KILLED, EXITS, LEAVES };

static pid_t child_member(int number, enum way way, bool own_namespace, int *gate)
{
    int ready[2], go[2];
    char byte;
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(ready[0]);
        if (own_namespace) {
            child_check(unshare(CLONE_NEWPID) == 0);
            pid_t inside = fork();
            if (inside) { /* who kills it has to be outside: it is the first of its namespace */
                close(ready[1]);
                if (way == KILLED && read(go[0], &byte, 1) == 1)
                    kill(inside, SIGKILL);
                close(go[0]);
                waitpid(inside, NULL, 0);
                _exit(0);
            }
        }
        struct shmemi_service *service = start(number);
        child_check(write(ready[1], "x", 1) == 1);
        while (own_namespace && way == KILLED)
            pause();
        child_check(read(go[0], &byte, 1) == 1);
        if (way == KILLED)
            kill(getpid(), SIGKILL);
        if (way == LEAVES)
            shmemi_service_stop(service);
        _exit(0);
    }
    close(ready[1]);
    close(go[0]);
    if (read(ready[0], &byte, 1) != 1)
        fail_msg("the child did not become a member");
    close(ready[0]);
    *gate = go[1];
    return pid;
}

/* Sleeps on the alive word, as a waiting PE does, until it changes; the deadline is far. */
static void *sleeper(void *argument)
{
    struct shmemi_member *m = argument;
    uint32_t value = atomic_load(&m->alive);
    struct shmemi_futex on[2] = {{.word = &m->alive, .value = value}, {.word = &m->alive, .value = value}};
    int64_t start = shmemi_now(), deadline = start + 10000000000;
    while (atomic_load(&m->alive) == value && shmemi_now() < deadline)
        shmemi_futex_wait(on, 2, deadline);
    int64_t *took = malloc(sizeof *took);
    *took = shmemi_now();
    return took;
}

static void ends_while_somebody_sleeps(enum way way, bool dies)
{
    int gate;
    pid_t pid = child_member(2, way, false, &gate);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleeper, &members[2]), 0);
    usleep(50000);
    int64_t begin = shmemi_now();
    assert_int_equal(write(gate, "x", 1), 1);
    void *woken = NULL;
    pthread_join(thread, &woken);
    int64_t took = *(int64_t *)woken - begin;
    free(woken);
    close(gate);
    waitpid(pid, NULL, 0);
    assert_int_equal(shmemi_member_died(&members[2]), dies);
    assert_int_equal(shmemi_member_left(&members[2]), !dies);
    if (took > 2000000000) /* a wake comes within 200 ms; the sleep's own end would be 10 s */
        fail_msg("the sleeper heard of it only after %lld ms", (long long)took / 1000000);
    print_message("# the sleeper heard of it after %.1f ms\n", (double)took / 1e6);
}

static void killed(void **state)
{
    (void)state;
    ends_while_somebody_sleeps(KILLED, true);
}

static void exits_without_leaving(void **state)
{
    (void)state;
    ends_while_somebody_sleeps(EXITS, true);
}

static void leaves(void **state)
{
    (void)state;
    ends_while_somebody_sleeps(LEAVES, false);
}

/* Thread numbers collide between PID namespaces: both members are thread 2 of theirs, say. */
static void pid_namespaces(void **state)
{
    int first_gate, second_gate;
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to make PID namespaces");
    pid_t first = child_member(0, KILLED, true, &first_gate), second = child_member(1, LEAVES, true, &second_gate);
    assert_int_equal(atomic_load(&members[0].alive), atomic_load(&members[1].alive));
    assert_int_equal(write(first_gate, "x", 1), 1);
    waitpid(first, NULL, 0);
    assert_true(shmemi_member_died(&members[0]));
    assert_false(shmemi_member_died(&members[1]));
    assert_false(shmemi_member_left(&members[1]));
    assert_int_equal(write(second_gate, "x", 1), 1);
    waitpid(second, NULL, 0);
    assert_false(shmemi_member_died(&members[1]));
    assert_true(shmemi_member_left(&members[1]));
    close(first_gate);
    close(second_gate);
}

/* A forked child puts its copy away: the parent's member lives on. */
static void forgotten_in_a_child(void **state)
{
    (void)state;
    struct shmemi_service *service = start(3);
    pid_t pid = fork();
    if (pid == 0) {
        shmemi_service_forget(service);
        _exit(0);
    }
    child_succeeds(pid);
    assert_false(shmemi_member_died(&members[3]));
    assert_false(shmemi_member_left(&members[3]));
    int socket = -1;
    ok(shmemi_wire_connect(name_of(3), 3, &socket));
    close(socket);
    shmemi_service_stop(service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(leaves_in_order, make_members, drop_members),
        cmocka_unit_test_setup_teardown(answers, make_members, drop_members),
        cmocka_unit_test_setup_teardown(killed, make_members, drop_members),
        cmocka_unit_test_setup_teardown(exits_without_leaving, make_members, drop_members),
        cmocka_unit_test_setup_teardown(leaves, make_members, drop_members),
        cmocka_unit_test_setup_teardown(pid_namespaces, make_members, drop_members),
        cmocka_unit_test_setup_teardown(forgotten_in_a_child, make_members, drop_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
