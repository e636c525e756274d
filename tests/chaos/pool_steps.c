// SPDX-License-Identifier: Apache-2.0
// A member of a pool is killed at every instant of one operation. Its parent, another member, looks after each kill
// whether it can go on at once, whether what the dead one had went back, and whether nothing else was lost.
//
// The instants are: after each store to the shared control part, and after each system call, in random order; then so
// many instructions after a random one of these, for as long as there is time. SHMEM_TEST_FULL=1: all of these, and
// every instruction of operations that have at most FULL_STEPS. SHMEM_TEST_SEED, SHMEM_TEST_SECONDS: another choice.
#include "steps.h"

#if STEPS_POSSIBLE

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <time.h>

#include "base/error.h"
#include "pool_look.h"
#include "shmemx.h"

enum {
    UNITS = 192,
    LARGE = 36 << 10 /* a run of units: not of a class */,
    OWNS = 16,
    TOLD = 512,
    FULL_STEPS = 20000,
    SMALL = 64,
    ANY_SIZE = 200
};
static const char *const usual_words = "a name", *const other_words = "another name";

/* ---- what child and parent tell each other ---- */

static struct told {
    struct steps steps;
    volatile int rc;
    volatile uint64_t offset;     /* that the operation gave */
    volatile uint64_t made[TOLD]; /* what the child had allocated before */
    volatile unsigned count;
    char key[SHMEMX_KEY_TEXT];
} * told;

/* ---- the parent's pool ---- */

static struct {
    shmemx_pool_t pool;
    bool file, alone; /* alone: the parent has it open only to look */
    char path[128], key[SHMEMX_KEY_TEXT];
    uint64_t offset[OWNS]; /* of what the parent has, filled with a pattern */
    size_t bytes[OWNS];
    unsigned count;
    uint64_t victim, extra; /* of the operation */
    char victim_key[SHMEMX_KEY_TEXT];
    int before_died;
} w;

static struct look looked;
static jmp_buf out_of_it;
static char where[256];
static uint64_t chance;
static unsigned long stores_of_all; /* that the operation makes */
static unsigned long unreported;    /* blocks that were allocated for good when the call had not returned yet */

static uint64_t next_random(void)
{
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return chance * 2685821657736338717u;
}

__attribute__((format(printf, 2, 3), noreturn)) static void fail_at(int line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("    %s: line %d: %s (last error: %s)\n", where, line, text, shmemx_last_error());
    longjmp(out_of_it, 1);
}
#define FAIL(...) fail_at(__LINE__, __VA_ARGS__)
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int ok_rc = (call);                                                                                            \
        if (ok_rc < 0)                                                                                                 \
            FAIL("%s gave %d", #call, ok_rc);                                                                          \
    } while (0)
#define CHILD_OK(call)                                                                                                 \
    do {                                                                                                               \
        if ((call) < 0) {                                                                                              \
            fprintf(stderr, "    in the child: %s: %s\n", #call, shmemx_last_error());                                 \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void hangs(int signal)
{
    (void)signal;
    static const char text[] = "\n    somebody hangs\nnot ok - hang\n";
    if (write(1, where, strlen(where)) < 0 || write(1, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

static struct shmemi_pool *inner(void)
{
    return (struct shmemi_pool *)(void *)w.pool;
}

static char *at(uint64_t offset)
{
    return inner()->payload + offset;
}

static uint64_t offset_of(const void *address)
{
    return (uint64_t)((const char *)address - inner()->payload);
}

static uint64_t take(size_t size, size_t align, unsigned flags)
{
    void *p = NULL;
    OK(shmemx_pool_alloc(w.pool, size, align, flags, &p));
    return offset_of(p);
}

/* One of the parent's. */
static uint64_t have(size_t size, size_t align, unsigned flags)
{
    if (w.count == OWNS)
        FAIL("the test has too many blocks");
    uint64_t offset = take(size, align, flags);
    memset(at(offset), (int)(0x40 + w.count), size);
    w.offset[w.count] = offset;
    w.bytes[w.count++] = size;
    return offset;
}

static void check_bytes(unsigned i)
{
    for (size_t k = 0; k < w.bytes[i]; k++)
        if (at(w.offset[i])[k] != (char)(0x40 + i))
            FAIL("byte %zu of block %u was changed", k, i);
}

static void give(unsigned i)
{
    OK(shmemx_pool_free(w.pool, at(w.offset[i])));
    w.offset[i] = UINT64_MAX;
}

/* The parent's blocks: all kinds, and holes between them. */
static void fill_world(void)
{
    w.count = 0;
    w.victim = w.extra = UINT64_MAX;
    for (int i = 0; i < 3; i++)
        have(SMALL, 0, 0);
    have(ANY_SIZE, 0, 0);
    have(1000, 256, 0);
    unsigned hole = w.count;
    have(LARGE + 2 * 4096, 0, 0);
    have(5000, 0, 0);
    have(40000, 0, SHMEMX_KEEP);
    unsigned aligned = w.count;
    have(2 * 4096, 4 * 4096, 0);
    give(hole);
    give(aligned);
    w.count--;
    w.offset[hole] = take(LARGE, 0, 0); /* in the first hole: two units of it stay */
    w.bytes[hole] = LARGE;
    memset(at(w.offset[hole]), (int)(0x40 + hole), LARGE);
}

static void open_file(const char *mode)
{
    OK(shmemx_file_open(w.path, mode, &w.pool));
}

static void make_world(bool file, bool alone)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    attr.size = UNITS * 4096;
    attr.max_size = 4 * UNITS * 4096;
    w.file = file;
    w.alone = alone;
    if (!file) {
        OK(shmemx_pool_create(&attr, &w.pool));
        OK(shmemx_pool_export(w.pool, w.key));
    } else {
        snprintf(w.path, sizeof w.path, "%s/shmem-steps-%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (int)getpid());
        unlink(w.path);
        OK(shmemx_file_create(w.path, &attr, &w.pool));
    }
    fill_world();
    if (alone) {
        OK(shmemx_pool_close(w.pool));
        w.pool = NULL;
    }
}

static void drop_world(void)
{
    if (w.pool && shmemi_pool_is_open(inner()))
        shmemx_pool_close(w.pool);
    w.pool = NULL;
    if (w.file)
        unlink(w.path);
}

/* ---- what the parent expects after a kill ---- */

static struct look_block *found(uint64_t offset)
{
    for (unsigned i = 0; i < looked.count; i++)
        if (looked.blocks[i].offset == offset)
            return &looked.blocks[i];
    return NULL;
}

static void expect(uint64_t offset, const char *what)
{
    if (!look_claim(&looked, offset))
        FAIL("%s at %llu is gone", what, (unsigned long long)offset);
}

/* What the child had allocated before the operation: stays in a file, and goes back otherwise. */
static void expect_made(unsigned from)
{
    for (unsigned i = from; i < told->count && w.file; i++)
        expect(told->made[i], "what the child had");
}

static void expect_nothing(void)
{
    expect_made(0);
}

/* A block that the child allocated for good: there, if its call returned; at most one otherwise. */
static void expect_kept(void)
{
    expect_made(0);
    if (told->steps.done) {
        expect(told->offset, "what was allocated");
        return;
    }
    struct look_block *b = look_unclaimed(&looked);
    const struct steps_when *when = &told->steps.when;
    if (!b)
        return;
    if (when->kind == STEPS_STORE && when->more == 0 && when->index + 2 < stores_of_all)
        FAIL("a block is allocated for good before the last stores of its call");
    unreported++;
    b->claimed = true;
}

static void expect_taken(void)
{
    if (w.file)
        expect_kept();
    else
        expect_made(0);
}

static bool is_named(const char *name, struct shmemi_named *out)
{
    shmemx_named_t n;
    int rc = shmemx_pool_find(w.pool, name, &n);
    if (rc < 0 && rc != -ENOENT)
        FAIL("find gave %d", rc);
    if (rc < 0)
        return false;
    out->address = n.address;
    out->bytes = n.bytes;
    out->note_bytes = n.note_bytes;
    if (strcmp(n.name, name) != 0 || n.note_bytes != 4 || memcmp(n.note, "note", 4) != 0)
        FAIL("the name is not whole");
    return true;
}

/* ---- operations ---- */

static uint64_t make(size_t size, unsigned flags)
{
    void *p = NULL;
    CHILD_OK(shmemx_pool_alloc(w.pool, size, 0, flags, &p));
    uint64_t offset = offset_of(p);
    memset(p, 0x11, size);
    told->made[told->count] = offset;
    told->count++;
    return offset;
}

static int act_alloc(size_t size, size_t align, unsigned flags)
{
    void *p = NULL;
    int rc = shmemx_pool_alloc(w.pool, size, align, flags, &p);
    told->offset = offset_of(p);
    return rc;
}

static void prepare_one_small(void)
{
    make(SMALL, 0);
}
static int alloc_small(void)
{
    return act_alloc(SMALL, 0, 0);
}
static int alloc_small_keep(void)
{
    return act_alloc(SMALL, 0, SHMEMX_KEEP);
}
static int alloc_zero(void)
{
    return act_alloc(ANY_SIZE, 0, SHMEMX_ZERO);
}
static int alloc_large(void)
{
    return act_alloc(LARGE, 0, 0);
}
static int alloc_large_aligned(void)
{
    return act_alloc(LARGE, 16 * 4096, 0);
}
static int alloc_large_keep(void)
{
    return act_alloc(LARGE + 4096, 8 * 4096, SHMEMX_KEEP);
}

/* A member that is dead, and left a slab that has a block in it still. */
static void leave_orphan(void)
{
    told->count = 0;
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++)
            make(SMALL, i == 1 ? SHMEMX_KEEP : 0);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    shmemx_pool_stats_t s;
    OK(shmemx_pool_stats(w.pool, &s));
    w.extra = told->made[1];
}
static void expect_orphan(void)
{
    if (!w.file) {
        expect(w.extra, "the kept block of a dead member");
        return;
    }
    expect_kept(); /* and the three of before */
}

/* A member that is dead with many things; the operation is to take them back. */
static void leave_a_lot(void)
{
    told->count = 0;
    pid_t pid = fork();
    if (pid == 0) {
        void *p;
        for (int i = 0; i < 5; i++)
            make(i % 2 ? SMALL : 3000, 0);
        make(LARGE, 0);
        make(SMALL, SHMEMX_KEEP);
        make(LARGE, SHMEMX_KEEP);
        CHILD_OK(shmemx_pool_alloc_named(w.pool, other_words, 100, 0, "note", 4, NULL, NULL, &p));
        told->made[told->count] = offset_of(p);
        told->count++;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}
static int take_back(void)
{
    shmemx_pool_stats_t s;
    return shmemx_pool_stats(w.pool, &s);
}
static void expect_a_lot(void)
{
    struct shmemi_named n;
    for (unsigned i = w.file ? 0 : 6; i < 9; i++)
        expect(told->made[i], "what was kept");
    if (!is_named(other_words, &n) || offset_of(n.address) != told->made[8])
        FAIL("a name was lost");
}

static void prepare_free_small(void)
{
    for (int i = 0; i < 3; i++)
        make(SMALL, 0);
}
static void prepare_free_large(void)
{
    make(LARGE + 4096, 0);
    make(LARGE, 0);
    make(LARGE, 0);
}
static int free_made(void)
{
    return shmemx_pool_free(w.pool, at(told->made[1]));
}
static void expect_freed(void)
{
    struct look_block *b = found(told->made[1]);
    if (told->steps.done && b)
        FAIL("it is still there");
    if (b && w.file)
        look_claim(&looked, told->made[1]);
    for (unsigned i = 0; i < told->count && w.file; i++)
        if (i != 1)
            expect(told->made[i], "what the child had");
}

/* A block of the parent's, which the child frees: in one piece it is there or not, with all that hangs on it. */
static void victim_small(void)
{
    w.victim = take(SMALL, 0, 0);
}
static void victim_large(void)
{
    w.victim = take(LARGE, 0, 0);
}
static void export_victim(void)
{
    OK(shmemx_export(at(w.victim), 64, NULL, w.victim_key));
}
static void name_victim(void)
{
    OK(shmemx_pool_name(w.pool, usual_words, at(w.victim), 64, "note", 4));
}
static void victim_exported(void)
{
    victim_small();
    export_victim();
}
static void victim_exported_large(void)
{
    victim_large();
    export_victim();
}
static void victim_named(void)
{
    victim_small();
    name_victim();
}
static void victim_named_large(void)
{
    victim_large();
    name_victim();
}
static int free_victim(void)
{
    return shmemx_pool_free(w.pool, at(w.victim));
}
static void expect_victim_or_not(enum shmemi_block whole, bool keys, bool names)
{
    struct look_block *b = look_claim(&looked, w.victim);
    if (told->steps.done && b)
        FAIL("it is still there");
    if (b && b->state != whole)
        FAIL("it is in state %d instead of %d", b->state, whole);
    if (look_keys(inner(), w.victim, 64) != (unsigned)(b && keys) ||
        look_names(inner(), w.victim) != (unsigned)(b && names))
        FAIL("the block is %s, and has %u keys and %u names", b ? "there" : "gone", look_keys(inner(), w.victim, 64),
             look_names(inner(), w.victim));
    expect_made(0);
}
static void expect_victim_used(void)
{
    expect_victim_or_not(SHMEMI_BLOCK_USED, false, false);
}
static void expect_victim_exported(void)
{
    expect_victim_or_not(SHMEMI_BLOCK_EXPORTED, true, false);
}
static void expect_victim_named(void)
{
    expect_victim_or_not(SHMEMI_BLOCK_NAMED, false, true);
}

/* So many that the cache overflows, and empty slabs go back. */
static void prepare_overflow(void)
{
    for (int i = 0; i < 200; i++)
        make(SMALL, 0);
    for (int i = 0; i < 62; i++)
        CHILD_OK(shmemx_pool_free(w.pool, at(told->made[i])));
}
static int overflow(void)
{
    for (unsigned i = 62; i < 200; i++) {
        int rc = shmemx_pool_free(w.pool, at(told->made[i]));
        if (rc < 0)
            return rc;
        told->offset = i + 1;
    }
    return 0;
}
static void expect_overflowed(void)
{
    uint64_t freed = told->offset ? told->offset : 62;
    for (uint64_t i = 0; i < 200; i++)
        if (i < freed ? found(told->made[i]) != NULL : w.file && i > freed && !look_claim(&looked, told->made[i]))
            FAIL("block %llu of %llu that were freed", (unsigned long long)i, (unsigned long long)freed);
    if (w.file && freed < 200)
        look_claim(&looked, told->made[freed]); /* just at it */
}

static int fill_up(void) /* beyond what there is: all that makes room */
{
    void *p;
    int rc = shmemx_pool_alloc(w.pool, 2 * UNITS * 4096, 0, 0, &p);
    return rc == -ENOMEM ? 0 : -1;
}
static void prepare_caches(void)
{
    for (int i = 0; i < 40; i++)
        make(i % 2 ? SMALL : 512, 0);
    for (int i = 0; i < 40; i += i % 2 ? 1 : 3)
        CHILD_OK(shmemx_pool_free(w.pool, at(told->made[i])));
}
static void expect_caches(void)
{
    bool freed[40] = {false};
    for (int i = 0; i < 40; i += i % 2 ? 1 : 3)
        freed[i] = true;
    for (unsigned i = 0; i < 40 && w.file; i++)
        if (!freed[i])
            expect(told->made[i], "what the child had");
}

static size_t grown_from;
static void note_size(void)
{
    shmemx_pool_stats_t s;
    OK(shmemx_pool_stats(w.pool, &s));
    grown_from = s.size;
}
static int grow(void)
{
    return shmemx_pool_grow(w.pool, grown_from + 2 * 4096);
}
static void expect_grown(void)
{
    shmemx_pool_stats_t s;
    OK(shmemx_pool_stats(w.pool, &s));
    if (s.size != grown_from + 2 * 4096 && (told->steps.done || s.size != grown_from))
        FAIL("the size is %zu", s.size);
}

static int init_words(void *buffer, void *context)
{
    memset(buffer, 0x77, *(size_t *)context);
    return 0;
}
static int name_new(size_t size, bool init)
{
    void *p = NULL;
    int rc = shmemx_pool_alloc_named(w.pool, usual_words, size, 0, "note", 4, init ? init_words : NULL, &size, &p);
    told->offset = offset_of(p);
    return rc;
}
static int name_new_small(void)
{
    return name_new(ANY_SIZE, false);
}
static int name_new_with_init(void)
{
    return name_new(ANY_SIZE, true);
}
static int name_new_large(void)
{
    return name_new(LARGE, true);
}
static void expect_named(bool init)
{
    struct shmemi_named n;
    bool there = is_named(usual_words, &n);
    if (told->steps.done && !there)
        FAIL("the name is gone");
    if (there) {
        struct look_block *b = look_claim(&looked, offset_of(n.address));
        if (!b || b->state != SHMEMI_BLOCK_NAMED || (told->steps.done && offset_of(n.address) != told->offset))
            FAIL("the name is not that of a block");
        for (size_t i = 0; i < n.bytes && init; i++)
            if (((char *)n.address)[i] != 0x77)
                FAIL("the object is not whole");
    }
    expect_made(0);
}
static void expect_named_raw(void)
{
    expect_named(false);
}
static void expect_named_whole(void)
{
    expect_named(true);
}

static int name_made(void)
{
    return shmemx_pool_name(w.pool, usual_words, at(told->made[0]), 64, "note", 4);
}
static void prepare_large(void)
{
    make(LARGE, 0);
}
static void expect_name_of_made(void)
{
    struct shmemi_named n;
    bool there = is_named(usual_words, &n);
    if (told->steps.done && !there)
        FAIL("the name is gone");
    if (there && offset_of(n.address) != told->made[0])
        FAIL("the name is of another block");
    if (there || w.file)
        expect(told->made[0], "the named block");
    if (found(told->made[0]) && found(told->made[0])->state != (there ? SHMEMI_BLOCK_NAMED : SHMEMI_BLOCK_KEPT))
        FAIL("the named block is in state %d", found(told->made[0])->state);
}
static int name_victims(void)
{
    return shmemx_pool_name(w.pool, usual_words, at(w.victim), 64, "note", 4);
}
static void expect_name_of_victim(void)
{
    struct shmemi_named n;
    bool there = is_named(usual_words, &n);
    if (told->steps.done && !there)
        FAIL("the name is gone");
    struct look_block *b = look_claim(&looked, w.victim);
    if (!b || b->state != (there ? SHMEMI_BLOCK_NAMED : SHMEMI_BLOCK_USED))
        FAIL("the block is in state %d, and the name %s", b ? (int)b->state : -1, there ? "there" : "not");
    expect_made(0);
}
static int unname(void)
{
    return shmemx_pool_unname(w.pool, usual_words);
}
static void expect_unnamed(void)
{
    struct shmemi_named n;
    bool there = is_named(usual_words, &n);
    if (told->steps.done && there)
        FAIL("the name is still there");
    expect(w.victim, "the block without a name");
    expect_made(0);
}

static int export_made(void)
{
    return shmemx_export(at(told->made[0]), 64, NULL, told->key);
}
static void check_key(const char *key, bool works)
{
    shmemx_import_t import;
    int rc = shmemx_import(key, SHMEMX_IMPORT_READ, NULL, &import);
    if (rc == 0)
        shmemx_import_close(import);
    if (works ? rc < 0 : rc != -EKEYREVOKED)
        FAIL("importing gave %d", rc);
}
static void expect_exported(uint64_t offset, bool stays)
{
    unsigned keys = look_keys(inner(), offset, 64);
    if (told->steps.done && keys != 1)
        FAIL("there are %u keys", keys);
    if (told->steps.done && !w.alone)
        check_key(told->key, true);
    if (keys || stays)
        expect(offset, "the exported block");
    struct look_block *b = found(offset);
    enum shmemi_block other = w.file && b && !w.alone && offset == w.victim ? SHMEMI_BLOCK_USED
                              : w.file                                      ? SHMEMI_BLOCK_KEPT
                                                                            : SHMEMI_BLOCK_USED;
    if (b && b->state != (keys ? SHMEMI_BLOCK_EXPORTED : other))
        FAIL("the block is in state %d, and has %u keys", b->state, keys);
}
static void expect_export_of_made(void)
{
    expect_exported(told->made[0], w.file);
}
static int export_victims(void)
{
    return shmemx_export(at(w.victim), 64, NULL, told->key);
}
static void expect_export_of_victim(void)
{
    expect_exported(w.victim, true);
    expect_made(0);
}
static int import_key(void)
{
    shmemx_import_t import;
    int rc = shmemx_import(w.victim_key, SHMEMX_IMPORT_WRITE, NULL, &import);
    return rc < 0 ? rc : shmemx_import_close(import);
}
static void expect_key(void)
{
    expect(w.victim, "the exported block");
    check_key(w.victim_key, true);
    expect_made(0);
}
static int revoke_key(void)
{
    return shmemx_revoke(w.victim_key, 0);
}
static void expect_revoked(void)
{
    expect(w.victim, "the exported block");
    check_key(w.victim_key, look_keys(inner(), w.victim, 64) != 0);
    if (told->steps.done)
        check_key(w.victim_key, false);
    expect_made(0);
}

static int keep_made(void)
{
    return shmemx_pool_keep(w.pool, at(told->made[0]));
}
static void expect_kept_made(void)
{
    bool there = look_claim(&looked, told->made[0]) != NULL;
    if (!there && (w.file || told->steps.done))
        FAIL("what was kept is gone");
}

static void prepare_some(void)
{
    make(SMALL, 0);
    make(LARGE, 0);
    make(ANY_SIZE, SHMEMX_KEEP);
    make(LARGE, SHMEMX_KEEP);
}
static int close_it(void)
{
    return shmemx_pool_close(w.pool);
}
static void expect_some(void)
{
    for (unsigned i = w.file ? 0 : 2; i < 4; i++)
        expect(told->made[i], "what was kept");
}

static int attach(void)
{
    shmemx_pool_t again;
    int rc = w.file ? shmemx_file_open(w.path, "rw", &again) : shmemx_pool_open(w.key, &again);
    return rc < 0 ? rc : 0;
}

static int alloc_own(void)
{
    void *p;
    return shmemx_pool_alloc(w.pool, 5000, 0, SHMEMX_OWN, &p);
}
static void *own_of_child;
static void prepare_own(void)
{
    CHILD_OK(shmemx_pool_alloc(w.pool, 5000, 0, SHMEMX_OWN, &own_of_child));
}
static int free_own(void)
{
    return shmemx_pool_free(w.pool, own_of_child);
}
static int flush(void)
{
    return shmemx_pool_flush(w.pool);
}

enum { COLD = 1, MEMORY = 2, FILES = 4, FRESH = 8, NOT_ALONE = 16, FORKED = 32 };
static const struct op {
    const char *name;
    void (*setup)(void);   /* in the parent */
    void (*prepare)(void); /* in the child, which is attached then; not killed here */
    int (*act)(void);
    void (*judge)(void);
    unsigned flags; /* COLD, FORKED: the child is not attached before; FRESH: a new pool every time */
} ops[] = {
    {"alloc small", NULL, prepare_one_small, alloc_small, expect_taken, 0},
    {"alloc small, a new slab", NULL, NULL, alloc_small, expect_taken, 0},
    {"alloc small, an orphan's slab", leave_orphan, NULL, alloc_small, expect_orphan, NOT_ALONE},
    {"alloc small, kept", NULL, prepare_one_small, alloc_small_keep, expect_kept, 0},
    {"alloc with zeros", NULL, NULL, alloc_zero, expect_taken, 0},
    {"alloc large", NULL, NULL, alloc_large, expect_taken, 0},
    {"alloc large, aligned", NULL, NULL, alloc_large_aligned, expect_taken, 0},
    {"alloc large, kept", NULL, NULL, alloc_large_keep, expect_kept, 0},
    {"alloc with a segment of its own", NULL, prepare_one_small, alloc_own, expect_nothing, MEMORY},
    {"alloc without room", NULL, prepare_caches, fill_up, expect_caches, 0},
    {"keep small", NULL, prepare_one_small, keep_made, expect_kept_made, 0},
    {"keep large", NULL, prepare_large, keep_made, expect_kept_made, 0},
    {"free small", NULL, prepare_free_small, free_made, expect_freed, 0},
    {"free small of another", victim_small, NULL, free_victim, expect_victim_used, NOT_ALONE},
    {"free large", NULL, prepare_free_large, free_made, expect_freed, 0},
    {"free large of another", victim_large, NULL, free_victim, expect_victim_used, NOT_ALONE},
    {"free exported", victim_exported, NULL, free_victim, expect_victim_exported, NOT_ALONE},
    {"free exported, large", victim_exported_large, NULL, free_victim, expect_victim_exported, NOT_ALONE},
    {"free named", victim_named, NULL, free_victim, expect_victim_named, 0},
    {"free named, large", victim_named_large, NULL, free_victim, expect_victim_named, 0},
    {"free with a segment of its own", NULL, prepare_own, free_own, expect_nothing, MEMORY},
    {"free, the cache overflows", NULL, prepare_overflow, overflow, expect_overflowed, 0},
    {"attach and take back from the dead", leave_a_lot, NULL, take_back, expect_a_lot, NOT_ALONE | FORKED},
    {"grow", note_size, NULL, grow, expect_grown, FRESH},
    {"alloc named", NULL, NULL, name_new_small, expect_named_raw, 0},
    {"alloc named, with init", NULL, prepare_one_small, name_new_with_init, expect_named_whole, 0},
    {"alloc named, large", NULL, NULL, name_new_large, expect_named_whole, 0},
    {"name", NULL, prepare_one_small, name_made, expect_name_of_made, 0},
    {"name large", NULL, prepare_large, name_made, expect_name_of_made, 0},
    {"name another's", victim_small, NULL, name_victims, expect_name_of_victim, NOT_ALONE},
    {"unname", victim_named, NULL, unname, expect_unnamed, 0},
    {"export", NULL, prepare_one_small, export_made, expect_export_of_made, NOT_ALONE},
    {"export large", NULL, prepare_large, export_made, expect_export_of_made, NOT_ALONE},
    {"export another's", victim_small, NULL, export_victims, expect_export_of_victim, NOT_ALONE},
    {"import", victim_exported, NULL, import_key, expect_key, NOT_ALONE},
    {"revoke", victim_exported, NULL, revoke_key, expect_revoked, NOT_ALONE},
    {"flush", NULL, prepare_some, flush, expect_some, FILES},
    {"close", NULL, prepare_some, close_it, expect_some, 0},
    {"attach", NULL, NULL, attach, expect_nothing, COLD},
};
enum { OPS = sizeof ops / sizeof *ops };

/* ---- one kill ---- */

/* What the operation itself maps is protected as soon as it is there; the page of an alive word is the service
   thread's, which is not watched. The linker puts these before the C library's (--wrap). */
static size_t watch_mapping;
void *__real_mmap64(void *, size_t, int, int, int, off_t);
void *__wrap_mmap64(void *, size_t, int, int, int, off_t);
void *__real_mremap(void *, size_t, size_t, int, void *);
void *__wrap_mremap(void *, size_t, size_t, int, void *);

struct shmemi_place;
void __real_shmemi_service_leave_place(struct shmemi_place *);
void __wrap_shmemi_service_leave_place(struct shmemi_place *);

void __wrap_shmemi_service_leave_place(struct shmemi_place *place)
{
    steps_unprotect();
    __real_shmemi_service_leave_place(place);
}

void *__wrap_mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *at = __real_mmap64(address, bytes, protection, flags, fd, offset);
    if (watch_mapping && bytes == watch_mapping && flags & MAP_SHARED && at != MAP_FAILED)
        steps_protect(at, bytes);
    return at;
}

void *__wrap_mremap(void *old, size_t old_bytes, size_t bytes, int flags, void *to)
{
    void *at = __real_mremap(old, old_bytes, bytes, flags, to);
    if (old_bytes == 0 && at != MAP_FAILED)
        mprotect(at, bytes, PROT_READ | PROT_WRITE);
    return at;
}

static void child(const struct op *op, const struct shmemi_pool_layout *layout)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shmemx_pool_stats_t s;
    bool cold = op->flags & COLD;
    if (w.alone)
        w.pool = NULL;
    if (!(op->flags & (COLD | FORKED))) {
        if (w.alone)
            CHILD_OK(shmemx_file_open(w.path, "rw", &w.pool));
        CHILD_OK(shmemx_pool_stats(w.pool, &s));
    }
    if (op->prepare)
        op->prepare();
    watch_mapping = cold && told->steps.when.kind == STEPS_STORE ? layout->control_bytes : 0;
    steps_begin(&told->steps, cold ? NULL : inner()->control, layout->control_bytes, layout->returned);
    told->rc = op->act();
    steps_end(&told->steps);
}

static void check_parent(const struct op *op)
{
    shmemx_pool_stats_t s;
    OK(shmemx_pool_stats(w.pool, &s));
    look_all(inner(), &looked);
    if (*looked.wrong)
        FAIL("%s", looked.wrong);
    if (s.members != 1 || s.buffers != looked.count || s.in_use != looked.used)
        FAIL("%u members, %zu buffers, %zu bytes in use; there are %u and %llu", s.members, s.buffers, s.in_use,
             looked.count, (unsigned long long)looked.used);
    for (unsigned i = 0; i < w.count; i++) {
        expect(w.offset[i], "a block of the parent");
        check_bytes(i);
    }
    op->judge();
    const struct look_block *left = look_unclaimed(&looked);
    if (left)
        FAIL("a block at %llu is left behind: %llu bytes in state %d", (unsigned long long)left->offset,
             (unsigned long long)left->bytes, left->state);
}

/* The parent goes on working: nothing of it lies over anything else. */
static void go_on(void)
{
    static const size_t sizes[] = {SMALL, ANY_SIZE, 5000, SMALL, LARGE, 1000, LARGE + 4096};
    uint64_t mine[7];
    for (unsigned i = 0; i < 7; i++) {
        mine[i] = take(sizes[i], 0, 0);
        for (unsigned k = 0; k < looked.count; k++)
            if (mine[i] < looked.blocks[k].offset + looked.blocks[k].bytes &&
                looked.blocks[k].offset < mine[i] + sizes[i])
                FAIL("a new block at %llu lies over one at %llu", (unsigned long long)mine[i],
                     (unsigned long long)looked.blocks[k].offset);
        memset(at(mine[i]), 0x22, sizes[i]);
    }
    for (unsigned i = 0; i < 7; i++)
        OK(shmemx_pool_free(w.pool, at(mine[i])));
    for (unsigned i = 0; i < w.count; i++)
        check_bytes(i);
}

/* Frees everything: then all of it is one piece again. */
static void drain(void)
{
    for (unsigned i = 0; i < looked.count; i++)
        OK(shmemx_pool_free(w.pool, at(looked.blocks[i].offset)));
    void *p;
    shmemx_pool_stats_t s;
    if (shmemx_pool_alloc(w.pool, inner()->at.max_units * 4096, 0, 0, &p) != -ENOMEM)
        FAIL("more room than there is");
    OK(shmemx_pool_stats(w.pool, &s));
    if (s.in_use || s.buffers || s.largest_free != s.size || s.free != s.size || inner()->state->taken)
        FAIL("of the empty pool %zu bytes are in use, the largest free piece is %zu of %zu, %llu units are taken",
             s.in_use, s.largest_free, s.size, (unsigned long long)inner()->state->taken);
    shmemx_named_t n;
    uint64_t cursor = 0;
    if (shmemx_pool_next_name(w.pool, &cursor, &n) != 0)
        FAIL("the name '%s' is left", n.name);
}

static void check_reader(void)
{
    static struct look before;
    shmemx_pool_stats_t s;
    before = looked;
    open_file("r");
    OK(shmemx_pool_stats(w.pool, &s));
    looked.count = 0;
    *looked.wrong = '\0';
    look_units(inner(), &looked);
    for (unsigned i = 0; i < w.count; i++) {
        expect(w.offset[i], "for a reader a block of the parent");
        check_bytes(i);
    }
    OK(shmemx_pool_close(w.pool));
    w.pool = NULL;
    looked = before;
}

static void name_the_place(const struct op *op)
{
    static const char *const kinds[] = {"stores", "system calls"};
    const struct steps *s = &told->steps;
    int used = snprintf(where, sizeof where, "%s%s", op->name, w.file ? w.alone ? ", file, alone" : ", file" : "");
    if (s->done)
        snprintf(where + used, sizeof where - (size_t)used, ", killed after it");
    else
        snprintf(where + used, sizeof where - (size_t)used, ", killed after %lu %s and %lu instructions", s->when.index,
                 kinds[s->when.kind], s->when.more);
}

/* A file is closed by everybody and opened again: the same is in it. */
static void reopen(void)
{
    unsigned count = looked.count;
    OK(shmemx_pool_close(w.pool));
    open_file("r");
    look_units(inner(), &looked);
    if (looked.count != count)
        FAIL("a reader finds %u blocks instead of %u", looked.count, count);
    OK(shmemx_pool_close(w.pool));
    open_file("rw");
    look_all(inner(), &looked);
    if (*looked.wrong || looked.count != count)
        FAIL("opened again: %u blocks instead of %u. %s", looked.count, count, looked.wrong);
}

static void refill_world(const struct op *op)
{
    bool file = w.file, alone = w.alone;
    drain();
    if (op->flags & FRESH) {
        drop_world();
        make_world(file, alone);
        return;
    }
    fill_world();
    if (alone) {
        OK(shmemx_pool_close(w.pool));
        w.pool = NULL;
    }
}

static void one(const struct op *op, struct steps_when when, bool measure)
{
    struct shmemi_pool_layout layout;
    int status = 0;
    memset(told, 0, offsetof(struct told, steps.gap));
    memset((void *)(uintptr_t)&told->rc, 0, sizeof *told - offsetof(struct told, rc));
    if (measure)
        memset(told->steps.gap, 0, sizeof told->steps.gap);
    told->steps.when = when;
    told->steps.measure = measure;
    name_the_place(op);
    alarm(30);
    if (w.alone)
        open_file("rw");
    if (op->setup)
        op->setup();
    layout = inner()->at;
    if (w.alone) {
        OK(shmemx_pool_close(w.pool));
        w.pool = NULL;
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        child(op, &layout);
    bool killed = steps_run(pid, &told->steps, &status);
    name_the_place(op);
    if (!killed)
        FAIL("the child ended with status %#x", (unsigned)status);
    if (told->steps.done && told->rc < 0)
        FAIL("the operation gave %d", told->rc);
    if (w.alone) {
        check_reader();
        open_file("rw");
    }
    check_parent(op);
    go_on();
    if (w.file && !w.alone)
        reopen();
    refill_world(op);
}

/* ---- all kills of an operation ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct tally {
    unsigned long kills, stores, calls, seen;
};

/* The numbers from `from` to below `to`, in any order. */
static void shuffle(unsigned long *order, unsigned long from, unsigned long to)
{
    for (unsigned long i = from; i < to; i++)
        order[i] = i;
    for (unsigned long i = to; i > from + 1; i--) {
        unsigned long k = from + next_random() % (i - from), swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

/* Every instruction: so many after each store. */
static void every_instruction(const struct op *op, struct tally *t)
{
    static unsigned gap[STEPS_GAPS];
    one(op, (struct steps_when){.kind = STEPS_STORE, .index = ULONG_MAX}, true);
    unsigned gaps = told->steps.gaps;
    unsigned long sum = 0;
    memcpy(gap, told->steps.gap, sizeof gap);
    for (unsigned i = 0; i <= gaps && i < STEPS_GAPS; i++)
        sum += gap[i];
    for (unsigned i = 0; i <= gaps && i < STEPS_GAPS && sum <= FULL_STEPS; i++)
        for (unsigned k = 0; k < gap[i]; k++, t->kills++)
            one(op, (struct steps_when){.kind = STEPS_STORE, .index = i, .more = k}, false);
}

static struct steps_when instant(const struct tally *t, unsigned long number, unsigned long more)
{
    return number < t->stores ? (struct steps_when){.kind = STEPS_STORE, .index = number + 1, .more = more}
                              : (struct steps_when){.kind = STEPS_CALL, .index = number - t->stores + 1, .more = more};
}

static void all_kills(const struct op *op, double until, bool full, struct tally *t)
{
    one(op, (struct steps_when){.kind = STEPS_STORE, .index = ULONG_MAX}, false);
    t->stores = stores_of_all = told->steps.stores;
    one(op, (struct steps_when){.kind = STEPS_CALL, .index = ULONG_MAX}, false);
    t->calls = told->steps.calls;
    t->kills = 2;
    unsigned long count = t->stores + t->calls, *order = calloc(count + 1, sizeof *order);
    shuffle(order, 0, t->stores);
    shuffle(order, t->stores, count);
    for (unsigned long i = 0; i < count && (full || now() < until); i++, t->kills++, t->seen++)
        one(op, instant(t, order[i], 0), false);
    free(order);
    if (full && !(op->flags & (COLD | FORKED)))
        every_instruction(op, t);
    for (; now() < until; t->kills++) /* anywhere */
        if (count == 0 || next_random() % 4 == 0)
            one(op, (struct steps_when){.kind = STEPS_STORE, .index = 0, .more = next_random() % 400}, false);
        else
            one(op, instant(t, next_random() % count, 1 + next_random() % 300), false);
}

/* Whether it failed. */
static bool run(const struct op *op, bool file, bool alone, double seconds, bool full, unsigned long *kills)
{
    struct tally t = {0};
    double start = now();
    char name[160];
    unreported = 0;
    stores_of_all = 0;
    w.pool = NULL;
    snprintf(name, sizeof name, "%s%s", op->name, file ? alone ? " (file, nobody else)" : " (file)" : "");
    if (setjmp(out_of_it)) {
        alarm(0);
        drop_world();
        printf("not ok - %s\n", name);
        return true;
    }
    make_world(file, alone);
    all_kills(op, start + seconds, full, &t);
    alarm(0);
    drop_world();
    printf("ok - %s: %lu kills, after %lu of %lu stores and system calls", name, t.kills, t.seen, t.stores + t.calls);
    if (unreported)
        printf("; %lu blocks stayed whose call was just returning", unreported);
    printf("\n");
    *kills += t.kills;
    return false;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    bool wanted = argc <= 1;
    for (int i = 1; i < argc; i++)
        wanted |= strcmp(name, argv[i]) == 0;
    return wanted;
}

int main(int argc, char **argv)
{
    static char text[4096];
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *full = getenv("SHMEM_TEST_FULL"), *seed = getenv("SHMEM_TEST_SEED"),
               *time = getenv("SHMEM_TEST_SECONDS");
    double seconds = time ? atof(time) : 10.0;
    chance = seed ? strtoull(seed, NULL, 0) : (uint64_t)getpid() * 2654435761u + (uint64_t)(now() * 1e6);
    printf("# seed %llu\n", (unsigned long long)chance);
    chance |= 1;
    leaks_begin();
    signal(SIGALRM, hangs);
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    steps_one_core();
    unsigned failed = 0, runs = 0, at_run = 0;
    unsigned long kills = 0;
    double start = now();
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < 3 * OPS; i++) {
            const struct op *op = &ops[i / 3];
            bool file = i % 3 != 0, alone = i % 3 == 2;
            if ((file && op->flags & MEMORY) || (!file && op->flags & FILES) || (alone && op->flags & NOT_ALONE) ||
                !is_wanted(op->name, argc, argv))
                continue;
            if (pass == 0)
                runs++;
            else
                failed += run(op, file, alone, (seconds - (now() - start)) / (runs - at_run++), full && *full, &kills);
        }
    munmap(told, sizeof *told);
    if (!leaks_none(text, sizeof text)) {
        printf("%s\nnot ok - leaks\n", text);
        failed++;
    }
    printf("# %lu kills in %.1f s\n", kills, now() - start);
    return failed ? 1 : 0;
}

#else

int main(void)
{
    printf("single stores are told apart on x86-64 only, and without sanitizers\n");
    return 77;
}

#endif
