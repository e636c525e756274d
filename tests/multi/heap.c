// SPDX-License-Identifier: Apache-2.0
// The symmetric heap: the same offsets everywhere, contents, sizes, alignment, exhaustion, misuse.
#include "multi.h"

enum { HEAP = 64 << 20 };

static const char *first; /* a block that was made first on all PEs */

/* Every PE has the block at the same distance from the first. */
static void same_offset(const void *block)
{
    uint64_t all[64] = {0}, distance = (uint64_t)((const char *)block - first);
    GIVES(0, shmemx_all_gather(all, &distance, sizeof distance));
    for (int pe = 0; pe < n; pe++)
        CHECK(all[pe] == distance, "PE %d has it %lld bytes away", pe, (long long)(all[pe] - distance));
}

static shmemx_heap_info_t heap_now(void)
{
    shmemx_heap_info_t info;
    GIVES(0, shmemx_heap_info(&info));
    return info;
}

/* Writes into the next PE's block; each PE then looks at its own. */
static void pass_round(unsigned char *block, size_t bytes)
{
    unsigned char *source = malloc(bytes);
    memset(source, 17 + me, bytes);
    shmem_putmem(block, source, bytes, (me + 1) % n);
    shmem_barrier_all();
    for (size_t i = 0; i<bytes; i += bytes> 4096 ? 997 : 1)
        CHECK(block[i] == 17 + (me + n - 1) % n, "byte %zu of %zu is %d", i, bytes, block[i]);
    CHECK(block[bytes - 1] == 17 + (me + n - 1) % n);
    free(source);
    shmem_barrier_all();
}

static void sizes(void)
{
    static const size_t all[] = {1, 8, 63, 64, 65, 4096, 65535, 65536, 65537, 1 << 20, (5 << 20) + 1};
    void *blocks[sizeof all / sizeof *all];
    const size_t before = heap_now().in_use;
    CHECK(shmem_malloc(0) == NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        blocks[i] = shmem_malloc(all[i]);
        CHECK(blocks[i], "%zu bytes", all[i]);
        CHECK((uintptr_t)blocks[i] % 64 == 0);
        same_offset(blocks[i]);
        pass_round(blocks[i], all[i]);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        shmem_free(blocks[i]);
    shmem_free(NULL);
    CHECK(heap_now().in_use == before, "%zu bytes were not given back", heap_now().in_use - before);
}

static void alignments(void)
{
    for (size_t align = 8; align <= 2 << 20; align *= 2) {
        char *small = shmem_malloc(10), *block = shmem_align(align, align + 3);
        CHECK(block && (uintptr_t)block % align == 0, "alignment %zu", align);
        for (int pe = 0; pe < n; pe++)
            CHECK((uintptr_t)shmem_ptr(block, pe) % align == 0, "alignment %zu, of PE %d's", align, pe);
        pass_round((unsigned char *)block, align + 3);
        shmem_free(block);
        shmem_free(small);
    }
    void *block;
    REFUSES(EINVAL, "alignment is 3", shmemx_malloc(8, 3, &block));
    REFUSES(ENOMEM, "at most 2 MiB", shmemx_malloc(8, 4 << 20, &block));
    CHECK(shmem_align(4 << 20, 8) == NULL && strstr(shmemx_last_error(), "at most 2 MiB"));
    CHECK(shmem_align((size_t)1 << 63, 8) == NULL);
}

static void cleared(void)
{
    unsigned char *dirty = shmem_malloc(100000);
    memset(dirty, 0xff, 100000);
    shmem_barrier_all();
    shmem_free(dirty);
    unsigned char *block = shmem_calloc(1000, 100);
    for (size_t i = 0; i < 100000; i++)
        CHECK(block[i] == 0, "byte %zu is %d", i, block[i]);
    shmem_barrier_all();
    pass_round(block, 100000);
    shmem_free(block);
    CHECK(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
    CHECK(shmem_calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(strstr(shmemx_last_error(), "more than an address space"));
}

static void resizing(void)
{
    unsigned char *block = shmem_realloc(NULL, 1000);
    for (size_t i = 0; i < 1000; i++)
        block[i] = (unsigned char)(i * 7 + (size_t)me);
    void *behind = shmem_malloc(64); /* so that it cannot grow where it is */
    static const size_t all[] = {100, 1000, 70000, 3 << 20, 200, 1 << 20};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        block = shmem_realloc(block, all[k]);
        CHECK(block, "%zu bytes", all[k]);
        same_offset(block);
        for (size_t i = 0; i < 100; i++)
            CHECK(block[i] == (unsigned char)(i * 7 + (size_t)me), "byte %zu after a resize to %zu", i, all[k]);
        shmem_barrier_all();
        pass_round(block + all[k] - 1, 1); /* up to its last byte it is shared */
        block[99] = (unsigned char)(99 * 7 + me);
    }
    CHECK(shmem_realloc(block, 0) == NULL);
    shmem_free(behind);
}

static void exhaustion(void)
{
    void *block = (void *)1;
    REFUSES(ENOMEM, "no room for 68719476736 bytes", shmemx_malloc((size_t)64 << 30, 0, &block));
    CHECK(!block);
    CHECK(strstr(shmemx_last_error(), "SHMEM_SYMMETRIC_SIZE"), "no remedy in '%s'", shmemx_last_error());
    CHECK(shmem_malloc(SIZE_MAX) == NULL);
    char *blocks[64];
    int count = 0;
    while ((blocks[count] = shmem_malloc(5 << 20)))
        count++;
    CHECK(count == 12, "%d blocks of 5 MiB in a heap of 64 MiB", count);
    shmemx_heap_info_t full = heap_now();
    CHECK(full.total == HEAP && full.largest_free < 5 << 20 && full.in_use >= 60 << 20 &&
          full.high_water >= full.in_use);
    for (int i = 0; i < count; i += 2)
        shmem_free(blocks[i]);
    CHECK(shmem_malloc(6 << 20) == NULL); /* only gaps of 5 MiB */
    for (int i = 1; i < count; i += 2)
        shmem_free(blocks[i]);
    char *whole = shmem_malloc(HEAP - (2 << 20)); /* all gaps joined */
    CHECK(whole);
    whole[HEAP - (2 << 20) - 1] = 1;
    shmem_free(whole);
}

/* What was given back is no longer there: big free ranges return their pages. */
static void pages_return(void)
{
    char *block = shmem_malloc(32 << 20);
    memset(block, 1, 32 << 20);
    shmem_barrier_all();
    shmem_free(block);
    block = shmem_malloc(32 << 20);
    CHECK(block[16 << 20] == 0, "the pages of a freed block were kept");
    shmem_free(block);
}

static void misuse(void)
{
    char *block = shmem_malloc(100);
    REFUSES(EINVAL, "not the beginning of an allocated block", shmemx_free(block + 64));
    int local;
    REFUSES(EINVAL, "not the beginning of an allocated block", shmemx_free(&local));
    shmem_free(block);
    REFUSES(EINVAL, "freed already", shmemx_free(block));
    CHECK(!shmem_addr_accessible(&local, 0));
    CHECK(shmem_ptr(&local, me) == NULL);
}

/* PEs that ask for different things are told so, both of them named, and none of them hangs. */
static void mismatch(void)
{
    void *block = NULL;
    char wanted[64];
    if (n == 1)
        return;
    size_t before = heap_now().in_use;
    int rc = shmemx_malloc(me == n - 1 ? 2000 : 1000, 0, &block);
    GIVES(-EINVAL, rc);
    snprintf(wanted, sizeof wanted,
             me == n - 1 ? "PE %d calls shmemx_malloc(2000 bytes, " : "PE %d calls shmemx_malloc(1000 bytes, ", me);
    CHECK(strstr(shmemx_last_error(), wanted), "'%s'", wanted);
    snprintf(wanted, sizeof wanted, me == n - 1 ? "but PE 0 calls shmemx_malloc(1" : "but PE %d calls shmemx_malloc(2",
             n - 1);
    CHECK(strstr(shmemx_last_error(), wanted), "'%s'", wanted);
    void *a = shmem_malloc(100), *b = shmem_malloc(100); /* and it goes on */
    CHECK(a && b);
    rc = shmemx_free(me == 0 ? a : b);
    GIVES(-EINVAL, rc);
    rc = me == 0 ? shmemx_free(a) : shmemx_malloc(100, 0, &block);
    GIVES(-EINVAL, rc);
    shmem_free(a);
    shmem_free(b);
    CHECK(heap_now().in_use == before, "%zu bytes were not given back", heap_now().in_use - before);
}

/* Random calls, the same on every PE, contents checked. */
static void random_calls(void)
{
    enum { BLOCKS = 40 };
    struct {
        unsigned char *at;
        size_t size;
    } live[BLOCKS] = {{0}};
    uint64_t seed = 99;
    for (int step = 0; step < 600 / n; step++) {
        size_t i = next_random(&seed) % BLOCKS, size = 1 + next_random(&seed) % (step % 10 ? 20000 : 900000);
        if (live[i].at) {
            for (size_t k = 0; k < live[i].size; k += 501)
                CHECK(live[i].at[k] == (unsigned char)(i + (size_t)me), "block %zu was overwritten at %zu", i, k);
            shmem_free(live[i].at);
            live[i].at = NULL;
        } else if ((live[i].at = shmem_malloc(size))) {
            live[i].size = size;
            memset(live[i].at, (int)(i + (size_t)me), size);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++)
        shmem_free(live[i].at);
}

int main(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "64M", 1);
    multi_begin();
    first = shmem_malloc(1);
    same_offset(first); /* the first collective on private memory takes scratch, which stays */
    CASE(sizes);
    CASE(alignments);
    CASE(cleared);
    CASE(resizing);
    CASE(exhaustion);
    CASE(pages_return);
    CASE(misuse);
    CASE(mismatch);
    CASE(random_calls);
    return multi_end();
}
