// SPDX-License-Identifier: Apache-2.0
// Runs every path of device memory against the drivers that are there, and measures copies:
// device self-test [TYPE], device measure [TYPE]. What is done between two processes runs in another one of this
// program (importer KEY SEED, victim KEY, player ID TYPE:NUMBER,
// heap ID TYPE:NUMBER).
#include <shmem.h>
#include <shmemx.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 3 << 20, POOL = 16 << 20, ODD_MOST = 200 };

static const char *self;
static unsigned char *host;
static int passed, failed;

/* --- saying ------------------------------------------------------------------------------------------------------- */

static void tell(bool good, const char *device, const char *step, const char *why)
{
    passed += good;
    failed += !good;
    printf("%s %-8s %s%s%s\n", good ? "ok    " : "FAILED", device, step, good ? "" : ": ", good ? "" : why);
    fflush(stdout);
}

static void skip(const char *device, const char *step, const char *why)
{
    printf("skip   %-8s %s: %s\n", device, step, why);
}

/* The text of a step that fails without the library. */
static char own_text[200];

static int wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(own_text, sizeof own_text, format, arguments);
    va_end(arguments);
    return -1;
}

static void step(const char *device, const char *what, int rc)
{
    tell(rc >= 0, device, what, *own_text ? own_text : shmemx_last_error());
    *own_text = 0;
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

static unsigned char pattern(size_t i, int seed)
{
    return (unsigned char)(i * 131 + (i >> 8) * 7 + (unsigned)seed * 29 + 1);
}

static void fill(size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        host[i] = pattern(i, seed);
}

static int compare(size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (host[i] != pattern(i, seed))
            return wrong("byte %zu is %d instead of %d", i, host[i], pattern(i, seed));
    return 0;
}

static int put(void *to, int seed)
{
    fill(BYTES, seed);
    return shmemx_device_copy(to, host, BYTES);
}

static int check(const void *from, int seed)
{
    memset(host, 0, BYTES);
    int rc = shmemx_device_copy(host, from, BYTES);
    return rc < 0 ? rc : compare(BYTES, seed);
}

/* --- a device ----------------------------------------------------------------------------------------------------- */

struct place {
    shmemx_device_info_t info;
    char name[32]; /* "npu:0" */
    shmemx_device_pool_t pool;
    void *a, *b;
};

static int open_place(const char *type, int number, struct place *p)
{
    int rc = shmemx_device_info(type, number, &p->info);
    snprintf(p->name, sizeof p->name, "%s:%d", type, number);
    if (rc < 0 || (rc = shmemx_device_pool_create(type, number, POOL, &p->pool)) < 0)
        return rc;
    rc = shmemx_device_alloc(p->pool, BYTES, 0, &p->a);
    return rc < 0 ? rc : shmemx_device_alloc(p->pool, BYTES, 0, &p->b);
}

static int copies(struct place *p)
{
    int rc = put(p->a, 1);
    if (rc < 0 || (rc = shmemx_device_copy(p->b, p->a, BYTES)) < 0)
        return rc;
    return check(p->b, 1);
}

/* Few bytes at odd addresses, and nothing beside them changed. */
static int odd_copies(struct place *p)
{
    int rc = put(p->a, 2);
    for (size_t begin = 1; rc >= 0 && begin < ODD_MOST; begin += 13) {
        unsigned char small[ODD_MOST];
        for (size_t i = 0; i < begin; i++)
            small[i] = pattern(begin + i, 2);
        rc = shmemx_device_copy((char *)p->a + begin, small, begin);
        if (rc >= 0)
            rc = shmemx_device_copy((char *)p->b + begin + 3, (char *)p->a + begin, begin);
        memset(small, 0, sizeof small);
        if (rc >= 0)
            rc = shmemx_device_copy(small, (char *)p->b + begin + 3, begin);
        for (size_t i = 0; rc >= 0 && i < begin; i++)
            if (small[i] != pattern(begin + i, 2))
                rc = wrong("byte %zu of %zu at offset %zu is wrong", i, begin, begin + 3);
    }
    return rc < 0 ? rc : check(p->a, 2);
}

static int streams(struct place *p)
{
    shmemx_stream_t stream;
    int rc = shmemx_stream_create(p->info.type, p->info.number, &stream);
    if (rc < 0)
        return rc;
    fill(BYTES, 3);
    if ((rc = shmemx_copy_on_stream(p->a, host, BYTES, stream)) >= 0 &&
        (rc = shmemx_copy_on_stream(p->b, p->a, BYTES, stream)) >= 0 && (rc = shmemx_stream_finish(stream)) >= 0) {
        memset(host, 0, BYTES);
        if ((rc = shmemx_copy_on_stream(host, p->b, BYTES, stream)) >= 0 && (rc = shmemx_stream_finish(stream)) >= 0 &&
            (rc = shmemx_stream_query(stream)) >= 0)
            rc = rc == 1 ? compare(BYTES, 3) : wrong("a stream that was finished is not done");
    }
    int end = shmemx_stream_destroy(stream);
    return rc < 0 ? rc : end;
}

/* One stream writes a word when it has copied; another waits for it, and copies on. */
static int words(struct place *p)
{
    shmemx_stream_t first = NULL, second = NULL;
    void *word = NULL;
    int rc = shmemx_device_alloc(p->pool, 8, 0, &word);
    fill(BYTES, 4);
    if (rc >= 0 && (rc = shmemx_device_copy(word, &(uint64_t){0}, 8)) >= 0 &&
        (rc = shmemx_stream_create(p->info.type, p->info.number, &first)) >= 0 &&
        (rc = shmemx_stream_create(p->info.type, p->info.number, &second)) >= 0 &&
        (rc = shmemx_copy_on_stream(p->a, host, BYTES, first)) >= 0 &&
        (rc = shmemx_write_value_on_stream(word, 77, first)) >= 0 && (rc = shmemx_stream_finish(first)) >= 0 &&
        (rc = shmemx_wait_value_on_stream(word, SHMEMX_UNTIL_AT_LEAST, 77, second)) >= 0 &&
        (rc = shmemx_copy_on_stream(p->b, p->a, BYTES, second)) >= 0 && (rc = shmemx_stream_finish(second)) >= 0)
        rc = check(p->b, 4);
    if (first)
        shmemx_stream_destroy(first);
    if (second)
        shmemx_stream_destroy(second);
    int end = shmemx_device_free(p->pool, word);
    return rc < 0 ? rc : end;
}

/* --- two processes ------------------------------------------------------------------------------------------------ */

static int start(const char *what, const char *key, const char *seed)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, what, key, seed, (char *)NULL);
        _exit(126);
    }
    return pid < 0 ? -1 : pid;
}

static int two_processes(struct place *p)
{
    char key[SHMEMX_KEY_TEXT];
    int status = -1, rc = put(p->a, 5);
    if (rc < 0 || (rc = shmemx_export(p->a, BYTES, NULL, key)) < 0)
        return rc;
    fflush(stdout);
    int pid = start("importer", key, "5");
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return wrong("the other process ended with status %#x (what it said is above)", (unsigned)status);
    if ((rc = check(p->a, 6)) < 0)
        return rc;
    return shmemx_revoke(key, 0);
}

/* The other one is killed while it has the memory mapped. */
static int killed_peer(struct place *p)
{
    char key[SHMEMX_KEY_TEXT];
    int status = -1, rc = shmemx_export(p->a, BYTES, NULL, key);
    if (rc < 0)
        return rc;
    int pid = start("victim", key, "0");
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
        return wrong("the other process ended with status %#x instead of being killed", (unsigned)status);
    rc = put(p->a, 8);
    return rc < 0 ? rc : check(p->a, 8);
}

static int complain(const char *what)
{
    fprintf(stderr, "the other process: %s: %s\n", what, *own_text ? own_text : shmemx_last_error());
    return 1;
}

static int run_importer(const char *key, int seed)
{
    shmemx_device_import_t import;
    shmemx_device_import_info_t info;
    if (shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import) < 0 ||
        shmemx_device_import_info(import, &info) < 0)
        return complain("importing");
    if (info.bytes != BYTES || check(info.address, seed) < 0)
        return complain("reading");
    if (put(info.address, seed + 1) < 0)
        return complain("writing");
    return shmemx_device_import_close(import) < 0 ? complain("closing") : 0;
}

static int run_victim(const char *key)
{
    shmemx_device_import_t import;
    if (shmemx_device_import(key, SHMEMX_IMPORT_WRITE, NULL, -1, &import) < 0)
        return complain("importing");
    return raise(SIGKILL);
}

/* --- two PEs, in the order of their streams ----------------------------------------------------------------------- */

enum { TURNS = 20, PART = 64 << 10 };
_Static_assert(2 * TURNS * PART <= BYTES, "there and back");

struct player {
    int rank;
    shmemx_device_pool_t pool;
    void *x;                                              /* of the device, PART bytes */
    shmemx_region_t own_x, their_x, own_word, their_word; /* the words are in the heap */
    shmemx_stream_t stream;
};

static int join(struct player *p, const char *id, const char *type, int number)
{
    shmemx_unique_id_t uid = {{0}};
    void *word = NULL;
    int rc;
    memcpy(uid.text, id, strlen(id) < sizeof uid.text ? strlen(id) : sizeof uid.text - 1);
    if ((rc = shmemx_init_attr(SHMEM_THREAD_MULTIPLE, NULL, p->rank, 2, &uid)) < 0 ||
        (rc = shmemx_device_pool_create(type, number, PART, &p->pool)) < 0 ||
        (rc = shmemx_device_alloc(p->pool, PART, 0, &p->x)) < 0 || (rc = shmemx_malloc(64, 64, &word)) < 0)
        return rc;
    memset(word, 0, 64);
    if ((rc = shmemx_register(p->x, PART, NULL, &p->own_x)) < 0 ||
        (rc = shmemx_region_at(p->own_x, 1 - p->rank, 60, &p->their_x)) < 0 ||
        (rc = shmemx_region_symmetric(word, 64, &p->own_word)) < 0 ||
        (rc = shmemx_region_at(p->own_word, 1 - p->rank, 60, &p->their_word)) < 0 ||
        (rc = shmemx_stream_create(type, number, &p->stream)) < 0)
        return rc;
    return shmemx_barrier();
}

static int give(const struct player *p, uint64_t turn)
{
    return shmemx_put_signal_on_stream(p->their_x, 0, p->x, PART, p->their_word, 0, turn, SHMEM_SIGNAL_SET, p->stream);
}

static int take(const struct player *p, uint64_t turn)
{
    return shmemx_wait_on_stream(p->own_word, 0, SHMEM_CMP_GE, turn, p->stream);
}

/* PE 0 throws other bytes each time, and looks at what comes back; all is queued before anything is waited for. */
static int play(const struct player *p)
{
    int rc = 0;
    fill((size_t)TURNS * PART, 20);
    memset(host + (size_t)TURNS * PART, 0, (size_t)TURNS * PART);
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        unsigned char *part = host + (turn - 1) * PART, *back = part + TURNS * PART;
        if (p->rank == 0 &&
            ((rc = shmemx_copy_on_stream(p->x, part, PART, p->stream)) < 0 || (rc = give(p, turn)) < 0 ||
             (rc = take(p, turn)) < 0 || (rc = shmemx_copy_on_stream(back, p->x, PART, p->stream)) < 0))
            return rc;
        if (p->rank == 1 && ((rc = take(p, turn)) < 0 || (rc = give(p, turn)) < 0))
            return rc;
        if ((rc = shmemx_barrier_on_stream(p->stream)) < 0)
            return rc;
    }
    if ((rc = shmemx_quiet_on_stream(p->stream)) < 0 || (rc = shmemx_stream_finish(p->stream)) < 0)
        return rc;
    return p->rank == 1 || !memcmp(host, host + (size_t)TURNS * PART, (size_t)TURNS * PART)
               ? 0
               : wrong("what came back is not what was sent");
}

static int run_player(int rank, const char *id, const char *type, int number)
{
    struct player p = {.rank = rank};
    int rc = join(&p, id, type, number), end = 0;
    if (rc >= 0 && (rc = play(&p)) >= 0)
        end = shmemx_finalize();
    else
        shmemx_leave();
    if (p.stream)
        shmemx_stream_destroy(p.stream);
    if (p.pool)
        shmemx_device_pool_close(p.pool);
    return rc < 0 ? rc : end;
}

static int ordered(const struct place *p)
{
    shmemx_unique_id_t id;
    int status = -1, rc = shmemx_get_unique_id(&id);
    if (rc < 0)
        return rc;
    fflush(stdout);
    int pid = start("player", id.text, p->name);
    if (pid < 0)
        return wrong("no other process can be started");
    rc = run_player(0, id.text, p->info.type, p->info.number);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return rc < 0 ? rc : wrong("the other process ended with status %#x (what it said is above)", (unsigned)status);
    return rc;
}

/* --- two PEs, with the symmetric heap on the device --------------------------------------------------------------- */

/* PE 0 puts, PE 1 reads and puts something else back by way of its own device; then both add. */
static int use_heap(int rank, unsigned char *x, int *sums)
{
    int ones[4] = {1, 1, 1, 1}, back[4] = {0};
    if (rank == 0) {
        fill(PART, 30);
        shmem_putmem(x, host, PART, 1);
    }
    shmem_barrier_all();
    if (rank == 1) {
        memset(host, 0, PART);
        shmem_getmem(host, x, PART, 1);
        if (compare(PART, 30) < 0)
            return -1;
        fill(PART, 31);
        shmem_putmem_nbi(x, host, PART, 1);
        shmem_quiet();
        shmem_putmem(x, x, PART, 0); /* from device memory to device memory */
    }
    shmem_putmem(sums, ones, sizeof ones, rank);
    shmem_barrier_all();
    shmem_getmem(host, x, PART, rank);
    if (compare(PART, 31) < 0 || shmem_int_sum_reduce(SHMEM_TEAM_WORLD, sums, sums, 4) != 0)
        return -1;
    shmem_getmem(back, sums, sizeof back, rank);
    return back[0] == 2 && back[3] == 2 ? 0 : wrong("a sum over both PEs is %d and %d, not 2", back[0], back[3]);
}

static int run_heap(int rank, const char *id, const char *place)
{
    shmemx_unique_id_t uid = {{0}};
    snprintf(uid.text, sizeof uid.text, "%s", id);
    int rc = shmemx_init_attr(SHMEM_THREAD_MULTIPLE, NULL, rank, 2, &uid);
    if (rc < 0)
        return rc;
    setenv("SHMEM_DEVICE_HEAP_SIZE", "8m", 0);
    unsigned char *x = shmemx_malloc_kind(PART, place);
    int *sums = x ? shmemx_malloc_kind(64, place) : NULL;
    rc = sums ? use_heap(rank, x, sums) : -errno;
    if (rc < 0) {
        shmemx_leave();
        return rc;
    }
    shmem_free(sums);
    shmem_free(x);
    return shmemx_finalize();
}

static int heaped(const struct place *p)
{
    shmemx_unique_id_t id;
    int status = -1, rc = shmemx_get_unique_id(&id);
    if (rc < 0)
        return rc;
    fflush(stdout);
    int pid = start("heap", id.text, p->name);
    if (pid < 0)
        return wrong("no other process can be started");
    rc = run_heap(0, id.text, p->name);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return rc < 0 ? rc : wrong("the other process ended with status %#x (what it said is above)", (unsigned)status);
    return rc;
}

/* place: "npu:0" */
static int run_other_player(const char *id, const char *place)
{
    const char *colon = strchr(place, ':');
    char type[16] = "";
    if (!colon || (size_t)(colon - place) >= sizeof type)
        return 2;
    memcpy(type, place, (size_t)(colon - place));
    return run_player(1, id, type, atoi(colon + 1)) < 0 ? complain("playing") : 0;
}

/* --- the self-test ------------------------------------------------------------------------------------------------ */

static void test_place(struct place *p)
{
    int steps = 0, rc = shmemx_device_self_test(p->info.type, p->info.number, &steps);
    step(p->name, "each function of the back end", rc);
    step(p->name, "copies, 3 MiB: host, device, device, host", copies(p));
    step(p->name, "copies of 1 to 196 bytes at odd addresses", odd_copies(p));
    step(p->name, "copies on a stream", streams(p));
    if (p->info.can_signal)
        step(p->name, "words that streams write and wait for", words(p));
    else
        skip(p->name, "words that streams write and wait for", "the driver or the device cannot");
    if (!p->info.can_share) {
        skip(p->name, "memory shared by two processes", "the driver or the device cannot");
        return;
    }
    step(p->name, "memory shared by two processes", two_processes(p));
    step(p->name, "the other process is killed with the memory mapped", killed_peer(p));
    step(p->name, "the symmetric heap of two PEs", heaped(p));
    if (p->info.can_signal)
        step(p->name, "signals, waits and barriers on streams of two PEs", ordered(p));
    else
        skip(p->name, "signals, waits and barriers on streams of two PEs", "the driver or the device cannot");
}

static void test_pair(struct place *p, struct place *q)
{
    char what[96];
    int reach =
        strcmp(p->info.type, q->info.type) ? 0 : shmemx_device_can_reach(p->info.type, p->info.number, q->info.number);
    int rc = put(p->a, 9);
    if (rc >= 0 && (rc = shmemx_device_copy(q->a, p->a, BYTES)) >= 0)
        rc = check(q->a, 9);
    snprintf(what, sizeof what, "a copy to %s %s", q->name,
             reach > 0 ? "(they reach each other)" : "(by way of the host)");
    step(p->name, what, reach < 0 ? reach : rc);
}

enum { PLACES = 16 };

static int find_places(const char *wanted, struct place places[PLACES])
{
    static const char *const types[] = {"npu", "cuda"};
    int count = 0;
    for (int t = 0; t < 2; t++) {
        int n = !wanted || !strcmp(wanted, types[t]) ? shmemx_device_count(types[t]) : -ENODEV;
        if (n < 0 && (!wanted || !strcmp(wanted, types[t])))
            printf("none   %-8s %s\n", types[t], shmemx_last_error());
        for (int i = 0; i < n && count < PLACES; i++) {
            int rc = open_place(types[t], i, &places[count]);
            if (rc < 0)
                step(places[count].name, "a pool of 16 MiB", rc);
            else {
                struct place *p = &places[count++];
                printf("device %-8s %s, %s; %zu of %zu MiB free; shares by: %s\n", p->name, p->info.name,
                       p->info.driver, p->info.free_bytes >> 20, p->info.total_bytes >> 20, p->info.way);
            }
        }
    }
    return count;
}

static void close_places(struct place *places, int count)
{
    for (int i = 0; i < count; i++)
        step(places[i].name, "the pool is closed", shmemx_device_pool_close(places[i].pool));
}

static int self_test(const char *type)
{
    static struct place places[PLACES];
    int count = find_places(type, places);
    for (int i = 0; i < count; i++)
        test_place(&places[i]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            if (i != j)
                test_pair(&places[i], &places[j]);
    close_places(places, count);
    printf("%d passed, %d failed%s\n", passed, failed, count ? "" : "; there is no device");
    return failed ? 1 : count ? 0 : 77;
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool quick;

/* Seconds a copy: waited for each, or queued one after another and waited for once. */
static double time_copies(void *to, const void *from, size_t bytes, shmemx_stream_t stream)
{
    int turns = quick ? 2 : bytes > 4 << 20 ? 8 : 64;
    double best = 1e9;
    for (int round = 0; round < (quick ? 1 : 5); round++) {
        double begin = now();
        for (int i = 0; i < turns; i++)
            if ((stream ? shmemx_copy_on_stream(to, from, bytes, stream) : shmemx_device_copy(to, from, bytes)) < 0)
                return -1;
        if (stream && shmemx_stream_finish(stream) < 0)
            return -1;
        double each = (now() - begin) / turns;
        best = each < best ? each : best;
    }
    return best;
}

struct path {
    const char *name;
    void *to, *from;
};

static void measure_place(struct place *p, size_t most)
{
    static const size_t sizes[] = {8, 64 << 10, 1 << 20, 16 << 20};
    shmemx_stream_t stream = NULL;
    void *a = NULL, *b = NULL, *near = malloc(most);
    int rc = near ? shmemx_stream_create(p->info.type, p->info.number, &stream) : -ENOMEM;
    if (rc < 0 || (rc = shmemx_device_alloc(p->pool, most, 0, &a)) < 0 ||
        (rc = shmemx_device_alloc(p->pool, most, 0, &b)) < 0) {
        step(p->name, "memory to measure", rc);
    } else {
        const struct path paths[] = {{"to_device", a, near}, {"from_device", near, a}, {"within_device", b, a}};
        memset(near, 1, most);
        for (int i = 0; i < 3; i++) {
            double whole = time_copies(paths[i].to, paths[i].from, most, stream);
            printf("result %s.%s.bandwidth %g\n", p->name, paths[i].name, (double)most / whole);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                for (int queued = 0; queued < 2 && sizes[s] <= most; queued++)
                    printf("result %s.%s.%s.%zu %g\n", p->name, paths[i].name, queued ? "queued" : "waited", sizes[s],
                           time_copies(paths[i].to, paths[i].from, sizes[s], queued ? stream : NULL));
        }
    }
    if (stream)
        shmemx_stream_destroy(stream);
    free(near);
}

static int measure(const char *type)
{
    static struct place places[PLACES];
    quick = getenv("SHMEM_BENCH_QUICK") != NULL;
    int count = find_places(type, places);
    for (int i = 0; i < count; i++) {
        size_t most = quick ? 1 << 20 : places[i].info.free_bytes > (size_t)1 << 30 ? 64 << 20 : 4 << 20;
        struct place large = places[i];
        if (shmemx_device_pool_create(large.info.type, large.info.number, 2 * most + POOL, &large.pool) < 0) {
            step(large.name, "a pool to measure", -1);
            continue;
        }
        measure_place(&large, most);
        shmemx_device_pool_close(large.pool);
    }
    close_places(places, count);
    return failed ? 1 : count ? 0 : 77;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    self = "/proc/self/exe";
    if (!(host = malloc(BYTES)))
        return 1;
    if (!strcmp(what, "importer") && argc == 4)
        return run_importer(argv[2], atoi(argv[3]));
    if (!strcmp(what, "victim") && argc == 4)
        return run_victim(argv[2]);
    if (!strcmp(what, "player") && argc == 4)
        return run_other_player(argv[2], argv[3]);
    if (!strcmp(what, "heap") && argc == 4)
        return run_heap(1, argv[2], argv[3]) < 0 ? complain("the heap") : 0;
    if (!strcmp(what, "self-test") && argc <= 3)
        return self_test(argv[2]);
    if (!strcmp(what, "measure") && argc <= 3)
        return measure(argv[2]);
    fputs("usage: bench-device self-test|measure [npu|cuda]\n", stderr);
    return 2;
}
