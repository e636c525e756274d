// SPDX-License-Identifier: Apache-2.0
// Sleeping on words: values that differ, wakes, deadlines, signals.
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/futex.h"

static _Atomic uint32_t words[SHMEMI_FUTEX_MOST];

static void fill(struct shmemi_futex *list, uint32_t value)
{
    for (int i = 0; i < SHMEMI_FUTEX_MOST; i++) {
        atomic_store(&words[i], value);
        list[i] = (struct shmemi_futex){.word = &words[i], .value = value};
    }
}

static void another_value(void **state)
{
    struct shmemi_futex list[SHMEMI_FUTEX_MOST];
    (void)state;
    for (unsigned count = 1; count <= SHMEMI_FUTEX_MOST; count++) {
        fill(list, 5);
        atomic_store(&words[count - 1], 6);
        assert_int_equal(shmemi_futex_wait(list, count, SHMEMI_NO_DEADLINE), 0);
    }
}

static void deadlines(void **state)
{
    struct shmemi_futex list[SHMEMI_FUTEX_MOST];
    (void)state;
    fill(list, 5);
    for (unsigned count = 1; count <= SHMEMI_FUTEX_MOST; count += 7) {
        int64_t start = shmemi_now(), deadline = start + 30000000;
        int rc;
        while ((rc = shmemi_futex_wait(list, count, deadline)) == 0) /* may return for no reason */
            ;
        assert_int_equal(rc, -ETIMEDOUT);
        assert_true(shmemi_now() >= deadline);
        assert_int_equal(shmemi_futex_wait(list, count, start), -ETIMEDOUT); /* long past */
        assert_int_equal(shmemi_futex_wait(list, count, 0), -ETIMEDOUT);
    }
}

struct sleeper {
    struct shmemi_futex list[SHMEMI_FUTEX_MOST];
    unsigned count;
    int rc;
};

static void *sleep_on(void *argument)
{
    struct sleeper *s = argument;
    s->rc = shmemi_futex_wait(s->list, s->count, shmemi_now() + 20000000000);
    return NULL;
}

static void wakes(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= SHMEMI_FUTEX_MOST; count++) {
        for (unsigned which = 0; which < count; which++) {
            struct sleeper s = {.count = count, .rc = 99};
            pthread_t thread;
            fill(s.list, 1);
            assert_int_equal(pthread_create(&thread, NULL, sleep_on, &s), 0);
            int64_t give_up = shmemi_now() + 10000000000;
            while (shmemi_futex_wake(&words[which], 1) == 0 && shmemi_now() < give_up)
                usleep(100); /* it is not asleep yet; the value stays, so only the wake can end its sleep */
            pthread_join(thread, NULL);
            assert_int_equal(s.rc, 0);
            assert_true(shmemi_now() < give_up);
        }
    }
    assert_int_equal(shmemi_futex_wake(&words[0], 100), 0);
}

static void ignore(int signal)
{
    (void)signal;
}

static void signals(void **state)
{
    struct sigaction action = {.sa_handler = ignore}, before;
    (void)state;
    sigaction(SIGUSR1, &action, &before);
    for (unsigned count = 1; count <= 2; count++) {
        struct sleeper s = {.count = count, .rc = 99};
        pthread_t thread;
        fill(s.list, 1);
        assert_int_equal(pthread_create(&thread, NULL, sleep_on, &s), 0);
        int64_t give_up = shmemi_now() + 10000000000;
        struct timespec soon;
        do {
            usleep(1000);
            pthread_kill(thread, SIGUSR1);
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_nsec += 1000000;
            if (soon.tv_nsec >= 1000000000)
                soon = (struct timespec){soon.tv_sec + 1, soon.tv_nsec - 1000000000};
        } while (pthread_timedjoin_np(thread, NULL, &soon) != 0 && shmemi_now() < give_up);
        assert_int_equal(s.rc, -EINTR);
    }
    sigaction(SIGUSR1, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(another_value),
        clean_test(deadlines),
        clean_test(wakes),
        clean_test(signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
