// SPDX-License-Identifier: Apache-2.0
// Random operations of several PEs against a model of all memory.
//
//     random [seed [operations [which]]]      "which": only these, as 3,10-19
//
// Operation i follows from the seed and i alone, so any of them can be left out; random.py looks for few that fail.
// Every PE knows all operations: it does its own, and does all of them on its model. So that the result does not depend
// on who is faster, a PE works in a zone of its own of each target, which changes from round to round, or does what
// commutes: in the shared words each is added to, or each has its bits turned over. Numbers drawn from a counter have
// to be different. In a zone an operation waits (quiet) for an earlier one that touches the same bytes; other ones
// overlap as they like.
#include "random_ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ZONE = 2048, ROUND = 64, SHARED = 16, LOCAL = 4096, MAX_PES = 64, MAX_OPERATIONS = 1 << 20 };
enum kind { MOVE, OWN_AMO, SHARED_AMO, TICKET };

struct op {
    enum kind kind;
    int who, pe;
    bool ctx, nbi;
    int type;         /* index in movers or atomics */
    size_t at, bytes; /* in the target's memory: from, and from where to where it reaches */
    enum move move;
    struct shape shape;
    size_t signal_at; /* of put-with-signal */
    int signal_how;
    enum amo amo;
    uint64_t a, b;
};

static int me, n;
static uint64_t seed;
static size_t memory_bytes;
static unsigned char *memory, *model[MAX_PES]; /* n zones, then the shared words, then the counter of tickets */
static int *drawn;                             /* on PE 0: how often each ticket was drawn, by PE and number */
static long operations, last_writer[(MAX_PES + 1) * ZONE]; /* of bytes of this PE's memory */
static unsigned char local[ROUND][LOCAL], expected[ROUND][LOCAL];

/* What was issued since the last quiet. */
static struct pending {
    int pe;
    size_t from, to;
    bool write;
    int check; /* the slot in `local` that a get fills, or -1 */
    long number;
} pending[2 * ROUND];
static int pendings;

static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static size_t below(uint64_t *random, size_t limit)
{
    *random = scramble(*random);
    return (size_t)((*random >> 16) % limit);
}

/* --- what operation i is ------------------------------------------------------------------------------------------ */

static size_t zone_of(int who, long i)
{
    return (size_t)((who + i / ROUND) % n) * ZONE;
}

static void choose_shape(struct op *op, uint64_t *random)
{
    const size_t size = movers[op->type].size;
    struct shape *s = &op->shape;
    *s = (struct shape){.block = 1, .blocks = 1, .remote_stride = 1, .local_stride = 1};
    if (op->move == IPUT || op->move == IGET || op->move == IBPUT || op->move == IBGET) {
        s->block = op->move == IBPUT || op->move == IBGET ? 1 + below(random, 4) : 1;
        s->blocks = below(random, 8);
        s->remote_stride = (ptrdiff_t)(s->block + below(random, 4));
        s->local_stride = (ptrdiff_t)(s->block + below(random, 4));
    } else if (op->move != P && op->move != G) {
        s->block = below(random, below(random, 4) ? 20 : (ZONE - 8) / size);
    }
    op->bytes = s->blocks ? ((s->blocks - 1) * (size_t)s->remote_stride + s->block) * size : 0;
    op->at = below(random, (ZONE - 8 - op->bytes) / size + 1) * size;
}

static void choose_move(struct op *op, uint64_t *random)
{
    op->type = (int)below(random, MOVERS);
    op->move = (enum move)below(random, MOVES);
    if (movers[op->type].size == 16 && (op->move == P || op->move == G))
        op->move = op->move == P ? PUT : GET; /* not all bits of a long double are its value's; see edges.c */
    choose_shape(op, random);
    op->signal_at = ZONE - 8;
    op->signal_how = below(random, 2) ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
}

/* Integers near the edges of their type now and then, and a comparison that often holds. */
static uint64_t choose_value(uint64_t *random)
{
    static const uint64_t edges[] = {0,         1,          UINT64_MAX,          INT32_MAX,  UINT32_MAX,
                                     INT64_MAX, 0x80000000, (uint64_t)INT64_MIN, 0x7fc00001, 0x8000000000000001u};
    const size_t edge = below(random, 3 * sizeof edges / sizeof *edges);
    *random = scramble(*random);
    return edge < sizeof edges / sizeof *edges ? edges[edge] : *random;
}

static void choose_shared(struct op *op, uint64_t *random, long i)
{
    const size_t word = below(random, SHARED);
    uint64_t role = scramble(seed ^ (uint64_t)(i / ROUND) << 20 ^ word ^ (uint64_t)op->pe << 8);
    op->at = (size_t)n * ZONE + word * 8;
    if (below(&role, 2)) {
        static const enum amo adding[] = {INC, FETCH_INC, ADD, FETCH_ADD};
        op->type = REALS + (int)below(&role, ATOMICS - REALS);
        op->amo = adding[below(random, 4)];
    } else {
        op->type = FIRST_BITWISE + (int)below(&role, ATOMICS - FIRST_BITWISE);
        op->amo = below(random, 2) ? XOR : FETCH_XOR;
    }
}

static struct op choose(long i)
{
    uint64_t random = scramble(seed * 1000003 + (uint64_t)i);
    struct op op = {.who = (int)below(&random, (size_t)n), .pe = (int)below(&random, (size_t)n)};
    const size_t percent = below(&random, 100);
    op.ctx = below(&random, 2);
    op.nbi = below(&random, 2);
    op.a = choose_value(&random);
    op.b = choose_value(&random);
    op.kind = percent < 50 ? MOVE : percent < 75 ? OWN_AMO : percent < 95 ? SHARED_AMO : TICKET;
    if (op.kind == MOVE) {
        choose_move(&op, &random);
    } else if (op.kind == OWN_AMO) {
        op.type = (int)below(&random, ATOMICS);
        op.amo = (enum amo)below(&random, atomics[op.type].end);
        op.at = below(&random, 32) * atomics[op.type].size;
    } else if (op.kind == SHARED_AMO) {
        choose_shared(&op, &random, i);
    } else {
        op.at = (size_t)n * ZONE + SHARED * 8;
    }
    if (op.kind == MOVE || op.kind == OWN_AMO) {
        op.at += zone_of(op.who, i);
        op.signal_at += zone_of(op.who, i);
    }
    if (op.kind != MOVE)
        op.bytes = op.kind == TICKET ? 8 : atomics[op.type].size;
    return op;
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

static void describe(long i)
{
    static const char *const moves[] = {"put", "put_nbi", "iput", "ibput", "p", "put_signal", "put_signal_nbi",
                                        "get", "get_nbi", "iget", "ibget", "g"};
    static const char *const amos[] = {"set",       "fetch",    "swap",      "compare_swap", "inc",
                                       "fetch_inc", "add",      "fetch_add", "and",          "fetch_and",
                                       "or",        "fetch_or", "xor",       "fetch_xor"};
    if (i < 0)
        return;
    const struct op op = choose(i);
    printf("  operation %ld: PE %d to PE %d, ", i, op.who, op.pe);
    if (op.kind == MOVE)
        printf("shmem%s_%s_%s at %zu, %zu blocks of %zu, strides there %td and here %td\n", op.ctx ? "_ctx" : "",
               movers[op.type].name, moves[op.move], op.at, op.shape.blocks, op.shape.block, op.shape.remote_stride,
               op.shape.local_stride);
    else if (op.kind == TICKET)
        printf("a ticket\n");
    else
        printf("shmem%s_%s_atomic_%s%s at %zu, %#" PRIx64 ", %#" PRIx64 "\n", op.ctx ? "_ctx" : "",
               atomics[op.type].name, amos[op.amo], op.nbi && amo_fetches(op.amo) ? "_nbi" : "", op.at, op.a, op.b);
}

static void wrong(long i, const char *what, size_t at)
{
    printf("PE %d of %d, seed %" PRIu64 ": %s, at byte %zu\n", me, n, seed, what, at);
    describe(i);
    fflush(stdout);
    shmem_global_exit(1);
}

/* --- doing -------------------------------------------------------------------------------------------------------- */

static void complete(void)
{
    shmem_quiet();
    for (int k = 0; k < pendings; k++)
        for (size_t b = 0; pending[k].check >= 0 && b < LOCAL; b++)
            if (local[pending[k].check][b] != expected[pending[k].check][b])
                wrong(pending[k].number, "a get brought a wrong byte", b);
    pendings = 0;
}

static void issue(int pe, size_t from, size_t bytes, bool write, int check, long number)
{
    pending[pendings++] = (struct pending){pe, from, from + bytes, write, check, number};
}

static bool meets(int pe, size_t from, size_t bytes, bool write)
{
    for (int k = 0; k < pendings; k++)
        if (pending[k].pe == pe && from < pending[k].to && pending[k].from < from + bytes &&
            (write || pending[k].write))
            return true;
    return false;
}

static uint64_t load(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static void note(const struct op *op, long i, size_t from, size_t bytes)
{
    for (size_t b = from; op->pe == me && b < from + bytes; b++)
        last_writer[b] = i;
}

/* The move on the model; what a get brings goes to `expected`. */
static void model_move(const struct op *op, long i)
{
    const size_t size = movers[op->type].size;
    const struct shape *s = &op->shape;
    unsigned char *there = model[op->pe] + op->at, *here = expected[i % ROUND];
    for (size_t k = 0; k < s->blocks; k++) {
        unsigned char *t = there + k * (size_t)s->remote_stride * size, *h = here + k * (size_t)s->local_stride * size;
        if (op->move >= GET) {
            memcpy(h, t, s->block * size);
        } else {
            memcpy(t, h, s->block * size);
            note(op, i, (size_t)(t - model[op->pe]), s->block * size);
        }
    }
    if (op->move == PUT_SIGNAL || op->move == PUT_SIGNAL_NBI) {
        const uint64_t old = load(model[op->pe] + op->signal_at, 8),
                       new = op->signal_how == SHMEM_SIGNAL_SET ? op->a : old + op->a;
        memcpy(model[op->pe] + op->signal_at, &new, 8);
        note(op, i, op->signal_at, 8);
    }
}

static void do_move(const struct op *op, long i)
{
    const bool put = op->move < GET, with_signal = op->move == PUT_SIGNAL || op->move == PUT_SIGNAL_NBI;
    const int slot = (int)(i % ROUND);
    uint64_t bytes = scramble(seed ^ (uint64_t)i << 8);
    for (size_t b = 0; b < LOCAL; b += 8, bytes = scramble(bytes)) {
        memcpy(&local[slot][b], &bytes, 8);
        memcpy(&expected[slot][b], &bytes, 8);
    }
    model_move(op, i);
    if (op->who != me)
        return;
    if (meets(op->pe, op->at, op->bytes, put) || (with_signal && meets(op->pe, op->signal_at, 8, true)))
        complete();
    struct signal signal = {(uint64_t *)(void *)(memory + op->signal_at), op->a, op->signal_how};
    movers[op->type].move(op->move, op->ctx, memory + op->at, local[slot], op->shape, signal, op->pe);
    issue(op->pe, op->at, op->bytes, put, put ? -1 : slot, i);
    if (with_signal)
        issue(op->pe, op->signal_at, 8, true, -1, i);
    if (op->move >= GET && op->move != GET_NBI && memcmp(local[slot], expected[slot], LOCAL) != 0)
        wrong(i, "a blocking get brought a wrong byte", 0);
}

static void do_amo(const struct op *op, long i)
{
    const size_t size = atomics[op->type].size;
    const uint64_t old = load(model[op->pe] + op->at, size);
    /* For half of the exchanges the comparison holds; in a shared word `old` is nobody's business. */
    const uint64_t compare = i % 2 ? old : op->b, new = amo_result(op->amo, size, old, op->a, compare);
    memcpy(model[op->pe] + op->at, &new, size);
    note(op, i, op->at, size);
    if (op->who != me)
        return;
    if (op->kind == OWN_AMO && meets(op->pe, op->at, size, true))
        complete();
    const uint64_t found = atomics[op->type].amo(op->amo, op->ctx, op->nbi, memory + op->at, op->a, compare, op->pe);
    issue(op->pe, op->at, size, true, -1, i);
    if (op->kind == OWN_AMO && amo_fetches(op->amo) && found != old)
        wrong(i, "an atomic returned a wrong old value", op->at);
}

static void draw(const struct op *op, long i)
{
    const uint64_t count = load(model[op->pe] + op->at, 8) + 1;
    memcpy(model[op->pe] + op->at, &count, 8);
    note(op, i, op->at, 8);
    if (op->who != me)
        return;
    const uint64_t ticket = shmem_uint64_atomic_fetch_inc((uint64_t *)(void *)(memory + op->at), op->pe);
    if (ticket >= (uint64_t)operations)
        wrong(i, "a ticket has an impossible number", op->at);
    shmem_int_atomic_inc(&drawn[(uint64_t)op->pe * (uint64_t)operations + ticket], 0);
}

/* Everybody has finished the round: this PE's memory is as its model. */
static void compare(void)
{
    complete();
    shmem_barrier_all();
    for (size_t b = 0; b < memory_bytes; b++)
        if (memory[b] != model[me][b])
            wrong(last_writer[b], "memory is not as it should be; the last to write there", b);
    shmem_barrier_all();
}

/* Whether operation i is in the list of numbers and ranges. Without a list all are. */
static bool wanted(const char *list, long i)
{
    bool found = !list;
    while (list && *list && !found) {
        char *end;
        const long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        found = i >= first && i <= last;
        list = *end == ',' ? end + 1 : NULL;
    }
    return found;
}

static void check_tickets(void)
{
    shmem_barrier_all();
    for (int pe = 0; pe < n && me == 0; pe++) {
        const uint64_t count = load(model[pe] + (size_t)n * ZONE + SHARED * 8, 8);
        for (uint64_t k = 0; k < (uint64_t)operations; k++)
            if (drawn[(uint64_t)pe * (uint64_t)operations + k] != (k < count))
                wrong(-1, "a ticket was drawn twice or never; its number is this", (size_t)k);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    operations = argc > 2 ? strtol(argv[2], NULL, 10) : 2000;
    memory_bytes = (size_t)n * ZONE + SHARED * 8 + 8;
    if (n > MAX_PES || operations < 1 || operations > MAX_OPERATIONS)
        shmem_global_exit(2);
    memory = shmem_calloc(memory_bytes, 1);
    drawn = shmem_calloc((size_t)operations * (size_t)n, sizeof *drawn);
    for (int pe = 0; pe < n; pe++)
        model[pe] = calloc(memory_bytes, 1);
    for (size_t b = 0; b < memory_bytes; b++)
        last_writer[b] = -1;
    for (long i = 0; i < operations; i++) {
        const struct op op = choose(i);
        if (wanted(argc > 3 ? argv[3] : NULL, i)) {
            if (op.kind == MOVE)
                do_move(&op, i);
            else if (op.kind == TICKET)
                draw(&op, i);
            else
                do_amo(&op, i);
        }
        if (i % ROUND == ROUND - 1 || i == operations - 1)
            compare();
    }
    check_tickets();
    if (me == 0)
        printf("ok - %ld random operations, seed %" PRIu64 "\n", operations, seed);
    for (int pe = 0; pe < n; pe++)
        free(model[pe]);
    shmem_finalize();
    return 0;
}
