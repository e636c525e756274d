// SPDX-License-Identifier: Apache-2.0
// The service thread.
#include "service.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "wire.h"

enum { STACK = 1 << 20 };

struct shmemi_service {
    struct shmemi_member *member;
    int listener, stop; /* stop: an eventfd */
    shmemi_service_answer answer;
    void *context;
    pthread_t thread;
    /* The thread's own robust list: one node for the one alive word. glibc's list belongs to user threads. */
    struct robust_list_head list;
    struct robust_list node;
    _Atomic uint32_t started; /* 0, then 1 when the alive word is held; or 2 when that failed */
};

static void hold_alive_word(struct shmemi_service *s)
{
    s->list = (struct robust_list_head){
        .list = {&s->node},
        .futex_offset = (long)((uintptr_t)&s->member->alive - (uintptr_t)&s->node),
    };
    s->node.next = &s->list.list;
    bool ok = syscall(SYS_set_robust_list, &s->list, sizeof s->list) == 0;
    if (ok) {
        uint32_t own = (uint32_t)syscall(SYS_gettid) | FUTEX_WAITERS;
        /* [alive] relaxed: members learn that this one is present from `state`, which is released after it. */
        atomic_store_explicit(&s->member->alive, own, memory_order_relaxed);
    }
    /* [started] pairs with the acquire in shmemi_service_start(). */
    atomic_store_explicit(&s->started, ok ? 1 : 2, memory_order_release);
    shmemi_futex_wake(&s->started, 1);
}

/* The word leaves the robust list last: if this thread is killed on the way, it is still on the list (a death), or
   holds 0 and is passed over, with the state saying that the member left. */
static void release_alive_word(struct shmemi_service *s)
{
    /* [left] pairs with the acquire in shmemi_member_left(): everything this member did comes before. */
    atomic_store_explicit(&s->member->state, SHMEMI_MEMBER_LEFT, memory_order_release);
    /* [alive] release: as above, for who sleeps on this word. */
    atomic_store_explicit(&s->member->alive, 0, memory_order_release);
    s->list.list.next = &s->list.list;
    shmemi_futex_wake(&s->member->alive, INT_MAX);
}

static void *serve(void *argument)
{
    struct shmemi_service *s = argument;
    prctl(PR_SET_NAME, "shmem-service");
    hold_alive_word(s);
    for (;;) {
        struct pollfd on[2] = {{.fd = s->stop, .events = POLLIN}, {.fd = s->listener, .events = POLLIN}};
        if (poll(on, 2, -1) < 0 && errno != EINTR) {
            shmemi_warn("map", "service thread: poll failed with %s", shmemi_errno_name(errno));
            usleep(10000);
        }
        if (on[0].revents)
            break;
        int socket;
        if (!(on[1].revents & POLLIN))
            continue;
        int rc = shmemi_wire_accept(s->listener, &socket);
        if (rc == 0) {
            s->answer(s->context, socket);
            close(socket);
        } else if (rc != -EAGAIN) {
            shmemi_warn("map", "a connection was refused: %s", shmemi_last_error());
            if (rc == -EMFILE || rc == -ENFILE)
                usleep(10000); /* the connection stays in the queue: no busy loop until descriptors are free again */
        }
    }
    release_alive_word(s);
    return NULL;
}

static int start_thread(struct shmemi_service *s)
{
    sigset_t all, before;
    sigfillset(&all); /* signals belong to the program's own threads */
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK); /* the usual 8 MiB matter where address space is limited */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->thread, &small, serve, s);
    if (rc == EINVAL) /* thread-local variables of the program alone are larger */
        rc = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&small);
    if (rc)
        return shmemi_fail(-rc,
                           "starting the service thread: %s (%s; see the limits of address space and of processes: "
                           "ulimit -v, ulimit -u)",
                           strerror(rc), shmemi_errno_name(rc));
    struct shmemi_futex started = {.word = &s->started, .value = 0};
    /* [started] pairs with the release in hold_alive_word(). */
    while (!atomic_load_explicit(&s->started, memory_order_acquire))
        shmemi_futex_wait(&started, 1, INT64_MAX);
    return 0;
}

int shmemi_service_start(struct shmemi_member *member, int listener, shmemi_service_answer answer, void *context,
                         struct shmemi_service **out)
{
    struct shmemi_service *s = calloc(1, sizeof *s);
    if (!s)
        return shmemi_fail(-ENOMEM, "no memory for the service thread");
    *s = (struct shmemi_service){.member = member, .listener = listener, .answer = answer, .context = context};
    s->stop = eventfd(0, EFD_CLOEXEC);
    int rc = s->stop < 0 ? shmemi_fail_errno("eventfd") : start_thread(s);
    if (rc < 0) {
        if (s->stop >= 0)
            close(s->stop);
        free(s);
        return rc;
    }
    if (atomic_load_explicit(&s->started, memory_order_relaxed) == 2) { /* ordered by the acquire in start_thread() */
        shmemi_service_stop(s);
        return shmemi_fail(-ENOSYS, "set_robust_list failed: without it nobody could notice that this process died");
    }
    *out = s;
    return 0;
}

void shmemi_service_stop(struct shmemi_service *s)
{
    if (!s)
        return;
    uint64_t one = 1;
    ssize_t ignored = write(s->stop, &one, sizeof one);
    (void)ignored;
    pthread_join(s->thread, NULL);
    shmemi_wire_close_listener(s->listener);
    close(s->stop);
    free(s);
}

void shmemi_service_forget(struct shmemi_service *s)
{
    if (!s)
        return;
    close(s->listener);
    close(s->stop);
    free(s);
}
