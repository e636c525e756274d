// SPDX-License-Identifier: Apache-2.0
// Counts the nodes of a tree that nobody can divide beforehand: how many children a node has comes from a hash of the
// node. PEs that have nothing to do take work from others. The count is compared with that of one PE alone. The figure
// is nodes per second.
//   oshcc -O2 tree_search.c -o tree_search && oshrun -n 4 ./tree_search -d 10
//
// Each PE works on a private stack. When that is long it lays a chunk of it into a free slot of its shelf, which is
// symmetric memory. A slot is EMPTY, FULL or TAKEN; whoever changes it from FULL to TAKEN by compare-and-swap has the
// chunk, be it a thief or the owner, and sets it EMPTY when it has copied it.
//
// The end: `busy` on PE 0 counts the PEs that have work. A PE leaves the count only when no slot of its own is FULL,
// and enters it before it tries to take a chunk. So when the count is 0 there is no work anywhere, and none can come
// up.
#include "program.h"

#include <sched.h>

enum { CHUNK = 32, SLOTS = 8 };
enum state { EMPTY, FULL, TAKEN };

struct node {
    uint64_t hash;
    uint64_t depth;
};

struct tally {
    long nodes, leaves, deepest, stolen;
};

struct stack {
    struct node *nodes;
    size_t count, room;
};

static long depth_limit = 9, children = 4, seed = 1;
static struct node shelf[SLOTS][CHUNK];
static uint64_t state[SLOTS];
static int busy;

static void push(struct stack *stack, struct node node)
{
    if (stack->count == stack->room) {
        stack->room = stack->room ? 2 * stack->room : 1024;
        stack->nodes = realloc(stack->nodes, stack->room * sizeof node);
        if (!stack->nodes)
            give_up("out of memory");
    }
    stack->nodes[stack->count++] = node;
}

/* Visits the last node of the stack: counts it, and its children take its place. Their number is geometric with the
   mean `children`: after each one there is another one with the probability children / (children + 1). */
static void visit(struct stack *stack, struct tally *tally)
{
    const struct node node = stack->nodes[--stack->count];
    const uint64_t another = UINT64_MAX / (uint64_t)(children + 1) * (uint64_t)children;
    bool leaf = true;
    tally->nodes++;
    if ((long)node.depth > tally->deepest)
        tally->deepest = (long)node.depth;
    if ((long)node.depth < depth_limit)
        for (uint64_t h = scramble(node.hash); h < another; h = scramble(h)) {
            push(stack, (struct node){scramble(h ^ node.hash), node.depth + 1});
            leaf = false;
        }
    tally->leaves += leaf;
}

/* The root always has children: its own number would too often be none. */
static void plant(struct stack *stack)
{
    for (uint64_t i = 0; i < (uint64_t)children; i++)
        push(stack, (struct node){scramble((uint64_t)seed << 32 ^ i), 1});
}

/* The oldest nodes of the stack, which have the largest trees below them, go to a free slot. */
static void lay_out(struct stack *stack)
{
    const int me = shmem_my_pe();
    for (int slot = 0; slot < SLOTS && stack->count >= 2 * CHUNK; slot++) {
        if (shmem_atomic_fetch(&state[slot], me) != EMPTY)
            continue;
        memcpy(shelf[slot], stack->nodes, sizeof shelf[slot]);
        stack->count -= CHUNK;
        memmove(stack->nodes, stack->nodes + CHUNK, stack->count * sizeof *stack->nodes);
        shmem_fence(); /* the chunk is there before its slot says so */
        shmem_atomic_set(&state[slot], FULL, me);
    }
}

/* Takes a chunk of a PE, if there is one and nobody else takes it. */
static bool take(struct stack *stack, int pe, int slot)
{
    struct node chunk[CHUNK];
    if (shmem_atomic_compare_swap(&state[slot], FULL, TAKEN, pe) != FULL)
        return false;
    shmem_getmem(chunk, shelf[slot], sizeof chunk, pe);
    shmem_atomic_set(&state[slot], EMPTY, pe);
    for (int i = 0; i < CHUNK; i++)
        push(stack, chunk[i]);
    return true;
}

static bool take_back(struct stack *stack)
{
    for (int slot = 0; slot < SLOTS; slot++)
        if (take(stack, shmem_my_pe(), slot))
            return true;
    return false;
}

/* One round over the others, from a random one on. A PE that finds a full slot counts as busy before it tries. */
static bool steal(struct stack *stack, uint64_t *random)
{
    const int me = shmem_my_pe(), n = shmem_n_pes();
    *random = scramble(*random);
    for (int k = 0; k < n; k++) {
        const int pe = (int)((*random + (uint64_t)k) % (uint64_t)n);
        for (int slot = 0; slot < SLOTS && pe != me; slot++) {
            if (shmem_atomic_fetch(&state[slot], pe) != FULL)
                continue;
            shmem_atomic_inc(&busy, 0);
            shmem_quiet();
            if (take(stack, pe, slot))
                return true;
            shmem_atomic_add(&busy, -1, 0);
        }
    }
    return false;
}

static struct tally search(void)
{
    struct stack stack = {0};
    struct tally tally = {0};
    uint64_t random = scramble((uint64_t)shmem_my_pe());
    if (shmem_my_pe() == 0)
        plant(&stack);
    for (;;) {
        while (stack.count) {
            visit(&stack, &tally);
            if (stack.count >= 2 * CHUNK)
                lay_out(&stack);
        }
        if (take_back(&stack))
            continue;
        shmem_atomic_add(&busy, -1, 0);
        shmem_quiet();
        while (!steal(&stack, &random)) {
            if (shmem_atomic_fetch(&busy, 0) == 0) {
                free(stack.nodes);
                return tally;
            }
            sched_yield();
        }
        tally.stolen++;
    }
}

static struct tally search_alone(void)
{
    struct stack stack = {0};
    struct tally tally = {0};
    plant(&stack);
    while (stack.count)
        visit(&stack, &tally);
    free(stack.nodes);
    return tally;
}

int main(int argc, char **argv)
{
    static const struct setting settings[] = {
        {'d', &depth_limit, 1, 1000, "depth of the tree"},
        {'c', &children, 1, 1000, "children of a node, on average"},
        {'s', &seed, 0, INT32_MAX, "which tree"},
    };
    shmem_init();
    read_settings(argc, argv, "Counts the nodes of an unbalanced tree; who is idle takes work from others.", settings,
                  3);
    const int me = shmem_my_pe(), n = shmem_n_pes();
    busy = n;

    shmem_barrier_all();
    const double start = seconds();
    const struct tally mine = search();
    shmem_barrier_all();
    const double time = seconds() - start;

    const long nodes = sum_of_all(mine.nodes), leaves = sum_of_all(mine.leaves), stolen = sum_of_all(mine.stolen);
    const long deepest = largest_of_all(mine.deepest), most = largest_of_all(mine.nodes);
    long wrong = 0;
    if (me == 0) {
        const struct tally expected = search_alone();
        printf("tree_search: %.2f million nodes/s, %ld nodes, %ld leaves, depth %ld on %d PEs in %.3f s; %ld chunks "
               "stolen, "
               "most on one PE %ld\n",
               (double)nodes / time * 1e-6, nodes, leaves, deepest, n, time, stolen, most);
        wrong = (nodes != expected.nodes) + (leaves != expected.leaves) + (deepest != expected.deepest);
    }
    const int status = verdict(wrong);
    shmem_finalize();
    return status;
}
