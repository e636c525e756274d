// SPDX-License-Identifier: Apache-2.0
// What the device of each type says of itself, and the tables.
#include "stand_in.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "hal/hal.h"

enum { HELD = 8 /* bytes from the word that is told to the one that holds */ };

int shmemi_stand_in_check(int device)
{
    return device == 0 ? 0
                       : shmemi_fail(-ENODEV, "there is no device %d: host memory stands in for one, number 0", device);
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

static int open_device(int *count)
{
    shmemi_stand_in_prepare();
    *count = 1;
    return 0;
}

static int version(char text[64])
{
    snprintf(text, 64, "none");
    return 0;
}

static int describe(const struct shmemi_stand_in *type, int device, struct shmemi_device_info *out)
{
    struct shmemi_host_room room;
    int rc = shmemi_stand_in_check(device);
    if (rc < 0)
        return rc;
    shmemi_host_room(&room);
    *out = (struct shmemi_device_info){
        .free_bytes = room.bytes, .total_bytes = room.total, .way = type->way, .can_signal = true};
    snprintf(out->name, sizeof out->name, "%s", type->name);
    memcpy(out->id, type->id, sizeof out->id);
    return 0;
}

static int find(const struct shmemi_stand_in *type, const uint8_t id[16], int *device)
{
    *device = 0;
    return memcmp(id, type->id, sizeof type->id) == 0
               ? 0
               : shmemi_fail(-ENODEV, "this is no memory that stands in for a device of type '%s'", type->type);
}

static int identify(int device, int32_t *process)
{
    *process = (int32_t)getpid();
    return shmemi_stand_in_check(device);
}

static int reach(int device, int peer)
{
    int rc = shmemi_stand_in_check(device);
    return rc < 0 ? rc : shmemi_stand_in_check(peer);
}

static int can_reach(int device, int peer, bool *can)
{
    *can = true;
    return reach(device, peer);
}

static int admit(const struct shmemi_device_memory *memory, int device)
{
    return reach(device, memory->device);
}

/* No thread has a device of its own. */
static int enter(int device, struct shmemi_device_current *before)
{
    *before = (struct shmemi_device_current){.device = device, .same = true};
    return shmemi_stand_in_check(device);
}

static void leave(const struct shmemi_device_current *before)
{
    (void)before;
}

/* --- what streams do ---------------------------------------------------------------------------------------------- */

static int copy(void *to, const void *from, size_t bytes, enum shmemi_device_direction direction,
                struct shmemi_device_stream stream)
{
    (void)direction;
    return shmemi_stand_in_submit(stream, &(struct shmemi_stand_in_operation){
                                              .what = SHMEMI_STAND_IN_COPY, .to = to, .from = from, .bytes = bytes});
}

static int write_value(void *at, uint64_t value, struct shmemi_device_stream stream)
{
    return shmemi_stand_in_submit(
        stream, &(struct shmemi_stand_in_operation){.what = SHMEMI_STAND_IN_WRITE, .to = at, .value = value});
}

static int wait_value(const void *at, uint64_t value, enum shmemi_device_compare compare,
                      struct shmemi_device_stream stream)
{
    return shmemi_stand_in_submit(stream,
                                  &(struct shmemi_stand_in_operation){
                                      .what = SHMEMI_STAND_IN_WAIT, .from = at, .value = value, .compare = compare});
}

/* --- words between streams and the CPU ---------------------------------------------------------------------------- */

static int make_words(int device, size_t count, struct shmemi_device_words *out)
{
    *out = (struct shmemi_device_words){.device = device, .count = count, .told = calloc(count, SHMEMI_WORDS_APART)};
    return out->told ? 0 : shmemi_fail(-ENOMEM, "no memory for the words of streams");
}

static void free_words(struct shmemi_device_words *words)
{
    free(words->told);
    words->told = NULL;
}

static uint64_t *held(const struct shmemi_device_words *words, size_t i)
{
    return (uint64_t *)(void *)((char *)shmemi_words_told(words, i) + HELD);
}

static int tell(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream)
{
    return write_value(shmemi_words_told(words, i), 1, stream);
}

static int hold(const struct shmemi_device_words *words, size_t i, uint64_t number, struct shmemi_device_stream stream)
{
    return shmemi_stand_in_submit(stream, &(struct shmemi_stand_in_operation){.what = SHMEMI_STAND_IN_WAIT,
                                                                              .kicked = true,
                                                                              .from = held(words, i),
                                                                              .value = number,
                                                                              .compare = SHMEMI_UNTIL_AT_LEAST});
}

static int let_go(const struct shmemi_device_words *words, size_t i, uint64_t number)
{
    /* Release: what the stream does next sees what was done for it. */
    __atomic_store_n(held(words, i), number, __ATOMIC_RELEASE);
    shmemi_stand_in_kick();
    return 0;
}

/* --- memory as other libraries allocate it ------------------------------------------------------------------------ */

static int allocate_plain(int device, size_t bytes, void **out)
{
    int rc = shmemi_stand_in_check(device);
    if (rc == 0 && !(*out = malloc(bytes ? bytes : 1)))
        rc = shmemi_fail(-ENOMEM, "no %zu bytes of host memory in the place of a device's", bytes);
    return rc;
}

static int free_plain(int device, void *address)
{
    (void)device;
    free(address);
    return 0;
}

/* --- the tables --------------------------------------------------------------------------------------------------- */

/* Ids are of one machine, as all ids of devices, and so the same on all. */
#define STAND_IN(which, maker_of_it, name_of_it, way_of_it)                                                            \
    static const struct shmemi_stand_in which = {                                                                      \
        .type = #which, .name = name_of_it, .way = way_of_it, .id = "host for " #which};                               \
    static int which##_describe(int device, struct shmemi_device_info *out)                                            \
    {                                                                                                                  \
        return describe(&which, device, out);                                                                          \
    }                                                                                                                  \
    static int which##_find(const uint8_t id[16], int *device)                                                         \
    {                                                                                                                  \
        return find(&which, id, device);                                                                               \
    }                                                                                                                  \
    static int which##_allocate(int device, size_t bytes, struct shmemi_device_memory *out)                            \
    {                                                                                                                  \
        return shmemi_stand_in_allocate(&which, device, bytes, out);                                                   \
    }                                                                                                                  \
    static int which##_export(struct shmemi_device_memory *memory, const int32_t *processes, size_t count,             \
                              struct shmemi_device_ticket *ticket, int *descriptor)                                    \
    {                                                                                                                  \
        (void)processes, (void)count; /* who imports is given a descriptor, or judged by the kernel */                 \
        return shmemi_stand_in_export(&which, memory, ticket, descriptor);                                             \
    }                                                                                                                  \
    static int which##_import(const struct shmemi_device_ticket *ticket, int descriptor, int device,                   \
                              struct shmemi_device_memory *out)                                                        \
    {                                                                                                                  \
        return shmemi_stand_in_import(&which, ticket, descriptor, device, out);                                        \
    }                                                                                                                  \
    static int which##_adopt(const void *address, size_t bytes, struct shmemi_device_memory *out)                      \
    {                                                                                                                  \
        return shmemi_stand_in_adopt(&which, address, bytes, out);                                                     \
    }                                                                                                                  \
    const struct shmemi_device_hal shmemi_device_stand_in_##which = {                                                  \
        .type = #which,                                                                                                \
        .maker = maker_of_it,                                                                                          \
        .stands_in = true,                                                                                             \
        .ways = 1u << way_of_it,                                                                                       \
        .copy_align = 1,                                                                                               \
        .open = open_device,                                                                                           \
        .version = version,                                                                                            \
        .describe = which##_describe,                                                                                  \
        .find = which##_find,                                                                                          \
        .identify = identify,                                                                                          \
        .allocate = which##_allocate,                                                                                  \
        .release = shmemi_stand_in_release,                                                                            \
        .export_memory = which##_export,                                                                               \
        .import_memory = which##_import,                                                                               \
        .can_reach = can_reach,                                                                                        \
        .reach = reach,                                                                                                \
        .admit = admit,                                                                                                \
        .create_stream = shmemi_stand_in_create_stream,                                                                \
        .destroy_stream = shmemi_stand_in_destroy_stream,                                                              \
        .finish = shmemi_stand_in_finish,                                                                              \
        .query = shmemi_stand_in_query,                                                                                \
        .enter = enter,                                                                                                \
        .leave = leave,                                                                                                \
        .copy = copy,                                                                                                  \
        .write_value = write_value,                                                                                    \
        .wait_value = wait_value,                                                                                      \
        .describe_pointer = shmemi_stand_in_describe_pointer,                                                          \
        .adopt = which##_adopt,                                                                                        \
        .allocate_plain = allocate_plain,                                                                              \
        .free_plain = free_plain,                                                                                      \
        .make_words = make_words,                                                                                      \
        .free_words = free_words,                                                                                      \
        .tell = tell,                                                                                                  \
        .hold = hold,                                                                                                  \
        .let_go = let_go,                                                                                              \
    }

STAND_IN(npu, "stand-in Ascend", "host memory in the place of an NPU's", SHMEMI_WAY_STAND_IN_NPU);
STAND_IN(cuda, "stand-in CUDA", "host memory in the place of a GPU's", SHMEMI_WAY_STAND_IN_CUDA);
