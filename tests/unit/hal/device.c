// SPDX-License-Identifier: Apache-2.0
// device KIND LIBRARY: everything that the hardware layer does with devices, on a double of the driver of that kind and
// age. Each test is a program of its own, since a driver is opened once and looks for leaks when the process ends.
#include "doubles.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "hal/device.h"

static const struct shmemi_device_hal *hal;
static const char *kind;
/* What the driver of this kind and age can do. */
static bool cuda, allocates, shares_it, signals, apart; /* apart: physical memory, addresses and mappings are three */

enum { BYTES = 100000 };

static void run_self_test(void)
{
    int steps = 0;
    good(shmemi_device_self_test(hal, 0, &steps));
    bool adopts = cuda || strstr(kind, "82") || strstr(kind, "85");
    child_check(steps == 11 + shares_it + adopts);
}

static void run_missing(void)
{
    struct shmemi_device_memory memory;
    int count;
    good(hal->open(&count));
    bad(ENOTSUP, "too old: it has no ", hal->allocate(0, BYTES, &memory));
    child_check(strstr(shmemi_last_error(), ", which came with "));
}

static void self_test(void **state)
{
    (void)state;
    alone(allocates ? run_self_test : run_missing);
}

/* A warm put is one call of the driver. */
static void run_counts(void)
{
    struct shmemi_device_memory memory;
    struct shmemi_device_stream stream;
    struct shmemi_device_current before;
    static char host[BYTES];
    good(hal->allocate(0, BYTES, &memory));
    good(hal->create_stream(0, &stream));
    good(hal->enter(0, &before));
    unsigned long start = calls();
    for (int i = 0; i < 10; i++)
        good(hal->copy(memory.address, host, BYTES, SHMEMI_TO_DEVICE, stream));
    child_check(calls() - start == 10);
    if (signals) {
        good(hal->write_value(memory.address, 1, stream));
        child_check(calls() - start == 11);
    } else
        bad(ENOTSUP, "which came with", hal->write_value(memory.address, 1, stream));
    good(hal->finish(stream));
    hal->leave(&before);
    hal->destroy_stream(&stream);
    hal->release(&memory);
}

static void counts(void **state)
{
    (void)state;
    if (allocates)
        alone(run_counts);
}

/* --- two processes ------------------------------------------------------------------------------------------------ */

struct letter {
    struct shmemi_device_ticket ticket;
    int32_t process;
};

static void send_letter(int to, const struct letter *letter, int descriptor)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)letter, sizeof *letter};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    }
    child_check(sendmsg(to, &message, 0) == (ssize_t)sizeof *letter);
}

static int receive_letter(int from, struct letter *letter)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {0};
    struct iovec part = {letter, sizeof *letter};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int descriptor = -1;
    child_check(recvmsg(from, &message, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof *letter);
    if (message.msg_controllen)
        memcpy(&descriptor, CMSG_DATA(&control.header), sizeof descriptor);
    return descriptor;
}

static void copy_now(void *to, const void *from, enum shmemi_device_direction direction, int device)
{
    struct shmemi_device_stream stream;
    struct shmemi_device_current before;
    good(hal->create_stream(device, &stream));
    good(hal->enter(device, &before));
    good(hal->copy(to, from, BYTES, direction, stream));
    good(hal->finish(stream));
    hal->leave(&before);
    hal->destroy_stream(&stream);
}

static void fill(char *host, int seed)
{
    for (int i = 0; i < BYTES; i++)
        host[i] = (char)(i * 7 + i / 256 + seed);
}

static void check(const char *host, int seed)
{
    for (int i = 0; i < BYTES; i++)
        child_check(host[i] == (char)(i * 7 + i / 256 + seed));
}

/* Imports, for `device`; reads what the owner wrote; writes; says so. */
static void importer(int socket, int device)
{
    static char host[BYTES];
    struct letter letter = {0};
    struct shmemi_device_memory memory;
    good(hal->identify(device, &letter.process));
    send_letter(socket, &letter, -1);
    int descriptor = receive_letter(socket, &letter);
    if (!apart && device) {
        bad(ENOTSUP, "import it for device 0", hal->import_memory(&letter.ticket, descriptor, device, &memory));
        device = 0;
    }
    good(hal->import_memory(&letter.ticket, descriptor, device, &memory));
    if (descriptor >= 0)
        close(descriptor);
    copy_now(host, memory.address, SHMEMI_FROM_DEVICE, device);
    check(host, 1);
    fill(host, 2);
    copy_now(memory.address, host, SHMEMI_TO_DEVICE, device);
    hal->release(&memory);
    send_letter(socket, &letter, -1);
}

static void owner(int socket)
{
    static char host[BYTES];
    struct letter letter, reply;
    struct shmemi_device_memory memory, same;
    int descriptor;
    receive_letter(socket, &letter);
    good(hal->allocate(0, BYTES, &memory));
    fill(host, 1);
    copy_now(memory.address, host, SHMEMI_TO_DEVICE, 0);
    good(hal->export_memory(&memory, &letter.process, 1, &letter.ticket, &descriptor));
    bad(EINVAL, "owns that device memory already", hal->import_memory(&letter.ticket, descriptor, 0, &same));
    send_letter(socket, &letter, descriptor);
    if (descriptor >= 0)
        close(descriptor);
    receive_letter(socket, &reply);
    copy_now(host, memory.address, SHMEMI_FROM_DEVICE, 0);
    check(host, 2);
    hal->release(&memory);
}

static int device_of_importer;

static void two_processes(void)
{
    int ends[2];
    child_check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        importer(ends[1], device_of_importer);
        exit(0);
    }
    close(ends[1]);
    owner(ends[0]);
    int status = -1;
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
}

static void shares(void **state)
{
    (void)state;
    for (device_of_importer = 0; shares_it && device_of_importer < 2; device_of_importer++)
        alone(two_processes);
}

/* Only those that the owner named may import; and who names nobody lets nobody in. */
static void uninvited(int socket)
{
    struct letter letter = {0};
    struct shmemi_device_memory memory;
    good(hal->identify(0, &letter.process));
    letter.process++;
    send_letter(socket, &letter, -1);
    receive_letter(socket, &letter);
    bad(EACCES, "", hal->import_memory(&letter.ticket, -1, 0, &memory));
    send_letter(socket, &letter, -1);
}

/* The owner dies while its memory is mapped here: what is mapped can be given back, and nothing new can be had. */
static void survivor(int socket)
{
    struct letter letter = {0};
    struct shmemi_device_memory memory;
    good(hal->identify(0, &letter.process));
    send_letter(socket, &letter, -1);
    int descriptor = receive_letter(socket, &letter);
    good(hal->import_memory(&letter.ticket, descriptor, 0, &memory));
    send_letter(socket, &letter, -1);
    char last;
    child_check(read(socket, &last, 1) == 0); /* the owner has ended */
    hal->release(&memory);
    for (int i = 0; i < 1000 && !shmemi_device_owner_is_gone(&letter.ticket); i++)
        usleep(1000); /* it lets go of its sockets a little earlier */
    if (!cuda)        /* a descriptor would keep the memory */
        bad(ESTALE, "is gone", hal->import_memory(&letter.ticket, descriptor, 0, &memory));
    if (descriptor >= 0)
        close(descriptor);
}

static void give_away(int socket, bool die)
{
    struct letter letter, reply;
    struct shmemi_device_memory memory;
    int descriptor;
    receive_letter(socket, &letter);
    good(hal->allocate(0, BYTES, &memory));
    good(hal->export_memory(&memory, &letter.process, 1, &letter.ticket, &descriptor));
    send_letter(socket, &letter, descriptor);
    if (descriptor >= 0)
        close(descriptor);
    receive_letter(socket, &reply);
    if (die)
        _exit(0);
    hal->release(&memory);
}

static void with_owner(void (*other)(int socket), bool die)
{
    int ends[2], status = -1;
    child_check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        give_away(ends[0], die);
        exit(0);
    }
    close(ends[0]);
    pid_t second = fork();
    if (second == 0) {
        other(ends[1]);
        exit(0);
    }
    close(ends[1]);
    child_check(waitpid(pid, &status, 0) == pid && status == 0);
    child_check(waitpid(second, &status, 0) == second && status == 0);
}

static void run_uninvited(void)
{
    with_owner(uninvited, false);
}

static void run_survivor(void)
{
    with_owner(survivor, true);
}

static void whitelist(void **state)
{
    (void)state;
    if (shares_it && !cuda)
        alone(run_uninvited);
    if (shares_it)
        alone(run_survivor);
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

static void run_memory_full(void)
{
    struct shmemi_device_memory memory;
    bad(ENOMEM, "the device's memory is taken", hal->allocate(0, (size_t)1 << 40, &memory));
    bad(ENOMEM, "", hal->allocate(0, SIZE_MAX, &memory));
    bad(EINVAL, "0 bytes", hal->allocate(0, 0, &memory));
    bad(ENODEV, "there is no ", hal->allocate(2, BYTES, &memory));
    bad(ENODEV, "there is no ", hal->allocate(-1, BYTES, &memory));
}

/* Whatever call fails, the error comes out and nothing is left behind. */
static int try_everything(int n)
{
    struct shmemi_device_memory memory = {0};
    struct shmemi_device_stream stream = {0};
    struct shmemi_device_current before;
    struct shmemi_device_ticket ticket;
    struct shmemi_device_info info;
    static char host[BYTES];
    int descriptor = -1, rc;
    fail_call("*", n, cuda ? 999 : 507899);
    if ((rc = hal->describe(0, &info)) == 0 && (rc = hal->allocate(0, BYTES, &memory)) == 0 &&
        (rc = hal->create_stream(0, &stream)) == 0 && (rc = hal->enter(0, &before)) == 0) {
        if ((rc = hal->copy(memory.address, host, BYTES, SHMEMI_TO_DEVICE, stream)) == 0 && signals &&
            (rc = hal->write_value(memory.address, 1, stream)) == 0)
            rc = hal->wait_value(memory.address, 1, SHMEMI_UNTIL_EQUAL, stream);
        if (rc == 0 && shares_it)
            rc = hal->export_memory(&memory, NULL, 0, &ticket, &descriptor);
        fail_call("", 0, 0); /* not what undoes */
        hal->leave(&before);
    }
    fail_call("", 0, 0);
    if (descriptor >= 0)
        close(descriptor);
    if (stream.driver)
        hal->destroy_stream(&stream);
    hal->release(&memory);
    return rc;
}

static void run_each_call_fails(void)
{
    int count, n = 0, rc;
    good(hal->open(&count));
    for (unsigned long before = 0; n++, rc = try_everything(n), failures() > before; before = failures())
        /* What only asks which context was there is no reason to fail. */
        child_check(rc == 0 || (rc == -EIO && strstr(shmemi_last_error(), cuda ? "999" : "507899")));
    child_check(rc == 0 && n > 8);
    if (cuda) {
        struct shmemi_device_memory memory;
        fail_call("cuMemCreate", 1, 46);
        bad(EBUSY, "for itself", hal->allocate(0, BYTES, &memory));
    }
}

static void run_no_device(void)
{
    int count;
    setenv("DOUBLE_DEVICES", "0", 1);
    bad(ENODEV, "shows no device", hal->open(&count));
    setenv("DOUBLE_DEVICES", "2", 1); /* a failure is not remembered */
    good(hal->open(&count));
    child_check(count == 2);
}

static void run_no_driver(void)
{
    int count;
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", "/nonexistent/libcuda.so.1", 1);
    bad(ENODEV, "cannot be opened", hal->open(&count));
}

static void run_not_a_driver(void)
{
    int count;
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", "libc.so.6", 1);
    bad(ENOTSUP, "it has no ", hal->open(&count));
}

static void run_stub(void)
{
    int count;
    setenv("DOUBLE_INIT", "34", 1);
    bad(ENODEV, "the toolkit's stub", hal->open(&count));
}

static void run_no_peers(void)
{
    bool can = true;
    setenv("DOUBLE_PEERS", "0", 1);
    good(hal->can_reach(0, 1, &can));
    child_check(!can);
    bad(ENOTSUP, "cannot reach", hal->reach(0, 1));
    good(hal->reach(0, 0));
    setenv("DOUBLE_PEERS", "1", 1);
    good(hal->reach(0, 1));
    good(hal->reach(0, 1));
}

/* One that nobody made. */
static struct shmemi_device_ticket invent(void)
{
    struct shmemi_device_info info;
    good(hal->describe(0, &info));
    return (struct shmemi_device_ticket){
        .magic = SHMEMI_TICKET_MAGIC, .way = info.way, .owner = 1, .bytes = 2 << 20, .handle = 77, .key = "nothing"};
}

static void run_bad_tickets(void)
{
    struct shmemi_device_memory memory;
    struct shmemi_device_ticket ticket = {0}, damaged;
    bad(EINVAL, "no ticket", hal->import_memory(&ticket, -1, 0, &memory));
    ticket = invent();
    ticket.way = cuda ? SHMEMI_WAY_KEY : SHMEMI_WAY_LEGACY;
    bad(EINVAL, "is not for", hal->import_memory(&ticket, 0, 0, &memory));
    ticket = invent();
    bad(ENODEV, "is not among", hal->import_memory(&ticket, 0, 0, &memory));
    struct shmemi_device_info info;
    good(hal->describe(0, &info));
    memcpy(ticket.id, info.id, sizeof ticket.id);
    if (cuda) {
        bad(EINVAL, "without the descriptor", hal->import_memory(&ticket, -1, 0, &memory));
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        bad(EIO, "cuMemImportFromShareableHandle", hal->import_memory(&ticket, null, 0, &memory));
        close(null);
    } else
        child_check(hal->import_memory(&ticket, -1, 0, &memory) < 0);
    uint64_t state = 7;
    for (int i = 0; i < 2000; i++) {
        damaged = ticket;
        ((unsigned char *)&damaged)[next_random(&state) % sizeof damaged] ^=
            (unsigned char)(1 + next_random(&state) % 255);
        child_check(hal->import_memory(&damaged, -1, 0, &memory) < 0);
    }
}

static void run_cannot_share(void)
{
    struct shmemi_device_memory memory;
    struct shmemi_device_ticket ticket;
    int descriptor;
    good(hal->allocate(0, BYTES, &memory));
    bad(ENOTSUP, "which came with", hal->export_memory(&memory, NULL, 0, &ticket, &descriptor));
    hal->release(&memory);
}

/* A virtual device has the calls and refuses them: another way is taken where there is one. */
static void run_virtual(void)
{
    struct shmemi_device_memory memory;
    setenv("DOUBLE_VIRTUAL", "1", 1);
    good(hal->allocate(0, BYTES, &memory));
    child_check(memory.way == (strstr(kind, "80") ? SHMEMI_WAY_NONE : SHMEMI_WAY_KEY));
    hal->release(&memory);
}

static void faults(void **state)
{
    (void)state;
    alone(run_no_device);
    alone(run_no_driver);
    alone(run_not_a_driver);
    if (cuda)
        alone(run_stub);
    alone(run_no_peers);
    if (!allocates)
        return;
    alone(run_memory_full);
    alone(run_each_call_fails);
    if (shares_it)
        alone(run_bad_tickets);
    else
        alone(run_cannot_share);
    if (!cuda && shares_it && apart)
        alone(run_virtual);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        clean_test(self_test), clean_test(counts), clean_test(shares), clean_test(whitelist), clean_test(faults),
    };
    if (argc != 3)
        return 2;
    kind = argv[1];
    library = argv[2];
    cuda = strstr(kind, "cuda") != NULL;
    hal = cuda ? &shmemi_device_cuda : &shmemi_device_ascend;
    allocates = !strstr(kind, "90");
    shares_it = allocates && !strstr(kind, "70");
    signals = strstr(kind, "130") || strstr(kind, "85");
    apart = shares_it && !strstr(kind, "82");
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", library, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
