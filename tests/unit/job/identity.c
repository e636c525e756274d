// SPDX-License-Identifier: Apache-2.0
// Who a process is in which job: every source, and every combination that makes no sense.
#include "unit.h"

#include "job/identity.h"

static const char *const variables[] = {"SHMEM_JOB",
                                        "SHMEM_RANK",
                                        "SHMEM_SIZE",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "LOCAL_WORLD_SIZE",
                                        "LOCAL_RANK",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "TORCHELASTIC_RUN_ID",
                                        "TORCHELASTIC_RESTART_COUNT",
                                        "PMIX_NAMESPACE",
                                        "PMIX_RANK",
                                        "PMIX_SERVER_URI2",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "SLURM_JOB_ID",
                                        "SLURM_STEP_ID",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_STEP_NUM_NODES"};

/* "A=1 B=two": these are set, and no others. */
static void environment(const char *assignments)
{
    char copy[600], *rest = copy;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    snprintf(copy, sizeof copy, "%s", assignments);
    for (char *one; (one = strsep(&rest, " "));) {
        char *equals = strchr(one, '=');
        if (!equals)
            continue;
        *equals = 0;
        setenv(one, equals + 1, 1);
    }
}

static struct shmemi_identity found(const char *assignments)
{
    struct shmemi_identity id;
    environment(assignments);
    ok(shmemi_identity_find(NULL, 0, &id));
    return id;
}

static void is(struct shmemi_identity id, int me, int n, const char *name)
{
    assert_int_equal(id.me, me);
    assert_int_equal(id.n, n);
    assert_string_equal(id.name, name);
}

static void sources(void **state)
{
    (void)state;
    is(found(""), 0, 1, "alone");
    is(found("SHMEM_JOB=abc SHMEM_RANK=2 SHMEM_SIZE=4"), 2, 4, "run abc");
    is(found("SHMEM_JOB=abc SHMEM_RANK=0 SHMEM_SIZE=1024 RANK=7 WORLD_SIZE=8"), 0, 1024,
       "run abc"); /* the launcher wins */
    is(found("RANK=1 WORLD_SIZE=2 MASTER_ADDR=here MASTER_PORT=29500"), 1, 2, "torch here 29500  ");
    is(found("RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=here MASTER_PORT=29500 TORCHELASTIC_RUN_ID=r "
             "TORCHELASTIC_RESTART_COUNT=3"),
       1, 2, "torch here 29500 r 3");
    is(found("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=n "
             "PMIX_SERVER_URI2=u"),
       1, 2, "ompi n u");
    is(found("SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=1 SLURM_JOB_ID=7 SLURM_STEP_ID=0"), 1, 2,
       "slurm 7 0");
    is(found("SLURM_PROCID=0 SLURM_JOB_ID=7"), 0, 1, "alone"); /* a batch script's own process */
    is(found("RANK=1 WORLD_SIZE=2 MASTER_ADDR=here MASTER_PORT=1 PMIX_NAMESPACE=n PMIX_RANK=0 OMPI_COMM_WORLD_SIZE=4"),
       1, 2, "torch here 1  "); /* set by a script from mpirun's */
    is(found("PMI_RANK=0 PMI_SIZE=1"), 0, 1, "alone");
    is(found("RANK=0 WORLD_SIZE=1"), 0, 1, "alone"); /* nobody to be found */
    is(found("LOCAL_RANK=1 MASTER_ADDR=here SHMEM_RANK=3"), 0, 1, "alone");
}

static void a_restart_is_another_job(void **state)
{
    const char *base =
        "RANK=1 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1 TORCHELASTIC_RUN_ID=r TORCHELASTIC_RESTART_COUNT=";
    char first[300], second[300];
    (void)state;
    snprintf(first, sizeof first, "%s0", base);
    snprintf(second, sizeof second, "%s1", base);
    struct shmemi_identity a = found(first), b = found(second);
    assert_string_not_equal(a.name, b.name);
}

static void bad_environments(void **state)
{
    static const struct {
        const char *set, *says;
        int code;
    } bad[] = {
        {"SHMEM_JOB=j", "neither SHMEM_RANK nor SHMEM_SIZE is set", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=0", "SHMEM_RANK is set but SHMEM_SIZE is not", EINVAL},
        {"SHMEM_JOB=j SHMEM_SIZE=2", "SHMEM_SIZE is set but SHMEM_RANK is not", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK= SHMEM_SIZE=2", "SHMEM_SIZE is set but SHMEM_RANK is not", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=2 SHMEM_SIZE=2",
         "SHMEM_RANK is 2, but the job has 2 PEs (SHMEM_SIZE), so it must be from 0 to 1", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=-1 SHMEM_SIZE=2", "SHMEM_RANK is '-1'", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=one SHMEM_SIZE=2", "SHMEM_RANK is 'one'", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=0 SHMEM_SIZE=0", "SHMEM_SIZE is '0', but must be an integer from 1 to 1024", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=0 SHMEM_SIZE=1025", "SHMEM_SIZE is '1025'", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=0 SHMEM_SIZE=2x", "SHMEM_SIZE is '2x'", EINVAL},
        {"SHMEM_JOB=j SHMEM_RANK=99999999999 SHMEM_SIZE=2", "SHMEM_RANK is '99999999999'", EINVAL},
        {"RANK=0", "RANK is set but WORLD_SIZE is not", EINVAL},
        {"WORLD_SIZE=4", "WORLD_SIZE is set but RANK is not", EINVAL},
        {"RANK=4 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1", "RANK is 4, but the job has 4 PEs (WORLD_SIZE)", EINVAL},
        {"RANK=-1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1", "RANK is '-1'", EINVAL},
        {"RANK=0 WORLD_SIZE=0", "WORLD_SIZE is '0'", EINVAL},
        {"RANK=0 WORLD_SIZE=2000 MASTER_ADDR=a MASTER_PORT=1", "WORLD_SIZE is '2000'", EINVAL},
        {"RANK=0 WORLD_SIZE=2", "MASTER_ADDR is not", EINVAL},
        {"RANK=0 WORLD_SIZE=2 MASTER_PORT=1", "MASTER_ADDR is not", EINVAL},
        {"RANK=0 WORLD_SIZE=2 MASTER_ADDR=a", "MASTER_PORT is not", EINVAL},
        {"RANK=0 WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1",
         "WORLD_SIZE is 4 but LOCAL_WORLD_SIZE is 2", ENOTSUP},
        {"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE is set but OMPI_COMM_WORLD_RANK is not", EINVAL},
        {"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0", "PMIX_NAMESPACE is not set", EINVAL},
        {"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=n", "PMIX_SERVER_URI2 is not set", EINVAL},
        {"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=3",
         "OMPI_COMM_WORLD_SIZE is 4 but OMPI_COMM_WORLD_LOCAL_SIZE is 3: the job spans several hosts", ENOTSUP},
        {"SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NUM_TASKS is set but SLURM_PROCID is not", EINVAL},
        {"SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_JOB_ID=7", "SLURM_STEP_ID is not set", EINVAL},
        {"SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=7 SLURM_STEP_ID=0",
         "SLURM_STEP_NUM_NODES is 2: the job spans several hosts", ENOTSUP},
        {"PMI_SIZE=4 PMI_RANK=1", "PMI_SIZE is 4: a launcher started this process that speaks PMI-1 or PMI-2", ENOTSUP},
        {"PMI_SIZE=x", "PMI_SIZE is 'x'", EINVAL},
        {"RANK=0 WORLD_SIZE=4 LOCAL_WORLD_SIZE=no MASTER_ADDR=a MASTER_PORT=1", "LOCAL_WORLD_SIZE is 'no'", EINVAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct shmemi_identity id;
        environment(bad[i].set);
        refuses(bad[i].code, bad[i].says, shmemi_identity_find(NULL, 0, &id));
    }
}

static void requests(void **state)
{
    struct shmemi_identity id;
    struct shmemi_job_request request = {.given = true, .rank = 1, .size = 2, .uid = "u"};
    (void)state;
    environment("SHMEM_JOB=j SHMEM_RANK=5 SHMEM_SIZE=9");
    ok(shmemi_identity_find(&request, 0, &id));
    is(id, 1, 2, "uid u"); /* the caller knows better */
    request.given = false;
    ok(shmemi_identity_find(&request, 0, &id));
    is(id, 5, 9, "run j");
    request.given = true;
    request.rank = 2;
    refuses(EINVAL, "rank is 2, but the job has 2 PEs (world_size)", shmemi_identity_find(&request, 0, &id));
    request.rank = -1;
    refuses(EINVAL, "rank is -1", shmemi_identity_find(&request, 0, &id));
    request.rank = 0;
    request.size = 0;
    refuses(EINVAL, "world_size is 0", shmemi_identity_find(&request, 0, &id));
    request.size = 1025;
    refuses(EINVAL, "world_size is 1025", shmemi_identity_find(&request, 0, &id));
    request.size = 2;
    request.uid = NULL;
    refuses(EINVAL, "uid is missing", shmemi_identity_find(&request, 0, &id));
    request.uid = "";
    refuses(EINVAL, "uid is missing", shmemi_identity_find(&request, 0, &id));
    request.size = 1; /* alone: nobody to be found */
    ok(shmemi_identity_find(&request, 0, &id));
    environment("");
}

/* A name is never cut: two that differ far behind would be one job. */
static void long_names(void **state)
{
    char text[700];
    struct shmemi_identity id;
    struct shmemi_job_request request = {.given = true, .rank = 0, .size = 2, .uid = text};
    (void)state;
    memset(text, 'u', sizeof text - 1);
    text[sizeof text - 1] = 0;
    refuses(EINVAL, "uid has 699 bytes", shmemi_identity_find(&request, 0, &id));
    text[400] = 0;
    ok(shmemi_identity_find(&request, 0, &id));
    assert_non_null(strstr(id.name, text));
}

static void unique_ids(void **state)
{
    char a[33], b[33];
    (void)state;
    ok(shmemi_unique_id(a));
    ok(shmemi_unique_id(b));
    assert_int_equal(strlen(a), 32);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_string_not_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(sources),          clean_test(a_restart_is_another_job),
        clean_test(bad_environments), clean_test(requests),
        clean_test(long_names),       clean_test(unique_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
