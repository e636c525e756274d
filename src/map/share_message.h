// SPDX-License-Identifier: Apache-2.0
// What importers and servers of a share say to each other: one request, one answer, and the socket is closed.
#ifndef SHMEMI_MAP_SHARE_MESSAGE_H
#define SHMEMI_MAP_SHARE_MESSAGE_H

#include <stdint.h>

#include "hal/device.h"
#include "import.h"
#include "key.h"

#define SHMEMI_SHARE_MAGIC 0x33484b53u /* "SKH3"; changes with the layout */

enum shmemi_share_type {
    SHMEMI_SHARE_IMPORT = 1, /* the key's record and, but for atomics only, its segment's descriptor */
    SHMEMI_SHARE_ATOMIC,     /* one operation on the key's memory */
    SHMEMI_SHARE_JOIN,       /* what a new member needs */
    SHMEMI_SHARE_REVOKE,     /* to guests: the key is no more */
    SHMEMI_SHARE_TICKET,     /* the key's record and a ticket for its device memory */
};

/* Both are checked field by field on arrival. */
struct shmemi_share_request {
    uint32_t magic;
    uint32_t type; /* enum shmemi_share_type */
    uint64_t share;
    uint32_t uid, index, slot; /* the key, as its text holds it */
    uint32_t named;            /* JOIN: there is no key */
    uint64_t token[2];
    uint64_t member_token[2], job; /* claims */
    uint32_t pe;
    uint32_t mode;      /* IMPORT, TICKET: enum shmemi_import_mode */
    uint32_t op, width; /* ATOMIC; op: TICKET, the asker as its driver identifies it, or 0: it does not know yet */
    uint64_t offset, operand, compare;
};

struct shmemi_share_answer {
    uint32_t magic;
    uint32_t type;
    int32_t rc;    /* 0, -ENOENT (the memory is not here: ask others), or an error with its text */
    uint32_t kind; /* enum shmemi_memory_kind */
    uint32_t rights;
    uint32_t own; /* the segment holds the one buffer only, so processes of other users may have it */
    uint64_t window, window_bytes;
    uint64_t before; /* ATOMIC: the value that was there */
    char text[256];
    struct shmemi_key_record record; /* without the tokens of others */
    struct shmemi_device_ticket ticket;
};

_Static_assert(sizeof(struct shmemi_share_request) == 112, "the layout is fixed");
_Static_assert(sizeof(struct shmemi_share_answer) == 304 + sizeof(struct shmemi_key_record) + 128,
               "the layout is fixed");

#endif
