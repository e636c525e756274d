// SPDX-License-Identifier: Apache-2.0
// Forked children of PEs: every call says so there, the parent goes on, memory that is registered keeps its contents.
#include "multi.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>

static long *symmetric;
static char mixed[100]; /* shares its page with other data */
static char *whole;     /* pages of its own */
enum { WHOLE = 1 << 20 };
static shmemx_region_t region, region_whole;

static void ends_well(pid_t pid)
{
    int status = -1;
    CHECK(pid > 0);
    GIVES(pid, waitpid(pid, &status, 0));
    CHECK(status == 0, "the child ended with status %#x", (unsigned)status);
}

/* In a child. */
static void nothing_works(void)
{
    static const char says[] = "in a forked child";
    int64_t v = 1;
    shmemx_region_t other;
    GIVES(0, shmemx_initialized());
    REFUSES(EPERM, says, shmemx_my_pe());
    REFUSES(EPERM, says, shmemx_barrier());
    REFUSES(EPERM, says, shmemx_quiet());
    REFUSES(EPERM, says, shmemx_malloc(8, 0, (void **)&other));
    REFUSES(EPERM, says, shmemx_free(symmetric));
    REFUSES(EPERM, says, shmemx_register(mixed, 8, NULL, &other));
    REFUSES(EPERM, says, shmemx_put(region, 0, &v, 8));
    REFUSES(EPERM, says, shmemx_get(&v, region, 0, 8));
    REFUSES(EPERM, says, shmemx_atomic(region, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &v, NULL, NULL));
    REFUSES(EPERM, says, shmemx_wait_event(region, SHMEMX_EVENT_ANY, 0));
    REFUSES(EPERM, says, shmemx_put_to_waiting(0, 0, &v, 8, 0));
    REFUSES(EPERM, says, shmemx_deregister(region));
    REFUSES(EPERM, says, shmemx_region_close(region));
    REFUSES(EPERM, says, shmemx_region_find(0, NULL, 0, 0, &other));
    REFUSES(EPERM, says, shmemx_all_reduce(&v, 1, SHMEMX_INT64, SHMEMX_SUM));
    REFUSES(EPERM, says, shmemx_broadcast(&v, 8, 0));
    REFUSES(EPERM, says, shmemx_heap_info(&(shmemx_heap_info_t){0}));
    REFUSES(EPERM, says, shmemx_keep_heap());
    REFUSES(EPERM, says, shmemx_finalize());
    GIVES(0, shmemx_leave());
}

static void calls_in_a_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        nothing_works();
        _exit(0);
    }
    ends_well(pid);
}

/* The standard's functions end the child with a message; nobody else ends. */
static void standard_calls_in_a_child(void)
{
    int ends[2], status;
    char said[1024];
    GIVES(0, pipe(ends));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        shmem_long_p(symmetric, 1, 0);
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], said, sizeof said - 1);
    said[length > 0 ? length : 0] = 0;
    close(ends[0]);
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %#x", (unsigned)status);
    CHECK(strstr(said, "shmem_long_p: called in a forked child"), "'%s'", said);
}

/* Whole pages stay shared, mixed ones are the child's own, and what a child does to them is not seen outside. */
static void memory_in_a_child(void)
{
    memset(mixed, 'p', sizeof mixed);
    memset(whole, 'p', WHOLE);
    GIVES(0, shmemx_barrier());
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < sizeof mixed; i++)
            CHECK(mixed[i] == 'p');
        CHECK(whole[0] == 'p' && whole[WHOLE - 1] == 'p');
        memset(mixed, 'c', sizeof mixed);
        char *more = malloc(50000); /* the child's malloc works, also where its pages were moved */
        memset(more, 1, 50000);
        free(more);
        _exit(0);
    }
    ends_well(pid);
    for (size_t i = 0; i < sizeof mixed; i++)
        CHECK(mixed[i] == 'p', "a child's write to a mixed page came to the parent");
    shmemx_region_t theirs;
    int right = (me + 1) % n;
    char seen[100];
    GIVES(0, shmemx_region_at(region, right, 20, &theirs));
    GIVES(0, shmemx_get(seen, theirs, 0, sizeof seen));
    for (size_t i = 0; i < sizeof seen; i++)
        CHECK(seen[i] == 'p');
    GIVES(0, shmemx_barrier());
}

/* Children come and go while everybody puts, adds and waits. */
static void traffic_while_forking(void)
{
    enum { ROUNDS = 12 };
    shmemx_region_t theirs;
    int64_t after, one = 1;
    memset(mixed, 0, sizeof mixed);
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_region_at(region, (me + 1) % n, 20, &theirs));
    for (int i = 0; i < ROUNDS; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            mixed[90] = 'c';
            _exit(mixed[90] != 'c');
        }
        for (int k = 0; k < 100; k++)
            GIVES(0, shmemx_atomic(theirs, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &one, NULL, NULL));
        shmem_long_atomic_inc(symmetric, (me + 1) % n);
        ends_well(pid);
    }
    GIVES(0, shmemx_barrier());
    memcpy(&after, mixed, sizeof after);
    GIVES(ROUNDS * 100, after);
    GIVES(0, mixed[90]);
    GIVES(ROUNDS, *symmetric);
    GIVES(0, shmemx_barrier());
    *symmetric = 0;
}

/* A child that runs another program, which is a job of one of its own. */
static void other_programs(void)
{
    char *const argv[] = {"sh", "-c", "exit 0", NULL};
    extern char **environ;
    pid_t pid;
    GIVES(0, posix_spawnp(&pid, "sh", NULL, NULL, argv, environ));
    ends_well(pid);
    GIVES(0, system("true"));
    FILE *pipe = popen("echo hello", "r");
    char line[20] = "";
    CHECK(fgets(line, sizeof line, pipe) && !strcmp(line, "hello\n"));
    GIVES(0, pclose(pipe));
}

/* A child may start over, as a job of one. */
static void a_job_of_its_own(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        shmemx_init_attr_t attr = SHMEMX_INIT_ATTR;
        attr.rank = 0;
        attr.n_pes = 1;
        attr.heap_size = 1 << 20;
        GIVES(0, shmemx_init(&attr));
        GIVES(0, shmemx_my_pe());
        long *word = shmem_malloc(8);
        shmem_long_p(word, 3, 0);
        GIVES(3, *word);
        GIVES(0, shmemx_finalize());
        _exit(0);
    }
    ends_well(pid);
}

/* The child's death is nothing to the job. */
static void killed_children(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        int status;
        if (pid == 0) {
            raise(SIGKILL);
            _exit(0);
        }
        waitpid(pid, &status, 0);
        CHECK(WIFSIGNALED(status));
        GIVES(0, shmemx_barrier());
    }
}

int main(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "16M", 1);
    multi_begin();
    symmetric = shmem_calloc(1, sizeof *symmetric);
    whole = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GIVES(0, shmemx_register(mixed, sizeof mixed, NULL, &region));
    GIVES(0, shmemx_register(whole, WHOLE, NULL, &region_whole));
    CASE(calls_in_a_child);
    CASE(standard_calls_in_a_child);
    CASE(memory_in_a_child);
    CASE(traffic_while_forking);
    CASE(other_programs);
    CASE(a_job_of_its_own);
    CASE(killed_children);
    GIVES(0, shmemx_deregister(region));
    GIVES(0, shmemx_deregister(region_whole));
    munmap(whole, WHOLE);
    return multi_end();
}
