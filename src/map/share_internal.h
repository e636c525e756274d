// SPDX-License-Identifier: Apache-2.0
// What share.c and the files of import have for each other.
#ifndef SHMEMI_MAP_SHARE_INTERNAL_H
#define SHMEMI_MAP_SHARE_INTERNAL_H

#include "share.h"

/* Installs the handlers of fork, for shares and imports, once. */
int shmemi_share_watch_fork(void);

/* The share, kept from being closed until it is let go; or NULL. */
struct shmemi_share *shmemi_share_hold(uint64_t number, uint32_t uid);
void shmemi_share_let_go(struct shmemi_share *share);

const struct shmemi_share_config *shmemi_share_config(const struct shmemi_share *share);

/* Imports' part in those handlers, beside shmemi_imports_after_fork(): no import is half done in the child. */
void shmemi_imports_before_fork(void);
void shmemi_imports_after_fork_in_parent(void);

#endif
