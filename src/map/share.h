// SPDX-License-Identifier: Apache-2.0
// Shares: who may map what. A share is a table of keys and the segments that they speak of, served by every process
// that holds it: the members of a pool (who have the table in common), or one process alone (its symmetric heap and
// registered memory). A process that imported a key serves it on as a guest, so that a key lives as long as anybody who
// holds the memory.
//
// Each server listens at a socket that the share's number and its own slot name (wire.h), so an importer finds it with
// nothing but the key: members at their slots, guests at SHMEMI_GUESTS and up. Importers trust a server only if it runs
// as the exporter's user, as their own, or as root; servers take the importer's user, groups and process from the
// kernel.
#ifndef SHMEMI_MAP_SHARE_H
#define SHMEMI_MAP_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hal/device.h"
#include "hal/hal.h"
#include "key.h"

enum { SHMEMI_SHARE_MEMBERS = 256, SHMEMI_GUESTS = 256, SHMEMI_GUESTS_MOST = 64 };

/* A segment as this process holds it. The importer maps [window, window + window_bytes) at once, so that further keys
   of the same segment need no mapping of their own; it must contain what the key names. */
struct shmemi_share_segment {
    int fd; /* the share's own; not to be closed by who asked. Before the share itself closes it, it makes segment() say
               -ENOENT and calls shmemi_service_settle() (service.h): an answer might be sending it just now */
    uint64_t window, window_bytes;
    enum shmemi_memory_kind kind;
    bool own; /* the segment holds one exported buffer and nothing else */
};

struct shmemi_share_config {
    uint64_t number;                /* random, or a hash of a pool's name */
    unsigned slot;                  /* this process among the members, < SHMEMI_SHARE_MEMBERS */
    struct shmemi_key_record *keys; /* the table; zeroed when it is made; shared by all members */
    uint32_t count;
    /* Takes memory for that record before it is first used; false: there is none, with the text set. NULL: it is there.
       Beyond the part in use (key.h) only the next record is ever looked at. */
    bool (*reserve)(void *context, uint32_t index);
    /* The next three are called on the service thread, and by imports of this process on their threads (which use what
       they gave until shmemi_service_settle() returns). They must not block, call nothing of this header or of
       service.h, and take no lock that is held while the share is closed.
       -ENOENT: this process does not hold it. */
    int (*segment)(void *context, uint64_t segment, struct shmemi_share_segment *out);
    /* For keys with SHMEMI_KEY_POOL, and for requests by name of processes of the same user: the one or two descriptors
       that a new member needs (the share's own; fds are -1 before). NULL: there is nothing to join. */
    int (*join)(void *context, int fds[2]);
    /* The memory itself, as this process has it mapped for reading and writing: for atomics of those without a mapping.
     */
    int (*memory)(void *context, uint64_t segment, uint64_t offset, uint64_t bytes, void **out);
    /* For keys with SHMEMI_KEY_DEVICE, likewise, with `process` let in (0: nobody yet; but the ticket says which device
       it is). NULL: there are none. *fd is closed by who asked. */
    int (*ticket)(void *context, uint64_t segment, int32_t process, struct shmemi_device_ticket *out, int *fd);
    void *context;
};

struct shmemi_share;

/* Starts to serve. -EADDRINUSE when another process has that slot of that number: of this user, and then a second was
   waited, for the kernel marks a member as dead a little before it closes its sockets; or of another user, which the
   text tells, and there is no waiting for that. */
int shmemi_share_open(const struct shmemi_share_config *config, struct shmemi_share **out);

/* Ends it: when it returns, none of the config's functions is running. Keys of this process's that are LIVE stay in the
   table if it is shared. NULL is allowed. In a forked child the parent's handles are dead: all but close() and forget()
   fail with -ENOTCONN. */
void shmemi_share_close(struct shmemi_share *share);

/* In a forked child: frees the handle, closes its sockets, and touches nothing shared. */
void shmemi_share_forget(struct shmemi_share *share);

/* What an export says; copied. */
struct shmemi_export {
    uint64_t segment, offset, bytes;
    uint32_t rights, flags;
    const struct shmemi_allow *allow;
    uint32_t allowed;
    const void *note;
    uint32_t note_bytes;
};

/* Makes a key. With SHMEMI_KEY_POOL and nobody named, it is the one that there is already, whoever made it. -ENOSPC
   when the table is full; -E2BIG when allow or the note is too long. */
int shmemi_share_export(struct shmemi_share *share, const struct shmemi_export *what, char text[SHMEMI_KEY_TEXT]);

/* By any member. No imports any more: the record stays as REVOKED for a while, so that importers can be told, and
   guests are told to stop. -ENOKEY when this share has no such key, -EKEYREVOKED when it was revoked before. */
int shmemi_share_revoke(struct shmemi_share *share, const struct shmemi_key *key);

/* Revokes every key of memory that overlaps the range; the memory is about to be freed. Returns how many. Looks at all
   records in use, so it is for memory that has been exported. */
unsigned shmemi_share_revoke_range(struct shmemi_share *share, uint64_t segment, uint64_t offset, uint64_t bytes);

/* The record of a key of this share, checked and copied: 0 (its state is LIVE or ORPHANED), -ENOKEY or -EKEYREVOKED.
   For whoever is a member: no system call. */
int shmemi_share_look_up(struct shmemi_share *share, const struct shmemi_key *key, struct shmemi_key_record *out);

/* When the member in `slot` has died or leaves: frees records that it was writing, and its keys of other segments than
   `common`, which all members hold, become ORPHANED. Call while no other member can take the slot. */
void shmemi_keys_sweep(struct shmemi_key_record *keys, uint32_t count, unsigned slot, uint64_t common);

/* Asks the living members of the share `number` (any slot) for what a new member needs: fds[0..*nfds) are the caller's
   to close. key NULL: asks by name, which works for processes of the same user only. -ENOENT: nobody serves it. */
int shmemi_share_join(uint64_t number, const struct shmemi_key *key, int fds[2], unsigned *nfds);

/* The number of the share that a name stands for, for this user. */
uint64_t shmemi_share_number(const char *name);

#endif
