// SPDX-License-Identifier: Apache-2.0
// Joining and leaving: nested, again and again, at exit, with kept heaps, while others have left, with bad settings.
#include "multi.h"

static void nested(void)
{
    for (int i = 0; i < 3; i++)
        GIVES(0, shmemx_init(NULL));
    shmem_init();
    int provided = -1;
    GIVES(0, shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided));
    GIVES(SHMEM_THREAD_MULTIPLE, provided);
    for (int i = 0; i < 5; i++) {
        GIVES(0, shmemx_finalize());
        GIVES(1, shmemx_initialized());
        GIVES(me, shmem_my_pe());
    }
}

static void outside(void)
{
    GIVES(0, shmemx_initialized());
    REFUSES(EPERM, "after shmem_finalize", shmemx_barrier());
    REFUSES(EPERM, "after shmem_finalize", shmemx_my_pe());
    REFUSES(EPERM, "after shmem_finalize", shmemx_n_pes());
    REFUSES(EPERM, "after shmem_finalize", shmemx_finalize());
    REFUSES(EPERM, "after shmem_finalize", shmemx_malloc(8, 0, &(void *){0}));
    REFUSES(EPERM, "after shmem_finalize", shmemx_register(&me, sizeof me, NULL, &(shmemx_region_t){0}));
    REFUSES(EPERM, "after shmem_finalize", shmemx_all_reduce(&(int){1}, 1, SHMEMX_INT32, SHMEMX_SUM));
    REFUSES(EPERM, "after shmem_finalize", shmemx_quiet());
    GIVES(0, shmemx_leave());
}

/* Joins, works, leaves, and looks that nothing is left. */
static void again(int times)
{
    char text[4096];
    for (int i = 0; i < times; i++) {
        GIVES(0, shmemx_init(NULL));
        GIVES(me, shmem_my_pe());
        long *word = shmem_calloc(4, sizeof *word), kept = i;
        shmem_long_atomic_add(word, me + 1, 0);
        shmem_long_p(word + 1, i, (me + 1) % n);
        char *memory = malloc(100000);
        memset(memory, me, 100000);
        shmemx_region_t region;
        GIVES(0, shmemx_register(memory, 100000, NULL, &region));
        GIVES(0, shmemx_barrier());
        if (me == 0)
            GIVES(n * (n + 1) / 2, *word);
        GIVES(i, word[1]);
        GIVES(0, shmemx_all_reduce(&kept, 1, SHMEMX_INT64, SHMEMX_MAX));
        GIVES(i, kept);
        if (i % 2)
            GIVES(0, shmemx_deregister(region)); /* else finalize does it */
        GIVES(0, shmemx_finalize());
        for (size_t k = 0; k < 100000; k++)
            CHECK(memory[k] == (char)me);
        if (i % 2 == 0)
            REFUSES(EPERM, "after shmem_finalize", shmemx_deregister(region));
        free(memory);
        if (i == 0)
            leaks_begin(); /* the process keeps one descriptor for memory that it registers */
        CHECK(leaks_none(text, sizeof text), "after round %d: %s", i, text);
    }
}

/* Handles of an earlier job mean nothing in the next. */
static void stale_handles(void)
{
    static char memory[8192];
    shmemx_region_t region, next;
    GIVES(0, shmemx_init(NULL));
    GIVES(0, shmemx_register(memory, sizeof memory, NULL, &region));
    GIVES(0, shmemx_finalize());
    GIVES(0, shmemx_init(NULL));
    REFUSES(EINVAL, "no region handle", shmemx_put(region, 0, "x", 1));
    GIVES(0, shmemx_register(memory, sizeof memory, NULL, &next));
    REFUSES(EINVAL, "no region handle", shmemx_deregister(region));
    GIVES(0, shmemx_deregister(next));
    GIVES(0, shmemx_finalize());
}

/* The heap of this PE outlives the job when somebody asked for that. */
static void kept_heap(void)
{
    GIVES(0, shmemx_init(NULL));
    char *block = shmem_malloc(5000);
    memset(block, 'k', 5000);
    GIVES(0, shmemx_keep_heap());
    GIVES(0, shmemx_finalize());
    for (int i = 0; i < 5000; i++)
        CHECK(block[i] == 'k');
    block[17] = 'm';
}

/* One leaves at once; the others are told when they need it, and leave too. */
static void somebody_left(void)
{
    char wanted[64];
    GIVES(0, shmemx_init(NULL));
    if (me == n - 1) {
        GIVES(0, shmemx_leave());
        GIVES(0, shmemx_leave());
        return;
    }
    double start = seconds_now();
    int rc = shmemx_barrier();
    if (n > 1) {
        GIVES(-EOWNERDEAD, rc);
        snprintf(wanted, sizeof wanted, "PE %d (pid ", n - 1);
        CHECK(strstr(shmemx_last_error(), wanted) || strstr(shmemx_last_error(), "has left the job"));
        CHECK(seconds_now() - start < 5);
        GIVES(-EPIPE, shmemx_barrier());
        CHECK(strstr(shmemx_last_error(), "collectives no longer work"));
        CHECK(shmemx_finalize() < 0); /* and it has left all the same */
    }
    GIVES(0, shmemx_initialized());
}

static void arguments(void)
{
    shmemx_unique_id_t id;
    const char *uid = id.text;
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR;
    GIVES(0, shmemx_get_unique_id(&id));
    GIVES(32, strlen(uid));
    REFUSES(EINVAL, "out is NULL", shmemx_get_unique_id(NULL));
    attr.rank = 0;
    REFUSES(EINVAL, "rank is given but n_pes is not", shmemx_init(&attr));
    attr.n_pes = 2;
    REFUSES(EINVAL, "uid is missing", shmemx_init(&attr));
    attr.uid = uid;
    attr.rank = 2;
    REFUSES(EINVAL, "rank is 2", shmemx_init(&attr));
    attr.rank = -1;
    attr.n_pes = -1;
    REFUSES(EINVAL, "uid is given but rank and n_pes are not", shmemx_init(&attr));
    attr.rank = 0;
    attr.n_pes = 1;
    attr.heap_size = SIZE_MAX / 2;
    REFUSES(ENOMEM, "heap_size asks for", shmemx_init(&attr));
    attr.heap_size = 1 << 20;
    GIVES(0, shmemx_init(&attr)); /* a job of one of its own */
    shmemx_heap_info_t info;
    GIVES(0, shmemx_heap_info(&info));
    GIVES(1 << 20, info.total);
    GIVES(0, shmemx_finalize());
    static const char *const bad[][3] = {
        {"SHMEM_SYMMETRIC_SIZE", "12q", "SHMEM_SYMMETRIC_SIZE is '12q'"},
        {"SHMEM_SYMMETRIC_SIZE", "900t", "SHMEM_SYMMETRIC_SIZE asks for"},
        {"SHMEM_TIMEOUT", "soon", "SHMEM_TIMEOUT is 'soon'"},
        {"SHMEM_LOG", "loud", "SHMEM_LOG is 'loud'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *before = getenv(bad[i][0]);
        setenv(bad[i][0], bad[i][1], 1);
        CHECK(shmemx_init(NULL) < 0, "%s", bad[i][0]);
        CHECK(strstr(shmemx_last_error(), bad[i][2]), "not '%s'", bad[i][2]);
        if (before)
            setenv(bad[i][0], before, 1);
        else
            unsetenv(bad[i][0]);
    }
}

/* The same, joined by a common text instead of the launcher's variables. */
static void by_uid(void)
{
    char uid[64];
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR;
    snprintf(uid, sizeof uid, "uid of %s", getenv("SHMEM_JOB") ? getenv("SHMEM_JOB") : "");
    attr.uid = uid;
    attr.rank = n - 1 - me; /* in another order */
    attr.n_pes = n;
    GIVES(0, shmemx_init(&attr));
    GIVES(n - 1 - me, shmem_my_pe());
    GIVES(0, shmemx_barrier());
    GIVES(0, shmemx_finalize());
}

static void done(const char *name)
{
    if (me == 0)
        printf("ok - %s\n", name);
}

int main(void)
{
    REFUSES(EPERM, "before shmem_init", shmemx_barrier());
    REFUSES(EPERM, "before shmem_init", shmemx_my_pe());
    REFUSES(EPERM, "before shmem_init", shmemx_deregister(NULL));
    setenv("SHMEM_SYMMETRIC_SIZE", "16M", 1);
    multi_begin();
    CASE(nested);
    multi_end();
    outside();
    done("outside");
    again(20);
    done("again");
    stale_handles();
    by_uid();
    done("by_uid");
    arguments();
    done("arguments");
    kept_heap();
    done("kept_heap");
    somebody_left();
    done("somebody_left");
    return 0;
}
