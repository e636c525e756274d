// SPDX-License-Identifier: Apache-2.0
// Members: as many as there are places, places of the dead, and what a sweep finds.
#include "unit.h"

#include <signal.h>
#include <sys/prctl.h>

#include "pool_look.h"

static struct shmemi_pool *pool;

static int make_pool(void **state)
{
    struct shmemi_pool_config config = {.size = 32 << 20, .max_size = 32 << 20, .numa_node = -1};
    leaks_setup(state);
    return shmemi_pool_create(&config, &pool);
}

static int drop_pool(void **state)
{
    return shmemi_pool_close(pool) < 0 ? -1 : leaks_teardown(state);
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, make_pool, drop_pool)

static struct shmemi_pool_stats stats(void)
{
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    return s;
}

static void check_inside(void)
{
    static struct look l;
    look_all(pool, &l);
    if (*l.wrong)
        fail_msg("%s", l.wrong);
}

/* A member that has some of everything, and waits. */
static pid_t member(int tell)
{
    pid_t pid = fork();
    if (pid == 0) {
        void *p;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int rc = shmemi_pool_alloc(pool, 100, 0, 0, &p);
        if (rc == 0)
            rc = shmemi_pool_alloc(pool, 40000, 0, 0, &p);
        if (write(tell, &rc, sizeof rc) != sizeof rc)
            _exit(1);
        for (;;)
            pause();
    }
    return pid;
}

static void as_many_as_there_are_places(void **state)
{
    static pid_t pids[SHMEMI_POOL_MEMBERS];
    int tell[2], rc;
    (void)state;
    assert_int_equal(pipe(tell), 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SHMEMI_POOL_MEMBERS; i++) {
            pids[i] = member(tell[1]);
            assert_int_equal(read(tell[0], &rc, sizeof rc), sizeof rc);
            if (rc != (i == SHMEMI_POOL_MEMBERS - 1 ? -EUSERS : 0))
                fail_msg("member %d got %d", i, rc);
        }
        if (round == 0)
            assert_int_equal(stats().members, SHMEMI_POOL_MEMBERS);
        for (int i = 0; i < SHMEMI_POOL_MEMBERS; i++)
            kill(pids[i], SIGKILL);
        for (int i = 0; i < SHMEMI_POOL_MEMBERS; i++)
            waitpid(pids[i], NULL, 0);
        if (round == 1)
            break;
        assert_int_equal(stats().members, 1);
        assert_int_equal(stats().in_use, 0);
        assert_int_equal(stats().died, SHMEMI_POOL_MEMBERS - 1);
        check_inside();
    }
    /* All places but ours belong to the dead, and nobody has swept: a new one gets in. */
    pid_t pid = member(tell[1]);
    assert_int_equal(read(tell[0], &rc, sizeof rc), sizeof rc);
    assert_int_equal(rc, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(tell[0]), close(tell[1]);
    assert_int_equal(stats().in_use, 0);
    check_inside();
}

/* One after the other dies, and only newcomers are there to notice. */
static void newcomers_take_back(void **state)
{
    int tell[2], rc;
    (void)state;
    assert_int_equal(pipe(tell), 0);
    for (int i = 0; i < 300; i++) {
        pid_t pid = member(tell[1]);
        assert_int_equal(read(tell[0], &rc, sizeof rc), sizeof rc);
        assert_int_equal(rc, 0);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(tell[0]), close(tell[1]);
    assert_int_equal(stats().in_use, 0);
    assert_int_equal(stats().died, 300);
    check_inside();
}

/* The header lies in memory that every member can write to, and whoever attaches computes with it. */
static void a_header_is_checked(void **state)
{
    (void)state;
    struct shmemi_pool_slot good, bad;
    memcpy(&good, pool->control, sizeof good);
    assert_int_equal(shmemi_pool_check_slot(&good), 0);
    const struct {
        size_t at;
        uint64_t value;
    } wrong[] = {{offsetof(struct shmemi_pool_slot, page), 12345},
                 {offsetof(struct shmemi_pool_slot, page), UINT64_C(1) << 40},
                 {offsetof(struct shmemi_pool_slot, max_units), 0},
                 {offsetof(struct shmemi_pool_slot, max_units), UINT64_MAX},
                 {offsetof(struct shmemi_pool_slot, units), UINT64_MAX},
                 {offsetof(struct shmemi_pool_slot, control_bytes), 1},
                 {offsetof(struct shmemi_pool_slot, checkpoint_bytes), UINT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bad = good;
        memcpy((char *)&bad + wrong[i].at, &wrong[i].value, sizeof wrong[i].value);
        shmemi_pool_seal_slot(&bad); /* its check sum is right */
        assert_int_equal(shmemi_pool_check_slot(&bad), -EILSEQ);
    }
    for (uint64_t page = 1; page <= UINT64_C(1) << 30; page *= 1 << 15) {
        bad = good;
        bad.page = page == 1 ? SHMEMI_PAGES_TRANSPARENT : page;
        shmemi_pool_seal_slot(&bad);
        assert_int_equal(shmemi_pool_check_slot(&bad), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        pool_test(a_header_is_checked),
        pool_test(as_many_as_there_are_places),
        pool_test(newcomers_take_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
