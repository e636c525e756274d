// SPDX-License-Identifier: Apache-2.0
// Consumers. Who pops has the consumer's place, a mutex that survives its holder, so one at a time looks and takes;
// with it a whole run is taken, and one store of the head gives the slots back. The head says in one word where the
// next slot is and how many more of its run there are, so it makes sense at every instant at which a consumer is
// killed.
#include "queue_internal.h"

#include "base/cpu.h"
#include "base/error.h"

enum { TRIES = 200 };

/* Where a consumer is: private until it is put into the head. */
struct cursor {
    uint64_t at, left;
    uint64_t items;   /* passed over as taken */
    uint64_t skipped; /* slots of the dead */
    uint64_t holder;  /* who is to commit what is at `at` */
};

/* ---- the consumer's place ---- */

static int in_use(const struct shmemi_queue *q)
{
    /* relaxed: for the text */
    uint64_t holder = atomic_load_explicit(&q->shared->consumer.word, memory_order_relaxed);
    return shmemi_fail(-EBUSY, "the queue is made for one consumer, and slot %d is popping already",
                       shmemi_holder_slot(q->site->domain, holder));
}

/* Others pop one after the other; but somebody may be peeking, for long. */
static int try_place(struct shmemi_queue *q)
{
    int rc = -EBUSY;
    for (int i = 0; i < TRIES && rc == -EBUSY; i++) {
        if (i > 0)
            shmemi_cpu_relax();
        rc = shmemi_mutex_try(q->site, &q->shared->consumer);
    }
    return rc == -EBUSY ? shmemi_fail(-EAGAIN, "another consumer has the queue") : rc;
}

static int take_place(struct shmemi_queue *q, struct shmemi_queue_wait *wait)
{
    struct shmemi_mutex *place = &q->shared->consumer;
    int rc;
    if (!q->shape.config.many) {
        if ((rc = shmemi_mutex_try(q->site, place)) == -EBUSY)
            return in_use(q);
    } else if (wait->seconds == 0) {
        rc = try_place(q);
    } else {
        if (!wait->deadline)
            wait->deadline = shmemi_deadline(wait->seconds);
        rc = shmemi_mutex_lock(q->site, place, wait->deadline);
    }
    if (rc == -EOWNERDEAD)
        return shmemi_mutex_consistent(q->site, place); /* the head makes sense at every instant */
    if (rc == -ENOTRECOVERABLE) {                       /* only a stray write can have said so */
        atomic_store_explicit(&place->state, SHMEMI_MUTEX_SOUND, memory_order_relaxed); /* looked at with the word */
        return shmemi_queue_damaged();
    }
    return rc == -EDEADLK ? shmemi_fail(-EBUSY, "this thread is peeking: release the item or put it back first") : rc;
}

static void leave_place(struct shmemi_queue *q)
{
    struct shmemi_mutex *place = &q->shared->consumer;
    if (shmemi_likely(shmemi_mutex_unlock(q->site, place) == 0))
        return;
    shmemi_held_remove(place);                                    /* a stray write took it from us */
    atomic_store_explicit(&place->word, 0, memory_order_release); /* [mutex] as in mutex.c */
}

/* ---- the head ---- */

static int look_head(const struct shmemi_queue *q, struct cursor *c)
{
    /* relaxed: the place orders it */
    uint64_t head = atomic_load_explicit(&q->shared->head, memory_order_relaxed);
    *c = (struct cursor){.at = shmemi_queue_position(head), .left = shmemi_queue_slots(head)};
    return c->left <= q->shape.capacity ? 0 : shmemi_queue_damaged();
}

static void add(_Atomic uint64_t *counter, uint64_t count)
{
    if (count) /* relaxed, both: only who has the place changes it */
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + count,
                              memory_order_relaxed);
}

/* Producers that sleep are woken when there is room for a good many, or the queue is empty: not for each slot. */
static void wake_producers(struct shmemi_queue *q, uint64_t at)
{
    uint64_t tail = shmemi_queue_tail_of(atomic_load_explicit(&q->shared->tail, memory_order_relaxed)); /* about */
    uint64_t used = shmemi_queue_distance(at, tail);
    if (used <= q->shape.capacity - (q->shape.capacity + 3) / 4)
        shmemi_queue_wake(&q->shared->for_room, INT32_MAX);
}

/* What the cursor has passed is free. */
static void move_head(struct shmemi_queue *q, const struct cursor *c)
{
    /* [head] release: pairs with see_head() in push.c: what was there has been read. Sequentially consistent for
       [for_room]: either the producer that is about to sleep sees it, or its 1 is seen below. */
    atomic_store_explicit(&q->shared->head, shmemi_queue_word(c->at & SHMEMI_QUEUE_POSITIONS, c->left),
                          memory_order_seq_cst);
    add(&q->shared->popped, c->items);
    add(&q->shared->skipped, c->skipped);
    if (shmemi_unlikely(atomic_load_explicit(&q->shared->for_room, memory_order_seq_cst)))
        wake_producers(q, c->at);
}

/* ---- what comes next ---- */

/* Whether a living producer is to commit this slot. */
static bool find_holder(struct shmemi_queue *q, struct cursor *c)
{
    uint32_t count = atomic_load_explicit(&q->shared->records, memory_order_acquire); /* [records] pairs in handle.c */
    if (count > q->shape.config.producers)
        count = q->shape.config.producers;
    for (uint32_t i = 0; i < count; i++) {
        /* [intent] acquire: pairs with set_intent() in push.c. */
        uint64_t intent = atomic_load_explicit(&q->records[i].intent, memory_order_acquire);
        if (shmemi_queue_distance(shmemi_queue_position(intent), c->at) >= shmemi_queue_slots(intent))
            continue;
        c->holder = atomic_load_explicit(&q->records[i].holder, memory_order_acquire); /* [holder] handle.c */
        if (c->holder && !shmemi_holder_dead(q->site->domain, c->holder))
            return true;
    }
    return false;
}

/* A run that is committed at the cursor: its slots, or 0. */
static uint64_t run_at(const struct shmemi_queue *q, uint64_t at, bool *items)
{
    /* [word] acquire: pairs with the release in commit(): the slots are filled. */
    uint64_t word = atomic_load_explicit(shmemi_queue_word_at(q, at), memory_order_acquire);
    uint64_t slots = shmemi_queue_slots(word);
    *items = !(word & SHMEMI_QUEUE_NO_ITEMS);
    return shmemi_queue_position(word) == at && slots <= q->shape.capacity ? slots : 0;
}

enum next { ITEMS = 1, NOTHING = 0, UNCOMMITTED = -1, ENDED = -2, DAMAGED = -3 };

/* Nothing is committed at the cursor: why. ITEMS: look again, something was passed over or came. */
static enum next why_not(struct shmemi_queue *q, struct cursor *c)
{
    bool items;
    /* [tail] acquire: pairs with the exchange in push.c: who moved it has written its intent. */
    uint64_t tail = atomic_load_explicit(&q->shared->tail, memory_order_acquire);
    uint64_t reserved = shmemi_queue_distance(c->at, tail);
    if (tail & ~(SHMEMI_QUEUE_POSITIONS | SHMEMI_QUEUE_ENDED) || reserved > q->shape.capacity)
        return DAMAGED;
    if (reserved == 0)
        return tail & SHMEMI_QUEUE_ENDED ? ENDED : NOTHING;
    if (find_holder(q, c))
        return UNCOMMITTED;
    if (run_at(q, c->at, &items) == 0) { /* after the look: what the dead did came before it */
        c->at = (c->at + 1) & SHMEMI_QUEUE_POSITIONS;
        c->skipped++;
    }
    return ITEMS;
}

/* Makes c->left more than 0, if there is something. try_hard: also finds out why there is nothing. */
static enum next next_run(struct shmemi_queue *q, struct cursor *c, bool try_hard)
{
    while (c->left == 0) {
        bool items;
        uint64_t slots = run_at(q, c->at, &items);
        if (slots && items) {
            c->left = slots;
        } else if (slots) {
            c->at = (c->at + slots) & SHMEMI_QUEUE_POSITIONS;
        } else {
            enum next why = try_hard ? why_not(q, c) : NOTHING;
            if (why != ITEMS)
                return why;
        }
    }
    return ITEMS;
}

static void pass(struct cursor *c, uint64_t slots, uint64_t items)
{
    c->at = (c->at + slots) & SHMEMI_QUEUE_POSITIONS;
    c->left -= slots;
    c->items += items;
}

/* ---- taking ---- */

struct request {
    char *to;
    size_t room; /* bytes */
    size_t *sizes;
    size_t most, got;
    bool too_long;
};

static void copy_out_apart(const struct shmemi_queue *q, uint64_t at, char *to, uint64_t count)
{
    size_t bytes = q->shape.config.item_bytes;
    if (bytes == 8) {
        for (uint64_t i = 0; i < count; i++)
            memcpy(to + 8 * i, shmemi_queue_item_at(q, at + i), 8);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + bytes * i, shmemi_queue_item_at(q, at + i), bytes);
}

static void copy_out(const struct shmemi_queue *q, uint64_t at, char *to, uint64_t count)
{
    size_t bytes = q->shape.config.item_bytes;
    if (q->shape.item_stride != bytes) {
        copy_out_apart(q, at, to, count);
        return;
    }
    uint64_t to_end = q->shape.slots - (at & q->mask), first = count < to_end ? count : to_end;
    memcpy(to, shmemi_queue_item_at(q, at), first * bytes);
    if (shmemi_unlikely(first < count))
        memcpy(to + first * bytes, q->items, (count - first) * bytes);
}

static void take_items(struct shmemi_queue *q, struct cursor *c, struct request *r)
{
    size_t bytes = q->shape.config.item_bytes;
    uint64_t count = r->most - r->got < c->left ? r->most - r->got : c->left;
    copy_out(q, c->at, r->to + r->got * bytes, count);
    if (r->sizes)
        for (uint64_t i = 0; i < count; i++)
            r->sizes[r->got + i] = bytes;
    r->got += count;
    pass(c, count, count);
}

/* The message at the cursor. False: it makes no sense, and the rest of its run neither. */
static bool message_at(const struct shmemi_queue *q, const struct cursor *c, uint64_t *slots, size_t *bytes)
{
    uint64_t header;
    memcpy(&header, shmemi_queue_item_at(q, c->at), sizeof header);
    *slots = header >> 40;
    *bytes = header & ((UINT64_C(1) << 40) - 1);
    return *bytes <= q->shape.config.max_message && *slots <= c->left &&
           *slots <= shmemi_queue_cells(&q->shape, q->shape.config.max_message) &&
           shmemi_queue_cells(&q->shape, *bytes) <= *slots;
}

/* False: no more can be taken. */
static bool take_message(struct shmemi_queue *q, struct cursor *c, struct request *r)
{
    uint64_t slots;
    size_t bytes;
    if (!message_at(q, c, &slots, &bytes)) {
        c->skipped += c->left;
        pass(c, c->left, 0);
        return true;
    }
    if (bytes > r->room) {
        r->too_long = r->got == 0;
        if (r->too_long && r->sizes)
            r->sizes[0] = bytes;
        return false;
    }
    if (bytes)
        memcpy(r->to, shmemi_queue_item_at(q, c->at) + SHMEMI_QUEUE_HEADER, bytes);
    r->to += bytes;
    r->room -= bytes;
    if (r->sizes)
        r->sizes[r->got] = bytes;
    r->got++;
    pass(c, slots, 1);
    return true;
}

/* With the place: takes what there is. */
static enum next take(struct shmemi_queue *q, struct cursor *c, struct request *r)
{
    enum next next = ITEMS;
    while (r->got < r->most && (next = next_run(q, c, r->got == 0)) == ITEMS) {
        if (q->shape.config.item_bytes)
            take_items(q, c, r);
        else if (!take_message(q, c, r))
            break;
    }
    if (r->got || c->skipped ||
        (c->at != shmemi_queue_position(atomic_load_explicit(&q->shared->head, memory_order_relaxed)))) /* ours */
        move_head(q, c);
    return r->got || r->too_long ? ITEMS : next;
}

/* One of many was woken and has taken what it wanted: there may be more for another. */
static void pass_on_wake(struct shmemi_queue *q, const struct shmemi_queue_wait *wait)
{
    if (!wait->slept || !q->shape.config.many)
        return;
    uint64_t tail = atomic_load_explicit(&q->shared->tail, memory_order_relaxed); /* a miss: who sleeps looks itself */
    uint64_t head = atomic_load_explicit(&q->shared->head, memory_order_relaxed);
    if (shmemi_queue_tail_of(tail) != shmemi_queue_position(head))
        shmemi_queue_wake(&q->shared->for_items, 1);
}

/* Nothing was there. 0: look again. The place is ours, and is afterwards too when the queue is for one. */
static int wait_for(struct shmemi_queue *q, struct shmemi_queue_wait *wait, enum next why, const struct cursor *c)
{
    if (why == ENDED)
        return shmemi_queue_gone();
    if (why == DAMAGED)
        return shmemi_queue_damaged();
    return why == UNCOMMITTED ? shmemi_queue_wait_commit(q, wait, c->at, c->holder) : shmemi_queue_wait_items(q, wait);
}

/* Repeats `look` with the place until it finds something; keeps the place when told to. */
static int with_place(struct shmemi_queue *q, double seconds,
                      enum next (*look)(struct shmemi_queue *q, struct cursor *c, void *context), void *context,
                      bool keep)
{
    struct shmemi_queue_wait wait = {.seconds = seconds};
    bool many = q->shape.config.many;
    struct cursor c;
    int rc = take_place(q, &wait);
    if (rc < 0)
        return rc;
    for (;;) {
        enum next next = look_head(q, &c) < 0 ? DAMAGED : look(q, &c, context);
        if (next == ITEMS && keep)
            return 0;
        if (next == ITEMS || many)
            leave_place(q);
        if (next == ITEMS) {
            pass_on_wake(q, &wait);
            return 0;
        }
        rc = wait_for(q, &wait, next, &c);
        if (rc == 0 && many)
            rc = take_place(q, &wait);
        else if (rc == -ENOENT && !many)
            shmemi_held_remove(&q->shared->consumer);
        else if (rc < 0 && !many)
            leave_place(q);
        if (rc < 0)
            return rc;
    }
}

static enum next take_look(struct shmemi_queue *q, struct cursor *c, void *context)
{
    return take(q, c, context);
}

long shmemi_queue_pop_many(struct shmemi_queue *q, void *items, size_t room, size_t *sizes, size_t most, double seconds)
{
    size_t bytes = q->shape.config.item_bytes;
    struct request r = {.to = items, .room = room, .sizes = sizes, .most = most};
    if (bytes && room / bytes < most)
        r.most = room / bytes;
    if (most == 0)
        return 0;
    if (!bytes && !sizes && most > 1)
        return shmemi_fail(-EINVAL, "sizes is NULL: nothing else tells where messages end");
    if (r.most == 0) {
        if (sizes)
            *sizes = bytes;
        return shmemi_fail(-EMSGSIZE, "room is %zu: items of this queue have %zu bytes", room, bytes);
    }
    int rc = with_place(q, seconds, take_look, &r, false);
    if (rc == 0 && r.too_long)
        rc = shmemi_fail(-EMSGSIZE, "the message does not fit into %zu bytes", room);
    return rc < 0 ? rc : (long)r.got;
}

/* ---- peeking ---- */

struct peek {
    const void *item;
    size_t bytes;
};

static enum next peek_look(struct shmemi_queue *q, struct cursor *c, void *context)
{
    struct peek *peek = context;
    enum next next;
    bool skipped = false;
    while ((next = next_run(q, c, true)) == ITEMS) {
        q->peeked_slots = 1;
        peek->bytes = q->shape.config.item_bytes;
        if (peek->bytes || message_at(q, c, &q->peeked_slots, &peek->bytes))
            break;
        c->skipped += c->left;
        pass(c, c->left, 0);
    }
    skipped = c->skipped > 0;
    if (skipped)
        move_head(q, c);
    if (next != ITEMS)
        return next;
    q->peeked = true;
    q->peeked_at = c->at;
    q->peeked_left = c->left;
    peek->item = shmemi_queue_item_at(q, c->at) + (q->shape.config.item_bytes ? 0 : SHMEMI_QUEUE_HEADER);
    return ITEMS;
}

int shmemi_queue_peek(struct shmemi_queue *q, const void **item, size_t *bytes, double seconds)
{
    struct peek peek = {0};
    int rc = with_place(q, seconds, peek_look, &peek, true);
    if (rc < 0)
        return rc;
    *item = peek.item;
    if (bytes)
        *bytes = peek.bytes;
    return 0;
}

int shmemi_queue_unpeek(struct shmemi_queue *q, bool take)
{
    /* relaxed: if it is ours, nobody changes that */
    uint64_t holder = atomic_load_explicit(&q->shared->consumer.word, memory_order_relaxed);
    if (!shmemi_holder_is(holder, shmemi_site_holder(q->site)) || !q->peeked)
        return shmemi_fail(-EINVAL, "this thread is not peeking");
    struct cursor c = {.at = q->peeked_at, .left = q->peeked_left};
    q->peeked = false;
    if (take) {
        pass(&c, q->peeked_slots, 1);
        move_head(q, &c);
    }
    leave_place(q);
    return 0;
}
