// SPDX-License-Identifier: Apache-2.0
// device_heap TYPE [OTHER]: the symmetric heap in memory of devices, on doubles of drivers. Every PE uses device PE
// % 2. It is the job's usual one where SHMEM_HEAP_KIND says so, else beside the usual one; OTHER: one more, of another
// type.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include "multi.h"

#include <dlfcn.h>
#include <pthread.h>

enum { COUNT = 3000, BYTES = COUNT * 8, FEW = 5 };

static const char *type;
static long *a, *b;       /* on the devices, symmetric */
static long *host;        /* symmetric, on the host */
static uint64_t *signal_; /* likewise */
static long near[COUNT];
/* Before a collective everybody has looked at what the one before brought: shmem_sync_all(). */

static int right(void)
{
    return (me + 1) % n;
}

static int left(void)
{
    return (me + n - 1) % n;
}

static void fill(long seed)
{
    for (int i = 0; i < COUNT; i++)
        near[i] = seed * 1000000 + i;
}

static void near_holds(long seed)
{
    for (int i = 0; i < COUNT; i++)
        CHECK(near[i] == seed * 1000000 + i, "element %d is %ld", i, near[i]);
}

/* What is in symmetric memory of this PE. */
static void holds(long *at, long seed)
{
    memset(near, 0x55, sizeof near);
    shmem_getmem(near, at, BYTES, me);
    near_holds(seed);
}

static void set(long *at, long seed)
{
    fill(seed);
    shmem_putmem(at, near, BYTES, me);
}

static bool usual(void)
{
    const char *kind = getenv("SHMEM_HEAP_KIND");
    return kind && !strncmp(kind, type, strlen(type));
}

static void *device_malloc(size_t size)
{
    void *block = usual() ? shmem_malloc(size) : shmemx_malloc_kind(size, type);
    CHECK(block, "%zu", size);
    return block;
}

static void where(void)
{
    const char *kind = NULL;
    int number = -1;
    a = device_malloc(BYTES);
    b = device_malloc(BYTES);
    host = shmemx_calloc_kind(COUNT, 8, "host");
    signal_ = usual() ? shmem_malloc_with_hints(8, SHMEM_MALLOC_SIGNAL_REMOTE) : shmem_malloc(8);
    CHECK(host && signal_);
    *signal_ = 0;
    GIVES(1, shmemx_device_where(a, &kind, &number));
    CHECK(!strcmp(kind, type) && number == me % 2 && (uintptr_t)a % 512 == 0);
    GIVES(0, shmemx_device_where(host, &kind, &number));
    GIVES(0, shmemx_device_where(signal_, &kind, &number));
    CHECK(host[0] == 0 && host[COUNT - 1] == 0);
    for (int pe = 0; pe < n; pe++) {
        CHECK(shmem_ptr(a, pe) == NULL && shmem_ptr(host, pe) != NULL);
        CHECK(shmem_addr_accessible(a, pe) && shmem_addr_accessible((char *)b + BYTES - 1, pe));
    }
    CHECK(!shmem_addr_accessible((char *)b + (1 << 20), 0) && !shmem_addr_accessible(near, 0));
    shmemx_heap_info_t info;
    GIVES(0, shmemx_heap_info_kind(type, &info));
    CHECK(info.total == 4 << 20 && info.in_use >= 2 * BYTES && info.blocks == 3, "%zu", info.in_use);
}

static void copies(void)
{
    fill(me + 1);
    shmem_long_put(a, near, COUNT, right()); /* host to device */
    shmem_barrier_all();
    holds(a, left() + 1);
    shmem_getmem(b, a, BYTES, right()); /* device to device, where it is the local end */
    holds(b, me + 1);
    shmem_barrier_all();
    shmem_put64(host, b, COUNT, right()); /* device to host */
    shmem_barrier_all();
    holds(host, left() + 1);
    memcpy(near, host, BYTES);
    near_holds(left() + 1);
    shmem_barrier_all();
    shmem_putmem(b, a, BYTES, right()); /* device to device */
    shmem_barrier_all();
    holds(b, (left() + n - 1) % n + 1);
    shmem_getmem_nbi(a, host, BYTES, right()); /* host to device, where it is the local end */
    shmem_quiet();
    holds(a, me + 1);
    shmem_ctx_t ctx;
    GIVES(0, shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx));
    fill(me + 70);
    shmem_barrier_all();
    shmem_ctx_long_put_nbi(ctx, a, near, COUNT, right());
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    holds(a, left() + 70);
    shmem_putmem(NULL, NULL, 0, right());
}

static void elements(void)
{
    set(a, 0);
    shmem_barrier_all();
    shmem_long_p(a + 7, me + 500, right());
    shmem_float_p((float *)(void *)(a + 8), 1.5f, right());
    shmem_fence();
    shmem_long_p(a + 9, 9, right());
    shmem_barrier_all();
    CHECK(shmem_long_g(a + 7, me) == left() + 500);
    CHECK(shmem_float_g((float *)(void *)(a + 8), right()) == 1.5f && shmem_long_g(a + 9, left()) == 9);
    CHECK(shmem_long_g(a + 10, left()) == 10);
}

/* The typed functions, of every size and kind of element. */
#define TYPED(name, T)                                                                                                 \
    do {                                                                                                               \
        T sent[6], got[6] = {0}, *there = (T *)(void *)a, *too = (T *)(void *)b;                                       \
        for (int i = 0; i < 6; i++)                                                                                    \
            sent[i] = (T)(me * 10 + i + 1);                                                                            \
        shmem_##name##_put(there, sent, 4, right());                                                                   \
        shmem_##name##_put_nbi(there + 4, sent + 4, 1, right());                                                       \
        shmem_##name##_p(there + 5, sent[5], right());                                                                 \
        shmem_##name##_iput(too, sent, 2, 1, 3, right());                                                              \
        shmem_barrier_all();                                                                                           \
        shmem_##name##_get(got, there, 6, me);                                                                         \
        for (int i = 0; i < 6; i++)                                                                                    \
            CHECK(got[i] == (T)(left() * 10 + i + 1), #name " %d", i);                                                 \
        shmem_##name##_get_nbi(got, there, 6, right());                                                                \
        shmem_quiet();                                                                                                 \
        CHECK(!memcmp(got, sent, 2 * sizeof *got) && got[5] == sent[5], #name);                                        \
        shmem_##name##_iget(got, too, 1, 2, 3, right());                                                               \
        CHECK(got[0] == sent[0] && got[2] == sent[2] && shmem_##name##_g(too + 4, right()) == sent[2], #name);         \
        shmem_barrier_all();                                                                                           \
    } while (0)

static void types(void)
{
    TYPED(char, char);
    TYPED(short, short);
    TYPED(int, int);
    TYPED(longlong, long long);
    TYPED(uint8, uint8_t);
    TYPED(size, size_t);
    TYPED(float, float);
    TYPED(double, double);
    TYPED(longdouble, long double);
}

/* Of the driver, once this thread has used the device: a copy; and where it has to be done, a look at the thread's
   context and the wait. */
static void driver_calls(void)
{
    void *driver = dlopen(getenv(!strcmp(type, "npu") ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY"), RTLD_NOW);
    const unsigned long *calls = driver ? dlsym(driver, "double_calls") : NULL;
    CHECK(calls);
    unsigned long before = *calls;
#define CALLS(expected)                                                                                                \
    do {                                                                                                               \
        unsigned long now = *calls;                                                                                    \
        CHECK(now - before == (expected), "%lu", now - before);                                                        \
        before = now;                                                                                                  \
    } while (0)
    shmem_putmem(a, b, BYTES, right());
    CALLS(3);
    shmem_long_p(a, 1, me);
    CALLS(3);
    for (int i = 0; i < 4; i++)
        shmem_putmem_nbi(a + 8 * i, b, 64, right());
    CALLS(4);
    shmem_quiet();
    CALLS(2);
    shmem_quiet();
    shmem_fence();
    shmem_putmem(host, near, 64, right());
    CALLS(0);
    shmem_getmem_nbi(near, a, 64, right());
    shmem_fence();
    CALLS(3);
    shmem_long_iput(a, near, 2, 2, 8, right());
    CALLS(10);
    dlclose(driver);
}

/* What is begun is done before what comes after a fence; the double does nothing before somebody waits. */
static void fences(void)
{
    *signal_ = 0;
    fill(me + 81);
    shmem_barrier_all();
    shmem_putmem_nbi(a, near, BYTES, right());
    shmem_fence();
    shmem_signal_set(signal_, 1, right());
    shmem_signal_wait_until(signal_, SHMEM_CMP_EQ, 1);
    holds(a, left() + 81);
    *signal_ = 0;
    fill(me + 91);
    shmem_barrier_all();
    shmem_putmem_nbi(b, near, BYTES, right());
    shmem_putmem_signal_nbi(a, near, BYTES, signal_, 2, SHMEM_SIGNAL_SET, right());
    shmem_signal_wait_until(signal_, SHMEM_CMP_EQ, 2);
    holds(a, left() + 91);
    shmem_barrier_all();
    holds(b, left() + 91);
}

/* Allocating is a barrier that completes, as freeing and resizing are. */
static void allocations_complete(void)
{
    for (int way = 0; way < 4; way++) {
        void *block = way < 2 ? NULL : shmem_malloc(64);
        fill(me + 101 + way);
        shmem_sync_all();
        shmem_putmem_nbi(a, near, BYTES, right());
        if (way == 0)
            block = shmem_malloc(64);
        else if (way == 1)
            block = shmem_calloc(8, 8);
        else if (way == 2)
            block = shmem_realloc(block, 1024);
        if (way < 3)
            holds(a, left() + 101 + way);
        shmem_free(block);
        holds(a, left() + 101 + way);
    }
}

/* Threads of a PE copy at once, each to a part of the neighbour's of its own, while pools come and go. */
enum { THREADS = 3, PART = 200, ROUNDS = 6 };

static void *copying(void *argument)
{
    long number = *(const long *)argument, sent[PART], got[PART];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PART; i++)
            sent[i] = me * 1000000 + number * 1000 + round * 100 + i;
        if (round % 2)
            shmem_putmem(a + number * PART, sent, sizeof sent, right());
        else
            shmem_putmem_nbi(a + number * PART, sent, sizeof sent, right());
        shmem_quiet();
        shmem_getmem_nbi(got, a + number * PART, sizeof got, right());
        shmem_quiet();
        CHECK(!memcmp(got, sent, sizeof got), "thread %ld, round %d", number, round);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t ids[THREADS];
    long numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        GIVES(0, pthread_create(&ids[i], NULL, copying, &numbers[i]));
    }
    for (int i = 0; i < 3; i++) {
        shmemx_device_pool_t pool;
        GIVES(0, shmemx_device_pool_create(type, me % 2, 2 << 20, &pool));
        GIVES(0, shmemx_device_pool_close(pool));
    }
    for (int i = 0; i < THREADS; i++)
        GIVES(0, pthread_join(ids[i], NULL));
}

static void strides(void)
{
    set(a, 3);
    set(b, 4);
    shmem_barrier_all();
    for (int i = 0; i < 10; i++)
        near[i] = i + 900;
    shmem_long_iput(a, near, 3, 2, 5, right()); /* 900 902 904 906 908 into 0 3 6 9 12 */
    shmem_long_ibput(b, a + 100, 4, 5, 2, 3,
                     right()); /* device to device: 100 101, 105 106, 110 111 into 0 1, 4 5, 8 9 */
    shmem_barrier_all();
    shmem_getmem(near, a, BYTES, me);
    for (int i = 0; i < 20; i++)
        CHECK(near[i] == (i % 3 == 0 && i < 15 ? 900 + i / 3 * 2 : 3000000 + i), "%d: %ld", i, near[i]);
    shmem_getmem(near, b, BYTES, me);
    for (int i = 0; i < 20; i++)
        CHECK(near[i] == (i % 4 < 2 && i < 12 ? 3000100 + i / 4 * 5 + i % 4 : 4000000 + i), "%d: %ld", i, near[i]);
    memset(near, 0, sizeof near);
    shmem_long_iget(near, b, 2, 4, 4, right());
    CHECK(near[0] == 3000100 && near[1] == 0 && near[2] == 3000105 && near[4] == 3000110 && near[6] == 4000012);
    shmem_long_ibget(a + 50, host, 4, 2, 2, 3, me);
    CHECK(shmem_long_g(a + 54, me) == host[2] && shmem_long_g(a + 56, me) == 3000056);
}

static void with_signal(void)
{
    fill(me + 11);
    shmem_putmem_signal(a, near, BYTES, signal_, (uint64_t)me + 21, SHMEM_SIGNAL_SET, right());
    GIVES(left() + 21, shmem_signal_wait_until(signal_, SHMEM_CMP_EQ, (uint64_t)left() + 21));
    holds(a, left() + 11);
    shmem_barrier_all();
    shmem_long_put_signal_nbi(b, a, COUNT, signal_, 100, SHMEM_SIGNAL_ADD, right());
    shmem_signal_wait_until(signal_, SHMEM_CMP_EQ, (uint64_t)left() + 121);
    holds(b, (left() + n - 1) % n + 11);
}

/* Memory of a pool of this PE alone is a local end as good as any. */
static void with_a_pool(void)
{
    shmemx_device_pool_t pool;
    void *mine;
    GIVES(0, shmemx_device_pool_create(type, (me + 1) % 2, 2 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, &mine));
    fill(me + 31);
    GIVES(0, shmemx_device_copy(mine, near, BYTES));
    shmem_putmem(a, mine, BYTES, right());
    shmem_putmem(host, mine, BYTES, right());
    shmem_barrier_all();
    holds(a, left() + 31);
    holds(host, left() + 31);
    shmem_getmem(mine, host, BYTES, right());
    GIVES(0, shmemx_device_copy(near, mine, BYTES));
    near_holds(me + 31);
    shmem_barrier_all();
    GIVES(0, shmemx_device_free(pool, mine));
    GIVES(0, shmemx_device_pool_close(pool));
}

static void blocks(void)
{
    long *zeros = usual() ? shmem_calloc(COUNT, 8) : shmemx_calloc_kind(COUNT, 8, type);
    fill(0);
    shmem_getmem(near, zeros, BYTES, right());
    for (int i = 0; i < COUNT; i++)
        CHECK(near[i] == 0);
    shmem_barrier_all();
    set(zeros, me + 2);
    char *behind = device_malloc(1);
    long *larger = shmem_realloc(zeros, 8 * BYTES); /* elsewhere, for something is behind it */
    CHECK(larger && larger != zeros);
    holds(larger, me + 2);
    long *smaller = shmem_realloc(larger, BYTES);
    CHECK(smaller == larger);
    holds(smaller, me + 2);
    void *aligned = shmemx_align_kind(1 << 16, 100, type);
    shmem_long_p(aligned, 6, right());
    shmem_barrier_all();
    CHECK(shmem_long_g(aligned, left()) == 6);
    shmem_free(aligned);
    shmem_free(behind);
    GIVES(0, shmemx_free(smaller));
    CHECK(shmemx_malloc_kind(0, type) == NULL && errno == 0);
    CHECK(shmemx_malloc_kind(64 << 20, type) == NULL && errno == ENOMEM);
    CHECK(strstr(shmemx_last_error(), "set SHMEM_DEVICE_HEAP_SIZE higher"), "%s", shmemx_last_error());
    CHECK(shmemx_malloc_kind(8, "gpu") == NULL && errno == EINVAL);
    CHECK(strstr(shmemx_last_error(), "kind is 'gpu', but must be host, npu or cuda"), "%s", shmemx_last_error());
    CHECK(shmemx_align_kind(3, 8, type) == NULL && errno == EINVAL);
    char other[16]; /* one PE asks for a device that its heap is not on */
    snprintf(other, sizeof other, "%s:%d", type, me == n - 1 ? 1 - me % 2 : me % 2);
    CHECK(shmemx_malloc_kind(8, other) == NULL && errno == EINVAL);
    CHECK(strstr(shmemx_last_error(), "this PE's heap of that type is on device"), "%s", shmemx_last_error());
    if (n > 1) { /* all PEs hear of one that differs */
        CHECK(shmemx_malloc_kind(8, me == 1 ? "host" : type) == NULL && errno == EINVAL);
        CHECK(strstr(shmemx_last_error(), "of kind host") && strstr(shmemx_last_error(), type), "%s",
              shmemx_last_error());
    }
}

static void collectives(void)
{
    set(a, me);
    shmem_sync_all();
    shmem_broadcastmem(SHMEM_TEAM_WORLD, b, a, BYTES, n - 1);
    holds(b, n - 1);
    shmem_sync_all();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, b, a, FEW, 0);
    CHECK(shmem_long_g(b + FEW - 1, me) == FEW - 1);
    long all = COUNT / n;
    shmem_sync_all();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, b, a, (size_t)all);
    for (int i = 0; i < n; i++)
        CHECK(shmem_long_g(b + i * all + 3, me) == i * 1000000 + 3);
    shmem_sync_all();
    shmem_long_collect(SHMEM_TEAM_WORLD, b, a, (size_t)me + 1);
    for (int i = 0, at = 0; i < n; at += ++i)
        CHECK(shmem_long_g(b + at + i, me) == i * 1000000 + i);
    shmem_sync_all();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, b, a, 2);
    for (int i = 0; i < n; i++)
        CHECK(shmem_long_g(b + 2 * i + 1, me) == i * 1000000 + 2 * me + 1);
    shmem_sync_all();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, b, a, 2, 3, 2);
    for (int i = 0; i < n; i++)
        CHECK(shmem_long_g(b + 2 * (2 * i + 1), me) == i * 1000000 + 3 * (2 * me + 1));
    shmem_sync_all();
    shmem_long_alltoall(SHMEM_TEAM_WORLD, host, a, 2); /* between kinds */
    for (int i = 0; i < n; i++)
        CHECK(host[2 * i + 1] == i * 1000000 + 2 * me + 1);
}

static void reductions(void)
{
    static long pwrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    long *psync = shmemx_malloc_kind(SHMEM_REDUCE_SYNC_SIZE * sizeof *psync, "host"), sum = (long)n * (n - 1) / 2;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    for (size_t count = FEW; count <= COUNT; count += COUNT - FEW) {
        set(a, me);
        set(b, 77);
        shmem_sync_all();
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, b, a, count);
        CHECK(shmem_long_g(b, me) == sum * 1000000);
        CHECK(shmem_long_g(b + count - 1, me) == sum * 1000000 + n * ((long)count - 1));
        CHECK(count == COUNT || shmem_long_g(b + count, me) == 77000000 + (long)count);
        shmem_sync_all();
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, a, a, count); /* in place */
        CHECK(shmem_long_g(a + count - 1, me) == (n - 1) * 1000000 + (long)count - 1);
        set(a, me);
        shmem_sync_all();
        shmem_long_sum_inscan(SHMEM_TEAM_WORLD, b, a, count);
        CHECK(shmem_long_g(b + 1, me) == (long)me * (me + 1) / 2 * 1000000 + me + 1);
        shmem_sync_all();
        shmem_long_sum_exscan(SHMEM_TEAM_WORLD, b, a, count);
        CHECK(shmem_long_g(b + count - 1, me) == (long)me * (me - 1) / 2 * 1000000 + me * ((long)count - 1));
        shmem_sync_all();
        shmem_long_sum_to_all(host, a, (int)count, 0, 0, n, pwrk, psync);
        CHECK(host[count - 1] == sum * 1000000 + n * ((long)count - 1));
        shmem_sync_all();
        shmem_long_sum_to_all(b, host, (int)count, 0, 0, n, pwrk, psync);
        CHECK(shmem_long_g(b + count - 1, me) == n * (sum * 1000000 + n * ((long)count - 1)));
        shmem_barrier_all();
    }
    set(a, me);
    GIVES(0, shmemx_all_reduce(a, COUNT, SHMEMX_INT64, SHMEMX_MIN));
    holds(a, 0);
    shmem_free(psync);
}

/* What lies on the host works as ever, whichever kind is usual. */
static void on_the_host(void)
{
    shmem_barrier_all();
    host[0] = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(host, 1, pe);
    shmem_long_wait_until(host, SHMEM_CMP_EQ, n);
    CHECK(shmem_long_test(host, SHMEM_CMP_GE, n) && shmem_long_atomic_fetch(host, right()) > 0);
    long *lock = shmemx_calloc_kind(1, sizeof *lock, "host");
    shmem_set_lock(lock);
    shmem_clear_lock(lock);
    shmem_free(lock);
}

static void regions(void)
{
    shmemx_region_t region, there, symmetric;
    shmemx_region_info_t info;
    GIVES(0, shmemx_register(a, BYTES, NULL, &region));
    GIVES(0, shmemx_region_at(region, right(), 20, &there));
    fill(me + 41);
    GIVES(0, shmemx_put(there, 0, near, BYTES));
    GIVES(0, shmemx_barrier());
    holds(a, left() + 41);
    GIVES(-EBUSY, shmemx_free(a));
    CHECK(strstr(shmemx_last_error(), "is registered as a region"), "%s", shmemx_last_error());
    GIVES(0, shmemx_deregister(region));
    GIVES(0, shmemx_region_symmetric(b, BYTES, &symmetric));
    GIVES(0, shmemx_region_info(symmetric, &info));
    CHECK(info.kind == SHMEMX_KIND_DEVICE && info.address == b);
    GIVES(0, shmemx_region_at(symmetric, right(), 20, &there));
    fill(me + 51);
    GIVES(0, shmemx_put(there, 0, near, BYTES));
    GIVES(0, shmemx_barrier());
    holds(b, left() + 51);
    GIVES(0, shmemx_get(near, there, 0, BYTES));
    near_holds(me + 51);
    REFUSES(ENOTSUP, "keep counters and signals in host memory",
            shmemx_atomic(there, 0, SHMEMX_INT64, SHMEMX_ATOMIC_FETCH, NULL, NULL, near));
    GIVES(0, shmemx_region_close(symmetric));
}

/* A key of a block is for others, and ends with the block. */
static void keys(void)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t import;
    long *block = device_malloc(BYTES);
    GIVES(0, shmemx_export(block, BYTES, NULL, key));
    GIVES(0, shmemx_device_import(key, SHMEMX_IMPORT_READ, NULL, -1, &import));
    GIVES(0, shmemx_device_import_close(import));
    shmem_free(block);
    CHECK(shmemx_device_import(key, SHMEMX_IMPORT_READ, NULL, -1, &import) < 0);
    holds(b, left() + 51); /* what peers have mapped is not the worse for it */
    shmem_getmem(near, b, BYTES, right());
    near_holds(me + 51);
}

static void another_type(const char *other)
{
    long *c = shmemx_calloc_kind(COUNT, 8, other);
    CHECK(c, "%s", shmemx_last_error());
    fill(me + 61);
    shmem_putmem(c, near, BYTES, right());
    shmem_barrier_all();
    holds(c, left() + 61);
    shmem_putmem(a, c, BYTES, right()); /* between makers */
    shmem_barrier_all();
    holds(a, (left() + n - 1) % n + 61);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, c, a, FEW);
    CHECK(shmem_long_g(c, me) == (n * 61 + (long)n * (n - 1) / 2) * 1000000);
    shmem_free(c);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    type = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    CASE(where);
    CASE(copies);
    CASE(elements);
    CASE(types);
    CASE(strides);
    CASE(fences);
    CASE(allocations_complete);
    CASE(threads);
    if (shmemx_device_can_reach(type, 0, 1) == 1)
        CASE(driver_calls);
    CASE(with_signal);
    CASE(with_a_pool);
    CASE(blocks);
    CASE(collectives);
    CASE(reductions);
    CASE(on_the_host);
    CASE(regions);
    CASE(keys);
    if (argc > 2)
        another_type(argv[2]);
    shmem_free(a);
    shmem_free(host);
    shmem_finalize(); /* with a block left, which goes along */
    return 0;
}
