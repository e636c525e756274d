// SPDX-License-Identifier: Apache-2.0
// Fuzzing what comes from others as keys: their text, requests to a server of a share, and records in its table.
//
// The first byte of an input chooses: a key's text, a request alone, or a record followed by a request.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hal/hal.h"
#include "map/key.h"
#include "map/share_keys.h"
#include "map/share_serve.h"

enum { BYTES = 65536 };

static struct shmemi_key_record records[2];
static struct shmemi_keys keys = {.records = records, .count = 2};
static char memory[BYTES] __attribute__((aligned(4096)));

static void text(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1); /* of just this size, so that reading beyond is noticed */
    struct shmemi_key key;
    memcpy(copy, data, size);
    copy[size] = 0;
    if (shmemi_key_parse(copy, &key) == 0) {
        char again[SHMEMI_KEY_TEXT];
        shmemi_key_print(&key, again);
        if (strcmp(copy, again) != 0)
            abort(); /* two texts of one key */
    }
    free(copy);
}

static void round_trip(const uint8_t *data, size_t size)
{
    struct shmemi_key key = {0}, out;
    char printed[SHMEMI_KEY_TEXT];
    memcpy(&key, data, size < sizeof key ? size : sizeof key);
    shmemi_key_print(&key, printed);
    if (shmemi_key_parse(printed, &out) < 0 || out.share != key.share || out.uid != key.uid || out.index != key.index ||
        out.slot != key.slot || memcmp(out.token, key.token, sizeof key.token) != 0)
        abort();
}

static int look_up(void *context, const struct shmemi_key *key, struct shmemi_key_record *out)
{
    (void)context;
    return shmemi_keys_find(&keys, key->index, key->token, out);
}

static int segment(void *context, uint64_t number, struct shmemi_share_segment *out)
{
    static int fd = -1;
    (void)context;
    (void)number;
    if (fd < 0 && shmemi_hal_host.create("fuzz", BYTES, NULL, &fd) < 0)
        abort();
    *out = (struct shmemi_share_segment){.fd = fd, .window_bytes = BYTES, .own = true};
    return 0;
}

static int find_memory(void *context, uint64_t number, uint64_t offset, uint64_t bytes, void **out)
{
    (void)context;
    (void)number;
    if (offset > BYTES || bytes > BYTES - offset)
        return -1;
    *out = memory + offset;
    return 0;
}

static int ticket(void *context, uint64_t number, int32_t process, struct shmemi_device_ticket *out, int *fd)
{
    (void)context, (void)number;
    shmemi_device_begin_ticket(out, SHMEMI_WAY_KEY, BYTES, process);
    *fd = -1;
    return 0;
}

static void request(const uint8_t *data, size_t size)
{
    const struct shmemi_server server = {
        .number = 1, .uid = geteuid(), .look_up = look_up, .segment = segment, .memory = find_memory, .ticket = ticket};
    struct shmemi_share_request r = {.magic = SHMEMI_SHARE_MAGIC, .share = 1, .uid = geteuid()};
    int pair[2];
    char drain[4096];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    bool whole = size && data[0] & 1; /* else the fields that have to be right for anything to happen are */
    size -= size > 0;
    if (whole)
        send(pair[0], data + 1, size, 0);
    else {
        size_t most = sizeof r - offsetof(struct shmemi_share_request, index), bytes = size < most ? size : most;
        memcpy(&r.index, data + 1, bytes);
        r.type = bytes ? 1 + data[bytes] % 6 : 1;
        r.index %= 2;
        memcpy(r.token, records[r.index].token, sizeof r.token);
        send(pair[0], &r, sizeof r, 0);
    }
    shutdown(pair[0], SHUT_WR);
    shmemi_share_serve(&server, pair[1]);
    while (recv(pair[0], drain, sizeof drain, MSG_DONTWAIT) > 0)
        ; /* descriptors that came are closed with the message */
    close(pair[0]);
    close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    unsigned what = data[0] % 4;
    data++;
    size--;
    if (what == 0) {
        text(data, size);
        round_trip(data, size);
    }
    if (what == 3 && size >= sizeof *records) {
        memcpy(records, data, sizeof *records);
        atomic_store(&records[0].state, 1u << 16 | (data[0] & 3));
        data += sizeof *records;
        size -= sizeof *records;
    }
    if (what != 0)
        request(data, size);
    return 0;
}
