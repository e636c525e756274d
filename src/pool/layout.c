// SPDX-License-Identifier: Apache-2.0
// The layout of a pool, and its header slots.
#include "layout.h"

#include <errno.h>
#include <string.h>

#include "base/crc.h"
#include "base/error.h"

enum { SLOT = 4096, LARGE_PAGE = 64 << 10 /* the largest page of the machines we know: parts begin at a page */ };

static uint64_t clamp(uint64_t n, uint64_t low, uint64_t high)
{
    return n < low ? low : n > high ? high : n;
}

static uint64_t place(uint64_t *end, uint64_t bytes)
{
    uint64_t begin = *end;
    *end = shmemi_round_up(begin + bytes, LARGE_PAGE);
    return begin;
}

uint64_t shmemi_pool_checkpoint_bytes(uint64_t units, uint64_t names)
{
    return 64 + units * (sizeof(uint64_t) + SHMEMI_UNIT_BLOCKS) +
           names * (sizeof(struct shmemi_pool_name) + sizeof(uint64_t));
}

void shmemi_pool_lay_out(uint64_t max_units, bool persistent, struct shmemi_pool_layout *out)
{
    struct shmemi_pool_layout l = {.max_units = max_units};
    l.key_count = clamp(max_units / 16, 256, 131072);
    l.name_count = shmemi_round_up(clamp(max_units / 64, 256, 65536), 64);
    uint64_t end = 0;
    place(&end, 2 * SLOT);
    l.state = place(&end, sizeof(struct shmemi_pool_state));
    l.members = place(&end, SHMEMI_POOL_MEMBERS * sizeof(struct shmemi_pool_member));
    l.units = place(&end, max_units * sizeof(uint64_t));
    l.returned = place(&end, max_units * sizeof(uint32_t));
    l.blocks = place(&end, max_units * SHMEMI_UNIT_BLOCKS);
    l.keys = place(&end, l.key_count * sizeof(struct shmemi_key_record));
    l.name_map = place(&end, l.name_count / 8);
    l.names = place(&end, l.name_count * sizeof(struct shmemi_pool_name));
    l.checkpoint_most = shmemi_pool_checkpoint_bytes(max_units, l.name_count);
    for (int i = 0; i < 2; i++)
        l.checkpoint[i] = place(&end, persistent ? l.checkpoint_most : 0);
    l.control_bytes = end;
    *out = l;
}

uint64_t shmemi_pool_fingerprint(void)
{
    uint64_t sizes[] = {sizeof(struct shmemi_pool_slot),
                        sizeof(struct shmemi_pool_state),
                        sizeof(struct shmemi_pool_member),
                        sizeof(struct shmemi_pool_name),
                        sizeof(struct shmemi_key_record),
                        SHMEMI_POOL_LANES,
                        SHMEMI_UNIT,
                        SHMEMI_CLASSES,
                        UINT64_C(0x0102030405060708)};
    return (uint64_t)shmemi_crc32c(0, sizes, sizeof sizes) << 32 | SHMEMI_POOL_VERSION;
}

static uint32_t slot_crc(const struct shmemi_pool_slot *slot)
{
    return shmemi_crc32c(0, slot, offsetof(struct shmemi_pool_slot, crc));
}

void shmemi_pool_seal_slot(struct shmemi_pool_slot *slot)
{
    memcpy(slot->magic, SHMEMI_POOL_MAGIC, sizeof slot->magic);
    slot->version = SHMEMI_POOL_VERSION;
    slot->fingerprint = shmemi_pool_fingerprint();
    slot->crc = slot_crc(slot);
}

int shmemi_pool_check_slot(const struct shmemi_pool_slot *slot)
{
    if (memcmp(slot->magic, SHMEMI_POOL_MAGIC, sizeof slot->magic) != 0)
        return shmemi_fail(-EINVAL, "it does not begin as a shmem pool does");
    if (slot->version != SHMEMI_POOL_VERSION)
        return shmemi_fail(-EPROTO, "it has the format of version %u, and this library reads version %u%s",
                           slot->version, SHMEMI_POOL_VERSION,
                           slot->version > SHMEMI_POOL_VERSION ? ": a newer shmem is needed" : "");
    if (slot->crc != slot_crc(slot))
        return shmemi_fail(-EILSEQ, "the check sum of its header is wrong");
    if (slot->fingerprint != shmemi_pool_fingerprint())
        return shmemi_fail(-EPROTO, "it was made by a build with another layout (%016llx; this one: %016llx)",
                           (unsigned long long)slot->fingerprint, (unsigned long long)shmemi_pool_fingerprint());
    struct shmemi_pool_layout l;
    if (slot->max_units == 0 || slot->max_units > UINT64_C(1) << 36 || slot->units > slot->max_units)
        return shmemi_fail(-EILSEQ, "its header speaks of an impossible size");
    if (slot->page & (slot->page - 1) || slot->page > SHMEMI_POOL_PAGE_MOST)
        return shmemi_fail(-EILSEQ, "its header speaks of pages of %llu bytes", (unsigned long long)slot->page);
    shmemi_pool_lay_out(slot->max_units, slot->flags & SHMEMI_POOL_PERSISTENT, &l);
    if (slot->control_bytes != l.control_bytes || slot->checkpoint_bytes > l.checkpoint_most ||
        slot->checkpoint_area > 1)
        return shmemi_fail(-EILSEQ, "the sizes in its header do not fit together");
    return 0;
}
