// SPDX-License-Identifier: Apache-2.0
// Measures this library beside the limits of the machine, in turn, round by round: limits MEASUREMENT. PE 0 prints, for
// each pair, the limit, the library, and the median of their ratios.
#include <shmemx.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "portable.h"

static int me, n;

/* Reports a pair of figures that were taken in turn. */
static void report_pair(const char *name, double *limit, double *ours)
{
    char key[64];
    double ratio[ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        ratio[r] = ours[r] / limit[r];
    snprintf(key, sizeof key, "%s.ratio", name);
    report(key, median(ratio));
    snprintf(key, sizeof key, "%s.limit", name);
    report(key, median(limit));
    snprintf(key, sizeof key, "%s.ours", name);
    report(key, median(ours));
}

/* --- one word -------------------------------------------------------------------------------------------------------
 */

static void words(void)
{
    const int COUNT = times(200000);
    long *word = shmem_malloc(sizeof *word);
    double raw_put[ROUNDS], put[ROUNDS], raw_get[ROUNDS], get[ROUNDS], raw_add[ROUNDS], add[ROUNDS], call[ROUNDS];
    *word = 0;
    shmem_barrier_all();
    volatile long *there = shmem_ptr(word, n - 1);
    __attribute__((unused)) volatile long sink = 0;
    for (int r = 0; r < ROUNDS && me == 0; r++) {
        double t[8];
        t[0] = seconds();
        for (int i = 0; i < COUNT; i++)
            shmem_pcontrol(0); /* does nothing: the cost of a call into a shared library */
        t[1] = seconds();
        for (int i = 0; i < COUNT; i++) {
            *there = i;
            atomic_thread_fence(memory_order_seq_cst);
        }
        t[2] = seconds();
        for (int i = 0; i < COUNT; i++) {
            shmem_long_p(word, i, n - 1);
            shmem_quiet();
        }
        t[3] = seconds();
        for (int i = 0; i < COUNT; i++)
            sink += *there;
        t[4] = seconds();
        for (int i = 0; i < COUNT; i++)
            sink += shmem_long_g(word, n - 1);
        t[5] = seconds();
        for (int i = 0; i < COUNT; i++)
            sink += __atomic_fetch_add(there, 1, __ATOMIC_SEQ_CST);
        t[6] = seconds();
        for (int i = 0; i < COUNT; i++)
            sink += shmem_long_atomic_fetch_add(word, 1, n - 1);
        t[7] = seconds();
        call[r] = (t[1] - t[0]) / COUNT;
        raw_put[r] = (t[2] - t[1]) / COUNT + call[r];
        put[r] = (t[3] - t[2]) / COUNT;
        raw_get[r] = (t[4] - t[3]) / COUNT + call[r];
        get[r] = (t[5] - t[4]) / COUNT;
        raw_add[r] = (t[6] - t[5]) / COUNT + call[r];
        add[r] = (t[7] - t[6]) / COUNT;
    }
    if (me == 0) {
        report_pair("put_quiet", raw_put, put);
        report_pair("get", raw_get, get);
        report_pair("fetch_add", raw_add, add);
        report("call", median(call));
    }
    shmem_barrier_all();
}

/* --- one way --------------------------------------------------------------------------------------------------------
 */

/* Two processes, each with its own flag on its own line, by plain stores and loads. */
static double raw_way(volatile uint64_t *mine, volatile uint64_t *theirs, uint64_t *turn)
{
    const int TURNS = times(20000);
    double t = seconds();
    for (int i = 0; i < TURNS; i++) {
        ++*turn;
        if (me == 0)
            *theirs = *turn;
        while (*mine < *turn) {
        }
        if (me == 1)
            *theirs = *turn;
    }
    return (seconds() - t) / TURNS / 2;
}

static double our_way(uint64_t *word, uint64_t *turn)
{
    const int TURNS = times(20000);
    double t = seconds();
    for (int i = 0; i < TURNS; i++) {
        ++*turn;
        if (me == 0)
            shmem_signal_set(word, *turn, 1);
        shmem_signal_wait_until(word, SHMEM_CMP_GE, *turn);
        if (me == 1)
            shmem_signal_set(word, *turn, 0);
    }
    return (seconds() - t) / TURNS / 2;
}

static void oneway(void)
{
    uint64_t *word = shmem_calloc(2, 256), raw_turn = 0, turn = 0;
    volatile uint64_t *raw_mine = word + 32;
    double raw[ROUNDS], ours[ROUNDS];
    shmem_barrier_all();
    volatile uint64_t *raw_theirs = shmem_ptr(word + 32, 1 - me);
    for (int r = 0; r < ROUNDS; r++) {
        raw[r] = raw_way(raw_mine, raw_theirs, &raw_turn);
        ours[r] = our_way(word, &turn);
    }
    if (me == 0)
        report_pair("oneway", raw, ours);
    shmem_barrier_all();
}

/* --- handing over a buffer
 * --------------------------------------------------------------------------------------------- */

/* PE 0 hands over a buffer that lies in its symmetric memory: PE 1 reads in place. What is timed is the hand-over and a
   look at the first and the last word, there and back. */
static double hand_over(char *buffer, size_t bytes, uint64_t *word, uint64_t *turn)
{
    const int COUNT = times(2000);
    const volatile uint64_t *there = shmem_ptr(buffer, 0);
    __attribute__((unused)) volatile uint64_t sink = 0;
    double t = seconds();
    for (int i = 0; i < COUNT; i++) {
        ++*turn;
        if (me == 0) {
            *(volatile uint64_t *)(void *)buffer = *turn;
            shmem_signal_set(word, *turn, 1);
            shmem_signal_wait_until(word, SHMEM_CMP_GE, *turn);
        } else {
            shmem_signal_wait_until(word, SHMEM_CMP_GE, *turn);
            sink += there[0] + there[bytes / 8 - 1];
            shmem_signal_set(word, *turn, 0);
        }
    }
    return (seconds() - t) / COUNT;
}

static void handing(void)
{
    uint64_t *word = shmem_calloc(1, 256), turn = 0;
    char *small = shmem_malloc(1024), *large = shmem_malloc(largest());
    double one[ROUNDS], other[ROUNDS];
    memset(small, 1, 1024);
    memset(large, 1, largest());
    shmem_barrier_all();
    for (int r = 0; r < ROUNDS; r++) {
        one[r] = hand_over(small, 1024, word, &turn);
        other[r] = hand_over(large, largest(), word, &turn);
    }
    if (me == 0)
        report_pair("handing", one, other);
    shmem_barrier_all();
}

/* --- many bytes
 * --------------------------------------------------------------------------------------------------------- */

static void copy_rep(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
#else
    memcpy(to, from, bytes);
#endif
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void copy_stream(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    for (size_t i = 0; i < bytes; i += 128) {
        __m256i a = _mm256_loadu_si256((const void *)(f + i)), b = _mm256_loadu_si256((const void *)(f + i + 32));
        __m256i c = _mm256_loadu_si256((const void *)(f + i + 64)), d = _mm256_loadu_si256((const void *)(f + i + 96));
        _mm256_stream_si256((void *)(t + i), a);
        _mm256_stream_si256((void *)(t + i + 32), b);
        _mm256_stream_si256((void *)(t + i + 64), c);
        _mm256_stream_si256((void *)(t + i + 96), d);
    }
    _mm_sfence();
}
#endif

static void copy_libc(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static double time_copy(void (*copy)(void *, const void *, size_t), void *to, const void *from, size_t bytes, int count)
{
    double t = seconds();
    for (int i = 0; i < count; i++)
        copy(to, from, bytes);
    return (seconds() - t) / count;
}

/* The fastest of the ways to copy this size here. */
static double best_copy(void *to, const void *from, size_t bytes, int count)
{
    double best = time_copy(copy_libc, to, from, bytes, count), other = time_copy(copy_rep, to, from, bytes, count);
    best = other < best ? other : best;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && (other = time_copy(copy_stream, to, from, bytes, count)) < best)
        best = other;
#endif
    return best;
}

static char *remote, *local;
static void our_put(void *to, const void *from, size_t bytes)
{
    (void)to;
    shmem_putmem(remote, from, bytes, n - 1);
}
static void our_get(void *to, const void *from, size_t bytes)
{
    (void)from;
    shmem_getmem(to, remote, bytes, n - 1);
}

static void bulk(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } sizes[] = {{"64K", 64 << 10}, {"1M", 1 << 20}, {"16M", 16 << 20}, {"256M", 256 << 20}};
    double raw_put[ROUNDS], put[ROUNDS], raw_get[ROUNDS], get[ROUNDS];
    char key[32];
    remote = shmem_malloc(largest());
    local = aligned_alloc(4096, largest());
    if (!remote || !local)
        exit(3);
    memset(local, 1, largest());
    memset(remote, 1, largest());
    shmem_barrier_all();
    char *there = shmem_ptr(remote, n - 1);
    for (int s = 0; s < 4 && me == 0 && measured(sizes[s].bytes); s++) {
        size_t bytes = sizes[s].bytes;
        int count = times((int)(((size_t)128 << 20) / bytes / 4) + 1);
        best_copy(there, local, bytes, 1);
        for (int r = 0; r < ROUNDS; r++) {
            raw_put[r] = best_copy(there, local, bytes, count);
            put[r] = time_copy(our_put, NULL, local, bytes, count);
            raw_get[r] = best_copy(local, there, bytes, count);
            get[r] = time_copy(our_get, local, NULL, bytes, count);
        }
        snprintf(key, sizeof key, "put_%s", sizes[s].name);
        report_pair(key, raw_put, put);
        snprintf(key, sizeof key, "get_%s", sizes[s].name);
        report_pair(key, raw_get, get);
    }
    shmem_barrier_all();
}

/* --- barrier beside the switches it needs
 * ------------------------------------------------------------------------------- */

/* One switch between two processes on one core, by yielding. */
static double switch_time(void)
{
    const int COUNT = times(20000);
    int result[2];
    double value = 0;
    if (pipe(result) < 0)
        exit(3);
    for (int child = 0; child < 2; child++) {
        if (fork())
            continue;
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(0, &set);
        sched_setaffinity(0, sizeof set, &set);
        double t = seconds();
        for (int i = 0; i < COUNT; i++)
            sched_yield();
        value = (seconds() - t) / COUNT / 2;
        _exit(child == 0 && write(result[1], &value, sizeof value) != sizeof value);
    }
    while (wait(NULL) > 0) {
    }
    if (read(result[0], &value, sizeof value) != sizeof value)
        exit(3);
    close(result[0]);
    close(result[1]);
    return value;
}

static void barrier(void)
{
    double limit[ROUNDS], ours[ROUNDS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int count = times(n > cores ? 1000 : 20000);
    for (int r = 0; r < ROUNDS; r++) {
        limit[r] = 1;
        if (me == 0)
            limit[r] = switch_time() * (double)n / (double)cores;
        shmem_barrier_all();
        double t = seconds();
        for (int i = 0; i < count; i++)
            shmem_barrier_all();
        ours[r] = (seconds() - t) / count;
    }
    if (me == 0)
        report_pair("barrier", limit, ours);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"words", words}, {"oneway", oneway}, {"handing", handing}, {"bulk", bulk}, {"barrier", barrier}};
    setenv("SHMEM_HEAP_KIND", "host", 1); /* what is measured here touches its memory itself */
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    for (int a = 1; a < argc; a++)
        for (int i = 0; i < 5; i++)
            if (!strcmp(argv[a], all[i].name))
                all[i].run();
    shmem_finalize();
    return 0;
}
