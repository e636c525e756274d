// SPDX-License-Identifier: Apache-2.0
// stand_in CASE TYPE: a program for devices that knows nothing of what stands in for them, and what it prints.
#include "multi.h"

enum { COUNT = 3000, BYTES = COUNT * 8 };

static const char *type;
static int64_t near[COUNT];

static void fill(int64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        near[i] = seed * 1000000 + i;
}

static long long sum(const void *device)
{
    long long all = 0;
    GIVES(0, shmemx_device_copy(near, device, BYTES));
    for (int i = 0; i < COUNT; i++)
        all += near[i];
    return all;
}

/* --- one process, no job ------------------------------------------------------------------------------------------ */

static int other_process(const char *key)
{
    shmemx_device_import_t import;
    shmemx_device_import_info_t info;
    GIVES(0, shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import));
    GIVES(0, shmemx_device_import_info(import, &info));
    printf("imported: %zu bytes of %s, note %s, sum %lld\n", info.bytes, info.type, (const char *)info.note,
           sum(info.address));
    fill(5);
    GIVES(0, shmemx_device_copy(info.address, near, BYTES));
    GIVES(0, shmemx_device_import_close(import));
    return 0;
}

static void run_other(const char *self, const char *key)
{
    int status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, "import", type, key, (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "it ended with %#x", (unsigned)status);
}

/* The stream waits for what the program does after it has queued the rest. */
static void on_a_stream(shmemx_device_pool_t pool, void *a, void *b)
{
    static int64_t out[COUNT];
    shmemx_stream_t stream;
    void *word;
    GIVES(0, shmemx_device_alloc(pool, 8, 0, &word));
    GIVES(0, shmemx_device_copy(word, &(uint64_t){0}, 8));
    GIVES(0, shmemx_stream_create(type, 0, &stream));
    fill(3);
    GIVES(0, shmemx_wait_value_on_stream(word, SHMEMX_UNTIL_AT_LEAST, 1, stream));
    GIVES(0, shmemx_copy_on_stream(a, near, BYTES, stream));
    GIVES(0, shmemx_copy_on_stream(b, a, BYTES, stream));
    GIVES(0, shmemx_copy_on_stream(out, b, BYTES, stream));
    printf("stream: done %d", shmemx_stream_query(stream));
    GIVES(0, shmemx_device_copy(word, &(uint64_t){1}, 8));
    GIVES(0, shmemx_stream_finish(stream));
    printf(", then %d, last %lld\n", shmemx_stream_query(stream), (long long)out[COUNT - 1]);
    GIVES(0, shmemx_stream_destroy(stream));
    GIVES(0, shmemx_device_free(pool, word));
}

static int alone(const char *self)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_export_attr_t attr = SHMEMX_EXPORT_ATTR;
    shmemx_device_pool_t pool;
    shmemx_device_pool_stats_t stats;
    shmemx_device_info_t info;
    const char *of = "";
    void *a, *b;
    int number = -1;
    GIVES(0, shmemx_device_info(type, 0, &info));
    printf("%s %d, shares %d, signals %d\n", info.type, info.number, info.can_share, info.can_signal);
    GIVES(0, shmemx_device_pool_create(type, 0, 3 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 4096, &a));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, &b));
    GIVES(0, shmemx_device_pool_stats(pool, &stats));
    printf("pool: %zu, %zu buffers, %s\n", stats.size, stats.buffers, stats.type);
    GIVES(1, shmemx_device_where((char *)a + 9, &of, &number));
    printf("where: %s %d, aligned %d\n", of, number, (uintptr_t)a % 4096 == 0);
    fill(1);
    GIVES(0, shmemx_device_copy(a, near, BYTES));
    GIVES(0, shmemx_device_copy(b, a, BYTES));
    printf("copies: %lld\n", sum(b));
    attr.note = "of a";
    attr.note_bytes = 5;
    GIVES(0, shmemx_export(a, BYTES, &attr, key));
    run_other(self, key);
    printf("written by the other: %lld\n", sum(a));
    on_a_stream(pool, a, b);
    GIVES(0, shmemx_device_free(pool, a));
    GIVES(0, shmemx_device_pool_close(pool));
    return 0;
}

/* --- a job -------------------------------------------------------------------------------------------------------- */

/* To the right, around the job, by streams alone; then the signal at the host. */
static int job(void)
{
    static uint64_t words[2];
    shmemx_device_pool_t pool;
    shmemx_region_t own, own_words, right, right_words;
    shmemx_stream_t stream;
    int64_t value = 0;
    void *x;
    GIVES(0, shmemx_init(NULL));
    me = shmemx_my_pe();
    n = shmemx_n_pes();
    int device = me % shmemx_device_count(type);
    GIVES(0, shmemx_device_pool_create(type, device, 1 << 20, &pool));
    GIVES(0, shmemx_device_alloc(pool, BYTES, 0, &x));
    GIVES(0, shmemx_register(x, BYTES, NULL, &own));
    GIVES(0, shmemx_register(words, sizeof words, NULL, &own_words));
    GIVES(0, shmemx_region_at(own, (me + 1) % n, 20, &right));
    GIVES(0, shmemx_region_at(own_words, (me + 1) % n, 20, &right_words));
    GIVES(0, shmemx_stream_create(type, device, &stream));
    if (me != 0)
        GIVES(0, shmemx_wait_on_stream(own_words, 0, SHMEM_CMP_EQ, 1, stream));
    else {
        fill(7);
        GIVES(0, shmemx_copy_on_stream(x, near, BYTES, stream));
    }
    if (n > 1)
        GIVES(0, shmemx_put_signal_on_stream(right, 0, x, BYTES, right_words, 0, 1, SHMEM_SIGNAL_SET, stream));
    GIVES(0, shmemx_barrier_on_stream(stream));
    GIVES(0, shmemx_quiet_on_stream(stream));
    GIVES(0, shmemx_stream_finish(stream));
    GIVES(0, shmemx_get(&value, right, BYTES - 8, 8));
    CHECK(value == 7000000 + COUNT - 1);
    for (int pe = 0; pe < n; pe++) {
        GIVES(0, shmemx_barrier());
        if (pe == me)
            printf("PE %d: sum %lld\n", me, sum(x));
        fflush(stdout);
    }
    GIVES(0, shmemx_stream_destroy(stream));
    GIVES(0, shmemx_finalize());
    GIVES(0, shmemx_device_pool_close(pool));
    return 0;
}

/* --- what is said ------------------------------------------------------------------------------------------------- */

/* Each way to such memory, twice. */
static int all_ways(void)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    GIVES(0, shmemx_init(NULL));
    attr.size = 1 << 20;
    attr.type = type;
    for (int i = 0; i < 2; i++) {
        shmemx_device_pool_t pool;
        shmemx_stream_t stream;
        shmemx_pool_t plain;
        GIVES(0, shmemx_device_pool_create(type, 0, 1 << 20, &pool));
        GIVES(0, shmemx_device_pool_close(pool));
        GIVES(0, shmemx_stream_create(type, 0, &stream));
        GIVES(0, shmemx_stream_destroy(stream));
        GIVES(0, shmemx_pool_create(&attr, &plain));
        GIVES(0, shmemx_pool_close(plain));
        void *heap = shmemx_malloc_kind(64, type);
        CHECK(heap && shmem_ptr(heap, shmemx_my_pe()) == heap); /* it is the host's */
        shmem_free(heap);
    }
    GIVES(0, shmemx_finalize());
    return 0;
}

static int refused(void)
{
    shmemx_device_pool_t pool;
    shmemx_stream_t stream;
    printf("%d\n", shmemx_device_count(type));
    printf("%s\n", shmemx_last_error());
    printf("%d\n", shmemx_device_stands_in(type));
    printf("%d\n", shmemx_device_pool_create(type, 0, 1 << 20, &pool));
    printf("%s\n", shmemx_last_error());
    printf("%d\n", shmemx_stream_create(type, 0, &stream));
    printf("%d\n", shmemx_device_adopt(type, 0, near, BYTES));
    return 0;
}

/* A stream that a program says it has is none that host memory could have; the default one is. */
static int streams_of_others(void)
{
    shmemx_stream_t stream;
    REFUSES(EBADFD, "is no stream", shmemx_stream_wrap(type, 0, near, &stream));
    GIVES(0, shmemx_stream_wrap(type, 0, NULL, &stream));
    GIVES(0, shmemx_stream_finish(stream));
    GIVES(0, shmemx_stream_destroy(stream));
    return 0;
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    type = argv[2];
    setvbuf(stdout, NULL, _IOLBF, 0);
    return !strcmp(argv[1], "alone")      ? alone(argv[0])
           : !strcmp(argv[1], "import")   ? other_process(argv[3])
           : !strcmp(argv[1], "job")      ? job()
           : !strcmp(argv[1], "all_ways") ? all_ways()
           : !strcmp(argv[1], "refused")  ? refused()
                                          : streams_of_others();
}
