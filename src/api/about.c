// SPDX-License-Identifier: Apache-2.0
// What this library is and what it finds here, for people and for shmem-info.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/settings.h"
#include "hal/device.h"
#include "hal/hal.h"
#include "job/control.h"
#include "job/lifecycle.h"
#include "named.h"
#include "shmemx.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define KIND ", with a sanitizer"
#elif defined __OPTIMIZE__
#define KIND ", optimized"
#else
#define KIND ", not optimized"
#endif
#if defined __x86_64__
#define MACHINE "x86-64"
#elif defined __aarch64__
#define MACHINE "aarch64"
#else
#define MACHINE "an architecture that is not tested"
#endif
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *shmemx_version(void)
{
    return shmemi_version;
}

double shmemx_wtime(void)
{
    return (double)shmemi_now() * 1e-9;
}

const char *shmemx_build(void)
{
    return COMPILER ", for " MACHINE KIND;
}

int shmemx_setting(int index, shmemx_setting_t *out)
{
    if (!out)
        return NAMED(shmemi_fail(-EINVAL, "out is NULL"));
    const struct shmemi_setting_entry *e = index < 0 ? NULL : shmemi_setting_entry((size_t)index);
    if (!e)
        return NAMED(shmemi_fail(-ENOENT, "there is no variable number %d", index));
    *out = (shmemx_setting_t){e->name, e->old_name, e->form, e->meaning, e->normal, shmemi_setting_of(e->name, NULL)};
    return 0;
}

int shmemx_backend(int index, shmemx_backend_t *out)
{
    static const char *const types[] = {"host", "npu", "cuda"};
    if (!out)
        return NAMED(shmemi_fail(-EINVAL, "out is NULL"));
    if (index < 0 || (size_t)index >= sizeof types / sizeof *types)
        return NAMED(shmemi_fail(-ENOENT, "there is no kind of memory number %d", index));
    const struct shmemi_hal *hal = NULL;
    int count, rc = index ? shmemi_device_of(types[index])->open(&count) : 0;
    *out = (shmemx_backend_t){.type = types[index], .usable = rc == 0};
    if (rc < 0)
        rc = shmemi_hal_find(types[index], &hal); /* which says more of what is missing */
    if (!out->usable)
        snprintf(out->text, sizeof out->text, "%s", rc < 0 ? shmemi_last_error() : "host memory stands in for it");
    return 0;
}

int shmemx_limits(int n_pes, shmemx_limits_t *out)
{
    struct shmemi_host_room room;
    if (!out)
        return NAMED(shmemi_fail(-EINVAL, "out is NULL"));
    if (n_pes < 1 || n_pes > SHMEMI_PES_MOST)
        return NAMED(shmemi_fail(-EINVAL, "n_pes is %d, but a job has 1 to %d PEs", n_pes, SHMEMI_PES_MOST));
    shmemi_host_room(&room);
    *out = (shmemx_limits_t){.memory = room.total,
                             .memory_left = room.bytes,
                             .heap = shmemi_normal_heap_size(n_pes),
                             .pes_most = SHMEMI_PES_MOST};
    snprintf(out->memory_limit, sizeof out->memory_limit, "%s", room.limit);
    return 0;
}
