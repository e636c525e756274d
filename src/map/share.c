// SPDX-License-Identifier: Apache-2.0
// Shares that this process serves as a member.
#include "share.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/hash.h"
#include "fork_order.h"
#include "import.h"
#include "service.h"
#include "share_ask.h"
#include "share_internal.h"
#include "share_keys.h"
#include "share_serve.h"
#include "wire.h"

struct shmemi_share {
    struct shmemi_share *next;
    struct shmemi_share_config config;
    uint32_t uid;
    struct shmemi_keys keys;
    struct shmemi_server server;
    pthread_mutex_t lock; /* of adding and revoking keys */
    struct shmemi_service *service;
    _Atomic uint32_t holds; /* how many imports are using it at this moment; and CLOSING */
    uint64_t serial;        /* of this opening, in this process */
    bool dead;              /* of a parent process */
};

enum { BUCKETS = 64, CLOSES_WITHIN = 100000000, DIES_WITHIN = 1000000000 }; /* ns */
#define CLOSING 0x80000000u

/* The process's, not a job's: importing looks here first, whoever opened the share. */
static struct {
    pthread_mutex_t life; /* while a share begins or ends: a forked child knows of each listener; held while
                             the service thread is waited for, so it is taken first (fork_order.h) */
    pthread_mutex_t lock; /* of the list */
    struct shmemi_share *buckets[BUCKETS];
    uint64_t opened; /* how many were, under life */
} shares = {.life = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

static struct shmemi_share **bucket_of(uint64_t number)
{
    return &shares.buckets[number % BUCKETS];
}

/* --- fork: the child serves nothing of its parent's ----------------------------------------------------------------
 */

void shmemi_shares_before_fork(void)
{
    pthread_mutex_lock(&shares.life);
}

void shmemi_shares_after_fork(void)
{
    pthread_mutex_unlock(&shares.life);
}

void shmemi_shares_lock(void)
{
    pthread_mutex_lock(&shares.lock);
}

void shmemi_shares_unlock(void)
{
    pthread_mutex_unlock(&shares.lock);
}

void shmemi_shares_forget(void)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct shmemi_share *s = shares.buckets[i]; s; s = s->next) {
            shmemi_service_forget(s->service);
            s->service = NULL;
            s->dead = true;
        }
        shares.buckets[i] = NULL;
    }
}

/* --- serving -------------------------------------------------------------------------------------------------------
 */

static void answer(void *context, int socket)
{
    const struct shmemi_share *share = context;
    shmemi_share_serve(&share->server, socket);
}

/* [taken] sequentially consistent, as where it is read, in share_keys.c: a key that is revoked before this is seen is
   not handed out any more, but for an answer that is just being sent. */
static void taken(void *context, uint32_t index)
{
    struct shmemi_share *s = context;
    if (index < s->config.count)
        __atomic_fetch_or(&s->config.keys[index].flags, SHMEMI_KEY_TAKEN, __ATOMIC_SEQ_CST);
}

/* A guest may have what no member has any more. */
static int look_up(void *context, const struct shmemi_key *key, struct shmemi_key_record *out)
{
    int rc = shmemi_share_look_up(context, key, out);
    return rc == 0 && shmemi_key_is_orphaned(out) ? -ENOENT : rc;
}

static int segment(void *context, uint64_t number, struct shmemi_share_segment *out)
{
    const struct shmemi_share *share = context;
    return share->config.segment ? share->config.segment(share->config.context, number, out) : -ENOENT;
}

static int memory(void *context, uint64_t number, uint64_t offset, uint64_t bytes, void **out)
{
    const struct shmemi_share *share = context;
    return share->config.memory ? share->config.memory(share->config.context, number, offset, bytes, out) : -ENOENT;
}

static int join(void *context, int fds[2])
{
    const struct shmemi_share *share = context;
    return share->config.join ? share->config.join(share->config.context, fds) : -ENOENT;
}

static int ticket(void *context, uint64_t number, int32_t process, struct shmemi_device_ticket *out, int *fd)
{
    const struct shmemi_share *share = context;
    return share->config.ticket ? share->config.ticket(share->config.context, number, process, out, fd) : -ENOENT;
}

static struct shmemi_share *new_share(const struct shmemi_share_config *config)
{
    struct shmemi_share *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->config = *config;
    s->uid = geteuid();
    s->keys = (struct shmemi_keys){.records = config->keys,
                                   .count = config->count,
                                   .slot = config->slot,
                                   .reserve = config->reserve,
                                   .context = config->context};
    s->server = (struct shmemi_server){.number = config->number,
                                       .uid = s->uid,
                                       .look_up = look_up,
                                       .taken = taken,
                                       .segment = segment,
                                       .join = join,
                                       .memory = memory,
                                       .ticket = ticket,
                                       .context = s};
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static void free_share(struct shmemi_share *s)
{
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static int listen_for(struct shmemi_share *s)
{
    char name[SHMEMI_SHARE_NAME];
    int listener = -1;
    shmemi_share_name(s->config.number, name);
    int rc = shmemi_wire_listen_any(s->uid, name, (int)s->config.slot, &listener);
    if (rc < 0)
        return rc;
    rc = shmemi_service_listen(listener, shmemi_wire_accept_any, answer, s, &s->service);
    if (rc < 0)
        shmemi_wire_close_listener(listener);
    return rc;
}

/* After -EADDRINUSE: until when it may be somebody who is dying. Somebody of another user is a squatter. */
static int64_t patience(const struct shmemi_share *s, int64_t begin)
{
    char name[SHMEMI_SHARE_NAME];
    uint32_t holder;
    shmemi_share_name(s->config.number, name);
    if (shmemi_wire_holder(s->uid, name, (int)s->config.slot, &holder) < 0)
        return begin + CLOSES_WITHIN;
    if (holder == s->uid)
        return begin + DIES_WITHIN;
    shmemi_fail(-EADDRINUSE, "a process of user %u holds socket %u of this share, which is user %u's", (unsigned)holder,
                s->config.slot, (unsigned)s->uid);
    return 0;
}

static int open_once(struct shmemi_share *s)
{
    pthread_mutex_lock(&shares.life);
    int rc = listen_for(s);
    if (rc == 0) {
        s->serial = ++shares.opened;
        pthread_mutex_lock(&shares.lock);
        s->next = *bucket_of(s->config.number);
        *bucket_of(s->config.number) = s;
        pthread_mutex_unlock(&shares.lock);
    }
    pthread_mutex_unlock(&shares.life);
    return rc;
}

int shmemi_share_open(const struct shmemi_share_config *config, struct shmemi_share **out)
{
    SHMEMI_ASSERT(config->slot < SHMEMI_SHARE_MEMBERS);
    int rc = shmemi_fork_watch(NULL);
    if (rc < 0)
        return rc;
    struct shmemi_share *s = new_share(config);
    if (!s)
        return shmemi_fail(-ENOMEM, "no memory for a share");
    int64_t begin = shmemi_now();
    while ((rc = open_once(s)) == -EADDRINUSE && shmemi_now() < patience(s, begin))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (rc < 0)
        free_share(s);
    else
        *out = s;
    return rc;
}

static void unlist(struct shmemi_share *gone)
{
    pthread_mutex_lock(&shares.lock);
    struct shmemi_share **at = bucket_of(gone->config.number);
    while (*at && *at != gone)
        at = &(*at)->next;
    if (*at)
        *at = gone->next;
    pthread_mutex_unlock(&shares.lock);
}

static void wait_for_holds(struct shmemi_share *s)
{
    /* [holds] acquire pairs with the release in shmemi_share_let_go(). */
    uint32_t n = atomic_fetch_or_explicit(&s->holds, CLOSING, memory_order_acquire) | CLOSING;
    for (; n != CLOSING; n = atomic_load_explicit(&s->holds, memory_order_acquire))
        shmemi_futex_wait(&(struct shmemi_futex){.word = &s->holds, .value = n}, 1, SHMEMI_NO_DEADLINE);
}

void shmemi_share_close(struct shmemi_share *s)
{
    if (!s)
        return;
    if (!s->dead) {
        pthread_mutex_lock(&shares.life);
        unlist(s);
        shmemi_service_stop(s->service);
        pthread_mutex_unlock(&shares.life);
        wait_for_holds(s);
    }
    free_share(s);
}

/* The handler of fork has done it, unless the share was opened by this process. */
void shmemi_share_forget(struct shmemi_share *s)
{
    if (!s)
        return;
    if (!s->dead) {
        unlist(s);
        shmemi_service_forget(s->service);
    }
    free_share(s);
}

struct shmemi_share *shmemi_share_hold(uint64_t number, uint32_t uid)
{
    pthread_mutex_lock(&shares.lock);
    struct shmemi_share *s = *bucket_of(number);
    while (s && (s->config.number != number || s->uid != uid))
        s = s->next;
    if (s) /* [holds] relaxed: under the lock under which it is unlisted before it is closed */
        atomic_fetch_add_explicit(&s->holds, 1, memory_order_relaxed);
    pthread_mutex_unlock(&shares.lock);
    return s;
}

void shmemi_share_let_go(struct shmemi_share *s)
{
    _Atomic uint32_t *holds = &s->holds;
    /* [holds] release pairs with the acquire in shmemi_share_close(); s may be gone afterwards. A wake at an address
       where something else lies by then wakes nobody, or somebody who looks again. */
    if (atomic_fetch_sub_explicit(holds, 1, memory_order_release) == (CLOSING | 1))
        shmemi_futex_wake(holds, 1);
}

const struct shmemi_share_config *shmemi_share_config(const struct shmemi_share *s)
{
    return &s->config;
}

uint64_t shmemi_share_serial(const struct shmemi_share *s)
{
    return s->serial;
}

/* --- keys ----------------------------------------------------------------------------------------------------------
 */

static int check_alive(const struct shmemi_share *s)
{
    return s->dead ? shmemi_fail(-ENOTCONN, "this process was forked, and the share is its parent's: attach anew") : 0;
}

int shmemi_share_export(struct shmemi_share *s, const struct shmemi_export *what, char text[SHMEMI_KEY_TEXT])
{
    struct shmemi_key key = {.share = s->config.number, .uid = s->uid, .slot = (uint16_t)s->config.slot};
    int rc = check_alive(s);
    if (rc < 0)
        return rc;
    shmemi_random_token(key.token);
    pthread_mutex_lock(&s->lock);
    if (!shmemi_keys_find_equal(&s->keys, what, key.token, &key.index, &key.slot))
        rc = shmemi_keys_add(&s->keys, what, key.token, &key.index);
    pthread_mutex_unlock(&s->lock);
    if (rc == 0)
        shmemi_key_print(&key, text);
    return rc;
}

int shmemi_share_look_up(struct shmemi_share *s, const struct shmemi_key *key, struct shmemi_key_record *out)
{
    int rc = check_alive(s);
    if (rc < 0)
        return rc;
    if (key->share != s->config.number || key->uid != s->uid)
        return shmemi_fail(-ENOKEY, "the key is of another share");
    return shmemi_keys_find(&s->keys, key->index, key->token, out);
}

int shmemi_share_revoke(struct shmemi_share *s, const struct shmemi_key *key)
{
    struct shmemi_tell tell = {0};
    bool taken = false;
    int rc = check_alive(s);
    if (rc < 0)
        return rc;
    if (key->share != s->config.number || key->uid != s->uid)
        return shmemi_fail(-ENOKEY, "the key is of another share");
    pthread_mutex_lock(&s->lock);
    rc = shmemi_keys_revoke(&s->keys, key->index, key->token, &taken);
    pthread_mutex_unlock(&s->lock);
    if (rc == 0 && taken)
        shmemi_share_tell(&tell, key);
    return rc;
}

unsigned shmemi_share_revoke_range(struct shmemi_share *s, uint64_t number, uint64_t offset, uint64_t bytes)
{
    struct shmemi_key key = {.share = s->config.number, .uid = s->uid};
    struct shmemi_tell tell = {0};
    unsigned count = 0;
    if (check_alive(s) < 0)
        return 0;
    for (uint32_t at = 0;; count++) {
        pthread_mutex_lock(&s->lock);
        bool taken = false, another = shmemi_keys_revoke_next(&s->keys, number, offset, bytes, &at, key.token, &taken);
        pthread_mutex_unlock(&s->lock);
        if (!another)
            return count;
        key.index = at - 1;
        if (taken)
            shmemi_share_tell(&tell, &key);
    }
}

/* Salted, so that no other kind of name comes out the same. The user is in the sockets' names. */
uint64_t shmemi_share_number(const char *name)
{
    return shmemi_hash_text(shmemi_hash_text(SHMEMI_HASH_BEGIN, "share:"), name);
}
