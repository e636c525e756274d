// SPDX-License-Identifier: Apache-2.0
// Transfers of more than 4 GiB and more than 2^32 elements: nothing is cut to 32 bits. Needs 9 GiB of memory free.
#include "multi.h"
#include <sys/mman.h>
#include <sys/sysinfo.h>

#define BYTES (((size_t)4 << 30) + 9)

static char *symmetric, *private;

/* Where a count that was cut would have ended, and both ends. */
static const size_t places[] = {0, 8, (size_t)1 << 31, ((size_t)4 << 30) - 1, (size_t)4 << 30, BYTES - 1};
enum { PLACES = sizeof places / sizeof *places };

static void fill(char *memory, int value)
{
    for (size_t i = 0; i < PLACES; i++)
        memory[places[i]] = (char)(value + (int)i);
}

static void holds(const char *memory, int value)
{
    for (size_t i = 0; i < PLACES; i++)
        CHECK(memory[places[i]] == (char)(value + (int)i), "byte %zu is %d", places[i], memory[places[i]]);
}

static void put_and_get(void)
{
    fill(private, 1 + me);
    if (me == 0)
        shmem_char_put(symmetric, private, BYTES, 1);
    shmem_barrier_all();
    if (me == 1)
        holds(symmetric, 1);
    fill(symmetric, 50 + me);
    memset(private, 0, 16);
    shmem_barrier_all();
    if (me == 0)
        shmem_getmem(private, symmetric, BYTES, 1);
    shmem_barrier_all();
    if (me == 0)
        holds(private, 51);
}

static void far_apart(void)
{
    if (me == 0) /* two elements, 4 GiB apart */
        shmem_int8_iput((int8_t *)symmetric, (const int8_t[]){7, 9}, (ptrdiff_t)4 << 30, 1, 2, 1);
    shmem_barrier_all();
    if (me == 1)
        CHECK(symmetric[0] == 7 && symmetric[(size_t)4 << 30] == 9);
}

int main(void)
{
    struct sysinfo memory;
    multi_begin();
    if (sysinfo(&memory) == 0 && (double)memory.freeram * memory.mem_unit < 9.0 * (1 << 30)) {
        SKIP_CASE("large", "less than 9 GiB of memory are free");
        return multi_end();
    }
    symmetric = shmem_malloc(BYTES);
    CHECK(symmetric, "%s", shmemx_last_error());
    private = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(private != MAP_FAILED);
    CASE(put_and_get);
    CASE(far_apart);
    munmap(private, BYTES);
    return multi_end();
}
