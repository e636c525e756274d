// SPDX-License-Identifier: Apache-2.0
// launched [exit STATUS | die | again | absent]: a job under whatever launcher; each PE writes to the next.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

static long *slots;

static void ring(void)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    slots = shmem_calloc(1, sizeof *slots);
    shmem_long_p(slots, me + 1, (me + 1) % n);
    shmem_barrier_all();
    printf("%d of %d was visited by %ld\n", me, n, *slots - 1);
    fflush(stdout);
    shmem_free(slots);
}

#ifdef WITH_MPI
/* Both in one process, either order: the ranks are the same, and both libraries move data. */
static void mixed(const char *what, int *argc, char ***argv)
{
    int rank, sum = 0, shmem_first = !strcmp(what, "shmem-first");
    if (shmem_first)
        shmem_init();
    MPI_Init(argc, argv);
    if (!shmem_first)
        shmem_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != shmem_my_pe())
        printf("MPI's rank %d is PE %d\n", rank, shmem_my_pe());
    ring();
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int n = shmem_n_pes();
    if (sum != n * (n - 1) / 2)
        printf("MPI's sum is %d\n", sum);
    if (shmem_first) {
        MPI_Finalize();
        shmem_finalize();
    } else {
        shmem_finalize();
        MPI_Finalize();
    }
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
#ifdef WITH_MPI
    mixed(what, &argc, &argv);
    return 0;
#endif
    if (!strcmp(what, "absent") && atoi(getenv("PMIX_RANK")) == 0)
        return 0; /* never comes */
    shmem_init();
    ring();
    if (!strcmp(what, "exit")) {
        if (shmem_my_pe() == shmem_n_pes() - 1)
            shmem_global_exit(atoi(argv[2]));
        for (;;)
            ;
    }
    if (!strcmp(what, "die") && shmem_my_pe() == 1)
        abort();
    if (!strcmp(what, "again")) {
        shmem_finalize();
        shmem_init();
        ring();
    }
    shmem_finalize();
    return 0;
}
