// SPDX-License-Identifier: Apache-2.0
// The error text: what each call puts there, nesting, length, one a thread.
#include "unit.h"

#include <pthread.h>

static void text_and_code(void **state)
{
    (void)state;
    errno = 77;
    assert_int_equal(shmemi_fail(-EINVAL, "pe is %d, but the job has PEs 0 to %d", 9, 3), -EINVAL);
    assert_string_equal(shmemi_last_error(), "pe is 9, but the job has PEs 0 to 3");
    assert_int_equal(errno, 77);
    assert_int_equal(shmemi_fail(-ENOMEM, "%s", ""), -ENOMEM);
    assert_string_equal(shmemi_last_error(), "");
}

static void system_call(void **state)
{
    (void)state;
    assert_int_equal(close(-1), -1);
    assert_int_equal(shmemi_fail_errno("closing %s", "it"), -EBADF);
    assert_string_equal(shmemi_last_error(), "closing it: Bad file descriptor (EBADF)");
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(shmemi_fail_errno("nothing"), -EIO); /* never a success by mistake */
}

static void nesting(void **state)
{
    (void)state;
    int rc = shmemi_fail(-ENOENT, "no such region");
    rc = shmemi_fail_in(rc, "PE %d", 4);
    rc = shmemi_fail_in(rc, "shmemx_put");
    assert_int_equal(rc, -ENOENT);
    assert_string_equal(shmemi_last_error(), "shmemx_put: PE 4: no such region");
}

static void truncation(void **state)
{
    (void)state;
    char longest[3000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    shmemi_fail(-EINVAL, "%s", longest);
    assert_int_equal(strlen(shmemi_last_error()), 1023);
    shmemi_fail_in(-EINVAL, "outside");
    assert_int_equal(strlen(shmemi_last_error()), 1023);
    assert_memory_equal(shmemi_last_error(), "outside: xxx", 12);
    shmemi_fail_in(-EINVAL, "%s", longest);
    assert_int_equal(strlen(shmemi_last_error()), 1023);
    errno = ENOMEM;
    assert_int_equal(shmemi_fail_errno("%s", longest), -ENOMEM);
    assert_int_equal(strlen(shmemi_last_error()), 1023);
    errno = ENOMEM;
    longest[1015] = 0; /* the reason fits in part */
    shmemi_fail_errno("%s", longest);
    assert_int_equal(strlen(shmemi_last_error()), 1023);
    assert_string_equal(shmemi_last_error() + 1013, "xx: Cannot");
}

static void *other_thread(void *unused)
{
    (void)unused;
    const char *before = shmemi_last_error();
    bool empty = !*before;
    shmemi_fail(-EINVAL, "of the other thread");
    return empty ? (void *)1 : NULL;
}

static void one_a_thread(void **state)
{
    (void)state;
    pthread_t thread;
    void *was_empty = NULL;
    shmemi_fail(-EINVAL, "of this thread");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, &was_empty);
    assert_non_null(was_empty);
    assert_string_equal(shmemi_last_error(), "of this thread");
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(shmemi_errno_name(ENOMEM), "ENOMEM");
    assert_string_equal(shmemi_errno_name(EOWNERDEAD), "EOWNERDEAD");
    assert_string_equal(shmemi_errno_name(4094), "E4094");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(text_and_code), clean_test(system_call),  clean_test(nesting),
        clean_test(truncation),    clean_test(one_a_thread), clean_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
