// SPDX-License-Identifier: Apache-2.0
// The engine's parts, for the files inplace*.c alone.
//
//   inplace.c         regions in and out
//   inplace_engine.c  the engine's life, files and lock
//   inplace_survey.c  what the memory is, and whether it may be moved
//   inplace_move.c    runs of pages into the files and back
//   inplace_fork.c    what a forked child gets
//   inplace_static.c  static data, before main
#ifndef SHMEMI_MAP_INPLACE_INTERNAL_H
#define SHMEMI_MAP_INPLACE_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "map/fork_trap.h"
#include "map/guard.h"
#include "map/inplace.h"
#include "map/maps.h"
#include "map/pages.h"

/* Addresses of user memory, and how often the same page can come back under another file offset. */
#if defined(__x86_64__)
enum { SHMEMI_ADDRESS_BITS = 47 };
#else
enum { SHMEMI_ADDRESS_BITS = 48 };
#endif
#define SHMEMI_EPOCH_STRIDE (UINT64_C(1) << SHMEMI_ADDRESS_BITS)
#define SHMEMI_FILE_SIZE (UINT64_C(1) << 62)
#define SHMEMI_EPOCHS ((unsigned)(SHMEMI_FILE_SIZE / SHMEMI_EPOCH_STRIDE))

struct shmemi_fork_run {
    uint64_t address, length, offset;
    enum shmemi_page_kind kind;
    int protection;
};

/* What the fork handlers hand to each other. In memory of its own, like the engine: all other memory of the
   process may be among what the child still has to copy. */
struct shmemi_fork_plan {
    struct shmemi_fork_trap trap; /* first: it is how the bare functions find the plan */
    struct shmemi_fork_run *runs;
    size_t count, capacity;
    int files[SHMEMI_PAGE_KINDS];
    int done[2]; /* pipe: the child has copied, or is dead */
    bool active; /* the child has something to copy */
};

/* Pages [first, last) of one mapping that is not ours. */
struct shmemi_span {
    uint64_t first, last;
    int protection;
    bool anonymous; /* else a private mapping of a file */
};

struct shmemi_spans {
    struct shmemi_span *list;
    size_t count, capacity;
};

/* In memory apart (apart.h). */
struct shmemi_inplace {
    /* Held by every call of the interface and across fork. Protects all that follows, but for what is set
       once. */
    pthread_mutex_t lock;
    pid_t owner; /* set once; not getpid() in a forked child, where nothing works any more */
    struct shmemi_inplace_config config;
    size_t page;                  /* bytes; set once */
    uint64_t flip;                /* the parking place of an address is address ^ flip; set once */
    int files[SHMEMI_PAGE_KINDS]; /* -1 until first used */
    dev_t device;                 /* of both */
    ino_t inodes[SHMEMI_PAGE_KINDS];
    struct shmemi_guard_file guard;
    struct shmemi_maps maps;
    struct shmemi_spans spans; /* of the range that is being registered */
    size_t mixed;              /* pages that a child has to copy */
    size_t heap;               /* pages that a child must not share, see SHMEMI_PAGE_HEAP */
    uintptr_t main_thread;     /* an address in the main thread's control block, 0 if unknown; set once */
    struct shmemi_fork_plan plan;
    struct shmemi_pages pages;
};

/* Pages [first, last) of one mapping and one kind, none of them moved. */
struct shmemi_run {
    uint64_t first, last;
    enum shmemi_page_kind kind;
    int protection;
    bool anonymous; /* else a private mapping of a file, which no userfaultfd guards */
};

/* One call at a time. */
struct shmemi_turn {
    uint64_t signals; /* the kernel's mask */
    int cancel;
};

/* Takes the lock. Until the end no signal handler runs on this thread, not even libc's own, and no
   cancellation ends it half way: it must not run into pages that are away. -ECHILD in a forked child. */
int shmemi_inplace_take_turn(struct shmemi_inplace *engine, struct shmemi_turn *turn);
void shmemi_inplace_end_turn(struct shmemi_inplace *engine, const struct shmemi_turn *turn);

/* Makes a memfd of the kind's size: its descriptor, or a negative errno with its text. */
int shmemi_inplace_make_file(enum shmemi_page_kind kind);

/* Makes sure that the file exists: 0 or a negative errno. */
int shmemi_inplace_need_file(struct shmemi_inplace *engine, enum shmemi_page_kind kind);

/* Room for [offset, offset + bytes): 0, or a negative errno with its text and nothing taken. */
int shmemi_inplace_take_room(struct shmemi_inplace *engine, int file, uint64_t offset, size_t bytes);

/* survey: every page of [low, high) is ours already or may be moved; engine->spans then lists what is not
   ours. 0, or the negative errno and its text. Pages that the table calls moved but that were replaced since
   are forgotten. */
int shmemi_inplace_survey(struct shmemi_inplace *engine, uint64_t low, uint64_t high);

/* Which of our files it maps; SHMEMI_PAGE_KINDS if none. */
enum shmemi_page_kind shmemi_inplace_kind_of(const struct shmemi_inplace *engine, const struct shmemi_map *map);

/* Is this mapping one of our files at the offset that belongs to the page at its start? */
bool shmemi_inplace_is_ours(const struct shmemi_inplace *engine, const struct shmemi_map *map);

/* The moved pages among [first, last) are mapped from our file no more: forget them, drop their data unless
   somebody has moved the mapping elsewhere, and never use those offsets again. */
void shmemi_inplace_forget(struct shmemi_inplace *engine, uint64_t first, uint64_t last);

/* An address in a thread's control block, which the C library keeps at the top of its stack; 0 if unknown. */
uintptr_t shmemi_inplace_control_block(pid_t thread);

uint64_t shmemi_inplace_offset(const struct shmemi_inplace *engine, uint64_t number, const struct shmemi_page *page);

/* move: brings the run into its file. On failure pages that were moved already stay moved, with count 0.
 *guard_out is lowered to what held for this run. */
int shmemi_inplace_bring_in(struct shmemi_inplace *engine, const struct shmemi_run *run, enum shmemi_guard *guard_out);

/* move: one more region needs this page, and it may be that of an allocator. */
void shmemi_inplace_count_up(struct shmemi_inplace *engine, struct shmemi_page *page, bool heap);

/* move: gives back those pages of [first, last) that are moved and have count 0. */
int shmemi_inplace_give_back(struct shmemi_inplace *engine, uint64_t first, uint64_t last);

/* fork: the handlers serve this engine from now on; -EBUSY if they serve another. */
int shmemi_inplace_fork_serve(struct shmemi_inplace *engine);
void shmemi_inplace_fork_leave(struct shmemi_inplace *engine);

#endif
