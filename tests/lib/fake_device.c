// SPDX-License-Identifier: Apache-2.0
// Device memory is a memfd; its address is a reservation without rights, and copies go by pread and pwrite.
#include "fake_device.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum { DEVICES = 2, PAGE = 65536, PATIENCE = 30 /* seconds */ };

#define NEVER(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            fprintf(stderr, "fake device: " __VA_ARGS__);                                                              \
            fputc('\n', stderr);                                                                                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct block {
    struct block *next;
    char *address;
    size_t bytes;
    int device, fd;
    unsigned let_in; /* a bit a device */
    uint64_t id;
    bool plain;
};

enum kind { COPY, WRITE, WAIT, TELL, HOLD };

struct operation {
    struct operation *next;
    enum kind kind;
    char *to;
    const char *from;
    size_t bytes;
    uint64_t value;
    enum shmemi_device_compare compare;
    const struct shmemi_device_words *words;
    size_t word;
};

struct stream {
    struct stream *next;
    int device;
    struct operation *first, **last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static struct block *blocks;
static struct stream *streams;
static unsigned words_live;
static uint64_t ids;
static bool reached;
static unsigned long calls, fails_at;
static int fails_with;
static bool fired;
static _Thread_local int current = -1;

/* ---- the script ---- */

void fake_fail(unsigned long nth, int code)
{
    pthread_mutex_lock(&lock);
    fails_at = nth ? calls + nth : 0;
    fails_with = code;
    fired = false;
    pthread_mutex_unlock(&lock);
}

bool fake_failed(void)
{
    pthread_mutex_lock(&lock);
    bool did = fired;
    pthread_mutex_unlock(&lock);
    return did;
}

unsigned long fake_calls(void)
{
    pthread_mutex_lock(&lock);
    unsigned long n = calls;
    pthread_mutex_unlock(&lock);
    return n;
}

unsigned fake_live(void)
{
    pthread_mutex_lock(&lock);
    unsigned live = words_live;
    for (struct block *b = blocks; b; b = b->next)
        live += !b->plain;
    for (struct stream *s = streams; s; s = s->next)
        live++;
    pthread_mutex_unlock(&lock);
    return live;
}

/* Begins a call that may fail: 0 with the lock held, or the scripted failure without it. */
static int enter_call(const char *slot)
{
    pthread_mutex_lock(&lock);
    if (++calls != fails_at)
        return 0;
    fired = true;
    pthread_mutex_unlock(&lock);
    return shmemi_fail(fails_with, "fake %s fails, as it was told to", slot);
}

static int leave_call(int rc)
{
    pthread_mutex_unlock(&lock);
    return rc;
}

#define BEGIN(slot)                                                                                                    \
    do {                                                                                                               \
        int begun = enter_call(slot);                                                                                  \
        if (begun < 0)                                                                                                 \
            return begun;                                                                                              \
    } while (0)

/* ---- devices ---- */

static int check_device(int device)
{
    return device >= 0 && device < DEVICES ? 0 : shmemi_fail(-ENODEV, "there is no fake device %d", device);
}

static int fake_open(int *count)
{
    BEGIN("open");
    *count = DEVICES;
    return leave_call(0);
}

static int fake_version(char text[64])
{
    snprintf(text, 64, "Fake 1.0");
    return 0;
}

static int fake_describe(int device, struct shmemi_device_info *out)
{
    BEGIN("describe");
    int rc = check_device(device);
    *out = (struct shmemi_device_info){.name = "Fake",
                                       .id = {(uint8_t)(device + 1)},
                                       .free_bytes = 1 << 30,
                                       .total_bytes = 1 << 30,
                                       .way = SHMEMI_WAY_DESCRIPTOR,
                                       .can_signal = true};
    return leave_call(rc);
}

static int fake_find(const uint8_t id[16], int *device)
{
    BEGIN("find");
    *device = id[0] - 1;
    return leave_call(check_device(*device));
}

static int fake_identify(int device, int32_t *process)
{
    BEGIN("identify");
    *process = (int32_t)getpid();
    return leave_call(check_device(device));
}

static int fake_can_reach(int device, int peer, bool *can)
{
    BEGIN("can_reach");
    *can = true;
    return leave_call(check_device(device) < 0 ? -ENODEV : check_device(peer));
}

static int fake_reach(int device, int peer)
{
    (void)device, (void)peer;
    BEGIN("reach");
    reached = true;
    return leave_call(0);
}

/* ---- memory ---- */

static struct block *block_at(const void *address, size_t bytes)
{
    for (struct block *b = blocks; b; b = b->next) {
        size_t offset = (uintptr_t)address - (uintptr_t)b->address;
        if (offset < b->bytes && bytes <= b->bytes - offset)
            return b;
    }
    return NULL;
}

/* Takes the descriptor. */
static int map(int device, int fd, size_t bytes, struct block **out)
{
    struct block *b = calloc(1, sizeof *b);
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    NEVER(!b || at == MAP_FAILED || fd < 0, "no memory");
    *b = (struct block){
        .next = blocks, .address = at, .bytes = bytes, .device = device, .fd = fd, .let_in = 1u << device, .id = ++ids};
    *out = blocks = b;
    return 0;
}

static int make_block(int device, size_t bytes, struct block **out)
{
    size_t rounded = (bytes + PAGE - 1) / PAGE * PAGE;
    int rc = check_device(device);
    if (rc < 0)
        return rc;
    if (rounded > (size_t)1 << 32)
        return shmemi_fail(-ENOMEM, "the fake device has no %zu bytes", bytes);
    int fd = memfd_create("fake device", MFD_CLOEXEC);
    NEVER(fd < 0 || ftruncate(fd, (off_t)rounded) != 0, "no memory");
    return map(device, fd, rounded, out);
}

static void unmap(struct block *gone)
{
    struct block **at = &blocks;
    for (struct stream *s = streams; s; s = s->next)
        for (struct operation *o = s->first; o; o = o->next)
            NEVER((o->to && block_at(o->to, 1) == gone) || (o->from && block_at(o->from, 1) == gone),
                  "memory is released that a stream still works on");
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    munmap(gone->address, gone->bytes);
    close(gone->fd);
    free(gone);
}

static void fill(struct shmemi_device_memory *out, const struct block *b)
{
    *out = (struct shmemi_device_memory){
        .device = b->device, .address = b->address, .bytes = b->bytes, .way = SHMEMI_WAY_DESCRIPTOR};
}

static int fake_allocate(int device, size_t bytes, struct shmemi_device_memory *out)
{
    struct block *b;
    BEGIN("allocate");
    int rc = make_block(device, bytes, &b);
    if (rc == 0)
        fill(out, b);
    return leave_call(rc);
}

static void fake_release(struct shmemi_device_memory *memory)
{
    pthread_mutex_lock(&lock);
    struct block *b = block_at(memory->address, 1);
    NEVER(!b || b->address != memory->address, "memory is released that was not allocated");
    if (!memory->adopted)
        unmap(b);
    pthread_mutex_unlock(&lock);
}

static int fake_export(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,
                       struct shmemi_device_ticket *ticket, int *descriptor)
{
    (void)processes, (void)count;
    BEGIN("export_memory");
    struct block *b = block_at(memory->address, 1);
    NEVER(!b, "memory is exported that is not there");
    shmemi_device_begin_ticket(ticket, SHMEMI_WAY_DESCRIPTOR, b->bytes, (int32_t)getpid());
    ticket->id[0] = (uint8_t)(b->device + 1);
    *descriptor = dup(b->fd);
    return leave_call(*descriptor < 0 ? shmemi_fail_errno("dup") : 0);
}

static int fake_import(const struct shmemi_device_ticket *ticket, int descriptor, int device,
                       struct shmemi_device_memory *out)
{
    struct stat st;
    struct block *b;
    BEGIN("import_memory");
    int rc = shmemi_device_check_ticket(ticket, (int32_t)getpid());
    if (rc == 0 && (fstat(descriptor, &st) != 0 || (uint64_t)st.st_size < ticket->bytes))
        rc = shmemi_fail(-EINVAL, "the descriptor is none of %zu bytes", (size_t)ticket->bytes);
    if (rc == 0 && (rc = check_device(device)) == 0 && (rc = map(device, dup(descriptor), ticket->bytes, &b)) == 0) {
        fill(out, b);
        out->imported = true;
    }
    return leave_call(rc);
}

static int fake_admit(const struct shmemi_device_memory *memory, int device)
{
    BEGIN("admit");
    reached = true; /* that is part of it */
    struct block *b = block_at(memory->address, 1);
    NEVER(!b, "a device is let into memory that is not there");
    b->let_in |= 1u << device;
    return leave_call(check_device(device));
}

static int fake_describe_pointer(const void *address, struct shmemi_device_pointer *out)
{
    BEGIN("describe_pointer");
    struct block *b = block_at(address, 1);
    *out = (struct shmemi_device_pointer){.device = b};
    if (b) {
        out->number = b->device;
        out->base = b->address;
        out->bytes = b->bytes;
        out->id = b->id;
    }
    return leave_call(0);
}

static int fake_adopt(const void *address, size_t bytes, struct shmemi_device_memory *out)
{
    BEGIN("adopt");
    struct block *b = block_at(address, bytes);
    if (!b)
        return leave_call(shmemi_fail(-EINVAL, "%p is no memory of a fake device", address));
    fill(out, b);
    out->adopted = true;
    return leave_call(0);
}

static int fake_allocate_plain(int device, size_t bytes, void **out)
{
    struct block *b;
    BEGIN("allocate_plain");
    int rc = make_block(device, bytes, &b);
    if (rc == 0) {
        b->plain = true;
        *out = b->address;
    }
    return leave_call(rc);
}

static int fake_free_plain(int device, void *address)
{
    (void)device;
    BEGIN("free_plain");
    struct block *b = block_at(address, 1);
    NEVER(!b || !b->plain, "memory is freed that was not allocated");
    unmap(b);
    return leave_call(0);
}

/* ---- what streams do ---- */

static void move(const struct operation *o)
{
    struct block *to = block_at(o->to, o->bytes), *from = block_at(o->from, o->bytes);
    char *through = malloc(o->bytes ? o->bytes : 1);
    NEVER(!through, "no memory");
    if (from)
        NEVER(pread(from->fd, through, o->bytes, o->from - from->address) != (ssize_t)o->bytes, "pread");
    else
        memcpy(through, o->from, o->bytes);
    if (to)
        NEVER(pwrite(to->fd, through, o->bytes, o->to - to->address) != (ssize_t)o->bytes, "pwrite");
    else
        memcpy(o->to, through, o->bytes);
    free(through);
}

static uint64_t word_at(const char *at)
{
    uint64_t value = 0;
    struct block *b = block_at(at, sizeof value);
    NEVER(!b || pread(b->fd, &value, sizeof value, at - b->address) != sizeof value, "no word there");
    return value;
}

/* Does an operation, if its time has come. */
static bool operate(const struct operation *o)
{
    struct block *b;
    uint64_t *told;
    switch (o->kind) {
    case COPY:
        move(o);
        return true;
    case WRITE:
        b = block_at(o->to, sizeof o->value);
        NEVER(!b || pwrite(b->fd, &o->value, sizeof o->value, o->to - b->address) != sizeof o->value, "no word there");
        return true;
    case WAIT:
        return o->compare == SHMEMI_UNTIL_EQUAL ? word_at(o->from) == o->value : word_at(o->from) >= o->value;
    case TELL:
        told = shmemi_words_told(o->words, o->word);
        NEVER(__atomic_exchange_n(told, 1, __ATOMIC_ACQ_REL), "a word is told twice");
        return true;
    case HOLD:
        return ((const uint64_t *)o->words->memory)[o->word] >= o->value;
    }
    return true;
}

/* All streams go as far as they can. */
static void pump(void)
{
    for (bool any = true; any;) {
        any = false;
        for (struct stream *s = streams; s; s = s->next)
            while (s->first && operate(s->first)) {
                struct operation *done = s->first;
                if (!(s->first = done->next))
                    s->last = &s->first;
                free(done);
                any = true;
            }
    }
    pthread_cond_broadcast(&moved);
}

static struct stream *stream_of(struct shmemi_device_stream stream)
{
    struct stream *s = streams;
    while (s && s != stream.driver)
        s = s->next;
    NEVER(!s, "a stream is used that is not there");
    return s;
}

/* Only copies may be left lying: who waits for what comes after them asks for it in some other way. */
static int queue(struct shmemi_device_stream stream, struct operation what)
{
    struct stream *s = stream_of(stream);
    if (current != s->device)
        return leave_call(shmemi_fail(-EBADFD, "device %d is current, not %d", current, s->device));
    struct operation *o = malloc(sizeof *o);
    NEVER(!o, "no memory");
    *o = what;
    o->next = NULL;
    *s->last = o;
    s->last = &o->next;
    if (o->kind != COPY)
        pump();
    return leave_call(0);
}

static bool may(const struct block *b, int device)
{
    return !b || (b->let_in & 1u << device && (b->device == device || reached));
}

static int fake_copy(void *to, const void *from, size_t bytes, enum shmemi_device_direction direction,
                     struct shmemi_device_stream stream)
{
    BEGIN("copy");
    struct block *there = block_at(to, bytes), *here = block_at(from, bytes);
    NEVER(!there != (direction == SHMEMI_FROM_DEVICE) || !here != (direction == SHMEMI_TO_DEVICE),
          "the direction of a copy is not that of its addresses");
    NEVER(direction == SHMEMI_DEVICE_TO_DEVICE && ((uintptr_t)to | (uintptr_t)from) % 64,
          "a copy within the device's memory is not aligned");
    if (!may(there, stream.device) || !may(here, stream.device))
        return leave_call(shmemi_fail(-EIO, "fake device %d was not let into that memory", stream.device));
    return queue(stream, (struct operation){.kind = COPY, .to = to, .from = from, .bytes = bytes});
}

static int fake_write_value(void *at, uint64_t value, struct shmemi_device_stream stream)
{
    BEGIN("write_value");
    return queue(stream, (struct operation){.kind = WRITE, .to = at, .value = value});
}

static int fake_wait_value(const void *at, uint64_t value, enum shmemi_device_compare compare,
                           struct shmemi_device_stream stream)
{
    BEGIN("wait_value");
    return queue(stream, (struct operation){.kind = WAIT, .from = at, .value = value, .compare = compare});
}

/* ---- streams ---- */

static int fake_create_stream(int device, struct shmemi_device_stream *out)
{
    BEGIN("create_stream");
    int rc = check_device(device);
    struct stream *s = rc == 0 ? calloc(1, sizeof *s) : NULL;
    if (s) {
        *s = (struct stream){.next = streams, .device = device, .last = &s->first};
        streams = s;
        *out = (struct shmemi_device_stream){.device = device, .driver = s};
    }
    return leave_call(rc);
}

static void drain(struct stream *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    for (pump(); s->first;)
        NEVER(pthread_cond_timedwait(&moved, &lock, &until) == ETIMEDOUT, "a stream is waited for that is held");
}

static void fake_destroy_stream(struct shmemi_device_stream *stream)
{
    pthread_mutex_lock(&lock);
    struct stream *s = stream_of(*stream), **at = &streams;
    drain(s);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
    pthread_mutex_unlock(&lock);
}

/* As a driver does that has lost a stream: what was queued does not happen any more. */
static void lose(struct stream *s)
{
    while (s->first) {
        struct operation *lost = s->first;
        s->first = lost->next;
        free(lost);
    }
    s->last = &s->first;
}

static int fake_finish(struct shmemi_device_stream stream)
{
    int rc = enter_call("finish");
    if (rc < 0) {
        pthread_mutex_lock(&lock);
        lose(stream_of(stream));
        return leave_call(rc);
    }
    drain(stream_of(stream));
    return leave_call(0);
}

static int fake_query(struct shmemi_device_stream stream, bool *done)
{
    BEGIN("query");
    pump();
    *done = !stream_of(stream)->first;
    return leave_call(0);
}

static int fake_enter(int device, struct shmemi_device_current *before)
{
    BEGIN("enter");
    *before = (struct shmemi_device_current){
        .context = current >= 0 ? &current : NULL, .device = current, .same = current == device};
    int rc = check_device(device);
    if (rc == 0)
        current = device;
    return leave_call(rc);
}

static void fake_leave(const struct shmemi_device_current *before)
{
    current = before->context ? before->device : -1;
}

/* ---- words ---- */

static int fake_make_words(int device, size_t count, struct shmemi_device_words *out)
{
    BEGIN("make_words");
    *out = (struct shmemi_device_words){.device = device,
                                        .count = count,
                                        .told = calloc(count, SHMEMI_WORDS_APART),
                                        .memory = calloc(count, sizeof(uint64_t))};
    NEVER(!out->told || !out->memory, "no memory");
    words_live++;
    return leave_call(0);
}

static void fake_free_words(struct shmemi_device_words *words)
{
    pthread_mutex_lock(&lock);
    words_live--;
    free(words->told);
    free(words->memory);
    pthread_mutex_unlock(&lock);
}

static int fake_tell(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream)
{
    BEGIN("tell");
    return queue(stream, (struct operation){.kind = TELL, .words = words, .word = i});
}

static int fake_hold(const struct shmemi_device_words *words, size_t i, uint64_t number,
                     struct shmemi_device_stream stream)
{
    BEGIN("hold");
    return queue(stream, (struct operation){.kind = HOLD, .words = words, .word = i, .value = number});
}

static int fake_let_go(const struct shmemi_device_words *words, size_t i, uint64_t number)
{
    BEGIN("let_go");
    ((uint64_t *)words->memory)[i] = number;
    pump();
    return leave_call(0);
}

static const struct shmemi_device_hal fake = {
    .type = "fake",
    .maker = "Fake",
    .ways = 1u << SHMEMI_WAY_DESCRIPTOR,
    .copy_align = 64,
    .open = fake_open,
    .version = fake_version,
    .describe = fake_describe,
    .find = fake_find,
    .identify = fake_identify,
    .allocate = fake_allocate,
    .release = fake_release,
    .export_memory = fake_export,
    .import_memory = fake_import,
    .can_reach = fake_can_reach,
    .reach = fake_reach,
    .admit = fake_admit,
    .create_stream = fake_create_stream,
    .destroy_stream = fake_destroy_stream,
    .finish = fake_finish,
    .query = fake_query,
    .enter = fake_enter,
    .leave = fake_leave,
    .copy = fake_copy,
    .write_value = fake_write_value,
    .wait_value = fake_wait_value,
    .describe_pointer = fake_describe_pointer,
    .make_words = fake_make_words,
    .free_words = fake_free_words,
    .tell = fake_tell,
    .hold = fake_hold,
    .let_go = fake_let_go,
    .adopt = fake_adopt,
    .allocate_plain = fake_allocate_plain,
    .free_plain = fake_free_plain,
};

/* The linker puts this in place of the library's own list. */
const struct shmemi_device_hal *__wrap_shmemi_device_hal(int index);
const struct shmemi_device_hal *__wrap_shmemi_device_hal(int index)
{
    return index == 0 ? &fake : NULL;
}
