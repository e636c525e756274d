// SPDX-License-Identifier: Apache-2.0
// What the doubles of drivers share: "device memory" that is a memfd, which the CPU reaches only through the copy calls
// (its addresses are mapped without any access), streams that work on their queues at their own pace, a thread each,
// calls that are counted and can be made to fail, and what was leaked at exit.
#ifndef TESTS_DOUBLES_DOUBLE_H
#define TESTS_DOUBLES_DOUBLE_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
/* The leak sanitizer stumbles over what threads have of a library that was opened late, unless it is placed so. */
#define A_THREADS _Thread_local __attribute__((tls_model("initial-exec")))

enum { PHYSICALS = 64, RANGES = 64, STREAMS = 16, QUEUED = 8192, HOSTS = 16, UNIT = 2 << 20, LEAK_STATUS = 97 };
enum { ON_HOST = -1, LOOK_AGAIN = 100 /* us, of a stream that waits for a word */ };

struct physical {
    bool used, imported;
    int fd, device, references; /* handles and mappings */
    bool handle;
    uint64_t shared; /* Ascend: the number that others import; 0: none */
    int list;        /* Ascend: the file of those who may; 0: none */
    size_t bytes;
    uint64_t id;  /* no other one of this process has it */
    char key[96]; /* Ascend: of some of its pages; CUDA: by which it was opened */
};
struct range {
    char *at; /* NULL: free */
    size_t bytes;
    struct physical *mapped;
    size_t into;     /* where in what is mapped it begins */
    unsigned access; /* a bit a device */
    bool plain;      /* allocated in one call, or opened */
    bool part;       /* of a reservation that holds others, too */
};
struct operation {
    enum { COPY, WRITE, WAIT } what;
    char *to;
    const char *from;
    size_t bytes;
    uint64_t value;
    unsigned how;
};
struct stream {
    bool used, works; /* works: its thread runs, for this and all later streams in its place */
    int device, first, count;
    struct operation queue[QUEUED]; /* a ring */
};

static struct physical physicals[PHYSICALS];
static struct range ranges[RANGES];
static struct stream streams[STREAMS];

/* Host memory that the driver allocated. */
struct host {
    char *at; /* NULL: free */
    size_t bytes;
    struct range *seen; /* as devices see it, at another address; NULL: they do not */
};
static struct host hosts[HOSTS];

/* For the tests: all calls so far; and the n-th call from now of one function ("*": of any) answers `code`. */
EXPORTED unsigned long double_calls, double_failures;
EXPORTED int double_gone; /* not 0: the driver has been torn down, and answers this to everything */
EXPORTED void double_fail(const char *call, int nth, int code);
EXPORTED void double_hold(int on); /* streams do nothing until it is taken back */
static struct {
    char call[64];
    int left, code;
} scripted;

void double_fail(const char *call, int nth, int code)
{
    snprintf(scripted.call, sizeof scripted.call, "%s", call);
    scripted.left = nth;
    scripted.code = code;
}

/* One call at a time, as far as anybody can see. */
static pthread_mutex_t one_at_a_time = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* something was queued, done or dropped; under the mutex */
static bool held;                                         /* under the mutex */

static int begin_call(void)
{
    pthread_mutex_lock(&one_at_a_time);
    return 0;
}

static void end_call(const int *ignored)
{
    (void)ignored;
    pthread_mutex_unlock(&one_at_a_time);
}

#define ALONE int alone __attribute__((cleanup(end_call), unused)) = begin_call()

/* Counts; the scripted code, or 0. */
static int entered(const char *call)
{
    double_calls++;
    if (double_gone)
        return double_gone;
    if (scripted.left <= 0 || (*scripted.call != '*' && strcmp(scripted.call, call)) || --scripted.left > 0)
        return 0;
    double_failures++;
    if (strstr(call, "Synchronize")) /* the device is in error then: what was queued is not done any more */
        for (int i = 0; i < STREAMS; i++)
            streams[i].count = 0;
    pthread_cond_broadcast(&changed);
    return scripted.code;
}

void double_hold(int on)
{
    ALONE;
    held = on != 0;
    pthread_cond_broadcast(&changed);
}

static int setting(const char *name, int usual)
{
    const char *text = getenv(name);
    return text ? atoi(text) : usual;
}

/* Bytes a device. */
static size_t room(void)
{
    return (size_t)setting("DOUBLE_ROOM", 64) << 20;
}

static size_t taken(int device)
{
    size_t sum = 0;
    for (int i = 0; i < PHYSICALS; i++)
        if (physicals[i].used && !physicals[i].imported && physicals[i].device == device)
            sum += physicals[i].bytes;
    return sum;
}

static struct physical *new_physical(int fd, int device, size_t bytes, bool imported)
{
    static uint64_t ids;
    for (int i = 0; i < PHYSICALS; i++)
        if (!physicals[i].used) {
            physicals[i] = (struct physical){.used = true,
                                             .fd = fd,
                                             .device = device,
                                             .bytes = bytes,
                                             .imported = imported,
                                             .references = 1,
                                             .handle = true,
                                             .id = ++ids};
            return &physicals[i];
        }
    return NULL;
}

static struct physical *create_physical(int device, size_t bytes)
{
    int fd = memfd_create("double", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        return NULL;
    return new_physical(fd, device, bytes, false);
}

static void drop(struct physical *p)
{
    if (--p->references == 0) {
        close(p->fd);
        if (p->list > 0)
            close(p->list);
        p->used = false;
    }
}

static struct physical *physical_of(uint64_t handle)
{
    return handle >= 1 && handle <= PHYSICALS && physicals[handle - 1].used && physicals[handle - 1].handle
               ? &physicals[handle - 1]
               : NULL;
}

static uint64_t handle_of(const struct physical *p)
{
    return (uint64_t)(p - physicals) + 1;
}

/* Addresses for whole pages of the device. */
static size_t whole_pages(size_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* What was given back last is given out first, as drivers do. */
static struct {
    char *at;
    size_t bytes;
} given_back;

static void give_addresses(char *at, size_t bytes)
{
    munmap(at, whole_pages(bytes));
    given_back.at = at;
    given_back.bytes = whole_pages(bytes);
}

static char *take_addresses(size_t bytes)
{
    size_t all = whole_pages(bytes) + UNIT;
    if (given_back.at && given_back.bytes == whole_pages(bytes)) {
        void *again = mmap(given_back.at, given_back.bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        given_back.at = NULL;
        if (again != MAP_FAILED)
            return again;
    }
    char *at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t before = (UNIT - (uintptr_t)at % UNIT) % UNIT;
    if (before)
        munmap(at, before);
    munmap(at + before + all - UNIT, UNIT - before);
    return at + before;
}

static struct range *new_range(char *at, size_t bytes)
{
    for (int i = 0; at && i < RANGES; i++)
        if (!ranges[i].at) {
            ranges[i] = (struct range){.at = at, .bytes = bytes};
            return &ranges[i];
        }
    return NULL;
}

static struct range *reserve(size_t bytes)
{
    return new_range(take_addresses(bytes), bytes);
}

static void unreserve(struct range *r)
{
    if (!r->part)
        give_addresses(r->at, r->bytes);
    r->at = NULL;
}

/* The range that holds the address; NULL for host memory. */
static struct range *range_of(const void *address)
{
    for (int i = 0; i < RANGES; i++)
        if (ranges[i].at && (const char *)address >= ranges[i].at &&
            (const char *)address < ranges[i].at + ranges[i].bytes)
            return &ranges[i];
    return NULL;
}

static bool touchable(const void *address, size_t bytes, int device)
{
    struct range *r = range_of(address);
    return !r ||
           (r->mapped && (r->access >> device & 1) && bytes <= r->bytes - (size_t)((const char *)address - r->at));
}

static bool is_word(const char *at, size_t bytes)
{
    return bytes == sizeof(uint64_t) && (uintptr_t)at % sizeof(uint64_t) == 0;
}

static void move_bytes(char *to, const char *from, size_t bytes)
{
    struct range *target = range_of(to), *source = range_of(from);
    char *buffer = malloc(bytes + 1);
    bool good = buffer && (!source || source->mapped) && (!target || target->mapped);
    if (good && source)
        good = pread(source->mapped->fd, buffer, bytes, from - source->at + (off_t)source->into) == (ssize_t)bytes;
    else if (good && is_word(from, bytes)) /* whole, as a device does it, here and below */
        __atomic_load((const uint64_t *)(const void *)from, (uint64_t *)(void *)buffer, __ATOMIC_ACQUIRE);
    else if (good)
        memcpy(buffer, from, bytes);
    if (good && target)
        good = pwrite(target->mapped->fd, buffer, bytes, to - target->at + (off_t)target->into) == (ssize_t)bytes;
    else if (good && is_word(to, bytes))
        __atomic_store((uint64_t *)(void *)to, (uint64_t *)(void *)buffer, __ATOMIC_RELEASE);
    else if (good)
        memcpy(to, buffer, bytes);
    free(buffer);
    if (!good) {
        fprintf(stderr, "double: a queued copy touches memory that was unmapped meanwhile\n");
        _exit(LEAK_STATUS);
    }
}

/* One operation; false when it has to wait. */
static bool perform(const struct operation *o)
{
    uint64_t word = 0;
    if (o->what == COPY)
        move_bytes(o->to, o->from, o->bytes);
    if (o->what == WRITE)
        move_bytes(o->to, (const char *)&o->value, sizeof o->value);
    if (o->what == WAIT)
        move_bytes((char *)&word, o->to, sizeof word);
    return o->what != WAIT || (o->how == 1 ? word == o->value : word >= o->value);
}

/* Does one thing that is queued; false when nothing could be done. */
static bool advance(struct stream *s)
{
    if (held || s->count == 0 || !perform(&s->queue[s->first]))
        return false;
    s->first = (s->first + 1) % QUEUED;
    s->count--;
    pthread_cond_broadcast(&changed);
    return true;
}

/* The thread of a stream. A word that it waits for may be written by anybody, without any call. */
static void *work(void *argument)
{
    struct stream *s = argument;
    pthread_mutex_lock(&one_at_a_time);
    for (;;)
        if (held || s->count == 0) {
            pthread_cond_wait(&changed, &one_at_a_time);
        } else if (!advance(s)) {
            pthread_mutex_unlock(&one_at_a_time);
            usleep(LOOK_AGAIN);
            pthread_mutex_lock(&one_at_a_time);
        }
    return NULL;
}

static void drain(struct stream *s)
{
    while (s->count > 0)
        pthread_cond_wait(&changed, &one_at_a_time); /* other calls go on meanwhile */
}

/* Waits for a place in the queue. DOUBLE_QUEUED: how many there are. */
static void enqueue(struct stream *s, struct operation o)
{
    while (s->count >= setting("DOUBLE_QUEUED", 64))
        pthread_cond_wait(&changed, &one_at_a_time);
    s->queue[(s->first + s->count++) % QUEUED] = o;
    pthread_cond_broadcast(&changed);
}

static bool start_work(struct stream *s)
{
    pthread_t thread;
    if (!s->works && pthread_create(&thread, NULL, work, s) == 0) {
        pthread_detach(thread);
        s->works = true;
    }
    return s->works;
}

static struct stream *create_stream_on(int device)
{
    for (int i = 0; i < STREAMS; i++)
        if (!streams[i].used) {
            if (!start_work(&streams[i]))
                return NULL;
            streams[i].used = true;
            streams[i].device = device;
            streams[i].count = 0;
            return &streams[i];
        }
    return NULL;
}

static struct stream *stream_of(void *handle)
{
    for (int i = 0; i < STREAMS; i++)
        if (handle == &streams[i] && streams[i].used)
            return &streams[i];
    return NULL;
}

/* Host memory, which devices see at an address of their own if that is wanted. */
static struct host *create_host(size_t bytes, bool mapped)
{
    struct host *h = hosts;
    while (h < hosts + HOSTS && h->at)
        h++;
    struct physical *p = h < hosts + HOSTS ? create_physical(ON_HOST, bytes) : NULL;
    if (!p)
        return NULL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
    *h = (struct host){.at = at == MAP_FAILED ? NULL : at, .bytes = bytes};
    if (h->at && mapped && (h->seen = reserve(bytes))) {
        h->seen->mapped = p;
        h->seen->access = ~0u;
        p->references++;
    }
    drop(p); /* the mapping holds it where no device sees it */
    return h->at && (h->seen || !mapped) ? h : NULL;
}

static struct host *host_of(const void *at)
{
    for (int i = 0; i < HOSTS; i++)
        if (hosts[i].at && hosts[i].at == at)
            return &hosts[i];
    return NULL;
}

static void free_host(struct host *h)
{
    munmap(h->at, h->bytes);
    if (h->seen) {
        drop(h->seen->mapped);
        unreserve(h->seen);
    }
    h->at = NULL;
}

/* Everything that was made has to be gone when the process ends. */
static pid_t loaded_in;

__attribute__((constructor)) static void note_process(void)
{
    loaded_in = getpid();
}

__attribute__((destructor)) static void nothing_left(void)
{
    int left = 0, mapped = 0, open = 0, pinned = 0;
    for (int i = 0; i < PHYSICALS; i++)
        left += physicals[i].used;
    for (int i = 0; i < RANGES; i++)
        mapped += ranges[i].at != NULL;
    for (int i = 0; i < STREAMS; i++)
        open += streams[i].used;
    for (int i = 0; i < HOSTS; i++)
        pinned += hosts[i].at != NULL;
    if (left + mapped + open + pinned == 0 || double_gone || getpid() != loaded_in)
        return;
    fprintf(stderr,
            "double: leaked at exit: %d allocations, %d address ranges, %d streams, %d allocations of host memory\n",
            left, mapped, open, pinned);
    _exit(LEAK_STATUS);
}

#endif
