// SPDX-License-Identifier: Apache-2.0
// Start, end, threads, and questions about the job.
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "comm/finalize.h"
#include "comm/memory.h"
#include "comm/start.h"
#include "comm/team.h"
#include "job/lifecycle.h"
#include "check.h"
#include "publish.h"

static const struct shmemi_job_request from_environment;

/* Joined by a function of the standard: then a program that ends well is finalized, whether it says so or not. */
static _Atomic bool ends_at_exit;

/* One that ends with another status is not: nobody should wait for it, and the others are told that it has gone. */
static void finalize_at_exit(int status, void *unused)
{
    (void)unused;
    if (status != 0 || !atomic_load_explicit(&ends_at_exit, memory_order_relaxed)) /* set by this thread, or long ago */
        return;
    if (shmemi_initialized())
        shmemi_finalize_at_exit();
}

/* Before the program registers anything, also where it is linked with -static: what it does at exit itself comes first,
   and may still use the library. 101: the first that is not the compiler's own. */
__attribute__((constructor(101))) static void watch_exit(void)
{
    (void)on_exit(finalize_at_exit, NULL);
}

static int start(void)
{
    int rc = shmemi_start(&from_environment);
    if (rc == 0)
        atomic_store_explicit(&ends_at_exit, true, memory_order_relaxed); /* read at exit */
    return rc;
}

static void init_or_die(const char *fn)
{
    if (start() < 0)
        shmemi_die(fn, "%s", shmemi_last_error());
}

static int my_pe(const char *fn)
{
    shmemi_check_job(fn);
    return shmemi_current->me;
}

static int n_pes(const char *fn)
{
    shmemi_check_job(fn);
    return shmemi_current->n;
}

void pshmem_init(void)
{
    init_or_die("shmem_init");
}
SHMEMI_PUBLISH(shmem_init);

/* Every level is provided, whatever is asked for: all functions may be called by all threads. */
int pshmem_init_thread(int requested, int *provided)
{
    shmemi_check_pointer("shmem_init_thread", "provided", provided, 1);
    *provided = SHMEM_THREAD_SINGLE;
    if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
        return shmemi_fail(-EINVAL, "shmem_init_thread: requested is %d, which is no thread level", requested);
    int rc = start();
    if (rc < 0) { /* the standard wants a report, too: the program may not look at the answer */
        shmemi_log(SHMEMI_LOG_ERROR, "job", "shmem_init_thread: %s", shmemi_last_error());
        return rc;
    }
    *provided = SHMEM_THREAD_MULTIPLE;
    return 0;
}
SHMEMI_PUBLISH(shmem_init_thread);

void pshmem_query_thread(int *provided)
{
    shmemi_check_pointer("shmem_query_thread", "provided", provided, 1);
    *provided = SHMEM_THREAD_MULTIPLE;
}
SHMEMI_PUBLISH(shmem_query_thread);

void pshmem_finalize(void)
{
    shmemi_check_job("shmem_finalize");
    shmemi_finalize_or_end("shmem_finalize");
}
SHMEMI_PUBLISH(shmem_finalize);

void pshmem_query_initialized(int *initialized)
{
    shmemi_check_pointer("shmem_query_initialized", "initialized", initialized, 1);
    *initialized = shmemi_initialized();
}
SHMEMI_PUBLISH(shmem_query_initialized);

void pshmem_global_exit(int status)
{
    shmemi_check_job("shmem_global_exit");
    shmemi_global_exit(status);
}
SHMEMI_PUBLISH(shmem_global_exit);

int pshmem_my_pe(void)
{
    return my_pe("shmem_my_pe");
}
SHMEMI_PUBLISH(shmem_my_pe);

int pshmem_n_pes(void)
{
    return n_pes("shmem_n_pes");
}
SHMEMI_PUBLISH(shmem_n_pes);

int pshmem_pe_accessible(int pe)
{
    return (unsigned)pe < (unsigned)n_pes("shmem_pe_accessible");
}
SHMEMI_PUBLISH(shmem_pe_accessible);

int pshmem_addr_accessible(const void *addr, int pe)
{
    return (unsigned)pe < (unsigned)n_pes("shmem_addr_accessible") && shmemi_address_accessible(addr, pe);
}
SHMEMI_PUBLISH(shmem_addr_accessible);

void *pshmem_ptr(const void *dest, int pe)
{
    shmemi_check_pe("shmem_ptr", "pe", pe);
    return shmemi_address_ptr(dest, pe);
}
SHMEMI_PUBLISH(shmem_ptr);

void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    shmemi_check_job("shmem_team_ptr");
    int size = shmemi_team_n_pes((uintptr_t)team);
    if (size < 0)
        return NULL;
    if ((unsigned)pe >= (unsigned)size)
        shmemi_die("shmem_team_ptr", "pe is %d, but the team has PEs 0 to %d", pe, size - 1);
    return shmemi_address_ptr(dest, shmemi_team_translate((uintptr_t)team, pe, SHMEMI_TEAM_WORLD));
}
SHMEMI_PUBLISH(shmem_team_ptr);

void pshmem_info_get_version(int *major, int *minor)
{
    shmemi_check_pointer("shmem_info_get_version", "major", major, 1);
    shmemi_check_pointer("shmem_info_get_version", "minor", minor, 1);
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
SHMEMI_PUBLISH(shmem_info_get_version);

_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the name does not fit");

void pshmem_info_get_name(char *name)
{
    shmemi_check_pointer("shmem_info_get_name", "name", name, 1);
    memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}
SHMEMI_PUBLISH(shmem_info_get_name);

void pshmem_pcontrol(int level, ...)
{
    (void)level;
}
SHMEMI_PUBLISH(shmem_pcontrol);

/* The old interface. */

void pstart_pes(int npes)
{
    (void)npes;
    if (!shmemi_initialized())
        init_or_die("start_pes");
}
SHMEMI_PUBLISH(start_pes);

int p_my_pe(void)
{
    return my_pe("_my_pe");
}
SHMEMI_PUBLISH(_my_pe);

int p_num_pes(void)
{
    return n_pes("_num_pes");
}
SHMEMI_PUBLISH(_num_pes);
