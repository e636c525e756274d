// SPDX-License-Identifier: Apache-2.0
// The allocator of offsets, beside a naive model: no overlap, alignment, coalescing, exhaustion, the same answers for
// the same calls.
#include "unit.h"

#include "base/blocks.h"

enum { HEAP = 1 << 20, MOST = 2000, GRAIN = 64 };

/* The model: the blocks that are allocated, in no order. */
struct model {
    struct {
        size_t offset, size, bytes;
    } blocks[MOST];
    size_t count, in_use, high_water;
};

static size_t rounded(size_t size)
{
    return (size + GRAIN - 1) / GRAIN * GRAIN;
}

static void used(struct model *m, size_t more, size_t less)
{
    m->in_use = m->in_use + more - less;
    m->high_water = m->in_use > m->high_water ? m->in_use : m->high_water;
}

/* Free bytes from `from` on to the next block (or the end); 0 if it lies in a block. skip: a block to leave out. */
static size_t gap_from(const struct model *m, size_t total, size_t from, size_t skip)
{
    size_t end = total;
    for (size_t i = 0; i < m->count; i++) {
        if (i == skip)
            continue;
        if (from >= m->blocks[i].offset && from < m->blocks[i].offset + m->blocks[i].bytes)
            return 0;
        if (m->blocks[i].offset >= from && m->blocks[i].offset < end)
            end = m->blocks[i].offset;
    }
    return end - from;
}

/* Where gaps begin: at 0 and behind each block. */
static size_t largest_gap(const struct model *m, size_t total, size_t align, size_t *largest)
{
    size_t best_aligned = 0;
    *largest = 0;
    for (size_t i = 0; i <= m->count; i++) {
        size_t from = i < m->count ? m->blocks[i].offset + m->blocks[i].bytes : 0;
        size_t gap = from < total ? gap_from(m, total, from, SIZE_MAX) : 0;
        size_t lost = (align - from % align) % align;
        *largest = gap > *largest ? gap : *largest;
        if (gap > lost && gap - lost > best_aligned)
            best_aligned = gap - lost;
    }
    return best_aligned;
}

static void compare(const struct shmemi_heap_blocks *heap, const struct model *m, size_t total)
{
    struct shmemi_blocks_use use;
    size_t largest;
    shmemi_blocks_use(heap, &use);
    largest_gap(m, total, 1, &largest);
    assert_int_equal(use.total, total);
    assert_int_equal(use.in_use, m->in_use);
    assert_int_equal(use.high_water, m->high_water);
    assert_int_equal(use.blocks, m->count);
    assert_int_equal(use.largest_free, largest); /* so free neighbours were joined */
    for (size_t i = 0; i < m->count; i++)
        assert_int_equal(shmemi_blocks_size(heap, m->blocks[i].offset), m->blocks[i].size);
}

static void model_take(struct shmemi_heap_blocks *heap, struct model *m, size_t size, size_t align)
{
    size_t offset = SIZE_MAX, ignored, can = largest_gap(m, HEAP, align < GRAIN ? GRAIN : align, &ignored);
    int rc = shmemi_blocks_take(heap, size, align, &offset);
    if (rounded(size) > can) {
        assert_int_equal(rc, -ENOSPC);
        return;
    }
    assert_int_equal(rc, 0); /* whatever fits anywhere is found */
    assert_int_equal(offset % (align > GRAIN ? align : GRAIN), 0);
    assert_true(gap_from(m, HEAP, offset, SIZE_MAX) >= rounded(size)); /* overlaps nothing, ends inside */
    m->blocks[m->count].offset = offset;
    m->blocks[m->count].size = size;
    m->blocks[m->count++].bytes = rounded(size);
    used(m, rounded(size), 0);
}

static void model_give(struct shmemi_heap_blocks *heap, struct model *m, size_t i)
{
    size_t from = SIZE_MAX, bytes = 0, offset = m->blocks[i].offset, gone = m->blocks[i].bytes;
    assert_true(shmemi_blocks_give(heap, offset, &from, &bytes));
    m->blocks[i] = m->blocks[--m->count];
    used(m, 0, gone);
    assert_true(from <= offset && from + bytes >= offset + gone);
    assert_int_equal(gap_from(m, HEAP, from, SIZE_MAX), bytes); /* all of the free range, and nothing else */
    assert_true(from == 0 || gap_from(m, HEAP, from - 1, SIZE_MAX) == 0);
    assert_false(shmemi_blocks_give(heap, offset, &from, &bytes));
}

static void model_resize(struct shmemi_heap_blocks *heap, struct model *m, size_t i, size_t size)
{
    bool fits = gap_from(m, HEAP, m->blocks[i].offset, i) >= rounded(size);
    assert_int_equal(shmemi_blocks_resize(heap, m->blocks[i].offset, size), fits);
    if (!fits)
        return;
    used(m, rounded(size), m->blocks[i].bytes);
    m->blocks[i].size = size;
    m->blocks[i].bytes = rounded(size);
}

static size_t some_size(uint64_t *seed)
{
    uint64_t r = next_random(seed);
    return 1 + (r >> 8) % (r % 10 == 0 ? 100000 : r % 10 < 4 ? 5000 : 200);
}

static void random_calls(void **state)
{
    (void)state;
    for (uint64_t run = 1; run <= (getenv("SHMEM_TEST_FULL") ? 20 : LEAKS_SANITIZED ? 1 : 3); run++) {
        struct shmemi_heap_blocks *heap = NULL;
        struct model *m = calloc(1, sizeof *m);
        uint64_t seed = run * 7919;
        ok(shmemi_blocks_create(HEAP, &heap));
        for (int step = 0; step < 6000; step++) {
            uint64_t r = next_random(&seed) % 100;
            if ((r < 52 && m->count < MOST) || !m->count)
                model_take(heap, m, some_size(&seed), (size_t)1 << next_random(&seed) % (r < 10 ? 17 : 8));
            else if (r < 90)
                model_give(heap, m, next_random(&seed) % m->count);
            else
                model_resize(heap, m, next_random(&seed) % m->count, some_size(&seed));
            if (step % 50 == 0)
                compare(heap, m, HEAP);
        }
        compare(heap, m, HEAP);
        while (m->count)
            model_give(heap, m, m->count - 1);
        compare(heap, m, HEAP);
        shmemi_blocks_destroy(heap);
        free(m);
    }
}

static void same_calls_same_offsets(void **state)
{
    struct shmemi_heap_blocks *heaps[2];
    size_t live[500], count = 0;
    uint64_t seed = 31337;
    (void)state;
    for (int h = 0; h < 2; h++)
        ok(shmemi_blocks_create(HEAP, &heaps[h]));
    for (int step = 0; step < 20000; step++) {
        size_t size = some_size(&seed), align = (size_t)1 << next_random(&seed) % 12, i = count ? size % count : 0;
        size_t at[2] = {0, 0}, bytes[2] = {0, 0};
        uint64_t r = next_random(&seed) % 10;
        int rc[2] = {0, 0};
        for (int h = 0; h < 2; h++) {
            /* Private memory is laid out differently in every process; that must not matter. */
            void *between = h ? malloc(size % 900 + 1) : NULL;
            if (r < 5 && count < 500)
                rc[h] = shmemi_blocks_take(heaps[h], size, align, &at[h]);
            else if (count && r < 8)
                rc[h] = shmemi_blocks_give(heaps[h], live[i], &at[h], &bytes[h]);
            else if (count)
                rc[h] = shmemi_blocks_resize(heaps[h], live[i], size);
            free(between);
        }
        assert_int_equal(rc[0], rc[1]);
        assert_int_equal(at[0], at[1]);
        assert_int_equal(bytes[0], bytes[1]);
        if (r < 5 && count < 500) {
            if (rc[0] == 0)
                live[count++] = at[0];
        } else if (count && r < 8)
            live[i] = live[--count];
    }
    for (int h = 0; h < 2; h++)
        shmemi_blocks_destroy(heaps[h]);
}

static void exhaustion(void **state)
{
    struct shmemi_heap_blocks *heap = NULL;
    size_t offset, from, bytes;
    (void)state;
    ok(shmemi_blocks_create(HEAP + 63, &heap)); /* what is no whole line at the end is no room */
    assert_int_equal(shmemi_blocks_take(heap, HEAP + 1, 0, &offset), -ENOSPC);
    assert_int_equal(shmemi_blocks_take(heap, SIZE_MAX, 0, &offset), -ENOSPC);
    assert_int_equal(shmemi_blocks_take(heap, SIZE_MAX - 62, 64, &offset), -ENOSPC);
    ok(shmemi_blocks_take(heap, HEAP, 0, &offset));
    assert_int_equal(offset, 0);
    assert_int_equal(shmemi_blocks_take(heap, 1, 0, &offset), -ENOSPC);
    assert_false(shmemi_blocks_resize(heap, 0, HEAP + 1));
    assert_false(shmemi_blocks_resize(heap, 0, SIZE_MAX));
    assert_false(shmemi_blocks_resize(heap, 64, 64));
    assert_true(shmemi_blocks_resize(heap, 0, 100));
    ok(shmemi_blocks_take(heap, 1, 1 << 19, &offset));
    assert_int_equal(offset, 1 << 19);
    assert_false(shmemi_blocks_give(heap, 64, &from, &bytes));
    assert_false(shmemi_blocks_give(heap, HEAP * 2, &from, &bytes));
    assert_int_equal(shmemi_blocks_size(heap, 1), 0);
    assert_true(shmemi_blocks_give(heap, 1 << 19, &from, &bytes));
    assert_true(shmemi_blocks_give(heap, 0, &from, &bytes));
    assert_int_equal(from, 0);
    assert_int_equal(bytes, HEAP);
    shmemi_blocks_destroy(heap);
    shmemi_blocks_destroy(NULL);
}

static void many(void **state)
{
    enum { BLOCKS = LEAKS_SANITIZED ? 10000 : 100000 };
    struct shmemi_heap_blocks *heap = NULL;
    size_t offset, from, bytes;
    (void)state;
    ok(shmemi_blocks_create((size_t)BLOCKS * GRAIN, &heap));
    for (size_t i = 0; i < BLOCKS; i++) {
        ok(shmemi_blocks_take(heap, 1, 0, &offset));
        assert_int_equal(offset, i * GRAIN);
    }
    assert_int_equal(shmemi_blocks_take(heap, 1, 0, &offset), -ENOSPC);
    for (size_t i = 0; i < BLOCKS; i += 2)
        assert_true(shmemi_blocks_give(heap, i * GRAIN, &from, &bytes));
    assert_int_equal(shmemi_blocks_take(heap, GRAIN + 1, 0, &offset), -ENOSPC); /* only single lines are free */
    for (size_t i = 1; i < BLOCKS; i += 2)
        assert_true(shmemi_blocks_give(heap, i * GRAIN, &from, &bytes));
    assert_int_equal(bytes, (size_t)BLOCKS * GRAIN);
    shmemi_blocks_destroy(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(random_calls),
        clean_test(same_calls_same_offsets),
        clean_test(exhaustion),
        clean_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
