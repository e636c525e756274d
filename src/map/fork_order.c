// SPDX-License-Identifier: Apache-2.0
// The one handler of fork for shares, imports, the service thread and the layers above.
#include "fork_order.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "import_table.h"
#include "service.h"
#include "share_internal.h"

enum { CLIENTS_MOST = 8 };

typedef const struct shmemi_fork_client *client_pointer;

/* The process's, as forks are. */
static struct {
    pthread_once_t once;
    int rc; /* of installing the handlers */
    _Atomic(client_pointer) clients[CLIENTS_MOST];
    client_pointer called[CLIENTS_MOST]; /* by the fork that is under way: whoever comes meanwhile has to wait */
} order = {.once = PTHREAD_ONCE_INIT};

static void before(void)
{
    shmemi_shares_before_fork(); /* the first lock: one fork at a time from here on */
    shmemi_guests_before_fork();
    shmemi_service_before_fork();
    shmemi_imports_lock();
    for (int i = 0; i < CLIENTS_MOST; i++) {
        /* [clients] acquire pairs with the release in add(). */
        order.called[i] = atomic_load_explicit(&order.clients[i], memory_order_acquire);
        if (order.called[i])
            order.called[i]->before();
    }
    shmemi_shares_lock();
}

static void in_parent(void)
{
    shmemi_shares_unlock();
    for (int i = CLIENTS_MOST; i-- > 0;)
        if (order.called[i])
            order.called[i]->in_parent();
    shmemi_imports_unlock();
    shmemi_service_after_fork();
    shmemi_guests_after_fork();
    shmemi_shares_after_fork();
}

static void in_child(void)
{
    shmemi_shares_forget();
    shmemi_shares_unlock();
    for (int i = CLIENTS_MOST; i-- > 0;)
        if (order.called[i])
            order.called[i]->in_child();
    shmemi_imports_drop_descriptors();
    shmemi_imports_unlock();
    shmemi_service_after_fork_in_child();
    shmemi_guests_forget();
    shmemi_guests_after_fork();
    shmemi_shares_after_fork();
}

static void install(void)
{
    order.rc = pthread_atfork(before, in_parent, in_child);
}

static int add(client_pointer client)
{
    for (int i = 0; i < CLIENTS_MOST; i++) {
        client_pointer there = NULL;
        /* [clients] release pairs with the acquire in before(). */
        if (atomic_compare_exchange_strong_explicit(&order.clients[i], &there, client, memory_order_release,
                                                    memory_order_relaxed) ||
            there == client)
            return 0;
    }
    return shmemi_fail(-ENOSPC, "more than %d parts of a process want to know of forks", CLIENTS_MOST);
}

int shmemi_fork_watch(const struct shmemi_fork_client *client)
{
    pthread_once(&order.once, install);
    if (order.rc)
        return shmemi_fail(-order.rc, "pthread_atfork: %s", strerror(order.rc));
    return client ? add(client) : 0;
}
