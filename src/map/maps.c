// SPDX-License-Identifier: Apache-2.0
// Reading /proc/self/maps, by query and as text.
#include "map/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

/* From <linux/fs.h> of Linux 6.11; the headers that we are built with may be older. */
struct procmap_query {
    __u64 size;
    __u64 query_flags, query_addr;
    __u64 vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    __u32 dev_major, dev_minor;
    __u32 vma_name_size, build_id_size;
    __u64 vma_name_addr, build_id_addr;
};
#define QUERY_MAP _IOWR('f', 17, struct procmap_query)
enum { QUERY_READABLE = 1, QUERY_WRITABLE = 2, QUERY_EXECUTABLE = 4, QUERY_SHARED = 8, QUERY_COVERING_OR_NEXT = 16 };

/* 1, 0 if there is no such mapping, or -errno without a text. */
static int find_by_query(int fd, uint64_t address, struct shmemi_map *out)
{
    char name[sizeof out->name] = "";
    struct procmap_query query = {
        .size = sizeof query,
        .query_flags = QUERY_COVERING_OR_NEXT,
        .query_addr = address,
        .vma_name_addr = (uintptr_t)name,
        .vma_name_size = sizeof name,
    };
    int rc = ioctl(fd, QUERY_MAP, &query);
    if (rc < 0 && errno == ENAMETOOLONG) {
        strcpy(name, "(a file with a long name)");
        query.vma_name_addr = query.vma_name_size = 0;
        rc = ioctl(fd, QUERY_MAP, &query);
    }
    if (rc < 0)
        return errno == ENOENT ? 0 : -errno;
    *out = (struct shmemi_map){
        .start = query.vma_start,
        .end = query.vma_end,
        .offset = query.vma_offset,
        .inode = query.inode,
        .major = query.dev_major,
        .minor = query.dev_minor,
        .protection = (query.vma_flags & QUERY_READABLE ? PROT_READ : 0) |
                      (query.vma_flags & QUERY_WRITABLE ? PROT_WRITE : 0) |
                      (query.vma_flags & QUERY_EXECUTABLE ? PROT_EXEC : 0),
        .shared = query.vma_flags & QUERY_SHARED,
    };
    memcpy(out->name, name, sizeof name);
    return 1;
}

int shmemi_maps_open(struct shmemi_maps *maps, bool text_only)
{
    *maps = (struct shmemi_maps){.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    if (maps->fd < 0)
        return shmemi_fail_errno("cannot open /proc/self/maps");
    struct shmemi_map any;
    maps->query = !text_only && find_by_query(maps->fd, 0, &any) == 1;
    return 0;
}

void shmemi_maps_close(struct shmemi_maps *maps)
{
    if (maps->fd >= 0)
        close(maps->fd);
    maps->fd = -1;
}

void shmemi_maps_rewind(struct shmemi_maps *maps)
{
    maps->reached = maps->text_offset = 0;
    maps->used = maps->filled = 0;
}

/* Reads more text behind what is left of the old: 1, 0 at the end, or -errno. */
static int fill(struct shmemi_maps *maps)
{
    memmove(maps->text, maps->text + maps->used, maps->filled - maps->used);
    maps->filled -= maps->used;
    maps->used = 0;
    ssize_t got;
    do
        got = pread(maps->fd, maps->text + maps->filled, sizeof maps->text - maps->filled, (off_t)maps->text_offset);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return shmemi_fail_errno("cannot read /proc/self/maps");
    maps->filled += (size_t)got;
    maps->text_offset += (uint64_t)got;
    return got > 0;
}

/* The next whole line, and its length without the newline: 1, 0 at the end, or -errno. */
static int next_line(struct shmemi_maps *maps, const char **line, size_t *length)
{
    for (;;) {
        const char *begin = maps->text + maps->used;
        const char *end = memchr(begin, '\n', maps->filled - maps->used);
        if (end) {
            *line = begin;
            *length = (size_t)(end - begin);
            maps->used += *length + 1;
            return 1;
        }
        if (maps->used == 0 && maps->filled == sizeof maps->text)
            return shmemi_fail(-EIO, "a line of /proc/self/maps is longer than %zu bytes", sizeof maps->text);
        int rc = fill(maps);
        if (rc <= 0)
            return rc;
    }
}

/* Number parsing without the C library, which may be what is being moved. */
static const char *number(const char *at, const char *end, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    for (; at < end; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                                                    : 99;
        if (digit >= base)
            break;
        value = value * base + digit;
    }
    *out = value;
    return at < end ? at + 1 : at; /* behind the separator */
}

/* "55d0c0a000-55d0c0b000 rw-p 00001000 fd:00 4718613   /usr/bin/program" */
static void parse(const char *at, size_t length, struct shmemi_map *out)
{
    const char *end = at + length;
    uint64_t major, minor;
    *out = (struct shmemi_map){0};
    at = number(at, end, 16, &out->start);
    at = number(at, end, 16, &out->end);
    if (end - at >= 5) {
        out->protection =
            (at[0] == 'r' ? PROT_READ : 0) | (at[1] == 'w' ? PROT_WRITE : 0) | (at[2] == 'x' ? PROT_EXEC : 0);
        out->shared = at[3] == 's';
        at += 5;
    }
    at = number(at, end, 16, &out->offset);
    at = number(at, end, 16, &major);
    at = number(at, end, 16, &minor);
    at = number(at, end, 10, &out->inode);
    out->major = (uint32_t)major;
    out->minor = (uint32_t)minor;
    while (at < end && *at == ' ')
        at++;
    size_t name = (size_t)(end - at);
    if (name >= sizeof out->name)
        name = sizeof out->name - 1;
    memcpy(out->name, at, name);
}

int shmemi_maps_next(struct shmemi_maps *maps, struct shmemi_map *out)
{
    const char *line = NULL;
    size_t length = 0;
    int rc = next_line(maps, &line, &length);
    if (rc <= 0)
        return rc;
    parse(line, length, out);
    maps->reached = out->end;
    return 1;
}

int shmemi_maps_find(struct shmemi_maps *maps, uint64_t address, struct shmemi_map *out)
{
    if (maps->query) {
        int rc = find_by_query(maps->fd, address, out);
        if (rc >= 0)
            return rc;
        maps->query = false; /* a filter may forbid what worked at first */
    }
    if (address < maps->reached)
        shmemi_maps_rewind(maps);
    for (;;) {
        int rc = shmemi_maps_next(maps, out);
        if (rc <= 0 || out->end > address)
            return rc;
    }
}
