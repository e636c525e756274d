// SPDX-License-Identifier: Apache-2.0
// Alive words on the robust list of the service thread.
#include "place.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/futex.h"

/* Who reads the list is the kernel, in this very thread when it ends: program order is enough, if the compiler keeps
   it. */
#define IN_PROGRAM_ORDER() atomic_signal_fence(memory_order_seq_cst)

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int shmemi_places_begin(struct shmemi_places *list)
{
    *list = (struct shmemi_places){.head = {.futex_offset = -(long)page_size()}};
    list->head.list.next = &list->head.list;
    if (syscall(SYS_set_robust_list, &list->head, sizeof list->head) < 0)
        return shmemi_fail(-ENOSYS, "set_robust_list failed: without it nobody could notice that this process died");
    return 0;
}

/* A second mapping of the page that holds the word: mremap of 0 bytes duplicates a shared mapping. */
static int map_pages(struct shmemi_place *place)
{
    size_t page = page_size();
    uintptr_t word = (uintptr_t)&place->member->alive, inside = word % page;
    SHMEMI_ASSERT(word % sizeof(void *) == 0); /* the node lies as the word does */
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return shmemi_fail_errno("mapping a page for an alive word");
    void *of_word = (void *)(word - inside);
    if (mremap(of_word, 0, page, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == MAP_FAILED) {
        int rc = shmemi_fail_errno("mapping the page of an alive word once more");
        munmap(pages, 2 * page);
        return rc;
    }
    place->pages = pages;
    place->alive = (void *)(pages + inside);
    place->node = (void *)(pages + inside + page);
    return 0;
}

int shmemi_place_make(struct shmemi_member *member, struct shmemi_place **out)
{
    struct shmemi_place *place = calloc(1, sizeof *place);
    if (!place)
        return shmemi_fail(-ENOMEM, "no memory for a membership");
    place->member = member;
    int rc = map_pages(place);
    if (rc < 0) {
        free(place);
        return rc;
    }
    *out = place;
    return 0;
}

void shmemi_place_free(struct shmemi_place *place)
{
    if (!place)
        return;
    munmap(place->pages, 2 * page_size());
    free(place);
}

static void pending(struct shmemi_places *list, struct robust_list *node)
{
    IN_PROGRAM_ORDER();
    list->head.list_op_pending = node;
    IN_PROGRAM_ORDER();
}

/* By the mapping that is this place's own, as its word is. */
static _Atomic uint32_t *generation_of(const struct shmemi_place *place)
{
    char *member = (char *)place->alive - offsetof(struct shmemi_member, alive);
    return (_Atomic uint32_t *)(void *)(member + offsetof(struct shmemi_member, generation));
}

/* While an operation is pending the kernel marks the word if it holds this thread's number. Thread numbers mean nothing
   in another PID namespace, so a word that somebody else holds is not even tried. */
bool shmemi_place_claim(struct shmemi_places *list, struct shmemi_place *place)
{
    uint32_t own = (uint32_t)syscall(SYS_gettid) | FUTEX_WAITERS;
    /* [alive] relaxed: only a hint, the exchange below decides. */
    uint32_t before = atomic_load_explicit(place->alive, memory_order_relaxed);
    if (before != 0 && !(place->after_dead && before & FUTEX_OWNER_DIED))
        return false;
    pending(list, place->node);
    /* [alive] acquire pairs with the release of whoever left (below) or swept the place: what it did comes before.
       Members learn that this one is present from `state`, which is released later. */
    bool claimed =
        atomic_compare_exchange_strong_explicit(place->alive, &before, own, memory_order_acquire, memory_order_relaxed);
    if (claimed) {
        /* [generation] relaxed: a lock word of whoever was here before looks alive until this is seen, and no longer. */
        atomic_fetch_add_explicit(generation_of(place), 1, memory_order_relaxed);
        place->node->next = list->head.list.next;
        IN_PROGRAM_ORDER(); /* the list is whole at every instant */
        list->head.list.next = place->node;
        list->count++;
    }
    pending(list, NULL);
    return claimed;
}

static void unlink_node(struct shmemi_places *list, const struct robust_list *node)
{
    struct robust_list *before = &list->head.list;
    while (before->next != node)
        before = before->next;
    before->next = node->next;
    list->count--;
}

/* The word becomes 0 last: a thread that is killed on the way died, or has left with the state saying so. */
void shmemi_place_release(struct shmemi_places *list, struct shmemi_place *place)
{
    pending(list, place->node);
    unlink_node(list, place->node);
    /* [left] pairs with the acquire in shmemi_member_left(): everything this member did comes before. */
    atomic_store_explicit(&place->member->state, SHMEMI_MEMBER_LEFT, memory_order_release);
    /* [alive] release: as above, for who sleeps on this word; and for who claims it next. */
    atomic_store_explicit(place->alive, 0, memory_order_release);
    pending(list, NULL);
    shmemi_futex_wake(&place->member->alive, INT_MAX);
}
