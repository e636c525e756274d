// SPDX-License-Identifier: Apache-2.0
// dlopen is looked up and not called by name: a program that is linked statically has none, and its linker would warn.
#include "loader.h"

#include <dlfcn.h>
#include <string.h>

typedef void *opener(const char *, int);

static opener *loader(void)
{
    opener *function = NULL;
    void *found = dlsym(RTLD_DEFAULT, "dlopen");
    memcpy(&function, &found, sizeof function);
    return function;
}

bool shmemi_loader_works(void)
{
    return loader() != NULL;
}

void *shmemi_loader_open(const char *name, int flags, const char **why)
{
    opener *load = loader();
    void *library = load ? load(name, flags) : NULL;
    if (!library && why) {
        const char *text = load ? dlerror() : "a statically linked program can load none";
        *why = text ? text : "for no reason that the loader gives";
    }
    return library;
}
