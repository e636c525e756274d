// SPDX-License-Identifier: Apache-2.0
// Two PEs, of which this process becomes one and starts the other: in the order of their streams, and with the
// symmetric heap on the device.
#include "device.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* --- two PEs, in the order of their streams ----------------------------------------------------------------------- */

enum { TURNS = 20 };
_Static_assert(2 * TURNS * PART <= BYTES, "there and back");

static int join(struct player *p, const char *id, const char *type, int number)
{
    shmemx_unique_id_t uid = {{0}};
    void *word = NULL;
    int rc;
    memcpy(uid.text, id, strlen(id) < sizeof uid.text ? strlen(id) : sizeof uid.text - 1);
    if ((rc = shmemx_init_attr(SHMEM_THREAD_MULTIPLE, NULL, p->rank, 2, &uid)) < 0 ||
        (rc = shmemx_device_pool_create(type, number, PART, &p->pool)) < 0 ||
        (rc = shmemx_device_alloc(p->pool, PART, 0, &p->x)) < 0 || (rc = shmemx_malloc(64, 64, &word)) < 0)
        return rc;
    memset(word, 0, 64);
    if ((rc = shmemx_register(p->x, PART, NULL, &p->own_x)) < 0 ||
        (rc = shmemx_region_at(p->own_x, 1 - p->rank, 60, &p->their_x)) < 0 ||
        (rc = shmemx_region_symmetric(word, 64, &p->own_word)) < 0 ||
        (rc = shmemx_region_at(p->own_word, 1 - p->rank, 60, &p->their_word)) < 0 ||
        (rc = shmemx_stream_create(type, number, &p->stream)) < 0)
        return rc;
    return shmemx_barrier();
}

static int give(const struct player *p, uint64_t turn)
{
    return shmemx_put_signal_on_stream(p->their_x, 0, p->x, PART, p->their_word, 0, turn, SHMEM_SIGNAL_SET, p->stream);
}

static int take(const struct player *p, uint64_t turn)
{
    return shmemx_wait_on_stream(p->own_word, 0, SHMEM_CMP_GE, turn, p->stream);
}

/* PE 0 throws other bytes each time, and looks at what comes back; all is queued before anything is waited for. */
static int play(const struct player *p)
{
    int rc = 0;
    fill((size_t)TURNS * PART, 20);
    memset(host + (size_t)TURNS * PART, 0, (size_t)TURNS * PART);
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        unsigned char *part = host + (turn - 1) * PART, *back = part + TURNS * PART;
        if (p->rank == 0 &&
            ((rc = shmemx_copy_on_stream(p->x, part, PART, p->stream)) < 0 || (rc = give(p, turn)) < 0 ||
             (rc = take(p, turn)) < 0 || (rc = shmemx_copy_on_stream(back, p->x, PART, p->stream)) < 0))
            return rc;
        if (p->rank == 1 && ((rc = take(p, turn)) < 0 || (rc = give(p, turn)) < 0))
            return rc;
        if ((rc = shmemx_barrier_on_stream(p->stream)) < 0)
            return rc;
    }
    if ((rc = shmemx_quiet_on_stream(p->stream)) < 0 || (rc = shmemx_stream_finish(p->stream)) < 0)
        return rc;
    return p->rank == 1 || !memcmp(host, host + (size_t)TURNS * PART, (size_t)TURNS * PART)
               ? 0
               : wrong("what came back is not what was sent");
}

static int run_player(int rank, const char *id, const char *type, int number, int (*play_as)(const struct player *p))
{
    struct player p = {.rank = rank};
    int rc = join(&p, id, type, number), end = 0;
    if (rc >= 0 && (rc = play_as(&p)) >= 0)
        end = shmemx_finalize();
    else
        shmemx_leave();
    if (p.stream)
        shmemx_stream_destroy(p.stream);
    if (p.pool)
        shmemx_device_pool_close(p.pool);
    return rc < 0 ? rc : end;
}

/* The other PE is the same program with `what`; here `run` is PE 0. */
static int with_other(const struct place *p, const char *what, int (*run)(const struct place *p, const char *id))
{
    shmemx_unique_id_t id;
    int status = -1, rc = shmemx_get_unique_id(&id);
    if (rc < 0)
        return rc;
    fflush(stdout);
    int pid = start(what, id.text, p->name);
    if (pid < 0)
        return wrong("no other process can be started");
    rc = run(p, id.text);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return rc < 0 ? rc : wrong("the other process ended with status %#x (what it said is above)", (unsigned)status);
    return rc;
}

static int run_first_player(const struct place *p, const char *id)
{
    return run_player(0, id, p->info.type, p->info.number, play);
}

int ordered(const struct place *p)
{
    return with_other(p, "player", run_first_player);
}

static int run_other(const char *id, const char *place, int (*play_as)(const struct player *p))
{
    char type[16];
    int number, rc = read_place(place, type, &number);
    return rc < 0 || run_player(1, id, type, number, play_as) < 0 ? complain("playing") : 0;
}

int run_other_player(const char *id, const char *place)
{
    return run_other(id, place, play);
}

static int run_first_counting(const struct place *p, const char *id)
{
    return run_player(0, id, p->info.type, p->info.number, count_operations);
}

int counted(const struct place *p)
{
    return with_other(p, "counted", run_first_counting);
}

int run_other_counted(const char *id, const char *place)
{
    return run_other(id, place, be_counted);
}

/* --- two PEs, with the symmetric heap on the device --------------------------------------------------------------- */

/* PE 0 puts, PE 1 reads and puts something else back by way of its own device; then both add. */
static int use_heap(int rank, unsigned char *x, int *sums)
{
    int ones[4] = {1, 1, 1, 1}, back[4] = {0};
    if (rank == 0) {
        fill(PART, 30);
        shmem_putmem(x, host, PART, 1);
    }
    shmem_barrier_all();
    if (rank == 1) {
        memset(host, 0, PART);
        shmem_getmem(host, x, PART, 1);
        if (compare(PART, 30) < 0)
            return -1;
        fill(PART, 31);
        shmem_putmem_nbi(x, host, PART, 1);
        shmem_quiet();
        shmem_putmem(x, x, PART, 0); /* from device memory to device memory */
    }
    shmem_putmem(sums, ones, sizeof ones, rank);
    shmem_barrier_all();
    shmem_getmem(host, x, PART, rank);
    if (compare(PART, 31) < 0 || shmem_int_sum_reduce(SHMEM_TEAM_WORLD, sums, sums, 4) != 0)
        return -1;
    shmem_getmem(back, sums, sizeof back, rank);
    return back[0] == 2 && back[3] == 2 ? 0 : wrong("a sum over both PEs is %d and %d, not 2", back[0], back[3]);
}

static int run_heap(int rank, const char *id, const char *place)
{
    shmemx_unique_id_t uid = {{0}};
    snprintf(uid.text, sizeof uid.text, "%s", id);
    int rc = shmemx_init_attr(SHMEM_THREAD_MULTIPLE, NULL, rank, 2, &uid);
    if (rc < 0)
        return rc;
    setenv("SHMEM_DEVICE_HEAP_SIZE", "8m", 0);
    unsigned char *x = shmemx_malloc_kind(PART, place);
    int *sums = x ? shmemx_malloc_kind(64, place) : NULL;
    rc = sums ? use_heap(rank, x, sums) : -errno;
    if (rc < 0) {
        shmemx_leave();
        return rc;
    }
    shmem_free(sums);
    shmem_free(x);
    return shmemx_finalize();
}

static int run_first_heap(const struct place *p, const char *id)
{
    return run_heap(0, id, p->name);
}

int heaped(const struct place *p)
{
    return with_other(p, "heap", run_first_heap);
}

int run_other_heap(const char *id, const char *place)
{
    return run_heap(1, id, place) < 0 ? complain("the heap") : 0;
}
