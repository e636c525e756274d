// SPDX-License-Identifier: Apache-2.0
// Memory of devices through the extension interface, on a back end without a driver: each of its calls is made to fail
// once, and then nothing may be left of what was being made, and everything works again. Each test is a process of its
// own, as in device.c.
#include "fake_device.h"
#include "doubles.h"

#include <signal.h>
#include <sys/socket.h>

#include "shmemx.h"

enum { BYTES = 200000, POOL = 1 << 20 };

static char host[BYTES], back[BYTES];

static void fill_host(int seed)
{
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)(i * 11 + i / 256 + seed);
    memset(back, 0, sizeof back);
}

/* ---- one process ---- */

static struct {
    shmemx_device_pool_t pool[2];
    shmemx_stream_t stream;
    shmemx_device_import_t import;
    void *buffer[2], *plain;
    bool adopted;
} it;

#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        int step_rc = (call);                                                                                          \
        if (step_rc < 0)                                                                                               \
            return step_rc;                                                                                            \
    } while (0)

static int copies(void)
{
    STEP(shmemx_device_copy(it.buffer[0], host, BYTES));
    STEP(shmemx_device_copy(it.buffer[1], it.buffer[0], BYTES)); /* to the other device */
    STEP(shmemx_device_copy(back, it.buffer[1], BYTES));
    child_check(memcmp(host, back, BYTES) == 0);
    return 0;
}

static int streams(void)
{
    uint64_t value = 0;
    STEP(shmemx_stream_create("fake", 0, &it.stream));
    STEP(shmemx_copy_on_stream(it.buffer[0], host, BYTES, it.stream));
    STEP(shmemx_stream_query(it.stream));
    STEP(shmemx_write_value_on_stream(it.buffer[0], 77, it.stream));
    STEP(shmemx_wait_value_on_stream(it.buffer[0], SHMEMX_UNTIL_EQUAL, 77, it.stream));
    STEP(shmemx_copy_on_stream(&value, it.buffer[0], sizeof value, it.stream));
    STEP(shmemx_stream_finish(it.stream));
    child_check(value == 77);
    return 0;
}

static int keys(void)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_info_t info;
    STEP(shmemx_export(it.buffer[1], BYTES, NULL, key));
    STEP(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &it.import));
    STEP(shmemx_device_import_info(it.import, &info));
    child_check(info.address == it.buffer[1] && info.bytes == BYTES && info.number == 1);
    return 0;
}

static int plain(void)
{
    int rc = shmemi_device_hal(0)->allocate_plain(0, BYTES, &it.plain);
    STEP(rc);
    STEP(shmemx_device_adopt("fake", 0, it.plain, BYTES));
    it.adopted = true;
    STEP(shmemx_device_copy(it.plain, host, BYTES));
    memset(back, 0, sizeof back);
    STEP(shmemx_device_copy(back, it.plain, BYTES));
    child_check(memcmp(host, back, BYTES) == 0);
    return 0;
}

static int everything(void)
{
    memset(&it, 0, sizeof it);
    for (int i = 0; i < 2; i++) {
        STEP(shmemx_device_pool_create("fake", i, POOL, &it.pool[i]));
        STEP(shmemx_device_alloc(it.pool[i], BYTES, 0, &it.buffer[i]));
    }
    STEP(copies());
    STEP(streams());
    STEP(keys());
    return plain();
}

/* What ends something may fail, once; asked again it does it. */
#define END(what, call)                                                                                                \
    do {                                                                                                               \
        if ((what) && (call) < 0)                                                                                      \
            child_check((call) == 0);                                                                                  \
    } while (0)

static void nothing_is_left(void)
{
    END(it.import, shmemx_device_import_close(it.import));
    if (it.adopted)
        child_check(shmemx_device_disown(it.plain) == 0);
    END(it.plain, shmemi_device_hal(0)->free_plain(0, it.plain));
    if (it.stream)
        child_check(shmemx_stream_destroy(it.stream) == 0);
    for (int i = 0; i < 2; i++)
        END(it.pool[i], shmemx_device_pool_close(it.pool[i]));
}

static void run_each_call_fails(void)
{
    unsigned long n = 1;
    fill_host(1);
    child_check(everything() == 0); /* threads keep streams of their own from here on */
    nothing_is_left();
    unsigned kept = fake_live();
    for (bool any = true; any; n++) {
        fill_host((int)n);
        fake_fail(n, -EIO);
        int rc = everything();
        any = fake_failed();
        if (rc < 0 && (rc != -EIO || !strstr(shmemx_last_error(), "as it was told to"))) {
            fprintf(stderr, "call %lu: %d (%s)\n", n, rc, shmemx_last_error());
            exit(1);
        }
        nothing_is_left();
        any = any || fake_failed();
        fake_fail(0, 0);
        if (fake_live() > kept) {
            fprintf(stderr, "call %lu failed, and %u things are left, not %u\n", n, fake_live(), kept);
            exit(1);
        }
    }
    fprintf(stdout, "# %lu calls were made to fail\n", n - 2);
    child_check(n > 30);
}

/* ---- two processes ---- */

static void send_key(int socket, const char *key)
{
    child_check(write(socket, key, SHMEMX_KEY_TEXT) == SHMEMX_KEY_TEXT);
}

static void owner(int socket)
{
    char key[SHMEMX_KEY_TEXT] = {0}, byte;
    fill_host(3);
    child_check(shmemx_device_pool_create("fake", 1, POOL, &it.pool[0]) == 0);
    child_check(shmemx_device_alloc(it.pool[0], BYTES, 0, &it.buffer[0]) == 0);
    child_check(shmemx_device_copy(it.buffer[0], host, BYTES) == 0);
    child_check(shmemx_export(it.buffer[0], BYTES, NULL, key) == 0);
    send_key(socket, key);
    child_check(read(socket, &byte, 1) == 1); /* the importer is done */
    child_check(shmemx_device_copy(back, it.buffer[0], BYTES) == 0);
    host[0] = 'i'; /* it wrote that */
    child_check(memcmp(host, back, BYTES) == 0);
    child_check(shmemx_device_pool_close(it.pool[0]) == 0);
}

static int import_it(const char *key)
{
    shmemx_device_import_info_t info;
    it.import = NULL;
    STEP(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, 0, &it.import)); /* for the other device */
    STEP(shmemx_device_import_info(it.import, &info));
    STEP(shmemx_device_copy(back, info.address, BYTES));
    child_check(memcmp(host + 1, back + 1, BYTES - 1) == 0);
    STEP(shmemx_device_copy(info.address, "i", 1));
    return 0;
}

static void importer(int socket)
{
    char key[SHMEMX_KEY_TEXT];
    unsigned long n = 1;
    fill_host(3);
    child_check(read(socket, key, sizeof key) == sizeof key);
    child_check(import_it(key) == 0 && shmemx_device_import_close(it.import) == 0);
    unsigned kept = fake_live();
    for (bool any = true; any; n++) {
        fake_fail(n, -EIO);
        int rc = import_it(key);
        END(it.import, shmemx_device_import_close(it.import));
        any = fake_failed();
        fake_fail(0, 0);
        child_check(rc == 0 || rc == -EIO);
        child_check(fake_live() <= kept);
    }
    fprintf(stdout, "# %lu calls were made to fail\n", n - 2);
    child_check(n > 5 && write(socket, "d", 1) == 1);
}

static void run_two_processes(void)
{
    int ends[2];
    child_check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        owner(ends[0]);
        exit(0);
    }
    importer(ends[1]);
    child_succeeds(pid);
}

/* ---- the fake itself ---- */

static void run_untouchable(void)
{
    void *buffer = NULL;
    child_check(shmemx_device_pool_create("fake", 0, POOL, &it.pool[0]) == 0);
    child_check(shmemx_device_alloc(it.pool[0], BYTES, 0, &buffer) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)buffer = 1;
        _exit(0);
    }
    int status;
    child_check(waitpid(pid, &status, 0) == pid && (WIFSIGNALED(status) || WEXITSTATUS(status) != 0));
}

static void run_no_other_type(void)
{
    child_check(shmemx_device_count("fake") == 2);
    child_check(shmemx_device_count("cuda") == -EINVAL);
    int steps = 0;
    child_check(shmemx_device_self_test("fake", 1, &steps) == 0 && steps > 5);
    child_check(fake_live() == 0 && fake_calls() > 20);
}

static void each_call_fails(void **state)
{
    (void)state;
    alone(run_each_call_fails);
}

static void two_processes(void **state)
{
    (void)state;
    alone(run_two_processes);
}

static void the_fake(void **state)
{
    (void)state;
    alone(run_untouchable);
    alone(run_no_other_type);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(the_fake),
        clean_test(each_call_fails),
        clean_test(two_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
