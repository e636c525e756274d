// SPDX-License-Identifier: Apache-2.0
// What bad arguments get: the job ends at once, with an exit code that is not 0 and a message that names the
// function, the argument and what was found. Each case runs in a child, as a job of one.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long *object; /* symmetric, 8 longs */
static long local[8];
static uint64_t *word;
#define NO_CONTEXT ((shmem_ctx_t)77)
#define NO_TEAM ((shmem_team_t)77)
#define HUGE_COUNT (SIZE_MAX / 2)

static shmem_ctx_t destroyed_context(void)
{
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) == 0)
        shmem_ctx_destroy(ctx);
    return ctx;
}

/* Its team was destroyed, and it with the team. */
static shmem_ctx_t orphaned_context(void)
{
    const shmem_team_config_t config = {.num_contexts = 1};
    shmem_team_t team;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0 &&
        shmem_team_create_ctx(team, 0, &ctx) == 0)
        shmem_team_destroy(team);
    return ctx;
}

static shmem_team_t destroyed_team(void)
{
    shmem_team_t team, destroyed;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team) == 0)
        shmem_team_destroy(team);
    destroyed = team;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team) != 0) /* in the same place */
        return SHMEM_TEAM_WORLD;
    return destroyed;
}

/* Symmetric, and as it has to be. */
static long *sync_array(void)
{
    long *psync = shmem_malloc(SHMEM_SYNC_SIZE * sizeof *psync);
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    return psync;
}

/* A block behind it stays, so that what is beyond the block was allocated once. */
static long *freed(size_t bytes)
{
    long *block = shmem_malloc(bytes);
    (void)shmem_malloc(64);
    shmem_free(block);
    return block;
}

/* To 61 bytes, of a line of 64. */
static void *resized(void)
{
    return shmem_realloc(shmem_malloc(200), 61);
}

static long not_symmetric[SHMEM_SYNC_SIZE];

/* name, what the message has to contain beside the function's name, the calls */
#define BEFORE_INIT(X)                                                                                                 \
    X(shmem_my_pe, "before shmem_init", (void)shmem_my_pe())                                                           \
    X(shmem_quiet, "before shmem_init", shmem_quiet())                                                                 \
    X(shmem_malloc, "before shmem_init", (void)shmem_malloc(8))                                                        \
    X(shmem_long_p, "before shmem_init", shmem_long_p(local, 1, 0))                                                    \
    X(shmem_long_atomic_inc, "before shmem_init", shmem_long_atomic_inc(local, 0))                                     \
    X(shmem_long_test, "before shmem_init", (void)shmem_long_test(local, SHMEM_CMP_EQ, 0))                             \
    X(shmem_barrier_all, "before shmem_init", shmem_barrier_all())                                                     \
    X(shmem_team_n_pes, "before shmem_init", (void)shmem_team_n_pes(SHMEM_TEAM_WORLD))                                 \
    X(shmem_finalize, "before shmem_init", shmem_finalize())                                                           \
    X(shmem_query_initialized, "initialized is NULL", shmem_query_initialized(NULL))

#define AFTER_FINALIZE(X)                                                                                              \
    X(shmem_fence, "after shmem_finalize", shmem_fence())                                                              \
    X(shmem_getmem, "after shmem_finalize", shmem_getmem(local, object, 8, 0))                                         \
    X(shmem_finalize, "after shmem_finalize", shmem_finalize())

#define INSIDE(X)                                                                                                      \
    X(shmem_long_put, "pe is 99", shmem_long_put(object, local, 1, 99))                                                \
    X(shmem_int_g, "pe is -1", (void)shmem_int_g((int *)object, -1))                                                   \
    X(shmem_ptr, "pe is 1", (void)shmem_ptr(object, 1))                                                                \
    X(shmem_pe_quiet, "target_pes is 5", shmem_pe_quiet(&(int){5}, 1))                                                 \
    X(shmem_long_p, "no symmetric address", {                                                                          \
        long here = 0;                                                                                                 \
        shmem_long_p(&here, 1, 0);                                                                                     \
    })                                                                                                                 \
    X(shmem_long_sum_reduce, "no symmetric address", {                                                                 \
        long here = 0;                                                                                                 \
        (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &here, object, 1);                                               \
    })                                                                                                                 \
    X(shmem_put64, "source is NULL", shmem_put64(object, NULL, 3, 0))                                                  \
    X(shmem_long_get_nbi, "dest is NULL", shmem_long_get_nbi(NULL, object, 1, 0))                                      \
    X(shmem_long_atomic_swap_nbi, "fetch is NULL", shmem_long_atomic_swap_nbi(NULL, object, 1, 0))                     \
    X(shmem_long_put, "nelems is 9223372036854775807", shmem_long_put(object, local, HUGE_COUNT, 0))                   \
    X(shmem_long_test_all, "nelems is 9223372036854775807",                                                            \
      (void)shmem_long_test_all(object, HUGE_COUNT, NULL, SHMEM_CMP_EQ, 0))                                            \
    X(shmem_ctx_long_put, "no context", shmem_ctx_long_put(NO_CONTEXT, object, local, 1, 0))                           \
    X(shmem_ctx_int_p, "SHMEM_CTX_INVALID", shmem_ctx_int_p(SHMEM_CTX_INVALID, (int *)object, 1, 0))                   \
    X(shmem_ctx_quiet, "no context", shmem_ctx_quiet(NO_CONTEXT))                                                      \
    X(shmem_long_atomic_add, "not aligned", shmem_long_atomic_add((long *)(void *)((char *)object + 1), 1, 0))         \
    X(shmem_long_wait_until, "cmp is 9", shmem_long_wait_until(object, 9, 0))                                          \
    X(shmem_long_wait_until, "NULL", shmem_long_wait_until(NULL, SHMEM_CMP_EQ, 0))                                     \
    X(shmem_putmem_signal, "sig_op is 7", shmem_putmem_signal(object, local, 8, word, 1, 7, 0))                        \
    X(shmem_long_iput, "dst is 0", shmem_long_iput(object, local, 0, 1, 4, 0))                                         \
    X(shmem_long_ibget, "sst is 1", shmem_long_ibget(local, object, 2, 1, 2, 2, 0))                                    \
    X(shmem_align, "alignment is 3", (void)shmem_align(3, 8))                                                          \
    X(shmem_malloc_with_hints, "hints is 0x40", (void)shmem_malloc_with_hints(8, 64))                                  \
    X(shmem_free, "not the beginning", shmem_free(object + 1))                                                         \
    X(shmem_long_broadcast, "PE_root is 7", (void)shmem_long_broadcast(SHMEM_TEAM_WORLD, object, object + 1, 1, 7))    \
    X(shmem_team_ptr, "pe is 1", (void)shmem_team_ptr(SHMEM_TEAM_WORLD, object, 1))                                    \
    X(shmem_init_thread, "provided is NULL", (void)shmem_init_thread(SHMEM_THREAD_SINGLE, NULL))                       \
    X(shmem_team_sync, "(it was destroyed)", (void)shmem_team_sync(destroyed_team()))                                  \
    X(shmem_ctx_long_p, "(it was destroyed)", shmem_ctx_long_p(orphaned_context(), object, 1, 0))                      \
    X(shmem_team_my_pe, "(it was destroyed)", (void)shmem_team_my_pe(destroyed_team()))                                \
    X(shmem_team_destroy, "(it was destroyed)", shmem_team_destroy(destroyed_team()))                                  \
    X(shmem_team_destroy, "is SHMEM_TEAM_WORLD, which cannot be destroyed", shmem_team_destroy(SHMEM_TEAM_WORLD))      \
    X(shmem_team_destroy, "is SHMEM_TEAM_SHARED", shmem_team_destroy(SHMEM_TEAM_SHARED))                               \
    X(shmem_team_n_pes, "which is no team", (void)shmem_team_n_pes(NO_TEAM))                                           \
    X(shmem_team_translate_pe, "dest_team is 0x4d, which is no team",                                                  \
      (void)shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, NO_TEAM))                                                     \
    X(shmem_team_split_strided, "new_team is NULL",                                                                    \
      (void)shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL))                                        \
    X(shmem_team_split_2d, "yaxis_team is NULL", {                                                                     \
        shmem_team_t team;                                                                                             \
        (void)shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, NULL);                                 \
    })                                                                                                                 \
    X(shmem_long_alltoall, "overlap", (void)shmem_long_alltoall(SHMEM_TEAM_WORLD, object, object + 1, 2))              \
    X(shmem_long_fcollect, "overlap", (void)shmem_long_fcollect(SHMEM_TEAM_WORLD, object, object, 2))                  \
    X(shmem_long_sum_reduce, "apart or the same",                                                                      \
      (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, object, object + 1, 2))                                            \
    X(shmem_long_sum_exscan, "apart or the same",                                                                      \
      (void)shmem_long_sum_exscan(SHMEM_TEAM_WORLD, object + 1, object, 2))                                            \
    X(shmem_long_alltoalls, "sst is 0", (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, object, object + 2, 1, 0, 1))     \
    X(shmem_long_alltoalls, "dst is -1", (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, object, object + 2, -1, 1, 1))   \
    X(shmem_long_alltoall, "address space", (void)shmem_long_alltoall(SHMEM_TEAM_WORLD, object, object, HUGE_COUNT))   \
    X(shmem_long_alltoalls, "address space",                                                                           \
      (void)shmem_long_alltoalls(SHMEM_TEAM_WORLD, object, object, PTRDIFF_MAX, 1, 9))                                 \
    X(shmem_long_collect, "no symmetric address",                                                                      \
      (void)shmem_long_collect(SHMEM_TEAM_WORLD, object, not_symmetric, 1))                                            \
    X(shmem_long_sum_inscan, "NULL", (void)shmem_long_sum_inscan(SHMEM_TEAM_WORLD, NULL, object, 1))                   \
    X(shmem_barrier, "no symmetric address", shmem_barrier(0, 0, 1, not_symmetric))                                    \
    X(shmem_barrier, "PE_start is 1", shmem_barrier(1, 0, 1, sync_array()))                                            \
    X(shmem_barrier, "logPE_stride is -1", shmem_barrier(0, -1, 1, sync_array()))                                      \
    X(shmem_sync, "PE_size is 0", (shmem_sync)(0, 0, 0, sync_array()))                                                 \
    X(shmem_sync, "beyond the last PE", (shmem_sync)(0, 31, 2, sync_array()))                                          \
    X(shmem_sync, "aligned", (shmem_sync)(0, 0, 1, (long *)(void *)((char *)sync_array() + 1)))                        \
    X(shmem_broadcast64, "PE_root is 1", shmem_broadcast64(object, object + 1, 1, 1, 0, 0, 1, sync_array()))           \
    X(shmem_int_sum_to_all, "nreduce is -1", shmem_int_sum_to_all(NULL, NULL, -1, 0, 0, 1, NULL, sync_array()))        \
    X(shmem_ctx_destroy, "cannot be destroyed", shmem_ctx_destroy(SHMEM_CTX_DEFAULT))                                  \
    X(shmem_ctx_long_p, "(it was destroyed)", shmem_ctx_long_p(destroyed_context(), object, 1, 0))                     \
    X(shmem_ctx_destroy, "(it was destroyed)", shmem_ctx_destroy(destroyed_context()))                                 \
    X(shmem_ctx_long_p, "pe is 9, but the team of ctx has PEs 0 to 0", {                                               \
        shmem_ctx_t ctx;                                                                                               \
        if (shmem_ctx_create(0, &ctx) == 0)                                                                            \
            shmem_ctx_long_p(ctx, object, 1, 9);                                                                       \
    })                                                                                                                 \
    X(shmem_ctx_create, "ctx is NULL", (void)shmem_ctx_create(0, NULL))                                                \
    X(shmem_ctx_session_start, "config is NULL", shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 1))               \
    X(shmem_ctx_session_start, "options is 0x8", shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 8, NULL, 0))               \
    X(shmem_clear_lock, "has not set", shmem_clear_lock(object))                                                       \
    X(shmem_set_lock, "has set already", {                                                                             \
        shmem_set_lock(object);                                                                                        \
        shmem_set_lock(object);                                                                                        \
    })                                                                                                                 \
    X(shmem_set_lock, "is no lock", {                                                                                  \
        *object = 7;                                                                                                   \
        shmem_set_lock(object);                                                                                        \
    })

/* With SHMEM_DEBUG=1. */
#define CHECKED(X)                                                                                                     \
    X(shmem_long_p, "it was freed", shmem_long_p(freed(8), 1, 0))                                                      \
    X(shmem_long_g, "it was freed", (void)shmem_long_g(freed(1 << 20), 0))                                             \
    X(shmem_long_atomic_inc, "it was freed", shmem_long_atomic_inc(freed(8), 0))                                       \
    X(shmem_long_wait_until, "it was freed", shmem_long_wait_until(freed(8), SHMEM_CMP_EQ, 0))                         \
    X(shmem_long_put_signal, "it was freed",                                                                           \
      shmem_long_put_signal(object, local, 1, (uint64_t *)freed(8), 1, SHMEM_SIGNAL_SET, 0))                           \
    X(shmem_long_sum_reduce, "it was freed", (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, freed(8), object, 1))       \
    X(shmem_set_lock, "it was freed", shmem_set_lock(freed(8)))                                                        \
    X(shmem_long_put, "past the end of the block of 64 bytes",                                                         \
      ((void)freed(8), shmem_long_put(object + 6, local, 3, 0)))                                                       \
    X(shmem_getmem, "past the end of the block of 61 bytes", shmem_getmem(local, (char *)resized() + 60, 2, 0))

struct misuse {
    const char *function, *text;
};

#define ROW(FN, TEXT, CALL) {#FN, TEXT},
static const struct misuse cases[] = {BEFORE_INIT(ROW) INSIDE(ROW) AFTER_FINALIZE(ROW) CHECKED(ROW)};
#define ONE(FN, TEXT, CALL) +1
enum { CASES = sizeof cases / sizeof *cases, FIRST_CHECKED = CASES - (0 CHECKED(ONE)) };

#define TRY(FN, TEXT, CALL)                                                                                            \
    if (next++ == number)                                                                                              \
        CALL;

static void begin(void)
{
    shmem_init();
    object = shmem_calloc(8, sizeof *object);
    word = (uint64_t *)object;
}

static void commit(int number)
{
    int next = FIRST_CHECKED;
    if (number >= FIRST_CHECKED) {
        setenv("SHMEM_DEBUG", "1", 1);
        setenv("SHMEM_LOG", "error", 1);
        begin();
        CHECKED(TRY)
        return;
    }
    next = 0;
    BEFORE_INIT(TRY)
    begin();
    INSIDE(TRY)
    shmem_finalize();
    AFTER_FINALIZE(TRY)
}

/* Whether a child ends with the right message. */
static bool ends_well(int number)
{
    const struct misuse *misuse = &cases[number];
    int ends[2], status;
    char said[4096];
    size_t length = 0;
    ssize_t got;
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        alarm(10);
        commit(number);
        _exit(0);
    }
    close(ends[1]);
    while (length < sizeof said - 1 && (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) != 0;
    if (ended && strstr(said, misuse->function) && strstr(said, misuse->text))
        return true;
    printf("%s with a mistake: expected an exit code and '%s', found status %#x and:\n%s\n", misuse->function,
           misuse->text, (unsigned)status, said);
    return false;
}

int main(void)
{
    int wrong = 0;
    for (int i = 0; i < CASES; i++)
        wrong += !ends_well(i);
    printf("%d mistakes, %d of them without the right message\n", CASES, wrong);
    return wrong != 0;
}
