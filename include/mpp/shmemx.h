/* SPDX-License-Identifier: Apache-2.0 */
/* The old place of shmemx.h. Written by spec/generate.py from spec/openshmem.toml; do not edit. */
#include "../shmemx.h"
