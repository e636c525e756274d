/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: many processes and threads push, one or many pop, through memory of a pool or file. docs/queue.md explains.

   Order is kept for each producer (a thread with a handle), and every item arrives once. With batch B a producer
   gathers B items in its own memory and moves them in with one atomic operation. What is gathered is seen by nobody
   until it is moved in: when B are together, after flush_seconds, by shmemx_queue_flush(), and when the handle is
   closed, the thread ends, or the process ends normally (exit(), not _exit()). What a killed process had gathered is
   lost with it; what it had moved in arrives. A process that is killed at any instant stops nobody.

   Conventions are those of shmemx.h, which includes this header. Timeouts are seconds: negative waits for ever, 0 does
   not wait (-EAGAIN), otherwise -ETIMEDOUT; what is no number is -EINVAL. Waits can end with -EINTR
   (shmemx_set_interrupt()). A handle that was closed gives -EBADF. A queue whose memory was overwritten gives -EIO. */
#ifndef SHMEMX_QUEUE_H
#define SHMEMX_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include <shmemx_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmemx_queue *shmemx_queue_t;

#define SHMEMX_QUEUE_ONE 1u  /* one thread at a time pops: a second one gets -EBUSY */
#define SHMEMX_QUEUE_MANY 2u /* any number of consumers, in turn */

/* How a queue is to be. Begin with SHMEMX_QUEUE_ATTR. */
typedef struct {
    size_t item_bytes;    /* of each item, at most 2^40; 0: messages of any length up to max_message */
    size_t capacity;      /* items; with messages bytes: each takes 8 more than it has, rounded up to 64 */
    unsigned batch;       /* items gathered by a producer before they are moved in; 1: none */
    double flush_seconds; /* nothing stays gathered longer than that; 0: until one of the other reasons comes */
    unsigned consumers;   /* SHMEMX_QUEUE_ONE, SHMEMX_QUEUE_MANY */
    size_t max_message;   /* bytes; 0: a quarter of the capacity, at most 64 KiB */
    unsigned producers;   /* threads that can push at a time; 0: 256 */
    const void *note;     /* stays with the queue, such as what its items are; at most SHMEMX_NOTE_MOST bytes */
    size_t note_bytes;
} shmemx_queue_attr_t;
#define SHMEMX_QUEUE_ATTR                                                                                              \
    {                                                                                                                  \
        8, 1024, 1, 0.0, SHMEMX_QUEUE_MANY, 0, 0, NULL, 0                                                              \
    }

/* Makes a queue in a pool or file. name NULL: found by key only. -EEXIST, -ENOMEM, -EINVAL. */
SHMEMX_API int shmemx_queue_create(shmemx_pool_t pool, const char *name, const shmemx_queue_attr_t *attr,
                                   shmemx_queue_t *out);

/* The queue of that name. -ENOENT. */
SHMEMX_API int shmemx_queue_find(shmemx_pool_t pool, const char *name, shmemx_queue_t *out);

/* On the symmetric heap: a handle of PE pe's instance; see shmemx_symmetric() in shmemx_sync.h. */
SHMEMX_API int shmemx_queue_on(shmemx_queue_t queue, int pe, shmemx_queue_t *out);

/* A key for other processes of this user, and a handle by it. Importing attaches to the pool where need be. */
SHMEMX_API int shmemx_queue_export(shmemx_queue_t queue, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_queue_import(const char *key, shmemx_queue_t *out);

/* Closes the handle; the queue stays. What this process has gathered with it is moved in first: while the queue is full
   that waits, but not longer than 5 seconds without anybody popping (-ETIMEDOUT, the text tells how many items are
   lost; the handle is closed all the same. Ends of threads and of the process wait likewise). A peeked item is put
   back, a reserved slot given up. No other thread may be using the handle. */
SHMEMX_API int shmemx_queue_close(shmemx_queue_t queue);

/* Destroys the queue with all that is in it, and closes the handle. Others get -ENOENT from now on, also those who
   sleep in a call, 100 ms later at most. -EBUSY: a living thread is popping or peeking, or pushing or has reserved a
   slot (but who is just about to may be missed). No other thread may be using this handle. */
SHMEMX_API int shmemx_queue_destroy(shmemx_queue_t queue);

/* --- producers ---------------------------------------------------------------------------------------------------- */

/* Pushes a copy of one item. bytes: item_bytes, or the length of the message. With a batch it may only be gathered when
   this returns, and the queue's being full shows when the batch is moved in. -EPIPE: the queue has ended. -EMSGSIZE. */
SHMEMX_API int shmemx_queue_push(shmemx_queue_t queue, const void *item, size_t bytes, double seconds);
SHMEMX_API int shmemx_queue_try_push(shmemx_queue_t queue, const void *item, size_t bytes);

/* Pushes `count` items that lie one after the other; sizes (NULL for items) are the lengths of the messages. Runs of
   them are moved in with one atomic operation each. Returns how many were pushed: fewer than count when time was up
   or the queue ended meanwhile, and a negative errno instead of 0. */
SHMEMX_API long shmemx_queue_push_many(shmemx_queue_t queue, const void *items, const size_t *sizes, size_t count,
                                       double seconds);

/* Moves in what all threads of this process have gathered with this handle. */
SHMEMX_API int shmemx_queue_flush(shmemx_queue_t queue, double seconds);

/* Reserves a slot in the queue itself (after what this thread has gathered), to be written in place; `bytes` of it, at
   most item_bytes or max_message. Consumers wait for it, so be quick: commit() makes it an item (of `bytes`, no more
   than reserved; item_bytes for items), abort() gives it up. One at a time a thread and queue: -EBUSY, from pushing
   too. When the process or thread ends in between, the slot is skipped. */
SHMEMX_API int shmemx_queue_reserve(shmemx_queue_t queue, size_t bytes, void **slot, double seconds);
SHMEMX_API int shmemx_queue_commit(shmemx_queue_t queue, size_t bytes);
SHMEMX_API int shmemx_queue_abort(shmemx_queue_t queue);

/* No more pushes, by anybody: they give -EPIPE. What is in the queue can be popped, then pops give -EPIPE too. What
   this process has gathered with the handle is moved in first; what others have gathered is lost, and they are told. */
SHMEMX_API int shmemx_queue_end(shmemx_queue_t queue, double seconds);

/* --- consumers ---------------------------------------------------------------------------------------------------- */

/* Pops the oldest item into `item`, which has `room` bytes; *bytes (may be NULL) is its length. -EMSGSIZE: it does not
   fit, and stays; *bytes is what it needs. A process that is killed in here loses at most this item. */
SHMEMX_API int shmemx_queue_pop(shmemx_queue_t queue, void *item, size_t room, size_t *bytes, double seconds);
SHMEMX_API int shmemx_queue_try_pop(shmemx_queue_t queue, void *item, size_t room, size_t *bytes);

/* Pops up to `most` items at once, as many as there are, but waits for one. They are laid one after the other; sizes
   (may be NULL for items) gets their lengths. Returns how many. Killed in here, a process loses at most these. */
SHMEMX_API long shmemx_queue_pop_many(shmemx_queue_t queue, void *items, size_t room, size_t *sizes, size_t most,
                                      double seconds);

/* The oldest item where it lies, until release() (it is popped) or put_back() (it is the next item again) by the same
   thread. Other consumers wait meanwhile: to work on something for long, pop the key or offset of a buffer. When the
   process or thread ends in between, the item goes to the next consumer. */
SHMEMX_API int shmemx_queue_peek(shmemx_queue_t queue, const void **item, size_t *bytes, double seconds);
SHMEMX_API int shmemx_queue_release(shmemx_queue_t queue);
SHMEMX_API int shmemx_queue_put_back(shmemx_queue_t queue);

/* --- looking ------------------------------------------------------------------------------------------------------ */

/* How many items are in the queue, about: those gathered by producers are not. */
SHMEMX_API long shmemx_queue_length(shmemx_queue_t queue);

typedef struct {
    shmemx_queue_attr_t attr; /* as it was made, with defaults filled in; the note is there as long as the handle */
    uint64_t length;          /* items in the queue, about */
    uint64_t pushed, popped;  /* items since it was made, about */
    uint64_t skipped;         /* slots that were reserved by somebody who died, and never became items */
    uint64_t gathered;        /* items that this process has gathered with this handle */
    unsigned producers;       /* threads that have pushed and are there */
    int ended;                /* shmemx_queue_end() was called */
    size_t bytes;             /* of the pool that the queue takes */
} shmemx_queue_stats_t;
SHMEMX_API int shmemx_queue_stats(shmemx_queue_t queue, shmemx_queue_stats_t *out);

#ifdef __cplusplus
}
#endif

#endif
