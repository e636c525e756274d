// SPDX-License-Identifier: Apache-2.0
// Handles, and the producers that belong to them: one for each thread that pushes. What they gathered is moved in when
// the handle is closed, the thread ends or the process exits.
#include "queue_internal.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"

enum { PATIENCE = 5 };

/* The process's: its handles, and what all of it has in common. */
static struct {
    pthread_mutex_t lock; /* lists of handles and of their producers; other threads' biases */
    struct shmemi_queue *open;
    pthread_once_t once;
    pthread_key_t at_thread_end;
    int rc;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

_Thread_local struct shmemi_queue_producer *shmemi_queue_own __attribute__((tls_model("initial-exec")));

/* ---- producers ---- */

static struct shmemi_queue *queue_of(struct shmemi_queue_producer *p)
{
    /* acquire: pairs with the release in drop_producers(); closing while others push is a mistake anyway */
    return atomic_load_explicit(&p->queue, memory_order_acquire);
}

static void unlink_from_handle(struct shmemi_queue *q, const struct shmemi_queue_producer *p)
{
    struct shmemi_queue_producer **at = &q->producers;
    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
}

static void give_record(struct shmemi_queue_producer *p)
{
    atomic_store_explicit(&p->record->intent, 0, memory_order_release); /* [intent] as in push.c */
    /* [holder] release: pairs with the exchange in take_record(), and with the consumer's look. */
    atomic_store_explicit(&p->record->holder, 0, memory_order_release);
}

/* A record that is free, or of somebody who died. */
static struct shmemi_queue_record *take_record(struct shmemi_queue *q)
{
    uint64_t mine = shmemi_site_holder(q->site);
    uint32_t most = q->shape.config.producers;
    for (uint32_t i = 0; i < most; i++) {
        struct shmemi_queue_record *r = &q->records[i];
        uint64_t seen = atomic_load_explicit(&r->holder, memory_order_relaxed); /* the exchange decides */
        if (seen && !shmemi_holder_dead(q->site->domain, seen))
            continue;
        /* [records] release: pairs with the acquire of the consumer, which looks at that many. */
        uint32_t used = atomic_load_explicit(&q->shared->records, memory_order_relaxed);
        while (used < i + 1 && !atomic_compare_exchange_weak_explicit(&q->shared->records, &used, i + 1,
                                                                      memory_order_release, memory_order_relaxed))
            ;
        /* [holder] acquire and release: one takes it; whoever had it has done what it did. */
        if (!atomic_compare_exchange_strong_explicit(&r->holder, &seen, mine, memory_order_acq_rel,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&r->intent, 0, memory_order_release); /* [intent] the dead one's is not ours */
        return r;
    }
    shmemi_fail(-EUSERS, "the queue has its %u producers already", most);
    return NULL;
}

static struct shmemi_queue_producer *make_producer(struct shmemi_queue *q, int *rc)
{
    struct shmemi_queue_producer *p = NULL;
    size_t room = q->shape.gather_bytes;
    *rc = -ENOMEM;
    if (posix_memalign((void **)&p, SHMEMI_LINE, sizeof *p + room) ||
        pthread_setspecific(all.at_thread_end, &shmemi_queue_own)) {
        free(p);
        shmemi_fail(-ENOMEM, "no private memory for a producer of %zu bytes", room);
        return NULL;
    }
    *p = (struct shmemi_queue_producer){.items = (char *)(p + 1)};
    if (!(p->record = take_record(q))) {
        *rc = -EUSERS;
        free(p);
        return NULL;
    }
    p->head = shmemi_queue_position(atomic_load_explicit(&q->shared->head, memory_order_acquire)); /* [head] push.c */
    atomic_store_explicit(&p->queue, q, memory_order_relaxed); /* read by this thread, and with the lock */
    p->next_own = shmemi_queue_own;
    shmemi_queue_own = p;
    pthread_mutex_lock(&all.lock);
    p->next = q->producers;
    q->producers = p;
    pthread_mutex_unlock(&all.lock);
    return p;
}

/* Not the first of the list: it is put there; those of closed handles go. */
static SHMEMI_COLD struct shmemi_queue_producer *find_producer(struct shmemi_queue *q, int *rc)
{
    for (struct shmemi_queue_producer **at = &shmemi_queue_own, *p; (p = *at);) {
        struct shmemi_queue *of = queue_of(p);
        if (of && of != q) {
            at = &p->next_own;
            continue;
        }
        *at = p->next_own;
        if (!of) {
            free(p);
            continue;
        }
        p->next_own = shmemi_queue_own;
        shmemi_queue_own = p;
        return p;
    }
    return make_producer(q, rc);
}

struct shmemi_queue_producer *shmemi_queue_producer_of(struct shmemi_queue *q, int *rc)
{
    struct shmemi_queue_producer *p = shmemi_queue_last_used(q);
    *rc = 0;
    return shmemi_likely(p) ? p : find_producer(q, rc);
}

int shmemi_queue_each(struct shmemi_queue *only,
                      int (*call)(struct shmemi_queue *q, struct shmemi_queue_producer *p, void *context),
                      void *context)
{
    int rc = 0;
    pthread_mutex_lock(&all.lock);
    for (struct shmemi_queue *q = only ? only : all.open; q && rc >= 0; q = only ? NULL : q->next)
        for (struct shmemi_queue_producer *p = q->producers; p && rc >= 0; p = p->next)
            rc = call(q, p, context);
    pthread_mutex_unlock(&all.lock);
    return rc;
}

/* ---- ends ---- */

/* Moves in what was gathered, with patience as long as somebody pops. Returns how many items are lost. */
static uint64_t move_in_patiently(struct shmemi_queue *q, struct shmemi_queue_producer *p)
{
    int rc = -EAGAIN;
    for (int waits = 0; waits < PATIENCE * 10 && rc == -EAGAIN; waits++) {
        uint64_t head = atomic_load_explicit(&q->shared->head, memory_order_relaxed); /* whether it moves */
        rc = shmemi_queue_move_in_others(q, p, shmemi_now() + 100000000);
        if (head != atomic_load_explicit(&q->shared->head, memory_order_relaxed)) /* as above */
            waits = 0;
    }
    return rc == 0 ? 0 : atomic_load_explicit(&p->count, memory_order_relaxed); /* nobody pushes any more */
}

static uint64_t end_producer(struct shmemi_queue *q, struct shmemi_queue_producer *p, bool drop)
{
    if (drop || !shmemi_queue_exists(q))
        return 0;
    uint64_t lost = move_in_patiently(q, p);
    shmemi_queue_give_up(q, p);
    give_record(p);
    if (lost)
        shmemi_warn("queue", "%llu items that were gathered are lost: the queue is full, and nobody pops",
                    (unsigned long long)lost);
    return lost;
}

static void end_thread(void *unused)
{
    (void)unused;
    for (struct shmemi_queue_producer *p; (p = shmemi_queue_own);) {
        shmemi_queue_own = p->next_own;
        pthread_mutex_lock(&all.lock);
        struct shmemi_queue *q = queue_of(p);
        if (q) {
            unlink_from_handle(q, p); /* nobody else finds it now */
            pthread_mutex_unlock(&all.lock);
            end_producer(q, p, false);
        } else {
            pthread_mutex_unlock(&all.lock);
        }
        free(p);
    }
}

static void end_process(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct shmemi_queue *q = all.open; q; q = q->next)
        for (struct shmemi_queue_producer *p = q->producers; p; p = p->next)
            if (shmemi_queue_exists(q) && atomic_load_explicit(&p->count, memory_order_relaxed)) /* then the bias */
                move_in_patiently(q, p);
    pthread_mutex_unlock(&all.lock);
}

static void before_fork(void)
{
    pthread_mutex_lock(&all.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&all.lock);
}

/* What the parent's threads have gathered is the parent's. The child has one thread. */
static void after_fork_in_child(void)
{
    for (struct shmemi_queue_producer *p = shmemi_queue_own, *next; p; p = next) {
        next = p->next_own;
        if (!queue_of(p))
            free(p); /* of a handle that was closed; the others follow */
    }
    for (struct shmemi_queue *q = all.open; q; q = q->next) {
        for (struct shmemi_queue_producer *p = q->producers, *next; p; p = next) {
            next = p->next;
            free(p);
        }
        q->producers = NULL;
        q->peeked = false;
    }
    shmemi_queue_own = NULL;
    shmemi_queue_clock_forget();
    pthread_mutex_unlock(&all.lock);
    shmemi_fences_begin();
}

static void begin_process(void)
{
    all.rc = pthread_key_create(&all.at_thread_end, end_thread);
    if (!all.rc)
        all.rc = pthread_atfork(before_fork, after_fork, after_fork_in_child);
    shmemi_fences_begin();
    atexit(end_process);
}

/* ---- handles ---- */

void shmemi_queue_init(void *shared, const struct shmemi_queue_shape *shape)
{
    struct shmemi_queue_shared *s = shared; /* all zeros: empty */
    s->version = SHMEMI_QUEUE_VERSION;
    s->fingerprint = sizeof *s;
    s->config = shape->config;
    s->bytes = shape->bytes;
}

static void fill_in(struct shmemi_queue *q, const struct shmemi_queue_place *place)
{
    char *begin = place->shared;
    q->shared = place->shared;
    q->records = (struct shmemi_queue_record *)(void *)(begin + q->shape.records_at);
    q->words = begin + q->shape.words_at;
    q->items = begin + q->shape.items_at;
    q->mask = q->shape.slots - 1;
    q->site = place->site;
}

int shmemi_queue_open(const struct shmemi_queue_place *place, struct shmemi_queue **out)
{
    const struct shmemi_queue_shared *s = place->shared;
    struct shmemi_queue_config config = s->config; /* a copy: it may change under us */
    pthread_once(&all.once, begin_process);
    if (all.rc)
        return shmemi_fail(-ENOMEM, "no key of thread-local data is left");
    struct shmemi_queue *q = calloc(1, sizeof *q);
    if (!q)
        return shmemi_fail(-ENOMEM, "no private memory for a handle");
    int rc = s->version == SHMEMI_QUEUE_VERSION && s->fingerprint == sizeof *s
                 ? shmemi_queue_lay_out(&config, &q->shape)
                 : shmemi_fail(-EPROTO, "the queue has another layout");
    if (rc == 0 && q->shape.bytes > place->bytes)
        rc = shmemi_fail(-EPROTO, "the queue says that it has %llu bytes, and its buffer has %zu",
                         (unsigned long long)q->shape.bytes, place->bytes);
    if (rc < 0) {
        free(q);
        return rc;
    }
    fill_in(q, place);
    if (q->shape.config.flush_ns)
        shmemi_queue_clock_use();
    pthread_mutex_lock(&all.lock);
    q->next = all.open;
    all.open = q;
    pthread_mutex_unlock(&all.lock);
    *out = q;
    return 0;
}

static void remove_handle(const struct shmemi_queue *q)
{
    pthread_mutex_lock(&all.lock);
    struct shmemi_queue **at = &all.open;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    pthread_mutex_unlock(&all.lock);
    if (q->shape.config.flush_ns)
        shmemi_queue_clock_unuse();
}

/* Producers are freed by their threads. */
static uint64_t drop_producers(struct shmemi_queue *q, bool drop)
{
    uint64_t lost = 0;
    for (struct shmemi_queue_producer *p; (p = q->producers);) {
        q->producers = p->next;
        lost += end_producer(q, p, drop);
        /* release: pairs with the acquire in queue_of(): the thread may free it. */
        atomic_store_explicit(&p->queue, NULL, memory_order_release);
    }
    return lost;
}

int shmemi_queue_close(struct shmemi_queue *q, bool drop)
{
    remove_handle(q);
    if (!drop)
        shmemi_queue_unpeek(q, false); /* fails when this thread does not peek */
    uint64_t lost = drop_producers(q, drop);
    free(q);
    return lost ? shmemi_fail(-ETIMEDOUT, "the queue is full, and nobody pops: %llu items that were gathered are lost",
                              (unsigned long long)lost)
                : 0;
}

/* Whether a living producer has reserved slots, or is about to. */
static bool any_reserved(const struct shmemi_queue *q, uint64_t *holder)
{
    for (uint32_t i = 0; i < q->shape.config.producers; i++) {
        /* [holder], [intent] acquire: as the consumer's look in pop.c. */
        *holder = atomic_load_explicit(&q->records[i].holder, memory_order_acquire);
        if (*holder && atomic_load_explicit(&q->records[i].intent, memory_order_acquire) &&
            !shmemi_holder_dead(q->site->domain, *holder))
            return true;
    }
    return false;
}

int shmemi_queue_retire(struct shmemi_queue *q)
{
    char who[SHMEMI_HOLDER_TEXT];
    struct shmemi_mutex *place = &q->shared->consumer;
    uint64_t holder = atomic_load_explicit(&place->word, memory_order_relaxed); /* for the text */
    if (shmemi_mutex_held(q->site, place))
        return shmemi_fail(-EBUSY, "%s is popping or peeking", shmemi_holder_text(q->site->domain, holder, who));
    if (any_reserved(q, &holder))
        return shmemi_fail(-EBUSY, "%s is pushing, or has reserved a slot",
                           shmemi_holder_text(q->site->domain, holder, who));
    shmemi_queue_wake(&q->shared->for_items, INT32_MAX);
    shmemi_queue_wake(&q->shared->for_room, INT32_MAX);
    return 0;
}

/* ---- looking ---- */

static int add_gathered(struct shmemi_queue *q, struct shmemi_queue_producer *p, void *context)
{
    (void)q;
    *(uint64_t *)context += atomic_load_explicit(&p->count, memory_order_relaxed); /* about */
    return 0;
}

/* Relaxed, all: about. */
void shmemi_queue_stats(struct shmemi_queue *q, struct shmemi_queue_stats *out)
{
    *out = (struct shmemi_queue_stats){.config = q->shape.config, .bytes = q->shape.bytes};
    for (uint32_t i = 0; i < q->shape.config.producers; i++) {
        uint64_t holder = atomic_load_explicit(&q->records[i].holder, memory_order_relaxed);
        out->pushed += atomic_load_explicit(&q->records[i].pushed, memory_order_relaxed);
        out->producers += holder && !shmemi_holder_dead(q->site->domain, holder);
    }
    out->popped = atomic_load_explicit(&q->shared->popped, memory_order_relaxed);
    out->skipped = atomic_load_explicit(&q->shared->skipped, memory_order_relaxed);
    uint64_t head = shmemi_queue_position(atomic_load_explicit(&q->shared->head, memory_order_relaxed));
    uint64_t tail = atomic_load_explicit(&q->shared->tail, memory_order_relaxed);
    uint64_t slots = shmemi_queue_distance(head, tail & SHMEMI_QUEUE_POSITIONS);
    out->ended = tail & SHMEMI_QUEUE_ENDED;
    if (q->shape.config.item_bytes || slots == 0 || slots > q->shape.capacity)
        out->length = slots > q->shape.capacity ? 0 : slots;
    else
        out->length = out->pushed > out->popped ? out->pushed - out->popped : 0;
    shmemi_queue_each(q, add_gathered, &out->gathered);
}
