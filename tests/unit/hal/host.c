// SPDX-License-Identifier: Apache-2.0
// Host memory: seals, checks of what a peer sends, reserving pages, giving them back, limits.
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
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
                strstr(shmemi_last_error(), group->path));
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
        clean_test(within_a_cgroup),
        clean_test(race_in_a_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
