// SPDX-License-Identifier: Apache-2.0
// Kinds of memory by their names.
#include "unit.h"

#include "job/kind.h"

static void what_there_is(void **state)
{
    static const struct {
        const char *text, *type;
        int number;
    } good[] = {
        {"host", "host", -1}, {"npu", "npu", -1}, {"cuda", "cuda", -1}, {"npu:0", "npu", 0}, {"cuda:63", "cuda", 63}};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct shmemi_kind kind = {77, 77};
        assert_int_equal(shmemi_kind_parse("HERE", good[i].text, &kind), 0);
        assert_string_equal(shmemi_kind_name(kind.which), good[i].type);
        assert_int_equal(kind.number, good[i].number);
    }
    assert_string_equal(shmemi_kind_name(SHMEMI_KINDS), "memory of no kind");
    assert_string_equal(shmemi_kind_name(UINT32_MAX), "memory of no kind"); /* as another PE may say */
}

static void what_there_is_not(void **state)
{
    static const char *const bad[] = {"",
                                      "np",
                                      "npus",
                                      "NPU",
                                      "gpu",
                                      "host:0",
                                      "npu:",
                                      "npu:x",
                                      "npu:-1",
                                      "npu:+1",
                                      "npu: 1",
                                      "npu:1x",
                                      "npu:64",
                                      "npu:99999999999999999999",
                                      ":1",
                                      "npu:1:2",
                                      "memory of no kind"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct shmemi_kind kind;
        assert_int_equal(shmemi_kind_parse("HERE", bad[i], &kind), -EINVAL);
        assert_non_null(strstr(shmemi_last_error(), "HERE is '"));
        bool numbered = bad[i][0] == 'n' && strlen(bad[i]) > 4 && bad[i][4] >= '0' && bad[i][4] <= '9';
        assert_non_null(strstr(shmemi_last_error(), numbered ? "one from 0 to 63" : "must be host, npu or cuda"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_there_is), cmocka_unit_test(what_there_is_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
