// SPDX-License-Identifier: Apache-2.0
// Paths: the ways in which memory of a peer can be reached. A region has one, and all that is done with it goes that
// way.
#ifndef SHMEMI_COMM_PATH_H
#define SHMEMI_COMM_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a peer's memory is, for the path that reaches it. */
struct shmemi_remote_memory {
    char *base;       /* mapped here: the first byte; NULL: not mapped */
    pid_t pid;        /* for copies through the kernel: the process, as it is numbered here, */
    uint64_t address; /* and the address there */
    int owner;        /* PE, for messages */
};

enum {
    SHMEMI_PATH_LOAD_STORE = 1u << 0, /* a pointer into it can be handed out */
    SHMEMI_PATH_ATOMIC = 1u << 1,     /* CPU atomics reach it, from every PE the same way */
    SHMEMI_PATH_WAIT = 1u << 2,       /* its owner can sleep on it */
};

struct shmemi_path {
    const char *name;
    unsigned capabilities;
    /* Copies `bytes` (the range is checked) and returns when the source may be reused; ordered by quiet and fence. May
       block for the copy only. 0, or negative errno with the text. Any thread. overlap: both ranges may be the same
       memory. */
    int (*put)(const struct shmemi_remote_memory *to, size_t offset, const void *from, size_t bytes, bool overlap);
    int (*get)(void *to, const struct shmemi_remote_memory *from, size_t offset, size_t bytes, bool overlap);
};

/* Mapped memory: loads and stores. */
extern const struct shmemi_path shmemi_path_direct;
/* Memory that is mapped in its owner only: process_vm_readv and writev. */
extern const struct shmemi_path shmemi_path_kernel;

/* Memory of a device, or from or to it: base is the device's address, or the host's. */
extern const struct shmemi_path shmemi_path_device;

/* Whether the kernel path works between this process and that memory, by trying it. -EPERM and the like with the text.
 */
int shmemi_path_probe_kernel(const struct shmemi_remote_memory *memory);

#endif
