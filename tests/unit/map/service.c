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

static int64_t run; /* of this program: in PID namespaces, processes of two runs have the same number */

static int make_members(void **state)
{
    if (!run)
        run = shmemi_now();
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
    snprintf(text, sizeof text, "service test %lld.%d.%d", (long long)run, (int)getpid(), number);
    return text;
}

static int requests;

static int try_start(int number, struct shmemi_service **out)
{
    int listener = -1, rc = shmemi_wire_listen(name_of(number), number, &listener);
    requests = 0;
    if (rc < 0 || (rc = shmemi_service_start(&members[number], listener, answer, &requests, out)) < 0)
        return rc;
    /* As who starts one does: present once the alive word is held. */
    atomic_store(&members[number].state, SHMEMI_MEMBER_PRESENT);
    return 0;
}

static struct shmemi_service *start(int number)
{
    struct shmemi_service *service = NULL;
    ok(try_start(number, &service));
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
        struct shmemi_service *service = NULL;
        child_check(try_start(number, &service) == 0); /* a child that failed must not go on with the other tests */
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

/* --- many memberships in one process ------------------------------------------------------------------------------ */

enum { MANY = 50, PROCESSES = 8, PLACES = 64 };

/* Members on pages of their own, and several on one, as pools have them. */
static struct shmemi_member *table_of_members(size_t pages)
{
    void *at = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static struct shmemi_member *nth(struct shmemi_member *first, size_t bytes, unsigned i)
{
    return (void *)((char *)first + bytes * i);
}

/* A child that takes all of them, and is then killed, or leaves every other one first. */
static void many_memberships(void **state)
{
    struct shmemi_member *all = table_of_members(MANY);
    int ready[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct shmemi_place *places[MANY];
        unsigned number;
        for (unsigned i = 0; i < MANY; i++)
            child_check(shmemi_service_take_place(nth(all, 4096, i), 64, 4, false, &places[i], &number) == 0 &&
                        number == 0);
        for (unsigned i = 0; i < MANY; i += 5)
            shmemi_service_leave_place(places[i]);
        char path[64], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/task/%u/comm", atomic_load(&all[256].alive) & FUTEX_TID_MASK);
        FILE *file = fopen(path, "re");
        child_check(file && fgets(name, sizeof name, file) && strstr(name, "shmem-service")); /* one thread for all */
        child_check(write(ready[1], "x", 1) == 1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    uint32_t thread = atomic_load(&nth(all, 4096, 1)->alive);
    for (unsigned i = 0; i < MANY; i++) {
        struct shmemi_member *m = nth(all, 4096, i);
        assert_int_equal(atomic_load(&m->alive), i % 5 ? thread : 0);
        assert_int_equal(atomic_load(&m->state), i % 5 ? SHMEMI_MEMBER_PRESENT : SHMEMI_MEMBER_LEFT);
        assert_int_equal(m->pid, pid);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(shmemi_member_died(nth(all, 4096, i)), i % 5 != 0);
        assert_int_equal(shmemi_member_left(nth(all, 4096, i)), i % 5 == 0);
    }
    close(ready[0]);
    close(ready[1]);
    munmap(all, MANY * 4096);
}

static void places_run_out(void **state)
{
    struct shmemi_place *places[3], *more = NULL;
    unsigned numbers[3], number;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        ok(shmemi_service_take_place(members, sizeof *members, 3, false, &places[i], &numbers[i]));
        assert_int_equal(numbers[i], i);
    }
    refuses(EUSERS, "all 3 places are taken",
            shmemi_service_take_place(members, sizeof *members, 3, false, &more, &number));
    shmemi_service_leave_place(places[1]);
    ok(shmemi_service_take_place(members, sizeof *members, 3, false, &places[1], &number));
    assert_int_equal(number, 1);
    for (unsigned i = 0; i < 3; i++)
        shmemi_service_leave_place(places[i]);
    shmemi_service_leave_place(NULL);
    shmemi_service_forget_place(NULL);
    assert_int_equal(atomic_load(&members[0].alive), 0);
}

/* Several processes at once: no place has two owners. */
static void places_are_raced_for(void **state)
{
    struct shmemi_member *all = table_of_members(1);
    _Atomic uint32_t *owners = (void *)table_of_members(1);
    pid_t pids[PROCESSES];
    (void)state;
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        if (pids[p] == 0) {
            struct shmemi_place *places[4];
            unsigned numbers[4];
            for (int round = 0; round < 30; round++) {
                for (int i = 0; i < 4; i++) {
                    child_check(shmemi_service_take_place(all, 64, PLACES, false, &places[i], &numbers[i]) == 0);
                    child_check(atomic_fetch_add(&owners[numbers[i]], 1) == 0);
                }
                for (int i = 0; i < 4; i++) {
                    child_check(atomic_fetch_sub(&owners[numbers[i]], 1) == 1);
                    shmemi_service_leave_place(places[i]);
                }
            }
            _exit(0);
        }
    }
    for (int p = 0; p < PROCESSES; p++)
        child_succeeds(pids[p]);
    for (unsigned i = 0; i < PLACES; i++)
        assert_int_equal(atomic_load(&nth(all, 64, i)->alive), 0);
    munmap(all, 4096);
    munmap((void *)owners, 4096);
}

/* Processes that are killed at any instant of taking and leaving: each word is free afterwards, or marked. */
static void killed_while_taking(void **state)
{
    struct shmemi_member *all = table_of_members(1);
    uint64_t seed = 4711;
    unsigned marked = 0;
    (void)state;
    for (int round = 0; round < 60; round++) {
        pid_t pid = fork();
        if (pid == 0) {
            struct shmemi_place *places[8];
            unsigned number;
            for (;;) {
                for (int i = 0; i < 8; i++)
                    child_check(shmemi_service_take_place(all, 64, PLACES, false, &places[i], &number) == 0);
                for (int i = 0; i < 8; i++)
                    shmemi_service_leave_place(places[i]);
            }
        }
        usleep((useconds_t)(next_random(&seed) % 4000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        for (unsigned i = 0; i < PLACES; i++) {
            struct shmemi_member *m = nth(all, 64, i);
            uint32_t word = atomic_load(&m->alive);
            if (word && !(word & FUTEX_OWNER_DIED))
                fail_msg("round %d: word %u is %#x: its owner is dead, and the kernel was not told", round, i, word);
            marked += word != 0;
            atomic_store(&m->alive, 0);
        }
    }
    print_message("# %u words were held by processes that were killed\n", marked);
    assert_true(marked > 0);
    munmap(all, 4096);
}

/* A child has a thread of its own, and the parent's handles do nothing in it. */
static void places_after_fork(void **state)
{
    struct shmemi_place *place = NULL, *other = NULL, *own = NULL;
    unsigned number;
    (void)state;
    if (!CHILDREN_START_THREADS)
        skip_because("the thread sanitizer cannot start threads in a forked child");
    struct shmemi_service *service = start(10);
    ok(shmemi_service_take_place(members, sizeof *members, 4, false, &place, &number));
    ok(shmemi_service_take_place(members, sizeof *members, 4, false, &other, &number));
    pid_t pid = fork();
    if (pid == 0) {
        shmemi_service_leave_place(place);
        shmemi_service_forget_place(other);
        child_check(shmemi_service_take_place(members, sizeof *members, 4, false, &own, &number) == 0 && number == 2);
        shmemi_service_stop(service);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    assert_true(shmemi_member_died(&members[2]));
    assert_false(shmemi_member_died(&members[0]) || shmemi_member_left(&members[0]));
    assert_true(atomic_load(&members[0].alive) != 0 && atomic_load(&members[1].alive) != 0);
    int socket = -1;
    ok(shmemi_wire_connect(name_of(10), 10, &socket));
    close(socket);
    shmemi_service_leave_place(place);
    shmemi_service_leave_place(other);
    shmemi_service_stop(service);
}

static void a_place_that_is_taken(void **state)
{
    struct shmemi_service *second = NULL;
    int listener = -1;
    (void)state;
    struct shmemi_service *service = start(4);
    ok(shmemi_wire_listen(name_of(5), 5, &listener));
    refuses(EEXIST, "has this place already", shmemi_service_start(&members[4], listener, answer, NULL, &second));
    shmemi_wire_close_listener(listener);
    shmemi_service_stop(service);
}

/* --- clients ------------------------------------------------------------------------------------------------------ */

/* Silent ones keep nobody waiting, and are dropped. */
static void silent_clients(void **state)
{
    struct shmemi_service *service = start(1);
    int silent[150], socket = -1;
    unsigned count;
    char got;
    (void)state;
    for (int i = 0; i < 150; i++)
        ok(shmemi_wire_connect(name_of(1), 1, &silent[i]));
    int64_t begin = shmemi_now();
    ok(shmemi_wire_connect(name_of(1), 1, &socket));
    ok(shmemi_wire_send(socket, "x", 1, NULL, 0, begin + 5000000000));
    ok(shmemi_wire_receive(socket, &got, 1, NULL, 0, &count, begin + 5000000000));
    print_message("# an answer behind 150 silent clients took %.1f ms\n", (double)(shmemi_now() - begin) / 1e6);
    close(socket);
    shmemi_service_stop(service);
    for (int i = 0; i < 150; i++) { /* dropped, or over with the service */
        assert_true(read(silent[i], &got, 1) <= 0);
        close(silent[i]);
    }
}

static _Atomic bool in_answer, late;

static void slow_answer(void *context, int socket)
{
    (void)context;
    (void)socket;
    atomic_store(&in_answer, true);
    usleep(50000);
    atomic_store(&late, true);
    atomic_store(&in_answer, false);
}

/* stop() and settle() return when no answer is running. */
static void stops_after_answers(void **state)
{
    struct shmemi_service *service = NULL, *other = start(0);
    (void)state;
    for (int way = 0; way < 2; way++) {
        int listener = -1, socket = -1;
        atomic_store(&late, false);
        ok(shmemi_wire_listen(name_of(2), 2, &listener));
        ok(shmemi_service_listen(listener, shmemi_wire_accept, slow_answer, NULL, &service));
        ok(shmemi_wire_connect(name_of(2), 2, &socket));
        ok(shmemi_wire_send(socket, "x", 1, NULL, 0, shmemi_now() + 5000000000));
        while (!atomic_load(&in_answer))
            usleep(100);
        if (way)
            shmemi_service_settle();
        else
            shmemi_service_stop(service);
        assert_true(atomic_load(&late) && !atomic_load(&in_answer));
        if (way)
            shmemi_service_stop(service);
        close(socket);
    }
    shmemi_service_stop(other);
    shmemi_service_settle(); /* without a thread: nothing to wait for */
}

/* Long enough that some stops meet it. */
static void brief_answer(void *context, int socket)
{
    (void)context;
    (void)socket;
    usleep(200);
}

static void *starts_and_stops(void *argument)
{
    unsigned me = *(unsigned *)argument;
    for (int i = 0; i < 100; i++) {
        struct shmemi_service *service = NULL;
        struct shmemi_place *place = NULL;
        unsigned number;
        int listener = -1, socket = -1;
        char name[64];
        snprintf(name, sizeof name, "service test %d.t%u", (int)getpid(), me);
        if (shmemi_wire_listen(name, 1, &listener) < 0 ||
            shmemi_service_listen(listener, shmemi_wire_accept, brief_answer, NULL, &service) < 0 ||
            shmemi_service_take_place(members, sizeof *members, 8, false, &place, &number) < 0 ||
            shmemi_wire_connect(name, 1, &socket) < 0)
            return "something failed";
        close(socket);
        if (i % 2)
            shmemi_service_leave_place(place);
        shmemi_service_stop(service);
        if (i % 2 == 0)
            shmemi_service_leave_place(place);
    }
    return NULL;
}

static void threads(void **state)
{
    pthread_t all[4];
    unsigned numbers[4];
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&all[i], NULL, starts_and_stops, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *failed;
        pthread_join(all[i], &failed);
        if (failed)
            fail_msg("%s", (char *)failed);
    }
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
        cmocka_unit_test_setup_teardown(many_memberships, make_members, drop_members),
        cmocka_unit_test_setup_teardown(places_run_out, make_members, drop_members),
        cmocka_unit_test_setup_teardown(places_are_raced_for, make_members, drop_members),
        cmocka_unit_test_setup_teardown(killed_while_taking, make_members, drop_members),
        cmocka_unit_test_setup_teardown(places_after_fork, make_members, drop_members),
        cmocka_unit_test_setup_teardown(a_place_that_is_taken, make_members, drop_members),
        cmocka_unit_test_setup_teardown(silent_clients, make_members, drop_members),
        cmocka_unit_test_setup_teardown(stops_after_answers, make_members, drop_members),
        cmocka_unit_test_setup_teardown(threads, make_members, drop_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
