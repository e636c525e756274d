// SPDX-License-Identifier: Apache-2.0
// Objects of synchronisation as objects: names, keys, handles, types, and mistakes with them. And each operation once,
// by one thread.
#include "sync.h"

static shmemx_pool_t pool;

static int begin(void **state)
{
    pool = make_pool();
    return leaks_setup(state);
}

static int end(void **state)
{
    int rc = leaks_teardown(state);
    ok(shmemx_pool_close(pool));
    return rc;
}
#define pool_test(f) cmocka_unit_test_setup_teardown(f, begin, end)

static void mutexes(void **state)
{
    shmemx_mutex_t mutex, other;
    (void)state;
    ok(shmemx_mutex_create(pool, "m", &mutex));
    refuses(EEXIST, "'m'", shmemx_mutex_create(pool, "m", &other));
    refuses(ENOENT, "'n'", shmemx_mutex_find(pool, "n", &other));
    assert_int_equal(shmemx_mutex_locked(mutex), 0);
    ok(shmemx_mutex_lock(mutex, -1));
    assert_int_equal(shmemx_mutex_locked(mutex), 1);
    refuses(EDEADLK, "already", shmemx_mutex_lock(mutex, -1));
    refuses(EDEADLK, "already", shmemx_mutex_trylock(mutex));
    refuses(EBUSY, "this thread", shmemx_mutex_destroy(mutex));
    refuses(EINVAL, "not inconsistent", shmemx_mutex_consistent(mutex));
    ok(shmemx_mutex_unlock(mutex));
    refuses(EPERM, "nobody", shmemx_mutex_unlock(mutex));
    refuses(EPERM, "nobody", shmemx_mutex_consistent(mutex));
    refuses(EINVAL, "timeout", shmemx_mutex_lock(mutex, NAN));
    ok(shmemx_mutex_lock(mutex, 0));
    ok(shmemx_mutex_unlock(mutex));
    ok(shmemx_mutex_trylock(mutex));
    ok(shmemx_mutex_find(pool, "m", &other));
    refuses(EDEADLK, "already", shmemx_mutex_lock(other, 1));
    ok(shmemx_mutex_unlock(other));
    refuses(EBADF, "NULL", shmemx_mutex_lock(NULL, 0));
    refuses(EBADF, "handle", shmemx_semaphore_wait((shmemx_semaphore_t)(void *)mutex, 0));
    ok(shmemx_mutex_destroy(mutex));
    refuses(EBADF, "closed", shmemx_mutex_lock(mutex, 0));
    refuses(ENOENT, "destroyed", shmemx_mutex_lock(other, 0));
    refuses(ENOENT, "destroyed", shmemx_mutex_unlock(other));
    ok(shmemx_mutex_close(other));
    refuses(EBADF, "closed", shmemx_mutex_close(other));
    refuses(ENOENT, "'m'", shmemx_mutex_find(pool, "m", &other));
}

static void types_differ(void **state)
{
    shmemx_mutex_t mutex;
    shmemx_rwlock_t rwlock;
    shmemx_event_t event;
    void *buffer;
    char key[SHMEMX_KEY_TEXT];
    (void)state;
    ok(shmemx_mutex_create(pool, "thing", &mutex));
    refuses(EINVAL, "'mutex', and not 'reader-writer lock'", shmemx_rwlock_find(pool, "thing", &rwlock));
    ok(shmemx_mutex_export(mutex, key));
    refuses(EINVAL, "'mutex', and not 'event'", shmemx_event_import(key, &event));
    ok(shmemx_pool_alloc_named(pool, "buffer", 4096, 0, NULL, 0, NULL, NULL, &buffer));
    memset(buffer, 0, 4096);
    refuses(EINVAL, "it is a buffer", shmemx_rwlock_find(pool, "buffer", &rwlock));
    refuses(EINVAL, "out is NULL", shmemx_mutex_create(pool, NULL, NULL));
    refuses(EINVAL, "name is NULL", shmemx_mutex_find(pool, NULL, &mutex));
    refuses(EBADF, "pool is NULL", shmemx_mutex_create(NULL, NULL, &mutex));
    ok(shmemx_mutex_destroy(mutex));
    ok(shmemx_pool_free(pool, buffer));
}

static void rwlocks(void **state)
{
    shmemx_rwlock_t lock;
    unsigned readers;
    int writer;
    (void)state;
    refuses(EINVAL, "seats", shmemx_rwlock_create(pool, NULL, 1025, &lock));
    ok(shmemx_rwlock_create(pool, NULL, 3, &lock));
    ok(shmemx_rwlock_rdlock(lock, -1));
    ok(shmemx_rwlock_locked(lock, &readers, &writer));
    assert_int_equal(readers, 1);
    assert_int_equal(writer, 0);
    refuses(EDEADLK, "for reading", shmemx_rwlock_rdlock(lock, -1));
    refuses(EDEADLK, "for reading", shmemx_rwlock_wrlock(lock, -1));
    refuses(EDEADLK, "for reading", shmemx_rwlock_trywrlock(lock));
    refuses(EBUSY, "this thread", shmemx_rwlock_destroy(lock));
    ok(shmemx_rwlock_unlock(lock));
    refuses(EPERM, "neither", shmemx_rwlock_unlock(lock));
    ok(shmemx_rwlock_wrlock(lock, -1));
    ok(shmemx_rwlock_locked(lock, &readers, &writer));
    assert_int_equal(readers, 0);
    assert_int_equal(writer, 1);
    refuses(EDEADLK, "for writing", shmemx_rwlock_rdlock(lock, -1));
    refuses(EDEADLK, "for writing", shmemx_rwlock_wrlock(lock, -1));
    refuses(EINVAL, "not inconsistent", shmemx_rwlock_consistent(lock));
    ok(shmemx_rwlock_unlock(lock));
    refuses(EPERM, "writing", shmemx_rwlock_consistent(lock));
    ok(shmemx_rwlock_tryrdlock(lock));
    ok(shmemx_rwlock_unlock(lock));
    ok(shmemx_rwlock_trywrlock(lock));
    ok(shmemx_rwlock_unlock(lock));
    ok(shmemx_rwlock_rdlock(lock, 0));
    ok(shmemx_rwlock_unlock(lock));
    ok(shmemx_rwlock_destroy(lock));
}

static void semaphores(void **state)
{
    shmemx_semaphore_t s;
    unsigned value = 99;
    (void)state;
    refuses(EINVAL, "max", shmemx_semaphore_create(pool, NULL, 3, 2, 0, &s));
    refuses(EINVAL, "max", shmemx_semaphore_create(pool, NULL, 3, 4, 1, &s));
    refuses(EINVAL, "owned", shmemx_semaphore_create(pool, NULL, 0, 0, 1, &s));
    ok(shmemx_semaphore_create(pool, NULL, 1, 2, 0, &s));
    ok(shmemx_semaphore_wait(s, -1));
    refuses(EAGAIN, "no unit", shmemx_semaphore_trywait(s));
    refuses(ETIMEDOUT, "no unit", shmemx_semaphore_wait(s, 0.01));
    ok(shmemx_semaphore_post(s, 2));
    refuses(EOVERFLOW, "most is 2", shmemx_semaphore_post(s, 1));
    refuses(EOVERFLOW, "most is 2", shmemx_semaphore_post(s, UINT_MAX));
    refuses(EINVAL, "count is 0", shmemx_semaphore_post(s, 0));
    ok(shmemx_semaphore_value(s, &value));
    assert_int_equal(value, 2);
    ok(shmemx_semaphore_destroy(s));

    ok(shmemx_semaphore_create(pool, NULL, 2, 0, 1, &s));
    refuses(EPERM, "0 units", shmemx_semaphore_post(s, 1));
    ok(shmemx_semaphore_wait(s, -1));
    ok(shmemx_semaphore_wait(s, -1));
    refuses(EAGAIN, "no unit", shmemx_semaphore_trywait(s));
    refuses(ETIMEDOUT, "taken", shmemx_semaphore_wait(s, 0.01));
    refuses(EPERM, "2 units", shmemx_semaphore_post(s, 3));
    refuses(EBUSY, "2 of its units", shmemx_semaphore_destroy(s));
    ok(shmemx_semaphore_value(s, &value));
    assert_int_equal(value, 0);
    ok(shmemx_semaphore_post(s, 2));
    ok(shmemx_semaphore_value(s, &value));
    assert_int_equal(value, 2);
    ok(shmemx_semaphore_destroy(s));
}

static void conditions(void **state)
{
    shmemx_mutex_t mutex;
    shmemx_cond_t cond;
    (void)state;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_cond_create(pool, NULL, &cond));
    refuses(EPERM, "does not have the mutex", shmemx_cond_wait(cond, mutex, 0));
    refuses(EBADF, "NULL", shmemx_cond_wait(cond, NULL, 0));
    ok(shmemx_mutex_lock(mutex, -1));
    refuses(ETIMEDOUT, "not signalled", shmemx_cond_wait(cond, mutex, 0.01));
    refuses(EINVAL, "timeout", shmemx_cond_wait(cond, mutex, NAN));
    ok(shmemx_cond_signal(cond));
    ok(shmemx_cond_broadcast(cond));
    ok(shmemx_mutex_unlock(mutex));
    ok(shmemx_cond_destroy(cond));
    ok(shmemx_mutex_destroy(mutex));
}

static void barriers(void **state)
{
    shmemx_barrier_t barrier;
    unsigned n = 99, waiting = 99;
    (void)state;
    refuses(EINVAL, "n is 0", shmemx_barrier_create(pool, NULL, 0, &barrier));
    refuses(EINVAL, "n is 1023", shmemx_barrier_create(pool, NULL, 1023, &barrier));
    ok(shmemx_barrier_create(pool, NULL, 1, &barrier));
    for (int i = 0; i < 3; i++)
        assert_int_equal(shmemx_barrier_wait(barrier, -1), 1);
    ok(shmemx_barrier_destroy(barrier));
    ok(shmemx_barrier_create(pool, NULL, 2, &barrier));
    refuses(ETIMEDOUT, "1 of 2", shmemx_barrier_wait(barrier, 0.01));
    ok(shmemx_barrier_state(barrier, &n, &waiting));
    assert_int_equal(n, 2);
    assert_int_equal(waiting, 0);
    ok(shmemx_barrier_destroy(barrier));
}

static void events(void **state)
{
    shmemx_event_t event;
    (void)state;
    ok(shmemx_event_create(pool, NULL, 0, 0, &event));
    assert_int_equal(shmemx_event_is_set(event), 0);
    refuses(ETIMEDOUT, "not set", shmemx_event_wait(event, 0.01));
    ok(shmemx_event_set(event));
    ok(shmemx_event_wait(event, -1));
    ok(shmemx_event_wait(event, 0));
    assert_int_equal(shmemx_event_is_set(event), 1);
    ok(shmemx_event_clear(event));
    refuses(ETIMEDOUT, "not set", shmemx_event_wait(event, 0));
    ok(shmemx_event_destroy(event));
    ok(shmemx_event_create(pool, NULL, 1, 1, &event));
    ok(shmemx_event_wait(event, 0));
    refuses(ETIMEDOUT, "not set", shmemx_event_wait(event, 0));
    ok(shmemx_event_set(event));
    ok(shmemx_event_set(event));
    ok(shmemx_event_wait(event, 0));
    assert_int_equal(shmemx_event_is_set(event), 0);
    ok(shmemx_event_destroy(event));
}

static void words(void **state)
{
    shmemx_word_t word;
    (void)state;
    refuses(EINVAL, "width", shmemx_word_create(pool, NULL, 2, 0, &word));
    for (unsigned width = 4; width <= 8; width += 4) {
        uint64_t value = 0, all = width == 4 ? UINT32_MAX : UINT64_MAX;
        ok(shmemx_word_create(pool, NULL, width, 5, &word));
        assert_int_equal(shmemx_word_width(word), width);
        ok(shmemx_word_add(word, (uint64_t)-7, &value));
        assert_int_equal(value, 5);
        ok(shmemx_word_load(word, &value));
        assert_true(value == all - 1);
        ok(shmemx_word_and(word, 0xff, &value));
        ok(shmemx_word_or(word, 0x100, &value));
        assert_int_equal(value, 0xfe);
        ok(shmemx_word_xor(word, 1, &value));
        ok(shmemx_word_swap(word, 7, &value));
        assert_int_equal(value, 0x1ff);
        assert_int_equal(shmemx_word_cas(word, 8, 9, &value), 0);
        assert_int_equal(value, 7);
        assert_int_equal(shmemx_word_cas(word, 7, 9, NULL), 1);
        ok(shmemx_word_store(word, 10));
        refuses(ETIMEDOUT, "still", shmemx_word_wait(word, 10, 0.01));
        ok(shmemx_word_wait(word, 11, -1));
        assert_int_equal(shmemx_word_wake(word, 5), 0);
        refuses(EINVAL, "count", shmemx_word_wake(word, 0));
        if (width == 4)
            refuses(ERANGE, "4 bytes", shmemx_word_store(word, UINT64_C(1) << 40));
        ok(shmemx_word_destroy(word));
    }
}

/* A child that has nothing of it but the key. */
/* A buffer of the program is none of ours, whatever is in it. */
static void buffers(void **state)
{
    shmemx_mutex_t mutex;
    shmemx_named_t named;
    shmemx_pool_t of;
    char key[SHMEMX_KEY_TEXT];
    void *buffer;
    (void)state;
    for (uint64_t first = 0; first < 64; first++) { /* as the word of a holder that died, too */
        ok(shmemx_pool_alloc_named(pool, "b", 256, 0, NULL, 0, NULL, NULL, &buffer));
        *(uint64_t *)buffer = first * UINT64_C(0x100000) + 5;
        refuses(EINVAL, "buffer", shmemx_mutex_find(pool, "b", &mutex));
        refuses(EEXIST, "'b'", shmemx_mutex_create(pool, "b", &mutex));
        assert_int_equal(shmemx_pool_what(pool, "b"), SHMEMX_IS_BUFFER);
        ok(shmemx_pool_find(pool, "b", &named));
        assert_int_equal(*(uint64_t *)buffer, first * UINT64_C(0x100000) + 5);
        ok(shmemx_pool_free(pool, buffer));
    }
    ok(shmemx_mutex_create(pool, "m", &mutex));
    assert_int_equal(shmemx_pool_what(pool, "m"), SHMEMX_IS_MUTEX);
    refuses(ENOENT, "'n'", shmemx_pool_what(pool, "n"));
    ok(shmemx_mutex_export(mutex, key));
    assert_int_equal(shmemx_key_what(key, &of), SHMEMX_IS_MUTEX);
    assert_ptr_equal(of, pool);
    ok(shmemx_pool_alloc(pool, 100, 0, 0, &buffer));
    ok(shmemx_export(buffer, 100, NULL, key));
    assert_int_equal(shmemx_key_what(key, NULL), SHMEMX_IS_BUFFER);
    refuses(EINVAL, "key", shmemx_key_what("no key", NULL));
    ok(shmemx_pool_free(pool, buffer));
    ok(shmemx_mutex_destroy(mutex));
}

static void keys(void **state)
{
    shmemx_mutex_t mutex, again;
    char key[SHMEMX_KEY_TEXT];
    (void)state;
    ok(shmemx_mutex_create(pool, NULL, &mutex));
    ok(shmemx_mutex_export(mutex, key));
    ok(shmemx_mutex_import(key, &again));
    ok(shmemx_mutex_lock(again, -1));
    refuses(EDEADLK, "already", shmemx_mutex_lock(mutex, 0));
    ok(shmemx_mutex_unlock(mutex));
    ok(shmemx_mutex_close(again));
    int ask[2];
    assert_int_equal(pipe(ask), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char got[SHMEMX_KEY_TEXT] = "";
        child_check(shmemx_mutex_close(mutex) == 0);
        child_check(shmemx_pool_close(pool) == 0);
        child_check(read(ask[0], got, sizeof got) > 0);
        child_check(shmemx_mutex_import(got, &again) == 0);
        child_check(shmemx_mutex_import(got, &mutex) == 0);
        child_check(shmemx_mutex_lock(again, 5) == 0);
        child_check(shmemx_mutex_unlock(mutex) == 0);
        child_check(shmemx_mutex_close(again) == 0);
        child_check(shmemx_mutex_lock(mutex, 5) == 0);
        child_check(shmemx_mutex_unlock(mutex) == 0);
        child_check(shmemx_mutex_close(mutex) == 0);
        _exit(0);
    }
    assert_int_equal(write(ask[1], key, sizeof key), sizeof key);
    child_succeeds(pid);
    close(ask[0]);
    close(ask[1]);
    ok(shmemx_mutex_destroy(mutex));
}

static void files(void **state)
{
    char path[] = "/tmp/shmem-sync-XXXXXX";
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t file;
    shmemx_mutex_t mutex;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    attr.size = 1 << 20;
    int rc = shmemx_file_create(path, &attr, &file);
    if (rc == -EOPNOTSUPP)
        skip_because("no files here: %s", shmemx_last_error());
    ok(rc);
    ok(shmemx_mutex_create(file, "m", &mutex));
    ok(shmemx_mutex_lock(mutex, 0));
    ok(shmemx_mutex_close(mutex)); /* and is still held when the file is closed */
    ok(shmemx_pool_close(file));
    ok(shmemx_file_open(path, "r", &file));
    refuses(EROFS, "rw", shmemx_mutex_find(file, "m", &mutex));
    ok(shmemx_pool_close(file));
    ok(shmemx_file_open(path, "cow", &file));
    refuses(EROFS, "rw", shmemx_mutex_find(file, "m", &mutex));
    ok(shmemx_pool_close(file));
    ok(shmemx_file_open(path, "rw", &file));
    ok(shmemx_mutex_find(file, "m", &mutex));
    refuses(EOWNERDEAD, "died", shmemx_mutex_lock(mutex, 0));
    ok(shmemx_mutex_consistent(mutex));
    ok(shmemx_mutex_unlock(mutex));
    ok(shmemx_mutex_destroy(mutex));
    ok(shmemx_pool_close(file));
    unlink(path);
}

/* A pool that was closed while this thread held what lay in it: of what is mapped at its address later it has nothing.
 */
static void pools_that_went(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        shmemx_pool_t mine = make_pool();
        shmemx_rwlock_t lock;
        shmemx_semaphore_t units;
        ok(shmemx_rwlock_create(mine, NULL, 64, &lock));
        ok(shmemx_semaphore_create(mine, NULL, 2, 0, 1, &units));
        refuses(EPERM, "0 units", shmemx_semaphore_post(units, 1));
        ok(shmemx_semaphore_wait(units, 0));
        ok(shmemx_rwlock_wrlock(lock, 0));
        refuses(EDEADLK, "for writing", shmemx_rwlock_rdlock(lock, 0));
        ok(shmemx_rwlock_unlock(lock));
        refuses(EPERM, "neither", shmemx_rwlock_unlock(lock));
        ok(shmemx_rwlock_rdlock(lock, 0));
        refuses(EDEADLK, "for reading", shmemx_rwlock_wrlock(lock, 0));
        ok(shmemx_rwlock_close(lock));
        ok(shmemx_semaphore_close(units));
        ok(shmemx_pool_close(mine));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        pool_test(mutexes),    pool_test(types_differ), pool_test(rwlocks), pool_test(semaphores),
        pool_test(conditions), pool_test(barriers),     pool_test(events),  pool_test(words),
        pool_test(buffers),    pool_test(keys),         pool_test(files),   cmocka_unit_test(pools_that_went)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
