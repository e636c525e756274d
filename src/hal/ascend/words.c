// SPDX-License-Identifier: Apache-2.0
// Words between streams and the CPU. The value operations are described for addresses of the device, and memory of the
// host that is mapped for it as one for kernels: so each side has memory of its own. A stream tells by copying the word
// of the device that is always 1 into pinned memory of the host; it is held by words of the device, which a stream of
// this file's own writes.
//
//   of the device:   1 | held 0 | held 1 | ...        of the host:   told 0 | told 1 | ...
#include <errno.h>
#include <string.h>

#include "ascend.h"
#include "base/error.h"

enum { TO_DEVICE = 1, TO_HOST = 2, AT_LEAST = 0, HUGE_FIRST = 0 };

static char *held(const struct shmemi_device_words *words, size_t i)
{
    return (char *)words->memory + (i + 1) * SHMEMI_WORDS_APART;
}

/* The device's side from the host's, which is left all 0. */
static int fill(struct shmemi_device_words *out)
{
    size_t bytes = (out->count + 1) * SHMEMI_WORDS_APART;
    void *stream = out->stream.driver;
    memset(out->told, 0, bytes);
    *shmemi_words_told(out, 0) = 1;
    int rc = SHMEMI_ASCEND(aclrtMemcpyAsync, out->memory, bytes, out->told, bytes, TO_DEVICE, stream);
    if (rc == 0)
        rc = SHMEMI_ASCEND(aclrtSynchronizeStream, stream);
    *shmemi_words_told(out, 0) = 0;
    return rc;
}

static void give_back(struct shmemi_device_words *words)
{
    if (words->stream.driver) {
        shmemi_ascend.aclrtSynchronizeStream(words->stream.driver);
        shmemi_ascend.aclrtDestroyStream(words->stream.driver);
    }
    if (words->memory)
        shmemi_ascend.aclrtFree(words->memory);
    if (words->host)
        shmemi_ascend.aclrtFreeHost(words->host);
}

static int allocate(struct shmemi_device_words *out)
{
    size_t bytes = (out->count + 1) * SHMEMI_WORDS_APART;
    int rc = SHMEMI_ASCEND(aclrtMallocHost, &out->host, bytes + SHMEMI_WORDS_APART);
    if (rc < 0)
        return rc;
    uintptr_t aligned = ((uintptr_t)out->host + SHMEMI_WORDS_APART - 1) & ~(uintptr_t)(SHMEMI_WORDS_APART - 1);
    out->told = (char *)out->host + (aligned - (uintptr_t)out->host);
    rc = SHMEMI_ASCEND(aclrtMalloc, &out->memory, bytes, HUGE_FIRST);
    return rc < 0 ? rc : SHMEMI_ASCEND(aclrtCreateStream, &out->stream.driver);
}

int shmemi_ascend_make_words(int device, size_t count, struct shmemi_device_words *out)
{
    static const char *const needed[] = {"aclrtValueWrite", "aclrtValueWait", "aclrtMallocHost", "aclrtFreeHost", NULL};
    struct shmemi_device_current before;
    *out = (struct shmemi_device_words){.device = device, .count = count, .stream = {.device = device}};
    int rc = shmemi_ascend_enter(device, &before);
    if (rc < 0)
        return rc;
    if ((rc = shmemi_ascend_has(needed)) == 0 && ((rc = allocate(out)) < 0 || (rc = fill(out)) < 0))
        give_back(out);
    shmemi_ascend_leave(&before);
    return rc;
}

void shmemi_ascend_free_words(struct shmemi_device_words *words)
{
    struct shmemi_device_current before;
    if (shmemi_ascend_enter(words->device, &before) < 0)
        return;
    give_back(words);
    shmemi_ascend_leave(&before);
}

int shmemi_ascend_tell(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream)
{
    size_t bytes = sizeof(uint64_t);
    return SHMEMI_ASCEND(aclrtMemcpyAsync, shmemi_words_told(words, i), bytes, words->memory, bytes, TO_HOST,
                         stream.driver);
}

int shmemi_ascend_hold(const struct shmemi_device_words *words, size_t i, uint64_t number,
                       struct shmemi_device_stream stream)
{
    return SHMEMI_ASCEND(aclrtValueWait, held(words, i), number, AT_LEAST, stream.driver);
}

int shmemi_ascend_let_go(const struct shmemi_device_words *words, size_t i, uint64_t number)
{
    struct shmemi_device_current before;
    int rc = shmemi_ascend_enter(words->device, &before);
    if (rc < 0)
        return rc;
    rc = SHMEMI_ASCEND(aclrtValueWrite, held(words, i), number, 0, words->stream.driver);
    shmemi_ascend_leave(&before);
    return rc;
}
