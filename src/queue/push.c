// SPDX-License-Identifier: Apache-2.0
// Producers. One atomic reserves a run of slots; then they are filled with plain stores, and one release store of the
// first one's commit word makes the whole run visible.
//
// Before the atomic the producer writes to its record what it is about to reserve. So a consumer that finds a slot
// reserved and not committed looks through the records: while a living producer's covers the slot, it waits; when none
// does, whoever reserved it has died, and the slot is passed over. (One that lost the race for a slot covers it too
// until its next attempt: the consumer waits a little longer.)
#include "queue_internal.h"

#include "base/cpu.h"
#include "base/error.h"

int shmemi_queue_gone(void)
{
    return shmemi_fail(-EPIPE, "the queue has ended");
}

int shmemi_queue_damaged(void)
{
    return shmemi_fail(-EIO, "the queue is damaged: somebody wrote to its memory");
}

int shmemi_queue_destroyed(void)
{
    return shmemi_fail(-ENOENT, "the queue was destroyed meanwhile");
}

/* ---- reserving and committing ---- */

static uint64_t see_head(const struct shmemi_queue *q)
{
    /* [head] acquire: pairs with the consumer's store: it has read what lay in the slots before. Sequentially
       consistent because of [for_room]. */
    return shmemi_queue_position(atomic_load_explicit(&q->shared->head, memory_order_seq_cst));
}

/* How many slots are free behind this tail, as far as is known; looked at anew when they are less than `want`. More
   than there are: the tail has moved on, or makes no sense. */
static uint64_t room_behind(const struct shmemi_queue *q, struct shmemi_queue_producer *p, uint64_t tail, uint64_t want)
{
    uint64_t used = shmemi_queue_distance(p->head, tail);
    if (used > q->shape.capacity || q->shape.capacity - used < want) {
        p->head = see_head(q);
        used = shmemi_queue_distance(p->head, tail);
    }
    return q->shape.capacity - used;
}

static void set_intent(struct shmemi_queue_producer *p, uint64_t intent)
{
    /* [intent] release: pairs with the acquire in the consumer's look for holders: when it finds a later intent, or
       none, it finds what was committed before. That it finds this one once it sees the tail moved is the release of
       the exchange of the tail. */
    atomic_store_explicit(&p->record->intent, intent, memory_order_release);
}

/* The line is going to be written: it comes from another core once, not first to be read and then to be written. */
static inline void want_line(const void *at)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
    __builtin_prefetch(at, 1);
#endif
}

enum { PAUSES_MOST = 8 };

/* Reserves up to `want` slots, at least `least`. Returns how many; 0: there is no room. */
static int64_t reserve(struct shmemi_queue *q, struct shmemi_queue_producer *p, uint64_t want, uint64_t least,
                       uint64_t *position)
{
    _Atomic uint64_t *tail = &q->shared->tail;
    want_line(tail);
    uint64_t seen = atomic_load_explicit(tail, memory_order_relaxed); /* the exchange decides */
    int64_t rc = 0;
    int pauses = 1;
    while (shmemi_likely(!(seen & ~SHMEMI_QUEUE_POSITIONS))) {
        uint64_t room = room_behind(q, p, seen, want), count = want < room ? want : room;
        if (shmemi_unlikely(room > q->shape.capacity || room < least)) {
            uint64_t now = atomic_load_explicit(tail, memory_order_relaxed); /* the exchange decides */
            rc = room > q->shape.capacity ? -EIO : 0;
            if (now == seen)
                break; /* the head was read while the tail was that */
            seen = now;
            continue;
        }
        set_intent(p, shmemi_queue_word(seen, count));
        /* [tail] release: whoever sees it moved sees the intent; sequentially consistent for [for_items]. */
        if (shmemi_likely(atomic_compare_exchange_strong_explicit(tail, &seen, (seen + count) & SHMEMI_QUEUE_POSITIONS,
                                                                  memory_order_seq_cst, memory_order_relaxed))) {
            *position = seen;
            return (int64_t)count;
        }
        /* Somebody else has the line: each gets more done when they take it in turns of several pushes. */
        for (int i = 0; i < pauses; i++)
            shmemi_cpu_relax();
        pauses = pauses < PAUSES_MOST ? 2 * pauses : pauses;
    }
    set_intent(p, 0);
    return seen & SHMEMI_QUEUE_ENDED ? -EPIPE : seen & ~SHMEMI_QUEUE_POSITIONS ? -EIO : rc;
}

/* The run becomes visible; flag: SHMEMI_QUEUE_NO_ITEMS or 0. */
static void commit(struct shmemi_queue *q, struct shmemi_queue_producer *p, uint64_t position, uint64_t slots,
                   uint64_t flag)
{
    /* [word] release: pairs with the acquire in the consumer's look: the slots are filled. */
    atomic_store_explicit(shmemi_queue_word_at(q, position), shmemi_queue_word(position, slots) | flag,
                          memory_order_release);
    set_intent(p, 0);
    /* [for_items] sequentially consistent, like the exchange of the tail before it: pairs with the consumer's store to
       for_items and its look at the tail after that. Either it is seen here, or the tail is seen there. */
    if (shmemi_unlikely(atomic_load_explicit(&q->shared->for_items, memory_order_seq_cst)))
        shmemi_queue_wake(&q->shared->for_items, q->shape.config.many ? 1 : INT32_MAX);
}

static void count_pushed(struct shmemi_queue_producer *p, uint64_t items)
{
    /* relaxed, both: a count that only the record's owner changes */
    uint64_t before = atomic_load_explicit(&p->record->pushed, memory_order_relaxed);
    atomic_store_explicit(&p->record->pushed, before + items, memory_order_relaxed);
}

/* What the number of slots from reserve(), when it is not positive, means for callers; -EAGAIN without a text. */
static int no_slots(int64_t got)
{
    return got == 0 ? -EAGAIN : got == -EPIPE ? shmemi_queue_gone() : shmemi_queue_damaged();
}

/* ---- items ---- */

static void copy_apart(const struct shmemi_queue *q, uint64_t position, const char *from, uint64_t count)
{
    size_t bytes = q->shape.config.item_bytes;
    if (bytes == 8) {
        for (uint64_t i = 0; i < count; i++)
            memcpy(shmemi_queue_item_at(q, position + i), from + 8 * i, 8);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(shmemi_queue_item_at(q, position + i), from + bytes * i, bytes);
}

static void copy_in(const struct shmemi_queue *q, uint64_t position, const char *from, uint64_t count)
{
    size_t bytes = q->shape.config.item_bytes;
    if (q->shape.item_stride != bytes) {
        copy_apart(q, position, from, count);
        return;
    }
    uint64_t to_end = q->shape.slots - (position & q->mask), first = count < to_end ? count : to_end;
    char *to = shmemi_queue_item_at(q, position);
    if (bytes == 8 && first == 4) /* a call costs as much as copying */
        memcpy(to, from, 32);
    else if (bytes == 8 && first == 16)
        memcpy(to, from, 128);
    else
        memcpy(to, from, first * bytes);
    if (shmemi_unlikely(first < count))
        memcpy(q->items, from + first * bytes, (count - first) * bytes);
}

/* Moves in up to `count` items, as many as there is room for. */
static int64_t move_items(struct shmemi_queue *q, struct shmemi_queue_producer *p, const char *from, uint64_t count)
{
    uint64_t position;
    int64_t got = reserve(q, p, count < SHMEMI_QUEUE_RUN_MOST ? count : SHMEMI_QUEUE_RUN_MOST, 1, &position);
    if (shmemi_unlikely(got <= 0))
        return no_slots(got);
    copy_in(q, position, from, (uint64_t)got);
    commit(q, p, position, (uint64_t)got, 0);
    count_pushed(p, (uint64_t)got);
    return got;
}

static void set_count(struct shmemi_queue_producer *p, uint32_t count)
{
    atomic_store_explicit(&p->count, count, memory_order_relaxed); /* the bias orders it; others only look */
}

static uint32_t count_of(const struct shmemi_queue_producer *p)
{
    return atomic_load_explicit(&p->count, memory_order_relaxed); /* as above */
}

static int move_in_items(struct shmemi_queue *q, struct shmemi_queue_producer *p)
{
    uint32_t count = count_of(p);
    int64_t got = move_items(q, p, p->items, count);
    if (shmemi_unlikely(got < 0))
        return (int)got;
    count -= (uint32_t)got;
    if (shmemi_unlikely(count))
        memmove(p->items, p->items + (uint64_t)got * q->shape.config.item_bytes, count * q->shape.config.item_bytes);
    set_count(p, count);
    return count ? -EAGAIN : 0;
}

/* ---- messages: as they lie in slots, each with a header ---- */

static uint64_t header_of(uint64_t bytes, uint64_t slots)
{
    return slots << 40 | bytes;
}

static void write_message(const struct shmemi_queue *q, char *to, const void *message, size_t bytes)
{
    uint64_t header = header_of(bytes, shmemi_queue_cells(&q->shape, bytes));
    memcpy(to, &header, sizeof header);
    if (bytes)
        memcpy(to + SHMEMI_QUEUE_HEADER, message, bytes);
}

/* Of gathered messages: slots of those at the front that fit into `room` slots, and how many they are. */
static uint64_t front(const struct shmemi_queue *q, const struct shmemi_queue_producer *p, uint64_t room,
                      uint32_t *count)
{
    uint64_t slots = 0, header;
    for (*count = 0; *count < count_of(p); ++*count) {
        memcpy(&header, p->items + slots * q->shape.slot_bytes, sizeof header);
        if (slots + (header >> 40) > room)
            break;
        slots += header >> 40;
    }
    return slots;
}

/* Where a message's slots begin it goes on behind the end of the ring, so they are copied one by one. */
static void copy_messages(const struct shmemi_queue *q, uint64_t position, const char *from, uint32_t count)
{
    for (uint64_t header; count > 0; count--) {
        memcpy(&header, from, sizeof header);
        memcpy(shmemi_queue_item_at(q, position), from, SHMEMI_QUEUE_HEADER + (header & ((UINT64_C(1) << 40) - 1)));
        position += header >> 40;
        from += (header >> 40) * q->shape.slot_bytes;
    }
}

static uint64_t room_now(struct shmemi_queue *q, struct shmemi_queue_producer *p, uint64_t want)
{
    /* relaxed: the exchange decides */
    uint64_t tail = shmemi_queue_tail_of(atomic_load_explicit(&q->shared->tail, memory_order_relaxed));
    uint64_t room = room_behind(q, p, tail, want);
    return room > q->shape.capacity ? 0 : room;
}

static int move_in_messages(struct shmemi_queue *q, struct shmemi_queue_producer *p)
{
    uint32_t count, all = count_of(p);
    uint64_t position, total = p->bytes / q->shape.slot_bytes, slots = front(q, p, total, &count);
    if (slots > SHMEMI_QUEUE_RUN_MOST || room_now(q, p, slots) < slots) {
        uint64_t room = room_now(q, p, slots);
        slots = front(q, p, room < SHMEMI_QUEUE_RUN_MOST ? room : SHMEMI_QUEUE_RUN_MOST, &count);
    }
    if (count == 0) { /* reserve() tells whether it is full or at its end */
        slots = front(q, p, total, &count);
        uint64_t first;
        memcpy(&first, p->items, sizeof first);
        slots = first >> 40;
        count = 1;
    }
    int64_t got = reserve(q, p, slots, slots, &position);
    if (got <= 0)
        return no_slots(got);
    copy_messages(q, position, p->items, count);
    commit(q, p, position, slots, 0);
    count_pushed(p, count);
    p->bytes -= (uint32_t)(slots * q->shape.slot_bytes);
    if (p->bytes)
        memmove(p->items, p->items + slots * q->shape.slot_bytes, p->bytes);
    set_count(p, all - count);
    return p->bytes ? -EAGAIN : 0;
}

/* One message that is not gathered. */
static int move_message(struct shmemi_queue *q, struct shmemi_queue_producer *p, const void *message, size_t bytes)
{
    uint64_t position, slots = shmemi_queue_cells(&q->shape, bytes);
    int64_t got = reserve(q, p, slots, slots, &position);
    if (got <= 0)
        return no_slots(got);
    write_message(q, shmemi_queue_item_at(q, position), message, bytes);
    commit(q, p, position, slots, 0);
    count_pushed(p, 1);
    return 0;
}

/* ---- what was gathered ---- */

int shmemi_queue_move_in(struct shmemi_queue *q, struct shmemi_queue_producer *p)
{
    if (count_of(p) == 0)
        return 0;
    return q->shape.config.item_bytes ? move_in_items(q, p) : move_in_messages(q, p);
}

/* Sleeps until there may be room; others may move in meanwhile what is gathered. */
static int wait_for_room(struct shmemi_queue *q, struct shmemi_queue_producer *p, struct shmemi_queue_wait *wait,
                         uint64_t slots)
{
    shmemi_bias_leave(&p->bias);
    int rc = shmemi_queue_wait_room(q, wait, slots);
    shmemi_bias_enter(&p->bias);
    return rc;
}

static uint64_t slots_gathered(const struct shmemi_queue *q, const struct shmemi_queue_producer *p)
{
    uint64_t header = 0;
    if (q->shape.config.item_bytes || count_of(p) == 0)
        return 1;
    memcpy(&header, p->items, sizeof header);
    return header >> 40;
}

/* The queue has ended with items gathered. */
static int lose_gathered(struct shmemi_queue_producer *p)
{
    uint32_t count = count_of(p);
    set_count(p, 0);
    p->bytes = 0;
    return count ? shmemi_fail(-EPIPE, "the queue has ended, and %u items that were gathered are lost", count) : -EPIPE;
}

static int move_in_waiting(struct shmemi_queue *q, struct shmemi_queue_producer *p, struct shmemi_queue_wait *wait)
{
    int rc;
    while ((rc = shmemi_queue_move_in(q, p)) == -EAGAIN)
        if ((rc = wait_for_room(q, p, wait, slots_gathered(q, p))) < 0)
            return rc;
    return rc == -EPIPE ? lose_gathered(p) : rc;
}

/* Until there is a place for one more in the batch. */
static int make_place(struct shmemi_queue *q, struct shmemi_queue_producer *p, struct shmemi_queue_wait *wait)
{
    int rc = 0;
    while (count_of(p) >= q->shape.config.batch) {
        rc = shmemi_queue_move_in(q, p);
        if (rc == -EAGAIN && count_of(p) >= q->shape.config.batch)
            rc = wait_for_room(q, p, wait, slots_gathered(q, p));
        else if (rc == -EAGAIN)
            return 0;
        if (rc < 0)
            return rc == -EPIPE ? lose_gathered(p) : rc;
    }
    return rc;
}

int shmemi_queue_move_in_others(struct shmemi_queue *q, struct shmemi_queue_producer *p, int64_t deadline)
{
    int rc = -EAGAIN;
    for (int64_t now = 0; rc == -EAGAIN && now < deadline; now = shmemi_now()) {
        if (!shmemi_queue_exists(q))
            return shmemi_queue_destroyed();
        if (shmemi_bias_try(&p->bias)) {
            rc = shmemi_queue_move_in(q, p);
            shmemi_bias_give(&p->bias);
        }
        if (rc == -EAGAIN)
            shmemi_queue_wait_room(q, &(struct shmemi_queue_wait){.seconds = 0.01}, 1);
    }
    return rc;
}

static struct shmemi_queue_wait waiting(double seconds)
{
    return (struct shmemi_queue_wait){.seconds = seconds};
}

struct flush {
    uint64_t slots; /* that somebody needs; 0: all is moved in */
};

/* Another thread's batch. Who is pushing just now moves in by itself. */
static int flush_one(struct shmemi_queue *q, struct shmemi_queue_producer *p, void *context)
{
    struct flush *flush = context;
    if (count_of(p) == 0 || !shmemi_bias_try(&p->bias))
        return 0;
    int rc = shmemi_queue_move_in(q, p);
    if (rc == -EAGAIN)
        flush->slots = slots_gathered(q, p);
    shmemi_bias_give(&p->bias);
    return rc == -EAGAIN ? 0 : rc;
}

int shmemi_queue_flush(struct shmemi_queue *q, double seconds)
{
    int rc;
    struct shmemi_queue_producer *p = shmemi_queue_producer_of(q, &rc);
    if (!p)
        return rc;
    struct shmemi_queue_wait wait = waiting(seconds);
    struct flush flush = {1};
    shmemi_bias_enter(&p->bias);
    rc = move_in_waiting(q, p, &wait);
    shmemi_bias_leave(&p->bias);
    while (rc == 0 && flush.slots) {
        flush.slots = 0;
        rc = shmemi_queue_each(q, flush_one, &flush);
        if (rc == 0 && flush.slots)
            rc = shmemi_queue_wait_room(q, &wait, flush.slots);
    }
    return rc;
}

/* ---- pushing ---- */

static int bad_length(const struct shmemi_queue *q, size_t bytes)
{
    const struct shmemi_queue_config *c = &q->shape.config;
    if (c->item_bytes)
        return shmemi_fail(-EINVAL, "bytes is %zu: items of this queue have %llu", bytes,
                           (unsigned long long)c->item_bytes);
    return shmemi_fail(-EMSGSIZE, "bytes is %zu: messages of this queue have at most %llu", bytes,
                       (unsigned long long)c->max_message);
}

static bool fits(const struct shmemi_queue *q, size_t bytes)
{
    return q->shape.config.item_bytes ? bytes == q->shape.config.item_bytes : bytes <= q->shape.config.max_message;
}

static int has_reserved(void)
{
    return shmemi_fail(-EBUSY, "this thread has reserved a slot: commit it or give it up first");
}

/* A batch is begun. */
static void begin_batch(const struct shmemi_queue *q, struct shmemi_queue_producer *p)
{
    /* relaxed, both: others only look, whether it is still the same batch */
    atomic_store_explicit(&p->gathered, atomic_load_explicit(&p->gathered, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (q->shape.config.flush_ns)
        shmemi_queue_clock_begin(q);
}

static void gather_item(const struct shmemi_queue *q, struct shmemi_queue_producer *p, const void *item)
{
    size_t bytes = q->shape.config.item_bytes;
    uint32_t count = count_of(p);
    if (bytes == 8)
        memcpy(p->items + 8 * (size_t)count, item, 8);
    else
        memcpy(p->items + bytes * count, item, bytes);
    set_count(p, count + 1);
    if (count == 0)
        begin_batch(q, p);
}

/* The batch is full: it is moved in. The item is pushed, also when that has to be left for later. */
static int batch_full(struct shmemi_queue *q, struct shmemi_queue_producer *p, double seconds)
{
    struct shmemi_queue_wait wait = waiting(seconds);
    int rc = move_in_waiting(q, p, &wait);
    return rc == -EAGAIN || rc == -ETIMEDOUT ? 0 : rc;
}

static int push_item(struct shmemi_queue *q, struct shmemi_queue_producer *p, const void *item, double seconds)
{
    uint32_t batch = q->shape.config.batch;
    struct shmemi_queue_wait wait = waiting(seconds);
    int rc = 0;
    if (batch == 1) {
        int64_t got;
        while ((got = move_items(q, p, item, 1)) == -EAGAIN)
            if ((rc = wait_for_room(q, p, &wait, 1)) < 0)
                return rc;
        return got < 0 ? (int)got : 0;
    }
    if (shmemi_unlikely(count_of(p) >= batch) && (rc = make_place(q, p, &wait)) < 0)
        return rc;
    gather_item(q, p, item);
    return count_of(p) == batch ? batch_full(q, p, seconds) : 0;
}

static int push_message(struct shmemi_queue *q, struct shmemi_queue_producer *p, const void *message, size_t bytes,
                        double seconds)
{
    struct shmemi_queue_wait wait = waiting(seconds);
    uint64_t slots = shmemi_queue_cells(&q->shape, bytes), room = slots * q->shape.slot_bytes;
    bool gathers = room <= q->shape.gather_bytes;
    int rc = 0;
    while (!gathers || p->bytes + room > q->shape.gather_bytes || count_of(p) >= q->shape.config.batch) {
        if ((rc = move_in_waiting(q, p, &wait)) < 0)
            return rc;
        if (gathers)
            continue;
        while ((rc = move_message(q, p, message, bytes)) == -EAGAIN)
            if ((rc = wait_for_room(q, p, &wait, slots)) < 0)
                return rc;
        return rc;
    }
    write_message(q, p->items + p->bytes, message, bytes);
    p->bytes += (uint32_t)room;
    set_count(p, count_of(p) + 1);
    if (count_of(p) == 1)
        begin_batch(q, p);
    return count_of(p) == q->shape.config.batch ? batch_full(q, p, seconds) : 0;
}

/* Copies one item; most have 8 bytes. */
SHMEMI_INLINE void copy_one(char *to, const void *from, size_t bytes)
{
    if (shmemi_likely(bytes == 8))
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* Without the bias: nothing is gathered, so nobody else needs it. */
static bool push_alone(struct shmemi_queue *q, struct shmemi_queue_producer *p, const void *item, size_t bytes)
{
    uint64_t position;
    if (p->reserved || reserve(q, p, 1, 1, &position) != 1)
        return false;
    copy_one(shmemi_queue_item_at(q, position), item, bytes);
    commit(q, p, position, 1, 0);
    count_pushed(p, 1);
    return true;
}

/* The last of a batch: all of it is moved in. False: there is not room for all of it. */
static bool push_last(struct shmemi_queue *q, struct shmemi_queue_producer *p, const void *item, size_t bytes)
{
    uint64_t position;
    uint32_t batch = q->shape.config.batch;
    if (reserve(q, p, batch, batch, &position) != batch)
        return false;
    copy_one(p->items + bytes * (batch - 1), item, bytes);
    copy_in(q, position, p->items, batch);
    commit(q, p, position, batch, 0);
    count_pushed(p, batch);
    set_count(p, 0);
    return true;
}

bool shmemi_queue_push_quickly(struct shmemi_queue *q, const void *item, size_t bytes)
{
    struct shmemi_queue_producer *p = shmemi_queue_last_used(q);
    if (shmemi_unlikely(!p || bytes != q->shape.config.item_bytes || bytes == 0 || !shmemi_queue_exists(q)))
        return false;
    if (q->shape.config.batch == 1)
        return push_alone(q, p, item, bytes);
    shmemi_bias_enter(&p->bias);
    uint32_t count = count_of(p);
    bool usual = count + 1 < q->shape.config.batch && !p->reserved;
    if (shmemi_likely(usual)) {
        copy_one(p->items + bytes * count, item, bytes);
        set_count(p, count + 1);
        if (count == 0)
            begin_batch(q, p);
    } else if (count + 1 == q->shape.config.batch) {
        usual = push_last(q, p, item, bytes);
    }
    shmemi_bias_leave(&p->bias);
    return usual;
}

int shmemi_queue_push(struct shmemi_queue *q, const void *item, size_t bytes, double seconds)
{
    int rc;
    struct shmemi_queue_producer *p = shmemi_queue_producer_of(q, &rc);
    if (shmemi_unlikely(!p || !fits(q, bytes)))
        return p ? bad_length(q, bytes) : rc;
    shmemi_bias_enter(&p->bias);
    if (shmemi_unlikely(p->reserved))
        rc = has_reserved();
    else
        rc = q->shape.config.item_bytes ? push_item(q, p, item, seconds) : push_message(q, p, item, bytes, seconds);
    shmemi_bias_leave(&p->bias);
    return rc;
}

/* ---- pushing many ---- */

/* Items that make up at least a batch are moved in from where they lie. */
static long push_items(struct shmemi_queue *q, struct shmemi_queue_producer *p, const char *items, size_t count,
                       struct shmemi_queue_wait *wait)
{
    size_t done = 0, bytes = q->shape.config.item_bytes;
    if (count_of(p) + count < q->shape.config.batch) {
        for (; done < count; done++)
            gather_item(q, p, items + done * bytes);
        return (long)done;
    }
    long rc = move_in_waiting(q, p, wait);
    while (rc >= 0 && done < count) {
        rc = move_items(q, p, items + done * bytes, count - done);
        if (rc > 0)
            done += (size_t)rc;
        else if (rc == -EAGAIN)
            rc = wait_for_room(q, p, wait, 1);
    }
    return done ? (long)done : rc;
}

static long push_messages(struct shmemi_queue *q, struct shmemi_queue_producer *p, const char *items,
                          const size_t *sizes, size_t count, double seconds)
{
    long rc = 0;
    for (size_t i = 0; i < count; items += sizes[i++]) {
        rc = fits(q, sizes[i]) ? push_message(q, p, items, sizes[i], seconds) : bad_length(q, sizes[i]);
        if (rc < 0)
            return i ? (long)i : rc;
    }
    return (long)count;
}

long shmemi_queue_push_many(struct shmemi_queue *q, const void *items, const size_t *sizes, size_t count,
                            double seconds)
{
    int failed;
    long rc;
    struct shmemi_queue_wait wait = waiting(seconds);
    struct shmemi_queue_producer *p = shmemi_queue_producer_of(q, &failed);
    if (!p)
        return failed;
    if (!q->shape.config.item_bytes && !sizes)
        return shmemi_fail(-EINVAL, "sizes is NULL: the lengths of messages are needed");
    shmemi_bias_enter(&p->bias);
    if (p->reserved)
        rc = has_reserved();
    else if (q->shape.config.item_bytes)
        rc = push_items(q, p, items, count, &wait);
    else
        rc = push_messages(q, p, items, sizes, count, seconds);
    shmemi_bias_leave(&p->bias);
    return rc;
}

/* ---- slots to be written in place ---- */

static int reserve_slots(struct shmemi_queue *q, struct shmemi_queue_producer *p, uint64_t slots, double seconds)
{
    struct shmemi_queue_wait wait = waiting(seconds);
    int rc = move_in_waiting(q, p, &wait);
    while (rc == 0) {
        int64_t got = reserve(q, p, slots, slots, &p->reserved_at);
        if (got > 0) {
            p->reserved = true;
            p->reserved_slots = slots;
            return 0;
        }
        rc = no_slots(got);
        if (rc == -EAGAIN)
            rc = wait_for_room(q, p, &wait, slots);
    }
    return rc;
}

int shmemi_queue_reserve(struct shmemi_queue *q, size_t bytes, void **slot, double seconds)
{
    int rc;
    struct shmemi_queue_producer *p = shmemi_queue_producer_of(q, &rc);
    bool messages = q->shape.config.item_bytes == 0;
    if (!p)
        return rc;
    if (messages ? !fits(q, bytes) : bytes > q->shape.config.item_bytes)
        return bad_length(q, bytes);
    shmemi_bias_enter(&p->bias);
    rc = p->reserved ? has_reserved()
                     : reserve_slots(q, p, messages ? shmemi_queue_cells(&q->shape, bytes) : 1, seconds);
    if (rc == 0)
        *slot = shmemi_queue_item_at(q, p->reserved_at) + (messages ? SHMEMI_QUEUE_HEADER : 0);
    shmemi_bias_leave(&p->bias);
    return rc;
}

static int commit_reserved(struct shmemi_queue *q, struct shmemi_queue_producer *p, size_t bytes)
{
    if (q->shape.config.item_bytes == 0) {
        if (shmemi_queue_cells(&q->shape, bytes) > p->reserved_slots || !fits(q, bytes))
            return shmemi_fail(-EMSGSIZE, "bytes is %zu: more than was reserved", bytes);
        uint64_t header = header_of(bytes, p->reserved_slots);
        memcpy(shmemi_queue_item_at(q, p->reserved_at), &header, sizeof header);
    } else if (!fits(q, bytes)) {
        return bad_length(q, bytes);
    }
    p->reserved = false;
    commit(q, p, p->reserved_at, p->reserved_slots, 0);
    count_pushed(p, 1);
    return 0;
}

void shmemi_queue_give_up(struct shmemi_queue *q, struct shmemi_queue_producer *p)
{
    if (p->reserved)
        commit(q, p, p->reserved_at, p->reserved_slots, SHMEMI_QUEUE_NO_ITEMS);
    p->reserved = false;
}

int shmemi_queue_commit(struct shmemi_queue *q, size_t bytes)
{
    int rc;
    struct shmemi_queue_producer *p = shmemi_queue_producer_of(q, &rc);
    if (!p)
        return rc;
    shmemi_bias_enter(&p->bias);
    rc = p->reserved ? commit_reserved(q, p, bytes) : shmemi_fail(-EINVAL, "this thread has reserved nothing");
    shmemi_bias_leave(&p->bias);
    return rc;
}

int shmemi_queue_abort(struct shmemi_queue *q)
{
    int rc;
    struct shmemi_queue_producer *p = shmemi_queue_producer_of(q, &rc);
    if (!p)
        return rc;
    shmemi_bias_enter(&p->bias);
    rc = p->reserved ? 0 : shmemi_fail(-EINVAL, "this thread has reserved nothing");
    shmemi_queue_give_up(q, p);
    shmemi_bias_leave(&p->bias);
    return rc;
}

int shmemi_queue_end(struct shmemi_queue *q, double seconds)
{
    int rc = shmemi_queue_flush(q, seconds);
    if (rc < 0 && rc != -EPIPE)
        return rc;
    /* [tail] sequentially consistent: pairs with those who are about to sleep, as in commit(). */
    atomic_fetch_or_explicit(&q->shared->tail, SHMEMI_QUEUE_ENDED, memory_order_seq_cst);
    shmemi_queue_wake(&q->shared->for_items, INT32_MAX);
    shmemi_queue_wake(&q->shared->for_room, INT32_MAX);
    return 0;
}
