// SPDX-License-Identifier: Apache-2.0
// Static data as symmetric objects: compiled and linked in many ways by oshcc.py, run on several PEs.
#include <errno.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long zeroed[3];
static long initialized[4] = {1, 2, 3, 4};
long global = 7;
static char odd[4099] = "x";
static double large[100000];
static const char *pointer = "still the same"; /* relocated in position-independent programs */
static const char constant[] = "cannot be changed";

static int me, n;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "PE %d: line %d: '%s' does not hold\n", me, __LINE__, #condition);                         \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void *in_a_thread(void *unused)
{
    (void)unused;
    shmem_long_atomic_inc(&zeroed[2], 0);
    return NULL;
}

int main(int argc, char **argv)
{
    /* All was moved before main, and looks as the compiler made it. */
    CHECK(initialized[0] == 1 && initialized[3] == 4 && global == 7 && odd[0] == 'x' &&
          !strcmp(pointer, "still the same"));
    CHECK(zeroed[0] == 0 && large[99999] == 0);
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    int right = (me + 1) % n, left = (me + n - 1) % n;
    CHECK(shmem_addr_accessible(&global, right) && shmem_addr_accessible(&large[99999], right));
    CHECK(!shmem_addr_accessible(&me + 0x10000000, right));
    shmem_long_p(&zeroed[0], 10 + me, right);
    shmem_long_put(initialized, (long[]){me, me, me, me}, 4, right);
    shmem_putmem(odd + 4000, &(char){(char)('a' + me)}, 1, right);
    shmem_double_p(&large[77777], me + 0.5, right);
    shmem_long_atomic_add(&global, 1, 0);
    shmem_barrier_all();
    CHECK(zeroed[0] == 10 + left && initialized[0] == left && initialized[3] == left);
    CHECK(odd[4000] == 'a' + left && large[77777] == left + 0.5);
    CHECK(shmem_long_g(&global, 0) == 7 + n);
    CHECK(me != 0 || global == 7 + n);
    long *theirs = shmem_ptr(&zeroed[1], right);
    CHECK(theirs);
    *theirs = 99;
    shmem_barrier_all();
    CHECK(zeroed[1] == 99);
    static long sum, part;
    part = me + 1;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &part, 1);
    CHECK(sum == n * (n + 1) / 2);
    /* Threads, children and stdio go on as ever in moved memory. */
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, in_a_thread, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    CHECK(me != 0 || zeroed[2] == 4 * n);
    pid_t pid = fork();
    if (pid == 0) {
        global = -1;
        zeroed[2] = -1;
        _exit(initialized[0] != left);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(status == 0);
    CHECK(global != -1 && zeroed[2] != -1);
    setenv("SHMEM_TEST", "value", 1);
    CHECK(!strcmp(getenv("SHMEM_TEST"), "value") && !strcmp(constant, "cannot be changed") && errno >= 0);
    if (argc > 1 && !strcmp(argv[1], "stack")) {
        long local = 0;
        shmem_long_p(&local, 1, right);
    }
    shmem_barrier_all();
    if (me == 0)
        printf("static data works on %d PEs\n", n);
    shmem_finalize();
    CHECK(initialized[0] == left);
    return 0;
}
