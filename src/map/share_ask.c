// SPDX-License-Identifier: Apache-2.0
// The asking side: finds a process that serves a share, and checks what it says.
#include "share_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "wire.h"

enum { ASK_WITHIN = 5, TELL_WITHIN = 50000000 }; /* s; ns */
enum { DYING_MOST = 16 };                        /* that are met in one place, one after the other */

void shmemi_share_name(uint64_t number, char out[SHMEMI_SHARE_NAME])
{
    snprintf(out, SHMEMI_SHARE_NAME, "share %016llx", (unsigned long long)number);
}

struct shmemi_share_request shmemi_share_request(enum shmemi_share_type type, const struct shmemi_key *key,
                                                 const struct shmemi_import_claims *claims)
{
    struct shmemi_share_request r = {.magic = SHMEMI_SHARE_MAGIC, .type = type};
    r.share = key->share;
    r.uid = key->uid;
    r.index = key->index;
    r.slot = key->slot;
    memcpy(r.token, key->token, sizeof r.token);
    if (claims) {
        memcpy(r.member_token, claims->token, sizeof r.member_token);
        r.job = claims->job;
        r.pe = claims->pe;
    }
    return r;
}

/* A text of another process: ended, and nothing in it that a terminal would act on. */
static void make_printable(char *text, size_t size)
{
    text[size - 1] = 0;
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

static void close_all(int fds[2], unsigned *nfds)
{
    while (*nfds)
        close(fds[--*nfds]);
}

/* Sends and receives over a connection. 0: an answer that is sound in form. */
static int exchange(int socket, const struct shmemi_share_request *r, const struct shmemi_meanwhile *meanwhile,
                    struct shmemi_share_answer *a, int fds[2], unsigned *nfds, int64_t deadline)
{
    *nfds = 0;
    int rc = shmemi_wire_send(socket, r, sizeof *r, NULL, 0, deadline);
    if (rc == 0 && meanwhile)
        meanwhile->call(meanwhile->context);
    if (rc == 0)
        rc = shmemi_wire_receive(socket, a, sizeof *a, fds, 2, nfds, deadline);
    if (rc < 0)
        return rc;
    make_printable(a->text, sizeof a->text);
    if (a->magic != SHMEMI_SHARE_MAGIC || a->type != r->type || a->rc > 0 || a->rc < -4095 || (a->rc < 0 && *nfds)) {
        close_all(fds, nfds);
        return shmemi_fail(-EPROTO, "a server of the key answers what this build does not understand");
    }
    return 0;
}

/* -ECONNREFUSED: nobody is there. */
static int ask_one(unsigned slot, const struct shmemi_share_request *r, const struct shmemi_meanwhile *meanwhile,
                   struct shmemi_share_answer *a, int fds[2], unsigned *nfds)
{
    char name[SHMEMI_SHARE_NAME];
    int socket = -1;
    shmemi_share_name(r->share, name);
    int rc = shmemi_wire_connect_any(r->uid, name, (int)slot, false, &socket);
    if (rc < 0)
        return rc;
    rc = exchange(socket, r, meanwhile, a, fds, nfds, shmemi_deadline(ASK_WITHIN));
    close(socket);
    return rc;
}

/* The one in a place may die while it is asked: another may be there by then. A process that ends closes its sockets
   one after the other, so that it may be met more than once. */
static int ask_in_place(unsigned slot, const struct shmemi_share_request *r, const struct shmemi_meanwhile *meanwhile,
                        struct shmemi_share_answer *a, int fds[2], unsigned *nfds)
{
    int rc = ask_one(slot, r, meanwhile, a, fds, nfds);
    for (int again = 0; rc == -EPIPE && again < DYING_MOST; again++)
        rc = ask_one(slot, r, NULL, a, fds, nfds);
    return rc;
}

/* Whether nobody else has to be asked. Members have the table in common, so what one does not know, none does. */
static bool is_definite(int rc, unsigned slot)
{
    return rc == 0 || rc == -EACCES || rc == -EKEYREVOKED || rc == -EINVAL || rc == -EMEDIUMTYPE ||
           (rc == -ENOKEY && slot < SHMEMI_SHARE_MEMBERS);
}

/* What asking has come to so far. */
struct outcome {
    int rc; /* the first failure of somebody who is there, or 0 */
    bool somebody;
    char text[256];
};

static void note(struct outcome *o, int rc, const char *text)
{
    o->somebody |= rc == -ENOENT || rc == -ENOKEY;
    if (rc != -ENOENT && rc != -ENOKEY && !o->rc) {
        o->rc = rc;
        snprintf(o->text, sizeof o->text, "%s", text);
    }
}

static int conclude(const struct outcome *o)
{
    const char *none = "nobody living holds the memory of this key";
    if (o->rc == -EPERM) /* an impostor, who was not asked */
        return shmemi_fail(-EKEYEXPIRED, "%s (%s)", none, o->text);
    if (o->rc)
        return shmemi_fail(o->rc, "%s", o->text);
    return shmemi_fail(-EKEYEXPIRED, "%s%s", none,
                       o->somebody ? " (others of its pool live, but do not have it)"
                                   : ": those who had it have ended");
}

int shmemi_share_ask(const struct shmemi_share_request *r, bool guests, const struct shmemi_meanwhile *meanwhile,
                     struct shmemi_share_answer *a, int fds[2], unsigned *nfds)
{
    struct outcome o = {0};
    unsigned end = guests ? SHMEMI_GUESTS + SHMEMI_GUESTS_MOST : SHMEMI_SHARE_MEMBERS;
    bool known = r->slot < SHMEMI_SHARE_MEMBERS;
    for (unsigned i = 0; i <= end; i++) { /* the first turn is the exporter's */
        unsigned slot = i ? i - 1 : r->slot;
        if (i == 0 ? !known : slot == r->slot)
            continue;
        int rc = ask_in_place(slot, r, meanwhile, a, fds, nfds);
        if (rc == -ECONNREFUSED)
            continue;
        if (rc == -EINTR)
            return rc;
        if (rc == 0 && is_definite(a->rc, slot))
            return a->rc < 0 ? shmemi_fail(a->rc, "%s", a->text) : 0;
        note(&o, rc < 0 ? rc : a->rc, rc < 0 ? shmemi_last_error() : a->text);
    }
    return conclude(&o);
}

void shmemi_share_tell(struct shmemi_tell *tell, const struct shmemi_key *key)
{
    char name[SHMEMI_SHARE_NAME];
    struct shmemi_share_request r = shmemi_share_request(SHMEMI_SHARE_REVOKE, key, NULL);
    struct shmemi_share_answer a;
    int fds[2];
    unsigned nfds;
    shmemi_share_name(key->share, name);
    for (unsigned i = 0; i < SHMEMI_GUESTS_MOST; i++) {
        int socket = -1;
        if (tell->silent[i])
            continue;
        if (shmemi_wire_connect_any(key->uid, name, (int)(SHMEMI_GUESTS + i), true, &socket) < 0) {
            tell->silent[i] = true;
            continue;
        }
        if (exchange(socket, &r, NULL, &a, fds, &nfds, shmemi_now() + TELL_WITHIN) == 0)
            close_all(fds, &nfds);
        else
            tell->silent[i] = true;
        close(socket);
    }
}

static int check_join(int rc, unsigned nfds)
{
    if (rc == -EKEYEXPIRED)
        return shmemi_fail(-ENOENT, "no living process has it open");
    if (rc < 0)
        return rc;
    if (!nfds)
        return shmemi_fail(-EPROTO, "a member sent none of what it takes to attach");
    return 0;
}

int shmemi_share_join(uint64_t number, const struct shmemi_key *key, int fds[2], unsigned *nfds)
{
    struct shmemi_key by_name = {.share = number, .uid = geteuid()};
    struct shmemi_share_request r = shmemi_share_request(SHMEMI_SHARE_JOIN, key ? key : &by_name, NULL);
    struct shmemi_share_answer a;
    r.named = !key;
    *nfds = 0;
    int rc = shmemi_share_ask(&r, false, NULL, &a, fds, nfds);
    return check_join(rc, *nfds);
}
