/* SPDX-License-Identifier: Apache-2.0 */
/* OpenSHMEM 1.6: processes that read and write each other's memory.
   Written by spec/generate.py from spec/openshmem.toml; do not edit.

   A PE is a process of the job. A symmetric address is one on the symmetric heap (shmem_malloc) or of a global
   or static variable of a program linked by oshcc; it names this PE's copy, and to a function that also takes a
   pe, that PE's copy. TYPE stands for the names in the functions below it, SIZE for 8, 16, 32, 64, 128 bits.
   Extensions are in shmemx.h, the pshmem_ names for profilers in pshmem.h. */
/* clang-format off */
#ifndef SHMEM_H
#define SHMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C++" { /* some programs include C headers in extern "C" */
#include <complex>
}
#define SHMEMI_COMPLEX(T) std::complex<T>
extern "C" {
#else
#define SHMEMI_COMPLEX(T) T _Complex
#endif
#pragma GCC visibility push(default)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC diagnostic ignored "-Wpedantic"

/* The compiler tells whoever uses a deprecated name; -Wno-deprecated-declarations keeps it quiet. */
#define SHMEMI_DEPRECATED(text) __attribute__((__deprecated__(text)))

/* A communication context: what fence and quiet order and complete. Opaque; = and == work. */
typedef struct shmemi_ctx *shmem_ctx_t;

/* An ordered set of PEs. Opaque, means something on this PE only; = and == work. */
typedef struct shmemi_team *shmem_team_t;

/* Attributes of a team. */
typedef struct {
    int num_contexts; /* contexts that the program wants to have at once on the team */
} shmem_team_config_t;

/* Attributes of a session. */
typedef struct {
    size_t total_ops; /* upper bound of the transfers in the session */
} shmem_ctx_session_config_t;

/* The version of the standard, and this library's name. */
#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN 64                   /* bytes that shmem_info_get_name may write */
#define SHMEM_VENDOR_STRING "shmem 0.1"

/* Thread levels, ascending. */
#define SHMEM_THREAD_SINGLE 0                   /* the process has one thread */
#define SHMEM_THREAD_FUNNELED 1                 /* only the thread that called init calls the library */
#define SHMEM_THREAD_SERIALIZED 2               /* any thread may call, never two at once */
#define SHMEM_THREAD_MULTIPLE 3                 /* any thread may call at any time */

/* Comparisons of the wait and test functions; the object in memory stands on the left. */
#define SHMEM_CMP_EQ 1                          /* == */
#define SHMEM_CMP_NE 2                          /* != */
#define SHMEM_CMP_GT 3                          /* > */
#define SHMEM_CMP_GE 4                          /* >= */
#define SHMEM_CMP_LT 5                          /* < */
#define SHMEM_CMP_LE 6                          /* <= */

/* How a put with signal changes its signal word. */
#define SHMEM_SIGNAL_SET 1                      /* stores the value */
#define SHMEM_SIGNAL_ADD 2                      /* adds the value */

/* Hints of shmem_malloc_with_hints, or-ed together. */
#define SHMEM_MALLOC_ATOMICS_REMOTE 1L          /* mostly the target of other PEs' atomics */
#define SHMEM_MALLOC_SIGNAL_REMOTE 2L           /* holds signal words */

/* Bits of a config_mask: which members of shmem_team_config_t count. */
#define SHMEM_TEAM_NUM_CONTEXTS 1L

/* Options of contexts. */
#define SHMEM_CTX_SERIALIZED 1L                 /* the program never uses it from two threads at once */
#define SHMEM_CTX_PRIVATE 2L                    /* only the thread that made it uses it */
#define SHMEM_CTX_NOSTORE 4L                    /* fence and quiet need not cover plain stores */

/* Options of sessions, and bits of their config_mask. */
#define SHMEM_CTX_SESSION_BATCH 1L              /* operations may be gathered */
#define SHMEM_CTX_SESSION_TOTAL_OPS 1L          /* total_ops counts */

/* Predefined handles. */
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)      /* all PEs */
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)     /* the PEs whose memory this one reaches by load and store */
#define SHMEM_CTX_DEFAULT ((shmem_ctx_t)1)      /* the context of every function without a ctx argument */

/* What is no team and no context. */
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_CTX_INVALID ((shmem_ctx_t)0)

/* Work arrays of the collectives on active sets. */
#define SHMEM_SYNC_VALUE (-1L)                  /* what every element of pSync holds before and after */
#define SHMEM_BARRIER_SYNC_SIZE 48              /* longs */
#define SHMEM_BCAST_SYNC_SIZE 48                /* longs */
#define SHMEM_COLLECT_SYNC_SIZE 48              /* longs */
#define SHMEM_REDUCE_SYNC_SIZE 48               /* longs */
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 16        /* elements of pWrk, at least */
#define SHMEM_ALLTOALL_SYNC_SIZE 48             /* longs */
#define SHMEM_ALLTOALLS_SYNC_SIZE 48            /* longs */
#define SHMEM_SYNC_SIZE 48                      /* longs, for any of them */

/* Old spellings, deprecated in 1.3. */
#define _SHMEM_MAJOR_VERSION SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ SHMEM_CMP_EQ
#define _SHMEM_CMP_NE SHMEM_CMP_NE
#define _SHMEM_CMP_GT SHMEM_CMP_GT
#define _SHMEM_CMP_GE SHMEM_CMP_GE
#define _SHMEM_CMP_LT SHMEM_CMP_LT
#define _SHMEM_CMP_LE SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* ------------------------------------------------------------------------------ Start, end, and questions */

/* shmem_init. Joins the job, or makes a job of one PE when the program was started plainly. May be called again;
   every call needs its shmem_finalize. A program that ends with status 0 without (deprecated in 1.2) finalizes
   then.
   Errors: What keeps the job from forming (a PE that never came, a bad variable, too little memory) is printed
     and ends the program with a nonzero exit code.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.2. */
void shmem_init(void);

/* shmem_my_pe. The number of this PE.
   Returns: 0 to shmem_n_pes() - 1.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines". */
int shmem_my_pe(void);

/* shmem_n_pes. The number of PEs in the job.
   Returns: 1 or more.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines". */
int shmem_n_pes(void);

/* shmem_finalize. Leaves the job. Collective. The last call completes all communication and frees the symmetric
   heap; an earlier one (after several shmem_init) acts as shmem_barrier_all. shmem_init may follow.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Called by the thread that called init, while no other thread uses the library.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.2. */
void shmem_finalize(void);

/* shmem_query_initialized. Whether this PE is between its first shmem_init and its last shmem_finalize. May be
   called at any time.
     initialized receives 1 or 0
   Errors: A null pointer ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.6. */
void shmem_query_initialized(int *initialized);

/* shmem_global_exit. Ends all PEs of the job; one call on one PE is enough. Flushes the C streams of all of
   them; functions registered with atexit are not called.
     status      the exit status of the job
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.2. */
__attribute__((__noreturn__)) void shmem_global_exit(int status);

/* shmem_pe_accessible. Whether this PE can reach PE pe.
     pe          any number
   Returns: 1 or 0; 0 for a number that is no PE.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines". */
int shmem_pe_accessible(int pe);

/* shmem_addr_accessible. Whether an address is symmetric and can be reached on PE pe.
     addr        any address
     pe          any number
   Returns: 1 or 0.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines". */
int shmem_addr_accessible(const void *addr, int pe);

/* shmem_ptr. A pointer to PE pe's copy of a symmetric object, for plain loads and stores. It is no symmetric
   address: never pass it on as one.
     dest        where to, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: NULL if dest is not symmetric or pe's memory cannot be reached by load and store, as that of devices.
   Errors: A pe outside the job, and a call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines". */
void *shmem_ptr(const void *dest, int pe);

/* shmem_team_ptr. As shmem_ptr, with the PE numbered in a team.
     team        the team
     dest        where to, symmetric
     pe          the PE as numbered in the team
   Returns: as shmem_ptr; NULL for SHMEM_TEAM_INVALID.
   Errors: A pe outside the team, and a call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.6. */
void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe);

/* shmem_info_get_version. The version of the standard that the library follows. May be called at any time.
     major       receives 1
     minor       receives 6
   Errors: A null pointer ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.2. */
void shmem_info_get_version(int *major, int *minor);

/* shmem_info_get_name. The library's name, SHMEM_VENDOR_STRING. May be called at any time.
     name        room for SHMEM_MAX_NAME_LEN bytes; receives a string
   Errors: A null pointer ends the job.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; since 1.2. */
void shmem_info_get_name(char *name);

/* start_pes. As shmem_init; a later call does nothing. The library finalizes when the program ends with status
   0.
     npes        not used
   Errors: As shmem_init.
   Threads: Safe.
   Standard: "Library Setup, Exit, and Query Routines"; deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2") void start_pes(int npes);

/* _my_pe. Old name of shmem_my_pe, deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2; use shmem_my_pe") int _my_pe(void);

/* _num_pes. Old name of shmem_n_pes, deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2; use shmem_n_pes") int _num_pes(void);

/* ------------------------------------------------------------------------------------------------ Threads */

/* shmem_init_thread. As shmem_init, and says what threads may do. This library always provides
   SHMEM_THREAD_MULTIPLE.
     requested   a thread level
     provided    receives the level that holds
   Returns: 0, or not 0 when there is no such level or the job could not form (shmemx_last_error() tells why, and
     the latter is printed); *provided is then SHMEM_THREAD_SINGLE.
   Errors: A null pointer ends the job.
   Threads: Safe.
   Standard: "Thread Support"; since 1.4. */
int shmem_init_thread(int requested, int *provided);

/* shmem_query_thread. The thread level that holds. May be called at any time.
     provided    receives the level
   Errors: A null pointer ends the job.
   Threads: Safe.
   Standard: "Thread Support"; since 1.4. */
void shmem_query_thread(int *provided);

/* ------------------------------------------------------------------------------------- The symmetric heap */

/* shmem_malloc. Allocates a block of the symmetric heap, the same on every PE. Collective: every PE calls with
   the same size and returns when all have the block. It is in host memory, or where SHMEM_HEAP_KIND says: see
   shmemx_malloc_kind in shmemx.h.
     size        bytes
   Returns: the block, aligned for any type; NULL for size 0 (without a barrier) or when some PE has no room.
   Errors: A call before shmem_init or after the last shmem_finalize, arguments that differ between PEs, and a
     pointer that is no block of the heap end the job. Too little memory is no error: the result is NULL on every
     PE, and shmemx_last_error() tells what is missing.
   Threads: Safe; but it is a collective, so one thread of each PE calls it, in the same order on all PEs.
   Standard: "Memory Management Routines"; since 1.2. */
void *shmem_malloc(size_t size);

/* shmem_free. Frees a block on every PE, after all PEs have called. Collective. NULL: does nothing, without a
   barrier.
     ptr         a block of the heap, or NULL
   Errors: A call before shmem_init or after the last shmem_finalize, arguments that differ between PEs, and a
     pointer that is no block of the heap end the job. Too little memory is no error: the result is NULL on every
     PE, and shmemx_last_error() tells what is missing.
   Threads: Safe; but it is a collective, so one thread of each PE calls it, in the same order on all PEs.
   Standard: "Memory Management Routines"; since 1.2. */
void shmem_free(void *ptr);

/* shmem_realloc. Changes the size of a block, which may move it; what was in it is kept up to the smaller size.
   Collective. NULL: as shmem_malloc; size 0: as shmem_free.
     ptr         a block of the heap, or NULL
     size        bytes
   Returns: the block; NULL when there is no room (the old block is untouched) and for size 0.
   Errors: A call before shmem_init or after the last shmem_finalize, arguments that differ between PEs, and a
     pointer that is no block of the heap end the job. Too little memory is no error: the result is NULL on every
     PE, and shmemx_last_error() tells what is missing.
   Threads: Safe; but it is a collective, so one thread of each PE calls it, in the same order on all PEs.
   Standard: "Memory Management Routines"; since 1.2. */
void *shmem_realloc(void *ptr, size_t size);

/* shmem_align. As shmem_malloc, at an address that is a multiple of alignment.
     alignment   bytes, a power of two and a multiple of sizeof(void *)
     size        bytes
   Returns: as shmem_malloc; NULL also for an alignment above 2 MiB.
   Errors: A call before shmem_init or after the last shmem_finalize, arguments that differ between PEs, and an
     alignment that is no such number end the job.
   Threads: Safe; but it is a collective, so one thread of each PE calls it, in the same order on all PEs.
   Standard: "Memory Management Routines"; since 1.2. */
void *shmem_align(size_t alignment, size_t size);

/* shmem_malloc_with_hints. As shmem_malloc, and says what the block is for: with a hint it is in host memory,
   whatever SHMEM_HEAP_KIND says.
     size        bytes
     hints       SHMEM_MALLOC_ bits, or 0
   Returns: as shmem_malloc.
   Errors: A call before shmem_init or after the last shmem_finalize, arguments that differ between PEs, and a
     pointer that is no block of the heap end the job. Too little memory is no error: the result is NULL on every
     PE, and shmemx_last_error() tells what is missing.
   Threads: Safe; but it is a collective, so one thread of each PE calls it, in the same order on all PEs.
   Standard: "Memory Management Routines"; since 1.5. */
void *shmem_malloc_with_hints(size_t size, long hints);

/* shmem_calloc. As shmem_malloc of count * size bytes, all zero.
     count       number of elements
     size        bytes an element
   Returns: as shmem_malloc; NULL also when the product overflows.
   Errors: A call before shmem_init or after the last shmem_finalize, arguments that differ between PEs, and a
     pointer that is no block of the heap end the job. Too little memory is no error: the result is NULL on every
     PE, and shmemx_last_error() tells what is missing.
   Threads: Safe; but it is a collective, so one thread of each PE calls it, in the same order on all PEs.
   Standard: "Memory Management Routines"; since 1.4. */
void *shmem_calloc(size_t count, size_t size);

/* shmalloc. Old name of shmem_malloc, deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2; use shmem_malloc") void *shmalloc(size_t size);

/* shfree. Old name of shmem_free, deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2; use shmem_free") void shfree(void *ptr);

/* shrealloc. Old name of shmem_realloc, deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2; use shmem_realloc") void *shrealloc(void *ptr, size_t size);

/* shmemalign. Old name of shmem_align, deprecated in 1.2. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.2; use shmem_align") void *shmemalign(size_t alignment, size_t size);

/* -------------------------------------------------------------------------------------------------- Teams */

/* shmem_team_my_pe. The number of this PE in a team.
     team        the team
   Returns: 0 or more; -1 for SHMEM_TEAM_INVALID.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Team Management Routines"; since 1.5. */
int shmem_team_my_pe(shmem_team_t team);

/* shmem_team_n_pes. The number of PEs in a team.
     team        the team
   Returns: 1 or more; -1 for SHMEM_TEAM_INVALID.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Team Management Routines"; since 1.5. */
int shmem_team_n_pes(shmem_team_t team);

/* shmem_team_get_config. The attributes of a team.
     team        the team
     config_mask which members to fill in: SHMEM_TEAM_NUM_CONTEXTS, or 0 for none
     config      receives them; may be NULL if the mask is 0
   Returns: 0; not 0 for SHMEM_TEAM_INVALID, for a mask with unknown bits, and for NULL with a mask; *config is
     then untouched.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Team Management Routines"; since 1.5. */
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);

/* shmem_team_translate_pe. The number in one team of a PE that is given by its number in another.
     src_team    the team that src_pe is numbered in
     src_pe      the PE
     dest_team   the other team
   Returns: 0 or more; -1 if the PE is not in both teams or one of them is SHMEM_TEAM_INVALID.
   Errors: A call before shmem_init or after the last shmem_finalize ends the job.
   Threads: Safe.
   Standard: "Team Management Routines"; since 1.5. */
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

/* shmem_team_split_strided. Makes a team of the PEs start, start + stride, ... of the parent team; they are
   numbered in that order. A collective of the parent team: all its PEs give the same start, stride and size;
   beyond the standard, several teams without common members may be made in one call, each PE giving those of its
   own. At most 768 teams of a PE at once, besides the predefined ones.
     parent_team the team that is split
     start       the first member, as numbered in the parent
     stride      distance to the next one; negative: downwards; 0: only with size 1
     size        number of members, 1 or more
     config      the members that the mask names; may be NULL if the mask is 0
     config_mask SHMEM_TEAM_NUM_CONTEXTS, or 0 for the defaults (no contexts)
     new_team    receives the team; SHMEM_TEAM_INVALID on the parent's other PEs, and when the call fails
   Returns: 0 on all PEs of the parent; not 0 on all of them when the members are not in the parent, a PE has too
     many teams, the arguments are wrong, or parent_team is SHMEM_TEAM_INVALID; and not 0 on the members that a
     PE names of whom another one names others. shmemx_last_error() tells why.
   Errors: A parent_team that is no team (one that was destroyed), NULL for new_team, and a call outside init and
     finalize end the job.
   Threads: Never two threads at once on one parent team; every member calls the team's collectives in the same
     order.
   Standard: "Team Management Routines"; since 1.5. */
int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);

/* shmem_team_split_2d. Makes two teams: PE p of the parent is at column p modulo xrange of row p / xrange; the x
   team is its row, the y team its column. A collective of the parent team: all its PEs give the same xrange.
     parent_team the team that is split
     xrange      PEs in a row, 1 or more; more than the parent has means all
     xaxis_config of the x team, as in shmem_team_split_strided
     xaxis_mask  which of its members count
     xaxis_team  receives the x team, or SHMEM_TEAM_INVALID when the call fails
     yaxis_config of the y team
     yaxis_mask  which of its members count
     yaxis_team  receives the y team, or SHMEM_TEAM_INVALID when the call fails
   Returns: 0 on all PEs of the parent; not 0 on all of them, as shmem_team_split_strided.
   Errors: A parent_team that is no team (one that was destroyed), NULL for a new team, and a call outside init
     and finalize end the job.
   Threads: Never two threads at once on one parent team; every member calls the team's collectives in the same
     order.
   Standard: "Team Management Routines"; since 1.5. */
int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team);

/* shmem_team_destroy. Ends a team and the contexts on it; all its members call it. SHMEM_TEAM_INVALID: does
   nothing.
     team        the team
   Errors: A predefined team, a team that was destroyed, and a call outside init and finalize end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Team Management Routines"; since 1.5. */
void shmem_team_destroy(shmem_team_t team);

/* ----------------------------------------------------------------------------------------------- Contexts */

/* shmem_ctx_create. Makes a context on the team of all PEs. Not collective. Up to 4094 may exist at once.
     options     SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE, or-ed together, or 0
     ctx         receives the context, or SHMEM_CTX_INVALID
   Returns: 0; not 0 for unknown options, too many contexts, too little memory (shmemx_last_error() tells which).
   Errors: A null pointer, and a call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Communication Management Routines"; since 1.4. */
int shmem_ctx_create(long options, shmem_ctx_t *ctx);

/* shmem_team_create_ctx. Makes a context on a team: the PE numbers of its functions are those of the team. Not
   collective. A team that was split off has as many at once on each PE as the num_contexts of its config.
     team        the team
     options     as shmem_ctx_create
     ctx         receives the context, or SHMEM_CTX_INVALID
   Returns: 0; not 0 for SHMEM_TEAM_INVALID or what is no team, and as shmem_ctx_create.
   Errors: A null pointer, and a call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Communication Management Routines"; since 1.5. */
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);

/* shmem_ctx_destroy. Completes what was issued on a context, as shmem_ctx_quiet, and ends it. SHMEM_CTX_INVALID:
   does nothing. Contexts that are left end with their team, or with the job.
     ctx         the context; PEs are numbered as in its team
   Errors: SHMEM_CTX_DEFAULT, a ctx that is no context (any more), a private context of another thread, and a
     call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Communication Management Routines"; since 1.4. */
void shmem_ctx_destroy(shmem_ctx_t ctx);

/* shmem_ctx_get_team. The team that a context was made on.
     ctx         the context; PEs are numbered as in its team
     team        receives the team, or SHMEM_TEAM_INVALID
   Returns: 0; not 0 for SHMEM_CTX_INVALID.
   Errors: A ctx that is no context, a null pointer, and a call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Communication Management Routines"; since 1.5. */
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);

/* -------------------------------------------------------------------------------------------- Put and get */

/* shmem_TYPE_put and shmem_putSIZE and shmem_putmem, and with a context: shmem_ctx_.... Copies an array from
   here to another PE. source may be used again on return; a fence orders and a quiet completes the delivery.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     source      where from, any address here
     nelems      number of elements (bytes in the mem form)
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines". */
void shmem_float_put(float *dest, const float *source, size_t nelems, int pe);
void shmem_double_put(double *dest, const double *source, size_t nelems, int pe);
void shmem_longdouble_put(long double *dest, const long double *source, size_t nelems, int pe);
void shmem_char_put(char *dest, const char *source, size_t nelems, int pe);
void shmem_schar_put(signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_short_put(short *dest, const short *source, size_t nelems, int pe);
void shmem_int_put(int *dest, const int *source, size_t nelems, int pe);
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe);
void shmem_longlong_put(long long *dest, const long long *source, size_t nelems, int pe);
void shmem_uchar_put(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ushort_put(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_uint_put(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ulong_put(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ulonglong_put(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_int8_put(int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_int16_put(int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_int32_put(int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_int64_put(int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_uint8_put(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_uint16_put(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_uint32_put(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_uint64_put(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_size_put(size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ptrdiff_put(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_put8(void *dest, const void *source, size_t nelems, int pe);
void shmem_put16(void *dest, const void *source, size_t nelems, int pe);
void shmem_put32(void *dest, const void *source, size_t nelems, int pe);
void shmem_put64(void *dest, const void *source, size_t nelems, int pe);
void shmem_put128(void *dest, const void *source, size_t nelems, int pe);
void shmem_putmem(void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_float_put(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
void shmem_ctx_double_put(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
void shmem_ctx_longdouble_put(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
void shmem_ctx_char_put(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
void shmem_ctx_schar_put(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_ctx_short_put(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
void shmem_ctx_int_put(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
void shmem_ctx_long_put(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
void shmem_ctx_longlong_put(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
void shmem_ctx_uchar_put(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ctx_ushort_put(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_ctx_uint_put(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ctx_ulong_put(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ctx_ulonglong_put(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_ctx_int8_put(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_ctx_int16_put(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_ctx_int32_put(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_ctx_int64_put(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_ctx_uint8_put(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_ctx_uint16_put(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_ctx_uint32_put(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_ctx_uint64_put(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_ctx_size_put(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ctx_ptrdiff_put(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_ctx_put8(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put16(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put32(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put64(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put128(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_putmem(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* shmem_TYPE_p, and with a context: shmem_ctx_.... Stores one value in another PE's memory; as a put of one
   element.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     value       the value
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines". */
void shmem_float_p(float *dest, float value, int pe);
void shmem_double_p(double *dest, double value, int pe);
void shmem_longdouble_p(long double *dest, long double value, int pe);
void shmem_char_p(char *dest, char value, int pe);
void shmem_schar_p(signed char *dest, signed char value, int pe);
void shmem_short_p(short *dest, short value, int pe);
void shmem_int_p(int *dest, int value, int pe);
void shmem_long_p(long *dest, long value, int pe);
void shmem_longlong_p(long long *dest, long long value, int pe);
void shmem_uchar_p(unsigned char *dest, unsigned char value, int pe);
void shmem_ushort_p(unsigned short *dest, unsigned short value, int pe);
void shmem_uint_p(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_p(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_p(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int8_p(int8_t *dest, int8_t value, int pe);
void shmem_int16_p(int16_t *dest, int16_t value, int pe);
void shmem_int32_p(int32_t *dest, int32_t value, int pe);
void shmem_int64_p(int64_t *dest, int64_t value, int pe);
void shmem_uint8_p(uint8_t *dest, uint8_t value, int pe);
void shmem_uint16_p(uint16_t *dest, uint16_t value, int pe);
void shmem_uint32_p(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_p(uint64_t *dest, uint64_t value, int pe);
void shmem_size_p(size_t *dest, size_t value, int pe);
void shmem_ptrdiff_p(ptrdiff_t *dest, ptrdiff_t value, int pe);
void shmem_ctx_float_p(shmem_ctx_t ctx, float *dest, float value, int pe);
void shmem_ctx_double_p(shmem_ctx_t ctx, double *dest, double value, int pe);
void shmem_ctx_longdouble_p(shmem_ctx_t ctx, long double *dest, long double value, int pe);
void shmem_ctx_char_p(shmem_ctx_t ctx, char *dest, char value, int pe);
void shmem_ctx_schar_p(shmem_ctx_t ctx, signed char *dest, signed char value, int pe);
void shmem_ctx_short_p(shmem_ctx_t ctx, short *dest, short value, int pe);
void shmem_ctx_int_p(shmem_ctx_t ctx, int *dest, int value, int pe);
void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe);
void shmem_ctx_longlong_p(shmem_ctx_t ctx, long long *dest, long long value, int pe);
void shmem_ctx_uchar_p(shmem_ctx_t ctx, unsigned char *dest, unsigned char value, int pe);
void shmem_ctx_ushort_p(shmem_ctx_t ctx, unsigned short *dest, unsigned short value, int pe);
void shmem_ctx_uint_p(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_p(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_p(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int8_p(shmem_ctx_t ctx, int8_t *dest, int8_t value, int pe);
void shmem_ctx_int16_p(shmem_ctx_t ctx, int16_t *dest, int16_t value, int pe);
void shmem_ctx_int32_p(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_p(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint8_p(shmem_ctx_t ctx, uint8_t *dest, uint8_t value, int pe);
void shmem_ctx_uint16_p(shmem_ctx_t ctx, uint16_t *dest, uint16_t value, int pe);
void shmem_ctx_uint32_p(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_p(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_size_p(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
void shmem_ctx_ptrdiff_p(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_iput and shmem_iputSIZE, and with a context: shmem_ctx_.... Copies every sst-th element of an array
   here to every dst-th of one on another PE; completes as shmem_put.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     source      where from, any address here
     dst         distance of elements in dest, 1 or more
     sst         distance of elements in source, 1 or more
     nelems      number of elements (bytes in the mem form)
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines". */
void shmem_float_iput(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_double_iput(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_longdouble_iput(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_char_iput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_schar_iput(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_short_iput(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int_iput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_long_iput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_longlong_iput(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uchar_iput(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ushort_iput(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint_iput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ulong_iput(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ulonglong_iput(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int8_iput(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int16_iput(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int32_iput(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int64_iput(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint8_iput(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint16_iput(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint32_iput(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint64_iput(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_size_iput(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ptrdiff_iput(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iput8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iput16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iput32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iput64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iput128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_float_iput(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_double_iput(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_longdouble_iput(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_char_iput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_schar_iput(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_short_iput(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int_iput(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_long_iput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_longlong_iput(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uchar_iput(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ushort_iput(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint_iput(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ulong_iput(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ulonglong_iput(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int8_iput(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int16_iput(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int32_iput(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int64_iput(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint8_iput(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint16_iput(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint32_iput(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint64_iput(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_size_iput(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ptrdiff_iput(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iput8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iput16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iput32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iput64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iput128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);

/* shmem_TYPE_ibput and shmem_ibputSIZE, and with a context: shmem_ctx_.... Copies blocks that lie at equal
   distances here to equal distances on another PE; completes as shmem_put.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     source      where from, any address here
     dst         distance between starts of blocks in dest, in elements, bsize or more
     sst         distance between starts of blocks in source, in elements, bsize or more
     bsize       elements a block
     nblocks     number of blocks
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines"; since 1.6. */
void shmem_float_ibput(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_double_ibput(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_longdouble_ibput(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_char_ibput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_schar_ibput(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_short_ibput(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int_ibput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_long_ibput(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_longlong_ibput(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uchar_ibput(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ushort_ibput(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint_ibput(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ulong_ibput(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ulonglong_ibput(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int8_ibput(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int16_ibput(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int32_ibput(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int64_ibput(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint8_ibput(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint16_ibput(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint32_ibput(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint64_ibput(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_size_ibput(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ptrdiff_ibput(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibput8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibput16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibput32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibput64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibput128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_float_ibput(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_double_ibput(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_longdouble_ibput(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_char_ibput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_schar_ibput(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_short_ibput(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int_ibput(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_long_ibput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_longlong_ibput(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uchar_ibput(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ushort_ibput(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint_ibput(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ulong_ibput(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ulonglong_ibput(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int8_ibput(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int16_ibput(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int32_ibput(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int64_ibput(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint8_ibput(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint16_ibput(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint32_ibput(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint64_ibput(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_size_ibput(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ptrdiff_ibput(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibput8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibput16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibput32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibput64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibput128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);

/* shmem_TYPE_get and shmem_getSIZE and shmem_getmem, and with a context: shmem_ctx_.... Copies an array from
   another PE to here; it is here on return.
     ctx         the context; PEs are numbered as in its team
     dest        where to, any address here
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines". */
void shmem_float_get(float *dest, const float *source, size_t nelems, int pe);
void shmem_double_get(double *dest, const double *source, size_t nelems, int pe);
void shmem_longdouble_get(long double *dest, const long double *source, size_t nelems, int pe);
void shmem_char_get(char *dest, const char *source, size_t nelems, int pe);
void shmem_schar_get(signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_short_get(short *dest, const short *source, size_t nelems, int pe);
void shmem_int_get(int *dest, const int *source, size_t nelems, int pe);
void shmem_long_get(long *dest, const long *source, size_t nelems, int pe);
void shmem_longlong_get(long long *dest, const long long *source, size_t nelems, int pe);
void shmem_uchar_get(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ushort_get(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_uint_get(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ulong_get(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ulonglong_get(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_int8_get(int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_int16_get(int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_int32_get(int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_int64_get(int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_uint8_get(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_uint16_get(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_uint32_get(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_uint64_get(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_size_get(size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ptrdiff_get(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_get8(void *dest, const void *source, size_t nelems, int pe);
void shmem_get16(void *dest, const void *source, size_t nelems, int pe);
void shmem_get32(void *dest, const void *source, size_t nelems, int pe);
void shmem_get64(void *dest, const void *source, size_t nelems, int pe);
void shmem_get128(void *dest, const void *source, size_t nelems, int pe);
void shmem_getmem(void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_float_get(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
void shmem_ctx_double_get(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
void shmem_ctx_longdouble_get(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
void shmem_ctx_char_get(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
void shmem_ctx_schar_get(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_ctx_short_get(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
void shmem_ctx_int_get(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
void shmem_ctx_long_get(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
void shmem_ctx_longlong_get(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
void shmem_ctx_uchar_get(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ctx_ushort_get(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_ctx_uint_get(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ctx_ulong_get(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ctx_ulonglong_get(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_ctx_int8_get(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_ctx_int16_get(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_ctx_int32_get(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_ctx_int64_get(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_ctx_uint8_get(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_ctx_uint16_get(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_ctx_uint32_get(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_ctx_uint64_get(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_ctx_size_get(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ctx_ptrdiff_get(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_ctx_get8(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get16(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get32(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get64(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get128(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_getmem(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* shmem_TYPE_g, and with a context: shmem_ctx_.... Reads one value from another PE's memory.
     ctx         the context; PEs are numbered as in its team
     source      where from, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value.
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines". */
float shmem_float_g(const float *source, int pe);
double shmem_double_g(const double *source, int pe);
long double shmem_longdouble_g(const long double *source, int pe);
char shmem_char_g(const char *source, int pe);
signed char shmem_schar_g(const signed char *source, int pe);
short shmem_short_g(const short *source, int pe);
int shmem_int_g(const int *source, int pe);
long shmem_long_g(const long *source, int pe);
long long shmem_longlong_g(const long long *source, int pe);
unsigned char shmem_uchar_g(const unsigned char *source, int pe);
unsigned short shmem_ushort_g(const unsigned short *source, int pe);
unsigned int shmem_uint_g(const unsigned int *source, int pe);
unsigned long shmem_ulong_g(const unsigned long *source, int pe);
unsigned long long shmem_ulonglong_g(const unsigned long long *source, int pe);
int8_t shmem_int8_g(const int8_t *source, int pe);
int16_t shmem_int16_g(const int16_t *source, int pe);
int32_t shmem_int32_g(const int32_t *source, int pe);
int64_t shmem_int64_g(const int64_t *source, int pe);
uint8_t shmem_uint8_g(const uint8_t *source, int pe);
uint16_t shmem_uint16_g(const uint16_t *source, int pe);
uint32_t shmem_uint32_g(const uint32_t *source, int pe);
uint64_t shmem_uint64_g(const uint64_t *source, int pe);
size_t shmem_size_g(const size_t *source, int pe);
ptrdiff_t shmem_ptrdiff_g(const ptrdiff_t *source, int pe);
float shmem_ctx_float_g(shmem_ctx_t ctx, const float *source, int pe);
double shmem_ctx_double_g(shmem_ctx_t ctx, const double *source, int pe);
long double shmem_ctx_longdouble_g(shmem_ctx_t ctx, const long double *source, int pe);
char shmem_ctx_char_g(shmem_ctx_t ctx, const char *source, int pe);
signed char shmem_ctx_schar_g(shmem_ctx_t ctx, const signed char *source, int pe);
short shmem_ctx_short_g(shmem_ctx_t ctx, const short *source, int pe);
int shmem_ctx_int_g(shmem_ctx_t ctx, const int *source, int pe);
long shmem_ctx_long_g(shmem_ctx_t ctx, const long *source, int pe);
long long shmem_ctx_longlong_g(shmem_ctx_t ctx, const long long *source, int pe);
unsigned char shmem_ctx_uchar_g(shmem_ctx_t ctx, const unsigned char *source, int pe);
unsigned short shmem_ctx_ushort_g(shmem_ctx_t ctx, const unsigned short *source, int pe);
unsigned int shmem_ctx_uint_g(shmem_ctx_t ctx, const unsigned int *source, int pe);
unsigned long shmem_ctx_ulong_g(shmem_ctx_t ctx, const unsigned long *source, int pe);
unsigned long long shmem_ctx_ulonglong_g(shmem_ctx_t ctx, const unsigned long long *source, int pe);
int8_t shmem_ctx_int8_g(shmem_ctx_t ctx, const int8_t *source, int pe);
int16_t shmem_ctx_int16_g(shmem_ctx_t ctx, const int16_t *source, int pe);
int32_t shmem_ctx_int32_g(shmem_ctx_t ctx, const int32_t *source, int pe);
int64_t shmem_ctx_int64_g(shmem_ctx_t ctx, const int64_t *source, int pe);
uint8_t shmem_ctx_uint8_g(shmem_ctx_t ctx, const uint8_t *source, int pe);
uint16_t shmem_ctx_uint16_g(shmem_ctx_t ctx, const uint16_t *source, int pe);
uint32_t shmem_ctx_uint32_g(shmem_ctx_t ctx, const uint32_t *source, int pe);
uint64_t shmem_ctx_uint64_g(shmem_ctx_t ctx, const uint64_t *source, int pe);
size_t shmem_ctx_size_g(shmem_ctx_t ctx, const size_t *source, int pe);
ptrdiff_t shmem_ctx_ptrdiff_g(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);

/* shmem_TYPE_iget and shmem_igetSIZE, and with a context: shmem_ctx_.... Copies every sst-th element of an array
   on another PE to every dst-th of one here; they are here on return.
     ctx         the context; PEs are numbered as in its team
     dest        where to, any address here
     source      where from, symmetric
     dst         distance of elements in dest, 1 or more
     sst         distance of elements in source, 1 or more
     nelems      number of elements (bytes in the mem form)
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines". */
void shmem_float_iget(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_double_iget(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_longdouble_iget(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_char_iget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_schar_iget(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_short_iget(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int_iget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_long_iget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_longlong_iget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uchar_iget(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ushort_iget(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint_iget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ulong_iget(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ulonglong_iget(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int8_iget(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int16_iget(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int32_iget(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_int64_iget(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint8_iget(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint16_iget(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint32_iget(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_uint64_iget(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_size_iget(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ptrdiff_iget(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iget8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iget16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iget32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_iget128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_float_iget(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_double_iget(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_longdouble_iget(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_char_iget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_schar_iget(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_short_iget(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int_iget(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_long_iget(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_longlong_iget(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uchar_iget(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ushort_iget(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint_iget(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ulong_iget(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ulonglong_iget(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int8_iget(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int16_iget(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int32_iget(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_int64_iget(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint8_iget(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint16_iget(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint32_iget(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_uint64_iget(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_size_iget(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_ptrdiff_iget(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iget8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iget16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iget32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iget64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);
void shmem_ctx_iget128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe);

/* shmem_TYPE_ibget and shmem_ibgetSIZE, and with a context: shmem_ctx_.... Copies blocks that lie at equal
   distances on another PE to equal distances here; they are here on return.
     ctx         the context; PEs are numbered as in its team
     dest        where to, any address here
     source      where from, symmetric
     dst         distance between starts of blocks in dest, in elements, bsize or more
     sst         distance between starts of blocks in source, in elements, bsize or more
     bsize       elements a block
     nblocks     number of blocks
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Remote Memory Access Routines"; since 1.6. */
void shmem_float_ibget(float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_double_ibget(double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_longdouble_ibget(long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_char_ibget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_schar_ibget(signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_short_ibget(short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int_ibget(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_long_ibget(long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_longlong_ibget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uchar_ibget(unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ushort_ibget(unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint_ibget(unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ulong_ibget(unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ulonglong_ibget(unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int8_ibget(int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int16_ibget(int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int32_ibget(int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_int64_ibget(int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint8_ibget(uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint16_ibget(uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint32_ibget(uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_uint64_ibget(uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_size_ibget(size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ptrdiff_ibget(ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibget8(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibget16(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibget32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ibget128(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_float_ibget(shmem_ctx_t ctx, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_double_ibget(shmem_ctx_t ctx, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_longdouble_ibget(shmem_ctx_t ctx, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_char_ibget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_schar_ibget(shmem_ctx_t ctx, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_short_ibget(shmem_ctx_t ctx, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int_ibget(shmem_ctx_t ctx, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_long_ibget(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_longlong_ibget(shmem_ctx_t ctx, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uchar_ibget(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ushort_ibget(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint_ibget(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ulong_ibget(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ulonglong_ibget(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int8_ibget(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int16_ibget(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int32_ibget(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_int64_ibget(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint8_ibget(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint16_ibget(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint32_ibget(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_uint64_ibget(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_size_ibget(shmem_ctx_t ctx, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ptrdiff_ibget(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibget8(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibget16(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibget32(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibget64(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);
void shmem_ctx_ibget128(shmem_ctx_t ctx, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe);

/* ------------------------------------------------------------------------ Put and get that return at once */

/* shmem_TYPE_put_nbi and shmem_putSIZE_nbi and shmem_putmem_nbi, and with a context: shmem_ctx_.... As
   shmem_put, but source may be used again only after a quiet.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     source      where from, any address here
     nelems      number of elements (bytes in the mem form)
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Nonblocking Remote Memory Access Routines"; since 1.3. */
void shmem_float_put_nbi(float *dest, const float *source, size_t nelems, int pe);
void shmem_double_put_nbi(double *dest, const double *source, size_t nelems, int pe);
void shmem_longdouble_put_nbi(long double *dest, const long double *source, size_t nelems, int pe);
void shmem_char_put_nbi(char *dest, const char *source, size_t nelems, int pe);
void shmem_schar_put_nbi(signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_short_put_nbi(short *dest, const short *source, size_t nelems, int pe);
void shmem_int_put_nbi(int *dest, const int *source, size_t nelems, int pe);
void shmem_long_put_nbi(long *dest, const long *source, size_t nelems, int pe);
void shmem_longlong_put_nbi(long long *dest, const long long *source, size_t nelems, int pe);
void shmem_uchar_put_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ushort_put_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_uint_put_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ulong_put_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ulonglong_put_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_int8_put_nbi(int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_int16_put_nbi(int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_int32_put_nbi(int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_int64_put_nbi(int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_uint8_put_nbi(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_uint16_put_nbi(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_uint32_put_nbi(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_uint64_put_nbi(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_size_put_nbi(size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ptrdiff_put_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_put8_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_put16_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_put32_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_put64_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_put128_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_putmem_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_float_put_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
void shmem_ctx_double_put_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
void shmem_ctx_longdouble_put_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
void shmem_ctx_char_put_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
void shmem_ctx_schar_put_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_ctx_short_put_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
void shmem_ctx_int_put_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
void shmem_ctx_long_put_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
void shmem_ctx_longlong_put_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
void shmem_ctx_uchar_put_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ctx_ushort_put_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_ctx_uint_put_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ctx_ulong_put_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ctx_ulonglong_put_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_ctx_int8_put_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_ctx_int16_put_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_ctx_int32_put_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_ctx_int64_put_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_ctx_uint8_put_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_ctx_uint16_put_nbi(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_ctx_uint32_put_nbi(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_ctx_uint64_put_nbi(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_ctx_size_put_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ctx_ptrdiff_put_nbi(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_ctx_put8_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put16_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put32_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put64_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_put128_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_putmem_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* shmem_TYPE_get_nbi and shmem_getSIZE_nbi and shmem_getmem_nbi, and with a context: shmem_ctx_.... As
   shmem_get, but the data is here only after a quiet.
     ctx         the context; PEs are numbered as in its team
     dest        where to, any address here
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A pe outside the job, an address that is not symmetric on it (or reaches past the end of what is), a
     count times the size of an element that overflows, NULL with a count above 0, a ctx that is no context, and
     a call before shmem_init or after the last shmem_finalize end the job with a message that names the
     function, the argument and what was found.
   Threads: Safe.
   Standard: "Nonblocking Remote Memory Access Routines"; since 1.3. */
void shmem_float_get_nbi(float *dest, const float *source, size_t nelems, int pe);
void shmem_double_get_nbi(double *dest, const double *source, size_t nelems, int pe);
void shmem_longdouble_get_nbi(long double *dest, const long double *source, size_t nelems, int pe);
void shmem_char_get_nbi(char *dest, const char *source, size_t nelems, int pe);
void shmem_schar_get_nbi(signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_short_get_nbi(short *dest, const short *source, size_t nelems, int pe);
void shmem_int_get_nbi(int *dest, const int *source, size_t nelems, int pe);
void shmem_long_get_nbi(long *dest, const long *source, size_t nelems, int pe);
void shmem_longlong_get_nbi(long long *dest, const long long *source, size_t nelems, int pe);
void shmem_uchar_get_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ushort_get_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_uint_get_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ulong_get_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ulonglong_get_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_int8_get_nbi(int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_int16_get_nbi(int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_int32_get_nbi(int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_int64_get_nbi(int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_uint8_get_nbi(uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_uint16_get_nbi(uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_uint32_get_nbi(uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_uint64_get_nbi(uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_size_get_nbi(size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ptrdiff_get_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_get8_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_get16_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_get32_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_get64_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_get128_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_getmem_nbi(void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_float_get_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, int pe);
void shmem_ctx_double_get_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe);
void shmem_ctx_longdouble_get_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, int pe);
void shmem_ctx_char_get_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, int pe);
void shmem_ctx_schar_get_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, int pe);
void shmem_ctx_short_get_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, int pe);
void shmem_ctx_int_get_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, int pe);
void shmem_ctx_long_get_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe);
void shmem_ctx_longlong_get_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, int pe);
void shmem_ctx_uchar_get_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, int pe);
void shmem_ctx_ushort_get_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, int pe);
void shmem_ctx_uint_get_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, int pe);
void shmem_ctx_ulong_get_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, int pe);
void shmem_ctx_ulonglong_get_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, int pe);
void shmem_ctx_int8_get_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, int pe);
void shmem_ctx_int16_get_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, int pe);
void shmem_ctx_int32_get_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, int pe);
void shmem_ctx_int64_get_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, int pe);
void shmem_ctx_uint8_get_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, int pe);
void shmem_ctx_uint16_get_nbi(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, int pe);
void shmem_ctx_uint32_get_nbi(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, int pe);
void shmem_ctx_uint64_get_nbi(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, int pe);
void shmem_ctx_size_get_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, int pe);
void shmem_ctx_ptrdiff_get_nbi(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int pe);
void shmem_ctx_get8_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get16_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get32_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get64_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_get128_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);
void shmem_ctx_getmem_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, int pe);

/* -------------------------------------------------------------------------------------- Atomic operations */

/* shmem_TYPE_atomic_fetch, and with a context: shmem_ctx_.... Reads an object on another PE in one piece.
     ctx         the context; PEs are numbered as in its team
     source      the object, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: its value.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
float shmem_float_atomic_fetch(const float *source, int pe);
double shmem_double_atomic_fetch(const double *source, int pe);
int shmem_int_atomic_fetch(const int *source, int pe);
long shmem_long_atomic_fetch(const long *source, int pe);
long long shmem_longlong_atomic_fetch(const long long *source, int pe);
unsigned int shmem_uint_atomic_fetch(const unsigned int *source, int pe);
unsigned long shmem_ulong_atomic_fetch(const unsigned long *source, int pe);
unsigned long long shmem_ulonglong_atomic_fetch(const unsigned long long *source, int pe);
int32_t shmem_int32_atomic_fetch(const int32_t *source, int pe);
int64_t shmem_int64_atomic_fetch(const int64_t *source, int pe);
uint32_t shmem_uint32_atomic_fetch(const uint32_t *source, int pe);
uint64_t shmem_uint64_atomic_fetch(const uint64_t *source, int pe);
size_t shmem_size_atomic_fetch(const size_t *source, int pe);
ptrdiff_t shmem_ptrdiff_atomic_fetch(const ptrdiff_t *source, int pe);
float shmem_ctx_float_atomic_fetch(shmem_ctx_t ctx, const float *source, int pe);
double shmem_ctx_double_atomic_fetch(shmem_ctx_t ctx, const double *source, int pe);
int shmem_ctx_int_atomic_fetch(shmem_ctx_t ctx, const int *source, int pe);
long shmem_ctx_long_atomic_fetch(shmem_ctx_t ctx, const long *source, int pe);
long long shmem_ctx_longlong_atomic_fetch(shmem_ctx_t ctx, const long long *source, int pe);
unsigned int shmem_ctx_uint_atomic_fetch(shmem_ctx_t ctx, const unsigned int *source, int pe);
unsigned long shmem_ctx_ulong_atomic_fetch(shmem_ctx_t ctx, const unsigned long *source, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_fetch(shmem_ctx_t ctx, const unsigned long long *source, int pe);
int32_t shmem_ctx_int32_atomic_fetch(shmem_ctx_t ctx, const int32_t *source, int pe);
int64_t shmem_ctx_int64_atomic_fetch(shmem_ctx_t ctx, const int64_t *source, int pe);
uint32_t shmem_ctx_uint32_atomic_fetch(shmem_ctx_t ctx, const uint32_t *source, int pe);
uint64_t shmem_ctx_uint64_atomic_fetch(shmem_ctx_t ctx, const uint64_t *source, int pe);
size_t shmem_ctx_size_atomic_fetch(shmem_ctx_t ctx, const size_t *source, int pe);
ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch(shmem_ctx_t ctx, const ptrdiff_t *source, int pe);

/* shmem_TYPE_fetch. Old name of shmem_atomic_fetch, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch") float shmem_float_fetch(const float *source, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch") double shmem_double_fetch(const double *source, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch") int shmem_int_fetch(const int *source, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch") long shmem_long_fetch(const long *source, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch") long long shmem_longlong_fetch(const long long *source, int pe);

/* shmem_TYPE_atomic_set, and with a context: shmem_ctx_.... Stores a value in an object on another PE in one
   piece.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the value
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
void shmem_float_atomic_set(float *dest, float value, int pe);
void shmem_double_atomic_set(double *dest, double value, int pe);
void shmem_int_atomic_set(int *dest, int value, int pe);
void shmem_long_atomic_set(long *dest, long value, int pe);
void shmem_longlong_atomic_set(long long *dest, long long value, int pe);
void shmem_uint_atomic_set(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_set(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_set(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_set(int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_set(int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_set(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_set(uint64_t *dest, uint64_t value, int pe);
void shmem_size_atomic_set(size_t *dest, size_t value, int pe);
void shmem_ptrdiff_atomic_set(ptrdiff_t *dest, ptrdiff_t value, int pe);
void shmem_ctx_float_atomic_set(shmem_ctx_t ctx, float *dest, float value, int pe);
void shmem_ctx_double_atomic_set(shmem_ctx_t ctx, double *dest, double value, int pe);
void shmem_ctx_int_atomic_set(shmem_ctx_t ctx, int *dest, int value, int pe);
void shmem_ctx_long_atomic_set(shmem_ctx_t ctx, long *dest, long value, int pe);
void shmem_ctx_longlong_atomic_set(shmem_ctx_t ctx, long long *dest, long long value, int pe);
void shmem_ctx_uint_atomic_set(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_set(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_set(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_set(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_set(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_set(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_set(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_size_atomic_set(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
void shmem_ctx_ptrdiff_atomic_set(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_set. Old name of shmem_atomic_set, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_set") void shmem_float_set(float *dest, float value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_set") void shmem_double_set(double *dest, double value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_set") void shmem_int_set(int *dest, int value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_set") void shmem_long_set(long *dest, long value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_set") void shmem_longlong_set(long long *dest, long long value, int pe);

/* shmem_TYPE_atomic_compare_swap, and with a context: shmem_ctx_.... Replaces the value of an object on another
   PE if it equals cond.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     cond        what the object must hold to be replaced
     value       the new value
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before; equal to cond if it was replaced.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
int shmem_int_atomic_compare_swap(int *dest, int cond, int value, int pe);
long shmem_long_atomic_compare_swap(long *dest, long cond, long value, int pe);
long long shmem_longlong_atomic_compare_swap(long long *dest, long long cond, long long value, int pe);
unsigned int shmem_uint_atomic_compare_swap(unsigned int *dest, unsigned int cond, unsigned int value, int pe);
unsigned long shmem_ulong_atomic_compare_swap(unsigned long *dest, unsigned long cond, unsigned long value, int pe);
unsigned long long shmem_ulonglong_atomic_compare_swap(unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
int32_t shmem_int32_atomic_compare_swap(int32_t *dest, int32_t cond, int32_t value, int pe);
int64_t shmem_int64_atomic_compare_swap(int64_t *dest, int64_t cond, int64_t value, int pe);
uint32_t shmem_uint32_atomic_compare_swap(uint32_t *dest, uint32_t cond, uint32_t value, int pe);
uint64_t shmem_uint64_atomic_compare_swap(uint64_t *dest, uint64_t cond, uint64_t value, int pe);
size_t shmem_size_atomic_compare_swap(size_t *dest, size_t cond, size_t value, int pe);
ptrdiff_t shmem_ptrdiff_atomic_compare_swap(ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
int shmem_ctx_int_atomic_compare_swap(shmem_ctx_t ctx, int *dest, int cond, int value, int pe);
long shmem_ctx_long_atomic_compare_swap(shmem_ctx_t ctx, long *dest, long cond, long value, int pe);
long long shmem_ctx_longlong_atomic_compare_swap(shmem_ctx_t ctx, long long *dest, long long cond, long long value, int pe);
unsigned int shmem_ctx_uint_atomic_compare_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
unsigned long shmem_ctx_ulong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_compare_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
int32_t shmem_ctx_int32_atomic_compare_swap(shmem_ctx_t ctx, int32_t *dest, int32_t cond, int32_t value, int pe);
int64_t shmem_ctx_int64_atomic_compare_swap(shmem_ctx_t ctx, int64_t *dest, int64_t cond, int64_t value, int pe);
uint32_t shmem_ctx_uint32_atomic_compare_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
uint64_t shmem_ctx_uint64_atomic_compare_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
size_t shmem_ctx_size_atomic_compare_swap(shmem_ctx_t ctx, size_t *dest, size_t cond, size_t value, int pe);
ptrdiff_t shmem_ctx_ptrdiff_atomic_compare_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);

/* shmem_TYPE_cswap. Old name of shmem_atomic_compare_swap, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_compare_swap") int shmem_int_cswap(int *dest, int cond, int value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_compare_swap") long shmem_long_cswap(long *dest, long cond, long value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_compare_swap") long long shmem_longlong_cswap(long long *dest, long long cond, long long value, int pe);

/* shmem_TYPE_atomic_swap, and with a context: shmem_ctx_.... Replaces the value of an object on another PE.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the new value
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
float shmem_float_atomic_swap(float *dest, float value, int pe);
double shmem_double_atomic_swap(double *dest, double value, int pe);
int shmem_int_atomic_swap(int *dest, int value, int pe);
long shmem_long_atomic_swap(long *dest, long value, int pe);
long long shmem_longlong_atomic_swap(long long *dest, long long value, int pe);
unsigned int shmem_uint_atomic_swap(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_atomic_swap(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_atomic_swap(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_atomic_swap(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_atomic_swap(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_atomic_swap(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_atomic_swap(uint64_t *dest, uint64_t value, int pe);
size_t shmem_size_atomic_swap(size_t *dest, size_t value, int pe);
ptrdiff_t shmem_ptrdiff_atomic_swap(ptrdiff_t *dest, ptrdiff_t value, int pe);
float shmem_ctx_float_atomic_swap(shmem_ctx_t ctx, float *dest, float value, int pe);
double shmem_ctx_double_atomic_swap(shmem_ctx_t ctx, double *dest, double value, int pe);
int shmem_ctx_int_atomic_swap(shmem_ctx_t ctx, int *dest, int value, int pe);
long shmem_ctx_long_atomic_swap(shmem_ctx_t ctx, long *dest, long value, int pe);
long long shmem_ctx_longlong_atomic_swap(shmem_ctx_t ctx, long long *dest, long long value, int pe);
unsigned int shmem_ctx_uint_atomic_swap(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ctx_ulong_atomic_swap(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_swap(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_ctx_int32_atomic_swap(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
int64_t shmem_ctx_int64_atomic_swap(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
uint32_t shmem_ctx_uint32_atomic_swap(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_ctx_uint64_atomic_swap(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
size_t shmem_ctx_size_atomic_swap(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
ptrdiff_t shmem_ctx_ptrdiff_atomic_swap(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_swap. Old name of shmem_atomic_swap, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_swap") float shmem_float_swap(float *dest, float value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_swap") double shmem_double_swap(double *dest, double value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_swap") int shmem_int_swap(int *dest, int value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_swap") long shmem_long_swap(long *dest, long value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_swap") long long shmem_longlong_swap(long long *dest, long long value, int pe);

/* shmem_TYPE_atomic_fetch_inc, and with a context: shmem_ctx_.... Adds 1 to an object on another PE; wraps
   around at the end of its range.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
int shmem_int_atomic_fetch_inc(int *dest, int pe);
long shmem_long_atomic_fetch_inc(long *dest, int pe);
long long shmem_longlong_atomic_fetch_inc(long long *dest, int pe);
unsigned int shmem_uint_atomic_fetch_inc(unsigned int *dest, int pe);
unsigned long shmem_ulong_atomic_fetch_inc(unsigned long *dest, int pe);
unsigned long long shmem_ulonglong_atomic_fetch_inc(unsigned long long *dest, int pe);
int32_t shmem_int32_atomic_fetch_inc(int32_t *dest, int pe);
int64_t shmem_int64_atomic_fetch_inc(int64_t *dest, int pe);
uint32_t shmem_uint32_atomic_fetch_inc(uint32_t *dest, int pe);
uint64_t shmem_uint64_atomic_fetch_inc(uint64_t *dest, int pe);
size_t shmem_size_atomic_fetch_inc(size_t *dest, int pe);
ptrdiff_t shmem_ptrdiff_atomic_fetch_inc(ptrdiff_t *dest, int pe);
int shmem_ctx_int_atomic_fetch_inc(shmem_ctx_t ctx, int *dest, int pe);
long shmem_ctx_long_atomic_fetch_inc(shmem_ctx_t ctx, long *dest, int pe);
long long shmem_ctx_longlong_atomic_fetch_inc(shmem_ctx_t ctx, long long *dest, int pe);
unsigned int shmem_ctx_uint_atomic_fetch_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
unsigned long shmem_ctx_ulong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_fetch_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe);
int32_t shmem_ctx_int32_atomic_fetch_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
int64_t shmem_ctx_int64_atomic_fetch_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
uint32_t shmem_ctx_uint32_atomic_fetch_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
uint64_t shmem_ctx_uint64_atomic_fetch_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
size_t shmem_ctx_size_atomic_fetch_inc(shmem_ctx_t ctx, size_t *dest, int pe);
ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);

/* shmem_TYPE_finc. Old name of shmem_atomic_fetch_inc, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch_inc") int shmem_int_finc(int *dest, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch_inc") long shmem_long_finc(long *dest, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch_inc") long long shmem_longlong_finc(long long *dest, int pe);

/* shmem_TYPE_atomic_inc, and with a context: shmem_ctx_.... Adds 1 to an object on another PE; wraps around at
   the end of its range.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
void shmem_int_atomic_inc(int *dest, int pe);
void shmem_long_atomic_inc(long *dest, int pe);
void shmem_longlong_atomic_inc(long long *dest, int pe);
void shmem_uint_atomic_inc(unsigned int *dest, int pe);
void shmem_ulong_atomic_inc(unsigned long *dest, int pe);
void shmem_ulonglong_atomic_inc(unsigned long long *dest, int pe);
void shmem_int32_atomic_inc(int32_t *dest, int pe);
void shmem_int64_atomic_inc(int64_t *dest, int pe);
void shmem_uint32_atomic_inc(uint32_t *dest, int pe);
void shmem_uint64_atomic_inc(uint64_t *dest, int pe);
void shmem_size_atomic_inc(size_t *dest, int pe);
void shmem_ptrdiff_atomic_inc(ptrdiff_t *dest, int pe);
void shmem_ctx_int_atomic_inc(shmem_ctx_t ctx, int *dest, int pe);
void shmem_ctx_long_atomic_inc(shmem_ctx_t ctx, long *dest, int pe);
void shmem_ctx_longlong_atomic_inc(shmem_ctx_t ctx, long long *dest, int pe);
void shmem_ctx_uint_atomic_inc(shmem_ctx_t ctx, unsigned int *dest, int pe);
void shmem_ctx_ulong_atomic_inc(shmem_ctx_t ctx, unsigned long *dest, int pe);
void shmem_ctx_ulonglong_atomic_inc(shmem_ctx_t ctx, unsigned long long *dest, int pe);
void shmem_ctx_int32_atomic_inc(shmem_ctx_t ctx, int32_t *dest, int pe);
void shmem_ctx_int64_atomic_inc(shmem_ctx_t ctx, int64_t *dest, int pe);
void shmem_ctx_uint32_atomic_inc(shmem_ctx_t ctx, uint32_t *dest, int pe);
void shmem_ctx_uint64_atomic_inc(shmem_ctx_t ctx, uint64_t *dest, int pe);
void shmem_ctx_size_atomic_inc(shmem_ctx_t ctx, size_t *dest, int pe);
void shmem_ctx_ptrdiff_atomic_inc(shmem_ctx_t ctx, ptrdiff_t *dest, int pe);

/* shmem_TYPE_inc. Old name of shmem_atomic_inc, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_inc") void shmem_int_inc(int *dest, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_inc") void shmem_long_inc(long *dest, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_inc") void shmem_longlong_inc(long long *dest, int pe);

/* shmem_TYPE_atomic_fetch_add, and with a context: shmem_ctx_.... Adds to an object on another PE; wraps around
   at the end of its range.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
int shmem_int_atomic_fetch_add(int *dest, int value, int pe);
long shmem_long_atomic_fetch_add(long *dest, long value, int pe);
long long shmem_longlong_atomic_fetch_add(long long *dest, long long value, int pe);
unsigned int shmem_uint_atomic_fetch_add(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_atomic_fetch_add(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_atomic_fetch_add(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_atomic_fetch_add(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_atomic_fetch_add(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_atomic_fetch_add(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_atomic_fetch_add(uint64_t *dest, uint64_t value, int pe);
size_t shmem_size_atomic_fetch_add(size_t *dest, size_t value, int pe);
ptrdiff_t shmem_ptrdiff_atomic_fetch_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
int shmem_ctx_int_atomic_fetch_add(shmem_ctx_t ctx, int *dest, int value, int pe);
long shmem_ctx_long_atomic_fetch_add(shmem_ctx_t ctx, long *dest, long value, int pe);
long long shmem_ctx_longlong_atomic_fetch_add(shmem_ctx_t ctx, long long *dest, long long value, int pe);
unsigned int shmem_ctx_uint_atomic_fetch_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ctx_ulong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_fetch_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_ctx_int32_atomic_fetch_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
int64_t shmem_ctx_int64_atomic_fetch_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
uint32_t shmem_ctx_uint32_atomic_fetch_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_ctx_uint64_atomic_fetch_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
size_t shmem_ctx_size_atomic_fetch_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
ptrdiff_t shmem_ctx_ptrdiff_atomic_fetch_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_fadd. Old name of shmem_atomic_fetch_add, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch_add") int shmem_int_fadd(int *dest, int value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch_add") long shmem_long_fadd(long *dest, long value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_fetch_add") long long shmem_longlong_fadd(long long *dest, long long value, int pe);

/* shmem_TYPE_atomic_add, and with a context: shmem_ctx_.... Adds to an object on another PE; wraps around at the
   end of its range.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
void shmem_int_atomic_add(int *dest, int value, int pe);
void shmem_long_atomic_add(long *dest, long value, int pe);
void shmem_longlong_atomic_add(long long *dest, long long value, int pe);
void shmem_uint_atomic_add(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_add(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_add(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_add(int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_add(int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_add(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_add(uint64_t *dest, uint64_t value, int pe);
void shmem_size_atomic_add(size_t *dest, size_t value, int pe);
void shmem_ptrdiff_atomic_add(ptrdiff_t *dest, ptrdiff_t value, int pe);
void shmem_ctx_int_atomic_add(shmem_ctx_t ctx, int *dest, int value, int pe);
void shmem_ctx_long_atomic_add(shmem_ctx_t ctx, long *dest, long value, int pe);
void shmem_ctx_longlong_atomic_add(shmem_ctx_t ctx, long long *dest, long long value, int pe);
void shmem_ctx_uint_atomic_add(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_add(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_add(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_add(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_add(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_add(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_size_atomic_add(shmem_ctx_t ctx, size_t *dest, size_t value, int pe);
void shmem_ctx_ptrdiff_atomic_add(shmem_ctx_t ctx, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_add. Old name of shmem_atomic_add, deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_add") void shmem_int_add(int *dest, int value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_add") void shmem_long_add(long *dest, long value, int pe);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4; use shmem_atomic_add") void shmem_longlong_add(long long *dest, long long value, int pe);

/* shmem_TYPE_atomic_fetch_and, and with a context: shmem_ctx_.... Bitwise and of an object on another PE with a
   value.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
unsigned int shmem_uint_atomic_fetch_and(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_atomic_fetch_and(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_atomic_fetch_and(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_atomic_fetch_and(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_atomic_fetch_and(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_atomic_fetch_and(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_atomic_fetch_and(uint64_t *dest, uint64_t value, int pe);
unsigned int shmem_ctx_uint_atomic_fetch_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ctx_ulong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_fetch_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_ctx_int32_atomic_fetch_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
int64_t shmem_ctx_int64_atomic_fetch_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
uint32_t shmem_ctx_uint32_atomic_fetch_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_ctx_uint64_atomic_fetch_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_and, and with a context: shmem_ctx_.... Bitwise and of an object on another PE with a value.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
void shmem_uint_atomic_and(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_and(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_and(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_and(int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_and(int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_and(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_and(uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_uint_atomic_and(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_and(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_and(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_and(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_and(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_and(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_and(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_fetch_or, and with a context: shmem_ctx_.... Bitwise or of an object on another PE with a
   value.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
unsigned int shmem_uint_atomic_fetch_or(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_atomic_fetch_or(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_atomic_fetch_or(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_atomic_fetch_or(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_atomic_fetch_or(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_atomic_fetch_or(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_atomic_fetch_or(uint64_t *dest, uint64_t value, int pe);
unsigned int shmem_ctx_uint_atomic_fetch_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ctx_ulong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_fetch_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_ctx_int32_atomic_fetch_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
int64_t shmem_ctx_int64_atomic_fetch_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
uint32_t shmem_ctx_uint32_atomic_fetch_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_ctx_uint64_atomic_fetch_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_or, and with a context: shmem_ctx_.... Bitwise or of an object on another PE with a value.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
void shmem_uint_atomic_or(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_or(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_or(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_or(int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_or(int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_or(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_or(uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_uint_atomic_or(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_or(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_or(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_or(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_or(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_or(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_or(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_fetch_xor, and with a context: shmem_ctx_.... Bitwise exclusive or of an object on another
   PE with a value.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Returns: the value before.
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
unsigned int shmem_uint_atomic_fetch_xor(unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ulong_atomic_fetch_xor(unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ulonglong_atomic_fetch_xor(unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_int32_atomic_fetch_xor(int32_t *dest, int32_t value, int pe);
int64_t shmem_int64_atomic_fetch_xor(int64_t *dest, int64_t value, int pe);
uint32_t shmem_uint32_atomic_fetch_xor(uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_uint64_atomic_fetch_xor(uint64_t *dest, uint64_t value, int pe);
unsigned int shmem_ctx_uint_atomic_fetch_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
unsigned long shmem_ctx_ulong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
unsigned long long shmem_ctx_ulonglong_atomic_fetch_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
int32_t shmem_ctx_int32_atomic_fetch_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
int64_t shmem_ctx_int64_atomic_fetch_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
uint32_t shmem_ctx_uint32_atomic_fetch_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
uint64_t shmem_ctx_uint64_atomic_fetch_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_xor, and with a context: shmem_ctx_.... Bitwise exclusive or of an object on another PE with
   a value.
     ctx         the context; PEs are numbered as in its team
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.4. */
void shmem_uint_atomic_xor(unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_xor(unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_xor(unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_xor(int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_xor(int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_xor(uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_xor(uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_uint_atomic_xor(shmem_ctx_t ctx, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_xor(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_xor(shmem_ctx_t ctx, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_xor(shmem_ctx_t ctx, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_xor(shmem_ctx_t ctx, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_xor(shmem_ctx_t ctx, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_xor(shmem_ctx_t ctx, uint64_t *dest, uint64_t value, int pe);

/* --------------------------------------------------------- Fetching atomic operations that return at once */

/* shmem_TYPE_atomic_fetch_nbi, and with a context: shmem_ctx_.... As shmem_atomic_fetch, with the value in
   *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     source      the object, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_float_atomic_fetch_nbi(float *fetch, const float *source, int pe);
void shmem_double_atomic_fetch_nbi(double *fetch, const double *source, int pe);
void shmem_int_atomic_fetch_nbi(int *fetch, const int *source, int pe);
void shmem_long_atomic_fetch_nbi(long *fetch, const long *source, int pe);
void shmem_longlong_atomic_fetch_nbi(long long *fetch, const long long *source, int pe);
void shmem_uint_atomic_fetch_nbi(unsigned int *fetch, const unsigned int *source, int pe);
void shmem_ulong_atomic_fetch_nbi(unsigned long *fetch, const unsigned long *source, int pe);
void shmem_ulonglong_atomic_fetch_nbi(unsigned long long *fetch, const unsigned long long *source, int pe);
void shmem_int32_atomic_fetch_nbi(int32_t *fetch, const int32_t *source, int pe);
void shmem_int64_atomic_fetch_nbi(int64_t *fetch, const int64_t *source, int pe);
void shmem_uint32_atomic_fetch_nbi(uint32_t *fetch, const uint32_t *source, int pe);
void shmem_uint64_atomic_fetch_nbi(uint64_t *fetch, const uint64_t *source, int pe);
void shmem_size_atomic_fetch_nbi(size_t *fetch, const size_t *source, int pe);
void shmem_ptrdiff_atomic_fetch_nbi(ptrdiff_t *fetch, const ptrdiff_t *source, int pe);
void shmem_ctx_float_atomic_fetch_nbi(shmem_ctx_t ctx, float *fetch, const float *source, int pe);
void shmem_ctx_double_atomic_fetch_nbi(shmem_ctx_t ctx, double *fetch, const double *source, int pe);
void shmem_ctx_int_atomic_fetch_nbi(shmem_ctx_t ctx, int *fetch, const int *source, int pe);
void shmem_ctx_long_atomic_fetch_nbi(shmem_ctx_t ctx, long *fetch, const long *source, int pe);
void shmem_ctx_longlong_atomic_fetch_nbi(shmem_ctx_t ctx, long long *fetch, const long long *source, int pe);
void shmem_ctx_uint_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned int *fetch, const unsigned int *source, int pe);
void shmem_ctx_ulong_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long *fetch, const unsigned long *source, int pe);
void shmem_ctx_ulonglong_atomic_fetch_nbi(shmem_ctx_t ctx, unsigned long long *fetch, const unsigned long long *source, int pe);
void shmem_ctx_int32_atomic_fetch_nbi(shmem_ctx_t ctx, int32_t *fetch, const int32_t *source, int pe);
void shmem_ctx_int64_atomic_fetch_nbi(shmem_ctx_t ctx, int64_t *fetch, const int64_t *source, int pe);
void shmem_ctx_uint32_atomic_fetch_nbi(shmem_ctx_t ctx, uint32_t *fetch, const uint32_t *source, int pe);
void shmem_ctx_uint64_atomic_fetch_nbi(shmem_ctx_t ctx, uint64_t *fetch, const uint64_t *source, int pe);
void shmem_ctx_size_atomic_fetch_nbi(shmem_ctx_t ctx, size_t *fetch, const size_t *source, int pe);
void shmem_ctx_ptrdiff_atomic_fetch_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, const ptrdiff_t *source, int pe);

/* shmem_TYPE_atomic_compare_swap_nbi, and with a context: shmem_ctx_.... As shmem_atomic_compare_swap, with the
   value before in *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     cond        what the object must hold to be replaced
     value       the new value
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_int_atomic_compare_swap_nbi(int *fetch, int *dest, int cond, int value, int pe);
void shmem_long_atomic_compare_swap_nbi(long *fetch, long *dest, long cond, long value, int pe);
void shmem_longlong_atomic_compare_swap_nbi(long long *fetch, long long *dest, long long cond, long long value, int pe);
void shmem_uint_atomic_compare_swap_nbi(unsigned int *fetch, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
void shmem_ulong_atomic_compare_swap_nbi(unsigned long *fetch, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
void shmem_ulonglong_atomic_compare_swap_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
void shmem_int32_atomic_compare_swap_nbi(int32_t *fetch, int32_t *dest, int32_t cond, int32_t value, int pe);
void shmem_int64_atomic_compare_swap_nbi(int64_t *fetch, int64_t *dest, int64_t cond, int64_t value, int pe);
void shmem_uint32_atomic_compare_swap_nbi(uint32_t *fetch, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
void shmem_uint64_atomic_compare_swap_nbi(uint64_t *fetch, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
void shmem_size_atomic_compare_swap_nbi(size_t *fetch, size_t *dest, size_t cond, size_t value, int pe);
void shmem_ptrdiff_atomic_compare_swap_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);
void shmem_ctx_int_atomic_compare_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int cond, int value, int pe);
void shmem_ctx_long_atomic_compare_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long cond, long value, int pe);
void shmem_ctx_longlong_atomic_compare_swap_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long cond, long long value, int pe);
void shmem_ctx_uint_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int cond, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long cond, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_compare_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long cond, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_compare_swap_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t cond, int32_t value, int pe);
void shmem_ctx_int64_atomic_compare_swap_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t cond, int64_t value, int pe);
void shmem_ctx_uint32_atomic_compare_swap_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t cond, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_compare_swap_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t cond, uint64_t value, int pe);
void shmem_ctx_size_atomic_compare_swap_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, size_t cond, size_t value, int pe);
void shmem_ctx_ptrdiff_atomic_compare_swap_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t cond, ptrdiff_t value, int pe);

/* shmem_TYPE_atomic_swap_nbi, and with a context: shmem_ctx_.... As shmem_atomic_swap, with the value before in
   *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     value       the new value
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_float_atomic_swap_nbi(float *fetch, float *dest, float value, int pe);
void shmem_double_atomic_swap_nbi(double *fetch, double *dest, double value, int pe);
void shmem_int_atomic_swap_nbi(int *fetch, int *dest, int value, int pe);
void shmem_long_atomic_swap_nbi(long *fetch, long *dest, long value, int pe);
void shmem_longlong_atomic_swap_nbi(long long *fetch, long long *dest, long long value, int pe);
void shmem_uint_atomic_swap_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_swap_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_swap_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_swap_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_swap_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_swap_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_swap_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_size_atomic_swap_nbi(size_t *fetch, size_t *dest, size_t value, int pe);
void shmem_ptrdiff_atomic_swap_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);
void shmem_ctx_float_atomic_swap_nbi(shmem_ctx_t ctx, float *fetch, float *dest, float value, int pe);
void shmem_ctx_double_atomic_swap_nbi(shmem_ctx_t ctx, double *fetch, double *dest, double value, int pe);
void shmem_ctx_int_atomic_swap_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int value, int pe);
void shmem_ctx_long_atomic_swap_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long value, int pe);
void shmem_ctx_longlong_atomic_swap_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long value, int pe);
void shmem_ctx_uint_atomic_swap_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_swap_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_swap_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_swap_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_swap_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_swap_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_size_atomic_swap_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, size_t value, int pe);
void shmem_ctx_ptrdiff_atomic_swap_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_atomic_fetch_inc_nbi, and with a context: shmem_ctx_.... As shmem_atomic_fetch_inc, with the value
   before in *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_int_atomic_fetch_inc_nbi(int *fetch, int *dest, int pe);
void shmem_long_atomic_fetch_inc_nbi(long *fetch, long *dest, int pe);
void shmem_longlong_atomic_fetch_inc_nbi(long long *fetch, long long *dest, int pe);
void shmem_uint_atomic_fetch_inc_nbi(unsigned int *fetch, unsigned int *dest, int pe);
void shmem_ulong_atomic_fetch_inc_nbi(unsigned long *fetch, unsigned long *dest, int pe);
void shmem_ulonglong_atomic_fetch_inc_nbi(unsigned long long *fetch, unsigned long long *dest, int pe);
void shmem_int32_atomic_fetch_inc_nbi(int32_t *fetch, int32_t *dest, int pe);
void shmem_int64_atomic_fetch_inc_nbi(int64_t *fetch, int64_t *dest, int pe);
void shmem_uint32_atomic_fetch_inc_nbi(uint32_t *fetch, uint32_t *dest, int pe);
void shmem_uint64_atomic_fetch_inc_nbi(uint64_t *fetch, uint64_t *dest, int pe);
void shmem_size_atomic_fetch_inc_nbi(size_t *fetch, size_t *dest, int pe);
void shmem_ptrdiff_atomic_fetch_inc_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, int pe);
void shmem_ctx_int_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int pe);
void shmem_ctx_long_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long *fetch, long *dest, int pe);
void shmem_ctx_longlong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, int pe);
void shmem_ctx_uint_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, int pe);
void shmem_ctx_ulong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, int pe);
void shmem_ctx_ulonglong_atomic_fetch_inc_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, int pe);
void shmem_ctx_int32_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int pe);
void shmem_ctx_int64_atomic_fetch_inc_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int pe);
void shmem_ctx_uint32_atomic_fetch_inc_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, int pe);
void shmem_ctx_uint64_atomic_fetch_inc_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, int pe);
void shmem_ctx_size_atomic_fetch_inc_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, int pe);
void shmem_ctx_ptrdiff_atomic_fetch_inc_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, int pe);

/* shmem_TYPE_atomic_fetch_add_nbi, and with a context: shmem_ctx_.... As shmem_atomic_fetch_add, with the value
   before in *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_int_atomic_fetch_add_nbi(int *fetch, int *dest, int value, int pe);
void shmem_long_atomic_fetch_add_nbi(long *fetch, long *dest, long value, int pe);
void shmem_longlong_atomic_fetch_add_nbi(long long *fetch, long long *dest, long long value, int pe);
void shmem_uint_atomic_fetch_add_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_fetch_add_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_fetch_add_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_fetch_add_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_fetch_add_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_fetch_add_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_fetch_add_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_size_atomic_fetch_add_nbi(size_t *fetch, size_t *dest, size_t value, int pe);
void shmem_ptrdiff_atomic_fetch_add_nbi(ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);
void shmem_ctx_int_atomic_fetch_add_nbi(shmem_ctx_t ctx, int *fetch, int *dest, int value, int pe);
void shmem_ctx_long_atomic_fetch_add_nbi(shmem_ctx_t ctx, long *fetch, long *dest, long value, int pe);
void shmem_ctx_longlong_atomic_fetch_add_nbi(shmem_ctx_t ctx, long long *fetch, long long *dest, long long value, int pe);
void shmem_ctx_uint_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_fetch_add_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_fetch_add_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_fetch_add_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_fetch_add_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_fetch_add_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_size_atomic_fetch_add_nbi(shmem_ctx_t ctx, size_t *fetch, size_t *dest, size_t value, int pe);
void shmem_ctx_ptrdiff_atomic_fetch_add_nbi(shmem_ctx_t ctx, ptrdiff_t *fetch, ptrdiff_t *dest, ptrdiff_t value, int pe);

/* shmem_TYPE_atomic_fetch_and_nbi, and with a context: shmem_ctx_.... As shmem_atomic_fetch_and, with the value
   before in *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_uint_atomic_fetch_and_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_fetch_and_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_fetch_and_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_fetch_and_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_fetch_and_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_fetch_and_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_fetch_and_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_uint_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_fetch_and_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_fetch_and_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_fetch_and_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_fetch_and_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_fetch_and_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_fetch_or_nbi, and with a context: shmem_ctx_.... As shmem_atomic_fetch_or, with the value
   before in *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_uint_atomic_fetch_or_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_fetch_or_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_fetch_or_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_fetch_or_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_fetch_or_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_fetch_or_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_fetch_or_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_uint_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_fetch_or_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_fetch_or_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_fetch_or_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_fetch_or_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_fetch_or_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);

/* shmem_TYPE_atomic_fetch_xor_nbi, and with a context: shmem_ctx_.... As shmem_atomic_fetch_xor, with the value
   before in *fetch after a quiet.
     ctx         the context; PEs are numbered as in its team
     fetch       where the old value is stored here, complete at the next quiet
     dest        the object, symmetric
     value       the operand
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: An address that is not aligned as its type, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Atomic Memory Operations"; since 1.5. */
void shmem_uint_atomic_fetch_xor_nbi(unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ulong_atomic_fetch_xor_nbi(unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ulonglong_atomic_fetch_xor_nbi(unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_int32_atomic_fetch_xor_nbi(int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_int64_atomic_fetch_xor_nbi(int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_uint32_atomic_fetch_xor_nbi(uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_uint64_atomic_fetch_xor_nbi(uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);
void shmem_ctx_uint_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned int *fetch, unsigned int *dest, unsigned int value, int pe);
void shmem_ctx_ulong_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long *fetch, unsigned long *dest, unsigned long value, int pe);
void shmem_ctx_ulonglong_atomic_fetch_xor_nbi(shmem_ctx_t ctx, unsigned long long *fetch, unsigned long long *dest, unsigned long long value, int pe);
void shmem_ctx_int32_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int32_t *fetch, int32_t *dest, int32_t value, int pe);
void shmem_ctx_int64_atomic_fetch_xor_nbi(shmem_ctx_t ctx, int64_t *fetch, int64_t *dest, int64_t value, int pe);
void shmem_ctx_uint32_atomic_fetch_xor_nbi(shmem_ctx_t ctx, uint32_t *fetch, uint32_t *dest, uint32_t value, int pe);
void shmem_ctx_uint64_atomic_fetch_xor_nbi(shmem_ctx_t ctx, uint64_t *fetch, uint64_t *dest, uint64_t value, int pe);

/* ------------------------------------------------------------------------- Signals, alone and after a put */

/* shmem_TYPE_put_signal and shmem_putSIZE_signal and shmem_putmem_signal, and with a context: shmem_ctx_.... A
   put, and then a change of a signal word on the same PE: who sees the signal sees the data. The signal changes
   also when nelems is 0. source may be used again on return.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     source      where from, any address here
     nelems      number of elements (bytes in the mem form)
     sig_addr    the signal word, symmetric
     signal      the value for the signal word
     sig_op      SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A sig_op that is none, a signal word that is not aligned, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Signaling Operations"; since 1.5. */
void shmem_float_put_signal(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_double_put_signal(double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_longdouble_put_signal(long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_char_put_signal(char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_schar_put_signal(signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_short_put_signal(short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int_put_signal(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_long_put_signal(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_longlong_put_signal(long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uchar_put_signal(unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ushort_put_signal(unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint_put_signal(unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ulong_put_signal(unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ulonglong_put_signal(unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int8_put_signal(int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int16_put_signal(int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int32_put_signal(int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int64_put_signal(int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint8_put_signal(uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint16_put_signal(uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint32_put_signal(uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint64_put_signal(uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_size_put_signal(size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ptrdiff_put_signal(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put8_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put16_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put32_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put64_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put128_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_float_put_signal(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_double_put_signal(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_longdouble_put_signal(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_char_put_signal(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_schar_put_signal(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_short_put_signal(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int_put_signal(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_long_put_signal(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_longlong_put_signal(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uchar_put_signal(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ushort_put_signal(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint_put_signal(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ulong_put_signal(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ulonglong_put_signal(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int8_put_signal(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int16_put_signal(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int32_put_signal(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int64_put_signal(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint8_put_signal(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint16_put_signal(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint32_put_signal(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint64_put_signal(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_size_put_signal(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ptrdiff_put_signal(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put8_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put16_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put32_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put64_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put128_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_putmem_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);

/* shmem_TYPE_put_signal_nbi and shmem_putSIZE_signal_nbi and shmem_putmem_signal_nbi, and with a context:
   shmem_ctx_.... As shmem_put_signal, but source may be used again only after a quiet.
     ctx         the context; PEs are numbered as in its team
     dest        where to, symmetric
     source      where from, any address here
     nelems      number of elements (bytes in the mem form)
     sig_addr    the signal word, symmetric
     signal      the value for the signal word
     sig_op      SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A sig_op that is none, a signal word that is not aligned, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Signaling Operations"; since 1.5. */
void shmem_float_put_signal_nbi(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_double_put_signal_nbi(double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_longdouble_put_signal_nbi(long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_char_put_signal_nbi(char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_schar_put_signal_nbi(signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_short_put_signal_nbi(short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int_put_signal_nbi(int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_long_put_signal_nbi(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_longlong_put_signal_nbi(long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uchar_put_signal_nbi(unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ushort_put_signal_nbi(unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint_put_signal_nbi(unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ulong_put_signal_nbi(unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ulonglong_put_signal_nbi(unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int8_put_signal_nbi(int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int16_put_signal_nbi(int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int32_put_signal_nbi(int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_int64_put_signal_nbi(int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint8_put_signal_nbi(uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint16_put_signal_nbi(uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint32_put_signal_nbi(uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_uint64_put_signal_nbi(uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_size_put_signal_nbi(size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ptrdiff_put_signal_nbi(ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put8_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put16_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put32_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put64_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_put128_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_putmem_signal_nbi(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_float_put_signal_nbi(shmem_ctx_t ctx, float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_double_put_signal_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_longdouble_put_signal_nbi(shmem_ctx_t ctx, long double *dest, const long double *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_char_put_signal_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_schar_put_signal_nbi(shmem_ctx_t ctx, signed char *dest, const signed char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_short_put_signal_nbi(shmem_ctx_t ctx, short *dest, const short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int_put_signal_nbi(shmem_ctx_t ctx, int *dest, const int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_long_put_signal_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_longlong_put_signal_nbi(shmem_ctx_t ctx, long long *dest, const long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uchar_put_signal_nbi(shmem_ctx_t ctx, unsigned char *dest, const unsigned char *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ushort_put_signal_nbi(shmem_ctx_t ctx, unsigned short *dest, const unsigned short *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint_put_signal_nbi(shmem_ctx_t ctx, unsigned int *dest, const unsigned int *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ulong_put_signal_nbi(shmem_ctx_t ctx, unsigned long *dest, const unsigned long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ulonglong_put_signal_nbi(shmem_ctx_t ctx, unsigned long long *dest, const unsigned long long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int8_put_signal_nbi(shmem_ctx_t ctx, int8_t *dest, const int8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int16_put_signal_nbi(shmem_ctx_t ctx, int16_t *dest, const int16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int32_put_signal_nbi(shmem_ctx_t ctx, int32_t *dest, const int32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_int64_put_signal_nbi(shmem_ctx_t ctx, int64_t *dest, const int64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint8_put_signal_nbi(shmem_ctx_t ctx, uint8_t *dest, const uint8_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint16_put_signal_nbi(shmem_ctx_t ctx, uint16_t *dest, const uint16_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint32_put_signal_nbi(shmem_ctx_t ctx, uint32_t *dest, const uint32_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_uint64_put_signal_nbi(shmem_ctx_t ctx, uint64_t *dest, const uint64_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_size_put_signal_nbi(shmem_ctx_t ctx, size_t *dest, const size_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_ptrdiff_put_signal_nbi(shmem_ctx_t ctx, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put8_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put16_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put32_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put64_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_put128_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
void shmem_ctx_putmem_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);

/* shmem_signal_add, and with a context: shmem_ctx_.... Adds to a signal word on another PE, in one piece. In C11
   also with a context as first argument.
     ctx         the context; PEs are numbered as in its team
     sig_addr    the signal word, symmetric
     signal      the value for the signal word
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A sig_op that is none, a signal word that is not aligned, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Signaling Operations"; since 1.6. */
void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

/* shmem_signal_set, and with a context: shmem_ctx_.... Sets a signal word on another PE, in one piece. In C11
   also with a context as first argument.
     ctx         the context; PEs are numbered as in its team
     sig_addr    the signal word, symmetric
     signal      the value for the signal word
     pe          the other PE, 0 to shmem_n_pes() - 1
   Errors: A sig_op that is none, a signal word that is not aligned, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Signaling Operations"; since 1.6. */
void shmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

/* shmem_signal_fetch. Reads a signal word here.
     sig_addr    the signal word, symmetric
   Returns: its value; the data whose put set it is here.
   Errors: A sig_op that is none, a signal word that is not aligned, besides the errors of shmem_put.
   Threads: Safe.
   Standard: "Signaling Operations"; since 1.5. */
uint64_t shmem_signal_fetch(const uint64_t *sig_addr);

/* ------------------------------------------------------------------------- Waiting for a change of memory */

/* shmem_TYPE_wait_until. Waits until an object here, changed by other PEs, compares as asked.
     ivar        the object, symmetric; here on this PE
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines". */
void shmem_int_wait_until(int *ivar, int cmp, int cmp_value);
void shmem_long_wait_until(long *ivar, int cmp, long cmp_value);
void shmem_longlong_wait_until(long long *ivar, int cmp, long long cmp_value);
void shmem_uint_wait_until(unsigned int *ivar, int cmp, unsigned int cmp_value);
void shmem_ulong_wait_until(unsigned long *ivar, int cmp, unsigned long cmp_value);
void shmem_ulonglong_wait_until(unsigned long long *ivar, int cmp, unsigned long long cmp_value);
void shmem_int32_wait_until(int32_t *ivar, int cmp, int32_t cmp_value);
void shmem_int64_wait_until(int64_t *ivar, int cmp, int64_t cmp_value);
void shmem_uint32_wait_until(uint32_t *ivar, int cmp, uint32_t cmp_value);
void shmem_uint64_wait_until(uint64_t *ivar, int cmp, uint64_t cmp_value);
void shmem_size_wait_until(size_t *ivar, int cmp, size_t cmp_value);
void shmem_ptrdiff_wait_until(ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_wait_until. As shmem_wait_until, for types that it had before.
     ivar        the object, symmetric; here on this PE
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; deprecated in 1.5. */
void shmem_short_wait_until(short *ivar, int cmp, short cmp_value);
void shmem_ushort_wait_until(unsigned short *ivar, int cmp, unsigned short cmp_value);

/* shmem_wait_until. Old name of shmem_long_wait_until; C11 has a macro of this name too.
     ivar        the object, symmetric; here on this PE
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") void shmem_wait_until(long *ivar, int cmp, long cmp_value);

/* shmem_wait. Waits until a long is no longer cmp_value.
     ivar        the object, symmetric; here on this PE
     cmp_value   the value to wait away from
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") void shmem_wait(long *ivar, long cmp_value);

/* shmem_TYPE_wait. Waits until an object is no longer cmp_value.
     ivar        the object, symmetric; here on this PE
     cmp_value   the value to wait away from
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; deprecated in 1.4. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") void shmem_short_wait(short *ivar, short cmp_value);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") void shmem_int_wait(int *ivar, int cmp_value);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") void shmem_long_wait(long *ivar, long cmp_value);
SHMEMI_DEPRECATED("since OpenSHMEM 1.4") void shmem_longlong_wait(long long *ivar, long long cmp_value);

/* shmem_TYPE_wait_until_all. Waits until all elements compare as asked.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
void shmem_int_wait_until_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
void shmem_long_wait_until_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
void shmem_longlong_wait_until_all(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
void shmem_uint_wait_until_all(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
void shmem_ulong_wait_until_all(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
void shmem_ulonglong_wait_until_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
void shmem_int32_wait_until_all(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
void shmem_int64_wait_until_all(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
void shmem_uint32_wait_until_all(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
void shmem_uint64_wait_until_all(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
void shmem_size_wait_until_all(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
void shmem_ptrdiff_wait_until_all(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_wait_until_any. Waits until one element compares as asked.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: its index; SIZE_MAX at once if no element takes part.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_wait_until_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_long_wait_until_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
size_t shmem_longlong_wait_until_any(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
size_t shmem_uint_wait_until_any(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
size_t shmem_ulong_wait_until_any(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
size_t shmem_ulonglong_wait_until_any(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
size_t shmem_int32_wait_until_any(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
size_t shmem_int64_wait_until_any(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
size_t shmem_uint32_wait_until_any(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
size_t shmem_uint64_wait_until_any(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
size_t shmem_size_wait_until_any(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
size_t shmem_ptrdiff_wait_until_any(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_wait_until_some. Waits until at least one element compares as asked, and tells all that do.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     indices     room for nelems indices; receives those of the satisfied elements, in no promised order
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: how many; 0 at once if no element takes part.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_wait_until_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value);
size_t shmem_long_wait_until_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long cmp_value);
size_t shmem_longlong_wait_until_some(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long long cmp_value);
size_t shmem_uint_wait_until_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned int cmp_value);
size_t shmem_ulong_wait_until_some(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long cmp_value);
size_t shmem_ulonglong_wait_until_some(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long long cmp_value);
size_t shmem_int32_wait_until_some(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int32_t cmp_value);
size_t shmem_int64_wait_until_some(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int64_t cmp_value);
size_t shmem_uint32_wait_until_some(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint32_t cmp_value);
size_t shmem_uint64_wait_until_some(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint64_t cmp_value);
size_t shmem_size_wait_until_some(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, size_t cmp_value);
size_t shmem_ptrdiff_wait_until_some(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_wait_until_all_vector. As shmem_wait_until_all, each element with its own value.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_values  a value for each element
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
void shmem_int_wait_until_all_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
void shmem_long_wait_until_all_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
void shmem_longlong_wait_until_all_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
void shmem_uint_wait_until_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
void shmem_ulong_wait_until_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
void shmem_ulonglong_wait_until_all_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
void shmem_int32_wait_until_all_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
void shmem_int64_wait_until_all_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
void shmem_uint32_wait_until_all_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
void shmem_uint64_wait_until_all_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
void shmem_size_wait_until_all_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
void shmem_ptrdiff_wait_until_all_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);

/* shmem_TYPE_wait_until_any_vector. As shmem_wait_until_any, each element with its own value.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_values  a value for each element
   Returns: its index; SIZE_MAX at once if no element takes part.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_wait_until_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
size_t shmem_long_wait_until_any_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
size_t shmem_longlong_wait_until_any_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
size_t shmem_uint_wait_until_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_wait_until_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_wait_until_any_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_wait_until_any_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
size_t shmem_int64_wait_until_any_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
size_t shmem_uint32_wait_until_any_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_wait_until_any_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
size_t shmem_size_wait_until_any_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
size_t shmem_ptrdiff_wait_until_any_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);

/* shmem_TYPE_wait_until_some_vector. As shmem_wait_until_some, each element with its own value.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     indices     room for nelems indices; receives those of the satisfied elements, in no promised order
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_values  a value for each element
   Returns: how many; 0 at once if no element takes part.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_wait_until_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int *cmp_values);
size_t shmem_long_wait_until_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long *cmp_values);
size_t shmem_longlong_wait_until_some_vector(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long long *cmp_values);
size_t shmem_uint_wait_until_some_vector(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_wait_until_some_vector(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_wait_until_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_wait_until_some_vector(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int32_t *cmp_values);
size_t shmem_int64_wait_until_some_vector(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int64_t *cmp_values);
size_t shmem_uint32_wait_until_some_vector(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_wait_until_some_vector(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint64_t *cmp_values);
size_t shmem_size_wait_until_some_vector(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const size_t *cmp_values);
size_t shmem_ptrdiff_wait_until_some_vector(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const ptrdiff_t *cmp_values);

/* shmem_TYPE_test. Whether an object here compares as asked; does not wait.
     ivar        the object, symmetric; here on this PE
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: 1 or 0.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.4. */
int shmem_int_test(int *ivar, int cmp, int cmp_value);
int shmem_long_test(long *ivar, int cmp, long cmp_value);
int shmem_longlong_test(long long *ivar, int cmp, long long cmp_value);
int shmem_uint_test(unsigned int *ivar, int cmp, unsigned int cmp_value);
int shmem_ulong_test(unsigned long *ivar, int cmp, unsigned long cmp_value);
int shmem_ulonglong_test(unsigned long long *ivar, int cmp, unsigned long long cmp_value);
int shmem_int32_test(int32_t *ivar, int cmp, int32_t cmp_value);
int shmem_int64_test(int64_t *ivar, int cmp, int64_t cmp_value);
int shmem_uint32_test(uint32_t *ivar, int cmp, uint32_t cmp_value);
int shmem_uint64_test(uint64_t *ivar, int cmp, uint64_t cmp_value);
int shmem_size_test(size_t *ivar, int cmp, size_t cmp_value);
int shmem_ptrdiff_test(ptrdiff_t *ivar, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_test. As shmem_test, for types that it had before.
     ivar        the object, symmetric; here on this PE
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: 1 or 0.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.4; deprecated in 1.5. */
int shmem_short_test(short *ivar, int cmp, short cmp_value);
int shmem_ushort_test(unsigned short *ivar, int cmp, unsigned short cmp_value);

/* shmem_TYPE_test_all. Whether all elements compare as asked; does not wait.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: 1 or 0; 1 if no element takes part.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
int shmem_int_test_all(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
int shmem_long_test_all(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
int shmem_longlong_test_all(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
int shmem_uint_test_all(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
int shmem_ulong_test_all(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
int shmem_ulonglong_test_all(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
int shmem_int32_test_all(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
int shmem_int64_test_all(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
int shmem_uint32_test_all(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
int shmem_uint64_test_all(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
int shmem_size_test_all(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
int shmem_ptrdiff_test_all(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_test_any. Finds an element that compares as asked; does not wait.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: its index, or SIZE_MAX.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_test_any(int *ivars, size_t nelems, const int *status, int cmp, int cmp_value);
size_t shmem_long_test_any(long *ivars, size_t nelems, const int *status, int cmp, long cmp_value);
size_t shmem_longlong_test_any(long long *ivars, size_t nelems, const int *status, int cmp, long long cmp_value);
size_t shmem_uint_test_any(unsigned int *ivars, size_t nelems, const int *status, int cmp, unsigned int cmp_value);
size_t shmem_ulong_test_any(unsigned long *ivars, size_t nelems, const int *status, int cmp, unsigned long cmp_value);
size_t shmem_ulonglong_test_any(unsigned long long *ivars, size_t nelems, const int *status, int cmp, unsigned long long cmp_value);
size_t shmem_int32_test_any(int32_t *ivars, size_t nelems, const int *status, int cmp, int32_t cmp_value);
size_t shmem_int64_test_any(int64_t *ivars, size_t nelems, const int *status, int cmp, int64_t cmp_value);
size_t shmem_uint32_test_any(uint32_t *ivars, size_t nelems, const int *status, int cmp, uint32_t cmp_value);
size_t shmem_uint64_test_any(uint64_t *ivars, size_t nelems, const int *status, int cmp, uint64_t cmp_value);
size_t shmem_size_test_any(size_t *ivars, size_t nelems, const int *status, int cmp, size_t cmp_value);
size_t shmem_ptrdiff_test_any(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_test_some. Finds all elements that compare as asked; does not wait.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     indices     room for nelems indices; receives those of the satisfied elements, in no promised order
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: how many.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_test_some(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int cmp_value);
size_t shmem_long_test_some(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long cmp_value);
size_t shmem_longlong_test_some(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, long long cmp_value);
size_t shmem_uint_test_some(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned int cmp_value);
size_t shmem_ulong_test_some(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long cmp_value);
size_t shmem_ulonglong_test_some(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, unsigned long long cmp_value);
size_t shmem_int32_test_some(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int32_t cmp_value);
size_t shmem_int64_test_some(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, int64_t cmp_value);
size_t shmem_uint32_test_some(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint32_t cmp_value);
size_t shmem_uint64_test_some(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, uint64_t cmp_value);
size_t shmem_size_test_some(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, size_t cmp_value);
size_t shmem_ptrdiff_test_some(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, ptrdiff_t cmp_value);

/* shmem_TYPE_test_all_vector. As shmem_test_all, each element with its own value.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_values  a value for each element
   Returns: 1 or 0; 1 if no element takes part.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
int shmem_int_test_all_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
int shmem_long_test_all_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
int shmem_longlong_test_all_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
int shmem_uint_test_all_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
int shmem_ulong_test_all_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
int shmem_ulonglong_test_all_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
int shmem_int32_test_all_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
int shmem_int64_test_all_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
int shmem_uint32_test_all_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
int shmem_uint64_test_all_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
int shmem_size_test_all_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
int shmem_ptrdiff_test_all_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);

/* shmem_TYPE_test_any_vector. As shmem_test_any, each element with its own value.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_values  a value for each element
   Returns: its index, or SIZE_MAX.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_test_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values);
size_t shmem_long_test_any_vector(long *ivars, size_t nelems, const int *status, int cmp, const long *cmp_values);
size_t shmem_longlong_test_any_vector(long long *ivars, size_t nelems, const int *status, int cmp, const long long *cmp_values);
size_t shmem_uint_test_any_vector(unsigned int *ivars, size_t nelems, const int *status, int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_test_any_vector(unsigned long *ivars, size_t nelems, const int *status, int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_test_any_vector(unsigned long long *ivars, size_t nelems, const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_test_any_vector(int32_t *ivars, size_t nelems, const int *status, int cmp, const int32_t *cmp_values);
size_t shmem_int64_test_any_vector(int64_t *ivars, size_t nelems, const int *status, int cmp, const int64_t *cmp_values);
size_t shmem_uint32_test_any_vector(uint32_t *ivars, size_t nelems, const int *status, int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_test_any_vector(uint64_t *ivars, size_t nelems, const int *status, int cmp, const uint64_t *cmp_values);
size_t shmem_size_test_any_vector(size_t *ivars, size_t nelems, const int *status, int cmp, const size_t *cmp_values);
size_t shmem_ptrdiff_test_any_vector(ptrdiff_t *ivars, size_t nelems, const int *status, int cmp, const ptrdiff_t *cmp_values);

/* shmem_TYPE_test_some_vector. As shmem_test_some, each element with its own value.
     ivars       the array of objects, symmetric; here on this PE
     nelems      number of elements (bytes in the mem form)
     indices     room for nelems indices; receives those of the satisfied elements, in no promised order
     status      NULL, or for each element: not 0 leaves the element out
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_values  a value for each element
   Returns: how many.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines"; since 1.5. */
size_t shmem_int_test_some_vector(int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int *cmp_values);
size_t shmem_long_test_some_vector(long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long *cmp_values);
size_t shmem_longlong_test_some_vector(long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const long long *cmp_values);
size_t shmem_uint_test_some_vector(unsigned int *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned int *cmp_values);
size_t shmem_ulong_test_some_vector(unsigned long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long *cmp_values);
size_t shmem_ulonglong_test_some_vector(unsigned long long *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const unsigned long long *cmp_values);
size_t shmem_int32_test_some_vector(int32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int32_t *cmp_values);
size_t shmem_int64_test_some_vector(int64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const int64_t *cmp_values);
size_t shmem_uint32_test_some_vector(uint32_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint32_t *cmp_values);
size_t shmem_uint64_test_some_vector(uint64_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const uint64_t *cmp_values);
size_t shmem_size_test_some_vector(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const size_t *cmp_values);
size_t shmem_ptrdiff_test_some_vector(ptrdiff_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const ptrdiff_t *cmp_values);

/* shmem_signal_wait_until. Waits until a signal word here compares as asked.
     sig_addr    the signal word, symmetric
     cmp         one of SHMEM_CMP_EQ, NE, GT, GE, LT, LE
     cmp_value   the value on the right of the comparison
   Returns: the value that did.
   Errors: An address that is not symmetric or not aligned as its type, a cmp that is none, NULL for an array
     with elements, and a call outside init and finalize end the job. So does the death of a PE while this one
     waits.
   Threads: Safe; only the calling thread waits.
   Standard: "Point-To-Point Synchronization Routines". */
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* -------------------------------------------------------------------------------------------- Collectives */

/* shmem_barrier_all. Completes what this PE has issued on the default context, as shmem_quiet, and waits until
   every PE is here.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: One thread of each PE.
   Standard: "Collective Routines". */
void shmem_barrier_all(void);

/* shmem_barrier. As shmem_barrier_all, for the PEs of an active set.
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_team_sync. Waits until every PE of the team is here. Plain stores become visible; puts need a quiet
   before. In C11 also under the name shmem_sync.
     team        the team
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_team_sync(shmem_team_t team);

/* shmem_sync. As shmem_sync_all, for the PEs of an active set. In C11 shmem_sync with one argument is
   shmem_team_sync.
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.4; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_sync_all. Waits until every PE is here. Plain stores become visible; puts need a quiet before.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: One thread of each PE.
   Standard: "Collective Routines"; since 1.4. */
void shmem_sync_all(void);

/* shmem_TYPE_alltoall and shmem_alltoallmem. Gives each PE of the team a block: block i of the source goes to PE
   i, as the block of its dest with the number of the giver.
     team        the team
     dest        where to, symmetric, nelems elements for each PE
     source      where from, symmetric, nelems elements for each PE
     nelems      number of elements of one block (bytes in the mem form), the same on all
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_float_alltoall(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_alltoall(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_alltoall(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
int shmem_char_alltoall(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_alltoall(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
int shmem_short_alltoall(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_alltoall(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_alltoall(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_alltoall(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
int shmem_uchar_alltoall(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
int shmem_ushort_alltoall(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
int shmem_uint_alltoall(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
int shmem_ulong_alltoall(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
int shmem_ulonglong_alltoall(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
int shmem_int8_alltoall(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_alltoall(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_alltoall(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_alltoall(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_alltoall(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_alltoall(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_alltoall(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_alltoall(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_alltoall(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_ptrdiff_alltoall(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
int shmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

/* shmem_alltoallSIZE. As shmem_alltoallmem on the PEs of an active set, for elements of SIZE bits.
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.3; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_alltoall32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_alltoall64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_TYPE_alltoalls and shmem_alltoallsmem. As shmem_alltoall for elements that lie apart: element k of the
   source is at k * sst, of dest at k * dst, counted over all blocks.
     team        the team
     dest        where to, symmetric, nelems elements for each PE
     source      where from, symmetric, nelems elements for each PE
     dst         distance of elements in dest, 1 or more, the same on all
     sst         distance of elements in the source, 1 or more, the same on all
     nelems      number of elements of one block (bytes in the mem form), the same on all
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_float_alltoalls(shmem_team_t team, float *dest, const float *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_double_alltoalls(shmem_team_t team, double *dest, const double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_longdouble_alltoalls(shmem_team_t team, long double *dest, const long double *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_char_alltoalls(shmem_team_t team, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_schar_alltoalls(shmem_team_t team, signed char *dest, const signed char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_short_alltoalls(shmem_team_t team, short *dest, const short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_int_alltoalls(shmem_team_t team, int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_long_alltoalls(shmem_team_t team, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_longlong_alltoalls(shmem_team_t team, long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uchar_alltoalls(shmem_team_t team, unsigned char *dest, const unsigned char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ushort_alltoalls(shmem_team_t team, unsigned short *dest, const unsigned short *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uint_alltoalls(shmem_team_t team, unsigned int *dest, const unsigned int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ulong_alltoalls(shmem_team_t team, unsigned long *dest, const unsigned long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ulonglong_alltoalls(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_int8_alltoalls(shmem_team_t team, int8_t *dest, const int8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_int16_alltoalls(shmem_team_t team, int16_t *dest, const int16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_int32_alltoalls(shmem_team_t team, int32_t *dest, const int32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_int64_alltoalls(shmem_team_t team, int64_t *dest, const int64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uint8_alltoalls(shmem_team_t team, uint8_t *dest, const uint8_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uint16_alltoalls(shmem_team_t team, uint16_t *dest, const uint16_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uint32_alltoalls(shmem_team_t team, uint32_t *dest, const uint32_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_uint64_alltoalls(shmem_team_t team, uint64_t *dest, const uint64_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_size_alltoalls(shmem_team_t team, size_t *dest, const size_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_ptrdiff_alltoalls(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
int shmem_alltoallsmem(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems);

/* shmem_alltoallsSIZE. As shmem_alltoallsmem on the PEs of an active set, for elements of SIZE bits.
     dest        where to, symmetric
     source      where from, symmetric
     dst         distance between the starts in dest, in elements
     sst         distance between the starts in source, in elements
     nelems      number of elements (bytes in the mem form)
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.3; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_alltoalls32(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_alltoalls64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_TYPE_broadcast and shmem_broadcastmem. Copies an array of one PE to every PE of the team, itself
   included. dest holds it on return.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     PE_root     the PE that gives, as numbered in the team or active set
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_float_broadcast(shmem_team_t team, float *dest, const float *source, size_t nelems, int PE_root);
int shmem_double_broadcast(shmem_team_t team, double *dest, const double *source, size_t nelems, int PE_root);
int shmem_longdouble_broadcast(shmem_team_t team, long double *dest, const long double *source, size_t nelems, int PE_root);
int shmem_char_broadcast(shmem_team_t team, char *dest, const char *source, size_t nelems, int PE_root);
int shmem_schar_broadcast(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems, int PE_root);
int shmem_short_broadcast(shmem_team_t team, short *dest, const short *source, size_t nelems, int PE_root);
int shmem_int_broadcast(shmem_team_t team, int *dest, const int *source, size_t nelems, int PE_root);
int shmem_long_broadcast(shmem_team_t team, long *dest, const long *source, size_t nelems, int PE_root);
int shmem_longlong_broadcast(shmem_team_t team, long long *dest, const long long *source, size_t nelems, int PE_root);
int shmem_uchar_broadcast(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems, int PE_root);
int shmem_ushort_broadcast(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems, int PE_root);
int shmem_uint_broadcast(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems, int PE_root);
int shmem_ulong_broadcast(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems, int PE_root);
int shmem_ulonglong_broadcast(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems, int PE_root);
int shmem_int8_broadcast(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems, int PE_root);
int shmem_int16_broadcast(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems, int PE_root);
int shmem_int32_broadcast(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems, int PE_root);
int shmem_int64_broadcast(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems, int PE_root);
int shmem_uint8_broadcast(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems, int PE_root);
int shmem_uint16_broadcast(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems, int PE_root);
int shmem_uint32_broadcast(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems, int PE_root);
int shmem_uint64_broadcast(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems, int PE_root);
int shmem_size_broadcast(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems, int PE_root);
int shmem_ptrdiff_broadcast(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems, int PE_root);
int shmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root);

/* shmem_broadcastSIZE. Copies an array of one PE of an active set to every other one. dest of the root is left
   alone.
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     PE_root     the PE that gives, as numbered in the team or active set
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_broadcast32(void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_broadcast64(void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_TYPE_collect and shmem_collectmem. As shmem_fcollect, but each PE may give another number of elements.
     team        the team
     dest        where to, symmetric, with room for the elements of all PEs
     source      where from, symmetric
     nelems      number of elements of this PE (bytes in the mem form)
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_float_collect(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_collect(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_collect(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
int shmem_char_collect(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_collect(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
int shmem_short_collect(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_collect(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_collect(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_collect(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
int shmem_uchar_collect(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
int shmem_ushort_collect(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
int shmem_uint_collect(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
int shmem_ulong_collect(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
int shmem_ulonglong_collect(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
int shmem_int8_collect(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_collect(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_collect(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_collect(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_collect(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_collect(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_collect(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_collect(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_collect(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_ptrdiff_collect(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
int shmem_collectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

/* shmem_TYPE_fcollect and shmem_fcollectmem. Puts the arrays of all PEs of the team one behind the other, in the
   order of the team, on every one of them.
     team        the team
     dest        where to, symmetric, nelems elements for each PE
     source      where from, symmetric
     nelems      number of elements of one PE (bytes in the mem form), the same on all
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_float_fcollect(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_fcollect(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_fcollect(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
int shmem_char_fcollect(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_fcollect(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
int shmem_short_fcollect(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_fcollect(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_fcollect(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_fcollect(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
int shmem_uchar_fcollect(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
int shmem_ushort_fcollect(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
int shmem_uint_fcollect(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
int shmem_ulong_fcollect(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
int shmem_ulonglong_fcollect(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
int shmem_int8_fcollect(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_fcollect(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_fcollect(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_fcollect(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_fcollect(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_fcollect(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_fcollect(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_fcollect(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_fcollect(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_ptrdiff_fcollect(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
int shmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems);

/* shmem_collectSIZE. As shmem_collectmem on the PEs of an active set, for elements of SIZE bits.
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_collect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_collect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_fcollectSIZE. As shmem_fcollectmem on the PEs of an active set, for elements of SIZE bits.
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, and the
     errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_fcollect32(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_fcollect64(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync);

/* shmem_TYPE_and_reduce. Bitwise and of the arrays of all PEs of the team, element by element; every one of them
   gets the result. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_uchar_and_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_and_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_and_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_and_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_and_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_and_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_and_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_and_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_and_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_and_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_and_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_and_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_and_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_and_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);

/* shmem_TYPE_or_reduce. Bitwise or of the arrays of all PEs of the team, element by element; every one of them
   gets the result. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_uchar_or_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_or_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_or_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_or_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_or_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_or_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_or_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_or_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_or_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_or_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_or_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_or_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_or_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_or_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);

/* shmem_TYPE_xor_reduce. Bitwise exclusive or of the arrays of all PEs of the team, element by element; every
   one of them gets the result. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_uchar_xor_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_xor_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_xor_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_xor_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_xor_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_xor_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_xor_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_xor_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_xor_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_xor_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_xor_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_xor_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_xor_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_xor_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);

/* shmem_TYPE_max_reduce. The largest of the arrays of all PEs of the team, element by element; every one of them
   gets the result. NaN where any has one. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_char_max_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_max_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
int shmem_short_max_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_max_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_max_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_max_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
int shmem_ptrdiff_max_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
int shmem_uchar_max_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_max_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_max_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_max_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_max_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_max_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_max_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_max_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_max_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_max_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_max_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_max_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_max_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_max_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_max_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_max_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_max_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);

/* shmem_TYPE_min_reduce. The smallest of the arrays of all PEs of the team, element by element; every one of
   them gets the result. NaN where any has one. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_char_min_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_min_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
int shmem_short_min_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_min_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_min_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_min_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
int shmem_ptrdiff_min_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
int shmem_uchar_min_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_min_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_min_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_min_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_min_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_min_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_min_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_min_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_min_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_min_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_min_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_min_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_min_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_min_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_min_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_min_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_min_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);

/* shmem_TYPE_sum_reduce. The sum of the arrays of all PEs of the team, element by element, added in the order of
   the team, so that the result is the same bits everywhere. Integers wrap around. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_char_sum_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_sum_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
int shmem_short_sum_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_sum_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_sum_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_sum_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
int shmem_ptrdiff_sum_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
int shmem_uchar_sum_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_sum_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_sum_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_sum_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_sum_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_sum_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_sum_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_sum_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_sum_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_sum_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_sum_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_sum_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_sum_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_sum_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_sum_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_sum_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_sum_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);
int shmem_complexd_sum_reduce(shmem_team_t team, SHMEMI_COMPLEX(double) *dest, const SHMEMI_COMPLEX(double) *source, size_t nreduce);
int shmem_complexf_sum_reduce(shmem_team_t team, SHMEMI_COMPLEX(float) *dest, const SHMEMI_COMPLEX(float) *source, size_t nreduce);

/* shmem_TYPE_prod_reduce. The product of the arrays of all PEs of the team, element by element, multiplied in
   the order of the team. Integers wrap around. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.5. */
int shmem_char_prod_reduce(shmem_team_t team, char *dest, const char *source, size_t nreduce);
int shmem_schar_prod_reduce(shmem_team_t team, signed char *dest, const signed char *source, size_t nreduce);
int shmem_short_prod_reduce(shmem_team_t team, short *dest, const short *source, size_t nreduce);
int shmem_int_prod_reduce(shmem_team_t team, int *dest, const int *source, size_t nreduce);
int shmem_long_prod_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce);
int shmem_longlong_prod_reduce(shmem_team_t team, long long *dest, const long long *source, size_t nreduce);
int shmem_ptrdiff_prod_reduce(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nreduce);
int shmem_uchar_prod_reduce(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nreduce);
int shmem_ushort_prod_reduce(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nreduce);
int shmem_uint_prod_reduce(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nreduce);
int shmem_ulong_prod_reduce(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nreduce);
int shmem_ulonglong_prod_reduce(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nreduce);
int shmem_int8_prod_reduce(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nreduce);
int shmem_int16_prod_reduce(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nreduce);
int shmem_int32_prod_reduce(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nreduce);
int shmem_int64_prod_reduce(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nreduce);
int shmem_uint8_prod_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nreduce);
int shmem_uint16_prod_reduce(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nreduce);
int shmem_uint32_prod_reduce(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nreduce);
int shmem_uint64_prod_reduce(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nreduce);
int shmem_size_prod_reduce(shmem_team_t team, size_t *dest, const size_t *source, size_t nreduce);
int shmem_float_prod_reduce(shmem_team_t team, float *dest, const float *source, size_t nreduce);
int shmem_double_prod_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce);
int shmem_longdouble_prod_reduce(shmem_team_t team, long double *dest, const long double *source, size_t nreduce);
int shmem_complexd_prod_reduce(shmem_team_t team, SHMEMI_COMPLEX(double) *dest, const SHMEMI_COMPLEX(double) *source, size_t nreduce);
int shmem_complexf_prod_reduce(shmem_team_t team, SHMEMI_COMPLEX(float) *dest, const SHMEMI_COMPLEX(float) *source, size_t nreduce);

/* shmem_TYPE_sum_inscan. Element by element, the sum of the arrays of the team's PEs up to and with this one,
   added in the order of the team. Integers wrap around. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.6. */
int shmem_char_sum_inscan(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_sum_inscan(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
int shmem_short_sum_inscan(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_sum_inscan(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_sum_inscan(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_sum_inscan(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
int shmem_ptrdiff_sum_inscan(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
int shmem_uchar_sum_inscan(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
int shmem_ushort_sum_inscan(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
int shmem_uint_sum_inscan(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
int shmem_ulong_sum_inscan(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
int shmem_ulonglong_sum_inscan(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
int shmem_int8_sum_inscan(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_sum_inscan(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_sum_inscan(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_sum_inscan(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_sum_inscan(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_sum_inscan(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_sum_inscan(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_sum_inscan(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_sum_inscan(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_float_sum_inscan(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_sum_inscan(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_sum_inscan(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
int shmem_complexd_sum_inscan(shmem_team_t team, SHMEMI_COMPLEX(double) *dest, const SHMEMI_COMPLEX(double) *source, size_t nelems);
int shmem_complexf_sum_inscan(shmem_team_t team, SHMEMI_COMPLEX(float) *dest, const SHMEMI_COMPLEX(float) *source, size_t nelems);

/* shmem_TYPE_sum_exscan. Element by element, the sum of the arrays of the team's PEs before this one, added in
   the order of the team; zeros on the first one. Integers wrap around. dest may be source.
     team        the team
     dest        where to, symmetric
     source      where from, symmetric
     nelems      number of elements (bytes in the mem form)
   Returns: 0, or not 0 for SHMEM_TEAM_INVALID.
   Errors: A team that was destroyed, an address that is not symmetric, a source that overlaps dest and may not,
     a count times the size of an element that overflows, a root outside the team, a stride below 1, and a call
     outside init and finalize end the job. So does the death of a PE while others wait for it and, with
     SHMEM_DEBUG, a call that differs from another PE's.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; since 1.6. */
int shmem_char_sum_exscan(shmem_team_t team, char *dest, const char *source, size_t nelems);
int shmem_schar_sum_exscan(shmem_team_t team, signed char *dest, const signed char *source, size_t nelems);
int shmem_short_sum_exscan(shmem_team_t team, short *dest, const short *source, size_t nelems);
int shmem_int_sum_exscan(shmem_team_t team, int *dest, const int *source, size_t nelems);
int shmem_long_sum_exscan(shmem_team_t team, long *dest, const long *source, size_t nelems);
int shmem_longlong_sum_exscan(shmem_team_t team, long long *dest, const long long *source, size_t nelems);
int shmem_ptrdiff_sum_exscan(shmem_team_t team, ptrdiff_t *dest, const ptrdiff_t *source, size_t nelems);
int shmem_uchar_sum_exscan(shmem_team_t team, unsigned char *dest, const unsigned char *source, size_t nelems);
int shmem_ushort_sum_exscan(shmem_team_t team, unsigned short *dest, const unsigned short *source, size_t nelems);
int shmem_uint_sum_exscan(shmem_team_t team, unsigned int *dest, const unsigned int *source, size_t nelems);
int shmem_ulong_sum_exscan(shmem_team_t team, unsigned long *dest, const unsigned long *source, size_t nelems);
int shmem_ulonglong_sum_exscan(shmem_team_t team, unsigned long long *dest, const unsigned long long *source, size_t nelems);
int shmem_int8_sum_exscan(shmem_team_t team, int8_t *dest, const int8_t *source, size_t nelems);
int shmem_int16_sum_exscan(shmem_team_t team, int16_t *dest, const int16_t *source, size_t nelems);
int shmem_int32_sum_exscan(shmem_team_t team, int32_t *dest, const int32_t *source, size_t nelems);
int shmem_int64_sum_exscan(shmem_team_t team, int64_t *dest, const int64_t *source, size_t nelems);
int shmem_uint8_sum_exscan(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t nelems);
int shmem_uint16_sum_exscan(shmem_team_t team, uint16_t *dest, const uint16_t *source, size_t nelems);
int shmem_uint32_sum_exscan(shmem_team_t team, uint32_t *dest, const uint32_t *source, size_t nelems);
int shmem_uint64_sum_exscan(shmem_team_t team, uint64_t *dest, const uint64_t *source, size_t nelems);
int shmem_size_sum_exscan(shmem_team_t team, size_t *dest, const size_t *source, size_t nelems);
int shmem_float_sum_exscan(shmem_team_t team, float *dest, const float *source, size_t nelems);
int shmem_double_sum_exscan(shmem_team_t team, double *dest, const double *source, size_t nelems);
int shmem_longdouble_sum_exscan(shmem_team_t team, long double *dest, const long double *source, size_t nelems);
int shmem_complexd_sum_exscan(shmem_team_t team, SHMEMI_COMPLEX(double) *dest, const SHMEMI_COMPLEX(double) *source, size_t nelems);
int shmem_complexf_sum_exscan(shmem_team_t team, SHMEMI_COMPLEX(float) *dest, const SHMEMI_COMPLEX(float) *source, size_t nelems);

/* shmem_TYPE_and_to_all and shmem_TYPE_or_to_all and shmem_TYPE_xor_to_all. Element by element, the bitwise and,
   or, exclusive or of the arrays of all PEs of an active set, as the ..._reduce functions for teams do it. dest
   may be source.
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pWrk        symmetric array for the library's use, which this one does without
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, a
     negative nreduce, and the errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_and_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_and_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_and_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_and_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_or_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_or_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_or_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_or_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_xor_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_xor_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_xor_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_xor_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);

/* shmem_TYPE_max_to_all and shmem_TYPE_min_to_all. Element by element, the maximum or minimum of the arrays of
   all PEs of an active set, as the ..._reduce functions for teams do it. dest may be source.
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pWrk        symmetric array for the library's use, which this one does without
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, a
     negative nreduce, and the errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_max_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_max_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_max_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_max_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_float_max_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_double_max_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longdouble_max_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_min_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_min_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_min_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_min_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_float_min_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_double_min_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longdouble_min_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);

/* shmem_TYPE_sum_to_all and shmem_TYPE_prod_to_all. Element by element, the sum or product of the arrays of all
   PEs of an active set, as the ..._reduce functions for teams do it. dest may be source.
     dest        where to, symmetric
     source      where from, symmetric
     nreduce     number of elements
     PE_start    the first PE of the active set
     logPE_stride the logarithm to base 2 of the distance from one PE of the active set to the next
     PE_size     number of PEs in the active set
     pWrk        symmetric array for the library's use, which this one does without
     pSync       symmetric array of SHMEM_SYNC_SIZE elements, SHMEM_SYNC_VALUE each on all PEs of the active set;
                 is so again at the end. Another call may use it once all PEs have left this one
   Errors: PEs that do not exist, a set that the caller is not in, a pSync that is not as it has to be, a
     negative nreduce, and the errors of the form on a team end the job.
   Threads: Never two threads at once on one team; every member calls the team's collectives in the same order.
   Standard: "Collective Routines"; deprecated in 1.5. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_sum_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_sum_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_sum_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_sum_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_float_sum_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_double_sum_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longdouble_sum_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_complexf_sum_to_all(SHMEMI_COMPLEX(float) *dest, const SHMEMI_COMPLEX(float) *source, int nreduce, int PE_start, int logPE_stride, int PE_size, SHMEMI_COMPLEX(float) *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_complexd_sum_to_all(SHMEMI_COMPLEX(double) *dest, const SHMEMI_COMPLEX(double) *source, int nreduce, int PE_start, int logPE_stride, int PE_size, SHMEMI_COMPLEX(double) *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_short_prod_to_all(short *dest, const short *source, int nreduce, int PE_start, int logPE_stride, int PE_size, short *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_int_prod_to_all(int *dest, const int *source, int nreduce, int PE_start, int logPE_stride, int PE_size, int *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_long_prod_to_all(long *dest, const long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longlong_prod_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_float_prod_to_all(float *dest, const float *source, int nreduce, int PE_start, int logPE_stride, int PE_size, float *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_double_prod_to_all(double *dest, const double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_longdouble_prod_to_all(long double *dest, const long double *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long double *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_complexf_prod_to_all(SHMEMI_COMPLEX(float) *dest, const SHMEMI_COMPLEX(float) *source, int nreduce, int PE_start, int logPE_stride, int PE_size, SHMEMI_COMPLEX(float) *pWrk, long *pSync);
SHMEMI_DEPRECATED("since OpenSHMEM 1.5") void shmem_complexd_prod_to_all(SHMEMI_COMPLEX(double) *dest, const SHMEMI_COMPLEX(double) *source, int nreduce, int PE_start, int logPE_stride, int PE_size, SHMEMI_COMPLEX(double) *pWrk, long *pSync);

/* ----------------------------------------------------------------------------------- Order and completion */

/* shmem_fence, and with a context: shmem_ctx_.... Puts, atomics and plain stores before it are seen by each PE
   before those after it. Completes nothing. SHMEM_CTX_INVALID: does nothing.
     ctx         the context; PEs are numbered as in its team
   Errors: A ctx that is no context, and a call outside init and finalize end the job.
   Threads: Safe; covers what all threads of the PE have issued before.
   Standard: "Memory Ordering Routines". */
void shmem_fence(void);
void shmem_ctx_fence(shmem_ctx_t ctx);

/* shmem_quiet, and with a context: shmem_ctx_.... Completes everything that was issued before: puts, atomics and
   stores are visible to all PEs, nbi operations are done and their buffers free. SHMEM_CTX_INVALID: does
   nothing.
     ctx         the context; PEs are numbered as in its team
   Errors: A ctx that is no context, and a call outside init and finalize end the job.
   Threads: Safe; covers what all threads of the PE have issued before.
   Standard: "Memory Ordering Routines". */
void shmem_quiet(void);
void shmem_ctx_quiet(shmem_ctx_t ctx);

/* shmem_pe_quiet, and with a context: shmem_ctx_.... As shmem_quiet, for what was issued to the listed PEs.
     ctx         the context; PEs are numbered as in its team
     target_pes  the PEs
     npes        how many; 0 returns at once
   Errors: A pe outside the job, NULL with a count above 0, a ctx that is no context, and a call outside init and
     finalize end the job.
   Threads: Safe; covers what all threads of the PE have issued before.
   Standard: "Memory Ordering Routines"; since 1.6. */
void shmem_pe_quiet(const int *target_pes, size_t npes);
void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes);

/* -------------------------------------------------------------------------------------------------- Locks */

/* shmem_clear_lock and shmem_set_lock. shmem_set_lock waits for a lock, first come, first served;
   shmem_clear_lock completes everything that was issued, as shmem_quiet, and passes it on. A lock belongs to a
   PE; its threads take turns.
     lock        the lock, symmetric; 0 on all PEs before the first use, and changed by nothing else
   Errors: A lock that this thread has set already (set) or that this PE has not (clear), an address that is not
     symmetric or not aligned, a long that is no lock, and a call outside init and finalize end the job. So does
     the death of a PE while this one waits.
   Threads: Safe.
   Standard: "Distributed Locking Routines". */
void shmem_clear_lock(long *lock);
void shmem_set_lock(long *lock);

/* shmem_test_lock. Takes a lock if nobody has it; does not wait.
     lock        as shmem_set_lock
   Returns: 0 if this PE has the lock now, 1 if somebody had it.
   Errors: As shmem_set_lock.
   Threads: Safe.
   Standard: "Distributed Locking Routines". */
int shmem_test_lock(long *lock);

/* ----------------------------------------------------------------------------------------------- Sessions */

/* shmem_ctx_session_start. Hints at what the program is about to do on a context; changes no result and no
   order. On one host every operation is done at once, and nothing could be gathered or prepared: the hints are
   checked, and that is all. SHMEM_CTX_INVALID: does nothing.
     ctx         the context; PEs are numbered as in its team
     options     SHMEM_CTX_SESSION_BATCH, or 0
     config      the members that the mask names; may be NULL if the mask is 0
     config_mask SHMEM_CTX_SESSION_TOTAL_OPS, or 0 for the defaults (total_ops SIZE_MAX)
   Errors: Unknown bits in options or config_mask, NULL with a mask, a ctx that is no context, and a call outside
     init and finalize end the job.
   Threads: Safe.
   Standard: "Session Routines"; since 1.6. */
void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask);

/* shmem_ctx_session_stop. Ends the session on a context. Without one, and for SHMEM_CTX_INVALID: does nothing.
     ctx         the context; PEs are numbered as in its team
   Errors: A ctx that is no context, and a call outside init and finalize end the job.
   Threads: Safe.
   Standard: "Session Routines"; since 1.6. */
void shmem_ctx_session_stop(shmem_ctx_t ctx);

/* ---------------------------------------------------------------------------------------------- Profiling */

/* shmem_pcontrol. For profilers that put their own function in its place; the library's does nothing.
     level       for the profiler
   Errors: None.
   Threads: Safe.
   Standard: "Profiling Interface"; since 1.5. */
void shmem_pcontrol(int level, ...);

/* ------------------------------------------------------------------ Old names that the text no longer has */

/* shmem_set_cache_inv and shmem_clear_cache_inv and shmem_udcflush. Do nothing: caches are coherent.
   Errors: None.
   Threads: Safe.
   Standard: "Cache Management, OpenSHMEM 1.3"; deprecated in 1.3. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.3") void shmem_set_cache_inv(void);
SHMEMI_DEPRECATED("since OpenSHMEM 1.3") void shmem_clear_cache_inv(void);
SHMEMI_DEPRECATED("since OpenSHMEM 1.3") void shmem_udcflush(void);

/* shmem_set_cache_line_inv and shmem_clear_cache_line_inv and shmem_udcflush_line. Do nothing: caches are
   coherent.
     dest        not used
   Errors: None.
   Threads: Safe.
   Standard: "Cache Management, OpenSHMEM 1.3"; deprecated in 1.3. */
SHMEMI_DEPRECATED("since OpenSHMEM 1.3") void shmem_set_cache_line_inv(void *dest);
SHMEMI_DEPRECATED("since OpenSHMEM 1.3") void shmem_clear_cache_line_inv(void *dest);
SHMEMI_DEPRECATED("since OpenSHMEM 1.3") void shmem_udcflush_line(void *dest);

#pragma GCC diagnostic pop
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* --------------------------------------------------------------------------------------- C11 generic macros */

/* shmem_put(dest, source, nelems, pe) is shmem_int_put if dest points to int, and so on; const and volatile do
   not matter. Most also take a context as first argument. As with every macro, an argument that has a comma
   outside of parentheses, such as (int[]){1, 2}, needs parentheses around it. */
#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L

/* The n-th argument; with names behind __VA_ARGS__ it picks one by the number of arguments. */
#define SHMEMI_ARG4(a1, a2, a3, pick, ...) pick
#define SHMEMI_ARG5(a1, a2, a3, a4, pick, ...) pick
#define SHMEMI_ARG6(a1, a2, a3, a4, a5, pick, ...) pick
#define SHMEMI_ARG7(a1, a2, a3, a4, a5, a6, pick, ...) pick
#define SHMEMI_ARG8(a1, a2, a3, a4, a5, a6, a7, pick, ...) pick
#define SHMEMI_ARG9(a1, a2, a3, a4, a5, a6, a7, a8, pick, ...) pick

#define shmem_put(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_PUT_CTX, SHMEMI_PUT_PLAIN, SHMEMI_PUT_PLAIN, SHMEMI_PUT_PLAIN, SHMEMI_PUT_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_PUT_PLAIN(dest, source, nelems, pe)                                                           \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_put,                                                                              \
        double: shmem_double_put,                                                                            \
        long double: shmem_longdouble_put,                                                                   \
        char: shmem_char_put,                                                                                \
        signed char: shmem_schar_put,                                                                        \
        short: shmem_short_put,                                                                              \
        int: shmem_int_put,                                                                                  \
        long: shmem_long_put,                                                                                \
        long long: shmem_longlong_put,                                                                       \
        unsigned char: shmem_uchar_put,                                                                      \
        unsigned short: shmem_ushort_put,                                                                    \
        unsigned int: shmem_uint_put,                                                                        \
        unsigned long: shmem_ulong_put,                                                                      \
        unsigned long long: shmem_ulonglong_put)(dest, source, nelems, pe)
#define SHMEMI_PUT_CTX(ctx, dest, source, nelems, pe)                                                        \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_put,                                                                          \
        double: shmem_ctx_double_put,                                                                        \
        long double: shmem_ctx_longdouble_put,                                                               \
        char: shmem_ctx_char_put,                                                                            \
        signed char: shmem_ctx_schar_put,                                                                    \
        short: shmem_ctx_short_put,                                                                          \
        int: shmem_ctx_int_put,                                                                              \
        long: shmem_ctx_long_put,                                                                            \
        long long: shmem_ctx_longlong_put,                                                                   \
        unsigned char: shmem_ctx_uchar_put,                                                                  \
        unsigned short: shmem_ctx_ushort_put,                                                                \
        unsigned int: shmem_ctx_uint_put,                                                                    \
        unsigned long: shmem_ctx_ulong_put,                                                                  \
        unsigned long long: shmem_ctx_ulonglong_put)(ctx, dest, source, nelems, pe)

#define shmem_p(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_P_CTX, SHMEMI_P_PLAIN, SHMEMI_P_PLAIN, SHMEMI_P_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_P_PLAIN(dest, value, pe)                                                                      \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_p,                                                                                \
        double: shmem_double_p,                                                                              \
        long double: shmem_longdouble_p,                                                                     \
        char: shmem_char_p,                                                                                  \
        signed char: shmem_schar_p,                                                                          \
        short: shmem_short_p,                                                                                \
        int: shmem_int_p,                                                                                    \
        long: shmem_long_p,                                                                                  \
        long long: shmem_longlong_p,                                                                         \
        unsigned char: shmem_uchar_p,                                                                        \
        unsigned short: shmem_ushort_p,                                                                      \
        unsigned int: shmem_uint_p,                                                                          \
        unsigned long: shmem_ulong_p,                                                                        \
        unsigned long long: shmem_ulonglong_p)(dest, value, pe)
#define SHMEMI_P_CTX(ctx, dest, value, pe)                                                                   \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_p,                                                                            \
        double: shmem_ctx_double_p,                                                                          \
        long double: shmem_ctx_longdouble_p,                                                                 \
        char: shmem_ctx_char_p,                                                                              \
        signed char: shmem_ctx_schar_p,                                                                      \
        short: shmem_ctx_short_p,                                                                            \
        int: shmem_ctx_int_p,                                                                                \
        long: shmem_ctx_long_p,                                                                              \
        long long: shmem_ctx_longlong_p,                                                                     \
        unsigned char: shmem_ctx_uchar_p,                                                                    \
        unsigned short: shmem_ctx_ushort_p,                                                                  \
        unsigned int: shmem_ctx_uint_p,                                                                      \
        unsigned long: shmem_ctx_ulong_p,                                                                    \
        unsigned long long: shmem_ctx_ulonglong_p)(ctx, dest, value, pe)

#define shmem_iput(...) SHMEMI_ARG8(__VA_ARGS__, SHMEMI_IPUT_CTX, SHMEMI_IPUT_PLAIN, SHMEMI_IPUT_PLAIN, SHMEMI_IPUT_PLAIN, SHMEMI_IPUT_PLAIN, SHMEMI_IPUT_PLAIN, SHMEMI_IPUT_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_IPUT_PLAIN(dest, source, dst, sst, nelems, pe)                                                \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_iput,                                                                             \
        double: shmem_double_iput,                                                                           \
        long double: shmem_longdouble_iput,                                                                  \
        char: shmem_char_iput,                                                                               \
        signed char: shmem_schar_iput,                                                                       \
        short: shmem_short_iput,                                                                             \
        int: shmem_int_iput,                                                                                 \
        long: shmem_long_iput,                                                                               \
        long long: shmem_longlong_iput,                                                                      \
        unsigned char: shmem_uchar_iput,                                                                     \
        unsigned short: shmem_ushort_iput,                                                                   \
        unsigned int: shmem_uint_iput,                                                                       \
        unsigned long: shmem_ulong_iput,                                                                     \
        unsigned long long: shmem_ulonglong_iput)(dest, source, dst, sst, nelems, pe)
#define SHMEMI_IPUT_CTX(ctx, dest, source, dst, sst, nelems, pe)                                             \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_iput,                                                                         \
        double: shmem_ctx_double_iput,                                                                       \
        long double: shmem_ctx_longdouble_iput,                                                              \
        char: shmem_ctx_char_iput,                                                                           \
        signed char: shmem_ctx_schar_iput,                                                                   \
        short: shmem_ctx_short_iput,                                                                         \
        int: shmem_ctx_int_iput,                                                                             \
        long: shmem_ctx_long_iput,                                                                           \
        long long: shmem_ctx_longlong_iput,                                                                  \
        unsigned char: shmem_ctx_uchar_iput,                                                                 \
        unsigned short: shmem_ctx_ushort_iput,                                                               \
        unsigned int: shmem_ctx_uint_iput,                                                                   \
        unsigned long: shmem_ctx_ulong_iput,                                                                 \
        unsigned long long: shmem_ctx_ulonglong_iput)(ctx, dest, source, dst, sst, nelems, pe)

#define shmem_ibput(...) SHMEMI_ARG9(__VA_ARGS__, SHMEMI_IBPUT_CTX, SHMEMI_IBPUT_PLAIN, SHMEMI_IBPUT_PLAIN, SHMEMI_IBPUT_PLAIN, SHMEMI_IBPUT_PLAIN, SHMEMI_IBPUT_PLAIN, SHMEMI_IBPUT_PLAIN, SHMEMI_IBPUT_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_IBPUT_PLAIN(dest, source, dst, sst, bsize, nblocks, pe)                                       \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_ibput,                                                                            \
        double: shmem_double_ibput,                                                                          \
        long double: shmem_longdouble_ibput,                                                                 \
        char: shmem_char_ibput,                                                                              \
        signed char: shmem_schar_ibput,                                                                      \
        short: shmem_short_ibput,                                                                            \
        int: shmem_int_ibput,                                                                                \
        long: shmem_long_ibput,                                                                              \
        long long: shmem_longlong_ibput,                                                                     \
        unsigned char: shmem_uchar_ibput,                                                                    \
        unsigned short: shmem_ushort_ibput,                                                                  \
        unsigned int: shmem_uint_ibput,                                                                      \
        unsigned long: shmem_ulong_ibput,                                                                    \
        unsigned long long: shmem_ulonglong_ibput)(dest, source, dst, sst, bsize, nblocks, pe)
#define SHMEMI_IBPUT_CTX(ctx, dest, source, dst, sst, bsize, nblocks, pe)                                    \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_ibput,                                                                        \
        double: shmem_ctx_double_ibput,                                                                      \
        long double: shmem_ctx_longdouble_ibput,                                                             \
        char: shmem_ctx_char_ibput,                                                                          \
        signed char: shmem_ctx_schar_ibput,                                                                  \
        short: shmem_ctx_short_ibput,                                                                        \
        int: shmem_ctx_int_ibput,                                                                            \
        long: shmem_ctx_long_ibput,                                                                          \
        long long: shmem_ctx_longlong_ibput,                                                                 \
        unsigned char: shmem_ctx_uchar_ibput,                                                                \
        unsigned short: shmem_ctx_ushort_ibput,                                                              \
        unsigned int: shmem_ctx_uint_ibput,                                                                  \
        unsigned long: shmem_ctx_ulong_ibput,                                                                \
        unsigned long long: shmem_ctx_ulonglong_ibput)(ctx, dest, source, dst, sst, bsize, nblocks, pe)

#define shmem_get(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_GET_CTX, SHMEMI_GET_PLAIN, SHMEMI_GET_PLAIN, SHMEMI_GET_PLAIN, SHMEMI_GET_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_GET_PLAIN(dest, source, nelems, pe)                                                           \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_get,                                                                              \
        double: shmem_double_get,                                                                            \
        long double: shmem_longdouble_get,                                                                   \
        char: shmem_char_get,                                                                                \
        signed char: shmem_schar_get,                                                                        \
        short: shmem_short_get,                                                                              \
        int: shmem_int_get,                                                                                  \
        long: shmem_long_get,                                                                                \
        long long: shmem_longlong_get,                                                                       \
        unsigned char: shmem_uchar_get,                                                                      \
        unsigned short: shmem_ushort_get,                                                                    \
        unsigned int: shmem_uint_get,                                                                        \
        unsigned long: shmem_ulong_get,                                                                      \
        unsigned long long: shmem_ulonglong_get)(dest, source, nelems, pe)
#define SHMEMI_GET_CTX(ctx, dest, source, nelems, pe)                                                        \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_get,                                                                          \
        double: shmem_ctx_double_get,                                                                        \
        long double: shmem_ctx_longdouble_get,                                                               \
        char: shmem_ctx_char_get,                                                                            \
        signed char: shmem_ctx_schar_get,                                                                    \
        short: shmem_ctx_short_get,                                                                          \
        int: shmem_ctx_int_get,                                                                              \
        long: shmem_ctx_long_get,                                                                            \
        long long: shmem_ctx_longlong_get,                                                                   \
        unsigned char: shmem_ctx_uchar_get,                                                                  \
        unsigned short: shmem_ctx_ushort_get,                                                                \
        unsigned int: shmem_ctx_uint_get,                                                                    \
        unsigned long: shmem_ctx_ulong_get,                                                                  \
        unsigned long long: shmem_ctx_ulonglong_get)(ctx, dest, source, nelems, pe)

#define shmem_g(...) SHMEMI_ARG4(__VA_ARGS__, SHMEMI_G_CTX, SHMEMI_G_PLAIN, SHMEMI_G_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_G_PLAIN(source, pe)                                                                           \
    _Generic(*(source),                                                                                      \
        float: shmem_float_g,                                                                                \
        double: shmem_double_g,                                                                              \
        long double: shmem_longdouble_g,                                                                     \
        char: shmem_char_g,                                                                                  \
        signed char: shmem_schar_g,                                                                          \
        short: shmem_short_g,                                                                                \
        int: shmem_int_g,                                                                                    \
        long: shmem_long_g,                                                                                  \
        long long: shmem_longlong_g,                                                                         \
        unsigned char: shmem_uchar_g,                                                                        \
        unsigned short: shmem_ushort_g,                                                                      \
        unsigned int: shmem_uint_g,                                                                          \
        unsigned long: shmem_ulong_g,                                                                        \
        unsigned long long: shmem_ulonglong_g)(source, pe)
#define SHMEMI_G_CTX(ctx, source, pe)                                                                        \
    _Generic(*(source),                                                                                      \
        float: shmem_ctx_float_g,                                                                            \
        double: shmem_ctx_double_g,                                                                          \
        long double: shmem_ctx_longdouble_g,                                                                 \
        char: shmem_ctx_char_g,                                                                              \
        signed char: shmem_ctx_schar_g,                                                                      \
        short: shmem_ctx_short_g,                                                                            \
        int: shmem_ctx_int_g,                                                                                \
        long: shmem_ctx_long_g,                                                                              \
        long long: shmem_ctx_longlong_g,                                                                     \
        unsigned char: shmem_ctx_uchar_g,                                                                    \
        unsigned short: shmem_ctx_ushort_g,                                                                  \
        unsigned int: shmem_ctx_uint_g,                                                                      \
        unsigned long: shmem_ctx_ulong_g,                                                                    \
        unsigned long long: shmem_ctx_ulonglong_g)(ctx, source, pe)

#define shmem_iget(...) SHMEMI_ARG8(__VA_ARGS__, SHMEMI_IGET_CTX, SHMEMI_IGET_PLAIN, SHMEMI_IGET_PLAIN, SHMEMI_IGET_PLAIN, SHMEMI_IGET_PLAIN, SHMEMI_IGET_PLAIN, SHMEMI_IGET_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_IGET_PLAIN(dest, source, dst, sst, nelems, pe)                                                \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_iget,                                                                             \
        double: shmem_double_iget,                                                                           \
        long double: shmem_longdouble_iget,                                                                  \
        char: shmem_char_iget,                                                                               \
        signed char: shmem_schar_iget,                                                                       \
        short: shmem_short_iget,                                                                             \
        int: shmem_int_iget,                                                                                 \
        long: shmem_long_iget,                                                                               \
        long long: shmem_longlong_iget,                                                                      \
        unsigned char: shmem_uchar_iget,                                                                     \
        unsigned short: shmem_ushort_iget,                                                                   \
        unsigned int: shmem_uint_iget,                                                                       \
        unsigned long: shmem_ulong_iget,                                                                     \
        unsigned long long: shmem_ulonglong_iget)(dest, source, dst, sst, nelems, pe)
#define SHMEMI_IGET_CTX(ctx, dest, source, dst, sst, nelems, pe)                                             \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_iget,                                                                         \
        double: shmem_ctx_double_iget,                                                                       \
        long double: shmem_ctx_longdouble_iget,                                                              \
        char: shmem_ctx_char_iget,                                                                           \
        signed char: shmem_ctx_schar_iget,                                                                   \
        short: shmem_ctx_short_iget,                                                                         \
        int: shmem_ctx_int_iget,                                                                             \
        long: shmem_ctx_long_iget,                                                                           \
        long long: shmem_ctx_longlong_iget,                                                                  \
        unsigned char: shmem_ctx_uchar_iget,                                                                 \
        unsigned short: shmem_ctx_ushort_iget,                                                               \
        unsigned int: shmem_ctx_uint_iget,                                                                   \
        unsigned long: shmem_ctx_ulong_iget,                                                                 \
        unsigned long long: shmem_ctx_ulonglong_iget)(ctx, dest, source, dst, sst, nelems, pe)

#define shmem_ibget(...) SHMEMI_ARG9(__VA_ARGS__, SHMEMI_IBGET_CTX, SHMEMI_IBGET_PLAIN, SHMEMI_IBGET_PLAIN, SHMEMI_IBGET_PLAIN, SHMEMI_IBGET_PLAIN, SHMEMI_IBGET_PLAIN, SHMEMI_IBGET_PLAIN, SHMEMI_IBGET_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_IBGET_PLAIN(dest, source, dst, sst, bsize, nblocks, pe)                                       \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_ibget,                                                                            \
        double: shmem_double_ibget,                                                                          \
        long double: shmem_longdouble_ibget,                                                                 \
        char: shmem_char_ibget,                                                                              \
        signed char: shmem_schar_ibget,                                                                      \
        short: shmem_short_ibget,                                                                            \
        int: shmem_int_ibget,                                                                                \
        long: shmem_long_ibget,                                                                              \
        long long: shmem_longlong_ibget,                                                                     \
        unsigned char: shmem_uchar_ibget,                                                                    \
        unsigned short: shmem_ushort_ibget,                                                                  \
        unsigned int: shmem_uint_ibget,                                                                      \
        unsigned long: shmem_ulong_ibget,                                                                    \
        unsigned long long: shmem_ulonglong_ibget)(dest, source, dst, sst, bsize, nblocks, pe)
#define SHMEMI_IBGET_CTX(ctx, dest, source, dst, sst, bsize, nblocks, pe)                                    \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_ibget,                                                                        \
        double: shmem_ctx_double_ibget,                                                                      \
        long double: shmem_ctx_longdouble_ibget,                                                             \
        char: shmem_ctx_char_ibget,                                                                          \
        signed char: shmem_ctx_schar_ibget,                                                                  \
        short: shmem_ctx_short_ibget,                                                                        \
        int: shmem_ctx_int_ibget,                                                                            \
        long: shmem_ctx_long_ibget,                                                                          \
        long long: shmem_ctx_longlong_ibget,                                                                 \
        unsigned char: shmem_ctx_uchar_ibget,                                                                \
        unsigned short: shmem_ctx_ushort_ibget,                                                              \
        unsigned int: shmem_ctx_uint_ibget,                                                                  \
        unsigned long: shmem_ctx_ulong_ibget,                                                                \
        unsigned long long: shmem_ctx_ulonglong_ibget)(ctx, dest, source, dst, sst, bsize, nblocks, pe)

#define shmem_put_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_PUT_NBI_CTX, SHMEMI_PUT_NBI_PLAIN, SHMEMI_PUT_NBI_PLAIN, SHMEMI_PUT_NBI_PLAIN, SHMEMI_PUT_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_PUT_NBI_PLAIN(dest, source, nelems, pe)                                                       \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_put_nbi,                                                                          \
        double: shmem_double_put_nbi,                                                                        \
        long double: shmem_longdouble_put_nbi,                                                               \
        char: shmem_char_put_nbi,                                                                            \
        signed char: shmem_schar_put_nbi,                                                                    \
        short: shmem_short_put_nbi,                                                                          \
        int: shmem_int_put_nbi,                                                                              \
        long: shmem_long_put_nbi,                                                                            \
        long long: shmem_longlong_put_nbi,                                                                   \
        unsigned char: shmem_uchar_put_nbi,                                                                  \
        unsigned short: shmem_ushort_put_nbi,                                                                \
        unsigned int: shmem_uint_put_nbi,                                                                    \
        unsigned long: shmem_ulong_put_nbi,                                                                  \
        unsigned long long: shmem_ulonglong_put_nbi)(dest, source, nelems, pe)
#define SHMEMI_PUT_NBI_CTX(ctx, dest, source, nelems, pe)                                                    \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_put_nbi,                                                                      \
        double: shmem_ctx_double_put_nbi,                                                                    \
        long double: shmem_ctx_longdouble_put_nbi,                                                           \
        char: shmem_ctx_char_put_nbi,                                                                        \
        signed char: shmem_ctx_schar_put_nbi,                                                                \
        short: shmem_ctx_short_put_nbi,                                                                      \
        int: shmem_ctx_int_put_nbi,                                                                          \
        long: shmem_ctx_long_put_nbi,                                                                        \
        long long: shmem_ctx_longlong_put_nbi,                                                               \
        unsigned char: shmem_ctx_uchar_put_nbi,                                                              \
        unsigned short: shmem_ctx_ushort_put_nbi,                                                            \
        unsigned int: shmem_ctx_uint_put_nbi,                                                                \
        unsigned long: shmem_ctx_ulong_put_nbi,                                                              \
        unsigned long long: shmem_ctx_ulonglong_put_nbi)(ctx, dest, source, nelems, pe)

#define shmem_get_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_GET_NBI_CTX, SHMEMI_GET_NBI_PLAIN, SHMEMI_GET_NBI_PLAIN, SHMEMI_GET_NBI_PLAIN, SHMEMI_GET_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_GET_NBI_PLAIN(dest, source, nelems, pe)                                                       \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_get_nbi,                                                                          \
        double: shmem_double_get_nbi,                                                                        \
        long double: shmem_longdouble_get_nbi,                                                               \
        char: shmem_char_get_nbi,                                                                            \
        signed char: shmem_schar_get_nbi,                                                                    \
        short: shmem_short_get_nbi,                                                                          \
        int: shmem_int_get_nbi,                                                                              \
        long: shmem_long_get_nbi,                                                                            \
        long long: shmem_longlong_get_nbi,                                                                   \
        unsigned char: shmem_uchar_get_nbi,                                                                  \
        unsigned short: shmem_ushort_get_nbi,                                                                \
        unsigned int: shmem_uint_get_nbi,                                                                    \
        unsigned long: shmem_ulong_get_nbi,                                                                  \
        unsigned long long: shmem_ulonglong_get_nbi)(dest, source, nelems, pe)
#define SHMEMI_GET_NBI_CTX(ctx, dest, source, nelems, pe)                                                    \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_get_nbi,                                                                      \
        double: shmem_ctx_double_get_nbi,                                                                    \
        long double: shmem_ctx_longdouble_get_nbi,                                                           \
        char: shmem_ctx_char_get_nbi,                                                                        \
        signed char: shmem_ctx_schar_get_nbi,                                                                \
        short: shmem_ctx_short_get_nbi,                                                                      \
        int: shmem_ctx_int_get_nbi,                                                                          \
        long: shmem_ctx_long_get_nbi,                                                                        \
        long long: shmem_ctx_longlong_get_nbi,                                                               \
        unsigned char: shmem_ctx_uchar_get_nbi,                                                              \
        unsigned short: shmem_ctx_ushort_get_nbi,                                                            \
        unsigned int: shmem_ctx_uint_get_nbi,                                                                \
        unsigned long: shmem_ctx_ulong_get_nbi,                                                              \
        unsigned long long: shmem_ctx_ulonglong_get_nbi)(ctx, dest, source, nelems, pe)

#define shmem_atomic_fetch(...) SHMEMI_ARG4(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_CTX, SHMEMI_ATOMIC_FETCH_PLAIN, SHMEMI_ATOMIC_FETCH_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_PLAIN(source, pe)                                                                \
    _Generic(*(source),                                                                                      \
        float: shmem_float_atomic_fetch,                                                                     \
        double: shmem_double_atomic_fetch,                                                                   \
        int: shmem_int_atomic_fetch,                                                                         \
        long: shmem_long_atomic_fetch,                                                                       \
        long long: shmem_longlong_atomic_fetch,                                                              \
        unsigned int: shmem_uint_atomic_fetch,                                                               \
        unsigned long: shmem_ulong_atomic_fetch,                                                             \
        unsigned long long: shmem_ulonglong_atomic_fetch)(source, pe)
#define SHMEMI_ATOMIC_FETCH_CTX(ctx, source, pe)                                                             \
    _Generic(*(source),                                                                                      \
        float: shmem_ctx_float_atomic_fetch,                                                                 \
        double: shmem_ctx_double_atomic_fetch,                                                               \
        int: shmem_ctx_int_atomic_fetch,                                                                     \
        long: shmem_ctx_long_atomic_fetch,                                                                   \
        long long: shmem_ctx_longlong_atomic_fetch,                                                          \
        unsigned int: shmem_ctx_uint_atomic_fetch,                                                           \
        unsigned long: shmem_ctx_ulong_atomic_fetch,                                                         \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch)(ctx, source, pe)

#define shmem_fetch(source, pe)                                                                              \
    _Generic(*(source),                                                                                      \
        float: shmem_float_fetch,                                                                            \
        double: shmem_double_fetch,                                                                          \
        int: shmem_int_fetch,                                                                                \
        long: shmem_long_fetch,                                                                              \
        long long: shmem_longlong_fetch)(source, pe)

#define shmem_atomic_set(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_SET_CTX, SHMEMI_ATOMIC_SET_PLAIN, SHMEMI_ATOMIC_SET_PLAIN, SHMEMI_ATOMIC_SET_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_SET_PLAIN(dest, value, pe)                                                             \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_atomic_set,                                                                       \
        double: shmem_double_atomic_set,                                                                     \
        int: shmem_int_atomic_set,                                                                           \
        long: shmem_long_atomic_set,                                                                         \
        long long: shmem_longlong_atomic_set,                                                                \
        unsigned int: shmem_uint_atomic_set,                                                                 \
        unsigned long: shmem_ulong_atomic_set,                                                               \
        unsigned long long: shmem_ulonglong_atomic_set)(dest, value, pe)
#define SHMEMI_ATOMIC_SET_CTX(ctx, dest, value, pe)                                                          \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_atomic_set,                                                                   \
        double: shmem_ctx_double_atomic_set,                                                                 \
        int: shmem_ctx_int_atomic_set,                                                                       \
        long: shmem_ctx_long_atomic_set,                                                                     \
        long long: shmem_ctx_longlong_atomic_set,                                                            \
        unsigned int: shmem_ctx_uint_atomic_set,                                                             \
        unsigned long: shmem_ctx_ulong_atomic_set,                                                           \
        unsigned long long: shmem_ctx_ulonglong_atomic_set)(ctx, dest, value, pe)

#define shmem_set(dest, value, pe)                                                                           \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_set,                                                                              \
        double: shmem_double_set,                                                                            \
        int: shmem_int_set,                                                                                  \
        long: shmem_long_set,                                                                                \
        long long: shmem_longlong_set)(dest, value, pe)

#define shmem_atomic_compare_swap(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_ATOMIC_COMPARE_SWAP_CTX, SHMEMI_ATOMIC_COMPARE_SWAP_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_COMPARE_SWAP_PLAIN(dest, cond, value, pe)                                              \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_atomic_compare_swap,                                                                  \
        long: shmem_long_atomic_compare_swap,                                                                \
        long long: shmem_longlong_atomic_compare_swap,                                                       \
        unsigned int: shmem_uint_atomic_compare_swap,                                                        \
        unsigned long: shmem_ulong_atomic_compare_swap,                                                      \
        unsigned long long: shmem_ulonglong_atomic_compare_swap)(dest, cond, value, pe)
#define SHMEMI_ATOMIC_COMPARE_SWAP_CTX(ctx, dest, cond, value, pe)                                           \
    _Generic(*(dest),                                                                                        \
        int: shmem_ctx_int_atomic_compare_swap,                                                              \
        long: shmem_ctx_long_atomic_compare_swap,                                                            \
        long long: shmem_ctx_longlong_atomic_compare_swap,                                                   \
        unsigned int: shmem_ctx_uint_atomic_compare_swap,                                                    \
        unsigned long: shmem_ctx_ulong_atomic_compare_swap,                                                  \
        unsigned long long: shmem_ctx_ulonglong_atomic_compare_swap)(ctx, dest, cond, value, pe)

#define shmem_cswap(dest, cond, value, pe)                                                                   \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_cswap,                                                                                \
        long: shmem_long_cswap,                                                                              \
        long long: shmem_longlong_cswap)(dest, cond, value, pe)

#define shmem_atomic_swap(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_SWAP_CTX, SHMEMI_ATOMIC_SWAP_PLAIN, SHMEMI_ATOMIC_SWAP_PLAIN, SHMEMI_ATOMIC_SWAP_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_SWAP_PLAIN(dest, value, pe)                                                            \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_atomic_swap,                                                                      \
        double: shmem_double_atomic_swap,                                                                    \
        int: shmem_int_atomic_swap,                                                                          \
        long: shmem_long_atomic_swap,                                                                        \
        long long: shmem_longlong_atomic_swap,                                                               \
        unsigned int: shmem_uint_atomic_swap,                                                                \
        unsigned long: shmem_ulong_atomic_swap,                                                              \
        unsigned long long: shmem_ulonglong_atomic_swap)(dest, value, pe)
#define SHMEMI_ATOMIC_SWAP_CTX(ctx, dest, value, pe)                                                         \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_atomic_swap,                                                                  \
        double: shmem_ctx_double_atomic_swap,                                                                \
        int: shmem_ctx_int_atomic_swap,                                                                      \
        long: shmem_ctx_long_atomic_swap,                                                                    \
        long long: shmem_ctx_longlong_atomic_swap,                                                           \
        unsigned int: shmem_ctx_uint_atomic_swap,                                                            \
        unsigned long: shmem_ctx_ulong_atomic_swap,                                                          \
        unsigned long long: shmem_ctx_ulonglong_atomic_swap)(ctx, dest, value, pe)

#define shmem_swap(dest, value, pe)                                                                          \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_swap,                                                                             \
        double: shmem_double_swap,                                                                           \
        int: shmem_int_swap,                                                                                 \
        long: shmem_long_swap,                                                                               \
        long long: shmem_longlong_swap)(dest, value, pe)

#define shmem_atomic_fetch_inc(...) SHMEMI_ARG4(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_INC_CTX, SHMEMI_ATOMIC_FETCH_INC_PLAIN, SHMEMI_ATOMIC_FETCH_INC_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_INC_PLAIN(dest, pe)                                                              \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_atomic_fetch_inc,                                                                     \
        long: shmem_long_atomic_fetch_inc,                                                                   \
        long long: shmem_longlong_atomic_fetch_inc,                                                          \
        unsigned int: shmem_uint_atomic_fetch_inc,                                                           \
        unsigned long: shmem_ulong_atomic_fetch_inc,                                                         \
        unsigned long long: shmem_ulonglong_atomic_fetch_inc)(dest, pe)
#define SHMEMI_ATOMIC_FETCH_INC_CTX(ctx, dest, pe)                                                           \
    _Generic(*(dest),                                                                                        \
        int: shmem_ctx_int_atomic_fetch_inc,                                                                 \
        long: shmem_ctx_long_atomic_fetch_inc,                                                               \
        long long: shmem_ctx_longlong_atomic_fetch_inc,                                                      \
        unsigned int: shmem_ctx_uint_atomic_fetch_inc,                                                       \
        unsigned long: shmem_ctx_ulong_atomic_fetch_inc,                                                     \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_inc)(ctx, dest, pe)

#define shmem_finc(dest, pe)                                                                                 \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_finc,                                                                                 \
        long: shmem_long_finc,                                                                               \
        long long: shmem_longlong_finc)(dest, pe)

#define shmem_atomic_inc(...) SHMEMI_ARG4(__VA_ARGS__, SHMEMI_ATOMIC_INC_CTX, SHMEMI_ATOMIC_INC_PLAIN, SHMEMI_ATOMIC_INC_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_INC_PLAIN(dest, pe)                                                                    \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_atomic_inc,                                                                           \
        long: shmem_long_atomic_inc,                                                                         \
        long long: shmem_longlong_atomic_inc,                                                                \
        unsigned int: shmem_uint_atomic_inc,                                                                 \
        unsigned long: shmem_ulong_atomic_inc,                                                               \
        unsigned long long: shmem_ulonglong_atomic_inc)(dest, pe)
#define SHMEMI_ATOMIC_INC_CTX(ctx, dest, pe)                                                                 \
    _Generic(*(dest),                                                                                        \
        int: shmem_ctx_int_atomic_inc,                                                                       \
        long: shmem_ctx_long_atomic_inc,                                                                     \
        long long: shmem_ctx_longlong_atomic_inc,                                                            \
        unsigned int: shmem_ctx_uint_atomic_inc,                                                             \
        unsigned long: shmem_ctx_ulong_atomic_inc,                                                           \
        unsigned long long: shmem_ctx_ulonglong_atomic_inc)(ctx, dest, pe)

#define shmem_inc(dest, pe)                                                                                  \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_inc,                                                                                  \
        long: shmem_long_inc,                                                                                \
        long long: shmem_longlong_inc)(dest, pe)

#define shmem_atomic_fetch_add(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_ADD_CTX, SHMEMI_ATOMIC_FETCH_ADD_PLAIN, SHMEMI_ATOMIC_FETCH_ADD_PLAIN, SHMEMI_ATOMIC_FETCH_ADD_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_ADD_PLAIN(dest, value, pe)                                                       \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_atomic_fetch_add,                                                                     \
        long: shmem_long_atomic_fetch_add,                                                                   \
        long long: shmem_longlong_atomic_fetch_add,                                                          \
        unsigned int: shmem_uint_atomic_fetch_add,                                                           \
        unsigned long: shmem_ulong_atomic_fetch_add,                                                         \
        unsigned long long: shmem_ulonglong_atomic_fetch_add)(dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_ADD_CTX(ctx, dest, value, pe)                                                    \
    _Generic(*(dest),                                                                                        \
        int: shmem_ctx_int_atomic_fetch_add,                                                                 \
        long: shmem_ctx_long_atomic_fetch_add,                                                               \
        long long: shmem_ctx_longlong_atomic_fetch_add,                                                      \
        unsigned int: shmem_ctx_uint_atomic_fetch_add,                                                       \
        unsigned long: shmem_ctx_ulong_atomic_fetch_add,                                                     \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_add)(ctx, dest, value, pe)

#define shmem_fadd(dest, value, pe)                                                                          \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_fadd,                                                                                 \
        long: shmem_long_fadd,                                                                               \
        long long: shmem_longlong_fadd)(dest, value, pe)

#define shmem_atomic_add(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_ADD_CTX, SHMEMI_ATOMIC_ADD_PLAIN, SHMEMI_ATOMIC_ADD_PLAIN, SHMEMI_ATOMIC_ADD_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_ADD_PLAIN(dest, value, pe)                                                             \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_atomic_add,                                                                           \
        long: shmem_long_atomic_add,                                                                         \
        long long: shmem_longlong_atomic_add,                                                                \
        unsigned int: shmem_uint_atomic_add,                                                                 \
        unsigned long: shmem_ulong_atomic_add,                                                               \
        unsigned long long: shmem_ulonglong_atomic_add)(dest, value, pe)
#define SHMEMI_ATOMIC_ADD_CTX(ctx, dest, value, pe)                                                          \
    _Generic(*(dest),                                                                                        \
        int: shmem_ctx_int_atomic_add,                                                                       \
        long: shmem_ctx_long_atomic_add,                                                                     \
        long long: shmem_ctx_longlong_atomic_add,                                                            \
        unsigned int: shmem_ctx_uint_atomic_add,                                                             \
        unsigned long: shmem_ctx_ulong_atomic_add,                                                           \
        unsigned long long: shmem_ctx_ulonglong_atomic_add)(ctx, dest, value, pe)

#define shmem_add(dest, value, pe)                                                                           \
    _Generic(*(dest),                                                                                        \
        int: shmem_int_add,                                                                                  \
        long: shmem_long_add,                                                                                \
        long long: shmem_longlong_add)(dest, value, pe)

#define shmem_atomic_fetch_and(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_AND_CTX, SHMEMI_ATOMIC_FETCH_AND_PLAIN, SHMEMI_ATOMIC_FETCH_AND_PLAIN, SHMEMI_ATOMIC_FETCH_AND_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_AND_PLAIN(dest, value, pe)                                                       \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_uint_atomic_fetch_and,                                                           \
        unsigned long: shmem_ulong_atomic_fetch_and,                                                         \
        unsigned long long: shmem_ulonglong_atomic_fetch_and,                                                \
        int: shmem_int32_atomic_fetch_and,                                                                   \
        long: shmem_int64_atomic_fetch_and)(dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_AND_CTX(ctx, dest, value, pe)                                                    \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_ctx_uint_atomic_fetch_and,                                                       \
        unsigned long: shmem_ctx_ulong_atomic_fetch_and,                                                     \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_and,                                            \
        int: shmem_ctx_int32_atomic_fetch_and,                                                               \
        long: shmem_ctx_int64_atomic_fetch_and)(ctx, dest, value, pe)

#define shmem_atomic_and(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_AND_CTX, SHMEMI_ATOMIC_AND_PLAIN, SHMEMI_ATOMIC_AND_PLAIN, SHMEMI_ATOMIC_AND_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_AND_PLAIN(dest, value, pe)                                                             \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_uint_atomic_and,                                                                 \
        unsigned long: shmem_ulong_atomic_and,                                                               \
        unsigned long long: shmem_ulonglong_atomic_and,                                                      \
        int: shmem_int32_atomic_and,                                                                         \
        long: shmem_int64_atomic_and)(dest, value, pe)
#define SHMEMI_ATOMIC_AND_CTX(ctx, dest, value, pe)                                                          \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_ctx_uint_atomic_and,                                                             \
        unsigned long: shmem_ctx_ulong_atomic_and,                                                           \
        unsigned long long: shmem_ctx_ulonglong_atomic_and,                                                  \
        int: shmem_ctx_int32_atomic_and,                                                                     \
        long: shmem_ctx_int64_atomic_and)(ctx, dest, value, pe)

#define shmem_atomic_fetch_or(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_OR_CTX, SHMEMI_ATOMIC_FETCH_OR_PLAIN, SHMEMI_ATOMIC_FETCH_OR_PLAIN, SHMEMI_ATOMIC_FETCH_OR_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_OR_PLAIN(dest, value, pe)                                                        \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_uint_atomic_fetch_or,                                                            \
        unsigned long: shmem_ulong_atomic_fetch_or,                                                          \
        unsigned long long: shmem_ulonglong_atomic_fetch_or,                                                 \
        int: shmem_int32_atomic_fetch_or,                                                                    \
        long: shmem_int64_atomic_fetch_or)(dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_OR_CTX(ctx, dest, value, pe)                                                     \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_ctx_uint_atomic_fetch_or,                                                        \
        unsigned long: shmem_ctx_ulong_atomic_fetch_or,                                                      \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_or,                                             \
        int: shmem_ctx_int32_atomic_fetch_or,                                                                \
        long: shmem_ctx_int64_atomic_fetch_or)(ctx, dest, value, pe)

#define shmem_atomic_or(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_OR_CTX, SHMEMI_ATOMIC_OR_PLAIN, SHMEMI_ATOMIC_OR_PLAIN, SHMEMI_ATOMIC_OR_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_OR_PLAIN(dest, value, pe)                                                              \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_uint_atomic_or,                                                                  \
        unsigned long: shmem_ulong_atomic_or,                                                                \
        unsigned long long: shmem_ulonglong_atomic_or,                                                       \
        int: shmem_int32_atomic_or,                                                                          \
        long: shmem_int64_atomic_or)(dest, value, pe)
#define SHMEMI_ATOMIC_OR_CTX(ctx, dest, value, pe)                                                           \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_ctx_uint_atomic_or,                                                              \
        unsigned long: shmem_ctx_ulong_atomic_or,                                                            \
        unsigned long long: shmem_ctx_ulonglong_atomic_or,                                                   \
        int: shmem_ctx_int32_atomic_or,                                                                      \
        long: shmem_ctx_int64_atomic_or)(ctx, dest, value, pe)

#define shmem_atomic_fetch_xor(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_XOR_CTX, SHMEMI_ATOMIC_FETCH_XOR_PLAIN, SHMEMI_ATOMIC_FETCH_XOR_PLAIN, SHMEMI_ATOMIC_FETCH_XOR_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_XOR_PLAIN(dest, value, pe)                                                       \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_uint_atomic_fetch_xor,                                                           \
        unsigned long: shmem_ulong_atomic_fetch_xor,                                                         \
        unsigned long long: shmem_ulonglong_atomic_fetch_xor,                                                \
        int: shmem_int32_atomic_fetch_xor,                                                                   \
        long: shmem_int64_atomic_fetch_xor)(dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_XOR_CTX(ctx, dest, value, pe)                                                    \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_ctx_uint_atomic_fetch_xor,                                                       \
        unsigned long: shmem_ctx_ulong_atomic_fetch_xor,                                                     \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_xor,                                            \
        int: shmem_ctx_int32_atomic_fetch_xor,                                                               \
        long: shmem_ctx_int64_atomic_fetch_xor)(ctx, dest, value, pe)

#define shmem_atomic_xor(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_XOR_CTX, SHMEMI_ATOMIC_XOR_PLAIN, SHMEMI_ATOMIC_XOR_PLAIN, SHMEMI_ATOMIC_XOR_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_XOR_PLAIN(dest, value, pe)                                                             \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_uint_atomic_xor,                                                                 \
        unsigned long: shmem_ulong_atomic_xor,                                                               \
        unsigned long long: shmem_ulonglong_atomic_xor,                                                      \
        int: shmem_int32_atomic_xor,                                                                         \
        long: shmem_int64_atomic_xor)(dest, value, pe)
#define SHMEMI_ATOMIC_XOR_CTX(ctx, dest, value, pe)                                                          \
    _Generic(*(dest),                                                                                        \
        unsigned int: shmem_ctx_uint_atomic_xor,                                                             \
        unsigned long: shmem_ctx_ulong_atomic_xor,                                                           \
        unsigned long long: shmem_ctx_ulonglong_atomic_xor,                                                  \
        int: shmem_ctx_int32_atomic_xor,                                                                     \
        long: shmem_ctx_int64_atomic_xor)(ctx, dest, value, pe)

#define shmem_atomic_fetch_nbi(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_NBI_CTX, SHMEMI_ATOMIC_FETCH_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_NBI_PLAIN(fetch, source, pe)                                                     \
    _Generic(*(fetch),                                                                                       \
        float: shmem_float_atomic_fetch_nbi,                                                                 \
        double: shmem_double_atomic_fetch_nbi,                                                               \
        int: shmem_int_atomic_fetch_nbi,                                                                     \
        long: shmem_long_atomic_fetch_nbi,                                                                   \
        long long: shmem_longlong_atomic_fetch_nbi,                                                          \
        unsigned int: shmem_uint_atomic_fetch_nbi,                                                           \
        unsigned long: shmem_ulong_atomic_fetch_nbi,                                                         \
        unsigned long long: shmem_ulonglong_atomic_fetch_nbi)(fetch, source, pe)
#define SHMEMI_ATOMIC_FETCH_NBI_CTX(ctx, fetch, source, pe)                                                  \
    _Generic(*(fetch),                                                                                       \
        float: shmem_ctx_float_atomic_fetch_nbi,                                                             \
        double: shmem_ctx_double_atomic_fetch_nbi,                                                           \
        int: shmem_ctx_int_atomic_fetch_nbi,                                                                 \
        long: shmem_ctx_long_atomic_fetch_nbi,                                                               \
        long long: shmem_ctx_longlong_atomic_fetch_nbi,                                                      \
        unsigned int: shmem_ctx_uint_atomic_fetch_nbi,                                                       \
        unsigned long: shmem_ctx_ulong_atomic_fetch_nbi,                                                     \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_nbi)(ctx, fetch, source, pe)

#define shmem_atomic_compare_swap_nbi(...) SHMEMI_ARG7(__VA_ARGS__, SHMEMI_ATOMIC_COMPARE_SWAP_NBI_CTX, SHMEMI_ATOMIC_COMPARE_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_COMPARE_SWAP_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_COMPARE_SWAP_NBI_PLAIN(fetch, dest, cond, value, pe)                                   \
    _Generic(*(fetch),                                                                                       \
        int: shmem_int_atomic_compare_swap_nbi,                                                              \
        long: shmem_long_atomic_compare_swap_nbi,                                                            \
        long long: shmem_longlong_atomic_compare_swap_nbi,                                                   \
        unsigned int: shmem_uint_atomic_compare_swap_nbi,                                                    \
        unsigned long: shmem_ulong_atomic_compare_swap_nbi,                                                  \
        unsigned long long: shmem_ulonglong_atomic_compare_swap_nbi)(fetch, dest, cond, value, pe)
#define SHMEMI_ATOMIC_COMPARE_SWAP_NBI_CTX(ctx, fetch, dest, cond, value, pe)                                \
    _Generic(*(fetch),                                                                                       \
        int: shmem_ctx_int_atomic_compare_swap_nbi,                                                          \
        long: shmem_ctx_long_atomic_compare_swap_nbi,                                                        \
        long long: shmem_ctx_longlong_atomic_compare_swap_nbi,                                               \
        unsigned int: shmem_ctx_uint_atomic_compare_swap_nbi,                                                \
        unsigned long: shmem_ctx_ulong_atomic_compare_swap_nbi,                                              \
        unsigned long long: shmem_ctx_ulonglong_atomic_compare_swap_nbi)(ctx, fetch, dest, cond, value, pe)

#define shmem_atomic_swap_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_ATOMIC_SWAP_NBI_CTX, SHMEMI_ATOMIC_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_SWAP_NBI_PLAIN, SHMEMI_ATOMIC_SWAP_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_SWAP_NBI_PLAIN(fetch, dest, value, pe)                                                 \
    _Generic(*(fetch),                                                                                       \
        float: shmem_float_atomic_swap_nbi,                                                                  \
        double: shmem_double_atomic_swap_nbi,                                                                \
        int: shmem_int_atomic_swap_nbi,                                                                      \
        long: shmem_long_atomic_swap_nbi,                                                                    \
        long long: shmem_longlong_atomic_swap_nbi,                                                           \
        unsigned int: shmem_uint_atomic_swap_nbi,                                                            \
        unsigned long: shmem_ulong_atomic_swap_nbi,                                                          \
        unsigned long long: shmem_ulonglong_atomic_swap_nbi)(fetch, dest, value, pe)
#define SHMEMI_ATOMIC_SWAP_NBI_CTX(ctx, fetch, dest, value, pe)                                              \
    _Generic(*(fetch),                                                                                       \
        float: shmem_ctx_float_atomic_swap_nbi,                                                              \
        double: shmem_ctx_double_atomic_swap_nbi,                                                            \
        int: shmem_ctx_int_atomic_swap_nbi,                                                                  \
        long: shmem_ctx_long_atomic_swap_nbi,                                                                \
        long long: shmem_ctx_longlong_atomic_swap_nbi,                                                       \
        unsigned int: shmem_ctx_uint_atomic_swap_nbi,                                                        \
        unsigned long: shmem_ctx_ulong_atomic_swap_nbi,                                                      \
        unsigned long long: shmem_ctx_ulonglong_atomic_swap_nbi)(ctx, fetch, dest, value, pe)

#define shmem_atomic_fetch_inc_nbi(...) SHMEMI_ARG5(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_INC_NBI_CTX, SHMEMI_ATOMIC_FETCH_INC_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_INC_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_INC_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_INC_NBI_PLAIN(fetch, dest, pe)                                                   \
    _Generic(*(fetch),                                                                                       \
        int: shmem_int_atomic_fetch_inc_nbi,                                                                 \
        long: shmem_long_atomic_fetch_inc_nbi,                                                               \
        long long: shmem_longlong_atomic_fetch_inc_nbi,                                                      \
        unsigned int: shmem_uint_atomic_fetch_inc_nbi,                                                       \
        unsigned long: shmem_ulong_atomic_fetch_inc_nbi,                                                     \
        unsigned long long: shmem_ulonglong_atomic_fetch_inc_nbi)(fetch, dest, pe)
#define SHMEMI_ATOMIC_FETCH_INC_NBI_CTX(ctx, fetch, dest, pe)                                                \
    _Generic(*(fetch),                                                                                       \
        int: shmem_ctx_int_atomic_fetch_inc_nbi,                                                             \
        long: shmem_ctx_long_atomic_fetch_inc_nbi,                                                           \
        long long: shmem_ctx_longlong_atomic_fetch_inc_nbi,                                                  \
        unsigned int: shmem_ctx_uint_atomic_fetch_inc_nbi,                                                   \
        unsigned long: shmem_ctx_ulong_atomic_fetch_inc_nbi,                                                 \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_inc_nbi)(ctx, fetch, dest, pe)

#define shmem_atomic_fetch_add_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_ADD_NBI_CTX, SHMEMI_ATOMIC_FETCH_ADD_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_ADD_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_ADD_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_ADD_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_ADD_NBI_PLAIN(fetch, dest, value, pe)                                            \
    _Generic(*(fetch),                                                                                       \
        int: shmem_int_atomic_fetch_add_nbi,                                                                 \
        long: shmem_long_atomic_fetch_add_nbi,                                                               \
        long long: shmem_longlong_atomic_fetch_add_nbi,                                                      \
        unsigned int: shmem_uint_atomic_fetch_add_nbi,                                                       \
        unsigned long: shmem_ulong_atomic_fetch_add_nbi,                                                     \
        unsigned long long: shmem_ulonglong_atomic_fetch_add_nbi)(fetch, dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_ADD_NBI_CTX(ctx, fetch, dest, value, pe)                                         \
    _Generic(*(fetch),                                                                                       \
        int: shmem_ctx_int_atomic_fetch_add_nbi,                                                             \
        long: shmem_ctx_long_atomic_fetch_add_nbi,                                                           \
        long long: shmem_ctx_longlong_atomic_fetch_add_nbi,                                                  \
        unsigned int: shmem_ctx_uint_atomic_fetch_add_nbi,                                                   \
        unsigned long: shmem_ctx_ulong_atomic_fetch_add_nbi,                                                 \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_add_nbi)(ctx, fetch, dest, value, pe)

#define shmem_atomic_fetch_and_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_AND_NBI_CTX, SHMEMI_ATOMIC_FETCH_AND_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_AND_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_AND_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_AND_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_AND_NBI_PLAIN(fetch, dest, value, pe)                                            \
    _Generic(*(fetch),                                                                                       \
        unsigned int: shmem_uint_atomic_fetch_and_nbi,                                                       \
        unsigned long: shmem_ulong_atomic_fetch_and_nbi,                                                     \
        unsigned long long: shmem_ulonglong_atomic_fetch_and_nbi,                                            \
        int: shmem_int32_atomic_fetch_and_nbi,                                                               \
        long: shmem_int64_atomic_fetch_and_nbi)(fetch, dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_AND_NBI_CTX(ctx, fetch, dest, value, pe)                                         \
    _Generic(*(fetch),                                                                                       \
        unsigned int: shmem_ctx_uint_atomic_fetch_and_nbi,                                                   \
        unsigned long: shmem_ctx_ulong_atomic_fetch_and_nbi,                                                 \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_and_nbi,                                        \
        int: shmem_ctx_int32_atomic_fetch_and_nbi,                                                           \
        long: shmem_ctx_int64_atomic_fetch_and_nbi)(ctx, fetch, dest, value, pe)

#define shmem_atomic_fetch_or_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_OR_NBI_CTX, SHMEMI_ATOMIC_FETCH_OR_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_OR_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_OR_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_OR_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_OR_NBI_PLAIN(fetch, dest, value, pe)                                             \
    _Generic(*(fetch),                                                                                       \
        unsigned int: shmem_uint_atomic_fetch_or_nbi,                                                        \
        unsigned long: shmem_ulong_atomic_fetch_or_nbi,                                                      \
        unsigned long long: shmem_ulonglong_atomic_fetch_or_nbi,                                             \
        int: shmem_int32_atomic_fetch_or_nbi,                                                                \
        long: shmem_int64_atomic_fetch_or_nbi)(fetch, dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_OR_NBI_CTX(ctx, fetch, dest, value, pe)                                          \
    _Generic(*(fetch),                                                                                       \
        unsigned int: shmem_ctx_uint_atomic_fetch_or_nbi,                                                    \
        unsigned long: shmem_ctx_ulong_atomic_fetch_or_nbi,                                                  \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_or_nbi,                                         \
        int: shmem_ctx_int32_atomic_fetch_or_nbi,                                                            \
        long: shmem_ctx_int64_atomic_fetch_or_nbi)(ctx, fetch, dest, value, pe)

#define shmem_atomic_fetch_xor_nbi(...) SHMEMI_ARG6(__VA_ARGS__, SHMEMI_ATOMIC_FETCH_XOR_NBI_CTX, SHMEMI_ATOMIC_FETCH_XOR_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_XOR_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_XOR_NBI_PLAIN, SHMEMI_ATOMIC_FETCH_XOR_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_ATOMIC_FETCH_XOR_NBI_PLAIN(fetch, dest, value, pe)                                            \
    _Generic(*(fetch),                                                                                       \
        unsigned int: shmem_uint_atomic_fetch_xor_nbi,                                                       \
        unsigned long: shmem_ulong_atomic_fetch_xor_nbi,                                                     \
        unsigned long long: shmem_ulonglong_atomic_fetch_xor_nbi,                                            \
        int: shmem_int32_atomic_fetch_xor_nbi,                                                               \
        long: shmem_int64_atomic_fetch_xor_nbi)(fetch, dest, value, pe)
#define SHMEMI_ATOMIC_FETCH_XOR_NBI_CTX(ctx, fetch, dest, value, pe)                                         \
    _Generic(*(fetch),                                                                                       \
        unsigned int: shmem_ctx_uint_atomic_fetch_xor_nbi,                                                   \
        unsigned long: shmem_ctx_ulong_atomic_fetch_xor_nbi,                                                 \
        unsigned long long: shmem_ctx_ulonglong_atomic_fetch_xor_nbi,                                        \
        int: shmem_ctx_int32_atomic_fetch_xor_nbi,                                                           \
        long: shmem_ctx_int64_atomic_fetch_xor_nbi)(ctx, fetch, dest, value, pe)

#define shmem_put_signal(...) SHMEMI_ARG9(__VA_ARGS__, SHMEMI_PUT_SIGNAL_CTX, SHMEMI_PUT_SIGNAL_PLAIN, SHMEMI_PUT_SIGNAL_PLAIN, SHMEMI_PUT_SIGNAL_PLAIN, SHMEMI_PUT_SIGNAL_PLAIN, SHMEMI_PUT_SIGNAL_PLAIN, SHMEMI_PUT_SIGNAL_PLAIN, SHMEMI_PUT_SIGNAL_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_PUT_SIGNAL_PLAIN(dest, source, nelems, sig_addr, signal, sig_op, pe)                          \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_put_signal,                                                                       \
        double: shmem_double_put_signal,                                                                     \
        long double: shmem_longdouble_put_signal,                                                            \
        char: shmem_char_put_signal,                                                                         \
        signed char: shmem_schar_put_signal,                                                                 \
        short: shmem_short_put_signal,                                                                       \
        int: shmem_int_put_signal,                                                                           \
        long: shmem_long_put_signal,                                                                         \
        long long: shmem_longlong_put_signal,                                                                \
        unsigned char: shmem_uchar_put_signal,                                                               \
        unsigned short: shmem_ushort_put_signal,                                                             \
        unsigned int: shmem_uint_put_signal,                                                                 \
        unsigned long: shmem_ulong_put_signal,                                                               \
        unsigned long long: shmem_ulonglong_put_signal)(dest, source, nelems, sig_addr, signal, sig_op, pe)
#define SHMEMI_PUT_SIGNAL_CTX(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)                       \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_put_signal,                                                                   \
        double: shmem_ctx_double_put_signal,                                                                 \
        long double: shmem_ctx_longdouble_put_signal,                                                        \
        char: shmem_ctx_char_put_signal,                                                                     \
        signed char: shmem_ctx_schar_put_signal,                                                             \
        short: shmem_ctx_short_put_signal,                                                                   \
        int: shmem_ctx_int_put_signal,                                                                       \
        long: shmem_ctx_long_put_signal,                                                                     \
        long long: shmem_ctx_longlong_put_signal,                                                            \
        unsigned char: shmem_ctx_uchar_put_signal,                                                           \
        unsigned short: shmem_ctx_ushort_put_signal,                                                         \
        unsigned int: shmem_ctx_uint_put_signal,                                                             \
        unsigned long: shmem_ctx_ulong_put_signal,                                                           \
        unsigned long long: shmem_ctx_ulonglong_put_signal)(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)

#define shmem_put_signal_nbi(...) SHMEMI_ARG9(__VA_ARGS__, SHMEMI_PUT_SIGNAL_NBI_CTX, SHMEMI_PUT_SIGNAL_NBI_PLAIN, SHMEMI_PUT_SIGNAL_NBI_PLAIN, SHMEMI_PUT_SIGNAL_NBI_PLAIN, SHMEMI_PUT_SIGNAL_NBI_PLAIN, SHMEMI_PUT_SIGNAL_NBI_PLAIN, SHMEMI_PUT_SIGNAL_NBI_PLAIN, SHMEMI_PUT_SIGNAL_NBI_PLAIN, 0)(__VA_ARGS__)
#define SHMEMI_PUT_SIGNAL_NBI_PLAIN(dest, source, nelems, sig_addr, signal, sig_op, pe)                      \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_put_signal_nbi,                                                                   \
        double: shmem_double_put_signal_nbi,                                                                 \
        long double: shmem_longdouble_put_signal_nbi,                                                        \
        char: shmem_char_put_signal_nbi,                                                                     \
        signed char: shmem_schar_put_signal_nbi,                                                             \
        short: shmem_short_put_signal_nbi,                                                                   \
        int: shmem_int_put_signal_nbi,                                                                       \
        long: shmem_long_put_signal_nbi,                                                                     \
        long long: shmem_longlong_put_signal_nbi,                                                            \
        unsigned char: shmem_uchar_put_signal_nbi,                                                           \
        unsigned short: shmem_ushort_put_signal_nbi,                                                         \
        unsigned int: shmem_uint_put_signal_nbi,                                                             \
        unsigned long: shmem_ulong_put_signal_nbi,                                                           \
        unsigned long long: shmem_ulonglong_put_signal_nbi)(dest, source, nelems, sig_addr, signal, sig_op, pe)
#define SHMEMI_PUT_SIGNAL_NBI_CTX(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)                   \
    _Generic(*(dest),                                                                                        \
        float: shmem_ctx_float_put_signal_nbi,                                                               \
        double: shmem_ctx_double_put_signal_nbi,                                                             \
        long double: shmem_ctx_longdouble_put_signal_nbi,                                                    \
        char: shmem_ctx_char_put_signal_nbi,                                                                 \
        signed char: shmem_ctx_schar_put_signal_nbi,                                                         \
        short: shmem_ctx_short_put_signal_nbi,                                                               \
        int: shmem_ctx_int_put_signal_nbi,                                                                   \
        long: shmem_ctx_long_put_signal_nbi,                                                                 \
        long long: shmem_ctx_longlong_put_signal_nbi,                                                        \
        unsigned char: shmem_ctx_uchar_put_signal_nbi,                                                       \
        unsigned short: shmem_ctx_ushort_put_signal_nbi,                                                     \
        unsigned int: shmem_ctx_uint_put_signal_nbi,                                                         \
        unsigned long: shmem_ctx_ulong_put_signal_nbi,                                                       \
        unsigned long long: shmem_ctx_ulonglong_put_signal_nbi)(ctx, dest, source, nelems, sig_addr, signal, sig_op, pe)

#define shmem_signal_add(...) SHMEMI_ARG5(__VA_ARGS__, shmem_ctx_signal_add, shmem_signal_add, shmem_signal_add, shmem_signal_add, 0)(__VA_ARGS__)

#define shmem_signal_set(...) SHMEMI_ARG5(__VA_ARGS__, shmem_ctx_signal_set, shmem_signal_set, shmem_signal_set, shmem_signal_set, 0)(__VA_ARGS__)

#define shmem_sync(...) SHMEMI_ARG5(__VA_ARGS__, shmem_sync, shmem_team_sync, shmem_team_sync, shmem_team_sync, 0)(__VA_ARGS__)

#define shmem_alltoall(team, dest, source, nelems)                                                           \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_alltoall,                                                                         \
        double: shmem_double_alltoall,                                                                       \
        long double: shmem_longdouble_alltoall,                                                              \
        char: shmem_char_alltoall,                                                                           \
        signed char: shmem_schar_alltoall,                                                                   \
        short: shmem_short_alltoall,                                                                         \
        int: shmem_int_alltoall,                                                                             \
        long: shmem_long_alltoall,                                                                           \
        long long: shmem_longlong_alltoall,                                                                  \
        unsigned char: shmem_uchar_alltoall,                                                                 \
        unsigned short: shmem_ushort_alltoall,                                                               \
        unsigned int: shmem_uint_alltoall,                                                                   \
        unsigned long: shmem_ulong_alltoall,                                                                 \
        unsigned long long: shmem_ulonglong_alltoall)(team, dest, source, nelems)

#define shmem_alltoalls(team, dest, source, dst, sst, nelems)                                                \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_alltoalls,                                                                        \
        double: shmem_double_alltoalls,                                                                      \
        long double: shmem_longdouble_alltoalls,                                                             \
        char: shmem_char_alltoalls,                                                                          \
        signed char: shmem_schar_alltoalls,                                                                  \
        short: shmem_short_alltoalls,                                                                        \
        int: shmem_int_alltoalls,                                                                            \
        long: shmem_long_alltoalls,                                                                          \
        long long: shmem_longlong_alltoalls,                                                                 \
        unsigned char: shmem_uchar_alltoalls,                                                                \
        unsigned short: shmem_ushort_alltoalls,                                                              \
        unsigned int: shmem_uint_alltoalls,                                                                  \
        unsigned long: shmem_ulong_alltoalls,                                                                \
        unsigned long long: shmem_ulonglong_alltoalls)(team, dest, source, dst, sst, nelems)

#define shmem_broadcast(team, dest, source, nelems, PE_root)                                                 \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_broadcast,                                                                        \
        double: shmem_double_broadcast,                                                                      \
        long double: shmem_longdouble_broadcast,                                                             \
        char: shmem_char_broadcast,                                                                          \
        signed char: shmem_schar_broadcast,                                                                  \
        short: shmem_short_broadcast,                                                                        \
        int: shmem_int_broadcast,                                                                            \
        long: shmem_long_broadcast,                                                                          \
        long long: shmem_longlong_broadcast,                                                                 \
        unsigned char: shmem_uchar_broadcast,                                                                \
        unsigned short: shmem_ushort_broadcast,                                                              \
        unsigned int: shmem_uint_broadcast,                                                                  \
        unsigned long: shmem_ulong_broadcast,                                                                \
        unsigned long long: shmem_ulonglong_broadcast)(team, dest, source, nelems, PE_root)

#define shmem_collect(team, dest, source, nelems)                                                            \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_collect,                                                                          \
        double: shmem_double_collect,                                                                        \
        long double: shmem_longdouble_collect,                                                               \
        char: shmem_char_collect,                                                                            \
        signed char: shmem_schar_collect,                                                                    \
        short: shmem_short_collect,                                                                          \
        int: shmem_int_collect,                                                                              \
        long: shmem_long_collect,                                                                            \
        long long: shmem_longlong_collect,                                                                   \
        unsigned char: shmem_uchar_collect,                                                                  \
        unsigned short: shmem_ushort_collect,                                                                \
        unsigned int: shmem_uint_collect,                                                                    \
        unsigned long: shmem_ulong_collect,                                                                  \
        unsigned long long: shmem_ulonglong_collect)(team, dest, source, nelems)

#define shmem_fcollect(team, dest, source, nelems)                                                           \
    _Generic(*(dest),                                                                                        \
        float: shmem_float_fcollect,                                                                         \
        double: shmem_double_fcollect,                                                                       \
        long double: shmem_longdouble_fcollect,                                                              \
        char: shmem_char_fcollect,                                                                           \
        signed char: shmem_schar_fcollect,                                                                   \
        short: shmem_short_fcollect,                                                                         \
        int: shmem_int_fcollect,                                                                             \
        long: shmem_long_fcollect,                                                                           \
        long long: shmem_longlong_fcollect,                                                                  \
        unsigned char: shmem_uchar_fcollect,                                                                 \
        unsigned short: shmem_ushort_fcollect,                                                               \
        unsigned int: shmem_uint_fcollect,                                                                   \
        unsigned long: shmem_ulong_fcollect,                                                                 \
        unsigned long long: shmem_ulonglong_fcollect)(team, dest, source, nelems)

#define shmem_and_reduce(team, dest, source, nreduce)                                                        \
    _Generic(*(dest),                                                                                        \
        unsigned char: shmem_uchar_and_reduce,                                                               \
        unsigned short: shmem_ushort_and_reduce,                                                             \
        unsigned int: shmem_uint_and_reduce,                                                                 \
        unsigned long: shmem_ulong_and_reduce,                                                               \
        unsigned long long: shmem_ulonglong_and_reduce,                                                      \
        signed char: shmem_int8_and_reduce,                                                                  \
        short: shmem_int16_and_reduce,                                                                       \
        int: shmem_int32_and_reduce,                                                                         \
        long: shmem_int64_and_reduce)(team, dest, source, nreduce)

#define shmem_or_reduce(team, dest, source, nreduce)                                                         \
    _Generic(*(dest),                                                                                        \
        unsigned char: shmem_uchar_or_reduce,                                                                \
        unsigned short: shmem_ushort_or_reduce,                                                              \
        unsigned int: shmem_uint_or_reduce,                                                                  \
        unsigned long: shmem_ulong_or_reduce,                                                                \
        unsigned long long: shmem_ulonglong_or_reduce,                                                       \
        signed char: shmem_int8_or_reduce,                                                                   \
        short: shmem_int16_or_reduce,                                                                        \
        int: shmem_int32_or_reduce,                                                                          \
        long: shmem_int64_or_reduce)(team, dest, source, nreduce)

#define shmem_xor_reduce(team, dest, source, nreduce)                                                        \
    _Generic(*(dest),                                                                                        \
        unsigned char: shmem_uchar_xor_reduce,                                                               \
        unsigned short: shmem_ushort_xor_reduce,                                                             \
        unsigned int: shmem_uint_xor_reduce,                                                                 \
        unsigned long: shmem_ulong_xor_reduce,                                                               \
        unsigned long long: shmem_ulonglong_xor_reduce,                                                      \
        signed char: shmem_int8_xor_reduce,                                                                  \
        short: shmem_int16_xor_reduce,                                                                       \
        int: shmem_int32_xor_reduce,                                                                         \
        long: shmem_int64_xor_reduce)(team, dest, source, nreduce)

#define shmem_max_reduce(team, dest, source, nreduce)                                                        \
    _Generic(*(dest),                                                                                        \
        char: shmem_char_max_reduce,                                                                         \
        signed char: shmem_schar_max_reduce,                                                                 \
        short: shmem_short_max_reduce,                                                                       \
        int: shmem_int_max_reduce,                                                                           \
        long: shmem_long_max_reduce,                                                                         \
        long long: shmem_longlong_max_reduce,                                                                \
        unsigned char: shmem_uchar_max_reduce,                                                               \
        unsigned short: shmem_ushort_max_reduce,                                                             \
        unsigned int: shmem_uint_max_reduce,                                                                 \
        unsigned long: shmem_ulong_max_reduce,                                                               \
        unsigned long long: shmem_ulonglong_max_reduce,                                                      \
        float: shmem_float_max_reduce,                                                                       \
        double: shmem_double_max_reduce,                                                                     \
        long double: shmem_longdouble_max_reduce)(team, dest, source, nreduce)

#define shmem_min_reduce(team, dest, source, nreduce)                                                        \
    _Generic(*(dest),                                                                                        \
        char: shmem_char_min_reduce,                                                                         \
        signed char: shmem_schar_min_reduce,                                                                 \
        short: shmem_short_min_reduce,                                                                       \
        int: shmem_int_min_reduce,                                                                           \
        long: shmem_long_min_reduce,                                                                         \
        long long: shmem_longlong_min_reduce,                                                                \
        unsigned char: shmem_uchar_min_reduce,                                                               \
        unsigned short: shmem_ushort_min_reduce,                                                             \
        unsigned int: shmem_uint_min_reduce,                                                                 \
        unsigned long: shmem_ulong_min_reduce,                                                               \
        unsigned long long: shmem_ulonglong_min_reduce,                                                      \
        float: shmem_float_min_reduce,                                                                       \
        double: shmem_double_min_reduce,                                                                     \
        long double: shmem_longdouble_min_reduce)(team, dest, source, nreduce)

#define shmem_sum_reduce(team, dest, source, nreduce)                                                        \
    _Generic(*(dest),                                                                                        \
        char: shmem_char_sum_reduce,                                                                         \
        signed char: shmem_schar_sum_reduce,                                                                 \
        short: shmem_short_sum_reduce,                                                                       \
        int: shmem_int_sum_reduce,                                                                           \
        long: shmem_long_sum_reduce,                                                                         \
        long long: shmem_longlong_sum_reduce,                                                                \
        unsigned char: shmem_uchar_sum_reduce,                                                               \
        unsigned short: shmem_ushort_sum_reduce,                                                             \
        unsigned int: shmem_uint_sum_reduce,                                                                 \
        unsigned long: shmem_ulong_sum_reduce,                                                               \
        unsigned long long: shmem_ulonglong_sum_reduce,                                                      \
        float: shmem_float_sum_reduce,                                                                       \
        double: shmem_double_sum_reduce,                                                                     \
        long double: shmem_longdouble_sum_reduce,                                                            \
        double _Complex: shmem_complexd_sum_reduce,                                                          \
        float _Complex: shmem_complexf_sum_reduce)(team, dest, source, nreduce)

#define shmem_prod_reduce(team, dest, source, nreduce)                                                       \
    _Generic(*(dest),                                                                                        \
        char: shmem_char_prod_reduce,                                                                        \
        signed char: shmem_schar_prod_reduce,                                                                \
        short: shmem_short_prod_reduce,                                                                      \
        int: shmem_int_prod_reduce,                                                                          \
        long: shmem_long_prod_reduce,                                                                        \
        long long: shmem_longlong_prod_reduce,                                                               \
        unsigned char: shmem_uchar_prod_reduce,                                                              \
        unsigned short: shmem_ushort_prod_reduce,                                                            \
        unsigned int: shmem_uint_prod_reduce,                                                                \
        unsigned long: shmem_ulong_prod_reduce,                                                              \
        unsigned long long: shmem_ulonglong_prod_reduce,                                                     \
        float: shmem_float_prod_reduce,                                                                      \
        double: shmem_double_prod_reduce,                                                                    \
        long double: shmem_longdouble_prod_reduce,                                                           \
        double _Complex: shmem_complexd_prod_reduce,                                                         \
        float _Complex: shmem_complexf_prod_reduce)(team, dest, source, nreduce)

#define shmem_sum_inscan(team, dest, source, nelems)                                                         \
    _Generic(*(dest),                                                                                        \
        char: shmem_char_sum_inscan,                                                                         \
        signed char: shmem_schar_sum_inscan,                                                                 \
        short: shmem_short_sum_inscan,                                                                       \
        int: shmem_int_sum_inscan,                                                                           \
        long: shmem_long_sum_inscan,                                                                         \
        long long: shmem_longlong_sum_inscan,                                                                \
        unsigned char: shmem_uchar_sum_inscan,                                                               \
        unsigned short: shmem_ushort_sum_inscan,                                                             \
        unsigned int: shmem_uint_sum_inscan,                                                                 \
        unsigned long: shmem_ulong_sum_inscan,                                                               \
        unsigned long long: shmem_ulonglong_sum_inscan,                                                      \
        float: shmem_float_sum_inscan,                                                                       \
        double: shmem_double_sum_inscan,                                                                     \
        long double: shmem_longdouble_sum_inscan,                                                            \
        double _Complex: shmem_complexd_sum_inscan,                                                          \
        float _Complex: shmem_complexf_sum_inscan)(team, dest, source, nelems)

#define shmem_sum_exscan(team, dest, source, nelems)                                                         \
    _Generic(*(dest),                                                                                        \
        char: shmem_char_sum_exscan,                                                                         \
        signed char: shmem_schar_sum_exscan,                                                                 \
        short: shmem_short_sum_exscan,                                                                       \
        int: shmem_int_sum_exscan,                                                                           \
        long: shmem_long_sum_exscan,                                                                         \
        long long: shmem_longlong_sum_exscan,                                                                \
        unsigned char: shmem_uchar_sum_exscan,                                                               \
        unsigned short: shmem_ushort_sum_exscan,                                                             \
        unsigned int: shmem_uint_sum_exscan,                                                                 \
        unsigned long: shmem_ulong_sum_exscan,                                                               \
        unsigned long long: shmem_ulonglong_sum_exscan,                                                      \
        float: shmem_float_sum_exscan,                                                                       \
        double: shmem_double_sum_exscan,                                                                     \
        long double: shmem_longdouble_sum_exscan,                                                            \
        double _Complex: shmem_complexd_sum_exscan,                                                          \
        float _Complex: shmem_complexf_sum_exscan)(team, dest, source, nelems)

#define shmem_wait_until(ivar, cmp, cmp_value)                                                               \
    _Generic(*(ivar),                                                                                        \
        int: shmem_int_wait_until,                                                                           \
        long: shmem_long_wait_until,                                                                         \
        long long: shmem_longlong_wait_until,                                                                \
        unsigned int: shmem_uint_wait_until,                                                                 \
        unsigned long: shmem_ulong_wait_until,                                                               \
        unsigned long long: shmem_ulonglong_wait_until,                                                      \
        short: shmem_short_wait_until,                                                                       \
        unsigned short: shmem_ushort_wait_until)(ivar, cmp, cmp_value)

#define shmem_wait_until_all(ivars, nelems, status, cmp, cmp_value)                                          \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_wait_until_all,                                                                       \
        long: shmem_long_wait_until_all,                                                                     \
        long long: shmem_longlong_wait_until_all,                                                            \
        unsigned int: shmem_uint_wait_until_all,                                                             \
        unsigned long: shmem_ulong_wait_until_all,                                                           \
        unsigned long long: shmem_ulonglong_wait_until_all)(ivars, nelems, status, cmp, cmp_value)

#define shmem_wait_until_any(ivars, nelems, status, cmp, cmp_value)                                          \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_wait_until_any,                                                                       \
        long: shmem_long_wait_until_any,                                                                     \
        long long: shmem_longlong_wait_until_any,                                                            \
        unsigned int: shmem_uint_wait_until_any,                                                             \
        unsigned long: shmem_ulong_wait_until_any,                                                           \
        unsigned long long: shmem_ulonglong_wait_until_any)(ivars, nelems, status, cmp, cmp_value)

#define shmem_wait_until_some(ivars, nelems, indices, status, cmp, cmp_value)                                \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_wait_until_some,                                                                      \
        long: shmem_long_wait_until_some,                                                                    \
        long long: shmem_longlong_wait_until_some,                                                           \
        unsigned int: shmem_uint_wait_until_some,                                                            \
        unsigned long: shmem_ulong_wait_until_some,                                                          \
        unsigned long long: shmem_ulonglong_wait_until_some)(ivars, nelems, indices, status, cmp, cmp_value)

#define shmem_wait_until_all_vector(ivars, nelems, status, cmp, cmp_values)                                  \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_wait_until_all_vector,                                                                \
        long: shmem_long_wait_until_all_vector,                                                              \
        long long: shmem_longlong_wait_until_all_vector,                                                     \
        unsigned int: shmem_uint_wait_until_all_vector,                                                      \
        unsigned long: shmem_ulong_wait_until_all_vector,                                                    \
        unsigned long long: shmem_ulonglong_wait_until_all_vector)(ivars, nelems, status, cmp, cmp_values)

#define shmem_wait_until_any_vector(ivars, nelems, status, cmp, cmp_values)                                  \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_wait_until_any_vector,                                                                \
        long: shmem_long_wait_until_any_vector,                                                              \
        long long: shmem_longlong_wait_until_any_vector,                                                     \
        unsigned int: shmem_uint_wait_until_any_vector,                                                      \
        unsigned long: shmem_ulong_wait_until_any_vector,                                                    \
        unsigned long long: shmem_ulonglong_wait_until_any_vector)(ivars, nelems, status, cmp, cmp_values)

#define shmem_wait_until_some_vector(ivars, nelems, indices, status, cmp, cmp_values)                        \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_wait_until_some_vector,                                                               \
        long: shmem_long_wait_until_some_vector,                                                             \
        long long: shmem_longlong_wait_until_some_vector,                                                    \
        unsigned int: shmem_uint_wait_until_some_vector,                                                     \
        unsigned long: shmem_ulong_wait_until_some_vector,                                                   \
        unsigned long long: shmem_ulonglong_wait_until_some_vector)(ivars, nelems, indices, status, cmp, cmp_values)

#define shmem_test(ivar, cmp, cmp_value)                                                                     \
    _Generic(*(ivar),                                                                                        \
        int: shmem_int_test,                                                                                 \
        long: shmem_long_test,                                                                               \
        long long: shmem_longlong_test,                                                                      \
        unsigned int: shmem_uint_test,                                                                       \
        unsigned long: shmem_ulong_test,                                                                     \
        unsigned long long: shmem_ulonglong_test,                                                            \
        short: shmem_short_test,                                                                             \
        unsigned short: shmem_ushort_test)(ivar, cmp, cmp_value)

#define shmem_test_all(ivars, nelems, status, cmp, cmp_value)                                                \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_test_all,                                                                             \
        long: shmem_long_test_all,                                                                           \
        long long: shmem_longlong_test_all,                                                                  \
        unsigned int: shmem_uint_test_all,                                                                   \
        unsigned long: shmem_ulong_test_all,                                                                 \
        unsigned long long: shmem_ulonglong_test_all)(ivars, nelems, status, cmp, cmp_value)

#define shmem_test_any(ivars, nelems, status, cmp, cmp_value)                                                \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_test_any,                                                                             \
        long: shmem_long_test_any,                                                                           \
        long long: shmem_longlong_test_any,                                                                  \
        unsigned int: shmem_uint_test_any,                                                                   \
        unsigned long: shmem_ulong_test_any,                                                                 \
        unsigned long long: shmem_ulonglong_test_any)(ivars, nelems, status, cmp, cmp_value)

#define shmem_test_some(ivars, nelems, indices, status, cmp, cmp_value)                                      \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_test_some,                                                                            \
        long: shmem_long_test_some,                                                                          \
        long long: shmem_longlong_test_some,                                                                 \
        unsigned int: shmem_uint_test_some,                                                                  \
        unsigned long: shmem_ulong_test_some,                                                                \
        unsigned long long: shmem_ulonglong_test_some)(ivars, nelems, indices, status, cmp, cmp_value)

#define shmem_test_all_vector(ivars, nelems, status, cmp, cmp_values)                                        \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_test_all_vector,                                                                      \
        long: shmem_long_test_all_vector,                                                                    \
        long long: shmem_longlong_test_all_vector,                                                           \
        unsigned int: shmem_uint_test_all_vector,                                                            \
        unsigned long: shmem_ulong_test_all_vector,                                                          \
        unsigned long long: shmem_ulonglong_test_all_vector)(ivars, nelems, status, cmp, cmp_values)

#define shmem_test_any_vector(ivars, nelems, status, cmp, cmp_values)                                        \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_test_any_vector,                                                                      \
        long: shmem_long_test_any_vector,                                                                    \
        long long: shmem_longlong_test_any_vector,                                                           \
        unsigned int: shmem_uint_test_any_vector,                                                            \
        unsigned long: shmem_ulong_test_any_vector,                                                          \
        unsigned long long: shmem_ulonglong_test_any_vector)(ivars, nelems, status, cmp, cmp_values)

#define shmem_test_some_vector(ivars, nelems, indices, status, cmp, cmp_values)                              \
    _Generic(*(ivars),                                                                                       \
        int: shmem_int_test_some_vector,                                                                     \
        long: shmem_long_test_some_vector,                                                                   \
        long long: shmem_longlong_test_some_vector,                                                          \
        unsigned int: shmem_uint_test_some_vector,                                                           \
        unsigned long: shmem_ulong_test_some_vector,                                                         \
        unsigned long long: shmem_ulonglong_test_some_vector)(ivars, nelems, indices, status, cmp, cmp_values)

#endif

/* ---------------------------------------------------------------------------- Names of other implementations */

/* The version of the standard in Open MPI's spelling: its programs refuse to compile without. */
#define OSHMEM_SPEC_VERSION (SHMEM_MAJOR_VERSION * 10000 + SHMEM_MINOR_VERSION * 100)

/* Old spellings that only some have. */
#define _SHMEM_ALLTOALL_SYNC_SIZE SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_ALLTOALLS_SYNC_SIZE

/* Bitwise operations on signed types, which Open MPI has under these names, too. */
#define shmem_int_atomic_fetch_and shmem_int32_atomic_fetch_and
#define shmem_long_atomic_fetch_and shmem_int64_atomic_fetch_and
#define shmem_longlong_atomic_fetch_and(dest, value, pe) shmem_int64_atomic_fetch_and((int64_t *)(dest), value, pe)
#define shmem_ctx_int_atomic_fetch_and shmem_ctx_int32_atomic_fetch_and
#define shmem_ctx_long_atomic_fetch_and shmem_ctx_int64_atomic_fetch_and
#define shmem_ctx_longlong_atomic_fetch_and(ctx, dest, value, pe) shmem_ctx_int64_atomic_fetch_and(ctx, (int64_t *)(dest), value, pe)
#define shmem_int_atomic_and shmem_int32_atomic_and
#define shmem_long_atomic_and shmem_int64_atomic_and
#define shmem_longlong_atomic_and(dest, value, pe) shmem_int64_atomic_and((int64_t *)(dest), value, pe)
#define shmem_ctx_int_atomic_and shmem_ctx_int32_atomic_and
#define shmem_ctx_long_atomic_and shmem_ctx_int64_atomic_and
#define shmem_ctx_longlong_atomic_and(ctx, dest, value, pe) shmem_ctx_int64_atomic_and(ctx, (int64_t *)(dest), value, pe)
#define shmem_int_atomic_fetch_or shmem_int32_atomic_fetch_or
#define shmem_long_atomic_fetch_or shmem_int64_atomic_fetch_or
#define shmem_longlong_atomic_fetch_or(dest, value, pe) shmem_int64_atomic_fetch_or((int64_t *)(dest), value, pe)
#define shmem_ctx_int_atomic_fetch_or shmem_ctx_int32_atomic_fetch_or
#define shmem_ctx_long_atomic_fetch_or shmem_ctx_int64_atomic_fetch_or
#define shmem_ctx_longlong_atomic_fetch_or(ctx, dest, value, pe) shmem_ctx_int64_atomic_fetch_or(ctx, (int64_t *)(dest), value, pe)
#define shmem_int_atomic_or shmem_int32_atomic_or
#define shmem_long_atomic_or shmem_int64_atomic_or
#define shmem_longlong_atomic_or(dest, value, pe) shmem_int64_atomic_or((int64_t *)(dest), value, pe)
#define shmem_ctx_int_atomic_or shmem_ctx_int32_atomic_or
#define shmem_ctx_long_atomic_or shmem_ctx_int64_atomic_or
#define shmem_ctx_longlong_atomic_or(ctx, dest, value, pe) shmem_ctx_int64_atomic_or(ctx, (int64_t *)(dest), value, pe)
#define shmem_int_atomic_fetch_xor shmem_int32_atomic_fetch_xor
#define shmem_long_atomic_fetch_xor shmem_int64_atomic_fetch_xor
#define shmem_longlong_atomic_fetch_xor(dest, value, pe) shmem_int64_atomic_fetch_xor((int64_t *)(dest), value, pe)
#define shmem_ctx_int_atomic_fetch_xor shmem_ctx_int32_atomic_fetch_xor
#define shmem_ctx_long_atomic_fetch_xor shmem_ctx_int64_atomic_fetch_xor
#define shmem_ctx_longlong_atomic_fetch_xor(ctx, dest, value, pe) shmem_ctx_int64_atomic_fetch_xor(ctx, (int64_t *)(dest), value, pe)
#define shmem_int_atomic_xor shmem_int32_atomic_xor
#define shmem_long_atomic_xor shmem_int64_atomic_xor
#define shmem_longlong_atomic_xor(dest, value, pe) shmem_int64_atomic_xor((int64_t *)(dest), value, pe)
#define shmem_ctx_int_atomic_xor shmem_ctx_int32_atomic_xor
#define shmem_ctx_long_atomic_xor shmem_ctx_int64_atomic_xor
#define shmem_ctx_longlong_atomic_xor(ctx, dest, value, pe) shmem_ctx_int64_atomic_xor(ctx, (int64_t *)(dest), value, pe)

#ifdef __cplusplus
#include "shmem_cxx.h"
#endif

#endif
