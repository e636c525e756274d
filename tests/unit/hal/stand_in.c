// SPDX-License-Identifier: Apache-2.0
// Host memory in the place of a device's, as the layers above see it: streams that wait and go on, whoever ends the
// wait; what is told of mistakes; and memory of a process that may free it, or die. Each test is a process of its own.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "doubles.h"
#include "sleepers.h"

#include "hal/device.h"

static const struct shmemi_device_hal *const hal = &shmemi_device_stand_in_npu;

enum { BYTES = 100000, PATIENCE = 40 /* seconds, after which whoever still waits is ended */ };

static struct shmemi_device_memory memory;
static struct shmemi_device_stream stream, other;
static uint64_t *words;
static char host[BYTES], back[BYTES];

static void begin(void)
{
    int count = 0;
    alarm(PATIENCE);
    good(hal->open(&count));
    child_check(count == 1);
    good(hal->allocate(0, BYTES, &memory));
    good(hal->create_stream(0, &stream));
    good(hal->create_stream(0, &other));
    words = memory.address;
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)(i * 7 + i / 256);
}

static void end(void)
{
    hal->destroy_stream(&stream);
    hal->destroy_stream(&other);
    hal->release(&memory);
}

static bool is_done(struct shmemi_device_stream of)
{
    bool done = false;
    good(hal->query(of, &done));
    return done;
}

static void copy_and_mark(struct shmemi_device_stream on)
{
    char *at = (char *)memory.address + 4096;
    good(hal->copy(at, host, BYTES - 4096, SHMEMI_TO_DEVICE, on));
    good(hal->copy(back, at, BYTES - 4096, SHMEMI_FROM_DEVICE, on));
    good(hal->write_value(&words[1], 1, on));
}

static void run_self_test(void)
{
    int steps = 0;
    good(shmemi_device_self_test(hal, 0, &steps));
    child_check(steps == 13);
    good(shmemi_device_self_test(&shmemi_device_stand_in_cuda, 0, NULL));
}

/* What waits for nothing is done when the call returns; nothing is that is queued behind a wait. Nobody finishes it. */
static void run_order(void)
{
    begin();
    copy_and_mark(stream);
    child_check(is_done(stream) && words[1] == 1 && memcmp(back, host, BYTES - 4096) == 0);
    words[1] = 0;
    memset(back, 0, sizeof back);
    good(hal->wait_value(&words[0], 5, SHMEMI_UNTIL_AT_LEAST, stream));
    copy_and_mark(stream);
    good(hal->wait_value(&words[1], 1, SHMEMI_UNTIL_EQUAL, other));
    good(hal->write_value(&words[2], 9, other));
    good(hal->write_value(&words[0], 4, (struct shmemi_device_stream){0})); /* the default stream; not enough */
    usleep(5000);
    child_check(!is_done(stream) && !is_done(other) && words[1] == 0 && back[7] == 0);
    __atomic_store_n(&words[0], 6, __ATOMIC_RELEASE); /* by nobody whom this library knows */
    while (__atomic_load_n(&words[2], __ATOMIC_ACQUIRE) != 9)
        usleep(100);
    child_check(memcmp(back, host, BYTES - 4096) == 0);
    good(hal->finish(stream));
    good(hal->finish(other));
    end();
}

static void *let_go_soon(void *argument)
{
    usleep(3000);
    good(hal->let_go(argument, 1, 1));
    return NULL;
}

/* Words are told, and hold, in turn; the thread that waits for the stream is not the one that lets it go. */
static void run_words(void)
{
    struct shmemi_device_words made;
    pthread_t thread;
    begin();
    good(hal->make_words(0, 3, &made));
    for (int i = 0; i < 3; i++)
        child_check(*shmemi_words_told(&made, (size_t)i) == 0);
    good(hal->tell(&made, 1, stream));
    child_check(*shmemi_words_told(&made, 1) == 1); /* at once */
    good(hal->hold(&made, 1, 1, stream));
    good(hal->tell(&made, 2, stream));
    usleep(3000);
    child_check(!is_done(stream) && *shmemi_words_told(&made, 2) == 0);
    child_check(pthread_create(&thread, NULL, let_go_soon, &made) == 0);
    good(hal->finish(stream));
    child_check(*shmemi_words_told(&made, 2) == 1);
    pthread_join(thread, NULL);
    good(hal->hold(&made, 1, 1, stream)); /* was let go before */
    child_check(is_done(stream));
    hal->free_words(&made);
    end();
}

enum { THREADS = 4, TURNS = 200 };

static void *take_turns(void *argument)
{
    uint64_t me = (uint64_t)(intptr_t)argument;
    struct shmemi_device_stream own;
    good(hal->create_stream(0, &own));
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        good(hal->wait_value(&words[0], turn * THREADS + me, SHMEMI_UNTIL_EQUAL, own));
        good(hal->write_value(&words[0], turn * THREADS + me + 1, own));
    }
    good(hal->finish(own));
    hal->destroy_stream(&own);
    return NULL;
}

/* Streams of several threads wait for each other. */
static void run_threads(void)
{
    pthread_t threads[THREADS];
    begin();
    for (int i = 0; i < THREADS; i++)
        child_check(pthread_create(&threads[i], NULL, take_turns, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    child_check(words[0] == THREADS * TURNS);
    end();
}

static void run_mistakes(void)
{
    struct shmemi_device_memory none;
    struct shmemi_device_stream not_ours = {.driver = host}, gone;
    bool done;
    begin();
    bad(EBADFD, "is no stream", hal->finish(not_ours));
    bad(EBADFD, "is no stream", hal->query(not_ours, &done));
    bad(EBADFD, "is no stream", hal->write_value(words, 1, not_ours));
    good(hal->create_stream(0, &gone));
    not_ours = gone;
    hal->destroy_stream(&gone);
    bad(EBADFD, "is no stream", hal->copy(back, words, 8, SHMEMI_FROM_DEVICE, not_ours));
    bad(ENODEV, "there is no device 1", hal->allocate(1, BYTES, &none));
    bad(ENODEV, "there is no device -1", hal->create_stream(-1, &gone));
    bad(EINVAL, "0 bytes", hal->allocate(0, 0, &none));
    bad(ENOMEM, "", hal->allocate(0, SIZE_MAX, &none));
    bad(ENOMEM, "are needed, but", hal->allocate(0, (size_t)1 << 45, &none));
    bad(EINVAL, "are no memory", hal->adopt((void *)4096, 100, &none));
    end();
}

/* With streams that nobody lets go any more the process ends all the same, and what still uses them then is told. */
static void use_at_the_end(void)
{
    bool done = true;
    if (hal->query(stream, &done) < 0 || done || hal->finish(stream) != -EIO ||
        hal->wait_value(words, 77, SHMEMI_UNTIL_EQUAL, other) != -EIO || hal->write_value(words, 1, other) != 0)
        _exit(3);
    hal->destroy_stream(&stream); /* does not wait */
}

static void run_end(void)
{
    atexit(use_at_the_end); /* before the back end's own, which comes first then */
    begin();
    good(hal->wait_value(words, 77, SHMEMI_UNTIL_EQUAL, stream));
    good(hal->write_value(words, 2, stream));
}

/* A child of a process with streams ends, too. */
static void run_fork(void)
{
    int status = -1;
    begin();
    good(hal->wait_value(words, 77, SHMEMI_UNTIL_EQUAL, stream));
    await_sleepers(1); /* a sanitizer's look for leaks needs what a thread that has just begun may hold at the fork */
    pid_t pid = fork();
    if (pid == 0)
        exit(0);
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
    good(hal->write_value(words, 77, other));
    end();
}

static void one_process(void **state)
{
    (void)state;
    alone(run_self_test);
    alone(run_order);
    alone(run_words);
    alone(run_threads);
    alone(run_mistakes);
    alone(run_end);
    alone(run_fork);
}

/* --- two processes ------------------------------------------------------------------------------------------------ */

static int to_importer[2], to_owner[2]; /* pipes */

static void say(int pipe[2])
{
    child_check(write(pipe[1], "x", 1) == 1);
}

static void hear(int pipe[2])
{
    char byte;
    child_check(read(pipe[0], &byte, 1) == 1);
}

static struct shmemi_device_ticket ticket;
static int descriptor; /* inherited, as if it had been sent */

static pid_t start(void (*run)(void))
{
    child_check(pipe(to_importer) == 0 && pipe(to_owner) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(PATIENCE);
        run();
        exit(0);
    }
    return pid;
}

static void importer_of_a_pool(void)
{
    struct shmemi_device_memory mapped, none;
    struct shmemi_device_ticket damaged = ticket;
    uint64_t state = 7;
    bad(EINVAL, "without the descriptor", hal->import_memory(&ticket, -1, 0, &mapped));
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    bad(EINVAL, "is not of", hal->import_memory(&ticket, null, 0, &none));
    close(null);
    damaged.bytes *= 2;
    bad(EINVAL, "is not of", hal->import_memory(&damaged, descriptor, 0, &none));
    bad(EINVAL, "is not for memory that stands in",
        shmemi_device_stand_in_cuda.import_memory(&ticket, descriptor, 0, &none));
    for (int i = 0; i < 500; i++) { /* a size that is still held may open it */
        damaged = ticket;
        ((unsigned char *)&damaged)[next_random(&state) % sizeof damaged] ^=
            (unsigned char)(1 + next_random(&state) % 255);
        if (hal->import_memory(&damaged, descriptor, 0, &none) == 0)
            hal->release(&none);
    }
    good(hal->import_memory(&ticket, descriptor, 0, &mapped));
    child_check(mapped.imported && mapped.bytes == ticket.bytes);
    uint64_t *theirs = mapped.address;
    struct shmemi_device_stream own;
    good(hal->create_stream(0, &own));
    say(to_owner);
    good(hal->wait_value(&theirs[0], 1, SHMEMI_UNTIL_EQUAL, own)); /* the other process ends the wait, */
    good(hal->write_value(&theirs[1], 2, own));                    /* and waits for this */
    hear(to_importer);
    hal->destroy_stream(&own);
    hal->release(&mapped);
}

static void run_pool(void)
{
    begin();
    good(hal->export_memory(&memory, NULL, 0, &ticket, &descriptor));
    child_check(descriptor >= 0);
    pid_t pid = start(importer_of_a_pool);
    hear(to_owner);
    good(hal->write_value(&words[0], 1, stream));
    good(hal->wait_value(&words[1], 2, SHMEMI_UNTIL_EQUAL, stream));
    good(hal->finish(stream));
    say(to_importer);
    int status = -1;
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
    close(descriptor);
    end();
}

/* What was adopted stays where it is: at this place in pages of the owner's. */
enum { PLAIN = 1 << 19, OFFSET = 1000, PART = 80000, LENT = 200000, WORD = 196608 };

static void owner_of_adopted(void)
{
    struct shmemi_device_memory lent;
    int count;
    char *plain = mmap(NULL, PLAIN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *word = (uint64_t *)(void *)(plain + WORD);
    good(hal->open(&count));
    memcpy(plain + OFFSET, host, PART);
    good(hal->adopt(plain + OFFSET, LENT, &lent));
    child_check(lent.address == plain && lent.bytes >= LENT + OFFSET && lent.bytes < PLAIN && lent.adopted);
    good(hal->export_memory(&lent, NULL, 0, &ticket, &descriptor));
    child_check(descriptor == -1 && write(to_importer[1], &ticket, sizeof ticket) == sizeof ticket);
    hear(to_owner);
    __atomic_store_n(word, 3, __ATOMIC_RELEASE);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 4)
        usleep(100);
    child_check(!memcmp(plain + OFFSET, host, 10) && !memcmp(plain + OFFSET + 10, host, PART) &&
                !memcmp(plain + OFFSET + PART + 10, host + 10, PART - 10));
    hear(to_owner);
    hal->release(&lent); /* leaves it to its owner */
    child_check(munmap(plain, PLAIN) == 0);
    say(to_importer);
    hear(to_owner);
    kill(getpid(), SIGKILL);
}

static void use_distant(const struct shmemi_device_memory *distant, struct shmemi_device_stream own)
{
    char *at = (char *)distant->address + OFFSET;
    uint64_t seen = 0, *word = (uint64_t *)(void *)((char *)distant->address + WORD);
    good(hal->copy(back, at, PART, SHMEMI_FROM_DEVICE, own));
    child_check(memcmp(back, host, PART) == 0);
    good(hal->copy(at + PART, at, PART, SHMEMI_DEVICE_TO_DEVICE, own)); /* there, */
    good(hal->copy(at + 10, at, PART, SHMEMI_DEVICE_TO_DEVICE, own));   /* also onto itself */
    good(hal->wait_value(word, 3, SHMEMI_UNTIL_EQUAL, own));
    good(hal->write_value(word, 4, own));
    good(hal->copy(&seen, word, sizeof seen, SHMEMI_FROM_DEVICE, own));
    say(to_owner);
    good(hal->finish(own));
    child_check(seen == 4);
    bad(EINVAL, "go beyond", hal->copy(back, (char *)word, distant->bytes, SHMEMI_FROM_DEVICE, own));
}

static void damage(void)
{
    struct shmemi_device_memory none;
    struct shmemi_device_ticket damaged = ticket;
    damaged.handle = 4096;
    bad(ESTALE, "was freed by its owner", hal->import_memory(&damaged, -1, 0, &none));
    damaged.handle = UINT64_MAX - 5;
    bad(EINVAL, "damaged", hal->import_memory(&damaged, -1, 0, &none));
    damaged = ticket;
    damaged.pid_namespace++;
    bad(EACCES, "another PID namespace", hal->import_memory(&damaged, -1, 0, &none));
    child_check(!none.address);
}

/* What was queued for memory that is no more is not done; what comes behind it is, and finish tells. */
static void queue_for_nobody(void *distant, struct shmemi_device_stream own)
{
    uint64_t gate = 0, seen = 0;
    good(hal->wait_value(&gate, 1, SHMEMI_UNTIL_EQUAL, own));
    good(hal->write_value(distant, 9, own));
    good(hal->write_value(&seen, 10, own));
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    bad(ESTALE, "is gone", hal->finish(own));
    child_check(seen == 10);
    bad(ESTALE, "is gone", hal->finish(own));
    bad(ESTALE, "is gone", hal->query(own, &(bool){false}));
}

static void run_adopted(void)
{
    struct shmemi_device_memory distant, none;
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)(i * 7 + i / 256);
    pid_t owner = start(owner_of_adopted); /* a child, which the kernel always lets its parent read */
    child_check(read(to_importer[0], &ticket, sizeof ticket) == sizeof ticket);
    begin();
    good(hal->import_memory(&ticket, -1, 0, &distant));
    use_distant(&distant, stream);
    damage();
    say(to_owner);
    hear(to_importer); /* it is unmapped there */
    bad(ESTALE, "was freed by its owner", hal->copy(back, distant.address, 8, SHMEMI_FROM_DEVICE, stream));
    say(to_owner);
    while (!shmemi_device_owner_is_gone(&ticket))
        usleep(1000);
    bad(ESTALE, "is gone", hal->copy(distant.address, host, 8, SHMEMI_TO_DEVICE, stream));
    bad(ESTALE, "is gone", hal->import_memory(&ticket, -1, 0, &none));
    queue_for_nobody(distant.address, stream);
    hal->release(&distant);
    int status = -1;
    child_check(waitpid(owner, &status, 0) == owner && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    end();
}

static void two_processes(void **state)
{
    (void)state;
    alone(run_pool);
    alone(run_adopted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        clean_test(one_process),
        clean_test(two_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
