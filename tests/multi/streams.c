// SPDX-License-Identifier: Apache-2.0
// streams TYPE DEVICES: operations in the order of streams, on a double of a driver, or on host memory that stands in.
// PE p uses device p % DEVICES.
#include "multi.h"

#include <dlfcn.h>
#include <pthread.h>

enum { COUNT = 1000, BYTES = COUNT * 8, ROUNDS = 30, WORDS = 16 };
enum { TURN, SUM, DONE, NEVER }; /* words */

static const char *type;
static int device;
static bool npu, stands_in;
static shmemx_device_pool_t pool;
static int64_t *x, *y, *z; /* of the device; x and y are registered */
static uint64_t *gate;     /* likewise */
static uint64_t *words;    /* of the host */
static int64_t near[ROUNDS][COUNT];
static shmemx_region_t own_x, own_y, own_words, right_x, right_y, right_words;
static shmemx_stream_t stream;

static int left(void)
{
    return (me + n - 1) % n;
}

static void *in_double(const char *name)
{
    void *driver = dlopen(getenv(npu ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver);
    void *found = dlsym(driver, name);
    CHECK(found);
    dlclose(driver);
    return found;
}

/* The one stream, where there is no double to hold them all. */
static void hold_streams(int on)
{
    static uint64_t turn;
    if (!stands_in)
        ((void (*)(int))(uintptr_t)in_double("double_hold"))(on);
    else if (on)
        GIVES(0, shmemx_wait_value_on_stream(gate, SHMEMX_UNTIL_EQUAL, ++turn, stream));
    else
        GIVES(0, shmemx_device_copy(gate, &turn, sizeof turn));
}

static void fail_call(const char *call, int nth, int code)
{
    ((void (*)(const char *, int, int))(uintptr_t)in_double("double_fail"))(call, nth, code);
}

static unsigned long calls(void)
{
    return *(unsigned long *)in_double("double_calls");
}

static void begin(void)
{
    GIVES(0, shmemx_device_pool_create(type, device, 4 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, (void **)&x));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, (void **)&y));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, (void **)&z));
    GIVES(0, shmemx_device_alloc(pool, 8, 0, (void **)&gate));
    CHECK((words = aligned_alloc(4096, 4096)));
    memset(words, 0, 4096);
    GIVES(0, shmemx_register(x, BYTES, NULL, &own_x));
    GIVES(0, shmemx_register(y, BYTES, NULL, &own_y));
    GIVES(0, shmemx_register(words, WORDS * 8, NULL, &own_words));
    GIVES(0, shmemx_region_at(own_x, (me + 1) % n, 20, &right_x));
    GIVES(0, shmemx_region_at(own_y, (me + 1) % n, 20, &right_y));
    GIVES(0, shmemx_region_at(own_words, (me + 1) % n, 20, &right_words));
    GIVES(0, shmemx_stream_create(type, device, &stream));
}

static void fill(int64_t *at, int64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        at[i] = seed * 1000000 + i;
}

static void holds(const int64_t *at, int64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        CHECK(at[i] == seed * 1000000 + i, "element %d is %lld, not of %lld", i, (long long)at[i], (long long)seed);
}

static void finish(void)
{
    GIVES(0, shmemx_stream_finish(stream));
    GIVES(1, shmemx_stream_query(stream));
}

/* --- what is done ------------------------------------------------------------------------------------------------- */

/* A host that sees the signal sees the data. */
static void signals(void)
{
    fill(near[0], me + 1);
    GIVES(0, shmemx_put_on_stream(right_x, 0, near[0], BYTES, stream));
    GIVES(0, shmemx_signal_on_stream(right_words, TURN * 8, 5, SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_signal_on_stream(right_words, SUM * 8, 3, SHMEM_SIGNAL_ADD, stream));
    GIVES(0, shmemx_signal_on_stream(right_words, SUM * 8, 4, SHMEM_SIGNAL_ADD, stream));
    GIVES(0, shmemx_wait_value(own_words, TURN * 8, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){5}, 20));
    GIVES(0, shmemx_device_copy(near[1], x, BYTES));
    holds(near[1], left() + 1);
    GIVES(0, shmemx_wait_value(own_words, SUM * 8, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){7}, 20));
    finish();
    GIVES(0, shmemx_barrier());
    words[TURN] = words[SUM] = 0;
}

/* From PE to PE, by streams alone: all is queued before anything is waited for. Every round brings other data. */
static void ring(void)
{
    for (uint64_t r = 1; r <= ROUNDS; r++) {
        if (me == 0) {
            fill(near[r - 1], (int64_t)r);
            GIVES(0, shmemx_copy_on_stream(y, near[r - 1], BYTES, stream));
            GIVES(0, shmemx_put_signal_on_stream(right_x, 0, y, BYTES, right_words, TURN * 8, r, SHMEM_SIGNAL_SET,
                                                 stream));
        }
        GIVES(0, shmemx_wait_on_stream(own_words, TURN * 8, SHMEM_CMP_GE, r, stream));
        if (me != 0)
            GIVES(0, shmemx_put_signal_on_stream(right_x, 0, x, BYTES, right_words, TURN * 8, 1, SHMEM_SIGNAL_ADD,
                                                 stream));
        else
            GIVES(0, shmemx_copy_on_stream(near[r - 1], x, BYTES, stream));
    }
    finish();
    for (int r = 0; me == 0 && r < ROUNDS; r++)
        holds(near[r], r + 1);
    GIVES(0, shmemx_barrier());
    words[TURN] = 0;
    for (int i = 0; i < (me == 1 || n == 1 ? ROUNDS : 0); i++) /* the puts of PE 0 have been counted */
        GIVES(0, shmemx_wait_event(own_x, SHMEMX_EVENT_WRITE, 20));
}

/* Everybody's put is there after the barrier, and stays until all have read it; threads meet at the same time. */
static void barriers(void)
{
    for (int r = 0; r < ROUNDS; r++) {
        fill(near[r], me * 100 + r);
        GIVES(0, shmemx_put_on_stream(right_y, 0, near[r], BYTES, stream));
        GIVES(0, shmemx_barrier_on_stream(stream));
        GIVES(0, shmemx_copy_on_stream(near[r], y, BYTES, stream));
        GIVES(0, shmemx_barrier_on_stream(stream));
        GIVES(0, shmemx_barrier());
    }
    for (int i = 0; i < 20; i++)
        GIVES(0, shmemx_barrier());
    finish();
    for (int r = 0; r < ROUNDS; r++)
        holds(near[r], left() * 100 + r);
}

static void quiet(void)
{
    uint64_t seen = 0;
    hold_streams(1);
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 77, SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_quiet_on_stream(stream));
    GIVES(0, shmemx_copy_on_stream(z, &words[DONE], 8, stream));
    GIVES(0, shmemx_copy_on_stream(&seen, z, 8, stream));
    GIVES(0, shmemx_stream_query(stream));
    hold_streams(0);
    finish();
    GIVES(77, seen);
    words[DONE] = 0;
}

static void events(void)
{
    GIVES(0, shmemx_barrier());
    fill(near[0], me + 9);
    GIVES(0, shmemx_put_on_stream(right_y, 0, near[0], BYTES, stream));
    for (int i = 0; i < ROUNDS + 1; i++) /* those of the barriers, too */
        GIVES(0, shmemx_wait_event(own_y, SHMEMX_EVENT_WRITE, 20));
    GIVES(0, shmemx_device_copy(near[1], y, BYTES));
    holds(near[1], left() + 9);
    GIVES(-ETIMEDOUT, shmemx_wait_event(own_y, SHMEMX_EVENT_WRITE, 0));
    finish();
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_get_on_stream(z, right_y, 0, BYTES, stream));
    if (n > 1)
        GIVES(0, shmemx_wait_event(own_y, SHMEMX_EVENT_READ, 20));
    finish();
}

/* Requests of one stream do not wait for those of another; the words are changed by threads, plainly or not. */
static void many_streams(void)
{
    enum { STREAMS = 5 };
    shmemx_stream_t all[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        GIVES(0, shmemx_stream_create(type, device, &all[i]));
        GIVES(0, shmemx_wait_on_stream(own_words, (size_t)(8 + i) * 8, SHMEM_CMP_NE, 0, all[i]));
        GIVES(0, shmemx_signal_on_stream(own_words, (size_t)(7 + i) * 8, 1, SHMEM_SIGNAL_SET, all[i]));
    }
    GIVES(0, shmemx_stream_query(all[0]));
    usleep(20000);                                              /* the proxy sleeps longer by then */
    __atomic_store_n(&words[7 + STREAMS], 1, __ATOMIC_RELEASE); /* wakes nobody */
    for (int i = 0; i < STREAMS; i++)
        GIVES(0, shmemx_stream_finish(all[i]));
    for (int i = 0; i < STREAMS; i++) {
        GIVES(1, words[7 + i]);
        GIVES(0, shmemx_stream_destroy(all[i]));
    }
    memset(words, 0, WORDS * 8);
}

/* Words of the device itself, which streams of this process write and wait for. */
static void words_of_a_device(void)
{
    uint64_t seen[2] = {0}, four = 4;
    shmemx_stream_t other;
    GIVES(0, shmemx_stream_create(type, device, &other));
    GIVES(0, shmemx_device_copy(x, seen, sizeof seen));
    GIVES(0, shmemx_wait_on_stream(own_x, 8, SHMEM_CMP_GE, 5, stream));
    GIVES(0, shmemx_copy_on_stream(seen, x, sizeof seen, stream));
    GIVES(0, shmemx_put_signal_on_stream(own_x, 0, &four, 8, own_x, 8, 6, SHMEM_SIGNAL_SET, other));
    finish();
    CHECK(seen[0] == 4 && seen[1] == 6);
    GIVES(0, shmemx_wait_event(own_x, SHMEMX_EVENT_WRITE, 20));
    GIVES(0, shmemx_stream_destroy(other));
}

/* One that the program has already: its owner's wait says nothing of the host's part, finish does. */
static void wrapped(void)
{
    shmemx_stream_t other;
    GIVES(0, shmemx_stream_wrap(type, device, shmemx_stream_native(stream), &other));
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_ADD, stream));
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, other));
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_ADD, stream));
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 2, other));
    GIVES(0, shmemx_stream_finish(other));
    GIVES(2, words[DONE]);
    words[DONE] = 0;
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_SET, other));
    GIVES(0, shmemx_stream_destroy(other)); /* is forgotten; its signal comes */
    GIVES(0, shmemx_wait_value(own_words, DONE * 8, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){1}, 20));
    words[DONE] = 0;
    finish();
}

/* --- calls of the driver ------------------------------------------------------------------------------------------ */

#define COSTS(count, call)                                                                                             \
    do {                                                                                                               \
        unsigned long before = calls();                                                                                \
        GIVES(0, call);                                                                                                \
        GIVES(count, calls() - before);                                                                                \
    } while (0)

/* Streams are held, so that the proxy has nothing to do. */
static void counts(void)
{
    shmemx_region_t plain;
    void *heap = shmem_malloc(64);
    GIVES(0, shmemx_region_symmetric(heap, 64, &plain));
    GIVES(0, shmemx_copy_on_stream(z, near, 8, stream));
    finish();
    hold_streams(1);
    COSTS(1, shmemx_copy_on_stream(z, near, 8, stream));
    COSTS(1, shmemx_put_on_stream(plain, 0, z, 8, stream));
    COSTS(2, shmemx_put_on_stream(right_x, 0, z, 8, stream)); /* the copy, and the word for its event */
    COSTS(n > 1 ? 2u : 1u, shmemx_get_on_stream(z, right_x, 0, 8, stream));
    COSTS(1, shmemx_signal_on_stream(right_words, DONE * 8, 1, SHMEM_SIGNAL_SET, stream));
    COSTS(1, shmemx_signal_on_stream(right_x, 8, 1, SHMEM_SIGNAL_SET, stream));
    COSTS(2, shmemx_put_signal_on_stream(right_x, 0, z, 8, right_words, DONE * 8, 1, SHMEM_SIGNAL_SET, stream));
    COSTS(2, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, stream));
    COSTS(2, shmemx_quiet_on_stream(stream));
    COSTS(2, shmemx_barrier_on_stream(stream));
    hold_streams(0);
    finish();
    words[DONE] = 0;
    GIVES(0, shmemx_region_close(plain));
    shmem_free(heap);
}

/* --- mistakes and failures ---------------------------------------------------------------------------------------- */

static void arguments(void)
{
    REFUSES(EINVAL, "stream is NULL", shmemx_barrier_on_stream(NULL));
    REFUSES(EINVAL, "stream is NULL", shmemx_quiet_on_stream(NULL));
    REFUSES(EINVAL, "stream is NULL", shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 0, NULL));
    REFUSES(EINVAL, "sig_op is 7", shmemx_signal_on_stream(own_words, 0, 1, 7, stream));
    REFUSES(EINVAL, "aligned", shmemx_signal_on_stream(own_words, 4, 1, SHMEM_SIGNAL_SET, stream));
    REFUSES(EINVAL, "goes past", shmemx_signal_on_stream(own_words, WORDS * 8, 1, SHMEM_SIGNAL_SET, stream));
    REFUSES(EINVAL, "goes past", shmemx_wait_on_stream(own_words, WORDS * 8, SHMEM_CMP_EQ, 1, stream));
    REFUSES(EINVAL, "cmp is 9", shmemx_wait_on_stream(own_words, 0, 9, 1, stream));
    REFUSES(EINVAL, "no region handle", shmemx_wait_on_stream(NULL, 0, SHMEM_CMP_EQ, 1, stream));
    REFUSES(ENOTSUP, "keep counters in host memory", shmemx_signal_on_stream(right_x, 0, 1, SHMEM_SIGNAL_ADD, stream));
    REFUSES(ENOTSUP, "keep the word in host memory", shmemx_wait_on_stream(own_x, 0, SHMEM_CMP_NE, 1, stream));
    REFUSES(EINVAL, "goes past",
            shmemx_put_signal_on_stream(right_x, 8, z, BYTES, right_words, 0, 1, SHMEM_SIGNAL_SET, stream));
    if (n > 1) {
        REFUSES(EINVAL, "only an own region", shmemx_wait_on_stream(right_words, 0, SHMEM_CMP_EQ, 1, stream));
        REFUSES(EINVAL, "but the data goes to",
                shmemx_put_signal_on_stream(right_x, 0, z, 8, own_words, 0, 1, SHMEM_SIGNAL_SET, stream));
    }
    finish();
}

/* What can not be waited for any more fails the stream, which is not held, and says why from then on. */
static void region_gone(void)
{
    shmemx_stream_t failing;
    shmemx_region_t brief;
    uint64_t *page = aligned_alloc(4096, 4096), seen = 0, some = 42;
    memset(page, 0, 4096);
    GIVES(0, shmemx_register(page, 8, NULL, &brief));
    GIVES(0, shmemx_stream_create(type, device, &failing));
    GIVES(0, shmemx_wait_on_stream(brief, 0, SHMEM_CMP_EQ, 1, failing));
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_SET, failing));
    GIVES(0, shmemx_copy_on_stream(z, &some, 8, failing));
    GIVES(0, shmemx_copy_on_stream(&seen, z, 8, failing));
    GIVES(0, shmemx_stream_query(failing));
    GIVES(0, shmemx_deregister(brief));
    REFUSES(ENOENT, "the stream failed: region: its handle was closed, or it was deregistered",
            shmemx_stream_finish(failing));
    GIVES(42, seen);
    GIVES(0, words[DONE]);
    REFUSES(ENOENT, "the stream failed", shmemx_stream_finish(failing));
    REFUSES(ENOENT, "the stream failed", shmemx_stream_query(failing));
    REFUSES(ENOENT, "the stream failed", shmemx_copy_on_stream(z, &seen, 8, failing));
    REFUSES(ENOENT, "the stream failed", shmemx_put_on_stream(right_x, 0, z, 8, failing));
    REFUSES(ENOENT, "the stream failed", shmemx_barrier_on_stream(failing));
    REFUSES(ENOENT, "the stream failed", shmemx_quiet_on_stream(failing));
    GIVES(0, shmemx_stream_destroy(failing));
    free(page);
    finish();
}

/* As many as there can be are pending; then one more. */
static void too_many(void)
{
    enum { MOST = 4096 };
    setenv("DOUBLE_QUEUED", "8192", 1);
    hold_streams(1);
    for (int i = 0; i < MOST; i++)
        GIVES(0, shmemx_signal_on_stream(own_words, SUM * 8, 1, SHMEM_SIGNAL_ADD, stream));
    REFUSES(EAGAIN, "4096 requests are pending",
            shmemx_signal_on_stream(own_words, SUM * 8, 1, SHMEM_SIGNAL_ADD, stream));
    hold_streams(0);
    finish();
    GIVES(MOST, words[SUM]);
    words[SUM] = 0;
    unsetenv("DOUBLE_QUEUED");
    GIVES(0, shmemx_signal_on_stream(own_words, SUM * 8, 0, SHMEM_SIGNAL_ADD, stream));
    finish();
}

/* A forked child has neither the driver nor the proxy. */
static void child(void)
{
    int status = -1;
    fflush(stdout);
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, stream));
    pid_t pid = fork();
    if (pid == 0) {
        REFUSES(EPERM, "do not survive", shmemx_stream_finish(stream));
        REFUSES(EPERM, "forked", shmemx_quiet_on_stream(stream));
        REFUSES(EPERM, "do not survive", shmemx_stream_destroy(stream));
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "it ended with %#x", (unsigned)status);
    __atomic_store_n(&words[DONE], 1, __ATOMIC_RELEASE);
    finish();
    words[DONE] = 0;
}

static int stop_waiting(void)
{
    return 1;
}

/* The program wants out of a wait: finish leaves all as it is, the stream's end does not. */
static void interrupted(void)
{
    shmemx_stream_t brief;
    GIVES(0, shmemx_stream_create(type, device, &brief));
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, brief));
    GIVES(0, shmemx_set_interrupt(stop_waiting));
    GIVES(-EINTR, shmemx_stream_finish(brief));
    GIVES(0, shmemx_set_interrupt(NULL));
    GIVES(0, shmemx_stream_query(brief));
    __atomic_store_n(&words[DONE], 1, __ATOMIC_RELEASE);
    GIVES(0, shmemx_stream_finish(brief));
    words[DONE] = 0;
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, brief));
    GIVES(0, shmemx_set_interrupt(stop_waiting));
    GIVES(-EINTR, shmemx_stream_destroy(brief));
    GIVES(0, shmemx_set_interrupt(NULL));
}

/* The device is in error, and the driver forgets what was queued on all streams: they say so, and nothing waits. */
static void lost(void)
{
    shmemx_stream_t brief, other;
    GIVES(0, shmemx_stream_create(type, device, &brief));
    GIVES(0, shmemx_stream_create(type, device, &other));
    hold_streams(1);
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, brief));
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_SET, brief));
    GIVES(0, shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_SET, other));
    fail_call(npu ? "aclrtSynchronizeStream" : "cuStreamSynchronize", 1, npu ? 507899 : 999);
    CHECK(shmemx_device_copy(z, near, 8) < 0);
    hold_streams(0);
    REFUSES(EIO, "dropped what was queued", shmemx_stream_finish(brief));
    GIVES(0, shmemx_stream_destroy(brief));
    GIVES(0, shmemx_stream_destroy(other)); /* nobody has asked it */
    GIVES(0, words[DONE]);
    finish();
}

static void *change_soon(void *ignored)
{
    usleep(20000);
    __atomic_store_n(&words[DONE], 1, __ATOMIC_RELEASE);
    return ignored;
}

/* Destroying waits; so does the pool's end, for streams that use it. */
static void destroyed(void)
{
    pthread_t thread;
    shmemx_stream_t brief;
    GIVES(0, shmemx_stream_create(type, device, &brief));
    GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, brief));
    GIVES(0, shmemx_signal_on_stream(own_words, TURN * 8, 9, SHMEM_SIGNAL_SET, brief));
    GIVES(0, pthread_create(&thread, NULL, change_soon, NULL));
    GIVES(0, shmemx_stream_destroy(brief));
    GIVES(9, words[TURN]);
    pthread_join(thread, NULL);
    memset(words, 0, WORDS * 8);
}

/* Each call of the driver fails once. Whatever has been queued by then, nothing hangs and nothing is left. */
static void failing_calls(void)
{
    unsigned long *failures = in_double("double_failures");
    int code = npu ? 507899 : 999, rc = -1, nth = 0;
    unsigned long before;
    do {
        shmemx_stream_t brief;
        before = *failures;
        GIVES(0, shmemx_stream_create(type, device, &brief));
        fail_call("*", ++nth, code);
        rc = shmemx_put_on_stream(own_x, 0, near, 64, brief);
        for (int step = 0; rc == 0 && step < 3; step++)
            rc = step == 0   ? shmemx_signal_on_stream(own_words, DONE * 8, 1, SHMEM_SIGNAL_SET, brief)
                 : step == 1 ? shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 1, brief)
                             : shmemx_quiet_on_stream(brief);
        int end = shmemx_stream_finish(brief);
        rc = rc < 0 ? rc : end;
        fail_call("", 0, 0);
        CHECK(rc == 0 || rc == -EIO, "it gave %d", rc);
        GIVES(0, shmemx_stream_destroy(brief));
        words[DONE] = 0;
    } while (*failures > before);
    CHECK(rc == 0 && nth > 6, "%d calls", nth);
}

/* A driver without value operations copies on streams, and counts no events; for the rest it says what is missing. */
static void old_driver(void)
{
    GIVES(0, shmemx_copy_on_stream(z, near, 8, stream)); /* the thread is the device's then */
    for (int twice = 0; twice < 2; twice++) {
        REFUSES(ENOTSUP, "which came with", shmemx_signal_on_stream(own_words, 0, 1, SHMEM_SIGNAL_SET, stream));
        REFUSES(ENOTSUP, "which came with", shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 0, stream));
        REFUSES(ENOTSUP, "which came with", shmemx_barrier_on_stream(stream));
        REFUSES(ENOTSUP, "which came with", shmemx_quiet_on_stream(stream));
        REFUSES(ENOTSUP, "which came with",
                shmemx_put_signal_on_stream(right_x, 0, near, 8, right_words, 0, 1, SHMEM_SIGNAL_SET, stream));
        fill(near[0], me + twice);
        COSTS(1, shmemx_put_on_stream(right_x, 0, near[0], BYTES, stream));
        finish();
        GIVES(0, shmemx_barrier());
        GIVES(0, shmemx_get_on_stream(near[1], own_x, 0, BYTES, stream));
        finish();
        holds(near[1], left() + twice);
        GIVES(-ETIMEDOUT, shmemx_wait_event(own_x, SHMEMX_EVENT_WRITE, 0));
        GIVES(0, shmemx_barrier());
    }
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* Finalize waits for what others still send, and gives up what nobody ends any more. */
static void at_the_end(void)
{
    shmemx_stream_t hopeless;
    GIVES(0, shmemx_stream_create(type, device, &hopeless));
    GIVES(0, shmemx_barrier());
    if (me == 0 && n > 1)
        usleep(50000);
    if (me == 0)
        GIVES(0, shmemx_signal_on_stream(right_words, DONE * 8, 3, SHMEM_SIGNAL_SET, stream));
    if (me != 0 || n == 1)
        GIVES(0, shmemx_wait_on_stream(own_words, DONE * 8, SHMEM_CMP_EQ, 3, stream));
    if (me != 0)
        GIVES(0, shmemx_signal_on_stream(right_words, DONE * 8, 3, SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_signal_on_stream(own_words, SUM * 8, 3, SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_wait_on_stream(own_words, NEVER * 8, SHMEM_CMP_EQ, 1, hopeless));
    GIVES(0, shmemx_finalize());
    GIVES(0, shmemx_stream_finish(stream));
    GIVES(3, words[SUM]);
    REFUSES(EDEADLK, "all PEs have called finalize", shmemx_stream_finish(hopeless));
    REFUSES(EPERM, "after", shmemx_barrier_on_stream(stream));
    GIVES(0, shmemx_stream_destroy(hopeless));
}

static int end(void)
{
    GIVES(0, shmemx_stream_destroy(stream));
    GIVES(0, shmemx_device_pool_close(pool));
    free(words);
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    type = argv[1];
    npu = !strcmp(type, "npu");
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
    device = me % atoi(argv[2]);
    stands_in = shmemx_device_stands_in(type) == 1;
    begin();
    shmemx_device_info_t info;
    GIVES(0, shmemx_device_info(type, device, &info));
    if (!info.can_signal) {
        CASE(old_driver);
        GIVES(0, shmemx_finalize());
        return end();
    }
    CASE(signals);
    CASE(ring);
    CASE(barriers);
    CASE(quiet);
    CASE(events);
    CASE(many_streams);
    CASE(words_of_a_device);
    CASE(wrapped);
    if (!stands_in)
        CASE(counts);
    CASE(arguments);
    CASE(region_gone);
    CASE(too_many);
    CASE(child);
    CASE(interrupted);
    CASE(destroyed);
    if (!stands_in) {
        CASE(failing_calls);
        CASE(lost);
    }
    at_the_end();
    return end();
}
