// SPDX-License-Identifier: Apache-2.0
#include "load.h"

#include <errno.h>
#include <pthread.h>

#include "../library.h"
#include "base/error.h"
#include "base/loader.h"
#include "base/settings.h"

struct shmemi_ascend_driver shmemi_ascend;

#define ROW(required, since, symbol, arguments) {#symbol, since, required, (void (**)(void)) & shmemi_ascend.symbol},
static const struct shmemi_library_call calls[] = {SHMEMI_ASCEND_CALLS(ROW)};
enum { CALLS = sizeof calls / sizeof *calls };

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static int devices; /* 0: not open; under the mutex */

static int errno_of(int result)
{
    switch (result) {
    case ACL_NO_ROOM:
    case ACL_NO_ROOM_RT:
    case ACL_OUT_OF_MEMORY:
        return -ENOMEM;
    case ACL_BAD_DEVICE:
    case ACL_NO_DEVICE:
        return -ENODEV;
    case ACL_NO_CONTEXT:
    case ACL_OTHER_CONTEXT:
        return -EBADFD;
    case ACL_NO_PERMISSION:
        return -EACCES;
    case ACL_UNSUPPORTED:
    case ACL_UNSUPPORTED_RT:
        return -ENOTSUP;
    default:
        return -EIO;
    }
}

int shmemi_ascend_result(int result, const char *call)
{
    if (result == 0)
        return 0;
    /* The text dies with the next call. */
    const char *text = shmemi_ascend.message ? shmemi_ascend.message() : NULL;
    return shmemi_fail(errno_of(result), "%s: AscendCL answers %d (%s)%s", call, result, text ? text : "no text",
                       errno_of(result) == -ENOMEM ? "; the device's memory is taken: npu-smi info shows by whom" : "");
}

int shmemi_ascend_has(const char *const *names)
{
    return shmemi_library_has("Ascend", calls, CALLS, names);
}

static int load(void)
{
    static const char *const folders[] = {"$ASCEND_HOME_PATH/lib64", "$ASCEND_TOOLKIT_HOME/lib64",
                                          "/usr/local/Ascend/cann/lib64",
                                          "/usr/local/Ascend/ascend-toolkit/latest/lib64", NULL};
    static const char *const usual[] = {"libacl_rt.so", "libascendcl.so", NULL};
    const char *const own[] = {shmemi_setting("SHMEM_ASCEND_LIBRARY"), NULL}, *name = NULL;
    void *library = shmemi_library_open(*own ? own : usual, folders, &name);
    if (!library)
        return shmemi_fail(-ENODEV, "no Ascend driver: %s cannot be opened%s",
                           *own ? *own : "libacl_rt.so or libascendcl.so",
                           shmemi_loader_works() ? "" : " (a statically linked program can open none)");
    const struct shmemi_library_call texts[] = {
        {"aclGetRecentErrMsg", "ACL 1.1.0", true, (void (**)(void)) & shmemi_ascend.message},
        {"aclrtGetSocName", "ACL 1.1.0", false, (void (**)(void)) & shmemi_ascend.chip}};
    int rc = shmemi_library_fill(library, "Ascend", calls, CALLS);
    return rc < 0 ? rc : shmemi_library_fill(library, "Ascend", texts, 2);
}

static int start(void)
{
    uint32_t count = 0;
    int rc = load();
    if (rc < 0)
        return rc;
    int result = shmemi_ascend.aclInit(NULL);
    if (result != ACL_REPEATED) /* torch_npu was first: fine */
        rc = shmemi_ascend_result(result, "aclInit");
    if (rc == 0)
        rc = SHMEMI_ASCEND(aclrtGetDeviceCount, &count);
    if (rc == 0 && count < 1)
        rc = shmemi_fail(-ENODEV, "AscendCL works, but shows no device (ASCEND_RT_VISIBLE_DEVICES may hide them)");
    if (rc == 0)
        devices = count < SHMEMI_ASCEND_DEVICES ? (int)count : SHMEMI_ASCEND_DEVICES;
    return rc;
}

int shmemi_ascend_open(int *count)
{
    pthread_mutex_lock(&opening);
    int rc = devices ? 0 : start();
    if (count)
        *count = devices;
    pthread_mutex_unlock(&opening);
    return rc;
}
