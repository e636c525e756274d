// SPDX-License-Identifier: Apache-2.0
// Requests and those who drive them: whoever waits for one drives all of the process, and a thread does while nobody
// waits.
#include "message.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/futex.h"

void shmemi_pg_notify(struct shmemi_pg *g, int rank)
{
    struct shmemi_pg_row *row = &g->shared->rows[rank];
    /* [mail] seq_cst: either this sees the sleeper, or the sleeper sees the change of the word. */
    atomic_fetch_add_explicit(&row->mail, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&row->mail_sleepers, memory_order_seq_cst))
        shmemi_futex_wake(&row->mail, INT_MAX);
}

const char *shmemi_pg_request_text(const struct shmemi_pg_request *r, char out[SHMEMI_PG_CALL_TEXT])
{
    size_t size = shmemi_pg_element_bytes(r->type);
    unsigned long long count = r->bytes / (size ? size : 1);
    int at = snprintf(out, SHMEMI_PG_CALL_TEXT, "%s of %llu %s %s ", r->is_send ? "send" : "recv", count,
                      shmemi_pg_type_name(r->type), r->is_send ? "to" : "from");
    if (at > 0 && at < SHMEMI_PG_CALL_TEXT && r->peer < 0)
        at += snprintf(out + at, SHMEMI_PG_CALL_TEXT - (size_t)at, "any rank");
    else if (at > 0 && at < SHMEMI_PG_CALL_TEXT)
        at += snprintf(out + at, SHMEMI_PG_CALL_TEXT - (size_t)at, "rank %d", r->peer);
    if (at > 0 && at < SHMEMI_PG_CALL_TEXT)
        snprintf(out + at, SHMEMI_PG_CALL_TEXT - (size_t)at, " with tag %d", r->tag);
    return out;
}

static void take_off_list(struct shmemi_pg_request *r)
{
    struct shmemi_pg_mail *mail = r->g->mail;
    struct shmemi_pg_request **at = &mail->first;
    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
    mail->last = &mail->first;
    while (*mail->last)
        mail->last = &(*mail->last)->next;
}

void shmemi_pg_over(struct shmemi_pg_request *r, int rc)
{
    r->rc = rc;
    if (rc < 0)
        snprintf(r->text, sizeof r->text, "%s", shmemi_last_error());
    r->state = SHMEMI_PG_OVER;
    take_off_list(r);
    if (r->g->mail->drivers > 1 || r->left_alone)
        shmemi_pg_notify(r->g, r->g->rank); /* another thread may wait for it */
}

/* ---- driving ---- */

static bool drive_once(struct shmemi_pg *g)
{
    bool moved = false;
    struct shmemi_pg_request *next;
    for (struct shmemi_pg_request *r = g->mail->first; r; r = next) {
        next = r->next;
        moved |= r->is_send ? shmemi_pg_send_on(r) : shmemi_pg_receive_on(r);
    }
    return moved;
}

/* It cannot end any more. What the other side is at in the middle ends the whole group. */
static void fail(struct shmemi_pg_request *r, int rc)
{
    bool clean = shmemi_pg_retract(r);
    if (!clean)
        shmemi_pg_give_up(r->g, rc);
    shmemi_pg_over(r, rc);
}

static int why_not(const struct shmemi_pg_request *r, int64_t now)
{
    char text[SHMEMI_PG_CALL_TEXT];
    const struct shmemi_pg *g = r->g;
    int peer = r->state == SHMEMI_PG_MOVING && !r->is_send ? r->source : r->peer, rc = 0;
    shmemi_pg_request_text(r, text);
    for (int rank = peer < 0 ? 0 : peer; rank < g->ranks && rc == 0; rank++) {
        if (rank != g->rank)
            rc = shmemi_pg_check_rank(g, rank, text);
        if (peer >= 0)
            break;
    }
    if (rc == 0 && now >= r->deadline)
        rc = shmemi_fail(-ETIMEDOUT, "timed out after %g s in %s", r->seconds, text);
    return rc;
}

static void check_all(struct shmemi_pg *g)
{
    struct shmemi_pg_request *next;
    int64_t now = shmemi_now();
    for (struct shmemi_pg_request *r = g->mail->first; r; r = next) {
        next = r->next;
        int rc = why_not(r, now);
        if (rc < 0 && !(r->is_send ? shmemi_pg_send_on(r) : shmemi_pg_receive_on(r))) /* it came before the death */
            fail(r, rc);
    }
}

static int64_t first_deadline(const struct shmemi_pg *g)
{
    int64_t first = SHMEMI_NO_DEADLINE;
    for (const struct shmemi_pg_request *r = g->mail->first; r; r = r->next)
        first = r->deadline < first ? r->deadline : first;
    return first;
}

static uint64_t awaited_holder(const struct shmemi_pg *g)
{
    const struct shmemi_pg_request *r = g->mail->first;
    return r && r->peer >= 0 && r->peer != g->rank
               ? atomic_load_explicit(&g->shared->rows[r->peer].who, memory_order_relaxed) /* looked at again */
               : 0;
}

/* With the lock held, which is given back meanwhile: until the word is not `seen` any more, or 100 ms. */
static int sleep_for_mail(struct shmemi_pg *g, uint32_t seen)
{
    struct shmemi_pg_row *row = &g->shared->rows[g->rank];
    int64_t deadline = first_deadline(g);
    uint64_t holder = awaited_holder(g);
    bool changed = false;
    pthread_mutex_unlock(&g->mail->lock);
    int64_t end = shmemi_now() + 2 * SHMEMI_PG_YIELD_NS; /* see wait_for() in steps.c */
    for (int i = 0; i < g->spins + g->yields && !changed && (i < g->spins || shmemi_now() < end); i++) {
        changed = atomic_load_explicit(&row->mail, memory_order_relaxed) != seen; /* the driving reads what it means */
        if (i < g->spins)
            shmemi_cpu_relax();
        else
            sched_yield();
    }
    int rc = 0;
    if (!changed) {
        /* [mail] seq_cst: announced before the kernel compares the word with `seen`; see shmemi_pg_notify(). */
        atomic_fetch_add_explicit(&row->mail_sleepers, 1, memory_order_seq_cst);
        rc = shmemi_domain_sleep(g->domain, &row->mail, seen, holder, deadline);
        atomic_fetch_sub_explicit(&row->mail_sleepers, 1, memory_order_relaxed); /* a wake too many does no harm */
    }
    pthread_mutex_lock(&g->mail->lock);
    return rc == -EINTR ? rc : 0;
}

static uint32_t look(const struct shmemi_pg *g)
{
    return atomic_load_explicit(&g->shared->rows[g->rank].mail, memory_order_seq_cst); /* [mail] */
}

/* ---- the thread ---- */

static void *drive(void *context)
{
    struct shmemi_pg *g = context;
    struct shmemi_pg_mail *mail = g->mail;
    shmemi_sleep_deaf(true);
    pthread_mutex_lock(&mail->lock);
    while (!mail->ending) {
        if (!mail->first || mail->drivers) {
            pthread_cond_wait(&mail->changed, &mail->lock);
            continue;
        }
        uint32_t seen = look(g);
        if (drive_once(g))
            continue;
        check_all(g);
        if (mail->first && !mail->ending)
            sleep_for_mail(g, seen);
    }
    pthread_mutex_unlock(&mail->lock);
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(struct shmemi_pg *g)
{
    struct shmemi_pg_mail *mail = g->mail;
    sigset_t all, before;
    if (mail->thread_runs)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&mail->thread, NULL, drive, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        return shmemi_fail(-rc, "no thread for messages can be started");
    mail->thread_runs = true;
    return 0;
}

int shmemi_pg_mail_open(struct shmemi_pg *g)
{
    g->mail = calloc(1, sizeof *g->mail);
    if (!g->mail)
        return shmemi_fail(-ENOMEM, "no memory for messages");
    g->mail->last = &g->mail->first;
    pthread_mutex_init(&g->mail->lock, NULL);
    pthread_cond_init(&g->mail->changed, NULL);
    return 0;
}

void shmemi_pg_mail_close(struct shmemi_pg *g, bool forked)
{
    struct shmemi_pg_mail *mail = g->mail;
    if (!mail)
        return;
    if (mail->thread_runs && !forked) {
        pthread_mutex_lock(&mail->lock);
        mail->ending = true;
        pthread_cond_signal(&mail->changed);
        shmemi_pg_notify(g, g->rank);
        pthread_mutex_unlock(&mail->lock);
        pthread_join(mail->thread, NULL);
    }
    for (struct shmemi_pg_request *r = mail->first, *next; r; r = next) { /* whoever began them has given them up */
        next = r->next;
        if (r->left_alone) /* else it is on the stack of a thread, of the parent of this child */
            free(r);
    }
    if (!forked) { /* a lock that a thread of the parent had is never given back */
        pthread_mutex_destroy(&mail->lock);
        pthread_cond_destroy(&mail->changed);
    }
    free(mail);
    g->mail = NULL;
}

/* ---- requests ---- */

static int make(struct shmemi_pg *g, const struct shmemi_pg_request *what, struct shmemi_pg_elements of, double seconds,
                struct shmemi_pg_request *r)
{
    size_t size = shmemi_pg_element_bytes(of.type), bytes;
    int rc = shmemi_pg_check_process(g);
    if (rc < 0)
        return rc;
    if (!size || shmemi_mul_overflows(of.count, size, &bytes))
        return shmemi_fail(-EINVAL, "%zu elements of type number %u cannot be", of.count, of.type);
    if (what->peer >= g->ranks || what->peer < (what->is_send ? 0 : -1))
        return shmemi_fail(-EINVAL, "the rank is %d, but must be from 0 to %d", what->peer, g->ranks - 1);
    if ((rc = shmemi_pg_check_broken(g, what->is_send ? "send" : "recv")) < 0)
        return rc;
    *r = *what;
    r->g = g;
    r->type = of.type;
    r->bytes = bytes;
    r->source = -1;
    r->seconds = seconds;
    r->deadline = shmemi_deadline(seconds);
    return 0;
}

static void append(struct shmemi_pg_request *r)
{
    struct shmemi_pg_mail *mail = r->g->mail;
    *mail->last = r;
    mail->last = &r->next;
}

static int wait_until_over(struct shmemi_pg_request *r)
{
    struct shmemi_pg *g = r->g;
    int rc = 0;
    g->mail->drivers++;
    for (;;) {
        uint32_t seen = look(g);
        bool moved = drive_once(g);
        if (r->state == SHMEMI_PG_OVER)
            break;
        if (moved)
            continue;
        check_all(g);
        if (r->state == SHMEMI_PG_OVER)
            break;
        rc = sleep_for_mail(g, seen);
        if (rc < 0) {
            fail(r, rc);
            break;
        }
    }
    if (--g->mail->drivers == 0 && g->mail->first)
        pthread_cond_signal(&g->mail->changed);
    if (r->rc < 0)
        return shmemi_fail(r->rc, "%s", r->text);
    return 0;
}

static int run(struct shmemi_pg *g, const struct shmemi_pg_request *what, struct shmemi_pg_elements of, double seconds,
               int *source)
{
    struct shmemi_pg_request r;
    int rc = make(g, what, of, seconds, &r);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&g->mail->lock);
    append(&r);
    rc = wait_until_over(&r);
    pthread_mutex_unlock(&g->mail->lock);
    if (source)
        *source = r.source;
    return rc;
}

int shmemi_pg_send(struct shmemi_pg *g, const void *x, struct shmemi_pg_elements of, int to, int tag, double seconds)
{
    struct shmemi_pg_request what = {.is_send = true, .x = (char *)(uintptr_t)x, .peer = to, .tag = tag};
    return run(g, &what, of, seconds, NULL);
}

int shmemi_pg_recv(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, int from, int tag, double seconds,
                   int *source)
{
    struct shmemi_pg_request what = {.x = x, .peer = from, .tag = tag};
    return run(g, &what, of, seconds, source);
}

static int begin(struct shmemi_pg *g, const struct shmemi_pg_request *what, struct shmemi_pg_elements of,
                 double seconds, struct shmemi_pg_request **out)
{
    struct shmemi_pg_request *r = malloc(sizeof *r);
    int rc = r ? make(g, what, of, seconds, r) : shmemi_fail(-ENOMEM, "no memory for a message");
    if (rc < 0) {
        free(r);
        return rc;
    }
    r->left_alone = true;
    pthread_mutex_lock(&g->mail->lock);
    append(r);
    drive_once(g);
    if (r->state != SHMEMI_PG_OVER)
        rc = start_thread(g);
    if (rc < 0)
        take_off_list(r); /* its letter, if it has one, stays: the group is of little use without threads */
    else
        pthread_cond_signal(&g->mail->changed);
    pthread_mutex_unlock(&g->mail->lock);
    if (rc < 0)
        free(r);
    else
        *out = r;
    return rc;
}

int shmemi_pg_post_send(struct shmemi_pg *g, const void *x, struct shmemi_pg_elements of, int to, int tag,
                        double seconds, struct shmemi_pg_request **out)
{
    struct shmemi_pg_request what = {.is_send = true, .x = (char *)(uintptr_t)x, .peer = to, .tag = tag};
    return begin(g, &what, of, seconds, out);
}

int shmemi_pg_post_recv(struct shmemi_pg *g, void *x, struct shmemi_pg_elements of, int from, int tag, double seconds,
                        struct shmemi_pg_request **out)
{
    struct shmemi_pg_request what = {.x = x, .peer = from, .tag = tag};
    return begin(g, &what, of, seconds, out);
}

int shmemi_pg_request_wait(struct shmemi_pg_request *r, bool block, int *from)
{
    struct shmemi_pg *g = r->g;
    pthread_mutex_lock(&g->mail->lock);
    if (!block && r->state != SHMEMI_PG_OVER) {
        pthread_mutex_unlock(&g->mail->lock);
        return -EAGAIN;
    }
    int rc = r->state == SHMEMI_PG_OVER && r->rc == 0 ? 0 : wait_until_over(r);
    pthread_mutex_unlock(&g->mail->lock);
    if (from)
        *from = r->source;
    free(r);
    return rc;
}
