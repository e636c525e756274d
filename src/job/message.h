// SPDX-License-Identifier: Apache-2.0
// What PEs say to each other over sockets: to find together at the start, to end early, to ask for descriptors.
#ifndef SHMEMI_JOB_MESSAGE_H
#define SHMEMI_JOB_MESSAGE_H

#include <stdint.h>
#include <unistd.h>

enum shmemi_message_type {
    SHMEMI_MESSAGE_HELLO =
        1, /* PE to PE 0: rank, size, heap_size, in text its cpu_set_t; its heap's descriptor goes along */
    SHMEMI_MESSAGE_WELCOME, /* PE 0's answer: value = bytes of the control segment, whose descriptor goes along */
    SHMEMI_MESSAGE_HEAPS,   /* after it: descriptors of the heaps of PEs rank .. rank + count - 1 */
    SHMEMI_MESSAGE_REFUSED, /* instead: rank = negative errno, text = why */
    SHMEMI_MESSAGE_END,     /* any PE: end this process with status `rank` */
    SHMEMI_MESSAGE_FD,      /* ask for the in-place descriptor number `value`; and the answer, with it */
    SHMEMI_MESSAGE_PIECES, /* ask for the pieces of region `value` from number `rank` on; the answer: `count` in text */
    SHMEMI_MESSAGE_WHO,    /* ask for an answer at all: the socket then tells the process id as it is here */
    SHMEMI_MESSAGE_HEARD,  /* PE 0's first answer to HELLO: it is collecting, and has counted this one */
};

#define SHMEMI_MESSAGE_MAGIC 0x314d4853u /* "SHM1" */

/* Every message has this form. Checked field by field on arrival. */
struct shmemi_message {
    uint32_t magic;
    uint32_t type;
    uint64_t fingerprint; /* of the sender's build */
    int32_t rank, size, count, pid;
    uint64_t heap_size, value;
    char text[448];
};

_Static_assert(sizeof(struct shmemi_message) == 496, "the layout is the same in all builds of one fingerprint");

/* Sizes and versions that two builds must share, in one number. */
uint64_t shmemi_fingerprint(void);

/* A message of this process, with nothing in it yet. */
static inline struct shmemi_message shmemi_message(enum shmemi_message_type type)
{
    return (struct shmemi_message){.magic = SHMEMI_MESSAGE_MAGIC,
                                   .type = type,
                                   .fingerprint = shmemi_fingerprint(),
                                   .pid = (int32_t)getpid()};
}

#endif
