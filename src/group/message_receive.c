// SPDX-License-Identifier: Apache-2.0
// The receiver's side: finds the oldest letter that fits, and takes what comes with it.
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "message.h"

/* An older receive that this message might be for is not passed. */
static bool is_next(const struct shmemi_pg_request *r)
{
    for (const struct shmemi_pg_request *other = r->g->mail->first; other && other != r; other = other->next)
        if (!other->is_send && other->state == SHMEMI_PG_WAITING && other->tag == r->tag &&
            (other->peer == r->peer || other->peer < 0 || r->peer < 0))
            return false;
    return true;
}

/* The oldest letter of a rank with that tag for this one, or NULL; *word: its state. */
static struct shmemi_pg_letter *oldest(const struct shmemi_pg *g, int from, int tag, uint32_t *word)
{
    struct shmemi_pg_letter *letters = shmemi_pg_letters(g, from), *found = NULL;
    uint64_t first = UINT64_MAX;
    for (int i = 0; i < SHMEMI_PG_LETTERS + 1; i++) {
        struct shmemi_pg_letter *letter = &letters[i < SHMEMI_PG_LETTERS ? i : SHMEMI_PG_LETTERS + g->rank];
        uint32_t seen = shmemi_pg_letter_word(letter);
        /* relaxed: ordered by the acquire above; the exchange in accept() finds out whether they still held */
        uint64_t order = atomic_load_explicit(&letter->order, memory_order_relaxed);
        if (SHMEMI_PG_LETTER_STATE(seen) == SHMEMI_PG_POSTED && order < first &&
            atomic_load_explicit(&letter->to, memory_order_relaxed) == (uint32_t)g->rank &&
            atomic_load_explicit(&letter->tag, memory_order_relaxed) == tag) {
            found = letter;
            first = order;
            *word = seen;
        }
    }
    return found;
}

static void refuse(struct shmemi_pg_request *r, struct shmemi_pg_letter *letter, int from, size_t bytes, unsigned type)
{
    char text[SHMEMI_PG_CALL_TEXT];
    bool eager = bytes <= SHMEMI_PG_EAGER;
    struct shmemi_pg_request sent = {
        .g = r->g, .is_send = true, .peer = r->g->rank, .tag = r->tag, .bytes = bytes, .type = type};
    char other[SHMEMI_PG_CALL_TEXT];
    /* [letter] a short message is over for its sender, so its letter is free again */
    shmemi_pg_set_letter(letter, eager ? SHMEMI_PG_FREE : SHMEMI_PG_REFUSED);
    shmemi_pg_notify(r->g, from);
    shmemi_pg_over(r, shmemi_fail(-EINVAL, "rank %d calls %s, but rank %d called %s", r->g->rank,
                                  shmemi_pg_request_text(r, text), from, shmemi_pg_request_text(&sent, other)));
}

/* What the letter says is read once: what is checked is what is used. */
static bool accept(struct shmemi_pg_request *r, struct shmemi_pg_letter *letter, uint32_t word, int from)
{
    /* [letter] acquire: the sender may just have taken it back. */
    if (!atomic_compare_exchange_strong_explicit(&letter->state, &word, (word & ~3u) | SHMEMI_PG_TAKEN,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    size_t bytes = *(volatile uint64_t *)&letter->bytes;
    unsigned type = *(volatile uint32_t *)&letter->type;
    r->source = from;
    if (bytes != r->bytes || type != r->type) {
        refuse(r, letter, from, bytes, type);
        return true;
    }
    r->letter = letter;
    r->state = SHMEMI_PG_MOVING;
    if (bytes <= SHMEMI_PG_EAGER) {
        if (bytes)
            memcpy(r->x, letter->data, bytes);
        shmemi_pg_set_letter(letter, SHMEMI_PG_FREE);
        shmemi_pg_over(r, 0);
    }
    shmemi_pg_notify(r->g, from); /* it may wait for a letter, or for this one to be taken */
    return true;
}

static bool find(struct shmemi_pg_request *r)
{
    struct shmemi_pg *g = r->g;
    if (!is_next(r))
        return false;
    for (int i = 0; i < g->ranks; i++) {
        int from = r->peer >= 0 ? r->peer : (int)((g->mail->next_source + (unsigned)i) % (unsigned)g->ranks);
        uint32_t word = 0;
        struct shmemi_pg_letter *letter = oldest(g, from, r->tag, &word);
        if (letter && accept(r, letter, word, from)) {
            g->mail->next_source = (unsigned)from + 1;
            return true;
        }
        if (r->peer >= 0)
            break;
    }
    return false;
}

static bool drain(struct shmemi_pg_request *r)
{
    struct shmemi_pg_letter *letter = r->letter;
    uint32_t all = shmemi_pg_halves(r->bytes);
    bool moved = false;
    /* [half] acquire: pairs with the release in fill(). */
    uint32_t filled = atomic_load_explicit(&letter->filled, memory_order_acquire);
    uint32_t window = atomic_load_explicit(&letter->window, memory_order_acquire) - 1; /* [half] */
    while (r->halves < all && (int32_t)(filled - r->halves) > 0 && window < SHMEMI_PG_WINDOWS) {
        size_t at = (size_t)r->halves * SHMEMI_PG_HALF, left = r->bytes - at;
        memcpy(r->x + at, shmemi_pg_half(r->g, r->source, window, r->halves),
               left < SHMEMI_PG_HALF ? left : SHMEMI_PG_HALF);
        r->halves++;
        /* [half] release: pairs with the acquire in fill(). After the last one the letter is the sender's. */
        atomic_store_explicit(&letter->drained, r->halves, memory_order_release);
        shmemi_pg_notify(r->g, r->source);
        moved = true;
    }
    if (r->halves == all)
        shmemi_pg_over(r, 0);
    return moved;
}

bool shmemi_pg_receive_on(struct shmemi_pg_request *r)
{
    return r->state == SHMEMI_PG_WAITING ? find(r) : drain(r);
}
