// SPDX-License-Identifier: Apache-2.0
// The interface from before the names began with shmem_: start_pes, no finalize, shmalloc; and what the text no longer has.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    /* Others do not look whether pSync was initialised, so that some programs have only zeros there. */
    enum { ROUNDS = 50 };
    long *never = shmem_calloc(SHMEM_REDUCE_SYNC_SIZE, sizeof *never);
    int *sum = shmem_malloc(sizeof *sum), *part = shmem_malloc(sizeof *part), *work = shmem_malloc(64 * sizeof *work);
    for (int round = 0; round < ROUNDS; round++) {
        *part = round + me;
        shmem_int_sum_to_all(sum, part, 1, 0, 0, n, work, never);
        expect(*sum == n * round + n * (n - 1) / 2, "a reduction with zeros in pSync gave another sum");
        *part = -1; /* too early for whoever has not taken part yet, were it not for the barrier */
        shmem_barrier(0, 0, n, never);
    }
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        expect(never[i] == 0, "pSync is not as it was before");
    shmem_free(work);
    shmem_free(part);
    shmem_free(sum);
    shmem_free(never);

    /* Of several. */
#ifdef HAVE_SHMEMX_WTIME
    double before = shmemx_wtime();
    usleep(1000);
    expect(shmemx_wtime() - before >= 0.001, "shmemx_wtime did not go on");
#else
    expect(0, "HAVE_SHMEMX_WTIME is not defined");
#endif

    /* Of Open MPI. */
    long *word = shmem_malloc(sizeof *word);
    *word = 5;
    expect(shmem_long_atomic_fetch_or(word, 2, me) == 5 && shmem_longlong_atomic_fetch_and((long long *)word, 6, me) == 7,
           "bitwise operations on signed types gave another old value");
    shmem_ctx_int_atomic_xor(SHMEM_CTX_DEFAULT, (int *)word, 1, me);
    shmem_quiet();
    expect(*word == 7, "bitwise operations on signed types gave another result");
    shmem_free(word);
    expect(OSHMEM_SPEC_VERSION == 10600 && _SHMEM_ALLTOALL_SYNC_SIZE == SHMEM_ALLTOALL_SYNC_SIZE &&
               _SHMEM_ALLTOALLS_SYNC_SIZE == SHMEM_ALLTOALLS_SYNC_SIZE,
           "a constant of others differs");

    expect(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN, "an old constant differs");
    return 0;
}
