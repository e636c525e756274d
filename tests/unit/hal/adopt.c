// SPDX-License-Identifier: Apache-2.0
// adopt KIND LIBRARY: memory of devices that others allocated, shared through the hardware layer, on a double of the
// driver of that kind and age. Each test is a program of its own, as in device.c.
#include "doubles.h"

#include <signal.h>
#include <sys/socket.h>

#include "hal/device.h"

static const struct shmemi_device_hal *hal;
static const char *kind;
/* What the driver of this kind and age can do. */
static bool cuda, adopts, imports, tells_range;

enum { BYTES = 300000, OFFSET = 70000, PART = 1000, PAGE = 2 << 20 };

static void copy_now(void *to, const void *from, size_t bytes, enum shmemi_device_direction direction, int device)
{
    struct shmemi_device_stream stream;
    struct shmemi_device_current before;
    good(hal->create_stream(device, &stream));
    good(hal->enter(device, &before));
    good(hal->copy(to, from, bytes, direction, stream));
    good(hal->finish(stream));
    hal->leave(&before);
    hal->destroy_stream(&stream);
}

static char host[PART];

static void fill(int seed)
{
    for (int i = 0; i < PART; i++)
        host[i] = (char)(i * 7 + i / 256 + seed);
}

static void check(int seed)
{
    for (int i = 0; i < PART; i++)
        child_check(host[i] == (char)(i * 7 + i / 256 + seed));
}

/* --- one process -------------------------------------------------------------------------------------------------- */

static bool is_inside(const struct shmemi_device_memory *memory, const char *at, size_t bytes)
{
    const char *begin = memory->address;
    return begin <= at && at + bytes <= begin + memory->bytes;
}

static void run_adopt(void)
{
    struct shmemi_device_memory memory, other;
    struct shmemi_device_ticket ticket;
    struct shmemi_device_pointer what;
    void *plain, *second;
    int descriptor;
    good(hal->allocate_plain(1, BYTES, &plain));
    good(hal->allocate_plain(1, BYTES, &second));
    good(hal->adopt((char *)plain + OFFSET, PART, &memory));
    child_check(memory.device == 1 && memory.adopted && !memory.imported && is_inside(&memory, plain, BYTES));
    if (cuda)
        child_check(memory.address == plain && memory.bytes == BYTES);
    else
        child_check((uintptr_t)memory.address % PAGE == 0 && memory.bytes == PAGE);
    good(hal->export_memory(&memory, NULL, 0, &ticket, &descriptor));
    child_check(descriptor == -1 && ticket.way == (cuda ? SHMEMI_WAY_LEGACY : SHMEMI_WAY_KEY) &&
                ticket.bytes == memory.bytes);
    bad(EINVAL, "owns that device memory already", hal->import_memory(&ticket, -1, 1, &other));
    bad(EINVAL, "is not memory of", hal->adopt(host, PART, &other));
    child_check(!other.address);
    good(hal->describe_pointer((char *)plain + OFFSET, &what));
    child_check(what.device && what.number == 1 && (!tells_range || (what.base == plain && what.bytes == BYTES)));
    uint64_t id = what.id;
    child_check((id != 0) == cuda);
    unsigned long before = *(unsigned long *)in_double("double_calls");
    hal->release(&memory);
    child_check((*(unsigned long *)in_double("double_calls") == before) == cuda); /* there is nothing to end */
    hal->release(&memory);
    if (tells_range)
        bad(EINVAL, "from there on, not", hal->adopt((char *)plain + OFFSET, BYTES, &other));
    bad(EINVAL, "from there on, not 0", hal->adopt((char *)plain + OFFSET, 0, &other));
    good(hal->free_plain(1, plain));
    good(hal->describe_pointer(plain, &what));
    child_check(!what.device);
    bad(EINVAL, "or it was freed", hal->adopt(plain, PART, &other));
    good(hal->describe_pointer(second, &what));
    child_check(what.id != id || !cuda);
    good(hal->free_plain(1, second));
}

/* By calls of virtual memory (as of a pool), there is nothing that adopt() could share. */
static void run_other_kinds(void)
{
    struct shmemi_device_memory memory, other;
    good(hal->allocate(0, BYTES, &memory));
    if (cuda)
        bad(ENOTSUP, "expandable_segments", hal->adopt((char *)memory.address + OFFSET, PART, &other));
    else if (memory.way != SHMEMI_WAY_KEY)
        child_check(hal->adopt(memory.address, PART, &other) < 0 && strstr(shmemi_last_error(), "copy it into"));
    hal->release(&memory);
}

/* Why not, and what to do. */
static void run_cannot(void)
{
    struct shmemi_device_memory memory;
    void *plain;
    good(hal->allocate_plain(0, BYTES, &plain));
    bad(ENOTSUP, "which came with", hal->adopt(plain, PART, &memory));
    child_check(strstr(shmemi_last_error(), "copy it into memory of a pool") || strstr(kind, "70"));
    good(hal->free_plain(0, plain));
}

/* Pieces in one page are shared together; the page stays as long as its key is open. */
static void run_same_page(void)
{
    struct shmemi_device_memory memory, other;
    void *a, *b, *large;
    good(hal->allocate_plain(0, BYTES, &a));
    good(hal->allocate_plain(0, BYTES, &b));
    good(hal->allocate_plain(0, 3 * PAGE, &large));
    good(hal->adopt(b, PART, &memory));
    child_check(is_inside(&memory, a, BYTES) && is_inside(&memory, b, BYTES));
    child_check(hal->adopt(a, PART, &other) < 0 && strstr(shmemi_last_error(), "cannot be shared"));
    good(hal->adopt((char *)large + PAGE + 5, PART, &other));
    child_check(tells_range ? other.address == large && other.bytes == 3 * PAGE
                            : other.address == (char *)large + PAGE && other.bytes == PAGE);
    child_check(hal->free_plain(0, large) < 0);
    hal->release(&other);
    good(hal->free_plain(0, large));
    good(hal->free_plain(0, b));
    child_check(hal->free_plain(0, a) < 0);
    hal->release(&memory);
    good(hal->free_plain(0, a));
}

/* The double holds to what the manual says. */
static void run_strict(void)
{
    struct ipc {
        char bytes[64];
    } handle = {{0}};
    int (*get)(struct ipc *, uint64_t), (*open)(uint64_t *, struct ipc, unsigned), (*close)(uint64_t);
    void *found[] = {in_double("cuIpcGetMemHandle"), in_double("cuIpcOpenMemHandle_v2"),
                     in_double("cuIpcCloseMemHandle")};
    struct shmemi_device_current before;
    uint64_t at = 0;
    void *plain;
    memcpy(&get, &found[0], sizeof get);
    memcpy(&open, &found[1], sizeof open);
    memcpy(&close, &found[2], sizeof close);
    good(hal->allocate_plain(0, BYTES, &plain));
    good(hal->enter(0, &before));
    child_check(get(&handle, (uintptr_t)plain + 8) == 1); /* not the allocation's begin */
    child_check(get(&handle, (uintptr_t)plain) == 0);
    child_check(open(&at, handle, 0) == 1 && open(&at, handle, 2) == 1);
    child_check(open(&at, handle, 1) == 201); /* of this very process */
    child_check(close((uintptr_t)plain) == 1 && close((uintptr_t)host) == 1);
    hal->leave(&before);
    good(hal->free_plain(0, plain));
    child_check(get(&handle, (uintptr_t)plain) == 201);
    good(hal->enter(0, &before));
    child_check(get(&handle, (uintptr_t)plain) == 1);
    hal->leave(&before);
}

/* Whatever call fails, the error comes out and nothing is left. */
static int try_adopting(int n, char *plain)
{
    struct shmemi_device_memory memory;
    struct shmemi_device_ticket ticket;
    int descriptor;
    fail_call("*", n, cuda ? 999 : 507899);
    int rc = hal->adopt(plain + OFFSET, PART, &memory);
    if (rc == 0)
        rc = hal->export_memory(&memory, &(int32_t){1}, 1, &ticket, &descriptor);
    fail_call("", 0, 0);
    hal->release(&memory);
    return rc;
}

static void run_each_call_fails(void)
{
    void *plain;
    int n = 0, rc;
    good(hal->allocate_plain(0, BYTES, &plain));
    for (unsigned long before = 0; n++, rc = try_adopting(n, plain), failures() > before; before = failures())
        /* A driver that does not tell is no failure; nor one that seems not to know the address. */
        child_check(rc == 0 || (rc == -EINVAL && strstr(shmemi_last_error(), "is not memory of")) ||
                    (rc == -EIO && strstr(shmemi_last_error(), cuda ? "999" : "507899")));
    child_check(rc == 0 && n > 4);
    good(hal->free_plain(0, plain));
}

static void run_driver_gone(void)
{
    struct shmemi_device_memory memory;
    void *plain;
    good(hal->allocate_plain(0, BYTES, &plain));
    good(hal->adopt(plain, PART, &memory));
    *(int *)in_double("double_gone") = cuda ? 4 : 100037;
    hal->release(&memory);
    child_check(hal->adopt(plain, PART, &memory) < 0);
}

static void one_process(void **state)
{
    (void)state;
    if (!adopts) {
        alone(run_cannot);
        return;
    }
    alone(run_adopt);
    if (imports)
        alone(run_other_kinds);
    alone(run_each_call_fails);
    alone(run_driver_gone);
    if (!cuda)
        alone(run_same_page);
    if (cuda && imports)
        alone(run_strict);
}

/* --- two processes ------------------------------------------------------------------------------------------------ */

struct letter {
    struct shmemi_device_ticket ticket;
    int32_t process;
    size_t offset;
};

static void post(int socket, const struct letter *letter)
{
    child_check(write(socket, letter, sizeof *letter) == (ssize_t)sizeof *letter);
}

static struct letter fetch(int socket)
{
    struct letter letter;
    child_check(read(socket, &letter, sizeof letter) == (ssize_t)sizeof letter);
    return letter;
}

/* Both have to end well, unless the owner is to be killed. */
static void together(void (*owner)(int), void (*importer)(int), int status_of_owner)
{
    int ends[2], status = -1;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t first = fork();
    if (first == 0) {
        close(ends[1]);
        owner(ends[0]);
        exit(0);
    }
    close(ends[0]);
    pid_t second = fork();
    if (second == 0) {
        importer(ends[1]);
        exit(0);
    }
    close(ends[1]);
    child_succeeds(second);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_int_equal(status, status_of_owner);
}

static void *plain;
static struct shmemi_device_memory lent;

/* Device 1; tells the importer that named itself. */
static void lend(int socket)
{
    struct letter letter = fetch(socket);
    int descriptor;
    good(hal->allocate_plain(1, BYTES, &plain));
    good(hal->adopt((char *)plain + OFFSET, PART, &lent));
    letter.offset = (size_t)((char *)plain + OFFSET - (char *)lent.address);
    good(hal->export_memory(&lent, &letter.process, 1, &letter.ticket, &descriptor));
    fill(1);
    copy_now((char *)plain + OFFSET, host, PART, SHMEMI_TO_DEVICE, 1);
    post(socket, &letter);
}

static struct letter borrow(int socket)
{
    struct letter letter = {0};
    good(hal->identify(0, &letter.process));
    post(socket, &letter);
    return fetch(socket);
}

static void owner(int socket)
{
    lend(socket);
    fetch(socket);
    copy_now(host, (char *)plain + OFFSET, PART, SHMEMI_FROM_DEVICE, 1);
    check(2);
    hal->release(&lent);
    good(hal->free_plain(1, plain));
    post(socket, &(struct letter){.process = 1});
}

/* Reads what the owner wrote and writes, on that device of its own. */
static void use(const struct letter *letter, int device)
{
    struct shmemi_device_memory memory, again;
    good(hal->import_memory(&letter->ticket, -1, device, &memory));
    child_check(memory.bytes == letter->ticket.bytes && memory.imported);
    copy_now(host, (char *)memory.address + letter->offset, PART, SHMEMI_FROM_DEVICE, device);
    check(1);
    if (cuda)
        bad(EEXIST, "another library has that memory open", hal->import_memory(&letter->ticket, -1, device, &again));
    else
        child_check(hal->import_memory(&letter->ticket, -1, device, &again) < 0);
    copy_now(host, (char *)memory.address + letter->offset, PART, SHMEMI_FROM_DEVICE, device); /* it is still there */
    hal->release(&memory);
    hal->release(&memory);
}

static void finish(int socket, const struct letter *letter, int device)
{
    struct shmemi_device_memory memory;
    good(hal->import_memory(&letter->ticket, -1, device, &memory));
    fill(2);
    copy_now((char *)memory.address + letter->offset, host, PART, SHMEMI_TO_DEVICE, device);
    hal->release(&memory);
    post(socket, letter);
    fetch(socket);
    /* It was freed. */
    child_check(hal->import_memory(&letter->ticket, -1, device, &memory) < 0 && !memory.address);
}

static void importer(int socket)
{
    struct letter letter = borrow(socket);
    use(&letter, 1);
    if (cuda)
        use(&letter, 0); /* which reaches it */
    else {
        struct shmemi_device_memory memory;
        bad(ENOTSUP, "import it for device 1", hal->import_memory(&letter.ticket, -1, 0, &memory));
    }
    finish(socket, &letter, 1);
}

/* The same device has another number there. */
static void importer_numbers(int socket)
{
    setenv("DOUBLE_FIRST", "1", 1);
    setenv("DOUBLE_DEVICES", "1", 1);
    struct letter letter = borrow(socket);
    use(&letter, 0);
    finish(socket, &letter, 0);
}

static void importer_sees_none(int socket)
{
    struct shmemi_device_memory memory;
    setenv("DOUBLE_DEVICES", "1", 1);
    struct letter letter = borrow(socket);
    bad(ENODEV, "is not among the 1 that this process sees", hal->import_memory(&letter.ticket, -1, 0, &memory));
    setenv("DOUBLE_DEVICES", "2", 1);
    post(socket, &letter);
}

static void patient_owner(int socket)
{
    lend(socket);
    fetch(socket);
    hal->release(&lent);
    good(hal->free_plain(1, plain));
}

static void importer_is_refused(int socket)
{
    struct shmemi_device_memory memory;
    struct letter letter = {0};
    good(hal->identify(0, &letter.process));
    letter.process++;
    post(socket, &letter);
    letter = fetch(socket);
    bad(EACCES, "", hal->import_memory(&letter.ticket, -1, 1, &memory));
    post(socket, &letter);
}

/* Each of the driver's calls fails once; then those whose failure has a name. */
static void importer_with_failures(int socket)
{
    struct shmemi_device_memory memory;
    struct letter letter = borrow(socket);
    int rc, n = 0;
    for (unsigned long before = 0;; before = failures()) {
        fail_call("*", ++n, cuda ? 999 : 507899);
        rc = hal->import_memory(&letter.ticket, -1, 1, &memory);
        fail_call("", 0, 0);
        if (failures() == before)
            break;
        child_check(rc == 0 || (rc == -EIO && strstr(shmemi_last_error(), cuda ? "999" : "507899")));
        hal->release(&memory);
    }
    child_check(rc == 0 && n > 4);
    hal->release(&memory);
    const char *open = cuda ? "cuIpcOpenMemHandle_v2" : "aclrtIpcMemImportByKey";
    fail_call(open, 1, cuda ? 2 : 207001);
    bad(ENOMEM, "the device's memory is taken", hal->import_memory(&letter.ticket, -1, 1, &memory));
    if (cuda) {
        setenv("DOUBLE_PEERS", "0", 1);
        bad(ENOTSUP, "cannot reach the memory of device 1", hal->import_memory(&letter.ticket, -1, 0, &memory));
    }
    child_check(!memory.address);
    post(socket, &letter);
}

/* Another process has the device for itself: nothing of this one's is on it yet. */
static void importer_excluded(int socket)
{
    struct shmemi_device_memory memory;
    struct letter letter = borrow(socket);
    fail_call("cuDevicePrimaryCtxRetain", 1, 46);
    bad(EBUSY, "for itself", hal->import_memory(&letter.ticket, -1, 1, &memory));
    post(socket, &letter);
}

static void doomed_owner(int socket)
{
    lend(socket);
    fetch(socket);
    kill(getpid(), SIGKILL);
}

/* What is mapped can be used and given back; nothing new can be had. */
static void bereaved(int socket)
{
    struct shmemi_device_memory memory, none;
    struct letter letter = borrow(socket);
    char last;
    good(hal->import_memory(&letter.ticket, -1, 1, &memory));
    post(socket, &letter);
    child_check(read(socket, &last, 1) == 0);
    copy_now(host, (char *)memory.address + letter.offset, PART, SHMEMI_FROM_DEVICE, 1);
    check(1);
    hal->release(&memory);
    for (int i = 0; i < 1000 && !shmemi_device_owner_is_gone(&letter.ticket); i++)
        usleep(1000);
    bad(ESTALE, "is gone", hal->import_memory(&letter.ticket, -1, 1, &none));
}

/* The driver is torn down while this is mapped. */
static void importer_at_its_end(int socket)
{
    struct shmemi_device_memory memory;
    struct letter letter = borrow(socket);
    good(hal->import_memory(&letter.ticket, -1, 1, &memory));
    *(int *)in_double("double_gone") = cuda ? 4 : 100037;
    hal->release(&memory);
    post(socket, &letter);
}

/* What another process says is judged, and never brings this one down. */
static void importer_of_damaged(int socket)
{
    struct shmemi_device_memory memory;
    struct letter letter = borrow(socket);
    struct shmemi_device_ticket damaged = letter.ticket;
    damaged.bytes = (size_t)1 << 40;
    if (tells_range)
        bad(EINVAL, "and what it opens has", hal->import_memory(&damaged, -1, 1, &memory));
    uint64_t state = 5;
    for (int i = 0; i < 500;
         i++) { /* a changed size that is still held, or a padding byte, may open it: then it goes */
        damaged = letter.ticket;
        ((unsigned char *)&damaged)[next_random(&state) % sizeof damaged] ^=
            (unsigned char)(1 + next_random(&state) % 255);
        if (hal->import_memory(&damaged, -1, 1, &memory) == 0)
            hal->release(&memory);
    }
    post(socket, &letter);
}

static void importer_too_old(int socket)
{
    struct shmemi_device_memory memory;
    struct letter letter = borrow(socket);
    bad(ENOTSUP, "which came with CUDA 11.0", hal->import_memory(&letter.ticket, -1, 1, &memory));
    post(socket, &letter);
}

static void two_processes(void **state)
{
    (void)state;
    if (!adopts)
        return;
    if (!imports) {
        together(patient_owner, importer_too_old, 0);
        return;
    }
    together(owner, importer, 0);
    together(owner, importer_numbers, 0);
    together(patient_owner, importer_sees_none, 0);
    if (!cuda)
        together(patient_owner, importer_is_refused, 0);
}

static void faults(void **state)
{
    (void)state;
    if (!adopts || !imports)
        return;
    together(patient_owner, importer_with_failures, 0);
    if (cuda)
        together(patient_owner, importer_excluded, 0);
    together(doomed_owner, bereaved, SIGKILL);
    together(patient_owner, importer_at_its_end, 0);
    together(patient_owner, importer_of_damaged, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        clean_test(one_process),
        clean_test(two_processes),
        clean_test(faults),
    };
    if (argc != 3)
        return 2;
    kind = argv[1];
    library = argv[2];
    cuda = strstr(kind, "cuda") != NULL;
    hal = cuda ? &shmemi_device_cuda : &shmemi_device_ascend;
    adopts = cuda || !(strstr(kind, "70") || strstr(kind, "80"));
    imports = adopts && !strstr(kind, "90");
    tells_range = cuda || strstr(kind, "91");
    setenv(cuda ? "SHMEM_CUDA_LIBRARY" : "SHMEM_ASCEND_LIBRARY", library, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
