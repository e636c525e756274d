// SPDX-License-Identifier: Apache-2.0
// Sizes of small blocks.
#include "unit.h"

#include "pool/classes.h"

static void every_size_has_its_class(void **state)
{
    (void)state;
    for (size_t size = 1; size <= SHMEMI_CLASS_MOST; size++) {
        unsigned class = shmemi_class_of(size);
        assert_true(class < SHMEMI_CLASSES);
        assert_true(shmemi_class_size(class) >= size);
        if (class > 0)
            assert_true(shmemi_class_size(class - 1) < size);
    }
}

static void classes_grow_in_small_steps(void **state)
{
    (void)state;
    assert_int_equal(shmemi_class_size(0), SHMEMI_GRAIN);
    assert_int_equal(shmemi_class_size(SHMEMI_CLASSES - 1), SHMEMI_CLASS_MOST);
    for (unsigned class = 1; class < SHMEMI_CLASSES; class ++) {
        size_t size = shmemi_class_size(class), before = shmemi_class_size(class - 1);
        assert_true(size > before);
        assert_int_equal(size % SHMEMI_GRAIN, 0);
        assert_true(size - before <= SHMEMI_GRAIN || (size - before) * 8 <= before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(every_size_has_its_class),
        clean_test(classes_grow_in_small_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
