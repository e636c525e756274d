// SPDX-License-Identifier: Apache-2.0
// Processes that serve shares, for tests of keys: a table and segments that all of them have in common, and children
// that do what they are told.
#ifndef TESTS_LIB_SHARES_H
#define TESTS_LIB_SHARES_H

#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "hal/hal.h"
#include "map/import.h"

enum { SEGMENTS = 3, SEGMENT_BYTES = 1 << 20, TABLE = 2048 };

/* What members of one share have in common; made before they are forked. */
struct common {
    uint64_t number;
    struct shmemi_key_record *keys;
    uint32_t count;
    int fds[SEGMENTS];
    char *at[SEGMENTS];
    bool own;      /* segments hold one buffer each */
    bool hold;     /* this process holds the segments */
    bool map;      /* ... and has them mapped */
    uint32_t room; /* records that reserve() grants */
};

static inline bool common_reserve(void *context, uint32_t index)
{
    const struct common *c = context;
    return index < c->room;
}

static inline int common_segment(void *context, uint64_t number, struct shmemi_share_segment *out)
{
    const struct common *c = context;
    if (number >= SEGMENTS || !c->hold)
        return -ENOENT;
    *out = (struct shmemi_share_segment){.fd = c->fds[number], .window_bytes = SEGMENT_BYTES, .own = c->own};
    return 0;
}

static inline int common_memory(void *context, uint64_t number, uint64_t offset, uint64_t bytes, void **out)
{
    const struct common *c = context;
    if (number >= SEGMENTS || !c->map || offset > SEGMENT_BYTES || bytes > SEGMENT_BYTES - offset)
        return -ENOENT;
    *out = c->at[number] + offset;
    return 0;
}

static inline int common_join(void *context, int fds[2])
{
    const struct common *c = context;
    fds[0] = c->fds[0];
    fds[1] = c->fds[1];
    return 0;
}

static inline void common_make(struct common *c)
{
    *c = (struct common){.number = shmemi_random(), .count = TABLE, .hold = true, .map = true, .room = TABLE};
    c->keys = mmap(NULL, TABLE * sizeof *c->keys, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(c->keys, MAP_FAILED);
    const struct shmemi_wish sealable = {.node = -1, .sealable = true};
    for (int i = 0; i < SEGMENTS; i++) {
        void *at = NULL;
        ok(shmemi_hal_host.create("keys", SEGMENT_BYTES, &sealable, &c->fds[i]));
        ok(shmemi_hal_host.map(c->fds[i], 0, SEGMENT_BYTES, SHMEMI_READ_WRITE, NULL, &at));
        c->at[i] = at;
    }
}

static inline void common_end(struct common *c)
{
    for (int i = 0; i < SEGMENTS; i++) {
        munmap(c->at[i], SEGMENT_BYTES);
        close(c->fds[i]);
    }
    munmap(c->keys, TABLE * sizeof *c->keys);
}

static inline struct shmemi_share_config common_config(struct common *c, unsigned slot)
{
    return (struct shmemi_share_config){.number = c->number,
                                        .slot = slot,
                                        .keys = c->keys,
                                        .count = c->count,
                                        .reserve = common_reserve,
                                        .segment = common_segment,
                                        .join = common_join,
                                        .memory = common_memory,
                                        .context = c};
}

/* --- children ----------------------------------------------------------------------------------------------------- */

/* Told to do something by a byte, a child answers with a number when it is done. */
struct child {
    pid_t pid;
    int ask, reply;
    struct common *common;
};

/* In the child: what to do for that byte. */
typedef int (*child_does)(struct common *common, char what);

static inline struct child child_begin(struct common *common, child_does does)
{
    int ask[2], reply[2], number;
    char what;
    assert_int_equal(pipe2(ask, O_CLOEXEC) | pipe2(reply, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ask[1]);
        close(reply[0]);
        while (read(ask[0], &what, 1) == 1) {
            number = does(common, what);
            child_check(write(reply[1], &number, sizeof number) == sizeof number);
        }
        _exit(0);
    }
    assert_true(pid > 0);
    close(ask[0]);
    close(reply[1]);
    return (struct child){.pid = pid, .ask = ask[1], .reply = reply[0], .common = common};
}

static inline int child_do(struct child *c, char what)
{
    int number = -1;
    assert_int_equal(write(c->ask, &what, 1), 1);
    if (read(c->reply, &number, sizeof number) != sizeof number)
        fail_msg("a child did not do '%c'", what);
    return number;
}

static inline void child_close(struct child *c, bool killed)
{
    int status;
    if (killed)
        kill(c->pid, SIGKILL);
    close(c->ask);
    close(c->reply);
    assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
    if (killed ? !WIFSIGNALED(status) : status != 0)
        fail_msg("a child ended with status %#x", (unsigned)status);
}

#endif
