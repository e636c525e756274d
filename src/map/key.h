// SPDX-License-Identifier: Apache-2.0
// Keys: short printable strings by which one process lets another map a part of its memory.
//
// A key names the share that made it (share.h), the record in that share's table, and 128 random bits that the record
// must hold too; a check sum tells a mistyped key from an unknown one. Everything else (where the memory is, who may do
// what with it, what the bytes mean) is in the record, which only the processes that serve the key read.
#ifndef SHMEMI_MAP_KEY_H
#define SHMEMI_MAP_KEY_H

#include <stdatomic.h>
#include <stdint.h>

/* What somebody may do with memory. */
enum {
    SHMEMI_RIGHT_READ = 1u << 0,
    SHMEMI_RIGHT_WRITE = 1u << 1,
    SHMEMI_RIGHT_ADD = 1u << 2,  /* the atomics: add and fetch-add */
    SHMEMI_RIGHT_BITS = 1u << 3, /* and, or, xor */
    SHMEMI_RIGHT_SWAP = 1u << 4, /* swap and set */
    SHMEMI_RIGHT_CAS = 1u << 5,  /* compare and swap */
    SHMEMI_RIGHTS_ATOMIC = 0x3cu,
    SHMEMI_RIGHTS_ALL = 0x3fu,
};

enum shmemi_allow_kind { SHMEMI_ALLOW_USER = 1, SHMEMI_ALLOW_GROUP, SHMEMI_ALLOW_PE, SHMEMI_ALLOW_TOKEN };

/* One of those who may use a key. */
struct shmemi_allow {
    uint32_t kind;   /* enum shmemi_allow_kind */
    uint32_t rights; /* SHMEMI_RIGHT_ */
    uint64_t id[2];  /* user or group id; PE number and a hash of its job's name; a token's 128 bits */
};

enum {
    SHMEMI_KEY_TEXT = 80, /* bytes of a printed key with its zero byte, at most */
    SHMEMI_KEY_ALLOWS = 16,
    SHMEMI_KEY_NOTE = 544, /* bytes of the exporter's own description (dtype, shape, strides) */
};

enum shmemi_key_state {
    SHMEMI_KEY_FREE,
    SHMEMI_KEY_WRITING,
    SHMEMI_KEY_LIVE,
    SHMEMI_KEY_REVOKED,
    SHMEMI_KEY_ORPHANED, /* its segment was one member's, who is gone: guests may have the memory, no member has */
};

enum {
    SHMEMI_KEY_FROZEN = 1u << 0, /* its segment is sealed against new writers */
    SHMEMI_KEY_POOL = 1u << 1,   /* opens the whole pool: its holder may become a member */
    SHMEMI_KEY_DEVICE = 1u << 3, /* opens memory of a device: there is a ticket for it, and nothing to map here */
    SHMEMI_KEY_TAKEN = 1u << 2,  /* a process that is no member has it: guests must be told when it is revoked */
};

/* One key in a share's table; may lie in memory that others can write to, so it is copied and checked before use.
   `state` is released after the rest was written. Its bits: 0-7 enum shmemi_key_state, 8-15 the slot of the last
   writer, 16-31 how often the record was used. Records are used in order, so the first whose state is 0 ends the part
   in use. */
struct shmemi_key_record {
    _Atomic uint32_t state;
    uint32_t flags;
    uint64_t token[2];
    uint64_t segment, offset, bytes; /* the memory: a segment of the share, by number */
    uint32_t rights;                 /* what processes of the exporter's user may do, where allow does not name them */
    uint32_t allowed;                /* entries of allow */
    struct shmemi_allow allow[SHMEMI_KEY_ALLOWS];
    uint32_t note_bytes;
    uint32_t reserved; /* 0 in a table; see share_serve.h for copies that were sent */
    uint8_t note[SHMEMI_KEY_NOTE];
};

_Static_assert(sizeof(struct shmemi_key_record) == 992, "the layout is fixed");

/* A key taken apart. */
struct shmemi_key {
    uint64_t share;    /* number of the share, which names its sockets */
    uint32_t uid;      /* the exporter's user */
    uint32_t index;    /* of the record in the table */
    uint16_t slot;     /* the exporter's number among those who serve the share: asked first */
    uint64_t token[2]; /* what the record must hold */
};

/* The printed form: "shm1-" and letters, digits, '-' and '_' only. */
void shmemi_key_print(const struct shmemi_key *key, char text[SHMEMI_KEY_TEXT]);

/* -EINVAL with the text that says in what it is malformed. */
int shmemi_key_parse(const char *text, struct shmemi_key *out);

/* 64 and 128 random bits, from the kernel. Never fails. */
uint64_t shmemi_random(void);
void shmemi_random_token(uint64_t token[2]);

#endif
