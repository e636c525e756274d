// SPDX-License-Identifier: Apache-2.0
// Device memory that others allocated, and free: made known, watched as far as the driver tells, and shared by keys.
//
// What is shared is what the driver shares in one piece, an allocation or pages: a segment of this process's one share
// of such memory. Importers map it once, however many keys of it they have.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "device.h"
#include "device_internal.h"

enum { KEYS = 4096 };

/* What importers map. */
struct lent {
    struct lent *next;
    uint64_t segment; /* its number; none is used again */
    const struct shmemi_device_hal *hal;
    struct shmemi_device_memory memory;
    struct shmemi_device_pointer what; /* of the first of its users, when it was adopted */
    unsigned users;                    /* adopted pieces in it that were exported */
};

struct shmemi_device_adopted {
    struct shmemi_device_adopted *next;
    const struct shmemi_device_hal *hal;
    int device;
    char *begin;
    size_t bytes;
    struct shmemi_device_pointer what; /* as the driver described it then; */
    bool described;                    /* false: it cannot, and is not asked again */
    struct lent *lent;                 /* NULL: it was not exported so far */
    unsigned pins, imports;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the lists and of all in them; the service thread takes
                                                            it, so nothing that waits for that is done under it */
static struct shmemi_device_adopted *adopteds;
static struct lent *lents;
static uint64_t segments; /* how many there were */

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* of the share, which stays until the process ends */
static struct shmemi_share *_Atomic share;
static uint64_t number;

/* --- is it still what it was -------------------------------------------------------------------------------------- */

static int check_place(const struct shmemi_device_adopted *a, const char *at, struct shmemi_device_pointer *what)
{
    int rc = a->hal->describe_pointer(at, what);
    if (rc == 0 && !what->device)
        rc = shmemi_fail(
            -EINVAL, "%p is not memory of a device, as far as the %s driver knows: it is the host's, or it was freed",
            (const void *)at, a->hal->maker);
    else if (rc == 0 && what->number != a->device)
        rc = shmemi_fail(-EINVAL, "%p is memory of %s device %d, not of device %d", (const void *)at, a->hal->maker,
                         what->number, a->device);
    return rc;
}

/* Both ends: memory of virtual memory calls may be of several allocations. */
static int check_ends(struct shmemi_device_adopted *a)
{
    struct shmemi_device_pointer last;
    int rc = check_place(a, a->begin, &a->what);
    if (rc == -ENOTSUP)
        return 0;
    a->described = true;
    return rc < 0 ? rc : check_place(a, a->begin + a->bytes - 1, &last);
}

/* With the device that it is to be of, so that no other one is taken into use for the question. */
static int describe(struct shmemi_device_adopted *a)
{
    struct shmemi_device_current before;
    int rc = a->hal->enter(a->device, &before);
    if (rc < 0)
        return rc;
    rc = check_ends(a);
    a->hal->leave(&before);
    return rc;
}

int shmemi_device_check_adopted(const struct shmemi_device_adopted *a)
{
    struct shmemi_device_pointer now;
    int rc = a->described ? a->hal->describe_pointer(a->begin, &now) : 0;
    if (rc < 0 || !a->described)
        return rc;
    if (!now.device)
        return shmemi_fail(
            -ESTALE,
            "the %s memory at %p was freed by its owner while this library was to use it: adopted memory "
            "is disowned before it is freed",
            a->hal->maker, (const void *)a->begin);
    if (now.number != a->what.number || now.base != a->what.base || now.bytes != a->what.bytes || now.id != a->what.id)
        return shmemi_fail(-ESTALE,
                           "the %s memory at %p was freed by its owner, and other memory is there now: adopted memory "
                           "is disowned before it is freed",
                           a->hal->maker, (const void *)a->begin);
    return 0;
}

/* --- adopting ----------------------------------------------------------------------------------------------------- */

static int make_known(struct shmemi_device_adopted *a)
{
    struct shmemi_device_span span = {
        .hal = a->hal, .device = a->device, .begin = a->begin, .bytes = a->bytes, .adopted = a};
    pthread_mutex_lock(&lock);
    int rc = shmemi_device_table_add(&span);
    if (rc == 0) {
        a->next = adopteds;
        adopteds = a;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int shmemi_device_adopt(const char *type, int device, void *address, size_t bytes)
{
    const struct shmemi_device_hal *hal = NULL;
    int count = 0, rc = shmemi_device_open(type, &hal, &count);
    if (rc == 0 && (device < 0 || device >= count))
        rc = shmemi_fail(-ENODEV, "there is no %s device %d: this process sees %d, counted from 0", hal->maker, device,
                         count);
    if (rc == 0 && (!address || !bytes || bytes > SIZE_MAX - (uintptr_t)address))
        rc = shmemi_fail(-EINVAL, "%zu bytes at %p cannot be device memory", bytes, address);
    if (rc < 0)
        return rc;
    struct shmemi_device_adopted *a = calloc(1, sizeof *a);
    if (!a)
        return shmemi_fail(-ENOMEM, "no memory to keep account of device memory");
    *a = (struct shmemi_device_adopted){.hal = hal, .device = device, .begin = address, .bytes = bytes};
    if ((rc = describe(a)) < 0 || (rc = make_known(a)) < 0)
        free(a);
    return rc;
}

/* Under the lock: the adopted piece that holds the range. */
static int find(const void *address, size_t bytes, struct shmemi_device_adopted **out)
{
    struct shmemi_device_span span;
    if (!shmemi_device_table_find(address, &span) || !span.adopted)
        return shmemi_fail(-ENOENT, "%p is in no device memory that was adopted", address);
    size_t offset = (size_t)((const char *)address - span.begin);
    if (bytes > span.bytes - offset)
        return shmemi_fail(-EINVAL, "%zu bytes from %p on end beyond the memory that was adopted, which has %zu there",
                           bytes, address, span.bytes - offset);
    *out = span.adopted;
    return 0;
}

/* --- lending ------------------------------------------------------------------------------------------------------ */

static bool holds(const struct lent *l, const struct shmemi_device_adopted *a)
{
    const char *begin = l->memory.address;
    return l->hal == a->hal && l->what.id == a->what.id && l->memory.device == a->device && a->begin >= begin &&
           (size_t)(a->begin - begin) <= l->memory.bytes && a->bytes <= l->memory.bytes - (size_t)(a->begin - begin);
}

/* Under the lock. */
static int lend(struct shmemi_device_adopted *a)
{
    struct lent *l = lents;
    if (a->lent)
        return 0;
    while (l && !holds(l, a))
        l = l->next;
    if (!l) {
        if (!(l = calloc(1, sizeof *l)))
            return shmemi_fail(-ENOMEM, "no memory to share device memory");
        int rc = a->hal->adopt(a->begin, a->bytes, &l->memory);
        if (rc < 0) {
            free(l);
            return rc;
        }
        l->hal = a->hal;
        l->what = a->what;
        l->segment = ++segments;
        l->next = lents;
        lents = l;
    }
    l->users++;
    a->lent = l;
    return 0;
}

/* Under the lock. */
static void end_lending(struct lent *l)
{
    if (--l->users)
        return;
    struct lent **at = &lents;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    l->hal->release(&l->memory);
    free(l);
}

/* Under the lock: 0 while some of what it holds is there. */
static int check_lent(const struct lent *l)
{
    int rc = -ENOENT;
    for (const struct shmemi_device_adopted *a = adopteds; rc < 0 && a; a = a->next)
        if (a->lent == l)
            rc = shmemi_device_check_adopted(a);
    return rc;
}

static struct lent *lent_at(uint64_t segment)
{
    struct lent *l = lents;
    while (l && l->segment != segment)
        l = l->next;
    return l;
}

/* For somebody who imports; on the service thread. */
static int ticket(void *context, uint64_t segment, int32_t process, struct shmemi_device_ticket *out, int *fd)
{
    (void)context;
    pthread_mutex_lock(&lock);
    struct lent *l = lent_at(segment);
    int rc = l ? check_lent(l) : -ENOENT;
    if (rc == 0)
        rc = l->hal->export_memory(&l->memory, &process, process ? 1 : 0, out, fd);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int serve(struct shmemi_share **out)
{
    int rc = 0;
    pthread_mutex_lock(&opening);
    struct shmemi_share *open = share;
    if (!open) {
        struct shmemi_share_config config = {.count = KEYS, .ticket = ticket, .number = shmemi_random()};
        config.keys = calloc(KEYS, sizeof *config.keys);
        rc = config.keys ? shmemi_share_open(&config, &open) : shmemi_fail(-ENOMEM, "no memory for a table of keys");
        if (rc < 0) {
            free(config.keys);
        } else {
            number = config.number;
            share = open; /* [lent] sequentially consistent: whoever sees it sees the number */
        }
    }
    pthread_mutex_unlock(&opening);
    *out = open;
    return rc;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

int shmemi_adopted_export(const void *address, size_t bytes, struct shmemi_export *what, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_device_adopted *a = NULL;
    struct shmemi_share *open = NULL;
    int rc = serve(&open);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&lock);
    if ((rc = find(address, bytes, &a)) == 0 && (rc = shmemi_device_check_adopted(a)) == 0 && (rc = lend(a)) == 0) {
        what->segment = a->lent->segment;
        what->offset = (uint64_t)((const char *)address - (const char *)a->lent->memory.address);
        what->bytes = bytes;
        what->flags |= SHMEMI_KEY_DEVICE;
        rc = shmemi_share_export(open, what, text);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

struct shmemi_share *shmemi_adopted_share(uint64_t of)
{
    struct shmemi_share *open = share; /* [lent] */
    return open && of == number ? open : NULL;
}

/* --- what keeps it from being disowned ---------------------------------------------------------------------------- */

int shmemi_adopted_pin(const void *address, size_t bytes)
{
    struct shmemi_device_adopted *a = NULL;
    pthread_mutex_lock(&lock);
    int rc = find(address, bytes, &a);
    if (rc == 0 && (rc = shmemi_device_check_adopted(a)) == 0)
        a->pins++;
    pthread_mutex_unlock(&lock);
    return rc;
}

void shmemi_adopted_unpin(const void *address)
{
    struct shmemi_device_adopted *a = NULL;
    pthread_mutex_lock(&lock);
    if (find(address, 0, &a) == 0 && a->pins)
        a->pins--;
    pthread_mutex_unlock(&lock);
}

int shmemi_adopted_hold(const struct shmemi_key_record *record, struct shmemi_device_adopted **out,
                        const struct shmemi_device_hal **hal, const struct shmemi_device_memory **memory)
{
    pthread_mutex_lock(&lock);
    const struct lent *l = lent_at(record->segment);
    int rc = l ? find((char *)l->memory.address + record->offset, record->bytes, out) : -ENOENT;
    if (rc == -ENOENT)
        rc = shmemi_fail(-EKEYREVOKED, "the key was revoked: its memory was disowned");
    if (rc == 0 && (rc = shmemi_device_check_adopted(*out)) == 0) {
        (*out)->imports++;
        *hal = l->hal;
        *memory = &l->memory;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void shmemi_adopted_let_go(struct shmemi_device_adopted *a)
{
    pthread_mutex_lock(&lock);
    a->imports--;
    pthread_mutex_unlock(&lock);
}

/* --- disowning ---------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static int forget(const void *address, struct shmemi_device_adopted **out)
{
    struct shmemi_device_span span;
    if (!shmemi_device_table_find(address, &span) || span.begin != address)
        return shmemi_fail(-ENOENT, "no device memory that is known begins at %p", address);
    if (!span.adopted)
        return shmemi_fail(-EINVAL, "the device memory at %p is of a pool or an import, and was not adopted", address);
    if (span.adopted->pins)
        return shmemi_fail(-EBUSY, "the device memory at %p is registered as a region: deregister it first", address);
    if (span.adopted->imports)
        return shmemi_fail(-EBUSY,
                           "%u imports of keys of the device memory at %p are open in this process: close them "
                           "first",
                           span.adopted->imports, address);
    struct shmemi_device_adopted **at = &adopteds;
    while (*at != span.adopted)
        at = &(*at)->next;
    *at = span.adopted->next;
    *out = span.adopted;
    return shmemi_device_table_remove(address);
}

int shmemi_device_disown(void *address)
{
    struct shmemi_device_adopted *a = NULL;
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&lock);
    rc = forget(address, &a);
    pthread_mutex_unlock(&lock);
    if (rc < 0)
        return rc;
    if (a->lent) {
        shmemi_share_revoke_range(share, a->lent->segment, (uint64_t)(a->begin - (const char *)a->lent->memory.address),
                                  a->bytes);
        pthread_mutex_lock(&lock);
        end_lending(a->lent);
        pthread_mutex_unlock(&lock);
    }
    free(a);
    return 0;
}
