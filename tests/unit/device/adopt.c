// SPDX-License-Identifier: Apache-2.0
// adopt KIND LIBRARY: memory of devices that other libraries allocated, through the extension interface, on a double of
// the driver of that kind and age. Each test is a process of its own, as in device.c. Of KIND host-cuda and host-npu it
// is any host memory, which stands in; LIBRARY is not used.
#include "doubles.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "hal/device.h"
#include "shmemx.h"

static const struct shmemi_device_hal *hal;
static const char *kind, *type;
static bool cuda, shares_it, tells, stands_in;
static int last; /* device; the first is 0 */

enum { BYTES = 300000, PART = 5000 };

static char host[PART], back[PART];

static void fill(int seed)
{
    for (int i = 0; i < PART; i++)
        host[i] = (char)(i * 7 + i / 256 + seed);
    memset(back, 0, sizeof back);
}

static void is_back(int seed)
{
    for (int i = 0; i < PART; i++)
        child_check(back[i] == (char)(i * 7 + i / 256 + seed));
}

/* As another library has it. */
static char *allocate(int device, size_t bytes)
{
    void *at = NULL;
    int count;
    good(hal->open(&count));
    good(hal->allocate_plain(device, bytes, &at));
    return at;
}

/* --- one process -------------------------------------------------------------------------------------------------- */

static void run_adopt(void)
{
    shmemx_device_pointer_info_t info;
    shmemx_stream_t stream;
    const char *of;
    int number;
    char *plain = allocate(last, BYTES), *a = plain + 1000;
    if (tells) {
        /* Device 0, which nothing is done with, is not taken into use for the question. */
        fail_call(cuda ? "cuDevicePrimaryCtxRetain" : "aclrtSetDevice", 1, cuda ? 46 : 107001);
        child_check(shmemx_device_pointer_info(type, a, &info) == 1 && info.number == 1);
        fail_call("", 0, 0);
        child_check(!info.base || (info.base == plain && info.bytes == BYTES));
        child_check(shmemx_device_pointer_info(type, host, &info) == 0);
        bad(EINVAL, "adopt it", shmemx_device_copy(a, host, PART));
        bad(EINVAL, "is not memory of a device", shmemx_device_adopt(type, last, host, PART));
        bad(EINVAL, " device 1, not of device 0", shmemx_device_adopt(type, 0, a, PART));
        bad(EINVAL, "it is the host's, or it was freed", shmemx_device_adopt(type, last, a, (size_t)1 << 30));
    } else
        bad(ENOTSUP, stands_in ? "any of which may stand in" : "aclrtPointerGetAttributes",
            shmemx_device_pointer_info(type, a, &info));
    if (stands_in)
        bad(EINVAL, "is not memory of a device", shmemx_device_adopt(type, 0, (void *)4096, PART));
    bad(EINVAL, "out is NULL", shmemx_device_pointer_info(type, a, NULL));
    bad(ENODEV, "there is no", shmemx_device_adopt(type, last + 1, a, PART));
    bad(EINVAL, "'gpu' is no type", shmemx_device_adopt("gpu", 0, a, PART));
    bad(EINVAL, "cannot be device memory", shmemx_device_adopt(type, last, a, 0));
    bad(EINVAL, "cannot be device memory", shmemx_device_adopt(type, last, NULL, 5));
    good(shmemx_device_adopt(type, last, a, PART));
    bad(EEXIST, "known already", shmemx_device_adopt(type, last, a + 100, PART));
    child_check(shmemx_device_where(a + PART - 1, &of, &number) == 1 && number == last && !strcmp(of, type));
    child_check(shmemx_device_where(a + PART, &of, &number) == 0);
    fill(3);
    good(shmemx_device_copy(a, host, PART));
    good(shmemx_device_copy(back, a, PART));
    is_back(3);
    bad(EINVAL, "go beyond", shmemx_device_copy(a + 1, host, PART));
    /* One call of the driver; from the other device, too, but for asking which device is current. */
    for (int device = last; device >= 0; device--) {
        good(shmemx_stream_create(type, device, &stream));
        good(shmemx_copy_on_stream(back, a, PART, stream));
        unsigned long before = stands_in ? 0 : calls();
        good(shmemx_copy_on_stream(back, a, PART, stream));
        child_check(stands_in || calls() - before == 1 ||
                    device == 0); /* a thread is left with the device it used first */
        good(shmemx_stream_finish(stream));
        good(shmemx_stream_destroy(stream));
    }
    bad(ENOENT, "begins at", shmemx_device_disown(a + 1));
    good(shmemx_device_disown(a));
    bad(ENOENT, "begins at", shmemx_device_disown(a));
    good(hal->free_plain(last, plain));
}

/* Freed by its owner meanwhile: nothing touches it any more. */
static void run_freed(void)
{
    char key[SHMEMX_KEY_TEXT], *plain = allocate(0, 3 << 20);
    shmemx_device_import_t none;
    good(shmemx_device_adopt(type, 0, plain, PART));
    if (shares_it && cuda)
        good(shmemx_export(plain, PART, NULL, key));
    good(hal->free_plain(0, plain));
    bad(ESTALE, "was freed by its owner", shmemx_device_copy(plain, host, PART));
    bad(ESTALE, "was freed by its owner", shmemx_device_copy(back, plain, PART));
    bad(ESTALE, "was freed by its owner", shmemx_device_copy_blocks(back, 8, plain, 16, 8, 10));
    if (shares_it && cuda)
        bad(ESTALE, "was freed by its owner", shmemx_device_import(key, SHMEMX_IMPORT_READ, NULL, -1, &none));
    bad(ESTALE, "was freed by its owner", shmemx_export(plain, PART, NULL, key));
    bad(EINVAL, "or it was freed", shmemx_device_adopt(type, 0, plain + PART, PART));
    if (cuda && allocate(0, 3 << 20) == plain) { /* most likely: the addresses are free */
        bad(ESTALE, "other memory is there now", shmemx_device_copy(plain, host, PART));
        bad(ESTALE, "other memory is there now", shmemx_export(plain, PART, NULL, key));
        good(shmemx_device_adopt(type, 0, plain + PART, PART)); /* of the new one */
        good(shmemx_export(plain + PART, PART, NULL, key));
        good(shmemx_device_import(key, SHMEMX_IMPORT_READ, NULL, -1, &none));
        good(shmemx_device_import_close(none));
        good(shmemx_device_disown(plain + PART));
        good(hal->free_plain(0, plain));
    }
    good(shmemx_device_disown(plain));
}

static void run_own_keys(void)
{
    char key[SHMEMX_KEY_TEXT], second[SHMEMX_KEY_TEXT], *plain = allocate(last, BYTES), *a = plain + 100000;
    shmemx_export_attr_t attr = SHMEMX_EXPORT_ATTR;
    shmemx_device_import_t own;
    shmemx_device_import_info_t info;
    good(shmemx_device_adopt(type, last, a, PART));
    good(shmemx_device_adopt(type, last, plain, 1000));
    attr.note = "a note";
    attr.note_bytes = 6;
    good(shmemx_export(a + 100, PART - 100, &attr, key));
    good(shmemx_export(plain, 1000, NULL, second));
    bad(EINVAL, "end beyond the memory that was adopted", shmemx_export(a + 100, PART, NULL, key));
    attr.frozen = 1;
    bad(ENOTSUP, "cannot be frozen", shmemx_export(a, PART, &attr, second));
    attr.frozen = 0;
    attr.allow = &(shmemx_allow_t){.kind = SHMEMX_ALLOW_USER, .rights = SHMEMX_RIGHT_READ, .id = 1};
    attr.allowed = 1;
    bad(EACCES, "processes of this user only", shmemx_export(a, PART, &attr, second));
    good(shmemx_export(plain, 1000, NULL, second));
    good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
    good(shmemx_device_import_info(own, &info));
    child_check(info.address == a + 100 && info.bytes == PART - 100 && info.number == last && info.note_bytes == 6);
    bad(EBUSY, "1 imports of keys", shmemx_device_disown(a));
    good(shmemx_device_import_close(own));
    good(shmemx_revoke(key, 0));
    bad(EKEYREVOKED, "revoked", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
    good(shmemx_export(a, PART, NULL, key));
    good(shmemx_device_disown(a)); /* its keys go, others stay */
    bad(EKEYREVOKED, "revoked", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
    good(shmemx_device_import(second, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
    good(shmemx_device_import_close(own));
    for (int i = 0; i < 200; i++)
        good(shmemx_export(plain + i, 10, NULL, key));
    good(shmemx_device_disown(plain));
    good(hal->free_plain(last, plain));
}

/* Why it cannot be shared, and what to do; copies work all the same. */
static void run_cannot_share(void)
{
    char key[SHMEMX_KEY_TEXT];
    struct shmemi_device_memory memory = {0};
    char *at;
    int count;
    good(hal->open(&count));
    if (cuda) {
        good(hal->allocate(0, BYTES, &memory)); /* by virtual memory calls */
        at = memory.address;
    } else
        at = allocate(0, BYTES);
    good(shmemx_device_adopt(type, 0, at, PART));
    fill(1);
    good(shmemx_device_copy(at, host, PART));
    good(shmemx_device_copy(back, at, PART));
    is_back(1);
    bad(ENOTSUP, cuda ? "expandable_segments" : "which came with", shmemx_export(at, PART, NULL, key));
    child_check(!tells || strstr(shmemx_last_error(), "copy it into memory of a pool"));
    good(shmemx_device_disown(at));
    if (cuda)
        hal->release(&memory);
    else
        good(hal->free_plain(0, at));
}

static void run_fork(void)
{
    char *plain = allocate(0, BYTES);
    shmemx_device_pointer_info_t info;
    good(shmemx_device_adopt(type, 0, plain, PART));
    pid_t pid = fork();
    if (pid == 0) {
        char key[SHMEMX_KEY_TEXT];
        bad(EPERM, "do not survive", shmemx_device_copy(plain, host, 8));
        bad(EPERM, "do not survive", shmemx_export(plain, 8, NULL, key));
        bad(EPERM, "do not survive", shmemx_device_disown(plain));
        child_check(shmemx_device_adopt(type, 0, plain + PART, 8) == -EPERM &&
                    shmemx_device_pointer_info(type, plain, &info) == -EPERM);
        exit(0);
    }
    int status = -1;
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
    good(shmemx_device_disown(plain));
    good(hal->free_plain(0, plain));
}

/* The driver has gone before this library ends. */
static void run_driver_gone(void)
{
    char key[SHMEMX_KEY_TEXT], *plain = allocate(0, BYTES);
    good(shmemx_device_adopt(type, 0, plain, PART));
    if (shares_it)
        good(shmemx_export(plain, PART, NULL, key));
    *(int *)in_double("double_gone") = cuda ? 4 : 100037;
    child_check(shmemx_device_copy(plain, host, PART) < 0);
    child_check(shmemx_export(plain, PART, NULL, key) < 0 || !tells);
    good(shmemx_device_disown(plain));
}

static void run_excluded(void)
{
    int count;
    good(hal->open(&count));
    fail_call("cuDevicePrimaryCtxRetain", 1, 46);
    bad(EBUSY, "for itself", shmemx_device_adopt(type, 0, host, PART));
}

static int try_everything(int n, char *plain)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t own;
    fail_call("*", n, cuda ? 999 : 507899);
    int rc = shmemx_device_adopt(type, 0, plain, PART), adopted = rc;
    if (rc == 0 && (rc = shmemx_device_copy(plain, host, PART)) == 0 && shares_it &&
        (rc = shmemx_export(plain, PART, NULL, key)) == 0 &&
        (rc = shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own)) == 0)
        good(shmemx_device_import_close(own));
    char text[512];
    snprintf(text, sizeof text, "%s", shmemx_last_error());
    fail_call("", 0, 0);
    if (adopted == 0)
        good(shmemx_device_disown(plain));
    child_check(rc == 0 || strstr(text, cuda ? "999" : "507899") || strstr(text, "not memory of") ||
                strstr(text, "was freed"));
    return rc;
}

static void run_each_call_fails(void)
{
    char *plain = allocate(0, BYTES);
    int n = 0, rc;
    for (unsigned long before = 0; n++, rc = try_everything(n, plain), failures() > before; before = failures())
        child_check(rc == 0 || rc == -EIO || rc == -EINVAL || rc == -ESTALE);
    child_check(rc == 0 && n > 4);
    good(hal->free_plain(0, plain));
}

enum { THREADS = 4, TURNS = 40 };

static void *work(void *argument)
{
    char *mine = argument, here[PART], seen[PART];
    for (int turn = 0; turn < TURNS; turn++) {
        memset(here, turn, sizeof here);
        good(shmemx_device_adopt(type, 0, mine, PART));
        good(shmemx_device_copy(mine, here, PART));
        if (shares_it) {
            char key[SHMEMX_KEY_TEXT];
            shmemx_device_import_t own;
            good(shmemx_export(mine, PART, NULL, key));
            good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &own));
            good(shmemx_device_import_close(own));
            if (turn % 2)
                good(shmemx_revoke(key, 0));
        }
        good(shmemx_device_copy(seen, mine, PART));
        child_check(!memcmp(here, seen, PART));
        good(shmemx_device_disown(mine));
    }
    return NULL;
}

/* Pieces of one allocation. */
static void run_threads(void)
{
    pthread_t threads[THREADS];
    char *plain = allocate(0, BYTES);
    for (int i = 0; i < THREADS; i++)
        child_check(pthread_create(&threads[i], NULL, work, plain + PART * i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    good(hal->free_plain(0, plain));
}

static void one_process(void **state)
{
    (void)state;
    alone(run_adopt);
    if (shares_it)
        alone(run_own_keys);
    if ((cuda && !stands_in) || !shares_it)
        alone(run_cannot_share);
    alone(run_fork);
    alone(run_threads);
}

static void faults(void **state)
{
    (void)state;
    if (stands_in)
        return;
    if (tells)
        alone(run_freed);
    alone(run_driver_gone);
    alone(run_each_call_fails);
    if (cuda)
        alone(run_excluded);
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

static void fetch(int socket, char key[SHMEMX_KEY_TEXT])
{
    struct letter letter;
    child_check(read(socket, &letter, sizeof letter) == sizeof letter);
    memcpy(key, letter.key, sizeof letter.key);
}

static void await(int socket)
{
    char ignored[SHMEMX_KEY_TEXT];
    fetch(socket, ignored);
}

static void together(void (*owner)(int), void (*importer)(int), int status_of_owner)
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
    child_succeeds(second);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_int_equal(status, status_of_owner);
}

/* Two pieces of one allocation on device 1, and one of another. */
static void owner(int socket)
{
    char key[SHMEMX_KEY_TEXT], *plain = allocate(last, BYTES), *other = allocate(last, 3 << 20), *a = plain + 123456;
    shmemx_export_attr_t attr = SHMEMX_EXPORT_ATTR;
    good(shmemx_device_adopt(type, last, a, PART));
    good(shmemx_device_adopt(type, last, plain, PART));
    good(shmemx_device_adopt(type, last, other + (1 << 20), 2 << 20));
    fill(1);
    good(shmemx_device_copy(a, host, PART));
    fill(2);
    good(shmemx_device_copy(plain, host, PART));
    fill(3);
    good(shmemx_device_copy(other + (2 << 20), host, PART));
    attr.rights = SHMEMX_RIGHT_READ;
    good(shmemx_export(a, PART, &attr, key));
    post(socket, key);
    good(shmemx_export(plain, PART, NULL, key));
    post(socket, key);
    good(shmemx_export(other + (2 << 20), PART, NULL, key));
    post(socket, key);
    await(socket);
    good(shmemx_device_copy(back, plain, PART));
    is_back(9);
    good(shmemx_device_disown(a));
    good(shmemx_device_disown(plain)); /* while it is mapped there */
    good(shmemx_device_disown(other + (1 << 20)));
    post(socket, "disowned");
    await(socket);
    good(hal->free_plain(last, plain));
    good(hal->free_plain(last, other));
    post(socket, "freed");
    await(socket);
}

static void importer(int socket)
{
    char keys[3][SHMEMX_KEY_TEXT];
    shmemx_device_import_t imports[3], more, none;
    shmemx_device_import_info_t info[3];
    setenv("DOUBLE_FIRST", "1", 1);
    setenv("DOUBLE_DEVICES", "1", 1);
    for (int i = 0; i < 3; i++) {
        fetch(socket, keys[i]);
        good(shmemx_device_import(keys[i], i ? SHMEMX_IMPORT_WRITE : SHMEMX_IMPORT_READ, NULL, -1, &imports[i]));
        good(shmemx_device_import_info(imports[i], &info[i]));
        child_check(info[i].number == 0 && info[i].bytes == PART && info[i].read_only == !i);
        memset(back, 0, sizeof back);
        good(shmemx_device_copy(back, info[i].address, PART));
        is_back(i + 1);
    }
    child_check(stands_in || (char *)info[0].address - (char *)info[1].address == 123456); /* one mapping */
    bad(EACCES, "reading and writing", shmemx_device_import(keys[0], SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    good(shmemx_device_import(keys[1], SHMEMX_IMPORT_WRITE, NULL, 0, &more));
    good(shmemx_device_import_close(more));
    fill(9);
    good(shmemx_device_copy(info[1].address, host, PART));
    post(socket, "written");
    await(socket);
    bad(EKEYREVOKED, "revoked", shmemx_device_import(keys[1], SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    for (int i = 0; i < 3; i++)
        good(shmemx_device_import_close(imports[i]));
    post(socket, "closed");
    await(socket);
    bad(EKEYREVOKED, "revoked", shmemx_device_import(keys[2], SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "seen");
}

static char *lend(int socket)
{
    char key[SHMEMX_KEY_TEXT], *plain = allocate(last, BYTES);
    good(shmemx_device_adopt(type, last, plain, PART));
    fill(1);
    good(shmemx_device_copy(plain, host, PART));
    good(shmemx_export(plain, PART, NULL, key));
    post(socket, key);
    return plain;
}

static void patient_owner(int socket)
{
    char *plain = lend(socket);
    await(socket);
    good(shmemx_device_disown(plain));
    good(hal->free_plain(last, plain));
}

/* Frees it, and says nothing to anybody; then other memory is there, a part of which is lent properly. */
static void careless_owner(int socket)
{
    char key[SHMEMX_KEY_TEXT], *plain = lend(socket), *other;
    await(socket);
    good(hal->free_plain(last, plain));
    post(socket, "freed");
    await(socket);
    other = allocate(last, BYTES);
    child_check(other == plain); /* as the double has it */
    good(shmemx_device_adopt(type, last, other + PART, PART));
    fill(2);
    good(shmemx_device_copy(other + PART, host, PART));
    good(shmemx_export(other + PART, PART, NULL, key));
    post(socket, key);
    await(socket);
    good(shmemx_device_disown(plain));
    good(shmemx_device_disown(other + PART));
    good(hal->free_plain(last, other));
}

static void finds_it_freed(int socket)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t none;
    fetch(socket, key);
    post(socket, "free it");
    await(socket);
    bad(ESTALE, "was freed by its owner", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "done");
    shmemx_device_import_t import;
    shmemx_device_import_info_t info;
    fetch(socket, key);
    good(shmemx_device_import(key, SHMEMX_IMPORT_READ, NULL, -1, &import));
    good(shmemx_device_import_info(import, &info));
    good(shmemx_device_copy(back, info.address, PART));
    is_back(2);
    good(shmemx_device_import_close(import));
    post(socket, "done");
}

static void doomed_owner(int socket)
{
    lend(socket);
    await(socket);
    kill(getpid(), SIGKILL);
}

static void bereaved(int socket)
{
    char key[SHMEMX_KEY_TEXT], byte;
    shmemx_device_import_t import, none;
    shmemx_device_import_info_t info;
    fetch(socket, key);
    good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import));
    good(shmemx_device_import_info(import, &info));
    post(socket, "mapped");
    child_check(read(socket, &byte, 1) == 0);
    bad(EKEYEXPIRED, "nobody living", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    if (stands_in)
        bad(ESTALE, "is gone", shmemx_device_copy(back, info.address, PART));
    else {
        good(shmemx_device_copy(back, info.address, PART));
        is_back(1);
    }
    good(shmemx_device_import_close(import));
}

static void importer_without(int socket)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t none;
    fetch(socket, key);
    setenv("DOUBLE_DEVICES", "1", 1);
    bad(ENODEV, "is not among the 1 that this process sees",
        shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    post(socket, "so it is");
}

/* It has no way to the device, no memory left, or is not let at the device at all. */
static void importer_with_faults(int socket)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t none;
    fetch(socket, key);
    child_check(shmemx_device_count(type) == 2);
    if (cuda) {
        fail_call("cuDevicePrimaryCtxRetain", 1, 46);
        bad(EBUSY, "for itself", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
        setenv("DOUBLE_PEERS", "0", 1);
        bad(ENOTSUP, "cannot reach the memory of device 1",
            shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, 0, &none));
    }
    fail_call(cuda ? "cuIpcOpenMemHandle_v2" : "aclrtIpcMemImportByKey", 1, cuda ? 2 : 207001);
    bad(ENOMEM, "the device's memory is taken", shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none));
    good(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none)); /* and then it works */
    *(int *)in_double("double_gone") = cuda ? 4 : 100037;
    good(shmemx_device_import_close(none));
    post(socket, "done");
}

/* What stands in is copied by the kernel, which may be told to let only parents do it. */
static bool may_copy(void)
{
    int scope = 0;
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file && fscanf(file, "%d", &scope) != 1)
        scope = 0;
    if (file)
        fclose(file);
    return scope == 0 || geteuid() == 0;
}

static void two_processes(void **state)
{
    (void)state;
    if (!shares_it)
        return;
    if (stands_in && !may_copy())
        return;
    together(owner, importer, 0);
    if (cuda && !stands_in)
        together(careless_owner, finds_it_freed, 0);
    together(doomed_owner, bereaved, SIGKILL);
    if (stands_in)
        return;
    together(patient_owner, importer_without, 0);
    together(patient_owner, importer_with_faults, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        clean_test(one_process),
        clean_test(faults),
        clean_test(two_processes),
    };
    if (argc != 3)
        return 2;
    kind = argv[1];
    library = argv[2];
    cuda = strstr(kind, "cuda") != NULL;
    type = cuda ? "cuda" : "npu";
    hal = cuda ? &shmemi_device_cuda : &shmemi_device_ascend;
    stands_in = strstr(kind, "host") != NULL;
    last = stands_in ? 0 : 1;
    shares_it = cuda || !(strstr(kind, "70") || strstr(kind, "80"));
    tells = !stands_in && !strstr(kind, "70");
    if (stands_in) {
        hal = shmemi_device_stand_in_of(type);
        library = "/nonexistent/driver.so";
        setenv("SHMEM_DEVICE_FALLBACK", "host", 1);
        setenv("SHMEM_LOG", "error", 1);
    }
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", library, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
