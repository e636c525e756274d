// SPDX-License-Identifier: Apache-2.0
// A profiler: functions of its own under the standard's names note the calls and let the pshmem_ ones do the work. The
// program below them sees no difference, and the library's own use of its functions is not counted.
#include <pshmem.h>
#include <stdio.h>

static int puts_seen, mallocs_seen, barriers_seen, adds_seen, levels_seen, old_seen;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void *shmem_malloc(size_t size)
{
    mallocs_seen++;
    return pshmem_malloc(size);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

long shmem_ctx_long_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    adds_seen++;
    return pshmem_ctx_long_atomic_fetch_add(ctx, dest, value, pe);
}

void shmem_pcontrol(int level, ...)
{
    levels_seen += level;
    pshmem_pcontrol(level);
}

int _my_pe(void)
{
    old_seen++;
    return p_my_pe();
}

static int wrong;

static void same(const char *what, long expected, long found)
{
    if (expected != found) {
        printf("%s: expected %ld, found %ld\n", what, expected, found);
        wrong = 1;
    }
}

int main(void)
{
    shmem_init();
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* an old name has a second one, too */
    const int me = _my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    long *words = shmem_malloc(2 * sizeof *words), *others = shmem_calloc(2, sizeof *others), value = me;
    words[0] = words[1] = 0;
    shmem_barrier_all();
    shmem_pcontrol(2);
    shmem_put(words, &value, 1, next); /* the C11 macro leads to the profiler's function */
    shmem_atomic_fetch_add(SHMEM_CTX_DEFAULT, words + 1, 5, next);
    shmem_barrier_all();
    same("the word", (me + n - 1) % n, words[0]);
    same("the sum", 5, words[1]);
    shmem_sync_all();
    shmem_free(others);
    shmem_free(words);
    same("puts", 1, puts_seen);
    same("mallocs", 1, mallocs_seen);
    same("barriers", 2, barriers_seen);
    same("additions", 1, adds_seen);
    same("level", 2, levels_seen);
    same("old names", 1, old_seen);
    shmem_finalize();
    return wrong;
}
