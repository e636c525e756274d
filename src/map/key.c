// SPDX-License-Identifier: Apache-2.0
// Keys as text, and random numbers.
//
//   "shm1-" and 51 characters of base64url (RFC 4648) over 38 bytes, little-endian:
//   share 8 | uid 4 | index 4 | slot 2 | token 8 + 8 | check sum 4
#include "key.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/hash.h"

enum {
    PREFIX = 5,
    CHECKED = 34, /* bytes before the check sum */
    PACKED = CHECKED + 4,
    DIGITS = (PACKED * 8 + 5) / 6,
    LENGTH = PREFIX + DIGITS,
    SPARE = DIGITS * 6 - PACKED * 8, /* bits of the last character that mean nothing: zero */
};

_Static_assert((int)LENGTH < (int)SHMEMI_KEY_TEXT, "a key fits");

static const char prefix[] = "shm1-";
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t take(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* Folded: any single wrong character changes the sum before it is folded. It guards against mistakes; what
   guards against guessing is the token. */
static uint32_t check_sum(const unsigned char packed[CHECKED])
{
    uint64_t h = shmemi_hash(SHMEMI_HASH_BEGIN, packed, CHECKED);
    return (uint32_t)(h ^ h >> 32);
}

void shmemi_key_print(const struct shmemi_key *key, char text[SHMEMI_KEY_TEXT])
{
    unsigned char packed[PACKED];
    put(packed, key->share, 8);
    put(packed + 8, key->uid, 4);
    put(packed + 12, key->index, 4);
    put(packed + 16, key->slot, 2);
    put(packed + 18, key->token[0], 8);
    put(packed + 26, key->token[1], 8);
    put(packed + CHECKED, check_sum(packed), 4);
    memcpy(text, prefix, PREFIX);
    char *out = text + PREFIX;
    uint32_t bits = 0;
    int have = 0;
    for (int i = 0; i < PACKED; i++) {
        bits = bits << 8 | packed[i];
        for (have += 8; have >= 6; have -= 6)
            *out++ = digits[bits >> (have - 6) & 63];
    }
    *out++ = digits[bits << (6 - have) & 63];
    *out = 0;
    SHMEMI_ASSERT(out == text + LENGTH);
}

/* The value of a base64url digit, or -1. */
static int value_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

static int check_form(const char *text)
{
    if (!text)
        return shmemi_fail(-EINVAL, "there is no key: NULL was given");
    size_t length = strnlen(text, LENGTH + 1);
    if (strncmp(text, prefix, PREFIX) != 0)
        return shmemi_fail(-EINVAL, "this is no key of shmem: it does not begin with '%s'", prefix);
    if (length > LENGTH)
        return shmemi_fail(-EINVAL, "the key is too long: keys have %d characters", LENGTH);
    if (length < LENGTH)
        return shmemi_fail(-EINVAL, "the key is cut off: it has %zu characters instead of %d", length, LENGTH);
    return 0;
}

static int unpack(const char *text, unsigned char packed[PACKED])
{
    uint32_t bits = 0;
    int have = 0;
    for (int i = PREFIX; i < LENGTH; i++) {
        unsigned char c = (unsigned char)text[i];
        int value = value_of(c);
        if (value < 0)
            return shmemi_fail(-EINVAL,
                               "character %d of the key is '%c' (%#04x), which keys do not have: only letters, digits, "
                               "'-' and '_'",
                               i + 1, c >= ' ' && c < 0x7f ? c : '?', c);
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            *packed++ = (unsigned char)(bits >> have);
        }
    }
    if (bits & ((1u << SPARE) - 1))
        return shmemi_fail(-EINVAL, "character %d of the key, the last, is wrong: was the key mistyped?", LENGTH);
    return 0;
}

int shmemi_key_parse(const char *text, struct shmemi_key *out)
{
    unsigned char packed[PACKED];
    int rc = check_form(text);
    if (rc < 0 || (rc = unpack(text, packed)) < 0)
        return rc;
    if (take(packed + CHECKED, 4) != check_sum(packed))
        return shmemi_fail(-EINVAL, "the key's check sum is wrong: was it mistyped, or cut and put together?");
    *out = (struct shmemi_key){
        .share = take(packed, 8),
        .uid = (uint32_t)take(packed + 8, 4),
        .index = (uint32_t)take(packed + 12, 4),
        .slot = (uint16_t)take(packed + 16, 2),
        .token = {take(packed + 18, 8), take(packed + 26, 8)},
    };
    return 0;
}

void shmemi_random_token(uint64_t token[2])
{
    unsigned char *at = (unsigned char *)token;
    for (size_t have = 0; have < 2 * sizeof *token;) {
        ssize_t got = getrandom(at + have, 2 * sizeof *token - have, 0);
        SHMEMI_ASSERT(got > 0 || errno == EINTR); /* it waits for the kernel to have randomness; it has no other end */
        have += got > 0 ? (size_t)got : 0;
    }
}

uint64_t shmemi_random(void)
{
    uint64_t pair[2];
    shmemi_random_token(pair);
    return pair[0];
}
