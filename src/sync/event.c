// SPDX-License-Identifier: Apache-2.0
// Events. Setting one is one exchange; it wakes all who sleep, or one of them with auto-reset, who sets WAITED again
// when it clears the event, for there may be more.
#include "event.h"

#include <errno.h>
#include <limits.h>

#include "base/error.h"
#include "base/futex.h"

static bool change(struct shmemi_event *event, uint32_t seen, uint32_t to)
{
    /* [event] acquire: pairs with the release in shmemi_event_set(): what came before it was set. */
    return atomic_compare_exchange_strong_explicit(&event->word, &seen, to, memory_order_acquire, memory_order_relaxed);
}

void shmemi_event_set(struct shmemi_event *event)
{
    /* [event] release: pairs with the acquires in change() and take(). */
    if (atomic_exchange_explicit(&event->word, SHMEMI_EVENT_SET, memory_order_release) & SHMEMI_EVENT_WAITED)
        shmemi_futex_wake(&event->word, event->automatic ? 1 : INT_MAX);
}

void shmemi_event_clear(struct shmemi_event *event)
{
    atomic_fetch_and_explicit(&event->word, ~SHMEMI_EVENT_SET, memory_order_relaxed); /* orders nothing */
}

bool shmemi_event_look(const struct shmemi_event *event)
{
    return atomic_load_explicit(&event->word, memory_order_acquire) & SHMEMI_EVENT_SET; /* [event] */
}

/* left: what an automatic one becomes. */
static bool take(struct shmemi_event *event, uint32_t left)
{
    uint32_t seen = atomic_load_explicit(&event->word, memory_order_acquire); /* [event] */
    if (!(seen & SHMEMI_EVENT_SET))
        return false;
    return !event->automatic || change(event, seen, left);
}

bool shmemi_event_take(struct shmemi_event *event)
{
    return take(event, 0);
}

static int wait_slowly(struct shmemi_waiting *w, struct shmemi_event *event, int64_t deadline)
{
    do
        if (take(event, 0))
            return 0;
    while (shmemi_waiting_spin(w));
    for (;;) {
        int rc = shmemi_waiting_check(w);
        if (rc < 0)
            return rc;
        if (take(event, SHMEMI_EVENT_WAITED))
            return 0;
        uint32_t seen = atomic_load_explicit(&event->word, memory_order_relaxed); /* the kernel compares again */
        if (seen & SHMEMI_EVENT_SET || (seen != SHMEMI_EVENT_WAITED && !change(event, seen, SHMEMI_EVENT_WAITED)))
            continue;
        rc = shmemi_waiting_sleep(w, &event->word, SHMEMI_EVENT_WAITED, 0, NULL, deadline);
        if (rc < 0)
            return rc == -ETIMEDOUT ? shmemi_fail(rc, "timed out: it was not set") : rc;
    }
}

int shmemi_event_wait(const struct shmemi_site *site, struct shmemi_event *event, int64_t deadline)
{
    struct shmemi_waiting w = SHMEMI_WAITING(site, &event->sleepers);
    return shmemi_waiting_end(&w, wait_slowly(&w, event, deadline));
}

int shmemi_event_retire(const struct shmemi_site *site, struct shmemi_event *event)
{
    return shmemi_sleepers_any(site->domain, &event->sleepers) ? shmemi_fail(-EBUSY, "somebody waits for it") : 0;
}
