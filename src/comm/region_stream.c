// SPDX-License-Identifier: Apache-2.0
// Access to regions in the order of a stream. Copies are the device's; words in host memory, and events, are changed by
// the proxy when the stream has come there.
#include <errno.h>
#include <stdlib.h>

#include "await.h"
#include "base/error.h"
#include "on_stream.h"
#include "region.h"
#include "wait.h"

/* --- words and events ----------------------------------------------------------------------------------------------
 */

/* An event, a signal, or one after the other. */
struct notice {
    struct shmemi_request request;
    struct shmemi_region_use counted; /* handle NULL: no event */
    int event;
    struct shmemi_region_use signalled; /* likewise: no signal */
    uint64_t *word, value;
    int op;
};

static int closed(const char *what)
{
    return shmemi_fail(-ENOENT,
                       "region: its handle was closed, or it was deregistered, while %s was pending on a stream", what);
}

static void count(const struct notice *n)
{
    if (n->counted.handle && !shmemi_handle_closing(n->counted.handle) && shmemi_region_check(n->counted.region) == 0)
        shmemi_region_event(n->counted.region, n->event); /* else there is nobody to tell */
}

static int signal_word(const struct notice *n)
{
    int rc = shmemi_region_check(n->signalled.region);
    if (rc < 0)
        return shmemi_fail_in(rc, "a signal on a stream");
    /* [put] release: the stream's copies are done, and who sees the signal sees them. */
    if (n->op == SHMEM_SIGNAL_SET)
        __atomic_store_n(n->word, n->value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(n->word, n->value, __ATOMIC_RELEASE);
    shmemi_stored(n->signalled.region->owner);
    return 0;
}

static int look_notice(struct shmemi_request *request, enum shmemi_look how)
{
    const struct notice *n = (const struct notice *)request;
    if (n->signalled.handle && shmemi_handle_closing(n->signalled.handle))
        return closed("a signal");
    if (how == SHMEMI_LOOK_EARLY)
        return !n->signalled.handle && shmemi_handle_closing(n->counted.handle); /* nobody is told any more */
    count(n);
    int rc = n->signalled.handle ? signal_word(n) : 0;
    return rc < 0 ? rc : 1;
}

static void drop_notice(struct shmemi_request *request, bool done)
{
    struct notice *n = (struct notice *)request;
    (void)done;
    if (n->counted.handle)
        shmemi_handle_drop(n->counted.handle);
    if (n->signalled.handle)
        shmemi_handle_drop(n->signalled.handle);
    free(n);
}

/* One hold more of a region that the caller holds. */
static int hold_again(struct shmemi_region_use *use)
{
    return use->handle ? shmemi_handle_hold(use->handle, &use->region) : 0;
}

static int queue_notice(const struct notice *model, struct shmemi_stream *stream)
{
    struct notice *n = malloc(sizeof *n);
    if (!n)
        return shmemi_fail(-ENOMEM, "no memory for a request of a stream");
    *n = *model;
    n->request = (struct shmemi_request){.look = look_notice, .drop = drop_notice};
    int rc = hold_again(&n->counted);
    if (rc < 0) {
        free(n);
        return rc;
    }
    if ((rc = hold_again(&n->signalled)) < 0)
        n->signalled.handle = NULL;
    else
        rc = shmemi_stream_join();
    if (rc == 0)
        rc = shmemi_request_queue(stream, &n->request);
    if (rc < 0)
        drop_notice(&n->request, false);
    return rc;
}

/* --- put, get ------------------------------------------------------------------------------------------------------
 */

static int check_on(const struct shmemi_region *r, size_t offset, size_t size, unsigned needed, const char *what)
{
    int rc = shmemi_region_check_access(r, offset, size, needed, what);
    if (rc == 0 && !r->memory.base)
        rc = shmemi_fail(-ENOTSUP, "region %llu of PE %d is reached by the kernel's copies only, which no stream does",
                         (unsigned long long)r->number, r->owner);
    return rc;
}

/* Whether the region's owner is told: -ENOTSUP, where the stream's device cannot, is no error. */
static int takes_events(const struct shmemi_region *r, struct shmemi_stream *stream, bool *yes)
{
    int rc = r->entry ? shmemi_requests_able(stream) : 0;
    *yes = r->entry && rc == 0;
    return rc == -ENOTSUP ? 0 : rc;
}

static int after_copy(int rc)
{
    return rc < 0 ? shmemi_fail_in(rc, "the copy is queued, but nobody will be told") : rc;
}

int shmemi_region_put_on(struct shmemi_region_use to, size_t offset, const void *source, size_t size,
                         struct shmemi_stream *stream)
{
    bool tells = false;
    int rc = check_on(to.region, offset, size, SHMEMX_REMOTE_WRITE, "write");
    if (rc < 0 || (rc = takes_events(to.region, stream, &tells)) < 0 ||
        (rc = shmemi_device_copy_on(stream, to.region->memory.base + offset, source, size)) < 0 || !tells)
        return rc;
    return after_copy(queue_notice(&(struct notice){.counted = to, .event = SHMEMX_EVENT_WRITE}, stream));
}

int shmemi_region_get_on(void *dest, struct shmemi_region_use from, size_t offset, size_t size,
                         struct shmemi_stream *stream)
{
    bool tells = false;
    int rc = check_on(from.region, offset, size, SHMEMX_REMOTE_READ, "read");
    if (rc == 0 && from.region->owner != shmemi_current->me)
        rc = takes_events(from.region, stream, &tells);
    if (rc < 0 || (rc = shmemi_device_copy_on(stream, dest, from.region->memory.base + offset, size)) < 0 || !tells)
        return rc;
    return after_copy(queue_notice(&(struct notice){.counted = from, .event = SHMEMX_EVENT_READ}, stream));
}

/* --- signals -------------------------------------------------------------------------------------------------------
 */

/* *word: in host memory; NULL: in a device's, which streams can set. */
static int check_signal(const struct shmemi_region *r, size_t offset, int sig_op, uint64_t **word)
{
    char *at = NULL;
    *word = NULL;
    if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD)
        return shmemi_fail(-EINVAL, "sig_op is %d, but must be SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD", sig_op);
    int rc = shmemi_region_check_access(r, offset, sizeof **word, SHMEMX_REMOTE_WRITE, "write");
    if (rc < 0 || (rc = shmemi_region_check_type(r, SHMEMX_UINT64)) < 0)
        return rc;
    if (r->kind == SHMEMX_KIND_DEVICE)
        return sig_op == SHMEM_SIGNAL_SET
                   ? 0
                   : shmemi_fail(
                         -ENOTSUP,
                         "region %llu of PE %d lies in memory of a device, where a stream can set a word but add "
                         "nothing to it: keep counters in host memory",
                         (unsigned long long)r->number, r->owner);
    if ((rc = shmemi_region_element(r, offset, SHMEMX_UINT64, &at)) == 0)
        *word = (uint64_t *)(void *)at;
    return rc;
}

int shmemi_region_signal_on(struct shmemi_region_use to, size_t offset, uint64_t value, int sig_op,
                            struct shmemi_stream *stream)
{
    uint64_t *word;
    int rc = check_signal(to.region, offset, sig_op, &word);
    if (rc < 0)
        return rc;
    return word ? queue_notice(&(struct notice){.signalled = to, .word = word, .value = value, .op = sig_op}, stream)
                : shmemi_device_write_on(stream, to.region->memory.base + offset, value);
}

int shmemi_region_put_signal_on(struct shmemi_region_use to, size_t offset, const void *source, size_t size,
                                struct shmemi_region_use signal, size_t sig_offset, uint64_t value, int sig_op,
                                struct shmemi_stream *stream)
{
    uint64_t *word;
    if (signal.region->owner != to.region->owner)
        return shmemi_fail(-EINVAL, "signal: its region is one of PE %d, but the data goes to PE %d",
                           signal.region->owner, to.region->owner);
    int rc = check_signal(signal.region, sig_offset, sig_op, &word);
    if (rc < 0)
        return rc;
    if (!word)
        return (rc = shmemi_region_put_on(to, offset, source, size, stream)) < 0
                   ? rc
                   : after_copy(shmemi_region_signal_on(signal, sig_offset, value, sig_op, stream));
    if ((rc = shmemi_requests_able(stream)) < 0 ||
        (rc = check_on(to.region, offset, size, SHMEMX_REMOTE_WRITE, "write")) < 0 ||
        (rc = shmemi_device_copy_on(stream, to.region->memory.base + offset, source, size)) < 0)
        return rc;
    struct notice both = {.event = SHMEMX_EVENT_WRITE, .signalled = signal, .word = word, .value = value, .op = sig_op};
    if (to.region->entry)
        both.counted = to;
    return after_copy(queue_notice(&both, stream));
}

/* --- waiting -------------------------------------------------------------------------------------------------------
 */

struct word_wait {
    struct shmemi_request request;
    struct shmemi_region_use own;
    const uint64_t *word;
    uint64_t value;
    int cmp;
};

static bool satisfied(const struct word_wait *w)
{
    uint64_t now = __atomic_load_n(w->word, __ATOMIC_ACQUIRE); /* [put], atomics */
    return shmemi_compare_values(w->cmp, now, w->value);
}

static int look_wait(struct shmemi_request *request, enum shmemi_look how)
{
    const struct word_wait *w = (const struct word_wait *)request;
    if (shmemi_handle_closing(w->own.handle))
        return closed("a wait");
    if (how == SHMEMI_LOOK_EARLY)
        return 0;
    if (satisfied(w))
        return 1;
    int rc = how == SHMEMI_LOOK_CLOSELY ? shmemi_check_peers(-1, false) : 0;
    if (rc < 0 && satisfied(w)) /* it came before the death */
        return 1;
    return rc < 0 ? shmemi_fail_in(rc, "a wait on a stream") : rc;
}

static void drop_wait(struct shmemi_request *request, bool done)
{
    struct word_wait *w = (struct word_wait *)request;
    (void)done;
    shmemi_handle_drop(w->own.handle);
    free(w);
}

/* By the device itself. */
static int wait_on_device(const struct shmemi_region *r, size_t offset, int cmp, uint64_t value,
                          struct shmemi_stream *stream)
{
    if (cmp != SHMEMI_CMP_GE && cmp != SHMEMI_CMP_EQ)
        return shmemi_fail(
            -ENOTSUP,
            "cmp is %d, but a stream waits for a word of its device by SHMEM_CMP_GE or SHMEM_CMP_EQ only: "
            "keep the word in host memory",
            cmp);
    return shmemi_device_wait_on(stream, r->memory.base + offset, value,
                                 cmp == SHMEMI_CMP_GE ? SHMEMI_UNTIL_AT_LEAST : SHMEMI_UNTIL_EQUAL);
}

static int queue_wait(const struct word_wait *model, struct shmemi_stream *stream)
{
    struct word_wait *w = malloc(sizeof *w);
    if (!w)
        return shmemi_fail(-ENOMEM, "no memory for a request of a stream");
    *w = *model;
    w->request = (struct shmemi_request){.look = look_wait, .drop = drop_wait, .holds = true, .waits = true};
    int rc = hold_again(&w->own);
    if (rc < 0) {
        free(w);
        return rc;
    }
    if ((rc = shmemi_stream_join()) < 0 || (rc = shmemi_request_queue(stream, &w->request)) < 0)
        drop_wait(&w->request, false);
    return rc;
}

int shmemi_region_wait_on(struct shmemi_region_use own, size_t offset, int cmp, uint64_t value,
                          struct shmemi_stream *stream)
{
    struct shmemi_region *r = own.region;
    char *word = NULL;
    if (r->owner != shmemi_current->me)
        return shmemi_fail(-EINVAL, "region: it is one of PE %d, but only an own region can be waited on", r->owner);
    if (cmp < SHMEMI_CMP_EQ || cmp > SHMEMI_CMP_LE)
        return shmemi_fail(-EINVAL, "cmp is %d, which is none of the SHMEM_CMP_ operators", cmp);
    int rc = shmemi_region_check_access(r, offset, sizeof value, 0, "wait for");
    if (rc < 0 || (rc = shmemi_region_check_type(r, SHMEMX_UINT64)) < 0)
        return rc;
    if (r->kind == SHMEMX_KIND_DEVICE)
        return wait_on_device(r, offset, cmp, value, stream);
    if ((rc = shmemi_region_element(r, offset, SHMEMX_UINT64, &word)) < 0)
        return rc;
    return queue_wait(
        &(struct word_wait){.own = own, .word = (const uint64_t *)(const void *)word, .value = value, .cmp = cmp},
        stream);
}
