// SPDX-License-Identifier: Apache-2.0
// Names of buffers.
#include "unit.h"

#include "pool_look.h"

static struct shmemi_pool *pool;

static int make_pool(void **state)
{
    struct shmemi_pool_config config = {.size = 4 << 20, .max_size = 4 << 20, .numa_node = -1};
    leaks_setup(state);
    return shmemi_pool_create(&config, &pool);
}

static int drop_pool(void **state)
{
    return shmemi_pool_close(pool) < 0 ? -1 : leaks_teardown(state);
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, make_pool, drop_pool)

static int add(const char *name, size_t size, void **out)
{
    struct shmemi_naming naming = {.name = name, .size = size, .note = name, .note_bytes = strlen(name)};
    return shmemi_pool_alloc_named(pool, &naming, out);
}

static unsigned count_names(void)
{
    uint64_t cursor = 0;
    struct shmemi_named n;
    unsigned count = 0;
    while (shmemi_pool_next_name(pool, &cursor, &n) == 1)
        count++;
    return count;
}

static void made_found_taken_away(void **state)
{
    struct shmemi_named n;
    void *p, *q;
    (void)state;
    ok(add("alpha", 1000, &p));
    memset(p, 3, 1000);
    ok(shmemi_pool_find_name(pool, "alpha", &n));
    assert_ptr_equal(n.address, p);
    assert_int_equal(n.bytes, 1000);
    assert_int_equal(n.note_bytes, 5);
    assert_memory_equal(n.note, "alpha", 5);
    assert_string_equal(n.name, "alpha");
    refuses(EEXIST, "already", add("alpha", 10, &q));
    refuses(ENOENT, "'beta'", shmemi_pool_find_name(pool, "beta", &n));
    ok(shmemi_pool_unname(pool, "alpha"));
    refuses(ENOENT, "'alpha'", shmemi_pool_unname(pool, "alpha"));
    refuses(ENOENT, "'alpha'", shmemi_pool_find_name(pool, "alpha", &n));
    void *begin;
    size_t bytes;
    ok(shmemi_pool_buffer(pool, p, &begin, &bytes)); /* it stays */
    ok(shmemi_pool_free(pool, p));
    ok(add("alpha", 10, &q));
    ok(shmemi_pool_free(pool, q)); /* takes the name along */
    assert_int_equal(count_names(), 0);
}

static void buffers_get_names(void **state)
{
    void *p, *large;
    struct shmemi_named n;
    (void)state;
    ok(shmemi_pool_alloc(pool, 100, 0, 0, &p));
    ok(shmemi_pool_alloc(pool, 100000, 0, 0, &large));
    struct shmemi_naming naming = {.name = "one", .size = 100};
    ok(shmemi_pool_name_buffer(pool, &naming, p));
    naming.name = "two";
    ok(shmemi_pool_name_buffer(pool, &naming, p)); /* two names */
    naming.name = "three";
    refuses(EINVAL, "not a buffer", shmemi_pool_name_buffer(pool, &naming, (char *)p + 1));
    naming.size = 129;
    refuses(EINVAL, "not a buffer", shmemi_pool_name_buffer(pool, &naming, p));
    naming.size = 100000;
    ok(shmemi_pool_name_buffer(pool, &naming, large));
    assert_int_equal(count_names(), 3);
    refuses(EINVAL, "main segment", shmemi_pool_name_buffer(pool, &naming, &naming));
    ok(shmemi_pool_free(pool, p));
    assert_int_equal(count_names(), 1);
    ok(shmemi_pool_find_name(pool, "three", &n));
    ok(shmemi_pool_free(pool, large));
    assert_int_equal(count_names(), 0);
}

static void bad_names(void **state)
{
    char text[200];
    void *p;
    struct shmemi_named n;
    (void)state;
    memset(text, 'x', sizeof text);
    text[96] = '\0';
    refuses(EINVAL, "at least one byte", add("", 1, &p));
    refuses(ENAMETOOLONG, "95 fit", add(text, 1, &p));
    refuses(ENAMETOOLONG, "95 fit", shmemi_pool_find_name(pool, text, &n));
    text[95] = '\0';
    ok(add(text, 1, &p));
    ok(shmemi_pool_find_name(pool, text, &n));
    assert_string_equal(n.name, text);
    text[94] = '\0';
    refuses(ENOENT, "", shmemi_pool_find_name(pool, text, &n)); /* no prefix will do */
    uint8_t note[600] = {0};
    struct shmemi_naming naming = {.name = "note", .size = 1, .note = note, .note_bytes = 545};
    refuses(E2BIG, "544 fit", shmemi_pool_alloc_named(pool, &naming, &p));
    naming.note_bytes = 544;
    ok(shmemi_pool_alloc_named(pool, &naming, &p));
    naming = (struct shmemi_naming){.name = "huge", .size = 5 << 20};
    refuses(ENOMEM, "ever", shmemi_pool_alloc_named(pool, &naming, &p));
    naming.size = 4 << 20;
    refuses(ENOMEM, "no room", shmemi_pool_alloc_named(pool, &naming, &p));
    naming.align = 3;
    refuses(EINVAL, "power of two", shmemi_pool_alloc_named(pool, &naming, &p));
    assert_int_equal(count_names(), 2);
}

/* More names than fit: with chains of collisions everywhere, and holes in them. */
static void full_table(void **state)
{
    char text[32];
    void *p[2000];
    struct shmemi_named n;
    unsigned count = 0, most = (unsigned)pool->at.name_count;
    (void)state;
    for (;; count++) {
        snprintf(text, sizeof text, "name %u", count);
        int rc = add(text, 8, &p[count]);
        if (rc == -ENOSPC)
            break;
        ok(rc);
        memcpy(p[count], &count, sizeof count);
    }
    assert_int_equal(count, most);
    assert_int_equal(count_names(), most);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = round; i < most; i += 3) {
            snprintf(text, sizeof text, "name %u", i);
            ok(shmemi_pool_free(pool, p[i]));
            refuses(ENOENT, "", shmemi_pool_find_name(pool, text, &n));
        }
        for (unsigned i = 0; i < most; i++) {
            snprintf(text, sizeof text, "name %u", i);
            if (i % 3 == round % 3 && i >= round) {
                ok(add(text, 8, &p[i]));
                memcpy(p[i], &i, sizeof i);
            }
            ok(shmemi_pool_find_name(pool, text, &n));
            assert_ptr_equal(n.address, p[i]);
            assert_memory_equal(n.address, &i, sizeof i);
        }
    }
    refuses(ENOSPC, "names already", add("one more", 8, &p[most]));
    for (unsigned i = 0; i < most; i++)
        ok(shmemi_pool_free(pool, p[i]));
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    assert_int_equal(s.buffers, 0);
}

static int refuse(void *buffer, void *context)
{
    struct shmemi_named n;
    void *p;
    (void)buffer;
    assert_int_equal(shmemi_pool_find_name(pool, context, &n), -ENOENT); /* nobody finds it before it is whole */
    assert_int_equal(count_names(), 0);
    ok(shmemi_pool_alloc(pool, 100, 0, 0, &p)); /* the pool works meanwhile */
    ok(shmemi_pool_free(pool, p));
    return -ECANCELED;
}

static int whole(void *buffer, void *context)
{
    memset(buffer, 0x55, *(size_t *)context);
    return 0;
}

static void init_comes_first(void **state)
{
    void *p;
    size_t size = 5000;
    char name[] = "not made";
    (void)state;
    struct shmemi_naming naming = {.name = name, .size = 100, .init = refuse, .context = name};
    assert_int_equal(shmemi_pool_alloc_named(pool, &naming, &p), -ECANCELED);
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    assert_int_equal(s.buffers, 0);
    naming = (struct shmemi_naming){.name = name, .size = size, .init = whole, .context = &size};
    ok(shmemi_pool_alloc_named(pool, &naming, &p));
    for (size_t i = 0; i < size; i++)
        assert_int_equal(((char *)p)[i], 0x55);
}

/* Several processes make and take away the same few names: each of them is whole, or absent. */
static void many_at_once(void **state)
{
    pid_t pids[4];
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        pids[k] = fork();
        if (pids[k])
            continue;
        uint64_t seed = 1000 + k;
        for (int i = 0; i < 1500; i++) {
            char text[16];
            struct shmemi_named n;
            size_t size = 200 + next_random(&seed) % 3 * 20000;
            void *p;
            snprintf(text, sizeof text, "n%u", (unsigned)(next_random(&seed) % 6));
            struct shmemi_naming naming = {
                .name = text, .size = size, .init = whole, .context = &size, .note = text, .note_bytes = strlen(text)};
            int rc = shmemi_pool_alloc_named(pool, &naming, &p);
            /* What is freed below was perhaps freed by another one before, and is by now the buffer that a third one is
               just making: such a one is told. */
            child_check(rc == 0 || rc == -EEXIST || (rc < 0 && strstr(shmemi_last_error(), "was freed meanwhile")));
            uint64_t cursor = 0;
            while ((rc = shmemi_pool_next_name(pool, &cursor, &n)) == 1)
                child_check(n.note_bytes == strlen(n.name) && memcmp(n.note, n.name, n.note_bytes) == 0);
            child_check(rc == 0);
            rc = shmemi_pool_find_name(pool, text, &n);
            child_check(rc == 0 || rc == -ENOENT);
            if (rc == 0 && next_random(&seed) % 2)
                rc = shmemi_pool_free(pool, n.address);
            child_check(rc == 0 || rc == -ENOENT || rc == -EINVAL);
        }
        _exit(0);
    }
    for (unsigned k = 0; k < 4; k++)
        child_succeeds(pids[k]);
    static struct look l;
    struct shmemi_pool_stats s;
    ok(shmemi_pool_stats(pool, &s));
    look_all(pool, &l);
    if (*l.wrong)
        fail_msg("%s", l.wrong);
    assert_int_equal(l.count, count_names()); /* no buffer without its name */
    for (unsigned i = 0; i < l.count; i++)
        assert_int_equal(look_names(pool, l.blocks[i].offset), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        pool_test(made_found_taken_away), pool_test(buffers_get_names), pool_test(bad_names), pool_test(full_table),
        pool_test(init_comes_first),      pool_test(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
