// SPDX-License-Identifier: Apache-2.0
// The table of keys.
#include "share_keys.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "share_serve.h"

enum {
    KEPT_REVOKED = 256, /* so many revoked or orphaned records stay, for importers to be told */
    LOOKS = 16,         /* at records in use, before a fresh one is taken */
    RETRIES = 100,
};

static uint32_t with_kind(uint32_t state, enum shmemi_key_state kind)
{
    return (state & ~0xffu) | kind;
}

/* The state of the next use: the count tells readers that what they copied was changed meanwhile. It is never 0. */
static uint32_t next_use(uint32_t state, unsigned slot)
{
    uint32_t uses = (state >> 16) + 1;
    return (uses > 0xffff ? 1 : uses) << 16 | slot << 8 | SHMEMI_KEY_WRITING;
}

/* --- copying, word by word: the other side may be at it at the same time -------------------------------------------
 */

enum { WORDS = (sizeof(struct shmemi_key_record) - sizeof(uint64_t)) / sizeof(uint64_t) }; /* after state and flags */

static void store_record(struct shmemi_key_record *to, const struct shmemi_key_record *from)
{
    const uint64_t *words = from->token;
    uint64_t *out = to->token;
    /* [record] relaxed: published by the release of `state`, in shmemi_keys_add(). */
    __atomic_store_n(&to->flags, from->flags, __ATOMIC_RELAXED);
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n(out + i, words[i], __ATOMIC_RELAXED);
}

static void load_record(struct shmemi_key_record *to, const struct shmemi_key_record *from)
{
    const uint64_t *words = from->token;
    uint64_t *out = to->token;
    /* [record] relaxed: between the acquire and the fence of read_record(). */
    to->flags = __atomic_load_n(&from->flags, __ATOMIC_RELAXED);
    for (size_t i = 0; i < WORDS; i++)
        out[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
}

/* Copies a record as it was at one instant, and returns its state then. */
static uint32_t read_record(const struct shmemi_key_record *r, struct shmemi_key_record *out)
{
    /* [state] acquire pairs with the release in shmemi_keys_add(): the record is filled. */
    uint32_t state = atomic_load_explicit(&r->state, memory_order_acquire);
    for (int i = 0; i < RETRIES; i++) {
        uint32_t kind = shmemi_key_kind(state);
        if (kind < SHMEMI_KEY_LIVE || kind > SHMEMI_KEY_ORPHANED)
            break;
        load_record(out, r);
        /* [record] the fence pairs with the one in claim(): whoever sees a word of the next use sees its state too. */
        atomic_thread_fence(memory_order_acquire);
        uint32_t after = atomic_load_explicit(&r->state, memory_order_relaxed);
        if (after == state) {
            atomic_store_explicit(&out->state, state, memory_order_relaxed); /* the caller's own */
            return state;
        }
        atomic_thread_fence(memory_order_acquire); /* [state] as above, for the next round */
        state = after;
    }
    return SHMEMI_KEY_FREE; /* being written, or changed all the time: nothing that a key could mean */
}

bool shmemi_key_record_is_sound(const struct shmemi_key_record *r)
{
    uint64_t end;
    return r->allowed <= SHMEMI_KEY_ALLOWS && r->note_bytes <= SHMEMI_KEY_NOTE &&
           !(r->rights & ~(uint32_t)SHMEMI_RIGHTS_ALL) && r->bytes > 0 &&
           !__builtin_add_overflow(r->offset, r->bytes, &end) && end <= INT64_MAX;
}

/* --- the part in use -----------------------------------------------------------------------------------------------
 */

/* Looks no further than one record beyond it, because those after may have no memory yet. */
static uint32_t used(struct shmemi_keys *keys)
{
    /* [used] relaxed: a hint; what is in the records is ordered by their states. */
    uint32_t n = atomic_load_explicit(&keys->used, memory_order_relaxed), before = n;
    while (n < keys->count && atomic_load_explicit(&keys->records[n].state, memory_order_relaxed) != 0)
        n++;
    if (n != before)
        atomic_store_explicit(&keys->used, n, memory_order_relaxed); /* a smaller one of another thread does no harm */
    return n;
}

static bool is_used(struct shmemi_keys *keys, uint32_t index)
{
    return index < atomic_load_explicit(&keys->used, memory_order_relaxed) || index < used(keys); /* [used] */
}

/* --- adding --------------------------------------------------------------------------------------------------------
 */

static bool claim(struct shmemi_keys *keys, uint32_t index, uint32_t state)
{
    /* [state] acquire pairs with the release of whoever freed or revoked it; one process alone gets it. */
    bool got = atomic_compare_exchange_strong_explicit(&keys->records[index].state, &state, next_use(state, keys->slot),
                                                       memory_order_acquire, memory_order_relaxed);
    /* [record] pairs with the fence in read_record(): no word is written before the state says so. */
    atomic_thread_fence(memory_order_release);
    return got;
}

static void step_cursor(struct shmemi_keys *keys, uint32_t n)
{
    if (++keys->cursor < n)
        return;
    keys->cursor = 0;
    keys->revoked = keys->revoked_now;
    keys->revoked_now = 0;
}

/* One more or less, in this round and in the last. What other members do is found in the next round. */
static void count_revoked(struct shmemi_keys *keys, uint32_t index, int change)
{
    if (change < 0 && keys->revoked)
        keys->revoked--;
    if (change > 0)
        keys->revoked++;
    if (index >= keys->cursor)
        return;
    if (change < 0 && keys->revoked_now)
        keys->revoked_now--;
    if (change > 0)
        keys->revoked_now++;
}

/* What may be used again beside free records. */
enum again { WHERE_MANY, REVOKED, REVOKED_AND_ORPHANED };

static bool may_go(const struct shmemi_keys *keys, uint32_t kind, enum again what)
{
    return kind == SHMEMI_KEY_FREE || keys->revoked > KEPT_REVOKED ||
           (kind == SHMEMI_KEY_REVOKED && what != WHERE_MANY) || what == REVOKED_AND_ORPHANED;
}

/* Looks at some records in use for one that can be used again: a free one, or one whose key is gone where there are
   many of them. The cursor goes round, so it is one of the older ones. */
static bool claim_again(struct shmemi_keys *keys, uint32_t looks, enum again what, uint32_t *index)
{
    uint32_t n = used(keys);
    for (uint32_t i = 0; i < looks && i < n; i++) {
        uint32_t at = keys->cursor < n ? keys->cursor : 0;
        /* [state] relaxed: claim() decides. */
        uint32_t state = atomic_load_explicit(&keys->records[at].state, memory_order_relaxed);
        uint32_t kind = shmemi_key_kind(state);
        bool gone = kind == SHMEMI_KEY_REVOKED || kind == SHMEMI_KEY_ORPHANED;
        keys->revoked_now += gone;
        step_cursor(keys, n);
        if (!state || (kind != SHMEMI_KEY_FREE && !gone) || !may_go(keys, kind, what) || !claim(keys, at, state))
            continue;
        count_revoked(keys, at, gone ? -1 : 0);
        *index = at;
        return true;
    }
    return false;
}

static int claim_fresh(struct shmemi_keys *keys, uint32_t *index)
{
    for (uint32_t at = used(keys); at < keys->count; at++) {
        if (keys->reserve && !keys->reserve(keys->context, at))
            return shmemi_fail_in(-ENOMEM, "no memory for another key");
        if (claim(keys, at, 0)) {
            *index = at;
            return 0;
        }
    }
    return -ENOSPC;
}

static int claim_any(struct shmemi_keys *keys, uint32_t *index)
{
    if (claim_again(keys, LOOKS, WHERE_MANY, index))
        return 0;
    int rc = claim_fresh(keys, index);
    if (rc != -ENOSPC)
        return rc;
    if (claim_again(keys, keys->count, REVOKED, index) || claim_again(keys, keys->count, REVOKED_AND_ORPHANED, index))
        return 0;
    return shmemi_fail(-ENOSPC, "all %u keys are in use: revoke some, or free the buffers that they open", keys->count);
}

static int check_export(const struct shmemi_export *what)
{
    struct shmemi_key_record r = {.offset = what->offset, .bytes = what->bytes, .rights = what->rights};
    if (what->allowed > SHMEMI_KEY_ALLOWS)
        return shmemi_fail(-E2BIG, "a key's allow list has at most %d entries, not %u", SHMEMI_KEY_ALLOWS,
                           what->allowed);
    if (what->note_bytes > SHMEMI_KEY_NOTE)
        return shmemi_fail(-E2BIG, "a key's note has at most %d bytes, not %u", SHMEMI_KEY_NOTE, what->note_bytes);
    if (!shmemi_key_record_is_sound(&r))
        return shmemi_fail(-EINVAL, "a key of %llu bytes at offset %llu with rights %#x is not possible",
                           (unsigned long long)what->bytes, (unsigned long long)what->offset, what->rights);
    for (uint32_t i = 0; i < what->allowed; i++) {
        const struct shmemi_allow *a = what->allow + i;
        if (a->kind < SHMEMI_ALLOW_USER || a->kind > SHMEMI_ALLOW_TOKEN || a->rights & ~(uint32_t)SHMEMI_RIGHTS_ALL)
            return shmemi_fail(-EINVAL, "entry %u of the allow list is of kind %u with rights %#x: there is no such", i,
                               a->kind, a->rights);
    }
    return 0;
}

int shmemi_keys_add(struct shmemi_keys *keys, const struct shmemi_export *what, const uint64_t token[2],
                    uint32_t *index)
{
    struct shmemi_key_record r = {.flags = what->flags,
                                  .token = {token[0], token[1]},
                                  .segment = what->segment,
                                  .offset = what->offset,
                                  .bytes = what->bytes,
                                  .rights = what->rights,
                                  .allowed = what->allowed,
                                  .note_bytes = what->note_bytes};
    int rc = check_export(what);
    if (rc < 0 || (rc = claim_any(keys, index)) < 0)
        return rc;
    if (what->allowed)
        memcpy(r.allow, what->allow, what->allowed * sizeof *what->allow);
    if (what->note_bytes)
        memcpy(r.note, what->note, what->note_bytes);
    struct shmemi_key_record *to = &keys->records[*index];
    store_record(to, &r);
    uint32_t state = atomic_load_explicit(&to->state, memory_order_relaxed); /* [state] this process's own now */
    /* [state] release pairs with the acquire in read_record(). */
    atomic_store_explicit(&to->state, with_kind(state, SHMEMI_KEY_LIVE), memory_order_release);
    return 0;
}

/* --- finding and revoking ------------------------------------------------------------------------------------------
 */

int shmemi_keys_find(struct shmemi_keys *keys, uint32_t index, const uint64_t token[2], struct shmemi_key_record *out)
{
    uint32_t state = index < keys->count && is_used(keys, index) ? read_record(&keys->records[index], out) : 0;
    if (shmemi_key_kind(state) == SHMEMI_KEY_FREE || !shmemi_tokens_equal(out->token, token))
        return shmemi_fail(-ENOKEY, "there is no such key: it was never made, or was revoked long ago");
    if (shmemi_key_kind(state) == SHMEMI_KEY_REVOKED)
        return shmemi_fail(-EKEYREVOKED, "the key was revoked");
    if (!shmemi_key_record_is_sound(out))
        return shmemi_fail(-ENOKEY, "the key's record is damaged");
    return 0;
}

static bool says_the_same(const struct shmemi_key_record *r, const struct shmemi_export *what)
{
    return (r->flags & ~(uint32_t)SHMEMI_KEY_TAKEN) == what->flags && r->segment == what->segment &&
           r->offset == what->offset && r->rights == what->rights && !r->allowed && !r->note_bytes &&
           shmemi_key_record_is_sound(r);
}

bool shmemi_keys_find_equal(struct shmemi_keys *keys, const struct shmemi_export *what, uint64_t token[2],
                            uint32_t *index, uint16_t *slot)
{
    struct shmemi_key_record copy;
    if (!(what->flags & SHMEMI_KEY_POOL) || what->allowed || what->note_bytes)
        return false;
    for (uint32_t i = 0, n = used(keys); i < n; i++) {
        struct shmemi_key_record *r = &keys->records[i];
        /* [record] relaxed: a quick look; read_record() decides. */
        if (!(__atomic_load_n(&r->flags, __ATOMIC_RELAXED) & SHMEMI_KEY_POOL))
            continue;
        uint32_t state = read_record(r, &copy);
        if (shmemi_key_kind(state) != SHMEMI_KEY_LIVE || !says_the_same(&copy, what))
            continue;
        memcpy(token, copy.token, sizeof copy.token);
        *index = i;
        *slot = (uint16_t)shmemi_key_writer(state);
        return true;
    }
    return false;
}

/* The state was this when it was read, LIVE or ORPHANED. */
static bool revoke(struct shmemi_key_record *r, uint32_t state, bool *taken)
{
    const uint32_t revoked = with_kind(state, SHMEMI_KEY_REVOKED);
    /* [state] release pairs with the acquire in claim(); one process alone revokes it. [taken] sequentially consistent,
       as is the setting of the flag in share.c: a key that is taken after this look is one that was just being sent. */
    if (!atomic_compare_exchange_strong_explicit(&r->state, &state, revoked, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    *taken = __atomic_load_n(&r->flags, __ATOMIC_SEQ_CST) & SHMEMI_KEY_TAKEN; /* [taken] */
    /* [record] acquire: as in read_record(). Another member may use the record again, with flags of its own. */
    atomic_thread_fence(memory_order_acquire);
    *taken |= atomic_load_explicit(&r->state, memory_order_relaxed) != revoked;
    return true;
}

int shmemi_keys_revoke(struct shmemi_keys *keys, uint32_t index, const uint64_t token[2], bool *taken)
{
    struct shmemi_key_record copy;
    for (;;) {
        int rc = shmemi_keys_find(keys, index, token, &copy);
        if (rc < 0)
            return rc;
        /* [state] relaxed: the copy is this function's own. */
        uint32_t state = atomic_load_explicit(&copy.state, memory_order_relaxed);
        if (!revoke(&keys->records[index], state, taken))
            continue;
        count_revoked(keys, index, shmemi_key_kind(state) == SHMEMI_KEY_LIVE);
        return 0;
    }
}

bool shmemi_keys_revoke_next(struct shmemi_keys *keys, uint64_t segment, uint64_t offset, uint64_t bytes,
                             uint32_t *index, uint64_t token[2], bool *taken)
{
    struct shmemi_key_record copy;
    uint64_t end = bytes > UINT64_MAX - offset ? UINT64_MAX : offset + bytes;
    for (uint32_t n = used(keys); *index < n; ++*index) {
        struct shmemi_key_record *r = &keys->records[*index];
        /* [record] relaxed: a quick look; read_record() decides. */
        if (__atomic_load_n(&r->segment, __ATOMIC_RELAXED) != segment)
            continue;
        uint32_t state = read_record(r, &copy);
        if (shmemi_key_kind(state) != SHMEMI_KEY_LIVE || copy.segment != segment ||
            !shmemi_key_record_is_sound(&copy) || copy.offset >= end || offset >= copy.offset + copy.bytes ||
            !revoke(r, state, taken))
            continue;
        memcpy(token, copy.token, sizeof copy.token);
        count_revoked(keys, *index, 1);
        ++*index;
        return true;
    }
    return false;
}

/* What the state of a record becomes when its writer is gone. */
static enum shmemi_key_state state_after(const struct shmemi_key_record *r, uint32_t *state, uint64_t common)
{
    struct shmemi_key_record copy;
    if (shmemi_key_kind(*state) == SHMEMI_KEY_WRITING)
        return SHMEMI_KEY_FREE;
    if (shmemi_key_kind(*state) != SHMEMI_KEY_LIVE)
        return shmemi_key_kind(*state);
    *state = read_record(r, &copy);
    return shmemi_key_kind(*state) == SHMEMI_KEY_LIVE && copy.segment != common ? SHMEMI_KEY_ORPHANED
                                                                                : shmemi_key_kind(*state);
}

void shmemi_keys_sweep(struct shmemi_key_record *records, uint32_t count, unsigned slot, uint64_t common)
{
    for (uint32_t i = 0; i < count; i++) {
        /* [state] relaxed: of what the member was writing nothing is looked at. */
        uint32_t state = atomic_load_explicit(&records[i].state, memory_order_relaxed);
        if (state == 0)
            return;
        if (shmemi_key_writer(state) != slot)
            continue;
        uint32_t before = state;
        enum shmemi_key_state after = state_after(&records[i], &before, common);
        if (before == state && after != shmemi_key_kind(state))
            /* [state] release pairs with the acquire in claim(). */
            atomic_compare_exchange_strong_explicit(&records[i].state, &state, with_kind(state, after),
                                                    memory_order_release, memory_order_relaxed);
    }
}
