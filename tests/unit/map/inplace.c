// SPDX-License-Identifier: Apache-2.0
// Registering in place: one thread, one process.
#include "inplace_help.h"

#include "map/maps.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <linux/userfaultfd.h>

enum { PAGE = 4096 };

static void registered_memory_keeps_its_bytes_and_a_peer_shares_them(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    size_t sizes[] = {1, 100, 4096, 5000, 100000, 131072, 1 << 20, (9 << 20) + 17};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *array = malloc(sizes[i]);
        memset(array, 7, sizes[i]);
        struct region region = put_in(engine, array, sizes[i]);
        all_bytes(array, sizes[i], 7);
        struct view view = look_at(engine, region);
        all_bytes(through(view, array), sizes[i], 7);
        array[sizes[i] / 2] = 1;
        assert_int_equal(*(char *)through(view, &array[sizes[i] / 2]), 1);
        *(char *)through(view, &array[sizes[i] - 1]) = 2;
        assert_int_equal(array[sizes[i] - 1], 2);
        look_away(view);
        take_out(engine, region, false);
        assert_int_equal(array[sizes[i] - 1], 2);
        free(array);
    }
    shmemi_inplace_destroy(engine);
}

static void deregistered_memory_is_private_again(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *array = pages(64 * PAGE, 3);
    struct region region = put_in(engine, array, 64 * PAGE);
    struct view view = look_at(engine, region);
    array[5000] = 4;
    take_out(engine, (struct region){region.pieces, region.count, 0}, true);
    assert_int_equal(array[5000], 4);
    memset(view.base, 9, view.length);
    assert_int_equal(array[5000], 4);
    all_bytes(array + 6000, 64 * PAGE - 6000, 3);
    look_away(view);
    munmap(array, 64 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void inner_pages_are_whole_and_edges_are_mixed(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *array = pages(100 * PAGE, 1);
    struct region region = put_in(engine, array + PAGE, 40 * PAGE);
    assert_int_equal(region.count, 3);
    assert_int_equal(region.pieces[0].kind, SHMEMI_PAGES_MIXED);
    assert_int_equal(region.pieces[0].length, PAGE);
    assert_int_equal(region.pieces[1].kind, SHMEMI_PAGES_WHOLE);
    assert_int_equal(region.pieces[1].length, 38 * PAGE);
    assert_int_equal(region.pieces[2].kind, SHMEMI_PAGES_MIXED);
    assert_int_equal(region.pieces[1].address, (uintptr_t)array + 2 * PAGE);
    assert_int_equal(region.pieces[1].offset, region.pieces[1].address);
    struct region small = put_in(engine, array + 60 * PAGE + 10, 31 * PAGE - 20);
    assert_int_equal(small.count, 1);
    assert_int_equal(small.pieces[0].kind, SHMEMI_PAGES_MIXED);
    assert_int_equal(small.pieces[0].length, 31 * PAGE);
    take_out(engine, region, false);
    take_out(engine, small, false);
    munmap(array, 100 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void a_page_is_moved_once_however_many_regions_need_it(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(100 * PAGE, 5);
    struct region one = put_in(engine, memory, 50 * PAGE);
    struct region same = put_in(engine, memory, 50 * PAGE);
    struct region nested = put_in(engine, memory + 10 * PAGE, 35 * PAGE);
    struct region crossing = put_in(engine, memory + 40 * PAGE + 5, 50 * PAGE);
    assert_int_equal(same.count, one.count);
    assert_memory_equal(same.pieces, one.pieces, one.count * sizeof *one.pieces);
    assert_int_equal(nested.count, 1); /* inside what is whole already */
    assert_int_equal(nested.pieces[0].kind, SHMEMI_PAGES_WHOLE);
    struct view view = look_at(engine, crossing);
    take_out(engine, one, false);
    take_out(engine, nested, false);
    memory[45 * PAGE] = 6;
    assert_int_equal(*(char *)through(view, memory + 45 * PAGE), 6);
    memory[60 * PAGE] = 7;
    assert_int_equal(*(char *)through(view, memory + 60 * PAGE), 7);
    take_out(engine, same, false);
    memory[60 * PAGE] = 8;
    assert_int_equal(*(char *)through(view, memory + 60 * PAGE), 8);
    take_out(engine, crossing, false);
    look_away(view);
    memory[45 * PAGE] = memory[60 * PAGE] = 5;
    all_bytes(memory, 100 * PAGE, 5);
    munmap(memory, 100 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void two_objects_on_one_page_are_independent(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *page = pages(PAGE, 1);
    struct region one = put_in(engine, page + 100, 100), other = put_in(engine, page + 300, 100);
    struct view view = look_at(engine, other);
    take_out(engine, one, true);
    page[310] = 5;
    assert_int_equal(*(char *)through(view, page + 310), 5);
    take_out(engine, other, false);
    page[310] = 6;
    assert_int_equal(*(char *)through(view, page + 310), 0);
    look_away(view);
    munmap(page, PAGE);
    shmemi_inplace_destroy(engine);
}

static void old_peers_see_nothing_of_a_later_registration(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *array = pages(40 * PAGE, 1);
    struct region first = put_in(engine, array, 40 * PAGE);
    struct view old = look_at(engine, first);
    uint64_t offset = first.pieces[0].offset;
    take_out(engine, first, true);
    memset(array, 2, 40 * PAGE);
    struct region second = put_in(engine, array, 40 * PAGE);
    assert_int_not_equal(second.pieces[0].offset, offset);
    memset(old.base, 9, old.length);
    all_bytes(array, 40 * PAGE, 2);
    struct view now = look_at(engine, second);
    all_bytes(now.base, now.length, 2);
    look_away(old);
    look_away(now);
    offset = second.pieces[0].offset;
    take_out(engine, second, false);
    struct region third = put_in(engine, array, 40 * PAGE);
    assert_int_equal(third.pieces[0].offset, offset); /* nobody has it: used again */
    take_out(engine, third, false);
    munmap(array, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void offsets_that_peers_hold_run_out_cleanly(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("it takes too long under a sanitizer");
    struct shmemi_inplace *engine = plain_engine();
    char *page = pages(PAGE, 1);
    struct region region;
    int cycles = 0, rc;
    while ((rc = shmemi_inplace_register(engine, page, PAGE, &region.pieces, &region.count, &region.guard)) == 0 &&
           cycles++ < 100000)
        take_out(engine, region, true);
    assert_int_equal(rc, -ENOSPC);
    assert_true(cycles >= 1 << 14);
    assert_non_null(strstr(shmemi_last_error(), "register it once and keep it"));
    all_bytes(page, PAGE, 1);
    munmap(page, PAGE);
    shmemi_inplace_destroy(engine);
}

static void realloc_of_a_registered_block_copies(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    size_t sizes[] = {200000, 131072, 1 << 20, 40000};
    mallopt(M_MMAP_THRESHOLD, 32768); /* the last one is small, and mapped all the same */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        char *array = malloc(size);
        memset(array, 7, size);
        struct region region = put_in(engine, array, size);
        array = realloc(array, size * 3);
        all_bytes(array, size, 7);
        memset(array + size, 8, size * 2);
        all_bytes(array, size, 7);
        take_out(engine, region, true);
        all_bytes(array, size, 7);
        all_bytes(array + size, size * 2, 8);
        free(array);
    }
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    shmemi_inplace_destroy(engine);
}

/* A block of malloc that is a mapping of its own, although small: what is free in the heap is used up first.
 */
static char *mapped_block(size_t size)
{
    char *unused[1000], *block;
    int count = 0;
    mallopt(M_MMAP_THRESHOLD, 32768);
    while (block = malloc(size), (malloc_usable_size(block) + 16) % PAGE != 0 && count < 1000)
        unused[count++] = block;
    while (count-- > 0)
        free(unused[count]);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    return block;
}

static bool is_shared(const void *memory)
{
    struct shmemi_maps maps;
    struct shmemi_map map = {0};
    assert_int_equal(shmemi_maps_open(&maps, true), 0);
    assert_int_equal(shmemi_maps_find(&maps, (uintptr_t)memory, &map), 1);
    shmemi_maps_close(&maps);
    return map.shared;
}

/* mremap would take the mapping along, and behind its end lie the offsets of other addresses. */
static void a_small_block_that_malloc_grew_is_private(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("this malloc is not the C library's");
    struct shmemi_inplace *engine = plain_engine();
    char *above = mapped_block(40000), *block = mapped_block(40000);
    memset(block, 7, 40000);
    struct region region = put_in(engine, block, 40000);
    assert_true(is_shared(block));
    block = realloc(block, 200000);
    assert_false(is_shared(block));
    all_bytes(block, 40000, 7);
    memset(block, 7, 200000);
    take_out(engine, region, false);
    all_bytes(block, 200000, 7);
    free(block);
    free(above);
    shmemi_inplace_destroy(engine);
}

static void realloc_in_the_heap_and_shrinking_keep_the_bytes(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    char *array = malloc(300000);
    memset(array, 7, 300000);
    struct region region = put_in(engine, array, 300000);
    array = realloc(array, 600000);
    all_bytes(array, 300000, 7);
    array = realloc(array, 1000);
    all_bytes(array, 1000, 7);
    take_out(engine, region, false);
    all_bytes(array, 1000, 7);
    free(array);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    char *mapped = malloc(1 << 20);
    memset(mapped, 7, 1 << 20);
    region = put_in(engine, mapped, 1 << 20);
    mapped = realloc(mapped, 1 << 19); /* unmaps its tail */
    all_bytes(mapped, 1 << 19, 7);
    take_out(engine, region, false);
    all_bytes(mapped, 1 << 19, 7);
    free(mapped);
    shmemi_inplace_destroy(engine);
}

static void memory_freed_before_deregister_is_left_alone(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(100 * PAGE, 1);
    struct region region = put_in(engine, memory, 100 * PAGE);
    munmap(memory + 10 * PAGE, 80 * PAGE);
    void *wish = memory + 20 * PAGE;
    char *other =
        mmap(wish, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(other, wish);
    memset(other, 5, 10 * PAGE);
    take_out(engine, region, false);
    all_bytes(other, 10 * PAGE, 5);
    all_bytes(memory, 10 * PAGE, 1);
    all_bytes(memory + 90 * PAGE, 10 * PAGE, 1);
    munmap(memory, 100 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void memory_freed_and_registered_anew_belongs_to_the_new_region(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(40 * PAGE, 1);
    struct region old = put_in(engine, memory, 40 * PAGE);
    struct view abandoned = look_at(engine, old);
    munmap(memory, 40 * PAGE);
    char *again = mmap(memory, 40 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memset(again, 2, 40 * PAGE);
    struct region new = put_in(engine, again, 40 * PAGE);
    memset(abandoned.base, 9, abandoned.length);
    all_bytes(again, 40 * PAGE, 2);
    take_out(engine, old, false);
    struct view view = look_at(engine, new);
    again[1000] = 3;
    assert_int_equal(*(char *)through(view, again + 1000), 3);
    look_away(view);
    look_away(abandoned);
    take_out(engine, new, false);
    munmap(again, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void a_mapping_moved_by_mremap_keeps_its_data(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(20 * PAGE, 1);
    struct region region = put_in(engine, memory, 20 * PAGE);
    char *moved = mremap(memory, 20 * PAGE, 20 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, pages(20 * PAGE, 0));
    assert_ptr_not_equal(moved, MAP_FAILED);
    refused(engine, moved, 20 * PAGE, -EINVAL, "mremap");
    take_out(engine, region, false);
    all_bytes(moved, 20 * PAGE, 1);
    munmap(moved, 20 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void dontneed_keeps_registered_bytes(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(64 * PAGE, 6);
    struct region region = put_in(engine, memory, 64 * PAGE);
    assert_int_equal(madvise(memory, 64 * PAGE, MADV_DONTNEED), 0);
    all_bytes(memory, 64 * PAGE, 6);
    take_out(engine, region, false);
    all_bytes(memory, 64 * PAGE, 6);
    assert_int_equal(madvise(memory, 64 * PAGE, MADV_DONTNEED), 0);
    all_bytes(memory, 64 * PAGE, 0); /* private memory as ever */
    munmap(memory, 64 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void the_heap_goes_on_around_registered_blocks(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    enum { BLOCKS = 2000 };
    static char *block[BLOCKS];
    static struct region region[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(500);
        memset(block[i], i, 500);
    }
    for (int i = 0; i < BLOCKS; i += 3)
        region[i] = put_in(engine, block[i], 500);
    for (int i = 1; i < BLOCKS; i += 3)
        free(block[i]);
    malloc_trim(0);
    for (int i = 1; i < BLOCKS; i += 3) {
        block[i] = calloc(1, 700);
        all_bytes(block[i], 700, 0);
        memset(block[i], i, 700);
    }
    for (int i = 0; i < BLOCKS; i++)
        all_bytes(block[i], 500, i);
    for (int i = 0; i < BLOCKS; i += 3)
        take_out(engine, region[i], false);
    for (int i = 0; i < BLOCKS; i++) {
        all_bytes(block[i], 500, i);
        free(block[i]);
    }
    malloc_trim(0);
    shmemi_inplace_destroy(engine);
}

/* What lay side by side may have come from two mappings that never merge. */
static void neighbours_with_different_pasts_go_back_together(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(8 * PAGE, 1), *other = pages(2 * PAGE, 2);
    assert_ptr_not_equal(mremap(other, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, memory + 3 * PAGE),
                         MAP_FAILED);
    for (int round = 0; round < 3; round++) {
        struct region region = put_in(engine, memory, 8 * PAGE);
        assert_int_equal(region.count, 1);
        take_out(engine, region, round == 1);
        assert_false(is_shared(memory + 2 * PAGE));
        all_bytes(memory, 3 * PAGE, 1);
        all_bytes(memory + 3 * PAGE, 2 * PAGE, 2);
        all_bytes(memory + 5 * PAGE, 3 * PAGE, 1);
    }
    munmap(memory, 8 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void protection_survives(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(40 * PAGE, 1);
    mprotect(memory, 40 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
    struct region region = put_in(engine, memory, 40 * PAGE);
    struct shmemi_maps maps;
    struct shmemi_map map;
    assert_int_equal(shmemi_maps_open(&maps, true), 0);
    assert_int_equal(shmemi_maps_find(&maps, (uintptr_t)memory + PAGE, &map), 1);
    assert_int_equal(map.protection, PROT_READ | PROT_WRITE | PROT_EXEC);
    assert_true(map.shared);
    shmemi_maps_close(&maps);
    mprotect(memory, 40 * PAGE, PROT_READ);
    take_out(engine, region, false);
    all_bytes(memory, 40 * PAGE, 1);
    refused(engine, memory, 40 * PAGE, -EACCES, "not writable"); /* still read-only */
    munmap(memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

/* ---- what is refused ---- */

static void bad_ranges_are_refused(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(10 * PAGE, 1);
    refused(engine, memory, 0, -EINVAL, "0 bytes");
    refused(engine, memory, SIZE_MAX - 100, -EINVAL, "beyond");
    refused(engine, (void *)(UINTPTR_MAX - 10), 5, -EINVAL, "beyond");
    munmap(memory + 4 * PAGE, PAGE);
    refused(engine, memory, 10 * PAGE, -EFAULT, "nothing is mapped");
    all_bytes(memory, 4 * PAGE, 1);
    mprotect(memory + 2 * PAGE, PAGE, PROT_READ);
    refused(engine, memory, 3 * PAGE, -EACCES, "not writable");
    refused(engine, (void *)(uintptr_t) "text", 4, -EACCES, "shmem.empty");
    munmap(memory, 10 * PAGE);
    shmemi_inplace_destroy(engine);
}

static _Thread_local char thread_local_bytes[64];

static void *register_own_stack(void *engine)
{
    char local[64] = "";
    refused(engine, local, sizeof local, -EINVAL, "stack");
    return NULL;
}

static void *lend_stack(void *slot)
{
    char local[64] = "";
    *(char *volatile *)slot = local;
    __atomic_store_n((char **)slot + 1, local, __ATOMIC_RELEASE); /* pairs with the acquire in the test below */
    while (__atomic_load_n((char **)slot + 1, __ATOMIC_ACQUIRE))  /* pairs with the release in the test below */
        usleep(100);
    return NULL;
}

static void stacks_are_refused(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char local[64] = "";
    pthread_t thread;
    if (!SANITIZED)
        refused(engine, local, sizeof local, -EINVAL, "stack");
    refused(engine, thread_local_bytes, sizeof thread_local_bytes, -EINVAL, "");
    if (!SANITIZED) {
        pthread_create(&thread, NULL, register_own_stack, engine);
        pthread_join(thread, NULL);
    }
    char *lent[2] = {NULL, NULL};
    pthread_create(&thread, NULL, lend_stack, lent);
    while (!__atomic_load_n(&lent[1], __ATOMIC_ACQUIRE)) /* pairs with the release in lend_stack() */
        usleep(100);
    if (!SANITIZED)
        refused(engine, lent[0], 64, -EINVAL, "another thread's stack");
    __atomic_store_n(&lent[1], NULL, __ATOMIC_RELEASE); /* pairs with the acquire in lend_stack() */
    pthread_join(thread, NULL);
    shmemi_inplace_destroy(engine);
}

struct neighbour {
    struct shmemi_inplace *engine;
    char *above; /* the page where the stack ends */
};

static void *register_what_is_above_the_stack(void *opaque)
{
    struct neighbour *n = opaque;
    struct region region = put_in(n->engine, n->above, 100);
    take_out(n->engine, region, false);
    region = put_in(n->engine, n->above, 3 * PAGE);
    take_out(n->engine, region, false);
    return NULL;
}

/* Where a mapping happens to begin right above a stack, as another arena of malloc may, it is no stack. */
static void memory_right_above_a_stack_is_no_stack(void **state)
{
    (void)state;
    if (SANITIZED)
        skip_because("sanitizers have stacks of their own");
    enum { STACK = 512 << 10, ABOVE = 64 << 10 };
    for (int separate = 0; separate < 2; separate++) {
        struct neighbour n = {.engine = plain_engine()};
        char *low = mmap(NULL, STACK + ABOVE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(low, MAP_FAILED);
        n.above = low + STACK;
        if (separate)
            assert_ptr_equal(mmap(n.above, ABOVE, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0),
                             n.above);
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        assert_int_equal(pthread_attr_setstack(&attributes, low, STACK), 0);
        assert_int_equal(pthread_create(&thread, &attributes, register_what_is_above_the_stack, &n), 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
        munmap(low, STACK + ABOVE);
        shmemi_inplace_destroy(n.engine);
    }
}

static void shared_memory_and_devices_are_refused(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *shared = mmap(NULL, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    refused(engine, shared, 10 * PAGE, -EEXIST, "shared by another mapping");
    munmap(shared, 10 * PAGE);
    int fd = memfd_create("somebody's", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    refused(engine, shared, PAGE, -EEXIST, "somebody's");
    munmap(shared, PAGE);
    close(fd);
    char *huge =
        mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    if (huge != MAP_FAILED) {
        refused(engine, huge, PAGE, -EINVAL, "huge pages");
        munmap(huge, 2 << 20);
    }
    shmemi_inplace_destroy(engine);
}

static void memory_under_another_userfaultfd_is_refused(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(40 * PAGE, 1);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(uintptr_t)memory + 20 * PAGE, PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0)
        skip_because("userfaultfd is not to be had here");
    if (guarded(engine))
        refused(engine, memory, 40 * PAGE, -EBUSY, "another userfaultfd");
    close(fd);
    struct region region = put_in(engine, memory, 40 * PAGE);
    all_bytes(memory, 40 * PAGE, 1);
    take_out(engine, region, false);
    munmap(memory, 40 * PAGE);
    shmemi_inplace_destroy(engine);
}

static int allow_some(void *context, size_t bytes)
{
    size_t *left = context;
    if (bytes > *left)
        return shmemi_fail(-ENOMEM, "%zu bytes asked, %zu left", bytes, *left);
    *left -= bytes;
    return 0;
}

static void a_failed_register_changes_nothing(void **state)
{
    (void)state;
    size_t left = 20 << 20;
    struct shmemi_inplace *engine =
        engine_with((struct shmemi_inplace_config){.reserve = allow_some, .context = &left});
    size_t size = 64 << 20;
    char *memory = pages(size, 3);
    size_t maps = count_maps();
    refused(engine, memory, size, -ENOMEM, "left");
    if (!SANITIZED && guarded(engine))
        assert_in_range(count_maps(), 1,
                        maps + 3); /* the reader's buffer; what came back, which Linux 6.1 leaves apart */
    all_bytes(memory, size, 3);
    assert_int_equal(madvise(memory, size, MADV_DONTNEED), 0);
    all_bytes(memory, size, 0);
    left = SIZE_MAX;
    struct region region = put_in(engine, memory, size);
    take_out(engine, region, false);
    munmap(memory, size);
    shmemi_inplace_destroy(engine);
}

static void private_file_mappings_move_too(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char name[] = "/tmp/shmem-test-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    assert_int_equal(ftruncate(fd, 50 * PAGE), 0);
    assert_int_equal(pwrite(fd, "from the file", 13, 3 * PAGE), 13);
    char *memory = mmap(NULL, 50 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    memory[10 * PAGE] = 5;
    struct region region = put_in(engine, memory, 50 * PAGE);
    assert_int_equal(region.guard, SHMEMI_GUARD_NONE);
    assert_memory_equal(memory + 3 * PAGE, "from the file", 13);
    assert_int_equal(memory[10 * PAGE], 5);
    memory[20 * PAGE] = 6;
    take_out(engine, region, false);
    assert_memory_equal(memory + 3 * PAGE, "from the file", 13);
    assert_int_equal(memory[10 * PAGE], 5);
    assert_int_equal(memory[20 * PAGE], 6);
    munmap(memory, 50 * PAGE);
    close(fd);
    shmemi_inplace_destroy(engine);
}

/* ---- guards, numbers, leaks ---- */

static void every_guard_moves_and_tells_what_it_is(void **state)
{
    (void)state;
    struct shmemi_inplace_config configs[] = {
        {0}, {.user_mode_only = true}, {.without_userfaultfd = true}, {.without_map_query = true}};
    enum shmemi_guard most[] = {SHMEMI_GUARD_FULL, SHMEMI_GUARD_USER, SHMEMI_GUARD_NONE, SHMEMI_GUARD_FULL};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct shmemi_inplace *engine = engine_with(configs[i]);
        char *memory = pages(100 * PAGE, 1);
        for (int round = 0; round < 20; round++) {
            struct region region = put_in(engine, memory + 50 + round * PAGE, 60 * PAGE);
            assert_true(region.guard <= most[i]);
            all_bytes(memory, 100 * PAGE, 1);
            take_out(engine, region, round % 2);
            all_bytes(memory, 100 * PAGE, 1);
        }
        munmap(memory, 100 * PAGE);
        shmemi_inplace_destroy(engine);
    }
}

static void there_is_one_engine_in_a_process(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine(), *second = NULL;
    assert_int_equal(shmemi_inplace_create(&(struct shmemi_inplace_config){0}, &second), -EBUSY);
    assert_null(second);
    shmemi_inplace_destroy(engine);
    shmemi_inplace_destroy(plain_engine());
    shmemi_inplace_destroy(NULL);
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    shmemi_inplace_destroy(plain_engine());
    enum { BLOCKS = 300 };
    char *memory = pages(BLOCKS * 3 * PAGE, 1);
    struct region region[BLOCKS], big;
    size_t maps = 0, descriptors = 0;
    for (int round = 0; round < 3; round++) {
        struct shmemi_inplace *engine = plain_engine();
        big = put_in(engine, memory, BLOCKS * 3 * PAGE);
        take_out(engine, big, true);
        for (int i = 0; i < BLOCKS; i++) /* scattered: every third page */
            region[i] = put_in(engine, memory + (size_t)i * 3 * PAGE, 100);
        for (int i = 0; i < BLOCKS; i += 2)
            take_out(engine, region[i], i % 4);
        shmemi_inplace_destroy(engine);
        for (int i = 1; i < BLOCKS; i += 2)
            free(region[i].pieces);
        all_bytes(memory, BLOCKS * 3 * PAGE, 1);
        if (round == 0) {
            maps = count_maps();
            descriptors = count_descriptors();
        }
    }
    assert_int_equal(count_descriptors(), descriptors);
    if (!SANITIZED)
        assert_int_equal(count_maps(), maps);
    munmap(memory, BLOCKS * 3 * PAGE);
}

/* Each page that ever was registered must not cost a mapping for ever. */
static void given_back_pages_merge_with_their_neighbours(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = plain_engine();
    char *memory = pages(2000 * PAGE, 1);
    size_t maps = count_maps();
    for (size_t i = 0; i < 2000; i += 2)
        take_out(engine, put_in(engine, memory + i * PAGE, 10), false);
    if (!SANITIZED && guarded(engine))
        assert_in_range(count_maps(), 1, maps + 5);
    munmap(memory, 2000 * PAGE);
    shmemi_inplace_destroy(engine);
}

static void a_hundred_thousand_small_regions_fit(void **state)
{
    (void)state;
    enum { REGIONS = SANITIZED ? 5000 : 100000 };
    struct shmemi_inplace *engine = plain_engine();
    char **block = malloc(REGIONS * sizeof *block);
    struct region *region = malloc(REGIONS * sizeof *region);
    for (int i = 0; i < REGIONS; i++) {
        block[i] = malloc(1000);
        memset(block[i], i, 1000);
    }
    size_t before = count_maps();
    for (int i = 0; i < REGIONS; i++)
        region[i] = put_in(engine, block[i], 1000);
    if (!SANITIZED && region[0].guard != SHMEMI_GUARD_NONE)
        assert_in_range(count_maps(), 1, before + 100);
    for (int i = 0; i < REGIONS; i += 97)
        all_bytes(block[i], 1000, i);
    for (int i = 0; i < REGIONS; i++)
        take_out(engine, region[i], i % 7 == 0);
    for (int i = 0; i < REGIONS; i++) {
        all_bytes(block[i], 1000, i);
        free(block[i]);
    }
    free(block);
    free(region);
    shmemi_inplace_destroy(engine);
}

int main(void)
{
    alarm(300);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registered_memory_keeps_its_bytes_and_a_peer_shares_them),
        cmocka_unit_test(deregistered_memory_is_private_again),
        cmocka_unit_test(inner_pages_are_whole_and_edges_are_mixed),
        cmocka_unit_test(a_page_is_moved_once_however_many_regions_need_it),
        cmocka_unit_test(two_objects_on_one_page_are_independent),
        cmocka_unit_test(old_peers_see_nothing_of_a_later_registration),
        cmocka_unit_test(offsets_that_peers_hold_run_out_cleanly),
        cmocka_unit_test(realloc_of_a_registered_block_copies),
        cmocka_unit_test(a_small_block_that_malloc_grew_is_private),
        cmocka_unit_test(realloc_in_the_heap_and_shrinking_keep_the_bytes),
        cmocka_unit_test(memory_freed_before_deregister_is_left_alone),
        cmocka_unit_test(memory_freed_and_registered_anew_belongs_to_the_new_region),
        cmocka_unit_test(a_mapping_moved_by_mremap_keeps_its_data),
        cmocka_unit_test(dontneed_keeps_registered_bytes),
        cmocka_unit_test(the_heap_goes_on_around_registered_blocks),
        cmocka_unit_test(neighbours_with_different_pasts_go_back_together),
        cmocka_unit_test(protection_survives),
        cmocka_unit_test(bad_ranges_are_refused),
        cmocka_unit_test(stacks_are_refused),
        cmocka_unit_test(memory_right_above_a_stack_is_no_stack),
        cmocka_unit_test(shared_memory_and_devices_are_refused),
        cmocka_unit_test(memory_under_another_userfaultfd_is_refused),
        cmocka_unit_test(a_failed_register_changes_nothing),
        cmocka_unit_test(private_file_mappings_move_too),
        cmocka_unit_test(every_guard_moves_and_tells_what_it_is),
        cmocka_unit_test(there_is_one_engine_in_a_process),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(given_back_pages_merge_with_their_neighbours),
        cmocka_unit_test(a_hundred_thousand_small_regions_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
