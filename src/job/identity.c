// SPDX-License-Identifier: Apache-2.0
// Finding rank, size and job.
#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/settings.h"
#include "control.h"

int shmemi_unique_id(char out[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return shmemi_fail_errno("getrandom");
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int check(struct shmemi_identity *id)
{
    if (id->n < 1 || id->n > SHMEMI_PES_MOST)
        return shmemi_fail(-EINVAL, "%s is %d, but a job has 1 to %d PEs", id->size_source, id->n, SHMEMI_PES_MOST);
    if (id->me < 0 || id->me >= id->n)
        return shmemi_fail(-EINVAL, "%s is %d, but the job has %d PEs (%s), so it must be from 0 to %d",
                           id->rank_source, id->me, id->n, id->size_source, id->n - 1);
    return 0;
}

static int from_variables(const char *rank_name, const char *size_name, struct shmemi_identity *id)
{
    long rank, size;
    const char *rank_text = shmemi_setting(rank_name), *size_text = shmemi_setting(size_name);
    if (!rank_text && !size_text)
        return shmemi_fail(-EINVAL, "neither %s nor %s is set: a job needs both", rank_name, size_name);
    if (!rank_text || !size_text)
        return shmemi_fail(-EINVAL, "%s is set but %s is not: a job needs both", rank_text ? rank_name : size_name,
                           rank_text ? size_name : rank_name);
    int rc = shmemi_parse_int(size_name, size_text, 1, SHMEMI_PES_MOST, &size);
    if (rc < 0 || (rc = shmemi_parse_int(rank_name, rank_text, 0, INT32_MAX, &rank)) < 0)
        return rc;
    id->me = (int)rank;
    id->n = (int)size;
    id->rank_source = rank_name;
    id->size_source = size_name;
    return check(id);
}

/* Texts that differ must give names that differ, so none is cut. */
static int name_job(struct shmemi_identity *id, const char *kind, const char *text)
{
    int length = snprintf(id->name, sizeof id->name, "%s %s", kind, text);
    if (length < 0 || (size_t)length >= sizeof id->name)
        return shmemi_fail(-EINVAL, "%s has %zu bytes, but at most %zu are possible",
                           kind[0] == 'u' ? "uid" : "SHMEM_JOB", strlen(text), sizeof id->name - 8);
    return 0;
}

/* torchrun and whoever sets the same variables. MASTER_PORT itself belongs to torch's own store and is only a name
   here. A restarted group of workers is a new job. */
static int from_torch(struct shmemi_identity *id)
{
    int rc = from_variables("RANK", "WORLD_SIZE", id);
    if (rc < 0 || id->n == 1)
        return rc;
    long local = id->n;
    if ((rc = shmemi_setting_int("LOCAL_WORLD_SIZE", 1, SHMEMI_PES_MOST, &local)) < 0)
        return rc;
    if (local != id->n)
        return shmemi_fail(-ENOTSUP,
                           "WORLD_SIZE is %d but LOCAL_WORLD_SIZE is %ld: the job spans several hosts, and this build "
                           "joins the processes of one",
                           id->n, local);
    const char *address = shmemi_setting("MASTER_ADDR"), *port = shmemi_setting("MASTER_PORT");
    if (!address || !port)
        return shmemi_fail(-EINVAL,
                           "RANK and WORLD_SIZE are set but %s is not: the processes of a job find each other by it",
                           address ? "MASTER_PORT" : "MASTER_ADDR");
    const char *run = shmemi_setting("TORCHELASTIC_RUN_ID"), *restart = shmemi_setting("TORCHELASTIC_RESTART_COUNT");
    snprintf(id->name, sizeof id->name, "torch %.200s %.60s %.200s %.30s", address, port, run ? run : "",
             restart ? restart : "");
    return 0;
}

int shmemi_identity_find(const struct shmemi_job_request *request, struct shmemi_identity *out)
{
    *out = (struct shmemi_identity){.me = 0, .n = 1, .name = "alone"};
    if (request && request->given) {
        out->me = request->rank;
        out->n = request->size;
        out->rank_source = "rank";
        out->size_source = "world_size";
        if (out->n > 1 && (!request->uid || !*request->uid))
            return shmemi_fail(-EINVAL, "uid is missing: processes that are given rank and world_size find each other "
                                        "by a uid that all of them know");
        return name_job(out, "uid", request->uid ? request->uid : "") < 0 ? -EINVAL : check(out);
    }
    const char *job = shmemi_setting("SHMEM_JOB");
    if (job) {
        int rc = name_job(out, "run", job);
        return rc < 0 ? rc : from_variables("SHMEM_RANK", "SHMEM_SIZE", out);
    }
    if (shmemi_setting("RANK") || shmemi_setting("WORLD_SIZE"))
        return from_torch(out);
    return 0;
}
