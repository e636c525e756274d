// SPDX-License-Identifier: Apache-2.0
// Host memory: seals, checks of what a peer sends, reserving pages, giving them back, limits; rights across users; page
// sizes, nodes, locking.
#include "unit.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cgroup.h"
#include "hal/hal.h"

static const struct shmemi_hal *const host = &shmemi_hal_host;
enum { MIB = 1 << 20 };

static size_t bytes_taken(int handle)
{
    struct stat st;
    assert_int_equal(fstat(handle, &st), 0);
    return (size_t)st.st_blocks * 512;
}

static void registry(void **state)
{
    (void)state;
    assert_ptr_equal(shmemi_hal(SHMEMI_MEMORY_HOST), host);
    assert_int_equal(host->capabilities, SHMEMI_CAN_LOAD_STORE | SHMEMI_CAN_ATOMIC | SHMEMI_CAN_WAIT);
}

static void seals(void **state)
{
    int handle = -1;
    (void)state;
    ok(host->create("shmem-test", 4 * MIB, NULL, &handle));
    assert_int_equal(bytes_taken(handle), 0); /* sparse */
    assert_int_equal(ftruncate(handle, MIB), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(handle, 8 * MIB), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(fcntl(handle, F_ADD_SEALS, F_SEAL_WRITE), -1);
    assert_int_equal(fcntl(handle, F_GETFD), FD_CLOEXEC);
    ok(host->check(handle, 4 * MIB));
    ok(host->check(handle, 0));
    close(handle);
}

static void strange_handles(void **state)
{
    int handle = -1, unsealed, ends[2];
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    refuses(EPROTO, "1048576 bytes instead of 1048577", host->check(handle, MIB + 1));
    close(handle);
    unsealed = memfd_create("shmem-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(unsealed, MIB), 0);
    refuses(EPROTO, "not sealed", host->check(unsealed, MIB));
    close(unsealed);
    assert_int_equal(pipe(ends), 0);
    refuses(EINVAL, "examining", host->check(ends[0], 0));
    close(ends[0]);
    close(ends[1]);
    refuses(EBADF, "examining", host->check(-1, 0));
}

static void reserve_map_release(void **state)
{
    int handle = -1;
    void *at = NULL, *read_only = NULL, *own = NULL;
    (void)state;
    ok(host->create("shmem-test", 64 * MIB, NULL, &handle));
    ok(host->reserve(handle, MIB, 20 * MIB));
    assert_int_equal(bytes_taken(handle), 20 * MIB);
    ok(host->map(handle, MIB, 20 * MIB, SHMEMI_READ_WRITE, NULL, &at));
    ok(host->map(handle, MIB, 20 * MIB, SHMEMI_READ_ONLY, NULL, &read_only));
    ok(host->map(handle, MIB, 20 * MIB, SHMEMI_COPY_ON_WRITE, NULL, &own));
    char *shared = at, *seen = read_only, *copy = own;
    assert_int_equal(shared[0] | shared[20 * MIB - 1], 0);
    memset(shared, 7, 20 * MIB);
    assert_int_equal(seen[12345], 7);
    copy[4096] = 9;
    assert_int_equal(shared[4096], 7);
    shared[5] = 8;
    assert_int_equal(copy[5], 8); /* an untouched page follows */
    host->release(handle, 2 * MIB, 3 * MIB);
    assert_int_equal(bytes_taken(handle), 17 * MIB);
    assert_int_equal(shared[MIB - 1], 7);
    assert_int_equal(shared[MIB], 0);
    assert_int_equal(shared[4 * MIB - 1], 0);
    assert_int_equal(shared[4 * MIB], 7);
    ok(host->copy(shared, SHMEMI_MEMORY_HOST, "hello", SHMEMI_MEMORY_HOST, 6));
    assert_string_equal(seen, "hello");
    host->unmap(at, 20 * MIB);
    host->unmap(read_only, 20 * MIB);
    host->unmap(own, 20 * MIB);
    close(handle);
}

static void map_at(void **state)
{
    int handle = -1;
    void *mapped = NULL;
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    char *window = mmap(NULL, 4 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ok(host->map(handle, 0, MIB, SHMEMI_READ_WRITE, window + MIB, &mapped));
    assert_ptr_equal(mapped, window + MIB);
    window[MIB] = 1;
    munmap(window, 4 * MIB);
    close(handle);
}

static void rolls_back(void **state)
{
    int handle = -1;
    (void)state;
    ok(host->create("shmem-test", 32 * MIB, NULL, &handle));
    assert_true(host->reserve(handle, 0, 64 * MIB) < 0); /* the seal stops it after some steps */
    assert_int_equal(bytes_taken(handle), 0);
    refuses(ENOMEM, "bytes of memory are needed, but", host->reserve(handle, 0, (size_t)1 << 50));
    assert_int_equal(bytes_taken(handle), 0);
    close(handle);
}

static void room(void **state)
{
    struct shmemi_host_room room;
    (void)state;
    shmemi_host_room(&room);
    assert_true(room.bytes > 0 && room.bytes < SIZE_MAX);
    assert_true(room.bytes <= room.total);
    assert_true(strlen(room.limit) > 10);
}

/* --- in a cgroup of 64 MiB ------------------------------------------------------------------------------------------
 */

/* In a child: takes 8 MiB and writes them, then asks for more than the cgroup has. */
static void ask_too_much(const struct cgroup *group)
{
    struct shmemi_host_room there;
    int small = -1, large = -1;
    void *at = NULL;
    child_check(cgroup_enter(group));
    shmemi_host_room(&there);
    child_check(there.total == 64 * MIB && there.bytes <= there.total && strstr(there.limit, "cgroup"));
    child_check(host->create("shmem-test", 8 * MIB, NULL, &small) == 0);
    child_check(host->create("shmem-test", 128 * MIB, NULL, &large) == 0);
    child_check(host->reserve(small, 0, 8 * MIB) == 0);
    child_check(host->map(small, 0, 8 * MIB, SHMEMI_READ_WRITE, NULL, &at) == 0);
    memset(at, 1, 8 * MIB);
    child_check(host->reserve(large, 0, 128 * MIB) == -ENOMEM);
    child_check(strstr(shmemi_last_error(), "134217728 bytes of memory are needed") &&
                strstr(shmemi_last_error(), strrchr(group->path, '/'))); /* wherever else the hierarchy is mounted */
    child_check(strstr(shmemi_last_error(), "(of 67108864;"));
    child_check(bytes_taken(large) == 0);
    child_check(host->reserve(large, 0, 30 * MIB) == 0); /* and what there is can still be had */
    _exit(0);
}

static void within_a_cgroup(void **state)
{
    struct cgroup group;
    (void)state;
    cgroup_make(&group, 64 * MIB);
    if (group.why_not)
        skip_because("%s", group.why_not);
    pid_t pid = fork();
    if (pid == 0)
        ask_too_much(&group);
    int status = -1;
    waitpid(pid, &status, 0);
    cgroup_remove(&group);
    if (status != 0)
        fail_msg("the process in the cgroup ended with status %#x (killed by signal %d)", (unsigned)status,
                 WTERMSIG(status));
}

/* Several that take memory at the same time: together more than there is, but nobody is killed. */
static void race_in_a_cgroup(void **state)
{
    enum { PROCESSES = 4, ROUNDS = 3 };
    struct cgroup group;
    (void)state;
    cgroup_make(&group, 64 * MIB);
    if (group.why_not)
        skip_because("%s", group.why_not);
    int killed = 0, refused = 0, got = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pids[PROCESSES];
        int gate[2];
        assert_int_equal(pipe(gate), 0);
        for (int i = 0; i < PROCESSES; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                int handle = -1;
                char byte;
                close(gate[1]);
                child_check(cgroup_enter(&group) && host->create("shmem-test", 40 * MIB, NULL, &handle) == 0);
                ssize_t ignored = read(gate[0], &byte, 1); /* ends when the parent closes its end */
                (void)ignored;
                int rc = host->reserve(handle, 0, 40 * MIB);
                usleep(100000);
                _exit(rc == 0 ? 10 : rc == -ENOMEM ? 20 : 30);
            }
        }
        usleep(20000);
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < PROCESSES; i++) {
            int status = -1;
            waitpid(pids[i], &status, 0);
            killed += WIFSIGNALED(status);
            got += WIFEXITED(status) && WEXITSTATUS(status) == 10;
            refused += WIFEXITED(status) && WEXITSTATUS(status) == 20;
        }
    }
    cgroup_remove(&group);
    assert_int_equal(killed, 0);
    assert_int_equal(refused + got, PROCESSES * ROUNDS);
    assert_true(refused >= (PROCESSES - 1) * ROUNDS);
}

/* Who takes much of what is left waits while another one does so, but not for ever. */
static void waits_for_its_turn(void **state)
{
    struct cgroup group;
    (void)state;
    cgroup_make(&group, 64 * MIB);
    if (group.why_not)
        skip_because("%s", group.why_not);
    int turn = open(group.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), begun[2], done[2];
    assert_int_equal(flock(turn, LOCK_EX), 0);
    assert_true(pipe(begun) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        int handle = -1;
        close(turn);
        child_check(cgroup_enter(&group) && host->create("shmem-test", 40 * MIB, NULL, &handle) == 0);
        child_check(write(begun[1], "b", 1) == 1);
        child_check(host->reserve(handle, 0, 40 * MIB) == 0);
        child_check(write(done[1], "d", 1) == 1);
        _exit(0);
    }
    char byte;
    struct pollfd over = {.fd = done[0], .events = POLLIN};
    assert_int_equal(read(begun[0], &byte, 1), 1);
    assert_int_equal(poll(&over, 1, 40), 0);
    assert_int_equal(poll(&over, 1, 20000), 1); /* it has waited long enough */
    child_succeeds(pid);
    for (int i = 0; i < 2; i++) {
        close(begun[i]);
        close(done[i]);
    }
    close(turn);
    cgroup_remove(&group);
}

/* --- rights ---------------------------------------------------------------------------------------------------------
 */

static void narrowed(void **state)
{
    int handle = -1, reader = -1, again = -1;
    void *at = NULL;
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    ok(host->narrow(handle, &reader));
    assert_int_equal(fcntl(reader, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(fcntl(reader, F_GETFD), FD_CLOEXEC);
    refuses(EACCES, "for reading only", host->map(reader, 0, MIB, SHMEMI_READ_WRITE, NULL, &at));
    ok(host->check(reader, MIB));
    ok(host->map(reader, 0, MIB, SHMEMI_READ_ONLY, NULL, &at));
    assert_int_equal(mprotect(at, MIB, PROT_READ | PROT_WRITE), -1);
    host->unmap(at, MIB);
    ok(host->narrow(reader, &again)); /* needs no right to open it */
    refuses(EPERM, "cannot be frozen", host->freeze(reader));
    close(again);
    close(reader);
    close(handle);
    refuses(EBADF, "for reading", host->narrow(-1, &reader));
}

static struct shmemi_wish sealable(void)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    wish.sealable = true;
    return wish;
}

static void frozen(void **state)
{
    int handle = -1, reader = -1;
    void *before = NULL, *at = NULL;
    struct shmemi_wish wish = sealable();
    (void)state;
    ok(host->create("shmem-test", MIB, &wish, &handle));
    ok(host->check(handle, MIB));
    ok(host->narrow(handle, &reader));
    refuses(EPERM, "descriptor is for reading", host->freeze(reader));
    ok(host->map(handle, 0, MIB, SHMEMI_READ_WRITE, NULL, &before));
    ok(host->freeze(handle));
    ok(host->freeze(handle)); /* once more does no harm */
    ok(host->check(handle, MIB));
    refuses(EACCES, "it is frozen", host->map(handle, 0, MIB, SHMEMI_READ_WRITE, NULL, &at));
    assert_int_equal(write(handle, "x", 1), -1);
    assert_int_equal(fcntl(handle, F_ADD_SEALS, F_SEAL_WRITE), -1);
    strcpy(before, "written through what was mapped already");
    ok(host->map(handle, 0, MIB, SHMEMI_READ_ONLY, NULL, &at));
    assert_string_equal((char *)at, before);
    assert_int_equal(mprotect(at, MIB, PROT_READ | PROT_WRITE), -1);
    host->unmap(at, MIB);
    ok(host->map(handle, 0, MIB, SHMEMI_COPY_ON_WRITE, NULL, &at));
    strcpy(at, "mine");
    assert_string_equal((char *)before, "written through what was mapped already");
    host->unmap(at, MIB);
    host->unmap(before, MIB);
    close(reader);
    close(handle);
}

static void not_sealable(void **state)
{
    int handle = -1;
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    refuses(EPERM, "was not made for it", host->freeze(handle));
    close(handle);
    refuses(EBADF, "freezing", host->freeze(-1));
}

/* Becomes another user, in whose /proc/self it can still look. */
static void become_nobody(void)
{
    child_check(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    child_check(prctl(PR_SET_DUMPABLE, 1) == 0);
}

static void as_another_user(int reader, int writable)
{
    char path[64];
    become_nobody();
    snprintf(path, sizeof path, "/proc/self/fd/%d", writable);
    int reopened = open(path, O_RDWR | O_CLOEXEC); /* shows that it is the mode that refuses below, and not /proc */
    child_check(reopened >= 0);
    close(reopened);
    child_check(mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED && errno == EACCES);
    char *seen = mmap(NULL, MIB, PROT_READ, MAP_SHARED, reader, 0);
    child_check(seen != MAP_FAILED && !strcmp(seen, "secret"));
    child_check(mprotect(seen, MIB, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
    snprintf(path, sizeof path, "/proc/self/fd/%d", reader);
    child_check(open(path, O_RDWR) == -1 && errno == EACCES);
    child_check(open(path, O_WRONLY) == -1 && errno == EACCES);
    child_check(fchmod(reader, 0666) == -1 && errno == EPERM);
    child_check(chmod(path, 0666) == -1 && errno == EPERM);
    child_check(write(reader, "x", 1) == -1 && pwrite(reader, "x", 1, 0) == -1);
    child_check(ftruncate(reader, 0) == -1 &&
                fallocate(reader, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == -1);
    _exit(0);
}

static void another_user(void **state)
{
    int handle = -1, reader = -1;
    void *at = NULL;
    (void)state;
    if (geteuid() != 0)
        skip_because("becoming another user takes root");
    ok(host->create("shmem-test", MIB, NULL, &handle));
    ok(host->map(handle, 0, MIB, SHMEMI_READ_WRITE, NULL, &at));
    strcpy(at, "secret");
    ok(host->narrow(handle, &reader));
    int writable = memfd_create("shmem-test", MFD_CLOEXEC); /* of mode 0777 */
    pid_t pid = fork();
    if (pid == 0) {
        munmap(at, MIB);
        close(handle);
        as_another_user(reader, writable);
    }
    child_succeeds(pid);
    assert_string_equal((char *)at, "secret");
    host->unmap(at, MIB);
    close(writable);
    close(reader);
    close(handle);
}

static void without_proc(void **state)
{
    int handle = -1, reader = -1;
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", "/proc", "tmpfs", 0, NULL) != 0)
            _exit(77);
        child_check(host->narrow(handle, &reader) == -ENOENT);
        child_check(strstr(shmemi_last_error(), "no /proc here") != NULL);
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    close(handle);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_because("no mount namespace can be made here (it takes root)");
    assert_int_equal(status, 0);
}

/* --- wishes ---------------------------------------------------------------------------------------------------------
 */

static void cache_wishes(void **state)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    int handle = -1;
    (void)state;
    wish.cache = SHMEMI_CACHE_WRITE_BACK;
    ok(host->create("shmem-test", MIB, &wish, &handle));
    close(handle);
    wish.cache = SHMEMI_CACHE_WRITE_COMBINING;
    refuses(ENOTSUP, "to be write-combining, but host memory is cached write-back",
            host->create("shmem-test", MIB, &wish, &handle));
    wish.cache = SHMEMI_CACHE_UNCACHED;
    refuses(ENOTSUP, "to be uncached, but", host->create("shmem-test", MIB, &wish, &handle));
}

/* What one process's mount namespace shows in place of a file of the kernel's: the settings of a machine that this one
   is not. False: it cannot be done here. */
static bool pretend(const char *path, const char *content)
{
    char name[] = "/tmp/shmem-test-XXXXXX";
    int fd = mkstemp(name);
    umount2(path, MNT_DETACH); /* what was pretended before */
    bool done = fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content) &&
                mount(name, path, "", MS_BIND, NULL) == 0;
    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    return done;
}

/* Runs a check in a child with a mount namespace of its own; false when there can be none. */
static bool in_a_namespace(void (*check)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) != 0)
            _exit(77);
        check();
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        return false;
    if (status != 0)
        fail_msg("the child ended with status %#x", (unsigned)status);
    return true;
}

#define SHMEM_ENABLED "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
#define SHMEM_ENABLED_2M "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/shmem_enabled"

static struct shmemi_wish transparent(void)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    wish.page = SHMEMI_PAGES_TRANSPARENT;
    return wish;
}

static void transparent_forbidden(void)
{
    struct shmemi_wish wish = transparent();
    int handle = -1;
    if (!pretend(SHMEM_ENABLED, "always within_size advise never [deny] force\n"))
        _exit(77);
    child_check(host->create("shmem-test", 4 * MIB, &wish, &handle) == -ENOTSUP);
    child_check(strstr(shmemi_last_error(), "is 'deny': as root, 'echo advise > " SHMEM_ENABLED "'") != NULL);
}

static void transparent_switched_off(void)
{
    struct shmemi_wish wish = transparent();
    int handle = -1;
    child_check(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
    child_check(host->create("shmem-test", 4 * MIB, &wish, &handle) == -ENOTSUP);
    child_check(strstr(shmemi_last_error(), "PR_SET_THP_DISABLE") || strstr(shmemi_last_error(), "does not have"));
}

/* The whole way, with a setting that allows it; what the kernel then gives depends on its real one. */
static void transparent_allowed(void)
{
    struct shmemi_wish wish = transparent();
    struct shmemi_obtained got;
    int handle = -1;
    void *at = NULL;
    if (!pretend(SHMEM_ENABLED, "always within_size [advise] never deny force\n"))
        _exit(77);
    if (access(SHMEM_ENABLED_2M, F_OK) == 0)
        child_check(pretend(SHMEM_ENABLED_2M, "always [inherit] within_size advise never\n"));
    child_check(host->create("shmem-test", 40 * MIB, &wish, &handle) == 0 && bytes_taken(handle) == 0);
    child_check(host->map(handle, 0, 40 * MIB, SHMEMI_READ_WRITE, NULL, &at) == 0);
    child_check(host->place(at, 40 * MIB, &wish) == 0);
    child_check(host->reserve(handle, 0, 36 * MIB) == 0 && bytes_taken(handle) == 36 * MIB);
    memset(at, 1, 36 * MIB);
    host->report(at, 40 * MIB, &got);
    child_check(got.page >= 4096 && got.huge_bytes <= 40 * MIB && (got.huge_bytes > 0) == (got.page > 4096));
    fprintf(stderr, "# transparent: %zu of %d bytes in huge pages\n", got.huge_bytes, 36 * MIB);
    if (access(SHMEM_ENABLED_2M, F_OK) == 0) { /* the setting of the size itself wins over what is usual */
        child_check(pretend(SHMEM_ENABLED_2M, "always inherit within_size advise [never]\n"));
        child_check(host->create("shmem-test", 4 * MIB, &wish, &handle) == -ENOTSUP);
    }
}

static void transparent_pages(void **state)
{
    struct shmemi_wish wish = transparent();
    struct shmemi_obtained got;
    int handle = -1;
    void *at = NULL;
    (void)state;
    int rc = host->create("shmem-test", 64 * MIB, &wish, &handle);
    if (rc < 0) {
        refuses(ENOTSUP, "transparent huge pages", rc);
        skip_because("%s", shmemi_last_error());
    }
    ok(host->map(handle, 0, 64 * MIB, SHMEMI_READ_WRITE, NULL, &at));
    ok(host->place(at, 64 * MIB, &wish));
    ok(host->reserve(handle, 0, 64 * MIB));
    memset(at, 1, 64 * MIB);
    host->report(at, 64 * MIB, &got);
    assert_true(got.huge_bytes >= 32 * MIB);
    assert_true(got.page > 4096);
    host->unmap(at, 64 * MIB);
    close(handle);
}

static void transparent_settings(void **state)
{
    (void)state;
    if (!in_a_namespace(transparent_switched_off))
        skip_because("no mount namespace can be made here (it takes root)");
    if (access(SHMEM_ENABLED, F_OK) != 0)
        skip_because("this kernel has no transparent huge pages for shared memory");
    if (!in_a_namespace(transparent_forbidden) || !in_a_namespace(transparent_allowed))
        skip_because("no mount namespace can be made here (it takes root)");
}

/* --- huge pages of an exact size --- */

#define FREE_HUGE "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
#define NR_HUGE "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
enum { HUGE_PAGE = 2 * MIB, HUGE_PAGES = 4 };

static long read_number(const char *path)
{
    long number = -1;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

static bool write_number(const char *path, long number)
{
    FILE *file = fopen(path, "we");
    bool written = file && fprintf(file, "%ld\n", number) > 0;
    return file && fclose(file) == 0 && written;
}

static struct shmemi_wish huge(void)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    wish.page = HUGE_PAGE;
    return wish;
}

static void strange_pages(void **state)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    int handle = -1;
    (void)state;
    wish.page = 3 * MIB;
    refuses(ENOTSUP, "pages of 3 MiB, a size that this kernel does not have; it has",
            host->create("shmem-test", 6 * MIB, &wish, &handle));
    wish.page = 12345;
    refuses(ENOTSUP, "pages of 12345 bytes", host->create("shmem-test", 6 * MIB, &wish, &handle));
    wish.page = (size_t)sysconf(_SC_PAGESIZE);
    ok(host->create("shmem-test", MIB, &wish, &handle));
    close(handle);
}

static void no_huge_pages(void)
{
    struct shmemi_wish wish = huge();
    int handle = -1;
    if (!pretend(NR_HUGE, "7\n") || !pretend(FREE_HUGE, "3\n") ||
        !pretend("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "3\n") ||
        !pretend("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages", "0\n"))
        _exit(77);
    child_check(host->create("shmem-test", 4 * MIB, &wish, &handle) == -ENOMEM);
    child_check(strstr(shmemi_last_error(),
                       "needs at least 1 huge page of 2 MiB, but 3 of 7 are free (3 of these promised to others)"));
    child_check(strstr(shmemi_last_error(), "vm.nr_hugepages=8") && strstr(shmemi_last_error(), "transparent"));
    child_check(host->create("shmem-test", 3 * MIB, &wish, &handle) == -EINVAL);
    child_check(strstr(shmemi_last_error(), "no multiple of its huge pages of 2 MiB"));
}

static void without_huge_pages(void **state)
{
    (void)state;
    if (access(NR_HUGE, F_OK) != 0)
        skip_because("this kernel has no huge pages of 2 MiB");
    if (!in_a_namespace(no_huge_pages))
        skip_because("no mount namespace can be made here (it takes root)");
}

/* In a child, which leaves nothing behind when a check fails. */
static void use_huge_pages(void)
{
    struct shmemi_wish wish = huge();
    struct shmemi_obtained got;
    int handle = -1, reader = -1;
    void *at = NULL, *copy = NULL;
    size_t all = (size_t)HUGE_PAGES * HUGE_PAGE;
    wish.sealable = true;
    child_check(host->create("shmem-test", 16 * all, &wish, &handle) == 0); /* a ceiling, not a need */
    child_check(host->check(handle, 16 * all) == 0);
    child_check(host->map(handle, 0, 16 * all, SHMEMI_READ_WRITE, NULL, &at) == 0);
    child_check(host->place(at, 16 * all, &wish) == 0);
    child_check(host->reserve(handle, 0, 16 * all) == -ENOMEM && bytes_taken(handle) == 0);
    child_check(strstr(shmemi_last_error(), "huge pages of 2 MiB") && strstr(shmemi_last_error(), "vm.nr_hugepages="));
    child_check(host->reserve(handle, 0, all - HUGE_PAGE) == 0 && bytes_taken(handle) == all - HUGE_PAGE);
    memset(at, 5, all - HUGE_PAGE);
    host->report(at, all, &got);
    child_check(got.page == HUGE_PAGE && got.huge_bytes == all - HUGE_PAGE && got.node >= 0);
    child_check(host->map(handle, 0, 8 * all, SHMEMI_COPY_ON_WRITE, NULL, &copy) == -ENOMEM);
    child_check(host->map(handle, 0, HUGE_PAGE, SHMEMI_COPY_ON_WRITE, NULL, &copy) == 0);
    *(char *)copy = 6;
    child_check(*(char *)at == 5);
    host->unmap(copy, HUGE_PAGE);
    host->release(handle, HUGE_PAGE, HUGE_PAGE);
    child_check(bytes_taken(handle) == all - 2 * HUGE_PAGE);
    child_check(host->narrow(handle, &reader) == 0 && host->freeze(handle) == 0);
    child_check(host->map(handle, 0, HUGE_PAGE, SHMEMI_READ_WRITE, NULL, &copy) == -EACCES);
    child_check(host->map(reader, 0, HUGE_PAGE, SHMEMI_READ_ONLY, NULL, &copy) == 0 && *(char *)copy == 5);
    _exit(0);
}

/* Runs the check in a child while there are HUGE_PAGES free ones; they are set aside for it, where that is allowed, and
   given back. Its exit status, or -1: there are too few. One test at a time, so that two of them do not take each
   other's number for the machine's. */
static int run_with_huge_pages(void (*check)(void))
{
    int lock = open(NR_HUGE, O_RDONLY | O_CLOEXEC), status = -1;
    flock(lock, LOCK_EX);
    long before = read_number(NR_HUGE);
    bool enough = read_number(FREE_HUGE) >= HUGE_PAGES;
    if (enough || (write_number(NR_HUGE, before + HUGE_PAGES) && read_number(FREE_HUGE) >= HUGE_PAGES)) {
        pid_t pid = fork();
        if (pid == 0)
            check();
        waitpid(pid, &status, 0);
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    if (!enough)
        write_number(NR_HUGE, before);
    close(lock);
    return status;
}

/* Skips the test if there are none; also when the check exits with 77, for the reason given. */
static void with_huge_pages(void (*check)(void), const char *why_not)
{
    if (access(NR_HUGE, F_OK) != 0)
        skip_because("this kernel has no huge pages of 2 MiB");
    int status = run_with_huge_pages(check);
    if (status < 0)
        skip_because("%d huge pages are not free here, nor can they be set aside (it takes root)", HUGE_PAGES);
    if (status == 77)
        skip_because("%s", why_not);
    assert_int_equal(status, 0);
}

static void huge_pages(void **state)
{
    (void)state;
    with_huge_pages(use_huge_pages, "");
}

/* In a hugetlb cgroup that allows two of the free pages. */
static void use_less(const struct cgroup *group)
{
    struct shmemi_wish wish = huge();
    int handle = -1;
    size_t all = (size_t)HUGE_PAGES * HUGE_PAGE;
    child_check(cgroup_enter(group));
    child_check(host->create("shmem-test", all, &wish, &handle) == 0);
    child_check(host->reserve(handle, 0, all) == -ENOMEM && bytes_taken(handle) == 0);
    child_check(strstr(shmemi_last_error(), "limit of its hugetlb cgroup") != NULL);
    child_check(host->reserve(handle, 0, all / 2) == 0 && bytes_taken(handle) == all / 2);
    _exit(0);
}

static void in_a_hugetlb_cgroup(void)
{
    struct cgroup group;
    char own[1024];
    int status = -1;
    cgroup_own(true, own, sizeof own);
    bool had = cgroup_has(own, "cgroup.subtree_control", "hugetlb");
    snprintf(group.path, sizeof group.path, "%s/shmem-test-%d", own, (int)getpid());
    if (!*own || !cgroup_has(own, "cgroup.controllers", "hugetlb") ||
        !cgroup_write(own, "cgroup.subtree_control", "+hugetlb") || mkdir(group.path, 0755) != 0)
        _exit(77);
    if (cgroup_write(group.path, "hugetlb.2MB.max", "4M")) {
        pid_t pid = fork();
        if (pid == 0)
            use_less(&group);
        waitpid(pid, &status, 0);
    }
    cgroup_remove(&group);
    if (!had)
        cgroup_write(own, "cgroup.subtree_control", "-hugetlb");
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void hugetlb_cgroup(void **state)
{
    (void)state;
    with_huge_pages(in_a_hugetlb_cgroup, "no hugetlb cgroup can be made here (it takes root and cgroups of version 2)");
}

/* --- place, lock, report --- */

static void nodes(void **state)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    struct shmemi_obtained got;
    int handle = -1;
    void *at = NULL;
    (void)state;
    ok(host->create("shmem-test", 4 * MIB, NULL, &handle));
    ok(host->map(handle, 0, 4 * MIB, SHMEMI_READ_WRITE, NULL, &at));
    ok(host->place(at, 4 * MIB, NULL));
    ok(host->place(at, 4 * MIB, &wish));
    wish.node = 999;
    refuses(EINVAL, "NUMA node 999, which this machine does not have; it has 0", host->place(at, 4 * MIB, &wish));
    wish.node = 1 << 30;
    refuses(EINVAL, "does not have", host->place(at, 4 * MIB, &wish));
    wish.node = 0;
    int rc = host->place(at, 4 * MIB, &wish);
    if (rc == -EPERM) {
        host->unmap(at, 4 * MIB);
        close(handle);
        skip_because("%s", shmemi_last_error());
    }
    ok(rc);
    host->report(at, 4 * MIB, &got);
    assert_int_equal(got.node, -1); /* no page yet, and asking for it takes none */
    assert_int_equal(bytes_taken(handle), 0);
    ok(host->reserve(handle, 0, MIB));
    assert_int_equal(write(handle, "x", 1), 1);
    host->report(at, 4 * MIB, &got); /* there, but not mapped yet */
    assert_int_equal(got.node, 0);
    *(volatile char *)at = 1;
    host->report(at, 4 * MIB, &got);
    assert_int_equal(got.node, 0);
    assert_int_equal(got.page, sysconf(_SC_PAGESIZE));
    assert_int_equal(got.huge_bytes, 0);
    assert_false(got.locked);
    assert_int_equal(bytes_taken(handle), MIB);
    host->unmap(at, 4 * MIB);
    close(handle);
}

static void on_a_larger_machine(void)
{
    struct shmemi_wish wish = SHMEMI_NO_WISH;
    void *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!pretend("/sys/devices/system/node/online", "0,2-3\n"))
        _exit(77);
    wish.node = 1;
    child_check(host->place(at, MIB, &wish) == -EINVAL && strstr(shmemi_last_error(), "it has 0,2-3"));
    wish.node = 3;
    child_check(host->place(at, MIB, &wish) == -EPERM && strstr(shmemi_last_error(), "cpuset allows only 0"));
}

static void cpuset(void **state)
{
    (void)state;
    if (access("/sys/devices/system/node/node1", F_OK) == 0)
        skip_because("this machine has several NUMA nodes, and the test pretends that it had");
    if (!in_a_namespace(on_a_larger_machine))
        skip_because("no mount namespace can be made here (it takes root), or there is no /sys/devices/system/node");
}

static void locked(void **state)
{
    struct shmemi_obtained got;
    int handle = -1;
    void *at = NULL;
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    ok(host->map(handle, 0, MIB, SHMEMI_READ_WRITE, NULL, &at));
    ok(host->reserve(handle, 0, MIB));
    ok(host->lock(at, 65536));
    host->report(at, 65536, &got);
    assert_true(got.locked);
    host->report(at, MIB, &got);
    assert_false(got.locked); /* not all of it */
    host->unmap(at, MIB);
    refuses(ENOMEM, "65536 bytes are to be locked in memory", host->lock(at, 65536)); /* nothing is there */
    close(handle);
}

static void lock_limit(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("becoming a user without the capability to lock memory takes root");
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {65536, 65536};
        void *at = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        child_check(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
        become_nobody();
        child_check(host->lock(at, MIB) == -ENOMEM);
        child_check(strstr(shmemi_last_error(), "1048576 bytes are to be locked") &&
                    strstr(shmemi_last_error(), "is 65536 bytes"));
        limit.rlim_cur = limit.rlim_max = 0;
        child_check(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
        child_check(host->lock(at, MIB) == -EPERM && strstr(shmemi_last_error(), "LimitMEMLOCK"));
        _exit(0);
    }
    child_succeeds(pid);
}

static void reports_what_there_is(void **state)
{
    struct shmemi_obtained got = {0};
    int handle = -1, reader = -1;
    void *at = NULL;
    (void)state;
    ok(host->create("shmem-test", MIB, NULL, &handle));
    ok(host->narrow(handle, &reader));
    ok(host->map(reader, 0, MIB, SHMEMI_READ_ONLY, NULL, &at));
    host->report(at, MIB, &got);
    assert_int_equal(got.node, -1);
    assert_int_equal(bytes_taken(handle), 0);
    host->unmap(at, MIB);
    host->report(at, MIB, &got); /* nothing is there any more */
    assert_int_equal(got.node, -1);
    assert_false(got.locked);
    close(reader);
    close(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(registry),
        clean_test(seals),
        clean_test(strange_handles),
        clean_test(reserve_map_release),
        clean_test(map_at),
        clean_test(rolls_back),
        clean_test(room),
        clean_test(narrowed),
        clean_test(frozen),
        clean_test(not_sealable),
        clean_test(another_user),
        clean_test(without_proc),
        clean_test(cache_wishes),
        clean_test(transparent_pages),
        clean_test(transparent_settings),
        clean_test(strange_pages),
        clean_test(without_huge_pages),
        clean_test(huge_pages),
        clean_test(hugetlb_cgroup),
        clean_test(nodes),
        clean_test(cpuset),
        clean_test(locked),
        clean_test(lock_limit),
        clean_test(reports_what_there_is),
        clean_test(within_a_cgroup),
        clean_test(race_in_a_cgroup),
        clean_test(waits_for_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
