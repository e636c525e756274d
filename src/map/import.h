// SPDX-License-Identifier: Apache-2.0
// Imports: memory of other processes that keys opened to this one.
//
// A segment is mapped once for each access, however many keys of it are imported; a copy-on-write import has a mapping
// of its own, a snapshot a private copy. Descriptors are kept only for serving the keys on as a guest, and at most
// SHMEMI_IMPORT_FDS of them. In a forked child imports stay mapped and can be closed; guests' sockets and kept
// descriptors are closed, so keys are asked for anew.
#ifndef SHMEMI_MAP_IMPORT_H
#define SHMEMI_MAP_IMPORT_H

#include "share.h"

enum { SHMEMI_IMPORT_FDS = 64 };

enum shmemi_import_mode {
    SHMEMI_IMPORT_READ,
    SHMEMI_IMPORT_WRITE,    /* read and write */
    SHMEMI_IMPORT_COW,      /* pages that are written become private; others follow the exporter */
    SHMEMI_IMPORT_SNAPSHOT, /* a private copy of this moment (not atomic against writers) */
    SHMEMI_IMPORT_ATOMIC,   /* no mapping: operations through the owner's service thread */
};

/* Who the importer is, beside what the kernel says of it. */
struct shmemi_import_claims {
    uint64_t token[2]; /* a member token; zeros: none */
    uint64_t job;      /* hash of the name of the job that it is in, 0: none */
    uint32_t pe;
};

/* One import. Freed by shmemi_import_close(); the mapping goes with the last import of it. */
struct shmemi_import {
    void *address; /* NULL: atomics only */
    uint64_t bytes;
    uint32_t rights; /* what this process was granted */
    enum shmemi_import_mode mode;
    struct shmemi_key key;
    struct shmemi_key_record record; /* as it was at the import; the note is in it */
};

/* Imports a key (mode: one of the above, else -EINVAL): by the process's own shares if it is a member, from what is
   mapped already, or by asking those who serve it. claims NULL: none. Errors: -EINVAL malformed, -ENOKEY unknown,
   -EKEYREVOKED revoked, -EACCES refused (the text says which rights were asked and granted), -EKEYEXPIRED nobody living
   holds it, -EPROTO a server that answers nonsense. */
int shmemi_import_open(const char *text, enum shmemi_import_mode mode, const struct shmemi_import_claims *claims,
                       struct shmemi_import **out);
void shmemi_import_close(struct shmemi_import *import);

/* What a process needs to map what a key of device memory opens. */
struct shmemi_import_ticket {
    struct shmemi_key_record record;
    uint32_t rights;
    struct shmemi_device_ticket ticket;
    int fd; /* -1: none; the caller's to close */
};

/* Asks for it: mode SHMEMI_IMPORT_READ or _WRITE; process: this one as the device's driver identifies it, or 0, and
   then the ticket says which device it is and lets nobody in. From another process; keys of this process's own are not
   for this. Errors as of shmemi_import_open(); -EMEDIUMTYPE: the key is of host memory. What comes is checked as far as
   it can be without the driver. */
int shmemi_import_ask_ticket(const struct shmemi_key *key, enum shmemi_import_mode mode,
                             const struct shmemi_import_claims *claims, int32_t process,
                             struct shmemi_import_ticket *out);

/* The same of a key of a share that this process serves: the record and the rights. */
int shmemi_import_look_up(struct shmemi_share *share, const struct shmemi_key *key, enum shmemi_import_mode mode,
                          const struct shmemi_import_claims *claims, struct shmemi_key_record *record,
                          uint32_t *rights);

enum shmemi_atomic {
    SHMEMI_ATOMIC_FETCH,
    SHMEMI_ATOMIC_SET,
    SHMEMI_ATOMIC_ADD,
    SHMEMI_ATOMIC_AND,
    SHMEMI_ATOMIC_OR,
    SHMEMI_ATOMIC_XOR,
    SHMEMI_ATOMIC_SWAP,
    SHMEMI_ATOMIC_CAS,
};

/* One atomic on the 4 or 8 bytes (`width`) at `offset` of the import, which must be aligned; checked against the
   rights, done directly where the memory is mapped for writing, else by the owner or another member. On a copy
   (copy-on-write, snapshot) it changes the copy, whatever the rights are. *before (may be NULL): the value that was
   there. -EKEYEXPIRED when the owner is gone. Thread-safe. */
int shmemi_import_atomic(struct shmemi_import *import, enum shmemi_atomic op, unsigned width, uint64_t offset,
                         uint64_t operand, uint64_t compare, uint64_t *before);

#endif
