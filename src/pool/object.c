// SPDX-License-Identifier: Apache-2.0
// Handles of objects, and the buffers that hold them.
#include "object.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "pool_internal.h"

enum { CLOSED_LEAST = 256, WAIT_ROWS = SHMEMI_OBJECT_WAIT_ROWS };

static const struct shmemi_object_home_calls of_pools;

static struct shmemi_kept closed = SHMEMI_KEPT(struct shmemi_object, CLOSED_LEAST);

_Static_assert(sizeof(struct shmemi_object_head) == SHMEMI_LINE, "what follows has a line of its own");

const char *shmemi_object_word(enum shmemi_object_type type)
{
    static const char *const words[SHMEMI_OBJECT_TYPES] = {
        [SHMEMI_OBJECT_MUTEX] = "mutex",         [SHMEMI_OBJECT_RWLOCK] = "reader-writer lock",
        [SHMEMI_OBJECT_SEMAPHORE] = "semaphore", [SHMEMI_OBJECT_CONDITION] = "condition variable",
        [SHMEMI_OBJECT_BARRIER] = "barrier",     [SHMEMI_OBJECT_EVENT] = "event",
        [SHMEMI_OBJECT_ATOMIC] = "atomic word",  [SHMEMI_OBJECT_QUEUE] = "queue",
        [SHMEMI_OBJECT_GROUP] = "process group"};
    return type < SHMEMI_OBJECT_TYPES && words[type] ? words[type] : "unknown object";
}

const char *shmemi_object_a(enum shmemi_object_type type)
{
    static const char *const words[SHMEMI_OBJECT_TYPES] = {
        [SHMEMI_OBJECT_MUTEX] = "a mutex",         [SHMEMI_OBJECT_RWLOCK] = "a reader-writer lock",
        [SHMEMI_OBJECT_SEMAPHORE] = "a semaphore", [SHMEMI_OBJECT_CONDITION] = "a condition variable",
        [SHMEMI_OBJECT_BARRIER] = "a barrier",     [SHMEMI_OBJECT_EVENT] = "an event",
        [SHMEMI_OBJECT_ATOMIC] = "an atomic word", [SHMEMI_OBJECT_QUEUE] = "a queue"};
    return type < SHMEMI_OBJECT_TYPES && words[type] ? words[type] : "an unknown object";
}

static struct shmemi_pool *pool_at(struct shmemi_object_home *home)
{
    return (struct shmemi_pool *)(void *)((char *)home - offsetof(struct shmemi_pool, objects));
}

/* The note of an object's name: what a buffer of the program holds may look like an object, or like one that is being
   destroyed. */
static const char name_note[] = "\0shmem object";

static bool is_object(const struct shmemi_named *named)
{
    return named->note_bytes == sizeof name_note && memcmp(named->note, name_note, sizeof name_note) == 0;
}

size_t shmemi_object_bytes(const struct shmemi_object_spec *spec)
{
    return sizeof(struct shmemi_object_head) + spec->bytes + spec->note_bytes;
}

uint64_t shmemi_object_init(void *buffer, const struct shmemi_object_spec *spec)
{
    struct shmemi_object_head *head = buffer;
    /* [object] relaxed: who has a handle of what was here before may just be looking, and finds anything but its life
     */
    atomic_store_explicit(&head->life, 0, memory_order_relaxed);
    memset(&head->bytes, 0, sizeof *head - sizeof head->life + spec->bytes);
    head->bytes = sizeof *head + spec->bytes;
    head->note_bytes = spec->note_bytes;
    if (spec->note_bytes)
        memcpy((char *)head + head->bytes, spec->note, spec->note_bytes);
    if (spec->init)
        spec->init(head + 1, spec->context);
    uint64_t life = shmemi_random() << 32 | SHMEMI_OBJECT_MARK | spec->type;
    /* [object] release: pairs with the acquire in shmemi_object_ready() and check_head(): it is whole. */
    atomic_store_explicit(&head->life, life, memory_order_release);
    return life;
}

struct making {
    const struct shmemi_object_spec *spec;
    uint64_t life;
};

static int init_named(void *buffer, void *context)
{
    struct making *making = context;
    making->life = shmemi_object_init(buffer, making->spec);
    return 0;
}

/* A thread that holds something may end after the pool was closed. */
static bool guard_begin(const void *object)
{
    shmemi_pool_lock_all();
    return shmemi_pool_any_maps(object);
}

static void set_guard(void)
{
    static const struct shmemi_held_guard guard = {.begin = guard_begin, .end = shmemi_pool_unlock_all};
    shmemi_held_add_guard(&guard);
}

static void open_handle(struct shmemi_object *object)
{
    object->site.base = shmemi_holder_base(object->domain);
    /* relaxed: before the handle is anybody's; or in a child of fork, which has one thread: see shmemi_object_ready()
     */
    atomic_store_explicit(&object->mark, SHMEMI_OBJECT_OPEN + (uint32_t)object->type, memory_order_relaxed);
}

int shmemi_object_open(struct shmemi_object_home *home, enum shmemi_object_type type,
                       const struct shmemi_object_place *place, struct shmemi_object **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_guard);
    struct shmemi_object *object = shmemi_kept_take(&closed);
    if (!object)
        return -ENOMEM;
    struct shmemi_object_head *head = place->buffer;
    /* [object] acquire: pairs with the release in shmemi_object_init(). */
    uint64_t life = place->life ? place->life : atomic_load_explicit(&head->life, memory_order_acquire);
    if ((uint32_t)life != (SHMEMI_OBJECT_MARK | type)) {
        shmemi_kept_put(&closed, object);
        return shmemi_fail(-ENOENT, "the %s was destroyed", shmemi_object_word(type));
    }
    *object = (struct shmemi_object){.type = type,
                                     .home = home,
                                     .domain = home->domain,
                                     .shared = head + 1,
                                     .head = head,
                                     .bytes = place->bytes - sizeof *head,
                                     .note = (char *)head + place->bytes,
                                     .note_bytes = place->note_bytes};
    object->site = (struct shmemi_site){.domain = object->domain, .alive = &head->life, .life = life};
    open_handle(object);
    shmemi_pool_lock_all();
    object->next = home->handles;
    home->handles = object;
    shmemi_pool_unlock_all();
    atomic_fetch_add_explicit(&home->open, 1, memory_order_relaxed); /* a count of this process */
    *out = object;
    return 0;
}

static int make_handle(struct shmemi_pool *pool, enum shmemi_object_type type, const struct shmemi_object_place *place,
                       struct shmemi_object **out)
{
    return shmemi_object_open(&pool->objects, type, place, out);
}

static void mark_all(struct shmemi_object_home *home, uint32_t mark)
{
    for (struct shmemi_object *object = home->handles; object; object = object->next)
        atomic_store_explicit(&object->mark, mark, memory_order_relaxed); /* see shmemi_object_ready() */
}

void shmemi_object_forked(struct shmemi_pool *pool)
{
    mark_all(&pool->objects, SHMEMI_OBJECT_FORKED);
}

void shmemi_object_end_all(struct shmemi_object_home *home, bool forked)
{
    if (!forked)
        shmemi_pool_lock_all();
    for (struct shmemi_object *object = home->handles; object && !forked; object = object->next)
        if (object->ending)
            object->ending(object->owner);
    mark_all(home, SHMEMI_OBJECT_ENDED);
    if (!forked)
        shmemi_pool_unlock_all();
}

/* What is locked in it would be locked for nobody else. */
static int need_common(const struct shmemi_pool *pool)
{
    return pool->private_view
               ? shmemi_fail(-EROFS, "'%s' is not open for writing by all: open it with mode \"rw\"", pool->path)
               : shmemi_pool_need_writable(pool);
}

/* ---- objects whose destroyer died ---- */

struct dead_object {
    struct shmemi_pool *pool;
    void *buffer;
};

static bool is_dying(uint64_t life)
{
    return life && (life & SHMEMI_HOLDER_MARKS & ~SHMEMI_HOLDER_MARK) == 0;
}

/* With the pool's lock held: the name still stands for that buffer. Takes over from a dead destroyer. */
static void claim_dead(void *buffer, void *context)
{
    struct dead_object *dead = context;
    struct shmemi_object_head *head = buffer;
    uint64_t life = atomic_load_explicit(&head->life, memory_order_acquire); /* [object] */
    if (is_dying(life) && shmemi_holder_dead(&dead->pool->domain, life) &&
        atomic_compare_exchange_strong_explicit(&head->life, &life, shmemi_holder(&dead->pool->domain),
                                                memory_order_acq_rel, memory_order_relaxed)) /* [object]: one does it */
        dead->buffer = buffer;
}

/* Finishes what a process began that was killed while it destroyed the object of this name. */
static void bury(struct shmemi_pool *pool, const char *name)
{
    struct dead_object dead = {.pool = pool};
    const struct shmemi_naming naming = {
        .name = name, .size = sizeof(struct shmemi_object_head), .note = name_note, .note_bytes = sizeof name_note};
    if (!name || !*name || strlen(name) >= SHMEMI_POOL_NAME)
        return;
    shmemi_names_visit(pool, &naming, claim_dead, &dead);
    if (dead.buffer)
        shmemi_pool_free(pool, dead.buffer);
}

int shmemi_object_create(struct shmemi_pool *pool, const struct shmemi_object_spec *spec, struct shmemi_object **out)
{
    struct making making = {.spec = spec};
    struct shmemi_object_place place = {.bytes = sizeof(struct shmemi_object_head) + spec->bytes,
                                        .note_bytes = spec->note_bytes};
    size_t bytes = shmemi_object_bytes(spec);
    struct shmemi_naming naming = {.name = spec->name,
                                   .size = bytes,
                                   .align = SHMEMI_LINE,
                                   .note = name_note,
                                   .note_bytes = sizeof name_note,
                                   .init = init_named,
                                   .context = &making};
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = need_common(pool)) < 0)
        return rc;
    if (spec->note_bytes > SHMEMI_OBJECT_NOTE)
        return shmemi_fail(-EINVAL, "the note has %zu bytes: %d fit", spec->note_bytes, SHMEMI_OBJECT_NOTE);
    if (spec->name)
        bury(pool, spec->name);
    if (spec->name)
        rc = shmemi_pool_alloc_named(pool, &naming, &place.buffer);
    else if ((rc = shmemi_pool_alloc(pool, bytes, SHMEMI_LINE, SHMEMI_ALLOC_KEEP, &place.buffer)) == 0)
        init_named(place.buffer, &making);
    if (rc < 0)
        return shmemi_fail_in(rc, "cannot make %s", shmemi_object_a(spec->type));
    place.life = making.life;
    return make_handle(pool, spec->type, &place, out);
}

/* What lies there is perhaps no object, or was written by anybody. */
static int check_head(struct shmemi_pool *pool, uint64_t offset, enum shmemi_object_type type,
                      struct shmemi_object_place *place)
{
    struct shmemi_pool_block block;
    if (shmemi_pool_look(pool, offset, &block) < 0 || block.offset != offset ||
        block.bytes < sizeof(struct shmemi_object_head))
        return shmemi_fail(-ENOENT, "the %s is gone", shmemi_object_word(type));
    struct shmemi_object_head *head = (struct shmemi_object_head *)(void *)(pool->payload + offset);
    uint64_t life = atomic_load_explicit(&head->life, memory_order_acquire); /* [object] */
    uint32_t found = (uint32_t)life;
    if ((found & ~UINT32_C(255)) != SHMEMI_OBJECT_MARK && is_dying(life))
        return shmemi_fail(-ENOENT, "the %s was destroyed", shmemi_object_word(type));
    if ((found & ~UINT32_C(255)) != SHMEMI_OBJECT_MARK)
        return shmemi_fail(-EINVAL, "it is a buffer, and no %s", shmemi_object_word(type));
    if ((found & 255) != type)
        return shmemi_fail(-EINVAL, "its type is '%s', and not '%s'",
                           shmemi_object_word((enum shmemi_object_type)(found & 255)), shmemi_object_word(type));
    uint64_t size = *(volatile uint64_t *)&head->bytes; /* read once: what is checked is what is used */
    uint64_t note = *(volatile uint64_t *)&head->note_bytes;
    if (size < sizeof *head || size > block.bytes || note > SHMEMI_OBJECT_NOTE || note > block.bytes - size)
        return shmemi_fail(-EPROTO, "the %s is damaged, or of another version", shmemi_object_word(type));
    *place = (struct shmemi_object_place){.buffer = head, .bytes = size, .note_bytes = note};
    return 0;
}

int shmemi_object_find(struct shmemi_pool *pool, const char *name, enum shmemi_object_type type,
                       struct shmemi_object **out)
{
    struct shmemi_named named;
    struct shmemi_object_place place = {0};
    int rc = shmemi_pool_enter(pool);
    if (rc < 0 || (rc = need_common(pool)) < 0)
        return rc;
    bury(pool, name);
    rc = shmemi_pool_find_name(pool, name, &named);
    if (rc == 0 && !is_object(&named))
        rc = shmemi_fail(-EINVAL, "it is a buffer, and no %s", shmemi_object_word(type));
    if (rc == 0)
        rc = check_head(pool, (uint64_t)((char *)named.address - pool->payload), type, &place);
    return rc < 0 ? rc : make_handle(pool, type, &place, out);
}

int shmemi_object_export(struct shmemi_object *object, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_pool *pool = pool_at(object->home);
    if (object->home->calls != &of_pools)
        return shmemi_fail(-ENOTSUP,
                           "%s on the symmetric heap has no key: the PEs of its job reach it, and for others "
                           "it can be made in a pool",
                           shmemi_object_a(object->type));
    if (!pool->share)
        return shmemi_fail(-EROFS, "nothing can be exported from a file that is not open for writing by all ('%s')",
                           pool->path);
    uint64_t offset = (uint64_t)((char *)object->head - pool->payload);
    struct shmemi_export what = {.segment = SHMEMI_POOL_PAYLOAD,
                                 .offset = pool->payload_at + offset,
                                 .bytes = sizeof *object->head + object->bytes,
                                 .rights = SHMEMI_RIGHTS_ALL,
                                 .flags = SHMEMI_KEY_POOL};
    int rc = shmemi_pool_raise(pool, offset, SHMEMI_BLOCK_EXPORTED);
    return rc < 0 ? shmemi_fail(rc, "the %s is gone", shmemi_object_word(object->type))
                  : shmemi_share_export(pool->share, &what, text);
}

/* The pool of a key: one that this process has, or attached to now. */
static int pool_of_key(const char *text, const struct shmemi_key *key, struct shmemi_pool **out, bool *attached)
{
    *out = shmemi_pool_of_share(key->share);
    *attached = *out == NULL;
    return *out ? shmemi_pool_enter(*out) : shmemi_pool_open(text, out);
}

int shmemi_object_import(const char *text, enum shmemi_object_type type, struct shmemi_object **out)
{
    struct shmemi_key key;
    struct shmemi_key_record record;
    struct shmemi_pool *pool = NULL;
    bool attached = false;
    struct shmemi_object_place place = {0};
    int rc = shmemi_key_parse(text, &key);
    if (rc < 0 || (rc = pool_of_key(text, &key, &pool, &attached)) < 0)
        return rc;
    rc = pool->share ? shmemi_share_look_up(pool->share, &key, &record)
                     : shmemi_fail(-EROFS, "the file '%s' is not open for writing by all", pool->path);
    if (rc == 0 && (record.segment != SHMEMI_POOL_PAYLOAD || record.offset < pool->payload_at))
        rc = shmemi_fail(-EINVAL, "the key is not one of %s", shmemi_object_a(type));
    if (rc == 0)
        rc = need_common(pool);
    if (rc == 0)
        rc = check_head(pool, record.offset - pool->payload_at, type, &place);
    if (rc == 0)
        rc = make_handle(pool, type, &place, out);
    if (rc == 0 && attached)
        pool->imported = true;
    else if (attached)
        shmemi_pool_close(pool);
    return rc;
}

/* ---- what there is ---- */

static int type_at(struct shmemi_pool *pool, uint64_t offset)
{
    struct shmemi_pool_block block;
    if (shmemi_pool_look(pool, offset, &block) < 0 || block.offset != offset ||
        block.bytes < sizeof(struct shmemi_object_head))
        return 0;
    const struct shmemi_object_head *head = (const void *)(pool->payload + offset);
    uint32_t life = (uint32_t)atomic_load_explicit(&head->life, memory_order_acquire); /* [object] */
    uint32_t type = life & 255;
    return (life & ~UINT32_C(255)) == SHMEMI_OBJECT_MARK && type < SHMEMI_OBJECT_TYPES ? (int)type : 0;
}

int shmemi_object_what(struct shmemi_pool *pool, const char *name)
{
    struct shmemi_named named;
    int rc = shmemi_pool_enter(pool);
    if (rc < 0)
        return rc;
    if (!pool->private_view && shmemi_pool_need_writable(pool) == 0)
        bury(pool, name);
    rc = shmemi_pool_find_name(pool, name, &named);
    return rc == 0 && is_object(&named) ? type_at(pool, (uint64_t)((char *)named.address - pool->payload)) : rc;
}

int shmemi_object_what_key(const char *text, struct shmemi_pool **out)
{
    struct shmemi_key key;
    struct shmemi_key_record record;
    int rc = shmemi_key_parse(text, &key);
    *out = rc < 0 ? NULL : shmemi_pool_of_share(key.share);
    if (rc == 0 && (!*out || !(*out)->share))
        rc = shmemi_fail(-ENOKEY, "this process is not attached to the key's pool");
    if (rc < 0 || (rc = shmemi_pool_enter(*out)) < 0 || (rc = shmemi_share_look_up((*out)->share, &key, &record)) < 0)
        return rc;
    if (!(record.flags & SHMEMI_KEY_POOL) || record.segment != SHMEMI_POOL_PAYLOAD ||
        record.offset < (*out)->payload_at)
        return 0;
    return type_at(*out, record.offset - (*out)->payload_at);
}

int shmemi_object_enter(struct shmemi_object *object, enum shmemi_object_type type)
{
    if (shmemi_object_ready(object, type))
        return 0;
    /* relaxed: see shmemi_object_ready() */
    uint32_t mark = object ? atomic_load_explicit(&object->mark, memory_order_relaxed) : SHMEMI_OBJECT_CLOSED;
    bool forked = mark == SHMEMI_OBJECT_FORKED && object->type == type;
    if (mark == SHMEMI_OBJECT_ENDED && object->type == type)
        return shmemi_fail(-ENOENT, "the %s was on the symmetric heap of a job that this process is no longer in",
                           shmemi_object_word(type));
    if (!forked && mark != SHMEMI_OBJECT_OPEN + (uint32_t)type)
        return shmemi_fail(-EBADF,
                           !object                        ? "the %s is NULL"
                           : mark == SHMEMI_OBJECT_CLOSED ? "the handle of the %s was closed"
                                                          : "this is no handle of the type '%s'",
                           shmemi_object_word(type));
    int rc = forked ? object->home->calls->enter(object->home) : 0;
    if (rc < 0)
        return rc;
    if (forked)
        open_handle(object);
    /* [object] acquire: pairs with the release in shmemi_object_init(). */
    if (atomic_load_explicit(&object->head->life, memory_order_acquire) != object->site.life)
        return shmemi_fail(-ENOENT, "the %s was destroyed", shmemi_object_word(type));
    return 0;
}

/* Takes the handle off its home's list. */
static void retire(struct shmemi_object *object)
{
    struct shmemi_object **at = &object->home->handles;
    shmemi_pool_lock_all();
    while (*at && *at != object)
        at = &(*at)->next;
    if (*at)
        *at = object->next;
    shmemi_pool_unlock_all();
    shmemi_kept_put(&closed, object);
}

int shmemi_object_close(struct shmemi_object *object)
{
    /* relaxed: see shmemi_object_ready() */
    uint32_t mark = object ? atomic_load_explicit(&object->mark, memory_order_relaxed) : SHMEMI_OBJECT_CLOSED;
    if (mark != SHMEMI_OBJECT_FORKED && mark != SHMEMI_OBJECT_ENDED &&
        (!object || mark != SHMEMI_OBJECT_OPEN + (uint32_t)object->type))
        return shmemi_fail(-EBADF, object ? "this is no handle (or it was closed)" : "the handle is NULL");
    struct shmemi_object_home *home = object->home;
    atomic_store_explicit(&object->mark, SHMEMI_OBJECT_CLOSED, memory_order_relaxed); /* see shmemi_object_ready() */
    retire(object);
    /* relaxed: a count of this process; closing the pool while others use it is a mistake anyway */
    unsigned left = atomic_fetch_sub_explicit(&home->open, 1, memory_order_relaxed) - 1;
    return left == 0 ? home->calls->last_closed(home) : 0;
}

int shmemi_object_destroy(struct shmemi_object *object)
{
    struct shmemi_object_head *head = object->head;
    uint64_t life = object->site.life;
    /* [object] acquire and release: one caller destroys it, and nobody uses it from then on. Who comes by after this
       process was killed on the way finishes it: see bury(). */
    if (!atomic_compare_exchange_strong_explicit(&head->life, &life, shmemi_holder(object->domain),
                                                 memory_order_acq_rel, memory_order_relaxed))
        return shmemi_fail(-ENOENT, "the %s was destroyed already", shmemi_object_word(object->type));
    if (object->ending)
        object->ending(object->owner);
    shmemi_held_forget(head, (char *)object->shared + object->bytes);
    int rc = object->home->calls->give(object->home, head);
    int done = shmemi_object_close(object);
    return rc < 0 ? rc : done;
}

/* ---- who waits for whom ---- */

static const char wait_name[] = "shmem: who waits for whom";

static int clear_rows(void *rows, void *unused)
{
    (void)unused;
    memset(rows, 0, WAIT_ROWS * sizeof(struct shmemi_wait_row));
    return 0;
}

const struct shmemi_waits *shmemi_object_waits(struct shmemi_object *object)
{
    if (!object->home->waits.rows)
        object->home->calls->make_waits(object->home);
    return object->home->waits.rows ? &object->home->waits : NULL;
}

/* ---- pools as homes ---- */

static int enter_pool(struct shmemi_object_home *home)
{
    return shmemi_pool_enter(pool_at(home));
}

static int give_to_pool(struct shmemi_object_home *home, void *buffer)
{
    return shmemi_pool_free(pool_at(home), buffer);
}

static int leave_pool(struct shmemi_object_home *home)
{
    return pool_at(home)->imported ? shmemi_pool_close(pool_at(home)) : 0;
}

static bool name_of_waited(const struct shmemi_waits *waits, uint64_t offset, char *out, size_t size)
{
    struct shmemi_object_home *home =
        (struct shmemi_object_home *)((char *)(uintptr_t)waits - offsetof(struct shmemi_object_home, waits));
    struct shmemi_named named;
    uint64_t cursor = 0;
    while (shmemi_pool_next_name(pool_at(home), &cursor, &named) == 1) {
        uint64_t begin = (uint64_t)((char *)named.address - waits->base);
        if (offset < begin || offset - begin >= named.bytes)
            continue;
        snprintf(out, size, "%.*s", (int)size - 1, named.name);
        return true;
    }
    return false;
}

static void make_waits(struct shmemi_object_home *home)
{
    struct shmemi_pool *pool = pool_at(home);
    struct shmemi_naming naming = {.name = wait_name, .size = WAIT_ROWS * sizeof(struct shmemi_wait_row)};
    struct shmemi_named named;
    void *rows = NULL;
    int rc = 0;
    naming.init = clear_rows;
    for (int i = 0; i < 1000 && !rows && (rc == 0 || rc == -EEXIST); i++) {
        if (rc == -EEXIST) /* somebody is just making it */
            usleep(1000);
        rc = shmemi_pool_alloc_named(pool, &naming, &rows);
        if (rc == -EEXIST && shmemi_pool_find_name(pool, wait_name, &named) == 0 && named.bytes >= naming.size)
            rows = named.address; /* not what somebody else calls so, and has less room */
    }
    if (!rows || ((uintptr_t)rows & 63))
        return;
    home->waits = (struct shmemi_waits){.rows = rows,
                                        .count = WAIT_ROWS,
                                        .base = pool->payload,
                                        .bytes = shmemi_units_count(pool) * SHMEMI_UNIT,
                                        .name = name_of_waited};
}

static const struct shmemi_object_home_calls of_pools = {
    .enter = enter_pool, .give = give_to_pool, .last_closed = leave_pool, .make_waits = make_waits};

void shmemi_object_settle(struct shmemi_pool *pool)
{
    pool->objects.calls = &of_pools;
    pool->objects.domain = &pool->domain;
}
