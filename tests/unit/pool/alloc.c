// SPDX-License-Identifier: Apache-2.0
// Allocating and freeing: all sizes and alignments, by several processes, and what is no buffer.
#include "unit.h"

#include <signal.h>
#include <sys/mman.h>

#include "pool_look.h"

static struct shmemi_pool *pool;

static struct shmemi_pool *make(size_t size, size_t most, bool grow)
{
    struct shmemi_pool_config config = {.size = size, .max_size = most, .grow = grow, .numa_node = -1};
    struct shmemi_pool *made = NULL;
    ok(shmemi_pool_create(&config, &made));
    return made;
}

static int make_pool(void **state)
{
    leaks_setup(state);
    pool = make(16 << 20, 64 << 20, false);
    return 0;
}

static int drop_pool(void **state)
{
    return shmemi_pool_close(pool) < 0 ? -1 : leaks_teardown(state);
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, make_pool, drop_pool)

static void *get(size_t size, size_t align, unsigned flags)
{
    void *p = NULL;
    ok(shmemi_pool_alloc(pool, size, align, flags, &p));
    assert_int_equal((uintptr_t)p % (align ? align : 64), 0);
    return p;
}

static struct shmemi_pool_stats stats(void)
{
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    return s;
}

static void check_inside(void)
{
    static struct look l;
    struct shmemi_pool_stats s = stats();
    look_all(pool, &l);
    if (*l.wrong)
        fail_msg("%s", l.wrong);
    assert_int_equal(l.count + s.owned, s.buffers);
    assert_int_equal(l.used + s.own_bytes, s.in_use);
    assert_true(s.free + l.used <= s.size); /* the ends of slabs are neither */
}

/* Everything was freed: is it one piece again? */
static void check_empty(void)
{
    void *p;
    refuses(ENOMEM, "more than the pool can ever have", shmemi_pool_alloc(pool, (size_t)1 << 40, 0, 0, &p));
    assert_int_equal(shmemi_pool_alloc(pool, pool->at.max_units * SHMEMI_UNIT, 0, 0, &p), -ENOMEM);
    struct shmemi_pool_stats s = stats();
    assert_int_equal(s.in_use, 0);
    assert_int_equal(s.buffers, 0);
    assert_int_equal(s.largest_free, s.size);
    assert_int_equal(s.free, s.size);
    check_inside();
}

static void fill(void *p, size_t bytes, uint64_t pattern)
{
    for (size_t i = 0; i + 8 <= bytes; i += bytes > 65536 ? 4096 : 8)
        memcpy((char *)p + i, &pattern, 8);
}

static void check(const void *p, size_t bytes, uint64_t pattern)
{
    for (size_t i = 0; i + 8 <= bytes; i += bytes > 65536 ? 4096 : 8)
        if (memcmp((const char *)p + i, &pattern, 8) != 0)
            fail_msg("byte %zu of a buffer of %zu was changed", i, bytes);
}

static void every_size(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 70000; size += size < 2100 ? 1 : 997) {
        void *p = get(size, 0, 0), *begin;
        size_t bytes;
        ok(shmemi_pool_buffer(pool, p, &begin, &bytes));
        assert_ptr_equal(begin, p);
        assert_true(bytes >= size && bytes >= 1);
        memset(p, 0xa5, bytes);
        ok(shmemi_pool_buffer(pool, (char *)p + bytes - 1, &begin, &bytes));
        assert_ptr_equal(begin, p);
        ok(shmemi_pool_free(pool, p));
    }
    check_empty();
}

static void every_alignment(void **state)
{
    void *p[64];
    (void)state;
    for (size_t align = 1; align <= 2 << 20; align *= 2) {
        unsigned count = 0;
        for (size_t size = 1; size <= 100000; size = size * 5 + 3, count++) {
            p[count] = get(size, align, 0);
            memset(p[count], 0x5a, size);
        }
        while (count)
            ok(shmemi_pool_free(pool, p[--count]));
    }
    void *q;
    refuses(EINVAL, "power of two", shmemi_pool_alloc(pool, 1, 3, 0, &q));
    refuses(EINVAL, "power of two", shmemi_pool_alloc(pool, 1, 4 << 20, 0, &q));
    refuses(EINVAL, "power of two", shmemi_pool_alloc(pool, 1, SIZE_MAX, 0, &q));
    refuses(ENOMEM, "", shmemi_pool_alloc(pool, SIZE_MAX, 0, 0, &q));
    refuses(ENOMEM, "", shmemi_pool_alloc(pool, SIZE_MAX - 100, 2 << 20, 0, &q));
    check_empty();
}

enum { MANY = 1500 };
struct mine {
    char *p;
    size_t size;
    uint64_t pattern;
};

static void random_buffers(void **state)
{
    static struct mine m[MANY];
    uint64_t seed = 99;
    unsigned count = 0, failed = 0;
    (void)state;
    for (int i = 0; i < 60000; i++) {
        uint64_t r = next_random(&seed);
        if (r % 8 < 5 && count < MANY) {
            size_t size = r >> 8 & 1 ? next_random(&seed) % 600 : next_random(&seed) % (r >> 9 & 31 ? 20000 : 300000);
            size_t align = r >> 16 & 7 ? 0 : (size_t)64 << next_random(&seed) % 9;
            void *p;
            if (shmemi_pool_alloc(pool, size, align, r >> 20 & 1 ? SHMEMI_ALLOC_ZERO : 0, &p) < 0) {
                failed++;
                continue;
            }
            if (r >> 20 & 1)
                check(p, size, 0);
            m[count] = (struct mine){.p = p, .size = size, .pattern = next_random(&seed) | 1};
            fill(p, size, m[count].pattern);
            count++;
        } else if (count) {
            unsigned k = (unsigned)(next_random(&seed) % count);
            check(m[k].p, m[k].size, m[k].pattern);
            ok(shmemi_pool_free(pool, m[k].p));
            m[k] = m[--count];
        }
        if (i % 5000 == 0)
            check_inside();
    }
    print_message("# %u buffers at the end, %u found no room\n", count, failed);
    while (count--) {
        check(m[count].p, m[count].size, m[count].pattern);
        ok(shmemi_pool_free(pool, m[count].p));
    }
    check_empty();
}

/* A pool that is full says so, loses nothing, and gives the last byte. */
static void full(void **state)
{
    (void)state;
    for (size_t size = 64; size <= 1 << 20; size *= 4) {
        static void *p[300000];
        unsigned count = 0;
        while (shmemi_pool_alloc(pool, size, 0, 0, &p[count]) == 0)
            count++;
        assert_non_null(strstr(shmemi_last_error(), "no room in the pool"));
        assert_non_null(strstr(stats().failure, "no room in the pool"));
        size_t most = (16u << 20) / size;
        assert_true(count <= most && count + count / 16 + 64 >= most);
        while (count)
            ok(shmemi_pool_free(pool, p[--count]));
        check_empty();
    }
}

static void wild_pointers(void **state)
{
    char on_stack[128];
    static char in_data[128];
    struct shmemi_pool *other = make(1 << 20, 1 << 20, false);
    void *foreign, *on_heap = malloc(100);
    ok(shmemi_pool_alloc(other, 1000, 0, 0, &foreign));
    (void)state;
    char *small = get(100, 0, 0), *large = get(100000, 0, 0), *freed = get(5000, 0, 0),
         *freed_large = get(200000, 0, 0);
    char *own = get(5000, 0, SHMEMI_ALLOC_OWN);
    ok(shmemi_pool_free(pool, freed));
    ok(shmemi_pool_free(pool, freed_large));
    fill(small, 100, 7), fill(large, 100000, 8), fill(own, 5000, 9), fill(foreign, 1000, 10);
    void *const wild[] = {NULL,
                          small + 1,
                          small + 64,
                          small - 64,
                          small + 4096,
                          large + 1,
                          large + 64,
                          large + 4096,
                          large - 1,
                          large + 100000,
                          freed,
                          freed_large,
                          freed_large + 4096,
                          own + 1,
                          own + 4096,
                          own - 1,
                          on_stack,
                          in_data,
                          on_heap,
                          foreign,
                          pool->payload - 1,
                          pool->payload + pool->at.max_units * SHMEMI_UNIT,
                          pool->payload + shmemi_units_count(pool) * SHMEMI_UNIT,
                          pool->control,
                          (void *)UINTPTR_MAX,
                          (void *)(UINTPTR_MAX / 2),
                          (void *)(uintptr_t)wild_pointers};
    struct shmemi_pool_stats before = stats();
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        if (wild[i] == large || wild[i] == small || wild[i] == own) /* they may be neighbours */
            continue;
        if (shmemi_pool_free(pool, wild[i]) != -EINVAL)
            fail_msg("pointer %u was not refused", i);
        assert_int_equal(stats().buffers, before.buffers);
        assert_int_equal(stats().in_use, before.in_use);
    }
    check(small, 100, 7), check(large, 100000, 8), check(own, 5000, 9), check(foreign, 1000, 10);
    refuses(EINVAL, "no buffer", shmemi_pool_keep(pool, freed));
    refuses(EINVAL, "main segment", shmemi_pool_keep(pool, own));
    void *begin;
    size_t bytes;
    refuses(EINVAL, "in no buffer", shmemi_pool_buffer(pool, on_stack, &begin, &bytes));
    refuses(EINVAL, "in no buffer", shmemi_pool_buffer(pool, freed_large, &begin, &bytes));
    ok(shmemi_pool_free(pool, small));
    refuses(EINVAL, "freed already", shmemi_pool_free(pool, small));
    ok(shmemi_pool_free(pool, large));
    assert_int_equal(shmemi_pool_free(pool, large), -EINVAL);
    ok(shmemi_pool_free(pool, own));
    assert_int_equal(shmemi_pool_free(pool, own), -EINVAL);
    check_empty();
    free(on_heap);
    ok(shmemi_pool_close(other));
}

static void stats_are_exact(void **state)
{
    (void)state;
    struct shmemi_pool_stats s = stats();
    assert_int_equal(s.size, 16 << 20);
    assert_int_equal(s.max_size, 64 << 20);
    assert_int_equal(s.members, 1);
    assert_int_equal(s.in_use + s.buffers + s.died + s.owned + s.high_water, 0);
    assert_int_equal(s.largest_free, s.size);
    void *a = get(65, 0, 0), *b = get(40000, 0, 0), *c = get(10000, 0, SHMEMI_ALLOC_OWN);
    s = stats();
    assert_int_equal(s.in_use, 128 + 40960 + 12288);
    assert_int_equal(s.buffers, 3);
    assert_int_equal(s.owned, 1);
    assert_int_equal(s.own_bytes, 12288);
    assert_true(s.high_water >= 40960);
    ok(shmemi_pool_free(pool, a));
    ok(shmemi_pool_free(pool, b));
    ok(shmemi_pool_free(pool, c));
    assert_int_equal(stats().in_use, 0);
    check_empty();
}

static void growing_keeps_pointers(void **state)
{
    (void)state;
    struct mine m[64];
    for (int i = 0; i < 64; i++) {
        m[i] = (struct mine){.p = get(250000, 0, 0), .size = 250000, .pattern = 0x1234500u + (unsigned)i};
        fill(m[i].p, m[i].size, m[i].pattern);
        ok(shmemi_pool_grow(pool, (size_t)(17 + i % 40) << 20));
    }
    for (int i = 0; i < 64; i++) {
        check(m[i].p, m[i].size, m[i].pattern);
        ok(shmemi_pool_free(pool, m[i].p));
    }
    assert_int_equal(stats().size, 56 << 20);
    check_empty();
}

static void grows_by_itself(void **state)
{
    struct shmemi_pool *grown = make(1 << 20, 32 << 20, true), *before = pool;
    (void)state;
    pool = grown;
    void *p;
    unsigned count = 0;
    while (shmemi_pool_alloc(pool, 300000, 0, 0, &p) == 0)
        fill(p, 300000, ++count);
    assert_true(count >= 100);
    assert_int_equal(stats().size, 32 << 20);
    pool = before;
    ok(shmemi_pool_close(grown));
}

static void offsets_and_addresses(void **state)
{
    (void)state;
    char *p = get(1000, 0, 0);
    uint64_t offset;
    void *back;
    ok(shmemi_pool_offset(pool, p + 10, &offset));
    ok(shmemi_pool_address(pool, offset, 990, &back));
    assert_ptr_equal(back, p + 10);
    refuses(EINVAL, "end beyond", shmemi_pool_address(pool, 16 << 20, 1, &back));
    refuses(EINVAL, "end beyond", shmemi_pool_address(pool, 100, SIZE_MAX, &back));
    refuses(EINVAL, "end beyond", shmemi_pool_address(pool, UINT64_MAX, 1, &back));
    refuses(EINVAL, "not in the pool", shmemi_pool_offset(pool, &offset, &offset));
    ok(shmemi_pool_free(pool, p));
}

/* ---- several processes ---- */

static void freed_by_another(void **state)
{
    void *p[600];
    (void)state;
    for (int i = 0; i < 600; i++)
        p[i] = get(i % 10 ? 100 : 50000, 0, 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 600; i++)
            child_check(shmemi_pool_free(pool, p[i]) == 0);
        child_check(shmemi_pool_free(pool, p[3]) == -EINVAL);
        child_check(shmemi_pool_close(pool) == 0);
        _exit(0);
    }
    child_succeeds(pid);
    assert_int_equal(stats().in_use, 0);
    for (int i = 0; i < 600; i++) /* and they can be had again */
        p[i] = get(i % 10 ? 100 : 50000, 0, 0);
    for (int i = 0; i < 600; i++)
        ok(shmemi_pool_free(pool, p[i]));
    check_empty();
}

static void a_child_is_a_member_of_its_own(void **state)
{
    (void)state;
    char *mine = get(1000, 0, 0), *own = get(5000, 0, SHMEMI_ALLOC_OWN);
    fill(mine, 1000, 77), fill(own, 5000, 78);
    for (int way = 0; way < 4; way++) {
        pid_t pid = fork();
        if (pid == 0) {
            void *p;
            if (way > 0) {
                child_check(shmemi_pool_alloc(pool, 100, 0, 0, &p) == 0 && p != mine);
                child_check(shmemi_pool_alloc(pool, 100000, 0, 0, &p) == 0);
                child_check(shmemi_pool_alloc(pool, 5000, 0, SHMEMI_ALLOC_OWN, &p) == 0);
            }
            if (way == 2)
                kill(getpid(), SIGKILL);
            if (way == 3)
                child_check(shmemi_pool_close(pool) == 0);
            _exit(0);
        }
        int status;
        waitpid(pid, &status, 0);
        assert_true(way == 2 ? WIFSIGNALED(status) : status == 0);
        struct shmemi_pool_stats s = stats();
        assert_int_equal(s.members, 1);
        assert_int_equal(s.buffers, 2);
        assert_int_equal(s.in_use, 1024 + 8192);
        check(mine, 1000, 77), check(own, 5000, 78);
    }
    assert_int_equal(stats().died, 2);
    ok(shmemi_pool_free(pool, mine));
    ok(shmemi_pool_free(pool, own));
    check_empty();
}

static void what_is_kept_stays(void **state)
{
    int out[2];
    (void)state;
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        void *p[6];
        for (unsigned i = 0; i < 6; i++)
            child_check(shmemi_pool_alloc(pool, i % 2 ? 100 : 100000, 0, i < 2 ? SHMEMI_ALLOC_KEEP : 0, &p[i]) == 0);
        child_check(shmemi_pool_keep(pool, p[2]) == 0 && shmemi_pool_keep(pool, p[3]) == 0);
        child_check(shmemi_pool_keep(pool, p[3]) == 0);
        for (unsigned i = 0; i < 6; i++) {
            fill(p[i], i % 2 ? 100 : 100000, i);
            uint64_t offset = (uint64_t)((char *)p[i] - pool->payload);
            child_check(write(out[1], &offset, 8) == 8);
        }
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, NULL, 0);
    uint64_t offset[6];
    assert_int_equal(read(out[0], offset, sizeof offset), sizeof offset);
    close(out[0]), close(out[1]);
    assert_int_equal(stats().buffers, 4);
    for (unsigned i = 0; i < 6; i++) {
        if (i < 4)
            check(pool->payload + offset[i], i % 2 ? 100 : 100000, i);
        assert_int_equal(shmemi_pool_free(pool, pool->payload + offset[i]), i < 4 ? 0 : -EINVAL);
    }
    check_empty();
}

static void two_pools(void **state)
{
    struct shmemi_pool *one = pool, *other = make(1 << 20, 1 << 20, false);
    void *p = get(1000, 0, 0), *q;
    (void)state;
    ok(shmemi_pool_alloc(other, 1000, 0, 0, &q));
    assert_ptr_equal(shmemi_pool_of(p), one);
    assert_ptr_equal(shmemi_pool_of(q), other);
    assert_null(shmemi_pool_of(&p));
    refuses(EINVAL, "not the beginning", shmemi_pool_free(other, p));
    ok(shmemi_pool_free(one, p));
    ok(shmemi_pool_free(other, q));
    ok(shmemi_pool_close(other));
    refuses(EBADF, "closed", shmemi_pool_free(other, q));
    refuses(EBADF, "closed", shmemi_pool_close(other));
    refuses(EBADF, "closed", shmemi_pool_alloc(other, 1, 0, 0, &q));
    check_empty();
}

/* A member that closes with segments of its own takes them along in the figures. */
static void closing_with_own_segments(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        void *p;
        for (int i = 0; i < 3; i++)
            child_check(shmemi_pool_alloc(pool, 100000, 0, SHMEMI_ALLOC_OWN, &p) == 0);
        child_check(shmemi_pool_close(pool) == 0);
        _exit(0);
    }
    child_succeeds(pid);
    assert_int_equal(stats().own_bytes, 0);
    check_empty();
}

static uint64_t available_bytes(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu", &kib) != 1)
        continue;
    if (file)
        fclose(file);
    return kib << 10;
}

/* Offsets and lengths of more than 32 bits. */
static void beyond_4_gib(void **state)
{
    const size_t gib = 1 << 30, most = 5 * gib;
    struct shmemi_pool_config config = {.size = most, .max_size = most, .numa_node = -1};
    struct shmemi_pool *before = pool, *large = NULL;
    (void)state;
    if (available_bytes() < 8 * gib)
        skip_because("it takes a pool of 5 GiB, and this machine has less than 8 GiB free");
    int rc = LEAKS_SANITIZED ? -ENOMEM : shmemi_pool_create(&config, &large);
    if (rc == -ENOMEM)
        skip_because("there is no room for a pool of 5 GiB: %s", LEAKS_SANITIZED ? "a sanitizer" : shmemi_last_error());
    ok(rc);
    pool = large;
    char *huge = get(4 * gib + gib / 2, 2 << 20, 0), *p[3];
    memset(huge + 4 * gib + gib / 2 - 64, 7, 64);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t offset;
        size_t size = i == 0 ? 100 : i == 1 ? 5000 : 1 << 20;
        fill(p[i] = get(size, 0, 0), size, i + 1);
        ok(shmemi_pool_offset(pool, p[i], &offset));
        assert_true(offset >= 4 * gib);
        void *back;
        ok(shmemi_pool_address(pool, offset, size, &back));
        assert_ptr_equal(back, p[i]);
    }
    assert_true(stats().in_use > 4 * gib + gib / 2);
    pid_t pid = fork();
    if (pid == 0) {
        void *begin;
        size_t bytes;
        child_check(shmemi_pool_buffer(pool, huge + 4 * gib + 5, &begin, &bytes) == 0 && begin == huge);
        child_check(bytes == 4 * gib + gib / 2 && huge[bytes - 1] == 7);
        child_check(shmemi_pool_free(pool, p[2]) == 0);
        _exit(0);
    }
    child_succeeds(pid);
    check(p[0], 100, 1), check(p[1], 5000, 2);
    assert_int_equal(shmemi_pool_free(pool, p[2]), -EINVAL);
    ok(shmemi_pool_free(pool, p[1]));
    ok(shmemi_pool_free(pool, huge));
    ok(shmemi_pool_free(pool, p[0]));
    assert_int_equal(stats().in_use, 0);
    assert_ptr_equal(get(most, 0, 0), pool->payload);
    ok(shmemi_pool_close(large));
    pool = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        pool_test(every_size),
        pool_test(every_alignment),
        pool_test(random_buffers),
        pool_test(full),
        pool_test(wild_pointers),
        pool_test(stats_are_exact),
        pool_test(growing_keeps_pointers),
        pool_test(grows_by_itself),
        pool_test(offsets_and_addresses),
        pool_test(freed_by_another),
        pool_test(a_child_is_a_member_of_its_own),
        pool_test(what_is_kept_stays),
        pool_test(two_pools),
        pool_test(closing_with_own_segments),
        pool_test(beyond_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
