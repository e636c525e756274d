// SPDX-License-Identifier: Apache-2.0
// unique_id new: prints an id. unique_id ID RANK N: joins its job, and writes to the next PE. unique_id checks: bad
// arguments.
#include "multi.h"

static void checks(void)
{
    shmemx_unique_id_t id, other;
    int provided = -7;
    GIVES(0, shmemx_get_unique_id(&id));
    GIVES(0, shmemx_get_unique_id(&other));
    CHECK(strcmp(id.text, other.text) != 0);
    REFUSES(EINVAL, "requested is 99", shmemx_init_attr(99, &provided, 0, 1, &id));
    REFUSES(EINVAL, "id is NULL", shmemx_init_attr(SHMEM_THREAD_SINGLE, &provided, 0, 1, NULL));
    REFUSES(EINVAL, "rank is 1", shmemx_init_attr(SHMEM_THREAD_SINGLE, &provided, 1, 1, &id));
    REFUSES(EINVAL, "rank is -1", shmemx_init_attr(SHMEM_THREAD_SINGLE, &provided, -1, 1, &id));
    REFUSES(EINVAL, "world_size is 0", shmemx_init_attr(SHMEM_THREAD_SINGLE, &provided, 0, 0, &id));
    memset(&other, 'x', sizeof other);
    REFUSES(EINVAL, "id is none that", shmemx_init_attr(SHMEM_THREAD_SINGLE, &provided, 0, 1, &other));
    other.text[0] = 0;
    REFUSES(EINVAL, "id is none that", shmemx_init_attr(SHMEM_THREAD_SINGLE, &provided, 0, 1, &other));
    GIVES(-7, provided);
    GIVES(0, shmemx_init_attr(SHMEM_THREAD_SERIALIZED, &provided, 0, 1, &id));
    GIVES(SHMEM_THREAD_MULTIPLE, provided);
    GIVES(0, shmemx_init_attr(SHMEM_THREAD_SINGLE, NULL, 0, 1, &id)); /* nested */
    REFUSES(EALREADY, "rank 1 of 2 is asked for", shmemx_init_attr(SHMEM_THREAD_SINGLE, NULL, 1, 2, &id));
    GIVES(0, shmemx_finalize());
    GIVES(1, shmemx_initialized());
    GIVES(0, shmemx_finalize());
    GIVES(0, shmemx_initialized());
}

int main(int argc, char **argv)
{
    shmemx_unique_id_t id = {""};
    int provided;
    if (argc == 2 && !strcmp(argv[1], "checks")) {
        checks();
        return 0;
    }
    if (argc == 2) {
        if (shmemx_get_unique_id(&id) < 0)
            return 1;
        puts(id.text);
        return 0;
    }
    snprintf(id.text, sizeof id.text, "%s", argv[1]);
    if (shmemx_init_attr(SHMEM_THREAD_MULTIPLE, &provided, atoi(argv[2]), atoi(argv[3]), &id) < 0) {
        fprintf(stderr, "%s\n", shmemx_last_error());
        return 3;
    }
    long *slot = shmem_calloc(1, sizeof *slot);
    me = shmem_my_pe();
    n = shmem_n_pes();
    shmem_long_p(slot, me + 1, (me + 1) % n);
    shmem_barrier_all();
    printf("%d of %d was visited by %ld\n", me, n, *slot - 1);
    shmem_finalize();
    return 0;
}
