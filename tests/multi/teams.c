// SPDX-License-Identifier: Apache-2.0
// Teams as programs make them: every triplet and every grid against a model, many at once and many in a row, several in
// flight in one PE, and what is refused; then active sets that overlap. SHMEM_TEST_FULL=1: more of it, and large
// arrays.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include "multi.h"

#include <malloc.h>
#include <pthread.h>

static long *words; /* symmetric, 3 * n */
static long *syncs; /* symmetric, SYNCS pSync arrays */
enum { SYNCS = 4 };

static bool full(void)
{
    return getenv("SHMEM_TEST_FULL") != NULL;
}

/* The model: the PEs of a team, in order. */
struct model {
    int size, pe[64];
};

static int index_in(const struct model *m, int pe)
{
    for (int i = 0; i < m->size; i++)
        if (m->pe[i] == pe)
            return i;
    return -1;
}

/* Whether the team is what the model says, by questions and by one collective. */
static void is_model(shmem_team_t team, const struct model *m)
{
    int mine = index_in(m, me);
    CHECK((team != SHMEM_TEAM_INVALID) == (mine >= 0));
    GIVES(mine, shmem_team_my_pe(team));
    if (mine < 0)
        return;
    GIVES(m->size, shmem_team_n_pes(team));
    for (int i = 0; i < m->size; i++) {
        GIVES(m->pe[i], shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD));
        GIVES(i, shmem_team_translate_pe(SHMEM_TEAM_SHARED, m->pe[i], team));
    }
    GIVES(-1, shmem_team_translate_pe(team, m->size, SHMEM_TEAM_WORLD));
    GIVES(-1, shmem_team_translate_pe(team, -1, SHMEM_TEAM_WORLD));
    words[0] = me + 1;
    GIVES(0, shmem_team_sync(team)); /* the others are done with what they had in another team */
    GIVES(0, shmem_long_fcollect(team, words + n, words, 1));
    for (int i = 0; i < m->size; i++)
        GIVES(m->pe[i] + 1, words[n + i]);
    GIVES(0, shmem_team_sync(team));
}

/* The members of a triplet in a parent; size 0 if it is no good one. */
static struct model triplet(const struct model *parent, int start, int stride, int size)
{
    struct model m = {0};
    int last = start + stride * (size - 1);
    if (size < 1 || (stride == 0 && size > 1) || start < 0 || start >= parent->size || last < 0 || last >= parent->size)
        return m;
    for (; m.size < size; m.size++)
        m.pe[m.size] = parent->pe[start + stride * m.size];
    return m;
}

static struct model everybody(void)
{
    struct model m = {0};
    for (; m.size < n; m.size++)
        m.pe[m.size] = m.size;
    return m;
}

static void every_triplet_of(shmem_team_t parent, const struct model *p)
{
    int most = p->size > 5 && !full() ? 5 : p->size;
    for (int start = -1; start <= p->size; start++)
        for (int stride = -most; stride <= most; stride++)
            for (int size = 0; size <= p->size + 1; size += size < 3 ? 1 : 2) {
                struct model m = triplet(p, start, stride, size);
                shmem_team_t team = SHMEM_TEAM_WORLD;
                int rc = shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team);
                CHECK((rc == 0) == (m.size > 0), "(%d, %d, %d) gave %d", start, stride, size, rc);
                is_model(team, &m);
                shmem_team_destroy(team);
            }
}

static void every_triplet(void)
{
    struct model all = everybody();
    every_triplet_of(SHMEM_TEAM_WORLD, &all);
    shmem_team_t team = SHMEM_TEAM_WORLD;
    GIVES(0, shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, INT32_MAX, 1, NULL, 0, &team)); /* the stride of one PE */
    CHECK((team == SHMEM_TEAM_INVALID) == (me != 0));
    shmem_team_destroy(team);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, INT32_MAX, INT32_MAX, NULL, 0, &team) != 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, INT32_MIN, INT32_MAX, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
}

static void every_grid(void)
{
    struct model all = everybody();
    for (int xrange = 1; xrange <= n + 1; xrange++) {
        int width = xrange < n ? xrange : n;
        struct model row = triplet(&all, me / width * width, 1, n - me / width * width < width ? n % width : width);
        struct model column = triplet(&all, me % width, width, (n - me % width + width - 1) / width);
        shmem_team_t x, y, both;
        GIVES(0, shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y));
        is_model(x, &row);
        is_model(y, &column);
        GIVES(me % width, shmem_team_my_pe(x));
        GIVES(me / width, shmem_team_my_pe(y));
        GIVES(shmem_team_my_pe(y), shmem_team_translate_pe(x, shmem_team_my_pe(x), y));
        struct model reversed = triplet(&column, column.size - 1, -1, column.size);
        GIVES(0, shmem_team_split_strided(y, column.size - 1, -1, column.size, NULL, 0, &both));
        shmem_team_destroy(y); /* before what was split from it */
        is_model(both, &reversed);
        shmem_team_destroy(both);
        shmem_team_destroy(x);
    }
}

/* Splits of splits at random, with collectives on them. */
static void random_splits(void)
{
    const char *given = getenv("SHMEM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    GIVES(0, shmemx_broadcast(&seed, sizeof seed, 0));
    if (me == 0)
        printf("# SHMEM_TEST_SEED=%llu\n", (unsigned long long)seed);
    uint64_t state = seed * 2 + 1;
    for (int round = full() ? 2000 : 40; round > 0; round--) {
        shmem_team_t made[4] = {SHMEM_TEAM_WORLD};
        struct model models[4] = {everybody()};
        int depth = 0;
        for (; depth < 3 && made[depth] != SHMEM_TEAM_INVALID; depth++) {
            /* The same on all PEs of the team, since all PEs draw the same. */
            uint64_t r = state + (uint64_t)depth * 977;
            int size = models[depth].size, start = (int)(next_random(&r) % (unsigned)size);
            int stride = (int)(next_random(&r) % 7) - 3;
            int room = stride > 0 ? (size - 1 - start) / stride : stride < 0 ? start / -stride : 0;
            int count = 1 + (int)(next_random(&r) % (unsigned)(room + 1));
            models[depth + 1] = triplet(&models[depth], start, stride, count);
            GIVES(0, shmem_team_split_strided(made[depth], start, stride, count, NULL, 0, &made[depth + 1]));
            is_model(made[depth + 1], &models[depth + 1]);
        }
        for (; depth > 0; depth--)
            shmem_team_destroy(made[depth]);
        next_random(&state);
    }
}

static void configs(void)
{
    shmem_team_config_t config = {.num_contexts = 2}, got = {-1};
    shmem_team_t team, other;
    shmem_ctx_t ctx[3];
    GIVES(0, shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, &config, SHMEM_TEAM_NUM_CONTEXTS, &team));
    GIVES(0, shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got));
    GIVES(2, got.num_contexts);
    GIVES(0, shmem_team_get_config(team, 0, NULL));
    GIVES(0, shmem_team_create_ctx(team, 0, &ctx[0]));
    GIVES(0, shmem_team_create_ctx(team, 0, &ctx[1]));
    CHECK(shmem_team_create_ctx(team, 0, &ctx[2]) != 0 && ctx[2] == SHMEM_CTX_INVALID);
    GIVES(0, shmem_ctx_get_team(ctx[1], &other));
    CHECK(other == team);
    words[0] = 0;
    shmem_barrier_all();
    shmem_ctx_long_p(ctx[0], words, 100 + me, me); /* to the PE that has this number in the team: n - 1 - me */
    shmem_ctx_quiet(ctx[0]);
    shmem_barrier_all();
    GIVES(100 + n - 1 - me, words[0]);
    CHECK(shmem_team_ptr(team, words, me) == shmem_ptr(words, n - 1 - me));
    GIVES(0, shmem_team_split_strided(team, 0, 1, n, NULL, 0, &other)); /* by default no contexts */
    CHECK(shmem_team_create_ctx(other, 0, &ctx[2]) != 0);
    shmem_team_destroy(other);
    shmem_team_destroy(team);                   /* and the contexts */
    config.num_contexts = me == n - 1 ? -1 : 1; /* one PE is wrong: nobody gets a team */
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && strstr(shmemx_last_error(), "num_contexts is -1"));
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &team, NULL, 1, &other) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 8, &team) != 0);
}

static void what_is_refused(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &other) != 0);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
    CHECK(shmem_team_sync(SHMEM_TEAM_INVALID) != 0);
    CHECK(shmem_long_sum_inscan(SHMEM_TEAM_INVALID, words, words, 1) != 0);
    CHECK(shmem_collectmem(SHMEM_TEAM_INVALID, words, words, 1) != 0);
    if (n > 1) { /* one member asks for another team: there is none, and the members are told why */
        int rc = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me == n - 1 ? 1 : n, NULL, 0, &team);
        CHECK(team == SHMEM_TEAM_INVALID);
        CHECK(me == n - 1 ? rc == 0 : rc != 0 && strstr(shmemx_last_error(), "all members must ask alike"));
    }
}

/* Programs make all rows of a grid in one call, each PE giving the triplet of its own. More often than there are
   places, so that none is lost. */
static void rows_of_their_own(void)
{
    shmem_team_t row;
    for (int round = 0; round < 1000; round++) {
        int width = 1 + round % 4, start = me / width * width, size = start + width < n ? width : n - start;
        GIVES(0, shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &row));
        CHECK(shmem_team_n_pes(row) == size && shmem_team_my_pe(row) == me - start);
        CHECK(shmem_team_translate_pe(row, size - 1, SHMEM_TEAM_WORLD) == start + size - 1);
        if (round < 20) {
            long *sum = words, *part = words + 1;
            *part = me;
            GIVES(0, shmem_long_sum_reduce(row, sum, part, 1));
            CHECK(*sum == (2L * start + size - 1) * size / 2, "the sum of the row is %ld", *sum);
        }
        shmem_team_destroy(row);
    }
    /* Two PEs make a team, the others ask for none that they are in. */
    GIVES(0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me < 2 && n > 1 ? 2 : 1, NULL, 0, &row));
    CHECK((row != SHMEM_TEAM_INVALID) == (me < 2 && me < n));
    shmem_team_destroy(row);
    shmem_barrier_all();
}

/* Whoever is late, all wait for it: on the world, on a team, on an active set. */
static void nobody_leaves_early(void)
{
    shmem_team_t team;
    GIVES(0, shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &team));
    for (int late = 0; late < n; late++)
        for (int way = 0; way < 3; way++) {
            words[0] = -1;
            shmem_barrier_all();
            if (me == late) {
                usleep(1000);
                words[0] = late;
            }
            if (way == 0)
                shmem_sync_all();
            else if (way == 1)
                shmem_team_sync(team);
            else
                (shmem_sync)(0, 0, n, syncs);
            GIVES(late, shmem_long_g(words, late));
            shmem_barrier_all();
        }
    shmem_team_destroy(team);
}

/* Nothing to do, with null pointers. */
static void nothing(void)
{
    GIVES(0, shmem_alltoallmem(SHMEM_TEAM_WORLD, NULL, NULL, 0));
    GIVES(0, shmem_long_alltoalls(SHMEM_TEAM_WORLD, NULL, NULL, 1, 1, 0));
    GIVES(0, shmem_collectmem(SHMEM_TEAM_WORLD, NULL, NULL, 0));
    GIVES(0, shmem_fcollectmem(SHMEM_TEAM_WORLD, NULL, NULL, 0));
    GIVES(0, shmem_broadcastmem(SHMEM_TEAM_WORLD, NULL, NULL, 0, n - 1));
    GIVES(0, shmem_double_max_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0));
    GIVES(0, shmem_int_sum_exscan(SHMEM_TEAM_WORLD, NULL, NULL, 0));
    shmem_int_sum_to_all(NULL, NULL, 0, 0, 0, n, NULL, syncs);
    shmem_longdouble_prod_to_all(NULL, NULL, 0, 0, 0, n, NULL, syncs + SHMEM_SYNC_SIZE);
    shmem_barrier_all();
    shmem_broadcast32(NULL, NULL, 0, 0, 0, 0, n, syncs);
}

static void as_many_as_can_be(void)
{
    static shmem_team_t made[2000];
    int count = 0;
    while (count < 2000 && shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &made[count]) == 0)
        count++;
    GIVES(768, count);
    CHECK(strstr(shmemx_last_error(), "as many as there can be"));
    words[0] = 1;
    for (int i = 0; i < count; i += 97)
        GIVES(0, shmem_long_sum_reduce(made[i], words + 1, words, 1));
    GIVES(n, words[1]);
    for (int i = 0; i < count; i++)
        shmem_team_destroy(made[(i * 5) % count]);
    GIVES(0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &made[0]));
    GIVES(0, shmem_team_sync(made[0]));
    shmem_team_destroy(made[0]);
}

static void many_in_a_row(void)
{
    shmem_team_t team, last = SHMEM_TEAM_INVALID;
    size_t before = 0;
    int rounds = full() ? 100000 : 500;
    for (int i = 0; i < rounds; i++) {
        if (i == 100)
            before = mallinfo2().uordblks;
        GIVES(0, shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, i % 2 + 1, (n + i % 2) / (i % 2 + 1), NULL, 0, &team));
        CHECK(team == SHMEM_TEAM_INVALID || team != last);
        if (team != SHMEM_TEAM_INVALID)
            GIVES(0, shmem_team_sync(team));
        shmem_team_destroy(team);
        last = team;
    }
    size_t after = mallinfo2().uordblks;
    CHECK(LEAKS_SANITIZED || after <= before + 4096, "%zu bytes, then %zu", before, after);
}

/* --- several at once ---------------------------------------------------------------------------------------------- */

struct work {
    shmem_team_t team;
    long *at; /* symmetric, 64 words of its own */
    int rounds;
    unsigned wrong;
};

static void *reduce_often(void *argument)
{
    struct work *w = argument;
    long size = shmem_team_n_pes(w->team);
    for (int i = 0; i < w->rounds; i++) {
        size_t count = i % 3 ? 1 : 30;
        for (size_t k = 0; k < count; k++)
            w->at[k] = i;
        shmem_long_sum_reduce(w->team, w->at + 32, w->at, count);
        for (size_t k = 0; k < count; k++)
            w->wrong += w->at[32 + k] != i * size;
    }
    return NULL;
}

/* Rows, columns and the world at the same time in each PE, in whatever order the threads run. */
static void several_in_flight(void)
{
    enum { THREADS = 4 };
    struct work work[THREADS];
    pthread_t threads[THREADS];
    long *space = shmem_malloc(THREADS * 64 * sizeof(long));
    shmem_team_t x, y;
    GIVES(0, shmem_team_split_2d(SHMEM_TEAM_WORLD, n > 2 ? 2 : 1, NULL, 0, &x, NULL, 0, &y));
    shmem_team_t used[THREADS] = {x, y, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
    for (int t = 0; t < THREADS; t++) {
        work[t] = (struct work){used[t], space + t * 64, full() ? 20000 : 150, 0};
        CHECK(pthread_create(&threads[t], NULL, reduce_often, &work[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        GIVES(0, work[t].wrong);
    }
    shmem_team_destroy(y);
    shmem_team_destroy(x);
    shmem_free(space);
}

/* Threads make and end teams of different parents at the same time. */
static void *split_often(void *argument)
{
    struct work *w = argument;
    for (int i = 0; i < w->rounds; i++) {
        shmem_team_t team;
        w->wrong += shmem_team_split_strided(w->team, shmem_team_n_pes(w->team) - 1, -1, shmem_team_n_pes(w->team),
                                             NULL, 0, &team) != 0;
        w->wrong += shmem_team_sync(team) != 0;
        shmem_team_destroy(team);
    }
    return NULL;
}

static void splits_at_once(void)
{
    struct work work[2] = {{SHMEM_TEAM_WORLD, NULL, 60, 0}, {SHMEM_TEAM_SHARED, NULL, 60, 0}};
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        CHECK(pthread_create(&threads[t], NULL, split_often, &work[t]) == 0);
    for (int t = 0; t < 2; t++) {
        pthread_join(threads[t], NULL);
        GIVES(0, work[t].wrong);
    }
}

/* --- active sets -------------------------------------------------------------------------------------------------- */

static long *sync_of(int i)
{
    return syncs + i % SYNCS * SHMEM_SYNC_SIZE;
}

/* Sets that overlap, one after the other: a PE that is in none of them does nothing. */
static void sets_in_sequence(void)
{
    struct {
        int start, log_stride, size;
    } sets[] = {{0, 0, n}, {0, 0, (n + 1) / 2}, {n / 2, 0, n - n / 2}, {0, 1, (n + 1) / 2}, {n - 1, 0, 1}, {0, 0, n}};
    enum { COUNT = sizeof sets / sizeof *sets };
    for (int round = 0; round < 20; round++)
        for (int k = 0; k < COUNT; k++) {
            int stride = 1 << sets[k].log_stride, last = sets[k].start + (sets[k].size - 1) * stride;
            if (me >= sets[k].start && me <= last && (me - sets[k].start) % stride == 0) {
                long sum = 0;
                for (int pe = sets[k].start; pe <= last; pe += stride)
                    sum += pe + round;
                words[0] = me + round;
                shmem_long_sum_to_all(words + 1, words, 1, sets[k].start, sets[k].log_stride, sets[k].size, words + 2,
                                      sync_of(k));
                GIVES(sum, words[1]);
                for (int again = 0; again < 3; again++) /* these need nothing in between */
                    shmem_barrier(sets[k].start, sets[k].log_stride, sets[k].size, sync_of(k));
            }
            shmem_sync_all();
        }
    for (int i = 0; i < SYNCS * SHMEM_SYNC_SIZE; i++)
        GIVES(SHMEM_SYNC_VALUE, syncs[i]);
}

/* --- large -------------------------------------------------------------------------------------------------------- */

/* More than 2^31 elements, and more than 4 GiB in a collect. The heap's pages must be there. */
static void large(void)
{
    const size_t count = ((size_t)1 << 31) + 7;
    int8_t *array = shmem_malloc(count * (n == 1 ? 1 : 2));
    if (!array) {
        if (me == 0)
            printf("# skip: the heap has no room for %zu bytes\n", count * 2);
        return;
    }
    memset(array, 0, count);
    array[0] = 1;
    array[count - 1] = (int8_t)(me + 1);
    array[(size_t)1 << 31] = (int8_t)-me;
    GIVES(0, shmem_int8_sum_inscan(SHMEM_TEAM_WORLD, array, array, count));
    GIVES(me + 1, array[0]);
    GIVES((int8_t)((me + 1) * (me + 2) / 2), array[count - 1]);
    GIVES((int8_t)(-me * (me + 1) / 2), array[(size_t)1 << 31]);
    GIVES(0, array[count - 2]);
    shmem_barrier_all();
    array[count - 1] = (int8_t)(me + 1);
    GIVES(0, shmem_int8_max_reduce(SHMEM_TEAM_WORLD, array, array, count));
    GIVES(n, array[count - 1]);
    shmem_free(array);
    if (n != 2)
        return;
    char *source = shmem_malloc(count), *dest = shmem_malloc(2 * count);
    if (source && dest) {
        memset(source, me + 1, count);
        GIVES(0, shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, count - (size_t)me));
        CHECK(dest[0] == 1 && dest[count - 1] == 1 && dest[count] == 2 && dest[2 * count - 2] == 2);
    }
    shmem_free(dest);
    shmem_free(source);
}

int main(int argc, char **argv)
{
    bool few = argc > 1 && strcmp(argv[1], "few") == 0; /* where every wait is slow */
    multi_begin();
    words = shmem_malloc(3 * (size_t)n * sizeof *words + 64);
    syncs = shmem_malloc(SYNCS * SHMEM_SYNC_SIZE * sizeof *syncs);
    for (int i = 0; i < SYNCS * SHMEM_SYNC_SIZE; i++)
        syncs[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    CASE(configs);
    CASE(what_is_refused);
    CASE(rows_of_their_own);
    CASE(nothing);
    CASE(nobody_leaves_early);
    if (few)
        goto end;
    CASE(every_grid);
    if (n <= 8)
        CASE(every_triplet);
    CASE(random_splits);
    if (n <= 4)
        CASE(as_many_as_can_be);
    CASE(many_in_a_row);
    CASE(several_in_flight);
    CASE(splits_at_once);
    CASE(sets_in_sequence);
    if (full() && n <= 2)
        CASE(large);
end:
    shmem_free(syncs);
    shmem_free(words);
    return multi_end();
}
