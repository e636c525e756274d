// SPDX-License-Identifier: Apache-2.0
// Process groups whose ranks are threads: every operation beside a naive one, calls that differ, times that run out,
// messages.
#include <pthread.h>
#include <stdatomic.h>

#include "shmemx.h"
#include "unit.h"

enum { RANKS_MOST = 5, STAGING = 3 * 16384, MOST = 30000 };

static char key[SHMEMX_KEY_TEXT];
static int ranks;
static void (*body)(shmemx_group_t group, int rank);

static void *run_rank(void *number)
{
    int rank = (int)(intptr_t)number;
    shmemx_group_t group;
    ok(shmemx_group_join(key, rank, ranks, &group));
    body(group, rank);
    ok(shmemx_group_barrier(group, 20));
    ok(shmemx_group_close(group));
    return NULL;
}

/* The body in every rank of a group whose slots are small, so that there are many rounds. */
static void with_ranks(int n, void (*run)(shmemx_group_t group, int rank))
{
    pthread_t threads[RANKS_MOST];
    shmemx_group_t group;
    ranks = n;
    body = run;
    ok(shmemx_group_create(n, STAGING, &group));
    ok(shmemx_group_key(group, key));
    assert_int_equal(shmemx_group_rank(group), 0);
    assert_int_equal(shmemx_group_ranks(group), n);
    for (int rank = 1; rank < n; rank++)
        assert_int_equal(pthread_create(&threads[rank], NULL, run_rank, (void *)(intptr_t)rank), 0);
    body(group, 0);
    ok(shmemx_group_barrier(group, 20));
    for (int rank = 1; rank < n; rank++)
        pthread_join(threads[rank], NULL);
    ok(shmemx_group_close(group));
}

static double value(int rank, size_t i)
{
    return (double)((i * 7 + (size_t)rank * 13) % 50);
}

static double *fresh(int rank, size_t n)
{
    double *x = malloc((n ? n : 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = value(rank, i);
    return x;
}

static double sum(size_t i)
{
    double all = 0;
    for (int rank = 0; rank < ranks; rank++)
        all += value(rank, i);
    return all;
}

static const size_t sizes[] = {0, 1, 7, 500, 2048, 2049, 4096, 12345, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

#define OF(n) ((shmemx_group_of_t){(n), SHMEMX_DOUBLE})
#define WAIT 20.0

/* ---- reductions ---- */

static void reduce_all(shmemx_group_t group, int rank)
{
    for (int s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        double *x = fresh(rank, n);
        ok(shmemx_group_all_reduce(group, x, OF(n), SHMEMX_SUM, WAIT));
        for (size_t i = 0; i < n; i++)
            assert_true(x[i] == sum(i));
        free(x);
        x = fresh(rank, n);
        ok(shmemx_group_all_reduce(group, x, OF(n), SHMEMX_GROUP_MEAN, WAIT));
        for (size_t i = 0; i < n; i++)
            assert_true(x[i] == sum(i) / ranks);
        free(x);
        int root = (int)(n % (size_t)ranks);
        x = fresh(rank, n);
        ok(shmemx_group_reduce(group, x, OF(n), SHMEMX_SUM, root, WAIT));
        for (size_t i = 0; i < n; i++)
            assert_true(x[i] == (rank == root ? sum(i) : value(rank, i)));
        free(x);
    }
}

/* Every type gives what the fold of it gives; here only that sizes of elements and slices fit together. */
static void reduce_types(shmemx_group_t group, int rank)
{
    static const unsigned types[] = {SHMEMX_INT8,    SHMEMX_INT16,    SHMEMX_INT32,   SHMEMX_INT64,
                                     SHMEMX_FLOAT16, SHMEMX_COMPLEXD, SHMEMX_BFLOAT16};
    static const size_t widths[] = {1, 2, 4, 8, 2, 16, 2};
    (void)rank;
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        size_t n = 20011, bytes = n * widths[t];
        unsigned char *x = calloc(1, bytes + 1);
        assert_non_null(x);
        x[bytes] = 77;
        ok(shmemx_group_all_reduce(group, x, (shmemx_group_of_t){n, types[t]}, SHMEMX_SUM, WAIT));
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(x[i], 0);
        assert_int_equal(x[bytes], 77);
        free(x);
    }
}

static void scatter_sums(shmemx_group_t group, int rank)
{
    for (int s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        double *x = fresh(rank, n * (size_t)ranks), *out = malloc((n + 1) * sizeof *out);
        const void *ins[RANKS_MOST];
        for (int r = 0; r < ranks; r++)
            ins[r] = x + n * (size_t)r;
        out[n] = -1;
        ok(shmemx_group_reduce_scatter(group, out, ins, OF(n), SHMEMX_SUM, WAIT));
        for (size_t i = 0; i < n; i++)
            assert_true(out[i] == sum((size_t)rank * n + i));
        assert_true(out[n] == -1);
        free(x);
        free(out);
    }
}

/* ---- moves ---- */

static void move_all(shmemx_group_t group, int rank)
{
    for (int s = 0; s < SIZES; s++) {
        size_t n = sizes[s], all = n * (size_t)ranks;
        int root = (int)(n % (size_t)ranks);
        double *x = fresh(rank, n), *many = malloc((all + 1) * sizeof *many), *parts = fresh(rank, all);
        void *outs[RANKS_MOST];
        const void *ins[RANKS_MOST];
        for (int r = 0; r < ranks; r++) {
            outs[r] = many + n * (size_t)r;
            ins[r] = parts + n * (size_t)r;
        }
        ok(shmemx_group_all_gather(group, outs, x, OF(n), WAIT));
        for (size_t i = 0; i < all; i++)
            assert_true(many[i] == value((int)(i / n), i % n));
        memset(many, 0, all * sizeof *many);
        ok(shmemx_group_gather(group, rank == root ? outs : NULL, x, OF(n), root, WAIT));
        for (size_t i = 0; i < all; i++)
            assert_true(many[i] == (rank == root ? value((int)(i / n), i % n) : 0));
        ok(shmemx_group_broadcast(group, x, OF(n), root, WAIT));
        for (size_t i = 0; i < n; i++)
            assert_true(x[i] == value(root, i));
        ok(shmemx_group_scatter(group, x, rank == root ? ins : NULL, OF(n), root, WAIT));
        for (size_t i = 0; i < n; i++)
            assert_true(x[i] == value(root, (size_t)rank * n + i));
        free(x);
        free(many);
        free(parts);
    }
}

/* Rank a sends a * 1000 + b * 10 elements to rank b. */
static void exchange(shmemx_group_t group, int rank)
{
    size_t in_counts[RANKS_MOST], out_counts[RANKS_MOST];
    double *in[RANKS_MOST], *out[RANKS_MOST];
    for (int r = 0; r < ranks; r++) {
        in_counts[r] = (size_t)rank * 1000 + (size_t)r * 10;
        out_counts[r] = (size_t)r * 1000 + (size_t)rank * 10;
        in[r] = fresh(rank * 10 + r, in_counts[r]);
        out[r] = malloc((out_counts[r] + 1) * sizeof(double));
    }
    ok(shmemx_group_all_to_all(group, (void *const *)(void *)out, out_counts, (const void *const *)(void *)in,
                               in_counts, SHMEMX_DOUBLE, WAIT));
    for (int r = 0; r < ranks; r++) {
        for (size_t i = 0; i < out_counts[r]; i++)
            assert_true(out[r][i] == value(r * 10 + rank, i));
        free(in[r]);
        free(out[r]);
    }
}

static void all_operations(void **state)
{
    (void)state;
    for (int n = 1; n <= RANKS_MOST; n += n == 1 ? 1 : 3) {
        with_ranks(n, reduce_all);
        with_ranks(n, scatter_sums);
        with_ranks(n, move_all);
        with_ranks(n, exchange);
    }
    with_ranks(3, reduce_types);
}

/* ---- calls that differ ---- */

static void differ(shmemx_group_t group, int rank)
{
    double x[4000] = {0};
    for (int i = 0; i < 10; i++) {
        refuses(EINVAL, "rank 2 called all_reduce of 3 float64 (sum)",
                shmemx_group_all_reduce(group, x, OF(rank == 2 ? 3 : 4000), SHMEMX_SUM, WAIT));
        refuses(EINVAL, "rank 0 called all_reduce of 4 float64 (max)",
                shmemx_group_all_reduce(group, x, OF(4), rank ? SHMEMX_MIN : SHMEMX_MAX, WAIT));
        refuses(EINVAL, "rank 1 called broadcast of 4000 float64 from rank 1",
                rank == 1 ? shmemx_group_broadcast(group, x, OF(4000), 1, WAIT)
                          : shmemx_group_all_reduce(group, x, OF(4000), SHMEMX_SUM, WAIT));
        size_t counts[] = {1, 1, 1}, wrong[] = {1, 1, 2};
        void *outs[] = {x, x + 10, x + 20};
        const void *ins[] = {x + 30, x + 40, x + 50};
        refuses(EINVAL, "rank 2 sends 1 elements to rank 1, but that expects 2",
                shmemx_group_all_to_all(group, outs, rank == 1 ? wrong : counts, ins, counts, SHMEMX_DOUBLE, WAIT));
        x[0] = 1;
        ok(shmemx_group_all_reduce(group, x, OF(1), SHMEMX_SUM, WAIT)); /* and the group goes on */
        assert_true(x[0] == 3);
    }
    refuses(EINVAL, "there is no all_reduce of 4 complex128 (max)",
            shmemx_group_all_reduce(group, x, (shmemx_group_of_t){4, SHMEMX_COMPLEXD}, SHMEMX_MAX, WAIT));
    refuses(EINVAL, "root is 3", shmemx_group_broadcast(group, x, OF(4), 3, WAIT));
    refuses(EINVAL, "x is NULL", shmemx_group_broadcast(group, NULL, OF(4), 0, WAIT));
    refuses(EINVAL, "ins[1] is NULL",
            shmemx_group_reduce_scatter(group, x, (const void *[]){x, NULL, x}, OF(4), SHMEMX_SUM, WAIT));
}

static void calls_that_differ(void **state)
{
    (void)state;
    with_ranks(3, differ);
}

/* ---- who does not come ---- */

static void a_rank_that_does_not_come(void **state)
{
    (void)state;
    shmemx_group_t group, second;
    double x = 1;
    ok(shmemx_group_create(2, 0, &group));
    ok(shmemx_group_key(group, key));
    refuses(ETIMEDOUT, "rank 1 did not come", shmemx_group_barrier(group, 0.05));
    ok(shmemx_group_join(key, 1, 2, &second));
    ok(shmemx_group_barrier(second, 5)); /* rank 0 had come to this one */
    refuses(ETIMEDOUT, "gave up", shmemx_group_all_reduce(second, &x, OF(1), SHMEMX_SUM, 5));
    refuses(EEXIST, "is rank 1", shmemx_group_join(key, 1, 2, &second));
    refuses(EINVAL, "rank 0 made a group of 2", shmemx_group_join(key, 1, 3, &second));
    refuses(EINVAL, "rank is 2", shmemx_group_join(key, 2, 2, &second));
    ok(shmemx_group_close(second));
    ok(shmemx_group_close(group));
}

static void leave(shmemx_group_t group, int rank)
{
    double x = 1;
    ok(shmemx_group_barrier(group, WAIT));
    if (rank != 1)
        refuses(EOWNERDEAD, "rank 1", shmemx_group_all_reduce(group, &x, OF(1), SHMEMX_SUM, WAIT));
}

static void *leave_rank(void *number)
{
    int rank = (int)(intptr_t)number;
    shmemx_group_t group;
    ok(shmemx_group_join(key, rank, ranks, &group));
    leave(group, rank);
    ok(shmemx_group_close(group));
    return NULL;
}

static void a_rank_that_leaves(void **state)
{
    (void)state;
    pthread_t threads[3];
    shmemx_group_t group;
    ranks = 3;
    ok(shmemx_group_create(3, 0, &group));
    ok(shmemx_group_key(group, key));
    for (int rank = 1; rank < 3; rank++)
        assert_int_equal(pthread_create(&threads[rank], NULL, leave_rank, (void *)(intptr_t)rank), 0);
    leave(group, 0);
    for (int rank = 1; rank < 3; rank++)
        pthread_join(threads[rank], NULL);
    ok(shmemx_group_close(group));
}

/* ---- messages ---- */

static void talk(shmemx_group_t group, int rank)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, source;
    static const size_t lengths[] = {0, 1, 240, 241, 16384, 100000};
    shmemx_group_request_t sends[6], receives[6];
    double *out[6], *in[6];
    for (int i = 0; i < 6; i++) { /* all at once, received in the reverse order */
        out[i] = fresh(rank + i, lengths[i]);
        ok(shmemx_group_send_begin(group, out[i], OF(lengths[i]), to, i, WAIT, &sends[i]));
    }
    for (int i = 5; i >= 0; i--) {
        in[i] = calloc(lengths[i] + 1, sizeof(double));
        ok(shmemx_group_recv_begin(group, in[i], OF(lengths[i]), i % 2 ? from : -1, i, WAIT, &receives[i]));
    }
    for (int i = 0; i < 6; i++) {
        source = -2;
        ok(shmemx_group_request_end(receives[i], 1, &source));
        assert_int_equal(source, from);
        for (size_t k = 0; k < lengths[i]; k++)
            assert_true(in[i][k] == value(from + i, k));
        ok(shmemx_group_request_end(sends[i], 1, NULL));
        free(in[i]);
        free(out[i]);
    }
    for (int i = 0; i < 300; i++) { /* more than there are letters; the order stays */
        double x = i;
        ok(shmemx_group_send(group, &x, OF(1), to, 9, WAIT));
        if (i % 3 == 2)
            for (int k = i - 2; k <= i; k++) {
                ok(shmemx_group_recv(group, &x, OF(1), from, 9, WAIT, NULL));
                assert_true(x == k);
            }
    }
    ok(shmemx_group_barrier(group, WAIT));
}

static void messages(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++)
        with_ranks(n, talk);
}

static void wrong_messages(shmemx_group_t group, int rank)
{
    double x[1000] = {0};
    if (rank == 0) {
        refuses(EINVAL, "rank 1 received something of another size", shmemx_group_send(group, x, OF(1000), 1, 0, WAIT));
        ok(shmemx_group_send(group, x, OF(2), 1, 0, WAIT));
        refuses(ETIMEDOUT, "timed out after 0.02 s in recv of 1 float64 from rank 1 with tag 5",
                shmemx_group_recv(group, x, OF(1), 1, 5, 0.02, NULL));
        refuses(ETIMEDOUT, "in send of 1000 float64 to rank 1", shmemx_group_send(group, x, OF(1000), 1, 7, 0.02));
        refuses(EINVAL, "from 0 to 1", shmemx_group_send(group, x, OF(1), 2, 0, WAIT));
    } else {
        refuses(EINVAL, "rank 0 called send of 1000 float64 to rank 1 with tag 0",
                shmemx_group_recv(group, x, OF(999), 0, 0, WAIT, NULL));
        refuses(EINVAL, "rank 0 called send of 2 float64",
                shmemx_group_recv(group, x, (shmemx_group_of_t){2, SHMEMX_FLOAT}, 0, 0, WAIT, NULL));
    }
    ok(shmemx_group_barrier(group, WAIT)); /* none of these hurts the group */
    x[0] = rank;
    ok(rank ? shmemx_group_send(group, x, OF(1), 0, 1, WAIT) : shmemx_group_recv(group, x, OF(1), -1, 1, WAIT, NULL));
    assert_true(x[0] == 1);
}

static void messages_that_do_not_fit(void **state)
{
    (void)state;
    with_ranks(2, wrong_messages);
}

static void *receive_in_vain(void *group)
{
    double x;
    return shmemx_group_recv(group, &x, OF(1), 1, 0, 0.15, NULL) == -ETIMEDOUT ? group : NULL;
}

/* A child may close what is its parent's, whatever a thread of the parent does with it. */
static void forked_while_a_thread_receives(void **state)
{
    pthread_t thread;
    shmemx_group_t group;
    void *timed_out;
    (void)state;
    ok(shmemx_group_create(2, STAGING, &group));
    assert_int_equal(pthread_create(&thread, NULL, receive_in_vain, group), 0);
    usleep(50000);
    pid_t child = fork();
    if (child == 0) {
        child_check(shmemx_group_close(group) == 0);
        _exit(0);
    }
    child_succeeds(child);
    pthread_join(thread, &timed_out);
    assert_ptr_equal(timed_out, group);
    ok(shmemx_group_close(group));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(all_operations),
        clean_test(calls_that_differ),
        clean_test(a_rank_that_does_not_come),
        clean_test(a_rank_that_leaves),
        clean_test(messages),
        clean_test(messages_that_do_not_fit),
        clean_test(forked_while_a_thread_receives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
