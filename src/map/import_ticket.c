// SPDX-License-Identifier: Apache-2.0
// Imports of device memory: what the key's owner says; mapping it is for the layer of devices.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "import.h"
#include "share_ask.h"
#include "share_serve.h"

/* What a server says is believed as far as it can be. */
static int check_answer(const struct shmemi_key *key, enum shmemi_import_mode mode, const struct shmemi_share_answer *a)
{
    const struct shmemi_key_record *r = &a->record;
    const struct shmemi_device_ticket *t = &a->ticket;
    if (!shmemi_tokens_equal(r->token, key->token) || !shmemi_key_record_is_sound(r) ||
        a->rights & ~(uint32_t)SHMEMI_RIGHTS_ALL || !(r->flags & SHMEMI_KEY_DEVICE))
        return shmemi_fail(-EPROTO, "the server of the key sent a record that makes no sense");
    int rc = shmemi_device_check_ticket(t, 0);
    if (rc == 0 && (r->offset > t->bytes || r->bytes > t->bytes - r->offset))
        rc = shmemi_fail(-EPROTO, "the server of the key sent a ticket for less than what the key names");
    return rc < 0 ? rc : shmemi_share_check_mode(mode, a->rights, (uint32_t)geteuid());
}

int shmemi_import_ask_ticket(const struct shmemi_key *key, enum shmemi_import_mode mode,
                             const struct shmemi_import_claims *claims, int32_t process,
                             struct shmemi_import_ticket *out)
{
    struct shmemi_share_request request = shmemi_share_request(SHMEMI_SHARE_TICKET, key, claims);
    struct shmemi_share_answer a;
    int fds[2];
    unsigned nfds = 0;
    request.mode = mode;
    request.op = (uint32_t)process;
    int rc = shmemi_share_ask(&request, false, NULL, &a, fds, &nfds);
    if (rc == 0)
        rc = check_answer(key, mode, &a);
    while (nfds > (rc == 0 ? 1u : 0u))
        close(fds[--nfds]);
    if (rc < 0)
        return rc;
    out->record = a.record;
    out->rights = a.rights;
    out->ticket = a.ticket;
    out->fd = nfds ? fds[0] : -1;
    return 0;
}

int shmemi_import_look_up(struct shmemi_share *share, const struct shmemi_key *key, enum shmemi_import_mode mode,
                          const struct shmemi_import_claims *claims, struct shmemi_key_record *record, uint32_t *rights)
{
    static const struct shmemi_import_claims none;
    int rc = shmemi_share_look_up(share, key, record);
    if (rc < 0 || (rc = shmemi_share_check_medium(record, true)) < 0)
        return rc;
    *rights = shmemi_share_grant_self(record, key->uid, claims ? claims : &none);
    return shmemi_share_check_mode(mode, *rights, (uint32_t)geteuid());
}
