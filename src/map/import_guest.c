// SPDX-License-Identifier: Apache-2.0
// Guests: a process that imported keys of a share serves them on, as far as they were granted to it.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "import_table.h"
#include "service.h"
#include "share_ask.h"
#include "share_serve.h"
#include "wire.h"

struct shmemi_guest {
    struct shmemi_guest *next;
    uint64_t segments; /* under the lock of imports */
    struct shmemi_server server;
    struct shmemi_service *service;
};

/* The process's, as the imports are: one guest for each share. */
static struct {
    pthread_mutex_t lock; /* taken before the lock of imports, and by no answer */
    struct shmemi_guest *all;
} guests = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- answers --------------------------------------------------------------------------------------------------------
 */

static int look_up(void *context, const struct shmemi_key *key, struct shmemi_key_record *out)
{
    (void)context;
    shmemi_imports_lock();
    const struct shmemi_known *k = shmemi_known_best(key);
    int rc = !k ? -ENOENT : k->revoked ? -EKEYREVOKED : 0;
    if (rc == 0)
        *out = k->record;
    shmemi_imports_unlock();
    return rc == -EKEYREVOKED ? shmemi_fail(rc, "the key was revoked") : rc;
}

/* A copy of the descriptor, because the import may end before it is sent. */
static int segment(void *context, uint64_t number, struct shmemi_share_segment *out)
{
    const struct shmemi_guest *g = context;
    shmemi_imports_lock();
    const struct shmemi_imported *s = shmemi_imported_find(g->server.number, g->server.uid, number, 0);
    int rc = s && s->info.fd >= 0 ? 0 : -ENOENT;
    if (rc == 0) {
        *out = s->info;
        out->fd = fcntl(s->info.fd, F_DUPFD_CLOEXEC, 0);
        rc = out->fd < 0 ? -ENOENT : 0;
    }
    shmemi_imports_unlock();
    return rc;
}

static int revoked(void *context, const struct shmemi_key *key)
{
    (void)context;
    shmemi_imports_lock();
    bool any = shmemi_known_revoke(key);
    shmemi_imports_unlock();
    return any ? 0 : -ENOENT;
}

static void answer(void *context, int socket)
{
    const struct shmemi_guest *g = context;
    shmemi_share_serve(&g->server, socket);
}

/* --- begin and end --------------------------------------------------------------------------------------------------
 */

static struct shmemi_guest *find(uint64_t share, uint32_t uid)
{
    struct shmemi_guest *g = guests.all;
    while (g && (g->server.number != share || g->server.uid != uid))
        g = g->next;
    return g;
}

/* At the first free number. */
static int listen_for(uint64_t share, uint32_t uid, int *out)
{
    char name[SHMEMI_SHARE_NAME];
    int rc = -EADDRINUSE;
    shmemi_share_name(share, name);
    for (int i = 0; rc == -EADDRINUSE && i < SHMEMI_GUESTS_MOST; i++)
        rc = shmemi_wire_listen_any(uid, name, SHMEMI_GUESTS + i, out);
    return rc;
}

static int begin(uint64_t share, uint32_t uid, struct shmemi_guest **out)
{
    struct shmemi_guest *g = calloc(1, sizeof *g);
    if (!g)
        return shmemi_fail(-ENOMEM, "no memory for a guest");
    g->server = (struct shmemi_server){.number = share,
                                       .uid = uid,
                                       .guest = true,
                                       .look_up = look_up,
                                       .segment = segment,
                                       .revoked = revoked,
                                       .context = g};
    int listener = -1, rc = listen_for(share, uid, &listener);
    if (rc == 0 && (rc = shmemi_service_listen(listener, shmemi_wire_accept_any, answer, g, &g->service)) < 0)
        shmemi_wire_close_listener(listener);
    if (rc < 0)
        free(g);
    else
        *out = g;
    return rc;
}

static void attach(struct shmemi_guest *g, uint64_t share, uint32_t uid, uint64_t number)
{
    shmemi_imports_lock();
    struct shmemi_imported *s = shmemi_imported_find(share, uid, number, 0);
    if (s && s->info.fd >= 0 && !s->guest) {
        s->guest = g;
        g->segments++;
    }
    shmemi_imports_unlock();
}

void shmemi_guest_serve(uint64_t share, uint32_t uid, uint64_t number)
{
    pthread_mutex_lock(&guests.lock);
    struct shmemi_guest *g = find(share, uid);
    int rc = g ? 0 : begin(share, uid, &g);
    if (rc == 0) {
        if (g != find(share, uid)) {
            g->next = guests.all;
            guests.all = g;
        }
        attach(g, share, uid, number);
    } else
        shmemi_debug("map", "a key is not served on: %s", shmemi_last_error());
    pthread_mutex_unlock(&guests.lock);
}

void shmemi_guest_lost(struct shmemi_guest *g)
{
    g->segments--;
}

/* Takes the first that has no segments out of the list. */
static struct shmemi_guest *take_unused(void)
{
    shmemi_imports_lock();
    struct shmemi_guest **at = &guests.all;
    while (*at && (*at)->segments)
        at = &(*at)->next;
    struct shmemi_guest *g = *at;
    if (g)
        *at = g->next;
    shmemi_imports_unlock();
    return g;
}

void shmemi_guest_end_unused(void)
{
    pthread_mutex_lock(&guests.lock);
    for (struct shmemi_guest *g; (g = take_unused());) {
        shmemi_service_stop(g->service);
        free(g);
    }
    pthread_mutex_unlock(&guests.lock);
}

void shmemi_guests_before_fork(void)
{
    pthread_mutex_lock(&guests.lock);
}

void shmemi_guests_after_fork(void)
{
    pthread_mutex_unlock(&guests.lock);
}

void shmemi_guests_forget(void)
{
    for (struct shmemi_guest *g = guests.all, *next; g; g = next) {
        next = g->next;
        shmemi_service_forget(g->service);
        free(g);
    }
    guests.all = NULL;
}
