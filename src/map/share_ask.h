// SPDX-License-Identifier: Apache-2.0
// Asking those who serve a share.
#ifndef SHMEMI_MAP_SHARE_ASK_H
#define SHMEMI_MAP_SHARE_ASK_H

#include "share_message.h"

/* The name of a share's sockets. */
enum { SHMEMI_SHARE_NAME = 32 };
void shmemi_share_name(uint64_t number, char out[SHMEMI_SHARE_NAME]);

/* A request about a key. claims NULL: none. */
struct shmemi_share_request shmemi_share_request(enum shmemi_share_type type, const struct shmemi_key *key,
                                                 const struct shmemi_import_claims *claims);

/* Asks the key's exporter first, then the other members, then (unless members alone can answer) the guests, until one
   knows. The answer is sound in form. 0, or what a server said; -EKEYEXPIRED when nobody has the memory. meanwhile (may
   be NULL) is called with the context while an answer is awaited. */
struct shmemi_meanwhile {
    void (*call)(void *context);
    void *context;
};
int shmemi_share_ask(const struct shmemi_share_request *request, bool guests, const struct shmemi_meanwhile *meanwhile,
                     struct shmemi_share_answer *answer, int fds[2], unsigned *nfds);

/* Tells the guests of a share about revoked keys; slots that nobody answers at are left out afterwards. */
struct shmemi_tell {
    bool silent[SHMEMI_GUESTS_MOST];
};
void shmemi_share_tell(struct shmemi_tell *tell, const struct shmemi_key *key);

#endif
