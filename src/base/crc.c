// SPDX-License-Identifier: Apache-2.0
// CRC-32C, four bits at a time: it covers headers and lists, not data.
#include "crc.h"

uint32_t shmemi_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    /* The remainders of the sixteen possible low halves, for the reflected polynomial 0x82f63b78. */
    static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                       0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    const unsigned char *byte = data;
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
