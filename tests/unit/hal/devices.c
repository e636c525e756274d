// SPDX-License-Identifier: Apache-2.0
// Memory by name: what is said of devices that are not there, and what stands in for them.
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "hal/hal.h"

static const struct shmemi_hal *const host = &shmemi_hal_host;
static const char *self;

static void by_name(void **state)
{
    const struct shmemi_hal *found = NULL;
    (void)state;
    ok(shmemi_hal_find("host", &found));
    assert_ptr_equal(found, host);
    found = NULL;
    ok(shmemi_hal_find("auto", &found));
    assert_ptr_equal(found, host);
    refuses(EINVAL, "'gpu' is no type of memory: there are host, npu, cuda and auto", shmemi_hal_find("gpu", &found));
    refuses(EINVAL, "'' is no type", shmemi_hal_find("", &found));
}

/* Everything that is looked for is named, whether this machine has it or not. */
static void names_all_parts(void **state)
{
    static const char *const npu[] = {"type 'npu'", "driver: /dev/davinci_manager",
                                      "device: /dev/davinci0 or another number", "library: lib"};
    static const char *const cuda[] = {"type 'cuda'", "driver: /", "device: /dev/nvidia0 or another number",
                                       "library: libcuda.so.1"};
    const struct shmemi_hal *found = NULL;
    (void)state;
    for (int i = 0; i < 4; i++) {
        refuses(ENODEV, npu[i], shmemi_hal_find("npu", &found));
        refuses(ENODEV, cuda[i], shmemi_hal_find("cuda", &found));
    }
    assert_null(found);
}

static void says_what_is_missing(void **state)
{
    const struct shmemi_hal *found = NULL;
    (void)state;
    if (access("/dev/nvidiactl", F_OK) == 0 || access("/proc/driver/nvidia/version", F_OK) == 0)
        skip_because("this machine has a CUDA driver");
    refuses(ENODEV,
            "driver: /proc/driver/nvidia/version or /dev/nvidiactl missing; device: /dev/nvidia0 or another number "
            "missing;",
            shmemi_hal_find("cuda", &found));
    refuses(ENODEV, "SHMEM_DEVICE_FALLBACK=host", shmemi_hal_find("cuda", &found));
}

static void fallback_values(void **state)
{
    const struct shmemi_hal *found = NULL;
    (void)state;
    setenv("SHMEM_DEVICE_FALLBACK", "cpu", 1);
    refuses(EINVAL, "SHMEM_DEVICE_FALLBACK is 'cpu', but must be 'host'", shmemi_hal_find("npu", &found));
    refuses(EINVAL, "SHMEM_DEVICE_FALLBACK", shmemi_hal_find("auto", &found));
    ok(shmemi_hal_find("host", &found));
    setenv("SHMEM_DEVICE_FALLBACK", "", 1); /* as good as unset */
    refuses(ENODEV, "npu", shmemi_hal_find("npu", &found));
    unsetenv("SHMEM_DEVICE_FALLBACK");
}

/* How often a text is in what `ask` writes to standard error. */
static int count_warnings(const char *text, void (*ask)(void))
{
    int ends[2], count = 0;
    static char said[8192];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        ask();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; (n = read(ends[0], said + used, sizeof said - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = 0;
    close(ends[0]);
    child_succeeds(pid);
    for (const char *at = said; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static void ask_often(void)
{
    setenv("SHMEM_DEVICE_FALLBACK", "host", 1);
    for (int i = 0; i < 3; i++) {
        const struct shmemi_hal *found = NULL;
        child_check(shmemi_hal_find("cuda", &found) == 0 && found == host);
        child_check(shmemi_hal_find("npu", &found) == 0 && found == host);
        child_check(shmemi_hal_find("auto", &found) == 0 && found == host);
        child_check(shmemi_hal_find("gpu", &found) == -EINVAL);
    }
}

static void warns_once(void **state)
{
    (void)state;
    assert_int_equal(count_warnings("host memory in place of type 'cuda'", ask_often), 1);
    assert_int_equal(count_warnings("host memory in place of type 'npu'", ask_often), 1);
    assert_int_equal(count_warnings("host memory in place of", ask_often), 2);
}

/* A machine that has everything: a /dev of its own, and a folder with some library under the names of the drivers'.
   The loader reads LD_LIBRARY_PATH only at start, so this program starts again in there. */
static void on_a_machine_with_devices(void)
{
    static const char *const files[] = {"nvidiactl", "nvidia0", "davinci_manager", "davinci3"};
    char path[64], library[256];
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/dev", "tmpfs", 0, NULL) != 0)
        _exit(77);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/dev/%s", files[i]);
        child_check(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0);
    }
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[600], *found = NULL;
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "libcmocka") ? strchr(line, '/') : NULL;
    child_check(found != NULL);
    snprintf(library, sizeof library, "%.*s", (int)strcspn(found, "\n"), found);
    child_check(symlink(library, "/dev/libcuda.so.1") == 0 && symlink(library, "/dev/libascendcl.so") == 0);
    setenv("LD_LIBRARY_PATH", "/dev", 1);
    execl(self, self, "with-devices", (char *)NULL);
    _exit(1);
}

static int with_devices(void)
{
    const struct shmemi_hal *found = NULL;
    child_check(shmemi_hal_find("cuda", &found) == -ENODEV &&
                strstr(shmemi_last_error(), "the CUDA driver here is too old: it has no cuInit"));
    child_check(
        strstr(shmemi_last_error(), "device: /dev/nvidia0 or another number found; library: libcuda.so.1 found"));
    child_check(shmemi_hal_find("npu", &found) == -ENODEV &&
                strstr(shmemi_last_error(), "the Ascend driver here is too old: it has no aclInit"));
    child_check(strstr(shmemi_last_error(), "library: libascendcl.so found"));
    child_check(shmemi_hal_find("auto", &found) == 0 && found == host);
    unlink("/dev/nvidia0");
    child_check(shmemi_hal_find("cuda", &found) == -ENODEV && strstr(shmemi_last_error(), "is not to be had here"));
    child_check(
        strstr(shmemi_last_error(), "device: /dev/nvidia0 or another number missing; library: libcuda.so.1 found"));
    return 0;
}

static void drivers_that_are_none(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        on_a_machine_with_devices();
    int status = -1;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_because("no mount namespace can be made here (it takes root)");
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        clean_test(by_name),         clean_test(names_all_parts), clean_test(says_what_is_missing),
        clean_test(fallback_values), clean_test(warns_once),      clean_test(drivers_that_are_none),
    };
    self = "/proc/self/exe";
    if (argc > 1 && !strcmp(argv[1], "with-devices"))
        return with_devices();
    unsetenv("SHMEM_DEVICE_FALLBACK");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
