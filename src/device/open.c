// SPDX-License-Identifier: Apache-2.0
// Which back end serves a type of device in this process: that of its driver, or host memory that stands in.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "base/error.h"
#include "device.h"
#include "device_internal.h"
#include "hal/hal.h"

static atomic_bool used, forked, opened[SHMEMI_DEVICE_HALS];

/* [forked] relaxed, all: a child begins with one thread, which this is, and sees what was before the fork. */
static void in_child(void)
{
    atomic_store_explicit(&forked, atomic_load_explicit(&used, memory_order_relaxed), memory_order_relaxed);
    shmemi_device_table_in_child();
    shmemi_device_pools_in_child();
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

int shmemi_device_check_process(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed) /* [forked] */
               ? shmemi_fail(-EPERM, "this process was forked by one that had used devices, and drivers do not survive "
                                     "fork: start such processes anew, by exec (in Python with the start method "
                                     "'spawn'), or fork before a device is first used")
               : 0;
}

bool shmemi_device_is_open(const struct shmemi_device_hal *hal)
{
    return atomic_load_explicit(&opened[shmemi_device_index(hal)], memory_order_relaxed); /* [opened] */
}

static int open_hal(const struct shmemi_device_hal *hal, int *count)
{
    int ignored, rc = hal->open(count ? count : &ignored);
    if (rc < 0)
        return rc;
    if (!hal->stands_in) /* which survives fork until something is made of it */
        atomic_store_explicit(&used, true, memory_order_relaxed); /* [forked] */
    /* [opened] relaxed: whoever sees it late asks one driver less. */
    atomic_store_explicit(&opened[shmemi_device_index(hal)], true, memory_order_relaxed);
    return 0;
}

static int find_driver(const char *type, const struct shmemi_device_hal **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    if (!(*out = shmemi_device_of(type)))
        return shmemi_fail(-EINVAL, "'%s' is no type of device: there are npu and cuda", type);
    pthread_once(&once, watch);
    return 0;
}

int shmemi_device_open_driver(const char *type, const struct shmemi_device_hal **out, int *count)
{
    int rc = find_driver(type, out);
    return rc < 0 ? rc : open_hal(*out, count);
}

/* --- host memory that stands in ----------------------------------------------------------------------------------- */

/* Once it does, it does so until the process ends, whatever becomes of the driver: nobody has memory of both. Of types
   by the index of what stands in; `why` is written once, before `stands`. */
static struct {
    atomic_bool stands;
    char why[480];
} stand_ins[SHMEMI_DEVICE_HALS];
static pthread_mutex_t standing = PTHREAD_MUTEX_INITIALIZER;

static bool stands(int index)
{
    return atomic_load_explicit(&stand_ins[index].stands, memory_order_acquire); /* [stands] pairs with begin() */
}

/* With the driver's answer, and its text. Whether host memory stands in: else the answer holds. */
static int begin(int index, int rc)
{
    bool host = false;
    char why[sizeof stand_ins->why];
    snprintf(why, sizeof why, "%s", shmemi_last_error());
    int asked = shmemi_hal_fallback(&host);
    if (asked < 0)
        return asked;
    if (!host)
        return shmemi_fail(rc, "%s", why);
    pthread_mutex_lock(&standing);
    if (!stands(index)) {
        snprintf(stand_ins[index].why, sizeof stand_ins[index].why, "%s", why);
        atomic_store_explicit(&stand_ins[index].stands, true, memory_order_release); /* [stands] */
    }
    pthread_mutex_unlock(&standing);
    return 0;
}

int shmemi_device_look_up(const char *type, const struct shmemi_device_hal **out, int *count)
{
    int rc = find_driver(type, out);
    const struct shmemi_device_hal *stand_in = rc < 0 ? NULL : shmemi_device_stand_in_of(type);
    if (!stand_in)
        return rc < 0 ? rc : open_hal(*out, count);
    int index = shmemi_device_index(stand_in);
    if (!stands(index)) {
        rc = open_hal(*out, count);
        if ((rc != -ENODEV && rc != -ENOTSUP) || (rc = begin(index, rc)) < 0)
            return rc;
    }
    *out = stand_in;
    return open_hal(stand_in, count);
}

int shmemi_device_open(const char *type, const struct shmemi_device_hal **out, int *count)
{
    int rc = shmemi_device_look_up(type, out, count);
    if (rc == 0)
        atomic_store_explicit(&used, true, memory_order_relaxed); /* [forked] */
    if (rc == 0 && (*out)->stands_in)
        shmemi_hal_tell_fallback(type, shmemi_device_why_not(*out));
    return rc;
}

const char *shmemi_device_why_not(const struct shmemi_device_hal *stand_in)
{
    return stand_ins[shmemi_device_index(stand_in)].why;
}
