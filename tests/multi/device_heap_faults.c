// SPDX-License-Identifier: Apache-2.0
// device_heap_faults NAME: what goes wrong with symmetric heaps on devices; device_heap.py knows what has to come of
// it.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include "multi.h"

#include <dlfcn.h>
#include <signal.h>

static long *a;         /* on a device */
static uint64_t *words; /* on the host */

static void begin(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    a = shmemx_calloc_kind(64, sizeof *a, "npu");
    words = shmemx_calloc_kind(64, sizeof *words, "host");
    CHECK(a && words);
}

/* --- every call of the driver fails once, on one PE, while the heap is made ----------------------------------------
 */

static void *driver;

static void *of_driver(const char *name)
{
    void *found = driver ? dlsym(driver, name) : NULL;
    CHECK(found, "%s", name);
    return found;
}

static void fail(const char *call, int nth, int code)
{
    ((void (*)(const char *, int, int))(uintptr_t)of_driver("double_fail"))(call, nth, code);
}

/* One job in which PE `who` has its nth call fail. Whether there was such a call. */
static bool one_failure(const char *kind, int who, int nth)
{
    unsigned long *failures = of_driver("double_failures"), before = *failures;
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
    int64_t *codes = shmemx_calloc_kind((size_t)n + 1, sizeof *codes, "host"), own[2];
    CHECK(codes);
    if (me == who)
        fail("*", nth, 2);
    void *block = shmemx_calloc_kind(100, 1, kind);
    own[0] = block ? 0 : errno;
    own[1] = me == who && *failures != before;
    if (me == who)
        fail("*", 0, 0);
    for (int pe = 0; pe < n; pe++) {
        shmem_putmem(codes + me, own, 8, pe);
        shmem_long_atomic_add((long *)codes + n, own[1], pe);
    }
    CHECK(block || me == who || strstr(shmemx_last_error(), "PE "), "%s", shmemx_last_error());
    GIVES(0, shmemx_barrier());
    for (int pe = 0; pe < n; pe++)
        CHECK(codes[pe] == own[0], "call %d of PE %d: PE %d has %lld", nth, who, pe, (long long)codes[pe]);
    bool failed = codes[n];
    shmem_barrier_all();
    GIVES(0, shmemx_finalize());
    return failed;
}

static void all_calls(const char *kind)
{
    driver = dlopen(getenv(!strcmp(kind, "npu") ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY"), RTLD_NOW);
    int nth = 1, first = getenv("SHMEM_TEST_FULL") ? 0 : 1;
    for (int who = first; who < 2; who++)
        for (nth = 1; one_failure(kind, who, nth); nth++)
            ;
    CHECK(nth > 8, "%d", nth);
    dlclose(driver);
    if (me == 0)
        printf("ok - each of %d calls failed\n", nth - 1);
}

/* --- ends -----------------------------------------------------------------------------------------------------------
 */

static void dies_with_its_heap_mapped(void)
{
    begin();
    shmem_long_p(a, 7, 1);
    shmem_barrier_all();
    if (me == 1)
        raise(SIGKILL);
    for (int i = 0; i < 100; i++)
        shmem_long_p(a + me, i, 1); /* it is there as long as somebody has it */
    CHECK(shmem_long_g(a + me, 1) == 99);
    shmem_barrier_all();
}

static void leaves_without_finalize(void)
{
    begin();
    shmem_barrier_all();
    GIVES(0, shmemx_leave());
    printf("ok - left\n");
}

/* An import of a PE's own block outlives the job; its key does not. */
static void own_import_outlives_the_job(void)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_device_import_t import, none;
    shmemx_device_import_info_t info;
    long value = 5;
    begin();
    GIVES(0, shmemx_export(a, 64, NULL, key));
    GIVES(0, shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import));
    GIVES(0, shmemx_device_import_info(import, &info));
    CHECK(info.address == a);
    shmem_barrier_all();
    shmem_finalize();
    GIVES(0, shmemx_device_copy(info.address, &value, sizeof value));
    value = 0;
    GIVES(0, shmemx_device_copy(&value, info.address, sizeof value));
    CHECK(value == 5);
    CHECK(shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &none) < 0);
    GIVES(0, shmemx_device_import_close(import));
    const char *type;
    int number;
    CHECK(!shmemx_device_where(a, &type, &number));
    printf("ok - outlived\n");
}

static void again_and_again(void)
{
    for (int i = 0; i < 3; i++) {
        begin();
        shmem_long_p(a, i, (me + 1) % n);
        shmem_barrier_all();
        CHECK(shmem_long_g(a, me) == i);
        shmem_finalize();
    }
    printf("ok - again and again\n");
}

/* Runs unchanged, wherever the memory is; words that are waited for are allocated with a hint. */
static void simple(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    long *x = shmem_calloc(8, sizeof *x), *y = shmemx_malloc_kind(64, "npu");
    uint64_t *signal = shmem_malloc_with_hints(8, SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(x && y && signal);
    *signal = 0;
    shmem_barrier_all();
    shmem_putmem_signal(x, &(long){me + 5}, 8, signal, 1, SHMEM_SIGNAL_SET, (me + 1) % n);
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
    CHECK(shmem_long_g(x, me) == (me + n - 1) % n + 5);
    shmem_putmem(y, x, 8, me);
    CHECK(shmem_long_g(y, me) == (me + n - 1) % n + 5);
    const char *type;
    int number;
    printf("ok - in memory of the %s\n", shmemx_device_where(x, &type, &number) ? "device" : "host");
    shmem_finalize();
}

static void other_place(void)
{
    begin();
    long *b = shmemx_malloc_kind(64 * sizeof *b, "npu");
    shmem_long_broadcast(SHMEM_TEAM_WORLD, me ? a : b, a, 1, 0);
}

/* --- mistakes -------------------------------------------------------------------------------------------------------
 */

#define MISTAKE(name, call)                                                                                            \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        begin();                                                                                                       \
        call;                                                                                                          \
    }
MISTAKE(atomic_add, shmem_long_atomic_add(a, 1, 0))
MISTAKE(atomic_fetch, (void)shmem_long_atomic_fetch(a, 0))
MISTAKE(atomic_set, shmem_long_atomic_set(a, 1, 0))
MISTAKE(atomic_compare_swap, (void)shmem_long_atomic_compare_swap(a, 1, 2, 0))
MISTAKE(atomic_fetch_xor, (void)shmem_uint64_atomic_fetch_xor((uint64_t *)a, 1, 0))
MISTAKE(atomic_fetch_nbi, shmem_long_atomic_fetch_nbi(a, (long *)words, 0))
MISTAKE(old_swap, (void)shmem_long_swap(a, 1, 0))
MISTAKE(wait_until, shmem_long_wait_until(a, SHMEM_CMP_EQ, 0))
MISTAKE(wait_until_any, (void)shmem_long_wait_until_any(a, 2, NULL, SHMEM_CMP_EQ, 0))
MISTAKE(test, (void)shmem_long_test(a, SHMEM_CMP_EQ, 0))
MISTAKE(test_all, (void)shmem_long_test_all(a, 2, NULL, SHMEM_CMP_EQ, 0))
MISTAKE(old_wait, shmem_long_wait(a, 1))
MISTAKE(put_signal, shmem_putmem_signal(a, words, 8, (uint64_t *)a + 1, 1, SHMEM_SIGNAL_SET, 0))
MISTAKE(signal_set, shmem_signal_set((uint64_t *)a, 1, 0))
MISTAKE(signal_fetch, (void)shmem_signal_fetch((uint64_t *)a))
MISTAKE(signal_wait_until, shmem_signal_wait_until((uint64_t *)a, SHMEM_CMP_EQ, 0))
MISTAKE(set_lock, shmem_set_lock(a))
MISTAKE(test_lock, (void)shmem_test_lock(a))
MISTAKE(psync, shmem_barrier(0, 0, n, a))
MISTAKE(beyond, shmem_putmem(a, words, 4 << 20, 0))
MISTAKE(beyond_a_block, (shmemx_malloc_kind(8, "npu"), shmem_putmem(a + 63, words, 16, 0)))
MISTAKE(freed, (shmem_free(a), shmem_long_p(a, 1, 0)))
MISTAKE(freed_twice, (shmem_free(a), shmem_free(a)))
MISTAKE(no_pe, shmem_long_p(a, 1, n))

/* Symmetric is only what all PEs have. */
static void not_symmetric(void)
{
    shmemx_device_pool_t pool;
    void *mine;
    begin();
    GIVES(0, shmemx_device_pool_create("npu", 0, 2 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, 64, 0, &mine));
    shmem_putmem(mine, words, 8, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define ONE(name)                                                                                                      \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
    ONE(dies_with_its_heap_mapped),
    ONE(leaves_without_finalize),
    ONE(own_import_outlives_the_job),
    ONE(again_and_again),
    ONE(simple),
    ONE(other_place),
    ONE(atomic_add),
    ONE(atomic_fetch),
    ONE(atomic_set),
    ONE(atomic_compare_swap),
    ONE(atomic_fetch_xor),
    ONE(atomic_fetch_nbi),
    ONE(old_swap),
    ONE(wait_until),
    ONE(wait_until_any),
    ONE(test),
    ONE(test_all),
    ONE(old_wait),
    ONE(put_signal),
    ONE(signal_set),
    ONE(signal_fetch),
    ONE(signal_wait_until),
    ONE(set_lock),
    ONE(test_lock),
    ONE(psync),
    ONE(beyond),
    ONE(beyond_a_block),
    ONE(freed),
    ONE(freed_twice),
    ONE(no_pe),
    ONE(not_symmetric),
};

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(argv[1], "all_calls")) {
        all_calls(argc > 2 ? argv[2] : "npu");
        return 0;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[1])) {
            cases[i].run();
            return 0;
        }
    FAIL("no case '%s'", argv[1]);
}
