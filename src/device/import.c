// SPDX-License-Identifier: Apache-2.0
// Imports of device memory.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "device.h"
#include "device_internal.h"

/* A pool of another process, or a piece of memory that was adopted there, mapped for one device of this. */
struct mapping {
    struct mapping *next;
    uint64_t share, segment;
    uint32_t uid;
    const struct shmemi_device_hal *hal;
    struct shmemi_device_memory memory;
    unsigned refs, writers;
};

struct import {
    struct shmemi_device_import visible; /* first */
    struct mapping *mapping;             /* or */
    struct shmemi_device_pool *pool;     /* or */
    struct shmemi_device_adopted *adopted;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and while something is mapped */
static struct mapping *mappings;

/* Whose memory is shared in a way, which another process names; NULL: nobody's. */
static const struct shmemi_device_hal *hal_of(uint32_t way)
{
    const struct shmemi_device_hal *hal = NULL;
    for (int i = 0; way < 32 && (hal = shmemi_device_hal(i)) && !(hal->ways >> way & 1); i++)
        continue;
    return hal;
}

static void settle(struct import *i, const struct shmemi_device_hal *hal, const struct shmemi_device_memory *memory)
{
    i->visible.hal = hal;
    i->visible.device = memory->device;
    i->visible.address = (char *)memory->address + i->visible.record.offset;
    i->visible.bytes = i->visible.record.bytes;
}

/* --- of this process's own ---------------------------------------------------------------------------------------- */

/* The memory itself, which another device than the one that it lies on may be going to use. */
static int use_from(struct import *i, const struct shmemi_device_hal *hal, const struct shmemi_device_memory *memory,
                    int device)
{
    int rc = device >= 0 && device != memory->device ? hal->admit(memory, device) : 0;
    if (rc < 0)
        return rc;
    settle(i, hal, memory);
    if (device >= 0)
        i->visible.device = device;
    return 0;
}

static int open_own(struct import *i, const struct shmemi_key *key, enum shmemi_import_mode mode,
                    const struct shmemi_import_claims *claims, int device)
{
    int rc = shmemi_import_look_up(shmemi_device_pool_share(i->pool), key, mode, claims, &i->visible.record,
                                   &i->visible.rights);
    if (rc == 0)
        rc = use_from(i, shmemi_device_pool_hal(i->pool), shmemi_device_pool_memory(i->pool), device);
    return rc;
}

static int open_adopted(struct import *i, struct shmemi_share *share, const struct shmemi_key *key,
                        enum shmemi_import_mode mode, const struct shmemi_import_claims *claims, int device)
{
    const struct shmemi_device_hal *hal = NULL;
    const struct shmemi_device_memory *memory = NULL;
    int rc = shmemi_import_look_up(share, key, mode, claims, &i->visible.record, &i->visible.rights);
    if (rc == 0)
        rc = shmemi_adopted_hold(&i->visible.record, &i->adopted, &hal, &memory);
    if (rc == 0 && (rc = use_from(i, hal, memory, device)) < 0)
        shmemi_adopted_let_go(i->adopted);
    return rc;
}

/* --- of other processes ------------------------------------------------------------------------------------------- */

static struct mapping *find_mapping(const struct shmemi_key *key, uint64_t segment, const struct shmemi_device_hal *hal,
                                    int device)
{
    struct mapping *m = mappings;
    while (m && (m->share != key->share || m->segment != segment || m->uid != key->uid || m->hal != hal ||
                 m->memory.device != device))
        m = m->next;
    return m;
}

static int know(struct mapping *m, bool writes)
{
    struct shmemi_device_span span = {.hal = m->hal,
                                      .device = m->memory.device,
                                      .begin = m->memory.address,
                                      .bytes = m->memory.bytes,
                                      .read_only = !writes,
                                      .memory = &m->memory};
    return shmemi_device_table_add(&span);
}

static int make_mapping(const struct shmemi_key *key, const struct shmemi_import_ticket *t,
                        const struct shmemi_device_hal *hal, int device, bool writes, struct mapping **out)
{
    struct mapping *m = calloc(1, sizeof *m);
    if (!m)
        return shmemi_fail(-ENOMEM, "no memory for an import");
    m->share = key->share;
    m->segment = t->record.segment;
    m->uid = key->uid;
    m->hal = hal;
    int rc = hal->import_memory(&t->ticket, t->fd, device, &m->memory);
    if (rc == 0 && (rc = know(m, writes)) < 0)
        hal->release(&m->memory);
    if (rc < 0) {
        free(m);
        return rc;
    }
    m->next = mappings;
    mappings = m;
    *out = m;
    return 0;
}

/* Under the lock. */
static void end_mapping(struct mapping *m)
{
    struct mapping **at = &mappings;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    shmemi_device_table_remove(m->memory.address);
    shmemi_streams_finish(m->hal);
    m->hal->release(&m->memory);
    free(m);
}

/* Which device it is, and which of this process's is to use it. */
static int choose_device(const struct shmemi_device_ticket *ticket, int wanted, const struct shmemi_device_hal **hal,
                         int *device)
{
    const struct shmemi_device_hal *of = hal_of(ticket->way);
    if (!of)
        return shmemi_fail(-EINVAL, "this is no ticket for a device's memory");
    int home = -1, rc = shmemi_device_open(of->type, hal, NULL);
    if (rc < 0)
        return of->stands_in
                   ? shmemi_fail_in(rc,
                                    "the key opens host memory that stands in for type '%s' in its owner, and "
                                    "can do so here, too, with SHMEM_DEVICE_FALLBACK=host",
                                    of->type)
                   : shmemi_fail_in(rc, "the key opens memory of a device of type '%s'", of->type);
    if (*hal != of)
        return shmemi_fail(-ENODEV,
                           of->stands_in
                               ? "the key opens host memory that stands in for type '%s' in its owner "
                                 "(SHMEM_DEVICE_FALLBACK=host), and this process has a device of that type"
                               : "the key opens memory of a device of type '%s', for which host memory stands "
                                 "in here (SHMEM_DEVICE_FALLBACK=host)",
                           of->type);
    *device = wanted;
    if (wanted < 0 && (rc = (*hal)->find(ticket->id, &home)) == 0)
        *device = home;
    return rc;
}

/* Under the lock: the mapping that is there, or a new one, for which this process has to be let in. */
static int get_mapping(const struct shmemi_key *key, enum shmemi_import_mode mode,
                       const struct shmemi_import_claims *claims, uint64_t segment, const struct shmemi_device_hal *hal,
                       int device, struct mapping **out)
{
    struct shmemi_import_ticket t;
    int32_t self = 0;
    if ((*out = find_mapping(key, segment, hal, device)))
        return 0;
    int rc = hal->identify(device, &self);
    if (rc < 0 || (rc = shmemi_import_ask_ticket(key, mode, claims, self, &t)) < 0)
        return rc;
    rc = make_mapping(key, &t, hal, device, mode == SHMEMI_IMPORT_WRITE, out);
    if (t.fd >= 0)
        close(t.fd);
    return rc;
}

static void attach(struct import *i, struct mapping *m, bool writes)
{
    m->refs++;
    m->writers += writes;
    if (writes && m->writers == 1)
        shmemi_device_table_allow(m->memory.address, true);
    i->mapping = m;
    i->visible.foreign = true;
    settle(i, m->hal, &m->memory);
}

static int open_foreign(struct import *i, const struct shmemi_key *key, enum shmemi_import_mode mode,
                        const struct shmemi_import_claims *claims, int wanted)
{
    struct shmemi_import_ticket t;
    const struct shmemi_device_hal *hal = NULL;
    struct mapping *m = NULL;
    int device = -1, rc = shmemi_import_ask_ticket(key, mode, claims, 0, &t);
    if (rc < 0)
        return rc;
    if (t.fd >= 0)
        close(t.fd);
    i->visible.record = t.record;
    i->visible.rights = t.rights;
    if ((rc = choose_device(&t.ticket, wanted, &hal, &device)) < 0)
        return rc;
    pthread_mutex_lock(&lock);
    rc = get_mapping(key, mode, claims, t.record.segment, hal, device, &m);
    if (rc == 0 && t.record.offset + t.record.bytes > m->memory.bytes)
        rc = shmemi_fail(-EPROTO, "the server of the key names memory beyond the %zu bytes that it gave",
                         m->memory.bytes);
    if (rc == 0)
        attach(i, m, mode == SHMEMI_IMPORT_WRITE);
    else if (m && !m->refs)
        end_mapping(m);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- open and close ----------------------------------------------------------------------------------------------- */

int shmemi_device_import(const char *text, enum shmemi_import_mode mode, const struct shmemi_import_claims *claims,
                         int device, struct shmemi_device_import **out)
{
    struct shmemi_key key;
    int rc = shmemi_device_check_process();
    if (rc < 0 || (rc = shmemi_key_parse(text, &key)) < 0)
        return rc;
    if (mode != SHMEMI_IMPORT_READ && mode != SHMEMI_IMPORT_WRITE)
        return shmemi_fail(-EINVAL, "memory of a device is imported for reading, or for reading and writing");
    struct import *i = calloc(1, sizeof *i);
    if (!i)
        return shmemi_fail(-ENOMEM, "no memory for an import");
    i->visible.read_only = mode == SHMEMI_IMPORT_READ;
    struct shmemi_share *adopted = shmemi_adopted_share(key.share);
    i->pool = shmemi_device_pool_hold(key.share);
    rc = i->pool   ? open_own(i, &key, mode, claims, device)
         : adopted ? open_adopted(i, adopted, &key, mode, claims, device)
                   : open_foreign(i, &key, mode, claims, device);
    if (rc < 0) {
        if (i->pool)
            shmemi_device_pool_let_go(i->pool);
        free(i);
    } else
        *out = &i->visible;
    return rc;
}

static void detach(struct mapping *m, bool writes)
{
    m->writers -= writes;
    if (writes && !m->writers)
        shmemi_device_table_allow(m->memory.address, false);
    if (--m->refs == 0)
        end_mapping(m);
}

int shmemi_device_import_close(struct shmemi_device_import *import)
{
    struct import *i = (struct import *)import;
    int rc = shmemi_device_check_process();
    if (rc < 0)
        return rc;
    if (i->pool)
        shmemi_device_pool_let_go(i->pool);
    else if (i->adopted)
        shmemi_adopted_let_go(i->adopted);
    else {
        pthread_mutex_lock(&lock);
        detach(i->mapping, !i->visible.read_only);
        pthread_mutex_unlock(&lock);
    }
    free(i);
    return 0;
}
