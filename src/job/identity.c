// SPDX-License-Identifier: Apache-2.0
// Finding rank, size and job.
#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "control.h"
#include "launchers.h"

int shmemi_unique_id(char out[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return shmemi_fail_errno("getrandom");
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int shmemi_identity_check(const struct shmemi_identity *id)
{
    if (id->n < 1 || id->n > SHMEMI_PES_MOST)
        return shmemi_fail(-EINVAL, "%s is %d, but a job has 1 to %d PEs", id->size_source, id->n, SHMEMI_PES_MOST);
    if (id->me < 0 || id->me >= id->n)
        return shmemi_fail(-EINVAL, "%s is %d, but the job has %d PEs (%s), so it must be from 0 to %d",
                           id->rank_source, id->me, id->n, id->size_source, id->n - 1);
    return 0;
}

int shmemi_identity_name(struct shmemi_identity *id, const char *kind, const char *source, const char *text)
{
    int length = snprintf(id->name, sizeof id->name, "%s %s", kind, text);
    if (length < 0 || (size_t)length >= sizeof id->name)
        return shmemi_fail(-EINVAL, "%s has %zu bytes, but at most %zu are possible", source, strlen(text),
                           sizeof id->name - 8);
    return 0;
}

int shmemi_identity_find(const struct shmemi_job_request *request, int64_t deadline, struct shmemi_identity *out)
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
        int rc = shmemi_identity_name(out, "uid", "uid", request->uid ? request->uid : "");
        return rc < 0 ? rc : shmemi_identity_check(out);
    }
    return shmemi_launchers_ask(deadline, out);
}
