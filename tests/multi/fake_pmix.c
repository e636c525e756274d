// SPDX-License-Identifier: Apache-2.0
// A PMIx client that answers from variables, for what no launcher on one host does: FAKE_SIZE, FAKE_LOCAL, and
// FAKE_FAIL=call. Rank 0's text goes through the file FAKE_FILE.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct proc {
    char nspace[256];
    uint32_t rank;
};
struct value {
    uint16_t type;
    union {
        char *string;
        uint32_t number;
    } data;
};

static int fails(const char *call)
{
    const char *which = getenv("FAKE_FAIL");
    return which && !strcmp(which, call) ? -1 : 0;
}

__attribute__((visibility("default"))) int PMIx_Init(struct proc *own, void *info, size_t ninfo);
int PMIx_Init(struct proc *own, void *info, size_t ninfo)
{
    (void)info;
    (void)ninfo;
    strcpy(own->nspace, "fake");
    own->rank = (uint32_t)atoi(getenv("PMIX_RANK"));
    return fails("init");
}

__attribute__((visibility("default"))) int PMIx_Finalize(const void *info, size_t ninfo);
int PMIx_Finalize(const void *info, size_t ninfo)
{
    (void)info;
    (void)ninfo;
    return 0;
}

__attribute__((visibility("default"))) int PMIx_Put(uint8_t scope, const char *key, struct value *value);
int PMIx_Put(uint8_t scope, const char *key, struct value *value)
{
    (void)scope;
    (void)key;
    FILE *file = fopen(getenv("FAKE_FILE"), "w");
    if (!file)
        return -1;
    fputs(value->data.string, file);
    fclose(file);
    return fails("put");
}

__attribute__((visibility("default"))) int PMIx_Commit(void);
int PMIx_Commit(void)
{
    return 0;
}

__attribute__((visibility("default"))) int PMIx_Get(const struct proc *p, const char *key, const void *info,
                                                    size_t ninfo, struct value **out);
int PMIx_Get(const struct proc *p, const char *key, const void *info, size_t ninfo, struct value **out)
{
    (void)p;
    (void)info;
    (void)ninfo;
    if (fails("get"))
        return -1;
    struct value *value = calloc(1, sizeof *value);
    value->type = fails("type") ? 3 : 14;
    value->data.number = (uint32_t)atoi(getenv(strcmp(key, "pmix.job.size") ? "FAKE_LOCAL" : "FAKE_SIZE"));
    *out = value;
    return 0;
}

__attribute__((visibility("default"))) int PMIx_Get_nb(const struct proc *p, const char *key, const void *info,
                                                       size_t ninfo, void (*answer)(int, struct value *, void *),
                                                       void *context);
int PMIx_Get_nb(const struct proc *p, const char *key, const void *info, size_t ninfo,
                void (*answer)(int, struct value *, void *), void *context)
{
    (void)p;
    (void)key;
    (void)info;
    (void)ninfo;
    char text[64] = "";
    if (fails("silence"))
        return 0;
    for (int i = 0; i < 1000000 && strlen(text) < 32; i++) {
        FILE *file = fopen(getenv("FAKE_FILE"), "r");
        if (file && !fgets(text, sizeof text, file))
            *text = 0;
        if (file)
            fclose(file);
    }
    struct value value = {.type = 3, .data.string = text};
    answer(fails("answer"), &value, context);
    return 0;
}

__attribute__((visibility("default"))) const char *PMIx_Error_string(int status);
const char *PMIx_Error_string(int status)
{
    return status ? "FAKE-ERROR" : "SUCCESS";
}
