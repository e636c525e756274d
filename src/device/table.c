// SPDX-License-Identifier: Apache-2.0
// Which addresses are device memory.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "device.h"
#include "device_internal.h"

/* Sorted by address; spans do not overlap. Copies hold the lock for reading while they are being made or queued, so
   that none begins in memory that is being taken away. */
static struct {
    pthread_rwlock_t lock;
    struct shmemi_device_span *spans;
    size_t count, room;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

_Atomic size_t shmemi_device_spans;
_Atomic uintptr_t shmemi_device_low, shmemi_device_extent;
static void (*_Atomic watcher)(void);

void shmemi_device_watch(void (*changed)(void))
{
    atomic_store_explicit(&watcher, changed, memory_order_release); /* [watcher] */
}

/* Under the lock. */
static void note_change(void)
{
    const struct shmemi_device_span *last = table.spans + table.count - 1;
    uintptr_t low = table.count ? (uintptr_t)table.spans[0].begin : 0;
    uintptr_t extent = table.count ? (uintptr_t)last->begin + last->bytes - low : 0;
    atomic_store_explicit(&shmemi_device_low, low, memory_order_relaxed);           /* [spans] */
    atomic_store_explicit(&shmemi_device_extent, extent, memory_order_relaxed);     /* [spans] */
    atomic_store_explicit(&shmemi_device_spans, table.count, memory_order_relaxed); /* [spans] */
}

/* Not under the lock. */
static void tell(size_t count)
{
    void (*changed)(void) = atomic_load_explicit(&watcher, memory_order_acquire); /* [watcher] */
    if (changed && count <= 1)
        changed();
}

void shmemi_device_table_in_child(void)
{
    pthread_rwlock_init(&table.lock, NULL);
}

void shmemi_device_table_lock(void)
{
    pthread_rwlock_rdlock(&table.lock);
}

void shmemi_device_table_unlock(void)
{
    pthread_rwlock_unlock(&table.lock);
}

/* The first that ends beyond the address. */
static size_t place(const char *address)
{
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table.spans[middle].begin + table.spans[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct shmemi_device_span *shmemi_device_table_at(const void *address)
{
    size_t at = place(address);
    return at < table.count && table.spans[at].begin <= (const char *)address ? &table.spans[at] : NULL;
}

static int make_room(void)
{
    size_t room = table.room ? 2 * table.room : 16;
    if (table.count < table.room)
        return 0;
    struct shmemi_device_span *grown = realloc(table.spans, room * sizeof *grown);
    if (!grown)
        return shmemi_fail(-ENOMEM, "no memory for the table of device memory");
    table.spans = grown;
    table.room = room;
    return 0;
}

int shmemi_device_table_add(const struct shmemi_device_span *span)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t at = place(span->begin);
    int rc = make_room();
    if (rc == 0 && at < table.count && table.spans[at].begin < span->begin + span->bytes)
        rc = shmemi_fail(-EEXIST, "%zu bytes of device memory at %p overlap %zu at %p that are known already",
                         span->bytes, (void *)span->begin, table.spans[at].bytes, (void *)table.spans[at].begin);
    if (rc == 0) {
        memmove(table.spans + at + 1, table.spans + at, (table.count++ - at) * sizeof *table.spans);
        table.spans[at] = *span;
        note_change();
    }
    size_t count = table.count;
    pthread_rwlock_unlock(&table.lock);
    if (rc == 0)
        tell(count);
    return rc;
}

int shmemi_device_table_remove(const char *begin)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t at = place(begin);
    bool found = at < table.count && table.spans[at].begin == begin;
    if (found) {
        memmove(table.spans + at, table.spans + at + 1, (--table.count - at) * sizeof *table.spans);
        note_change();
    }
    size_t count = table.count;
    pthread_rwlock_unlock(&table.lock);
    if (found)
        tell(count);
    return found ? 0 : shmemi_fail(-ENOENT, "no device memory that is known begins at %p", (const void *)begin);
}

void shmemi_device_table_allow(const char *begin, bool writable)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t at = place(begin);
    if (at < table.count && table.spans[at].begin == begin)
        table.spans[at].read_only = !writable;
    pthread_rwlock_unlock(&table.lock);
}

/* But for `admitted`, which copies change under the same lock as this one. */
static void copy_span(struct shmemi_device_span *to, const struct shmemi_device_span *from)
{
    const size_t before = offsetof(struct shmemi_device_span, admitted), behind = before + sizeof from->admitted;
    memcpy(to, from, before);
    memcpy((char *)to + behind, (const char *)from + behind, sizeof *from - behind);
    to->admitted = 0;
}

bool shmemi_device_table_find(const void *address, struct shmemi_device_span *out)
{
    if (!shmemi_device_any()) /* asked for all kinds of addresses: see shmemi_device_pool_hold() */
        return false;
    shmemi_device_table_lock();
    const struct shmemi_device_span *span = shmemi_device_table_at(address);
    if (span)
        copy_span(out, span);
    shmemi_device_table_unlock();
    return span != NULL;
}
