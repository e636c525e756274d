// SPDX-License-Identifier: Apache-2.0
// A server and its clients, which share weights and request buffers by keys. They need no job, and are not related: the
// server starts itself again as a client, with the keys as arguments.   oshcc pool.c -o pool && ./pool
#include "common.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INPUTS = 64, CLIENTS = 3, TURNS = 5 };
enum { IDLE, ASKED, ANSWERED, DONE };

/* One for each client, in the server's pool. */
struct request {
    _Atomic int state;
    double x[INPUTS], y;
};

/* What comes next is up to the other side. */
static void wait_while(_Atomic int *state, int value)
{
    struct timespec nap = {.tv_nsec = 20000};
    while (atomic_load(state) == value)
        nanosleep(&nap, NULL);
}

static double product(const double *weights, const double *x)
{
    double sum = 0;
    for (int i = 0; i < INPUTS; i++)
        sum += weights[i] * x[i];
    return sum;
}

static void *import(const char *key, shmemx_import_mode_t mode, shmemx_import_t *import)
{
    shmemx_import_info_t info;
    CHECK(shmemx_import(key, mode, NULL, import));
    CHECK(shmemx_import_info(*import, &info));
    return info.address;
}

static int client(int number, const char *weights_key, const char *request_key)
{
    shmemx_import_t weights_import, request_import, refused;
    const double *weights = import(weights_key, SHMEMX_IMPORT_READ, &weights_import); /* a write would fault */
    struct request *request = import(request_key, SHMEMX_IMPORT_WRITE, &request_import);
    EXPECT(shmemx_import(weights_key, SHMEMX_IMPORT_WRITE, NULL, &refused) < 0);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < INPUTS; i++)
            request->x[i] = number + turn + i;
        atomic_store(&request->state, ASKED);
        wait_while(&request->state, ASKED);
        EXPECT(request->y == product(weights, request->x));
    }
    atomic_store(&request->state, DONE);
    CHECK(shmemx_import_close(weights_import));
    CHECK(shmemx_import_close(request_import));
    return 0;
}

/* Starts this program again, with other arguments. */
static pid_t start_client(int number, const char *weights_key, const char *request_key)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "pool", text, weights_key, request_key, (char *)NULL);
        _exit(127);
    }
    EXPECT(pid > 0);
    return pid;
}

static int answer(struct request *request, const double *weights)
{
    int state = atomic_load(&request->state);
    if (state != ASKED)
        return state == DONE;
    request->y = product(weights, request->x);
    atomic_store(&request->state, ANSWERED);
    return 0;
}

static int server(void)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_export_attr_t reading = SHMEMX_EXPORT_ATTR;
    char weights_key[SHMEMX_KEY_TEXT], request_key[SHMEMX_KEY_TEXT];
    struct request *requests[CLIENTS];
    pid_t pids[CLIENTS];
    shmemx_pool_t pool;
    void *memory;

    attr.size = 1 << 20;
    CHECK(shmemx_pool_create(&attr, &pool));
    CHECK(shmemx_pool_alloc(pool, INPUTS * sizeof(double), 0, SHMEMX_OWN, &memory));
    double *weights = memory;
    for (int i = 0; i < INPUTS; i++)
        weights[i] = 1.0 / (i + 1);
    reading.rights = SHMEMX_RIGHT_READ;
    reading.frozen = 1; /* nobody can map it for writing any more: the kernel sees to that */
    CHECK(shmemx_export(weights, INPUTS * sizeof(double), &reading, weights_key));

    for (int i = 0; i < CLIENTS; i++) {
        CHECK(shmemx_pool_alloc(pool, sizeof(struct request), 0, SHMEMX_ZERO, &memory));
        requests[i] = memory;
        CHECK(shmemx_export(memory, sizeof(struct request), NULL, request_key));
        pids[i] = start_client(i, weights_key, request_key);
    }
    int done = 0, status, ended = 0;
    while (done < CLIENTS && ended >= 0) {
        struct timespec nap = {.tv_nsec = 20000};
        done = 0;
        for (int i = 0; i < CLIENTS; i++)
            done += answer(requests[i], weights);
        nanosleep(&nap, NULL);
        siginfo_t info = {0}; /* a client that failed would never be done */
        ended = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
        EXPECT(info.si_pid == 0 || (info.si_code == CLD_EXITED && info.si_status == 0));
    }
    for (int i = 0; i < CLIENTS; i++)
        EXPECT(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("%d answers to %d clients\n", CLIENTS * TURNS, CLIENTS);
    CHECK(shmemx_pool_close(pool));
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 ? client(atoi(argv[1]), argv[2], argv[3]) : server();
}
