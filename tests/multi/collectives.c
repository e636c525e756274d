// SPDX-License-Identifier: Apache-2.0
// Collectives on memory of any kind: all_reduce, broadcast, all_gather; sizes about the stage's, PEs that differ.
#include "leaks.h"
#include "multi.h"

#include <sys/mman.h>

static const size_t sizes[] = {
    0, 1, 7, 64, 100, 1000, 65536, 65537, 262144 / 8 - 1, 262144 / 8, 262144 / 8 + 1, 200000, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void sums(void)
{
    for (int k = 0; k < SIZES; k++) {
        size_t count = sizes[k];
        int64_t *data = malloc(count * sizeof *data + 8);
        for (size_t i = 0; i < count; i++)
            data[i] = (int64_t)i * (me + 1);
        data[count] = -1;
        GIVES(0, shmemx_all_reduce(data, count, SHMEMX_INT64, SHMEMX_SUM));
        for (size_t i = 0; i < count; i++)
            CHECK(data[i] == (int64_t)i * n * (n + 1) / 2, "element %zu of %zu is %lld", i, count, (long long)data[i]);
        GIVES(-1, data[count]);
        free(data);
    }
}

/* Every type and operation that there is, with values that tell the operations apart. */
static void types_and_operations(void)
{
    enum { COUNT = 3 };
    for (int op = SHMEMX_SUM; op <= SHMEMX_XOR; op++) {
        int8_t i8[COUNT] = {(int8_t)(me + 1), (int8_t)-me, 5};
        uint16_t u16[COUNT] = {(uint16_t)(65535 - me), (uint16_t)me, 3};
        int32_t i32[COUNT] = {me - 2, INT32_MAX, 3};
        double f64[COUNT] = {me - 0.5, 2, -1.5};
        GIVES(0, shmemx_all_reduce(i8, COUNT, SHMEMX_INT8, (shmemx_op_t)op));
        GIVES(0, shmemx_all_reduce(u16, COUNT, SHMEMX_UINT16, (shmemx_op_t)op));
        GIVES(0, shmemx_all_reduce(i32, COUNT, SHMEMX_INT32, (shmemx_op_t)op));
        if (op <= SHMEMX_MAX)
            GIVES(0, shmemx_all_reduce(f64, COUNT, SHMEMX_DOUBLE, (shmemx_op_t)op));
        else
            REFUSES(EINVAL, "does not exist", shmemx_all_reduce(f64, COUNT, SHMEMX_DOUBLE, (shmemx_op_t)op));
        int8_t a = 1;
        uint16_t b = 65535;
        int32_t c = -2;
        double d = -0.5;
        for (int pe = 1; pe < n; pe++) {
            int8_t x = (int8_t)(pe + 1);
            uint16_t y = (uint16_t)(65535 - pe);
            int32_t z = pe - 2;
            double w = pe - 0.5;
            switch (op) {
            case SHMEMX_SUM:
                a = (int8_t)(a + x), b = (uint16_t)(b + y), c += z, d += w;
                break;
            case SHMEMX_PROD:
                a = (int8_t)(a * x), b = (uint16_t)((unsigned)b * y), c *= z, d *= w;
                break;
            case SHMEMX_MIN:
                a = a < x ? a : x, b = b < y ? b : y, c = c < z ? c : z, d = d < w ? d : w;
                break;
            case SHMEMX_MAX:
                a = a > x ? a : x, b = b > y ? b : y, c = c > z ? c : z, d = d > w ? d : w;
                break;
            case SHMEMX_AND:
                a &= x, b &= y, c &= z;
                break;
            case SHMEMX_OR:
                a |= x, b |= y, c |= z;
                break;
            default:
                a ^= x, b ^= y, c ^= z;
                break;
            }
        }
        CHECK(i8[0] == a && u16[0] == b && i32[0] == c && (op > SHMEMX_MAX || f64[0] == d), "operation %d: %d %d %d %g",
              op, i8[0], u16[0], i32[0], f64[0]);
    }
    GIVES(-EINVAL, shmemx_all_reduce(&me, 1, SHMEMX_BYTES, SHMEMX_SUM));
    GIVES(-EINVAL, shmemx_all_reduce(&me, 1, SHMEMX_INT32, (shmemx_op_t)99));
    REFUSES(EINVAL, "data", shmemx_all_reduce(NULL, 1, SHMEMX_INT32, SHMEMX_SUM));
    GIVES(-EINVAL, shmemx_all_reduce(&me, SIZE_MAX / 2, SHMEMX_INT64, SHMEMX_SUM));
}

/* Sums of floating-point numbers: the same bits on every PE. */
static void same_bits(void)
{
    for (size_t count = 1; count < 400000; count = count * 9 + 5) {
        float *data = malloc(count * sizeof *data);
        uint64_t seed = 5 + (uint64_t)me;
        for (size_t i = 0; i < count; i++)
            data[i] = (float)(int32_t)next_random(&seed) * 1e-3f;
        GIVES(0, shmemx_all_reduce(data, count, SHMEMX_FLOAT, SHMEMX_SUM));
        uint64_t mix = 0, all[64];
        for (size_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, &data[i], sizeof bits);
            mix = mix * 31 + bits;
        }
        GIVES(0, shmemx_all_gather(all, &mix, sizeof mix));
        for (int pe = 0; pe < n; pe++)
            CHECK(all[pe] == mix, "%zu floats: PE %d has other bits", count, pe);
        free(data);
    }
}

static void halves(void)
{
    uint16_t h[4] = {0x3c00, 0x6800, 0x7c00, 0x0001}, b[1] = {0x3f80}; /* 1, 2048, infinite, the smallest; 1 */
    GIVES(0, shmemx_all_reduce(h, 4, SHMEMX_FLOAT16, SHMEMX_SUM));
    GIVES(0, shmemx_all_reduce(b, 1, SHMEMX_BFLOAT16, SHMEMX_SUM));
    static const uint16_t ones[] = {0, 0x3c00, 0x4000, 0, 0x4400, 0, 0, 0, 0x4800},
                          bones[] = {0, 0x3f80, 0x4000, 0, 0x4080, 0, 0, 0, 0x4100};
    if (n <= 8 && ones[n]) {
        GIVES(ones[n], h[0]);
        GIVES(bones[n], b[0]);
    }
    GIVES(0x7c00, h[2]);
    GIVES(n, h[3]);
}

static void from_each_root(void)
{
    for (int root = 0; root < n; root++)
        for (int k = 0; k < SIZES; k++) {
            size_t bytes = sizes[k] + (k > 3);
            unsigned char *data = malloc(bytes + 1);
            memset(data, me == root ? 77 + root : 3, bytes + 1);
            if (bytes)
                data[bytes - 1] = me == root ? 200 : 0;
            data[bytes] = 0xee;
            GIVES(0, shmemx_broadcast(data, bytes, root));
            for (size_t i = 0; i + 1 < bytes; i++)
                CHECK(data[i] == 77 + root, "byte %zu of %zu from PE %d is %d", i, bytes, root, data[i]);
            if (bytes)
                GIVES(200, data[bytes - 1]);
            GIVES(0xee, data[bytes]);
            free(data);
        }
    REFUSES(EINVAL, "root is -1", shmemx_broadcast(&me, 4, -1));
    REFUSES(EINVAL, "root is ", shmemx_broadcast(&me, 4, n));
    REFUSES(EINVAL, "data is NULL", shmemx_broadcast(NULL, 4, 0));
}

static void gathered(void)
{
    for (int k = 0; k < SIZES; k++) {
        size_t bytes = sizes[k] + (k == 8);
        unsigned char *dest = malloc(bytes * (size_t)n + 1), *source = malloc(bytes + 1);
        for (size_t i = 0; i < bytes; i++)
            source[i] = (unsigned char)(i * 3 + (size_t)me * 41);
        dest[bytes * (size_t)n] = 0xee;
        GIVES(0, shmemx_all_gather(dest, source, bytes));
        for (int pe = 0; pe < n; pe++)
            for (size_t i = 0; i < bytes; i++)
                CHECK(dest[bytes * (size_t)pe + i] == (unsigned char)(i * 3 + (size_t)pe * 41),
                      "byte %zu of %zu of PE %d", i, bytes, pe);
        GIVES(0xee, dest[bytes * (size_t)n]);
        free(dest);
        free(source);
    }
    REFUSES(EINVAL, "dest is NULL", shmemx_all_gather(NULL, &me, 4));
    REFUSES(EINVAL, "source is NULL", shmemx_all_gather(&me, NULL, 4));
}

/* PEs that differ in what they call are told, with the other named; then it goes on. */
static void different_calls(void)
{
    int64_t data[64] = {0};
    char wanted[64];
    if (n == 1)
        return;
    int odd = me == n - 1;
    snprintf(wanted, sizeof wanted, "but PE %d for", odd ? 0 : n - 1);
    REFUSES(EINVAL, wanted, shmemx_all_reduce(data, odd ? 3 : 4, SHMEMX_INT64, SHMEMX_SUM));
    REFUSES(EINVAL, wanted, shmemx_all_reduce(data, 4, odd ? SHMEMX_UINT64 : SHMEMX_INT64, SHMEMX_SUM));
    REFUSES(EINVAL, wanted, shmemx_all_reduce(data, 4, SHMEMX_INT64, odd ? SHMEMX_MIN : SHMEMX_SUM));
    REFUSES(EINVAL, wanted, shmemx_all_reduce(data, odd ? 4 : 64, SHMEMX_INT64, SHMEMX_SUM)); /* one small, one large */
    REFUSES(EINVAL, wanted, shmemx_broadcast(data, 8, odd ? n - 1 : 0));
    REFUSES(EINVAL, wanted, shmemx_broadcast(data, odd ? 16 : 8, 0));
    REFUSES(EINVAL, wanted, odd ? shmemx_all_gather(data, data, 8) : shmemx_broadcast(data, 8, 0));
    int64_t one = 1;
    GIVES(0, shmemx_all_reduce(&one, 1, SHMEMX_INT64, SHMEMX_SUM));
    GIVES(n, one);
}

/* Beyond 2 GiB, where there is memory for it: a sparse source, most of it zeros. */
static void enormous(void)
{
    size_t bytes = ((size_t)1 << 31) + 1;
    char *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(data != MAP_FAILED);
    madvise(data, bytes, MADV_HUGEPAGE); /* only for speed */
    if (me == n - 1) {
        data[0] = 1;
        data[(size_t)1 << 31] = 2;
    }
    GIVES(0, shmemx_broadcast(data, bytes, n - 1));
    GIVES(1, data[0]);
    GIVES(0, data[12345]);
    GIVES(2, data[(size_t)1 << 31]);
    munmap(data, bytes);
}

static size_t memory_available(void)
{
    size_t kib = 0;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

int main(void)
{
    multi_begin();
    CASE(sums);
    CASE(types_and_operations);
    CASE(same_bits);
    CASE(halves);
    CASE(from_each_root);
    CASE(gathered);
    CASE(different_calls);
    int64_t enough = memory_available() > (size_t)8 << 30;
    GIVES(0, shmemx_broadcast(&enough, sizeof enough, 0));
    if (n != 2)
        ;
    else if (LEAKS_SANITIZED)
        SKIP_CASE("enormous", "it takes too long under a sanitizer");
    else if (enough)
        CASE(enormous);
    else
        SKIP_CASE("enormous", "2 PEs with 2 GiB each need 8 GiB of available memory");
    return multi_end();
}
