// SPDX-License-Identifier: Apache-2.0
// The service thread: one a process, for all its memberships and listeners.
//
// What the thread works on is its own. Other threads hand it one command at a time and wait for it to be done; it
// carries commands out between answers, so a service that was removed has no answer running.
#include "service.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"
#include "base/thread.h"
#include "base/log.h"
#include "fork_order.h"
#include "import_table.h"
#include "place.h"
#include "wire.h"

enum {
    STACK = 1 << 20,
    PENDING_MOST = 64,         /* connections that have not spoken yet */
    SILENT_MOST = 1000000000,  /* ns until one of them is dropped */
    SILENT_CROWDED = 20000000, /* ns after which it makes room for another, when there are PENDING_MOST */
    ACCEPT_AT_ONCE = 16,       /* from one listener, before others have their turn */
    POLL_ALWAYS = 1 + PENDING_MOST,
};

struct shmemi_service {
    struct shmemi_service *next;
    int listener;
    int (*accept)(int listener, int *out);
    shmemi_service_answer answer;
    void *context;
    struct shmemi_place *place; /* or NULL */
    uint32_t generation;        /* of the process that made it */
    struct pollfd *room;        /* until the thread has it: polls with room for this one too */
    size_t room_size;
};

/* A connection that was accepted and has not been answered. */
struct pending {
    int socket;
    int64_t since;
    const struct shmemi_service *service;
};

struct command {
    enum { HOLD, LEAVE, REMOVE, NOTHING, QUIT } what;
    int rc;
    struct shmemi_service *service;
    struct shmemi_place *place;
};

struct hub {
    pthread_t thread;
    int bell; /* an eventfd: there is a command */
    struct command *_Atomic command;
    _Atomic uint32_t done;                 /* 1 when the command is carried out */
    struct shmemi_service *_Atomic coming; /* services to be added: nobody waits for that */
    unsigned users;                        /* services and places; under process.lock */
    unsigned services_made;                /* under process.lock: room in polls */
    /* The thread's own. */
    int begun; /* whether it can hold words: 0 or a negative errno */
    struct shmemi_places places;
    struct shmemi_service *services;
    struct pollfd *polls;
    size_t polls_size;
    struct pending pending[PENDING_MOST];
    unsigned pendings;
};

/* The process's, not a job's: a process has one service thread, whatever it takes part in. */
static struct {
    pthread_mutex_t lock; /* held while a command is carried out */
    struct hub *hub;
    uint32_t generation; /* grows with each fork on the way here: handles of a parent's are older */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the thread -------------------------------------------------------------------------------------------------- */

/* A child may be forked between any two steps of this thread, and puts away what it finds: memory is then as the steps
   so far have left it, if the compiler keeps their order. */
#define IN_PROGRAM_ORDER() atomic_signal_fence(memory_order_seq_cst)

static void list(struct hub *hub, int socket, const struct shmemi_service *service)
{
    hub->pending[hub->pendings] = (struct pending){socket, shmemi_now(), service};
    IN_PROGRAM_ORDER(); /* what is counted is listed */
    hub->pendings++;
}

static void drop(struct hub *hub, unsigned i)
{
    int socket = hub->pending[i].socket;
    hub->pending[i] = hub->pending[hub->pendings - 1];
    IN_PROGRAM_ORDER(); /* first: a child that is forked now closes what is listed */
    hub->pendings--;
    close(socket);
}

static void remove_service(struct hub *hub, const struct shmemi_service *gone)
{
    struct shmemi_service **at = &hub->services;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    for (unsigned i = hub->pendings; i-- > 0;)
        if (hub->pending[i].service == gone)
            drop(hub, i);
}

static void add_coming(struct hub *hub)
{
    /* [coming] acquire pairs with the release in add(). */
    struct shmemi_service *s = atomic_exchange_explicit(&hub->coming, NULL, memory_order_acquire);
    for (struct shmemi_service *next; s; s = next) {
        next = s->next;
        struct pollfd *room = s->room, *before = hub->polls;
        s->room = NULL;
        IN_PROGRAM_ORDER(); /* each is in one place at most, also for a child that is forked at this instant */
        if (s->room_size > hub->polls_size) {
            hub->polls = room;
            hub->polls_size = s->room_size;
            room = before;
        }
        free(room);
        s->next = hub->services;
        hub->services = s;
    }
}

static int hold(struct hub *hub, struct shmemi_place *place)
{
    if (hub->begun < 0)
        return hub->begun;
    if (hub->places.count >= SHMEMI_PLACES_MOST)
        return -EUSERS;
    return shmemi_place_claim(&hub->places, place) ? 0 : -EBUSY;
}

/* Whether to go on. */
static bool carry_out(struct hub *hub)
{
    uint64_t rings;
    ssize_t ignored = read(hub->bell, &rings, sizeof rings);
    (void)ignored;
    /* [command] acquire pairs with the release in command(). */
    struct command *c = atomic_exchange_explicit(&hub->command, NULL, memory_order_acquire);
    add_coming(hub); /* afterwards: what the command is about was added before it was given */
    if (!c)
        return true;
    bool go_on = c->what != QUIT;
    c->rc = 0;
    if (c->what == HOLD)
        c->rc = hold(hub, c->place);
    if (c->what == REMOVE)
        remove_service(hub, c->service);
    if ((c->what == REMOVE || c->what == LEAVE) && c->place)
        shmemi_place_release(&hub->places, c->place);
    /* [done] pairs with the acquire in wait_done(): the results are there. */
    atomic_store_explicit(&hub->done, 1, memory_order_release);
    shmemi_futex_wake(&hub->done, 1);
    return go_on;
}

static void answer_spoken(struct hub *hub, const struct pollfd *polls)
{
    for (unsigned i = hub->pendings; i-- > 0;) /* downwards: drop() moves the last, which was seen already */
        if (polls[i].revents) {
            const struct pending *p = &hub->pending[i];
            p->service->answer(p->service->context, p->socket);
            drop(hub, i);
        }
}

/* Drops who was silent too long. Returns the milliseconds until the next one is, or -1. */
static int drop_silent(struct hub *hub)
{
    int64_t now = shmemi_now(), first = INT64_MAX;
    int64_t most = hub->pendings == PENDING_MOST ? SILENT_CROWDED : SILENT_MOST;
    for (unsigned i = hub->pendings; i-- > 0;) {
        int64_t until = hub->pending[i].since + most;
        if (until <= now)
            drop(hub, i);
        else if (until < first)
            first = until;
    }
    return hub->pendings ? (int)((first - now) / 1000000 + 1) : -1;
}

static void accept_some(struct hub *hub, const struct shmemi_service *s)
{
    int socket;
    for (int i = 0; i < ACCEPT_AT_ONCE && hub->pendings < PENDING_MOST; i++) {
        int rc = s->accept(s->listener, &socket);
        if (rc == 0)
            list(hub, socket, s);
        else if (rc != -EAGAIN)
            shmemi_warn("map", "a connection was refused: %s", shmemi_last_error());
        if (rc == -EMFILE || rc == -ENFILE)
            usleep(10000); /* the connection stays in the queue: no busy loop until descriptors are free again */
        struct pollfd more = {.fd = s->listener, .events = POLLIN};
        if (rc == -EAGAIN || rc == -EMFILE || rc == -ENFILE || poll(&more, 1, 0) <= 0)
            return;
    }
}

/* The bell, the connections, and the listeners where there is room for another connection. */
static unsigned list_polls(struct hub *hub)
{
    unsigned n = 0;
    hub->polls[n++] = (struct pollfd){.fd = hub->bell, .events = POLLIN};
    for (unsigned i = 0; i < hub->pendings; i++)
        hub->polls[n++] = (struct pollfd){.fd = hub->pending[i].socket, .events = POLLIN};
    for (const struct shmemi_service *s = hub->services; s; s = s->next)
        hub->polls[n++] = (struct pollfd){.fd = hub->pendings < PENDING_MOST ? s->listener : -1, .events = POLLIN};
    return n;
}

static void *serve(void *argument)
{
    struct hub *hub = argument;
    prctl(PR_SET_NAME, "shmem-service");
    hub->begun = shmemi_places_begin(&hub->places);
    for (bool go_on = true; go_on;) {
        int timeout = drop_silent(hub);
        unsigned n = list_polls(hub), listed = hub->pendings;
        if (poll(hub->polls, n, timeout) < 0) {
            if (errno != EINTR) {
                shmemi_warn("map", "service thread: poll failed with %s", shmemi_errno_name(errno));
                usleep(10000);
            }
            continue;
        }
        if (hub->polls[0].revents) { /* alone: it may change what was polled */
            go_on = carry_out(hub);
            continue;
        }
        answer_spoken(hub, hub->polls + 1);
        const struct pollfd *of_listener = hub->polls + 1 + listed;
        for (const struct shmemi_service *s = hub->services; s; s = s->next)
            if (of_listener++->revents & POLLIN)
                accept_some(hub, s);
    }
    return NULL;
}

/* --- for other threads: commands, and the thread's beginning and end; all under process.lock ---------------------- */

static void ring(struct hub *hub)
{
    uint64_t one = 1;
    ssize_t ignored = write(hub->bell, &one, sizeof one);
    (void)ignored;
}

static int command(struct command *c)
{
    struct hub *hub = process.hub;
    SHMEMI_ASSERT(!pthread_equal(hub->thread, pthread_self())); /* an answer: it would wait for itself */
    struct shmemi_futex done = {.word = &hub->done, .value = 0};
    atomic_store_explicit(&hub->done, 0, memory_order_relaxed); /* [done] ordered by the release of the command */
    /* [command] release pairs with the acquire in carry_out(). */
    atomic_store_explicit(&hub->command, c, memory_order_release);
    ring(hub);
    /* [done] acquire pairs with the release in carry_out(). */
    while (!atomic_load_explicit(&hub->done, memory_order_acquire))
        shmemi_futex_wait(&done, 1, SHMEMI_NO_DEADLINE);
    return c->rc;
}

static void free_hub(struct hub *hub)
{
    if (hub->bell >= 0)
        close(hub->bell);
    free(hub->polls);
    free(hub);
}

static void end_hub(void)
{
    struct hub *hub = process.hub;
    struct command quit = {.what = QUIT};
    command(&quit);
    pthread_join(hub->thread, NULL);
    process.hub = NULL;
    free_hub(hub);
}

void shmemi_service_before_fork(void)
{
    pthread_mutex_lock(&process.lock);
}

void shmemi_service_after_fork(void)
{
    pthread_mutex_unlock(&process.lock);
}

void shmemi_service_after_fork_in_child(void)
{
    struct hub *hub = process.hub;
    process.hub = NULL;
    process.generation++;
    pthread_mutex_unlock(&process.lock);
    if (!hub)
        return;
    for (unsigned i = 0; i < hub->pendings; i++)
        close(hub->pending[i].socket);
    free_hub(hub);
}

static int start_hub(void)
{
    struct hub *hub = calloc(1, sizeof *hub);
    struct pollfd *polls = calloc(POLL_ALWAYS, sizeof *polls);
    if (!hub || !polls) {
        free(hub);
        free(polls);
        return shmemi_fail(-ENOMEM, "no memory for the service thread");
    }
    hub->polls = polls;
    hub->polls_size = POLL_ALWAYS;
    hub->bell = eventfd(0, EFD_CLOEXEC);
    int rc = hub->bell < 0 ? shmemi_fail_errno("eventfd")
                           : shmemi_thread_start(&hub->thread, "the service thread", STACK, serve, hub);
    if (rc < 0) {
        free_hub(hub);
        return rc;
    }
    process.hub = hub;
    return 0;
}

/* One more or one less who needs the thread. */
static int use_hub(void)
{
    int rc = process.hub ? 0 : start_hub();
    if (rc == 0)
        process.hub->users++;
    return rc;
}

static void unuse_hub(void)
{
    if (--process.hub->users == 0)
        end_hub();
}

/* Takes the lock in any case. */
static int begin_use(void)
{
    int rc = shmemi_fork_watch(NULL); /* before the lock is held, which forks take */
    pthread_mutex_lock(&process.lock);
    return rc < 0 ? rc : use_hub();
}

int shmemi_service_hold(void)
{
    int rc = begin_use();
    pthread_mutex_unlock(&process.lock);
    return rc;
}

void shmemi_service_unhold(void)
{
    pthread_mutex_lock(&process.lock);
    unuse_hub();
    pthread_mutex_unlock(&process.lock);
}

/* --- places ------------------------------------------------------------------------------------------------------ */

/* 0, -EBUSY when the word is taken (without a text), or an error. The hub is in use. */
static int hold_word(struct shmemi_member *member, bool after_dead, struct shmemi_place **out)
{
    struct command c = {.what = HOLD};
    int rc = shmemi_place_make(member, &c.place);
    if (rc < 0)
        return rc;
    c.place->generation = process.generation;
    c.place->after_dead = after_dead;
    if ((rc = command(&c)) < 0)
        shmemi_place_free(c.place);
    else
        *out = c.place;
    if (rc == -EUSERS)
        return shmemi_fail(-EUSERS, "this process takes part in %d things already: no more are possible",
                           SHMEMI_PLACES_MOST);
    if (rc < 0 && rc != -EBUSY) /* its text is the service thread's */
        return shmemi_fail(rc, "set_robust_list failed: without it nobody could notice that this process died");
    return rc;
}

static struct shmemi_member *member_at(struct shmemi_member *first, size_t stride, unsigned i)
{
    return (struct shmemi_member *)(void *)((char *)first + stride * i);
}

static int take_free(struct shmemi_member *first, size_t stride, unsigned count, bool after_dead,
                     struct shmemi_place **out, unsigned *number)
{
    for (unsigned i = 0; i < count; i++) {
        struct shmemi_member *m = member_at(first, stride, i);
        /* [alive] relaxed: only a hint, the claim decides. */
        uint32_t alive = atomic_load_explicit(&m->alive, memory_order_relaxed);
        if (alive != 0 && !(after_dead && alive & FUTEX_OWNER_DIED))
            continue;
        int rc = hold_word(m, after_dead, out);
        if (rc == -EBUSY)
            continue;
        if (rc == 0) {
            m->pid = (int32_t)getpid();
            /* [present] pairs with the acquires of those who look for members. */
            atomic_store_explicit(&m->state, SHMEMI_MEMBER_PRESENT, memory_order_release);
            *number = i;
        }
        return rc;
    }
    return shmemi_fail(-EUSERS, "all %u places are taken", count);
}

int shmemi_service_take_place(struct shmemi_member *first, size_t stride, unsigned count, bool after_dead,
                              struct shmemi_place **out, unsigned *number)
{
    int rc = begin_use();
    if (rc == 0 && (rc = take_free(first, stride, count, after_dead, out, number)) < 0)
        unuse_hub();
    pthread_mutex_unlock(&process.lock);
    return rc;
}

void shmemi_service_leave_place(struct shmemi_place *place)
{
    if (!place)
        return;
    pthread_mutex_lock(&process.lock);
    if (place->generation == process.generation) {
        struct command c = {.what = LEAVE, .place = place};
        command(&c);
        unuse_hub();
    }
    pthread_mutex_unlock(&process.lock);
    shmemi_place_free(place);
}

void shmemi_service_forget_place(struct shmemi_place *place)
{
    shmemi_place_free(place);
}

/* --- services ---------------------------------------------------------------------------------------------------- */

static int add(struct shmemi_service *s)
{
    struct hub *hub = process.hub;
    s->room_size = POLL_ALWAYS + hub->services_made + 1;
    s->room = calloc(s->room_size, sizeof *s->room);
    if (!s->room)
        return shmemi_fail(-ENOMEM, "no memory for a service");
    hub->services_made++;
    s->generation = process.generation;
    /* [coming] relaxed: only the thread takes away, and takes all; others add under process.lock. */
    s->next = atomic_load_explicit(&hub->coming, memory_order_relaxed);
    /* [coming] release pairs with the acquire in add_coming(). */
    while (
        !atomic_compare_exchange_weak_explicit(&hub->coming, &s->next, s, memory_order_release, memory_order_relaxed))
        ;
    ring(hub);
    return 0;
}

/* With a member to be held, or without. */
static int begin(struct shmemi_service *s, struct shmemi_member *member)
{
    int rc = 0;
    if (member)
        rc = hold_word(member, false, &s->place);
    if (rc == -EBUSY)
        rc = shmemi_fail(-EEXIST, "another process (pid %d) has this place already", (int)member->pid);
    if (rc == 0 && (rc = add(s)) < 0 && s->place) {
        struct command leave = {.what = LEAVE, .place = s->place};
        command(&leave);
        shmemi_place_free(s->place);
    }
    if (rc < 0)
        unuse_hub();
    return rc;
}

static int make(struct shmemi_member *member, const struct shmemi_service *how, struct shmemi_service **out)
{
    struct shmemi_service *s = malloc(sizeof *s);
    if (!s)
        return shmemi_fail(-ENOMEM, "no memory for a service");
    *s = *how;
    int rc = begin_use();
    if (rc == 0)
        rc = begin(s, member);
    pthread_mutex_unlock(&process.lock);
    if (rc < 0)
        free(s);
    else
        *out = s;
    return rc;
}

int shmemi_service_listen(int listener, int (*accept)(int listener, int *out), shmemi_service_answer answer,
                          void *context, struct shmemi_service **out)
{
    return make(NULL,
                &(struct shmemi_service){.listener = listener, .accept = accept, .answer = answer, .context = context},
                out);
}

int shmemi_service_start(struct shmemi_member *member, int listener, shmemi_service_answer answer, void *context,
                         struct shmemi_service **out)
{
    return make(member,
                &(struct shmemi_service){
                    .listener = listener, .accept = shmemi_wire_accept, .answer = answer, .context = context},
                out);
}

void shmemi_service_stop(struct shmemi_service *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&process.lock);
    bool ours = s->generation == process.generation;
    if (ours) {
        struct command c = {.what = REMOVE, .service = s, .place = s->place};
        command(&c);
        process.hub->services_made--;
        unuse_hub();
    }
    pthread_mutex_unlock(&process.lock);
    if (!ours) {
        shmemi_service_forget(s);
        return;
    }
    shmemi_wire_close_listener(s->listener);
    shmemi_place_free(s->place);
    free(s);
}

void shmemi_service_settle(void)
{
    pthread_mutex_lock(&process.lock);
    struct command c = {.what = NOTHING};
    if (process.hub)
        command(&c);
    pthread_mutex_unlock(&process.lock);
    shmemi_imports_lock(); /* of this process's own */
    shmemi_imports_unlock();
}

void shmemi_service_forget(struct shmemi_service *s)
{
    if (!s)
        return;
    close(s->listener);
    shmemi_place_free(s->place);
    free(s->room);
    free(s);
}
