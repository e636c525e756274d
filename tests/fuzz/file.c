// SPDX-License-Identifier: Apache-2.0
// Fuzzing files: bytes of the control part of a small file are changed, and it is opened and used. The first byte says
// how it is opened, and whether check sums of the header are made right afterwards. Nobody is attached meanwhile.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patch.h"

static char path[64], *image;
static size_t image_bytes;
static struct shmemi_pool_layout layout;

static void remove_it(void)
{
    unlink(path);
}

static void make_image(void)
{
    struct shmemi_pool_config config = {.size = 256 << 10, .max_size = 512 << 10, .numa_node = -1};
    struct shmemi_naming naming = {.name = "first", .size = 300, .note = "note", .note_bytes = 4};
    struct shmemi_pool *pool;
    struct stat st;
    void *p;
    snprintf(path, sizeof path, "%s/shmem-fuzz-%d", access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp", (int)getpid());
    atexit(remove_it);
    if (shmemi_file_create(path, &config, &pool) < 0 || shmemi_pool_alloc(pool, 100, 0, 0, &p) < 0 ||
        shmemi_pool_alloc(pool, 50000, 0, 0, &p) < 0 || shmemi_pool_alloc_named(pool, &naming, &p) < 0)
        abort();
    layout = pool->at;
    if (shmemi_pool_close(pool) < 0)
        abort();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !(image = malloc((size_t)st.st_size)) ||
        read(fd, image, (size_t)st.st_size) != st.st_size)
        abort();
    image_bytes = (size_t)st.st_size;
    close(fd);
}

/* In place: the inode, and so the state in use, stays that of this file. */
static void write_image(const uint8_t *data, size_t size, bool seal)
{
    static const char zeros[4096];
    static char patched[64 << 20];
    uint64_t where;
    size_t length, used;
    const uint8_t *bytes;
    if (image_bytes > sizeof patched)
        abort();
    memcpy(patched, image, image_bytes);
    for (; (used = patch_next(data, size, &layout, &where, &bytes, &length)); data += used, size -= used)
        memcpy(patched + where, bytes, length);
    for (int i = 0; i < 2 && seal; i++) {
        struct shmemi_pool_slot slot;
        memcpy(&slot, patched + i * 4096, sizeof slot);
        shmemi_pool_seal_slot(&slot);
        memcpy(patched + i * 4096, &slot, sizeof slot);
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) < 0 || ftruncate(fd, (off_t)image_bytes) < 0)
        abort();
    for (size_t at = 0; at + 4096 <= image_bytes; at += 4096)
        if (memcmp(patched + at, zeros, 4096) != 0 && pwrite(fd, patched + at, 4096, (off_t)at) != 4096)
            abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const modes[] = {"rw", "r", "cow", "rw"};
    struct shmemi_pool *pool;
    if (!image)
        make_image();
    if (size < 1)
        return 0;
    write_image(data + 1, size - 1, data[0] & 4);
    if (shmemi_file_open(path, modes[data[0] & 3], &pool) < 0)
        return 0;
    use_pool(pool, (data[0] & 3) != 1);
    shmemi_pool_close(pool);
    return 0;
}
