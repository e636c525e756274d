// SPDX-License-Identifier: Apache-2.0
// Words between streams and the CPU: pairs in host memory that the device sees too.
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cuda.h"

enum { HELD = 8 }; /* bytes from the word that is told to the one that holds */

static int check(int device)
{
    static const char *const needed[] = {"cuStreamWriteValue64_v2",      "cuStreamWaitValue64_v2", "cuMemHostAlloc",
                                         "cuMemHostGetDevicePointer_v2", "cuMemFreeHost",          NULL};
    cuda_device number;
    int able = 0, rc = shmemi_cuda_open(NULL);
    if (rc < 0 || (rc = shmemi_cuda_has(needed)) < 0 || (rc = SHMEMI_CUDA(cuDeviceGet, &number, device)) < 0 ||
        (rc = SHMEMI_CUDA(cuDeviceGetAttribute, &able, CUDA_HAS_VALUES_64, number)) < 0)
        return rc;
    return able ? 0
                : shmemi_fail(-ENOTSUP,
                              "streams of CUDA device %d can neither write words of 64 bits nor wait for them", device);
}

static int allocate(struct shmemi_device_words *out)
{
    size_t bytes = out->count * SHMEMI_WORDS_APART;
    cuda_address seen = 0;
    int rc = SHMEMI_CUDA(cuMemHostAlloc, &out->host, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);
    if (rc < 0)
        return rc;
    memset(out->host, 0, bytes);
    if ((rc = SHMEMI_CUDA(cuMemHostGetDevicePointer_v2, &seen, out->host, 0)) < 0)
        shmemi_cuda.cuMemFreeHost(out->host);
    out->memory = (void *)(uintptr_t)seen;
    out->told = out->host;
    return rc;
}

int shmemi_cuda_make_words(int device, size_t count, struct shmemi_device_words *out)
{
    struct shmemi_device_current before;
    *out = (struct shmemi_device_words){.device = device, .count = count};
    int rc = shmemi_cuda_enter(device, &before);
    if (rc < 0)
        return rc;
    if ((rc = check(device)) == 0)
        rc = allocate(out);
    shmemi_cuda_leave(&before);
    return rc;
}

void shmemi_cuda_free_words(struct shmemi_device_words *words)
{
    struct shmemi_device_current before;
    if (shmemi_cuda_enter(words->device, &before) < 0)
        return;
    shmemi_cuda.cuMemFreeHost(words->host);
    shmemi_cuda_leave(&before);
}

static cuda_address seen_at(const struct shmemi_device_words *words, size_t i)
{
    return (uintptr_t)words->memory + i * SHMEMI_WORDS_APART;
}

int shmemi_cuda_tell(const struct shmemi_device_words *words, size_t i, struct shmemi_device_stream stream)
{
    return SHMEMI_CUDA(cuStreamWriteValue64_v2, stream.driver, seen_at(words, i), 1, 0);
}

int shmemi_cuda_hold(const struct shmemi_device_words *words, size_t i, uint64_t number,
                     struct shmemi_device_stream stream)
{
    return SHMEMI_CUDA(cuStreamWaitValue64_v2, stream.driver, seen_at(words, i) + HELD, number, 0); /* at least */
}

int shmemi_cuda_let_go(const struct shmemi_device_words *words, size_t i, uint64_t number)
{
    /* Release: what the stream does next sees what was done for it. */
    __atomic_store_n((uint64_t *)(void *)(words->told + i * SHMEMI_WORDS_APART + HELD), number, __ATOMIC_RELEASE);
    return 0;
}
