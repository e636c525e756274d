// SPDX-License-Identifier: Apache-2.0
#ifndef SHMEMI_API_CLAIMS_H
#define SHMEMI_API_CLAIMS_H

#include "map/import.h"

/* What this process says of itself when it imports a key: its job, its PE, and a token of shmemx_token() or NULL.
   -EINVAL: the token is malformed. */
int shmemi_make_claims(const char *token, struct shmemi_import_claims *out);

#endif
