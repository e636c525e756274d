// SPDX-License-Identifier: Apache-2.0
// Regions: registering, finding, putting, getting, atomics, events, rights, and what is refused.
#include "multi.h"

#include <signal.h>
#include <sys/mman.h>

static int left(void)
{
    return (me + n - 1) % n;
}

static int right(void)
{
    return (me + 1) % n;
}

static shmemx_region_t registered(void *address, size_t size, const char *name, unsigned access)
{
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    shmemx_region_t region;
    attr.name = name;
    attr.access = access;
    GIVES(0, shmemx_register(address, size, &attr, &region));
    return region;
}

static shmemx_region_t at(shmemx_region_t mine, int pe)
{
    shmemx_region_t theirs;
    GIVES(0, shmemx_region_at(mine, pe, 20, &theirs));
    return theirs;
}

static shmemx_region_info_t info_of(shmemx_region_t region)
{
    shmemx_region_info_t info;
    GIVES(0, shmemx_region_info(region, &info));
    return info;
}

/* What a PE's bytes hold. */
static unsigned char first_of(int pe)
{
    return (unsigned char)(100 + pe);
}

static unsigned char second_of(int pe)
{
    return (unsigned char)(200 + pe);
}

/* Objects of many sizes and places: put into the right PE's, get from the left PE's. */
static void objects_of_all_sizes(void)
{
    static const size_t sizes[] = {1, 8, 100, 4095, 4096, 4097, 65536, 131072, 131073, 1000003, 5 << 20};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t size = sizes[k];
        unsigned char *object = malloc(size), *work = malloc(size);
        memset(object, first_of(me), size);
        shmemx_region_t mine = registered(object, size, NULL, SHMEMX_REMOTE_ALL), next = at(mine, right()),
                        before = at(mine, left());
        shmemx_region_info_t info = info_of(next);
        CHECK(info.owner == right() && info.size == size && info.access == SHMEMX_REMOTE_ALL &&
              info.type == SHMEMX_BYTES);
        CHECK(info.kind == SHMEMX_KIND_MOVED && info.address);
        GIVES(0, shmemx_get(work, before, 0, size));
        for (size_t i = 0; i<size; i += size> 10000 ? 61 : 1)
            CHECK(work[i] == first_of(left()), "byte %zu of %zu is %d", i, size, work[i]);
        GIVES(0, shmemx_barrier());
        memset(work, second_of(me), size);
        GIVES(0, shmemx_put(next, size / 2, work, size - size / 2));
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        for (size_t i = 0; i<size; i += size> 10000 ? 61 : 1)
            CHECK(object[i] == (i < size / 2 ? first_of(me) : second_of(left())), "byte %zu of %zu is %d", i, size,
                  object[i]);
        REFUSES(EINVAL, "goes past the", shmemx_put(next, size, work, 1));
        REFUSES(EINVAL, "goes past the", shmemx_put(next, 1, work, size));
        REFUSES(EINVAL, "goes past the", shmemx_get(work, next, SIZE_MAX, 2)); /* the sum wraps */
        REFUSES(EINVAL, "goes past the", shmemx_get(work, next, 2, SIZE_MAX));
        GIVES(0, shmemx_put(next, size, NULL, 0));
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(0, shmemx_barrier());
        GIVES(0, shmemx_deregister(mine));
        free(object);
        free(work);
    }
}

static void by_name_and_number(void)
{
    static int64_t first, second;
    char name[32];
    snprintf(name, sizeof name, "of PE %d", me);
    shmemx_region_t a = registered(&first, sizeof first, name, SHMEMX_REMOTE_ALL);
    uint64_t number = info_of(a).number;
    shmemx_region_t b = registered(&second, sizeof second, NULL, SHMEMX_REMOTE_ALL);
    GIVES(number + 1, info_of(b).number);
    GIVES(0, shmemx_barrier());
    snprintf(name, sizeof name, "of PE %d", right());
    shmemx_region_t by_name, by_number, own;
    GIVES(0, shmemx_region_find(right(), name, 0, 20, &by_name));
    GIVES(0, shmemx_region_find(right(), NULL, number + 1, 20, &by_number));
    CHECK(!strcmp(info_of(by_name).name, name) && info_of(by_name).number == number);
    GIVES(number + 1, info_of(by_number).number);
    GIVES(0, shmemx_put(by_name, 0, &(int64_t){41}, 8));
    GIVES(0, shmemx_put(by_number, 0, &(int64_t){42}, 8));
    GIVES(0, shmemx_barrier());
    GIVES(41, first);
    GIVES(42, second);
    GIVES(0, shmemx_region_find(me, NULL, number, 0, &own)); /* one's own too */
    GIVES(0, shmemx_region_close(own));
    REFUSES(ETIMEDOUT, "no region named 'nobody's'", shmemx_region_find(right(), "nobody's", 0, 0.05, &own));
    REFUSES(ETIMEDOUT, "did not register its region", shmemx_region_find(right(), NULL, number + 1000, 0.05, &own));
    REFUSES(EINVAL, "pe is", shmemx_region_find(n, NULL, 0, 1, &own));
    REFUSES(EINVAL, "pe is -1", shmemx_region_find(-1, NULL, 0, 1, &own));
    snprintf(name, sizeof name, "of PE %d", me);
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    attr.name = name;
    REFUSES(EEXIST, "has that name already", shmemx_register(&second, sizeof second, &attr, &own));
    GIVES(0, shmemx_region_close(by_name));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(a));
    GIVES(0, shmemx_deregister(b));
    GIVES(0, shmemx_barrier());
    REFUSES(ENOENT, "was deregistered", shmemx_get(&first, by_number, 0, 8));
    REFUSES(ENOENT, "was deregistered", shmemx_region_info(by_number, &(shmemx_region_info_t){0}));
    REFUSES(ENOENT, "was deregistered", shmemx_region_find(right(), NULL, number, 1, &own));
    GIVES(0, shmemx_region_close(by_number));
    REFUSES(EINVAL, "no region handle", shmemx_region_close(by_number));
    attr.name = name; /* free again */
    GIVES(0, shmemx_register(&second, sizeof second, &attr, &own));
    GIVES(0, shmemx_deregister(own));
}

/* Finding waits until it is registered. */
static void found_later(void)
{
    static char memory[100];
    shmemx_region_t mine, theirs;
    GIVES(0, shmemx_barrier());
    if (me == 0)
        usleep(60000);
    mine = registered(memory, sizeof memory, "late", SHMEMX_REMOTE_ALL);
    GIVES(0, shmemx_region_find(0, "late", 0, 20, &theirs));
    GIVES(0, shmemx_put(theirs, (size_t)me, &(char){'x'}, 1));
    GIVES(0, shmemx_region_close(theirs));
    GIVES(0, shmemx_barrier());
    for (int pe = 0; pe < n; pe++)
        GIVES(me == 0 ? 'x' : 0, memory[pe]);
    GIVES(0, shmemx_deregister(mine));
}

/* Corresponding regions must agree in bytes and type. */
static void disagreement(void)
{
    static int64_t memory[16];
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    shmemx_region_t mine, theirs, typed;
    char wanted[80];
    if (n == 1)
        return;
    attr.name = "sizes";
    GIVES(0, shmemx_register(memory, me == 0 ? 64 : 128, &attr, &mine));
    attr.name = "types";
    attr.type = me == 0 ? SHMEMX_INT64 : SHMEMX_DOUBLE;
    GIVES(0, shmemx_register(memory, 64, &attr, &typed));
    int other = me == 0 ? 1 : 0;
    snprintf(wanted, sizeof wanted, "has %d bytes on PE %d but %d on PE %d", me == 0 ? 64 : 128, me, me == 0 ? 128 : 64,
             other);
    REFUSES(EINVAL, wanted, shmemx_region_at(mine, other, 20, &theirs));
    snprintf(wanted, sizeof wanted, "on PE %d but %s on PE %d", me, me == 0 ? "float64" : "int64", other);
    REFUSES(EINVAL, wanted, shmemx_region_at(typed, other, 20, &theirs));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(mine));
    GIVES(0, shmemx_deregister(typed));
}

/* Events are counted, so those that came before the wait are not lost. */
static void events(void)
{
    static int64_t memory[64];
    shmemx_region_t mine = registered(memory, sizeof memory, NULL, SHMEMX_REMOTE_ALL), next = at(mine, right());
    GIVES(0, shmemx_barrier());
    for (int i = 0; i < 5; i++)
        GIVES(0, shmemx_put(next, 0, &(int64_t){i}, 8));
    int64_t got;
    GIVES(0, shmemx_get(&got, next, 0, 8));
    GIVES(0, shmemx_barrier());
    for (int i = 0; i < 5; i++)
        GIVES(0, shmemx_wait_event(mine, i % 2 ? SHMEMX_EVENT_WRITE : SHMEMX_EVENT_ANY, 20));
    if (n > 1) /* reading one's own is no event */
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_READ, 20));
    double start = seconds_now();
    REFUSES(ETIMEDOUT, "no put came within 0.05 seconds", shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 0.05));
    REFUSES(ETIMEDOUT, "no get came", shmemx_wait_event(mine, SHMEMX_EVENT_READ, 0.01));
    REFUSES(ETIMEDOUT, "no put or get came", shmemx_wait_event(mine, SHMEMX_EVENT_ANY, 0));
    CHECK(seconds_now() - start >= 0.06);
    REFUSES(EINVAL, "which is 0", shmemx_wait_event(mine, 0, 1));
    REFUSES(EINVAL, "which is 4", shmemx_wait_event(mine, 4, 1));
    if (n > 1)
        REFUSES(EINVAL, "only an own region", shmemx_wait_event(next, SHMEMX_EVENT_ANY, 1));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(mine));
}

/* Round and round: each PE waits for its left one, then puts to its right one. */
static void round_trips(void)
{
    static int64_t memory[2];
    enum { ROUNDS = 300 };
    shmemx_region_t mine = registered(memory, sizeof memory, NULL, SHMEMX_REMOTE_ALL), next = at(mine, right());
    for (int64_t i = 1; i <= ROUNDS; i++) {
        if (me == 0)
            GIVES(0, shmemx_put(next, 0, &i, 8));
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(i, memory[0]);
        if (me != 0)
            GIVES(0, shmemx_put(next, 0, &i, 8));
    }
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(mine));
}

static void signals(void)
{
    static int64_t memory[8];
    static uint64_t word[2];
    shmemx_region_t mine = registered(memory, sizeof memory, NULL, SHMEMX_REMOTE_ALL),
                    flag = registered(word, sizeof word, NULL, SHMEMX_REMOTE_ALL);
    int64_t data[2] = {me, -me};
    GIVES(0, shmemx_put_signal(at(mine, right()), 16, data, 16, at(flag, right()), 8, 7, SHMEM_SIGNAL_ADD));
    GIVES(0, shmemx_wait_value(flag, 8, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){7}, 20));
    CHECK(memory[2] == left() && memory[3] == -left());
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_put_signal(at(mine, right()), 0, data, 16, at(flag, right()), 0, 9, SHMEM_SIGNAL_SET));
    GIVES(0, shmemx_wait_value(flag, 0, SHMEMX_UINT64, SHMEM_CMP_GE, &(uint64_t){9}, 20));
    GIVES(left(), memory[0]);
    REFUSES(EINVAL, "sig_op is 9", shmemx_put_signal(at(mine, right()), 0, data, 16, at(flag, right()), 0, 1, 9));
    REFUSES(EINVAL, "aligned",
            shmemx_put_signal(at(mine, right()), 0, data, 16, at(flag, right()), 4, 1, SHMEM_SIGNAL_SET));
    REFUSES(EINVAL, "goes past",
            shmemx_put_signal(at(mine, right()), 0, data, 16, at(flag, right()), 16, 1, SHMEM_SIGNAL_SET));
    REFUSES(EINVAL, "goes past",
            shmemx_put_signal(at(mine, right()), 60, data, 16, at(flag, right()), 0, 1, SHMEM_SIGNAL_SET));
    if (n > 2)
        REFUSES(EINVAL, "but the data goes to",
                shmemx_put_signal(at(mine, right()), 0, data, 16, at(flag, left()), 0, 1, SHMEM_SIGNAL_SET));
    REFUSES(ETIMEDOUT, "did not satisfy",
            shmemx_wait_value(flag, 0, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){1000}, 0.03));
    REFUSES(EINVAL, "cmp is 77", shmemx_wait_value(flag, 0, SHMEMX_UINT64, 77, &(uint64_t){1000}, 1));
    REFUSES(EINVAL, "value is NULL", shmemx_wait_value(flag, 0, SHMEMX_UINT64, SHMEM_CMP_EQ, NULL, 1));
    REFUSES(EINVAL, "element type is", shmemx_wait_value(flag, 0, SHMEMX_INT8, SHMEM_CMP_EQ, &(uint64_t){1}, 1));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(mine));
    GIVES(0, shmemx_deregister(flag));
}

static void atomics(void)
{
    static struct {
        int64_t i64;
        int32_t i32;
        float f32;
        double f64;
        uint32_t bits;
        uint32_t cas;
        uint64_t u64;
    } memory;
    enum { TIMES = 2000 };
    memset(&memory, 0, sizeof memory);
    memory.bits = 0xffff0000;
    shmemx_region_t mine = registered(&memory, sizeof memory, NULL, SHMEMX_REMOTE_ALL), zero = at(mine, 0);
    GIVES(0, shmemx_barrier());
#define OFFSET(member) ((size_t)((char *)&memory.member - (char *)&memory))
    for (int i = 0; i < TIMES; i++) {
        int64_t old;
        GIVES(0, shmemx_atomic(zero, OFFSET(i64), SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &(int64_t){1}, NULL, &old));
        CHECK(old >= i && old < (int64_t)n * TIMES);
        GIVES(0, shmemx_atomic(zero, OFFSET(i32), SHMEMX_INT32, SHMEMX_ATOMIC_ADD, &(int32_t){-2}, NULL, NULL));
        GIVES(0, shmemx_atomic(zero, OFFSET(f32), SHMEMX_FLOAT, SHMEMX_ATOMIC_ADD, &(float){0.5f}, NULL, NULL));
        GIVES(0, shmemx_atomic(zero, OFFSET(f64), SHMEMX_DOUBLE, SHMEMX_ATOMIC_ADD, &(double){0.25}, NULL, NULL));
        GIVES(0,
              shmemx_atomic(zero, OFFSET(bits), SHMEMX_UINT32, SHMEMX_ATOMIC_XOR, &(uint32_t){1u << me}, NULL, NULL));
        uint32_t seen = 0, found;
        do { /* an increment by compare-and-swap */
            found = seen;
            GIVES(0, shmemx_atomic(zero, OFFSET(cas), SHMEMX_UINT32, SHMEMX_ATOMIC_CAS, &(uint32_t){found + 1}, &found,
                                   &seen));
        } while (seen != found);
    }
    GIVES(0, shmemx_barrier());
    int64_t i64;
    double f64;
    GIVES(0, shmemx_atomic(zero, OFFSET(i64), SHMEMX_INT64, SHMEMX_ATOMIC_FETCH, NULL, NULL, &i64));
    GIVES(0, shmemx_atomic(zero, OFFSET(f64), SHMEMX_DOUBLE, SHMEMX_ATOMIC_FETCH, NULL, NULL, &f64));
    GIVES(n * TIMES, i64);
    CHECK(f64 == n * TIMES * 0.25);
    if (me == 0)
        CHECK(memory.i32 == -2 * n * TIMES && memory.f32 == (float)(n * TIMES) * 0.5f && memory.bits == 0xffff0000 &&
              memory.cas == (uint32_t)(n * TIMES));
    GIVES(0, shmemx_barrier());
    if (me == n - 1) {
        uint64_t old = 1;
        GIVES(0, shmemx_atomic(zero, OFFSET(u64), SHMEMX_UINT64, SHMEMX_ATOMIC_SET, &(uint64_t){0xf0}, NULL, &old));
        GIVES(0, shmemx_atomic(zero, OFFSET(u64), SHMEMX_UINT64, SHMEMX_ATOMIC_SWAP, &(uint64_t){0xff}, NULL, &old));
        GIVES(0xf0, old);
        GIVES(0, shmemx_atomic(zero, OFFSET(u64), SHMEMX_UINT64, SHMEMX_ATOMIC_AND, &(uint64_t){0x3c}, NULL, &old));
        GIVES(0xff, old);
        GIVES(0, shmemx_atomic(zero, OFFSET(u64), SHMEMX_UINT64, SHMEMX_ATOMIC_OR, &(uint64_t){1}, NULL, &old));
        GIVES(0x3c, old);
        GIVES(0, shmemx_atomic(zero, OFFSET(u64), SHMEMX_UINT64, SHMEMX_ATOMIC_CAS, &(uint64_t){5}, &(uint64_t){99},
                               &old));
        GIVES(0x3d, old); /* not what was expected: unchanged */
        GIVES(0, shmemx_atomic(zero, OFFSET(u64), SHMEMX_UINT64, SHMEMX_ATOMIC_FETCH, NULL, NULL, &old));
        GIVES(0x3d, old);
    }
    int64_t v = 1;
    REFUSES(EINVAL, "element type is int8", shmemx_atomic(zero, 0, SHMEMX_INT8, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EINVAL, "element type is", shmemx_atomic(zero, 0, SHMEMX_COMPLEXF, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EINVAL, "element type is", shmemx_atomic(zero, 0, SHMEMX_BYTES, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EINVAL, "aligned", shmemx_atomic(zero, 4, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EINVAL, "goes past", shmemx_atomic(zero, sizeof memory, SHMEMX_INT32, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EINVAL, "goes past", shmemx_atomic(zero, SIZE_MAX - 3, SHMEMX_INT32, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EINVAL, "operand is NULL", shmemx_atomic(zero, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, NULL, NULL, NULL));
    REFUSES(EINVAL, "expected is NULL", shmemx_atomic(zero, 0, SHMEMX_INT64, SHMEMX_ATOMIC_CAS, &v, NULL, NULL));
    REFUSES(EINVAL, "operation is 55", shmemx_atomic(zero, 0, SHMEMX_INT64, (shmemx_atomic_t)55, &v, NULL, NULL));
    REFUSES(EINVAL, "work on integers",
            shmemx_atomic(zero, OFFSET(f64), SHMEMX_DOUBLE, SHMEMX_ATOMIC_OR, &v, NULL, NULL));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(mine));
}

/* With a region of elements of a type, only operations on such elements: others would change neighbours, too. */
static void typed(void)
{
    static _Alignas(4096) uint64_t memory[16];
    static const struct {
        shmemx_type_t type;
        const char *name;
        bool words, floats, halves;
    } cases[] = {
        {SHMEMX_BYTES, "bytes", true, true, true},           {SHMEMX_INT8, "int8", true, true, true},
        {SHMEMX_UINT8, "uint8", true, true, true},           {SHMEMX_INT64, "int64", true, false, false},
        {SHMEMX_UINT64, "uint64", true, false, false},       {SHMEMX_INT32, "int32", false, false, true},
        {SHMEMX_UINT32, "uint32", false, false, true},       {SHMEMX_DOUBLE, "float64", false, true, false},
        {SHMEMX_FLOAT, "float32", false, false, false},      {SHMEMX_INT16, "int16", false, false, false},
        {SHMEMX_COMPLEXF, "complex64", false, false, false}, {SHMEMX_BFLOAT16, "bfloat16", false, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shmemx_region_t own;
        shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
        char says[80];
        memset(memory, 0, sizeof memory);
        attr.type = cases[i].type;
        GIVES(0, shmemx_register(memory, sizeof memory, &attr, &own));
        int words = shmemx_atomic(own, 8, SHMEMX_UINT64, SHMEMX_ATOMIC_ADD, &(uint64_t){5}, NULL, NULL);
        GIVES(words, shmemx_wait_value(own, 8, SHMEMX_UINT64, SHMEM_CMP_GE, &(uint64_t){5}, 10));
        GIVES(words, shmemx_put_signal(own, 64, &(uint64_t){1}, 8, own, 0, 7, SHMEM_SIGNAL_SET));
        GIVES(cases[i].words ? 0 : -EINVAL, words);
        CHECK(memory[0] == (cases[i].words ? 7 : 0) && memory[8] == cases[i].words, "%s", cases[i].name);
        snprintf(says, sizeof says, "has elements of type %s, but the operation is one on uint64", cases[i].name);
        if (words < 0)
            REFUSES(EINVAL, says, shmemx_put_signal(own, 64, &(uint64_t){1}, 8, own, 0, 7, SHMEM_SIGNAL_SET));
        GIVES(cases[i].floats ? 0 : -EINVAL,
              shmemx_atomic(own, 16, SHMEMX_DOUBLE, SHMEMX_ATOMIC_ADD, &(double){2.5}, NULL, NULL));
        GIVES(cases[i].halves ? 0 : -EINVAL,
              shmemx_atomic(own, 24, SHMEMX_INT32, SHMEMX_ATOMIC_ADD, &(int32_t){-1}, NULL, NULL));
        CHECK(memory[3] == (cases[i].halves ? UINT32_MAX : 0), "%s", cases[i].name);
        GIVES(0, shmemx_deregister(own));
    }
    GIVES(0, shmemx_barrier());
}

/* Rights: what a PE does not allow others is refused, and a view that may only be read faults when written. */
static void rights(void)
{
    static _Alignas(4096) int64_t memory[1024];
    memory[0] = 5 + me;
    shmemx_region_t local = registered(memory, sizeof memory, "local", SHMEMX_LOCAL_ONLY), theirs;
    shmemx_region_t readable = registered(memory, sizeof memory, "readable", SHMEMX_REMOTE_READ);
    shmemx_region_t writable = registered(memory + 512, 64, "writable", SHMEMX_REMOTE_WRITE);
    GIVES(0, shmemx_barrier());
    int64_t v = 0;
    GIVES(0, shmemx_put(readable, 8, &v, 8)); /* the owner may do anything */
    GIVES(0, shmemx_get(&v, local, 0, 8));
    GIVES(5 + me, v);
    if (n > 1) {
        theirs = at(local, right());
        REFUSES(EACCES, "does not allow others to read", shmemx_get(&v, theirs, 0, 8));
        REFUSES(EACCES, "does not allow others to write", shmemx_put(theirs, 0, &v, 8));
        REFUSES(EACCES, "does not allow others to change",
                shmemx_atomic(theirs, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
        theirs = at(readable, right());
        GIVES(0, shmemx_get(&v, theirs, 0, 8));
        GIVES(5 + right(), v);
        REFUSES(EACCES, "does not allow others to write", shmemx_put(theirs, 0, &v, 8));
        REFUSES(EACCES, "does not allow others to change",
                shmemx_atomic(theirs, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
        GIVES(0, shmemx_atomic(theirs, 0, SHMEMX_INT64, SHMEMX_ATOMIC_FETCH, NULL, NULL, &v));
        const volatile int64_t *view = info_of(theirs).address;
        GIVES(5 + right(), view[0]);
        pid_t pid = fork();
        if (pid == 0) {
            signal(SIGSEGV, SIG_DFL);
            *(volatile int64_t *)(uintptr_t)view = 1;
            _exit(0);
        }
        int status;
        waitpid(pid, &status, 0);
#if !defined(__SANITIZE_ADDRESS__)
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "writing a read-only view: status %#x",
              (unsigned)status);
#endif
        GIVES(5 + right(), view[0]);
        theirs = at(writable, right());
        GIVES(0, shmemx_put(theirs, 0, &v, 8));
        REFUSES(EACCES, "does not allow others to read", shmemx_get(&v, theirs, 0, 8));
    }
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(local));
    GIVES(0, shmemx_deregister(readable));
    GIVES(0, shmemx_deregister(writable));
}

/* Memory that is not moved: copies through the kernel, nothing else. */
static void not_moved(void)
{
    static int64_t memory[1000];
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    shmemx_region_t mine, theirs;
    attr.move = 0;
    attr.name = "pinned";
    GIVES(0, shmemx_register(memory, sizeof memory, &attr, &mine));
    GIVES(SHMEMX_KIND_COPIED, info_of(mine).kind);
    memory[3] = 30 + me;
    GIVES(0, shmemx_barrier());
    int rc = n > 1 ? shmemx_region_at(mine, right(), 20, &theirs) : 1;
    if (rc == -EPERM && n > 1)
        SKIP_CASE("copies through the kernel", "the kernel does not let processes read each other's memory");
    else if (n > 1) {
        int64_t v;
        GIVES(0, rc);
        CHECK(info_of(theirs).kind == SHMEMX_KIND_COPIED && !info_of(theirs).address);
        GIVES(0, shmemx_get(&v, theirs, 24, 8));
        GIVES(30 + right(), v);
        GIVES(0, shmemx_put(theirs, 8, &(int64_t){60 + me}, 8));
        GIVES(0, shmemx_wait_event(mine, SHMEMX_EVENT_WRITE, 20));
        GIVES(60 + left(), memory[1]);
        REFUSES(ENOTSUP, "registered without moving",
                shmemx_atomic(theirs, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
        REFUSES(EINVAL, "goes past", shmemx_put(theirs, 8000, &v, 1));
    }
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(mine));
    attr.name = NULL;
    REFUSES(EFAULT, "no memory is mapped", shmemx_register((void *)4096, 8, &attr, &mine)); /* NOLINT */
}

/* Regions in the symmetric heap need no moving, and correspond by offset. */
static void symmetric(void)
{
    int64_t *block = shmem_calloc(16, sizeof *block);
    shmemx_region_t whole, numbered;
    GIVES(0, shmemx_region_symmetric(block, 128, &whole));
    GIVES(SHMEMX_KIND_SYMMETRIC, info_of(whole).kind);
    GIVES(0, shmemx_put(at(whole, right()), 8, &(int64_t){me + 1}, 8));
    GIVES(0, shmemx_barrier());
    GIVES(left() + 1, block[1]);
    REFUSES(EINVAL, "no events", shmemx_wait_event(whole, SHMEMX_EVENT_ANY, 0));
    numbered = registered(block, 128, NULL, SHMEMX_REMOTE_ALL);
    GIVES(SHMEMX_KIND_SYMMETRIC, info_of(numbered).kind);
    GIVES(0, shmemx_put(at(numbered, right()), 16, &(int64_t){me + 2}, 8));
    GIVES(0, shmemx_wait_event(numbered, SHMEMX_EVENT_WRITE, 20));
    GIVES(left() + 2, block[2]);
    REFUSES(EINVAL, "not in what is allocated", shmemx_region_symmetric(&me, 4, &whole));
    REFUSES(EINVAL, "not in what is allocated", shmemx_region_symmetric(block, 0, &whole));
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_deregister(numbered));
    REFUSES(EINVAL, "was not registered", shmemx_deregister(whole));
    GIVES(0, shmemx_region_close(whole));
    shmem_free(block);
}

/* Owners that deregister while others use the region: errors, no faults, and the memory is the owner's alone. */
static void ends_while_in_use(void)
{
    enum { ROUNDS = 30, SIZE = 40000 };
    static unsigned char memory[SIZE];
    unsigned char work[SIZE];
    if (n == 1)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        shmemx_region_t mine = NULL, theirs;
        char name[32];
        snprintf(name, sizeof name, "round %d", round);
        memset(memory, 7, SIZE);
        mine = registered(memory, SIZE, name, SHMEMX_REMOTE_ALL); /* everywhere, so that numbers stay alike */
        GIVES(0, shmemx_barrier());
        if (me == 0)
            usleep((useconds_t)(round * 37 % 700));
        if (me == 0) {
            GIVES(0, shmemx_deregister(mine));
            memset(memory, 99, SIZE); /* nobody else's any more */
            GIVES(0, shmemx_barrier());
            for (int i = 0; i < SIZE; i++)
                CHECK(memory[i] == 99, "byte %d is %d: a put after the end arrived", i, memory[i]);
        } else {
            int rc = shmemx_region_find(0, name, 0, 0, &theirs);
            CHECK(rc == 0 || rc == -ENOENT || rc == -ETIMEDOUT, "%d", rc);
            bool found = rc == 0;
            for (int i = 0; rc == 0; i++) {
                memset(work, 8, SIZE);
                rc = i % 2 ? shmemx_put(theirs, 0, work, SIZE) : shmemx_get(work, theirs, 0, SIZE);
                CHECK(rc == 0 || rc == -ENOENT, "%d", rc);
            }
            if (found)
                GIVES(0, shmemx_region_close(theirs));
            GIVES(0, shmemx_deregister(mine));
            GIVES(0, shmemx_barrier());
        }
    }
}

/* What cannot be registered, and handles that are none. */
static void not_possible(void)
{
    static char memory[100];
    char on_stack[100];
    shmemx_region_t region;
    shmemx_region_attr_t attr = SHMEMX_REGION_ATTR;
    REFUSES(EINVAL, "size is 0", shmemx_register(memory, 0, NULL, &region));
    REFUSES(EINVAL, "address is NULL", shmemx_register(NULL, 8, NULL, &region));
    REFUSES(EINVAL, "out is NULL", shmemx_register(memory, 8, NULL, NULL));
    REFUSES(EINVAL, "past the end of the address space", shmemx_register(memory, SIZE_MAX, NULL, &region));
    REFUSES(EINVAL, "stack", shmemx_register(on_stack, sizeof on_stack, NULL, &region));
    void *read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REFUSES(EACCES, "", shmemx_register(read_only, 4096, NULL, &region));
    munmap(read_only, 4096);
    REFUSES(EFAULT, "", shmemx_register(read_only, 4096, NULL, &region));
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REFUSES(EEXIST, "", shmemx_register(shared, 4096, NULL, &region));
    munmap(shared, 4096);
    attr.access = 8;
    REFUSES(EINVAL, "access is 0x8", shmemx_register(memory, 8, &attr, &region));
    attr = (shmemx_region_attr_t)SHMEMX_REGION_ATTR;
    attr.type = (shmemx_type_t)99;
    REFUSES(EINVAL, "type is 99", shmemx_register(memory, 8, &attr, &region));
    attr = (shmemx_region_attr_t)SHMEMX_REGION_ATTR;
    attr.name = "";
    REFUSES(EINVAL, "name is ''", shmemx_register(memory, 8, &attr, &region));
    attr.name = "0123456789012345678901234567890123456789012345678901234567890123";
    REFUSES(EINVAL, "must have 1 to 63 bytes", shmemx_register(memory, 8, &attr, &region));
    attr.name++;
    GIVES(0, shmemx_register(memory, 8, &attr, &region));
    REFUSES(EINVAL, "it is deregistered, not closed", shmemx_region_close(region));
    GIVES(0, shmemx_deregister(region));
    REFUSES(EINVAL, "no region handle", shmemx_deregister(region));
    REFUSES(EINVAL, "no region handle", shmemx_put(region, 0, "x", 1));
    REFUSES(EINVAL, "no region handle", shmemx_put(NULL, 0, "x", 1));
    REFUSES(EINVAL, "no region handle", shmemx_get(memory, (shmemx_region_t)12345678, 0, 1)); /* NOLINT */
    REFUSES(EINVAL, "no region handle", shmemx_wait_event((shmemx_region_t)-1, 1, 0));        /* NOLINT */
    GIVES(0, shmemx_register(memory, 8, NULL, &region));
    REFUSES(EINVAL, "source is NULL", shmemx_put(region, 0, NULL, 1));
    REFUSES(EINVAL, "dest is NULL", shmemx_get(NULL, region, 0, 1));
    GIVES(0, shmemx_deregister(region));
    /* Objects that overlap may both be registered. */
    shmemx_region_t a, b;
    GIVES(0, shmemx_register(memory, 60, NULL, &a));
    GIVES(0, shmemx_register(memory + 40, 60, NULL, &b));
    GIVES(0, shmemx_put(b, 0, "both", 4));
    CHECK(!memcmp(memory + 40, "both", 4));
    GIVES(0, shmemx_deregister(a));
    GIVES(0, shmemx_put(b, 4, "!", 1));
    CHECK(memory[44] == '!');
    GIVES(0, shmemx_deregister(b));
}

/* As many regions at once as processes may have mappings, and more than the directory's pages at the start. */
static void a_hundred_thousand(void)
{
    enum { MANY = 100000, SIZE = 16 };
    char *memory = mmap(NULL, MANY * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shmemx_region_t *regions = calloc(MANY, sizeof(shmemx_region_t)), theirs;
    for (int i = 0; i < MANY; i++)
        GIVES(0, shmemx_register(memory + i * SIZE, SIZE, NULL, &regions[i]));
    uint64_t first = info_of(regions[0]).number;
    GIVES(first + MANY - 1, info_of(regions[MANY - 1]).number);
    GIVES(0, shmemx_barrier());
    for (int i = 0; i < MANY; i += 9973) {
        GIVES(0, shmemx_region_find(right(), NULL, first + (uint64_t)i, 20, &theirs));
        GIVES(0, shmemx_put(theirs, 0, &i, sizeof i));
        GIVES(0, shmemx_region_close(theirs));
    }
    GIVES(0, shmemx_barrier());
    for (int i = 0; i < MANY; i++) {
        int found;
        memcpy(&found, memory + i * SIZE, sizeof found);
        GIVES(i % 9973 ? 0 : i, found);
        GIVES(0, shmemx_deregister(regions[i]));
    }
    munmap(memory, MANY * SIZE);
    free(regions);
}

int main(void)
{
    static char warm[8];
    shmemx_region_t first;
    setenv("SHMEM_SYMMETRIC_SIZE", "16M", 1);
    multi_begin();
    GIVES(0, shmemx_register(warm, sizeof warm, NULL, &first));
    GIVES(0, shmemx_barrier());
    CASE(objects_of_all_sizes);
    CASE(by_name_and_number);
    CASE(found_later);
    CASE(disagreement);
    CASE(events);
    CASE(round_trips);
    CASE(signals);
    CASE(atomics);
    CASE(typed);
    CASE(rights);
    CASE(not_moved);
    CASE(symmetric);
    CASE(ends_while_in_use);
    CASE(not_possible);
    if (n <= 2)
        CASE(a_hundred_thousand);
    GIVES(0, shmemx_deregister(first));
    return multi_end();
}
