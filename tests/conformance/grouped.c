// SPDX-License-Identifier: Apache-2.0
// The collectives that typed.c does not call, for every type, in groups of PEs that are not the whole job: teams in
// reverse order and with odd strides, and the active sets of the old calls. Any number of PEs (run with 1 to 8).
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the old names are tested, too */
#include "types.h"

#include <string.h>

enum { BLOCK = 5, MANY = 150 /* more than what PEs publish, for every type */, SETS = 4 };

static char *heap; /* symmetric, for the objects of one test at a time */
static size_t heap_bytes;

/* PEs start, start + stride, ...; as a team, or as an active set with pSync arrays of its own. */
struct group {
    int start, stride, size, me; /* me: -1 for who is not in it */
    int log_stride;
    shmem_team_t team;
    long *psync;
};

static struct group teams[SETS], sets[SETS];
static const struct group *in;

static int pe_of(int i)
{
    return in->start + i * in->stride;
}

static int index_in(const struct group *g)
{
    for (int i = 0; i < g->size; i++)
        if (g->start + i * g->stride == me)
            return i;
    return -1;
}

/* Members of the group begin: the objects are zero on all of them. */
static bool enter(const struct group *g)
{
    in = g;
    if (g->me < 0)
        return false;
    if (g->psync)
        shmem_barrier(g->start, g->log_stride, g->size, g->psync);
    else
        shmem_team_sync(g->team);
    memset(heap, 0, heap_bytes);
    if (g->psync)
        (shmem_sync)(g->start, g->log_stride, g->size, g->psync + SHMEM_SYNC_SIZE);
    else
        shmem_team_sync(g->team);
    return true;
}

#define ON_TEAMS                                                                                                       \
    for (int k = 0; k < SETS; k++)                                                                                     \
        if (enter(&teams[k]))

#define ON_SETS                                                                                                        \
    for (int k = 0; k < SETS; k++)                                                                                     \
        if (enter(&sets[k]))
#define SET in->start, in->log_stride, in->size
/* Two pSync arrays take turns, so that one is used again only after all have left a call with the other. */
#define SYNC(turn) (in->psync + (2 + (turn) % 2) * SHMEM_SYNC_SIZE)

/* --------------------------------------------------------------------------------------------------- moving data */

/* How many elements member i gives to a collect; some give none. */
static int given(int i)
{
    return i * 3 % 4 + (i == in->size - 1);
}

static int given_before(int i)
{
    int sum = 0;
    for (int k = 0; k < i; k++)
        sum += given(k);
    return sum;
}

#define MOVE_BODY(F, T, MIN, MAX, VALUE)                                                                               \
    ON_TEAMS                                                                                                           \
    {                                                                                                                  \
        const int all = BLOCK * in->size;                                                                              \
        T *source = (T *)(void *)heap, *dest = source + 3 * all;                                                       \
        for (int i = 0; i < 3 * all; i++)                                                                              \
            source[i] = VALUE(T, MIN, MAX, me, i);                                                                     \
        expect(F(alltoall)(in->team, dest, source, BLOCK) == 0, NAME(F(alltoall)), "failed", 0);                       \
        for (int i = 0; i < all; i++)                                                                                  \
            expect(dest[i] == VALUE(T, MIN, MAX, pe_of(i / BLOCK), in->me * BLOCK + i % BLOCK), NAME(F(alltoall)),     \
                   "wrong element", i);                                                                                \
        memset(dest, 0, sizeof(T) * (size_t)(2 * all));                                                                \
        shmem_team_sync(in->team);                                                                                     \
        expect(F(alltoalls)(in->team, dest, source, 2, 3, BLOCK) == 0, NAME(F(alltoalls)), "failed", 0);               \
        for (int i = 0; i < all; i++)                                                                                  \
            expect(dest[2 * i] == VALUE(T, MIN, MAX, pe_of(i / BLOCK), 3 * (in->me * BLOCK + i % BLOCK)) &&            \
                       dest[2 * i + 1] == 0,                                                                           \
                   NAME(F(alltoalls)), "wrong element", i);                                                            \
        shmem_team_sync(in->team);                                                                                     \
        expect(F(collect)(in->team, dest, source, (size_t)given(in->me)) == 0, NAME(F(collect)), "failed", 0);         \
        for (int pe = 0; pe < in->size; pe++)                                                                          \
            for (int i = 0; i < given(pe); i++)                                                                        \
                expect(dest[given_before(pe) + i] == VALUE(T, MIN, MAX, pe_of(pe), i), NAME(F(collect)),               \
                       "wrong element", i);                                                                            \
        shmem_team_sync(in->team);                                                                                     \
        expect(F(fcollect)(in->team, dest, source, BLOCK) == 0, NAME(F(fcollect)), "failed", 0);                       \
        for (int i = 0; i < all; i++)                                                                                  \
            expect(dest[i] == VALUE(T, MIN, MAX, pe_of(i / BLOCK), i % BLOCK), NAME(F(fcollect)), "wrong element", i); \
        for (int root = 0; root < in->size; root += 2) {                                                               \
            shmem_team_sync(in->team);                                                                                 \
            expect(F(broadcast)(in->team, dest, source, BLOCK, root) == 0, NAME(F(broadcast)), "failed", 0);           \
            for (int i = 0; i < BLOCK; i++)                                                                            \
                expect(dest[i] == VALUE(T, MIN, MAX, pe_of(root), i), NAME(F(broadcast)), "wrong element", i);         \
        }                                                                                                              \
    }

#define MOVE_TEST(N, T, MIN, MAX, VALUE) static void move_##N(void) MOVE_BODY_IN(PLAIN_##N, T, MIN, MAX, VALUE)
#define MOVE_BODY_IN(F, T, MIN, MAX, VALUE)                                                                            \
    {                                                                                                                  \
        MOVE_BODY(F, T, MIN, MAX, VALUE)                                                                               \
    }
RMA(MOVE_TEST)

static void move_bytes(void)
{
    ON_TEAMS
    {
        const int all = BLOCK * in->size;
        char *source = heap, *dest = source + 3 * all;
        for (int i = 0; i < 3 * all; i++)
            source[i] = (char)(me * 31 + i);
        expect(shmem_alltoallmem(in->team, dest, source, BLOCK) == 0, "shmem_alltoallmem", "failed", 0);
        for (int i = 0; i < all; i++)
            expect(dest[i] == (char)(pe_of(i / BLOCK) * 31 + in->me * BLOCK + i % BLOCK), "shmem_alltoallmem",
                   "wrong byte", i);
        shmem_team_sync(in->team);
        expect(shmem_alltoallsmem(in->team, dest, source, 2, 3, BLOCK) == 0, "shmem_alltoallsmem", "failed", 0);
        for (int i = 0; i < all; i++)
            expect(dest[2 * i] == (char)(pe_of(i / BLOCK) * 31 + 3 * (in->me * BLOCK + i % BLOCK)),
                   "shmem_alltoallsmem", "wrong byte", i);
        shmem_team_sync(in->team);
        expect(shmem_collectmem(in->team, dest, source, (size_t)given(in->me)) == 0, "shmem_collectmem", "failed", 0);
        for (int pe = 0; pe < in->size; pe++)
            for (int i = 0; i < given(pe); i++)
                expect(dest[given_before(pe) + i] == (char)(pe_of(pe) * 31 + i), "shmem_collectmem", "wrong byte", i);
    }
}

/* The forms by size of the active sets. */
#define MOVE_SET(BITS)                                                                                                 \
    static void move_##BITS(void)                                                                                      \
    {                                                                                                                  \
        ON_SETS                                                                                                        \
        {                                                                                                              \
            const int all = BLOCK * in->size;                                                                          \
            uint##BITS##_t *source = (uint##BITS##_t *)(void *)heap, *dest = source + 3 * all;                         \
            for (int i = 0; i < 3 * all; i++)                                                                          \
                source[i] = (uint##BITS##_t)(me * 1000 + i);                                                           \
            shmem_alltoall##BITS(dest, source, BLOCK, SET, SYNC(0));                                                   \
            for (int i = 0; i < all; i++)                                                                              \
                expect(dest[i] == (uint##BITS##_t)(pe_of(i / BLOCK) * 1000 + in->me * BLOCK + i % BLOCK),              \
                       "shmem_alltoall" #BITS, "wrong element", i);                                                    \
            shmem_alltoalls##BITS(dest + all, source, 2, 3, BLOCK, SET, SYNC(1));                                      \
            for (int i = 0; i < all; i++)                                                                              \
                expect(dest[all + 2 * i] ==                                                                            \
                           (uint##BITS##_t)(pe_of(i / BLOCK) * 1000 + 3 * (in->me * BLOCK + i % BLOCK)),               \
                       "shmem_alltoalls" #BITS, "wrong element", i);                                                   \
            shmem_sync(SET, in->psync); /* dest is free on all */                                                      \
            shmem_collect##BITS(dest, source, (size_t)given(in->me), SET, SYNC(0));                                    \
            for (int pe = 0; pe < in->size; pe++)                                                                      \
                for (int i = 0; i < given(pe); i++)                                                                    \
                    expect(dest[given_before(pe) + i] == (uint##BITS##_t)(pe_of(pe) * 1000 + i),                       \
                           "shmem_collect" #BITS, "wrong element", i);                                                 \
            shmem_sync(SET, in->psync);                                                                                \
            shmem_fcollect##BITS(dest, source, BLOCK, SET, SYNC(1));                                                   \
            for (int i = 0; i < all; i++)                                                                              \
                expect(dest[i] == (uint##BITS##_t)(pe_of(i / BLOCK) * 1000 + i % BLOCK), "shmem_fcollect" #BITS,       \
                       "wrong element", i);                                                                            \
            for (int root = 0; root < in->size; root += 2) {                                                           \
                const int count = root % 4 ? BLOCK : 3 * all; /* few and many bytes */                                 \
                memset(dest, 0, sizeof *dest *(size_t)count);                                                          \
                shmem_sync(SET, in->psync);                                                                            \
                shmem_broadcast##BITS(dest, source, (size_t)count, root, SET, SYNC(root / 2));                         \
                for (int i = 0; i < count; i++)                                                                        \
                    expect(dest[i] == (in->me == root ? 0 : (uint##BITS##_t)(pe_of(root) * 1000 + i)),                 \
                           "shmem_broadcast" #BITS, "wrong element", i);                                               \
                shmem_sync(SET, in->psync);                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }
MOVE_SET(32)
MOVE_SET(64)

/* --------------------------------------------------------------------------------------------- reductions and scans */

/* A few elements and many, into another array and in place. The call is FN(..., dest, source, count, ...). */
#define EACH_WAY(T, ELEMENT, MIN, MAX, CALL, FN, WANTED)                                                               \
    for (int way = 0; way < 4; way++) {                                                                                \
        const int count = way / 2 ? MANY : 3;                                                                          \
        T *source = (T *)(void *)heap, *dest = way % 2 ? source : source + MANY;                                       \
        for (int i = 0; i < count; i++)                                                                                \
            source[i] = ELEMENT(T, MIN, MAX, me, i);                                                                   \
        CALL;                                                                                                          \
        for (int i = 0; i < count; i++) {                                                                              \
            WANTED;                                                                                                    \
            expect(dest[i] == wanted, NAME(FN), way % 2 ? "wrong element, in place" : "wrong element", i);             \
        }                                                                                                              \
    }

#define ALL_OF(T, ELEMENT, MIN, MAX, OP)                                                                               \
    T wanted = ELEMENT(T, MIN, MAX, pe_of(0), i);                                                                      \
    for (int pe = 1; pe < in->size; pe++) {                                                                            \
        const T element = ELEMENT(T, MIN, MAX, pe_of(pe), i);                                                          \
        wanted = OP(T, wanted, element);                                                                               \
    }

#define FIRST_OF(T, ELEMENT, MIN, MAX, OP, COUNT)                                                                      \
    T wanted = (COUNT) ? ELEMENT(T, MIN, MAX, pe_of(0), i) : (T)0;                                                     \
    for (int pe = 1; pe < (COUNT); pe++) {                                                                             \
        const T element = ELEMENT(T, MIN, MAX, pe_of(pe), i);                                                          \
        wanted = OP(T, wanted, element);                                                                               \
    }

#define REDUCE(FN, T, MIN, MAX, ELEMENT, OP)                                                                           \
    ON_TEAMS EACH_WAY(T, ELEMENT, MIN, MAX,                                                                            \
                      expect(FN(in->team, dest, source, (size_t)count) == 0, NAME(FN), "failed", way), FN,             \
                      ALL_OF(T, ELEMENT, MIN, MAX, OP))

#define SCAN(FN, T, MIN, MAX, ELEMENT, OP, COUNT)                                                                      \
    ON_TEAMS EACH_WAY(T, ELEMENT, MIN, MAX,                                                                            \
                      expect(FN(in->team, dest, source, (size_t)count) == 0, NAME(FN), "failed", way), FN,             \
                      FIRST_OF(T, ELEMENT, MIN, MAX, OP, COUNT))

#define TO_ALL(FN, T, MIN, MAX, ELEMENT, OP)                                                                           \
    ON_SETS EACH_WAY(T, ELEMENT, MIN, MAX, FN(dest, source, count, SET, source + 2 * MANY, SYNC(way)), FN,             \
                     ALL_OF(T, ELEMENT, MIN, MAX, OP))

#define SCAN_TEST(N, T, MIN, MAX, ELEMENT, OP)                                                                         \
    static void scan_##N(void)                                                                                         \
    {                                                                                                                  \
        SCAN(shmem_##N##_sum_inscan, T, MIN, MAX, ELEMENT, OP, in->me + 1)                                             \
        SCAN(shmem_##N##_sum_exscan, T, MIN, MAX, ELEMENT, OP, in->me)                                                 \
    }
#define SCAN_INTEGER_TEST(N, T, MIN, MAX, VALUE) SCAN_TEST(N, T, MIN, MAX, SUMMAND, ADD_WRAP)
#define SCAN_REAL_TEST(N, T, MIN, MAX, VALUE) SCAN_TEST(N, T, MIN, MAX, ROOTED, ADD)
INTEGERS(SCAN_INTEGER_TEST)
REALS(SCAN_REAL_TEST)
SCAN_TEST(complexf, float _Complex, 0, 0, COMPLEX, ADD)
SCAN_TEST(complexd, double _Complex, 0, 0, COMPLEX, ADD)

/* The types of the old reductions. */
#define TO_ALL_INTEGERS(X)                                                                                             \
    X(short, short, SHRT_MIN, SHRT_MAX, INTEGER)                                                                       \
    X(int, int, INT_MIN, INT_MAX, INTEGER)                                                                             \
    X(long, long, LONG_MIN, LONG_MAX, INTEGER)                                                                         \
    X(longlong, long long, LLONG_MIN, LLONG_MAX, INTEGER)
#define TO_ALL_INTEGER_TEST(N, T, MIN, MAX, VALUE)                                                                     \
    static void to_all_##N(void)                                                                                       \
    {                                                                                                                  \
        TO_ALL(shmem_##N##_and_to_all, T, MIN, MAX, BITS, AND)                                                         \
        TO_ALL(shmem_##N##_or_to_all, T, MIN, MAX, BITS, OR)                                                           \
        TO_ALL(shmem_##N##_xor_to_all, T, MIN, MAX, BITS, XOR)                                                         \
            TO_ALL(shmem_##N##_max_to_all, T, MIN, MAX, ORDERED, MAXIMUM)                                              \
                TO_ALL(shmem_##N##_min_to_all, T, MIN, MAX, ORDERED, MINIMUM)                                          \
                    TO_ALL(shmem_##N##_sum_to_all, T, MIN, MAX, SUMMAND, ADD_WRAP)                                     \
                        TO_ALL(shmem_##N##_prod_to_all, T, MIN, MAX, FACTOR, MUL_WRAP)                                 \
    }
#define TO_ALL_REAL_TEST(N, T, MIN, MAX, VALUE)                                                                        \
    static void to_all_##N(void)                                                                                       \
    {                                                                                                                  \
        TO_ALL(shmem_##N##_max_to_all, T, MIN, MAX, ORDERED, MAXIMUM)                                                  \
        TO_ALL(shmem_##N##_min_to_all, T, MIN, MAX, ORDERED, MINIMUM)                                                  \
        TO_ALL(shmem_##N##_sum_to_all, T, MIN, MAX, ROOTED, ADD)                                                       \
        TO_ALL(shmem_##N##_prod_to_all, T, MIN, MAX, ROOTED, MUL)                                                      \
    }
TO_ALL_INTEGERS(TO_ALL_INTEGER_TEST)
REALS(TO_ALL_REAL_TEST)

static void to_all_complex(void)
{
    TO_ALL(shmem_complexf_sum_to_all, float _Complex, 0, 0, COMPLEX, ADD)
    TO_ALL(shmem_complexf_prod_to_all, float _Complex, 0, 0, UNIT, MUL)
    TO_ALL(shmem_complexd_sum_to_all, double _Complex, 0, 0, COMPLEX, ADD)
    TO_ALL(shmem_complexd_prod_to_all, double _Complex, 0, 0, UNIT, MUL)
}

/* Reductions on teams: one type of each size and kind; the others go the same way. */
static void reduce_on_teams(void)
{
    REDUCE(shmem_schar_min_reduce, signed char, SCHAR_MIN, SCHAR_MAX, ORDERED, MINIMUM)
    REDUCE(shmem_uchar_max_reduce, unsigned char, 0, UCHAR_MAX, ORDERED, MAXIMUM)
    REDUCE(shmem_ushort_xor_reduce, unsigned short, 0, USHRT_MAX, BITS, XOR)
    REDUCE(shmem_int32_prod_reduce, int32_t, INT32_MIN, INT32_MAX, FACTOR, MUL_WRAP)
    REDUCE(shmem_uint64_sum_reduce, uint64_t, 0, UINT64_MAX, SUMMAND, ADD_WRAP)
    REDUCE(shmem_double_sum_reduce, double, -DBL_MAX, DBL_MAX, ROOTED, ADD)
    REDUCE(shmem_longdouble_max_reduce, long double, -LDBL_MAX, LDBL_MAX, ORDERED, MAXIMUM)
    REDUCE(shmem_complexd_prod_reduce, double _Complex, 0, 0, UNIT, MUL)
}

/* ---------------------------------------------------------------------------------------------------------- groups */

static void make_team(struct group *g, int start, int stride, int size)
{
    *g = (struct group){.start = start, .stride = stride, .size = size};
    g->me = index_in(g);
    expect(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &g->team) == 0,
           "shmem_team_split_strided", "failed", 0);
    expect((g->team != SHMEM_TEAM_INVALID) == (g->me >= 0), "shmem_team_split_strided", "wrong members", 0);
    expect(shmem_team_my_pe(g->team) == g->me, "shmem_team_my_pe", "wrong number", 0);
}

/* This PE's column of a grid; its row is a team of its own, that goes again. */
static void make_column(struct group *g, int width)
{
    shmem_team_t row;
    *g = (struct group){.start = me % width, .stride = width, .size = (n - me % width + width - 1) / width};
    g->me = index_in(g);
    expect(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &row, NULL, 0, &g->team) == 0, "shmem_team_split_2d",
           "failed", 0);
    expect(shmem_team_my_pe(row) == me % width && shmem_team_my_pe(g->team) == me / width, "shmem_team_split_2d",
           "wrong place", 0);
    shmem_team_destroy(row);
}

static void make_set(struct group *g, int start, int log_stride, int size)
{
    enum { PSYNCS = 4 * SHMEM_SYNC_SIZE };
    *g = (struct group){.start = start, .stride = 1 << log_stride, .log_stride = log_stride, .size = size};
    g->me = index_in(g);
    g->psync = shmem_malloc(PSYNCS * sizeof(long));
    for (int i = 0; i < PSYNCS; i++)
        g->psync[i] = SHMEM_SYNC_VALUE;
}

static void end_groups(void)
{
    for (int k = 0; k < SETS; k++) {
        for (int i = 0; i < 4 * SHMEM_SYNC_SIZE; i++)
            expect(sets[k].psync[i] == SHMEM_SYNC_VALUE, "an active set", "pSync is not as it was", i);
        shmem_free(sets[k].psync);
        shmem_team_destroy(teams[k].team);
    }
}

#define RUN_MOVE(N, T, MIN, MAX, VALUE) move_##N();
#define RUN_SCAN(N, T, MIN, MAX, VALUE) scan_##N();
#define RUN_TO_ALL(N, T, MIN, MAX, VALUE) to_all_##N();

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    heap_bytes = sizeof(long double) * (size_t)(n * BLOCK * 6 + 3 * MANY) * 2;
    heap = shmem_align(64, heap_bytes);
    const int thirds = (n + 2) / 3;
    make_team(&teams[0], n - 1, -1, n);           /* all, the other way round */
    make_team(&teams[1], 0, 3, thirds);           /* every third */
    make_team(&teams[2], n - 1, -2, (n + 1) / 2); /* every second from the end */
    make_column(&teams[3], n > 1 ? 2 : 1);
    make_set(&sets[0], 0, 0, n);
    make_set(&sets[1], 0, 1, (n + 1) / 2);
    make_set(&sets[2], n > 1, 0, n - (n > 1));
    make_set(&sets[3], n / 3, 2, (n - n / 3 + 3) / 4);
    shmem_barrier_all();

    RMA(RUN_MOVE)
    move_bytes();
    move_32();
    move_64();
    INTEGERS(RUN_SCAN)
    REALS(RUN_SCAN)
    scan_complexf();
    scan_complexd();
    TO_ALL_INTEGERS(RUN_TO_ALL)
    REALS(RUN_TO_ALL)
    to_all_complex();
    reduce_on_teams();

    shmem_barrier_all();
    end_groups();
    shmem_free(heap);
    if (me == 0)
        printf("all collectives in groups do what they should on %d PEs\n", n);
    shmem_finalize();
    return 0;
}
