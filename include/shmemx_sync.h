/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation between processes that survives their deaths: mutexes, locks for readers and writers, semaphores,
   condition variables, barriers, events and atomic words in a pool or file. None of it needs a job.

   Every object is made in a pool (create; with a name, or NULL), found by its name (find), or handed over by a key
   (export, import: which attaches to the pool if need be). A handle is private to its process; close gives it up, and
   the object stays; destroy ends the object, and the handle. A name or a key keeps working until then. The errors of
   these: those of shmemx_pool_alloc(), shmemx_pool_find() and shmemx_import(); -EINVAL when it is another type of
   object; -EBUSY: destroying what somebody has or awaits; -EROFS: the file is not open for writing by all.

   Errors that every operation can give: -EBADF (no such handle, or it was closed), -ENOENT (the object was destroyed),
   -EINVAL (an argument). A timeout is in seconds, on a clock that nobody can set; a negative one never ends, 0 tries.
   Waits give -ETIMEDOUT, and -EINTR when the check of shmemx_set_interrupt() wants out.

   Who dies, by kill -9 or otherwise, at whatever instant, blocks nobody; a thread that ends counts as dead. What others
   are told is said below. A wait that a dying process should have ended is over 100 ms later at most. With SHMEM_DEBUG
   set in all processes, a cycle of waits for mutexes and locks of one pool is found: one of those in it gets -EDEADLK,
   and a line in the log tells who waits for whom. */
#ifndef SHMEMX_SYNC_H
#define SHMEMX_SYNC_H

#include <shmemx_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- on the symmetric heap ---------------------------------------------------------------------------------------- */

/* Where the create and find functions here and in shmemx_queue.h, and shmemx_pool_what(), take a pool: the symmetric
   heap of this process's job, which other functions of pools refuse (-EBADF). Never fails.
   create is collective then: all PEs ask for the same type, size and name, in the same order. Each PE gets an instance
   of its own, and the handle of that; shmemx_..._on() gives a handle of PE pe's instance, to be closed like any other.
   find is local, and gives this PE's own instance. destroy is collective: each PE gives the handle of its own, and all
   instances go, or none (-EBUSY at one is told to all; a mutex or lock whose holder had died is then poisoned). export
   gives -ENOTSUP. After finalize, and in forked children, operations give -ENOENT, and close works; what was in queues
   or gathered for them is gone. -EINVAL: PEs ask for different things, there is no PE pe, or _on() of an object that is
   in a pool; -EPERM: there is no job; -ENOTSUP: it has more than 1022 PEs. In messages, slot p is PE p. */
SHMEMX_API shmemx_pool_t shmemx_symmetric(void);

/* --- mutexes ----------------------------------------------------------------------------------------------------- */

/* One thread has it at a time. Not first come, first served: who runs when it becomes free takes it. */
typedef struct shmemx_mutex *shmemx_mutex_t;

SHMEMX_API int shmemx_mutex_create(shmemx_pool_t pool, const char *name, shmemx_mutex_t *out);
SHMEMX_API int shmemx_mutex_find(shmemx_pool_t pool, const char *name, shmemx_mutex_t *out);
SHMEMX_API int shmemx_mutex_export(shmemx_mutex_t mutex, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_mutex_import(const char *key, shmemx_mutex_t *out);
SHMEMX_API int shmemx_mutex_on(shmemx_mutex_t mutex, int pe, shmemx_mutex_t *out);
SHMEMX_API int shmemx_mutex_close(shmemx_mutex_t mutex);
SHMEMX_API int shmemx_mutex_destroy(shmemx_mutex_t mutex);
/* 0: this thread has it. -EOWNERDEAD: it has it, and its last holder died: what the mutex guards may be half changed.
   Repair that and say shmemx_mutex_consistent(); unlocking without poisons the mutex: -ENOTRECOVERABLE for everybody
   from then on. -EDEADLK: this thread has it already. */
SHMEMX_API int shmemx_mutex_lock(shmemx_mutex_t mutex, double timeout);
/* Does not wait: -EBUSY when another thread has it. */
SHMEMX_API int shmemx_mutex_trylock(shmemx_mutex_t mutex);
/* -EPERM: this thread does not have it; the text names who does. */
SHMEMX_API int shmemx_mutex_unlock(shmemx_mutex_t mutex);
SHMEMX_API int shmemx_mutex_consistent(shmemx_mutex_t mutex);
/* 1: a living thread has it; 0: none. Perhaps no longer true when it returns. */
SHMEMX_API int shmemx_mutex_locked(shmemx_mutex_t mutex);

/* --- locks for readers and writers ------------------------------------------------------------------------------- */

/* Many readers or one writer. Fair by phases: a writer that waits keeps new readers out; a writer that leaves lets in
   all readers that were waiting, before the next writer. Among themselves writers are not served in order. */
typedef struct shmemx_rwlock *shmemx_rwlock_t;

/* seats: how many can read at the same time without meeting (128 bytes each; rounded up to a power of two, at most
   1024; 0: 32). Readers that find no seat wait for one, and have no turn of their own before that. */
SHMEMX_API int shmemx_rwlock_create(shmemx_pool_t pool, const char *name, unsigned seats, shmemx_rwlock_t *out);
SHMEMX_API int shmemx_rwlock_find(shmemx_pool_t pool, const char *name, shmemx_rwlock_t *out);
SHMEMX_API int shmemx_rwlock_export(shmemx_rwlock_t rwlock, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_rwlock_import(const char *key, shmemx_rwlock_t *out);
SHMEMX_API int shmemx_rwlock_on(shmemx_rwlock_t rwlock, int pe, shmemx_rwlock_t *out);
SHMEMX_API int shmemx_rwlock_close(shmemx_rwlock_t rwlock);
SHMEMX_API int shmemx_rwlock_destroy(shmemx_rwlock_t rwlock);
/* 0: this thread reads. -EOWNERDEAD: a writer died while it wrote, and the lock was NOT taken: somebody has to take it
   for writing, repair, and say consistent. -ENOTRECOVERABLE as of the mutex. -EDEADLK: this thread has it already, for
   reading or for writing. Readers that die are not missed. */
SHMEMX_API int shmemx_rwlock_rdlock(shmemx_rwlock_t rwlock, double timeout);
SHMEMX_API int shmemx_rwlock_tryrdlock(shmemx_rwlock_t rwlock); /* -EBUSY */
/* As shmemx_mutex_lock(). A writer that dies while it waits for readers is not missed either. */
SHMEMX_API int shmemx_rwlock_wrlock(shmemx_rwlock_t rwlock, double timeout);
SHMEMX_API int shmemx_rwlock_trywrlock(shmemx_rwlock_t rwlock); /* -EBUSY */
/* Gives back what this thread has, for reading or writing. -EPERM: nothing. */
SHMEMX_API int shmemx_rwlock_unlock(shmemx_rwlock_t rwlock);
SHMEMX_API int shmemx_rwlock_consistent(shmemx_rwlock_t rwlock);
/* How many living threads read, and whether one writes (or waits for readers to leave). Either may be NULL. */
SHMEMX_API int shmemx_rwlock_locked(shmemx_rwlock_t rwlock, unsigned *readers, int *writer);

/* --- semaphores -------------------------------------------------------------------------------------------------- */

/* Units that threads take and give. A plain one is a number: whoever likes may post, and what a dead process took is
   gone. In an owned one every unit has a holder: a dead thread's units are free again, and only who has a unit can give
   it back. */
typedef struct shmemx_semaphore *shmemx_semaphore_t;

/* Plain: `value` units at first, and never more than `max` (0: 2147483647). owned not 0: `value` units (1 to 65536) in
   all, and max is 0 or the same. */
SHMEMX_API int shmemx_semaphore_create(shmemx_pool_t pool, const char *name, unsigned value, unsigned max, int owned,
                                       shmemx_semaphore_t *out);
SHMEMX_API int shmemx_semaphore_find(shmemx_pool_t pool, const char *name, shmemx_semaphore_t *out);
SHMEMX_API int shmemx_semaphore_export(shmemx_semaphore_t semaphore, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_semaphore_import(const char *key, shmemx_semaphore_t *out);
SHMEMX_API int shmemx_semaphore_on(shmemx_semaphore_t semaphore, int pe, shmemx_semaphore_t *out);
SHMEMX_API int shmemx_semaphore_close(shmemx_semaphore_t semaphore);
SHMEMX_API int shmemx_semaphore_destroy(shmemx_semaphore_t semaphore);
/* Takes a unit. */
SHMEMX_API int shmemx_semaphore_wait(shmemx_semaphore_t semaphore, double timeout);
SHMEMX_API int shmemx_semaphore_trywait(shmemx_semaphore_t semaphore); /* -EAGAIN: none is free */
/* Gives `count` units, all or none. -EOVERFLOW: more than max; owned: -EPERM, this thread does not have so many. */
SHMEMX_API int shmemx_semaphore_post(shmemx_semaphore_t semaphore, unsigned count);
/* Units that are free. */
SHMEMX_API int shmemx_semaphore_value(shmemx_semaphore_t semaphore, unsigned *out);

/* --- condition variables ----------------------------------------------------------------------------------------- */

/* Threads that have a mutex wait for what it guards to change. Who has waited longest is signalled first. A signal that
   a waiter was given who dies before it has the mutex again goes to the next one. */
typedef struct shmemx_cond *shmemx_cond_t;

SHMEMX_API int shmemx_cond_create(shmemx_pool_t pool, const char *name, shmemx_cond_t *out);
SHMEMX_API int shmemx_cond_find(shmemx_pool_t pool, const char *name, shmemx_cond_t *out);
SHMEMX_API int shmemx_cond_export(shmemx_cond_t cond, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_cond_import(const char *key, shmemx_cond_t *out);
SHMEMX_API int shmemx_cond_on(shmemx_cond_t cond, int pe, shmemx_cond_t *out);
SHMEMX_API int shmemx_cond_close(shmemx_cond_t cond);
SHMEMX_API int shmemx_cond_destroy(shmemx_cond_t cond);
/* Unlocks the mutex, waits, and locks it again. Look at what is waited for afterwards: a wait may end for no reason
   (and does, now and then, where more than 128 threads wait). Whatever it returns, this thread has the mutex, but for
   -ENOTRECOVERABLE, -EBADF and -EPERM (it did not have it). -EOWNERDEAD: the mutex's last holder died. -EINVAL: the
   mutex is inconsistent. */
SHMEMX_API int shmemx_cond_wait(shmemx_cond_t cond, shmemx_mutex_t mutex, double timeout);
SHMEMX_API int shmemx_cond_signal(shmemx_cond_t cond);
SHMEMX_API int shmemx_cond_broadcast(shmemx_cond_t cond);

/* --- barriers ---------------------------------------------------------------------------------------------------- */

/* n threads wait for each other, again and again. Who takes part registers by arriving for the first time. When one
   that takes part dies (or ends, or detaches), the round it is missing in returns -EOWNERDEAD to all others, as soon as
   those have arrived, and later rounds run without it: n is one less. One that died before it ever arrived is not
   known. */
typedef struct shmemx_barrier *shmemx_barrier_t;

/* n: 1 to 1022. */
SHMEMX_API int shmemx_barrier_create(shmemx_pool_t pool, const char *name, unsigned n, shmemx_barrier_t *out);
SHMEMX_API int shmemx_barrier_find(shmemx_pool_t pool, const char *name, shmemx_barrier_t *out);
SHMEMX_API int shmemx_barrier_export(shmemx_barrier_t barrier, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_barrier_import(const char *key, shmemx_barrier_t *out);
SHMEMX_API int shmemx_barrier_on(shmemx_barrier_t barrier, int pe, shmemx_barrier_t *out);
SHMEMX_API int shmemx_barrier_close(shmemx_barrier_t barrier);
SHMEMX_API int shmemx_barrier_destroy(shmemx_barrier_t barrier);
/* 0; 1 in one of the threads; -EOWNERDEAD: see above; -ETIMEDOUT, -EINTR: this thread's arrival is taken back, and the
   others go on waiting for it. -EUSERS: n others take part already. */
SHMEMX_API int shmemx_barrier_wait(shmemx_barrier_t barrier, double timeout);
/* How many are expected, and how many of them wait. Either may be NULL. */
SHMEMX_API int shmemx_barrier_state(shmemx_barrier_t barrier, unsigned *n, unsigned *waiting);

/* --- events ------------------------------------------------------------------------------------------------------ */

/* Something that has happened, or not yet. */
typedef struct shmemx_event *shmemx_event_t;

/* auto_reset not 0: each set lets one waiter pass, who clears it. */
SHMEMX_API int shmemx_event_create(shmemx_pool_t pool, const char *name, int auto_reset, int set, shmemx_event_t *out);
SHMEMX_API int shmemx_event_find(shmemx_pool_t pool, const char *name, shmemx_event_t *out);
SHMEMX_API int shmemx_event_export(shmemx_event_t event, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_event_import(const char *key, shmemx_event_t *out);
SHMEMX_API int shmemx_event_on(shmemx_event_t event, int pe, shmemx_event_t *out);
SHMEMX_API int shmemx_event_close(shmemx_event_t event);
SHMEMX_API int shmemx_event_destroy(shmemx_event_t event);
SHMEMX_API int shmemx_event_set(shmemx_event_t event);
SHMEMX_API int shmemx_event_clear(shmemx_event_t event);
SHMEMX_API int shmemx_event_wait(shmemx_event_t event, double timeout);
/* 1: it is set; 0: it is not. */
SHMEMX_API int shmemx_event_is_set(shmemx_event_t event);

/* --- atomic words ------------------------------------------------------------------------------------------------ */

/* A word of 4 or 8 bytes; all operations are sequentially consistent. Values of 4-byte words are given as they are or
   sign-extended (-ERANGE otherwise), and told zero-extended. before (may be NULL): the value that was there. */
typedef struct shmemx_word *shmemx_word_t;

/* width: 4 or 8, with SHMEMX_WORD_UNSIGNED where those who find it are to take its values for unsigned ones. */
#define SHMEMX_WORD_UNSIGNED 256u
SHMEMX_API int shmemx_word_create(shmemx_pool_t pool, const char *name, unsigned width, uint64_t value,
                                  shmemx_word_t *out);
SHMEMX_API int shmemx_word_find(shmemx_pool_t pool, const char *name, shmemx_word_t *out);
SHMEMX_API int shmemx_word_export(shmemx_word_t word, char key[SHMEMX_KEY_TEXT]);
SHMEMX_API int shmemx_word_import(const char *key, shmemx_word_t *out);
SHMEMX_API int shmemx_word_on(shmemx_word_t word, int pe, shmemx_word_t *out);
SHMEMX_API int shmemx_word_close(shmemx_word_t word);
SHMEMX_API int shmemx_word_destroy(shmemx_word_t word);
SHMEMX_API int shmemx_word_width(shmemx_word_t word);    /* 4 or 8 */
SHMEMX_API int shmemx_word_unsigned(shmemx_word_t word); /* 1: made with SHMEMX_WORD_UNSIGNED; 0 */
SHMEMX_API int shmemx_word_load(shmemx_word_t word, uint64_t *out);
SHMEMX_API int shmemx_word_store(shmemx_word_t word, uint64_t value);
SHMEMX_API int shmemx_word_add(shmemx_word_t word, uint64_t value, uint64_t *before);
SHMEMX_API int shmemx_word_and(shmemx_word_t word, uint64_t value, uint64_t *before);
SHMEMX_API int shmemx_word_or(shmemx_word_t word, uint64_t value, uint64_t *before);
SHMEMX_API int shmemx_word_xor(shmemx_word_t word, uint64_t value, uint64_t *before);
SHMEMX_API int shmemx_word_swap(shmemx_word_t word, uint64_t value, uint64_t *before);
/* Becomes `value` if it is `expected`. 1: it did; 0: it was something else. */
SHMEMX_API int shmemx_word_cas(shmemx_word_t word, uint64_t expected, uint64_t value, uint64_t *before);
/* Waits while it is `value`, until woken and it is something else. */
SHMEMX_API int shmemx_word_wait(shmemx_word_t word, uint64_t value, double timeout);
/* Wakes up to `count` of those who wait, after the word was changed. Returns how many. */
SHMEMX_API int shmemx_word_wake(shmemx_word_t word, unsigned count);

#ifdef __cplusplus
}
#endif

#endif
