// SPDX-License-Identifier: Apache-2.0
// stream_deaths TYPE: a PE is killed while the streams of others wait for it. They are let go and say why; so is one
// that is destroyed, and the process that ends with one that waits ends. Without the launcher, which would end them:
// this program starts itself three times for each case.
#include <signal.h>

#include "multi.h"

enum { PES = 3, VICTIM = 0, BYTES = 4096 };

static const char *type;
static int devices;
static shmemx_device_pool_t pool;
static uint64_t *x, *words;
static shmemx_region_t own_x, own_words, victims_words;
static shmemx_stream_t stream;

static void prepare(void)
{
    CHECK((devices = shmemx_device_count(type)) > 0);
    GIVES(0, shmemx_device_pool_create(type, me % devices, 2 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, (void **)&x));
    CHECK((words = aligned_alloc(4096, 4096)));
    memset(words, 0, 4096);
    GIVES(0, shmemx_register(x, BYTES, NULL, &own_x));
    GIVES(0, shmemx_register(words, 4096, NULL, &own_words));
    GIVES(0, shmemx_stream_create(type, me % devices, &stream));
    GIVES(0, shmemx_region_at(own_words, VICTIM, 20, &victims_words));
    GIVES(0, shmemx_barrier());
}

enum { READY = 2 }; /* the word of the victim that counts who has queued all */

static void ready(void)
{
    GIVES(0, shmemx_atomic(victims_words, READY * 8, SHMEMX_UINT64, SHMEMX_ATOMIC_ADD, &(uint64_t){1}, NULL, NULL));
}

static void die_if_victim(void)
{
    if (me != VICTIM)
        return;
    GIVES(0, shmemx_wait_value(own_words, READY * 8, SHMEMX_UINT64, SHMEM_CMP_EQ, &(uint64_t){PES - 1}, 60));
    raise(SIGKILL);
}

static void tells(shmemx_stream_t which)
{
    REFUSES(EOWNERDEAD, "died, or ended without finalize", shmemx_stream_finish(which));
    REFUSES(EOWNERDEAD, "the stream failed", shmemx_stream_finish(which));
    REFUSES(EOWNERDEAD, "the stream failed", shmemx_stream_query(which));
}

/* What came before the death is there; what is queued behind the wait is done. */
static void word(void)
{
    uint64_t seen = 0, seven = 7;
    die_if_victim();
    GIVES(0, shmemx_signal_on_stream(own_words, 8, 5, SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_wait_on_stream(own_words, 8, SHMEM_CMP_EQ, 5, stream));
    GIVES(0, shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 1, stream));
    GIVES(0, shmemx_copy_on_stream(x, &seven, 8, stream));
    GIVES(0, shmemx_copy_on_stream(&seen, x, 8, stream));
    ready();
    tells(stream);
    GIVES(7, seen);
    GIVES(5, words[1]);
}

static void barrier(void)
{
    GIVES(0, shmemx_barrier_on_stream(stream));
    GIVES(0, shmemx_stream_finish(stream));
    die_if_victim();
    GIVES(0, shmemx_barrier_on_stream(stream));
    GIVES(0, shmemx_signal_on_stream(own_words, 8, 5, SHMEM_SIGNAL_SET, stream));
    ready();
    tells(stream);
    GIVES(0, words[1]); /* what comes behind is not told to anybody */
    shmemx_stream_t other;
    GIVES(0, shmemx_stream_create(type, me % devices, &other));
    REFUSES(EPIPE, "no longer work", shmemx_barrier_on_stream(other));
    GIVES(0, shmemx_stream_destroy(other));
}

/* Into the memory of the PE that has died, and to its words. */
static void put_and_signal(void)
{
    shmemx_region_t their_x;
    GIVES(0, shmemx_region_at(own_x, VICTIM, 20, &their_x));
    GIVES(0, shmemx_barrier());
    die_if_victim();
    GIVES(0, shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 1, stream));
    GIVES(0, shmemx_put_signal_on_stream(their_x, 0, words, 64, victims_words, 0, 1, SHMEM_SIGNAL_ADD, stream));
    ready();
    tells(stream);
    CHECK(shmemx_put_on_stream(their_x, 0, words, 64, stream) < 0);
}

static void destroyed(void)
{
    shmemx_stream_t other;
    die_if_victim();
    GIVES(0, shmemx_stream_create(type, me % devices, &other));
    GIVES(0, shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 1, other));
    ready();
    GIVES(0, shmemx_stream_destroy(other));
    GIVES(0, shmemx_stream_finish(stream)); /* one that waited for nobody is well */
}

/* The process ends by exit() while its stream waits for a PE that lives: the driver finds nothing that waits. */
static void exits(void)
{
    GIVES(0, shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 1, stream));
    if (me != VICTIM)
        ready();
    if (me == 1)
        exit(0);
    usleep(30000); /* the exit is mostly over by then, but need not be */
    die_if_victim();
    tells(stream);
}

/* One that leaves takes nobody along: its own stream fails. */
static void leaves(void)
{
    die_if_victim();
    GIVES(0, shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 1, stream));
    ready();
    int rc = shmemx_stream_query(stream);
    CHECK(rc == 0 || rc == -EOWNERDEAD);
    GIVES(0, shmemx_leave());
    rc = shmemx_stream_finish(stream);
    CHECK(rc == -ECANCELED || rc == -EOWNERDEAD, "it gave %d", rc);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"word", word},           {"barrier", barrier}, {"put and signal", put_and_signal},
             {"destroyed", destroyed}, {"exits", exits},     {"leaves", leaves}};
enum { CASES = sizeof cases / sizeof *cases };

static int be_a_pe(size_t which)
{
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
    prepare();
    cases[which].run();
    GIVES(0, shmemx_stream_destroy(stream));
    _exit(0); /* there is no end of the job together */
}

static pid_t start(const char *program, size_t which, int pe)
{
    char text[16], job[64];
    pid_t pid = fork();
    if (pid)
        return pid;
    snprintf(job, sizeof job, "stream-deaths %s %d %zu", type, (int)getppid(), which);
    setenv("SHMEM_JOB", job, 1);
    snprintf(text, sizeof text, "%d", pe);
    setenv("SHMEM_RANK", text, 1);
    snprintf(text, sizeof text, "%d", PES);
    setenv("SHMEM_SIZE", text, 1);
    snprintf(text, sizeof text, "%zu", which);
    execl(program, program, type, text, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    int failed = 0;
    CHECK(argc > 1);
    type = argv[1];
    if (argc > 2)
        return be_a_pe((size_t)atoi(argv[2]));
    printf("1..%d\n", CASES);
    for (size_t which = 0; which < CASES; which++) {
        pid_t pids[PES];
        bool good = true;
        fflush(stdout);
        for (int pe = 0; pe < PES; pe++)
            pids[pe] = start("/proc/self/exe", which, pe);
        for (int pe = 0; pe < PES; pe++) {
            int status = -1;
            waitpid(pids[pe], &status, 0);
            bool died = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
            /* One that ends by exit() leaves the driver's double its pool and stream, which the double says. */
            bool leaves_it = cases[which].run == exits && pe == 1 && !getenv("SHMEM_DEVICE_FALLBACK");
            bool ended = WIFEXITED(status) && WEXITSTATUS(status) == (leaves_it ? 97 : 0);
            if (pe == VICTIM ? !died : !ended)
                fprintf(stderr, "PE %d ended with %#x\n", pe, status);
            good = good && (pe == VICTIM ? died : ended);
        }
        printf("%sok %zu - %s\n", good ? "" : "not ", which + 1, cases[which].name);
        failed += !good;
    }
    return failed != 0;
}
