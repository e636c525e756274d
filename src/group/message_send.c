// SPDX-License-Identifier: Apache-2.0
// The sender's side. A short message lies in its letter, and the send is over with that. A longer one waits until the
// receiver has taken the letter, and then goes through one of the sender's windows, half by half. Only what was taken
// has a window, so every window is being emptied, and those who wait for one get it.
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "message.h"

/* A free letter for that rank: one of those for all, or the one that is kept for it. */
static struct shmemi_pg_letter *free_letter(const struct shmemi_pg *g, int to)
{
    struct shmemi_pg_letter *letters = shmemi_pg_letters(g, g->rank);
    for (int i = 0; i <= SHMEMI_PG_LETTERS; i++) {
        struct shmemi_pg_letter *letter = &letters[i < SHMEMI_PG_LETTERS ? i : SHMEMI_PG_LETTERS + to];
        /* [letter] acquire: pairs with the release that freed it: what the receiver read, it has. */
        if (SHMEMI_PG_LETTER_STATE(shmemi_pg_letter_word(letter)) == SHMEMI_PG_FREE)
            return letter;
    }
    return NULL;
}

/* Messages to one rank keep their order. */
static bool is_next(const struct shmemi_pg_request *r)
{
    for (const struct shmemi_pg_request *other = r->g->mail->first; other && other != r; other = other->next)
        if (other->is_send && other->state == SHMEMI_PG_WAITING && other->peer == r->peer)
            return false;
    return true;
}

static bool post(struct shmemi_pg_request *r)
{
    struct shmemi_pg *g = r->g;
    struct shmemi_pg_letter *letter = is_next(r) ? free_letter(g, r->peer) : NULL;
    if (!letter)
        return false;
    letter->type = r->type;
    letter->bytes = r->bytes;
    atomic_store_explicit(&letter->to, (uint32_t)r->peer, memory_order_relaxed); /* the release below orders these */
    atomic_store_explicit(&letter->tag, r->tag, memory_order_relaxed);
    atomic_store_explicit(&letter->order, g->mail->order++, memory_order_relaxed);
    atomic_store_explicit(&letter->window, 0, memory_order_relaxed);
    atomic_store_explicit(&letter->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&letter->drained, 0, memory_order_relaxed);
    bool eager = r->bytes <= SHMEMI_PG_EAGER;
    if (eager && r->bytes)
        memcpy(letter->data, r->x, r->bytes);
    r->posted = (shmemi_pg_letter_word(letter) & ~3u) + 4 + SHMEMI_PG_POSTED;
    /* [letter] release: pairs with the acquire of the receiver. */
    atomic_store_explicit(&letter->state, r->posted, memory_order_release);
    shmemi_pg_notify(g, r->peer);
    r->letter = letter;
    r->state = SHMEMI_PG_MOVING;
    if (eager)
        shmemi_pg_over(r, 0);
    return true;
}

static bool take_window(struct shmemi_pg_request *r)
{
    struct shmemi_pg_mail *mail = r->g->mail;
    for (unsigned i = 0; i < SHMEMI_PG_WINDOWS; i++)
        if (!(mail->windows & 1u << i)) {
            mail->windows |= 1u << i;
            /* [half] release: pairs with the acquire in drain(). */
            atomic_store_explicit(&r->letter->window, i + 1, memory_order_release);
            return true;
        }
    return false;
}

static void finish(struct shmemi_pg_request *r, int rc)
{
    uint32_t window = atomic_load_explicit(&r->letter->window, memory_order_relaxed); /* our own */
    if (window >= 1 && window <= SHMEMI_PG_WINDOWS)
        r->g->mail->windows &= ~(1u << (window - 1));
    shmemi_pg_set_letter(r->letter, SHMEMI_PG_FREE);
    shmemi_pg_over(r, rc);
}

static bool fill(struct shmemi_pg_request *r)
{
    struct shmemi_pg_letter *letter = r->letter;
    uint32_t all = shmemi_pg_halves(r->bytes);
    uint32_t window = atomic_load_explicit(&letter->window, memory_order_relaxed); /* our own, as below */
    bool moved = false;
    if (!window && !take_window(r))
        return false;
    window = atomic_load_explicit(&letter->window, memory_order_relaxed) - 1;
    if (window >= SHMEMI_PG_WINDOWS)
        window = 0; /* somebody wrote there: what is sent is lost, and nothing else */
    /* [half] acquire: pairs with the release of the receiver: a half that it has drained may be filled again. */
    uint32_t drained = atomic_load_explicit(&letter->drained, memory_order_acquire);
    while (r->halves < all && r->halves - drained < 2) {
        size_t at = (size_t)r->halves * SHMEMI_PG_HALF, left = r->bytes - at;
        memcpy(shmemi_pg_half(r->g, r->g->rank, window, r->halves), r->x + at,
               left < SHMEMI_PG_HALF ? left : SHMEMI_PG_HALF);
        /* [half] release: pairs with the acquire of the receiver. */
        atomic_store_explicit(&letter->filled, ++r->halves, memory_order_release);
        shmemi_pg_notify(r->g, r->peer);
        moved = true;
    }
    if (drained == all && r->halves == all) {
        finish(r, 0);
        return true;
    }
    return moved;
}

bool shmemi_pg_send_on(struct shmemi_pg_request *r)
{
    if (r->state == SHMEMI_PG_WAITING)
        return post(r);
    uint32_t state = SHMEMI_PG_LETTER_STATE(shmemi_pg_letter_word(r->letter));
    if (state == SHMEMI_PG_TAKEN)
        return fill(r);
    if (state == SHMEMI_PG_POSTED)
        return false;
    char text[SHMEMI_PG_CALL_TEXT];
    finish(r, shmemi_fail(-EINVAL, "%s: rank %d received something of another size or type",
                          shmemi_pg_request_text(r, text), r->peer));
    return true;
}

bool shmemi_pg_retract(struct shmemi_pg_request *r)
{
    uint32_t posted = r->posted;
    if (r->state == SHMEMI_PG_WAITING)
        return true;
    /* [letter] relaxed: nobody has read it */
    return r->is_send && atomic_compare_exchange_strong_explicit(&r->letter->state, &posted, posted & ~3u,
                                                                 memory_order_relaxed, memory_order_relaxed);
}
