// SPDX-License-Identifier: Apache-2.0
// A peer that changes what it has said while it is being read: what is used is within bounds all the same.
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "job/job.h"

enum { WORDS = SHMEMI_PUBLISH_BYTES / sizeof(uint32_t), CHANGES = 50 };
static const int64_t for_long = 300000000; /* ns */

static _Atomic bool begun, over;

/* Changes one word after the other of what PE 0 publishes on the world team; each time it says it anew. */
static void *change_what_is_said(void *unused)
{
    struct shmemi_channel *channel = &shmemi_current->slots[0].channels[0];
    for (unsigned i = 0; !atomic_load(&over); i++) {
        volatile uint32_t *word =
            (volatile uint32_t *)(void *)channel->publish[i / CHANGES / WORDS % 2].data + i / CHANGES % WORDS;
        *word = 0x7ffffff0;
        for (volatile int wait = 0; wait < 20; wait++)
            continue;
        atomic_store(&begun, true);
    }
    return unused;
}

/* A split reads what the others say, and then uses it: where their channels are. */
static void teams_are_made_of_it(void **state)
{
    pthread_t thread;
    int made = 0;
    (void)state;
    atomic_store(&over, false);
    assert_int_equal(pthread_create(&thread, NULL, change_what_is_said, NULL), 0);
    while (!atomic_load(&begun))
        sched_yield();
    for (int64_t end = shmemi_now() + for_long; shmemi_now() < end;) {
        shmem_team_t team = SHMEM_TEAM_INVALID;
        if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team) != 0)
            continue;
        assert_int_equal(shmem_team_n_pes(team), 1);
        assert_int_equal(shmem_team_sync(team), 0); /* writes into its channel */
        shmem_team_destroy(team);
        made++;
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    assert_true(made > 0);
}

static int join(void **state)
{
    (void)state;
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    return shmemx_init(NULL);
}

static int leave(void **state)
{
    (void)state;
    return shmemx_finalize();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(teams_are_made_of_it)};
    return cmocka_run_group_tests(tests, join, leave);
}
