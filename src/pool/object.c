// SPDX-License-Identifier: Apache-2.0
// Handles of objects, and the buffers that hold them.
#include "object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "pool_internal.h"

enum { HANDLE = 0x4a424f53, VERSION = 1 };

_Static_assert(sizeof(struct shmemi_object_head) == SHMEMI_LINE, "what follows has a line of its own");

const char *shmemi_object_word(enum shmemi_object_type type)
{
    static const char *const words[SHMEMI_OBJECT_TYPES] = {
        [SHMEMI_OBJECT_MUTEX] = "mutex",         [SHMEMI_OBJECT_RWLOCK] = "reader-writer lock",
        [SHMEMI_OBJECT_SEMAPHORE] = "semaphore", [SHMEMI_OBJECT_CONDITION] = "condition variable",
        [SHMEMI_OBJECT_BARRIER] = "barrier",     [SHMEMI_OBJECT_EVENT] = "event",
        [SHMEMI_OBJECT_ATOMIC] = "atomic word",  [SHMEMI_OBJECT_QUEUE] = "queue"};
    return type < SHMEMI_OBJECT_TYPES && words[type] ? words[type] : "unknown object";
}

static void init_head(struct shmemi_object_head *head, const struct shmemi_object_spec *spec)
{
    memset(head, 0, sizeof *head + spec->bytes);
    head->version = VERSION;
    head->bytes = sizeof *head + spec->bytes;
    if (spec->init)
        spec->init(head + 1, spec->context);
    /* [object] release: pairs with the acquire in shmemi_object_enter() and check_head(): it is whole. */
    atomic_store_explicit(&head->type, SHMEMI_OBJECT_MARK | spec->type, memory_order_release);
}

static int init_named(void *buffer, void *context)
{
    init_head(buffer, context);
    return 0;
}

static int make_handle(struct shmemi_pool *pool, enum shmemi_object_type type, void *buffer, struct shmemi_object **out)
{
    struct shmemi_object *object = calloc(1, sizeof *object);
    if (!object)
        return shmemi_fail(-ENOMEM, "no private memory for a handle");
    struct shmemi_object_head *head = buffer;
    *object = (struct shmemi_object){.mark = HANDLE,
                                     .type = type,
                                     .pool = pool,
                                     .domain = &pool->domain,
                                     .shared = head + 1,
                                     .head = head,
                                     .bytes = head->bytes - sizeof *head};
    atomic_fetch_add_explicit(&pool->objects, 1, memory_order_relaxed); /* a count of this process */
    *out = object;
    return 0;
}

int shmemi_object_create(struct shmemi_pool *pool, const struct shmemi_object_spec *spec, struct shmemi_object **out)
{
    void *buffer;
    size_t bytes = sizeof(struct shmemi_object_head) + spec->bytes;
    struct shmemi_naming naming = {.name = spec->name,
                                   .size = bytes,
                                   .align = SHMEMI_LINE,
                                   .init = init_named,
                                   .context = (void *)(uintptr_t)spec};
    int rc;
    if (spec->name)
        rc = shmemi_pool_alloc_named(pool, &naming, &buffer);
    else if ((rc = shmemi_pool_alloc(pool, bytes, SHMEMI_LINE, SHMEMI_ALLOC_KEEP, &buffer)) == 0)
        init_head(buffer, spec);
    if (rc < 0)
        return shmemi_fail_in(rc, "cannot make a %s", shmemi_object_word(spec->type));
    return make_handle(pool, spec->type, buffer, out);
}

/* What lies there is perhaps no object, or was written by anybody. */
static int check_head(struct shmemi_pool *pool, uint64_t offset, enum shmemi_object_type type, void **buffer)
{
    struct shmemi_pool_block block;
    if (shmemi_pool_look(pool, offset, &block) < 0 || block.offset != offset ||
        block.bytes < sizeof(struct shmemi_object_head))
        return shmemi_fail(-ENOENT, "the %s is gone", shmemi_object_word(type));
    struct shmemi_object_head *head = (struct shmemi_object_head *)(void *)(pool->payload + offset);
    uint32_t found = atomic_load_explicit(&head->type, memory_order_acquire); /* [object] */
    if ((found & ~UINT32_C(255)) != SHMEMI_OBJECT_MARK || (found & 255) != type)
        return shmemi_fail(
            -EINVAL, "it is %s%s, not a %s", (found & ~UINT32_C(255)) == SHMEMI_OBJECT_MARK ? "a " : "a buffer",
            (found & ~UINT32_C(255)) == SHMEMI_OBJECT_MARK ? shmemi_object_word((enum shmemi_object_type)(found & 255))
                                                           : "",
            shmemi_object_word(type));
    if (head->version != VERSION || head->bytes < sizeof *head || head->bytes > block.bytes)
        return shmemi_fail(-EPROTO, "the %s has another layout", shmemi_object_word(type));
    *buffer = head;
    return 0;
}

int shmemi_object_find(struct shmemi_pool *pool, const char *name, enum shmemi_object_type type,
                       struct shmemi_object **out)
{
    struct shmemi_named named;
    void *buffer;
    int rc = shmemi_pool_find_name(pool, name, &named);
    if (rc == 0)
        rc = check_head(pool, (uint64_t)((char *)named.address - pool->payload), type, &buffer);
    return rc < 0 ? rc : make_handle(pool, type, buffer, out);
}

int shmemi_object_export(struct shmemi_object *object, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_pool *pool = object->pool;
    if (!pool->share)
        return shmemi_fail(-EROFS, "nothing can be exported from a file that is not open for writing by all ('%s')",
                           pool->path);
    uint64_t offset = (uint64_t)((char *)object->head - pool->payload);
    struct shmemi_export what = {.segment = SHMEMI_POOL_PAYLOAD,
                                 .offset = pool->payload_at + offset,
                                 .bytes = object->head->bytes,
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
    void *buffer;
    int rc = shmemi_key_parse(text, &key);
    if (rc < 0 || (rc = pool_of_key(text, &key, &pool, &attached)) < 0)
        return rc;
    rc = pool->share ? shmemi_share_look_up(pool->share, &key, &record)
                     : shmemi_fail(-EROFS, "the file '%s' is not open for writing by all", pool->path);
    if (rc == 0 && (record.segment != SHMEMI_POOL_PAYLOAD || record.offset < pool->payload_at))
        rc = shmemi_fail(-EINVAL, "the key is not one of a %s", shmemi_object_word(type));
    if (rc == 0)
        rc = check_head(pool, record.offset - pool->payload_at, type, &buffer);
    if (rc == 0)
        rc = make_handle(pool, type, buffer, out);
    if (rc == 0)
        (*out)->attached = attached;
    else if (attached)
        shmemi_pool_close(pool);
    return rc;
}

int shmemi_object_enter(struct shmemi_object *object, enum shmemi_object_type type)
{
    if (shmemi_unlikely(!object || object->mark != HANDLE || object->type != type))
        return shmemi_fail(-EBADF, object ? "this is no handle of a %s (or it was closed)" : "the %s is NULL",
                           shmemi_object_word(type));
    int rc = shmemi_pool_enter(object->pool);
    if (shmemi_unlikely(rc < 0))
        return rc;
    /* [object] acquire: pairs with the release in init_head(). */
    if (shmemi_unlikely(atomic_load_explicit(&object->head->type, memory_order_acquire) !=
                        (SHMEMI_OBJECT_MARK | (uint32_t)type)))
        return shmemi_fail(-ENOENT, "the %s was destroyed", shmemi_object_word(type));
    return 0;
}

int shmemi_object_close(struct shmemi_object *object)
{
    if (!object || object->mark != HANDLE)
        return shmemi_fail(-EBADF, "this is no handle (or it was closed)");
    struct shmemi_pool *pool = object->pool;
    bool attached = object->attached;
    object->mark = 0;
    free(object);
    /* relaxed: a count of this process; closing the pool while others use it is a mistake anyway */
    atomic_fetch_sub_explicit(&pool->objects, 1, memory_order_relaxed);
    return attached ? shmemi_pool_close(pool) : 0;
}

int shmemi_object_destroy(struct shmemi_object *object)
{
    struct shmemi_object_head *head = object->head;
    struct shmemi_pool *pool = object->pool;
    uint32_t live = SHMEMI_OBJECT_MARK | (uint32_t)object->type;
    /* [object] acquire and release: one caller destroys it, and nobody uses it from then on. */
    if (!atomic_compare_exchange_strong_explicit(&head->type, &live, 0, memory_order_acq_rel, memory_order_relaxed))
        return shmemi_fail(-ENOENT, "the %s was destroyed already", shmemi_object_word(object->type));
    int rc = shmemi_pool_free(pool, head);
    int closed = shmemi_object_close(object);
    return rc < 0 ? rc : closed;
}
