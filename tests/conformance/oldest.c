// SPDX-License-Identifier: Apache-2.0
// The interface from before the names began with shmem_: start_pes, no finalize, shmalloc; and what the text no longer has.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include <mpp/shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(int condition, const char *what)
{
    if (!condition) {
        printf("%s\n", what);
        exit(1);
    }
}

int main(void)
{
    start_pes(0);
    start_pes(99);
    const int me = _my_pe();
    int n = _num_pes();
    expect(me == shmem_my_pe() && n == shmem_n_pes(), "_my_pe or _num_pes differs from the new one");

    long *ring = shmalloc(sizeof *ring);
    expect(ring != NULL, "shmalloc gave nothing");
    *ring = -1;
    shmem_barrier_all();
    shmem_long_p(ring, me, (me + 1) % n);
    shmem_barrier_all();
    expect(*ring == (me + n - 1) % n, "a put on memory of shmalloc did not arrive");
    ring = shrealloc(ring, 100 * sizeof *ring);
    expect(ring && *ring == (me + n - 1) % n, "shrealloc lost what was there");
    shfree(ring);
    char *aligned = shmemalign(1024, 10);
    expect(aligned && (uintptr_t)aligned % 1024 == 0, "shmemalign gave an address that is not aligned");
    shfree(aligned);

    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&n);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(&n);
    shmem_udcflush();
    shmem_udcflush_line(&n);
    expect(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN, "an old constant differs");
    return 0;
}
