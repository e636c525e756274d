// SPDX-License-Identifier: Apache-2.0
// Queues on memory that they are handed. What they do, return and promise is said in shmemx_queue.h; src/api/queue.c
// hands the public functions on to these.
#ifndef SHMEMI_QUEUE_QUEUE_H
#define SHMEMI_QUEUE_QUEUE_H

#include "layout.h"

struct shmemi_queue; /* a handle of this process */

/* Makes a queue in zeroed memory of shape->bytes bytes. */
void shmemi_queue_init(void *shared, const struct shmemi_queue_shape *shape);

/* Where a queue is. */
struct shmemi_queue_place {
    void *shared;
    size_t bytes;
    /* Who this process is, and whether the queue is there; may change in a forked child, before the first use. Lives as
       long as the handle. */
    const struct shmemi_site *site;
};

/* A handle of the queue there. */
int shmemi_queue_open(const struct shmemi_queue_place *place, struct shmemi_queue **out);

/* Moves in what was gathered (drop: does not), and frees the handle. */
int shmemi_queue_close(struct shmemi_queue *queue, bool drop);

/* The usual case of a push that needs no waiting, by a thread that has pushed before; with nothing entered before.
   False: it is not that, and nothing was done. */
bool shmemi_queue_push_quickly(struct shmemi_queue *queue, const void *item, size_t bytes);

int shmemi_queue_push(struct shmemi_queue *queue, const void *item, size_t bytes, double seconds);
long shmemi_queue_push_many(struct shmemi_queue *queue, const void *items, const size_t *sizes, size_t count,
                            double seconds);
int shmemi_queue_flush(struct shmemi_queue *queue, double seconds);
int shmemi_queue_reserve(struct shmemi_queue *queue, size_t bytes, void **slot, double seconds);
int shmemi_queue_commit(struct shmemi_queue *queue, size_t bytes);
int shmemi_queue_abort(struct shmemi_queue *queue);
int shmemi_queue_end(struct shmemi_queue *queue, double seconds);

long shmemi_queue_pop_many(struct shmemi_queue *queue, void *items, size_t room, size_t *sizes, size_t most,
                           double seconds);
int shmemi_queue_peek(struct shmemi_queue *queue, const void **item, size_t *bytes, double seconds);
int shmemi_queue_unpeek(struct shmemi_queue *queue, bool take);

/* Before it is destroyed. -EBUSY: a living thread, of whatever process, is popping or peeking, or pushing or has
   reserved a slot. Who only sleeps for items or room is woken, and told -ENOENT afterwards, 100 ms later at most. */
int shmemi_queue_retire(struct shmemi_queue *queue);

struct shmemi_queue_stats {
    struct shmemi_queue_config config;
    uint64_t length, pushed, popped, skipped, gathered, bytes;
    unsigned producers;
    bool ended;
};
void shmemi_queue_stats(struct shmemi_queue *queue, struct shmemi_queue_stats *out);

#endif
