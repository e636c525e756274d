// SPDX-License-Identifier: Apache-2.0
// The cores that this process may use: its affinity mask, and the number of them that are to be had.
#include "unit.h"

#include <sched.h>

#include "base/cpu.h"

static void cores(void **state)
{
    cpu_set_t all, one, seen;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    shmemi_cpu_mask(&seen);
    assert_true(CPU_EQUAL(&all, &seen));
    int most = shmemi_cpu_cores(&all);
    assert_in_range(most, 1, CPU_COUNT(&all));
    size_t first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    shmemi_cpu_mask(&seen);
    assert_true(CPU_EQUAL(&one, &seen));
    assert_int_equal(shmemi_cpu_cores(&seen), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    assert_int_equal(shmemi_cpu_cores(&one), 1); /* never none */
    shmemi_cpu_relax();
}

int main(void)
{
    const struct CMUnitTest tests[] = {clean_test(cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
