// SPDX-License-Identifier: Apache-2.0
// Six processes use a pool for all that it is for, and are killed at random and replaced, for some seconds. At the end
// everything is accounted for, and nothing is left.
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leaks.h"
#include "pool_look.h"
#include "shmemx.h"

enum { WORKERS = 6, HAVE = 60, KEYS = 32, NAMES = 40 };
#define MAGIC UINT64_C(0x70c0ffee5ca1ab1e)

enum { ALLOCS, FREES, KEEPS, EXPORTS, IMPORTS, REVOKES, NAMINGS, FINDS, GROWS, FOREIGN, FULL, COUNTS };
static const char *const count_names[COUNTS] = {
    "allocations",       "frees",   "keeps", "exports", "imports",
    "revocations",       "namings", "finds", "growths", "frees of others' names",
    "times without room"};
static struct shared {
    _Atomic unsigned long counts[COUNTS];
    _Atomic int broken;
    char text[1100];
    char keys[KEYS][SHMEMX_KEY_TEXT]; /* torn ones are no keys */
} * shared;
static shmemx_pool_t pool;
static pid_t first; /* the process that looks at the end */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((format(printf, 2, 3), noreturn)) static void broken(int line, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (atomic_exchange(&shared->broken, 1) == 0)
        snprintf(shared->text, sizeof shared->text, "line %d: %s (last error: %.300s)", line, text,
                 shmemx_last_error());
    if (getpid() == first)
        printf("not ok - %s\n", shared->text);
    fflush(stdout);
    _exit(1);
}
#define BROKEN(...) broken(__LINE__, __VA_ARGS__)

static void count(int what)
{
    atomic_fetch_add_explicit(&shared->counts[what], 1, memory_order_relaxed);
}

/* ---- buffers: a head that says what must stand in the rest ---- */

struct content {
    uint64_t magic, words, pattern;
};

static void fill(void *p, size_t size, uint64_t pattern)
{
    struct content *c = p;
    c->words = size / 8;
    c->pattern = pattern;
    for (uint64_t i = 3; i < c->words; i++)
        ((uint64_t *)p)[i] = pattern + i;
    c->magic = MAGIC ^ pattern ^ c->words;
}

static bool is_whole(const void *p, size_t most)
{
    const struct content *c = p;
    if (c->magic != (MAGIC ^ c->pattern ^ c->words) || c->words > most / 8)
        return false;
    for (uint64_t i = 3; i < c->words; i++)
        if (((const uint64_t *)p)[i] != c->pattern + i)
            return false;
    return true;
}

/* ---- a worker ---- */

struct buffer {
    void *p;
    size_t size;
    uint64_t pattern;
};
static struct buffer have[HAVE];
static unsigned having;
static uint64_t seed;
static unsigned me; /* of the six */

static size_t random_size(void)
{
    uint64_t r = next_random(&seed);
    return 24 + (r % 16 == 0  ? next_random(&seed) % 200000
                 : r % 4 == 0 ? next_random(&seed) % 20000
                              : next_random(&seed) % 600);
}

static void check(const struct buffer *b)
{
    const struct content *c = b->p;
    if (!is_whole(b->p, b->size) || c->pattern != b->pattern)
        BROKEN("a buffer of %zu bytes was changed", b->size);
}

static void allocate(void)
{
    static const size_t aligns[] = {0, 0, 0, 256, 4096, 65536};
    struct buffer b = {.size = random_size(), .pattern = next_random(&seed)};
    if (having == HAVE)
        return;
    unsigned flags = next_random(&seed) % 40 == 0 ? SHMEMX_OWN : next_random(&seed) % 5 == 0 ? SHMEMX_ZERO : 0;
    int rc = shmemx_pool_alloc(pool, b.size, aligns[next_random(&seed) % 6] * !(flags & SHMEMX_OWN), flags, &b.p);
    if (rc == -ENOMEM || rc == -EMFILE) {
        count(FULL);
        return;
    }
    if (rc < 0)
        BROKEN("alloc gave %d", rc);
    fill(b.p, b.size, b.pattern);
    have[having++] = b;
    count(ALLOCS);
}

static struct buffer *any(void)
{
    return having ? &have[next_random(&seed) % having] : NULL;
}

static void give(void)
{
    struct buffer *b = any();
    if (!b)
        return;
    check(b);
    int rc = shmemx_pool_free(pool, b->p);
    if (rc < 0)
        BROKEN("free gave %d", rc);
    *b = have[--having];
    count(FREES);
}

static void keep(void)
{
    struct buffer *b = any();
    int rc = b ? shmemx_pool_keep(pool, b->p) : -EINVAL;
    if (rc < 0 && rc != -EINVAL)
        BROKEN("keep gave %d", rc);
    count(KEEPS);
}

static void export(void)
{
    char key[SHMEMX_KEY_TEXT];
    struct buffer *b = any();
    int rc = b ? shmemx_export(b->p, b->size, NULL, key) : 0;
    if (rc < 0)
        BROKEN("export gave %d", rc);
    if (b)
        memcpy(shared->keys[next_random(&seed) % KEYS], key, sizeof key);
    count(EXPORTS);
}

static void use_key(bool revoke)
{
    char key[SHMEMX_KEY_TEXT];
    shmemx_import_t import;
    memcpy(key, shared->keys[next_random(&seed) % KEYS], sizeof key);
    key[sizeof key - 1] = '\0';
    if (!*key)
        return;
    int rc = revoke ? shmemx_revoke(key, 0)
                    : shmemx_import(key, (shmemx_import_mode_t)(next_random(&seed) % 4), NULL, &import);
    if (rc < 0 && rc != -EINVAL && rc != -ENOKEY && rc != -EKEYREVOKED && rc != -EKEYEXPIRED && rc != -EACCES)
        BROKEN("%s gave %d", revoke ? "revoke" : "import", rc);
    if (rc == 0 && !revoke && (rc = shmemx_import_close(import)) < 0)
        BROKEN("closing an import gave %d", rc);
    count(revoke ? REVOKES : IMPORTS);
}

static int init(void *buffer, void *context)
{
    fill(buffer, *(size_t *)context, next_random(&seed));
    return 0;
}

static void name(void)
{
    char text[16];
    void *p;
    size_t size = random_size();
    snprintf(text, sizeof text, "n%u", (unsigned)(next_random(&seed) % NAMES));
    struct buffer *b = next_random(&seed) % 4 == 0 ? any() : NULL;
    int rc = b ? shmemx_pool_name(pool, text, b->p, b->size, text, strlen(text))
               : shmemx_pool_alloc_named(pool, text, size, 0, text, strlen(text), init, &size, &p);
    if (rc < 0 && rc != -EEXIST && rc != -ENOMEM && rc != -EINVAL)
        BROKEN("naming gave %d", rc);
    if (b && rc == 0)
        *b = have[--having]; /* whoever finds it frees it */
    count(NAMINGS);
}

static void find(void)
{
    char text[16];
    shmemx_named_t n;
    unsigned number = (unsigned)(next_random(&seed) % NAMES);
    snprintf(text, sizeof text, "n%u", number);
    int rc = shmemx_pool_find(pool, text, &n);
    if (rc < 0 && rc != -ENOENT)
        BROKEN("find gave %d", rc);
    if (rc == 0 &&
        (strcmp(n.name, text) != 0 || n.note_bytes != strlen(text) || memcmp(n.note, text, n.note_bytes) != 0))
        BROKEN("a name is not whole");
    count(FINDS);
    if (rc < 0 || number % WORKERS != me || next_random(&seed) % 2) /* two that free what they found free too much */
        return;
    rc = next_random(&seed) % 8 ? shmemx_pool_free(pool, n.address) : shmemx_pool_unname(pool, text);
    if (rc < 0 && rc != -EINVAL && rc != -ENOENT) /* somebody was faster */
        BROKEN("freeing what has a name gave %d", rc);
    count(FOREIGN);
}

static void grow(void)
{
    shmemx_pool_stats_t s;
    int rc = shmemx_pool_stats(pool, &s);
    if (rc == 0 && s.size + 65536 <= s.max_size)
        rc = shmemx_pool_grow(pool, s.size + 65536);
    if (rc < 0)
        BROKEN("grow gave %d", rc);
    count(GROWS);
}

__attribute__((noreturn)) static void work(uint64_t start, unsigned number)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    seed = start;
    me = number;
    for (;;) {
        unsigned what = (unsigned)(next_random(&seed) % 100);
        if (what < 44)
            allocate();
        else if (what < 86)
            give();
        else if (what < 87)
            keep();
        else if (what < 89)
            export();
        else if (what < 92)
            use_key(what == 89);
        else if (what < 95)
            name();
        else if (what < 99 || next_random(&seed) % 20)
            find();
        else
            grow();
    }
}

/* ---- the killer ---- */

static pid_t start(uint64_t *chance, unsigned number)
{
    uint64_t own = next_random(chance) | 1;
    pid_t pid = fork();
    if (pid == 0)
        work(own, number);
    return pid;
}

/* Folders of our own, where nobody else puts files: only root gets them, and only then they are looked at. */
static bool have_own_folders(void)
{
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/dev/shm", "tmpfs", 0, NULL) == 0 && mount("none", "/tmp", "tmpfs", 0, NULL) == 0;
}

static unsigned files_in(const char *path)
{
    unsigned files = 0;
    DIR *directory = opendir(path);
    for (struct dirent *e; directory && (e = readdir(directory));)
        files += *e->d_name != '.';
    if (directory)
        closedir(directory);
    return files;
}

/* What is left is kept for a reason, whole, and can be freed; and then there is nothing. */
static void account(void)
{
    static struct look l;
    shmemx_pool_stats_t s;
    struct shmemi_pool *inner = (struct shmemi_pool *)(void *)pool;
    if (shmemx_pool_stats(pool, &s) < 0)
        BROKEN("stats");
    look_all(inner, &l);
    if (*l.wrong)
        BROKEN("%s", l.wrong);
    if (s.members != 1 || s.in_use != l.used || s.buffers != l.count || s.owned)
        BROKEN("%u members, %zu bytes in %zu buffers; there are %llu in %u", s.members, s.in_use, s.buffers,
               (unsigned long long)l.used, l.count);
    unsigned states[8] = {0};
    for (unsigned i = 0; i < l.count; i++) {
        const struct look_block *b = &l.blocks[i];
        states[b->state]++;
        if (b->state != SHMEMI_BLOCK_KEPT && b->state != SHMEMI_BLOCK_EXPORTED && b->state != SHMEMI_BLOCK_NAMED)
            BROKEN("a block is left in state %d", b->state);
        if (!is_whole(inner->payload + b->offset, b->bytes))
            BROKEN("a block that was kept, in state %d, is not whole", b->state);
        if (look_names(inner, b->offset) && b->state != SHMEMI_BLOCK_NAMED)
            BROKEN("a name of a block in state %d", b->state);
    }
    printf("# left: %u kept, %u exported, %u named; the pool has %zu bytes, %u members died\n",
           states[SHMEMI_BLOCK_KEPT], states[SHMEMI_BLOCK_EXPORTED], states[SHMEMI_BLOCK_NAMED], s.size, s.died);
    for (unsigned i = 0; i < l.count; i++)
        if (shmemx_pool_free(pool, inner->payload + l.blocks[i].offset) < 0)
            BROKEN("freeing what was kept");
    shmemx_named_t n;
    uint64_t cursor = 0;
    void *p;
    if (shmemx_pool_next_name(pool, &cursor, &n) != 0)
        BROKEN("the name %s is left", n.name);
    if (shmemx_pool_alloc(pool, s.max_size, 0, 0, &p) == 0 && shmemx_pool_free(pool, p) < 0)
        BROKEN("freeing all");
    if (shmemx_pool_stats(pool, &s) < 0 || s.in_use || s.largest_free != s.size || inner->state->taken)
        BROKEN("the empty pool has %zu bytes in use, and of %zu free ones %zu in one piece", s.in_use, s.size,
               s.largest_free);
}

static unsigned long run(double seconds, uint64_t *chance)
{
    pid_t pids[WORKERS];
    unsigned long kills = 0;
    for (int i = 0; i < WORKERS; i++)
        pids[i] = start(chance, (unsigned)i);
    double end = now() + seconds;
    while (now() < end && !shared->broken) {
        usleep((useconds_t)(next_random(chance) % 12000));
        int k = (int)(next_random(chance) % WORKERS);
        kill(pids[k], SIGKILL);
        waitpid(pids[k], NULL, 0);
        kills++;
        pids[k] = start(chance, (unsigned)k);
    }
    for (int i = 0; i < WORKERS; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    return kills + WORKERS;
}

static void too_long(int signal)
{
    (void)signal;
    static const char text[] = "not ok - it hangs\n";
    if (write(1, text, sizeof text - 1) > 0)
        _exit(1);
}

int main(void)
{
    static char text[4096];
    const char *given = getenv("SHMEM_TEST_SEED"), *time_given = getenv("SHMEM_TEST_SECONDS");
    uint64_t chance = given ? strtoull(given, NULL, 0) : (uint64_t)getpid() * 2654435761u + (uint64_t)(now() * 1e6);
    double seconds = time_given ? atof(time_given) : 5;
    printf("# seed %llu\n", (unsigned long long)chance);
    fflush(stdout);
    chance |= 1;
    signal(SIGALRM, too_long);
    alarm((unsigned)seconds + 30);
    first = getpid();
    bool own_folders = have_own_folders();
    leaks_begin();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    attr.size = 8 << 20;
    attr.max_size = 48 << 20;
    attr.grow = 1;
    unsigned long kills = 0;
    if (shmemx_pool_create(&attr, &pool) < 0) {
        printf("not ok - making a pool: %s\n", shmemx_last_error());
        return 1;
    }
    kills = run(seconds, &chance);
    if (!shared->broken)
        account();
    if (shmemx_pool_close(pool) < 0)
        BROKEN("close");
    for (int i = 0; i < COUNTS; i++)
        printf("# %lu %s\n", shared->counts[i], count_names[i]);
    printf("%s - %lu kills among six processes at work %s\n", shared->broken ? "not ok" : "ok", kills, shared->text);
    bool bad = shared->broken;
    munmap(shared, sizeof *shared);
    if (!leaks_none(text, sizeof text) || (own_folders && files_in("/dev/shm") + files_in("/tmp") != 0)) {
        printf("not ok - something is left %s\n", text);
        bad = true;
    }
    return bad;
}
