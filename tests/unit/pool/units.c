// SPDX-License-Identifier: Apache-2.0
// Runs of units: split, merged, aligned, counted anew.
#include "unit.h"

#include "pool_look.h"

enum { UNITS = 64 };
static struct shmemi_pool *pool;

static int make_pool(void **state)
{
    struct shmemi_pool_config config = {
        .size = UNITS * SHMEMI_UNIT, .max_size = 2 * UNITS * SHMEMI_UNIT, .numa_node = -1};
    leaks_setup(state);
    return shmemi_pool_create(&config, &pool);
}

static int drop_pool(void **state)
{
    return shmemi_pool_close(pool) < 0 ? -1 : leaks_teardown(state);
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, make_pool, drop_pool)

static uint64_t run_of(uint64_t length)
{
    return shmemi_unit(SHMEMI_UNIT_RUN, 0, pool->me + 1, 0) | length << SHMEMI_UNIT_LENGTH;
}

static int64_t take(uint64_t length, uint64_t align)
{
    uint64_t first = 0;
    shmemi_central_take(pool);
    int rc = shmemi_units_take(pool, length, align, run_of(0), NULL, NULL, &first);
    shmemi_central_give(pool);
    return rc < 0 ? rc : (int64_t)first;
}

static void give(int64_t first)
{
    uint64_t entry;
    shmemi_central_take(pool);
    assert_true(shmemi_units_head(pool, (uint64_t)first, &entry));
    shmemi_units_give(pool, (uint64_t)first, entry);
    shmemi_central_give(pool);
}

static void check_table(uint64_t taken)
{
    static struct look l;
    assert_true(shmemi_units_valid(pool));
    *l.wrong = '\0';
    look_units(pool, &l);
    if (*l.wrong)
        fail_msg("%s", l.wrong);
    assert_int_equal(l.taken, taken);
    assert_int_equal(pool->state->taken, taken);
    assert_int_equal(l.count ? l.used / SHMEMI_UNIT : 0, taken);
}

static void first_fit_splits_and_merges(void **state)
{
    (void)state;
    check_table(0);
    int64_t a = take(4, 1), b = take(4, 1), c = take(4, 1);
    assert_int_equal(a, 0);
    assert_int_equal(b, 4);
    assert_int_equal(c, 8);
    check_table(12);
    give(b);
    assert_int_equal(take(2, 1), 4);
    assert_int_equal(take(3, 1), 12); /* does not fit in what is left of the hole */
    assert_int_equal(take(2, 1), 6);
    give(4), give(6), give(0), give(12), give(8);
    check_table(0);
    assert_int_equal(take(UNITS, 1), 0); /* one piece again */
    assert_int_equal(take(1, 1), -ENOMEM);
    give(0);
    assert_int_equal(take(UNITS + 1, 1), -ENOMEM);
}

static void aligned_runs_leave_the_rest_free(void **state)
{
    (void)state;
    assert_int_equal(take(1, 1), 0);
    assert_int_equal(take(4, 16), 16);
    check_table(5);
    assert_int_equal(take(15, 1), 1);
    assert_int_equal(take(8, 8), 24);
    assert_int_equal(take(4, 4), 20);
    check_table(32);
    assert_int_equal(take(32, 64), -ENOMEM);
    assert_int_equal(take(32, 32), 32);
    check_table(UNITS);
}

static void random_runs(void **state)
{
    uint64_t seed = 12345, taken = 0, length[64];
    int64_t first[64];
    unsigned count = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        if (count < 64 && next_random(&seed) % 2) {
            length[count] = 1 + next_random(&seed) % 9;
            uint64_t align = UINT64_C(1) << next_random(&seed) % 5;
            first[count] = take(length[count], align);
            if (first[count] < 0)
                continue;
            assert_int_equal((uint64_t)first[count] % align, 0);
            taken += length[count++];
        } else if (count) {
            unsigned k = (unsigned)(next_random(&seed) % count);
            give(first[k]);
            taken -= length[k];
            first[k] = first[--count];
            length[k] = length[count];
        }
        if (i % 50 == 0)
            check_table(taken);
    }
    while (count)
        give(first[--count]);
    assert_int_equal(take(UNITS, 1), 0);
}

static void units_are_found_by_what_lies_in_them(void **state)
{
    uint64_t head, entry;
    (void)state;
    assert_int_equal(take(3, 1), 0);
    assert_int_equal(take(5, 1), 3);
    for (uint64_t unit = 0; unit < 8; unit++) {
        assert_true(shmemi_units_find(pool, unit, &head, &entry));
        assert_int_equal(head, unit < 3 ? 0 : 3);
        assert_int_equal(shmemi_unit_length(entry), unit < 3 ? 3 : 5);
    }
    assert_false(shmemi_units_find(pool, 8, &head, &entry));
    assert_false(shmemi_units_find(pool, UNITS, &head, &entry));
    assert_false(shmemi_units_find(pool, UINT64_MAX, &head, &entry));
    give(3);
    for (uint64_t unit = 3; unit < 8; unit++) /* what the run left behind means nothing */
        assert_false(shmemi_units_find(pool, unit, &head, &entry));
    assert_int_equal(take(2, 1), 3);
    for (uint64_t unit = 5; unit < 8; unit++)
        assert_false(shmemi_units_find(pool, unit, &head, &entry));
}

static void a_hint_that_is_wrong_does_no_harm(void **state)
{
    (void)state;
    assert_int_equal(take(4, 1), 0);
    assert_int_equal(take(4, 1), 4);
    const uint64_t hints[] = {1, 3, 5, UNITS, UINT64_MAX};
    for (unsigned i = 0; i < 5; i++) {
        atomic_store(&pool->state->lowest, hints[i]);
        assert_int_equal(take(2, 1), 8);
        give(8);
    }
    give(0);
    assert_int_equal(pool->state->lowest, 0);
}

static void recovery_counts_anew(void **state)
{
    (void)state;
    assert_int_equal(take(4, 1), 0);
    assert_int_equal(take(8, 1), 4);
    give(0);
    atomic_store(&pool->state->taken, 77);
    atomic_store(&pool->state->lowest, 9);
    atomic_store(&pool->state->orphans, 5);
    shmemi_central_take(pool);
    shmemi_units_recover(pool);
    shmemi_central_give(pool);
    assert_int_equal(pool->state->orphans, 0);
    check_table(8);
    assert_int_equal(take(4, 1), 0);
}

static void the_end_moves(void **state)
{
    (void)state;
    assert_int_equal(take(UNITS, 1), 0);
    ok(shmemi_pool_grow(pool, (UNITS + 10) * SHMEMI_UNIT));
    assert_int_equal(shmemi_units_count(pool), UNITS + 10);
    assert_int_equal(take(10, 1), UNITS);
    assert_int_equal(take(1, 1), -ENOMEM);
    ok(shmemi_pool_grow(pool, UNITS)); /* smaller than it is: nothing */
    assert_int_equal(shmemi_units_count(pool), UNITS + 10);
    refuses(EFBIG, "max_size", shmemi_pool_grow(pool, (2 * UNITS + 1) * SHMEMI_UNIT));
    ok(shmemi_pool_grow(pool, 2 * UNITS * SHMEMI_UNIT));
    give(UNITS);
    assert_int_equal(take(UNITS, 1), UNITS); /* over the seams */
    check_table(2 * UNITS);
}

/* Whatever others write into the table: an error, and no crash. */
static void nonsense_is_an_error(void **state)
{
    struct shmemi_pool_stats s;
    void *p;
    (void)state;
    ok(shmemi_pool_alloc(pool, 100, 0, 0, &p));
    uint64_t good = pool->units[20];
    uint64_t entry = pool->units[0];
    const uint64_t bad[] = {0,
                            ~UINT64_C(0),
                            shmemi_unit(SHMEMI_UNIT_RUN, 0, 1, 0),
                            shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, 1000),
                            shmemi_unit(SHMEMI_UNIT_SLAB, 63, 1, 4),
                            shmemi_unit(SHMEMI_UNIT_INSIDE, 0, 0, 0)};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        atomic_store(&pool->units[0], bad[i]);
        refuses(EIO, "damaged", shmemi_pool_stats(pool, &s));
        assert_true(shmemi_pool_alloc(pool, 40 << 10, 0, 0, &p) < 0);
        assert_true(shmemi_pool_free(pool, pool->payload) < 0);
    }
    atomic_store(&pool->units[0], entry);
    atomic_store(&pool->units[20], good);
    ok(shmemi_pool_stats(pool, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        pool_test(first_fit_splits_and_merges),
        pool_test(aligned_runs_leave_the_rest_free),
        pool_test(random_runs),
        pool_test(units_are_found_by_what_lies_in_them),
        pool_test(a_hint_that_is_wrong_does_no_harm),
        pool_test(recovery_counts_anew),
        pool_test(the_end_moves),
        pool_test(nonsense_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
