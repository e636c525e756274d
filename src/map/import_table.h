// SPDX-License-Identifier: Apache-2.0
// What this process holds of others: segments, their mappings, and the keys that led to them. For import.c, which makes
// imports of them, and import_guest.c, which serves them on.
#ifndef SHMEMI_MAP_IMPORT_TABLE_H
#define SHMEMI_MAP_IMPORT_TABLE_H

#include "import.h"

struct shmemi_guest;

struct shmemi_link {
    struct shmemi_link *next;
    uint64_t hash;
};

/* A mapping of a segment's window. */
struct shmemi_view {
    struct shmemi_view *next;
    enum shmemi_access access;
    char *at;
    uint64_t window, bytes;
    uint64_t refs; /* imports */
};

/* A segment of a share. */
struct shmemi_imported {
    struct shmemi_link link;
    uint64_t share, segment;
    uint64_t serial; /* of the share, where this process is a member that holds the segment itself; else 0 */
    uint32_t uid;
    uint64_t device, inode; /* of its descriptors, or 0: a share of the same name may be another one by now */
    uint64_t refs;          /* imports */
    struct shmemi_view *views;
    struct shmemi_share_segment info; /* fd: kept for serving on, or -1 */
    bool read_only;                   /* the descriptor */
    struct shmemi_guest *guest;       /* serves it on; then it is told of revoked keys */
};

/* A key as it was granted, for the same claims. */
struct shmemi_known {
    struct shmemi_link link;
    struct shmemi_key key;
    struct shmemi_import_claims claims;
    struct shmemi_key_record record;
    uint32_t rights;
    bool revoked;
    uint64_t refs; /* imports */
};

/* All below happens under this lock, which is held for no longer than a mapping takes, and never while waiting. */
void shmemi_imports_lock(void);
void shmemi_imports_unlock(void);

/* Found or made, with one more reference; NULL: no memory. A new segment has no descriptor, and one with a serial never
   gets one. */
struct shmemi_imported *shmemi_imported_get(uint64_t share, uint32_t uid, uint64_t segment, uint64_t serial);
struct shmemi_known *shmemi_known_get(const struct shmemi_key *key, const struct shmemi_import_claims *claims);

/* Without a reference; NULL: there is none. */
struct shmemi_imported *shmemi_imported_find(uint64_t share, uint32_t uid, uint64_t segment, uint64_t serial);
struct shmemi_known *shmemi_known_find(const struct shmemi_key *key, const struct shmemi_import_claims *claims);

/* With whatever claims: the one that was granted most; the revoked ones only if there is no other. */
struct shmemi_known *shmemi_known_best(const struct shmemi_key *key);

/* Marks all of that key. Whether there was one. */
bool shmemi_known_revoke(const struct shmemi_key *key);

/* Keeps the descriptor for serving on if there is room, or if it can do more than the one that is kept. Whether it was
   taken. */
bool shmemi_imported_keep(struct shmemi_imported *segment, const struct shmemi_share_segment *info, bool read_only);

/* A mapping that contains the range, with one more reference: found, or (fd >= 0) made. 1: there is none. */
int shmemi_view_get(struct shmemi_imported *segment, const struct shmemi_share_segment *info, int fd,
                    const struct shmemi_key_record *record, enum shmemi_access access, struct shmemi_view **out);

/* One reference less. NULL is allowed. Whether a guest has lost a segment, perhaps its last. */
bool shmemi_imported_put(struct shmemi_imported *segment);
void shmemi_known_put(struct shmemi_known *known);
void shmemi_view_put(struct shmemi_imported *segment, struct shmemi_view *view);

/* In a forked child (fork_order.c), under the lock: descriptors are closed, and nobody is served. */
void shmemi_imports_drop_descriptors(void);

/* --- import_guest.c; not under the lock --------------------------------------------------------------------------- */

/* Serves the segment on, if its descriptor is kept. Best effort: where it cannot be, the import works all the same. */
void shmemi_guest_serve(uint64_t share, uint32_t uid, uint64_t segment);

/* Ends guests that have no segments any more. */
void shmemi_guest_end_unused(void);

/* Under the lock: one segment more or less. */
void shmemi_guest_lost(struct shmemi_guest *guest);

/* Around fork (fork_order.c): none begins or ends meanwhile, so a child knows of each listener. And in the child. */
void shmemi_guests_before_fork(void);
void shmemi_guests_after_fork(void);
void shmemi_guests_forget(void);

#endif
