// SPDX-License-Identifier: Apache-2.0
// Every path of device memory, with every byte compared: in one process, and between two.
#include "device.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { ODD_MOST = 200 };

/* --- one process -------------------------------------------------------------------------------------------------- */

static int copies(struct place *p)
{
    int rc = put(p->a, 1);
    if (rc < 0 || (rc = shmemx_device_copy(p->b, p->a, BYTES)) < 0)
        return rc;
    return check(p->b, 1);
}

/* Few bytes at odd addresses, and nothing beside them changed. */
static int odd_copies(struct place *p)
{
    int rc = put(p->a, 2);
    for (size_t begin = 1; rc >= 0 && begin < ODD_MOST; begin += 13) {
        unsigned char small[ODD_MOST];
        for (size_t i = 0; i < begin; i++)
            small[i] = pattern(begin + i, 2);
        rc = shmemx_device_copy((char *)p->a + begin, small, begin);
        if (rc >= 0)
            rc = shmemx_device_copy((char *)p->b + begin + 3, (char *)p->a + begin, begin);
        memset(small, 0, sizeof small);
        if (rc >= 0)
            rc = shmemx_device_copy(small, (char *)p->b + begin + 3, begin);
        for (size_t i = 0; rc >= 0 && i < begin; i++)
            if (small[i] != pattern(begin + i, 2))
                rc = wrong("byte %zu of %zu at offset %zu is wrong", i, begin, begin + 3);
    }
    return rc < 0 ? rc : check(p->a, 2);
}

static int streams(struct place *p)
{
    shmemx_stream_t stream;
    int rc = shmemx_stream_create(p->info.type, p->info.number, &stream);
    if (rc < 0)
        return rc;
    fill(BYTES, 3);
    if ((rc = shmemx_copy_on_stream(p->a, host, BYTES, stream)) >= 0 &&
        (rc = shmemx_copy_on_stream(p->b, p->a, BYTES, stream)) >= 0 && (rc = shmemx_stream_finish(stream)) >= 0) {
        memset(host, 0, BYTES);
        if ((rc = shmemx_copy_on_stream(host, p->b, BYTES, stream)) >= 0 && (rc = shmemx_stream_finish(stream)) >= 0 &&
            (rc = shmemx_stream_query(stream)) >= 0)
            rc = rc == 1 ? compare(BYTES, 3) : wrong("a stream that was finished is not done");
    }
    int end = shmemx_stream_destroy(stream);
    return rc < 0 ? rc : end;
}

/* One stream writes a word when it has copied; another waits for it, and copies on. */
static int words(struct place *p)
{
    shmemx_stream_t first = NULL, second = NULL;
    void *word = NULL;
    int rc = shmemx_device_alloc(p->pool, 8, 0, &word);
    fill(BYTES, 4);
    if (rc >= 0 && (rc = shmemx_device_copy(word, &(uint64_t){0}, 8)) >= 0 &&
        (rc = shmemx_stream_create(p->info.type, p->info.number, &first)) >= 0 &&
        (rc = shmemx_stream_create(p->info.type, p->info.number, &second)) >= 0 &&
        (rc = shmemx_copy_on_stream(p->a, host, BYTES, first)) >= 0 &&
        (rc = shmemx_write_value_on_stream(word, 77, first)) >= 0 && (rc = shmemx_stream_finish(first)) >= 0 &&
        (rc = shmemx_wait_value_on_stream(word, SHMEMX_UNTIL_AT_LEAST, 77, second)) >= 0 &&
        (rc = shmemx_copy_on_stream(p->b, p->a, BYTES, second)) >= 0 && (rc = shmemx_stream_finish(second)) >= 0)
        rc = check(p->b, 4);
    if (first)
        shmemx_stream_destroy(first);
    if (second)
        shmemx_stream_destroy(second);
    int end = shmemx_device_free(p->pool, word);
    return rc < 0 ? rc : end;
}

/* --- two processes ------------------------------------------------------------------------------------------------ */

/* BYTES of device memory, which the other process reads and writes. */
static int use_elsewhere(void *memory)
{
    char key[SHMEMX_KEY_TEXT];
    int status = -1, rc = put(memory, 5);
    if (rc < 0 || (rc = shmemx_export(memory, BYTES, NULL, key)) < 0)
        return rc;
    fflush(stdout);
    int pid = start("importer", key, "5");
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return wrong("the other process ended with status %#x (what it said is above)", (unsigned)status);
    if ((rc = check(memory, 6)) < 0)
        return rc;
    return shmemx_revoke(key, 0);
}

static int two_processes(struct place *p)
{
    return use_elsewhere(p->a);
}

/* From the middle of an allocation of the driver's own, as the tensors of other libraries lie in theirs. -ENOTSUP: the
   driver has no way to share it. */
static int adopt_and_share(const struct place *p, char *memory)
{
    char *part = memory + BYTES / 2;
    int end, rc = shmemx_device_adopt(p->info.type, p->info.number, part, BYTES);
    if (rc < 0)
        return rc;
    rc = use_elsewhere(part);
    if (rc == -ENOTSUP)
        wrong("%s", shmemx_last_error()); /* before the next call says something else */
    end = shmemx_device_disown(part);
    return rc < 0 ? rc : end;
}

static int others_memory(const struct place *p)
{
    struct driver driver;
    void *memory;
    int rc = driver_open(&driver, p->info.type, p->info.number);
    if (rc < 0)
        return rc;
    if ((rc = driver_allocate(&driver, 2 * BYTES, &memory)) >= 0) {
        rc = adopt_and_share(p, memory);
        int end = driver_free(&driver, memory);
        rc = rc < 0 ? rc : end;
    }
    driver_close(&driver);
    return rc;
}

static void test_others_memory(const struct place *p)
{
    const char *what = "memory that another library allocated, used by a second process";
    int rc = others_memory(p);
    if (rc == -ENOTSUP)
        skip(p->name, what, why());
    else
        step(p->name, what, rc);
}

/* The other one is killed while it has the memory mapped. */
static int killed_peer(struct place *p)
{
    char key[SHMEMX_KEY_TEXT];
    int status = -1, rc = shmemx_export(p->a, BYTES, NULL, key);
    if (rc < 0)
        return rc;
    int pid = start("victim", key, "0");
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
        return wrong("the other process ended with status %#x instead of being killed", (unsigned)status);
    rc = put(p->a, 8);
    return rc < 0 ? rc : check(p->a, 8);
}

int run_importer(const char *key, int seed)
{
    shmemx_device_import_t import;
    shmemx_device_import_info_t info;
    if (shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import) < 0 ||
        shmemx_device_import_info(import, &info) < 0)
        return complain("importing");
    if (info.bytes != BYTES || check(info.address, seed) < 0)
        return complain("reading");
    if (put(info.address, seed + 1) < 0)
        return complain("writing");
    return shmemx_device_import_close(import) < 0 ? complain("closing") : 0;
}

int run_victim(const char *key)
{
    shmemx_device_import_t import;
    if (shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import) < 0)
        return complain("importing");
    return raise(SIGKILL);
}

/* --- the self-test ------------------------------------------------------------------------------------------------ */

void test_place(struct place *p)
{
    int steps = 0, rc = shmemx_device_self_test(p->info.type, p->info.number, &steps);
    step(p->name, "each function of the back end", rc);
    step(p->name, "copies, 3 MiB: host, device, device, host", copies(p));
    step(p->name, "copies of 1 to 196 bytes at odd addresses", odd_copies(p));
    step(p->name, "copies on a stream", streams(p));
    if (p->info.can_signal)
        step(p->name, "words that streams write and wait for", words(p));
    else
        skip(p->name, "words that streams write and wait for", "the driver or the device cannot");
    tell_shares(p);
    test_others_memory(p);
    if (!p->info.can_share) {
        skip(p->name, "memory shared by two processes", "the driver or the device cannot");
        return;
    }
    step(p->name, "memory shared by two processes", two_processes(p));
    step(p->name, "the other process is killed with the memory mapped", killed_peer(p));
    step(p->name, "the symmetric heap of two PEs", heaped(p));
    if (p->info.can_signal)
        step(p->name, "signals, waits and barriers on streams of two PEs", ordered(p));
    else
        skip(p->name, "signals, waits and barriers on streams of two PEs", "the driver or the device cannot");
}

void test_pair(struct place *p, struct place *q)
{
    char what[96];
    int reach =
        strcmp(p->info.type, q->info.type) ? 0 : shmemx_device_can_reach(p->info.type, p->info.number, q->info.number);
    int rc = put(p->a, 9);
    if (rc >= 0 && (rc = shmemx_device_copy(q->a, p->a, BYTES)) >= 0)
        rc = check(q->a, 9);
    snprintf(what, sizeof what, "a copy to %s %s", q->name,
             reach > 0 ? "(they reach each other)" : "(by way of the host)");
    step(p->name, what, reach < 0 ? reach : rc);
}
