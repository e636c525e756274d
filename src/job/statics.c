// SPDX-License-Identifier: Apache-2.0
// Moving static data before main, and mapping the static data of peers.
#include "statics.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "answer.h"
#include "base/settings.h"
#include "hal/hal.h"
#include "map/inplace.h"
#include "parts.h"
#include "shmemx.h"

/* The process's own, like its memory map, and not a job's: written before main, and once when the engine is made. */
static struct shmemi_inplace_static moved;
static int move_rc;
static char move_error[256];
static struct shmemi_inplace *engine;
static pthread_mutex_t engine_lock = PTHREAD_MUTEX_INITIALIZER;

void shmemi_statics_range(char **begin, size_t *bytes)
{
    *begin = (char *)(uintptr_t)moved.low; /* NOLINT: an address that came from the linker */
    *bytes = moved.high - moved.low;
}

/* Called before pages are taken, so that a limit is met as an error. */
static int ask_room(void *context, size_t bytes)
{
    (void)context;
    return shmemi_host_may_take(bytes, NULL);
}

int shmemi_inplace_engine(struct shmemi_inplace **out)
{
    pthread_mutex_lock(&engine_lock);
    int rc = 0;
    if (!engine) {
        const char *guard = shmemi_setting("SHMEM_GUARD"); /* none, user: pretend that userfaultfd offers less */
        struct shmemi_inplace_config config = {
            .reserve = ask_room,
            .statics = &moved,
            .without_userfaultfd = guard && guard[0] == 'n',
            .user_mode_only = guard && guard[0] == 'u',
        };
        rc = shmemi_inplace_create(&config, &engine);
    }
    *out = engine;
    pthread_mutex_unlock(&engine_lock);
    return rc;
}

/* The engine is made at once, because its fork handlers give a child its own copy of what was moved. */
void shmemx_static_data(char *begin, char *end)
{
    struct shmemi_inplace_static result = {0};
    struct shmemi_inplace *ignored;
    move_rc = shmemi_inplace_move_static((uintptr_t)begin, (uintptr_t)end, &result);
    moved = result; /* the range may have held this variable: only now is it safe to write */
    if (move_rc == 0 && moved.moved)
        move_rc = shmemi_inplace_engine(&ignored);
    if (move_rc < 0)
        snprintf(move_error, sizeof move_error, "%s", shmemi_last_error());
}

static int map_peer(int pe, char **out)
{
    const struct shmemi_job_parts *parts = shmemi_current->parts;
    struct shmemi_fd_answer answer;
    int rc = shmemi_ask_fd(pe, SHMEMI_DESCRIPTOR_MIXED, &answer);
    if (rc < 0)
        return rc;
    void *at = NULL;
    if (answer.static_bytes != parts->static_bytes)
        rc = shmemi_fail(-EINVAL,
                         "PE %d has %zu bytes of static data, but PE %d has %zu: symmetric static data needs the same "
                         "program everywhere",
                         pe, (size_t)answer.static_bytes, shmemi_current->me, parts->static_bytes);
    size_t end;
    if (rc == 0 && shmemi_add_overflows(answer.static_offset, answer.static_bytes, &end))
        rc = shmemi_fail(-EPROTO, "PE %d sent an impossible range", pe);
    if (rc == 0)
        rc = shmemi_hal_host.check(answer.fd, end);
    if (rc == 0)
        rc = shmemi_hal_host.map(answer.fd, answer.static_offset, answer.static_bytes, SHMEMI_READ_WRITE, NULL, &at);
    close(answer.fd);
    *out = at;
    return rc < 0 ? shmemi_fail_in(rc, "static data of PE %d", pe) : 0;
}

int shmemi_statics_view(int pe, char **out)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    int rc = move_rc < 0 ? shmemi_fail(move_rc, "static data could not be made symmetric: %s", move_error) : 0;
    if (rc < 0)
        return rc;
    /* [view] acquire pairs with the release below: the mapping is there before the pointer. */
    char *view = __atomic_load_n(&parts->static_views[pe], __ATOMIC_ACQUIRE);
    if (!view) {
        pthread_mutex_lock(&parts->lock);
        view = parts->static_views[pe];
        if (!view && (rc = map_peer(pe, &view)) == 0)
            __atomic_store_n(&parts->static_views[pe], view, __ATOMIC_RELEASE); /* [view] */
        pthread_mutex_unlock(&parts->lock);
    }
    *out = view;
    return rc;
}
