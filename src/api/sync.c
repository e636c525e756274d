// SPDX-License-Identifier: Apache-2.0
// Synchronisation of the extension interface: handles and arguments are checked, and passed on to src/sync. What needs
// no waiting is done here, inlined: a call more would cost as much.
#include "shmemx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/error.h"
#include "named.h"
#include "objects.h"
#include "sync/barrier.h"
#include "sync/condition.h"
#include "sync/event.h"
#include "sync/mutex.h"
#include "sync/rwlock.h"
#include "sync/semaphore.h"
#include "sync/word.h"

enum { SEATS = 32, SEATS_MOST = 1024, WAITERS = 128 };

static int null(const char *what)
{
    return shmemi_fail(-EINVAL, "%s is NULL", what);
}

/* A handle of whatever type. */
SHMEMI_INLINE struct shmemi_object *inner(void *handle)
{
    return handle;
}

/* ---- what all objects have in common ---- */

/* What the object's memory says of its size is checked once, and then only the handle is believed. */
static int count_parts(struct shmemi_object *object)
{
    const void *shared = object->shared;
    size_t bytes = object->bytes, fixed, each = 1, parts = 0;
    switch (object->type) {
    case SHMEMI_OBJECT_MUTEX:
        fixed = sizeof(struct shmemi_mutex);
        break;
    case SHMEMI_OBJECT_RWLOCK:
        fixed = sizeof(struct shmemi_rwlock);
        each = sizeof(struct shmemi_seat);
        break;
    case SHMEMI_OBJECT_SEMAPHORE:
        fixed = sizeof(struct shmemi_semaphore);
        each = sizeof(uint64_t);
        break;
    case SHMEMI_OBJECT_CONDITION:
        fixed = sizeof(struct shmemi_condition);
        each = sizeof(struct shmemi_waiter);
        break;
    case SHMEMI_OBJECT_BARRIER:
        fixed = sizeof(struct shmemi_barrier);
        break;
    case SHMEMI_OBJECT_EVENT:
        fixed = sizeof(struct shmemi_event);
        break;
    default:
        fixed = sizeof(struct shmemi_word);
    }
    bool sound = bytes >= fixed && (bytes - fixed) % each == 0;
    if (sound && each > 1)
        parts = (bytes - fixed) / each;
    if (sound && object->type == SHMEMI_OBJECT_RWLOCK)
        sound = parts > 0 && parts <= SEATS_MOST && (parts & (parts - 1)) == 0;
    if (sound && object->type == SHMEMI_OBJECT_BARRIER) {
        while (parts <= SHMEMI_BARRIER_MOST && shmemi_barrier_bytes((unsigned)parts) < bytes)
            parts++;
        sound = parts > 0 && parts <= SHMEMI_BARRIER_MOST && shmemi_barrier_bytes((unsigned)parts) == bytes;
    }
    if (sound && object->type == SHMEMI_OBJECT_ATOMIC) {
        parts = *(const volatile uint32_t *)&((const struct shmemi_word *)shared)->width;
        sound = parts == 4 || parts == 8;
    }
    object->count = (uint32_t)parts;
    return sound ? 0 : shmemi_fail(-EPROTO, "the %s is damaged", shmemi_object_word(object->type));
}

/* SHMEM_DEBUG looks for cycles of waits. */
static bool debugging(void)
{
    const char *text = getenv("SHMEM_DEBUG");
    text = text ? text : getenv("SMA_DEBUG");
    return text && *text && strcmp(text, "0") != 0;
}

static int made(struct shmemi_object *object, void **out)
{
    int rc = count_parts(object);
    if (rc < 0) {
        shmemi_object_close(object);
        return rc;
    }
    if (debugging())
        object->site.waits = shmemi_object_waits(object);
    *out = object;
    return 0;
}

enum { SAID = 96 }; /* of a spec */

static int create(shmemx_pool_t pool, const struct shmemi_object_spec *spec, void **out)
{
    struct shmemi_object *object;
    int rc = out ? shmemi_make_object(pool, spec, &object) : null("out");
    return rc < 0 ? rc : made(object, out);
}

static int find(shmemx_pool_t pool, const char *name, enum shmemi_object_type type, void **out)
{
    struct shmemi_object *object;
    int rc = name && out ? 0 : null(name ? "out" : "name");
    if (rc == 0)
        rc = shmemi_find_object(pool, name, type, &object);
    return rc < 0 ? rc : made(object, out);
}

static int export(struct shmemi_object *object, enum shmemi_object_type type, char key[SHMEMX_KEY_TEXT])
{
    int rc = key ? shmemi_object_enter(object, type) : null("key");
    return rc < 0 ? rc : shmemi_object_export(object, key);
}

static int import(const char *key, enum shmemi_object_type type, void **out)
{
    struct shmemi_object *object;
    int rc = key && out ? 0 : null(key ? "out" : "key");
    if (rc == 0)
        rc = shmemi_object_import(key, type, &object);
    return rc < 0 ? rc : made(object, out);
}

static int on(struct shmemi_object *object, enum shmemi_object_type type, int pe, void **out)
{
    struct shmemi_object *there;
    int rc = out ? shmemi_object_enter(object, type) : null("out");
    if (rc == 0)
        rc = shmemi_symmetric_on(object, pe, &there);
    return rc < 0 ? rc : made(there, out);
}

static int close_handle(struct shmemi_object *object, enum shmemi_object_type type)
{
    int rc = shmemi_object_enter(object, type);
    return rc == -EBADF ? rc : shmemi_object_close(object); /* also of one that was destroyed */
}

static int check_timeout(double timeout)
{
    return timeout == timeout ? 0 : shmemi_fail(-EINVAL, "timeout is no number");
}

/* Before a wait. */
static int enter(struct shmemi_object *object, enum shmemi_object_type type, double timeout)
{
    int rc = shmemi_object_enter(object, type);
    return rc < 0 ? rc : check_timeout(timeout);
}

/* ---- mutexes ---- */

int shmemx_mutex_create(shmemx_pool_t pool, const char *name, shmemx_mutex_t *out)
{
    const struct shmemi_object_spec spec = {
        .type = SHMEMI_OBJECT_MUTEX, .name = name, .bytes = sizeof(struct shmemi_mutex)};
    return NAMED(create(pool, &spec, (void **)(void *)out));
}

int shmemx_mutex_find(shmemx_pool_t pool, const char *name, shmemx_mutex_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_MUTEX, (void **)(void *)out));
}

int shmemx_mutex_export(shmemx_mutex_t mutex, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(mutex), SHMEMI_OBJECT_MUTEX, key));
}

int shmemx_mutex_import(const char *key, shmemx_mutex_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_MUTEX, (void **)(void *)out));
}

int shmemx_mutex_on(shmemx_mutex_t mutex, int pe, shmemx_mutex_t *out)
{
    return NAMED(on(inner(mutex), SHMEMI_OBJECT_MUTEX, pe, (void **)(void *)out));
}

int shmemx_mutex_close(shmemx_mutex_t mutex)
{
    return NAMED(close_handle(inner(mutex), SHMEMI_OBJECT_MUTEX));
}

/* One whose holder had died is poisoned by this, as by anybody who unlocks without repairing. */
static void give_mutex_back(struct shmemi_object *object)
{
    shmemi_mutex_unlock(&object->site, object->shared);
}

int shmemx_mutex_destroy(shmemx_mutex_t mutex)
{
    struct shmemi_object *object = inner(mutex);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_MUTEX);
    if (rc == 0)
        rc = shmemi_mutex_retire(&object->site, object->shared);
    return NAMED(shmemi_end_object(object, rc, give_mutex_back));
}

static SHMEMI_COLD int lock_slowly(struct shmemi_object *object, double timeout)
{
    int rc = enter(object, SHMEMI_OBJECT_MUTEX, timeout);
    if (rc == 0)
        rc = shmemi_mutex_lock(&object->site, object->shared, shmemi_deadline(timeout));
    return shmemi_named("shmemx_mutex_lock", rc);
}

int shmemx_mutex_lock(shmemx_mutex_t mutex, double timeout)
{
    struct shmemi_object *object = inner(mutex);
    if (shmemi_likely(shmemi_object_ready(object, SHMEMI_OBJECT_MUTEX) && timeout == timeout &&
                      shmemi_mutex_take_free(object->shared, shmemi_site_holder(&object->site))))
        return 0;
    return lock_slowly(object, timeout);
}

int shmemx_mutex_trylock(shmemx_mutex_t mutex)
{
    struct shmemi_object *object = inner(mutex);
    if (shmemi_likely(shmemi_object_ready(object, SHMEMI_OBJECT_MUTEX) &&
                      shmemi_mutex_take_free(object->shared, shmemi_site_holder(&object->site))))
        return 0;
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_MUTEX);
    return NAMED(rc < 0 ? rc : shmemi_mutex_try(&object->site, object->shared));
}

static SHMEMI_COLD int unlock_slowly(struct shmemi_object *object)
{
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_MUTEX);
    return shmemi_named("shmemx_mutex_unlock", rc < 0 ? rc : shmemi_mutex_unlock(&object->site, object->shared));
}

int shmemx_mutex_unlock(shmemx_mutex_t mutex)
{
    struct shmemi_object *object = inner(mutex);
    if (shmemi_likely(shmemi_object_ready(object, SHMEMI_OBJECT_MUTEX) &&
                      shmemi_mutex_give_sound(object->shared, shmemi_site_holder(&object->site))))
        return 0;
    return unlock_slowly(object);
}

int shmemx_mutex_consistent(shmemx_mutex_t mutex)
{
    struct shmemi_object *object = inner(mutex);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_MUTEX);
    return NAMED(rc < 0 ? rc : shmemi_mutex_consistent(&object->site, object->shared));
}

int shmemx_mutex_locked(shmemx_mutex_t mutex)
{
    struct shmemi_object *object = inner(mutex);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_MUTEX);
    return NAMED(rc < 0 ? rc : shmemi_mutex_held(&object->site, object->shared));
}

/* ---- locks for readers and writers ---- */

static struct shmemi_rw rw_of(const struct shmemi_object *object)
{
    return (struct shmemi_rw){.site = &object->site, .lock = object->shared, .seats = object->count};
}

static int create_rwlock(shmemx_pool_t pool, const char *name, unsigned seats, shmemx_rwlock_t *out)
{
    unsigned rounded = 1;
    if (seats > SEATS_MOST)
        return shmemi_fail(-EINVAL, "seats is %u: at most %d are possible", seats, SEATS_MOST);
    while (rounded < (seats ? seats : SEATS))
        rounded *= 2;
    char said[SAID];
    snprintf(said, sizeof said, "%u seats", rounded);
    const struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_RWLOCK,
                                            .name = name,
                                            .bytes =
                                                sizeof(struct shmemi_rwlock) + rounded * sizeof(struct shmemi_seat),
                                            .said = said};
    return create(pool, &spec, (void **)(void *)out);
}

int shmemx_rwlock_create(shmemx_pool_t pool, const char *name, unsigned seats, shmemx_rwlock_t *out)
{
    return NAMED(create_rwlock(pool, name, seats, out));
}

int shmemx_rwlock_find(shmemx_pool_t pool, const char *name, shmemx_rwlock_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_RWLOCK, (void **)(void *)out));
}

int shmemx_rwlock_export(shmemx_rwlock_t rwlock, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(rwlock), SHMEMI_OBJECT_RWLOCK, key));
}

int shmemx_rwlock_import(const char *key, shmemx_rwlock_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_RWLOCK, (void **)(void *)out));
}

int shmemx_rwlock_on(shmemx_rwlock_t rwlock, int pe, shmemx_rwlock_t *out)
{
    return NAMED(on(inner(rwlock), SHMEMI_OBJECT_RWLOCK, pe, (void **)(void *)out));
}

int shmemx_rwlock_close(shmemx_rwlock_t rwlock)
{
    return NAMED(close_handle(inner(rwlock), SHMEMI_OBJECT_RWLOCK));
}

static int retire_rwlock(const struct shmemi_object *object)
{
    struct shmemi_rw rw = rw_of(object);
    return shmemi_rwlock_retire(&rw);
}

static void give_rwlock_back(struct shmemi_object *object)
{
    struct shmemi_rw rw = rw_of(object);
    shmemi_rwlock_unlock(&rw);
}

int shmemx_rwlock_destroy(shmemx_rwlock_t rwlock)
{
    struct shmemi_object *object = inner(rwlock);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_RWLOCK);
    if (rc == 0)
        rc = retire_rwlock(object);
    return NAMED(shmemi_end_object(object, rc, give_rwlock_back));
}

static SHMEMI_COLD int read_slowly(struct shmemi_object *object, double timeout)
{
    int rc = enter(object, SHMEMI_OBJECT_RWLOCK, timeout);
    if (rc < 0)
        return shmemi_named("shmemx_rwlock_rdlock", rc);
    struct shmemi_rw rw = rw_of(object);
    return shmemi_named("shmemx_rwlock_rdlock", shmemi_rwlock_read(&rw, shmemi_deadline(timeout)));
}

int shmemx_rwlock_rdlock(shmemx_rwlock_t rwlock, double timeout)
{
    struct shmemi_object *object = inner(rwlock);
    if (shmemi_likely(shmemi_object_ready(object, SHMEMI_OBJECT_RWLOCK) && timeout == timeout &&
                      shmemi_rwlock_read_free(object->shared, object->count, shmemi_site_holder(&object->site))))
        return 0;
    return read_slowly(object, timeout);
}

int shmemx_rwlock_tryrdlock(shmemx_rwlock_t rwlock)
{
    struct shmemi_object *object = inner(rwlock);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_RWLOCK);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_rw rw = rw_of(object);
    return NAMED(shmemi_rwlock_try_read(&rw));
}

int shmemx_rwlock_wrlock(shmemx_rwlock_t rwlock, double timeout)
{
    struct shmemi_object *object = inner(rwlock);
    int rc = enter(object, SHMEMI_OBJECT_RWLOCK, timeout);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_rw rw = rw_of(object);
    return NAMED(shmemi_rwlock_write(&rw, shmemi_deadline(timeout)));
}

int shmemx_rwlock_trywrlock(shmemx_rwlock_t rwlock)
{
    struct shmemi_object *object = inner(rwlock);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_RWLOCK);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_rw rw = rw_of(object);
    return NAMED(shmemi_rwlock_try_write(&rw));
}

static SHMEMI_COLD int rwunlock_slowly(struct shmemi_object *object)
{
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_RWLOCK);
    if (rc < 0)
        return shmemi_named("shmemx_rwlock_unlock", rc);
    struct shmemi_rw rw = rw_of(object);
    return shmemi_named("shmemx_rwlock_unlock", shmemi_rwlock_unlock(&rw));
}

int shmemx_rwlock_unlock(shmemx_rwlock_t rwlock)
{
    struct shmemi_object *object = inner(rwlock);
    if (shmemi_likely(shmemi_object_ready(object, SHMEMI_OBJECT_RWLOCK) &&
                      shmemi_rwlock_give_seat(object->shared, object->count, shmemi_site_holder(&object->site))))
        return 0;
    return rwunlock_slowly(object);
}

int shmemx_rwlock_consistent(shmemx_rwlock_t rwlock)
{
    struct shmemi_object *object = inner(rwlock);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_RWLOCK);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_rw rw = rw_of(object);
    return NAMED(shmemi_rwlock_consistent(&rw));
}

int shmemx_rwlock_locked(shmemx_rwlock_t rwlock, unsigned *readers, int *writer)
{
    struct shmemi_object *object = inner(rwlock);
    bool writes;
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_RWLOCK);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_rw rw = rw_of(object);
    unsigned count = shmemi_rwlock_look(&rw, &writes);
    if (readers)
        *readers = count;
    if (writer)
        *writer = writes;
    return 0;
}

/* ---- semaphores ---- */

struct semaphore_begin {
    unsigned value, max;
};

static void begin_semaphore(void *shared, void *context)
{
    const struct semaphore_begin *begin = context;
    struct shmemi_semaphore *semaphore = shared;
    atomic_store_explicit(&semaphore->word, begin->value, memory_order_relaxed); /* nobody has it yet */
    semaphore->most = begin->max;
}

static int create_semaphore(shmemx_pool_t pool, const char *name, unsigned value, unsigned max, bool owned,
                            shmemx_semaphore_t *out)
{
    unsigned most = max ? max : owned ? value : SHMEMI_SEMAPHORE_MOST;
    if (owned && (value < 1 || value > SHMEMI_SEMAPHORE_OWNED_MOST))
        return shmemi_fail(-EINVAL, "value is %u: an owned semaphore has 1 to %d units", value,
                           SHMEMI_SEMAPHORE_OWNED_MOST);
    if (owned && most != value)
        return shmemi_fail(-EINVAL, "max is %u and value %u: all units of an owned semaphore are there from the start",
                           max, value);
    if (most > SHMEMI_SEMAPHORE_MOST || value > most)
        return shmemi_fail(-EINVAL, "value is %u and max %u: max must be at least value, and at most %d", value, max,
                           SHMEMI_SEMAPHORE_MOST);
    struct semaphore_begin begin = {.value = owned ? 0 : value, .max = most};
    char said[SAID];
    if (max || owned)
        snprintf(said, sizeof said, "%u of at most %u units%s", value, most, owned ? ", owned" : "");
    else
        snprintf(said, sizeof said, "%u units", value);
    const struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_SEMAPHORE,
                                            .name = name,
                                            .bytes = sizeof(struct shmemi_semaphore) +
                                                     (owned ? value * sizeof(uint64_t) : 0),
                                            .init = begin_semaphore,
                                            .context = &begin,
                                            .said = said};
    return create(pool, &spec, (void **)(void *)out);
}

int shmemx_semaphore_create(shmemx_pool_t pool, const char *name, unsigned value, unsigned max, int owned,
                            shmemx_semaphore_t *out)
{
    return NAMED(create_semaphore(pool, name, value, max, owned != 0, out));
}

int shmemx_semaphore_find(shmemx_pool_t pool, const char *name, shmemx_semaphore_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_SEMAPHORE, (void **)(void *)out));
}

int shmemx_semaphore_export(shmemx_semaphore_t semaphore, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(semaphore), SHMEMI_OBJECT_SEMAPHORE, key));
}

int shmemx_semaphore_import(const char *key, shmemx_semaphore_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_SEMAPHORE, (void **)(void *)out));
}

int shmemx_semaphore_on(shmemx_semaphore_t semaphore, int pe, shmemx_semaphore_t *out)
{
    return NAMED(on(inner(semaphore), SHMEMI_OBJECT_SEMAPHORE, pe, (void **)(void *)out));
}

int shmemx_semaphore_close(shmemx_semaphore_t semaphore)
{
    return NAMED(close_handle(inner(semaphore), SHMEMI_OBJECT_SEMAPHORE));
}

static struct shmemi_sem sem_of(const struct shmemi_object *object)
{
    return (struct shmemi_sem){.site = &object->site, .semaphore = object->shared, .units = object->count};
}

static int retire_semaphore(const struct shmemi_object *object)
{
    struct shmemi_sem sem = sem_of(object);
    return shmemi_semaphore_retire(&sem);
}

int shmemx_semaphore_destroy(shmemx_semaphore_t semaphore)
{
    struct shmemi_object *object = inner(semaphore);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_SEMAPHORE);
    if (rc == 0)
        rc = retire_semaphore(object);
    return NAMED(shmemi_end_object(object, rc, NULL));
}

int shmemx_semaphore_wait(shmemx_semaphore_t semaphore, double timeout)
{
    struct shmemi_object *object = inner(semaphore);
    if (shmemi_likely(shmemi_object_ready(object, SHMEMI_OBJECT_SEMAPHORE) && timeout == timeout &&
                      object->count == 0 && shmemi_semaphore_take_free(object->shared)))
        return 0;
    int rc = enter(object, SHMEMI_OBJECT_SEMAPHORE, timeout);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_sem sem = sem_of(object);
    return NAMED(shmemi_semaphore_wait(&sem, shmemi_deadline(timeout)));
}

int shmemx_semaphore_trywait(shmemx_semaphore_t semaphore)
{
    struct shmemi_object *object = inner(semaphore);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_SEMAPHORE);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_sem sem = sem_of(object);
    return NAMED(shmemi_semaphore_try(&sem));
}

int shmemx_semaphore_post(shmemx_semaphore_t semaphore, unsigned count)
{
    struct shmemi_object *object = inner(semaphore);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_SEMAPHORE);
    if (rc == 0 && count == 0)
        rc = shmemi_fail(-EINVAL, "count is 0: at least one unit is needed");
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_sem sem = sem_of(object);
    return NAMED(shmemi_semaphore_post(&sem, count));
}

int shmemx_semaphore_value(shmemx_semaphore_t semaphore, unsigned *out)
{
    struct shmemi_object *object = inner(semaphore);
    int rc = out ? shmemi_object_enter(object, SHMEMI_OBJECT_SEMAPHORE) : null("out");
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_sem sem = sem_of(object);
    *out = shmemi_semaphore_value(&sem);
    return 0;
}

/* ---- condition variables ---- */

int shmemx_cond_create(shmemx_pool_t pool, const char *name, shmemx_cond_t *out)
{
    const struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_CONDITION,
                                            .name = name,
                                            .bytes = sizeof(struct shmemi_condition) +
                                                     WAITERS * sizeof(struct shmemi_waiter)};
    return NAMED(create(pool, &spec, (void **)(void *)out));
}

int shmemx_cond_find(shmemx_pool_t pool, const char *name, shmemx_cond_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_CONDITION, (void **)(void *)out));
}

int shmemx_cond_export(shmemx_cond_t cond, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(cond), SHMEMI_OBJECT_CONDITION, key));
}

int shmemx_cond_import(const char *key, shmemx_cond_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_CONDITION, (void **)(void *)out));
}

int shmemx_cond_on(shmemx_cond_t cond, int pe, shmemx_cond_t *out)
{
    return NAMED(on(inner(cond), SHMEMI_OBJECT_CONDITION, pe, (void **)(void *)out));
}

int shmemx_cond_close(shmemx_cond_t cond)
{
    return NAMED(close_handle(inner(cond), SHMEMI_OBJECT_CONDITION));
}

static struct shmemi_cond cond_of(const struct shmemi_object *object)
{
    return (struct shmemi_cond){.site = &object->site, .condition = object->shared, .waiters = object->count};
}

static int retire_cond(const struct shmemi_object *object)
{
    struct shmemi_cond cond = cond_of(object);
    return shmemi_condition_retire(&cond);
}

int shmemx_cond_destroy(shmemx_cond_t cond)
{
    struct shmemi_object *object = inner(cond);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_CONDITION);
    if (rc == 0)
        rc = retire_cond(object);
    return NAMED(shmemi_end_object(object, rc, NULL));
}

int shmemx_cond_wait(shmemx_cond_t cond, shmemx_mutex_t mutex, double timeout)
{
    struct shmemi_object *object = inner(cond), *with = inner(mutex);
    int rc = enter(object, SHMEMI_OBJECT_CONDITION, timeout);
    if (rc == 0)
        rc = shmemi_object_enter(with, SHMEMI_OBJECT_MUTEX);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_cond c = cond_of(object);
    return NAMED(shmemi_condition_wait(&c, &with->site, with->shared, shmemi_deadline(timeout)));
}

static int signal_cond(struct shmemi_object *object, void (*signal)(const struct shmemi_cond *cond))
{
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_CONDITION);
    if (rc < 0)
        return rc;
    struct shmemi_cond cond = cond_of(object);
    signal(&cond);
    return 0;
}

int shmemx_cond_signal(shmemx_cond_t cond)
{
    return NAMED(signal_cond(inner(cond), shmemi_condition_signal));
}

int shmemx_cond_broadcast(shmemx_cond_t cond)
{
    return NAMED(signal_cond(inner(cond), shmemi_condition_broadcast));
}

/* ---- barriers ---- */

static void begin_barrier(void *shared, void *context)
{
    struct shmemi_barrier *barrier = shared;
    /* relaxed: nobody has it yet */
    atomic_store_explicit(&barrier->word, shmemi_barrier_begin(*(const unsigned *)context), memory_order_relaxed);
}

static int create_barrier(shmemx_pool_t pool, const char *name, unsigned n, shmemx_barrier_t *out)
{
    if (n < 1 || n > SHMEMI_BARRIER_MOST)
        return shmemi_fail(-EINVAL, "n is %u: a barrier has 1 to %d threads", n, SHMEMI_BARRIER_MOST);
    char said[SAID];
    snprintf(said, sizeof said, "of %u threads", n);
    const struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_BARRIER,
                                            .name = name,
                                            .bytes = shmemi_barrier_bytes(n),
                                            .init = begin_barrier,
                                            .context = &n,
                                            .said = said};
    return create(pool, &spec, (void **)(void *)out);
}

int shmemx_barrier_create(shmemx_pool_t pool, const char *name, unsigned n, shmemx_barrier_t *out)
{
    return NAMED(create_barrier(pool, name, n, out));
}

int shmemx_barrier_find(shmemx_pool_t pool, const char *name, shmemx_barrier_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_BARRIER, (void **)(void *)out));
}

int shmemx_barrier_export(shmemx_barrier_t barrier, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(barrier), SHMEMI_OBJECT_BARRIER, key));
}

int shmemx_barrier_import(const char *key, shmemx_barrier_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_BARRIER, (void **)(void *)out));
}

int shmemx_barrier_on(shmemx_barrier_t barrier, int pe, shmemx_barrier_t *out)
{
    return NAMED(on(inner(barrier), SHMEMI_OBJECT_BARRIER, pe, (void **)(void *)out));
}

int shmemx_barrier_close(shmemx_barrier_t barrier)
{
    return NAMED(close_handle(inner(barrier), SHMEMI_OBJECT_BARRIER));
}

static struct shmemi_bar bar_of(const struct shmemi_object *object)
{
    return (struct shmemi_bar){.site = &object->site, .barrier = object->shared, .seats = object->count};
}

static int retire_barrier(const struct shmemi_object *object)
{
    struct shmemi_bar bar = bar_of(object);
    return shmemi_barrier_retire(&bar);
}

int shmemx_barrier_destroy(shmemx_barrier_t barrier)
{
    struct shmemi_object *object = inner(barrier);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_BARRIER);
    if (rc == 0)
        rc = retire_barrier(object);
    return NAMED(shmemi_end_object(object, rc, NULL));
}

int shmemx_barrier_wait(shmemx_barrier_t barrier, double timeout)
{
    struct shmemi_object *object = inner(barrier);
    int rc = enter(object, SHMEMI_OBJECT_BARRIER, timeout);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_bar bar = bar_of(object);
    return NAMED(shmemi_barrier_wait(&bar, shmemi_deadline(timeout)));
}

int shmemx_barrier_state(shmemx_barrier_t barrier, unsigned *n, unsigned *waiting)
{
    struct shmemi_object *object = inner(barrier);
    unsigned ignored;
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_BARRIER);
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_bar bar = bar_of(object);
    unsigned expected = shmemi_barrier_look(&bar, waiting ? waiting : &ignored);
    if (n)
        *n = expected;
    return 0;
}

/* ---- events ---- */

struct event_begin {
    bool automatic, set;
};

static void begin_event(void *shared, void *context)
{
    const struct event_begin *begin = context;
    struct shmemi_event *event = shared;
    event->automatic = begin->automatic;
    atomic_store_explicit(&event->word, begin->set ? SHMEMI_EVENT_SET : 0,
                          memory_order_relaxed); /* nobody has it yet */
}

int shmemx_event_create(shmemx_pool_t pool, const char *name, int auto_reset, int set, shmemx_event_t *out)
{
    struct event_begin begin = {.automatic = auto_reset != 0, .set = set != 0};
    char said[SAID];
    snprintf(said, sizeof said, "%sset%s", set ? "" : "not ", auto_reset ? ", resets itself" : "");
    const struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_EVENT,
                                            .name = name,
                                            .bytes = sizeof(struct shmemi_event),
                                            .init = begin_event,
                                            .context = &begin,
                                            .said = said};
    return NAMED(create(pool, &spec, (void **)(void *)out));
}

int shmemx_event_find(shmemx_pool_t pool, const char *name, shmemx_event_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_EVENT, (void **)(void *)out));
}

int shmemx_event_export(shmemx_event_t event, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(event), SHMEMI_OBJECT_EVENT, key));
}

int shmemx_event_import(const char *key, shmemx_event_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_EVENT, (void **)(void *)out));
}

int shmemx_event_on(shmemx_event_t event, int pe, shmemx_event_t *out)
{
    return NAMED(on(inner(event), SHMEMI_OBJECT_EVENT, pe, (void **)(void *)out));
}

int shmemx_event_close(shmemx_event_t event)
{
    return NAMED(close_handle(inner(event), SHMEMI_OBJECT_EVENT));
}

int shmemx_event_destroy(shmemx_event_t event)
{
    struct shmemi_object *object = inner(event);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_EVENT);
    if (rc == 0)
        rc = shmemi_event_retire(&object->site, object->shared);
    return NAMED(shmemi_end_object(object, rc, NULL));
}

int shmemx_event_set(shmemx_event_t event)
{
    struct shmemi_object *object = inner(event);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_EVENT);
    if (rc == 0)
        shmemi_event_set(object->shared);
    return NAMED(rc);
}

int shmemx_event_clear(shmemx_event_t event)
{
    struct shmemi_object *object = inner(event);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_EVENT);
    if (rc == 0)
        shmemi_event_clear(object->shared);
    return NAMED(rc);
}

int shmemx_event_wait(shmemx_event_t event, double timeout)
{
    struct shmemi_object *object = inner(event);
    int rc = enter(object, SHMEMI_OBJECT_EVENT, timeout);
    if (rc < 0)
        return NAMED(rc);
    if (shmemi_event_take(object->shared))
        return 0;
    return NAMED(shmemi_event_wait(&object->site, object->shared, shmemi_deadline(timeout)));
}

int shmemx_event_is_set(shmemx_event_t event)
{
    struct shmemi_object *object = inner(event);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_EVENT);
    return NAMED(rc < 0 ? rc : shmemi_event_look(object->shared));
}

/* ---- atomic words ---- */

struct word_begin {
    unsigned width;
    uint64_t value;
};

static void begin_word(void *shared, void *context)
{
    const struct word_begin *begin = context;
    struct shmemi_word *word = shared;
    word->width = begin->width;
    atomic_store_explicit(&word->value, begin->value, memory_order_relaxed); /* nobody has it yet */
}

/* Cuts it down to the width of the word. */
static int fit(unsigned width, const char *what, uint64_t *value)
{
    if (width == 8 || *value <= UINT32_MAX)
        return 0;
    if (*value < (uint64_t)INT32_MIN)
        return shmemi_fail(-ERANGE, "%s is %#llx, which a word of 4 bytes cannot hold", what,
                           (unsigned long long)*value);
    *value = (uint32_t)*value;
    return 0;
}

static int create_word(shmemx_pool_t pool, const char *name, unsigned width, uint64_t value, shmemx_word_t *out)
{
    bool without_sign = width & SHMEMX_WORD_UNSIGNED;
    width &= ~SHMEMX_WORD_UNSIGNED;
    struct word_begin begin = {.width = width, .value = value};
    if (width != 4 && width != 8)
        return shmemi_fail(-EINVAL, "width is %u: a word has 4 or 8 bytes", width);
    int rc = fit(width, "value", &begin.value);
    if (rc < 0)
        return rc;
    char said[SAID];
    long long number = width == 4 ? (int32_t)begin.value : (int64_t)begin.value;
    if (without_sign)
        snprintf(said, sizeof said, "uint%u, %llu", 8 * width, (unsigned long long)begin.value);
    else
        snprintf(said, sizeof said, "int%u, %lld", 8 * width, number);
    const struct shmemi_object_spec spec = {.type = SHMEMI_OBJECT_ATOMIC,
                                            .name = name,
                                            .bytes = sizeof(struct shmemi_word),
                                            .init = begin_word,
                                            .context = &begin,
                                            .note = "u",
                                            .note_bytes = without_sign,
                                            .said = said};
    return create(pool, &spec, (void **)(void *)out);
}

int shmemx_word_create(shmemx_pool_t pool, const char *name, unsigned width, uint64_t value, shmemx_word_t *out)
{
    return NAMED(create_word(pool, name, width, value, out));
}

int shmemx_word_find(shmemx_pool_t pool, const char *name, shmemx_word_t *out)
{
    return NAMED(find(pool, name, SHMEMI_OBJECT_ATOMIC, (void **)(void *)out));
}

int shmemx_word_export(shmemx_word_t word, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(export(inner(word), SHMEMI_OBJECT_ATOMIC, key));
}

int shmemx_word_import(const char *key, shmemx_word_t *out)
{
    return NAMED(import(key, SHMEMI_OBJECT_ATOMIC, (void **)(void *)out));
}

int shmemx_word_on(shmemx_word_t word, int pe, shmemx_word_t *out)
{
    return NAMED(on(inner(word), SHMEMI_OBJECT_ATOMIC, pe, (void **)(void *)out));
}

int shmemx_word_close(shmemx_word_t word)
{
    return NAMED(close_handle(inner(word), SHMEMI_OBJECT_ATOMIC));
}

int shmemx_word_destroy(shmemx_word_t word)
{
    struct shmemi_object *object = inner(word);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_ATOMIC);
    if (rc == 0)
        rc = shmemi_word_retire(&object->site, object->shared);
    return NAMED(shmemi_end_object(object, rc, NULL));
}

int shmemx_word_width(shmemx_word_t word)
{
    struct shmemi_object *object = inner(word);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_ATOMIC);
    return NAMED(rc < 0 ? rc : (int)object->count);
}

int shmemx_word_unsigned(shmemx_word_t word)
{
    struct shmemi_object *object = inner(word);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_ATOMIC);
    return NAMED(rc < 0 ? rc : object->note_bytes > 0);
}

int shmemx_word_load(shmemx_word_t word, uint64_t *out)
{
    struct shmemi_object *object = inner(word);
    int rc = out ? shmemi_object_enter(object, SHMEMI_OBJECT_ATOMIC) : null("out");
    if (rc == 0)
        *out = shmemi_word_load(object->shared, object->count);
    return NAMED(rc);
}

/* Before a change. */
static int enter_word(struct shmemi_object *object, uint64_t *value)
{
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_ATOMIC);
    return rc < 0 ? rc : fit(object->count, "value", value);
}

static void tell(uint64_t *before, uint64_t value)
{
    if (before)
        *before = value;
}

/* The word as one of its two widths. */
static _Atomic uint64_t *wide(const struct shmemi_object *object)
{
    return &((struct shmemi_word *)object->shared)->value;
}

static _Atomic uint32_t *narrow(const struct shmemi_object *object)
{
    return (_Atomic uint32_t *)(void *)wide(object); /* little endian */
}

int shmemx_word_store(shmemx_word_t word, uint64_t value)
{
    return shmemx_word_swap(word, value, NULL);
}

/* [word] sequentially consistent, all: programs may build anything on them. */
#define WORD_FUNCTION(name, atomic)                                                                                    \
    int shmemx_word_##name(shmemx_word_t word, uint64_t value, uint64_t *before)                                       \
    {                                                                                                                  \
        struct shmemi_object *object = inner(word);                                                                    \
        int rc = enter_word(object, &value);                                                                           \
        if (rc < 0)                                                                                                    \
            return NAMED(rc);                                                                                          \
        if (object->count == 8)                                                                                        \
            tell(before, atomic(wide(object), value, memory_order_seq_cst));                                           \
        else                                                                                                           \
            tell(before, atomic(narrow(object), (uint32_t)value, memory_order_seq_cst));                               \
        return 0;                                                                                                      \
    }

WORD_FUNCTION(add, atomic_fetch_add_explicit)
WORD_FUNCTION(and, atomic_fetch_and_explicit)
WORD_FUNCTION(or, atomic_fetch_or_explicit)
WORD_FUNCTION(xor, atomic_fetch_xor_explicit)
WORD_FUNCTION(swap, atomic_exchange_explicit)

int shmemx_word_cas(shmemx_word_t word, uint64_t expected, uint64_t value, uint64_t *before)
{
    struct shmemi_object *object = inner(word);
    int rc = enter_word(object, &value);
    if (rc == 0)
        rc = fit(object->count, "expected", &expected);
    if (rc < 0)
        return NAMED(rc);
    uint32_t half = (uint32_t)expected;
    bool changed;
    if (object->count == 8) { /* [word], both */
        changed = atomic_compare_exchange_strong_explicit(wide(object), &expected, value, memory_order_seq_cst,
                                                          memory_order_seq_cst);
        tell(before, expected);
    } else {
        changed = atomic_compare_exchange_strong_explicit(narrow(object), &half, (uint32_t)value, memory_order_seq_cst,
                                                          memory_order_seq_cst);
        tell(before, half);
    }
    return changed;
}

int shmemx_word_wait(shmemx_word_t word, uint64_t value, double timeout)
{
    struct shmemi_object *object = inner(word);
    int rc = enter_word(object, &value);
    if (rc == 0)
        rc = check_timeout(timeout);
    if (rc < 0)
        return NAMED(rc);
    return NAMED(shmemi_word_wait(&object->site, object->shared, object->count, value, shmemi_deadline(timeout)));
}

int shmemx_word_wake(shmemx_word_t word, unsigned count)
{
    struct shmemi_object *object = inner(word);
    int rc = shmemi_object_enter(object, SHMEMI_OBJECT_ATOMIC);
    if (rc == 0 && count == 0)
        rc = shmemi_fail(-EINVAL, "count is 0: at least one is to be woken");
    if (rc < 0)
        return NAMED(rc);
    return shmemi_word_wake(object->shared, count > INT32_MAX ? INT32_MAX : (int)count);
}
