// SPDX-License-Identifier: Apache-2.0
// Handles that were closed: using one is an error that says so, also when many others were closed since. What streams,
// pools and imports of devices do is in device/device.c.
#include "shmemx.h"
#include "unit.h"

enum { MANY = 700 }; /* more than are kept of any type before they are used again */

static shmemx_pool_t new_pool(void)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t pool = NULL;
    attr.size = attr.max_size = 1 << 20;
    ok(shmemx_pool_create(&attr, &pool));
    return pool;
}

static shmemx_import_t new_import(const char *key)
{
    shmemx_import_t import = NULL;
    ok(shmemx_import(key, SHMEMX_IMPORT_WRITE, NULL, &import));
    return import;
}

static void imports(void **state)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_import_info_t info;
    uint64_t before;
    void *buffer;
    (void)state;
    shmemx_pool_t pool = new_pool();
    ok(shmemx_pool_alloc(pool, 64, 0, 0, &buffer));
    ok(shmemx_export(buffer, 64, NULL, key));
    shmemx_import_t import = new_import(key);
    ok(shmemx_import_close(import));
    for (int i = 0; i < MANY; i++) {
        refuses(EBADF, "import is 0x", shmemx_import_close(import));
        refuses(EBADF, "closed", shmemx_import_info(import, &info));
        refuses(EBADF, "closed", shmemx_import_atomic(import, SHMEMX_KEY_ADD, 8, 0, 1, 0, &before));
        import = new_import(key);
        ok(shmemx_import_info(import, &info));
        ok(shmemx_import_close(import));
    }
    refuses(EINVAL, "import is NULL", shmemx_import_close(NULL));
    refuses(EINVAL, "import is NULL", shmemx_import_info(NULL, &info));
    ok(shmemx_pool_close(pool));
}

/* Of which the oldest is long gone. */
static void oldest(void **state)
{
    shmemx_pool_t pool = new_pool();
    shmemx_event_t event, first_event;
    shmemx_queue_t queue, first_queue;
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    attr.item_bytes = 8;
    (void)state;
    ok(shmemx_event_create(pool, NULL, 0, 0, &first_event));
    ok(shmemx_event_destroy(first_event));
    ok(shmemx_queue_create(pool, NULL, &attr, &first_queue));
    ok(shmemx_queue_destroy(first_queue));
    for (int i = 0; i < MANY; i++) {
        ok(shmemx_event_create(pool, NULL, 0, 0, &event));
        ok(shmemx_event_destroy(event));
        ok(shmemx_queue_create(pool, NULL, &attr, &queue));
        ok(shmemx_queue_destroy(queue));
    }
    refuses(EBADF, "closed", shmemx_event_set(first_event));
    refuses(EBADF, "closed", shmemx_event_close(first_event));
    refuses(EBADF, "closed", shmemx_queue_try_push(first_queue, &attr, 8));
    refuses(EBADF, "closed", shmemx_queue_close(first_queue));
    ok(shmemx_pool_close(pool));
}

static void pools(void **state)
{
    shmemx_pool_t first = new_pool();
    void *buffer;
    (void)state;
    ok(shmemx_pool_close(first));
    for (int i = 0; i < 150; i++)
        ok(shmemx_pool_close(new_pool()));
    refuses(EBADF, "closed", shmemx_pool_close(first));
    refuses(EBADF, "closed", shmemx_pool_alloc(first, 8, 0, 0, &buffer));
}

static void groups(void **state)
{
    shmemx_group_t group = NULL;
    shmemx_group_of_t of = {.count = 1, .type = SHMEMX_INT64};
    shmemx_group_request_t request, other;
    int64_t x = 1;
    char key[SHMEMX_KEY_TEXT];
    (void)state;
    ok(shmemx_group_create(1, 0, &group));
    ok(shmemx_group_send_begin(group, &x, of, 0, 5, 10, &request));
    ok(shmemx_group_recv_begin(group, &x, of, 0, 5, 10, &other));
    ok(shmemx_group_request_end(other, 1, NULL));
    refuses(EBADF, "request is 0x", shmemx_group_request_end(other, 1, NULL));
    ok(shmemx_group_request_end(request, 1, NULL));
    refuses(EBADF, "closed", shmemx_group_request_end(request, 0, NULL));
    ok(shmemx_group_recv_begin(group, &x, of, 0, 6, 10, &request)); /* which nobody sends */
    refuses(EBADF, "one of a process group", shmemx_group_request_end((shmemx_group_request_t)(void *)group, 0, NULL));
    ok(shmemx_group_close(group));
    refuses(EBADF, "the group of the request was closed", shmemx_group_request_end(request, 1, NULL));
    refuses(EBADF, "group is 0x", shmemx_group_close(group));
    refuses(EBADF, "closed", shmemx_group_barrier(group, 1));
    refuses(EBADF, "closed", shmemx_group_all_reduce(group, &x, of, SHMEMX_SUM, 1));
    refuses(EBADF, "closed", shmemx_group_rank(group));
    refuses(EBADF, "closed", shmemx_group_key(group, key));
    refuses(EBADF, "closed", shmemx_group_recv_begin(group, &x, of, 0, 6, 10, &request));
    refuses(EINVAL, "group is NULL", shmemx_group_ranks(NULL));
}

/* As programs that fork use them: the child's handles are the child's. */
static void in_children(void **state)
{
    char key[SHMEMX_KEY_TEXT];
    void *buffer;
    (void)state;
    shmemx_pool_t pool = new_pool();
    ok(shmemx_pool_alloc(pool, 64, 0, 0, &buffer));
    ok(shmemx_export(buffer, 64, NULL, key));
    shmemx_import_t import = new_import(key);
    pid_t pid = fork();
    if (pid == 0) {
        child_check(shmemx_import_close(import) == 0);
        child_check(shmemx_import_close(import) == -EBADF);
        _exit(0);
    }
    child_succeeds(pid);
    ok(shmemx_import_close(import));
    ok(shmemx_pool_close(pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {clean_test(imports), clean_test(oldest), clean_test(pools), clean_test(groups),
                                       clean_test(in_children)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
