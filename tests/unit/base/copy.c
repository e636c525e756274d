// SPDX-License-Identifier: Apache-2.0
// Copies of all sizes and alignments: every byte arrives, and none beside them changes.
#include "unit.h"

#include "base/copy.h"

enum { GUARD = 256 };

static void check_one(unsigned char *from, unsigned char *to, size_t from_at, size_t to_at, size_t bytes)
{
    memset(to, 0xee, to_at + bytes + GUARD);
    shmemi_copy(to + to_at, from + from_at, bytes);
    if (memcmp(to + to_at, from + from_at, bytes) != 0)
        fail_msg("%zu bytes from +%zu to +%zu differ", bytes, from_at, to_at);
    for (size_t i = 0; i < GUARD; i++)
        if (to[to_at + bytes + i] != 0xee || (i < to_at && to[i] != 0xee))
            fail_msg("%zu bytes from +%zu to +%zu: a byte beside them changed", bytes, from_at, to_at);
}

static void sizes_and_alignments(void **state)
{
    size_t most = (9 << 20) + 1000;
    unsigned char *from = malloc(most + GUARD), *to = malloc(most + 2 * GUARD);
    uint64_t seed = 20240607;
    (void)state;
    for (size_t i = 0; i < most + GUARD; i++)
        from[i] = (unsigned char)next_random(&seed);
    for (size_t bytes = 0; bytes <= 300; bytes++)
        for (size_t at = 0; at < 17; at += 4)
            check_one(from, to, at, (at * 7) % 16, bytes);
    for (size_t power = 512; power <= 8 << 20; power *= 2)
        for (int more = -1; more <= 1; more++)
            for (size_t at = 0; at <= 64; at += power > 1 << 20 ? 63 : 13)
                check_one(from, to, at % 61, at, power + (size_t)(more * (int)(at / 13 + 1)));
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {clean_test(sizes_and_alignments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
