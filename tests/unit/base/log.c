// SPDX-License-Identifier: Apache-2.0
// Log lines: which are written, and how they look.
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/log.h"

/* What was written to standard error meanwhile. */
static char said[8192];
static int saved_error, ends[2];

static void listen_in(void)
{
    fflush(stderr);
    assert_int_equal(pipe(ends), 0);
    saved_error = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
}

static const char *heard(void)
{
    dup2(saved_error, STDERR_FILENO);
    close(saved_error);
    ssize_t got = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    said[got > 0 ? got : 0] = 0;
    return said;
}

static void configure(const char *setting)
{
    setenv("SHMEM_LOG", setting, 1);
    ok(shmemi_log_configure());
}

static void levels(void **state)
{
    static const char *const names[] = {"error", "warn", "info", "debug", "trace"};
    (void)state;
    for (int wanted = 0; wanted < 5; wanted++) {
        configure(names[wanted]);
        for (int level = 0; level < 5; level++)
            assert_int_equal(shmemi_log_enabled((enum shmemi_log_level)level, "map"), level <= wanted);
    }
    unsetenv("SHMEM_LOG");
    ok(shmemi_log_configure());
    assert_true(shmemi_log_enabled(SHMEMI_LOG_WARN, "map"));
    assert_false(shmemi_log_enabled(SHMEMI_LOG_INFO, "map"));
    setenv("SHMEM_DEBUG", "", 1); /* the standard: by being set */
    ok(shmemi_log_configure());
    assert_true(shmemi_log_enabled(SHMEMI_LOG_DEBUG, "map"));
    unsetenv("SHMEM_DEBUG");
}

static void areas(void **state)
{
    (void)state;
    configure("debug:map,job");
    assert_true(shmemi_log_enabled(SHMEMI_LOG_DEBUG, "map"));
    assert_true(shmemi_log_enabled(SHMEMI_LOG_DEBUG, "job"));
    assert_false(shmemi_log_enabled(SHMEMI_LOG_DEBUG, "comm"));
    assert_false(shmemi_log_enabled(SHMEMI_LOG_DEBUG, "ma"));
    assert_true(shmemi_log_enabled(SHMEMI_LOG_WARN, "comm")); /* warnings always come through */
    unsetenv("SHMEM_LOG");
    setenv("SHMEM_DEBUG", "1", 1);
    ok(shmemi_log_configure());
    assert_true(shmemi_log_enabled(SHMEMI_LOG_DEBUG, "comm")); /* the areas of before are forgotten */
    unsetenv("SHMEM_DEBUG");
}

static _Atomic bool over;

static void *configure_again(void *unused)
{
    while (!atomic_load(&over))
        (void)shmemi_log_configure();
    return unused;
}

/* The first pool and the first init may be made in two threads, while others log. */
static void configured_in_threads(void **state)
{
    pthread_t threads[2];
    (void)state;
    configure("debug:map,job");
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, configure_again, NULL), 0);
    int wrong = 0;
    for (int i = 0; i < 100000; i++)
        wrong += shmemi_log_enabled(SHMEMI_LOG_DEBUG, "comm") || !shmemi_log_enabled(SHMEMI_LOG_DEBUG, "job");
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

static void mistakes(void **state)
{
    static const char *const bad[] = {"loud", "war", "warning", "debugmap", ":map", "DEBUG"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("SHMEM_LOG", bad[i], 1);
        refuses(EINVAL, "SHMEM_LOG is '", shmemi_log_configure());
        assert_non_null(strstr(shmemi_last_error(), bad[i]));
    }
    unsetenv("SHMEM_LOG");
}

static void lines(void **state)
{
    char wanted[200];
    (void)state;
    configure("info");
    listen_in();
    errno = 33;
    shmemi_info("map", "%d regions", 3);
    shmemi_debug("map", "not wanted");
    shmemi_log_set_pe(2);
    shmemi_warn("job", "attention");
    shmemi_log_set_pe(-1);
    int kept = errno;
    const char *all = heard();
    assert_int_equal(kept, 33);
    snprintf(wanted, sizeof wanted, "shmem: (pid %d) info map: 3 regions\nshmem: PE 2 (pid %d) warn job: attention\n",
             (int)getpid(), (int)getpid());
    assert_string_equal(all, wanted);
}

static void long_lines(void **state)
{
    char longest[3000];
    (void)state;
    memset(longest, 'y', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    configure("info");
    listen_in();
    shmemi_info("map", "%s", longest);
    const char *all = heard();
    size_t length = strlen(all);
    assert_true(length > 1000 && length < 1300);
    assert_int_equal(all[length - 1], '\n');
    assert_int_equal(all[length - 2], 'y');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(levels),   clean_test(areas), clean_test(configured_in_threads),
        clean_test(mistakes), clean_test(lines), clean_test(long_lines),
    };
    unsetenv("SHMEM_LOG");
    unsetenv("SHMEM_DEBUG");
    unsetenv("SMA_DEBUG");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
