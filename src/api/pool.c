// SPDX-License-Identifier: Apache-2.0
// Pools, files, names and keys of the extension interface: arguments are checked, and passed on to src/pool, src/map
// and, for memory of the job, src/comm.
#include "shmemx.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "claims.h"
#include "comm/export.h"
#include "device/device.h"
#include "map/import.h"
#include "named.h"
#include "objects.h"
#include "opaque.h"
#include "pool/object.h"
#include "pool/pool.h"

_Static_assert(SHMEMX_KEY_TEXT == (int)SHMEMI_KEY_TEXT && SHMEMX_NOTE_MOST == (int)SHMEMI_KEY_NOTE,
               "one length of keys");
_Static_assert(SHMEMX_RIGHTS_ALL == SHMEMI_RIGHTS_ALL && SHMEMX_RIGHT_CAS == SHMEMI_RIGHT_CAS, "one list of rights");
_Static_assert(SHMEMX_ALLOW_TOKEN == (int)SHMEMI_ALLOW_TOKEN && SHMEMX_IMPORT_ATOMIC == (int)SHMEMI_IMPORT_ATOMIC &&
                   SHMEMX_KEY_CAS == (int)SHMEMI_ATOMIC_CAS,
               "one list of each");
_Static_assert(SHMEMX_OWN == SHMEMI_ALLOC_OWN && SHMEMX_KEEP == SHMEMI_ALLOC_KEEP && SHMEMX_ZERO == SHMEMI_ALLOC_ZERO,
               "one list of flags");

static struct shmemi_pool *inner(shmemx_pool_t pool)
{
    return (struct shmemi_pool *)(void *)pool;
}

static shmemx_pool_t outer(struct shmemi_pool *pool)
{
    return (shmemx_pool_t)(void *)pool;
}

static int null(const char *what)
{
    return shmemi_fail(-EINVAL, "%s is NULL", what);
}

/* ---- pools ---- */

static struct shmemi_pool_config config_of(const shmemx_pool_attr_t *attr)
{
    return (struct shmemi_pool_config){.size = attr->size,
                                       .max_size = attr->max_size,
                                       .grow = attr->grow != 0,
                                       .lock = attr->lock != 0,
                                       .type = attr->type,
                                       .name = attr->name,
                                       .cache = attr->cache,
                                       .page_size = attr->page_size,
                                       .numa_node = attr->numa_node};
}

int shmemx_pool_create(const shmemx_pool_attr_t *attr, shmemx_pool_t *out)
{
    if (!attr || !out)
        return NAMED(null(attr ? "out" : "attr"));
    struct shmemi_pool_config config = config_of(attr);
    struct shmemi_pool *pool = NULL;
    int rc = shmemi_pool_create(&config, &pool);
    if (rc == 0)
        *out = outer(pool);
    return NAMED(rc);
}

int shmemx_pool_open(const char *name_or_key, shmemx_pool_t *out)
{
    struct shmemi_pool *pool = NULL;
    int rc = out ? shmemi_pool_open(name_or_key, &pool) : null("out");
    if (rc == 0)
        *out = outer(pool);
    return NAMED(rc);
}

int shmemx_pool_close(shmemx_pool_t pool)
{
    return NAMED(shmemi_pool_close(inner(pool)));
}

int shmemx_pool_grow(shmemx_pool_t pool, size_t size)
{
    return NAMED(shmemi_pool_grow(inner(pool), size));
}

int shmemx_pool_alloc(shmemx_pool_t pool, size_t size, size_t align, unsigned flags, void **out)
{
    if (shmemi_unlikely(!out || flags & ~(SHMEMX_OWN | SHMEMX_KEEP | SHMEMX_ZERO)))
        return NAMED(
            out ? shmemi_fail(-EINVAL, "flags is %#x: SHMEMX_OWN, SHMEMX_KEEP and SHMEMX_ZERO mean something", flags)
                : null("out"));
    if (shmemi_unlikely((flags & (SHMEMX_OWN | SHMEMX_KEEP)) == (SHMEMX_OWN | SHMEMX_KEEP)))
        return NAMED(shmemi_fail(-EINVAL,
                                 "a buffer with a segment of its own cannot outlive the process: its memory lives "
                                 "as long as anybody has it mapped"));
    int rc = shmemi_pool_alloc(inner(pool), size, align, flags, out);
    return shmemi_likely(rc == 0) ? 0 : NAMED(rc);
}

int shmemx_pool_free(shmemx_pool_t pool, void *buffer)
{
    int rc = shmemi_pool_free(inner(pool), buffer);
    return shmemi_likely(rc == 0) ? 0 : NAMED(rc);
}

int shmemx_pool_keep(shmemx_pool_t pool, void *buffer)
{
    return NAMED(shmemi_pool_keep(inner(pool), buffer));
}

int shmemx_pool_buffer(shmemx_pool_t pool, const void *address, void **begin, size_t *bytes)
{
    return NAMED(begin && bytes ? shmemi_pool_buffer(inner(pool), address, begin, bytes)
                                : null(begin ? "bytes" : "begin"));
}

int shmemx_pool_offset(shmemx_pool_t pool, const void *address, uint64_t *offset)
{
    return NAMED(offset ? shmemi_pool_offset(inner(pool), address, offset) : null("offset"));
}

int shmemx_pool_address(shmemx_pool_t pool, uint64_t offset, size_t bytes, void **out)
{
    return NAMED(out ? shmemi_pool_address(inner(pool), offset, bytes, out) : null("out"));
}

int shmemx_pool_stats(shmemx_pool_t pool, shmemx_pool_stats_t *out)
{
    struct shmemi_pool_stats s;
    int rc = out ? shmemi_pool_stats(inner(pool), &s) : null("out");
    if (rc < 0)
        return NAMED(rc);
    *out = (shmemx_pool_stats_t){.size = s.size,
                                 .max_size = s.max_size,
                                 .in_use = s.in_use,
                                 .buffers = s.buffers,
                                 .free = s.free,
                                 .largest_free = s.largest_free,
                                 .high_water = s.high_water,
                                 .members = s.members,
                                 .died = s.died,
                                 .owned = s.owned};
    memcpy(out->failure, s.failure, sizeof out->failure);
    return 0;
}

int shmemx_pool_info(shmemx_pool_t pool, shmemx_pool_info_t *out)
{
    struct shmemi_pool_about about;
    int rc = out ? shmemi_pool_about(inner(pool), &about) : null("out");
    if (rc < 0)
        return NAMED(rc);
    *out = (shmemx_pool_info_t){.page_size = about.page_size,
                                .huge_bytes = about.huge_bytes,
                                .numa_node = about.numa_node,
                                .locked = about.locked,
                                .base = about.base,
                                .writable = about.writable};
    snprintf(out->type, sizeof out->type, "%s", about.type);
    snprintf(out->name, sizeof out->name, "%s", about.name);
    snprintf(out->path, sizeof out->path, "%s", about.path);
    snprintf(out->fallback, sizeof out->fallback, "%s", about.fallback);
    snprintf(out->cache, sizeof out->cache, "write-back");
    return 0;
}

/* ---- files ---- */

int shmemx_file_create(const char *path, const shmemx_pool_attr_t *attr, shmemx_pool_t *out)
{
    if (!attr || !out)
        return NAMED(null(attr ? "out" : "attr"));
    struct shmemi_pool_config config = config_of(attr);
    struct shmemi_pool *pool = NULL;
    int rc = shmemi_file_create(path, &config, &pool);
    if (rc == 0)
        *out = outer(pool);
    return NAMED(rc);
}

int shmemx_file_open(const char *path, const char *mode, shmemx_pool_t *out)
{
    struct shmemi_pool *pool = NULL;
    int rc = out ? shmemi_file_open(path, mode, &pool) : null("out");
    if (rc == 0)
        *out = outer(pool);
    return NAMED(rc);
}

int shmemx_file_header(const char *path, shmemx_file_header_t *out)
{
    struct shmemi_file_header h;
    int rc = out ? shmemi_file_header(path, &h) : null("out");
    if (rc < 0)
        return NAMED(rc);
    *out = (shmemx_file_header_t){.version = h.version,
                                  .clean = h.clean,
                                  .attached = h.attached,
                                  .generation = h.generation,
                                  .created = h.created,
                                  .size = h.size,
                                  .max_size = h.max_size,
                                  .begin = h.begin};
    memcpy(out->name, h.name, sizeof out->name);
    return 0;
}

int shmemx_pool_flush(shmemx_pool_t pool)
{
    return NAMED(shmemi_pool_flush(inner(pool)));
}

/* ---- names ---- */

int shmemx_pool_alloc_named(shmemx_pool_t pool, const char *name, size_t size, size_t align, const void *note,
                            size_t note_bytes, int (*init)(void *buffer, void *context), void *context, void **out)
{
    struct shmemi_naming naming = {.name = name,
                                   .size = size,
                                   .align = align,
                                   .note = note,
                                   .note_bytes = note_bytes,
                                   .init = init,
                                   .context = context};
    return NAMED(out ? shmemi_pool_alloc_named(inner(pool), &naming, out) : null("out"));
}

int shmemx_pool_name(shmemx_pool_t pool, const char *name, void *buffer, size_t bytes, const void *note,
                     size_t note_bytes)
{
    struct shmemi_naming naming = {.name = name, .size = bytes, .note = note, .note_bytes = note_bytes};
    return NAMED(shmemi_pool_name_buffer(inner(pool), &naming, buffer));
}

static void tell_named(const struct shmemi_named *found, shmemx_named_t *out)
{
    *out = (shmemx_named_t){.address = found->address, .bytes = found->bytes, .note_bytes = found->note_bytes};
    memcpy(out->name, found->name, sizeof out->name);
    memcpy(out->note, found->note, found->note_bytes);
}

int shmemx_pool_find(shmemx_pool_t pool, const char *name, shmemx_named_t *out)
{
    struct shmemi_named found;
    int rc = out ? shmemi_pool_find_name(inner(pool), name, &found) : null("out");
    if (rc == 0)
        tell_named(&found, out);
    return NAMED(rc);
}

int shmemx_pool_unname(shmemx_pool_t pool, const char *name)
{
    return NAMED(shmemi_pool_unname(inner(pool), name));
}

int shmemx_pool_next_name(shmemx_pool_t pool, uint64_t *cursor, shmemx_named_t *out)
{
    struct shmemi_named found;
    int rc = cursor && out ? shmemi_pool_next_name(inner(pool), cursor, &found) : null(cursor ? "out" : "cursor");
    if (rc == 1)
        tell_named(&found, out);
    return NAMED(rc);
}

_Static_assert(SHMEMX_IS_MUTEX == (int)SHMEMI_OBJECT_MUTEX && SHMEMX_IS_COND == (int)SHMEMI_OBJECT_CONDITION &&
                   SHMEMX_IS_QUEUE == (int)SHMEMI_OBJECT_QUEUE && SHMEMX_IS_GROUP == (int)SHMEMI_OBJECT_GROUP &&
                   SHMEMX_NOTE_MOST == (int)SHMEMI_OBJECT_NOTE,
               "one list of types");

int shmemx_pool_what(shmemx_pool_t pool, const char *name)
{
    return NAMED(name ? shmemi_what_object(pool, name) : null("name"));
}

int shmemx_key_what(const char *key, shmemx_pool_t *pool)
{
    struct shmemi_pool *found = NULL;
    int rc = key ? shmemi_object_what_key(key, &found) : null("key");
    if (pool)
        *pool = outer(found);
    return NAMED(rc);
}

/* ---- keys ---- */

static int parse_token(const char *text, uint64_t token[2])
{
    unsigned long long high, low;
    int end = 0;
    if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32 ||
        sscanf(text, "%16llx%16llx%n", &high, &low, &end) != 2 || end != 32)
        return shmemi_fail(-EINVAL, "the token is malformed: 32 hexadecimal digits of shmemx_token() are needed");
    token[0] = high;
    token[1] = low;
    return 0;
}

int shmemx_token(char out[33])
{
    uint64_t token[2];
    if (!out)
        return NAMED(null("out"));
    shmemi_random_token(token);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)token[0], (unsigned long long)token[1]);
    return 0;
}

static int make_allow(const shmemx_allow_t *from, struct shmemi_allow *to)
{
    uint32_t pe;
    *to = (struct shmemi_allow){.kind = from->kind, .rights = from->rights, .id = {from->id}};
    if (from->kind < SHMEMX_ALLOW_USER || from->kind > SHMEMX_ALLOW_TOKEN)
        return shmemi_fail(-EINVAL, "kind is %d: SHMEMX_ALLOW_USER, _GROUP, _PE or _TOKEN is needed", (int)from->kind);
    if (from->rights & ~SHMEMX_RIGHTS_ALL || from->rights == 0)
        return shmemi_fail(-EINVAL, "rights is %#x: some of SHMEMX_RIGHTS_ALL (%#x) are needed", from->rights,
                           SHMEMX_RIGHTS_ALL);
    if (from->kind == SHMEMX_ALLOW_PE) {
        shmemi_job_claims(&to->id[1], &pe);
        return to->id[1] ? 0 : shmemi_fail(-EPERM, "rights of a PE need a job, and this process is in none");
    }
    if (from->kind == SHMEMX_ALLOW_TOKEN)
        return from->token ? parse_token(from->token, to->id) : null("token");
    return 0;
}

static int make_allows(const shmemx_export_attr_t *attr, struct shmemi_allow *to)
{
    if (attr->allowed > SHMEMI_KEY_ALLOWS)
        return shmemi_fail(-E2BIG, "allowed is %zu: a key has at most %d entries", attr->allowed, SHMEMI_KEY_ALLOWS);
    if (attr->allowed && !attr->allow)
        return null("allow");
    for (size_t i = 0; i < attr->allowed; i++) {
        int rc = make_allow(&attr->allow[i], &to[i]);
        if (rc < 0)
            return shmemi_fail_in(rc, "allow[%zu]", i);
    }
    return 0;
}

static int check_export(const void *address, size_t bytes, const shmemx_export_attr_t *attr)
{
    if (!address)
        return null("address");
    if (bytes == 0)
        return shmemi_fail(-EINVAL, "bytes is 0: a key opens at least one byte");
    if (attr->rights & ~SHMEMX_RIGHTS_ALL)
        return shmemi_fail(-EINVAL, "rights is %#x, and only the bits of SHMEMX_RIGHTS_ALL (%#x) mean something",
                           attr->rights, SHMEMX_RIGHTS_ALL);
    if (attr->rights == 0 && attr->allowed == 0)
        return shmemi_fail(-EINVAL, "rights is 0 and nobody is allowed anything: the key could not be used");
    if (attr->note_bytes > SHMEMX_NOTE_MOST || (attr->note_bytes && !attr->note))
        return shmemi_fail(-E2BIG, "the note has %zu bytes (at %p); %d fit", attr->note_bytes, attr->note,
                           SHMEMX_NOTE_MOST);
    return 0;
}

int shmemx_export(const void *address, size_t bytes, const shmemx_export_attr_t *attr, char key[SHMEMX_KEY_TEXT])
{
    static const shmemx_export_attr_t usual = SHMEMX_EXPORT_ATTR;
    struct shmemi_allow allow[SHMEMI_KEY_ALLOWS];
    attr = attr ? attr : &usual;
    int rc = key ? check_export(address, bytes, attr) : null("key");
    if (rc < 0 || (rc = make_allows(attr, allow)) < 0)
        return NAMED(rc);
    struct shmemi_pool *pool = shmemi_pool_of(address);
    struct shmemi_device_span span;
    if (!pool) {
        struct shmemi_export what = {.rights = attr->rights,
                                     .flags = attr->frozen ? SHMEMI_KEY_FROZEN : 0,
                                     .allow = allow,
                                     .allowed = (uint32_t)attr->allowed,
                                     .note = attr->note,
                                     .note_bytes = (uint32_t)attr->note_bytes};
        return NAMED(shmemi_device_table_find(address, &span) ? shmemi_device_export(address, bytes, &what, key)
                                                              : shmemi_job_export(address, bytes, &what, key));
    }
    struct shmemi_pool_export what = {.rights = attr->rights,
                                      .allow = allow,
                                      .allowed = (uint32_t)attr->allowed,
                                      .frozen = attr->frozen != 0,
                                      .note = attr->note,
                                      .note_bytes = (uint32_t)attr->note_bytes};
    return NAMED(shmemi_pool_export_range(pool, address, bytes, &what, key));
}

int shmemx_pool_export(shmemx_pool_t pool, char key[SHMEMX_KEY_TEXT])
{
    return NAMED(key ? shmemi_pool_export_all(inner(pool), key) : null("key"));
}

int shmemx_revoke(const char *text, int move)
{
    struct shmemi_key key;
    int rc = text ? shmemi_key_parse(text, &key) : null("key");
    if (rc < 0)
        return NAMED(rc);
    struct shmemi_pool *pool = shmemi_pool_of_share(key.share);
    if (pool)
        return NAMED(shmemi_pool_revoke(pool, &key, move != 0));
    if ((rc = shmemi_device_revoke(&key)) != -ENOENT)
        return NAMED(rc == 0 && move ? shmemi_fail(-EINVAL, "the key is revoked, but memory of a device cannot move")
                                     : rc);
    rc = shmemi_job_revoke(&key);
    if (rc == -ENOENT)
        rc = shmemi_fail(-ENOKEY,
                         "the key was made by none of this process's pools, nor by its job: only those who share the "
                         "memory can revoke it");
    else if (rc == 0 && move)
        rc = shmemi_fail(-EINVAL,
                         "the key is revoked, but memory of the job cannot move: deregister or free it instead");
    return NAMED(rc);
}

/* ---- imports ---- */

int shmemi_make_claims(const char *token, struct shmemi_import_claims *out)
{
    *out = (struct shmemi_import_claims){0};
    int rc = token ? parse_token(token, out->token) : 0;
    if (rc == 0)
        shmemi_job_claims(&out->job, &out->pe);
    return rc;
}

int shmemx_import(const char *key, shmemx_import_mode_t mode, const char *token, shmemx_import_t *out)
{
    struct shmemi_import_claims claims;
    struct shmemi_import *import = NULL;
    struct shmemi_opaque *handle = NULL;
    int rc = key && out ? 0 : null(key ? "out" : "key");
    if (rc == 0 && ((int)mode < 0 || mode > SHMEMX_IMPORT_ATOMIC))
        rc = shmemi_fail(-EINVAL, "mode is %d, which is no shmemx_import_mode_t", (int)mode);
    if (rc < 0 || (rc = shmemi_make_claims(token, &claims)) < 0 || (rc = shmemi_opaque_new(&handle)) < 0)
        return NAMED(rc);
    rc = shmemi_import_open(key, (enum shmemi_import_mode)mode, &claims, &import);
    if ((rc = shmemi_opaque_settle(handle, rc, SHMEMI_OPAQUE_IMPORT, import)) == 0)
        *out = (shmemx_import_t)(void *)handle;
    return NAMED(rc);
}

int shmemx_import_info(shmemx_import_t import, shmemx_import_info_t *out)
{
    void *inner = NULL;
    int rc = shmemi_opaque_enter(import, SHMEMI_OPAQUE_IMPORT, "import", &inner);
    const struct shmemi_import *i = inner;
    if (rc < 0 || !out)
        return NAMED(rc < 0 ? rc : null("out"));
    *out = (shmemx_import_info_t){.address = i->address,
                                  .bytes = i->bytes,
                                  .rights = i->rights,
                                  .mode = (shmemx_import_mode_t)i->mode,
                                  .note = i->record.note,
                                  .note_bytes = i->record.note_bytes};
    return 0;
}

int shmemx_import_close(shmemx_import_t import)
{
    void *inner = NULL;
    int rc = shmemi_opaque_take(import, SHMEMI_OPAQUE_IMPORT, "import", &inner);
    if (rc < 0)
        return NAMED(rc);
    shmemi_import_close(inner);
    shmemi_opaque_end(import, SHMEMI_OPAQUE_IMPORT, true);
    return 0;
}

int shmemx_import_atomic(shmemx_import_t import, shmemx_key_atomic_t op, unsigned width, uint64_t offset,
                         uint64_t operand, uint64_t compare, uint64_t *before)
{
    uint64_t ignored;
    void *inner = NULL;
    int rc = shmemi_opaque_enter(import, SHMEMI_OPAQUE_IMPORT, "import", &inner);
    if (rc < 0)
        return NAMED(rc);
    if ((int)op < 0 || op > SHMEMX_KEY_CAS)
        return NAMED(shmemi_fail(-EINVAL, "op is %d, which is no shmemx_key_atomic_t", (int)op));
    return NAMED(shmemi_import_atomic(inner, (enum shmemi_atomic)op, width, offset, operand, compare,
                                      before ? before : &ignored));
}
