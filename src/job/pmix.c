// SPDX-License-Identifier: Apache-2.0
// The few calls of the PMIx client that a job on one host needs.
//
// The client counts its users, so that MPI in the same process may use it too. It stays open until the process ends:
// not every version can be opened a second time, and a server takes a process that just disappears for one that failed.
#include "pmix.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/loader.h"
#include "base/settings.h"
#include "identity.h"

/* What the PMIx standard fixes of its binary interface, from version 2 on, as far as it is used here. */
enum { PMIX_STRING = 3, PMIX_UINT32 = 14, PMIX_SCOPE_LOCAL = 1 };
#define PMIX_ANY_RANK (UINT32_MAX - 1)

struct pmix_proc {
    char nspace[256];
    uint32_t rank;
};

struct pmix_value {
    uint16_t type;
    union {
        char *string;
        uint32_t uint32;
        char room[64]; /* the real one has members that are larger than those used here */
    } data;
};
_Static_assert(offsetof(struct pmix_value, data) == 8, "as the standard's");

typedef void pmix_answer(int status, struct pmix_value *value, void *context);

static struct {
    int (*init)(struct pmix_proc *, void *info, size_t ninfo);
    int (*finalize)(const void *info, size_t ninfo);
    int (*put)(uint8_t scope, const char *key, struct pmix_value *value);
    int (*commit)(void);
    int (*get)(const struct pmix_proc *, const char *key, const void *info, size_t ninfo, struct pmix_value **value);
    int (*get_nb)(const struct pmix_proc *, const char *key, const void *info, size_t ninfo, pmix_answer *, void *);
    const char *(*error)(int status);
} pmix;

/* One process has one place for its whole life. */
static struct {
    bool known;
    pid_t pid; /* that opened the client: a forked child must not close it */
    struct pmix_proc own;
    struct shmemi_pmix_place place;
} session;

static const char id_key[] = "shmem.job.id";

bool shmemi_pmix_present(void)
{
    return shmemi_setting("PMIX_NAMESPACE") && shmemi_setting("PMIX_RANK");
}

static int fail(const char *call, int status)
{
    return shmemi_fail(-EPROTO, "%s of the PMIx client failed with %d (%s)", call, status, pmix.error(status));
}

/* The client that the program has already, such as MPI's; else the system's. */
static int load(void)
{
    const char *why = "";
    void *library = RTLD_DEFAULT;
    if (!dlsym(RTLD_DEFAULT, "PMIx_Init"))
        library = shmemi_loader_open("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE, &why);
    if (!library && *why)
        return shmemi_fail(-ENOSYS, "libpmix.so.2 cannot be opened: %s", why);
    const struct {
        void *to;
        const char *name;
    } wanted[] = {{&pmix.init, "PMIx_Init"},         {&pmix.finalize, "PMIx_Finalize"}, {&pmix.put, "PMIx_Put"},
                  {&pmix.commit, "PMIx_Commit"},     {&pmix.get, "PMIx_Get"},           {&pmix.get_nb, "PMIx_Get_nb"},
                  {&pmix.error, "PMIx_Error_string"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *at = dlsym(library, wanted[i].name);
        if (!at)
            return shmemi_fail(-ENOSYS, "the PMIx client library lacks %s", wanted[i].name);
        memcpy(wanted[i].to, &at, sizeof at);
    }
    return 0;
}

static int get_number(const char *key, int *out)
{
    struct pmix_proc job = {.rank = PMIX_ANY_RANK};
    struct pmix_value *value = NULL;
    memcpy(job.nspace, session.own.nspace, sizeof job.nspace);
    int status = pmix.get(&job, key, NULL, 0, &value);
    if (status != 0 || !value)
        return shmemi_fail_in(fail("PMIx_Get", status), "%s", key);
    uint16_t type = value->type;
    uint32_t number = value->data.uint32;
    free(value);
    if (type != PMIX_UINT32 || number > INT32_MAX)
        return shmemi_fail(-EPROTO, "the PMIx server's %s is no number of processes", key);
    *out = (int)number;
    return 0;
}

static int publish_id(const char *id)
{
    struct pmix_value value = {.type = PMIX_STRING};
    char text[33];
    snprintf(text, sizeof text, "%s", id);
    value.data.string = text;
    int status = pmix.put(PMIX_SCOPE_LOCAL, id_key, &value);
    if (status != 0)
        return fail("PMIx_Put", status);
    status = pmix.commit();
    return status != 0 ? fail("PMIx_Commit", status) : 0;
}

/* Where the answer about PE 0's text goes. It may come after nobody waits any more, so it is the process's. */
static struct {
    char id[33];
    int status;
    _Atomic int come;
} answer;

static void answered(int status, struct pmix_value *value, void *context)
{
    (void)context;
    answer.status = status;
    if (status == 0 && value && value->type == PMIX_STRING && value->data.string)
        snprintf(answer.id, sizeof answer.id, "%s", value->data.string);
    atomic_store_explicit(&answer.come, 1, memory_order_release); /* [answer] pairs with the acquire in await_id() */
}

static int await_id(int64_t deadline, char out[33])
{
    static bool asked;
    struct pmix_proc first = {.rank = 0};
    memcpy(first.nspace, session.own.nspace, sizeof first.nspace);
    int status = asked ? 0 : pmix.get_nb(&first, id_key, NULL, 0, answered, NULL);
    if (status != 0)
        return fail("PMIx_Get_nb", status);
    asked = true;
    while (!atomic_load_explicit(&answer.come, memory_order_acquire)) { /* [answer] */
        int rc = shmemi_interrupted();
        if (rc < 0)
            return rc;
        if (shmemi_now() >= deadline)
            return shmemi_fail(-ETIMEDOUT,
                               "PE 0 did not come in time (SHMEM_TIMEOUT sets how many seconds to wait): every process "
                               "that the launcher started must call init");
        usleep(200);
    }
    asked = answer.status == 0;
    if (!asked) {
        atomic_store_explicit(&answer.come, 0, memory_order_relaxed); /* nobody else is there to see it */
        return fail("PMIx_Get_nb", answer.status);
    }
    memcpy(out, answer.id, sizeof answer.id);
    return *out ? 0 : shmemi_fail(-EPROTO, "PE 0 published no name of the job");
}

static int open_session(void)
{
    static bool opened;
    if (opened)
        return 0;
    int rc = load();
    if (rc < 0)
        return rc;
    int status = pmix.init(&session.own, NULL, 0);
    if (status != 0)
        return fail("PMIx_Init", status);
    session.pid = getpid();
    opened = true;
    atexit(shmemi_pmix_end);
    return 0;
}

int shmemi_pmix_find(int64_t deadline, struct shmemi_pmix_place *out)
{
    struct shmemi_pmix_place *place = &session.place;
    int rc = session.known ? 0 : open_session();
    if (rc == 0 && !session.known) {
        place->rank = (int)session.own.rank;
        rc = get_number("pmix.job.size", &place->size);
    }
    if (rc == 0 && !session.known)
        rc = get_number("pmix.local.size", &place->local);
    if (rc == 0 && !session.known && place->size > 1 && place->size == place->local) {
        if (place->rank > 0)
            rc = await_id(deadline, place->id);
        else if ((rc = *place->id ? 0 : shmemi_unique_id(place->id)) == 0)
            rc = publish_id(place->id);
    }
    if (rc < 0)
        return rc;
    session.known = true;
    *out = *place;
    return 0;
}

void shmemi_pmix_end(void)
{
    static atomic_flag ended = ATOMIC_FLAG_INIT;
    /* relaxed: one thread alone does it, and none waits for that */
    if (session.pid == getpid() && !atomic_flag_test_and_set_explicit(&ended, memory_order_relaxed))
        pmix.finalize(NULL, 0);
}
