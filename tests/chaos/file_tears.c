// SPDX-License-Identifier: Apache-2.0
// What a power loss leaves of a file, and what else can be wrong with one.
//
// A disk has of each page either what it had at the last time that all was written (fdatasync), or something later. So
// at random moments, also in the middle of a flush, pages of both states are mixed, and the mixture is opened: it has
// to be whole, and all that the last flush covered and nobody touched since has to be in it.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leaks.h"
#include "pool_look.h"
#include "shmemx.h"

enum { PAGE = 4096, SIZE = 512 << 10, OBJECTS = 48 };
static char path[128], torn[140];
static shmemx_pool_t pool;
static uint64_t chance;
static unsigned mixtures, in_flush, damaged, refused;

/* What must be found. touched: since the last flush, or not covered by it. */
static struct object {
    uint64_t offset, pattern;
    size_t size;
    bool there, touched, named;
    char name[16];
} objects[OBJECTS];

static char *durable; /* the file as it is on disk for certain */
static size_t durable_bytes;
static bool watching; /* flushes are looked into */

static uint64_t next_random(void)
{
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return chance * 2685821657736338717u;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((format(printf, 2, 3), noreturn)) static void fail_at(int line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("not ok - line %d: %s (last error: %s)\n", line, text, shmemx_last_error());
    fflush(stdout);
    unlink(path);
    unlink(torn);
    _exit(1);
}
#define FAIL(...) fail_at(__LINE__, __VA_ARGS__)
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int ok_rc = (call);                                                                                            \
        if (ok_rc < 0)                                                                                                 \
            FAIL("%s gave %d", #call, ok_rc);                                                                          \
    } while (0)

static struct shmemi_pool *inner(shmemx_pool_t p)
{
    return (struct shmemi_pool *)(void *)p;
}

static char *read_file(const char *from, size_t *bytes)
{
    struct stat st;
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        FAIL("reading %s", from);
    *bytes = (size_t)st.st_size;
    char *data = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    return data;
}

static void write_file(const char *to, const char *data, size_t bytes)
{
    static const char zeros[PAGE];
    int fd = open(to, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        FAIL("writing %s", to);
    for (size_t at = 0; at < bytes; at += PAGE) {
        size_t n = bytes - at < PAGE ? bytes - at : PAGE;
        if (memcmp(data + at, zeros, n) != 0 && pwrite(fd, data + at, n, (off_t)at) != (ssize_t)n)
            FAIL("writing %s", to);
    }
    close(fd);
}

/* ---- objects ---- */

static void fill(char *p, size_t size, uint64_t pattern)
{
    for (size_t i = 0; i + 8 <= size; i += 8, pattern += 3)
        memcpy(p + i, &pattern, 8);
}

static bool is_filled(const char *p, size_t size, uint64_t pattern)
{
    for (size_t i = 0; i + 8 <= size; i += 8, pattern += 3)
        if (memcmp(p + i, &pattern, 8) != 0)
            return false;
    return true;
}

static void make_object(struct object *o)
{
    void *p;
    struct object n = {.pattern = next_random(), .there = true, .touched = true, .named = next_random() % 2 == 0};
    n.size = 64 + next_random() % (next_random() % 6 ? 1500 : 60000);
    snprintf(n.name, sizeof n.name, "o%d", (int)(o - objects));
    int rc = n.named ? shmemx_pool_alloc_named(pool, n.name, n.size, 0, n.name, strlen(n.name), NULL, NULL, &p)
                     : shmemx_pool_alloc(pool, n.size, 0, 0, &p);
    if (rc == -ENOMEM)
        return;
    OK(rc);
    n.offset = (uint64_t)((char *)p - inner(pool)->payload);
    fill(p, n.size, n.pattern);
    *o = n;
}

static void change_something(void)
{
    struct object *o = &objects[next_random() % OBJECTS];
    if (!o->there) {
        if (!o->touched || next_random() % 2) /* what the flush covers stays expected */
            make_object(o);
        return;
    }
    o->touched = true;
    char *p = inner(pool)->payload + o->offset;
    if (next_random() % 3 == 0) {
        o->pattern = next_random();
        fill(p, o->size, o->pattern);
    } else {
        OK(shmemx_pool_free(pool, p));
        o->there = false;
    }
}

/* ---- a mixture ---- */

static void check_objects(shmemx_pool_t p, const char *mode)
{
    static struct look l;
    l.count = 0;
    *l.wrong = '\0';
    look_units(inner(p), &l);
    if (*l.wrong)
        FAIL("mode %s: %s", mode, l.wrong);
    for (unsigned i = 0; i < OBJECTS; i++) {
        const struct object *o = &objects[i];
        shmemx_named_t n;
        if (!o->there || o->touched)
            continue;
        struct look_block *b = look_claim(&l, o->offset);
        if (!b || b->bytes < o->size || !is_filled(inner(p)->payload + o->offset, o->size, o->pattern))
            FAIL("mode %s: object %u is %s", mode, i, b ? "damaged" : "gone");
        if (o->named &&
            (shmemx_pool_find(p, o->name, &n) < 0 || (char *)n.address != inner(p)->payload + o->offset ||
             n.bytes != o->size || n.note_bytes != strlen(o->name) || memcmp(n.note, o->name, n.note_bytes) != 0))
            FAIL("mode %s: the name of object %u is gone", mode, i);
    }
}

/* Allocating and freeing works, and lies over nothing. */
static void use(shmemx_pool_t p)
{
    void *made[20];
    unsigned count = 0;
    for (; count < 20; count++) {
        size_t size = 1 + next_random() % 30000;
        if (shmemx_pool_alloc(p, size, 0, 0, &made[count]) < 0)
            break;
        memset(made[count], 0xee, size);
    }
    check_objects(p, "rw, in use");
    while (count)
        OK(shmemx_pool_free(p, made[--count]));
}

static void open_mixture(void)
{
    static const char *const modes[] = {"r", "cow", "rw", "rw"};
    bool was = watching;
    watching = false;
    for (int i = 0; i < 4; i++) {
        shmemx_pool_t p;
        OK(shmemx_file_open(torn, modes[i], &p));
        check_objects(p, modes[i]);
        if (i > 0)
            use(p);
        OK(shmemx_pool_close(p));
    }
    watching = was;
    unlink(torn);
}

static void tear(void)
{
    size_t bytes;
    char *data = read_file(path, &bytes);
    unsigned share = (unsigned)(next_random() % 5); /* of pages that are new, of 4 */
    for (size_t at = 0; at < bytes && at < durable_bytes; at += PAGE)
        if (next_random() % 4 >= share)
            memcpy(data + at, durable + at, PAGE);
    write_file(torn, data, bytes);
    munmap(data, bytes);
    open_mixture();
    mixtures++;
}

static void all_is_durable(void)
{
    if (durable)
        munmap(durable, durable_bytes);
    durable = read_file(path, &durable_bytes);
    for (size_t at = 0; at < durable_bytes; at += PAGE) /* a private copy of each page */
        *(volatile char *)(durable + at) = durable[at];
}

/* The library's. Before it returns nothing is certain, and in the middle of a flush there are several. */
int fdatasync(int fd)
{
    if (watching) {
        for (int i = 0; i < 2; i++)
            tear();
        in_flush++;
    }
    long rc = syscall(SYS_fdatasync, fd);
    if (watching)
        all_is_durable();
    return (int)rc;
}

static void torn_files(double seconds)
{
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    attr.size = SIZE;
    attr.max_size = SIZE;
    OK(shmemx_file_create(path, &attr, &pool));
    OK(shmemx_pool_flush(pool));
    all_is_durable();
    watching = true;
    double end = now() + seconds;
    while (now() < end) {
        for (uint64_t i = next_random() % 40; i; i--)
            change_something();
        for (uint64_t i = next_random() % 3; i; i--)
            tear();
        if (next_random() % 3 == 0) {
            OK(shmemx_pool_flush(pool)); /* fdatasync() above looks on; only what it covered before counts there */
            for (unsigned i = 0; i < OBJECTS; i++)
                objects[i].touched = false;
        }
    }
    watching = false;
    printf("ok - %u mixtures of old and new pages were opened, around %u points of flushes\n", mixtures, in_flush);
}

/* ---- other damage ---- */

/* Opens the damaged file in every way: the right errors, or something whole. */
static void try_damaged(const char *what)
{
    static const char *const modes[] = {"r", "cow", "rw"};
    for (int i = 0; i < 3; i++) {
        shmemx_pool_t p;
        shmemx_pool_stats_t s;
        shmemx_named_t n;
        uint64_t cursor = 0;
        void *q;
        int rc = shmemx_file_open(torn, modes[i], &p);
        damaged++;
        if (rc < 0) {
            refused++;
            if (rc != -EINVAL && rc != -EILSEQ && rc != -EPROTO && rc != -EIO)
                FAIL("%s: opening gave %d", what, rc);
            continue;
        }
        rc = shmemx_pool_stats(p, &s);
        if (rc < 0 && rc != -EIO)
            FAIL("%s: stats gave %d", what, rc);
        if (rc == 0 && s.in_use > s.size)
            FAIL("%s: nonsense in the figures", what);
        while (shmemx_pool_next_name(p, &cursor, &n) == 1)
            if (n.note_bytes > SHMEMX_NOTE_MOST || (char *)n.address < inner(p)->payload)
                FAIL("%s: a name leads elsewhere", what);
        if (i > 0)
            for (int k = 0; k < 5; k++)
                if (shmemx_pool_alloc(p, 1 + next_random() % 50000, 0, 0, &q) == 0) {
                    memset(q, 1, 1);
                    shmemx_pool_free(p, q);
                }
        shmemx_pool_close(p);
    }
    unlink(torn);
}

static void damaged_files(double seconds)
{
    size_t bytes;
    OK(shmemx_pool_close(pool));
    char *data = read_file(path, &bytes);
    size_t control = inner(pool)->at.control_bytes;
    for (size_t slot = 0; slot < 2; slot++)
        for (size_t i = 0; i < sizeof(struct shmemi_pool_slot); i++) { /* one bit of each byte */
            char before = data[slot * PAGE + i];
            data[slot * PAGE + i] = (char)(before ^ 1 << next_random() % 8);
            write_file(torn, data, bytes);
            try_damaged("a byte of the header");
            data[slot * PAGE + i] = before;
        }
    printf("ok - every byte of the header is checked\n");
    double end = now() + seconds;
    for (unsigned i = 0; now() < end; i++) {
        size_t left = i % 4 == 0 ? next_random() % 20000 : next_random() % bytes;
        write_file(torn, data, bytes);
        if (i % 2) {
            if (truncate(torn, (off_t)left) < 0)
                FAIL("truncate");
            try_damaged("truncated");
            continue;
        }
        int fd = open(torn, O_RDWR | O_CLOEXEC);
        for (uint64_t k = 1 + next_random() % 5; k; k--) {
            char noise[PAGE];
            size_t length = 1 + next_random() % (next_random() % 2 ? 16 : PAGE), where = next_random() % control;
            for (size_t b = 0; b < length; b++)
                noise[b] = (char)next_random();
            if (pwrite(fd, noise, length, (off_t)where) < 0)
                FAIL("pwrite");
        }
        close(fd);
        try_damaged("noise in the control part");
    }
    munmap(data, bytes);
    printf("ok - %u openings of damaged files, %u of them refused\n", damaged, refused);
}

/* ---- no room ---- */

static int on_full(const char *where)
{
    char name[200];
    snprintf(name, sizeof name, "%s/file", where);
    shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
    shmemx_pool_t p;
    attr.size = 64 << 20;
    int rc = shmemx_file_create(name, &attr, &p);
    if ((rc != -ENOSPC && rc != -ENOMEM) || access(name, F_OK) == 0)
        FAIL("creating a file of 64 MiB on a disk of 8 gave %d", rc);
    attr.size = 2 << 20;
    attr.max_size = 64 << 20;
    OK(shmemx_file_create(name, &attr, &p));
    void *q;
    OK(shmemx_pool_alloc(p, 1 << 20, 0, 0, &q));
    memset(q, 5, 1 << 20);
    rc = shmemx_pool_grow(p, 48 << 20);
    if (rc != -ENOSPC && rc != -ENOMEM)
        FAIL("growing beyond the disk gave %d", rc);
    size_t size = 2 << 20;
    while (shmemx_pool_grow(p, size + (64 << 10)) == 0)
        size += 64 << 10;
    while (shmemx_pool_alloc(p, 30000, 0, 0, &q) == 0)
        memset(q, 6, 30000); /* to the last block: nothing is killed */
    int flushed = shmemx_pool_flush(p);
    if (flushed < 0 && flushed != -ENOSPC && flushed != -ENOMEM)
        FAIL("flushing on a full disk gave %d", flushed);
    shmemx_pool_stats_t s;
    OK(shmemx_pool_stats(p, &s));
    rc = shmemx_pool_close(p);
    if (rc < 0 && rc != -ENOSPC && rc != -ENOMEM)
        FAIL("closing on a full disk gave %d", rc);
    OK(shmemx_file_open(name, "rw", &p));
    shmemx_pool_stats_t after;
    OK(shmemx_pool_stats(p, &after));
    if (after.in_use != s.in_use || after.size != s.size)
        FAIL("opened again: %zu of %zu bytes instead of %zu of %zu", after.in_use, after.size, s.in_use, s.size);
    shmemx_pool_close(p);
    unlink(name);
    return 0;
}

/* In a child with its own mounts. The exit status says how it went; 77: it could not be tried. */
static void full_disk(const char *what, const char *const commands[])
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        char where[128], command[600];
        snprintf(where, sizeof where, "/tmp/shmem-full-%d", (int)getpid());
        if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
            _exit(77);
        mkdir(where, 0700);
        int status = 0;
        for (int i = 0; commands[i] && status == 0; i++) {
            snprintf(command, sizeof command, commands[i], where, where);
            status = system(command);
        }
        if (status == 0)
            status = on_full(where) << 8;
        else
            status = 77 << 8;
        snprintf(command, sizeof command, "umount %s 2>/dev/null; rm -f %s.image; rmdir %s", where, where, where);
        if (system(command) < 0)
            _exit(1);
        fflush(stdout);
        _exit(status >> 8);
    }
    int status;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        printf("# skip: it takes root, mounts and mkfs.ext4\nok - a full disk: %s # SKIP\n", what);
    else if (status != 0)
        FAIL("on a full disk (%s): status %#x", what, (unsigned)status);
    else
        printf("ok - a full disk: %s\n", what);
}

static void limit_of_sizes(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {.rlim_cur = 4 << 20, .rlim_max = 4 << 20};
        shmemx_pool_attr_t attr = SHMEMX_POOL_ATTR;
        shmemx_pool_t p;
        attr.size = 1 << 20;
        attr.max_size = 32 << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        int rc = shmemx_file_create(torn, &attr, &p);
        if (rc == 0) {
            rc = shmemx_pool_grow(p, 20 << 20);
            shmemx_pool_close(p);
            unlink(torn);
        }
        _exit(rc == -EFBIG ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    if (status != 0 || access(torn, F_OK) == 0)
        FAIL("the limit of file sizes: status %#x", (unsigned)status);
    printf("ok - the limit of file sizes is an error and no signal\n");
}

static void hangs(int signal)
{
    static const char text[] = "not ok - it hangs or crashes\n";
    if (write(1, text, sizeof text - 1) > 0)
        _exit(signal);
}

int main(void)
{
    static char text[4096];
    const char *seed = getenv("SHMEM_TEST_SEED"), *given = getenv("SHMEM_TEST_SECONDS");
    double seconds = given ? atof(given) : 8;
    chance = seed ? strtoull(seed, NULL, 0) : (uint64_t)getpid() * 2654435761u + (uint64_t)(now() * 1e6);
    printf("# seed %llu\n", (unsigned long long)chance);
    chance |= 1;
    setenv("SHMEM_LOG", "error", 0);
    signal(SIGALRM, hangs);
    signal(SIGBUS, hangs);
    alarm((unsigned)seconds + 60);
    const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/shmem-tears-%d", where, (int)getpid());
    snprintf(torn, sizeof torn, "%s.torn", path);
    leaks_begin();
    torn_files(seconds / 2);
    damaged_files(seconds / 4);
    limit_of_sizes();
    full_disk("tmpfs", (const char *const[]){"mount -t tmpfs -o size=8m none %s", NULL});
    full_disk("ext4", (const char *const[]){
                          "truncate -s 8M %s.image && mkfs.ext4 -q -F -O ^has_journal %s.image >/dev/null 2>&1",
                          "mount -o loop %s.image %s 2>/dev/null", NULL});
    munmap(durable, durable_bytes);
    unlink(path);
    if (!leaks_none(text, sizeof text))
        FAIL("%s", text);
    return 0;
}
