// SPDX-License-Identifier: Apache-2.0
// The control segment of a job: everything that PEs share besides their data. Any PE can write here, so nothing read
// from it is followed unchecked. docs/formats/control.md draws it.
#ifndef SHMEMI_JOB_CONTROL_H
#define SHMEMI_JOB_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "map/member.h"

#define SHMEMI_CONTROL_MAGIC 0x31626f6a6d656873u /* "shmemjob1", as far as it fits */
enum { SHMEMI_CONTROL_VERSION = 1, SHMEMI_PES_MOST = 1024 };

/* Bytes that a PE can publish together with its arrival in a collective. */
enum { SHMEMI_PUBLISH_BYTES = SHMEMI_LINE - 8 };

struct shmemi_publish {
    _Alignas(SHMEMI_LINE) _Atomic uint64_t round; /* written last, by the slot's PE; [round] */
    unsigned char data[SHMEMI_PUBLISH_BYTES];     /* valid once `round` has arrived; same writer */
};

/* One a PE. Each part has lines of its own, so that who writes one does not slow who reads another. */
struct shmemi_slot {
    _Alignas(SHMEMI_LINE) struct shmemi_member member;

    /* How many threads of this PE sleep for a change of its memory, and the word they sleep on. Written by sleepers
       (the count) and by whoever wakes them (the word, +1 a wake). */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t sleepers;
    _Atomic uint32_t wake;

    /* Arrival in collectives, rounds taking turns. A PE overwrites turn t of round k in round k + 2 only after it has
       seen everybody in round k + 1, and whoever is there has read round k. */
    struct shmemi_publish publish[2];

    /* A PE that waits in a region says in which; a put without a target region claims it. See regions.c. */
    _Alignas(SHMEMI_LINE) _Atomic uint64_t offer;   /* generation << 32 | region index + 1, or generation << 32 when none */
    _Atomic uint32_t tickets, serving;              /* puts in line, by number */
    _Atomic uint32_t line_word;                     /* slept on by those in line and by the waiting PE; +1 a change */
    _Atomic uint32_t putting_to;                    /* PE + 1 that this PE stands in line for; 0 for none */

    /* Regions of this PE: how many there have been, and a word that changes with each. See regions.c. */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t regions;
    _Atomic uint32_t regions_word;
};

struct shmemi_control {
    /* Written by PE 0 before anybody else has the segment. */
    uint64_t magic;
    uint32_t version, n;
    uint64_t fingerprint; /* sizes of the structures: builds that disagree refuse each other */
    uint64_t bytes;       /* of the whole segment */
    uint64_t heap_size, stride;
    uint32_t cores;       /* that the job may use, as PE 0 sees it: all PEs must choose the same algorithms */
    uint32_t reserved;

    /* The central barrier, for more PEs than cores: the last one to arrive opens the next epoch. */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t arrived;
    _Alignas(SHMEMI_LINE) _Atomic uint32_t epoch;
    _Atomic uint32_t epoch_sleepers;

    /* How the job ends before its time: the first to write `ending` (PE + 1 of the one at fault) decides. */
    _Alignas(SHMEMI_LINE) _Atomic uint32_t ending;
    _Atomic uint32_t exit_status;

    struct shmemi_slot slots[];
};

_Static_assert(sizeof(struct shmemi_publish) == SHMEMI_LINE, "one line each");
_Static_assert(sizeof(struct shmemi_slot) % SHMEMI_LINE == 0, "slots do not share lines");

#endif
