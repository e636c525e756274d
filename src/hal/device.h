// SPDX-License-Identifier: Apache-2.0
// Memory of devices (GPUs, NPUs): the contract of a back end. Host memory has its own table in hal.h, since there the
// CPU loads and stores; here it never does, and everything happens by copies that the device's driver makes.
//
// A back end fills one `struct shmemi_device_hal`. The drivers are opened at run time, by the first open(). Every slot
// returns 0 or a negative errno with the error text set; the text names the driver's call that failed and what the
// driver said of it:
//   -ENODEV  no driver, no device, or no device of that number     -ENOMEM  out of device memory
//   -EBUSY   another process has the device for itself             -EACCES  the owner has not let this process in
//   -ENOTSUP the driver is too old (the text says which call is missing and which version brings it), or the device
//            cannot do it                                          -EINVAL  an argument, or a ticket that is none
//   -ESTALE  the memory's owner, or its process, is gone           -EBADFD  the thread's current context is not the
//   -EEXIST  another library has it open in this process                    stream's, or the stream is gone
//   -EIO     anything else
// No slot is NULL. Slots may be called from any thread, one at a time for one memory or stream. After fork() the child
// can use nothing of this: drivers do not survive it; it starts anew by exec.
#ifndef SHMEMI_HAL_DEVICE_H
#define SHMEMI_HAL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How memory is shared with other processes. */
enum shmemi_device_way {
    SHMEMI_WAY_NONE,       /* not at all: the driver has no call for it, or the device cannot */
    SHMEMI_WAY_DESCRIPTOR, /* a file descriptor (CUDA virtual memory) */
    SHMEMI_WAY_HANDLE_V2,  /* a number, checked against a list of processes (Ascend, the newer calls) */
    SHMEMI_WAY_HANDLE_V1,  /* the same by the older calls */
    SHMEMI_WAY_KEY,        /* a name, checked against a list of processes (Ascend) */
    SHMEMI_WAY_LEGACY,     /* 64 bytes (CUDA, for memory that others allocated in one call) */
    /* A file descriptor of host memory that stands in for a device's; what was adopted is reached by the kernel. */
    SHMEMI_WAY_STAND_IN_NPU,
    SHMEMI_WAY_STAND_IN_CUDA,
};

struct shmemi_device_info {
    char name[64];
    uint8_t id[16]; /* names the device in every process of this machine, whatever numbers they see it under */
    size_t free_bytes, total_bytes;
    enum shmemi_device_way way; /* of sharing memory from allocate() */
    char alone[256];            /* why it is not shared at all; empty where it is, or that is not known */
    bool can_signal;            /* write_value() and wait_value() work */
};

/* Memory that this process allocated, adopted or imported. The fields after `bytes` are the back end's own. */
struct shmemi_device_memory {
    int device;
    void *address; /* the device's address; nothing that the CPU could touch */
    size_t bytes;  /* what was asked for, rounded up to what the device maps */
    bool imported, adopted;
    enum shmemi_device_way way;
    uint64_t handle;
    char key[72];
};

/* What another process needs for import(). Plain bytes, checked there before anything is done with them. */
struct shmemi_device_ticket {
    uint32_t magic, way;
    int32_t owner; /* identify() of the process that exported it */
    int32_t pid;   /* of that process, in the PID namespace of this inode: where that is the reader's own, it tells
                      whether the owner lives */
    uint64_t pid_namespace;
    uint64_t bytes, handle;
    uint8_t id[16]; /* the device's */
    char key[72];
};

struct shmemi_device_stream {
    int device;
    void *driver; /* the driver's own stream; NULL: the default one */
};

enum shmemi_device_direction { SHMEMI_TO_DEVICE, SHMEMI_FROM_DEVICE, SHMEMI_DEVICE_TO_DEVICE };
enum shmemi_device_compare { SHMEMI_UNTIL_AT_LEAST, SHMEMI_UNTIL_EQUAL };

struct shmemi_device_pointer {
    bool device;  /* false: host memory, or memory that the driver does not know */
    int number;   /* of the device */
    void *base;   /* of the allocation; NULL where the driver does not tell */
    size_t bytes; /* of the allocation; 0 where the driver does not tell */
    uint64_t id;  /* of the allocation: no other one of this process ever has it; 0 where the driver does not tell */
};

/* What was current in a thread before enter(). */
struct shmemi_device_current {
    void *context; /* NULL: none */
    int device;
    bool same; /* it was what enter() was asked for: nothing changed */
};

/* Words by which the streams of one device and this process's CPU tell each other how far they are, in pairs: the first
   is told the CPU, the second holds streams until the CPU lets them go. */
enum { SHMEMI_WORDS_APART = 64 };

struct shmemi_device_words {
    int device;
    size_t count;
    char *told; /* in host memory; see shmemi_words_told() */
    /* The back end's own: */
    void *host, *memory;
    struct shmemi_device_stream stream;
};

/* Word i, of the first kind: 1 once a stream has come to its tell(); the CPU makes it 0 again before the next. Acquire
   goes with looking: what the stream did before is done. */
static inline uint64_t *shmemi_words_told(const struct shmemi_device_words *words, size_t i)
{
    return (uint64_t *)(void *)(words->told + i * SHMEMI_WORDS_APART);
}

struct shmemi_device_hal {
    const char *type, *maker; /* "cuda", "CUDA" */
    bool stands_in;           /* it is host memory in the place of that type's */
    unsigned ways;            /* 1 << way for each in which its memory is shared: nobody else has them */
    size_t copy_align;        /* of both addresses of a copy from device memory to device memory; 1: none is needed */

    /* Opens the driver if that has not been done. *count: devices that this process may use, at least 1. May take
       seconds. What was opened stays so until the process ends: the drivers cannot be unloaded. */
    int (*open)(int *count);
    /* The driver's version, for people: "CUDA 13.0". */
    int (*version)(char text[64]);
    /* About one device. May block. */
    int (*describe)(int device, struct shmemi_device_info *out);
    /* The number under which this process sees the device of that id; -ENODEV when it does not see it. */
    int (*find)(const uint8_t id[16], int *device);
    /* This process as owners name it in their lists: the number that identify() gave is what goes to export(). */
    int (*identify)(int device, int32_t *process);

    /* Takes at least `bytes` (not 0) of a device's memory, maps it, and makes it accessible to that device. Its content
       is undefined. release() gives it back. May block. */
    int (*allocate)(int device, size_t bytes, struct shmemi_device_memory *out);
    /* Unmaps memory and, if it is this process's own, frees it. Importers release before the owner does. Never fails:
       a driver that is gone already, as at the end of a process, has released everything. */
    void (*release)(struct shmemi_device_memory *memory);

    /* A ticket with which the `count` processes named (by their identify()) can import memory from allocate(). For way
       DESCRIPTOR *descriptor is to be sent along, and to be closed by the caller; else it is -1. May be called again,
       with more processes. Does not block. */
    int (*export_memory)(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,
                         struct shmemi_device_ticket *ticket, int *descriptor);
    /* Maps what a ticket stands for, for use by `device`, which may be another device than the one it lies on: then
       access from one to the other is needed. The descriptor stays the caller's. -EINVAL for a ticket of this very
       process: the memory is there already. release() unmaps it. May block. */
    int (*import_memory)(const struct shmemi_device_ticket *ticket, int descriptor, int device,
                         struct shmemi_device_memory *out);

    /* Whether `device` can reach the memory of `peer`; and lets it (again: no harm). Does not block. */
    int (*can_reach)(int device, int peer, bool *can);
    int (*reach)(int device, int peer);
    /* Lets another device of this process touch memory of allocate() or import_memory(): reach(), and what the mapping
       needs beside it. */
    int (*admit)(const struct shmemi_device_memory *memory, int device);

    int (*create_stream)(int device, struct shmemi_device_stream *out);
    /* Waits for what is queued, then frees it. */
    void (*destroy_stream)(struct shmemi_device_stream *stream);
    /* Returns when all that was queued is done. Blocks. */
    int (*finish)(struct shmemi_device_stream stream);
    /* *done: whether all is done. Does not block. */
    int (*query)(struct shmemi_device_stream stream, bool *done);

    /* Makes a device the calling thread's, as the slots below want it; leave() restores what was before. One pair
       around any number of operations; a thread that had none may keep it, by never calling leave(). The slots above do
       this themselves. */
    int (*enter)(int device, struct shmemi_device_current *before);
    void (*leave)(const struct shmemi_device_current *before);

    /* Queues a copy: one call of the driver and nothing else. Source and destination stay untouched until finish() or
       query() says so. Blocks only while the queue is full, or for host memory that the driver has not pinned. */
    int (*copy)(void *to, const void *from, size_t bytes, enum shmemi_device_direction direction,
                struct shmemi_device_stream stream);
    /* Queues the writing of a 64-bit word (aligned) in device memory, visible after all that was queued before it. */
    int (*write_value)(void *at, uint64_t value, struct shmemi_device_stream stream);
    /* Lets what is queued later wait until the word compares so. The writer must not be queued behind it, nor be
       another process on the same device: such waits are the host's. */
    int (*wait_value)(const void *at, uint64_t value, enum shmemi_device_compare compare,
                      struct shmemi_device_stream stream);

    /* What an address is. 0 also for host memory and for memory that the driver does not know, such as what was freed;
       -ENOTSUP when the driver cannot say. */
    int (*describe_pointer)(const void *address, struct shmemi_device_pointer *out);

    /* Makes memory that others allocated (PyTorch), and will free, ready for export_memory(): *out is what importers of
       the range get, which holds it and may begin before it: the allocation, or the pages that it lies in. release()
       ends that and leaves the memory to its owner; it comes before the owner frees it. -EINVAL: it is no memory of
       this kind of device, or the range goes beyond its allocation. -ENOTSUP: it was allocated in a way that cannot be
       shared; the text says what to do. */
    int (*adopt)(const void *address, size_t bytes, struct shmemi_device_memory *out);

    /* Memory as other libraries allocate it, by the driver's plain call: for tests of adopt(). */
    int (*allocate_plain)(int device, size_t bytes, void **out);
    int (*free_plain)(int device, void *address);

    /* Makes `count` pairs of words for streams of a device, all 0. CUDA: in host memory that the device writes and
       waits on. Ascend: its manual gives the value operations addresses of the device only, so streams tell by a copy
       of a word into pinned host memory, and are held by words of the device, which the CPU writes by a stream of its
       own. -ENOTSUP: the driver or the device cannot. free_words(): no stream may come to them any more. May block. */
    int (*make_words)(int device, size_t count, struct shmemi_device_words *out);
    void (*free_words)(struct shmemi_device_words *words);
    /* Queue, between enter() and leave(), one call each: that word i is told once all that was queued before is done;
       and that what is queued later waits until let_go() of word i, with a number at least as high. */
    int (*tell)(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream);
    int (*hold)(const struct shmemi_device_words *words, size_t i, uint64_t number, struct shmemi_device_stream stream);
    /* Lets go whoever waits at word i for a number up to this one, now or later. Any thread; does not block. */
    int (*let_go)(const struct shmemi_device_words *words, size_t i, uint64_t number);
};

extern const struct shmemi_device_hal shmemi_device_cuda, shmemi_device_ascend;
extern const struct shmemi_device_hal shmemi_device_stand_in_cuda, shmemi_device_stand_in_npu;

/* Runs every slot against the driver with one process on one device, compares every byte, and frees everything. 0, or
   the first failure, whose text names the step. steps (may be NULL): how many were done. */
int shmemi_device_self_test(const struct shmemi_device_hal *hal, int device, int *steps);

enum { SHMEMI_TICKET_MAGIC = 0x54564453 };

/* For back ends: an empty ticket of this process; a ticket that came from another process, judged by itself; whether
   the number of the process that made it means that process here, too; and whether it is known to be gone. */
void shmemi_device_begin_ticket(struct shmemi_device_ticket *out, enum shmemi_device_way way, size_t bytes,
                                int32_t owner);
int shmemi_device_check_ticket(const struct shmemi_device_ticket *ticket, int32_t self);
bool shmemi_device_owner_is_near(const struct shmemi_device_ticket *ticket);
bool shmemi_device_owner_is_gone(const struct shmemi_device_ticket *ticket);

/* "file descriptors", for people. */
const char *shmemi_device_way_name(enum shmemi_device_way way);

/* The back end of a type ("cuda", "npu") by its driver, or by host memory that stands in; NULL: there is none of that
   name. The index-th of all, drivers first; NULL past the last, of which there are no more than SHMEMI_DEVICE_HALS. Its
   index. */
enum { SHMEMI_DEVICE_HALS = 4 };
const struct shmemi_device_hal *shmemi_device_of(const char *type);
const struct shmemi_device_hal *shmemi_device_stand_in_of(const char *type);
const struct shmemi_device_hal *shmemi_device_hal(int index);
int shmemi_device_index(const struct shmemi_device_hal *hal);

#endif
