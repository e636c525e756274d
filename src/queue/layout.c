// SPDX-License-Identifier: Apache-2.0
// Sizes of queues.
#include "layout.h"

#include <errno.h>

#include "base/error.h"

enum { TOGETHER_BATCH = 4, TOGETHER_MOST = 56, MESSAGE_MOST = 65536, BATCH_MOST = 16384, GATHER_MOST = 65536 };

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

static int check(const struct shmemi_queue_config *c)
{
    if (c->capacity == 0 || c->capacity > UINT64_C(1) << (c->item_bytes ? 31 : 37))
        return shmemi_fail(-EINVAL, "capacity is %llu: from 1 to 2^%d are possible", (unsigned long long)c->capacity,
                           c->item_bytes ? 31 : 37);
    if (c->item_bytes > UINT64_C(1) << 40)
        return shmemi_fail(-EINVAL, "item_bytes is %llu: at most 2^40 are possible; push keys or offsets of buffers",
                           (unsigned long long)c->item_bytes);
    if (c->batch == 0 || c->batch > BATCH_MOST || (c->item_bytes && c->batch > c->capacity))
        return shmemi_fail(-EINVAL, "batch is %u: from 1 to the capacity (%llu), and to %d, are possible", c->batch,
                           (unsigned long long)c->capacity, BATCH_MOST);
    if (c->item_bytes && c->max_message)
        return shmemi_fail(-EINVAL, "max_message is %llu, but items have %llu bytes each: it is for item_bytes 0",
                           (unsigned long long)c->max_message, (unsigned long long)c->item_bytes);
    if (c->producers > 1u << 20)
        return shmemi_fail(-EINVAL, "producers is %u: at most 2^20 are possible", c->producers);
    return 0;
}

/* Items: a word and a slot side by side are one line to move; when most words are never written, apart is less. */
static void shape_items(struct shmemi_queue_shape *s)
{
    const struct shmemi_queue_config *c = &s->config;
    s->slot_bytes = c->item_bytes;
    s->capacity = c->capacity;
    s->item_stride = c->item_bytes <= 8 ? power_of_two(c->item_bytes) : shmemi_round_up(c->item_bytes, 8);
    if (c->batch < TOGETHER_BATCH && s->item_stride <= TOGETHER_MOST)
        s->word_stride = s->item_stride = 8 + shmemi_round_up(s->item_stride, 8);
    else
        s->word_stride = 8;
}

/* Messages: slots are large enough for the longest to be reserved at once. */
static int shape_messages(struct shmemi_queue_shape *s)
{
    struct shmemi_queue_config *c = &s->config;
    if (c->max_message == 0)
        c->max_message = c->capacity / 4 < MESSAGE_MOST ? c->capacity / 4 : MESSAGE_MOST;
    if (c->max_message > UINT64_C(1) << 32 || c->max_message + SHMEMI_QUEUE_HEADER > c->capacity)
        return shmemi_fail(-EINVAL, "max_message is %llu: with %d more it must fit into the capacity, %llu bytes",
                           (unsigned long long)c->max_message, SHMEMI_QUEUE_HEADER, (unsigned long long)c->capacity);
    s->slot_bytes = SHMEMI_QUEUE_CELL;
    while (shmemi_queue_cells(s, c->max_message) > SHMEMI_QUEUE_RUN_MOST / 4)
        s->slot_bytes *= 2;
    s->item_stride = s->slot_bytes;
    s->word_stride = 8;
    s->capacity = (c->capacity + s->slot_bytes - 1) / s->slot_bytes;
    return 0;
}

/* Messages of a batch that are longer on average move in earlier. */
static uint64_t gather_bytes(const struct shmemi_queue_shape *s)
{
    const struct shmemi_queue_config *c = &s->config;
    if (c->batch == 1)
        return 0;
    uint64_t most = (c->item_bytes ? c->item_bytes : 4 * s->slot_bytes) * c->batch; /* less than 2^55 */
    return c->item_bytes || most < GATHER_MOST ? most : GATHER_MOST;
}

int shmemi_queue_lay_out(const struct shmemi_queue_config *config, struct shmemi_queue_shape *out)
{
    *out = (struct shmemi_queue_shape){.config = *config};
    int rc = check(config);
    if (rc < 0)
        return rc;
    if (!out->config.producers)
        out->config.producers = SHMEMI_QUEUE_PRODUCERS;
    if (config->item_bytes)
        shape_items(out);
    else if ((rc = shape_messages(out)) < 0)
        return rc;
    out->slots = power_of_two(out->capacity);
    out->gather_bytes = gather_bytes(out);
    out->records_at = sizeof(struct shmemi_queue_shared);
    out->words_at =
        shmemi_round_up(out->records_at + out->config.producers * sizeof(struct shmemi_queue_record), SHMEMI_LINE);
    if (out->word_stride != 8) { /* side by side */
        out->items_at = out->words_at + 8;
        out->bytes = out->words_at + out->slots * out->word_stride;
        return 0;
    }
    out->items_at = shmemi_round_up(out->words_at + out->slots * 8, SHMEMI_LINE);
    /* A message that begins near the end goes on behind it. */
    uint64_t over = config->item_bytes ? 0 : shmemi_queue_cells(out, out->config.max_message) - 1;
    if (__builtin_mul_overflow(out->slots + over, out->item_stride, &out->bytes) || out->bytes > UINT64_C(1) << 46)
        return shmemi_fail(-EINVAL, "the queue would have more than 2^46 bytes");
    out->bytes += out->items_at;
    return 0;
}
