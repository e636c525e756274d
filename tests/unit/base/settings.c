// SPDX-License-Identifier: Apache-2.0
// Numbers in environment variables: what is taken, and what is refused with which words.
#include "unit.h"

#include <math.h>

#include "base/settings.h"

static void sizes(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } good[] = {
        {"0", 0},           {"1", 1},      {"512", 512},     {"3.1M", 3250586},       {".5m", 524288},
        {".5g", 536870912}, {"1k", 1024},  {"1K", 1024},     {"2G", (size_t)2 << 30}, {"1t", (size_t)1 << 40},
        {"0.1", 1},         {"1e3", 1000}, {"1MB", 1048576}, {"64kib", 65536},        {"1.", 1},
        {"007", 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t size = 99;
        ok(shmemi_parse_size("SHMEM_X", good[i].text, &size));
        if (size != good[i].size)
            fail_msg("'%s' gave %zu instead of %zu", good[i].text, size, good[i].size);
    }
}

static void bad_sizes(void **state)
{
    static const char *const bad[][2] = {
        {"-1", "no size"},
        {"", "no size"},
        {"0x10", "no size"},
        {"0X10", "no size"},
        {"12q", "'q' is none of the suffixes"},
        {"12 M", "' ' is none"},
        {"1e400", "more than an address space"},
        {"4611686018427387904", "more than an address space"},
        {"4194304t", "more than an address space"},
        {"nan", "no size"},
        {"inf", "no size"},
        {"+5", "no size"},
        {" 5", "no size"},
        {".", "no size"},
        {".k", "no size"},
        {"M", "no size"},
        {"00x10", "'x' is none"},
        {"1e", "'e' is none"},
        {"5\n", "none of"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t size = 99;
        refuses(EINVAL, bad[i][1], shmemi_parse_size("SHMEM_X", bad[i][0], &size));
        assert_int_equal(size, 99);
        if (!strstr(shmemi_last_error(), "SHMEM_X is '") || !strstr(shmemi_last_error(), bad[i][0]))
            fail_msg("'%s' does not name the variable and what it holds", shmemi_last_error());
    }
}

static void integers(void **state)
{
    long value = 99;
    (void)state;
    ok(shmemi_parse_int("N", "-5", -5, 5, &value));
    assert_int_equal(value, -5);
    static const char *const bad[] = {
        "", "x", "5x", "5 ", "6", "-6", "0x3", "1.0", "99999999999999999999", "-99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(EINVAL, "must be an integer from -5 to 5", shmemi_parse_int("N", bad[i], -5, 5, &value));
    assert_int_equal(value, -5);
}

static void seconds(void **state)
{
    double value = 99;
    (void)state;
    ok(shmemi_parse_seconds("T", "1.5", &value));
    assert_true(value == 1.5);
    ok(shmemi_parse_seconds("T", "0", &value));
    assert_true(value == 0);
    ok(shmemi_parse_seconds("T", "inf", &value));
    assert_true(isinf(value));
    static const char *const bad[] = {"", "-1", "nan", "1s", "soon", "1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(EINVAL, "must be a number of seconds", shmemi_parse_seconds("T", bad[i], &value));
}

static void variables(void **state)
{
    long value = 7;
    (void)state;
    unsetenv("SHMEM_X");
    assert_null(shmemi_setting("SHMEM_X"));
    ok(shmemi_setting_int("SHMEM_X", 1, 9, &value));
    assert_int_equal(value, 7);
    setenv("SHMEM_X", "", 1);
    assert_null(shmemi_setting("SHMEM_X"));
    setenv("SHMEM_X", "8", 1);
    assert_string_equal(shmemi_setting("SHMEM_X"), "8");
    ok(shmemi_setting_int("SHMEM_X", 1, 9, &value));
    assert_int_equal(value, 8);
    setenv("SHMEM_X", "10", 1);
    refuses(EINVAL, "SHMEM_X is '10'", shmemi_setting_int("SHMEM_X", 1, 9, &value));
    unsetenv("SHMEM_X");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(sizes), clean_test(bad_sizes), clean_test(integers), clean_test(seconds), clean_test(variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
