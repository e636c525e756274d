// SPDX-License-Identifier: Apache-2.0
// Every path of a back end, run once against whatever driver is there.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "device.h"

enum { BYTES = 1 << 20, SEEDS = 2 };

struct test {
    const struct shmemi_device_hal *hal;
    struct shmemi_device_info info;
    struct shmemi_device_memory memory, other;
    struct shmemi_device_stream stream;
    unsigned char *host;
    int device, steps;
};

static int failed(int rc, const char *step)
{
    return shmemi_fail_in(rc, "self-test, %s", step);
}

static unsigned char pattern(size_t i, int seed)
{
    return (unsigned char)(i * 131 + (i >> 8) * 7 + (unsigned)seed * 29 + 1);
}

/* host -> one memory -> the other -> host, and every byte compared. */
static int round_trip(struct test *t, int seed)
{
    const struct shmemi_device_hal *hal = t->hal;
    int rc;
    for (size_t i = 0; i < BYTES; i++)
        t->host[i] = pattern(i, seed);
    if ((rc = hal->copy(t->memory.address, t->host, BYTES, SHMEMI_TO_DEVICE, t->stream)) < 0 ||
        (rc = hal->copy(t->other.address, t->memory.address, BYTES, SHMEMI_DEVICE_TO_DEVICE, t->stream)) < 0 ||
        (rc = hal->finish(t->stream)) < 0)
        return rc;
    memset(t->host, 0, BYTES);
    if ((rc = hal->copy(t->host, t->other.address, BYTES, SHMEMI_FROM_DEVICE, t->stream)) < 0 ||
        (rc = hal->finish(t->stream)) < 0)
        return rc;
    for (size_t i = 0; i < BYTES; i++)
        if (t->host[i] != pattern(i, seed))
            return shmemi_fail(-EIO, "byte %zu came back as %d instead of %d", i, t->host[i], pattern(i, seed));
    return 0;
}

static int copies(struct test *t)
{
    int rc = 0;
    for (int seed = 0; rc == 0 && seed < SEEDS; seed++)
        rc = round_trip(t, seed);
    return rc;
}

/* A word is written, waited for, and read back. */
static int values(struct test *t)
{
    const uint64_t value = 0x1122334455667788;
    uint64_t seen = 0;
    int rc;
    if (!t->info.can_signal)
        return 0;
    if ((rc = t->hal->write_value(t->memory.address, value, t->stream)) < 0 ||
        (rc = t->hal->wait_value(t->memory.address, value, SHMEMI_UNTIL_EQUAL, t->stream)) < 0 ||
        (rc = t->hal->copy(&seen, t->memory.address, sizeof seen, SHMEMI_FROM_DEVICE, t->stream)) < 0 ||
        (rc = t->hal->finish(t->stream)) < 0)
        return rc;
    return seen == value ? 0 : shmemi_fail(-EIO, "a word was written and another one is there");
}

/* The stream tells, is held, and goes on when it is let go; a number that was let go before holds nobody. */
static int handshake(struct test *t, const struct shmemi_device_words *words)
{
    const struct shmemi_device_hal *hal = t->hal;
    bool done = true;
    int rc;
    if ((rc = hal->tell(words, 1, t->stream)) < 0 || (rc = hal->hold(words, 1, 7, t->stream)) < 0)
        return rc;
    while (__atomic_load_n(shmemi_words_told(words, 1), __ATOMIC_ACQUIRE) != 1)
        if ((rc = hal->query(t->stream, &done)) < 0 || done)
            return rc < 0 ? rc : shmemi_fail(-EIO, "a stream did not tell how far it is, or was not held");
    if ((rc = hal->query(t->stream, &done)) < 0 || done)
        return rc < 0 ? rc : shmemi_fail(-EIO, "a stream was not held");
    if ((rc = hal->let_go(words, 1, 7)) < 0 || (rc = hal->finish(t->stream)) < 0)
        return rc;
    __atomic_store_n(shmemi_words_told(words, 1), 0, __ATOMIC_RELAXED); /* the stream is done */
    if ((rc = hal->hold(words, 1, 6, t->stream)) < 0 || (rc = hal->tell(words, 1, t->stream)) < 0 ||
        (rc = hal->finish(t->stream)) < 0)
        return rc;
    for (size_t i = 0; i < words->count; i++)
        if (__atomic_load_n(shmemi_words_told(words, i), __ATOMIC_ACQUIRE) != (i == 1))
            return shmemi_fail(-EIO, "word %zu, told by a stream, is wrong", i);
    return 0;
}

static int words(struct test *t)
{
    struct shmemi_device_words made;
    int rc = t->info.can_signal ? t->hal->make_words(t->device, 3, &made) : 0;
    if (rc < 0 || !t->info.can_signal)
        return rc;
    rc = handshake(t, &made);
    if (rc < 0)
        t->hal->let_go(&made, 1, UINT64_MAX);
    t->hal->finish(t->stream);
    t->hal->free_words(&made);
    return rc;
}

static int pointers(struct test *t)
{
    struct shmemi_device_pointer what;
    int rc = t->hal->describe_pointer(t->memory.address, &what);
    if (rc == -ENOTSUP)
        return 0;
    if (rc == 0 && (!what.device || what.number != t->device))
        rc = shmemi_fail(-EIO, "the device's memory is not recognised by its address");
    if (rc == 0)
        rc = t->hal->describe_pointer(t->host, &what);
    if (rc == -ENOTSUP && t->hal->stands_in) /* any host memory may be adopted as the device's */
        return 0;
    return rc == 0 && what.device ? shmemi_fail(-EIO, "host memory is taken for the device's") : rc;
}

static int on_stream(struct test *t)
{
    struct shmemi_device_current before;
    bool done = false;
    int rc = t->hal->enter(t->device, &before);
    if (rc < 0)
        return failed(rc, "enter");
    if ((rc = copies(t)) < 0)
        failed(rc, "copies");
    else if ((rc = values(t)) < 0)
        failed(rc, "values");
    else if ((rc = words(t)) < 0)
        failed(rc, "words between a stream and the CPU");
    else if ((rc = t->hal->query(t->stream, &done)) < 0 || (!done && (rc = shmemi_fail(-EIO, "not done"))))
        failed(rc, "query");
    t->hal->leave(&before);
    t->steps += rc == 0 ? 4 : 0;
    return rc;
}

static int with_memory(struct test *t)
{
    int rc = t->hal->create_stream(t->device, &t->stream);
    if (rc < 0)
        return failed(rc, "create a stream");
    t->steps++;
    rc = on_stream(t);
    t->hal->destroy_stream(&t->stream);
    if (rc == 0 && (rc = pointers(t)) < 0)
        failed(rc, "pointers");
    t->steps += rc == 0;
    return rc;
}

/* Exports to nobody; that another process can import is for a test of two. */
static int exports(struct test *t)
{
    struct shmemi_device_ticket ticket;
    int descriptor = -1, rc;
    if (t->info.way == SHMEMI_WAY_NONE)
        return 0;
    if ((rc = t->hal->export_memory(&t->memory, NULL, 0, &ticket, &descriptor)) < 0)
        return failed(rc, "export");
    if (descriptor >= 0)
        close(descriptor);
    t->steps++;
    return 0;
}

/* Memory as other libraries allocate it; from its middle on, as their tensors lie. */
static int adopted(struct test *t, char *plain)
{
    struct shmemi_device_memory memory;
    struct shmemi_device_ticket ticket;
    int descriptor = -1, rc = t->hal->adopt(plain + BYTES / 2, BYTES / 2, &memory);
    if (rc < 0)
        return rc == -ENOTSUP ? 0 : failed(rc, "adopt"); /* the driver or the device cannot, and says so */
    if (memory.device != t->device || (char *)memory.address > plain + BYTES / 2 ||
        (char *)memory.address + memory.bytes < plain + BYTES)
        rc = failed(shmemi_fail(-EIO, "what is shared does not hold what was to be shared"), "adopt");
    else if ((rc = t->hal->export_memory(&memory, NULL, 0, &ticket, &descriptor)) < 0)
        failed(rc, "export what was adopted");
    t->hal->release(&memory);
    t->steps += rc == 0;
    return rc;
}

static int plain_memory(struct test *t)
{
    void *plain = NULL;
    int rc = t->hal->allocate_plain(t->device, BYTES, &plain), freed;
    if (rc < 0)
        return failed(rc, "allocate as others do");
    rc = adopted(t, plain);
    if ((freed = t->hal->free_plain(t->device, plain)) < 0 && rc == 0)
        rc = failed(freed, "free as others do");
    t->steps += rc == 0;
    return rc;
}

static int with_host(struct test *t)
{
    int rc = t->hal->allocate(t->device, BYTES, &t->memory);
    if (rc < 0)
        return failed(rc, "allocate");
    if ((rc = t->hal->allocate(t->device, BYTES, &t->other)) == 0) {
        t->steps += 2;
        rc = with_memory(t);
        if (rc == 0)
            rc = exports(t);
        if (rc == 0)
            rc = plain_memory(t);
        t->hal->release(&t->other);
    }
    t->hal->release(&t->memory);
    return rc;
}

int shmemi_device_self_test(const struct shmemi_device_hal *hal, int device, int *steps)
{
    struct test t = {.hal = hal, .device = device};
    int count, rc = hal->open(&count);
    if (rc < 0 || (rc = hal->describe(device, &t.info)) < 0)
        return failed(rc, "open and describe");
    t.steps = 2;
    if (!(t.host = malloc(BYTES)))
        return shmemi_fail(-ENOMEM, "self-test: no memory for the host's side");
    rc = with_host(&t);
    free(t.host);
    if (steps)
        *steps = t.steps;
    return rc;
}
