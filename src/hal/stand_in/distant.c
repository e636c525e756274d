// SPDX-License-Identifier: Apache-2.0
// Memory that another process allocated as it liked and then adopted: it stays where it is, in pages that it shares
// with who knows what. It has addresses here, which nothing can touch, and copies go through the kernel.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/copy.h"
#include "base/error.h"
#include "stand_in.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* of headers before Linux 5.3: the same everywhere */
#endif

enum { STAGE = 64 << 10 };

struct distant {
    struct distant *next;
    char *begin; /* here */
    size_t bytes;
    uintptr_t there;
    pid_t pid;
    int process; /* a descriptor of it: its number may go to another; -1: this kernel has none */
};

/* Copies hold it for reading: what they go to is not taken away meanwhile. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct distant *distants;
static atomic_size_t count; /* [distant] relaxed: whoever has such an address got it after it was counted */

/* Under the lock. */
static struct distant *at_address(const void *address)
{
    struct distant *d = distants;
    while (d && (uintptr_t)address - (uintptr_t)d->begin >= d->bytes)
        d = d->next;
    return d;
}

static int refuse(const struct distant *d)
{
    switch (errno) {
    case ESRCH:
        return shmemi_fail(-ESTALE, "the process %d that owns the memory is gone", (int)d->pid);
    case EFAULT:
        return shmemi_fail(-ESTALE, "the memory was freed by its owner, the process %d", (int)d->pid);
    case EPERM:
        return shmemi_fail(-EACCES,
                           "the kernel does not let this process copy to and from the memory of process %d, which "
                           "was adopted there (see kernel.yama.ptrace_scope): use memory of a pool",
                           (int)d->pid);
    default:
        return shmemi_fail_errno("copying to or from the memory of process %d", (int)d->pid);
    }
}

static bool has_ended(const struct distant *d)
{
    struct pollfd one = {.fd = d->process, .events = POLLIN};
    return d->process >= 0 && poll(&one, 1, 0) == 1;
}

/* To or from the process; `at` is the address here. */
static int transfer(const struct distant *d, const void *at, void *here, size_t bytes, bool writes)
{
    size_t offset = (size_t)((const char *)at - d->begin);
    if (bytes > d->bytes - offset)
        return shmemi_fail(-EINVAL, "%zu bytes at %p go beyond the memory, which ends after %zu", bytes, at,
                           d->bytes - offset);
    errno = ESRCH;
    if (has_ended(d))
        return refuse(d);
    for (size_t done = 0; done < bytes;) {
        struct iovec local = {(char *)here + done, bytes - done};
        struct iovec remote = {(void *)(d->there + offset + done), bytes - done};
        ssize_t moved = writes ? process_vm_writev(d->pid, &local, 1, &remote, 1, 0)
                               : process_vm_readv(d->pid, &local, 1, &remote, 1, 0);
        if (moved <= 0)
            return refuse(d);
        done += (size_t)moved;
    }
    return 0;
}

/* From one to another, or within one: then in the order in which nothing is overwritten unread. */
static int transfer_both(const struct distant *to, void *dest, const struct distant *from, const void *source,
                         size_t bytes)
{
    bool backwards = (uintptr_t)dest > (uintptr_t)source;
    char *stage = malloc(STAGE);
    int rc = stage ? 0 : shmemi_fail(-ENOMEM, "no memory for a copy between processes");
    for (size_t done = 0, n; rc == 0 && done < bytes; done += n) {
        n = bytes - done < STAGE ? bytes - done : STAGE;
        size_t at = backwards ? bytes - done - n : done;
        rc = transfer(from, (const char *)source + at, stage, n, false);
        if (rc == 0)
            rc = transfer(to, (char *)dest + at, stage, n, true);
    }
    free(stage);
    return rc;
}

static void copy_here(void *to, const void *from, size_t bytes)
{
    uintptr_t t = (uintptr_t)to, f = (uintptr_t)from;
    if (bytes && t - f + bytes - 1 < 2 * bytes - 1)
        memmove(to, from, bytes);
    else
        shmemi_copy(to, from, bytes);
    atomic_thread_fence(memory_order_release); /* who sees what is written next sees this */
}

int shmemi_stand_in_copy(void *to, const void *from, size_t bytes)
{
    int rc = 0;
    bool any = atomic_load_explicit(&count, memory_order_relaxed) != 0; /* [distant] */
    if (any)
        pthread_rwlock_rdlock(&lock);
    const struct distant *t = any ? at_address(to) : NULL, *f = any ? at_address(from) : NULL;
    if (t && f)
        rc = transfer_both(t, to, f, from, bytes);
    else if (t)
        rc = transfer(t, to, (void *)(uintptr_t)from, bytes, true);
    else if (f)
        rc = transfer(f, from, to, bytes, false);
    if (any)
        pthread_rwlock_unlock(&lock);
    if (!t && !f)
        copy_here(to, from, bytes);
    return rc;
}

/* Whether the word is in another process; and then *rc: what came of reading or writing it. */
static bool far_word(const void *at, uint64_t *value, bool writes, int *rc)
{
    if (!atomic_load_explicit(&count, memory_order_relaxed)) /* [distant] */
        return false;
    pthread_rwlock_rdlock(&lock);
    const struct distant *d = at_address(at);
    if (d)
        *rc = transfer(d, at, value, sizeof *value, writes);
    pthread_rwlock_unlock(&lock);
    return d != NULL;
}

int shmemi_stand_in_load(const void *at, uint64_t *out)
{
    int rc = 0;
    if (!far_word(at, out, false, &rc))
        *out = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE); /* whoever wrote it released */
    return rc;
}

int shmemi_stand_in_store(void *at, uint64_t value)
{
    int rc = 0;
    if (!far_word(at, &value, true, &rc))
        __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELEASE); /* of all that the stream did before */
    return rc;
}

/* --- coming and going --------------------------------------------------------------------------------------------- */

static void end(struct distant *d)
{
    munmap(d->begin, d->bytes);
    if (d->process >= 0)
        close(d->process);
    free(d);
}

/* Whether it can be reached: by its first and its last byte. */
static int probe(const struct distant *d)
{
    char byte;
    int rc = transfer(d, d->begin, &byte, 1, false);
    return rc < 0 ? rc : transfer(d, d->begin + d->bytes - 1, &byte, 1, false);
}

static int reserve(struct distant *d)
{
    void *room = mmap(NULL, d->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    d->begin = room;
    return room == MAP_FAILED ? shmemi_fail_errno("%zu bytes of address space", d->bytes) : 0;
}

int shmemi_stand_in_reach_out(const struct shmemi_device_ticket *ticket, void **at)
{
    if (!shmemi_device_owner_is_near(ticket))
        return shmemi_fail(-EACCES, "the memory was adopted by a process whose number means nothing here (another PID "
                                    "namespace), and the kernel copies by number: use memory of a pool");
    if (ticket->handle > UINTPTR_MAX - ticket->bytes)
        return shmemi_fail(-EINVAL, "a ticket for adopted memory is damaged");
    struct distant *d = calloc(1, sizeof *d);
    if (!d)
        return shmemi_fail(-ENOMEM, "no memory to keep account of adopted memory");
    d->bytes = ticket->bytes;
    d->there = (uintptr_t)ticket->handle;
    d->pid = ticket->pid;
    d->process = (int)syscall(SYS_pidfd_open, d->pid, 0);
    int rc = reserve(d);
    if (rc < 0) {
        d->bytes = 0;
    } else if ((rc = probe(d)) == 0) {
        pthread_rwlock_wrlock(&lock);
        d->next = distants;
        distants = d;
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); /* [distant] */
        pthread_rwlock_unlock(&lock);
        *at = d->begin;
    }
    if (rc < 0)
        end(d);
    return rc;
}

void shmemi_stand_in_let_go(void *at)
{
    pthread_rwlock_wrlock(&lock);
    struct distant **where = &distants;
    while (*where && (*where)->begin != at)
        where = &(*where)->next;
    struct distant *gone = *where;
    if (gone) {
        *where = gone->next;
        atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed); /* [distant] */
    }
    pthread_rwlock_unlock(&lock);
    if (gone)
        end(gone);
}
