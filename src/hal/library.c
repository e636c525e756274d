// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/loader.h"
#include "base/settings.h"

static void *open_one(const char *name)
{
    return shmemi_loader_open(name, RTLD_NOW | RTLD_LOCAL, NULL);
}

/* A library in a folder whose first part may be an environment variable. */
static void *open_from(const char *folder, const char *name)
{
    char path[1024], variable[64] = "";
    const char *rest = folder;
    if (*folder == '$') {
        rest = folder + strcspn(folder, "/");
        snprintf(variable, sizeof variable, "%.*s", (int)(rest - folder - 1), folder + 1);
    }
    const char *prefix = *variable ? shmemi_setting(variable) : "";
    if (!prefix)
        return NULL;
    snprintf(path, sizeof path, "%s%s/%s", prefix, rest, name);
    return open_one(path);
}

void *shmemi_library_open(const char *const *names, const char *const *folders, const char **name)
{
    void *library = NULL;
    for (; *names && !library; names++) {
        *name = *names;
        library = open_one(*names);
        for (const char *const *folder = folders; *folder && !library; folder++)
            library = open_from(*folder, *names);
    }
    return library;
}

static int fail_missing(const char *maker, const struct shmemi_library_call *call)
{
    return shmemi_fail(-ENOTSUP, "the %s driver here is too old: it has no %s, which came with %s", maker, call->name,
                       call->since);
}

int shmemi_library_fill(void *library, const char *maker, const struct shmemi_library_call *calls, int count)
{
    for (int i = 0; i < count; i++) {
        void *found = dlsym(library, calls[i].name);
        memcpy(calls[i].at, &found, sizeof found);
        if (!found && calls[i].required)
            return fail_missing(maker, &calls[i]);
    }
    return 0;
}

int shmemi_library_has(const char *maker, const struct shmemi_library_call *calls, int count, const char *const *names)
{
    for (; *names; names++)
        for (int i = 0; i < count; i++)
            if (!strcmp(calls[i].name, *names) && !*calls[i].at)
                return fail_missing(maker, &calls[i]);
    return 0;
}
