// SPDX-License-Identifier: Apache-2.0
// What share.c and the files of import have for each other.
#ifndef SHMEMI_MAP_SHARE_INTERNAL_H
#define SHMEMI_MAP_SHARE_INTERNAL_H

#include "share.h"

/* The share, kept from being closed until it is let go; or NULL. */
struct shmemi_share *shmemi_share_hold(uint64_t number, uint32_t uid);
void shmemi_share_let_go(struct shmemi_share *share);

const struct shmemi_share_config *shmemi_share_config(const struct shmemi_share *share);

/* Tells one opening from all others in this process: of a name that is used again, say. Not 0. */
uint64_t shmemi_share_serial(const struct shmemi_share *share);

/* For fork_order.c. No share begins or ends; and the list of shares stays as it is. */
void shmemi_shares_before_fork(void);
void shmemi_shares_after_fork(void);
void shmemi_shares_lock(void);
void shmemi_shares_unlock(void);

/* In the child, with both: its parent's shares are dead, and their sockets closed. */
void shmemi_shares_forget(void);

#endif
