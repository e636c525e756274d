// SPDX-License-Identifier: Apache-2.0
// A lock for many readers or one writer that survives all of them. Each reader has a seat on a line of its own, so that
// readers do not meet; a writer looks at all seats.
//
// Fair by phases: a writer that waits keeps new readers out, and a writer that leaves lets all readers in that wait in
// their seats, before the next writer.
#ifndef SHMEMI_SYNC_RWLOCK_H
#define SHMEMI_SYNC_RWLOCK_H

#include "base/compiler.h"
#include "waiting.h"

enum shmemi_rwlock_state {
    SHMEMI_RWLOCK_SOUND,        /* nobody writes; a writer that dies now has changed nothing */
    SHMEMI_RWLOCK_WRITING,      /* the writer is at it */
    SHMEMI_RWLOCK_INCONSISTENT, /* likewise, after one that died */
};

#define SHMEMI_RWLOCK_POISONED SHMEMI_HOLDER_NOBODY

/* MARK in it: its reader waits to be let in. */
struct shmemi_seat {
    _Atomic uint64_t who;
    char pad[SHMEMI_LINE - 8];
};

/* In shared memory; all zeros is a free one. */
struct shmemi_rwlock {
    _Atomic uint64_t writer; /* who writes, or is about to when the readers have left */
    _Atomic uint32_t state;  /* enum shmemi_rwlock_state; changed by the writer only */
    _Atomic uint32_t queued; /* whether a reader may wait in its seat */
    char pad[SHMEMI_LINE - 16];
    struct shmemi_seat seats[];
};

/* One as its user knows it: how many seats there are (a power of two) is not read from shared memory again. */
struct shmemi_rw {
    const struct shmemi_site *site;
    struct shmemi_rwlock *lock;
    unsigned seats;
};

/* Where this holder sits when it can. */
SHMEMI_INLINE struct shmemi_seat *shmemi_rwlock_home(struct shmemi_rwlock *lock, unsigned seats, uint64_t mine)
{
    uint64_t slot = mine >> 20, thread = mine & (SHMEMI_HOLDER_MARK - 1);
    return &lock->seats[(slot + 7 * thread) & (seats - 1)];
}

/* What needs neither waiting nor words: false says that nothing was done. */
SHMEMI_INLINE bool shmemi_rwlock_read_free(struct shmemi_rwlock *lock, unsigned seats, uint64_t mine)
{
    struct shmemi_seat *seat = shmemi_rwlock_home(lock, seats, mine);
    uint64_t none = 0;
    if (shmemi_unlikely(shmemi_held.count >= shmemi_held.room ||
                        (shmemi_held.count && shmemi_held_find(lock, &lock->seats[seats]))))
        return false;
    /* [dekker] sequentially consistent, as is the look at the writer: a reader takes its seat and then looks for a
       writer, a writer takes its word and then looks at the seats (drain()). In the one order of these four, whichever
       pair is complete first is seen by the other side: reader and writer never both find the way free. Release and
       acquire would allow exactly that, because neither orders a store before a later load. */
    if (!atomic_compare_exchange_strong_explicit(&seat->who, &none, mine, memory_order_seq_cst, memory_order_relaxed))
        return false;
    shmemi_held_note(seat, mine, shmemi_holder_lose);
    if (shmemi_likely(atomic_load_explicit(&lock->writer, memory_order_seq_cst) == 0))
        return true; /* and what the last writer wrote is seen: [writer] pairs with the release in free_word() */
    shmemi_held_remove(seat);
    return false; /* the seat stays taken: shmemi_rwlock_read() goes on from there */
}

SHMEMI_INLINE bool shmemi_rwlock_give_seat(struct shmemi_rwlock *lock, unsigned seats, uint64_t mine)
{
    struct shmemi_seat *seat = shmemi_rwlock_home(lock, seats, mine);
    /* [seat] release: pairs with the acquire in drain(): the reader has read. It fails where somebody waits for the
       seat, or sits in it. */
    if (shmemi_unlikely(
            !atomic_compare_exchange_strong_explicit(&seat->who, &mine, 0, memory_order_release, memory_order_relaxed)))
        return false;
    shmemi_held_remove(seat);
    return true;
}

/* 0; -EOWNERDEAD: a writer died, and the lock was NOT taken: take it for writing and repair; -ENOTRECOVERABLE;
   -EDEADLK: this thread has it already; -ETIMEDOUT; -EINTR; -ENOENT. */
int shmemi_rwlock_read(const struct shmemi_rw *rw, int64_t deadline);
int shmemi_rwlock_try_read(const struct shmemi_rw *rw); /* -EBUSY */

/* 0; -EOWNERDEAD: taken, and a writer died before: as of the mutex; the rest as above. */
int shmemi_rwlock_write(const struct shmemi_rw *rw, int64_t deadline);
int shmemi_rwlock_try_write(const struct shmemi_rw *rw); /* -EBUSY */

/* Gives back what this thread has of it. -EPERM: nothing. */
int shmemi_rwlock_unlock(const struct shmemi_rw *rw);
int shmemi_rwlock_consistent(const struct shmemi_rw *rw);

/* Readers that are alive, and whether a writer has it. */
unsigned shmemi_rwlock_look(const struct shmemi_rw *rw, bool *writer);

/* As shmemi_mutex_retire(): undone by unlock. */
int shmemi_rwlock_retire(const struct shmemi_rw *rw);

#endif
