// SPDX-License-Identifier: Apache-2.0
// A program for the tests of the launcher and of sudden ends: does what its first argument says.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int me, n;

static void start(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    setvbuf(stdout, NULL, _IOLBF, 0);
}

static int rank(void)
{
    const char *text = getenv("SHMEM_RANK");
    return text ? atoi(text) : 0;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* Everything at once, until somebody dies: puts, gets, atomics, barriers, reductions, allocations, regions. Each PE
   does the collective steps in the same order, and between them what its own random numbers say. */
static void mix(uint64_t seed)
{
    static int64_t registered[512], sum[5000];
    shmemx_region_t region, theirs;
    uint64_t common = seed, own = seed * 31 + (uint64_t)me + 1;
    int64_t *block = shmem_calloc(1024, sizeof *block), here[1024];
    if (shmemx_register(registered, sizeof registered, NULL, &region) < 0)
        shmem_global_exit(9);
    shmem_barrier_all();
    printf("ready %d %d\n", me, (int)getpid());
    for (;;) {
        for (int i = 0; i < 20; i++) {
            int pe = (int)(next_random(&own) % (uint64_t)n);
            switch (next_random(&own) % 7) {
            case 0:
                shmem_int64_put(block, here, 1024, pe);
                break;
            case 1:
                shmem_int64_get(here, block, 1024, pe);
                break;
            case 2:
                shmem_int64_atomic_add(block, 1, pe);
                break;
            case 3:
                (void)shmem_int64_atomic_compare_swap(block + 1, 5, 6, pe);
                break;
            case 4:
                if (shmemx_region_at(region, pe, 5, &theirs) == 0)
                    shmemx_put(theirs, 0, here, sizeof registered); /* may say that the owner has died */
                break;
            case 5:
                if (shmemx_region_at(region, pe, 5, &theirs) == 0)
                    shmemx_atomic(theirs, 0, SHMEMX_INT64, SHMEMX_ATOMIC_ADD, &(int64_t){1}, NULL, NULL);
                break;
            default:
                shmem_quiet();
                break;
            }
        }
        void *more;
        switch (next_random(&common) % 4) {
        case 0:
            shmem_barrier_all();
            break;
        case 1:
            more = shmem_malloc(1 + next_random(&common) % 100000);
            shmem_free(more);
            break;
        case 2:
            shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, block, block, 100);
            break;
        default:
            if (shmemx_all_reduce(sum, 5000, SHMEMX_INT64, SHMEMX_SUM) < 0) {
                /* as a program that cannot go on does; the text names who died */
                fprintf(stderr, "PE %d: %s\n", me, shmemx_last_error());
                exit(7);
            }
        }
    }
}

/* Waits in the given way for what never comes. PE 1 has so much memory of its own that is in use: it takes long to go.
 */
static void wait_in(const char *how, size_t bytes)
{
    long *word = shmem_calloc(2, sizeof *word);
    if (me == 1 && bytes) {
        char *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (own == MAP_FAILED)
            exit(8);
    }
    printf("ready %d %d\n", me, (int)getpid());
    if (me == 1)
        pause();
    if (!strcmp(how, "barrier"))
        shmem_barrier_all();
    else if (!strcmp(how, "wait"))
        shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
    else if (!strcmp(how, "reduce"))
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, word, 1);
    else if (!strcmp(how, "malloc"))
        (void)shmem_malloc(100);
    else if (!strcmp(how, "finalize"))
        shmem_finalize();
    else if (!strcmp(how, "signal"))
        (void)shmem_signal_wait_until((uint64_t *)word, SHMEM_CMP_EQ, 1);
    else if (!strcmp(how, "event")) { /* the extension tells its caller */
        static char memory[64];
        shmemx_region_t region;
        shmemx_register(memory, sizeof memory, NULL, &region);
        int rc = shmemx_wait_event(region, SHMEMX_EVENT_WRITE, SHMEMX_FOREVER);
        fprintf(stderr, "PE %d: wait_event gave %d: %s\n", me, rc, shmemx_last_error());
        exit(rc == -EOWNERDEAD ? 5 : 6);
    }
    exit(0);
}

/* Until the process is gone. */
static void *reading(void *word)
{
    for (;;)
        (void)shmem_long_g(word, 0);
    return NULL;
}

/* Nobody calls finalize, and a thread of each PE goes on; the last ends with a status, at once. PE 0 waits for what the
   others bring, and then reads it from them. */
static void no_finalize(bool old, int status)
{
    if (old)
        start_pes(0);
    else
        start();
    me = shmem_my_pe();
    n = shmem_n_pes();
    long *words = shmem_calloc(2, sizeof *words), sum = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, reading, words + 1) != 0)
        exit(99);
    pthread_detach(thread);
    if (me == n - 1 && status)
        exit(status);
    if (me == 0) {
        shmem_long_wait_until(words, SHMEM_CMP_EQ, n - 1);
        for (int pe = 1; pe < n; pe++)
            sum += shmem_long_g(words + 1, pe);
        printf("%ld\n", sum);
    } else {
        words[1] = me;
        usleep((useconds_t)me * 100000);
        shmem_long_atomic_inc(words, 0);
    }
}

static int run(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *with = argc > 2 ? argv[2] : "";
    if (!strcmp(what, "hello")) {
        start();
        printf("PE %d of %d\n", me, n);
        shmem_finalize();
    } else if (!strcmp(what, "exit")) { /* before shmem is used at all */
        if (rank() == atoi(with))
            exit(atoi(argv[3]));
    } else if (!strcmp(what, "exit-inside")) { /* one leaves without finalize, the others wait for it */
        start();
        if (me == atoi(with))
            exit(atoi(argv[3]));
        shmem_barrier_all();
        shmem_finalize();
    } else if (!strcmp(what, "global-exit")) {
        start();
        if (me == n - 1)
            shmem_global_exit(atoi(with));
        shmem_barrier_all();
    } else if (!strcmp(what, "raise")) {
        start();
        printf("ready %d %d\n", me, (int)getpid());
        if (me == n - 1)
            raise(atoi(with));
        shmem_barrier_all();
    } else if (!strcmp(what, "sleep")) { /* never ends by itself */
        start();
        printf("ready %d %d\n", me, (int)getpid());
        shmem_barrier_all();
        for (;;)
            pause();
    } else if (!strcmp(what, "stubborn")) { /* ignores what asks it to end */
        for (int s = 1; s < 32; s++)
            signal(s, SIG_IGN);
        start();
        printf("ready %d %d\n", me, (int)getpid());
        for (;;)
            pause();
    } else if (!strcmp(what, "grandchildren")) { /* leaves processes behind, one of them in a session of its own */
        start();
        for (int k = 0; k < 2; k++)
            if (fork() == 0) {
                if (k)
                    setsid();
                signal(SIGTERM, SIG_IGN);
                execlp("sleep", "sleep", "1000", (char *)NULL);
                _exit(1);
            }
        printf("ready %d %d\n", me, (int)getpid());
        shmem_barrier_all();
        if (atoi(with))
            exit(me == 0 ? atoi(with) : 0);
        for (;;)
            pause();
    } else if (!strcmp(what, "wait")) {
        start();
        wait_in(with, argc > 3 ? (size_t)atol(argv[3]) : 0);
    } else if (!strcmp(what, "mix")) {
        start();
        mix(strtoull(with, NULL, 10));
    } else if (!strcmp(what, "lines")) { /* many lines, each of one write; the last without its end */
        int lines = atoi(with);
        for (int i = 0; i < lines; i++) {
            char line[120];
            int length = snprintf(line, sizeof line, "line %d of %d%s", i, rank(), i + 1 < lines ? "\n" : "");
            if (write(i % 10 == 9 ? STDERR_FILENO : STDOUT_FILENO, line, (size_t)length) != length)
                return 3;
        }
    } else if (!strcmp(what, "long-line")) {
        size_t length = (size_t)atol(with);
        char *line = malloc(length + 1);
        memset(line, 'a' + rank(), length);
        line[length] = '\n';
        for (size_t at = 0; at < length + 1;) {
            ssize_t got = write(STDOUT_FILENO, line + at, length + 1 - at);
            if (got < 0)
                return 3;
            at += (size_t)got;
        }
    } else if (!strcmp(what, "cat")) { /* what comes on standard input */
        char text[256];
        size_t got = fread(text, 1, sizeof text, stdin);
        printf("%d read %d: %.*s\n", rank(), (int)got, (int)got, text);
    } else if (!strcmp(what, "variable")) {
        printf("%d: %s\n", rank(), getenv(with) ? getenv(with) : "(not set)");
    } else if (!strcmp(what, "cores")) {
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        printf("%d:", rank());
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set))
                printf(" %zu", cpu);
        printf("\n");
    } else if (!strcmp(what, "descriptors")) {
        char text[200] = "";
        for (int fd = 0; fd < 100; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                snprintf(text + strlen(text), sizeof text - strlen(text), " %d", fd);
        printf("%d:%s\n", rank(), text);
    } else if (!strcmp(what, "never-init")) { /* the others start, this one does not */
        if (rank() == atoi(with)) {
            pause();
        }
        start();
    } else if (!strcmp(what, "slow-init")) {
        printf("ready %d %d\n", rank(), (int)getpid());
        fflush(stdout);
        usleep((useconds_t)atoi(with));
        start();
        printf("joined %d\n", me);
        for (;;)
            shmem_barrier_all();
    } else if (!strcmp(what, "heap")) {
        start();
        void *block = shmem_malloc((size_t)atol(with));
        if (!block) {
            fprintf(stderr, "PE %d: %s\n", me, shmemx_last_error());
            shmem_global_exit(4);
        }
        memset(block, 1, (size_t)atol(with));
        shmem_finalize();
    } else if (!strcmp(what, "atexit")) { /* the oldest interface finalizes at exit */
        start_pes(0);
        me = _my_pe();
        long *word = shmalloc(sizeof *word);
        *word = 0;
        shmem_barrier_all();
        shmem_long_atomic_inc(word, 0);
        shmem_barrier_all();
        if (me == 0)
            printf("%ld\n", *word);
        exit(0);
    } else if (!strcmp(what, "no-finalize")) {
        no_finalize(*with == 'o', argc > 3 ? atoi(argv[3]) : 0);
    } else
        return 99;
    return 0;
}

int main(int argc, char **argv)
{
    return run(argc, argv);
}
