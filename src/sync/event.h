// SPDX-License-Identifier: Apache-2.0
// Events: set until cleared; or, with auto-reset, set until one waiter has seen it.
#ifndef SHMEMI_SYNC_EVENT_H
#define SHMEMI_SYNC_EVENT_H

#include "base/compiler.h"
#include "waiting.h"

#define SHMEMI_EVENT_SET UINT32_C(1)
#define SHMEMI_EVENT_WAITED (UINT32_C(1) << 31)

/* In shared memory. */
struct shmemi_event {
    _Atomic uint32_t word; /* SET; or, when it is not, WAITED: somebody sleeps on it */
    uint32_t automatic;
    char pad[SHMEMI_LINE - 8 - sizeof(struct shmemi_sleepers)];
    struct shmemi_sleepers sleepers;
};

void shmemi_event_set(struct shmemi_event *event);
void shmemi_event_clear(struct shmemi_event *event);
/* Whether it was set; an automatic one is clear then. */
bool shmemi_event_take(struct shmemi_event *event);
bool shmemi_event_look(const struct shmemi_event *event);
int shmemi_event_wait(const struct shmemi_site *site, struct shmemi_event *event, int64_t deadline);
int shmemi_event_retire(const struct shmemi_site *site, struct shmemi_event *event);

#endif
