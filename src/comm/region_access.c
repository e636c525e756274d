// SPDX-License-Identifier: Apache-2.0
// Put, get, atomics and waits on regions.
#include <errno.h>
#include <string.h>

#include "await.h"
#include "base/clock.h"
#include "base/fold.h"
#include "names.h"
#include "region.h"
#include "wait.h"

/* --- checks --------------------------------------------------------------------------------------------------------
 */

int shmemi_region_check(const struct shmemi_region *r)
{
    const struct shmemi_slot *slot = &shmemi_current->slots[r->owner];
    if (shmemi_unlikely(shmemi_member_died(&slot->member)))
        return shmemi_fail(-EOWNERDEAD, "region: its owner, PE %d (pid %d), died", r->owner, (int)slot->member.pid);
    if (shmemi_unlikely(shmemi_member_left(&slot->member)))
        return shmemi_fail(-ENOENT, "region: its owner, PE %d (pid %d), has left the job", r->owner,
                           (int)slot->member.pid);
    /* [region] a copy that is under way when the region ends goes to memory that is nobody's: no order is needed. */
    if (r->entry && shmemi_unlikely(atomic_load_explicit(&r->entry->number, memory_order_relaxed) != r->number + 1 ||
                                    atomic_load_explicit(&r->entry->state, memory_order_relaxed) != SHMEMI_REGION_LIVE))
        return shmemi_fail(-ENOENT, "region: region %llu of PE %d was deregistered", (unsigned long long)r->number,
                           r->owner);
    return 0;
}

static int check_range(const struct shmemi_region *r, size_t offset, size_t size)
{
    size_t end;
    if (shmemi_unlikely(shmemi_add_overflows(offset, size, &end) || end > r->size))
        return shmemi_fail(-EINVAL, "offset %zu + size %zu goes past the %zu bytes of region %llu of PE %d", offset,
                           size, r->size, (unsigned long long)r->number, r->owner);
    return 0;
}

static int check_access(const struct shmemi_region *r, unsigned needed, const char *what)
{
    if (shmemi_likely(r->owner == shmemi_current->me || (r->access & needed) == needed))
        return 0;
    return shmemi_fail(-EACCES, "PE %d does not allow others to %s its region %llu%s%s (it allows %s)", r->owner, what,
                       (unsigned long long)r->number, *r->name ? " named " : "", r->name,
                       shmemi_access_name(r->access));
}

int shmemi_region_check_access(const struct shmemi_region *r, size_t offset, size_t size, unsigned needed,
                               const char *what)
{
    int rc = shmemi_region_check(r);
    if (rc == 0)
        rc = check_range(r, offset, size);
    return rc == 0 ? check_access(r, needed, what) : rc;
}

/* --- copies --------------------------------------------------------------------------------------------------------
 */

void shmemi_region_event(struct shmemi_region *r, int which)
{
    if (!r->entry)
        return;
    /* [event] release: who counts the event sees what was put; sequentially consistent beside the look at the sleepers.
     */
    atomic_fetch_add_explicit(which == SHMEMX_EVENT_WRITE ? &r->entry->writes : &r->entry->reads, 1,
                              memory_order_seq_cst);
    shmemi_stored(r->owner);
}

/* The way for a copy whose other end is this address. */
static int choose_path(const struct shmemi_region *r, const void *here, const struct shmemi_path **out)
{
    *out = r->path;
    if (shmemi_likely(!shmemi_device_any()) || r->path == &shmemi_path_device || !shmemi_is_device(here))
        return 0;
    if (!r->memory.base)
        return shmemi_fail(-ENOTSUP,
                           "region %llu of PE %d is reached by the kernel's copies only, which do not go to and from "
                           "memory of a device: copy by way of host memory",
                           (unsigned long long)r->number, r->owner);
    *out = &shmemi_path_device;
    return 0;
}

int shmemi_region_put(struct shmemi_region *r, size_t offset, const void *source, size_t size)
{
    int rc = shmemi_region_check_access(r, offset, size, SHMEMX_REMOTE_WRITE, "write");
    if (rc < 0)
        return rc;
    bool own = r->owner == shmemi_current->me; /* the own region may hold the other end */
    const struct shmemi_path *path;
    if ((rc = choose_path(r, source, &path)) < 0 || (rc = path->put(&r->memory, offset, source, size, own)) < 0)
        return rc;
    shmemi_region_event(r, SHMEMX_EVENT_WRITE);
    return 0;
}

int shmemi_region_get(void *dest, struct shmemi_region *r, size_t offset, size_t size)
{
    int rc = shmemi_region_check_access(r, offset, size, SHMEMX_REMOTE_READ, "read");
    if (rc < 0)
        return rc;
    bool own = r->owner == shmemi_current->me;
    const struct shmemi_path *path;
    if ((rc = choose_path(r, dest, &path)) < 0 || (rc = path->get(dest, &r->memory, offset, size, own)) < 0)
        return rc;
    if (!own)
        shmemi_region_event(r, SHMEMX_EVENT_READ);
    return 0;
}

/* --- atomics -------------------------------------------------------------------------------------------------------
 */

static bool is_float(shmemx_type_t type)
{
    return type == SHMEMX_FLOAT || type == SHMEMX_DOUBLE;
}

/* Elements of other sizes would be overwritten together with their neighbours. Bytes stand for anything. */
int shmemi_region_check_type(const struct shmemi_region *r, shmemx_type_t type)
{
    if (shmemi_likely(r->type == type || r->type == SHMEMX_BYTES))
        return 0;
    size_t size = r->type <= SHMEMX_DOUBLE ? shmemi_type_size((enum shmemi_type)r->type) : 0;
    if (size == 1 || (size == shmemi_type_size((enum shmemi_type)type) && is_float(r->type) == is_float(type)))
        return 0;
    return shmemi_fail(-EINVAL,
                       "region %llu of PE %d has elements of type %s, but the operation is one on %s: use a region of "
                       "these, or of bytes",
                       (unsigned long long)r->number, r->owner, shmemi_type_name((unsigned)r->type),
                       shmemi_type_name((unsigned)type));
}

int shmemi_region_element(const struct shmemi_region *r, size_t offset, shmemx_type_t type, char **out)
{
    size_t size = shmemi_type_size((enum shmemi_type)type);
    bool number = type <= SHMEMX_DOUBLE;
    if (!number || (size != 4 && size != 8))
        return shmemi_fail(-EINVAL,
                           "atomic operations work on 32- and 64-bit integers, float and double, but the element type "
                           "is %s",
                           shmemi_type_name((unsigned)type));
    int rc = check_range(r, offset, size);
    if (rc < 0 || (rc = shmemi_region_check_type(r, type)) < 0)
        return rc;
    if (r->kind == SHMEMX_KIND_DEVICE)
        return shmemi_fail(
            -ENOTSUP,
            "region %llu of PE %d lies in memory of a device, where no atomic operation and no wait of a "
            "host reaches: keep counters and signals in host memory",
            (unsigned long long)r->number, r->owner);
    if (!(r->path->capabilities & SHMEMI_PATH_ATOMIC))
        return shmemi_fail(
            -ENOTSUP,
            "region %llu of PE %d was registered without moving, so no atomic operation and no wait reaches it",
            (unsigned long long)r->number, r->owner);
    if ((uintptr_t)(r->memory.base + offset) % size)
        return shmemi_fail(-EINVAL, "offset is %zu, where no element of %zu bytes is aligned", offset, size);
    *out = r->memory.base + offset;
    return 0;
}

/* Sums of floating-point numbers have no instruction: tried until nobody came between. */
#define ADD_FLOATING(T, U, word, operand, old)                                                                         \
    do {                                                                                                               \
        U seen = __atomic_load_n((U *)(void *)(word), __ATOMIC_RELAXED), wanted;                                       \
        T value, add;                                                                                                  \
        memcpy(&add, operand, sizeof add);                                                                             \
        do {                                                                                                           \
            memcpy(&value, &seen, sizeof value);                                                                       \
            value += add;                                                                                              \
            memcpy(&wanted, &value, sizeof wanted);                                                                    \
        } while (                                                                                                      \
            !__atomic_compare_exchange_n((U *)(void *)(word), &seen, wanted, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));  \
        memcpy(old, &seen, sizeof seen);                                                                               \
    } while (0)

/* Integers of either signedness, and floats wherever only bits move. All sequentially consistent: one order for all
   atomics on a word, and a fence for what surrounds them. */
#define OPERATE(U, word, operation, operand, expected, old)                                                            \
    do {                                                                                                               \
        U *w = (U *)(void *)(word), v = 0, e = 0;                                                                      \
        if (operand)                                                                                                   \
            memcpy(&v, operand, sizeof v);                                                                             \
        if (expected)                                                                                                  \
            memcpy(&e, expected, sizeof e);                                                                            \
        U was = operation == SHMEMX_ATOMIC_FETCH ? __atomic_load_n(w, __ATOMIC_SEQ_CST)                                \
                : operation == SHMEMX_ATOMIC_ADD ? __atomic_fetch_add(w, v, __ATOMIC_SEQ_CST)                          \
                : operation == SHMEMX_ATOMIC_AND ? __atomic_fetch_and(w, v, __ATOMIC_SEQ_CST)                          \
                : operation == SHMEMX_ATOMIC_OR  ? __atomic_fetch_or(w, v, __ATOMIC_SEQ_CST)                           \
                : operation == SHMEMX_ATOMIC_XOR ? __atomic_fetch_xor(w, v, __ATOMIC_SEQ_CST)                          \
                : operation == SHMEMX_ATOMIC_CAS                                                                       \
                    ? (__atomic_compare_exchange_n(w, &e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST), e)                \
                    : __atomic_exchange_n(w, v, __ATOMIC_SEQ_CST);                                                     \
        memcpy(old, &was, sizeof was);                                                                                 \
    } while (0)

static int check_operation(shmemx_type_t type, shmemx_atomic_t operation, const void *operand, const void *expected)
{
    if ((unsigned)operation > SHMEMX_ATOMIC_XOR)
        return shmemi_fail(-EINVAL, "operation is %d, which is no shmemx_atomic_t", (int)operation);
    if (is_float(type) && operation >= SHMEMX_ATOMIC_AND)
        return shmemi_fail(-EINVAL,
                           "and, or and xor work on integers, but the element type is a floating-point number");
    if (!operand && operation != SHMEMX_ATOMIC_FETCH)
        return shmemi_fail(-EINVAL, "operand is NULL");
    if (!expected && operation == SHMEMX_ATOMIC_CAS)
        return shmemi_fail(-EINVAL, "expected is NULL");
    return 0;
}

int shmemi_region_atomic(struct shmemi_region *r, size_t offset, shmemx_type_t type, shmemx_atomic_t operation,
                         const void *operand, const void *expected, void *old)
{
    char *word = NULL, before[8];
    bool read = operation == SHMEMX_ATOMIC_FETCH;
    int rc = shmemi_region_check(r);
    if (rc < 0 || (rc = check_operation(type, operation, operand, expected)) < 0 ||
        (rc = check_access(r, read ? SHMEMX_REMOTE_READ : SHMEMX_REMOTE_ATOMIC,
                           read ? "read" : "change by atomic operations")) < 0 ||
        (rc = shmemi_region_element(r, offset, type, &word)) < 0)
        return rc;
    size_t size = shmemi_type_size((enum shmemi_type)type);
    if (type == SHMEMX_FLOAT && operation == SHMEMX_ATOMIC_ADD)
        ADD_FLOATING(float, uint32_t, word, operand, before);
    else if (type == SHMEMX_DOUBLE && operation == SHMEMX_ATOMIC_ADD)
        ADD_FLOATING(double, uint64_t, word, operand, before);
    else if (size == 4)
        OPERATE(uint32_t, word, operation, operand, expected, before);
    else
        OPERATE(uint64_t, word, operation, operand, expected, before);
    if (old)
        memcpy(old, before, size);
    if (operation != SHMEMX_ATOMIC_FETCH)
        shmemi_stored(r->owner);
    return 0;
}

int shmemi_region_put_signal(struct shmemi_region *r, size_t offset, const void *source, size_t size,
                             struct shmemi_region *signal, size_t sig_offset, uint64_t value, int sig_op)
{
    char *word = NULL;
    if (signal->owner != r->owner)
        return shmemi_fail(-EINVAL, "signal: its region is one of PE %d, but the data goes to PE %d", signal->owner,
                           r->owner);
    if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD)
        return shmemi_fail(-EINVAL, "sig_op is %d, but must be SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD", sig_op);
    int rc = shmemi_region_check_access(signal, sig_offset, sizeof value, SHMEMX_REMOTE_WRITE, "write");
    if (rc < 0 || (rc = shmemi_region_element(signal, sig_offset, SHMEMX_UINT64, &word)) < 0 ||
        (rc = shmemi_region_put(r, offset, source, size)) < 0)
        return rc;
    /* [put] release: who sees the signal sees the data. */
    if (sig_op == SHMEM_SIGNAL_SET)
        __atomic_store_n((uint64_t *)(void *)word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add((uint64_t *)(void *)word, value, __ATOMIC_RELEASE);
    shmemi_stored(r->owner);
    return 0;
}

/* --- waiting for a value -------------------------------------------------------------------------------------------
 */

struct value_wait {
    const char *word;
    shmemx_type_t type;
    int cmp;
    const void *value;
    shmemx_region_t handle;
    bool closing;
};

#define SATISFIED(T, U)                                                                                                \
    __extension__({                                                                                                    \
        U bits = __atomic_load_n((const U *)(const void *)w->word, __ATOMIC_ACQUIRE); /* [put], atomics */             \
        T now, value;                                                                                                  \
        memcpy(&now, &bits, sizeof now);                                                                               \
        memcpy(&value, w->value, sizeof value);                                                                        \
        shmemi_compare_values(w->cmp, now, value);                                                                     \
    })

static bool value_done(void *argument)
{
    struct value_wait *w = argument;
    w->closing = shmemi_handle_closing(w->handle);
    if (w->closing)
        return true;
    switch (w->type) {
    case SHMEMX_INT32:
        return SATISFIED(int32_t, uint32_t);
    case SHMEMX_UINT32:
        return SATISFIED(uint32_t, uint32_t);
    case SHMEMX_INT64:
        return SATISFIED(int64_t, uint64_t);
    case SHMEMX_UINT64:
        return SATISFIED(uint64_t, uint64_t);
    case SHMEMX_FLOAT:
        return SATISFIED(float, uint32_t);
    default:
        return SATISFIED(double, uint64_t);
    }
}

int shmemi_region_wait_value(struct shmemi_region *own, shmemx_region_t handle, size_t offset, shmemx_type_t type,
                             int cmp, const void *value, double timeout)
{
    struct value_wait w = {.type = type, .cmp = cmp, .value = value, .handle = handle};
    char *word = NULL;
    if (own->owner != shmemi_current->me)
        return shmemi_fail(-EINVAL, "region: it is one of PE %d, but only an own region can be waited on", own->owner);
    if (cmp < SHMEMI_CMP_EQ || cmp > SHMEMI_CMP_LE)
        return shmemi_fail(-EINVAL, "cmp is %d, which is none of the SHMEM_CMP_ operators", cmp);
    if (!value)
        return shmemi_fail(-EINVAL, "value is NULL");
    int rc = shmemi_region_element(own, offset, type, &word);
    if (rc < 0)
        return rc;
    w.word = word;
    struct shmemi_await wait = {.done = value_done, .argument = &w, .pe = -1, .deadline = shmemi_deadline(timeout)};
    rc = shmemi_await(&wait);
    if (rc == -ETIMEDOUT)
        return shmemi_fail(rc, "the element did not satisfy the condition within %g seconds", timeout);
    return rc == 0 && w.closing ? shmemi_fail(-ENOENT, "region: it was deregistered during the wait") : rc;
}
