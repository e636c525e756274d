// SPDX-License-Identifier: Apache-2.0
// Sleeping on a word. The word itself cannot be the futex: that has 32 bits.
#include "word.h"

#include <errno.h>

#include "base/error.h"
#include "base/futex.h"

uint64_t shmemi_word_load(const struct shmemi_word *word, unsigned width)
{
    /* [word] sequentially consistent, as are all its atomics: programs may build anything on them. */
    return width == 8
               ? atomic_load_explicit(&word->value, memory_order_seq_cst)
               : atomic_load_explicit((const _Atomic uint32_t *)(const void *)&word->value, memory_order_seq_cst);
}

/* [turn] sequentially consistent: a sleeper sets WAITED and then looks at the value; who changes the value and then
   says wake looks at WAITED. One sees the other. */
static bool change_turn(struct shmemi_word *word, uint32_t seen, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&word->turn, &seen, to, memory_order_seq_cst, memory_order_relaxed);
}

static int wait_slowly(struct shmemi_waiting *w, struct shmemi_word *word, unsigned width, uint64_t value,
                       int64_t deadline)
{
    do
        if (shmemi_word_load(word, width) != value)
            return 0;
    while (shmemi_waiting_spin(w));
    for (;;) {
        uint32_t turn = atomic_load_explicit(&word->turn, memory_order_seq_cst); /* [turn] */
        int rc = shmemi_waiting_check(w);
        if (rc < 0)
            return rc;
        if (!(turn & SHMEMI_WORD_WAITED) && !change_turn(word, turn, turn | SHMEMI_WORD_WAITED))
            continue;
        if (shmemi_word_load(word, width) != value)
            return 0;
        rc = shmemi_waiting_sleep(w, &word->turn, turn | SHMEMI_WORD_WAITED, 0, NULL, deadline);
        if (rc < 0)
            return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: the word still has the value") : rc;
    }
}

int shmemi_word_wait(const struct shmemi_site *site, struct shmemi_word *word, unsigned width, uint64_t value,
                     int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(site, &word->sleepers);
    return shmemi_waiting_end(&w, wait_slowly(&w, word, width, value, deadline));
}

int shmemi_word_wake(struct shmemi_word *word, int count)
{
    uint32_t seen = atomic_load_explicit(&word->turn, memory_order_seq_cst); /* [turn] */
    for (;; seen = atomic_load_explicit(&word->turn, memory_order_seq_cst)) {
        if (!(seen & SHMEMI_WORD_WAITED))
            return 0;
        if (change_turn(word, seen, seen + 2)) /* WAITED stays: not all may be woken */
            break;
    }
    int woken = shmemi_futex_wake(&word->turn, count);
    if (woken < count)
        change_turn(word, seen + 2, (seen + 2) & ~SHMEMI_WORD_WAITED);
    return woken;
}

int shmemi_word_retire(const struct shmemi_site *site, struct shmemi_word *word)
{
    return shmemi_sleepers_any(site->domain, &word->sleepers) ? shmemi_fail(-EBUSY, "somebody waits for it") : 0;
}
