// SPDX-License-Identifier: Apache-2.0
// The control segment of a job: everything that PEs share besides their data. Any PE can write here, so nothing read
// from it is followed unchecked. docs/formats/control.md draws it.
#ifndef SHMEMI_JOB_CONTROL_H
#define SHMEMI_JOB_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "map/inplace.h"
#include "map/member.h"

#define SHMEMI_CONTROL_MAGIC 0x31626f6a6d656873u /* "shmemjob1", as far as it fits */
enum { SHMEMI_CONTROL_VERSION = 4, SHMEMI_PES_MOST = 1024 };

/* Bytes that a PE can publish together with its arrival in a collective. */
enum { SHMEMI_PUBLISH_BYTES = SHMEMI_LINE - 8 };

struct shmemi_publish {
    _Alignas(SHMEMI_LINE) unsigned char data[SHMEMI_PUBLISH_BYTES]; /* valid once `round` has arrived; written by the
                                                                       slot's PE */
    _Atomic uint64_t round;                                         /* written last, by the same; [round] */
};

/* Where a PE meets the others of one team. Rounds of a channel are counted on from one team to the next that uses it,
   so whoever is late in leaving a team that is gone finds a later round than it waits for, never an earlier one. */
struct shmemi_channel {
    /* Arrival, rounds taking turns. A PE overwrites turn t of round k in round k + 2 only after it has seen everybody
       in round k + 1, and whoever is there has read round k. */
    struct shmemi_publish publish[2];

    _Alignas(SHMEMI_LINE) _Atomic uint64_t progress; /* of this PE through the steps of a round; [progress] */
    /* The central barrier, for more PEs than cores; on the channel of the team's first PE: the last one to arrive opens
       the next epoch. */
    _Atomic uint32_t epoch, epoch_sleepers;
    _Alignas(SHMEMI_LINE) _Atomic uint32_t arrived;
};

/* The channels of the two teams that always exist, and those for teams that a program makes: these lie behind the
   slots, in pages that the PE takes as it needs them. */
enum { SHMEMI_FIXED_CHANNELS = 2, SHMEMI_CHANNELS = 768, SHMEMI_CHANNELS_BYTES = 384 << 10 };
_Static_assert(sizeof(struct shmemi_channel) * SHMEMI_CHANNELS == SHMEMI_CHANNELS_BYTES, "it fits");

/* One a PE. Each part has lines of its own, so that who writes one does not slow who reads another. */
struct shmemi_slot {
    _Alignas(SHMEMI_LINE) struct shmemi_member member;

    /* How many threads of this PE sleep for a change of its memory, and the word they sleep on. Written by sleepers
       (the count) and by whoever wakes them (the word, +1 a wake). */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;

    /* The same for threads that wait for others to arrive in a collective: puts need not wake those. */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t arrival_sleepers;
    _Atomic uint32_t arrival_wake;

    /* 1 from the last finalize on: this PE waits for the others there, and does nothing more for them. [finishing] */
    _Atomic uint32_t finishing;

    /* Barriers on streams that this PE has come to, in all, and the first to which it never will (0: none). Written by
       its proxy; [stream-round] */
    _Atomic uint64_t stream_round, stream_broken;
    /* In its last finalize, while its streams have something to wait for: looks at them since something went on there,
       and, from bit 32 on, how often something did. Low half 0: not there, or something goes on. [stream-idle] */
    _Atomic uint64_t stream_idle;
    uint32_t heap_kind; /* job/kind.h: where its shmem_malloc() allocates; written before it is present */

    /* Of the world team and the shared one. */
    struct shmemi_channel channels[SHMEMI_FIXED_CHANNELS];

    /* Puts to whatever region this PE waits in: comm/rendezvous.c tells how these words work together. */
    _Alignas(
        SHMEMI_LINE) _Atomic uint64_t offer;   /* the region: number + 1, and PE + 1 << 48 of who is putting; 0: none */
    _Atomic uint64_t refused;                  /* bytes of the last put that was too large for the offer; 0: none */
    _Atomic uint64_t stamps;                   /* gives those in line their order */
    _Atomic uint32_t line_word, line_sleepers; /* slept on by those in line; +1 a change */
    _Atomic uint32_t putting_to;               /* PE + 1 that this PE stands in line for; 0: none */
    _Atomic uint64_t stamp;                    /* this PE's place in that line */
    _Atomic uint32_t told;                     /* set by who found that this PE stands in a ring of puts */

    /* Regions of this PE: how many there have been, and a word to sleep on that changes with each. */
    _Alignas(SHMEMI_LINE) _Atomic uint64_t regions;
    _Atomic uint32_t regions_word, regions_sleepers;
};

/* One region in its owner's directory. Written by the owner before `number` is (and `state` when it ends); the event
   counters and `mapped` by peers. Peers check everything that they follow. */
enum { SHMEMI_ENTRY_PIECES = 3, SHMEMI_NAME_BYTES = 64, SHMEMI_REGIONS_LIVE = 1 << 17 };

enum shmemi_region_state { SHMEMI_REGION_NONE, SHMEMI_REGION_LIVE, SHMEMI_REGION_GONE };

struct shmemi_region_entry {
    _Alignas(SHMEMI_LINE) _Atomic uint64_t
        number;             /* region number + 1: an entry serves one region after another; [region] */
    _Atomic uint32_t state; /* enum shmemi_region_state */
    uint32_t access, kind, guard, type, pieces;
    uint64_t address, size;         /* in the owner; offset in its heap for a symmetric region */
    _Atomic uint64_t writes, reads; /* events so far */
    _Atomic uint32_t mapped;        /* peers that hold a mapping */
    uint32_t reserved;
    char name[SHMEMI_NAME_BYTES];
    union {
        struct shmemi_piece inline_pieces[SHMEMI_ENTRY_PIECES]; /* the first; the owner tells the rest on request */
        char key[sizeof(struct shmemi_piece) * SHMEMI_ENTRY_PIECES]; /* of memory of a device: a key of the pool's */
    };
};
_Static_assert(sizeof(struct shmemi_region_entry) == 256, "layout");

/* A PE's directory: region number k is at k % SHMEMI_REGIONS_LIVE. Sparse: the owner takes pages as it needs them. */
enum { SHMEMI_DIRECTORY_BYTES = 32 << 20 };
_Static_assert(sizeof(struct shmemi_region_entry) * SHMEMI_REGIONS_LIVE <= SHMEMI_DIRECTORY_BYTES, "it fits");

struct shmemi_control {
    /* Written by PE 0 before anybody else has the segment. */
    uint64_t magic;
    uint32_t version, n;
    uint64_t fingerprint; /* sizes of the structures: builds that disagree refuse each other */
    uint64_t bytes;       /* of the whole segment */
    uint64_t heap_size, stride;
    uint32_t cores;        /* that the job may use, as PE 0 sees it: all PEs must choose the same algorithms */
    _Atomic uint32_t told; /* for what host memory stands in, and somebody has said so: hal/hal.h */

    /* How the job ends before its time: exit status << 16 | PE + 1 of the one that ends it. The first to write decides.
     */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t ending;
    _Atomic uint32_t
        first_dead; /* PE + 1 of the first whose death was noticed: who ends because of it is not the cause */

    struct shmemi_slot slots[];
};

_Static_assert(sizeof(struct shmemi_publish) == SHMEMI_LINE, "one line each");
_Static_assert(sizeof(struct shmemi_slot) % SHMEMI_LINE == 0, "slots do not share lines");

#endif
