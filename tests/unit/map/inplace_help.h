// SPDX-License-Identifier: Apache-2.0
// What the tests of registering in place share: an engine, regions, a peer's view, and a look for leaks.
#ifndef TESTS_UNIT_MAP_INPLACE_HELP_H
#define TESTS_UNIT_MAP_INPLACE_HELP_H

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

#include "base/error.h"
#include "map/inplace.h"

struct region {
    struct shmemi_piece *pieces;
    size_t count;
    enum shmemi_guard guard;
};

static inline struct shmemi_inplace *engine_with(struct shmemi_inplace_config config)
{
    static struct shmemi_inplace *latest;
    struct shmemi_inplace *engine = NULL;
    int rc = shmemi_inplace_create(&config, &engine);
    if (rc == -EBUSY) { /* a test failed and left it */
        shmemi_inplace_destroy(latest);
        rc = shmemi_inplace_create(&config, &engine);
    }
    if (rc < 0)
        fail_msg("create: %d, %s", rc, shmemi_last_error());
    return latest = engine;
}

static inline struct shmemi_inplace *plain_engine(void)
{
    return engine_with((struct shmemi_inplace_config){0});
}

static inline struct region put_in(struct shmemi_inplace *engine, void *address, size_t size)
{
    struct region region = {0};
    int rc = shmemi_inplace_register(engine, address, size, &region.pieces, &region.count, &region.guard);
    if (rc < 0)
        fail_msg("register of %zu bytes at %p: %d, %s", size, address, rc, shmemi_last_error());
    return region;
}

static inline void take_out(struct shmemi_inplace *engine, struct region region, bool peers_mapped)
{
    int rc = shmemi_inplace_deregister(engine, region.pieces, region.count, peers_mapped);
    if (rc < 0)
        fail_msg("deregister: %d, %s", rc, shmemi_last_error());
    free(region.pieces);
}

/* register must refuse with this code and a text that holds these words, and leave nothing behind. */
static inline void refused(struct shmemi_inplace *engine, void *address, size_t size, int code, const char *words)
{
    struct region region = {0};
    int rc = shmemi_inplace_register(engine, address, size, &region.pieces, &region.count, &region.guard);
    if (rc != code)
        fail_msg("register of %zu bytes at %p: %d instead of %d (%s)", size, address, rc, code, shmemi_last_error());
    if (!strstr(shmemi_last_error(), words))
        fail_msg("the text '%s' does not say '%s'", shmemi_last_error(), words);
}

/* What a peer sees of a region: all its pieces mapped one behind the other, as they are in the owner. */
struct view {
    char *base;
    size_t length;
    uintptr_t owner; /* address of base in the owner */
};

static inline struct view look_at(struct shmemi_inplace *engine, struct region region)
{
    const struct shmemi_piece *last = &region.pieces[region.count - 1];
    struct view view = {.owner = region.pieces[0].address,
                        .length = (size_t)(last->address + last->length - region.pieces[0].address)};
    view.base = mmap(NULL, view.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < region.count; i++) {
        const struct shmemi_piece *piece = &region.pieces[i];
        void *at = view.base + (piece->address - view.owner);
        void *got = mmap(at, (size_t)piece->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         shmemi_inplace_fd(engine, (enum shmemi_page_kind)piece->kind), (off_t)piece->offset);
        assert_ptr_equal(got, at);
    }
    return view;
}

static inline void look_away(struct view view)
{
    munmap(view.base, view.length);
}

/* The peer's address of something in the owner. */
static inline void *through(struct view view, const volatile void *owned)
{
    return view.base + ((uintptr_t)owned - view.owner);
}

static inline size_t count_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t lines = 0;
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static inline size_t count_maps(void)
{
    return count_lines("/proc/self/maps");
}

static inline size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Private, written, page aligned memory. */
static inline void *pages(size_t bytes, int value)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, value, bytes);
    return memory;
}

/* Are writers held back on this machine? */
static inline bool guarded(struct shmemi_inplace *engine)
{
    void *page = pages(1, 0);
    struct region region = put_in(engine, page, 1);
    enum shmemi_guard guard = region.guard;
    take_out(engine, region, false);
    munmap(page, 1);
    return guard != SHMEMI_GUARD_NONE;
}

static inline void all_bytes(const void *memory, size_t bytes, int value)
{
    const unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (unsigned char)value)
            fail_msg("byte %zu of %zu is %d instead of %d", i, bytes, at[i], value);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
