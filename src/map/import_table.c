// SPDX-License-Identifier: Apache-2.0
// Segments, mappings and keys that this process imported.
#include "import_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct table {
    struct shmemi_link **buckets;
    size_t size, count; /* size: a power of two, or 0 */
};

/* The process's, not a job's: a segment is mapped once, whoever imports it. */
static struct {
    pthread_mutex_t lock;
    struct table segments, known;
    unsigned fds;
} imports = {.lock = PTHREAD_MUTEX_INITIALIZER};

void shmemi_imports_lock(void)
{
    pthread_mutex_lock(&imports.lock);
}

void shmemi_imports_unlock(void)
{
    pthread_mutex_unlock(&imports.lock);
}

/* --- hash tables ----------------------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static bool grow(struct table *t)
{
    size_t size = t->size ? t->size * 2 : 64;
    struct shmemi_link **buckets = calloc(size, sizeof *buckets);
    if (!buckets)
        return false;
    for (size_t i = 0; i < t->size; i++)
        for (struct shmemi_link *l = t->buckets[i], *next; l; l = next) {
            next = l->next;
            l->next = buckets[l->hash & (size - 1)];
            buckets[l->hash & (size - 1)] = l;
        }
    free(t->buckets);
    t->buckets = buckets;
    t->size = size;
    return true;
}

static bool insert(struct table *t, struct shmemi_link *l)
{
    if (t->count == t->size && !grow(t) && !t->size) /* without memory to grow it gets slower, not wrong */
        return false;
    struct shmemi_link **bucket = &t->buckets[l->hash & (t->size - 1)];
    l->next = *bucket;
    *bucket = l;
    t->count++;
    return true;
}

static void take_out(struct table *t, const struct shmemi_link *gone)
{
    struct shmemi_link **at = &t->buckets[gone->hash & (t->size - 1)];
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    if (--t->count == 0) {
        free(t->buckets);
        *t = (struct table){0};
    }
}

static struct shmemi_link *first(const struct table *t, uint64_t hash)
{
    return t->size ? t->buckets[hash & (t->size - 1)] : NULL;
}

/* --- segments -------------------------------------------------------------------------------------------------------
 */

static uint64_t segment_hash(uint64_t share, uint32_t uid, uint64_t segment, uint64_t serial)
{
    return mix(mix(share ^ uid) + segment + serial);
}

/* The link is the first member of both structures. */
static struct shmemi_imported *imported_of(struct shmemi_link *l)
{
    return (struct shmemi_imported *)l;
}

struct shmemi_imported *shmemi_imported_find(uint64_t share, uint32_t uid, uint64_t segment, uint64_t serial)
{
    for (struct shmemi_link *l = first(&imports.segments, segment_hash(share, uid, segment, serial)); l; l = l->next) {
        struct shmemi_imported *s = imported_of(l);
        if (s->share == share && s->segment == segment && s->uid == uid && s->serial == serial)
            return s;
    }
    return NULL;
}

struct shmemi_imported *shmemi_imported_get(uint64_t share, uint32_t uid, uint64_t segment, uint64_t serial)
{
    struct shmemi_imported *s = shmemi_imported_find(share, uid, segment, serial);
    if (!s) {
        s = calloc(1, sizeof *s);
        if (!s)
            return NULL;
        *s = (struct shmemi_imported){.link = {.hash = segment_hash(share, uid, segment, serial)},
                                      .share = share,
                                      .segment = segment,
                                      .serial = serial,
                                      .uid = uid,
                                      .info = {.fd = -1}};
        if (!insert(&imports.segments, &s->link)) {
            free(s);
            return NULL;
        }
    }
    s->refs++;
    return s;
}

bool shmemi_imported_keep(struct shmemi_imported *s, const struct shmemi_share_segment *info, bool read_only)
{
    if (s->info.fd >= 0 && (!s->read_only || read_only)) {
        if (info->window <= s->info.window && info->window_bytes > s->info.window_bytes)
            s->info.window_bytes = info->window_bytes; /* it has grown meanwhile */
        return false;
    }
    if (s->info.fd < 0 && imports.fds >= SHMEMI_IMPORT_FDS)
        return false;
    if (s->info.fd >= 0)
        close(s->info.fd);
    else
        imports.fds++;
    s->info = *info;
    s->read_only = read_only;
    return true;
}

static void drop_descriptor(struct shmemi_imported *s)
{
    if (s->info.fd < 0)
        return;
    close(s->info.fd);
    s->info.fd = -1;
    imports.fds--;
}

bool shmemi_imported_put(struct shmemi_imported *s)
{
    if (!s || --s->refs > 0)
        return false;
    bool served = s->guest;
    drop_descriptor(s);
    if (served)
        shmemi_guest_lost(s->guest);
    take_out(&imports.segments, &s->link);
    free(s);
    return served;
}

/* --- mappings -------------------------------------------------------------------------------------------------------
 */

static bool contains(const struct shmemi_view *v, const struct shmemi_key_record *r)
{
    return r->offset >= v->window && r->offset - v->window <= v->bytes &&
           r->bytes <= v->bytes - (r->offset - v->window);
}

static int map_view(struct shmemi_imported *s, const struct shmemi_share_segment *info, int fd,
                    enum shmemi_access access, struct shmemi_view **out)
{
    const struct shmemi_hal *hal = shmemi_hal(info->kind);
    struct shmemi_view *v = calloc(1, sizeof *v);
    void *at = NULL;
    if (!v)
        return shmemi_fail(-ENOMEM, "no memory for an import");
    int rc = hal->map(fd, info->window, info->window_bytes, access, NULL, &at);
    if (rc < 0) {
        free(v);
        return rc;
    }
    *v = (struct shmemi_view){
        .next = s->views, .access = access, .at = at, .window = info->window, .bytes = info->window_bytes};
    s->info.kind = info->kind;
    s->views = v;
    *out = v;
    return 0;
}

int shmemi_view_get(struct shmemi_imported *s, const struct shmemi_share_segment *info, int fd,
                    const struct shmemi_key_record *record, enum shmemi_access access, struct shmemi_view **out)
{
    struct shmemi_view *v = s->views;
    while (v && (v->access != access || !contains(v, record)))
        v = v->next;
    if (!v && fd < 0)
        return 1;
    int rc = v ? 0 : map_view(s, info, fd, access, &v);
    if (rc < 0)
        return rc;
    v->refs++;
    *out = v;
    return 0;
}

void shmemi_view_put(struct shmemi_imported *s, struct shmemi_view *v)
{
    if (!v || --v->refs > 0)
        return;
    struct shmemi_view **at = &s->views;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    shmemi_hal(s->info.kind)->unmap(v->at, v->bytes);
    free(v);
}

/* --- keys -----------------------------------------------------------------------------------------------------------
 */

static uint64_t key_hash(const struct shmemi_key *key)
{
    return mix(mix(key->token[0] ^ key->share) + key->index);
}

static struct shmemi_known *known_of(struct shmemi_link *l)
{
    return (struct shmemi_known *)l;
}

static bool same_key(const struct shmemi_key *a, const struct shmemi_key *b)
{
    return a->share == b->share && a->uid == b->uid && a->index == b->index && a->token[0] == b->token[0] &&
           a->token[1] == b->token[1];
}

static bool same_claims(const struct shmemi_import_claims *a, const struct shmemi_import_claims *b)
{
    return a->token[0] == b->token[0] && a->token[1] == b->token[1] && a->job == b->job && a->pe == b->pe;
}

struct shmemi_known *shmemi_known_find(const struct shmemi_key *key, const struct shmemi_import_claims *claims)
{
    for (struct shmemi_link *l = first(&imports.known, key_hash(key)); l; l = l->next)
        if (same_key(&known_of(l)->key, key) && same_claims(&known_of(l)->claims, claims))
            return known_of(l);
    return NULL;
}

struct shmemi_known *shmemi_known_get(const struct shmemi_key *key, const struct shmemi_import_claims *claims)
{
    struct shmemi_known *k = shmemi_known_find(key, claims);
    if (!k) {
        k = calloc(1, sizeof *k);
        if (!k)
            return NULL;
        k->link.hash = key_hash(key);
        k->key = *key;
        k->claims = *claims;
        if (!insert(&imports.known, &k->link)) {
            free(k);
            return NULL;
        }
    }
    k->refs++;
    return k;
}

struct shmemi_known *shmemi_known_best(const struct shmemi_key *key)
{
    struct shmemi_known *best = NULL;
    for (struct shmemi_link *l = first(&imports.known, key_hash(key)); l; l = l->next) {
        struct shmemi_known *k = known_of(l);
        if (same_key(&k->key, key) &&
            (!best || (best->revoked && !k->revoked) || (best->revoked == k->revoked && (k->rights & ~best->rights))))
            best = k;
    }
    return best;
}

bool shmemi_known_revoke(const struct shmemi_key *key)
{
    bool any = false;
    for (struct shmemi_link *l = first(&imports.known, key_hash(key)); l; l = l->next)
        if (same_key(&known_of(l)->key, key))
            any = known_of(l)->revoked = true;
    return any;
}

void shmemi_known_put(struct shmemi_known *k)
{
    if (!k || --k->refs > 0)
        return;
    take_out(&imports.known, &k->link);
    free(k);
}

/* --- fork -----------------------------------------------------------------------------------------------------------
 */

void shmemi_imports_drop_descriptors(void)
{
    for (size_t i = 0; i < imports.segments.size; i++)
        for (struct shmemi_link *l = imports.segments.buckets[i]; l; l = l->next) {
            drop_descriptor(imported_of(l));
            imported_of(l)->guest = NULL;
        }
}
