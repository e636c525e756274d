// SPDX-License-Identifier: Apache-2.0
// Host memory in the place of a device's: what the files of this back end share. There is one for each type of device,
// which differ in name only. It has one device, whose memory is memfds that this process has mapped, and whose streams
// do at once what waits for nothing; the rest is done by a thread, the worker, which is started when it is first
// needed.
#ifndef SHMEMI_HAL_STAND_IN_STAND_IN_H
#define SHMEMI_HAL_STAND_IN_STAND_IN_H

#include <pthread.h>
#include <stdatomic.h>

#include "../device.h"

/* A type of device that host memory stands in for. */
struct shmemi_stand_in {
    const char *type, *name;
    enum shmemi_device_way way;
    uint8_t id[16];
};

/* 0, or -ENODEV: there is one, number 0. */
int shmemi_stand_in_check(int device);

/* --- memory (memory.c) -------------------------------------------------------------------------------------------- */

int shmemi_stand_in_allocate(const struct shmemi_stand_in *type, int device, size_t bytes,
                             struct shmemi_device_memory *out);
void shmemi_stand_in_release(struct shmemi_device_memory *memory);
int shmemi_stand_in_export(const struct shmemi_stand_in *type, const struct shmemi_device_memory *memory,
                           struct shmemi_device_ticket *ticket, int *descriptor);
int shmemi_stand_in_import(const struct shmemi_stand_in *type, const struct shmemi_device_ticket *ticket,
                           int descriptor, int device, struct shmemi_device_memory *out);
int shmemi_stand_in_adopt(const struct shmemi_stand_in *type, const void *address, size_t bytes,
                          struct shmemi_device_memory *out);
int shmemi_stand_in_describe_pointer(const void *address, struct shmemi_device_pointer *out);

/* --- memory of other processes that is not mapped here (distant.c) -------------------------------------------------
 */

/* What another process adopted: the kernel copies to and from there. *at: addresses that stand for it here. -ESTALE: it
   was freed, or the process is gone; -EACCES: the kernel lets nobody copy there. */
int shmemi_stand_in_reach_out(const struct shmemi_device_ticket *ticket, void **at);
void shmemi_stand_in_let_go(void *at);

/* Copies, between any two of memory that is mapped here and memory that is not. Ranges may overlap. 0, or as above. */
int shmemi_stand_in_copy(void *to, const void *from, size_t bytes);
/* Words, aligned: acquire and release. */
int shmemi_stand_in_load(const void *at, uint64_t *out);
int shmemi_stand_in_store(void *at, uint64_t value);

/* --- streams (stream.c) ------------------------------------------------------------------------------------------- */

enum shmemi_stand_in_what { SHMEMI_STAND_IN_COPY, SHMEMI_STAND_IN_WRITE, SHMEMI_STAND_IN_WAIT };

struct shmemi_stand_in_operation {
    struct shmemi_stand_in_operation *next;
    enum shmemi_stand_in_what what;
    bool kicked; /* who ends the wait kicks the worker: nobody has to look meanwhile */
    void *to;
    const void *from; /* of a wait: the word */
    size_t bytes;
    uint64_t value;
    enum shmemi_device_compare compare;
};

/* Does it, or queues it behind what waits. -EBADFD: there is no such stream. */
int shmemi_stand_in_submit(struct shmemi_device_stream stream, const struct shmemi_stand_in_operation *operation);

int shmemi_stand_in_create_stream(int device, struct shmemi_device_stream *out);
void shmemi_stand_in_destroy_stream(struct shmemi_device_stream *stream);
int shmemi_stand_in_finish(struct shmemi_device_stream stream);
int shmemi_stand_in_query(struct shmemi_device_stream stream, bool *done);

/* For the worker. Goes on with all streams as far as they can: whether something was done. *look: whether something is
   left that is to be looked at again without a kick, since anybody may write the word that it waits for. */
bool shmemi_stand_in_advance(bool *look);
/* No worker goes on with them any more: whoever waits for them is told. */
void shmemi_stand_in_abandon(void);

/* --- the worker (worker.c) ---------------------------------------------------------------------------------------- */

/* Once, before anything else: it ends in an orderly end of the process, after what was made later. */
void shmemi_stand_in_prepare(void);
/* Starts it, if it does not run. */
int shmemi_stand_in_work(void);
/* Something has changed that streams may wait for. Cheap when none does. */
void shmemi_stand_in_kick(void);
/* How many streams have something queued. */
extern atomic_size_t shmemi_stand_in_waiting;

#endif
