// SPDX-License-Identifier: Apache-2.0
// Answering importers: for members (share.c) and guests (import_guest.c).
#ifndef SHMEMI_MAP_SHARE_SERVE_H
#define SHMEMI_MAP_SHARE_SERVE_H

#include "share_message.h"

/* In a record that was sent to an importer: it lacks what that importer was not granted, so another may be granted more
   by others. In the field `reserved`. */
enum { SHMEMI_RECORD_TRIMMED = 1 };

/* Who asks: as the kernel says, and what it claims. */
struct shmemi_peer {
    uint32_t uid, gid;
    int32_t pid;
    const uint32_t *groups; /* beside gid */
    unsigned group_count;
    struct shmemi_import_claims claims;
};

/* What serves. Called on the service thread. */
struct shmemi_server {
    uint64_t number;
    uint32_t uid; /* the exporter's user */
    bool guest;   /* segment() gives descriptors that are closed here */
    int (*look_up)(void *context, const struct shmemi_key *key, struct shmemi_key_record *out);
    void (*taken)(void *context, uint32_t index); /* or NULL: the key is being handed out */
    int (*segment)(void *context, uint64_t segment, struct shmemi_share_segment *out);
    int (*join)(void *context, int fds[2]);                                                      /* or NULL */
    int (*memory)(void *context, uint64_t segment, uint64_t offset, uint64_t bytes, void **out); /* or NULL */
    int (*revoked)(void *context, const struct shmemi_key *key);                                 /* or NULL */
    int (*ticket)(void *context, uint64_t segment, int32_t process, struct shmemi_device_ticket *out,
                  int *fd); /* or NULL */
    void *context;
};

void shmemi_share_serve(const struct shmemi_server *server, int socket);

/* What the record (checked) lets that process do. uid: the exporter's. */
uint32_t shmemi_share_grant(const struct shmemi_key_record *record, uint32_t uid, const struct shmemi_peer *peer);

/* The same for this process itself. */
uint32_t shmemi_share_grant_self(const struct shmemi_key_record *record, uint32_t uid,
                                 const struct shmemi_import_claims *claims);

/* Whether a key is of memory that is mapped here (0), or of a device's: -EMEDIUMTYPE, with the text for whoever wanted
   the other. */
int shmemi_share_check_medium(const struct shmemi_key_record *record, bool device);

/* Whether these rights are enough; else -EACCES with what was asked and granted, and to whom. */
int shmemi_share_check_mode(enum shmemi_import_mode mode, uint32_t rights, uint32_t uid);
int shmemi_share_check_atomic(enum shmemi_atomic op, uint32_t rights, uint32_t uid);

/* The place of an atomic in a key's memory: 0, or -EINVAL. */
int shmemi_share_check_place(const struct shmemi_key_record *record, unsigned width, uint64_t offset);

/* Does it, sequentially consistent. `at` is aligned. */
uint64_t shmemi_share_do_atomic(void *at, enum shmemi_atomic op, unsigned width, uint64_t operand, uint64_t compare);

/* Whether the fields of a record, which others can write to, keep to their bounds. */
bool shmemi_key_record_is_sound(const struct shmemi_key_record *record);

/* Whether two tokens are equal, in a time that says nothing about them. */
bool shmemi_tokens_equal(const uint64_t a[2], const uint64_t b[2]);

#endif
