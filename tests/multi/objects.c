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
