// SPDX-License-Identifier: Apache-2.0
// What the tests of synchronisation share: a pool, children that attach to it, and checks in threads.
#ifndef TESTS_UNIT_SYNC_SYNC_H
#define TESTS_UNIT_SYNC_SYNC_H

#include "unit.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

static inline shmemx_pool_t make_pool(void)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t pool = NULL;
    attr.size = 4 << 20;
    attr.max_size = 4 << 20;
    ok(shmemx_pool_create(&attr, &pool));
    return pool;
}

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory that children share with the test. */
static inline void *shared_page(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

/* Waits until somebody sets it, 20 s at most. */
static inline bool wait_until(_Atomic int *word, int value)
{
    for (int i = 0; i < 20000; i++) {
        if (atomic_load(word) >= value)
            return true;
        usleep(1000);
    }
    return false;
}

static inline void kill_child(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* cmocka's checks belong to the main thread: others count what went wrong. */
static _Atomic int wrong, wrong_line;
#define WANT(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            atomic_fetch_add(&wrong, 1);                                                                               \
            atomic_store(&wrong_line, __LINE__);                                                                       \
        }                                                                                                              \
    } while (0)

static inline void nothing_went_wrong(void)
{
    if (atomic_load(&wrong))
        fail_msg("%d checks in threads failed, one in line %d", atomic_load(&wrong), atomic_load(&wrong_line));
}

#endif
