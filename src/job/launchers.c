// SPDX-License-Identifier: Apache-2.0
// The launchers, in the order in which they are asked: whoever is nearer to the process comes first.
#include "launchers.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/settings.h"
#include "control.h"
#include "pmix.h"

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
    if (rc < 0 || (rc = shmemi_parse_int(rank_name, rank_text, 0, INT_MAX, &rank)) < 0)
        return rc;
    id->me = (int)rank;
    id->n = (int)size;
    id->rank_source = rank_name;
    id->size_source = size_name;
    return shmemi_identity_check(id);
}

/* Only processes of one host form a job. here: how many of its processes `here_name` says run on this one. */
static int one_host(const struct shmemi_identity *id, long here, const char *here_name)
{
    if (here == id->n)
        return 0;
    return shmemi_fail(
        -ENOTSUP,
        "%s is %d but %s is %ld: the job spans several hosts, and this build joins the processes of one. "
        "Start all of them on one host",
        id->size_source, id->n, here_name, here);
}

static int from_shmemrun(const char *job, struct shmemi_identity *id)
{
    int rc = shmemi_identity_name(id, "run", "SHMEM_JOB", job);
    return rc < 0 ? rc : from_variables("SHMEM_RANK", "SHMEM_SIZE", id);
}

/* The same, of a launcher that also says how many of them are on this host: all have to be. */
static int from_local_variables(const char *rank, const char *size, const char *local_size, struct shmemi_identity *id)
{
    int rc = from_variables(rank, size, id);
    long local = id->n;
    if (rc < 0 || id->n == 1 || (rc = shmemi_setting_int(local_size, 1, SHMEMI_PES_MOST, &local)) < 0)
        return rc;
    return one_host(id, local, local_size);
}

/* torchrun and whoever sets the same variables. MASTER_PORT itself belongs to torch's own store and is only a name
   here. A restarted group of workers is a new job. */
static int from_torch(struct shmemi_identity *id)
{
    int rc = from_local_variables("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", id);
    if (rc < 0 || id->n == 1)
        return rc;
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

/* Open MPI's mpirun: its variables say what its PMIx server would, and the address of the server is a name that no
   other job has at the same time. The client is left to MPI: version 5 cannot begin where another has opened it. */
static int from_open_mpi(struct shmemi_identity *id)
{
    static const char *const uris[] = {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2",
                                       "PMIX_SERVER_URI21"};
    int rc = from_local_variables("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", id);
    if (rc < 0 || id->n == 1)
        return rc;
    const char *namespace = shmemi_setting("PMIX_NAMESPACE"), *uri = NULL;
    for (size_t i = 0; i < sizeof uris / sizeof *uris && !uri; i++)
        uri = shmemi_setting(uris[i]);
    if (!namespace || !uri)
        return shmemi_fail(-EINVAL,
                           "OMPI_COMM_WORLD_SIZE is %d but %s is not set, by which the processes of a job find each "
                           "other: was the environment cut on its way from mpirun?",
                           id->n, namespace ? "PMIX_SERVER_URI2" : "PMIX_NAMESPACE");
    snprintf(id->name, sizeof id->name, "ompi %.200s %.200s", namespace, uri);
    return 0;
}

static int from_pmix(int64_t deadline, struct shmemi_identity *id)
{
    struct shmemi_pmix_place place;
    int rc = shmemi_pmix_find(deadline, &place);
    if (rc < 0)
        return shmemi_fail_in(rc, "PMIX_NAMESPACE is set, so a PMIx server started this process, but asking it failed");
    id->me = place.rank;
    id->n = place.size;
    id->rank_source = "the PMIx rank";
    id->size_source = "the PMIx job's size";
    if ((rc = shmemi_identity_check(id)) < 0 || id->n == 1 ||
        (rc = one_host(id, place.local, "its part on this host")) < 0)
        return rc;
    return shmemi_identity_name(id, "pmix", "PMIX_NAMESPACE", place.id);
}

/* srun without PMIx. A batch script's own processes have most of these variables too, but no number of tasks of a step.
 */
static int from_slurm(struct shmemi_identity *id)
{
    int rc = from_variables("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", id);
    if (rc < 0 || id->n == 1)
        return rc;
    long hosts = 1;
    if ((rc = shmemi_setting_int("SLURM_STEP_NUM_NODES", 1, INT_MAX, &hosts)) < 0)
        return rc;
    if (hosts > 1)
        return shmemi_fail(-ENOTSUP,
                           "SLURM_STEP_NUM_NODES is %ld: the job spans several hosts, and this build joins the "
                           "processes of one: srun --nodes=1",
                           hosts);
    const char *job = shmemi_setting("SLURM_JOB_ID"), *step = shmemi_setting("SLURM_STEP_ID");
    if (!job || !step)
        return shmemi_fail(-EINVAL,
                           "SLURM_STEP_NUM_TASKS is %d but %s is not set: the processes of a job find each "
                           "other by it",
                           id->n, job ? "SLURM_STEP_ID" : "SLURM_JOB_ID");
    snprintf(id->name, sizeof id->name, "slurm %.200s %.200s", job, step);
    return 0;
}

/* What has only the older protocols. Alone it would be n jobs of one, which nobody meant. */
static int refuse_pmi(void)
{
    long size = 1;
    int rc = shmemi_setting_int("PMI_SIZE", 1, INT_MAX, &size);
    if (rc < 0 || size == 1)
        return rc;
    return shmemi_fail(-ENOTSUP,
                       "PMI_SIZE is %ld: a launcher started this process that speaks PMI-1 or PMI-2, which this build "
                       "does not. Start it with shmemrun -n %ld, with Open MPI's mpirun or another launcher that "
                       "speaks PMIx, or give rank, size and a unique id to init",
                       size, size);
}

int shmemi_launchers_ask(int64_t deadline, struct shmemi_identity *out)
{
    const char *job = shmemi_setting("SHMEM_JOB");
    bool torch = shmemi_setting("RANK") || shmemi_setting("WORLD_SIZE");
    if (job)
        return from_shmemrun(job, out);
    if (torch && shmemi_setting("MASTER_ADDR")) /* set for this program, perhaps from what follows */
        return from_torch(out);
    if (shmemi_setting("OMPI_COMM_WORLD_SIZE"))
        return from_open_mpi(out);
    if (shmemi_pmix_present())
        return from_pmix(deadline, out);
    if (shmemi_setting("SLURM_STEP_NUM_TASKS"))
        return from_slurm(out);
    if (shmemi_setting("PMI_SIZE"))
        return refuse_pmi();
    return torch ? from_torch(out) : 0;
}
