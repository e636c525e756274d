// SPDX-License-Identifier: Apache-2.0
// Memory by the name that a person gave it: which kinds there are, and what a machine lacks for one that is asked for.
#include "hal.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loader.h"
#include "base/log.h"
#include "base/settings.h"
#include "device.h"
#include "library.h"

enum { NAMES_MOST = 3, FOLDERS_MOST = 5, TEXT_MOST = 768 };

/* What a type of device memory needs of a machine, in the order in which it is looked for. */
struct device {
    const char *type, *maker;
    const char *driver[NAMES_MOST];    /* files, any one of which shows that the driver is loaded */
    const char *device;                /* the name in /dev, before the number */
    const char *sonames[NAMES_MOST];   /* any one of them; NULL ends it */
    const char *folders[FOLDERS_MOST]; /* where libraries are looked for beside the usual places; $NAME/... too;
                                          NULL ends it */
};

static const struct device devices[] = {
    {.type = "npu",
     .maker = "Ascend",
     .driver = {"/dev/davinci_manager"},
     .device = "davinci",
     .sonames = {"libacl_rt.so", "libascendcl.so"},
     .folders = {"$ASCEND_HOME_PATH/lib64", "$ASCEND_TOOLKIT_HOME/lib64", "/usr/local/Ascend/cann/lib64",
                 "/usr/local/Ascend/ascend-toolkit/latest/lib64"}},
    {.type = "cuda",
     .maker = "CUDA",
     .driver = {"/proc/driver/nvidia/version", "/dev/nvidiactl"},
     .device = "nvidia",
     .sonames = {"libcuda.so.1"}},
};
enum { DEVICES = sizeof devices / sizeof *devices };

/* --- looking ----------------------------------------------------------------------------------------------------- */

/* Whether /dev has a file of this name and a number. (Not glob(), which brings dlopen into static programs.) */
static bool has_device(const char *name)
{
    DIR *folder = opendir("/dev");
    size_t length = strlen(name);
    bool found = false;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = !strncmp(entry->d_name, name, length) && isdigit((unsigned char)entry->d_name[length]);
    if (folder)
        closedir(folder);
    return found;
}

static const char *find_library(const struct device *d)
{
    const char *name = NULL;
    void *library = shmemi_library_open(d->sonames, d->folders, &name);
    if (!library)
        return NULL;
    dlclose(library);
    return name;
}

/* "a or b" */
static const char *either(const char *const names[NAMES_MOST], char text[128])
{
    snprintf(text, 128, "%s%s%s", names[0], names[1] ? " or " : "", names[1] ? names[1] : "");
    return text;
}

static const char *find_driver(const struct device *d)
{
    for (int i = 0; i < NAMES_MOST && d->driver[i]; i++)
        if (access(d->driver[i], F_OK) == 0)
            return d->driver[i];
    return NULL;
}

/* Looks for everything, and says of each part whether it is there. */
static void survey(const struct device *d, char text[TEXT_MOST])
{
    char drivers[128], libraries[128];
    const char *driver = find_driver(d), *library = find_library(d);
    bool device = has_device(d->device);
    snprintf(text, TEXT_MOST, "driver: %s %s; device: /dev/%s0 or another number %s; library: %s %s%s",
             driver ? driver : either(d->driver, drivers), driver ? "found" : "missing", d->device,
             device ? "found" : "missing", library ? library : either(d->sonames, libraries),
             library ? "found" : "missing",
             shmemi_loader_works() ? "" : " (a statically linked program can load none)");
}

/* --- choosing ---------------------------------------------------------------------------------------------------- */

int shmemi_hal_fallback(bool *host)
{
    const char *text = shmemi_setting("SHMEM_DEVICE_FALLBACK");
    *host = text && !strcmp(text, "host");
    if (text && !*host)
        return shmemi_fail(-EINVAL, "SHMEM_DEVICE_FALLBACK is '%s', but must be 'host' or unset", text);
    return 0;
}

/* Where this process's job notes what was told; under the lock. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t *told_in_job;

void shmemi_hal_fallback_in_job(_Atomic uint32_t *told)
{
    pthread_mutex_lock(&telling);
    told_in_job = told;
    pthread_mutex_unlock(&telling);
}

void shmemi_hal_fallback_in_child(void)
{
    pthread_mutex_init(&telling, NULL);
    told_in_job = NULL;
}

bool shmemi_hal_fallback_untold(const char *type)
{
    static atomic_flag told[DEVICES];
    uint32_t before = 0;
    int i = 0;
    while (i < DEVICES - 1 && strcmp(type, devices[i].type) != 0)
        i++;
    if (atomic_flag_test_and_set(&told[i])) /* pairs with nothing: only one finds it unset; nor does what follows */
        return false;
    pthread_mutex_lock(&telling);
    if (told_in_job)
        before = atomic_fetch_or_explicit(told_in_job, 1u << i, memory_order_relaxed);
    pthread_mutex_unlock(&telling);
    return !(before >> i & 1);
}

static const struct device *device_of(const char *type)
{
    const struct device *d = devices;
    while (d < devices + DEVICES && strcmp(type, d->type) != 0)
        d++;
    return d < devices + DEVICES ? d : NULL;
}

void shmemi_hal_tell_fallback(const char *type, const char *why)
{
    char text[TEXT_MOST];
    if (!shmemi_hal_fallback_untold(type))
        return;
    shmemi_log_configure(); /* there may be neither a job nor a pool yet; what is wrong with SHMEM_LOG these will say */
    survey(device_of(type), text);
    shmemi_warn("hal", "SHMEM_DEVICE_FALLBACK=host: host memory in place of type '%s': %s (%s)", type, why, text);
}

static int find_device(const struct device *d, bool fall_back, const struct shmemi_hal **out)
{
    char text[TEXT_MOST], why[TEXT_MOST];
    int count;
    if (shmemi_device_of(d->type)->open(&count) == 0)
        return shmemi_fail(-ENOTSUP,
                           "memory of type '%s' is there, but comes in pools of its own: shmemx_device_pool_create()",
                           d->type);
    snprintf(why, sizeof why, "%s", shmemi_last_error());
    survey(d, text);
    int rc = shmemi_fail(-ENODEV,
                         "memory of type '%s' is not to be had here: %s (%s); SHMEM_DEVICE_FALLBACK=host puts host "
                         "memory in its place",
                         d->type, why, text);
    if (!fall_back)
        return rc;
    shmemi_hal_tell_fallback(d->type, why);
    *out = &shmemi_hal_host;
    return 0;
}

int shmemi_hal_find(const char *type, const struct shmemi_hal **out)
{
    bool fall_back;
    if (!strcmp(type, "host")) {
        *out = &shmemi_hal_host;
        return 0;
    }
    int rc = shmemi_hal_fallback(&fall_back);
    if (rc < 0)
        return rc;
    if (!strcmp(type, "auto")) { /* devices have pools of their own */
        *out = &shmemi_hal_host;
        return 0;
    }
    const struct device *d = device_of(type);
    if (d)
        return find_device(d, fall_back, out);
    return shmemi_fail(-EINVAL, "'%s' is no type of memory: there are host, npu, cuda and auto", type);
}
