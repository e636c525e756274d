// SPDX-License-Identifier: Apache-2.0
// The table of teams of this PE, and how PEs agree on a new one. Each member of a new team takes a channel of its own
// that is free here, and one exchange of the parent tells all of them everybody's: so nobody has to find a number that
// is free everywhere.
#include "team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "await.h"
#include "base/error.h"
#include "coll.h"
#include "context.h"
#include "exchange.h"
#include "hal/hal.h"
#include "job/wireup.h"
#include "order.h"

/* A handle is the number of teams so far, shifted, and a place in the table. Place p has the PE's channel p - FIRST. */
enum { PLACE_BITS = 10, PLACES = 1 << PLACE_BITS, FIRST = 3, CHANNELS_A_STEP = 128 };
_Static_assert(FIRST + SHMEMI_TEAMS_MOST <= PLACES, "a place for each team");

struct shmemi_teams {
    _Atomic(struct shmemi_group *) at[PLACES]; /* once made they stay, and serve one team after another */
    bool taken[PLACES];                        /* under the job's lock, as what follows */
    uint64_t rounds[PLACES];                   /* that this PE has gone through on the place's channel */
    int paged;                                 /* channels before this one have their pages */
};

/* Never begins again, whatever jobs there are: a handle of an earlier job is told too. */
static _Atomic uintptr_t made;

/* The group's memory is the job's until its end, so that a thread that uses a team which another one destroys finds a
   wrong handle and no wrong memory. */
static struct shmemi_group *new_group(void)
{
    size_t n = (size_t)shmemi_current->n;
    struct shmemi_group *g = calloc(1, sizeof *g + n * sizeof *g->peers);
    if (g)
        g->peers = (struct shmemi_peer *)(g + 1);
    else
        shmemi_fail(-ENOMEM, "no memory for a team");
    return g;
}

static struct shmemi_group *fixed_team(uintptr_t handle)
{
    const struct shmemi_job *job = shmemi_current;
    struct shmemi_group *g = new_group();
    if (!g)
        return NULL;
    g->size = job->n;
    g->me = job->me;
    g->stride = 1;
    g->arrival = shmemi_choose_arrival(g->size);
    g->contexts = SHMEMI_CONTEXTS_MOST;
    for (int pe = 0; pe < job->n; pe++)
        g->peers[pe].channel = &job->slots[pe].channels[handle - SHMEMI_TEAM_WORLD];
    atomic_store_explicit(&g->handle, handle, memory_order_relaxed); /* published by [world] */
    return g;
}

static void end_teams(struct shmemi_teams *teams)
{
    for (int place = 0; place < PLACES; place++)
        free(atomic_load_explicit(&teams->at[place], memory_order_relaxed)); /* no thread uses the job any more */
    free(teams);
}

/* Under the lock. */
static int make_table(struct shmemi_job_parts *parts)
{
    struct shmemi_teams *teams = calloc(1, sizeof *teams);
    struct shmemi_group *world = fixed_team(SHMEMI_TEAM_WORLD), *shared = fixed_team(SHMEMI_TEAM_SHARED);
    if (!teams || !world || !shared) {
        free(teams);
        free(world);
        free(shared);
        return shmemi_fail(-ENOMEM, "no memory for the table of teams");
    }
    atomic_store_explicit(&teams->at[SHMEMI_TEAM_WORLD], world, memory_order_relaxed); /* published by [world] */
    atomic_store_explicit(&teams->at[SHMEMI_TEAM_SHARED], shared, memory_order_relaxed);
    parts->teams = teams;
    parts->end_teams = end_teams;
    /* [world] release pairs with the acquires in shmemi_world() and shmemi_team_group(). */
    atomic_store_explicit(&parts->world, world, memory_order_release);
    return 0;
}

int shmemi_make_world(struct shmemi_group **out)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    pthread_mutex_lock(&parts->lock);
    int rc = atomic_load_explicit(&parts->world, memory_order_relaxed) ? 0 : make_table(parts); /* under the lock */
    *out = atomic_load_explicit(&parts->world, memory_order_relaxed);
    pthread_mutex_unlock(&parts->lock);
    return rc;
}

/* --- looking up --------------------------------------------------------------------------------------------------- */

static struct shmemi_group *find(uintptr_t team)
{
    struct shmemi_group *world;
    if (shmemi_current->n == 0 || team == SHMEMI_TEAM_INVALID || shmemi_world(&world) < 0)
        return NULL;
    /* [team] acquire pairs with the releases in claim() and, of the handle, in begin_team(). */
    struct shmemi_group *g =
        atomic_load_explicit(&shmemi_current->parts->teams->at[team & (PLACES - 1)], memory_order_acquire);
    return g && atomic_load_explicit(&g->handle, memory_order_acquire) == team ? g : NULL;
}

static _Noreturn void no_team(const char *fn, const char *argument, uintptr_t team)
{
    uintptr_t number = team >> PLACE_BITS;
    bool was = number >= 1 && number <= atomic_load_explicit(&made, memory_order_relaxed); /* only words a message */
    shmemi_die(fn, "%s is %#zx, which is no team%s", argument, (size_t)team, was ? " (it was destroyed)" : "");
}

void shmemi_team_check(const char *fn, const char *argument, uintptr_t team)
{
    if (team != SHMEMI_TEAM_INVALID && !find(team))
        no_team(fn, argument, team);
}

struct shmemi_group *shmemi_team_group_slow(const char *fn, uintptr_t team)
{
    if (shmemi_unlikely(shmemi_current->n == 0))
        shmemi_die(fn, "called %s", shmemi_no_job());
    struct shmemi_group *g;
    shmemi_require(fn, shmemi_world(&g));
    if ((g = find(team)) || team == SHMEMI_TEAM_INVALID)
        return g;
    no_team(fn, "team", team);
}

int shmemi_team_my_pe(uintptr_t team)
{
    const struct shmemi_group *g = find(team);
    return g ? g->me : -1;
}

int shmemi_team_n_pes(uintptr_t team)
{
    const struct shmemi_group *g = find(team);
    return g ? g->size : -1;
}

int shmemi_team_world_pe(uintptr_t team, int pe)
{
    const struct shmemi_group *g = find(team);
    return g && pe >= 0 && pe < g->size ? shmemi_group_pe(g, pe) : -1;
}

int shmemi_team_translate(uintptr_t from, int pe, uintptr_t to)
{
    const struct shmemi_group *g = find(to);
    int world = shmemi_team_world_pe(from, pe);
    return g && world >= 0 ? shmemi_group_index(g, world) : -1;
}

int shmemi_team_contexts_most(uintptr_t team)
{
    const struct shmemi_group *g = find(team);
    return g ? g->contexts : 0;
}

/* --- channels ----------------------------------------------------------------------------------------------------- */

static struct shmemi_channel *channel_of(int pe, int place)
{
    const struct shmemi_job *job = shmemi_current;
    char *all = (char *)job->control + shmemi_channels_offset(job->n, pe);
    return (struct shmemi_channel *)(void *)all + (place - FIRST);
}

/* Pages for the channel of a place. Under the lock. */
static int take_pages(struct shmemi_teams *teams, int place)
{
    const struct shmemi_job *job = shmemi_current;
    if (place - FIRST < teams->paged)
        return 0;
    size_t offset = shmemi_channels_offset(job->n, job->me) + (size_t)teams->paged * sizeof(struct shmemi_channel);
    int rc = shmemi_hal_host.reserve(job->parts->control_fd, offset, CHANNELS_A_STEP * sizeof(struct shmemi_channel));
    if (rc == 0)
        teams->paged += CHANNELS_A_STEP;
    return rc;
}

/* Takes a place, its channel and its group; the place, or negative with the reason. */
static int claim(void)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    struct shmemi_teams *teams = parts->teams;
    int place = FIRST, rc;
    pthread_mutex_lock(&parts->lock);
    while (place < FIRST + SHMEMI_TEAMS_MOST && teams->taken[place])
        place++;
    if (place == FIRST + SHMEMI_TEAMS_MOST)
        rc = shmemi_fail(-ENOSPC, "it is in %d teams, as many as there can be: destroy some", SHMEMI_TEAMS_MOST);
    else
        rc = take_pages(teams, place);
    struct shmemi_group *g = atomic_load_explicit(&teams->at[place], memory_order_relaxed); /* under the lock */
    if (rc == 0 && !g) {
        g = new_group();
        atomic_store_explicit(&teams->at[place], g, memory_order_release); /* [team] pairs with find() */
        rc = g ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        teams->taken[place] = true;
        /* Not behind what the place's last team waited for. [epoch] release: who is late in leaving that team may find
           this in place of its last epoch, which this PE has seen. The parent's exchange publishes it to the new team.
         */
        atomic_store_explicit(&channel_of(shmemi_current->me, place)->epoch, (uint32_t)teams->rounds[place],
                              memory_order_release);
    }
    pthread_mutex_unlock(&parts->lock);
    return rc < 0 ? rc : place;
}

static void give_back(int place, uint64_t rounds)
{
    struct shmemi_job_parts *parts = shmemi_current->parts;
    pthread_mutex_lock(&parts->lock);
    parts->teams->taken[place] = false;
    parts->teams->rounds[place] += rounds;
    pthread_mutex_unlock(&parts->lock);
}

/* --- splitting ---------------------------------------------------------------------------------------------------- */

enum { AXES = 2, SPLIT = 64 /* unlike the numbers of other collectives */ };

/* What each PE of the parent publishes. */
struct offer {
    uint32_t operation;
    int32_t rc;
    int32_t arguments[3]; /* in which all must agree */
    struct {
        int32_t place; /* that this PE has taken for the axis; 0: it is not in that team */
        uint32_t reserved;
        uint64_t rounds;
    } axis[AXES];
    char text[64]; /* of the failure */
};
_Static_assert(sizeof(struct offer) <= SHMEMI_PUBLISH_BYTES, "one publication");

/* One new team, its members as the parent numbers them. */
struct part {
    int start, stride, size, contexts;
    int me; /* which member this PE is; -1: none */
};

static void note_failure(struct offer *offer, int rc)
{
    offer->rc = rc;
    snprintf(offer->text, sizeof offer->text, "%.*s", (int)sizeof offer->text - 1, shmemi_last_error());
}

static void take_places(struct offer *offer, const struct part *parts, int axes)
{
    for (int a = 0; a < axes && offer->rc == 0; a++) {
        int place = parts[a].me < 0 ? 0 : claim();
        if (place < 0)
            note_failure(offer, place);
        else
            offer->axis[a].place = place;
        offer->axis[a].rounds = place > 0 ? shmemi_current->parts->teams->rounds[place] : 0;
    }
}

static bool place_is_good(int32_t place)
{
    return place == 0 || (place >= FIRST && place < FIRST + SHMEMI_TEAMS_MOST);
}

/* Which member of a part is the parent's PE p; -1: none. */
static int member_of(const struct part *part, int p)
{
    if (part->stride == 0)
        return p == part->start ? 0 : -1;
    int i = (p - part->start) / part->stride;
    return (p - part->start) % part->stride == 0 && i >= 0 && i < part->size ? i : -1;
}

/* Whether all PEs of the parent can, and want the same; what they say is seen alike by all. own: the PEs that have to
   want the same, if not all of them: those that ask for other teams may, as long as every team is asked for by all its
   members. */
static int agree(const struct shmemi_group *parent, const struct offer *mine, const struct part *own)
{
    struct offer theirs;
    for (int i = 0; i < parent->size; i++) {
        memcpy(&theirs, shmemi_group_published(parent, i), sizeof theirs);
        theirs.text[sizeof theirs.text - 1] = 0;
        int pe = shmemi_group_pe(parent, i);
        if (theirs.operation != SPLIT)
            return shmemi_fail(-EINVAL, "PE %d makes another call: all PEs of the parent team must call this", pe);
        if (theirs.rc < 0)
            return shmemi_fail(theirs.rc, "PE %d: %s", pe, theirs.text);
        bool concerned = !own || (own->me >= 0 && member_of(own, i) >= 0);
        if (concerned && memcmp(theirs.arguments, mine->arguments, sizeof mine->arguments) != 0)
            return shmemi_fail(-EINVAL,
                               "PE %d asks for (%d, %d, %d), but PE %d for (%d, %d, %d): all %s must ask alike",
                               shmemi_current->me, mine->arguments[0], mine->arguments[1], mine->arguments[2], pe,
                               theirs.arguments[0], theirs.arguments[1], theirs.arguments[2], own ? "members" : "PEs");
        if (!place_is_good(theirs.axis[0].place) || !place_is_good(theirs.axis[1].place))
            return shmemi_fail(-EPROTO, "PE %d names a place that there is not", pe);
    }
    return 0;
}

/* Fills the group of a new team in from what the parent's PEs have published. */
static uintptr_t begin_team(const struct shmemi_group *parent, const struct part *part, int axis, int place)
{
    struct shmemi_group *g =
        atomic_load_explicit(&shmemi_current->parts->teams->at[place], memory_order_relaxed); /* taken by this thread */
    g->size = part->size;
    g->me = part->me;
    g->start = shmemi_group_pe(parent, part->start);
    g->stride = parent->stride * part->stride;
    g->arrival = shmemi_choose_arrival(g->size);
    g->round = 0;
    g->broken = NULL;
    g->contexts = part->contexts < SHMEMI_CONTEXTS_MOST ? part->contexts : SHMEMI_CONTEXTS_MOST;
    for (int i = 0; i < g->size; i++) {
        struct offer theirs;
        memcpy(&theirs, shmemi_group_published(parent, part->start + i * part->stride), sizeof theirs);
        int other = theirs.axis[axis].place; /* read once more than agree() did: it may say something else by now */
        g->peers[i].channel = channel_of(shmemi_group_pe(g, i), other && place_is_good(other) ? other : FIRST);
        g->peers[i].base = theirs.axis[axis].rounds;
    }
    uintptr_t number = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1; /* needs to be unique only */
    uintptr_t handle = number << PLACE_BITS | (uintptr_t)place;
    atomic_store_explicit(&g->handle, handle, memory_order_release); /* [team] pairs with find() */
    return handle;
}

static int split(const char *fn, struct shmemi_group *parent, struct offer *offer, const struct part *parts, int axes,
                 uintptr_t *out)
{
    take_places(offer, parts, axes);
    shmemi_require(fn, shmemi_group_exchange(parent, offer, sizeof *offer));
    int rc = agree(parent, offer, axes == 1 ? parts : NULL);
    for (int a = 0; a < axes; a++) {
        int place = offer->axis[a].place;
        out[a] = rc == 0 && place ? begin_team(parent, &parts[a], a, place) : SHMEMI_TEAM_INVALID;
        if (rc < 0 && place)
            give_back(place, 0);
    }
    return rc < 0 ? shmemi_fail_in(rc, "%s", fn) : 0;
}

static int check_triplet(const struct shmemi_group *parent, int start, int stride, int size)
{
    int64_t last = start + (int64_t)stride * ((int64_t)size - 1);
    if (size < 1)
        return shmemi_fail(-EINVAL, "size is %d, but a team has one PE at least", size);
    if (stride == 0 && size > 1)
        return shmemi_fail(-EINVAL, "stride is 0, but size is %d", size);
    if (start < 0 || start >= parent->size || last < 0 || last >= parent->size)
        return shmemi_fail(-EINVAL, "members are %d to %lld, the parent has PEs 0 to %d", start, (long long)last,
                           parent->size - 1);
    return 0;
}

int shmemi_team_split_strided(const char *fn, uintptr_t parent, int start, int stride, int size, int contexts,
                              uintptr_t *out)
{
    *out = SHMEMI_TEAM_INVALID;
    struct shmemi_group *g = shmemi_team_group(fn, parent);
    if (!g)
        return shmemi_fail(-EINVAL, "%s: parent_team is SHMEM_TEAM_INVALID", fn);
    struct offer offer = {.operation = SPLIT, .arguments = {start, stride, size}};
    struct part part = {.start = start, .stride = size > 1 ? stride : 0, .size = size, .contexts = contexts, .me = -1};
    if (contexts < 0)
        note_failure(&offer, -EINVAL);
    else if (check_triplet(g, start, stride, size) < 0)
        note_failure(&offer, -EINVAL);
    else
        part.me = member_of(&part, g->me);
    return split(fn, g, &offer, &part, 1, out);
}

int shmemi_team_split_2d(const char *fn, uintptr_t parent, int xrange, const int contexts[2], uintptr_t out[2])
{
    out[0] = out[1] = SHMEMI_TEAM_INVALID;
    struct shmemi_group *g = shmemi_team_group(fn, parent);
    if (!g)
        return shmemi_fail(-EINVAL, "%s: parent_team is SHMEM_TEAM_INVALID", fn);
    struct offer offer = {.operation = SPLIT, .arguments = {xrange, -1, -1}};
    struct part parts[AXES] = {{.me = -1}, {.me = -1}};
    if (contexts[0] < 0 || contexts[1] < 0) {
        note_failure(&offer, -EINVAL);
    } else if (xrange < 1) {
        note_failure(&offer, shmemi_fail(-EINVAL, "xrange is %d, but must be 1 at least", xrange));
    } else {
        int width = xrange < g->size ? xrange : g->size, x = g->me % width, y = g->me / width;
        int left = g->size - y * width;
        parts[0] = (struct part){y * width, 1, left < width ? left : width, contexts[0], x};
        parts[1] = (struct part){x, width, (g->size - x + width - 1) / width, contexts[1], y};
    }
    return split(fn, g, &offer, parts, AXES, out);
}

void shmemi_team_destroy(const char *fn, uintptr_t team)
{
    struct shmemi_group *g = shmemi_team_group(fn, team);
    if (!g)
        return;
    if (team == SHMEMI_TEAM_WORLD || team == SHMEMI_TEAM_SHARED)
        shmemi_die(fn, "team is SHMEM_TEAM_%s, which cannot be destroyed",
                   team == SHMEMI_TEAM_WORLD ? "WORLD" : "SHARED");
    shmemi_quiet();
    (void)shmemi_coll_sync(fn, g); /* nobody is in an earlier collective of the team any more */
    shmemi_contexts_end_team(team);
    /* Who uses the handle from now on makes a mistake and is told so. Relaxed: whatever order, the memory stays. */
    atomic_store_explicit(&g->handle, 0, memory_order_relaxed);
    give_back((int)(team & (PLACES - 1)), g->round);
}
