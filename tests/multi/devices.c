// SPDX-License-Identifier: Apache-2.0
// devices TYPE: regions in memory of devices, on a double of a driver, or on host memory that stands in. PEs use
// devices in turn. All of it happens in memory of pools, and then in memory that another library allocated, in one
// piece: the double itself, here, or malloc().
#include "multi.h"

#include <dlfcn.h>
#include <errno.h>

enum { COUNT = 5000, BYTES = COUNT * 8 };

static const char *type;
static int device;
static bool stands_in;
static shmemx_device_pool_t pool;
static int64_t *x, *y; /* of the device */
static int64_t near[COUNT];
static shmemx_region_t region, right;
static shmemx_stream_t stream;
static char *plain; /* what is not of a pool */

enum { GAP = 1 << 12 };

/* --- the other library -------------------------------------------------------------------------------------------- */

static void *in_driver(const char *name)
{
    void *driver =
        dlopen(getenv(!strcmp(type, "npu") ? "SHMEM_ASCEND_LIBRARY" : "SHMEM_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver);
    void *found = dlsym(driver, name);
    CHECK(found, "%s", name);
    dlclose(driver);
    return found;
}

static int enter(void)
{
    if (!strcmp(type, "npu"))
        return ((int (*)(int))(uintptr_t)in_driver("aclrtSetDevice"))(device);
    void *context;
    CHECK(((int (*)(void **, int))(uintptr_t)in_driver("cuDevicePrimaryCtxRetain"))(&context, device) == 0);
    return ((int (*)(void *))(uintptr_t)in_driver("cuCtxPushCurrent_v2"))(context);
}

static void allocate(void)
{
    void *at = NULL;
    if (!stands_in)
        GIVES(0, enter());
    if (stands_in)
        CHECK((at = malloc(2 * BYTES + 2 * GAP)));
    else if (!strcmp(type, "npu"))
        GIVES(0, ((int (*)(void **, size_t, int))(uintptr_t)in_driver("aclrtMalloc"))(&at, 2 * BYTES + 2 * GAP, 0));
    else
        GIVES(0, ((int (*)(void **, size_t))(uintptr_t)in_driver("cuMemAlloc_v2"))(&at, 2 * BYTES + 2 * GAP));
    plain = at;
}

static void release(void)
{
    if (stands_in)
        free(plain);
    else if (!strcmp(type, "npu"))
        GIVES(0, ((int (*)(void *))(uintptr_t)in_driver("aclrtFree"))(plain));
    else
        GIVES(0, ((int (*)(uint64_t))(uintptr_t)in_driver("cuMemFree_v2"))((uintptr_t)plain));
    plain = NULL;
}

/* What stands in and was adopted is copied by the kernel, which may be told to let only parents do it. */
static bool may_copy_from_peers(void)
{
    int scope = 0;
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file && fscanf(file, "%d", &scope) != 1)
        scope = 0;
    if (file)
        fclose(file);
    return scope == 0 || geteuid() == 0;
}

/* --- what is the same in all memory ------------------------------------------------------------------------------- */

static void fill(int64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        near[i] = seed * 1000000 + i;
}

static void holds(int64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        CHECK(near[i] == seed * 1000000 + i, "element %d is %lld", i, (long long)near[i]);
}

static void make_buffers(void)
{
    GIVES(0, shmemx_device_pool_create(type, device, 4 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, (void **)&x));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, (void **)&y));
}

static void adopt_pieces(void)
{
    allocate();
    x = (int64_t *)(void *)(plain + GAP);
    y = (int64_t *)(void *)(plain + BYTES + 2 * GAP);
    GIVES(0, shmemx_device_adopt(type, device, x, BYTES));
    GIVES(0, shmemx_device_adopt(type, device, y, BYTES));
}

static void begin(void)
{
    shmemx_region_info_t info;
    GIVES(0, shmemx_register(x, BYTES, NULL, &region));
    GIVES(0, shmemx_region_info(region, &info));
    CHECK(info.kind == SHMEMX_KIND_DEVICE && info.address == x && info.size == BYTES);
    GIVES(0, shmemx_region_at(region, (me + 1) % n, 20, &right));
    GIVES(0, shmemx_stream_create(type, device, &stream));
}

static int left(void)
{
    return (me + n - 1) % n;
}

static void puts_and_gets(void)
{
    fill(me + 1);
    GIVES(0, shmemx_put(right, 0, near, BYTES)); /* host to device */
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_device_copy(near, x, BYTES));
    holds(left() + 1);
    GIVES(0, shmemx_get(y, right, 0, BYTES)); /* device to device */
    GIVES(0, shmemx_device_copy(near, y, BYTES));
    holds(me + 1);
    GIVES(0, shmemx_get(near + 1, right, 8, BYTES - 8)); /* device to host */
    holds(me + 1);
    REFUSES(EINVAL, "goes past", shmemx_put(right, 8, near, BYTES));
}

static void on_a_stream(void)
{
    fill(me + 50);
    GIVES(0, shmemx_put_on_stream(right, 0, near, BYTES, stream));
    GIVES(0, shmemx_stream_finish(stream));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_get_on_stream(y, region, 0, BYTES, stream));
    GIVES(0, shmemx_copy_on_stream(near, y, BYTES, stream));
    GIVES(0, shmemx_stream_finish(stream));
    holds(left() + 50);
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_signal_on_stream(right, 16, (uint64_t)(me + 7), SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_stream_finish(stream));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_device_copy(near, x, BYTES));
    CHECK(near[2] == left() + 7);
    REFUSES(EINVAL, "stream is NULL", shmemx_put_on_stream(right, 0, near, BYTES, NULL));
    REFUSES(EINVAL, "goes past", shmemx_get_on_stream(near, right, 8, BYTES, stream));
    REFUSES(EINVAL, "multiple of 8", shmemx_signal_on_stream(right, 4, 1, SHMEM_SIGNAL_SET, stream));
}

static void rights(void)
{
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    shmemx_region_t own, peer;
    attr.access = SHMEMX_REMOTE_READ;
    GIVES(0, shmemx_register(y, BYTES, &attr, &own));
    GIVES(0, shmemx_region_at(own, (me + 1) % n, 20, &peer));
    GIVES(0, shmemx_get(near, peer, 0, BYTES));
    if (n > 1)
        REFUSES(EACCES, "does not allow", shmemx_put(peer, 0, near, BYTES));
    REFUSES(ENOTSUP, "keep counters and signals in host memory",
            shmemx_atomic(own, 0, SHMEMX_INT64, SHMEMX_ATOMIC_FETCH, NULL, NULL, near));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(own));
    GIVES(0, shmemx_barrier());
    if (n > 1)
        CHECK(shmemx_get(near, peer, 0, BYTES) < 0);
}

static void with_a_signal(void)
{
    static uint64_t word[1];
    shmemx_region_t words, there;
    word[0] = 0;
    GIVES(0, shmemx_register(word, sizeof word, NULL, &words));
    GIVES(0, shmemx_region_at(words, (me + 1) % n, 20, &there));
    fill(me + 90);
    GIVES(0, shmemx_put_signal(right, 0, near, BYTES, there, 0, (uint64_t)me + 1, SHMEM_SIGNAL_SET));
    GIVES(0, shmemx_wait_value(words, 0, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){(uint64_t)left() + 1}, 20));
    GIVES(0, shmemx_device_copy(near, x, BYTES));
    holds(left() + 90);
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(words));
}

static void freed_while_registered(void)
{
    if (plain) {
        REFUSES(EBUSY, "registered as a region", shmemx_device_disown(x));
        GIVES(0, shmemx_device_disown(y));
        return;
    }
    REFUSES(EBUSY, "registered as a region", shmemx_device_free(pool, x));
    REFUSES(EBUSY, "registered as a region", shmemx_device_pool_close(pool));
    GIVES(0, shmemx_device_free(pool, y));
}

static void collectives(void)
{
    fill(me);
    GIVES(0, shmemx_device_copy(x, near, BYTES));
    GIVES(0, shmemx_all_reduce(x, COUNT, SHMEMX_INT64, SHMEMX_MAX));
    GIVES(0, shmemx_device_copy(near, x, BYTES));
    holds(n - 1);
    fill(me + 3);
    GIVES(0, shmemx_device_copy(x, near, BYTES));
    GIVES(0, shmemx_broadcast(x, BYTES, n - 1));
    GIVES(0, shmemx_device_copy(near, x, BYTES));
    holds(n + 2);
    int64_t all[64];
    GIVES(0, shmemx_device_copy(x, &(int64_t){me + 5}, 8));
    GIVES(0, shmemx_all_gather(all, x, 8));
    for (int i = 0; i < n; i++)
        CHECK(all[i] == i + 5);
}

/* A PE whose device fails tells its own reason, and the others do not wait for it. */
static void one_cannot(void)
{
    void (*fail)(const char *, int, int) = (void (*)(const char *, int, int))(uintptr_t)in_driver("double_fail");
    for (int way = 0; way < 3; way++) {
        int64_t all[64];
        if (me == n - 1)
            fail(!strcmp(type, "npu") ? "aclrtSynchronizeStream" : "cuStreamSynchronize", 1, 999);
        int rc = way == 0   ? shmemx_all_reduce(x, COUNT, SHMEMX_INT64, SHMEMX_MAX)
                 : way == 1 ? shmemx_broadcast(x, BYTES, 0)
                            : shmemx_all_gather(all, x, 8);
        CHECK(rc < 0 && strstr(shmemx_last_error(), me == n - 1 ? "Synchronize" : "cannot take part"), "%d", rc);
    }
}

static void all_of_it(void)
{
    begin();
    CASE(puts_and_gets);
    CASE(on_a_stream);
    CASE(with_a_signal);
    CASE(rights);
    CASE(collectives);
    if (!stands_in)
        CASE(one_cannot);
    CASE(freed_while_registered);
    GIVES(0, shmemx_stream_destroy(stream));
    GIVES(0, shmemx_barrier());
}

/* Its owner frees it without a word, while it is registered and mapped. */
static void freed_by_its_owner(void)
{
    shmemx_region_t own, peer;
    GIVES(0, shmemx_device_adopt(type, device, y, BYTES));
    GIVES(0, shmemx_register(y, BYTES, NULL, &own));
    GIVES(0, shmemx_barrier());
    if (me == 0) {
        release();
        REFUSES(ESTALE, "was freed by its owner", shmemx_put(own, 0, near, BYTES));
    }
    GIVES(0, shmemx_barrier());
    if (me == 1)
        REFUSES(ESTALE, "was freed by its owner", shmemx_region_at(own, 0, 20, &peer));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(own));
    GIVES(0, shmemx_device_disown(y));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    type = argv[1];
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
    stands_in = shmemx_device_stands_in(type) == 1;
    device = me % shmemx_device_count(type);
    make_buffers();
    all_of_it();
    shmemx_region_t first = region;
    if (!stands_in || n == 1 || may_copy_from_peers()) {
        adopt_pieces();
        all_of_it();
        GIVES(0, shmemx_deregister(region));
        GIVES(0, shmemx_device_disown(x));
    }
    if (!strcmp(type, "cuda") && !stands_in) /* of the other kind the double frees nothing that is shared */
        CASE(freed_by_its_owner);
    GIVES(0, shmemx_deregister(first));
    GIVES(0, shmemx_finalize()); /* ends the holds on peers' regions, so that their memory can go */
    if (plain)
        release();
    GIVES(0, shmemx_device_pool_close(pool));
    return 0;
}
