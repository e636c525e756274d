// SPDX-License-Identifier: Apache-2.0
// Which objects there are on the symmetric heap is known to each PE by itself, because all make and end them together.
// So what lies in shared memory, where any PE can write, is asked for one thing only: whether an instance is there.
#include "objects.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/settings.h"
#include "exchange.h"
#include "job/heap.h"
#include "job/parts.h"
#include "memory.h"

enum { NAME_MOST = 96 };

struct block {
    struct block *next;
    size_t offset, bytes, note_bytes; /* in every heap; of the object with its head; of the note behind it */
    enum shmemi_object_type type;
    char name[NAME_MOST]; /* empty: anonymous */
};

static const struct shmemi_object_home_calls calls;

/* Of the one job that a process is in. The lock is for the list, and for the end of threads that hold something. */
static struct {
    pthread_mutex_t lock;
    struct shmemi_object_home home;
    struct shmemi_domain domain;
    struct shmemi_member alone; /* a job of one has no service thread, and its PE outlives all its threads */
    struct block *blocks;
    bool open; /* there is a job, and its heap is mapped */
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_ours(const void *address)
{
    const struct shmemi_job *job = shmemi_current;
    return here.open && job->n && (uintptr_t)address - (uintptr_t)job->window < (size_t)job->n * job->stride;
}

/* ---- beginning and end ---- */

/* A thread that holds something may end after the job did. */
static bool guard_begin(const void *object)
{
    pthread_mutex_lock(&here.lock);
    return is_ours(object);
}

static void guard_end(void)
{
    pthread_mutex_unlock(&here.lock);
}

static void in_child(void)
{
    pthread_mutex_init(&here.lock, NULL);
    here.open = false;
    shmemi_object_end_all(&here.home, true);
}

static void once_for_all(void)
{
    static const struct shmemi_held_guard guard = {.begin = guard_begin, .end = guard_end};
    shmemi_held_add_guard(&guard);
    pthread_atfork(NULL, NULL, in_child);
}

/* Before the heap is unmapped. */
static void end_objects(void)
{
    shmemi_object_end_all(&here.home, false);
    const struct shmemi_job *job = shmemi_current;
    shmemi_held_forget(job->window, job->window + (size_t)job->n * job->stride);
    pthread_mutex_lock(&here.lock);
    here.open = false;
    here.home.waits = (struct shmemi_waits){0};
    for (struct block *block; (block = here.blocks);) {
        here.blocks = block->next;
        free(block);
    }
    pthread_mutex_unlock(&here.lock);
}

static void begin_with(struct shmemi_job *job)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, once_for_all);
    pthread_mutex_lock(&here.lock);
    if (!here.open) {
        struct shmemi_member *own = &job->slots[job->me].member;
        atomic_store_explicit(&here.alone.alive, 1, memory_order_relaxed); /* only this process looks */
        here.alone.pid = own->pid;
        bool alone = job->n == 1;
        /* relaxed: only who has the place changes it */
        uint32_t generation = alone ? 0 : atomic_load_explicit(&own->generation, memory_order_relaxed);
        here.domain = (struct shmemi_domain){.alive = (const char *)(alone ? &here.alone : &job->slots[0].member),
                                             .stride = alone ? sizeof here.alone : sizeof *job->slots,
                                             .count = (unsigned)job->n,
                                             .me = (unsigned)job->me,
                                             .generation = generation};
        here.home.calls = &calls;
        here.home.domain = &here.domain;
        job->parts->end_objects = end_objects;
        here.open = true;
    }
    pthread_mutex_unlock(&here.lock);
}

_Static_assert(offsetof(struct shmemi_slot, member) == 0, "a domain's slots begin with the member");

/* ---- what each PE knows ---- */

static struct block *block_at(size_t offset)
{
    struct block *block = here.blocks;
    while (block && block->offset != offset)
        block = block->next;
    return block;
}

static struct block *block_named(const char *name)
{
    struct block *block = here.blocks;
    while (block && strcmp(block->name, name) != 0)
        block = block->next;
    return block;
}

static int check_name(const char *name)
{
    if (!name)
        return 0;
    if (!*name || strlen(name) >= NAME_MOST)
        return shmemi_fail(-EINVAL, "a name has 1 to %d bytes", NAME_MOST - 1);
    pthread_mutex_lock(&here.lock);
    bool taken = block_named(name);
    pthread_mutex_unlock(&here.lock);
    return taken ? shmemi_fail(-EEXIST, "the name '%s' is taken", name) : 0;
}

static int need_job(void)
{
    return shmemi_current->n ? 0 : shmemi_fail(-EPERM, "called %s", shmemi_no_job());
}

static int open_on(const struct block *block, int pe, struct shmemi_object **out)
{
    const struct shmemi_job *job = shmemi_current;
    const struct shmemi_object_place place = {.buffer = job->window + (size_t)pe * job->stride + block->offset,
                                              .bytes = block->bytes,
                                              .note_bytes = block->note_bytes};
    return shmemi_object_open(&here.home, block->type, &place, out);
}

/* ---- agreeing ---- */

enum { MAKE = 4, END = 5 }; /* other numbers than those of memory.c: a PE that allocates meanwhile is told apart */

struct request {
    uint32_t operation, type;
    int32_t rc;
    uint32_t debugs;
    uint64_t bytes, name, said;           /* hashes; END: offset, 0, 0 */
    char text[SHMEMI_PUBLISH_BYTES - 40]; /* the object in words, or with a negative rc why not */
};
_Static_assert(sizeof(struct request) == SHMEMI_PUBLISH_BYTES, "one publication");

static int differ(int pe, const struct request *theirs, const struct request *mine)
{
    const char *word = shmemi_object_a((enum shmemi_object_type)mine->type);
    const char *does = mine->operation == MAKE ? "makes" : "destroys";
    if (theirs->operation != mine->operation)
        return shmemi_fail(-EINVAL,
                           "PE %d %s %s, but PE %d does something else: all PEs must make the same calls in "
                           "the same order",
                           shmemi_current->me, does, word, pe);
    const char *own = mine->rc < 0 ? word : mine->text;
    const char *other = theirs->rc < 0 ? shmemi_object_a((enum shmemi_object_type)theirs->type) : theirs->text;
    const char *what = strcmp(own, other) != 0      ? ""
                       : mine->operation == END     ? ", another one"
                       : theirs->name != mine->name ? " with another name"
                                                    : " of another kind";
    return shmemi_fail(-EINVAL, "PE %d %s %s, but PE %d %s%s: all PEs must ask for the same", shmemi_current->me, does,
                       own, pe, other, what);
}

/* What all PEs have to say; the first that cannot speaks for all. *debugs: whether anybody looks for cycles. */
static int agree(struct request *mine, bool *debugs)
{
    struct request theirs;
    if (mine->rc < 0)
        snprintf(mine->text, sizeof mine->text, "%.*s", (int)sizeof mine->text - 1, shmemi_last_error());
    int rc = shmemi_exchange(mine, sizeof *mine);
    if (rc == 0 && mine->rc < 0)
        return mine->rc; /* its own text is whole */
    for (int pe = 0; rc == 0 && pe < shmemi_current->n; pe++) {
        memcpy(&theirs, shmemi_published(pe), sizeof theirs);
        theirs.text[sizeof theirs.text - 1] = 0;
        if (theirs.operation != mine->operation || theirs.type != mine->type || theirs.bytes != mine->bytes ||
            theirs.name != mine->name || theirs.said != mine->said)
            rc = differ(pe, &theirs, mine);
        else if (theirs.rc < 0)
            rc = shmemi_fail(theirs.rc, "PE %d: %s%s", pe, theirs.text,
                             strlen(theirs.text) + 1 < sizeof theirs.text ? "" : " ...");
        *debugs |= theirs.debugs != 0;
    }
    return rc;
}

static bool debugging(void)
{
    const char *text = shmemi_setting("SHMEM_DEBUG");
    text = text ? text : shmemi_setting("SMA_DEBUG");
    return text && *text && strcmp(text, "0") != 0;
}

/* ---- making ---- */

/* The table lies in every heap, and PE 0's is used. */
static int make_table(void)
{
    const struct shmemi_job *job = shmemi_current;
    size_t bytes = SHMEMI_OBJECT_WAIT_ROWS * sizeof(struct shmemi_wait_row);
    void *rows = NULL;
    int rc = shmemi_allocate(bytes, SHMEMI_LINE, &rows);
    if (rc < 0)
        return rc;
    memset(rows, 0, bytes);
    here.home.waits = (struct shmemi_waits){.rows = (void *)(job->window + ((char *)rows - job->heap)),
                                            .count = SHMEMI_OBJECT_WAIT_ROWS,
                                            .base = job->window,
                                            .bytes = (uint64_t)job->n * job->stride};
    return 0; /* nobody waits before the barrier at the end of the creation */
}

static int fill(const struct shmemi_object_spec *spec, struct block *block)
{
    void *buffer = NULL;
    int rc = shmemi_allocate(block->bytes + block->note_bytes, SHMEMI_LINE, &buffer);
    if (rc < 0)
        return rc;
    shmemi_object_init(buffer, spec);
    block->offset = (size_t)((char *)buffer - shmemi_current->heap);
    return shmemi_exchange(NULL, 0); /* all instances are whole */
}

/* In words, and what tells it from others. */
static uint64_t say(const struct shmemi_object_spec *spec, char *text, size_t room)
{
    const char *said = spec->said ? spec->said : "";
    int length =
        snprintf(text, room, "%s%s%s%s", shmemi_object_a(spec->type), *said ? " (" : "", said, *said ? ")" : "");
    if (length >= (int)room)
        memcpy(text + room - 5, "...)", 5);
    return shmemi_hash(shmemi_hash_text(SHMEMI_HASH_BEGIN, said), spec->note, spec->note_bytes);
}

static int make(const struct shmemi_object_spec *spec, struct block *block)
{
    bool debugs = false;
    struct request mine = {.operation = MAKE,
                           .type = spec->type,
                           .rc = check_name(spec->name),
                           .debugs = debugging(),
                           .bytes = block->bytes + block->note_bytes,
                           .name = spec->name ? shmemi_hash_text(SHMEMI_HASH_BEGIN, spec->name) : 0};
    mine.said = say(spec, mine.text, sizeof mine.text);
    int rc = agree(&mine, &debugs);
    if (rc == 0 && debugs && !here.home.waits.rows)
        rc = make_table();
    return rc < 0 ? rc : fill(spec, block);
}

int shmemi_symmetric_create(const struct shmemi_object_spec *spec, struct shmemi_object **out)
{
    int rc = need_job();
    if (rc < 0)
        return rc;
    if (shmemi_current->n > SHMEMI_DOMAIN_SLOTS_MOST)
        return shmemi_fail(-ENOTSUP, "a job with objects on its symmetric heap has at most %d PEs, and this one has %d",
                           SHMEMI_DOMAIN_SLOTS_MOST, shmemi_current->n);
    struct block *block = calloc(1, sizeof *block);
    if (!block)
        return shmemi_fail(-ENOMEM, "no private memory to note %s", shmemi_object_a(spec->type));
    begin_with(shmemi_current);
    block->type = spec->type;
    block->bytes = sizeof(struct shmemi_object_head) + spec->bytes;
    block->note_bytes = spec->note_bytes;
    if ((rc = make(spec, block)) < 0) {
        free(block);
        return shmemi_fail_in(rc, "cannot make %s on the symmetric heap", shmemi_object_a(spec->type));
    }
    if (spec->name)
        snprintf(block->name, sizeof block->name, "%s", spec->name);
    pthread_mutex_lock(&here.lock);
    block->next = here.blocks;
    here.blocks = block;
    pthread_mutex_unlock(&here.lock);
    return open_on(block, shmemi_current->me, out);
}

/* What this PE knows of the object of that name. */
static int look_up(const char *name, struct block *found)
{
    int rc = need_job();
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&here.lock);
    const struct block *block = *name ? block_named(name) : NULL;
    *found = block ? *block : (struct block){0};
    pthread_mutex_unlock(&here.lock);
    return block ? 0 : shmemi_fail(-ENOENT, "no object on the symmetric heap has the name '%s'", name);
}

int shmemi_symmetric_what(const char *name)
{
    struct block found;
    int rc = look_up(name, &found);
    return rc < 0 ? rc : (int)found.type;
}

int shmemi_symmetric_find(const char *name, enum shmemi_object_type type, struct shmemi_object **out)
{
    struct block found;
    int rc = look_up(name, &found);
    if (rc < 0)
        return rc;
    if (found.type != type)
        return shmemi_fail(-EINVAL, "its type is '%s', and not '%s'", shmemi_object_word(found.type),
                           shmemi_object_word(type));
    return open_on(&found, shmemi_current->me, out);
}

/* ---- instances ---- */

int shmemi_symmetric_pe(const struct shmemi_object *object)
{
    if (object->home != &here.home || !is_ours(object->head))
        return -1;
    return (int)((size_t)((char *)object->head - shmemi_current->window) / shmemi_current->stride);
}

static size_t offset_of(const struct shmemi_object *object)
{
    return (size_t)((char *)object->head - shmemi_current->window) % shmemi_current->stride;
}

int shmemi_symmetric_on(const struct shmemi_object *object, int pe, struct shmemi_object **out)
{
    if (shmemi_symmetric_pe(object) < 0)
        return shmemi_fail(-EINVAL, "the %s is not on the symmetric heap, and has no instances on PEs",
                           shmemi_object_word(object->type));
    if (pe < 0 || pe >= shmemi_current->n)
        return shmemi_fail(-EINVAL, "pe is %d: the job has PEs 0 to %d", pe, shmemi_current->n - 1);
    pthread_mutex_lock(&here.lock);
    const struct block *block = block_at(offset_of(object));
    struct block found = block ? *block : (struct block){0};
    pthread_mutex_unlock(&here.lock);
    if (!block || found.type != object->type)
        return shmemi_fail(-ENOENT, "the %s was destroyed", shmemi_object_word(object->type));
    return open_on(&found, pe, out);
}

/* ---- the end ---- */

static void forget(size_t offset)
{
    pthread_mutex_lock(&here.lock);
    struct block **at = &here.blocks, *gone;
    while (*at && (*at)->offset != offset)
        at = &(*at)->next;
    if ((gone = *at)) {
        *at = gone->next;
        free(gone);
    }
    pthread_mutex_unlock(&here.lock);
}

int shmemi_symmetric_destroy(struct shmemi_object *object, int rc, void (*undo)(struct shmemi_object *object))
{
    int pe = shmemi_symmetric_pe(object);
    bool debugs = false;
    if (pe != shmemi_current->me) {
        if (rc >= 0 && undo)
            undo(object);
        return shmemi_fail(-EINVAL,
                           "this is the instance of PE %d: all PEs destroy together, and each gives the handle "
                           "of its own",
                           pe);
    }
    struct request mine = {.operation = END, .type = object->type, .rc = rc, .bytes = offset_of(object)};
    snprintf(mine.text, sizeof mine.text, "%s", shmemi_object_a(object->type));
    int agreed = agree(&mine, &debugs);
    if (agreed < 0 && rc >= 0 && undo)
        undo(object);
    if (agreed < 0)
        return agreed;
    forget(offset_of(object));
    return shmemi_object_destroy(object);
}

/* ---- the home ---- */

static int no_enter(struct shmemi_object_home *home)
{
    (void)home;
    return need_job();
}

static int give(struct shmemi_object_home *home, void *buffer)
{
    (void)home;
    return shmemi_release(NULL, buffer); /* which compares and waits: nobody's is used again before all are gone */
}

static int last_closed(struct shmemi_object_home *home)
{
    (void)home;
    return 0;
}

static void waits_are_made_together(struct shmemi_object_home *home)
{
    (void)home;
}

static const struct shmemi_object_home_calls calls = {
    .enter = no_enter, .give = give, .last_closed = last_closed, .make_waits = waits_are_made_together};
