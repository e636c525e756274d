// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), as iSCSI, ext4 and Btrfs use it.
#ifndef SHMEMI_BASE_CRC_H
#define SHMEMI_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from `crc`, which is 0 at first. */
uint32_t shmemi_crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
