// SPDX-License-Identifier: Apache-2.0
// device KIND LIBRARY OTHER-LIBRARY: memory of devices through the extension interface, on a double of the driver of
// that kind and age; OTHER is a double of the other kind. Each test is a process of its own, since drivers are opened
// once, do not survive fork, and look for leaks when the process ends. Of KIND host-cuda and host-npu host memory
// stands in for devices of both types; LIBRARY is a double for a process that has a driver.
#include "doubles.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "shmemx.h"

static const char *kind, *type, *other_type;
static bool cuda, shares_it, signals, stands_in;
static int last; /* device; the first is 0 */

enum { BYTES = 300000, POOL = 4 << 20 };

static char host[BYTES], back[BYTES];

static void fill(int seed)
{
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)(i * 7 + i / 256 + seed);
    memset(back, 0, sizeof back);
}

static void is_back(int seed)
{
    for (int i = 0; i < BYTES; i++)
        child_check(back[i] == (char)(i * 7 + i / 256 + seed));
}

static shmemx_device_pool_t new_pool(const char *of, int number, void **buffer)
{
    shmemx_device_pool_t pool = NULL;
    good(shmemx_device_pool_create(of, number, POOL, &pool));
    good(shmemx_device_alloc(pool, BYTES, 0, buffer));
    child_check((uintptr_t)*buffer % 512 == 0);
    return pool;
}

/* --- one process -------------------------------------------------------------------------------------------------- */

static void run_pool(void)
{
    shmemx_device_pool_t pool;
    shmemx_device_pool_stats_t stats;
    shmemx_device_info_t info;
    void *a, *b, *c;
    child_check(shmemx_device_count(type) == last + 1);
    child_check(shmemx_device_stands_in(type) == stands_in);
    good(shmemx_device_info(type, last, &info));
    child_check(info.number == last && !strcmp(info.type, type) && info.can_share == shares_it &&
                info.can_signal == signals && strlen(info.id) == 32 && !strchr(info.driver, '.') == stands_in &&
                !strstr(info.name, "host memory in the place of") == !stands_in);
    pool = new_pool(type, 0, &a);
    good(shmemx_device_alloc(pool, 5, 64, &b));
    good(shmemx_device_alloc(pool, 0, 1 << 21, &c));
    child_check((uintptr_t)c % (1 << 21) == 0 && a != b);
    good(shmemx_device_pool_stats(pool, &stats));
    child_check(stats.size == POOL && stats.buffers == 3 && stats.number == 0 && !strcmp(stats.type, type));
    bad(ENOMEM, "the largest free block has", shmemx_device_alloc(pool, POOL, 0, &c));
    bad(EINVAL, "align is 3", shmemx_device_alloc(pool, 1, 3, &c));
    good(shmemx_device_free(pool, a));
    bad(EINVAL, "no buffer of the pool begins at", shmemx_device_free(pool, a));
    bad(EINVAL, "no buffer", shmemx_device_free(pool, (char *)b + 1));
    bad(EINVAL, "no buffer", shmemx_device_free(pool, host));
    good(shmemx_device_pool_close(pool));
    bad(ENODEV, "there is no", shmemx_device_pool_create(type, last + 1, POOL, &pool));
    bad(EINVAL, "'gpu' is no type of device", shmemx_device_pool_create("gpu", 0, POOL, &pool));
    bad(ENOMEM, "cannot make a pool of", shmemx_device_pool_create(type, 0, (size_t)1 << 40, &pool));
    bad(EINVAL, "size is 0", shmemx_device_pool_create(type, 0, 0, &pool));
    shmemx_pool_t plain;
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    attr.size = POOL;
    attr.type = type;
    if (!stands_in) {
        bad(ENOTSUP, "shmemx_device_pool_create", shmemx_pool_create(&attr, &plain));
        return;
    }
    good(shmemx_pool_create(&attr, &plain));
    good(shmemx_pool_close(plain));
}

/* host -> a -> b -> host; a and b anywhere. */
static void around(void *a, void *b, int seed)
{
    fill(seed);
    good(shmemx_device_copy(a, host, BYTES));
    good(shmemx_device_copy(b, a, BYTES));
    good(shmemx_device_copy(back, b, BYTES));
    is_back(seed);
}

static void run_copies(void)
{
    void *a, *b, *c, *d;
    int value = 0;
    shmemx_device_pool_t pool = new_pool(type, 0, &a), second = new_pool(type, last, &c),
                         third = new_pool(other_type, 0, &d);
    good(shmemx_device_alloc(pool, BYTES, 0, &b));
    around(a, b, 1);
    around(a, c, 2);
    around(c, a, 3);
    around(a, d, 4);
    around(d, c, 5);
    fill(6);
    good(shmemx_device_copy(back, host, BYTES));
    is_back(6);
    good(shmemx_device_copy((char *)a + 12, &(int){77}, sizeof(int)));
    good(shmemx_device_copy(&value, (char *)a + 12, sizeof value));
    child_check(value == 77);
    bad(EINVAL, "go beyond its device memory", shmemx_device_copy((char *)a + POOL - 3, host, 4));
    bad(EINVAL, "go beyond", shmemx_device_copy(back, (char *)a + 1, POOL));
    bad(EINVAL, "go beyond its buffer, of which", shmemx_device_copy(a, host, BYTES + 1));
    bad(EINVAL, "go beyond its buffer, of which", shmemx_device_copy(back, b, BYTES + 1));
    good(shmemx_device_copy(a, NULL, 0));
    bad(EINVAL, "source is NULL", shmemx_device_copy(a, NULL, 1));
    good(shmemx_device_pool_close(third));
    good(shmemx_device_pool_close(second));
    good(shmemx_device_pool_close(pool));
}

/* With SHMEM_DEBUG every address is looked up. */
static void run_checked(void)
{
    void *a, *b;
    setenv("SHMEM_DEBUG", "1", 1);
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    shmemx_stream_t stream;
    good(shmemx_device_alloc(pool, 100, 0, &b));
    good(shmemx_stream_create(type, 0, &stream));
    good(shmemx_device_copy((char *)b + 30, host, 70));
    bad(EINVAL, "71 bytes at the target", shmemx_device_copy((char *)b + 30, host, 71));
    bad(EINVAL, "of which 70 bytes begin there", shmemx_copy_on_stream(host, (char *)b + 30, 71, stream));
    bad(EINVAL, "of which 0 bytes begin there", shmemx_device_copy((char *)b + 101, host, 1));
    good(shmemx_device_free(pool, b));
    bad(EINVAL, "in no buffer of its pool", shmemx_device_copy((char *)b + 30, host, 1));
    bad(EINVAL, "in no buffer of its pool", shmemx_copy_on_stream(b, host, 1, stream));
    good(shmemx_stream_destroy(stream));
    good(shmemx_device_pool_close(pool));
}

/* The other device of this process uses the memory, too; there is no third. */
static void run_own_import(void)
{
    void *a;
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t import;
    shmemx_device_import_info_t info;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    if (!shares_it) {
        good(shmemx_device_pool_close(pool));
        return;
    }
    good(shmemx_export(a, BYTES, NULL, key));
    bad(ENODEV, "there is no", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, 77, &import));
    bad(EINVAL, "number is -2", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -2, &import));
    for (int number = -1; number <= last; number++) {
        good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, number, &import));
        good(shmemx_device_import_info(import, &info));
        child_check(info.address == a && info.number == (number == 1));
        good(shmemx_device_import_close(import));
    }
    good(shmemx_device_pool_close(pool));
}

/* From one place in device memory to another, wherever they are: Ascend's copies between them want multiples of 64. */
static void run_unaligned(void)
{
    static const int places[][3] = {{1, 1, 1000},   {65, 1, 5000}, {3, 64, 4097},
                                    {64, 128, 999}, {7, 7, 20},    {60, 124, 4}};
    void *a, *b;
    shmemx_stream_t stream;
    shmemx_device_pool_t pool = new_pool(type, 0, &a), second = new_pool(type, last, &b);
    fill(1);
    good(shmemx_device_copy(a, host, BYTES));
    good(shmemx_stream_create(type, 0, &stream));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int from = places[i][0], to = places[i][1], bytes = places[i][2];
        memset(back, 0x5a, sizeof back);
        good(shmemx_device_copy(b, back, 10000));
        good(shmemx_device_copy((char *)b + to, (char *)a + from, (size_t)bytes));
        good(shmemx_device_copy(back, b, 10000));
        child_check(memcmp(back + to, host + from, (size_t)bytes) == 0);
        child_check(back[to - 1] == 0x5a && back[to + bytes] == 0x5a);
        if (cuda || stands_in || (from % 64 == 0 && to % 64 == 0))
            good(shmemx_copy_on_stream((char *)a + 100032 + to, (char *)a + from, (size_t)bytes, stream));
        else
            bad(ENOTSUP, "multiples of 64",
                shmemx_copy_on_stream((char *)a + 100032 + to, (char *)a + from, (size_t)bytes, stream));
    }
    good(shmemx_stream_destroy(stream));
    good(shmemx_device_pool_close(second));
    good(shmemx_device_pool_close(pool));
}

static void run_without_peers(void)
{
    void *a, *c;
    setenv("DOUBLE_PEERS", "0", 1);
    shmemx_device_pool_t pool = new_pool(type, 0, &a), second = new_pool(type, last, &c);
    child_check(shmemx_device_can_reach(type, 0, 1) == 0 && shmemx_device_can_reach(type, 0, 0) == 1);
    around(a, c, 1);
    good(shmemx_device_pool_close(second));
    good(shmemx_device_pool_close(pool));
}

/* The one stream, where there is no double to hold all. */
static void hold(int on, shmemx_device_pool_t pool, shmemx_stream_t stream)
{
    static void *gate;
    if (!stands_in)
        hold_streams(on);
    else if (on) {
        good(shmemx_device_alloc(pool, 8, 0, &gate));
        good(shmemx_device_copy(gate, &(uint64_t){0}, 8));
        good(shmemx_wait_value_on_stream(gate, SHMEMX_UNTIL_EQUAL, 1, stream));
    } else
        good(shmemx_device_copy(gate, &(uint64_t){1}, 8));
}

static void run_streams(void)
{
    void *a, *b;
    shmemx_stream_t stream, wrapped;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    good(shmemx_device_alloc(pool, BYTES, 0, &b));
    good(shmemx_stream_create(type, 0, &stream));
    fill(1);
    hold(1, pool, stream);
    good(shmemx_copy_on_stream(a, host, BYTES, stream));
    good(shmemx_copy_on_stream(b, a, BYTES, stream));
    good(shmemx_copy_on_stream(back, b, BYTES, stream));
    child_check(shmemx_stream_query(stream) == 0);
    hold(0, pool, stream);
    good(shmemx_stream_finish(stream));
    child_check(shmemx_stream_query(stream) == 1);
    is_back(1);
    good(shmemx_stream_wrap(type, 0, shmemx_stream_native(stream), &wrapped));
    fill(2);
    good(shmemx_copy_on_stream(a, host, BYTES, wrapped));
    good(shmemx_copy_on_stream(back, a, BYTES, stream));
    good(shmemx_stream_finish(wrapped));
    is_back(2);
    good(shmemx_stream_destroy(wrapped));
    bad(EINVAL, "neither", shmemx_copy_on_stream(back, host, BYTES, stream));
    if (signals) {
        uint64_t seen = 0;
        good(shmemx_write_value_on_stream(a, 41, stream));
        good(shmemx_wait_value_on_stream(a, SHMEMX_UNTIL_AT_LEAST, 41, stream));
        good(shmemx_copy_on_stream(&seen, a, 8, stream));
        good(shmemx_stream_finish(stream));
        child_check(seen == 41);
        bad(EINVAL, "multiple of 8", shmemx_write_value_on_stream((char *)a + 4, 1, stream));
        bad(EINVAL, "in no device memory", shmemx_write_value_on_stream(back, 1, stream));
    } else
        bad(ENOTSUP, "which came with", shmemx_write_value_on_stream(a, 1, stream));
    good(shmemx_stream_destroy(stream));
    good(shmemx_device_pool_close(pool));
}

/* Warm, a copy on a stream is one call of the driver and nothing else; one that is waited for has its finish beside it.
 */
static void run_counts(void)
{
    void *a;
    shmemx_stream_t stream;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    good(shmemx_stream_create(type, 0, &stream));
    good(shmemx_copy_on_stream(a, host, BYTES, stream));
    unsigned long before = calls();
    for (int i = 0; i < 10; i++)
        good(shmemx_copy_on_stream(a, host, BYTES, stream));
    child_check(calls() - before == 10);
    if (signals) {
        good(shmemx_write_value_on_stream(a, 1, stream));
        child_check(calls() - before == 11);
    }
    good(shmemx_stream_finish(stream));
    good(shmemx_device_copy(a, host, BYTES));
    before = calls();
    good(shmemx_device_copy(a, host, BYTES));
    child_check(calls() - before <= 3); /* copy, finish, and the question which device is current */
    good(shmemx_stream_destroy(stream));
    good(shmemx_device_pool_close(pool));
}

/* Columns there, and closer together back; all of them with one wait. What is between them stays. */
static void run_blocks(void)
{
    enum { ROWS = 100, ROW = 64, PART = 12 };
    void *a, *b;
    shmemx_device_pool_t pool = new_pool(type, 0, &a), second = new_pool(type, last, &b);
    fill(1);
    good(shmemx_device_copy(a, host, BYTES));
    memset(back, 0x5a, sizeof back);
    good(shmemx_device_copy_blocks((char *)a + 4, ROW, back, PART, PART, ROWS));
    unsigned long before = stands_in ? 0 : calls();
    good(shmemx_device_copy_blocks((char *)a + 4, ROW, back, 0, PART, ROWS));
    child_check(stands_in || calls() - before <= ROWS + 2);
    good(shmemx_device_copy(back, a, BYTES));
    for (int i = 0; i < BYTES; i++)
        child_check(back[i] == (i < ROWS * ROW && i % ROW >= 4 && i % ROW < 4 + PART ? 0x5a : host[i]));
    good(shmemx_device_copy_blocks(back, PART, (char *)a + 20, ROW, PART, ROWS));
    good(shmemx_device_copy_blocks(b, PART, (char *)a + 20, ROW, PART, ROWS));
    good(shmemx_device_copy(back + BYTES / 2, b, PART * ROWS));
    for (int i = 0; i < ROWS * PART; i++)
        child_check(back[i] == host[i / PART * ROW + 20 + i % PART] && back[BYTES / 2 + i] == back[i]);
    good(shmemx_device_copy_blocks(a, 1, host, 1, 0, 5));
    good(shmemx_device_copy_blocks(a, 1, host, 1, 5, 0));
    bad(EINVAL, "source is NULL", shmemx_device_copy_blocks(a, 1, NULL, 1, 1, 1));
    bad(EINVAL, "beyond the address space", shmemx_device_copy_blocks(a, SIZE_MAX / 4, host, 0, 1, 100));
    bad(EINVAL, "beyond the address space", shmemx_device_copy_blocks(a, SIZE_MAX, host, 0, 1, 2));
    bad(EINVAL, "go beyond its device memory", shmemx_device_copy_blocks(a, POOL / 2, host, 0, 8, 3));
    bad(EINVAL, "go beyond its device memory", shmemx_device_copy_blocks(back, 0, a, POOL / 2, 8, 3));
    good(shmemx_device_pool_close(second));
    good(shmemx_device_pool_close(pool));
}

/* Another library changes the thread's device in between. */
static void run_other_device(void)
{
    void *a, *c;
    shmemx_stream_t first, second;
    shmemx_device_pool_t pool = new_pool(type, 0, &a), other = new_pool(type, last, &c);
    good(shmemx_stream_create(type, 0, &first));
    good(shmemx_stream_create(type, 1, &second));
    for (int i = 0; i < 3; i++) {
        fill(i);
        good(shmemx_copy_on_stream(a, host, BYTES, first));
        good(shmemx_copy_on_stream(c, host, BYTES, second));
        if (!cuda) {
            int (*set_device)(int32_t) = NULL;
            void *found = in_double("aclrtSetDevice");
            memcpy(&set_device, &found, sizeof set_device);
            child_check(set_device(i % 2) == 0);
        }
        good(shmemx_copy_on_stream(back, a, BYTES, first));
        good(shmemx_stream_finish(first));
        good(shmemx_stream_finish(second));
        is_back(i);
    }
    good(shmemx_stream_destroy(first));
    good(shmemx_stream_destroy(second));
    good(shmemx_device_pool_close(other));
    good(shmemx_device_pool_close(pool));
}

static void run_adopt(void)
{
    void *a, *b = NULL;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    bad(EEXIST, "known already", shmemx_device_adopt(type, 0, a, 10));
    if (!cuda && !stands_in) {
        int (*allocate)(void **, size_t, int) = NULL, (*release)(void *) = NULL;
        void *found = in_double("aclrtMalloc");
        memcpy(&allocate, &found, sizeof allocate);
        found = in_double("aclrtFree");
        memcpy(&release, &found, sizeof release);
        child_check(allocate(&b, BYTES, 0) == 0);
        if (!strstr(kind, "70"))
            bad(EINVAL, "adopt it", shmemx_device_copy(b, host, BYTES));
        good(shmemx_device_adopt(type, 0, b, BYTES));
        around(a, b, 3);
        good(shmemx_device_disown(b));
        bad(ENOENT, "no device memory", shmemx_device_disown(b));
        child_check(release(b) == 0);
    }
    bad(EINVAL, "of a pool", shmemx_device_disown((char *)a));
    good(shmemx_device_pool_close(pool));
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 4, TURNS = 30, PART = 5000 };

static shmemx_device_pool_t common;

static void *work(void *argument)
{
    int me = (int)(intptr_t)argument;
    unsigned char mine[PART], seen[PART];
    for (int turn = 0; turn < TURNS; turn++) {
        shmemx_stream_t stream;
        shmemx_device_pool_t own;
        void *a, *b;
        memset(mine, me * TURNS + turn, sizeof mine);
        good(shmemx_device_alloc(common, PART, 0, &a));
        good(shmemx_device_pool_create(type, me % (last + 1), PART, &own));
        good(shmemx_device_alloc(own, PART, 0, &b));
        good(shmemx_device_copy(a, mine, PART));
        good(shmemx_stream_create(type, me % (last + 1), &stream));
        good(shmemx_copy_on_stream(b, a, PART, stream));
        good(shmemx_stream_finish(stream));
        good(shmemx_device_copy(seen, b, PART));
        child_check(!memcmp(mine, seen, PART));
        if (shares_it) {
            char key[SHMEMX_KEY_TEXT];
            shmemx_device_import_t import;
            good(shmemx_export(a, PART, NULL, key));
            good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import));
            good(shmemx_device_import_close(import));
        }
        good(shmemx_stream_destroy(stream));
        good(shmemx_device_pool_close(own));
        good(shmemx_device_free(common, a));
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    good(shmemx_device_pool_create(type, 0, POOL, &common));
    for (int i = 0; i < THREADS; i++)
        child_check(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    good(shmemx_device_pool_close(common));
}

static void run_fork(void)
{
    void *a;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    pid_t pid = fork();
    if (pid == 0) {
        bad(EPERM, "do not survive", shmemx_device_copy(a, host, 8));
        bad(EPERM, "do not survive", shmemx_device_alloc(pool, 8, 0, &a));
        child_check(shmemx_device_count(type) == -EPERM && shmemx_device_pool_close(pool) == -EPERM);
        exit(0);
    }
    int status = -1;
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
    good(shmemx_device_pool_close(pool));
}

/* The driver has gone before this library ends: nothing crashes, nothing is said. */
static void run_driver_gone_first(void)
{
    void *a;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    good(shmemx_device_copy(a, host, BYTES));
    (void)pool;
    *(int *)in_double("double_gone") = cuda ? 4 : 100037;
    child_check(shmemx_device_copy(a, host, BYTES) < 0);
}

static int try_everything(int n)
{
    shmemx_device_pool_t pool = NULL;
    shmemx_stream_t stream = NULL;
    void *a;
    char key[SHMEMX_KEY_TEXT];
    fail_call("*", n, cuda ? 999 : 507899);
    int rc = shmemx_device_pool_create(type, 0, POOL, &pool);
    if (rc == 0 && (rc = shmemx_device_alloc(pool, BYTES, 0, &a)) == 0 &&
        (rc = shmemx_stream_create(type, 0, &stream)) == 0 &&
        (rc = shmemx_copy_on_stream(a, host, BYTES, stream)) == 0 && (rc = shmemx_stream_finish(stream)) == 0 &&
        (rc = shmemx_device_copy(back, a, BYTES)) == 0 && shares_it)
        rc = shmemx_export(a, BYTES, NULL, key);
    fail_call("", 0, 0);
    if (stream)
        good(shmemx_stream_destroy(stream));
    if (pool)
        good(shmemx_device_pool_close(pool));
    return rc;
}

static void run_each_call_fails(void)
{
    int n = 0, rc;
    child_check(shmemx_device_count(type) == 2);
    for (unsigned long before = 0; n++, rc = try_everything(n), failures() > before; before = failures())
        child_check(rc == 0 || (rc == -EIO && strstr(shmemx_last_error(), cuda ? "999" : "507899")));
    child_check(rc == 0 && n > 8);
}

/* --- two processes ------------------------------------------------------------------------------------------------ */

struct letter {
    char key[SHMEMX_KEY_TEXT];
};

static void post(int socket, const char *key)
{
    struct letter letter = {0};
    snprintf(letter.key, sizeof letter.key, "%s", key);
    child_check(write(socket, &letter, sizeof letter) == sizeof letter);
}

static const char *fetch(int socket)
{
    static struct letter letter;
    child_check(read(socket, &letter, sizeof letter) == sizeof letter);
    return letter.key;
}

/* Two new processes with a socket between them; both have to end well, unless one is to be killed. */
static void together(void (*owner)(int), void (*importer)(int), bool owner_dies)
{
    int ends[2], status = -1;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t first = fork();
    if (first == 0) {
        close(ends[1]);
        owner(ends[0]);
        exit(0);
    }
    close(ends[0]);
    pid_t second = fork();
    if (second == 0) {
        importer(ends[1]);
        exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_int_equal(status, owner_dies ? SIGKILL : 0);
    child_succeeds(second);
}

/* On the last device, of which the importer of a double has another number. */
static void owner(int socket)
{
    void *a, *b;
    char key[SHMEMX_KEY_TEXT], second[SHMEMX_KEY_TEXT], narrow[SHMEMX_KEY_TEXT];
    shmemx_device_pool_t pool = new_pool(type, last, &a);
    shmemx_export_attr_t attr = SHMEMX_EXPORT_ATTR;
    shmemx_device_import_t own;
    shmemx_device_import_info_t info;
    good(shmemx_device_alloc(pool, BYTES, 0, &b));
    attr.note = "a note";
    attr.note_bytes = 6;
    good(shmemx_export(b, BYTES, &attr, key));
    good(shmemx_export((char *)b + 100, 50, NULL, second));
    attr.rights = SHMEMX_RIGHT_READ;
    good(shmemx_export(b, BYTES, &attr, narrow));
    bad(EINVAL, "end beyond the buffer", shmemx_export(b, BYTES + 600, NULL, second));
    attr.frozen = 1;
    bad(ENOTSUP, "cannot be frozen", shmemx_export(b, BYTES, &attr, second));
    attr.frozen = 0;
    attr.allow = &(shmemx_allow_t){.kind = SHMEMX_ALLOW_USER, .rights = SHMEMX_RIGHT_READ, .id = 1};
    attr.allowed = 1;
    bad(EACCES, "processes of this user only", shmemx_export(b, BYTES, &attr, second));
    good(shmemx_export((char *)b + 100, 50, NULL, second));
    good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
    good(shmemx_device_import_info(own, &info));
    child_check(info.address == b && info.number == last);
    bad(EBUSY, "1 imports", shmemx_device_pool_close(pool));
    good(shmemx_device_import_close(own));
    fill(1);
    good(shmemx_device_copy(b, host, BYTES));
    post(socket, key);
    post(socket, second);
    post(socket, narrow);
    fetch(socket);
    good(shmemx_device_copy(back, b, BYTES));
    is_back(2);
    good(shmemx_revoke(key, 0));
    bad(EKEYREVOKED, "revoked", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
    post(socket, "revoked");
    fetch(socket);
    good(shmemx_device_free(pool, b));
    post(socket, "freed");
    fetch(socket);
    good(shmemx_device_pool_close(pool));
}

static void importer(int socket)
{
    char key[SHMEMX_KEY_TEXT], second[SHMEMX_KEY_TEXT], narrow[SHMEMX_KEY_TEXT];
    shmemx_device_import_t one, two, three, none;
    shmemx_device_import_info_t info, info2;
    shmemx_import_t plain;
    setenv("DOUBLE_FIRST", "1", 1);
    setenv("DOUBLE_DEVICES", "1", 1);
    snprintf(key, sizeof key, "%s", fetch(socket));
    snprintf(second, sizeof second, "%s", fetch(socket));
    snprintf(narrow, sizeof narrow, "%s", fetch(socket));
    bad(EMEDIUMTYPE, "memory of a device", shmemx_import(key, SHMEMX_IMPORT_WRITE, NULL, &plain));
    bad(EACCES, "reading and writing", shmemx_device_import(narrow, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    bad(EINVAL, "for reading", shmemx_device_import(key, SHMEMX_IMPORT_COW, NULL, -1, &none));
    bad(ENODEV, "there is no", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, 1, &none));
    good(shmemx_device_import(narrow, SHMEMX_IMPORT_READ, NULL, -1, &three));
    good(shmemx_device_import_info(three, &info));
    child_check(info.number == 0 && info.bytes == BYTES && info.read_only && info.note_bytes == 6 &&
                !memcmp(info.note, "a note", 6) && !strcmp(info.type, type));
    good(shmemx_device_copy(back, info.address, BYTES));
    is_back(1);
    bad(EACCES, "imported for reading only", shmemx_device_copy(info.address, host, BYTES));
    good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, 0, &one));
    good(shmemx_device_import(second, SHMEMX_IMPORT_WRITE, NULL, -1, &two));
    good(shmemx_device_import_info(one, &info));
    good(shmemx_device_import_info(two, &info2));
    child_check((char *)info2.address == (char *)info.address + 100 && info2.bytes == 50);
    fill(2);
    good(shmemx_device_copy(info.address, host, BYTES));
    good(shmemx_device_import_close(one));
    post(socket, "written");
    fetch(socket);
    bad(EKEYREVOKED, "revoked", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    good(shmemx_device_import_close(two));
    good(shmemx_device_import_close(three));
    post(socket, "closed");
    fetch(socket);
    bad(EKEYREVOKED, "revoked", shmemx_device_import(second, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "seen");
}

/* The owner is killed while its memory is mapped. */
static void killed_owner(int socket)
{
    void *a;
    char key[SHMEMX_KEY_TEXT];
    new_pool(type, 0, &a);
    good(shmemx_export(a, BYTES, NULL, key));
    post(socket, key);
    fetch(socket);
    kill(getpid(), SIGKILL);
}

static void bereaved(int socket)
{
    char key[SHMEMX_KEY_TEXT], byte;
    shmemx_device_import_t import, none;
    snprintf(key, sizeof key, "%s", fetch(socket));
    good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import));
    post(socket, "mapped");
    child_check(read(socket, &byte, 1) == 0);
    bad(EKEYEXPIRED, "nobody living", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    good(shmemx_device_import_close(import));
}

static void sees_no_device(int socket)
{
    shmemx_device_import_t none;
    char key[SHMEMX_KEY_TEXT];
    snprintf(key, sizeof key, "%s", fetch(socket));
    setenv("DOUBLE_FIRST", "2", 1);
    bad(ENODEV, "is not among the 2 that this process sees",
        shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "so it is");
}

/* Host memory stands in on one side only: there is a driver here, or this process does without. */
static void has_a_driver(int socket)
{
    shmemx_device_import_t none;
    char key[SHMEMX_KEY_TEXT];
    snprintf(key, sizeof key, "%s", fetch(socket));
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", library, 1);
    bad(ENODEV, "and this process has a device of that type",
        shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "so it is");
}

static void does_without(int socket)
{
    shmemx_device_import_t none;
    char key[SHMEMX_KEY_TEXT];
    snprintf(key, sizeof key, "%s", fetch(socket));
    unsetenv("SHMEM_DEVICE_FALLBACK");
    bad(ENODEV, "can do so here, too, with SHMEM_DEVICE_FALLBACK=host",
        shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    child_check(strstr(shmemx_last_error(), "cannot be opened"));
    post(socket, "so it is");
}

static void has_a_stand_in(int socket)
{
    shmemx_device_import_t none;
    char key[SHMEMX_KEY_TEXT];
    snprintf(key, sizeof key, "%s", fetch(socket));
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", "/nonexistent/driver.so", 1);
    setenv("SHMEM_DEVICE_FALLBACK", "host", 1);
    setenv("SHMEM_LOG", "error", 1);
    bad(ENODEV, "host memory stands in here", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "so it is");
}

static void has_no_driver(int socket)
{
    shmemx_device_import_t none;
    char key[SHMEMX_KEY_TEXT];
    snprintf(key, sizeof key, "%s", fetch(socket));
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", "/nonexistent/driver.so", 1);
    bad(ENODEV, "cannot be opened", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "so it is");
}

static void is_killed(int socket)
{
    shmemx_device_import_t import;
    good(shmemx_device_import(fetch(socket), SHMEMX_IMPORT_WRITE, NULL, -1, &import));
    post(socket, "mapped");
    kill(getpid(), SIGKILL);
}

/* Serves whoever comes, and has all its memory back when they are gone. */
static void patient_owner(int socket)
{
    void *a;
    char key[SHMEMX_KEY_TEXT], byte;
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    good(shmemx_export(a, BYTES, NULL, key));
    post(socket, key);
    fetch(socket);
    while (read(socket, &byte, 1) > 0)
        ;
    good(shmemx_device_free(pool, a));
    good(shmemx_device_pool_close(pool));
    pool = new_pool(type, 0, &a);
    good(shmemx_device_copy(a, host, BYTES));
    good(shmemx_device_pool_close(pool));
}

static void cannot_share(void)
{
    void *a;
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_pool_t pool = new_pool(type, 0, &a);
    bad(ENOTSUP, "it has no aclrtMemGetAllocationGranularity, which came with CANN 8.0.RC2",
        shmemx_export(a, BYTES, NULL, key));
    good(shmemx_device_pool_close(pool));
}

/* Handles that were closed, as the first of many and as the last. */
static void run_stale(void)
{
    void *a, *b;
    uint64_t word = 0;
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_pool_stats_t stats;
    shmemx_device_import_info_t info;
    shmemx_device_import_t import = NULL;
    shmemx_stream_t stream = NULL;
    shmemx_device_pool_t pool = new_pool(type, 0, &a), gone = new_pool(type, 0, &b);
    good(shmemx_device_pool_close(gone));
    for (int i = 0; i < 300; i++) {
        bad(EBADF, "pool is 0x", shmemx_device_pool_close(gone));
        good(shmemx_stream_create(type, 0, &stream));
        good(shmemx_stream_destroy(stream));
        bad(EBADF, "stream is 0x", shmemx_stream_destroy(stream));
    }
    bad(EBADF, "closed", shmemx_device_alloc(gone, 8, 0, &b));
    bad(EBADF, "closed", shmemx_device_free(gone, b));
    bad(EBADF, "closed", shmemx_device_pool_stats(gone, &stats));
    bad(EBADF, "closed", shmemx_stream_finish(stream));
    bad(EBADF, "closed", shmemx_stream_query(stream));
    bad(EBADF, "closed", shmemx_copy_on_stream(a, host, 8, stream));
    bad(EBADF, "closed", shmemx_write_value_on_stream(&word, 1, stream));
    bad(EBADF, "closed", shmemx_wait_value_on_stream(&word, SHMEMX_UNTIL_EQUAL, 1, stream));
    bad(EBADF, "closed", shmemx_put_on_stream(NULL, 0, host, 8, stream));
    bad(EBADF, "closed", shmemx_quiet_on_stream(stream));
    child_check(!shmemx_stream_native(stream) && strstr(shmemi_last_error(), "shmemx_stream_native: stream is 0x"));
    bad(EBADF, "one of a device pool", shmemx_stream_destroy((shmemx_stream_t)(void *)pool));
    bad(EINVAL, "stream is NULL", shmemx_stream_destroy(NULL));
    if (shares_it) {
        good(shmemx_export(a, BYTES, NULL, key));
        good(shmemx_device_import(key, SHMEMX_IMPORT_READ, NULL, -1, &import));
        bad(EBUSY, "imports of the pool's own keys", shmemx_device_pool_close(pool)); /* which stays */
        good(shmemx_device_import_close(import));
        bad(EBADF, "import is 0x", shmemx_device_import_close(import));
        bad(EBADF, "closed", shmemx_device_import_info(import, &info));
    }
    good(shmemx_device_pool_close(pool));
}

static void host_key_owner(int socket)
{
    shmemx_pool_t pool;
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    void *a;
    char key[SHMEMX_KEY_TEXT];
    attr.size = POOL;
    good(shmemx_pool_create(&attr, &pool));
    good(shmemx_pool_alloc(pool, 100, 0, 0, &a));
    good(shmemx_export(a, 100, NULL, key));
    post(socket, key);
    fetch(socket);
    good(shmemx_pool_close(pool));
}

static void wants_device(int socket)
{
    shmemx_device_import_t none;
    bad(EMEDIUMTYPE, "host memory", shmemx_device_import(fetch(socket), SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "so it is");
}

/* --- the tests ---------------------------------------------------------------------------------------------------- */

static void one_process(void **state)
{
    (void)state;
    alone(run_pool);
    alone(run_stale);
    alone(run_copies);
    alone(run_checked);
    alone(run_own_import);
    alone(run_unaligned);
    alone(run_streams);
    alone(run_blocks);
    if (!stands_in) {
        alone(run_without_peers);
        alone(run_counts);
        alone(run_other_device);
    }
    alone(run_adopt);
    alone(run_threads);
    alone(run_fork);
}

static void faults(void **state)
{
    (void)state;
    if (stands_in)
        return;
    alone(run_driver_gone_first);
    alone(run_each_call_fails);
}

static void two_processes(void **state)
{
    (void)state;
    if (!shares_it) {
        alone(cannot_share);
        return;
    }
    together(owner, importer, false);
    together(killed_owner, bereaved, true);
    if (stands_in) {
        together(patient_owner, has_a_driver, false);
        together(patient_owner, does_without, false);
    } else {
        together(patient_owner, sees_no_device, false);
        together(patient_owner, has_no_driver, false);
        together(patient_owner, has_a_stand_in, false);
    }
    together(host_key_owner, wants_device, false);
}

static void importer_dies(void **state)
{
    int ends[2], status;
    (void)state;
    if (!shares_it)
        return;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t first = fork();
    if (first == 0) {
        close(ends[1]);
        patient_owner(ends[0]);
        exit(0);
    }
    close(ends[0]);
    pid_t second = fork();
    if (second == 0)
        is_killed(ends[1]);
    close(ends[1]);
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_int_equal(status, SIGKILL);
    child_succeeds(first);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        clean_test(one_process),
        clean_test(faults),
        clean_test(two_processes),
        clean_test(importer_dies),
    };
    if (argc != 4)
        return 2;
    kind = argv[1];
    library = argv[2];
    cuda = strstr(kind, "cuda") != NULL;
    type = cuda ? "cuda" : "npu";
    other_type = cuda ? "npu" : "cuda";
    stands_in = strstr(kind, "host") != NULL;
    last = stands_in ? 0 : 1;
    shares_it = !strstr(kind, "70");
    signals = stands_in || strstr(kind, "130") || strstr(kind, "85");
    if (stands_in) {
        setenv("SHMEM_DEVICE_FALLBACK", "host", 1);
        setenv("SHMEM_LOG", "error", 1);
        setenv("SHMEM_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
        setenv("SHMEM_ASCEND_LIBRARY", "/nonexistent/libacl_rt.so", 1);
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", library, 1);
    setenv(cuda ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY", argv[3], 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
