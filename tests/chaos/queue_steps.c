// SPDX-License-Identifier: Apache-2.0
// A producer or a consumer of a queue is killed after k instructions of an operation, for many k; then its parent goes
// on with the queue at once, and every item is accounted for: what was pushed arrives once and in order, what the dead
// one was pushing arrives entirely or not at all, and what it was popping is there or is what it took.
//
// SHMEM_TEST_FULL=1: every k. SHMEM_TEST_SEED: other k.
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "leaks.h"
#include "shmemx.h"

#if defined(__x86_64__) && !LEAKS_SANITIZED

enum { KILLS = 60 /* of an operation, unless all are wanted */, MINE = 1, CHILDS = 2, HANG = 60 };

static shmemx_pool_t pool;
static shmemx_queue_t queue;
static uint64_t pushed; /* items of the parent's */

/* What child and parent tell each other. */
static struct {
    volatile unsigned long steps, kill_at; /* instructions; 0: never */
    volatile int done;
    volatile long rc;
    volatile uint64_t got[16];
} * told;

struct operation {
    const char *name;
    shmemx_queue_attr_t attr;
    unsigned before;          /* items in the queue before it */
    void (*prepare)(void);    /* in the child; may be NULL */
    void (*run)(void);        /* likewise, instruction by instruction */
    unsigned sure;            /* items that it has pushed before */
    unsigned pushes, pops;    /* items */
    bool keeps_back, may_end; /* what it looks at is put back; the queue may have ended */
};

/* ---- in the child ---- */

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: '%s' does not hold (%s)\n", __FILE__, __LINE__, #condition, shmemx_last_error());           \
            fflush(stdout);                                                                                            \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    (void)context;
    if (++told->steps == told->kill_at)
        kill(getpid(), SIGKILL);
}

static void step(bool on)
{
    if (on)
        __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    else
        __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static void child(const struct operation *o)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGTRAP, &action, NULL);
    CHECK(shmemx_queue_length(queue) >= 0); /* attaches to the pool */
    if (o->prepare)
        o->prepare();
    step(true);
    o->run();
    step(false);
    told->done = 1;
    kill(getpid(), SIGKILL);
}

static uint64_t item(unsigned whose, uint64_t number)
{
    return (uint64_t)whose << 40 | number;
}

static void push_own(uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        uint64_t value = item(CHILDS, i);
        told->rc = shmemx_queue_push(queue, &value, 8, 0);
    }
}

static void push_one(void)
{
    push_own(1, 1);
}

static void push_second(void)
{
    push_own(2, 2);
}

static void gather_three(void)
{
    push_own(1, 3);
}

static void push_fourth(void)
{
    push_own(4, 4);
}

static void push_ten(void)
{
    uint64_t items[10];
    for (unsigned i = 0; i < 10; i++)
        items[i] = item(CHILDS, i + 1);
    told->rc = shmemx_queue_push_many(queue, items, NULL, 10, 0);
}

static void push_message(void)
{
    uint64_t message[50] = {item(CHILDS, 1)};
    told->rc = shmemx_queue_push(queue, message, sizeof message, 0);
}

static void close_handle(void)
{
    told->rc = shmemx_queue_close(queue);
}

static void end_it(void)
{
    told->rc = shmemx_queue_end(queue, 0);
}

static void write_in_place(void)
{
    void *slot = NULL;
    told->rc = shmemx_queue_reserve(queue, 8, &slot, 0);
    if (slot)
        *(uint64_t *)slot = item(CHILDS, 1);
    told->rc = shmemx_queue_commit(queue, 8);
}

static void reserve_and_give_up(void)
{
    void *slot;
    shmemx_queue_reserve(queue, 8, &slot, 0);
    told->rc = shmemx_queue_abort(queue);
}

static void pop_some(size_t most)
{
    uint64_t items[16];
    told->rc = shmemx_queue_pop_many(queue, items, sizeof items, NULL, most, 0);
    for (long i = 0; i < told->rc; i++)
        told->got[i] = items[i];
}

static void pop_one(void)
{
    pop_some(1);
}

static void pop_seven(void)
{
    pop_some(7);
}

static void pop_message(void)
{
    uint64_t message[50];
    told->rc = shmemx_queue_pop(queue, message, sizeof message, NULL, 0);
    told->got[0] = message[0];
}

static void peek_and_release(void)
{
    const void *seen = NULL;
    shmemx_queue_peek(queue, &seen, NULL, 0);
    if (seen)
        told->got[0] = *(const uint64_t *)seen;
    told->rc = shmemx_queue_release(queue);
}

static void peek_and_put_back(void)
{
    const void *seen;
    shmemx_queue_peek(queue, &seen, NULL, 0);
    told->rc = shmemx_queue_put_back(queue);
}

/* Slots of the dead before what it pops. */
static void die_with_slots(void)
{
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            void *slot;
            if (shmemx_queue_reserve(queue, 8, &slot, 0) == 0)
                kill(getpid(), SIGKILL);
            _exit(1);
        }
        waitpid(pid, NULL, 0);
    }
    uint64_t value = item(CHILDS, 1);
    CHECK(shmemx_queue_push(queue, &value, 8, 0) == 0);
}

/* ---- in the parent ---- */

static void push_mine(unsigned count, bool *ended)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t message[2] = {item(MINE, pushed + 1), 0};
        shmemx_queue_stats_t stats;
        CHECK(shmemx_queue_stats(queue, &stats) == 0);
        int rc = shmemx_queue_push(queue, message, stats.attr.item_bytes ? 8 : 16, 0);
        if (ended && rc == -EPIPE)
            *ended = true;
        else
            CHECK(rc == 0);
        pushed += rc == 0;
    }
    CHECK(ended ? shmemx_queue_flush(queue, 0) <= 0 : shmemx_queue_flush(queue, 0) == 0);
}

/* Pops all there is: the parent's items from number `*next` on, the child's from `*childs` on. */
static void pop_rest(uint64_t *next, uint64_t *childs)
{
    uint64_t message[64];
    int rc;
    while ((rc = shmemx_queue_pop(queue, message, sizeof message, NULL, 0)) == 0) {
        uint64_t number = message[0] & 0xffffffffff;
        if (message[0] >> 40 == CHILDS) {
            CHECK(number == *childs);
            ++*childs;
        } else {
            CHECK(message[0] >> 40 == MINE && number == *next);
            ++*next;
        }
    }
    CHECK(rc == -EAGAIN || rc == -EPIPE);
}

static void check_pushed(const struct operation *o, uint64_t childs)
{
    CHECK(childs == o->sure || childs == o->pushes); /* one run: entirely or not at all */
    if (told->done)
        CHECK(childs == o->pushes);
}

/* What is missing at the front is what it popped, or was popping. */
static void check_popped(const struct operation *o, uint64_t next)
{
    uint64_t missing = next - 1;
    CHECK(missing == 0 || missing == o->pops);
    if (told->done)
        CHECK(missing == o->pops && told->rc >= 0);
    for (uint64_t i = 0; told->done && i < missing; i++)
        CHECK(told->got[i] == item(MINE, i + 1));
}

static uint64_t first_there(void)
{
    const void *seen;
    if (shmemx_queue_peek(queue, &seen, NULL, 0) != 0)
        return pushed + 1;
    uint64_t value = *(const uint64_t *)seen;
    CHECK(shmemx_queue_put_back(queue) == 0);
    return value >> 40 == MINE ? value & 0xffffffffff : 1;
}

/* One kill. Returns whether the child got to its end first. */
static bool kill_at(const struct operation *o, unsigned long at)
{
    shmemx_pool_stats_t ignored;
    int status;
    bool ended = false;
    told->steps = 0;
    told->kill_at = at;
    told->done = 0;
    pushed = 0;
    CHECK(shmemx_queue_create(pool, NULL, &o->attr, &queue) == 0);
    push_mine(o->before, NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(o);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    alarm(HANG);
    push_mine(2, o->may_end ? &ended : NULL);
    uint64_t first = o->pops ? first_there() : 1, next = first, childs = 1;
    pop_rest(&next, &childs);
    push_mine(3, ended ? &ended : NULL);
    pop_rest(&next, &childs);
    CHECK(next == pushed + 1);
    if (o->pops || o->keeps_back)
        check_popped(o, first);
    if (o->pushes)
        check_pushed(o, childs - 1);
    CHECK(shmemx_queue_destroy(queue) == 0);
    CHECK(shmemx_pool_stats(pool, &ignored) == 0); /* the place of the dead is free again */
    alarm(0);
    return told->done;
}

static void hangs(int signal)
{
    (void)signal;
    static const char text[] = "somebody hangs\n";
    _exit(write(1, text, sizeof text - 1) < 0 ? 2 : 1);
}

#define ITEMS(of_capacity, of_batch)                                                                                   \
    {                                                                                                                  \
        8, of_capacity, of_batch, 0, SHMEMX_QUEUE_MANY, 0, 8, NULL, 0                                                  \
    }
#define FOR_ONE(of_capacity, of_batch)                                                                                 \
    {                                                                                                                  \
        8, of_capacity, of_batch, 0, SHMEMX_QUEUE_ONE, 0, 8, NULL, 0                                                   \
    }
#define MESSAGES                                                                                                       \
    {                                                                                                                  \
        0, 4096, 1, 0, SHMEMX_QUEUE_MANY, 1000, 8, NULL, 0                                                             \
    }

static const struct operation operations[] = {
    {"first push", ITEMS(16, 1), 3, NULL, push_one, 0, 1, 0, false, false},
    {"push", ITEMS(16, 1), 3, push_one, push_second, 1, 2, 0, false, false},
    {"push that fills a batch", ITEMS(16, 4), 3, gather_three, push_fourth, 0, 4, 0, false, false},
    {"push of many", ITEMS(24, 4), 3, NULL, push_ten, 0, 10, 0, false, false},
    {"push of a message", MESSAGES, 3, NULL, push_message, 0, 1, 0, false, false},
    {"slot written in place", ITEMS(16, 1), 3, NULL, write_in_place, 0, 1, 0, false, false},
    {"slot given up", ITEMS(16, 1), 3, NULL, reserve_and_give_up, 0, 0, 0, false, false},
    {"close with a batch begun", ITEMS(16, 4), 3, gather_three, close_handle, 0, 3, 0, false, false},
    {"end", ITEMS(16, 1), 3, NULL, end_it, 0, 0, 0, false, true},
    {"pop", ITEMS(16, 4), 5, NULL, pop_one, 0, 0, 1, false, false},
    {"pop, one consumer", FOR_ONE(16, 4), 5, NULL, pop_one, 0, 0, 1, false, false},
    {"pop of many", ITEMS(16, 4), 9, NULL, pop_seven, 0, 0, 7, false, false},
    {"pop of a message", MESSAGES, 5, NULL, pop_message, 0, 0, 1, false, false},
    {"peek and release", ITEMS(16, 4), 5, NULL, peek_and_release, 0, 0, 1, false, false},
    {"peek and put back", ITEMS(16, 4), 5, NULL, peek_and_put_back, 0, 0, 0, true, false},
};

/* What it pops is its own, behind slots of the dead. */
static const struct operation passing = {
    "pop past slots of the dead", ITEMS(16, 1), 0, die_with_slots, pop_seven, 0, 0, 1, false, false};

static bool kill_passing(unsigned long at)
{
    shmemx_pool_stats_t ignored;
    uint64_t value, mine = 0, childs = 0;
    int status;
    told->steps = 0;
    told->kill_at = at;
    told->done = 0;
    pushed = 0;
    CHECK(shmemx_queue_create(pool, NULL, &passing.attr, &queue) == 0);
    push_mine(passing.before, NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(&passing);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    alarm(HANG);
    push_mine(2, NULL);
    while (shmemx_queue_pop(queue, &value, 8, NULL, 0) == 0)
        *(value >> 40 == MINE ? &mine : &childs) += 1;
    if (told->done)
        CHECK(told->rc == 1 && mine == 2 && childs == 0);
    else
        CHECK(mine == 2 && childs <= 1);
    CHECK(shmemx_queue_destroy(queue) == 0);
    CHECK(shmemx_pool_stats(pool, &ignored) == 0);
    alarm(0);
    return told->done;
}

static unsigned long kills_of(const struct operation *o, unsigned long seed)
{
    unsigned long kills = 0;
    bool special = o == &passing;
    bool ended = special ? kill_passing(0) : kill_at(o, 0);
    CHECK(ended);
    unsigned long steps = told->steps, stride = getenv("SHMEM_TEST_FULL") ? 1 : steps / KILLS + 1;
    for (unsigned long at = 1 + seed % stride; at <= steps; at += stride, kills++)
        if (special)
            kill_passing(at);
        else
            kill_at(o, at);
    printf("ok - %s: killed at %lu of %lu instructions\n", o->name, kills, steps);
    fflush(stdout);
    return kills;
}

int main(void)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    const char *given = getenv("SHMEM_TEST_SEED");
    unsigned long seed = given ? strtoul(given, NULL, 0) : (unsigned long)getpid(), kills = 0;
    signal(SIGALRM, hangs);
    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    attr.size = 1 << 20;
    CHECK(shmemx_pool_create(&attr, &pool) == 0);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        kills += kills_of(&operations[i], seed);
    kills += kills_of(&passing, seed);
    printf("# %lu kills, seed %lu\n", kills, seed);
    return shmemx_pool_close(pool) == 0 ? 0 : 1;
}

#else

int main(void)
{
    printf("# skip: single steps are for x86-64 without sanitizers\n");
    return 77;
}

#endif
