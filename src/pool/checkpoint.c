// SPDX-License-Identifier: Apache-2.0
// What a file's metadata was at a flush, in a form that a power loss cannot tear: written beside the last one, with a
// check sum in the header slot that makes it the valid one.
//
// form: struct head; then for each head of units[] its entry, followed, for a slab, by a byte a block; then for each
// name its index and the entry.
#include "pool_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/error.h"

struct head {
    char magic[8];
    uint64_t units, heads, names, bytes;
};

static const char magic[8] = "SHMEMCP";

struct out {
    uint8_t *data;
    size_t bytes, room;
    bool failed;
};

static void put(struct out *out, const void *data, size_t bytes)
{
    if (out->failed || bytes == 0)
        return;
    if (out->room - out->bytes < bytes) {
        size_t room = 2 * (out->bytes + bytes);
        uint8_t *grown = realloc(out->data, room);
        if (!grown) {
            out->failed = true;
            return;
        }
        out->data = grown;
        out->room = room;
    }
    memcpy(out->data + out->bytes, data, bytes);
    out->bytes += bytes;
}

/* As a block will be when no process is attached. */
static uint8_t at_rest(uint8_t byte)
{
    return byte == SHMEMI_BLOCK_USED ? SHMEMI_BLOCK_KEPT
           : byte == SHMEMI_BLOCK_CACHED || byte == SHMEMI_BLOCK_MAKING || byte > SHMEMI_BLOCK_MAKING
               ? SHMEMI_BLOCK_FREE
               : byte;
}

static void put_slab(const struct shmemi_pool *pool, struct out *out, uint64_t unit, uint64_t entry)
{
    uint8_t bytes[(256 << 10) / SHMEMI_GRAIN];
    uint32_t blocks = shmemi_blocks_in(entry);
    for (uint32_t i = 0; i < blocks; i++) /* acquire: an allocation that was told of before the flush is in it */
        bytes[i] = at_rest(
            atomic_load_explicit(&pool->blocks[unit * SHMEMI_UNIT_BLOCKS + i], memory_order_acquire)); /* [block] */
    put(out, bytes, blocks);
}

static void put_units(const struct shmemi_pool *pool, struct out *out, struct head *head)
{
    const uint64_t owner = shmemi_unit(SHMEMI_UNIT_NONE, 0, 511, 0);
    uint64_t entry;
    for (uint64_t unit = 0; unit < head->units && shmemi_units_head(pool, unit, &entry);
         unit += shmemi_unit_length(entry)) {
        uint64_t rest = entry & ~owner;
        if (entry & (SHMEMI_UNIT_MAKING | SHMEMI_UNIT_FREEING))
            rest = shmemi_unit(SHMEMI_UNIT_FREE, 0, 0, shmemi_unit_length(entry));
        put(out, &rest, sizeof rest);
        if (shmemi_unit_kind(entry) == SHMEMI_UNIT_SLAB)
            put_slab(pool, out, unit, entry);
        head->heads++;
    }
}

static void put_names(const struct shmemi_pool *pool, struct out *out, struct head *head)
{
    for (uint64_t index = 0; index < pool->at.name_count; index++) {
        if (index % 64 == 0 && atomic_load_explicit(&pool->name_map[index / 64], memory_order_relaxed) == 0)
            index += 64; /* relaxed: the lock orders it */
        if (index >= pool->at.name_count || !shmemi_names_used(pool, index))
            continue;
        struct shmemi_pool_name name = pool->names[index];
        if (atomic_load_explicit(&pool->names[index].state, memory_order_acquire) != SHMEMI_NAME_LIVE) /* [name] */
            continue;
        put(out, &index, sizeof index);
        put(out, &name, sizeof name);
        head->names++;
    }
}

/* With the lock held. */
static int gather(const struct shmemi_pool *pool, struct out *out)
{
    struct head head = {.units = shmemi_units_count(pool)};
    memcpy(head.magic, magic, sizeof magic);
    put(out, &head, sizeof head);
    put_units(pool, out, &head);
    put_names(pool, out, &head);
    head.bytes = out->bytes;
    if (!out->failed)
        memcpy(out->data, &head, sizeof head);
    return out->failed ? shmemi_fail(-ENOMEM, "no private memory for the list of what is in the file") : 0;
}

static int write_all(const struct shmemi_pool *pool, const void *data, size_t bytes, uint64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = pwrite(pool->control_fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
        if (wrote < 0 && errno != EINTR)
            return shmemi_fail_errno("writing to '%s'", pool->path);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static int to_disk(const struct shmemi_pool *pool)
{
    return fdatasync(pool->control_fd) < 0 ? shmemi_fail_errno("writing '%s' to disk", pool->path) : 0;
}

static int write_out(struct shmemi_pool *pool, const struct out *out, enum shmemi_pool_use use)
{
    struct shmemi_pool_slot slot;
    int rc = shmemi_file_read_slot(pool, &slot);
    if (rc < 0)
        return rc;
    uint64_t area = slot.checkpoint_bytes ? 1 - slot.checkpoint_area : 0, at = pool->at.checkpoint[area];
    if ((rc = shmemi_pool_reserve_control(pool, at, out->bytes)) < 0 || (rc = to_disk(pool)) < 0 ||
        (rc = write_all(pool, out->data, out->bytes, at)) < 0 || (rc = to_disk(pool)) < 0)
        return rc;
    slot.checkpoint_area = area;
    slot.checkpoint_bytes = out->bytes;
    slot.checkpoint_crc = shmemi_crc32c(0, out->data, out->bytes);
    slot.units = ((const struct head *)(const void *)out->data)->units;
    slot.use = use;
    return shmemi_file_write_slot(pool, &slot);
}

int shmemi_checkpoint_write(struct shmemi_pool *pool, enum shmemi_pool_use use)
{
    struct out out = {0};
    pthread_mutex_lock(&pool->flushing);
    int rc = shmemi_file_lock_flush(pool, true);
    if (rc == 0) {
        shmemi_central_take(pool); /* what is listed here was written before the data goes to disk */
        rc = gather(pool, &out);
        shmemi_central_give(pool);
        if (rc == 0)
            rc = write_out(pool, &out, use);
        shmemi_file_lock_flush(pool, false);
    }
    pthread_mutex_unlock(&pool->flushing);
    free(out.data);
    return rc;
}

/* ---- and back ---- */

struct in {
    const uint8_t *data;
    size_t bytes, at;
};

static const void *get(struct in *in, size_t bytes)
{
    if (bytes > in->bytes - in->at)
        return NULL;
    in->at += bytes;
    return in->data + in->at - bytes;
}

static bool get_unit(struct shmemi_pool *pool, struct in *in, uint64_t units, uint64_t *unit)
{
    uint64_t entry;
    const void *data = get(in, sizeof entry);
    if (!data)
        return false;
    memcpy(&entry, data, sizeof entry);
    uint64_t length = shmemi_unit_length(entry);
    enum shmemi_unit_kind kind = shmemi_unit_kind(entry);
    if (length == 0 || length > units - *unit || kind < SHMEMI_UNIT_FREE || kind > SHMEMI_UNIT_SLAB ||
        shmemi_unit_class(entry) >= SHMEMI_CLASSES || shmemi_unit_owner(entry))
        return false;
    if (kind == SHMEMI_UNIT_SLAB) {
        uint32_t blocks = shmemi_blocks_in(entry);
        if (!(data = get(in, blocks)))
            return false;
        for (uint32_t i = 0; i < blocks; i++) /* relaxed, all: nobody else is attached */
            atomic_store_explicit(&pool->blocks[*unit * SHMEMI_UNIT_BLOCKS + i], at_rest(((const uint8_t *)data)[i]),
                                  memory_order_relaxed);
    }
    for (uint64_t i = 1; i < length; i++) { /* nothing is found any more in what is free now */
        uint64_t inside = kind == SHMEMI_UNIT_FREE ? 0 : shmemi_unit(SHMEMI_UNIT_INSIDE, 0, 0, i);
        if (atomic_load_explicit(&pool->units[*unit + i], memory_order_relaxed) != inside)
            atomic_store_explicit(&pool->units[*unit + i], inside, memory_order_relaxed);
    }
    atomic_store_explicit(&pool->units[*unit], entry, memory_order_relaxed);
    *unit += length;
    return true;
}

static bool get_name(struct shmemi_pool *pool, struct in *in)
{
    uint64_t index;
    struct shmemi_pool_name name;
    struct shmemi_pool_block block;
    const void *data = get(in, sizeof index);
    if (!data)
        return false;
    memcpy(&index, data, sizeof index);
    if (!(data = get(in, sizeof name)) || index >= pool->at.name_count)
        return false;
    memcpy(&name, data, sizeof name);
    name.name[sizeof name.name - 1] = '\0';
    if (name.note_bytes > sizeof name.note || shmemi_pool_look(pool, name.offset, &block) < 0)
        return true; /* a name of something that is not there: it goes */
    int rc = shmemi_names_restore(pool, &name);
    if (rc == 0)
        shmemi_pool_raise_locked(pool, &block, SHMEMI_BLOCK_NAMED);
    return rc != -ENOSPC && rc != -ENOMEM; /* a full disk must not cost a name */
}

/* units: as the header says, which was compared with the size of the file. */
static bool rebuild(struct shmemi_pool *pool, struct in *in, uint64_t units)
{
    struct head head;
    const void *data = get(in, sizeof head);
    if (!data)
        return false;
    memcpy(&head, data, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.bytes != in->bytes || head.units == 0 ||
        head.units != units)
        return false;
    memset(pool->control + pool->at.state, 0, sizeof *pool->state);
    memset(pool->members, 0, SHMEMI_POOL_MEMBERS * sizeof *pool->members);
    /* Objects in the file name holders of another time: no member from now on may be taken for one of them. */
    uint32_t generation = (uint32_t)shmemi_random();
    for (unsigned slot = 0; slot < SHMEMI_POOL_MEMBERS; slot++)
        atomic_store_explicit(&pool->members[slot].base.generation, generation,
                              memory_order_relaxed); /* we are alone */
    memset((void *)(uintptr_t)pool->name_map, 0, pool->at.name_count / 8);
    atomic_store_explicit(&pool->state->units, head.units, memory_order_relaxed);
    uint64_t unit = 0;
    for (uint64_t i = 0; i < head.heads; i++)
        if (!get_unit(pool, in, head.units, &unit))
            return false;
    for (uint64_t i = 0; i < head.names; i++)
        if (!get_name(pool, in))
            return false;
    shmemi_units_recover(pool);
    return unit == head.units;
}

int shmemi_checkpoint_restore(struct shmemi_pool *pool, const struct shmemi_pool_slot *slot)
{
    size_t bytes = slot->checkpoint_bytes;
    uint8_t *data = bytes ? malloc(bytes) : NULL;
    if (!data)
        return bytes ? shmemi_fail(-ENOMEM, "no private memory for the list of what is in the file")
                     : shmemi_fail(-EILSEQ, "it has no list of what is in it");
    ssize_t got = pread(pool->control_fd, data, bytes, (off_t)pool->at.checkpoint[slot->checkpoint_area]);
    struct in in = {.data = data, .bytes = bytes};
    int rc = 0;
    if (got != (ssize_t)bytes || shmemi_crc32c(0, data, bytes) != slot->checkpoint_crc)
        rc = shmemi_fail(-EILSEQ, "the list of what is in it, written at its last flush, is damaged");
    else if (!rebuild(pool, &in, slot->units))
        rc = shmemi_fail(-EILSEQ, "the list of what is in it makes no sense");
    free(data);
    return rc;
}
