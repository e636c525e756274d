// SPDX-License-Identifier: Apache-2.0
// Shares: the table of keys, revoking, joining, and what becomes of it all in a forked child.
#include "shares.h"

#include <pthread.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "map/fork_order.h"
#include "map/share.h"
#include "map/share_internal.h"
#include "map/wire.h"

static struct common common;

static int make_common(void **state)
{
    leaks_setup(state);
    common_make(&common);
    return 0;
}

static int drop_common(void **state)
{
    common_end(&common);
    return leaks_teardown(state);
}

static struct shmemi_share *open_share(unsigned slot)
{
    struct shmemi_share *share = NULL;
    struct shmemi_share_config config = common_config(&common, slot);
    ok(shmemi_share_open(&config, &share));
    return share;
}

static struct shmemi_key export_at(struct shmemi_share *share, uint64_t segment, uint64_t offset, uint64_t bytes)
{
    char text[SHMEMI_KEY_TEXT];
    struct shmemi_key key;
    struct shmemi_export what = {.segment = segment, .offset = offset, .bytes = bytes, .rights = SHMEMI_RIGHTS_ALL};
    ok(shmemi_share_export(share, &what, text));
    ok(shmemi_key_parse(text, &key));
    return key;
}

static void keys(void **state)
{
    struct shmemi_share *share = open_share(9);
    struct shmemi_allow allow[2] = {{SHMEMI_ALLOW_USER, SHMEMI_RIGHT_READ, {12, 0}},
                                    {SHMEMI_ALLOW_TOKEN, SHMEMI_RIGHT_WRITE, {1, 2}}};
    struct shmemi_export what = {.segment = 2,
                                 .offset = 4096,
                                 .bytes = 100,
                                 .rights = SHMEMI_RIGHT_READ,
                                 .flags = SHMEMI_KEY_FROZEN,
                                 .allow = allow,
                                 .allowed = 2,
                                 .note = "float32 3x4",
                                 .note_bytes = 11};
    char text[SHMEMI_KEY_TEXT];
    struct shmemi_key key;
    struct shmemi_key_record r;
    (void)state;
    ok(shmemi_share_export(share, &what, text));
    ok(shmemi_key_parse(text, &key));
    assert_true(key.share == common.number && key.uid == geteuid() && key.slot == 9 && key.index == 0);
    ok(shmemi_share_look_up(share, &key, &r));
    assert_true(r.segment == 2 && r.offset == 4096 && r.bytes == 100 && r.rights == SHMEMI_RIGHT_READ);
    assert_true(r.flags == SHMEMI_KEY_FROZEN && r.allowed == 2 && r.note_bytes == 11);
    assert_memory_equal(r.allow, allow, sizeof allow);
    assert_memory_equal(r.note, "float32 3x4", 11);
    assert_int_equal(export_at(share, 0, 0, 1).index, 1);
    key.token[1] ^= 1;
    assert_int_equal(shmemi_share_look_up(share, &key, &r), -ENOKEY);
    key.token[1] ^= 1;
    key.index = 77;
    assert_int_equal(shmemi_share_look_up(share, &key, &r), -ENOKEY);
    key.index = UINT32_MAX;
    assert_int_equal(shmemi_share_look_up(share, &key, &r), -ENOKEY);
    shmemi_share_close(share);
    shmemi_share_close(NULL);
}

static void bad_exports(void **state)
{
    struct shmemi_share *share = open_share(0), *second = NULL;
    struct shmemi_share_config config = common_config(&common, 0);
    struct shmemi_allow allow[17] = {{SHMEMI_ALLOW_USER, SHMEMI_RIGHT_READ, {0, 0}}};
    char text[SHMEMI_KEY_TEXT];
    (void)state;
    struct shmemi_export good = {.bytes = 8, .rights = 1, .allow = allow}, what = good;
    what.allowed = 17;
    refuses(E2BIG, "at most 16 entries", shmemi_share_export(share, &what, text));
    what = good;
    what.note_bytes = 545;
    refuses(E2BIG, "at most 544 bytes", shmemi_share_export(share, &what, text));
    what = good;
    what.bytes = 0;
    refuses(EINVAL, "not possible", shmemi_share_export(share, &what, text));
    what = good;
    what.offset = UINT64_MAX;
    refuses(EINVAL, "not possible", shmemi_share_export(share, &what, text));
    what = good;
    what.rights = 64;
    refuses(EINVAL, "not possible", shmemi_share_export(share, &what, text));
    what = good;
    what.allowed = 2; /* the second is of no kind */
    refuses(EINVAL, "entry 1 of the allow list", shmemi_share_export(share, &what, text));
    refuses(EADDRINUSE, "listening at the socket", shmemi_share_open(&config, &second));
    shmemi_share_close(share);
}

static void revoking(void **state)
{
    struct shmemi_share *share = open_share(0), *other = open_share(1);
    struct shmemi_key a = export_at(share, 0, 0, 4096), b = export_at(share, 0, 4096, 4096),
                      c = export_at(other, 0, 8192, 1), d = export_at(other, 1, 0, 1 << 20);
    struct shmemi_key_record r;
    (void)state;
    ok(shmemi_share_revoke(other, &a)); /* by whichever member */
    refuses(EKEYREVOKED, "was revoked", shmemi_share_look_up(share, &a, &r));
    refuses(EKEYREVOKED, "was revoked", shmemi_share_revoke(share, &a));
    ok(shmemi_share_look_up(share, &b, &r));
    assert_int_equal(shmemi_share_revoke_range(share, 0, 0, 4096), 0);
    assert_int_equal(shmemi_share_revoke_range(share, 0, 8191, 2), 2);
    assert_int_equal(shmemi_share_look_up(share, &b, &r), -EKEYREVOKED);
    assert_int_equal(shmemi_share_look_up(share, &c, &r), -EKEYREVOKED);
    ok(shmemi_share_look_up(share, &d, &r));
    assert_int_equal(shmemi_share_revoke_range(share, 1, 5, UINT64_MAX), 1);
    d.share++;
    assert_int_equal(shmemi_share_revoke(share, &d), -ENOKEY);
    shmemi_share_close(other);
    shmemi_share_close(share);
}

/* Revoked records are kept for a while and then used again, so the table fills up with living keys only. */
static void records_are_used_again(void **state)
{
    struct shmemi_share *share = open_share(0);
    struct shmemi_key_record r;
    struct shmemi_key first = export_at(share, 0, 0, 1), key = first;
    unsigned told = 0, forgotten = 0;
    (void)state;
    ok(shmemi_share_revoke(share, &first));
    for (int i = 0; i < 10000; i++) {
        key = export_at(share, 0, 0, 1);
        assert_true(key.index < 300);
        ok(shmemi_share_look_up(share, &key, &r));
        ok(shmemi_share_revoke(share, &key));
        if (i == 200)
            assert_int_equal(shmemi_share_look_up(share, &first, &r), -EKEYREVOKED);
        int rc = shmemi_share_look_up(share, &first, &r);
        told += rc == -EKEYREVOKED;
        forgotten += rc == -ENOKEY;
    }
    assert_true(told >= 250 && forgotten >= 1000);
    shmemi_share_close(share);
}

static void full_table(void **state)
{
    struct shmemi_share *share = open_share(0);
    struct shmemi_export what = {.bytes = 1, .rights = 1};
    struct shmemi_key keys_[TABLE];
    char text[SHMEMI_KEY_TEXT];
    (void)state;
    for (int i = 0; i < TABLE; i++)
        keys_[i] = export_at(share, 0, 0, 1);
    refuses(ENOSPC, "all 2048 keys are in use", shmemi_share_export(share, &what, text));
    ok(shmemi_share_revoke(share, &keys_[1234]));
    assert_int_equal(export_at(share, 0, 0, 1).index, 1234);
    assert_int_equal(shmemi_share_export(share, &what, text), -ENOSPC);
    shmemi_share_close(share);
}

static void no_memory_for_a_record(void **state)
{
    struct shmemi_export what = {.bytes = 1, .rights = 1};
    char text[SHMEMI_KEY_TEXT];
    (void)state;
    common.room = 2;
    struct shmemi_share *share = open_share(0);
    export_at(share, 0, 0, 1);
    export_at(share, 0, 0, 1);
    refuses(ENOMEM, "no memory for another key", shmemi_share_export(share, &what, text));
    shmemi_share_close(share);
}

/* Records in shared memory that another process spoiled. */
static void damaged_records(void **state)
{
    struct shmemi_share *share = open_share(0);
    struct shmemi_key key = export_at(share, 0, 0, 8);
    struct shmemi_key_record good = common.keys[0], out, *r = &common.keys[0];
    (void)state;
    r->allowed = 17;
    assert_int_equal(shmemi_share_look_up(share, &key, &out), -ENOKEY);
    *r = good;
    r->note_bytes = 545;
    assert_int_equal(shmemi_share_look_up(share, &key, &out), -ENOKEY);
    *r = good;
    r->offset = UINT64_MAX - 3;
    assert_int_equal(shmemi_share_look_up(share, &key, &out), -ENOKEY);
    *r = good;
    r->bytes = 0;
    assert_int_equal(shmemi_share_look_up(share, &key, &out), -ENOKEY);
    *r = good;
    r->rights = ~0u;
    assert_int_equal(shmemi_share_look_up(share, &key, &out), -ENOKEY);
    *r = good;
    atomic_store(&r->state, 0xffffffff);
    assert_int_equal(shmemi_share_look_up(share, &key, &out), -ENOKEY);
    *r = good;
    ok(shmemi_share_look_up(share, &key, &out));
    shmemi_share_close(share);
}

/* A member that was killed while it wrote. */
static void sweeping(void **state)
{
    struct shmemi_share *share = open_share(0);
    (void)state;
    for (int i = 0; i < 5; i++)
        export_at(share, 0, 0, 1);
    atomic_store(&common.keys[2].state, 1u << 16 | 3u << 8 | SHMEMI_KEY_WRITING);
    atomic_store(&common.keys[4].state, 1u << 16 | 4u << 8 | SHMEMI_KEY_WRITING);
    shmemi_keys_sweep(common.keys, TABLE, 3, 0);
    assert_int_equal(atomic_load(&common.keys[2].state) & 0xff, SHMEMI_KEY_FREE);
    assert_int_equal(atomic_load(&common.keys[4].state) & 0xff, SHMEMI_KEY_WRITING);
    assert_int_equal(export_at(share, 0, 0, 1).index, 2); /* used again before a fresh one is */
    assert_int_equal(export_at(share, 0, 0, 1).index, 5);
    shmemi_share_close(share);
}

/* Keys of segments that only a member had who is gone. */
static void orphans(void **state)
{
    struct shmemi_share *share = open_share(0), *gone = open_share(1);
    struct shmemi_key shared = export_at(gone, 0, 0, 1), others = export_at(share, 1, 0, 1),
                      first = export_at(gone, 1, 0, 1), second = export_at(gone, 2, 0, 1);
    struct shmemi_export what = {.segment = 1, .bytes = 1, .rights = 1};
    struct shmemi_key_record r;
    char text[SHMEMI_KEY_TEXT];
    (void)state;
    shmemi_share_close(gone);
    for (int twice = 0; twice < 2; twice++) {
        shmemi_keys_sweep(common.keys, TABLE, 1, 0);
        ok(shmemi_share_look_up(share, &shared, &r));
        assert_int_equal(atomic_load(&r.state) & 0xff, SHMEMI_KEY_LIVE);
        ok(shmemi_share_look_up(share, &others, &r));
        assert_int_equal(atomic_load(&r.state) & 0xff, SHMEMI_KEY_LIVE);
        ok(shmemi_share_look_up(share, &first, &r));
        assert_int_equal(atomic_load(&r.state) & 0xff, SHMEMI_KEY_ORPHANED);
    }
    ok(shmemi_share_revoke(share, &second)); /* whoever is a member can */
    assert_int_equal(shmemi_share_look_up(share, &second, &r), -EKEYREVOKED);
    for (int i = 4; i < TABLE; i++)
        export_at(share, 0, 0, 1);
    assert_int_equal(export_at(share, 0, 0, 1).index, second.index); /* a revoked one first */
    assert_int_equal(export_at(share, 0, 0, 1).index, first.index);
    refuses(ENOSPC, "all 2048 keys are in use", shmemi_share_export(share, &what, text));
    assert_int_equal(shmemi_share_look_up(share, &first, &r), -ENOKEY);
    shmemi_share_close(share);
}

/* Members that come, export and go, one after the other, do not fill the table. */
static void generations(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * TABLE; i++) {
        struct shmemi_share *share = open_share(i % 3);
        export_at(share, 1 + i, 0, 1);
        shmemi_share_close(share);
        shmemi_keys_sweep(common.keys, TABLE, i % 3, 0);
    }
}

/* A pool has one key, whoever asks for it, and however large the pool is by then. */
static void keys_of_pools(void **state)
{
    struct shmemi_share *share = open_share(0), *other = open_share(1);
    struct shmemi_export what = {.bytes = 1, .rights = SHMEMI_RIGHTS_ALL, .flags = SHMEMI_KEY_POOL};
    char first[SHMEMI_KEY_TEXT], text[SHMEMI_KEY_TEXT];
    struct shmemi_key key;
    (void)state;
    export_at(share, 0, 0, 1);
    ok(shmemi_share_export(share, &what, first));
    for (int i = 0; i < 3; i++) {
        what.bytes++;
        ok(shmemi_share_export(i % 2 ? share : other, &what, text));
        assert_string_equal(first, text);
    }
    what.rights = SHMEMI_RIGHT_READ;
    ok(shmemi_share_export(share, &what, text));
    assert_string_not_equal(first, text);
    what.rights = SHMEMI_RIGHTS_ALL;
    shmemi_share_close(share);
    shmemi_keys_sweep(common.keys, TABLE, 0, 0); /* it is not only its maker's */
    ok(shmemi_share_export(other, &what, text));
    assert_string_equal(first, text);
    ok(shmemi_key_parse(first, &key));
    ok(shmemi_share_revoke(other, &key));
    ok(shmemi_share_export(other, &what, text));
    assert_string_not_equal(first, text);
    shmemi_share_close(other);
}

/* Several writers and a reader at once: nobody sees a record that is half of one key and half of another. */
static _Atomic bool stop;

static void *writer(void *argument)
{
    struct shmemi_share *share = argument;
    for (uint64_t n = 1; !atomic_load(&stop); n++) {
        char text[SHMEMI_KEY_TEXT];
        struct shmemi_key key;
        struct shmemi_export what = {.segment = n, .offset = n, .bytes = n, .rights = SHMEMI_RIGHT_READ};
        if (shmemi_share_export(share, &what, text) < 0 || shmemi_key_parse(text, &key) < 0 ||
            shmemi_share_revoke(share, &key) < 0)
            return "a writer failed";
    }
    return NULL;
}

static void races(void **state)
{
    common.count = 3; /* so that each record is used again at once */
    struct shmemi_share *share = open_share(0);
    pthread_t threads[2];
    struct shmemi_key_record r;
    unsigned found = 0;
    void *failed[2];
    (void)state;
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, writer, share), 0);
    for (int64_t end = shmemi_now() + 300000000; shmemi_now() < end;)
        for (uint32_t i = 0; i < 3; i++) {
            struct shmemi_key key = {.share = common.number, .uid = geteuid(), .index = i};
            for (int k = 0; k < 2; k++)
                key.token[k] = __atomic_load_n(&common.keys[i].token[k], __ATOMIC_RELAXED);
            int rc = shmemi_share_look_up(share, &key, &r);
            if (rc == -ENOKEY)
                continue;
            if (r.segment != r.offset || r.offset != r.bytes)
                fail_msg("half of one key and half of another: %llu %llu %llu", (unsigned long long)r.segment,
                         (unsigned long long)r.offset, (unsigned long long)r.bytes);
            found++;
        }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &failed[i]);
    assert_true(!failed[0] && !failed[1]);
    print_message("# %u records looked at while others wrote\n", found);
    shmemi_share_close(share);
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

static struct shmemi_share *served; /* in a child */
static struct shmemi_key pool_key;

static int member(struct common *c, char what)
{
    struct shmemi_share_config config = common_config(c, 5);
    struct shmemi_key *shared = (void *)c->at[2];
    char text[SHMEMI_KEY_TEXT];
    struct shmemi_export e = {.bytes = 1, .rights = SHMEMI_RIGHTS_ALL, .flags = what == 'p' ? SHMEMI_KEY_POOL : 0};
    if (what == 'o')
        return shmemi_share_open(&config, &served);
    if (what == 'p' || what == 'b') {
        int rc = shmemi_share_export(served, &e, text);
        return rc < 0 ? rc : shmemi_key_parse(text, shared);
    }
    shmemi_share_close(served);
    return 0;
}

static void joining(void **state)
{
    int fds[2];
    unsigned nfds;
    (void)state;
    refuses(ENOENT, "no living process", shmemi_share_join(common.number, NULL, fds, &nfds));
    struct child child = child_begin(&common, member);
    assert_int_equal(child_do(&child, 'o'), 0);
    for (int by_key = 0; by_key < 2; by_key++) {
        if (by_key) {
            assert_int_equal(child_do(&child, 'p'), 0);
            memcpy(&pool_key, common.at[2], sizeof pool_key);
        }
        ok(shmemi_share_join(common.number, by_key ? &pool_key : NULL, fds, &nfds));
        assert_int_equal(nfds, 2);
        close(fds[0]);
        close(fds[1]);
    }
    pool_key.token[0]++;
    assert_int_equal(shmemi_share_join(common.number, &pool_key, fds, &nfds), -ENOKEY);
    assert_int_equal(child_do(&child, 'b'), 0);
    memcpy(&pool_key, common.at[2], sizeof pool_key);
    refuses(EACCES, "opens one buffer", shmemi_share_join(common.number, &pool_key, fds, &nfds));
    child_close(&child, true);
    assert_int_equal(shmemi_share_join(common.number, NULL, fds, &nfds), -ENOENT);
}

static void another_user_joins(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become another user");
    struct shmemi_share *share = open_share(0);
    pid_t pid = fork();
    if (pid == 0) {
        int fds[2];
        unsigned nfds;
        struct shmemi_key key = {.share = common.number, .uid = 0};
        child_check(setresuid(65534, 65534, 65534) == 0);
        child_check(shmemi_share_join(common.number, NULL, fds, &nfds) == -ENOENT); /* of its own user */
        child_check(shmemi_share_join(common.number, &key, fds, &nfds) == -EACCES);
        child_check(strstr(shmemi_last_error(), "belongs to user 0"));
        _exit(0);
    }
    child_succeeds(pid);
    shmemi_share_close(share);
}

/* Another user has taken the name: said at once. */
static void squatter(void **state)
{
    char name[64], byte;
    int ready[2];
    struct shmemi_share *share = NULL;
    struct shmemi_share_config config = common_config(&common, 2);
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become another user");
    snprintf(name, sizeof name, "share %016llx", (unsigned long long)common.number);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int listener = -1;
        child_check(setresuid(65534, 65534, 65534) == 0);
        child_check(shmemi_wire_listen_any(0, name, 2, &listener) == 0);
        child_check(write(ready[1], "x", 1) == 1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    int64_t begin = shmemi_now();
    refuses(EADDRINUSE, "a process of user 65534 holds socket 2", shmemi_share_open(&config, &share));
    print_message("# said after %.1f ms\n", (double)(shmemi_now() - begin) / 1e6);
    config.slot = 3;
    ok(shmemi_share_open(&config, &share)); /* another slot will do */
    shmemi_share_close(share);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

/* One of this user who is dying is waited for. */
static void dying_holder(void **state)
{
    struct shmemi_share *share = NULL;
    struct shmemi_share_config config = common_config(&common, 5);
    (void)state;
    struct child child = child_begin(&common, member);
    assert_int_equal(child_do(&child, 'o'), 0);
    pid_t killer = fork();
    if (killer == 0) {
        usleep(50000);
        kill(child.pid, SIGKILL);
        _exit(0);
    }
    ok(shmemi_share_open(&config, &share));
    child_succeeds(killer);
    child_close(&child, true);
    shmemi_share_close(share);
}

static void numbers(void **state)
{
    (void)state;
    assert_true(shmemi_share_number("a") == shmemi_share_number("a"));
    assert_true(shmemi_share_number("a") != shmemi_share_number("b"));
    assert_true(shmemi_share_number("") != shmemi_share_number("a"));
}

/* --- fork --------------------------------------------------------------------------------------------------------- */

static void forked(void **state)
{
    (void)state;
    if (!CHILDREN_START_THREADS)
        skip_because("the thread sanitizer cannot start threads in a forked child");
    struct shmemi_share *share = open_share(0), *forgotten = open_share(1);
    struct shmemi_key key = export_at(share, 0, 0, 1);
    struct shmemi_key_record r;
    pid_t pid = fork();
    if (pid == 0) {
        char text[SHMEMI_KEY_TEXT];
        struct shmemi_export what = {.bytes = 1, .rights = 1};
        struct shmemi_share *own = NULL;
        struct shmemi_share_config config = common_config(&common, 2);
        child_check(shmemi_share_export(share, &what, text) == -ENOTCONN);
        child_check(shmemi_share_look_up(share, &key, &r) == -ENOTCONN);
        child_check(shmemi_share_hold(common.number, geteuid()) == NULL);
        child_check(shmemi_share_open(&config, &own) == 0); /* a service thread of its own */
        child_check(shmemi_share_hold(common.number, geteuid()) == own);
        shmemi_share_let_go(own);
        child_check(shmemi_share_look_up(own, &key, &r) == 0);
        shmemi_share_close(share);
        shmemi_share_forget(forgotten);
        shmemi_share_close(own);
        _exit(0);
    }
    child_succeeds(pid);
    ok(shmemi_share_look_up(share, &key, &r));
    struct child child = child_begin(&common, member); /* the parent's still answers: its number is taken */
    struct shmemi_share *twice = NULL;
    struct shmemi_share_config config = common_config(&common, 0);
    assert_int_equal(shmemi_share_open(&config, &twice), -EADDRINUSE);
    child_close(&child, false);
    shmemi_share_close(forgotten);
    shmemi_share_close(share);
}

/* Shares and imports end while others fork, and a client's lock, which answers need, is taken by each fork. */
static pthread_mutex_t client_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned seized;

static void seize(void)
{
    pthread_mutex_lock(&client_lock);
    atomic_fetch_add(&seized, 1);
}

static void give_back(void)
{
    pthread_mutex_unlock(&client_lock);
}

static int slow_segment(void *context, uint64_t number, struct shmemi_share_segment *out)
{
    pthread_mutex_lock(&client_lock);
    int rc = common_segment(context, number, out);
    pthread_mutex_unlock(&client_lock);
    return rc;
}

/* Imports the key that is in the shared segment, again and again. */
static pid_t begin_importer(const struct shmemi_key *key)
{
    char text[SHMEMI_KEY_TEXT];
    shmemi_key_print(key, text);
    pid_t pid = fork();
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pid == 0) {
        struct shmemi_import *i = NULL;
        if (shmemi_import_open(text, SHMEMI_IMPORT_SNAPSHOT, NULL, &i) == 0)
            shmemi_import_close(i);
    }
    return pid;
}

static void *begins_and_ends(void *argument)
{
    struct shmemi_share_config config = *(const struct shmemi_share_config *)argument;
    config.slot = 1;
    while (!atomic_load(&stop)) {
        struct shmemi_share *share = NULL;
        int rc = shmemi_share_open(&config, &share);
        if (rc == -EADDRINUSE) /* a child that was just forked has its parent's socket for a moment */
            continue;
        if (rc < 0)
            return "a share could not be opened";
        shmemi_share_close(share);
    }
    return NULL;
}

static void forks_while_others_end(void **state)
{
    static const struct shmemi_fork_client client = {seize, give_back, give_back};
    enum { FORKS = LEAKS_SANITIZED ? 100 : 2000 }; /* which are slow under sanitizers */
    struct shmemi_share_config config = common_config(&common, 0);
    struct shmemi_share *share = NULL;
    pid_t importers[2], pid;
    pthread_t thread;
    void *failed;
    (void)state;
    config.segment = slow_segment;
    ok(shmemi_fork_watch(&client));
    ok(shmemi_fork_watch(&client)); /* once is enough */
    ok(shmemi_share_open(&config, &share));
    struct shmemi_key key = export_at(share, 0, 0, 4096);
    for (int i = 0; i < 2; i++)
        importers[i] = begin_importer(&key);
    atomic_store(&stop, false);
    atomic_store(&seized, 0);
    assert_int_equal(pthread_create(&thread, NULL, begins_and_ends, &config), 0);
    for (int i = 0; i < FORKS; i++) {
        pid = fork();
        if (pid == 0)
            _exit(pthread_mutex_trylock(&client_lock) != 0);
        child_succeeds(pid);
    }
    atomic_store(&stop, true);
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_int_equal(atomic_load(&seized), FORKS);
    for (int i = 0; i < 2; i++) {
        kill(importers[i], SIGKILL);
        waitpid(importers[i], NULL, 0);
    }
    shmemi_share_close(share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys, make_common, drop_common),
        cmocka_unit_test_setup_teardown(bad_exports, make_common, drop_common),
        cmocka_unit_test_setup_teardown(revoking, make_common, drop_common),
        cmocka_unit_test_setup_teardown(records_are_used_again, make_common, drop_common),
        cmocka_unit_test_setup_teardown(full_table, make_common, drop_common),
        cmocka_unit_test_setup_teardown(no_memory_for_a_record, make_common, drop_common),
        cmocka_unit_test_setup_teardown(damaged_records, make_common, drop_common),
        cmocka_unit_test_setup_teardown(sweeping, make_common, drop_common),
        cmocka_unit_test_setup_teardown(orphans, make_common, drop_common),
        cmocka_unit_test_setup_teardown(generations, make_common, drop_common),
        cmocka_unit_test_setup_teardown(keys_of_pools, make_common, drop_common),
        cmocka_unit_test_setup_teardown(races, make_common, drop_common),
        cmocka_unit_test_setup_teardown(squatter, make_common, drop_common),
        cmocka_unit_test_setup_teardown(dying_holder, make_common, drop_common),
        cmocka_unit_test_setup_teardown(joining, make_common, drop_common),
        cmocka_unit_test_setup_teardown(another_user_joins, make_common, drop_common),
        clean_test(numbers),
        cmocka_unit_test_setup_teardown(forked, make_common, drop_common),
        cmocka_unit_test_setup_teardown(forks_while_others_end, make_common, drop_common),
    };
    unsetenv("SHMEM_DIR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
