// SPDX-License-Identifier: Apache-2.0
// Imports: memory of other processes, and who may have it.
#include "shares.h"

#include <grp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "map/share.h"
#include "map/service.h"
#include "map/share_message.h"
#include "map/wire.h"

enum { KEYS = 100, OTHER_USER = 65534, THIRD_USER = 60001, A_GROUP = 60777 };

/* What test and children have in common, beside the segments. */
static struct board {
    char keys[KEYS][SHMEMI_KEY_TEXT];
    struct shmemi_export export; /* what 'x' exports; its pointers point into this page */
    struct shmemi_allow allow[SHMEMI_KEY_ALLOWS];
    char note[64];
    unsigned next; /* where the text goes */
    unsigned slot; /* of who opens */
    enum shmemi_import_mode mode;
} * board;

static struct common common;

static int make_common(void **state)
{
    leaks_setup(state);
    common_make(&common);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board->export = (struct shmemi_export){
        .offset = 4096, .bytes = 8192, .rights = SHMEMI_RIGHTS_ALL, .allow = board->allow, .note = board->note};
    board->slot = 3;
    return 0;
}

static int drop_common(void **state)
{
    munmap(board, sizeof *board);
    common_end(&common);
    return leaks_teardown(state);
}

/* --- children: 'o'pen the share, e'x'port, 'r'evoke, 'i'mport, 'c'lose the import, 'p'eek, 'q'uit --------------- */

static struct shmemi_share *share;
static struct shmemi_import *held;

static int does(struct common *c, char what)
{
    struct shmemi_share_config config = common_config(c, board->slot);
    struct shmemi_key key;
    switch (what) {
    case 'o':
        return shmemi_share_open(&config, &share);
    case 'x':
        return shmemi_share_export(share, &board->export, board->keys[board->next]);
    case 'r':
        shmemi_key_parse(board->keys[board->next], &key);
        return shmemi_share_revoke(share, &key);
    case 'i':
        return shmemi_import_open(board->keys[board->next], board->mode, NULL, &held);
    case 'c':
        shmemi_import_close(held);
        held = NULL;
        return 0;
    case 'p':
        return __atomic_load_n(c->at[0] + 4096, __ATOMIC_RELAXED); /* the service thread may have written it */
    case 'u':
        return setgroups(0, NULL) | setresgid(OTHER_USER, OTHER_USER, OTHER_USER) |
               setresuid(OTHER_USER, OTHER_USER, OTHER_USER);
    case 'q':
        shmemi_share_close(share);
        return 0;
    }
    return -1;
}

/* A process that serves a share in which there is one key, in board->keys[0]. */
static struct child exporter(void)
{
    struct child child = child_begin(&common, does);
    assert_int_equal(child_do(&child, 'o'), 0);
    assert_int_equal(child_do(&child, 'x'), 0);
    return child;
}

static struct shmemi_import *import(enum shmemi_import_mode mode)
{
    struct shmemi_import *i = NULL;
    ok(shmemi_import_open(board->keys[0], mode, NULL, &i));
    return i;
}

static int try_import(enum shmemi_import_mode mode)
{
    struct shmemi_import *i = NULL;
    int rc = shmemi_import_open(board->keys[0], mode, NULL, &i);
    if (rc == 0)
        shmemi_import_close(i);
    return rc;
}

/* The signal that ends a child which writes there; 0: none. */
static int signal_of_write(volatile char *at)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would report it */
        *at = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static unsigned count_in_maps(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[4400];
    unsigned count = 0;
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, "memfd:keys") != NULL;
    fclose(file);
    return count;
}

/* --- ways to import ----------------------------------------------------------------------------------------------- */

static void reads_and_writes(void **state)
{
    (void)state;
    strcpy(board->note, "int32 2048");
    board->export.note_bytes = 10;
    struct child child = exporter();
    struct shmemi_import *w = import(SHMEMI_IMPORT_WRITE), *r = import(SHMEMI_IMPORT_READ);
    char *writable = w->address, *readable = r->address;
    assert_true(w->bytes == 8192 && w->rights == SHMEMI_RIGHTS_ALL && w->record.note_bytes == 10);
    assert_memory_equal(w->record.note, "int32 2048", 10);
    assert_ptr_not_equal(writable, common.at[0] + 4096);
    writable[0] = 77; /* the same bytes, in this process's two views and the exporter's */
    assert_int_equal(readable[0], 77);
    assert_int_equal(child_do(&child, 'p'), 77);
    common.at[0][4096 + 8191] = 5;
    assert_int_equal(readable[8191], 5);
    assert_int_equal(signal_of_write(readable), SIGSEGV);
    assert_int_equal(signal_of_write(writable + 1), 0);
    shmemi_import_close(r);
    writable[0] = 78; /* the other mapping stays */
    shmemi_import_close(w);
    shmemi_import_close(NULL);
    child_close(&child, false);
}

static void copies(void **state)
{
    (void)state;
    board->export.offset = 5000; /* in the middle of a page */
    board->export.bytes = 6000;
    struct child child = exporter();
    char *theirs = common.at[0] + 5000;
    memset(theirs, 1, 6000);
    struct shmemi_import *cow = import(SHMEMI_IMPORT_COW), *snapshot = import(SHMEMI_IMPORT_SNAPSHOT);
    char *mine = cow->address, *then = snapshot->address;
    assert_true(cow->bytes == 6000 && snapshot->bytes == 6000 && mine[0] == 1 && then[5999] == 1);
    mine[0] = 2;
    then[1] = 3;
    assert_true(theirs[0] == 1 && theirs[1] == 1 && mine[1] == 1 && then[0] == 1);
    theirs[5999] = 4; /* its page was not written to here */
    assert_true(mine[5999] == 4 && then[5999] == 1);
    struct shmemi_import *second = import(SHMEMI_IMPORT_COW);
    assert_int_equal(((char *)second->address)[0], 1); /* a copy of its own */
    uint64_t before = 0;
    memset(mine, 0, 16);
    ok(shmemi_import_atomic(cow, SHMEMI_ATOMIC_ADD, 8, 0, 5, 0, &before)); /* on the private copy */
    ok(shmemi_import_atomic(cow, SHMEMI_ATOMIC_FETCH, 8, 0, 0, 0, &before));
    assert_true(before == 5 && theirs[0] == 1);
    shmemi_import_close(second);
    shmemi_import_close(cow);
    shmemi_import_close(snapshot);
    child_close(&child, false);
}

static void by_member(void **state)
{
    struct shmemi_import *i = NULL;
    (void)state;
    assert_int_equal(does(&common, 'o'), 0);
    assert_int_equal(does(&common, 'x'), 0);
    unsigned maps = count_in_maps();
    i = import(SHMEMI_IMPORT_WRITE);
    struct shmemi_import *again = import(SHMEMI_IMPORT_WRITE), *r = import(SHMEMI_IMPORT_READ);
    assert_ptr_equal(i->address, again->address);
    assert_int_equal(count_in_maps(), maps + 1); /* for reading; to write it has one */
    *(char *)i->address = 17;
    assert_true(common.at[0][4096] == 17 && *(char *)r->address == 17);
    assert_int_equal(signal_of_write(r->address), SIGSEGV); /* though the share has it mapped for writing */
    assert_int_equal(signal_of_write(i->address), 0);
    shmemi_import_close(again);
    shmemi_import_close(i);
    shmemi_import_close(r);
    assert_int_equal(count_in_maps(), maps);
    i = import(SHMEMI_IMPORT_SNAPSHOT);
    assert_int_equal(((char *)i->address)[0], common.at[0][4096]);
    shmemi_import_close(i);
    i = import(SHMEMI_IMPORT_COW);
    ((char *)i->address)[0] = 99;
    assert_int_not_equal(common.at[0][4096], 99);
    shmemi_import_close(i);
    i = import(SHMEMI_IMPORT_ATOMIC);
    uint64_t before;
    assert_null(i->address);
    *(uint64_t *)(void *)(common.at[0] + 4096 + 8) = 40;
    ok(shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, 8, 8, 2, 0, &before));
    assert_true(before == 40 && *(uint64_t *)(void *)(common.at[0] + 4096 + 8) == 42);
    shmemi_import_close(i);
    assert_int_equal(does(&common, 'r'), 0);
    refuses(EKEYREVOKED, "was revoked", try_import(SHMEMI_IMPORT_READ));
    assert_int_equal(does(&common, 'q'), 0);
}

/* What a member imported stays when its share is closed and the memory is unmapped there; and a share of the same name
   has memory of its own. */
static void outlives_the_share(void **state)
{
    enum shmemi_import_mode modes[] = {SHMEMI_IMPORT_READ, SHMEMI_IMPORT_ATOMIC};
    struct shmemi_import *i[2];
    struct common other;
    uint64_t before;
    (void)state;
    assert_int_equal(does(&common, 'o'), 0);
    assert_int_equal(does(&common, 'x'), 0);
    for (int k = 0; k < 2; k++)
        i[k] = import(modes[k]);
    ok(shmemi_import_atomic(i[0], SHMEMI_ATOMIC_SET, 8, 0, 5, 0, &before)); /* it may, though it maps for reading */
    assert_int_equal(*(uint64_t *)i[0]->address, 5);
    assert_int_equal(does(&common, 'q'), 0);
    assert_int_equal(mprotect(common.at[0], SEGMENT_BYTES, PROT_NONE), 0);
    for (int k = 1; k < 2; k++)
        ok(shmemi_import_atomic(i[k], SHMEMI_ATOMIC_ADD, 8, 0, 1, 0, &before));
    assert_int_equal(*(uint64_t *)i[0]->address, 6);
    refuses(EKEYEXPIRED, "nobody living", shmemi_import_atomic(i[0], SHMEMI_ATOMIC_ADD, 8, 0, 1, 0, &before));
    common_make(&other);
    other.number = common.number;
    assert_int_equal(does(&other, 'o'), 0);
    assert_int_equal(does(&other, 'x'), 0);
    struct shmemi_import *fresh = import(SHMEMI_IMPORT_READ);
    assert_int_equal(*(uint64_t *)fresh->address, 0);
    refuses(ENOKEY, "no such key", shmemi_import_atomic(i[0], SHMEMI_ATOMIC_ADD, 8, 0, 1, 0, &before));
    shmemi_import_close(fresh);
    assert_int_equal(does(&other, 'q'), 0);
    common_end(&other);
    for (int k = 0; k < 2; k++)
        shmemi_import_close(i[k]);
}

/* A share that ended, and another of the same name, while what was imported of the first is held. */
static void a_name_used_again(void **state)
{
    struct common other;
    (void)state;
    common_make(&other);
    other.number = common.number;
    struct child next = child_begin(&other, does); /* before this process has threads */
    struct child first = exporter();
    struct shmemi_import *old = import(SHMEMI_IMPORT_WRITE);
    *(char *)old->address = 11;
    child_close(&first, true);
    assert_int_equal(child_do(&next, 'o'), 0);
    assert_int_equal(child_do(&next, 'x'), 0);
    for (int mode = SHMEMI_IMPORT_READ; mode <= SHMEMI_IMPORT_SNAPSHOT; mode++) {
        struct shmemi_import *fresh = import((enum shmemi_import_mode)mode);
        assert_int_equal(*(char *)fresh->address, 0);
        shmemi_import_close(fresh);
    }
    struct shmemi_import *fresh = import(SHMEMI_IMPORT_WRITE);
    *(char *)fresh->address = 12;
    assert_true(other.at[0][4096] == 12 && *(char *)old->address == 11);
    shmemi_import_close(old);
    shmemi_import_close(fresh);
    child_close(&next, false);
    common_end(&other);
}

/* A member that does not hold the segment itself asks another. */
static void member_asks_member(void **state)
{
    (void)state;
    struct child child = exporter();
    common.hold = common.map = false;
    board->slot = 4;
    assert_int_equal(does(&common, 'o'), 0);
    struct shmemi_import *i = import(SHMEMI_IMPORT_WRITE), *again = import(SHMEMI_IMPORT_WRITE);
    assert_ptr_not_equal(i->address, common.at[0] + 4096);
    assert_ptr_equal(i->address, again->address);
    *(char *)i->address = 31;
    assert_int_equal(child_do(&child, 'p'), 31);
    assert_int_equal(child_do(&child, 'r'), 0); /* seen in the table, at once */
    assert_int_equal(try_import(SHMEMI_IMPORT_WRITE), -EKEYREVOKED);
    shmemi_import_close(i);
    shmemi_import_close(again);
    child_close(&child, true);
    assert_int_equal(does(&common, 'q'), 0);
}

/* --- keys that do not open anything ------------------------------------------------------------------------------- */

static void revoked(void **state)
{
    (void)state;
    struct child child = exporter(), other = child_begin(&common, does);
    struct shmemi_import *i = import(SHMEMI_IMPORT_WRITE);
    assert_int_equal(child_do(&child, 'r'), 0);
    refuses(EKEYREVOKED, "was revoked", try_import(SHMEMI_IMPORT_WRITE)); /* though it is mapped: guests are told */
    refuses(EKEYREVOKED, "was revoked", try_import(SHMEMI_IMPORT_READ));
    assert_int_equal(child_do(&other, 'i'), -EKEYREVOKED);
    *(char *)i->address = 12; /* what is mapped stays */
    assert_int_equal(child_do(&child, 'p'), 12);
    child_close(&child, true);
    assert_int_equal(child_do(&other, 'i'), -EKEYREVOKED); /* the guest says so too */
    shmemi_import_close(i);
    assert_int_equal(child_do(&other, 'i'), -EKEYEXPIRED);
    child_close(&other, false);
}

static void unknown(void **state)
{
    struct shmemi_import *i = NULL;
    struct shmemi_key key;
    char text[SHMEMI_KEY_TEXT];
    (void)state;
    struct child child = exporter();
    ok(shmemi_key_parse(board->keys[0], &key));
    key.token[1] ^= 1ull << 63;
    shmemi_key_print(&key, text);
    refuses(ENOKEY, "no such key", shmemi_import_open(text, SHMEMI_IMPORT_READ, NULL, &i));
    key.token[1] ^= 1ull << 63;
    key.index++;
    shmemi_key_print(&key, text);
    refuses(ENOKEY, "no such key", shmemi_import_open(text, SHMEMI_IMPORT_READ, NULL, &i));
    refuses(EINVAL, "does not begin with", shmemi_import_open("nonsense", SHMEMI_IMPORT_READ, NULL, &i));
    refuses(EINVAL, "NULL", shmemi_import_open(NULL, SHMEMI_IMPORT_READ, NULL, &i));
    refuses(EINVAL, "no way 7 to import", try_import(7));
    child_close(&child, false);
    refuses(EKEYEXPIRED, "nobody living holds the memory of this key", try_import(SHMEMI_IMPORT_READ));
    key.slot = UINT16_MAX;
    shmemi_key_print(&key, text);
    refuses(EKEYEXPIRED, "nobody living", shmemi_import_open(text, SHMEMI_IMPORT_READ, NULL, &i));
}

/* A pool's key opens no buffer. */
static void pool_key(void **state)
{
    (void)state;
    board->export.flags = SHMEMI_KEY_POOL;
    struct child child = exporter();
    refuses(EINVAL, "opens a whole pool", try_import(SHMEMI_IMPORT_READ));
    child_close(&child, false);
}

/* --- who serves when the exporter is dead ------------------------------------------------------------------------- */

static void another_member_serves(void **state)
{
    (void)state;
    struct child first = exporter();
    board->slot = 200;
    struct child second = child_begin(&common, does);
    assert_int_equal(child_do(&second, 'o'), 0);
    child_close(&first, true);
    struct shmemi_import *i = import(SHMEMI_IMPORT_WRITE);
    *(char *)i->address = 55;
    assert_int_equal(child_do(&second, 'p'), 55);
    shmemi_import_close(i);
    child_close(&second, true);
    assert_int_equal(try_import(SHMEMI_IMPORT_READ), -EKEYEXPIRED);
}

static void a_guest_serves(void **state)
{
    (void)state;
    struct child first = exporter(), guest = child_begin(&common, does), reader = child_begin(&common, does);
    board->mode = SHMEMI_IMPORT_WRITE;
    assert_int_equal(child_do(&guest, 'i'), 0);
    board->mode = SHMEMI_IMPORT_READ;
    assert_int_equal(child_do(&reader, 'i'), 0);
    child_close(&first, true);
    struct shmemi_import *i = import(SHMEMI_IMPORT_WRITE);
    *(char *)i->address = 56;
    assert_int_equal(child_do(&guest, 'p'), 56);
    assert_true(i->rights == SHMEMI_RIGHTS_ALL);
    shmemi_import_close(i);
    child_close(&guest, true);
    i = import(SHMEMI_IMPORT_READ);
    assert_int_equal(*(char *)i->address, 56);
    uint64_t before;
    refuses(EKEYEXPIRED, "nobody living", shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, 4, 0, 1, 0, &before));
    assert_int_equal(child_do(&reader, 'c'), 0);
    struct shmemi_import *again = import(SHMEMI_IMPORT_READ); /* this process is a guest as well */
    assert_ptr_equal(again->address, i->address);
    shmemi_import_close(again);
    shmemi_import_close(i);
    assert_int_equal(try_import(SHMEMI_IMPORT_READ), -EKEYEXPIRED);
    child_close(&reader, false);
}

/* The segment was the exporter's alone: the members that live do not have it, but a guest does. */
static void a_guest_serves_orphans(void **state)
{
    (void)state;
    board->export.segment = 1;
    struct child first = exporter(), guest = child_begin(&common, does);
    board->mode = SHMEMI_IMPORT_WRITE;
    assert_int_equal(child_do(&guest, 'i'), 0);
    board->slot = 4;
    struct child member = child_begin(&common, does);
    assert_int_equal(child_do(&member, 'o'), 0);
    child_close(&first, true);
    shmemi_keys_sweep(common.keys, TABLE, 3, 0);
    assert_int_equal(child_do(&member, 'i'), 0); /* it asks the guest; and so does who is no member */
    assert_int_equal(child_do(&member, 'c'), 0);
    ok(try_import(SHMEMI_IMPORT_WRITE));
    assert_int_equal(child_do(&member, 'r'), 0); /* which is told */
    assert_int_equal(try_import(SHMEMI_IMPORT_WRITE), -EKEYREVOKED);
    assert_int_equal(child_do(&guest, 'c'), 0);
    child_close(&member, false); /* it has the guest's pipe, too */
    child_close(&guest, false);
}

/* --- rights ------------------------------------------------------------------------------------------------------- */

static void rights_of_the_same_user(void **state)
{
    uint64_t before;
    (void)state;
    board->export.rights = SHMEMI_RIGHT_READ;
    struct child child = exporter();
    refuses(EACCES, "reading and writing was asked for, but the key grants user", try_import(SHMEMI_IMPORT_WRITE));
    refuses(EACCES, ": read", try_import(SHMEMI_IMPORT_WRITE));
    refuses(EACCES, "any atomic operation was asked for", try_import(SHMEMI_IMPORT_ATOMIC));
    struct shmemi_import *i = import(SHMEMI_IMPORT_READ);
    assert_int_equal(i->rights, SHMEMI_RIGHT_READ);
    refuses(EACCES, "an atomic add", shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, 4, 0, 1, 0, &before));
    common.at[0][4096] = 9;
    common.at[0][4097] = common.at[0][4098] = common.at[0][4099] = 0;
    ok(shmemi_import_atomic(i, SHMEMI_ATOMIC_FETCH, 4, 0, 0, 0, &before)); /* by the owner */
    assert_int_equal(before, 9);
    refuses(EACCES, "reading and writing", try_import(SHMEMI_IMPORT_WRITE));
    shmemi_import_close(i);
    ok(try_import(SHMEMI_IMPORT_COW));
    ok(try_import(SHMEMI_IMPORT_SNAPSHOT));
    board->export.rights = SHMEMI_RIGHT_ADD | SHMEMI_RIGHT_WRITE;
    assert_int_equal(child_do(&child, 'x'), 0);
    for (int mode = SHMEMI_IMPORT_READ; mode <= SHMEMI_IMPORT_SNAPSHOT; mode++)
        refuses(EACCES, "write, atomic add", try_import((enum shmemi_import_mode)mode));
    ok(try_import(SHMEMI_IMPORT_ATOMIC));
    board->export.rights = 0;
    assert_int_equal(child_do(&child, 'x'), 0);
    refuses(EACCES, ": nothing", try_import(SHMEMI_IMPORT_READ));
    child_close(&child, false);
}

static void frozen(void **state)
{
    (void)state;
    board->export.flags = SHMEMI_KEY_FROZEN;
    ok(shmemi_hal_host.freeze(common.fds[0]));
    struct child child = exporter();
    refuses(EACCES, "reading and writing", try_import(SHMEMI_IMPORT_WRITE));
    refuses(EACCES, "atomic", try_import(SHMEMI_IMPORT_ATOMIC));
    ok(try_import(SHMEMI_IMPORT_READ));
    ok(try_import(SHMEMI_IMPORT_COW));
    child_close(&child, false);
}

static void tokens_and_pes(void **state)
{
    struct shmemi_import_claims claims = {.token = {7, 8}}, wrong = {.token = {7, 9}}, pe = {.job = 5, .pe = 2},
                                other_pe = {.job = 5, .pe = 3};
    struct shmemi_import *i = NULL, *j = NULL;
    (void)state;
    board->export.rights = 0;
    board->export.allowed = 3;
    board->allow[0] = (struct shmemi_allow){SHMEMI_ALLOW_TOKEN, SHMEMI_RIGHT_READ | SHMEMI_RIGHT_WRITE, {7, 8}};
    board->allow[1] = (struct shmemi_allow){SHMEMI_ALLOW_PE, SHMEMI_RIGHT_READ, {2, 5}};
    board->allow[2] = (struct shmemi_allow){SHMEMI_ALLOW_TOKEN, SHMEMI_RIGHT_READ, {0, 0}}; /* nobody's */
    struct child child = exporter();
    assert_int_equal(try_import(SHMEMI_IMPORT_READ), -EACCES);
    assert_int_equal(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_READ, &wrong, &i), -EACCES);
    assert_int_equal(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_READ, &other_pe, &i), -EACCES);
    ok(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_READ, &pe, &i));
    assert_true(i->rights == SHMEMI_RIGHT_READ && i->record.allowed == 1); /* nobody is told of others' tokens */
    assert_int_equal(i->record.allow[0].kind, SHMEMI_ALLOW_PE);
    assert_int_equal(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_WRITE, &pe, &j), -EACCES);
    ok(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_WRITE, &claims, &j));
    assert_int_equal(try_import(SHMEMI_IMPORT_READ), -EACCES); /* still, though it is mapped */
    shmemi_import_close(j);
    shmemi_import_close(i);
    child_close(&child, false);
}

static void atomics(void **state)
{
    const enum shmemi_atomic ops[] = {SHMEMI_ATOMIC_SET, SHMEMI_ATOMIC_ADD,  SHMEMI_ATOMIC_AND, SHMEMI_ATOMIC_OR,
                                      SHMEMI_ATOMIC_XOR, SHMEMI_ATOMIC_SWAP, SHMEMI_ATOMIC_CAS, SHMEMI_ATOMIC_CAS};
    const uint64_t operands[] = {100, 5, 0x6f, 0x100, 1, 7, 8, 9}, compares[] = {0, 0, 0, 0, 0, 0, 7, 7},
                   results[] = {100, 105, 105 & 0x6f, 0x169, 0x168, 7, 8, 8};
    (void)state;
    struct child child = exporter();
    struct shmemi_import *remote = import(SHMEMI_IMPORT_ATOMIC), *direct = import(SHMEMI_IMPORT_WRITE);
    assert_true(!remote->address && remote->bytes == 8192);
    for (unsigned width = 4; width <= 8; width += 4)
        for (int way = 0; way < 2; way++) {
            struct shmemi_import *i = way ? direct : remote;
            uint64_t was = 0, before = 0, now = 0;
            memset(common.at[0] + 4096, 0, 64);
            for (unsigned k = 0; k < 8; k++) {
                ok(shmemi_import_atomic(i, ops[k], width, 16, operands[k], compares[k], &before));
                assert_int_equal(before, was);
                ok(shmemi_import_atomic(i, SHMEMI_ATOMIC_FETCH, width, 16, 0, 0, &now));
                assert_int_equal(now, results[k]);
                was = now;
            }
            assert_true(common.at[0][4096 + 16] == 8 && common.at[0][4096 + 15] == 0 && common.at[0][4096 + 20] == 0);
            ok(shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, width, 8192 - width, 1, 0, NULL));
            refuses(EINVAL, "beyond", shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, width, 8192, 1, 0, &before));
            refuses(EINVAL, "beyond", shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, width, UINT64_MAX, 1, 0, &before));
            refuses(EINVAL, "not aligned", shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, width, 2, 1, 0, &before));
            refuses(EINVAL, "not of 2", shmemi_import_atomic(i, SHMEMI_ATOMIC_ADD, 2, 0, 1, 0, &before));
            refuses(EINVAL, "no atomic operation 9", shmemi_import_atomic(i, 9, width, 0, 1, 0, &before));
        }
    int64_t begin = shmemi_now();
    for (int k = 0; k < 100; k++)
        ok(shmemi_import_atomic(remote, SHMEMI_ATOMIC_ADD, 8, 0, 1, 0, NULL));
    print_message("# an atomic by the owner's service thread: %.1f us\n", (double)(shmemi_now() - begin) / 1e5);
    child_close(&child, true);
    refuses(EKEYEXPIRED, "nobody living", shmemi_import_atomic(remote, SHMEMI_ATOMIC_ADD, 8, 0, 1, 0, NULL));
    ok(shmemi_import_atomic(direct, SHMEMI_ATOMIC_ADD, 8, 0, 1, 0, NULL));
    shmemi_import_close(remote);
    shmemi_import_close(direct);
}

/* Each right alone allows its operations and no other; the server decides, whatever a client believes. */
static void atomic_rights(void **state)
{
    const uint32_t needs[] = {SHMEMI_RIGHT_ADD,  SHMEMI_RIGHT_SWAP, SHMEMI_RIGHT_ADD,  SHMEMI_RIGHT_BITS,
                              SHMEMI_RIGHT_BITS, SHMEMI_RIGHT_BITS, SHMEMI_RIGHT_SWAP, SHMEMI_RIGHT_CAS};
    (void)state;
    struct child child = exporter();
    for (uint32_t right = SHMEMI_RIGHT_ADD; right <= SHMEMI_RIGHT_CAS; right <<= 1) {
        board->export.rights = right;
        assert_int_equal(child_do(&child, 'x'), 0);
        struct shmemi_import *i = import(SHMEMI_IMPORT_ATOMIC);
        for (int believes = 0; believes < 2; believes++) {
            i->rights = believes ? SHMEMI_RIGHTS_ALL : right;
            for (int op = SHMEMI_ATOMIC_FETCH; op <= SHMEMI_ATOMIC_CAS; op++) {
                int rc = shmemi_import_atomic(i, (enum shmemi_atomic)op, 8, 0, 0, 0, NULL);
                assert_int_equal(rc, needs[op] == right ? 0 : -EACCES);
            }
        }
        shmemi_import_close(i);
    }
    child_close(&child, false);
}

/* --- other users -------------------------------------------------------------------------------------------------- */

static void become(uid_t uid, gid_t group)
{
    child_check(setgroups(group != 0, &group) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
}

/* The exporter, as an ordinary user; root is outside of it all. */
static struct child exporter_of_other_user(void)
{
    struct child child = child_begin(&common, does);
    for (int i = 0; i < SEGMENTS; i++)
        assert_int_equal(fchown(common.fds[i], OTHER_USER, OTHER_USER), 0);
    assert_int_equal(child_do(&child, 'u'), 0);
    assert_int_equal(child_do(&child, 'o'), 0);
    assert_int_equal(child_do(&child, 'x'), 0);
    return child;
}

static void allow_third_user(enum shmemi_allow_kind kind, uint32_t rights, uint64_t id)
{
    board->export.allowed = 1;
    board->allow[0] = (struct shmemi_allow){kind, rights, {id, 0}};
}

static void cannot_be_written(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    child_check((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
    child_check(open(path, O_RDWR | O_CLOEXEC) < 0 && errno == EACCES);
    child_check(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES);
    child_check(fchmod(fd, 0666) < 0 && errno == EPERM);
    child_check(ftruncate(fd, 0) < 0);
    void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    child_check(at != MAP_FAILED && mprotect(at, 4096, PROT_READ | PROT_WRITE) < 0);
    munmap(at, 4096);
}

/* The descriptor that the server really sends. */
static int receive_descriptor(void)
{
    char name[64];
    struct shmemi_key key;
    struct shmemi_share_answer a;
    int socket = -1, fd = -1;
    unsigned count = 0;
    child_check(shmemi_key_parse(board->keys[0], &key) == 0);
    struct shmemi_share_request r = {.magic = SHMEMI_SHARE_MAGIC,
                                     .type = SHMEMI_SHARE_IMPORT,
                                     .share = key.share,
                                     .uid = key.uid,
                                     .index = key.index,
                                     .slot = key.slot,
                                     .token = {key.token[0], key.token[1]},
                                     .mode = SHMEMI_IMPORT_READ};
    snprintf(name, sizeof name, "share %016llx", (unsigned long long)key.share);
    child_check(shmemi_wire_connect_any(key.uid, name, key.slot, false, &socket) == 0);
    child_check(shmemi_wire_send(socket, &r, sizeof r, NULL, 0, shmemi_now() + 1000000000) == 0);
    child_check(shmemi_wire_receive(socket, &a, sizeof a, &fd, 1, &count, shmemi_now() + 1000000000) == 0);
    child_check(a.rc == 0 && count == 1);
    close(socket);
    return fd;
}

/* A process as that user, in which the test goes on. */
#define AS_USER(uid, group, ...)                                                                                       \
    do {                                                                                                               \
        pid_t as_user = fork();                                                                                        \
        if (as_user == 0) {                                                                                            \
            for (int seg = 0; seg < SEGMENTS; seg++)                                                                   \
                close(common.fds[seg]);                                                                                \
            become(uid, group);                                                                                        \
            __VA_ARGS__;                                                                                               \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        child_succeeds(as_user);                                                                                       \
    } while (0)

static void other_users(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become other users");
    common.own = true;
    struct child child = exporter_of_other_user();
    AS_USER(THIRD_USER, 0, {
        child_check(try_import(SHMEMI_IMPORT_READ) == -EACCES);
        child_check(strstr(shmemi_last_error(), "grants user 60001: nothing"));
        child_check(try_import(SHMEMI_IMPORT_ATOMIC) == -EACCES);
    });
    AS_USER(OTHER_USER, 0, child_check(try_import(SHMEMI_IMPORT_WRITE) == 0));
    allow_third_user(SHMEMI_ALLOW_USER, SHMEMI_RIGHT_READ, THIRD_USER);
    assert_int_equal(child_do(&child, 'x'), 0);
    common.at[0][4096] = 21;
    AS_USER(THIRD_USER, 0, {
        child_check(try_import(SHMEMI_IMPORT_WRITE) == -EACCES);
        child_check(strstr(shmemi_last_error(), "grants user 60001: read"));
        struct shmemi_import *i = NULL;
        child_check(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_READ, NULL, &i) == 0);
        child_check(*(char *)i->address == 21 && i->rights == SHMEMI_RIGHT_READ);
        child_check(mprotect((void *)((uintptr_t)i->address & ~4095ul), 4096, PROT_READ | PROT_WRITE) < 0);
        child_check(try_import(SHMEMI_IMPORT_COW) == 0 && try_import(SHMEMI_IMPORT_SNAPSHOT) == 0);
        shmemi_import_close(i);
        int fd = receive_descriptor();
        cannot_be_written(fd);
        close(fd);
    });
    AS_USER(THIRD_USER + 1, 0, child_check(try_import(SHMEMI_IMPORT_READ) == -EACCES));
    allow_third_user(SHMEMI_ALLOW_USER, SHMEMI_RIGHTS_ALL, THIRD_USER);
    assert_int_equal(child_do(&child, 'x'), 0);
    AS_USER(THIRD_USER, 0, {
        struct shmemi_import *i = NULL;
        child_check(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_WRITE, NULL, &i) == 0);
        *(char *)i->address = 22;
        shmemi_import_close(i);
    });
    assert_int_equal(child_do(&child, 'p'), 22);
    child_close(&child, false);
}

static void groups(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become other users");
    common.own = true;
    allow_third_user(SHMEMI_ALLOW_GROUP, SHMEMI_RIGHT_READ, A_GROUP);
    struct child child = exporter_of_other_user();
    AS_USER(THIRD_USER, 0, child_check(try_import(SHMEMI_IMPORT_READ) == -EACCES));
    AS_USER(THIRD_USER, A_GROUP, child_check(try_import(SHMEMI_IMPORT_READ) == 0));
    AS_USER(A_GROUP, 0, child_check(try_import(SHMEMI_IMPORT_READ) == 0)); /* its own group */
    child_close(&child, false);
}

/* A user who is allowed, but the segment holds other buffers too. */
static void shared_segment(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become other users");
    allow_third_user(SHMEMI_ALLOW_USER, SHMEMI_RIGHTS_ALL, THIRD_USER);
    struct child child = exporter_of_other_user();
    AS_USER(THIRD_USER, 0, {
        struct shmemi_import *i = NULL;
        uint64_t before;
        child_check(try_import(SHMEMI_IMPORT_READ) == -EACCES);
        child_check(strstr(shmemi_last_error(), "needs a segment of its own"));
        child_check(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_ATOMIC, NULL, &i) == 0); /* no mapping */
        child_check(shmemi_import_atomic(i, SHMEMI_ATOMIC_SET, 4, 0, 33, 0, &before) == 0);
        shmemi_import_close(i);
    });
    assert_int_equal(child_do(&child, 'p'), 33);
    child_close(&child, false);
}

/* A guest of another user, who may read only, serves its own user's processes on, for reading only. */
static void guest_of_another_user(void **state)
{
    int ready[2], go[2];
    char byte;
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become other users");
    common.own = true;
    allow_third_user(SHMEMI_ALLOW_USER, SHMEMI_RIGHT_READ, THIRD_USER);
    struct child child = exporter_of_other_user();
    common.at[0][4096] = 61;
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t guest = fork();
    if (guest == 0) {
        struct shmemi_import *i = NULL;
        close(go[1]);
        become(THIRD_USER, 0);
        child_check(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_READ, NULL, &i) == 0);
        child_check(write(ready[1], "x", 1) == 1);
        child_check(read(go[0], &byte, 1) == 0);
        shmemi_import_close(i);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    child_close(&child, true);
    AS_USER(THIRD_USER, 0, {
        struct shmemi_import *i = NULL;
        close(go[1]);
        child_check(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_READ, NULL, &i) == 0);
        child_check(*(char *)i->address == 61 && i->rights == SHMEMI_RIGHT_READ);
        child_check(try_import(SHMEMI_IMPORT_WRITE) < 0);
        shmemi_import_close(i);
    });
    /* The exporter's own user does not believe a server of a third. */
    AS_USER(OTHER_USER, 0, {
        close(go[1]);
        child_check(try_import(SHMEMI_IMPORT_READ) == -EKEYEXPIRED);
        child_check(strstr(shmemi_last_error(), "not believed"));
    });
    close(go[1]);
    child_succeeds(guest);
    close(go[0]);
    close(ready[0]);
    close(ready[1]);
}

/* Sockets as files, in a directory that everybody can write to. */
static void users_in_a_directory(void **state)
{
    char directory[] = "/tmp/shmem-test-XXXXXX";
    (void)state;
    if (geteuid() != 0)
        skip_because("it takes root to become other users");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chmod(directory, 01777), 0);
    setenv("SHMEM_DIR", directory, 1);
    common.own = true;
    allow_third_user(SHMEMI_ALLOW_USER, SHMEMI_RIGHT_READ, THIRD_USER);
    struct child child = exporter_of_other_user();
    AS_USER(THIRD_USER, 0, child_check(try_import(SHMEMI_IMPORT_READ) == 0));
    AS_USER(THIRD_USER + 1, 0, child_check(try_import(SHMEMI_IMPORT_READ) == -EACCES));
    assert_int_equal(child_do(&child, 'q'), 0);
    child_close(&child, false);
    unsetenv("SHMEM_DIR");
    assert_int_equal(rmdir(directory), 0); /* nothing was left in it */
}

/* --- many, and at once -------------------------------------------------------------------------------------------- */

static void speed(void **state)
{
    enum { ROUNDS = 1000 };
    static struct shmemi_import *many[100000];
    (void)state;
    struct child child = exporter();
    int64_t begin = shmemi_now();
    struct shmemi_import *i = import(SHMEMI_IMPORT_WRITE);
    int64_t first = shmemi_now() - begin;
    begin = shmemi_now();
    for (int k = 0; k < ROUNDS; k++)
        shmemi_import_close(import(SHMEMI_IMPORT_WRITE));
    int64_t again = shmemi_now() - begin;
    shmemi_import_close(i);
    int64_t cold = 0, warm_thread = 0;
    for (int k = 0; k < ROUNDS / 10; k++) {
        begin = shmemi_now();
        i = import(SHMEMI_IMPORT_WRITE);
        cold += shmemi_now() - begin;
        shmemi_import_close(i);
    }
    common.number++; /* another share of this process's, so the service thread is there */
    does(&common, 'o');
    for (int k = 0; k < ROUNDS / 10; k++) {
        begin = shmemi_now();
        i = import(SHMEMI_IMPORT_WRITE);
        warm_thread += shmemi_now() - begin;
        shmemi_import_close(i);
    }
    does(&common, 'q');
    common.number--;
    begin = shmemi_now();
    for (int k = 0; k < ROUNDS; k++)
        shmemi_import_close(import(SHMEMI_IMPORT_ATOMIC));
    int64_t asked = shmemi_now() - begin;
    print_message("# the very first import %.1f us; cold %.1f us, %.1f us where a service thread runs, asking alone "
                  "%.1f us; mapped already %.3f us\n",
                  (double)first / 1e3, (double)cold / (ROUNDS / 10) / 1e3, (double)warm_thread / (ROUNDS / 10) / 1e3,
                  (double)asked / (double)ROUNDS / 1e3, (double)again / (double)ROUNDS / 1e3);
    unsigned maps = count_in_maps();
    begin = shmemi_now();
    for (size_t k = 0; k < 100000; k++)
        many[k] = import(SHMEMI_IMPORT_READ);
    int64_t all = shmemi_now() - begin;
    assert_int_equal(count_in_maps(), maps + 1);
    print_message("# 100000 imports of one key: %.3f us each\n", (double)all / 1e8);
    for (size_t k = 0; k < 100000; k++)
        shmemi_import_close(many[k]);
    assert_int_equal(count_in_maps(), maps);
    child_close(&child, false);
    board->slot = 6;
    does(&common, 'o');
    does(&common, 'x');
    for (int warm = 0; warm < 2; warm++) {
        i = warm ? import(SHMEMI_IMPORT_WRITE) : NULL;
        begin = shmemi_now();
        for (int k = 0; k < ROUNDS; k++)
            shmemi_import_close(import(SHMEMI_IMPORT_WRITE));
        print_message("# of a share of its own, %s: %.3f us\n", warm ? "mapped already" : "cold",
                      (double)(shmemi_now() - begin) / (double)ROUNDS / 1e3);
        shmemi_import_close(i);
    }
    does(&common, 'q');
}

/* More segments than descriptors are kept of. */
static int any_segment(void *context, uint64_t number, struct shmemi_share_segment *out)
{
    int rc = common_segment(context, 0, out);
    return number < 1000 ? rc : -ENOENT;
}

static int does_many(struct common *c, char what)
{
    struct shmemi_share_config config = common_config(c, 1);
    config.segment = any_segment;
    if (what == 'o')
        return shmemi_share_open(&config, &share);
    for (unsigned k = 0; k < KEYS; k++) {
        board->export.segment = k;
        if (shmemi_share_export(share, &board->export, board->keys[k]) < 0)
            return -1;
    }
    return 0;
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void many_segments(void **state)
{
    struct shmemi_import *i[KEYS];
    (void)state;
    struct child child = child_begin(&common, does_many), other = child_begin(&common, does);
    assert_int_equal(child_do(&child, 'o'), 0);
    assert_int_equal(child_do(&child, 'x'), 0);
    unsigned before = descriptors();
    for (unsigned k = 0; k < KEYS; k++)
        ok(shmemi_import_open(board->keys[k], SHMEMI_IMPORT_WRITE, NULL, &i[k]));
    assert_in_range(descriptors() - before, SHMEMI_IMPORT_FDS, SHMEMI_IMPORT_FDS + 2); /* a socket and a bell */
    child_close(&child, true);
    board->mode = SHMEMI_IMPORT_WRITE;
    board->next = 0;
    assert_int_equal(child_do(&other, 'i'), 0);
    assert_int_equal(child_do(&other, 'c'), 0);
    board->next = KEYS - 1;
    assert_int_equal(child_do(&other, 'i'), -EKEYEXPIRED);
    child_close(&other, false);
    for (unsigned k = 0; k < KEYS; k++)
        shmemi_import_close(i[k]);
    assert_int_equal(descriptors(), before - 4); /* the children's pipes */
}

static void *imports_and_closes(void *argument)
{
    uint64_t seed = (uintptr_t)argument;
    struct shmemi_import *i[8] = {0};
    for (int round = 0; round < 400; round++) {
        unsigned k = next_random(&seed) % 8;
        if (i[k]) {
            shmemi_import_close(i[k]);
            i[k] = NULL;
            continue;
        }
        enum shmemi_import_mode mode = next_random(&seed) % 5;
        if (shmemi_import_open(board->keys[next_random(&seed) % 3], mode, NULL, &i[k]) < 0)
            return "an import failed";
        if (i[k]->address)
            seed ^= *(volatile char *)i[k]->address & 1;
    }
    for (unsigned k = 0; k < 8; k++)
        shmemi_import_close(i[k]);
    return NULL;
}

static void threads(void **state)
{
    pthread_t all[4];
    (void)state;
    struct child child = exporter();
    for (unsigned k = 0; k < 3; k++) {
        board->next = k;
        board->export.segment = k;
        assert_int_equal(child_do(&child, 'x'), 0);
    }
    for (uintptr_t k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&all[k], NULL, imports_and_closes, (void *)(k + 77)), 0);
    for (unsigned k = 0; k < 4; k++) {
        void *failed;
        pthread_join(all[k], &failed);
        if (failed)
            fail_msg("%s", (char *)failed);
    }
    child_close(&child, false);
}

/* Connections that say nothing keep nobody waiting. */
static void silent_clients(void **state)
{
    int sockets[200];
    char name[64];
    (void)state;
    struct child child = exporter();
    snprintf(name, sizeof name, "share %016llx", (unsigned long long)common.number);
    for (int k = 0; k < 200; k++)
        ok(shmemi_wire_connect_any(geteuid(), name, 3, false, &sockets[k]));
    int64_t begin = shmemi_now();
    ok(try_import(SHMEMI_IMPORT_READ));
    double took = (double)(shmemi_now() - begin) / 1e6;
    print_message("# an import behind 200 silent clients: %.1f ms\n", took);
    if (took > 5000) /* each silent client would take a second */
        fail_msg("an import took %.0f ms", took);
    char byte;
    for (int k = 0; k < 200; k++) { /* in the end they are thrown out */
        assert_int_equal(read(sockets[k], &byte, 1), 0);
        close(sockets[k]);
    }
    child_close(&child, false);
}

/* --- servers that lie --------------------------------------------------------------------------------------------- */

static pthread_mutex_t lie_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shmemi_share_answer lie;
static int lie_fd;
static _Atomic int silent_ends; /* so many are left without an answer, as by one that ends */

static void lies(void *context, int socket)
{
    struct shmemi_share_request r;
    unsigned none;
    (void)context;
    pthread_mutex_lock(&lie_lock);
    if (silent_ends > 0)
        silent_ends--;
    else if (shmemi_wire_receive(socket, &r, sizeof r, NULL, 0, &none, shmemi_now() + 1000000000) == 0)
        shmemi_wire_send(socket, &lie, sizeof lie, &lie_fd, lie_fd >= 0, shmemi_now() + 1000000000);
    pthread_mutex_unlock(&lie_lock);
}

/* An import that is answered with this. */
static int told(struct shmemi_share_answer a, int fd)
{
    pthread_mutex_lock(&lie_lock);
    lie = a;
    lie_fd = fd;
    pthread_mutex_unlock(&lie_lock);
    return try_import(SHMEMI_IMPORT_READ);
}

static void liars(void **state)
{
    char name[64];
    int listener = -1, unsealed = memfd_create("unsealed", MFD_CLOEXEC);
    struct shmemi_service *service = NULL;
    struct shmemi_key key = {.share = common.number, .uid = geteuid(), .slot = 3, .token = {1, 2}};
    const struct shmemi_share_answer good = {.magic = SHMEMI_SHARE_MAGIC,
                                             .type = SHMEMI_SHARE_IMPORT,
                                             .rights = SHMEMI_RIGHT_READ,
                                             .window_bytes = SEGMENT_BYTES,
                                             .record = {.token = {1, 2}, .bytes = 4096, .rights = 1}};
    (void)state;
    assert_int_equal(ftruncate(unsealed, SEGMENT_BYTES), 0);
    shmemi_key_print(&key, board->keys[0]);
    snprintf(name, sizeof name, "share %016llx", (unsigned long long)common.number);
    ok(shmemi_wire_listen_any(geteuid(), name, 3, &listener));
    ok(shmemi_service_listen(listener, shmemi_wire_accept_any, lies, NULL, &service));
    struct shmemi_share_answer bad = good;
    int fd = common.fds[0];
    ok(told(good, fd));
    bad.magic++;
    refuses(EPROTO, "does not understand", told(bad, fd));
    bad = good;
    bad.record.token[0] = 3;
    refuses(EPROTO, "makes no sense", told(bad, fd));
    bad = good;
    bad.record.offset = UINT64_MAX;
    refuses(EPROTO, "makes no sense", told(bad, fd));
    bad = good;
    bad.window = 1;
    refuses(EPROTO, "does not contain", told(bad, fd));
    bad = good;
    bad.window = (uint64_t)1 << 63;
    refuses(EPROTO, "does not contain", told(bad, fd));
    bad = good;
    bad.window_bytes = 4095;
    refuses(EPROTO, "does not contain", told(bad, fd));
    bad = good;
    bad.window_bytes = SEGMENT_BYTES + 4096;
    refuses(EPROTO, "instead of", told(bad, fd));
    bad = good;
    bad.kind = 77;
    refuses(ENODEV, "kind of memory", told(bad, fd));
    refuses(EPROTO, "not sealed", told(good, unsealed));
    refuses(EPROTO, "makes no sense", told(good, -1));
    bad = (struct shmemi_share_answer){.magic = SHMEMI_SHARE_MAGIC, .type = SHMEMI_SHARE_IMPORT, .rc = -EACCES};
    memset(bad.text, 'x', sizeof bad.text);
    memcpy(bad.text, "\033[31mno\n", 8);
    refuses(EACCES, "?[31mno?xxx", told(bad, -1));
    silent_ends = 4; /* whoever comes next into the place is asked */
    ok(told(good, fd));
    assert_int_equal(silent_ends, 0);
    silent_ends = 1000; /* but not without an end */
    refuses(EPIPE, "has gone", told(good, fd));
    shmemi_service_stop(service);
    close(unsealed);
}

/* --- fork --------------------------------------------------------------------------------------------------------- */

static void forked(void **state)
{
    (void)state;
    if (!CHILDREN_START_THREADS)
        skip_because("the thread sanitizer cannot start threads in a forked child");
    struct child child = exporter();
    struct shmemi_import *i = import(SHMEMI_IMPORT_WRITE), *cow = import(SHMEMI_IMPORT_COW);
    unsigned before = descriptors();
    pid_t pid = fork();
    if (pid == 0) {
        struct shmemi_import *again = NULL;
        child_check(descriptors() == before - 3); /* segment, guest's socket and the bell are closed */
        *(char *)i->address = 91;
        *(char *)cow->address = 92;
        child_check(shmemi_import_open(board->keys[0], SHMEMI_IMPORT_WRITE, NULL, &again) == 0);
        child_check(again->address == i->address); /* one mapping still */
        shmemi_import_close(i);
        *(char *)again->address = 93;
        shmemi_import_close(again);
        shmemi_import_close(cow);
        child_check(descriptors() == before - 3);
        _exit(0);
    }
    child_succeeds(pid);
    assert_int_equal(child_do(&child, 'p'), 93);
    assert_int_not_equal(*(char *)cow->address, 92);
    *(char *)i->address = 94;
    assert_int_equal(child_do(&child, 'p'), 94);
    child_close(&child, true);
    struct child other = child_begin(&common, does); /* the parent still serves */
    board->mode = SHMEMI_IMPORT_READ;
    assert_int_equal(child_do(&other, 'i'), 0);
    child_close(&other, false);
    shmemi_import_close(i);
    shmemi_import_close(cow);
}

#define import_test(f) cmocka_unit_test_setup_teardown(f, make_common, drop_common)

int main(void)
{
    const struct CMUnitTest tests[] = {
        import_test(reads_and_writes),
        import_test(copies),
        import_test(by_member),
        import_test(outlives_the_share),
        import_test(a_name_used_again),
        import_test(member_asks_member),
        import_test(revoked),
        import_test(unknown),
        import_test(pool_key),
        import_test(another_member_serves),
        import_test(a_guest_serves),
        import_test(a_guest_serves_orphans),
        import_test(rights_of_the_same_user),
        import_test(frozen),
        import_test(tokens_and_pes),
        import_test(atomics),
        import_test(atomic_rights),
        import_test(other_users),
        import_test(groups),
        import_test(shared_segment),
        import_test(guest_of_another_user),
        import_test(users_in_a_directory),
        import_test(speed),
        import_test(many_segments),
        import_test(threads),
        import_test(silent_clients),
        import_test(liars),
        import_test(forked),
    };
    unsetenv("SHMEM_DIR");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
