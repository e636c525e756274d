// SPDX-License-Identifier: Apache-2.0
// mistakes NAME: makes one mistake with teams or active sets; mistakes.py knows what has to come of it.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include <shmem.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int me, n;
static long *words, *sync_words;

static shmem_team_t all_but_one(void)
{
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, n - 1, NULL, 0, &team);
    return team;
}

static void dies_in_team(void)
{
    shmem_team_t team = all_but_one();
    if (me == n - 1)
        raise(SIGKILL);
    for (;;)
        shmem_team_sync(me ? team : SHMEM_TEAM_WORLD);
}

static void dies_in_active_set(void)
{
    if (me == n - 1)
        raise(SIGKILL);
    shmem_barrier(0, 0, n, sync_words);
}

static void other_size(void)
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, words, words + 32, me == n - 1 ? 3 : 2);
}

static void other_operation(void)
{
    if (me == n - 1)
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, words, words + 8, 1);
    else
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, words + 8, 1);
}

static void other_root(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words, words + 8, 1, me == n - 1);
}

static void other_place(void)
{
    shmem_team_t team = all_but_one();
    if (me)
        shmem_collectmem(team, words + (me == n - 1), words + 16, 1);
    else
        shmem_barrier_all();
}

static void other_stride(void)
{
    shmem_alltoalls64(words, words + 16, 1 + (me == n - 1), 1, 1, 0, 0, n, sync_words);
}

static void allocates(void)
{
    if (me == n - 1)
        (void)shmem_malloc(64);
    else
        shmem_sync_all();
}

static void other_allocation(void)
{
    if (me == n - 1)
        (void)shmem_calloc(8, 8);
    else
        (void)shmem_malloc(64);
    if (me == 0)
        pause(); /* it does not come so far */
}

static void not_in_the_set(void)
{
    shmem_sync(0, 0, n - 1, sync_words);
}

static void not_initialised(void)
{
    memset(sync_words, 1, SHMEM_SYNC_SIZE * sizeof *sync_words); /* zeros are allowed */
    shmem_barrier(0, 0, n, sync_words);
}

static void too_much(void)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, words, words, SIZE_MAX / 2 + 1);
}

static void too_far(void)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, words, words + 32, (size_t)1 << 60);
}

static void no_room(void)
{
    void *block = shmem_malloc(1000);
    printf("%d", !shmem_malloc((size_t)3 << 20));
    printf("%d", !shmem_calloc(3, 1 << 20));
    printf("%d", !shmem_align(64, (size_t)3 << 20));
    printf("%d\n", !shmem_realloc(block, (size_t)3 << 20));
}

static void no_signal(void)
{
    shmem_long_put_signal(words, words + 8, 1, NULL, 1, SHMEM_SIGNAL_SET, 0);
}

static void freed_signal(void)
{
    uint64_t *signal = shmem_malloc(sizeof *signal);
    shmem_free(signal);
    shmem_long_put_signal(words, words + 8, 1, signal, 1, SHMEM_SIGNAL_SET, 0);
}

static void waits_for_nothing(void)
{
    shmem_long_wait_until_any(words, 100000000, NULL, SHMEM_CMP_EQ, 1);
}

static void adds_to_nothing(void)
{
    long here = me;
    shmem_long_atomic_fetch(&here, 0);
}

static void keeps_a_lock(void)
{
    if (me == 2)
        shmem_set_lock(words);
    shmem_barrier_all();
    if (me != 2)
        shmem_set_lock(words); /* a second in line goes with the first */
}

/* While the others wait in the library, for what nobody writes, and with the lock of a stream that all print to. */
static void ends_all(void)
{
    int ends[2];
    printf("PE %d has printed this\n", me);
    shmem_barrier_all();
    if (me == 0) {
        usleep(100000); /* the others are at it by then; if they are not, it is easier for them */
        shmem_global_exit(3);
    }
    if (me == 2 && pipe(ends) == 0)
        fgetc(fdopen(ends[0], "r"));
    if (me == 3)
        flockfile(stdout);
    shmem_barrier_all();
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {{"dies in team", dies_in_team},
                {"dies in active set", dies_in_active_set},
                {"other size", other_size},
                {"other operation", other_operation},
                {"other root", other_root},
                {"other place", other_place},
                {"other stride", other_stride},
                {"allocates", allocates},
                {"other allocation", other_allocation},
                {"not in the set", not_in_the_set},
                {"not initialised", not_initialised},
                {"too much", too_much},
                {"too far", too_far},
                {"no room", no_room},
                {"no signal", no_signal},
                {"freed signal", freed_signal},
                {"waits for nothing", waits_for_nothing},
                {"adds to nothing", adds_to_nothing},
                {"keeps a lock", keeps_a_lock},
                {"ends all", ends_all}};

/* With a variable that is no good: the program goes on, and may not ask why. */
static int no_job(void)
{
    int provided = -1, initialized = -1;
    int rc = shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmem_query_initialized(&initialized);
    printf("%d %d %d\n", rc != 0, provided == SHMEM_THREAD_SINGLE, initialized);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "no job") == 0)
        return no_job();
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    words = shmem_calloc(64, sizeof *words);
    sync_words = shmem_malloc(SHMEM_SYNC_SIZE * sizeof *sync_words);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        sync_words[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (size_t i = 0; argc == 2 && i < sizeof mistakes / sizeof *mistakes; i++)
        if (strcmp(mistakes[i].name, argv[1]) == 0)
            mistakes[i].make();
    shmem_finalize();
    return 0;
}
