// SPDX-License-Identifier: Apache-2.0
// The hardware layer: kinds of memory, and what can be done with each. This header is the contract of a back end.
//
// A back end fills one `struct shmemi_hal`. Slots are called from any thread, at most one call at a time for one
// handle. Every slot returns 0 or a negative errno with the error text set. A slot that a kind of memory cannot serve
// is NULL; callers test for it.
#ifndef SHMEMI_HAL_HAL_H
#define SHMEMI_HAL_HAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shmemi_memory_kind { SHMEMI_MEMORY_HOST, SHMEMI_MEMORY_KINDS };

/* What a kind of memory allows. */
enum {
    SHMEMI_CAN_LOAD_STORE = 1u << 0, /* the CPU may touch mapped memory */
    SHMEMI_CAN_ATOMIC = 1u << 1,     /* CPU atomics work on it, also between processes */
    SHMEMI_CAN_WAIT = 1u << 2,       /* a futex may lie in it */
};

enum shmemi_access { SHMEMI_READ_ONLY, SHMEMI_READ_WRITE, SHMEMI_COPY_ON_WRITE };

/* What the caller wants of memory beyond its size; all zeros (with node -1) ask for nothing. Each wish is honoured, or
   the slot fails and says why. */
enum { SHMEMI_PAGES_USUAL = 0, SHMEMI_PAGES_TRANSPARENT = 1 };
enum shmemi_cache { SHMEMI_CACHE_USUAL, SHMEMI_CACHE_WRITE_BACK, SHMEMI_CACHE_WRITE_COMBINING, SHMEMI_CACHE_UNCACHED };

struct shmemi_wish {
    size_t page; /* SHMEMI_PAGES_; or exactly this many bytes: a huge page size of this machine */
    int node;    /* NUMA node, or -1 */
    bool lock;   /* never swapped out */
    enum shmemi_cache cache;
    bool sealable; /* freeze() may be called later */
};
#define SHMEMI_NO_WISH ((struct shmemi_wish){.node = -1})

/* What memory really is. */
struct shmemi_obtained {
    size_t page; /* bytes: what the kernel maps it with now, at most */
    int node;    /* where its first page lies; -1: not known */
    bool locked;
    size_t huge_bytes; /* how much of it is in huge pages now */
};

struct shmemi_hal {
    const char *name;
    unsigned capabilities;

    /* Makes memory of `bytes` (a multiple of the page size) that other processes can map, without taking pages yet, and
       seals it against shrinking. *handle is a descriptor, closed by the caller. Other users who are given one for
       reading cannot open it for writing. Memory of huge pages is created, mapped and reserved in multiples of them,
       and mapped at multiples of them: in create() -ENOTSUP for a page size that is not to be had here, -ENOMEM when
       none is free, with the remedy. Does not block. */
    int (*create)(const char *label, size_t bytes, const struct shmemi_wish *wish, int *handle); /* wish NULL: none */

    /* On a mapping of fresh memory, before pages are taken: node and page size. After they were: locks it. And tells
       what came of it. wish NULL or nothing wished: 0 at once. */
    int (*place)(void *at, size_t bytes, const struct shmemi_wish *wish);
    int (*lock)(void *at, size_t bytes);
    void (*report)(const void *at, size_t bytes, struct shmemi_obtained *out);

    /* A descriptor of the same memory that can only be mapped for reading; across users the kernel holds to it. */
    int (*narrow)(int handle, int *out);
    /* From now on nobody can map it for writing who has not done so already, not even the same user; and release() does
       nothing any more. -EPERM when it was created without `sealable`. */
    int (*freeze)(int handle);

    /* Checks a handle that came from another process: at least `bytes` long and sealed against shrinking. */
    int (*check)(int handle, size_t bytes);

    /* Takes pages for [offset, offset + bytes), or fails with what limits it and takes none. May take long. */
    int (*reserve)(int handle, size_t offset, size_t bytes);

    /* Gives the whole pages inside the range back; they read as zero afterwards. */
    void (*release)(int handle, size_t offset, size_t bytes);

    /* Maps the range at `at` (NULL: anywhere; else the caller owns that address range and it is replaced). */
    int (*map)(int handle, size_t offset, size_t bytes, enum shmemi_access access, void *at, void **out);
    void (*unmap)(void *at, size_t bytes);

    /* Copies; returns when the source may be reused and the data is visible after the next fence. NULL for a pair of
       kinds that this back end does not serve: then the other side's back end is asked. */
    int (*copy)(void *to, enum shmemi_memory_kind to_kind, const void *from, enum shmemi_memory_kind from_kind,
                size_t bytes);
};

/* The back end for a type of memory that a person named: "host", or "auto", which is host as well. "npu" and "cuda" are
   of device.h: -ENOTSUP where the device is there; else -ENODEV with what is missing (library, driver, device), unless
   SHMEM_DEVICE_FALLBACK=host, which warns once and gives host memory; -EINVAL for another name. */
int shmemi_hal_find(const char *type, const struct shmemi_hal **out);

/* *host: whether SHMEM_DEVICE_FALLBACK lets host memory stand in for a device's. -EINVAL: it holds something else. */
int shmemi_hal_fallback(bool *host);
/* Whether this process has still to say that host memory stands in for that type of device: true once, and only for one
   process of a job. */
bool shmemi_hal_fallback_untold(const char *type);
/* Says so, with the reason, if it is still to be said. */
void shmemi_hal_tell_fallback(const char *type, const char *why);
/* Where the processes of this one's job note what was told, in memory that they share; NULL: it is in none. And in a
   forked child, which is in none. */
void shmemi_hal_fallback_in_job(_Atomic uint32_t *told);
void shmemi_hal_fallback_in_child(void);

/* The back end of a kind; NULL where it is absent. */
const struct shmemi_hal *shmemi_hal(enum shmemi_memory_kind kind);

extern const struct shmemi_hal shmemi_hal_host;

/* How many bytes of host memory this process could take now without running into a limit, and which limit is the
   nearest (a part of a sentence). total: the lowest of all limits, used or not; it does not change from call to call.
 */
struct shmemi_host_room {
    size_t bytes, total;
    char limit[256];
    char cgroup[512]; /* the folder of the cgroup whose limit it is; "": it is the machine's */
};
void shmemi_host_room(struct shmemi_host_room *out);

/* -EFBIG, with the text, when a file or memfd of so many bytes would break the limit of file sizes, to which the
   kernel's answer is a signal. */
int shmemi_host_check_file_limit(const char *label, size_t bytes);

/* 0 when `bytes` may be taken now and a reserve stays; else -ENOMEM with what limits it. left (may be NULL): what may
   be taken at all. */
int shmemi_host_may_take(size_t bytes, size_t *left);

#endif
