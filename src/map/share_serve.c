// SPDX-License-Identifier: Apache-2.0
// What a server of a share answers, and who may do what.
#include "share_serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "share_ask.h"
#include "wire.h"

enum { ANSWER_WITHIN = 100000000, GROUPS_MOST = 256 }; /* ns; a user is seldom in more groups than ten */

/* --- rights ------------------------------------------------------------------------------------------------------ */

bool shmemi_tokens_equal(const uint64_t a[2], const uint64_t b[2])
{
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

static bool in_groups(const struct shmemi_peer *peer, uint64_t group)
{
    bool is = peer->gid == group;
    for (unsigned i = 0; i < peer->group_count; i++)
        is |= peer->groups[i] == group;
    return is;
}

static bool means(const struct shmemi_allow *a, const struct shmemi_peer *peer, bool same_user)
{
    static const uint64_t none[2];
    switch ((enum shmemi_allow_kind)a->kind) {
    case SHMEMI_ALLOW_USER:
        return a->id[0] == peer->uid;
    case SHMEMI_ALLOW_GROUP:
        return in_groups(peer, a->id[0]);
    case SHMEMI_ALLOW_PE: /* nobody but itself says so, and it is believed because it could be the exporter as well */
        return same_user && peer->claims.job && a->id[0] == peer->claims.pe && a->id[1] == peer->claims.job;
    case SHMEMI_ALLOW_TOKEN:
        return !shmemi_tokens_equal(a->id, none) && shmemi_tokens_equal(a->id, peer->claims.token);
    }
    return false;
}

uint32_t shmemi_share_grant(const struct shmemi_key_record *record, uint32_t uid, const struct shmemi_peer *peer)
{
    bool same_user = peer->uid == uid;
    uint32_t rights = same_user ? record->rights : 0;
    for (uint32_t i = 0; i < record->allowed; i++)
        if (means(&record->allow[i], peer, same_user))
            rights |= record->allow[i].rights;
    return record->flags & SHMEMI_KEY_FROZEN ? rights & SHMEMI_RIGHT_READ : rights;
}

uint32_t shmemi_share_grant_self(const struct shmemi_key_record *record, uint32_t uid,
                                 const struct shmemi_import_claims *claims)
{
    gid_t groups[GROUPS_MOST];
    struct shmemi_peer self = {.uid = geteuid(), .claims = *claims};
    bool by_group = false;
    for (uint32_t i = 0; i < record->allowed; i++)
        by_group |= record->allow[i].kind == SHMEMI_ALLOW_GROUP;
    if (by_group) { /* else there is no need to ask the kernel */
        int count = getgroups(GROUPS_MOST, groups);
        self.gid = getegid();
        self.groups = groups;
        self.group_count = count > 0 ? (unsigned)count : 0;
        return shmemi_share_grant(record, uid, &self);
    }
    self.gid = UINT32_MAX;
    return shmemi_share_grant(record, uid, &self);
}

static const char *words_of(uint32_t rights, char text[96])
{
    static const char *const names[] = {"read", "write", "atomic add", "atomic bits", "atomic swap", "atomic cas"};
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (rights & 1u << i)
            used += (size_t)snprintf(text + used, 96 - used, "%s%s", used ? ", " : "", names[i]);
    return used ? text : "nothing";
}

static int refuse(const char *asked, uint32_t rights, uint32_t uid)
{
    char granted[96];
    return shmemi_fail(-EACCES, "%s was asked for, but the key grants user %u: %s", asked, (unsigned)uid,
                       words_of(rights, granted));
}

int shmemi_share_check_mode(enum shmemi_import_mode mode, uint32_t rights, uint32_t uid)
{
    const uint32_t both = SHMEMI_RIGHT_READ | SHMEMI_RIGHT_WRITE;
    switch (mode) {
    case SHMEMI_IMPORT_READ:
        return rights & SHMEMI_RIGHT_READ ? 0 : refuse("reading", rights, uid);
    case SHMEMI_IMPORT_WRITE:
        return (rights & both) == both ? 0 : refuse("reading and writing", rights, uid);
    case SHMEMI_IMPORT_COW:
        return rights & SHMEMI_RIGHT_READ ? 0 : refuse("reading (copy on write)", rights, uid);
    case SHMEMI_IMPORT_SNAPSHOT:
        return rights & SHMEMI_RIGHT_READ ? 0 : refuse("reading (a snapshot)", rights, uid);
    case SHMEMI_IMPORT_ATOMIC:
        return rights & SHMEMI_RIGHTS_ATOMIC ? 0 : refuse("any atomic operation", rights, uid);
    }
    return shmemi_fail(-EINVAL, "there is no way %d to import", (int)mode);
}

int shmemi_share_check_medium(const struct shmemi_key_record *record, bool device)
{
    if (((record->flags & SHMEMI_KEY_DEVICE) != 0) == device)
        return 0;
    return shmemi_fail(-EMEDIUMTYPE,
                       device ? "this key opens host memory, not a device's"
                              : "this key opens memory of a device, which no CPU can map: import it as such");
}

int shmemi_share_check_atomic(enum shmemi_atomic op, uint32_t rights, uint32_t uid)
{
    switch (op) {
    case SHMEMI_ATOMIC_FETCH:
        return rights & (SHMEMI_RIGHT_READ | SHMEMI_RIGHT_ADD) ? 0 : refuse("an atomic fetch", rights, uid);
    case SHMEMI_ATOMIC_ADD:
        return rights & SHMEMI_RIGHT_ADD ? 0 : refuse("an atomic add", rights, uid);
    case SHMEMI_ATOMIC_AND:
    case SHMEMI_ATOMIC_OR:
    case SHMEMI_ATOMIC_XOR:
        return rights & SHMEMI_RIGHT_BITS ? 0 : refuse("an atomic and, or, xor", rights, uid);
    case SHMEMI_ATOMIC_SET:
    case SHMEMI_ATOMIC_SWAP:
        return rights & SHMEMI_RIGHT_SWAP ? 0 : refuse("an atomic set or swap", rights, uid);
    case SHMEMI_ATOMIC_CAS:
        return rights & SHMEMI_RIGHT_CAS ? 0 : refuse("an atomic compare and swap", rights, uid);
    }
    return shmemi_fail(-EINVAL, "there is no atomic operation %d", (int)op);
}

/* --- atomics ----------------------------------------------------------------------------------------------------- */

int shmemi_share_check_place(const struct shmemi_key_record *record, unsigned width, uint64_t offset)
{
    if (width != 4 && width != 8)
        return shmemi_fail(-EINVAL, "atomics are of 4 or 8 bytes, not of %u", width);
    if (record->bytes < width || offset > record->bytes - width)
        return shmemi_fail(-EINVAL, "an atomic of %u bytes at offset %llu is beyond the %llu bytes of the key", width,
                           (unsigned long long)offset, (unsigned long long)record->bytes);
    if ((record->offset + offset) % width)
        return shmemi_fail(-EINVAL, "an atomic of %u bytes at offset %llu is not aligned", width,
                           (unsigned long long)offset);
    return 0;
}

/* [data] Sequentially consistent: whoever uses the memory orders what it likes by it. */
#define DO_ATOMIC(type)                                                                                                \
    do {                                                                                                               \
        _Atomic(type) *word = at;                                                                                      \
        type expected = (type)compare;                                                                                 \
        switch (op) {                                                                                                  \
        case SHMEMI_ATOMIC_FETCH:                                                                                      \
            return atomic_load(word);                                                                                  \
        case SHMEMI_ATOMIC_SET:                                                                                        \
        case SHMEMI_ATOMIC_SWAP:                                                                                       \
            return atomic_exchange(word, (type)operand);                                                               \
        case SHMEMI_ATOMIC_ADD:                                                                                        \
            return atomic_fetch_add(word, (type)operand);                                                              \
        case SHMEMI_ATOMIC_AND:                                                                                        \
            return atomic_fetch_and(word, (type)operand);                                                              \
        case SHMEMI_ATOMIC_OR:                                                                                         \
            return atomic_fetch_or(word, (type)operand);                                                               \
        case SHMEMI_ATOMIC_XOR:                                                                                        \
            return atomic_fetch_xor(word, (type)operand);                                                              \
        case SHMEMI_ATOMIC_CAS:                                                                                        \
            atomic_compare_exchange_strong(word, &expected, (type)operand);                                            \
            return expected;                                                                                           \
        }                                                                                                              \
    } while (0)

uint64_t shmemi_share_do_atomic(void *at, enum shmemi_atomic op, unsigned width, uint64_t operand, uint64_t compare)
{
    if (width == 4)
        DO_ATOMIC(uint32_t);
    else
        DO_ATOMIC(uint64_t);
    return 0;
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

/* One request while it is answered. */
struct question {
    const struct shmemi_server *server;
    struct shmemi_share_request request;
    struct shmemi_key key;
    struct shmemi_peer peer;
    uint32_t groups[GROUPS_MOST];
    struct shmemi_share_answer answer;
    int fds[2];
    unsigned nfds;
    bool closes; /* the descriptors are not the share's own */
};

/* The record, and what the asker may do. -ENOENT: this server cannot say. */
static int find_record(struct question *q, uint32_t *rights)
{
    const struct shmemi_server *s = q->server;
    if (q->key.share != s->number || q->key.uid != s->uid)
        return shmemi_fail(-ENOKEY, "this share has no such key");
    int rc = s->look_up(s->context, &q->key, &q->answer.record);
    if (rc == 0)
        *rights = shmemi_share_grant(&q->answer.record, s->uid, &q->peer);
    return rc;
}

/* A guest knows only what it was granted itself: others may grant more. */
static int unless_trimmed(const struct question *q, int rc)
{
    return rc == -EACCES && q->answer.record.reserved & SHMEMI_RECORD_TRIMMED ? -ENOENT : rc;
}

/* What goes to the asker has no rights beyond its own and no tokens of others. */
static void trim_record(struct shmemi_key_record *r, uint32_t rights, const struct shmemi_peer *peer)
{
    uint32_t kept = 0;
    bool trimmed = r->rights & ~rights;
    r->rights &= rights;
    for (uint32_t i = 0; i < r->allowed; i++) {
        struct shmemi_allow a = r->allow[i];
        bool secret = a.kind == SHMEMI_ALLOW_TOKEN && !means(&a, peer, false);
        trimmed |= secret || a.rights & ~rights;
        a.rights &= rights;
        if (!secret)
            r->allow[kept++] = a;
    }
    memset(r->allow + kept, 0, (SHMEMI_KEY_ALLOWS - kept) * sizeof *r->allow);
    r->allowed = kept;
    r->reserved |= trimmed ? SHMEMI_RECORD_TRIMMED : 0;
}

/* The descriptor to hand out: the segment's own, or one that can only be mapped for reading. */
static int choose_descriptor(struct question *q, const struct shmemi_share_segment *s, uint32_t *rights)
{
    bool read_only = (fcntl(s->fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    q->fds[0] = s->fd;
    q->closes = q->server->guest;
    q->nfds = 1;
    if (read_only) {
        *rights &= ~(uint32_t)SHMEMI_RIGHT_WRITE;
        return q->request.mode == SHMEMI_IMPORT_WRITE ? -ENOENT : 0;
    }
    if (*rights & SHMEMI_RIGHT_WRITE)
        return 0;
    const struct shmemi_hal *hal = shmemi_hal(s->kind);
    int narrow = -1;
    int rc = hal && hal->narrow ? hal->narrow(s->fd, &narrow)
                                : shmemi_fail(-ENOTSUP, "this kind of memory cannot be handed out for reading only");
    if (q->closes)
        close(s->fd);
    q->fds[0] = narrow;
    q->closes = true;
    q->nfds = rc == 0;
    return rc < 0 && q->server->guest ? -ENOENT : rc; /* a guest of another user may not be able to */
}

static int give_segment(struct question *q, uint32_t *rights)
{
    const struct shmemi_server *server = q->server;
    const struct shmemi_key_record *r = &q->answer.record;
    struct shmemi_share_segment s = {.fd = -1};
    int rc = server->segment(server->context, r->segment, &s);
    if (rc < 0)
        return -ENOENT;
    if (r->offset < s.window || r->offset - s.window > s.window_bytes ||
        r->bytes > s.window_bytes - (r->offset - s.window))
        rc = -ENOENT; /* not what this process holds */
    else if (q->peer.uid != server->uid && !s.own)
        rc = shmemi_fail(-EACCES,
                         "user %u may use this key, but its buffer shares a segment with others, and a process of "
                         "another user would get all of them: the buffer needs a segment of its own",
                         (unsigned)q->peer.uid);
    if (rc < 0) {
        if (server->guest)
            close(s.fd);
        return rc;
    }
    q->answer.window = s.window;
    q->answer.window_bytes = s.window_bytes;
    q->answer.kind = s.kind;
    q->answer.own = s.own;
    return choose_descriptor(q, &s, rights);
}

static int answer_import(struct question *q)
{
    uint32_t rights = 0;
    void *ignored;
    int rc = find_record(q, &rights);
    const struct shmemi_key_record *r = &q->answer.record;
    if (rc < 0)
        return rc;
    if (r->flags & SHMEMI_KEY_POOL)
        return shmemi_fail(-EINVAL, "this key opens a whole pool, not a buffer: open the pool with it");
    if ((rc = shmemi_share_check_medium(r, false)) < 0)
        return rc;
    if (q->request.mode > SHMEMI_IMPORT_ATOMIC)
        return shmemi_fail(-EINVAL, "there is no way %u to import", q->request.mode);
    if ((rc = shmemi_share_check_mode(q->request.mode, rights, q->peer.uid)) < 0)
        return unless_trimmed(q, rc);
    if (q->request.mode != SHMEMI_IMPORT_ATOMIC)
        rc = give_segment(q, &rights);
    else if (!q->server->memory || q->server->memory(q->server->context, r->segment, r->offset, r->bytes, &ignored) < 0)
        rc = -ENOENT;
    if (rc < 0)
        return unless_trimmed(q, rc);
    if (q->server->taken)
        q->server->taken(q->server->context, q->request.index);
    q->answer.rights = rights;
    trim_record(&q->answer.record, rights, &q->peer);
    return 0;
}

static int answer_atomic(struct question *q)
{
    const struct shmemi_server *s = q->server;
    const struct shmemi_share_request *ask = &q->request;
    uint32_t rights = 0;
    void *at = NULL;
    if (!s->memory)
        return -ENOENT;
    int rc = find_record(q, &rights);
    const struct shmemi_key_record *r = &q->answer.record;
    if (rc < 0 || (rc = shmemi_share_check_medium(r, false)) < 0 ||
        (rc = shmemi_share_check_atomic(ask->op, rights, q->peer.uid)) < 0 ||
        (rc = shmemi_share_check_place(r, ask->width, ask->offset)) < 0)
        return rc;
    if (s->memory(s->context, r->segment, r->offset + ask->offset, ask->width, &at) < 0 || (uintptr_t)at % ask->width)
        return -ENOENT;
    q->answer.before = shmemi_share_do_atomic(at, ask->op, ask->width, ask->operand, ask->compare);
    return 0;
}

/* Device memory is mapped whole, so it is for processes of the same user only. */
static int answer_ticket(struct question *q)
{
    const struct shmemi_server *s = q->server;
    const struct shmemi_key_record *r = &q->answer.record;
    uint32_t rights = 0;
    if (!s->ticket)
        return -ENOENT;
    int rc = find_record(q, &rights);
    if (rc < 0 || (rc = shmemi_share_check_medium(r, true)) < 0)
        return rc;
    if (q->request.mode > SHMEMI_IMPORT_WRITE)
        return shmemi_fail(-EINVAL, "memory of a device is imported for reading, or for reading and writing");
    if (q->peer.uid != s->uid)
        return shmemi_fail(-EACCES, "memory of a device is for processes of its owner's user (%u), not of user %u",
                           (unsigned)s->uid, (unsigned)q->peer.uid);
    if ((rc = shmemi_share_check_mode(q->request.mode, rights, q->peer.uid)) < 0 ||
        (rc = s->ticket(s->context, r->segment, (int32_t)q->request.op, &q->answer.ticket, &q->fds[0])) < 0)
        return rc;
    q->nfds = q->fds[0] >= 0;
    q->closes = true;
    q->answer.rights = rights;
    trim_record(&q->answer.record, rights, &q->peer);
    return 0;
}

static int answer_join(struct question *q)
{
    const struct shmemi_server *s = q->server;
    uint32_t rights = 0;
    if (q->peer.uid != s->uid)
        return shmemi_fail(-EACCES, "the pool belongs to user %u; a process of user %u cannot attach to it",
                           (unsigned)s->uid, (unsigned)q->peer.uid);
    if (!q->request.named) {
        int rc = find_record(q, &rights);
        if (rc < 0)
            return rc;
        if (!(q->answer.record.flags & SHMEMI_KEY_POOL))
            return shmemi_fail(-EACCES, "this key opens one buffer, not the whole pool");
    }
    if (!s->join)
        return -ENOENT;
    q->fds[0] = q->fds[1] = -1;
    int rc = s->join(s->context, q->fds);
    while (rc >= 0 && q->nfds < 2 && q->fds[q->nfds] >= 0)
        q->nfds++;
    return rc < 0 ? rc : 0;
}

static int answer_revoke(struct question *q)
{
    const struct shmemi_server *s = q->server;
    if (q->peer.uid != s->uid && q->peer.uid != 0)
        return shmemi_fail(-EPERM, "a key of user %u is revoked by that user", (unsigned)s->uid);
    return s->revoked && q->key.share == s->number && q->key.uid == s->uid ? s->revoked(s->context, &q->key) : -ENOENT;
}

static int answer(struct question *q)
{
    switch ((enum shmemi_share_type)q->request.type) {
    case SHMEMI_SHARE_IMPORT:
        return answer_import(q);
    case SHMEMI_SHARE_ATOMIC:
        return answer_atomic(q);
    case SHMEMI_SHARE_JOIN:
        return answer_join(q);
    case SHMEMI_SHARE_REVOKE:
        return answer_revoke(q);
    case SHMEMI_SHARE_TICKET:
        return answer_ticket(q);
    }
    return shmemi_fail(-EPROTO, "a request that this build does not understand");
}

/* Takes the request apart, and asks the kernel whose it is. */
static int receive(struct question *q, int socket)
{
    struct shmemi_share_request *r = &q->request;
    struct ucred who;
    unsigned none = 0;
    int rc = shmemi_wire_receive(socket, r, sizeof *r, NULL, 0, &none, shmemi_now() + ANSWER_WITHIN);
    if (rc < 0 || (rc = shmemi_wire_peer(socket, &who)) < 0)
        return rc;
    if (r->magic != SHMEMI_SHARE_MAGIC)
        return -EPROTO;
    q->key = (struct shmemi_key){r->share, r->uid, r->index, (uint16_t)r->slot, {r->token[0], r->token[1]}};
    q->peer = (struct shmemi_peer){.uid = who.uid, .gid = who.gid, .pid = who.pid, .groups = q->groups};
    q->peer.claims = (struct shmemi_import_claims){{r->member_token[0], r->member_token[1]}, r->job, r->pe};
    socklen_t bytes = sizeof q->groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, q->groups, &bytes) == 0) /* more than fit: none */
        q->peer.group_count = bytes / (unsigned)sizeof *q->groups;
    return 0;
}

void shmemi_share_serve(const struct shmemi_server *server, int socket)
{
    struct question q = {.server = server, .fds = {-1, -1}};
    if (receive(&q, socket) < 0)
        return; /* nobody who speaks this language */
    shmemi_fail(0, "%s", "");
    int rc = answer(&q);
    q.answer.magic = SHMEMI_SHARE_MAGIC;
    q.answer.type = q.request.type;
    q.answer.rc = rc < 0 ? rc : 0;
    if (rc < 0) { /* nothing of the record goes to who is refused */
        memset(&q.answer.record, 0, sizeof q.answer.record);
        snprintf(q.answer.text, sizeof q.answer.text, "%s", shmemi_last_error());
    }
    shmemi_wire_send(socket, &q.answer, sizeof q.answer, q.fds, rc < 0 ? 0 : q.nfds, shmemi_now() + ANSWER_WITHIN);
    for (unsigned i = 0; q.closes && i < q.nfds; i++)
        close(q.fds[i]);
}
