// SPDX-License-Identifier: Apache-2.0
// Keys as text.
#include "unit.h"

#include "map/key.h"

static const char *const sample_text = "shm1-CAcGBQQDAgHoAwAAKgAAAAcAESIzRFVmd4gBI0VniavN750o_z0";

static struct shmemi_key sample(void)
{
    return (struct shmemi_key){.share = 0x0102030405060708u,
                               .uid = 1000,
                               .index = 42,
                               .slot = 7,
                               .token = {0x8877665544332211u, 0xefcdab8967452301u}};
}

static void same(const struct shmemi_key *a, const struct shmemi_key *b)
{
    assert_int_equal(a->share, b->share);
    assert_int_equal(a->uid, b->uid);
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->slot, b->slot);
    assert_memory_equal(a->token, b->token, sizeof a->token);
}

/* The form is what processes of other builds read: it does not change. */
static void form(void **state)
{
    char text[SHMEMI_KEY_TEXT];
    struct shmemi_key key = sample(), out;
    (void)state;
    shmemi_key_print(&key, text);
    assert_string_equal(text, sample_text);
    ok(shmemi_key_parse(text, &out));
    same(&out, &key);
}

static void round_trips(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[SHMEMI_KEY_TEXT];
        struct shmemi_key key = {.share = next_random(&seed),
                                 .uid = (uint32_t)next_random(&seed),
                                 .index = (uint32_t)next_random(&seed),
                                 .slot = (uint16_t)next_random(&seed),
                                 .token = {next_random(&seed), next_random(&seed)}},
                          out;
        if (i == 0)
            key = (struct shmemi_key){0};
        if (i == 1)
            memset(&key, 0xff, sizeof key);
        shmemi_key_print(&key, text);
        assert_true(strlen(text) == 56 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                                       "0123456789-_") == 56);
        ok(shmemi_key_parse(text, &out));
        same(&out, &key);
    }
}

static int parse_with(size_t at, char c)
{
    char text[SHMEMI_KEY_TEXT];
    struct shmemi_key out;
    strcpy(text, sample_text);
    text[at] = c;
    return shmemi_key_parse(text, &out);
}

static void malformed(void **state)
{
    struct shmemi_key out;
    char longer[4096], edge[64];
    (void)state;
    refuses(EINVAL, "NULL was given", shmemi_key_parse(NULL, &out));
    refuses(EINVAL, "does not begin with 'shm1-'", shmemi_key_parse("", &out));
    refuses(EINVAL, "does not begin with 'shm1-'", shmemi_key_parse("a pool's name", &out));
    refuses(EINVAL, "does not begin with 'shm1-'", parse_with(3, '2'));
    refuses(EINVAL, "does not begin with 'shm1-'", parse_with(0, 'S'));
    refuses(EINVAL, "5 characters instead of 56", shmemi_key_parse("shm1-", &out));
    memcpy(edge, sample_text, 55);
    edge[55] = 0;
    refuses(EINVAL, "cut off: it has 55 characters", shmemi_key_parse(edge, &out));
    snprintf(longer, sizeof longer, "%s\n", sample_text);
    refuses(EINVAL, "too long", shmemi_key_parse(longer, &out));
    memset(longer, 'A', sizeof longer); /* without an end */
    memcpy(longer, "shm1-", 5);
    refuses(EINVAL, "too long", shmemi_key_parse(longer, &out));
    refuses(EINVAL, "character 21 of the key is '+'", parse_with(20, '+'));
    refuses(EINVAL, "character 6 of the key is ' '", parse_with(5, ' '));
    refuses(EINVAL, "character 30 of the key is '?' (0xc3)", parse_with(29, (char)0xc3));
    refuses(EINVAL, "character 56 of the key, the last", parse_with(55, 'N'));
    refuses(EINVAL, "check sum is wrong", parse_with(20, sample_text[20] == 'A' ? 'B' : 'A'));
}

/* Any one wrong character, and any two that were swapped, are noticed. */
static void mistakes(void **state)
{
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    (void)state;
    for (size_t at = 5; at < 56; at++)
        for (const char *d = digits; *d; d++)
            if (*d != sample_text[at] && parse_with(at, *d) != -EINVAL)
                fail_msg("character %zu may be '%c'", at, *d);
    for (size_t at = 5; at < 55; at++) {
        char text[SHMEMI_KEY_TEXT];
        struct shmemi_key out;
        strcpy(text, sample_text);
        text[at] = sample_text[at + 1];
        text[at + 1] = sample_text[at];
        if (strcmp(text, sample_text) != 0)
            assert_int_equal(shmemi_key_parse(text, &out), -EINVAL);
    }
}

static void randoms(void **state)
{
    uint64_t a[2], b[2], all = 0, none = ~(uint64_t)0;
    (void)state;
    for (int i = 0; i < 100; i++) {
        shmemi_random_token(a);
        shmemi_random_token(b);
        assert_true(a[0] != b[0] && a[1] != b[1] && a[0] != a[1]);
        all |= a[0];
        none &= a[0];
        assert_true(shmemi_random() != shmemi_random());
    }
    assert_true(~all == 0 && none == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(form), clean_test(round_trips), clean_test(malformed), clean_test(mistakes), clean_test(randoms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
