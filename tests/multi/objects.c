// SPDX-License-Identifier: Apache-2.0
// Objects of synchronisation and queues on the symmetric heap: every PE uses every PE's instance.
#include "multi.h"

enum { TURNS = 300 };

static long *counter;

static void mutex_counts(void)
{
    shmemx_mutex_t own, there;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), "counts", &own));
    long *zero = shmem_ptr(counter, 0);
    GIVES(0, shmemx_mutex_on(own, 0, &there));
    if (me == 1)
        REFUSES(EINVAL, "instance of PE 0", shmemx_mutex_destroy(there)); /* and it is as before */
    for (int i = 0; i < TURNS; i++) {
        GIVES(0, shmemx_mutex_lock(there, -1));
        long seen = *(volatile long *)zero;
        if (i % 50 == 0)
            usleep(10);
        *(volatile long *)zero = seen + 1;
        GIVES(0, shmemx_mutex_unlock(there));
    }
    shmem_barrier_all();
    GIVES((long)n * TURNS, *zero);
    if (me == 0)
        GIVES(0, shmemx_mutex_lock(own, 0));
    shmem_barrier_all();
    if (me != 0)
        GIVES(-EBUSY, shmemx_mutex_trylock(there));
    GIVES(-EBUSY, shmemx_mutex_destroy(own)); /* held on PE 0: on none */
    if (me != 0) {
        GIVES(0, shmemx_mutex_lock(own, 0)); /* as before */
        GIVES(0, shmemx_mutex_unlock(own));
    } else {
        GIVES(0, shmemx_mutex_unlock(own));
    }
    GIVES(0, shmemx_mutex_destroy(own));
    REFUSES(ENOENT, "destroyed", shmemx_mutex_lock(there, 0));
    GIVES(0, shmemx_mutex_close(there));
}

/* One cell on PE 0, which writers change in two steps and readers never see between them. */
static void rwlock_keeps_apart(void)
{
    shmemx_rwlock_t own, there;
    long *cells = shmem_calloc(2, sizeof *cells);
    GIVES(0, shmemx_rwlock_create(shmemx_symmetric(), "cells", 4, &own));
    GIVES(0, shmemx_rwlock_on(own, 0, &there));
    volatile long *zero = shmem_ptr(cells, 0);
    if (me == 1) {
        REFUSES(EINVAL, "instance of PE 0", shmemx_rwlock_destroy(there));
        GIVES(0, shmemx_rwlock_rdlock(there, 20));
        GIVES(0, shmemx_rwlock_unlock(there));
    }
    for (int i = 0; i < TURNS; i++)
        if (i % 4 == 0) {
            GIVES(0, shmemx_rwlock_wrlock(there, 20));
            zero[0] += 1;
            if (i % 40 == 0)
                usleep(10);
            zero[1] += 1;
            GIVES(0, shmemx_rwlock_unlock(there));
        } else {
            GIVES(0, shmemx_rwlock_rdlock(there, 20));
            long first = zero[0], second = zero[1];
            GIVES(0, shmemx_rwlock_unlock(there));
            GIVES(first, second);
        }
    shmem_barrier_all();
    GIVES((long)n * TURNS / 4, zero[1]);
    unsigned readers = 0;
    int writer = 0;
    if (me == n - 1)
        GIVES(0, shmemx_rwlock_rdlock(there, 0));
    shmem_barrier_all();
    GIVES(0, shmemx_rwlock_locked(there, &readers, &writer));
    CHECK(readers == 1 && !writer);
    shmem_barrier_all(); /* who destroys tries to write */
    GIVES(-EBUSY, shmemx_rwlock_destroy(own));
    if (me == n - 1)
        GIVES(0, shmemx_rwlock_unlock(there));
    shmem_barrier_all();
    GIVES(0, shmemx_rwlock_destroy(own));
    REFUSES(ENOENT, "destroyed", shmemx_rwlock_rdlock(there, 0));
    GIVES(0, shmemx_rwlock_close(there));
    shmem_free(cells);
}

/* A unit goes around: who has it hands it to the next. And an owned one, whose units are their takers'. */
static void semaphores_hand_over(void)
{
    shmemx_semaphore_t own, next, owned, zero;
    unsigned value = 0;
    GIVES(0, shmemx_semaphore_create(shmemx_symmetric(), "baton", 0, 1, 0, &own));
    GIVES(0, shmemx_semaphore_on(own, (me + 1) % n, &next));
    if (me == 0)
        GIVES(0, shmemx_semaphore_post(own, 1));
    for (int i = 0; i < 20; i++) {
        GIVES(0, shmemx_semaphore_wait(own, 20));
        GIVES(0, shmemx_semaphore_post(next, 1));
    }
    shmem_barrier_all();
    GIVES(0, shmemx_semaphore_value(own, &value));
    GIVES(me == 0, value);
    if (me == 0)
        REFUSES(EOVERFLOW, "", shmemx_semaphore_post(own, 1));
    GIVES(0, shmemx_semaphore_close(next));
    GIVES(0, shmemx_semaphore_destroy(own));

    GIVES(0, shmemx_semaphore_create(shmemx_symmetric(), NULL, 1, 0, 1, &owned));
    GIVES(0, shmemx_semaphore_on(owned, 0, &zero));
    if (me == n - 1)
        GIVES(0, shmemx_semaphore_wait(zero, 20));
    shmem_barrier_all();
    if (me != n - 1) {
        GIVES(-EAGAIN, shmemx_semaphore_trywait(zero));
        REFUSES(EPERM, "", shmemx_semaphore_post(zero, 1));
    }
    shmem_barrier_all();
    GIVES(-EBUSY, shmemx_semaphore_destroy(owned));
    if (me == n - 1)
        GIVES(0, shmemx_semaphore_post(zero, 1));
    shmem_barrier_all();
    GIVES(0, shmemx_semaphore_close(zero));
    GIVES(0, shmemx_semaphore_destroy(owned));
}

/* PE 0's condition: each PE waits for its turn, takes it and tells the others. */
static void condition_gives_turns(void)
{
    shmemx_mutex_t mutex, lock;
    shmemx_cond_t own, turned;
    long *turn = shmem_calloc(1, sizeof *turn);
    volatile long *zero = shmem_ptr(turn, 0);
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &mutex));
    GIVES(0, shmemx_cond_create(shmemx_symmetric(), "turns", &own));
    GIVES(0, shmemx_mutex_on(mutex, 0, &lock));
    GIVES(0, shmemx_cond_on(own, 0, &turned));
    for (int i = 0; i < 20; i++) {
        GIVES(0, shmemx_mutex_lock(lock, 20));
        while (*zero % n != me)
            GIVES(0, shmemx_cond_wait(turned, lock, 20));
        *zero += 1;
        GIVES(0, shmemx_cond_broadcast(turned));
        GIVES(0, shmemx_mutex_unlock(lock));
    }
    shmem_barrier_all();
    GIVES(20L * n, *zero);
    GIVES(0, shmemx_mutex_lock(mutex, 0));
    GIVES(-ETIMEDOUT, shmemx_cond_wait(own, mutex, 0.001));
    GIVES(0, shmemx_mutex_unlock(mutex));
    REFUSES(EPERM, "", shmemx_cond_wait(own, mutex, 0));
    GIVES(0, shmemx_cond_close(turned));
    GIVES(0, shmemx_mutex_close(lock));
    GIVES(0, shmemx_cond_destroy(own));
    GIVES(0, shmemx_mutex_destroy(mutex));
    shmem_free(turn);
}

/* Each round on another PE's barrier; what was written before is seen behind it. */
static void barriers_meet(void)
{
    shmemx_barrier_t own, there;
    long *cells = shmem_calloc((size_t)n, sizeof *cells);
    unsigned expected = 0, waiting = 1;
    GIVES(0, shmemx_barrier_create(shmemx_symmetric(), "meet", (unsigned)n, &own));
    for (int round = 0; round < 3 * n; round++) {
        volatile long *at = shmem_ptr(cells, round % n);
        long chosen = 0;
        GIVES(0, shmemx_barrier_on(own, round % n, &there));
        at[me] = round + 1;
        int rc = shmemx_barrier_wait(there, 20);
        CHECK(rc == 0 || rc == 1, "it gave %d", rc);
        for (int pe = 0; pe < n; pe++)
            GIVES(round + 1, at[pe]);
        GIVES(0, shmemx_barrier_close(there));
        chosen = rc;
        GIVES(0, shmemx_all_reduce(&chosen, 1, SHMEMX_INT64, SHMEMX_SUM));
        GIVES(1, chosen);
    }
    GIVES(0, shmemx_barrier_state(own, &expected, &waiting));
    CHECK(expected == (unsigned)n && waiting == 0);
    if (n > 1)
        GIVES(-ETIMEDOUT, me == 0 ? shmemx_barrier_wait(own, 0.01) : -ETIMEDOUT);
    GIVES(0, shmemx_barrier_destroy(own));
    shmem_free(cells);
}

/* A forked child is in no job: nothing of it works there, and the parent's holds on. */
static void forked_child_has_none(void)
{
    shmemx_mutex_t mutex, there, bad;
    shmemx_queue_t queue;
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    uint64_t item = 7;
    int status = -1;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), "forked", &mutex));
    GIVES(0, shmemx_mutex_on(mutex, (me + 1) % n, &there));
    GIVES(0, shmemx_queue_create(shmemx_symmetric(), NULL, &attr, &queue));
    GIVES(0, shmemx_mutex_lock(mutex, 20));
    pid_t child = fork();
    if (child == 0) {
        REFUSES(ENOENT, "no longer in", shmemx_mutex_unlock(mutex));
        REFUSES(ENOENT, "no longer in", shmemx_mutex_lock(there, 0));
        REFUSES(ENOENT, "no longer in", shmemx_queue_push(queue, &item, 8, 0));
        GIVES(-EPERM, shmemx_mutex_create(shmemx_symmetric(), NULL, &bad));
        GIVES(-EPERM, shmemx_mutex_find(shmemx_symmetric(), "forked", &bad));
        GIVES(0, shmemx_mutex_close(there));
        GIVES(0, shmemx_mutex_close(mutex));
        GIVES(0, shmemx_queue_close(queue));
        _exit(0);
    }
    GIVES(child, waitpid(child, &status, 0));
    GIVES(0, status);
    GIVES(1, shmemx_mutex_locked(mutex));
    GIVES(0, shmemx_mutex_unlock(mutex));
    GIVES(-EAGAIN, shmemx_queue_try_pop(queue, &item, 8, NULL));
    shmem_barrier_all();
    GIVES(0, shmemx_mutex_close(there));
    GIVES(0, shmemx_mutex_destroy(mutex));
    GIVES(0, shmemx_queue_destroy(queue));
}

/* With SHMEM_DEBUG: each PE has its own mutex and wants the next one's. Somebody is told, and gives up. */
static void cycle_is_told(void)
{
    shmemx_mutex_t own, next;
    shmemx_rwlock_t lock, other;
    long told = 0;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &own));
    GIVES(0, shmemx_mutex_on(own, (me + 1) % n, &next));
    GIVES(0, shmemx_mutex_lock(own, 20));
    shmem_barrier_all();
    int rc = shmemx_mutex_lock(next, 20);
    CHECK(rc == 0 || rc == -EDEADLK, "it gave %d", rc);
    if (rc == -EDEADLK) {
        char words[64];
        snprintf(words, sizeof words, "a cycle of %d waits", n);
        CHECK(strstr(shmemx_last_error(), words) && strstr(shmemx_last_error(), "slot 0"), "no '%s'", words);
    } else {
        GIVES(0, shmemx_mutex_unlock(next));
    }
    GIVES(0, shmemx_mutex_unlock(own));
    told = rc == -EDEADLK;
    GIVES(0, shmemx_all_reduce(&told, 1, SHMEMX_INT64, SHMEMX_SUM));
    CHECK(told > 0);
    GIVES(0, shmemx_mutex_close(next));
    GIVES(0, shmemx_mutex_destroy(own));

    /* The same of writers, who wait for what a reader and a writer have. */
    GIVES(0, shmemx_rwlock_create(shmemx_symmetric(), NULL, 2, &lock));
    GIVES(0, shmemx_rwlock_on(lock, (me + 1) % n, &other));
    GIVES(0, shmemx_rwlock_wrlock(lock, 20));
    shmem_barrier_all();
    rc = me % 2 ? shmemx_rwlock_wrlock(other, 20) : shmemx_rwlock_rdlock(other, 20);
    CHECK(rc == 0 || rc == -EDEADLK, "it gave %d", rc);
    if (rc == 0)
        GIVES(0, shmemx_rwlock_unlock(other));
    GIVES(0, shmemx_rwlock_unlock(lock));
    told = rc == -EDEADLK;
    GIVES(0, shmemx_all_reduce(&told, 1, SHMEMX_INT64, SHMEMX_SUM));
    CHECK(told > 0);
    GIVES(0, shmemx_rwlock_close(other));
    GIVES(0, shmemx_rwlock_destroy(lock));
}

static void event_wakes(void)
{
    shmemx_event_t own, next;
    GIVES(0, shmemx_event_create(shmemx_symmetric(), NULL, 0, 0, &own));
    GIVES(0, shmemx_event_on(own, (me + 1) % n, &next));
    if (me == 0)
        GIVES(0, shmemx_event_set(next));
    GIVES(0, shmemx_event_wait(own, 20));
    GIVES(0, shmemx_event_set(next));
    shmem_barrier_all();
    GIVES(0, shmemx_event_close(next));
    GIVES(0, shmemx_event_destroy(own));
}

/* All PEs push to each PE's queue: in order for each producer, and each item once. */
static void queues_deliver(void)
{
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    shmemx_queue_t own, to;
    attr.capacity = 65536;
    attr.batch = 4;
    GIVES(0, shmemx_queue_create(shmemx_symmetric(), "inbox", &attr, &own));
    for (int pe = 0; pe < n; pe++) {
        GIVES(0, shmemx_queue_on(own, pe, &to));
        for (uint64_t i = 0; i < TURNS; i++) {
            uint64_t item = (uint64_t)me << 32 | i;
            GIVES(0, shmemx_queue_push(to, &item, sizeof item, 20));
        }
        GIVES(0, shmemx_queue_close(to));
    }
    uint64_t next[64] = {0};
    for (int i = 0; i < n * TURNS; i++) {
        uint64_t item;
        GIVES(0, shmemx_queue_pop(own, &item, sizeof item, NULL, 20));
        CHECK(item >> 32 < (uint64_t)n);
        GIVES(next[item >> 32]++, item & 0xffffffff);
    }
    GIVES(-EAGAIN, shmemx_queue_try_pop(own, next, 8, NULL));
    GIVES(0, shmemx_queue_destroy(own));
}

static void mistakes(void)
{
    shmemx_word_t own, other, bad;
    char key[SHMEMX_KEY_TEXT];
    GIVES(0, shmemx_word_create(shmemx_symmetric(), "word", 8, 0, &own));
    REFUSES(EINVAL, "PEs 0 to", shmemx_word_on(own, n, &other));
    REFUSES(EINVAL, "pe is -1", shmemx_word_on(own, -1, &other));
    REFUSES(ENOTSUP, "no key", shmemx_word_export(own, key));
    REFUSES(EEXIST, "is taken", shmemx_word_create(shmemx_symmetric(), "word", 8, 0, &bad));
    REFUSES(ENOENT, "no object", shmemx_word_find(shmemx_symmetric(), "none", &bad));
    REFUSES(EINVAL, "its type is", shmemx_mutex_find(shmemx_symmetric(), "word", (shmemx_mutex_t *)(void *)&bad));
    GIVES(SHMEMX_IS_WORD, shmemx_pool_what(shmemx_symmetric(), "word"));
    REFUSES(ENOENT, "no object", shmemx_pool_what(shmemx_symmetric(), "none"));
    REFUSES(EBADF, "closed", shmemx_pool_unname(shmemx_symmetric(), "word"));
    GIVES(0, shmemx_word_find(shmemx_symmetric(), "word", &other));
    GIVES(0, shmemx_word_close(other));
    if (n > 1)
        REFUSES(EINVAL, "all PEs must ask for the same",
                shmemx_word_create(shmemx_symmetric(), me ? "this" : "that", 8, 0, &bad));
    GIVES(0, shmemx_word_on(own, (me + 1) % n, &other));
    if (n > 1)
        REFUSES(EINVAL, "instance of PE", shmemx_word_destroy(other));
    GIVES(0, shmemx_word_close(other));
    GIVES(0, shmemx_word_destroy(own));
}

int main(void)
{
    shmemx_mutex_t left;
    shmemx_queue_t queue;
    shmemx_queue_attr_t attr = SHMEMX_QUEUE_ATTR;
    REFUSES(EPERM, "before shmem_init", shmemx_mutex_create(shmemx_symmetric(), NULL, &left));
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    counter = shmem_calloc(1, sizeof *counter);
    mutex_counts();
    event_wakes();
    queues_deliver();
    rwlock_keeps_apart();
    semaphores_hand_over();
    condition_gives_turns();
    barriers_meet();
    forked_child_has_none();
    if (n > 1 && getenv("SHMEM_DEBUG"))
        cycle_is_told();
    mistakes();
    uint64_t item = 1;
    attr.batch = 8; /* something stays gathered */
    attr.flush_seconds = 0.01;
    GIVES(0, shmemx_mutex_create(shmemx_symmetric(), NULL, &left));
    GIVES(0, shmemx_queue_create(shmemx_symmetric(), NULL, &attr, &queue));
    GIVES(0, shmemx_queue_push(queue, &item, 8, 1));
    shmem_free(counter);
    shmem_finalize();
    REFUSES(ENOENT, "no longer in", shmemx_mutex_lock(left, 0));
    REFUSES(ENOENT, "no longer in", shmemx_queue_push(queue, &item, 8, 0));
    usleep(30000);
    GIVES(0, shmemx_mutex_close(left));
    GIVES(0, shmemx_queue_close(queue));
    return 0;
}
